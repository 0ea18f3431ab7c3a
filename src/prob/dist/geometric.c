/* geometric.c -- failures before the first success. */
#include "fit.h"
#include "saddle.h"

#include <math.h>

static void geometric_support(cri_par p, double *low, double *high)
{
    *low = 0, *high = p.v[0] == 1 ? 0 : INFINITY;
}

static double geometric_logpdf(cri_par p, double x)
{
    return log(p.v[0]) + cri_xlog1py(x, -p.v[0]);
}

static double geometric_cdf(cri_par p, double x, unsigned side)
{
    double log_upper = (x + 1) * log1p(-p.v[0]);
    if (side == (CRI_UPPER | CRI_LOG)) return log_upper;
    return cri_face(-expm1(log_upper), exp(log_upper), side);
}

static double geometric_mean(cri_par p) { return (1 - p.v[0]) / p.v[0]; }

static double geometric_variance(cri_par p) { return (1 - p.v[0]) / p.v[0] / p.v[0]; }

static double geometric_entropy(cri_par p)
{
    return -cri_xlog1py(1 - p.v[0], -p.v[0]) / p.v[0] - log(p.v[0]);
}

static double geometric_sample(cri_par p, cr_rng *r)
{
    return p.v[0] == 1 ? 0 : floor(cr_rng_exponential(r) / -log1p(-p.v[0]));
}

static cr_status geometric_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    (void)cx, (void)n;
    v[0] = 1 / (1 + cri_sample_mean(s, NULL));
    return CR_OK;
}

/* As many Bernoulli divergences as there are trials in the mean. */
static double geometric_kl(cri_par p, cri_par q)
{
    return (cr_bd0(p.v[0], q.v[0]) + cr_bd0(1 - p.v[0], 1 - q.v[0])) / p.v[0];
}

static void natural(cri_par p, double *eta) { eta[0] = log1p(-p.v[0]); }

static double log_partition(cri_par p, const double *eta)
{
    (void)p;
    return -log(-expm1(eta[0]));
}

static const cri_family family = { .natural = natural, .log_partition = log_partition };

static const cri_domain probability = { "0<..1", 0, 1, true, false, false };

static const cri_dist_param params[] = {
    CRI_PARAM("p", probability, "0<..1", "0.25", "probability of a success"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_geometric = {
    .name = "geometric",
    .summary = "the number of failures before the first success",
    .formula = "P(x) = p (1 - p)^x",
    .reference = "Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, sec. 5.2",
    .support_text = "x = 0, 1, ...",
    .params = params,
    .discrete = true,
    .data = &cri_count,
    .support = geometric_support,
    .logpdf = geometric_logpdf,
    .cdf = geometric_cdf,
    .mean = geometric_mean,
    .mode = cri_zero,
    .variance = geometric_variance,
    .entropy = geometric_entropy,
    .sample = geometric_sample,
    .fit = geometric_fit,
    .kl = geometric_kl,
    .family = &family,
};
