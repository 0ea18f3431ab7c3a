/* saddle.h -- kernels that keep log-densities sharp where log-gammas would cancel.
 * A mass such as n! / (k! (n-k)!) p^k q^(n-k) is written as its value at the saddle point, where k
 * is its own mean, times exp(-deviance): no term is larger than the result. Loader (2000), "Fast
 * and accurate computation of binomial probabilities".  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_SADDLE_H
#define CREDENCE_PROB_DIST_SADDLE_H

#include "math/special/special.h"
#include "math/special/sharp.h"

/* x log y, and x log(1 + y), which are 0 where x is 0. */
double cri_xlogy(double x, double y);
double cri_xlog1py(double x, double y);

/* log [m^x e^-m / Gamma(x + 1)] for real x >= 0, m >= 0. */
double cri_poisson_mass(double x, double m);
/* log [Gamma(x + y + 1) / (Gamma(x + 1) Gamma(y + 1)) p^x q^y] for real x, y >= 0; p + q = 1, each
 * sharp where it is small. */
double cri_binomial_mass(double x, double y, double p, double q);

/* log x - digamma(x), about 1 / (2 x) for large x. */
double cri_log_minus_digamma(double x);
/* log Gamma(x + h) - log Gamma(x) - h digamma(x) >= 0: the divergence of log Gamma between two
 * points; x > 0, x + h > 0. */
double cri_log_gamma_divergence(double x, double h);

/* log(1 + exp(x)) for any x. */
double cri_softplus(double x);

#endif
