/* multinomial.c -- how often each of K kinds comes up in n draws. */
#include "dirichlet.h"
#include "saddle.h"
#include "small_matrix.h"

#include <math.h>

static size_t same(size_t d) { return d; }

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

static const cri_vector vector = {
    .point = same,
    .logpdf = multinomial_logpdf,
    .mean = multinomial_mean,
    .variance = multinomial_variance,
    .sample = multinomial_sample,
    .kl = multinomial_kl,
};

static const cri_dist_param params[] = {
    CRI_PARAM("trials", cri_count, "whole, >=0", "10", "number of draws n"),
    CRI_PARAM_SHAPED(CR_SHAPE_VECTOR, "p", cri_unit, "0..1", "0.2,0.3,0.5",
                     "probabilities of the kinds; they sum to 1"),
    CRI_PARAM_LAST,
};

const cr_dist_class cri_dist_multinomial = {
    .name = "multinomial",
    .summary = "how often each of K kinds comes up in n draws",
    .formula = "P(x) = n! / (x_1! ... x_K!) p_1^x_1 ... p_K^x_K",
    .reference = "Johnson, Kotz & Balakrishnan (1997), Discrete Multivariate Distributions, ch. 35",
    .support_text = "x_i = 0, 1, ..., sum x = n",
    .params = params,
    .discrete = true,
    .check = multinomial_check,
    .vector = &vector,
};
