/* poisson.c -- the number of events at a constant rate. */
#include "counts.h"
#include "fit.h"
#include "saddle.h"

#include <math.h>

static double poisson_logpdf(cri_par p, double x) { return cri_poisson_mass(x, p.v[0]); }

/* P(X <= k) = Q(k + 1, rate). */
static double poisson_cdf(cri_par p, double x, unsigned side)
{
    double a = x + 1, m = p.v[0];
    if (side & CRI_UPPER) return side & CRI_LOG ? cr_log_gamma_p(a, m) : cr_gamma_p(a, m);
    return side & CRI_LOG ? cr_log_gamma_q(a, m) : cr_gamma_q(a, m);
}

static double poisson_mode(cri_par p) { return fmax(0, ceil(p.v[0]) - 1); }

/* For large rates the series of Evans & Boersma (1988), SIAM Review 30(2), solution 87-6. */
static double poisson_entropy(cri_par p)
{
    double m = p.v[0], r = 1 / m;
    if (m > 1e4)
        return 0.5 + CRI_HALF_LOG_2PI + 0.5 * log(m) - r / 12 - r * r / 24 - 19 * r * r * r / 360;
    return cri_sum_entropy(&cri_dist_poisson, p, poisson_mode(p));
}

/* --- samples --------------------------------------------------------------------------------- */

/* The distribution function walked from 0; m < 10. */
static double invert(cr_rng *r, double m)
{
    for (;;) {
        double u = cr_rng_uniform(r), mass = exp(-m);
        for (double k = 0; k < 150; k++) {
            if (u < mass) return k;
            u -= mass;
            mass *= m / (k + 1);
        }
    }
}

/* Transformed rejection, algorithm PTRS; m >= 10.  Hormann (1993), "The transformed rejection
 * method for generating Poisson random variables", Insurance: Math. Econ. 12. */
static double reject(cr_rng *r, double m)
{
    double b = 0.931 + 2.53 * sqrt(m), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = cr_rng_uniform(r) - 0.5, v = cr_rng_uniform(r), edge = 0.5 - fabs(u);
        double k = floor((2 * a / edge + b) * u + m + 0.43);
        if (edge >= 0.07 && v <= sure) return k;
        if (k < 0 || (edge < 0.013 && v > edge)) continue;
        if (log(v * inverse_alpha / (a / (edge * edge) + b)) <= cri_poisson_mass(k, m)) return k;
    }
}

double cri_draw_poisson(cr_rng *r, double m)
{
    if (m == 0) return 0;
    if (isnan(m)) return NAN; /* nothing would ever be taken */
    return m < 10 ? invert(r, m) : reject(r, m);
}

static double poisson_sample(cri_par p, cr_rng *r) { return cri_draw_poisson(r, p.v[0]); }

static cr_status poisson_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    double mean = cri_sample_mean(s, NULL);
    (void)n;
    if (!(mean > 0)) return cri_no_estimate(cx, "poisson", "all values are 0");
    v[0] = mean;
    return CR_OK;
}

static double poisson_kl(cri_par p, cri_par q) { return cr_bd0(p.v[0], q.v[0]); }

/* E |X - y| - E |X - X'| / 2, where E [X; X <= k] = m P(X <= k - 1), and the second part is
 * m e^-2m (I_0(2m) + I_1(2m)):  Wei & Held (2014), Test 23. */
static double poisson_crps(cri_par p, double y)
{
    double m = p.v[0], k = floor(y);
    double below = k >= 1 ? poisson_cdf(p, k - 1, CRI_LOWER) : 0;
    double at = k >= 0 ? poisson_cdf(p, k, CRI_LOWER) : 0;
    return y * (2 * at - 1) - m * (2 * below - 1) -
           m * (cr_bessel_i0_scaled(2 * m) + cr_bessel_i1_scaled(2 * m));
}

/* --- the descriptor -------------------------------------------------------------------------- */

static void natural(cri_par p, double *eta) { eta[0] = log(p.v[0]); }

static double log_partition(cri_par p, const double *eta)
{
    (void)p;
    return exp(eta[0]);
}

static const cri_family family = { .natural = natural, .log_partition = log_partition };

static const cri_dist_param params[] = {
    CRI_PARAM("rate", cri_positive, ">0", "4", "mean number of events"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_poisson = {
    .name = "poisson",
    .summary = "the number of events at a constant rate",
    .formula = "P(x) = rate^x exp(-rate) / x!",
    .reference = "Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 4",
    .support_text = "x = 0, 1, ...",
    .params = params,
    .discrete = true,
    .data = &cri_count,
    .support = cri_support_positive,
    .logpdf = poisson_logpdf,
    .cdf = poisson_cdf,
    .mean = cri_first,
    .mode = poisson_mode,
    .variance = cri_first,
    .entropy = poisson_entropy,
    .sample = poisson_sample,
    .fit = poisson_fit,
    .kl = poisson_kl,
    .crps = poisson_crps,
    .family = &family,
};
