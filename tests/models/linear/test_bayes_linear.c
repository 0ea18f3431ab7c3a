/* test_bayes_linear.c -- the evidence as the dense marginal density of the data, as a product of
 * one-step predictions and as an integral; optima against their neighbours; updates against one
 * fit; coverage by simulation; and the reference answers. */
#define _GNU_SOURCE /* M_PIl */
#include "../fixture.h"
#include "math/special/special.h"

enum { N = 14, P = 3 };

static double evidence_of(const cr_model *m) { return cr_model_get_report(m)->log_evidence; }

/* Z [n x p] by the definition: centred with an intercept, scaled if asked; t centred likewise. */
static void standardise(const double *X, const double *y, size_t n, size_t p, bool intercept,
                        bool scale, long double *Z, long double *t)
{
    for (size_t j = 0; j <= p; j++) {
        long double mean = 0, square = 0;
        for (size_t i = 0; i < n; i++) mean += (j < p ? X[i * p + j] : y[i]) / (long double)n;
        for (size_t i = 0; i < n; i++) square += powl((j < p ? X[i * p + j] : y[i]) - mean, 2);
        long double sd = scale && j < p ? sqrtl(square / (long double)n) : 1;
        if (!intercept) mean = 0;
        for (size_t i = 0; i < n; i++)
            *(j < p ? &Z[i * p + j] : &t[i]) = ((j < p ? X[i * p + j] : y[i]) - mean) / sd;
    }
}

/* noise I + prior Z Z^T. */
static void marginal_covariance(const long double *Z, size_t n, size_t p, long double noise,
                                long double prior, long double *C)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            C[i * n + k] = i == k ? noise : 0;
            for (size_t j = 0; j < p; j++) C[i * n + k] += prior * Z[i * p + j] * Z[k * p + j];
        }
}

/* --- the normal prior ------------------------------------------------------------------------ */

TEST(evidence_is_the_marginal_density)
{
    const double values[][2] = { { 1, 1 }, { 0.01, 0.3 }, { 50, 2 }, { 3, 1e-3 }, { 1e-4, 40 } };
    const size_t sizes[][2] = { { N, P }, { 5, 9 }, { 1, 2 } }; /* also more columns than rows */
    double       X[64], y[N];
    long double  Z[64], t[N], C[N * N], logdet;
    for (size_t s = 0; s < 3; s++) {
        size_t n = sizes[s][0], p = sizes[s][1];
        draw_regression(s, n, p, 0.5, X, y);
        cr_table *table = make_table(cx, X, n, p, y, NULL);
        for (unsigned bits = 0; bits < 20; bits++) {
            bool   intercept = bits & 1, scale = bits & 2;
            double alpha = values[bits / 4][0], noise = values[bits / 4][1];
            char   settings[256];
            if (n == 1 && intercept) continue; /* a target of one row is its own mean */
            snprintf(settings, sizeof settings,
                     "target=y optimize=none alpha=%.17g noise=%.17g intercept=%s "
                     "intercept_prior=centre scale=%s",
                     alpha, noise, intercept ? "true" : "false",
                     scale && n > 1 ? "standard" : "none");
            standardise(X, y, n, p, intercept, scale && n > 1, Z, t);
            marginal_covariance(Z, n, p, noise, 1 / (long double)alpha, C);
            long double square = quadratic_form(n, C, t, &logdet);
            double      expected =
                (double)(-0.5L * (square + logdet + (long double)n * logl(2 * M_PIl)));
            cr_model *m = fit(cx, "bayes-linear", table, settings);
            assert_close(evidence_of(m), expected, 1e-9);
        }
    }
}

