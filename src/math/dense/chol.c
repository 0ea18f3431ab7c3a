/* chol.c -- tiled right-looking Cholesky, and the same with a growing jitter.
 * For each column k of tiles: A_kk = L_kk L_kk^T; L_ik = A_ik L_kk^-T below it; then
 * A_ij -= L_ik L_jk^T for all tiles to the right.  (Buttari, Langou, Kurzak & Dongarra 2009.) */
#include "chol.h"
#include "chol_internal.h"
#include "dense_internal.h"
#include "lapack.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <cblas.h>
#include <math.h>

enum { MOST_ATTEMPTS = 9, RESTORE_ROWS = 64 };

typedef struct factoring {
    cri_tiles t;
    size_t    pivot; /* the first that is not a positive number; n when all are good */
} factoring;

/* Factors a tile on the diagonal.  Returns the first pivot that is not a positive number, or the
 * number of rows.  The row-major lower triangle is the upper one in LAPACK's order of columns. */
static size_t factor_tile(cr_mat T)
{
    int    info = cri_dpotrf('U', (int)T.rows, T.a, cri_blas_stride(T.stride));
    size_t good = info > 0 ? (size_t)info - 1 : T.rows;
    for (size_t i = 0; i < good; i++) { /* OpenBLAS lets NaN pass */
        double d = T.a[i * T.stride + i];
        if (!(d > 0) || isinf(d)) return i;
    }
    return good;
}

/* T := T L^-T, L the factor on the diagonal of the same column of tiles. */
static void solve_tile(cr_cmat L, cr_mat T)
{
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)T.rows,
                (int)T.cols, 1, L.a, (int)L.stride, T.a, (int)T.stride);
}

/* T -= P Q^T; of a tile on the diagonal (P = Q) the lower triangle. */
static void update_tile(cr_cmat P, cr_cmat Q, cr_mat T)
{
    if (P.a == Q.a)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)T.rows, (int)P.cols, -1, P.a,
                    (int)P.stride, 1, T.a, (int)T.stride);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)T.rows, (int)T.cols, (int)P.cols,
                    -1, P.a, (int)P.stride, Q.a, (int)Q.stride, 1, T.a, (int)T.stride);
}

static void factor_task(void *arg, size_t k, size_t unused, size_t unused_too)
{
    factoring *f = arg;
    (void)unused, (void)unused_too;
    if (cri_tiles_stopped(&f->t)) return;
    cr_mat T = cri_tile(&f->t, k, k);
    size_t good = factor_tile(T);
    if (good == T.rows) return;
    f->pivot = k * f->t.edge + good; /* only one task gets here: later ones depend on it */
    atomic_store(&f->t.stop, true);
}

static void solve_task(void *arg, size_t i, size_t unused, size_t k)
{
    cri_tiles *t = &((factoring *)arg)->t;
    (void)unused;
    if (!cri_tiles_stopped(t)) solve_tile(cr_const(cri_tile(t, k, k)), cri_tile(t, i, k));
}

static void update_task(void *arg, size_t i, size_t j, size_t k)
{
    cri_tiles *t = &((factoring *)arg)->t;
    if (cri_tiles_stopped(t)) return;
    update_tile(cr_const(cri_tile(t, i, k)), cr_const(cri_tile(t, j, k)), cri_tile(t, i, j));
}

static void list_tasks(cri_tiles *t)
{
    size_t c = t->count;
    for (size_t k = 0; k < c; k++) {
        size_t kk = k * c + k;
        cri_tasks_add(&t->tasks, factor_task, k, 0, 0, kk, CRI_NO_ITEM, CRI_NO_ITEM);
        for (size_t i = k + 1; i < c; i++)
            cri_tasks_add(&t->tasks, solve_task, i, 0, k, i * c + k, kk, CRI_NO_ITEM);
        for (size_t j = k + 1; j < c; j++)
            for (size_t i = j; i < c; i++)
                cri_tasks_add(&t->tasks, update_task, i, j, k, i * c + j, i * c + k, j * c + k);
    }
}

/* Factors A in place.  *pivot = the first that is not a positive number, n when all are good; its
 * value is then on the diagonal of A.  Fails only when interrupted or out of memory. */
static cr_status factor(cr_ctx *cx, cr_mat A, size_t *pivot)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    factoring  f = { .t = { .cx = cx, .A = A, .edge = cri_tile_edge(A.rows) }, .pivot = A.rows };
    size_t     c = f.t.count = cri_block_count(A.rows, f.t.edge);

    cri_blas_enter();
    CR_TRY(cr_check_interrupt(cx));
    if (A.rows <= CRI_CHOL_SMALL) {
        f.pivot = A.rows ? factor_tile(A) : 0;
        goto done;
    }
    f.t.tasks = cri_tasks_new(&s, c * c, c * (c + 1) * (c + 2) / 6);
    CR_TRY(s.status);
    list_tasks(&f.t);
    cri_tasks_run(&f.t.tasks, &f);
    if (atomic_load(&f.t.stop) && f.pivot == A.rows) CR_TRY(cri_tiles_interrupted(cx));
