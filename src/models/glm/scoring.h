/* scoring.h -- Fisher's scoring for many rows of dense, well-conditioned columns.
 *   z = (1, (x - centre) / scale) [q],   eta = offset + theta . z,
 *   theta <- theta + I^-1 U,   U = sum_i m_i s(y_i, eta_i) z_i,   I = sum_i m_i i(eta_i) z_i z_i',
 * m = weight times trials, s and i the score and the information of one trial (family.h); the
 * curvature as observed in place of i where cri_family_is_curved.  U, I and the deviance come from
 * one pass over the rows, O(n q^2), in fixed blocks: the same bits for any number of threads.  Each
 * step corrects the last, so that rounding in I costs no digits of theta.  Very many rows set out
 * from the estimate of some of them.  (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_SCORING_H
#define CREDENCE_MODELS_GLM_SCORING_H

#include "irls.h"
#include "models/logistic/classifier_rows.h"

typedef struct cri_glm_scoring {
    const cri_glm_problem *p;
    bool                   usable;  /* the rows are many and dense, and every eta has a mean */
    bool                   started; /* theta is an estimate                                  */
    cri_classifier_rows    x;
    double                *theta; /* [q] */
} cri_glm_scoring;

cr_status cri_glm_scoring_new(cr_ctx *cx, const cri_glm_problem *p, cri_glm_scoring *out);
void      cri_glm_scoring_free(cr_ctx *cx, cri_glm_scoring *w);

/* The maximum at this alpha: fit, rank, eta, iterations and converged of the solution.
 * *out_good = false, and only the iterations changed, where it is not to be had this way. */
cr_status cri_glm_score(cr_ctx *cx, cri_glm_scoring *w, const cri_glm_law *law, cri_glm_solution *s,
                        bool *out_good);

#endif
