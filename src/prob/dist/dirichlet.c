/* dirichlet.c -- a vector of probabilities, known from counts alpha. */
#include "dirichlet.h"
#include "saddle.h"
#include "small_matrix.h"

#include <math.h>

double cri_total(const double *a, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) sum += a[i];
    return sum;
}

/* Gamma(s) / prod Gamma(a_i) prod x_i^(a_i - 1) as a multinomial mass at a; a point on the edge
 * decides by the first a_i that is not 1. */
static double dirichlet_logpdf(const double *a, size_t d, const double *work, const double *x,
                               double *spare)
{
    double factor = -log(cri_total(a, d)), off_edge = 0;
    (void)work, (void)spare;
    if (fabs(cri_total(x, d) - 1) > 1e-9) return -INFINITY;
    for (size_t i = 0; i < d; i++) {
        if (x[i] < 0) return -INFINITY;
        if (x[i] == 0 && a[i] != 1) off_edge += a[i] > 1 ? -INFINITY : INFINITY;
        factor += log(a[i]) - (x[i] > 0 ? log(x[i]) : 0);
    }
    if (off_edge != 0) return isnan(off_edge) ? -INFINITY : off_edge;
    for (size_t i = 0; i < d; i++)
        if (x[i] == 0) { /* a_i is 1: plainly */
            double sum = cr_lgamma_abs(cri_total(a, d));
            for (size_t k = 0; k < d; k++) sum += cri_xlogy(a[k] - 1, x[k]) - cr_lgamma_abs(a[k]);
            return sum;
        }
    return cri_multinomial_mass(a, x, d) + factor;
}

static void dirichlet_mean(const double *a, size_t d, const double *work, double *out)
{
    (void)work;
    for (size_t i = 0; i < d; i++) out[i] = a[i] / cri_total(a, d);
}

static void dirichlet_mode(const double *a, size_t d, const double *work, double *out)
{
    double sum = 0;
    (void)work;
    for (size_t i = 0; i < d; i++) sum += a[i] - 1;
    for (size_t i = 0; i < d; i++) out[i] = (a[i] - 1) / sum;
    for (size_t i = 0; i < d; i++)
        if (!(a[i] > 1)) out[0] = NAN;
}

static void dirichlet_variance(const double *a, size_t d, const double *work, double *out)
{
    double s = cri_total(a, d);
    (void)work;
    for (size_t i = 0; i < d; i++) out[i] = a[i] / s * ((s - a[i]) / s) / (s + 1);
}

/* log B(a) + (s - d) psi(s) - sum (a_i - 1) psi(a_i), Stirling's leading terms taken out. */
static double dirichlet_entropy(const double *a, size_t d, const double *work)
{
    double s = cri_total(a, d), k = (double)d;
    double sum = (k - 1) * CRI_HALF_LOG_2PI - (k - 0.5) * log(s) - cr_stirlerr(s) -
                 (s - k) * cri_log_minus_digamma(s);
    (void)work;
    for (size_t i = 0; i < d; i++)
        sum += 0.5 * log(a[i]) + cr_stirlerr(a[i]) + (a[i] - 1) * cri_log_minus_digamma(a[i]);
    return sum;
}

/* Gammas over their sum, in logarithms: small a do not underflow to 0 / 0. */
void cri_draw_dirichlet(cr_rng *r, const double *a, size_t d, double *out)
{
    double top = -INFINITY, sum = 0;
    for (size_t i = 0; i < d; i++) {
        out[i] = cr_rng_log_gamma(r, a[i]);
        top = fmax(top, out[i]);
    }
    for (size_t i = 0; i < d; i++) sum += out[i] = exp(out[i] - top);
    for (size_t i = 0; i < d; i++) out[i] /= sum;
}

static void dirichlet_sample(const double *a, size_t d, const double *work, cr_rng *r, double *out,
                             double *spare)
{
    (void)work, (void)spare;
    cri_draw_dirichlet(r, a, d, out);
}

static double dirichlet_kl(const double *p, const double *p_work, const double *q,
                           const double *q_work, size_t d, double *spare)
{
    double sum = -cri_log_gamma_divergence(cri_total(p, d), cri_total(q, d) - cri_total(p, d));
    (void)p_work, (void)q_work, (void)spare;
    for (size_t i = 0; i < d; i++) sum += cri_log_gamma_divergence(p[i], q[i] - p[i]);
    return sum;
}

static const cri_vector vector = {
    .point = cri_size_same,
    .logpdf = dirichlet_logpdf,
    .mean = dirichlet_mean,
    .mode = dirichlet_mode,
    .variance = dirichlet_variance,
    .entropy = dirichlet_entropy,
    .sample = dirichlet_sample,
    .kl = dirichlet_kl,
    .fit = cri_dirichlet_fit,
    .family = &cri_dirichlet_family,
};

static const cri_dist_param params[] = {
    CRI_PARAM_SHAPED(CR_SHAPE_VECTOR, "alpha", cri_positive, ">0", "2,3,5",
                     "counts of each category, plus the prior's"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_dirichlet = {
    .name = "dirichlet",
    .summary = "a vector of probabilities, known from counts",
    .formula = "p(x) = Gamma(sum alpha) / prod Gamma(alpha_i) prod x_i^(alpha_i - 1)",
    .reference = "Ng, Tian & Tang (2011), Dirichlet and Related Distributions",
    .support_text = "x_i >= 0, sum x = 1",
    .params = params,
    .vector = &vector,
};
