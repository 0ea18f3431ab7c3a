/* markov_expm.h -- the exponential of a generator, and its integral with what was seen.
 *   P(t) = e^(Q t),    L(t) = integral_0^t e^(Q s) W e^(Q (t - s)) ds,   W >= 0
 * Q has rates >= 0 beside its diagonal and rows that sum to 0.  With q the largest rate of leaving, Q + q I >= 0, so that
 *   e^(Q h) = e^(-q h) sum_n ((Q + q I) h)^n / n!,   q h <= 1,   h = t / 2^s
 * has no subtraction, nor have the s squarings: every entry of P and L is right to a few digits less than all, however
 * small.  O((60 + 3 s) k^3) with L, a third of it without.
 * Higham (2008), Functions of Matrices, sec. 10; Al-Mohy & Higham (2009), SIAM Journal on Matrix Analysis 30, for L; Xue &
 * Ye (2013), Computing exponentials of essentially non-negative matrices entrywise to high relative accuracy, Mathematics
 * of Computation 82.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_MARKOV_EXPM_H
#define CREDENCE_MODELS_SEQUENCE_MARKOV_EXPM_H

#include <stddef.h>

/* Numbers of workspace. */
size_t cri_generator_work(size_t k);
/* P [k x k], of rows that sum to one, and, given W [k x k], L [k x k].  t >= 0. */
void cri_generator_exponential(const double *Q, size_t k, double t, const double *opt_W, double *P,
                               double *opt_L, double *work);

#endif
