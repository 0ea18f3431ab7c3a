/* sharp.h -- small functions that keep the digits which a plain formula would cancel, and the
 * constants that go with them, for the layers above as well.  (Internal header.) */
#ifndef CREDENCE_MATH_SPECIAL_SHARP_H
#define CREDENCE_MATH_SPECIAL_SHARP_H

#include "math/constants.h"

/* log(1 + x) - x and exp(x) - 1 - x without cancellation. */
double cri_log1pmx(double x);
double cri_expm1mx(double x);
/* log Gamma(1 + x), sharp near 0; -1/2 <= x <= 1. */
double cri_log_gamma1p(double x);
/* cr_lgamma_diff less h log x; x >= 1, h >= 0. */
double cri_log_gamma_ratio_rest(double x, double h);

#endif
