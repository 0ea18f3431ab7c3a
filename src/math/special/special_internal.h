/* special_internal.h -- what the special functions share. */
#ifndef CREDENCE_MATH_SPECIAL_INTERNAL_H
#define CREDENCE_MATH_SPECIAL_INTERNAL_H

#include "special.h"
#include "precise_log.h"
#include "sharp.h"

/* factor * exp(log): a density or the scale of a tail, whose logarithm may be -1e300. */
typedef struct cri_scaled {
    cri_dd log;
    double factor;
} cri_scaled;

static inline double cri_scaled_value(cri_scaled s) { return s.factor * cri_exp_dd(s.log); }
double               cri_scaled_log(cri_scaled s);

/* Both tails of a distribution at a point, and their logarithms. */
typedef struct cri_tails {
    double lower, upper, log_lower, log_upper;
} cri_tails;

/* The tails when one of them, the lower or the upper, is scale * factor. */
cri_tails cri_tails_from(cri_scaled scale, double factor, bool is_lower);
/* The tails when the lower is exp(log_power) (1 + more), both sharp. */
cri_tails cri_tails_from_product(cri_dd log_power, double more);
cri_tails cri_tails_swap(cri_tails t);
/* The tails at the ends of the support: nothing below, or nothing above. */
extern const cri_tails cri_tails_none, cri_tails_all, cri_tails_nan;
/* log(wanted / got) where `got` is a tail with logarithm log_got: the step of Newton's method. */
double cri_log_shortfall(double wanted, double log_wanted, double got, double log_got);

/* Half of d > 0, never 0. */
static inline double cri_half(double d) { return d < 1e-300 ? d : 0.5 * d; }

/* log [a B(a, b)], relative to a where that is small; a <= 1. */
double cri_log_a_beta(double a, double b);

/* x^a e^-x / Gamma(a + 1); a, x > 0. */
cri_scaled cri_gamma_scale(double a, cri_dd x);
/* x^a y^b / (a B(a, b)); a, b, x, y > 0, x + y = 1. */
cri_scaled cri_beta_scale(double a, double b, cri_dd x, cri_dd y);
/* a - (a + b) x, zero at the mode of x^a y^b, without cancellation. */
double cri_beta_off_mode(double a, double b, cri_dd x, cri_dd y);

/* Incomplete gamma and beta: all in one.  For beta x + y = 1. */
cri_tails cri_gamma_tails(double a, double x);
cri_tails cri_beta_tails(double a, double b, cri_dd x, cri_dd y);

#endif
