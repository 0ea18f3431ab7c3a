/* log_normal.c -- x whose logarithm is N(mu, sigma^2). */
#include "fit.h"
#include "saddle.h"

#include <math.h>

static double standard(cri_par p, double x) { return (log(x) - p.v[0]) / p.v[1]; }

static double log_normal_logpdf(cri_par p, double x)
{
    if (x == 0) return -INFINITY;
    return cr_norm_logpdf(standard(p, x)) - log(p.v[1]) - log(x);
}

static double log_normal_cdf(cri_par p, double x, unsigned side)
{
    double z = side & CRI_UPPER ? -standard(p, x) : standard(p, x);
    return side & CRI_LOG ? cr_norm_logcdf(z) : cr_norm_cdf(z);
}

static double log_normal_quantile(cri_par p, double prob)
{
    return exp(p.v[0] + p.v[1] * cr_norm_ppf(prob));
}

static double log_normal_mean(cri_par p) { return exp(p.v[0] + 0.5 * p.v[1] * p.v[1]); }
static double log_normal_mode(cri_par p) { return exp(p.v[0] - p.v[1] * p.v[1]); }

static double log_normal_variance(cri_par p)
{
    double s2 = p.v[1] * p.v[1];
    return expm1(s2) * exp(2 * p.v[0] + s2);
}

static double log_normal_entropy(cri_par p)
{
    return p.v[0] + 0.5 + CRI_HALF_LOG_2PI + log(p.v[1]);
}

static double log_normal_sample(cri_par p, cr_rng *r)
{
    return exp(p.v[0] + p.v[1] * cr_rng_normal(r));
}

static cr_status log_normal_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = cri_need_spread(cx, s, "log-normal", "sigma");
    if (st != CR_OK || n != 2) return st;
    double mean = cri_sample_mean(s, log), sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double d = log(s->x[i]) - mean;
        sum += cri_weight(s, i) * d * d;
    }
    v[0] = mean, v[1] = sqrt(sum / s->total);
    return CR_OK;
}

/* Divergence does not change with the variable: that of the logarithms. */
static double log_normal_kl(cri_par p, cri_par q) { return cri_dist_normal.kl(p, q); }

static const char *const statistics[] = { "log x", "(log x)^2" };

static void natural(cri_par p, double *eta) { cri_dist_normal.family->natural(p, eta); }

static double log_partition(cri_par p, const double *eta)
{
    return cri_dist_normal.family->log_partition(p, eta);
}

static void statistic(cri_par p, double x, double *t)
{
    cri_dist_normal.family->statistic(p, log(x), t);
}

static void mean_statistic(cri_par p, double *t) { cri_dist_normal.family->mean(p, t); }

static const cri_family family = { statistics,    2,         NULL,          natural,
                                   log_partition, statistic, mean_statistic };

static const cri_dist_param params[] = {
    CRI_PARAM("mu", cri_any, "any number", "0", "mean of log x"),
    CRI_PARAM("sigma", cri_positive, ">0", "0.5", "standard deviation of log x"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_log_normal = {
    .name = "log-normal",
    .summary = "products of many small effects: incomes, sizes, durations",
    .formula = "p(x) = exp(-(log x - mu)^2 / (2 sigma^2)) / (x sigma sqrt(2 pi))",
    .reference =
        "Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 14",
    .params = params,
    CRI_ON_POSITIVES("x > 0", cri_positive),
    .logpdf = log_normal_logpdf,
    .cdf = log_normal_cdf,
    .quantile = log_normal_quantile,
    .mean = log_normal_mean,
    .mode = log_normal_mode,
    .variance = log_normal_variance,
    .entropy = log_normal_entropy,
    .sample = log_normal_sample,
    .fit = log_normal_fit,
    .kl = log_normal_kl,
    .family = &family,
};
