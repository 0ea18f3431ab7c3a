/* bucket_query.c -- questions to bucket elimination, conditioned on some variables if memory is
 * short (condition.h).  The cutset is chosen greedily among the variables of the largest
 * cliques. */
#include "bucket.h"
#include "bucket_internal.h"
#include "condition.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static const double MOST_RUNS = 1 << 20;
static const double FAR = 64; /* no order is so much better than a quick one */

typedef struct question {
    const cr_network       *net;
    const cr_evidence      *e;
    size_t                  n;
    const size_t           *query;
    const bool             *mark; /* [variables] of the query; NULL: none */
    cri_goal                goal;
    const cr_exact_options *o;
} question;

/* What is asked for, gathered over the runs of conditioning. */
typedef struct answer {
    double          log;   /* log P(e) or of the best */
    cr_factor       joint; /* normalised; of sums */
    size_t         *state; /* [variables] of the best */
    cr_exact_report report;
} answer;

static cr_status refuse_impossible(cr_ctx *cx)
{
    return cr_fail(cx, CR_EDATA, "the evidence is impossible: its probability is 0");
}

/* joint := the mixture of two normalised tables with the logs of their weights. */
static void mix(answer *a, cr_factor *more, double more_log)
{
    double peak = a->log > more_log ? a->log : more_log;
    double x = exp(a->log - peak), y = exp(more_log - peak);
    for (size_t i = 0; a->joint.value && more->value && i < a->joint.size; i++)
        a->joint.value[i] = (x * a->joint.value[i] + y * more->value[i]) / (x + y);
    a->log = peak + log(x + y);
}

/* One run; adds to the answer. */
static cr_status run_once(cr_ctx *cx, const question *q, cri_run *r, answer *a)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_factor  ranked = { 0 }, joint = { 0 };
    bool       max = q->goal == CRI_BEST || q->goal == CRI_MAP;
    size_t    *state = max ? cr_scratch_index(&s, cr_network_size(q->net)) : NULL;
    CR_TRY(s.status);
    CR_TRY(cri_run_eliminate(cx, r, max || q->n == 0 ? NULL : &ranked));
    if (r->scale == -INFINITY) goto done;
    if (max) {
        CR_TRY(cri_run_trace_back(cx, r, state));
        if (r->scale > a->log) {
            a->log = r->scale;
            memcpy(a->state, state, cr_network_size(q->net) * sizeof *state);
        }
        goto done;
    }
    if (q->n > 0) CR_TRY(cri_problem_unpack(cx, r->problem, &ranked, q->n, q->query, &joint));
    if (a->log == -INFINITY) {
        a->log = r->scale;
        a->joint = joint;
        joint = (cr_factor){ 0 };
    } else {
        mix(a, &joint, r->scale);
    }
done:
    cr_factor_free(cx, &ranked);
    cr_factor_free(cx, &joint);
    cr_scratch_end(&s);
    return st;
}

/* --- conditioning ---------------------------------------------------------------------------- */

/* The variable whose states, taken one by one, relieve the largest cliques most: the sum over
 * cliques of their entries, counted for each variable in them.  A sum over states goes together
 * with sums only, so the query is not conditioned on, and of marginal MAP nothing but the query. */
static cr_status choose_variable(cr_ctx *cx, const question *q, const cri_run *r, size_t *out_v)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
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
        double gain =
            load[i] * (1 - 1 / (double)p->active_states[i]) / log((double)p->active_states[i]);
        if (q->goal != CRI_BEST && q->mark[p->var[i]] != (q->goal == CRI_MAP)) continue;
        if (gain > best) best = gain, *out_v = p->var[i];
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status refuse(cr_ctx *cx, const question *q, const cr_exact_report *r)
{
    return cri_exact_refuse(cx, "exact elimination", r, q->o);
}

/* Picks variables until a run fits; r is prepared for their first states.  The report is of all
 * runs. */
