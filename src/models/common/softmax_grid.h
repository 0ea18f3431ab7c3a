/* softmax_grid.h -- the mean of a softmax over a normal of few scores, by a grid.
 *   E softmax(f),  f ~ N(m, C) of F = 3 or 4 scores
 * A softmax knows the scores by their differences only, d_k = f_k - f_F = (m_d + L z)_k: F - 1
 * dimensions.  The last z moves one difference alone, and given the others the softmax is a sigmoid
 * of it:
 *   A = 1 + sum_(k < F-1) exp d_k,   p_(F-1) = sigmoid(d_(F-1) - log A),   the others share the rest as exp d_k / A
 * whose mean is a logistic-normal integral.  The other z go by the trapezoidal rule, of which a
 * step h errs by about exp(-2 pi^2 / (h s)), s how far a unit of z moves the differences apart (the
 * poles of the softmax are pi / s away): h follows s, so that wide normals are as good as narrow
 * ones until the points are as many as allowed.  Trefethen & Weideman (2014), SIAM Review 56.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_SOFTMAX_GRID_H
#define CREDENCE_MODELS_COMMON_SOFTMAX_GRID_H

#include <stddef.h>

enum { CRI_GRID_SCORES = 4 }; /* at the most */

/* out [F] = E softmax(f), mean [F], cov [F x F] with both triangles; F is 3 or 4.  Pure. */
void cri_softmax_grid(size_t F, const double *mean, const double *cov, double *out);

#endif
