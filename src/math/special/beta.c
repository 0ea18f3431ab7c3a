/* beta.c -- the beta function in logarithms.
 * DiDonato & Morris (1992), "Algorithm 708: significant digit computation of the incomplete beta
 * function ratios", ACM TOMS 18(3), whose way of putting Stirling's formula together we follow. */
#include "special_internal.h"
#include "../doubledouble.h"

#include <math.h>

/* log Gamma(x), sharp also near 1 and 0. */
static double log_gamma_small(double x)
{
    if (x < 0.5) return cri_log_gamma1p(x) - log(x);
    return x < 1.5 ? cri_log_gamma1p(x - 1) : cr_log_gamma(x);
}

double cr_log_beta(double a, double b)
{
    if (!(a > 0 && b > 0)) return NAN;
    double s = fmin(a, b), l = fmax(a, b);
    if (l == INFINITY) return -INFINITY;
    if (s < 10) return log_gamma_small(s) - cri_log_gamma_ratio(l, s);
    double remainder = cri_stirling_remainder(s) + (cri_stirling_remainder(l) -
                       cri_stirling_remainder(s + l));
    return remainder + CRI_HALF_LOG_2PI - 0.5 * log(l) + (s - 0.5) * log(s / (s + l)) -
           l * log1p(s / l);
}

/* With a < 10 <= b the large powers are put together: (b x)^a. */
static double lopsided_prefix(double a, double b, double x, double y)
{
    double log_y = x < 0.5 ? log1p(-x) : log(y);
    return a * log(b * x) + b * log_y + cri_log_gamma_ratio_rest(b, a) - log_gamma_small(a);
}

/* a - (a + b) x = a - a x - b x, from the smaller of x and y: the other may be rounded. */
double cri_beta_off_mode(double a, double b, double x, double y)
{
    if (x > y) return -cri_beta_off_mode(b, a, y, x);
    cri_dd away = cri_dd_add(cri_two_prod(a, x), cri_two_prod(b, x));
    return cri_dd_to_double(cri_dd_sub(cri_dd_from(a), away));
}

/* With both large, Loader's saddle point: x and y against their values at the mode of x^a y^b. */
double cri_beta_log_prefix(double a, double b, double x, double y)
{
    if (a < 10 && b < 10) {
        double log_x = y < 0.5 ? log1p(-y) : log(x), log_y = x < 0.5 ? log1p(-x) : log(y);
        return a * log_x + b * log_y - cr_log_beta(a, b);
    }
    if (a < 10) return lopsided_prefix(a, b, x, y);
    if (b < 10) return lopsided_prefix(b, a, y, x);
    double off = cri_beta_off_mode(a, b, x, y);
    double u = -off / a, v = off / b;
    double bend_a = fabs(u) < 0.4 ? cri_log1pmx(u) : log(x * (1 + b / a)) - u;
    double bend_b = fabs(v) < 0.4 ? cri_log1pmx(v) : log(y * (1 + a / b)) - v;
    double remainder = cri_stirling_remainder(a) + cri_stirling_remainder(b) -
                       cri_stirling_remainder(a + b);
    return a * bend_a + b * bend_b - remainder - CRI_HALF_LOG_2PI +
           0.5 * log(a < b ? a / (1 + a / b) : b / (1 + b / a));
}
