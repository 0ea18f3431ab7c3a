/* bn_structure.c -- which arcs a network has: none, from the target to all others, those of a file, or the best that a
 * search finds within what the options ask for. */
#include "arc_options.h"
#include "bn_searches.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* --- fixed shapes ----------------------------------------------------------------------------- */

static cr_status arcs_from_target(cr_ctx *cx, cri_bn *m)
{
    cr_status st = CR_OK;
    if (m->target == CR_NONE) {
        cr_fail(cx, CR_EARG, "--structure naive needs a target, from which the arcs lead");
        return cr_fail_hint(cx, "name it with --target COLUMN");
    }
    for (size_t v = 0; v < cr_network_size(m->net); v++)
        if (v != m->target) CR_TRY(cr_network_set_parents(cx, m->net, v, 1, &m->target));
done:
    return st;
}

/* --- rules from options ----------------------------------------------------------------------- */

cr_status cri_bn_rules(cr_scratch *s, const cri_bn *m, const cri_bn_options *o, cri_arc_rules *out)
{
    size_t          n = cr_network_size(m->net);
    const char    **names = cr_scratch_bytes(s, n, sizeof *names);
    cri_arc_options arcs = { o->order, o->require, o->forbid, o->start,
                             o->max_parents == CR_COUNT_UNSET ? SIZE_MAX : o->max_parents };
    if (!names) return s->status;
    for (size_t v = 0; v < n; v++) names[v] = cr_variable_name(cr_network_variables(m->net), v);
    return cri_arc_options_read(s, n, names, &arcs, out);
}

/* --- scores of rows --------------------------------------------------------------------------- */

/* One row in five, drawn by its number. */
static uint8_t *hold_out(cr_scratch *s, size_t n, uint64_t seed)
{
    uint8_t *held = cr_scratch_bytes(s, n, 1);
    for (size_t i = 0; i < n && held; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        held[i] = cr_rng_below(&r, 5) == 0;
    }
    return held;
}

cr_status cri_bn_cases(cr_scratch *s, const cri_bn *m, const cri_bn_rows *d,
                       const uint8_t *opt_held, cri_cases_table *out)
{
    uint32_t *levels = cr_scratch_bytes(s, d->p, sizeof *levels);
    if (!levels) return s->status;
    for (size_t v = 0; v < d->p; v++) levels[v] = (uint32_t)cr_network_states(m->net, v);
    return cri_cases_group(s, d->n, d->p, levels, d->code, d->weight, d->set, opt_held, out);
}

/* --- what a search has found ------------------------------------------------------------------ */

static cr_status take_arcs(cr_ctx *cx, const cri_dag *g, cri_bn *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    uint32_t  *list = cr_scratch_bytes(&s, g->n, sizeof *list);
    size_t    *parents = cr_scratch_index(&s, g->n);
    CR_TRY(s.status);
    for (size_t v = 0; v < g->n; v++) {
        size_t n = cri_bit_list(cri_dag_parents(g, v), g->words, list);
        for (size_t i = 0; i < n; i++) parents[i] = list[i];
        CR_TRY(cr_network_set_parents(cx, m->net, v, n, parents));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* What is kept of the arcs: where they are from, and room for what is known of each. */
static cr_status note_arcs(cr_ctx *cx, const char *how, cri_bn *m)
{
    cr_status st = CR_OK;
    cri_string_free(cx, m->how);
    if (m->strength) cr_free(cx, m->strength, m->arcs, sizeof *m->strength);
    if (m->direction) cr_free(cx, m->direction, m->arcs, sizeof *m->direction);
    if (m->compelled) cr_free(cx, m->compelled, m->arcs, sizeof *m->compelled);
    m->how = NULL, m->strength = m->direction = m->compelled = NULL, m->arcs = 0;
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        size_t n;
        cr_network_parents(m->net, v, &n);
        m->arcs += n;
    }
    m->how = cri_string_copy(cx, how);
    m->strength = cr_alloc(cx, m->arcs, sizeof *m->strength);
    m->direction = cr_alloc(cx, m->arcs, sizeof *m->direction);
    m->compelled = cr_alloc(cx, m->arcs, sizeof *m->compelled);
    if (!m->how || !m->strength || !m->direction || !m->compelled) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < m->arcs; i++) m->strength[i] = m->direction[i] = NAN;
done:
    return st;
}

