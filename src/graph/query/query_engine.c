/* query_engine.c -- elimination, junction trees and enumeration behind one face: plans are executed. */
#include "query_engine.h"
#include "graph/exact/enumerate.h"
#include "graph/exact/junction_internal.h"
#include "graph/network/noisy.h"
#include "query_approximate.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "graph/network/network_internal.h"

#include <math.h>
#include <string.h>

/* --- bucket elimination ---------------------------------------------------------------------- */

cr_status cri_engine_eliminate(cri_engine *e, cri_goal goal, size_t n, const size_t *query,
                               const cr_exact_options *o, cri_eliminated *out)
{
    cr_status       st = CR_OK;
    cri_elimination other = { 0 }, *p = &e->plan.elimination;
    if (p->evidence != e->evidence || !cri_elimination_answers(p, goal, n, query)) {
        p = &other;
        CR_TRY(cri_elimination_new(e->cx, e->net, e->evidence, goal, n, query, o, p));
    }
    CR_TRY(cri_elimination_fit(e->cx, p));
    CR_TRY(cri_engine_spend(e, p->report.operations));
    CR_TRY(cri_elimination_execute(e->cx, p, out));
    if (out->log > -INFINITY || (n == 0 && goal == CRI_EVIDENCE)) e->result.cost = p->report;
done:
    cri_elimination_free(e->cx, &other);
    return st;
}

static cr_status ve_log(cri_engine *e, double *out)
{
    cri_eliminated r = { 0 };
    cr_status      st = cri_engine_eliminate(e, CRI_EVIDENCE, 0, NULL, &e->o.exact, &r);
    if (st == CR_OK) *out = r.log;
    return st;
}

static cr_status ve_joint(cri_engine *e, size_t n, const size_t *query, cr_factor *out, double *log)
{
    cri_eliminated r = { 0 };
    cri_goal       goal = log ? CRI_EVIDENCE : CRI_POSTERIOR;
    cr_status      st = cri_engine_eliminate(e, goal, n, query, &e->o.exact, &r);
    if (st == CR_OK && r.log == -INFINITY) st = cri_fail_impossible(e->cx);
    if (st != CR_OK) return st;
    if (log) *log = r.log;
    *out = r.joint;
    return CR_OK;
}

static cr_status ve_best(cri_engine *e, size_t n, const size_t *query, size_t *state, double *log)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(e->cx);
    size_t         all = cr_network_size(e->net);
    cri_eliminated r = { .state = cr_scratch_index(&s, all) };
    CR_TRY(s.status);
    CR_TRY(cri_engine_eliminate(e, n > 0 ? CRI_MAP : CRI_BEST, n, query, &e->o.exact, &r));
    if (r.log == -INFINITY) CR_TRY(cri_fail_impossible(e->cx));
    for (size_t i = 0; i < (n > 0 ? n : all); i++) state[i] = r.state[n > 0 ? query[i] : i];
    *log = r.log;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the junction tree ----------------------------------------------------------------------- */

/* The tree, compiled once and used again.  *out_fits: false where it does not fit into memory, which
 * is a failure unless another method stands in. */
static cr_status prepare_tree(cri_engine *e, bool *out_fits)
{
    cr_status st = CR_OK;
    *out_fits = !e->plan.no_tree;
    if (!*out_fits) return CR_OK;
    if (!e->tree)
        st = cri_junction_new(e->cx, e->net, e->evidence, &e->o.exact, &e->tree);
    else if (!e->fresh)
        st = cr_junction_set_evidence(e->cx, e->tree, e->evidence);
    *out_fits = e->tree || st != CR_ENOMEM || cri_should_stop(e->cx);
    if (st != CR_OK) return st;
    e->fresh = true;
    e->result.cost = cr_junction_report(e->tree);
    return CR_OK;
}

static cr_status jt_log(cri_engine *e, double *out)
{
    bool      fits;
    cr_status st = prepare_tree(e, &fits);
    if (!fits) return ve_log(e, out);
    return st == CR_OK ? cr_junction_log_evidence(e->cx, e->tree, out) : st;
}

static cr_status jt_joint(cri_engine *e, size_t n, const size_t *query, cr_factor *out, double *log)
{
    bool      fits;
    cr_status st = prepare_tree(e, &fits);
    if (!fits) return ve_joint(e, n, query, out, log);
    if (st == CR_OK && log) st = cr_junction_log_evidence(e->cx, e->tree, log);
    return st == CR_OK ? cr_junction_joint(e->cx, e->tree, n, query, out) : st;
}

/* Trees given each joint state of a cutset. */
static cr_status condition(cri_engine *e, double *out, double *log)
{
    cr_status        st = CR_OK;
    cri_cutset       c = e->plan.cutset;
    cr_exact_report *r = &e->result.cost;
    *r = e->plan.cost;
    if (c.n == 0) CR_TRY(cri_condition_plan(e->cx, e->net, e->evidence, &e->o.exact, &c, r));
    CR_TRY(cri_condition_marginals(e->cx, e->net, e->evidence, &e->o.exact, &c, r, out, log));
done:
    return st;
}

