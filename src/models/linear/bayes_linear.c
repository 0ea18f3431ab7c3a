/* bayes_linear.c -- Bayesian linear regression.
 *   y ~ N(b0 + z . w, 1/beta),   w ~ N(0, I/alpha),   z standardised, b0 flat or the mean of y.
 * Posterior  N(m, A^-1),  A = alpha I + beta G,  m = beta A^-1 g,  and the log evidence
 *   p/2 ln alpha + n/2 ln beta - beta/2 |t - Z m|^2 - alpha/2 |m|^2 - 1/2 ln|A| - n/2 ln 2 pi.
 * alpha and beta are averaged over (scales.h); or maximise the evidence by MacKay's fixed point or by
 * EM; or are given; or, with the normal-inverse-gamma prior  w | s2 ~ N(0, s2 v I), s2 ~ IG(a, b),
 * the noise is integrated out.
 * All of it is O(p) per step in the eigenbasis of G: G = V diag(d) V^T, u = V^T g.  Where terms are
 * many more than rows the same comes from the n x n eigenbasis of Z Z^T (dual.h): the directions
 * that are missing have d = 0.  Of a category of many levels a step solves the equations with the
 * levels eliminated (bordered.h), O(n + p).
 * Bishop (2006), PRML, sec. 3.3 and 3.5; Murphy (2012), sec. 7.6. */
#include "dual.h"
#include "scales.h"
#include "math/constants.h"
#include "models/common/moments.h"
#include "spectrum.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define BAYES_LINEAR_OPTIONS(X)                                                                      \
    X(choice, prior,          "normal",      "normal|nig",                                           \
      "normal: given alpha and noise; nig: normal-inverse-gamma, the noise integrated out", "nig")   \
    X(choice, optimize,       "auto",        "auto|integrate|fixed-point|em|none",                   \
      "auto: integrate, or fixed-point where alpha or noise is given; integrate: average over alpha and noise; fixed-point, em: take the values of highest evidence as if known; none: keep them as given", "em") \
    X(real,   alpha,          "",            ">0", "prior precision of each coefficient (start, or fixed)", "1") \
    X(real,   noise,          "",            ">0", "variance of the observations (start, or fixed)", "0.25") \
    X(real,   prior_variance, "10",          ">0", "nig: prior variance of a coefficient over the noise variance", "100") \
    X(real,   shape,          "1",           ">0", "nig: shape a of the inverse gamma on the noise variance", "0.5") \
    X(real,   rate,           "1",           ">0", "nig: rate b of the inverse gamma on the noise variance", "0.5") \
    X(flag,   intercept,      "true",        "", "fit an intercept", "false")                        \
    X(choice, intercept_prior, "flat",       "centre|flat",                                          \
      "centre: predictions and evidence take the mean of the target as known; flat: it has a flat prior and is integrated out", \
      "centre")                                                                                        \
    X(choice, solver,         "auto",        "auto|primal|dual",                                     \
      "work with p x p or n x n matrices; auto uses the dual if there are more terms than rows and more than 1000 terms", "dual") \
    X(real,   tol,            "1e-12",       ">0", "stop when the log evidence gains less, relatively", "1e-6") \
    X(count,  max_iter,       "10000",       ">=1", "give up after this many steps", "100")
/* clang-format on */
enum { PRIOR_NORMAL, PRIOR_NIG };
enum { OPTIMIZE_AUTO, OPTIMIZE_INTEGRATE, OPTIMIZE_FIXED_POINT, OPTIMIZE_EM, OPTIMIZE_NONE };
enum { INTERCEPT_CENTRE, INTERCEPT_FLAT };
enum { SOLVER_AUTO, SOLVER_PRIMAL, SOLVER_DUAL };

CR_OPTIONS(bayes_options, bayes_table, BAYES_LINEAR_OPTIONS);

/* Values that the user gives are where a search begins; without any, all are averaged over. */
static bool averages(const bayes_options *o)
{
    bool given = !isnan(o->alpha) || !isnan(o->noise);
    return o->optimize == OPTIMIZE_INTEGRATE || (o->optimize == OPTIMIZE_AUTO && !given);
}

static const cri_requirement bayes_requirements[] = {
    { "alpha", "optimize", "auto|fixed-point|em|none", false },
    { "noise", "optimize", "auto|fixed-point|em|none", false },
    { "tol", "optimize", "auto|fixed-point|em", false },
    { "max_iter", "optimize", "auto|fixed-point|em", false },
    CRI_REQUIREMENT_LAST,
};

