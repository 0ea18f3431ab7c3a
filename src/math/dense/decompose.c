/* decompose.c -- symmetric eigenvalues and singular values, with signs fixed. */
#include "decompose.h"
#include "decompose_internal.h"
#include "lapack.h"
#include "dense_internal.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* --- checks ---------------------------------------------------------------------------------- */

cr_status cri_decompose_check(cr_ctx *cx, const char *who, cr_cmat A, bool lower)
{
    cr_status st = CR_OK;
    size_t    i, j;
    CR_TRY(cri_blas_check(cx, who, A));
    if (cri_find_non_finite(A, lower, &i, &j))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the entry in row %zu, column %zu is %g", who, i + 1,
                       j + 1, A.a[i * A.stride + j]));
    CR_TRY(cr_check_interrupt(cx));
done:
    return st;
}

/* The result `name` of `who` has this shape; else CR_EARG. */
static cr_status decompose_shape(cr_ctx *cx, const char *who, const char *name, cr_mat out,
                                 size_t rows, size_t cols)
{
    cr_status st = CR_OK;
    CR_TRY(cri_blas_check(cx, who, cr_const(out)));
    if (out.rows != rows || out.cols != cols)
        CR_TRY(cr_fail(cx, CR_EARG, "%s: %s is %zu x %zu, but must be %zu x %zu", who, name,
                       out.rows, out.cols, rows, cols));
done:
    return st;
}

cr_status cri_decompose_work(cr_ctx *cx, const char *who, cr_scratch *s, double size,
                             double **out_work)
{
    if (!(size >= 1 && size < (double)INT_MAX))
        return cr_fail(cx, CR_EUNSUPPORTED, "%s: the matrix is too large for LAPACK", who);
    *out_work = cr_scratch_f64(s, (size_t)size);
    return s->status;
}

/* --- signs ----------------------------------------------------------------------------------- */

/* -1 when the largest entry of v [n], the first of several, is negative; else 1. */
static double sign_of(const double *v, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(v[i]) > fabs(v[best])) best = i;
    return n > 0 && v[best] < 0 ? -1 : 1;
}

static void scale(double *v, size_t n, double by)
{
    for (size_t i = 0; by != 1 && i < n; i++) v[i] *= by;
}

/* --- eigenvalues ----------------------------------------------------------------------------- */

cr_status cr_eigen(cr_ctx *cx, cr_cmat A, double *out_w, cr_mat out_V)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = A.rows;
    double    *T = NULL, *Z = NULL, *w = NULL;

    cri_blas_enter();
    CR_TRY(cri_decompose_check(cx, "eigen", A, true));
    if (A.cols != n)
        CR_TRY(cr_fail(cx, CR_EARG, "eigen: the matrix is %zu x %zu, not square", n, A.cols));
    CR_TRY(decompose_shape(cx, "eigen", "V", out_V, n, n));
    if (n == 0) goto done;
    T = cr_scratch_matrix(&s, n, n);
    Z = cr_scratch_matrix(&s, n, n);
    w = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) memcpy(T + i * n, A.a + i * A.stride, (i + 1) * sizeof(double));
    CR_TRY(cri_eigen_lower(cx, n, T, w, Z));
    for (size_t j = 0; j < n; j++) scale(Z + j * n, n, sign_of(Z + j * n, n));
    memcpy(out_w, w, n * sizeof *w);
    cri_transpose(cr_cmat_of(Z, n, n), out_V);
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}

/* --- singular values ------------------------------------------------------------------------- */

typedef struct svd_parts { /* of A [m x n], k = min(m, n) */
    size_t  m, n, k;
    double *A;  /* row-major copy: to LAPACK it is A^T [n x m] = V diag(s) U^T, so that       */
    double *Vt; /* its left vectors are columns, rows of Vt [k x n] here, and its right ones, */
    double *U;  /* transposed to it, are U [m x k] in our order                               */
    double *s;  /* [k]                                                                        */
} svd_parts;

static cr_status run_gesdd(cr_ctx *cx, cr_scratch *s, svd_parts *p)
{
    cr_status st = CR_OK;
    int       m = (int)p->m, n = (int)p->n, k = (int)p->k;
    double    size = 0, *work = NULL;
    int      *iwork = cr_scratch_bytes(s, 8 * p->k, sizeof *iwork);
    CR_TRY(s->status);
    cri_dgesdd('S', n, m, p->A, n, p->s, p->Vt, n, p->U, k, &size, -1, iwork);
    CR_TRY(cri_decompose_work(cx, "svd", s, size, &work));
    if (cri_dgesdd('S', n, m, p->A, n, p->s, p->Vt, n, p->U, k, work, (int)size, iwork) != 0)
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "svd: the iteration did not converge"));
done:
    return st;
}

/* Makes the largest entry of each right vector positive and turns the left one with it. */
static void fix_signs(svd_parts *p)
{
    for (size_t j = 0; j < p->k; j++) {
        double sign = sign_of(p->Vt + j * p->n, p->n);
        scale(p->Vt + j * p->n, p->n, sign);
        for (size_t i = 0; sign < 0 && i < p->m; i++) p->U[i * p->k + j] *= -1;
    }
}

cr_status cr_svd(cr_ctx *cx, cr_cmat A, cr_mat out_U, double *out_s, cr_mat out_V)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    svd_parts  p = { .m = A.rows, .n = A.cols, .k = A.rows < A.cols ? A.rows : A.cols };

    cri_blas_enter();
    CR_TRY(cri_decompose_check(cx, "svd", A, false));
    CR_TRY(decompose_shape(cx, "svd", "U", out_U, p.m, p.k));
    CR_TRY(decompose_shape(cx, "svd", "V", out_V, p.n, p.k));
    if (p.k == 0) goto done;
    p.A = cr_scratch_matrix(&s, p.m, p.n);
    p.Vt = cr_scratch_matrix(&s, p.k, p.n);
    p.U = cr_scratch_matrix(&s, p.m, p.k);
    p.s = cr_scratch_f64(&s, p.k);
    CR_TRY(s.status);
    for (size_t i = 0; i < p.m; i++)
        memcpy(p.A + i * p.n, A.a + i * A.stride, p.n * sizeof(double));
    CR_TRY(run_gesdd(cx, &s, &p));
    fix_signs(&p);
    memcpy(out_s, p.s, p.k * sizeof *p.s);
    cri_transpose(cr_cmat_of(p.Vt, p.k, p.n), out_V);
    for (size_t i = 0; i < p.m; i++)
        memcpy(out_U.a + i * out_U.stride, p.U + i * p.k, p.k * sizeof(double));
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}
