/* chain_entropy.h -- the entropy of the posterior over whole paths of a chain, in nats.
 *   H(z_1..T | x) = H(z_T | x) + sum_j P(z_T = j | x) H_T(j),
 *   H_t(j) = H(z_1..t-1 | z_t = j, x_1..t)
 *          = sum_i p_i (H_t-1(i) - log p_i),   p_i = P(z_t-1 = i | z_t = j, x_1..t-1), proportional to alpha_t-1(i) M_ij
 * from the filter alpha alone.  O(T k^2) time, O(k) memory.
 * Hernando, Crespi & Cybenko (2005), Efficient computation of the hidden Markov model entropy for a given observation
 * sequence, IEEE Transactions on Information Theory 51.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CHAIN_ENTROPY_H
#define CREDENCE_MODELS_SEQUENCE_CHAIN_ENTROPY_H

#include "base/context.h"

#include <stddef.h>

/* M_ij log M_ij of weights M [k x stride], 0 where M_ij is: out [k x stride]. */
void cri_chain_weigh_logs(const double *M, size_t k, size_t stride, double *out);

/* From alpha [n x apart], each row of k numbers a distribution, weights M and their logs [k x stride]; work [3 k].  NaN
 * where the context says to stop, and where alpha has one. */
double cri_chain_entropy(const cr_ctx *cx, size_t k, size_t stride, const double *M,
                         const double *M_log_M, size_t n, const double *alpha, size_t apart,
                         double *work);

/* The same from logarithms: those of weights T [k x stride], and of the filter, whose rows need not be normalised. */
double cri_chain_entropy_of_logs(const cr_ctx *cx, size_t k, size_t stride, const double *T,
                                 size_t n, const double *log_alpha, size_t apart, double *work);

#endif