static cr_status choose_cutset(cr_ctx *cx, const question *q, cr_evidence *e, cri_cutset *c,
                               cri_run *r)
{
    cr_status        st = CR_OK;
    cr_exact_report  whole = r->report;
    cr_exact_options quick = *q->o;
    quick.effort = 0;
    if (whole.tables > MOST_RUNS * cri_exact_room(cx, q->o)) CR_TRY(refuse(cx, q, &whole));
    while (!cri_exact_has_room_for_runs(cx, q->o, &r->report, q->net)) {
        size_t v;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(choose_variable(cx, q, r, &v));
        if (v == CR_NONE || c->n == CRI_MOST_CONDITIONED) CR_TRY(refuse(cx, q, &whole));
        cri_cutset_add(c, q->net, q->e, v);
        CR_TRY(cri_cutset_fix(cx, c, q->net, q->e, 0, e));
        cri_run_free(cx, r);
        CR_TRY(cri_run_prepare(cx, q->net, e, q->mark, q->goal, &quick, r));
        if (c->runs > MOST_RUNS || !cri_exact_in_time(cx, q->o, c->runs * r->report.operations))
            CR_TRY(refuse(cx, q, &whole));
    }
    r->report.conditioned = c->n;
    r->report.runs = c->runs;
    r->report.operations *= c->runs;
done:
    return st;
}

/* Some runs side by side, each with a context of its own. */
typedef struct batch {
    cr_ctx           *cx;
    const question   *q;
    const cri_cutset *c;
    const cri_run    *like;
    size_t            first, n, lanes;
    answer            part[CRI_BATCH];
    cr_status         status[CRI_BATCH];
} batch;

static cr_status run_state(cr_ctx *cx, const batch *b, size_t run, answer *out)
{
    cr_status       st = CR_OK;
    const question *q = b->q;
    cr_evidence    *e = NULL;
    cri_run         r = { 0 };
    out->log = -INFINITY;
    CR_TRY(cri_evidence_copy(cx, q->net, q->e, &e));
    CR_TRY(cri_cutset_fix(cx, b->c, q->net, q->e, run, e));
    CR_TRY(cri_run_prepare_like(cx, q->net, e, q->mark, q->goal, b->like, &r));
    CR_TRY(run_once(cx, q, &r, out));
done:
    if (st != CR_OK) cr_factor_free(cx, &out->joint);
    cri_run_free(cx, &r);
    cr_evidence_free(cx, e);
    return st;
}

static void run_lane(void *arg, size_t k)
{
    batch *b = arg;
    for (size_t i = k; i < b->n; i += b->lanes) {
        cr_ctx *child = NULL;
        b->status[i] = cri_ctx_child(b->cx, &child);
        if (b->status[i] == CR_OK) b->status[i] = run_state(child, b, b->first + i, &b->part[i]);
        cr_ctx_free(child);
        if (b->status[i] != CR_OK) return;
    }
}

/* Adds the answers of a batch up, in order. */
static void gather(cr_ctx *cx, const question *q, size_t n, answer *part, answer *a)
{
    for (size_t i = 0; i < n; i++) {
        if (part[i].log == -INFINITY) continue;
        if (q->goal == CRI_BEST || q->goal == CRI_MAP) {
            if (part[i].log <= a->log) continue;
            a->log = part[i].log;
            memcpy(a->state, part[i].state, cr_network_size(q->net) * sizeof *a->state);
        } else if (a->log == -INFINITY) {
            a->log = part[i].log;
            a->joint = part[i].joint;
            part[i].joint = (cr_factor){ 0 };
        } else {
            mix(a, &part[i].joint, part[i].log);
        }
        cr_factor_free(cx, &part[i].joint);
    }
}

static cr_status run_batch(cr_ctx *cx, batch *b)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < b->n; i++) {
        b->part[i].log = -INFINITY;
        b->part[i].joint = (cr_factor){ 0 };
        b->status[i] = CR_OK;
    }
    if (b->lanes > 1)
        CR_TRY(cri_parallel_for(cx, NULL, b->lanes, run_lane, b));
    else if (b->lanes == 1)
        run_lane(b, 0);
    for (size_t i = 0; i < b->n; i++) {
        if (b->lanes == 0) CR_TRY(run_state(cx, b, b->first + i, &b->part[i]));
        if (b->status[i] == CR_OK) continue;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_fail_memory(cx, (size_t)b->like->report.tables));
    }
done:
    for (size_t i = 0; st != CR_OK && i < b->n; i++) cr_factor_free(cx, &b->part[i].joint);
    return st;
}

