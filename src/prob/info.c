/* info.c -- entropies and divergences of probabilities, and entropies estimated from counts. */
#include "info.h"
#include "math/special/special.h"

#include <math.h>

double cr_info_entropy(const double *p, size_t n)
{
    double h = 0;
    for (size_t i = 0; i < n; i++) h -= cr_xlogy(p[i], p[i]);
    return h;
}

double cr_info_cross_entropy(const double *p, const double *q, size_t n)
{
    double h = 0;
    for (size_t i = 0; i < n; i++) h -= cr_xlogy(p[i], q[i]);
    return h;
}

double cr_info_kl(const double *p, const double *q, size_t n)
{
    double kl = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] > 0 && !(q[i] > 0)) return INFINITY;
        kl += cr_bd0(p[i], q[i]); /* p log(p/q) + q - p: no term is negative, and q - p cancel */
    }
    return kl;
}

double cr_info_js(const double *p, const double *q, size_t n)
{
    double js = 0;
    for (size_t i = 0; i < n; i++) {
        double m = 0.5 * (p[i] + q[i]);
        js += 0.5 * (cr_bd0(p[i], m) + cr_bd0(q[i], m));
    }
    return js;
}

/* --- counts ---------------------------------------------------------------------------------- */

typedef struct census {
    double N, K, once; /* draws, values seen, values seen once */
} census;

static census take_census(const uint64_t *count, size_t n)
{
    census c = { 0, 0, 0 };
    for (size_t i = 0; i < n; i++) {
        c.N += (double)count[i];
        c.K += count[i] > 0;
        c.once += count[i] == 1;
    }
    return c;
}

static double plugin(const uint64_t *count, size_t n, census c)
{
    double h = 0;
    for (size_t i = 0; i < n; i++) h -= cr_xlogy((double)count[i], (double)count[i] / c.N);
    return h / c.N;
}

/* When every value was seen once the coverage would be 0; one of them is then not counted. */
static double chao_shen(const uint64_t *count, size_t n, census c)
{
    double once = c.once < c.N ? c.once : c.N - 1, coverage = 1 - once / c.N, h = 0;
    if (c.N == 1) return 0;
    for (size_t i = 0; i < n; i++) {
        double p = coverage * (double)count[i] / c.N;
        if (count[i] > 0) h -= cr_xlogy(p, p) / -expm1(c.N * log1p(-p));
    }
    return h;
}

/* G(n) of the header in closed form: G(2m) = G(2m + 1) = psi(m + 1/2) + log 2. */
static double grassberger(const uint64_t *count, size_t n, census c)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t m = count[i] / 2;
        if (count[i] > 0) sum += (double)count[i] * (cr_digamma((double)m + 0.5) + M_LN2);
    }
    return log(c.N) - sum / c.N;
}

/* The integral J(n) of the header: J(1) = log(1 + a) = 1/2, J(n + 1) = a^n / n - J(n); beyond 90 it
 * is below 1e-18. */
static double schuermann(const uint64_t *count, size_t n, census c)
{
    enum { FEW = 90 };
    double J[FEW + 1] = { 0, 0.5 }, a = expm1(0.5), power = a, sum = 0;
    for (size_t i = 1; i < FEW; i++, power *= a) J[i + 1] = power / (double)i - J[i];
    for (size_t i = 0; i < n; i++) {
        double x = (double)count[i], sign = count[i] % 2 ? -1 : 1;
        if (count[i] > 0) sum += x * (cr_digamma(x) + (count[i] <= FEW ? sign * J[count[i]] : 0));
    }
    return cr_digamma(c.N) - sum / c.N;
}

double cr_info_entropy_counts(const uint64_t *count, size_t n, cr_info_estimator estimator)
{
    census c = take_census(count, n);
    if (c.N == 0) return NAN;
    if (c.K == 1) return 0; /* one value, so far as anyone can see */
    switch (estimator) {
    case CR_INFO_PLUGIN:
        return plugin(count, n, c);
    case CR_INFO_MILLER_MADOW:
        return plugin(count, n, c) + (c.K - 1) / (2 * c.N);
    case CR_INFO_CHAO_SHEN:
        return chao_shen(count, n, c);
    case CR_INFO_GRASSBERGER:
        return grassberger(count, n, c);
    case CR_INFO_SCHUERMANN:
        return schuermann(count, n, c);
    }
    return NAN;
}
