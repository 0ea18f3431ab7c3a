/* query.c -- answers: which engine is asked what, and what is made of it. */
#include "query.h"
#include "query_more.h"
#include "separation.h"
#include "../../base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SWEEPS = 10000, MOST_APPROXIMATE = 30 };
static const double SOFT_TOLERANCE = 1e-13, APPROXIMATE_TOLERANCE = 1e-6;

typedef struct job {
    cr_ctx            *cx;
    const cr_network  *net; /* as it was given */
    const cr_question *q;
    cr_findings        known; /* of the question, and more */
    cri_engine         engine;
    bool               soft;
    cr_query_answer   *out;
} job;

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
    cr_free(cx, a->state, a->n, sizeof *a->state);
    cr_free(cx, a->trail, a->trail_length, sizeof *a->trail);
    cr_free(cx, a->states, a->n_states, sizeof *a->states);
    cr_free(cx, a->parameter, a->rows, sizeof *a->parameter);
    *a = (cr_query_answer){ 0 };
}

static size_t *copy_indices(cr_ctx *cx, const size_t *list, size_t n)
{
    size_t *copy = cr_alloc(cx, n, sizeof *copy);
    if (copy && n > 0) memcpy(copy, list, n * sizeof *copy);
    return copy;
}

/* The union of lists without common elements. */
static size_t join(size_t *out, size_t n, const size_t *more, size_t m)
{
    if (m > 0) memcpy(out + n, more, m * sizeof *out);
    return n + m;
}

/* --- what is known --------------------------------------------------------------------------- */

static cr_status gather_findings(job *j, const cr_findings *opt_more)
{
    cr_status          st = CR_OK;
    const cr_findings *lists[2] = { &j->q->known, opt_more };
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; lists[l] && i < lists[l]->n; i++) {
            const cr_finding *f = &lists[l]->item[i];
            CR_TRY(cr_findings_add(j->cx, &j->known, j->net, f->kind, f->variable, f->weight));
            j->soft |= f->kind == CR_FINDING_SOFT;
        }
done:
    return st;
}

/* "smoke=yes", or only the variable where it is not in one state. */
static void name_finding(const job *j, const cr_finding *f, char *out, size_t room)
{
    const cr_variables *vs = cr_network_variables(j->net);
    size_t              s = 0;
    while (s < f->states && f->weight[s] == 0) s++;
    if (f->kind == CR_FINDING_STATE || f->kind == CR_FINDING_DO)
        snprintf(out, room, "%s=%s", cr_variable_name(vs, f->variable),
                 cr_state_name(vs, f->variable, s));
    else
        snprintf(out, room, "the evidence on %s", cr_variable_name(vs, f->variable));
}

/* Which finding it is that the ones before it exclude.  Adds a note to the failure. */
static cr_status refuse_impossible(job *j)
{
    char        name[512];
    double      log_e = 0;
    size_t      i = 0;
    cr_findings some = j->known;
    j->engine.o.method = j->engine.method;
    for (; i < j->known.n && log_e != -INFINITY; i++) {
        cri_engine engine;
        some.n = i + 1;
        if (cri_engine_open(j->cx, j->net, &some, &j->engine.o, &engine) != CR_OK) break;
        cr_status st = cri_engine_log_evidence(&engine, &log_e);
        cri_engine_close(&engine);
        if (st != CR_OK) break;
    }
    cr_fail(j->cx, CR_EDATA, "the evidence is impossible: its probability is 0");
    if (log_e != -INFINITY || i == 0) return CR_EDATA;
    name_finding(j, &j->known.item[i - 1], name, sizeof name);
    return cr_fail_note(
        j->cx, i > 1 ? "%s cannot be, given what stands before it" : "%s cannot be in this network",
        name);
}

/* --- soft evidence --------------------------------------------------------------------------- */

/* Scales the likelihoods of one variable so that it has the probabilities it shall have.  *worst:
 * how far it was from them. */
