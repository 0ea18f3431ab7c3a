/* mixture_errors.c -- standard errors of the parameters from the empirical information: the sum over rows of the
 * products of their scores,
 *   I = sum_i w_i s_i s_i^T,   s_i = d log p(x_i) / d theta,   the covariance of the estimates is about I^-1.
 * With r_c = p(c | x) the scores of the parameters of component c are r_c times those of its own distribution:
 *   share      r_c / share_c - r_k / share_k      (k: the last component)
 *   bernoulli  r_c (x - p) / (p (1 - p))          poisson   r_c (x - rate) / rate
 *   mean       r_c z / sd                         sd        r_c (z^2 - 1) / sd
 *   level l    r_c ([x = l] / p_l - [x = o] / p_o)          (o: the likeliest level of the component)
 * Shares and levels add up to one, so that one of each has the error of the sum of the others.  A probability at 0 or 1,
 * for which fewer than half a row speaks, is taken as known, and its error is not: NaN, as all are where I has no inverse or there are more than MOST of them.
 * One pass, O(n P^2).  McLachlan & Peel (2000), Finite Mixture Models, sec. 2.15. */
#include "mixture.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "prob/dist/small_matrix.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { MOST = 200 };
static const double BORDER = 0.5; /* rows: where fewer speak of it, a probability is at 0 or 1 */

/* The likeliest level of a column in component c. */
static size_t likeliest(const cri_mixture *m, size_t c, size_t j)
{
    const double *level = m->level + c * m->L + m->first[j];
    size_t        best = 0;
    for (size_t l = 1; l < cri_mixture_levels(m, j); l++)
        if (level[l] > level[best]) best = l;
    return best;
}

/* Whether level l has a parameter of its own. */
static bool is_free_level(const cri_mixture *m, size_t c, size_t j, size_t l)
{
    double rows = m->share[c] * m->weight;
    return l != likeliest(m, c, j) && m->level[c * m->L + m->first[j] + l] * rows > BORDER;
}

static bool is_free_mean(const cri_mixture *m, size_t c, size_t j)
{
    double mean = m->mean[c * m->p + j], rows = m->share[c] * m->weight;
    bool   counts = cri_mixture_kind_of(m, j) == CRI_MIXTURE_POISSON;
    return mean * rows > BORDER && (counts || (1 - mean) * rows > BORDER);
}

/* How many parameters column j has in component c. */
static size_t free_in_cell(const cri_mixture *m, size_t c, size_t j)
{
    size_t n = 0;
    if (cri_mixture_is_real(m->kind[j])) return 2;
    if (cri_mixture_is_linear(m->kind[j])) return is_free_mean(m, c, j);
    for (size_t l = 0; l < cri_mixture_levels(m, j); l++) n += is_free_level(m, c, j, l);
    return n;
}

/* In the order of I: shares, then component by component, column by column. */
static size_t count_free(const cri_mixture *m)
{
    size_t n = m->k - 1;
    for (size_t c = 0; c < m->k; c++)
        for (size_t j = 0; j < m->p; j++) n += free_in_cell(m, c, j);
    return n;
}

/* --- scores ----------------------------------------------------------------------------------- */

/* The scores of column j in component c, into rows of S [.. x n]. */
static void score_cell(const cri_mixture *m, const cri_mixture_block *b, size_t c, size_t j,
                       double *S)
{
    size_t        n = b->n, slot = m->slot[j];
    const double *r = b->r + c * n, *y = b->Y + slot * n, *t = b->R + slot * n;
    double        mean = m->mean[c * m->p + j], sd = m->sd[c * m->p + j];
    bool          counts = cri_mixture_kind_of(m, j) == CRI_MIXTURE_POISSON;
    const double *x = b->X + j * n, *level = m->level + c * m->L + m->first[j];
    if (cri_mixture_is_linear(m->kind[j])) {
        double inverse = 1 / (counts ? mean : mean * (1 - mean));
        for (size_t i = 0; i < n && is_free_mean(m, c, j); i++)
            S[i] = isnan(x[i]) ? 0 : r[i] * (y[i] - mean) * inverse;
    } else if (cri_mixture_is_real(m->kind[j])) {
        for (size_t i = 0; i < n; i++) {
            double z = (t[i] - mean) / sd;
            S[i] = isnan(x[i]) ? 0 : r[i] * z / sd;
            S[n + i] = isnan(x[i]) ? 0 : r[i] * (z * z - 1) / sd;
        }
    } else {
        size_t o = likeliest(m, c, j);
        for (size_t l = 0; l < cri_mixture_levels(m, j); l++) {
            if (!is_free_level(m, c, j, l)) continue;
            for (size_t i = 0; i < n; i++)
                S[i] = x[i] == (double)l   ? r[i] / level[l]
                       : x[i] == (double)o ? -r[i] / level[o]
                                           : 0;
            S += n;
        }
    }
}

