/* kernel_weights.h -- kernel regression: a mean of the targets, weighted by how near their rows
 * are.
 *   u_i^2 = sum_j ((x_j - x_ij) / h_j)^2
 *   k_i   = w_i exp(-u_i^2 / 2), or w_i max(0, 1 - u_i^2) (Epanechnikov)
 *   order 0:  mean = sum v_i y_i,   v_i = k_i / sum k              (Nadaraya 1964; Watson 1964)
 *   order 1:  the plane through the weighted rows, at x            (Cleveland 1979; Fan 1993)
 * The exponents are taken against the least of them, so that a point far from all rows has the mean
 * of the nearest; under Epanechnikov a point with no row within h likewise, and of either order a
 * point so far that its squared distances overflow.  n rows, p columns; h [p].  A mean costs O(n
 * p), of order 1 O(n p^2 + p^3).  (Internal header.) */
#ifndef CREDENCE_MODELS_NEIGHBOURS_KERNEL_WEIGHTS_H
#define CREDENCE_MODELS_NEIGHBOURS_KERNEL_WEIGHTS_H

#include "models/core/class.h"

typedef struct cri_smoother {
    size_t  n, p;
    bool    compact, linear; /* Epanechnikov; order 1 */
    double *X, *y, *w;       /* [n x p], [n], [n]     */
    double *h;               /* [p]                   */
    bool    whole;           /* a row is left out with all of its weight */
} cri_smoother;

/* The doubles of workspace that an answer needs. */
size_t cri_smoother_workspace_size(const cri_smoother *m);
/* The mean at x [p], the rows but one of the copies of `self` (SIZE_MAX: all rows); v [n] = the
 * share of each row, and *out_count = 1 / sum v_i^2 / w_i, the number of rows of weight 1 that say
 * as much. NaN and count 0 where no row is left. */
double cri_smoother_mean(const cri_smoother *m, const double *x, size_t self, double *v,
                         double *workspace, double *out_count);
/* Leave-one-out: residual [n] of every row, or of the rows[i], i < n_rows, where given; and the
 * mean of the squares over the weights in *out_mse. */
cr_status cri_smoother_loo(cr_ctx *cx, const cri_smoother *m, const size_t *opt_rows, size_t n_rows,
                           double *out_residual, double *out_mse);

#endif
