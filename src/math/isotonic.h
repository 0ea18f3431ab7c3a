/* isotonic.h -- least squares under a rising order.
 *   minimise sum_i w_i (y_i - f_i)^2   subject to   f_1 <= f_2 <= ... <= f_n
 * by pooling adjacent violators: exact, O(n).  Ayer, Brunk, Ewing, Reid & Silverman (1955), Ann.
 * Math. Stat. 26:641-647; Barlow, Bartholomew, Bremner & Brunk (1972), ch. 1. */
#ifndef CREDENCE_MATH_ISOTONIC_H
#define CREDENCE_MATH_ISOTONIC_H

#include "base/context.h"

/* out [n] = the f above.  Weights are above 0, all 1 when NULL.  Fails with CR_EDATA for a number
 * that is not finite or a weight that is not above 0, or CR_ENOMEM; then out is left as it was. */
CR_API cr_status cr_isotonic(cr_ctx *cx, const double *y, const double *opt_weight, size_t n,
                             double *out);

#endif
