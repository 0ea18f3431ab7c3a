/* uniform.c -- all values between two bounds equally likely. */
#include "fit.h"

#include <math.h>

static double width(cri_par p) { return p.v[1] - p.v[0]; }

static cr_status uniform_check(cr_ctx *cx, cri_par p)
{
    if (p.v[0] < p.v[1] && isfinite(width(p))) return CR_OK;
    return cr_fail(cx, CR_EARG, "uniform: high is %g, but must be above low, which is %g", p.v[1],
                   p.v[0]);
}

static void uniform_support(cri_par p, double *low, double *high) { *low = p.v[0], *high = p.v[1]; }

static double uniform_logpdf(cri_par p, double x)
{
    (void)x;
    return -log(width(p));
}

static double uniform_cdf(cri_par p, double x, unsigned side)
{
    return cri_face((x - p.v[0]) / width(p), (p.v[1] - x) / width(p), side);
}

static double uniform_quantile(cri_par p, double prob)
{
    return prob < 0.5 ? p.v[0] + prob * width(p) : p.v[1] - (1 - prob) * width(p);
}

static double uniform_mean(cri_par p) { return p.v[0] + 0.5 * width(p); }
static double uniform_variance(cri_par p) { return width(p) * width(p) / 12; }
static double uniform_entropy(cri_par p) { return log(width(p)); }
static double uniform_sample(cri_par p, cr_rng *r) { return p.v[0] + width(p) * cr_rng_uniform(r); }

static cr_status uniform_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = cri_need_spread(cx, s, "uniform", "width");
    if (st == CR_OK && n == 2) cri_sample_range(s, &v[0], &v[1]);
    return st;
}

static double uniform_kl(cri_par p, cri_par q)
{
    if (p.v[0] < q.v[0] || p.v[1] > q.v[1]) return INFINITY;
    return log(width(q) / width(p));
}

static const cri_dist_param params[] = {
    CRI_PARAM_STANDARD("low", cri_any, "any number", "0", "lower end"),
    CRI_PARAM_STANDARD("high", cri_any, "any number", "1", "upper end, above low"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_uniform = {
    .name = "uniform",
    .summary = "all values between two bounds equally likely",
    .formula = "p(x) = 1 / (high - low)",
    .reference =
        "Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 26",
    .support_text = "low <= x <= high",
    .params = params,
    .data = &cri_any,
    .check = uniform_check,
    .support = uniform_support,
    .logpdf = uniform_logpdf,
    .cdf = uniform_cdf,
    .quantile = uniform_quantile,
    .mean = uniform_mean,
    .variance = uniform_variance,
    .entropy = uniform_entropy,
    .sample = uniform_sample,
    .fit = uniform_fit,
    .kl = uniform_kl,
};
