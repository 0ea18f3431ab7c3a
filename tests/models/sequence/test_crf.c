/* test_crf.c -- conditional random fields: attributes by their names and labellings gone through one
 * by one, stored weights, logistic regression as chains of one row, standard deviations by the
 * covariance of what is counted, corners. */
#include "../fixture.h"
#include "../life.h"

#include "models/core/sequence.h"

/* --- an oracle ------------------------------------------------------------------------------- */

enum { MOST_ROWS = 6, MOST_NAMES = 12 };

/* Two sequences with gaps; x is a number, u and v are categories.  Rows of the two alternate, and the
 * times put them in order. */
static const char        table_text[] = "who,when,u,v,x,tag\n"
                                        "a,1,p,m,1.5,A\n"
                                        "b,3,q,n,0,B\n"
                                        "a,2,q,m,,B\n"
                                        "b,2,p,,2,B\n"
                                        "a,4,p,n,-1,A\n"
                                        "b,1,r,m,0.5,C\n"
                                        "a,3,,n,3,C\n";
static const char *const labels[] = { "A", "B", "C" };
enum { LABELS = 3 };

/* What a row has: names of attributes with values. */
typedef struct place {
    size_t row;
    size_t n;
    struct {
        char   name[64];
        double value;
    } has[MOST_NAMES];
} place;

/* The rows of a sequence in their order: u, v (NULL: missing) and x (NaN). */
typedef struct raw {
    size_t      row;
    const char *u, *v;
    double      x;
    size_t      tag;
} raw;
static const raw first[] = {
    { 0, "p", "m", 1.5, 0 }, { 2, "q", "m", NAN, 1 }, { 6, NULL, "n", 3, 2 }, { 4, "p", "n", -1, 0 }
};
static const raw second[] = { { 5, "r", "m", 0.5, 2 },
                              { 3, "p", NULL, 2, 1 },
                              { 1, "q", "n", 0, 1 } };

static void give(place *p, double value, const char *format, ...) CR_PRINTF(3, 4);
static void give(place *p, double value, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->has[p->n].name, sizeof p->has[p->n].name, format, args);
    va_end(args);
    p->has[p->n++].value = value;
}

static const char *u_at(const raw *rows, size_t n, ptrdiff_t t)
{
    return t < 0 || t >= (ptrdiff_t)n ? "(none)" : rows[t].u;
}

/* window = u[-1], u[1], u[-1]*v, x[1], u*x */
static void look(const raw *rows, size_t n, size_t t, place *out)
{
    const raw  *at = &rows[t];
    const char *before = u_at(rows, n, (ptrdiff_t)t - 1), *after = u_at(rows, n, (ptrdiff_t)t + 1);
    *out = (place){ .row = at->row };
    if (at->u) give(out, 1, "u=%s", at->u);
    if (at->v) give(out, 1, "v=%s", at->v);
    if (!isnan(at->x)) give(out, at->x, "x");
    if (before) give(out, 1, "u[-1]=%s", before);
    if (after) give(out, 1, "u[+1]=%s", after);
    if (before && at->v) give(out, 1, "u[-1]=%s*v=%s", before, at->v);
    if (t + 1 < n && !isnan(rows[t + 1].x)) give(out, rows[t + 1].x, "x[+1]");
    if (at->u && !isnan(at->x)) give(out, at->x, "u=%s*x", at->u);
}

/* A weight that may not have been learned: 0. */
static double weight_of(const json_t *d, const char *name)
{
    size_t  i;
    json_t *item;
    json_array_foreach(json_object_get(d, "parameters"), i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0)
            return number_of(item, "value");
    }
    return 0;
}

typedef struct oracle {
    double marginal[MOST_ROWS][LABELS], log_Z, truth, best;
    size_t path[MOST_ROWS];
} oracle;