/* clang-format off */
#define BAYES_STATE(MEMBER)                                                                         \
    MEMBER(flag, nig,     (),              "",         "normal-inverse-gamma prior, not normal")    \
    MEMBER(flag, dual,    (),              "",         "n x n equations")                           \
    MEMBER(count, averaged, (),            "spare",    "1: over alpha and beta, which are then means")\
    MEMBER(real, alpha,   (),              "any none", "normal prior: its precision")               \
    MEMBER(real, beta,    (),              "any none", "normal prior: precision of the noise")      \
    MEMBER(real, a,       (),              "any none", "nig: posterior shape")                      \
    MEMBER(real, b,       (),              "any none", "nig: posterior rate")                       \
    MEMBER(real, v,       (),              "any none", "nig: prior variance")                       \
    MEMBER(real, gamma,   (),              "any none", "effective number of coefficients")          \
    MEMBER(real, rss,     (),              "any none", "|t - Z m|^2")                               \
    MEMBER(part, fit,     (cri_predictor), "",         "")                                          \
    MEMBER(part, moments, (cri_moments),   "none",     "for updates; absent after a fit in the dual, or with fit.diagonal") \
    MEMBER(part, kept,    (cri_kept_rows), "none",     "of a fit in the dual to sparse rows")
/* clang-format on */

CRI_RECORD(bayes_state, BAYES_STATE);
CRI_RECORD_TABLE(static, bayes_record, bayes_state, BAYES_STATE);

static bool is_flat(const bayes_options *o)
{
    return o->intercept && o->intercept_prior == INTERCEPT_FLAT;
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
    if (rss < 2 * rounding_of_rss(s))
        cr_log(cx, CR_LOG_WARNING,
               "the target is explained without any error: the noise is taken to "
               "be its rounding, with an sd of %.3g",
               1 / sqrt(beta));
}

