/* grid.c -- the energy of a labelled grid, and ways that go from pixel to pixel. */
#include "grid_internal.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

cr_grid_options cr_grid_defaults(void) { return (cr_grid_options){ CR_GRID_CUT, 100, 0 }; }

double cr_grid_energy(const cr_grid *g, const size_t *x)
{
    double sum = 0;
    for (size_t i = 0; i < g->height; i++) {
        double row = 0;
        for (size_t k = 0; k < g->width; k++) {
            size_t at = i * g->width + k;
            row += g->cost[at * g->labels + x[at]];
            if (k + 1 < g->width) row += cri_grid_pair(g, x[at], x[at + 1]);
            if (i + 1 < g->height) row += cri_grid_pair(g, x[at], x[at + g->width]);
        }
        sum += row;
    }
    return sum;
}

/* The neighbours of a pixel; returns how many. */
static size_t neighbours(const cr_grid *g, size_t at, size_t out[4])
{
    size_t n = 0, row = at / g->width, column = at % g->width;
    if (row > 0) out[n++] = at - g->width;
    if (column > 0) out[n++] = at - 1;
    if (column + 1 < g->width) out[n++] = at + 1;
    if (row + 1 < g->height) out[n++] = at + g->width;
    return n;
}

/* What each label would cost a pixel, its neighbours being as they are. */
static void local_costs(const cr_grid *g, const size_t *x, size_t at, double *out)
{
    size_t near[4], n = neighbours(g, at, near);
    for (size_t l = 0; l < g->labels; l++) {
        out[l] = g->cost[at * g->labels + l];
        for (size_t k = 0; k < n; k++) out[l] += cri_grid_pair(g, l, x[near[k]]);
    }
}

static size_t cheapest(const double *cost, size_t n)
{
    size_t best = 0;
    for (size_t l = 1; l < n; l++)
        if (cost[l] < cost[best]) best = l;
    return best;
}

