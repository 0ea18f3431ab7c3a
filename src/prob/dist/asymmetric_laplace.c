/* asymmetric_laplace.c -- two exponentials of different rates back to back: its location is its
 * quantile of the given share, so its likelihood is quantile regression's. */
#include "fit.h"

#include <math.h>

/* z = (x - location) / scale;  p(x) = t (1 - t) / scale exp(-z (t - 1{z < 0})). */
static double al_logpdf(cri_par p, double x)
{
    double z = cri_standard(p, x), t = p.v[2];
    return log(t) + log1p(-t) - log(p.v[1]) - (z < 0 ? (t - 1) * z : t * z);
}

static double al_cdf(cri_par p, double x, unsigned side)
{
    double z = cri_standard(p, x), t = p.v[2];
    if (side & CRI_UPPER) z = -z, t = 1 - t; /* by symmetry */
    double below = log(t) + (1 - t) * z, above = log1p(-t) - t * z;
    if (side & CRI_LOG) return z < 0 ? below : log1p(-exp(above));
    return z < 0 ? exp(below) : -expm1(above);
}

static double al_quantile(cri_par p, double prob)
{
    double t = p.v[2];
    double z = prob < t ? log(prob / t) / (1 - t) : -log((1 - prob) / (1 - t)) / t;
    return p.v[0] + p.v[1] * z;
}

static double al_mean(cri_par p)
{
    double t = p.v[2];
    return p.v[0] + p.v[1] * (1 - 2 * t) / (t * (1 - t));
}

static double al_variance(cri_par p)
{
    double t = p.v[2], r = p.v[1] / (t * (1 - t));
    return r * r * (1 - 2 * t * (1 - t));
}

static double al_entropy(cri_par p)
{
    double t = p.v[2];
    return 1 + log(p.v[1]) - log(t) - log1p(-t);
}

static double al_sample(cri_par p, cr_rng *r)
{
    double z = cr_rng_exponential(r), t = p.v[2];
    return p.v[0] + p.v[1] * (cr_rng_uniform(r) < t ? -z / (1 - t) : z / t);
}

/* E (X - c)+ and E (c - X)+; the one on the far side of the location is a single exponential. */
static void mean_parts(cri_par p, double c, double *above, double *below)
{
    double t = p.v[2], s = p.v[1], d = (c - p.v[0]) / s, beyond = al_mean(p) - c;
    if (d >= 0)
        *above = (1 - t) * s / t * exp(-t * d), *below = *above - beyond;
    else
        *below = t * s / (1 - t) * exp((1 - t) * d), *above = *below + beyond;
}

/* log of the ratio of heights, and the mean loss under q less that under p, which is 1. */
static double al_kl(cri_par p, cri_par q)
{
    double above, below, t = q.v[2];
    mean_parts(p, q.v[0], &above, &below);
    double kl = log(p.v[2] / t) + log((1 - p.v[2]) / (1 - t)) + log(q.v[1] / p.v[1]) - 1 +
                (t * above + (1 - t) * below) / q.v[1];
    return kl > 0 ? kl : 0;
}

/* The quantile, and the mean check loss about it; the share is given. */
static cr_status al_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = CR_OK;
    double    location = 0, sum = 0;
    (void)n;
    CR_TRY(cri_need_spread(cx, s, "asymmetric-laplace", "scale"));
    CR_TRY(cri_sample_quantile(cx, s, v[2], &location));
    for (size_t i = 0; i < s->n; i++) {
        double r = s->x[i] - location;
        sum += cri_weight(s, i) * (r < 0 ? (v[2] - 1) * r : v[2] * r);
    }
    v[0] = location, v[1] = sum / s->total;
done:
    return st;
}

static const cri_dist_param params[] = {
    CRI_PARAM("location", cri_any, "any number", "0", "the quantile of the share"),
    CRI_PARAM("scale", cri_positive, ">0", "1", "mean check loss"),
    CRI_PARAM_GIVEN("share", cri_open_unit, "0<..<1", "0.9", "the mass below the location"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_asymmetric_laplace = {
    .name = "asymmetric-laplace",
    .summary = "two exponentials of different rates back to back: quantile regression's noise",
    .formula = "p(x) = t (1 - t) / scale exp(-z (t - [z < 0])),  z = (x - location) / scale",
    .reference =
        "Koenker & Machado (1999), J. Am. Stat. Assoc. 94; Yu & Zhang (2005), Commun. Stat. 34",
    .params = params,
    CRI_ON_REALS,
    .logpdf = al_logpdf,
    .cdf = al_cdf,
    .quantile = al_quantile,
    .mean = al_mean,
    .mode = cri_first,
    .variance = al_variance,
    .entropy = al_entropy,
    .sample = al_sample,
    .fit = al_fit,
    .kl = al_kl,
};
