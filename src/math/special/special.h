/* special.h -- special functions of probability: normal, gamma, beta, Bessel, Student's t.
 * Pure functions of doubles: they allocate nothing, fail never, and give NaN outside their domain
 * and the limit at its edges.  Each tail is computed as itself, never as one minus the other, and
 * has its logarithm where the probability would underflow.
 *
 * Error: at most 4e-15 |f|, or 4e-15 near a zero of f; measured, mostly below 1e-15.  Where f turns
 * on less than the rounding of its arguments x_i it is 4e-15 (|f| + sum |x_i df/dx_i|), what the
 * exact function does when they move by some units in the last place: inverses at flat places.
 * Measured against mpmath for shapes up to 1e8 and Bessel orders up to 1e4.
 * Abramowitz & Stegun (1964); NIST Digital Library of Mathematical Functions. */
#ifndef CREDENCE_MATH_SPECIAL_H
#define CREDENCE_MATH_SPECIAL_H

#include "base/status.h"

#include <stddef.h>

/* --- logarithms and exponentials ------------------------------------------------------------- */

/* x log y, and 0 for x = 0. */
CR_API double cr_xlogy(double x, double y);
/* log(p / (1 - p)). */
CR_API double cr_logit(double p);
/* 1 / (1 + exp(-x)), the inverse of the logit. */
CR_API double cr_sigmoid(double x);
/* log(1 / (1 + exp(-x))). */
CR_API double cr_log_sigmoid(double x);
/* log(1 + exp(x)). */
CR_API double cr_log1pexp(double x);
/* log(1 - exp(x)) for x <= 0. */
CR_API double cr_log1mexp(double x);
/* (exp(x) - 1) / x, and 1 for x = 0. */
CR_API double cr_expm1_over_x(double x);
/* -p log p - (1 - p) log(1 - p). */
CR_API double cr_entropy_binary_nats(double p);
/* log of the sum of exp(x[i]); -INFINITY for n = 0. */
CR_API double cr_logsumexp(const double *x, size_t n);
/* out[i] = exp(x[i]) / sum of all.  out may be x.  Infinite entries that are greatest share alike;
 * if all are -INFINITY too. */
CR_API void cr_softmax(const double *x, size_t n, double *out);
/* out[i] = the logarithm of that. */
CR_API void cr_log_softmax(const double *x, size_t n, double *out);

/* --- normal ---------------------------------------------------------------------------------- */

/* The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x. */
CR_API double cr_erf(double x);
/* 1 - erf(x). */
CR_API double cr_erfc(double x);
/* exp(x^2) (1 - erf(x)). */
CR_API double cr_erfcx(double x);
/* x with erf(x) = y. */
CR_API double cr_erfinv(double y);
/* x with erfc(x) = y. */
CR_API double cr_erfcinv(double y);
/* log of exp(-x^2 / 2) / sqrt(2 pi). */
CR_API double cr_norm_logpdf(double x);
/* P(Z <= x), sharp in both tails. */
CR_API double cr_norm_cdf(double x);
/* log P(Z <= x), also where that is too small for a double. */
CR_API double cr_norm_logcdf(double x);
/* x with P(Z <= x) = p; 0 and 1 give -INFINITY and INFINITY. */
CR_API double cr_norm_ppf(double p);
/* pdf(x) / cdf(x), the derivative of logcdf. */
CR_API double cr_inv_mills(double x);
/* The mean of Z given Z > a. */
CR_API double cr_trunc_norm_mean_above(double a);
/* The variance of Z given Z > a. */
CR_API double cr_trunc_norm_var_above(double a);
/* Owen's T: 1/(2 pi) times the integral of exp(-h^2 (1 + x^2) / 2) / (1 + x^2) from 0 to a. */
CR_API double cr_owens_t(double h, double a);
/* log P(X <= h, Y <= k) for standard normal X, Y with correlation rho.  About 5 to 20 us. */
CR_API double cr_log_bvn_cdf_h_k_rho(double h, double k, double rho);

/* --- gamma ----------------------------------------------------------------------------------- */

