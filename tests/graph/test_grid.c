/* Grids: against all labellings, against the engines of networks, and the laws of each way. */
#include "support.h"

#include "base/context_internal.h"
#include "base/rng.h"
#include "graph/exact/bucket.h"
#include "graph/image/grid.h"
#include "graph/exact/junction.h"

enum { MOST = 64 * 4 };

static cr_grid random_grid(cr_rng *r, size_t width, size_t height, size_t labels, double *cost)
{
    for (size_t i = 0; i < width * height * labels; i++) cost[i] = 3 * cr_rng_uniform(r);
    return (cr_grid){
        width, height, labels, cost, 1.5 * cr_rng_uniform(r), 1 + (double)cr_rng_below(r, 3)
    };
}

static double least_energy(const cr_grid *g)
{
    size_t n = g->width * g->height, x[MOST] = { 0 };
    double least = INFINITY;
    for (;;) {
        size_t i = n;
        least = fmin(least, cr_grid_energy(g, x));
        while (i-- > 0) {
            if (++x[i] < g->labels) break;
            x[i] = 0;
        }
        if (i == SIZE_MAX) return least;
    }
}

TEST(two_labels_are_solved_exactly)
{
    cr_rng r = cr_rng_stream(32, 1);
    double cost[MOST];
    size_t x[MOST];
    for (size_t round = 0; round < 80; round++) {
        cr_grid g = random_grid(&r, 1 + cr_rng_below(&r, 4), 1 + cr_rng_below(&r, 3), 2, cost);
        cr_grid_report report;
        assert_ok(cx, cr_grid_solve(cx, &g, NULL, x, &report));
        assert_true(report.exact && report.converged);
        assert_close(report.energy, least_energy(&g), 1e-9);
        assert_close(report.energy, cr_grid_energy(&g, x), 1e-12);
    }
}

/* Expansion is within twice the least of the pair costs (Boykov et al., theorem 6.1), never above
 * the start, and rarely far off; no way is below the least. */
TEST(more_labels_are_solved_well)
{
    cr_rng r = cr_rng_stream(32, 2);
    double cost[MOST];
    size_t x[MOST], hits = 0;
    for (size_t round = 0; round < 25; round++) {
        cr_grid        g = random_grid(&r, 3, 2 + cr_rng_below(&r, 2), 3, cost);
        cr_grid_report report;
        double         least = least_energy(&g);
        for (int m = CR_GRID_CUT; m <= CR_GRID_GIBBS; m++) {
            cr_grid_options o = cr_grid_defaults();
            o.method = (cr_grid_method)m;
            assert_ok(cx, cr_grid_solve(cx, &g, &o, x, &report));
            assert_true(report.energy >= least - 1e-9);
            assert_false(report.exact);
            if (m == CR_GRID_CUT) {
                assert_true(report.energy <= 2 * least + 1e-9);
                hits += report.energy < least + 1e-9;
            }
        }
    }
    assert_true(hits >= 20);
}

/* The network of a grid has its energy as -log, and the same best labels. */
TEST(a_grid_is_a_network)
{
    cr_rng r = cr_rng_stream(32, 3);
    double cost[MOST];
    size_t x[MOST], best[MOST];
    for (size_t round = 0; round < 6; round++) {
        cr_grid     g = random_grid(&r, 6, 5, 2 + round % 2, cost);
        cr_network *net;
        double      log_best, off;
        assert_ok(cx, cr_grid_network(cx, &g, &net));
        assert_ok(cx, cr_bucket_best(cx, net, NULL, NULL, best, &log_best, NULL));
        assert_ok(cx, cr_grid_solve(cx, &g, NULL, x, NULL));
        off = cr_grid_energy(&g, best) + cr_network_log_value(net, best); /* the same for all x */
        assert_close(cr_grid_energy(&g, x) + cr_network_log_value(net, x), off, 1e-9);
        if (g.labels == 2) assert_close(cr_grid_energy(&g, x), cr_grid_energy(&g, best), 1e-9);
        assert_true(cr_grid_energy(&g, x) >= cr_grid_energy(&g, best) - 1e-9);
        cr_network_free(cx, net);
    }
}

/* On a row of pixels, which has no loops, messages are exact. */
TEST(max_product_is_exact_on_chains)
{
    cr_rng r = cr_rng_stream(32, 4);
    double cost[MOST];
    size_t x[MOST];
    for (size_t round = 0; round < 20; round++) {
        bool            tall = round % 2;
        cr_grid         g = random_grid(&r, tall ? 1 : 7, tall ? 7 : 1, 3, cost);
        cr_grid_options o = { CR_GRID_MAX_PRODUCT, 200, 0 };
        cr_grid_report  report;
        assert_ok(cx, cr_grid_solve(cx, &g, &o, x, &report));
        assert_true(report.converged);
        assert_close(report.energy, least_energy(&g), 1e-9);
    }
}

/* ICM ends where no single pixel can do better. */
TEST(icm_ends_in_a_valley)
{
    cr_rng r = cr_rng_stream(32, 5);
    double cost[MOST];
    size_t x[MOST];
    for (size_t round = 0; round < 20; round++) {
        cr_grid         g = random_grid(&r, 5, 5, 3, cost);
        cr_grid_options o = { CR_GRID_ICM, 100, 0 };
        cr_grid_report  report;
        assert_ok(cx, cr_grid_solve(cx, &g, &o, x, &report));
        assert_true(report.converged);
        for (size_t i = 0; i < 25; i++) {
            size_t was = x[i];
            for (x[i] = 0; x[i] < 3; x[i]++)
                assert_true(cr_grid_energy(&g, x) >= report.energy - 1e-9);
            x[i] = was;
        }
    }
}

