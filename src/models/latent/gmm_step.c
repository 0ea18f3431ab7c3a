/* gmm_step.c -- one step of EM: expected statistics under a state, and the state that is best for them.
 *   S_c = L_c L_c^T,   U_c = L_c^-1,   z_c = U_c (t - mu_c)
 *   log p(t, c) = log share_c - d/2 log 2 pi + log|U_c| - |z_c|^2 / 2,    r_c = p(c | t)
 *   n_c = sum w r_c,   a_c = sum w r_c z_c,   B_c = sum w r_c z_c z_c^T
 * Statistics in units of the component itself lose no digits to means that are far apart.  In t the mean of the
 * rows of a component is mu_c + L a/n, their scatter W_c = L (B - a a^T / n) L^T, and with the prior
 *   p(mu_c, S_c) ~ |S_c|^-s/2 exp(-tr(Lambda S_c^-1)/2 - kappa/2 mu_c^T S_c^-1 mu_c)
 * the covariances follow (gmm_forms.c) from
 *   W_c + Lambda + kappa n / (kappa + n) xbar xbar^T    and    N_c = n_c + s.
 * Chen & Tan (2009), J. Multivariate Analysis 100.  A step takes O(n k d^2), or O(n k d) with diagonal covariances;
 * blocks of rows go through BLAS.  Bishop (2006), PRML, sec. 9.2. */
#include "gmm.h"
#include "em_starts.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/dense/decompose.h"
#include "math/constants.h"
#include "math/kernel/array.h"
#include "prob/dist/small_matrix.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Up to so many columns the lower triangle of products by dot products takes less time than all of them by BLAS. */
enum { MOST_BY_DOTS = 24 };

static size_t factor_size(const cri_gmm *m) { return m->d * m->width; }
static bool   is_diagonal(const cri_gmm *m) { return cri_gmm_is_diagonal(m->form); }
/* Of one component: sum r, sum r z, sum r z z^T. */
static size_t part_size(const cri_gmm *m) { return 1 + m->d + factor_size(m); }

cr_status cri_gmm_new(cr_ctx *cx, size_t k, size_t d, int form, size_t tried, cri_gmm **out)
{
    cri_gmm  *m = cr_alloc(cx, 1, sizeof *m);
    cr_status st;
    if (!m) return CR_ENOMEM;
    m->k = k, m->d = d, m->kd = k * d, m->form = form;
    m->tried = m->started = tried;
    m->width = cri_gmm_is_diagonal(form) ? 1 : d;
    st = cri_record_allocate(cx, cri_gmm_record, m);
    if (st != CR_OK) cri_state_free(cx, &cri_class_gmm, m);
    if (st == CR_OK) *out = m;
    return st;
}

/* U = L^-1, lower triangular. */
static void invert_factor(const double *L, size_t d, double *U)
{
    memset(U, 0, d * d * sizeof *U);
    for (size_t j = 0; j < d; j++)
        for (size_t i = j; i < d; i++) {
            double sum = i == j;
            for (size_t k = j; k < i; k++) sum -= L[i * d + k] * U[k * d + j];
            U[i * d + j] = sum / L[i * d + i];
        }
}

void cri_gmm_prepare(cri_gmm *m)
{
    size_t d = m->d;
    m->log_scale = 0;
    for (size_t j = 0; j < d; j++) m->log_scale += log(m->scale[j]);
    for (size_t c = 0; c < m->k; c++) {
        const double *L = m->L + c * factor_size(m), *mean = m->mean + c * d;
        double       *U = m->U + c * factor_size(m), *b = m->b + c * d;
        m->constant[c] = log(m->share[c]) - 0.5 * (double)d * CRI_LOG_2PI;
        if (!is_diagonal(m)) invert_factor(L, d, U);
        for (size_t i = 0; i < d; i++) {
            if (is_diagonal(m)) {
                U[i] = 1 / L[i];
                b[i] = U[i] * mean[i];
            } else {
                b[i] = 0;
                for (size_t j = 0; j <= i; j++) b[i] += U[i * d + j] * mean[j];
            }
            m->constant[c] += log(U[is_diagonal(m) ? i : i * d + i]);
        }
        if (m->vb) m->constant[c] = cri_gmm_vb_constant(m, c) - 0.5 * (double)d * CRI_LOG_2PI;
    }
}

