/* test_assess.c -- evaluation against loops over the rows, cross-validation against folds by hand.
 */
#include "fixture.h"
#include "data/judge/split.h"
#include "data/table/subset.h"
#include "math/special/special.h"
#include "study/assess_internal.h"
#include "study/cross_validate.h"

static double metric(const cr_assessment *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->metrics[i].name, name) == 0) return a->metrics[i].value;
    fail_msg("there is no metric '%s'", name);
    return NAN;
}

/* The integral of (F(x) - 1{x >= y})^2, by Simpson's rule on both sides of y. */
static double crps_by_integration(double y, double mean, double scale, double dof)
{
    enum { STEPS = 4000 };
    double sum = 0, far = 300 * scale + fabs(y - mean);
    for (int side = -1; side <= 1; side += 2)
        for (size_t i = 0; i <= STEPS; i++) {
            double u = (double)i / STEPS, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
            double x = far * u * u * u, dx = 3 * far * u * u; /* fine near y */
            double F = cr_student_t_cdf((y + side * x - mean) / scale * -side, dof);
            sum += weight / 3 / STEPS * F * F * dx;
        }
    return sum;
}

static void check_metrics(cr_ctx *cx, const cr_assessment *a, const double *y, const double *w,
                          size_t n, const cr_prediction *p, double level)
{
    double W = 0, mean = 0, square = 0, absolute = 0, total = 0, log_score = 0, inside = 0,
           width = 0;
    double crps = 0;
    size_t scored = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(y[i]) && !isnan(p->mean[i]))
            W += w ? w[i] : 1, mean += (w ? w[i] : 1) * y[i], scored++;
    mean /= W;
    for (size_t i = 0; i < n; i++) {
        double wi = (w ? w[i] : 1) / W, e = y[i] - p->mean[i], s = p->scale[i], nu = p->dof[i];
        double sd, lower, upper;
        if (isnan(y[i]) || isnan(p->mean[i])) continue;
        cr_prediction_interval(cx, p, i, level, &sd, &lower, &upper);
        square += wi * e * e;
        absolute += wi * fabs(e);
        total += wi * pow(y[i] - mean, 2);
        inside += wi * (y[i] >= lower && y[i] <= upper);
        width += wi * (upper - lower);
        log_score +=
            wi * (isinf(nu) ? -0.5 * (e / s) * (e / s) - log(s * sqrt(2 * M_PI))
                            : lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(nu * M_PI) -
                                  log(s) - (nu + 1) / 2 * log1p(e * e / (s * s * nu)));
        crps += wi * crps_by_integration(y[i], p->mean[i], s, nu);
    }
    assert_int_equal(a->rows, scored);
    assert_close(metric(a, "rmse"), sqrt(square), 1e-12);
    assert_close(metric(a, "mae"), absolute, 1e-12);
    assert_close(metric(a, "r2"), 1 - square / total, 1e-12);
    assert_close(metric(a, "log_score"), log_score, 1e-12);
    assert_close(metric(a, "coverage"), inside, 1e-12);
    assert_close(metric(a, "width"), width, 1e-11);
    assert_close(metric(a, "crps"), crps, 1e-5);
    assert_false(a->has_bins);
}

enum { N = 40, P = 3 };

TEST(evaluate)
{
    const char *const models[] = { "linear", "ridge", "bayes-linear" };
    double            X[2 * N * P], y[2 * N], w[2 * N];
    draw_regression(1, 2 * N, P, 0.7, X, y);
    for (size_t i = 0; i < 2 * N; i++) w[i] = 0.25 + (double)(i % 4);
    cr_table *train = make_table(cx, X, N, P, y, w);
    y[N + 3] = NAN, X[(N + 5) * P + 1] = NAN, y[N + 5] = NAN, X[(N + 8) * P] = NAN;
    cr_table *test = make_table(cx, X + N * P, N, P, y + N, w + N);
    for (size_t k = 0; k < 6; k++) {
        bool      weighted = k % 2;
        cr_model *m =
            fit(cx, models[k / 2], train,
                weighted ? "target=y weights=w missing=drop" : "target=y features=x* missing=drop");
        cr_prediction p = predict(cx, m, test);
        cr_assessment a;
        assert_ok(cx, cr_evaluate(cx, m, test, 0.8, &a));
        assert_int_equal(a.rows, N - 3);
        check_metrics(cx, &a, y + N, weighted ? w + N : NULL, N, &p, 0.8);
    }
}

