/* overdispersion.h -- counts and successes that vary more than their family says.
 * Of a Poisson or binomial row, the square of Pearson's residual r^2 = (y - mu)^2 / V(mu) has the mean 1 and the variance
 *   2 + 1 / mu,   or   2 + (1 - 6 p q) / (m p q)   with p = mu / m of m trials and q = 1 - p,
 * so that Pearson's chi-square has the mean d, the degrees of freedom, and about the variance v = d / n times their sum.  It
 * is compared with the gamma distribution of these two moments, the chi-square where the means are large: small means have
 * longer tails.  McCullagh & Nelder (1989), sec. 4.5 and 6.2.  (Internal header.) */
#ifndef CREDENCE_MODELS_GLM_OVERDISPERSION_H
#define CREDENCE_MODELS_GLM_OVERDISPERSION_H

#include "glm_state.h"
#include "irls.h"

/* The probability of a Pearson's chi-square as large, if the family is right; 1 where nothing can be said: of single
 * trials, whose chi-square does not show it, and without degrees of freedom.  O(n). */
double cri_glm_overdispersion(const cri_glm_problem *problem, const cri_glm *model,
                              const double *eta);

#endif
