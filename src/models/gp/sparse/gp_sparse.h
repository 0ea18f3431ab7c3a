/* gp_sparse.h -- Gaussian processes through m inducing inputs Z: O(n m^2) time, O(m^2) memory.
 *   Q = K_nm K_mm^-1 K_mn,   y ~ N(H b, Q + D)
 *   sor, dtc  D = s diag r                      subset of regressors; deterministic training conditional
 *   fitc      D = s diag r + diag(K - Q)        fully independent training conditional
 *   vfe       as dtc, minus tr((K - Q) / (s diag r)) / 2: a lower bound of the log evidence
 * A row of weight w counts as w rows: for fitc each of them has its own K - Q, D = s r + (K - Q) / w,
 * and rows of equal inputs are not merged.  sor and dtc share the evidence and the mean, not the variance.  With K_mm = L L^T, V = L^-1 K_mn
 * D^-1/2 and I + V V^T = L2 L2^T, predictions are as gp_posterior.h has them.  Rows go through in
 * blocks, so that no n x m matrix is kept.  Quinonero-Candela & Rasmussen (2005), JMLR 6; Snelson &
 * Ghahramani (2006); Titsias (2009). (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SPARSE_GP_SPARSE_H
#define CREDENCE_MODELS_GP_SPARSE_GP_SPARSE_H

#include "models/gp/search/gp_learn.h"
#include "models/gp/exact/gp_approx.h"

/* What comes of it, in memory of the caller; alpha, beta, U, A as in gp_posterior.h. */
typedef struct cri_gp_sparse {
    cri_gp_approx approx;
    cri_gp_data   Z;      /* only its inputs are read       */
    double        value;  /* log evidence, or bound         */
    double        jitter; /* added to the diagonal of K_mm  */
    double        left;   /* the trace of K - Q over that of K */
    double       *L, *L2; /* [m x m]                        */
    double       *alpha, *beta, *U, *A;
} cri_gp_sparse;

/* Value and all that predicts; opt_gradient [theta + 1] by theta and log noise; opt_dZ [m x d] by
 * the inducing inputs.  Fails with CR_ENUMERIC when K_mm is too near to singular. */
cr_status cri_gp_sparse_solve(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                              double noise, cri_gp_sparse *sparse, double *opt_gradient,
                              double *opt_dZ);
/* The same as an objective; its workspace is a cri_gp_sparse. */
cri_gp_objective cri_gp_sparse_objective;

/* L [m x m]: the factor of K_mm plus jitter, 1e-12 of its diagonal or as much more as it needs.
 * Never none: a K_mm that is singular up to rounding may have a factor, whose Q is then larger than
 * K.  With jitter Q is smaller than without, so that bounds stay bounds. */
cr_status cri_gp_inducing_factor(cr_ctx *cx, const cr_kernel *k, const cri_gp_data *Z, double *L,
                                 double *out_jitter);

/* m of the inputs, by k-means++ (Arthur & Vassilvitskii 2007) on columns divided by their spread,
 * then, where all columns are numbers, some steps of k-means.  All of them when m >= n.  Equal inputs
 * of rows that are not merged count once. */
cr_status cri_gp_inducing(cr_ctx *cx, const cri_gp_data *data, size_t m, uint64_t seed,
                          cri_gp_data *out_Z);
/* Learns hyper-parameters and inducing inputs together, from where they are. */
cr_status cri_gp_learn_inducing(cr_ctx *cx, const cri_gp_learning *learning, cri_gp_sparse *sparse,
                                cr_kernel *k, double *noise, cri_gp_learned *learned);

#endif
