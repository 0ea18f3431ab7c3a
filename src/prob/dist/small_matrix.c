/* small_matrix.c -- small triangular algebra, and the multivariate gamma function. */
#include "small_matrix.h"
#include "saddle.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

static bool is_symmetric(const double *A, size_t d)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) {
            double size = fabs(A[i * d + j]) + fabs(A[j * d + i]);
            if (!(fabs(A[i * d + j] - A[j * d + i]) <= 1e-9 * size)) return false;
        }
    return true;
}

cr_status cri_factor_parameter(cr_ctx *cx, const char *name, const char *param, const double *A,
                               size_t d, double *L)
{
    if (!is_symmetric(A, d)) return cr_fail(cx, CR_EARG, "%s: %s is not symmetric", name, param);
    memcpy(L, A, d * d * sizeof *L);
    cr_status st = cr_chol(cx, cr_mat_of(L, d, d));
    if (st == CR_ENUMERIC)
        return cr_fail(cx, CR_EARG, "%s: %s is not positive definite", name, param);
    for (size_t i = 0; st == CR_OK && i < d; i++)
        for (size_t j = i + 1; j < d; j++) L[i * d + j] = 0;
    return st;
}

bool cri_factor_point(const double *A, size_t d, double *L)
{
    if (!is_symmetric(A, d)) return false;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = A[i * d + j];
            for (size_t k = 0; k < j && j <= i; k++) sum -= L[i * d + k] * L[j * d + k];
            if (i == j && !(sum > 0)) return false;
            L[i * d + j] = j > i ? 0 : i == j ? sqrt(sum) : sum / L[j * d + j];
        }
    return true;
}

void cri_solve_lower(const double *L, size_t d, double *x)
{
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < i; k++) x[i] -= L[i * d + k] * x[k];
        x[i] /= L[i * d + i];
    }
}

void cri_solve_upper(const double *L, size_t d, double *x)
{
    for (size_t i = d; i-- > 0;) {
        for (size_t k = i + 1; k < d; k++) x[i] -= L[k * d + i] * x[k];
        x[i] /= L[i * d + i];
    }
}

double cri_square_under(const double *L, size_t d, const double *z)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        double dot = 0;
        for (size_t i = j; i < d; i++) dot += L[i * d + j] * z[i];
        sum += dot * dot;
    }
    return sum;
}

double cri_log_det(const double *L, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) sum += 2 * log(L[i * d + i]);
    return sum;
}

double cri_trace_ratio(const double *L, const double *M, size_t d, double *column)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) column[i] = i < j ? 0 : M[i * d + j];
        cri_solve_lower(L, d, column);
        for (size_t i = 0; i < d; i++) sum += column[i] * column[i];
    }
    return sum;
}

void cri_small_inverse(const double *L, size_t d, double *out, double *column)
{
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) column[i] = i == j;
        cri_solve_lower(L, d, column);
        cri_solve_upper(L, d, column);
        for (size_t i = 0; i <= j; i++) out[i * d + j] = out[j * d + i] = column[i];
    }
}

size_t cri_packed_size(size_t d) { return d * (d + 1) / 2; }

void cri_pack(const double *A, size_t d, double on, double off, double *out)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++) *out++ = (i == j ? on : off) * A[i * d + j];
}

void cri_unpack(const double *packed, size_t d, double on, double off, double *A)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            A[i * d + j] = A[j * d + i] = (i == j ? on : off) * *packed++;
}

void cri_packed_place(size_t d, size_t k, size_t *row, size_t *column)
{
    size_t i = 0;
    for (; i < d && k >= d - i; i++) k -= d - i;
    *row = i, *column = i + k;
}

double cri_log_gamma_d(double a, size_t d)
{
    double sum = 0.25 * (double)(d * (d - 1)) * log(M_PI);
    for (size_t i = 0; i < d; i++) sum += cr_lgamma_abs(a - 0.5 * (double)i);
    return sum;
}

double cri_digamma_d(double a, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) sum += cr_digamma(a - 0.5 * (double)i);
    return sum;
}

double cri_multinomial_mass(const double *k, const double *p, size_t n)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++) total += k[i];
    if (total == 0) return 0;
    for (size_t i = 0; i < n; i++) {
        if (k[i] > 0 && p[i] == 0) return -INFINITY;
        sum -= p[i] > 0 ? cr_bd0(k[i], total * p[i]) : 0;
        if (k[i] > 0) sum -= cr_stirlerr(k[i]) + 0.5 * log(k[i]) + CRI_HALF_LOG_2PI;
    }
    return sum + cr_stirlerr(total) + 0.5 * log(total) + CRI_HALF_LOG_2PI;
}

cr_status cri_check_sum(cr_ctx *cx, const char *name, const double *p, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += p[i];
    if (fabs(sum - 1) <= 1e-9) return CR_OK;
    return cr_fail(cx, CR_EARG, "%s: the probabilities sum to %.10g, expected 1", name, sum);
}
