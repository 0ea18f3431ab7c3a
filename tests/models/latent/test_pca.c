/* test_pca.c -- principal components against stored references, kernel-pca with the linear kernel, the errors of
 * eigenvectors by finite differences, scikit-learn's evidence of the number of components. */
#include "../fixture.h"

#include "math/dense/decompose.h"
#include "models/core/parts.h"
#include "models/latent/components.h"

enum { N = 40, P = 4 };

static cr_table *draw(cr_ctx *cx, uint64_t seed, double offset, double *X)
{
    cr_rng r = cr_rng_stream(seed, 7);
    for (size_t i = 0; i < N; i++) {
        double a = cr_rng_normal(&r), b = cr_rng_normal(&r);
        X[i * P] = offset + 3 * a + 0.3 * cr_rng_normal(&r);
        X[i * P + 1] = offset - 2 * a + b + 0.3 * cr_rng_normal(&r);
        X[i * P + 2] = offset + b + 0.5 * cr_rng_normal(&r);
        X[i * P + 3] = offset + 0.2 * cr_rng_normal(&r);
    }
    return make_table(cx, X, N, P, NULL, NULL);
}

/* Number k of the list of parameters. */
static double listed(const json_t *d, size_t k, const char *key)
{
    return number_of(json_array_get(json_object_get(d, "parameters"), k), key);
}

/* Eigenvalues, shares, loadings and scores of real tables, by a singular value decomposition in numpy. */
TEST(references)
{
    json_t *cases = reference_cases(cx, "pca"), *item;
    size_t  i;
    json_array_foreach(cases, i, item)
    {
        json_t *expected = json_object_get(item, "expected");
        json_t *values = json_object_get(expected, "eigenvalues_divisor_n-1");
        json_t *shares = json_object_get(expected, "explained_ratio");
        json_t *loadings =
            json_object_get(expected, "first_two_components_largest_abs_loading_positive");
        json_t     *scores = json_object_get(expected, "scores_first3_rows");
        const char *scaled = json_string_value(json_object_get(item, "preprocess"));
        const char *drop =
            json_string_value(json_object_get(json_object_get(item, "data"), "drop"));
        char settings[256], path[256], name[128];
        snprintf(path, sizeof path, "classic/%s",
                 json_string_value(json_object_get(json_object_get(item, "data"), "file")));
        cr_table *t = read_table(cx, test_data(path));
        snprintf(settings, sizeof settings, "features=%s%s scale=%s components=%zu",
                 drop ? "!" : "*", drop ? drop : "", strcmp(scaled, "none") ? "standard" : "none",
                 json_array_size(values));
        cr_model     *m = fit(cx, "pca", t, settings);
        cr_prediction p = predict(cx, m, t);
        json_t       *d = describe(cx, m);
        for (size_t j = 0; j < json_array_size(values); j++) {
            snprintf(name, sizeof name, "eigenvalue(z%zu)", j + 1);
            assert_relative(statistic(d, name), element(values, j), 1e-8);
            snprintf(name, sizeof name, "share(z%zu)", j + 1);
            assert_relative(statistic(d, name), element(shares, j), 1e-8);
        }
        for (size_t j = 0; j < 2; j++) {
            json_t *v = json_array_get(loadings, j);
            for (size_t k = 0; k < json_array_size(v); k++)
                assert_close(listed(d, j * json_array_size(v) + k, "value"), element(v, k), 1e-7);
            for (size_t row = 0; row < 3; row++)
                assert_close(p.vector[row * p.n_classes + j],
                             element(json_array_get(scores, row), j), 1e-6);
        }
    }
}

/* kernel-pca with the linear kernel, whose eigenvalues are sums of squares. */
TEST(linear_kernel)
{
    double        X[N * P], sign;
    cr_table     *t = draw(cx, 1, 5, X);
    cr_model     *a = fit(cx, "pca", t, "scale=none components=all");
    cr_model     *b = fit(cx, "kernel-pca", t, "scale=none kernel=linear components=0");
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    assert_int_equal(p.n_classes, P);
    for (size_t j = 0; j < P; j++) {
        char name[32];
        snprintf(name, sizeof name, "eigenvalue(z%zu)", j + 1);
        assert_relative(statistic(describe(cx, a), name) * (N - 1),
                        statistic(describe(cx, b), name), 1e-10);
        sign = p.vector[j] * q.vector[j] < 0 ? -1 : 1;
        for (size_t i = 0; i < N; i++)
            assert_close(p.vector[i * P + j], sign * q.vector[i * P + j], 1e-9);
    }
}