/* Maximises the evidence from the start in m->alpha, m->beta. */
static cr_status optimise(cr_ctx *cx, bayes_state *m, const cri_shrinkage *s,
                          const bayes_options *o, cr_report *report)
{
    const double LARGEST = 1e12; /* alpha this far above beta * d: all coefficients are zero */
    double       top = s->top;
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
        if (!(s->n > q.gamma)) return refuse_noiseless(cx);
        double before = q.log_evidence, alpha = m->alpha, beta = m->beta;
        if (o->optimize == OPTIMIZE_EM)
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
        cr_progress(cx, "maximising the evidence", (double)report->iterations, 0);
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

/* --- the fit --------------------------------------------------------------------------------- */

/* Normal prior: alpha and beta found or given. */
static cr_status solve_normal(cr_ctx *cx, bayes_state *m, const cri_shrinkage *s,
                              const bayes_options *o, cr_report *report, double *out_lambda)
{
    double spread = s->tt / s->n; /* the variance of the target */
    m->beta = isnan(o->noise) ? 1 / spread : 1 / o->noise;
    m->alpha = isnan(o->alpha) ? 1 : o->alpha;
    if (o->optimize != OPTIMIZE_NONE) {
        if (!(s->tt > 0)) return refuse_noiseless(cx);
        if (isnan(o->alpha)) m->alpha = (double)(s->p ? s->p : 1) / spread;
        cr_status st = optimise(cx, m, s, o, report);
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
static void measure_average(const cri_shrinkage *s, const cri_scales *q, bayes_state *m)
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
static cr_status solve_average(cr_ctx *cx, cr_scratch *arena, bayes_state *m,
                               const cri_shrinkage *s, cr_report *report, cri_scales *out)
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
static cr_status solve_nig(cr_ctx *cx, bayes_state *m, const cri_shrinkage *s,
                           const bayes_options *o, cr_report *report, double *out_lambda)
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

/* What is known of the scales: the ratio lambda of the prior's precision to the noise's, or an
 * average over it (nodes > 0). */
typedef struct learned {
    double     lambda;
    cri_scales average;
} learned;

/* A flat intercept is as likely anywhere as the mean of the target is under a normal of the target's
 * own variance, so that the evidence has no unit. */
static double log_flat_intercept(const cri_shrinkage *s, double weight)
{
    return -0.5 * (CRI_LOG_2PI + log(s->tt / weight));
}

/* alpha, beta or a, b, and the evidence: `s` is set except what no w can explain, of which `left` is
 * known. */
static cr_status learn_scales(cr_ctx *cx, cr_scratch *arena, bayes_state *m, cri_shrinkage *s,
                              double left, const bayes_options *o, double weight,
                              double target_scale, cr_report *report, learned *out)
{
    cr_status st = CR_OK;
    bool      flat = is_flat(o);
    s->n = weight - flat;
    s->rss0 = fmax(left, rounding_of_rss(s));
    for (size_t k = 0; !s->levels && k < s->r; k++) s->signal += s->d[k] / weight;
    if (!(s->n > 0)) CR_TRY(cr_fail(cx, CR_EDATA, "one row is not enough for a flat intercept"));
    report->stop = CR_STOP_CLOSED_FORM;
    m->nig = o->prior == PRIOR_NIG;
    m->averaged = !m->nig && averages(o);
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

/* Of one lambda: w = the mean in the basis V, and F. */
static void set_posterior(cri_predictor *fit, const double *d, const double *V, double lambda,
                          double *u)
{
    size_t p = fit->p;
    for (size_t k = 0; k < p; k++) {
        double precision = d[k] + lambda;
        u[k] /= precision;
        for (size_t j = 0; j < p; j++) fit->factor[k * p + j] = V[j * p + k] / sqrt(precision);
    }
}

/* Of the average: F = L' V' with L L' the scale^2 of w in the basis V over that of the noise. */
static cr_status set_average(cr_ctx *cx, const cri_scales *q, const double *d, const double *V,
                             double *u, cri_predictor *fit)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = fit->p;
    double    *M = cr_scratch_matrix(&s, p, q->nodes), *C = cr_scratch_matrix(&s, p, p);

    CR_TRY(s.status);
    cri_scales_spread(q, p, d, u, M);
    CR_TRY(cr_syrk(cx, 1 / q->sigma2, cr_cmat_of(M, p, q->nodes), CR_PLAIN, 0, cr_mat_of(C, p, p)));
    for (size_t k = 0; k < p; k++) {
        C[k * p + k] += cri_scales_square(q, d[k], false) / q->sigma2;
        u[k] = cri_scales_mean(q, d[k], u[k]);
    }
    CR_TRY(cr_chol(cx, cr_mat_of(C, p, p)));
    for (size_t k = 0; k < p; k++)
        for (size_t j = k + 1; j < p; j++) C[k * p + j] = 0;
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(C, p, p), CR_TRANSPOSED, cr_cmat_of(V, p, p), CR_TRANSPOSED, 0,
                   cr_mat_of(fit->factor, p, p)));
done:
    cr_scratch_end(&s);
    return st;
}

/* From the moments to the posterior. */
static cr_status bayes_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                             cr_report *report)
{
    cr_status            st = CR_OK;
    cr_scratch           sc = cr_scratch_begin(cx);
    const bayes_options *o = options;
    bayes_state         *m = state;
    size_t               p = m->moments.p;
    double              *V = cr_scratch_matrix(&sc, p, p), *d = cr_scratch_f64(&sc, p);
    double              *u = cr_scratch_f64(&sc, p), *w = cr_scratch_f64(&sc, p);
    cri_gram             g = { 0 };
    learned              scales = { 0 };

    CR_TRY(sc.status);
    CR_TRY(cri_gram_new(cx, &m->moments, o->intercept, design->standardised, &g));
    CR_TRY(cri_predictor_new(cx, p, p, &m->fit));
    memcpy(m->fit.centre, g.centre, p * sizeof(double));
    memcpy(m->fit.scale, g.scale, p * sizeof(double));
    CR_TRY(cri_gram_spectrum(cx, &g, d, V));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(V, p, p), CR_TRANSPOSED, g.g, 0, u));

    cri_shrinkage s = { .p = p, .r = p, .d = d, .u = u, .tt = g.tt, .top = p ? d[p - 1] : 0 };
    double        left = g.tt;
    for (size_t k = 0; k < p; k++) {
        if (d[k] > 0)
            left -= u[k] * u[k] / d[k];
        else
            u[k] = 0; /* no data in this direction */
    }
    CR_TRY(learn_scales(cx, &sc, m, &s, left, o, g.weight, design->target_scale, report, &scales));
    if (m->averaged)
        CR_TRY(set_average(cx, &scales.average, d, V, u, &m->fit));
    else
        set_posterior(&m->fit, d, V, scales.lambda, u);
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(V, p, p), CR_PLAIN, u, 0, w));
    cri_predictor_set_coef(&m->fit, w, g.offset);
    cri_predictor_set_sds(&m->fit);
    if (!is_flat(o)) m->fit.mean_share = 0; /* predictions take it as known */
