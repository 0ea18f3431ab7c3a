/* bn_searches.c -- the table of searches. */
#include "bn_searches.h"
#include "graph/learn/arc_posterior.h"
#include "graph/learn/arc_strength.h"
#include "graph/learn/exact.h"
#include "graph/learn/ges.h"
#include "graph/learn/neighbours.h"
#include "graph/learn/pc.h"
#include "graph/learn/tree.h"

#include <math.h>
#include <string.h>

/* --- by scores -------------------------------------------------------------------------------- */

static cr_status climb(cr_scratch *s, const cri_bn_search_task *t, const cri_arc_rules *rules,
                       bool tabu, cri_bn_found *out)
{
    cri_search_options how = {
        .tabu = tabu, .memory = 15, .restarts = t->restarts, .seed = t->seed
    };
    return cri_search_dag(s, t->scores, rules, &how, &out->result);
}

static cr_status find_greedy(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    return climb(s, t, t->rules, false, out);
}

static cr_status find_tabu(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    return climb(s, t, t->rules, true, out);
}

static void put_dag(const uint64_t *parents, size_t words, cri_pdag *g)
{
    memset(g->edge, 0, g->n * g->n);
    for (size_t v = 0; v < g->n; v++)
        for (size_t u = 0; u < g->n; u++)
            if (cri_bit_has(parents + v * words, u)) cri_pdag_set_arrow(g, u, v);
}

/* A member of a class, into a graph that may have too many parents for the rules. */
static cr_status take_member(cr_scratch *s, const cri_pdag *class, cri_dag *out,
                             bool *opt_consistent)
{
    cr_ctx   *cx = s->cx;
    cr_status st = CR_OK;
    cri_pdag  g = { 0 };
    bool      consistent;
    *out = cri_dag_new(s, class->n);
    CR_TRY(s->status);
    CR_TRY(cri_pdag_new(cx, class->n, &g));
    cri_pdag_copy(class, &g);
    CR_TRY(cri_pdag_extend(cx, &g, &consistent));
    for (size_t v = 0; v < g.n; v++)
        for (size_t u = 0; u < g.n; u++)
            if (cri_pdag_arrow(&g, u, v)) cri_bit_add(cri_dag_parents(out, v), u);
    cri_dag_close(out, NULL);
    for (size_t v = 0; v < g.n; v++) {
        size_t parents = cri_bit_count(cri_dag_parents(out, v), out->words);
        if (parents <= CRI_MOST_PARENTS) continue;
        cr_fail(cx, CR_EUNSUPPORTED, "a variable has %zu parents, of which a table may have %d",
                parents, CRI_MOST_PARENTS);
        CR_TRY(cr_fail_hint(cx, "lower --alpha, or search by scores: --structure tabu"));
    }
    if (opt_consistent) *opt_consistent = consistent;
done:
    cri_pdag_free(cx, &g);
    return st;
}

static cr_status find_class(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    cr_status       st = CR_OK;
    cr_ctx         *cx = t->cx;
    cri_pdag        g = { 0 };
    cri_ges_report  report;
    cri_ges_options o = { .most_parents = t->rules->most_parents,
                          .restarts = t->restarts,
                          .seed = t->seed,
                          .opt_clock = t->clock };
    CR_TRY(cri_pdag_new(cx, t->rules->n, &g));
    put_dag(t->rules->start, t->rules->words, &g);
    CR_TRY(cri_pdag_complete(cx, &g));
    CR_TRY(cri_ges(cx, t->scores, &o, &g, &report));
    CR_TRY(take_member(s, &g, &out->result.dag, NULL));
    out->result.score = report.score;
    out->result.steps = report.inserted + report.removed;
    out->result.restarts = report.restarts;
    out->result.cut = report.stopped;
done:
    cri_pdag_free(cx, &g);
    return st;
}

