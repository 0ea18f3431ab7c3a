/* test_fa_errors.c -- standard errors of factor analysis: against second derivatives of the likelihood where those are
 * exact, and against how much the numbers vary from sample to sample. */
#include "fa_fixture.h"

/* --- by second derivatives -------------------------------------------------------------------- */

enum { T = 3, M = 2 * T }; /* one factor of three columns fits their covariance exactly */

/* log likelihood per row of covariance C under loadings and uniquenesses x [M], by the inverse of a 3 x 3 matrix. */
static long double row_likelihood(const double *C, const long double *x)
{
    long double S[T][T], cofactor[T][T], det = 0, trace = 0;
    for (size_t i = 0; i < T; i++)
        for (size_t j = 0; j < T; j++) S[i][j] = x[i] * x[j] + (i == j ? x[T + i] : 0);
    for (size_t i = 0; i < T; i++)
        for (size_t j = 0; j < T; j++) {
            size_t a = (i + 1) % T, b = (i + 2) % T, c = (j + 1) % T, d = (j + 2) % T;
            cofactor[i][j] = S[a][c] * S[b][d] - S[a][d] * S[b][c];
        }
    for (size_t j = 0; j < T; j++) det += S[0][j] * cofactor[0][j];
    for (size_t i = 0; i < T; i++)
        for (size_t j = 0; j < T; j++) trace += C[i * T + j] * cofactor[i][j] / det;
    return -0.5L * (logl(det) + trace);
}

/* Observed and expected information are one where the model fits exactly: the inverse of minus the Hessian. */
TEST(hessian)
{
    enum { N = 90 };
    double            X[N * T], mean[T], sd[T], C[T * T] = { 0 };
    long double       x[M], H[M * M], I[M * M] = { 0 };
    const long double step = 1e-4L;
    char              name[32];
    cr_rng            r = cr_rng_stream(51, 0);
    for (size_t i = 0; i < N; i++) {
        double z = cr_rng_normal(&r);
        for (size_t j = 0; j < T; j++)
            X[i * T + j] = (1 + 0.5 * (double)j) * z + (0.6 + 0.4 * (double)j) * cr_rng_normal(&r);
    }
    json_t *d =
        describe(cx, fit(cx, "fa", make_table(cx, X, N, T, NULL, NULL), "components=1 scale=none"));
    measure_columns(X, N, T, mean, sd);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < T * T; j++)
            C[j] += (X[i * T + j / T] - mean[j / T]) * (X[i * T + j % T] - mean[j % T]) / N;
    for (size_t j = 0; j < M; j++) {
        snprintf(name, sizeof name, j < T ? "z1.x%zu" : "uniqueness.x%zu", j % T + 1);
        x[j] = parameter(d, name, "value");
    }
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < M; j++) {
            long double sum = 0;
            for (int k = 0; k < 4; k++) {
                long double y[M];
                memcpy(y, x, sizeof y);
                y[i] += k & 1 ? step : -step, y[j] += k & 2 ? step : -step;
                sum += (k == 0 || k == 3 ? 1 : -1) * row_likelihood(C, y);
            }
            H[i * M + j] = -(double)N * sum / (4 * step * step);
            I[i * M + j] = i == j;
        }
    solve_dense(M, H, I, M);
    for (size_t j = 0; j < M; j++) {
        snprintf(name, sizeof name, j < T ? "z1.x%zu" : "uniqueness.x%zu", j % T + 1);
        assert_relative(parameter(d, name, "sd"), (double)sqrtl(I[j * M + j]), 1e-4);
    }
}

/* --- from sample to sample -------------------------------------------------------------------- */

enum { ROWS = 500, NUMBERS = 19 };

/* The parameters and, of promax, the correlation of the factors: values and sds. */
static size_t list_numbers(const json_t *d, double *value, double *sd)
{
    json_t *item, *list = json_object_get(d, "factor_correlations");
    size_t  i, n = 0;
    json_array_foreach(json_object_get(d, "parameters"), i, item)
    {
        value[n] = number_of(item, "value");
        sd[n++] = number_of(item, "sd");
    }
    double signs[] = { value[0] > 0 ? 1 : -1, value[P + 4] > 0 ? 1 : -1 };
    for (i = 0; i < 2 * P; i++) value[i] *= signs[i / P]; /* the same in all samples */
    if (!list) return n;
    value[n] = signs[0] * signs[1] * number_of(json_array_get(list, 0), "correlation");
    sd[n++] = number_of(json_array_get(list, 0), "sd");
    return n;
}

static void check_spread(cr_ctx *cx, const char *settings, double missing)
{
    static double X[ROWS * P];
    size_t        samples = simulation_size(60, 300), n = 0;
    double        sum[NUMBERS] = { 0 }, square[NUMBERS] = { 0 }, told[NUMBERS] = { 0 };
    for (size_t k = 0; k < samples; k++) {
        double value[NUMBERS], sd[NUMBERS];
        cr_rng r = cr_rng_stream(k, 5);
        draw_factors(1000 + k, ROWS, 10, X);
        for (size_t i = 0; i < ROWS * P && missing > 0; i++)
            if (cr_rng_uniform(&r) < missing) X[i] = NAN;
        cr_table *t = make_table(cx, X, ROWS, P, NULL, NULL);
        cr_model *m = fit(cx, "fa", t, settings);
        n = list_numbers(describe(cx, m), value, sd);
        for (size_t i = 0; i < n; i++) {
            sum[i] += value[i] / (double)samples;
            square[i] += value[i] * value[i] / (double)samples;
            told[i] += sd[i] * sd[i] / (double)samples;
        }
        cr_model_free(cx, m);
        cr_table_free(cx, t);
    }
    assert_true(n >= 18);
    for (size_t i = 0; i < n; i++) {
        double sd = sqrt(square[i] - sum[i] * sum[i]);
        assert_relative(sqrt(told[i]), sd, 0.05 + 4.5 / sqrt(2 * (double)samples));
    }
}

TEST(spread_of_principal_axes)
{
    check_spread(cx, "components=2 restarts=1 rotation=none scale=none", 0);
}
TEST(spread_of_varimax) { check_spread(cx, "components=2 restarts=1", 0); }
TEST(spread_of_varimax_in_units) { check_spread(cx, "components=2 restarts=1 scale=none", 0); }
TEST(spread_of_promax) { check_spread(cx, "components=2 restarts=1 rotation=promax", 0); }
TEST(spread_of_promax_in_units)
{
    check_spread(cx, "components=2 restarts=1 rotation=promax scale=none", 0);
}
TEST(spread_with_gaps) { check_spread(cx, "components=2 restarts=1 tol=1e-7", 0.15); }
