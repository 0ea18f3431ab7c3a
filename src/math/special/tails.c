/* tails.c -- both tails of a distribution from the one that was computed. */
#include "special_internal.h"

#include <math.h>

const cri_tails cri_tails_none = { 0, 1, -INFINITY, 0 };
const cri_tails cri_tails_all = { 1, 0, 0, -INFINITY };
const cri_tails cri_tails_nan = { NAN, NAN, NAN, NAN };

cri_tails cri_tails_swap(cri_tails t)
{
    return (cri_tails){ t.upper, t.lower, t.log_upper, t.log_lower };
}

cri_tails cri_tails_from(double log_scale, double factor, bool is_lower)
{
    double    p = fmin(1, exp(log_scale) * factor);
    cri_tails t = { p, 1 - p, fmin(0, log_scale + log(factor)), log1p(-p) };
    return is_lower ? t : cri_tails_swap(t);
}
