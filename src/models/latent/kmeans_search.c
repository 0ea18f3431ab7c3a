/* kmeans_search.c -- starts, and the best of their ends. */
#include "kmeans.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static const double AGREES = 1e-6; /* shares of the inertia that count as the same end */
static const double BETTER = 1e-12;

/* Swaps as long as any is made, with steps and moves after them. */
static cr_status search_swaps(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits,
                              cr_rng *rng)
{
    cr_status st = CR_OK;
    for (size_t made = 1; made > 0 && w->converged && w->iterations < limits->max_iter;) {
        CR_TRY(cri_kmeans_swap(cx, w, limits, rng, &made));
        CR_TRY(cri_kmeans_descend(cx, w, limits));
        CR_TRY(cri_kmeans_polish(cx, w, limits));
    }
done:
    return st;
}

cr_status cri_kmeans_run(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_settings *s, cr_rng *rng)
{
    cr_status st = CR_OK;
    if (s->opt_C)
        memcpy(w->C, s->opt_C, w->k * w->d->p * sizeof(double));
    else
        CR_TRY(cri_kmeans_start(cx, w, s, rng));
    cri_kmeans_begin(w);
    CR_TRY(cri_kmeans_descend(cx, w, &s->limits));
    if (s->polish) CR_TRY(cri_kmeans_polish(cx, w, &s->limits));
    if (s->polish && !cri_kmeans_has_many(w)) CR_TRY(search_swaps(cx, w, &s->limits, rng));
    CR_TRY(cri_kmeans_resum(cx, w));
done:
    return st;
}

cr_status cri_kmeans_search(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_settings *s,
                            cri_kmeans_end *out)
{
    cr_status       st = CR_OK;
    cr_scratch      scratch = cr_scratch_begin(cx);
    size_t          starts = s->opt_C ? 1 : s->restarts;
    double         *ends = cr_scratch_f64(&scratch, starts);
    cri_kmeans_work other = { 0 };

    *out = (cri_kmeans_end){ 0 };
    CR_TRY(scratch.status);
    while (out->made < starts && !out->cut) {
        cri_kmeans_work *now = out->made == 0 ? w : &other;
        if (out->made == 1) CR_TRY(cri_kmeans_work_open(cx, w->d, w->k, &other));
        cr_rng rng = cr_rng_stream(s->seed, out->made);
        CR_TRY(cri_kmeans_run(cx, now, s, &rng));
        ends[out->made++] = now->inertia;
        cr_log(cx, CR_LOG_INFO, "k = %zu, start %zu: inertia %.10g after %zu steps", w->k,
               out->made, now->inertia, now->iterations);
        out->cut = cri_clock_over(s->limits.clock) && (out->made < starts || !now->converged);
        if (now == &other && other.inertia < w->inertia * (1 - BETTER)) {
            cri_kmeans_work swap = *w;
            *w = other, other = swap;
        }
    }
    for (size_t i = 0; i < out->made; i++)
        out->agreed += ends[i] - w->inertia <= AGREES * w->inertia;
done:
    cri_kmeans_work_close(cx, &other);
    cr_scratch_end(&scratch);
    return st;
}
