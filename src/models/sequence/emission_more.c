/* emission_more.c -- emissions that take more than sums of their cells: Student's t and negative binomial counts, by
 * expectations over a hidden scale or rate of each cell, and gamma and von Mises, by one equation for their shape.
 *   student-t          x = mean + scale z / sqrt(u),  u ~ Gamma(nu / 2, nu / 2);   E[u | x], E[log u | x]
 *   negative-binomial  x ~ Poisson(l),  l ~ Gamma(size, size / mean);              E[l | x], E[log l | x]
 *   gamma              log a - psi(a) = log E x - E log x
 *   von-mises          I1(kappa) / I0(kappa) = |E exp(i x)|
 * McLachlan & Krishnan (2008), The EM Algorithm and Extensions; Mardia & Jupp (2000), Directional Statistics. */
#include "emission.h"
#include "math/constants.h"
#include "math/special/special.h"
#include "prob/dist/counts.h"
#include "prob/dist/von_mises.h"

#include <math.h>

static const double LEAST = 1e-10, LEAST_SHAPE = 1e-3, MOST_SHAPE = 1e7, MOST_KAPPA = 1e8;
static const double LEAST_NU = 0.1, MOST_NU = 1e6;

/* The a of log a - psi(a) = y, which falls from infinity to 0: Newton's method in log a. */
static double solve_shape(double y)
{
    if (!(y > 1 / (2 * MOST_SHAPE))) return MOST_SHAPE;
    double a = (3 - y + sqrt((y - 3) * (y - 3) + 24 * y)) / (12 * y);
    for (int i = 0; i < 50; i++) {
        double f = log(a) - cr_digamma(a) - y, slope = 1 - a * cr_trigamma(a);
        double step = fmin(fmax(f / slope, -1), 1);
        a *= exp(-step);
        if (fabs(step) < 1e-14) break;
    }
    return fmin(fmax(a, LEAST_SHAPE), MOST_SHAPE);
}

/* --- gamma ----------------------------------------------------------------------------------- */

static void score_gamma(const cri_emitted *e, const double *x, size_t n, double *out)
{
    double *rate = e->work, *base = e->work + e->stride;
    for (size_t c = 0; c < e->k; c++) {
        double a = e->spread[c];
        rate[c] = a / e->mean[c];
        base[c] = a * log(rate[c]) - cr_lgamma_abs(a);
    }
    for (size_t i = 0; i < n; i++) {
        double *o = out + i * e->stride, log_x = log(x[i]);
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < e->k; c++)
            o[c] += base[c] + (e->spread[c] - 1) * log_x - rate[c] * x[i];
    }
}

static void gather_gamma(const cri_emitted *e, const double *x, size_t n, const double *gamma,
                         double *sums)
{
    size_t k = e->k;
    for (size_t i = 0; i < n; i++) {
        const double *r = gamma + i * e->stride;
        double        log_x = log(x[i]);
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < k; c++) {
            sums[c] += r[c];
            sums[k + c] += r[c] * x[i];
            sums[2 * k + c] += r[c] * log_x;
        }
    }
}

static void solve_gamma(const cri_emitted *e, size_t c, double s, const double *sums)
{
    double n = sums[0] + s;
    if (!(n > 0)) return;
    double mean = (sums[e->k] + s * e->overall) / n;
    double logs = (sums[2 * e->k] + s * e->overall2) / n;
    e->mean[c] = fmax(mean, LEAST);
    e->spread[c] = solve_shape(log(e->mean[c]) - logs);
}

static double log_prior_gamma(const cri_emitted *e, size_t c)
{
    double a = e->spread[c], rate = a / e->mean[c];
    return a * log(rate) - cr_lgamma_abs(a) + (a - 1) * e->overall2 - rate * e->overall;
}

static double draw_gamma(const cri_emitted *e, size_t c, cr_rng *r)
{
    return exp(cr_rng_log_gamma(r, e->spread[c])) * e->mean[c] / e->spread[c];
}

static void begin_gamma(const cri_emitted *e, size_t c, double x)
{
    e->mean[c] = 0.7 * x + 0.3 * e->overall;
    e->spread[c] = 2 * (double)e->k;
}

const cri_emission cri_emit_gamma = {
    .name = "gamma",
    .parameter = { "mean", "shape", NULL },
    .support = CRI_POSITIVE,
    .scaled = true,
    .score = score_gamma,
    .shared = cri_emit_shares_nothing,
    .gather = gather_gamma,
    .solve = solve_gamma,
    .log_prior = log_prior_gamma,
    .draw = draw_gamma,
    .begin = begin_gamma,
};

/* --- negative binomial ----------------------------------------------------------------------- */

static void score_counts(const cri_emitted *e, const double *x, size_t n, double *out)
{
    double *log_hit = e->work, *base = e->work + e->stride;
    for (size_t c = 0; c < e->k; c++) {
        double mean = e->mean[c], size = e->spread[c];
        log_hit[c] = log(mean) - log(mean + size);
        base[c] = -size * log1p(mean / size);
    }
    for (size_t i = 0; i < n; i++) {
        double *o = out + i * e->stride;
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < e->k; c++)
            o[c] += base[c] + x[i] * log_hit[c] + cr_lgamma_diff(e->spread[c], x[i]);
    }
}

