/* test_lanczos.c -- block Lanczos on maps whose eigenvalues are known by construction: H diag(w) H with a reflection
 * H = I - 2 u u', so that column j of H belongs to w_j. */
#include "../support/support.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "math/sparse/lanczos.h"

#include <math.h>
#include <stdlib.h>

typedef struct reflected {
    size_t        n;
    const double *w, *u; /* [n], descending; [n] of length 1 */
    size_t        products, fail_at;
} reflected;

static void reflect(const reflected *a, const double *x, double *out)
{
    double dot = 0;
    for (size_t i = 0; i < a->n; i++) dot += a->u[i] * x[i];
    for (size_t i = 0; i < a->n; i++) out[i] = x[i] - 2 * dot * a->u[i];
}

static cr_status times(cr_ctx *cx, void *user, const double *B, size_t k, double *out)
{
    reflected *a = user;
    double    *x = malloc(a->n * sizeof *x);
    bool       fails = a->products++ == a->fail_at;
    for (size_t j = 0; j < k && !fails; j++) {
        reflect(a, B + j * a->n, x);
        for (size_t i = 0; i < a->n; i++) x[i] *= a->w[i];
        reflect(a, x, out + j * a->n);
    }
    free(x);
    return fails ? cr_fail(cx, CR_EDATA, "no product") : CR_OK;
}

static void draw_direction(uint64_t seed, size_t n, double *u)
{
    cr_rng r = cr_rng_stream(seed, 1);
    double square = 0;
    for (size_t i = 0; i < n; i++) u[i] = cr_rng_normal(&r), square += u[i] * u[i];
    for (size_t i = 0; i < n; i++) u[i] /= sqrt(square);
}

/* Finds the first of them with blocks of so many vectors, and holds them to what they are; returns the products that it
 * took. */
static size_t check_block(cr_ctx *cx, const double *w, size_t n, size_t wanted, double tolerance,
                          size_t block)
{
    double *u = malloc(n * sizeof *u), *lambda = malloc(wanted * sizeof *lambda);
    double *V = malloc(wanted * n * sizeof *V), *AV = malloc(wanted * n * sizeof *AV);
    draw_direction(n + wanted, n, u);
    reflected           a = { n, w, u, 0, SIZE_MAX };
    cri_symmetric_map   map = { n, times, &a, block };
    cri_lanczos_options o = {
        .wanted = wanted, .tolerance = tolerance, .max_iter = 2000, .seed = 5
    };
    double slack = block ? 100 : 1; /* up to w / gap: there are fewer directions beside them */
    cri_lanczos_report r;
    assert_ok(cx, cri_lanczos(cx, &map, &o, lambda, V, &r));
    assert_true(r.converged);
    assert_int_equal(r.iterations, a.products);
    assert_ok(cx, times(cx, &a, V, wanted, AV));
    for (size_t j = 0; j < wanted; j++) {
        double square = 0;
        assert_close(lambda[j], w[j], 1e-12 * w[0] + slack * tolerance * tolerance * w[j]);
        for (size_t i = 0; i < n; i++) square += pow(AV[j * n + i] - lambda[j] * V[j * n + i], 2);
        assert_true(sqrt(square) <= 1.01 * tolerance * w[j] + 1e-12 * w[0]);
        for (size_t k = 0; k <= j; k++) {
            double dot = 0;
            for (size_t i = 0; i < n; i++) dot += V[j * n + i] * V[k * n + i];
            assert_close(dot, j == k, 1e-12);
        }
    }
    free(u), free(lambda), free(V), free(AV);
    return r.iterations;
}

/* The same by few vectors at once; returns the products of as many as are wanted. */
static size_t check_spectrum(cr_ctx *cx, const double *w, size_t n, size_t wanted, double tolerance)
{
    for (size_t block = 1; block <= 8; block *= 2) check_block(cx, w, n, wanted, tolerance, block);
    return check_block(cx, w, n, wanted, tolerance, 0);
}

