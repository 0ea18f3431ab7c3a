/* gp_pivoted_cholesky.h -- partial Cholesky factor of a Gram matrix with pivoting: K = F F^T + R.
 * The next pivot is the row whose variance the rows chosen so far explain least, so that the trace
 * of the residual R falls fast.  O(n r) values of the kernel and O(n r^2) operations for rank r.
 * Smooth kernels on few columns have a small numerical rank: R is at the rounding of doubles.
 * Fine & Scheinberg (2001), JMLR 2; Harbrecht, Peters & Schneider (2012).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_EXACT_GP_PIVOTED_CHOLESKY_H
#define CREDENCE_MODELS_GP_EXACT_GP_PIVOTED_CHOLESKY_H

#include "models/kernel/inputs/gp_data.h"
#include "base/scratch.h"

/* Pivots [most] and F [n x most] row by row (its columns beyond the rank are 0), of the inputs of
 * data.  Ends when no row keeps more than `least` of the mean variance; then *out_rank < most.
 * *opt_left: the trace of K - F F^T. */
cr_status cri_gp_pivots(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k, size_t most,
                        double least, size_t *out_pivots, double *F, size_t *out_rank,
                        double *opt_left);
/* Up to `most` rows of the data by their pivots, among some thousand of them drawn at random. */
cr_status cri_gp_landmarks(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k, size_t most,
                           uint64_t seed, cri_gp_data *out_Z);

/* Pivots end when no input keeps more than this part of the mean variance: the rounding of
 * doubles. */
#define CRI_GP_PIVOT_LEAST 1e-14

/* A factor of small numerical rank. */
typedef struct cri_gp_pivoted {
    cr_scratch memory;
    size_t     rank;   /* 0: none was found                                       */
    size_t    *pivots; /* [rank] rows whose part of F is lower triangular          */
    cr_mat     F;      /* [n x rank]                                               */
} cri_gp_pivoted;

/* Pivots down to `least` of the mean variance, in attempts of doubled width; at most `most` of them,
 * and 600.  An attempt is the last one when the variance that is left falls too slowly to end in
 * time.  O(n r) numbers of memory.  cri_gp_pivoted_end frees it, after a failure too. */
cr_status cri_gp_pivoted_begin(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k,
                               double least, size_t most, cri_gp_pivoted *out);
/* Frees the memory. */
void cri_gp_pivoted_end(cri_gp_pivoted *factor);
/* L [rank x rank] := the rows of the pivots, lower triangular: K(P, P) = L L^T. */
void cri_gp_pivoted_rows(const cri_gp_pivoted *factor, double *L);

#endif
