/* bayes_answer.c -- the predictive probabilities of Bayesian logistic regression.
 * By Laplace the scores of a row are normal: with two classes the logistic function is integrated
 * over one normal, to 1e-12; with three or four the softmax over as many, by a grid
 * (softmax_grid.h), to 1e-6 unless they are very wide; with more by a lattice (softmax_normal.h).
 * With draws the answer is their mean; of a mixture of normals, as alpha is averaged over, the mean over
 * its parts.  Intervals are of the probability under the posterior. */
#include "bayes_logistic.h"
#include "models/common/normal_mixture.h"
#include "models/common/softmax_grid.h"
#include "models/common/softmax_normal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64 };

double cri_logistic_normal(double mean, double sd)
{
    double sum = 0;
    if (!(sd > 0)) return cr_sigmoid(mean);
    if (sd <= 2) { /* E sigmoid(mean + sd x), x normal: poles at distance pi / sd */
        const double h = 0.25;
        for (int k = -36; k <= 36; k++)
            sum += cr_sigmoid(mean + sd * k * h) * exp(-0.5 * (k * h) * (k * h));
        return fmin(sum * h / sqrt(2 * M_PI), 1);
    }
    const double h = 0.5; /* E Phi((mean + t) / sd), t logistic */
    for (int k = -76; k <= 76; k++) {
        double e = exp(-fabs(k * h));
        sum += cr_norm_cdf((mean + k * h) / sd) * e / ((1 + e) * (1 + e));
    }
    return fmin(sum * h, 1);
}

typedef struct answer_work {
    const cri_bayes_logistic *m;
    const cri_rows           *rows;
    size_t                    n_points;
    const double             *points; /* [n_points x M] normals */
    double                   *prob;   /* [n x K] */
} answer_work;

static size_t workspace_size(const cri_bayes_logistic *m)
{
    return BLOCK * m->p + m->q + m->D + 2 * m->M * m->M + 5 * (m->M + 1);
}

/* --- the normals of the posterior ------------------------------------------------------------ */

/* Part k of the posterior, or all of it. */
typedef struct normal_part {
    double        share;
    const double *mean, *covariance; /* [D], [D x D] */
} normal_part;

static size_t count_parts(const cri_bayes_logistic *m) { return m->parts ? m->parts : 1; }

static normal_part part_of(const cri_bayes_logistic *m, size_t k)
{
    if (!m->parts) return (normal_part){ 1, m->mode, m->covariance };
    return (normal_part){ m->share[k], m->part_mean + k * m->D,
                          m->part_covariance + k * m->D * m->D };
}

/* Scores of a row z at theta. */
static void score(const cri_bayes_logistic *m, const double *theta, const double *z, double *e)
{
    for (size_t k = 0; k < m->M; k++) {
        e[k] = 0;
        for (size_t j = 0; j < m->q; j++) e[k] += theta[k * m->q + j] * z[j];
    }
}

/* C [M x M] = the covariance of the scores: z' S_kl z; v [D] is workspace. */
static void spread_of(const cri_bayes_logistic *m, const double *covariance, const double *z,
                      double *v, double *C)
{
    size_t M = m->M, q = m->q;
    for (size_t l = 0; l < M; l++) {
        for (size_t a = l * q; a < m->D; a++) {
            v[a] = 0;
            for (size_t j = 0; j < q; j++) v[a] += covariance[a * m->D + l * q + j] * z[j];
        }
        for (size_t k = l; k < M; k++) {
            C[k * M + l] = 0;
            for (size_t j = 0; j < q; j++) C[k * M + l] += z[j] * v[k * q + j];
            C[l * M + k] = C[k * M + l];
        }
    }
}

/* p [M + 1]: of the vectors, and of the reference where M = 1. */
static void answer_normal(const answer_work *w, normal_part part, const double *z,
                          double *workspace, double *p)
{
    const cri_bayes_logistic *m = w->m;
    double *v = workspace, *C = v + m->D, *e = C + m->M * m->M, *shifted = e + m->M + 1;
    score(m, part.mean, z, e);
    spread_of(m, part.covariance, z, v, C);
    if (m->M == 1) {
        double sd = sqrt(fmax(C[0], 0));
        p[0] = cri_logistic_normal(e[0], sd);
        p[1] = cri_logistic_normal(-e[0], sd);
        return;
    }
    if (m->M <= CRI_GRID_SCORES) {
        cri_softmax_grid(m->M, e, C, p);
        return;
    }
    cri_factor_small(C, m->M);
    cri_softmax_normal(w->points, w->n_points, m->M, e, C, shifted, p);
}