/* Arrows of the class where it is narrower than that of the graph: arcs that rules fix, and those at a
 * variable that was set in some row, whose two ways fit differently (Hauser & Buhlmann 2012). */
static void narrow_class(const cri_arc_rules *opt_rules, const cri_bn_rows *d,
                         const cr_network *net, cri_pdag *class)
{
    for (size_t v = 0; v < class->n; v++) {
        size_t        n;
        const size_t *parents = cr_network_parents(net, v, &n);
        for (size_t k = 0; k < n; k++) {
            size_t u = parents[k];
            bool   fixed = opt_rules &&
                         (cri_arc_required(opt_rules, u, v) || !cri_arc_allowed(opt_rules, v, u));
            for (size_t i = 0; d->set && i < d->n && !fixed; i++)
                fixed = d->set[i] == u || d->set[i] == v;
            if (fixed) cri_pdag_set_arrow(class, u, v);
        }
    }
    cri_pdag_meek(class);
}

/* Which arcs all networks of the class have the same way. */
static cr_status note_class(cr_ctx *cx, const cri_arc_rules *opt_rules, const cri_bn_rows *d,
                            cri_bn *m)
{
    cr_status st = CR_OK;
    cri_pdag class = { 0 };
    size_t arc = 0;
    CR_TRY(cri_pdag_of_network(cx, m->net, &class));
    CR_TRY(cri_pdag_complete(cx, &class));
    narrow_class(opt_rules, d, m->net, &class);
    for (size_t v = 0; v < class.n; v++) {
        size_t        n;
        const size_t *parents = cr_network_parents(m->net, v, &n);
        for (size_t k = 0; k < n; k++) m->compelled[arc++] = cri_pdag_arrow(&class, parents[k], v);
    }
done:
    cri_pdag_free(cx, &class);
    return st;
}

/* The score of the family of v when u, a parent or not, is so no longer. */
static double score_toggled(cri_local_scores *scores, const cri_dag *g, size_t v, size_t u)
{
    uint32_t  list[CRI_MOST_PARENTS + 1];
    uint64_t *parents = cri_dag_parents(g, v);
    bool      has = cri_bit_has(parents, u);
    has ? cri_bit_drop(parents, u) : cri_bit_add(parents, u);
    double score = cri_local_score(scores, v, list, cri_bit_list(parents, g->words, list));
    has ? cri_bit_add(parents, u) : cri_bit_drop(parents, u);
    return score;
}

static double logistic(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }

/* How much the score loses without an arc, and by its reversal, as probabilities.  A line of the class, of which there
 * are as good networks with either way, counts one half each where the score does not tell members apart: reversing
 * the arc alone may close a cycle, or meet others, and says nothing of those networks. */
static void weigh_arcs(cri_local_scores *scores, const cri_arc_rules *rules, bool equivalent,
                       const cri_dag *g, cri_bn *m)
{
    uint32_t list[CRI_MOST_PARENTS];
    size_t   arc = 0;
    for (size_t v = 0; v < g->n; v++) {
        size_t n = cri_bit_list(cri_dag_parents(g, v), g->words, list);
        double is = cri_local_score(scores, v, list, n);
        for (size_t i = 0; i < n; i++, arc++) {
            uint32_t u = list[i], above[CRI_MOST_PARENTS];
            double   drops = is - score_toggled(scores, g, v, u);
            size_t   k = cri_bit_list(cri_dag_parents(g, u), g->words, above);
            bool     turns = cri_dag_can_reverse(g, u, v) && cri_arc_allowed(rules, v, u) &&
                         k < rules->most_parents;
            m->strength[arc] = logistic(drops);
            m->direction[arc] = 1;
            if (equivalent && m->compelled[arc] == 0)
                m->direction[arc] = 0.5;
            else if (turns)
                m->direction[arc] = logistic(drops + cri_local_score(scores, u, above, k) -
                                             score_toggled(scores, g, u, v));
        }
    }
}