TEST(evaluate_refusals)
{
    double        X[N * P], y[N];
    cr_assessment a = { .n = 4711 };
    draw_regression(2, N, P, 0.7, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL), *bare = make_table(cx, X, N, P, NULL, NULL);
    cr_model *m = fit(cx, "linear", t, "target=y missing=drop");
    assert_fails_with(cx, cr_evaluate(cx, m, bare, 0.9, &a), CR_EDATA, "column 'y' not found");
    assert_fails(cx, cr_evaluate(cx, m, t, 0, &a), CR_EARG);
    assert_fails(cx, cr_evaluate(cx, m, t, 1, &a), CR_EARG);
    assert_fails(cx, cr_evaluate(cx, m, t, NAN, &a), CR_EARG);
    for (size_t i = 0; i < N; i++) y[i] = NAN;
    cr_table *none = make_table(cx, X, N, P, y, NULL);
    assert_fails_with(cx, cr_evaluate(cx, m, none, 0.9, &a), CR_EDATA,
                      "no row has both target and prediction");
    assert_int_equal(a.n, 4711);
}

/* Without residual degrees of freedom there are points, but no distribution to score. */
TEST(points_only)
{
    double        X[N * P], y[N];
    cr_assessment a;
    draw_regression(3, N, P, 0.7, X, y);
    cr_table *few = make_table(cx, X, P + 1, P, y, NULL), *t = make_table(cx, X, N, P, y, NULL);
    cr_model *m = fit(cx, "linear", few, "target=y");
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    assert_true(metric(&a, "rmse") > 0);
    assert_true(isnan(metric(&a, "log_score")) && isnan(metric(&a, "coverage")));
}

/* --- cross-validation ------------------------------------------------------------------------ */

static cr_cv_options cv_options(cr_ctx *cx, const char *settings)
{
    cr_cv_options o;
    setting_list  s;
    split_settings(settings, &s);
    assert_ok(cx, cr_options_init(cx, cr_cv_table, &o));
    for (size_t i = 0; i < s.n; i++)
        assert_ok(cx, cr_options_set(cx, cr_cv_table, &o, s.list[i].name, s.list[i].value));
    return o;
}

static cr_status try_cv(cr_ctx *cx, const char *model, const cr_table *t, const char *settings,
                        const char *options, cr_cv *out)
{
    setting_list  s;
    cr_cv_options o = cv_options(cx, options);
    split_settings(settings, &s);
    return cr_cross_validate(cx, model, t, s.list, s.n, &o, out);
}

