/* irls.h -- maximum likelihood of a generalised linear model by iteratively reweighted least
 * squares; many rows of well-conditioned columns by the same steps from sums (scoring.h).
 *   z = eta + (y - mu) / mu',   w = mu'^2 / V(mu),   b = argmin sum w (z - offset - b0 - x.b)^2,
 * repeated until the deviance and the score stand still; a step that raises the deviance, or leaves
 * the range of the means, is halved.  One weighted least squares per step, O(n p^2).  Where not
 * every eta has a mean (log and identity of shares, identity of counts ...) the best fit may have
 * means at the end of the range, where the expected information has no bound and these steps creep.
 * Then Newton's steps follow the maximum of log likelihood + t sum_i log(distance of eta_i from the
 * end) as t goes to 0: within n t of the best, by duality, where the likelihood is concave.  For
 * the negative binomial alpha is estimated between rounds by maximising the likelihood in it; it
 * has a maximum above 0 where sum w ((y - mu)^2 - y) > 0, the score at 0.  McCullagh & Nelder
 * (1989), sec. 2.5; Marschner (2011), R Journal 3, for the halving; Boyd & Vandenberghe (2004),
 * Convex Optimization, sec. 11.3, for the barrier. (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_IRLS_H
#define CREDENCE_MODELS_GLM_IRLS_H

#include "models/linear/least_squares.h"
#include "family.h"

typedef struct cri_glm_problem {
    cri_glm_family  family;
    cri_glm_link    link;
    bool            intercept;
    double          alpha; /* of the negative binomial; NaN: estimate it */
    double          tolerance;
    size_t          max_iter;
    const cri_rows *rows;
    const double   *y;       /* [n] shares for the binomial  */
    const double   *weight;  /* [n] what a row counts         */
    const double   *trials;  /* [n] of the binomial, else ones */
    const double   *offset;  /* [n]                           */
    bool            precise; /* weights are precisions: phi / w is the dispersion of a row */
} cri_glm_problem;

typedef struct cri_glm_solution {
    cri_predictor     fit; /* of eta without the offset; sigma 1 */
    cri_least_squares facts;
    double           *eta, *mu; /* [n]; mu only where alpha is estimated, or by steps */
    double            alpha, deviance, pearson;
    double            extreme; /* binomial: rows whose mean is 0 or 1 to nine digits */
    bool              single;  /* binomial: every row is one trial */
    size_t            iterations;
    bool              converged;
    size_t            at_edge;        /* rows whose means are at the end of the range */
    bool              underdispersed; /* alpha, which was to be estimated, is as good as 0 */
    double            left;           /* sum of the weights - coefficients */
} cri_glm_solution;

cr_status cri_glm_solve(cr_ctx *cx, const cri_glm_problem *problem, cri_glm_solution *out);
void      cri_glm_solution_free(cr_ctx *cx, const cri_glm_problem *problem, cri_glm_solution *s);

/* The alpha of the negative binomial that maximises the likelihood at means mu [n]; the least one
 * allowed where the data vary no more than a Poisson's, and then *out_underdispersed. */
cr_status cri_glm_fit_alpha(cr_ctx *cx, const cri_glm_problem *problem, const double *mu,
                            double *out_alpha, bool *out_underdispersed);

/* true when the deviance can fall by no more than a trifle of `size` after a step that was to gain
 * `gain`: steps go on shrinking at least as fast as they did from the one before, or rounding is all
 * that is left of them.  The step itself says more than the change of the deviance, whose sum is
 * rounded: coefficients are as exact as the score is. */
bool cri_glm_has_settled(double gain, double before, double tolerance, double size);

#endif