static cr_status fit_finding(job *j, const cr_finding *f, double *worst)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(j->cx);
    cri_engine         *e = &j->engine;
    const cr_variables *vs = cr_network_variables(j->net);
    cr_factor           p = { 0 };
    double             *weight = cr_scratch_f64(&s, f->states), most = 0;
    CR_TRY(s.status);
    CR_TRY(cri_engine_joint(e, 1, &f->variable, &p, NULL));
    const double *old = cr_evidence_likelihood(e->evidence, f->variable);
    for (size_t k = 0; k < f->states; k++) {
        double off = fabs(p.value[k] - f->weight[k]);
        if (f->weight[k] > 0 && p.value[k] == 0)
            CR_TRY(cr_fail(j->cx, CR_EDATA, "%s=%s shall have probability %g, but it is impossible",
                           cr_variable_name(vs, f->variable), cr_state_name(vs, f->variable, k),
                           f->weight[k]));
        if (off > *worst) *worst = off;
        weight[k] = f->weight[k] > 0 ? (old ? old[k] : 1) * f->weight[k] / p.value[k] : 0;
    }
    /* only ratios matter: so they stay in bounds */
    for (size_t k = 0; k < f->states; k++) most = weight[k] > most ? weight[k] : most;
    for (size_t k = 0; k < f->states; k++) weight[k] /= most;
    CR_TRY(cr_evidence_weigh(j->cx, e->evidence, f->variable, weight));
    cri_engine_changed(e);
done:
    cr_factor_free(j->cx, &p);
    cr_scratch_end(&s);
    return st;
}

/* Iterative proportional fitting: one sweep does for one variable. */
static cr_status fit_soft_evidence(job *j)
{
    cr_status st = CR_OK;
    bool      approximate = cri_engine_approximates(&j->engine);
    size_t    soft = 0, most = approximate ? MOST_APPROXIMATE : MOST_SWEEPS;
    double    worst = 1, tolerance = approximate ? APPROXIMATE_TOLERANCE : SOFT_TOLERANCE;
    for (size_t i = 0; i < j->known.n; i++) soft += j->known.item[i].kind == CR_FINDING_SOFT;
    j->engine.many = soft > 1;
    for (j->out->sweeps = 0; soft > 0 && worst > tolerance; j->out->sweeps++) {
        if (j->out->sweeps == most || (soft == 1 && j->out->sweeps == 1)) break;
        worst = 0;
        CR_TRY(cr_check_interrupt(j->cx));
        for (size_t i = 0; i < j->known.n; i++)
            if (j->known.item[i].kind == CR_FINDING_SOFT)
                CR_TRY(fit_finding(j, &j->known.item[i], &worst));
    }
    if (j->out->sweeps == most)
        cr_log(j->cx, CR_LOG_WARNING, "soft evidence is met only within %.2g after %zu sweeps: %s",
               worst, most, approximate ? "the method is approximate" : "it may be contradictory");
done:
    return st;
}

/* AUTO: is it to be exact? */
static cr_status plan(job *j)
{
    const cr_question *q = j->q;
    size_t             n = q->n_x + q->n_y + q->n_given, soft = 0;
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(j->cx);
    size_t            *query = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    for (size_t i = 0; i < j->known.n; i++) soft += j->known.item[i].kind == CR_FINDING_SOFT;
    n = join(query, 0, q->x, q->n_x);
    n = join(query, n, q->y, q->n_y);
    n = join(query, n, q->given, q->n_given);
    bool all = q->kind == CR_QUESTION_MARGINALS || q->kind == CR_QUESTION_INFORMATIVE || soft > 1;
    CR_TRY(cri_engine_plan(&j->engine,
                           all                           ? CRI_ASK_ALL
                           : q->kind == CR_QUESTION_BEST ? CRI_ASK_BEST
                                                         : CRI_ASK_TABLE,
                           n, query));
done:
    cr_scratch_end(&s);
    return st;
}

/* best, causes and sensitivity weigh small differences: they are exact, or not answered. */
static cr_status refuse_approximation(const job *j)
{
    const char *name = j->q->kind == CR_QUESTION_CAUSES        ? "causes"
                       : j->q->kind == CR_QUESTION_SENSITIVITY ? "sensitivity"
                                                               : "best";
    if (j->engine.why[0]) {
        cr_fail(j->cx, CR_EUNSUPPORTED, "%s(...) has exact answers only, and this network is too wide",
                name);
        return cr_fail_hint(j->cx, "argmax(...) and P(...) can be approximated; a larger --budget or "
                                   "--memory-limit may do");
    }
    cr_fail(j->cx, CR_EUNSUPPORTED, "%s(...) has exact answers only, not those of %s", name,
            cri_engine_name(&j->engine));
    return cr_fail_hint(j->cx, "leave --method out, or use --method exact");
}