done:
    *pivot = f.pivot;
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}

cr_status cri_chol_check(cr_ctx *cx, const char *who, cr_cmat L, cr_cmat B)
{
    cr_status st = CR_OK;
    CR_TRY(cri_blas_check(cx, who, L));
    CR_TRY(cri_blas_check(cx, who, B));
    if (L.rows != L.cols)
        CR_TRY(cr_fail(cx, CR_EARG, "%s: %zu x %zu is not square", who, L.rows, L.cols));
    if (B.rows != L.rows)
        CR_TRY(cr_fail(cx, CR_EARG, "%s: the factor has %zu rows, the other matrix %zu", who,
                       L.rows, B.rows));
done:
    return st;
}

static cr_status not_positive(cr_ctx *cx, cr_cmat A, size_t pivot)
{
    double value = A.a[pivot * A.stride + pivot];
    if (!isfinite(value))
        return cr_fail(cx, CR_ENUMERIC,
                       "chol: pivot %zu of %zu is not finite: the matrix has an entry that is not "
                       "finite, or overflows",
                       pivot + 1, A.rows);
    cr_fail(cx, CR_ENUMERIC, "chol: the matrix is not positive definite: pivot %zu of %zu is %g",
            pivot + 1, A.rows, value);
    return cr_fail_hint(cx,
                        "look for repeated rows, or add to the diagonal (noise, ridge, jitter)");
}

cr_status cr_chol(cr_ctx *cx, cr_mat A)
{
    cr_status st = CR_OK;
    size_t    pivot;
    CR_TRY(cri_chol_check(cx, "chol", cr_const(A), cr_const(A)));
    CR_TRY(factor(cx, A, &pivot));
    if (pivot < A.rows) CR_TRY(not_positive(cx, cr_const(A), pivot));
done:
    return st;
}

/* --- jitter ---------------------------------------------------------------------------------- */

typedef struct original {
    cr_mat        A;        /* its upper triangle holds the entries off the diagonal */
    const double *diagonal; /* [n]                                                   */
    double        added;
} original;

static void restore_rows(void *arg, size_t b)
{
    const original *o = arg;
    cri_range       rows = cri_block_range(o->A.rows, RESTORE_ROWS, b);
    cri_mirror_upper(o->A, rows, (cri_range){ 0, rows.end });
    for (size_t i = rows.begin; i < rows.end; i++)
        o->A.a[i * o->A.stride + i] = o->diagonal[i] + o->added;
}

/* A as it was, plus o->added on the diagonal.  Not to be interrupted: nothing may be lost. */
static void restore(original *o)
{
    for (size_t b = 0; b < cri_block_count(o->A.rows, RESTORE_ROWS); b++) restore_rows(o, b);
}

/* Tries one jitter after the other; *out is filled on success only. */
static cr_status escalate(cr_ctx *cx, original *o, double mean, cr_jitter *out)
{
    cr_status st = CR_OK;
    size_t    n = o->A.rows, pivot = 0;
    for (unsigned attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
        if (attempt > 1) {
            o->added = attempt == 2 ? 1e-12 * mean : 10 * o->added;
            restore(o);
        }
        CR_TRY(factor(cx, o->A, &pivot));
        if (pivot == n) {
            *out = (cr_jitter){ o->added, attempt };
            return CR_OK;
        }
        bool helps = mean > 0 && isfinite(mean) && isfinite(o->A.a[pivot * o->A.stride + pivot]);
        if (!helps) return not_positive(cx, cr_const(o->A), pivot);
    }
    cr_fail(cx, CR_ENUMERIC,
            "chol: the matrix is not positive definite, even with %g added to its diagonal: pivot "
            "%zu of %zu is %g",
            o->added, pivot + 1, n, o->A.a[pivot * o->A.stride + pivot]);
    st = cr_fail_hint(cx, "is it a covariance matrix? its entries may be inconsistent");
done:
    return st;
}

cr_status cr_chol_jitter(cr_ctx *cx, cr_mat A, cr_jitter *out_jitter)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *diagonal = NULL, mean = 0;
    original   o = { A, NULL, 0 };

    CR_TRY(cri_chol_check(cx, "chol", cr_const(A), cr_const(A)));
    o.diagonal = diagonal = cr_scratch_f64(&s, A.rows);
    CR_TRY(s.status);
    for (size_t i = 0; i < A.rows; i++) {
        diagonal[i] = A.a[i * A.stride + i];
        mean += diagonal[i] / (double)A.rows;
    }
    st = escalate(cx, &o, mean, out_jitter);
    if (st != CR_OK) {
        o.added = 0;
        restore(&o);
    } else if (out_jitter->added > 0) {
        cr_log(cx, CR_LOG_WARNING,
               "a matrix was not positive definite: %g was added to its diagonal (attempt %u)",
               out_jitter->added, out_jitter->attempts);
    }
done:
    cr_scratch_end(&s);
    return st;
}
