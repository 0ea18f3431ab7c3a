/* bessel_i.c -- the modified Bessel function I, in logarithms; orders 0 and 1, their ratio and its
 * inverse, for the von Mises distribution.
 *   x >= 30, x >= nu^2 / 2   Hankel's expansion            DLMF 10.40.1
 *   nu >= 25                 Olver's uniform expansion     DLMF 10.41.3
 *   else                     the power series, all terms positive   DLMF 10.25.2 */
#include "bessel_internal.h"
#include "coefficients.h"

#include <math.h>

double cri_hankel_sum(double nu, double x)
{
    double term = 1, sum = 0, before = INFINITY;
    for (double k = 1; k < 60 && fabs(term) > 1e-17 && fabs(term) <= before; k++) {
        before = fabs(term);
        term *= (2 * nu - (2 * k - 1)) / (8 * k) * ((2 * nu + (2 * k - 1)) / x);
        sum += term;
    }
    return sum;
}

/* The exponent nu (sqrt(1 + z^2) + log(z / (1 + sqrt(1 + z^2)))) with all digits: near its zero it
 * is a difference of large numbers. */
cri_olver_parts cri_olver_at(double nu, double x, double sign)
{
    cri_dd one = cri_dd_from(1), z = cri_dd_div(cri_dd_from(x), cri_dd_from(nu));
    cri_dd w = cri_dd_sqrt(cri_dd_add(one, cri_dd_mul(z, z)));
    cri_dd eta = cri_dd_sub(cri_dd_log(z), cri_dd_log(cri_dd_add(one, w)));
    double p = 1 / w.hi, square = p * p, t = sign * p / nu, sum = 0;
    for (int k = CRI_OLVER_LEVELS; k >= 1; k--) {
        double u = 0;
        for (int i = k; i >= 0; i--) u = u * square + cri_olver[k][i];
        sum = (sum + u) * t;
    }
    return (cri_olver_parts){ cri_dd_mul_double(cri_dd_add(w, eta), nu), log(w.hi), sum };
}

static double log_i_olver(double nu, double x)
{
    double z = x / nu;
    if (nu > 1e290) return nu * (sqrt(1 + z * z) + log(z / (1 + sqrt(1 + z * z))));
    if (x * x < 1e-20 * nu) return nu * (log(x) - M_LN2) - cr_lgamma_abs(nu + 1);
    cri_olver_parts o = cri_olver_at(nu, x, 1);
    return o.exponent.hi +
           (o.exponent.lo - 0.5 * log(nu) - CRI_HALF_LOG_2PI - 0.5 * o.log_w + log1p(o.sum));
}

/* (x/2)^nu / Gamma(nu + 1) sum (x^2/4)^k / (k! (nu + 1) ... (nu + k)). */
static double log_i_series(double nu, double x)
{
    double y = 0.25 * x * x, term = 1, more = 0, half = 0.5 * x;
    for (double k = 1; k < 2000; k++) {
        term *= y / (k * (nu + k));
        more += term;
        if (term <= 1e-17 * more) break;
    }
    if (nu == 0) return log1p(more);
    if (x < 1e-290) return nu * (log(x) - M_LN2) - cr_lgamma_abs(nu + 1);
    cri_scaled scale = cri_gamma_scale(nu, cri_dd_from(half));
    cri_dd     log_scale = cri_dd_add_double(scale.log, half);
    return log_scale.hi + (log_scale.lo + log(scale.factor) + log1p(more));
}

double cr_log_bessel_i(double nu, double x)
{
    if (!(nu >= 0 && x >= 0) || nu == INFINITY) return NAN;
    if (x == 0) return nu == 0 ? 0 : -INFINITY;
    if (x == INFINITY) return x;
    if (x >= 30 && 0.5 * nu * nu <= x)
        return x + (log1p(cri_hankel_sum(nu, -x)) - 0.5 * log(x) - CRI_HALF_LOG_2PI);
    return nu >= 25 ? log_i_olver(nu, x) : log_i_series(nu, x);
}

/* --- orders 0 and 1 -------------------------------------------------------------------------- */

/* sum (x^2/4)^k / (k! (k + order)!), x <= 8. */
static double power_sum(int order, double x)
{
    double y = 0.25 * x * x, sum = 0;
    for (int k = CRI_BESSEL_POWERS - 1; k >= 0; k--) sum = sum * y + cri_bessel_powers[order][k];
    return sum;
}

double cr_bessel_i0_scaled(double x)
{
    x = fabs(x);
    if (x <= 8) return exp(-x) * power_sum(0, x);
    return cri_chebyshev_at(&cri_i0_far, 8 / x) / sqrt(x);
}

double cr_bessel_i1_scaled(double x)
{
    double s = fabs(x);
    if (s <= 8) return exp(-s) * power_sum(1, s) * 0.5 * x;
    return copysign(cri_chebyshev_at(&cri_i1_far, 8 / s) / sqrt(s), x);
}

double cr_bessel_i1_over_i0(double x)
{
    double s = fabs(x);
    if (s <= 8) return 0.5 * x * power_sum(1, x) / power_sum(0, x);
    return isnan(x) ? x : copysign(1 - cri_chebyshev_at(&cri_ratio_far, 8 / s) / s, x);
}

/* --- the inverse of the ratio ---------------------------------------------------------------- */

/* The derivative of A = I1/I0, 1 - A/x - A^2, and its expansion where that cancels. */
static double ratio_slope(double x, double a)
{
    if (x < 100) return 1 - a / x - a * a;
    return (0.5 + (0.25 + (0.375 + 0.78125 / x) / x) / x) / x / x;
}

/* Newton's steps from the start of Best & Fisher (1981), Commun. Stat. B 10; above 8 on 1 - A. */
double cr_bessel_ratio_inv(double r)
{
    double a = fabs(r), x;
    if (!(a <= 1)) return NAN;
    if (a == 1) return copysign(INFINITY, r);
    if (a < 1e-9) return 2 * r;
    if (a < 0.53)
        x = 2 * a + a * a * a * (1 + 5 * a * a / 6);
    else
        x = a < 0.85 ? -0.4 + 1.39 * a + 0.43 / (1 - a) : 1 / (a * (a - 1) * (a - 3));
    for (int step = 0; step < 20; step++) {
        double at = cr_bessel_i1_over_i0(x);
        double off = x > 8 ? cri_chebyshev_at(&cri_ratio_far, 8 / x) / x - (1 - a) : a - at;
        double move = off / ratio_slope(x, at);
        x += move;
        if (fabs(move) < 1e-9 * x) break; /* the next would be its square */
    }
    return copysign(x, r);
}
