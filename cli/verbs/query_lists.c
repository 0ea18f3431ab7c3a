/* query_lists.c -- the best few, causes, and parameters, as rows. */
#include "query_answers.h"

#include <stdio.h>

enum { FEW = 8 }; /* variables that stand side by side in a table */

/* --- the best few ---------------------------------------------------------------------------- */

static void put_best(const query_job *j, const cr_query_answer *a, cri_sheet *rows)
{
    for (size_t i = 0; i < a->rows; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        query_put_assignment(j, a, a->states + i * a->n, cri_put_object(row, "states"));
        cri_put_real(row, "p", a->value[i]);
    }
}

/* "x=a, y=b": where row i differs from the first. */
static void put_difference(const query_job *j, const cr_query_answer *a, size_t i, cri_sheet *row)
{
    char   text[512] = "";
    size_t used = 0;
    for (size_t k = 0; k < a->n; k++) {
        size_t s = a->states[i * a->n + k], v = a->variable[k];
        if (s == a->states[k]) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", used ? ", " : "",
                                 query_name(j, v), query_state(j, v, s));
        if (used >= sizeof text) break;
    }
    cri_put_text(row, "differs in", text);
}

/* The first in full. */
static void print_first(query_job *j, const cr_query_answer *a)
{
    cri_sheet *rows = query_rows(j);
    for (size_t k = 0; k < a->n; k++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "variable", query_name(j, a->variable[k]));
        cri_put_text(row, "state", query_state(j, a->variable[k], a->states[k]));
    }
    query_print_rows(j);
    out_text(j->c, "\n");
}

/* A column per variable where they are few; else the first in full and what differs in others. */
static void print_best(query_job *j, const cr_query_answer *a)
{
    const char *p = a->n > FEW ? "probability" : query_column(j, a, "probability");
    if (a->n > FEW && a->rows > 0) print_first(j, a);
    cri_sheet *rows = query_rows(j);
    for (size_t i = 0; i < a->rows; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        if (a->n > FEW)
            cri_put_count(row, "rank", i + 1);
        else
            query_put_assignment(j, a, a->states + i * a->n, row);
        cri_put_real(row, p, a->value[i]);
        if (a->n > FEW) put_difference(j, a, i, row);
    }
    query_print_rows(j);
}

/* --- causes ---------------------------------------------------------------------------------- */

const cr_field query_cause_fields[] = {
    CR_TEXT("variable", 0, "a variable"),
    CR_TEXT("state", 0, "the state that the evidence speaks for most"),
    CR_NUMBER("before", 0, "its probability without the evidence"),
    CR_NUMBER("after", 0, "its probability with it"),
    CR_NUMBER("factor", CR_FIELD_NULL,
              "Bayes factor of the state against its others; null: infinite"),
    CR_NUMBER("factor_se", CR_FIELD_NULL | CR_FIELD_SOMETIMES, "by samples: its standard error"),
    CR_FIELD_LAST,
};

static void put_causes(const query_job *j, const cr_query_answer *a, cri_sheet *rows)
{
    for (size_t i = 0; i < a->rows; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "variable", query_name(j, a->variable[i]));
        cri_put_text(row, "state", query_state(j, a->variable[i], a->states[i]));
        cri_put_real(row, "before", a->value[3 * i]);
        cri_put_real(row, "after", a->value[3 * i + 1]);
        cri_put_real(row, "factor", a->value[3 * i + 2]);
        if (a->se) cri_put_real(row, "factor_se", a->se[3 * i + 2]);
    }
}

/* --- parameters ------------------------------------------------------------------------------ */

const cr_field query_parameter_fields[] = {
    CR_TEXT("variable", CR_FIELD_SOMETIMES, "whose table it is in, of a Bayesian network"),
    CR_TEXT("state", CR_FIELD_SOMETIMES, "its state"),
    CR_OTHER(WORDS, "given", CR_FIELD_SOMETIMES, "the states of its parents"),
    CR_COUNT("table", CR_FIELD_SOMETIMES, "of a Markov network: which table"),
    CR_OTHER(WORDS, "states", CR_FIELD_SOMETIMES,
             "of a Markov network: the states of its variables"),
    CR_NUMBER("value", 0, "the parameter as it is"),
    CR_NUMBER("derivative", 0, "of the probability by it, the rest of its row in proportion"),
    CR_FIELD_LAST,
};

/* The name of the state at place k of a table's scope at an entry. */
static const char *state_at(const query_job *j, const cr_table_view *t, size_t entry, size_t k)
{
    for (size_t i = t->n; --i > k;) entry /= cr_network_states(j->net, t->scope[i]);
    return query_state(j, t->scope[k], entry % cr_network_states(j->net, t->scope[k]));
}

