/* incomplete_gamma.c -- P and Q, each by the method that is sharp where it is used:
 *   a < 1, x < 1          the power series in x, both tails from it
 *   x near a >= 20        Temme's uniform expansion around the normal distribution
 *   a >= 1, x < a + 1     the series of P;   else the continued fraction of Q
 * Gautschi (1979), ACM TOMS 5(4); Gil, Segura & Temme (2012), SIAM J. Sci. Comput. 34(6). */
#include "special_internal.h"

#include <math.h>

/* P = x^a / Gamma(a + 1) (1 + a s), s = sum_{n >= 1} (-x)^n / (n! (a + n)); DLMF 8.7.1. */
static cri_tails power_series(double a, double x)
{
    double s = 0, term = 1;
    for (int n = 1; n < 60; n++) {
        term *= -x / n;
        s += term / (a + n);
        if (fabs(term) < 1e-18) break;
    }
    cri_dd log_power = cri_dd_mul_double(cri_dd_log(cri_dd_from(x)), a);
    log_power = cri_dd_add_double(log_power, -cri_log_gamma1p(a));
    return cri_tails_from_product(log_power, a * s);
}

/* P = prefix * sum x^n / ((a + 1) ... (a + n)); DLMF 8.7.1. */
static cri_tails lower_series(double a, double x)
{
    double sum = 1, term = 1;
    for (double n = 1; n < 10000 && term > 1e-17 * sum; n++) sum += term *= x / (a + n);
    return cri_tails_from(cri_gamma_scale(a, cri_dd_from(x)), sum, true);
}

/* Q = scale * a / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)));
 * DLMF 8.9.2.  By Steed's method, the convergents as a sum whose terms fall. */
static cri_tails upper_fraction(double a, double x)
{
    double b = x + 1 - a, d = 1 / b, term = d, sum = d;
    for (double n = 1; n < 10000; n++) {
        double top = n * (n - a), before = d;
        b += 2;
        d = 1 / (b - top * d);
        term *= top * before * d;
        sum += term;
        if (!(fabs(term) > 1e-17 * sum)) break;
    }
    return cri_tails_from(cri_gamma_scale(a, cri_dd_from(x)), a * sum, false);
}

/* Q = erfc(eta sqrt(a / 2)) / 2 + exp(-a eta^2 / 2) S(eta) / sqrt(2 pi a), where eta^2 / 2 =
 * x/a - 1 - log(x/a).  S is a power series whose coefficients come down a recursion from the Taylor
 * coefficients f_n of eta / (x/a - 1).  Gil, Segura & Temme (2012), sec. 2.5.  a >= 20. */
static cri_tails uniform_expansion(double a, double x)
{
    static const double f[] = {
        1,
        -0.33333333333333333333,
        0.083333333333333333333,
        -0.014814814814814814815,
        0.0011574074074074074074,
        3.5273368606701940035e-4,
        -1.787551440329218107e-4,
        3.9192631785224377817e-5,
        -2.1854485106799921615e-6,
        -1.8540622107151599607e-6,
        8.296711340953086005e-7,
        -1.7665952736826079304e-7,
        6.7078535434014985804e-9,
        1.0261809784240308043e-8,
        -4.3820360184533531866e-9,
        9.1476995822367902342e-10,
        -2.5514193994946249767e-11,
        -5.8307721325504250675e-11,
        2.4361948020667416244e-11,
        -5.0276692801141755891e-12,
        1.1004392031956134771e-13,
        3.3717632624009853788e-13,
        -1.3923887224181620659e-13,
        2.8534893807047443204e-14,
        -5.139111834242572619e-16,
        -1.9752288294349442835e-15,
        8.0995211567045613341e-16,
        -1.6522531216398161819e-16,
    };
    enum { LAST = sizeof f / sizeof *f - 1 };
    double beta[LAST + 2] = { 0 }, s = 0;
    cri_dd bend = cri_dd_neg(cri_dd_deviance(a, cri_dd_from(x)));
    double half = -bend.hi, eta = copysign(sqrt(2 * half / a), x - a);
    for (int n = LAST; n >= 1; n--) beta[n - 1] = f[n] + (n + 1) * beta[n + 1] / a;
    for (int n = LAST - 1; n >= 0; n--) s = s * eta + beta[n];
    s /= (1 + beta[1] / a) * sqrt(2 * M_PI * a);
    double z = sqrt(half), factor = 0.5 * cr_erfcx(z) + copysign(1, eta) * s;
    return cri_tails_from((cri_scaled){ bend, 1 }, factor, eta < 0);
}

