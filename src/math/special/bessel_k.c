/* bessel_k.c -- the modified Bessel function K, in logarithms.
 *   x >= 30, x >= nu^2 / 2   Hankel's expansion            DLMF 10.40.2
 *   nu >= 25                 Olver's uniform expansion     DLMF 10.41.4
 *   else                     K at two orders mu and mu + 1, |mu| <= 1/2, by Temme's series (x <= 1)
 *                            or Steed's continued fraction; the recurrence upwards, all positive
 * Temme (1975), J. Comput. Phys. 19; Thompson & Barnett (1987), Comput. Phys. Commun. 47. */
#include "bessel_internal.h"
#include "coefficients.h"

#include <math.h>

/* log K_mu(x) and K_{mu + 1}(x) / K_mu(x). */
typedef struct pair {
    double log_first, ratio;
} pair;

static pair temme_series(double mu, double x)
{
    double g1 = cri_chebyshev_at(&cri_temme_1, mu * mu);
    double g2 = cri_chebyshev_at(&cri_temme_2, mu * mu);
    double log_b = M_LN2 - log(x), e = mu * log_b, angle = M_PI * mu, y = 0.25 * x * x, c = 1;
    double front = angle == 0 ? 1 : angle / sin(angle), shc = e == 0 ? 1 : sinh(e) / e;
    double f = front * (g1 * cosh(e) + g2 * shc * log_b);
    double p = 0.5 * exp(e) / (g2 - mu * g1), q = 0.5 * exp(-e) / (g2 + mu * g1);
    double sum = f, sum1 = p;
    for (double k = 1; k < 40; k++) {
        f = (k * f + p + q) / (k * k - mu * mu);
        c *= y / k;
        p /= k - mu;
        q /= k + mu;
        sum += c * f;
        sum1 += c * (p - k * f);
        if (c * f <= 1e-17 * sum) break;
    }
    return (pair){ log(sum), sum1 / sum * (2 / x) };
}

/* Temme's sum s for K_mu and the fraction h for the ratio, together. */
static pair steed_fraction(double mu, double x)
{
    double a1 = 0.25 - mu * mu, a = -a1, b = 2 * (1 + x), d = 1 / b, step = d, h = d;
    double q1 = 0, q2 = 1, q = a1, c = a1, s = 1 + q * step;
    for (double k = 2; k < 5000; k++) {
        a -= 2 * (k - 1);
        c = -a * c / k;
        double next = (q1 - b * q2) / a;
        q1 = q2;
        q2 = next;
        q += c * next;
        b += 2;
        d = 1 / (b + a * d);
        step *= b * d - 1;
        h += step;
        s += q * step;
        if (fabs(q * step) < 1e-17 * s && fabs(step) < 1e-17 * fabs(h)) break;
    }
    return (pair){ 0.5 * log(M_PI / (2 * x)) - x - log(s), (mu + x + 0.5 - a1 * h) / x };
}

/* K_{m + 1} / K_m = 2 m / x + K_{m - 1} / K_m; the product of 25 of them stays below 1e270. */
static double log_k_recurrence(double nu, double x)
{
    double n = floor(nu + 0.5), mu = nu - n, product = 1;
    pair   at = x <= 1 ? temme_series(mu, x) : steed_fraction(mu, x);
    for (double k = 1; k <= n; k++) {
        product *= at.ratio;
        at.ratio = 2 * (mu + k) / x + 1 / at.ratio;
    }
    return at.log_first + log(product);
}

double cr_log_bessel_k(double nu, double x)
{
    if (!(x >= 0) || isnan(nu) || isinf(nu)) return NAN;
    nu = fabs(nu);
    if (x == 0) return INFINITY;
    if (x == INFINITY) return -x;
    if (x >= 30 && 0.5 * nu * nu <= x)
        return -x + (log1p(cri_hankel_sum(nu, x)) + 0.5 * log(M_PI / 2 / x));
    if ((x < 1e-9 && nu >= 1) || (x < 1e-290 && nu >= 0.5)) /* the rest is lost; DLMF 10.30.2 */
        return cr_lgamma_abs(nu) - M_LN2 + nu * (M_LN2 - log(x));
    if (nu < 25) return log_k_recurrence(nu, x);
    double z = x / nu;
    if (nu > 1e290) return -nu * (sqrt(1 + z * z) + log(z / (1 + sqrt(1 + z * z))));
    cri_olver_parts o = cri_olver_at(nu, x, -1);
    return -o.exponent.hi +
           (0.5 * log(M_PI / 2 / nu) - o.exponent.lo - 0.5 * o.log_w + log1p(o.sum));
}
