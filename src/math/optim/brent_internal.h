/* brent_internal.h -- Brent's minimum from a point whose value is known, and a bracket around it.
 * (Internal header.) */
#ifndef CREDENCE_MATH_OPTIM_BRENT_INTERNAL_H
#define CREDENCE_MATH_OPTIM_BRENT_INTERNAL_H

#include "brent.h"

/* A local minimum in [a, b] from x between them, f(x) = fx; at most `most` values. */
cr_status cri_brent_between(cr_ctx *cx, cr_scalar_fn *f, void *user, double a, double b, double x,
                            double fx, double tolerance, size_t most, double *out_x, double *out_f);
/* A local minimum within [low, high], which may be infinite, downhill from x with f(x) = fx; h > 0
 * is the first step of the search for a bracket. */
cr_status cri_brent_from(cr_ctx *cx, cr_scalar_fn *f, void *user, double low, double high, double h,
                         double x, double fx, double tolerance, size_t most, double *out_x,
                         double *out_f);

#endif
