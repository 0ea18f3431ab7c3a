/* classify_grid.h -- the mean of a softmax over a normal of few functions, by a grid.
 *   E softmax(f),  f ~ N(m, C) of F = 3 or 4 functions
 * A softmax knows the functions by their differences only, d_k = f_k - f_F: F - 1 dimensions.  The trapezoidal
 * rule over z, d = m_d + L z, on a grid of step h in a ball of radius r errs by about exp(-2 pi^2 / (h s)), s the
 * largest sd of a difference (the poles of the softmax are pi / s away), and by the normal outside the ball.
 * Trefethen & Weideman (2014), SIAM Review 56.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_GRID_H
#define CREDENCE_MODELS_GP_CLASSIFY_GRID_H

#include "../../base/scratch.h"

enum { CRI_GRID_FUNCTIONS = 4 }; /* at the most */

typedef struct cri_classify_grid {
    size_t  F, count;
    double *z, *weight; /* [count x (F - 1)], [count], which add up to 1 */
} cri_classify_grid;

/* The grid for F functions, 3 or 4. */
cr_status cri_classify_grid_new(cr_scratch *s, size_t F, cri_classify_grid *out);
/* out [F] = E softmax(f), mean [F], cov [F x F].  Pure. */
void cri_classify_grid_mean(const cri_classify_grid *grid, const double *mean, const double *cov,
                            double *out);

#endif
