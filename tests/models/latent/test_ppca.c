/* test_ppca.c -- probabilistic principal components against stored references, dense normal densities, the closed form
 * found again by EM, and marginal densities of rows that miss cells. */
#include "../fixture.h"

#include "models/core/parts.h"

enum { N = 60, P = 4 };

static cr_table *draw(cr_ctx *cx, uint64_t seed, double *X)
{
    cr_rng r = cr_rng_stream(seed, 3);
    for (size_t i = 0; i < N; i++) {
        double a = cr_rng_normal(&r);
        for (size_t j = 0; j < P; j++)
            X[i * P + j] = 10 + ((double)j - 1) * a + 0.4 * cr_rng_normal(&r);
    }
    return make_table(cx, X, N, P, NULL, NULL);
}

/* The distribution of a model in the units of the data: mean [P] and covariance [P x P], from what describe says. */
static void distribution(cr_ctx *cx, const cr_model *m, const double *X, bool standard,
                         double *mean, double *S)
{
    json_t *d = describe(cx, m), *list = json_object_get(d, "parameters");
    size_t  q = (size_t)statistic(d, "components");
    double  sd[P];
    for (size_t j = 0; j < P; j++) {
        mean[j] = sd[j] = 0;
        for (size_t i = 0; i < N; i++) mean[j] += X[i * P + j] / N;
        for (size_t i = 0; i < N; i++) sd[j] += pow(X[i * P + j] - mean[j], 2) / N;
        sd[j] = standard ? sqrt(sd[j]) : 1;
    }
    for (size_t j = 0; j < P; j++)
        for (size_t k = 0; k < P; k++) {
            double sum = j == k ? statistic(d, "noise_variance") : 0;
            for (size_t a = 0; a < q; a++)
                sum += number_of(json_array_get(list, a * P + j), "value") *
                       number_of(json_array_get(list, a * P + k), "value");
            S[j * P + k] = sd[j] * sd[k] * sum;
        }
}

/* log N(x; mean, S) of the cells that are there. */
static double log_normal(const double *x, const double *mean, const double *S)
{
    long double A[P * P], b[P], square = 0, logdet = 0;
    double      e[P];
    size_t      at[P], n = 0;
    for (size_t j = 0; j < P; j++)
        if (!isnan(x[j])) at[n] = j, e[n++] = x[j] - mean[j];
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++) A[j * n + k] = S[at[j] * P + at[k]];
    for (size_t k = 0; k < n; k++) { /* elimination without exchanges: S is positive definite */
        b[k] = e[k];
        for (size_t j = 0; j < k; j++) b[k] -= A[k * n + j] * b[j];
        for (size_t i = k + 1; i < n; i++) {
            A[i * n + k] /= A[k * n + k];
            for (size_t j = k + 1; j < n; j++) A[i * n + j] -= A[i * n + k] * A[k * n + j];
        }
        logdet += logl(A[k * n + k]);
        square += b[k] * b[k] / A[k * n + k];
    }
    return (double)(-0.5L * ((long double)n * logl(2 * acosl(-1)) + logdet + square));
}

TEST(references)
{
    json_t *cases = reference_cases(cx, "pca"), *item, *one;
    size_t  i, compared = 0;
    json_array_foreach(cases, i, item)
    {
        json_t     *expected = json_object_get(json_object_get(item, "expected"), "ppca");
        json_t     *data = json_object_get(item, "data");
        const char *drop = json_string_value(json_object_get(data, "drop")), *q;
        char        settings[256], path[256];
        if (strcmp(json_string_value(json_object_get(item, "preprocess")), "none") != 0) continue;
        snprintf(path, sizeof path, "classic/%s", json_string_value(json_object_get(data, "file")));
        cr_table *t = read_table(cx, test_data(path));
        json_object_foreach(expected, q, one)
        {
            snprintf(settings, sizeof settings, "features=!%s scale=none components=%s", drop, q);
            cr_model *m = fit(cx, "ppca", t, settings);
            json_t   *d = describe(cx, m);
            assert_relative(statistic(d, "noise_variance"), number_of(one, "sigma2"), 1e-8);
            assert_relative(cr_model_get_report(m)->log_likelihood, number_of(one, "loglik_total"),
                            1e-8);
            assert_relative(statistic(d, "bic"), number_of(one, "bic_-2ll+k_ln_n"), 1e-8);
            compared++;
        }
    }
    assert_true(compared >= 3);
}

