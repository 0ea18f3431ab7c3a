/* bayes_scales.c -- the scales of a Bayesian linear regression: averaged over, at the maximum of the
 * evidence by MacKay's fixed point or by EM, as given, or with the noise integrated out. */
#include "bayes_linear.h"
#include "base/context_internal.h"
#include "math/constants.h"
#include "math/special/special.h"

#include <math.h>

bool cri_bayes_averages(const cri_bayes_options *o)
{
    bool given = !isnan(o->alpha) || !isnan(o->noise);
    if (o->prior == CRI_BAYES_PRIOR_NIG) return false;
    return o->optimize == CRI_BAYES_OPTIMIZE_INTEGRATE ||
           (o->optimize == CRI_BAYES_OPTIMIZE_AUTO && !given);
}

bool cri_bayes_is_flat(const cri_bayes_options *o)
{
    return o->intercept && o->intercept_prior == CRI_BAYES_INTERCEPT_FLAT;
}

/* A residual sum of squares this small is the rounding of the sums it is the difference of. */
static double rounding_of_rss(const cri_shrinkage *s)
{
    return 0x1p-50 * (double)(s->r + 4) * s->tt;
}

/* --- the evidence ---------------------------------------------------------------------------- */

typedef struct posterior {
    double mm, rss, gamma, trace, log_evidence; /* |m|^2, |t - Z m|^2, PRML (3.91), tr G A^-1 */
    double inverse;                             /* tr A^-1 over the directions listed */
} posterior;

static double log_evidence(const cri_shrinkage *s, double alpha, double beta, posterior q,
                           double logdet)
{
    return 0.5 * ((double)s->r * log(alpha) + s->n * log(beta) - beta * q.rss - alpha * q.mm -
                  logdet - s->n * CRI_LOG_2PI);
}

/* evaluate() without an eigenbasis. */
static cr_status evaluate_levels(cr_ctx *cx, const cri_shrinkage *s, double alpha, double beta,
                                 posterior *out)
{
    double     p = (double)s->p;
    cri_shrunk a;
    cr_status  st = cri_shrunk_levels(cx, s, alpha / beta, &a);
    if (st != CR_OK) return st;
    posterior q = { .mm = a.mm, .rss = a.rss, .inverse = a.trace / beta };
    q.gamma = p - alpha * q.inverse;
    q.trace = q.gamma / beta;
    q.log_evidence = log_evidence(s, alpha, beta, q, p * log(beta) + a.logdet);
    *out = q;
    return CR_OK;
}

/* PRML (3.53), (3.86), (3.91) at one alpha and beta. */
static cr_status evaluate(cr_ctx *cx, const cri_shrinkage *s, double alpha, double beta,
                          posterior *out)
{
    if (s->levels) return evaluate_levels(cx, s, alpha, beta, out);
    posterior q = { .rss = s->rss0 };
    double    logdet = 0;
    for (size_t k = 0; k < s->r; k++) {
        double precision = alpha + beta * s->d[k], m = beta * s->u[k] / precision;
        /* the part of t along this direction that the shrunken m leaves unexplained */
        double left = s->d[k] > 0 ? s->u[k] * alpha / precision : 0;
        q.mm += m * m;
        q.rss += s->d[k] > 0 ? left * left / s->d[k] : 0;
        q.gamma += beta * s->d[k] / precision;
        q.trace += s->d[k] / precision;
        q.inverse += 1 / precision;
        logdet += log(precision);
    }
    q.log_evidence = log_evidence(s, alpha, beta, q, logdet);
    *out = q;
    return CR_OK;
}

/* MacKay's fixed point, PRML (3.92) and (3.95). */
static void step_fixed_point(const cri_shrinkage *s, posterior q, double *alpha, double *beta)
{
    *alpha = q.gamma / q.mm;
    *beta = (s->n - q.gamma) / q.rss;
}

/* EM, PRML (9.63) and its twin for the noise: expectations of |w|^2 and |t - Z w|^2. */
static void step_em(const cri_shrinkage *s, posterior q, double *alpha, double *beta)
{
    double trace = (double)(s->p - s->r) / *alpha + q.inverse;
    double new_alpha = (double)s->p / (q.mm + trace);
    *beta = s->n / (q.rss + q.trace);
    *alpha = new_alpha;
}

static cr_status refuse_noiseless(cr_ctx *cx)
{
    cr_fail(cx, CR_ENUMERIC,
            "the target is constant, or there are too few rows: "
            "there is no noise to learn from");
    return cr_fail_hint(cx, "give the noise: --optimize none --noise 0.01 --alpha 1");
}

static void warn_noiseless(cr_ctx *cx, const cri_shrinkage *s, double rss, double beta)
{
    if (!s->quiet && rss < 2 * rounding_of_rss(s))
        cr_log(cx, CR_LOG_WARNING,
               "the target is explained without any error: the noise is assumed to be rounding "
               "error, with an sd of %.3g",
               1 / sqrt(beta));
}

