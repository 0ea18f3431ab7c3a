/* sample.c -- tallies of weighted samples. */
#include "sample.h"
#include "prob/pareto_tail.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum {
    WAVE = 64,
    HASTE = 4,
    BLOCK = 256
};                              /* blocks at a time, and within a time limit; samples of a block */
static const double UNSEEN = 3; /* what n draws have not seen has less than 3 / n, with 95 % */

size_t cri_tally_size(const cri_fgraph *g, const cr_factor *opt_joint)
{
    return 2 * (g->start[g->n] + (opt_joint ? opt_joint->size : 0));
}

cri_tally cri_tally_empty(const cri_fgraph *g, const cr_factor *opt_joint, double *workspace)
{
    size_t size = cri_tally_size(g, opt_joint);
    memset(workspace, 0, size * sizeof *workspace);
    return (cri_tally){ .g = g,
                        .joint = opt_joint,
                        .sum = workspace,
                        .square = workspace + size / 2,
                        .peak = -INFINITY,
                        .missed = NAN };
}

/* Makes sums relative to a new peak. */
static void rescale(cri_tally *t, double peak)
{
    double x = exp(t->peak - peak);
    size_t size = cri_tally_size(t->g, t->joint) / 2;
    for (size_t k = 0; t->kept > 0 && k < size; k++) {
        t->sum[k] *= x;
        t->square[k] *= x * x;
    }
    t->total *= x;
    t->squares *= x * x;
    t->peak = peak;
}

void cri_tally_add(cri_tally *t, const size_t *state, double log_w)
{
    const cri_fgraph *g = t->g;
    if (t->log_w) t->log_w[t->drawn] = log_w;
    t->drawn++;
    if (!(log_w > -INFINITY)) return;
    if (log_w > t->peak) rescale(t, log_w);
    double w = exp(log_w - t->peak);
    t->kept++;
    t->total += w;
    t->squares += w * w;
    for (size_t v = 0; v < g->n; v++) {
        t->sum[g->start[v] + state[v]] += w;
        t->square[g->start[v] + state[v]] += w * w;
    }
    if (!t->joint) return;
    size_t at = g->start[g->n] + cr_factor_index(t->joint, state);
    t->sum[at] += w;
    t->square[at] += w * w;
}

void cri_tally_merge(cri_tally *t, const cri_tally *more)
{
    t->drawn += more->drawn;
    if (more->kept == 0) return;
    if (more->peak > t->peak) rescale(t, more->peak);
    double x = exp(more->peak - t->peak);
    size_t size = cri_tally_size(t->g, t->joint) / 2;
    for (size_t k = 0; k < size; k++) {
        t->sum[k] += x * more->sum[k];
        t->square[k] += x * x * more->square[k];
    }
    t->total += x * more->total;
    t->squares += x * x * more->squares;
    t->kept += more->kept;
}

/* --- drawing --------------------------------------------------------------------------------- */

typedef struct wave {
    const cri_sampler *w;
    size_t             first; /* block */
    cri_tally         *tally; /* [WAVE] */
    double            *counts, *workspace, *log_w;
    size_t            *index;
} wave;

static void draw_block(void *arg, size_t block)
{
    wave              *v = arg;
    const cri_sampler *w = v->w;
    cri_range          r = cri_block_range(w->samples, BLOCK, v->first + block);
    cr_rng             rng = cr_rng_stream(w->seed, w->stream + v->first + block);
    size_t             size = cri_tally_size(w->g, w->joint);
    v->tally[block] = cri_tally_empty(w->g, w->joint, v->counts + block * size);
    v->tally[block].log_w = v->log_w ? v->log_w + r.begin : NULL;
    w->draw(w->arg, &rng, r.end - r.begin, v->workspace + block * w->workspace,
            v->index + block * w->index, &v->tally[block]);
}

