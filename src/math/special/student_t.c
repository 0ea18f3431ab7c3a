/* student_t.c -- Student's t distribution through the incomplete beta function:
 * P(|T| >= |t|) = I_x(nu / 2, 1 / 2), x = nu / (nu + t^2). */
#include "special_internal.h"

#include <math.h>

/* log(1 + t^2 / nu) for any t. */
static double log_spread(double t, double nu)
{
    double r = fabs(t) / sqrt(nu);
    return r < 1e8 ? log1p(t * (t / nu)) : 2 * (log(fabs(t)) - 0.5 * log(nu));
}

/* log of Gamma(a + 1/2) / (Gamma(a) sqrt(a)), which goes to 0. */
static double log_half_ratio(double a)
{
    if (a < 1) return cr_lgamma_abs(a + 0.5) - cri_log_gamma1p(a) + 0.5 * log(a);
    return cri_log_gamma_ratio_rest(a, 0.5);
}

double cr_student_t_logpdf(double x, double nu)
{
    if (!(nu > 0) || isnan(x)) return NAN;
    if (nu == INFINITY) return cr_norm_logpdf(x);
    if (isinf(x)) return -INFINITY;
    return log_half_ratio(0.5 * nu) - CRI_HALF_LOG_2PI - (0.5 * nu + 0.5) * log_spread(x, nu);
}

/* P(|T| >= |t|) as the lower tail, P(|T| < |t|) as the upper. */
static cri_tails outer_tails(double t, double nu)
{
    double r = fabs(t) / sqrt(nu), a = cri_half(nu);
    if (r > 1e9) { /* x^a / (a B(a, 1/2)), x so small that the next term is lost */
        cri_dd log_t = cri_dd_log(cri_dd_from(fabs(t)));
        log_t = cri_dd_sub(cri_dd_log(cri_dd_from(nu)), (cri_dd){ 2 * log_t.hi, 2 * log_t.lo });
        log_t = cri_dd_mul_double(log_t, a);
        double front = a <= 1 ? cri_log_a_beta(a, 0.5) : cr_lbeta(a, 0.5) + log(a);
        return cri_tails_from_product(cri_dd_add_double(log_t, -front), 0);
    }
    if (fabs(t) < 1e-140 || nu > 1e290) {
        double odds = t * (t / nu);
        return cri_beta_tails(a, 0.5, cri_dd_from(1 / (1 + odds)), cri_dd_from(odds / (1 + odds)));
    }
    cri_dd square = cri_two_prod(t, t), all = cri_dd_add_double(square, nu);
    return cri_beta_tails(a, 0.5, cri_dd_div(cri_dd_from(nu), all), cri_dd_div(square, all));
}

static bool outside(double x, double nu) { return !(nu > 0) || isnan(x); }

double cr_student_t_two_sided(double t, double nu)
{
    if (outside(t, nu)) return NAN;
    if (nu == INFINITY) return 2 * cr_norm_cdf(-fabs(t));
    return isinf(t) ? 0 : outer_tails(t, nu).lower;
}

double cr_student_t_cdf(double x, double nu)
{
    if (outside(x, nu)) return NAN;
    if (nu == INFINITY) return cr_norm_cdf(x);
    double tail = 0.5 * cr_student_t_two_sided(x, nu);
    return x <= 0 ? tail : 1 - tail;
}

double cr_student_t_logcdf(double x, double nu)
{
    if (outside(x, nu)) return NAN;
    if (nu == INFINITY) return cr_norm_logcdf(x);
    if (isinf(x)) return x > 0 ? 0 : -INFINITY;
    if (x > 0) return log1p(-0.5 * outer_tails(x, nu).lower);
    return outer_tails(x, nu).log_lower - M_LN2;
}

/* --- quantile -------------------------------------------------------------------------------- */

/* t > 0 with P(T > t) = p, p <= 1/2.  Near the middle P(0 < T < t) = 1/2 - p is matched instead of
 * the tail.  The logarithm of either is concave in log t. */
static double upper_point(double p, double nu)
{
    bool   central = p > 0.25;
    double target = central ? 1 - 2 * p : 2 * p, log_target = log(target);
    double t = -cr_norm_ppf(p);
    for (int step = 0; step < 200; step++) {
        cri_tails tails = outer_tails(t, nu);
        double    at = central ? tails.upper : tails.lower;
        double    log_at = central ? tails.log_upper : tails.log_lower;
        double    slope = 2 * t * exp(cr_student_t_logpdf(t, nu) - log_at);
        double    move =
            cri_log_shortfall(target, log_target, at, log_at) / (central ? slope : -slope);
        t *= exp(fmax(-50, fmin(50, move)));
        if (fabs(move) < 1e-9 || isinf(t)) break; /* the next would be its square */
    }
    return t;
}

double cr_student_t_ppf(double p, double nu)
{
    if (!(nu > 0 && p >= 0 && p <= 1)) return NAN;
    if (p == 0.5) return 0;
    if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
    if (nu == INFINITY) return cr_norm_ppf(p);
    if (nu == 1)
        return p < 0.25   ? -1 / tan(M_PI * p)
               : p > 0.75 ? 1 / tan(M_PI * (1 - p))
                          : tan(M_PI * (p - 0.5));
    if (nu == 2) return (2 * p - 1) / sqrt(2 * p * (1 - p));
    return p < 0.5 ? -upper_point(p, nu) : upper_point(1 - p, nu);
}
