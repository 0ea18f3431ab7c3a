/* dual.c -- Gaussian linear models with more terms than rows. */
#include "dual.h"
#include "dense_terms.h"
#include "base/parallel.h"
#include "math/dense/blas_internal.h"
#include "math/dense/chol.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"
#include "math/dense/lapack.h"

#include <math.h>
#include <string.h>

/* --- the spectrum ---------------------------------------------------------------------------- */

/* Z in place of the rows, and K = Z Z'. */
static cr_status measure_dense(cr_ctx *cx, const cri_rows *rows, bool intercept, bool standardise,
                               cri_predictor *fit, double *t, double *K, cri_dual *q)
{
    cr_status st = CR_OK;
    size_t    n = q->n, p = q->p;
    cri_gram  g = { 0 };
    CR_TRY(cri_predictor_new(cx, p, n, fit));
    CR_TRY(cri_rows_matrix(cx, rows, fit->factor));
    CR_TRY(cri_measure_rows(cx, rows, fit->factor, intercept, standardise, &g));
    memcpy(fit->centre, g.centre, p * sizeof(double));
    memcpy(fit->scale, g.scale, p * sizeof(double));
    q->weight = g.weight, q->offset = g.offset, q->tt = g.tt;
    cri_standardise_rows(rows, &g, fit->factor, t);
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(fit->factor, n, p), CR_PLAIN, 0, cr_mat_of(K, n, n)));
done:
    cri_gram_free(cx, &g);
    return st;
}

static cr_status measure_sparse(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                                bool standardise, cri_predictor *fit, double *t, double *K,
                                cri_dual *q)
{
    cr_status         st = CR_OK;
    cri_sparse_terms *z = &q->z;
    CR_TRY(cri_sparse_terms_new(cx, s, rows, intercept, standardise, z));
    CR_TRY(cri_predictor_new(cx, q->p, 0, fit));
    memcpy(fit->centre, z->centre, q->p * sizeof(double));
    memcpy(fit->scale, z->scale, q->p * sizeof(double));
    q->weight = z->weight, q->offset = z->offset, q->tt = z->tt;
    memcpy(t, z->t, q->n * sizeof(double));
    CR_TRY(cri_sparse_terms_outer(cx, z, K));
done:
    return st;
}

cr_status cri_dual_new(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                       bool standardise, cri_predictor *fit, cri_dual *out)
{
    cr_status st = CR_OK;
    size_t    n = rows->n;
    double   *K = cr_scratch_matrix(s, n, n), *t = cr_scratch_f64(s, n);
    cri_dual  q = { .n = n,
                    .p = rows->p,
                    .d = cr_scratch_f64(s, n),
                    .c = cr_scratch_f64(s, n),
                    .U = cr_scratch_matrix(s, n, n),
                    .sparse = cri_rows_are_sparse(rows) };

    CR_TRY(s->status);
    CR_TRY(q.sparse ? measure_sparse(cx, s, rows, intercept, standardise, fit, t, K, &q)
                    : measure_dense(cx, rows, intercept, standardise, fit, t, K, &q));
    CR_TRY(cr_eigen(cx, cr_cmat_of(K, n, n), q.d, cr_mat_of(q.U, n, n)));
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(q.U, n, n), CR_TRANSPOSED, t, 0, q.c));
    double rounding = n ? 0x1p-50 * (double)n * q.d[n - 1] : 0;
    for (size_t k = 0; k < n; k++) {
        if (q.d[k] > rounding) continue;
        q.d[k] = 0;
        q.left += q.c[k] * q.c[k];
    }
    *out = q;
done:
    return st;
}

/* --- the posterior --------------------------------------------------------------------------- */

/* out [n x n] = U inner^-T: its columns are those of the rows of inner^-1 U'. */
static cr_status divide_by_inner(cr_ctx *cx, const cri_dual *q, double *workspace, double *out)
{
    size_t n = q->n;
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++) workspace[k * n + j] = q->U[j * n + k];
    cr_status st = cr_chol_forward(cx, cr_cmat_of(q->inner, n, n), cr_mat_of(workspace, n, n));
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++) out[j * n + k] = workspace[k * n + j];
    return st;
}