/* Adds the products of the scores of some rows to sums [P x P], its lower triangle. */
static void add_products(const void *state, const cri_rows *rows, cri_range range, double *sums,
                         double *work)
{
    const cri_mixture *m = state;
    size_t             P = count_free(m), k = m->k;
    cri_mixture_block  b = cri_mixture_cut(m, work);
    double            *S = work + cri_mixture_work(m), *at = S;
    for (size_t begin = range.begin; begin < range.end; begin += CRI_MIXTURE_BLOCK, at = S) {
        size_t n = range.end - begin;
        if (n > CRI_MIXTURE_BLOCK) n = CRI_MIXTURE_BLOCK;
        cri_mixture_respond(m, rows, (cri_range){ begin, begin + n }, true, &b);
        for (size_t c = 0; c + 1 < k; c++, at += n)
            for (size_t i = 0; i < n; i++)
                at[i] = b.r[c * n + i] / m->share[c] - b.r[(k - 1) * n + i] / m->share[k - 1];
        for (size_t c = 0; c < k; c++)
            for (size_t j = 0; j < m->p; j++) {
                score_cell(m, &b, c, j, at);
                at += free_in_cell(m, c, j) * n;
            }
        for (size_t a = 0; a < P; a++)
            for (size_t i = 0; i < n; i++) S[a * n + i] *= sqrt(b.w[i]);
        cri_blas_enter();
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)P, (int)n, 1, S, (int)n, 1, sums,
                    (int)P);
        cri_blas_leave();
    }
}

/* --- errors ----------------------------------------------------------------------------------- */

/* V [P x P] = I^-1, by way of its correlations; false where there is none. */
static bool invert(const double *info, size_t P, double *R, double *L, double *column, double *V)
{
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j <= i; j++)
            R[i * P + j] = R[j * P + i] =
                info[i * P + j] / sqrt(info[i * (P + 1)] * info[j * (P + 1)]);
    for (size_t i = 0; i < P; i++)
        if (!(info[i * (P + 1)] > 0 && isfinite(info[i * (P + 1)]))) return false;
    if (!cri_factor_point(R, P, L)) return false;
    for (size_t i = 0; i < P; i++)
        if (!(L[i * (P + 1)] > 1e-5)) return false; /* rounding decides */
    cri_small_inverse(L, P, V, column);
    for (size_t i = 0; i < P * P; i++) V[i] /= sqrt(info[i / P * (P + 1)] * info[i % P * (P + 1)]);
    return true;
}

/* The error of the sum of the n parameters from `at` on; NaN where there are none. */
static double error_of_sum(const double *V, size_t P, size_t at, size_t n)
{
    double sum = 0;
    for (size_t i = at; i < at + n; i++)
        for (size_t j = at; j < at + n; j++) sum += V[i * P + j];
    return n > 0 && sum >= 0 ? sqrt(sum) : NAN;
}

static void set_cell(cri_mixture *m, const double *V, size_t P, size_t at, size_t c, size_t j)
{
    size_t cell = c * m->p + j, n = free_in_cell(m, c, j);
    if (cri_mixture_kind_of(m, j) == CRI_MIXTURE_CATEGORY) {
        double *error = m->level_error + c * m->L + m->first[j];
        error[likeliest(m, c, j)] = error_of_sum(V, P, at, n);
        for (size_t l = 0; l < cri_mixture_levels(m, j); l++)
            if (is_free_level(m, c, j, l)) error[l] = error_of_sum(V, P, at++, 1);
        return;
    }
    if (n > 0) m->mean_error[cell] = error_of_sum(V, P, at, 1);
    if (n > 1) m->sd_error[cell] = error_of_sum(V, P, at + 1, 1);
}

static void set_errors(cri_mixture *m, const double *V, size_t P)
{
    size_t at = m->k - 1;
    for (size_t c = 0; c + 1 < m->k; c++) m->share_error[c] = error_of_sum(V, P, c, 1);
    m->share_error[m->k - 1] = error_of_sum(V, P, 0, m->k - 1);
    for (size_t c = 0; c < m->k; c++)
        for (size_t j = 0; j < m->p; j++) {
            set_cell(m, V, P, at, c, j);
            at += free_in_cell(m, c, j);
        }
}

cr_status cri_mixture_find_errors(cr_ctx *cx, const void *plan, const cri_rows *rows, uint64_t seed,
                                  bool late, void *state)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cri_mixture *m = state;
    size_t       P = count_free(m), width = P * P;
    double      *info, *R, *L, *V, *column;
    (void)plan, (void)seed;

    if (late || P == 0 || P > MOST) goto done;
    info = cr_scratch_f64(&s, width + 1), R = cr_scratch_matrix(&s, P, P);
    L = cr_scratch_matrix(&s, P, P), V = cr_scratch_matrix(&s, P, P);
    column = cr_scratch_f64(&s, P);
    CR_TRY(s.status);
    CR_TRY(cri_em_gather(cx,
                         &(cri_em_pass){ .add = add_products,
                                         .of = m,
                                         .width = width,
                                         .work = cri_mixture_work(m) + P * CRI_MIXTURE_BLOCK },
                         rows, info));
    if (invert(info, P, R, L, column, V)) set_errors(m, V, P);
done:
    cr_scratch_end(&s);
    return st;
}
