/* poisson.c -- how many: the rate of counts.
 *   x | l ~ Poisson(l),   l ~ Gamma(shape a, rate b):   l | x ~ Gamma(a + S, b + n),  S = sum x
 *   log p(x_1 .. x_n) = log Gamma(a + S) / Gamma(a) + a log b - (a + S) log(b + n) - sum log x_i!
 *   next ~ NegativeBinomial with mean (a + S) / (b + n) and dispersion a + S.
 * Gelman et al. (2013), BDA, sec. 2.6. */
#include "univariate.h"
#include "math/special/special.h"
#include "prob/dist/counts.h"

#include <math.h>

/* clang-format off */
#define POISSON_OPTIONS(X)                                                                           \
    CRI_CONJUGATE_OPTIONS(X, "jeffreys",                                                             \
      "prior on the rate: jeffreys, flat, haldane, shape=A,rate=B, or mean=M,sd=S", "mean=4,sd=2")
/* clang-format on */
CR_OPTIONS(poisson_options, poisson_table, POISSON_OPTIONS);

enum { SHAPE, RATE, PARAMS };
enum { N, SUM, LOG_FACTORIALS, STATS };

static bool valid(const double *prior, double x)
{
    (void)prior;
    return x >= 0 && x == floor(x);
}

static void measure(const double *x, const double *w, size_t n, double *stats)
{
    stats[N] = stats[SUM] = stats[LOG_FACTORIALS] = 0;
    for (size_t i = 0; i < n; i++) {
        stats[N] += w[i];
        stats[SUM] += w[i] * x[i];
        stats[LOG_FACTORIALS] += w[i] * cr_lgamma_abs(x[i] + 1);
    }
}

/* Of Jeffreys: p(l) ~ l^-1/2. */
static cr_status read_prior(cr_ctx *cx, const cri_prior *p, const void *options, double *params)
{
    (void)options;
    return cri_prior_rate(cx, p, 0.5, "jeffreys, flat, haldane", params);
}

static bool proper(const double *params) { return params[SHAPE] > 0 && params[RATE] > 0; }

static bool sound(const double *prior, const double *stats)
{
    return cri_at_least(prior[SHAPE], 0) && cri_at_least(prior[RATE], 0) && stats[SUM] >= 0;
}

static void posterior(const double *prior, const double *stats, double *params)
{
    params[SHAPE] = prior[SHAPE] + stats[SUM];
    params[RATE] = prior[RATE] + stats[N];
}

static double log_evidence(const double *prior, const double *stats, const double *params,
                           const double *work)
{
    (void)work;
    return cr_lgamma_diff(prior[SHAPE], stats[SUM]) - stats[LOG_FACTORIALS] -
           prior[SHAPE] * log1p(stats[N] / prior[RATE]) - stats[SUM] * log(params[RATE]);
}

static cri_named joint(const double *params)
{
    return (cri_named){ "gamma", 2, { "shape", "rate" }, { params[SHAPE], params[RATE] } };
}

static cri_named predictive(const double *params)
{
    return (cri_named){ "negative-binomial",
                        2,
                        { "mean", "dispersion" },
                        { params[SHAPE] / params[RATE], params[SHAPE] } };
}

static double draw(const double *params, const double *work, cr_rng *r)
{
    (void)work;
    return cri_draw_poisson(r, cr_rng_gamma(r, params[SHAPE]) / params[RATE]);
}

static const char *const statistics[] = { "n", "sum", "log_factorials" };

static const cri_conjugate_family family = {
    .model = "poisson",
    .needs = "a whole number, 0 or more",
    .improper = "this prior needs a count above 0",
    CRI_CONJUGATE_FAMILY,
    .parameter = "rate",
};

CRI_CONJUGATE_ENTRIES(poisson, family, NULL)

const cr_model_class cri_class_poisson = {
    .name = "poisson",
    .summary = "the rate of counts, with a gamma posterior",
    .formulas = "x | l ~ Poisson(l),  l ~ Gamma(a, b):  l | x ~ Gamma(a + sum x, b + n)\n"
                "next: negative binomial, mean (a + sum x) / (b + n), dispersion a + sum x",
    .reference = "Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., sec. 2.6",
    .example = "examples/horsekicks.csv --features deaths --weights corps_years",
    CRI_CONJUGATE_CLASS(poisson, cri_conjugate_next, NULL),
    .support = CRI_SUPPORT_COUNTS,
};
