/* test_spline_choice.c -- the choice of lambda of smoothing splines: the best of its neighbours, no
 * curve through the points, and the reference answers. */
#include "../fixture.h"

static double statistic_of(cr_ctx *cx, const cr_table *t, const char *settings, const char *key)
{
    cr_model *m = fit(cx, "spline", t, settings);
    json_t   *d = describe(cx, m);
    double    x = statistic(d, key);
    return x;
}

TEST(lambda_is_the_best)
{
    static const struct {
        const char *settings, *key;
        double      sign;
    } ways[] = {
        { "target=y gamma=1", "gcv", 1 },
        { "target=y choose=loo", "loocv", 1 },
        { "target=y choose=evidence", "log_restricted_likelihood", -1 },
    };
    double x[40], y[40];
    cr_rng r = cr_rng_stream(8, 2);
    for (size_t i = 0; i < 40; i++)
        x[i] = 0.25 * (double)i, y[i] = sin(x[i]) + 0.4 * cr_rng_normal(&r);
    cr_table *t = make_table(cx, x, 40, 1, y, NULL);
    for (size_t k = 0; k < 3; k++) {
        double lambda = statistic_of(cx, t, ways[k].settings, "lambda");
        double best = ways[k].sign * statistic_of(cx, t, ways[k].settings, ways[k].key);
        for (double factor = 1e-4; factor < 2e4; factor *= 1.7) {
            char other[64];
            snprintf(other, sizeof other, "target=y lambda=%.17g", lambda * factor);
            assert_true(best <=
                        ways[k].sign * statistic_of(cx, t, other, ways[k].key) + 1e-9 * fabs(best));
        }
        assert_true(lambda > 1e-4 && lambda < 1e3);
    }
    assert_relative(statistic_of(cx, t, "target=y df=7.25", "effective_df"), 7.25, 1e-9);
    assert_close(statistic_of(cx, t, "target=y df=2", "effective_df"), 2, 1e-4);
    assert_true(statistic_of(cx, t, "target=y df=40", "effective_df") > 39.9);
}

/* n RSS / (n - gamma df)^2, from what a fit with this lambda says. */
static double weighted_gcv(cr_ctx *cx, const cr_table *t, double n, double gamma, double lambda)
{
    char settings[64];
    snprintf(settings, sizeof settings, "target=y lambda=%.17g", lambda);
    double rss = statistic_of(cx, t, settings, "rss");
    double left = n - gamma * statistic_of(cx, t, settings, "effective_df");
    return left > 0 ? n * rss / (left * left) : INFINITY;
}

TEST(gamma_weighs_degrees_of_freedom)
{
    static const double gammas[] = { 1, 1.4, 2.5 };
    double              x[40], y[40];
    cr_rng              r = cr_rng_stream(4, 7);
    for (size_t i = 0; i < 40; i++)
        x[i] = 0.25 * (double)i, y[i] = sin(x[i]) + 0.4 * cr_rng_normal(&r);
    cr_table *t = make_table(cx, x, 40, 1, y, NULL);
    for (size_t k = 0; k < 3; k++) {
        char settings[64];
        snprintf(settings, sizeof settings, "target=y gamma=%g", gammas[k]);
        double lambda = statistic_of(cx, t, settings, "lambda");
        double best = weighted_gcv(cx, t, 40, gammas[k], lambda);
        for (double factor = 1e-2; factor < 2e2; factor *= 1.7)
            assert_true(best <= weighted_gcv(cx, t, 40, gammas[k], lambda * factor) * (1 + 1e-9));
        if (gammas[k] == 1.4)
            assert_relative(statistic_of(cx, t, "target=y", "lambda"), lambda, 1e-12);
    }
}

/* y = the sum over the columns of sin(x_j), noise of sd 0.3, x uniform: plain gcv goes through the
 * points in one such set of ten. */
enum { SIMULATED = 60 };

static void simulate(uint64_t seed, size_t p, double *X, double *y, double *truth)
{
    cr_rng r = cr_rng_stream(21, seed);
    for (size_t i = 0; i < SIMULATED; i++) {
        truth[i] = 0;
        for (size_t j = 0; j < p; j++) {
            X[i * p + j] = 6 * cr_rng_uniform(&r);
            truth[i] += sin(X[i * p + j]);
        }
        y[i] = truth[i] + 0.3 * cr_rng_normal(&r);
    }
}

/* Root mean square distance from the truth, and the df, of a fit to set number `seed`. */
static double distance_to_truth(cr_ctx *cx, uint64_t seed, size_t p, const char *settings,
                                double *df)
{
    double X[2 * SIMULATED], y[SIMULATED], truth[SIMULATED], sum = 0;
    simulate(seed, p, X, y, truth);
    cr_table     *t = make_table(cx, X, SIMULATED, p, y, NULL);
    cr_model     *m = fit(cx, "spline", t, settings);
    json_t       *d = describe(cx, m);
    cr_prediction q = predict(cx, m, t);
    *df = statistic(d, "effective_df");
    for (size_t i = 0; i < SIMULATED; i++) {
        sum += (q.mean[i] - truth[i]) * (q.mean[i] - truth[i]) / SIMULATED;
        assert_true(isfinite(q.scale[i]) && q.scale[i] > 0.1 && q.dof[i] > 2);
    }
    return sqrt(sum);
}

