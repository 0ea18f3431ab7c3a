/* niw_family.c -- the normal-inverse-Wishart as an exponential family, and its fit.  With mean m,
 * strength k, df n and scale P:
 *   log |S|           with -(n + d + 2) / 2
 *   (S^-1)_ij         with -(P + k m m')_ij / 2, doubled for a pair i < j, which counts once
 *   (S^-1 mu)_i       with k m_i
 *   mu' S^-1 mu       with -k / 2
 *   A = log Gamma_d(n/2) + (n d / 2) log 2 - (n/2) log |P| - (d/2) log k + (d/2) log 2 pi. */
#include "fit.h"
#include "niw.h"
#include "saddle.h"
#include "small_matrix.h"
#include "wishart.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* p = mean [d], strength, df, scale [d x d]; work = the factor L of the scale. */
static size_t count(size_t d) { return 2 + cri_packed_size(d) + d; }
static size_t workspace_size(size_t d) { return 2 * d * d + 2 * d; }

static void name(size_t d, size_t i, char *out, size_t size)
{
    size_t pairs = cri_packed_size(d);
    if (i == 0)
        snprintf(out, size, "log |S|");
    else if (i <= pairs)
        cri_matrix_entry_name("S^-1", d, i - 1, out, size);
    else if (i <= pairs + d)
        snprintf(out, size, "(S^-1 mu)[%zu]", i - pairs);
    else
        snprintf(out, size, "mu' S^-1 mu");
}

static void natural(const double *p, size_t d, const double *L, double *eta, double *spare)
{
    double k = p[d], *M = spare;
    (void)L;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) M[i * d + j] = p[d + 2 + i * d + j] + k * p[i] * p[j];
    *eta++ = -0.5 * (p[d + 1] + (double)d + 2);
    cri_pack(M, d, -0.5, -1, eta);
    eta += cri_packed_size(d);
    for (size_t i = 0; i < d; i++) *eta++ = k * p[i];
    *eta = -0.5 * k;
}

static double log_partition(const double *p, size_t d, const double *eta, double *spare)
{
    const double *km = eta + 1 + cri_packed_size(d);
    double       *P = spare, *R = P + d * d, k = -2 * km[d], half = -eta[0] - 0.5 * (double)(d + 2);
    (void)p;
    cri_unpack(eta + 1, d, -2, -1, P);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) P[i * d + j] -= km[i] * (km[j] / k);
    if (!(k > 0 && half > 0.5 * ((double)d - 1)) || !cri_factor_point(P, d, R)) return NAN;
    return cri_log_gamma_d(half, d) + half * ((double)d * M_LN2 - cri_log_det(R, d)) +
           (double)d * (CRI_HALF_LOG_2PI - 0.5 * log(k));
}

/* t = log det, entries of K, K m, m' K m, for K = S^-1; v [d] is spare. */
static void fill(double log_det, const double *K, const double *m, size_t d, double *t)
{
    double square = 0;
    *t++ = log_det;
    cri_pack(K, d, 1, 1, t);
    t += cri_packed_size(d);
    for (size_t i = 0; i < d; i++) {
        double dot = 0;
        for (size_t j = 0; j < d; j++) dot += K[i * d + j] * m[j];
        *t++ = dot;
        square += dot * m[i];
    }
    *t = square;
}

static void statistic(size_t d, const double *x, double *t, double *spare)
{
    double *R = spare, *K = R + d * d, *column = K + d * d;
    if (!cri_factor_point(x + d, d, R)) return;
    cri_small_inverse(R, d, K, column);
    fill(cri_log_det(R, d), K, x, d, t);
}

/* E S^-1 = n P^-1, and mu' S^-1 mu has d / k more than at the mean. */
static void mean_statistic(const double *p, size_t d, const double *L, double *t, double *spare)
{
    double n = p[d + 1], *K = spare, *column = K + d * d;
    cri_small_inverse(L, d, K, column);
    for (size_t i = 0; i < d * d; i++) K[i] *= n;
    fill(cri_log_det(L, d) - (double)d * M_LN2 - cri_digamma_d(0.5 * n, d), K, p, d, t);
    t[count(d) - 1] += (double)d / p[d];
}

const cri_vector_family cri_niw_family = { count,     name,           natural,       log_partition,
                                           statistic, mean_statistic, workspace_size };

/* --- fit ------------------------------------------------------------------------------------- */

/* m = (sum S^-1)^-1 sum S^-1 mu: one pass for both sums, then a solve. */
static bool weighted_mean(const cri_points *s, size_t d, double *m, double *R, double *sum,
                          double *K)
{
    double *column = K + d * d;
    memset(sum, 0, d * d * sizeof *sum);
    memset(m, 0, d * sizeof *m);
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->x + i * s->size;
        double        w = cri_point_weight(s, i) / s->total;
        if (w == 0) continue;
        if (!cri_factor_point(x + d, d, R)) return false;
        cri_small_inverse(R, d, K, column);
        for (size_t j = 0; j < d * d; j++) sum[j] += w * K[j];
        for (size_t j = 0; j < d; j++)
            for (size_t l = 0; l < d; l++) m[j] += w * K[j * d + l] * (x[l] - s->x[l]);
    }
    if (!cri_factor_point(sum, d, R)) return false;
    cri_solve_lower(R, d, m);
    cri_solve_upper(R, d, m);
    for (size_t j = 0; j < d; j++) m[j] += s->x[j]; /* the first point was the origin */
    return true;
}

/* The mean of (mu - m)' S^-1 (mu - m). */
static double weighted_spread(const cri_points *s, size_t d, const double *m, double *R, double *z)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->x + i * s->size;
        double        w = cri_point_weight(s, i) / s->total;
        if (w == 0 || !cri_factor_point(x + d, d, R)) continue;
        for (size_t j = 0; j < d; j++) z[j] = x[j] - m[j];
        cri_solve_lower(R, d, z);
        for (size_t j = 0; j < d; j++) sum += w * z[j] * z[j];
    }
    return sum;
}

cr_status cri_niw_fit(cr_ctx *cx, const cri_points *s, double *v, size_t d)
{
    const char *who = "normal-inverse-wishart";
    cr_status   st = CR_OK;
    cr_scratch  scratch = cr_scratch_begin(cx);
    double     *R = cr_scratch_matrix(&scratch, d, d), *sum = cr_scratch_matrix(&scratch, d, d);
    double     *K = cr_scratch_f64(&scratch, d * d + d), spread = 0;
    CR_TRY(scratch.status);
    CR_TRY(cri_wishart_fit(cx, who, s, d, d, true, &v[d + 1], v + d + 2));
    if (weighted_mean(s, d, v, R, sum, K)) spread = weighted_spread(s, d, v, R, K);
    if (!(spread > 0)) CR_TRY(cri_no_estimate(cx, who, "all means are equal"));
    v[d] = (double)d / spread;
done:
    cr_scratch_end(&scratch);
    return st;
}
