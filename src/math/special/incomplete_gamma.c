/* incomplete_gamma.c -- P and Q, each by the method that is sharp where it is used:
 *   a < 1, x < 3/2        the power series in x, both tails from it
 *   x near a >= 20        Temme's uniform expansion around the normal distribution
 *   x < a + 1             the series of P;   else the continued fraction of Q
 * Gautschi (1979), ACM TOMS 5(4); Gil, Segura & Temme (2012), SIAM J. Sci. Comput. 34(6). */
#include "special_internal.h"

#include <math.h>

/* log [x^a e^-x / Gamma(a + 1)]. */
static double log_prefix(double a, double x)
{
    if (a < 10) return a * log(x) - x - (a < 0.5 ? cri_log_gamma1p(a) : cr_log_gamma(a + 1));
    double mu = (x - a) / a, bend = fabs(mu) < 0.4 ? cri_log1pmx(mu) : log(x / a) - mu;
    return a * bend - cri_stirling_remainder(a) - CRI_HALF_LOG_2PI - 0.5 * log(a);
}

/* P = x^a / Gamma(a + 1) (1 + a s), s = sum_{n >= 1} (-x)^n / (n! (a + n)); DLMF 8.7.1. */
static cri_tails power_series(double a, double x)
{
    double s = 0, term = 1;
    for (int n = 1; n < 60; n++) {
        term *= -x / n;
        s += term / (a + n);
        if (fabs(term) < 1e-18) break;
    }
    double log_power = a * log(x) - (a < 0.5 ? cri_log_gamma1p(a) : cr_log_gamma(a + 1));
    return cri_tails_from_product(log_power, a * s);
}

/* P = prefix * sum x^n / ((a + 1) ... (a + n)); DLMF 8.7.1. */
static cri_tails lower_series(double a, double x)
{
    double sum = 1, term = 1;
    for (double n = 1; n < 10000 && term > 1e-17 * sum; n++) sum += term *= x / (a + n);
    return cri_tails_from(log_prefix(a, x), sum, true);
}

/* Q = prefix * a / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)));
 * DLMF 8.9.2, by Lentz's method. */
static cri_tails upper_fraction(double a, double x)
{
    double b = x + 1 - a, c = INFINITY, d = 1 / b, value = d;
    for (double n = 1; n < 10000; n++) {
        double an = -n * (n - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        value *= c * d;
        if (fabs(c * d - 1) < 1e-16) break;
    }
    return cri_tails_from(log_prefix(a, x) + log(a), value, false);
}

/* Q = erfc(eta sqrt(a / 2)) / 2 + exp(-a eta^2 / 2) S(eta) / sqrt(2 pi a), where eta^2 / 2 =
 * x/a - 1 - log(x/a).  S is a power series whose coefficients come down a recursion from the Taylor
 * coefficients f_n of eta / (x/a - 1).  Gil, Segura & Temme (2012), sec. 2.5.  a >= 20. */
static cri_tails uniform_expansion(double a, double x)
{
    static const double f[] = {
        1,                          -0.33333333333333333333,   0.083333333333333333333,
        -0.014814814814814814815,   0.0011574074074074074074,  3.5273368606701940035e-4,
        -1.787551440329218107e-4,   3.9192631785224377817e-5,  -2.1854485106799921615e-6,
        -1.8540622107151599607e-6,  8.296711340953086005e-7,   -1.7665952736826079304e-7,
        6.7078535434014985804e-9,   1.0261809784240308043e-8,  -4.3820360184533531866e-9,
        9.1476995822367902342e-10,  -2.5514193994946249767e-11, -5.8307721325504250675e-11,
        2.4361948020667416244e-11,  -5.0276692801141755891e-12, 1.1004392031956134771e-13,
        3.3717632624009853788e-13,  -1.3923887224181620659e-13, 2.8534893807047443204e-14,
        -5.139111834242572619e-16,  -1.9752288294349442835e-15, 8.0995211567045613341e-16,
        -1.6522531216398161819e-16,
    };
    enum { LAST = sizeof f / sizeof *f - 1 };
    double beta[LAST + 2] = { 0 }, s = 0;
    double half = -a * cri_log1pmx((x - a) / a), eta = copysign(sqrt(2 * half / a), x - a);
    for (int n = LAST; n >= 1; n--) beta[n - 1] = f[n] + (n + 1) * beta[n + 1] / a;
    for (int n = LAST - 1; n >= 0; n--) s = s * eta + beta[n];
    s /= (1 + beta[1] / a) * sqrt(2 * M_PI * a);
    double z = sqrt(half), factor = 0.5 * cr_erfcx(z) + copysign(1, eta) * s;
    return cri_tails_from(-half, factor, eta < 0);
}

cri_tails cri_gamma_tails(double a, double x)
{
    if (!(a > 0 && x >= 0) || a == INFINITY) return cri_tails_nan;
    if (x == 0) return cri_tails_none;
    if (x == INFINITY) return cri_tails_all;
    if (a < 1 && x < 1.5) return power_series(a, x);
    if (a >= 20 && fabs(x - a) <= 0.4 * a) return uniform_expansion(a, x);
    return x < a + 1 ? lower_series(a, x) : upper_fraction(a, x);
}

double cr_gamma_p(double a, double x) { return cri_gamma_tails(a, x).lower; }
double cr_gamma_q(double a, double x) { return cri_gamma_tails(a, x).upper; }
double cr_log_gamma_p(double a, double x) { return cri_gamma_tails(a, x).log_lower; }
double cr_log_gamma_q(double a, double x) { return cri_gamma_tails(a, x).log_upper; }

static cri_tails chi2_tails(double x, double d)
{
    return cri_gamma_tails(0.5 * d, x < 0 ? 0 : 0.5 * x);
}

double cr_chi2_sf(double x, double d) { return chi2_tails(x, d).upper; }
double cr_chi2_logsf(double x, double d) { return chi2_tails(x, d).log_upper; }

/* The logarithm of either tail is concave in log x, so Newton's method with it comes to the root
 * from one side after its first step. */
double cr_gamma_p_inv(double a, double p)
{
    if (!(a > 0 && a < INFINITY && p >= 0 && p <= 1)) return NAN;
    if (p == 0) return 0;
    if (p == 1) return INFINITY;
    double x = exp((log(p) + cr_log_gamma(a + 1)) / a); /* P ~ x^a / Gamma(a + 1) for small x */
    if (x < 1e-290) return x;
    if (a > 1 && x < a) x = a;
    bool   use_lower = p <= 0.5;
    double target = use_lower ? log(p) : log1p(-p);
    for (int step = 0; step < 100; step++) {
        cri_tails t = cri_gamma_tails(a, x);
        double    at = use_lower ? t.log_lower : t.log_upper;
        double    slope = exp(log_prefix(a, x) + log(a) - at); /* of `at` in log x */
        double    move = (use_lower ? target - at : at - target) / slope;
        x *= exp(fmax(-50, fmin(50, move)));
        if (fabs(move) < 1e-10) break; /* the next would be its square */
    }
    return x;
}
