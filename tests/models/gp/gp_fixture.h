/* gp_fixture.h -- a Gaussian process by its definition, in long double and without any merging. */
#ifndef CREDENCE_TEST_MODELS_GP_FIXTURE_H
#define CREDENCE_TEST_MODELS_GP_FIXTURE_H

#include "../fixture.h"

enum { MOST = 40 };

/* v exp(-|x - z|^2 / 2), columns divided by l. */
typedef struct rbf {
    size_t      d;
    long double v, l[4];
} rbf;

static inline long double rbf_value(const rbf *k, const double *x, const double *z)
{
    long double t = 0;
    for (size_t j = 0; j < k->d; j++) {
        long double u = ((long double)x[j] - z[j]) / k->l[j];
        t += u * u;
    }
    return k->v * expl(-t / 2);
}

/* All rows [n] with noise s_i each and the mean function h . b, h [n x q], b by generalised least
 * squares: the log density of y, and mean and variance of f at x with its h. */
typedef struct definition {
    size_t        n, q;
    rbf           k;
    const double *X, *y;
    const double *noise; /* [n] */
    double        H[MOST * 4];
} definition;

static inline void covariance(const definition *g, long double *C)
{
    for (size_t i = 0; i < g->n; i++)
        for (size_t j = 0; j < g->n; j++)
            C[i * g->n + j] =
                rbf_value(&g->k, g->X + i * g->k.d, g->X + j * g->k.d) + (i == j ? g->noise[i] : 0);
}

/* out [n x m] = C^-1 B. */
static inline void solve_covariance(const definition *g, long double *B, size_t m)
{
    static long double C[MOST * MOST];
    covariance(g, C);
    solve_dense(g->n, C, B, m);
}

/* b [q] and, in P [q x q], (H^T C^-1 H)^-1. */
static inline void solve_definition(const definition *g, long double *b, long double *P)
{
    long double S[MOST * 5], A[16];
    size_t      n = g->n, q = g->q;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < q; j++) S[i * (q + 1) + j] = g->H[i * q + j];
        S[i * (q + 1) + q] = g->y[i];
    }
    solve_covariance(g, S, q + 1);
    memset(A, 0, sizeof A);
    for (size_t a = 0; a < q; a++) {
        b[a] = 0;
        for (size_t c = 0; c < q; c++) P[a * q + c] = a == c;
        for (size_t i = 0; i < n; i++) {
            b[a] += g->H[i * q + a] * S[i * (q + 1) + q];
            for (size_t c = 0; c < q; c++) A[a * q + c] += g->H[i * q + a] * S[i * (q + 1) + c];
        }
    }
    if (q == 0) return;
    solve_dense(q, A, P, q);
    long double rhs[4];
    memcpy(rhs, b, sizeof rhs);
    for (size_t a = 0; a < q; a++) {
        b[a] = 0;
        for (size_t c = 0; c < q; c++) b[a] += P[a * q + c] * rhs[c];
    }
}

static inline double log_density(const definition *g)
{
    static long double C[MOST * MOST];
    long double        t[MOST], b[4], P[16], logdet;
    solve_definition(g, b, P);
    covariance(g, C);
    for (size_t i = 0; i < g->n; i++) {
        t[i] = g->y[i];
        for (size_t j = 0; j < g->q; j++) t[i] -= g->H[i * g->q + j] * b[j];
    }
    long double square = quadratic_form(g->n, C, t, &logdet);
    return (double)(-0.5L *
                    (square + logdet + (long double)g->n * logl(2 * 3.14159265358979323846L)));
}

static inline void predict_definition(const definition *g, const double *x, const double *h,
                                      double *out_mean, double *out_variance)
{
    long double b[4], P[16], S[MOST * 6], r[4];
    size_t      n = g->n, q = g->q, m = q + 2;
    solve_definition(g, b, P);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < q; j++) S[i * m + j] = g->H[i * q + j];
        S[i * m + q] = g->y[i];
        for (size_t j = 0; j < q; j++) S[i * m + q] -= g->H[i * q + j] * b[j];
        S[i * m + q + 1] = rbf_value(&g->k, g->X + i * g->k.d, x);
    }
    solve_covariance(g, S, m);
    long double mean = 0, variance = rbf_value(&g->k, x, x);
    for (size_t a = 0; a < q; a++) r[a] = h[a], mean += h[a] * b[a];
    for (size_t i = 0; i < n; i++) {
        long double k = rbf_value(&g->k, g->X + i * g->k.d, x);
        mean += k * S[i * m + q];
        variance -= k * S[i * m + q + 1];
        for (size_t a = 0; a < q; a++) r[a] -= k * S[i * m + a];
    }
    for (size_t a = 0; a < q; a++)
        for (size_t c = 0; c < q; c++) variance += r[a] * P[a * q + c] * r[c];
    *out_mean = (double)mean;
    *out_variance = (double)variance;
}

#endif
