/* sparse_dual.h -- ridge on sparse rows that are fewer than their columns, in the dual, by products
 * with the rows alone.
 *   K a = t,   K = Z Z' + lambda I  [n x n, never written down],   b = Z' a,   t - Z b = lambda a
 * Z and t as in sparse_terms.h.  Conjugate gradients (sparse_cg.c) then have vectors of n numbers,
 * and are preconditioned by the k heaviest columns S, those of |z_j|^2 far above the mean of the
 * diagonal, which make the largest eigenvalues:
 *   M = Z_S Z_S' + mu I,   mu = lambda + the mean of the diagonal that the others make,
 *   M^-1 r = (r - Z_S (Z_S' Z_S + mu I)^-1 Z_S' r) / mu                          (Woodbury)
 * Vectors come singly or as panels of CRI_SPARSE_PANEL side by side.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_SPARSE_DUAL_H
#define CREDENCE_MODELS_LINEAR_SPARSE_DUAL_H

#include "sparse_probes.h"

enum { CRI_DUAL_PIECES = 64 };

typedef struct cri_sparse_dual {
    const cri_sparse_terms *z;
    double                  lambda, mu, most; /* most: a bound of the largest eigenvalue of K */
    /* The columns are numbered anew, by falling numbers of entries: loops of one length follow each
     * other, what many rows read stands together, and the pieces, cut by entries, are alike. */
    cri_sparse_copy columns;                  /* X', in the new order */
    size_t         *order;                    /* [p] what the columns were          */
    size_t          cut[CRI_DUAL_PIECES + 1]; /* the columns of a piece             */
    size_t         *row_start;                /* [n + 1] of the rows                */
    uint32_t       *column;                   /* of each entry of the rows, as in X */
    double         *mean, *shrink; /* [p] centre, and 1 / scale^2; 0 of a constant term */
    /* S */
    size_t          k;
    cri_sparse_copy heavy_columns, heavy_rows; /* X_S' [k x n], X_S [n x k]      */
    double         *centre, *per_scale;        /* [k]                            */
    double         *L;                         /* [k x k] L L' = Z_S' Z_S + mu I */
} cri_sparse_dual;

/* Room for products: of single vectors (width 1) or of panels. */
typedef struct cri_sparse_dual_workspace {
    const cri_sparse_dual *d;
    size_t                 width;
    double                *u; /* [n x width] sqrt(w) times a vector */
    double                *v; /* [p x width] in the new order */
    double                *h; /* [k x width] */
} cri_sparse_dual_workspace;

/* Orders the columns and factors the preconditioner, in the arena; lambda > 0.  O(entries + p + k^3
 * + the products of S).  After a success the caller closes it. */
cr_status cri_sparse_dual_open(cr_ctx *cx, cr_scratch *s, const cri_sparse_terms *z, double lambda,
                               cri_sparse_dual *out);
void      cri_sparse_dual_close(cr_ctx *cx, cri_sparse_dual *d);

cri_sparse_dual_workspace cri_sparse_dual_workspace_new(cr_scratch *s, const cri_sparse_dual *d,
                                                        size_t width);
/* out [n x width] = K q, and out_inner [width] = q . K q of each vector.  O(width (entries + p)). */
cr_status cri_sparse_dual_times(cr_ctx *cx, const cri_sparse_dual_workspace *workspace,
                                const double *q, double *out, double *out_inner);
/* out [n x width] = M^-1 r, and out_inner [width] = r . M^-1 r of each vector. */
cr_status cri_sparse_dual_precondition(cr_ctx *cx, const cri_sparse_dual_workspace *workspace,
                                       const double *r, double *out, double *out_inner);

/* a [n] = K^-1 t: until |t - K a| / (2 sqrt(lambda)), which bounds the error of b = Z' a, is below
 * 1e-10 |b|.  *out_converged is false where rounding does not let it come there; b [p] is then
 * nearly right.  O(iterations (entries + p)), about sqrt(condition of M^-1 K) iterations. */
cr_status cri_sparse_dual_solve(cr_ctx *cx, const cri_sparse_dual *d, size_t max_iter, double *b,
                                size_t *out_iterations, bool *out_converged);
/* The measure of probes (sparse_probes.h) of a cri_sparse_dual: e'He = |e|^2 - lambda e'K^-1 e. */
cr_status cri_sparse_dual_measure(cr_ctx *cx, void *user, double *E, const double *lengths,
                                  double *told);

#endif
