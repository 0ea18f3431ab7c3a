/* incomplete_beta.c -- the regularised incomplete beta function, each tail by itself:
 *   below the middle, a < 1       the power series in x, both tails from it
 *   below the middle, else        the continued fraction
 *   a and b very large            Gauss's quadrature of the tail in log odds
 * above the middle the same with a, b and x, y exchanged.
 * DiDonato & Morris (1992), ACM TOMS 18(3); DLMF 8.17. */
#include "special_internal.h"

#include <math.h>

/* log [a B(a, b)], sharp also where a is small. */
static double log_a_beta(double a, double b)
{
    if (a > 0.5) return log(a) + cr_log_beta(a, b);
    return cri_log_gamma1p(a) - cri_log_gamma_ratio(b, a);
}

/* I = x^a / (a B) (1 + a s), s = sum_{n >= 1} (1 - b)_n x^n / (n! (a + n)); DLMF 8.17.7. */
static cri_tails power_series(double a, double b, double x)
{
    double s = 0, term = 1;
    for (int n = 1; n < 2000; n++) {
        term *= (n - b) * x / n;
        s += term / (a + n);
        if (fabs(term) < 1e-18) break;
    }
    double log_power = b < 10 ? a * log(x) - log_a_beta(a, b)
                              : a * log(b * x) + cri_log_gamma_ratio_rest(b, a) -
                                    (a < 0.5 ? cri_log_gamma1p(a) : cr_log_gamma(a + 1));
    return cri_tails_from_product(log_power, a * s);
}

/* I = prefix / (b_0 + a_1 / (b_1 + a_2 / (b_2 + ...))), the even part of DLMF 8.17.22; DiDonato &
 * Morris (1992), eq. (9), by Lentz's method. */
static cri_tails continued_fraction(double a, double b, double x, double y)
{
    double off = cri_beta_off_mode(a, b, x, y), value = a / (a + 1) * (off + 1), c = value, d = 0;
    for (double m = 1; m < 20000; m++) {
        double odd = a + 2 * m - 1, w = m * (b - m) * x;
        double am = (a + m - 1) / odd * ((a + b + m - 1) * x / odd) * w;
        double bm = m + w / odd + (a + m) / (odd + 2) * (off + 1 + m * (1 + y));
        d = 1 / (bm + am * d);
        c = bm + am / c;
        value *= c * d;
        if (fabs(c * d - 1) < 1e-16) break;
    }
    return cri_tails_from(cri_beta_log_prefix(a, b, x, y), 1 / value, true);
}

/* In log odds s from those of x the density is prefix * exp(g), g = off s - n (x e(s) + l(x (exp(s)
 * - 1))), n = a + b, e(s) = exp(s) - 1 - s, l(w) = log(1 + w) - w, and it is log-concave: the tail
 * is over where g = -45.  40 points; x <= 1/2. */
static cri_tails quadrature(double a, double b, double x, double y)
{
    static const double gauss[10][2] = {
        { 0.07652652113349733375, 0.1527533871307258507 },
        { 0.2277858511416450781, 0.1491729864726037468 },
        { 0.3737060887154195607, 0.1420961093183820513 },
        { 0.510867001950827098, 0.1316886384491766269 },
        { 0.6360536807265150255, 0.1181945319615184173 },
        { 0.7463319064601507926, 0.101930119817240435 },
        { 0.8391169718222188234, 0.08327674157670474872 },
        { 0.9122344282513259059, 0.06267204833410906357 },
        { 0.9639719272779137913, 0.04060142980038694133 },
        { 0.9931285991850949248, 0.01761400713915211831 },
    };
    double n = a + b, off = cri_beta_off_mode(a, b, x, y), sign = off > 0 ? -1 : 1;
    double slope = fabs(off);
    double end = 2 * 45 / (slope + sqrt(slope * slope + 2 * 45 * n * x * y)), sum = 0;
    for (int i = 0; i < 40; i++) {
        double at = gauss[i / 4][0], half = i % 2 ? 0.35 * end : 0.15 * end;
        double middle = i % 2 ? 0.65 * end : 0.15 * end;
        double s = sign * (middle + (i / 2 % 2 ? -at : at) * half);
        double g = off * s - n * (x * cri_expm1mx(s) + cri_log1pmx(x * expm1(s)));
        sum += half * gauss[i / 4][1] * exp(g);
    }
    return cri_tails_from(cri_beta_log_prefix(a, b, x, y), sum, off > 0);
}