/* From the best graph that tabu search finds, which is then proven or beaten. */
static cr_status find_exact(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    cr_status         st = CR_OK;
    cri_exact_report  report;
    cri_exact_options o = { .opt_clock = t->clock };
    cri_penalty p = { t->cases->levels, t->kind == CRI_SCORE_AIC ? 1 : log(t->cases->rows) / 2 };
    if ((t->kind == CRI_SCORE_BIC || t->kind == CRI_SCORE_AIC) && !t->cases->set)
        o.opt_bound = cri_penalty_bound(&p);
    CR_TRY(climb(s, t, t->rules, true, out));
    CR_TRY(cri_exact_search(t->cx, t->source, t->rules, &o, &out->result.dag, &report));
    out->result.score = report.score;
    out->bound = isfinite(report.bound) ? report.bound : NAN;
    out->result.cut = !report.proven;
    cr_log(t->cx, CR_LOG_INFO, "%.0f families scored, %.0f useful; %.0f sets of variables by %s",
           report.families, report.useful, report.sets,
           report.method == CRI_EXACT_DP ? "dynamic programming" : "A*");
    if (!report.proven && isfinite(report.bound))
        cr_log(t->cx, CR_LOG_WARNING,
               "not proven: a graph may score up to %.6g more than the one that was found",
               report.bound - report.score);
    else if (!report.proven)
        cr_log(t->cx, CR_LOG_WARNING,
               "not proven: time ran out before all families that matter were scored");
done:
    return st;
}

/* --- by tests --------------------------------------------------------------------------------- */

static cr_status open_test(const cri_bn_search_task *t, cri_state_test *own, cri_independence *out)
{
    cr_status st = CR_OK;
    if (t->cases->set) {
        cr_fail(t->cx, CR_EARG, "tests of independence do not take --intervention into account");
        CR_TRY(cr_fail_hint(t->cx, "search by scores: --structure tabu"));
    }
    CR_TRY(cri_state_test_of(t->cx, t->cases, (cri_state_statistic)t->o->test, t->o->alpha, own));
    *out = cri_independence_states(own);
done:
    return st;
}

static cr_status find_by_tests(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    cr_status        st = CR_OK;
    cri_state_test   own;
    cri_independence test;
    cri_pc_report    report;
    bool             consistent;
    cri_pc_options   o = { .most_given = t->o->max_given, /* SIZE_MAX unless given */
                           .colliders = (cri_collider_rule)t->o->colliders,
                           .opt_rules = t->rules,
                           .opt_clock = t->clock };
    CR_TRY(open_test(t, &own, &test));
    CR_TRY(cri_pc(t->cx, &test, &o, &out->graph, NULL, &report));
    CR_TRY(take_member(s, &out->graph, &out->result.dag, &consistent));
    out->result.steps = (size_t)report.tests;
    out->result.cut = report.stopped;
    cr_log(t->cx, CR_LOG_INFO, "%.0f tests, given up to %zu others", report.tests, report.deepest);
    if (report.conflicts > 0 || !consistent)
        cr_log(t->cx, CR_LOG_INFO, "tests contradict each other: %zu colliders were left out%s",
               report.conflicts,
               consistent ? "" : ", and no graph has just these arcs and colliders");
done:
    return st;
}

/* Tabu search among the pairs that tests leave joined. */
static cr_status find_among_neighbours(cr_scratch *s, const cri_bn_search_task *t,
                                       cri_bn_found *out)
{
    cr_status             st = CR_OK;
    cri_state_test        own;
    cri_independence      test;
    cri_arc_rules         rules = *t->rules;
    size_t                size = rules.n * rules.words;
    cri_neighbour_options o = { .most_given = t->o->max_given, .opt_rules = t->rules };
    uint64_t             *near = cr_scratch_bytes(s, size, sizeof *near);
    rules.start = cr_scratch_bytes(s, size, sizeof *rules.start);
    CR_TRY(s->status);
    CR_TRY(open_test(t, &own, &test));
    CR_TRY(cri_neighbours(t->cx, &test, &o, CR_NONE, near, NULL));
    for (size_t i = 0; i < size; i++) {
        near[i] &= rules.allowed[i];
        near[i] |= rules.required[i];
        rules.start[i] = t->rules->start[i] & near[i];
    }
    rules.allowed = near;
    CR_TRY(climb(s, t, &rules, true, out));
done:
    return st;
}

