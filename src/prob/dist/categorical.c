/* categorical.c -- one of K kinds, numbered 0 .. K-1, by the list of their probabilities. */
#include "fit.h"
#include "saddle.h"
#include "base/find.h"

#include <math.h>

static cr_status categorical_check(cr_ctx *cx, cri_par p)
{
    double sum = 0;
    for (size_t i = 0; i < p.n; i++) sum += p.v[i];
    if (fabs(sum - 1) <= 1e-9) return CR_OK;
    return cr_fail(cx, CR_EARG, "categorical: the probabilities sum to %.10g, expected 1", sum);
}

static void categorical_support(cri_par p, double *low, double *high)
{
    *low = 0, *high = (double)p.n - 1;
}

static double categorical_logpdf(cri_par p, double x) { return log(p.v[(size_t)x]); }

static double categorical_cdf(cri_par p, double x, unsigned side)
{
    double lower = 0, upper = 0;
    for (size_t i = 0; i < p.n; i++) *((double)i <= x ? &lower : &upper) += p.v[i];
    return cri_face(fmin(1, lower), fmin(1, upper), side);
}

static double categorical_mean(cri_par p)
{
    double sum = 0;
    for (size_t i = 0; i < p.n; i++) sum += (double)i * p.v[i];
    return sum;
}

static double categorical_mode(cri_par p) { return (double)cri_largest(p.v, p.n); }

static double categorical_variance(cri_par p)
{
    double mean = categorical_mean(p), sum = 0;
    for (size_t i = 0; i < p.n; i++) sum += ((double)i - mean) * ((double)i - mean) * p.v[i];
    return sum;
}

static double categorical_entropy(cri_par p)
{
    double sum = 0;
    for (size_t i = 0; i < p.n; i++) sum -= cri_xlogy(p.v[i], p.v[i]);
    return fabs(sum);
}

static double categorical_sample(cri_par p, cr_rng *r)
{
    return (double)cr_rng_categorical(r, p.v, p.n);
}

static cr_status categorical_fit(cr_ctx *cx, const cri_sample *s, double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) v[i] = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->x[i] >= (double)n)
            return cr_fail(
                cx, CR_EDATA,
                "categorical: value %zu is %g, but there are %zu categories, numbered from 0",
                i + 1, s->x[i], n);
        v[(size_t)s->x[i]] += cri_weight(s, i) / s->total;
    }
    return CR_OK;
}

static double categorical_kl(cri_par p, cri_par q)
{
    double sum = 0;
    for (size_t i = 0; i < p.n; i++) {
        double other = i < q.n ? q.v[i] : 0;
        if (p.v[i] > 0 && other == 0) return INFINITY;
        if (p.v[i] > 0 || other > 0) sum += cr_bd0(p.v[i], other);
    }
    for (size_t i = p.n; i < q.n; i++) sum += q.v[i];
    return sum;
}

static const char *const statistics[] = { "[x = %zu]" };

static size_t natural_count(size_t n) { return n - 1; }

static void natural(cri_par p, double *eta)
{
    for (size_t i = 1; i < p.n; i++) eta[i - 1] = log(p.v[i]) - log(p.v[0]);
}

static double log_partition(cri_par p, const double *eta)
{
    double top = 0, sum = 0;
    for (size_t i = 0; i + 1 < p.n; i++) top = fmax(top, eta[i]);
    for (size_t i = 0; i + 1 < p.n; i++) sum += exp(eta[i] - top);
    return top + log(sum + exp(-top));
}

static void statistic(cri_par p, double x, double *t)
{
    for (size_t i = 1; i < p.n; i++) t[i - 1] = x == (double)i;
}

static void mean_statistic(cri_par p, double *t)
{
    for (size_t i = 1; i < p.n; i++) t[i - 1] = p.v[i];
}

static const cri_family family = { statistics,    1,         natural_count, natural,
                                   log_partition, statistic, mean_statistic };

static const cri_dist_param params[] = {
    CRI_PARAM_SHAPED(CR_SHAPE_VECTOR, "p", cri_unit, "0..1", "0.2,0.3,0.5",
                     "probabilities of 0, 1, ...; they sum to 1"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_categorical = {
    .name = "categorical",
    .summary = "one of K categories, with the given probabilities",
    .formula = "P(x) = p_x, sum of p = 1",
    .reference = "Bishop (2006), Pattern Recognition and Machine Learning, sec. 2.2",
    .support_text = "x = 0, 1, ..., K-1",
    .params = params,
    .discrete = true,
    .data = &cri_count,
    .check = categorical_check,
    .support = categorical_support,
    .logpdf = categorical_logpdf,
    .cdf = categorical_cdf,
    .mean = categorical_mean,
    .mode = categorical_mode,
    .variance = categorical_variance,
    .entropy = categorical_entropy,
    .sample = categorical_sample,
    .fit = categorical_fit,
    .kl = categorical_kl,
    .family = &family,
};
