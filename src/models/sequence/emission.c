/* emission.c -- normal, log-normal, Bernoulli and Poisson emissions; the list of all. */
#include "emission.h"
#include "math/constants.h"
#include "math/special/special.h"
#include "prob/dist/counts.h"

#include <math.h>

static const double LEAST_SD = 1e-10, LEAST_P = 1e-12, LEAST_RATE = 1e-12;

double cri_emit_shares_nothing(double x)
{
    (void)x;
    return 0;
}

/* --- normal ---------------------------------------------------------------------------------- */

static void score_normal(const cri_emitted *e, const double *x, size_t n, double *out)
{
    size_t        k = e->k;
    double       *inverse = e->work, *peak = e->work + e->stride;
    const double *mean = e->mean;
    for (size_t c = 0; c < k; c++) {
        inverse[c] = 1 / e->spread[c];
        peak[c] = -log(e->spread[c]) - CRI_HALF_LOG_2PI;
    }
    for (size_t i = 0; i < n; i++) {
        double *o = out + i * e->stride;
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < k; c++) {
            double z = (x[i] - mean[c]) * inverse[c];
            o[c] += peak[c] - 0.5 * z * z;
        }
    }
}

void cri_emit_moments(const cri_emitted *e, const double *x, size_t n, const double *gamma,
                      double *sums)
{
    size_t        k = e->k;
    double       *rows = sums, *first = sums + k, *second = sums + 2 * k;
    const double *mean = e->mean;
    for (size_t i = 0; i < n; i++) {
        const double *r = gamma + i * e->stride;
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < k; c++) {
            double d = x[i] - mean[c], rd = r[c] * d;
            rows[c] += r[c];
            first[c] += rd;
            second[c] += rd * d;
        }
    }
}

/* All rows have mean 0 and variance 1 in these units. */
static void solve_normal(const cri_emitted *e, size_t c, double s, const double *sums)
{
    double n = sums[0] + s, mean = e->mean[c];
    if (!(n > 0)) return;
    double first = (sums[e->k] - s * mean) / n;
    double second = (sums[2 * e->k] + s * (1 + mean * mean)) / n;
    e->mean[c] = mean + first;
    e->spread[c] = fmax(sqrt(fmax(second - first * first, 0)), LEAST_SD);
}

static double log_prior_normal(const cri_emitted *e, size_t c)
{
    double v = e->spread[c] * e->spread[c];
    return -0.5 * log(v) - 0.5 * (1 + e->mean[c] * e->mean[c]) / v - CRI_HALF_LOG_2PI;
}

static double draw_normal(const cri_emitted *e, size_t c, cr_rng *r)
{
    return e->mean[c] + e->spread[c] * cr_rng_normal(r);
}

static void begin_normal(const cri_emitted *e, size_t c, double x)
{
    e->mean[c] = x;
    e->spread[c] = fmax(1 / (double)e->k, 0.1);
}

const cri_emission cri_emit_gaussian = {
    .name = "gaussian",
    .parameter = { "mean", "sd", NULL },
    .moved = true,
    .score = score_normal,
    .shared = cri_emit_shares_nothing,
    .gather = cri_emit_moments,
    .solve = solve_normal,
    .log_prior = log_prior_normal,
    .draw = draw_normal,
    .begin = begin_normal,
};

const cri_emission cri_emit_lognormal = {
    .name = "lognormal",
    .parameter = { "meanlog", "sdlog", NULL },
    .support = CRI_POSITIVE,
    .moved = true,
    .score = score_normal,
    .shared = cri_emit_shares_nothing,
    .gather = cri_emit_moments,
    .solve = solve_normal,
    .log_prior = log_prior_normal,
    .draw = draw_normal,
    .begin = begin_normal,
};

/* --- counts and answers ---------------------------------------------------------------------- */

/* log p = x eta_c + base_c */
static void score_linear(const cri_emitted *e, const double *x, size_t n, double *out)
{
    const double *eta = e->work, *base = e->work + e->stride;
    for (size_t i = 0; i < n; i++) {
        double *o = out + i * e->stride;
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < e->k; c++) o[c] += x[i] * eta[c] + base[c];
    }
}

static void score_poisson(const cri_emitted *e, const double *x, size_t n, double *out)
{
    for (size_t c = 0; c < e->k; c++) {
        e->work[c] = log(e->mean[c]);
        e->work[e->stride + c] = -e->mean[c];
    }
    score_linear(e, x, n, out);
}

