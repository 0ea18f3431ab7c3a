/* kmeans_search.c -- starts, and the best of their ends.
 * A start goes down by Lloyd's steps, then by single moves, then by swaps; after that swaps are tried that lose at
 * first, and kept where steps and moves after them end lower, until ten in a row have not, or twenty were tried, or the
 * start has taken 120 passes over the rows; steps that cannot be hoped to get so low are given up.  On digits, k = 10,
 * ten starts then find the best optimum known with each of eight seeds; without, fifty find it with seven.  Where rows
 * have no clusters, descents are long and lead to ends that differ by chance: there the passes are what ends it. */
#include "kmeans.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static const double AGREES = 1e-6; /* shares of the inertia that count as the same end */
static const double BETTER = 1e-12;
static const double WORTH = 1e-9; /* what a swap must gain in the end */

/* Tries in a row, and in all, that end a search by swaps, and passes over the rows after which there are no more. */
enum { LOSSES = 10, TRIES = 20, PASSES = 120 };

/* Swaps, and steps and moves after them. */
static cr_status swap_once(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits,
                           bool forced, cr_rng *rng, size_t *out_made)
{
    cr_status st = cri_kmeans_swap(cx, w, limits, forced, rng, out_made);
    if (st == CR_OK) st = cri_kmeans_descend(cx, w, limits);
    return st == CR_OK ? cri_kmeans_polish(cx, w, limits) : st;
}

/* All that steps change of a search. */
typedef struct place {
    double   *C, *sum, *size, *count, *drift, *u, *l;
    uint32_t *a;
    double    inertia;
} place;

static void place_open(cr_scratch *s, const cri_kmeans_work *w, place *out)
{
    size_t k = w->k, p = w->d->p, n = w->d->n;
    *out = (place){ .C = cr_scratch_matrix(s, k, p), .sum = cr_scratch_matrix(s, k, p) };
    out->size = cr_scratch_f64(s, k), out->count = cr_scratch_f64(s, k);
    out->drift = cr_scratch_f64(s, k);
    out->u = cr_scratch_f64(s, n), out->l = cr_scratch_f64(s, n);
    out->a = cr_scratch_bytes(s, n, sizeof *out->a);
}

/* Copies where the search stands to a place, or leads it back there. */
static void copy_place(cri_kmeans_work *w, place *to, bool back)
{
    size_t  k = w->k, p = w->d->p, n = w->d->n;
    double *here[] = { w->C, w->sum, w->size, w->count, w->drift, w->u, w->l };
    double *there[] = { to->C, to->sum, to->size, to->count, to->drift, to->u, to->l };
    size_t  many[] = { k * p, k * p, k, k, k, n, n };
    for (size_t i = 0; i < 7; i++)
        memcpy(back ? here[i] : there[i], back ? there[i] : here[i], many[i] * sizeof(double));
    memcpy(back ? w->a : to->a, back ? to->a : w->a, n * sizeof *w->a);
    if (!back)
        to->inertia = w->inertia;
    else
        w->inertia = to->inertia, w->converged = true;
}

/* A swap that loses at first may gain in the end: tried, and taken back where it does not; *out_better says so. */
static cr_status try_loss(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits,
                          cr_rng *rng, place *before, bool *out_better)
{
    cr_status         st = CR_OK;
    size_t            steps = w->iterations, made;
    cri_kmeans_limits aiming = *limits;

    copy_place(w, before, false);
    w->inertia = INFINITY; /* this way begins anew */
    aiming.aim = before->inertia;
    CR_TRY(swap_once(cx, w, &aiming, true, rng, &made));
    *out_better = w->inertia < before->inertia * (1 - WORTH);
    w->iterations = steps; /* the way there is not told */
    if (*out_better)
        CR_TRY(cri_kmeans_note_step(cx, w));
    else
        copy_place(w, before, true);
done:
    return st;
}

/* Swaps as long as any gains, at once or, of some tries, in the end. */
static cr_status search_swaps(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits,
                              cr_rng *rng)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     made = 1, lost = 0, tries = 0;
    place      before;

    place_open(&s, w, &before);
    CR_TRY(s.status);
    while (lost < LOSSES && tries < TRIES && (made > 0 || w->passes < PASSES) && w->k > 1 &&
           w->converged && w->iterations < limits->max_iter && !cri_clock_over(limits->clock)) {
        bool better = false;
        if (made > 0)
            CR_TRY(swap_once(cx, w, limits, false, rng, &made));
        else
            CR_TRY(try_loss(cx, w, limits, rng, &before, &better));
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
