/* saddle.c -- Stirling's error, deviances, and the masses made of them. */
#include "saddle.h"
#include "math/quadrature.h"

#include <math.h>

double cri_xlogy(double x, double y) { return x == 0 ? 0 : x * log(y); }
double cri_xlog1py(double x, double y) { return x == 0 ? 0 : x * log1p(y); }

double cri_softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

double cri_poisson_mass(double x, double m)
{
    if (x == 0) return -m;
    if (m == 0 || m == INFINITY) return -INFINITY;
    if (x < 1) return x * log(m) - m - (x < 0.5 ? cri_log_gamma1p(x) : cr_lgamma_abs(x + 1));
    return -cr_stirlerr(x) - cr_bd0(x, m) - 0.5 * log(x) - CRI_HALF_LOG_2PI;
}

double cri_binomial_mass(double x, double y, double p, double q)
{
    double log_q = p < 0.5 ? log1p(-p) : log(q), log_p = q < 0.5 ? log1p(-q) : log(p), n = x + y;
    if (p == 0 || q == 0) return (p == 0 ? x : y) == 0 ? 0 : -INFINITY;
    if (x == 0) return y == 0 ? 0 : y * log_q;
    if (y == 0) return x * log_p;
    double error = cr_stirlerr(n) - cr_stirlerr(x) - cr_stirlerr(y);
    double away = cr_bd0(x, n * p) + cr_bd0(y, n * q);
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
    return cr_lgamma_abs(x + h) - cr_lgamma_abs(x) - h * cr_digamma(x);
}