/* Runs all joint states of the cutset. */
static cr_status run_conditioned(cr_ctx *cx, question *q, cri_run *r, answer *a)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cr_evidence *e = NULL;
    cri_cutset   c = { 0 };
    batch       *b = cr_scratch_bytes(&s, 1, sizeof *b);
    size_t      *states = cr_scratch_index(&s, CRI_BATCH * cr_network_size(q->net));
    CR_TRY(s.status);
    if (q->goal == CRI_POSTERIOR) q->goal = CRI_EVIDENCE; /* the runs are weighed by P(e, c) */
    CR_TRY(cri_evidence_copy(cx, q->net, q->e, &e));
    CR_TRY(choose_cutset(cx, q, e, &c, r));
    a->report = r->report;
    cri_exact_tell_runs(cx, &r->report);
    cri_exact_tell_long(cx, &r->report);
    *b = (batch){ .cx = cx, .q = q, .c = &c, .like = r };
    b->lanes = cri_exact_lanes(cx, &r->report, q->o);
    for (size_t i = 0; i < CRI_BATCH; i++) b->part[i].state = states + i * cr_network_size(q->net);
    for (size_t all = (size_t)c.runs; b->first < all; b->first += CRI_BATCH) {
        b->n = all - b->first < CRI_BATCH ? all - b->first : CRI_BATCH;
        CR_TRY(cr_check_interrupt(cx));
        cr_progress(cx, "conditioning", (double)b->first, c.runs);
        CR_TRY(run_batch(cx, b));
        gather(cx, q, b->n, b->part, a);
    }
done:
    cr_evidence_free(cx, e);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_bucket_plan(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                          const bool *mark, cri_goal goal, const cr_exact_options *o,
                          cr_exact_report *out_report)
{
    cr_status    st = CR_OK;
    cr_evidence *e = NULL;
    cri_cutset   c = { 0 };
    cri_run      r = { 0 };
    question     q = { .net = net, .e = opt_e, .mark = mark, .goal = goal, .o = o };
    CR_TRY(cri_run_prepare(cx, net, opt_e, mark, goal, o, &r));
    *out_report = r.report;
    CR_TRY(cri_evidence_copy(cx, net, opt_e, &e));
    if (!cri_run_fits(cx, &r, o)) CR_TRY(choose_cutset(cx, &q, e, &c, &r));
    *out_report = r.report;
done:
    cri_run_free(cx, &r);
    cr_evidence_free(cx, e);
    return st;
}

/* --- questions ------------------------------------------------------------------------------- */

/* Where the operations are limited: is a quick order so far above that no search for a better one
 * is worth while?  It is followed no further than that: the last cliques of a wide network take
 * longest. */
static cr_status refuse_early(cr_ctx *cx, const question *q)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_problem    *p = NULL;
    cr_graph        g = { 0 };
    cr_exact_report r = { 0 };
    if (q->o->most <= 0 || q->o->order != CR_ELIMINATE_BEST) goto done;
    CR_TRY(cri_problem_new(cx, q->net, q->e, q->goal == CRI_BEST ? NULL : q->mark, &p));
    if (q->goal == CRI_POSTERIOR) CR_TRY(cri_problem_connect(cx, p, q->mark));
    CR_TRY(cri_problem_graph(cx, p, &g));
    size_t *group = cr_scratch_bytes(&s, p->active, sizeof *group);
    CR_TRY(s.status);
    for (size_t i = 0; q->goal != CRI_BEST && i < p->active; i++) group[i] = q->mark[p->var[i]];
    CR_TRY(cri_order_glance(cx, &g, p->active_states, q->n > 0 ? group : NULL, FAR * q->o->most,
                            &r.operations, &r.width));
    r.bytes = 8 * r.operations; /* at the most: of all cliques */
    if (r.operations > FAR * q->o->most) CR_TRY(refuse(cx, q, &r));
done:
    cr_graph_free(cx, &g);
    cri_problem_free(cx, p);
    cr_scratch_end(&s);
    return st;
}