static bool is_bayes(const query_job *j) { return cr_network_get_kind(j->net) == CR_NETWORK_BAYES; }

/* The child, which is the last in the scope, and its parents; or all alike. */
static void put_parameter(const query_job *j, const cr_parameter *p, cri_sheet *row)
{
    cr_table_view t = cr_network_table(j->net, p->table);
    size_t        last = t.n - 1, n = is_bayes(j) ? last : t.n;
    if (is_bayes(j)) {
        cri_put_text(row, "variable", query_name(j, t.scope[last]));
        cri_put_text(row, "state", state_at(j, &t, p->entry, last));
    } else {
        cri_put_count(row, "table", p->table);
    }
    cri_sheet *states = cri_put_object(row, is_bayes(j) ? "given" : "states");
    for (size_t k = 0; k < n; k++)
        cri_put_text(states, query_name(j, t.scope[k]), state_at(j, &t, p->entry, k));
    cri_put_real(row, "value", p->value);
    cri_put_real(row, "derivative", p->derivative);
}

/* "P(alarm=on | burglary=no, earthquake=no)" */
static void put_formula(const query_job *j, const cr_parameter *p, cri_sheet *row)
{
    cr_table_view t = cr_network_table(j->net, p->table);
    bool          bayes = is_bayes(j);
    char          text[512];
    size_t        used = 0, last = t.n - 1;
    if (bayes)
        used = (size_t)snprintf(text, sizeof text, "P(%s=%s", query_name(j, t.scope[last]),
                                state_at(j, &t, p->entry, last));
    else
        used = (size_t)snprintf(text, sizeof text, "table %zu(", p->table);
    for (size_t k = 0; k + (bayes ? 1 : 0) < t.n && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s",
                                 k       ? ", "
                                 : bayes ? " | "
                                         : "",
                                 query_name(j, t.scope[k]), state_at(j, &t, p->entry, k));
    if (used < sizeof text) snprintf(text + used, sizeof text - used, ")");
    cri_put_text(row, "parameter", text);
}

static void print_parameters(query_job *j, const cr_query_answer *a)
{
    cri_sheet *rows = query_rows(j);
    char       text[32];
    out_text(j->c, "  %s\n", out_number(a->number, false, text));
    for (size_t i = 0; i < a->rows; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        put_formula(j, &a->parameter[i], row);
        cri_put_real(row, "value", a->parameter[i].value);
        cri_put_real(row, "derivative", a->parameter[i].derivative);
    }
    query_print_rows(j);
}

/* --- all of them ----------------------------------------------------------------------------- */

void query_put_list(const query_job *j, const cr_query_answer *a, cri_sheet *out)
{
    if (a->kind == CR_QUESTION_BEST_LIST) {
        put_best(j, a, cri_put_list(out, "assignments"));
    } else if (a->kind == CR_QUESTION_CAUSES) {
        put_causes(j, a, cri_put_list(out, "causes"));
    } else {
        cri_sheet *rows = cri_put_list(out, "parameters");
        for (size_t i = 0; i < a->rows; i++)
            put_parameter(j, &a->parameter[i], cri_put_object(rows, NULL));
    }
}

void query_list_text(query_job *j, const cr_query_answer *a)
{
    if (a->kind == CR_QUESTION_BEST_LIST) {
        print_best(j, a);
    } else if (a->kind == CR_QUESTION_CAUSES) {
        if (a->rows == 0)
            out_text(j->c, "  none: nothing that is open comes before what is known\n");
        put_causes(j, a, query_rows(j));
        query_print_rows(j);
    } else {
        print_parameters(j, a);
    }
}

size_t query_list_csv(const query_job *j, const cr_query_answer *a, size_t i,
                      const char **variables, const char **states, size_t room, double *out_value)
{
    size_t n = 1;
    if (a->kind == CR_QUESTION_SENSITIVITY) {
        cr_table_view t = cr_network_table(j->net, a->parameter[i].table);
        n = t.n < room ? t.n : room;
        for (size_t k = 0; k < n; k++) { /* the child first */
            size_t at = t.n - 1 - k;
            variables[k] = query_name(j, t.scope[at]);
            states[k] = state_at(j, &t, a->parameter[i].entry, at);
        }
        *out_value = a->parameter[i].derivative;
    } else if (a->kind == CR_QUESTION_CAUSES) {
        variables[0] = query_name(j, a->variable[i]);
        states[0] = query_state(j, a->variable[i], a->states[i]);
        *out_value = a->value[3 * i + 2];
    } else {
        n = a->n < room ? a->n : room;
        for (size_t k = 0; k < n; k++) {
            variables[k] = query_name(j, a->variable[k]);
            states[k] = query_state(j, a->variable[k], a->states[i * a->n + k]);
        }
        *out_value = a->value[i];
    }
    return n;
}
