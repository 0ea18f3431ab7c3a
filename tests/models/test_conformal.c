/* test_conformal.c -- conformal intervals: against their definition by brute force, and by what they promise of new
 * rows whatever the model assumes. */
#include "../study/fixture.h"
#include "life.h"
#include "data/judge/split.h"
#include "data/table/value_order.h"
#include "models/core/conformal.h"
#include "study/assess.h"

/* --- the quantile, from the definition -------------------------------------------------------- */

typedef struct valued {
    double value, weight;
} valued;

static int by_value(const void *a, const void *b)
{
    double x = ((const valued *)a)->value, y = ((const valued *)b)->value;
    return (x > y) - (x < y);
}

/* The least value up to which the weights are at least level (W + 1). */
static double brute_upper(valued *v, size_t n, double level)
{
    double total = 0, sum = 0;
    qsort(v, n, sizeof *v, by_value);
    for (size_t i = 0; i < n; i++) total += v[i].weight;
    for (size_t i = 0; i < n; i++)
        if ((sum += v[i].weight) >= level * (total + 1) - 1e-9) return v[i].value;
    return INFINITY;
}

/* Random folds, ties and weights among them. */
TEST(search_is_the_definition)
{
    enum { FOLDS = 7, MOST = 60 };
    cr_rng r = cr_rng_stream(5, 1);
    for (int trial = 0; trial < 300; trial++) {
        double        score[MOST], weight[MOST], mean[FOLDS], scale[FOLDS];
        size_t        count[FOLDS] = { 0 }, n = 0, work[2 * FOLDS], fold[MOST];
        cr_conformal *c = NULL;
        bool          weighted = trial % 2, scaled = trial % 3 == 0;
        for (size_t k = 0; k < FOLDS; k++) {
            count[k] = (size_t)(cr_rng_uniform(&r) * 8.9);
            mean[k] = floor(4 * cr_rng_normal(&r)) / 2, scale[k] = 0.5 + cr_rng_uniform(&r);
            for (size_t i = 0; i < count[k]; i++, n++) {
                fold[n] = k;
                score[n] = floor(4 * fabs(cr_rng_normal(&r))) / 4;
                weight[n] = weighted ? floor(4 * cr_rng_uniform(&r)) / 2 : 1;
            }
        }
        double total = 0;
        for (size_t i = 0; i < n; i++) total += weight[i];
        if (total == 0) continue;
        assert_ok(cx, cri_conformal_new(cx, score, weight, count, FOLDS, scaled, &c));
        for (double level = 0.1; level < 1; level += 0.0444) {
            valued up[MOST], down[MOST];
            double lower, upper;
            for (size_t i = 0; i < n; i++) {
                double half = (scaled ? scale[fold[i]] : 1) * score[i];
                up[i] = (valued){ mean[fold[i]] + half, weight[i] };
                down[i] = (valued){ -mean[fold[i]] + half, weight[i] };
            }
            cri_conformal_interval(c, mean, scaled ? scale : NULL, level, work, &lower, &upper);
            assert_close(upper, brute_upper(up, n, level), 0);
            assert_close(lower, -brute_upper(down, n, level), 0);
        }
        cri_conformal_free(cx, c);
    }
}

/* With n rows of weight 1, level k / (n + 1) is the k-th smallest, and one more is infinite. */
TEST(finite_sample_order_statistic)
{
    double        score[19], weight[19], zero = 0;
    size_t        count = 19, work[2];
    cr_conformal *c = NULL;
    for (size_t i = 0; i < 19; i++) score[i] = (double)(19 - i), weight[i] = 1;
    assert_ok(cx, cri_conformal_new(cx, score, weight, &count, 1, false, &c));
    for (size_t k = 1; k <= 19; k++) {
        double upper;
        cri_conformal_interval(c, &zero, NULL, (double)k / 20, work, NULL, &upper);
        assert_close(upper, (double)k, 0);
    }
    double upper, unknown = NAN;
    cri_conformal_interval(c, &zero, NULL, 0.951, work, NULL, &upper);
    assert_true(isinf(upper));
    cri_conformal_interval(c, &unknown, NULL, 0.5, work, NULL, &upper);
    assert_true(isnan(upper));
    cri_conformal_free(cx, c);
}

