/* hmm_vb_bound.c -- a posterior of a hidden Markov model by variational Bayes: how far it is from the prior, sds and
 * intervals of its parameters, and what the next row is like.  The notation is that of hmm_vb.c.
 *   KL(Dirichlet(a) | Dirichlet(alpha)) = log Gamma(sum a) - sum log Gamma(a_i) - log Gamma(n alpha)
 *       + n log Gamma(alpha) + sum (a_i - alpha) (psi(a_i) - psi(sum a))
 *   KL(Gamma(a, b) | Gamma(a0, b0)) = (a - a0) psi(a) - log Gamma(a) + log Gamma(a0) + a0 log(b / b0) + a (b0 / b - 1)
 * and, for normal columns, that of two normal-inverse-Wishart distributions: Bishop (2006), PRML, (10.74), (10.77).
 * Given its state the next row has probabilities, Student's t of nu - g + 1 degrees of freedom in place of a normal
 * distribution, and a negative binomial one of size a in place of Poisson's. */
#include "hmm.h"
#include "base/scratch.h"
#include "math/special/special.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

/* --- divergences ----------------------------------------------------------------------------- */

static double divergence_of_shares(cri_hmm_shares s)
{
    double total = cri_hmm_vb_total(&s), of_all = cr_digamma(total), places = 0, sum = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.opt_allowed && !(s.opt_allowed[i] > 0)) continue;
        double a = total * s.p[i * s.stride];
        sum += (a - s.alpha) * (cr_digamma(a) - of_all) - cr_lgamma_abs(a);
        places += 1;
    }
    return sum + cr_lgamma_abs(total) - cr_lgamma_abs(places * s.alpha) +
           places * cr_lgamma_abs(s.alpha);
}

static double divergence_of_answer(const cri_hmm *m, size_t j, size_t c)
{
    double p = m->mean[j * m->k + c], both[2] = { 1 - p, p };
    return divergence_of_shares((cri_hmm_shares){
        .p = both, .n = 2, .stride = 1, .alpha = 1, .rows = m->seen[j * m->k + c] });
}

static double divergence_of_rate(cri_hmm_rate o)
{
    return (o.a - o.a0) * cr_digamma(o.a) - cr_lgamma_abs(o.a) + cr_lgamma_abs(o.a0) +
           o.a0 * log(o.b / o.b0) + o.a * (o.b0 / o.b - 1);
}

/* Of a mean: square = m^T S^-1 m. */
static double divergence_of_mean(cri_hmm_normal o, double g, double square)
{
    return 0.5 * (g * log(o.beta / o.kappa) + g * o.kappa / o.beta - g + o.kappa * square);
}

/* Of a covariance: log |S| and the trace of S^-1. */
static double divergence_of_covariance(cri_hmm_normal o, double v, size_t g, double log_det,
                                       double trace)
{
    double d = (double)g, rows = o.nu - o.nu0;
    return 0.5 * (o.nu0 * (d * log(o.nu / v) + log_det) + v * trace - o.nu * d) +
           cri_log_gamma_d(0.5 * o.nu0, g) - cri_log_gamma_d(0.5 * o.nu, g) +
           0.5 * rows * cri_digamma_d(0.5 * o.nu, g);
}

static double divergence_of_joint(const cri_hmm *m, double v)
{
    size_t k = m->k, g = m->g;
    double sum = 0;
    for (size_t c = 0; c < k; c++) {
        cri_hmm_normal o = cri_hmm_vb_normal(m, m->joint[0], c);
        double         log_det = 0, trace = 0, square = 0;
        for (size_t a = 0; a < g; a++) {
            double y = 0;
            for (size_t b = 0; b <= a; b++) {
                double w = m->whiten[(a * g + b) * k + c];
                y += w * m->mean[m->joint[b] * k + c];
                trace += w * w;
            }
            square += y * y;
            log_det -= 2 * log(m->whiten[(a * g + a) * k + c]);
        }
        sum += divergence_of_mean(o, (double)g, square);
        if (c == 0 || m->covariance_is != 2)
            sum += divergence_of_covariance(o, v, g, log_det, trace);
    }
    return sum;
}

