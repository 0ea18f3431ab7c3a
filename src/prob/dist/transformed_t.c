/* transformed_t.c -- numbers whose transform is Student's t. */
#include "transformed_t.h"
#include "math/quadrature.h"
#include "math/special/special.h"

#include <math.h>

/* --- the distribution of z -------------------------------------------------------------------- */

enum { LOCATION, SCALE, DOF, LAMBDA };

static double t_tail(double z, double dof, unsigned side)
{
    double x = side & CRI_UPPER ? -z : z;
    if (isinf(dof)) return side & CRI_LOG ? cr_norm_logcdf(x) : cr_norm_cdf(x);
    double p = cr_student_t_cdf(x, dof);
    return side & CRI_LOG ? log(p) : p;
}

static double logpdf(cri_transform t, cri_par p, double y)
{
    if (!cri_transform_takes(t, y)) return -INFINITY;
    double z = (cri_transform_forward(t, y) - p.v[LOCATION]) / p.v[SCALE];
    return (isinf(p.v[DOF]) ? cr_norm_logpdf(z) : cr_student_t_logpdf(z, p.v[DOF])) -
           log(p.v[SCALE]) + cri_transform_log_slope(t, y);
}

static double cdf(cri_transform t, cri_par p, double y, unsigned side)
{
    double z = -INFINITY; /* at the lower end: what lies below it stands there */
    if (cri_transform_takes(t, y))
        z = cri_transform_forward(t, y);
    else if (t.kind == CRI_TRANSFORM_SQRT)
        z = 0;
    else if (t.kind == CRI_TRANSFORM_BOXCOX && t.lambda > 0)
        z = -1 / t.lambda;
    return t_tail((z - p.v[LOCATION]) / p.v[SCALE], p.v[DOF], side);
}

static double quantile(cri_transform t, cri_par p, double prob)
{
    double z = isinf(p.v[DOF]) ? cr_norm_ppf(prob) : cr_student_t_ppf(prob, p.v[DOF]);
    return cri_transform_back(t, p.v[LOCATION] + p.v[SCALE] * z);
}

static double sample(cri_transform t, cri_par p, cr_rng *r)
{
    double z = cr_rng_normal(r), half = p.v[DOF] / 2;
    if (isfinite(half)) z *= exp(0.5 * (log(half) - cr_rng_log_gamma(r, half)));
    return cri_transform_back(t, p.v[LOCATION] + p.v[SCALE] * z);
}

/* --- by a normal z of the same mean and sd ---------------------------------------------------- */

static double sd_of(cri_par p)
{
    double dof = p.v[DOF];
    return isinf(dof) ? p.v[SCALE] : dof > 2 ? p.v[SCALE] * sqrt(dof / (dof - 2)) : (double)NAN;
}

typedef struct integral {
    cri_transform t;
    double        mean, sd, about; /* of z; of y */
    int           power;
} integral;

/* (y - about)^power times the density of z = mean + sd x. */
static double moment_at(double x, void *user)
{
    const integral *i = user;
    double          y = cri_transform_back(i->t, i->mean + i->sd * x) - i->about;
    return (i->power == 1 ? y : y * y) * exp(cr_norm_logpdf(x));
}

/* x of the lower end of y's range, where z goes on below it. */
static double lower_end(const integral *i)
{
    double z = i->t.kind == CRI_TRANSFORM_SQRT ? 0 : i->t.lambda > 0 ? -1 / i->t.lambda : -INFINITY;
    return (z - i->mean) / i->sd;
}

enum { REACH = 12, PIECES = 12, NEARER = 8 };

/* How many sds of z above its mean count; NaN where the upper end of z, beyond which y is infinite, is not far
 * enough.  Up to it the mean of y would be infinite, for a tail that no data can know of. */
static double reach_of(const integral *i)
{
    if (i->t.kind != CRI_TRANSFORM_BOXCOX || i->t.lambda >= 0) return REACH;
    return (-1 / i->t.lambda - i->mean) / i->sd > NEARER + 1 ? NEARER : (double)NAN;
}

/* From a to b within reach, in pieces of equal length. */
static double integrate(cr_integrand *f, integral *i, double a, double b)
{
    double sum = 0;
    a = fmax(a, -REACH), b = fmin(b, reach_of(i));
    for (int k = 0; k < PIECES && a < b; k++)
        sum += cr_gauss20(f, i, a + (b - a) * k / PIECES, a + (b - a) * (k + 1) / PIECES);
    return sum;
}

static double moment(integral *i)
{
    double end = lower_end(i), at_end = i->power == 1 ? -i->about : i->about * i->about;
    if (isnan(i->sd) || isnan(reach_of(i))) return NAN;
    return integrate(moment_at, i, end, INFINITY) + (end > -REACH ? cr_norm_cdf(end) * at_end : 0);
}

static bool is_logarithm(cri_transform t)
{
    return t.kind == CRI_TRANSFORM_LOG || (t.kind == CRI_TRANSFORM_BOXCOX && t.lambda == 0);
}

static double mean(cri_transform t, cri_par p)
{
    double s = sd_of(p);
    if (is_logarithm(t)) return exp(p.v[LOCATION] + 0.5 * s * s);
    return moment(&(integral){ t, p.v[LOCATION], s, 0, 1 });
}

static double variance(cri_transform t, cri_par p)
{
    double m = mean(t, p), s = sd_of(p);
    if (is_logarithm(t)) return expm1(s * s) * m * m;
    return moment(&(integral){ t, p.v[LOCATION], s, m, 2 });
}

