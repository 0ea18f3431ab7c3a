/* test_markov_time.c -- chains in continuous time: exponentials against closed forms and a dense reference in long double,
 * the fit against the closed form of two symbols and against the objective itself, intervals against simulations. */
#include "../fixture.h"

#include "math/dense/chol.h"
#include "models/core/model_internal.h"
#include "models/core/sequence.h"
#include "models/sequence/markov.h"
#include "models/sequence/markov_expm.h"

enum { MOST = 12 };

static const cri_markov *state_of(const cr_model *m) { return m->state; }

static void draw_generator(cr_rng *r, size_t k, double size, double *Q)
{
    for (size_t i = 0; i < k; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++) {
            double u = cr_rng_uniform(r);
            Q[i * k + j] = i == j || u < 0.2 ? 0 : size * exp(2 * cr_rng_normal(r));
            sum += Q[i * k + j];
        }
        Q[i * k + i] = -sum;
    }
}

/* e^A of A [n x n] by a series of many terms and squarings, in long double. */
static void dense_exponential(const long double *A, size_t n, long double *out)
{
    long double norm = 0, N[MOST * MOST], power[MOST * MOST], next[MOST * MOST];
    int         squarings = 0;
    for (size_t i = 0; i < n * n; i++) norm += fabsl(A[i]);
    while (norm > 0.125L) norm /= 2, squarings++;
    for (size_t i = 0; i < n * n; i++) {
        N[i] = ldexpl(A[i], -squarings);
        out[i] = power[i] = i % (n + 1) == 0;
    }
    for (int term = 1; term <= 40 + squarings; term++) {
        bool square = term > 40;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                long double sum = 0;
                for (size_t l = 0; l < n; l++)
                    sum +=
                        square ? out[i * n + l] * out[l * n + j] : power[i * n + l] * N[l * n + j];
                next[i * n + j] = square ? sum : sum / term;
            }
        memcpy(square ? out : power, next, n * n * sizeof *next);
        for (size_t i = 0; i < n * n && !square; i++) out[i] += power[i];
    }
}

/* P of two symbols: a + b the sum of the rates. */
TEST(two_symbols)
{
    const double times[] = { 0, 1e-12, 1e-3, 0.5, 3, 100, 1e9, 1e200, 1e308 };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        double a = 0.7, b = 0.2, t = times[i], Q[4] = { -a, a, b, -b }, P[4], work[20];
        cri_generator_exponential(Q, 2, t, NULL, P, NULL, work);
        assert_close(P[1], -expm1(-(a + b) * t) * a / (a + b), 1e-13);
        assert_close(P[2], -expm1(-(a + b) * t) * b / (a + b), 1e-13);
        assert_close(P[0] + P[1], 1, 1e-15);
    }
}

/* Every entry to 12 digits, also the smallest, of the exponential and, by Van Loan's block, of the integral. */
TEST(exponentials_are_dense_ones)
{
    cr_rng r = cr_rng_stream(21, 1);
    for (size_t trial = 0; trial < 60; trial++) {
        size_t      k = 1 + trial % (MOST / 2), n = 2 * k;
        double      Q[36], W[36], P[36], L[36], work[180], t = exp2(4 * cr_rng_normal(&r));
        long double block[MOST * MOST] = { 0 }, all[MOST * MOST];
        assert_true(cri_generator_work(k) <= 180);
        draw_generator(&r, k, 0.3, Q);
        for (size_t c = 0; c < k * k; c++)
            W[c] = cr_rng_uniform(&r) < 0.5 ? 0 : cr_rng_exponential(&r);
        cri_generator_exponential(Q, k, t, W, P, L, work);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) {
                block[i * n + j] = block[(k + i) * n + k + j] = (long double)Q[i * k + j] * t;
                block[i * n + k + j] = (long double)W[i * k + j] * t;
            }
        dense_exponential(block, n, all);
        for (size_t i = 0; i < k; i++) {
            double sum = 0;
            for (size_t j = 0; j < k; j++) {
                double p = (double)all[i * n + j], l = (double)all[i * n + k + j];
                assert_true(fabs(P[i * k + j] - p) <= 1e-12 * p + 1e-300);
                assert_true(fabs(L[i * k + j] - l) <= 1e-11 * l + 1e-300);
                sum += P[i * k + j];
            }
            assert_close(sum, 1, 1e-15);
        }
    }
}

