/* combine_loops.c -- how a joint table is walked: which variables make a block, the order of the loops
 * over the others, where the work is cut, and how each table lies in a block. */
#include "combine_internal.h"

#include <math.h>

/* Groups of joined variables stay small, so that whole groups make a block of the wanted size. */
enum {
    JOINED_MOST = 16,
    BLOCK_WANTED = 128,
    BLOCK_MOST = 2048,
    PART = 1 << 16,
    PARTS_WANTED = 8,
    WORKSPACE_SHARE = 16
};

/* --- variables that are joined, and the block ------------------------------------------------- */

static bool can_join(const size_t *stride, size_t d, size_t next, size_t next_states)
{
    return stride[next] ? stride[d] == stride[next] * next_states : stride[d] == 0;
}

/* first[g] is the last (fastest) variable of group g: its stride is the group's. */
static cri_joined join_variables(const cri_space *sp, size_t inputs, const cri_operand *in,
                                 size_t outputs, const cri_output *out)
{
    cri_joined j = { 0 };
    size_t     reversed[CRI_MOST_DIMS], states[CRI_MOST_DIMS], n = 0;
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
static size_t choose_block(const cri_joined *j, const size_t *opt_output_stride)
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

static void set_shape(cri_track *t, const cri_loops *p, uint32_t **places)
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
static void set_folds(cri_track *t, const cri_loops *p)
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

static void set_track(cri_track *t, const cri_loops *p, const double *value, const size_t *order,
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
static void choose_cuts(cri_loops *p, const cri_joined *j, const size_t *sizes, bool *cut)
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
        if (parts > CRI_MOST_PARTS || (double)parts * least > total / WORKSPACE_SHARE) break;
        cut[best] = true;
        p->cuts = parts;
    }
}

/* The order of the loops: with one output its outer variables first, with several those that cut.
 */
static void order_loops(cri_loops *p, const cri_joined *j, const size_t *opt_output_stride,
                        const bool *cut, size_t *order)
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

/* --- all of it -------------------------------------------------------------------------------- */

/* How the work is cut: by its size alone. */
static size_t choose_parts(const cri_loops *p)
{
    double total = (double)p->runs * (double)p->block;
    size_t grains = p->runs / p->summed;
    size_t parts = total / PART > CRI_MOST_PARTS ? CRI_MOST_PARTS : (size_t)(total / PART);
    if (p->outputs != 1) return p->semiring == CRI_SUM ? p->cuts : 1;
    if (parts > grains) parts = grains;
    return parts ? parts : 1;
}

void cri_lay_tracks(cri_loops *p, char *workspace, const size_t *order, const cri_operand *in)
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

cri_loops cri_plan_loops(const cri_space *space, cri_semiring semiring, size_t inputs,
                         const cri_operand *in, size_t outputs, const cri_output *out,
                         size_t *sizes, size_t *order, bool *cut, cri_joined *j)
{
    cri_loops     p = { .semiring = semiring,
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

size_t cri_track_bytes(const cri_loops *p)
{
    return (p->inputs + p->outputs) * (sizeof(cri_track) + p->block * sizeof(uint32_t));
}