cri_tails cri_beta_tails(double a, double b, double x, double y)
{
    if (!(a > 0 && b > 0 && x >= 0 && y >= 0)) return cri_tails_nan;
    if (a == INFINITY || b == INFINITY) return cri_tails_nan;
    if (x == 0) return cri_tails_none;
    if (y == 0) return cri_tails_all;
    if (a > 3000 && b > 3000)
        return x <= 0.5 ? quadrature(a, b, x, y) : cri_tails_swap(quadrature(b, a, y, x));
    if (x * (b + 1) > y * (a + 1)) return cri_tails_swap(cri_beta_tails(b, a, y, x));
    return a < 1 ? power_series(a, b, x) : continued_fraction(a, b, x, y);
}

static cri_tails beta_tails(double a, double b, double x) { return cri_beta_tails(a, b, x, 1 - x); }

double cr_betainc(double a, double b, double x) { return beta_tails(a, b, x).lower; }
double cr_betainc_upper(double a, double b, double x) { return beta_tails(a, b, x).upper; }
double cr_log_betainc(double a, double b, double x) { return beta_tails(a, b, x).log_lower; }
double cr_log_betainc_upper(double a, double b, double x) { return beta_tails(a, b, x).log_upper; }

/* x from the lower tail p <= 1/2 (or a little more), as odds: the logarithm of the tail is concave
 * in the log odds, so Newton's method comes to the root from one side after its first step. */
static double invert_lower(double a, double b, double log_p)
{
    double log_small = (log_p + log_a_beta(a, b)) / a; /* I ~ x^a / (a B) for small x */
    if (log_small < -650) return exp(log_small);
    double odds = exp(fmin(log_small, 50));
    if (a > 1 && odds < a / b) odds = a / b;
    for (int step = 0; step < 100; step++) {
        if (odds > 1e300) return INFINITY;
        double    x = odds / (1 + odds), y = 1 / (1 + odds);
        cri_tails t = cri_beta_tails(a, b, x, y);
        double    slope = exp(cri_beta_log_prefix(a, b, x, y) - t.log_lower);
        double    move = (log_p - t.log_lower) / slope;
        odds *= exp(fmax(-50, fmin(50, move)));
        if (fabs(move) < 1e-10) break; /* the next would be its square */
    }
    return odds;
}

double cr_betainc_inv(double a, double b, double p)
{
    if (!(a > 0 && b > 0 && a < INFINITY && b < INFINITY && p >= 0 && p <= 1)) return NAN;
    if (p == 0 || p == 1) return p;
    if (p > 0.5) return 1 / (1 + invert_lower(b, a, log1p(-p)));
    double odds = invert_lower(a, b, log(p));
    return odds < 1 ? odds / (1 + odds) : 1 / (1 + 1 / odds);
}

/* F is a ratio of chi-squares: P(F > x) = I_{d2 / (d2 + d1 x)}(d2 / 2, d1 / 2). */
static cri_tails f_tails(double x, double d1, double d2)
{
    if (!(d1 > 0 && d2 > 0) || isnan(x)) return cri_tails_nan;
    if (x <= 0) return cri_tails_none;
    if (x == INFINITY) return cri_tails_all;
    double odds = x * (d1 / d2);
    return cri_beta_tails(0.5 * d1, 0.5 * d2, odds / (1 + odds), 1 / (1 + odds));
}

double cr_f_sf(double x, double d1, double d2) { return f_tails(x, d1, d2).upper; }
double cr_f_logsf(double x, double d1, double d2) { return f_tails(x, d1, d2).log_upper; }
