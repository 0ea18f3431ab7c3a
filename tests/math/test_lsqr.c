/* test_lsqr.c -- LSQR against the normal equations in long double, the solution of least norm, and
 * its laws. */
#include "../support/support.h"
#include "base/rng.h"
#include "math/sparse/lsqr.h"

enum { M = 23, N = 9 };

typedef struct matrix {
    size_t        m, n;
    const double *A; /* [m x n] */
    size_t        products;
    size_t        fail_at; /* SIZE_MAX: never */
} matrix;

static cr_status times(cr_ctx *cx, void *user, const double *x, double *out)
{
    matrix *a = user;
    if (a->products++ == a->fail_at) return cr_fail(cx, CR_EDATA, "no product");
    for (size_t i = 0; i < a->m; i++) {
        out[i] = 0;
        for (size_t j = 0; j < a->n; j++) out[i] += a->A[i * a->n + j] * x[j];
    }
    return CR_OK;
}

static cr_status transpose(cr_ctx *cx, void *user, const double *y, double *out)
{
    matrix *a = user;
    (void)cx;
    for (size_t j = 0; j < a->n; j++) {
        out[j] = 0;
        for (size_t i = 0; i < a->m; i++) out[j] += a->A[i * a->n + j] * y[i];
    }
    return CR_OK;
}

static cr_linear_map map_of(matrix *a)
{
    return (cr_linear_map){ a->m, a->n, times, transpose, a };
}

/* x [n] = (A^T A + ridge I)^-1 A^T b by elimination, in long double. */
static void solve_normal(const double *A, const double *b, size_t m, size_t n, long double ridge,
                         double *x)
{
    long double G[64 * 65] = { 0 };
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) {
            for (size_t k = 0; k < n; k++)
                G[j * (n + 1) + k] += (long double)A[i * n + j] * A[i * n + k];
            G[j * (n + 1) + n] += (long double)A[i * n + j] * b[i];
        }
    for (size_t j = 0; j < n; j++) G[j * (n + 1) + j] += ridge;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            long double f = G[i * (n + 1) + k] / G[k * (n + 1) + k];
            for (size_t j = k; i != k && j <= n; j++) G[i * (n + 1) + j] -= f * G[k * (n + 1) + j];
        }
    for (size_t k = 0; k < n; k++) x[k] = (double)(G[k * (n + 1) + n] / G[k * (n + 1) + k]);
}

static void draw(uint64_t seed, double *a, size_t n)
{
    cr_rng r = cr_rng_stream(seed, 3);
    for (size_t i = 0; i < n; i++) a[i] = cr_rng_normal(&r);
}

TEST(normal_equations)
{
    double A[M * N], b[M], x[N], wanted[N];
    for (uint64_t seed = 0; seed < 6; seed++) {
        draw(seed, A, M * N);
        draw(seed + 100, b, M);
        for (size_t i = 0; i < M; i++) A[i * N + 2] *= seed > 2 ? 1e3 : 1; /* worse conditioned */
        matrix         a = { M, N, A, 0, SIZE_MAX };
        cr_linear_map  map = map_of(&a);
        cr_lsqr_report r;
        memset(x, 0, sizeof x);
        assert_ok(cx, cr_lsqr(cx, &map, b, 1e-14, 500, x, &r));
        assert_true(r.converged && r.gradient <= 1e-13 && r.condition >= 1);
        solve_normal(A, b, M, N, 0, wanted);
        for (size_t j = 0; j < N; j++) assert_close(x[j], wanted[j], 1e-11);
        double rss = 0;
        for (size_t i = 0; i < M; i++) {
            double e = b[i];
            for (size_t j = 0; j < N; j++) e -= A[i * N + j] * wanted[j];
            rss += e * e;
        }
        assert_close(r.residual, sqrt(rss), 1e-12);
    }
}

