/* laplace.c -- two exponentials back to back. */
#include "fit.h"
#include "saddle.h"

#include <math.h>

static double laplace_logpdf(cri_par p, double x)
{
    return -fabs(cri_standard(p, x)) - log(p.v[1]) - M_LN2;
}

static double laplace_cdf(cri_par p, double x, unsigned side)
{
    double z = side & CRI_UPPER ? -cri_standard(p, x) : cri_standard(p, x);
    if (side & CRI_LOG) return z < 0 ? z - M_LN2 : log1p(-0.5 * exp(-z));
    return z < 0 ? 0.5 * exp(z) : 1 - 0.5 * exp(-z);
}

static double laplace_quantile(cri_par p, double prob)
{
    double z = prob < 0.5 ? log(2 * prob) : -log(2 * (1 - prob));
    return p.v[0] + p.v[1] * z;
}

static double laplace_variance(cri_par p) { return 2 * p.v[1] * p.v[1]; }
static double laplace_entropy(cri_par p) { return 1 + M_LN2 + log(p.v[1]); }

static double laplace_sample(cri_par p, cr_rng *r)
{
    double z = cr_rng_exponential(r);
    return p.v[0] + p.v[1] * (cr_rng_uniform(r) < 0.5 ? -z : z);
}

static cr_status laplace_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = CR_OK;
    double    median = 0, sum = 0;
    (void)n;
    CR_TRY(cri_need_spread(cx, s, "laplace", "scale"));
    CR_TRY(cri_sample_median(cx, s, &median));
    for (size_t i = 0; i < s->n; i++) sum += cri_weight(s, i) * fabs(s->x[i] - median);
    v[0] = median, v[1] = sum / s->total;
done:
    return st;
}

/* With r = scale_p / scale_q and z = distance / scale_p: r (z + e^-z) - 1 - log r. */
static double laplace_kl(cri_par p, cri_par q)
{
    double t = (p.v[1] - q.v[1]) / q.v[1], z = fabs(p.v[0] - q.v[0]) / p.v[1];
    return -cri_log1pmx(t) + (1 + t) * cri_expm1mx(-z);
}

static const cri_dist_param params[] = {
    CRI_PARAM_STANDARD("location", cri_any, "any number", "0", "centre"),
    CRI_PARAM_STANDARD("scale", cri_positive, ">0", "1", "mean distance from the centre"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_laplace = {
    .name = "laplace",
    .summary = "two exponentials back to back: robust errors, sparse weights",
    .formula = "p(x) = exp(-|x - location| / scale) / (2 scale)",
    .reference =
        "Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 24",
    .params = params,
    CRI_ON_REALS,
    .logpdf = laplace_logpdf,
    .cdf = laplace_cdf,
    .quantile = laplace_quantile,
    .mean = cri_first,
    .mode = cri_first,
    .variance = laplace_variance,
    .entropy = laplace_entropy,
    .sample = laplace_sample,
    .fit = laplace_fit,
    .kl = laplace_kl,
};
