/* special.h -- special functions of probability: normal, gamma, beta, Student's t.
 * Pure functions of doubles: they allocate nothing, fail never, and give NaN outside their domain.
 * Each tail is computed as itself, never as one minus the other, and has its logarithm where the
 * probability would underflow.  Relative errors are about 1e-14; where the logarithm of a result is
 * some hundreds, the result itself has about that many units more in the last place.
 * Abramowitz & Stegun (1964); NIST Digital Library of Mathematical Functions, ch. 5, 7, 8. */
#ifndef CREDENCE_MATH_SPECIAL_H
#define CREDENCE_MATH_SPECIAL_H

#include "../base/status.h"

/* --- normal ----------------------------------------------------------------------------------- */

/* log of exp(-x^2 / 2) / sqrt(2 pi). */
CR_API double cr_norm_logpdf(double x);
/* P(Z <= x), and its logarithm, sharp in both tails. */
CR_API double cr_norm_cdf(double x);
CR_API double cr_norm_logcdf(double x);
/* x with P(Z <= x) = p; 0 and 1 give -INFINITY and INFINITY. */
CR_API double cr_norm_quantile(double p);
/* pdf(x) / cdf(x), the derivative of logcdf. */
CR_API double cr_norm_inv_mills(double x);
/* exp(x^2) erfc(x). */
CR_API double cr_erfcx(double x);

/* --- gamma ------------------------------------------------------------------------------------ */

/* log |Gamma(x)|; INFINITY at 0, -1, -2, ... */
CR_API double cr_log_gamma(double x);
/* Its first and second derivative; NaN at 0, -1, -2, ... */
CR_API double cr_digamma(double x);
CR_API double cr_trigamma(double x);
/* P(X <= x) and P(X > x) for X ~ Gamma(a, 1): the regularised incomplete gamma functions P and Q;
 * a > 0, x >= 0. */
CR_API double cr_gamma_p(double a, double x);
CR_API double cr_gamma_q(double a, double x);
CR_API double cr_log_gamma_p(double a, double x);
CR_API double cr_log_gamma_q(double a, double x);
/* x with P(a, x) = p. */
CR_API double cr_gamma_p_inv(double a, double p);
/* P(X > x) for X ~ chi-square with d > 0 degrees of freedom. */
CR_API double cr_chi2_sf(double x, double d);
CR_API double cr_chi2_logsf(double x, double d);

/* --- beta ------------------------------------------------------------------------------------- */

/* log B(a, b) = log Gamma(a) Gamma(b) / Gamma(a + b); a, b > 0. */
CR_API double cr_log_beta(double a, double b);
/* P(X <= x) and P(X > x) for X ~ Beta(a, b): the regularised incomplete beta function and its
 * complement; a, b > 0, 0 <= x <= 1. */
CR_API double cr_betainc(double a, double b, double x);
CR_API double cr_betainc_upper(double a, double b, double x);
CR_API double cr_log_betainc(double a, double b, double x);
CR_API double cr_log_betainc_upper(double a, double b, double x);
/* x with betainc(a, b, x) = p. */
CR_API double cr_betainc_inv(double a, double b, double p);
/* P(X > x) for Fisher's F with d1, d2 > 0 degrees of freedom. */
CR_API double cr_f_sf(double x, double d1, double d2);
CR_API double cr_f_logsf(double x, double d1, double d2);

/* --- Student's t, nu > 0 degrees of freedom; nu = INFINITY is the normal ---------------------- */

CR_API double cr_student_t_logpdf(double x, double nu);
CR_API double cr_student_t_cdf(double x, double nu);
CR_API double cr_student_t_logcdf(double x, double nu);
/* P(|T| >= |t|). */
CR_API double cr_student_t_two_sided(double t, double nu);
/* x with P(T <= x) = p. */
CR_API double cr_student_t_quantile(double p, double nu);

#endif
