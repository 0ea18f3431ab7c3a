/* cg.c -- methods that need a few vectors only: steepest descent and conjugate gradients.
 *   d' = -g' + beta d
 * Hager & Zhang (2005), SIAM J. Optim. 16: beta = (y - 2 d |y|^2 / d.y) . g' / d.y, cut off below
 * at -1 / (|d| min(0.01, |g|)).  Polak & Ribiere (1969): beta = max(0, y . g' / |g|^2).
 * y = g' - g.  A direction that does not descend is replaced by -g'. */
#include "run.h"
#include "math/dense/dense.h"

#include <math.h>

typedef struct pair { /* of the step from the current point to the trial */
    double yg, yy, dy, dg, gg_before, gg, dd;
} pair;

static pair measure(const cri_run *run, const double *d)
{
    pair p = { 0, 0, 0, 0, 0, 0, 0 };
    for (size_t i = 0; i < run->n; i++) {
        double y = run->trial_g[i] - run->g[i], g = run->trial_g[i];
        p.yg += y * g;
        p.yy += y * y;
        p.dy += d[i] * y;
        p.dg += d[i] * g;
        p.dd += d[i] * d[i];
        p.gg += g * g;
        p.gg_before += run->g[i] * run->g[i];
    }
    return p;
}

static double conjugate(const cri_run *run, const pair *p)
{
    if (run->options->beta == CR_BETA_POLAK_RIBIERE) return fmax(0, p->yg / p->gg_before);
    double beta = (p->yg - 2 * p->yy * p->dg / p->dy) / p->dy;
    double least = -1 / (sqrt(p->dd) * fmin(0.01, sqrt(p->gg_before)));
    return fmax(beta, least);
}

/* The Barzilai-Borwein step along -g': s.s / s.y, s = a d. */
static double barzilai_borwein(const pair *p, double a)
{
    double step = a * p->dd / p->dy;
    return step > 0 && isfinite(step) ? step : 1 / sqrt(p->gg);
}

static void restart(const cri_run *run, double *d, double *out_first)
{
    for (size_t i = 0; i < run->n; i++) d[i] = -run->g[i];
    *out_first = 1 / cr_norm2(run->g, run->n);
}

/* d and the trial step for the next search, from the step just found. */
static void turn(const cri_run *run, bool conjugates, double a, double *d, double *first)
{
    pair   p = measure(run, d);
    double beta = conjugates ? conjugate(run, &p) : 0;
    if (!isfinite(beta)) beta = 0;
    double slope = -p.gg + beta * p.dg;
    if (!(slope < 0)) beta = 0, slope = -p.gg;
    /* cg: the change of f to first order stays the same; steepest descent: Barzilai-Borwein */
    double same = a * cr_dot(run->g, d, run->n) / slope;
    *first = conjugates ? fmin(same, 10 * a * sqrt(p.dd / p.gg)) : barzilai_borwein(&p, a);
    if (!(*first > 0) || !isfinite(*first)) *first = 1 / sqrt(p.gg);
    for (size_t i = 0; i < run->n; i++) d[i] = -run->trial_g[i] + beta * d[i];
}

static cr_status descend(cri_run *run, bool conjugates)
{
    cr_status st = CR_OK;
    double   *d = cr_scratch_f64(run->scratch, run->n), first;
    double    curvature = cri_run_curvature(run, conjugates ? 0.1 : 0.9);
    bool      fresh = true, over = false;

    CR_TRY(run->scratch->status);
    restart(run, d, &first);
    while (!over) {
        cr_step step;
        bool    found;
        CR_TRY(cri_run_tick(run));
        CR_TRY(cri_run_search(run, d, first, INFINITY, curvature, &step, &found));
        if (found) {
            turn(run, conjugates, step.step, d, &first);
            over = cri_run_accept(run, step);
            fresh = false;
        } else if (!fresh) {
            restart(run, d, &first);
            fresh = true;
        } else {
            run->report->stop = CR_END_NO_PROGRESS;
            over = true;
        }
    }
done:
    return st;
}

cr_status cri_minimize_cg(cri_run *run) { return descend(run, true); }
cr_status cri_minimize_gradient(cri_run *run) { return descend(run, false); }
