/* chol_internal.h -- a square matrix cut into tiles for tasks.  (Internal header.)
 * The cut depends on n alone.  Each task works on whole tiles with one-threaded BLAS and declares
 * what it reads and writes, so that every tile sees its changes in one fixed order, on any number
 * of threads. */
#ifndef CREDENCE_MATH_DENSE_CHOL_INTERNAL_H
#define CREDENCE_MATH_DENSE_CHOL_INTERNAL_H

#include "base/context_internal.h"
#include "base/tasks.h"
#include "blas_internal.h"

#include <stdatomic.h>

enum {
    CRI_CHOL_SMALL = 320, /* up to here one call of LAPACK does it */
    CRI_CHOL_MEDIUM = 1536,
    CRI_TILE_MEDIUM = 160,
    CRI_TILE_LARGE = 256
};

typedef struct cri_tiles {
    cr_ctx     *cx;
    cr_mat      A;
    size_t      edge, count; /* edge of a tile; tiles in a row or column */
    cri_tasks   tasks;       /* item i * count + j is tile (i, j)         */
    atomic_bool stop;        /* set once: the remaining tasks do nothing */
} cri_tiles;

static inline size_t cri_tile_edge(size_t n)
{
    return n < CRI_CHOL_MEDIUM ? CRI_TILE_MEDIUM : CRI_TILE_LARGE;
}

/* true once the work is to be given up; tasks ask before they start. */
static inline bool cri_tiles_stopped(cri_tiles *t)
{
    if (!atomic_load(&t->stop) && cri_should_stop(t->cx)) atomic_store(&t->stop, true);
    return atomic_load(&t->stop);
}

/* Tile (i, j) as a view: the last of a row or column may be smaller. */
static inline cr_mat cri_tile(const cri_tiles *t, size_t i, size_t j)
{
    size_t r = i * t->edge, c = j * t->edge;
    size_t rows = t->A.rows - r < t->edge ? t->A.rows - r : t->edge;
    size_t cols = t->A.cols - c < t->edge ? t->A.cols - c : t->edge;
    return cr_mat_part(t->A, r, c, rows, cols);
}

/* The failure of work that was stopped, for the caller's thread. */
static inline cr_status cri_tiles_interrupted(cr_ctx *cx)
{
    cr_status st = cr_check_interrupt(cx);
    return st != CR_OK ? st : cr_fail(cx, CR_EINTERRUPTED, "interrupted");
}

/* L and B fit each other: L square, B of as many rows.  `who` starts the sentence. */
cr_status cri_chol_check(cr_ctx *cx, const char *who, cr_cmat L, cr_cmat B);

/* L^-1 over the lower triangle of L [n x n]: O(n^3 / 3). */
cr_status cri_chol_invert_factor(cr_ctx *cx, cr_mat L);

/* out [n] = the diagonal of A^-1 from the factor of A, half the work of A^-1: O(n^3 / 3).
 * workspace [n x n], which may be L itself, is overwritten. */
cr_status cri_chol_inverse_diagonal(cr_ctx *cx, cr_cmat L, cr_mat workspace, double *out);

#endif
