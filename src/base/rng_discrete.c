/* rng_discrete.c -- categories, binomial and multinomial counts. */
#include "rng.h"

#include <math.h>
#include <string.h>

/* --- categories ------------------------------------------------------------------------------ */

/* The sum of the weights times *out_scale, a power of two that keeps it clear of both overflow and
 * the coarse steps of subnormal numbers. */
static double total_weight(const double *weight, size_t n, double *out_scale)
{
    double total = 0, scale = 1;
    for (size_t i = 0; i < n; i++) total += weight[i];
    if (total > 0x1p1000) scale = 0x1p-70;
    if (total < 0x1p-900) scale = 0x1p200;
    *out_scale = scale;
    if (scale == 1) return total;
    total = 0;
    for (size_t i = 0; i < n; i++) total += weight[i] * scale;
    return total;
}

size_t cr_rng_categorical(cr_rng *r, const double *weight, size_t n)
{
    double scale, total = total_weight(weight, n, &scale);
    double at = total * cr_rng_uniform(r), sum = 0;
    size_t last = 0; /* of positive weight: for the case that rounding leads past the end */
    for (size_t i = 0; i < n; i++) {
        sum += weight[i] * scale;
        if (weight[i] > 0) last = i;
        if (at < sum) break;
    }
    return last;
}

/* --- binomial -------------------------------------------------------------------------------- */

/* The distribution function walked from 0; n p < 10. */
static uint64_t invert_binomial(cr_rng *r, uint64_t n, double p)
{
    enum { FAR = 120 }; /* beyond it there is less than 1e-80 */
    double odds = p / (1 - p), first = exp((double)n * log1p(-p));
    for (;;) {
        double u = cr_rng_uniform(r), mass = first;
        for (uint64_t k = 0; k <= n && k <= FAR; k++) {
            if (u < mass) return k;
            u -= mass;
            mass *= odds * ((double)(n - k) / (double)(k + 1));
        }
    }
}

static double log_factorial(double k)
{
    int sign;
    return lgamma_r(k + 1, &sign);
}

/* Transformed rejection with squeeze, algorithm BTRS; n p >= 10, p <= 1/2, and n small enough for
 * the difference of log factorials to be sharp.  Hormann (1993), "The generation of binomial
 * random variates", J. Stat. Comput. Simul. 46. */
static uint64_t reject_binomial(cr_rng *r, uint64_t trials, double p)
{
    double n = (double)trials, sd = sqrt(n * p * (1 - p));
    double b = 1.15 + 2.53 * sd, a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
    double sure = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * sd;
    double mode = floor((n + 1) * p), log_odds = log(p / (1 - p));
    double at_mode = log_factorial(mode) + log_factorial(n - mode);
    for (;;) {
        double u = cr_rng_uniform(r) - 0.5, v = cr_rng_uniform(r), edge = 0.5 - fabs(u);
        double k = floor((2 * a / edge + b) * u + c);
        if (k < 0 || k > n) continue;
        if (edge >= 0.07 && v <= sure) return (uint64_t)k;
        double log_ratio = at_mode - log_factorial(k) - log_factorial(n - k);
        log_ratio += (k - mode) * log_odds;
        if (log(v * alpha / (a / (edge * edge) + b)) <= log_ratio) return (uint64_t)k;
    }
}

static uint64_t draw_binomial(cr_rng *r, uint64_t n, double p)
{
    return (double)n * p < 10 ? invert_binomial(r, n, p) : reject_binomial(r, n, p);
}

/* Of n uniform numbers the i-th smallest is Beta(i, n + 1 - i); when it lies below p, so do i of
 * them, and the rest of the question is about one half of the numbers.  Devroye (1986),
 * "Non-uniform random variate generation", sec. X.4.4. */
uint64_t cr_rng_binomial(cr_rng *r, uint64_t trials, double p)
{
    enum { SHARP = 1 << 20 };
    uint64_t n = trials, sure = 0;
    while (n > SHARP && p > 0 && p < 1 && (double)n * fmin(p, 1 - p) >= 10) {
        uint64_t i = n / 2 + 1;
        double   middle = cr_rng_beta(r, (double)i, (double)(n - i) + 1);
        if (middle <= p)
            sure += i, n -= i, p = (p - middle) / (1 - middle);
        else
            n = i - 1, p = p / middle;
    }
    if (!(p > 0)) return sure;
    if (p >= 1) return sure + n;
    return sure + (p <= 0.5 ? draw_binomial(r, n, p) : n - draw_binomial(r, n, 1 - p));
}

/* Conditional binomials: of what is left, the share of i against the weights after it.  Until its
 * turn comes, out_counts[i] holds the bits of the sum of the weights i, i+1, ..., n-1; summed from
 * the end, it is as sharp for small weights as for large.  The smaller of two shares is drawn. */
void cr_rng_multinomial(cr_rng *r, uint64_t trials, const double *weight, size_t n,
                        uint64_t *out_counts)
{
    double scale, after = 0;
    total_weight(weight, n, &scale);
    for (size_t i = n; i-- > 0;) {
        after += weight[i] * scale;
        memcpy(&out_counts[i], &after, sizeof after);
    }
    for (size_t i = 0; i < n; i++) {
        double w = weight[i] * scale;
        after = 0;
        if (i + 1 < n) memcpy(&after, &out_counts[i + 1], sizeof after);
        if (w <= after)
            out_counts[i] = w > 0 ? cr_rng_binomial(r, trials, w / (w + after)) : 0;
        else
            out_counts[i] = trials - cr_rng_binomial(r, trials, after / (w + after));
        trials -= out_counts[i];
    }
}
