/* dirichlet_multinomial.c -- counts of n draws whose probabilities are themselves Dirichlet. */
#include "dirichlet.h"
#include "small_matrix.h"

#include <math.h>

static size_t workspace_size(size_t d) { return 2 * d; }

/* n! / prod x_i! times a ratio of Dirichlet constants, as three multinomial masses at the
 * probabilities (x + a) / (n + s), where nothing is large. */
static double dm_logpdf(const double *p, size_t d, const double *work, const double *x,
                        double *spare)
{
    const double *a = p + 1;
    double       *sum = spare, *at = spare + d, s = cri_total(a, d), factor = log1p(p[0] / s);
    (void)work;
    if (!cri_are_counts(x, d, p[0])) return -INFINITY;
    for (size_t i = 0; i < d; i++) {
        sum[i] = x[i] + a[i];
        at[i] = sum[i] / (p[0] + s);
        factor -= log1p(x[i] / a[i]);
    }
    return cri_multinomial_mass(x, at, d) + cri_multinomial_mass(a, at, d) -
           cri_multinomial_mass(sum, at, d) + factor;
}

static void dm_mean(const double *p, size_t d, const double *work, double *out)
{
    (void)work;
    for (size_t i = 0; i < d; i++) out[i] = p[0] * (p[1 + i] / cri_total(p + 1, d));
}

static void dm_variance(const double *p, size_t d, const double *work, double *out)
{
    double s = cri_total(p + 1, d);
    (void)work;
    for (size_t i = 0; i < d; i++) {
        double m = p[1 + i] / s;
        out[i] = p[0] * m * (1 - m) * ((p[0] + s) / (1 + s));
    }
}

static void dm_sample(const double *p, size_t d, const double *work, cr_rng *r, double *out,
                      double *spare)
{
    (void)work;
    cri_draw_dirichlet(r, p + 1, d, spare);
    cri_draw_multinomial(r, p[0], spare, d, out);
}

/* --- sums over one kind at a time ------------------------------------------------------------ */

/* log of the negative binomial mass of x with size r and mean n r / s. */
static double size_mass(double x, double n, double r, double s)
{
    double at[] = { n * (r / s), r };
    return cri_dist_negative_binomial.logpdf((cri_par){ at, 2 }, x);
}

/* Counts that are independent negative binomials of sizes a_i and one common probability are
 * Dirichlet-multinomial once their sum n is known, and each is beta-binomial:
 *   -log p(x) = log nb(n; s) - sum log nb(x_i; a_i).
 * The sum over the beta-binomial of kind i, of parameters a, of log nb(x; b_i). */
static double mean_size_mass(double n, const double *a, double s, const double *b, double sb,
                             size_t i)
{
    double bb[] = { n, a[i], s - a[i] }, sum = 0;
    for (double x = 0; x <= n; x++) {
        double mass = exp(cri_dist_beta_binomial.logpdf((cri_par){ bb, 3 }, x));
        if (mass > 0) sum += mass * size_mass(x, n, b[i], sb);
    }
    return sum;
}

static bool too_long(double n, size_t d) { return (n + 1) * (double)d > CRI_MOST_TERMS; }

static double dm_entropy(const double *p, size_t d, const double *work)
{
    const double *a = p + 1;
    double        n = p[0], s = cri_total(a, d), sum;
    (void)work;
    if (n == 0 || d == 1) return 0;
    if (too_long(n, d)) return NAN;
    sum = size_mass(n, n, s, s);
    for (size_t i = 0; i < d; i++) sum -= mean_size_mass(n, a, s, a, s, i);
    return fmax(0, sum);
}

static double dm_kl(const double *p, const double *p_work, const double *q, const double *q_work,
                    size_t d, double *spare)
{
    const double *a = p + 1, *b = q + 1;
    double        n = p[0], s = cri_total(a, d), sb = cri_total(b, d), sum;
    (void)p_work, (void)q_work, (void)spare;
    if (q[0] != n) return INFINITY; /* no point is possible under both */
    if (n == 0 || d == 1) return 0;
    if (too_long(n, d)) return NAN;
    sum = size_mass(n, n, sb, sb) - size_mass(n, n, s, s);
    for (size_t i = 0; i < d; i++)
        sum += mean_size_mass(n, a, s, a, s, i) - mean_size_mass(n, a, s, b, sb, i);
    return fmax(0, sum);
}

static const cri_vector vector = {
    .point = cri_size_same,
    .spare = workspace_size,
    .logpdf = dm_logpdf,
    .mean = dm_mean,
    .variance = dm_variance,
    .entropy = dm_entropy,
    .sample = dm_sample,
    .kl = dm_kl,
};

static const cri_dist_param params[] = {
    CRI_PARAM("trials", cri_count, "whole, >=0", "10", "number of draws n"),
    CRI_PARAM_SHAPED(CR_SHAPE_VECTOR, "alpha", cri_positive, ">0", "2,3,5",
                     "parameters of the probabilities' Dirichlet"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_dirichlet_multinomial = {
    .name = "dirichlet-multinomial",
    .summary = "counts of n draws whose probabilities are Dirichlet",
    .formula =
        "P(x) = n! Gamma(s) / Gamma(n + s) prod Gamma(x_i + a_i) / (x_i! Gamma(a_i)),  s = sum a",
    .reference = "Mosimann (1962), Biometrika 49",
    .support_text = "x_i = 0, 1, ..., sum x = n",
    .params = params,
    .discrete = true,
    .vector = &vector,
};
