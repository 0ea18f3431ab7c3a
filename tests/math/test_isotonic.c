/* test_isotonic.c -- rising least squares against the enumeration of all ways to pool. */
#include "support.h"
#include "base/rng.h"
#include "math/isotonic.h"

enum { MOST = 9 };

/* Every division into runs; each run takes its mean, and only rising ones count. */
static double brute_force(const double *y, const double *w, size_t n, double *best)
{
    double least = INFINITY, f[MOST];
    for (unsigned cuts = 0; cuts < 1u << (n - 1); cuts++) {
        double cost = 0, before = -INFINITY;
        bool   rising = true;
        for (size_t begin = 0, end; begin < n; begin = end) {
            double sum = 0, weight = 0;
            for (end = begin; end < n; end++) {
                sum += w[end] * y[end], weight += w[end];
                if (end + 1 < n && cuts >> end & 1) {
                    end++;
                    break;
                }
            }
            rising &= sum / weight >= before;
            before = sum / weight;
            for (size_t i = begin; i < end; i++)
                f[i] = before, cost += w[i] * pow(y[i] - before, 2);
        }
        if (!rising || cost >= least) continue;
        least = cost;
        memcpy(best, f, n * sizeof *f);
    }
    return least;
}

TEST(brute_force)
{
    cr_rng r = cr_rng_stream(3, 1);
    for (size_t k = 0; k < 300; k++) {
        size_t n = 1 + k % MOST;
        double y[MOST], w[MOST], f[MOST], best[MOST];
        for (size_t i = 0; i < n; i++) {
            y[i] = k % 3 ? cr_rng_normal(&r) : (double)cr_rng_below(&r, 3); /* ties too */
            w[i] = k % 2 ? 1 : 0.2 + cr_rng_uniform(&r);
        }
        brute_force(y, w, n, best);
        assert_ok(cx, cr_isotonic(cx, y, k % 2 ? NULL : w, n, f));
        for (size_t i = 0; i < n; i++) assert_close(f[i], best[i], 1e-12);
    }
}

/* Long runs: rising, and each pool has the mean of its values. */
TEST(laws)
{
    enum { N = 5000 };
    cr_rng  r = cr_rng_stream(4, 1);
    double *y = calloc(N, sizeof *y), *f = calloc(N, sizeof *f);
    for (size_t i = 0; i < N; i++) y[i] = (double)i / N + cr_rng_normal(&r);
    assert_ok(cx, cr_isotonic(cx, y, NULL, N, f));
    for (size_t i = 0; i < N;) {
        size_t end = i;
        double sum = 0;
        while (end < N && f[end] == f[i]) sum += y[end++];
        assert_close(f[i], sum / (double)(end - i), 1e-12);
        assert_true(end == N || f[end] > f[i]);
        i = end;
    }
    for (size_t i = 0; i < N; i++) y[i] = -(double)i; /* falling: one pool */
    assert_ok(cx, cr_isotonic(cx, y, NULL, N, f));
    assert_close(f[0], -(N - 1) / 2.0, 1e-12);
    assert_true(f[0] == f[N - 1]);
    assert_ok(cx, cr_isotonic(cx, y, NULL, 0, f));
    free(y);
    free(f);
}

TEST(refusals)
{
    const double bad[] = { 1, NAN }, y[] = { 1, 2 }, zero[] = { 1, 0 };
    double       f[] = { 7, 7 };
    assert_fails_with(cx, cr_isotonic(cx, bad, NULL, 2, f), CR_EDATA, "number 2");
    assert_fails_with(cx, cr_isotonic(cx, y, zero, 2, f), CR_EDATA, "weight 2");
    assert_true(f[0] == 7);
}

static cr_status isotonic_small(cr_ctx *cx, void *arg)
{
    const double y[] = { 3, 1, 2 };
    (void)arg;
    double f[3];
    return cr_isotonic(cx, y, NULL, 3, f);
}

TEST(allocations) { test_every_allocation_fails(isotonic_small, NULL); }
