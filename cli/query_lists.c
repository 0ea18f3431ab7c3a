/* query_lists.c -- the best few, causes, and parameters, as rows. */
#include "query_lists.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEW = 8 }; /* variables that stand side by side in a table */

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static const char *name_of(const cr_network *net, size_t v)
{
    return cr_variable_name(cr_network_variables(net), v);
}

static const char *state_of(const cr_network *net, size_t v, size_t s)
{
    return cr_state_name(cr_network_variables(net), v, s);
}

bool query_is_list(const cr_query_answer *a)
{
    return a->kind == CR_QUESTION_BEST_LIST || a->kind == CR_QUESTION_CAUSES ||
           a->kind == CR_QUESTION_SENSITIVITY;
}

/* --- the best few ---------------------------------------------------------------------------- */

static json_t *assignment(const cr_network *net, const cr_query_answer *a, size_t row)
{
    json_t *out = json_object();
    for (size_t k = 0; k < a->n; k++)
        json_object_set_new_nocheck(
            out, name_of(net, a->variable[k]),
            json_string_nocheck(state_of(net, a->variable[k], a->states[row * a->n + k])));
    return out;
}

static json_t *best_rows(const cr_network *net, const cr_query_answer *a)
{
    json_t *out = json_array();
    for (size_t i = 0; i < a->rows; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "states", assignment(net, a, i));
        json_object_set_new(row, "p", json_real(a->value[i]));
        json_array_append_new(out, row);
    }
    return out;
}

/* "x=a, y=b": where row i differs from the first. */
static json_t *difference(const cr_network *net, const cr_query_answer *a, size_t i)
{
    char   text[512] = "";
    size_t used = 0;
    for (size_t k = 0; k < a->n; k++) {
        size_t s = a->states[i * a->n + k], v = a->variable[k];
        if (s == a->states[k]) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", used ? ", " : "",
                                 name_of(net, v), state_of(net, v, s));
        if (used >= sizeof text) break;
    }
    return json_string_nocheck(text);
}

/* A column per variable where they are few; else the first in full and what differs in others. */
static void print_best(cli *c, const cr_network *net, const cr_query_answer *a)
{
    json_t *rows = json_array(), *first = json_array();
    for (size_t i = 0; i < a->rows; i++) {
        json_t *row = a->n <= FEW ? assignment(net, a, i) : json_object();
        if (a->n > FEW) json_object_set_new(row, "rank", json_integer((json_int_t)i + 1));
        json_object_set_new_nocheck(row, "probability", json_real(a->value[i]));
        if (a->n > FEW) json_object_set_new(row, "differs in", difference(net, a, i));
        json_array_append_new(rows, row);
    }
    for (size_t k = 0; k < a->n && a->n > FEW && a->rows > 0; k++) {
        json_t *row = json_object();
        json_object_set_new(row, "variable", json_string_nocheck(name_of(net, a->variable[k])));
        json_object_set_new(row, "state",
                            json_string_nocheck(state_of(net, a->variable[k], a->states[k])));
        json_array_append_new(first, row);
    }
    if (json_array_size(first) > 0) {
        out_table(c, first);
        out_text(c, "\n");
    }
    out_table(c, rows);
    json_decref(rows);
    json_decref(first);
}

/* --- causes ---------------------------------------------------------------------------------- */

static json_t *cause_rows(const cr_network *net, const cr_query_answer *a)
{
    json_t *out = json_array();
    for (size_t i = 0; i < a->rows; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "variable", json_string_nocheck(name_of(net, a->variable[i])));
        json_object_set_new(row, "state",
                            json_string_nocheck(state_of(net, a->variable[i], a->states[i])));
        json_object_set_new(row, "before", json_real(a->value[3 * i]));
        json_object_set_new(row, "after", json_real(a->value[3 * i + 1]));
        json_object_set_new(row, "factor", number(a->value[3 * i + 2]));
        if (a->se) json_object_set_new(row, "factor_se", number(a->se[3 * i + 2]));
        json_array_append_new(out, row);
    }
    return out;
}

/* --- parameters ------------------------------------------------------------------------------ */

/* The state of place k of a table's scope at an entry. */
static size_t state_at(const cr_network *net, const cr_table_view *t, size_t entry, size_t k)
{
    for (size_t i = t->n; --i > k;) entry /= cr_network_states(net, t->scope[i]);
    return entry % cr_network_states(net, t->scope[k]);
}

