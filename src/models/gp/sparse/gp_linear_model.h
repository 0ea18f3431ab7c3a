/* gp_linear_model.h -- a Bayesian linear model of m features, from its sums over the rows.
 *   y = H b + D^1/2 (V^T w + e),   w ~ N(0, I_m),  e ~ N(0, I_n),   b flat
 * V [m x n] holds the features divided by the noise, E = D^-1/2 (H, y).  Sparse Gaussian processes
 * are of this form (V = L^-1 K_mn D^-1/2), as are random and Nystroem features.  All that predicts
 * comes from
 *   Phi = V V^T,   M = V E,   S = E^T E:
 *   L2 L2^T = I + Phi,   U = L2^-1 V H,   A A^T = H^T C^-1 H,   w | y ~ N(g, (L2 L2^T)^-1) given b
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SPARSE_GP_LINEAR_MODEL_H
#define CREDENCE_MODELS_GP_SPARSE_GP_LINEAR_MODEL_H

#include "models/gp/exact/gp_exact.h"

typedef struct cri_gp_linear_model {
    size_t  m, q;
    double *Phi;   /* [m x m]                */
    double *M;     /* [m x (q + 1)]          */
    double *S;     /* [(q + 1) x (q + 1)]    */
    double  log_D; /* sum of log D           */
} cri_gp_linear_model;

/* Sums of nothing yet, memory of the arena, and its status. */
cri_gp_linear_model cri_gp_linear_model_new(cr_scratch *s, size_t m, size_t q);
/* E [b x (q + 1)] := D^-1/2 (H, y) of the rows [begin, begin + b), D [b]; V [m x b] := V D^-1/2. */
void cri_gp_linear_model_scale(const cri_gp_problem *problem, size_t begin, const double *D,
                               size_t b, double *E, double *V, size_t m);
/* Adds rows: V [m x b], E [b x (q + 1)], D [b]. */
cr_status cri_gp_linear_model_add(cr_ctx *cx, cri_gp_linear_model *sums, const double *V,
                                  const double *E, const double *D, size_t b);
/* L2 [m x m], g [m], b [q], U [m x q], A [q x q], and the log density of y less -n log(2 pi) / 2.
 * O(m^3 / 3).  The sums stay as they are.  CR_ENUMERIC when H^T C^-1 H is singular. */
cr_status cri_gp_linear_model_solve(cr_ctx *cx, const cri_gp_linear_model *sums, double *L2,
                                    double *g, double *beta, double *U, double *A,
                                    double *out_log_density);

#endif