TEST(gcv_does_not_go_through_the_points)
{
    enum { SETS = 48 };
    for (size_t p = 1; p <= 2; p++) {
        size_t sets = p == 1 ? SETS : SETS / 4;
        double mean = 0, df;
        for (uint64_t seed = 0; seed < sets; seed++) {
            double far = distance_to_truth(cx, seed, p, "target=y max_iter=30 tol=1e-4", &df);
            assert_true(df < 0.3 * SIMULATED);
            assert_true(far < 0.2);
            mean += far / (double)sets;
        }
        assert_true(mean < (p == 1 ? 0.1 : 0.14)); /* the best lambda for each gives 0.085 */
    }
}

/* Where the plain criterion falls to the end of its range it stays at the bound, and says so. */
TEST(plain_gcv_stays_in_bounds)
{
    enum { SETS = 48, ROWS = 20 };
    warnings heard = { .n = 0 };
    size_t   at_bound = 0;
    cr_ctx_set_log(cx, keep_warning, &heard);
    for (uint64_t seed = 0; seed < SETS; seed++) {
        double X[SIMULATED], y[SIMULATED], truth[SIMULATED];
        simulate(seed, 1, X, y, truth);
        cr_table *t = make_table(cx, X, ROWS, 1, y, NULL);
        cr_model *m = fit(cx, "spline", t, "target=y gamma=1");
        json_t   *d = describe(cx, m);
        assert_true(statistic(d, "effective_df") <= 0.9 * ROWS);
        at_bound += statistic(d, "effective_df") > 0.895 * ROWS;
    }
    assert_true(at_bound > 0);
    assert_int_equal(heard.n, at_bound);
    assert_non_null(strstr(heard.text, "no best lambda for column 'x1'"));
}

TEST(reference)
{
    json_t *cases = reference_cases(cx, "splines"), *item, *one;
    size_t  i, k, seen = 0;
    json_array_foreach(cases, i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "id")), "smoothing-spline-mcycle") != 0)
            continue;
        json_t   *expected = json_object_get(item, "expected");
        cr_table *t = read_table(cx, test_data("tabular/mcycle.csv"));
        json_array_foreach(json_object_get(expected, "path"), k, one)
        {
            static const char *const same[] = { "rss", "gcv", "loocv", "roughness" };
            char                     settings[64];
            snprintf(settings, sizeof settings, "target=accel lambda=%.17g",
                     number_of(one, "lambda"));
            cr_model *m = fit(cx, "spline", t, settings);
            json_t   *d = describe(cx, m),
                   *fits = json_object_get(one, "fit_at_unique_x_index_0_10_20_40_last");
            cr_prediction p = predict(cx, m, t);
            assert_relative(statistic(d, "effective_df"), number_of(one, "df"), 1e-8);
            for (int s = 0; s < 4; s++)
                assert_relative(statistic(d, same[s]), number_of(one, same[s]), 1e-7);
            assert_relative(p.mean[0], element(fits, 0), 1e-7);
            assert_relative(p.mean[p.n - 1], element(fits, 4), 1e-7);
            cr_model_free(cx, m);
            seen++;
        }
        assert_relative(statistic_of(cx, t, "target=accel gamma=1", "gcv"),
                        number_of(expected, "gcv_min"), 1e-10);
        assert_relative(statistic_of(cx, t, "target=accel gamma=1", "lambda"),
                        number_of(expected, "lambda_min_gcv"), 1e-6);
        assert_relative(statistic_of(cx, t, "target=accel gamma=1", "effective_df"),
                        number_of(expected, "df_at_min"), 1e-6);
    }
    assert_int_equal(seen, 6);
}

/* The criterion counts the df of all columns: few rows do not end in a fit through every point. */
TEST(few_rows_and_many_columns)
{
    enum { ROWS = 24, COLUMNS = 5 };
    static const char *const ways[] = { "target=y", "target=y choose=loo",
                                        "target=y choose=evidence" };
    double                   X[ROWS * COLUMNS], y[ROWS];
    draw_regression(3, ROWS, COLUMNS, 0.3, X, y);
    cr_table *t = make_table(cx, X, ROWS, COLUMNS, y, NULL);
    for (size_t k = 0; k < 3; k++) {
        assert_true(statistic_of(cx, t, ways[k], "effective_df") < 0.6 * ROWS);
        double sd = statistic_of(cx, t, ways[k], "residual_sd");
        assert_true(sd > 0.1 && sd < 0.6);
    }
}
