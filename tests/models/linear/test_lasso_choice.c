/* test_lasso_choice.c -- the choice of lambda: cross-validation by real refits, criteria by their
 * formulas, and the reference answers along the path. */
#include "../fixture.h"
#include "data/judge/split.h"

enum { N = 40, P = 6 };

/* order [N] = rows by target: as they are dealt to folds. */
static void order_by_target(const double *y, size_t *order)
{
    for (size_t i = 0; i < N; i++) {
        size_t k = i;
        for (; k > 0 && y[order[k - 1]] > y[i]; k--) order[k] = order[k - 1];
        order[k] = i;
    }
}

/* Each fold fitted by itself at a given lambda; its errors give mean and standard error. */
static void check_cross_validation(cr_ctx *cx, const double *X, const double *y, const double *w,
                                   const json_t *d, size_t folds, uint64_t seed, const char *kind)
{
    cr_folds split;
    double   most = INFINITY, at_least = 0, se_at_least = 0;
    size_t   which[N], order[N], points = json_array_size(json_object_get(d, "path"));
    assert_ok(cx, cr_folds_new(cx, N, folds, seed, &split));
    order_by_target(y, order);
    for (size_t k = 0; k < points; k++) {
        json_t *point = json_array_get(json_object_get(d, "path"), k);
        double  error[8], weight[8], sum = 0, total = 0, spread = 0;
        for (size_t f = 0; f < folds; f++) {
            double XX[N * P], yy[N], ww[N];
            size_t n = cr_folds_train(&split, f, which);
            for (size_t i = 0; i < n; i++) which[i] = order[which[i]];
            char settings[200];
            for (size_t i = 0; i < n; i++) {
                memcpy(XX + i * P, X + which[i] * P, P * sizeof(double));
                yy[i] = y[which[i]], ww[i] = w[which[i]];
            }
            cr_table *t = make_table(cx, XX, n, P, yy, ww);
            snprintf(settings, sizeof settings, "target=y weights=w features=x* %s lambda=%.17g",
                     kind, number_of(point, "lambda"));
            cr_model *m = fit(cx, "lasso", t, settings);
            cr_table_free(cx, t);
            n = cr_folds_test(&split, f, which);
            for (size_t i = 0; i < n; i++) which[i] = order[which[i]];
            for (size_t i = 0; i < n; i++) memcpy(XX + i * P, X + which[i] * P, P * sizeof(double));
            t = make_table(cx, XX, n, P, NULL, NULL);
            cr_prediction q = predict(cx, m, t);
            error[f] = weight[f] = 0;
            for (size_t i = 0; i < n; i++) {
                error[f] += w[which[i]] * pow(y[which[i]] - q.mean[i], 2);
                weight[f] += w[which[i]];
            }
            error[f] /= weight[f];
            sum += error[f] * weight[f], total += weight[f];
        }
        for (size_t f = 0; f < folds; f++) spread += weight[f] * pow(error[f] - sum / total, 2);
        double se = sqrt(spread / total / (double)(folds - 1));
        assert_relative(number_of(point, "cv"), sum / total, 1e-6);
        assert_close(number_of(point, "cv_se"), se, 1e-6);
        if (sum / total < most) {
            most = sum / total, se_at_least = se;
            at_least = number_of(point, "lambda");
        }
    }
    assert_relative(statistic(d, "lambda_cv"), at_least, 1e-14);
    double first = 0;
    for (size_t k = 0; k < points && first == 0; k++) {
        json_t *point = json_array_get(json_object_get(d, "path"), k);
        if (number_of(point, "cv") <= most + se_at_least) first = number_of(point, "lambda");
    }
    assert_relative(statistic(d, "lambda_1se"), first, 1e-14);
    cr_folds_free(cx, &split);
}

TEST(cross_validation)
{
    double            X[N * P], y[N], w[N];
    const char *const kinds[] = { "solver=gram", "solver=columns l1_ratio=0.5" };
    draw_regression(6, N, P, 3, X, y);
    for (size_t i = 0; i < N; i++) w[i] = 1 + (double)(i % 4);
    cr_table *t = make_table(cx, X, N, P, y, w);
    for (size_t k = 0; k < 2; k++) {
        char settings[256];
        snprintf(settings, sizeof settings,
                 "target=y weights=w features=x* path=7 cv_folds=5 seed=9 lambda_min_ratio=0.01 %s",
                 kinds[k]);
        cr_model *m = fit(cx, "lasso", t, settings);
        json_t   *d = describe(cx, m);
        check_cross_validation(cx, X, y, w, d, 5, 9, kinds[k]);
        assert_relative(statistic(d, "lambda"), statistic(d, "lambda_cv"), 1e-15);
        strcat(settings, " choose=1se");
        cr_model *o = fit(cx, "lasso", t, settings);
        json_t   *e = describe(cx, o);
        assert_relative(statistic(e, "lambda"), statistic(d, "lambda_1se"), 1e-15);
        assert_true(statistic(e, "lambda") >= statistic(d, "lambda"));
    }
}