done:
    cri_gram_free(cx, &g);
    cr_scratch_end(&sc);
    return st;
}

/* The average in the basis of the dual, as dual.h has it: scale^2 of w over that of the noise is
 *   1/l0 (I - Z' U B U' Z),   B = l0 (diag(mean of R/n / (l (d + l))) - M M').
 * M M' is what the means of the nodes add; where it would leave B without a factor it is left out. */
static cr_status average_dual(cr_ctx *cx, cr_scratch *arena, const cri_scales *q, cri_dual *dual,
                              double *out_lambda)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = dual->n;
    double     lambda = q->sigma2 / cri_scales_square(q, 0, false), by = lambda / q->sigma2;
    double    *M = cr_scratch_matrix(&s, n, q->nodes), *e = cr_scratch_f64(&s, n);
    double    *mean = cr_scratch_f64(arena, n), *B = cr_scratch_matrix(arena, n, n);

    CR_TRY(s.status);
    CR_TRY(arena->status);
    cri_scales_spread(q, n, dual->d, dual->c, M);
    CR_TRY(cr_syrk(cx, -by, cr_cmat_of(M, n, q->nodes), CR_PLAIN, 0, cr_mat_of(B, n, n)));
    for (size_t k = 0; k < n; k++) {
        mean[k] = cri_scales_mean(q, dual->d[k], dual->c[k]);
        e[k] = dual->d[k] > 0 ? by * cri_scales_square(q, dual->d[k], true) : 1 / lambda;
        B[k * n + k] += e[k];
    }
    st = cr_chol(cx, cr_mat_of(B, n, n));
    for (size_t k = 0; st == CR_OK && k < n; k++)
        for (size_t j = k + 1; j < n; j++) B[k * n + j] = 0;
    if (st == CR_ENUMERIC) {
        st = CR_OK;
        memset(B, 0, n * n * sizeof *B);
        for (size_t k = 0; k < n; k++) B[k * n + k] = sqrt(e[k]);
    }
    CR_TRY(st);
    dual->mean = mean;
    dual->inner = B;
    *out_lambda = lambda;
done:
    cr_scratch_end(&s);
    return st;
}

/* From the rows to the posterior, without a p x p matrix. */
static cr_status solve_dual(cr_ctx *cx, bayes_state *m, const cri_rows *rows,
                            const bayes_options *o, cr_report *report)
{
    cr_status        st = CR_OK;
    cr_scratch       sc = cr_scratch_begin(cx);
    const cr_design *design = rows->design;
    double          *u = cr_scratch_f64(&sc, rows->n);
    cri_dual         q;
    learned          scales = { 0 };

    CR_TRY(sc.status);
    m->dual = true;
    CR_TRY(cri_dual_new(cx, &sc, rows, o->intercept, design->standardised, &m->fit, &q));
    for (size_t k = 0; k < q.n; k++) u[k] = sqrt(q.d[k]) * q.c[k];
    /* no more than p directions, of which those of the largest d are told of */
    size_t        r = q.n < q.p ? q.n : q.p, from = q.n - r;
    cri_shrinkage s = { .p = q.p, .r = r, .d = q.d + from, .u = u + from, .tt = q.tt };
    s.top = r ? s.d[r - 1] : 0;
    CR_TRY(
        learn_scales(cx, &sc, m, &s, q.left, o, q.weight, design->target_scale, report, &scales));
    if (m->averaged) CR_TRY(average_dual(cx, &sc, &scales.average, &q, &scales.lambda));
    CR_TRY(cri_dual_solve(cx, &q, scales.lambda, &m->fit, &m->kept));
    CR_TRY(cri_dual_set_sds(cx, &q, &m->kept, &m->fit));
    if (!is_flat(o)) m->fit.mean_share = 0;
done:
    cr_scratch_end(&sc);
    return st;
}