/* The densities of rows are those of the normal distribution that describe tells, and add up to the likelihood; the
 * coordinates are the means of z given x. */
static void check_densities(cr_ctx *cx, const char *settings, bool standard)
{
    double        X[N * P], mean[P], S[P * P], sum = 0;
    cr_table     *t = draw(cx, 4, X);
    cr_model     *m = fit(cx, "ppca", t, settings);
    cr_prediction p = predict(cx, m, t);
    distribution(cx, m, X, standard, mean, S);
    for (size_t i = 0; i < N; i++) {
        assert_close(p.log_density[i], log_normal(X + i * P, mean, S), 1e-9);
        sum += p.log_density[i];
    }
    assert_relative(cr_model_get_report(m)->log_likelihood, sum, 1e-10);
}

TEST(densities) { check_densities(cx, "components=2 scale=none", false); }
TEST(densities_of_scaled_columns) { check_densities(cx, "components=2", true); }

/* z = W S^-1 (x - mean), by its definition. */
TEST(coordinates)
{
    double        X[N * P], mean[P], S[P * P];
    cr_table     *t = draw(cx, 6, X);
    cr_model     *m = fit(cx, "ppca", t, "components=1 scale=none");
    cr_prediction p = predict(cx, m, t);
    json_t       *list = json_object_get(describe(cx, m), "parameters");
    distribution(cx, m, X, false, mean, S);
    for (size_t i = 0; i < N; i++) {
        long double A[P * P], b[P], z = 0;
        for (size_t j = 0; j < P * P; j++) A[j] = S[j];
        for (size_t j = 0; j < P; j++) b[j] = X[i * P + j] - mean[j];
        solve_dense(P, A, b, 1);
        for (size_t j = 0; j < P; j++) z += number_of(json_array_get(list, j), "value") * b[j];
        assert_close(p.vector[i], (double)z, 1e-9);
    }
}

/* --components bic takes the number whose model has the lowest BIC. */
TEST(number_by_bic)
{
    double    X[N * P], lowest = INFINITY;
    size_t    best = 0;
    cr_table *t = draw(cx, 7, X);
    for (size_t q = 1; q < P; q++) {
        char settings[32];
        snprintf(settings, sizeof settings, "components=%zu", q);
        double bic = statistic(describe(cx, fit(cx, "ppca", t, settings)), "bic");
        if (bic < lowest) lowest = bic, best = q;
    }
    json_t *d = describe(cx, fit(cx, "ppca", t, "components=bic"));
    assert_true(statistic(d, "components") == (double)best);
    assert_close(statistic(d, "bic"), lowest, 1e-9);
}

/* --- missing cells ---------------------------------------------------------------------------- */

/* A row that misses everything says nothing: EM over the others is the closed form. */
TEST(em_is_the_closed_form)
{
    double    X[(N + 1) * P];
    cr_table *t = draw(cx, 8, X);
    for (size_t j = 0; j < P; j++) X[N * P + j] = NAN;
    cr_table *gaps = make_table(cx, X, N + 1, P, NULL, NULL);
    for (int standard = 0; standard < 2; standard++) {
        const char *settings = standard ? "components=2 tol=0" : "components=2 tol=0 scale=none";
        cr_model   *a = fit(cx, "ppca", t, settings), *b = fit(cx, "ppca", gaps, settings);
        json_t     *c = describe(cx, a), *d = describe(cx, b);
        assert_relative(cr_model_get_report(b)->log_likelihood,
                        cr_model_get_report(a)->log_likelihood, 1e-9);
        assert_relative(statistic(d, "noise_variance"), statistic(c, "noise_variance"), 1e-6);
        for (size_t j = 0; j < 2 * P; j++)
            assert_close(number_of(json_array_get(json_object_get(d, "parameters"), j), "value"),
                         number_of(json_array_get(json_object_get(c, "parameters"), j), "value"),
                         1e-5);
    }
}

/* With a fifth of the cells missing: the likelihood is that of the marginal densities, never falls with more steps,
 * and at the end is at least that of the truth. */
