/* query_json.c -- answers of query as JSON. */
#include "query_answers.h"
#include "approximate.h"
#include "query_lists.h"

#include <math.h>

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *variable_text(const query_job *j, size_t v)
{
    return json_string_nocheck(cr_variable_name(j->vs, v));
}

static json_t *state_text(const query_job *j, size_t v, size_t s)
{
    return json_string_nocheck(cr_state_name(j->vs, v, s));
}

/* {"yes": 0.1, "no": 0.9} */
static json_t *distribution(const query_job *j, size_t v, const double *p)
{
    json_t *out = json_object();
    for (size_t s = 0; s < cr_variable_states(j->vs, v); s++)
        json_object_set_new_nocheck(out, cr_state_name(j->vs, v, s), json_real(p[s]));
    return out;
}

static json_t *marginals(const query_job *j, const cr_query_answer *a)
{
    json_t       *out = json_object();
    const double *p = a->kind == CR_QUESTION_TABLE ? a->table.value : a->value;
    for (size_t i = 0; i < a->n; i++) {
        json_object_set_new_nocheck(out, cr_variable_name(j->vs, a->variable[i]),
                                    distribution(j, a->variable[i], p));
        p += cr_variable_states(j->vs, a->variable[i]);
    }
    return out;
}

size_t query_entry(const query_job *j, const cr_query_answer *a, size_t e, size_t *states)
{
    size_t at = 0;
    for (size_t k = a->n; k-- > 0;) {
        size_t n = cr_variable_states(j->vs, a->variable[k]);
        states[k] = e % n;
        e /= n;
        at += states[k] * a->table.stride[cr_factor_position(&a->table, a->variable[k])];
    }
    return at;
}

json_t *query_assignment(const query_job *j, const cr_query_answer *a, const size_t *states)
{
    json_t *out = json_object();
    for (size_t k = 0; k < a->n; k++)
        json_object_set_new_nocheck(out, cr_variable_name(j->vs, a->variable[k]),
                                    state_text(j, a->variable[k], states[k]));
    return out;
}

static json_t *joint_rows(const query_job *j, const cr_query_answer *a, size_t *states)
{
    json_t *out = json_array();
    for (size_t e = 0; e < a->table.size; e++) {
        json_t *row = json_object();
        size_t  at = query_entry(j, a, e, states);
        json_object_set_new(row, "states", query_assignment(j, a, states));
        json_object_set_new(row, "p", json_real(a->table.value[at]));
        json_array_append_new(out, row);
    }
    return out;
}

static json_t *names(const query_job *j, const size_t *list, size_t n)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(out, variable_text(j, list[i]));
    return out;
}

json_t *query_gains(const query_job *j, const cr_query_answer *a)
{
    json_t *out = json_array();
    for (size_t i = 0; i < a->n; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "variable", variable_text(j, a->variable[i]));
        json_object_set_new(row, "information", number(a->value[i] / j->per));
        json_array_append_new(out, row);
    }
    return out;
}

static void add_answer(const query_job *j, const cr_query_answer *a, size_t *states, json_t *out)
{
    switch (a->kind) {
    case CR_QUESTION_TABLE:
        if (a->n == 1)
            json_object_set_new(out, "marginals", marginals(j, a));
        else
            json_object_set_new(out, "table", joint_rows(j, a, states));
        break;
    case CR_QUESTION_MARGINALS:
        json_object_set_new(out, "marginals", marginals(j, a));
        break;
    case CR_QUESTION_PROBABILITY:
        json_object_set_new(out, "probability", number(a->number));
        json_object_set_new(out, "log_probability", number(a->log_number));
        break;
    case CR_QUESTION_BEST:
        json_object_set_new(out, "assignment", query_assignment(j, a, a->state));
        json_object_set_new(out, "probability", number(a->number));
        json_object_set_new(out, "log_probability", number(a->log_number));
        break;
    case CR_QUESTION_SEPARATION:
        json_object_set_new(out, "independent", json_boolean(a->separated));
        if (!a->separated) json_object_set_new(out, "trail", names(j, a->trail, a->trail_length));
        if (a->n > 0) json_object_set_new(out, "determined", names(j, a->variable, a->n));
        break;
    case CR_QUESTION_ENTROPY:
        json_object_set_new(out, "entropy", number(a->number / j->per));
        json_object_set_new(out, "unit", json_string(j->unit));
        break;
    case CR_QUESTION_INFORMATION:
        json_object_set_new(out, "information", number(a->number / j->per));
        json_object_set_new(out, "unit", json_string(j->unit));
        break;
    case CR_QUESTION_INFORMATIVE:
        json_object_set_new(out, "informative", query_gains(j, a));
        json_object_set_new(out, "unit", json_string(j->unit));
        break;
    case CR_QUESTION_STRUCTURE:
        query_structure_json(j, a, out);
        break;
    default:
        query_list_json(j->net, a, out);
    }
}

static json_t *cost_object(const cr_query_answer *a)
{
    json_t *out = json_object();
    json_object_set_new(out, "variables", json_integer((json_int_t)a->cost.variables));
    json_object_set_new(out, "width", json_integer((json_int_t)a->cost.width));
    json_object_set_new(out, "operations", number(a->cost.operations));
    json_object_set_new(out, "bytes", number(a->cost.bytes));
    if (a->cost.conditioned > 0) {
        json_object_set_new(out, "conditioned", json_integer((json_int_t)a->cost.conditioned));
        json_object_set_new(out, "runs", number(a->cost.runs));
    }
    return out;
}

cr_approximate_report query_report(const query_job *j, const cr_query_answer *a)
{
    cr_approximate_report r = a->error;
    if (a->kind == CR_QUESTION_ENTROPY || a->kind == CR_QUESTION_INFORMATION) r.se /= j->per;
    return r;
}

/* Standard errors in the shape of the marginals, and what is known of the error. */
static void add_error(const query_job *j, const cr_query_answer *a, json_t *out)
{
    json_t *se = a->se && a->kind == CR_QUESTION_MARGINALS ? json_object() : NULL;
    for (size_t i = 0, k = 0; se && i < a->n; k += cr_variable_states(j->vs, a->variable[i++]))
        json_object_set_new_nocheck(se, cr_variable_name(j->vs, a->variable[i]),
                                    distribution(j, a->variable[i], a->se + k));
    if (se) json_object_set_new(out, "standard_errors", se);
    if (a->kind == CR_QUESTION_BEST && !isnan(a->upper)) {
        json_object_set_new(out, "log_probability_upper", number(a->upper));
        json_object_set_new(out, "gap", number(a->upper - a->log_number));
    }
    if (a->why[0]) json_object_set_new(out, "reason", json_string_nocheck(a->why));
    cr_approximate_report r = query_report(j, a);
    if (!a->open) json_object_set_new(out, "error", approximate_error(&r));
}

json_t *query_answer_json(const query_job *j, const cr_query_answer *a, size_t *states)
{
    json_t *out = json_object();
    json_object_set_new(out, "query", json_string_nocheck(j->text));
    json_object_set_new(out, "method", json_string(a->method));
    json_object_set_new(out, "exact", json_boolean(a->exact));
    json_object_set_new(out, "log_evidence", number(a->log_evidence));
    add_answer(j, a, states, out);
    if (!a->exact) add_error(j, a, out);
    json_object_set_new(out, "cost", cost_object(a));
    return out;
}
