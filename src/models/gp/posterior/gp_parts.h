/* gp_parts.h -- a Gaussian process as a sum, its draws without noise, its evidence elsewhere.
 * f = sum_j f_j with kernel sum_j k_j: with k_j = k_j(at, x), w_j = L^-1 k_j, v_j = L2^-1 w_j
 * (gp_posterior.h),
 *   mean f_j = k_j . alpha,   var f_j = k_j(x, x) - |w_j|^2 [+ |v_j|^2] + |A^-1 U^T v_j|^2,
 * the last for what the data leave open of the mean function h . b, which is a part too:
 *   mean h . b,  var |A^-1 h|^2.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GP_POSTERIOR_GP_PARTS_H
#define CREDENCE_MODELS_GP_POSTERIOR_GP_PARTS_H

#include "gp_posterior.h"

/* Functions of the model class. */
cr_status cri_gp_hyper(cr_ctx *cx, const void *state, size_t k, cr_hyper *out_hyper);
cr_status cri_gp_evidence_at(cr_ctx *cx, const void *state, const cri_rows *rows,
                             const size_t *which, size_t n, const double *values, size_t count,
                             double *out);

#endif
