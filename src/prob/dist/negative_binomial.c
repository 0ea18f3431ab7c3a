/* negative_binomial.c -- counts that spread more than Poisson's, by mean m and dispersion r: a
 * Poisson whose rate is Gamma(r, r / m); the variance is m + m^2 / r. */
#include "counts.h"
#include "fit.h"
#include "saddle.h"

#include <math.h>

/* r / (r + x) times the binomial mass of r among r + x, at probability r / (r + m). */
static double nb_logpdf(cri_par p, double x)
{
    double m = p.v[0], r = p.v[1];
    if (x == 0) return -r * log1p(m / r);
    double at = 1 / (1 + m / r), other = 1 / (1 + r / m);
    return cri_binomial_mass(r, x, at, other) - log1p(x / r);
}

/* P(X <= k) = I_{r / (r + m)}(r, k + 1), from the smaller of the two probabilities. */
static double nb_cdf(cri_par p, double x, unsigned side)
{
    double m = p.v[0], r = p.v[1], a = r, b = x + 1;
    bool   upper = side & CRI_UPPER, logarithm = side & CRI_LOG;
    if (m < r) { /* the other is small */
        double other = 1 / (1 + r / m);
        if (upper) return logarithm ? cr_log_betainc(b, a, other) : cr_betainc(b, a, other);
        return logarithm ? cr_log_betainc_upper(b, a, other) : cr_betainc_upper(b, a, other);
    }
    double at = 1 / (1 + m / r);
    if (upper) return logarithm ? cr_log_betainc_upper(a, b, at) : cr_betainc_upper(a, b, at);
    return logarithm ? cr_log_betainc(a, b, at) : cr_betainc(a, b, at);
}

static double nb_mode(cri_par p)
{
    double top = p.v[0] * (1 - 1 / p.v[1]);
    return fmax(0, ceil(top) - 1);
}

static double nb_variance(cri_par p) { return p.v[0] + p.v[0] * (p.v[0] / p.v[1]); }

static double nb_entropy(cri_par p)
{
    return cri_sum_entropy(&cri_dist_negative_binomial, p, nb_mode(p));
}

static double nb_sample(cri_par p, cr_rng *r)
{
    return cri_draw_poisson(r, cr_rng_gamma(r, p.v[1]) * (p.v[0] / p.v[1]));
}

static double nb_kl(cri_par p, cri_par q)
{
    if (p.v[1] == q.v[1]) return cr_bd0(p.v[0], q.v[0]) - cr_bd0(p.v[1] + p.v[0], p.v[1] + q.v[0]);
    return cri_sum_kl(&cri_dist_negative_binomial, p, q, nb_mode(p));
}

/* --- fit: the mean is the mean; r from its own equation -------------------------------------- */

typedef struct nb_problem {
    const cri_sample *s;
    double            mean;
} nb_problem;

/* The slope of the mean log-likelihood in r at the best mean: E[psi(x + r) - psi(r)] -
 * log(1 + m / r), falling through its root. */
static double slope(double r, const void *user)
{
    const nb_problem *q = user;
    double            sum = 0, at_r = cri_log_minus_digamma(r);
    for (size_t i = 0; i < q->s->n; i++)
        sum += cri_weight(q->s, i) / q->s->total *
               (log1p(q->s->x[i] / r) + at_r - cri_log_minus_digamma(q->s->x[i] + r));
    return sum - log1p(q->mean / r);
}

static cr_status nb_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    nb_problem problem = { s, cri_sample_mean(s, NULL) };
    double     m = problem.mean, spread = cri_sample_spread(s, m);
    (void)n;
    if (!(spread > m * (1 + 1e-9)))
        return cri_no_estimate(cx, "negative-binomial",
                               "the variance is not above the mean; fit a poisson");
    v[0] = m;
    v[1] = cri_falling_root(slope, &problem, m * m / (spread - m));
    return CR_OK;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static void natural(cri_par p, double *eta) { eta[0] = -log1p(p.v[1] / p.v[0]); }

static double log_partition(cri_par p, const double *eta) { return -p.v[1] * log(-expm1(eta[0])); }

static const cri_family family = { .natural = natural, .log_partition = log_partition };

static const cri_dist_param params[] = {
    CRI_PARAM("mean", cri_positive, ">0", "5", "mean m"),
    CRI_PARAM("dispersion", cri_positive, ">0", "2", "r: the variance is m + m^2 / r"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_negative_binomial = {
    .name = "negative-binomial",
    .summary = "counts with more variance than Poisson's: mean and dispersion",
    .formula = "P(x) = Gamma(x + r) / (x! Gamma(r)) (r / (r + m))^r (m / (r + m))^x\n"
               "natural parameters: with r held fixed",
    .reference = "Hilbe (2011), Negative Binomial Regression, 2nd ed.",
    .support_text = "x = 0, 1, ...",
    .params = params,
    .discrete = true,
    .data = &cri_count,
    .support = cri_support_positive,
    .logpdf = nb_logpdf,
    .cdf = nb_cdf,
    .mean = cri_first,
    .mode = nb_mode,
    .variance = nb_variance,
    .entropy = nb_entropy,
    .sample = nb_sample,
    .fit = nb_fit,
    .kl = nb_kl,
    .family = &family,
};
