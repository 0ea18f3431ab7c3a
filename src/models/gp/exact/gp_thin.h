/* gp_thin.h -- a Gram matrix of small numerical rank: K = F F^T + R with R, psd, at the rounding of
 * doubles.  F is a Cholesky factor with pivots (gp_pivots.h), found in attempts of doubled size; an
 * attempt is the last when the variance that is left falls too slowly.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_EXACT_GP_THIN_H
#define CREDENCE_MODELS_GP_EXACT_GP_THIN_H

#include "models/kernel/inputs/gp_data.h"
#include "base/scratch.h"

/* Pivots end when no input keeps more than this part of the mean variance: the rounding of
 * doubles. */
#define CRI_GP_THIN_LEAST 1e-14

typedef struct cri_gp_thin {
    cr_scratch memory;
    size_t     rank;   /* 0: none was found                                       */
    size_t    *pivots; /* [rank] rows whose part of F is lower triangular          */
    cr_mat     F;      /* [n x rank]                                               */
} cri_gp_thin;

/* Pivots down to `least` of the mean variance; at most `most` of them, and 600.  O(n r^2)
 * operations and O(n r) values of the kernel and numbers of memory.  cri_gp_thin_end frees it,
 * after a failure too. */
cr_status cri_gp_thin_begin(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k, double least,
                            size_t most, cri_gp_thin *out);
/* Frees the memory. */
void cri_gp_thin_end(cri_gp_thin *thin);
/* L [rank x rank] := the rows of the pivots, lower triangular: K(P, P) = L L^T. */
void cri_gp_thin_factor(const cri_gp_thin *thin, double *L);

#endif
