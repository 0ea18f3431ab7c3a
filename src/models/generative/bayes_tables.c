/* bayes_tables.c -- naive Bayes: from statistics to the numbers that scores are made of. */
#include "bayes_columns.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/special/special.h"

#include <math.h>

cri_nb_overall cri_nb_sum_up(const cri_nb *m, size_t j)
{
    cri_nb_overall o = { 0 };
    double         total = 0;
    for (size_t k = 0; k < m->K; k++) o.n += m->weight[k * m->p + j];
    if (!(o.n > 0)) return (cri_nb_overall){ .variance = 1, .within = 1, .constant = true };
    for (size_t k = 0; k < m->K; k++)
        o.mean += m->weight[k * m->p + j] / o.n * m->mean[k * m->p + j];
    for (size_t k = 0; k < m->K; k++) {
        double d = m->mean[k * m->p + j] - o.mean;
        o.within += m->scatter[k * m->p + j];
        o.classes += m->weight[k * m->p + j] > 0;
        total += m->weight[k * m->p + j] * d * d;
    }
    total += o.within;
    o.constant = !(total > 1e-26 * o.n * o.mean * o.mean) || !(total > 0);
    o.variance = o.constant ? 1 : total / o.n;
    o.within /= o.n;
    return o;
}

/* --- one term in one class ------------------------------------------------------------------- */

static cri_nb_entry normal(double mean, double variance)
{
    double sd = sqrt(variance);
    return (cri_nb_entry){ mean, 1 / sd, -log(sd) - CRI_HALF_LOG_2PI, 0 };
}

/* The estimate: of a class without spread, or values, that of all. */
static double variance_of(const cri_nb *m, size_t cell, const cri_nb_overall *o)
{
    double n = m->weight[cell], least = m->floor * o->variance;
    if (o->constant || !(n > 0)) return o->variance;
    if (!(n > 1)) return o->within > least ? o->within : o->variance;
    return fmax(m->scatter[cell] / n, least);
}

/* score = c - ((x - a) b)^2 / 2, or with d > 0  c - d log(1 + ((x - a) b)^2). */
static cri_nb_entry gaussian_entry(const cri_nb *m, size_t cell, const cri_nb_overall *o)
{
    double n = m->weight[cell], least = m->floor * o->variance;
    if (m->shrunk && !o->constant) return cri_nb_shrunk_normal(m, cell, o);
    if (!m->bayes || o->constant || !(n > 1))
        return normal(n > 0 && !o->constant ? m->mean[cell] : o->mean, variance_of(m, cell, o));
    return cri_nb_student_t(m->mean[cell],
                            sqrt(fmax(m->scatter[cell] / (n - 1), least) * (1 + 1 / n)), n - 1);
}

/* score = x b + c, or with d > 0  log Gamma(x + a) / Gamma(a) + x b + c. */
static cri_nb_entry poisson_entry(const cri_nb *m, size_t cell, const cri_nb_overall *o)
{
    double n = m->weight[cell], all = o->mean > 0 ? o->mean : 1, rate = n > 0 ? m->mean[cell] : all;
    double rows = m->shrunk ? n + 1 : n, prior = m->shrunk && o->mean > 0 ? all : 0.5;
    double shape = n * m->mean[cell] + prior;
    rate = fmax(rate, o->mean > 0 ? m->floor * all : all);
    if (!(m->shrunk || m->bayes) || !(n > 0)) return (cri_nb_entry){ rate, log(rate), -rate, 0 };
    return (cri_nb_entry){ shape, -log1p(rows), -shape * log1p(1 / rows), 1 };
}

/* a = log p, b = log(1 - p), c = p. */
static cri_nb_entry bernoulli_entry(const cri_nb *m, size_t cell)
{
    double n = m->weight[cell], all = n + 2 * m->smoothing, ones = n * m->mean[cell];
    double p = all > 0 ? (ones + m->smoothing) / all : 0.5;
    double q = all > 0 ? (n - ones + m->smoothing) / all : 0.5;
    return (cri_nb_entry){ log(p), log(q), p, 0 };
}

