/* gamma.c -- the gamma distribution by shape a and rate b. */
#include "gamma.h"
#include "fit.h"
#include "saddle.h"

#include <math.h>

/* Loader's form: with a >= 1 a Poisson mass at a - 1. */
double cri_gamma_logpdf(double a, double b, double x)
{
    if (x == 0) return a < 1 ? INFINITY : a > 1 ? -INFINITY : log(b);
    if (a >= 1) return cri_poisson_mass(a - 1, b * x) + log(b);
    double log_gamma = a < 0.5 ? cri_log_gamma1p(a) - log(a) : cr_lgamma_abs(a);
    return a * log(b) + (a - 1) * log(x) - b * x - log_gamma;
}

double cri_gamma_cdf(double a, double z, unsigned side)
{
    if (side & CRI_UPPER) return side & CRI_LOG ? cr_log_gamma_q(a, z) : cr_gamma_q(a, z);
    return side & CRI_LOG ? cr_log_gamma_p(a, z) : cr_gamma_p(a, z);
}

double cri_gamma_mode(double a, double b) { return a > 1 ? (a - 1) / b : 0; }

/* a - log b + log Gamma(a) + (1 - a) psi(a), Stirling's leading terms taken out of both. */
double cri_gamma_entropy(double a, double b)
{
    return 0.5 * log(a) + CRI_HALF_LOG_2PI + cr_stirlerr(a) + (a - 1) * cri_log_minus_digamma(a) -
           log(b);
}

/* log Gamma at a' and a, plus a t - a' log(1 + t), where 1 + t = b' / b. */
double cri_gamma_kl(double a, double b, double a2, double b2)
{
    double t = (b2 - b) / b, h = a2 - a;
    return cri_log_gamma_divergence(a, h) - a * cri_log1pmx(t) - h * log1p(t);
}

static double shape_equation(double a, const void *user)
{
    return cri_log_minus_digamma(a) - *(const double *)user;
}

/* The maximum of log a - psi(a) = log(mean) - mean(log) > 0; Minka's start. */
double cri_gamma_shape(double gap)
{
    double start = (3 - gap + sqrt((gap - 3) * (gap - 3) + 24 * gap)) / (12 * gap);
    return cri_falling_root(shape_equation, &gap, start);
}

/* log(mean) - mean(log), as the mean of log(mean / x) + x / mean - 1: none is negative. */
static double log_gap(const cri_sample *s, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) sum += cri_weight(s, i) * cr_bd0(mean, s->x[i]);
    return sum / s->total / mean;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static double gamma_logpdf(cri_par p, double x) { return cri_gamma_logpdf(p.v[0], p.v[1], x); }

static double gamma_cdf(cri_par p, double x, unsigned side)
{
    return cri_gamma_cdf(p.v[0], p.v[1] * x, side);
}

static double gamma_quantile(cri_par p, double prob)
{
    return cr_gamma_p_inv(p.v[0], prob) / p.v[1];
}
static double gamma_mean(cri_par p) { return p.v[0] / p.v[1]; }
static double gamma_mode(cri_par p) { return cri_gamma_mode(p.v[0], p.v[1]); }
static double gamma_variance(cri_par p) { return p.v[0] / p.v[1] / p.v[1]; }
static double gamma_entropy(cri_par p) { return cri_gamma_entropy(p.v[0], p.v[1]); }
static double gamma_sample(cri_par p, cr_rng *r) { return cr_rng_gamma(r, p.v[0]) / p.v[1]; }

static double gamma_kl(cri_par p, cri_par q)
{
    return cri_gamma_kl(p.v[0], p.v[1], q.v[0], q.v[1]);
}

static cr_status gamma_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = cri_need_spread(cx, s, "gamma", "shape");
    if (st != CR_OK || n != 2) return st;
    double mean = cri_sample_mean(s, NULL);
    v[0] = cri_gamma_shape(log_gap(s, mean));
    v[1] = v[0] / mean;
    return CR_OK;
}

static const char *const statistics[] = { "log x", "x" };

static void natural(cri_par p, double *eta) { eta[0] = p.v[0] - 1, eta[1] = -p.v[1]; }

static double log_partition(cri_par p, const double *eta)
{
    (void)p;
    return cr_lgamma_abs(eta[0] + 1) - (eta[0] + 1) * log(-eta[1]);
}

static void statistic(cri_par p, double x, double *t)
{
    (void)p;
    t[0] = log(x), t[1] = x;
}

static void mean_statistic(cri_par p, double *t)
{
    t[0] = cr_digamma(p.v[0]) - log(p.v[1]);
    t[1] = p.v[0] / p.v[1];
}

static const cri_family family = { statistics,    2,         NULL,          natural,
                                   log_partition, statistic, mean_statistic };

/* y (2 F_a(y) - 1) - a/b (2 F_{a+1}(y) - 1) - a / (pi b) B(a + 1/2, 1/2):  Scheuerer & Moeller
 * (2015), Ann. Appl. Stat. 9, eq. (8). */
static double gamma_crps(cri_par p, double y)
{
    double a = p.v[0], mean = a / p.v[1], z = fmax(p.v[1] * y, 0);
    return y * (2 * cr_gamma_p(a, z) - 1) - mean * (2 * cr_gamma_p(a + 1, z) - 1) -
           mean * 0.31830988618379067154 * exp(cr_lbeta(a + 0.5, 0.5));
}

static const cri_dist_param params[] = {
    CRI_PARAM("shape", cri_positive, ">0", "2", "shape a"),
    CRI_PARAM("rate", cri_positive, ">0", "3", "rate b, one over the scale"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_gamma = {
    .name = "gamma",
    .summary = "waiting time for several events; prior for rates and precisions",
    .formula = "p(x) = b^a x^(a-1) exp(-b x) / Gamma(a)",
    .reference =
        "Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 17",
    .params = params,
    CRI_ON_POSITIVES("x >= 0", cri_positive),
    .logpdf = gamma_logpdf,
    .cdf = gamma_cdf,
    .quantile = gamma_quantile,
    .mean = gamma_mean,
    .mode = gamma_mode,
    .variance = gamma_variance,
    .entropy = gamma_entropy,
    .sample = gamma_sample,
    .fit = gamma_fit,
    .kl = gamma_kl,
    .crps = gamma_crps,
    .family = &family,
};