static void score_bernoulli(const cri_emitted *e, const double *x, size_t n, double *out)
{
    for (size_t c = 0; c < e->k; c++) {
        double no = log1p(-e->mean[c]);
        e->work[c] = log(e->mean[c]) - no;
        e->work[e->stride + c] = no;
    }
    score_linear(e, x, n, out);
}

static void gather_sum(const cri_emitted *e, const double *x, size_t n, const double *gamma,
                       double *sums)
{
    double *rows = sums, *first = sums + e->k;
    for (size_t i = 0; i < n; i++) {
        const double *r = gamma + i * e->stride;
        if (isnan(x[i])) continue;
        for (size_t c = 0; c < e->k; c++) {
            rows[c] += r[c];
            first[c] += r[c] * x[i];
        }
    }
}

static double mean_of(const cri_emitted *e, double s, const double *sums, double otherwise)
{
    double n = sums[0] + s;
    return n > 0 ? (sums[e->k] + s * e->overall) / n : otherwise;
}

static void solve_poisson(const cri_emitted *e, size_t c, double s, const double *sums)
{
    e->mean[c] = fmax(mean_of(e, s, sums, e->mean[c]), LEAST_RATE * (e->overall + 1));
}

static void solve_bernoulli(const cri_emitted *e, size_t c, double s, const double *sums)
{
    e->mean[c] = fmin(fmax(mean_of(e, s, sums, e->mean[c]), LEAST_P), 1 - LEAST_P);
}

static double shared_poisson(double x) { return -cr_lgamma_abs(x + 1); }

static double log_prior_poisson(const cri_emitted *e, size_t c)
{
    return e->overall * log(e->mean[c]) - e->mean[c];
}

static double log_prior_bernoulli(const cri_emitted *e, size_t c)
{
    return e->overall * log(e->mean[c]) + (1 - e->overall) * log1p(-e->mean[c]);
}

static double draw_poisson(const cri_emitted *e, size_t c, cr_rng *r)
{
    return cri_draw_poisson(r, e->mean[c]);
}

static double draw_bernoulli(const cri_emitted *e, size_t c, cr_rng *r)
{
    return cr_rng_uniform(r) < e->mean[c];
}

static void begin_mean(const cri_emitted *e, size_t c, double x)
{
    e->mean[c] = 0.7 * x + 0.3 * e->overall;
}

const cri_emission cri_emit_bernoulli = {
    .name = "bernoulli",
    .parameter = { "p", NULL, NULL },
    .support = CRI_ZERO_ONE,
    .score = score_bernoulli,
    .shared = cri_emit_shares_nothing,
    .gather = gather_sum,
    .solve = solve_bernoulli,
    .log_prior = log_prior_bernoulli,
    .draw = draw_bernoulli,
    .begin = begin_mean,
};

const cri_emission cri_emit_poisson = {
    .name = "poisson",
    .parameter = { "rate", NULL, NULL },
    .support = CRI_COUNTS,
    .score = score_poisson,
    .shared = shared_poisson,
    .gather = gather_sum,
    .solve = solve_poisson,
    .log_prior = log_prior_poisson,
    .draw = draw_poisson,
    .begin = begin_mean,
};

/* --- all of them ----------------------------------------------------------------------------- */

const cri_emission *cri_emission_of(size_t kind)
{
    static const cri_emission *const all[] = {
        NULL,
        &cri_emit_gaussian,
        &cri_emit_lognormal,
        &cri_emit_student,
        &cri_emit_bernoulli,
        &cri_emit_poisson,
        &cri_emit_negative_binomial,
        &cri_emit_gamma,
        &cri_emit_von_mises,
    };
    if (kind == CRI_EMIT_MIXTURE) return &cri_emit_mixture;
    if (kind == CRI_EMIT_REGRESSED) return &cri_emit_regressed;
    return kind < CRI_EMIT_NUMBERS ? all[kind] : NULL;
}

const char *cri_emission_name(size_t kind)
{
    const cri_emission *e = cri_emission_of(kind);
    return e                            ? e->name
           : kind == CRI_EMIT_CATEGORY  ? "category"
           : kind == CRI_EMIT_JOINT     ? "gaussian"
           : kind == CRI_EMIT_COVARIATE ? "covariate"
                                        : "auto";
}