/* a = the Dirichlet's parameter, b = log theta, c = theta; of all such terms of class k. */
static void multinomial_entries(cri_nb *m, size_t k)
{
    double sum = 0, columns = 0;
    for (int round = 0; round < 2; round++)
        for (size_t j = 0; j < m->p; j++) {
            if (cri_nb_kind_of(m, j) != CRI_NB_MULTINOMIAL) continue;
            double a = m->weight[k * m->p + j] * m->mean[k * m->p + j] + m->smoothing;
            double theta = sum > 0 ? a / sum : 1 / columns;
            if (round == 0)
                sum += a, columns++;
            else
                m->entry[j * m->K + k] = (cri_nb_entry){ a, log(theta), theta, 0 };
        }
}

static void category_entries(const cr_design *d, cri_nb *m, size_t j)
{
    size_t levels = cri_term_levels(d, j);
    for (size_t k = 0; k < m->K; k++) {
        size_t at = k * m->L + m->first[j];
        double all = m->weight[k * m->p + j] + m->smoothing * (double)levels;
        for (size_t l = 0; l < levels; l++)
            m->log_level[at + l] =
                all > 0 ? log((m->count[at + l] + m->smoothing) / all) : -log((double)levels);
    }
}

static void make_term(const cr_design *d, cri_nb *m, size_t j, const cri_nb_overall *o)
{
    cri_nb_kind kind = cri_nb_kind_of(m, j);
    if (kind == CRI_NB_CATEGORY) category_entries(d, m, j);
    for (size_t k = 0; k < m->K; k++) {
        size_t        cell = k * m->p + j;
        cri_nb_entry *e = &m->entry[j * m->K + k];
        if (kind == CRI_NB_GAUSSIAN) *e = gaussian_entry(m, cell, o);
        if (kind == CRI_NB_KERNEL)
            *e = normal(o->mean, o->variance); /* of a class without values */
        if (kind == CRI_NB_POISSON) *e = poisson_entry(m, cell, o);
        if (kind == CRI_NB_BERNOULLI) *e = bernoulli_entry(m, cell);
    }
}

cr_status cri_nb_prepare(cr_ctx *cx, const cr_design *d, cri_nb *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *spread = cr_scratch_f64(&s, m->p);

    m->entry = cr_alloc(cx, m->p * m->K, sizeof *m->entry);
    if (!m->entry) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    m->prior_rows = m->shrunk ? cri_nb_prior_rows(m) : 0;
    for (size_t j = 0; j < m->p; j++) {
        cri_nb_overall o = cri_nb_sum_up(m, j);
        spread[j] = sqrt(o.variance);
        make_term(d, m, j, &o);
    }
    for (size_t k = 0; k < m->K; k++) multinomial_entries(m, k);
    cri_nb_set_bandwidths(m, spread);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- likelihood ------------------------------------------------------------------------------ */

static double times(double n, double log_p) { return n > 0 ? n * log_p : 0; }

/* Of one term in one class at the estimates; log_shared is added elsewhere. */
static double term_likelihood(const cri_nb *m, size_t j, size_t k, const cri_nb_overall *o)
{
    size_t              cell = k * m->p + j;
    const cri_nb_entry *e = &m->entry[j * m->K + k];
    double              n = m->weight[cell], mean = m->mean[cell];
    if (!(n > 0)) return 0;
    switch (cri_nb_kind_of(m, j)) {
    case CRI_NB_GAUSSIAN: {
        double v = variance_of(m, cell, o);
        return -n * (CRI_HALF_LOG_2PI + 0.5 * log(v)) - m->scatter[cell] / (2 * v);
    }
    case CRI_NB_POISSON: {
        double rate = e->d > 0 ? mean : e->a;
        return times(n * mean, log(rate)) - n * rate;
    }
    case CRI_NB_BERNOULLI:
        return times(n * mean, e->a) + times(n - n * mean, e->b);
    case CRI_NB_MULTINOMIAL:
        return n == m->class_weight[k] ? times(n * mean, e->b)
                                       : NAN; /* gaps change what is summed */
    default:
        return NAN;
    }
}

double cri_nb_log_likelihood(const cri_nb *m)
{
    double sum = m->log_shared;
    for (size_t j = 0; j < m->p; j++) {
        cri_nb_overall o = cri_nb_sum_up(m, j);
        for (size_t k = 0; k < m->K && cri_nb_kind_of(m, j) != CRI_NB_CATEGORY; k++)
            sum += term_likelihood(m, j, k, &o);
    }
    for (size_t k = 0; k < m->K; k++) {
        sum += times(m->class_weight[k], m->log_prior[k]);
        for (size_t l = 0; l < m->L; l++)
            sum += times(m->count[k * m->L + l], m->log_level[k * m->L + l]);
    }
    return sum;
}
