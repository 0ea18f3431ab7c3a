/* centred.h -- rows, centred and scaled without ever being written down: what principal components need of data with
 * so many columns that their p x p products are out of proportion.
 *   Z = sqrt(w) (X - centre) / scale   [n x p],   C = Z'Z / (W - 1),   W = sum w
 * centre the weighted means, scale the population sds or 1; constant columns of Z are 0.  Sparse rows stay sparse:
 *   Z b  = sqrt(w) (X v - centre . v),   v = b / scale
 *   Z' r = (X' q - centre sum q) / scale,   q = sqrt(w) r
 * in O(entries + n + p); only where a column is so far from 0 that the differences would lose digits are they filled
 * in, panel by panel, as rows that are not sparse are.  Vectors are rows of matrices, several at once.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_LATENT_CENTRED_H
#define CREDENCE_MODELS_LATENT_CENTRED_H

#include "base/scratch.h"
#include "data/design/design_internal.h"

typedef struct cri_centred {
    const cri_rows *rows;
    size_t          n, p;
    double          weight, divisor; /* W, and W - 1, or 1 where that is less              */
    double          total;           /* the trace of C                                     */
    double         *centre, *scale;  /* [p]                                                */
    double         *per_scale;       /* [p] 1 / scale; 0 of a constant column              */
    double         *root;            /* [n] sqrt(w); NULL = 1                              */
    bool            by_entries;      /* products go by the entries of sparse rows:         */
    cri_sparse_copy columns;         /* X', of sparse rows                                  */
} cri_centred;

/* Measures the rows, in the arena: two passes.  Fails with CR_ENUMERIC where squares over- or underflow.  Closed by
 * cri_centred_close in any case. */
cr_status cri_centred_open(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool standardise,
                           cri_centred *out);
void      cri_centred_close(cr_ctx *cx, cri_centred *z);
/* Means and population variances [p] of rows whose columns are sparse, or which are few, in one pass. */
cr_status cri_centred_measure(cr_ctx *cx, const cri_rows *rows, const cri_sparse *opt_columns,
                              double weight, double *mean, double *variance);

/* T [n x (end - begin)] = some columns of Z. */
cr_status cri_centred_columns(cr_ctx *cx, const cri_centred *z, size_t begin, size_t end,
                              double *T);
/* out [k x p] = B Z'Z, B [k x p]. */
cr_status cri_centred_inner(cr_ctx *cx, const cri_centred *z, const double *B, size_t k,
                            double *out);

/* By entries, O(k entries): out [k x n] = B Z', B [k x p]; out [k x p] = U Z, U [k x n]. */
cr_status cri_centred_times(cr_ctx *cx, const cri_centred *z, const double *B, size_t k,
                            double *out);
cr_status cri_centred_transpose(cr_ctx *cx, const cri_centred *z, const double *U, size_t k,
                                double *out);
/* Both at once: out [k x p] = B Z'Z, and out [k x n] = U Z Z'. */
cr_status cri_centred_over_rows(cr_ctx *cx, const cri_centred *z, const double *B, size_t k,
                                double *out);
cr_status cri_centred_over_columns(cr_ctx *cx, const cri_centred *z, const double *U, size_t k,
                                   double *out);
/* K [n x n] = Z Z' by entries, O(sum of squared column lengths + n^2). */
cr_status cri_centred_outer(cr_ctx *cx, const cri_centred *z, double *K);

#endif
