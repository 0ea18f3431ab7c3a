/* classify_sparse.h -- a Gaussian process classifier through m inducing inputs Z, by a variational
 * bound.
 *   K_mm = L L^T,  u_c = L v_c,  q(v_c) = N(mu_c, S_c);   A = L^-1 K_mn
 *   f_gc ~ N(A_g . mu_c, k_gg - |A_g|^2 + A_g^T S_c A_g)
 *   bound = sum_g E log p(c_g | f_g) - sum_c KL(q(v_c) | N(0, I))  <=  log evidence
 * At its maximum over q,  S_c^-1 = I + A diag(lambda_c) A^T  with lambda = -2 dE/dvariance, and
 * mu_c = A e_c with e = dE/dmean, of each row.  q is kept by lambda and mu; lambda goes to that
 * fixed point, which is the natural gradient with step 1, and mu by Newton's steps with S_c^-1;
 * more than two classes are coupled, and their steps solve with I + A W A^T, W = -d2E/dmean2, by
 * conjugate gradients.  Steps that lower the bound are halved.  Expectations: classify_link.h for
 * two classes; more: the tilted bound, classify_tilted.h.  The gradient by the parameters of k
 * leaves v_c as it is, since the bound is flat there:
 *   dK_mn: L^-T sum_c (mu_c e_c^T + (I - S_c) A diag(lambda_c))
 *   dK_mm: -L^-T sum_c (mu_c mu_c^T + S_c^-1 - 2 I + S_c) L^-1 / 2,    dk_gg: -sum_c lambda_gc / 2
 * O(F n m^2) a step; memory n m + F (m^2 + 10 n) + F^2 n numbers.
 * Titsias (2009), AISTATS; Hensman, Matthews & Ghahramani (2015), AISTATS; Khan & Lin (2017),
 * AISTATS. (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_SPARSE_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_SPARSE_H

#include "classify_laplace.h"

/* Workspace, and what comes of it; it remembers q for the next parameters. */
typedef struct cri_svgp {
    const cri_classify_data *data;
    const cri_gp_data       *Z;
    size_t                   m;
    double                  *L;      /* [m x m]                                                */
    double                  *factor; /* [F x m x m] those of S_c^-1                            */
    double                  *mu;     /* [F x m]                                                */
    double                  *A;      /* [m x n]                                                */
    double                  *left;   /* [n] k_gg - |A_g|^2                                     */
    double                  *lambda; /* [F x n] of q                                           */
    double                  *next;   /* [F x n] where the fixed point would have it            */
    double                  *bend;   /* [n x F x F] W, F > 1 only              */
    double                  *mean, *variance, *slope; /* [F x n] of f; dE/dmean               */
    double                  *part; /* [blocks of rows] sums of E log p                       */
    double                  *work; /* of each block of rows                             */
    cri_hermite              rule;
    double                   bound, expected, divergence, jitter;
    size_t                   steps;
    bool                     warm, converged;
} cri_svgp;

/* Workspace, from the arena; data, Z, L and factor are the caller's. */
cr_status cri_svgp_new(cr_scratch *s, const cri_classify_data *data, const cri_gp_data *Z,
                       double *L, double *factor, cri_svgp *out);
/* The numbers it keeps. */
double cri_svgp_numbers(size_t n, size_t m, size_t F);
/* The bound at its maximum over q, and by theta its gradient: a cri_gp_objective whose method is a
 * cri_svgp.  problem->data must be data->at.  Fails with CR_ENUMERIC when K_mm is too near to
 * singular. */
cri_gp_objective cri_svgp_objective;
/* The bound with q as lambda and mu say. */
cr_status cri_svgp_bound(cr_ctx *cx, cri_svgp *workspace);

#endif