static void enumerate(const json_t *d, const raw *rows, size_t n, oracle *out)
{
    double score[MOST_ROWS][LABELS] = { { 0 } }, T[LABELS][LABELS], Z = 0;
    char   name[128];
    for (size_t t = 0; t < n; t++) {
        place p;
        look(rows, n, t, &p);
        for (size_t k = 0; k < LABELS; k++)
            for (size_t e = 0; e < p.n; e++) {
                snprintf(name, sizeof name, "state[%s].%s", labels[k], p.has[e].name);
                score[t][k] += p.has[e].value * weight_of(d, name);
            }
    }
    for (size_t k = 0; k < LABELS; k++)
        for (size_t l = 0; l < LABELS; l++) {
            snprintf(name, sizeof name, "transition[%s,%s]", labels[k], labels[l]);
            T[k][l] = weight_of(d, name);
        }
    size_t all = 1;
    for (size_t t = 0; t < n; t++) all *= LABELS;
    *out = (oracle){ .best = -INFINITY };
    for (size_t c = 0; c < all; c++) {
        size_t y[MOST_ROWS], rest = c;
        double s = 0;
        bool   is_truth = true;
        for (size_t t = 0; t < n; t++, rest /= LABELS) {
            y[t] = rest % LABELS;
            s += score[t][y[t]] + (t > 0 ? T[y[t - 1]][y[t]] : 0);
            is_truth = is_truth && y[t] == rows[t].tag;
        }
        if (is_truth) out->truth = s;
        if (s > out->best) {
            out->best = s;
            memcpy(out->path, y, sizeof y);
        }
        Z += exp(s);
        for (size_t t = 0; t < n; t++) out->marginal[t][y[t]] += exp(s);
    }
    out->log_Z = log(Z);
    for (size_t t = 0; t < n; t++)
        for (size_t k = 0; k < LABELS; k++) out->marginal[t][k] /= Z;
}

static double check_sequence(cr_ctx *cx, const cr_model *m, const cr_table *t, const raw *rows,
                             size_t n)
{
    oracle        o;
    cr_prediction p = predict(cx, m, t);
    double        path[7], log_path[7];
    enumerate(describe(cx, m), rows, n, &o);
    assert_ok(cx, cr_decode(cx, m, t, path, log_path));
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < LABELS; k++)
            assert_close(p.prob[rows[i].row * LABELS + k], o.marginal[i][k], 1e-12);
        assert_int_equal((size_t)path[rows[i].row], o.path[i]);
        assert_close(log_path[rows[i].row], o.best - o.log_Z, 1e-12);
    }
    return o.truth - o.log_Z;
}

TEST(attributes_and_labellings)
{
    cr_table   *t = table_of_text(cx, "t.csv", table_text);
    const char *common = "target=tag sequence=who time=when scale=none "
                         "window=u[-1],u[+1],u[-1]*v,x[1],u*x lambda=0.1";
    const char *more[] = { "", " pairs=seen", " l1=0.05", " pairs=seen l1=0.3" };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char settings[256];
        snprintf(settings, sizeof settings, "%s%s", common, more[i]);
        cr_model *m = fit(cx, "crf", t, settings);
        double    l = check_sequence(cx, m, t, first, 4) + check_sequence(cx, m, t, second, 3);
        assert_close(cr_model_get_report(m)->log_likelihood, l, 1e-12);
    }
}

/* A range stands for its offsets; what is there twice counts once. */
TEST(ranges_are_their_offsets)
{
    cr_table *t = table_of_text(cx, "t.csv", table_text);
    cr_model *a =
        fit(cx, "crf", t, "target=tag features=u,v sequence=who time=when window=u[-1:2]");
    cr_model     *b = fit(cx, "crf", t,
                          "target=tag features=u,v sequence=who time=when "
                              "window=u[-1],u,u[1],u[+2],u[1]");
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    for (size_t i = 0; i < 7 * LABELS; i++) assert_close(p.prob[i], q.prob[i], 1e-14);
    assert_close(statistic(describe(cx, a), "attributes"), statistic(describe(cx, b), "attributes"),
                 0);
}

TEST(windows_that_cannot_be_read)
{
    cr_table *t = table_of_text(cx, "t.csv", table_text);
    cr_model *m = NULL;
    const struct {
        const char *window, *says;
    } cases[] = { { "u[-1", "cannot be read" },
                  { "u[a]", "cannot be read" },
                  { "u[2:1]", "cannot be read" },
                  { "u[99999]", "cannot be read" },
                  { "w[-1]", "is not one of the features" },
                  { "*u", "cannot be read" },
                  { "u[]", "cannot be read" },
                  { "tag[-1]", "is not one of the features" },
                  { "u*u*u*u*u*u*u*u*u", "more than 8 factors" },
                  { "u[-500:500]*v[-500:500]", "more than 10000" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "target=tag sequence=who window=%s", cases[i].window);
        assert_fails_with(cx, try_fit(cx, "crf", t, settings, &m), CR_EARG, cases[i].says);
    }
}

/* --- stored weights --------------------------------------------------------------------------- */