static cr_status jt_marginals(cri_engine *e, double *out, double *log)
{
    bool      fits;
    cr_status st = prepare_tree(e, &fits);
    if (!fits) return condition(e, out, log);
    if (st == CR_OK) st = cr_junction_log_evidence(e->cx, e->tree, log);
    if (st == CR_OK) st = cr_junction_calibrate(e->cx, e->tree, CR_CALIBRATE_HUGIN);
    return st == CR_OK ? cr_junction_marginals(e->cx, e->tree, out) : st;
}

static cr_status jt_best(cri_engine *e, size_t n, const size_t *query, size_t *state, double *log)
{
    bool fits;
    if (n > 0) { /* marginal MAP needs an order of its own */
        e->result.used = CR_QUERY_VE;
        return ve_best(e, n, query, state, log);
    }
    cr_status st = prepare_tree(e, &fits);
    if (!fits && st == CR_OK) return ve_best(e, n, query, state, log);
    return st == CR_OK ? cr_junction_best(e->cx, e->tree, state, log) : st;
}

/* --- enumeration ----------------------------------------------------------------------------- */

static cr_status all_log(cri_engine *e, double *out)
{
    return cr_enumerate_query(e->cx, e->net, e->evidence, 0, NULL, e->o.exact.most, NULL, out);
}

static cr_status all_joint(cri_engine *e, size_t n, const size_t *query, cr_factor *out,
                           double *log)
{
    return cr_enumerate_query(e->cx, e->net, e->evidence, n, query, e->o.exact.most, out, log);
}

static cr_status all_best(cri_engine *e, size_t n, const size_t *query, size_t *state, double *log)
{
    return cr_enumerate_best(e->cx, e->net, e->evidence, n, query, e->o.exact.most, state, log);
}

/* --- the table of methods -------------------------------------------------------------------- */

typedef struct method {
    const char *name;
    cr_status (*log_evidence)(cri_engine *e, double *out);
    cr_status (*joint)(cri_engine *e, size_t n, const size_t *query, cr_factor *out, double *log);
    cr_status (*marginals)(cri_engine *e, double *out, double *log); /* NULL: one by one */
    cr_status (*best)(cri_engine *e, size_t n, const size_t *query, size_t *state, double *log);
} method;

static const method METHODS[] = {
    [CR_QUERY_VE] = { "ve", ve_log, ve_joint, NULL, ve_best },
    [CR_QUERY_JT] = { "jt", jt_log, jt_joint, jt_marginals, jt_best },
    [CR_QUERY_ENUMERATE] = { "enumerate", all_log, all_joint, NULL, all_best },
};

/* All that are approximate. */
static const method APPROXIMATE = { "", cri_approximate_log, cri_approximate_joint,
                                    cri_approximate_marginals, cri_approximate_map };

const char *cri_engine_name(const cri_engine *e)
{
    if (e->result.by) return e->result.by;
    if (e->result.used >= CR_QUERY_APPROXIMATE)
        return cr_approximation_name((cr_approximation)(e->result.used - CR_QUERY_APPROXIMATE));
    return METHODS[e->result.used].name;
}

static const method *choose(cri_engine *e, cr_query_method best)
{
    e->result.used = e->plan.method <= CR_QUERY_EXACT ? best : e->plan.method;
    return e->result.used >= CR_QUERY_APPROXIMATE ? &APPROXIMATE : &METHODS[e->result.used];
}

static cr_query_method one_or_many(const cri_engine *e)
{
    return e->tree || e->many ? CR_QUERY_JT : CR_QUERY_VE;
}

cr_status cri_engine_log_evidence(cri_engine *e, double *out_log)
{
    return choose(e, one_or_many(e))->log_evidence(e, out_log);
}

cr_status cri_engine_joint(cri_engine *e, size_t n, const size_t *query, cr_factor *out_f,
                           double *opt_log)
{
    return choose(e, one_or_many(e))->joint(e, n, query, out_f, opt_log);
}

static size_t states_of_all(const cr_network *net)
{
    size_t total = 0;
    for (size_t v = 0; v < cr_network_size(net); v++) total += cr_network_states(net, v);
    return total;
}

/* At once; those of auxiliary variables, the last ones, are left out. */
static cr_status all_at_once(cri_engine *e, const method *m, double *out, double *out_log)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(e->cx);
    double    *all = cr_scratch_f64(&s, states_of_all(e->net));
    CR_TRY(s.status);
    CR_TRY(m->marginals(e, all, out_log));
    memcpy(out, all, states_of_all(e->base) * sizeof *out);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_engine_marginals(cri_engine *e, double *out, double *out_log)
{
    cr_status     st = CR_OK;
    size_t        n = cr_network_size(e->base);
    const method *m = choose(e, CR_QUERY_JT);
    if (m->marginals && n == cr_network_size(e->net)) return m->marginals(e, out, out_log);
    if (m->marginals) return all_at_once(e, m, out, out_log);
    for (size_t v = 0; v < n; v++) {
        cr_factor f = { 0 };
        CR_TRY(cr_check_interrupt(e->cx));
        cr_progress(e->cx, "variables", (double)v, (double)n);
        CR_TRY(m->joint(e, 1, &v, &f, out_log));
        for (size_t s = 0; s < f.size; s++) *out++ = f.value[s];
        cr_factor_free(e->cx, &f);
    }
done:
    return st;
}

