/* multinomial.c -- how often each of K kinds comes up in n draws. */
#include "dirichlet.h"
#include "fit.h"
#include "saddle.h"
#include "small_matrix.h"

#include <math.h>
#include <stdio.h>

static cr_status multinomial_check(cr_ctx *cx, cri_par p)
{
    return cri_check_sum(cx, "multinomial", p.v + 1, p.n - 1);
}

bool cri_are_counts(const double *x, size_t d, double n)
{
    for (size_t i = 0; i < d; i++)
        if (!(x[i] >= 0 && x[i] == floor(x[i]))) return false;
    return cri_total(x, d) == n;
}

/* Binomials, each kind against those after it. */
void cri_draw_multinomial(cr_rng *r, double trials, const double *p, size_t d, double *out)
{
    double left = cri_total(p, d);
    for (size_t i = 0; i < d; i++) {
        double share = left > 0 ? fmin(1, p[i] / left) : 0;
        out[i] = i + 1 == d ? trials : (double)cr_rng_binomial(r, (uint64_t)trials, share);
        trials -= out[i];
        left -= p[i];
    }
}

static double multinomial_logpdf(const double *p, size_t d, const double *work, const double *x,
                                 double *spare)
{
    (void)work, (void)spare;
    return cri_are_counts(x, d, p[0]) ? cri_multinomial_mass(x, p + 1, d) : -INFINITY;
}

static void multinomial_mean(const double *p, size_t d, const double *work, double *out)
{
    (void)work;
    for (size_t i = 0; i < d; i++) out[i] = p[0] * p[1 + i];
}

static void multinomial_variance(const double *p, size_t d, const double *work, double *out)
{
    (void)work;
    for (size_t i = 0; i < d; i++) out[i] = p[0] * p[1 + i] * (1 - p[1 + i]);
}

static void multinomial_sample(const double *p, size_t d, const double *work, cr_rng *r,
                               double *out, double *spare)
{
    (void)work, (void)spare;
    cri_draw_multinomial(r, p[0], p + 1, d, out);
}

static double multinomial_kl(const double *p, const double *p_work, const double *q,
                             const double *q_work, size_t d, double *spare)
{
    double sum = 0;
    (void)p_work, (void)q_work, (void)spare;
    if (p[0] != q[0]) return INFINITY; /* no point is possible under both */
    for (size_t i = 1; i <= d; i++)
        if (p[i] > 0 || q[i] > 0) sum += cr_bd0(p[i], q[i]);
    return p[0] * sum;
}

/* -sum of binomial(x; n, p) log poisson(x; n p), from the mode outwards; false when it is too long.
 */
static bool sum_marginal(double n, double p, double *sum)
{
    double at[] = { n, p }, mode = floor(fmin(n, (n + 1) * p));
    if (10 * sqrt(n * p * (1 - p)) > CRI_MOST_TERMS) return false;
    for (int side = 0; side < 2; side++)
        for (double x = side ? mode - 1 : mode; x >= 0 && x <= n; x += side ? -1 : 1) {
            double mass = exp(cri_dist_binomial.logpdf((cri_par){ at, 2 }, x));
            *sum -= mass * cri_poisson_mass(x, n * p);
            if (mass < 1e-24) break;
        }
    return true;
}

/* The counts are independent Poisson variables of means n p_i that happen to sum to n, and each is
 * binomial: only their own tails are summed, and nothing large cancels. */
static double multinomial_entropy(const double *p, size_t d, const double *work)
{
    double n = p[0], sum = cri_poisson_mass(n, n);
    (void)work;
    for (size_t i = 1; i <= d; i++)
        if (p[i] > 0 && n > 0 && !sum_marginal(n, p[i], &sum)) return NAN;
    return fmax(0, sum);
}

/* --- the exponential family, and fit --------------------------------------------------------- */

static size_t natural_count(size_t d) { return d - 1; }

static void statistic_name(size_t d, size_t i, char *out, size_t size)
{
    (void)d;
    snprintf(out, size, "x[%zu]", i + 2);
}

/* Against the first kind, as the categorical's. */
static void natural(const double *p, size_t d, const double *work, double *eta, double *spare)
{
    (void)work, (void)spare;
    for (size_t i = 1; i < d; i++) eta[i - 1] = log(p[1 + i]) - log(p[1]);
}

static double log_partition(const double *p, size_t d, const double *eta, double *spare)
{
    double top = 0, sum = 0;
    (void)spare;
    for (size_t i = 0; i + 1 < d; i++) top = fmax(top, eta[i]);
    for (size_t i = 0; i + 1 < d; i++) sum += exp(eta[i] - top);
    return p[0] * (top + log(sum + exp(-top)));
}

static void statistic(size_t d, const double *x, double *t, double *spare)
{
    (void)spare;
    for (size_t i = 1; i < d; i++) t[i - 1] = x[i];
}

static void mean_statistic(const double *p, size_t d, const double *work, double *t, double *spare)
{
    (void)work, (void)spare;
    for (size_t i = 1; i < d; i++) t[i - 1] = p[0] * p[1 + i];
}

static const cri_vector_family family = { natural_count, statistic_name, natural, log_partition,
                                          statistic,     mean_statistic, NULL };

/* The shares of all counts together. */
static cr_status multinomial_fit(cr_ctx *cx, const cri_points *s, double *v, size_t d)
{
    for (size_t i = 0; i < s->n; i++)
        if (!cri_are_counts(s->x + i * d, d, v[0]))
            return cr_fail(cx, CR_EDATA,
                           "multinomial: point %zu is not counts that sum to the %g trials", i + 1,
                           v[0]);
    if (v[0] == 0) return cri_no_estimate(cx, "multinomial", "there are no trials");
    for (size_t k = 0; k < d; k++) {
        double sum = 0;
        for (size_t i = 0; i < s->n; i++) sum += cri_point_weight(s, i) * s->x[i * d + k];
        v[1 + k] = sum / s->total / v[0];
    }
    return CR_OK;
}

static const cri_vector vector = {
    .point = cri_size_same,
    .logpdf = multinomial_logpdf,
    .mean = multinomial_mean,
    .variance = multinomial_variance,
    .entropy = multinomial_entropy,
    .sample = multinomial_sample,
    .kl = multinomial_kl,
    .fit = multinomial_fit,
    .family = &family,
};

static const cri_dist_param params[] = {
    CRI_PARAM_GIVEN("trials", cri_count, "whole, >=0", "10", "number of draws n"),
    CRI_PARAM_SHAPED(CR_SHAPE_VECTOR, "p", cri_unit, "0..1", "0.2,0.3,0.5",
                     "probabilities of the categories; they sum to 1"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_multinomial = {
    .name = "multinomial",
    .summary = "how often each of K categories occurs in n draws",
    .formula = "P(x) = n! / (x_1! ... x_K!) p_1^x_1 ... p_K^x_K",
    .reference = "Johnson, Kotz & Balakrishnan (1997), Discrete Multivariate Distributions, ch. 35",
    .support_text = "x_i = 0, 1, ..., sum x = n",
    .params = params,
    .discrete = true,
    .check = multinomial_check,
    .vector = &vector,
};
