/* combine.c -- a walk over a joint table in blocks.
 * Loop nest: outer variables (an odometer), then a block of the last variables.  With one output
 * its variables come first among the outer ones, so that a block of it stays where it is while the
 * variables that are summed out run. */
#include "combine_internal.h"
#include "base/context_internal.h"
#include "base/parallel.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* Groups of joined variables stay small, so that whole groups make a block of the wanted size. */
enum {
    JOINED_MOST = 16,
    BLOCK_WANTED = 128,
    BLOCK_MOST = 2048,
    PART = 1 << 16,
    MOST_PARTS = 64,
    PARTS_WANTED = 8,
    WORKSPACE_SHARE = 16,
    STRETCH = 1 << 22 /* entries walked without asking whether to stop */
};

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

/* --- the plan -------------------------------------------------------------------------------- */

typedef struct plan {
    cri_semiring semiring;
    size_t       outer, states[CRI_MOST_DIMS]; /* the odometer, outermost first */
    size_t       block;                        /* entries of the inner variables */
    size_t       inner, inner_states[CRI_MOST_DIMS];
    size_t       summed; /* product of the states of the outer variables that do not come first */
    size_t     cuts; /* several outputs: parts, one for each state of the outer variables that do */
    size_t     inputs, outputs;
    cri_track *in, *out; /* inputs sorted by level */
    const cri_output *to;
    size_t            runs; /* odometer steps in all */
    size_t            parts;
} plan;

/* The variables of the space, neighbours joined where every table allows it. */
typedef struct joined {
    size_t n, states[CRI_MOST_DIMS],
        first[CRI_MOST_DIMS]; /* first: the last variable of the group */
} joined;

static bool can_join(const size_t *stride, size_t d, size_t next, size_t next_states)
{
    return stride[next] ? stride[d] == stride[next] * next_states : stride[d] == 0;
}

/* first[g] is the last (fastest) variable of group g: its stride is the group's. */
static joined join_variables(const cri_space *sp, size_t inputs, const cri_operand *in,
                             size_t outputs, const cri_output *out)
{
    joined j = { 0 };
    size_t reversed[CRI_MOST_DIMS], states[CRI_MOST_DIMS], n = 0;
    for (size_t d = sp->n; d-- > 0;) {
        bool   join = n > 0 && states[n - 1] * sp->states[d] <= JOINED_MOST;
        size_t fast = n ? reversed[n - 1] : 0, group = n ? states[n - 1] : 0;
        for (size_t i = 0; join && i < inputs; i++) join = can_join(in[i].stride, d, fast, group);
        for (size_t i = 0; join && i < outputs; i++) join = can_join(out[i].stride, d, fast, group);
        if (join) {
            states[n - 1] *= sp->states[d];
        } else {
            reversed[n] = d;
            states[n++] = sp->states[d];
        }
    }
    j.n = n;
    for (size_t g = 0; g < n; g++) {
        j.first[g] = reversed[n - 1 - g];
        j.states[g] = states[n - 1 - g];
    }
    return j;
}

/* How many groups, from the last, make the block. */
static size_t choose_block(const joined *j, const size_t *opt_output_stride)
{
    size_t block = 1, inner = 0;
    while (inner < j->n && block < BLOCK_WANTED) {
        size_t g = j->n - 1 - inner;
        if (inner > 0 && block * j->states[g] > BLOCK_MOST) break;
        if (opt_output_stride && opt_output_stride[j->first[g]] == 0) break;
        block *= j->states[g];
        inner++;
    }
    return inner;
}

static void set_shape(cri_track *t, const plan *p, uint32_t **places)
{
    size_t expected = 1;
    bool   straight = true, constant = true;
    for (size_t i = p->inner; i-- > 0;) {
        size_t s = t->stride[p->outer + i];
        straight &= s == expected;
        constant &= s == 0;
        expected *= p->inner_states[i];
    }
    t->shape = constant ? CRI_CONSTANT : straight ? CRI_STRAIGHT : CRI_LISTED;
    if (t->shape != CRI_LISTED) return;
    uint32_t *place = *places;
    *places += p->block;
    t->place = place;
    size_t filled = 1;
    place[0] = 0;
    for (size_t i = p->inner; i-- > 0;) {
        size_t s = t->stride[p->outer + i];
        for (size_t k = 1; k < p->inner_states[i]; k++)
            for (size_t e = 0; e < filled; e++)
                place[k * filled + e] = (uint32_t)(place[e] + k * s);
        filled *= p->inner_states[i];
    }
}

/* The folds that lead from the block to the part of an output that lies in it.  The output's
 * variables have the order of the space, so what is left is straight. */
