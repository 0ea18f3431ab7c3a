/* scales.c -- the average over the scales of a Bayesian linear regression. */
#include "scales.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/special/special.h"
#include "math/trapezoid.h"

#include <math.h>

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

/* x = log l - log signal = - log tau, whose density is 1 / (2 pi cosh(x / 2)); the value of a node is
 * R. */
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

double cri_log_prior_of_ratio(double x)
{
    return -0.5 * fabs(x) - log1p(exp(-fabs(x))) - (CRI_LOG_2PI - log(2));
}

static cr_status evaluate(cr_ctx *cx, void *shrinkage, double x, cri_node *out)
{
    const cri_shrinkage *s = shrinkage;
    double               R, logdet;
    cr_status            st = cr_check_interrupt(cx);
    if (st == CR_OK) st = measure(cx, s, lambda_of(s, x), &R, &logdet);
    if (st != CR_OK) return st;
    *out = (cri_node){ x, cri_log_prior_of_ratio(x) - 0.5 * (logdet + s->n * log(R / 2)), R };
    return CR_OK;
}

/* Solving the equations of many levels costs more than a sum over directions, and so many terms
 * settle l: fewer nodes do there. */
static cr_status integrate(cr_ctx *cx, cri_shrinkage *s, cri_trapezoid *g, double *out_log_integral)
{
    const double from = s->levels ? -20 : -150, to = s->levels ? 20 : 80;
    g->enough = s->levels ? 1e-6 : 1e-11;
    g->drop = s->levels ? 20 : 36;
    g->label = "averaging over the scales";
    if (!(s->signal > 0)) { /* the data say nothing of any coefficient, nor of l */
        cr_status st = evaluate(cx, s, 0, g->at);
        g->n = 1;
        *out_log_integral = -0.5 * s->n * log(g->at->value / 2);
        return st;
    }
    return cri_trapezoid_integrate(cx, g, evaluate, s, from, to, out_log_integral);
}

cr_status cri_scales_new(cr_ctx *cx, cr_scratch *arena, const cri_shrinkage *s, cri_scales *out)
{
    cr_status     st = CR_OK;
    cr_scratch    scratch = cr_scratch_begin(cx);
    cri_trapezoid g = { .at = cr_scratch_bytes(&scratch, CRI_MOST_NODES, sizeof(cri_node)) };
    cri_shrinkage problem = *s;
    double        total = 0;
    cri_scales    q = { .dof = s->n };

    CR_TRY(scratch.status);
    CR_TRY(integrate(cx, &problem, &g, &total));
    q.nodes = g.n;
    q.lambda = cr_scratch_f64(arena, g.n);
    q.weight = cr_scratch_f64(arena, g.n);
    q.noise = cr_scratch_f64(arena, g.n);
    CR_TRY(arena->status);
    double mean_log_gamma = cr_digamma(s->n / 2);
    cri_trapezoid_shares(&g, q.weight);
    for (size_t k = 0; k < g.n; k++) {
        double w = q.weight[k], R = g.at[k].value;
        q.lambda[k] = lambda_of(s, g.at[k].x);
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
