/* kmeans_stream.c -- Lloyd's steps over a stream whose rows are not kept: one pass each.
 * A pass gives every row to its nearest centre and adds up sizes, sums and squares, the blocks in their order; the
 * centres of the next pass are the means.  O(n k p) a pass, O(k p) memory beside a block. */
#include "kmeans.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "models/core/passes.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

static const double ENOUGH = 1e-6; /* a pass costs reading all rows: it must gain this share */

/* For each cluster sum w t [p], sum w (t - c)^2 [p] and sum w; then the inertia. */
typedef struct totals {
    const cri_kmeans *m;
    const cri_rows   *rows;
    double           *sum, *part; /* [width] of all blocks, of one */
} totals;

static size_t width_of(const cri_kmeans *m) { return m->k * (2 * m->p + 1) + 1; }

static void add_block(void *arg, cri_range range, double *acc, double *T)
{
    const totals     *s = arg;
    const cri_kmeans *m = s->m;
    size_t            p = m->p, each = 2 * p + 1;
    cri_rows_fill(s->rows, range.begin, range.end, T, p);
    for (size_t i = range.begin; i < range.end; i++) {
        double *t = T + (i - range.begin) * p, w = s->rows->w ? s->rows->w[i] : 1, square;
        for (size_t j = 0; j < p; j++) t[j] = (t[j] - m->shift[j]) / m->scale[j];
        size_t  c = cri_kmeans_nearest(m, t, &square);
        double *a = acc + c * each;
        for (size_t j = 0; j < p; j++) {
            double e = t[j] - m->centre[c * p + j];
            a[j] += w * t[j], a[p + j] += w * e * e;
        }
        a[2 * p] += w;
        acc[m->k * each] += w * square;
    }
}

static cr_status take_block(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    totals *s = arg;
    size_t  width = width_of(s->m);
    s->rows = rows;
    cr_status st = cri_parallel_sum_in(cx, NULL, rows->n, BLOCK, width, BLOCK * s->m->p, add_block,
                                       s, s->part);
    for (size_t i = 0; i < width && st == CR_OK; i++) s->sum[i] += s->part[i];
    return st;
}

/* What the last pass says of the centres that it was made with. */
static void take_totals(const totals *s, cri_kmeans *m)
{
    size_t p = m->p, each = 2 * p + 1;
    for (size_t c = 0; c < m->k; c++) {
        const double *a = s->sum + c * each;
        double        size = m->size[c] = a[2 * p];
        for (size_t j = 0; j < p; j++)
            m->sd[c * p + j] = size > 1 ? sqrt(a[p + j] / (size - 1) / size) : INFINITY;
    }
    m->inertia = s->sum[m->k * each];
}

static void move_centres(const totals *s, cri_kmeans *m)
{
    size_t p = m->p, each = 2 * p + 1;
    for (size_t c = 0; c < m->k; c++) /* one without rows stays */
        for (size_t j = 0; j < p && s->sum[c * each + 2 * p] > 0; j++)
            m->centre[c * p + j] = s->sum[c * each + j] / s->sum[c * each + 2 * p];
}

/* Clusters by their sizes, which the passes have changed. */
static cr_status put_in_order(cr_ctx *cx, cri_kmeans *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = m->p, k = m->k, *order = cr_scratch_index(&s, k);
    double    *was = cr_scratch_matrix(&s, k, 2 * p + 1);
    CR_TRY(s.status);
    cri_kmeans_order(k, p, m->size, m->centre, order);
    memcpy(was, m->centre, k * p * sizeof *was);
    memcpy(was + k * p, m->sd, k * p * sizeof *was);
    memcpy(was + 2 * k * p, m->size, k * sizeof *was);
    for (size_t c = 0; c < k; c++) {
        memcpy(m->centre + c * p, was + order[c] * p, p * sizeof *was);
        memcpy(m->sd + c * p, was + (k + order[c]) * p, p * sizeof *was);
        m->size[c] = was[2 * k * p + order[c]];
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_kmeans_pass_stream(cr_ctx *cx, const cri_rows *rows, const cri_kmeans_limits *limits,
                                 cri_kmeans *m, bool *out_cut)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    totals     s = { .m = m };
    double     enough = fmax(limits->tol, ENOUGH);

    s.sum = cr_scratch_f64(&scratch, width_of(m));
    s.part = cr_scratch_f64(&scratch, width_of(m));
    CR_TRY(scratch.status);
    cr_free(cx, m->trace, m->iterations, sizeof *m->trace);
    m->trace = NULL, m->iterations = 0, m->converged = false;
    for (;;) {
        double before = m->iterations > 0 ? m->inertia : INFINITY, *trace;
        memset(s.sum, 0, width_of(m) * sizeof *s.sum);
        CR_TRY(cri_passes_each(cx, rows->passes, take_block, &s));
        take_totals(&s, m);
        trace = cr_resize(cx, m->trace, m->iterations, m->iterations + 1, sizeof *trace);
        if (!trace) CR_TRY(CR_ENOMEM);
        m->trace = trace, trace[m->iterations++] = m->inertia;
        cri_progress_steps(cx, (double)m->iterations);
        m->converged = isfinite(before) && before - m->inertia <= enough * before;
        *out_cut = !m->converged && cri_clock_over(limits->clock);
        if (m->converged || *out_cut || m->iterations == limits->max_iter) break;
        move_centres(&s, m);
    }
    CR_TRY(put_in_order(cx, m));
done:
    cr_scratch_end(&scratch);
    return st;
}