TEST(casino_weights)
{
    size_t      i, n = 0;
    json_t     *one, *list = reference_cases(cx, "crf"), *expected = NULL;
    text_buffer text = text_new(1 << 16);
    FILE       *f = fopen(test_extra_data("classic/hmm/casino.csv"), "r");
    int         roll, state;
    assert_non_null(f);
    assert_int_equal(fscanf(f, "roll,state\n"), 0);
    text_put(&text, "roll,state,part\n");
    while (fscanf(f, "%d,%d", &roll, &state) == 2)
        text_put(&text, "r%d,s%d,%zu\n", roll, state, n++ / 100);
    fclose(f);
    json_array_foreach(list, i, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "id")), "crf-train-casino") == 0)
            expected = json_object_get(one, "expected");
    }
    cr_model *m = fit(cx, "crf", table_of_text(cx, "casino.csv", text.at),
                      "target=state sequence=part lambda=1");
    free(text.at);
    json_t *d = describe(cx, m);
    assert_relative(statistic(d, "objective_value"), number_of(expected, "objective"), 1e-10);
    json_t *weights = json_object_get(expected, "emission_weights_state_by_roll");
    json_t *T = json_object_get(expected, "transition_weights");
    for (int k = 0; k < 2; k++) {
        char name[64];
        for (int r = 0; r < 6; r++) {
            snprintf(name, sizeof name, "state[s%d].roll=r%d", k, r);
            assert_close(parameter(d, name, "value"),
                         element(json_array_get(weights, (size_t)k), (size_t)r), 1e-6);
        }
        for (int l = 0; l < 2; l++) {
            snprintf(name, sizeof name, "transition[s%d,s%d]", k, l);
            assert_close(parameter(d, name, "value"),
                         element(json_array_get(T, (size_t)k), (size_t)l), 1e-6);
        }
    }
    assert_true(statistic(d, "kkt_residual") < 1e-9); /* after one Newton step */
}

/* --- laws ------------------------------------------------------------------------------------- */

/* Labels that depend on the one before and on x; rows of sequences of 1 to 7 rows. */
static const char *draw_text(uint64_t seed, size_t rows, size_t K, bool alone, text_buffer *t)
{
    cr_rng r = cr_rng_stream(seed, 8);
    size_t left = 0, part = 0, y = 0;
    text_put(t, "part,x,z,word,tag\n");
    for (size_t i = 0; i < rows; i++) {
        if (left-- == 0) part++, left = alone ? 0 : (size_t)(7 * cr_rng_uniform(&r));
        if (cr_rng_uniform(&r) < 0.5) y = (size_t)((double)K * cr_rng_uniform(&r));
        text_put(t, "p%zu,%.6f,%.6f,w%zu,t%03zu\n", part, (double)y + cr_rng_normal(&r),
                 3 * cr_rng_normal(&r), (y + (size_t)(3 * cr_rng_uniform(&r))) % (K + 1), y);
    }
    return t->at;
}

/* Without neighbours, and so without transitions, it is softmax regression. */
TEST(chains_of_one_row_are_logistic_regression)
{
    enum { N = 120 };
    for (size_t K = 2; K <= 4; K++) {
        text_buffer text = text_new(1 << 14);
        cr_table   *t = table_of_text(cx, "t.csv", draw_text(K, N, K, true, &text));
        char        settings[128];
        /* two classes have one vector b in logistic, which is w_2 - w_1 here, w_1 = -w_2 */
        double lambda = 3, shared = K == 2 ? lambda / 2 : lambda;
        free(text.at);
        cr_prediction p = predict(cx,
                                  fit(cx, "crf", t,
                                      "target=tag features=x,z sequence=part lambda=3 scale=none "
                                      "bias=false"),
                                  t);
        snprintf(settings, sizeof settings,
                 "target=tag features=x,z lambda=%.17g intercept=false scale=none tol=1e-14",
                 shared / N);
        cr_prediction q = predict(cx, fit(cx, "logistic", t, settings), t);
        for (size_t i = 0; i < N * K; i++) assert_close(p.prob[i], q.prob[i], 1e-7);
    }
}

static cr_prediction fit_text(cr_ctx *cx, const char *text, const char *settings,
                              const cr_table *to, cr_model **out)
{
    *out = fit(cx, "crf", table_of_text(cx, "f.csv", text), settings);
    return predict(cx, *out, to);
}