/* L [n x n], lower, L L' = U diag(d + lambda) U'. */
static cr_status factor(cr_ctx *cx, const cri_dual *q, double lambda, double *L)
{
    enum { BLOCK = 32 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = q->n;
    double    *tau = cr_scratch_f64(&s, n), *work = cr_scratch_f64(&s, n * BLOCK);
    double    *workspace = q->inner ? cr_scratch_matrix(&s, n, n) : NULL;

    CR_TRY(s.status);
    if (q->inner) CR_TRY(divide_by_inner(cx, q, workspace, L));
    for (size_t j = 0; !q->inner && j < n; j++) /* the rows of L are the columns of LAPACK's R */
        for (size_t k = 0; k < n; k++) L[j * n + k] = sqrt(q->d[k] + lambda) * q->U[j * n + k];
    cri_blas_enter();
    cri_dgeqrf((int)n, (int)n, L, (int)n, tau, work, (int)(n * BLOCK));
    cri_blas_leave();
    for (size_t i = 0; i < n; i++) tau[i] = L[i * n + i] < 0 ? -1 : 1;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) L[j * n + i] *= i <= j ? tau[i] : 0;
done:
    cr_scratch_end(&s);
    return st;
}

/* v [n] = U diag(1 / (d + lambda)) c, over the directions that the rows tell of. */
static cr_status solve_rows(cr_ctx *cx, const cri_dual *q, double lambda, double *workspace,
                            double *v)
{
    for (size_t k = 0; k < q->n; k++)
        workspace[k] = !(q->d[k] > 0) ? 0 : q->mean ? q->mean[k] : q->c[k] / (q->d[k] + lambda);
    return cr_gemv(cx, 1, cr_cmat_of(q->U, q->n, q->n), CR_PLAIN, workspace, 0, v);
}

cr_status cri_dual_solve(cr_ctx *cx, const cri_dual *q, double lambda, cri_predictor *fit,
                         cri_kept_rows *out_kept)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = q->n, p = q->p;
    double    *a = cr_scratch_f64(&s, n), *b = cr_scratch_f64(&s, p),
           *workspace = cr_scratch_f64(&s, n);
    double *L = cr_scratch_matrix(&s, n, n);

    CR_TRY(s.status);
    CR_TRY(solve_rows(cx, q, lambda, workspace, a));
    CR_TRY(factor(cx, q, lambda, L));
    if (q->sparse) {
        CR_TRY(cri_sparse_terms_transpose(cx, &q->z, a, workspace, b));
        CR_TRY(cri_kept_rows_new(cx, &q->z, L, lambda, out_kept));
    } else {
        CR_TRY(cr_gemv(cx, 1, cr_cmat_of(fit->factor, n, p), CR_TRANSPOSED, a, 0, b));
        CR_TRY(cr_chol_forward(cx, cr_cmat_of(L, n, n), cr_mat_of(fit->factor, n, p)));
        fit->plain = 1 / lambda;
        fit->sign = -1 / lambda;
    }
    cri_predictor_set_coef(fit, b, q->offset);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- sds of the coefficients of sparse rows -------------------------------------------------- */

typedef struct sd_work {
    const cri_sparse_terms *z;
    const cri_sparse       *columns; /* X' */
    const double           *M;       /* sqrt(w) (Z Z' + l I)^-1 sqrt(w) [n x n] */
    double                  lambda;
    cri_predictor          *fit;
} sd_work;

enum { COLUMNS = 256 };

/* z_j' (Z Z' + l I)^-1 z_j by the entries of the column: the centre is along sqrt(w), where M is 0.
 */
