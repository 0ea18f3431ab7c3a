/* chol_inverse.c -- A^-1 from the factor of A, in place over tiles.
 * First W = L^-1, tile column by tile column; then W^T W over it.  Both sweeps are one graph of
 * tasks, so the second starts while the first still runs.  2 n^3 / 3 multiplications.
 * Agullo, Bouwmeester, Dongarra, Kurzak, Langou & Rosenberg (2010), "Towards an efficient tile
 * matrix inversion of symmetric positive definite matrices", VECPAR. */
#include "chol.h"
#include "chol_internal.h"
#include "dense_internal.h"
#include "lapack.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <cblas.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 128 }; /* that a thread takes at a time */

/* T := a op(L)^-1 T, or T op(L)^-1; T := L^T T. */
static void divide(CBLAS_SIDE side, double a, cr_mat L, cr_mat T)
{
    cblas_dtrsm(CblasRowMajor, side, CblasLower, CblasNoTrans, CblasNonUnit, (int)T.rows,
                (int)T.cols, a, L.a, (int)L.stride, T.a, (int)T.stride);
}

static void times_transposed(cr_mat L, cr_mat T)
{
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)T.rows,
                (int)T.cols, 1, L.a, (int)L.stride, T.a, (int)T.stride);
}

/* T += op(P) Q. */
static void add_product(CBLAS_TRANSPOSE op, cr_mat P, cr_mat Q, cr_mat T)
{
    cblas_dgemm(CblasRowMajor, op, CblasNoTrans, (int)T.rows, (int)T.cols, (int)Q.rows, 1, P.a,
                (int)P.stride, Q.a, (int)Q.stride, 1, T.a, (int)T.stride);
}

/* T += P^T P, lower triangle. */
static void add_square(cr_mat P, cr_mat T)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)T.rows, (int)P.rows, 1, P.a,
                (int)P.stride, 1, T.a, (int)T.stride);
}

/* A tile on the diagonal: L^-1, or W^T W, in the lower triangle (LAPACK's upper).  Libraries
 * invert up to 128 rows column by column, at a tenth of the speed of products: so by halves. */
static void invert_tile(cr_mat T)
{
    enum { DIRECT = 32 };
    size_t n = T.rows, half = n / 2;
    if (n <= DIRECT) {
        cri_dtrtri('U', 'N', (int)n, T.a, (int)T.stride);
        return;
    }
    cr_mat first = { T.a, half, half, T.stride },
           below = { T.a + half * T.stride, n - half, half, T.stride },
           last = { below.a + half, n - half, n - half, T.stride };
    invert_tile(first);
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)below.rows,
                (int)half, -1, first.a, (int)T.stride, below.a, (int)T.stride);
    divide(CblasLeft, 1, last, below);
    invert_tile(last);
}

static void square_tile(cr_mat T) { cri_dlauum('U', (int)T.rows, T.a, (int)T.stride); }

/* The tasks, by the tiles of their row or column k.  Of the first sweep: */
static void divide_right(void *arg, size_t i, size_t unused, size_t k)
{
    cri_tiles *t = arg;
    (void)unused;
    if (!cri_tiles_stopped(t)) divide(CblasRight, -1, cri_tile(t, k, k), cri_tile(t, i, k));
}

static void add_row(void *arg, size_t i, size_t j, size_t k)
{
    cri_tiles *t = arg;
    if (!cri_tiles_stopped(t))
        add_product(CblasNoTrans, cri_tile(t, i, k), cri_tile(t, k, j), cri_tile(t, i, j));
}

static void divide_left(void *arg, size_t unused, size_t j, size_t k)
{
    cri_tiles *t = arg;
    (void)unused;
    if (!cri_tiles_stopped(t)) divide(CblasLeft, 1, cri_tile(t, k, k), cri_tile(t, k, j));
}

static void invert_diagonal(void *arg, size_t unused, size_t unused_too, size_t k)
{
    cri_tiles *t = arg;
    (void)unused, (void)unused_too;
    if (!cri_tiles_stopped(t)) invert_tile(cri_tile(t, k, k));
}

/* Of the second: */
static void add_column(void *arg, size_t i, size_t j, size_t k)
{
    cri_tiles *t = arg;
    if (cri_tiles_stopped(t)) return;
    if (i == j)
        add_square(cri_tile(t, k, j), cri_tile(t, j, j));
    else
        add_product(CblasTrans, cri_tile(t, k, i), cri_tile(t, k, j), cri_tile(t, i, j));
}

static void multiply_left(void *arg, size_t unused, size_t j, size_t k)
{
    cri_tiles *t = arg;
    (void)unused;
    if (!cri_tiles_stopped(t)) times_transposed(cri_tile(t, k, k), cri_tile(t, k, j));
}

static void square_diagonal(void *arg, size_t unused, size_t unused_too, size_t k)
{
    cri_tiles *t = arg;
    (void)unused, (void)unused_too;
    if (!cri_tiles_stopped(t)) square_tile(cri_tile(t, k, k));
}

/* W = L^-1 over L.  Before step k the tiles left of column k hold W of the leading k rows, and,
 * below them, the sums over those columns that are still to be finished. */
