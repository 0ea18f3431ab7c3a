/* test_neighbours.c -- neighbours and counts against sorting all distances. */
#include "base/rng.h"
#include "math/neighbours.h"
#include "support.h"

typedef struct pair {
    double distance;
    size_t index;
} pair;

static int compare(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static double distance(const double *a, const double *b, size_t d, cr_norm norm)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        double t = fabs(a[j] - b[j]);
        sum = norm == CR_NORM_MAX ? (t > sum ? t : sum) : sum + t * t;
    }
    return norm == CR_NORM_MAX ? sum : sqrt(sum);
}

/* All others (self == SIZE_MAX: all), in the order that is promised; returns how many. */
static size_t sort_all(cr_cmat X, const double *q, size_t self, cr_norm norm, pair *out)
{
    size_t n = 0;
    for (size_t i = 0; i < X.rows; i++)
        if (i != self) out[n++] = (pair){ distance(q, X.a + i * X.stride, X.cols, norm), i };
    qsort(out, n, sizeof *out, compare);
    return n;
}

static void check_all(cr_ctx *cx, cr_cmat X, const cr_cmat *opt_Q, size_t k, cr_norm norm)
{
    cr_neighbours *nb = NULL;
    cr_cmat        Q = opt_Q ? *opt_Q : X;
    size_t *index = malloc(Q.rows * k * sizeof *index), *count = malloc(2 * Q.rows * sizeof *count);
    double *at = malloc(Q.rows * k * sizeof *at), *radius = malloc(Q.rows * sizeof *radius);
    pair   *all = malloc(X.rows * sizeof *all);
    assert_ok(cx, cr_neighbours_new(cx, X, norm, &nb));
    assert_ok(cx, cr_neighbours_nearest(cx, nb, opt_Q, k, index, at));
    for (size_t i = 0; i < Q.rows; i++) radius[i] = at[i * k + k - 1];
    assert_ok(cx, cr_neighbours_count(cx, nb, opt_Q, radius, false, count));
    assert_ok(cx, cr_neighbours_count(cx, nb, opt_Q, radius, true, count + Q.rows));
    for (size_t i = 0; i < Q.rows; i++) {
        size_t n = sort_all(X, Q.a + i * Q.stride, opt_Q ? SIZE_MAX : i, norm, all), open = 0,
               closed = 0;
        for (size_t j = 0; j < k; j++) {
            assert_true(index[i * k + j] == all[j].index);
            assert_true(at[i * k + j] == all[j].distance);
        }
        for (size_t j = 0; j < n; j++)
            open += all[j].distance < radius[i], closed += all[j].distance <= radius[i];
        assert_int_equal(count[i], open);
        assert_int_equal(count[Q.rows + i], closed);
    }
    cr_neighbours_free(cx, nb);
    free(index), free(count), free(at), free(radius), free(all);
}

/* Coordinates that repeat (rounded to `grid`), so that distances tie. */
static void fill(double *x, size_t n, uint64_t stream, double grid)
{
    cr_rng r = cr_rng_stream(11, stream);
    for (size_t i = 0; i < n; i++) {
        x[i] = cr_rng_normal(&r);
        if (grid > 0) x[i] = grid * round(x[i] / grid);
    }
}

TEST(against_sorting)
{
    static const size_t dims[] = { 1, 2, 3, 7, 20, 21, 40 }, rows[] = { 2, 16, 17, 33, 150 };
    static double       x[150 * 41], q[40 * 41];
    for (size_t a = 0; a < sizeof dims / sizeof *dims; a++)
        for (size_t b = 0; b < sizeof rows / sizeof *rows; b++)
            for (int norm = CR_NORM_EUCLID; norm <= CR_NORM_MAX; norm++) {
                size_t  d = dims[a], n = rows[b], k = n > 5 ? 5 : 1;
                cr_cmat X = { x, n, d, d + 1 }, Q = { q, 40, d, d + 1 };
                fill(x, n * (d + 1), a * 10 + b, b % 2 ? 0.5 : 0);
                fill(q, 40 * (d + 1), 999 + a, b % 2 ? 0.5 : 0);
                check_all(cx, X, NULL, k, (cr_norm)norm);
                check_all(cx, X, &Q, k, (cr_norm)norm);
                if (n < 40) check_all(cx, X, NULL, n - 1, (cr_norm)norm);
            }
}

/* Ties are settled by the index, also when every point is the same, and that is not slow. */
TEST(all_the_same)
{
    enum { N = 20000, K = 3 };
    cr_neighbours *nb = NULL;
    double        *x = calloc(2 * N, sizeof *x), *at = malloc(N * K * sizeof *at);
    size_t        *index = malloc(N * K * sizeof *index);
    assert_ok(cx, cr_neighbours_new(cx, cr_cmat_of(x, N, 2), CR_NORM_MAX, &nb));
    assert_ok(cx, cr_neighbours_nearest(cx, nb, NULL, K, index, at));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < K; j++) {
            assert_int_equal(index[i * K + j], j + (i <= j));
            assert_true(at[i * K + j] == 0);
        }
    cr_neighbours_free(cx, nb);
    free(x), free(at), free(index);
}

