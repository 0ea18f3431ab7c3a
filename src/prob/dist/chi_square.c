/* chi_square.c -- the sum of df squared standard normals: Gamma(df / 2, rate 1/2). */
#include "gamma.h"
#include "fit.h"
#include "saddle.h"

#include <math.h>

static double shape(cri_par p) { return 0.5 * p.v[0]; }

static double chi2_logpdf(cri_par p, double x) { return cri_gamma_logpdf(shape(p), 0.5, x); }

static double chi2_cdf(cri_par p, double x, unsigned side)
{
    return cri_gamma_cdf(shape(p), 0.5 * x, side);
}

static double chi2_quantile(cri_par p, double prob) { return 2 * cr_gamma_p_inv(shape(p), prob); }
static double chi2_mode(cri_par p) { return cri_gamma_mode(shape(p), 0.5); }
static double chi2_variance(cri_par p) { return 2 * p.v[0]; }
static double chi2_entropy(cri_par p) { return cri_gamma_entropy(shape(p), 0.5); }
static double chi2_sample(cri_par p, cr_rng *r) { return 2 * cr_rng_gamma(r, shape(p)); }
static double chi2_kl(cri_par p, cri_par q) { return cri_gamma_kl(shape(p), 0.5, shape(q), 0.5); }

static double shape_equation(double a, const void *user)
{
    return *(const double *)user - cr_digamma(a);
}

/* psi(df / 2) = mean of log(x / 2). */
static cr_status chi2_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    (void)cx, (void)n;
    double mean = cri_sample_mean(s, log) - M_LN2;
    v[0] = 2 * cri_falling_root(shape_equation, &mean, 1);
    return CR_OK;
}

static const char *const statistics[] = { "log x" };

static void natural(cri_par p, double *eta) { eta[0] = shape(p) - 1; }

static double log_partition(cri_par p, const double *eta)
{
    (void)p;
    return cr_lgamma_abs(eta[0] + 1) + (eta[0] + 1) * M_LN2;
}

static void statistic(cri_par p, double x, double *t)
{
    (void)p;
    t[0] = log(x);
}

static void mean_statistic(cri_par p, double *t) { t[0] = cr_digamma(shape(p)) + M_LN2; }

static const cri_family family = { statistics,    1,         NULL,          natural,
                                   log_partition, statistic, mean_statistic };

static const cri_dist_param params[] = {
    CRI_PARAM("df", cri_positive, ">0", "4", "degrees of freedom"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_chi_square = {
    .name = "chi-square",
    .summary = "the sum of df squared standard normals",
    .formula = "p(x) = x^(df/2-1) exp(-x / 2) / (2^(df/2) Gamma(df/2))",
    .reference =
        "Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 18",
    .params = params,
    CRI_ON_POSITIVES("x >= 0", cri_positive),
    .logpdf = chi2_logpdf,
    .cdf = chi2_cdf,
    .quantile = chi2_quantile,
    .mean = cri_first,
    .mode = chi2_mode,
    .variance = chi2_variance,
    .entropy = chi2_entropy,
    .sample = chi2_sample,
    .fit = chi2_fit,
    .kl = chi2_kl,
    .family = &family,
};
