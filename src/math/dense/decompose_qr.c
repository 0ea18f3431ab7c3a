/* decompose_qr.c -- Householder QR with column pivoting and what it solves. */
#include "decompose.h"
#include "decompose_internal.h"
#include "lapack.h"
#include "dense_internal.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_PANEL = 32 };
static const double AT_ONCE = 1e8; /* m n k of what one call of LAPACK may do */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Leading diagonal entries of R that stand out from rounding. */
static size_t count_rank(const cr_qr *qr, double tolerance)
{
    size_t k = least(qr->m, qr->n), rank = 0;
    if (tolerance < 0) tolerance = (double)(qr->m > qr->n ? qr->m : qr->n) * DBL_EPSILON;
    while (rank < k && fabs(qr->factors[rank * qr->m + rank]) > tolerance * fabs(qr->factors[0]))
        rank++;
    return rank;
}

/* The same factors panel by panel, as dgeqp3 has them, but looking before each whether it is to
 * stop.  The panels are such as take some hundredths of a second; in `column` pivot counts from 1.
 */
static cr_status run_panels(cr_ctx *cx, cr_qr *qr, int *column)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    int        m = (int)qr->m, n = (int)qr->n, k = (int)least(qr->m, qr->n), done_now = 0;
    int        width = (int)fmin(MOST_PANEL, fmax(1, 2e7 / ((double)m * n)));
    double    *left = cr_scratch_f64(&s, qr->n), *norm = cr_scratch_f64(&s, qr->n);
    double    *F = cr_scratch_matrix(&s, qr->n, MOST_PANEL), workspace[MOST_PANEL];

    CR_TRY(s.status);
    for (int j = 0; j < n; j++) {
        column[j] = j + 1;
        left[j] = norm[j] = cblas_dnrm2(m, qr->factors + (size_t)j * qr->m, 1);
    }
    for (int j = 0; j < k; j += done_now) {
        int rest = n - j, now = k - j < width ? k - j : width;
        CR_TRY(cr_check_interrupt(cx));
        dlaqps_(&m, &rest, &j, &now, &done_now, qr->factors + (size_t)j * qr->m, &m, column + j,
                qr->tau + j, left + j, norm + j, workspace, F, &rest);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* QR of qr->factors in place; fills tau and pivot. */
static cr_status run_geqp3(cr_ctx *cx, cr_qr *qr)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    int        m = (int)qr->m, n = (int)qr->n;
    double     size = 0, *work = NULL;
    int       *column = cr_scratch_bytes(&s, qr->n, sizeof *column); /* 0: free to move */

    CR_TRY(s.status);
    if ((double)m * n * (double)least(qr->m, qr->n) > AT_ONCE) {
        CR_TRY(run_panels(cx, qr, column));
    } else {
        cri_dgeqp3(m, n, qr->factors, m, column, qr->tau, &size, -1);
        CR_TRY(cri_decompose_work(cx, "qr", &s, size, &work));
        cri_dgeqp3(m, n, qr->factors, m, column, qr->tau, work, (int)size);
    }
    for (size_t j = 0; j < qr->n; j++) qr->pivot[j] = (size_t)column[j] - 1;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_qr_new(cr_ctx *cx, cr_cmat A, double tolerance, cr_qr *out_qr)
{
    cr_status st = CR_OK;
    cr_qr     qr = { .m = A.rows, .n = A.cols };
    size_t    k = least(A.rows, A.cols);

    cri_blas_enter();
    CR_TRY(cri_decompose_check(cx, "qr", A, false));
    if (isnan(tolerance)) CR_TRY(cr_fail(cx, CR_EARG, "qr: the tolerance is not a number"));
    qr.factors = cr_resize(cx, NULL, 0, A.rows * A.cols, sizeof *qr.factors);
    qr.tau = qr.factors ? cr_alloc(cx, k, sizeof *qr.tau) : NULL;
    qr.pivot = qr.tau ? cr_alloc(cx, A.cols, sizeof *qr.pivot) : NULL;
    if (!qr.pivot) CR_TRY(cr_error_status(cx));
    cri_transpose(A, cr_mat_of(qr.factors, A.cols, A.rows));
    for (size_t j = 0; j < A.cols; j++) qr.pivot[j] = j;
    if (k > 0) CR_TRY(run_geqp3(cx, &qr));
    qr.rank = count_rank(&qr, tolerance);
    *out_qr = qr;
done:
    if (st != CR_OK) cr_qr_free(cx, &qr);
    cri_blas_leave();
    return st;
}

void cr_qr_free(cr_ctx *cx, cr_qr *qr)
{
    if (!qr) return;
    cr_free(cx, qr->factors, qr->m * qr->n, sizeof *qr->factors);
    cr_free(cx, qr->tau, least(qr->m, qr->n), sizeof *qr->tau);
    cr_free(cx, qr->pivot, qr->n, sizeof *qr->pivot);
    *qr = (cr_qr){ 0 };
}

/* b := (I - tau v v^T) b with v = (0 .. 0, 1, what is below R_jj).  LAPACK's dormqr would write
 * into the factors for a moment; this leaves them const, so that threads may share them. */
static void reflect(const cr_qr *qr, size_t j, double *b)
{
    int           below = (int)(qr->m - j - 1);
    const double *v = qr->factors + j * qr->m + j + 1;
    double        by = -qr->tau[j] * (b[j] + cblas_ddot(below, v, 1, b + j + 1, 1));
    b[j] += by;
    cblas_daxpy(below, by, v, 1, b + j + 1, 1);
}

cr_status cr_qr_apply(cr_ctx *cx, const cr_qr *qr, bool transpose, double *b)
{
    cr_status st = CR_OK;
    size_t    k = least(qr->m, qr->n);
    cri_blas_enter();
    for (size_t j = 0; j < k; j++) {
        if (j % 16 == 0) CR_TRY(cr_check_interrupt(cx));
        reflect(qr, transpose ? j : k - 1 - j, b);
    }
done:
    cri_blas_leave();
    return st;
}

void cr_qr_solve_r(const cr_qr *qr, bool transpose, double *b)
{
    if (qr->rank == 0) return;
    cri_blas_enter();
    cblas_dtrsv(CblasColMajor, CblasUpper, transpose ? CblasTrans : CblasNoTrans, CblasNonUnit,
                (int)qr->rank, qr->factors, (int)qr->m, b, 1);
    cri_blas_leave();
}

cr_status cr_qr_rcond(cr_ctx *cx, const cr_qr *qr, double *out_rcond)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *work = cr_scratch_matrix(&s, qr->rank, 3), rcond = 1;
    int       *iwork = cr_scratch_bytes(&s, qr->rank, sizeof *iwork);

    cri_blas_enter();
    CR_TRY(s.status);
    if (qr->rank > 0)
        cri_dtrcon('1', 'U', 'N', (int)qr->rank, qr->factors, (int)qr->m, &rcond, work, iwork);
    *out_rcond = rcond;
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}

cr_status cr_qr_condition(cr_ctx *cx, const cr_qr *qr, double *out_condition)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        r = qr->rank, m = qr->m;
    const double *R = qr->factors;
    double       *G = cr_scratch_bytes(&s, r, r * sizeof *G), norm = 0, rcond = 1;
    double       *work = cr_scratch_matrix(&s, r, 3);
    int          *iwork = cr_scratch_bytes(&s, r, sizeof *iwork);

    cri_blas_enter();
    CR_TRY(s.status);
    for (size_t j = 0; j < r; j++) memcpy(G + j * r, R + j * m, (j + 1) * sizeof *G);
    if (r > 0)
        cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)r, (int)r,
                    1, R, (int)m, G, (int)r);
    for (size_t j = 0; j < r; j++) {
        double sum = 0;
        for (size_t i = 0; i < r; i++) sum += fabs(G[j * r + i]);
        norm = fmax(norm, sum);
    }
    if (r > 0) cri_dpocon('U', (int)r, R, (int)m, norm, &rcond, work, iwork);
    *out_condition = 1 / sqrt(rcond);
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}