/* Posterior mean and covariance by PRML (3.53), (3.54), and the predictive (3.58), dense. */
TEST(posterior)
{
    double      X[N * P], y[N], alpha = 0.7, noise = 0.4;
    long double Z[N * P], t[N], A[P * P] = { 0 }, S[P * P] = { 0 }, m[P] = { 0 }, g[P] = { 0 };
    draw_regression(4, N, P, 0.5, X, y);
    standardise(X, y, N, P, false, false, Z, t);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < P; j++) {
            g[j] += Z[i * P + j] * t[i] / noise;
            for (size_t k = 0; k < P; k++) A[j * P + k] += Z[i * P + j] * Z[i * P + k] / noise;
        }
    for (size_t j = 0; j < P; j++) A[j * P + j] += alpha, S[j * P + j] = 1;
    solve_dense(P, A, S, P);
    for (size_t j = 0; j < P; j++)
        for (size_t k = 0; k < P; k++) m[j] += S[j * P + k] * g[k];
    cr_table     *table = make_table(cx, X, N, P, y, NULL);
    cr_model     *model = fit(cx, "bayes-linear", table,
                              "target=y optimize=none alpha=0.7 noise=0.4 intercept=false "
                                  "scale=none");
    json_t       *d = describe(cx, model);
    cr_prediction q = predict(cx, model, table);
    for (size_t j = 0; j < P; j++) {
        assert_close(coefficient(d, j + 1, "value"), (double)m[j], 1e-12);
        assert_close(coefficient(d, j + 1, "sd"), sqrt((double)S[j * P + j]), 1e-12);
    }
    for (size_t i = 0; i < N; i++) {
        long double mean = 0, variance = noise;
        for (size_t j = 0; j < P; j++) {
            mean += m[j] * Z[i * P + j];
            for (size_t k = 0; k < P; k++) variance += Z[i * P + j] * S[j * P + k] * Z[i * P + k];
        }
        assert_close(q.mean[i], (double)mean, 1e-12);
        assert_close(q.scale[i], sqrt((double)variance), 1e-12);
        assert_true(isinf(q.dof[i]));
    }
}

/* A flat prior on b0: the evidence is the integral over b0 of that with b0 known, by the trapezoid
 * rule, which is exact to all digits for a function of this shape. */
TEST(flat_intercept)
{
    double            X[N * P], y[N], shifted[N];
    const char *const priors[] = { "optimize=none alpha=0.7 noise=0.4",
                                   "prior=nig prior_variance=2 shape=3 rate=1.5" };
    draw_regression(5, N, P, 0.5, X, y);
    for (size_t j = 0; j < P; j++) { /* centred columns: then b0 is what the flat prior is about */
        double mean = 0;
        for (size_t i = 0; i < N; i++) mean += X[i * P + j] / N;
        for (size_t i = 0; i < N; i++) X[i * P + j] -= mean;
    }
    cr_table *table = make_table(cx, X, N, P, y, NULL);
    for (size_t k = 0; k < 2; k++) {
        char settings[256];
        snprintf(settings, sizeof settings, "target=y scale=none intercept_prior=flat %s",
                 priors[k]);
        cr_model *m = fit(cx, "bayes-linear", table, settings);
        snprintf(settings, sizeof settings, "target=y scale=none intercept=false %s", priors[k]);
        double top = evidence_of(m), sum = 0, step = k ? 0.02 : 0.05, mean = 0;
        for (size_t i = 0; i < N; i++) mean += y[i] / N;
        for (int s = k ? -3000 : -400; s <= (k ? 3000 : 400); s++) {
            for (size_t i = 0; i < N; i++) shifted[i] = y[i] - mean - step * s;
            if (k && abs(s) > 500 && s % 50) continue; /* the tails of the t are long and smooth */
            cr_table *u = make_table(cx, X, N, P, shifted, NULL);
            cr_model *b = fit(cx, "bayes-linear", u, settings);
            double width = k && abs(s) > 500 ? 50 * step : k && abs(s) == 500 ? 25.5 * step : step;
            sum += width * exp(evidence_of(b) - top);
        }
        assert_close(log(sum), 0, k ? 1e-6 : 1e-9);
    }
}

/* --- the normal-inverse-gamma prior ---------------------------------------------------------- */

/* The marginal of the data is a multivariate t: 2a degrees of freedom, scale (b/a) (I + v Z Z^T).
 */
/* The sd of the intercept counts that a mean of n rows is not known, also where predictions do
 * not. */
