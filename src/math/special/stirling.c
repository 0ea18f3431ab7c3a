/* stirling.c -- log Gamma against Stirling's formula: what keeps differences of log Gammas, and so
 * probabilities, sharp.
 * Loader (2000), "Fast and accurate computation of binomial probabilities"; Abramowitz & Stegun
 * (1964), ch. 6. */
#include "special_internal.h"
#include "coefficients.h"

#include <math.h>

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
    static const double c[] = {
        /* (zeta(k) - 1) / k, k = 2, 3, ... */
        0.32246703342411321824,    0.067352301053198095133,   0.020580808427784547879,
        0.0073855510286739852663,  0.0028905103307415232858,  0.0011927539117032609771,
        5.0966952474304242234e-4,  2.2315475845357937976e-4,  9.9457512781808533715e-5,
        4.49262367381331417e-5,    2.0507212775670691553e-5,  9.439488275268395904e-6,
        4.3748667899074878042e-6,  2.0392157538013662368e-6,  9.5514121304074198329e-7,
        4.4924691987645660433e-7,  2.1207184805554665869e-7,  1.0043224823968099609e-7,
        4.7698101693639805658e-8,  2.271109460894316491e-8,   1.0838659214896954091e-8,
        5.1834750419700466551e-9,  2.4836745438024783172e-9,  1.1921401405860912074e-9,
        5.7313672416788620133e-10, 2.7595228851242331452e-10,
    };
    if (x > 0.5) return cr_lgamma_abs(1 + x);
    double sum = 0;
    for (size_t k = sizeof c / sizeof *c; k-- > 0;) sum = c[k] - sum * x;
    return 0.42278433509846713939 * x - log1p(x) + sum * x * x;
}

/* Stirling's series, B_2k / (2k (2k - 1) x^(2k - 1)); A&S 6.1.41. */
static const double stirling[] = { 1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                   1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400 };

double cr_stirlerr(double x)
{
    if (!(x > 0)) return x == 0 ? INFINITY : NAN;
    if (x < 1) return cri_log_gamma1p(x) - (x + 0.5) * log(x) + (x - CRI_HALF_LOG_2PI);
    if (x < 2.5) return cri_chebyshev_at(&cri_stirling_1, 1 / x) / x;
    if (x < 10) return cri_chebyshev_at(&cri_stirling_2, 1 / x) / x;
    double sum = 0, r = 1 / x / x;
    for (int k = 7; k >= 0; k--) sum = sum * r + stirling[k];
    return sum / x;
}

static double stirling_slope(double x)
{
    double sum = 0, r = 1 / x / x;
    for (int k = 7; k >= 0; k--) sum = sum * r - (2 * k + 1) * stirling[k];
    return sum * r;
}

double cr_bd0(double x, double m)
{
    if (!(x >= 0 && m >= 0)) return NAN;
    if (x == 0) return m;
    if (m == 0 || m == INFINITY) return x == INFINITY ? NAN : INFINITY;
    if (x == INFINITY) return INFINITY;
    return cri_dd_to_double(cri_dd_deviance(x, cri_dd_from(m)));
}

double cri_log_gamma_ratio_rest(double x, double h)
{
    double remainder =
        h < 1e-4 && x >= 10 ? h * stirling_slope(x + 0.5 * h) : cr_stirlerr(x + h) - cr_stirlerr(x);
    return remainder + x * cri_log1pmx(h / x) + (h - 0.5) * log1p(h / x);
}

/* For small h the integral of digamma from x to x + h, by Gauss's formula with 8 points. */
static double integrate_digamma(double x, double h)
{
    static const double gauss[4][2] = { { 0.1834346424956498049, 0.3626837833783619830 },
                                        { 0.5255324099163289858, 0.3137066458778872873 },
                                        { 0.7966664774136267396, 0.2223810344533744705 },
                                        { 0.9602898564975362317, 0.1012285362903762592 } };
    double              half = 0.5 * h, sum = 0;
    for (int i = 0; i < 4; i++) {
        double step = half * gauss[i][0];
        sum += gauss[i][1] * (cr_digamma(x + half - step) + cr_digamma(x + half + step));
    }
    return half * sum;
}

double cr_lgamma_diff(double x, double h)
{
    if (!(x > 0 && x + h > 0)) return NAN;
    if (h < 0) return -cr_lgamma_diff(x + h, -h);
    if (x == INFINITY || h == INFINITY) return h == 0 ? 0 : INFINITY;
    if (x >= 10 || (x >= 1 && h > 0.5)) return h * log(x) + cri_log_gamma_ratio_rest(x, h);
    if (h > 0.5) return cr_lgamma_abs(x + h) - cri_log_gamma1p(x) + log(x);
    if (x < 1) return integrate_digamma(x + 1, h) - log1p(h / x);
    return integrate_digamma(x, h);
}
