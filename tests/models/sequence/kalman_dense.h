/* kalman_dense.h -- the oracle of the Kalman filter: the joint normal distribution of all rows and states, written out.
 * Every state and every observation is a sum of independent sources: unknown directions of the start, which have a flat
 * prior, and standard normal variables.  With y = m + X d + e, e ~ N(0, S), all answers are those of
 * generalised least squares, in long double. */
#ifndef CREDENCE_TEST_MODELS_SEQUENCE_KALMAN_DENSE_H
#define CREDENCE_TEST_MODELS_SEQUENCE_KALMAN_DENSE_H

#include "../fixture.h"
#include "models/sequence/kalman_system.h"

enum { MOST_SOURCES = 400, MOST_VALUES = 64, MOST_STATES = 8, MOST_UNKNOWN = 12 };

typedef struct affine {
    long double constant, of[MOST_SOURCES];
} affine;

typedef struct dense {
    size_t      sources, unknown;                /* the first `unknown` sources are flat */
    size_t      n;                               /* values observed                      */
    affine      state[MOST_VALUES][MOST_STATES]; /* of each row           */
    affine      value[MOST_VALUES];
    long double y[MOST_VALUES];
    long double weight[MOST_VALUES * MOST_VALUES];   /* S^-1              */
    long double X[MOST_VALUES * MOST_UNKNOWN];       /* [n x unknown]     */
    long double spread[MOST_UNKNOWN * MOST_UNKNOWN]; /* (X' S^-1 X)^-1    */
    long double d[MOST_UNKNOWN];                     /* its estimate      */
    long double rest[MOST_VALUES];                   /* S^-1 (y - m - X d) */
    double      log_likelihood;
} dense;

/* L with L L' = A, of a matrix that may be singular. */
static inline void dense_factor(const double *A, size_t m, long double *L)
{
    memset(L, 0, m * m * sizeof *L);
    for (size_t j = 0; j < m; j++) {
        long double d = A[j * m + j];
        for (size_t k = 0; k < j; k++) d -= L[j * m + k] * L[j * m + k];
        if (d <= 1e-15L * (fabsl((long double)A[j * m + j]) + 1e-30L)) continue;
        L[j * m + j] = sqrtl(d);
        for (size_t i = j + 1; i < m; i++) {
            long double s = A[i * m + j];
            for (size_t k = 0; k < j; k++) s -= L[i * m + k] * L[j * m + k];
            L[i * m + j] = s / L[j * m + j];
        }
    }
}

/* Sources of a covariance into states. */
static inline void dense_add(dense *o, const double *A, size_t m, affine *to)
{
    long double L[MOST_STATES * MOST_STATES];
    dense_factor(A, m, L);
    for (size_t j = 0; j < m; j++) {
        assert_true(o->sources < MOST_SOURCES);
        for (size_t i = 0; i < m; i++) to[i].of[o->sources] = L[i * m + j];
        o->sources++;
    }
}

static inline void dense_start(dense *o, const cri_kalman_system *s, const affine *opt_before,
                               affine *to)
{
    size_t m = s->m;
    double P1[MOST_STATES * MOST_STATES];
    for (size_t i = 0; i < m; i++) {
        bool goes_on = opt_before && s->shared[i];
        to[i] = goes_on ? opt_before[i] : (affine){ .constant = s->start[i] };
        for (size_t j = 0; j < m; j++)
            P1[i * m + j] = goes_on || (opt_before && s->shared[j]) ? 0 : s->P1[i * m + j];
        if (!goes_on && s->diffuse[i]) to[i].of[o->unknown++] = 1;
    }
    assert_true(o->unknown <= MOST_UNKNOWN);
    long double L[MOST_STATES * MOST_STATES];
    dense_factor(P1, m, L);
    for (size_t j = 0; j < m; j++, o->sources++)
        for (size_t i = 0; i < m; i++) to[i].of[o->sources] += L[i * m + j];
}

static inline void dense_observe(dense *o, const cri_kalman_system *s, const cri_kalman_data *data,
                                 size_t t)
{
    for (size_t i = 0; i < s->p; i++) {
        double z[MOST_STATES], y = data->y[t * s->p + i];
        size_t noise = o->sources++;
        if (isnan(y)) continue;
        affine *to = &o->value[o->n];
        *to = (affine){ 0 };
        cri_kalman_loadings(s, data, t, i, z);
        for (size_t j = 0; j < s->m; j++) {
            to->constant += z[j] * o->state[t][j].constant;
            for (size_t k = 0; k < MOST_SOURCES; k++) to->of[k] += z[j] * o->state[t][j].of[k];
        }
        to->of[noise] = sqrtl(s->h[i]);
        o->y[o->n++] = y;
    }
}

static inline long double dense_product(const dense *o, const affine *a, const affine *b)
{
    long double sum = 0;
    for (size_t k = MOST_UNKNOWN; k < o->sources; k++) sum += a->of[k] * b->of[k];
    return sum;
}

