/* query.c -- answers: which engine is asked what, and what is made of it. */
#include "query.h"
#include "query_approximate.h"
#include "query_job.h"
#include "query_mixture.h"
#include "query_more.h"
#include "questions.h"
#include "graph/network/separation.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

cr_query_options cr_query_defaults(void)
{
    return (cr_query_options){ .method = CR_QUERY_AUTO,
                               .exact = cr_exact_defaults(),
                               .approximate = cr_approximate_defaults(),
                               .budget = 60 };
}

void cr_query_answer_free(cr_ctx *cx, cr_query_answer *a)
{
    cr_factor_free(cx, &a->table);
    cr_free(cx, a->value, a->values, sizeof *a->value);
    cr_free(cx, a->se, a->values, sizeof *a->se);
    cr_free(cx, a->variable, a->n, sizeof *a->variable);
    cr_free(cx, a->covariance, a->covariances, sizeof *a->covariance);
    cr_free(cx, a->states, a->n_states, sizeof *a->states);
    if (a->begin) cr_free(cx, a->begin, a->rows + 1, sizeof *a->begin);
    cr_free(cx, a->parameter, a->rows, sizeof *a->parameter);
    cr_network_free(cx, a->about);
    *a = (cr_query_answer){ 0 };
}

cr_status cri_answer_name(cr_ctx *cx, cr_query_answer *out, size_t n, const size_t *list)
{
    out->variable = cri_copy_indices(cx, list, n);
    if (!out->variable) return CR_ENOMEM;
    out->n = n;
    return CR_OK;
}

/* --- distributions --------------------------------------------------------------------------- */

cr_status cri_answer_table(cri_job *j)
{
    cr_status st = CR_OK;
    double    log_e = 0;
    CR_TRY(cri_job_prepare(j, false));
    CR_TRY(cri_job_note_log(
        j, cri_engine_joint(&j->engine, j->q->n_x, j->q->x, &j->out->table, &log_e), &log_e));
    CR_TRY(cri_answer_name(j->cx, j->out, j->q->n_x, j->q->x));
done:
    return st;
}

/* The standard errors beside the marginals, where samples gave them. */
static cr_status keep_errors(cri_job *j)
{
    const cr_approximate_answer *a;
    if (!cri_engine_approximates(&j->engine)) return CR_OK;
    cr_status st = cri_engine_approximate(&j->engine, &a);
    if (st != CR_OK || !(a->report.samples > 0)) return st;
    j->out->se = cr_alloc(j->cx, j->out->values, sizeof *j->out->se);
    if (!j->out->se) return CR_ENOMEM;
    for (size_t v = 0, k = 0, from = 0; v < cr_network_size(j->net); v++) {
        size_t n = cr_network_states(j->net, v);
        if (!cri_job_is_fixed(j, v)) memcpy(j->out->se + k, a->se + from, n * sizeof *a->se);
        if (!cri_job_is_fixed(j, v)) k += n;
        from += n;
    }
    return CR_OK;
}

cr_status cri_answer_marginals(cri_job *j)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(j->cx);
    size_t     total = 0, size = 0, k = 0, from = 0;
    double     log_e = 0, *all;
    CR_TRY(cri_job_prepare(j, false));
    CR_TRY(cri_job_list_open(j));
    for (size_t v = 0; v < cr_network_size(j->net); v++) {
        total += cr_network_states(j->net, v);
        if (!cri_job_is_fixed(j, v)) size += cr_network_states(j->net, v);
    }
    all = cr_scratch_f64(&s, total);
    CR_TRY(s.status);
    j->out->value = cr_alloc(j->cx, size, sizeof *j->out->value);
    if (!j->out->value) CR_TRY(CR_ENOMEM);
    j->out->values = size;
    CR_TRY(cri_job_note_log(j, cri_engine_marginals(&j->engine, all, &log_e), &log_e));
    for (size_t v = 0; v < cr_network_size(j->net); v++) {
        size_t n = cr_network_states(j->net, v);
        if (!cri_job_is_fixed(j, v)) memcpy(j->out->value + k, all + from, n * sizeof *all);
        if (!cri_job_is_fixed(j, v)) k += n;
        from += n;
    }
    CR_TRY(keep_errors(j));
done:
    cr_scratch_end(&s);
    return st;
}

/* Multiplies an event into the evidence.  *out_none: no state of a variable is left. */
static cr_status add_event(cri_job *j, const cr_finding *f, bool *out_none)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(j->cx);
    const double *old = cr_evidence_likelihood(j->engine.evidence, f->variable);
    double       *weight = cr_scratch_f64(&s, f->states), most = 0;
    CR_TRY(s.status);
    for (size_t k = 0; k < f->states; k++) {
        weight[k] = f->weight[k] * (old ? old[k] : 1);
        if (weight[k] > most) most = weight[k];
    }
    *out_none = most == 0;
    if (!*out_none) CR_TRY(cr_evidence_weigh(j->cx, j->engine.evidence, f->variable, weight));
    cri_engine_changed(&j->engine);
