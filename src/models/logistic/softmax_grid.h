/* softmax_grid.h -- the mean of a softmax over a normal of few scores, by a grid.
 *   E softmax(f),  f ~ N(m, C) of F = 3 or 4 scores
 * A softmax knows the scores by their differences only, d_k = f_k - f_F: F - 1 dimensions.  The trapezoidal rule
 * over z, d = m_d + L z, on a grid of step h in a ball errs by about exp(-2 pi^2 / (h s)), s the largest sd of a
 * difference (the poles of the softmax are pi / s away), and by the normal outside the ball.  h is chosen for 1e-6:
 * 1800 points up to s = 5.6 where F = 3, more for wider normals until they are 45 000 (s = 28); 4700 up to 2.8
 * where F = 4, and 38 000 (s = 5.6).  Beyond, the error is about 1e-4.
 * Trefethen & Weideman (2014), SIAM Review 56.  (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_SOFTMAX_GRID_H
#define CREDENCE_MODELS_LOGISTIC_SOFTMAX_GRID_H

#include <stddef.h>

enum { CRI_GRID_SCORES = 4 }; /* at the most */

/* out [F] = E softmax(f), mean [F], cov [F x F] with both triangles; F is 3 or 4.  Pure. */
void cri_softmax_grid(size_t F, const double *mean, const double *cov, double *out);

#endif