TEST(sd_of_a_centred_intercept)
{
    enum { n = 25, p = 2 };
    double X[n * p], y[n], sd[2];
    draw_regression(4, n, p, 0.8, X, y);
    cr_table         *t = make_table(cx, X, n, p, y, NULL);
    const char *const priors[] = { "centre", "flat" };
    for (size_t k = 0; k < 2; k++) {
        char settings[128];
        snprintf(settings, sizeof settings,
                 "target=y optimize=none alpha=2 noise=0.5 intercept_prior=%s", priors[k]);
        cr_model *m = fit(cx, "bayes-linear", t, settings);
        json_t   *d = describe(cx, m), *first = json_array_get(json_object_get(d, "parameters"), 0);
        assert_string_equal(json_string_value(json_object_get(first, "name")), "intercept");
        sd[k] = json_number_value(json_object_get(first, "sd"));
    }
    assert_close(sd[0], sd[1], 1e-13);
    assert_true(sd[0] > sqrt(0.5 / n));
}

TEST(nig_evidence_is_the_marginal_density)
{
    const double values[][3] = { { 10, 1, 1 }, { 0.2, 0.3, 4 }, { 500, 20, 0.01 } };
    const size_t sizes[][2] = { { N, P }, { 5, 9 } };
    double       X[64], y[N];
    long double  Z[64], t[N], C[N * N], logdet;
    for (size_t s = 0; s < 2; s++) {
        size_t n = sizes[s][0], p = sizes[s][1];
        draw_regression(6 + s, n, p, 0.5, X, y);
        cr_table *table = make_table(cx, X, n, p, y, NULL);
        for (unsigned bits = 0; bits < 12; bits++) {
            bool   intercept = bits & 1, scale = bits & 2;
            double v = values[bits / 4][0], a = values[bits / 4][1], b = values[bits / 4][2];
            char   settings[256];
            snprintf(settings, sizeof settings,
                     "target=y prior=nig prior_variance=%.17g shape=%.17g rate=%.17g intercept=%s "
                     "intercept_prior=centre scale=%s",
                     v, a, b, intercept ? "true" : "false", scale ? "standard" : "none");
            standardise(X, y, n, p, intercept, scale, Z, t);
            marginal_covariance(Z, n, p, (long double)b / a, (long double)b / a * v, C);
            long double square = quadratic_form(n, C, t, &logdet), nu = 2 * (long double)a;
            double      expected =
                (double)(lgammal((nu + n) / 2) - lgammal(nu / 2) -
                         0.5L * (n * logl(nu * M_PIl) + logdet + (nu + n) * log1pl(square / nu)));
            cr_model *m = fit(cx, "bayes-linear", table, settings);
            assert_close(evidence_of(m), expected, 1e-9);
        }
    }
}

/* p(y_1 .. y_n) = prod p(y_k | y_1 .. y_k-1): each factor a prediction from the rows before. */
static void check_chain(const char *settings)
{
    cr_ctx *cx = test_context();
    double  X[N * P], y[N], last = 0;
    draw_regression(8, N, P, 0.5, X, y);
    for (size_t k = 1; k <= N; k++) {
        cr_table *t = make_table(cx, X, k, P, y, NULL);
        cr_model *m = fit(cx, "bayes-linear", t, settings);
        if (k > 1) assert_close(evidence_of(m), last, 1e-10);
        if (k < N) {
            cr_table     *next = make_table(cx, X + k * P, 1, P, y + k, NULL);
            cr_prediction q = predict(cx, m, next);
            double        z = (y[k] - q.mean[0]) / q.scale[0];
            last = evidence_of(m) + cr_student_t_logpdf(z, q.dof[0]) - log(q.scale[0]);
        }
    }
    test_context_free(cx);
}

TEST(chain_rule)
{
    check_chain(
        "target=y prior=nig prior_variance=3 shape=1.5 rate=0.8 intercept=false scale=none");
    check_chain("target=y optimize=none alpha=0.7 noise=0.4 intercept=false scale=none");
}

/* --- maximising the evidence ----------------------------------------------------------------- */

static double evidence_at(cr_ctx *cx, const cr_table *t, double alpha, double beta,
                          const char *more)
{
    char settings[256];
    snprintf(settings, sizeof settings, "target=y optimize=none alpha=%.17g noise=%.17g %s", alpha,
             1 / beta, more);
    cr_model *m = fit(cx, "bayes-linear", t, settings);
    double    e = evidence_of(m);
    return e;
}