static void set_folds(cri_track *t, const plan *p)
{
    size_t left = p->block, outer = 1;
    t->folds = 0;
    for (size_t i = 0; i < p->inner; i++) {
        left /= p->inner_states[i];
        if (t->stride[p->outer + i])
            outer *= p->inner_states[i];
        else
            t->fold[t->folds++] = (cri_fold){ outer, p->inner_states[i], left };
    }
}

static void set_track(cri_track *t, const plan *p, const double *value, const size_t *order,
                      const size_t *stride, uint32_t **places)
{
    size_t back = 0;
    t->value = value;
    t->level = 0;
    for (size_t i = 0; i < p->outer + p->inner; i++) t->stride[i] = stride[order[i]];
    for (size_t i = p->outer; i-- > 0;) {
        t->step[i] = t->stride[i] - back;
        back += (p->states[i] - 1) * t->stride[i];
        if (t->stride[i] && t->level == 0) t->level = i + 1;
    }
    set_shape(t, p, places);
}

static void sort_by_level(cri_track *t, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (t[i - 1].level <= t[i].level) continue;
        cri_track moved = t[i];
        size_t    k = i;
        for (; k > 0 && t[k - 1].level > moved.level; k--) t[k] = t[k - 1];
        t[k] = moved;
    }
    for (size_t i = 0; i < n; i++)
        t[i].buffer = i > 0 && t[i - 1].level == t[i].level ? t[i - 1].buffer : i;
}

/* With several outputs the work is cut along outer variables that most of them have: an output that
 * has them all is written to by one part alone, the others need memory for each part.  Chooses
 * greedily, while that memory is a small share of the work; marks the groups. */
static void choose_cuts(plan *p, const joined *j, const size_t *sizes, bool *cut)
{
    double total = (double)p->block;
    for (size_t g = 0; g < p->outer; g++) total *= (double)j->states[g];
    p->cuts = 1;
    while (total >= 2 * PART && p->cuts < PARTS_WANTED) {
        size_t best = p->outer;
        double least = INFINITY;
        for (size_t g = 0; g < p->outer; g++) {
            double workspace = 0;
            for (size_t k = 0; k < p->outputs; k++) {
                bool shared = p->to[k].stride[j->first[g]] == 0;
                for (size_t h = 0; h < p->outer; h++)
                    shared |= cut[h] && p->to[k].stride[j->first[h]] == 0;
                if (shared) workspace += (double)sizes[k];
            }
            if (!cut[g] && workspace < least) least = workspace, best = g;
        }
        if (best == p->outer) break;
        size_t parts = p->cuts * j->states[best];
        if (parts > MOST_PARTS || (double)parts * least > total / WORKSPACE_SHARE) break;
        cut[best] = true;
        p->cuts = parts;
    }
}

/* The order of the loops: with one output its outer variables first, with several those that cut.
 */
static void order_loops(plan *p, const joined *j, const size_t *opt_output_stride, const bool *cut,
                        size_t *order)
{
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t g = 0; g < p->outer; g++) {
            bool first = opt_output_stride ? opt_output_stride[j->first[g]] != 0 : cut[g];
            if (first != (pass == 0)) continue;
            p->states[n] = j->states[g];
            order[n++] = j->first[g];
            if (!first) p->summed *= j->states[g];
        }
    for (size_t i = 0; i < p->inner; i++) order[n++] = j->first[p->outer + i];
}

/* --- the walk -------------------------------------------------------------------------------- */

/* Where a walk stands: one offset per table, and the products of the tables up to each level. */
typedef struct walker {
    const plan    *p;
    size_t         position[CRI_MOST_DIMS];
    size_t        *offset;  /* [inputs + outputs] */
    double        *folded;  /* [block] */
    double        *product; /* [inputs x block]: of tables 0 .. i, where it was needed */
    const double **at;      /* [inputs]: where that product is */
} walker;

/* Multiplies tables first .. inputs - 1 onto what the ones before them gave. */
static const double *multiply(walker *w, size_t first)
{
    const plan *p = w->p;
    bool        logs = p->semiring == CRI_LOG_MAX || p->semiring == CRI_LOG_EXP;
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
    const plan *p = w->p;
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
    const plan *p = w->p;
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
    const plan *p = w->p;
    size_t      d = p->outer - 1;
    while (++w->position[d] == p->states[d]) w->position[d--] = 0;
    for (size_t i = 0; i < p->inputs; i++) w->offset[i] += p->in[i].step[d];
    for (size_t i = 0; i < p->outputs; i++) w->offset[p->inputs + i] += p->out[i].step[d];
    return d;
}