/* Takes the trace. */
static void note_search(cr_ctx *cx, const cri_search_result *r, cri_bn *m, cr_report *report)
{
    if (m->trace) cr_free(cx, m->trace, m->trace_size, sizeof *m->trace);
    m->steps += r->steps;
    m->trace = r->trace;
    m->trace_size = r->trace_size;
    report->iterations = m->steps;
    report->stop = r->cut ? CR_STOP_TIME : CR_STOP_TOLERANCE;
    if (r->cut)
        cr_log(cx, CR_LOG_WARNING,
               "time or memory ended the search after %zu steps: this is the best graph so far",
               r->steps);
}

/* What a search needs beside the cases. */
typedef struct task {
    cr_ctx               *cx;
    const cri_rows       *rows;
    const cri_bn_options *o;
    const cri_bn_rows    *data;
    uint64_t              seed;
    cri_bn               *m;
    cr_report            *report;
    cri_score_kind        kind;
    double                ess;
    cri_arc_rules         rules;
} task;

static cr_status take_start(const task *t)
{
    cri_dag g = { .n = t->rules.n, .words = t->rules.words, .parents = t->rules.start };
    return take_arcs(t->cx, &g, t->m);
}

/* Do the rules leave something out, or ask for something? */
static bool is_ruled(const cri_arc_rules *r)
{
    size_t allowed = cri_bit_count(r->allowed, r->n * r->words);
    return allowed < r->n * (r->n - (r->n > 0)) || cri_bit_count(r->required, r->n * r->words) > 0;
}

/* Strengths of the arcs from probabilities of all. */
static void note_probabilities(const double *arcs, cri_bn *m)
{
    size_t arc = 0, n = cr_network_size(m->net);
    for (size_t v = 0; v < n; v++) {
        size_t        k;
        const size_t *parents = cr_network_parents(m->net, v, &k);
        for (size_t i = 0; i < k; i++, arc++) {
            double way = arcs[parents[i] * n + v], back = arcs[v * n + parents[i]];
            m->strength[arc] = fmin(way + back, 1);
            m->direction[arc] = way + back > 0 ? way / (way + back) : 0.5;
        }
    }
}

/* From the start of the rules, by complete rows; the arcs go to the network. */
static cr_status search_once(task *t, const cri_bn_rows *data, cri_search_result *out)
{
    cr_status          st = CR_OK;
    cr_ctx            *cx = t->cx;
    cr_scratch         s = cr_scratch_begin(cx);
    cri_local_scores  *scores = NULL;
    cri_cases_table    cases;
    cri_score_source   source;
    cri_bn_found       found = { .arcs = NULL };
    cri_clock          clock = cri_clock_start(cx, NAN);
    size_t             n = data->p, usual = n > 100 ? n : 100;
    cri_bn_search_task how = { .cx = cx,
                               .o = t->o,
                               .target = t->m->target,
                               .seed = t->seed,
                               .kind = t->kind,
                               .rules = &t->rules,
                               .ruled = is_ruled(&t->rules),
                               .cases = &cases,
                               .source = &source,
                               .restarts =
                                   t->o->restarts == CR_COUNT_UNSET ? usual : t->o->restarts,
                               .replicates =
                                   t->o->bootstrap == CR_COUNT_UNSET ? 0 : t->o->bootstrap,
                               .clock = &clock };
    uint8_t           *held = t->kind == CRI_SCORE_HOLDOUT ? hold_out(&s, data->n, t->seed) : NULL;
    CR_TRY(s.status);
    CR_TRY(cri_bn_cases(&s, t->m, data, held, &cases));
    CR_TRY(cri_table_score(&s, &cases, t->kind, t->ess, &source));
    CR_TRY(cri_local_scores_new(cx, &source, &scores));
    how.scores = scores;
    CR_TRY(cri_bn_search(&s, &how, &found));
    cr_log(cx, CR_LOG_INFO, "%zu steps, %zu restarts, %zu families scored", found.result.steps,
           found.result.restarts, cri_local_scores_computed(scores));
    note_search(cx, &found.result, t->m, t->report);
    found.result.trace = NULL; /* it is the model's now */
    CR_TRY(take_arcs(cx, &found.result.dag, t->m));
    CR_TRY(note_arcs(cx, t->o->structure, t->m));
    CR_TRY(note_class(cx, &t->rules, data, t->m));
    if (found.arcs)
        note_probabilities(found.arcs, t->m);
    else
        weigh_arcs(scores, &t->rules, source.equivalent, &found.result.dag, t->m);
    t->m->bound = found.bound, t->m->rhat = found.rhat, t->m->replicates = found.replicates;
    memcpy(t->rules.start, found.result.dag.parents,
           n * t->rules.words * sizeof *found.result.dag.parents);
    out->cut = found.result.cut;
done:
    if (found.result.trace)
        cr_free(cx, found.result.trace, found.result.trace_size, sizeof *found.result.trace);
    cri_pdag_free(cx, &found.graph);
    cri_local_scores_free(scores);
    cr_scratch_end(&s);
    return st;
}

