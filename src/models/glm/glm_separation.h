/* glm_separation.h -- binomial targets without a maximum likelihood estimate: which coefficients
 * run away, and which columns are to blame.  Whether the rows are separated depends on signs of
 * scores alone, not on link, offset or trials: shares of 0 and 1 are looked at as classes
 * (separation.h).  Shares in between hold their score back; with such rows the coefficients that
 * run away are those whose standard error has grown beyond all bounds.  (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_SEPARATION_H
#define CREDENCE_MODELS_GLM_SEPARATION_H

#include "irls.h"

/* Where fitted probabilities are 0 or 1 to nine digits and the rows are separated: warns, naming
 * the columns, makes the sds of the runaway coefficients of `fit` (which are set) NaN, and
 * *out_found true. */
cr_status cri_glm_find_separation(cr_ctx *cx, const cri_glm_problem *p, const cri_glm_solution *s,
                                  cri_predictor *fit, bool *out_found);

#endif