/* The joint distribution of all, solved. */
static inline dense *dense_of(cr_ctx *cx, const cri_kalman_system *s, const cri_kalman_data *data)
{
    dense *o = cr_alloc(cx, 1, sizeof *o);
    size_t m = s->m;
    assert_non_null(o);
    o->sources = MOST_UNKNOWN;
    for (size_t k = 0; k < data->series; k++)
        for (size_t t = data->start[k]; t < data->start[k + 1]; t++) {
            if (t == data->start[k]) {
                affine *before = NULL, moved[MOST_STATES];
                if (k > 0) {
                    memcpy(moved, o->state[t - 1], sizeof moved); /* shared states are constant */
                    before = moved;
                }
                dense_start(o, s, before, o->state[t]);
            } else {
                for (size_t i = 0; i < m; i++) {
                    affine *to = &o->state[t][i];
                    *to = (affine){ 0 };
                    for (size_t j = 0; j < m; j++) {
                        to->constant += s->T[i * m + j] * o->state[t - 1][j].constant;
                        for (size_t l = 0; l < MOST_SOURCES; l++)
                            to->of[l] += s->T[i * m + j] * o->state[t - 1][j].of[l];
                    }
                }
                dense_add(o, s->Q, m, o->state[t]);
            }
            dense_observe(o, s, data, t);
        }
    return o;
}

static inline void dense_solve(dense *o)
{
    size_t             n = o->n, u = o->unknown;
    static long double S[MOST_VALUES * MOST_VALUES], e[MOST_VALUES];
    static long double A[MOST_UNKNOWN * MOST_UNKNOWN], B[MOST_UNKNOWN * MOST_UNKNOWN];
    static long double b[MOST_UNKNOWN];
    long double        logdet, logdet_X = 0, square = 0;
    const long double  log_2pi = logl(2 * acosl(-1));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            S[i * n + j] = dense_product(o, &o->value[i], &o->value[j]);
            o->weight[i * n + j] = i == j;
        }
        e[i] = o->y[i] - o->value[i].constant;
        for (size_t k = 0; k < u; k++) o->X[i * u + k] = o->value[i].of[k];
    }
    static long double copy[MOST_VALUES * MOST_VALUES], zero[MOST_VALUES];
    memcpy(copy, S, n * n * sizeof *S);
    memset(zero, 0, sizeof zero);
    quadratic_form(n, copy, zero, &logdet);
    solve_dense(n, S, o->weight, n);
    memset(A, 0, sizeof A);
    memset(b, 0, sizeof b);
    for (size_t k = 0; k < u; k++) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                b[k] += o->X[i * u + k] * o->weight[i * n + j] * e[j];
                for (size_t l = 0; l < u; l++)
                    A[k * u + l] += o->X[i * u + k] * o->weight[i * n + j] * o->X[j * u + l];
            }
        for (size_t l = 0; l < u; l++) o->spread[k * u + l] = k == l;
    }
    if (u > 0) {
        memcpy(B, A, u * u * sizeof *A);
        memset(zero, 0, sizeof zero);
        quadratic_form(u, B, zero, &logdet_X);
        solve_dense(u, A, o->spread, u);
    }
    for (size_t k = 0; k < u; k++) {
        o->d[k] = 0;
        for (size_t l = 0; l < u; l++) o->d[k] += o->spread[k * u + l] * b[l];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < u; k++) e[i] -= o->X[i * u + k] * o->d[k];
    for (size_t i = 0; i < n; i++) {
        o->rest[i] = 0;
        for (size_t j = 0; j < n; j++) o->rest[i] += o->weight[i * n + j] * e[j];
        square += o->rest[i] * e[i];
    }
    o->log_likelihood =
        (double)(-0.5L * ((long double)(n - u) * log_2pi + logdet + logdet_X + square));
}

/* Mean and covariance, given all values, of sums of sources. */
static inline double dense_mean(const dense *o, const affine *a)
{
    long double sum = a->constant;
    for (size_t k = 0; k < o->unknown; k++) sum += a->of[k] * o->d[k];
    for (size_t i = 0; i < o->n; i++) sum += dense_product(o, a, &o->value[i]) * o->rest[i];
    return (double)sum;
}

static inline void dense_leverage(const dense *o, const affine *a, long double *k, long double *c)
{
    for (size_t i = 0; i < o->n; i++) k[i] = dense_product(o, a, &o->value[i]);
    for (size_t l = 0; l < o->unknown; l++) {
        c[l] = a->of[l];
        for (size_t i = 0; i < o->n; i++)
            for (size_t j = 0; j < o->n; j++)
                c[l] -= o->X[i * o->unknown + l] * o->weight[i * o->n + j] * k[j];
    }
}

static inline double dense_covariance(const dense *o, const affine *a, const affine *b)
{
    long double ka[MOST_VALUES], kb[MOST_VALUES], ca[MOST_UNKNOWN], cb[MOST_UNKNOWN];
    long double sum = dense_product(o, a, b);
    dense_leverage(o, a, ka, ca);
    dense_leverage(o, b, kb, cb);
    for (size_t i = 0; i < o->n; i++)
        for (size_t j = 0; j < o->n; j++) sum -= ka[i] * o->weight[i * o->n + j] * kb[j];
    for (size_t k = 0; k < o->unknown; k++)
        for (size_t l = 0; l < o->unknown; l++)
            sum += ca[k] * o->spread[k * o->unknown + l] * cb[l];
    return (double)sum;
}

static inline void dense_free(cr_ctx *cx, dense *o) { cr_free(cx, o, 1, sizeof *o); }

#endif