static void list_inversion(cri_tasks *tasks, size_t c)
{
    for (size_t k = 0; k < c; k++) {
        size_t kk = k * c + k;
        for (size_t i = k + 1; i < c; i++) {
            cri_tasks_add(tasks, divide_right, i, 0, k, i * c + k, kk, CRI_NO_ITEM);
            for (size_t j = 0; j < k; j++)
                cri_tasks_add(tasks, add_row, i, j, k, i * c + j, i * c + k, k * c + j);
        }
        for (size_t j = 0; j < k; j++)
            cri_tasks_add(tasks, divide_left, 0, j, k, k * c + j, kk, CRI_NO_ITEM);
        cri_tasks_add(tasks, invert_diagonal, 0, 0, k, kk, CRI_NO_ITEM, CRI_NO_ITEM);
    }
}

/* W^T W over W: row k of tiles adds its share to the tiles above it, then becomes W_kk^T W_kj. */
static void list_square(cri_tasks *tasks, size_t c)
{
    for (size_t k = 0; k < c; k++) {
        size_t kk = k * c + k;
        for (size_t j = 0; j < k; j++)
            for (size_t i = j; i < k; i++)
                cri_tasks_add(tasks, add_column, i, j, k, i * c + j, k * c + i, k * c + j);
        for (size_t j = 0; j < k; j++)
            cri_tasks_add(tasks, multiply_left, 0, j, k, k * c + j, kk, CRI_NO_ITEM);
        cri_tasks_add(tasks, square_diagonal, 0, 0, k, kk, CRI_NO_ITEM, CRI_NO_ITEM);
    }
}

static void mirror_rows(void *arg, size_t k)
{
    const cri_tiles *t = arg;
    size_t           n = t->A.rows;
    cri_mirror_lower(t->A, cri_block_range(n, t->edge, k), (cri_range){ 0, n });
}

typedef struct copy_work {
    cr_cmat L;
    cr_mat  out;
} copy_work;

static void copy_rows(void *arg, size_t b)
{
    const copy_work *w = arg;
    cri_range        rows = cri_block_range(w->L.rows, ROWS, b);
    for (size_t i = rows.begin; i < rows.end; i++)
        memcpy(w->out.a + i * w->out.stride, w->L.a + i * w->L.stride, (i + 1) * sizeof(double));
}

/* out = the lower triangle of L; they may be the same. */
static cr_status copy_lower(cr_ctx *cx, cr_cmat L, cr_mat out)
{
    copy_work w = { L, out };
    if (L.a == out.a) return CR_OK;
    return cri_parallel_for(cx, NULL, cri_block_count(L.rows, ROWS), copy_rows, &w);
}

/* The lower triangle of out := W = L^-1, or W^T W. */
static cr_status invert(cr_ctx *cx, cr_cmat L, bool square, cr_mat out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = L.rows;
    cri_tiles  t = { .cx = cx, .A = out, .edge = n <= CRI_CHOL_SMALL ? n : cri_tile_edge(n) };

    cri_blas_enter();
    CR_TRY(cri_chol_check(cx, "chol inverse", L, cr_const(out)));
    if (out.cols != n)
        CR_TRY(cr_fail(cx, CR_EARG, "chol inverse: the result is %zu x %zu", n, out.cols));
    for (size_t i = 0; i < n; i++)
        if (!(L.a[i * L.stride + i] > 0))
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "chol inverse: number %zu of the diagonal of L is %g",
                           i + 1, L.a[i * L.stride + i]));
    if (n == 0) goto done;
    t.count = cri_block_count(n, t.edge);
    t.tasks = cri_tasks_new(&s, t.count * t.count, t.count * (t.count + 1) * (t.count + 2) / 3);
    CR_TRY(s.status);
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(copy_lower(cx, L, out));
    list_inversion(&t.tasks, t.count);
    if (square) list_square(&t.tasks, t.count);
    cri_tasks_run(&t.tasks, &t);
    if (atomic_load(&t.stop)) CR_TRY(cri_tiles_interrupted(cx));
    if (square) CR_TRY(cri_parallel_for(cx, NULL, t.count, mirror_rows, &t));
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}

cr_status cr_chol_inverse(cr_ctx *cx, cr_cmat L, cr_mat out) { return invert(cx, L, true, out); }

cr_status cri_chol_invert_factor(cr_ctx *cx, cr_mat L) { return invert(cx, cr_const(L), false, L); }

typedef struct diagonal_work {
    cr_cmat W;
    double *out;
} diagonal_work;

/* The sums of squares of some columns of a lower triangle, row by row. */
static void add_squares(void *arg, size_t b)
{
    const diagonal_work *w = arg;
    cri_range            columns = cri_block_range(w->W.rows, COLUMNS, b);
    for (size_t j = columns.begin; j < columns.end; j++) w->out[j] = 0;
    for (size_t i = columns.begin; i < w->W.rows; i++) {
        const double *row = w->W.a + i * w->W.stride;
        for (size_t j = columns.begin; j < columns.end && j <= i; j++) w->out[j] += row[j] * row[j];
    }
}

cr_status cri_chol_inverse_diagonal(cr_ctx *cx, cr_cmat L, cr_mat workspace, double *out)
{
    diagonal_work w = { cr_const(workspace), out };
    cr_status     st = invert(cx, L, false, workspace);
    if (st != CR_OK) return st;
    return cri_parallel_for(cx, NULL, cri_block_count(L.rows, COLUMNS), add_squares, &w);
}
