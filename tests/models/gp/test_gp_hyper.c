/* test_gp_hyper.c -- weak priors of hyper-parameters: their optimum, the integral over them, and when
 * predictions are averaged, against grids over the definition. */
#include "sine_bench.h"

#include "models/core/model_internal.h"

enum { GRID = 60 };
static const double LENGTH = 0.1, WIDTH = 0.7; /* of the prior of log l */
#define MODEL "target=y mean=zero kernel=rbf(variance=1.4\tfixed,l=0.9~lognormal(0.1,0.7)) "

static double log_normal(double x, double mean, double sd)
{
    return -0.5 * pow((x - mean) / sd, 2) - log(sd) - 0.91893853320467274178;
}

/* log p(y | l, noise) p(log l) p(log noise). */
static double density(bench *b, double log_l, double log_noise)
{
    b->g.k.l[0] = expl(log_l);
    for (size_t i = 0; i < N; i++) b->noises[i] = exp(log_noise);
    return log_density(&b->g) + log_normal(log_l, LENGTH, WIDTH) +
           log_normal(log_noise, log(0.3 * b->variance * N / (N - 3.0)), 2);
}

/* The optimum over log l and log noise by ever finer grids, and the log of the integral. */
static void search(bench *b, double best[2], double *integral)
{
    double low[2] = { -2.5, -5 }, step[2] = { 5.0 / GRID, 7.0 / GRID }, top = -INFINITY, sum = 0;
    static double at[GRID * GRID];
    for (size_t i = 0; i < GRID * GRID; i++)
        top = fmax(top, at[i] = density(b, low[0] + step[0] * (double)(i / GRID),
                                        low[1] + step[1] * (double)(i % GRID)));
    for (size_t i = 0; i < GRID * GRID; i++) {
        sum += exp(at[i] - top);
        if (at[i] < top) continue;
        best[0] = low[0] + step[0] * (double)(i / GRID);
        best[1] = low[1] + step[1] * (double)(i % GRID);
    }
    *integral = top + log(sum * step[0] * step[1]);
    for (int finer = 0; finer < 30; finer++) { /* the best of nine */
        double from[2] = { best[0], best[1] };
        for (int k = 0; k < 9; k++) {
            double l = from[0] + step[0] * (k / 3 - 1), s = from[1] + step[1] * (k % 3 - 1);
            double value = density(b, l, s);
            if (value > top) top = value, best[0] = l, best[1] = s;
        }
        if (best[0] == from[0] && best[1] == from[1]) step[0] /= 2, step[1] /= 2;
    }
}

/* The default is where evidence times priors is largest, and its log evidence is the integral. */
TEST(optimum_and_integral)
{
    bench    *b = draw(2);
    cr_table *t = make_table(cx, b->X, N, 1, b->y, NULL);
    double    best[2] = { 0 }, integral;
    cr_ctx_set_threads(cx, 1);
    search(b, best, &integral);
    cr_model        *m = fit(cx, "gp", t, MODEL "hyper=map");
    json_t          *d = describe(cx, m);
    const cr_report *r = cr_model_get_report(m);
    assert_close(log(parameter(d, "rbf.l", "value")), best[0], 2e-3);
    assert_close(log(parameter(d, "noise", "value")), best[1], 2e-3);
    assert_close(r->log_evidence, integral, 0.1);
    assert_int_equal(r->evidence, CR_EVIDENCE_LAPLACE);
    density(b, log(parameter(d, "rbf.l", "value")), log(parameter(d, "noise", "value")));
    assert_close(statistic(d, "log_evidence_at_hyper"), log_density(&b->g), 1e-8);
    m = fit(cx, "gp", t,
            MODEL "hyper=mcmc draws_hyper=40"); /* of the same priors: the same evidence */
    assert_close(cr_model_get_report(m)->log_evidence, r->log_evidence, 1e-6);
    free(b);
}

/* Without priors the evidence is the largest there is, and says no more than that. */
TEST(best)
{
    bench    *b = draw(4);
    cr_table *t = make_table(cx, b->X, N, 1, b->y, NULL);
    cr_ctx_set_threads(cx, 1);
    cr_model *m = fit(cx, "gp", t, "target=y hyper=best"),
             *map = fit(cx, "gp", t, "target=y hyper=map");
    json_t *d = describe(cx, m), *e = describe(cx, map);
    assert_int_equal(cr_model_get_report(m)->evidence, CR_EVIDENCE_EXACT);
    assert_true(cr_model_get_report(m)->log_evidence > statistic(e, "log_evidence_at_hyper"));
    assert_true(cr_model_get_report(map)->log_evidence < statistic(e, "log_evidence_at_hyper") - 3);
    assert_null(json_object_get(json_object_get(d, "statistics"), "log_evidence_at_hyper"));
    free(b);
}

static const char *hyper_of(cr_ctx *cx, const cr_model *m)
{
    json_t *d = describe(cx, m);
    return json_string_value(json_object_get(json_object_get(d, "statistics"), "hyper"));
}

/* n rows of p columns whose sum is the target, with noise. */
static cr_table *sums(cr_ctx *cx, size_t n, size_t p, uint64_t seed)
{
    static double X[400 * 4], y[400];
    cr_rng        r = cr_rng_stream(seed, 1);
    for (size_t i = 0; i < n; i++) {
        y[i] = cr_rng_normal(&r);
        for (size_t j = 0; j < p; j++) y[i] += X[i * p + j] = cr_rng_normal(&r);
    }
    return make_table(cx, X, n, p, y, NULL);
}

/* Few rows for the hyper-parameters are averaged over, many are not. */
TEST(few_rows_are_averaged)
{
    cr_ctx_set_threads(cx, 1);
    assert_string_equal(hyper_of(cx, fit(cx, "gp", sums(cx, 12, 2, 1), "target=y")), "mcmc");
    assert_string_equal(hyper_of(cx, fit(cx, "gp", sums(cx, 50, 2, 1), "target=y")), "mcmc");
    assert_string_equal(hyper_of(cx, fit(cx, "gp", sums(cx, 150, 2, 1), "target=y")), "map");
    assert_string_equal(hyper_of(cx, fit(cx, "gp", sums(cx, 12, 2, 1), "target=y gradient=true")),
                        "map");
}

/* 95 % intervals of new rows hold about that, of 8 rows too: not half of them. */
TEST(coverage_of_few_rows)
{
    enum { NEW = 40 };
    size_t held = 0, sets = simulation_size(8, 30);
    cr_ctx_set_threads(cx, 1);
    for (size_t k = 0; k < sets; k++) {
        cr_table     *few = sums(cx, 8, 2, 100 + k), *new = sums(cx, NEW, 2, 1000 + k);
        cr_model     *m = fit(cx, "gp", few, "target=y draws_hyper=40");
        cr_prediction p = predict(cx, m, new);
        double        y[NEW];
        assert_ok(cx, cr_observed(cx, m, new, y, NULL));
        for (size_t i = 0; i < NEW; i++) held += fabs(y[i] - p.mean[i]) <= 1.96 * p.scale[i];
    }
    double share = (double)held / (double)(sets * NEW);
    if (share < 0.90 || share > 0.99) fail_msg("%.3f of 95 %% intervals", share);
}
