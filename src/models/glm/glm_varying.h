/* glm_varying.h -- generalised linear models with varying intercepts.
 *   g(E y) = offset + b0 + x . b + u_g,   u_g ~ N(0, s_u^2),   J groups.
 * b and s_u maximise the likelihood with the groups integrated out.  With u_g = s_u v_g and i the
 * information of a row, each group is one integral by Laplace's approximation,
 *   log p(y_g | b, s_u) = max_v [ sum_i log p(y_i | eta_i + s_u v) - v^2 / 2 ] - 1/2 log(1 + s_u^2 I_g),
 *   I_g = sum_i i(eta_i)   at the maximum,
 * as lme4's glmer has it with one node of quadrature; of the Gaussian family it is exact, by sums over
 * the groups.  O(n p) for each step of a quasi-Newton search.
 * Breslow & Clayton (1993), JASA 88; Bates, Maechler, Bolker & Walker (2015), J. Stat. Softw. 67.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_GLM_VARYING_H
#define CREDENCE_MODELS_GLM_GLM_VARYING_H

#include "irls.h"
#include "models/common/varying.h"

typedef struct cri_glm_varying {
    cri_varying groups;
    double log_likelihood; /* of the targets, the groups integrated out                       */
    double phi, ml_phi;    /* of the Gaussian family; else 1                                  */
    size_t iterations;
    bool   converged;
    bool   at_zero; /* without differences of the groups the likelihood is as large */
} cri_glm_varying;

/* CR_EUNSUPPORTED, in words, for a family or link that this is not for. */
cr_status cri_glm_check_varying(cr_ctx *cx, const cri_glm_problem *p);

/* From the solution without groups, whose fit and eta become those with them. */
cr_status cri_glm_solve_varying(cr_ctx *cx, const cri_glm_problem *p, cri_glm_solution *s,
                                cri_glm_varying *out);

#endif
