/* beta.c -- the beta function in logarithms, binomial coefficients, and the scale of the incomplete
 * beta function.
 * DiDonato & Morris (1992), "Algorithm 708: significant digit computation of the incomplete beta
 * function ratios", ACM TOMS 18(3); Loader (2000), "Fast and accurate computation of binomial
 * probabilities". */
#include "special_internal.h"

#include <math.h>

/* log B for s <= l with s < 1: log Gamma(1 + s) - log s - log [Gamma(l + s) / Gamma(l)]. */
static double log_beta_small(double s, double l)
{
    if (l >= 1) return cri_log_gamma1p(s) - log(s) - s * log(l) - cri_log_gamma_ratio_rest(l, s);
    double sum = s + l;
    double joint = sum <= 1 ? cri_log_gamma1p(sum) : cri_log_gamma1p(sum - 1) + log(sum);
    return log1p(s / l) - log(s) + (cri_log_gamma1p(s) + cri_log_gamma1p(l) - joint);
}

double cr_lbeta(double a, double b)
{
    if (!(a >= 0 && b >= 0)) return NAN;
    double s = fmin(a, b), l = fmax(a, b);
    if (s == 0) return l == INFINITY ? NAN : INFINITY;
    if (l == INFINITY) return -INFINITY;
    if (s < 1) return log_beta_small(s, l);
    double remainder = cr_stirlerr(s) + (cr_stirlerr(l) - cr_stirlerr(s + l));
    return remainder + CRI_HALF_LOG_2PI - 0.5 * log(l) - (s - 0.5) * log1p(l / s) -
           l * log1p(s / l);
}

double cri_log_a_beta(double a, double b) { return cri_log_gamma1p(a) - cr_lgamma_diff(b, a); }

/* Stirling's formula for all three factorials: the large terms are all positive. */
double cr_lchoose(double n, double k)
{
    if (!(n >= 0) || isnan(k) || n == INFINITY) return NAN;
    if (k < 0 || k > n) return k == floor(k) && n == floor(n) ? -INFINITY : NAN;
    double s = fmin(k, n - k), l = n - s;
    if (s == 0) return 0;
    if (s < 1) return -log1p(n) - cr_lbeta(s + 1, l + 1);
    double remainder = cr_stirlerr(n) - cr_stirlerr(l) - cr_stirlerr(s);
    return s * log(n / s) - l * log1p(-s / n) - 0.5 * log(2 * M_PI * s * (l / n)) + remainder;
}

/* --- the incomplete functions ---------------------------------------------------------------- */

cri_scaled cri_gamma_scale(double a, cri_dd x)
{
    if (a < 1) {
        cri_dd power = cri_dd_sub(cri_dd_mul_double(cri_dd_log(x), a), x);
        return (cri_scaled){ cri_dd_add_double(power, -cri_log_gamma1p(a)), 1 };
    }
    cri_dd power = cri_dd_neg(cri_dd_add_double(cri_dd_deviance(a, x), cr_stirlerr(a)));
    return (cri_scaled){ power, 1 / (CRI_SQRT_2PI * sqrt(a)) };
}

/* With both small nothing is large: Gamma(1 + a + b) b / (Gamma(1 + a) Gamma(1 + b) (a + b)). */
static cri_scaled beta_scale_small(double a, double b, cri_dd x, cri_dd y)
{
    double sum = a + b;
    double joint = sum <= 1 ? cri_log_gamma1p(sum) : cri_log_gamma1p(sum - 1) + log(sum);
    cri_dd log_x = cri_dd_mul_double(cri_dd_log(x), a), log_y = cri_dd_mul_double(cri_dd_log(y), b);
    cri_dd both = cri_dd_add(log_x, log_y);
    return (cri_scaled){ cri_dd_add_double(both, joint - cri_log_gamma1p(a) - cri_log_gamma1p(b)),
                         b / sum };
}

/* With n = a + b and b >= 1: the scale of Gamma(a) at n x, times the rest of a Poisson probability
 * for b at n y. */
cri_scaled cri_beta_scale(double a, double b, cri_dd x, cri_dd y)
{
    if (a < 1 && b < 1) return beta_scale_small(a, b, x, y);
    if (b < 1) {
        cri_scaled swapped = cri_beta_scale(b, a, y, x);
        swapped.factor *= b / a;
        return swapped;
    }
    cri_dd     n = cri_two_sum(a, b);
    cri_scaled s = cri_gamma_scale(a, cri_dd_mul(n, x));
    s.log = cri_dd_sub(s.log, cri_dd_deviance(b, cri_dd_mul(n, y)));
    s.log = cri_dd_add_double(s.log, cr_stirlerr(n.hi) - cr_stirlerr(b));
    s.factor *= sqrt(b / n.hi);
    return s;
}

/* a - a x - b x = a y - b x. */
double cri_beta_off_mode(double a, double b, cri_dd x, cri_dd y)
{
    return cri_dd_to_double(cri_dd_sub(cri_dd_mul_double(y, a), cri_dd_mul_double(x, b)));
}
