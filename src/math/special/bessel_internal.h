/* bessel_internal.h -- expansions that I and K share. */
#ifndef CREDENCE_MATH_SPECIAL_BESSEL_INTERNAL_H
#define CREDENCE_MATH_SPECIAL_BESSEL_INTERNAL_H

#include "special_internal.h"

/* sum_{k >= 1} a_k(nu) / x^k; with -x for I.  DLMF 10.17.1, 10.40. */
double cri_hankel_sum(double nu, double x);

/* Olver's expansion at order nu, z = x / nu, w = sqrt(1 + z^2): nu eta, log w and
 * sum_{k >= 1} U_k(1/w) (sign / nu)^k.  DLMF 10.41. */
typedef struct cri_olver_parts {
    cri_dd exponent;
    double log_w, sum;
} cri_olver_parts;
cri_olver_parts cri_olver_at(double nu, double x, double sign);

#endif
