/* gamma.c -- log Gamma, its derivatives, and the pieces of it that keep differences sharp. */
#include "special_internal.h"

#include <math.h>

double cr_log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* --- elementary pieces ------------------------------------------------------------------------ */

/* With r = x / (2 + x), log(1 + x) = 2 atanh(r), and 2 r - x = -r x. */
double cri_log1pmx(double x)
{
    if (x < -0.4 || x > 0.6) return log1p(x) - x;
    double r = x / (2 + x), square = r * r, sum = 0;
    for (int k = 27; k >= 3; k -= 2) sum = sum * square + 1.0 / k;
    return r * (2 * square * sum - x);
}

double cri_expm1mx(double x)
{
    if (fabs(x) > 0.5) return expm1(x) - x;
    double sum = 1;
    for (int k = 15; k >= 3; k--) sum = 1 + sum * x / k;
    return 0.5 * x * x * sum;
}

/* A&S 6.1.33: log Gamma(1 + x) = -log(1 + x) + x (1 - gamma) + sum (-x)^k (zeta(k) - 1) / k. */
double cri_log_gamma1p(double x)
{
    static const double c[] = { /* (zeta(k) - 1) / k, k = 2, 3, ... */
        0.32246703342411321824, 0.067352301053198095133, 0.020580808427784547879,
        0.0073855510286739852663, 0.0028905103307415232858, 0.0011927539117032609771,
        5.0966952474304242234e-4, 2.2315475845357937976e-4, 9.9457512781808533715e-5,
        4.49262367381331417e-5, 2.0507212775670691553e-5, 9.439488275268395904e-6,
        4.3748667899074878042e-6, 2.0392157538013662368e-6, 9.5514121304074198329e-7,
        4.4924691987645660433e-7, 2.1207184805554665869e-7, 1.0043224823968099609e-7,
        4.7698101693639805658e-8, 2.271109460894316491e-8, 1.0838659214896954091e-8,
        5.1834750419700466551e-9, 2.4836745438024783172e-9, 1.1921401405860912074e-9,
        5.7313672416788620133e-10, 2.7595228851242331452e-10,
    };
    double sum = 0;
    for (size_t k = sizeof c / sizeof *c; k-- > 0;) sum = c[k] - sum * x;
    return 0.42278433509846713939 * x - log1p(x) + sum * x * x;
}

/* Stirling's series, B_2k / (2k (2k - 1) x^(2k - 1)); A&S 6.1.41. */
static const double stirling[] = { 1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                   1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400 };

double cri_stirling_remainder(double x)
{
    double sum = 0, r = 1 / (x * x);
    for (int k = 7; k >= 0; k--) sum = sum * r + stirling[k];
    return sum / x;
}

static double stirling_slope(double x)
{
    double sum = 0, r = 1 / (x * x);
    for (int k = 7; k >= 0; k--) sum = sum * r - (2 * k + 1) * stirling[k];
    return sum * r;
}

double cri_log_gamma_ratio_rest(double x, double h)
{
    double remainder = h < 1e-4 ? h * stirling_slope(x + 0.5 * h)
                                : cri_stirling_remainder(x + h) - cri_stirling_remainder(x);
    return remainder + x * cri_log1pmx(h / x) + (h - 0.5) * log1p(h / x);
}

/* For small h the integral of digamma from x to x + h, by Gauss's formula with 8 points. */
static double integrate_digamma(double x, double h)
{
    static const double gauss[4][2] = { { 0.1834346424956498049, 0.3626837833783619830 },
                                        { 0.5255324099163289858, 0.3137066458778872873 },
                                        { 0.7966664774136267396, 0.2223810344533744705 },
                                        { 0.9602898564975362317, 0.1012285362903762592 } };
    double half = 0.5 * h, sum = 0;
    for (int i = 0; i < 4; i++) {
        double step = half * gauss[i][0];
        sum += gauss[i][1] * (cr_digamma(x + half - step) + cr_digamma(x + half + step));
    }
    return half * sum;
}

double cri_log_gamma_ratio(double x, double h)
{
    if (x >= 10) return h * log(x) + cri_log_gamma_ratio_rest(x, h);
    if (h > 0.5) return cr_log_gamma(x + h) - cr_log_gamma(x);
    if (x < 1) return integrate_digamma(x + 1, h) - log1p(h / x);
    return integrate_digamma(x, h);
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* The zero of digamma, in two parts, and the Taylor series around it. */
static double digamma_near_zero(double x)
{
    static const double c[] = {
        0.96767224544762117043,     -0.44276316898359210609,   0.25849976095565101062,
        -0.1639427054424065275,     0.10782405069126236576,    -0.072199561256454710926,
        0.048804288164143107225,    -0.033161126474847359292,  0.02259764823221810466,
        -0.015424765904948959139,   0.010538791616612175388,   -0.007204534386356868241,
        0.0049267813957298534464,   -0.0033698016554393280828, 0.0023051263267349278369,
        -0.0015769367714301972593,  0.0010788252019162965807,  -7.3807093899600512957e-4,
        5.0495326583460203518e-4,   -3.4546802510630769956e-4, 2.3635601564027052792e-4,
        -1.6170622091974803449e-4,  1.1063372768747410904e-4,
    };
    double d = x - 1.4616321449683622 - 9.5499954299656977152e-17, sum = 0;
    for (size_t k = sizeof c / sizeof *c; k-- > 0;) sum = (sum + c[k]) * d;
    return sum;
}

/* psi(x) = psi(x + 1) - 1/x up to 10, then the asymptotic series; A&S 6.3.5, 6.3.18. */
double cr_digamma(double x)
{
    static const double c[] = { 1.0 / 12,   -1.0 / 120,    1.0 / 252, -1.0 / 240,
                                1.0 / 132,  -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160 };
    if (x <= 0) { /* reflection, the angle reduced exactly; A&S 6.3.7 */
        double r = x - round(x);
        return r == 0 || x == -INFINITY ? NAN : cr_digamma(1 - x) - M_PI / tan(M_PI * r);
    }
    if (x == INFINITY) return x;
    if (fabs(x - 1.46) < 0.3) return digamma_near_zero(x);
    double down = 0, sum = 0;
    for (; x < 10; x++) down += 1 / x;
    double r = 1 / (x * x);
    for (int k = 7; k >= 0; k--) sum = (sum + c[k]) * r;
    return log(x) - (0.5 / x + sum + down);
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
    double up = 0, sum = 0;
    for (; x < 10; x++) up += 1 / (x * x);
    double r = 1 / (x * x);
    for (int k = 7; k >= 0; k--) sum = (sum + c[k]) * r;
    return up + (1 + 0.5 / x + sum) / x;
}
