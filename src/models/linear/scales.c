/* scales.c -- the average over the scales of a Bayesian linear regression. */
#include "scales.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

cr_status cri_shrunk_levels(cr_ctx *cx, const cri_shrinkage *s, double lambda, cri_shrunk *out)
{
    cri_bordered_answer a;
    cr_status           st = cri_bordered_at(cx, s->levels, lambda, s->x, &a);
    if (st == CR_OK && !a.good)
        st = cr_fail(cx, CR_ENUMERIC, "the equations are not positive definite at lambda = %g",
                     lambda);
    if (st == CR_OK) *out = (cri_shrunk){ a.square, fmax(a.rss, s->rss0), a.trace, a.logdet };
    return st;
}

/* --- the density of log l -------------------------------------------------------------------- */

/* x = log l - log signal = - log tau, whose density is 1 / (2 pi cosh(x / 2)). */
typedef struct node {
    double x, log_density, R;
} node;

static double lambda_of(const cri_shrinkage *s, double x)
{
    return (s->signal > 0 ? s->signal : 1) * exp(x);
}

/* R and ln |I + G / l|. */
static cr_status measure(cr_ctx *cx, const cri_shrinkage *s, double lambda, double *out_R,
                         double *out_logdet)
{
    double R = s->rss0, logdet = 0;
    if (s->levels) {
        cri_shrunk a;
        cr_status  st = cri_shrunk_levels(cx, s, lambda, &a);
        if (st != CR_OK) return st;
        R = a.rss + lambda * a.mm;
        logdet = a.logdet - (double)s->p * log(lambda);
    }
    for (size_t k = 0; !s->levels && k < s->r; k++) {
        if (!(s->d[k] > 0)) continue;
        R += s->u[k] * s->u[k] / s->d[k] * (lambda / (s->d[k] + lambda));
        logdet += log1p(s->d[k] / lambda);
    }
    *out_R = R;
    *out_logdet = logdet;
    return CR_OK;
}

static cr_status evaluate(cr_ctx *cx, const cri_shrinkage *s, double x, node *out)
{
    double    R, logdet;
    cr_status st = cr_check_interrupt(cx);
    if (st == CR_OK) st = measure(cx, s, lambda_of(s, x), &R, &logdet);
    if (st != CR_OK) return st;
    double prior = -0.5 * fabs(x) - log1p(exp(-fabs(x))) - (CRI_LOG_2PI - log(2));
    *out = (node){ x, prior - 0.5 * (logdet + s->n * log(R / 2)), R };
    return CR_OK;
}

/* --- the trapezoid rule ---------------------------------------------------------------------- */

enum { MOST_NODES = 4096, LEAST_NODES = 9 };

/* Nodes a step apart, those too far below the highest left out. */
typedef struct grid {
    node  *at; /* [MOST_NODES] */
    size_t n;
    double step, drop;
} grid;

static double highest(const grid *g)
{
    double top = -INFINITY;
    for (size_t k = 0; k < g->n; k++) top = fmax(top, g->at[k].log_density);
    return top;
}

/* Keeps the nodes from the first to the last of some height, and one more at either end. */
static void trim(grid *g)
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

static double log_integral(const grid *g)
{
    double top = highest(g), sum = 0;
    for (size_t k = 0; k < g->n; k++) sum += exp(g->at[k].log_density - top);
    return top + log(sum * g->step);
}

/* Half the step: a node between each two. */
static cr_status refine(cr_ctx *cx, const cri_shrinkage *s, grid *g)
{
    for (size_t k = g->n; k-- > 0;) g->at[2 * k] = g->at[k];
    for (size_t k = 0; k + 1 < g->n; k++) {
        double    x = 0.5 * (g->at[2 * k].x + g->at[2 * k + 2].x);
        cr_status st = evaluate(cx, s, x, &g->at[2 * k + 1]);
        if (st != CR_OK) return st;
    }
    g->n = 2 * g->n - 1;
    g->step /= 2;
    trim(g);
    return CR_OK;
}

/* Solving the equations of many levels costs more than a sum over directions, and so many terms
 * settle l: fewer nodes do there. */
