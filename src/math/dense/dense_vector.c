/* dense_vector.c -- products with vectors, in fixed blocks. */
#include "dense.h"
#include "blas_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    SMALL = 1 << 16,  /* elements of A that one call goes through at once         */
    BLOCK = 1 << 14,  /* elements of A in a block of rows, about                  */
    WIDE = 2048,      /* columns from which a transposed product is cut by them   */
    COLUMNS = 512,    /* ... into blocks of this many                             */
    DOT_BLOCK = 4096, /* numbers that BLAS adds up in one call                    */
    DOT_SHORT = 32    /* ... and so few that a plain loop is quicker              */
};

typedef struct mv { /* y = alpha op(A) x + beta y */
    double        alpha, beta;
    cr_cmat       A;
    const double *x;
    double       *y;
    size_t        block;
} mv;

static void call(const mv *w, CBLAS_TRANSPOSE op, cr_cmat A, const double *x, double beta,
                 double *y)
{
    size_t length = op == CblasTrans ? A.cols : A.rows;
    if (beta == 0) memset(y, 0, length * sizeof *y); /* NaN must go, whatever BLAS makes of it */
    cblas_dgemv(CblasRowMajor, op, (int)A.rows, (int)A.cols, w->alpha, A.a,
                cri_blas_stride(A.stride), x, 1, beta, y, 1);
}

static void multiply_rows(void *arg, size_t b)
{
    const mv *w = arg;
    cri_range r = cri_block_range(w->A.rows, w->block, b);
    call(w, CblasNoTrans, cr_cmat_part(w->A, r.begin, 0, r.end - r.begin, w->A.cols), w->x, w->beta,
         w->y + r.begin);
}

static void multiply_columns(void *arg, size_t b)
{
    const mv *w = arg;
    cri_range c = cri_block_range(w->A.cols, COLUMNS, b);
    call(w, CblasTrans, cr_cmat_part(w->A, 0, c.begin, w->A.rows, c.end - c.begin), w->x, w->beta,
         w->y + c.begin);
}

static void add_rows(void *arg, cri_range r, double *acc)
{
    const mv *w = arg;
    call(w, CblasTrans, cr_cmat_part(w->A, r.begin, 0, r.end - r.begin, w->A.cols), w->x + r.begin,
         1, acc);
}

/* y = alpha A^T x + beta y for a tall A: partial sums over blocks of rows. */
static cr_status sum_rows(cr_ctx *cx, mv *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *sum = cr_scratch_f64(&s, w->A.cols);

    CR_TRY(s.status);
    CR_TRY(cri_parallel_sum(cx, NULL, w->A.rows, w->block, w->A.cols, add_rows, w, sum));
    for (size_t j = 0; j < w->A.cols; j++)
        w->y[j] = w->beta == 0 ? sum[j] : sum[j] + w->beta * w->y[j];
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_gemv(cr_ctx *cx, double alpha, cr_cmat A, cr_transpose op, const double *x,
                  double beta, double *y)
{
    cr_status st = CR_OK;
    mv        w = { alpha, beta, A, x, y, 0 };
    bool      transposed = op == CR_TRANSPOSED;
    size_t    length = transposed ? A.cols : A.rows;

    cri_blas_enter();
    CR_TRY(cri_blas_check(cx, "gemv", A));
    if (A.rows == 0 || A.cols == 0 || alpha == 0) {
        for (size_t i = 0; i < length; i++) y[i] = beta == 0 ? 0 : beta * y[i];
        goto done;
    }
    w.block = BLOCK / A.cols + 8;
    if (A.rows <= SMALL / A.cols) {
        call(&w, transposed ? CblasTrans : CblasNoTrans, A, x, beta, y);
    } else if (!transposed) {
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(A.rows, w.block), multiply_rows, &w));
    } else if (A.cols >= WIDE) {
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(A.cols, COLUMNS), multiply_columns, &w));
    } else {
        CR_TRY(sum_rows(cx, &w));
    }
done:
    cri_blas_leave();
    return st;
}

double cr_dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    if (n <= DOT_SHORT) {
        for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
        return sum;
    }
    cri_blas_enter();
    for (size_t b = 0; b < cri_block_count(n, DOT_BLOCK); b++) {
        cri_range r = cri_block_range(n, DOT_BLOCK, b);
        sum += cblas_ddot((int)(r.end - r.begin), x + r.begin, 1, y + r.begin, 1);
    }
    cri_blas_leave();
    return sum;
}

/* |x| for numbers whose squares overflow or vanish: scaled by a power of two, which is exact. */
static double scaled_norm2(const double *x, size_t n)
{
    double most = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        double a = fabs(x[i]);
        if (isnan(a)) return a;
        if (a > most) most = a;
    }
    if (most == 0 || isinf(most)) return most;
    int exponent;
    frexp(most, &exponent);
    for (size_t b = 0; b < cri_block_count(n, DOT_BLOCK); b++) {
        cri_range r = cri_block_range(n, DOT_BLOCK, b);
        double    part = 0;
        for (size_t i = r.begin; i < r.end; i++) {
            double a = ldexp(x[i], -exponent);
            part += a * a;
        }
        sum += part;
    }
    return ldexp(sqrt(sum), exponent);
}

double cr_norm2(const double *x, size_t n)
{
    double square = cr_dot(x, x, n);
    /* Between these bounds no square that matters was lost to under- or overflow. */
    return square > 1e-280 && square < 1e300 ? sqrt(square) : scaled_norm2(x, n);
}