static cr_status find_tree_of(cr_scratch *s, const cri_bn_search_task *t, size_t target,
                              cri_bn_found *out)
{
    cr_status        st = CR_OK;
    cri_state_test   own;
    cri_independence test;
    CR_TRY(open_test(t, &own, &test));
    own.statistic = CRI_TEST_G2; /* whose association is the mutual information */
    out->result.dag = cri_dag_new(s, t->rules->n);
    CR_TRY(s->status);
    CR_TRY(cri_tree_learn(t->cx, &test, t->rules, target, t->target, &out->result.dag, NULL));
done:
    return st;
}

static cr_status find_chow_liu(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    return find_tree_of(s, t, CR_NONE, out);
}

static cr_status find_tan(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    if (t->target != CR_NONE) return find_tree_of(s, t, t->target, out);
    cr_fail(t->cx, CR_EARG, "--structure tan needs a target, which is a parent of all others");
    return cr_fail_hint(t->cx, "name it with --target COLUMN, or take chow-liu");
}

/* --- posteriors ------------------------------------------------------------------------------- */

enum {
    ALL_FAMILIES = 12,
    USUAL_PARENTS = 4,
    MOST_EXACT = 20,
    MOST_CHOSEN = 12,
    ALL_CANDIDATES = 16
};

/* Sums over families of all candidates, or those that are likely beside a graph that tabu search finds,
 * which is left in `out`.  More than some columns have up to 4 parents unless --max-parents says. */
static cr_status sum_families(cr_scratch *s, const cri_bn_search_task *t, size_t all, bool keep,
                              cri_family_sums *f, cri_bn_found *out)
{
    cr_status     st = CR_OK;
    cri_arc_rules rules = *t->rules;
    size_t        n = rules.n, most = n <= all + 1 ? n : MOST_CHOSEN;
    uint64_t     *candidates = cr_scratch_bytes(s, n * rules.words, sizeof *candidates);
    if (t->kind == CRI_SCORE_LOGLIK || t->kind == CRI_SCORE_HOLDOUT) {
        cr_fail(t->cx, CR_EARG, "--criterion %s gives no probabilities of arcs",
                cri_score_name(t->kind));
        CR_TRY(cr_fail_hint(t->cx, "take --criterion bdeu:1, or bic as an approximation"));
    }
    CR_TRY(s->status);
    if (t->o->max_parents == CR_COUNT_UNSET && n > ALL_FAMILIES &&
        rules.most_parents > USUAL_PARENTS)
        rules.most_parents = USUAL_PARENTS;
    CR_TRY(climb(s, t, &rules, true, out));
    CR_TRY(cri_choose_candidates(t->cx, t->scores, &rules, &out->result.dag, most, candidates));
    CR_TRY(cri_family_sums_make(s, t->source, &rules, candidates, CRI_FAMILIES_EQUAL, keep, f));
    cr_log(t->cx, CR_LOG_INFO, "%.0f families of up to %zu parents among %zu candidates",
           f->families, rules.most_parents, most < n ? most : n - (n > 0));
done:
    return st;
}