/* The folds by hand: fit on the rest, score the fold. */
static void check_folds(cr_ctx *cx, const char *model, const cr_table *t, const char *settings,
                        const cr_folds *folds, double level, const cr_cv *cv)
{
    size_t *rows = calloc(folds->n, sizeof *rows), n, total = 0;
    assert_int_equal(cv->folds, folds->k);
    for (size_t f = 0; f < folds->k; f++) {
        cr_table     *train = NULL, *test = NULL;
        cr_assessment a;
        n = cr_folds_train(folds, f, rows);
        assert_ok(cx, cri_table_subset(cx, t, rows, n, &train));
        n = cr_folds_test(folds, f, rows);
        assert_ok(cx, cri_table_subset(cx, t, rows, n, &test));
        cr_model *m = fit(cx, model, train, settings);
        assert_ok(cx, cr_evaluate(cx, m, test, level, &a));
        assert_int_equal(cv->fold[f].rows, a.rows);
        assert_int_equal(cv->fold[f].n, a.n);
        for (size_t i = 0; i < a.n; i++) {
            assert_string_equal(cv->fold[f].metrics[i].name, a.metrics[i].name);
            assert_close(cv->fold[f].metrics[i].value, a.metrics[i].value, 0);
        }
        total += a.rows;
        cr_table_free(cx, train);
        cr_table_free(cx, test);
    }
    assert_int_equal(cv->mean.rows, total);
    for (size_t i = 0; i < cv->mean.n; i++) {
        double k = (double)folds->k, mean = 0, variance = 0;
        double part[64];
        assert_true(folds->k <= 64);
        mean = pooled(cv->fold, folds->k, i, part);
        for (size_t f = 0; f < folds->k; f++) variance += pow(part[f] - mean, 2) / (k - 1);
        assert_string_equal(cv->mean.metrics[i].name, cv->fold[0].metrics[i].name);
        assert_close(cv->mean.metrics[i].value, mean, 1e-13);
        assert_close(cv->se[i], sqrt(variance / k), 1e-13);
    }
    free(rows);
}

TEST(cross_validation)
{
    double X[N * P], y[N];
    draw_regression(4, N, P, 0.7, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_folds  folds;
    cr_cv     cv;
    assert_ok(cx, try_cv(cx, "ridge", t, "target=y seed=5", "folds=7 interval=0.9", &cv));
    assert_int_equal(cv.seed, 5);
    assert_ok(cx, cr_folds_new(cx, N, 7, 5, &folds));
    check_folds(cx, "ridge", t, "target=y seed=5", &folds, 0.9, &cv);
    cr_folds_free(cx, &folds);
    cr_cv_free(cx, &cv);

    assert_ok(cx, try_cv(cx, "linear", t, "target=y", "folds=4 split=ordered", &cv));
    assert_ok(cx, cr_folds_new_ordered(cx, N, 4, &folds));
    check_folds(cx, "linear", t, "target=y", &folds, 0.95, &cv);
    assert_int_equal(cv.mean.rows, N - N / 5); /* the first block is never tested */
    cr_folds_free(cx, &folds);
    cr_cv_free(cx, &cv);

    assert_ok(cx, try_cv(cx, "linear", t, "target=y", "folds=40", &cv)); /* leave one out */
    cr_model *m = fit(cx, "linear", t, "target=y");
    json_t   *d = describe(cx, m);
    double    sum = 0;
    for (size_t f = 0; f < N; f++) sum += pow(metric(&cv.fold[f], "rmse"), 2) / N;
    assert_relative(sum, statistic(d, "loocv"), 1e-11);
    assert_relative(metric(&cv.mean, "rmse"), sqrt(statistic(d, "loocv")),
                    1e-11); /* not the mean of |e| */
    assert_true(metric(&cv.mean, "rmse") > 1.05 * metric(&cv.mean, "mae"));
    assert_true(isnan(metric(&cv.fold[0], "r2"))); /* of one row there is none */
    cr_cv_free(cx, &cv);
}

/* r2 is that of all rows left out: 1 - sum e_i^2 / sum (y_i - ybar)^2 with e_i = r_i / (1 - h_i), by a dense hat matrix;
 * its standard error by the delta method, with the rows as they come. */
TEST(pooled_r2)
{
    enum { ROWS = 12 };
    double x[ROWS], y[ROWS], e[ROWS], t[ROWS], n = ROWS, sx = 0, sy = 0, sxx = 0, sxy = 0;
    double errors = 0, total = 0, square = 0;
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = (double)(i * i % 17), y[i] = 3 + 0.7 * x[i] + (double)(i * 7 % 5) - 2;
        sx += x[i] / n, sy += y[i] / n;
    }
    for (size_t i = 0; i < ROWS; i++)
        sxx += (x[i] - sx) * (x[i] - sx), sxy += (x[i] - sx) * (y[i] - sy);
    for (size_t i = 0; i < ROWS; i++) {
        double h = 1 / n + (x[i] - sx) * (x[i] - sx) / sxx;
        e[i] = pow((y[i] - sy - sxy / sxx * (x[i] - sx)) / (1 - h), 2);
        t[i] = (y[i] - sy) * (y[i] - sy);
        errors += e[i], total += t[i];
    }
    double r2 = 1 - errors / total;
    for (size_t i = 0; i < ROWS; i++) square += pow(n * ((1 - r2) * t[i] - e[i]) / total, 2);
    cr_table *table = make_table(cx, x, ROWS, 1, y, NULL);
    cr_cv     cv;
    assert_ok(cx, try_cv(cx, "linear", table, "target=y", "folds=12", &cv));
    assert_relative(metric(&cv.mean, "r2"), r2, 1e-11);
    assert_relative(cv.se[cr_metric_find(&cv.mean, "r2")], sqrt(square / (n - 1) / n), 1e-10);
    cr_cv_free(cx, &cv);

    /* however the rows are divided, it goes with rmse, by the variance of all */
    assert_ok(cx, try_cv(cx, "linear", table, "target=y", "folds=5 repeats=1", &cv));
    double rmse = metric(&cv.mean, "rmse");
    assert_relative(metric(&cv.mean, "r2"), 1 - n * rmse * rmse / total, 1e-11);
    cr_cv_free(cx, &cv);
}