static double divergence_of_column(const cri_hmm *m, size_t j, double v)
{
    double sum = 0;
    for (size_t c = 0; c < m->k; c++) {
        double mean = m->mean[j * m->k + c], S = pow(m->spread[j * m->k + c], 2);
        if (m->kind[j] == CRI_EMIT_CATEGORY) {
            sum += divergence_of_shares(cri_hmm_vb_levels(m, j, c));
        } else if (m->kind[j] == CRI_EMIT_POISSON) {
            sum += divergence_of_rate(cri_hmm_vb_rate(m, j, c));
        } else if (m->kind[j] == CRI_EMIT_BERNOULLI) {
            sum += divergence_of_answer(m, j, c);
        } else {
            cri_hmm_normal o = cri_hmm_vb_normal(m, j, c);
            sum += divergence_of_mean(o, 1, mean * mean / S) +
                   divergence_of_covariance(o, v, 1, log(S), 1 / S);
        }
    }
    return sum;
}

double cri_hmm_vb_log_prior(const cri_hmm *m)
{
    double sum = 0, v = cri_hmm_vb_scale(m);
    for (size_t i = 0; i <= m->k; i++) sum += divergence_of_shares(cri_hmm_vb_transitions(m, i));
    for (size_t j = 0; j < m->p; j++)
        if (m->kind[j] != CRI_EMIT_JOINT) sum += divergence_of_column(m, j, v);
    if (m->g > 0) sum += divergence_of_joint(m, v);
    return -sum;
}

/* --- sds and intervals ----------------------------------------------------------------------- */

static cri_hmm_known of_share(double a, double rest)
{
    double total = a + rest, p = a / total;
    if (!(a > 0 && rest > 0)) return (cri_hmm_known){ 0, p, p };
    return (cri_hmm_known){ sqrt(p * (1 - p) / (total + 1)), cr_betainc_inv(a, rest, 0.025),
                            cr_betainc_inv(a, rest, 0.975) };
}

static cri_hmm_known *put_shares(cri_hmm_shares s, cri_hmm_known *to)
{
    double total = cri_hmm_vb_total(&s);
    for (size_t i = 0; i < s.n; i++, to++) {
        double p = s.p[i * s.stride];
        *to = of_share(total * p, total * (1 - p));
    }
    return to;
}

/* The t with P(|T| < t) = 0.95. */
static double student_975(double dof)
{
    double x = cr_betainc_inv(0.5 * dof, 0.5, 0.05);
    return sqrt(dof * (1 - x) / x);
}

/* mu_j is Student's t, and S_jj has an inverse gamma distribution of shape a = (nu - g + 1) / 2 and scale b = nu S / 2:
 * the mean and the square root of S_jj; sds are NaN where there is none. */
static void put_normal(const cri_hmm *m, size_t j, size_t c, double S, cri_hmm_known *to)
{
    cri_hmm_normal o = cri_hmm_vb_normal(m, j, c);
    double         a = 0.5 * (o.nu - o.nu0 + 1), b = 0.5 * o.nu * S, scale = m->scale[j];
    double         mean = m->centre[j] + scale * m->mean[j * m->k + c];
    double         half = scale * sqrt(b / a / o.beta) * student_975(2 * a);
    to[0] = (cri_hmm_known){ NAN, mean - half, mean + half };
    to[1] = (cri_hmm_known){ NAN, scale * sqrt(b / cr_gamma_q_inv(a, 0.025)),
                             scale * sqrt(b / cr_gamma_p_inv(a, 0.025)) };
    if (!(a > 1)) return;
    to[0].sd = scale * sqrt(b / (a - 1) / o.beta);
    to[1].sd = scale * sqrt(b * (1 / (a - 1) - exp(-2 * cr_lgamma_diff(a - 0.5, 0.5))));
}

static cri_hmm_known *put_column(const cri_hmm *m, size_t j, size_t c, cri_hmm_known *to)
{
    double p = m->mean[j * m->k + c], S = pow(m->spread[j * m->k + c], 2);
    double total = m->seen[j * m->k + c] + 2;
    if (m->kind[j] == CRI_EMIT_JOINT) return to;
    if (m->kind[j] == CRI_EMIT_CATEGORY) return put_shares(cri_hmm_vb_levels(m, j, c), to);
    if (m->kind[j] == CRI_EMIT_POISSON) {
        cri_hmm_rate o = cri_hmm_vb_rate(m, j, c);
        *to = (cri_hmm_known){ sqrt(o.a) / o.b, cr_gamma_p_inv(o.a, 0.025) / o.b,
                               cr_gamma_q_inv(o.a, 0.025) / o.b };
    } else if (m->kind[j] == CRI_EMIT_BERNOULLI) {
        *to = of_share(p * total, (1 - p) * total);
    } else {
        put_normal(m, j, c, S, to++);
    }
    return to + 1;
}

