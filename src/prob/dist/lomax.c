/* lomax.c -- waiting times whose rate is Gamma(shape, scale): a Pareto that starts at 0. */
#include "fit.h"

#include <math.h>

static double lomax_logpdf(cri_par p, double x)
{
    return log(p.v[0] / p.v[1]) - (p.v[0] + 1) * log1p(x / p.v[1]);
}

static double lomax_cdf(cri_par p, double x, unsigned side)
{
    double log_upper = -p.v[0] * log1p(x / p.v[1]);
    if (side == (CRI_UPPER | CRI_LOG)) return log_upper;
    return cri_face(-expm1(log_upper), exp(log_upper), side);
}

static double lomax_quantile(cri_par p, double prob)
{
    return p.v[1] * expm1(-log1p(-prob) / p.v[0]);
}

static double lomax_mean(cri_par p) { return p.v[0] > 1 ? p.v[1] / (p.v[0] - 1) : INFINITY; }

static double lomax_variance(cri_par p)
{
    double a = p.v[0], mean = p.v[1] / (a - 1);
    return a > 2 ? mean * mean * (a / (a - 2)) : a > 1 ? INFINITY : NAN;
}

static double lomax_entropy(cri_par p) { return log(p.v[1] / p.v[0]) + 1 + 1 / p.v[0]; }

static double lomax_sample(cri_par p, cr_rng *r)
{
    return p.v[1] * expm1(cr_rng_exponential(r) / p.v[0]);
}

/* The shape that is best for scale b, and how b should change: the slope of the likelihood along
 * it, (a + 1) E[x / (b + x)] - 1, falling through its root when the sample is wider than an
 * exponential. */
static double best_shape(const cri_sample *s, double b)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) sum += cri_weight(s, i) / s->total * log1p(s->x[i] / b);
    return 1 / sum;
}

static double scale_equation(double b, const void *user)
{
    const cri_sample *s = user;
    double            share = 0;
    for (size_t i = 0; i < s->n; i++)
        share += cri_weight(s, i) / s->total * (s->x[i] / (b + s->x[i]));
    return (best_shape(s, b) + 1) * share - 1;
}

static cr_status lomax_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    double mean = cri_sample_mean(s, NULL);
    (void)n;
    if (!(cri_sample_spread(s, mean) > mean * mean))
        return cri_no_estimate(cx, "lomax", "the sd is not above the mean; fit an exponential");
    v[1] = cri_falling_root(scale_equation, s, mean);
    v[0] = best_shape(s, v[1]);
    return CR_OK;
}

static const cri_dist_param params[] = {
    CRI_PARAM("shape", cri_positive, ">0", "3", "shape a: moments below it exist"),
    CRI_PARAM("scale", cri_positive, ">0", "2", "scale b"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_lomax = {
    .name = "lomax",
    .summary = "waiting times whose rate varies: exponential mixed by a gamma",
    .formula = "p(x) = a / b (1 + x / b)^-(a+1)",
    .reference =
        "Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 20",
    .params = params,
    CRI_ON_POSITIVES("x >= 0", cri_not_negative),
    .logpdf = lomax_logpdf,
    .cdf = lomax_cdf,
    .quantile = lomax_quantile,
    .mean = lomax_mean,
    .mode = cri_zero,
    .variance = lomax_variance,
    .entropy = lomax_entropy,
    .sample = lomax_sample,
    .fit = lomax_fit,
};
