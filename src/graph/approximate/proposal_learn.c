/* proposal_learn.c -- what a proposal learns: from chains that start elsewhere, and from itself.
 * Chains: short block Gibbs chains (blocks.h) from the most probable assignment that was found and
 * from a short annealing, each the teacher of one component.  They know modes that messages do not
 * lead to; the weights then tell what these are worth.
 * Rounds: samples of the mixture, each worth its weight, teach every component by its share in
 * them; what a round teaches is worth its effective number of samples, and the past fades by as
 * much as is new.  Shares of the components go with the weight that they account for, but none
 * falls below a floor. */
#include "blocks.h"
#include "proposal.h"
#include "sample.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 6, BLOCK = 64, SWEEPS = 150, DROP = 30, THIN = 4 };
static const double FLOOR = 0.3; /* of all shares together, in equal parts */

static void add_state(cri_proposal *q, size_t component, const size_t *state, double w)
{
    double *count = q->count + component * q->count_begin[q->g->n];
    for (size_t k = 0; k < q->g->n; k++)
        count[cri_proposal_cell(q, k, state) + state[q->order[k]]] += w;
}

/* --- chains ---------------------------------------------------------------------------------- */

typedef struct chains {
    cri_proposal     *q;
    const cri_blocks *blocks;
    size_t            first; /* the component that the first of them teaches */
    uint64_t          seed;
    size_t           *state;     /* [chains x n] */
    double           *workspace; /* [chains x blocks->workspace] */
} chains;

static void run_chain(void *arg, size_t chain)
{
    chains *w = arg;
    size_t  n = w->q->g->n, *state = w->state + chain * n;
    size_t *visited = w->q->visited + chain * CRI_VISITS * n;
    cr_rng  r = cr_rng_stream(w->seed, ((uint64_t)1 << 41) + chain);
    for (size_t i = 0; i < SWEEPS + THIN * CRI_VISITS; i++) {
        for (size_t b = 0; b < w->blocks->n; b++)
            cri_block_draw(&w->blocks->block[b], &r, w->workspace + chain * w->blocks->workspace,
                           state);
        if (i >= DROP && i < SWEEPS) add_state(w->q, w->first + chain, state, 1);
        if (i >= SWEEPS) memcpy(visited + (i - SWEEPS) / THIN * n, state, n * sizeof *state);
    }
}

static cr_status learn_from_chains(cr_ctx *cx, cri_proposal *q, const cr_approximate_options *o,
                                   const size_t *opt_start, uint64_t seed)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_blocks blocks = { 0 };
    size_t     n = q->components - 2, own = opt_start ? 1 : 0;
    chains     w = { .q = q, .blocks = &blocks, .first = 2, .seed = seed };
    bool       possible = true, found = false;
    w.state = cr_scratch_index(&s, n * q->g->n);
    CR_TRY(s.status);
    if (opt_start) memcpy(w.state, opt_start, q->g->n * sizeof *opt_start);
    CR_TRY(
        cri_anneal_starts(cx, q->g, o, n - own, seed, w.state + own * q->g->n, &possible, &found));
    if (!found) n = own; /* the components of the others stay as they are */
    if (n == 0 || !possible) goto done;
    CR_TRY(cri_blocks_new(cx, &s, q->g, o->block, seed, &blocks));
    w.workspace = cr_scratch_f64(&s, n * blocks.workspace);
    CR_TRY(s.status);
    q->visited = cr_alloc(cx, n * CRI_VISITS * q->g->n, sizeof *q->visited);
    if (!q->visited) CR_TRY(CR_ENOMEM);
    q->chains = n;
    CR_TRY(cri_parallel_for(cx, NULL, n, run_chain, &w));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- rounds ---------------------------------------------------------------------------------- */

typedef struct lesson {
    const cri_proposal *q;
    uint64_t            seed, stream;
    size_t              samples, blocks;
    size_t             *state;             /* [samples x n] */
    double             *part;              /* [samples x components] */
    double             *log_w, *workspace; /* [samples], [blocks x workspace] */
} lesson;

static void draw_block(void *arg, size_t b)
{
    lesson             *l = arg;
    const cri_proposal *q = l->q;
    cri_range           r = cri_block_range(l->samples, BLOCK, b);
    cr_rng              rng = cr_rng_stream(l->seed, l->stream + b);
    for (size_t i = r.begin; i < r.end; i++)
        l->log_w[i] = cri_proposal_draw(q, &rng, l->workspace + b * cri_proposal_workspace(q),
                                        l->state + i * q->g->n, l->part + i * q->components);
}

/* Weights scaled to their effective number, in place of their logs; false: all are 0. */
static bool scale_weights(lesson *l)
{
    double most = -INFINITY, sum = 0, squares = 0;
    for (size_t i = 0; i < l->samples; i++) most = fmax(most, l->log_w[i]);
    if (most == -INFINITY) return false;
    for (size_t i = 0; i < l->samples; i++) {
        double w = l->log_w[i] = exp(l->log_w[i] - most);
        sum += w;
        squares += w * w;
    }
    for (size_t i = 0; i < l->samples; i++) l->log_w[i] *= sum / squares;
    return true;
}

static void take_lesson(lesson *l, cri_proposal *q)
{
    size_t cells = q->count_begin[q->g->n];
    double all = 0;
    if (!scale_weights(l)) return;
    for (size_t i = 0; i < l->samples; i++) all += l->log_w[i];
    for (size_t j = 0; j < q->components; j++) {
        double *count = q->count + j * cells, gain = 0, old = 0;
        for (size_t i = 0; i < l->samples; i++)
            gain += l->log_w[i] > 0 ? l->log_w[i] * l->part[i * q->components + j] : 0;
        q->share[j] = (1 - FLOOR) * gain / all + FLOOR / (double)q->components;
        if (j == 0) continue;
        for (size_t c = 0; c < cells; c++) old += count[c] / (double)q->g->n;
        double keep = old > 0 ? 1 - 0.5 * fmin(gain / old, 1) : 1;
        for (size_t c = 0; c < cells; c++) count[c] *= keep;
        for (size_t i = 0; i < l->samples; i++)
            if (l->log_w[i] > 0)
                add_state(q, j, l->state + i * q->g->n,
                          l->log_w[i] * l->part[i * q->components + j]);
    }
}

cr_status cri_proposal_learn(cr_ctx *cx, cri_proposal *q, const cr_approximate_options *o,
                             const size_t *opt_start, size_t samples, uint64_t seed)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    lesson     l = { .q = q, .seed = seed, .samples = samples / ROUNDS };
    l.blocks = cri_block_count(l.samples, BLOCK);
    l.state = cr_scratch_index(&s, l.samples * q->g->n);
    l.part = cr_scratch_f64(&s, l.samples * q->components);
    l.log_w = cr_scratch_f64(&s, l.samples);
    l.workspace = cr_scratch_f64(&s, l.blocks * cri_proposal_workspace(q));
    CR_TRY(s.status);
    CR_TRY(learn_from_chains(cx, q, o, opt_start, seed));
    for (size_t round = 0; round < ROUNDS; round++) {
        l.stream = ((uint64_t)1 << 40) + round * l.blocks;
        CR_TRY(cri_parallel_for(cx, NULL, l.blocks, draw_block, &l));
        take_lesson(&l, q);
        cr_progress(cx, "learning", (double)round + 1, ROUNDS);
    }
done:
    cr_scratch_end(&s);
    return st;
}