TEST(optimum)
{
    enum { n = 60, p = 5 };
    double            X[n * p], y[n];
    const char *const more[] = { "intercept_prior=centre", "intercept_prior=flat",
                                 "intercept=false", "scale=none intercept_prior=centre" };
    draw_regression(9, n, p, 0.8, X, y);
    cr_table *t = make_table(cx, X, n, p, y, NULL);
    for (size_t k = 0; k < 4; k++) {
        double found[2][3], start[2][3];
        for (size_t em = 0; em < 2; em++) {
            char settings[256];
            snprintf(settings, sizeof settings, "target=y optimize=%s %s",
                     em ? "em" : "fixed-point", more[k]);
            cr_model *m = fit(cx, "bayes-linear", t, settings);
            json_t   *d = describe(cx, m);
            assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
            assert_true(cr_model_get_report(m)->iterations > 0);
            found[em][0] = statistic(d, "alpha");
            found[em][1] = statistic(d, "beta");
            found[em][2] = evidence_of(m);
            assert_close(statistic(d, "noise_sd"), 1 / sqrt(found[em][1]), 1e-13);
            cr_model_free(cx, m);
            snprintf(settings, sizeof settings, "target=y optimize=%s alpha=30 noise=9 %s",
                     em ? "em" : "fixed-point", more[k]);
            m = fit(cx, "bayes-linear", t, settings);
            d = describe(cx, m);
            start[em][0] = statistic(d, "alpha"); /* from another start to the same place */
            start[em][1] = statistic(d, "beta");
        }
        for (size_t em = 0; em < 2; em++)
            for (size_t i = 0; i < 2; i++) {
                assert_relative(found[em][i], found[0][i], 1e-5);
                assert_relative(start[em][i], found[0][i], 1e-5);
            }
        assert_relative(found[1][2], found[0][2], 1e-8);
        double best = found[0][2];
        assert_close(evidence_at(cx, t, found[0][0], found[0][1], more[k]), best, 1e-12);
        for (int a = -1; a <= 1; a++)
            for (int b = -1; b <= 1; b++)
                if (a || b)
                    assert_true(evidence_at(cx, t, found[0][0] * (1 + 0.01 * a),
                                            found[0][1] * (1 + 0.01 * b), more[k]) < best);
    }
}

