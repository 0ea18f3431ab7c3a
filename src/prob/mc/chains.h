/* chains.h -- do Markov chains agree, and how many independent draws are theirs worth?
 *   R-hat = sqrt(((L - 1) / L W + B) / W)     over parts of L draws: W the mean of their variances,
 *                                             B the variance of their means
 *   ESS   = N / tau,  tau = -1 + 2 sum_k P_k + max(0, rho_2K),   P_k = rho_2k + rho_2k+1
 *   rho_t = 1 - (W - c_t) / var,              c_t the mean autocovariance at lag t (divisor L),
 *                                             var = (L - 1) / L W + B,   rho_0 = 1
 * where P_k counts up to the first, K, that is not positive, and none more than the one before it:
 * Geyer's (1992) initial monotone sequence; tau >= 1 / log10 N.  R-hat takes the halves of the
 * chains as parts, so that a trend counts as disagreement.  Gelman & Rubin (1992); Gelman et al.
 * (2013), Bayesian Data Analysis, sec. 11.4-11.5; Vehtari et al. (2021), Bayesian Analysis 16,
 * 667-718, sec. 2-3.  (Internal header.) */
#ifndef CREDENCE_PROB_MC_CHAINS_H
#define CREDENCE_PROB_MC_CHAINS_H

#include "base/status.h"

/* Mean and variance (divisor n - 1; 0 of one value) of n values, `stride` apart. */
void cri_mean_variance(const double *x, size_t n, size_t stride, double *out_mean,
                       double *out_variance);

/* W and B of parts of equal length, which are added one after another.  All zeros: of none. */
typedef struct cri_agreement {
    size_t parts;
    double mean, square, within; /* of their means; sum of squares about it; sum of variances */
} cri_agreement;

/* One part more, by its mean and variance. */
void cri_agreement_add(cri_agreement *a, double mean, double variance);
/* R-hat of two parts or more of `length` draws; W counts as `least` at least.  1 where nothing
 * varies, INFINITY where only the means do. */
double cri_agreement_rhat(const cri_agreement *a, size_t length, double least);

/* R-hat of the halves of chains of at least four draws, laid out as below. */
double cri_chains_rhat(const double *draws, size_t chains, size_t length, size_t stride);

/* R-hat and effective number of draws of `chains` chains of `length` values, `stride` apart, one
 * chain after another.  Chains of fewer than four draws have no R-hat (NaN), and all their draws
 * count.  O(chains length K). */
void cri_chains_diagnose(const double *draws, size_t chains, size_t length, size_t stride,
                         double *out_rhat, double *out_ess);

#endif
