/* sparse_terms.h -- sparse rows, centred and scaled without ever being filled in.
 *   Z = sqrt(w) (X - centre) / scale   [n x p],   t = sqrt(w) (y - offset),
 * centre and offset the weighted means (0 without intercept), scale the population sd (1 where the
 * column is constant, or without standardisation).  Products take O(entries + n + p):
 *   Z b  = sqrt(w) (X v - centre . v),   v = b / scale
 *   Z' r = (X' q - centre sum q) / scale,   q = sqrt(w) r
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_SPARSE_TERMS_H
#define CREDENCE_MODELS_LINEAR_SPARSE_TERMS_H

#include "base/scratch.h"
#include "data/design/design_internal.h"

typedef struct cri_sparse_terms {
    const cri_sparse *X; /* without a standardisation of its own */
    const cri_sparse
                 *columns; /* X', where the caller has it: products with Z' are quicker; or NULL */
    size_t        n, p;
    double        weight, offset, tt; /* sum w, the mean of y or 0, |t|^2 */
    const double *w;                  /* [n] or NULL = 1                   */
    double       *root;               /* [n] sqrt(w), or NULL = 1          */
    double       *mean;               /* [p] of the columns                */
    double       *centre, *scale;     /* [p]                               */
    double       *square;             /* [p] |z_j|^2; 0 of a constant term */
    double       *t;                  /* [n]                               */
} cri_sparse_terms;

/* true when rows are sparse in the sense of this file. */
bool cri_rows_are_sparse(const cri_rows *rows);

/* Measures the rows, in the arena.  Fails with CR_ENUMERIC where squares over- or underflow. */
cr_status cri_sparse_terms_new(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                               bool standardise, cri_sparse_terms *out);

/* out [n] = Z b; workspace [p]. */
cr_status cri_sparse_terms_times(cr_ctx *cx, const cri_sparse_terms *z, const double *b,
                                 double *workspace, double *out);
/* out [p] = Z' r; workspace [n]. */
cr_status cri_sparse_terms_transpose(cr_ctx *cx, const cri_sparse_terms *z, const double *r,
                                     double *workspace, double *out);
/* K [n x n] = Z Z', both halves.  O(sum of squared column lengths + n^2). */
cr_status cri_sparse_terms_outer(cr_ctx *cx, const cri_sparse_terms *z, double *K);

#endif
