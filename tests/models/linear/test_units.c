/* test_units.c -- a standardised target changes no answer; sums of squares never turn negative. */
#include "../fixture.h"

enum { N = 40, P = 3 };

/* The same model on the target as given and standardised: everything comes back in its own units.
 */
static void check_same(cr_ctx *cx, const cr_table *t, const char *name, const char *settings,
                       const char *const *statistics)
{
    char standard[200];
    snprintf(standard, sizeof standard, "%s scale_target=standard", settings);
    cr_model *a = fit(cx, name, t, settings), *b = fit(cx, name, t, standard);
    json_t   *x = describe(cx, a), *y = describe(cx, b);
    for (; *statistics; statistics++)
        assert_relative(statistic(y, *statistics), statistic(x, *statistics), 1e-9);
    for (size_t j = 0; j < P; j++) {
        assert_relative(coefficient(y, j, "value"), coefficient(x, j, "value"), 1e-9);
        assert_relative(coefficient(y, j, "sd"), coefficient(x, j, "sd"), 1e-9);
    }
    const cr_report *r = cr_model_get_report(a), *q = cr_model_get_report(b);
    assert_relative(q->log_evidence, r->log_evidence, 1e-9);
    assert_relative(q->log_likelihood, r->log_likelihood, 1e-9);
    cr_prediction p = predict(cx, a, t), o = predict(cx, b, t);
    for (size_t i = 0; i < N; i++) {
        assert_relative(o.mean[i], p.mean[i], 1e-9);
        assert_relative(o.scale[i], p.scale[i], 1e-9);
    }
}

TEST(standardised_target)
{
    static const char *const of_linear[] = { "residual_sd", "rss", "r2",    "f",
                                             "aic",         "bic", "loocv", NULL };
    static const char *const of_ridge[] = { "residual_sd", "rss", "r2", "gcv", "loocv", NULL };
    static const char *const of_bayes[] = { "alpha", "beta", "noise_sd", "rss", NULL };
    double                   X[N * P], y[N];
    draw_regression(11, N, P, 2.5, X, y);
    for (size_t i = 0; i < N; i++) y[i] = 300 + 40 * y[i];
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    check_same(cx, t, "linear", "target=y", of_linear);
    check_same(cx, t, "ridge", "target=y lambda=3", of_ridge);
    check_same(cx, t, "bayes-linear", "target=y", of_bayes);
    check_same(cx, t, "bayes-linear", "target=y tol=1e-15 optimize=fixed-point", of_bayes);
}

/* A large target without error under a wide prior: rate + half a sum of squares stays positive. */
TEST(posterior_rate_is_positive)
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        double X[N * 2], y[N];
        cr_rng r = cr_rng_stream(seed, 5);
        draw_normals(&r, X, N * 2);
        for (size_t i = 0; i < N; i++) y[i] = 1e10 * (2 * X[2 * i] - X[2 * i + 1] + 3);
        cr_table *t = make_table(cx, X, N, 2, y, NULL);
        cr_model *m = fit(cx, "bayes-linear", t, "target=y prior=nig prior_variance=1e30");
        json_t   *d = describe(cx, m);
        assert_true(statistic(d, "b_n") >= 1);
        assert_true(isfinite(cr_model_get_report(m)->log_evidence));
    }
}

/* Columns far from zero: the mean is taken from the centre of the data, where nothing cancels. What
 * is left is the rounding of the centre itself, half a unit of 2^-22, times the slope. */
TEST(far_columns)
{
    double x[N], y[N];
    cr_rng r = cr_rng_stream(3, 1);
    for (size_t i = 0; i < N; i++) {
        x[i] = 1.6e9 + floor(100 * cr_rng_normal(&r)) / 64; /* exact */
        y[i] = 0.5 * (x[i] - 1.6e9) + 1e-3 * cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, x, N, 1, y, NULL);
    cr_model *a = fit(cx, "linear", t, "target=y"), *b = fit(cx, "ridge", t, "target=y lambda=0");
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    for (size_t i = 0; i < N; i++) assert_close(q.mean[i], p.mean[i], 0.5 * 0x1p-22);
}

