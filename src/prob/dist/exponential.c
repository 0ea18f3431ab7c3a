/* exponential.c -- waiting for the first event at a constant rate. */
#include "fit.h"
#include "saddle.h"

#include <math.h>

static double exponential_logpdf(cri_par p, double x) { return log(p.v[0]) - p.v[0] * x; }

static double exponential_cdf(cri_par p, double x, unsigned side)
{
    double z = p.v[0] * x;
    if (side == (CRI_UPPER | CRI_LOG)) return -z;
    return cri_face(-expm1(-z), exp(-z), side);
}

static double exponential_quantile(cri_par p, double prob) { return -log1p(-prob) / p.v[0]; }
static double exponential_mean(cri_par p) { return 1 / p.v[0]; }

static double exponential_variance(cri_par p) { return 1 / p.v[0] / p.v[0]; }
static double exponential_entropy(cri_par p) { return 1 - log(p.v[0]); }
static double exponential_sample(cri_par p, cr_rng *r) { return cr_rng_exponential(r) / p.v[0]; }

static cr_status exponential_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    double mean = cri_sample_mean(s, NULL);
    (void)n;
    if (!(mean > 0)) return cri_no_estimate(cx, "exponential", "all values are 0");
    v[0] = 1 / mean;
    return CR_OK;
}

static double exponential_kl(cri_par p, cri_par q)
{
    return -cri_log1pmx((q.v[0] - p.v[0]) / p.v[0]);
}

static void natural(cri_par p, double *eta) { eta[0] = -p.v[0]; }

static double log_partition(cri_par p, const double *eta)
{
    (void)p;
    return -log(-eta[0]);
}

static const cri_family family = { .natural = natural, .log_partition = log_partition };

static const cri_dist_param params[] = {
    CRI_PARAM("rate", cri_positive, ">0", "2", "events per unit of time"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_exponential = {
    .name = "exponential",
    .summary = "waiting time for an event with a constant rate",
    .formula = "p(x) = rate exp(-rate x)",
    .reference =
        "Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 19",
    .params = params,
    CRI_ON_POSITIVES("x >= 0", cri_not_negative),
    .logpdf = exponential_logpdf,
    .cdf = exponential_cdf,
    .quantile = exponential_quantile,
    .mean = exponential_mean,
    .mode = cri_zero,
    .variance = exponential_variance,
    .entropy = exponential_entropy,
    .sample = exponential_sample,
    .fit = exponential_fit,
    .kl = exponential_kl,
    .family = &family,
};
