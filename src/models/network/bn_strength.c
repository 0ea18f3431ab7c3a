/* bn_strength.c -- arcs learned again from rows drawn with replacement.
 * Each replicate is searched as the rows were, with fewer restarts.  What counts is its class, where the
 * score and the rules do not tell members apart: an arc that data cannot point counts half each way. */
#include "bn_searches.h"
#include "graph/learn/arc_strength.h"

enum { RESTARTS = 5 };

typedef struct learner {
    const cri_bn_search_task *t;
    double                    ess;
} learner;

static cr_status learn_again(cr_ctx *cx, void *arg, const cri_cases_table *cases, uint64_t seed,
                             cri_pdag *out)
{
    const learner     *l = arg;
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    cri_bn_search_task t = *l->t;
    cri_score_source   source;
    cri_local_scores  *scores = NULL;
    cri_bn_found       found = { .arcs = NULL };
    cri_pdag           g = { 0 };
    CR_TRY(cri_table_score(&s, cases, t.kind, l->ess, &source));
    CR_TRY(cri_local_scores_new(cx, &source, &scores));
    t.cases = cases, t.source = &source, t.scores = scores, t.seed = seed;
    if (t.restarts > RESTARTS) t.restarts = RESTARTS;
    CR_TRY(cri_bn_search_once(&s, &t, &found));
    if (found.graph.n > 0) {
        *out = found.graph;
        found.graph = (cri_pdag){ 0 };
        goto done;
    }
    CR_TRY(cri_pdag_new(cx, t.rules->n, &g));
    for (size_t v = 0; v < g.n; v++)
        for (size_t u = 0; u < g.n; u++)
            if (cri_dag_has(&found.result.dag, u, v)) cri_pdag_set_arrow(&g, u, v);
    if (source.equivalent && !t.ruled) CR_TRY(cri_pdag_complete(cx, &g));
    *out = g;
    g = (cri_pdag){ 0 };
done:
    if (found.result.trace)
        cr_free(cx, found.result.trace, found.result.trace_size, sizeof *found.result.trace);
    cri_pdag_free(cx, &found.graph);
    cri_pdag_free(cx, &g);
    cri_local_scores_free(scores);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_bn_bootstrap(cr_scratch *s, const cri_bn_search_task *t, cri_bn_found *inout)
{
    cr_status st = CR_OK;
    size_t    n = t->rules->n;
    learner   l = { .t = t };
    if (inout->arcs) {
        cr_fail(t->cx, CR_EARG, "--structure %s gives probabilities of arcs by itself",
                t->o->structure);
        CR_TRY(cr_fail_hint(t->cx, "leave --bootstrap out"));
    }
    cri_score_kind kind;
    CR_TRY(cri_score_parse(t->cx, t->o->criterion, &kind, &l.ess));
    inout->arcs = cr_scratch_matrix(s, n, n);
    CR_TRY(s->status);
    CR_TRY(cri_arc_bootstrap(t->cx, t->cases, learn_again, &l, t->replicates, t->seed, t->clock,
                             inout->arcs, &inout->replicates));
    inout->result.cut |= inout->replicates < t->replicates;
done:
    return st;
}
