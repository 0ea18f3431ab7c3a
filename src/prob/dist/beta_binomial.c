/* beta_binomial.c -- successes in n trials whose probability is itself Beta(a, b). */
#include "fit.h"
#include "saddle.h"

#include <math.h>

static void bb_support(cri_par p, double *low, double *high) { *low = 0, *high = p.v[0]; }

/* C(n, x) B(x + a, n - x + b) / B(a, b) as three binomial masses at a common probability, that of
 * the last, where nothing is large. */
static double bb_logpdf(cri_par p, double x)
{
    double n = p.v[0], a = p.v[1], b = p.v[2], y = n - x, top = x + a, rest = y + b;
    double all = top + rest, at = top / all, other = rest / all;
    double factor = log(a / top) + log(b / rest) - log((a + b) / all);
    return cri_binomial_mass(x, y, at, other) + cri_binomial_mass(a, b, at, other) -
           cri_binomial_mass(top, rest, at, other) + factor;
}

/* The mass from x (inclusive) to the end in the direction `step`, as a sum of ratios to the mass
 * at x: O(n), less where the masses die away. */
static double sum_from(cri_par p, double x, double step)
{
    double n = p.v[0], a = p.v[1], b = p.v[2], ratio = 1, sum = 0;
    bool   may_rise = a < 1 || b < 1;
    for (; x >= 0 && x <= n; x += step) {
        sum += ratio;
        ratio *= step > 0 ? (n - x) / (x + 1) * ((x + a) / (n - x - 1 + b))
                          : x / (n - x + 1) * ((n - x + b) / (x - 1 + a));
        if (!may_rise && ratio < 1e-18 * sum) break;
    }
    return sum;
}

static double bb_cdf(cri_par p, double x, unsigned side)
{
    double mean = p.v[0] * p.v[1] / (p.v[1] + p.v[2]);
    bool   below = x < mean;
    double start = below ? x : x + 1;
    double log_part = bb_logpdf(p, start) + log(sum_from(p, start, below ? -1 : 1));
    double part = fmin(1, exp(log_part));
    if (side & CRI_LOG && below != !!(side & CRI_UPPER)) return fmin(0, log_part);
    return below ? cri_face(part, 1 - part, side) : cri_face(1 - part, part, side);
}

static double bb_mean(cri_par p) { return p.v[0] * (p.v[1] / (p.v[1] + p.v[2])); }

/* The masses rise while (n - x) (x + a) > (x + 1) (n - x - 1 + b). */
static double bb_mode(cri_par p)
{
    double n = p.v[0], a = p.v[1], b = p.v[2];
    if (a < 1 && b < 1) return n == 0 ? 0 : NAN;
    if (a == 1 && b == 1) return 0;
    if (a <= 1 || b <= 1) return a > b ? n : 0;
    double top = (n * (a - 1) - (b - 1)) / (a + b - 2);
    return fmin(n, fmax(0, ceil(top)));
}

static double bb_variance(cri_par p)
{
    double n = p.v[0], s = p.v[1] + p.v[2];
    return n * (p.v[1] / s) * (p.v[2] / s) * ((s + n) / (s + 1));
}

static double bb_entropy(cri_par p)
{
    return cri_sum_entropy(&cri_dist_beta_binomial, p, bb_mode(p));
}

static double bb_sample(cri_par p, cr_rng *r)
{
    double at = cr_rng_beta(r, p.v[1], p.v[2]);
    return (double)cr_rng_binomial(r, (uint64_t)p.v[0], at);
}

static double bb_kl(cri_par p, cri_par q)
{
    return cri_sum_kl(&cri_dist_beta_binomial, p, q, bb_mode(p));
}

/* --- fit ------------------------------------------------------------------------------------- */

typedef struct bb_problem {
    const cri_sample *s;
    double            trials;
} bb_problem;

/* psi(x + h) - psi(x), sharp for large x. */
static double digamma_rise(double x, double h)
{
    return log1p(h / x) - cri_log_minus_digamma(x + h) + cri_log_minus_digamma(x);
}

static double bb_objective(const double *theta, double *g, const void *user)
{
    const bb_problem *q = user;
    double            v[3] = { q->trials, exp(theta[0]), exp(theta[1]) }, sum = 0;
    double            common = digamma_rise(v[1] + v[2], q->trials);
    g[0] = g[1] = 0;
    for (size_t i = 0; i < q->s->n; i++) {
        double w = cri_weight(q->s, i) / q->s->total, x = q->s->x[i];
        sum += w * bb_logpdf((cri_par){ v, 3 }, x);
        g[0] += w * v[1] * (digamma_rise(v[1], x) - common);
        g[1] += w * v[2] * (digamma_rise(v[2], q->trials - x) - common);
    }
    return sum;
}

/* The slope of the likelihood in the correlation, where it is 0 (a binomial): below 0 the best
 * fit lies at infinite a and b. */
static double spread_score(const cri_sample *s, double n, double p)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double x = s->x[i], y = n - x;
        sum += cri_weight(s, i) / s->total * (x * (x - 1) / p + y * (y - 1) / (1 - p));
    }
    return sum - n * (n - 1);
}

static cr_status bb_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    cr_status  st = CR_OK;
    bb_problem problem = { s, v[0] };
    double     low, high, inside = 0, mean = cri_sample_mean(s, NULL);
    (void)n;
    cri_sample_range(s, &low, &high);
    for (size_t i = 0; i < s->n; i++)
        if (s->x[i] > 0 && s->x[i] < v[0]) inside += cri_weight(s, i);
    if (high > v[0])
        CR_TRY(cr_fail(cx, CR_EDATA, "beta-binomial: a value is %g, more than the %g trials", high,
                       v[0]));
    if (low == high || inside == 0)
        CR_TRY(cri_no_estimate(cx, "beta-binomial", "no value lies between 0 and the trials"));
    if (spread_score(s, v[0], mean / v[0]) <= 1e-9)
        CR_TRY(cri_no_estimate(cx, "beta-binomial",
                               "the variance is not above that of a binomial; fit that"));
    double theta[2] = { log(mean / v[0]), log(1 - mean / v[0]) };
    CR_TRY(cri_climb(cx, "beta-binomial", bb_objective, &problem, 2, theta));
    v[1] = exp(theta[0]), v[2] = exp(theta[1]);
done:
    return st;
}

/* --- the descriptor -------------------------------------------------------------------------- */

static const cri_dist_param params[] = {
    CRI_PARAM_GIVEN("trials", cri_count, "whole, >=0", "20", "number of trials n"),
    CRI_PARAM("a", cri_positive, ">0", "2", "first shape of the probability's beta"),
    CRI_PARAM("b", cri_positive, ">0", "3", "second shape of the probability's beta"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_beta_binomial = {
    .name = "beta-binomial",
    .summary = "successes in n trials whose probability is Beta(a, b)",
    .formula = "P(x) = n! / (x! (n - x)!) B(x + a, n - x + b) / B(a, b)",
    .reference = "Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, sec. 6.2.2",
    .support_text = "x = 0, 1, ..., n",
    .params = params,
    .discrete = true,
    .data = &cri_count,
    .support = bb_support,
    .logpdf = bb_logpdf,
    .cdf = bb_cdf,
    .mean = bb_mean,
    .mode = bb_mode,
    .variance = bb_variance,
    .entropy = bb_entropy,
    .sample = bb_sample,
    .fit = bb_fit,
    .kl = bb_kl,
};
