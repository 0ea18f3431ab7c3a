/* combine.c -- a walk over a joint table in blocks.
 * Loop nest: outer variables (an odometer), then a block of the last variables.  With one output
 * its variables come first among the outer ones, so that a block of it stays where it is while the
 * variables that are summed out run.  The loops are laid out in combine_loops.c and run in
 * combine_walk.c; here the work is cut into parts. */
#include "combine_internal.h"
#include "base/context_internal.h"
#include "base/parallel.h"

#include <string.h>

/* --- spaces ---------------------------------------------------------------------------------- */

bool cri_space_add(cri_space *space, size_t var, size_t states)
{
    if (states == 1) return true;
    if (space->n == CRI_MOST_DIMS) return false;
    space->var[space->n] = var;
    space->states[space->n++] = states;
    return true;
}

double cri_space_size(const cri_space *space)
{
    double size = 1;
    for (size_t i = 0; i < space->n; i++) size *= (double)space->states[i];
    return size;
}

void cri_space_strides(const cri_space *space, size_t n, const size_t *var, const size_t *states,
                       size_t *out_stride)
{
    size_t stride = 1, i = n;
    for (size_t d = space->n; d-- > 0;) {
        while (i > 0 && (var[i - 1] > space->var[d] || states[i - 1] == 1)) i--; /* single states */
        bool has = i > 0 && var[i - 1] == space->var[d];
        out_stride[d] = has ? stride : 0;
        if (has) stride *= states[--i];
    }
}

/* --- parts ----------------------------------------------------------------------------------- */

typedef struct parts_work {
    cr_ctx          *cx;
    const cri_loops *p;
    cri_output      *to;     /* [parts x outputs] when parts have outputs of their own */
    unsigned char   *failed; /* [parts] 1: no memory, or stopped; 2: underflow */
} parts_work;

static void walk_part(void *arg, size_t part)
{
    parts_work *w = arg;
    cri_loops   p = *w->p;
    size_t      grains = p.runs / p.summed;
    bool        lost;
    if (w->to) p.to = w->to + part * p.outputs;
    if (!cri_walk(w->cx, &p, part * grains / p.parts * p.summed,
                  (part + 1) * grains / p.parts * p.summed, &lost))
        w->failed[part] = 1;
    else if (lost)
        w->failed[part] = 2;
}

/* Is output k written to by several parts? */
static bool is_shared(const cri_loops *p, size_t k)
{
    for (size_t d = 0, cuts = 1; cuts < p->cuts; cuts *= p->states[d++])
        if (p->out[k].stride[d] == 0) return true;
    return false;
}

static bool is_worth_threads(const cri_loops *p) { return p->runs >= CRI_WORTH_THREADS / p->block; }

/* Runs the parts.  Outputs that they share are summed part by part, in order. */
static bool walk_parts(cr_ctx *cx, const cri_loops *p, const size_t *sizes, bool *lost)
{
    unsigned char failed[CRI_MOST_PARTS] = { 0 };
    cri_output   *to = NULL;
    size_t        total = 0, parts = p->parts;
    double       *workspace = NULL;
    bool          fine = false;
    if (p->outputs > 1) {
        for (size_t k = 0; k < p->outputs; k++) total += is_shared(p, k) ? sizes[k] : 0;
        to = cri_resize_quietly(cx, NULL, 0, parts * p->outputs, sizeof *to);
        workspace = to ? cri_resize_quietly(cx, NULL, 0, parts * total, sizeof *workspace) : NULL;
        if (!workspace) goto done;
        memset(workspace, 0, parts * total * sizeof *workspace);
        double *at = workspace;
        for (size_t i = 0; i < parts * p->outputs; i++) {
            to[i] = p->to[i % p->outputs];
            if (!is_shared(p, i % p->outputs)) continue;
            to[i].value = at;
            at += sizes[i % p->outputs];
        }
    }
    parts_work w = { cx, p, to, failed };
    if (is_worth_threads(p)) {
        if (cri_parallel_for(cx, NULL, parts, walk_part, &w) != CR_OK) goto done;
    } else {
        for (size_t i = 0; i < parts; i++) walk_part(&w, i);
    }
    for (size_t i = 0; i < parts; i++) {
        if (failed[i] == 1) goto done;
        *lost |= failed[i] == 2;
    }
    for (size_t i = 0; to && i < parts * p->outputs; i++) {
        double *out = p->to[i % p->outputs].value;
        if (!is_shared(p, i % p->outputs)) continue;
        for (size_t e = 0; e < sizes[i % p->outputs]; e++) out[e] += to[i].value[e];
    }
    fine = true;
done:
    cr_free(cx, workspace, parts * total, sizeof *workspace);
    cr_free(cx, to, parts * p->outputs, sizeof *to);
    return fine;
}

