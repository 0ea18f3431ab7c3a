/* Models of class kalman: reference answers, what they say of rows, corners. */
#include "../life.h"
#include "models/core/parts.h"
#include "models/core/sequence.h"

/* --- tables ---------------------------------------------------------------------------------- */

static cr_table *table_of_series(cr_ctx *cx, const double *y, size_t n)
{
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "series.csv", n, &t));
    test_own(cx, t, release_table);
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, y, 1));
    return t;
}

static cr_table *read_series(cr_ctx *cx, const char *path)
{
    return read_table(cx, test_data(path));
}

static const json_t *reference(cr_ctx *cx, const char *id)
{
    size_t  i;
    json_t *item, *cases = reference_cases(cx, "kalman");
    json_array_foreach(cases, i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "id")), id) == 0)
            return json_object_get(item, "expected");
    }
    fail_msg("reference.json has no '%s'", id);
    return NULL;
}

static void release_forecast(cr_ctx *cx, void *f) { cr_forecast_free(cx, f); }

static cr_forecast forecast(cr_ctx *cx, const cr_model *m, const cr_table *opt_t, size_t ahead)
{
    cr_forecast f = { 0 };
    assert_ok(cx, cr_forecast_rows(cx, m, opt_t, ahead, &f));
    test_own_copy(cx, &f, sizeof f, f.p.mean, release_forecast);
    return f;
}

static cr_prediction smoothed(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    cr_prediction p = { 0 };
    assert_ok(cx, cr_smooth(cx, m, t, &p));
    test_own_copy(cx, &p, sizeof p, key_of_prediction(&p), release_prediction);
    return p;
}

/* A random walk with noise. */
static void draw_level(uint64_t seed, size_t n, double noise, double step, double *y)
{
    cr_rng r = cr_rng_stream(seed, 3);
    double level = 10;
    for (size_t i = 0; i < n; i++) {
        y[i] = level + noise * cr_rng_normal(&r);
        level += step * cr_rng_normal(&r);
    }
}

/* --- reference answers ----------------------------------------------------------------------- */

TEST(nile)
{
    const json_t *want = reference(cx, "kalman-nile-local-level-mle");
    cr_table     *t = read_series(cx, "tabular/nile.csv");
    cr_model     *m = fit(cx, "kalman", t, "target=flow");
    json_t       *d = describe(cx, m);
    assert_relative(parameter(d, "variance.irregular", "value"), number_of(want, "sigma2_eps"),
                    1e-5);
    assert_relative(parameter(d, "variance.level", "value"), number_of(want, "sigma2_eta"), 1e-5);
    assert_close(cr_model_get_report(m)->log_likelihood,
                 number_of(want, "diffuse_loglik_excluding_first"), 1e-8);
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
    /* intervals of variances are of their logarithms */
    double v = parameter(d, "variance.level", "value"),
           low = parameter(d, "variance.level", "lower");
    assert_true(low > 0);
    assert_relative(low * parameter(d, "variance.level", "upper"), v * v, 1e-9);
    assert_int_equal((int)statistic(d, "break_row"), 29); /* 1899, the dam at Aswan */
}

/* Variances and start given: --model. */
TEST(nile_by_its_matrices)
{
    static const char given[] = "target=flow "
                                "model={\"T\":[[1]],\"Q\":[[1469.1]],\"Z\":[1],\"H\":15099,"
                                "\"mean\":[1000],\"cov\":[[1e6]]}";
    const json_t     *want = reference(cx, "kalman-nile-fixed"), *cell;
    cr_table         *t = read_series(cx, "tabular/nile.csv");
    cr_model         *m = fit(cx, "kalman", t, given);
    cr_prediction     ahead = predict(cx, m, t), all = smoothed(cx, m, t);
    const char       *key;
    double           *mean = cr_alloc(cx, 100, sizeof *mean), *sd = cr_alloc(cx, 100, sizeof *sd);
    json_t           *of = json_object_get(want, "innovation");
    const double     *y = cr_table_find(t, "flow")->values;
    assert_relative(cr_model_get_report(m)->log_likelihood, number_of(want, "loglik"), 1e-9);
    json_object_foreach(of, key, cell)
    {
        size_t i = (size_t)atoi(key);
        assert_close(y[i] - ahead.mean[i], json_number_value(cell), 1e-9);
    }
    assert_ok(cx, cr_predict_function(cx, m, t, false, mean, sd, NULL));
    of = json_object_get(want, "smoothed_mean");
    json_object_foreach(of, key, cell)
    {
        size_t i = (size_t)atoi(key);
        assert_relative(all.mean[i], json_number_value(cell), 1e-9);
        assert_relative(mean[i], json_number_value(cell), 1e-9);
        double v = number_of(json_object_get(want, "smoothed_var"), key);
        assert_relative(sd[i] * sd[i], v, 1e-9);
        assert_relative(all.scale[i] * all.scale[i], v + 15099, 1e-9);
    }
    cr_free(cx, mean, 100, sizeof *mean);
    cr_free(cx, sd, 100, sizeof *sd);
}