/* From rows to the posterior: one category of many levels. */
static cr_status solve_levels(cr_ctx *cx, bayes_state *m, const cri_rows *rows,
                              const bayes_options *o, cr_report *report)
{
    cr_status        st = CR_OK;
    cr_scratch       sc = cr_scratch_begin(cx);
    const cr_design *design = rows->design;
    cri_shrinkage    s = { .p = rows->p, .r = rows->p, .x = cr_scratch_f64(&sc, rows->p + 1) };
    learned          scales = { 0 };
    cri_rows         view = { 0 };
    cri_sparse_terms z;
    cri_bordered     b;
    cri_shrunk       end;

    CR_TRY(sc.status);
    CR_TRY(cri_bordered_open(cx, &sc, rows, o->intercept, &view, &z, &b));
    s.levels = &b;
    s.tt = z.tt;
    for (size_t j = 0; j < s.p; j++) {
        s.top = fmax(s.top, z.square[j]);
        s.signal += z.square[j] / z.weight;
    }
    bayes_state known = *m; /* the predictor is made once lambda is known */
    CR_TRY(
        learn_scales(cx, &sc, &known, &s, 0, o, z.weight, design->target_scale, report, &scales));
    CR_TRY(cri_shrunk_levels(cx, &s, scales.lambda, &end));
    CR_TRY(cri_bordered_predictor(cx, &b, s.x, &m->fit));
    double sigma = known.fit.sigma, dof = known.fit.dof;
    known.fit = m->fit;
    *m = known;
    m->fit.sigma = sigma;
    m->fit.dof = dof;
    cri_predictor_set_sds(&m->fit);
    /* predictions take the intercept as known, which among the equations it is not */
    m->fit.mean_share = o->intercept && !is_flat(o) ? -1 / z.weight : 0;
done:
    cri_rows_close_entries(cx, &view);
    cr_scratch_end(&sc);
    return st;
}

static bool pays_by_levels(const cri_rows *rows, const bayes_options *o)
{
    return o->solver == SOLVER_AUTO && cri_bordered_pays(rows);
}

static bool takes_dual(const cri_rows *rows, const bayes_options *o)
{
    enum { FEW = 1000 };
    if (o->solver != SOLVER_AUTO) return o->solver == SOLVER_DUAL;
    return rows->p > rows->n && rows->p > FEW;
}

/* What the moments do not serve for. */
static cr_status bayes_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                           void **out_state, cr_report *report)
{
    cr_status    st = CR_OK;
    bayes_state *m = cr_alloc(cx, 1, sizeof *m);
    (void)seed;
    if (!m) return CR_ENOMEM;
    CR_TRY(pays_by_levels(rows, options) ? solve_levels(cx, m, rows, options, report)
                                         : solve_dual(cx, m, rows, options, report));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_bayes_linear, m);
    return st;
}

/* --- from the moments ------------------------------------------------------------------------- */

static bool bayes_serves(const cri_rows *rows, const void *options, size_t leaves)
{
    (void)leaves;
    return !pays_by_levels(rows, options) && !takes_dual(rows, options);
}

static cr_status refuse_update(cr_ctx *cx, bool dual)
{
    cr_fail(cx, CR_EUNSUPPORTED,
            dual ? "a bayes-linear model fitted in the dual has no exact update"
                 : "a bayes-linear model of a category of so many levels has no exact update");
    return cr_fail_hint(cx, "fit it with --solver primal, or again on all the rows");
}

static cr_status bayes_check(cr_ctx *cx, const void *state)
{
    const bayes_state *m = state;
    return m->dual || m->fit.diagonal ? refuse_update(cx, m->dual) : CR_OK;
}

static cr_status bayes_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_state)
{
    (void)rows;
    if (((const bayes_options *)options)->solver == SOLVER_DUAL) return refuse_update(cx, true);
    *out_state = cr_alloc(cx, 1, sizeof(bayes_state));
    return *out_state ? CR_OK : CR_ENOMEM;
}

static void bayes_reopen(cr_ctx *cx, void *state)
{
    cri_predictor_free(cx, &((bayes_state *)state)->fit);
}

static cr_status bayes_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out)
{
    const bayes_state *m = state;
    return cri_dual_predict(cx, &m->fit, &m->kept, rows, out);
}

/* --- describe and file ----------------------------------------------------------------------- */

