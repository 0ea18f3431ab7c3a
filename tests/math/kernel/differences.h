/* differences.h -- derivatives of kernels against central differences of the values: by theta, by
 * rows. */
#ifndef CREDENCE_TEST_KERNEL_DIFFERENCES_H
#define CREDENCE_TEST_KERNEL_DIFFERENCES_H

#include "random_expression.h"

enum { N = 23, M = 17, MOST = 64 };

typedef struct fixture {
    rows   x, z;
    double W[N * N], V[N * M], w[N];
    double A[N * N], B[N * N];
} fixture;

static fixture f;

static inline void make_fixture(dice *d)
{
    make_rows(&f.x, d, N, 0.1, 0.9);
    make_rows(&f.z, d, M, 0.1, 0.9);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) f.W[i * N + j] = f.W[j * N + i] = uniform(d, -1, 1);
    for (size_t i = 0; i < N * M; i++) f.V[i] = uniform(d, -1, 1);
    for (size_t i = 0; i < N; i++) f.w[i] = uniform(d, -1, 1);
}

static inline double contract(const double *A, const double *B, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += A[i] * B[i];
    return sum;
}

typedef enum matrix { GRAM, CROSS, DIAGONAL } matrix;

static inline double value(cr_ctx *cx, const cr_kernel *k, matrix which)
{
    if (which == GRAM) {
        assert_ok(cx, cr_kernel_gram(cx, k, &f.x.in, CR_FILL_BOTH, cr_mat_of(f.A, N, N)));
        return contract(f.A, f.W, N * N);
    }
    if (which == CROSS) {
        assert_ok(cx, cr_kernel_cross(cx, k, &f.x.in, &f.z.in, cr_mat_of(f.A, N, M)));
        return contract(f.A, f.V, N * M);
    }
    assert_ok(cx, cr_kernel_diagonal(cx, k, &f.x.in, true, f.A));
    return contract(f.A, f.w, N);
}

/* Central differences with Richardson's step: error of order h^4. */
static inline double by_theta(cr_ctx *cx, cr_kernel *k, size_t j, double *theta, matrix which)
{
    double at = theta[j], d[2], h = 2e-3;
    for (size_t s = 0; s < 2; s++, h /= 2) {
        double v[2];
        for (size_t side = 0; side < 2; side++) {
            theta[j] = at + (side ? -h : h);
            assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
            v[side] = value(cx, k, which);
        }
        d[s] = (v[0] - v[1]) / (2 * h);
    }
    theta[j] = at;
    assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
    return (4 * d[1] - d[0]) / 3;
}

static inline double by_input(cr_ctx *cx, const cr_kernel *k, double *x, matrix which)
{
    double at = *x, d[2], h = 1e-4;
    for (size_t s = 0; s < 2; s++, h /= 2) {
        *x = at + h;
        double up = value(cx, k, which);
        *x = at - h;
        d[s] = (up - value(cx, k, which)) / (2 * h);
    }
    *x = at;
    return (4 * d[1] - d[0]) / 3;
}

static inline void near(const char *text, const char *what, size_t j, double got, double want,
                        double scale)
{
    if (!(fabs(got - want) <= 1e-6 * fmax(fabs(want), scale)))
        fail_msg("%s: %s %zu is %.12g, not %.12g", text, what, j, got, want);
}

static inline void check_theta(cr_ctx *cx, cr_kernel *k, const char *text)
{
    double theta[MOST], g[3][MOST], none[1];
    size_t n = cr_kernel_theta_size(k);
    assert_true(n <= MOST);
    cr_mat absent = { NULL, 0, 0, 0 };
    cr_kernel_theta(k, theta);
    assert_ok(cx,
              cr_kernel_gram_gradient(cx, k, &f.x.in, cr_cmat_of(f.W, N, N), n ? g[GRAM] : none));
    assert_ok(cx, cr_kernel_cross_gradient(cx, k, &f.x.in, &f.z.in, cr_cmat_of(f.V, N, M),
                                           n ? g[CROSS] : none, absent));
    assert_ok(
        cx, cr_kernel_diagonal_gradient(cx, k, &f.x.in, f.w, true, n ? g[DIAGONAL] : none, absent));
    for (size_t j = 0; j < n; j++) {
        near(text, "gram theta", j, g[GRAM][j], by_theta(cx, k, j, theta, GRAM), 1);
        near(text, "cross theta", j, g[CROSS][j], by_theta(cx, k, j, theta, CROSS), 1);
        near(text, "diagonal theta", j, g[DIAGONAL][j], by_theta(cx, k, j, theta, DIAGONAL), 1);
        assert_ok(cx, cr_kernel_gram_derivative(cx, k, &f.x.in, j, cr_mat_of(f.B, N, N)));
        near(text, "matrix theta", j, contract(f.B, f.W, N * N), g[GRAM][j], 1e-3);
        for (size_t i = 0; i < N * N; i++) assert_true(f.B[i] == f.B[i % N * N + i / N]);
    }
}

static inline void check_inputs(cr_ctx *cx, const cr_kernel *k, const char *text, dice *d)
{
    static double dX[N * COLUMNS], dZ[M * COLUMNS], dD[N * COLUMNS];
    assert_ok(cx, cr_kernel_gram_input_gradient(cx, k, &f.x.in, cr_cmat_of(f.W, N, N),
                                                cr_mat_of(dX, N, COLUMNS)));
    assert_ok(cx, cr_kernel_cross_gradient(cx, k, &f.x.in, &f.z.in, cr_cmat_of(f.V, N, M), NULL,
                                           cr_mat_of(dZ, M, COLUMNS)));
    assert_ok(cx, cr_kernel_diagonal_gradient(cx, k, &f.x.in, f.w, true, NULL,
                                              cr_mat_of(dD, N, COLUMNS)));
    for (size_t trial = 0; trial < 4; trial++) {
        size_t i = pick(d, N * COLUMNS), j = pick(d, M * COLUMNS);
        near(text, "gram row", i, dX[i], by_input(cx, k, &f.x.X[i], GRAM), 1);
        near(text, "cross row", j, dZ[j], by_input(cx, k, &f.z.X[j], CROSS), 1);
        near(text, "diagonal row", i, dD[i], by_input(cx, k, &f.x.X[i], DIAGONAL), 1);
    }
}

#endif