done:
    cr_scratch_end(&s);
    return st;
}

/* P(a, b, ... | e) = P(a | e) P(b | a, e) ...: relative errors add up. */
static cr_status multiply_events(cri_job *j, double *out)
{
    cr_status                    st = CR_OK;
    const cr_approximate_answer *a;
    cr_approximate_report        first = { 0 };
    double                       variance = 0, p = 1;
    bool                         none = false;
    for (size_t i = 0; i < j->q->event.n && p > 0; i++) {
        const cr_finding *f = &j->q->event.item[i];
        double            mine = 0, se = 0;
        size_t            at = 0;
        CR_TRY(cri_engine_approximate(&j->engine, &a));
        if (a->report.log_evidence == -INFINITY) CR_TRY(cri_job_refuse_impossible(j));
        for (size_t v = 0; v < f->variable; v++) at += cr_network_states(j->net, v);
        for (size_t s = 0; s < f->states; s++) {
            if (f->weight[s] == 0) continue;
            mine += f->weight[s] * a->marginal[at + s];
            se = fmax(se, a->se[at + s]);
        }
        if (i == 0) first = a->report;
        p *= mine < 1 ? mine : 1;
        variance += mine > 0 ? se * se / (mine * mine) : 0;
        if (i + 1 < j->q->event.n) CR_TRY(add_event(j, f, &none));
        if (none) p = 0;
        if (i == 0 && p == 0) first.se = se;
    }
    if (p > 0) first.se = p * sqrt(variance);
    j->engine.result.error = first;
    *out = p;
done:
    return st;
}

static cr_status approximate_probability(cri_job *j)
{
    cr_status st = CR_OK;
    double    p = 0, *log_e = &j->out->log_evidence;
    CR_TRY(j->engine.mixed ? cri_mixture_number(j, multiply_events, &p) : multiply_events(j, &p));
    if (j->known.n == 0 || isnan(*log_e)) *log_e = j->engine.result.error.log_evidence;
    j->out->number = p;
    j->out->log_number = log(p);
done:
    return st;
}

/* P(event | e) = P(event, e) / P(e). */
cr_status cri_answer_probability(cri_job *j)
{
    cr_status st = CR_OK;
    double    before = 0, after = 0;
    bool      none = false;
    bool      trivial = j->known.n == 0 && cr_network_get_kind(j->net) == CR_NETWORK_BAYES;
    CR_TRY(cri_job_prepare(j, !trivial));
    if (trivial) j->out->log_evidence = 0;
    if (cri_engine_approximates(&j->engine)) return approximate_probability(j);
    before = j->out->log_evidence;
    if (j->soft) CR_TRY(cri_engine_log_evidence(&j->engine, &before));
    for (size_t i = 0; i < j->q->event.n && !none; i++)
        CR_TRY(add_event(j, &j->q->event.item[i], &none));
    after = -INFINITY;
    if (!none) CR_TRY(cri_engine_log_evidence(&j->engine, &after));
    j->out->log_number = after - before < 0 ? after - before : 0;
    j->out->number = exp(j->out->log_number);
done:
    return st;
}

/* --- the best -------------------------------------------------------------------------------- */

/* log P(e) by elimination, NaN where that is more than `most` table entries (0: any) or memory.
 * Soft evidence as it is fitted, or left out. */
static cr_status find_evidence_if_easy(cri_job *j, double most, bool soft, double *out)
{
    cr_status        st = CR_OK;
    cri_engine       plain = { .cx = j->cx };
    cr_exact_options o = j->engine.o.exact;
    if (o.most == 0) o.most = most;
    CR_TRY(cri_engine_open(j->cx, j->net, &j->known, &j->engine.o, cri_job_form(j), &plain));
    st = cr_bucket_log_evidence(j->cx, j->engine.net, soft ? j->engine.evidence : plain.evidence,
                                &o, out, NULL);
    if (st == CR_ENOMEM) {
        j->engine.wide = true;
        *out = NAN;
        st = CR_OK;
    }
done:
    cri_engine_close(&plain);
    return st;
}

/* P(e) is only for show beside the best states of all: it is exact, or left out where that takes
 * too long though the states can be found.  Impossible evidence is told either way.  *out_fitted:
 * with soft evidence. */
