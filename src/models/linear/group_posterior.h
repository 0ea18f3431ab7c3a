/* group_posterior.h -- the posterior of coefficients and groups of a linear predictor with varying
 * intercepts, and of a mixture of such.  Given theta, b0 and w,
 *   u_g ~ N(k_g (t_g - b0 - z_g . w), s2 / (N_g + theta)),   k_g = N_g / (N_g + theta):
 * the mean of the group, shrunk; group_sums.h has the notation.  Means and scales^2 of v = (b0, w) and
 * of u_g are added up node by node, O(J q^2) each.  Where the scale^2 of v_i differs between the nodes, it is known only as
 * well as from fewer degrees of freedom d: trigamma(d / 2) = trigamma(dof / 2) + variance of log scale^2, as with
 * Satterthwaite (1946), Biometrics Bulletin 2.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_GROUP_POSTERIOR_H
#define CREDENCE_MODELS_LINEAR_GROUP_POSTERIOR_H

#include "group_sums.h"
#include "models/common/varying.h"

typedef struct cri_group_posterior {
    size_t  q;          /* 1 + p                      */
    double  total;      /* shares added               */
    double *v, *C;      /* [q], [q x q]               */
    double *mean, *vv;  /* [J] of u_g                 */
    double *c;          /* [J x q] with v             */
    double *C1;         /* [q x q] workspace          */
    double *log, *log2; /* [q] mean of log scale^2 of v, and of its square */
} cri_group_posterior;

/* All zero, in the arena. */
cr_status cri_group_posterior_new(cr_scratch *arena, const cri_group_sums *sums,
                                  cri_group_posterior *out);

/* What is known at one theta: v [1 + p], and the covariance of w as sigma2 F'F, F [p x p]. */
typedef struct cri_group_node {
    const cri_group_equations *e;
    bool                       flat;
    double                     sigma2;
    const double              *v, *factor;
} cri_group_node;

/* Adds a node; `spread` is the share of a t's variance that is its scale^2.  *out_kept: the sum over
 * the groups of how much of their variance before the data is left. */
cr_status cri_group_posterior_add(cr_ctx *cx, const cri_group_sums *sums,
                                  const cri_group_node *node, double share, double spread,
                                  cri_group_posterior *a, double *out_kept);

/* The predictor (its scales, coefficients and leverages over sigma2; sigma and dof are set) and the
 * groups, allocated: mean, variance and covariances. */
cr_status cri_group_posterior_finish(cr_ctx *cx, const cri_group_sums *sums,
                                     const cri_group_posterior *a, double sigma2,
                                     cri_predictor *fit, cri_varying *out);

#endif
