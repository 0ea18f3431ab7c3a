/* classify_normals.h -- the normals of the latent functions at new rows, some at a time (classify.h has the formulas),
 * and softmaxes averaged over them.
 * O(n) numbers a row for each function, n^2 operations.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_NORMALS_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_NORMALS_H

#include "classify.h"
#include "base/parallel.h"

enum { CRI_CLASSIFY_BLOCK = 256 }; /* rows at a time */

/* Some rows on their way through the formulas. */
typedef struct cri_classify_block {
    const cri_classify *m;
    size_t              count, K;
    double             *workspace, *X; /* [count x p], [count x d]                          */
    uint32_t           *codes;         /* [count x c]                                       */
    double             *C, *T;         /* [n x count] k, then w; workspace                       */
    double             *r;             /* [F x n x count], where functions depend on each other */
    double             *prior;         /* [count] k(x, x)                                   */
    double             *mean;          /* [F x count]                                       */
    double             *cov;           /* [count x F x F]                                   */
    size_t              n_points;      /* 0: there is a better rule for so few functions    */
    double             *points;        /* [n_points x F] of a lattice                       */
    double             *work;          /* [count x work_size]                               */
    double             *prob;          /* [count x K]                                       */
} cri_classify_block;

/* How many rows at a time, of these. */
size_t cri_classify_rows(const cri_rows *rows);
/* How many numbers `work` has for a row. */
size_t cri_classify_work(size_t F);
/* Workspace for `count` rows of p terms, of the arena. */
cr_status cri_classify_block_new(cr_scratch *s, const cri_classify *m, size_t p, size_t count,
                                 size_t n_points, cri_classify_block *out);
/* The points of the lattice that a softmax is averaged over, one of `parts` such averages; 0: by a grid. */
size_t cri_classify_points(size_t F, size_t parts);
/* out [F] := E softmax(f) of F > 1 functions, f ~ N(mean, cov): by a grid, or the points [n_points x F], their first
 * coordinate that of each function in turn; workspace [(F + 3) F].  Pure. */
void cri_classify_softmax(size_t F, const double *points, size_t n_points, const double *mean,
                          const double *cov, double *workspace, double *out);
/* b->mean and b->cov := means and covariances of the rows of a range, by b->m. */
cr_status cri_classify_normals(cr_ctx *cx, const cri_rows *rows, cri_range r,
                               cri_classify_block *b);

#endif