/* Columns of sizes 1e6 and 1e-3, not standardised: evidence and coefficients by the dense formulas
 * in long double; p = 2. */
TEST(columns_of_different_size)
{
    double X[N * 2], y[N];
    cr_rng r = cr_rng_stream(8, 2);
    for (size_t i = 0; i < N; i++) {
        X[2 * i] = 1e6 * (3 + cr_rng_normal(&r));
        X[2 * i + 1] = 1e-3 * cr_rng_normal(&r);
        y[i] = 1e-6 * X[2 * i] + 2e3 * X[2 * i + 1] + 0.1 * cr_rng_normal(&r);
    }
    const long double alpha = 1e-6L, beta = 100;
    long double       c[3] = { 0 }, g[2] = { 0 }, G[3] = { 0 }, tt = 0;
    for (size_t i = 0; i < N; i++) c[0] += X[2 * i] / N, c[1] += X[2 * i + 1] / N, c[2] += y[i] / N;
    for (size_t i = 0; i < N; i++) {
        long double a = X[2 * i] - c[0], b = X[2 * i + 1] - c[1], t = y[i] - c[2];
        G[0] += a * a, G[1] += a * b, G[2] += b * b;
        g[0] += a * t, g[1] += b * t, tt += t * t;
    }
    long double a = alpha + beta * G[0], b = beta * G[1], d = alpha + beta * G[2];
    long double det = a * d - b * b, m0 = beta * (d * g[0] - b * g[1]) / det;
    long double m1 = beta * (a * g[1] - b * g[0]) / det;
    long double rss =
        tt - 2 * (m0 * g[0] + m1 * g[1]) + m0 * m0 * G[0] + 2 * m0 * m1 * G[1] + m1 * m1 * G[2];
    long double evidence = logl(alpha) + N / 2.0L * logl(beta / (2 * acosl(-1))) - logl(det) / 2 -
                           (beta * rss + alpha * (m0 * m0 + m1 * m1)) / 2;

    cr_table *t = make_table(cx, X, N, 2, y, NULL);
    cr_model *m =
        fit(cx, "bayes-linear", t,
            "target=y scale=none optimize=none alpha=1e-6 noise=0.01 intercept_prior=centre");
    json_t *e = describe(cx, m);
    assert_close(cr_model_get_report(m)->log_evidence, (double)evidence, 1e-8);
    assert_relative(parameter(e, "x1", "value"), (double)m0, 1e-8);
    assert_relative(parameter(e, "x2", "value"), (double)m1, 1e-8);
    assert_relative(parameter(e, "x2", "sd"), (double)sqrtl(a / det), 1e-8);
    cr_model_free(cx, m);
    m = fit(cx, "ridge", t, "target=y scale=none lambda=1e-8"); /* = alpha / beta */
    e = describe(cx, m);
    assert_relative(parameter(e, "x1", "value"), (double)m0, 1e-8);
    assert_relative(parameter(e, "x2", "value"), (double)m1, 1e-8);
}

static void count_dependent(void *user, cr_log_level level, const char *text)
{
    if (level == CR_LOG_WARNING && strstr(text, "9 columns are constant or linear combinations") &&
        strstr(text, "'x"))
        ++*(size_t *)user;
    assert_null(strstr(text, "is a linear combination"));
}

/* Many dependent columns are named in one warning, not in one each. */
TEST(many_dependent_columns)
{
    enum { n = 4, p = 12 };
    size_t said = 0;
    double X[n * p], y[n] = { 1, 4, 2, 3 };
    cr_rng r = cr_rng_stream(4, 4);
    draw_normals(&r, X, n * p);
    cr_table *t = make_table(cx, X, n, p, y, NULL);
    cr_ctx_set_log(cx, count_dependent, &said);
    cr_model *m = fit(cx, "linear", t, "target=y solver=qr");
    json_t   *d = describe(cx, m);
    assert_close(statistic(d, "rank"), 3, 0);
    assert_int_equal(said, 1);
}
