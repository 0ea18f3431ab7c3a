/* rvm_probability.c -- probabilities of classes: the link averaged over the normal of the latent functions.
 * Two classes exactly, three or four by a grid, more by a lattice (models/common); intervals are the quantiles of the
 * score through the link, or those of the softmax at the points of a lattice. */
#include "rvm.h"
#include "models/common/softmax_grid.h"
#include "models/common/softmax_normal.h"
#include "models/gp/classify/classify_link.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { ROWS = 16 };

/* The classes of one row, from mean and covariance of its latent functions. */
typedef struct answers {
    const cri_rvm *m;
    const double  *mean, *cov, *points;
    size_t         n_points;
    double        *prob;
} answers;

static void answer_rows(void *arg, cri_range r, double *workspace)
{
    const answers *w = arg;
    const cri_rvm *m = w->m;
    size_t         F = m->F;
    double        *p = workspace, *softmax = p + F + 1, *L = softmax + F;
    for (size_t i = r.begin; i < r.end; i++) {
        const double *mean = w->mean + i * F, *cov = w->cov + i * F * F;
        double       *out = w->prob + i * m->K, sum = 0;
        if (F == 1) {
            p[1] = cri_classify_probability(CRI_CLASSIFY_LOGIT, mean[0], cov[0]);
            p[0] = cri_classify_probability(CRI_CLASSIFY_LOGIT, -mean[0], cov[0]);
        } else if (w->n_points == 0) {
            cri_softmax_grid(F, mean, cov, p);
        } else {
            memcpy(L, cov, F * F * sizeof *L);
            cri_factor_small(L, F);
            cri_softmax_normal(w->points, w->n_points, F, mean, L, softmax, p);
        }
        for (size_t k = 0; k < m->K; k++)
            sum += out[k] = m->place[k] < 0 ? 0 : p[(size_t)m->place[k]];
        for (size_t k = 0; k < m->K; k++) out[k] /= sum;
    }
}

cr_status cri_rvm_predict_classes(cr_ctx *cx, const cri_rvm *m, const cri_rows *rows,
                                  cr_prediction *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     F = m->F;
    double *mean = cr_scratch_matrix(&s, rows->n, F), *cov = cr_scratch_matrix(&s, rows->n, F * F);
    answers w = { .m = m, .mean = mean, .cov = cov, .prob = out->prob };
    double *points;

    w.n_points = F > CRI_GRID_SCORES ? cri_softmax_count(F) : 0;
    points = cr_scratch_matrix(&s, w.n_points, F);
    CR_TRY(s.status);
    if (w.n_points) {
        cri_softmax_points(F, w.n_points, points);
        cri_softmax_whiten(F, w.n_points, points);
    }
    w.points = points;
    CR_TRY(cri_rvm_latent(cx, m, rows, mean, cov));
    CR_TRY(cri_parallel_rows(cx, NULL, rows->n, ROWS, 2 * F + 1 + F * F, answer_rows, &w));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- intervals ------------------------------------------------------------------------------- */

typedef struct interval_work {
    const cri_rvm *m;
    const double  *mean, *cov, *points;
    size_t         n_points;
    double         level, *lower, *upper;
} interval_work;

static void interval_rows(void *arg, cri_range r, double *workspace)
{
    const interval_work *w = arg;
    const cri_rvm       *m = w->m;
    size_t               F = m->F, K = m->K;
    double              *low = workspace, *high = low + F + 1, *softmax = high + F + 1;
    double              *L = softmax + F, *values = L + F * F;
    for (size_t i = r.begin; i < r.end; i++) {
        const double *mean = w->mean + i * F;
        if (F == 1) {
            double half = -cr_norm_ppf((1 - w->level) / 2) * sqrt(w->cov[i]);
            for (size_t k = 0; k < 2; k++) {
                double score = k ? *mean : -*mean;
                low[k] = cri_classify_probability(CRI_CLASSIFY_LOGIT, score - half, 0);
                high[k] = cri_classify_probability(CRI_CLASSIFY_LOGIT, score + half, 0);
            }
        } else {
            memcpy(L, w->cov + i * F * F, F * F * sizeof *L);
            cri_factor_small(L, F);
            cri_softmax_values(w->points, w->n_points, F, mean, L, softmax, 2 * w->n_points,
                               values);
            cri_central_intervals(values, F, 2 * w->n_points, w->level, low, high);
        }
        for (size_t k = 0; k < K; k++) {
            bool absent = m->place[k] < 0; /* no row of the class was seen */
            w->lower[i * K + k] = absent ? 0 : low[(size_t)m->place[k]];
            w->upper[i * K + k] = absent ? 0 : high[(size_t)m->place[k]];
        }
    }
}

cr_status cri_rvm_probability_intervals(cr_ctx *cx, const void *state, const cri_rows *rows,
                                        double level, double *lower, double *upper)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_rvm *m = state;
    size_t         F = m->F;
    double *mean = cr_scratch_matrix(&s, rows->n, F), *cov = cr_scratch_matrix(&s, rows->n, F * F);
    interval_work w = {
        .m = m, .mean = mean, .cov = cov, .level = level, .lower = lower, .upper = upper
    };
    w.n_points = F > 1 ? CRI_INTERVAL_POINTS : 0;
    double *points = cr_scratch_matrix(&s, w.n_points, F);
    CR_TRY(s.status);
    if (w.n_points) {
        cri_softmax_points(F, w.n_points, points);
        cri_softmax_whiten(F, w.n_points, points);
    }
    w.points = points;
    CR_TRY(cri_rvm_latent(cx, m, rows, mean, cov));
    CR_TRY(cri_parallel_rows(cx, NULL, rows->n, ROWS, 3 * F + 2 + F * F + 2 * F * w.n_points,
                             interval_rows, &w));
done:
    cr_scratch_end(&s);
    return st;
}
