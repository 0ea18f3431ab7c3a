/* mvn_information.c -- the multivariate normal in information form: h = K mean, K = precision. */
#include "mvn.h"
#include "saddle.h"
#include "small_matrix.h"

#include <math.h>
#include <string.h>

/* p = h [d], K [d x d]; work = the factor R of K, then the mean [d], then the variances [d]. */
static size_t        same(size_t d) { return d; }
static size_t        work_size(size_t d) { return d * d + 2 * d; }
static const double *mean_in(const double *work, size_t d) { return work + d * d; }

static cr_status mvni_prepare(cr_ctx *cx, const double *p, size_t d, double *work)
{
    cr_status st = cri_factor_parameter(cx, "mvn-information", "precision", p + d, d, work);
    double   *mean = work + d * d, *variance = mean + d;
    if (st != CR_OK) return st;
    for (size_t i = 0; i < d; i++) { /* the variance of i is |R^-1 e_i|^2 */
        memset(mean, 0, d * sizeof *mean);
        mean[i] = 1;
        cri_solve_lower(work, d, mean);
        variance[i] = 0;
        for (size_t k = 0; k < d; k++) variance[i] += mean[k] * mean[k];
    }
    memcpy(mean, p, d * sizeof *mean);
    cri_solve_lower(work, d, mean);
    cri_solve_upper(work, d, mean);
    return CR_OK;
}

static double mvni_logpdf(const double *p, size_t d, const double *work, const double *x, double *z)
{
    (void)p;
    for (size_t i = 0; i < d; i++) z[i] = x[i] - mean_in(work, d)[i];
    return -(double)d * CRI_HALF_LOG_2PI + 0.5 * cri_log_det(work, d) -
           0.5 * cri_square_under(work, d, z);
}

static void mvni_mean(const double *p, size_t d, const double *work, double *out)
{
    (void)p;
    memcpy(out, mean_in(work, d), d * sizeof *out);
}

static void mvni_variance(const double *p, size_t d, const double *work, double *out)
{
    (void)p;
    memcpy(out, mean_in(work, d) + d, d * sizeof *out);
}

static double mvni_entropy(const double *p, size_t d, const double *work)
{
    (void)p;
    return (double)d * (0.5 + CRI_HALF_LOG_2PI) - 0.5 * cri_log_det(work, d);
}

static void mvni_sample(const double *p, size_t d, const double *work, cr_rng *r, double *out,
                        double *z)
{
    (void)p;
    for (size_t i = 0; i < d; i++) z[i] = cr_rng_normal(r);
    cri_solve_upper(work, d, z);
    for (size_t i = 0; i < d; i++) out[i] = mean_in(work, d)[i] + z[i];
}

/* tr(Kq Kp^-1) = |Rp^-1 Rq|^2. */
static double mvni_kl(const double *p, const double *p_work, const double *q, const double *q_work,
                      size_t d, double *z)
{
    double sum = cri_trace_ratio(p_work, q_work, d, z) - (double)d;
    (void)p, (void)q;
    for (size_t i = 0; i < d; i++) z[i] = mean_in(p_work, d)[i] - mean_in(q_work, d)[i];
    sum += cri_square_under(q_work, d, z);
    return fmax(0, 0.5 * (sum + cri_log_det(p_work, d) - cri_log_det(q_work, d)));
}

static const cri_vector vector = {
    .point = same,
    .work = work_size,
    .spare = same,
    .prepare = mvni_prepare,
    .logpdf = mvni_logpdf,
    .mean = mvni_mean,
    .mode = mvni_mean,
    .variance = mvni_variance,
    .entropy = mvni_entropy,
    .sample = mvni_sample,
    .kl = mvni_kl,
    .fit = cri_mvn_information_fit,
    .family = &cri_mvn_information_family,
};

static const cri_dist_param params[] = {
    CRI_PARAM_SHAPED(CR_SHAPE_VECTOR, "h", cri_any, "any number", "1,0.5",
                     "information vector, precision times mean"),
    CRI_PARAM_SHAPED(CR_SHAPE_MATRIX, "precision", cri_any, "any number", "2,0.6;0.6,1",
                     "precision, row by row; positive definite"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_mvn_information = {
    .name = "mvn-information",
    .summary = "the multivariate normal by information vector and precision",
    .formula = "p(x) = exp(h' x - x' K x / 2 - A),  A = (h' K^-1 h - log det K + d log 2 pi) / 2",
    .reference = "Koller & Friedman (2009), Probabilistic Graphical Models, sec. 7.1",
    .support_text = "all real vectors",
    .params = params,
    .vector = &vector,
};
