/* mvn_family.c -- the multivariate normal as an exponential family, and its fit.
 *   statistics x_i, x_i x_j (i <= j);  natural parameters h = K m, -K_ii / 2, -K_ij;
 *   A = (h' K^-1 h - log det K + d log 2 pi) / 2. */
#include "fit.h"
#include "mvn.h"
#include "saddle.h"
#include "small_matrix.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t count(size_t d) { return d + cri_packed_size(d); }
static size_t workspace_size(size_t d) { return 2 * d * d + d; }

static void name(size_t d, size_t i, char *out, size_t size)
{
    size_t row = 0, column = 0;
    if (i < d) {
        snprintf(out, size, "x[%zu]", i + 1);
        return;
    }
    cri_packed_place(d, i - d, &row, &column);
    if (row == column)
        snprintf(out, size, "x[%zu]^2", row + 1);
    else
        snprintf(out, size, "x[%zu] x[%zu]", row + 1, column + 1);
}

static void statistic(size_t d, const double *x, double *t, double *spare)
{
    (void)spare;
    for (size_t i = 0; i < d; i++) *t++ = x[i];
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++) *t++ = x[i] * x[j];
}

/* E x = m, E x x' = S + m m'. */
static void mean_from(const double *m, const double *S, size_t d, double *t)
{
    memcpy(t, m, d * sizeof *t);
    t += d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++) *t++ = S[i * d + j] + m[i] * m[j];
}

static double log_partition(const double *p, size_t d, const double *eta, double *spare)
{
    double *K = spare, *R = K + d * d, *z = R + d * d, sum = 0;
    (void)p;
    cri_unpack(eta + d, d, -2, -1, K);
    if (!cri_factor_point(K, d, R)) return NAN;
    memcpy(z, eta, d * sizeof *z);
    cri_solve_lower(R, d, z);
    for (size_t i = 0; i < d; i++) sum += z[i] * z[i];
    return 0.5 * (sum - cri_log_det(R, d)) + (double)d * CRI_HALF_LOG_2PI;
}

/* --- by mean and covariance: p = m, S; work = the factor of S -------------------------------- */

static void mvn_natural(const double *p, size_t d, const double *L, double *eta, double *spare)
{
    double *K = spare, *column = K + d * d;
    memcpy(eta, p, d * sizeof *eta);
    cri_solve_lower(L, d, eta);
    cri_solve_upper(L, d, eta);
    cri_small_inverse(L, d, K, column);
    cri_pack(K, d, -0.5, -1, eta + d);
}

static void mvn_mean(const double *p, size_t d, const double *L, double *t, double *spare)
{
    (void)L, (void)spare;
    mean_from(p, p + d, d, t);
}

const cri_vector_family cri_mvn_family = { count,     name,     mvn_natural,   log_partition,
                                           statistic, mvn_mean, workspace_size };

/* --- by h and precision: p = h, K; work = the factor of K, then the mean --------------------- */

static void information_natural(const double *p, size_t d, const double *work, double *eta,
                                double *spare)
{
    (void)work, (void)spare;
    memcpy(eta, p, d * sizeof *eta);
    cri_pack(p + d, d, -0.5, -1, eta + d);
}

static void information_mean(const double *p, size_t d, const double *work, double *t,
                             double *spare)
{
    double *S = spare, *column = S + d * d;
    (void)p;
    cri_small_inverse(work, d, S, column);
    mean_from(work + d * d, S, d, t);
}

const cri_vector_family cri_mvn_information_family = {
    count, name, information_natural, log_partition, statistic, information_mean, workspace_size
};

/* --- fit ------------------------------------------------------------------------------------- */

/* Mean and covariance of the points, in two passes. */
static void moments(const cri_points *s, size_t d, double *m, double *S)
{
    memset(m, 0, (d + d * d) * sizeof *m); /* S follows */
    for (size_t i = 0; i < s->n; i++)      /* an offset keeps large means sharp */
        for (size_t j = 0; j < d; j++)
            m[j] += cri_point_weight(s, i) / s->total * (s->x[i * d + j] - s->x[j]);
    for (size_t j = 0; j < d; j++) m[j] += s->x[j];
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < d; j++) {
            double w = cri_point_weight(s, i) / s->total * (s->x[i * d + j] - m[j]);
            for (size_t k = 0; k <= j; k++) S[j * d + k] += w * (s->x[i * d + k] - m[k]);
        }
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < j; k++) S[k * d + j] = S[j * d + k];
}

/* L = the factor of S; refused when an entry follows from those before it, which takes the
 * likelihood to infinity. */
static cr_status factor_moments(cr_ctx *cx, const char *who, const double *S, size_t d, double *L)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = S[i * d + j];
            for (size_t k = 0; k < j; k++) sum -= L[i * d + k] * L[j * d + k];
            if (i == j && !(sum > 1e-14 * (double)d * S[i * d + i]))
                return cr_fail(
                    cx, CR_EDATA,
                    i == 0 || !(S[i * d + i] > 0)
                        ? "%s: there is no maximum-likelihood estimate: entry %zu of the "
                          "points does not vary"
                        : "%s: there is no maximum-likelihood estimate: entry %zu of the "
                          "points is a combination of those before it",
                    who, i + 1);
            L[i * d + j] = i == j ? sqrt(sum) : sum / L[j * d + j];
        }
    return CR_OK;
}

static cr_status fit_moments(cr_ctx *cx, const char *who, const cri_points *s, double *v, size_t d,
                             double *L)
{
    moments(s, d, v, v + d);
    return factor_moments(cx, who, v + d, d, L);
}

cr_status cri_mvn_fit(cr_ctx *cx, const cri_points *s, double *v, size_t d)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    double    *L = cr_scratch_matrix(&scratch, d, d);
    CR_TRY(scratch.status);
    CR_TRY(fit_moments(cx, "mvn", s, v, d, L));
done:
    cr_scratch_end(&scratch);
    return st;
}

cr_status cri_mvn_information_fit(cr_ctx *cx, const cri_points *s, double *v, size_t d)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    double    *L = cr_scratch_matrix(&scratch, d, d), *column = cr_scratch_f64(&scratch, d);
    CR_TRY(scratch.status);
    CR_TRY(fit_moments(cx, "mvn-information", s, v, d, L));
    cri_solve_lower(L, d, v);
    cri_solve_upper(L, d, v);
    cri_small_inverse(L, d, v + d, column);
done:
    cr_scratch_end(&scratch);
    return st;
}
