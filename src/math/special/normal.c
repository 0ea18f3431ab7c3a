/* normal.c -- the normal distribution and the scaled complementary error function. */
#include "special_internal.h"
#include "coefficients.h"

#include <math.h>

static const double SQRT_PI = 1.7724538509055160273, SQRT_2_OVER_PI = 0.79788456080286535588;
static const double SQRT_HALF_REST = -4.8336466567264565e-17; /* 1/sqrt(2) - M_SQRT1_2 */

/* Laplace's continued fraction, from the end: sqrt(pi) erfcx(x) = 1/(x + (1/2)/(x + (2/2)/(x +
 * (3/2)/(x + ...)))); DLMF 7.9.1.  Sharp from 25 on. */
static double erfcx_fraction(double x)
{
    double tail = x;
    for (int level = 8; level > 0; level--) tail = x + 0.5 * level / tail;
    return 1 / (SQRT_PI * tail);
}

/* exp(factor x^2): the rounding of x^2, which exp would magnify, is put right. */
static double exp_square(double x, double factor)
{
    double square = x * x, lost = fma(x, x, -square);
    return exp(factor * square) * (1 + factor * lost);
}

double cr_erf(double x) { return erf(x); }
double cr_erfc(double x) { return erfc(x); }

double cr_erfcx(double x)
{
    if (x >= 25) return erfcx_fraction(x);
    return x < -27 ? INFINITY : exp_square(x, 1) * erfc(x);
}

double cr_norm_logpdf(double x) { return -0.5 * x * x - CRI_HALF_LOG_2PI; }

/* erfc(z) / 2 with z = -x / sqrt(2), and in the tail the rounding of z put right: there the
 * derivative of log erfc(z) is about -2 z. */
double cr_norm_cdf(double x)
{
    double z = -x * M_SQRT1_2;
    if (!(z > 1 && z < 40)) return 0.5 * erfc(z);
    double rest = fma(-x, M_SQRT1_2, -z) - x * SQRT_HALF_REST;
    return 0.5 * erfc(z) * (1 - 2 * z * rest);
}

double cr_norm_logcdf(double x)
{
    if (x == -INFINITY) return x;
    if (x < -36) return -0.5 * x * x + log(0.5 * erfcx_fraction(-x * M_SQRT1_2));
    if (x < 0) return log(0.5 * erfc(-x * M_SQRT1_2));
    return log1p(-cr_norm_cdf(-x));
}

double cr_inv_mills(double x)
{
    if (x < -36) return SQRT_2_OVER_PI / erfcx_fraction(-x * M_SQRT1_2);
    return x > 40 ? 0 : 0.5 * SQRT_2_OVER_PI * exp_square(x, -0.5) / cr_norm_cdf(x);
}

/* --- above a threshold ----------------------------------------------------------------------- */

double cr_trunc_norm_mean_above(double a) { return cr_inv_mills(-a); }

/* 1 - u (a + u), u the mean less a.  In the tail u = 1/(a + v), v = 2/(a + w), w = 3/(a + 4/(a +
 * ...)), Laplace's continued fraction; put in, the difference becomes (a^2 + 4 - w^2) / ((a + w)^2
 * (a + v)^2). */
double cr_trunc_norm_var_above(double a)
{
    if (a < -2) return a == -INFINITY ? 1 : 1 - cr_inv_mills(-a) * (cr_inv_mills(-a) - a);
    if (a < 1) return cri_chebyshev_at(&cri_variance_1, a);
    if (a < 5) return cri_chebyshev_at(&cri_variance_2, a) / (1 + a * a);
    if (a > 1e8) return 1 / a / a;
    double tail = a;
    for (int level = a < 10 ? 60 : 25; level > 3; level--) tail = a + level / tail;
    double w = 3 / tail, v = 2 / (a + w), below = (a + w) * (a + v);
    return (a * a + 4 - w * w) / below / below;
}

/* --- quantile -------------------------------------------------------------------------------- */

static double polynomial(const double *c, double x)
{
    double sum = c[7];
    for (int i = 6; i >= 0; i--) sum = sum * x + c[i];
    return sum;
}

/* Wichura (1988), algorithm AS 241 (PPND16), Applied Statistics 37: numerators and denominators
 * for the middle, the near tail and the far tail. */
static const double wichura[3][2][8] = {
    { { 3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
        45921.953931549871457, 67265.770927008700853, 33430.575583588128105,
        2509.0809287301226727 },
      { 1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
        21213.794301586595867, 39307.895800092710610, 28729.085735721942674,
        5226.4952788528545610 } },
    { { 1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
        3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770,
        0.0227238449892691845833, 7.74545014278341407640e-4 },
      { 1, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
        0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4,
        1.05075007164441684324e-9 } },
    { { 6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
        0.296560571828504891230, 0.0265321895265761230930, 1.24266094738807843860e-3,
        2.71155556874348757815e-5, 2.01033439929228813265e-7 },
      { 1, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
        7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
        2.04426310338993978564e-15 } },
};

/* x with P(Z <= x) = 1/2 + q, |q| <= 0.425. */
static double middle_point(double q)
{
    double r = 0.180625 - q * q;
    return q * polynomial(wichura[0][0], r) / polynomial(wichura[0][1], r);
}

/* x with P(Z > x) = tail <= 0.075. */
static double tail_point(double tail)
{
    if (tail == 0) return INFINITY;
    double r = sqrt(-log(tail)), split = r <= 5 ? 1.6 : 5;
    int    part = r <= 5 ? 1 : 2;
    return polynomial(wichura[part][0], r - split) / polynomial(wichura[part][1], r - split);
}

double cr_norm_ppf(double p)
{
    if (!(p >= 0 && p <= 1)) return NAN;
    double q = p - 0.5;
    if (fabs(q) <= 0.425) return middle_point(q);
    return q < 0 ? -tail_point(p) : tail_point(1 - p);
}

double cr_erfinv(double x)
{
    if (!(x >= -1 && x <= 1)) return NAN;
    if (fabs(x) <= 0.85) return M_SQRT1_2 * middle_point(0.5 * x);
    return copysign(M_SQRT1_2 * tail_point(0.5 * (1 - fabs(x))), x);
}

double cr_erfcinv(double x)
{
    if (!(x >= 0 && x <= 2)) return NAN;
    if (fabs(x - 1) <= 0.85) return M_SQRT1_2 * middle_point(0.5 - 0.5 * x);
    return x < 1 ? M_SQRT1_2 * tail_point(0.5 * x) : -M_SQRT1_2 * tail_point(0.5 * (2 - x));
}
