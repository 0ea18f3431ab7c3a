/* test_markov.c -- Markov chains: counts by hand, evidence by one prediction after the other, the long run by powers of the
 * matrix, absorption by simulation of known chains, and the order by the truth of a simulation. */
#include "../fixture.h"

#include "models/core/model_internal.h"
#include "models/core/sequence.h"
#include "models/sequence/markov.h"
#include "models/sequence/stationary.h"

static const cri_markov *state_of(const cr_model *m) { return m->state; }

static json_t *row_of(const json_t *d, const char *table, const char *key, const char *name)
{
    json_t *row;
    size_t  i;
    json_array_foreach(json_object_get(d, table), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, key)), name) == 0) return row;
    }
    fail_msg("there is no %s '%s'", table, name);
    return NULL;
}

/* Means, sds and intervals of the posterior of counts that are easily made. */
TEST(counts)
{
    cr_table *t = table_of_text(cx, "data.csv", "s,c\n1,a\n1,b\n2,a\n1,a\n1,a\n2,a\n1,b\n2,b\n");
    json_t   *d = describe(cx, fit(cx, "markov", t, "features=c sequence=s alpha=0.5"));
    /* 1: a b a a b;  2: a a b */
    assert_close(parameter(d, "pi[a]", "value"), 2.5 / 3, 1e-14);
    assert_close(parameter(d, "A[a,a]", "value"), 2.5 / 6, 1e-14);
    assert_close(parameter(d, "A[a,b]", "value"), 3.5 / 6, 1e-14);
    assert_close(parameter(d, "A[b,a]", "value"), 1.5 / 2, 1e-14);
    assert_close(parameter(d, "A[a,b]", "sd"), sqrt(2.5 * 3.5 / 36 / 7), 1e-14);
    assert_true(parameter(d, "A[a,b]", "lower") < 3.5 / 6);
    d = describe(cx, fit(cx, "markov", t, "features=c sequence=s order=2"));
    assert_close(parameter(d, "pi[a,a]", "value"), 2. / 4, 1e-14);
    assert_close(parameter(d, "A[a,b,a]", "value"), 2. / 3, 1e-14);
    assert_close(parameter(d, "A[a,a,b]", "value"), 3. / 4, 1e-14);
}

/* The evidence is the product of the predictions of each row from those before it, in all sequences. */
TEST(evidence_is_prediction_after_prediction)
{
    enum { N = 60 };
    cr_rng r = cr_rng_stream(1, 1);
    for (size_t order = 0; order <= 3; order++) {
        text_buffer all = text_new(4096);
        double      log_p = 0;
        cr_model   *m = NULL;
        char        settings[64];
        text_put(&all, "c\n");
        snprintf(settings, sizeof settings, "order=%zu alpha=0.7", order);
        size_t code[N];
        for (size_t i = 0; i < N; i++) {
            code[i] = i < 3 ? i : (size_t)cr_rng_below(&r, 3);
            text_put(&all, "%c\n", (int)('a' + code[i]));
        }
        m = fit(cx, "markov", table_of_text(cx, "all.csv", all.at), settings);
        for (size_t i = 0; i < N; i++) { /* by counting what came before */
            size_t l = i < order ? i : order;
            double same = 0, hits = 0;
            for (size_t j = 0; j < i; j++) {
                size_t own = j < order ? j : order;
                bool   alike = own == l;
                for (size_t b = 1; alike && b <= l; b++) alike = code[j - b] == code[i - b];
                same += alike;
                hits += alike && code[j] == code[i];
            }
            log_p += log((hits + 0.7) / (same + 2.1));
        }
        assert_close(m->report.log_evidence, log_p, 1e-12);
        free(all.at);
    }
}