static cr_status integrate(cr_ctx *cx, const cri_shrinkage *s, grid *g, double *out_log_integral)
{
    const double from = s->levels ? -20 : -150, to = s->levels ? 20 : 80;
    const double enough = s->levels ? 1e-6 : 1e-11;
    double       before = NAN, value = NAN;
    g->step = 1;
    g->drop = s->levels ? 20 : 36;
    if (!(s->signal > 0)) { /* the data say nothing of any coefficient, nor of l */
        cr_status st = evaluate(cx, s, 0, g->at);
        g->n = 1;
        *out_log_integral = -0.5 * s->n * log(g->at->R / 2);
        return st;
    }
    for (double x = from; x <= to; x += g->step) {
        cr_status st = evaluate(cx, s, x, &g->at[g->n++]);
        if (st != CR_OK) return st;
    }
    trim(g);
    value = log_integral(g);
    while (2 * g->n <= MOST_NODES &&
           !(fabs(value - before) <= enough + 0x1p-50 * fabs(value) && g->n >= LEAST_NODES)) {
        cr_status st = refine(cx, s, g);
        if (st != CR_OK) return st;
        cr_progress(cx, "averaging over the scales", (double)g->n, 0);
        before = value;
        value = log_integral(g);
    }
    *out_log_integral = value;
    return CR_OK;
}

cr_status cri_scales_new(cr_ctx *cx, cr_scratch *arena, const cri_shrinkage *s, cri_scales *out)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    grid       g = { .at = cr_scratch_bytes(&scratch, MOST_NODES, sizeof(node)) };
    double     sum = 0, total = 0;
    cri_scales q = { .dof = s->n };

    CR_TRY(scratch.status);
    CR_TRY(integrate(cx, s, &g, &total));
    q.nodes = g.n;
    q.lambda = cr_scratch_f64(arena, g.n);
    q.weight = cr_scratch_f64(arena, g.n);
    q.noise = cr_scratch_f64(arena, g.n);
    CR_TRY(arena->status);
    double top = highest(&g), mean_log_gamma = cr_digamma(s->n / 2);
    for (size_t k = 0; k < g.n; k++) sum += exp(g.at[k].log_density - top);
    for (size_t k = 0; k < g.n; k++) {
        double w = exp(g.at[k].log_density - top) / sum, R = g.at[k].R;
        q.lambda[k] = lambda_of(s, g.at[k].x);
        q.weight[k] = w;
        q.noise[k] = R / s->n;
        q.sigma2 += w * q.noise[k];
        q.log_lambda += w * log(q.lambda[k]);
        q.log_alpha += w * (log(q.lambda[k]) + mean_log_gamma - log(R / 2));
    }
    q.log_evidence = total + cr_lgamma_abs(s->n / 2) - 0.5 * s->n * CRI_LOG_2PI -
                     0.5 * (CRI_LOG_2PI + log(2)); /* c */
    *out = q;
done:
    cr_scratch_end(&scratch);
    return st;
}

/* --- the mixture ----------------------------------------------------------------------------- */

double cri_scales_mean(const cri_scales *q, double d, double u)
{
    double mean = 0;
    for (size_t k = 0; k < q->nodes; k++) mean += q->weight[k] * (u / (d + q->lambda[k]));
    return mean;
}

double cri_scales_square(const cri_scales *q, double d, bool inner)
{
    double mean = 0;
    for (size_t k = 0; k < q->nodes; k++)
        mean += q->weight[k] * q->noise[k] / ((d + q->lambda[k]) * (inner ? q->lambda[k] : 1));
    return mean;
}

void cri_scales_spread(const cri_scales *q, size_t r, const double *d, const double *u, double *out)
{
    double share = fmax(1 - 2 / q->dof, 0); /* of the variance of a t that is its scale^2 */
    for (size_t j = 0; j < r; j++) {
        double mean = cri_scales_mean(q, d[j], u[j]);
        for (size_t k = 0; k < q->nodes; k++)
            out[j * q->nodes + k] =
                d[j] > 0 ? sqrt(share * q->weight[k]) * (u[j] / (d[j] + q->lambda[k]) - mean) : 0;
    }
}