/* --- data ------------------------------------------------------------------------------------ */

/* Sequences s of a chain with this generator, seen at times some gaps apart; text of a table s,t,c. */
static text_buffer draw_chain(cr_rng *r, const double *Q, size_t k, size_t sequences, size_t rows,
                              const double *gaps, size_t n_gaps)
{
    text_buffer text = text_new(64 * sequences * rows + 64);
    text_put(&text, "s,t,c\n");
    for (size_t s = 0; s < sequences; s++) {
        size_t at = cr_rng_below(r, k);
        double time = 0, left = cr_rng_exponential(r) / -Q[at * k + at];
        for (size_t i = 0; i < rows; i++) {
            double p[MOST], gap = gaps[cr_rng_below(r, n_gaps)];
            text_put(&text, "%zu,%.17g,%c\n", s, time, (int)('a' + at));
            for (time += gap; left <= gap;) {
                for (size_t b = 0; b < k; b++) p[b] = b == at ? 0 : Q[at * k + b];
                at = cr_rng_categorical(r, p, k);
                left += cr_rng_exponential(r) / -Q[at * k + at];
            }
            left -= gap;
        }
    }
    return text;
}

/* Which symbol a row has: tables number them as they come. */
static size_t symbol_at(const cr_column *c, size_t i)
{
    return (size_t)(c->levels[c->codes[i]][0] - 'a');
}

static const double three[9] = { -0.5, 0.4, 0.1, 0.2, -0.3, 0.1, 0.3, 0.5, -0.8 };
static const char   settings[] = "features=c sequence=s time=t continuous=true";

static cr_model *fit_three(cr_ctx *cx, const cr_table *t, const char *more)
{
    char all[256];
    snprintf(all, sizeof all, "%s %s", settings, more);
    return fit(cx, "markov", t, all);
}

static cr_table *table_of_gaps(cr_ctx *cx, uint64_t seed, size_t rows, const double gaps[3])
{
    cr_rng      r = cr_rng_stream(seed, 1);
    text_buffer text = draw_chain(&r, three, 3, 4, rows, gaps, 3);
    cr_table   *t = table_of_text(cx, "data.csv", text.at);
    free(text.at);
    return t;
}

static cr_table *table_of_three(cr_ctx *cx, uint64_t seed, size_t rows)
{
    return table_of_gaps(cx, seed, rows, (const double[3]){ 0.3, 1, 2.5 });
}

/* --- the fit --------------------------------------------------------------------------------- */

/* Without a prior and one gap, two symbols have the rates whose P are the shares of the pairs; their sds are those of the
 * shares. */
TEST(closed_form_of_two_symbols)
{
    cr_table *t =
        table_of_text(cx, "data.csv",
                      "c,t\na,0\na,2\nb,4\nb,6\nb,8\na,10\na,12\na,14\nb,16\nb,18\na,20\na,"
                      "22\na,24\na,26\nb,28\na,30\n");
    cr_model *m = fit(cx, "markov", t,
                      "features=c time=t continuous=true prior_jumps=0 tol=0 max_iter=10000");
    json_t   *d = describe(cx, m);
    double    n[4] = { 6, 3, 3, 3 }, gap = 2; /* aa, ab, ba, bb */
    double    p = n[1] / (n[0] + n[1]), q = n[2] / (n[2] + n[3]), rate = -log1p(-p - q) / gap;
    double    ll = n[0] * log(1 - p) + n[1] * log(p) + n[2] * log(q) + n[3] * log(1 - q);
    double    vp = p * (1 - p) / (n[0] + n[1]), vq = q * (1 - q) / (n[2] + n[3]);
    double    slope = 1 / (1 - p - q) / gap; /* of the sum of the rates */
    double    share = p / (p + q), of_p = slope * share + rate * q / (p + q) / (p + q);
    double    of_q = slope * share - rate * p / (p + q) / (p + q);
    assert_close(parameter(d, "Q[a,b]", "value"), rate * share, 1e-6);
    assert_close(parameter(d, "Q[b,a]", "value"), rate * (1 - share), 1e-6);
    assert_close(m->report.log_likelihood, ll + log(2.0 / 3), 1e-10);
    assert_close(parameter(d, "Q[a,b]", "sd"), sqrt(of_p * of_p * vp + of_q * of_q * vq), 1e-4);
    /* the long run is q / (p + q), and has its sd */
    double of_share = sqrt(q * q * vp + p * p * vq) / (p + q) / (p + q);
    assert_close(state_of(m)->stationary[1], share, 1e-6);
    assert_close(state_of(m)->stationary_sd[0], of_share, 1e-4);
}

