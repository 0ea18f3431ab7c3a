/* gamma.c -- log Gamma, also of many dimensions, and its derivatives.
 * Abramowitz & Stegun (1964), ch. 6. */
#include "special_internal.h"

#include <math.h>

double cr_lgamma_abs(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

double cr_lmvgamma(double p, double a)
{
    static const cri_dd log_pi = { 1.1447298858494001741, 2.2708835010205386e-17 };
    if (!(p >= 1 && p == floor(p) && a > 0.5 * (p - 1)) || p > 1e9) return NAN;
    if (a == INFINITY) return a;
    cri_dd sum = cri_dd_mul(cri_dd_mul_double(cri_two_prod(p, p - 1), 0.25), log_pi);
    for (double j = 0; j < p; j++) sum = cri_dd_add_double(sum, cr_lgamma_abs(a - 0.5 * j));
    return cri_dd_to_double(sum);
}

/* --- derivatives ----------------------------------------------------------------------------- */

/* The zero of digamma, in two parts, and the Taylor series around it. */
static double digamma_near_zero(double x)
{
    static const double c[] = {
        0.96767224544762117043,    -0.44276316898359210609,   0.25849976095565101062,
        -0.1639427054424065275,    0.10782405069126236576,    -0.072199561256454710926,
        0.048804288164143107225,   -0.033161126474847359292,  0.02259764823221810466,
        -0.015424765904948959139,  0.010538791616612175388,   -0.007204534386356868241,
        0.0049267813957298534464,  -0.0033698016554393280828, 0.0023051263267349278369,
        -0.0015769367714301972593, 0.0010788252019162965807,  -7.3807093899600512957e-4,
        5.0495326583460203518e-4,  -3.4546802510630769956e-4, 2.3635601564027052792e-4,
        -1.6170622091974803449e-4, 1.1063372768747410904e-4,
    };
    double d = x - 1.4616321449683622 - 9.5499954299656977152e-17, sum = 0;
    for (size_t k = sizeof c / sizeof *c; k-- > 0;) sum = (sum + c[k]) * d;
    return sum;
}

/* sum of c[k] r^(k + 1), the asymptotic series of the derivatives. */
static double power_sum(const double *c, double r)
{
    double sum = 0;
    for (int k = 7; k >= 0; k--) sum = (sum + c[k]) * r;
    return sum;
}

/* psi(x) = psi(x + 1) - 1/x up to 10, then the asymptotic series; A&S 6.3.5, 6.3.18. */
double cr_digamma(double x)
{
    static const double c[] = { 1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160 };
    if (x <= 0) { /* reflection, the angle reduced exactly; A&S 6.3.7 */
        double r = x - round(x);
        return r == 0 || x == -INFINITY ? NAN : cr_digamma(1 - x) - M_PI / tan(M_PI * r);
    }
    if (x == INFINITY) return x;
    if (fabs(x - 1.46) < 0.3) return digamma_near_zero(x);
    double down = 0;
    for (; x < 10; x++) down += 1 / x;
    return log(x) - (0.5 / x + power_sum(c, 1 / x / x) + down);
}

/* psi'(x) = psi'(x + 1) + 1/x^2, then the asymptotic series; A&S 6.4.6, 6.4.7, 6.4.12. */
double cr_trigamma(double x)
{
    static const double c[] = { 1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510 };
    if (x <= 0) {
        double r = x - round(x), s = M_PI / sin(M_PI * r);
        return r == 0 || x == -INFINITY ? NAN : s * s - cr_trigamma(1 - x);
    }
    double up = 0;
    for (; x < 10; x++) up += 1 / x / x;
    return up + (1 + 0.5 / x + power_sum(c, 1 / x / x)) / x;
}

/* psi''(x) = psi''(x + 1) - 2/x^3; A&S 6.4.6, 6.4.7, 6.4.13. */
double cr_tetragamma(double x)
{
    static const double c[] = { 1.0 / 2, -1.0 / 6,     1.0 / 6,  -3.0 / 10,
                                5.0 / 6, -691.0 / 210, 35.0 / 2, -3617.0 / 30 };
    if (x <= 0) {
        double r = x - round(x), s = M_PI / sin(M_PI * r);
        if (r == 0 || x == -INFINITY) return NAN;
        return cr_tetragamma(1 - x) - 2 * s * s * s * cos(M_PI * r);
    }
    double down = 0;
    for (; x < 10; x++) down += 2 / x / x / x;
    return -down - (1 + 1 / x + power_sum(c, 1 / x / x)) / x / x;
}

static const double EULER = 0.57721566490153286061;

/* Newton's steps on 1 / trigamma, which is convex and almost straight, from below; beyond 1e7 and below 1e-6 the first
 * term of its series is all there is.  Smyth (2004), Stat. Appl. Genet. Mol. Biol. 3(1), appendix. */
double cr_trigamma_inv(double y)
{
    if (!(y > 0)) return y == 0 ? INFINITY : NAN;
    if (y > 1e7) return 1 / sqrt(y);
    if (y < 1e-6) return 0.5 + 1 / y;
    double x = 0.5 + 1 / y;
    for (int step = 0; step < 50; step++) {
        double f = cr_trigamma(x), move = f * (1 - f / y) / cr_tetragamma(x);
        x += move;
        if (fabs(move) < 1e-9 * x) break; /* the next would be its square */
    }
    return x;
}

/* Newton's steps on psi(exp(u)) = y, which is concave and almost straight on both sides; the start
 * from Minka (2000), "Estimating a Dirichlet distribution", appendix C.  Above 20, psi(x) is
 * log(x - 1/2) and below -1e9 it is -1/x - gamma, but for less than the rounding. */
double cr_digamma_inv(double y)
{
    if (y == -INFINITY) return 0;
    if (isnan(y) || y > 20) return exp(y) + 0.5;
    if (y < -1e9) return -1 / (y + EULER);
    double x = y >= -2.22 ? exp(y) + 0.5 : -1 / (y + EULER);
    for (int step = 0; step < 20; step++) {
        double move = (y - cr_digamma(x)) / (x * cr_trigamma(x));
        x += x * expm1(move);
        if (fabs(move) < 1e-9) break; /* the next would be its square */
    }
    return x;
}

double cr_log_digamma_inv(double y)
{
    return y > 20 ? y + log1p(0.5 * exp(-y)) : log(cr_digamma_inv(y));
}