static cr_status find_all_orders(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    cr_status       st = CR_OK;
    size_t          n = t->rules->n;
    cri_family_sums f;
    if (n > MOST_EXACT) {
        cr_fail(t->cx, CR_EUNSUPPORTED, "--structure order-exact takes up to %d columns, not %zu",
                MOST_EXACT, n);
        CR_TRY(cr_fail_hint(t->cx, "--structure order-mcmc or partition-mcmc"));
    }
    CR_TRY(sum_families(s, t, MOST_EXACT, false, &f, out));
    out->arcs = cr_scratch_matrix(s, n, n);
    CR_TRY(s->status);
    CR_TRY(cri_order_exact(t->cx, &f, out->arcs, NULL));
    CR_TRY(cri_averaged_network(t->cx, out->arcs, 0.5, t->rules, &out->result.dag));
done:
    return st;
}

static cr_status run_chains(cr_scratch *s, const cri_bn_search_task *t, bool orders,
                            cri_bn_found *out)
{
    enum { CHAINS = 4 };
    cr_status         st = CR_OK;
    size_t            n = t->rules->n;
    cri_family_sums   f;
    cri_chain_report  report;
    cri_chain_options o = { .orders = orders,
                            .chains = CHAINS,
                            .samples = (t->o->samples + CHAINS - 1) / CHAINS,
                            .thin = 1,
                            .seed = t->seed,
                            .opt_clock = t->clock };
    CR_TRY(sum_families(s, t, ALL_CANDIDATES, !orders, &f, out));
    out->arcs = cr_scratch_matrix(s, n, n);
    CR_TRY(s->status);
    CR_TRY(cri_order_chains(t->cx, &f, &o, &out->result.dag, out->arcs, &report));
    CR_TRY(cri_averaged_network(t->cx, out->arcs, 0.5, t->rules, &out->result.dag));
    out->rhat = report.rhat;
    out->replicates = CHAINS * report.samples;
    out->result.cut |= report.samples < o.samples;
    if (!(report.rhat < 1.1))
        cr_log(t->cx, CR_LOG_WARNING,
               "the chains do not agree on all arcs (R-hat %.3g): more --samples help",
               report.rhat);
done:
    return st;
}

static cr_status find_by_orders(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    return run_chains(s, t, true, out);
}

static cr_status find_by_partitions(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    return run_chains(s, t, false, out);
}

/* --- the table -------------------------------------------------------------------------------- */

typedef struct search_row {
    const char *name;
    cr_status (*find)(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out);
    bool takes_rules; /* arcs that are required, or not allowed */
} search_row;

static const search_row searches[] = {
    { "greedy", find_greedy, true },
    { "tabu", find_tabu, true },
    { "ges", find_class, false },
    { "exact", find_exact, true },
    { "pc", find_by_tests, true },
    { "mmhc", find_among_neighbours, true },
    { "chow-liu", find_chow_liu, true },
    { "tan", find_tan, false },
    { "order-exact", find_all_orders, true },
    { "order-mcmc", find_by_orders, true },
    { "partition-mcmc", find_by_partitions, true },
};

static const search_row *find_search(const char *name)
{
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++)
        if (strcmp(searches[i].name, name) == 0) return &searches[i];
    return NULL;
}

bool cri_bn_is_search(const char *name) { return find_search(name) != NULL; }

cr_status cri_bn_search_once(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    const search_row *row = find_search(t->o->structure);
    *out = (cri_bn_found){ .bound = NAN, .rhat = NAN };
    if (t->ruled && !row->takes_rules) {
        cr_fail(t->cx, CR_EARG, "--structure %s cannot keep to --order, --require and --forbid",
                row->name);
        return cr_fail_hint(t->cx, "--structure tabu and exact can");
    }
    return row->find(s, t, out);
}

cr_status cri_bn_search(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *out)
{
    cr_status st = CR_OK;
    CR_TRY(cri_bn_search_once(s, t, out));
    if (t->replicates == 0) goto done;
    CR_TRY(cri_bn_bootstrap(s, t, out));
    if (t->o->average)
        CR_TRY(cri_averaged_network(t->cx, out->arcs, 0.5, t->rules, &out->result.dag));
done:
    return st;
}