/* A sequence of weight 2 is two sequences; one of weight 0 is none. */
TEST(weights_are_repetitions)
{
    const char   *twice = "who,u,tag\na,p,A\na,q,B\nb,p,B\nc,p,A\nc,q,B\nd,q,A\nd,q,B\n";
    const char   *weighed = "who,u,w,tag\na,p,2,A\na,q,2,B\nb,p,1,B\nd,q,1,A\nd,q,1,B\n"
                            "e,p,0,B\ne,p,0,B\n";
    const char   *mixed = "who,u,w,tag\na,p,2,A\na,q,1,B\nb,p,1,B\n";
    cr_table     *t = table_of_text(cx, "t.csv", "who,u\na,p\na,p\na,q\n");
    cr_model     *a, *b, *c = NULL;
    cr_prediction p = fit_text(cx, twice, "target=tag sequence=who", t, &a);
    cr_prediction q = fit_text(cx, weighed, "target=tag sequence=who weights=w", t, &b);
    for (size_t i = 0; i < 6; i++) assert_close(p.prob[i], q.prob[i], 1e-7);
    assert_close(cr_model_get_report(a)->log_likelihood, cr_model_get_report(b)->log_likelihood,
                 1e-7);
    assert_fails_with(cx,
                      try_fit(cx, "crf", table_of_text(cx, "m.csv", mixed),
                              "target=tag sequence=who weights=w", &c),
                      CR_EDATA, "weighs whole sequences");
}

/* sd^2 is the diagonal of (C + lambda I)^-1, C the covariance of the counts of attributes and
 * transitions under p(y | x); Laplace's evidence has its determinant. */
TEST(standard_deviations_are_those_of_the_counts)
{
    /* one label each of two words in chains of two rows: weights u=p, u=q of A, B; then T */
    enum { D = 8 };
    const char *text = "who,u,tag\na,p,A\na,q,B\nb,p,B\nb,p,A\nc,q,B\nc,p,B\n";
    const char *names[D] = { "state[A].u=p",    "state[B].u=p",    "state[A].u=q",
                             "state[B].u=q",    "transition[A,A]", "transition[A,B]",
                             "transition[B,A]", "transition[B,B]" };
    const int   u[3][2] = { { 0, 1 }, { 0, 0 }, { 1, 0 } };
    long double H[D * D] = { 0 }, inverse[D * D] = { 0 }, w[D], copy[D * D], t[D] = { 0 }, log_det;
    cr_model   *m =
        fit(cx, "crf", table_of_text(cx, "t.csv", text), "target=tag sequence=who lambda=0.5");
    json_t *d = describe(cx, m);
    for (size_t i = 0; i < D; i++) w[i] = parameter(d, names[i], "value");
    for (size_t q = 0; q < 3; q++) {
        long double Z = 0, mean[D] = { 0 }, square[D * D] = { 0 };
        for (int y = 0; y < 4; y++) {
            long double count[D] = { 0 }, score = 0;
            int         a = y / 2, b = y % 2;
            count[2 * u[q][0] + a]++, count[2 * u[q][1] + b]++, count[4 + 2 * a + b]++;
            for (size_t i = 0; i < D; i++) score += w[i] * count[i];
            long double p = expl(score);
            Z += p;
            for (size_t i = 0; i < D; i++) mean[i] += p * count[i];
            for (size_t i = 0; i < D * D; i++) square[i] += p * count[i / D] * count[i % D];
        }
        for (size_t i = 0; i < D * D; i++)
            H[i] += square[i] / Z - mean[i / D] / Z * (mean[i % D] / Z);
    }
    for (size_t i = 0; i < D; i++) H[i * D + i] += 0.5L, inverse[i * D + i] = 1;
    memcpy(copy, H, sizeof H);
    quadratic_form(D, copy, t, &log_det);
    solve_dense(D, H, inverse, D);
    for (size_t i = 0; i < D; i++)
        assert_close(parameter(d, names[i], "sd"), (double)sqrtl(inverse[i * D + i]), 1e-7);
    double evidence = -statistic(d, "objective_value") + D / 2.0 * log(0.5) - (double)log_det / 2;
    assert_close(cr_model_get_report(m)->log_evidence, evidence, 1e-7);
}

/* Labels, levels and lengths of which there are many or few. */
TEST(corners)
{
    text_buffer   text = text_new(1 << 18);
    cr_table     *t = table_of_text(cx, "t.csv", draw_text(1, 3000, 300, false, &text));
    cr_model     *m = fit(cx, "crf", t, "target=tag sequence=part max_iter=5");
    cr_prediction p = predict(cx, m, t);
    free(text.at);
    assert_proper(&p);
    assert_true(p.n_classes > 250);

    /* one sequence of one row each; a level and a word that training has not seen; gaps */
    m = fit(cx, "crf", table_of_text(cx, "a.csv", "who,u,tag\na,p,A\nb,q,B\nc,q,A\n"),
            "target=tag sequence=who window=u[-1]");
    t = table_of_text(cx, "b.csv", "who,u\nz,new\nz,\nz,p\ny,newer\n");
    p = predict(cx, m, t);
    assert_proper(&p);
    assert_true(p.prob[2 * 2] > 0.5);

    /* one label alone is nothing to learn from; neither is a target with gaps */
    assert_fails_with(cx,
                      try_fit(cx, "crf", table_of_text(cx, "d.csv", "who,u,tag\na,p,A\na,q,A\n"),
                              "target=tag sequence=who", &m),
                      CR_EDATA, "class");
    assert_fails(cx,
                 try_fit(cx, "crf", table_of_text(cx, "e.csv", "who,u,tag\na,p,A\na,q,\nb,q,B\n"),
                         "target=tag sequence=who", &m),
                 CR_EDATA);
}

