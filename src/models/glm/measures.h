/* measures.h -- how well a generalised linear model fits: sums over the rows, in fixed blocks.
 * O(n).  (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_MEASURES_H
#define CREDENCE_MODELS_GLM_MEASURES_H

#include "irls.h"

typedef struct cri_glm_measures {
    double deviance, pearson;
    double extreme; /* binomial: rows whose mean is 0 or 1 to nine digits */
    bool   single;  /* binomial: every row is one trial, so that log p = -deviance / 2 */
} cri_glm_measures;

/* At eta [n]. */
cr_status cri_glm_measure(cr_ctx *cx, const cri_glm_problem *p, const cri_glm_law *law,
                          const double *eta, cri_glm_measures *out);

cr_status cri_glm_log_likelihood(cr_ctx *cx, const cri_glm_problem *p, const cri_glm_law *law,
                                 double phi, const double *eta, double *out);

/* The deviance of the model with an intercept alone (without intercept: with the offset alone); NaN
 * where it has none. */
cr_status cri_glm_null_deviance(cr_ctx *cx, const cri_glm_problem *p, const cri_glm_law *law,
                                double *out);

/* The mean of the target, by weights and trials. */
double cri_glm_mean_of_target(const cri_glm_problem *p);

/* Warns where nothing but rounding is left of a target of the Gaussian with the identity link. */
void cri_glm_warn_of_perfect_fit(cr_ctx *cx, const cri_glm_problem *p, double deviance);

#endif
