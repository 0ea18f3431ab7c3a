/* wishart_family.c -- the Wishart and its inverse as exponential families, and their fits.
 *   Wishart:          log |X|, X_ij        with  (n - d - 1) / 2,  -V^-1 / 2
 *   inverse Wishart:  log |X|, (X^-1)_ij   with -(n + d + 1) / 2,  -S / 2
 * where a pair i < j counts once, with its parameter doubled. */
#include "fit.h"
#include "saddle.h"
#include "small_matrix.h"
#include "wishart.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t count(size_t d) { return 1 + cri_packed_size(d); }
static size_t workspace_size(size_t d) { return 2 * d * d + d; }

void cri_matrix_entry_name(const char *matrix, size_t d, size_t k, char *out, size_t size)
{
    size_t row = 0, column = 0;
    cri_packed_place(d, k, &row, &column);
    snprintf(out, size, "%s[%zu,%zu]", matrix, row + 1, column + 1);
}

static void log_det_name(size_t i, size_t d, const char *matrix, char *out, size_t size)
{
    if (i == 0)
        snprintf(out, size, "log |X|");
    else
        cri_matrix_entry_name(matrix, d, i - 1, out, size);
}

/* --- Wishart: p = n, V; work = the factor of V ----------------------------------------------- */

static void wishart_name(size_t d, size_t i, char *out, size_t size)
{
    log_det_name(i, d, "X", out, size);
}

static void wishart_natural(const double *p, size_t d, const double *L, double *eta, double *spare)
{
    eta[0] = 0.5 * (p[0] - (double)d - 1);
    cri_small_inverse(L, d, spare, spare + d * d);
    cri_pack(spare, d, -0.5, -1, eta + 1);
}

static double wishart_log_partition(const double *p, size_t d, const double *eta, double *spare)
{
    double *K = spare, *R = K + d * d, half = eta[0] + 0.5 * ((double)d + 1);
    (void)p;
    cri_unpack(eta + 1, d, -2, -1, K);
    if (!(half > 0.5 * ((double)d - 1)) || !cri_factor_point(K, d, R)) return NAN;
    return half * ((double)d * M_LN2 - cri_log_det(R, d)) + cri_log_gamma_d(half, d);
}

static void wishart_statistic(size_t d, const double *X, double *t, double *spare)
{
    t[0] = cri_factor_point(X, d, spare) ? cri_log_det(spare, d) : NAN;
    cri_pack(X, d, 1, 1, t + 1);
}

static void wishart_mean(const double *p, size_t d, const double *L, double *t, double *spare)
{
    (void)spare;
    t[0] = cri_digamma_d(0.5 * p[0], d) + (double)d * M_LN2 + cri_log_det(L, d);
    cri_pack(p + 1, d, p[0], p[0], t + 1);
}

const cri_vector_family cri_wishart_family = {
    count,        wishart_name,  wishart_natural, wishart_log_partition, wishart_statistic,
    wishart_mean, workspace_size
};

/* --- inverse Wishart: p = n, S; work = the factor of S --------------------------------------- */

static void inverse_name(size_t d, size_t i, char *out, size_t size)
{
    log_det_name(i, d, "X^-1", out, size);
}

static void inverse_natural(const double *p, size_t d, const double *L, double *eta, double *spare)
{
    (void)L, (void)spare;
    eta[0] = -0.5 * (p[0] + (double)d + 1);
    cri_pack(p + 1, d, -0.5, -1, eta + 1);
}

static double inverse_log_partition(const double *p, size_t d, const double *eta, double *spare)
{
    double *S = spare, *R = S + d * d, half = -eta[0] - 0.5 * ((double)d + 1);
    (void)p;
    cri_unpack(eta + 1, d, -2, -1, S);
    if (!(half > 0.5 * ((double)d - 1)) || !cri_factor_point(S, d, R)) return NAN;
    return half * ((double)d * M_LN2 - cri_log_det(R, d)) + cri_log_gamma_d(half, d);
}