TEST(predictions)
{
    cr_table     *t = table_of_text(cx, "data.csv", "c\na\nb\na\nb\nb\na\nb\n");
    cr_model     *m = fit(cx, "markov", t, "order=1");
    cr_prediction p = predict(cx, m, t);
    double        sum = 0;
    assert_proper(&p);
    for (size_t i = 0; i < p.n; i++) sum += p.log_density[i];
    assert_close(sum, m->report.log_likelihood, 1e-12);
    assert_close(p.prob[1 * 2 + 1], 4. / 5, 1e-14); /* after a: b 3 of 3 */
    assert_close(p.prob[4 * 2 + 1], 2. / 5, 1e-14); /* after b: a, b, a  */
    cr_forecast f = { 0 };
    assert_ok(cx, cr_forecast_rows(cx, m, NULL, 2, &f));
    assert_close(f.p.prob[1], 0.4, 1e-14);
    assert_close(f.p.prob[3], 0.6 * 0.8 + 0.4 * 0.4, 1e-14);
    cr_forecast_free(cx, &f);
    cr_table     *u = table_of_text(cx, "new.csv", "c\na\nz\n");
    cr_prediction none = { 0 };
    assert_fails_with(cx, cr_predict(cx, m, u, &none), CR_EDATA, "z");
}

/* --- the long run ---------------------------------------------------------------------------- */

/* Against powers of the matrix. */
TEST(stationary_distributions)
{
    enum { K = 5 };
    cr_rng r = cr_rng_stream(2, 2);
    for (size_t trial = 0; trial < 20; trial++) {
        double P[K * K], work[K * K], pi[K], p[K] = { 1 }, next[K];
        size_t index[6 * K];
        for (size_t i = 0; i < K; i++) {
            double sum = 0;
            for (size_t j = 0; j < K; j++) sum += P[i * K + j] = cr_rng_exponential(&r);
            for (size_t j = 0; j < K; j++) P[i * K + j] /= sum;
        }
        assert_true(cri_stationary(P, K, work, index, pi));
        for (size_t step = 0; step < 500; step++) {
            for (size_t j = 0; j < K; j++) {
                next[j] = 0;
                for (size_t i = 0; i < K; i++) next[j] += p[i] * P[i * K + j];
            }
            memcpy(p, next, sizeof p);
        }
        for (size_t j = 0; j < K; j++) assert_close(pi[j], p[j], 1e-13);
    }
    const double two[] = { 1, 0, 0, 1 }, absorbing[] = { 1, 0, 0.5, 0.5 };
    double       work[4], pi[2];
    size_t       index[12];
    assert_false(cri_stationary(two, 2, work, index, pi));
    assert_true(isnan(pi[0]));
    assert_true(cri_stationary(absorbing, 2, work, index, pi));
    assert_true(pi[0] == 1 && pi[1] == 0);
}

TEST(communicating_classes)
{
    enum { K = 6 };
    /* 0 <-> 1 -> 2 -> 3 -> 2,  4 alone and left for 0,  5 never left */
    const double P[K * K] = { [0 * K + 1] = 1, [1 * K + 0] = 0.5, [1 * K + 2] = 0.5,
                              [2 * K + 3] = 1, [3 * K + 2] = 1,   [4 * K + 0] = 1,
                              [5 * K + 5] = 1 };
    size_t       class_of[K], work[4 * K];
    bool         closed[K];
    const size_t expected[K] = { 0, 0, 1, 1, 2, 3 };
    assert_int_equal(cri_communicating_classes(P, K, 0, class_of, closed, work), 4);
    for (size_t i = 0; i < K; i++) assert_int_equal(class_of[i], expected[i]);
    assert_true(!closed[0] && closed[1] && !closed[2] && closed[3]);
}

/* Two symbols: the stationary distribution of each draw has a closed form, so the posterior mean is known by quadrature. */
TEST(uncertainty_of_the_long_run)
{
    cr_table *t = table_of_text(cx, "data.csv", "c\na\na\nb\na\nb\nb\na\na\nb\na\n");
    cr_model *m = fit(cx, "markov", t, "seed=5");
    json_t   *row = row_of(describe(cx, m), "symbols", "symbol", "a");
    /* a: 2 to a, 3 to b;  b: 3 to a, 1 to b;  1 of prior each */
    double mean = 0, square = 0, mass = 0;
    enum { STEPS = 400 };
    for (size_t i = 0; i < STEPS; i++)
        for (size_t j = 0; j < STEPS; j++) {
            double x = ((double)i + 0.5) / STEPS,
                   y = ((double)j + 0.5) / STEPS; /* a to b, b to a */
            double w = pow(x, 3) * pow(1 - x, 2) * pow(y, 3) * (1 - y), pi = y / (x + y);
            mass += w, mean += w * pi, square += w * pi * pi;
        }
    mean /= mass;
    assert_true(fabs(number_of(row, "stationary") - mean) < 0.02);
    assert_true(fabs(number_of(row, "sd") / sqrt(square / mass - mean * mean) - 1) < 0.1);
    assert_true(number_of(row, "lower") < mean && number_of(row, "upper") > mean);
}

