/* program_describe.c -- what is said of a posterior: its quantities with what their draws are worth, and, in words,
 * what is wrong with the draws. */
#include "base/parallel.h"
#include "base/scratch.h"
#include "models/core/parameters.h"
#include "program.h"

#include <math.h>

/* Vehtari et al. (2021), sec. 4: R-hat below 1.01, and 100 effective draws for each of four chains; Betancourt (2016)
 * for the energies. */
static const double MOST_RHAT = 1.01, LEAST_ESS = 400, LEAST_BFMI = 0.3;

/* --- summaries -------------------------------------------------------------------------------- */

typedef struct summing {
    const cri_program *p;
    cri_draws_summary *out;  /* [n]                                       */
    double            *work; /* [slots x CRI_DRAWS_WORK x total]          */
    cri_slots          slots;
} summing;

static void summarise_one(void *arg, size_t i)
{
    summing           *a = arg;
    const cri_program *p = a->p;
    size_t             slot = cri_slot_take(&a->slots);
    cri_draws_summarise(p->draws + i, p->chains, p->length, p->n,
                        a->work + slot * CRI_DRAWS_WORK * p->total, &a->out[i]);
    cri_slot_leave(&a->slots, slot);
}

static cr_status summarise(cr_ctx *cx, cr_scratch *s, const cri_program *p, cri_draws_summary **out)
{
    summing a = { .p = p, .slots = { .n = cri_slots_needed(cx, p->n) } };
    *out = a.out = cr_scratch_bytes(s, p->n, sizeof *a.out);
    a.work = cr_scratch_matrix(s, a.slots.n * CRI_DRAWS_WORK, p->total);
    if (s->status != CR_OK) return s->status;
    return cri_parallel_for(cx, NULL, p->n, summarise_one, &a);
}

static size_t count_divergences(const cri_program *p)
{
    size_t n = 0;
    for (size_t t = 0; t < p->total; t++) n += p->diverged[t];
    return n;
}

static size_t count_deepest(const cri_program *p)
{
    size_t n = 0;
    for (size_t t = 0; t < p->total; t++) n += p->depth[t] >= p->max_depth && !p->diverged[t];
    return n;
}

/* --- describe --------------------------------------------------------------------------------- */

const cr_field cri_program_statistics[] = {
    CR_COUNT("chains", 0, "chains"),
    CR_COUNT("draws", 0, "draws of all chains that were kept"),
    CR_COUNT("warmup", 0, "draws before them, per chain, that the sampler learned by"),
    CR_COUNT("free", 0, "numbers without constraints that were sampled"),
    CR_COUNT("divergences", 0,
             "trajectories that lost their energy: the density is too steep there"),
    CR_COUNT("deepest", 0, "trajectories that were as long as --max-depth allows"),
    CR_COUNT("gradients", 0, "evaluations of the density and its gradient"),
    CR_NUMBER("e_bfmi", CR_FIELD_NULL,
              "how far momenta reach over the energies, in the worst chain; below 0.3 is bad"),
    CR_NUMBER("accept", 0, "mean acceptance of the steps"),
    CR_NUMBER("step", 0, "mean size of a step"),
    CR_FIELD_LAST,
};

static double mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

cr_status cri_program_describe(cr_ctx *cx, const void *state, const cr_design *design,
                               cri_sheet *out)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_program *p = state;
    cri_draws_summary *all;
    cri_sheet         *list, *statistics;
    (void)design;
    CR_TRY(summarise(cx, &s, p, &all));
    list = cri_put_list(out, "parameters");
    for (size_t i = 0; i < p->n; i++) {
        const cri_draws_summary *a = &all[i];
        cri_sheet *row = cri_parameter_add(list, a->mean, a->sd, "%s", p->known.name[i]);
        cri_put_real(row, "q5", a->q5);
        cri_put_real(row, "q50", a->q50);
        cri_put_real(row, "q95", a->q95);
        cri_put_real(row, "ess_bulk", a->ess_bulk);
        cri_put_real(row, "ess_tail", a->ess_tail);
        cri_put_real(row, "r_hat", a->r_hat);
        cri_put_real(row, "mcse", a->mcse);
    }
    statistics = cri_put_object(out, "statistics");
    cri_put_count(statistics, "chains", p->chains);
    cri_put_count(statistics, "draws", p->total);
    cri_put_count(statistics, "warmup", p->warmup);
    cri_put_count(statistics, "free", p->free);
    cri_put_count(statistics, "divergences", count_divergences(p));
    cri_put_count(statistics, "deepest", count_deepest(p));
    cri_put_count(statistics, "gradients", p->gradients);
    cri_put_real(statistics, "e_bfmi", cri_energy_bfmi(p->energy, p->chains, p->length));
    cri_put_real(statistics, "accept", mean(p->accept, p->total));
    cri_put_real(statistics, "step", mean(p->step, p->total));
    CR_TRY(cri_sheet_status(out));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* The quantity whose mean among the draws that diverged is furthest from that of the others, in sds. */