/* --- expectation ------------------------------------------------------------------------------ */

size_t cri_gmm_width(const void *state)
{
    const cri_gmm *m = state;
    return 2 + m->k * part_size(m);
}

/* Workspace: T transposed [d x BLOCK], Z [k d x BLOCK], log p(t, c), then r [k x BLOCK], three rows of BLOCK, and the
 * rows as they come [BLOCK x d], later r z [d x BLOCK]; then that of rows with missing cells. */
size_t cri_gmm_work(const void *state)
{
    const cri_gmm *m = state;
    return (size_t)CRI_GMM_BLOCK * (2 * m->d + m->kd + m->k + 3) + cri_gmm_missing_work(m);
}

typedef struct block {
    double *Tt, *Z, *r, *top, *sum, *w, *rz, *missing;
} block;

static block cut(const cri_gmm *m, double *work)
{
    size_t B = CRI_GMM_BLOCK;
    block  b = { .Tt = work };
    b.Z = b.Tt + B * m->d;
    b.r = b.Z + B * m->kd;
    b.top = b.r + B * m->k;
    b.sum = b.top + B;
    b.w = b.sum + B;
    b.rz = b.w + B;
    b.missing = b.rz + B * m->d;
    return b;
}

/* Z and log p(t, c), into r, of n rows whose columns are in Tt [d x n]. */
static void score(const cri_gmm *m, size_t n, const block *a)
{
    size_t d = m->d;
    if (!is_diagonal(m))
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m->kd, (int)n, (int)d, 1, m->U,
                    (int)d, a->Tt, (int)n, 0, a->Z, (int)n);
    for (size_t c = 0; c < m->k; c++) {
        double *out = a->r + c * n;
        for (size_t i = 0; i < n; i++) out[i] = 0;
        for (size_t j = 0; j < d; j++) {
            double       *z = a->Z + (c * d + j) * n, b = m->b[c * d + j], u = m->U[c * d + j];
            const double *t = a->Tt + j * n;
            if (is_diagonal(m))
                for (size_t i = 0; i < n; i++) z[i] = u * t[i];
            cri_add_squares(z, b, n, out);
        }
        for (size_t i = 0; i < n; i++) out[i] = m->constant[c] - 0.5 * out[i];
    }
}

/* Adds the statistics of a component; its responsibilities have the weights in them. */
static void add_part(const cri_gmm *m, size_t c, size_t n, const block *a, double *part)
{
    size_t        d = m->d;
    const double *r = a->r + c * n, *Z = a->Z + c * d * n;
    double       *first = part + 1, *second = part + 1 + d;
    for (size_t i = 0; i < n; i++) part[0] += r[i];
    for (size_t j = 0; j < d; j++) {
        double *rz = a->rz + j * n;
        cri_multiply_array(r, Z + j * n, n, rz);
        first[j] += cri_dot_array(r, Z + j * n, n);
        if (is_diagonal(m)) second[j] += cri_dot_array(rz, Z + j * n, n);
        for (size_t l = 0; !is_diagonal(m) && d <= MOST_BY_DOTS && l <= j; l++)
            second[j * d + l] += cri_dot_array(rz, Z + l * n, n);
    }
    if (!is_diagonal(m) && d > MOST_BY_DOTS)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)d, (int)d, (int)n, 1, a->rz,
                    (int)n, Z, (int)n, 1, second, (int)d);
}

/* Statistics of n <= BLOCK rows whose columns are in Tt and weights in w. */
static void add_block(const cri_gmm *m, size_t n, const block *a, double *sums)
{
    if (n == 0) return;
    score(m, n, a);
    cri_responsibilities(a->r, m->k, n, a->sum, a->top);
    for (size_t i = 0; i < n; i++) {
        if (!(a->w[i] > 0)) continue;
        sums[0] += a->w[i] * (a->sum[i] - m->log_scale);
        sums[1] += a->w[i] * a->top[i];
    }
    for (size_t c = 0; c < m->k; c++) {
        cri_multiply_array(a->r + c * n, a->w, n, a->r + c * n);
        add_part(m, c, n, a, sums + 2 + c * part_size(m));
    }
}

