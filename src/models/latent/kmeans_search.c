/* kmeans_search.c -- starts, and the best of their ends.
 * A start goes down by Lloyd's steps, then by single moves, then by swaps; after that swaps are tried that lose at
 * first, and kept where steps and moves after them end lower, until ten in a row have not, or twenty were tried; steps
 * that cannot be hoped to get so low are given up.  On digits, k = 10, ten starts then find the best optimum known with
 * each of eight seeds; without, fifty find it with seven. */
#include "kmeans.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static const double AGREES = 1e-6; /* shares of the inertia that count as the same end */
static const double BETTER = 1e-12;
static const double WORTH = 1e-9; /* what a swap must gain in the end */

enum { LOSSES = 10, TRIES = 20 }; /* tries in a row, and in all, that end a search by swaps */

/* Swaps, and steps and moves after them. */
static cr_status swap_once(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits,
                           bool forced, cr_rng *rng, size_t *out_made)
{
    cr_status st = cri_kmeans_swap(cx, w, limits, forced, rng, out_made);
    if (st == CR_OK) st = cri_kmeans_descend(cx, w, limits);
    return st == CR_OK ? cri_kmeans_polish(cx, w, limits) : st;
}

/* A swap that loses at first may gain in the end: tried, and taken back where it does not; *out_better says so. */
static cr_status try_loss(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits,
                          cr_rng *rng, double *C, bool *out_better)
{
    cr_status         st = CR_OK;
    size_t            steps = w->iterations, made;
    double            before = w->inertia;
    cri_kmeans_limits aiming = *limits;

    memcpy(C, w->C, w->k * w->d->p * sizeof *C);
    w->inertia = INFINITY; /* this way begins anew */
    aiming.aim = before;
    CR_TRY(swap_once(cx, w, &aiming, true, rng, &made));
    *out_better = w->inertia < before * (1 - WORTH);
    w->iterations = steps; /* the way there is not told */
    if (*out_better) {
        CR_TRY(cri_kmeans_note_step(cx, w));
        goto done;
    }
    memcpy(w->C, C, w->k * w->d->p * sizeof *C);
    cri_kmeans_forget(w);
    w->inertia = before;
    CR_TRY(cri_kmeans_descend(cx, w, limits));
    w->iterations = steps;
done:
    return st;
}

/* Swaps as long as any gains, at once or, of some tries, in the end. */
static cr_status search_swaps(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits,
                              cr_rng *rng)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *C = cr_scratch_matrix(&s, w->k, w->d->p);
    size_t     made = 1, lost = 0, tries = 0;

    CR_TRY(s.status);
    while (lost < LOSSES && tries < TRIES && w->k > 1 && w->converged &&
           w->iterations < limits->max_iter && !cri_clock_over(limits->clock)) {
        bool better = false;
        if (made > 0)
            CR_TRY(swap_once(cx, w, limits, false, rng, &made));
        else
            CR_TRY(try_loss(cx, w, limits, rng, C, &better));
        if (made == 0) lost = better ? 0 : lost + 1, tries++;
        if (better) made = 1;
    }
done:
    cr_scratch_end(&s);
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
