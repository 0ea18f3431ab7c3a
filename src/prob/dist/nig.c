/* nig.c -- normal-inverse-gamma: a mean and a variance, both unknown.
 *   s2 ~ InverseGamma(shape a, scale b),   mu | s2 ~ N(mean, s2 / strength);   x = (mu, s2). */
#include "gamma.h"
#include "saddle.h"

#include <math.h>

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

static const cri_vector vector = {
    .point = two,
    .logpdf = nig_logpdf,
    .mean = nig_mean,
    .mode = nig_mode,
    .variance = nig_variance,
    .entropy = nig_entropy,
    .sample = nig_sample,
    .kl = nig_kl,
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