/* The seed decides the folds, however it is written; the last one counts. */
TEST(seeds)
{
    double X[N * P], y[N];
    draw_regression(5, N, P, 0.7, X, y);
    cr_table         *t = make_table(cx, X, N, P, y, NULL);
    const char *const same[] = { "target=y seed=1000", "target=y seed=1e3",
                                 "seed=3 target=y seed=1000" };
    double            rmse[4];
    for (size_t k = 0; k < 4; k++) {
        cr_cv cv;
        assert_ok(cx, try_cv(cx, "linear", t, k < 3 ? same[k] : "target=y seed=1", "folds=5", &cv));
        assert_int_equal(cv.seed, k < 3 ? 1000 : 1);
        rmse[k] = metric(&cv.mean, "rmse");
        cr_cv_free(cx, &cv);
    }
    assert_true(rmse[0] == rmse[1] && rmse[0] == rmse[2] && rmse[0] != rmse[3]);
}

/* A level that only the last fold has: its indicator is zero in training, so its rows are predicted
 * as those of the reference level. */
TEST(rare_level)
{
    enum { ROWS = 30, FOLDS = 3 };
    const char *const models[] = { "linear", "ridge", "bayes-linear" };
    const char       *rare[ROWS], *common[ROWS];
    double            X[ROWS], y[ROWS];
    draw_regression(9, ROWS, 1, 0.5, X, y);
    for (size_t i = 0; i < ROWS; i++) rare[i] = common[i] = i % 2 ? "b" : "a";
    rare[27] = "z", common[27] = "a";
    cr_table *t[] = { make_table(cx, X, ROWS, 1, y, NULL), make_table(cx, X, ROWS, 1, y, NULL) };
    assert_ok(cx, cr_table_add_texts(cx, t[0], "c", rare));
    assert_ok(cx, cr_table_add_texts(cx, t[1], "c", common));
    for (size_t k = 0; k < 3; k++) {
        cr_cv cv[2];
        for (size_t i = 0; i < 2; i++)
            assert_ok(cx, try_cv(cx, models[k], t[i], "target=y", "folds=3 split=ordered", &cv[i]));
        assert_close(metric(&cv[0].fold[FOLDS - 1], "rmse"), metric(&cv[1].fold[FOLDS - 1], "rmse"),
                     1e-9);
        assert_true(isfinite(metric(&cv[0].mean, "log_score")));
        for (size_t i = 0; i < 2; i++) cr_cv_free(cx, &cv[i]);
    }
    cr_table_free(cx, t[0]);
    cr_table_free(cx, t[1]);
}