TEST(nile_with_gaps)
{
    static const char given[] = "target=y "
                                "model={\"T\":[[1]],\"Q\":[[1469.1]],\"Z\":[1],\"H\":15099,"
                                "\"mean\":[1000],\"cov\":[[1e6]]}";
    const json_t     *want =
        json_object_get(reference(cx, "kalman-nile-fixed"), "missing_rows_20_39_and_60_79");
    cr_table     *t = read_series(cx, "tabular/nile.csv");
    double        y[100];
    const char   *key;
    const json_t *cell;
    memcpy(y, cr_table_find(t, "flow")->values, sizeof y);
    for (size_t i = 20; i < 40; i++) y[i] = y[i + 40] = NAN;
    cr_table     *gaps = table_of_series(cx, y, 100);
    cr_model     *m = fit(cx, "kalman", gaps, given);
    cr_prediction all = smoothed(cx, m, gaps);
    json_t       *of = json_object_get(want, "smoothed_mean");
    assert_relative(cr_model_get_report(m)->log_likelihood, number_of(want, "loglik"), 1e-9);
    json_object_foreach(of, key, cell)
    {
        size_t i = (size_t)atoi(key);
        assert_relative(all.mean[i], json_number_value(cell), 1e-9);
        assert_relative(all.scale[i] * all.scale[i],
                        number_of(json_object_get(want, "smoothed_var"), key) + 15099, 1e-9);
    }
}

TEST(lake_huron)
{
    const json_t *want = reference(cx, "ar-lakehuron-exact-ml"),
                 *one = json_object_get(want, "ar1"), *two = json_object_get(want, "ar2_R");
    cr_table *t = read_series(cx, "tabular/lakehuron.csv");
    cr_model *m = fit(cx, "kalman", t, "target=level_ft components=ar:1");
    json_t   *d = describe(cx, m);
    assert_relative(parameter(d, "phi1", "value"), number_of(one, "phi"), 1e-6);
    assert_relative(parameter(d, "mean", "value"), number_of(one, "mean"), 1e-8);
    assert_relative(parameter(d, "variance.ar", "value"), number_of(one, "sigma2"), 1e-6);
    assert_close(cr_model_get_report(m)->log_likelihood, number_of(one, "loglik"), 1e-9);
    m = fit(cx, "kalman", t, "target=level_ft components=ar:2");
    d = describe(cx, m);
    assert_relative(parameter(d, "phi1", "value"), number_of(two, "phi1"), 1e-4);
    assert_relative(parameter(d, "phi2", "value"), number_of(two, "phi2"), 1e-4);
    assert_close(cr_model_get_report(m)->log_likelihood, number_of(two, "loglik"), 1e-8);
    /* the standard errors are those of the likelihood: R arima gives 0.0983 and 0.1008 */
    assert_close(parameter(d, "phi1", "sd"), 0.0983, 1e-3);
    assert_close(parameter(d, "phi2", "sd"), 0.1008, 1e-3);
}

/* --- other models say the same --------------------------------------------------------------- */

