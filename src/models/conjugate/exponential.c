/* exponential.c -- how long: the rate of waiting times.
 *   x | l ~ Exponential(l),   l ~ Gamma(shape a, rate b):   l | x ~ Gamma(a + n, b + S),  S = sum x
 *   log p(x_1 .. x_n) = log Gamma(a + n) / Gamma(a) + a log b - (a + n) log(b + S)
 *   next ~ Lomax(a + n, b + S).   Gelman et al. (2013), BDA, sec. 2.6. */
#include "univariate.h"
#include "math/special/special.h"

#include <math.h>

/* clang-format off */
#define EXPONENTIAL_OPTIONS(X)                                                                       \
    CRI_CONJUGATE_OPTIONS(X, "jeffreys",                                                             \
      "prior on the rate: jeffreys, flat, shape=A,rate=B, or mean=M,sd=S", "shape=2,rate=3")
/* clang-format on */
CR_OPTIONS(exponential_options, exponential_table, EXPONENTIAL_OPTIONS);

enum { SHAPE, RATE, PARAMS };
enum { N, SUM, STATS };

static bool valid(const double *prior, double x)
{
    (void)prior;
    return x >= 0;
}

static void measure(const double *x, const double *w, size_t n, double *stats)
{
    stats[N] = stats[SUM] = 0;
    for (size_t i = 0; i < n; i++) {
        stats[N] += w[i];
        stats[SUM] += w[i] * x[i];
    }
}

/* Of Jeffreys: p(l) ~ 1 / l. */
static cr_status read_prior(cr_ctx *cx, const cri_prior *p, const void *options, double *params)
{
    (void)options;
    return cri_prior_rate(cx, p, 0, "jeffreys, flat", params);
}

static bool proper(const double *params) { return params[SHAPE] > 0 && params[RATE] > 0; }

static bool sound(const double *prior, const double *stats)
{
    return cri_at_least(prior[SHAPE], 0) && cri_at_least(prior[RATE], 0) && stats[SUM] >= 0;
}

static void posterior(const double *prior, const double *stats, double *params)
{
    params[SHAPE] = prior[SHAPE] + stats[N];
    params[RATE] = prior[RATE] + stats[SUM];
}

static double log_evidence(const double *prior, const double *stats, const double *params,
                           const double *work)
{
    (void)work;
    return cr_lgamma_diff(prior[SHAPE], stats[N]) - prior[SHAPE] * log1p(stats[SUM] / prior[RATE]) -
           stats[N] * log(params[RATE]);
}

static cri_named joint(const double *params)
{
    return (cri_named){ "gamma", 2, { "shape", "rate" }, { params[SHAPE], params[RATE] } };
}

static cri_named predictive(const double *params)
{
    return (cri_named){ "lomax", 2, { "shape", "scale" }, { params[SHAPE], params[RATE] } };
}

static double draw(const double *params, const double *work, cr_rng *r)
{
    (void)work;
    double rate = cr_rng_gamma(r, params[SHAPE]) / params[RATE];
    return cr_rng_exponential(r) / rate;
}

static const char *const statistics[] = { "n", "sum" };

static const cri_conjugate_family family = {
    .model = "exponential",
    .needs = "a number, 0 or more",
    .improper = "this prior needs a value above 0",
    CRI_CONJUGATE_FAMILY,
    .parameter = "rate",
};

CRI_CONJUGATE_ENTRIES(exponential, family, NULL)

const cr_model_class cri_class_exponential = {
    .name = "exponential",
    .summary = "the rate of waiting times, with a gamma posterior",
    .formulas = "x | l ~ Exponential(l),  l ~ Gamma(a, b):  l | x ~ Gamma(a + n, b + sum x)\n"
                "next: Lomax, shape a + n, scale b + sum x",
    .reference = "Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., sec. 2.6",
    .example = "examples/failures.csv",
    CRI_CONJUGATE_CLASS(exponential, cri_conjugate_next, NULL),
    .support = CRI_SUPPORT_POSITIVE,
};