/* A value that a fold cannot use is named by its line in the file. */
TEST(places)
{
    cr_cv     cv;
    cr_table *t = table_of_text(cx, "gap.csv", "x,y\n1,2\n2,3\n3,5\n4,4\n,6\n6,7\n");
    assert_fails_with(cx, try_cv(cx, "linear", t, "target=y", "folds=2 split=ordered", &cv),
                      CR_EDATA, "gap.csv:6");
}

TEST(cv_refusals)
{
    double X[N * P], y[N];
    draw_regression(6, N, P, 0.7, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL), *few = make_table(cx, X, 4, P, y, NULL);
    cr_cv     cv = { .folds = 4711 };
    const struct {
        const cr_table *t;
        const char     *settings, *options;
        cr_status       status;
        const char     *text;
    } wrong[] = {
        { few, "target=y", "folds=5", CR_EDATA,
          "data.csv has 4 rows, which is not enough for 5 folds" },
        { t, "target=y", "split=stratified", CR_EARG, "needs a target that is a category" },
        { t, "features=x1", "split=stratified", CR_EARG, "needs a target" },
        { t, "target=z", "split=stratified", CR_EDATA, "column 'z' not found" },
        { t, "target=y lambda=1", "folds=5", CR_EARG, "no option 'lambda'" },
        { t, "features=x1", "folds=5", CR_EARG, "needs a target" },
        { few, "target=y", "folds=4 split=ordered", CR_EARG, "" },
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        cr_status st = try_cv(cx, "linear", wrong[k].t, wrong[k].settings, wrong[k].options, &cv);
        check_status(cx, st, wrong[k].status, wrong[k].text, wrong[k].settings, __FILE__, __LINE__);
        assert_int_equal(cv.folds, 4711);
    }
    assert_fails_with(cx, try_cv(cx, "liner", t, "target=y", "folds=5", &cv), CR_EARG,
                      "there is no model 'liner'");
}

static cr_status cross_validate_small(cr_ctx *cx, void *arg)
{
    const double      x[] = { 1, 2, 3, 4, 7, 5 }, y[] = { 2, 1, 3, 5, 4, 9 };
    const char *const texts[] = { "a", "b", "a", "b", "a", "b" };
    cr_setting        settings[] = { { "target", "y" }, { "seed", "1" } };
    cr_cv_options     o = { .folds = 2, .interval = 0.9 };
    cr_status         st = CR_OK;
    cr_table         *t = NULL;
    cr_cv             cv = { .folds = 0 };
    CR_TRY(cr_table_new(cx, "t", 6, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_add_texts(cx, t, "c", texts));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_cross_validate(cx, arg, t, settings, 2, &o, &cv));
    cr_cv_free(cx, &cv);
done:
    if (st != CR_OK) assert_null(cv.fold);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations)
{
    char name[] = "ridge";
    test_every_allocation_fails(cross_validate_small, name);
}

/* Whatever is measured is known by its kind: how models are ordered by it hangs on that. */
TEST(every_metric_has_a_kind)
{
    cr_regression_metrics numbers = { 0 };
    cr_class_metrics      classes = { 0 };
    cr_assessment         a = { 0 };
    cri_assess_add_numbers(&a, &numbers);
    for (int both = 0; both < 2; both++) {
        assert_true(a.n >= 7);
        for (size_t i = 0; i < a.n; i++)
            assert_string_equal(cri_metric_kind_of(a.metrics[i].name)->name, a.metrics[i].name);
        a.n = 0;
        cri_assess_add_classes(&a, &classes);
    }
    assert_int_equal(cr_metric_sense("log_loss"), -1);
    assert_int_equal(cr_metric_sense("none such"), 0);
}