cri_tails cri_gamma_tails(double a, double x)
{
    if (!(a > 0 && x >= 0) || a == INFINITY) return cri_tails_nan;
    if (x == 0) return cri_tails_none;
    if (x == INFINITY) return cri_tails_all;
    if (a < 1 && x < 1) return power_series(a, x);
    if (a >= 20 && fabs(x - a) <= 0.4 * a) return uniform_expansion(a, x);
    return a >= 1 && x < a + 1 ? lower_series(a, x) : upper_fraction(a, x);
}

double cr_gamma_p(double a, double x) { return cri_gamma_tails(a, x).lower; }
double cr_gamma_q(double a, double x) { return cri_gamma_tails(a, x).upper; }
double cr_log_gamma_p(double a, double x) { return cri_gamma_tails(a, x).log_lower; }
double cr_log_gamma_q(double a, double x) { return cri_gamma_tails(a, x).log_upper; }

static cri_tails chi2_tails(double x, double d)
{
    return cri_gamma_tails(cri_half(d), x < 0 ? 0 : 0.5 * x);
}

double cr_chi2_sf(double x, double d) { return chi2_tails(x, d).upper; }
double cr_chi2_logsf(double x, double d) { return chi2_tails(x, d).log_upper; }

/* --- inverse --------------------------------------------------------------------------------- */

/* Where P ~ x^a / Gamma(a + 1) to all digits. */
static double small_point(double a, double p)
{
    cri_dd top = cri_dd_log(cri_dd_from(p));
    if (a <= 1)
        top = cri_dd_add_double(top, cri_log_gamma1p(a));
    else
        top = cri_dd_add_double(top, cr_lgamma_abs(a + 1));
    return top.hi < -800 * a ? 0 : cri_exp_dd(cri_dd_div(top, cri_dd_from(a)));
}

/* The logarithm of either tail is concave in log x, so Newton's method with it comes to the root
 * from one side after its first step.  p is the lower or the upper tail, at most about 1/2. */
static double invert(double a, double p, bool is_lower)
{
    if (a > 1e40) return a; /* the spread is below the last digit */
    double log_p = log(p), x = is_lower ? small_point(a, p) : fmax(a, -log_p);
    if (is_lower && x < 1e-18 * (1 + a)) return x;
    if (is_lower && a > 1 && x < a) x = a;
    for (int step = 0; step < 100; step++) {
        cri_tails  t = cri_gamma_tails(a, x);
        cri_scaled scale = cri_gamma_scale(a, cri_dd_from(x));
        double     at = is_lower ? t.lower : t.upper, log_at = is_lower ? t.log_lower : t.log_upper;
        double     slope = at > 1e-290 ? a * cri_scaled_value(scale) / at
                                       : a * exp(cri_scaled_log(scale) - log_at);
        double     move = cri_log_shortfall(p, log_p, at, log_at) / (is_lower ? slope : -slope);
        x *= exp(fmax(-50, fmin(50, move)));
        if (fabs(move) < 1e-9) break; /* the next would be its square */
    }
    return x;
}

double cr_gamma_p_inv(double a, double p)
{
    if (!(a > 0 && a < INFINITY && p >= 0 && p <= 1)) return NAN;
    if (p == 0 || p == 1) return p == 0 ? 0 : INFINITY;
    return p <= 0.5 ? invert(a, p, true) : invert(a, 1 - p, false);
}

double cr_gamma_q_inv(double a, double q)
{
    if (!(a > 0 && a < INFINITY && q >= 0 && q <= 1)) return NAN;
    if (q == 0 || q == 1) return q == 1 ? 0 : INFINITY;
    return q <= 0.5 ? invert(a, q, false) : invert(a, 1 - q, true);
}
