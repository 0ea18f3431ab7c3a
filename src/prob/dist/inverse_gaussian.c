/* inverse_gaussian.c -- the time at which a drifting Brownian motion first reaches a level. */
#include "fit.h"
#include "saddle.h"

#include <math.h>

static const double EULER = 0.57721566490153286061;

static double ig_logpdf(cri_par p, double x)
{
    if (x == 0) return -INFINITY;
    double m = p.v[0], l = p.v[1], d = (x - m) / m;
    return 0.5 * log(l) - CRI_HALF_LOG_2PI - 1.5 * log(x) - 0.5 * l * d * (d / x);
}

/* P(X <= x) = Phi(z) + exp(2 l / m) Phi(-w), z = sqrt(l / x) (x / m - 1), w = the same with plus;
 * the upper tail is Phi(-z) - exp(2 l / m) Phi(-w). */
static double ig_cdf(cri_par p, double x, unsigned side)
{
    if (x == 0) return cri_face(0, 1, side);
    double m = p.v[0], l = p.v[1], root = sqrt(l / x);
    double z = root * (x - m) / m, w = root * (x + m) / m, second = 2 * l / m + cr_norm_logcdf(-w);
    bool   upper = side & CRI_UPPER;
    double first = cr_norm_logcdf(upper ? -z : z), off = second - first;
    double log_p =
        upper ? first + log1p(-exp(off)) : fmin(0, fmax(first, second) + log1p(exp(-fabs(off))));
    return side & CRI_LOG ? log_p : exp(log_p);
}

/* m (sqrt(1 + r^2) - r), r = 3 m / (2 l). */
static double ig_mode(cri_par p)
{
    double r = 1.5 * p.v[0] / p.v[1];
    return p.v[0] / (sqrt(1 + r * r) + r);
}

static double ig_variance(cri_par p) { return p.v[0] * p.v[0] * (p.v[0] / p.v[1]); }

/* e^z E1(z), z >= 1: the continued fraction 1 / (z + 1 - 1 / (z + 3 - 4 / (z + 5 - ...))), A&S
 * 5.1.22, by Lentz's method. */
static double scaled_e1(double z)
{
    double b = z + 1, d = 1 / b, c = INFINITY, value = d;
    for (int i = 1; i < 1000; i++) {
        double a = -(double)i * i;
        b += 2;
        d = 1 / (a * d + b);
        c = b + a / c;
        value *= c * d;
        if (fabs(c * d - 1) < 1e-16) break;
    }
    return value;
}

/* E log x = log m - e^z E1(z), z = 2 l / m; for small z by the series of E1, in which log m goes.
 */
static double mean_log(double m, double l)
{
    double z = 2 * (l / m), term = 1, sum = 0;
    if (z >= 1) return log(m) - scaled_e1(z);
    for (int k = 1; k < 40; k++) {
        term *= -z / k;
        sum += term / k;
    }
    return -expm1(z) * log(m) + exp(z) * (EULER + M_LN2 + log(l) + sum);
}

static double ig_entropy(cri_par p)
{
    return 0.5 + CRI_HALF_LOG_2PI - 0.5 * log(p.v[1]) + 1.5 * mean_log(p.v[0], p.v[1]);
}

/* Michael, Schucany & Haas (1976), The American Statistician 30(2); the smaller root without
 * cancellation. */
static double ig_sample(cri_par p, cr_rng *r)
{
    double m = p.v[0], l = p.v[1], z = cr_rng_normal(r), y = m * z * z / (2 * l);
    double x = m / (1 + y + sqrt(y * (y + 2)));
    return cr_rng_uniform(r) * (m + x) <= m ? x : m * (m / x);
}

/* 1/l = mean(1/x) - 1/mean = mean of (x - m)^2 / (x m^2). */
static cr_status ig_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status st = cri_need_spread(cx, s, "inverse-gaussian", "shape");
    if (st != CR_OK || n != 2) return st;
    double m = cri_sample_mean(s, NULL), sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double d = (s->x[i] - m) / m;
        sum += cri_weight(s, i) / s->total * d * (d / s->x[i]);
    }
    v[0] = m, v[1] = 1 / sum;
    return CR_OK;
}

static double ig_kl(cri_par p, cri_par q)
{
    double t = (q.v[1] - p.v[1]) / p.v[1], d = (p.v[0] - q.v[0]) / q.v[0];
    return -0.5 * cri_log1pmx(t) + 0.5 * q.v[1] / p.v[0] * d * d;
}

static const char *const statistics[] = { "x", "1 / x" };

static void natural(cri_par p, double *eta)
{
    eta[0] = -0.5 * p.v[1] / p.v[0] / p.v[0], eta[1] = -0.5 * p.v[1];
}

static double log_partition(cri_par p, const double *eta)
{
    (void)p;
    return -2 * sqrt(eta[0] * eta[1]) - 0.5 * log(-2 * eta[1]);
}

static void statistic(cri_par p, double x, double *t)
{
    (void)p;
    t[0] = x, t[1] = 1 / x;
}

static void mean_statistic(cri_par p, double *t) { t[0] = p.v[0], t[1] = 1 / p.v[0] + 1 / p.v[1]; }

static const cri_family family = { statistics,    2,         NULL,          natural,
                                   log_partition, statistic, mean_statistic };

static const cri_dist_param params[] = {
    CRI_PARAM("mean", cri_positive, ">0", "1", "mean m"),
    CRI_PARAM("shape", cri_positive, ">0", "3", "shape l: the variance is m^3 / l"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_inverse_gaussian = {
    .name = "inverse-gaussian",
    .summary = "when a drifting random walk first reaches a level",
    .formula = "p(x) = sqrt(l / (2 pi x^3)) exp(-l (x - m)^2 / (2 m^2 x))",
    .reference =
        "Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 15",
    .params = params,
    CRI_ON_POSITIVES("x > 0", cri_positive),
    .logpdf = ig_logpdf,
    .cdf = ig_cdf,
    .mean = cri_first,
    .mode = ig_mode,
    .variance = ig_variance,
    .entropy = ig_entropy,
    .sample = ig_sample,
    .fit = ig_fit,
    .kl = ig_kl,
    .family = &family,
};
