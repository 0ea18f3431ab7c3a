/* Predictions averaged over what few rows leave open of the parameters of class kalman: against a fine grid of dense
 * formulas, least squares, and simulated series. */
#include "../life.h"
#include "base/rng.h"
#include "models/core/sequence.h"

enum { AHEAD = 5 };

static cr_table *table_of_series(cr_ctx *cx, const double *y, size_t n)
{
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "series.csv", n, &t));
    test_own(cx, t, release_table);
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, y, 1));
    return t;
}

static void release_forecast(cr_ctx *cx, void *f) { cr_forecast_free(cx, f); }

static cr_forecast forecast(cr_ctx *cx, const cr_model *m, size_t ahead)
{
    cr_forecast f = { 0 };
    assert_ok(cx, cr_forecast_rows(cx, m, NULL, ahead, &f));
    test_own_copy(cx, &f, sizeof f, f.p.mean, release_forecast);
    return f;
}

static double sd_of(cr_ctx *cx, const cr_prediction *p, size_t i)
{
    double sd, lower, upper;
    assert_ok(cx, cr_prediction_interval(cx, p, i, 0.95, &sd, &lower, &upper));
    return sd;
}

/* A random walk with noise, or an autoregression about 10. */
static void draw_series(uint64_t seed, bool level, size_t n, double *y)
{
    cr_rng r = cr_rng_stream(seed, 7);
    double u = level ? 0 : cr_rng_normal(&r) / sqrt(0.51);
    for (size_t i = 0; i < n; i++) {
        y[i] = 10 + u + (level ? cr_rng_normal(&r) : 0);
        u = (level ? u : 0.7 * u) + cr_rng_normal(&r);
    }
}

/* --- by another road ------------------------------------------------------------------------- */

enum { MOST = 32 };

/* Covariance of rows i and j at scale 1: a walk from 0 and noise, or a stationary autoregression. */
static double covariance(bool level, double parameter, size_t i, size_t j)
{
    double apart = fabs((double)i - (double)j);
    if (!level) return pow(parameter, apart) / (1 - parameter * parameter);
    return (i == j) + parameter * parameter * (double)(i < j ? i : j);
}

