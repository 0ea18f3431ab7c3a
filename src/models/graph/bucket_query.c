/* bucket_query.c -- questions to bucket elimination, conditioned on some variables if memory is
 * short. Conditioning: for every joint state c of a few variables C,  P(q, e) = sum_c P(q, e, C =
 * c); each run needs tables without C.  C is chosen greedily among the variables of the largest
 * cliques. */
#include "bucket.h"
#include "bucket_internal.h"
#include "../../base/context_internal.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

enum { MOST_CONDITIONED = 24 };

static const double MOST_RUNS = 65536;

typedef struct question {
    const cr_network       *net;
    const cr_evidence      *e;
    size_t                  n;
    const size_t           *query;
    bool                   *mark; /* [variables] of the query; NULL: none */
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

/* One run with the evidence e; adds to the answer. */
static cr_status run_once(cr_ctx *cx, const question *q, const cr_evidence *e, cri_run *r,
                          answer *a)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_factor  ranked = { 0 }, joint = { 0 };
    bool       max = q->goal == CRI_BEST || q->goal == CRI_MAP;
    size_t    *state = max ? cr_scratch_index(&s, cr_network_size(q->net)) : NULL;
    CR_TRY(s.status);
    (void)e;
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

/* --- conditioning
 * ----------------------------------------------------------------------------------- */

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
        for (size_t k = r->filled.begin[i]; k < r->filled.begin[i + 1]; k++)
            size *= (double)p->active_states[r->filled.later[k]];
        load[i] += size;
        for (size_t k = r->filled.begin[i]; k < r->filled.begin[i + 1]; k++)
            load[r->filled.later[k]] += size;
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

static cr_status copy_evidence(cr_ctx *cx, const question *q, cr_evidence **out_e)
{
    cr_status    st = CR_OK;
    cr_evidence *e = NULL;
    CR_TRY(cr_evidence_new(cx, q->net, &e));
    for (size_t v = 0; q->e && v < cr_network_size(q->net); v++)
        if (cr_evidence_likelihood(q->e, v))
            CR_TRY(cr_evidence_weigh(cx, e, v, cr_evidence_likelihood(q->e, v)));
    *out_e = e;
    e = NULL;
done:
    cr_evidence_free(cx, e);
    return st;
}

/* v = state, with the likelihood that the question gives that state. */
static cr_status fix(cr_ctx *cx, const question *q, cr_evidence *e, size_t v, size_t state)
{
    const double *l = q->e ? cr_evidence_likelihood(q->e, v) : NULL;
    double       *row = cr_alloc(cx, cr_network_states(q->net, v), sizeof *row);
    if (!row) return CR_ENOMEM;
    row[state] = l ? l[state] : 1;
    cr_status st = row[state] > 0 ? cr_evidence_weigh(cx, e, v, row) : CR_OK;
    cr_free(cx, row, cr_network_states(q->net, v), sizeof *row);
    return st;
}

/* Picks variables until a run fits; *out_r is prepared for their first states. */
static cr_status choose_cutset(cr_ctx *cx, const question *q, cr_evidence *e, size_t *cut,
                               size_t *out_n, cri_run *r)
{
    cr_status st = CR_OK;
    double    runs = 1, room = q->o->memory ? (double)q->o->memory : (double)cri_memory_left(cx);
    size_t    n = 0;
    if (r->report.tables > MOST_RUNS * room)
        CR_TRY(cri_run_refuse(cx, r)); /* a state saves a share */
    if (q->o->most > 0 && r->report.operations > q->o->most) CR_TRY(cri_run_refuse(cx, r));
    while (!cri_run_fits(cx, r, q->o)) {
        size_t v, first = 0;
        CR_TRY(choose_variable(cx, q, r, &v));
        if (v == CR_NONE || n == MOST_CONDITIONED || runs > MOST_RUNS ||
            (q->o->most > 0 && runs * r->report.operations > q->o->most))
            CR_TRY(cri_run_refuse(cx, r));
        const double *l = q->e ? cr_evidence_likelihood(q->e, v) : NULL;
        while (l && l[first] == 0) first++;
        runs *= (double)r->problem->left[v];
        cut[n++] = v;
        CR_TRY(fix(cx, q, e, v, first));
        cri_run_free(cx, r);
        CR_TRY(cri_run_prepare(cx, q->net, e, q->mark, q->goal, q->o, r));
    }
    r->report.conditioned = n;
    r->report.runs = runs;
    *out_n = n;
done:
    return st;
}

/* Runs all joint states of the cutset. */
static cr_status run_conditioned(cr_ctx *cx, question *q, cri_run *r, answer *a)
{
    cr_status    st = CR_OK;
    cr_evidence *e = NULL;
    size_t       cut[MOST_CONDITIONED], state[MOST_CONDITIONED] = { 0 }, n = 0;
    if (q->goal == CRI_POSTERIOR) q->goal = CRI_EVIDENCE; /* the runs are weighed by P(e, c) */
    CR_TRY(copy_evidence(cx, q, &e));
    CR_TRY(choose_cutset(cx, q, e, cut, &n, r));
    a->report = r->report;
    for (;;) {
        bool possible = true;
        for (size_t i = 0; i < n; i++) {
            const double *l = q->e ? cr_evidence_likelihood(q->e, cut[i]) : NULL;
            possible &= !l || l[state[i]] > 0;
            if (possible) CR_TRY(fix(cx, q, e, cut[i], state[i]));
        }
        if (possible) {
            cri_run_free(cx, r);
            CR_TRY(cri_run_prepare(cx, q->net, e, q->mark, q->goal, q->o, r));
            if (!cri_run_fits(cx, r, q->o)) CR_TRY(cri_run_refuse(cx, r));
            CR_TRY(run_once(cx, q, e, r, a));
        }
        size_t i = 0;
        while (i < n && ++state[i] == cr_network_states(q->net, cut[i])) state[i++] = 0;
        if (i == n) break;
    }
done:
    cr_evidence_free(cx, e);
    return st;
}

/* --- questions
 * --------------------------------------------------------------------------------------- */

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
    CR_TRY(cri_run_prepare(cx, q->net, q->e, mark, q->goal, q->o, &r));
    if (cri_run_fits(cx, &r, q->o)) {
        a->report = r.report;
        CR_TRY(run_once(cx, q, q->e, &r, a));
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