/* --- whole fits ------------------------------------------------------------------------------- */

enum { N = 40, NEW = 6 };

static void draw_rows(cr_rng *r, size_t n, double *x, double *y)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = 4 * cr_rng_uniform(r) - 2;
        y[i] = sin(2 * x[i]) + (0.1 + 0.4 * fabs(x[i])) * cr_rng_normal(r);
    }
}

/* The intervals of new rows by fits without each fold, made here. */
static void refit(cr_ctx *cx, const double *x, const double *y, const cr_folds *f, size_t models,
                  bool scaled, const cr_table *new_rows, double level, double *lower, double *upper)
{
    valued up[NEW][N], down[NEW][N];
    size_t n = 0, rows[N];
    for (size_t k = 0; k < models; k++) {
        double        xs[N], ys[N];
        size_t        train = cr_folds_train(f, k, rows);
        cr_prediction p = { 0 }, q = { 0 };
        for (size_t i = 0; i < train; i++) xs[i] = x[rows[i]], ys[i] = y[rows[i]];
        cr_model *m = fit(cx, "linear", make_table(cx, xs, train, 1, ys, NULL), "target=y");
        size_t    test = cr_folds_test(f, k, rows);
        for (size_t i = 0; i < test; i++) xs[i] = x[rows[i]];
        p = predict(cx, m, make_table(cx, xs, test, 1, NULL, NULL));
        q = predict(cx, m, new_rows);
        for (size_t i = 0; i < test; i++, n++) {
            double score = fabs(y[rows[i]] - p.mean[i]) / (scaled ? p.scale[i] : 1);
            for (size_t j = 0; j < NEW; j++) {
                double half = (scaled ? q.scale[j] : 1) * score;
                up[j][n] = (valued){ q.mean[j] + half, 1 };
                down[j][n] = (valued){ -q.mean[j] + half, 1 };
            }
        }
    }
    for (size_t j = 0; j < NEW; j++) {
        upper[j] = brute_upper(up[j], n, level);
        lower[j] = -brute_upper(down[j], n, level);
    }
}

TEST(fits_are_the_definition)
{
    static const char *const settings[] = {
        "target=y calibrate=conformal seed=3",
        "target=y calibrate=conformal seed=3 conformal=split calibrate_folds=3",
        "target=y calibrate=conformal seed=3 conformal=jackknife conformal_scale=none",
        "target=y calibrate=conformal seed=3 conformal_scale=none calibrate_folds=9",
    };
    static const size_t folds[] = { 5, 3, N, 9 }, models[] = { 5, 1, N, 9 };
    cr_rng              r = cr_rng_stream(11, 1);
    double              x[N], y[N], at[NEW] = { -2, -1, -0.3, 0.4, 1.1, 3 };
    draw_rows(&r, N, x, y);
    cr_table *t = make_table(cx, x, N, 1, y, NULL), *sorted = NULL;
    assert_ok(cx, cri_table_by_values(cx, t, &sorted)); /* folds are dealt in this order */
    test_own(cx, sorted, release_table);
    memcpy(x, cr_table_find(sorted, "x1")->values, sizeof x);
    memcpy(y, cr_table_find(sorted, "y")->values, sizeof y);
    cr_table *new_rows = make_table(cx, at, NEW, 1, NULL, NULL);
    for (size_t s = 0; s < 4; s++) {
        cr_folds      f = { 0 };
        double        lower[NEW], upper[NEW], low[NEW], high[NEW];
        cr_prediction p = { 0 };
        assert_ok(cx, cr_folds_new(cx, N, folds[s], 3, &f));
        cr_model *m = fit(cx, "linear", t, settings[s]);
        p = predict(cx, m, new_rows);
        for (int level = 0; level < 3; level++) {
            double mass = (double[]){ 0.5, 0.8, 0.9 }[level];
            refit(cx, x, y, &f, models[s], s < 2, new_rows, mass, lower, upper);
            assert_ok(cx, cr_prediction_intervals(cx, &p, mass, NULL, low, high));
            for (size_t j = 0; j < NEW; j++) {
                assert_close(low[j], lower[j], 1e-9);
                assert_close(high[j], upper[j], 1e-9);
            }
        }
        cr_folds_free(cx, &f);
    }
}

