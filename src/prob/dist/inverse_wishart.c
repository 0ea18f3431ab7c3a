/* inverse_wishart.c -- the inverse of a Wishart matrix: df n, scale S. */
#include "saddle.h"
#include "small_matrix.h"
#include "wishart.h"

#include <math.h>

/* p = df, S [d x d]; work = the factor L of S. */
static size_t workspace_size(size_t d) { return d * d + d; }

static double log_constant(double n, const double *L, size_t d)
{
    return 0.5 * n * (cri_log_det(L, d) - (double)d * M_LN2) - cri_log_gamma_d(0.5 * n, d);
}

double cri_inverse_wishart_logpdf(double n, const double *L, size_t d, const double *X,
                                  double *spare)
{
    double *M = spare, *column = spare + d * d;
    if (!cri_factor_point(X, d, M)) return -INFINITY;
    return log_constant(n, L, d) - 0.5 * (n + (double)d + 1) * cri_log_det(M, d) -
           0.5 * cri_trace_ratio(M, L, d, column);
}

void cri_inverse_wishart_variance(double n, const double *S, size_t d, double *out)
{
    double k = (double)d, free = n - k - 1, below = (n - k) * free * free * (n - k - 3);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double top =
                (n - k + 1) * S[i * d + j] * S[i * d + j] + free * S[i * d + i] * S[j * d + j];
            out[i * d + j] = n > k + 3 ? top / below : n > k + 1 ? INFINITY : NAN;
        }
}

double cri_inverse_wishart_entropy(double n, const double *L, size_t d)
{
    double k = (double)d, mean_log_det = cri_log_det(L, d) - k * M_LN2 - cri_digamma_d(0.5 * n, d);
    return -log_constant(n, L, d) + 0.5 * (n + k + 1) * mean_log_det + 0.5 * n * k;
}

/* With W = A A' ~ Wishart(n, I), X = L W^-1 L' = Z' Z, where A Z = L'. */
void cri_inverse_wishart_sample(double n, const double *L, size_t d, cr_rng *r, double *X,
                                double *spare)
{
    double *A = spare, *column = spare + d * d;
    cri_draw_bartlett(r, n, d, A);
    for (size_t j = 0; j < d; j++) { /* row j of X holds column j of Z */
        for (size_t i = 0; i < d; i++) column[i] = L[j * d + i];
        cri_solve_lower(A, d, column);
        for (size_t i = 0; i < d; i++) X[j * d + i] = column[i];
    }
    for (size_t i = 0; i < d * d; i++) A[i] = X[i];
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++) sum += A[i * d + k] * A[j * d + k];
            X[i * d + j] = sum;
        }
}

/* That of the Wisharts of the inverses. */
double cri_inverse_wishart_kl(double np, const double *Lp, double nq, const double *Lq, size_t d,
                              double *column)
{
    double ratio = cri_log_det(Lp, d) - cri_log_det(Lq, d), sum;
    sum = 0.5 * (nq * ratio + np * (cri_trace_ratio(Lp, Lq, d, column) - (double)d));
    for (size_t i = 0; i < d; i++)
        sum += cri_log_gamma_divergence(0.5 * (np - (double)i), 0.5 * (nq - np));
    return sum;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static cr_status iw_prepare(cr_ctx *cx, const double *p, size_t d, double *L)
{
    cr_status st = cri_check_df(cx, "inverse-wishart", p[0], d);
    return st == CR_OK ? cri_factor_parameter(cx, "inverse-wishart", "scale", p + 1, d, L) : st;
}

static double iw_logpdf(const double *p, size_t d, const double *L, const double *X, double *spare)
{
    return cri_inverse_wishart_logpdf(p[0], L, d, X, spare);
}

static void iw_mean(const double *p, size_t d, const double *L, double *out)
{
    double below = p[0] - (double)d - 1;
    (void)L;
    for (size_t i = 0; i < d * d; i++) out[i] = below > 0 ? p[1 + i] / below : NAN;
}

static void iw_mode(const double *p, size_t d, const double *L, double *out)
{
    (void)L;
    for (size_t i = 0; i < d * d; i++) out[i] = p[1 + i] / (p[0] + (double)d + 1);
}

static void iw_variance(const double *p, size_t d, const double *L, double *out)
{
    (void)L;
    cri_inverse_wishart_variance(p[0], p + 1, d, out);
}

static double iw_entropy(const double *p, size_t d, const double *L)
{
    return cri_inverse_wishart_entropy(p[0], L, d);
}

static void iw_sample(const double *p, size_t d, const double *L, cr_rng *r, double *X,
                      double *spare)
{
    cri_inverse_wishart_sample(p[0], L, d, r, X, spare);
}

static double iw_kl(const double *p, const double *Lp, const double *q, const double *Lq, size_t d,
                    double *column)
{
    return cri_inverse_wishart_kl(p[0], Lp, q[0], Lq, d, column);
}

static cr_status iw_fit(cr_ctx *cx, const cri_points *s, double *v, size_t d)
{
    return cri_wishart_fit(cx, "inverse-wishart", s, 0, d, true, &v[0], v + 1);
}

static const cri_vector vector = {
    .point = cri_size_square,
    .work = cri_size_square,
    .spare = workspace_size,
    .prepare = iw_prepare,
    .logpdf = iw_logpdf,
    .mean = iw_mean,
    .mode = iw_mode,
    .variance = iw_variance,
    .entropy = iw_entropy,
    .sample = iw_sample,
    .kl = iw_kl,
    .fit = iw_fit,
    .family = &cri_inverse_wishart_family,
};

static const cri_dist_param params[] = {
    CRI_PARAM("df", cri_positive, ">0", "7", "degrees of freedom n, above d - 1"),
    CRI_PARAM_SHAPED(CR_SHAPE_MATRIX, "scale", cri_any, "any number", "2,0.6;0.6,1",
                     "scale matrix S, row by row; positive definite"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_inverse_wishart = {
    .name = "inverse-wishart",
    .summary = "prior for covariance matrices",
    .formula = "p(X) = |S|^(n/2) |X|^(-(n+d+1)/2) exp(-tr(S X^-1) / 2) / (2^(nd/2) Gamma_d(n/2))",
    .reference = "Gupta & Nagar (2000), Matrix Variate Distributions, sec. 3.4",
    .support_text = "symmetric positive definite matrices",
    .params = params,
    .vector = &vector,
};
