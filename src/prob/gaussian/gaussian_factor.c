/* gaussian_factor.c -- checks of matrices, and their factors with failures that name a variable. */
#include "gaussian_internal.h"
#include "base/number.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

/* --- checks ---------------------------------------------------------------------------------- */

cr_status cri_check_finite(cr_ctx *cx, const char *what, const double *x, size_t n)
{
    char text[CRI_DOUBLE_SIZE];
    for (size_t i = 0; i < n; i++) {
        if (isfinite(x[i])) continue;
        text[cri_print_double(x[i], text)] = '\0';
        return cr_fail(cx, CR_EARG, "gaussian: entry %zu of the %s is %s", i, what, text);
    }
    return CR_OK;
}

cr_status cri_check_same_size(cr_ctx *cx, size_t a, size_t b)
{
    if (a == b) return CR_OK;
    return cr_fail(cx, CR_EARG, "gaussian: one has %zu variables, the other %zu", a, b);
}

static double at(cr_cmat A, size_t i, size_t j) { return A.a[i * A.stride + j]; }

cr_status cri_copy_symmetric(cr_ctx *cx, const char *what, cr_cmat A, size_t d, double *out)
{
    if (A.rows != d || A.cols != d)
        return cr_fail(cx, CR_EARG, "gaussian: the %s is %zu x %zu, not %zu x %zu", what, A.rows,
                       A.cols, d, d);
    for (size_t i = 0; i < d; i++) {
        cr_status st = cri_check_finite(cx, what, A.a + i * A.stride, d);
        if (st != CR_OK) return st;
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double a = at(A, i, j), b = at(A, j, i);
            double scale = sqrt(fabs(at(A, i, i))) * sqrt(fabs(at(A, j, j)));
            if (fabs(a - b) > 1e-9 * fmax(scale, fabs(a) + fabs(b)))
                return cr_fail(cx, CR_EARG,
                               "gaussian: the %s is not symmetric: its entry (%zu, %zu) is %g, but "
                               "(%zu, %zu) is %g",
                               what, i, j, a, j, i, b);
            if (out) out[i * d + j] = out[j * d + i] = 0.5 * a + 0.5 * b;
        }
    return CR_OK;
}

static cr_status index_error(cr_ctx *cx, size_t index, size_t d, bool twice)
{
    if (twice) return cr_fail(cx, CR_EARG, "gaussian: variable %zu is listed twice", index);
    return cr_fail(cx, CR_EARG, "gaussian: there is no variable %zu: they are 0 to %zu", index,
                   d - 1);
}

cr_status cri_split_indices(cr_ctx *cx, const size_t *index, size_t k, size_t d, size_t *rest)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *taken = cr_scratch_bytes(&s, d, sizeof *taken);
    CR_TRY(s.status);
    for (size_t i = 0; i < k; i++) {
        if (d == 0) CR_TRY(cr_fail(cx, CR_EARG, "gaussian: there are no variables"));
        if (index[i] >= d || taken[index[i]]) CR_TRY(index_error(cx, index[i], d, index[i] < d));
        taken[index[i]] = true;
    }
    for (size_t i = 0, n = 0; i < d; i++)
        if (!taken[i]) rest[n++] = i;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- factors --------------------------------------------------------------------------------- */

/* The first pivot that is not above `least` of its variance, by plain Cholesky into L; d if none.
 */
static size_t find_pivot(const double *A, size_t d, double least, double *L, double *out_pivot)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = A[i * d + j] - cr_dot(L + i * d, L + j * d, j);
            if (j < i) {
                L[i * d + j] = sum / L[j * d + j];
                continue;
            }
            *out_pivot = sum;
            if (!(sum > least * A[i * d + i])) return i;
            L[i * d + i] = sqrt(sum);
        }
    return d;
}

static cr_status refuse_pivot(cr_ctx *cx, const char *what, size_t variable, double variance,
                              double pivot)
{
    if (pivot < -1e-9 * fabs(variance) || !(variance > 0))
        return cr_fail(cx, CR_ENUMERIC,
                       "gaussian: the %s is not positive definite: its pivot at variable %zu is %g",
                       what, variable, variance > 0 ? pivot : variance);
    return cr_fail(cx, CR_ENUMERIC,
                   "gaussian: the %s is singular: variable %zu is determined by those before it "
                   "(pivot %g of %g)",
                   what, variable, pivot, variance);
}

