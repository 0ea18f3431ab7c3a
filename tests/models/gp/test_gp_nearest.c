/* test_gp_nearest.c -- variances by a root and the nearest inputs: the projection as it is defined. */
#include "gp_fixture.h"

#include "models/gp/cg/gp_cg.h"
#include "models/gp/cg/gp_nearest.h"

enum { N = 60, D = 2, RANK = 8, ROWS = 5 };
static const double NOISE = 0.03;

typedef struct bench {
    double         X[N * D], y[N], r[N], H[N], C[N * N], K[N * ROWS], T[RANK * ROWS], Z[ROWS * D];
    double         R[N * RANK], W[N * RANK];
    size_t         first[N];
    cri_gp_data    data;
    cri_gp_problem problem;
} bench;

static bench *draw(uint64_t seed)
{
    bench *b = calloc(1, sizeof *b);
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < N * D; i++) b->X[i] = 4 * cr_rng_uniform(&r);
    for (size_t i = 0; i < ROWS * D; i++) b->Z[i] = 4 * cr_rng_uniform(&r);
    for (size_t i = 0; i < N; i++) b->r[i] = 1 / (1 + (double)(i % 3)), b->first[i] = i;
    b->data = (cri_gp_data){
        .n = N, .d = D, .X = b->X, .y = b->y, .r = b->r, .first = b->first, .count = N
    };
    b->problem = (cri_gp_problem){ &b->data, 0, b->H };
    return b;
}

/* C, k of the rows, a root of rank RANK, and t = R^T k. */
static void fill(cr_ctx *cx, bench *b, const cr_kernel *k)
{
    cr_kernel_input    in = cri_gp_inputs(&b->data);
    cr_kernel_input    rows = { .rows = ROWS, .numbers = cr_cmat_of(b->Z, ROWS, D) };
    cri_gp_cg_settings o = cri_gp_cg_defaults(1);
    cri_gp_cg_root_of  root = { .R = b->R, .W = b->W };
    o.rank = RANK;
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(b->C, N, N)));
    assert_ok(cx, cr_kernel_cross(cx, k, &in, &rows, cr_mat_of(b->K, N, ROWS)));
    for (size_t i = 0; i < N; i++) b->C[i * N + i] += NOISE * b->r[i];
    assert_ok(cx, cri_gp_cg_root(cx, &b->problem, k, NOISE, &o, RANK, &root));
    assert_int_equal(root.rank, RANK);
    for (size_t a = 0; a < RANK; a++)
        for (size_t i = 0; i < ROWS; i++) {
            b->T[a * ROWS + i] = 0;
            for (size_t j = 0; j < N; j++)
                b->T[a * ROWS + i] += b->R[j * RANK + a] * b->K[j * ROWS + i];
        }
}

/* What the columns of B [N x m] explain of k: k^T B (B^T C B)^-1 B^T k, by elimination with
 * pivoting. */
static double explained(const double *C, const double *B, size_t m, const double *k, size_t stride)
{
    static long double A[N][N + 1], CB[N][N];
    long double        sum = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < m; c++) {
            CB[i][c] = 0;
            for (size_t j = 0; j < N; j++) CB[i][c] += (long double)C[i * N + j] * B[j * m + c];
        }
    for (size_t a = 0; a < m; a++) {
        for (size_t c = 0; c < m; c++) {
            A[a][c] = 0;
            for (size_t i = 0; i < N; i++) A[a][c] += B[i * m + a] * CB[i][c];
        }
        A[a][m] = 0;
        for (size_t i = 0; i < N; i++) A[a][m] += (long double)B[i * m + a] * k[i * stride];
    }
    for (size_t a = 0; a < m; a++) { /* B^T C B = L D L^T */
        sum += A[a][m] * A[a][m] / A[a][a];
        for (size_t c = a + 1; c < m; c++) {
            long double f = A[c][a] / A[a][a];
            for (size_t e = a; e <= m; e++) A[c][e] -= f * A[a][e];
        }
    }
    return (double)sum;
}

/* R^T C R = 1 and W = C R. */
TEST(root)
{
    bench     *b = draw(1);
    cr_kernel *k;
    assert_ok(cx, cr_kernel_parse(cx, "1.3*matern32(l=[0.7,1.1])", NULL, NULL, 0, &k));
    fill(cx, b, k);
    for (size_t a = 0; a < RANK; a++)
        for (size_t c = 0; c < RANK; c++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++) sum += b->R[i * RANK + a] * b->W[i * RANK + c];
            assert_close(sum, a == c, 1e-10);
        }
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a < RANK; a++) {
            double sum = 0;
            for (size_t j = 0; j < N; j++) sum += b->C[i * N + j] * b->R[j * RANK + a];
            assert_close(b->W[i * RANK + a], sum, 1e-9);
        }
    cr_kernel_free(cx, k);
    free(b);
}

/* Is input i among the `count` with the largest k? */
static bool is_near(const double *k, size_t stride, size_t i, size_t count)
{
    size_t larger = 0;
    for (size_t j = 0; j < N; j++) larger += k[j * stride] > k[i * stride];
    return larger < count;
}

TEST(nearest)
{
    const size_t  counts[] = { 1, 5, 20, N };
    bench        *b = draw(2);
    cr_kernel    *k;
    static double B[N * (N + RANK)], all[N * N];
    assert_ok(cx, cr_kernel_parse(cx, "1.3*rbf(l=[0.7,1.1])", NULL, NULL, 0, &k));
    fill(cx, b, k);
    for (size_t i = 0; i < N; i++) all[i * N + i] = 1;
    for (size_t s = 0; s < sizeof counts / sizeof *counts; s++) {
        cri_gp_nearest near = { &b->data, k, NOISE, RANK, counts[s], b->W };
        double         taken[ROWS] = { 0 };
        assert_ok(cx, cri_gp_nearest_take(cx, &near, b->K, b->T, ROWS, taken));
        for (size_t c = 0; c < ROWS; c++) {
            size_t m = RANK + counts[s] < N ? RANK + counts[s] : 0, at = RANK;
            double exact = explained(b->C, all, N, b->K + c, ROWS), ours = taken[c], expected;
            for (size_t a = 0; a < RANK; a++) ours += pow(b->T[a * ROWS + c], 2);
            for (size_t i = 0; m && i < N; i++) {
                for (size_t a = 0; a < m; a++) B[i * m + a] = a < RANK ? b->R[i * RANK + a] : 0;
                if (is_near(b->K + c, ROWS, i, counts[s])) B[i * m + at++] = 1;
            }
            expected = m ? explained(b->C, B, m, b->K + c, ROWS) : exact;
            assert_close(ours, expected, 1e-7);
            assert_true(ours < exact * (1 + 1e-9)); /* never too sure */
        }
    }
    cr_kernel_free(cx, k);
    free(b);
}

typedef struct failing {
    bench     *b;
    cr_kernel *k;
} failing;

static cr_status take(cr_ctx *cx, void *arg)
{
    failing       *f = arg;
    cri_gp_nearest near = { &f->b->data, f->k, NOISE, RANK, 7, f->b->W };
    double         taken[ROWS] = { 0 };
    return cri_gp_nearest_take(cx, &near, f->b->K, f->b->T, ROWS, taken);
}

TEST(memory)
{
    failing f = { draw(3), NULL };
    assert_ok(cx, cr_kernel_parse(cx, "rbf(l=1)", NULL, NULL, 0, &f.k));
    fill(cx, f.b, f.k);
    test_every_allocation_fails(take, &f);
    cr_kernel_free(cx, f.k);
    free(f.b);
}