static cr_status ask(cr_ctx *cx, question *q, answer *a)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    cri_run          r = { 0 };
    cr_exact_options usual = cr_exact_defaults();
    size_t           variables = cr_network_size(q->net);
    if (!q->o) q->o = &usual;
    bool *mark = cr_scratch_bytes(&s, variables, sizeof *mark);
    CR_TRY(s.status);
    for (size_t i = 0; i < q->n; i++) {
        if (q->query[i] >= variables)
            CR_TRY(cr_fail(cx, CR_EARG, "there is no variable %zu, only %zu of them", q->query[i],
                           variables));
        if (mark[q->query[i]])
            CR_TRY(cr_fail(cx, CR_EARG, "'%s' is asked for twice",
                           cr_variable_name(cr_network_variables(q->net), q->query[i])));
        mark[q->query[i]] = true;
    }
    q->mark = mark;
    a->log = -INFINITY;
    CR_TRY(refuse_early(cx, q));
    CR_TRY(cri_run_prepare(cx, q->net, q->e, mark, q->goal, q->o, &r));
    if (!cri_exact_in_time(cx, q->o, r.report.operations)) CR_TRY(refuse(cx, q, &r.report));
    if (cri_run_fits(cx, &r, q->o)) {
        a->report = r.report;
        cri_exact_tell_long(cx, &r.report);
        CR_TRY(run_once(cx, q, &r, a));
    } else {
        CR_TRY(run_conditioned(cx, q, &r, a));
    }
done:
    q->mark = NULL;
    if (st != CR_OK) cr_factor_free(cx, &a->joint);
    cri_run_free(cx, &r);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_bucket_log_evidence(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                 const cr_exact_options *opt_o, double *out_log,
                                 cr_exact_report *opt_report)
{
    question  q = { .net = net, .e = opt_e, .goal = CRI_EVIDENCE, .o = opt_o };
    answer    a = { 0 };
    cr_status st = ask(cx, &q, &a);
    if (st != CR_OK) return st;
    *out_log = a.log;
    if (opt_report) *opt_report = a.report;
    return CR_OK;
}

cr_status cr_bucket_query(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, size_t n,
                          const size_t *query, const cr_exact_options *opt_o, cr_factor *out_f,
                          double *opt_log, cr_exact_report *opt_report)
{
    question q = { .net = net,
                   .e = opt_e,
                   .n = n,
                   .query = query,
                   .o = opt_o,
                   .goal = opt_log ? CRI_EVIDENCE : CRI_POSTERIOR };
    answer   a = { 0 };
    if (n == 0) return cr_fail(cx, CR_EARG, "no variable is asked for");
    cr_status st = ask(cx, &q, &a);
    if (st != CR_OK) return st;
    if (a.log == -INFINITY) return refuse_impossible(cx);
    *out_f = a.joint;
    if (opt_log) *opt_log = a.log;
    if (opt_report) *opt_report = a.report;
    return CR_OK;
}

/* Best and MAP: q->query NULL means everything. */
static cr_status find_best(cr_ctx *cx, question *q, size_t *out_state, double *out_log,
                           cr_exact_report *opt_report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    answer     a = { 0 };
    size_t     variables = cr_network_size(q->net);
    a.state = cr_scratch_index(&s, variables);
    CR_TRY(s.status);
    CR_TRY(ask(cx, q, &a));
    if (a.log == -INFINITY) CR_TRY(refuse_impossible(cx));
    for (size_t i = 0; i < (q->query ? q->n : variables); i++)
        out_state[i] = a.state[q->query ? q->query[i] : i];
    *out_log = a.log;
    if (opt_report) *opt_report = a.report;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_bucket_best(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                         const cr_exact_options *opt_o, size_t *out_state, double *out_log,
                         cr_exact_report *opt_report)
{
    question q = { .net = net, .e = opt_e, .o = opt_o, .goal = CRI_BEST };
    return find_best(cx, &q, out_state, out_log, opt_report);
}

cr_status cr_bucket_map(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, size_t n,
                        const size_t *query, const cr_exact_options *opt_o, size_t *out_state,
                        double *out_log, cr_exact_report *opt_report)
{
    question q = { .net = net, .e = opt_e, .n = n, .query = query, .o = opt_o, .goal = CRI_MAP };
    if (n == 0) return cr_fail(cx, CR_EARG, "no variable is asked for");
    return find_best(cx, &q, out_state, out_log, opt_report);
}
