/* test_spline_spread.c -- how sure a sum of splines is: lines of several columns as a linear model has them, and
 * intervals that hold where columns are many for the rows. */
#include "../fixture.h"

enum { MOST = 60, COLUMNS = 10 };

/* n rows whose columns' sum is the target, with noise; the second column goes with the first. */
static cr_table *sums(cr_ctx *cx, size_t n, size_t p, double together, uint64_t seed)
{
    static double X[MOST * COLUMNS], y[MOST];
    cr_rng        r = cr_rng_stream(seed, 2);
    for (size_t i = 0; i < n; i++) {
        double *x = X + i * p;
        for (size_t j = 0; j < p; j++) x[j] = cr_rng_normal(&r);
        x[1] += together * x[0];
        y[i] = 1 + cr_rng_normal(&r);
        for (size_t j = 0; j < p; j++) y[i] += x[j];
    }
    return make_table(cx, X, n, p, y, NULL);
}

/* With a penalty that leaves lines, mean, scale and degrees of freedom are those of linear, weights or not. */
TEST(lines_are_fitted_together)
{
    for (size_t p = 2; p <= 6; p += 2) {
        cr_table     *t = sums(cx, 20, p, 2, p), *at = sums(cx, 15, p, 0, 50 + p);
        cr_model     *m = fit(cx, "spline", t, "target=y lambda=1e9 tol=1e-13 max_iter=100000");
        cr_model     *l = fit(cx, "linear", t, "target=y");
        cr_prediction a = predict(cx, m, at), b = predict(cx, l, at);
        for (size_t i = 0; i < 15; i++) {
            assert_close(a.mean[i], b.mean[i], 1e-5);
            assert_relative(a.scale[i], b.scale[i], 1e-5);
            assert_close(a.dof[i], b.dof[i], 1e-5);
        }
    }
}

/* A column twice: new rows in which the copies differ are no surer than with one of them. */
TEST(a_column_twice)
{
    enum { N = 12 };
    double X[N * 2], y[N], at[] = { 1, 1, 1, -1, 0, 3 };
    cr_rng r = cr_rng_stream(5, 2);
    for (size_t i = 0; i < N; i++) {
        X[2 * i] = X[2 * i + 1] = cr_rng_normal(&r);
        y[i] = X[2 * i] + cr_rng_normal(&r);
    }
    cr_model     *m = fit(cx, "spline", make_table(cx, X, N, 2, y, NULL), "target=y lambda=100");
    cr_prediction p = predict(cx, m, make_table(cx, at, 3, 2, NULL, NULL));
    for (size_t i = 0; i < 3; i++) assert_true(isfinite(p.scale[i]) && p.scale[i] > 0.3);
    assert_true(p.scale[2] > p.scale[0]);
}

TEST(intervals_hold_with_many_columns)
{
    size_t held = 0, sets = simulation_size(20, 200), rows = 0;
    double y[MOST], lower[MOST], upper[MOST];
    for (size_t k = 0; k < sets; k++) {
        cr_table *new = sums(cx, MOST, COLUMNS, 0, 5000 + k);
        cr_model     *m = fit(cx, "spline", sums(cx, 15, COLUMNS, 0, k), "target=y");
        cr_prediction p = predict(cx, m, new);
        assert_ok(cx, cr_observed(cx, m, new, y, NULL));
        assert_ok(cx, cr_prediction_intervals(cx, &p, 0.95, NULL, lower, upper));
        for (size_t i = 0; i < MOST; i++) held += y[i] >= lower[i] && y[i] <= upper[i];
        rows += MOST;
        cr_model_free(cx, m);
    }
    double share = (double)held / (double)rows;
    if (share < 0.92 || share > 0.98) fail_msg("%.3f of 95 %% intervals", share);
}

/* Four rows in two groups leave two degrees of freedom: Student's t has no variance then, whatever the rounding. */
TEST(two_degrees_of_freedom)
{
    cr_table     *t = table_of_text(cx, "groups.csv", "g,y\na,4.1\na,5.3\nb,7.2\nb,8.9\n");
    cr_prediction q = predict(cx, fit(cx, "spline", t, "target=y"), t);
    for (size_t i = 0; i < 4; i++) {
        double sd, lower, upper;
        cr_prediction_interval(cx, &q, i, 0.95, &sd, &lower, &upper);
        assert_true(isfinite(lower) && isfinite(upper));
        assert_true(isinf(sd));
    }
}