/* Of all variables but the auxiliary ones: these are summed out if they are hidden. */
static cr_status best_of_base(cri_engine *e, const method *m, size_t *out_state, double *out_log)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(e->cx);
    size_t     n = cr_network_size(e->base), *all = cr_scratch_index(&s, n);
    size_t    *state = cr_scratch_index(&s, cr_network_size(e->net));
    CR_TRY(s.status);
    for (size_t v = 0; v < n; v++) all[v] = v;
    if (e->hidden > 0)
        CR_TRY(m->best(e, n, all, state, out_log));
    else if (e->plan.method == CR_QUERY_AUTO)
        CR_TRY(cri_best_portfolio(e, state, out_log));
    else
        CR_TRY(m->best(e, 0, NULL, state, out_log));
    memcpy(out_state, state, n * sizeof *out_state);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_engine_best(cri_engine *e, size_t n, const size_t *query, size_t *out_state,
                          double *out_log)
{
    const method *m = choose(e, CR_QUERY_VE);
    if (n == 0 && cr_network_size(e->net) > cr_network_size(e->base))
        return best_of_base(e, m, out_state, out_log);
    if (n == 0 && e->plan.method == CR_QUERY_AUTO) return cri_best_portfolio(e, out_state, out_log);
    return m->best(e, n, query, out_state, out_log);
}

/* --- life ------------------------------------------------------------------------------------ */

/* Puts a network that can be computed with in the place of one that cannot, or not as well. */
static cr_status take_form(cri_engine *e, cri_form form)
{
    cr_status    st = CR_OK;
    cri_divorced d = { 0 };
    if (form == CRI_FORM_GRAPH || e->plan.method == CR_QUERY_ENUMERATE) return CR_OK;
    if (form != CRI_FORM_SUMS) {
        CR_TRY(cri_network_fill(e->cx, e->base, form == CRI_FORM_BEST ? e->evidence : NULL,
                                CRI_NOISY_LARGE, &e->made));
        if (e->made) e->net = e->made;
    }
    if (form == CRI_FORM_TABLES) {
        CR_TRY(cri_network_need_tables(e->cx, e->net));
        goto done;
    }
    CR_TRY(cri_network_divorce(e->cx, e->net, e->evidence, form == CRI_FORM_SUMS, &d));
    if (!d.net) goto done;
    cr_network_free(e->cx, e->made);
    cr_evidence_free(e->cx, e->evidence);
    e->net = e->made = d.net;
    e->evidence = d.e;
    e->hidden = d.hidden;
done:
    return st;
}

cr_status cri_engine_open(cr_ctx *cx, const cr_network *net, const cr_findings *known,
                          const cr_query_options *o, cri_form form, cri_engine *out)
{
    cr_status  st = CR_OK;
    cri_engine e = { .cx = cx,
                     .base = net,
                     .net = net,
                     .o = *o,
                     .plan = { .method = o->method },
                     .result = { .used = CR_QUERY_VE, .upper = NAN, .share = NAN } };
    CR_TRY(cr_evidence_new(cx, net, &e.evidence));
    for (size_t i = 0; i < known->n; i++) {
        const cr_finding *f = &known->item[i];
        if (f->kind == CR_FINDING_SOFT) continue;
        CR_TRY(cr_evidence_weigh(cx, e.evidence, f->variable, f->weight));
        if (f->kind != CR_FINDING_DO) continue;
        if (!e.own) CR_TRY(cr_network_copy(cx, net, &e.own));
        e.net = e.base = e.own;
        CR_TRY(cr_network_intervene(cx, e.own, f->variable,
                                    cr_evidence_state(e.evidence, f->variable)));
    }
    CR_TRY(take_form(&e, form));
    *out = e;
    e = (cri_engine){ .cx = cx };
done:
    cri_engine_close(&e);
    return st;
}

void cri_engine_close(cri_engine *e)
{
    cr_junction_free(e->cx, e->tree);
    cr_approximate_free(e->cx, &e->known);
    cr_factor_free(e->cx, &e->result.spread);
    cri_elimination_free(e->cx, &e->plan.elimination);
    cr_evidence_free(e->cx, e->evidence);
    cr_network_free(e->cx, e->made);
    cr_network_free(e->cx, e->own);
    *e = (cri_engine){ 0 };
}

void cri_engine_changed(cri_engine *e)
{
    cri_elimination_free(e->cx, &e->plan.elimination);
    e->plan.no_tree = false;
    e->plan.cutset.n = 0;
    e->fresh = false;
    e->is_known = false;
}
