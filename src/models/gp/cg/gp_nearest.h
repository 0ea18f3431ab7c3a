/* gp_nearest.h -- variances of an exact process of which no factor is kept.
 *   C = K + s diag r,   R [n x rank] with R^T C R = I,   W = C R [n x rank]
 * R spans what is global, the unit vectors of the inputs N nearest to a row what is local.  Of k =
 * k(at, x) both together explain, in place of k^T C^-1 k,
 *   |t|^2 + u^T M^-1 u,   t = R^T k,   u = k_N - W_N t,   M = C_NN - W_N W_N^T
 * the part of k in a subspace: never more, so that no variance is below the exact one.
 * Saad (2003), Iterative Methods for Sparse Linear Systems, sec. 5.2 (projection);
 * Vecchia (1988), J. R. Statist. Soc. B 50 (nearest rows).  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CG_GP_NEAREST_H
#define CREDENCE_MODELS_GP_CG_GP_NEAREST_H

#include "models/kernel/inputs/gp_data.h"

enum {
    CRI_GP_NEAREST_LEAST = 125,
    CRI_GP_NEAREST_MOST = 1000
}; /* inputs of N at the least and the most */

typedef struct cri_gp_nearest {
    const cri_gp_data *at;
    const cr_kernel   *k;
    double             noise;
    size_t             rank, count; /* count: of N, at most at->n */
    const double      *W;           /* [n x rank]                 */
} cri_gp_nearest;

/* taken [rows] += u^T M^-1 u.  K [n x rows] = k(at, x) and T [rank x rows] = R^T K of these rows.
 * O(n + count^2 rank + count^3) for each row. */
cr_status cri_gp_nearest_take(cr_ctx *cx, const cri_gp_nearest *near, const double *K,
                              const double *T, size_t rows, double *taken);

#endif
