/* combine_walk.c -- the walk over a joint table, block by block: an odometer of the outer variables. */
#include "combine_internal.h"
#include "base/context_internal.h"

#include <fenv.h>

enum { STRETCH = 1 << 22 }; /* entries walked without asking whether to stop */

/* Where a walk stands: one offset per table, and the products of the tables up to each level. */
typedef struct walker {
    const cri_loops *p;
    size_t           position[CRI_MOST_DIMS];
    size_t          *offset;  /* [inputs + outputs] */
    double          *folded;  /* [block] */
    double          *product; /* [inputs x block]: of tables 0 .. i, where it was needed */
    const double   **at;      /* [inputs]: where that product is */
} walker;

/* Multiplies tables first .. inputs - 1 onto what the ones before them gave. */
static const double *multiply(walker *w, size_t first)
{
    const cri_loops *p = w->p;
    bool             logs = p->semiring == CRI_LOG_MAX || p->semiring == CRI_LOG_EXP;
    for (size_t i = first; i < p->inputs; i++) {
        const cri_track *t = &p->in[i];
        const double    *v = t->value + w->offset[i];
        double          *to = w->product + t->buffer * p->block;
        if (i == 0 && t->shape == CRI_STRAIGHT) {
            w->at[i] = v;
        } else if (i == 0) {
            cri_block_spread(t, v, p->block, to);
            w->at[i] = to;
        } else {
            cri_block_multiply(t, v, p->block, logs, w->at[i - 1], to);
            w->at[i] = to;
        }
    }
    return p->inputs ? w->at[p->inputs - 1] : w->product;
}

static void take(const walker *w, size_t run, const double *r)
{
    const cri_loops *p = w->p;
    for (size_t k = 0; k < p->outputs; k++) {
        const cri_track *t = &p->out[k];
        size_t           at = w->offset[p->inputs + k];
        double          *out = p->to[k].value + at;
        if (p->semiring == CRI_SUM)
            cri_block_add(t, out, r, p->block, w->folded);
        else if (p->semiring == CRI_LOG_EXP)
            cri_block_add_exp(t, out, p->to[k].peak + at, r, p->block);
        else if (p->to[k].arg)
            cri_block_argmax(out, p->to[k].arg + at, r, p->block, (uint16_t)(run % p->summed));
        else
            cri_block_max(t, out, r, p->block);
    }
}

/* Puts the odometer at `run`. */
static void set_position(walker *w, size_t run)
{
    const cri_loops *p = w->p;
    for (size_t d = p->outer; d-- > 0;) {
        w->position[d] = run % p->states[d];
        run /= p->states[d];
    }
    for (size_t i = 0; i < p->inputs + p->outputs; i++) {
        const cri_track *t = i < p->inputs ? &p->in[i] : &p->out[i - p->inputs];
        w->offset[i] = 0;
        for (size_t d = 0; d < p->outer; d++) w->offset[i] += w->position[d] * t->stride[d];
    }
}

/* Goes on to the next run; returns the outermost variable that moved. */
static size_t advance(walker *w)
{
    const cri_loops *p = w->p;
    size_t           d = p->outer - 1;
    while (++w->position[d] == p->states[d]) w->position[d--] = 0;
    for (size_t i = 0; i < p->inputs; i++) w->offset[i] += p->in[i].step[d];
    for (size_t i = 0; i < p->outputs; i++) w->offset[p->inputs + i] += p->out[i].step[d];
    return d;
}

static void walk_runs(walker *w, size_t begin, size_t end)
{
    const cri_loops *p = w->p;
    size_t           first = 0;
    set_position(w, begin);
    for (size_t run = begin; run < end; run++) {
        take(w, run, multiply(w, first));
        if (run + 1 == end) break;
        size_t moved = advance(w);
        first = p->inputs;
        while (first > 0 && p->in[first - 1].level > moved) first--;
    }
}

size_t cri_walker_bytes(const cri_loops *p)
{
    size_t tables = p->inputs + p->outputs, products = p->inputs ? p->inputs : 1;
    return tables * sizeof(size_t) + products * sizeof(double *) +
           (products + 1) * p->block * sizeof(double);
}

static bool make_walker(cr_ctx *cx, walker *w, const cri_loops *p)
{
    size_t tables = p->inputs + p->outputs, products = p->inputs ? p->inputs : 1;
    size_t bytes = cri_walker_bytes(p);
    char  *workspace = cri_resize_quietly(cx, NULL, 0, bytes, 1);
    if (!workspace) return false;
    w->p = p;
    w->product = (double *)(void *)workspace;
    w->folded = w->product + products * p->block;
    w->offset = (size_t *)(void *)(w->folded + p->block);
    w->at = (const double **)(void *)(w->offset + tables);
    bool logs = p->semiring == CRI_LOG_MAX || p->semiring == CRI_LOG_EXP;
    for (size_t i = 0; p->inputs == 0 && i < p->block; i++) w->product[i] = logs ? 0 : 1;
    return true;
}

bool cri_walk(cr_ctx *cx, const cri_loops *p, size_t begin, size_t end, bool *out_lost)
{
    fexcept_t before;
    walker    w;
    size_t    stretch = 1 + STRETCH / p->block;
    bool      fine = make_walker(cx, &w, p);
    *out_lost = false;
    if (!fine) return false;
    fegetexceptflag(&before, FE_UNDERFLOW);
    feclearexcept(FE_UNDERFLOW);
    for (size_t at = begin; fine && at < end; at += stretch) {
        walk_runs(&w, at, end - at > stretch ? at + stretch : end);
        fine = end - at <= stretch || !cri_should_stop(cx);
        if (!fine) break;
    }
    *out_lost = fetestexcept(FE_UNDERFLOW) != 0;
    fesetexceptflag(&before, FE_UNDERFLOW);
    cr_free(cx, w.product, cri_walker_bytes(p), 1);
    return fine;
}