/* More columns than rows: least norm x = A^T (A A^T)^-1 b, and beside a start x0 the nearest. */
TEST(least_norm)
{
    double         A[N * M], At[M * N], b[N], x[M], start[M], left[N], a[N];
    cr_lsqr_report r;
    draw(8, A, N * M);
    draw(9, b, N);
    draw(10, start, M);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < M; j++) At[j * N + i] = A[i * M + j];
    matrix        m = { N, M, A, 0, SIZE_MAX };
    cr_linear_map map = map_of(&m);
    for (int beside = 0; beside < 2; beside++) {
        for (size_t j = 0; j < M; j++) x[j] = beside ? start[j] : 0;
        for (size_t i = 0; i < N; i++) {
            left[i] = b[i];
            for (size_t j = 0; j < M; j++) left[i] -= A[i * M + j] * x[j];
        }
        /* (A A^T) a = left, through (A A^T)^2 a = (A A^T) left */
        double K[N * N] = { 0 };
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < N; k++)
                for (size_t j = 0; j < M; j++) K[i * N + k] += A[i * M + j] * A[k * M + j];
        solve_normal(K, left, N, N, 0, a);
        assert_ok(cx, cr_lsqr(cx, &map, b, 1e-14, 500, x, &r));
        assert_true(r.converged && r.residual < 1e-11);
        for (size_t j = 0; j < M; j++) {
            double wanted = beside ? start[j] : 0;
            for (size_t i = 0; i < N; i++) wanted += At[j * N + i] * a[i];
            assert_close(x[j], wanted, 1e-9);
        }
    }
}

TEST(corners)
{
    double         A[4] = { 0, 0, 0, 0 }, b[2] = { 1, 2 }, zero[2] = { 0 }, x[2] = { 0, 0 };
    cr_lsqr_report r;
    matrix         m = { 2, 2, A, 0, SIZE_MAX };
    cr_linear_map  map = map_of(&m);
    assert_ok(cx, cr_lsqr(cx, &map, b, 1e-12, 50, x, &r)); /* A = 0 */
    assert_true(r.converged && x[0] == 0 && x[1] == 0 && r.iterations == 0);
    A[0] = 2, A[3] = 4;
    assert_ok(cx, cr_lsqr(cx, &map, zero, 1e-12, 50, x, &r)); /* b = 0 */
    assert_true(r.converged && x[0] == 0 && x[1] == 0);
    assert_ok(cx, cr_lsqr(cx, &map, b, 1e-12, 0, x, &r)); /* no iteration allowed */
    assert_true(!r.converged && x[0] == 0);
    assert_ok(cx, cr_lsqr(cx, &map, b, 1e-15, 50, x, &r));
    assert_close(x[0], 0.5, 1e-14);
    assert_close(x[1], 0.5, 1e-14);
    m.n = 0;
    map.n = 0;
    assert_ok(cx, cr_lsqr(cx, &map, b, 1e-12, 50, x, &r)); /* no columns */
    assert_close(r.residual, sqrt(5), 1e-15);
}

/* A product that fails, or overflows, leaves x. */
TEST(failures)
{
    double         A[M * N], b[M], x[N] = { 7 };
    cr_lsqr_report r;
    draw(1, A, M * N);
    draw(2, b, M);
    matrix        m = { M, N, A, 0, 2 };
    cr_linear_map map = map_of(&m);
    assert_fails(cx, cr_lsqr(cx, &map, b, 1e-14, 50, x, &r), CR_EDATA);
    assert_true(x[0] == 7 && x[1] == 0);
    m.fail_at = SIZE_MAX;
    for (size_t i = 0; i < M * N; i++) A[i] *= 1e200;
    assert_fails(cx, cr_lsqr(cx, &map, b, 1e-14, 50, x, &r), CR_ENUMERIC);
    assert_true(x[0] == 7 && x[1] == 0);
}

static cr_status small(cr_ctx *cx, void *arg)
{
    double         A[4] = { 1, 2, 3, 5 }, b[2] = { 1, 2 }, x[2] = { 0 };
    cr_lsqr_report r;
    matrix         m = { 2, 2, A, 0, SIZE_MAX };
    cr_linear_map  map = map_of(&m);
    (void)arg;
    return cr_lsqr(cx, &map, b, 1e-12, 50, x, &r);
}

TEST(no_memory) { test_every_allocation_fails(small, NULL); }