/* --- how well they are known ------------------------------------------------------------------ */

/* Component j of the covariance C, or of its correlations: the eigenvalue, and the loadings with the sign of
 * `like`. */
static void decompose(cr_ctx *cx, const double *C, bool correlations, size_t j, const double *like,
                      double *value, double *v)
{
    double R[P * P], w[P], V[P * P], dot = 0;
    for (size_t i = 0; i < P * P; i++)
        R[i] = correlations ? C[i] / sqrt(C[i / P * (P + 1)] * C[i % P * (P + 1)]) : C[i];
    assert_ok(cx, cr_eigen(cx, cr_cmat_of(R, P, P), w, cr_mat_of(V, P, P)));
    *value = w[P - 1 - j];
    for (size_t i = 0; i < P; i++) v[i] = V[i * P + P - 1 - j];
    for (size_t i = 0; i < P && like; i++) dot += v[i] * like[i];
    for (size_t i = 0; i < P && dot < 0; i++) v[i] = -v[i];
}

/* sds by the covariance of a Wishart matrix and derivatives by differences: the delta method as it stands. */
static void check_sds(cr_ctx *cx, bool correlations)
{
    enum { PAIRS = P * (P + 1) / 2 };
    double    X[N * P], mean[P] = { 0 }, C[P * P] = { 0 };
    cr_table *t = draw(cx, 3, 1, X);
    json_t   *d = describe(
          cx, fit(cx, "pca", t, correlations ? "components=all" : "components=all scale=none"));
    for (size_t i = 0; i < N * P; i++) mean[i % P] += X[i] / N;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < P * P; k++)
            C[k] += (X[i * P + k / P] - mean[k / P]) * (X[i * P + k % P] - mean[k % P]) / (N - 1);
    for (size_t j = 0; j < P; j++) {
        double at, v[P], slope[PAIRS][P + 1], variance[P + 1] = { 0 };
        size_t row[PAIRS], col[PAIRS], n = 0;
        char   name[32];
        decompose(cx, C, correlations, j, NULL, &at, v);
        for (size_t a = 0; a < P; a++)
            for (size_t b = 0; b <= a; b++, n++) {
                double step = 1e-5 * sqrt(C[a * (P + 1)] * C[b * (P + 1)]), side[2][P + 1];
                for (int k = 0; k < 2; k++) {
                    double D[P * P];
                    memcpy(D, C, sizeof D);
                    D[a * P + b] += k ? step : -step;
                    if (a != b) D[b * P + a] = D[a * P + b];
                    decompose(cx, D, correlations, j, v, &side[k][P], side[k]);
                }
                for (size_t k = 0; k <= P; k++) slope[n][k] = (side[1][k] - side[0][k]) / 2 / step;
                row[n] = a, col[n] = b;
            }
        for (size_t a = 0; a < PAIRS; a++)
            for (size_t b = 0; b < PAIRS; b++) {
                double c = (C[row[a] * P + row[b]] * C[col[a] * P + col[b]] +
                            C[row[a] * P + col[b]] * C[col[a] * P + row[b]]) /
                           (N - 1);
                for (size_t k = 0; k <= P; k++) variance[k] += slope[a][k] * slope[b][k] * c;
            }
        /* terms are divided by their sds of divisor n, so that eigenvalues have a factor n / (n - 1) */
        double factor = correlations ? (double)N / (N - 1) : 1;
        snprintf(name, sizeof name, "eigenvalue_sd(z%zu)", j + 1);
        assert_relative(statistic(d, name), sqrt(variance[P]) * factor,
                        correlations ? 2.0 / N : 1e-6);
        for (size_t k = 0; k < P; k++)
            assert_relative(listed(d, j * P + k, "sd"), fmin(sqrt(variance[k]), 1),
                            correlations ? 2.0 / N : 1e-6);
    }
}

TEST(sds_of_a_covariance) { check_sds(cx, false); }
TEST(sds_of_correlations) { check_sds(cx, true); }

/* --- how many --------------------------------------------------------------------------------- */

/* scikit-learn 1.2.1, decomposition._pca._assess_dimension, for the four columns of iris. */
TEST(evidence)
{
    const double v[] = { 4.200053427994631, 0.24105294294244275, 0.07768810337596649,
                         0.0236761923536265 },
                 expected[] = { 366.04042795639907, 422.94207329249275, 442.42518007152785 };
    cri_spectrum_of of = { v, 4, 4, 150, 0 };
    for (size_t q = 1; q <= 3; q++)
        assert_relative(cri_components_evidence(&of, q), expected[q - 1], 1e-9);
}

