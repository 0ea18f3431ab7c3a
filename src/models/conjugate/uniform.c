/* uniform.c -- where it ends: the upper end, or both ends, of a uniform distribution.
 * Upper end:  x | u ~ U(low, u),  u - low ~ Pareto(w, a):  p(u) = a w^a / (u - low)^(a+1), u > low
 * + w posterior: a' = a + n, w' = max(w, max x - low) p(x_1 .. x_n) = a w^a / (a' w'^a') Both ends,
 * DeGroot's bilateral bivariate Pareto: p(l, u) = a (a + 1) (r2 - r1)^a / (u - l)^(a+2),  l < r1, u
 * > r2 posterior: a' = a + n, r1' = min(r1, min x), r2' = max(r2, max x) p(x_1 .. x_n) = a (a + 1)
 * w^a / (a' (a' + 1) w'^a'),  w = r2 - r1;  u - r1 and r2 - l ~ Pareto(w, a) DeGroot (1970),
 * Optimal Statistical Decisions, sec. 9.7. */
#include "univariate.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define UNIFORM_OPTIONS(X)                                                                           \
    CRI_CONJUGATE_OPTIONS(X, "jeffreys",                                                             \
      "prior on the ends: jeffreys, flat, shape=A,scale=W or mean=M,sd=S for the width, or, for both ends, low=L,high=H,shape=A", "shape=2,scale=10")                                  \
    X(choice, ends, "upper", "upper|both", "which ends are unknown", "both")                         \
    X(real,   low,  "",      "",           "ends upper: the known lower end; 0 if not given", "1")
/* clang-format on */
enum { ENDS_UPPER, ENDS_BOTH };
CR_OPTIONS(uniform_options, uniform_table, UNIFORM_OPTIONS);

/* LOW and HIGH hold all values seen; without any, and an improper prior, of both ends, LOW > HIGH.
 */
enum { LOW, HIGH, SHAPE, BOTH, PARAMS };
enum { N, LEAST, MOST, STATS };

static double width(const double *p) { return p[HIGH] - p[LOW]; }

static bool valid(const double *prior, double x) { return prior[BOTH] == 1 || x >= prior[LOW]; }

static void measure(const double *x, const double *w, size_t n, double *stats)
{
    stats[N] = 0, stats[LEAST] = stats[MOST] = x[0];
    for (size_t i = 0; i < n; i++) {
        stats[N] += w[i];
        stats[LEAST] = fmin(stats[LEAST], x[i]);
        stats[MOST] = fmax(stats[MOST], x[i]);
    }
}

static void merge(double *a, const double *b)
{
    a[N] += b[N];
    a[LEAST] = fmin(a[LEAST], b[LEAST]);
    a[MOST] = fmax(a[MOST], b[MOST]);
}

/* --- prior ----------------------------------------------------------------------------------- */

/* Of the width: Pareto(w, a) has mean a w / (a - 1) and (sd / mean)^2 = 1 / (a (a - 2)). */
static cr_status prior_of_upper(cr_ctx *cx, const cri_prior *p, double *params)
{
    cr_status st = CR_OK;
    double    v[2];
    params[HIGH] = params[LOW];
    params[SHAPE] = cri_prior_is(p, "jeffreys") ? 0 : -1; /* 1 / width; constant */
    if (cri_prior_is(p, "jeffreys") || cri_prior_is(p, "flat") || cri_prior_is(p, "uniform"))
        goto done;
    bool moments = cri_prior_match(p, "mean,sd", v);
    if (!moments && !cri_prior_match(p, "shape,scale", v))
        CR_TRY(cri_prior_refuse(cx, p, "jeffreys, flat; shape=A,scale=W; mean=M,sd=S"));
    CR_TRY(cri_prior_above(cx, moments ? "mean" : "shape", v[0], 0));
    CR_TRY(cri_prior_above(cx, moments ? "sd" : "scale", v[1], 0));
    params[SHAPE] = moments ? 1 + hypot(1, v[0] / v[1]) : v[0];
    params[HIGH] = params[LOW] + (moments ? v[0] * (params[SHAPE] - 1) / params[SHAPE] : v[1]);
done:
    return st;
}

static cr_status prior_of_both(cr_ctx *cx, const cri_prior *p, double *params)
{
    cr_status st = CR_OK;
    double    v[3];
    params[LOW] = INFINITY, params[HIGH] = -INFINITY;
    params[SHAPE] = cri_prior_is(p, "jeffreys") ? -1 : -2; /* 1 / width; constant */
    if (cri_prior_is(p, "jeffreys") || cri_prior_is(p, "flat") || cri_prior_is(p, "uniform"))
        goto done;
    if (!cri_prior_match(p, "low,high,shape", v))
        CR_TRY(cri_prior_refuse(cx, p, "with --ends both: jeffreys, flat; low=L,high=H,shape=A"));
    CR_TRY(cri_prior_above(cx, "high", v[1], v[0]));
    CR_TRY(cri_prior_above(cx, "shape", v[2], 0));
    memcpy(params, v, sizeof v);
done:
    return st;
}

static cr_status read_prior(cr_ctx *cx, const cri_prior *p, const void *options, double *params)
{
    const uniform_options *o = options;
    params[BOTH] = o->ends == ENDS_BOTH;
    if (o->ends == ENDS_BOTH && !isnan(o->low)) {
        cr_fail(cx, CR_EARG, "--low is the known lower end, but with --ends both it is unknown");
        return cr_fail_hint(cx, "leave out one of them");
    }
    params[LOW] = isnan(o->low) ? 0 : o->low;
    return o->ends == ENDS_BOTH ? prior_of_both(cx, p, params) : prior_of_upper(cx, p, params);
}