/* Huge numbers, unscaled, push the weights of transitions to either side of what can be scaled. */
TEST(huge_numbers)
{
    const char   *text = "who,x,tag\na,1e6,A\na,-1e6,B\na,2e6,A\nb,3e5,A\nb,-5e6,B\nb,0,A\n";
    cr_table     *t = table_of_text(cx, "t.csv", text);
    cr_prediction p = predict(cx, fit(cx, "crf", t, "target=tag sequence=who scale=none"), t);
    assert_proper(&p);
    p = predict(cx, fit(cx, "crf", t, "target=tag sequence=who scale=none lambda=0"), t);
    assert_proper(&p);
}

/* The same bits for any number of threads, here over many blocks. */
TEST(threads_change_nothing)
{
    text_buffer text = text_new(1 << 18);
    cr_table   *t = table_of_text(cx, "t.csv", draw_text(2, 4000, 5, false, &text));
    double      kept[20];
    free(text.at);
    for (size_t threads = 1; threads <= 5; threads += 2) {
        cr_ctx_set_threads(cx, threads);
        cr_model     *m = fit(cx, "crf", t, "target=tag sequence=part window=word[-1]*word");
        cr_prediction p = predict(cx, m, t);
        if (threads == 1) memcpy(kept, p.prob + 5000, sizeof kept);
        assert_memory_equal(kept, p.prob + 5000, sizeof kept);
    }
}

/* Simulated chains: their own transitions come back, and neighbours help. */
TEST(neighbours_help)
{
    text_buffer text = text_new(1 << 20), more = text_new(1 << 20);
    cr_table   *t = table_of_text(cx, "t.csv", draw_text(3, 6000, 4, false, &text));
    cr_table   *other = table_of_text(cx, "o.csv", draw_text(4, 6000, 4, false, &more));
    double      score[2][6000], sum[2] = { 0 };
    free(text.at), free(more.at);
    const char *models[] = { "crf", "logistic" };
    const char *settings[] = { "target=tag sequence=part", "target=tag features=x,z,word" };
    for (size_t i = 0; i < 2; i++) {
        assert_ok(cx, cr_score(cx, fit(cx, models[i], t, settings[i]), other, score[i]));
        for (size_t k = 0; k < 6000; k++) sum[i] += score[i][k] / 6000;
    }
    assert_true(sum[0] > sum[1] + 0.05);
}

/* Draws of a sequence are drawn together: where labels never change, all rows have the same. */
TEST(draws_are_of_whole_sequences)
{
    enum { DRAWS = 200 };
    const char *text = "who,u,tag\na,p,A\na,p,A\na,p,A\nb,p,B\nb,p,B\nb,p,B\n";
    cr_table   *t = table_of_text(cx, "t.csv", text);
    double      y[6 * DRAWS];
    size_t      same = 0, ones = 0;
    cr_model   *m = fit(cx, "crf", t, "target=tag sequence=who lambda=0.001");
    assert_ok(cx, cr_sample_targets(cx, m, t, DRAWS, 3, y));
    for (size_t c = 0; c < DRAWS; c++) {
        same += y[c] == y[DRAWS + c] && y[c] == y[2 * DRAWS + c];
        ones += y[c] == 1;
    }
    assert_true(same > 0.95 * DRAWS);
    assert_true(ones > 0.3 * DRAWS && ones < 0.7 * DRAWS);
}

TEST(allocations)
{
    cr_table *t = table_of_text(cx, "t.csv", table_text);
    check_every_allocation(t, "crf", "target=tag sequence=who time=when window=u[-1]*v max_iter=3");
    check_every_allocation(t, "crf", "target=tag sequence=who pairs=seen l1=0.1 max_iter=3");
    check_every_allocation(t, "crf", "target=tag sequence=who features=x lambda=2");
}
