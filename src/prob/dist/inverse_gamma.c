/* inverse_gamma.c -- one over a gamma variable: shape a, scale b. */
#include "gamma.h"
#include "fit.h"
#include "saddle.h"

#include <math.h>

/* b^a y^(-a-1) exp(-b / y) / Gamma(a) = a / y times a Poisson mass at a. */
double cri_inverse_gamma_logpdf(double a, double b, double y)
{
    if (y == 0) return -INFINITY;
    if (a >= 1) return cri_poisson_mass(a, b / y) + log(a) - log(y);
    double log_gamma = a < 0.5 ? cri_log_gamma1p(a) - log(a) : cr_lgamma_abs(a);
    return a * log(b) - (a + 1) * log(y) - b / y - log_gamma;
}

/* a + log b + log Gamma(a) - (1 + a) psi(a). */
double cri_inverse_gamma_entropy(double a, double b)
{
    return log(b) - 1.5 * log(a) + CRI_HALF_LOG_2PI + cr_stirlerr(a) +
           (a + 1) * cri_log_minus_digamma(a);
}

/* 1 / y is gamma: its fit.  The mean of 1/y and the gap are taken over the inverses. */
cr_status cri_inverse_gamma_fit(cr_ctx *cx, const char *name, const cri_sample *s, double *a,
                                double *b)
{
    cr_status st = cri_need_spread(cx, s, name, "shape");
    if (st != CR_OK) return st;
    double mean = 0, gap = 0;
    for (size_t i = 0; i < s->n; i++) mean += cri_weight(s, i) / s->total / s->x[i];
    for (size_t i = 0; i < s->n; i++)
        gap += cri_weight(s, i) / s->total * cr_bd0(mean, 1 / s->x[i]) / mean;
    *a = cri_gamma_shape(gap);
    *b = *a / mean;
    return CR_OK;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static double inverse_gamma_logpdf(cri_par p, double x)
{
    return cri_inverse_gamma_logpdf(p.v[0], p.v[1], x);
}

static double inverse_gamma_cdf(cri_par p, double x, unsigned side)
{
    if (x == 0) return cri_face(0, 1, side);
    return cri_gamma_cdf(p.v[0], p.v[1] / x, side ^ CRI_UPPER);
}

static double inverse_gamma_mean(cri_par p)
{
    return p.v[0] > 1 ? p.v[1] / (p.v[0] - 1) : INFINITY;
}
static double inverse_gamma_mode(cri_par p) { return p.v[1] / (p.v[0] + 1); }

static double inverse_gamma_variance(cri_par p)
{
    double a = p.v[0], mean = inverse_gamma_mean(p);
    return a > 2 ? mean * mean / (a - 2) : a > 1 ? INFINITY : NAN;
}

static double inverse_gamma_entropy(cri_par p) { return cri_inverse_gamma_entropy(p.v[0], p.v[1]); }

static double inverse_gamma_sample(cri_par p, cr_rng *r)
{
    return p.v[1] * exp(-cr_rng_log_gamma(r, p.v[0]));
}

static double inverse_gamma_kl(cri_par p, cri_par q)
{
    return cri_gamma_kl(p.v[0], p.v[1], q.v[0], q.v[1]);
}

static cr_status inverse_gamma_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    (void)n;
    return cri_inverse_gamma_fit(cx, "inverse-gamma", s, &v[0], &v[1]);
}

const char *const cri_inverse_gamma_statistics[] = { "log x", "1 / x" };

double cri_inverse_gamma_log_partition(cri_par p, const double *eta)
{
    (void)p;
    return cr_lgamma_abs(-eta[0] - 1) + (eta[0] + 1) * log(-eta[1]);
}

void cri_inverse_gamma_statistic(cri_par p, double x, double *t)
{
    (void)p;
    t[0] = log(x), t[1] = 1 / x;
}

static void natural(cri_par p, double *eta) { eta[0] = -p.v[0] - 1, eta[1] = -p.v[1]; }

static void mean_statistic(cri_par p, double *t)
{
    t[0] = log(p.v[1]) - cr_digamma(p.v[0]);
    t[1] = p.v[0] / p.v[1];
}

static const cri_family family = CRI_INVERSE_GAMMA_FAMILY(natural, mean_statistic);

static const cri_dist_param params[] = {
    CRI_PARAM("shape", cri_positive, ">0", "3", "shape a"),
    CRI_PARAM("scale", cri_positive, ">0", "2", "scale b"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_inverse_gamma = {
    .name = "inverse-gamma",
    .summary = "one over a gamma: prior for variances",
    .formula = "p(x) = b^a x^(-a-1) exp(-b / x) / Gamma(a)",
    .reference = "Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., app. A",
    .params = params,
    CRI_ON_POSITIVES("x > 0", cri_positive),
    .logpdf = inverse_gamma_logpdf,
    .cdf = inverse_gamma_cdf,
    .mean = inverse_gamma_mean,
    .mode = inverse_gamma_mode,
    .variance = inverse_gamma_variance,
    .entropy = inverse_gamma_entropy,
    .sample = inverse_gamma_sample,
    .fit = inverse_gamma_fit,
    .kl = inverse_gamma_kl,
    .family = &family,
};