static json_t *parameter_row(const cr_network *net, const cr_parameter *p)
{
    cr_table_view t = cr_network_table(net, p->table);
    bool          bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    json_t       *row = json_object(), *given = json_object();
    for (size_t k = 0; k < t.n; k++) {
        size_t  v = t.scope[k];
        json_t *state = json_string_nocheck(state_of(net, v, state_at(net, &t, p->entry, k)));
        if (!bayes || k + 1 < t.n) {
            json_object_set_new_nocheck(given, name_of(net, v), state);
            continue;
        }
        json_object_set_new(row, "variable", json_string_nocheck(name_of(net, v)));
        json_object_set_new(row, "state", state);
    }
    if (!bayes) json_object_set_new(row, "table", json_integer((json_int_t)p->table));
    json_object_set_new(row, bayes ? "given" : "states", given);
    json_object_set_new(row, "value", json_real(p->value));
    json_object_set_new(row, "derivative", json_real(p->derivative));
    return row;
}

static json_t *parameter_rows(const cr_network *net, const cr_query_answer *a)
{
    json_t *out = json_array();
    for (size_t i = 0; i < a->rows; i++)
        json_array_append_new(out, parameter_row(net, &a->parameter[i]));
    return out;
}

/* "P(alarm=on | burglary=no, earthquake=no)" */
static json_t *parameter_text(const cr_network *net, const cr_parameter *p)
{
    cr_table_view t = cr_network_table(net, p->table);
    bool          bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    char          text[512];
    size_t        used = 0;
    if (bayes)
        used =
            (size_t)snprintf(text, sizeof text, "P(%s=%s", name_of(net, t.scope[t.n - 1]),
                             state_of(net, t.scope[t.n - 1], state_at(net, &t, p->entry, t.n - 1)));
    else
        used = (size_t)snprintf(text, sizeof text, "table %zu(", p->table);
    for (size_t k = 0; k + (bayes ? 1 : 0) < t.n && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s",
                                 k       ? ", "
                                 : bayes ? " | "
                                         : "",
                                 name_of(net, t.scope[k]),
                                 state_of(net, t.scope[k], state_at(net, &t, p->entry, k)));
    if (used < sizeof text) snprintf(text + used, sizeof text - used, ")");
    return json_string_nocheck(text);
}

static void print_parameters(cli *c, const cr_network *net, const cr_query_answer *a)
{
    json_t *rows = json_array();
    char    text[32];
    out_text(c, "  %s\n", out_number(a->number, false, text));
    for (size_t i = 0; i < a->rows; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "parameter", parameter_text(net, &a->parameter[i]));
        json_object_set_new(row, "value", json_real(a->parameter[i].value));
        json_object_set_new(row, "derivative", json_real(a->parameter[i].derivative));
        json_array_append_new(rows, row);
    }
    out_table(c, rows);
    json_decref(rows);
}

/* --- all of them ----------------------------------------------------------------------------- */

void query_list_json(const cr_network *net, const cr_query_answer *a, json_t *out)
{
    if (a->kind == CR_QUESTION_BEST_LIST) {
        json_object_set_new(out, "assignments", best_rows(net, a));
    } else if (a->kind == CR_QUESTION_CAUSES) {
        json_object_set_new(out, "causes", cause_rows(net, a));
    } else {
        json_object_set_new(out, "probability", number(a->number));
        json_object_set_new(out, "log_probability", number(a->log_number));
        json_object_set_new(out, "parameters", parameter_rows(net, a));
    }
}

void query_list_text(cli *c, const cr_network *net, const cr_query_answer *a)
{
    if (a->kind == CR_QUESTION_BEST_LIST) {
        print_best(c, net, a);
    } else if (a->kind == CR_QUESTION_CAUSES) {
        json_t *rows = cause_rows(net, a);
        if (a->rows == 0) out_text(c, "  none: nothing that is open comes before what is known\n");
        out_table(c, rows);
        json_decref(rows);
    } else {
        print_parameters(c, net, a);
    }
}

size_t query_list_csv(const cr_network *net, const cr_query_answer *a, size_t i,
                      const char **variables, const char **states, size_t room, double *out_value)
{
    size_t n = 1;
    if (a->kind == CR_QUESTION_SENSITIVITY) {
        cr_table_view t = cr_network_table(net, a->parameter[i].table);
        n = t.n < room ? t.n : room;
        for (size_t k = 0; k < n; k++) { /* the child first */
            size_t at = t.n - 1 - k;
            variables[k] = name_of(net, t.scope[at]);
            states[k] = state_of(net, t.scope[at], state_at(net, &t, a->parameter[i].entry, at));
        }
        *out_value = a->parameter[i].derivative;
    } else if (a->kind == CR_QUESTION_CAUSES) {
        variables[0] = name_of(net, a->variable[i]);
        states[0] = state_of(net, a->variable[i], a->states[i]);
        *out_value = a->value[3 * i + 2];
    } else {
        n = a->n < room ? a->n : room;
        for (size_t k = 0; k < n; k++) {
            variables[k] = name_of(net, a->variable[k]);
            states[k] = state_of(net, a->variable[k], a->states[i * a->n + k]);
        }
        *out_value = a->value[i];
    }
    return n;
}
