/* quantile.h -- quantile regression as a linear programme, by an interior point method.
 *   minimise  sum_i w_i rho_t(y_i - x_i . b),   rho_t(r) = r (t - 1{r < 0}).
 * The programme solved is its dual,  max y.a  subject to  X^T W a = (1 - t) X^T W 1,  0 <= a <= 1,
 * with Mehrotra's predictor and corrector; b are the multipliers.  O(n p^2) a step, some 10 to 30
 * steps.  The answer is then moved to the vertex it is close to: the b that passes through p rows.
 * Portnoy & Koenker (1997), "The Gaussian hare and the Laplacian tortoise", Stat. Sci. 12; Mehrotra
 * (1992), SIAM J. Optim. 2.  (Internal header.) */
#ifndef CREDENCE_MODELS_ROBUST_QUANTILE_H
#define CREDENCE_MODELS_ROBUST_QUANTILE_H

#include "base/context.h"

typedef struct cri_quantile_fit {
    double objective; /* sum_i w_i rho_t(r_i)                                        */
    double gap;       /* objective minus the dual's: at most so far from the best    */
    size_t iterations;
    bool   converged;
} cri_quantile_fit;

/* X [n x p] of full column rank, w [n] >= 0; b [p] holds a start (least squares) and gets the
 * answer. */
cr_status cri_quantile_solve(cr_ctx *cx, const double *X, const double *y, const double *w,
                             size_t n, size_t p, double share, size_t max_iter, double *b,
                             cri_quantile_fit *out);

#endif
