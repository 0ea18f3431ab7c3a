/* query_csv.c -- answers of query as CSV: query, variable, state, value; where some answer has
 * causes also the probabilities before and after, of parameters their value, and where some answer
 * is approximate how it came. */
#include "approximate.h"
#include "query_answers.h"
#include "base/list.h"

#include <math.h>

size_t query_field_bytes(const cr_variables *vs, size_t n)
{
    size_t names = 1, states = 1;
    for (size_t v = 0; v < n; v++) {
        size_t most = 0;
        for (size_t s = 0; s < cr_variable_states(vs, v); s++) {
            size_t length = cri_list_quote(cr_state_name(vs, v, s), NULL, 0);
            if (length > most) most = length;
        }
        names += cri_list_quote(cr_variable_name(vs, v), NULL, 0) + 1;
        states += most + 1;
    }
    return names > states ? names : states;
}

/* Names as one field: a list with commas. */
static void put_list(const query_job *j, const char *const *list, size_t n)
{
    size_t used = 0;
    if (n == 0) return;
    if (n == 1) {
        out_csv_field(j->c, list[0]);
        return;
    }
    j->field[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (i) j->field[used++] = ',';
        used += cri_list_quote(list[i], j->field + used, j->bytes - used);
    }
    out_csv_field(j->c, j->field);
}

void query_csv_header(const query_job *j)
{
    out_text(j->c, "query,variable,state,value%s%s%s\n", j->causes ? ",before,after" : "",
             j->parameters ? ",parameter" : "", j->errors ? ",method,se,converged" : "");
}

/* A number, or nothing. */
static void put_number(const query_job *j, double x)
{
    char text[32];
    out_text(j->c, ",%s", isnan(x) ? "" : out_number(x, true, text));
}

void query_csv_rest(const query_job *j)
{
    if (j->causes) put_number(j, j->before);
    if (j->causes) put_number(j, j->after);
    if (j->parameters) put_number(j, j->parameter);
    if (j->errors) {
        out_text(j->c, ",%s", j->method);
        put_number(j, j->se);
        out_text(j->c, ",%s", j->settled);
    }
    out_text(j->c, "\n");
}

void query_csv_row(const query_job *j, const char *const *variables, size_t n,
                   const char *const *states, size_t n_states, double value)
{
    char text[32];
    out_csv_field(j->c, j->text);
    out_text(j->c, ",");
    put_list(j, variables, n);
    out_text(j->c, ",");
    put_list(j, states, n_states);
    out_text(j->c, ",%s", out_number(value, true, text));
    query_csv_rest(j);
}

static void put_value(const query_job *j, double value)
{
    query_csv_row(j, NULL, 0, NULL, 0, value);
}

static void csv_joint(const query_job *j, const cr_query_answer *a, size_t *states,
                      const char **list)
{
    for (size_t e = 0; e < a->table.size; e++) {
        size_t at = query_entry(j, a, e, states);
        for (size_t k = 0; k < a->n; k++) {
            list[k] = query_name(j, a->variable[k]);
            list[a->n + k] = query_state(j, a->variable[k], states[k]);
        }
        query_csv_row(j, list, a->n, list + a->n, a->n, a->table.value[at]);
    }
}

size_t query_list_room(const query_job *j, const cr_query_answer *a)
{
    size_t most = a->n ? a->n : 1;
    for (size_t t = 0; a->kind == CR_QUESTION_SENSITIVITY && t < cr_network_tables(j->net); t++)
        if (cr_network_table(j->net, t).n > most) most = cr_network_table(j->net, t).n;
    for (size_t i = 0; a->begin && i < a->rows; i++)
        if (a->begin[i + 1] - a->begin[i] > most) most = a->begin[i + 1] - a->begin[i];
    return most;
}

/* The names of a row in one field, and no states. */
static void csv_structure(const query_job *j, const cr_query_answer *a, const char **list)
{
    for (size_t i = 0; i < query_structure_rows(a); i++) {
        double value;
        size_t n = query_structure_csv(j, a, i, list, &value);
        query_csv_row(j, list, n, NULL, 0, value);
    }
}

static void csv_list(query_job *j, const cr_query_answer *a, const char **list, size_t room)
{
    for (size_t i = 0; i < a->rows; i++) {
        double value;
        size_t n = query_list_csv(j, a, i, list, list + room, room, &value);
        if (a->kind == CR_QUESTION_CAUSES) {
            j->before = a->value[3 * i];
            j->after = a->value[3 * i + 1];
            j->se = a->se ? a->se[3 * i + 2] : NAN;
        }
        if (a->kind == CR_QUESTION_SENSITIVITY) j->parameter = a->parameter[i].value;
        query_csv_row(j, list, n, list + room, n, value);
    }
}

void query_answer_csv(query_job *j, const cr_query_answer *a, size_t *states, const char **list)
{
    const double *p = a->value;
    const char   *one, *state;
    j->method = a->method;
    j->before = j->after = j->parameter = NAN;
    j->settled = a->exact ? "" : a->open ? "false" : approximate_settled(&a->error);
    j->se = a->exact || a->error.samples == 0 ? NAN : query_report(j, a).se;
    switch (a->kind) {
    case CR_QUESTION_TABLE:
        csv_joint(j, a, states, list);
        break;
    case CR_QUESTION_MARGINALS:
        for (size_t i = 0; i < a->n; i++)
            for (size_t s = 0; s < cr_variable_states(j->vs, a->variable[i]); s++) {
                one = query_name(j, a->variable[i]);
                state = query_state(j, a->variable[i], s);
                if (a->se) j->se = a->se[p - a->value];
                query_csv_row(j, &one, 1, &state, 1, *p++);
            }
        break;
    case CR_QUESTION_BEST:
        for (size_t i = 0; i < a->n; i++) {
            one = query_name(j, a->variable[i]);
            state = query_state(j, a->variable[i], a->state[i]);
            query_csv_row(j, &one, 1, &state, 1, a->number);
        }
        break;
    case CR_QUESTION_INFORMATIVE:
        for (size_t i = 0; i < a->n; i++) {
            one = query_name(j, a->variable[i]);
            query_csv_row(j, &one, 1, NULL, 0, a->value[i] / j->per);
        }
        break;
    case CR_QUESTION_SEPARATION:
        put_value(j, a->separated);
        break;
    case CR_QUESTION_PROBABILITY:
        put_value(j, a->number);
        break;
    case CR_QUESTION_ENTROPY:
    case CR_QUESTION_INFORMATION:
        put_value(j, a->number / j->per);
        break;
    case CR_QUESTION_STRUCTURE:
        csv_structure(j, a, list);
        break;
    default:
        csv_list(j, a, list, query_list_room(j, a));
    }
}
