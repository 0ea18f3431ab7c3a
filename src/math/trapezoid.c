/* trapezoid.c -- the integral of a density given by its logarithm. */
#include "trapezoid.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

static double highest(const cri_trapezoid *g)
{
    double top = -INFINITY;
    for (size_t k = 0; k < g->n; k++) top = fmax(top, g->at[k].log_density);
    return top;
}

/* Keeps the nodes from the first to the last of some height, and one more at either end. */
static void trim(cri_trapezoid *g)
{
    double least = highest(g) - g->drop;
    size_t first = 0, last = g->n - 1;
    while (first < last && g->at[first].log_density < least) first++;
    while (last > first && g->at[last].log_density < least) last--;
    if (first > 0) first--;
    if (last + 1 < g->n) last++;
    memmove(g->at, g->at + first, (last - first + 1) * sizeof *g->at);
    g->n = last - first + 1;
}

static double log_integral(const cri_trapezoid *g)
{
    double top = highest(g), sum = 0;
    for (size_t k = 0; k < g->n; k++) sum += exp(g->at[k].log_density - top);
    return top + log(sum * g->step);
}

/* Half the step: a node between each two. */
static cr_status refine(cr_ctx *cx, cri_trapezoid *g, cri_log_density_fn *f, void *user)
{
    for (size_t k = g->n; k-- > 0;) g->at[2 * k] = g->at[k];
    for (size_t k = 0; k + 1 < g->n; k++) {
        double    x = 0.5 * (g->at[2 * k].x + g->at[2 * k + 2].x);
        cr_status st = f(cx, user, x, &g->at[2 * k + 1]);
        if (st != CR_OK) return st;
    }
    g->n = 2 * g->n - 1;
    g->step /= 2;
    trim(g);
    return CR_OK;
}

cr_status cri_trapezoid_integrate(cr_ctx *cx, cri_trapezoid *g, cri_log_density_fn *f, void *user,
                                  double from, double to, double *out_log_integral)
{
    cr_status st = CR_OK;
    double    before = NAN, value = NAN;
    bool      own_bar = cri_progress_open_steps(cx, g->label);
    g->n = 0;
    g->step = 1;
    for (double x = from; x <= to; x += g->step) CR_TRY(f(cx, user, x, &g->at[g->n++]));
    trim(g);
    value = log_integral(g);
    while (
        2 * g->n <= CRI_MOST_NODES &&
        !(fabs(value - before) <= g->enough + 0x1p-50 * fabs(value) && g->n >= CRI_LEAST_NODES)) {
        CR_TRY(refine(cx, g, f, user));
        cri_progress_steps(cx, (double)g->n);
        before = value;
        value = log_integral(g);
    }
    *out_log_integral = value;
done:
    if (own_bar) cri_progress_close(cx);
    return st;
}

void cri_trapezoid_shares(const cri_trapezoid *g, double *share)
{
    double top = highest(g), sum = 0;
    for (size_t k = 0; k < g->n; k++) sum += exp(g->at[k].log_density - top);
    for (size_t k = 0; k < g->n; k++) share[k] = exp(g->at[k].log_density - top) / sum;
}
