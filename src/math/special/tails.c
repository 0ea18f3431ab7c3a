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

cri_tails cri_tails_from_product(double log_power, double more)
{
    double power = exp(log_power), lower = fmin(1, power * (1 + more));
    double upper = fmax(0, -expm1(log_power) - power * more);
    return (cri_tails){ lower, upper, lower < 0.5 ? log_power + log1p(more) : log1p(-upper),
                        upper < 0.5 ? log(upper) : log1p(-lower) };
}
