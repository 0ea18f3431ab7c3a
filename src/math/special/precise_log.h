/* precise_log.h -- logarithms of about 23 digits, as sums of two doubles.
 * A probability exp(L) with L = -700 has the relative error that L has in absolute terms; L is a
 * difference of terms much larger still.  These logarithms keep both out of sight.
 * Relative errors: logarithm 2^-85, log(1 + t) - t and the deviance 2^-75.  (Internal header.) */
#ifndef CREDENCE_MATH_SPECIAL_PRECISE_LOG_H
#define CREDENCE_MATH_SPECIAL_PRECISE_LOG_H

#include "doubledouble.h"

/* log x; where x is not positive and finite, as the logarithm of a double. */
cri_dd cri_dd_log(cri_dd x);
/* log(1 + t) - t, t > -1. */
cri_dd cri_dd_log1pmx(cri_dd t);
/* x log(x / m) + m - x for x, m > 0: the deviance of Loader (2000).  Never negative. */
cri_dd cri_dd_deviance(double x, cri_dd m);
/* exp x, rounded once or twice. */
double cri_exp_dd(cri_dd x);

#endif