/* The least of n log RSS + price df over the path. */
TEST(criteria)
{
    double            X[N * P], y[N];
    const char *const names[] = { "aic", "bic" };
    draw_regression(7, N, P, 3, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    for (size_t k = 0; k < 4; k++) {
        char settings[128];
        snprintf(settings, sizeof settings, "target=y choose=%s l1_ratio=%g", names[k % 2],
                 k < 2 ? 1 : 0.5);
        cr_model *m = fit(cx, "lasso", t, settings);
        json_t   *d = describe(cx, m), *list = json_object_get(d, "path"), *point;
        double    least = INFINITY, at = 0, price = k % 2 ? log(N) : 2;
        double    tss = statistic(d, "rss") / (1 - statistic(d, "r2"));
        size_t    i;
        json_array_foreach(list, i, point)
        {
            double rss = tss * (1 - number_of(point, "r2"));
            double value = N * log(rss / N) + price * number_of(point, "df");
            if (value < least) least = value, at = number_of(point, "lambda");
        }
        assert_relative(statistic(d, "lambda"), at, 1e-14);
        assert_relative(statistic(d, names[k % 2]), least + N * (log(2 * M_PI) + 1) + price, 1e-9);
    }
}

/* The objective is ours, and glmnet's for the lasso; its coefficients to 1e-6. */
TEST(reference)
{
    json_t *cases = reference_cases(cx, "lasso"), *item, *step;
    size_t  i, k, checked = 0;
    json_array_foreach(cases, i, item)
    {
        char    base[512], settings[640];
        json_t *names = json_object_get(json_object_get(item, "data"), "features");
        if (strncmp(json_string_value(json_object_get(item, "id")), "logistic", 8) == 0) continue;
        double    r = number_of(json_object_get(item, "settings"), "alpha");
        cr_table *t = reference_table(cx, item, base, sizeof base);
        json_array_foreach(json_object_get(json_object_get(item, "expected"), "path"), k, step)
        {
            snprintf(settings, sizeof settings, "%s lambda=%.17g l1_ratio=%g solver=%s", base,
                     number_of(step, "lambda"), r, checked % 2 ? "columns" : "gram");
            cr_model *m = fit(cx, "lasso", t, settings);
            json_t   *d = describe(cx, m), *coef = json_object_get(step, "coef_raw");
            for (size_t j = 0; j < json_array_size(names); j++) {
                double value = parameter(d, json_string_value(json_array_get(names, j)), "value");
                if (element(coef, j) == 0)
                    assert_true(value == 0);
                else
                    assert_relative(value, element(coef, j), 1e-8);
            }
            assert_relative(parameter(d, "intercept", "value"), number_of(step, "intercept"), 1e-9);
            assert_relative(statistic(d, "objective_value"), number_of(step, "objective"), 1e-12);
            assert_int_equal(statistic(d, "nonzero"), number_of(step, "nonzero"));
            cr_model_free(cx, m);
            checked++;
        }
    }
    assert_true(checked >= 40);
}

/* --- the order of rows ------------------------------------------------------------------------ */

enum { ROWS = 48 };

/* Rows from the last to the first, or scattered; the same answers to the same table.  Targets without ties, with many,
 * and in rows some of which are equal. */
static void check_any_order(cr_ctx *cx, const char *model, const char *settings, size_t kind)
{
    static double X[ROWS * P], y[ROWS], moved[ROWS * P], of[ROWS], first[ROWS];
    cr_rng        r = cr_rng_stream(kind, 17);
    draw_normals(&r, X, ROWS * P);
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = 0.6 * X[i * P] - 0.4 * X[i * P + 1] + cr_rng_normal(&r);
        if (kind > 0) y[i] = floor(y[i]);
        for (size_t j = 0; kind > 1 && j < P; j++) X[i * P + j] = X[i * P + j] > 0;
    }
    cr_table *t = make_table(cx, X, ROWS, P, y, NULL);
    for (size_t order = 0; order < 3; order++) {
        for (size_t i = 0; i < ROWS; i++) {
            size_t from = order == 0 ? i : order == 1 ? ROWS - 1 - i : (7 * i + 5) % ROWS;
            memcpy(moved + i * P, X + from * P, P * sizeof *X);
            of[i] = y[from];
        }
        cr_model     *m = fit(cx, model, make_table(cx, moved, ROWS, P, of, NULL), settings);
        cr_prediction q = predict(cx, m, t);
        for (size_t i = 0; i < ROWS; i++) {
            if (order == 0) first[i] = q.mean[i];
            if (fabs(q.mean[i] - first[i]) > 1e-7) fail_msg("%s %zu %zu", model, kind, order);
        }
    }
}

