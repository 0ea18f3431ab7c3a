/* scoring_pass.h -- one pass over the rows for a step of scoring (scoring.h).  (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_SCORING_PASS_H
#define CREDENCE_MODELS_GLM_SCORING_PASS_H

#include "scoring.h"

typedef struct cri_scoring_pass {
    const cri_glm_scoring *rows;
    cri_glm_law            law;
    bool                   observed; /* the curvature in place of the information        */
    size_t                 step;     /* only every step-th row counts                    */
    const double          *theta;    /* [q]; NULL: eta is where the observations put it  */
} cri_scoring_pass;

typedef struct cri_scoring_sums {
    double  deviance;    /* less that of the saturated model, cri_scoring_saturated; NaN where some
                            mean has no number */
    double *score;       /* [q]; without theta the right-hand side of the equations for it */
    double *information; /* [q x q] its lower triangle */
} cri_scoring_sums;

cr_status cri_scoring_run(cr_ctx *cx, const cri_scoring_pass *pass, cri_scoring_sums *out);

/* What is to be added to a pass's deviance: sum_i 2 m_i log p(y_i | y_i), up to what both leave
 * out. */
cr_status cri_scoring_saturated(cr_ctx *cx, const cri_scoring_pass *pass, double *out);

#endif
