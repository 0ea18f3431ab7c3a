/* binomial.c -- the number of successes in n trials. */
#include "fit.h"
#include "saddle.h"

#include <math.h>

static void binomial_support(cri_par p, double *low, double *high) { *low = 0, *high = p.v[0]; }

static double binomial_logpdf(cri_par p, double x)
{
    return cri_binomial_mass(x, p.v[0] - x, p.v[1], 1 - p.v[1]);
}

/* P(X <= k) = I_{1-p}(n - k, k + 1). */
static double binomial_cdf(cri_par p, double x, unsigned side)
{
    double a = x + 1, b = p.v[0] - x, at = p.v[1];
    if (side & CRI_UPPER) return side & CRI_LOG ? cr_log_betainc(a, b, at) : cr_betainc(a, b, at);
    return side & CRI_LOG ? cr_log_betainc_upper(a, b, at) : cr_betainc_upper(a, b, at);
}

static double binomial_mean(cri_par p) { return p.v[0] * p.v[1]; }

/* floor((n + 1) p), or one less when that is whole. */
static double binomial_mode(cri_par p)
{
    double top = (p.v[0] + 1) * p.v[1];
    return fmin(p.v[0], fmax(0, ceil(top) - 1));
}

static double binomial_variance(cri_par p) { return p.v[0] * p.v[1] * (1 - p.v[1]); }

static double binomial_entropy(cri_par p)
{
    double variance = binomial_variance(p);
    if (variance > 1e12) return 0.5 + CRI_HALF_LOG_2PI + 0.5 * log(variance); /* to 1 / variance */
    return cri_sum_entropy(&cri_dist_binomial, p, binomial_mode(p));
}

static double binomial_sample(cri_par p, cr_rng *r)
{
    return (double)cr_rng_binomial(r, (uint64_t)p.v[0], p.v[1]);
}

static cr_status binomial_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    double low, high;
    (void)n;
    cri_sample_range(s, &low, &high);
    if (high > v[0])
        return cr_fail(cx, CR_EDATA, "binomial: a value is %g, more than the %g trials", high,
                       v[0]);
    v[1] = v[0] > 0 ? fmin(1, cri_sample_mean(s, NULL) / v[0]) : 0.5;
    return CR_OK;
}

static double binomial_kl(cri_par p, cri_par q)
{
    if (p.v[0] == q.v[0]) return p.v[0] * (cr_bd0(p.v[1], q.v[1]) + cr_bd0(1 - p.v[1], 1 - q.v[1]));
    return cri_sum_kl(&cri_dist_binomial, p, q, binomial_mode(p));
}

static void   natural(cri_par p, double *eta) { eta[0] = log(p.v[1]) - log1p(-p.v[1]); }
static double log_partition(cri_par p, const double *eta) { return p.v[0] * cri_softplus(eta[0]); }

static const cri_family family = { .natural = natural, .log_partition = log_partition };

static const cri_dist_param params[] = {
    CRI_PARAM_GIVEN("trials", cri_count, "whole, >=0", "10", "number of trials n"),
    CRI_PARAM("p", cri_unit, "0..1", "0.3", "probability of a success"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_binomial = {
    .name = "binomial",
    .summary = "the number of successes in n independent trials",
    .formula = "P(x) = n! / (x! (n - x)!) p^x (1 - p)^(n - x)",
    .reference = "Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 3",
    .support_text = "x = 0, 1, ..., n",
    .params = params,
    .discrete = true,
    .data = &cri_count,
    .support = binomial_support,
    .logpdf = binomial_logpdf,
    .cdf = binomial_cdf,
    .mean = binomial_mean,
    .mode = binomial_mode,
    .variance = binomial_variance,
    .entropy = binomial_entropy,
    .sample = binomial_sample,
    .fit = binomial_fit,
    .kl = binomial_kl,
    .family = &family,
};
