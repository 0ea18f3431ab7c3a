/* classify_mixture.c -- predictions averaged over settings of the hyper-parameters. */
#include "classify_mixture.h"
#include "classify_normals.h"
#include "models/common/normal_mixture.h"
#include "models/common/softmax_normal.h"
#include "base/scratch.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK = 2048,
    LEAST_CHUNK = 32,
    ROWS = 16
};                  /* rows that share factors; of a thread at a time */
enum { PARTS = 8 }; /* a setting has that share of the points */

/* Some rows on their way: what each setting says of them, and what becomes of that. */
typedef struct mixture mixture;
struct mixture {
    const cri_classify *m;
    cri_classify        one; /* that of a setting; shares the inputs of m */
    double             *K;   /* [n x n]                                   */
    size_t              begin, count;
    double             *mean; /* [chunk x settings x F]                                         */
    double             *cov;  /* [chunk x settings x F x F]; of one function the sd             */
    size_t              n_points, work_size;
    double             *points; /* [n_points x F] of a lattice                                  */
    /* of one row: mean and cov of all settings; work [work_size] */
    void (*answer)(const mixture *x, size_t row, const double *mean, const double *cov,
                   double *work);
    double level, *out, *lower, *upper; /* of all rows                          */
};

/* The normal of setting s. */
static cr_status set(cr_ctx *cx, mixture *x, size_t s)
{
    cr_status       st = CR_OK;
    cri_classify   *one = &x->one;
    size_t          n = x->m->n, F = x->m->F;
    cr_kernel_input in = cri_gp_inputs(&x->m->gp.at);
    double          log_det;
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(cr_kernel_set_theta(cx, one->gp.kernel, x->m->thetas + s * x->m->n_theta));
    CR_TRY(cri_kernel_settle(cx, one->gp.kernel));
    CR_TRY(cr_kernel_gram(cx, one->gp.kernel, &in, CR_FILL_BOTH, cr_mat_of(x->K, n, n)));
    one->latent = x->m->latents + s * F * n;
    one->root = x->m->roots + s * F * n;
    if (F > 1 && one->infer != CRI_CLASSIFY_BOUND)
        CR_TRY(cri_laplace_couple(cx, n, F, x->K, one->root, one->factor, one->gp.L, &log_det));
    CR_TRY(cri_laplace_factor_each(cx, n, F, x->K, one->root, F > 1 ? one->factor : one->gp.L));
done:
    return st;
}

static void answer_rows(void *arg, cri_range r, double *work)
{
    const mixture *x = arg;
    size_t         F = x->m->F, S = x->m->settings;
    for (size_t i = r.begin; i < r.end; i++)
        x->answer(x, x->begin + i, x->mean + i * S * F, x->cov + i * S * F * F, work);
}

/* What setting s says of the rows of b, the first of which is row `first` of the chunk. */
static void take(const mixture *x, const cri_classify_block *b, size_t first, size_t s)
{
    size_t F = x->m->F, S = x->m->settings;
    for (size_t i = 0; i < b->count; i++) {
        size_t at = (first + i) * S + s;
        for (size_t c = 0; c < F; c++) x->mean[at * F + c] = b->mean[c * b->count + i];
        memcpy(x->cov + at * F * F, b->cov + i * F * F, F * F * sizeof *x->cov);
        if (F == 1) x->cov[at] = sqrt(x->cov[at]);
    }
}

/* The normals of a range of rows, by every setting. */
static cr_status find_normals(cr_ctx *cx, mixture *x, const cri_rows *rows, cri_range r,
                              cri_classify_block *b)
{
    cr_status st = CR_OK;
    x->begin = r.begin, x->count = r.end - r.begin;
    for (size_t s = 0; s < x->m->settings; s++) {
        CR_TRY(set(cx, x, s));
        for (size_t k = 0; k < cri_block_count(x->count, CRI_CLASSIFY_BLOCK); k++) {
            cri_range part = cri_block_range(x->count, CRI_CLASSIFY_BLOCK, k), all = part;
            all.begin += r.begin, all.end += r.begin;
            CR_TRY(cri_classify_normals(cx, rows, all, b));
            take(x, b, part.begin, s);
        }
    }
done:
    return st;
}

