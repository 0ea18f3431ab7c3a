/* classify_predict.c -- latent normals and probabilities of new rows.
 * Two classes: the likelihood averaged over one normal, exactly or to 1e-12.  Three or four: over
 * as many normals by a grid (softmax_grid.h), to 1e-6 and better unless they are very wide.  More:
 * by a lattice of points and their mirror images (softmax_normal.h), scaled to have unit
 * covariance, 8192 in all, which start at each class in turn, so that no class is preferred; the
 * error is about 1e-3.  Intervals of probabilities: the quantiles of the latent function through the link, or, with
 * more than two classes, those of the softmax at 4096 points of the lattice.  Averages over hyper-parameters: see classify_mixture.h. */
#include "classify_mixture.h"
#include "classify_normals.h"
#include "models/common/softmax_normal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { ROWS = 16 };

typedef cri_classify_block block;

/* --- probabilities --------------------------------------------------------------------------- */

static void answer_rows(void *arg, size_t number)
{
    const block        *b = arg;
    const cri_classify *m = b->m;
    size_t              F = m->F, K = m->K;
    cri_range           r = cri_block_range(b->count, ROWS, number);
    for (size_t i = r.begin; i < r.end; i++) {
        double *cov = b->cov + i * F * F, *p = b->prob + i * K, sum = 0;
        double *mean = b->work + cri_classify_work(F) * i, *out = mean + F, *workspace = out + F,
               two[2];
        for (size_t c = 0; c < F; c++) mean[c] = b->mean[c * b->count + i];
        if (F == 1) {
            two[0] = cri_classify_probability((cri_classify_link)m->link, mean[0], cov[0]);
            two[1] = cri_classify_probability((cri_classify_link)m->link, -mean[0], cov[0]);
            out = two;
        } else {
            cri_classify_softmax(F, b->points, b->n_points, mean, cov, workspace, out);
        }
        for (size_t k = 0; k < K; k++) sum += p[k] = m->place[k] < 0 ? 0 : out[(size_t)m->place[k]];
        for (size_t k = 0; k < K; k++) p[k] /= sum;
    }
}

/* By one normal for each row. */
static cr_status predict_alone(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                               cr_prediction *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    block      b;

    CR_TRY(cri_classify_block_new(&s, m, rows->p, cri_classify_rows(rows),
                                  cri_classify_points(m->F, 1), &b));
    for (size_t k = 0; k < cri_block_count(rows->n, CRI_CLASSIFY_BLOCK); k++) {
        cri_range r = cri_block_range(rows->n, CRI_CLASSIFY_BLOCK, k);
        CR_TRY(cri_classify_normals(cx, rows, r, &b));
        b.prob = out->prob + r.begin * m->K;
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(b.count, ROWS), answer_rows, &b));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_classify_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out)
{
    const cri_classify *m = state;
    cr_status           st = m->settings ? cri_classify_mixture_predict(cx, m, rows, out)
                                         : predict_alone(cx, m, rows, out);
    for (size_t i = 0; st == CR_OK && i < rows->n * m->K; i++)
        if (isnan(out->prob[i]))
            st = cr_fail(cx, CR_ENUMERIC,
                         "the values of a row are so large that its latent function overflows");
    return st;
}

/* --- intervals ------------------------------------------------------------------------------- */

typedef struct interval_work {
    const block *b;
    double       level;
    double      *lower, *upper; /* [count x K] */
} interval_work;

/* low, high [2]: the quantiles of the one latent function, through the link. */
static void ends_of_two(const cri_classify *m, double mean, double variance, double level,
                        double *low, double *high)
{
    cri_classify_link link = (cri_classify_link)m->link;
    double            half = -cr_norm_ppf((1 - level) / 2) * sqrt(fmax(variance, 0));
    low[0] = cri_classify_probability(link, mean - half, 0);
    high[0] = cri_classify_probability(link, mean + half, 0);
    low[1] = cri_classify_probability(link, -mean - half, 0);
    high[1] = cri_classify_probability(link, -mean + half, 0);
}

