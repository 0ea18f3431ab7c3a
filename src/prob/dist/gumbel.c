/* gumbel.c -- the largest of many: extreme values of type I. */
#include "fit.h"
#include "saddle.h"

#include <math.h>

#define EULER 0.57721566490153286061

static double gumbel_logpdf(cri_par p, double x)
{
    double z = cri_standard(p, x);
    return -z - exp(-z) - log(p.v[1]);
}

static double gumbel_cdf(cri_par p, double x, unsigned side)
{
    double hazard = exp(-cri_standard(p, x));
    if (side == (CRI_LOWER | CRI_LOG)) return -hazard;
    return cri_face(exp(-hazard), -expm1(-hazard), side);
}

static double gumbel_quantile(cri_par p, double prob) { return p.v[0] - p.v[1] * log(-log(prob)); }
static double gumbel_mean(cri_par p) { return p.v[0] + EULER * p.v[1]; }
static double gumbel_variance(cri_par p) { return M_PI * M_PI / 6 * p.v[1] * p.v[1]; }
static double gumbel_entropy(cri_par p) { return log(p.v[1]) + EULER + 1; }

static double gumbel_sample(cri_par p, cr_rng *r)
{
    return p.v[0] - p.v[1] * log(cr_rng_exponential(r));
}

/* exp(-x / scale) is exponential: a Weibull, whose divergence it has. */
static double gumbel_kl(cri_par p, cri_par q)
{
    double ratio = p.v[1] / q.v[1], shift = (q.v[0] - p.v[0]) / q.v[1];
    return -log(ratio) - shift + (ratio - 1) * EULER + exp(shift + cr_lgamma_abs(ratio + 1)) - 1;
}

/* scale = mean(x) - sum x e^(-x / scale) / sum e^(-x / scale), over x - min(x). */
static double scale_equation(double scale, const void *user)
{
    const cri_sample *s = user;
    double            low, high, top = 0, sum = 0, mean = 0;
    cri_sample_range(s, &low, &high);
    for (size_t i = 0; i < s->n; i++) {
        double d = s->x[i] - low, w = cri_weight(s, i), power = w * exp(-d / scale);
        top += power * d, sum += power, mean += w / s->total * d;
    }
    return mean - top / sum - scale;
}

static cr_status gumbel_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = cri_need_spread(cx, s, "gumbel", "scale");
    double    low, high, sum = 0;
    if (st != CR_OK || n != 2) return st;
    cri_sample_range(s, &low, &high);
    double mean = cri_sample_mean(s, NULL), start = sqrt(cri_sample_spread(s, mean));
    double scale = cri_falling_root(scale_equation, s, start);
    for (size_t i = 0; i < s->n; i++) sum += cri_weight(s, i) * exp(-(s->x[i] - low) / scale);
    v[0] = low - scale * log(sum / s->total), v[1] = scale;
    return CR_OK;
}

static const cri_dist_param params[] = {
    CRI_PARAM_STANDARD("location", cri_any, "any number", "0", "the mode"),
    CRI_PARAM_STANDARD("scale", cri_positive, ">0", "1", "scale; the sd is 1.28 times it"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_gumbel = {
    .name = "gumbel",
    .summary = "the largest of many: floods, records",
    .formula = "p(x) = exp(-z - exp(-z)) / scale,  z = (x - location) / scale",
    .reference =
        "Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 22",
    .params = params,
    CRI_ON_REALS,
    .logpdf = gumbel_logpdf,
    .cdf = gumbel_cdf,
    .quantile = gumbel_quantile,
    .mean = gumbel_mean,
    .mode = cri_first,
    .variance = gumbel_variance,
    .entropy = gumbel_entropy,
    .sample = gumbel_sample,
    .fit = gumbel_fit,
    .kl = gumbel_kl,
};
