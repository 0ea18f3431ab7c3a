/* scaled_inverse_chi_square.c -- nu s^2 over a chi-square variable with nu degrees of freedom: an
 * inverse gamma with shape nu / 2 and scale nu s^2 / 2. */
#include "gamma.h"
#include "saddle.h"

#include <math.h>

static double shape(cri_par p) { return 0.5 * p.v[0]; }
static double scale(cri_par p) { return 0.5 * p.v[0] * p.v[1]; }

static double sichi2_logpdf(cri_par p, double x)
{
    return cri_inverse_gamma_logpdf(shape(p), scale(p), x);
}

static double sichi2_cdf(cri_par p, double x, unsigned side)
{
    if (x == 0) return cri_face(0, 1, side);
    return cri_gamma_cdf(shape(p), scale(p) / x, side ^ CRI_UPPER);
}

static double sichi2_mean(cri_par p)
{
    return p.v[0] > 2 ? p.v[0] * p.v[1] / (p.v[0] - 2) : INFINITY;
}

static double sichi2_mode(cri_par p) { return p.v[0] * p.v[1] / (p.v[0] + 2); }

static double sichi2_variance(cri_par p)
{
    double nu = p.v[0], mean = sichi2_mean(p);
    return nu > 4 ? 2 * mean * mean / (nu - 4) : nu > 2 ? INFINITY : NAN;
}

static double sichi2_entropy(cri_par p) { return cri_inverse_gamma_entropy(shape(p), scale(p)); }

static double sichi2_sample(cri_par p, cr_rng *r)
{
    return scale(p) * exp(-cr_rng_log_gamma(r, shape(p)));
}

static double sichi2_kl(cri_par p, cri_par q)
{
    return cri_gamma_kl(shape(p), scale(p), shape(q), scale(q));
}

static cr_status sichi2_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    double    a = 1, b = 1;
    cr_status st = cri_inverse_gamma_fit(cx, "scaled-inverse-chi-square", s, &a, &b);
    if (st != CR_OK || n != 2) return st;
    v[0] = 2 * a, v[1] = b / a;
    return CR_OK;
}

static void natural(cri_par p, double *eta) { eta[0] = -shape(p) - 1, eta[1] = -scale(p); }

static void mean_statistic(cri_par p, double *t)
{
    t[0] = log(scale(p)) - cr_digamma(shape(p));
    t[1] = 1 / p.v[1];
}

static const cri_family family = CRI_INVERSE_GAMMA_FAMILY(natural, mean_statistic);

static const cri_dist_param params[] = {
    CRI_PARAM("df", cri_positive, ">0", "5", "degrees of freedom nu"),
    CRI_PARAM("scale2", cri_positive, ">0", "1.5", "s^2, a typical variance"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_scaled_inverse_chi_square = {
    .name = "scaled-inverse-chi-square",
    .summary = "a variance estimated from nu squared errors",
    .formula = "p(x) = (nu s^2 / 2)^(nu/2) x^(-nu/2-1) exp(-nu s^2 / (2 x)) / Gamma(nu/2)",
    .reference = "Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., app. A",
    .params = params,
    CRI_ON_POSITIVES("x > 0", cri_positive),
    .logpdf = sichi2_logpdf,
    .cdf = sichi2_cdf,
    .mean = sichi2_mean,
    .mode = sichi2_mode,
    .variance = sichi2_variance,
    .entropy = sichi2_entropy,
    .sample = sichi2_sample,
    .fit = sichi2_fit,
    .kl = sichi2_kl,
    .family = &family,
};
