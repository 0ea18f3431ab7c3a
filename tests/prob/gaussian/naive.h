/* naive.h -- the algebra again, by inverses and determinants in long double: the plain formulas
 * that the tests compare with. */
#ifndef CREDENCE_TEST_NAIVE_H
#define CREDENCE_TEST_NAIVE_H

#include "support.h"
#include "base/rng.h"
#include "prob/gaussian/gaussian.h"

typedef long double real;

enum { MOST = 12 };

typedef struct naive { /* mean and covariance of up to MOST variables */
    size_t d;
    real   m[MOST], S[MOST][MOST];
} naive;

/* Inverse by Gauss-Jordan with pivoting; the determinant is returned. */
static inline real invert(size_t n, real A[MOST][MOST], real out[MOST][MOST])
{
    real W[MOST][2 * MOST], det = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) W[i][j] = A[i][j], W[i][n + j] = i == j;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k; i < n; i++)
            if (fabsl(W[i][k]) > fabsl(W[best][k])) best = i;
        for (size_t j = 0; j < 2 * n; j++) {
            real t = W[k][j];
            W[k][j] = W[best][j], W[best][j] = t;
        }
        det *= best == k ? W[k][k] : -W[k][k];
        real pivot = W[k][k];
        for (size_t j = 0; j < 2 * n; j++) W[k][j] /= pivot;
        for (size_t i = 0; i < n; i++) {
            real f = W[i][k];
            for (size_t j = 0; i != k && j < 2 * n; j++) W[i][j] -= f * W[k][j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) out[i][j] = W[i][n + j];
    return det;
}

static inline naive naive_of(const cr_gaussian *g)
{
    naive n = { .d = g->d };
    for (size_t i = 0; i < g->d; i++) {
        n.m[i] = g->mean[i];
        for (size_t j = 0; j < g->d; j++) n.S[i][j] = g->covariance[i * g->d + j];
    }
    return n;
}

static inline real naive_logpdf(naive *n, const double *x)
{
    real K[MOST][MOST], det = invert(n->d, n->S, K), sum = 0;
    for (size_t i = 0; i < n->d; i++)
        for (size_t j = 0; j < n->d; j++) sum += (x[i] - n->m[i]) * K[i][j] * (x[j] - n->m[j]);
    return -0.5L *
           ((real)n->d * logl(2 * 3.14159265358979323846264338327950288L) + logl(det) + sum);
}

/* The distribution of `rest` when `seen` has these values. */
static inline naive naive_condition(naive *n, const size_t *seen, size_t k, const double *values,
                                    const size_t *rest)
{
    real  B[MOST][MOST], K[MOST][MOST];
    naive c = { .d = n->d - k };
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) B[i][j] = n->S[seen[i]][seen[j]];
    invert(k, B, K);
    for (size_t a = 0; a < c.d; a++) {
        c.m[a] = n->m[rest[a]];
        for (size_t b = 0; b < c.d; b++) c.S[a][b] = n->S[rest[a]][rest[b]];
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) {
                c.m[a] += n->S[rest[a]][seen[i]] * K[i][j] * (values[j] - n->m[seen[j]]);
                for (size_t b = 0; b < c.d; b++)
                    c.S[a][b] -= n->S[rest[a]][seen[i]] * K[i][j] * n->S[seen[j]][rest[b]];
            }
    }
    return c;
}

/* --- random ones ----------------------------------------------------------------------------- */

/* Covariance Q Q' + ridge I with Q [d x rank] normal, variables on scales from 1/4 to 4. */
static inline cr_gaussian *random_gaussian(cr_ctx *cx, cr_rng *r, size_t d, size_t rank,
                                           double ridge)
{
    double       m[MOST], S[MOST * MOST], Q[MOST * MOST], scale[MOST];
    cr_gaussian *g = NULL;
    for (size_t i = 0; i < d; i++) {
        m[i] = 3 * cr_rng_normal(r);
        scale[i] = exp2(4 * cr_rng_uniform(r) - 2);
        for (size_t j = 0; j < rank; j++) Q[i * rank + j] = cr_rng_normal(r);
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = i == j ? ridge : 0;
            for (size_t k = 0; k < rank; k++) sum += Q[i * rank + k] * Q[j * rank + k];
            S[i * d + j] = sum * scale[i] * scale[j];
        }
    assert_ok(cx, cr_gaussian_new(cx, m, cr_cmat_of(S, d, d), &g));
    return g;
}

#define assert_moments(g, n, tolerance) check_moments((g), (n), (tolerance), __LINE__)
static inline void check_moments(const cr_gaussian *g, const naive *n, double tolerance, int line)
{
    if (g->d != n->d) fail_msg("line %d: %zu variables, not %zu", line, g->d, n->d);
    for (size_t i = 0; i < g->d; i++) {
        double sd = (double)sqrtl(fabsl(n->S[i][i])) + 1e-3;
        if (!(fabs(g->mean[i] - (double)n->m[i]) <= tolerance * (sd + fabs((double)n->m[i]))))
            fail_msg("line %d: mean %zu is %.17g, not %.17Lg", line, i, g->mean[i], n->m[i]);
        for (size_t j = 0; j < g->d; j++) {
            double other = (double)sqrtl(fabsl(n->S[j][j])) + 1e-3,
                   got = g->covariance[i * g->d + j];
            if (!(fabs(got - (double)n->S[i][j]) <= tolerance * sd * other))
                fail_msg("line %d: covariance %zu, %zu is %.17g, not %.17Lg", line, i, j, got,
                         n->S[i][j]);
            if (got != g->covariance[j * g->d + i]) fail_msg("line %d: not symmetric", line);
        }
    }
}

#define assert_same(a, b, tolerance) check_same((a), (b), (tolerance), __LINE__)
static inline void check_same(const cr_gaussian *a, const cr_gaussian *b, double tolerance,
                              int line)
{
    naive n = naive_of(b);
    check_moments(a, &n, tolerance, line);
}

#endif
