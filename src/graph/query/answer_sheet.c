/* answer_sheet.c -- answers as sheets: the values of each question, under the names of answer_fields.c. */
#include "questions.h"

#include <math.h>
#include <string.h>

/* --- how an answer was computed -------------------------------------------------------------- */

/* Numbers and counts that the method has. */
static void put_number(cri_sheet *out, const char *name, double x)
{
    if (!isnan(x)) cri_put_real(out, name, x);
}

static void put_count(cri_sheet *out, const char *name, size_t n)
{
    if (n > 0) cri_put_count(out, name, n);
}

void cri_put_approximate(const cr_approximate_report *r, cri_sheet *out)
{
    if (r->iterations > 0 || r->chains > 0) cri_put_flag(out, "converged", r->converged);
    put_count(out, "iterations", r->iterations);
    put_number(out, "residual", r->residual);
    put_number(out, "damping", r->damping);
    put_number(out, "lower", r->lower);
    put_number(out, "upper", r->upper);
    put_number(out, "probability_difference", r->far);
    put_number(out, "log_evidence_difference", r->log_far);
    put_count(out, "samples", r->samples);
    put_number(out, "effective", r->effective);
    put_number(out, "standard_error", r->se);
    put_number(out, "log_evidence_se", r->log_evidence_se);
    put_number(out, "accepted", r->accepted);
    put_number(out, "pareto_k", r->pareto_k);
    put_number(out, "missed", r->missed);
    put_count(out, "modes", r->modes);
    put_count(out, "chains", r->chains);
    put_number(out, "rhat", r->rhat);
    put_count(out, "clusters", r->clusters);
    put_count(out, "largest", r->largest);
    put_count(out, "planned", r->planned);
    put_count(out, "made", r->made);
}

static void put_plan(const cr_query_planned *p, cri_sheet *out)
{
    cri_put_text(out, "method", p->method);
    if (p->cost.variables > 0) {
        cri_put_count(out, "width", p->cost.width);
        cri_put_real(out, "operations", p->cost.operations);
        cri_put_real(out, "bytes", p->cost.bytes);
    }
    cri_put_text(out, "why", p->why);
}

static void put_cost(const cr_query_answer *a, cri_sheet *out)
{
    cri_put_count(out, "variables", a->cost.variables);
    cri_put_count(out, "width", a->cost.width);
    cri_put_real(out, "operations", a->cost.operations);
    cri_put_real(out, "bytes", a->cost.bytes);
    if (a->cost.conditioned == 0) return;
    cri_put_count(out, "conditioned", a->cost.conditioned);
    cri_put_real(out, "runs", a->cost.runs);
}

cr_approximate_report cri_answer_report(const cri_answer_words *w, const cr_query_answer *a)
{
    cr_approximate_report r = a->error;
    if (a->kind == CR_QUESTION_ENTROPY || a->kind == CR_QUESTION_INFORMATION) r.se /= w->per;
    return r;
}

/* --- distributions --------------------------------------------------------------------------- */

static const char *name_of(const cri_answer_words *w, size_t v)
{
    return cr_variable_name(w->variables, v);
}

static const char *state_of(const cri_answer_words *w, size_t v, size_t s)
{
    return cr_state_name(w->variables, v, s);
}

void cri_put_names(cri_sheet *out, const char *name, const cr_variables *vs, const size_t *list,
                   size_t n)
{
    cri_sheet *names = cri_put_list(out, name);
    for (size_t i = 0; i < n; i++) cri_put_text(names, NULL, cr_variable_name(vs, list[i]));
}

/* "x": {"yes": 0.1, "no": 0.9} of every variable, with as many numbers as they have states. */
static void put_states(const cri_answer_words *w, const cr_query_answer *a, const double *p,
                       cri_sheet *out)
{
    for (size_t i = 0; i < a->n; i++) {
        size_t     v = a->variable[i];
        cri_sheet *one = cri_put_object(out, name_of(w, v));
        for (size_t s = 0; s < cr_variable_states(w->variables, v); s++)
            cri_put_real(one, state_of(w, v, s), *p++);
    }
}

/* "x": {"mean": 1, "sd": 2} */
static void put_normals(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    size_t stride = a->covariances == a->n ? 1 : a->n + 1;
    for (size_t i = 0; i < a->n; i++) {
        cri_sheet *one = cri_put_object(out, name_of(w, a->variable[i]));
        cri_put_real(one, "mean", a->value[i]);
        cri_put_real(one, "sd", sqrt(a->covariance[i * stride]));
    }
}