static void inverse_statistic(size_t d, const double *X, double *t, double *spare)
{
    double *R = spare, *K = R + d * d, *column = K + d * d;
    bool    good = cri_factor_point(X, d, R);
    t[0] = good ? cri_log_det(R, d) : NAN;
    if (good) cri_small_inverse(R, d, K, column);
    if (good) cri_pack(K, d, 1, 1, t + 1);
}

static void inverse_mean(const double *p, size_t d, const double *L, double *t, double *spare)
{
    t[0] = cri_log_det(L, d) - (double)d * M_LN2 - cri_digamma_d(0.5 * p[0], d);
    cri_small_inverse(L, d, spare, spare + d * d);
    cri_pack(spare, d, p[0], p[0], t + 1);
}

const cri_vector_family cri_inverse_wishart_family = {
    count,        inverse_name,  inverse_natural, inverse_log_partition, inverse_statistic,
    inverse_mean, workspace_size
};

/* --- fit ------------------------------------------------------------------------------------- */

typedef struct gap {
    size_t d;
    double wanted;
} gap;

/* log |mean X| - mean log |X| of a Wishart with df = d - 1 + excess, less the one of the data:
 * d log(n / 2) - sum psi((n - i) / 2), the logarithms taken out. */
static double gap_left(double excess, const void *user)
{
    const gap *q = user;
    double     n = (double)q->d - 1 + excess, sum = 0;
    for (size_t i = 0; i < q->d; i++) {
        double rest = excess + (double)(q->d - 1 - i); /* n - i */
        sum += log(n / rest) + cri_log_minus_digamma(0.5 * rest);
    }
    return sum - q->wanted;
}

/* M [d x d] = the mean of the matrices, or of their inverses; *mean_log = that of log |.|. */
static cr_status mean_matrix(cr_ctx *cx, const char *who, const cri_points *s, size_t skip,
                             size_t d, bool inverse, double *M, double *mean_log)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    double    *R = cr_scratch_matrix(&scratch, d, d), *K = cr_scratch_matrix(&scratch, d, d);
    double    *column = cr_scratch_f64(&scratch, d);
    CR_TRY(scratch.status);
    memset(M, 0, d * d * sizeof *M);
    *mean_log = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double *X = s->x + i * s->size + skip;
        double        w = cri_point_weight(s, i) / s->total;
        if (w == 0) continue;
        if (!cri_factor_point(X, d, R))
            CR_TRY(cr_fail(cx, CR_EDATA,
                           "%s: the matrix of point %zu is not symmetric positive definite", who,
                           i + 1));
        if (inverse) cri_small_inverse(R, d, K, column);
        for (size_t j = 0; j < d * d; j++) M[j] += w * (inverse ? K[j] : X[j]);
        *mean_log += w * (inverse ? -1 : 1) * cri_log_det(R, d);
    }
done:
    cr_scratch_end(&scratch);
    return st;
}

/* df by one root; then scale = mean / df, or df times the inverse of the mean of the inverses. */
cr_status cri_wishart_fit(cr_ctx *cx, const char *who, const cri_points *s, size_t skip, size_t d,
                          bool inverse, double *out_df, double *out_scale)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    double    *M = cr_scratch_matrix(&scratch, d, d), *R = cr_scratch_matrix(&scratch, d, d);
    double    *column = cr_scratch_f64(&scratch, d), mean_log = 0;
    CR_TRY(scratch.status);
    CR_TRY(mean_matrix(cx, who, s, skip, d, inverse, M, &mean_log));
    bool   good = cri_factor_point(M, d, R);
    gap    q = { d, good ? cri_log_det(R, d) - mean_log : 0 };
    double scale = fabs(mean_log) + (double)d;
    if (!(q.wanted > 1e-13 * scale)) CR_TRY(cri_no_estimate(cx, who, "all matrices are the same"));
    *out_df = (double)d - 1 + cri_falling_root(gap_left, &q, 1 + (double)d / q.wanted);
    if (inverse) cri_small_inverse(R, d, M, column);
    for (size_t j = 0; j < d * d; j++) out_scale[j] = inverse ? *out_df * M[j] : M[j] / *out_df;
done:
    cr_scratch_end(&scratch);
    return st;
}
