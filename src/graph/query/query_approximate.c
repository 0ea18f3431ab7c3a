/* query_approximate.c -- approximations behind the face of an engine, and the choice between them. */
#include "query_approximate.h"
#include "query_mixture.h"
#include "graph/network/network_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Chains and messages that differ by more on average do not speak of the same thing. */
static const double FAR = 0.1;

bool cri_engine_approximates(const cri_engine *e) { return e->plan.method >= CR_QUERY_APPROXIMATE; }

/* --- answers --------------------------------------------------------------------------------- */

cr_status cri_approximate_ask(cri_engine *e, cr_approximation how, size_t n, const size_t *query,
                              cr_approximate_answer *out)
{
    if (e->mixed) return cri_mixture_ask(e, how, n, query, out);
    return cr_approximate(e->cx, e->net, e->evidence, how, &e->o.approximate, e->o.seed, n, query,
                          out);
}

static void note_choice(cri_engine *e, const char *text)
{
    size_t used = strlen(e->result.why);
    snprintf(e->result.why + used, sizeof e->result.why - used, "; %s", text);
}

/* AUTO: cluster messages; where they do not converge, chains, if these have mixed and are not far
 * from them.  *a is what the messages said and becomes what is taken. */
static cr_status choose_between(cri_engine *e, cr_approximate_answer *a)
{
    cr_approximate_answer other = { 0 };
    double                far = 0;
    char                  text[64];
    e->compare = false;
    if (a->report.converged || a->report.log_evidence == -INFINITY) {
        note_choice(e, "gbp was used");
        return CR_OK;
    }
    if (cri_budget_left(e) <= 0 || a->report.planned > 0) {
        note_choice(e, "gbp was used, which did not converge");
        return CR_OK;
    }
    cr_status st = cri_budget_ask(e, CR_APPROXIMATE_GIBBS, &other);
    if (st == CR_ENUMERIC || st == CR_EUNSUPPORTED || st == CR_EDATA) {
        note_choice(e, "gbp was used, which did not converge, and gibbs gave no answer");
        return CR_OK;
    }
    if (st != CR_OK) return st;
    for (size_t k = 0; k < a->states; k++)
        far += fabs(a->marginal[k] - other.marginal[k]) / (double)a->states;
    if (other.report.converged && far < FAR) {
        e->plan.method = (cr_query_method)(CR_QUERY_APPROXIMATE + (int)CR_APPROXIMATE_GIBBS);
        note_choice(e, "gibbs was used, since gbp did not converge");
        cr_approximate_free(e->cx, a);
        *a = other;
        return CR_OK;
    }
    note_choice(e, "gbp was used, which did not converge");
    if (other.report.converged)
        snprintf(text, sizeof text, "gibbs differs from it by %.2g on average", far);
    else
        snprintf(text, sizeof text, "and the chains of gibbs have not mixed (R-hat %.3g)",
                 other.report.rhat);
    note_choice(e, text);
    cr_approximate_free(e->cx, &other);
    return CR_OK;
}

cr_status cri_engine_approximate(cri_engine *e, const cr_approximate_answer **out)
{
    cr_status             st = CR_OK;
    cr_approximate_answer a = { 0 };
    if (!e->is_known) {
        cr_approximation how = (cr_approximation)(e->plan.method - CR_QUERY_APPROXIMATE);
        CR_TRY(e->compare ? cri_budget_ask(e, how, &a) : cri_approximate_ask(e, how, 0, NULL, &a));
        if (e->compare) CR_TRY(choose_between(e, &a));
        cr_approximate_free(e->cx, &e->known);
        e->known = a;
        a = (cr_approximate_answer){ 0 };
        e->is_known = true;
    }
    e->result.used = e->plan.method;
    e->result.error = e->known.report;
    *out = &e->known;
done:
    cr_approximate_free(e->cx, &a);
    return st;
}

cr_status cri_approximate_log(cri_engine *e, double *out)
{
    const cr_approximate_answer *a;
    cr_status                    st = cri_engine_approximate(e, &a);
    if (st == CR_OK) *out = a->report.log_evidence;
    return st;
}

/* The spread of one variable's probabilities: that of counts with these standard errors. */
static cr_status spread_of(cri_engine *e, const cr_approximate_answer *a, const cr_factor *f,
                           size_t begin)
{
    if (!(a->report.samples > 0)) return CR_OK;
    cr_status st = cr_factor_copy(e->cx, f, &e->result.spread);
    for (size_t k = 0; st == CR_OK && k < f->size; k++) {
        double se = a->se[begin + k], p = f->value[k];
        e->result.spread.value[k] = p < 1 && se > 0 ? se * se / (1 - p) : 0;
    }
    return st;
}

