/* niw.c -- normal-inverse-Wishart: a mean vector and a covariance, both unknown.
 *   S ~ InverseWishart(df, scale),   mu | S ~ N(mean, S / strength);   x = mu [d], S [d x d]. */
#include "niw.h"
#include "saddle.h"
#include "small_matrix.h"
#include "wishart.h"

#include <math.h>

/* p = mean [d], strength, df, scale [d x d]; work = the factor L of the scale. */
static size_t        square(size_t d) { return d * d; }
static size_t        workspace_size(size_t d) { return d * d + 2 * d; }
static size_t        point(size_t d) { return d + d * d; }
static double        strength(const double *p, size_t d) { return p[d]; }
static double        df(const double *p, size_t d) { return p[d + 1]; }
static const double *scale(const double *p, size_t d) { return p + d + 2; }

static cr_status niw_prepare(cr_ctx *cx, const double *p, size_t d, double *L)
{
    const char *name = "normal-inverse-wishart";
    cr_status   st = cri_check_df(cx, name, df(p, d), d);
    return st == CR_OK ? cri_factor_parameter(cx, name, "scale", scale(p, d), d, L) : st;
}

static double niw_logpdf(const double *p, size_t d, const double *L, const double *x, double *spare)
{
    double  log_s = cri_inverse_wishart_logpdf(df(p, d), L, d, x + d, spare), sum = 0;
    double *M = spare, *z = spare + d * d + d, k = strength(p, d); /* M: the factor of S */
    if (log_s == -INFINITY) return log_s;
    for (size_t i = 0; i < d; i++) z[i] = x[i] - p[i];
    cri_solve_lower(M, d, z);
    for (size_t i = 0; i < d; i++) sum += z[i] * z[i];
    return log_s - (double)d * (CRI_HALF_LOG_2PI - 0.5 * log(k)) - 0.5 * cri_log_det(M, d) -
           0.5 * k * sum;
}

static void niw_mean(const double *p, size_t d, const double *L, double *out)
{
    double below = df(p, d) - (double)d - 1;
    (void)L;
    for (size_t i = 0; i < d; i++) out[i] = p[i];
    for (size_t i = 0; i < d * d; i++) out[d + i] = below > 0 ? scale(p, d)[i] / below : NAN;
}

static void niw_mode(const double *p, size_t d, const double *L, double *out)
{
    (void)L;
    for (size_t i = 0; i < d; i++) out[i] = p[i];
    for (size_t i = 0; i < d * d; i++) out[d + i] = scale(p, d)[i] / (df(p, d) + (double)d + 2);
}

static void niw_variance(const double *p, size_t d, const double *L, double *out)
{
    double below = df(p, d) - (double)d - 1;
    (void)L;
    for (size_t i = 0; i < d; i++)
        out[i] = below > 0 ? scale(p, d)[i * d + i] / (below * strength(p, d)) : NAN;
    cri_inverse_wishart_variance(df(p, d), scale(p, d), d, out + d);
}

static double niw_entropy(const double *p, size_t d, const double *L)
{
    double k = (double)d, n = df(p, d);
    double mean_log_det = cri_log_det(L, d) - k * M_LN2 - cri_digamma_d(0.5 * n, d);
    return cri_inverse_wishart_entropy(n, L, d) +
           k * (0.5 + CRI_HALF_LOG_2PI - 0.5 * log(strength(p, d))) + 0.5 * mean_log_det;
}

static void niw_sample(const double *p, size_t d, const double *L, cr_rng *r, double *out,
                       double *spare)
{
    double *M = spare, *z = spare + d * d, shrink = 1 / sqrt(strength(p, d));
    cri_inverse_wishart_sample(df(p, d), L, d, r, out + d, spare);
    bool whole = cri_factor_point(out + d, d, M);
    for (size_t i = 0; i < d; i++) {
        z[i] = cr_rng_normal(r);
        out[i] = p[i];
        for (size_t k = 0; whole && k <= i; k++) out[i] += shrink * M[i * d + k] * z[k];
    }
}

/* E[S^-1] = df scale^-1. */
static double niw_kl(const double *p, const double *Lp, const double *q, const double *Lq, size_t d,
                     double *z)
{
    double kp = strength(p, d), kq = strength(q, d), sum;
    sum = cri_inverse_wishart_kl(df(p, d), Lp, df(q, d), Lq, d, z) -
          0.5 * (double)d * cri_log1pmx((kq - kp) / kp);
    for (size_t i = 0; i < d; i++) z[i] = p[i] - q[i];
    cri_solve_lower(Lp, d, z);
    for (size_t i = 0; i < d; i++) sum += 0.5 * kq * df(p, d) * z[i] * z[i];
    return sum;
}

static const cri_vector vector = {
    .point = point,
    .work = square,
    .spare = workspace_size,
    .prepare = niw_prepare,
    .logpdf = niw_logpdf,
    .mean = niw_mean,
    .mode = niw_mode,
    .variance = niw_variance,
    .entropy = niw_entropy,
    .sample = niw_sample,
    .kl = niw_kl,
    .fit = cri_niw_fit,
    .family = &cri_niw_family,
};

static const cri_dist_param params[] = {
    CRI_PARAM_SHAPED(CR_SHAPE_VECTOR, "mean", cri_any, "any number", "0,1", "centre of mu"),
    CRI_PARAM("strength", cri_positive, ">0", "2", "how many observations the mean is worth"),
    CRI_PARAM("df", cri_positive, ">0", "7", "degrees of freedom of S, above d - 1"),
    CRI_PARAM_SHAPED(CR_SHAPE_MATRIX, "scale", cri_any, "any number", "2,0.6;0.6,1",
                     "scale matrix of S, row by row; positive definite"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_niw = {
    .name = "normal-inverse-wishart",
    .summary = "a mean vector and a covariance, both unknown: x = (mu, S)",
    .formula = "S ~ inverse-wishart(df, scale),  mu | S ~ mvn(mean, S / strength)",
    .reference = "Murphy (2012), Machine Learning: A Probabilistic Perspective, sec. 4.6",
    .support_text = "mu real, S symmetric positive definite",
    .params = params,
    .vector = &vector,
};