static double shared_counts(double x) { return -cr_lgamma_abs(x + 1); }

static void gather_counts(const cri_emitted *e, const double *x, size_t n, const double *gamma,
                          double *sums)
{
    size_t  k = e->k;
    double *log_rate = e->work;
    for (size_t c = 0; c < k; c++) log_rate[c] = log(e->spread[c] / e->mean[c] + 1);
    for (size_t i = 0; i < n; i++) {
        const double *r = gamma + i * e->stride;
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < k; c++) {
            double shape = e->spread[c] + x[i];
            if (!(r[c] > 1e-14)) continue;
            sums[c] += r[c];
            sums[k + c] += r[c] * x[i];
            sums[2 * k + c] += r[c] * shape / (e->spread[c] / e->mean[c] + 1);
            sums[3 * k + c] += r[c] * (cr_digamma(shape) - log_rate[c]);
        }
    }
}

/* Without a prior: one that leaves the equation for the size as it is would have to change with the size. */
static void solve_counts(const cri_emitted *e, size_t c, double s, const double *sums)
{
    double n = sums[0];
    (void)s;
    if (!(n > 0)) return;
    double mean = fmax(sums[2 * e->k] / n, LEAST);
    e->spread[c] = solve_shape(log(mean) - sums[3 * e->k] / n);
    e->mean[c] = mean;
}

static double no_log_prior(const cri_emitted *e, size_t c)
{
    (void)e, (void)c;
    return 0;
}

static double draw_counts(const cri_emitted *e, size_t c, cr_rng *r)
{
    double rate = exp(cr_rng_log_gamma(r, e->spread[c])) * e->mean[c] / e->spread[c];
    return cri_draw_poisson(r, rate);
}

static void begin_counts(const cri_emitted *e, size_t c, double x)
{
    e->mean[c] = 0.7 * x + 0.3 * e->overall;
    e->spread[c] = 5;
}

const cri_emission cri_emit_negative_binomial = {
    .name = "negative-binomial",
    .parameter = { "mean", "size", NULL },
    .support = CRI_COUNTS,
    .score = score_counts,
    .shared = shared_counts,
    .gather = gather_counts,
    .solve = solve_counts,
    .log_prior = no_log_prior,
    .draw = draw_counts,
    .begin = begin_counts,
};

/* --- von Mises ------------------------------------------------------------------------------- */

static void score_angles(const cri_emitted *e, const double *x, size_t n, double *out)
{
    double *base = e->work, *a = base + e->stride, *b = a + e->stride;
    for (size_t c = 0; c < e->k; c++) {
        double kappa = e->spread[c];
        base[c] = -CRI_LOG_2PI - kappa - cri_bessel_scaled(kappa).log_i0;
        a[c] = kappa * cos(e->mean[c]);
        b[c] = kappa * sin(e->mean[c]);
    }
    for (size_t i = 0; i < n; i++) {
        double *o = out + i * e->stride, cosine = cos(x[i]), sine = sin(x[i]);
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < e->k; c++) o[c] += base[c] + a[c] * cosine + b[c] * sine;
    }
}

static void gather_angles(const cri_emitted *e, const double *x, size_t n, const double *gamma,
                          double *sums)
{
    size_t k = e->k;
    for (size_t i = 0; i < n; i++) {
        const double *r = gamma + i * e->stride;
        double        cosine = cos(x[i]), sine = sin(x[i]);
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < k; c++) {
            sums[c] += r[c];
            sums[k + c] += r[c] * cosine;
            sums[2 * k + c] += r[c] * sine;
        }
    }
}

static void solve_angles(const cri_emitted *e, size_t c, double s, const double *sums)
{
    double n = sums[0] + s;
    if (!(n > 0)) return;
    double cosine = (sums[e->k] + s * e->overall) / n;
    double sine = (sums[2 * e->k] + s * e->overall2) / n, length = hypot(cosine, sine);
    if (length > 0) e->mean[c] = atan2(sine, cosine);
    e->spread[c] = fmin(cr_bessel_ratio_inv(fmin(length, 1 - 1e-9)), MOST_KAPPA);
}

static double log_prior_angles(const cri_emitted *e, size_t c)
{
    double kappa = e->spread[c];
    return kappa * (cos(e->mean[c]) * e->overall + sin(e->mean[c]) * e->overall2) - kappa -
           cri_bessel_scaled(kappa).log_i0 - CRI_LOG_2PI;
}