void cri_put_marginals(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_sheet *all = cri_put_object(out, "marginals");
    if (w->net)
        put_states(w, a, a->value, all);
    else
        put_normals(w, a, all);
}

/* "x": "yes", "y": "no": entry e of the table, the last of the variables asked for running
 * fastest.  Gives its probability. */
static double put_entry(const cri_answer_words *w, const cr_query_answer *a, size_t e,
                        cri_sheet *out)
{
    size_t at = 0, rest = a->table.size;
    for (size_t k = 0; k < a->n; k++) {
        size_t v = a->variable[k], n = cr_variable_states(w->variables, v);
        size_t s = e / (rest /= n) % n;
        at += s * a->table.stride[cr_factor_position(&a->table, v)];
        cri_put_text(out, name_of(w, v), state_of(w, v, s));
    }
    return a->table.value[at];
}

static void put_covariance(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_put_names(out, "variables", w->variables, a->variable, a->n);
    cri_put_reals(out, "mean", a->value, a->n);
    cri_sheet *rows = cri_put_list(out, "covariance");
    for (size_t i = 0; i < a->n; i++) cri_put_reals(rows, NULL, a->covariance + i * a->n, a->n);
}

void cri_put_table(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    if (!w->net) {
        if (a->n > 1)
            put_covariance(w, a, out);
        else
            put_normals(w, a, cri_put_object(out, "marginals"));
        return;
    }
    if (a->n == 1) {
        put_states(w, a, a->table.value, cri_put_object(out, "marginals"));
        return;
    }
    cri_sheet *rows = cri_put_list(out, "table");
    for (size_t e = 0; e < a->table.size; e++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_real(row, "p", put_entry(w, a, e, cri_put_object(row, "states")));
    }
}

void cri_put_probability(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_put_real(out, w->net ? "probability" : "density", a->number);
    cri_put_real(out, w->net ? "log_probability" : "log_density", a->log_number);
}

/* --- assignments ----------------------------------------------------------------------------- */

static void put_assignment(const cri_answer_words *w, const cr_query_answer *a, size_t row,
                           cri_sheet *out)
{
    for (size_t k = 0; k < a->n; k++) {
        size_t v = a->variable[k];
        if (w->net)
            cri_put_text(out, name_of(w, v), state_of(w, v, a->states[row * a->n + k]));
        else
            cri_put_real(out, name_of(w, v), a->value[k]);
    }
}

void cri_put_best(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    put_assignment(w, a, 0, cri_put_object(out, "assignment"));
    cri_put_probability(w, a, out);
    if (w->net) cri_put_real(out, "log_joint", a->log_joint);
}

void cri_put_best_list(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_sheet *rows = cri_put_list(out, "assignments");
    for (size_t i = 0; i < a->rows; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        put_assignment(w, a, i, cri_put_object(row, "states"));
        cri_put_real(row, "p", a->value[i]);
    }
}

/* --- information, causes, parameters --------------------------------------------------------- */

void cri_put_information(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_put_real(out, a->kind == CR_QUESTION_ENTROPY ? "entropy" : "information",
                 a->number / w->per);
    cri_put_text(out, "unit", w->unit);
}

void cri_put_informative(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_sheet *rows = cri_put_list(out, "informative");
    for (size_t i = 0; i < a->n; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "variable", name_of(w, a->variable[i]));
        cri_put_real(row, "information", a->value[i] / w->per);
    }
    cri_put_text(out, "unit", w->unit);
}

void cri_put_causes(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_sheet *rows = cri_put_list(out, "causes");
    for (size_t i = 0; i < a->rows; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "variable", name_of(w, a->variable[i]));
        cri_put_text(row, "state", state_of(w, a->variable[i], a->states[i]));
        cri_put_real(row, "before", a->value[3 * i]);
        cri_put_real(row, "after", a->value[3 * i + 1]);
        cri_put_real(row, "factor", a->value[3 * i + 2]);
        if (a->se) cri_put_real(row, "factor_se", a->se[3 * i + 2]);
    }
}

/* The name of the state at place k of a table's scope at an entry. */
static const char *state_at(const cri_answer_words *w, const cr_table_view *t, size_t entry,
                            size_t k)
{
    for (size_t i = t->n; --i > k;) entry /= cr_network_states(w->net, t->scope[i]);
    return state_of(w, t->scope[k], entry % cr_network_states(w->net, t->scope[k]));
}