/* log likelihood of the pairs plus log prior, straight from the table, by the reference. */
static double objective_at(const cr_table *t, const cri_markov *m, const double *Q)
{
    size_t           k = m->k, n = cr_table_rows(t);
    const double    *s = cr_table_find(t, "s")->values, *time = cr_table_find(t, "t")->values;
    const cr_column *c = cr_table_find(t, "c");
    double           sum = 0;
    for (size_t i = 1; i < n; i++) {
        long double A[MOST * MOST], P[MOST * MOST];
        if (s[i] != s[i - 1]) continue;
        for (size_t e = 0; e < k * k; e++) A[e] = (long double)Q[e] * (time[i] - time[i - 1]);
        dense_exponential(A, k, P);
        sum += (double)logl(P[symbol_at(c, i - 1) * k + symbol_at(c, i)]);
    }
    for (size_t e = 0; e < k * k; e++)
        if (e % (k + 1) != 0) sum += m->prior_jumps * log(Q[e]) - m->prior_time * Q[e];
    return sum;
}

static double moved(const cr_table *t, const cri_markov *m, size_t e, double by, size_t e2,
                    double by2)
{
    double Q[MOST * MOST];
    size_t k = m->k;
    memcpy(Q, m->rate, k * k * sizeof *Q);
    Q[e] *= exp(by), Q[e2] *= exp(by2);
    for (size_t i = 0; i < k; i++) {
        Q[i * k + i] = 0;
        for (size_t j = 0; j < k; j++) Q[i * k + i] -= i == j ? 0 : Q[i * k + j];
    }
    return objective_at(t, m, Q);
}

/* The end of EM is the mode of the log rates, with the curvature that its sds say. */
static void check_mode(cr_ctx *cx, const double gaps[3])
{
    enum { N = 6 };
    cr_table         *t = table_of_gaps(cx, 31, 40, gaps);
    cr_model         *model = fit_three(cx, t, "prior_jumps=0.5 tol=1e-13");
    const cri_markov *m = state_of(model);
    const size_t      beside[N] = { 1, 2, 3, 5, 6, 7 };
    const double      h = 1e-3;
    double H[N * N], top = objective_at(t, m, m->rate), gap = (gaps[0] + gaps[1] + gaps[2]) / 3;
    assert_close(m->objective, top, 1e-11);
    assert_true(fabs(m->prior_time / gap - 1) < 0.2); /* 0.5 * 2 times the mean gap */
    for (size_t i = 0; i < N; i++) {
        double up = moved(t, m, beside[i], h, 0, 0), down = moved(t, m, beside[i], -h, 0, 0);
        assert_true(up < top && down < top);
        assert_true(fabs(up - down) / (2 * h) < 2e-4);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0;
            for (int a = -1; a <= 1; a += 2)
                for (int b = -1; b <= 1; b += 2)
                    sum += a * b * moved(t, m, beside[i], a * h, beside[j], b * h);
            H[i * N + j] = -sum / (4 * h * h);
        }
    assert_ok(cx, cr_chol(cx, cr_mat_of(H, N, N)));
    assert_ok(cx, cr_chol_inverse(cx, cr_const(cr_mat_of(H, N, N)), cr_mat_of(H, N, N)));
    for (size_t i = 0; i < N; i++)
        assert_close(m->rate_sd[beside[i]], m->rate[beside[i]] * sqrt(H[i * N + i]), 2e-3);
    json_t *d = describe(cx, model);
    assert_true(parameter(d, "Q[a,b]", "lower") < m->rate[1]);
    assert_true(parameter(d, "Q[a,b]", "upper") > m->rate[1]);
    for (size_t a = 0; a < 3; a++) { /* pi Q = 0 */
        double sum = 0;
        for (size_t b = 0; b < 3; b++) sum += m->stationary[b] * m->rate[b * 3 + a];
        assert_true(fabs(sum) < 1e-13);
    }
}

