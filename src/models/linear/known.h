/* known.h -- what the gradients at earlier residuals tell of the one at another residual.
 * Kept are directions q_1 .. q_K, orthonormal, in the span of earlier residuals, with their products
 * P_k = Z^T q_k with all columns.  A residual r = sum_k a_k q_k + v, v orthogonal to them, has
 *   z_j . r = sum_k a_k P_kj + z_j . v,   |z_j . v| <= |z_j| |v|   (Cauchy & Schwarz),
 * which needs K numbers of a column in place of n, and tells of most columns that they are below a
 * bound.  Along a path of lambdas residuals change little and almost linearly, so that few directions
 * leave a small v.  A safe rule in the sense of El Ghaoui, Viallon & Rabbani (2012), Pac. J. Optim. 8.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_KNOWN_H
#define CREDENCE_MODELS_LINEAR_KNOWN_H

#include "columns.h"

typedef struct cri_known_gradients {
    const cri_columns *X;
    size_t             count, most; /* K; most = 0: nothing is kept                   */
    double            *Q;           /* [most x residual_size]                         */
    double            *P;           /* [most x p]                                     */
    double            *a;           /* [most]                                         */
    double            *v;           /* [residual_size] of the residual last looked at */
    double            *guess;       /* [p] sum_k a_k P_kj                             */
    double             length;      /* |v| with what rounding may have taken off      */
    double             rounding;    /* that                                           */
} cri_known_gradients;

/* In the arena, with the direction of r [residual_size], whose products with all columns are
 * `products` [p]. */
cr_status cri_known_new(cr_scratch *s, const cri_columns *X, const double *r,
                        const double *products, cri_known_gradients *out);

/* Looks at the residual r: sets v, guess and length.  O(K (n + p)). */
void cri_known_look(cri_known_gradients *k, const double *r);

/* Takes v as a direction, `products` at [j * stride] being z_j . v. */
void cri_known_add(cri_known_gradients *k, const double *products, size_t stride);

#endif
