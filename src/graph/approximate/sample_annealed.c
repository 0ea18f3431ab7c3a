/* sample_annealed.c -- annealed importance sampling.
 *   pi_b(x) ~ prod_i b_i(x_i)^{1-b} prod_f f(x)^b,     b = 0, ..., 1 in equal steps
 * starts from independent draws of the beliefs b_i of belief propagation; before each step the
 * weight is multiplied by pi_{b'}(x) / pi_b(x), then all variables are drawn anew, block by block
 * given the others (blocks.h).  The mean weight is an unbiased estimate of P(e).  A 0 of a table
 * counts as exp(-10 b / (1 - b)), so that samples can pass through what is impossible; at b = 1 it
 * is 0.  All samples take a step before the next, so the tables of a step are made once.
 * Neal (2001), Statistics and Computing 11. */
#include "blocks.h"
#include "bp.h"
#include "graph/factor/factor_internal.h"
#include "sample.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { MOST_PARTS = 32 }; /* of the samples, that run side by side */

typedef struct anneal {
    const cri_fgraph *g;
    cri_fgraph        warm;   /* the same with tables of the step */
    double           *belief; /* [start[n]] */
    size_t           *home;   /* [n] the table that takes its belief; CR_NONE: no table has it */
    cri_blocks        blocks;
    size_t            samples;
    cr_rng           *rng;       /* [samples] */
    size_t           *state;     /* [samples x n] */
    double           *log_w;     /* [samples] */
    double           *workspace; /* [MOST_PARTS x blocks.workspace] */
    double            now, next;
    size_t            width;         /* samples of one part */
    size_t            made, planned; /* steps; planned: where the time limit left fewer */
} anneal;

/* The log of a table's entry at b. */
static double tempered(double f, double b)
{
    if (f > 0) return b * log(f);
    return b < 1 ? -10 * b / (1 - b) : -INFINITY;
}

/* log of the unnormalised pi_b(x). */
static double density(const anneal *w, const size_t *state, double b)
{
    const cri_fgraph *g = w->g;
    double            sum = 0;
    for (size_t v = 0; b < 1 && v < g->n; v++)
        sum += (1 - b) * log(w->belief[g->start[v] + state[v]]);
    for (size_t i = 0; i < g->m; i++)
        sum += tempered(g->table[i].value[cr_factor_index(&g->table[i], state)], b);
    return sum;
}

/* The tables of the step: each with the beliefs of the variables that it is home of. */
static void warm_tables(anneal *w, double b)
{
    const cri_fgraph *g = w->g;
    for (size_t i = 0; i < g->m; i++) {
        const cr_factor *f = &g->table[i];
        double          *out = w->warm.table[i].value, most = -INFINITY;
        for (size_t e = 0; e < f->size; e++) {
            out[e] = tempered(f->value[e], b);
            for (size_t k = 0; k < f->n; k++) {
                size_t v = f->var[k], x = e / f->stride[k] % f->states[k];
                if (w->home[v] == i) out[e] += (1 - b) * log(w->belief[g->start[v] + x]);
            }
            most = fmax(most, out[e]);
        }
        for (size_t e = 0; e < f->size; e++) out[e] = exp(out[e] - most);
    }
}

static void take_step(anneal *w, size_t i, double *workspace)
{
    size_t *state = w->state + i * w->g->n;
    if (w->now == 0)
        for (size_t v = 0; v < w->g->n; v++)
            state[v] = cr_rng_categorical(&w->rng[i], w->belief + w->g->start[v], w->g->states[v]);
    w->log_w[i] += density(w, state, w->next) - density(w, state, w->now);
    for (size_t b = 0; w->next < 1 && b < w->blocks.n; b++)
        cri_block_draw(&w->blocks.block[b], &w->rng[i], workspace, state);
}

static void step_block(void *arg, size_t k)
{
    anneal   *w = arg;
    cri_range r = cri_block_range(w->samples, w->width, k);
    for (size_t i = r.begin; i < r.end; i++)
        take_step(w, i, w->workspace + k * w->blocks.workspace);
}

/* The belief of v, not too sure of itself. */
static void start_from(const cri_bp *b, size_t v, double *p)
{
    size_t n = b->g->states[v];
    double sum = 0;
    cri_bp_belief(b, v, p);
    for (size_t x = 0; x < n; x++) sum += p[x] = p[x] > 0 ? p[x] + 1 / (double)n : 0;
    for (size_t x = 0; x < n; x++) p[x] /= sum;
}

/* A graph with tables of its own; all else is borrowed. */
static cr_status copy_tables(cr_scratch *s, const cri_fgraph *g, cri_fgraph *out)
{
    *out = *g;
    out->table = cr_scratch_bytes(s, g->m, sizeof *out->table);
    for (size_t i = 0; s->status == CR_OK && i < g->m; i++) {
        out->table[i] = g->table[i];
        out->table[i].value = cr_scratch_f64(s, g->table[i].size);
        if (s->status == CR_OK)
            memcpy(out->table[i].value, g->table[i].value, g->table[i].size * sizeof(double));
    }
    return s->status;
}

