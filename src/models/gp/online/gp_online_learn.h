/* gp_online_learn.h -- what an on-line process changes with a batch: hyper-parameters, and where
 * its inducing inputs are.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_ONLINE_GP_ONLINE_LEARN_H
#define CREDENCE_MODELS_GP_ONLINE_GP_ONLINE_LEARN_H

#include "gp_stream.h"
#include "models/gp/search/gp_prior.h"

/* Some steps of L-BFGS uphill on the bound of the stream, times the priors where there are any, from
 * where k and *noise are, each parameter within a factor of e^2 of it: a batch may not say
 * otherwise.  learn_noise false: the noise stays. */
cr_status cri_gp_online_ascend(cr_ctx *cx, const cri_gp_problem *problem, cri_gp_stream *stream,
                               const cri_gp_prior *opt_prior, bool learn_noise, size_t steps,
                               cr_kernel *k, double *noise, size_t *out_iterations,
                               cr_stop *out_stop);
/* At most m of the old inducing inputs and the new ones, one after the other that which the chosen
 * ones leave most variance (pivoted Cholesky factorisation): out_Z is made. */
cr_status cri_gp_online_choose(cr_ctx *cx, const cr_kernel *k, const cri_gp_data *old,
                               const cri_gp_data *data, size_t m, cri_gp_data *out_Z);

#endif
