/* gp_basis.h -- an on-line Gaussian process with a bounded set of basis inputs.
 *   f(basis) = L u,   L L^T = K(basis, basis),   u ~ N(mu, Sigma), before any row N(0, I)
 * For a row x: w = L^-1 k(basis, x), and g = k(x, x) - |w|^2 is what the basis leaves open of f(x).
 * A row whose g matters becomes a basis input: L gets the row (w, g^1/2), u a new N(0, 1).  Then y
 * is taken in:
 *   v = w^T Sigma w [+ g] + noise,   mu += Sigma w (y - m) / v,   Sigma -= Sigma w w^T Sigma / v.
 * A basis that has grown beyond its bound loses the input whose removal changes the mean least,
 * a_i^2 / B_ii with a = L^-T mu, B = L^-T Sigma L^-1; of the rest the marginal stays, which is the
 * best approximation in the sense of Kullback & Leibler.  O(M^2) for each row, O(M^3) for a
 * removal.  With a capacity for all inputs the posterior is that of the exact process.  Csato & Opper
 * (2002), Sparse on-line Gaussian processes, Neural Computation 14; there with alpha = a and C = B
 * - K^-1, here in coordinates that stay well conditioned.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_ONLINE_GP_BASIS_H
#define CREDENCE_MODELS_GP_ONLINE_GP_BASIS_H

#include "models/gp/posterior/gp_posterior.h"

typedef struct cri_gp_basis {
    size_t    n, capacity; /* inputs; for how many there is memory (the bound, and one) */
    size_t    d, c;
    double   *X;         /* [capacity x d]    */
    uint32_t *codes;     /* [capacity x c]    */
    double   *mu;        /* [capacity]        */
    double   *L, *Sigma; /* [capacity x capacity], L with 0 above its diagonal */
    double    log_score; /* sum of the log predictive densities of the rows taken in */
} cri_gp_basis;

/* An empty one for at most `most` inputs; the memory is the arena's. */
cr_status cri_gp_basis_new(cr_scratch *s, size_t most, size_t d, size_t c, cri_gp_basis *out);
/* From inputs at with mu [n], L and Sigma [n x n]. */
cr_status cri_gp_basis_from(cr_scratch *s, const cri_gp_data *at, const double *mu, const double *L,
                            const double *Sigma, size_t most, cri_gp_basis *out);
/* Takes in the rows of data; inputs beyond the bound are removed. */
cr_status cri_gp_basis_add(cr_ctx *cx, const cr_kernel *k, double noise, const cri_gp_data *data,
                           cri_gp_basis *basis);
/* alpha [n], and L2 [n x n] with L2 L2^T = Sigma^-1: what predicts (gp_posterior.h). */
cr_status cri_gp_basis_solve(cr_ctx *cx, const cri_gp_basis *basis, double *alpha, double *L2);

#endif
