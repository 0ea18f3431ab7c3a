/* test_assignment.c -- the assignment problem against all permutations. */
#include "support.h"

#include "base/rng.h"
#include "math/assignment.h"

static double cost_of(const double *cost, size_t k, const size_t *column)
{
    double sum = 0;
    for (size_t i = 0; i < k; i++) sum += cost[i * k + column[i]];
    return sum;
}

/* The least cost of rows i .. k-1 in the columns that are left. */
static double least(const double *cost, size_t k, size_t i, size_t left)
{
    double best = i == k ? 0 : INFINITY;
    for (size_t j = 0; i < k && j < k; j++)
        if (left >> j & 1)
            best = fmin(best, cost[i * k + j] + least(cost, k, i + 1, left & ~((size_t)1 << j)));
    return best;
}

/* Random costs, some with many ties or of either sign, one column of its own for each row. */
TEST(all_permutations)
{
    cr_rng r = cr_rng_stream(1, 7);
    for (size_t trial = 0; trial < 200; trial++) {
        double cost[49];
        size_t k = 1 + trial % 7, column[7], used = 0;
        for (size_t i = 0; i < k * k; i++)
            cost[i] = trial % 3 == 0 ? (double)cr_rng_below(&r, 3) : 10 * cr_rng_normal(&r);
        assert_ok(cx, cri_assign(cx, cost, k, column));
        for (size_t i = 0; i < k; i++) used |= (size_t)1 << column[i];
        assert_int_equal(used, ((size_t)1 << k) - 1);
        assert_close(cost_of(cost, k, column), least(cost, k, 0, ((size_t)1 << k) - 1),
                     1e-12 * 100);
    }
}

/* A hidden permutation of many rows is found again. */
TEST(many)
{
    enum { K = 150 };
    double *cost = calloc(K * K, sizeof *cost);
    size_t  order[K], column[K];
    cr_rng  r = cr_rng_stream(2, 7);
    cr_rng_permutation(&r, K, order);
    for (size_t i = 0; i < K * K; i++) cost[i] = 1 + cr_rng_uniform(&r);
    for (size_t i = 0; i < K; i++) cost[i * K + order[i]] = cr_rng_uniform(&r) * 0.9;
    assert_ok(cx, cri_assign(cx, cost, K, column));
    assert_memory_equal(column, order, sizeof order);
    free(cost);
}
