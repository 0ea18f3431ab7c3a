/* quadrature.h -- integrals of functions of one variable.
 * Adaptive Gauss-Kronrod: each piece is measured by the 10-point Gauss and the 21-point Kronrod
 * rule; the piece with the largest difference is halved until the sum of the differences is small
 * enough. Infinite ends are brought to finite ones by x = t / (1 - t^2) or x = a + t / (1 - t); the
 * ends themselves are never evaluated, so that integrable singularities may stand there. Piessens,
 * de Doncker-Kapenga, Ueberhuber & Kahaner (1983), QUADPACK. */
#ifndef CREDENCE_MATH_QUADRATURE_H
#define CREDENCE_MATH_QUADRATURE_H

#include "base/context.h"

typedef double cr_integrand(double x, void *user);

/* *out = the integral of f from a to b, either of which may be infinite; a > b changes its sign.
 * Stops when the estimated error is at most relative * |integral| or absolute; *opt_error gets the
 * estimate.  At most 2000 pieces: fails with CR_ENUMERIC when they do not suffice or f is not
 * finite somewhere, with CR_EARG when an end is NaN, or CR_ENOMEM; then *out is left as it was. */
CR_API cr_status cr_integrate(cr_ctx *cx, cr_integrand *f, void *user, double a, double b,
                              double absolute, double relative, double *out, double *opt_error);

/* The 20-point Gauss-Legendre rule on [a, b]: exact for polynomials up to degree 39. */
CR_API double cr_gauss20(cr_integrand *f, void *user, double a, double b);

#endif
