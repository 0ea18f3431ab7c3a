/* half_cauchy.c -- the positive half of a Cauchy: a weak prior of scales. */
#include "cauchy.h"
#include "fit.h"

#include <math.h>

static double half_cauchy_logpdf(cri_par p, double x)
{
    return log(2 / M_PI) - log(p.v[0]) - cri_cauchy_spread(x / p.v[0]);
}

static double half_cauchy_cdf(cri_par p, double x, unsigned side)
{
    double z = x / p.v[0];
    return cri_face(2 / M_PI * atan(z), 2 / M_PI * atan2(1, z), side);
}

static double half_cauchy_quantile(cri_par p, double prob)
{
    return p.v[0] * (prob < 0.5 ? tan(M_PI_2 * prob) : 1 / tan(M_PI_2 * (1 - prob)));
}

static double half_cauchy_mean(cri_par p)
{
    (void)p;
    return INFINITY;
}

static double half_cauchy_entropy(cri_par p) { return log(2 * M_PI * p.v[0]); }

static double half_cauchy_sample(cri_par p, cr_rng *r)
{
    return half_cauchy_quantile(p, cr_rng_uniform(r));
}

static double half_cauchy_kl(cri_par p, cri_par q)
{
    double s = p.v[0], t = q.v[0];
    return log1p((s - t) / (2 * s) * ((s - t) / (2 * t)));
}

/* The mean of 2 x^2 / (s^2 + x^2) is 1. */
static double scale_equation(double scale, const void *user)
{
    const cri_sample *s = user;
    double            sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double r = scale / s->x[i];
        if (s->x[i] > 0) sum += cri_weight(s, i) / s->total * 2 / (1 + r * r);
    }
    return sum - 1;
}

static cr_status half_cauchy_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    double low, high;
    (void)n;
    cri_sample_range(s, &low, &high);
    double scale = high > 0 ? cri_falling_root(scale_equation, s, high) : NAN;
    if (isnan(scale)) return cri_no_estimate(cx, "half-cauchy", "half of the values are 0");
    v[0] = scale;
    return CR_OK;
}

static const cri_dist_param params[] = {
    CRI_PARAM("scale", cri_positive, ">0", "2.5", "the median"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_half_cauchy = {
    .name = "half-cauchy",
    .summary = "the positive half of a Cauchy: a weak prior for scales",
    .formula = "p(x) = 2 / (pi scale (1 + (x / scale)^2))",
    .reference = "Gelman (2006), Bayesian Analysis 1(3)",
    .params = params,
    CRI_ON_POSITIVES("x >= 0", cri_not_negative),
    .logpdf = half_cauchy_logpdf,
    .cdf = half_cauchy_cdf,
    .quantile = half_cauchy_quantile,
    .mean = half_cauchy_mean,
    .mode = cri_zero,
    .entropy = half_cauchy_entropy,
    .sample = half_cauchy_sample,
    .fit = half_cauchy_fit,
    .kl = half_cauchy_kl,
};