TEST(huge_and_tiny)
{
    double x[] = { 1e300, -1e300, 5e-324, 0, -0.0, 1e-310, 1e308, -1e308 };
    check_all(cx, cr_cmat_of(x, 8, 1), NULL, 4, CR_NORM_MAX);
    check_all(cx, cr_cmat_of(x, 4, 2), NULL, 2, CR_NORM_MAX);
    check_all(cx, cr_cmat_of(x, 4, 2), NULL, 3,
              CR_NORM_EUCLID); /* squares overflow: all at infinity */
}

TEST(threads_give_the_same)
{
    enum { N = 3000, K = 4 };
    static double at[2][N * K], x[N * 3];
    static size_t index[2][N * K], count[2][N];
    fill(x, N * 3, 5, 0.01);
    for (size_t t = 0; t < 2; t++) {
        cr_neighbours *nb = NULL;
        double         radius[N];
        cr_ctx_set_threads(cx, t ? 4 : 1);
        assert_ok(cx, cr_neighbours_new(cx, cr_cmat_of(x, N, 3), CR_NORM_EUCLID, &nb));
        assert_ok(cx, cr_neighbours_nearest(cx, nb, NULL, K, index[t], at[t]));
        for (size_t i = 0; i < N; i++) radius[i] = 2 * at[t][i * K];
        assert_ok(cx, cr_neighbours_count(cx, nb, NULL, radius, true, count[t]));
        cr_neighbours_free(cx, nb);
    }
    assert_memory_equal(at[0], at[1], sizeof at[0]);
    assert_memory_equal(index[0], index[1], sizeof index[0]);
    assert_memory_equal(count[0], count[1], sizeof count[0]);
}

TEST(refusals)
{
    double x[] = { 1, 2, 3, 4 }, bad[] = { 1, NAN, INFINITY, 4 }, at[8], radius[2] = { 1, 1 };
    size_t index[8];
    cr_neighbours *nb = NULL;
    cr_cmat        narrow = cr_cmat_of(x, 4, 1), broken = cr_cmat_of(bad, 2, 2);
    assert_fails(cx, cr_neighbours_new(cx, cr_cmat_of(x, 0, 2), CR_NORM_MAX, &nb), CR_EARG);
    assert_fails(cx, cr_neighbours_new(cx, cr_cmat_of(x, 2, 0), CR_NORM_MAX, &nb), CR_EARG);
    assert_fails_with(cx, cr_neighbours_new(cx, broken, CR_NORM_MAX, &nb), CR_EDATA,
                      "coordinate 2 of point 1");
    assert_null(nb);
    assert_ok(cx, cr_neighbours_new(cx, cr_cmat_of(x, 2, 2), CR_NORM_MAX, &nb));
    assert_fails(cx, cr_neighbours_nearest(cx, nb, NULL, 2, index, at), CR_EARG);
    assert_fails(cx, cr_neighbours_nearest(cx, nb, NULL, 0, index, at), CR_EARG);
    assert_fails(cx, cr_neighbours_nearest(cx, nb, &narrow, 1, index, at), CR_EARG);
    assert_fails_with(cx, cr_neighbours_count(cx, nb, &broken, radius, true, index), CR_EDATA,
                      "coordinate 2 of query 1");
    cr_neighbours_free(cx, nb);
    cr_neighbours_free(cx, NULL);
}

/* What is asked of few queries over many points stops before the last of them. */
TEST(interruption)
{
    enum { N = 3000, D = 40, Q = 200 };
    cr_neighbours *nb = NULL;
    double        *x = malloc(N * D * sizeof *x), at[Q];
    size_t         index[Q];
    for (size_t i = 0; i < (size_t)N * D; i++) x[i] = (double)(i * 7919 % 1009);
    cr_cmat queries = cr_cmat_of(x, Q, D);
    assert_ok(cx, cr_neighbours_new(cx, cr_cmat_of(x, N, D), CR_NORM_EUCLID, &nb));
    index[Q - 1] = 77;
    cr_interrupt(cx);
    assert_fails(cx, cr_neighbours_nearest(cx, nb, &queries, 1, index, at), CR_EINTERRUPTED);
    assert_int_equal(index[Q - 1], 77);
    cr_neighbours_free(cx, nb);
    free(x);
}

static cr_status build_and_ask(cr_ctx *cx, void *arg)
{
    cr_neighbours *nb = NULL;
    size_t         index[100];
    double         at[100];
    cr_status      st = cr_neighbours_new(cx, *(cr_cmat *)arg, CR_NORM_EUCLID, &nb);
    if (st == CR_OK) st = cr_neighbours_nearest(cx, nb, NULL, 1, index, at);
    cr_neighbours_free(cx, nb);
    return st;
}

TEST(allocations)
{
    double  x[100 * 2] = { 0 };
    cr_cmat plane = cr_cmat_of(x, 100, 2), line = cr_cmat_of(x, 100, 1);
    fill(x, 200, 1, 0);
    test_every_allocation_fails(build_and_ask, &plane);
    test_every_allocation_fails(build_and_ask, &line);
}
