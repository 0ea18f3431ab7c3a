/* program_chains.c -- chains side by side, each with an evaluation of the tape, a context and random numbers of its
 * own: the draws are the same on any number of threads. */
#include "base/context_internal.h"
#include "program.h"

#include <math.h>
#include <string.h>

enum { MOST_STARTS = 100 };
static const double START_WIDTH = 2; /* starts are uniform in -2..2, free of constraints */

/* --- the density ------------------------------------------------------------------------------ */

static void *open_run(void *bound, cr_scratch *s)
{
    cri_tape_run *run = cr_scratch_bytes(s, 1, sizeof *run);
    if (run) *run = cri_tape_open(&((const cri_bound *)bound)->tape, s);
    return run;
}

static double log_density(void *run, const double *x, double *opt_gradient)
{
    return cri_tape_density(run, x, opt_gradient);
}

/* --- one chain -------------------------------------------------------------------------------- */

typedef struct lane {
    cr_ctx                    *cx, *child;
    const cri_bound           *bound;
    const cri_program_request *request;
    const cri_target          *target;
    const cri_slot            *slot; /* [n]                                                      */
    size_t                     n, number, made, gradients;
    double                    *draws; /* [length x n]                                            */
    cri_nuts_note             *notes; /* [length]                                                */
    cri_clock                  clock;
    cr_status                  status;
} lane;

/* What is not finite at a point where the density is not: a quantity, or nothing but the density. */
static cr_status fail_start(cr_ctx *cx, const cri_bound *b, cri_tape_run *run, const double *x)
{
    const char *name = NULL;
    double      value = 0;
    cri_tape_report(run, x);
    for (size_t k = 0; k < b->n_quantities && !name; k++)
        for (size_t i = 0; i < b->quantity[k].n && !name; i++) {
            value = run->value[b->quantity[k].slot[i]];
            if (!isfinite(value)) name = b->quantity[k].name;
        }
    if (name)
        cr_fail(
            cx, CR_ENUMERIC,
            "program: no start was found: in %d tries the density was 0 or not a number; '%s' is "
            "%g at the last of them",
            MOST_STARTS, name, value);
    else
        cr_fail(
            cx, CR_ENUMERIC,
            "program: no start was found: in %d tries the density was 0 or not a number, although "
            "all quantities are finite: the data may be impossible under the model",
            MOST_STARTS);
    return cr_fail_hint(cx, "bounds keep parameters where the density is: real<lower=0> s");
}

static cr_status find_start(cr_ctx *cx, const lane *l, cri_tape_run *run, cr_rng *rng, double *x,
                            double *gradient)
{
    for (size_t tries = 0; tries < MOST_STARTS; tries++) {
        bool finite = true;
        for (size_t i = 0; i < l->target->n; i++)
            x[i] = START_WIDTH * (2 * cr_rng_uniform(rng) - 1);
        double density = log_density(run, x, gradient);
        for (size_t i = 0; i < l->target->n; i++) finite = finite && isfinite(gradient[i]);
        if (isfinite(density) && finite) return CR_OK;
    }
    return fail_start(cx, l->bound, run, x);
}

static cr_status sample(cr_ctx *cx, lane *l)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           free = l->target->n;
    cri_nuts_options nuts = l->request->nuts;
    cr_rng           rng = cr_rng_stream(l->request->seed, l->number);
    double          *x = cr_scratch_f64(&s, free), *gradient = cr_scratch_f64(&s, free);
    double          *made = cr_scratch_matrix(&s, nuts.draws, free);
    cri_tape_run    *run = cri_target_open(l->target, &s);
    CR_TRY(s.status);
    nuts.opt_clock = &l->clock;
    CR_TRY(find_start(cx, l, run, &rng, x, gradient));
    CR_TRY(cri_nuts_chain(cx, l->target, run, &nuts, &rng, x, made, l->notes, &l->made,
                          &l->gradients));
    for (size_t t = 0; t < l->made; t++) {
        cri_tape_report(run, made + t * free);
        for (size_t i = 0; i < l->n; i++) l->draws[t * l->n + i] = run->value[l->slot[i]];
    }
