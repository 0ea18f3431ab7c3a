/* gp_diagonal.h -- a covariance of f that is diagonal: signal and noise are not identifiable.
 * Where the learned length-scales are so short that K is diagonal, C = (s + noise) I: the evidence
 * knows the sum s + noise alone, and a function that rises to each row is as good as noise.  The
 * plainer is taken: noise. (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SEARCH_GP_DIAGONAL_H
#define CREDENCE_MODELS_GP_SEARCH_GP_DIAGONAL_H

#include "gp_learn.h"

/* After the search, of the exact evidence: where no two of the rows have a correlation above 1e-6
 * under k, all rows the same variance and no row is repeated, says so, and moves the variance from
 * k to *noise if the evidence, with the priors, stays what it is.  *out_diagonal says whether it was
 * so.  O(n^2). */
cr_status cri_gp_check_diagonal(cr_ctx *cx, const cri_gp_learning *learning, cr_kernel *k,
                                double *noise, bool *out_diagonal);

#endif
