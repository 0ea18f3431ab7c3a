/* incomplete_beta.c -- the regularised incomplete beta function, each tail by itself:
 *   below the middle, a < 1       the power series in x, both tails from it; where the upper is the
 *                                 smaller, the continued fraction of that
 *   below the middle, else        the continued fraction
 *   a and b very large            Gauss's quadrature of the tail in log odds
 * above the middle the same with a, b and x, y exchanged.
 * DiDonato & Morris (1992), ACM TOMS 18(3); DLMF 8.17. */
#include "special_internal.h"
#include "math/quadrature.h"

#include <math.h>

/* I = x^a / (a B) (1 + a s), s = sum_{n >= 1} (1 - b)_n x^n / (n! (a + n)); DLMF 8.17.7. */
static cri_tails power_series(double a, double b, cri_dd x)
{
    double s = 0, term = 1;
    for (int n = 1; n < 2000; n++) {
        term *= (n - b) * x.hi / n;
        s += term / (a + n);
        if (fabs(term) < 1e-18) break;
    }
    cri_dd log_power = cri_dd_mul_double(cri_dd_log(x), a);
    log_power = cri_dd_add_double(log_power, -cri_log_a_beta(a, b));
    return cri_tails_from_product(log_power, a * s);
}

/* I = a scale / (b_0 + a_1 / (b_1 + a_2 / (b_2 + ...))), the even part of DLMF 8.17.22; DiDonato &
 * Morris (1992), eq. (9).  By Steed's method, the convergents as a sum whose terms fall. */
static cri_tails continued_fraction(double a, double b, cri_dd xx, cri_dd yy)
{
    double x = xx.hi, y = yy.hi, off = cri_beta_off_mode(a, b, xx, yy);
    double d = (a + 1) / (a * (off + 1)), term = d, sum = d;
    for (double m = 1; m < 20000; m++) {
        double odd = a + 2 * m - 1, w = m * (b - m) * x, before = d;
        double top = (a + m - 1) / odd * ((a + b + m - 1) * x / odd) * w;
        double bottom = m + w / odd + (a + m) / (odd + 2) * (off + 1 + m * (1 + y));
        d = 1 / (bottom + top * d);
        term *= -top * before * d;
        sum += term;
        if (!(fabs(term) > 1e-17 * sum)) break;
    }
    return cri_tails_from(cri_beta_scale(a, b, xx, yy), a * sum, true);
}

/* The density in log odds s from those of x, less the one at x; all logarithms. */
typedef struct bend {
    double n, x, off, sign;
} bend;

/* exp(g), g = off s - n (x e(s) + l(x (exp(s) - 1))), n = a + b, e(s) = exp(s) - 1 - s, l(w) =
 * log(1 + w) - w. */
static double density_from(double s, void *arg)
{
    const bend *d = arg;
    s *= d->sign;
    return exp(d->off * s - d->n * (d->x * cri_expm1mx(s) + cri_log1pmx(d->x * expm1(s))));
}

/* That density is log-concave: the tail is over where g = -45.  40 points; x <= 1/2. */
static cri_tails quadrature(double a, double b, cri_dd x, cri_dd y)
{
    double off = cri_beta_off_mode(a, b, x, y), slope = fabs(off), n = a + b;
    bend   d = { n, x.hi, off, off > 0 ? -1 : 1 };
    double end = 2 * 45 / (slope + sqrt(slope * slope + 2 * 45 * n * x.hi * y.hi));
    double sum =
        cr_gauss20(density_from, &d, 0, 0.3 * end) + cr_gauss20(density_from, &d, 0.3 * end, end);
    return cri_tails_from(cri_beta_scale(a, b, x, y), a * sum, off > 0);
}

cri_tails cri_beta_tails(double a, double b, cri_dd x, cri_dd y)
{
    if (!(a > 0 && b > 0 && x.hi >= 0 && y.hi >= 0)) return cri_tails_nan;
    if (a == INFINITY || b == INFINITY) return cri_tails_nan;
    if (x.hi == 0) return cri_tails_none;
    if (y.hi == 0) return cri_tails_all;
    if (a > 500 && b > 500)
        return x.hi <= 0.5 ? quadrature(a, b, x, y) : cri_tails_swap(quadrature(b, a, y, x));
    if (x.hi * (b + 1) > y.hi * (a + 1)) return cri_tails_swap(cri_beta_tails(b, a, y, x));
    if (a >= 1) return continued_fraction(a, b, x, y);
    return b >= 1 && b * x.hi > 0.7 ? cri_tails_swap(continued_fraction(b, a, y, x))
                                    : power_series(a, b, x);
}

static cri_tails beta_tails(double a, double b, double x)
{
    return cri_beta_tails(a, b, cri_dd_from(x), cri_two_sum(1, -x));
}

