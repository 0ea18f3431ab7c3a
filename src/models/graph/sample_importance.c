/* sample_importance.c -- importance sampling with a proposal that learns from its own weights.
 * A quarter of the samples goes into rounds of learning; the rest is drawn from what was learnt,
 * and only it counts, so that the mean of the weights is an unbiased estimate of P(e).  What a
 * round teaches is worth its effective number of samples. */
#include "proposal.h"
#include "sample.h"
#include "../../base/parallel.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 6, BLOCK = 64 };

typedef struct lesson {
    const cri_proposal *q;
    uint64_t            seed, stream;
    size_t              samples, blocks;
    size_t             *state;        /* [samples x n] */
    double             *log_w, *room; /* [samples], [blocks x room] */
} lesson;

static void learn_block(void *arg, size_t b)
{
    lesson   *l = arg;
    cri_range r = cri_block_range(l->samples, BLOCK, b);
    cr_rng    rng = cr_rng_stream(l->seed, l->stream + b);
    for (size_t i = r.begin; i < r.end; i++)
        l->log_w[i] = cri_proposal_draw(l->q, &rng, l->room + b * cri_proposal_room(l->q->g),
                                        l->state + i * l->q->g->n);
}

/* Counts of one round: weights scaled to their effective number. */
static void take_lesson(const lesson *l, cri_proposal *q)
{
    double most = -INFINITY, sum = 0, squares = 0;
    for (size_t i = 0; i < l->samples; i++) most = fmax(most, l->log_w[i]);
    if (most == -INFINITY) return;
    for (size_t i = 0; i < l->samples; i++) {
        double w = exp(l->log_w[i] - most);
        sum += w;
        squares += w * w;
    }
    double scale = sum / squares;                                            /* effective / sum */
    for (size_t c = 0; c < q->count_begin[q->g->n]; c++) q->count[c] *= 0.5; /* the past fades */
    for (size_t i = 0; i < l->samples; i++) {
        double        w = scale * exp(l->log_w[i] - most);
        const size_t *state = l->state + i * q->g->n;
        for (size_t k = 0; w > 0 && k < q->g->n; k++)
            q->count[cri_proposal_cell(q, k, state) + state[q->order[k]]] += w;
    }
}

static cr_status learn(cr_ctx *cx, cri_proposal *q, size_t samples, uint64_t seed)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    lesson     l = { .q = q, .seed = seed, .samples = samples / ROUNDS };
    l.blocks = cri_block_count(l.samples, BLOCK);
    l.state = cr_scratch_index(&s, l.samples * q->g->n);
    l.log_w = cr_scratch_f64(&s, l.samples);
    l.room = cr_scratch_f64(&s, l.blocks * cri_proposal_room(q->g));
    CR_TRY(s.status);
    for (size_t round = 0; round < ROUNDS; round++) {
        l.stream = ((uint64_t)1 << 40) + round * l.blocks;
        CR_TRY(cri_parallel_for(cx, NULL, l.blocks, learn_block, &l));
        take_lesson(&l, q);
        cr_progress(cx, "learning", (double)round + 1, ROUNDS);
    }
done:
    cr_scratch_end(&s);
    return st;
}

static void draw_some(void *arg, cr_rng *r, size_t count, double *room, size_t *index, cri_tally *t)
{
    for (size_t i = 0; i < count; i++) {
        double log_w = cri_proposal_draw(arg, r, room, index);
        cri_tally_add(t, index, log_w);
    }
}

cr_status cri_sample_importance(cr_ctx *cx, const cri_fgraph *g, const cr_factor *opt_joint,
                                const cr_approximate_options *o, size_t samples, uint64_t seed,
                                cri_tally *total)
{
    cr_status    st = CR_OK;
    cri_proposal q = { 0 };
    CR_TRY(cri_proposal_new(cx, g, o, &q));
    if (q.bp.impossible) goto done;
    CR_TRY(learn(cx, &q, samples / 4, seed));
    cri_sampler sampler = { .what = "samples",
                            .g = g,
                            .joint = opt_joint,
                            .samples = samples - samples / 4,
                            .seed = seed,
                            .room = cri_proposal_room(g),
                            .index = g->n,
                            .draw = draw_some,
                            .arg = &q };
    CR_TRY(cri_sample(cx, &sampler, total));
done:
    cri_proposal_free(cx, &q);
    return st;
}