TEST(gaps)
{
    double    X[N * P], mean[P] = { 10, 10, 10, 10 }, S[P * P], before = -INFINITY, truth = 0;
    cr_rng    r = cr_rng_stream(12, 0);
    cr_model *m = NULL;
    draw(cx, 10, X);
    for (size_t i = 0; i < N * P; i++)
        if (cr_rng_uniform(&r) < 0.2) X[i] = NAN;
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    for (size_t steps = 1; steps <= 64; steps *= 2) {
        char settings[64];
        snprintf(settings, sizeof settings, "components=1 scale=none max_iter=%zu", steps);
        m = fit(cx, "ppca", t, settings);
        assert_true(cr_model_get_report(m)->log_likelihood >= before - 1e-9);
        before = cr_model_get_report(m)->log_likelihood;
    }
    cr_prediction p = predict(cx, m, t);
    double        sum = 0;
    for (size_t i = 0; i < N; i++) sum += p.log_density[i];
    assert_relative(sum, before, 1e-9);
    for (size_t j = 0; j < P; j++)
        for (size_t k = 0; k < P; k++)
            S[j * P + k] = ((double)j - 1) * ((double)k - 1) + (j == k ? 0.16 : 0);
    for (size_t i = 0; i < N; i++) truth += log_normal(X + i * P, mean, S);
    assert_true(before > truth && before < truth + 20);
}

/* A model of whole rows answers for rows that miss cells by the marginal density. */
TEST(rows_with_gaps)
{
    double    X[N * P], mean[P], S[P * P];
    cr_table *t = draw(cx, 14, X);
    cr_model *m = fit(cx, "ppca", t, "components=2");
    distribution(cx, m, X, true, mean, S);
    double        asked[] = { 9, NAN, 11, NAN, NAN, 8, 9, 10, NAN, NAN, NAN, NAN };
    cr_table     *gaps = make_table(cx, asked, 3, P, NULL, NULL);
    cr_prediction p = predict(cx, m, gaps);
    for (size_t i = 0; i < 3; i++)
        assert_close(p.log_density[i], log_normal(asked + i * P, mean, S), 1e-9);
    assert_true(p.vector[4] == 0 && p.log_density[2] == 0); /* nothing seen: the prior */
}

/* --- corners ---------------------------------------------------------------------------------- */

TEST(corners)
{
    double    X[N * P];
    cr_model *m = NULL;
    draw(cx, 16, X);
    for (size_t i = 0; i < N; i++) X[i * P + 1] = 2 * X[i * P], X[i * P + 2] = 3, X[i * P + 3] = 1;
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "ppca", t, "components=1 scale=none", &m), CR_ENUMERIC,
                      "the rows lie in 1 dimension: there is no noise left");
    assert_fails_with(cx, try_fit(cx, "ppca", t, "features=x1", &m), CR_EDATA,
                      "needs at least two columns");
    for (size_t i = 0; i < N; i++) X[i * P + 3] = NAN;
    t = make_table(cx, X, N, P, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "ppca", t, "", &m), CR_EDATA,
                      "every cell of 'x4' is missing");
    t = table_of_text(cx, "t.csv", "a,b,c,g\n1,2,3,u\n2,1,4,v\n4,4,1,u\n");
    assert_fails_with(cx, try_fit(cx, "ppca", t, "", &m), CR_EDATA,
                      "column 'g' contains text, but ppca describes numbers");
}

/* Draws have the mean and the covariance of the distribution. */
TEST(draws)
{
    enum { COUNT = 20000 };
    double    X[N * P], mean[P], S[P * P];
    cr_table *t = draw(cx, 18, X);
    cr_model *m = fit(cx, "ppca", t, "components=2");
    double   *out = cr_alloc(cx, COUNT * P, sizeof *out);
    distribution(cx, m, X, true, mean, S);
    assert_ok(cx, cr_sample(cx, m, COUNT, 7, out));
    for (size_t j = 0; j < P; j++)
        for (size_t k = 0; k < P; k++) {
            double sum = 0;
            for (size_t i = 0; i < COUNT; i++)
                sum += (out[i * P + j] - mean[j]) * (out[i * P + k] - mean[k]) / COUNT;
            assert_close(sum, S[j * P + k], 0.05 * sqrt(S[j * P + j] * S[k * P + k]));
        }
    cr_free(cx, out, COUNT * P, sizeof *out);
}