TEST(order_of_rows)
{
    for (size_t kind = 0; kind < 3; kind++) {
        check_any_order(cx, "lasso", "target=y", kind);
        check_any_order(cx, "lasso", "target=y choose=1se cv_folds=5", kind);
        check_any_order(cx, "linear", "target=y select=best criterion=cv", kind);
    }
}

/* --- few rows for the terms ------------------------------------------------------------------- */

/* n rows whose target is the first column and noise. */
static cr_table *draw_few(cr_ctx *cx, uint64_t seed, size_t n, size_t p, double *X, double *y)
{
    cr_rng r = cr_rng_stream(seed, 18);
    draw_normals(&r, X, n * p);
    for (size_t i = 0; i < n; i++) y[i] = 3 * X[i * p] + cr_rng_normal(&r);
    return make_table(cx, X, n, p, y, NULL);
}

/* The noise is that of the residuals times what the rows left out say; with many rows, or without folds, of the
 * residuals alone. */
TEST(inflation)
{
    static double X[200 * 8], y[200];
    size_t        widened = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        cr_table *t = draw_few(cx, seed, 15, 8, X, y);
        json_t   *d = describe(cx, fit(cx, "lasso", t, "target=y"));
        double    s2 = statistic(d, "rss") / (15 - statistic(d, "effective_df"));
        double    ratio = statistic(d, "cv_error") / (s2 * (1 + statistic(d, "effective_df") / 15));
        widened += ratio > 1;
        if (ratio > 1) assert_relative(statistic(d, "inflation"), ratio, 1e-9);
        assert_relative(pow(statistic(d, "residual_sd"), 2), s2 * fmax(ratio, 1), 1e-9);
        assert_true(ratio > 1 || !json_object_get(json_object_get(d, "statistics"), "inflation"));
        d = describe(cx, fit(cx, "lasso", t, "target=y choose=bic"));
        s2 = statistic(d, "rss") / (15 - statistic(d, "effective_df"));
        assert_relative(pow(statistic(d, "residual_sd"), 2), s2, 1e-9);
    }
    assert_true(widened > 10);
    json_t *d = describe(cx, fit(cx, "lasso", draw_few(cx, 0, 200, 8, X, y), "target=y"));
    assert_relative(pow(statistic(d, "residual_sd"), 2),
                    statistic(d, "rss") / (200 - statistic(d, "effective_df")), 1e-9);
}

/* Of ten rows and eight columns: how often 95 % intervals of new rows hold. */
TEST(intervals_from_few_rows)
{
    enum { TABLES = 150, NEW = 20, COLUMNS = 8, FEW = 10 };
    static double X[NEW * COLUMNS], y[NEW];
    size_t        held = 0, asked = 0;
    for (uint64_t seed = 0; seed < TABLES; seed++) {
        cr_table     *t = draw_few(cx, 2 * seed, FEW, COLUMNS, X, y);
        cr_model     *m = fit(cx, "lasso", t, "target=y");
        cr_table     *fresh = draw_few(cx, 2 * seed + 1, NEW, COLUMNS, X, y);
        cr_prediction q = predict(cx, m, fresh);
        for (size_t i = 0; i < NEW && isfinite(q.scale[i]); i++, asked++) {
            double sd, lower, upper;
            cr_prediction_interval(cx, &q, i, 0.95, &sd, &lower, &upper);
            held += lower <= y[i] && y[i] <= upper;
        }
        cr_prediction_free(cx, &q);
        cr_model_free(cx, m);
        cr_table_free(cx, t);
        cr_table_free(cx, fresh);
    }
    double share = (double)held / (double)asked;
    if (!(share > 0.93 && share < 0.99)) fail_msg("%g", share);
}