static bool is_list(cr_question_kind kind)
{
    return kind == CR_QUESTION_BEST_LIST || kind == CR_QUESTION_CAUSES ||
           kind == CR_QUESTION_SENSITIVITY;
}

/* Opens the engine; log_evidence, then soft evidence.  A question that learns P(e) by the way asks
 * for no more than it needs. */
static cr_status prepare(job *j, bool needs_log)
{
    cr_status st = CR_OK;
    CR_TRY(cri_engine_open(j->cx, j->net, &j->known, &j->engine.o, &j->engine));
    CR_TRY(plan(j));
    if (is_list(j->q->kind) && j->engine.method >= CR_QUERY_APPROXIMATE) {
        j->engine.used = j->engine.method;
        CR_TRY(refuse_approximation(j));
    }
    if (needs_log || j->soft) {
        CR_TRY(cri_engine_log_evidence(&j->engine, &j->out->log_evidence));
        if (j->out->log_evidence == -INFINITY) CR_TRY(refuse_impossible(j));
    }
    if (j->soft) CR_TRY(fit_soft_evidence(j));
done:
    return st;
}

/* The answer of an engine with log P(e), which says when the evidence is impossible. */
static cr_status note_log(job *j, cr_status st, const double *log_e)
{
    if (st == CR_EDATA && !j->soft) return refuse_impossible(j);
    if (st == CR_OK && !j->soft) j->out->log_evidence = *log_e;
    return st;
}

/* --- distributions --------------------------------------------------------------------------- */

static cr_status answer_table(job *j)
{
    cr_status st = CR_OK;
    double    log_e = 0;
    CR_TRY(prepare(j, false));
    CR_TRY(note_log(j, cri_engine_joint(&j->engine, j->q->n_x, j->q->x, &j->out->table, &log_e),
                    &log_e));
    j->out->variable = copy_indices(j->cx, j->q->x, j->q->n_x);
    if (!j->out->variable) CR_TRY(CR_ENOMEM);
    j->out->n = j->q->n_x;
done:
    return st;
}

/* Is the state of v known, and not asked for? */
static bool is_fixed(const job *j, size_t v)
{
    for (size_t i = 0; i < j->known.n; i++)
        if (j->known.item[i].variable == v)
            return j->known.item[i].kind == CR_FINDING_STATE ||
                   j->known.item[i].kind == CR_FINDING_DO;
    return false;
}

/* The variables that are open. */
static cr_status list_open(job *j)
{
    size_t n = 0, all = cr_network_size(j->net);
    for (size_t v = 0; v < all; v++) n += !is_fixed(j, v);
    j->out->variable = cr_alloc(j->cx, n, sizeof *j->out->variable);
    if (!j->out->variable) return CR_ENOMEM;
    j->out->n = n;
    for (size_t v = 0, k = 0; v < all; v++)
        if (!is_fixed(j, v)) j->out->variable[k++] = v;
    return CR_OK;
}

/* The standard errors beside the marginals, where samples gave them. */
static cr_status keep_errors(job *j)
{
    const cr_approximate_answer *a;
    if (!cri_engine_approximates(&j->engine)) return CR_OK;
    cr_status st = cri_engine_approximate(&j->engine, &a);
    if (st != CR_OK || !(a->report.samples > 0)) return st;
    j->out->se = cr_alloc(j->cx, j->out->values, sizeof *j->out->se);
    if (!j->out->se) return CR_ENOMEM;
    for (size_t v = 0, k = 0, from = 0; v < cr_network_size(j->net); v++) {
        size_t n = cr_network_states(j->net, v);
        if (!is_fixed(j, v)) memcpy(j->out->se + k, a->se + from, n * sizeof *a->se);
        if (!is_fixed(j, v)) k += n;
        from += n;
    }
    return CR_OK;
}