TEST(mode_of_the_posterior)
{
    check_mode(cx, (const double[3]){ 0.3, 1, 2.5 });
    check_mode(cx, (const double[3]){ 0.3, 1, 200 }); /* one that is not summed over its events */
    check_mode(cx, (const double[3]){ 1e-4, 1, 60 });
}

/* Also where the data say little, and a step that is gone on with goes too far. */
TEST(steps_do_not_fall)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        cr_table *t = table_of_three(cx, 32 + seed, seed % 2 == 0 ? 30 : 5);
        double    before = -INFINITY;
        for (size_t steps = 1; steps <= 12; steps++) {
            char more[64];
            snprintf(more, sizeof more, "tol=0 max_iter=%zu prior_jumps=%g", steps, 0.01);
            double now = state_of(fit_three(cx, t, more))->objective;
            assert_true(now >= before - 1e-12 * fabs(now));
            before = now;
        }
    }
}

TEST(intervals_cover)
{
    size_t trials = simulation_size(30, 200), held = 0, all = 0;
    for (size_t i = 0; i < trials; i++) {
        json_t *d = describe(cx, fit_three(cx, table_of_three(cx, 100 + i, 60), ""));
        for (size_t e = 0; e < 9; e++) {
            char name[16];
            if (e % 4 == 0) continue;
            snprintf(name, sizeof name, "Q[%c,%c]", (int)('a' + e / 3), (int)('a' + e % 3));
            held +=
                parameter(d, name, "lower") <= three[e] && three[e] <= parameter(d, name, "upper");
            all++;
        }
    }
    double share = (double)held / (double)all, sd = sqrt(0.05 * 0.95 / (double)all);
    if (!(fabs(share - 0.95) < 5 * sd + 0.015)) fail_msg("%g of the intervals hold", share);
}

/* --- answers --------------------------------------------------------------------------------- */

