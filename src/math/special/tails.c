/* tails.c -- both tails of a distribution from the one that was computed. */
#include "special_internal.h"

#include <math.h>

const cri_tails cri_tails_none = { 0, 1, -INFINITY, 0 };
const cri_tails cri_tails_all = { 1, 0, 0, -INFINITY };
const cri_tails cri_tails_nan = { NAN, NAN, NAN, NAN };

double cri_scaled_log(cri_scaled s) { return s.log.hi + (s.log.lo + log(s.factor)); }

cri_tails cri_tails_swap(cri_tails t)
{
    return (cri_tails){ t.upper, t.lower, t.log_upper, t.log_lower };
}

cri_tails cri_tails_from(cri_scaled scale, double factor, bool is_lower)
{
    scale.factor *= factor;
    double    p = fmin(1, cri_scaled_value(scale));
    double    log_p = p > 0.1 ? log(p) : cri_scaled_log(scale);
    cri_tails t = { p, 1 - p, fmin(0, log_p), log1p(-p) };
    return is_lower ? t : cri_tails_swap(t);
}

cri_tails cri_tails_from_product(cri_dd log_power, double more)
{
    double power = cri_exp_dd(log_power), lower = fmin(1, power * (1 + more));
    double upper = fmax(0, -expm1(log_power.hi) - power * (more + log_power.lo));
    double log_lower = lower < 0.5 ? log_power.hi + (log_power.lo + log1p(more)) : log1p(-upper);
    return (cri_tails){ lower, upper, log_lower, upper < 0.5 ? log(upper) : log1p(-lower) };
}

double cri_log_shortfall(double wanted, double log_wanted, double got, double log_got)
{
    double ratio = wanted / got;
    if (!(wanted > 1e-290 && got > 1e-290)) return log_wanted - log_got;
    return ratio > 0.5 && ratio < 2 ? log1p((wanted - got) / got) : log(ratio);
}