static cr_status find_evidence_of_best(cri_job *j, double *out_fitted)
{
    cr_status st = CR_OK;
    double    most = 0; /* exact is what was asked for; else a second or some seconds: */
    if (j->engine.o.method == CR_QUERY_AUTO)
        most = fmin(2e9, fmax(cri_exact_operations(j->engine.o.budget / 2), 1e6));
    if (j->engine.o.method >= CR_QUERY_APPROXIMATE) most = 1e8;
    bool trivial = j->known.n == 0 && cr_network_get_kind(j->net) == CR_NETWORK_BAYES;
    CR_TRY(cri_job_prepare(j, false));
    j->out->log_evidence = 0;
    if (!trivial) CR_TRY(find_evidence_if_easy(j, most, false, &j->out->log_evidence));
    if (j->out->log_evidence == -INFINITY) CR_TRY(cri_job_refuse_impossible(j));
    *out_fitted = j->out->log_evidence;
    if (j->soft) CR_TRY(find_evidence_if_easy(j, most, true, out_fitted));
done:
    return st;
}

/* The number beside the best states, and its log.  log_e: with soft evidence. */
static void weigh_best(cri_job *j, double log_best, double log_e)
{
    cr_query_answer *a = j->out;
    double           share = j->engine.result.share;
    if (!isnan(share)) { /* of some variables, estimated one after another */
        a->number = exp(share < 0 ? share : 0);
        a->log_number = share < 0 ? share : 0;
        a->log_joint = share + a->log_evidence;
        a->estimated = true;
        return;
    }
    bool unknown = isnan(log_e) || isnan(a->log_evidence);
    if (unknown) log_e = a->log_evidence = 0;
    a->log_joint = log_best - log_e + a->log_evidence;
    a->log_number = log_best - log_e < 0 ? log_best - log_e : 0;
    a->number = exp(a->log_number);
    if (!isnan(j->engine.result.upper)) j->engine.result.upper += a->log_evidence - log_e;
    if (unknown) a->number = a->log_number = a->log_evidence = NAN;
}

cr_status cri_answer_best(cri_job *j)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(j->cx);
    bool       all = j->q->n_x == 0;
    size_t     n = all ? cr_network_size(j->net) : j->q->n_x;
    size_t    *state = cr_scratch_index(&s, n);
    double     log_best = 0, log_e = 0;
    CR_TRY(s.status);
    if (all) {
        CR_TRY(find_evidence_of_best(j, &log_e));
    } else {
        CR_TRY(cri_job_prepare(j, true));
        log_e = j->out->log_evidence;
        if (j->soft) CR_TRY(cri_engine_log_evidence(&j->engine, &log_e));
    }
    CR_TRY(cri_engine_best(&j->engine, j->q->n_x, j->q->x, state, &log_best));
    CR_TRY(all ? cri_job_list_open(j) : cri_answer_name(j->cx, j->out, n, j->q->x));
    j->out->states = cr_alloc(j->cx, j->out->n, sizeof *j->out->states);
    if (!j->out->states) CR_TRY(CR_ENOMEM);
    j->out->n_states = j->out->n;
    j->out->rows = 1;
    for (size_t i = 0; i < j->out->n; i++) j->out->states[i] = state[all ? j->out->variable[i] : i];
    weigh_best(j, log_best, log_e);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- lists: query_more.h --------------------------------------------------------------------- */

cr_status cri_answer_list(cri_job *j)
{
    cr_status st = CR_OK;
    double    log_e;
    CR_TRY(cri_job_prepare(j, true));
    log_e = j->out->log_evidence;
    switch (j->q->kind) {
    case CR_QUESTION_CAUSES:
        if (j->known.n == 0) {
            cr_fail(j->cx, CR_EARG, "causes() explains evidence, but there is none");
            CR_TRY(cr_fail_hint(j->cx, "give the evidence after a bar, as in causes(* | x=a)"));
        }
        return cri_answer_causes(&j->engine, j->q, &j->known, j->out);
    case CR_QUESTION_SENSITIVITY:
        return cri_answer_sensitivity(&j->engine, j->q, &j->known, j->out);
    default:
        break;
    }
    CR_TRY(j->q->n_x == 0 ? cri_job_list_open(j)
                          : cri_answer_name(j->cx, j->out, j->q->n_x, j->q->x));
    if (j->soft) CR_TRY(cri_engine_log_evidence(&j->engine, &log_e));
    CR_TRY(cri_answer_best_list(&j->engine, j->q, log_e, j->out));
done:
    return st;
}

/* --- separation ------------------------------------------------------------------------------ */

