/* special_internal.h -- what the special functions share. */
#ifndef CREDENCE_MATH_SPECIAL_INTERNAL_H
#define CREDENCE_MATH_SPECIAL_INTERNAL_H

#include "../special.h"

#define CRI_HALF_LOG_2PI 0.91893853320467274178

/* Both tails of a distribution at a point, and their logarithms. */
typedef struct cri_tails {
    double lower, upper, log_lower, log_upper;
} cri_tails;

/* The tails when one of them, the lower or the upper, is exp(log_scale) * factor. */
cri_tails cri_tails_from(double log_scale, double factor, bool is_lower);
/* The tails when the lower is exp(log_power) (1 + more), both sharp. */
cri_tails cri_tails_from_product(double log_power, double more);
cri_tails cri_tails_swap(cri_tails t);
/* The tails at the ends of the support: nothing below, or nothing above. */
extern const cri_tails cri_tails_none, cri_tails_all, cri_tails_nan;

/* log(1 + x) - x and exp(x) - 1 - x without cancellation. */
double cri_log1pmx(double x);
double cri_expm1mx(double x);
/* log Gamma(1 + x), sharp near 0; |x| <= 1/2. */
double cri_log_gamma1p(double x);
/* log Gamma(x) - [(x - 1/2) log x - x + log(2 pi) / 2]; x >= 10, error about 1e-17. */
double cri_stirling_remainder(double x);
/* log [Gamma(x + h) / Gamma(x)], sharp also where h is small against x; x > 0, h >= 0. */
double cri_log_gamma_ratio(double x, double h);
/* The same less h log x; x >= 10. */
double cri_log_gamma_ratio_rest(double x, double h);

/* Incomplete gamma and beta: all in one.  For beta y = 1 - x, each sharp where it is small. */
cri_tails cri_gamma_tails(double a, double x);
cri_tails cri_beta_tails(double a, double b, double x, double y);
/* a - (a + b) x, zero at the mode of x^a y^b, without cancellation. */
double cri_beta_off_mode(double a, double b, double x, double y);
/* log [x^a y^b / B(a, b)]. */
double cri_beta_log_prefix(double a, double b, double x, double y);

#endif