/* The mean of the answers of all parts; p [M + 1]. */
static void answer_normals(const answer_work *w, const double *z, double *workspace, double *p)
{
    const cri_bayes_logistic *m = w->m;
    double                   *one = workspace, *rest = workspace + m->M + 1;
    if (!m->parts) {
        answer_normal(w, part_of(m, 0), z, rest, p);
        return;
    }
    memset(p, 0, (m->M + 1) * sizeof(double));
    for (size_t k = 0; k < m->parts; k++) {
        answer_normal(w, part_of(m, k), z, rest, one);
        for (size_t c = 0; c < m->M + (m->M == 1); c++) p[c] += m->share[k] * one[c];
    }
}

static void answer_draws(const answer_work *w, const double *z, double *e, double *p)
{
    const cri_bayes_logistic *m = w->m;
    double                    share = 1 / (double)m->R;
    memset(p, 0, (m->M + 1) * sizeof(double));
    for (size_t i = 0; i < m->R; i++) {
        score(m, m->draws + i * m->D, z, e);
        if (m->M == 1) {
            p[0] += share * cr_sigmoid(e[0]);
            p[1] += share * cr_sigmoid(-e[0]);
            continue;
        }
        cr_softmax(e, m->M, e);
        for (size_t k = 0; k < m->M; k++) p[k] += share * e[k];
    }
}

/* z [q] of the terms x [p]. */
static void standardise(const cri_bayes_logistic *m, const double *x, double *z)
{
    if (m->intercept) z[0] = 1;
    for (size_t j = 0; j < m->p; j++) z[m->intercept + j] = (x[j] - m->centre[j]) / m->scale[j];
}

static void answer_row(const answer_work *w, const double *x, double *workspace, double *prob)
{
    const cri_bayes_logistic *m = w->m;
    double                   *z = workspace, *p = z + m->q, *rest = p + m->M + 1, sum = 0;
    standardise(m, x, z);
    if (m->R == 0)
        answer_normals(w, z, rest, p);
    else
        answer_draws(w, z, rest, p);
    for (size_t k = 0; k < m->K; k++) sum += prob[k] = m->place[k] < 0 ? 0 : p[(size_t)m->place[k]];
    for (size_t k = 0; k < m->K; k++) prob[k] /= sum; /* of the rules' errors: 1 to 1e-12 */
}

/* workspace: the rows X [BLOCK x p], and what a row needs. */
static void answer_block(void *arg, cri_range r, double *workspace)
{
    const answer_work        *w = arg;
    const cri_bayes_logistic *m = w->m;
    double                   *X = workspace, *rest = workspace + BLOCK * m->p;
    cri_rows_fill(w->rows, r.begin, r.end, X, m->p);
    for (size_t i = r.begin; i < r.end; i++)
        answer_row(w, X + (i - r.begin) * m->p, rest, w->prob + i * m->K);
}

