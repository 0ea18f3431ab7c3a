/* query_text.c -- answers of query for people. */
#include "query_answers.h"
#include "approximate.h"
#include "query_lists.h"

#include <math.h>
#include <string.h>

static json_t *variable_text(const query_job *j, size_t v)
{
    return json_string_nocheck(cr_variable_name(j->vs, v));
}

static json_t *state_text(const query_job *j, size_t v, size_t s)
{
    return json_string_nocheck(cr_state_name(j->vs, v, s));
}

static void print_pair(cli *c, const char *name, double x)
{
    char text[32];
    out_text(c, "  %s %s\n", name, out_number(x, false, text));
}

static void print_joint(const query_job *j, const cr_query_answer *a, size_t *states)
{
    json_t     *rows = json_array();
    const char *p = "P";
    for (size_t k = 0; k < a->n; k++)
        if (strcmp(cr_variable_name(j->vs, a->variable[k]), p) == 0) p = "probability";
    for (size_t e = 0; e < a->table.size; e++) {
        size_t  at = query_entry(j, a, e, states);
        json_t *row = query_assignment(j, a, states);
        json_object_set_new_nocheck(row, p, json_real(a->table.value[at]));
        json_array_append_new(rows, row);
    }
    out_table(j->c, rows);
    json_decref(rows);
}

/* One line per variable where the states are few, else one per state. */
static void print_marginals(const query_job *j, const cr_query_answer *a)
{
    json_t       *rows = json_array();
    const double *p = a->value;
    size_t        k = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t s = 0; s < cr_variable_states(j->vs, a->variable[i]); s++) {
            json_t *row = json_object();
            json_object_set_new(row, "variable",
                                s ? json_string("") : variable_text(j, a->variable[i]));
            json_object_set_new(row, "state", state_text(j, a->variable[i], s));
            json_object_set_new(row, "P", json_real(p[k]));
            if (a->se) json_object_set_new(row, "se", json_real(a->se[k]));
            json_array_append_new(rows, row);
            k++;
        }
    out_table(j->c, rows);
    json_decref(rows);
}

static void print_best(const query_job *j, const cr_query_answer *a)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < a->n; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "variable", variable_text(j, a->variable[i]));
        json_object_set_new(row, "state", state_text(j, a->variable[i], a->state[i]));
        json_array_append_new(rows, row);
    }
    out_table(j->c, rows);
    json_decref(rows);
    if (!isnan(a->number))
        print_pair(j->c,
                   a->estimated ? "probability given the evidence, about"
                                : "probability given the evidence",
                   a->number);
    else
        print_pair(j->c, "log of probability or of its tables' product", a->log_number);
    if (a->exact || a->estimated) return;
    if (!a->open) print_pair(j->c, "best found: log P(assignment, e)", a->log_number);
    if (!isnan(a->upper))
        print_pair(j->c,
                   a->open ? "not proven to be the best: the log of that is no more than"
                           : "no assignment has more than",
                   a->upper);
    if (a->open) print_pair(j->c, "gap between the two", a->upper - a->log_number);
}

static bool is_parent(const cr_network *net, size_t parent, size_t child)
{
    size_t        n;
    const size_t *list = cr_network_parents(net, child, &n);
    for (size_t i = 0; i < n; i++)
        if (list[i] == parent) return true;
    return false;
}

/* a -> b <- c */
static void print_trail(const query_job *j, const cr_query_answer *a)
{
    bool bayes = cr_network_get_kind(j->net) == CR_NETWORK_BAYES;
    out_text(j->c, "  not independent: ");
    for (size_t i = 0; i < a->trail_length; i++) {
        if (i > 0)
            out_text(j->c, " %s ",
                     !bayes                                            ? "-"
                     : is_parent(j->net, a->trail[i - 1], a->trail[i]) ? "->"
                                                                       : "<-");
        out_text(j->c, "%s", cr_variable_name(j->vs, a->trail[i]));
    }
    out_text(j->c, "%s\n", a->trail_length ? " is active" : "");
}

/* Where it rests on nodes that are functions of the given ones, these are named. */
static void print_separated(const query_job *j, const cr_query_answer *a)
{
    enum { FEW = 5 };
    out_text(j->c, "  independent");
    for (size_t i = 0; i < a->n && i < FEW; i++)
        out_text(j->c, "%s%s", i ? ", " : ", since what is given determines ",
                 cr_variable_name(j->vs, a->variable[i]));
    if (a->n > FEW) out_text(j->c, " and %zu others", a->n - FEW);
    out_text(j->c, "\n");
}

void query_answer_text(const query_job *j, const cr_query_answer *a, size_t *states)
{
    cli *c = j->c;
    char text[32];
    out_text(c, "%s\n", j->text);
    switch (a->kind) {
    case CR_QUESTION_TABLE:
        print_joint(j, a, states);
        break;
    case CR_QUESTION_MARGINALS:
        if (a->n == 0) out_text(c, "  none: every variable is known\n");
        print_marginals(j, a);
        break;
    case CR_QUESTION_PROBABILITY:
        out_text(c, "  %s\n", out_number(a->number, false, text));
        break;
    case CR_QUESTION_BEST:
        print_best(j, a);
        break;
    case CR_QUESTION_SEPARATION:
        if (a->separated)
            print_separated(j, a);
        else
            print_trail(j, a);
        break;
    case CR_QUESTION_ENTROPY:
    case CR_QUESTION_INFORMATION:
        out_text(c, "  %s %s\n", out_number(a->number / j->per, false, text), j->unit);
        break;
    case CR_QUESTION_INFORMATIVE: {
        json_t *rows = query_gains(j, a);
        if (a->n == 0) out_text(c, "  none: every other variable is known\n");
        out_table(c, rows);
        json_decref(rows);
        break;
    }
    case CR_QUESTION_STRUCTURE:
        query_structure_text(j, a);
        break;
    default:
        query_list_text(c, j->net, a);
    }
    cr_approximate_report r = query_report(j, a);
    if (!a->exact && !a->open) approximate_line(c, a->method, &r);
}