static cr_status answer_marginals(job *j)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(j->cx);
    size_t     total = 0, size = 0, k = 0, from = 0;
    double     log_e = 0, *all;
    CR_TRY(prepare(j, false));
    CR_TRY(list_open(j));
    for (size_t v = 0; v < cr_network_size(j->net); v++) {
        total += cr_network_states(j->net, v);
        if (!is_fixed(j, v)) size += cr_network_states(j->net, v);
    }
    all = cr_scratch_f64(&s, total);
    CR_TRY(s.status);
    j->out->value = cr_alloc(j->cx, size, sizeof *j->out->value);
    if (!j->out->value) CR_TRY(CR_ENOMEM);
    j->out->values = size;
    CR_TRY(note_log(j, cri_engine_marginals(&j->engine, all, &log_e), &log_e));
    for (size_t v = 0; v < cr_network_size(j->net); v++) {
        size_t n = cr_network_states(j->net, v);
        if (!is_fixed(j, v)) memcpy(j->out->value + k, all + from, n * sizeof *all);
        if (!is_fixed(j, v)) k += n;
        from += n;
    }
    CR_TRY(keep_errors(j));
done:
    cr_scratch_end(&s);
    return st;
}

/* Multiplies an event into the evidence.  *out_none: no state of a variable is left. */
static cr_status add_event(job *j, const cr_finding *f, bool *out_none)
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
static cr_status approximate_probability(job *j)
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
        if (a->report.log_evidence == -INFINITY) CR_TRY(refuse_impossible(j));
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
    if (j->known.n == 0 || isnan(j->out->log_evidence)) j->out->log_evidence = first.log_evidence;
    if (p > 0) first.se = p * sqrt(variance);
    j->engine.error = first;
    j->out->number = p;
    j->out->log_number = log(p);
done:
    return st;
}

/* P(event | e) = P(event, e) / P(e). */
static cr_status answer_probability(job *j)
{
    cr_status st = CR_OK;
    double    before = 0, after = 0;
    bool      none = false;
    bool      trivial = j->known.n == 0 && cr_network_get_kind(j->net) == CR_NETWORK_BAYES;
    CR_TRY(prepare(j, !trivial));
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

/* P(e) is only for show beside the best states: it is left out where it takes too long, though
 * these can be found.  Impossible evidence is told either way. */
static cr_status find_evidence_if_easy(job *j, bool all)
{
    enum { EASY = 2000000000 }; /* table entries: some seconds */
    cr_status st = CR_OK;
    double    most = j->engine.o.exact.most;
    CR_TRY(prepare(j, !all || j->engine.o.method != CR_QUERY_AUTO));
    if (!isnan(j->out->log_evidence)) goto done;
    if (most == 0) j->engine.o.exact.most = EASY;
    st = cri_engine_log_evidence(&j->engine, &j->out->log_evidence);
    j->engine.o.exact.most = most;
    if (st == CR_ENOMEM) {
        j->engine.wide = true;
        j->out->log_evidence = NAN;
        st = CR_OK;
    }
    CR_TRY(st);
    if (j->out->log_evidence == -INFINITY) CR_TRY(refuse_impossible(j));
done:
    return st;
}

static cr_status answer_best(job *j)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(j->cx);
    bool       all = j->q->n_x == 0;
    size_t     n = all ? cr_network_size(j->net) : j->q->n_x;
    size_t    *state = cr_scratch_index(&s, n);
    double     log_best = 0, log_e;
    bool       unknown;
    CR_TRY(s.status);
    CR_TRY(find_evidence_if_easy(j, all));
    log_e = j->out->log_evidence;
    if (j->soft) CR_TRY(cri_engine_log_evidence(&j->engine, &log_e));
    CR_TRY(cri_engine_best(&j->engine, j->q->n_x, j->q->x, state, &log_best));
    if (all) {
        CR_TRY(list_open(j));
    } else {
        j->out->variable = copy_indices(j->cx, j->q->x, n);
        if (!j->out->variable) CR_TRY(CR_ENOMEM);
        j->out->n = n;
    }
    j->out->state = cr_alloc(j->cx, j->out->n, sizeof *j->out->state);
    if (!j->out->state) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < j->out->n; i++) j->out->state[i] = state[all ? j->out->variable[i] : i];
    unknown = isnan(log_e);
    if (unknown) log_e = j->out->log_evidence = 0;
    j->out->log_number = log_best - log_e + j->out->log_evidence;
    j->out->number = exp(log_best - log_e < 0 ? log_best - log_e : 0);
    if (j->engine.open) j->engine.upper += j->out->log_evidence - log_e;
    if (unknown) j->out->number = j->out->log_evidence = NAN;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- lists: query_more.h --------------------------------------------------------------------- */