/* The rows of a table without gaps, as they are probable by the arcs of the network and the tables that fit these. */
static cr_status complete(cr_scratch *s, task *t, cri_bn_rows *out)
{
    cr_status       st = CR_OK;
    cri_bn         *m = t->m;
    cri_bn_counter *counter = NULL;
    cri_bn_options  o = *t->o;
    cr_report       report = { 0 };
    size_t          left = 0;
    o.restarts = 0;
    cri_bn_drop_tables(t->cx, m);
    CR_TRY(cri_bn_place_tables(t->cx, m));
    CR_TRY(cri_bn_open_prior(t->cx, &o, m));
    cri_mute_warnings(t->cx, true);
    st = cri_bn_fit_em(t->cx, t->rows, &o, t->data, t->seed, m, &report);
    cri_mute_warnings(t->cx, false);
    CR_TRY(st);
    double *value = cr_scratch_f64(s, m->size);
    CR_TRY(s->status);
    for (size_t v = 0; v < t->data->p; v++) {
        cr_table_view table = cr_network_table(m->net, v);
        memcpy(value + m->at[v], table.value, table.size * sizeof *value);
    }
    CR_TRY(cri_bn_counter_new(t->cx, m, t->data, &counter));
    CR_TRY(cri_bn_complete(s, counter, value, t->seed, out, &left));
    if (left > 0)
        cr_log(
            t->cx, CR_LOG_WARNING,
            "%zu different rows have too much missing to be completed: the search leaves them out",
            left);
done:
    cri_bn_counter_free(counter);
    return st;
}

/* Structural EM (Friedman 1998): rows are completed by the network, arcs searched for these, until they stay. */
static cr_status search_with_gaps(task *t)
{
    enum { MOST_ROUNDS = 20 };
    cr_status         st = CR_OK;
    cr_scratch        own = cr_scratch_begin(t->cx);
    size_t            size = t->rules.n * t->rules.words * sizeof *t->rules.start, round = 0;
    uint64_t         *before = cr_scratch_bytes(&own, size, 1);
    cri_search_result r = { .cut = false };
    bool              same = false;
    CR_TRY(own.status);
    CR_TRY(take_start(t));
    for (; round < MOST_ROUNDS && !same && !r.cut; round++) {
        cr_scratch  s = cr_scratch_begin(t->cx);
        cri_bn_rows rows;
        memcpy(before, t->rules.start, size);
        st = complete(&s, t, &rows);
        if (st == CR_OK) st = search_once(t, &rows, &r);
        cr_scratch_end(&s);
        CR_TRY(st);
        same = memcmp(before, t->rules.start, size) == 0;
    }
    cr_log(t->cx, CR_LOG_INFO, "%zu rounds of structural EM", round);
    if (!same && !r.cut)
        cr_log(t->cx, CR_LOG_WARNING, "the arcs still change after %zu rounds of structural EM",
               round);
    cri_bn_drop_tables(t->cx, t->m);
done:
    cr_scratch_end(&own);
    return st;
}