cr_status cri_gaussian_factor_least(cr_ctx *cx, const char *what, const double *A, size_t d,
                                    const size_t *opt_index, double least, double *L,
                                    size_t *out_tied)
{
    size_t bad = d;
    double pivot = 0;
    if (d == 0) return CR_OK;
    least = fmax(least, cri_rounding(d));
    memcpy(L, A, d * d * sizeof *L);
    cr_status st = cr_chol(cx, cr_mat_of(L, d, d));
    if (st == CR_ENUMERIC) {
        bad = find_pivot(A, d, least, L, &pivot);
        if (bad == d) bad = d - 1; /* on the very edge */
    }
    for (size_t i = 0; st == CR_OK && i < d; i++) {
        pivot = L[i * d + i] * L[i * d + i];
        if (pivot <= least * A[i * d + i]) {
            bad = i;
            break;
        }
        memset(L + i * d + i + 1, 0, (d - i - 1) * sizeof *L);
    }
    if (bad == d) return st;
    *out_tied = opt_index ? opt_index[bad] : bad;
    return refuse_pivot(cx, what, *out_tied, A[bad * d + bad], pivot);
}

cr_status cri_gaussian_factor(cr_ctx *cx, const char *what, const double *A, size_t d,
                              const size_t *opt_index, double *L)
{
    size_t tied;
    return cri_gaussian_factor_least(cx, what, A, d, opt_index, 0, L, &tied);
}

/* The unused variable that keeps most of its variance; d when none keeps more than rounding. */
static size_t choose_pivot(const double *A, const double *W, size_t d)
{
    size_t best = d;
    double most = cri_rounding(d);
    for (size_t i = 0; i < d; i++) {
        double share = A[i * d + i] > 0 ? W[i * d + i] / A[i * d + i] : 0;
        if (share > most) best = i, most = share;
    }
    return best;
}

/* A variable whose rest in W is more than rounding; d when there is none. */
static size_t find_rest(const double *A, const double *W, size_t d)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double scale = sqrt(fmax(0, A[i * d + i])) * sqrt(fmax(0, A[j * d + j]));
            if (fabs(W[i * d + j]) > 8 * cri_rounding(d) * scale) return i;
        }
    return d;
}

size_t cri_semidefinite_factor(const double *A, size_t d, double *W, double *F, size_t *out_rank)
{
    size_t rank = 0, i;
    if (d > 0) memcpy(W, A, d * d * sizeof *W), memset(F, 0, d * d * sizeof *F);
    while (rank < d && (i = choose_pivot(A, W, d)) < d) {
        double root = sqrt(W[i * d + i]);
        for (size_t j = 0; j < d; j++) F[j * d + rank] = W[i * d + j] / root;
        for (size_t j = 0; j < d; j++) {
            double f = F[j * d + rank];
            for (size_t k = 0; k < d; k++) W[j * d + k] -= f * F[k * d + rank];
        }
        for (size_t j = 0; j < d; j++) W[i * d + j] = W[j * d + i] = 0;
        rank++;
    }
    *out_rank = rank;
    return find_rest(A, W, d);
}

cr_status cri_check_semidefinite(cr_ctx *cx, const char *what, const double *A, size_t d)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *L = cr_scratch_matrix(&s, d, d), *F = cr_scratch_matrix(&s, d, d);
    size_t     rank, bad;
    CR_TRY(s.status);
    st = cri_gaussian_factor(cx, what, A, d, NULL, L);
    if (st != CR_ENUMERIC) goto done;
    st = CR_OK;
    bad = cri_semidefinite_factor(A, d, L, F, &rank);
    if (bad < d)
        CR_TRY(cr_fail(cx, CR_EARG,
                       "gaussian: the %s is not positive semidefinite: variable %zu would have a "
                       "negative variance given others",
                       what, bad));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- small things ---------------------------------------------------------------------------- */

void cri_pick(const double *A, size_t d, const size_t *rows, size_t n_rows, const size_t *cols,
              size_t n_cols, double *out)
{
    for (size_t i = 0; i < n_rows; i++)
        for (size_t j = 0; j < n_cols; j++) out[i * n_cols + j] = A[rows[i] * d + cols[j]];
}

cr_status cri_whitened_square(cr_ctx *cx, const double *L, size_t d, double *z, double *out)
{
    cr_status st = cr_chol_forward(cx, cri_square(L, d), cr_mat_of(z, d, 1));
    if (st == CR_OK) *out = cr_dot(z, z, d);
    return st;
}

cr_status cri_log_density_at(cr_ctx *cx, const double *L, size_t d, double *z, double *out)
{
    double    square = 0;
    cr_status st = cri_whitened_square(cx, L, d, z, &square);
    if (st == CR_OK)
        *out = -0.5 * ((double)d * CRI_LOG_2PI + cr_chol_logdet(cri_square(L, d)) + square);
    return st;
}

void cri_symmetrise(double *S, size_t d)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++)
            S[i * d + j] = S[j * d + i] = 0.5 * S[i * d + j] + 0.5 * S[j * d + i];
}
