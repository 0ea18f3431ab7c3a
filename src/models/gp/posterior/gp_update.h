/* gp_update.h -- an exact Gaussian process with more rows.
 * New inputs add rows to the Cholesky factor; rows at inputs that are there already take something
 * off the diagonal of C (a rank-one downdate each).  Hyper-parameters stay.  O(n^2) for each new
 * row. (Internal header.) */
#ifndef CREDENCE_MODELS_GP_POSTERIOR_GP_UPDATE_H
#define CREDENCE_MODELS_GP_POSTERIOR_GP_UPDATE_H

#include "gp_posterior.h"

/* *out: what `old` knew and the new rows, as a fit of all of them at the same hyper-parameters; its
 * leave-one-out score is not known. */
cr_status cri_gp_extend(cr_ctx *cx, const cri_gp_posterior *old, const cri_rows *rows,
                        cri_gp_posterior **out);

#endif
