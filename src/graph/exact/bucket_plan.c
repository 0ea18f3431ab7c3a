/* bucket_plan.c -- the plan of an elimination: the problem, an order, what it costs, and a cutset
 * where memory is short (condition.h), chosen greedily among the variables of the largest
 * cliques. */
#include "bucket_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static const double MOST_RUNS = 1 << 20;
static const double FAR = 64; /* no order is so much better than a quick one */

cr_exact_options cr_exact_defaults(void) { return (cr_exact_options){ .effort = 1 }; }

/* --- one run --------------------------------------------------------------------------------- */

void cri_run_free(cr_ctx *cx, cri_run *r)
{
    cri_elimination_tree_free(cx, &r->tree);
    cr_order_free(cx, &r->order);
    cri_problem_free(cx, r->problem);
    *r = (cri_run){ 0 };
}

static cr_status refuse(cr_ctx *cx, const cri_elimination *p, const cr_exact_report *r)
{
    return cri_exact_refuse(cx, "exact elimination", r, &p->options);
}

/* Where the operations are limited: is a quick order so far above that no search for a better one
 * is worth while?  It is followed no further than that: the last cliques of a wide network take
 * longest. */
static cr_status refuse_early(cr_ctx *cx, const cri_elimination *p, const cri_problem *problem,
                              const cr_graph *g, const size_t *group)
{
    cr_exact_report r = { 0 };
    double          most = FAR * p->options.most;
    if (p->options.most <= 0 || p->options.order != CR_ELIMINATE_BEST) return CR_OK;
    cr_status st = cri_order_glance(cx, g, problem->active_states, p->n > 0 ? group : NULL, most,
                                    &r.operations, &r.width);
    r.bytes = 8 * r.operations; /* at the most: of all cliques */
    return st != CR_OK || r.operations <= most ? st : refuse(cx, p, &r);
}

/* opt_o: an order is looked for, and what it costs goes to *opt_report; NULL: the order is that of
 * p->run. */
static cr_status prepare(cr_ctx *cx, const cri_elimination *p, const cr_evidence *e,
                         const cr_exact_options *opt_o, cri_run *out, cr_exact_report *opt_report)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_run       r = { 0 };
    cr_graph      g = { 0 };
    const size_t *order = p->run.order.order;
    size_t       *group = NULL, kept = 0;
    double        start = (double)cr_ctx_memory(cx), passing, finding;
    CR_TRY(cri_problem_new(cx, p->net, e, p->goal == CRI_BEST ? NULL : p->asked, &r.problem));
    if (p->goal == CRI_POSTERIOR) CR_TRY(cri_problem_connect(cx, r.problem, p->asked));
    group = cr_scratch_bytes(&s, r.problem->active, sizeof *group);
    CR_TRY(s.status);
    for (size_t i = 0; p->goal != CRI_BEST && i < r.problem->active; i++)
        kept += group[i] = p->asked[r.problem->var[i]];
    passing = (double)cr_ctx_memory(cx);
    CR_TRY(cri_problem_graph(cx, r.problem, &g));
    passing = (double)cr_ctx_memory(cx) - passing; /* the graph is not kept */
    finding = (double)cr_ctx_memory(cx) - start;
    if (opt_o) {
        CR_TRY(refuse_early(cx, p, r.problem, &g, group));
        CR_TRY(cr_order_find(cx, &g, r.problem->active_states, kept ? group : NULL, opt_o->order,
                             opt_o->effort, &r.order));
        order = r.order.order;
    }
    CR_TRY(cri_elimination_tree_new(cx, &g, order, &r.tree));
    CR_TRY(cri_problem_rank(cx, r.problem, order));
    r.first_max = p->goal == CRI_BEST ? 0 : p->goal == CRI_MAP ? r.problem->active - kept : CR_NONE;
    r.kept = p->goal == CRI_BEST || p->goal == CRI_MAP ? 0 : kept;
    if (opt_o)
        CR_TRY(cri_run_predict(cx, &r, finding + r.order.bytes,
                               (double)cr_ctx_memory(cx) - start - passing, opt_report));
    *out = r;
    r = (cri_run){ 0 };
done:
    cr_graph_free(cx, &g);
    cri_run_free(cx, &r);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_run_like(cr_ctx *cx, const cri_elimination *p, const cr_evidence *e, cri_run *out)
{
    return prepare(cx, p, e, NULL, out, NULL);
}

/* --- the plan -------------------------------------------------------------------------------- */

void cri_elimination_free(cr_ctx *cx, cri_elimination *p)
{
    if (p->net) cr_free(cx, p->asked, cr_network_size(p->net), sizeof *p->asked);
    cr_free(cx, p->query, p->n, sizeof *p->query);
    cri_run_free(cx, &p->run);
    *p = (cri_elimination){ 0 };
}

