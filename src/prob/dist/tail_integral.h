/* tail_integral.h -- what follows from integrals of the tails F(x) = P(X <= x) and S(x) = P(X > x):
 *     E (a - X)+ = integral of F below a,      E (X - a)+ = integral of S above a,
 *     CRPS(F, y) = integral of F^2 below m + of S^2 above m + |y - m| - 2 (of S from m to y, or of
 *                  F from y to m),             m the median.
 * Where there is no closed form: continuous distributions by adaptive quadrature (about 1e-9
 * relative), counts by sums: exact up to a standard deviation of 2000, above it in steps of sd/2000
 * (about 1e-7).
 * Gneiting & Raftery (2007), JASA 102, sec. 4.2, for the score. */
#ifndef CREDENCE_PROB_DIST_TAIL_INTEGRAL_H
#define CREDENCE_PROB_DIST_TAIL_INTEGRAL_H

#include "dist.h"

/* E (a - X)+ and E (X - a)+ of a distribution of one variable; INFINITY where it is.  Fails with
 * CR_EARG for parameters out of their domain or an a that is not finite, CR_EUNSUPPORTED for angles
 * and vectors, CR_ENUMERIC, CR_ENOMEM. */
CR_API cr_status cr_dist_partial_means(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                       size_t n, double a, double *out_below, double *out_above);
/* The continuous ranked probability score of the outcome y, in the units of y; INFINITY where it
 * is. Fails as cr_dist_partial_means does. */
CR_API cr_status cr_dist_crps(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                              double y, double *out);

#endif