static cr_status answer_list(job *j)
{
    cr_status st = CR_OK;
    double    log_e;
    CR_TRY(prepare(j, true));
    log_e = j->out->log_evidence;
    switch (j->q->kind) {
    case CR_QUESTION_CAUSES:
        return cri_answer_causes(&j->engine, j->q, &j->known, j->out);
    case CR_QUESTION_SENSITIVITY:
        if (j->soft)
            CR_TRY(cr_fail(j->cx, CR_EUNSUPPORTED,
                           "sensitivity is of observed, set and virtual evidence, not of soft"));
        return cri_answer_sensitivity(&j->engine, j->q, &j->known, log_e, j->out);
    default:
        break;
    }
    if (j->q->n_x == 0) {
        CR_TRY(list_open(j));
    } else {
        j->out->variable = copy_indices(j->cx, j->q->x, j->q->n_x);
        if (!j->out->variable) CR_TRY(CR_ENOMEM);
        j->out->n = j->q->n_x;
    }
    if (j->soft) CR_TRY(cri_engine_log_evidence(&j->engine, &log_e));
    CR_TRY(cri_answer_best_list(&j->engine, j->q, log_e, j->out));
done:
    return st;
}

/* --- information ----------------------------------------------------------------------------- */

/* The entropy of the marginal of a normalised table over these variables. */
static cr_status table_entropy(cr_ctx *cx, const cr_factor *f, size_t n, const size_t *keep,
                               double *out)
{
    cr_factor m = { 0 };
    cr_status st = cr_factor_marginal(cx, f, n, keep, &m);
    if (st != CR_OK) return st;
    *out = 0;
    for (size_t e = 0; e < m.size; e++)
        if (m.value[e] > 0) *out -= m.value[e] * log(m.value[e]);
    cr_factor_free(cx, &m);
    return CR_OK;
}

/* H(x, w) - H(w), or I = H(x, w) + H(y, w) - H(x, y, w) - H(w). */
static cr_status information(job *j, size_t n_y, const size_t *y, double *out, double *opt_log)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(j->cx);
    const cr_question *q = j->q;
    cr_factor          f = { 0 };
    size_t            *scope = cr_scratch_index(&s, q->n_x + n_y + q->n_given), n = 0;
    double             h_x, h_y = 0, h_all, h_w = 0;
    CR_TRY(s.status);
    n = join(scope, 0, q->given, q->n_given);
    n = join(scope, n, q->x, q->n_x);
    n = join(scope, n, y, n_y);
    CR_TRY(cri_engine_joint(&j->engine, n, scope, &f, opt_log));
    CR_TRY(table_entropy(j->cx, &f, n, scope, &h_all));
    if (q->n_given > 0) CR_TRY(table_entropy(j->cx, &f, q->n_given, scope, &h_w));
    CR_TRY(table_entropy(j->cx, &f, q->n_given + q->n_x, scope, &h_x));
    n = join(scope, q->n_given, y, n_y);
    if (n > 0) CR_TRY(table_entropy(j->cx, &f, n, scope, &h_y));
    *out = n_y > 0 ? h_x + h_y - h_all - h_w : h_all - h_w;
    if (*out < 0) *out = 0;
done:
    cr_factor_free(j->cx, &f);
    cr_scratch_end(&s);
    return st;
}

static cr_status answer_information(job *j)
{
    cr_status st = CR_OK;
    double    log_e = 0;
    CR_TRY(prepare(j, false));
    CR_TRY(note_log(j, information(j, j->q->n_y, j->q->y, &j->out->number, &log_e), &log_e));
done:
    return st;
}

