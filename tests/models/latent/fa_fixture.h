/* fa_fixture.h -- what the tests of factor analysis share: rows drawn from known factors, and the covariance that a
 * model describes. */
#ifndef CREDENCE_TEST_MODELS_LATENT_FA_FIXTURE_H
#define CREDENCE_TEST_MODELS_LATENT_FA_FIXTURE_H

#include "../fixture.h"

enum { P = 6, Q = 2 };

/* Two factors that share no column, and uniquenesses of all sizes. */
static const double truth_W[Q * P] = { 1.6, -1.2, 0.9, 0, 0.2, 0, 0, 0.3, 0, 0.5, 1.2, -0.7 };
static const double truth_psi[P] = { 0.5, 0.8, 1.1, 0.4, 1.7, 0.9 };

static inline void draw_factors(uint64_t seed, size_t n, double offset, double *X)
{
    cr_rng r = cr_rng_stream(seed, 41);
    for (size_t i = 0; i < n; i++) {
        double z[Q] = { cr_rng_normal(&r), cr_rng_normal(&r) };
        for (size_t j = 0; j < P; j++) {
            X[i * P + j] = offset + (double)j + sqrt(truth_psi[j]) * cr_rng_normal(&r);
            for (size_t a = 0; a < Q; a++) X[i * P + j] += z[a] * truth_W[a * P + j];
        }
    }
}

/* Of n rows of p columns, the cells that are there: mean and sd (divisor their number). */
static inline void measure_columns(const double *X, size_t n, size_t p, double *mean, double *sd)
{
    for (size_t j = 0; j < p; j++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < n; i++) sum += X[i * p + j] / (double)n;
        for (size_t i = 0; i < n; i++) square += pow(X[i * p + j] - sum, 2) / (double)n;
        mean[j] = sum, sd[j] = sqrt(square);
    }
}

/* The covariance [p x p] that a model with parameters d says, by the names of its columns x1 .. xp; columns were divided
 * by `unit`. */
static inline void covariance_of(const json_t *d, size_t p, const double *unit, double *S)
{
    size_t q = (size_t)statistic(d, "components");
    char   name[64];
    double phi[16][16];
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) phi[a][b] = a == b;
    json_t *list = json_object_get(d, "factor_correlations"), *row;
    size_t  k = 0, at = 0;
    for (size_t a = 0; list && a < q; a++)
        for (size_t b = a + 1; b < q; b++) {
            row = json_array_get(list, at++);
            phi[a][b] = phi[b][a] = number_of(row, "correlation");
        }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            snprintf(name, sizeof name, "uniqueness.x%zu", i + 1);
            double sum = i == j ? parameter(d, name, "value") : 0;
            for (k = 0; k < q * q; k++) {
                snprintf(name, sizeof name, "z%zu.x%zu", k / q + 1, i + 1);
                double left = parameter(d, name, "value");
                snprintf(name, sizeof name, "z%zu.x%zu", k % q + 1, j + 1);
                sum += left * phi[k / q][k % q] * parameter(d, name, "value");
            }
            S[i * p + j] = unit[i] * unit[j] * sum;
        }
}

/* log N(x; mean, S) of the cells that are there; p <= 8. */
static inline double log_normal(const double *x, const double *mean, const double *S, size_t p)
{
    long double A[64], b[8], square = 0, logdet = 0;
    double      e[8];
    size_t      at[8], n = 0;
    for (size_t j = 0; j < p; j++)
        if (!isnan(x[j])) at[n] = j, e[n++] = x[j] - mean[j];
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++) A[j * n + k] = S[at[j] * p + at[k]];
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

#endif
