/* gp_svgp.h -- stochastic variational Gaussian process regression: the bound from some rows at a
 * time.
 *   q(u) at m inducing inputs, u = L v, K_mm = L L^T, q(v) = N(g, (L2 L2^T)^-1); for b rows of n
 *   bound ~ n/b sum_i [ log N(y_i - h_i b; v_i . g, D_i) - (k_ii - |v_i|^2 + |L2^-1 v_i|^2) / (2 D_i) ]
 *           - KL(q(v) | N(0, I)),      v_i = L^-1 k(Z, x_i),  D_i = noise r_i
 * The likelihood is normal, so a natural gradient step of q is a weighted mean of its natural
 * parameters, the sums of gp_linear_model.h, with those of the rows seen: rate 1 on all rows is the
 * optimum, where the bound is that of vfe.  Hyper-parameters go by the gradient of the bound at q
 * as it is (Adam).  O(b m^2 + m^3) time a step, O(m^2 + m BLOCK) memory.  Hensman, Fusi & Lawrence
 * (2013), UAI; Salimbeni, Eleftheriadis & Hensman (2018), AISTATS. (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SPARSE_GP_SVGP_H
#define CREDENCE_MODELS_GP_SPARSE_GP_SVGP_H

#include "gp_sparse.h"
#include "gp_linear_model.h"

/* q and the inducing inputs; memory of the caller. */
typedef struct cri_gp_svgp {
    cri_gp_data         Z;        /* only its inputs are read                        */
    cri_gp_linear_model sums;     /* natural parameters of q, less those of the prior */
    double             *L, *L2;   /* [m x m]                                          */
    double             *g, *beta; /* [m], [q]                                         */
    double             *U, *A;    /* [m x q], [q x q]                                 */
    bool                ready;    /* q is there                                       */
} cri_gp_svgp;

/* Moves q by a natural gradient step of this rate (0, 1] on the items (NULL: all rows). */
cr_status cri_gp_svgp_step(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                           double noise, const size_t *opt_items, size_t n_items, double rate,
                           cri_gp_svgp *q);
/* The bound as the items estimate it, at q as it is; opt_gradient [theta + 1] by theta and log
 * noise, opt_dZ [m x d], both at fixed q(v). */
cr_status cri_gp_svgp_bound(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                            double noise, const size_t *opt_items, size_t n_items,
                            const cri_gp_svgp *q, double *out_value, double *opt_gradient,
                            double *opt_dZ);

typedef struct cri_gp_svgp_options {
    size_t batch, epochs;
    bool   move_inputs;
} cri_gp_svgp_options;

/* Learns hyper-parameters, q and, if asked to, the inputs sparse->Z by mini-batches from where they
 * are; the iterations of the report are epochs. */
cr_status cri_gp_svgp_learn(cr_ctx *cx, const cri_gp_learning *learning,
                            const cri_gp_svgp_options *options, cri_gp_sparse *sparse, cr_kernel *k,
                            double *noise, cri_gp_learned *out);

#endif
