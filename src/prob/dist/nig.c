/* nig.c -- normal-inverse-gamma: a mean and a variance, both unknown.
 *   s2 ~ InverseGamma(shape a, scale b),   mu | s2 ~ N(mean, s2 / strength);   x = (mu, s2). */
#include "fit.h"
#include "gamma.h"
#include "saddle.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>

static size_t two(size_t d)
{
    (void)d;
    return 2;
}

static double nig_logpdf(const double *p, size_t d, const double *work, const double *x,
                         double *spare)
{
    (void)d, (void)work, (void)spare;
    if (!(x[1] > 0)) return -INFINITY;
    double sd = sqrt(x[1] / p[1]);
    return cr_norm_logpdf((x[0] - p[0]) / sd) - log(sd) +
           cri_inverse_gamma_logpdf(p[2], p[3], x[1]);
}

static void nig_mean(const double *p, size_t d, const double *work, double *out)
{
    (void)d, (void)work;
    out[0] = p[2] > 0.5 ? p[0] : NAN; /* its marginal is a t with 2 a degrees of freedom */
    out[1] = p[2] > 1 ? p[3] / (p[2] - 1) : INFINITY;
}

static void nig_mode(const double *p, size_t d, const double *work, double *out)
{
    (void)d, (void)work;
    out[0] = p[0];
    out[1] = p[3] / (p[2] + 1.5);
}

static void nig_variance(const double *p, size_t d, const double *work, double *out)
{
    double a = p[2], mean = p[3] / (a - 1);
    (void)d, (void)work;
    out[0] = a > 1 ? mean / p[1] : a > 0.5 ? INFINITY : NAN;
    out[1] = a > 2 ? mean * mean / (a - 2) : a > 1 ? INFINITY : NAN;
}

/* That of s2, and that of mu given s2 on average; E log s2 = log b - psi(a). */
static double nig_entropy(const double *p, size_t d, const double *work)
{
    (void)d, (void)work;
    double log_s2 = log(p[3] / p[2]) + cri_log_minus_digamma(p[2]);
    return cri_inverse_gamma_entropy(p[2], p[3]) + 0.5 + CRI_HALF_LOG_2PI +
           0.5 * (log_s2 - log(p[1]));
}

static void nig_sample(const double *p, size_t d, const double *work, cr_rng *r, double *out,
                       double *spare)
{
    (void)d, (void)work, (void)spare;
    out[1] = p[3] * exp(-cr_rng_log_gamma(r, p[2]));
    out[0] = p[0] + sqrt(out[1] / p[1]) * cr_rng_normal(r);
}

static double nig_kl(const double *p, const double *p_work, const double *q, const double *q_work,
                     size_t d, double *spare)
{
    double off = p[0] - q[0];
    (void)p_work, (void)q_work, (void)d, (void)spare;
    return cri_gamma_kl(p[2], p[3], q[2], q[3]) - 0.5 * cri_log1pmx((q[1] - p[1]) / p[1]) +
           0.5 * q[1] * off * off * (p[2] / p[3]);
}

/* --- the exponential family ------------------------------------------------------------------ */

static size_t four(size_t d)
{
    (void)d;
    return 4;
}

static void statistic_name(size_t d, size_t i, char *out, size_t size)
{
    static const char *const names[] = { "log s2", "1 / s2", "mu / s2", "mu^2 / s2" };
    (void)d;
    snprintf(out, size, "%s", names[i]);
}

static void natural(const double *p, size_t d, const double *work, double *eta, double *spare)
{
    (void)d, (void)work, (void)spare;
    eta[0] = -(p[2] + 1.5);
    eta[1] = -(p[3] + 0.5 * p[1] * p[0] * p[0]);
    eta[2] = p[1] * p[0];
    eta[3] = -0.5 * p[1];
}