/* Which of n rows T [n x d] have all cells, index [n], and how many; the others follow. */
static size_t sort_rows(const double *T, size_t n, size_t d, size_t *index)
{
    size_t complete = 0, others = n;
    for (size_t i = 0; i < n; i++) {
        bool whole = true;
        for (size_t j = 0; j < d; j++) whole &= !isnan(T[i * d + j]);
        index[whole ? complete++ : --others] = i;
    }
    return complete;
}

/* Tt [d x n] = the columns of the rows index[0 .. n) of T. */
static void transpose(const double *T, size_t d, const size_t *index, size_t n, double *Tt)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) Tt[j * n + i] = T[index[i] * d + j];
}

/* Statistics of n <= BLOCK rows T [n x d], which may be in rz, of weights w [n]. */
static void add_rows(const cri_gmm *m, const double *T, const double *w, size_t n, const block *a,
                     double *sums)
{
    size_t index[CRI_GMM_BLOCK], complete = sort_rows(T, n, m->d, index);
    transpose(T, m->d, index, complete, a->Tt);
    if (complete < n)
        cri_gmm_add_missing(m, T, w, n - complete, index + complete, sums, a->missing);
    for (size_t i = 0; i < complete; i++) a->w[i] = w[index[i]];
    add_block(m, complete, a, sums);
}

void cri_gmm_add(const cri_gmm *m, const double *T, const double *w, size_t n, double *sums,
                 double *work)
{
    block a = cut(m, work);
    cri_blas_enter();
    for (size_t at = 0; at < n; at += CRI_GMM_BLOCK)
        add_rows(m, T + at * m->d, w + at, n - at < CRI_GMM_BLOCK ? n - at : CRI_GMM_BLOCK, &a,
                 sums);
    cri_blas_leave();
}

/* X becomes t. */
static void scale_rows(const cri_gmm *m, double *X, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m->d; j++)
            X[i * m->d + j] = (X[i * m->d + j] - m->centre[j]) / m->scale[j];
}

void cri_gmm_gather(const void *state, const cri_rows *rows, cri_range range, double *sums,
                    double *work)
{
    const cri_gmm *m = state;
    block          a = cut(m, work);
    cri_blas_enter();
    for (size_t at = range.begin; at < range.end; at += CRI_GMM_BLOCK) {
        size_t end = range.end - at < CRI_GMM_BLOCK ? range.end : at + CRI_GMM_BLOCK, n = end - at;
        cri_rows_fill(rows, at, end, a.rz, m->d);
        scale_rows(m, a.rz, n);
        for (size_t i = 0; i < n; i++) a.sum[i] = rows->w ? rows->w[at + i] : 1;
        add_rows(m, a.rz, a.sum, n, &a, sums);
    }
    cri_blas_leave();
}

void cri_gmm_respond(const cri_gmm *m, double *X, size_t n, double *out, double *log_density,
                     double *work)
{
    block  a = cut(m, work);
    size_t index[CRI_GMM_BLOCK], complete;
    scale_rows(m, X, n);
    complete = sort_rows(X, n, m->d, index);
    transpose(X, m->d, index, complete, a.Tt);
    cri_blas_enter();
    if (complete > 0) score(m, complete, &a);
    cri_blas_leave();
    for (size_t c = 0; m->vb && c < m->k; c++) {
        double log_det = 0;
        for (size_t j = 0; j < m->d; j++) log_det += log(m->U[(c * m->d + j) * m->d + j]);
        for (size_t i = c * complete; i < (c + 1) * complete; i++)
            a.r[i] = cri_gmm_vb_predictive(m, c, m->d, a.r[i] - m->constant[c], log_det);
    }
    cri_responsibilities(a.r, m->k, complete, a.sum, a.top);
    for (size_t i = 0; i < complete; i++) {
        log_density[index[i]] = a.sum[i] - m->log_scale;
        for (size_t c = 0; c < m->k; c++) out[index[i] * m->k + c] = a.r[c * complete + i];
    }
    for (size_t i = complete; i < n; i++)
        cri_gmm_respond_missing(m, X + index[i] * m->d, out + index[i] * m->k,
                                &log_density[index[i]], a.missing);
}

