/* hmm_search.c -- the search for a hidden Markov model: starts, ends that are no answer, and the number of states by
 * BIC = -2 log L + parameters ln(rows) or, of a posterior, by its bound.
 * Ends are rejected in which a state has hardly any variance (--least-spread): it stands on a few equal rows. */
#include "hmm_plan.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static size_t candidates(const void *plan) { return ((const cri_hmm_plan *)plan)->tried; }

static size_t starts(const void *plan, size_t candidate, size_t restarts)
{
    const cri_hmm_plan *a = plan;
    return a->start.k || (a->from + candidate == 1 && a->M == 0) ? 1 : restarts;
}

static cr_status start(cr_ctx *cx, const void *plan, size_t candidate, size_t attempt,
                       const void *opt_best, cr_rng *rng, void **out_state)
{
    const cri_hmm_plan *a = plan;
    cri_hmm            *m = NULL;
    (void)opt_best;
    cr_status st = cri_hmm_start(cx, a, a->from + candidate, attempt, rng, &m);
    if (st == CR_OK) *out_state = m;
    return st;
}

static bool lost(const void *state) { return ((const cri_hmm *)state)->lost; }

static void reach(void *state, const double *sums)
{
    cri_hmm      *m = state;
    const double *rows = sums + 1 + m->k + m->k * m->k;
    m->weight = (double)m->data->T;
    m->log_likelihood = cri_hmm_is_vb(m) ? NAN : sums[0];
    memcpy(m->sums, sums, m->statistics * sizeof *sums);
    for (size_t c = 0; c < m->k; c++) m->share[c] = rows[c] / m->weight;
    if (m->log_likelihood != -INFINITY) return;
    memset(m->sums, 0, m->statistics * sizeof *sums); /* rows that cannot be expect nothing */
    memset(m->share, 0, m->k * sizeof *m->share);
}

static cr_status judge(cr_ctx *cx, const void *plan, const void *state, bool *out_rejected)
{
    const cri_hmm_plan *a = plan;
    const cri_hmm      *m = state;
    (void)cx;
    *out_rejected = false;
    for (size_t i = 0; i < m->parts * m->k && !m->fixed; i++)
        *out_rejected |= m->part_sd[i] * m->part_sd[i] < a->o->least_spread;
    if (m->k == 1 || m->fixed || cri_hmm_is_vb(m)) return CR_OK;
    for (size_t j = 0; j < m->p; j++) {
        const cri_emission *e = cri_emission_of(m->kind[j]);
        for (size_t c = 0; c < m->k && e && e->moved && m->kind[j] != CRI_EMIT_MIXTURE; c++) {
            double sd = m->spread[j * m->k + c];
            *out_rejected |= sd * sd < a->o->least_spread;
        }
    }
    cri_joint joint = cri_hmm_joint(m, NULL, NULL);
    if (m->g > 0) *out_rejected |= cri_joint_least(&joint) < a->o->least_spread;
    return CR_OK;
}

static void note(void *plan, size_t candidate, const cri_em_ends *ends, void *opt_best,
                 double *out_criterion)
{
    cri_hmm_plan *a = plan;
    cri_hmm      *m = opt_best;
    a->total.made += ends->made, a->total.rejected += ends->rejected;
    a->total.best_rejected = fmax(a->total.best_rejected, ends->best_rejected);
    if (!m) return;
    a->tried_likelihood[candidate] = cri_hmm_is_vb(m) ? m->em.objective : m->log_likelihood;
    a->tried_parameters[candidate] = cri_hmm_parameters(m);
    *out_criterion = cri_hmm_is_vb(m)
                         ? -m->em.objective
                         : -2 * m->log_likelihood + cri_hmm_parameters(m) * log(m->weight);
    m->rejected = ends->rejected;
    m->best_rejected = ends->best_rejected;
}

/* Parameters that were given and kept are no search that came to its end. */
static void report(const void *state, cr_report *r)
{
    const cri_hmm *m = state;
    r->log_likelihood = m->log_likelihood;
    if (m->fixed) r->stop = CR_STOP_CLOSED_FORM;
    if (!cri_hmm_is_vb(m)) return;
    r->log_evidence = m->em.objective;
    r->evidence = CR_EVIDENCE_BOUND;
}

static cr_status fail_finish(cr_ctx *cx, const cri_hmm_plan *a)
{
    cr_fail(cx, CR_EDATA, "hmm: all %zu starts ended with a state in which a column does not vary",
            a->total.made);
    return cr_fail_hint(cx, "ask for fewer --states or more --restarts, or allow states that vary "
                            "little with --least-spread");
}

static cr_status finish(cr_ctx *cx, const void *plan, void *opt_state)
{
    cr_status           st = CR_OK;
    const cri_hmm_plan *a = plan;
    cri_hmm            *m = opt_state;
    if (!m) return fail_finish(cx, a);
    bool named = a->start.k || a->transitions.k || a->data.label ||
                 strcmp(a->o->topology, "full") != 0; /* the user knows the states by number */
    cri_hmm_order_parts(m);
    if (!named) CR_TRY(cri_hmm_order(cx, m));
    for (size_t i = 0; i < a->tried; i++) m->tried_k[i] = (double)(a->from + i);
    memcpy(m->tried_likelihood, a->tried_likelihood, a->tried * sizeof(double));
    memcpy(m->tried_parameters, a->tried_parameters, a->tried * sizeof(double));
    if (m->rejected > 0 && m->best_rejected > m->em.objective)
        cr_log(cx, CR_LOG_INFO,
               "%zu of %zu starts ended higher, but with a state that does not vary", m->rejected,
               m->em.restarts);
    if (cri_hmm_is_vb(m)) CR_TRY(cri_hmm_vb_set_predictive(cx, m));
    CR_TRY(cri_hmm_follow(cx, m, m->data, m->ends));
    CR_TRY(cri_sequence_labels_join(cx, a->sequences, &m->labels));
    CR_TRY(cri_hmm_name(cx, m));
done:
    return st;
}

const cri_em_search cri_hmm_search = {
    .open = cri_hmm_plan_open,
    .close = cri_hmm_plan_close,
    .candidates = candidates,
    .starts = starts,
    .start = start,
    .log_prior = cri_hmm_log_prior,
    .lost = lost,
    .reach = reach,
    .judge = judge,
    .note = note,
    .report = report,
    .finish = finish,
    .review = cri_hmm_find_errors,
};
