/* relevance.c -- one feature after another. */
#include "relevance.h"
#include "base/parallel.h"
#include "base/scratch.h"

typedef struct ranking {
    const cri_independence *test;
    size_t                  with; /* what associations are measured with now */
    bool                   *taken;
    double                 *found;  /* [n] */
    char                   *memory; /* [slots x size] */
    size_t                  size;
    cri_slots               slots;
} ranking;

static void measure(void *arg, size_t f)
{
    ranking *w = arg;
    if (w->taken[f]) return;
    size_t slot = cri_slot_take(&w->slots);
    w->found[f] =
        w->test->verdict(w->test->arg, w->memory + slot * w->size, f, w->with, 0, NULL).association;
    cri_slot_leave(&w->slots, slot);
}

cr_status cri_rank_features(cr_ctx *cx, const cri_independence *test, size_t target, size_t k,
                            cri_ranked_feature *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = test->n;
    ranking    w = { .test = test, .with = target };
    double    *relevance = cr_scratch_f64(&s, n),
           *redundancy = cr_scratch_bytes(&s, n, sizeof(double));
    w.slots = (cri_slots){ .n = cri_slots_needed(cx, n) };
    w.size = (test->workspace(test->arg, 0) + 63) / 64 * 64;
    w.taken = cr_scratch_bytes(&s, n, sizeof *w.taken);
    w.found = cr_scratch_f64(&s, n);
    w.memory = cr_scratch_bytes(&s, w.slots.n, w.size);
    CR_TRY(s.status);
    w.taken[target] = true;
    for (size_t i = 0; i <= k && i < n; i++) {
        CR_TRY(cri_parallel_for(cx, NULL, n, measure, &w));
        for (size_t f = 0; f < n; f++) {
            if (w.taken[f]) continue;
            if (i == 0)
                relevance[f] = w.found[f];
            else
                redundancy[f] += w.found[f];
        }
        if (i == k) break;
        size_t best = n;
        double most = 0;
        for (size_t f = 0; f < n; f++) {
            if (w.taken[f]) continue;
            double score = relevance[f] - (i > 0 ? redundancy[f] / (double)i : 0);
            if (best == n || score > most) best = f, most = score;
        }
        if (best == n) break;
        out[i] = (cri_ranked_feature){ best, relevance[best],
                                       i > 0 ? redundancy[best] / (double)i : 0, most };
        w.taken[best] = true;
        w.with = best;
    }
done:
    cr_scratch_end(&s);
    return st;
}