/* out = L^-1 b */
static void solve_lower(const double *L, size_t n, const double *b, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double sum = b[i];
        for (size_t j = 0; j < i; j++) sum -= L[i * MOST + j] * out[j];
        out[i] = sum / L[i * MOST + i];
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Given the parameter, with a flat prior on the constant and 1 / scale^2: the log of the marginal likelihood, and means and
 * variances of the rows ahead. */
static double given(bool level, double parameter, const double *y, size_t n, double *mean,
                    double *variance)
{
    double L[MOST * MOST], one[MOST], u[MOST], w[MOST], c[MOST], v[MOST], log_root = 0;
    for (size_t i = 0; i < n; i++) {
        one[i] = 1;
        for (size_t j = 0; j <= i; j++) {
            double sum = covariance(level, parameter, i, j);
            for (size_t k = 0; k < j; k++) sum -= L[i * MOST + k] * L[j * MOST + k];
            L[i * MOST + j] = i == j ? sqrt(sum) : sum / L[j * MOST + j];
        }
        log_root += log(L[i * MOST + i]);
    }
    solve_lower(L, n, one, u);
    solve_lower(L, n, y, w);
    double A = dot(u, u, n), constant = dot(u, w, n) / A, S, dof = (double)n - 1;
    for (size_t i = 0; i < n; i++) w[i] -= constant * u[i];
    S = dot(w, w, n);
    for (size_t h = 0; h < AHEAD; h++) {
        for (size_t i = 0; i < n; i++) c[i] = covariance(level, parameter, i, n + h);
        solve_lower(L, n, c, v);
        double left = 1 - dot(v, u, n);
        mean[h] = constant + dot(v, w, n);
        variance[h] = covariance(level, parameter, n + h, n + h) - dot(v, v, n) + left * left / A;
        variance[h] *= S / (dof - 2);
    }
    return -log_root - 0.5 * log(A) - 0.5 * dof * log(S);
}

/* The root of the ratio of variances is half-Cauchy, phi uniform. */
static void by_quadrature(bool level, const double *y, size_t n, double *mean, double *sd)
{
    enum { GRID = 4000 };
    double first = NAN, sum = 0, d1[AHEAD] = { 0 }, d2[AHEAD] = { 0 };
    for (size_t g = 0; g < GRID; g++) {
        double u = ((double)g + 0.5) / GRID, m[AHEAD], v[AHEAD];
        double height = given(level, level ? tan(M_PI_2 * u) : 2 * u - 1, y, n, m, v);
        if (g == 0) first = height;
        double weight = exp(height - first);
        sum += weight;
        for (size_t h = 0; h < AHEAD; h++) {
            d1[h] += weight * (m[h] - y[n - 1]);
            d2[h] += weight * (v[h] + pow(m[h] - y[n - 1], 2));
        }
    }
    for (size_t h = 0; h < AHEAD; h++) {
        mean[h] = y[n - 1] + d1[h] / sum;
        sd[h] = sqrt(d2[h] / sum - pow(d1[h] / sum, 2));
    }
}

TEST(one_open_parameter_is_its_integral)
{
    static const size_t rows[] = { 8, 12, 24 };
    for (size_t k = 0; k < 12; k++) {
        double y[MOST], mean[AHEAD], sd[AHEAD];
        bool   level = k % 2 == 0;
        size_t n = rows[k % 3];
        draw_series(70 + k, level, n, y);
        by_quadrature(level, y, n, mean, sd);
        cr_model   *m = fit(cx, "kalman", table_of_series(cx, y, n),
                          level ? "target=y components=level" : "target=y components=ar:1");
        cr_forecast f = forecast(cx, m, AHEAD);
        for (size_t h = 0; h < AHEAD; h++) {
            assert_close(f.p.mean[h], mean[h], 0.02 * sd[h]);
            assert_relative(sd_of(cx, &f.p, h), sd[h], 0.02);
        }
    }
}

/* With one variance alone the answer is that of least squares. */
TEST(a_regression_has_its_t)
{
    enum { N = 12, P = 2 };
    double X[N * P], y[N], Z[P * 3] = { 0.3, -1, 5, 0.2, -2, 2 };
    cr_rng r = cr_rng_stream(5, 1);
    for (size_t i = 0; i < N * P; i++) X[i] = cr_rng_normal(&r);
    for (size_t i = 0; i < N; i++) y[i] = 3 + 2 * X[i * P] + cr_rng_normal(&r);
    cr_table     *t = make_table(cx, X, N, P, y, NULL), *next = make_table(cx, Z, 3, P, NULL, NULL);
    cr_prediction p = predict(cx, fit(cx, "kalman", t, "target=y components=regression"), next);
    cr_prediction q = predict(cx, fit(cx, "linear", t, "target=y"), next);
    for (size_t i = 0; i < 3; i++) {
        assert_relative(p.mean[i], q.mean[i], 1e-9);
        assert_relative(p.scale[i], q.scale[i], 1e-9);
        assert_relative(p.dof[i], N - P - 1, 1e-9);
        assert_relative(q.dof[i], N - P - 1, 1e-9);
    }
}

/* --- what intervals hold --------------------------------------------------------------------- */

/* The share of the rows ahead that are in intervals of 95 %: for each number of steps, and for all. */
static void check_coverage(cr_ctx *cx, bool level, size_t n, size_t runs)
{
    size_t inside[AHEAD] = { 0 }, all = 0;
    for (size_t k = 0; k < runs; k++) {
        double y[64];
        draw_series(9000 + k, level, n + AHEAD, y);
        cr_model   *m = fit(cx, "kalman", table_of_series(cx, y, n),
                          level ? "target=y components=level" : "target=y components=ar:1");
        cr_forecast f = forecast(cx, m, AHEAD);
        for (size_t h = 0; h < AHEAD; h++) {
            double sd, lower, upper;
            assert_ok(cx, cr_prediction_interval(cx, &f.p, h, 0.95, &sd, &lower, &upper));
            bool is = lower <= y[n + h] && y[n + h] <= upper;
            inside[h] += is;
            all += is;
        }
        cr_model_free(cx, m);
    }
    double chance = sqrt(0.05 * 0.95 / (double)runs), most = 0.98 + 3 * chance;
    double share = (double)all / (double)(runs * AHEAD);
    for (size_t h = 0; h < AHEAD; h++) {
        double here = (double)inside[h] / (double)runs;
        if (here < 0.91 - 3 * chance || here > most)
            fail_msg("%s, %zu rows, step %zu: %.3f", level ? "level" : "ar", n, h + 1, here);
    }
    if (share < 0.92 - 2 * chance || share > most)
        fail_msg("%s, %zu rows: %.3f", level ? "level" : "ar", n, share);
}

TEST(forecasts_of_few_rows_hold_what_they_say)
{
    size_t runs = simulation_size(40, 300);
    for (size_t n = 10; n <= 40; n *= 2) {
        check_coverage(cx, true, n, runs);
        check_coverage(cx, false, n, runs);
    }
}

/* --- when, and what becomes of it ------------------------------------------------------------ */

TEST(averages_are_for_few_rows_unless_asked_for)
{
    enum { N = 60 };
    double y[N];
    draw_series(3, true, N, y);
    const char *words[] = { "target=y", "target=y parameters=fixed",
                            "target=y parameters=averaged" };
    for (size_t n = 30; n <= N; n += 30)
        for (size_t w = 0; w < 3; w++) {
            json_t *d = describe(cx, fit(cx, "kalman", table_of_series(cx, y, n), words[w]));
            bool    averaged = json_object_get(json_object_get(d, "statistics"), "settings");
            assert_int_equal(averaged, w == 2 || (w == 0 && n == 30));
            if (averaged) assert_true(statistic(d, "settings") <= 64);
            if (averaged) assert_close(statistic(d, "settings_dof"), (double)n - 1, 0);
        }
    cr_model *m = NULL;
    assert_int_equal(
        try_fit(cx, "kalman", table_of_series(cx, y, N),
                "target=y parameters=averaged model={\"T\":[[1]],\"Q\":[[1]],\"Z\":[1],\"H\":1}",
                &m),
        CR_EARG);
    assert_non_null(strstr(cr_error(cx), "--parameters"));
}

/* Where rows are many the average is hardly wider than the best parameters, and not narrower. */
TEST(many_rows_leave_little_open)
{
    enum { N = 400 };
    double y[N];
    draw_series(4, false, N, y);
    cr_table   *t = table_of_series(cx, y, N);
    cr_forecast f =
        forecast(cx, fit(cx, "kalman", t, "target=y components=ar:1 parameters=averaged"), AHEAD);
    cr_forecast g =
        forecast(cx, fit(cx, "kalman", t, "target=y components=ar:1 parameters=fixed"), AHEAD);
    for (size_t h = 0; h < AHEAD; h++) {
        assert_close(f.p.mean[h], g.p.mean[h], 0.05 * g.p.scale[h]);
        assert_relative(sd_of(cx, &f.p, h), g.p.scale[h], 0.03);
    }
}

/* An update by rows without values goes on in all settings: what was two steps ahead is one. */
TEST(updates_go_on_in_all_settings)
{
    enum { N = 14 };
    double y[N], gap[1] = { NAN };
    for (size_t k = 0; k < 2; k++) {
        const char *words = k ? "target=y components=ar:1" : "target=y components=trend";
        draw_series(6 + k, k == 0, N, y);
        cr_model *m = fit(cx, "kalman", table_of_series(cx, y, N), words);
        cr_model *u = NULL;
        assert_ok(cx, cr_update(cx, m, table_of_series(cx, gap, 1), &u));
        test_own(cx, u, release_model);
        cr_forecast f = forecast(cx, m, 3), g = forecast(cx, u, 2);
        for (size_t h = 0; h < 2; h++) {
            assert_relative(g.p.mean[h], f.p.mean[h + 1], 1e-12);
            assert_relative(g.p.scale[h], f.p.scale[h + 1], 1e-12);
            assert_relative(g.p.dof[h], f.p.dof[h + 1], 1e-9);
        }
    }
}

/* Two to four values: there is an answer as long as there is a degree of freedom. */
TEST(the_fewest_rows)
{
    double y[4] = { 1, 3, 2, 5 };
    for (size_t n = 3; n <= 4; n++)
        for (size_t k = 0; k < 2; k++) {
            cr_forecast f = forecast(cx,
                                     fit(cx, "kalman", table_of_series(cx, y, n),
                                         k ? "target=y components=ar:1" : "target=y"),
                                     2);
            for (size_t h = 0; h < 2; h++) {
                double sd, lower, upper;
                assert_ok(cx, cr_prediction_interval(cx, &f.p, h, 0.95, &sd, &lower, &upper));
                assert_true(isfinite(f.p.mean[h]) && lower < f.p.mean[h] && upper > f.p.mean[h]);
            }
        }
}

TEST(every_allocation_may_fail)
{
    double X[12], y[12];
    draw_series(8, true, 12, y);
    for (size_t i = 0; i < 12; i++) X[i] = cos((double)i);
    cr_table *t = make_table(cx, X, 12, 1, y, NULL);
    check_every_allocation_with_update(t, "kalman",
                                       "target=y components=regression parameters=averaged");
}