/* 2 (1{y < x} - F(x)) (x - y) p(x), whose integral is the score. */
static double score_at(double x, void *user)
{
    const integral *i = user;
    double          d = cri_transform_back(i->t, i->mean + i->sd * x) - i->about;
    return 2 * (d > 0 ? cr_norm_cdf(-x) : -cr_norm_cdf(x)) * d * exp(cr_norm_logpdf(x));
}

static double crps(cri_transform t, cri_par p, double y)
{
    integral i = { t, p.v[LOCATION], sd_of(p), y, 1 };
    if (isnan(i.sd) || isnan(reach_of(&i)) || !cri_transform_takes(t, y)) return NAN;
    double end = lower_end(&i), at = (cri_transform_forward(t, y) - i.mean) / i.sd;
    double F = end > -REACH ? cr_norm_cdf(end) : 0; /* F^2 y: of the end itself */
    return integrate(score_at, &i, end, at) + integrate(score_at, &i, fmax(at, end), INFINITY) +
           F * F * y;
}

/* --- one class for each transform ------------------------------------------------------------- */

static const cri_domain dof_domain = { ">0", 0, INFINITY, true, false, false };

#define PARAMS                                                                                     \
    CRI_PARAM("location", cri_any, "any number", "0", "centre of the transform"),                  \
        CRI_PARAM("scale", cri_positive, ">0", "1", "scale of the transform"),                     \
        CRI_PARAM("dof", dof_domain, ">0", "5", "degrees of freedom; infinite: normal")

static const cri_dist_param params[] = { PARAMS, CRI_PARAM_LAST };
static const cri_dist_param params_boxcox[] = {
    PARAMS,
    CRI_PARAM("lambda", cri_any, "any number", "0.5", "power of the transform"),
    CRI_PARAM_LAST,
};

#define TRANSFORMED(stem, KIND, power, text, table, range, domain, on)                             \
    static double stem##_logpdf(cri_par p, double y)                                               \
    {                                                                                              \
        return logpdf((cri_transform){ KIND, power }, p, y);                                       \
    }                                                                                              \
    static double stem##_cdf(cri_par p, double y, unsigned side)                                   \
    {                                                                                              \
        return cdf((cri_transform){ KIND, power }, p, y, side);                                    \
    }                                                                                              \
    static double stem##_quantile(cri_par p, double prob)                                          \
    {                                                                                              \
        return quantile((cri_transform){ KIND, power }, p, prob);                                  \
    }                                                                                              \
    static double stem##_mean(cri_par p) { return mean((cri_transform){ KIND, power }, p); }       \
    static double stem##_variance(cri_par p)                                                       \
    {                                                                                              \
        return variance((cri_transform){ KIND, power }, p);                                        \
    }                                                                                              \
    static double stem##_sample(cri_par p, cr_rng *r)                                              \
    {                                                                                              \
        return sample((cri_transform){ KIND, power }, p, r);                                       \
    }                                                                                              \
    static double stem##_crps(cri_par p, double y)                                                 \
    {                                                                                              \
        return crps((cri_transform){ KIND, power }, p, y);                                         \
    }                                                                                              \
    static const cr_dist_class dist_##stem = {                                                     \
        .name = (text),                                                                            \
        .summary = "a number whose transform is Student's t",                                      \
        .formula = "p(y) = t_dof((g(y) - location) / scale) / scale g'(y)",                        \
        .reference = "Box & Cox (1964), J. R. Statist. Soc. B 26:211-252",                         \
        .support_text = (range),                                                                   \
        .params = (table),                                                                         \
        .data = &(domain),                                                                         \
        .support = (on),                                                                           \
        .logpdf = stem##_logpdf,                                                                   \
        .cdf = stem##_cdf,                                                                         \
        .quantile = stem##_quantile,                                                               \
        .mean = stem##_mean,                                                                       \
        .variance = stem##_variance,                                                               \
        .sample = stem##_sample,                                                                   \
        .crps = stem##_crps,                                                                       \
    }

TRANSFORMED(log, CRI_TRANSFORM_LOG, 0, "log-t", params, "y > 0", cri_positive,
            cri_support_positive);
TRANSFORMED(sqrt, CRI_TRANSFORM_SQRT, 0, "sqrt-t", params, "y > 0", cri_positive,
            cri_support_positive);
TRANSFORMED(logit, CRI_TRANSFORM_LOGIT, 0, "logit-t", params, "0 < y < 1", cri_open_unit,
            cri_support_unit);
TRANSFORMED(boxcox, CRI_TRANSFORM_BOXCOX, p.v[LAMBDA], "boxcox-t", params_boxcox, "y > 0",
            cri_positive, cri_support_positive);

const cr_dist_class *cri_dist_transformed(cri_transform_kind kind)
{
    static const cr_dist_class *const classes[] = { NULL, &dist_log, &dist_sqrt, &dist_logit,
                                                    &dist_boxcox };
    return classes[kind];
}

bool cri_dist_is_transformed(const cr_dist_class *c)
{
    for (int kind = CRI_TRANSFORM_NONE + 1; kind < CRI_TRANSFORM_KINDS; kind++)
        if (c == cri_dist_transformed((cri_transform_kind)kind)) return true;
    return false;
}

size_t cri_dist_transformed_params(cri_transform_kind kind)
{
    return kind == CRI_TRANSFORM_BOXCOX ? CRI_TRANSFORMED_PARAMS : CRI_TRANSFORMED_PARAMS - 1;
}