cr_status cri_sample(cr_ctx *cx, const cri_sampler *w, cri_tally *total)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     blocks = cri_block_count(w->samples, BLOCK);
    size_t     wave_size = isinf(cri_time_left(cx)) ? WAVE : HASTE;
    size_t     most = blocks < wave_size ? blocks : wave_size;
    cri_clock  clock = cri_clock_start(cx, NAN);
    wave       v = { .w = w,
                     .log_w = total->log_w,
                     .tally = cr_scratch_bytes(&s, most, sizeof *v.tally) };
    v.counts = cr_scratch_f64(&s, most * cri_tally_size(w->g, w->joint));
    v.workspace = cr_scratch_f64(&s, most * w->workspace);
    v.index = cr_scratch_index(&s, most * w->index);
    CR_TRY(s.status);
    for (; v.first < blocks; v.first += most) {
        if (total->kept > 0 && cri_clock_over(&clock)) {
            total->made = total->drawn, total->planned = w->samples;
            break;
        }
        size_t n = blocks - v.first < most ? blocks - v.first : most;
        CR_TRY(cri_parallel_for(cx, NULL, n, draw_block, &v));
        for (size_t k = 0; k < n; k++) cri_tally_merge(total, &v.tally[k]);
        cr_progress(cx, w->what, (double)(v.first + n), (double)blocks);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- results --------------------------------------------------------------------------------- */

static double error_of(const cri_tally *t, size_t k, double p, double effective)
{
    double var = t->square[k] * (1 - p) * (1 - p) + (t->squares - t->square[k]) * p * p;
    double se = sqrt(fmax(var, 0)) / t->total;
    return fmin(fmax(se, UNSEEN / effective), 1);
}

/* What chains found where samples hardly go widens the errors. */
static void add_doubt(const cri_tally *t, double *se, cr_approximate_report *report)
{
    report->missed = t->missed;
    report->modes = t->modes;
    report->log_evidence_se = hypot(report->log_evidence_se, t->log_doubt);
    for (size_t k = 0; t->doubt && k < t->g->start[t->g->n]; k++)
        se[k] = fmin(hypot(se[k], t->doubt[k]), 1);
}

cr_status cri_tally_finish(cr_ctx *cx, const cri_tally *t, const char *hint, double *marginal,
                           double *se, cr_factor *opt_joint, cr_factor *opt_spread,
                           cr_approximate_report *report)
{
    cr_status         st = CR_OK;
    const cri_fgraph *g = t->g;
    size_t            n = g->start[g->n];
    if (t->kept == 0) {
        cr_fail(cx, CR_ENUMERIC, "none of %zu samples is consistent with the evidence", t->drawn);
        return cr_fail_hint(cx, "it may be impossible, or too rare for this method: %s", hint);
    }
    double effective = t->total * t->total / t->squares, drawn = (double)t->drawn;
    report->samples = t->drawn;
    report->made = t->made, report->planned = t->planned;
    report->effective = effective;
    report->accepted = (double)t->kept / drawn;
    report->log_evidence = g->scale + t->peak + log(t->total / drawn);
    report->log_evidence_se = sqrt(fmax(1 / effective - 1 / drawn, 0));
    report->se = 0;
    for (size_t k = 0; k < n; k++) {
        marginal[k] = t->sum[k] / t->total;
        se[k] = error_of(t, k, marginal[k], effective);
    }
    add_doubt(t, se, report);
    for (size_t k = 0; k < n; k++) report->se = fmax(report->se, se[k]);
    for (size_t k = 0; opt_joint && k < opt_joint->size; k++) {
        opt_joint->value[k] = t->sum[n + k] / t->total;
        opt_spread->value[k] = t->square[n + k] / (t->total * t->total);
        report->se = fmax(report->se, error_of(t, n + k, opt_joint->value[k], effective));
    }
    if (t->log_w) st = cri_pareto_tail(cx, t->log_w, t->drawn, &report->pareto_k);
    return st;
}