static void walk_runs(walker *w, size_t begin, size_t end)
{
    const plan *p = w->p;
    size_t      first = 0;
    set_position(w, begin);
    for (size_t run = begin; run < end; run++) {
        take(w, run, multiply(w, first));
        if (run + 1 == end) break;
        size_t moved = advance(w);
        first = p->inputs;
        while (first > 0 && p->in[first - 1].level > moved) first--;
    }
}

/* Walks, asking now and then whether to stop: false.  *out_lost: a product underflowed; the
 * caller's flags are as before. */
static bool walk(cr_ctx *cx, walker *w, size_t begin, size_t end, bool *out_lost)
{
    fexcept_t before;
    size_t    stretch = 1 + STRETCH / w->p->block;
    bool      fine = true;
    fegetexceptflag(&before, FE_UNDERFLOW);
    feclearexcept(FE_UNDERFLOW);
    for (size_t at = begin; fine && at < end; at += stretch) {
        walk_runs(w, at, end - at > stretch ? at + stretch : end);
        fine = end - at <= stretch || !cri_should_stop(cx);
        if (!fine) break;
    }
    *out_lost = fetestexcept(FE_UNDERFLOW) != 0;
    fesetexceptflag(&before, FE_UNDERFLOW);
    return fine;
}

static size_t walker_bytes(const plan *p)
{
    size_t tables = p->inputs + p->outputs, products = p->inputs ? p->inputs : 1;
    return tables * sizeof(size_t) + products * sizeof(double *) +
           (products + 1) * p->block * sizeof(double);
}

