/* test_forest.c -- canonical trees of sums: the bits depend on the leaves and their order alone. */
#include "support.h"
#include "base/forest.h"
#include "base/rng.h"

enum { LEAVES = 300 };

static cr_status join(cr_ctx *cx, const void *of, void *a, const void *b)
{
    double *x = a;
    (void)cx, (void)of;
    *x += *(const double *)b;
    return CR_OK;
}

static cr_status copy(cr_ctx *cx, const void *of, const void *node, void **out)
{
    double *x = cr_alloc(cx, 1, sizeof *x);
    (void)of;
    if (!x) return CR_ENOMEM;
    *x = *(const double *)node;
    *out = x;
    return CR_OK;
}

static void release(cr_ctx *cx, const void *of, void *node)
{
    (void)of;
    cr_free(cx, node, 1, sizeof(double));
}

static const cri_forest_kind numbers = { join, copy, release };

static void push(cr_ctx *cx, cri_forest *f, double x, size_t level)
{
    void *node = NULL;
    assert_ok(cx, copy(cx, NULL, &x, &node));
    assert_ok(cx, cri_forest_push(cx, &numbers, NULL, f, node, level));
}

static double fold(cr_ctx *cx, const cri_forest *f)
{
    void *sum = NULL;
    assert_ok(cx, cri_forest_fold(cx, &numbers, NULL, f, &sum));
    double x = *(double *)sum;
    release(cx, NULL, sum);
    return x;
}

/* The definition: node (level, i) = nodes 2i and 2i + 1 below; what is left is folded from the right. */
static double node_of(const double *x, size_t level, size_t i)
{
    return level == 0 ? x[i] : node_of(x, level - 1, 2 * i) + node_of(x, level - 1, 2 * i + 1);
}

static double sum_of(const double *x, size_t n)
{
    size_t level = 0;
    if (n == 0) return 0;
    while ((size_t)2 << level <= n) level++;
    size_t first = (size_t)1 << level;
    double left = node_of(x, level, 0);
    return first == n ? left : left + sum_of(x + first, n - first);
}

TEST(the_tree_of_the_definition)
{
    cri_forest f = { 0 };
    double     x[LEAVES];
    cr_rng     r = cr_rng_stream(3, 3);
    for (size_t i = 0; i < LEAVES; i++) {
        size_t trees = 0;
        x[i] = cr_rng_normal(&r) * exp(8 * cr_rng_normal(&r));
        push(cx, &f, x[i], 0);
        for (size_t n = i + 1; n; n >>= 1) trees += n & 1;
        assert_int_equal(f.n, trees);
        assert_true(fold(cx, &f) == sum_of(x, i + 1));
        assert_true(fold(cx, &f) == sum_of(x, i + 1)); /* the forest stays */
    }
    cri_forest_free(cx, &numbers, NULL, &f);
}

TEST(the_order_counts)
{
    cri_forest f = { 0 }, g = { 0 };
    double     x[] = { 1, 1e16, -1e16, 1 };
    for (size_t i = 0; i < 4; i++) push(cx, &f, x[i], 0), push(cx, &g, x[(i + 1) % 4], 0);
    assert_true(fold(cx, &f) != fold(cx, &g));
    cri_forest_free(cx, &numbers, NULL, &f);
    cri_forest_free(cx, &numbers, NULL, &g);
}

static cr_status make_forest(cr_ctx *cx, void *arg)
{
    cri_forest f = { 0 };
    cr_status  st = CR_OK;
    void      *node = NULL, *sum = NULL;
    (void)arg;
    for (size_t i = 0; i < 7 && st == CR_OK; i++) {
        double x = (double)i;
        st = copy(cx, NULL, &x, &node);
        if (st == CR_OK) st = cri_forest_push(cx, &numbers, NULL, &f, node, 0);
    }
    if (st == CR_OK) st = cri_forest_fold(cx, &numbers, NULL, &f, &sum);
    if (st == CR_OK) assert_true(*(double *)sum == 21);
    release(cx, NULL, sum);
    cri_forest_free(cx, &numbers, NULL, &f);
    return st;
}

TEST(allocations) { test_every_allocation_fails(make_forest, NULL); }
