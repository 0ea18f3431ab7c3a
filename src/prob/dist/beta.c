/* beta.c -- the beta distribution on (0, 1). */
#include "fit.h"
#include "saddle.h"

#include <math.h>

/* Loader's forms: a binomial mass with a - 1 and b - 1 where these are not negative, else a and b
 * and a factor; small a and b plainly. */
static double beta_logpdf(cri_par p, double x)
{
    double a = p.v[0], b = p.v[1], y = 1 - x;
    if (x == 0) return a < 1 ? INFINITY : a > 1 ? -INFINITY : log(b);
    if (y == 0) return b < 1 ? INFINITY : b > 1 ? -INFINITY : log(a);
    double log_x = y < 0.5 ? log1p(-y) : log(x), log_y = x < 0.5 ? log1p(-x) : log(y);
    if (a < 10 && b < 10) return (a - 1) * log_x + (b - 1) * log_y - cr_lbeta(a, b);
    if (a < 1) return log(a) - log_x + cri_binomial_mass(a, b - 1, x, y);
    if (b < 1) return log(b) - log_y + cri_binomial_mass(a - 1, b, x, y);
    return log(a + b - 1) + cri_binomial_mass(a - 1, b - 1, x, y);
}

static double beta_cdf(cri_par p, double x, unsigned side)
{
    double a = p.v[0], b = p.v[1];
    if (side & CRI_UPPER)
        return side & CRI_LOG ? cr_log_betainc_upper(a, b, x) : cr_betainc_upper(a, b, x);
    return side & CRI_LOG ? cr_log_betainc(a, b, x) : cr_betainc(a, b, x);
}

static double beta_quantile(cri_par p, double prob) { return cr_betainc_inv(p.v[0], p.v[1], prob); }
static double beta_mean(cri_par p) { return p.v[0] / (p.v[0] + p.v[1]); }

/* None where the density has a pole at both ends; the middle where it is flat. */
static double beta_mode(cri_par p)
{
    double a = p.v[0], b = p.v[1];
    if (a < 1 && b < 1) return NAN;
    if (a == 1 && b == 1) return 0.5;
    if (a <= 1 || b <= 1) return a > b;
    return (a - 1) / ((a - 1) + (b - 1));
}

static double beta_variance(cri_par p)
{
    double s = p.v[0] + p.v[1];
    return p.v[0] / s * (p.v[1] / s) / (s + 1);
}

/* log B(a, b) - (a - 1) psi(a) - (b - 1) psi(b) + (s - 2) psi(s), s = a + b, Stirling's leading
 * terms taken out of all. */
static double beta_entropy(cri_par p)
{
    double a = p.v[0], b = p.v[1], s = a + b;
    double leading = CRI_HALF_LOG_2PI + 0.5 * log(a) + 0.5 * log(b) - 1.5 * log(s);
    double error = cr_stirlerr(a) + cr_stirlerr(b) - cr_stirlerr(s);
    return leading + error + (a - 1) * cri_log_minus_digamma(a) +
           (b - 1) * cri_log_minus_digamma(b) - (s - 2) * cri_log_minus_digamma(s);
}

static double beta_sample(cri_par p, cr_rng *r) { return cr_rng_beta(r, p.v[0], p.v[1]); }

static double beta_kl(cri_par p, cri_par q)
{
    double a = p.v[0], b = p.v[1], h = q.v[0] - a, k = q.v[1] - b;
    return cri_log_gamma_divergence(a, h) + cri_log_gamma_divergence(b, k) -
           cri_log_gamma_divergence(a + b, h + k);
}

/* --- fit ------------------------------------------------------------------------------------- */

typedef struct beta_means {
    double log_x, log_y;
} beta_means;

/* The mean log-likelihood in (log a, log b). */
static double beta_objective(const double *theta, double *g, const void *user)
{
    const beta_means *m = user;
    double            a = exp(theta[0]), b = exp(theta[1]), s = cr_digamma(a + b);
    g[0] = a * (m->log_x - cr_digamma(a) + s);
    g[1] = b * (m->log_y - cr_digamma(b) + s);
    return (a - 1) * m->log_x + (b - 1) * m->log_y - cr_lbeta(a, b);
}

static double log_rest(double x) { return log1p(-x); }

static cr_status beta_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = cri_need_spread(cx, s, "beta", "shapes");
    if (st != CR_OK || n != 2) return st;
    beta_means m = { cri_sample_mean(s, log), cri_sample_mean(s, log_rest) };
    double     mean = cri_sample_mean(s, NULL), spread = cri_sample_spread(s, mean);
    double     size = fmax(mean * (1 - mean) / spread - 1, 0.01); /* by moments */
    double     theta[2] = { log(mean * size), log((1 - mean) * size) };
    CR_TRY(cri_climb(cx, "beta", beta_objective, &m, 2, theta));
    v[0] = exp(theta[0]), v[1] = exp(theta[1]);
done:
    return st;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static const char *const statistics[] = { "log x", "log(1 - x)" };

static void natural(cri_par p, double *eta) { eta[0] = p.v[0] - 1, eta[1] = p.v[1] - 1; }

static double log_partition(cri_par p, const double *eta)
{
    (void)p;
    return cr_lbeta(eta[0] + 1, eta[1] + 1);
}

static void statistic(cri_par p, double x, double *t)
{
    (void)p;
    t[0] = log(x), t[1] = log1p(-x);
}

static void mean_statistic(cri_par p, double *t)
{
    double s = cr_digamma(p.v[0] + p.v[1]);
    t[0] = cr_digamma(p.v[0]) - s, t[1] = cr_digamma(p.v[1]) - s;
}

static const cri_family family = { statistics,    2,         NULL,          natural,
                                   log_partition, statistic, mean_statistic };

static const cri_dist_param params[] = {
    CRI_PARAM("a", cri_positive, ">0", "12", "successes seen, plus the prior's"),
    CRI_PARAM("b", cri_positive, ">0", "3", "failures seen, plus the prior's"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_beta = {
    .name = "beta",
    .summary = "a probability, known from a successes and b failures",
    .formula = "p(x) = x^(a-1) (1 - x)^(b-1) / B(a, b)",
    .reference =
        "Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 25",
    .support_text = "0 <= x <= 1",
    .params = params,
    .data = &cri_open_unit,
    .support = cri_support_unit,
    .logpdf = beta_logpdf,
    .cdf = beta_cdf,
    .quantile = beta_quantile,
    .mean = beta_mean,
    .mode = beta_mode,
    .variance = beta_variance,
    .entropy = beta_entropy,
    .sample = beta_sample,
    .fit = beta_fit,
    .kl = beta_kl,
    .family = &family,
};