static cr_status prepare(cr_ctx *cx, cr_scratch *s, anneal *w, const cr_approximate_options *o,
                         uint64_t seed, bool *possible)
{
    cr_status             st = CR_OK;
    const cri_fgraph     *g = w->g;
    cri_bp                b = { 0 };
    cr_approximate_report report = { 0 };
    CR_TRY(cri_bp_new(cx, g, false, NULL, &b));
    b.prepares = true;
    CR_TRY(cri_bp_run(cx, &b, o, &report));
    *possible = !b.impossible;
    if (!*possible) goto done;
    CR_TRY(copy_tables(s, g, &w->warm));
    CR_TRY(cri_blocks_new(cx, s, &w->warm, o->block, seed, &w->blocks));
    w->width = (w->samples + MOST_PARTS - 1) / MOST_PARTS;
    w->belief = cr_scratch_f64(s, g->start[g->n]);
    w->home = cr_scratch_index(s, g->n);
    w->rng = cr_scratch_bytes(s, w->samples, sizeof *w->rng);
    w->state = cr_scratch_index(s, w->samples * g->n);
    w->log_w = cr_scratch_bytes(s, w->samples, sizeof *w->log_w);
    w->workspace = cr_scratch_f64(s, MOST_PARTS * w->blocks.workspace);
    CR_TRY(s->status);
    for (size_t v = 0; v < g->n; v++) {
        start_from(&b, v, w->belief + g->start[v]);
        w->home[v] = g->begin[v] < g->begin[v + 1] ? g->of[g->at[g->begin[v]]] : CR_NONE;
    }
    for (size_t i = 0; i < w->samples; i++) w->rng[i] = cr_rng_stream(seed, i);
done:
    cri_bp_free(cx, &b);
    return st;
}

/* Steps that there is time for after the first k, at the pace of these; at least the last one. */
static double steps_left(const cri_clock *clock, double began, size_t k)
{
    double now = cri_seconds(), left = cri_clock_over(clock) ? 0 : clock->deadline - now;
    return fmax(1, floor(left / ((now - began) / (double)k)));
}

/* Samples into w, whose memory is in s, in so many steps or, within a time limit of which this share is theirs, in
 * fewer and longer ones. */
static cr_status anneal_all(cr_ctx *cx, cr_scratch *s, anneal *w, const cr_approximate_options *o,
                            size_t steps, double share, uint64_t seed, bool *possible)
{
    cr_status st = CR_OK;
    CR_TRY(prepare(cx, s, w, o, seed, possible));
    cri_clock clock = cri_clock_start(cx, share * cri_time_left(cx));
    double    began = cri_seconds();
    for (size_t k = 1; *possible && w->next < 1; k++, w->now = w->next) {
        double left = k > 1 ? steps_left(&clock, began, k - 1) : INFINITY;
        bool   late = left < (double)(steps - k + 1);
        if (late) w->planned = steps;
        w->next = late ? w->now + (1 - w->now) / left : (double)k / (double)steps;
        if (late && left == 1) w->next = 1;
        if (w->next < 1) warm_tables(w, w->next);
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(w->samples, w->width), step_block, w));
        cr_progress(cx, "annealing", (double)k, (double)steps);
        w->made = k;
    }
done:
    return st;
}

cr_status cri_sample_annealed(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                              size_t samples, uint64_t seed, cri_tally *total)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    anneal     w = { .g = g, .samples = samples };
    bool       possible = true;
    CR_TRY(anneal_all(cx, &s, &w, o, o->steps, 1, seed, &possible));
    if (w.planned > 0) total->made = w.made, total->planned = w.planned;
    for (size_t i = 0; possible && i < samples; i++)
        cri_tally_add(total, w.state + i * g->n, w.log_w[i]);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_anneal_starts(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                            size_t n, uint64_t seed, size_t *out_state, bool *out_possible,
                            bool *out_found)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    anneal     w = { .g = g, .samples = 16 * n };
    double     most = -INFINITY, sum = 0, before = 0;
    cr_rng     r = cr_rng_stream(seed, (uint64_t)1 << 42);
    CR_TRY(anneal_all(cx, &s, &w, o, 32, 0.2, seed ^ 0x9E3779B97F4A7C15u, out_possible));
    *out_found = false;
    if (!*out_possible) goto done;
    for (size_t i = 0; i < w.samples; i++) most = fmax(most, w.log_w[i]);
    if (most == -INFINITY) goto done;
    for (size_t i = 0; i < w.samples; i++) sum += w.log_w[i] = exp(w.log_w[i] - most);
    double u = cr_rng_uniform(&r);
    for (size_t i = 0, k = 0; i < w.samples && k < n; i++) { /* one of each n-th of the weight */
        before += w.log_w[i];
        for (; k < n && ((double)k + u) / (double)n * sum < before; k++)
            memcpy(out_state + k * g->n, w.state + i * g->n, g->n * sizeof *out_state);
        *out_found = k == n;
    }
done:
    cr_scratch_end(&s);
    return st;
}
