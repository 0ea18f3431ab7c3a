/* gp_cost.h -- what a Gaussian process will cost, told before it starts, and refused when it cannot be.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GP_GP_COST_H
#define CREDENCE_MODELS_GP_GP_COST_H

#include "gp_posterior.h"

/* The approximation for n distinct inputs and m inducing ones when nobody asked for one: exact up to 4000
 * inputs, vfe up to 100000, svgp beyond; told when it is not exact. */
cri_gp_approx cri_gp_choose(cr_ctx *cx, size_t n, size_t m);
/* Each fails with CR_ENOMEM, a figure and a hint when memory would not do, and tells the cost of a large
 * one: by a factor; by conjugate gradients with a root of some rank; by m features or inducing inputs; draws
 * of hyper-parameters. */
cr_status cri_gp_cost_exact(cr_ctx *cx, size_t n);
cr_status cri_gp_cost_cg(cr_ctx *cx, size_t n, size_t rank);
cr_status cri_gp_cost_sparse(cr_ctx *cx, cri_gp_approx approx, size_t n, size_t m);
cr_status cri_gp_cost_mcmc(cr_ctx *cx, size_t n, size_t parameters, size_t draws);

#endif
