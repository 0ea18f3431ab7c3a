/* gp_rff.h -- Gaussian process regression on random Fourier features (gp_spectrum.h).
 *   f(x) = phi(x) . w,  w ~ N(0, I_m),   y ~ N(H b, Phi Phi^T + s diag r)
 * a Bayesian linear model: O(n m^2) time, O(m^2) memory.  The error of the kernel falls as 1 /
 * sqrt(m).  The evidence is that of the model with these features, its gradient by hyper-parameters
 * with the draws held.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SPARSE_GP_RFF_H
#define CREDENCE_MODELS_GP_SPARSE_GP_RFF_H

#include "models/gp/search/gp_learn.h"
#include "gp_spectrum.h"

/* What comes of it, in memory of the caller; g is what gp_posterior.h has as alpha. */
typedef struct cri_gp_rff {
    const cri_gp_spectrum *spectrum;
    double                 value;
    double                *W, *weight, *phase; /* [m x d], [m], [m]          */
    double                *L2, *g, *beta, *U, *A;
} cri_gp_rff;

/* Value and all that predicts; opt_gradient [theta + 1] by theta and log noise. */
cr_status cri_gp_rff_solve(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                           double noise, cri_gp_rff *rff, double *opt_gradient);
/* The same as an objective; its workspace is a cri_gp_rff. */
cri_gp_objective cri_gp_rff_objective;
/* The root of the mean squared error of phi . phi for pairs of some of the rows, relative to the
 * mean of k(x, x). */
cr_status cri_gp_rff_error(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k,
                           const cri_gp_rff *rff, double *out_error);

#endif