/* A walk between two walls that hold: the rows until it is held are i (n - i). */
TEST(absorption)
{
    static const char data[] = "s,c\n1,b\n1,a\n1,a\n2,b\n2,c\n2,d\n2,d\n3,c\n3,b\n3,a\n4,c\n4,d\n";
    cr_table         *t = table_of_text(cx, "data.csv", data);
    json_t           *d = describe(cx, fit(cx, "markov", t, "features=c sequence=s"));
    /* b: a 2, c 1;  c: d 2, b 1 */
    double b = 1.5;
    assert_close(number_of(row_of(d, "symbols", "symbol", "b"), "absorption"), b, 1e-12);
    assert_close(number_of(row_of(d, "symbols", "symbol", "c"), "absorption"), b, 1e-12);
    assert_true(isnan(number_of(row_of(d, "symbols", "symbol", "a"), "absorption")));
    assert_true(json_is_true(json_object_get(row_of(d, "symbols", "symbol", "a"), "closed")));
    assert_int_equal((int)statistic(d, "classes"), 3);
}

/* --- the order ------------------------------------------------------------------------------- */

/* A chain of order 2 is found to be one, and its draws have its probabilities. */
TEST(order_by_evidence)
{
    enum { N = 4000 };
    static double drawn[N];
    text_buffer   text = text_new(1 << 16);
    cr_rng        r = cr_rng_stream(8, 8);
    size_t        before = 0, last = 0;
    text_put(&text, "c\n");
    for (size_t i = 0; i < N; i++) {
        size_t now = cr_rng_uniform(&r) < 0.8 ? before != last : (size_t)cr_rng_below(&r, 2);
        text_put(&text, "%c\n", (int)('a' + now));
        before = last, last = now;
    }
    cr_table *t = table_of_text(cx, "data.csv", text.at);
    cr_model *m = fit(cx, "markov", t, "order=0:4");
    json_t   *d = describe(cx, m);
    assert_int_equal(state_of(m)->order, 2);
    assert_int_equal(json_array_size(json_object_get(d, "orders")), 5);
    assert_ok(cx, m->class->rows->sample(cx, m->state, m->design, NULL, N, 1, drawn));
    double hits = 0, all = 0;
    for (size_t i = 2; i < N; i++)
        if (drawn[i - 2] == 0 && drawn[i - 1] == 1) all++, hits += drawn[i] == 1;
    assert_true(fabs(hits / all - parameter(d, "A[a,b,b]", "value")) < 0.05);
    free(text.at);
}

TEST(refusals)
{
    cr_table *t = table_of_text(cx, "data.csv", "c,x,g\na,1,u\nb,2,v\na,1,\n");
    static const struct {
        const char *settings, *sentence;
    } bad[] = {
        { "features=c,g missing=drop", "one column of symbols" },
        { "features=x", "has numbers, not symbols" },
        { "features=c order=99", "--order is '99'" },
        { "features=c order=2:1", "--order is '2:1'" },
        { "features=c weights=x", "cannot count more than another" },
        { "features=g", "g" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_model *m = NULL;
        cr_status st = try_fit(cx, "markov", t, bad[i].settings, &m);
        if (st == CR_OK || !strstr(cr_error(cx), bad[i].sentence))
            fail_msg("%s: %s", bad[i].settings, st == CR_OK ? "is taken" : cr_error(cx));
    }
    /* one row, one symbol */
    cr_model *m = fit(cx, "markov", table_of_text(cx, "one.csv", "c\na\n"), "order=0:2");
    describe(cx, m);
}
