/* pareto.c -- sizes with a heavy tail above a least one: x = location + scale e^(E / a), E standard
 * exponential.  Location 0 is Pareto's first kind, location = -scale Lomax's (lomax.c). */
#include "fit.h"
#include "math/quadrature.h"

#include <math.h>

enum { LOCATION, SCALE, SHAPE };

/* log((x - location) / scale), good near the lower end. */
static double log_ratio(cri_par p, double x)
{
    double above = x - p.v[LOCATION] - p.v[SCALE];
    return log1p(fmax(above, 0) / p.v[SCALE]);
}

static double lower_end(cri_par p) { return p.v[LOCATION] + p.v[SCALE]; }

static cr_status pareto_check(cr_ctx *cx, cri_par p)
{
    if (lower_end(p) > p.v[LOCATION] && isfinite(lower_end(p))) return CR_OK;
    return cr_fail(cx, CR_EARG, "pareto: a scale of %g is lost next to a location of %g",
                   p.v[SCALE], p.v[LOCATION]);
}

static void pareto_support(cri_par p, double *low, double *high)
{
    *low = lower_end(p), *high = INFINITY;
}

static double pareto_logpdf(cri_par p, double x)
{
    return log(p.v[SHAPE] / p.v[SCALE]) - (p.v[SHAPE] + 1) * log_ratio(p, x);
}

static double pareto_cdf(cri_par p, double x, unsigned side)
{
    double log_upper = -p.v[SHAPE] * log_ratio(p, x);
    if (side == (CRI_UPPER | CRI_LOG)) return log_upper;
    return cri_face(-expm1(log_upper), exp(log_upper), side);
}

static double pareto_quantile(cri_par p, double prob)
{
    return p.v[LOCATION] + p.v[SCALE] * exp(-log1p(-prob) / p.v[SHAPE]);
}

static double pareto_mean(cri_par p)
{
    double a = p.v[SHAPE];
    return a > 1 ? p.v[LOCATION] + p.v[SCALE] * (a / (a - 1)) : INFINITY;
}

static double pareto_variance(cri_par p)
{
    double a = p.v[SHAPE], share = p.v[SCALE] / (a - 1);
    return a > 2 ? share * share * (a / (a - 2)) : a > 1 ? INFINITY : NAN;
}

static double pareto_entropy(cri_par p)
{
    return log(p.v[SCALE] / p.v[SHAPE]) + 1 + 1 / p.v[SHAPE];
}

static double pareto_sample(cri_par p, cr_rng *r)
{
    return p.v[LOCATION] + p.v[SCALE] * exp(cr_rng_exponential(r) / p.v[SHAPE]);
}

/* The least value gives the scale; the mean of the logarithms above it the shape. */
static cr_status pareto_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    double    low, high, sum = 0;
    cr_status st = cri_need_spread(cx, s, "pareto", "shape");
    if (st != CR_OK || n != 3) return st;
    cri_sample_range(s, &low, &high);
    if (!(low > v[LOCATION]))
        return cri_no_estimate(cx, "pareto", "a value is not above the location");
    double  scale = low - v[LOCATION], trial[3] = { v[LOCATION], scale, 1 };
    cri_par p = { trial, 3 };
    for (size_t i = 0; i < s->n; i++)
        if (cri_weight(s, i) > 0) sum += cri_weight(s, i) / s->total * log_ratio(p, s->x[i]);
    v[SCALE] = scale, v[SHAPE] = 1 / sum;
    return CR_OK;
}

/* --- divergence ------------------------------------------------------------------------------ */

typedef struct shift {
    double offset, a; /* (location of p - that of q) / scale of p; shape of p */
} shift;

static double shifted_log(double u, void *user)
{
    const shift *k = user;
    return log1p(k->offset * pow(u, 1 / k->a));
}

/* log(a_p / a_q) + a_q log(s_p / s_q) + a_q / a_p - 1, and, with r = (l_p - l_q) / s_p,
 * (a_q + 1) E_p log(1 + r s_p / (x - l_p)), an integral over the upper tail u in (0, 1). */
static cr_status pareto_kl(cr_ctx *cx, cri_par p, cri_par q, double *out)
{
    cr_status st = CR_OK;
    double    a = p.v[SHAPE], b = q.v[SHAPE], ratio = b / a, extra = 0;
    shift     k = { (p.v[LOCATION] - q.v[LOCATION]) / p.v[SCALE], a };
    if (lower_end(p) < lower_end(q)) {
        *out = INFINITY;
        return CR_OK;
    }
    if (k.offset != 0) CR_TRY(cr_integrate(cx, shifted_log, &k, 0, 1, 1e-12, 1e-12, &extra, NULL));
    *out = fmax(0, ratio - 1 - log(ratio) + b * log(p.v[SCALE] / q.v[SCALE]) + (b + 1) * extra);
done:
    return st;
}

static const cri_dist_param params[] = {
    CRI_PARAM_GIVEN("location", cri_any, "any number", "0",
                    "where the scale is measured from; 0 for the plain Pareto"),
    CRI_PARAM("scale", cri_positive, ">0", "2", "scale s: the smallest value is location + s"),
    CRI_PARAM("shape", cri_positive, ">0", "3", "shape a: moments below it exist"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_pareto = {
    .name = "pareto",
    .summary = "sizes above a minimum, with a heavy tail; the unknown end of a uniform",
    .formula = "p(x) = a / s ((x - location) / s)^-(a+1)",
    .reference =
        "Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 20",
    .support_text = "x >= location + scale",
    .params = params,
    .data = &cri_any,
    .check = pareto_check,
    .support = pareto_support,
    .logpdf = pareto_logpdf,
    .cdf = pareto_cdf,
    .quantile = pareto_quantile,
    .mean = pareto_mean,
    .mode = lower_end,
    .variance = pareto_variance,
    .entropy = pareto_entropy,
    .sample = pareto_sample,
    .fit = pareto_fit,
    .kl_integral = pareto_kl,
};