cr_status cri_approximate_joint(cri_engine *e, size_t n, const size_t *query, cr_factor *out,
                                double *log)
{
    cr_status                    st = CR_OK;
    const cr_approximate_answer *a;
    cr_approximate_answer        table = { 0 };
    cr_factor_free(e->cx, &e->result.spread);
    if (n == 1) {
        size_t states = cr_network_states(e->net, query[0]);
        CR_TRY(cri_engine_approximate(e, &a));
        if (log) *log = a->report.log_evidence;
        if (a->report.log_evidence == -INFINITY) CR_TRY(cri_fail_impossible(e->cx));
        CR_TRY(cr_factor_new(e->cx, 1, query, &states,
                             a->marginal + cri_states_before(e->net, query[0]), out));
        CR_TRY(spread_of(e, a, out, cri_states_before(e->net, query[0])));
        goto done;
    }
    if (e->compare) CR_TRY(cri_engine_approximate(e, &a));
    CR_TRY(cri_approximate_ask(e, (cr_approximation)(e->plan.method - CR_QUERY_APPROXIMATE), n,
                               query, &table));
    e->result.used = e->plan.method;
    e->result.error = table.report;
    if (log) *log = table.report.log_evidence;
    if (table.report.log_evidence == -INFINITY) CR_TRY(cri_fail_impossible(e->cx));
    *out = table.joint;
    table.joint = (cr_factor){ 0 };
    e->result.spread = table.spread;
    table.spread = (cr_factor){ 0 };
done:
    cr_approximate_free(e->cx, &table);
    return st;
}

cr_status cri_approximate_marginals(cri_engine *e, double *out, double *log)
{
    const cr_approximate_answer *a;
    cr_status                    st = cri_engine_approximate(e, &a);
    if (st != CR_OK) return st;
    if (a->report.log_evidence == -INFINITY) return cri_fail_impossible(e->cx);
    memcpy(out, a->marginal, a->states * sizeof *out);
    *log = a->report.log_evidence;
    return CR_OK;
}

/* --- the best -------------------------------------------------------------------------------- */

/* Decimation: the evidence is as before in the end. */
static cr_status decimate(cri_engine *e, size_t n, const size_t *query, cr_evidence *before,
                          size_t *state, double *log_best)
{
    cr_status                    st = CR_OK;
    const cr_approximate_answer *a;
    cr_evidence                 *kept = e->evidence;
    bool                         certain = false, reported = false;
    e->evidence = before;
    for (size_t i = 0; i < n; i++) {
        size_t best = 0, at = cri_states_before(e->net, query[i]);
        bool   late = i > 0 && e->began != 0 && cri_budget_left(e) <= 0;
        e->is_known = e->is_known && (i == 0 || certain || late);
        if (late && !reported)
            snprintf(e->result.cut, sizeof e->result.cut,
                     "%zu of %zu variables had to be set at once", n - i, n);
        reported |= late;
        CR_TRY(cri_engine_approximate(e, &a));
        if (i == 0) *log_best = a->report.log_evidence;
        if (i == 0) e->result.share = 0;
        for (size_t x = 1; x < cr_network_states(e->net, query[i]); x++)
            if (a->marginal[at + x] > a->marginal[at + best]) best = x;
        state[i] = best;
        certain = a->marginal[at + best] == 1; /* then it changes nothing */
        *log_best += log(a->marginal[at + best]);
        e->result.share += log(a->marginal[at + best]);
        CR_TRY(cr_evidence_observe(e->cx, e->evidence, query[i], best));
    }
done:
    e->evidence = kept;
    e->is_known = false;
    return st;
}

cr_status cri_approximate_map(cri_engine *e, size_t n, const size_t *query, size_t *state,
                              double *log)
{
    cr_status    st = CR_OK;
    cr_evidence *e2 = NULL;
    if (n == 0)
        return cr_approximate_best(e->cx, e->net, e->evidence, &e->o.approximate, state, log,
                                   &e->result.upper, &e->result.error);
    if (e->mixed && n > 1) return cri_mixture_best(e, n, query, state);
    CR_TRY(cr_evidence_new(e->cx, e->net, &e2));
    for (size_t v = 0; v < cr_network_size(e->net); v++) {
        const double *l = cr_evidence_likelihood(e->evidence, v);
        if (l) CR_TRY(cr_evidence_weigh(e->cx, e2, v, l));
    }
    CR_TRY(decimate(e, n, query, e2, state, log));
done:
    cr_evidence_free(e->cx, e2);
    return st;
}
