/* mvn.c -- the multivariate normal by mean and covariance. */
#include "mvn.h"
#include "saddle.h"
#include "small_matrix.h"

#include <math.h>

/* p = mean [d], covariance [d x d]; work = its Cholesky factor L. */

static cr_status mvn_prepare(cr_ctx *cx, const double *p, size_t d, double *L)
{
    return cri_factor_parameter(cx, "mvn", "covariance", p + d, d, L);
}

static double mvn_logpdf(const double *p, size_t d, const double *L, const double *x, double *z)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) z[i] = x[i] - p[i];
    cri_solve_lower(L, d, z);
    for (size_t i = 0; i < d; i++) sum += z[i] * z[i];
    return -(double)d * CRI_HALF_LOG_2PI - 0.5 * cri_log_det(L, d) - 0.5 * sum;
}

static void mvn_mean(const double *p, size_t d, const double *L, double *out)
{
    (void)L;
    for (size_t i = 0; i < d; i++) out[i] = p[i];
}

static void mvn_variance(const double *p, size_t d, const double *L, double *out)
{
    (void)L;
    for (size_t i = 0; i < d; i++) out[i] = p[d + i * d + i];
}

static double mvn_entropy(const double *p, size_t d, const double *L)
{
    (void)p;
    return (double)d * (0.5 + CRI_HALF_LOG_2PI) + 0.5 * cri_log_det(L, d);
}

static void mvn_sample(const double *p, size_t d, const double *L, cr_rng *r, double *out,
                       double *z)
{
    for (size_t i = 0; i < d; i++) {
        z[i] = cr_rng_normal(r);
        out[i] = p[i];
        for (size_t k = 0; k <= i; k++) out[i] += L[i * d + k] * z[k];
    }
}

/* Half of tr(Sq^-1 Sp) + |mq - mp|^2 under Sq - d + log det Sq / det Sp. */
static double mvn_kl(const double *p, const double *Lp, const double *q, const double *Lq, size_t d,
                     double *z)
{
    double sum = cri_trace_ratio(Lq, Lp, d, z) - (double)d;
    for (size_t i = 0; i < d; i++) z[i] = p[i] - q[i];
    cri_solve_lower(Lq, d, z);
    for (size_t i = 0; i < d; i++) sum += z[i] * z[i];
    return fmax(0, 0.5 * (sum + cri_log_det(Lq, d) - cri_log_det(Lp, d)));
}

static const cri_vector vector = {
    .point = cri_size_same,
    .work = cri_size_square,
    .spare = cri_size_same,
    .prepare = mvn_prepare,
    .logpdf = mvn_logpdf,
    .mean = mvn_mean,
    .mode = mvn_mean,
    .variance = mvn_variance,
    .entropy = mvn_entropy,
    .sample = mvn_sample,
    .kl = mvn_kl,
    .fit = cri_mvn_fit,
    .family = &cri_mvn_family,
};

static const cri_dist_param params[] = {
    CRI_PARAM_SHAPED(CR_SHAPE_VECTOR, "mean", cri_any, "any number", "0,1", "centre"),
    CRI_PARAM_SHAPED(CR_SHAPE_MATRIX, "covariance", cri_any, "any number", "2,0.6;0.6,1",
                     "covariance, row by row; positive definite"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_mvn = {
    .name = "mvn",
    .summary = "the multivariate normal by mean and covariance",
    .formula = "p(x) = exp(-(x - m)' S^-1 (x - m) / 2) / sqrt((2 pi)^d det S)",
    .reference = "Bishop (2006), Pattern Recognition and Machine Learning, sec. 2.3",
    .support_text = "all real vectors",
    .params = params,
    .vector = &vector,
};
