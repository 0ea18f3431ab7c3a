/* saddle.c -- Stirling's error, deviances, and the masses made of them. */
#include "saddle.h"
#include "../../math/quadrature.h"

#include <math.h>

double cri_xlogy(double x, double y) { return x == 0 ? 0 : x * log(y); }
double cri_xlog1py(double x, double y) { return x == 0 ? 0 : x * log1p(y); }

double cri_softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

/* From x to x + 1 the error falls by (x + 1/2) log(1 + 1/x) - 1 = r^2/3 + r^4/5 + ..., where
 * r = 1 / (2 x + 1); all terms are positive, so that going up from a small x loses nothing. */
double cri_stirling_error(double x)
{
    if (x < 0.5) return cri_log_gamma1p(x) - (x + 0.5) * log(x) + x - CRI_HALF_LOG_2PI;
    double down = 0;
    for (; x < 10; x++) {
        double r = 1 / (2 * x + 1), square = r * r, sum = 0;
        int    last = x < 1 ? 53 : x < 3 ? 33 : 19;
        for (int k = last; k >= 3; k -= 2) sum = sum * square + 1.0 / k;
        down += sum * square;
    }
    return cri_stirling_remainder(x) + down;
}

double cri_deviance(double x, double m)
{
    if (x == 0 || m == INFINITY) return m;
    double u = (m - x) / x;
    if (fabs(u) < 0.4) return -x * cri_log1pmx(u);
    double ratio = x / m, log_ratio = ratio > 0 && ratio < INFINITY ? log(ratio) : log(x) - log(m);
    return x * log_ratio + m - x;
}

double cri_poisson_mass(double x, double m)
{
    if (x == 0) return -m;
    if (m == 0 || m == INFINITY) return -INFINITY;
    if (x < 1) return x * log(m) - m - (x < 0.5 ? cri_log_gamma1p(x) : cr_log_gamma(x + 1));
    return -cri_stirling_error(x) - cri_deviance(x, m) - 0.5 * log(x) - CRI_HALF_LOG_2PI;
}

double cri_binomial_mass(double x, double y, double p, double q)
{
    double log_q = p < 0.5 ? log1p(-p) : log(q), log_p = q < 0.5 ? log1p(-q) : log(p), n = x + y;
    if (p == 0 || q == 0) return (p == 0 ? x : y) == 0 ? 0 : -INFINITY;
    if (x == 0) return y == 0 ? 0 : y * log_q;
    if (y == 0) return x * log_p;
    double error = cri_stirling_error(n) - cri_stirling_error(x) - cri_stirling_error(y);
    double away = cri_deviance(x, n * p) + cri_deviance(y, n * q);
    double middle = x < y ? x / (1 + x / y) : y / (1 + y / x); /* x y / n */
    return error - away - CRI_HALF_LOG_2PI - 0.5 * log(middle);
}

double cri_log_minus_digamma(double x)
{
    static const double c[] = { 1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160 };
    if (x < 10) return log(x) - cr_digamma(x);
    double r = 1 / (x * x), sum = 0; /* A&S 6.3.18 */
    for (int k = 7; k >= 0; k--) sum = (sum + c[k]) * r;
    return 0.5 / x + sum;
}

typedef struct span {
    double x, h;
} span;

static double weighted_trigamma(double u, void *user)
{
    const span *s = user;
    return (1 - u) * cr_trigamma(s->x + s->h * u);
}

/* h^2 times the integral of (1 - u) psi'(x + h u) over u in (0, 1): nothing cancels. */
double cri_log_gamma_divergence(double x, double h)
{
    if (h == 0) return 0;
    if (h <= x && h >= -0.5 * x) {
        span s = { x, h };
        return h * h * cr_gauss20(weighted_trigamma, &s, 0, 1);
    }
    return cr_log_gamma(x + h) - cr_log_gamma(x) - h * cr_digamma(x);
}