/* Stopping early is a result that says so. */
TEST(iteration_limit)
{
    double X[N * P], y[N];
    draw_regression(10, N, P, 0.8, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_model *m = fit(cx, "bayes-linear", t, "target=y optimize=fixed-point max_iter=1");
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
    assert_int_equal(cr_model_get_report(m)->iterations, 1);
}

/* Targets that have nothing to do with the columns: all coefficients shrink away, the evidence is
 * that of noise alone. */
TEST(nothing_to_learn)
{
    enum { n = 8 };
    double    x[n] = { 1, -1, 1, -1, 1, -1, 1, -1 }, y[n] = { 1, 1, -1, -1, 1, 1, -1, -1 };
    cr_table *t = make_table(cx, x, n, 1, y, NULL);
    cr_model *m =
        fit(cx, "bayes-linear", t, "target=y optimize=fixed-point intercept_prior=centre");
    json_t *d = describe(cx, m);
    assert_close(coefficient(d, 1, "value"), 0, 1e-9);
    assert_close(statistic(d, "beta"), 1, 1e-9);
    assert_close(evidence_of(m), -0.5 * n * (1 + log(2 * M_PI)), 1e-9);
}

/* A constant column, and no column at all (a category of one level): the noise alone is learned. */
TEST(no_information)
{
    cr_table   *t = table_of_text(cx, "c.csv", "c,k,y\na,0.1,1\na,0.1,2.5\na,0.1,3\na,0.1,7\n");
    const char *settings[] = {
        "target=y features=c optimize=fixed-point intercept_prior=centre",
        "target=y features=k optimize=fixed-point intercept_prior=centre",
        "target=y features=k optimize=em intercept_prior=centre",
    };
    double mean = 3.375, square = 0, y[4] = { 1, 2.5, 3, 7 };
    for (size_t i = 0; i < 4; i++) square += pow(y[i] - mean, 2);
    for (size_t k = 0; k < 3; k++) {
        cr_model     *m = fit(cx, "bayes-linear", t, settings[k]);
        cr_prediction q = predict(cx, m, t);
        assert_close(evidence_of(m), -2 * (1 + log(2 * M_PI * square / 4)), 1e-12);
        for (size_t i = 0; i < 4; i++) {
            assert_close(q.mean[i], mean, 1e-13);
            assert_close(q.scale[i], sqrt(square / 4), 1e-13);
        }
    }
}

static void count_noiseless(void *user, cr_log_level level, const char *text)
{
    if (level == CR_LOG_WARNING && strstr(text, "without any error")) ++*(size_t *)user;
}

/* A constant target is refused; one that the columns explain wholly gives a warning. */
TEST(noiseless)
{
    double    x[4] = { 1, 2, 3, 4 }, y[4] = { 5, 5, 5, 5 };
    cr_model *m = NULL;
    cr_table *t = make_table(cx, x, 4, 1, y, NULL);
    assert_fails_with(cx, try_fit(cx, "bayes-linear", t, "target=y", &m), CR_ENUMERIC, "no noise");
    assert_fails_with(cx, try_fit(cx, "bayes-linear", t, "target=y optimize=none", &m), CR_ENUMERIC,
                      "no noise");
    m = fit(cx, "bayes-linear", t,
            "target=y optimize=none noise=0.01 alpha=1"); /* as the hint says */
    cr_model_free(cx, m);
    cr_table_free(cx, t);

    /* whatever rounding makes of it: a warning without noise, none with the least of it */
    enum { n = 20 };
    double X[n * P], v[n];
    size_t said = 0;
    cr_ctx_set_log(cx, count_noiseless, &said);
    for (uint64_t seed = 0; seed < 40; seed++) {
        draw_regression(seed, n, P, 1, X, v);
        for (size_t i = 0; i < n; i++) {
            if (seed % 2) X[i * P] = floor(10 * X[i * P]);
            v[i] = 3 + 2 * X[i * P] + (seed >= 20 ? (i % 2 ? 1e-5 : -1e-5) : 0);
        }
        m = NULL;
        t = make_table(cx, X, n, P, v, NULL);
        m = fit(cx, "bayes-linear", t, "target=y");
        assert_int_equal(said, seed < 20 ? seed + 1 : 20);
        cr_model_free(cx, m);
        cr_table_free(cx, t);
    }
    t = make_table(cx, x, 1, 1, y, NULL);
    m = NULL;
    assert_fails_with(cx, try_fit(cx, "bayes-linear", t, "target=y intercept_prior=flat", &m),
                      CR_EDATA, "one row");
}

/* --- updates --------------------------------------------------------------------------------- */

static void check_updates(const char *settings)
{
    enum { n = 200, p = 4, parts = 10 };
    static double X[n * p], y[n], w[n];
    cr_ctx       *cx = test_context();
    cr_model     *m = NULL;
    draw_regression(11, n, p, 0.8, X, y);
    for (size_t i = 0; i < n; i++) X[i * p] += 50, w[i] = 0.5 + (double)(i % 4);
    cr_table *all = make_table(cx, X, n, p, y, w);
    cr_model *whole = fit(cx, "bayes-linear", all, settings);
    for (size_t k = 0; k < parts; k++) {
        size_t    at = k * n / parts;
        cr_table *t = make_table(cx, X + at * p, n / parts, p, y + at, w + at);
        cr_model *next = NULL;
        if (m)
            assert_ok(cx, cr_update(cx, m, t, &next));
        else
            next = fit(cx, "bayes-linear", t, settings);
        cr_model_free(cx, m);
        m = next;
    }
    json_t *a = describe(cx, m), *b = describe(cx, whole);
    bool    intercept = strstr(settings, "intercept=false") == NULL;
    for (size_t j = !intercept; j <= p; j++) {
        assert_close(coefficient(a, j, "value"), coefficient(b, j, "value"), 1e-10);
        assert_close(coefficient(a, j, "sd"), coefficient(b, j, "sd"), 1e-10);
    }
    assert_close(evidence_of(m), evidence_of(whole), 1e-10);
    assert_close(statistic(a, "effective_parameters"), statistic(b, "effective_parameters"), 1e-10);
    assert_int_equal(cr_model_get_report(m)->rows, n);
    cr_model_free(cx, m);
    test_context_free(cx);
}

TEST(ten_updates_are_one_fit)
{
    check_updates("target=y features=x* optimize=none alpha=0.7 noise=0.4 scale=none");
    check_updates("target=y features=x*");
    check_updates("target=y weights=w");
    check_updates("target=y weights=w optimize=fixed-point intercept_prior=centre tol=1e-15");
    check_updates("target=y features=x* optimize=fixed-point tol=1e-15");
    check_updates("target=y features=x* intercept=false prior=nig");
    check_updates("target=y weights=w prior=nig intercept_prior=flat");
}

/* --- simulation ------------------------------------------------------------------------------ */

/* Data sets drawn from the model, 20 new rows each: how many of these, and of the coefficients, lie in
 * their intervals of mass 0.95.  Standard errors over data sets are below 0.005. */
typedef struct shares {
    double rows, coefficients;
} shares;

static shares coverage_of(const char *settings, size_t n, size_t p, size_t runs, uint64_t seed)
{
    enum { TESTS = 20, MOST = 60 * 10 };
    double  X[MOST], y[60], T[TESTS * 10], v[TESTS], b[10];
    cr_ctx *cx = test_context();
    shares  inside = { 0 };
    for (uint64_t run = 0; run < runs; run++) {
        cr_rng r = cr_rng_stream(seed, run);
        draw_normals(&r, b, p);
        draw_normals(&r, X, n * p);
        draw_normals(&r, T, TESTS * p);
        for (size_t i = 0; i < n + TESTS; i++) {
            double *at = i < n ? &y[i] : &v[i - n], *x = i < n ? X + i * p : T + (i - n) * p;
            *at = 3 + cr_rng_normal(&r);
            for (size_t j = 0; j < p; j++) *at += b[j] * x[j];
        }
        cr_table     *train = make_table(cx, X, n, p, y, NULL);
        cr_table     *test = make_table(cx, T, TESTS, p, NULL, NULL);
        cr_model     *m = fit(cx, "bayes-linear", train, settings);
        json_t       *d = describe(cx, m);
        cr_prediction q = predict(cx, m, test);
        for (size_t i = 0; i < TESTS; i++) {
            double sd, lower, upper;
            cr_prediction_interval(cx, &q, i, 0.95, &sd, &lower, &upper);
            inside.rows += (v[i] >= lower && v[i] <= upper) / (double)(TESTS * runs);
        }
        for (size_t j = 0; j < p; j++)
            inside.coefficients +=
                (b[j] >= coefficient(d, j + 1, "lower") && b[j] <= coefficient(d, j + 1, "upper")) /
                (double)(p * runs);
    }
    test_context_free(cx);
    return inside;
}

static void assert_honest(double share)
{
    if (!(share >= 0.92 && share <= 0.98)) fail_msg("%g of the intervals hold", share);
}

TEST(coverage)
{
    const size_t sizes[][2] = { { 3, 1 }, { 4, 2 }, { 6, 2 }, { 10, 3 }, { 20, 10 }, { 30, 3 } };
    for (size_t k = 0; k < 6; k++) {
        shares s = coverage_of("target=y", sizes[k][0], sizes[k][1], 1000, k);
        assert_honest(s.rows);
        assert_honest(s.coefficients);
    }
    assert_honest(coverage_of("target=y optimize=fixed-point", 60, 5, 400, 7).rows);
    assert_honest(coverage_of("target=y prior=nig", 60, 5, 400, 8).rows);
}

/* --- reference ------------------------------------------------------------------------------- */

/* Compares coefficients of the standardised columns: value and sd times the population sd.  spread
 * is the sd over the scale of the posterior. */
static void check_coefficients(const json_t *d, const cr_table *t, const json_t *names,
                               const json_t *mean, const json_t *scale, double spread,
                               double tolerance)
{
    for (size_t j = 0; j < json_array_size(names); j++) {
        const char      *name = json_string_value(json_array_get(names, j));
        const cr_column *c = cr_table_find(t, name);
        size_t           n = cr_table_rows(t);
        long double      centre = 0, square = 0;
        for (size_t i = 0; i < n; i++) centre += c->values[i * c->stride] / (long double)n;
        for (size_t i = 0; i < n; i++) square += powl(c->values[i * c->stride] - centre, 2);
        double unit = (double)sqrtl(square / (long double)n);
        assert_relative(unit * parameter(d, name, "value"), element(mean, j), tolerance);
        assert_relative(unit * parameter(d, name, "sd"), spread * element(scale, j), tolerance);
    }
}

static void check_evidence_case(cr_ctx *cx, const json_t *item, const json_t *expected)
{
    char      base[512], settings[700];
    json_t   *names = json_object_get(json_object_get(item, "data"), "features");
    cr_table *t = reference_table(cx, item, base, sizeof base);
    snprintf(settings, sizeof settings, "%s optimize=fixed-point intercept_prior=centre", base);
    cr_model     *m = fit(cx, "bayes-linear", t, settings);
    json_t       *d = describe(cx, m), *first3 = json_object_get(expected, "predictive_first3");
    cr_prediction q = predict(cx, m, t);
    assert_relative(statistic(d, "alpha"), number_of(expected, "alpha_prior_precision"), 1e-5);
    assert_relative(statistic(d, "beta"), number_of(expected, "beta_noise_precision"), 1e-5);
    assert_relative(statistic(d, "effective_parameters"),
                    number_of(expected, "gamma_effective_parameters"), 1e-5);
    assert_true(fabs(evidence_of(m) - number_of(expected, "log_evidence")) < 1e-6);
    check_coefficients(d, t, names, json_object_get(expected, "posterior_mean"),
                       json_object_get(expected, "posterior_sd"), 1, 1e-5);
    for (size_t i = 0; i < 3; i++) {
        assert_relative(q.mean[i], element(json_object_get(first3, "mean_uncentred"), i), 1e-5);
        assert_relative(q.scale[i], element(json_object_get(first3, "sd_incl_noise"), i), 1e-5);
    }
    cr_model_free(cx, m);
    snprintf(settings, sizeof settings, "%s optimize=none alpha=1 intercept_prior=centre",
             base); /* noise: the variance */
    m = fit(cx, "bayes-linear", t, settings);
    assert_relative(evidence_of(m), number_of(expected, "log_evidence_at_alpha1_beta_1_over_var"),
                    1e-10);
}

static void check_nig_case(cr_ctx *cx, const json_t *item, const json_t *expected)
{
    char      base[512], settings[700];
    json_t   *names = json_object_get(json_object_get(item, "data"), "features");
    cr_table *t = reference_table(cx, item, base, sizeof base);
    snprintf(settings, sizeof settings,
             "%s prior=nig prior_variance=10 shape=1 rate=1 intercept_prior=centre", base);
    cr_model     *m = fit(cx, "bayes-linear", t, settings);
    json_t       *d = describe(cx, m);
    cr_prediction q = predict(cx, m, t);
    assert_relative(statistic(d, "a_n"), number_of(expected, "a_n"), 1e-9);
    assert_relative(statistic(d, "b_n"), number_of(expected, "b_n"), 1e-9);
    assert_relative(evidence_of(m), number_of(expected, "log_marginal_likelihood"), 1e-9);
    assert_relative(q.dof[0], number_of(expected, "marginal_t_dof"), 1e-12);
    check_coefficients(d, t, names, json_object_get(expected, "mean"),
                       json_object_get(expected, "marginal_t_scale"),
                       sqrt(q.dof[0] / (q.dof[0] - 2)), 1e-9);
}

TEST(reference)
{
    json_t *cases = reference_cases(cx, "bayes_linear"), *item;
    size_t  i, evidence = 0, nig = 0;
    json_array_foreach(cases, i, item)
    {
        json_t *expected = json_object_get(item, "expected");
        if (json_object_get(expected, "a_n"))
            nig++, check_nig_case(cx, item, expected);
        else
            evidence++, check_evidence_case(cx, item, expected);
    }
    assert_true(evidence >= 3 && nig >= 3);
}