/* Coefficients of constant states and noise are least squares; the variance is the unbiased one. */
TEST(regression_alone_is_least_squares)
{
    enum { N = 40, P = 2 };
    double X[N * P], y[N];
    draw_regression(5, N, P, 0.7, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_model *m = fit(cx, "kalman", t, "target=y components=regression");
    cr_model *ols = fit(cx, "linear", t, "target=y");
    json_t   *d = describe(cx, m), *e = describe(cx, ols);
    double    s = statistic(e, "residual_sd");
    assert_relative(parameter(d, "variance.irregular", "value"), s * s, 1e-6);
    /* the restricted likelihood, with |X'X| of the columns as they are */
    long double A[9] = { 0 }, zero[3] = { 0 }, logdet;
    for (size_t i = 0; i < N; i++) {
        double row[3] = { 1, X[i * P], X[i * P + 1] };
        for (size_t j = 0; j < 9; j++) A[j] += row[j / 3] * row[j % 3];
    }
    quadratic_form(3, A, zero, &logdet);
    assert_close(cr_model_get_report(m)->log_likelihood,
                 -0.5 * ((N - 3) * (log(2 * M_PI * s * s) + 1) + (double)logdet), 1e-8);
    for (size_t j = 1; j <= P; j++) {
        assert_relative(coefficient(d, j, "value"), coefficient(e, j, "value"), 1e-8);
        assert_relative(coefficient(d, j, "sd"), coefficient(e, j, "sd"), 1e-6);
    }
}

/* Noise alone is about a constant. */
TEST(irregular_alone_is_a_sample)
{
    enum { N = 30 };
    double y[N], mean = 0, square = 0;
    draw_level(8, N, 1, 0.2, y);
    for (size_t i = 0; i < N; i++) mean += y[i] / N;
    for (size_t i = 0; i < N; i++) square += pow(y[i] - mean, 2);
    cr_model   *m = fit(cx, "kalman", table_of_series(cx, y, N), "target=y components=irregular");
    cr_forecast f = forecast(cx, m, NULL, 2);
    assert_relative(parameter(describe(cx, m), "variance.irregular", "value"), square / (N - 1),
                    1e-6);
    assert_relative(f.p.mean[1], mean, 1e-10);
    assert_relative(f.p.scale[1] * f.p.scale[1], square / (N - 1) * (1 + 1.0 / N), 1e-6);
}

/* --- parts ----------------------------------------------------------------------------------- */

TEST(parts_add_up_to_the_signal)
{
    enum { N = 60 };
    double y[N], X[N], sum[N] = { 0 }, mean[N], sd[N], signal[N];
    cr_rng r = cr_rng_stream(8, 1);
    draw_level(4, N, 1, 0.5, y);
    for (size_t i = 0; i < N; i++) {
        X[i] = cr_rng_normal(&r);
        y[i] += 3 * sin((double)i * M_PI / 2) + 2 * X[i] + 1e4;
    }
    y[7] = y[8] = NAN;
    cr_table *t = make_table(cx, X, N, 1, y, NULL);
    cr_model *m = fit(cx, "kalman", t, "target=y components=trend,seasonal:4,regression");
    size_t    parts = 0;
    cr_part   part;
    for (;; parts++) {
        assert_ok(cx, cr_model_part(cx, m, parts, &part));
        if (!*part.name) break;
        assert_ok(cx, cr_predict_part(cx, m, t, parts, mean, sd));
        for (size_t i = 0; i < N; i++) {
            sum[i] += mean[i];
            assert_true(sd[i] > 0 && sd[i] < 10);
        }
    }
    assert_int_equal(parts, 3);
    assert_ok(cx, cr_predict_function(cx, m, t, false, signal, sd, NULL));
    for (size_t i = 0; i < N; i++) assert_relative(sum[i], signal[i], 1e-10);
    json_t *d = describe(cx, m);
    assert_true(fabs(coefficient(d, 1, "value") - 2) < 4 * coefficient(d, 1, "sd"));
}

/* --- forecasts ------------------------------------------------------------------------------- */

/* Rows to come are rows whose values are missing. */
TEST(forecasts_are_predictions_of_missing_rows)
{
    enum { N = 50, H = 7 };
    double y[N + H];
    draw_level(11, N, 1, 0.4, y);
    for (size_t i = N; i < N + H; i++) y[i] = NAN;
    cr_table     *t = table_of_series(cx, y, N), *longer = table_of_series(cx, y, N + H);
    cr_model     *m = fit(cx, "kalman", t, "target=y components=trend,seasonal:4");
    cr_forecast   f = forecast(cx, m, NULL, H), g = forecast(cx, m, t, H);
    cr_prediction p = predict(cx, m, longer), q = smoothed(cx, m, longer);
    cr_prediction behind =
        predict(cx, m, table_of_series(cx, y + N, H)); /* no value: they follow */
    for (size_t h = 0; h < H; h++) {
        assert_relative(f.p.mean[h], p.mean[N + h], 1e-10);
        assert_relative(f.p.scale[h], p.scale[N + h], 1e-10);
        assert_relative(g.p.mean[h], f.p.mean[h], 1e-12);
        assert_relative(q.mean[N + h], p.mean[N + h], 1e-10);
        assert_relative(q.scale[N + h], p.scale[N + h], 1e-10);
        assert_relative(behind.mean[h], f.p.mean[h], 1e-12);
        assert_true(h == 0 || f.p.scale[h] > f.p.scale[h - 1] - 1e-9);
    }
}

TEST(forecasts_with_regressors_need_them)
{
    enum { N = 40 };
    double X[N], y[N];
    cr_rng r = cr_rng_stream(3, 3);
    draw_level(12, N, 0.5, 0.3, y);
    for (size_t i = 0; i < N; i++) X[i] = cr_rng_normal(&r), y[i] += 5 * X[i];
    cr_table   *t = make_table(cx, X, N, 1, y, NULL);
    cr_model   *m = fit(cx, "kalman", t, "target=y components=level,regression parameters=fixed");
    cr_forecast f;
    assert_fails_with(cx, cr_forecast_rows(cx, m, NULL, 2, &f), CR_EARG, "regressors");
    double        next[2] = { 0, 1 };
    cr_prediction p = predict(cx, m, make_table(cx, next, 2, 1, NULL, NULL));
    double        b = coefficient(describe(cx, m), 1, "value");
    assert_relative(p.mean[1] - p.mean[0], b, 1e-8);
}

/* --- several series -------------------------------------------------------------------------- */

static cr_table *two_series(cr_ctx *cx, size_t n)
{
    static char text[65536];
    double      a[200], b[200];
    size_t      used = (size_t)snprintf(text, sizeof text, "who,day,y\n");
    draw_level(21, n, 1, 0.5, a);
    draw_level(22, n, 1, 0.5, b);
    for (size_t i = n; i-- > 0;) /* in any order: --time sorts them */
        used += (size_t)snprintf(text + used, sizeof text - used, "a,%zu,%.17g\nb,%zu,%.17g\n", i,
                                 a[i], i, 100 + b[i]);
    return table_of_text(cx, "two.csv", text);
}

TEST(several_series_have_the_same_parameters)
{
    enum { N = 80 };
    double    y[2][N];
    cr_table *t = two_series(cx, N);
    cr_model *m = fit(cx, "kalman", t, "target=y sequence=who time=day");
    json_t   *d = describe(cx, m);
    char      given[256];
    double    sum = 0;
    assert_int_equal((int)statistic(d, "series"), 2);
    assert_int_equal((int)statistic(d, "diffuse"), 2);
    snprintf(given, sizeof given,
             "target=y model={\"T\":[[1]],\"Q\":[[%.17g]],\"Z\":[1],\"H\":%.17g}",
             parameter(d, "variance.level", "value"), parameter(d, "variance.irregular", "value"));
    cr_forecast f = forecast(cx, m, NULL, 3);
    assert_int_equal(f.n, 2);
    for (size_t k = 0; k < 2; k++) {
        draw_level(21 + k, N, 1, 0.5, y[k]);
        for (size_t i = 0; k == 1 && i < N; i++) y[k][i] += 100;
        cr_model   *one = fit(cx, "kalman", table_of_series(cx, y[k], N), given);
        cr_forecast g = forecast(cx, one, NULL, 3);
        sum += cr_model_get_report(one)->log_likelihood;
        bool         is_b = strcmp(f.names[k], "b") == 0;
        cr_forecast *same = is_b == (k == 1) ? &f : NULL;
        if (same)
            assert_relative(f.p.mean[k * 3], g.p.mean[0], 1e-9);
        else
            assert_relative(f.p.mean[(1 - k) * 3], g.p.mean[0], 1e-9);
    }
    assert_relative(sum, cr_model_get_report(m)->log_likelihood, 1e-9);
}

/* --- what is learned ------------------------------------------------------------------------- */

TEST(intervals_of_variances_hold_what_they_say)
{
    enum { N = 200 };
    size_t runs = simulation_size(20, 200), noise = 0, step = 0, counted = 0;
    double y[N];
    for (size_t k = 0; k < runs; k++) {
        draw_level(1000 + k, N, 1, 0.5, y);
        cr_model *m = fit(cx, "kalman", table_of_series(cx, y, N), "target=y");
        json_t   *d = describe(cx, m);
        assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
        if (isnan(parameter(d, "variance.level", "lower"))) continue;
        counted++;
        noise += parameter(d, "variance.irregular", "lower") <= 1 &&
                 1 <= parameter(d, "variance.irregular", "upper");
        step += parameter(d, "variance.level", "lower") <= 0.25 &&
                0.25 <= parameter(d, "variance.level", "upper");
        cr_model_free(cx, m);
    }
    assert_true(counted >= runs - runs / 20);
    double least = 0.93 - 4 * sqrt(0.93 * 0.07 / (double)runs); /* 0.95, about, and chance */
    assert_true((double)noise >= least * (double)runs);
    assert_true((double)step >= least * (double)runs);
}

TEST(forecast_intervals_hold_what_they_say)
{
    enum { N = 120, H = 5 };
    size_t runs = simulation_size(20, 300), inside = 0;
    double y[N + H];
    for (size_t k = 0; k < runs; k++) {
        draw_level(5000 + k, N + H, 1, 0.5, y);
        cr_model   *m = fit(cx, "kalman", table_of_series(cx, y, N), "target=y");
        cr_forecast f = forecast(cx, m, NULL, H);
        for (size_t h = 0; h < H; h++)
            inside += fabs(y[N + h] - f.p.mean[h]) <= 1.6448536 * f.p.scale[h];
        cr_model_free(cx, m);
    }
    double share = (double)inside / (double)(runs * H);
    assert_true(fabs(share - 0.9) < 0.02 + 4 * sqrt(0.09 / (2 * (double)runs)));
}

/* A season and an autoregression with noise come back. */
TEST(parameters_come_back)
{
    enum { N = 3000 };
    double *y = cr_alloc(cx, N, sizeof *y), u = 0, old = 0, older = 0;
    cr_rng  r = cr_rng_stream(31, 2);
    for (size_t i = 0; i < N; i++) {
        double e = cr_rng_normal(&r);
        u = 1.1 * old - 0.4 * older + e;
        older = old, old = u;
        y[i] = 5 + u;
    }
    json_t *d =
        describe(cx, fit(cx, "kalman", table_of_series(cx, y, N), "target=y components=ar:2"));
    assert_close(parameter(d, "phi1", "value"), 1.1, 0.06);
    assert_close(parameter(d, "phi2", "value"), -0.4, 0.06);
    double last = 0;
    for (size_t i = 0; i < N; i++) {
        double e = cr_rng_normal(&r);
        u = 0.7 * u + e + 0.5 * last;
        last = e;
        y[i] = u - 2;
    }
    d = describe(cx, fit(cx, "kalman", table_of_series(cx, y, N), "target=y components=arma:1,1"));
    assert_close(parameter(d, "phi1", "value"), 0.7, 0.06);
    assert_close(parameter(d, "theta1", "value"), 0.5, 0.08);
    assert_close(parameter(d, "variance.ar", "value"), 1, 0.1);
    double c = 3, s = 0; /* a cycle of 20 rows */
    for (size_t i = 0; i < N; i++) {
        double turn = 2 * M_PI / 20,
               a = 0.95 * (c * cos(turn) + s * sin(turn)) + 0.5 * cr_rng_normal(&r);
        s = 0.95 * (-c * sin(turn) + s * cos(turn)) + 0.5 * cr_rng_normal(&r);
        c = a;
        y[i] = 1 + c + 0.8 * cr_rng_normal(&r);
    }
    d = describe(cx, fit(cx, "kalman", table_of_series(cx, y, N), "target=y components=cycle"));
    assert_close(parameter(d, "period", "value"), 20, 0.05);
    assert_close(parameter(d, "damping", "value"), 0.95, 0.02);
    assert_close(parameter(d, "variance.irregular", "value"), 0.64, 0.15);
    cr_free(cx, y, N, sizeof *y);
}

/* White noise has no steps: the variance of the level is at its bound, and said to be. */
TEST(a_variance_of_zero_is_named)
{
    enum { N = 60 };
    double y[N];
    size_t zero = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        draw_level(seed, N, 1, 0, y);
        cr_model *m = fit(cx, "kalman", table_of_series(cx, y, N), "target=y");
        json_t   *d = describe(cx, m),
               *names = json_object_get(json_object_get(d, "statistics"), "at_zero");
        assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
        if (parameter(d, "variance.level", "value") > 0) continue;
        zero++;
        assert_string_equal(json_string_value(json_array_get(names, 0)), "variance.level");
        assert_true(isnan(parameter(d, "variance.level", "sd")));
        /* what is left is the mean and its noise */
        double mean = 0, square = 0;
        for (size_t i = 0; i < N; i++) mean += y[i] / N;
        for (size_t i = 0; i < N; i++) square += (y[i] - mean) * (y[i] - mean);
        assert_relative(parameter(d, "variance.irregular", "value"), square / (N - 1), 1e-6);
    }
    assert_true(zero >= 3);
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(shifts_and_scales_change_nothing)
{
    enum { N = 60 };
    double y[N], z[N];
    draw_level(41, N, 1, 0.5, y);
    for (size_t i = 0; i < N; i++) z[i] = 1e9 + 1e-3 * y[i];
    cr_model *a = fit(cx, "kalman", table_of_series(cx, y, N), "target=y");
    cr_model *b = fit(cx, "kalman", table_of_series(cx, z, N), "target=y");
    json_t   *d = describe(cx, a), *e = describe(cx, b);
    assert_relative(parameter(e, "variance.level", "value"),
                    1e-6 * parameter(d, "variance.level", "value"), 1e-3);
    assert_close(cr_model_get_report(b)->log_likelihood,
                 cr_model_get_report(a)->log_likelihood + (N - 1) * log(1e3), 1e-4);
}

TEST(series_that_are_too_short_or_empty)
{
    double one[] = { 3 }, two[] = { 3, 4 }, none[] = { NAN, NAN, NAN }, same[] = { 2, 2, 2, 2, 2 };
    double short_year[] = { 1, 2, 3, 4, 5, 6, 7 };
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, "kalman", table_of_series(cx, one, 1), "target=y", &m),
                      CR_EDATA, "constant");
    assert_fails_with(cx, try_fit(cx, "kalman", table_of_series(cx, two, 2), "target=y", &m),
                      CR_EDATA, "2 values, of which the unknown start of the model takes 1");
    assert_fails_with(cx, try_fit(cx, "kalman", table_of_series(cx, none, 3), "target=y", &m),
                      CR_EDATA, "has no value");
    assert_fails_with(cx, try_fit(cx, "kalman", table_of_series(cx, same, 5), "target=y", &m),
                      CR_EDATA, "constant");
    assert_fails_with(cx,
                      try_fit(cx, "kalman", table_of_series(cx, short_year, 7),
                              "target=y components=seasonal:12", &m),
                      CR_EDATA, "unknown start");
}

