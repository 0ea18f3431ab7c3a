/* gp_mcmc.h -- hyper-parameters by Markov chains instead of at their best values.
 *   p(theta | y) ~ p(y | theta) p(theta),   theta: logarithms (gp_starts.h), log noise last
 * Priors are those of the expression; a parameter without one has log N(unit, 1.5^2) for a length
 * or an amplitude (its unit made from the data), log N(value, 1) for others, and for the noise log
 * N(a tenth of the variance of the target, 2^2); all within the bounds of the search.  Four chains
 * of slice sampling with stepping out (Neal 2003), along the axes first, then along the principal
 * directions that the warm-up showed; no tuning.  A sweep takes about five evaluations of the
 * evidence, n^3 / 3 each, for every parameter.  Predictions are mixtures over the draws. (Internal
 * header.) */
#ifndef CREDENCE_MODELS_GP_POSTERIOR_GP_MCMC_H
#define CREDENCE_MODELS_GP_POSTERIOR_GP_MCMC_H

#include "models/gp/search/gp_learn.h"
#include "gp_posterior.h"

enum { CRI_GP_CHAINS = 4 };

/* draws [count x (theta + 1)], chain by chain, count a multiple of CRI_GP_CHAINS; the last column
 * is log noise, as it is when it is not learned.  opt_evaluations: of the evidence. */
cr_status cri_gp_mcmc(cr_ctx *cx, const cri_gp_learning *learning, const cr_kernel *k, double noise,
                      size_t count, double *draws, size_t *opt_evaluations);
/* Of one column: count chains of `length` values, `stride` apart.  R-hat of the halves of the
 * chains (Gelman et al. 2013, sec. 11.4) and the effective number of draws (Geyer's initial
 * positive sequence). */
void cri_gp_chain_report(const double *draws, size_t count, size_t length, size_t stride,
                         double *out_rhat, double *out_ess);

/* The processes of a mixture, one after the other: `one` is that of the draw it was set to. */
typedef struct cri_gp_mixture {
    const cri_gp_posterior *m;
    cri_gp_posterior        one; /* shares the inputs of m */
    cri_gp_problem          problem;
} cri_gp_mixture;

/* Workspace for one process; its memory is the arena's, except the kernel.  O(n^2) numbers. */
cr_status cri_gp_mixture_open(cr_ctx *cx, cr_scratch *s, const cri_gp_posterior *m,
                              cri_gp_mixture *out);
/* The process at draw h.  O(n^3 / 3). */
cr_status cri_gp_mixture_set(cr_ctx *cx, cri_gp_mixture *x, size_t h);
/* Frees the kernel. */
void cri_gp_mixture_close(cr_ctx *cx, cri_gp_mixture *x);

/* The mixture over the draws: means, and variances by the law of total variance. */
cr_status cri_gp_mcmc_predict(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                              cr_prediction *out);
/* Mean, sd and covariance of the function: the mean of the covariances, and the covariance of the
 * means. */
cr_status cri_gp_mcmc_function(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                               bool prior, double *mean, double *opt_sd, double *opt_covariance);
/* The slopes of the mean, which are the mean of the slopes. */
cr_status cri_gp_mcmc_slopes(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                             double *out);
/* Mean and sd of part number k. */
cr_status cri_gp_mcmc_part(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design, size_t k,
                           const cri_rows *rows, cr_part *out_part, double *mean, double *sd);

typedef enum cri_gp_drawn { CRI_GP_TARGETS, CRI_GP_FUNCTIONS, CRI_GP_PRIOR_FUNCTIONS } cri_gp_drawn;

/* Joint draws, each with hyper-parameters of its own as far as there are enough; fewer take some of
 * all chains. design: of targets, else NULL. */
cr_status cri_gp_mcmc_sample(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *opt_design,
                             const cri_rows *rows, cri_gp_drawn what, size_t count, uint64_t seed,
                             double *out);
/* The largest R-hat and the smallest effective number of draws of a learned hyper-parameter. */
void cri_gp_mcmc_agreement(const cri_gp_posterior *m, double *out_rhat, double *out_ess);
/* Mean, sd, quantiles, R-hat and effective draws of each hyper-parameter. */
cr_status cri_gp_mcmc_describe(cr_ctx *cx, const cri_gp_posterior *m, cri_sheet *list);

#endif
