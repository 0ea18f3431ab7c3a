/* bayes_shrink.c -- naive Bayes: classes with few rows lean on all rows.
 * The means of the classes in normal term j are drawn around a common one,
 *   m_jk ~ N(m_j, v_j / c),   c = prior_rows: one number for all terms,
 * so that the prior of a class is worth c rows at the mean over all.  Given c, with m_j and v_j integrated out under
 * flat priors of m_j and log v_j, the evidence of the means of a term follows from the statistics (restricted likelihood
 * of one-way random effects):
 *   a_k = 1/c + 1/n_k,   W = sum of squares within the K classes, with N - K degrees of freedom,
 *   Q = sum (mean_k - mu)^2 / a_k,   mu the mean of the means by weights 1/a_k,
 *   log L = - sum log a_k / 2 - log(sum 1/a_k) / 2 - (N - 1) log(1 + Q / W) / 2.
 * c is the posterior mean of log c on a grid, under a normal prior of log c: smooth in the statistics, which therefore
 * merge, repeat and stream as ever.  A variance has a prior of 3 rows with the spread within all classes:
 *   s^2 = (3 v + S + c n / (c + n) (mean - m)^2) / (3 + n),
 *   x ~ t with 3 + n degrees of freedom about (c m + n mean) / (c + n), scale s sqrt(1 + 1 / (c + n)).
 * O(p K) for each point of the grid.  Robinson (1991), Statistical Science 6; Gelman et al. (2013), Bayesian Data
 * Analysis, sec. 3.3, 5.4. */
#include "bayes_columns.h"
#include "math/special/special.h"

#include <math.h>

enum { POINTS = 41 };
static const double LEAST = -4.6, MOST = 6.9; /* log c: from a hundredth of a row to a thousand */
static const double PRIOR_SD = 2;             /* of log c, about one row                        */
static const double VARIANCE_ROWS = 3;

/* Adds the log likelihood of each log c by the means of term j. */
static void add_term(const cri_nb *m, size_t j, double *log_l)
{
    cri_nb_overall o = cri_nb_sum_up(m, j);
    double         W = fmax(o.within, m->floor * o.variance) * o.n;
    if (o.constant || o.classes < 2 || !(o.n > o.classes)) return;
    for (size_t i = 0; i < POINTS; i++) {
        double c = exp(LEAST + (MOST - LEAST) * (double)i / (POINTS - 1));
        double logs = 0, sum = 0, mean = 0, Q = 0;
        for (size_t k = 0; k < m->K; k++) {
            double n = m->weight[k * m->p + j], weight = c * n / (c + n);
            if (!(n > 0)) continue;
            double off = m->mean[k * m->p + j] - o.mean - mean;
            logs += log(weight);
            sum += weight;
            mean += weight / sum * off;
            Q += weight * off * (m->mean[k * m->p + j] - o.mean - mean);
        }
        log_l[i] += 0.5 * (logs - log(sum) - (o.n - 1) * log1p(Q / W));
    }
}

double cri_nb_prior_rows(const cri_nb *m)
{
    double log_l[POINTS] = { 0 }, top = -INFINITY, sum = 0, mean = 0;
    for (size_t j = 0; j < m->p; j++)
        if (cri_nb_kind_of(m, j) == CRI_NB_GAUSSIAN) add_term(m, j, log_l);
    for (size_t i = 0; i < POINTS; i++) {
        double z = (LEAST + (MOST - LEAST) * (double)i / (POINTS - 1)) / PRIOR_SD;
        log_l[i] -= 0.5 * z * z;
        top = fmax(top, log_l[i]);
    }
    for (size_t i = 0; i < POINTS; i++) {
        double share = exp(log_l[i] - top);
        sum += share;
        mean += share * (LEAST + (MOST - LEAST) * (double)i / (POINTS - 1));
    }
    return exp(mean / sum);
}

cri_nb_entry cri_nb_student_t(double mean, double scale, double dof)
{
    return (cri_nb_entry){ mean, 1 / (scale * sqrt(dof)), cr_student_t_logpdf(0, dof) - log(scale),
                           (dof + 1) / 2 };
}

cri_nb_entry cri_nb_shrunk_normal(const cri_nb *m, size_t cell, const cri_nb_overall *o)
{
    double least = m->floor * o->variance, n = m->weight[cell], c = m->prior_rows, all = c + n;
    double within = o->within > least && o->n > o->classes ? o->within * o->n / (o->n - o->classes)
                                                           : o->variance;
    double off = n > 0 ? m->mean[cell] - o->mean : 0, dof = VARIANCE_ROWS + n;
    double square = VARIANCE_ROWS * within + c * n / all * off * off;
    if (n > 0) square += m->scatter[cell];
    double scale = sqrt(fmax(square / dof, least) * (1 + 1 / all));
    return cri_nb_student_t(o->mean + n / all * off, scale, dof);
}