/* Maximises the evidence from the start in m->alpha, m->beta. */
static cr_status optimise(cr_ctx *cx, cri_bayes *m, const cri_shrinkage *s,
                          const cri_bayes_options *o, cr_report *report)
{
    const double LARGEST = 1e12; /* alpha this far above beta * d: all coefficients are zero */
    double       top = s->top;
    cri_clock    clock = cri_clock_start(cx, NAN);
    posterior    q;
    cr_status    st = evaluate(cx, s, m->alpha, m->beta, &q);
    if (st != CR_OK) return st;

    if (!(top > 0)) { /* the data say nothing of any coefficient, so alpha stays as it is */
        m->beta = s->n / s->tt;
        return CR_OK;
    }
    report->stop = CR_STOP_LIMIT;
    for (report->iterations = 0; report->iterations < o->max_iter;) {
        st = cr_check_interrupt(cx);
        if (st != CR_OK) return st;
        if (report->iterations > 0 && cri_clock_over(&clock)) break;
        if (!(s->n > q.gamma)) return refuse_noiseless(cx);
        double before = q.log_evidence, alpha = m->alpha, beta = m->beta;
        if (o->optimize == CRI_BAYES_OPTIMIZE_EM)
            step_em(s, q, &m->alpha, &m->beta);
        else
            step_fixed_point(s, q, &m->alpha, &m->beta);
        bool away = !(m->alpha < LARGEST * m->beta * top);
        if (away) { /* all is noise */
            m->beta = s->n / s->tt;
            m->alpha = LARGEST * m->beta * top;
        }
        st = evaluate(cx, s, m->alpha, m->beta, &q);
        if (st != CR_OK) return st;
        report->iterations++;
        cri_progress_steps(cx, (double)report->iterations);
        double gain = fabs(q.log_evidence - before) / (1 + fabs(before));
        double move = fabs(log(m->alpha / alpha)) + fabs(log(m->beta / beta));
        if ((gain <= o->tol && move <= sqrt(o->tol)) || away) {
            report->stop = CR_STOP_TOLERANCE;
            break;
        }
    }
    warn_noiseless(cx, s, q.rss, m->beta);
    return CR_OK;
}

/* --- the ways -------------------------------------------------------------------------------- */

/* Normal prior: alpha and beta found or given. */
static cr_status solve_normal(cr_ctx *cx, cri_bayes *m, const cri_shrinkage *s,
                              const cri_bayes_options *o, cr_report *report, double *out_lambda)
{
    double spread = s->tt / s->n; /* the variance of the target */
    m->beta = isnan(o->noise) ? 1 / spread : 1 / o->noise;
    m->alpha = isnan(o->alpha) ? 1 : o->alpha;
    if (o->optimize != CRI_BAYES_OPTIMIZE_NONE) {
        if (!(s->tt > 0)) return refuse_noiseless(cx);
        if (isnan(o->alpha)) m->alpha = (double)(s->p ? s->p : 1) / spread;
        bool      own_bar = cri_progress_open_steps(cx, "maximising the evidence");
        cr_status st = optimise(cx, m, s, o, report);
        if (own_bar) cri_progress_close(cx);
        if (st != CR_OK) return st;
    } else if (!isfinite(m->beta)) {
        return refuse_noiseless(cx);
    }
    posterior q;
    cr_status st = evaluate(cx, s, m->alpha, m->beta, &q);
    if (st != CR_OK) return st;
    m->rss = q.rss;
    m->gamma = q.gamma;
    m->fit.sigma = 1 / sqrt(m->beta);
    m->fit.dof = INFINITY;
    report->log_evidence = q.log_evidence;
    *out_lambda = m->alpha / m->beta;
    return CR_OK;
}

/* |t - Z m|^2 and the effective number of coefficients, averages over the directions. */
static void measure_average(const cri_shrinkage *s, const cri_scales *q, cri_bayes *m)
{
    m->rss = s->rss0;
    m->gamma = 0;
    for (size_t k = 0; k < s->r; k++) {
        if (!(s->d[k] > 0)) continue;
        double left = s->u[k] - s->d[k] * cri_scales_mean(q, s->d[k], s->u[k]);
        m->rss += left * left / s->d[k];
        m->gamma += cri_scales_mean(q, s->d[k], s->d[k]);
    }
}