/* Rows out of order, dates as days; each row by the exponential of the gap before it, and a stream as a whole. */
TEST(predictions)
{
    const char  *rows = "s,t,c\n1,2024-01-03,b\n1,2024-01-01,a\n2,2024-02-01,b\n1,2024-01-07,a\n"
                        "2,2024-02-02,b\n1,2024-01-08,c\n2,2024-02-05,a\n";
    const size_t before[7] = { 1, 9, 9, 0, 2, 3, 4 };
    const double gap[7] = { 2, 0, 0, 4, 1, 1, 3 };
    cr_table    *t = table_of_text(cx, "data.csv", rows);
    cr_model    *model = fit_three(cx, t, "");
    const cri_markov *m = state_of(model);
    cr_prediction     p = predict(cx, model, t), f = { 0 };
    double            work[45], P[9], sum = 0;
    const cr_column  *c = cr_table_find(t, "c");
    for (size_t i = 0; i < 7; i++) {
        sum += p.log_density[i];
        if (before[i] == 9) {
            assert_close(p.prob[3 * i], 2. / 5, 1e-14);
            continue;
        }
        cri_generator_exponential(m->rate, 3, gap[i], NULL, P, NULL, work);
        for (size_t b = 0; b < 3; b++)
            assert_close(p.prob[3 * i + b], P[3 * symbol_at(c, before[i]) + b], 1e-11);
        assert_close(p.log_density[i], log(p.prob[3 * i + symbol_at(c, i)]), 1e-14);
    }
    assert_close(sum, model->report.log_likelihood, 1e-12);
    assert_ok(cx, cr_filter(cx, model, t, &f));
    assert_memory_equal(f.prob, p.prob, 21 * sizeof(double));
    cr_prediction_free(cx, &f);
    cr_forecast ahead = { 0 };
    assert_ok(cx, cr_forecast_rows(cx, model, NULL, 5, &ahead));
    cri_generator_exponential(m->rate, 3, 5, NULL, P, NULL, work);
    for (size_t b = 0; b < 3; b++) { /* 1 ends with c, 2 with a */
        assert_close(ahead.p.prob[3 * 4 + b], P[6 + b], 1e-13);
        assert_close(ahead.p.prob[3 * 9 + b], P[b], 1e-13);
    }
    cr_forecast_free(cx, &ahead);
    double *drawn = malloc(100000 * sizeof *drawn), share = 0;
    assert_non_null(drawn);
    assert_ok(cx, cr_sample(cx, model, 100000, 3, drawn));
    for (size_t i = 0; i < 100000; i++) share += drawn[i] == 0;
    assert_true(fabs(share / 100000 - m->stationary[0]) < 0.02);
    free(drawn);
}

/* Times of day are parts of days; a stream goes on where the last block has ended. */
TEST(streams_and_times_of_day)
{
    cr_table     *days = table_of_text(cx, "a.csv", "c,t\na,0\nb,0.5\nc,1.25\nb,3\na,4\nb,4.5\n");
    cr_table     *times = table_of_text(cx, "b.csv",
                                        "c,t\na,2024-01-01T00:00:00\nb,2024-01-01T12:00:00\nc,2024-01-"
                                            "02T06:00:00\nb,2024-01-04T00:00:00\na,2024-01-05T00:00:00\nb,"
                                            "2024-01-05T12:00:00\n");
    cr_table     *blocks[2] = { table_of_text(cx, "c.csv", "c,t\na,0\nb,0.5\n"),
                                table_of_text(cx, "d.csv", "c,t\nc,1.25\nb,3\na,4\nb,4.5\n") };
    const char   *same = "features=c time=t continuous=true";
    cr_model     *m = fit(cx, "markov", days, same), *other = fit(cx, "markov", times, same);
    cr_prediction p = predict(cx, m, days), q = predict(cx, other, times);
    cr_follower  *f = NULL;
    for (size_t i = 0; i < 18; i++) assert_close(q.prob[i], p.prob[i], 1e-8);
    for (size_t i = 0; i < 9; i++)
        assert_close(state_of(other)->rate[i], state_of(m)->rate[i], 1e-8);
    assert_ok(cx, cr_follow_open(cx, m, &f));
    for (size_t b = 0, at = 0; b < 2; b++) {
        cr_prediction part = { 0 };
        assert_ok(cx, cr_follow(cx, f, blocks[b], &part));
        assert_memory_equal(part.prob, p.prob + at, 3 * part.n * sizeof(double));
        at += 3 * part.n;
        cr_prediction_free(cx, &part);
    }
    cr_prediction none = { 0 };
    assert_fails_with(cx, cr_follow(cx, f, blocks[0], &none), CR_EDATA, "not later");
    cr_follow_free(cx, f);
}

/* A symbol that was seen twice at a time says nothing more. */
TEST(rows_at_the_same_time)
{
    cr_table *once = table_of_text(cx, "a.csv", "c,t\na,0\nb,1\nb,3\na,4\nb,4.5\n");
    cr_table *twice = table_of_text(cx, "b.csv", "c,t\na,0\na,0\nb,1\nb,3\nb,3\nb,3\na,4\nb,4.5\n");
    cr_model *m = fit(cx, "markov", once, "features=c time=t continuous=true");
    cr_model *n = fit(cx, "markov", twice, "features=c time=t continuous=true");
    cr_prediction p = predict(cx, n, twice);
    for (size_t i = 0; i < 4; i++) assert_close(state_of(n)->rate[i], state_of(m)->rate[i], 1e-14);
    assert_true(p.log_density[1] == 0 && p.log_density[5] == 0 && p.log_density[3] < 0);
    assert_close(n->report.log_likelihood, m->report.log_likelihood, 1e-14);
}

