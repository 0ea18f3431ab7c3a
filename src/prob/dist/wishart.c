/* wishart.c -- sums of squares of normal vectors: df n, scale V. */
#include "wishart.h"
#include "saddle.h"
#include "small_matrix.h"

#include <math.h>

/* p = df, V [d x d]; work = the factor L of V. */
static size_t workspace_size(size_t d) { return d * d + d; }

cr_status cri_check_df(cr_ctx *cx, const char *name, double df, size_t d)
{
    if (df > (double)d - 1) return CR_OK;
    return cr_fail(cx, CR_EARG, "%s: df is %g, but must be >%zu for matrices of %zu rows", name, df,
                   d - 1, d);
}

void cri_draw_bartlett(cr_rng *r, double df, size_t d, double *A)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            if (j < i)
                A[i * d + j] = cr_rng_normal(r);
            else
                A[i * d + j] = j > i ? 0 : sqrt(2 * cr_rng_gamma(r, 0.5 * (df - (double)i)));
        }
}

static cr_status wishart_prepare(cr_ctx *cx, const double *p, size_t d, double *L)
{
    cr_status st = cri_check_df(cx, "wishart", p[0], d);
    return st == CR_OK ? cri_factor_parameter(cx, "wishart", "scale", p + 1, d, L) : st;
}

static double log_constant(double n, const double *L, size_t d)
{
    return -0.5 * n * ((double)d * M_LN2 + cri_log_det(L, d)) - cri_log_gamma_d(0.5 * n, d);
}

static double wishart_logpdf(const double *p, size_t d, const double *L, const double *X,
                             double *spare)
{
    double *M = spare, *column = spare + d * d, n = p[0];
    if (!cri_factor_point(X, d, M)) return -INFINITY;
    return log_constant(n, L, d) + 0.5 * (n - (double)d - 1) * cri_log_det(M, d) -
           0.5 * cri_trace_ratio(L, M, d, column);
}

static void wishart_mean(const double *p, size_t d, const double *L, double *out)
{
    (void)L;
    for (size_t i = 0; i < d * d; i++) out[i] = p[0] * p[1 + i];
}

static void wishart_mode(const double *p, size_t d, const double *L, double *out)
{
    double factor = p[0] - (double)d - 1;
    (void)L;
    for (size_t i = 0; i < d * d; i++) out[i] = factor >= 0 ? factor * p[1 + i] : NAN;
}

static void wishart_variance(const double *p, size_t d, const double *L, double *out)
{
    const double *V = p + 1;
    (void)L;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            out[i * d + j] = p[0] * (V[i * d + j] * V[i * d + j] + V[i * d + i] * V[j * d + j]);
}

static double wishart_entropy(const double *p, size_t d, const double *L)
{
    double n = p[0], k = (double)d;
    double mean_log_det = cri_digamma_d(0.5 * n, d) + k * M_LN2 + cri_log_det(L, d);
    return -log_constant(n, L, d) - 0.5 * (n - k - 1) * mean_log_det + 0.5 * n * k;
}

static void wishart_sample(const double *p, size_t d, const double *L, cr_rng *r, double *X,
                           double *A)
{
    cri_draw_bartlett(r, p[0], d, A);
    for (size_t i = d; i-- > 0;) /* A becomes L A, from the last row up */
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = j; k <= i; k++) sum += L[i * d + k] * A[k * d + j];
            A[i * d + j] = sum;
        }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t k = 0; k <= (i < j ? i : j); k++) sum += A[i * d + k] * A[j * d + k];
            X[i * d + j] = sum;
        }
}

static double wishart_kl(const double *p, const double *Lp, const double *q, const double *Lq,
                         size_t d, double *column)
{
    double np = p[0], nq = q[0], ratio = cri_log_det(Lq, d) - cri_log_det(Lp, d), sum;
    sum = 0.5 * (nq * ratio + np * (cri_trace_ratio(Lq, Lp, d, column) - (double)d));
    for (size_t i = 0; i < d; i++)
        sum += cri_log_gamma_divergence(0.5 * (np - (double)i), 0.5 * (nq - np));
    return sum;
}

static cr_status wishart_fit(cr_ctx *cx, const cri_points *s, double *v, size_t d)
{
    return cri_wishart_fit(cx, "wishart", s, 0, d, false, &v[0], v + 1);
}

static const cri_vector vector = {
    .point = cri_size_square,
    .work = cri_size_square,
    .spare = workspace_size,
    .prepare = wishart_prepare,
    .logpdf = wishart_logpdf,
    .mean = wishart_mean,
    .mode = wishart_mode,
    .variance = wishart_variance,
    .entropy = wishart_entropy,
    .sample = wishart_sample,
    .kl = wishart_kl,
    .fit = wishart_fit,
    .family = &cri_wishart_family,
};

static const cri_dist_param params[] = {
    CRI_PARAM("df", cri_positive, ">0", "5", "degrees of freedom n, above d - 1"),
    CRI_PARAM_SHAPED(CR_SHAPE_MATRIX, "scale", cri_any, "any number", "2,0.6;0.6,1",
                     "scale matrix V, row by row; positive definite"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_wishart = {
    .name = "wishart",
    .summary = "sums of squares of normal vectors: prior for precision matrices",
    .formula = "p(X) = |X|^((n-d-1)/2) exp(-tr(V^-1 X) / 2) / (2^(nd/2) |V|^(n/2) Gamma_d(n/2))",
    .reference = "Gupta & Nagar (2000), Matrix Variate Distributions, ch. 3",
    .support_text = "symmetric positive definite matrices",
    .params = params,
    .vector = &vector,
};
