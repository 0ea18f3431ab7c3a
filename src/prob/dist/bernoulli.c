/* bernoulli.c -- one trial that succeeds with probability p. */
#include "fit.h"
#include "saddle.h"

#include <math.h>

static double bernoulli_logpdf(cri_par p, double x)
{
    return x == 1 ? log(p.v[0]) : log1p(-p.v[0]);
}

static double bernoulli_cdf(cri_par p, double x, unsigned side)
{
    (void)x; /* 0 */
    return cri_face(1 - p.v[0], p.v[0], side);
}

static double bernoulli_mode(cri_par p) { return p.v[0] > 0.5; }
static double bernoulli_variance(cri_par p) { return p.v[0] * (1 - p.v[0]); }

static double bernoulli_entropy(cri_par p)
{
    return -cri_xlogy(p.v[0], p.v[0]) - cri_xlog1py(1 - p.v[0], -p.v[0]);
}

static double bernoulli_sample(cri_par p, cr_rng *r) { return cr_rng_uniform(r) < p.v[0]; }

static cr_status bernoulli_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    (void)cx, (void)n;
    v[0] = fmin(1, fmax(0, cri_sample_mean(s, NULL)));
    return CR_OK;
}

static double bernoulli_kl(cri_par p, cri_par q)
{
    return cr_bd0(p.v[0], q.v[0]) + cr_bd0(1 - p.v[0], 1 - q.v[0]);
}

static void natural(cri_par p, double *eta) { eta[0] = log(p.v[0]) - log1p(-p.v[0]); }

static double log_partition(cri_par p, const double *eta)
{
    (void)p;
    return cri_softplus(eta[0]);
}

static const cri_family family = { .natural = natural, .log_partition = log_partition };

static const cri_dist_param params[] = {
    CRI_PARAM("p", cri_unit, "0..1", "0.3", "probability of a success"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_bernoulli = {
    .name = "bernoulli",
    .summary = "one trial: 1 with probability p, else 0",
    .formula = "P(x) = p^x (1 - p)^(1 - x)",
    .reference = "Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 3",
    .support_text = "x = 0, 1",
    .params = params,
    .discrete = true,
    .data = &cri_zero_or_one,
    .support = cri_support_unit,
    .logpdf = bernoulli_logpdf,
    .cdf = bernoulli_cdf,
    .mean = cri_first,
    .mode = bernoulli_mode,
    .variance = bernoulli_variance,
    .entropy = bernoulli_entropy,
    .sample = bernoulli_sample,
    .fit = bernoulli_fit,
    .kl = bernoulli_kl,
    .family = &family,
};