/* --- maximisation ----------------------------------------------------------------------------- */

/* out = L x, or L M L^T over the symmetric M [d x d] (tmp [d x d]). */
static void times_factor(const double *L, size_t d, const double *x, double *out)
{
    for (size_t i = 0; i < d; i++) {
        out[i] = 0;
        for (size_t j = 0; j <= i; j++) out[i] += L[i * d + j] * x[j];
    }
}

static void sandwich(const double *L, size_t d, double *M, double *tmp)
{
    cri_blas_enter();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)d, (int)d, (int)d, 1, L, (int)d, M,
                (int)d, 0, tmp, (int)d);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)d, (int)d, (int)d, 1, tmp, (int)d, L,
                (int)d, 0, M, (int)d);
    cri_blas_leave();
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++)
            M[i * d + j] = M[j * d + i] = 0.5 * (M[i * d + j] + M[j * d + i]);
}

void cri_gmm_whiten(const cri_gmm *m, size_t c, const double *t, double *z)
{
    size_t        d = m->d;
    const double *U = m->U + c * factor_size(m), *mean = m->mean + c * d;
    for (size_t i = 0; i < d; i++) {
        z[i] = is_diagonal(m) ? U[i] * (t[i] - mean[i]) : 0;
        for (size_t j = 0; !is_diagonal(m) && j <= i; j++) z[i] += U[i * d + j] * (t[j] - mean[j]);
    }
}

void cri_gmm_posterior(const cri_gmm *m, size_t c, const double *part, double *mean, double *W,
                       double *N, double *tmp)
{
    size_t        d = m->d, size = factor_size(m);
    const double *a = part + 1, *L = m->L + c * size;
    double        n = fmax(part[0], 1e-200), kappa = m->prior_rows > 0 ? m->prior_kappa : 0;
    memcpy(W, part + 1 + d, size * sizeof *W);
    if (is_diagonal(m)) {
        for (size_t j = 0; j < d; j++) {
            W[j] = L[j] * L[j] * fmax(W[j] - a[j] * a[j] / n, 0);
            mean[j] = m->mean[c * d + j] + L[j] * a[j] / n;
        }
    } else {
        for (size_t i = 0; i < d; i++) /* the lower triangle is complete */
            for (size_t j = 0; j <= i; j++)
                W[i * d + j] = W[j * d + i] = W[i * d + j] - a[i] * a[j] / n;
        sandwich(L, d, W, tmp);
        times_factor(L, d, a, tmp);
        for (size_t j = 0; j < d; j++) mean[j] = m->mean[c * d + j] + tmp[j] / n;
    }
    *N = n;
    if (!(m->prior_rows > 0)) return;
    *N += m->prior_rows;
    for (size_t i = 0; i < size; i++)
        W[i] += m->prior_scale[i] + kappa * n / (kappa + n) * mean[is_diagonal(m) ? i : i / d] *
                                        mean[is_diagonal(m) ? i : i % d];
    for (size_t j = 0; j < d; j++) mean[j] *= n / (kappa + n);
}

/* L = the Cholesky factor of C; false where C is not positive definite beyond rounding. */
static bool factor(const double *C, size_t d, double *L)
{
    const double TINY = 1e-13;
    memset(L, 0, d * d * sizeof *L);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = C[i * d + j];
            for (size_t k = 0; k < j; k++) sum -= L[i * d + k] * L[j * d + k];
            if (i == j && !(sum > TINY * C[i * d + i] && isfinite(sum))) return false;
            L[i * d + j] = i == j ? sqrt(sum) : sum / L[j * d + j];
        }
    return true;
}

bool cri_gmm_set_covariances(cri_gmm *m, const double *C)
{
    size_t size = factor_size(m);
    for (size_t c = 0; c < m->k; c++) {
        double *L = m->L + c * size;
        if (!is_diagonal(m)) {
            if (!factor(C + c * size, m->d, L)) return false;
            continue;
        }
        for (size_t j = 0; j < m->d; j++) {
            if (!(C[c * size + j] > 1e-300 && isfinite(C[c * size + j]))) return false;
            L[j] = sqrt(C[c * size + j]);
        }
    }
    return true;
}

