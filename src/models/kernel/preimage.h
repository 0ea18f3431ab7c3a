/* preimage.h -- rows whose features are nearest to given points of the space of a kernel:
 * pre-images.
 *   P = sum_i g_i phi(x_i),   minimise  |phi(x) - P|^2 = k(x, x) - 2 sum_i g_i k(x_i, x) + |P|^2   over x
 * by quasi-Newton steps that never go uphill, from the best of: the row of the data that is nearest
 * in the space of the kernel, the mean of some that are near, and, of rbf, the place whose
 * distances from these are the ones that the distances in the space of the kernel tell (Kwok &
 * Tsang 2004).  At the end the gradient is 0, which of rbf is the fixed point of Mika et al.
 * (1999), whose iteration may also leave it or divide by 0.  Mika, Schoelkopf, Smola, Mueller,
 * Scholz & Raetsch (1999), NIPS 11; Kwok & Tsang (2004), IEEE Transactions on Neural Networks 15.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_PREIMAGE_H
#define CREDENCE_MODELS_KERNEL_PREIMAGE_H

#include "math/kernel/kernel.h"

/* The space: rows x_i of numbers, and coordinates in which points P are given, P = mu + sum_j z_j
 * v_j. */
typedef struct cri_preimage_space {
    const cr_kernel *kernel;
    cr_kernel_input  at; /* [n] rows of d numbers                                        */
    size_t           n, d, q;
    const double    *share;  /* [n] mu = sum_i share_i phi(x_i)                              */
    const double    *weight; /* [n x q] v_j = sum_i weight_ij phi(x_i), of sum 0             */
    const double    *square; /* [q + 1] v_j . mu, and |mu|^2                                 */
    const double    *place;  /* [n x q] coordinates of the rows                              */
    const double    *beside; /* [n] squared distance of phi(x_i) from its projection         */
} cri_preimage_space;

/* x [d]: where a search for the point z [q] may start.  0: the nearest row; 1: the mean of the
 * nearest; 2: of rbf the place with the distances from these that the kernel tells, of other
 * kernels their mean. */
enum { CRI_PREIMAGE_STARTS = 3 };
cr_status cri_preimage_start(cr_ctx *cx, const cri_preimage_space *space, const double *z,
                             size_t start, double *x);
/* out [m x d]: a row for each point of Z [m x q]; out_distance [m] = |phi(x) - P|.  O(n d) a step,
 * some ten steps; the same bits for any number of threads.  Fails as the kernel does. */
cr_status cri_preimages(cr_ctx *cx, const cri_preimage_space *space, const double *Z, size_t m,
                        double *out, double *out_distance);

#endif