static cr_status take_query(cr_ctx *cx, const cr_network *net, const size_t *query,
                            cri_elimination *p)
{
    size_t variables = cr_network_size(net);
    for (size_t i = 0; i < p->n; i++) {
        if (query[i] >= variables)
            return cr_fail(cx, CR_EARG, "there is no variable %zu, only %zu of them", query[i],
                           variables);
        if (p->asked[query[i]])
            return cr_fail(cx, CR_EARG, "'%s' is asked for twice",
                           cr_variable_name(cr_network_variables(net), query[i]));
        p->asked[p->query[i] = query[i]] = true;
    }
    return CR_OK;
}

cr_status cri_elimination_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                              cri_goal goal, size_t n, const size_t *query,
                              const cr_exact_options *o, cri_elimination *out)
{
    cr_status       st = CR_OK;
    cri_elimination p = { .net = net, .evidence = opt_e, .options = *o, .goal = goal, .n = n };
    p.asked = cr_alloc(cx, cr_network_size(net), sizeof *p.asked);
    p.query = p.asked ? cr_alloc(cx, n, sizeof *p.query) : NULL;
    if (!p.query) CR_TRY(CR_ENOMEM);
    CR_TRY(take_query(cx, net, query, &p));
    CR_TRY(prepare(cx, &p, opt_e, o, &p.run, &p.report));
    *out = p;
    p = (cri_elimination){ 0 };
done:
    cri_elimination_free(cx, &p);
    return st;
}

bool cri_elimination_answers(const cri_elimination *p, cri_goal goal, size_t n, const size_t *query)
{
    if (!p->net || p->goal != goal || p->n != n) return false;
    return n == 0 || memcmp(p->query, query, n * sizeof *query) == 0;
}

/* --- the cutset ------------------------------------------------------------------------------ */

/* The variable whose states, taken one by one, relieve the largest cliques most: the sum over
 * cliques of their entries, counted for each variable in them.  A sum over states can be exchanged
 * with sums only, so the query is not conditioned on, and of marginal MAP nothing but the query. */
static cr_status choose_variable(cr_ctx *cx, const cri_elimination *plan, size_t *out_v)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_run     *r = &plan->run;
    const cri_problem *p = r->problem;
    double            *load = cr_scratch_bytes(&s, p->active, sizeof *load), best = 0;
    CR_TRY(s.status);
    for (size_t i = 0; i < p->active; i++) {
        double size = (double)p->active_states[i];
        for (size_t k = r->tree.begin[i]; k < r->tree.begin[i + 1]; k++)
            size *= (double)p->active_states[r->tree.later[k]];
        load[i] += size;
        for (size_t k = r->tree.begin[i]; k < r->tree.begin[i + 1]; k++)
            load[r->tree.later[k]] += size;
    }
    *out_v = CR_NONE;
    for (size_t i = 0; i < p->active; i++) {
        double k = (double)p->active_states[i], gain = load[i] * (1 - 1 / k) / log(k);
        if (plan->goal != CRI_BEST && plan->asked[p->var[i]] != (plan->goal == CRI_MAP)) continue;
        if (gain > best) best = gain, *out_v = p->var[i];
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Takes variables into the cutset until a run fits. */
static cr_status choose_cutset(cr_ctx *cx, cri_elimination *p)
{
    cr_status        st = CR_OK;
    cr_evidence     *e = NULL;
    cri_cutset      *c = &p->cutset;
    cr_exact_report  whole = p->report;
    cr_exact_options quick = p->options;
    quick.effort = 0;
    if (p->goal == CRI_POSTERIOR) p->goal = CRI_EVIDENCE; /* the runs are weighed by P(e, c) */
    if (whole.tables > MOST_RUNS * cri_exact_memory(cx, &p->options)) CR_TRY(refuse(cx, p, &whole));
    CR_TRY(cri_evidence_copy(cx, p->net, p->evidence, &e));
    while (!cri_exact_fits_runs(cx, &p->options, &p->report, p->net)) {
        cri_run r;
        size_t  v;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(choose_variable(cx, p, &v));
        if (v == CR_NONE || c->n == CRI_MOST_CONDITIONED) CR_TRY(refuse(cx, p, &whole));
        cri_cutset_add(c, p->net, p->evidence, v);
        CR_TRY(cri_cutset_fix(cx, c, p->net, p->evidence, 0, e));
        cri_run_free(cx, &p->run);
        CR_TRY(prepare(cx, p, e, &quick, &r, &p->report));
        p->run = r;
        if (c->runs > MOST_RUNS ||
            !cri_exact_in_time(cx, &p->options, c->runs * p->report.operations))
            CR_TRY(refuse(cx, p, &whole));
    }
    p->report.conditioned = c->n;
    p->report.runs = c->runs;
    p->report.operations *= c->runs;
done:
    cr_evidence_free(cx, e);
    return st;
}

cr_status cri_elimination_fit(cr_ctx *cx, cri_elimination *p)
{
    if (!cri_exact_in_time(cx, &p->options, p->report.operations)) return refuse(cx, p, &p->report);
    return cri_exact_fits(cx, &p->options, &p->report) ? CR_OK : choose_cutset(cx, p);
}