/* log |Gamma(x)|; INFINITY at 0, -1, -2, ... */
CR_API double cr_lgamma_abs(double x);
/* Its first derivative; NaN at 0, -1, -2, ... */
CR_API double cr_digamma(double x);
/* Its second derivative, likewise. */
CR_API double cr_trigamma(double x);
/* Its third derivative, likewise. */
CR_API double cr_tetragamma(double x);
/* x > 0 with trigamma(x) = y, y > 0. */
CR_API double cr_trigamma_inv(double y);
/* x > 0 with digamma(x) = y. */
CR_API double cr_digamma_inv(double y);
/* The logarithm of that x, which does not overflow. */
CR_API double cr_log_digamma_inv(double y);
/* log Gamma of p dimensions, p = 1, 2, ..., a > (p - 1) / 2.  O(p). */
CR_API double cr_lmvgamma(double p, double a);
/* log Gamma(x + h) - log Gamma(x), sharp also where h is small against x; x > 0, x + h > 0. */
CR_API double cr_lgamma_diff(double x, double h);
/* log Gamma(x) - [(x - 1/2) log x - x + log(2 pi) / 2], x > 0; about 1 / (12 x).  This is also
 * log x! - log(sqrt(2 pi x) (x/e)^x). */
CR_API double cr_stirlerr(double x);
/* x log(x / m) + m - x, never negative; x, m >= 0.  The Poisson probability of x with mean m is
 * exp(-stirlerr(x) - bd0(x, m)) / sqrt(2 pi x); Loader (2000), "Fast and accurate computation of
 * binomial probabilities". */
CR_API double cr_bd0(double x, double m);
/* P(X <= x) for X ~ Gamma(a, 1), the regularised incomplete gamma function P(a, x); a > 0, x >=
 * 0. */
CR_API double cr_gamma_p(double a, double x);
/* P(X > x), the complement Q(a, x). */
CR_API double cr_gamma_q(double a, double x);
/* log P(a, x). */
CR_API double cr_log_gamma_p(double a, double x);
/* log Q(a, x). */
CR_API double cr_log_gamma_q(double a, double x);
/* x with P(a, x) = p. */
CR_API double cr_gamma_p_inv(double a, double p);
/* x with Q(a, x) = q. */
CR_API double cr_gamma_q_inv(double a, double q);
/* P(X > x) for X ~ chi-square with d > 0 degrees of freedom. */
CR_API double cr_chi2_sf(double x, double d);
/* Its logarithm. */
CR_API double cr_chi2_logsf(double x, double d);

/* --- beta ------------------------------------------------------------------------------------ */

/* log B(a, b) = log Gamma(a) Gamma(b) / Gamma(a + b); a, b > 0. */
CR_API double cr_lbeta(double a, double b);
/* log n! / (k! (n - k)!), n and k real, 0 <= k <= n; -INFINITY for whole numbers beyond. */
CR_API double cr_lchoose(double n, double k);
/* P(X <= x) for X ~ Beta(a, b), the regularised incomplete beta function; a, b > 0, 0 <= x <= 1. */
CR_API double cr_betainc(double a, double b, double x);
/* P(X > x), its complement. */
CR_API double cr_betainc_upper(double a, double b, double x);
/* log P(X <= x). */
CR_API double cr_log_betainc(double a, double b, double x);
/* log P(X > x). */
CR_API double cr_log_betainc_upper(double a, double b, double x);
/* x with betainc(a, b, x) = p. */
CR_API double cr_betainc_inv(double a, double b, double p);
/* P(X > x) for Fisher's F with d1, d2 > 0 degrees of freedom. */
CR_API double cr_f_sf(double x, double d1, double d2);
/* Its logarithm. */
CR_API double cr_f_logsf(double x, double d1, double d2);

/* --- modified Bessel functions --------------------------------------------------------------- */

/* log I_nu(x), nu >= 0, x >= 0. */
CR_API double cr_log_bessel_i(double nu, double x);
/* log K_nu(x), x >= 0. */
CR_API double cr_log_bessel_k(double nu, double x);
/* exp(-|x|) I_0(x). */
CR_API double cr_bessel_i0_scaled(double x);
/* exp(-|x|) I_1(x). */
CR_API double cr_bessel_i1_scaled(double x);
/* I_1(x) / I_0(x). */
CR_API double cr_bessel_i1_over_i0(double x);
/* x where that ratio is r, -1 <= r <= 1. */
CR_API double cr_bessel_ratio_inv(double r);

/* --- Student's t, nu > 0 degrees of freedom; nu = INFINITY is the normal --------------------- */

/* The log density at x. */
CR_API double cr_student_t_logpdf(double x, double nu);
/* P(T <= x). */
CR_API double cr_student_t_cdf(double x, double nu);
/* log P(T <= x). */
CR_API double cr_student_t_logcdf(double x, double nu);
/* P(|T| >= |t|). */
CR_API double cr_student_t_two_sided(double t, double nu);
/* x with P(T <= x) = p. */
CR_API double cr_student_t_ppf(double p, double nu);

#endif
