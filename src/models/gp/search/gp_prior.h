/* gp_prior.h -- weakly informative priors of hyper-parameters.
 *   theta_j ~ N(mean_j, sd_j^2),   theta: logarithms (gp_starts.h), log noise last
 * A parameter whose prior the expression does not give has log N(unit, 1.5^2) where it is a length or
 * an amplitude (its unit made from the data), log N(value of the expression, 3^2) otherwise, N(value, 1) where it is a slope of loglinear; the
 * noise has log N(0.3 of the variance of the target, 2^2).  That variance is the one to be expected
 * beyond the n rows, n / (n - 3) of theirs.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SEARCH_GP_PRIOR_H
#define CREDENCE_MODELS_GP_SEARCH_GP_PRIOR_H

#include "gp_starts.h"

typedef struct cri_gp_prior {
    size_t  size;      /* as of the space                             */
    bool   *weak;      /* [size] the expression gives it none         */
    double *mean, *sd; /* [size] of those; NaN for the others         */
} cri_gp_prior;

/* The priors of a space that n rows gave, in memory of the arena. */
cr_status cri_gp_prior_new(cr_scratch *s, const cr_kernel *k, const cri_gp_space *space, double n,
                           cri_gp_prior *out);

/* The log density at x [size], where k stands; its gradient is added to opt_gradient [p + 1].  With
 * priors: of the logarithms.  Without (opt_prior NULL): what the expression gives, as densities of the
 * parameters themselves. */
double cri_gp_log_prior(const cri_gp_prior *opt_prior, const cr_kernel *k, const double *x,
                        double *opt_gradient);

#endif
