/* bivariate.c -- Owen's T function and the bivariate normal distribution.
 * Both are integrals of positive, log-concave functions, cut where nothing is left and done by
 * Gauss's formula: so they are sharp relative to themselves, also far in the tails.
 * Owen (1956), Ann. Math. Statist. 27; Patefield & Tandy (2000), J. Stat. Software 5(5);
 * Genz (2004), Stat. Comput. 14. */
#include "special_internal.h"
#include "math/quadrature.h"

#include <math.h>

/* --- Owen's T -------------------------------------------------------------------------------- */

static double owen_density(double x, void *h)
{
    double hx = *(const double *)h * x;
    return exp(-0.5 * hx * hx) / (1 + x * x);
}

/* 0 <= a <= 1: exp(-h^2 / 2) / (2 pi) times the integral of exp(-h^2 x^2 / 2) / (1 + x^2). */
static double owen_direct(double h, double a)
{
    double end = fmin(a, 8.7 / h), middle = fmin(end, fmax(0.4 * end, 3 / h)), sum;
    if (h > 40) return 0;
    sum = cr_gauss20(owen_density, &h, 0, middle);
    if (middle < end) sum += cr_gauss20(owen_density, &h, middle, end);
    double square = h * h, lost = fma(h, h, -square);
    return exp(-0.5 * square) * (1 - 0.5 * lost) * sum / (2 * M_PI);
}

/* Above a = 1 by T(h, a) + T(a h, 1 / a) = (Q(h) + Q(a h)) / 2 - Q(h) Q(a h), Q the upper tail. */
double cr_owens_t(double h, double a)
{
    if (isnan(h) || isnan(a)) return NAN;
    double s = fabs(a), x = fabs(h), value;
    if (s == 0) return a;
    if (x == 0)
        value = atan(s) / (2 * M_PI);
    else if (s == INFINITY)
        value = 0.5 * cr_norm_cdf(-x);
    else if (s <= 1)
        value = owen_direct(x, s);
    else {
        double near = cr_norm_cdf(-x), far = cr_norm_cdf(-s * x);
        value = 0.5 * near + (0.5 * far - near * far - owen_direct(s * x, 1 / s));
    }
    return copysign(value, a);
}

/* --- bivariate normal ------------------------------------------------------------------------ */

/* P(X <= h, Y <= k) = int_{-inf}^h phi(x) Phi((k - rho x) / s) dx, s = sqrt(1 - rho^2). */
typedef struct bivariate {
    double h, k, rho, s, top; /* top: the greatest logarithm of the integrand */
} bivariate;

static double log_slice(const bivariate *b, double x)
{
    return -0.5 * x * x + cr_norm_logcdf((b->k - b->rho * x) / b->s);
}

static double slice(double x, void *arg)
{
    const bivariate *b = arg;
    return exp(log_slice(b, x) - b->top);
}

/* The derivative of log_slice, which falls all the way. */
static double slice_slope(const bivariate *b, double x)
{
    return -x - b->rho / b->s * cr_inv_mills((b->k - b->rho * x) / b->s);
}

/* Where log_slice is greatest up to h, by bisection; it need not be found sharply. */
static double find_mode(const bivariate *b)
{
    double high = b->h, low = fmin(high, 0) - 1;
    if (slice_slope(b, high) >= 0) return high;
    while (slice_slope(b, low) < 0) low = 2 * low - fabs(b->h) - 1;
    for (int i = 0; i < 60 && high - low > 0.05 * b->s; i++) {
        double middle = 0.5 * (low + high);
        *(slice_slope(b, middle) >= 0 ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

/* Where between the mode and `end`, which may be infinite, log_slice has lost `drop`; to a tenth of
 * the distance. */
static double find_drop(const bivariate *b, double mode, double end, double drop)
{
    double far = copysign(b->s, end - mode), near = 0;
    if (log_slice(b, end) >= b->top - drop) return end;
    while (log_slice(b, mode + far) > b->top - drop) far *= 2;
    for (int i = 0; i < 60 && fabs(far - near) > 0.1 * fabs(far); i++) {
        double middle = 0.5 * (near + far);
        *(log_slice(b, mode + middle) > b->top - drop ? &near : &far) = middle;
    }
    return mode + far;
}

/* Cuts at `at` if that is inside and new, the cuts in rising order. */
static int add_cut(double *cuts, int n, double at)
{
    int i = n;
    if (!(at > cuts[0] && at < cuts[n - 1])) return n;
    for (; cuts[i - 1] >= at; i--) cuts[i] = cuts[i - 1];
    cuts[i] = at;
    return n + 1;
}

/* log P(X <= h, Y <= k) for |rho| < 1.  The range ends where the integrand has lost a factor of
 * exp(-40); it is cut where it has lost 1, 6 and 18, and where the step of Phi begins and ends. */
static double log_quadrant(double h, double k, double rho)
{
    static const double drops[] = { 1, 6, 18 }, steps[] = { -7, -3, 0, 3, 7 };
    bivariate           b = { h, k, rho, sqrt((1 - rho) * (1 + rho)), 0 };
    double              mode = find_mode(&b), cuts[16], sum = 0, width = b.s / fabs(rho);
    int                 n = 2;
    b.top = log_slice(&b, mode);
    cuts[0] = find_drop(&b, mode, -INFINITY, 40);
    cuts[1] = h > mode ? fmin(h, find_drop(&b, mode, h, 40)) : h;
    n = add_cut(cuts, n, mode);
    for (int i = 0; i < 3; i++) {
        n = add_cut(cuts, n, find_drop(&b, mode, -INFINITY, drops[i]));
        if (h > mode) n = add_cut(cuts, n, find_drop(&b, mode, h, drops[i]));
    }
    for (int i = 0; i < 5 && width < 1; i++) n = add_cut(cuts, n, k / rho + steps[i] * width);
    for (int i = 1; i < n; i++) sum += cr_gauss20(slice, &b, cuts[i - 1], cuts[i]);
    return b.top + log(sum) - CRI_HALF_LOG_2PI;
}

/* Above one half from the complement: 1 - P = Q(h) + Q(k) - P(X > h, Y > k). */
double cr_log_bvn_cdf_h_k_rho(double h, double k, double rho)
{
    if (!(rho >= -1 && rho <= 1) || isnan(h) || isnan(k)) return NAN;
    double low = fmin(h, k), high = fmax(h, k);
    if (low < -1e150) return -INFINITY;
    if (high > fabs(low) + 40 || rho == 1) /* the higher holds whenever the lower does */
        return cr_norm_logcdf(low);
    if (rho == 0) return cr_norm_logcdf(h) + cr_norm_logcdf(k);
    double upper = cr_norm_cdf(-h) + cr_norm_cdf(-k);
    if (upper == 0) return 0;
    if (rho == -1) {
        if (h + k <= 0) return -INFINITY;
        return upper < 0.5 ? log1p(-upper)
                           : log(low > 0 ? 0.5 * (erf(h * M_SQRT1_2) + erf(k * M_SQRT1_2))
                                         : cr_norm_cdf(high) - cr_norm_cdf(-low));
    }
    if (upper > 0.6 && low < 0.5) return log_quadrant(high, low, rho);
    return log1p(-(upper - exp(log_quadrant(-high, -low, rho))));
}
