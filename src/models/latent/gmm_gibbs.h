/* gmm_gibbs.h -- draws from the posterior of a mixture: sweeps, chains, answers.  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_GMM_GIBBS_H
#define CREDENCE_MODELS_LATENT_GMM_GIBBS_H

#include "gmm.h"

/* --- one sweep (gmm_gibbs.c) ------------------------------------------------------------------ */

/* Draws the component of each of n rows X [n x d] of data, which become t, of weights opt_w [n] that are whole, and adds
 * them to the statistics [cri_gmm_width], with the log likelihood; row i has stream first + i of the seed. */
void   cri_gmm_sweep_rows(const cri_gmm *m, uint64_t seed, uint64_t first, double *X,
                          const double *opt_w, size_t n, double *sums, double *work);
size_t cri_gmm_sweep_work(const cri_gmm *m);
/* Shares, means and covariances given these statistics, which were taken at the state; fails with CR_ENUMERIC where a
 * covariance has no inverse. */
cr_status cri_gmm_draw_parameters(cr_ctx *cx, const double *sums, cr_rng *r, cri_gmm *m);

/* --- chains (gmm_chains.c) -------------------------------------------------------------------- */

/* Draws from the posterior, from the state of EM on, which becomes the posterior mean; `some` rows decide which
 * component of a draw is which.  Warns where chains disagree or were cut by the time limit. */
cr_status cri_gmm_run_chains(cr_ctx *cx, const cri_rows *rows, const cri_gmm_rows *some,
                             const cri_gmm_options *o, uint64_t seed, cri_gmm *m);

/* --- answers (gmm_gibbs.c) -------------------------------------------------------------------- */

/* Numbers of a draw that is kept: shares, means, factors. */
size_t cri_gmm_draw_size(const cri_gmm *m);
/* What is made of the draws in the state; and its end. */
cr_status cri_gmm_ready_draws(cr_ctx *cx, cri_gmm *m);
void      cri_gmm_release_draws(cr_ctx *cx, cri_gmm *m);
/* The mixture of one draw, which borrows its arrays. */
cri_gmm cri_gmm_drawn(const cri_gmm *m, size_t draw);
/* As cri_gmm_respond, averaged over the draws; X stays. */
void cri_gmm_average(const cri_gmm *m, const double *X, size_t n, double *out, double *log_density,
                     double *work);
size_t cri_gmm_average_work(const cri_gmm *m);

#endif