/* workspace: low, high [F + 1], mean, softmax [F], the covariance [F x F], and the values of the softmax. */
static size_t interval_workspace(const block *b)
{
    size_t F = b->m->F;
    return 4 * F + 2 + F * F + 2 * F * b->n_points;
}

static void interval_rows(void *arg, cri_range r, double *workspace)
{
    const interval_work *w = arg;
    const block         *b = w->b;
    const cri_classify  *m = b->m;
    size_t               F = m->F, K = m->K;
    double *low = workspace, *high = low + F + 1, *mean = high + F + 1, *softmax = mean + F;
    double *L = softmax + F, *values = L + F * F;
    for (size_t i = r.begin; i < r.end; i++) {
        for (size_t c = 0; c < F; c++) mean[c] = b->mean[c * b->count + i];
        memcpy(L, b->cov + i * F * F, F * F * sizeof *L);
        if (F == 1) {
            ends_of_two(m, mean[0], L[0], w->level, low, high);
        } else {
            cri_factor_small(L, F);
            cri_softmax_values(b->points, b->n_points, F, mean, L, softmax, 2 * b->n_points,
                               values);
            cri_central_intervals(values, F, 2 * b->n_points, w->level, low, high);
        }
        for (size_t k = 0; k < K; k++) {
            bool absent = m->place[k] < 0; /* no row of the class was seen */
            w->lower[i * K + k] = absent ? 0 : low[(size_t)m->place[k]];
            w->upper[i * K + k] = absent ? 0 : high[(size_t)m->place[k]];
        }
    }
}

cr_status cri_classify_intervals(cr_ctx *cx, const void *state, const cri_rows *rows, double level,
                                 double *lower, double *upper)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cri_classify *m = state;
    block               b;
    interval_work       w = { .b = &b, .level = level };

    if (m->settings) {
        CR_TRY(cri_classify_mixture_intervals(cx, m, rows, level, lower, upper));
        goto done;
    }
    CR_TRY(cri_classify_block_new(&s, m, rows->p, cri_classify_rows(rows),
                                  m->F > 1 ? CRI_INTERVAL_POINTS : 0, &b));
    for (size_t k = 0; k < cri_block_count(rows->n, CRI_CLASSIFY_BLOCK); k++) {
        cri_range r = cri_block_range(rows->n, CRI_CLASSIFY_BLOCK, k);
        CR_TRY(cri_classify_normals(cx, rows, r, &b));
        w.lower = lower + r.begin * m->K, w.upper = upper + r.begin * m->K;
        CR_TRY(
            cri_parallel_rows(cx, NULL, b.count, ROWS, interval_workspace(&b), interval_rows, &w));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_classify_latent(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cri_classify *m = state;
    size_t              F = m->F;
    block               b;

    if (m->settings) {
        CR_TRY(cri_classify_mixture_latent(cx, m, rows, out));
        goto done;
    }
    CR_TRY(cri_classify_block_new(&s, m, rows->p, cri_classify_rows(rows), 0, &b));
    for (size_t k = 0; k < cri_block_count(rows->n, CRI_CLASSIFY_BLOCK); k++) {
        cri_range r = cri_block_range(rows->n, CRI_CLASSIFY_BLOCK, k);
        CR_TRY(cri_classify_normals(cx, rows, r, &b));
        for (size_t i = 0; i < b.count; i++)
            for (size_t c = 0; c < F; c++) {
                double *to = out + (r.begin + i) * 2 * F + 2 * c;
                to[0] = b.mean[c * b.count + i];
                to[1] = sqrt(b.cov[i * F * F + c * F + c]);
            }
    }
done:
    cr_scratch_end(&s);
    return st;
}

const char *const *cri_classify_labels(const void *state, size_t *out_n)
{
    const cri_classify *m = state;
    *out_n = 2 * m->F;
    return (const char *const *)m->labels;
}