/* --- posterior and evidence ------------------------------------------------------------------ */

static bool proper(const double *p) { return p[SHAPE] > 0 && width(p) > 0; }

/* The ends of an improper prior are infinite. */
static bool sound(const double *prior, const double *stats)
{
    return !isnan(prior[LOW]) && !isnan(prior[HIGH]) && cri_at_least(prior[SHAPE], -2) &&
           (prior[BOTH] == 0 || prior[BOTH] == 1) && stats[LEAST] <= stats[MOST];
}

static void posterior(const double *prior, const double *stats, double *params)
{
    memcpy(params, prior, PARAMS * sizeof *params);
    params[SHAPE] += stats[N];
    params[HIGH] = fmax(prior[HIGH], stats[MOST]);
    if (prior[BOTH] == 1) params[LOW] = fmin(prior[LOW], stats[LEAST]);
}

static double log_evidence(const double *prior, const double *stats, const double *params,
                           const double *work)
{
    double a = prior[SHAPE], n = stats[N], sum;
    (void)work;
    sum = -log1p(n / a) - a * log(width(params) / width(prior)) - n * log(width(params));
    return prior[BOTH] == 1 ? sum - log1p(n / (a + 1)) : sum;
}

/* The evidence of one more value. */
static double log_predictive(const double *params, const double *work, double x)
{
    double one[STATS] = { 1, x, x }, more[PARAMS];
    posterior(params, one, more);
    return log_evidence(params, one, more, work);
}

static double draw_pareto(cr_rng *r, double w, double a)
{
    return w * exp(cr_rng_exponential(r) / a);
}

/* u - r1 is Pareto(w, a); given u, u - l is Pareto(u - r1, a + 1). */
static double draw(const double *p, const double *work, cr_rng *r)
{
    (void)work;
    double high = p[LOW] + draw_pareto(r, width(p), p[SHAPE]);
    double low = p[BOTH] == 1 ? high - draw_pareto(r, high - p[LOW], p[SHAPE] + 1) : p[LOW];
    return low + (high - low) * cr_rng_uniform(r);
}

/* --- what is told ---------------------------------------------------------------------------- */

static cri_named joint(const double *p)
{
    return (cri_named){ p[BOTH] == 1 ? "bilateral-pareto" : "pareto",
                        3,
                        { "low", "high", "shape" },
                        { p[LOW], p[HIGH], p[SHAPE] } };
}

static cri_named predictive(const double *p)
{
    cri_named d = joint(p);
    d.family = p[BOTH] == 1 ? "uniform-bilateral-pareto" : "uniform-pareto";
    return d;
}

static size_t marginals(const double *p, const char *names[], cri_named *out)
{
    size_t    n = 0;
    cri_named end = { "pareto", 3, { "location", "scale", "shape" }, { 0, width(p), p[SHAPE] } };
    if (p[BOTH] == 1) {
        names[n] = "low", out[n] = end;
        out[n].family = "reflected-pareto", out[n++].values[0] = p[HIGH];
    }
    names[n] = "high", out[n] = end, out[n++].values[0] = p[LOW];
    return n;
}

/* base + sign times a Pareto(w, a). */
static cr_status summarise(cr_ctx *cx, const double *p, const double *work, size_t k, double level,
                           cri_summary *out)
{
    bool   below = p[BOTH] == 1 && k == 0;
    double w = width(p), a = p[SHAPE], base = below ? p[HIGH] : p[LOW], sign = below ? -1 : 1;
    double near = w * pow(0.5 + level / 2, -1 / a), far = w * pow(0.5 - level / 2, -1 / a);
    double dense = w * pow(1 - level, -1 / a);
    double mean = a > 1 ? a * w / (a - 1) : INFINITY;
    (void)cx, (void)work;
    *out = (cri_summary){ .mean = base + sign * mean,
                          .sd = a > 2 ? w / (a - 1) * sqrt(a / (a - 2)) : INFINITY,
                          .mode = base + sign * w,
                          .lower = base + (below ? -far : near),
                          .upper = base + (below ? -near : far),
                          .hdi_lower = base + (below ? -dense : w),
                          .hdi_upper = base + (below ? -w : dense) };
    return CR_OK;
}

static const char *const statistics[] = { "n", "least", "greatest" };

static const cri_conjugate_family family = {
    .model = "uniform",
    .needs = "a number that is not below --low",
    .improper = "this prior needs more values, not all of them at one end",
    CRI_CONJUGATE_FAMILY,
    .merge = merge,
    .log_predictive = log_predictive,
    .marginals = marginals,
    .summarise = summarise,
};

CRI_CONJUGATE_ENTRIES(uniform, family, NULL)

const cr_model_class cri_class_uniform = {
    .name = "uniform",
    .summary = "the upper end, or both ends, of uniform numbers, with a Pareto posterior",
    .formulas =
        "x | u ~ U(low, u),  u - low ~ Pareto(w, a):  a' = a + n,  w' = max(w, max x - low)\n"
        "both ends:  p(l, u) ~ (u - l)^-(a+2),  l < r1, u > r2:\n"
        "  a' = a + n,  r1' = min(r1, min x),  r2' = max(r2, max x)",
    .reference = "DeGroot (1970), Optimal Statistical Decisions, sec. 9.7",
    .example = "examples/diabetes.csv --features age",
    CRI_CONJUGATE_CLASS(uniform, NULL, NULL),
    .support = CRI_SUPPORT_POSITIVE,
};
