/* gp_cost.h -- what a Gaussian process will cost, told before it starts, and refused when it cannot
 * be. (Internal header.) */
#ifndef CREDENCE_MODELS_GP_METHODS_GP_COST_H
#define CREDENCE_MODELS_GP_METHODS_GP_COST_H

#include "models/gp/posterior/gp_posterior.h"

/* The approximation for n distinct inputs and m inducing ones when nobody asked for one: exact up
 * to 4000 inputs, vfe up to 100000, svgp beyond; told when it is not exact. */
cri_gp_approx cri_gp_choose(cr_ctx *cx, size_t n, size_t m);
/* The sparse approximation for n distinct inputs. */
cri_gp_approx cri_gp_choose_sparse(size_t n);
/* By a factor of n rows.  Like the next two it fails with CR_ENOMEM, a figure and a hint when
 * memory would not do, and tells the cost of a large one. */
cr_status cri_gp_cost_exact(cr_ctx *cx, size_t n);
/* By conjugate gradients with a root of some rank; learn: hyper-parameters too.  Tells where a
 * factor would do better. */
cr_status cri_gp_cost_cg(cr_ctx *cx, size_t n, size_t rank, size_t probes, bool learn);
/* By m features or inducing inputs. */
cr_status cri_gp_cost_sparse(cr_ctx *cx, cri_gp_approx approx, size_t n, size_t m);
/* How many evaluations of the evidence draws of hyper-parameters take, about. */
double cri_gp_mcmc_evaluations(size_t parameters, size_t draws);
/* Tells what draws of hyper-parameters cost beside. */
cr_status cri_gp_cost_mcmc(cr_ctx *cx, size_t n, size_t parameters, size_t draws);

#endif