void cri_hmm_vb_know(const cri_hmm *m, cri_hmm_known *to)
{
    size_t k = m->k, g = m->g;
    to = put_shares(cri_hmm_vb_transitions(m, k), to);
    for (size_t i = 0; i < k; i++) to = put_shares(cri_hmm_vb_transitions(m, i), to);
    for (size_t c = 0; c < k; c++) {
        for (size_t j = 0; j < m->p; j++) to = put_column(m, j, c, to);
        for (size_t a = 0; a < g; a++, to += 2)
            put_normal(m, m->joint[a], c, m->covariance[(a * g + a) * k + c], to);
        for (size_t a = 0; a < g; a++) /* of correlations */
            for (size_t b = 0; b < a; b++) *to++ = (cri_hmm_known){ NAN, NAN, NAN };
    }
}

/* --- the next row ---------------------------------------------------------------------------- */

/* What the next row is like in each state, as a model whose parameters are known. */
static void predict_column(const cri_hmm *m, size_t j, cri_hmm *out)
{
    size_t k = m->k;
    bool   normal = m->kind[j] != CRI_EMIT_CATEGORY && m->kind[j] != CRI_EMIT_BERNOULLI;
    if (m->kind[j] == CRI_EMIT_POISSON) out->kind[j] = CRI_EMIT_NEGATIVE_BINOMIAL;
    if (m->kind[j] == CRI_EMIT_GAUSSIAN || m->kind[j] == CRI_EMIT_LOGNORMAL)
        out->kind[j] = CRI_EMIT_STUDENT;
    for (size_t c = 0; c < k && normal; c++) {
        cri_hmm_normal o = cri_hmm_vb_normal(m, j, c);
        double         dof = o.nu - o.nu0 + 1, stretch = o.nu * (o.beta + 1) / (o.beta * dof);
        if (m->kind[j] == CRI_EMIT_POISSON) {
            out->spread[j * k + c] = cri_hmm_vb_rate(m, j, c).a;
            continue;
        }
        out->tail[j * k + c] = dof;
        out->spread[j * k + c] = m->spread[j * k + c] * sqrt(stretch);
        for (size_t i = 0; i < m->gg && m->g > 0 && j == m->joint[0]; i++)
            out->covariance[i * k + c] = m->covariance[i * k + c] * stretch;
    }
}

cr_status cri_hmm_vb_set_predictive(cr_ctx *cx, cri_hmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *work = cr_scratch_f64(&s, cri_hmm_own_work(m));
    cri_hmm   *out = m->predictive;
    CR_TRY(s.status);
    cri_state_free(cx, &cri_class_hmm, out);
    m->predictive = out = cr_alloc(cx, 1, sizeof *out);
    if (!out) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_record_copy(cx, cri_hmm_record, m, out));
    CR_TRY(cri_record_allocate(cx, cri_hmm_record, out)); /* what is made */
    CR_TRY(cri_hmm_place(cx, out));
    out->alpha = 0;
    for (size_t j = 0; j < m->p; j++) predict_column(m, j, out);
    if (!cri_hmm_prepare(out, work))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "hmm: a covariance of the posterior has no inverse"));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- what is read ---------------------------------------------------------------------------- */

bool cri_hmm_vb_fits(const cri_hmm *m)
{
    if (!cri_hmm_is_vb(m)) return !m->leaving && !m->seen;
    if (!m->leaving || !m->seen || !(m->alpha >= 0.01)) return false;
    for (size_t j = 0; j < m->p; j++) {
        if (!cri_hmm_vb_knows(m->kind[j])) return false;
        if (m->kind[j] == CRI_EMIT_POISSON && !(m->overall[j] > 0)) return false;
    }
    return true;
}
