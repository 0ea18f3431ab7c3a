/* glm_precisions.h -- weights of a generalised linear model as precisions: Var y_i = (phi / w_i) V(mu_i),
 * n rows whatever the weights add up to.  The weights are scaled to add up to the number of rows and
 * the fit goes on as with repetitions, so that phi has n - rank degrees of freedom; then phi and the
 * deviances are put in the units of the weights as given: phi is that of a row of weight 1.  Only a
 * dispersion that is estimated can absorb the unit of the weights.  McCullagh & Nelder (1989), sec.
 * 2.2.  (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_PRECISIONS_H
#define CREDENCE_MODELS_GLM_PRECISIONS_H

#include "glm_state.h"
#include "models/linear/precisions.h"

/* CR_EARG where phi is fixed, or intercepts vary. */
cr_status cri_glm_check_precisions(cr_ctx *cx, const cri_rows *rows, bool fixed_dispersion);
/* Scales the weights, weight [n], in place. */
cri_precisions cri_glm_scale_precisions(const cri_rows *rows, double *weight);
/* phi at the maximum of the likelihood of the gamma: 1 / phi = t solves
 *   sum_i w_i (log w_i t - digamma(w_i t)) = D / 2. */
double cri_glm_gamma_dispersion(const double *weight, size_t n, double deviance);
/* Back to the weights as given, weight [n] included. */
void cri_glm_restore_precisions(const cri_precisions *p, cri_glm *m, double *weight, size_t n);

#endif
