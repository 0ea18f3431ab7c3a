/* info.h -- entropies and divergences of probabilities, and entropies estimated from counts.
 * Everything is in nats; divide by log 2 for bits.  Pure functions: nothing allocates or fails.
 * Shannon (1948); Kullback & Leibler (1951); Lin (1991) for Jensen-Shannon. */
#ifndef CREDENCE_PROB_INFO_H
#define CREDENCE_PROB_INFO_H

#include "base/status.h"

/* H(p) = -sum p log p; 0 log 0 is 0.  p [n] sums to one. */
CR_API double cr_info_entropy(const double *p, size_t n);
/* -sum p log q; INFINITY where some q is 0 and its p is not. */
CR_API double cr_info_cross_entropy(const double *p, const double *q, size_t n);
/* KL(p || q) = sum p log(p / q), never negative; INFINITY as above. */
CR_API double cr_info_kl(const double *p, const double *q, size_t n);
/* Jensen-Shannon: the mean divergence of p and q to their mean, between 0 and log 2. */
CR_API double cr_info_js(const double *p, const double *q, size_t n);

/* How an entropy is estimated from counts n_i of N draws, K of them above 0.
 *   plugin        of the shares n_i / N; too small by about (K - 1) / 2N
 *   miller-madow  that bias added: Miller (1955)
 *   chao-shen     shares reduced by the coverage 1 - f_1 / N, f_1 values seen once, and weighted by
 *                 their chance of being seen at all: Chao & Shen (2003)
 *   grassberger   log N - sum n_i G(n_i) / N, G(n) = psi(n) + (-1)^n/2 (psi((n+1)/2) - psi(n/2)),
 *                 least bias, but even and odd counts differ: Grassberger (2003)
 *   schuermann    psi(N) - sum n_i S(n_i) / N, S(n) = psi(n) + (-1)^n int_0^a t^(n-1) / (1 + t) dt
 *                 with a = sqrt(e) - 1: nearly as little, and smooth: Schuermann (2004) */
typedef enum cr_info_estimator {
    CR_INFO_PLUGIN,
    CR_INFO_MILLER_MADOW,
    CR_INFO_CHAO_SHEN,
    CR_INFO_GRASSBERGER,
    CR_INFO_SCHUERMANN
} cr_info_estimator;
#define CR_INFO_ESTIMATORS "plugin|miller-madow|chao-shen|grassberger|schuermann"

/* The estimate from count [n]; counts of 0 do not matter; NaN when all are. */
CR_API double cr_info_entropy_counts(const uint64_t *count, size_t n, cr_info_estimator estimator);

#endif