static size_t components(cr_ctx *cx, const cr_table *t, const char *settings)
{
    return (size_t)statistic(describe(cx, fit(cx, "pca", t, settings)), "components");
}

TEST(numbers)
{
    double    X[N * P];
    cr_table *t = draw(cx, 5, 0, X);
    assert_int_equal(components(cx, t, "components=3"), 3);
    assert_int_equal(components(cx, t, "components=all"), P);
    assert_int_equal(components(cx, t, "components=1e-9"), 1);
    assert_int_equal(components(cx, t, "components=0.999999999"), P);
    assert_int_equal(components(cx, t, "components=9"), P); /* with a warning */
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, "pca", t, "components=0", &m), CR_EARG,
                      "--components is '0'");
    assert_fails_with(cx, try_fit(cx, "pca", t, "components=1.5", &m), CR_EARG,
                      "--components is '1.5'");
    assert_fails_with(cx, try_fit(cx, "pca", t, "components=two", &m), CR_EARG,
                      "--components is 'two'");
}

/* Two directions and noise of one size in all: the evidence finds them. */
TEST(chosen_by_evidence)
{
    enum { ROWS = 400, D = 8 };
    double X[ROWS * D];
    cr_rng r = cr_rng_stream(11, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double a = 3 * cr_rng_normal(&r), b = 2 * cr_rng_normal(&r);
        for (size_t j = 0; j < D; j++)
            X[i * D + j] = (j % 2 ? a : b) + (j < 4 ? a : -b) + cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, X, ROWS, D, NULL, NULL);
    assert_int_equal(components(cx, t, "scale=none"), 2);
}

/* --- corners ---------------------------------------------------------------------------------- */

/* A constant column, a repeated one, an offset of 1e9; more columns than rows; rows that are all alike. */
TEST(corners)
{
    double    X[N * P], Y[N * P], few[2 * P], same[3 * P];
    cr_table *t = draw(cx, 9, 0, X), *far = draw(cx, 9, 1e9, Y);
    double    near = statistic(describe(cx, fit(cx, "pca", t, "scale=none")), "total");
    assert_relative(statistic(describe(cx, fit(cx, "pca", far, "scale=none")), "total"), near,
                    1e-6);
    for (size_t i = 0; i < N; i++) X[i * P + 3] = 7, X[i * P + 1] = X[i * P];
    t = make_table(cx, X, N, P, NULL, NULL);
    json_t *d = describe(cx, fit(cx, "pca", t, "components=all"));
    assert_relative(statistic(d, "components"), 2, 0);
    assert_close(listed(d, 3, "value"), 0, 1e-12);
    assert_relative(listed(d, 0, "value"), listed(d, 1, "value"), 1e-9);
    memcpy(few, X, sizeof few);
    t = make_table(cx, few, 2, P, NULL, NULL);
    assert_int_equal(components(cx, t, "components=all scale=none"), 1);
    for (size_t i = 0; i < 3 * P; i++) same[i] = 2;
    t = make_table(cx, same, 3, P, NULL, NULL);
    cr_model     *m = fit(cx, "pca", t, "");
    cr_prediction p = predict(cx, m, t);
    assert_int_equal(p.n_classes, 1);
    assert_true(p.vector[0] == 0 && p.vector[2] == 0);
}

/* All coordinates lead back to the row, and fewer to the nearest point of their plane. */
TEST(back_to_rows)
{
    double        X[N * P], out[N * P], distance[N], left = 0, lost = 0;
    cr_table     *t = draw(cx, 13, 2, X);
    cr_model     *m = fit(cx, "pca", t, "components=all");
    cr_prediction p = predict(cx, m, t);
    assert_ok(cx, cr_reconstruct(cx, m, p.vector, N, out, distance));
    for (size_t i = 0; i < N * P; i++) assert_close(out[i], X[i], 1e-12);
    m = fit(cx, "pca", t, "components=2 scale=none");
    p = predict(cx, m, t);
    assert_ok(cx, cr_reconstruct(cx, m, p.vector, N, out, distance));
    for (size_t i = 0; i < N * P; i++) left += (out[i] - X[i]) * (out[i] - X[i]);
    json_t *d = describe(cx, m);
    lost = statistic(d, "total") * (1 - statistic(d, "explained")) * (N - 1);
    assert_relative(left, lost, 1e-9);
}
