/* diagnose.h -- what draws of Markov chains are worth, by ranks.
 *   z_i = Phi^-1((r_i - 3/8) / (S + 1/4)),   r_i the rank of draw i among all S
 *   R-hat      the larger of those of z and of the z of |x - median|: location, and spread
 *   bulk ESS   that of z;   tail ESS: the smaller of those of x <= q5 and x <= q95
 * all of the halves of the chains, so that nothing has to have a mean or variance.  The Monte-Carlo
 * error of the mean is sd / sqrt(ESS of x); of a quantile, half of what lies between the quantiles of
 * x at those of Beta(ESS p + 1, ESS (1 - p) + 1) for Phi(-1) and Phi(1).
 * E-BFMI of a chain: sum (E_i - E_i-1)^2 / sum (E_i - mean)^2; below 0.3 momenta do not reach all
 * energies.  Vehtari et al. (2021), Bayesian Analysis 16, 667-718; Betancourt (2016), arXiv
 * 1604.00695.  (Internal header.) */
#ifndef CREDENCE_PROB_MC_DIAGNOSE_H
#define CREDENCE_PROB_MC_DIAGNOSE_H

#include "base/status.h"

typedef struct cri_draws_summary {
    double mean, sd, q5, q50, q95;
    double r_hat, ess_bulk,
        ess_tail; /* R-hat NaN of chains of fewer than four draws; all NaN, and R-hat
                                       * with them, where a draw is not finite                       */
    double mcse, mcse_q5, mcse_q50, mcse_q95;
} cri_draws_summary;

/* Of `chains` chains of `length` draws, `stride` apart, one chain after another.  work [3 x chains x
 * length].  O(S log S + S K), K the lag where the correlation is over.  What never varies is agreed on,
 * and worth all its draws.  Pure. */
void cri_draws_summarise(const double *draws, size_t chains, size_t length, size_t stride,
                         double *work, cri_draws_summary *out);
enum { CRI_DRAWS_WORK = 3 };

/* The smallest of the chains; NaN where the energy never varies. */
double cri_energy_bfmi(const double *energy, size_t chains, size_t length);

#endif