/* The child, which is the last in the scope, and its parents; or all alike. */
static void put_parameter(const cri_answer_words *w, const cr_parameter *p, cri_sheet *row)
{
    cr_table_view t = cr_network_table(w->net, p->table);
    bool          bayes = cr_network_get_kind(w->net) == CR_NETWORK_BAYES;
    size_t        last = t.n - 1, n = bayes ? last : t.n;
    if (bayes) {
        cri_put_text(row, "variable", name_of(w, t.scope[last]));
        cri_put_text(row, "state", state_at(w, &t, p->entry, last));
    } else {
        cri_put_count(row, "table", p->table);
    }
    cri_sheet *states = cri_put_object(row, bayes ? "given" : "states");
    for (size_t k = 0; k < n; k++)
        cri_put_text(states, name_of(w, t.scope[k]), state_at(w, &t, p->entry, k));
    cri_put_real(row, "value", p->value);
    cri_put_real(row, "derivative", p->derivative);
}

void cri_put_sensitivity(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_put_probability(w, a, out);
    cri_sheet *rows = cri_put_list(out, "parameters");
    for (size_t i = 0; i < a->rows; i++)
        put_parameter(w, &a->parameter[i], cri_put_object(rows, NULL));
}

/* --- the graph ------------------------------------------------------------------------------- */

void cri_put_separation(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_put_flag(out, "independent", a->holds);
    if (!a->holds || a->n > 0)
        cri_put_names(out, a->holds ? "determined" : "trail", w->variables, a->variable, a->n);
}

void cri_put_list_of_names(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_put_names(out, "variables", w->variables, a->variable, a->n);
}

void cri_put_sets(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_sheet *sets = cri_put_list(out, cri_question_of(a->kind)->shows);
    for (size_t i = 0; i < a->rows; i++)
        cri_put_names(sets, NULL, w->variables, a->states + a->begin[i],
                      a->begin[i + 1] - a->begin[i]);
}

void cri_put_flag_only(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    (void)w;
    cri_put_flag(out, cri_question_of(a->kind)->shows, a->holds);
}

void cri_put_imap(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cri_put_flag(out, "imap", a->holds);
    if (a->holds) return;
    cri_sheet *one = cri_put_object(out, "independence");
    cri_put_text(one, "x", name_of(w, a->variable[0]));
    cri_put_text(one, "y", name_of(w, a->variable[1]));
    cri_put_names(one, "given", w->variables, a->variable + 2, a->n - 2);
}

/* --- one answer ------------------------------------------------------------------------------ */

/* Standard errors in the shape of the marginals, and what is known of the error. */
static void put_error(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out)
{
    cr_approximate_report r = cri_answer_report(w, a);
    if (a->se && a->kind == CR_QUESTION_MARGINALS)
        put_states(w, a, a->se, cri_put_object(out, "standard_errors"));
    if (a->kind == CR_QUESTION_BEST && !isnan(a->upper)) {
        cri_put_real(out, "log_joint_upper", a->upper);
        cri_put_real(out, "gap", a->upper - a->log_joint);
    }
    if (a->why[0]) cri_put_text(out, "reason", a->why);
    if (!a->open) cri_put_approximate(&r, cri_put_object(out, "error"));
}

void cri_answer_put(const cri_answer_words *w, const char *text, const cr_query_answer *a,
                    cri_sheet *out)
{
    cri_answer_words slices = *w;
    if (a->about) {
        slices.net = a->about;
        slices.variables = cr_network_variables(a->about);
        w = &slices;
    }
    cri_put_text(out, "query", text);
    cri_put_text(out, "method", a->method);
    cri_put_flag(out, "exact", a->exact);
    cri_put_real(out, "log_evidence", a->log_evidence);
    cri_question_of(a->kind)->put(w, a, out);
    if (!a->exact) put_error(w, a, out);
    if (w->net) put_cost(a, cri_put_object(out, "cost"));
    if (w->plans && a->plan.method) put_plan(&a->plan, cri_put_object(out, "plan"));
}

const cri_sheet *cri_answer_value(cr_question_kind kind, const cri_sheet *answer)
{
    char        name[64];
    const char *at = cri_question_of(kind)->shows;
    for (; *at; at += strspn(at, " ")) {
        size_t           n = strcspn(at, " ");
        const cri_sheet *value = NULL;
        if (n < sizeof name) {
            memcpy(name, at, n);
            name[n] = '\0';
            value = cri_sheet_get(answer, name);
        }
        if (value) return value;
        at += n;
    }
    return NULL;
}