static bool is_listed(size_t v, const size_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

/* What each variable that is open would tell about x; the most first, ties in order. */
static cr_status answer_informative(job *j)
{
    cr_status        st = CR_OK;
    cr_query_answer *a = j->out;
    size_t           n = 0;
    CR_TRY(prepare(j, true));
    j->engine.many = true;
    a->value = cr_alloc(j->cx, cr_network_size(j->net), sizeof *a->value);
    if (!a->value) CR_TRY(CR_ENOMEM);
    a->values = cr_network_size(j->net);
    a->variable = cr_alloc(j->cx, cr_network_size(j->net), sizeof *a->variable);
    if (!a->variable) CR_TRY(CR_ENOMEM);
    a->n = a->values;
    for (size_t v = 0; v < cr_network_size(j->net); v++) {
        double gain = 0;
        size_t at = n;
        if (is_fixed(j, v) || is_listed(v, j->q->x, j->q->n_x) ||
            is_listed(v, j->q->given, j->q->n_given))
            continue;
        CR_TRY(cr_check_interrupt(j->cx));
        CR_TRY(information(j, 1, &v, &gain, NULL));
        for (; at > 0 && a->value[at - 1] < gain; at--) {
            a->value[at] = a->value[at - 1];
            a->variable[at] = a->variable[at - 1];
        }
        a->value[at] = gain;
        a->variable[at] = v;
        n++;
    }
    if (n < a->n) { /* give the exact lengths */
        size_t *variable = copy_indices(j->cx, a->variable, n);
        if (!variable) CR_TRY(CR_ENOMEM);
        cr_free(j->cx, a->variable, a->n, sizeof *a->variable);
        a->variable = variable;
        a->n = n;
    }
done:
    return st;
}

/* --- separation ------------------------------------------------------------------------------ */

static cr_status keep_trail(job *j, const size_t *trail, size_t length)
{
    j->out->trail = copy_indices(j->cx, trail, length);
    if (!j->out->trail) return CR_ENOMEM;
    j->out->trail_length = length;
    return CR_OK;
}

static cr_status answer_separation(job *j)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(j->cx);
    const cr_question *q = j->q;
    size_t             n = cr_network_size(j->net), length = 0;
    bool              *given = cr_scratch_bytes(&s, n, sizeof *given), separated = true;
    size_t            *trail = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    CR_TRY(cri_engine_open(j->cx, j->net, &j->known, &j->engine.o, &j->engine));
    for (size_t i = 0; i < q->n_given; i++) given[q->given[i]] = true;
    for (size_t i = 0; i < j->known.n; i++) given[j->known.item[i].variable] = true;
    for (size_t i = 0; i < q->n_x && separated; i++)
        for (size_t k = 0; k < q->n_y && separated; k++) {
            CR_TRY(cr_separated(j->cx, j->engine.net, q->x[i], q->y[k], given, &separated, trail,
                                &length));
            if (!separated) CR_TRY(keep_trail(j, trail, length));
        }
    j->out->separated = separated;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the question ---------------------------------------------------------------------------- */

static cr_status answer(job *j)
{
    switch (j->q->kind) {
    case CR_QUESTION_TABLE:
        return answer_table(j);
    case CR_QUESTION_MARGINALS:
        return answer_marginals(j);
    case CR_QUESTION_PROBABILITY:
        return answer_probability(j);
    case CR_QUESTION_BEST:
        return answer_best(j);
    case CR_QUESTION_SEPARATION:
        return answer_separation(j);
    case CR_QUESTION_ENTROPY:
    case CR_QUESTION_INFORMATION:
        return answer_information(j);
    case CR_QUESTION_INFORMATIVE:
        return answer_informative(j);
    case CR_QUESTION_BEST_LIST:
    case CR_QUESTION_CAUSES:
    case CR_QUESTION_SENSITIVITY:
        return answer_list(j);
    }
    return cr_fail(j->cx, CR_EARG, "there is no such question");
}

cr_status cr_query_run(cr_ctx *cx, const cr_network *net, const cr_question *q,
                       const cr_findings *opt_more, const cr_query_options *opt_o,
                       cr_query_answer *out)
{
    cr_status       st = CR_OK;
    cr_query_answer a = { .kind = q->kind, .log_evidence = NAN, .exact = true, .upper = NAN };
    job             j = { .cx = cx, .net = net, .q = q, .out = &a };
    j.engine.cx = cx;
    j.engine.o = opt_o ? *opt_o : cr_query_defaults();
    CR_TRY(cr_network_check(cx, net));
    CR_TRY(gather_findings(&j, opt_more));
    CR_TRY(answer(&j));
    a.method = q->kind == CR_QUESTION_SEPARATION ? "graph" : cri_engine_name(&j.engine);
    a.open = j.engine.open;
    a.exact = q->kind == CR_QUESTION_SEPARATION || !(a.open || cri_engine_approximates(&j.engine));
    a.cost = j.engine.cost;
    a.error = j.engine.error;
    a.upper = j.engine.upper;
    memcpy(a.why, j.engine.why, sizeof a.why);
    if (!a.exact && !a.open && q->kind == CR_QUESTION_BEST && q->n_x == 0) a.method = "max-product";
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
