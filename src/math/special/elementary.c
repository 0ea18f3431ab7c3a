/* elementary.c -- logarithms and exponentials put together so that nothing cancels or overflows.
 * Maechler (2012), "Accurately computing log(1 - exp(-|a|))", vignette of the R package Rmpfr;
 * Blanchard, Higham & Higham (2021), "Accurately computing the log-sum-exp and softmax functions",
 * IMA J. Numer. Anal. 41. */
#include "special_internal.h"

#include <math.h>

double cr_xlogy(double x, double y)
{
    if (x == 0 && !isnan(y)) return 0;
    return x * log(y);
}

/* Near 1/2 the odds are near 1; 2 p - 1 is exact there. */
double cr_logit(double p)
{
    if (!(p >= 0 && p <= 1)) return NAN;
    if (p < 0.25) return log(p) - log1p(-p);
    return p < 0.75 ? log1p((2 * p - 1) / (1 - p)) : log(p / (1 - p));
}

double cr_sigmoid(double x)
{
    if (x >= 0) return 1 / (1 + exp(-x));
    double e = exp(x);
    return e / (1 + e);
}

double cr_log_sigmoid(double x) { return -cr_log1pexp(-x); }

double cr_log1pexp(double x)
{
    if (x > 40) return x;
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

double cr_log1mexp(double x)
{
    if (x > 0) return NAN;
    return x > -M_LN2 ? log(-expm1(x)) : log1p(-exp(x));
}

double cr_expm1_over_x(double x) { return x == 0 ? 1 : x == INFINITY ? x : expm1(x) / x; }

double cr_entropy_binary_nats(double p)
{
    if (!(p >= 0 && p <= 1)) return NAN;
    if (p == 0 || p == 1) return 0;
    return -p * log(p) - (1 - p) * log1p(-p);
}

/* --- vectors --------------------------------------------------------------------------------- */

/* The place of the greatest, of NaN if there is one; n > 0. */
static size_t find_greatest(const double *x, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n && !isnan(x[at]); i++)
        if (!(x[i] <= x[at])) at = i;
    return at;
}

/* log(1 + rest) + top, where the greatest itself is the 1. */
double cr_logsumexp(const double *x, size_t n)
{
    if (n == 0) return -INFINITY;
    size_t at = find_greatest(x, n);
    double top = x[at];
    cri_dd rest = cri_dd_from(0);
    if (isinf(top) || isnan(top)) return top;
    for (size_t i = 0; i < n; i++)
        if (i != at) rest = cri_dd_add_double(rest, exp(x[i] - top));
    return top + log1p(cri_dd_to_double(rest));
}

void cr_softmax(const double *x, size_t n, double *out)
{
    if (n == 0) return;
    double top = x[find_greatest(x, n)];
    cri_dd sum = cri_dd_from(0);
    for (size_t i = 0; i < n; i++) {
        out[i] = x[i] == top ? 1 : exp(x[i] - top);
        sum = cri_dd_add_double(sum, out[i]);
    }
    for (size_t i = 0; i < n; i++) out[i] /= sum.hi;
}

/* The greatest apart: its own is -log(1 + rest), which may be tiny. */
void cr_log_softmax(const double *x, size_t n, double *out)
{
    if (n == 0) return;
    size_t at = find_greatest(x, n);
    double top = x[at];
    cri_dd rest = cri_dd_from(0);
    for (size_t i = 0; i < n; i++)
        if (i != at) rest = cri_dd_add_double(rest, x[i] == top ? 1 : exp(x[i] - top));
    double log_sum = log1p(cri_dd_to_double(rest));
    for (size_t i = 0; i < n; i++) out[i] = x[i] == top ? -log_sum : (x[i] - top) - log_sum;
}