/* Several outputs: the same sums always. */
static bool goes_in_parts(const cri_loops *p, bool threaded)
{
    return p->parts > 1 && (threaded || p->outputs > 1);
}

bool cri_combine(cr_ctx *cx, const cri_space *space, cri_semiring semiring, size_t inputs,
                 const cri_operand *in, size_t outputs, const cri_output *out, bool threaded,
                 bool *opt_lost)
{
    size_t     order[CRI_MOST_DIMS];
    bool       cut[CRI_MOST_DIMS] = { false }, lost = false;
    cri_joined j;
    size_t    *sizes = cri_resize_quietly(cx, NULL, 0, outputs, sizeof *sizes);
    if (!sizes) return false;
    cri_loops p = cri_plan_loops(space, semiring, inputs, in, outputs, out, sizes, order, cut, &j);
    size_t    bytes = cri_track_bytes(&p);
    char     *workspace = cri_resize_quietly(cx, NULL, 0, bytes, 1);
    bool      fine = workspace && !cri_should_stop(cx);
    if (fine) cri_lay_tracks(&p, workspace, order, in);
    if (fine)
        fine = goes_in_parts(&p, threaded) ? walk_parts(cx, &p, sizes, &lost)
                                           : cri_walk(cx, &p, 0, p.runs, &lost);
    cr_free(cx, workspace, bytes, 1);
    cr_free(cx, sizes, outputs, sizeof *sizes);
    if (opt_lost) *opt_lost = lost;
    return fine;
}

bool cri_combine_bytes(cr_ctx *cx, const cri_space *space, size_t inputs, const cri_operand *in,
                       size_t outputs, const cri_output *out, bool threaded, double *out_bytes)
{
    size_t     order[CRI_MOST_DIMS];
    bool       cut[CRI_MOST_DIMS] = { false };
    cri_joined j;
    size_t    *sizes = cri_resize_quietly(cx, NULL, 0, outputs, sizeof *sizes);
    if (!sizes) return false;
    cri_loops p = cri_plan_loops(space, CRI_SUM, inputs, in, outputs, out, sizes, order, cut, &j);
    double    bytes = (double)(outputs * sizeof *sizes + cri_track_bytes(&p)), walkers = 1;
    if (goes_in_parts(&p, threaded)) {
        size_t threads = is_worth_threads(&p) ? cr_ctx_threads(cx) : 1;
        walkers = (double)(threads < p.parts ? threads : p.parts);
        for (size_t k = 0; outputs > 1 && k < outputs; k++) {
            bool shared = false;
            for (size_t g = 0; g < p.outer; g++) shared |= cut[g] && out[k].stride[j.first[g]] == 0;
            bytes += (double)p.parts * (double)(sizeof *out + (shared ? 8 * sizes[k] : 0));
        }
    }
    *out_bytes = bytes + walkers * (double)cri_walker_bytes(&p);
    cr_free(cx, sizes, outputs, sizeof *sizes);
    return true;
}
