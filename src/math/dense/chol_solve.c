/* chol_solve.c -- what a Cholesky factor is for: solves, log-determinant, condition. */
#include "chol.h"
#include "chol_internal.h"
#include "base/parallel.h"
#include "lapack.h"
#include "base/scratch.h"

#include <cblas.h>
#include <math.h>

enum {
    WIDTH_MIN = 64, /* columns of B solved by one call, at least and at most */
    WIDTH_MAX = 512,
    SMALL = 1 << 21 /* n^2 k up to which one call does all columns           */
};

typedef struct solve_work {
    cr_cmat L;
    cr_mat  B;
    size_t  width;
    bool    forward, backward;
} solve_work;

static void solve(cr_cmat L, bool transposed, cr_mat B)
{
    CBLAS_TRANSPOSE op = transposed ? CblasTrans : CblasNoTrans;
    if (B.cols == 1)
        cblas_dtrsv(CblasRowMajor, CblasLower, op, CblasNonUnit, (int)L.rows, L.a, (int)L.stride,
                    B.a, (int)B.stride);
    else
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, op, CblasNonUnit, (int)B.rows,
                    (int)B.cols, 1, L.a, (int)L.stride, B.a, (int)B.stride);
}

static void solve_columns(void *arg, size_t b)
{
    const solve_work *w = arg;
    cri_range         c = cri_block_range(w->B.cols, w->width, b);
    cr_mat            part = cr_mat_part(w->B, 0, c.begin, w->B.rows, c.end - c.begin);
    if (w->forward) solve(w->L, false, part);
    if (w->backward) solve(w->L, true, part);
}

/* The columns of a block, by the shape of B alone. */
static size_t block_width(size_t n, size_t k)
{
    if ((double)n * (double)n * (double)k <= SMALL) return k;
    size_t width = cri_block_count(cri_block_count(k, 8), 16) * 16;
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static cr_status run(cr_ctx *cx, const char *who, solve_work *w)
{
    cr_status st = CR_OK;
    cri_blas_enter();
    CR_TRY(cri_chol_check(cx, who, w->L, cr_const(w->B)));
    if (w->B.rows == 0 || w->B.cols == 0) goto done;
    w->width = block_width(w->B.rows, w->B.cols);
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(w->B.cols, w->width), solve_columns, w));
done:
    cri_blas_leave();
    return st;
}

cr_status cr_chol_forward(cr_ctx *cx, cr_cmat L, cr_mat B)
{
    return run(cx, "chol forward", &(solve_work){ .L = L, .B = B, .forward = true });
}

cr_status cr_chol_backward(cr_ctx *cx, cr_cmat L, cr_mat B)
{
    return run(cx, "chol backward", &(solve_work){ .L = L, .B = B, .backward = true });
}

cr_status cr_chol_solve(cr_ctx *cx, cr_cmat L, cr_mat B)
{
    return run(cx, "chol solve",
               &(solve_work){ .L = L, .B = B, .forward = true, .backward = true });
}

double cr_chol_logdet(cr_cmat L)
{
    double sum = 0;
    for (size_t i = 0; i < L.rows; i++) sum += log(L.a[i * L.stride + i]);
    return 2 * sum;
}

cr_status cr_chol_rcond(cr_ctx *cx, cr_cmat L, double anorm, double *out_rcond)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *work = NULL, rcond = 1;
    int       *iwork = NULL;

    cri_blas_enter();
    CR_TRY(cri_chol_check(cx, "chol rcond", L, L));
    if (!(anorm >= 0) || isinf(anorm))
        CR_TRY(cr_fail(cx, CR_EARG, "chol rcond: the norm of the matrix is %g", anorm));
    work = cr_scratch_matrix(&s, L.rows, 3);
    iwork = cr_scratch_bytes(&s, L.rows, sizeof *iwork);
    CR_TRY(s.status);
    if (L.rows > 0) cri_dpocon('U', (int)L.rows, L.a, (int)L.stride, anorm, &rcond, work, iwork);
    *out_rcond = rcond;
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}
