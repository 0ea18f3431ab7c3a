/* gp_pivots.h -- partial Cholesky factor of a Gram matrix with pivoting: K ~ F F^T.
 * The next pivot is the row whose variance the rows chosen so far explain least, so that the trace
 * of K - F F^T falls fast.  O(n r) values of the kernel and O(n r^2) operations for rank r.  Fine &
 * Scheinberg (2001), JMLR 2; Harbrecht, Peters & Schneider (2012).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_EXACT_GP_PIVOTS_H
#define CREDENCE_MODELS_GP_EXACT_GP_PIVOTS_H

#include "models/kernel/inputs/gp_data.h"

/* Pivots [most] and F [n x most] row by row (its columns beyond the rank are 0), of the inputs of
 * data.  Ends when no row keeps more than `least` of the mean variance; then *out_rank < most.
 * *opt_left: the trace of K - F F^T. */
cr_status cri_gp_pivots(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k, size_t most,
                        double least, size_t *out_pivots, double *F, size_t *out_rank,
                        double *opt_left);
/* Up to `most` rows of the data by their pivots, among some thousand of them drawn at random. */
cr_status cri_gp_landmarks(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k, size_t most,
                           uint64_t seed, cri_gp_data *out_Z);

#endif
