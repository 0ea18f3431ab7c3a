/* normal.c -- the normal distribution N(mean, sd^2). */
#include "fit.h"
#include "saddle.h"

#include <math.h>

static double normal_logpdf(cri_par p, double x)
{
    return cr_norm_logpdf(cri_standard(p, x)) - log(p.v[1]);
}

static double normal_cdf(cri_par p, double x, unsigned side)
{
    double z = side & CRI_UPPER ? -cri_standard(p, x) : cri_standard(p, x);
    return side & CRI_LOG ? cr_norm_logcdf(z) : cr_norm_cdf(z);
}

static double normal_quantile(cri_par p, double prob)
{
    return p.v[0] + p.v[1] * cr_norm_ppf(prob);
}

static double normal_variance(cri_par p) { return p.v[1] * p.v[1]; }
static double normal_entropy(cri_par p) { return 0.5 + CRI_HALF_LOG_2PI + log(p.v[1]); }
static double normal_sample(cri_par p, cr_rng *r) { return p.v[0] + p.v[1] * cr_rng_normal(r); }

static cr_status normal_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = cri_need_spread(cx, s, "normal", "sd");
    if (st != CR_OK || n != 2) return st;
    v[0] = cri_sample_mean(s, NULL);
    v[1] = sqrt(cri_sample_spread(s, v[0]));
    return CR_OK;
}

/* With r = sd_p / sd_q = 1 + t: -log r + (r^2 - 1) / 2 + (distance of the means)^2 / 2, the first
 * two put together without cancellation. */
static double normal_kl(cri_par p, cri_par q)
{
    double t = (p.v[1] - q.v[1]) / q.v[1], d = (p.v[0] - q.v[0]) / q.v[1];
    return -cri_log1pmx(t) + 0.5 * t * t + 0.5 * d * d;
}

static const char *const statistics[] = { "x", "x^2" };

static void natural(cri_par p, double *eta)
{
    double precision = 1 / (p.v[1] * p.v[1]);
    eta[0] = p.v[0] * precision;
    eta[1] = -0.5 * precision;
}

static double log_partition(cri_par p, const double *eta)
{
    (void)p;
    return -0.25 * eta[0] * eta[0] / eta[1] - 0.5 * log(-2 * eta[1]);
}

static void statistic(cri_par p, double x, double *t)
{
    (void)p;
    t[0] = x, t[1] = x * x;
}

static void mean_statistic(cri_par p, double *t)
{
    t[0] = p.v[0], t[1] = p.v[0] * p.v[0] + p.v[1] * p.v[1];
}

static const cri_family family = { statistics,    2,         NULL,          natural,
                                   log_partition, statistic, mean_statistic };

static const cri_dist_param params[] = {
    CRI_PARAM_STANDARD("mean", cri_any, "any number", "0", "centre"),
    CRI_PARAM_STANDARD("sd", cri_positive, ">0", "1", "standard deviation"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_normal = {
    .name = "normal",
    .summary = "the bell curve: errors, sums of many small effects",
    .formula = "p(x) = exp(-(x - mean)^2 / (2 sd^2)) / (sd sqrt(2 pi))",
    .reference =
        "Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 13",
    .params = params,
    CRI_ON_REALS,
    .logpdf = normal_logpdf,
    .cdf = normal_cdf,
    .quantile = normal_quantile,
    .mean = cri_first,
    .mode = cri_first,
    .variance = normal_variance,
    .entropy = normal_entropy,
    .sample = normal_sample,
    .fit = normal_fit,
    .kl = normal_kl,
    .family = &family,
};
