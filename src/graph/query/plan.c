/* plan.c -- how a question will be answered: exact or not, by elimination or a junction tree.  What
 * an exact answer takes is predicted from an order; what was found for that, the problem, the order
 * and the cliques, is what is executed afterwards. */
#include "plan.h"
#include "graph/exact/junction_internal.h"
#include "query_approximate.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

/* --- what is affordable ---------------------------------------------------------------------- */

static bool is_auto(const cri_engine *e) { return e->plan.method == CR_QUERY_AUTO; }

static bool fits_time(const cri_engine *e, const cr_exact_report *r, double runs)
{
    return cri_exact_seconds(r->operations * (runs > 1 ? runs : 1)) <= e->o.budget &&
           (e->o.exact.most <= 0 || r->operations <= e->o.exact.most);
}

static bool fits(const cri_engine *e, const cr_exact_report *r, double runs)
{
    return cri_exact_fits(e->cx, &e->o.exact, r) && fits_time(e, r, runs);
}

/* Too much memory or work, as opposed to a failure that ends all. */
static bool is_too_much(const cri_engine *e, cr_status st)
{
    return st == CR_ENOMEM && !cri_should_stop(e->cx);
}

cr_status cri_engine_spend(cri_engine *e, double operations)
{
    if (!e->plan.list) return CR_OK;
    e->spent += operations;
    if (cri_exact_seconds(e->spent) <= e->o.budget) return CR_OK;
    cr_fail(e->cx, CR_ENOMEM,
            "best(...) is always exact, but all the answers asked for would take more than the "
            "budget of %.3g s",
            e->o.budget);
    return cr_fail_hint(e->cx, "ask for fewer, or give a larger --budget");
}

/* --- the reason ------------------------------------------------------------------------------ */

void cri_engine_note_plan(cri_engine *e, const char *name, const cr_exact_report *cost,
                          const char *why)
{
    cri_plan *p = &e->plan;
    p->name = name;
    p->cost = *cost;
    snprintf(p->why, sizeof p->why, "%s", why);
    if (cri_engine_approximates(e) || cost->variables == 0)
        cr_log(e->cx, CR_LOG_INFO, "plan: %s: %s", name, why);
    else
        cr_log(e->cx, CR_LOG_INFO, "plan: %s, width %zu, %.3g operations, %.3g bytes: %s", name,
               cost->width, cost->operations, cost->bytes, why);
}

cr_query_planned cri_engine_planned(const cri_engine *e)
{
    cr_query_planned p = { .method = e->plan.name, .cost = e->plan.cost };
    memcpy(p.why, e->plan.why, sizeof p.why);
    return p;
}

/* An exact plan: `what` answers, and why that may be. */
static void take_exact(cri_engine *e, const char *name, const cr_exact_report *cost, double runs,
                       const char *what)
{
    char text[128] = "; exact, as requested", fixed[128] = "";
    if (cost->conditioned > 0)
        snprintf(fixed, sizeof fixed,
                 "; to save memory %zu variables are held fixed in turn, in %.0f runs",
                 cost->conditioned, cost->runs);
    if (e->plan.method > CR_QUERY_EXACT) snprintf(text, sizeof text, "; it was asked for");
    if (is_auto(e))
        snprintf(text, sizeof text, "; about %.2g s, within the budget of %.3g s",
                 cri_exact_seconds(cost->operations * (runs > 1 ? runs : 1)), e->o.budget);
    char why[256];
    snprintf(why, sizeof why, "%s%s%s", what, fixed, text);
    cri_engine_note_plan(e, name, cost, why);
}

static void drop_tree(cri_engine *e)
{
    cr_junction_free(e->cx, e->tree);
    e->tree = NULL;
    e->fresh = false;
}

static void take_approximation(cri_engine *e, const cr_exact_report *r, double runs)
{
    drop_tree(e);
    cri_elimination_free(e->cx, &e->plan.elimination);
    e->result.cost = *r;
    e->plan.method = (cr_query_method)(CR_QUERY_APPROXIMATE + (int)CR_APPROXIMATE_GBP);
    e->compare = true;
    e->began = cri_seconds();
    snprintf(e->result.why, sizeof e->result.why,
             "an exact answer would take about %.2g s and %.2g GB (width %zu)",
             cri_exact_seconds(r->operations * (runs > 1 ? runs : 1)), r->bytes / 1e9, r->width);
    cri_engine_note_plan(e, cr_approximation_name(CR_APPROXIMATE_GBP), r, e->result.why);
}

/* --- all marginals --------------------------------------------------------------------------- */