cr_status cri_gmm_solve(cr_ctx *cx, const void *options, const double *sums, void *state)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_gmm      *m = state;
    size_t        d = m->d, size = factor_size(m);
    double       *W = cr_scratch_matrix(&s, m->k, size), *C = cr_scratch_matrix(&s, m->k, size);
    double       *mean = cr_scratch_matrix(&s, m->k, d), *N = cr_scratch_f64(&s, m->k);
    double       *tmp = cr_scratch_f64(&s, size + d), total = 0;
    const double *part = sums + 2;

    (void)options;
    CR_TRY(s.status);
    m->lost = false;
    for (size_t c = 0; c < m->k; c++) total += part[c * part_size(m)];
    for (size_t c = 0; c < m->k; c++, part += part_size(m)) {
        if (!m->vb && !(part[0] > 1e-10 * total)) m->lost = true;
        if (m->lost) goto done;
        m->share[c] = part[0] / total;
        m->rows[c] = part[0];
        cri_gmm_posterior(m, c, part, mean + c * d, W + c * size, &N[c], tmp);
    }
    CR_TRY(cri_gmm_covariances(cx, m, W, N, C));
    m->lost = !cri_gmm_set_covariances(m, C);
    if (m->lost) goto done;
    memcpy(m->mean, mean, m->kd * sizeof *mean);
    if (m->vb) cri_gmm_vb_shares(m);
    cri_gmm_prepare(m);
done:
    cr_scratch_end(&s);
    return st;
}

void cri_gmm_covariance(const cri_gmm *m, size_t c, double *out)
{
    size_t        d = m->d;
    const double *L = m->L + c * factor_size(m);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = is_diagonal(m) && i == j ? L[i] * L[i] : 0;
            for (size_t l = 0; !is_diagonal(m) && l <= j; l++) sum += L[i * d + l] * L[j * d + l];
            out[i * d + j] = out[j * d + i] = sum;
        }
}

cr_status cri_gmm_is_flat(cr_ctx *cx, const cri_gmm *m, double least, bool *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     d = m->d;
    double    *S = cr_scratch_matrix(&s, d, d), *V = cr_scratch_matrix(&s, d, d);
    double    *values = cr_scratch_f64(&s, d);
    CR_TRY(s.status);
    *out = false;
    for (size_t i = 0; is_diagonal(m) && i < m->kd; i++) *out |= m->L[i] * m->L[i] < least;
    for (size_t c = 0; !is_diagonal(m) && c < m->k && !*out; c++) {
        cri_gmm_covariance(m, c, S);
        CR_TRY(cr_eigen(cx, cr_cmat_of(S, d, d), values, cr_mat_of(V, d, d)));
        *out = values[0] < least;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* sum_c -s/2 log|S_c| - tr(Lambda S_c^-1)/2 - kappa/2 |U_c mu_c|^2: up to a constant, log p of means and
 * covariances. */
double cri_gmm_log_prior(const void *state)
{
    const cri_gmm *m = state;
    size_t         d = m->d;
    double         sum = 0;
    if (m->vb) return cri_gmm_vb_log_prior(m);
    if (!(m->prior_rows > 0)) return 0;
    for (size_t c = 0; c < m->k; c++) {
        const double *U = m->U + c * factor_size(m), *P = m->prior_scale;
        for (size_t i = 0; i < d; i++) {
            double b = m->b[c * d + i];
            sum += m->prior_rows * log(U[is_diagonal(m) ? i : i * d + i]);
            sum -= 0.5 * m->prior_kappa * b * b;
            if (is_diagonal(m)) {
                sum -= 0.5 * U[i] * U[i] * P[i];
                continue;
            }
            for (size_t j = 0; j <= i; j++) { /* u_i Lambda u_i^T, u_i row i of U */
                double inner = 0;
                for (size_t l = 0; l <= i; l++) inner += P[j * d + l] * U[i * d + l];
                sum -= 0.5 * U[i * d + j] * inner;
            }
        }
    }
    return sum;
}
