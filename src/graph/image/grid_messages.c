/* grid_messages.c -- max-product (as min-sum of costs) on a grid.
 * A sweep goes right, left, down and up; each message is the cost of everything behind it,
 *   m_{u->v}(b) = min_a [ D_u(a) + sum of messages into u but that from v + J min(|a - b|, T) ]
 * minus its least.  The minimum over a takes O(K), not O(K^2): a pass up and one down the labels
 * (Felzenszwalb & Huttenlocher 2006).  The labels of the least energy met are kept. */
#include "grid_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { QUIET = 10 }; /* sweeps without another label: it has settled */
enum { FROM_LEFT, FROM_RIGHT, FROM_ABOVE, FROM_BELOW, SIDES };

/* A message moves only this part of its way: on loops that disagree it settles rather than turn. */
static const double DAMPING = 0.7;

typedef struct passing {
    const cr_grid *g;
    double        *in;  /* [pixels x SIDES x K] messages into a pixel */
    double        *sum; /* [K] */
    double         worst;
} passing;

static double *message(const passing *p, size_t at, size_t side)
{
    return p->in + (at * SIDES + side) * p->g->labels;
}

/* The costs of pixel `at` with all messages but that from `except`. */
static void gather(passing *p, size_t at, size_t except)
{
    size_t K = p->g->labels;
    memcpy(p->sum, p->g->cost + at * K, K * sizeof *p->sum);
    for (size_t side = 0; side < SIDES; side++) {
        const double *m = message(p, at, side);
        for (size_t l = 0; side != except && l < K; l++) p->sum[l] += m[l];
    }
}

/* From pixel u to pixel v, which gets it from `side`; `back` is where v lies from u. */
static void send(passing *p, size_t u, size_t back, size_t v, size_t side)
{
    const cr_grid *g = p->g;
    size_t         K = g->labels;
    double        *out = message(p, v, side), least, most = g->coupling * g->truncate;
    gather(p, u, back);
    least = p->sum[0];
    for (size_t l = 1; l < K; l++) {
        double step = p->sum[l - 1] + g->coupling;
        if (p->sum[l] < least) least = p->sum[l];
        if (step < p->sum[l]) p->sum[l] = step;
    }
    for (size_t l = K - 1; l-- > 0;) {
        double step = p->sum[l + 1] + g->coupling;
        if (step < p->sum[l]) p->sum[l] = step;
    }
    for (size_t l = 0; l < K; l++) {
        double m = p->sum[l] - least < most ? p->sum[l] - least : most, off = fabs(m - out[l]);
        if (off > p->worst) p->worst = off;
        out[l] += DAMPING * (m - out[l]);
    }
}

static cr_status sweep(cr_ctx *cx, passing *p)
{
    cr_status st = CR_OK;
    size_t    w = p->g->width, h = p->g->height;
    for (size_t y = 0; y < h; y++) {
        CR_TRY(cr_check_interrupt(cx));
        for (size_t x = 0; x + 1 < w; x++) send(p, y * w + x, FROM_RIGHT, y * w + x + 1, FROM_LEFT);
        for (size_t x = w; --x > 0;) send(p, y * w + x, FROM_LEFT, y * w + x - 1, FROM_RIGHT);
    }
    for (size_t x = 0; x < w; x++) {
        CR_TRY(cr_check_interrupt(cx));
        for (size_t y = 0; y + 1 < h; y++)
            send(p, y * w + x, FROM_BELOW, (y + 1) * w + x, FROM_ABOVE);
        for (size_t y = h; --y > 0;) send(p, y * w + x, FROM_ABOVE, (y - 1) * w + x, FROM_BELOW);
    }
done:
    return st;
}

cr_status cri_grid_max_product(cr_ctx *cx, const cr_grid *g, const cr_grid_options *o, size_t *x,
                               cr_grid_report *r)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = g->width * g->height, *now = cr_scratch_index(&s, n), quiet = 0;
    passing    p = { .g = g,
                     .in = cr_scratch_bytes(&s, n * SIDES * g->labels, sizeof *p.in),
                     .sum = cr_scratch_f64(&s, g->labels) };
    double     best = cr_grid_energy(g, x);
    cri_clock  clock = cri_clock_start(cx, NAN);
    CR_TRY(s.status);
    for (r->sweeps = 0; r->sweeps < o->sweeps && !r->converged; r->sweeps++) {
        if (r->sweeps > 0 && (r->timed = cri_clock_over(&clock))) break;
        p.worst = 0;
        CR_TRY(sweep(cx, &p));
        quiet++;
        for (size_t at = 0; at < n; at++) {
            size_t label = 0;
            if (at % g->width == 0) CR_TRY(cr_check_interrupt(cx));
            gather(&p, at, SIDES);
            for (size_t l = 1; l < g->labels; l++)
                if (p.sum[l] < p.sum[label]) label = l;
            if (r->sweeps == 0 || now[at] != label) quiet = 0;
            now[at] = label;
        }
        r->converged = p.worst < 1e-9 || quiet == QUIET;
        double energy = cr_grid_energy(g, now);
        if (energy < best) best = energy, memcpy(x, now, n * sizeof *x);
    }
done:
    cr_scratch_end(&s);
    return st;
}