/* A hundred different gaps: the same bits on any number of threads. */
TEST(threads_change_nothing)
{
    double gaps[100], first[9];
    cr_rng r = cr_rng_stream(41, 1);
    for (size_t i = 0; i < 100; i++) gaps[i] = 0.1 + 3 * cr_rng_uniform(&r);
    text_buffer text = draw_chain(&r, three, 3, 3, 120, gaps, 100);
    cr_table   *t = table_of_text(cx, "data.csv", text.at);
    free(text.at);
    for (size_t threads = 1; threads <= 5; threads += 2) {
        cr_ctx_set_threads(cx, threads);
        const cri_markov *m = state_of(fit_three(cx, t, ""));
        assert_true(m->gaps > 90);
        if (threads == 1) memcpy(first, m->rate, sizeof first);
        assert_memory_equal(m->rate, first, sizeof first);
    }
}

TEST(one_symbol)
{
    cr_table *t = table_of_text(cx, "data.csv", "c,t\na,0\na,1\na,3\n");
    cr_model *m = fit(cx, "markov", t, "features=c time=t continuous=true");
    assert_close(predict(cx, m, t).prob[2], 1, 0);
    assert_close(m->report.log_likelihood, 0, 0);
    describe(cx, m);
}

/* Gaps from nanoseconds to ages. */
TEST(gaps_of_all_sizes)
{
    cr_table *t = table_of_text(cx, "data.csv", "c,t\na,0\nb,1e-9\na,1\nb,1e3\na,1e12\nb,1e15\n");
    cr_model *m = fit(cx, "markov", t, "features=c time=t continuous=true");
    cr_prediction p = predict(cx, m, t);
    assert_proper(&p);
    describe(cx, m);
}

TEST(refusals)
{
    cr_model *m = NULL;
    cr_table *ties = table_of_text(cx, "data.csv", "c,t,x\na,0,1\nb,1,2\na,1,3\n");
    cr_table *alone = table_of_text(cx, "data.csv", "c,t,s\na,0,1\nb,1,2\n");
    assert_fails_with(cx, try_fit(cx, "markov", ties, "features=c time=t continuous=true", &m),
                      CR_EDATA, "another symbol");
    assert_fails_with(cx, try_fit(cx, "markov", ties, "features=c continuous=true", &m), CR_EARG,
                      "needs the times");
    assert_fails_with(cx,
                      try_fit(cx, "markov", ties, "features=c time=x continuous=true order=2", &m),
                      CR_EARG, "contradicts");
    assert_fails_with(
        cx, try_fit(cx, "markov", alone, "features=c time=t sequence=s continuous=true", &m),
        CR_EDATA, "no sequence has rows at two times");
}

/* What would do nothing is refused. */
TEST(options_of_one_kind_of_time)
{
    cr_model                *m = NULL;
    cr_table                *t = table_of_text(cx, "data.csv", "c,t\na,0\nb,1\na,2\n");
    static const char *const jumps[] = { "prior_jumps=1", "tol=1e-6", "max_iter=50" };
    for (size_t i = 0; i < 3; i++) {
        char text[100];
        snprintf(text, sizeof text, "features=c time=t %s", jumps[i]);
        assert_fails_with(cx, try_fit(cx, "markov", t, text, &m), CR_EARG,
                          "requires --continuous:");
        snprintf(text, sizeof text, "features=c time=t continuous=true %s", jumps[i]);
        fit(cx, "markov", t, text);
    }
    assert_fails_with(cx, try_fit(cx, "markov", t, "features=c time=t continuous=true alpha=2", &m),
                      CR_EARG, "--alpha is of chains in steps");
}
