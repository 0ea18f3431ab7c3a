/* test_noise_model.c -- noise whose logarithm is linear in columns: the equations of the estimate, its likelihood by
 * the density of each row, and coverage where the noise grows. */
#include "../life.h"

enum { N = 300 };

/* y = 1 + 2 x1 - x2 + exp(-0.5 + 1.2 x1) e. */
static void draw_rows(uint64_t seed, size_t n, double *X, double *y)
{
    cr_rng r = cr_rng_stream(seed, 9);
    for (size_t i = 0; i < n; i++) {
        double x = 2 * cr_rng_uniform(&r) - 1, z = cr_rng_normal(&r);
        X[2 * i] = x, X[2 * i + 1] = z;
        y[i] = 1 + 2 * x - z + exp(-0.5 + 1.2 * x) * cr_rng_normal(&r);
    }
}

TEST(equations_and_likelihood)
{
    double X[2 * N], y[N], mean = 0, along[3] = { 0 }, score = 0, loglik = 0;
    draw_rows(1, N, X, y);
    cr_table     *t = make_table(cx, X, N, 2, y, NULL);
    cr_model     *m = fit(cx, "linear", t, "target=y noise_model=x1");
    json_t       *d = describe(cx, m);
    cr_prediction p = predict(cx, m, t);
    double level = parameter(d, "noise.intercept", "value"), g = parameter(d, "noise.x1", "value");
    double shrink = (N - 3.0) / N; /* of the variance, at the maximum of the likelihood */
    for (size_t i = 0; i < N; i++) mean += X[2 * i] / N;
    for (size_t i = 0; i < N; i++) {
        double s2 = exp(2 * (level + g * X[2 * i])), e = y[i] - p.mean[i];
        double h = (p.scale[i] * p.scale[i] - s2) / s2; /* the leverage */
        assert_true(h > 0 && h < 0.2);
        along[0] += e / s2, along[1] += e * X[2 * i] / s2, along[2] += e * X[2 * i + 1] / s2;
        score += (X[2 * i] - mean) * e * e / (s2 * (1 - h));
        loglik -= 0.5 * (log(2 * M_PI * s2 * shrink) + e * e / (s2 * shrink));
    }
    for (size_t j = 0; j < 3; j++) assert_close(along[j], 0, 1e-7);
    assert_close(score, 0, 1e-5);
    assert_close(cr_model_get_report(m)->log_likelihood, loglik, 1e-7);
    assert_close(g, 1.2, 4 * parameter(d, "noise.x1", "sd"));
    assert_close(level, -0.5, 4 * parameter(d, "noise.intercept", "sd"));
    assert_close(parameter(d, "noise.intercept", "sd"), 1 / sqrt(2.0 * N), 2e-3);
    assert_close(statistic(d, "aic"), 2 * 5 - 2 * loglik, 1e-6);
    assert_true(cr_model_get_report(m)->log_likelihood >
                cr_model_get_report(fit(cx, "linear", t, "target=y"))->log_likelihood + 50);
}

/* 95 % intervals hold where the noise is small and where it is large. */
static void check_coverage(cr_ctx *cx, const char *model)
{
    enum { TRIALS = 40, NEW = 400, BINS = 4 };
    double held[BINS] = { 0 }, rows[BINS] = { 0 };
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        double X[2 * N], y[N], U[2 * NEW], v[NEW], low[NEW], high[NEW];
        draw_rows(10 + trial, 60, X, y);
        draw_rows(1000 + trial, NEW, U, v);
        cr_model *m = fit(cx, model, make_table(cx, X, 60, 2, y, NULL), "target=y noise_model=x1");
        cr_prediction p = predict(cx, m, make_table(cx, U, NEW, 2, NULL, NULL));
        assert_ok(cx, cr_prediction_intervals(cx, &p, 0.95, NULL, low, high));
        for (size_t i = 0; i < NEW; i++) {
            size_t b = (size_t)fmin((U[2 * i] + 1) / 2 * BINS, BINS - 1);
            rows[b]++, held[b] += low[i] <= v[i] && v[i] <= high[i];
        }
    }
    for (size_t b = 0; b < BINS; b++) {
        assert_true(held[b] / rows[b] > 0.92);
        assert_true(held[b] / rows[b] < 0.975);
    }
}