/* What one marginal takes by itself, by a quick order: an estimate. */
static cr_status cost_of_one(cri_engine *e, size_t v, cr_exact_report *out)
{
    cr_status        st = CR_OK;
    cri_elimination  p = { 0 };
    cr_exact_options o = e->o.exact;
    o.most = 0;
    o.effort = 0;
    o.order = e->hidden ? CR_ELIMINATE_FILE_ORDER : CR_ELIMINATE_MIN_FILL;
    CR_TRY(cri_elimination_new(e->cx, e->net, e->evidence, CRI_EVIDENCE, 1, &v, &o, &p));
    *out = p.report;
done:
    cri_elimination_free(e->cx, &p);
    return st;
}

/* Each variable by itself: what only others need is left out of each run.  *out: of all. */
static cr_status fits_one_by_one(cri_engine *e, cr_exact_report *out, bool *out_fits)
{
    cr_status st = CR_OK;
    *out = (cr_exact_report){ .runs = 1 };
    *out_fits = true;
    for (size_t v = 0; v < cr_network_size(e->base) && *out_fits; v++) {
        cr_exact_report r;
        CR_TRY(cr_check_interrupt(e->cx));
        CR_TRY(cost_of_one(e, v, &r));
        out->operations += r.operations;
        if (r.variables > out->variables) out->variables = r.variables;
        if (r.width > out->width) out->width = r.width;
        if (r.bytes > out->bytes) out->bytes = r.bytes;
        *out_fits = fits(e, &r, 1) && cri_exact_seconds(out->operations) <= e->o.budget;
    }
done:
    return st;
}

/* Compiles the tree, which is kept if it is taken.  AUTO: however large, since its cost decides. */
static cr_status compile(cri_engine *e, cr_exact_report *out)
{
    cr_status        st = CR_OK;
    cr_exact_options o = e->o.exact;
    if (is_auto(e)) o.memory = SIZE_MAX, o.most = 0;
    if (!e->tree) CR_TRY(cri_junction_new(e->cx, e->net, e->evidence, &o, &e->tree));
    e->fresh = true;
    *out = cr_junction_report(e->tree);
done:
    return st;
}

static const char ONE_TREE[] = "one junction tree has all marginals";

/* Trees given each joint state of a few variables.  *out_fits: that is in time. */
static cr_status condition(cri_engine *e, const cri_asked *a, bool *out_fits)
{
    cr_exact_report r;
    cri_cutset      c;
    drop_tree(e);
    cr_status st = cri_condition_plan(e->cx, e->net, e->evidence, &e->o.exact, &c, &r);
    *out_fits = st == CR_OK && (!is_auto(e) || fits_time(e, &r, a->runs));
    if (is_auto(e) && is_too_much(e, st)) st = CR_OK;
    if (!*out_fits) return st;
    e->plan.cutset = c;
    e->plan.no_tree = true;
    take_exact(e, "jt", &r, a->runs, ONE_TREE);
    return CR_OK;
}

/* AUTO: a tree, or trees given a few variables if that is in time, or one by one, or an
 * approximation. */
static cr_status plan_all(cri_engine *e, const cri_asked *a)
{
    cr_status       st = CR_OK;
    cr_exact_report r = { 0 }, each;
    bool            fine = false;
    CR_TRY(compile(e, &r));
    if (fits(e, &r, a->runs)) {
        take_exact(e, "jt", &r, a->runs, ONE_TREE);
        goto done;
    }
    if (fits_time(e, &r, a->runs)) CR_TRY(condition(e, a, &fine));
    if (fine) goto done;
    if (a->each) CR_TRY(fits_one_by_one(e, &each, &fine));
    if (!fine) {
        take_approximation(e, &r, a->runs);
        goto done;
    }
    drop_tree(e);
    take_exact(e, "ve", &each, 1,
               "a junction tree is too expensive, but each marginal separately is not");
    e->plan.method = CR_QUERY_VE;
done:
    return st;
}

/* --- one answer ------------------------------------------------------------------------------ */

