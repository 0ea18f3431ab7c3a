/* weibull.c -- times to failure whose rate grows or falls as a power of time. */
#include "fit.h"
#include "saddle.h"

#include <math.h>

#define EULER 0.57721566490153286061

/* log z = log(x / scale). */
static double weibull_logpdf(cri_par p, double x)
{
    double k = p.v[0];
    if (x == 0) return k < 1 ? INFINITY : k > 1 ? -INFINITY : -log(p.v[1]);
    double log_z = log(x / p.v[1]);
    return log(k) - log(p.v[1]) + (k - 1) * log_z - exp(k * log_z);
}

static double weibull_cdf(cri_par p, double x, unsigned side)
{
    double hazard = pow(x / p.v[1], p.v[0]);
    if (side == (CRI_UPPER | CRI_LOG)) return -hazard;
    return cri_face(-expm1(-hazard), exp(-hazard), side);
}

static double weibull_quantile(cri_par p, double prob)
{
    return p.v[1] * pow(-log1p(-prob), 1 / p.v[0]);
}

static double weibull_mean(cri_par p) { return p.v[1] * exp(cr_lgamma_abs(1 + 1 / p.v[0])); }

static double weibull_mode(cri_par p)
{
    return p.v[0] > 1 ? p.v[1] * pow((p.v[0] - 1) / p.v[0], 1 / p.v[0]) : 0;
}

static double weibull_variance(cri_par p)
{
    double one = cr_lgamma_abs(1 + 1 / p.v[0]), two = cr_lgamma_abs(1 + 2 / p.v[0]);
    return p.v[1] * p.v[1] * exp(2 * one) * expm1(two - 2 * one);
}

static double weibull_entropy(cri_par p)
{
    return EULER * (1 - 1 / p.v[0]) + log(p.v[1] / p.v[0]) + 1;
}

static double weibull_sample(cri_par p, cr_rng *r)
{
    return p.v[1] * pow(cr_rng_exponential(r), 1 / p.v[0]);
}

/* Bauckhage (2013), arXiv:1310.3713. */
static double weibull_kl(cri_par p, cri_par q)
{
    double k = p.v[0], m = q.v[0], ratio = m / k, shift = m * log(p.v[1] / q.v[1]);
    return -log(ratio) - shift + (ratio - 1) * EULER + exp(shift + cr_lgamma_abs(ratio + 1)) - 1;
}

/* 1/k + mean(log x) = sum x^k log x / sum x^k. */
static double shape_equation(double k, const void *user)
{
    const cri_sample *s = user;
    double            low, high, top = 0, sum = 0, mean = 0;
    cri_sample_range(s, &low, &high);
    for (size_t i = 0; i < s->n; i++) {
        double l = log(s->x[i] / high), w = cri_weight(s, i), power = w * exp(k * l);
        top += power * l, sum += power, mean += w / s->total * l;
    }
    return 1 / k + mean - top / sum;
}

static cr_status weibull_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = cri_need_spread(cx, s, "weibull", "shape");
    double    low, high, sum = 0;
    if (st != CR_OK || n != 2) return st;
    cri_sample_range(s, &low, &high);
    double k = cri_falling_root(shape_equation, s, 1);
    for (size_t i = 0; i < s->n; i++) sum += cri_weight(s, i) * pow(s->x[i] / high, k);
    v[0] = k, v[1] = high * pow(sum / s->total, 1 / k);
    return CR_OK;
}

static const cri_dist_param params[] = {
    CRI_PARAM("shape", cri_positive, ">0", "1.5", "k: above 1 things wear out"),
    CRI_PARAM("scale", cri_positive, ">0", "2", "the 63 % quantile"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_weibull = {
    .name = "weibull",
    .summary = "times to failure of things that wear out or fail early",
    .formula = "p(x) = k / scale z^(k-1) exp(-z^k),  z = x / scale",
    .reference =
        "Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 21",
    .params = params,
    CRI_ON_POSITIVES("x >= 0", cri_positive),
    .logpdf = weibull_logpdf,
    .cdf = weibull_cdf,
    .quantile = weibull_quantile,
    .mean = weibull_mean,
    .mode = weibull_mode,
    .variance = weibull_variance,
    .entropy = weibull_entropy,
    .sample = weibull_sample,
    .fit = weibull_fit,
    .kl = weibull_kl,
};
