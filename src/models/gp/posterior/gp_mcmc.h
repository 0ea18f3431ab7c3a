/* gp_mcmc.h -- hyper-parameters by Markov chains instead of at their best values.
 *   p(theta | y) ~ p(y | theta) p(theta),   theta: logarithms (gp_starts.h), log noise last
 * Priors are those of gp_prior.h, within the bounds of the search.  Four chains
 * of slice sampling with stepping out (Neal 2003), along the axes first, then along the principal
 * directions that the warm-up showed; no tuning.  A sweep takes about five evaluations of the
 * evidence, n^3 / 3 each, for every parameter.  Predictions are mixtures over the draws. (Internal
 * header.) */
#ifndef CREDENCE_MODELS_GP_POSTERIOR_GP_MCMC_H
#define CREDENCE_MODELS_GP_POSTERIOR_GP_MCMC_H

#include "models/gp/search/gp_learn.h"
#include "gp_posterior.h"

enum { CRI_GP_CHAINS = 4 };
#define CRI_GP_DISAGREE 1.1      /* an R-hat: of 4 x 25 independent draws it is seldom larger */
#define CRI_GP_NO_NOISE (-800.0) /* a log noise whose exponential is 0 */

/* draws [*count x (theta + 1)], chain by chain, *count a multiple of CRI_GP_CHAINS, fewer where the
 * time limit came near, perhaps none; the last column is log noise, as it is when it is not learned.  sd [theta + 1]: what is known of their spread, NaN
 * where it is not.  While R-hat is above CRI_GP_DISAGREE, sweeps between draws are doubled, to four, up to `most` evaluations of the
 * evidence in all.  opt_evaluations: how many there were. */
cr_status cri_gp_mcmc(cr_ctx *cx, const cri_gp_learning *learning, const cr_kernel *k, double noise,
                      const double *sd, double most, size_t *count, double *draws,
                      size_t *opt_evaluations);

/* The largest R-hat and the smallest effective number of draws of a column, of `columns` out of `width`. */
void cri_gp_chains_agreement(const double *draws, size_t length, size_t width, size_t columns,
                             double *out_rhat, double *out_ess);
/* Of the learned hyper-parameters. */
void cri_gp_mcmc_agreement(const cri_gp_posterior *m, double *out_rhat, double *out_ess);
/* Mean, sd, quantiles, R-hat and effective draws of each hyper-parameter. */
cr_status cri_gp_mcmc_describe(cr_ctx *cx, const cri_gp_posterior *m, cri_sheet *list);

#endif