static void set_column_sds(void *arg, size_t block)
{
    const sd_work *w = arg;
    size_t         n = w->z->n;
    cri_range      range = cri_block_range(w->z->p, COLUMNS, block);
    for (size_t j = range.begin; j < range.end; j++) {
        double scale = w->z->scale[j], told = 0;
        size_t end, begin = cri_sparse_row(w->columns, j, &end);
        for (size_t e = begin; e < end; e++) {
            const double *row = w->M + w->columns->column[e] * n;
            double        sum = 0;
            for (size_t f = begin; f < end; f++)
                sum += row[w->columns->column[f]] * w->columns->value[f];
            told += sum * w->columns->value[e];
        }
        told = w->z->square[j] > 0 ? told / (scale * scale) : 0;
        w->fit->coef_sd[j] = w->fit->sigma * sqrt(fmax(1 - told, 0) / w->lambda) / scale;
    }
}

/* M over the directions that the rows tell of, in which all columns of Z lie: with an intercept
 * sqrt(w) is not one of them, and would bring 1 / l. */
static cr_status set_inner(cr_ctx *cx, const cri_dual *q, double lambda, double *workspace,
                           double *M)
{
    size_t n = q->n;
    if (q->inner) {
        cr_status st = cr_gemm(cx, 1, cr_cmat_of(q->U, n, n), CR_PLAIN, cr_cmat_of(q->inner, n, n),
                               CR_PLAIN, 0, cr_mat_of(workspace, n, n));
        if (st != CR_OK) return st;
    }
    for (size_t i = 0; i < n; i++) {
        double root = q->z.root ? q->z.root[i] : 1;
        for (size_t k = 0; k < n; k++) {
            double x = q->inner ? workspace[i * n + k] : q->U[i * n + k] / sqrt(q->d[k] + lambda);
            workspace[i * n + k] = q->d[k] > 0 ? root * x : 0;
        }
    }
    return cr_syrk(cx, 1, cr_cmat_of(workspace, n, n), CR_PLAIN, 0, cr_mat_of(M, n, n));
}

cr_status cri_dual_set_sds(cr_ctx *cx, const cri_dual *q, const cri_kept_rows *kept,
                           cri_predictor *fit)
{
    if (!q->sparse) {
        cri_predictor_set_sds(fit);
        return CR_OK;
    }
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = q->n;
    double         *M = cr_scratch_matrix(&s, n, n), *workspace = cr_scratch_matrix(&s, n, n);
    cri_sparse_copy columns = { 0 };
    sd_work         w = { .z = &q->z, .M = M, .lambda = kept->lambda, .fit = fit };

    CR_TRY(s.status);
    CR_TRY(set_inner(cx, q, kept->lambda, workspace, M));
    CR_TRY(cri_sparse_transpose(cx, q->z.X, &columns));
    w.columns = &columns.view;
    CR_TRY(cri_parallel_for(cx, "standard deviations", cri_block_count(q->p, COLUMNS),
                            set_column_sds, &w));
    CR_TRY(cri_kept_rows_set_intercept_sd(cx, kept, fit));
done:
    cri_sparse_free(cx, &columns);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_dual_predict(cr_ctx *cx, const cri_predictor *fit, const cri_kept_rows *kept,
                           const cri_rows *rows, cr_prediction *out)
{
    cr_prediction means = *out;
    cr_status     st;
    if (kept->n == 0) return cri_predictor_predict(cx, fit, rows, out);
    means.scale = NULL;
    st = cri_predictor_predict(cx, fit, rows, &means);
    return st == CR_OK && out->scale ? cri_kept_rows_spread(cx, kept, fit, rows, out) : st;
}

cr_status cri_dual_mean_spread(cr_ctx *cx, const cri_predictor *fit, const cri_kept_rows *kept,
                               const cri_rows *rows, double *out_scale, double *out_dof)
{
    if (kept->n > 0) return CR_OK;
    return cri_predictor_mean_spread(cx, fit, rows, out_scale, out_dof);
}