/* Memory of the rows, and of the normal of a setting. */
static cr_status prepare(cr_scratch *s, mixture *x, size_t chunk)
{
    const cri_classify *m = x->m;
    size_t              n = m->n, F = m->F;
    x->one = *m;
    x->one.gp.kernel = NULL;
    x->one.sparse = false;
    if (m->sparse) x->one.infer = CRI_CLASSIFY_BOUND;
    x->one.gp.L = cr_scratch_matrix(s, n, n);
    if (F > 1) x->one.factor = cr_scratch_matrix(s, F * n, n);
    x->K = cr_scratch_matrix(s, n, n);
    x->mean = cr_scratch_matrix(s, chunk, m->settings * F);
    x->cov = cr_scratch_matrix(s, chunk, m->settings * F * F);
    x->points = cr_scratch_matrix(s, x->n_points, F);
    if (s->status != CR_OK || x->n_points == 0) return s->status;
    cri_softmax_points(F, x->n_points, x->points);
    cri_softmax_whiten(F, x->n_points, x->points);
    return CR_OK;
}

static cr_status answer(cr_ctx *cx, mixture *x, const cri_rows *rows)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cri_classify *m = x->m;
    size_t              chunk = CHUNK / m->F;
    cri_classify_block  b;

    if (chunk < LEAST_CHUNK) chunk = LEAST_CHUNK;
    CR_TRY(prepare(&s, x, rows->n < chunk ? rows->n : chunk));
    CR_TRY(cr_kernel_copy(cx, m->gp.kernel, &x->one.gp.kernel));
    CR_TRY(cri_classify_block_new(&s, &x->one, rows->p, cri_classify_rows(rows), 0, &b));
    for (size_t k = 0; k < cri_block_count(rows->n, chunk); k++) {
        CR_TRY(find_normals(cx, x, rows, cri_block_range(rows->n, chunk, k), &b));
        CR_TRY(cri_parallel_rows(cx, NULL, x->count, ROWS, x->work_size, answer_rows, x));
    }
done:
    cr_kernel_free(cx, x->one.gp.kernel);
    cr_scratch_end(&s);
    return st;
}

/* --- probabilities ---------------------------------------------------------------------------- */

/* p [F, or 2] := those of setting s; work [(F + 3) F]. */
static void set_probability(const mixture *x, const double *mean, const double *cov, double *work,
                            double *p)
{
    cri_classify_link link = (cri_classify_link)x->m->link;
    if (x->m->F == 1) {
        p[0] = cri_classify_probability(link, mean[0], cov[0] * cov[0]);
        p[1] = cri_classify_probability(link, -mean[0], cov[0] * cov[0]);
    } else
        cri_classify_softmax(x->m->F, x->points, x->n_points, mean, cov, work, p);
}

static void answer_probability(const mixture *x, size_t row, const double *mean, const double *cov,
                               double *work)
{
    const cri_classify *m = x->m;
    size_t              F = m->F, C = F > 1 ? F : 2;
    double             *all = work, *p = all + C, sum = 0, *to = x->out + row * m->K;
    memset(all, 0, C * sizeof *all);
    for (size_t s = 0; s < m->settings; s++) {
        set_probability(x, mean + s * F, cov + s * F * F, p + C, p);
        for (size_t c = 0; c < C; c++) all[c] += m->shares[s] * p[c];
    }
    for (size_t c = 0; c < C; c++) sum += all[c];
    for (size_t k = 0; k < m->K; k++) to[k] = m->place[k] < 0 ? 0 : all[(size_t)m->place[k]] / sum;
}

cr_status cri_classify_mixture_predict(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                                       cr_prediction *out)
{
    mixture x = { .m = m,
                  .answer = answer_probability,
                  .n_points = m->F > 1 ? cri_classify_points(m->F, PARTS) : 0,
                  .work_size = (m->F + 6) * (m->F + 1),
                  .out = out->prob };
    return answer(cx, &x, rows);
}

/* --- intervals -------------------------------------------------------------------------------- */