/* Those in `all` that are not given. */
static cr_status keep_determined(cri_job *j, const bool *given, const bool *all)
{
    size_t n = 0;
    for (size_t v = 0; v < cr_network_size(j->net); v++) n += all[v] && !given[v];
    j->out->variable = cr_alloc(j->cx, n, sizeof *j->out->variable);
    if (!j->out->variable) return CR_ENOMEM;
    j->out->n = n;
    for (size_t v = 0, k = 0; v < cr_network_size(j->net); v++)
        if (all[v] && !given[v]) j->out->variable[k++] = v;
    return CR_OK;
}

/* Nodes that are functions of the given ones count as given (D-separation), but for dsep(); where
 * only this separates, they are named: answer's variables. */
cr_status cri_answer_separation(cri_job *j)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(j->cx);
    const cr_question *q = j->q;
    size_t             n = cr_network_size(j->net), length = 0;
    bool              *given = cr_scratch_bytes(&s, n, sizeof *given), separated = true;
    bool              *all = cr_scratch_bytes(&s, n, sizeof *all), by_graph = true;
    size_t            *trail = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    CR_TRY(cri_engine_open(j->cx, j->net, &j->known, &j->engine.o, CRI_FORM_GRAPH, &j->engine));
    for (size_t i = 0; i < q->n_given; i++) given[q->given[i]] = true;
    for (size_t i = 0; i < j->known.n; i++) given[j->known.item[i].variable] = true;
    if (n > 0) memcpy(all, given, n * sizeof *all);
    if (cr_network_get_kind(j->net) == CR_NETWORK_BAYES && q->kind != CR_QUESTION_DSEP)
        CR_TRY(cr_determined(j->cx, j->engine.net, all));
    for (size_t i = 0; i < q->n_x && separated; i++)
        for (size_t k = 0; k < q->n_y && separated; k++) {
            if (by_graph)
                CR_TRY(cr_separated(j->cx, j->engine.net, q->x[i], q->y[k], given, &by_graph, NULL,
                                    NULL));
            CR_TRY(cr_separated(j->cx, j->engine.net, q->x[i], q->y[k], all, &separated, trail,
                                &length));
            if (!separated) CR_TRY(cri_answer_name(j->cx, j->out, length, trail));
        }
    j->out->holds = separated;
    if (separated && !by_graph) CR_TRY(keep_determined(j, given, all));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the question ---------------------------------------------------------------------------- */

static cr_status refuse_markov(cr_ctx *cx, const char *name)
{
    cr_fail(cx, CR_EARG, "%s() is about arrows, but a Markov network has none", name);
    return cr_fail_hint(cx, "blanket(x) gives the neighbours of x, moral() all edges");
}

cr_status cr_query_run(cr_ctx *cx, const cr_network *net, const cr_question *q,
                       const cr_findings *opt_more, const cr_query_options *opt_o,
                       cr_query_answer *out)
{
    cr_status               st = CR_OK;
    const cri_question_row *row = cri_question_of(q->kind);
    cr_query_answer a = { .kind = q->kind, .log_evidence = NAN, .exact = true, .upper = NAN };
    cri_job         j = { .cx = cx, .net = net, .q = q, .out = &a };
    j.engine.cx = cx;
    j.engine.o = opt_o ? *opt_o : cr_query_defaults();
    CR_TRY(cr_network_check(cx, net));
    CR_TRY(cri_job_gather(&j, opt_more));
    if (row->arrows && cr_network_get_kind(net) == CR_NETWORK_MARKOV)
        CR_TRY(refuse_markov(cx, row->name));
    CR_TRY(row->answer(&j));
    bool graph = row->graph;
    a.method = graph ? "graph" : cri_engine_name(&j.engine);
    a.open = j.engine.result.open;
    a.exact = graph || !(a.open || cri_engine_approximates(&j.engine));
    if (!graph) a.cost = j.engine.result.cost;
    a.error = j.engine.result.error;
    a.upper = j.engine.result.upper;
    cri_budget_report(&j.engine);
    a.plan = cri_engine_planned(&j.engine);
    memcpy(a.why, j.engine.result.why, sizeof a.why);
    if (!a.exact && !a.open && q->kind == CR_QUESTION_BEST && q->n_x == 0 && j.engine.hidden == 0)
        a.method = "max-product";
    *out = a;
    a = (cr_query_answer){ 0 };
done:
    cr_query_answer_free(cx, &a);
    cr_findings_free(cx, &j.known);
    j.engine.cx = cx;
    cri_engine_close(&j.engine);
    return st;
}

cr_status cr_query(cr_ctx *cx, const cr_network *net, const char *text, const cr_findings *opt_more,
                   const cr_query_options *opt_o, cr_query_answer *out)
{
    cr_question *q = NULL;
    cr_status    st = cr_question_parse(cx, net, text, &q);
    if (st == CR_OK) st = cr_query_run(cx, net, q, opt_more, opt_o, out);
    cr_question_free(cx, q);
    return st;
}