static size_t find_separating(const cri_program *p, const cri_draws_summary *all, bool *out_low)
{
    size_t best = 0, n = count_divergences(p);
    double most = -1;
    for (size_t i = 0; i < p->n; i++) {
        double inside = 0;
        for (size_t t = 0; t < p->total; t++)
            if (p->diverged[t]) inside += p->draws[t * p->n + i] / (double)n;
        double away = (inside - all[i].mean) / all[i].sd;
        if (fabs(away) > most) most = fabs(away), best = i, *out_low = away < 0;
    }
    return best;
}

static void judge_agreement(cr_ctx *cx, const cri_program *p, const cri_draws_summary *all,
                            bool *out_agree)
{
    size_t apart = 0, few = 0, worst = 0, fewest = 0;
    for (size_t i = 0; i < p->n; i++) {
        double ess = fmin(all[i].ess_bulk, all[i].ess_tail);
        if (all[i].r_hat > MOST_RHAT) apart++;
        if (all[i].r_hat > all[worst].r_hat) worst = i;
        if (ess < LEAST_ESS) few++;
        if (ess < fmin(all[fewest].ess_bulk, all[fewest].ess_tail)) fewest = i;
    }
    if (apart > 0) {
        *out_agree = false;
        cr_log(cx, CR_LOG_WARNING,
               "the chains do not agree: R-hat of %zu of %zu quantities is above %g, worst for %s "
               "(%.3g); "
               "more --warmup and --draws may help, or the posterior has several modes",
               apart, p->n, MOST_RHAT, p->known.name[worst], all[worst].r_hat);
    }
    if (few > 0) {
        const cri_draws_summary *a = &all[fewest];
        cr_log(
            cx, CR_LOG_WARNING,
            "few effective draws: %zu of %zu quantities have fewer than %g, %s the fewest (%.0f in "
            "bulk, %.0f in the tails); more --draws make more",
            few, p->n, LEAST_ESS, p->known.name[fewest], a->ess_bulk, a->ess_tail);
    }
}

cr_status cri_program_judge(cr_ctx *cx, const cri_program *p, bool *out_agree)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    cri_draws_summary *all;
    size_t             diverged = count_divergences(p), deepest = count_deepest(p);
    double             bfmi = cri_energy_bfmi(p->energy, p->chains, p->length);
    *out_agree = true;
    CR_TRY(summarise(cx, &s, p, &all));
    judge_agreement(cx, p, all, out_agree);
    if (diverged > 0) {
        bool   low = false;
        size_t i = find_separating(p, all, &low);
        cr_log(
            cx, CR_LOG_WARNING,
            "%zu of %zu trajectories diverged, mostly where %s is %s: the posterior is not fully "
            "explored there; --accept 0.95 takes smaller steps, and theta = mu + tau * z with "
            "standard normal z often removes the cause",
            diverged, p->total, p->known.name[i], low ? "low" : "high");
    }
    if (deepest * 100 > p->total)
        cr_log(cx, CR_LOG_WARNING,
               "%zu of %zu trajectories were as long as --max-depth %zu allows: slow, not wrong; "
               "parameters of like scales help",
               deepest, p->total, p->max_depth);
    if (bfmi < LEAST_BFMI)
        cr_log(cx, CR_LOG_WARNING,
               "E-BFMI is %.2f, below %g: heavy tails are not fully explored; another "
               "parameterisation helps",
               bfmi, LEAST_BFMI);
    for (size_t i = 0; i < p->n; i++)
        if (p->flat[i] && (i == 0 || !p->flat[i - 1]))
            cr_log(cx, CR_LOG_INFO, "%s has no prior: all its values count alike before the data",
                   p->known.name[i]);
done:
    cr_scratch_end(&s);
    return st;
}
