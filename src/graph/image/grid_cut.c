/* grid_cut.c -- labels of least energy by smallest cuts.
 * An expansion move lets every pixel keep its label or take one label a.  The best of all 2^n moves
 * is a smallest cut, because the pair costs are a metric.  Moves are made until none helps; of two
 * labels, from all pixels at 0, one move to 1 is the whole problem: the answer is exact. */
#include "grid_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/max_flow.h"

#include <math.h>
#include <string.h>

/* The cost w of taking the label; what it costs to keep it is 0. */
static void add_single(cri_flow *f, size_t v, double w)
{
    cri_flow_terminal(f, v, w > 0 ? w : 0, w < 0 ? -w : 0);
}

/* Pairs: keep both, the second takes, the first takes; both take costs 0.  Kolmogorov & Zabih
 * (2004), fig. 2: what is left of a sum of single costs is >= 0 for a metric. */
static void add_pair(cri_flow *f, size_t u, size_t v, double keep, double second, double first)
{
    double across = second + first - keep;
    add_single(f, u, first - keep);
    add_single(f, v, -first);
    cri_flow_arc(f, u, v, across > 0 ? across : 0, 0);
}

/* The best move to label a; a vertex on the sink's side takes it. */
static cr_status expand(cr_scratch *s, const cr_grid *g, cri_flow *f, const size_t *x, size_t a,
                        size_t *out)
{
    size_t    n = g->width * g->height;
    double    flow;
    cr_status st;
    cri_flow_clear(f);
    for (size_t at = 0; at < n; at++) {
        const double *cost = g->cost + at * g->labels;
        add_single(f, at, cost[a] - cost[x[at]]);
        for (int down = 0; down < 2; down++) {
            size_t to = down ? at + g->width : at + 1;
            if (down ? to >= n : to % g->width == 0) continue;
            add_pair(f, at, to, cri_grid_pair(g, x[at], x[to]), cri_grid_pair(g, x[at], a),
                     cri_grid_pair(g, a, x[to]));
        }
    }
    st = cri_flow_run(s, f, &flow);
    /* a cost of taking stands at the source: whoever takes is cut off from it */
    for (size_t at = 0; st == CR_OK && at < n; at++) out[at] = cri_flow_reached(f, at) ? x[at] : a;
    return st;
}

cr_status cri_grid_cut(cr_ctx *cx, const cr_grid *g, const cr_grid_options *o, size_t *x,
                       cr_grid_report *r)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = g->width * g->height, *next = cr_scratch_index(&s, n), idle = 0;
    cri_flow  *f = cri_flow_new(&s, n, 2 * n);
    cri_clock  clock = cri_clock_start(cx, NAN);
    double     energy;
    CR_TRY(s.status);
    if (g->labels <= 2) memset(x, 0, n * sizeof *x);
    energy = cr_grid_energy(g, x);
    r->exact = g->labels <= 2;
    for (size_t a = g->labels == 2 ? 1 : 0; idle < g->labels; a = (a + 1) % g->labels) {
        if (r->sweeps >= o->sweeps * g->labels) break;
        if (r->sweeps > 0 && (r->timed = cri_clock_over(&clock))) break;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(expand(&s, g, f, x, a, next));
        double moved = cr_grid_energy(g, next);
        r->sweeps++;
        if (r->exact || moved < energy - 1e-12 * fabs(energy)) {
            memcpy(x, next, n * sizeof *x);
            energy = moved;
            idle = 0;
        } else {
            idle++;
        }
        if (r->exact) break;
    }
    r->converged = r->exact || idle >= g->labels;
done:
    cr_scratch_end(&s);
    return st;
}