/* Normal prior: alpha and beta averaged over. */
static cr_status solve_average(cr_ctx *cx, cr_scratch *arena, cri_bayes *m, const cri_shrinkage *s,
                               cr_report *report, cri_scales *out)
{
    cr_status st = CR_OK;
    if (!(s->tt > 0)) return refuse_noiseless(cx);
    CR_TRY(cri_scales_new(cx, arena, s, out));
    m->alpha = exp(out->log_alpha);
    m->beta = 1 / out->sigma2;
    m->fit.sigma = sqrt(out->sigma2);
    m->fit.dof = out->dof;
    report->log_evidence = out->log_evidence;
    if (s->levels) {
        cri_shrunk at;
        CR_TRY(cri_shrunk_levels(cx, s, exp(out->log_lambda), &at));
        m->rss = at.rss;
        m->gamma = (double)s->p - exp(out->log_lambda) * at.trace;
    } else {
        measure_average(s, out, m);
    }
    warn_noiseless(cx, s, m->rss, m->beta);
done:
    return st;
}

/* Normal-inverse-gamma prior; Murphy (2012), (7.69)-(7.73) and the evidence (7.74). */
static cr_status solve_nig(cr_ctx *cx, cri_bayes *m, const cri_shrinkage *s,
                           const cri_bayes_options *o, cr_report *report, double *out_lambda)
{
    double v = o->prior_variance, mm = 0, logdet = 0;
    m->rss = s->rss0;
    m->gamma = 0;
    if (s->levels) {
        cri_shrunk a;
        cr_status  st = cri_shrunk_levels(cx, s, 1 / v, &a);
        if (st != CR_OK) return st;
        mm = a.mm;
        m->rss = a.rss;
        m->gamma = (double)s->p - a.trace / v;
        logdet = (double)s->p * log(v) + a.logdet;
    }
    for (size_t k = 0; !s->levels && k < s->r; k++) {
        double precision = s->d[k] + 1 / v;
        mm += s->u[k] * s->u[k] / (precision * precision);
        logdet += log1p(v * s->d[k]);
        m->gamma += s->d[k] / precision;
        double left = s->u[k] / (v * precision);
        m->rss += s->d[k] > 0 ? left * left / s->d[k] : 0;
    }
    *out_lambda = 1 / v;
    m->v = v;
    m->a = o->shape + s->n / 2;
    m->b = o->rate + (m->rss + mm / v) / 2; /* a sum of squares: no difference can cancel */
    m->fit.dof = 2 * m->a;
    m->fit.sigma = sqrt(m->b / m->a);
    report->log_evidence = -0.5 * (s->n * CRI_LOG_2PI + logdet) + o->shape * log(o->rate) -
                           m->a * log(m->b) + cr_lgamma_abs(m->a) - cr_lgamma_abs(o->shape);
    return CR_OK;
}

/* A flat intercept is as likely anywhere as the mean of the target is under a normal of the target's
 * own variance, so that the evidence has no unit. */
static double log_flat_intercept(const cri_shrinkage *s, double weight)
{
    return -0.5 * (CRI_LOG_2PI + log(s->tt / weight));
}

cr_status cri_bayes_learn(cr_ctx *cx, cr_scratch *arena, cri_bayes *m, cri_shrinkage *s,
                          double left, const cri_bayes_options *o, double weight,
                          double target_scale, cr_report *report, cri_bayes_scales *out)
{
    cr_status st = CR_OK;
    bool      flat = cri_bayes_is_flat(o);
    s->n = weight - flat;
    s->rss0 = fmax(left, rounding_of_rss(s));
    bool given = s->levels || s->signal > 0;
    for (size_t k = 0; !given && k < s->r; k++) s->signal += s->d[k] / weight;
    if (!(s->n > 0) && weight < 1) {
        cr_fail(cx, CR_EDATA,
                "the weights add up to %.3g rows, but a flat intercept needs more than one",
                weight);
        CR_TRY(cr_fail_hint(cx, "scale the weights to add up to the number of rows"));
    }
    if (!(s->n > 0)) {
        cr_fail(cx, CR_EDATA, "one row is not enough for a flat intercept");
        CR_TRY(cr_fail_hint(cx, "--no-intercept leaves it out"));
    }
    report->stop = CR_STOP_CLOSED_FORM;
    m->nig = o->prior == CRI_BAYES_PRIOR_NIG;
    m->averaged = cri_bayes_averages(o);
    if (m->nig)
        CR_TRY(solve_nig(cx, m, s, o, report, &out->lambda));
    else if (m->averaged)
        CR_TRY(solve_average(cx, arena, m, s, report, &out->average));
    else
        CR_TRY(solve_normal(cx, m, s, o, report, &out->lambda));
    if (m->averaged) out->lambda = exp(out->average.log_lambda);
    if (flat) report->log_evidence -= 0.5 * log(weight); /* integral over b0 */
    if (flat && m->averaged) report->log_evidence += log_flat_intercept(s, weight);
    /* the density of the target as given */
    report->log_evidence -= (m->averaged ? weight : s->n) * log(target_scale);
    m->fit.has_intercept = o->intercept;
    m->fit.mean_share = o->intercept ? 1 / weight : 0; /* a mean of n rows is no better known */
done:
    return st;
}
