/* brent.h -- one variable: a minimum and a root without derivatives.
 * Brent (1973), "Algorithms for minimization without derivatives", ch. 4 and 5: interpolation,
 * safeguarded by golden sections or bisection; never more than about the square of the number of
 * steps that these alone would take. */
#ifndef CREDENCE_MATH_OPTIM_BRENT_H
#define CREDENCE_MATH_OPTIM_BRENT_H

#include "base/context.h"

/* *out_f = f(x).  A failure ends the search and is returned. */
typedef cr_status cr_scalar_fn(void *user, double x, double *out_f);

/* A local minimum of f on [a, b], to |x - x*| <= tolerance |x| + 1e-12 (b - a) or as near as
 * rounding allows: about 2^-26 relative.  Where f is NaN it counts as +infinity.  A minimum at an
 * end is found there.  Fails with CR_EARG unless a <= b are finite, CR_EINTERRUPTED, or as
 * f does. */
CR_API cr_status cr_brent_minimize(cr_ctx *cx, cr_scalar_fn *f, void *user, double a, double b,
                                   double tolerance, double *out_x, double *out_f);
/* x in [a, b] with f(x) = 0, to |x - x*| <= tolerance + 2^-50 |x|.  Fails with CR_EARG when f has
 * the same sign at both ends, CR_ENUMERIC when it is NaN, CR_EINTERRUPTED, or as f does. */
CR_API cr_status cr_brent_root(cr_ctx *cx, cr_scalar_fn *f, void *user, double a, double b,
                               double tolerance, double *out_x);

#endif
