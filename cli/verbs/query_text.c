/* query_text.c -- answers of query for people. */
#include "approximate.h"
#include "query_answers.h"

#include <math.h>
#include <string.h>

cri_sheet *query_rows(query_job *j)
{
    cri_sheet_clear(j->shown);
    return cri_put_list(j->shown, "rows");
}

void query_print_rows(query_job *j)
{
    if (cri_sheet_status(j->shown) == CR_OK)
        out_rows(j->c, cri_sheet_get(j->shown, "rows"));
    else
        out_fail(j->c, CR_ENOMEM);
}

const char *query_column(const query_job *j, const cr_query_answer *a, const char *name)
{
    const char *const names[] = { name, "P", "probability", "joint probability" };
    size_t            i = 0, k = 0;
    while (k < a->n && i + 1 < sizeof names / sizeof *names)
        if (strcmp(query_name(j, a->variable[k++]), names[i]) == 0) i++, k = 0;
    return names[i];
}

static void print_pair(cli *c, const char *name, double x)
{
    char text[32];
    out_text(c, "  %s %s\n", name, out_number(x, false, text));
}

static void print_joint(query_job *j, const cr_query_answer *a, size_t *states)
{
    cri_sheet  *rows = query_rows(j);
    const char *p = query_column(j, a, "P");
    for (size_t e = 0; e < a->table.size; e++) {
        size_t     at = query_entry(j, a, e, states);
        cri_sheet *row = cri_put_object(rows, NULL);
        query_put_assignment(j, a, states, row);
        cri_put_real(row, p, a->table.value[at]);
    }
    query_print_rows(j);
}

/* A line per state, the variable at the first. */
static void print_marginals(query_job *j, const cr_query_answer *a)
{
    cri_sheet *rows = query_rows(j);
    size_t     k = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t s = 0; s < cr_variable_states(j->vs, a->variable[i]); s++, k++) {
            cri_sheet *row = cri_put_object(rows, NULL);
            cri_put_text(row, "variable", s ? "" : query_name(j, a->variable[i]));
            cri_put_text(row, "state", query_state(j, a->variable[i], s));
            cri_put_real(row, "P", a->value[k]);
            if (a->se) cri_put_real(row, "se", a->se[k]);
        }
    query_print_rows(j);
}

static void print_best(query_job *j, const cr_query_answer *a)
{
    cri_sheet *rows = query_rows(j);
    for (size_t i = 0; i < a->n; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "variable", query_name(j, a->variable[i]));
        cri_put_text(row, "state", query_state(j, a->variable[i], a->state[i]));
    }
    query_print_rows(j);
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

static bool is_parent(const query_job *j, size_t parent, size_t child)
{
    size_t        n;
    const size_t *list;
    if (j->gaussian) {
        cr_gaussian_node x = cr_gaussian_network_node(j->gaussian, child);
        n = x.n, list = x.parents;
    } else {
        list = cr_network_parents(j->net, child, &n);
    }
    for (size_t i = 0; i < n; i++)
        if (list[i] == parent) return true;
    return false;
}

/* a -> b <- c */
void query_print_trail(const query_job *j, size_t n, const size_t *trail)
{
    bool arcs = j->gaussian || cr_network_get_kind(j->net) == CR_NETWORK_BAYES;
    out_text(j->c, "  not independent: ");
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            out_text(j->c, " %s ",
                     !arcs                                  ? "-"
                     : is_parent(j, trail[i - 1], trail[i]) ? "->"
                                                            : "<-");
        out_text(j->c, "%s", query_name(j, trail[i]));
    }
    out_text(j->c, "%s\n", n ? " is active" : "");
}

/* Where it rests on nodes that are functions of the given ones, these are named. */
static void print_separated(const query_job *j, const cr_query_answer *a)
{
    enum { FEW = 5 };
    out_text(j->c, "  independent");
    for (size_t i = 0; i < a->n && i < FEW; i++)
        out_text(j->c, "%s%s", i ? ", " : ", since what is given determines ",
                 query_name(j, a->variable[i]));
    if (a->n > FEW) out_text(j->c, " and %zu others", a->n - FEW);
    out_text(j->c, "\n");
}

void query_answer_text(query_job *j, const cr_query_answer *a, size_t *states)
{
    cli *c = j->c;
    char text[32];
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
            query_print_trail(j, a->trail_length, a->trail);
        break;
    case CR_QUESTION_ENTROPY:
    case CR_QUESTION_INFORMATION:
        out_text(c, "  %s %s\n", out_number(a->number / j->per, false, text), j->unit);
        break;
    case CR_QUESTION_INFORMATIVE:
        query_put_gains(j, a->n, a->variable, a->value, query_rows(j));
        if (a->n == 0) out_text(c, "  none: every other variable is known\n");
        query_print_rows(j);
        break;
    case CR_QUESTION_STRUCTURE:
        query_structure_text(j, a);
        break;
    default:
        query_list_text(j, a);
    }
    cr_approximate_report r = query_report(j, a);
    if (!a->exact && !a->open) approximate_line(c, a->method, &r);
}
