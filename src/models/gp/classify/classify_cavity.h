/* classify_cavity.h -- the evidence of three or more classes from the normal of a variational bound.
 * The normal of all functions at the inputs is that of sites exp(nu_ic f - lambda_ic f^2 / 2) in place of p(c_i | f_i),
 * and what the sites leave out, taken input by input under the marginals of the normal, gives
 *   log evidence ~ sum_c [nu_c . mean_c / 2 - log|I + K diag(lambda_c)| / 2] + sum_i log E p(c_i | f_i) / sites_i,
 * the formula of expectation propagation, whose fixed point these sites are near.  It is exact where inputs are
 * independent.  The bound is below the evidence by more the larger the variance of f is, so that settings of the
 * hyper-parameters weighed by it would be too cautious and their intervals too narrow.
 * Minka (2001), UAI; Opper, Paquet & Winther (2013), JMLR 14, 2857-2898.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_CAVITY_H
#define CREDENCE_MODELS_GP_CLASSIFY_CLASSIFY_CAVITY_H

#include "classify_sparse.h"

/* Of a bound at its maximum over q, F > 1, whose inducing inputs are all inputs.  The expectations are averages over a
 * lattice, points [n_points x F] (softmax_normal.h), and their mirror images.  -INFINITY where a cavity has no variance.
 * workspace [4 F].  O(n n_points F). */
double cri_svgp_evidence(const cri_svgp *v, const double *points, size_t n_points,
                         double *workspace);

#endif
