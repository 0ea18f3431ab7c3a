/* rotation.h -- which axes to describe a plane of factors by.
 *   W [q x p] loadings, a factor in each row.  W^T W, and with it the likelihood, is the same for T W with any orthogonal T.
 * Varimax takes the T by which the squared loadings of each factor, as shares of what the factors explain of a column,
 * vary most: many near 0, some large.  Promax lets go of right angles: factors whose loadings are as close as can be to
 * powers of those of varimax, which shrinks the small ones.
 * Kaiser (1958), Psychometrika 23; Hendrickson & White (1964), British J. of Statistical Psychology 17.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_ROTATION_H
#define CREDENCE_MODELS_LATENT_ROTATION_H

#include <stdbool.h>
#include <stddef.h>

/* Turns W [q x p] to the maximum of the varimax criterion nearest to it, plane by plane; length [p] is workspace.
 * O(p q^2) for a sweep. */
void cri_varimax(size_t p, size_t q, double *W, double *length);

/* The gradient of the condition c_ab = 0, a < b, that holds at the maximum for factors a and b, by the loadings:
 * out [p x (q + 1)], the last column 0.  Pure. */
void cri_varimax_condition(size_t p, size_t q, const double *W, size_t a, size_t b, double *out);

/* Factors at any angles, from W [q x p] of varimax: pattern [q x p] their loadings, with pattern^T z' = W^T z, the new
 * factors z' = turn z, turn [q x q], and their correlations [q x q].  work [3 q q].  false, and nothing of use set, where
 * a factor has no loadings. */
bool cri_promax(size_t p, size_t q, double power, const double *W, double *pattern, double *turn,
                double *correlation, double *work);

/* Factors in descending order of their sums of squared loadings, the largest loading of each (the first of several)
 * positive; rows of opt_more [q x more] are moved and turned round with them.  length [q] is workspace. */
void cri_rotation_order(size_t p, size_t q, double *W, double *opt_more, size_t more,
                        double *length);

#endif