static bool make_walker(cr_ctx *cx, walker *w, const plan *p)
{
    size_t tables = p->inputs + p->outputs, products = p->inputs ? p->inputs : 1;
    size_t bytes = walker_bytes(p);
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

static void free_walker(cr_ctx *cx, walker *w) { cr_free(cx, w->product, walker_bytes(w->p), 1); }

/* --- parts ----------------------------------------------------------------------------------- */

typedef struct parts_work {
    cr_ctx        *cx;
    const plan    *p;
    cri_output    *to;     /* [parts x outputs] when parts have outputs of their own */
    unsigned char *failed; /* [parts] 1: no memory, or stopped; 2: underflow */
} parts_work;

static void walk_part(void *arg, size_t part)
{
    parts_work *w = arg;
    plan        p = *w->p;
    walker      k;
    size_t      grains = p.runs / p.summed;
    if (w->to) p.to = w->to + part * p.outputs;
    if (!make_walker(w->cx, &k, &p)) {
        w->failed[part] = 1;
        return;
    }
    bool lost;
    if (!walk(w->cx, &k, part * grains / p.parts * p.summed,
              (part + 1) * grains / p.parts * p.summed, &lost))
        w->failed[part] = 1;
    else if (lost)
        w->failed[part] = 2;
    free_walker(w->cx, &k);
}

/* Is output k written to by several parts? */
static bool is_shared(const plan *p, size_t k)
{
    for (size_t d = 0, cuts = 1; cuts < p->cuts; cuts *= p->states[d++])
        if (p->out[k].stride[d] == 0) return true;
    return false;
}

static bool is_worth_threads(const plan *p) { return p->runs >= CRI_WORTH_THREADS / p->block; }

/* Runs the parts.  Outputs that they share are summed part by part, in order. */
static bool walk_parts(cr_ctx *cx, const plan *p, const size_t *sizes, bool *lost)
{
    unsigned char failed[MOST_PARTS] = { 0 };
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

/* How the work is cut: by its size alone. */
static size_t choose_parts(const plan *p)
{
    double total = (double)p->runs * (double)p->block;
    size_t grains = p->runs / p->summed;
    size_t parts = total / PART > MOST_PARTS ? MOST_PARTS : (size_t)(total / PART);
    if (p->outputs != 1) return p->semiring == CRI_SUM ? p->cuts : 1;
    if (parts > grains) parts = grains;
    return parts ? parts : 1;
}

/* Makes the tracks of all tables in `workspace`, which has them and the places. */
static void lay_tracks(plan *p, char *workspace, const size_t *order, const cri_operand *in)
{
    size_t    tables = p->inputs + p->outputs;
    uint32_t *places = (uint32_t *)(void *)(workspace + tables * sizeof(cri_track));
    p->in = (cri_track *)(void *)workspace;
    p->out = p->in + p->inputs;
    for (size_t i = 0; i < p->inputs; i++)
        set_track(&p->in[i], p, in[i].value, order, in[i].stride, &places);
    for (size_t k = 0; k < p->outputs; k++) {
        set_track(&p->out[k], p, NULL, order, p->to[k].stride, &places);
        set_folds(&p->out[k], p);
    }
    sort_by_level(p->in, p->inputs);
}

static void output_sizes(const cri_space *space, size_t outputs, const cri_output *out,
                         size_t *sizes)
{
    for (size_t k = 0; k < outputs; k++) {
        sizes[k] = 1;
        for (size_t d = 0; d < space->n; d++)
            if (out[k].stride[d]) sizes[k] *= space->states[d];
    }
}

/* The loops of the work, and how it is cut; sizes [outputs] and cut, order [CRI_MOST_DIMS] are
 * set. */
static plan plan_loops(const cri_space *space, cri_semiring semiring, size_t inputs,
                       const cri_operand *in, size_t outputs, const cri_output *out, size_t *sizes,
                       size_t *order, bool *cut, joined *j)
{
    plan          p = { .semiring = semiring,
                        .inputs = inputs,
                        .outputs = outputs,
                        .to = out,
                        .block = 1,
                        .summed = 1,
                        .cuts = 1,
                        .runs = 1 };
    const size_t *single = outputs == 1 ? out[0].stride : NULL;
    *j = join_variables(space, inputs, in, outputs, out);
    p.inner = choose_block(j, out[0].arg ? single : NULL);
    p.outer = j->n - p.inner;
    for (size_t i = 0; i < p.inner; i++) {
        p.inner_states[i] = j->states[p.outer + i];
        p.block *= p.inner_states[i];
    }
    output_sizes(space, outputs, out, sizes);
    if (outputs > 1) choose_cuts(&p, j, sizes, cut);
    order_loops(&p, j, single, cut, order);
    for (size_t d = 0; d < p.outer; d++) p.runs *= p.states[d];
    p.parts = choose_parts(&p);
    return p;
}

static size_t track_bytes(const plan *p)
{
    return (p->inputs + p->outputs) * (sizeof(cri_track) + p->block * sizeof(uint32_t));
}

/* Several outputs: the same sums always. */
static bool goes_in_parts(const plan *p, bool threaded)
{
    return p->parts > 1 && (threaded || p->outputs > 1);
}

bool cri_combine(cr_ctx *cx, const cri_space *space, cri_semiring semiring, size_t inputs,
                 const cri_operand *in, size_t outputs, const cri_output *out, bool threaded,
                 bool *opt_lost)
{
    size_t  order[CRI_MOST_DIMS];
    bool    cut[CRI_MOST_DIMS] = { false }, lost = false;
    joined  j;
    size_t *sizes = cri_resize_quietly(cx, NULL, 0, outputs, sizeof *sizes);
    if (!sizes) return false;
    plan   p = plan_loops(space, semiring, inputs, in, outputs, out, sizes, order, cut, &j);
    size_t bytes = track_bytes(&p);
    char  *workspace = cri_resize_quietly(cx, NULL, 0, bytes, 1);
    bool   fine = workspace && !cri_should_stop(cx);
    if (fine) lay_tracks(&p, workspace, order, in);
    if (fine && goes_in_parts(&p, threaded)) {
        fine = walk_parts(cx, &p, sizes, &lost);
    } else if (fine) {
        walker w;
        fine = make_walker(cx, &w, &p);
        if (fine) {
            fine = walk(cx, &w, 0, p.runs, &lost);
            free_walker(cx, &w);
        }
    }
    cr_free(cx, workspace, bytes, 1);
    cr_free(cx, sizes, outputs, sizeof *sizes);
    if (opt_lost) *opt_lost = lost;
    return fine;
}

bool cri_combine_bytes(cr_ctx *cx, const cri_space *space, size_t inputs, const cri_operand *in,
                       size_t outputs, const cri_output *out, bool threaded, double *out_bytes)
{
    size_t  order[CRI_MOST_DIMS];
    bool    cut[CRI_MOST_DIMS] = { false };
    joined  j;
    size_t *sizes = cri_resize_quietly(cx, NULL, 0, outputs, sizeof *sizes);
    if (!sizes) return false;
    plan   p = plan_loops(space, CRI_SUM, inputs, in, outputs, out, sizes, order, cut, &j);
    double bytes = (double)(outputs * sizeof *sizes + track_bytes(&p)), walkers = 1;
    if (goes_in_parts(&p, threaded)) {
        size_t threads = is_worth_threads(&p) ? cr_ctx_threads(cx) : 1;
        walkers = (double)(threads < p.parts ? threads : p.parts);
        for (size_t k = 0; outputs > 1 && k < outputs; k++) {
            bool shared = false;
            for (size_t g = 0; g < p.outer; g++) shared |= cut[g] && out[k].stride[j.first[g]] == 0;
            bytes += (double)p.parts * (double)(sizeof *out + (shared ? 8 * sizes[k] : 0));
        }
    }
    *out_bytes = bytes + walkers * (double)walker_bytes(&p);
    cr_free(cx, sizes, outputs, sizeof *sizes);
    return true;
}