TEST(components_that_cannot_be)
{
    double    y[30];
    cr_model *m = NULL;
    draw_level(1, 30, 1, 1, y);
    cr_table *t = table_of_series(cx, y, 30);
    static const struct {
        const char *components, *says;
    } cases[] = { { "levle", "no part 'levle'" },
                  { "seasonal", "needs a number" },
                  { "seasonal:1", "2 to" },
                  { "arma:1", "needs two numbers" },
                  { "ar:0", "lags" },
                  { "level,trend", "level" },
                  { "level,", "no part ''" },
                  { "seasonal:4,seasonal:4", "twice" },
                  { "level,regression", "columns" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "target=y components=%s", cases[i].components);
        assert_fails_with(cx, try_fit(cx, "kalman", t, settings, &m), CR_EARG, cases[i].says);
    }
}

TEST(matrices_that_cannot_be)
{
    double    y[30];
    cr_model *m = NULL;
    draw_level(1, 30, 1, 1, y);
    cr_table *t = table_of_series(cx, y, 30);
    static const struct {
        const char *json, *says;
    } cases[] = { { "{}", "is not there" },
                  { "{\"T\":1,\"Q\":1,\"Z\":1,\"H\":1,\"covv\":1}", "\"covv\" is no part" },
                  { "{\"T\":1,\"Q\":1,\"Z\":1,\"H\":1,\"R\":1}", "\"R\" is no part" },
                  { "{\"T\":1,\"Q\":1,\"Z\":1,\"H\":1,\"before\":1}", "true or false" },
                  { "{\"T\":[[1,2]],\"Q\":[[1]],\"Z\":[1],\"H\":1}", "\"T\" is not 1 x 1 numbers" },
                  { "{\"T\":[[1]],\"Q\":[[-1]],\"Z\":[1],\"H\":1}", "\"Q\" is not a covariance" },
                  { "{\"T\":[[1]],\"Q\":[[1]],\"Z\":[1],\"H\":1,\"mean\":[1]}", "no \"cov\"" },
                  { "{\"T\":[[1]],\"Q\":[[0]],\"Z\":[1],\"H\":0}", "row 2" },
                  { "{\"T\":[[1]]", "not JSON" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[256];
        snprintf(settings, sizeof settings, "target=y model=%s", cases[i].json);
        cr_status st = try_fit(cx, "kalman", t, settings, &m);
        assert_true(st == CR_EDATA || st == CR_ENUMERIC);
        if (!strstr(cr_error(cx), cases[i].says)) fail_msg("%s: %s", cases[i].json, cr_error(cx));
    }
}

TEST(unequal_steps_are_warned_of)
{
    warnings  heard;
    cr_table *t =
        table_of_text(cx, "steps.csv", "t,y\n1,3\n2,4\n3,3.5\n4,5\n9,4.5\n10,6\n11,5\n12,7\n");
    assert_non_null(
        strstr(fit_and_hear(cx, "kalman", t, "target=y time=t", &heard), "from 1 to 5"));
}

/* A plain cosine with noise: damping is next to 1, where the likelihood is flat; that is an end of the search, and the
 * interval of damping is about its value. */
TEST(cycles_that_do_not_fade)
{
    enum { N = 40, SERIES = 12 };
    cr_rng r = cr_rng_stream(9, 3);
    for (size_t k = 0; k < SERIES; k++) {
        double y[N], phase = 6 * cr_rng_uniform(&r);
        for (size_t t = 0; t < N; t++)
            y[t] = 5 + 3 * cos(2 * M_PI * (double)t / 9 + phase) + cr_rng_normal(&r);
        cr_model *m =
            fit(cx, "kalman", table_of_series(cx, y, N), "target=y components=level,cycle");
        json_t *d = describe(cx, m);
        double  damping = parameter(d, "damping", "value"), sd = parameter(d, "damping", "sd");
        assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
        if (sd < 0.01) assert_true(parameter(d, "damping", "lower") > damping - 3 * sd - 0.02);
        assert_true(parameter(d, "damping", "upper") <= 1);
    }
}

/* --- draws ----------------------------------------------------------------------------------- */

/* Joint draws have the means, variances and covariances of the smoother: here against those of a random walk, in which rows
 * beyond the end are correlated. */
TEST(draws_have_the_distribution_of_the_rows)
{
    enum { N = 30, DRAWS = 4000 };
    double  y[N], *draws = cr_alloc(cx, N * DRAWS, sizeof *draws);
    double *mean = cr_alloc(cx, N, sizeof *mean), *square = cr_alloc(cx, N, sizeof *square),
           both = 0;
    draw_level(17, N, 1, 0.7, y);
    for (size_t i = N - 6; i < N; i++) y[i] = NAN;
    y[10] = NAN;
    cr_table     *t = table_of_series(cx, y, N);
    cr_model     *m = fit(cx, "kalman", t, "target=y components=trend");
    cr_prediction p = smoothed(cx, m, t);
    double        last[N], sd[N];
    assert_ok(cx, cr_sample_targets(cx, m, t, DRAWS, 5, draws));
    assert_ok(cx, cr_predict_function(cx, m, t, false, last, sd, NULL));
    for (size_t i = 0; i < N; i++) {
        for (size_t c = 0; c < DRAWS; c++) mean[i] += draws[i * DRAWS + c] / DRAWS;
        for (size_t c = 0; c < DRAWS; c++)
            square[i] += pow(draws[i * DRAWS + c] - mean[i], 2) / DRAWS;
        double spread, lower, upper;
        assert_ok(cx, cr_prediction_interval(cx, &p, i, 0.5, &spread, &lower, &upper));
        assert_true(fabs(mean[i] - p.mean[i]) < 5 * spread / sqrt(DRAWS));
        assert_relative(square[i], spread * spread, 0.15);
    }
    /* the signals of the last two rows are all but the same */
    for (size_t c = 0; c < DRAWS; c++)
        both += (draws[(N - 1) * DRAWS + c] - mean[N - 1]) *
                (draws[(N - 2) * DRAWS + c] - mean[N - 2]) / DRAWS;
    assert_relative(both, sd[N - 1] * sd[N - 2], 0.12);
    cr_free(cx, draws, N * DRAWS, sizeof *draws);
    cr_free(cx, mean, N, sizeof *mean);
    cr_free(cx, square, N, sizeof *square);
}

/* --- updates --------------------------------------------------------------------------------- */

/* With the parameters of the fit, an update is the filter of all rows. */
TEST(updates_go_on_where_the_series_ended)
{
    enum { N = 60, MORE = 15 };
    double y[N + MORE];
    char   given[300];
    draw_level(51, N + MORE, 1, 0.5, y);
    y[N + 3] = NAN;
    cr_model *m = fit(cx, "kalman", table_of_series(cx, y, N), "target=y"), *updated = NULL;
    assert_ok(cx, cr_update(cx, m, table_of_series(cx, y + N, MORE), &updated));
    test_own(cx, updated, release_model);
    json_t *d = describe(cx, m);
    snprintf(given, sizeof given,
             "target=y model={\"T\":[[1]],\"Q\":[[%.17g]],\"Z\":[1],\"H\":%.17g}",
             parameter(d, "variance.level", "value"), parameter(d, "variance.irregular", "value"));
    cr_model   *all = fit(cx, "kalman", table_of_series(cx, y, N + MORE), given);
    cr_forecast f = forecast(cx, updated, NULL, 4), g = forecast(cx, all, NULL, 4);
    for (size_t h = 0; h < 4; h++) {
        assert_relative(f.p.mean[h], g.p.mean[h], 1e-9);
        assert_relative(f.p.scale[h], g.p.scale[h], 1e-9);
    }
    assert_relative(cr_model_get_report(updated)->log_likelihood,
                    cr_model_get_report(all)->log_likelihood, 1e-9);
    assert_int_equal(cr_model_get_report(updated)->rows, N + MORE);
    assert_int_equal((int)statistic(describe(cx, updated), "observed"), N + MORE - 1);
}

TEST(updates_bring_new_series)
{
    cr_table *t = two_series(cx, 40);
    cr_model *m = fit(cx, "kalman", t, "target=y sequence=who time=day"), *updated = NULL;
    cr_table *more = table_of_text(cx, "more.csv", "who,day,y\nc,1,5\nc,2,6\na,100,12\n");
    assert_ok(cx, cr_update(cx, m, more, &updated));
    test_own(cx, updated, release_model);
    cr_forecast f = forecast(cx, updated, NULL, 1), old = forecast(cx, m, NULL, 1);
    assert_int_equal(f.n, 3);
    assert_string_equal(f.names[2], "c");
    for (size_t k = 0; k < 2; k++) {
        bool same = f.p.mean[k] == old.p.mean[k];
        assert_true(same == (strcmp(f.names[k], "b") == 0));
    }
    assert_true(f.p.mean[2] > 4 && f.p.mean[2] < 7);
}

/* --- memory and files ------------------------------------------------------------------------ */

TEST(every_allocation_may_fail)
{
    enum { N = 40 };
    double X[N], y[N];
    draw_level(3, N, 1, 0.5, y);
    for (size_t i = 0; i < N; i++) X[i] = sin((double)i), y[i] += X[i];
    y[5] = NAN;
    cr_table *t = make_table(cx, X, N, 1, y, NULL);
    check_every_allocation(t, "kalman",
                           "target=y components=level,regression,seasonal:4 restarts=1 max_iter=10 "
                           "parameters=fixed");
    check_every_allocation_with_update(t, "kalman",
                                       "target=y components=ar:2,cycle restarts=1 max_iter=5 "
                                       "parameters=fixed");
}