static cr_status grid_icm(cr_ctx *cx, const cr_grid *g, const cr_grid_options *o, size_t *x,
                          cr_grid_report *r)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *cost = cr_scratch_f64(&s, g->labels);
    cri_clock  clock = cri_clock_start(cx, NAN);
    CR_TRY(s.status);
    for (r->sweeps = 0; r->sweeps < o->sweeps && !r->converged; r->sweeps++) {
        if (r->sweeps > 0 && (r->timed = cri_clock_over(&clock))) break;
        r->converged = true;
        for (size_t at = 0; at < g->width * g->height; at++) {
            if (at % g->width == 0) CR_TRY(cr_check_interrupt(cx));
            local_costs(g, x, at, cost);
            size_t best = cheapest(cost, g->labels);
            if (!(cost[best] < cost[x[at]])) continue;
            x[at] = best;
            r->converged = false;
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* As many sweeps as there is time for where the first took so long. */
static size_t sweeps_within(const cri_clock *clock, double seconds, size_t sweeps)
{
    double more = (clock->deadline - cri_seconds()) / seconds;
    return 1 + more < (double)sweeps ? 1 + (size_t)fmax(more, 0) : sweeps;
}

static cr_status grid_gibbs(cr_ctx *cx, const cr_grid *g, const cr_grid_options *o, size_t *x,
                            cr_grid_report *r)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = g->width * g->height;
    double    *cost = cr_scratch_f64(&s, g->labels);
    size_t    *count = cr_scratch_bytes(&s, n * g->labels, sizeof *count);
    cr_rng     rng = cr_rng_stream(o->seed, 0);
    cri_clock  clock = cri_clock_start(cx, NAN);
    size_t     sweeps = o->sweeps;
    CR_TRY(s.status);
    for (r->sweeps = 0; r->sweeps < sweeps; r->sweeps++) {
        double began = cri_seconds();
        if (r->sweeps > 0 && (r->timed = cri_clock_over(&clock))) break;
        for (size_t at = 0; at < n; at++) {
            if (at % g->width == 0) CR_TRY(cr_check_interrupt(cx));
            local_costs(g, x, at, cost);
            double least = cost[cheapest(cost, g->labels)];
            for (size_t l = 0; l < g->labels; l++) cost[l] = exp(least - cost[l]);
            x[at] = cr_rng_categorical(&rng, cost, g->labels);
            if (r->sweeps >= sweeps / 5) count[at * g->labels + x[at]]++;
        }
        if (r->sweeps == 0) sweeps = sweeps_within(&clock, cri_seconds() - began, sweeps);
    }
    r->timed = r->timed || sweeps < o->sweeps;
    for (size_t at = 0; at < n; at++)
        for (size_t l = 0; l < g->labels; l++)
            if (count[at * g->labels + l] > count[at * g->labels + x[at]]) x[at] = l;
    r->converged = !r->timed;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status check_grid(cr_ctx *cx, const cr_grid *g)
{
    if (g->width == 0 || g->height == 0 || g->labels == 0)
        return cr_fail(cx, CR_EARG, "a grid needs pixels and labels");
    if (!(g->coupling >= 0 && isfinite(g->coupling) && g->truncate >= 1))
        return cr_fail(cx, CR_EARG,
                       "a grid needs a coupling of at least 0 and a bound of at least 1");
    for (size_t at = 0; at < g->width * g->height; at++) {
        if (at % g->width == 0 && cr_check_interrupt(cx) != CR_OK) return cr_error_status(cx);
        for (size_t l = 0; l < g->labels; l++)
            if (!isfinite(g->cost[at * g->labels + l]))
                return cr_fail(cx, CR_EARG, "a cost of pixel %zu is not a finite number", at);
    }
    return CR_OK;
}

typedef cr_status way(cr_ctx *cx, const cr_grid *g, const cr_grid_options *o, size_t *x,
                      cr_grid_report *r);

/* A way from labels x to better ones; where the time limit comes in the midst of a sweep, but not of the first, these
 * are as good as they are by then. */
static cr_status solve_in_time(cr_ctx *cx, way *go, const cr_grid *g, const cr_grid_options *o,
                               size_t *x, cr_grid_report *r)
{
    double    deadline = cri_ctx_hasten(cx, 0.9);
    cr_status st = go(cx, g, o, x, r);
    if (st == CR_ENOMEM && r->sweeps > 0 && cri_should_stop(cx)) {
        r->timed = true, r->converged = false;
        st = CR_OK;
    }
    cri_ctx_set_deadline(cx, deadline);
    return st;
}

cr_status cr_grid_solve(cr_ctx *cx, const cr_grid *g, const cr_grid_options *opt_o, size_t *out_x,
                        cr_grid_report *opt_report)
{
    static way *const ways[] = {
        [CR_GRID_CUT] = cri_grid_cut,
        [CR_GRID_ICM] = grid_icm,
        [CR_GRID_MAX_PRODUCT] = cri_grid_max_product,
        [CR_GRID_GIBBS] = grid_gibbs,
    };
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cr_grid_options o = opt_o ? *opt_o : cr_grid_defaults();
    cr_grid_report  r = { 0 };
    size_t          n = g->width * g->height, *x = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    CR_TRY(check_grid(cx, g));
    for (size_t at = 0; at < n; at++) x[at] = cheapest(g->cost + at * g->labels, g->labels);
    CR_TRY(solve_in_time(cx, ways[o.method], g, &o, x, &r));
    r.energy = cr_grid_energy(g, x);
    memcpy(out_x, x, n * sizeof *x);
    if (opt_report) *opt_report = r;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- as a network ---------------------------------------------------------------------------- */

cr_status cr_grid_network(cr_ctx *cx, const cr_grid *g, cr_network **out_net)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cr_network *net = NULL;
    size_t      n = g->width * g->height, K = g->labels;
    double     *table = cr_scratch_f64(&s, K * K);
    char        name[64];
    CR_TRY(s.status);
    CR_TRY(check_grid(cx, g));
    CR_TRY(cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t at = 0; at < n; at++) {
        if (at % g->width == 0) CR_TRY(cr_check_interrupt(cx));
        snprintf(name, sizeof name, "p%zu_%zu", at / g->width, at % g->width);
        CR_TRY(cr_network_add_variable(cx, net, name, K, NULL, NULL));
    }
    for (size_t at = 0; at < n; at++) {
        if (at % g->width == 0) CR_TRY(cr_check_interrupt(cx));
        const double *cost = g->cost + at * K, least = cost[cheapest(cost, K)];
        for (size_t l = 0; l < K; l++) table[l] = exp(least - cost[l]);
        CR_TRY(cr_network_add_table(cx, net, 1, &at, table));
    }
    for (size_t e = 0; e < K * K; e++) table[e] = exp(-cri_grid_pair(g, e / K, e % K));
    for (size_t at = 0; at < n; at++) {
        if (at % g->width == 0) CR_TRY(cr_check_interrupt(cx));
        if ((at + 1) % g->width)
            CR_TRY(cr_network_add_table(cx, net, 2, (size_t[]){ at, at + 1 }, table));
        if (at + g->width < n)
            CR_TRY(cr_network_add_table(cx, net, 2, (size_t[]){ at, at + g->width }, table));
    }
    *out_net = net;
    net = NULL;
done:
    cr_network_free(cx, net);
    cr_scratch_end(&s);
    return st;
}