static const cr_field bayes_statistics[] = {
    CR_TEXT("prior", 0, "of the coefficients: normal, or normal-inverse-gamma with the noise"),
    CR_NUMBER("a_n", CR_FIELD_EITHER, "of nig: shape of the posterior of the noise variance"),
    CR_MEASURE("b_n", "target^2", CR_FIELD_EITHER, "of nig: its scale"),
    CR_NUMBER("prior_variance", CR_FIELD_EITHER,
              "of nig: variance of a coefficient before the data, in units of the noise"),
    CR_TEXT("scales", CR_FIELD_SOMETIMES, "averaged, where alpha and beta are not plugged in"),
    CR_MEASURE(
        "alpha", "1/target^2", CR_FIELD_EITHER,
        "of normal: precision of the coefficients before the data; its geometric mean, where "
        "averaged"),
    CR_MEASURE("beta", "1/target^2", CR_FIELD_EITHER,
               "of normal: precision of the noise, 1 / noise_sd^2"),
    CR_NUMBER("dof", CR_FIELD_SOMETIMES, "where averaged: degrees of freedom of the Student t"),
    CR_TEXT("solver", CR_FIELD_SOMETIMES, "dual where there are fewer rows than terms"),
    CR_MEASURE("noise_sd", "target", CR_FIELD_NULL, "standard deviation of the noise"),
    CR_NUMBER("effective_parameters", CR_FIELD_NULL, "coefficients that the data determine"),
    CR_MEASURE("rss", "target^2", CR_FIELD_NULL, "residual sum of squares"),
    CR_FIELD_LAST,
};

static cr_status bayes_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                cri_sheet *out)
{
    const bayes_state *m = state;
    double             unit = design->target_scale; /* back to the target's units */
    cri_sheet         *s;
    cri_predictor_describe(&m->fit, design, false, out);
    s = cri_put_object(out, "statistics");
    if (m->nig) {
        cri_put_text(s, "prior", "normal-inverse-gamma");
        cri_put_real(s, "a_n", m->a);
        cri_put_real(s, "b_n", m->b * unit * unit);
        cri_put_real(s, "prior_variance", m->v);
    } else {
        cri_put_text(s, "prior", "normal");
        if (m->averaged) cri_put_text(s, "scales", "averaged");
        cri_put_real(s, "alpha", m->alpha / (unit * unit));
        cri_put_real(s, "beta", m->beta / (unit * unit));
        if (m->averaged) cri_put_real(s, "dof", m->fit.dof);
    }
    if (m->dual) cri_put_text(s, "solver", "dual");
    cri_put_real(s, "noise_sd", m->fit.sigma * unit);
    cri_put_real(s, "effective_parameters", m->gamma);
    cri_put_real(s, "rss", m->rss * unit * unit);
    (void)cx;
    return CR_OK;
}

static cr_status bayes_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    bayes_state *m = state;
    size_t       p = cr_design_terms(design);
    (void)cx;
    bool fits = cri_predictor_fits(&m->fit, p) &&
                (m->dual || m->fit.diagonal || cri_moments_fit(&m->moments, p)) &&
                (!(m->dual && design->block.n > 0) || m->kept.start) &&
                (!m->kept.start || cri_kept_rows_fit(&m->kept, p));
    return fits ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_bayes_linear = {
    .name = "bayes-linear",
    .summary = "linear regression with a posterior over the coefficients and the evidence",
    .formulas =
        "y ~ N(b0 + z.w, 1/beta),  w ~ N(0, I/alpha),  z the standardised features\n"
        "posterior  w ~ N(m, A^-1),  A = alpha I + beta Z^T Z,  m = beta A^-1 Z^T (y - b0)\n"
        "or  w|s2 ~ N(0, s2 v I),  s2 ~ InvGamma(a, b):  Student-t predictions",
    .reference = "Bishop (2006), PRML, sec. 3.3-3.5; Murphy (2012), sec. 7.6",
    .tasks = CR_TASK_REGRESSION,
    .options = bayes_table,
    .options_size = sizeof(bayes_options),
    .requirements = bayes_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .takes_sparse = true,
    .sums = &(const cri_sums_face){ .record = cri_moments_record,
                                    .size = sizeof(cri_moments),
                                    .at = offsetof(bayes_state, moments),
                                    .serves = bayes_serves,
                                    .check = bayes_check,
                                    .open = bayes_open,
                                    .gather = cri_moments_gather,
                                    .merge = cri_moments_add,
                                    .solve = bayes_solve,
                                    .reopen = bayes_reopen },
    .whole = &(const cri_whole_face){ .fit = bayes_fit },
    .rows = &(
        const cri_rows_face){ .predict = bayes_predict, .means_alone = true, .has_leverage = true },
    .describe = bayes_describe,
    .statistics = bayes_statistics,
    .state = bayes_record,
    .state_size = sizeof(bayes_state),
    .ready = bayes_ready,
};
