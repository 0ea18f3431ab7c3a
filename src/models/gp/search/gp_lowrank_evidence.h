/* gp_lowrank_evidence.h -- the exact log evidence and its gradient where the covariance has a small
 * numerical rank.  With K = F F^T + R (gp_pivoted_cholesky.h), D = noise diag r, C0 = F F^T + D, G = D^-1/2 F
 * and M M^T = I + G^T G:
 *   log |C0| = log |D| + 2 sum log M_ii
 *   v^T C0^-1 v = |x|^2 + |g|^2,   x = (M M^T)^-1 G^T D^-1/2 v = F^T C0^-1 v,   g = D^-1/2 v - G x = D^1/2 C0^-1 v
 * which cancels nothing.  The error of the log evidence is between 0 and
 *   (tr D^-1 R + a^T R a) / 2 <= tr D^-1 R (1 + |D^1/2 a|^2) / 2,   a = C0^-1 (y - H b)
 * by log |I + C0^-1 R| <= tr C0^-1 R and C0^-1 <= D^-1.  The gradient is that of the covariance
 * T K_PP T^T + D, T = K_nP K_PP^-1 = F L^-1 held to the pivots P, which differs from K by R at any
 * setting:
 *   sum W dK = sum 2 (W T) dK_nP - sum (T^T W T) dK_PP,   W = (a a^T - C0^-1) / 2
 * n r values of the kernel and O(n r^2) operations instead of n^2 and n^3.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SEARCH_GP_LOWRANK_EVIDENCE_H
#define CREDENCE_MODELS_GP_SEARCH_GP_LOWRANK_EVIDENCE_H

#include "gp_learn.h"

/* The largest bound of the error of the log evidence, as a part of it or of n; the error itself is
 * some thousand times smaller. */
#define CRI_GP_LOWRANK_EVIDENCE_ERROR 1e-8

/* *out_value and opt_gradient [theta_size + 1], by theta and log noise, when *out_held; else they
 * are as they were: the rank is above `most`, the noise too small for the bound, or the kernel
 * holds white.  Fails with CR_ENUMERIC where H^T C^-1 H has no factor. */
cr_status cri_gp_lowrank_evidence(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                                  double noise, size_t most, double *out_value,
                                  double *opt_gradient, bool *out_held);

/* The exact log evidence as an objective: so where it holds, with a rank up to n / 8, from 800
 * inputs on, else by the dense formulas.  After a failure the next evaluations, up to 16, do not
 * try.  its workspace is a cri_gp_quick_workspace. */
typedef struct cri_gp_quick_workspace {
    cri_gp_exact_workspace exact;
    size_t                 failed, skip;
} cri_gp_quick_workspace;
cri_gp_objective cri_gp_quick_objective;

#endif