static cr_status search(cr_scratch *s, task *t)
{
    cr_status         st = CR_OK;
    cri_search_result r;
    CR_TRY(cri_score_parse(t->cx, t->o->criterion, &t->kind, &t->ess));
    CR_TRY(cri_bn_rules(s, t->m, t->o, &t->rules));
    if (t->o->bootstrap != CR_COUNT_UNSET && t->o->bootstrap > 0 && !t->data->complete) {
        cr_fail(t->cx, CR_EUNSUPPORTED, "--bootstrap takes rows in which no cell is missing");
        CR_TRY(cr_fail_hint(t->cx, "leave out rows with gaps by --missing drop, or --bootstrap"));
    }
    CR_TRY(t->data->complete ? search_once(t, t->data, &r) : search_with_gaps(t));
done:
    return st;
}

/* All scores of the structure, of complete rows. */
static cr_status score_structure(cr_ctx *cx, const cri_bn_options *o, const cri_bn_rows *data,
                                 uint64_t seed, cri_bn *m)
{
    enum { KINDS = CRI_SCORE_HOLDOUT + 1 };
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_cases_table cases;
    cri_score_kind  kind;
    double          ess, size;
    uint32_t       *list = cr_scratch_bytes(&s, data->p, sizeof *list);
    CR_TRY(cri_score_parse(cx, o->criterion, &kind, &ess));
    bool held = kind == CRI_SCORE_HOLDOUT;
    size = kind == CRI_SCORE_BDEU || kind == CRI_SCORE_BDS ? ess : 1;
    m->score = cr_alloc(cx, KINDS, sizeof *m->score);
    if (!m->score) CR_TRY(CR_ENOMEM);
    m->scores = KINDS;
    CR_TRY(cri_bn_cases(&s, m, data, NULL, &cases));
    for (cri_score_kind k = CRI_SCORE_BIC; k <= CRI_SCORE_HOLDOUT; k++) {
        cri_score_source source;
        void            *work;
        if (k == CRI_SCORE_HOLDOUT && !held) continue;
        if (k == CRI_SCORE_HOLDOUT)
            CR_TRY(cri_bn_cases(&s, m, data, hold_out(&s, data->n, seed), &cases));
        CR_TRY(cri_table_score(&s, &cases, k, k == CRI_SCORE_HOLDOUT ? ess : size, &source));
        CR_TRY(source.open_work(&s, source.own, &work));
        for (size_t v = 0; v < data->p; v++) {
            size_t        n;
            const size_t *parents = cr_network_parents(m->net, v, &n);
            for (size_t i = 0; i < n; i++) list[i] = (uint32_t)parents[i];
            m->score[k] += source.score(source.own, v, list, n, work);
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_bn_find_structure(cr_ctx *cx, const cri_rows *rows, const cri_bn_options *o,
                                const cri_bn_rows *data, uint64_t seed, cri_bn *m,
                                cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    task       t = { cx, rows, o, data, seed, m, report, CRI_SCORE_BIC, 1, { 0 } };
    m->bound = m->rhat = NAN;
    if (cri_bn_is_search(o->structure)) {
        CR_TRY(search(&s, &t));
    } else {
        if (strcmp(o->structure, "naive") == 0) CR_TRY(arcs_from_target(cx, m));
        CR_TRY(note_arcs(cx, o->structure, m));
        CR_TRY(note_class(cx, NULL, data, m));
    }
    if (data->complete) CR_TRY(score_structure(cx, o, data, seed, m));
done:
    cr_scratch_end(&s);
    return st;
}