done:
    cr_scratch_end(&s);
    return st;
}

static void run_lane(void *arg, size_t k)
{
    lane *l = (lane *)arg + k;
    l->status = cri_ctx_child(l->cx, &l->child);
    if (l->status != CR_OK) return;
    l->clock.cx = l->child;
    l->status = sample(l->child, l);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The failure of the first chain that has one. */
static cr_status settle(cr_ctx *cx, const lane *l, size_t chains)
{
    for (size_t k = 0; k < chains; k++) {
        if (l[k].status == CR_OK) continue;
        return l[k].child && cr_error_status(l[k].child) != CR_OK ? cri_fail_as(cx, l[k].child)
                                                                  : cri_fail_memory(cx, 1);
    }
    return CR_OK;
}

/* As many draws of each as the one that has the fewest. */
static cr_status gather(cr_ctx *cx, const lane *l, cri_program *out)
{
    cr_status st = CR_OK;
    out->length = l[0].made;
    for (size_t k = 1; k < out->chains; k++)
        if (l[k].made < out->length) out->length = l[k].made;
    out->total = out->chains * out->length;
    CR_TRY(cri_record_allocate(cx, cri_program_record, out));
    for (size_t k = 0; k < out->chains; k++) {
        size_t first = k * out->length;
        memcpy(out->draws + first * out->n, l[k].draws, out->length * out->n * sizeof *out->draws);
        for (size_t t = 0; t < out->length; t++) {
            const cri_nuts_note *note = &l[k].notes[t];
            out->log_density[first + t] = note->log_density;
            out->energy[first + t] = note->energy;
            out->accept[first + t] = note->accept;
            out->step[first + t] = note->step;
            out->leapfrogs[first + t] = note->leapfrogs;
            out->depth[first + t] = note->depth;
            out->diverged[first + t] = note->diverged;
        }
        out->gradients += l[k].gradients;
    }
done:
    return st;
}

cr_status cri_program_sample(cr_ctx *cx, cri_bound *bound, const cri_program_request *request,
                             cri_program *out, bool *out_late)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_target target = {
        .n = bound->tape.n_parameters, .user = bound, .open = open_run, .log_density = log_density
    };
    size_t    C = request->chains, length = request->nuts.draws;
    lane     *l = cr_scratch_bytes(&s, C, sizeof *l);
    cri_slot *slot;
    double   *draws;
    cri_clock clock = cri_clock_start(cx, NAN);
    CR_TRY(s.status);
    CR_TRY(cri_program_choose(cx, bound, &s, &slot, out));
    if (out->n > SIZE_MAX / length / C) CR_TRY(cri_fail_memory(cx, SIZE_MAX));
    draws = cr_scratch_matrix(&s, C * length, out->n);
    for (size_t k = 0; k < C; k++)
        l[k] = (lane){ .cx = cx,
                       .bound = bound,
                       .request = request,
                       .target = &target,
                       .slot = slot,
                       .n = out->n,
                       .number = k,
                       .clock = clock,
                       .draws = draws ? draws + k * length * out->n : NULL,
                       .notes = cr_scratch_bytes(&s, length, sizeof *l->notes) };
    CR_TRY(s.status);
    out->chains = C, out->free = target.n;
    out->warmup = request->nuts.warmup, out->max_depth = request->nuts.depth;
    CR_TRY(cri_parallel_for(cx, "sampling", C, run_lane, l));
    CR_TRY(settle(cx, l, C));
    CR_TRY(gather(cx, l, out));
    *out_late = cri_clock_over(&clock) || out->length < length;
done:
    for (size_t k = 0; l && k < C; k++) cr_ctx_free(l[k].child);
    cr_scratch_end(&s);
    return st;
}
