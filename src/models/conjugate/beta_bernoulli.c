/* beta_bernoulli.c -- how often: the probability of success of a yes-or-no column.
 *   x | p ~ Bernoulli(p),   p ~ Beta(a, b):   p | x ~ Beta(a + N1, b + N0)
 *   log p(x_1 .. x_n) = log B(a + N1, b + N0) - log B(a, b),   P(next = 1) = (a + N1) / (a + b + n)
 * N1 successes and N0 failures.  Gelman et al. (2013), BDA, sec. 2.1-2.4. */
#include "univariate.h"
#include "math/special/special.h"

#include <math.h>

/* clang-format off */
#define BETA_BERNOULLI_OPTIONS(X)                                                                    \
    CRI_CONJUGATE_OPTIONS(X, "uniform",                                                              \
      "prior on the probability: uniform, jeffreys, haldane, a=A,b=B, or mean=M,sd=S",               \
      "mean=0.8,sd=0.1")                                                                             \
    X(text, success, "", "", "value or level that counts as success, or >T for numbers above T; default: 1, true, or the second of two levels; for other numbers, those above 0", "yes")
/* clang-format on */
CR_OPTIONS(beta_bernoulli_options, beta_bernoulli_table, BETA_BERNOULLI_OPTIONS);

enum { A, B, PARAMS };
enum { N, SUCCESSES, FAILURES, STATS };

static bool valid(const double *prior, double x)
{
    (void)prior;
    return x == 0 || x == 1;
}

static void measure(const double *x, const double *w, size_t n, double *stats)
{
    stats[SUCCESSES] = stats[FAILURES] = 0;
    for (size_t i = 0; i < n; i++) stats[x[i] == 1 ? SUCCESSES : FAILURES] += w[i];
    stats[N] = stats[SUCCESSES] + stats[FAILURES];
}

/* Beta(a, b) of this mean and sd: a + b = mean (1 - mean) / sd^2 - 1. */
static cr_status prior_by_moments(cr_ctx *cx, double mean, double sd, double *params)
{
    if (!(mean > 0 && mean < 1))
        return cr_fail(cx, CR_EARG, "--prior: mean is %g, but a probability lies between 0 and 1",
                       mean);
    double most = sqrt(mean * (1 - mean)), strength = most / sd * (most / sd) - 1;
    if (!(sd > 0 && sd < most && strength > 0)) {
        cr_fail(cx, CR_EARG, "--prior: no beta distribution has mean %g and sd %g", mean, sd);
        return cr_fail_hint(cx, "with this mean the sd must be above 0 and below %g", most);
    }
    params[A] = mean * strength;
    params[B] = (1 - mean) * strength;
    return CR_OK;
}

static cr_status read_prior(cr_ctx *cx, const cri_prior *p, const void *options, double *params)
{
    cr_status st = CR_OK;
    double    v[2];
    (void)options;
    if (cri_prior_is(p, "uniform") || cri_prior_is(p, "flat"))
        params[A] = params[B] = 1;
    else if (cri_prior_is(p, "jeffreys"))
        params[A] = params[B] = 0.5;
    else if (cri_prior_is(p, "haldane"))
        params[A] = params[B] = 0;
    else if (cri_prior_match(p, "a,b", params)) {
        CR_TRY(cri_prior_above(cx, "a", params[A], 0));
        CR_TRY(cri_prior_above(cx, "b", params[B], 0));
    } else if (cri_prior_match(p, "mean,sd", v))
        CR_TRY(prior_by_moments(cx, v[0], v[1], params));
    else
        CR_TRY(cri_prior_refuse(cx, p, "uniform, jeffreys, haldane; a=A,b=B; mean=M,sd=S"));
done:
    return st;
}

static bool proper(const double *params) { return params[A] > 0 && params[B] > 0; }

static bool sound(const double *prior, const double *stats)
{
    return cri_at_least(prior[A], 0) && cri_at_least(prior[B], 0) && stats[SUCCESSES] >= 0 &&
           stats[FAILURES] >= 0;
}

static void posterior(const double *prior, const double *stats, double *params)
{
    params[A] = prior[A] + stats[SUCCESSES];
    params[B] = prior[B] + stats[FAILURES];
}

static double log_evidence(const double *prior, const double *stats, const double *params,
                           const double *work)
{
    (void)stats, (void)work;
    return cr_lbeta(params[A], params[B]) - cr_lbeta(prior[A], prior[B]);
}

static cri_named joint(const double *params)
{
    return (cri_named){ "beta", 2, { "a", "b" }, { params[A], params[B] } };
}

static cri_named predictive(const double *params)
{
    return (cri_named){ "bernoulli", 1, { "p" }, { params[A] / (params[A] + params[B]) } };
}

static double draw(const double *params, const double *work, cr_rng *r)
{
    (void)work;
    double p = cr_rng_beta(r, params[A], params[B]);
    return cr_rng_uniform(r) < p;
}

static const char *const statistics[] = { "n", "successes", "failures" };

static const cri_conjugate_family family = {
    .model = "beta-bernoulli",
    .needs = "0 or 1",
    .improper = "this prior needs at least one success and one failure",
    .binary = true,
    CRI_CONJUGATE_FAMILY,
    .parameter = "p",
};

CRI_CONJUGATE_ENTRIES(beta_bernoulli, family, o->success)

const cr_model_class cri_class_beta_bernoulli = {
    .name = "beta-bernoulli",
    .summary = "the probability of success of yes-or-no columns, with a beta posterior",
    .formulas =
        "x | p ~ Bernoulli(p),  p ~ Beta(a, b):  p | x ~ Beta(a + successes, b + failures)\n"
        "log evidence = log B(a + successes, b + failures) - log B(a, b)\n"
        "next: P(success) = (a + successes) / (a + b + n)",
    .reference = "Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., sec. 2.1-2.4",
    .example = "examples/aspirin.csv --features attack --weights people",
    CRI_CONJUGATE_CLASS(beta_bernoulli, cri_conjugate_next, cri_conjugate_next_levels),
};