/* Gibbs takes the label of the largest marginal, where that is clear. */
TEST(gibbs_finds_the_marginals)
{
    cr_rng r = cr_rng_stream(32, 6);
    double cost[MOST], p[3];
    size_t x[MOST], again[MOST], checked = 0;
    for (size_t round = 0; round < 3; round++) {
        cr_grid         g = random_grid(&r, 4, 4, 3, cost);
        cr_grid_options o = { CR_GRID_GIBBS, 2500, 5 };
        cr_network     *net;
        cr_junction    *tree;
        assert_ok(cx, cr_grid_solve(cx, &g, &o, x, NULL));
        assert_ok(cx, cr_grid_solve(cx, &g, &o, again, NULL));
        assert_memory_equal(x, again, 16 * sizeof *x);
        assert_ok(cx, cr_grid_network(cx, &g, &net));
        assert_ok(cx, cr_junction_new(cx, net, NULL, NULL, &tree));
        for (size_t i = 0; i < 16; i++) {
            size_t best = 0;
            bool   clear = true;
            assert_ok(cx, cr_junction_marginal(cx, tree, i, p));
            for (size_t l = 1; l < 3; l++)
                if (p[l] > p[best]) best = l;
            for (size_t l = 0; l < 3; l++) clear &= l == best || p[best] - p[l] > 0.12;
            if (clear) assert_int_equal(x[i], best);
            checked += clear;
        }
        cr_junction_free(cx, tree);
        cr_network_free(cx, net);
    }
    assert_true(checked > 15);
}

TEST(wrong_grids_are_refused)
{
    double cost[4] = { 0, 1, NAN, 0 };
    size_t x[2];
    assert_fails(cx, cr_grid_solve(cx, &(cr_grid){ 0, 1, 2, cost, 1, 1 }, NULL, x, NULL), CR_EARG);
    assert_fails(cx, cr_grid_solve(cx, &(cr_grid){ 1, 1, 2, cost, -1, 1 }, NULL, x, NULL), CR_EARG);
    assert_fails(cx, cr_grid_solve(cx, &(cr_grid){ 1, 1, 2, cost, 1, 0 }, NULL, x, NULL), CR_EARG);
    assert_fails_with(cx, cr_grid_solve(cx, &(cr_grid){ 2, 1, 2, cost, 1, 1 }, NULL, x, NULL),
                      CR_EARG, "pixel 1");
}

static cr_status solve_all(cr_ctx *cx, void *arg)
{
    cr_status   st = CR_OK;
    cr_network *net = NULL;
    size_t      x[MOST];
    for (int m = CR_GRID_CUT; m <= CR_GRID_GIBBS && st == CR_OK; m++) {
        cr_grid_options o = { (cr_grid_method)m, 2, 0 };
        st = cr_grid_solve(cx, arg, &o, x, NULL);
    }
    if (st == CR_OK) st = cr_grid_network(cx, arg, &net);
    cr_network_free(cx, net);
    return st;
}

TEST(memory_may_be_short)
{
    cr_rng  r = cr_rng_stream(32, 7);
    double  cost[MOST];
    cr_grid g = random_grid(&r, 2, 2, 3, cost);
    test_every_allocation_fails(solve_all, &g);
}

/* Labels of some sweeps, which are no worse than where they began; those of Gibbs are but draws. */
TEST(a_time_limit_leaves_the_labels_so_far)
{
    cr_rng r = cr_rng_stream(32, 9);
    double cost[MOST];
    size_t x[MOST], timed[CR_GRID_GIBBS + 1] = { 0 };
    for (size_t round = 0; round < 40; round++) {
        cr_grid g = random_grid(&r, 8, 8, 4, cost);
        for (int m = CR_GRID_CUT; m <= CR_GRID_GIBBS; m++) {
            cr_grid_options o = { (cr_grid_method)m, 1000, 1 };
            cr_grid_report  whole, some;
            double          start = 0;
            g.coupling = 1;
            assert_ok(cx, cr_grid_solve(cx, &g, &o, x, &whole));
            assert_false(whole.timed);
            for (size_t at = 0; at < 64; at++) {
                x[at] = 0;
                for (size_t l = 1; l < 4; l++)
                    if (cost[at * 4 + l] < cost[at * 4 + x[at]]) x[at] = l;
            }
            start = cr_grid_energy(&g, x);
            cri_ctx_run_out_at(cx, 1);
            assert_ok(cx, cr_grid_solve(cx, &g, &o, x, &some));
            cri_ctx_run_out_at(cx, 0);
            assert_close(some.energy, cr_grid_energy(&g, x), 1e-12);
            if (m != CR_GRID_GIBBS) assert_true(some.energy <= start + 1e-9);
            if (!some.timed) continue;
            assert_false(some.converged);
            assert_int_equal(some.sweeps, 1);
            timed[m]++;
        }
    }
    for (int m = CR_GRID_CUT; m <= CR_GRID_GIBBS; m++) assert_true(timed[m] > 20);
}