/* Powers up to the fifth make the noise at the ends hard to know: intervals there take that into account. */
TEST(coverage_at_the_ends_of_powers)
{
    enum { ROWS = 60, TRIALS = 300, NEW = 20 };
    double held = 0, count = 0;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        double X[ROWS], y[ROWS], U[NEW], low[NEW], high[NEW];
        cr_rng r = cr_rng_stream(trial, 12);
        for (size_t i = 0; i < ROWS; i++) {
            X[i] = 2 * cr_rng_uniform(&r) - 1;
            y[i] = 1 + 2 * X[i] + exp(-0.5 + 0.8 * X[i]) * cr_rng_normal(&r);
        }
        for (size_t i = 0; i < NEW; i++)
            U[i] = (i % 2 ? 1 : -1) * (0.85 + 0.13 * cr_rng_uniform(&r));
        cr_model     *m = fit(cx, "linear", make_table(cx, X, ROWS, 1, y, NULL),
                              "target=y basis=poly:5 noise_model=x1");
        cr_prediction p = predict(cx, m, make_table(cx, U, NEW, 1, NULL, NULL));
        assert_ok(cx, cr_prediction_intervals(cx, &p, 0.95, NULL, low, high));
        for (size_t i = 0; i < NEW; i++, count++) {
            double v = 1 + 2 * U[i] + exp(-0.5 + 0.8 * U[i]) * cr_rng_normal(&r);
            held += low[i] <= v && v <= high[i];
        }
        cr_model_free(cx, m);
    }
    assert_true(held / count > 0.89 && held / count < 0.98); /* 0.85 with g taken as known */
}

TEST(coverage_in_bins)
{
    check_coverage(cx, "linear");
    check_coverage(cx, "bayes-linear");
}

/* At given scales, without an intercept, y ~ N(0, X X' / alpha + noise / v), v the precisions of the rows; g costs what
 * Laplace's approximation says.  The predictions are those of weighted rows, the noise that of the new row. */
TEST(bayes_evidence_and_score)
{
    enum { ROWS = 50 };
    static long double C[ROWS * ROWS];
    long double        t[ROWS], logdet;
    double             X[2 * ROWS], y[ROWS], v[ROWS], sum = 0, mean = 0, square = 0, score = 0;
    draw_rows(5, ROWS, X, y);
    cr_table     *table = make_table(cx, X, ROWS, 2, y, NULL);
    cr_model     *m = fit(cx, "bayes-linear", table,
                          "target=y noise_model=x1 optimize=none alpha=0.7 noise=0.5 intercept=false "
                              "scale=none");
    json_t       *d = describe(cx, m);
    cr_prediction p = predict(cx, m, table);
    double        g = parameter(d, "noise.x1", "value");
    for (size_t i = 0; i < ROWS; i++) mean += X[2 * i] / ROWS;
    for (size_t i = 0; i < ROWS; i++) {
        square += pow(X[2 * i] - mean, 2) / ROWS;
        sum += v[i] = exp(-2 * g * (X[2 * i] - mean));
    }
    for (size_t i = 0; i < ROWS; i++) v[i] *= ROWS / sum;
    for (size_t i = 0; i < ROWS; i++) {
        t[i] = y[i];
        for (size_t j = 0; j < ROWS; j++)
            C[i * ROWS + j] = (X[2 * i] * X[2 * j] + X[2 * i + 1] * X[2 * j + 1]) / 0.7L +
                              (i == j ? 0.5L / v[i] : 0);
    }
    long double form = quadratic_form(ROWS, C, t, &logdet);
    double      density = (double)(-0.5L * (form + logdet + ROWS * logl(2 * 3.14159265358979324L)));
    double      occam = -0.5 * (log(2.0 * ROWS) + g * g * square);
    assert_close(cr_model_get_report(m)->log_evidence, density + occam, 1e-8);
    for (size_t i = 0; i < ROWS; i++) { /* of g: squares over 1 - leverage do not grow along x1 */
        double e = y[i] - p.mean[i], h = (p.scale[i] * p.scale[i] - 0.5 / v[i]) / 0.5;
        score += (X[2 * i] - mean) * v[i] * e * e / (1 - v[i] * h);
    }
    assert_close(score, 0, 1e-4);
    assert_close(g, 1.2, 4 * parameter(d, "noise.x1", "sd"));
    cr_model *more = NULL;
    assert_fails_with(cx, cr_update(cx, m, table, &more), CR_EUNSUPPORTED, "no exact update");
    assert_fails_with(
        cx, try_fit(cx, "bayes-linear", table, "target=y noise_model=x1 solver=dual", &more),
        CR_EARG, "solver");
}

TEST(refusals)
{
    double    X[2 * N], y[N], w[N];
    cr_model *m = NULL;
    draw_rows(2, N, X, y);
    for (size_t i = 0; i < N; i++) w[i] = 1;
    cr_table *t = make_table(cx, X, N, 2, y, w);
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y noise_model=q", &m), CR_EARG,
                      "'q' is not a feature");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y weights=w noise_model=x1", &m),
                      CR_EARG, "cannot be combined with --weights");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y errors=hc3 noise_model=x1", &m),
                      CR_EARG, "cannot be combined with --select or --errors");
    m = fit(cx, "linear", t, "target=y features=x1,x2 noise_model=x1,x2");
    cr_model *more = NULL;
    assert_fails_with(cx, cr_update(cx, m, t, &more), CR_EUNSUPPORTED, "no exact update");
}

TEST(every_allocation)
{
    static const char *const settings[] = { "target=y noise_model=x1", NULL };
    double                   X[24], y[12];
    draw_rows(3, 12, X, y);
    check_allocations_on(X, 12, 2, y, "linear", settings);
    check_allocations_on(X, 12, 2, y, "bayes-linear", settings);
}