/* low, high [2]: the quantiles of the one latent function, through the link. */
static void ends_of_two(const mixture *x, const double *mean, const double *sd, double *low,
                        double *high)
{
    const cri_classify *m = x->m;
    cri_classify_link   link = (cri_classify_link)m->link;
    double              tail = (1 - x->level) / 2;
    double              f0 = cri_normal_mixture_quantile(m->settings, m->shares, mean, sd, tail);
    double f1 = cri_normal_mixture_quantile(m->settings, m->shares, mean, sd, 1 - tail);
    low[0] = cri_classify_probability(link, f0, 0), high[0] = cri_classify_probability(link, f1, 0);
    low[1] = cri_classify_probability(link, -f1, 0);
    high[1] = cri_classify_probability(link, -f0, 0);
}

/* low, high [F]: the quantiles of the softmax at points of the lattice, dealt to the settings by their shares; work
 * [F + F F + 2 F n_points]. */
static void ends_of_many(const mixture *x, const double *mean, const double *cov, double *work,
                         double *low, double *high)
{
    const cri_classify *m = x->m;
    size_t              F = m->F, from = 0, count = 2 * x->n_points;
    double             *softmax = work, *L = softmax + F, *values = L + F * F, below = 0;
    for (size_t s = 0; s < m->settings; s++) {
        below += m->shares[s];
        size_t to = (size_t)(below * (double)x->n_points + 0.5);
        if (s + 1 == m->settings || to > x->n_points) to = x->n_points;
        memcpy(L, cov + s * F * F, F * F * sizeof *L);
        cri_factor_small(L, F);
        cri_softmax_values(x->points + from * F, to - from, F, mean + s * F, L, softmax, count,
                           values + 2 * from);
        from = to;
    }
    cri_central_intervals(values, F, count, x->level, low, high);
}

static void answer_interval(const mixture *x, size_t row, const double *mean, const double *cov,
                            double *work)
{
    const cri_classify *m = x->m;
    double             *low = work, *high = low + m->F + 1;
    if (m->F == 1)
        ends_of_two(x, mean, cov, low, high);
    else
        ends_of_many(x, mean, cov, high + m->F + 1, low, high);
    for (size_t k = 0; k < m->K; k++) {
        bool absent = m->place[k] < 0; /* no row of the class was seen */
        x->lower[row * m->K + k] = absent ? 0 : low[(size_t)m->place[k]];
        x->upper[row * m->K + k] = absent ? 0 : high[(size_t)m->place[k]];
    }
}

cr_status cri_classify_mixture_intervals(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                                         double level, double *lower, double *upper)
{
    size_t  F = m->F, points = F > 1 ? CRI_INTERVAL_POINTS : 0;
    mixture x = { .m = m,
                  .answer = answer_interval,
                  .n_points = points,
                  .work_size = 2 * (F + 1) + F + F * F + 2 * F * points,
                  .level = level,
                  .lower = lower,
                  .upper = upper };
    return answer(cx, &x, rows);
}

/* --- latent functions ------------------------------------------------------------------------- */

/* Mean and sd of the mixture. */
static void answer_latent(const mixture *x, size_t row, const double *mean, const double *cov,
                          double *work)
{
    const cri_classify *m = x->m;
    size_t              F = m->F;
    (void)work;
    for (size_t c = 0; c < F; c++) {
        double centre = 0, square = 0, *to = x->out + (row * F + c) * 2;
        for (size_t s = 0; s < m->settings; s++) centre += m->shares[s] * mean[s * F + c];
        for (size_t s = 0; s < m->settings; s++) {
            double own = cov[s * F * F + c * F + c];
            square +=
                m->shares[s] * ((F == 1 ? own * own : own) + pow(mean[s * F + c] - centre, 2));
        }
        to[0] = centre;
        to[1] = sqrt(square);
    }
}

cr_status cri_classify_mixture_latent(cr_ctx *cx, const cri_classify *m, const cri_rows *rows,
                                      double *out)
{
    mixture x = { .m = m, .answer = answer_latent, .out = out };
    return answer(cx, &x, rows);
}