/* log Gamma(a) - a log b - log(k) / 2 + log(2 pi) / 2. */
static double log_partition(const double *p, size_t d, const double *eta, double *spare)
{
    double a = -eta[0] - 1.5, k = -2 * eta[3], b = -eta[1] - 0.5 * eta[2] * (eta[2] / k);
    (void)p, (void)d, (void)spare;
    if (!(a > 0 && k > 0 && b > 0)) return NAN;
    return cr_lgamma_abs(a) - a * log(b) - 0.5 * log(k) + CRI_HALF_LOG_2PI;
}

static void statistic(size_t d, const double *x, double *t, double *spare)
{
    (void)d, (void)spare;
    t[0] = log(x[1]), t[1] = 1 / x[1], t[2] = x[0] / x[1], t[3] = x[0] * (x[0] / x[1]);
}

static void mean_statistic(const double *p, size_t d, const double *work, double *t, double *spare)
{
    double precision = p[2] / p[3];
    (void)d, (void)work, (void)spare;
    t[0] = log(p[3]) - cr_digamma(p[2]);
    t[1] = precision;
    t[2] = p[0] * precision;
    t[3] = 1 / p[1] + p[0] * p[0] * precision;
}

static const cri_vector_family family = { four,      statistic_name, natural, log_partition,
                                          statistic, mean_statistic, NULL };

/* --- fit ------------------------------------------------------------------------------------- */

/* Shape and scale from the variances alone; then the mean weighs by precision, and the strength is
 * what the weighted spread leaves. */
static cr_status nig_fit(cr_ctx *cx, const cri_points *s, double *v, size_t d)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    double    *s2 = cr_scratch_f64(&scratch, s->n), top = 0, bottom = 0, spread = 0;
    cri_sample variances = { s2, s->w, s->n, s->total };
    (void)d;
    CR_TRY(scratch.status);
    for (size_t i = 0; i < s->n; i++) {
        double w = cri_point_weight(s, i);
        s2[i] = s->x[2 * i + 1];
        if (!(s2[i] > 0))
            CR_TRY(cr_fail(cx, CR_EDATA,
                           "normal-inverse-gamma: the variance of point %zu is %g, but must be >0",
                           i + 1, s2[i]));
        top += w * (s->x[2 * i] - s->x[0]) / s2[i], bottom += w / s2[i];
    }
    CR_TRY(cri_inverse_gamma_fit(cx, "normal-inverse-gamma", &variances, &v[2], &v[3]));
    v[0] = s->x[0] + top / bottom;
    for (size_t i = 0; i < s->n; i++) {
        double off = s->x[2 * i] - v[0];
        spread += cri_point_weight(s, i) / s->total * off * (off / s2[i]);
    }
    if (!(spread > 0)) CR_TRY(cri_no_estimate(cx, "normal-inverse-gamma", "all means are equal"));
    v[1] = 1 / spread;
done:
    cr_scratch_end(&scratch);
    return st;
}

static const cri_vector vector = {
    .point = two,
    .logpdf = nig_logpdf,
    .mean = nig_mean,
    .mode = nig_mode,
    .variance = nig_variance,
    .entropy = nig_entropy,
    .sample = nig_sample,
    .kl = nig_kl,
    .fit = nig_fit,
    .family = &family,
};

static const cri_dist_param params[] = {
    CRI_PARAM("mean", cri_any, "any number", "0", "centre of mu"),
    CRI_PARAM("strength", cri_positive, ">0", "2", "how many observations the mean is worth"),
    CRI_PARAM("shape", cri_positive, ">0", "3", "shape a of the variance"),
    CRI_PARAM("scale", cri_positive, ">0", "4", "scale b of the variance"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_nig = {
    .name = "normal-inverse-gamma",
    .summary = "a mean and a variance, both unknown: x = (mu, s2)",
    .formula = "s2 ~ inverse-gamma(a, b),  mu | s2 ~ normal(mean, s2 / strength)",
    .reference = "Murphy (2012), Machine Learning: A Probabilistic Perspective, sec. 4.6",
    .support_text = "mu real, s2 > 0",
    .params = params,
    .vector = &vector,
};