/* Best & Fisher (1979): rejection from a wrapped Cauchy distribution. */
static double draw_angle(const cri_emitted *e, size_t c, cr_rng *r)
{
    double kappa = e->spread[c];
    if (!(kappa > 1e-8)) return (2 * cr_rng_uniform(r) - 1) * M_PI;
    if (kappa > 1e6) return remainder(e->mean[c] + cr_rng_normal(r) / sqrt(kappa), 2 * M_PI);
    double tau = 1 + sqrt(1 + 4 * kappa * kappa), rho = (tau - sqrt(2 * tau)) / (2 * kappa);
    double ratio = (1 + rho * rho) / (2 * rho), f = 1;
    for (int tries = 0; tries < 10000; tries++) {
        double z = cos(M_PI * cr_rng_uniform(r)), u = cr_rng_uniform(r);
        f = (1 + ratio * z) / (ratio + z);
        double bound = kappa * (ratio - f);
        if (bound * (2 - bound) > u || log(bound / u) + 1 >= bound) break;
    }
    double angle = cr_rng_uniform(r) < 0.5 ? -acos(f) : acos(f);
    return remainder(e->mean[c] + angle, 2 * M_PI);
}

static void begin_angles(const cri_emitted *e, size_t c, double x)
{
    e->mean[c] = remainder(x, 2 * M_PI);
    e->spread[c] = (double)e->k;
}

const cri_emission cri_emit_von_mises = {
    .name = "von-mises",
    .parameter = { "direction", "kappa", NULL },
    .score = score_angles,
    .shared = cri_emit_shares_nothing,
    .gather = gather_angles,
    .solve = solve_angles,
    .log_prior = log_prior_angles,
    .draw = draw_angle,
    .begin = begin_angles,
};

/* --- Student's t ----------------------------------------------------------------------------- */

static void score_student(const cri_emitted *e, const double *x, size_t n, double *out)
{
    double *inverse = e->work, *base = e->work + e->stride;
    for (size_t c = 0; c < e->k; c++) {
        double nu = e->tail[c];
        inverse[c] = 1 / e->spread[c];
        base[c] = cr_lgamma_diff(nu / 2, 0.5) - 0.5 * log(nu * M_PI) - log(e->spread[c]);
    }
    for (size_t i = 0; i < n; i++) {
        double *o = out + i * e->stride;
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < e->k; c++) {
            double z = (x[i] - e->mean[c]) * inverse[c];
            o[c] += base[c] - 0.5 * (e->tail[c] + 1) * log1p(z * z / e->tail[c]);
        }
    }
}

static void gather_student(const cri_emitted *e, const double *x, size_t n, const double *gamma,
                           double *sums)
{
    size_t k = e->k;
    for (size_t i = 0; i < n; i++) {
        const double *r = gamma + i * e->stride;
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < k; c++) {
            double d = x[i] - e->mean[c], z = d / e->spread[c], nu = e->tail[c];
            double u = (nu + 1) / (nu + z * z);
            sums[c] += r[c];
            sums[k + c] += r[c] * u;
            sums[2 * k + c] += r[c] * u * d;
            sums[3 * k + c] += r[c] * u * d * d;
            sums[4 * k + c] += r[c] * (log(u) - u);
        }
    }
}

/* The nu at which log(nu / 2) - psi(nu / 2) + 1 + E[log u - u] = 0, where the expectation of log u was taken at the
 * degrees of freedom `old`: falls in nu. */
static double solve_nu(double mean, double old)
{
    double at = cr_digamma((old + 1) / 2) - log((old + 1) / 2), y = -(1 + mean + at);
    return y > 0 ? fmin(fmax(2 * solve_shape(y), LEAST_NU), MOST_NU) : MOST_NU;
}

static void solve_student(const cri_emitted *e, size_t c, double s, const double *sums)
{
    size_t k = e->k;
    double n = sums[0] + s, mean = e->mean[c];
    if (!(n > 0)) return;
    double step = (sums[2 * k] - s * mean) / (sums[k] + s);
    double squares = sums[3 * k] - 2 * step * sums[2 * k] + step * step * sums[k];
    double fresh = mean + step;
    e->mean[c] = fresh;
    e->spread[c] = fmax(sqrt(fmax(squares + s * (1 + fresh * fresh), 0) / n), LEAST);
    if (sums[0] > 0) e->tail[c] = solve_nu(sums[4 * k] / sums[0], e->tail[c]);
}

static double log_prior_student(const cri_emitted *e, size_t c)
{
    double v = e->spread[c] * e->spread[c];
    return -0.5 * log(v) - 0.5 * (1 + e->mean[c] * e->mean[c]) / v - CRI_HALF_LOG_2PI;
}

static double draw_student(const cri_emitted *e, size_t c, cr_rng *r)
{
    double half = e->tail[c] / 2, u = exp(cr_rng_log_gamma(r, half)) / half;
    return e->mean[c] + e->spread[c] * cr_rng_normal(r) / sqrt(u);
}

static void begin_student(const cri_emitted *e, size_t c, double x)
{
    e->mean[c] = x;
    e->spread[c] = fmax(1 / (double)e->k, 0.1);
    e->tail[c] = 10;
}

const cri_emission cri_emit_student = {
    .name = "student-t",
    .parameter = { "location", "scale", "dof" },
    .moved = true,
    .score = score_student,
    .shared = cri_emit_shares_nothing,
    .gather = gather_student,
    .solve = solve_student,
    .log_prior = log_prior_student,
    .draw = draw_student,
    .begin = begin_student,
};