/* A straight line through a wave with growing noise: its own intervals are wrong, these hold. */
TEST(coverage_of_a_wrong_model)
{
    enum { TRIALS = 60, ROWS = 60, TESTS = 100 };
    static const char *const kinds[] = { "cv", "split", "jackknife" };
    for (size_t k = 0; k < 3; k++) {
        double covered = 0;
        char   settings[128];
        snprintf(settings, sizeof settings,
                 "target=y calibrate=conformal calibrate_folds=%d conformal=%s", k == 1 ? 2 : 5,
                 kinds[k]);
        for (uint64_t trial = 0; trial < (k == 2 ? TRIALS / 3 : TRIALS); trial++) {
            cr_rng        r = cr_rng_stream(100 + trial, 1);
            double        x[ROWS], y[ROWS], u[TESTS], v[TESTS], lower[TESTS], upper[TESTS];
            cr_prediction p = { 0 };
            for (size_t i = 0; i < ROWS + TESTS; i++) { /* skewed noise, and a step */
                double a = cr_rng_uniform(&r), e = -log(cr_rng_uniform(&r));
                double b = (a > 0.5 ? 5 : 0) + 3 * a * e * e;
                *(i < ROWS ? &x[i] : &u[i - ROWS]) = a;
                *(i < ROWS ? &y[i] : &v[i - ROWS]) = b;
            }
            cr_model *m = fit(cx, "linear", make_table(cx, x, ROWS, 1, y, NULL), settings);
            p = predict(cx, m, make_table(cx, u, TESTS, 1, NULL, NULL));
            assert_ok(cx, cr_prediction_intervals(cx, &p, 0.9, NULL, lower, upper));
            for (size_t i = 0; i < TESTS; i++) covered += lower[i] <= v[i] && v[i] <= upper[i];
        }
        covered /= TESTS * (k == 2 ? TRIALS / 3 : TRIALS);
        assert_true(covered > 0.88 && covered < 0.96);
    }
}

/* Coverage and width of `evaluate` are those of the intervals. */
TEST(evaluate_counts_the_intervals)
{
    cr_rng        r = cr_rng_stream(12, 1);
    double        x[N], y[N], lower[N], upper[N], held = 0, wide = 0;
    cr_prediction p = { 0 };
    cr_assessment a = { 0 };
    draw_rows(&r, N, x, y);
    cr_table *t = make_table(cx, x, N, 1, y, NULL);
    cr_model *m = fit(cx, "linear", t, "target=y calibrate=conformal");
    p = predict(cx, m, t);
    assert_ok(cx, cr_prediction_intervals(cx, &p, 0.7, NULL, lower, upper));
    for (size_t i = 0; i < N; i++) {
        held += (lower[i] <= y[i] && y[i] <= upper[i]) / (double)N;
        wide += (upper[i] - lower[i]) / N;
    }
    assert_ok(cx, cr_evaluate(cx, m, t, 0.7, &a));
    assert_close(a.metrics[cr_metric_find(&a, "coverage")].value, held, 1e-12);
    assert_close(a.metrics[cr_metric_find(&a, "width")].value, wide, 1e-12);
}

TEST(refusals)
{
    cr_rng    r = cr_rng_stream(13, 1);
    double    x[N], y[N];
    cr_model *m = NULL;
    draw_rows(&r, N, x, y);
    cr_table *t = make_table(cx, x, N, 1, y, NULL);
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y conformal=split", &m), CR_EARG,
                      "--conformal requires --calibrate conformal");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y calibrate=platt", &m), CR_EARG,
                      "predicts classes");
    for (size_t i = 0; i < N; i++) y[i] = (double)(i % 2);
    assert_fails_with(cx,
                      try_fit(cx, "logistic", make_table(cx, x, N, 1, y, NULL),
                              "target=y calibrate=conformal", &m),
                      CR_EARG, "intervals for numbers");
}

TEST(every_allocation)
{
    static const char *const settings[] = { "target=y calibrate=conformal calibrate_folds=2",
                                            NULL };
    cr_rng                   r = cr_rng_stream(14, 1);
    double                   x[12], y[12];
    draw_rows(&r, 12, x, y);
    check_allocations_on(x, 12, 1, y, "linear", settings);
}
