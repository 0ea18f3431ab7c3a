/* mvt.c -- the multivariate Student-t. */
#include "mvt.h"
#include "saddle.h"
#include "small_matrix.h"

#include <math.h>

/* p = df, location [d], scale [d x d]; work = the factor of the scale. */

static cr_status mvt_prepare(cr_ctx *cx, const double *p, size_t d, double *L)
{
    return cri_factor_parameter(cx, "mvt", "scale", p + 1 + d, d, L);
}

double cri_mvt_log_height(double nu, size_t d)
{
    double half = 0.5 * nu, h = 0.5 * (double)d;
    if (half >= 10) return cri_log_gamma_ratio_rest(half, h) - 2 * h * CRI_HALF_LOG_2PI;
    return cr_lgamma_diff(half, h) - h * log(nu * M_PI);
}

static double mvt_logpdf(const double *p, size_t d, const double *L, const double *x, double *z)
{
    double sum = 0, nu = p[0];
    for (size_t i = 0; i < d; i++) z[i] = x[i] - p[1 + i];
    cri_solve_lower(L, d, z);
    for (size_t i = 0; i < d; i++) sum += z[i] * (z[i] / nu);
    return cri_mvt_log_height(nu, d) - 0.5 * cri_log_det(L, d) -
           0.5 * (nu + (double)d) * log1p(sum);
}

static void mvt_mode(const double *p, size_t d, const double *L, double *out)
{
    (void)L;
    for (size_t i = 0; i < d; i++) out[i] = p[1 + i];
}

static void mvt_mean(const double *p, size_t d, const double *L, double *out)
{
    mvt_mode(p, d, L, out);
    if (!(p[0] > 1)) out[0] = NAN;
}

static void mvt_variance(const double *p, size_t d, const double *L, double *out)
{
    double nu = p[0], factor = nu > 2 ? nu / (nu - 2) : nu > 1 ? INFINITY : NAN;
    (void)L;
    for (size_t i = 0; i < d; i++) out[i] = factor * p[1 + d + i * d + i];
}

/* E log(1 + q / nu) = psi((nu + d)/2) - psi(nu/2). */
double cri_mvt_entropy(const double *p, size_t d, const double *L)
{
    double nu = p[0], half = 0.5 * nu, more = 0.5 * (double)d;
    double rise =
        log1p(more / half) - cri_log_minus_digamma(half + more) + cri_log_minus_digamma(half);
    return (half + more) * rise - cri_mvt_log_height(nu, d) + 0.5 * cri_log_det(L, d);
}

static void mvt_sample(const double *p, size_t d, const double *L, cr_rng *r, double *out,
                       double *z)
{
    double half = 0.5 * p[0], stretch = exp(0.5 * (log(half) - cr_rng_log_gamma(r, half)));
    for (size_t i = 0; i < d; i++) {
        double sum = 0;
        z[i] = cr_rng_normal(r);
        for (size_t k = 0; k <= i; k++) sum += L[i * d + k] * z[k];
        out[i] = p[1 + i] + stretch * sum;
    }
}

static const cri_vector vector = {
    .point = cri_size_same,
    .work = cri_size_square,
    .spare = cri_size_same,
    .prepare = mvt_prepare,
    .logpdf = mvt_logpdf,
    .mean = mvt_mean,
    .mode = mvt_mode,
    .variance = mvt_variance,
    .entropy = cri_mvt_entropy,
    .sample = mvt_sample,
    .kl_integral = cri_mvt_kl,
};

static const cri_dist_param params[] = {
    CRI_PARAM("df", cri_positive, ">0", "5", "degrees of freedom nu"),
    CRI_PARAM_SHAPED(CR_SHAPE_VECTOR, "location", cri_any, "any number", "0,1", "centre"),
    CRI_PARAM_SHAPED(CR_SHAPE_MATRIX, "scale", cri_any, "any number", "2,0.6;0.6,1",
                     "scale matrix, row by row; positive definite"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_mvt = {
    .name = "mvt",
    .summary = "the multivariate Student-t: heavy tails in every direction",
    .formula = "p(x) ~ (1 + (x - m)' S^-1 (x - m) / nu)^(-(nu + d)/2)",
    .reference = "Kotz & Nadarajah (2004), Multivariate t Distributions and Their Applications",
    .support_text = "all real vectors",
    .params = params,
    .vector = &vector,
};
