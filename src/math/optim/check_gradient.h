/* check_gradient.h -- does a gradient belong to its function?  For the tests of models. */
#ifndef CREDENCE_MATH_OPTIM_CHECK_GRADIENT_H
#define CREDENCE_MATH_OPTIM_CHECK_GRADIENT_H

#include "minimize.h"

typedef struct cr_gradient_check {
    size_t worst;           /* the coordinate that is farthest off; 0 when n = 0                 */
    double given, measured; /* its derivative by the objective, and by extrapolated differences  */
    double error;           /* |given - measured| / max(|given|, |measured|, 1e-6 max(1, |f|))   */
} cr_gradient_check;

/* Compares the gradient of the problem at x [n] with central differences extrapolated to step 0
 * (Ridders 1982), the steps scaled to each coordinate; bounds are not looked at.  At most 20 values
 * per coordinate.  A right gradient of a smooth function gives an error of 1e-7 or less.  Fails
 * with CR_ENUMERIC when f or its gradient is not finite at x, CR_EINTERRUPTED, CR_ENOMEM, or as the
 * objective does. */
CR_API cr_status cr_check_gradient(cr_ctx *cx, const cr_problem *problem, const double *x,
                                   cr_gradient_check *out_check);

#endif