double cr_betainc(double a, double b, double x) { return beta_tails(a, b, x).lower; }
double cr_betainc_upper(double a, double b, double x) { return beta_tails(a, b, x).upper; }
double cr_log_betainc(double a, double b, double x) { return beta_tails(a, b, x).log_lower; }
double cr_log_betainc_upper(double a, double b, double x) { return beta_tails(a, b, x).log_upper; }

/* The tails for odds = d1 x / d2 below 1e-250, where the lower one is odds^a / (a B). */
static cri_tails tiny_odds(double a, double b, cri_dd log_odds)
{
    double front = a <= 1 ? cri_log_a_beta(a, b) : log(a) + cr_lbeta(a, b);
    return cri_tails_from_product(cri_dd_add_double(cri_dd_mul_double(log_odds, a), -front), 0);
}

/* F is a ratio of chi-squares: P(F > x) = I_{d2 / (d2 + d1 x)}(d2 / 2, d1 / 2). */
static cri_tails f_tails(double x, double d1, double d2)
{
    if (!(d1 > 0 && d2 > 0) || isnan(x)) return cri_tails_nan;
    if (x <= 0) return cri_tails_none;
    if (x == INFINITY) return cri_tails_all;
    double a = cri_half(d1), b = cri_half(d2);
    cri_dd log_top = cri_dd_add(cri_dd_log(cri_dd_from(x)), cri_dd_log(cri_dd_from(d1)));
    cri_dd log_odds = cri_dd_sub(log_top, cri_dd_log(cri_dd_from(d2)));
    if (log_odds.hi < -575) return tiny_odds(a, b, log_odds);
    if (log_odds.hi > 575) return cri_tails_swap(tiny_odds(b, a, cri_dd_neg(log_odds)));
    if (fabs(log_top.hi) > 650 || fabs(log(d2)) > 650) {
        double odds = cri_exp_dd(log_odds);
        return cri_beta_tails(a, b, cri_dd_from(odds / (1 + odds)), cri_dd_from(1 / (1 + odds)));
    }
    cri_dd top = cri_two_prod(d1, x), all = cri_dd_add_double(top, d2);
    return cri_beta_tails(a, b, cri_dd_div(top, all), cri_dd_div(cri_dd_from(d2), all));
}

double cr_f_sf(double x, double d1, double d2) { return f_tails(x, d1, d2).upper; }
double cr_f_logsf(double x, double d1, double d2) { return f_tails(x, d1, d2).log_upper; }

/* --- inverse --------------------------------------------------------------------------------- */

/* x where I ~ x^a / (a B) to all digits. */
static cri_dd small_point(double a, double b, double p)
{
    cri_dd top = cri_dd_log(cri_dd_from(p));
    top = cri_dd_add_double(top, a <= 1 ? cri_log_a_beta(a, b) : log(a) + cr_lbeta(a, b));
    return cri_dd_div(top, cri_dd_from(a));
}

/* The odds of x from the lower tail p <= 1/2 (or a little more): the logarithm of the tail is
 * concave in the log odds, so Newton's method comes to the root from one side after its first
 * step. */
static double invert_lower(double a, double b, double p)
{
    cri_dd small = small_point(a, b, p);
    double odds = cri_exp_dd(small), log_p = log(p);
    if (small.hi < -40 - log(1 + b)) return odds;
    odds = fmin(odds, 1e20);
    if (a > 1 && odds < a / b) odds = a / b;
    for (int step = 0; step < 100; step++) {
        if (odds > 1e290) return INFINITY;
        cri_dd     all = cri_two_sum(1, odds);
        cri_dd     x = cri_dd_div(cri_dd_from(odds), all), y = cri_dd_div(cri_dd_from(1), all);
        cri_tails  t = cri_beta_tails(a, b, x, y);
        cri_scaled scale = cri_beta_scale(a, b, x, y);
        double     slope = t.lower > 1e-290 ? a * cri_scaled_value(scale) / t.lower
                                            : a * exp(cri_scaled_log(scale) - t.log_lower);
        double     move = cri_log_shortfall(p, log_p, t.lower, t.log_lower) / slope;
        odds *= exp(fmax(-50, fmin(50, move)));
        if (fabs(move) < 1e-9) break; /* the next would be its square */
    }
    return odds;
}

double cr_betainc_inv(double a, double b, double p)
{
    if (!(a > 0 && b > 0 && a < INFINITY && b < INFINITY && p >= 0 && p <= 1)) return NAN;
    if (p == 0 || p == 1) return p;
    if (p > 0.5) return 1 / (1 + invert_lower(b, a, 1 - p));
    double odds = invert_lower(a, b, p);
    return odds < 1 ? odds / (1 + odds) : 1 / (1 + 1 / odds);
}