cr_status cri_bayes_logistic_predict(cr_ctx *cx, const cri_bayes_logistic *m, const cri_rows *rows,
                                     cr_prediction *out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    answer_work w = { .m = m, .rows = rows, .prob = out->prob };
    bool        lattice = m->R == 0 && m->M > CRI_GRID_SCORES;
    double     *points = cr_scratch_matrix(&s, lattice ? cri_softmax_count(m->M) : 0, m->M);

    CR_TRY(s.status);
    if (lattice) {
        w.n_points = cri_softmax_count(m->M);
        cri_softmax_points(m->M, w.n_points, points);
        cri_softmax_whiten(m->M, w.n_points, points);
    }
    w.points = points;
    CR_TRY(
        cri_parallel_rows(cx, "predicting", rows->n, BLOCK, workspace_size(m), answer_block, &w));
    CR_TRY(cri_classifier_check(cx, out->prob, rows->n * m->K));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- intervals ------------------------------------------------------------------------------- */

typedef struct interval_work {
    const cri_bayes_logistic *m;
    const cri_rows           *rows;
    double                    level;
    size_t n_points; /* of the lattice, without mirror images; 0: there are draws, or one score */
    const double *points;
    double       *lower, *upper; /* [n x K] */
} interval_work;

/* How many values of each score there are. */
static size_t count_values(const interval_work *w) { return w->m->R ? w->m->R : 2 * w->n_points; }

static size_t interval_workspace(const interval_work *w)
{
    const cri_bayes_logistic *m = w->m;
    return BLOCK * m->p + m->q + m->D + m->M * m->M + 4 * (m->M + 1) +
           (count_values(w) + 1) * (m->M + 1) + 2 * count_parts(m);
}

/* The ends of the interval of the normal score of two classes; scores [2 parts]. */
static void of_normals(const interval_work *w, const double *z, double *v, double *scores,
                       double *ends)
{
    const cri_bayes_logistic *m = w->m;
    size_t                    parts = count_parts(m);
    double                    tail = (1 - w->level) / 2, *mean = scores, *sd = scores + parts, C;
    for (size_t k = 0; k < parts; k++) {
        score(m, part_of(m, k).mean, z, &mean[k]);
        spread_of(m, part_of(m, k).covariance, z, v, &C);
        sd[k] = sqrt(fmax(C, 0));
    }
    if (m->parts) {
        ends[0] = cri_normal_mixture_quantile(m->parts, m->share, mean, sd, tail);
        ends[1] = cri_normal_mixture_quantile(m->parts, m->share, mean, sd, 1 - tail);
        return;
    }
    double half = -cr_norm_ppf(tail) * sd[0];
    ends[0] = mean[0] - half, ends[1] = mean[0] + half;
}

/* low, high [M + 1]: of two classes.  values [R], or [2 parts] of normals. */
static void of_one_score(const interval_work *w, const double *z, double *v, double *values,
                         double *low, double *high)
{
    const cri_bayes_logistic *m = w->m;
    double                    ends[2];
    for (size_t i = 0; i < m->R; i++) score(m, m->draws + i * m->D, z, values + i);
    if (m->R)
        cri_central_intervals(values, 1, m->R, w->level, ends, ends + 1);
    else
        of_normals(w, z, v, values, ends);
    low[0] = cr_sigmoid(ends[0]), high[0] = cr_sigmoid(ends[1]);
    low[1] = cr_sigmoid(-ends[1]), high[1] = cr_sigmoid(-ends[0]);
}

/* The same of more classes; values [M x count]. */
static void of_scores(const interval_work *w, const double *z, double *workspace, double *values,
                      double *low, double *high)
{
    const cri_bayes_logistic *m = w->m;
    size_t                    M = m->M, count = count_values(w);
    double                   *v = workspace, *C = v + m->D, *mean = C + M * M, *e = mean + M + 1;
    double                    sum = 0;
    for (size_t part = 0, begin = 0, end; !m->R && part < count_parts(m); part++, begin = end) {
        normal_part normal = part_of(m, part); /* has its share of the points, one after another */
        sum += normal.share;
        end = part + 1 < count_parts(m) ? (size_t)round(fmin(sum, 1) * (double)w->n_points)
                                        : w->n_points;
        score(m, normal.mean, z, mean);
        spread_of(m, normal.covariance, z, v, C);
        cri_factor_small(C, M);
        cri_softmax_values(w->points + begin * M, end - begin, M, mean, C, e, count,
                           values + 2 * begin);
    }
    for (size_t i = 0; i < m->R; i++) {
        score(m, m->draws + i * m->D, z, e);
        cr_softmax(e, M, e);
        for (size_t k = 0; k < M; k++) values[k * count + i] = e[k];
    }
    cri_central_intervals(values, M, count, w->level, low, high);
}

static void interval_block(void *arg, cri_range r, double *workspace)
{
    const interval_work      *w = arg;
    const cri_bayes_logistic *m = w->m;
    double *X = workspace, *z = X + BLOCK * m->p, *low = z + m->q, *high = low + m->M + 1;
    double *rest = high + m->M + 1, *values = rest + m->D + m->M * m->M + 2 * (m->M + 1);
    cri_rows_fill(w->rows, r.begin, r.end, X, m->p);
    for (size_t i = r.begin; i < r.end; i++) {
        standardise(m, X + (i - r.begin) * m->p, z);
        if (m->M == 1)
            of_one_score(w, z, rest, values, low, high);
        else
            of_scores(w, z, rest, values, low, high);
        for (size_t k = 0; k < m->K; k++) {
            bool absent = m->place[k] < 0; /* no row of the class was seen */
            w->lower[i * m->K + k] = absent ? 0 : low[(size_t)m->place[k]];
            w->upper[i * m->K + k] = absent ? 0 : high[(size_t)m->place[k]];
        }
    }
}

cr_status cri_bayes_logistic_intervals(cr_ctx *cx, const cri_bayes_logistic *m,
                                       const cri_rows *rows, double level, double *lower,
                                       double *upper)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    interval_work w = { .m = m, .rows = rows, .level = level, .lower = lower, .upper = upper };
    if (m->R == 0 && m->M > 1) w.n_points = CRI_INTERVAL_POINTS;
    double *points = cr_scratch_matrix(&s, w.n_points, m->M);

    CR_TRY(s.status);
    if (w.n_points) {
        cri_softmax_points(m->M, w.n_points, points);
        cri_softmax_whiten(m->M, w.n_points, points);
    }
    w.points = points;
    CR_TRY(cri_parallel_rows(cx, "intervals", rows->n, BLOCK, interval_workspace(&w),
                             interval_block, &w));
done:
    cr_scratch_end(&s);
    return st;
}