TEST(falling_slowly)
{
    enum { N = 900 };
    double w[N];
    for (size_t i = 0; i < N; i++) w[i] = 1 / (1 + 0.01 * (double)i);
    size_t once = check_spectrum(cx, w, N, 6, 1e-6);
    assert_true(once < 60);
    check_spectrum(cx, w, N, 40, 1e-6);
}

/* More equal ones than a single vector, or fewer vectors than are wanted, would find. */
TEST(equal_eigenvalues)
{
    enum { N = 400 };
    double w[N];
    for (size_t i = 0; i < N; i++) w[i] = i < 12 ? 5 : i < 30 ? 3 : 1;
    check_spectrum(cx, w, N, 12, 1e-8);
    check_spectrum(cx, w, N, 30, 1e-8);
    for (size_t i = 0; i < N; i++) w[i] = 2;
    check_spectrum(cx, w, N, 7, 1e-8);
}

/* Eigenvalues of 0, all of them 0, spaces as small as a block, sizes far from 1. */
TEST(corners)
{
    enum { N = 50 };
    double w[N] = { 0 };
    check_spectrum(cx, w, N, 3, 1e-8);
    for (size_t i = 0; i < 5; i++) w[i] = 1e-150 * (double)(5 - i);
    check_spectrum(cx, w, N, 9, 1e-8);
    for (size_t i = 0; i < N; i++) w[i] = 1e100 / (1 + (double)(i * i));
    check_spectrum(cx, w, N, N, 1e-8);
    for (size_t n = 1; n < 6; n++) check_spectrum(cx, w, n, n, 1e-8);
    w[0] = 1e12, w[1] = 1e6, w[2] = 1;
    for (size_t i = 3; i < N; i++) w[i] = 1e-3;
    check_spectrum(cx, w, N, 3, 1e-8);
}

/* A limit gives what there is, a failure of the map is its own, and a start saves products. */
TEST(limits)
{
    enum { N = 600, K = 4 };
    double w[N], u[N], lambda[K], V[K * N];
    for (size_t i = 0; i < N; i++) w[i] = exp(-0.01 * (double)i);
    draw_direction(3, N, u);
    reflected           a = { N, w, u, 0, SIZE_MAX };
    cri_symmetric_map   map = { N, times, &a, 0 };
    cri_lanczos_options o = { .wanted = K, .tolerance = 1e-9, .max_iter = 3, .seed = 1 };
    cri_lanczos_report  r;
    assert_ok(cx, cri_lanczos(cx, &map, &o, lambda, V, &r));
    assert_false(r.converged);
    assert_int_equal(r.iterations, 3);
    assert_true(lambda[0] > 0.5 && lambda[0] <= 1 + 1e-12 && lambda[3] <= lambda[2]);
    cri_ctx_run_out_at(cx, 5);
    o.max_iter = 1000;
    assert_ok(cx, cri_lanczos(cx, &map, &o, lambda, V, &r));
    cri_ctx_run_out_at(cx, 0);
    assert_false(r.converged);
    assert_ok(cx, cri_lanczos(cx, &map, &o, lambda, V, &r));
    assert_true(r.converged);
    size_t cold = r.iterations;
    o.opt_start = V, o.n_start = K;
    double again[K], W[K * N];
    assert_ok(cx, cri_lanczos(cx, &map, &o, again, W, &r));
    assert_true(r.converged && r.iterations < cold);
    for (size_t j = 0; j < K; j++) assert_relative(again[j], w[j], 1e-9);
    a.products = 0, a.fail_at = 4, o.opt_start = NULL;
    assert_fails_with(cx, cri_lanczos(cx, &map, &o, again, W, &r), CR_EDATA, "no product");
}

TEST(orthonormal_rows)
{
    double V[] = { 3, 4, 0, 6, 8, 0, 1, 0, 2 };
    cri_orthonormal_rows(V, 3, 3, 1e-10);
    assert_close(V[0], 0.6, 1e-15);
    for (size_t i = 3; i < 6; i++) assert_true(V[i] == 0); /* a multiple of the first */
    assert_close(V[0] * V[6] + V[1] * V[7], 0, 1e-15);
    assert_close(V[6] * V[6] + V[7] * V[7] + V[8] * V[8], 1, 1e-15);
}