/* Elimination, perhaps given a few variables; AUTO: or an approximation. */
static cr_status plan_one(cri_engine *e, cri_goal goal, size_t n, const size_t *query)
{
    cr_status        st = CR_OK;
    cri_elimination *p = &e->plan.elimination;
    cr_exact_options o = e->o.exact;
    if (is_auto(e)) o.most = 0; /* its cost decides */
    CR_TRY(cri_elimination_new(e->cx, e->net, e->evidence, goal, n, query, &o, p));
    p->options = e->o.exact;
    cr_exact_report whole = p->report;
    if (is_auto(e) && !fits(e, &whole, 1)) {
        st = fits_time(e, &whole, 1) ? cri_elimination_fit(e->cx, p) : CR_ENOMEM;
        if (is_too_much(e, st) || (st == CR_OK && !fits_time(e, &p->report, 1))) {
            take_approximation(e, &whole, 1);
            return CR_OK;
        }
        CR_TRY(st);
    }
    if (!is_auto(e)) CR_TRY(cri_elimination_fit(e->cx, p));
    take_exact(e, "ve", &p->report, 1,
               goal == CRI_EVIDENCE && n == 0 ? "P(e) by one elimination"
                                              : "one elimination answers it");
done:
    return st;
}

/* By a tree that was asked for; where it does not fit into memory, elimination stands in. */
static cr_status plan_tree(cri_engine *e, const cri_asked *a, cri_goal goal)
{
    cr_exact_report r;
    bool            fine;
    cr_status       st = compile(e, &r);
    if (st == CR_OK) {
        take_exact(e, "jt", &r, 1,
                   a->purpose == CRI_ASK_ALL ? ONE_TREE : "a junction tree answers it");
        return CR_OK;
    }
    if (!is_too_much(e, st) || e->tree || (a->purpose == CRI_ASK_BEST && a->n == 0)) return st;
    if (a->purpose == CRI_ASK_ALL) return condition(e, a, &fine);
    e->plan.no_tree = true;
    return plan_one(e, goal, a->n, a->query);
}

/* The best of all except the auxiliary variables, which are summed out. */
static cr_status plan_base(cri_engine *e)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(e->cx);
    size_t     n = cr_network_size(e->base), *all = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    for (size_t v = 0; v < n; v++) all[v] = v;
    CR_TRY(plan_one(e, CRI_MAP, n, all));
done:
    cr_scratch_end(&s);
    return st;
}

/* AUTO has a portfolio for the best of all (best_portfolio.c), which plans for itself; of a list P(e)
 * comes first. */
static cr_status plan_best_of_all(cri_engine *e, const cri_asked *a)
{
    if (e->hidden > 0) return plan_base(e);
    if (!is_auto(e)) return plan_one(e, CRI_BEST, 0, NULL);
    return a->list ? plan_one(e, CRI_EVIDENCE, 0, NULL) : CR_OK;
}

cr_status cri_engine_plan(cri_engine *e, const cri_asked *a)
{
    cri_goal              goal = a->purpose == CRI_ASK_BEST ? CRI_MAP : CRI_EVIDENCE;
    const cr_exact_report none = { 0 };
    e->plan.list = a->list && is_auto(e);
    switch (e->plan.method) {
    case CR_QUERY_AUTO:
    case CR_QUERY_EXACT:
        if (a->purpose == CRI_ASK_ALL) return is_auto(e) ? plan_all(e, a) : plan_tree(e, a, goal);
        break;
    case CR_QUERY_VE:
        if (a->purpose != CRI_ASK_ALL) break;
        cri_engine_note_plan(e, "ve", &none, "each marginal separately, as requested");
        return CR_OK;
    case CR_QUERY_JT:
        if (a->purpose != CRI_ASK_BEST || a->n == 0) return plan_tree(e, a, goal);
        break;
    default: /* approximations, and enumeration */
        e->result.used = e->plan.method;
        cri_engine_note_plan(e, cri_engine_name(e), &none, "it was asked for");
        return CR_OK;
    }
    if (a->purpose == CRI_ASK_BEST && a->n == 0) return plan_best_of_all(e, a);
    return plan_one(e, goal, a->n, a->query);
}

cr_status cr_query_plan(cr_ctx *cx, const cr_network *net, const cr_query_options *opt_o,
                        cr_query_method *out_method, char out_why[256])
{
    cr_status        st = CR_OK;
    cr_query_options o = opt_o ? *opt_o : cr_query_defaults();
    cr_findings      none = { 0 };
    cri_engine       e = { .cx = cx };
    o.method = CR_QUERY_AUTO;
    CR_TRY(cr_network_check(cx, net));
    CR_TRY(cri_engine_open(cx, net, &none, &o, CRI_FORM_SUMS, &e));
    CR_TRY(cri_engine_plan(&e, &(cri_asked){ .purpose = CRI_ASK_ALL }));
    *out_method = cri_engine_approximates(&e) ? e.plan.method
                  : e.plan.no_tree            ? CR_QUERY_VE
                                              : CR_QUERY_JT;
    memcpy(out_why, e.result.why, sizeof e.result.why);
done:
    cri_engine_close(&e);
    return st;
}
