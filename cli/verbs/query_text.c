/* query_text.c -- answers of query for people. */
#include "approximate.h"
#include "query_answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEW = 8 }; /* variables that stand side by side in a table */

/* A list for the rows of a table, and that table printed. */
static cri_sheet *begin_rows(query_job *j)
{
    cri_sheet_clear(j->shown);
    return cri_put_list(j->shown, "rows");
}

static void print_rows(query_job *j)
{
    if (cri_sheet_status(j->shown) == CR_OK)
        out_rows(j->c, cri_sheet_get(j->shown, "rows"));
    else
        out_fail(j->c, CR_ENOMEM);
}

static void print_pair(cli *c, const char *name, double x)
{
    char text[32];
    out_text(c, "  %s %s\n", name, out_number(x, false, text));
}

static void put_all(cri_sheet *row, const cri_sheet *object)
{
    for (const cri_sheet *v = cri_sheet_first(object); v; v = cri_sheet_next(v))
        cri_put_copy(row, cri_sheet_name(v), v);
}

/* What the column of probabilities is called beside those of the variables: `name`, or another where
 * one of them has it. */
static const char *find_column(const cri_sheet *variables, const char *name)
{
    const char *const names[] = { name, "P", "probability", "joint probability" };
    size_t            i = 0;
    while (i + 1 < sizeof names / sizeof *names && cri_sheet_get(variables, names[i])) i++;
    return names[i];
}

/* --- distributions --------------------------------------------------------------------------- */

/* [{"states": {...}, "p": 0.2}]: a column for each variable. */
static void print_joint(query_job *j, const cri_sheet *value, const char *name)
{
    cri_sheet  *rows = begin_rows(j);
    const char *p = find_column(cri_sheet_get(cri_sheet_first(value), "states"), name);
    for (const cri_sheet *v = cri_sheet_first(value); v; v = cri_sheet_next(v)) {
        cri_sheet *row = cri_put_object(rows, NULL);
        put_all(row, cri_sheet_get(v, "states"));
        cri_put_copy(row, p, cri_sheet_get(v, "p"));
    }
    print_rows(j);
}

static void print_table(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    (void)a;
    print_joint(j, value, "P");
}

/* P(x | e): the variable is the title of its states. */
static void print_states(query_job *j, const cri_sheet *value)
{
    cri_sheet  *rows = begin_rows(j);
    const char *p = find_column(value, "P");
    for (const cri_sheet *s = cri_sheet_first(cri_sheet_first(value)); s; s = cri_sheet_next(s)) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, cri_sheet_name(cri_sheet_first(value)), cri_sheet_name(s));
        cri_put_copy(row, p, s);
    }
    print_rows(j);
}

/* A line per state, the variable at the first; of Gaussian variables a line each. */
static void print_marginals(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    const cri_sheet *se = cri_sheet_first(cri_sheet_get(j->answer, "standard_errors"));
    bool             states = j->any.methods->states;
    if (a->kind == CR_QUESTION_TABLE && states) {
        print_states(j, value);
        return;
    }
    cri_sheet *rows = begin_rows(j);
    for (const cri_sheet *v = cri_sheet_first(value); v; v = cri_sheet_next(v)) {
        const cri_sheet *first = cri_sheet_first(v), *error = cri_sheet_first(se);
        for (const cri_sheet *s = first; s && (states || s == first); s = cri_sheet_next(s)) {
            cri_sheet *row = cri_put_object(rows, NULL);
            cri_put_text(row, "variable", s == first ? cri_sheet_name(v) : "");
            if (!states) put_all(row, v);
            if (states) cri_put_text(row, "state", cri_sheet_name(s));
            if (states) cri_put_copy(row, "P", s);
            if (error) cri_put_copy(row, "se", error);
            if (error) error = cri_sheet_next(error);
        }
        if (se) se = cri_sheet_next(se);
    }
    print_rows(j);
}

/* Of several Gaussian variables: mean, sd, and a column for the covariance with each. */
static void print_covariance(query_job *j, const cri_sheet *names)
{
    cri_sheet       *rows = begin_rows(j);
    const cri_sheet *mean = cri_sheet_first(cri_sheet_get(j->answer, "mean")), *v = names, *u, *x;
    const cri_sheet *cov = cri_sheet_first(cri_sheet_get(j->answer, "covariance"));
    char             key[300];
    for (v = cri_sheet_first(names); v; v = cri_sheet_next(v)) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_copy(row, "variable", v);
        cri_put_copy(row, "mean", mean);
        for (u = cri_sheet_first(names), x = cri_sheet_first(cov); u != v; u = cri_sheet_next(u))
            x = cri_sheet_next(x);
        cri_put_real(row, "sd", sqrt(cri_sheet_real(x)));
        x = cri_sheet_first(cov);
        for (u = cri_sheet_first(names); u; u = cri_sheet_next(u), x = cri_sheet_next(x)) {
            snprintf(key, sizeof key, "cov(%.200s)", cri_sheet_text(u));
            cri_put_copy(row, key, x);
        }
        mean = cri_sheet_next(mean);
        cov = cri_sheet_next(cov);
    }
    print_rows(j);
}

/* --- assignments ----------------------------------------------------------------------------- */

static void print_assignment(query_job *j, const cri_sheet *value)
{
    cri_sheet *rows = begin_rows(j);
    for (const cri_sheet *v = cri_sheet_first(value); v; v = cri_sheet_next(v)) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "variable", cri_sheet_name(v));
        cri_put_copy(row, cri_sheet_text(v) ? "state" : "value", v);
    }
    print_rows(j);
}

static void print_best(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    print_assignment(j, value);
    if (!j->any.methods->states) {
        if (!isnan(a->log_number))
            print_pair(j->c, "log density given the evidence", a->log_number);
        return;
    }
    if (!isnan(a->number))
        print_pair(j->c,
                   a->estimated ? "probability given the evidence, about"
                                : "probability given the evidence",
                   a->number);
    else
        print_pair(j->c, "log of probability or of its tables' product", a->log_joint);
    if (a->exact || a->estimated) return;
    if (!a->open) print_pair(j->c, "best found: log P(assignment, e)", a->log_joint);
    if (!isnan(a->upper))
        print_pair(j->c,
                   a->open ? "not proven to be the best: the log of that is no more than"
                           : "no assignment exceeds",
                   a->upper);
    if (a->open) print_pair(j->c, "gap between the two", a->upper - a->log_joint);
}

/* "x=a, y=b": where an assignment differs from the first. */
static void put_difference(const cri_sheet *first, const cri_sheet *states, cri_sheet *row)
{
    char             text[512] = "";
    size_t           used = 0;
    const cri_sheet *s = cri_sheet_first(states), *f = cri_sheet_first(first);
    for (; s && used < sizeof text; s = cri_sheet_next(s), f = cri_sheet_next(f))
        if (strcmp(cri_sheet_text(s), cri_sheet_text(f)) != 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", used ? ", " : "",
                                     cri_sheet_name(s), cri_sheet_text(s));
    cri_put_text(row, "differs in", text);
}

/* A column per variable where they are few; else the first in full and what differs in others. */
static void print_best_list(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    const cri_sheet *first = cri_sheet_get(cri_sheet_first(value), "states");
    (void)a;
    if (cri_sheet_size(first) <= FEW) {
        print_joint(j, value, "probability");
        return;
    }
    print_assignment(j, first);
    out_text(j->c, "\n");
    cri_sheet *rows = begin_rows(j);
    size_t     rank = 0;
    for (const cri_sheet *v = cri_sheet_first(value); v; v = cri_sheet_next(v)) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_count(row, "rank", ++rank);
        cri_put_copy(row, "probability", cri_sheet_get(v, "p"));
        put_difference(first, cri_sheet_get(v, "states"), row);
    }
    print_rows(j);
}

/* --- information, parameters --------------------------------------------------------- */

static void print_information(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    char text[32];
    (void)a;
    out_text(j->c, "  %s %s\n", out_number(cri_sheet_real(value), false, text), j->words.unit);
}

/* "P(alarm=on | burglary=no, earthquake=no)", "table 3(x=a, y=b)" */
static void put_formula(const cri_sheet *parameter, cri_sheet *row)
{
    char             text[512];
    const char      *name = cri_sheet_text(cri_sheet_get(parameter, "variable"));
    const cri_sheet *states = cri_sheet_get(parameter, name ? "given" : "states"), *s;
    size_t           used;
    if (name)
        used = (size_t)snprintf(text, sizeof text, "P(%s=%s", name,
                                cri_sheet_text(cri_sheet_get(parameter, "state")));
    else
        used = (size_t)snprintf(text, sizeof text, "table %zu(",
                                cri_sheet_count(cri_sheet_get(parameter, "table")));
    const char *mark = name ? " | " : "";
    for (s = cri_sheet_first(states); s && used < sizeof text; s = cri_sheet_next(s), mark = ", ")
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", mark,
                                 cri_sheet_name(s), cri_sheet_text(s));
    if (used < sizeof text) snprintf(text + used, sizeof text - used, ")");
    cri_put_text(row, "parameter", text);
}

static void print_parameters(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    cri_sheet *rows = begin_rows(j);
    char       text[32];
    out_text(j->c, "  %s\n", out_number(a->number, false, text));
    for (const cri_sheet *v = cri_sheet_first(value); v; v = cri_sheet_next(v)) {
        cri_sheet *row = cri_put_object(rows, NULL);
        put_formula(v, row);
        cri_put_copy(row, "value", cri_sheet_get(v, "value"));
        cri_put_copy(row, "derivative", cri_sheet_get(v, "derivative"));
    }
    print_rows(j);
}

static void print_density(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    char text[32], log[32];
    out_text(j->c, "  density %s, its log %s\n", out_number(cri_sheet_real(value), false, text),
             out_number(a->log_number, false, log));
}

/* --- the graph ------------------------------------------------------------------------------- */

static bool is_parent(const query_job *j, const char *parent, const char *child)
{
    const cr_variables *vs = j->words.variables;
    size_t              n, v = cr_variable_lookup(vs, parent);
    const size_t       *list = cr_network_parents(j->graph, cr_variable_lookup(vs, child), &n);
    for (size_t i = 0; i < n; i++)
        if (list[i] == v) return true;
    return false;
}

/* a -> b <- c */
static void print_trail(query_job *j, const cri_sheet *trail)
{
    bool        arcs = cr_network_get_kind(j->graph) == CR_NETWORK_BAYES;
    const char *before = NULL;
    out_text(j->c, "  not independent: ");
    for (const cri_sheet *v = cri_sheet_first(trail); v; v = cri_sheet_next(v)) {
        const char *name = cri_sheet_text(v);
        if (before) out_text(j->c, " %s ", !arcs ? "-" : is_parent(j, before, name) ? "->" : "<-");
        out_text(j->c, "%s", name);
        before = name;
    }
    out_text(j->c, "%s\n", before ? " is active" : "");
}

/* Where it rests on nodes that are functions of the given ones, these are named. */
static void print_separation(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    enum { MOST = 5 };
    const cri_sheet *v = cri_sheet_first(cri_sheet_get(j->answer, "determined"));
    if (!cri_sheet_is_true(value)) {
        print_trail(j, cri_sheet_get(j->answer, "trail"));
        return;
    }
    out_text(j->c, "  independent");
    for (size_t i = 0; v && i < MOST; i++, v = cri_sheet_next(v))
        out_text(j->c, "%s%s", i ? ", " : ", since what is given determines ", cri_sheet_text(v));
    if (v) out_text(j->c, " and %zu others", a->n - MOST);
    out_text(j->c, "\n");
}

/* Names with a mark between them, in lines of a hundred columns. */
static void print_names(query_job *j, const cri_sheet *list, const char *mark)
{
    enum { WIDE = 98 };
    size_t used = 0;
    out_text(j->c, "  ");
    for (const cri_sheet *v = cri_sheet_first(list); v; v = cri_sheet_next(v)) {
        size_t width = out_width(cri_sheet_text(v)) + strlen(mark);
        if (v != cri_sheet_first(list)) out_text(j->c, "%s", mark);
        if (used > 0 && used + width > WIDE) {
            out_text(j->c, "\n  ");
            used = 0;
        }
        out_text(j->c, "%s", cri_sheet_text(v));
        used += width;
    }
    out_text(j->c, "%s\n", cri_sheet_size(list) ? "" : "none");
}

static void print_variables(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    (void)a;
    if (cri_sheet_get(j->answer, "covariance"))
        print_covariance(j, value);
    else
        print_names(j, value, ", ");
}

static void print_sets(query_job *j, const cri_sheet *value, const char *mark)
{
    for (const cri_sheet *v = cri_sheet_first(value); v; v = cri_sheet_next(v))
        print_names(j, v, mark);
    if (cri_sheet_size(value) == 0) out_text(j->c, "  none\n");
}

static void print_edges(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    (void)a;
    print_sets(j, value, " - ");
}

static void print_cliques(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    size_t n = cri_sheet_size(value);
    print_sets(j, value, ", ");
    out_text(j->c, "  %zu clique%s, the width is %zu\n", n, n == 1 ? "" : "s", a->cost.width);
}

static void print_chordal(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    (void)a;
    out_text(j->c, "  %s\n",
             cri_sheet_is_true(value) ? "yes: no cycle of four or more without a chord"
                                      : "no: there is a cycle of four or more without a chord");
}

static void print_imap(query_job *j, const cr_query_answer *a, const cri_sheet *value)
{
    const cri_sheet *one = cri_sheet_get(j->answer, "independence"), *v;
    const char      *mark = " | ";
    (void)a;
    if (cri_sheet_is_true(value)) {
        out_text(j->c, "  yes: every independence of this graph holds in the other\n");
        return;
    }
    out_text(j->c, "  no: %s _|_ %s", cri_sheet_text(cri_sheet_get(one, "x")),
             cri_sheet_text(cri_sheet_get(one, "y")));
    for (v = cri_sheet_first(cri_sheet_get(one, "given")); v; v = cri_sheet_next(v), mark = ", ")
        out_text(j->c, "%s%s", mark, cri_sheet_text(v));
    out_text(j->c, " holds in this graph, not in the other\n");
}

/* --- one answer ------------------------------------------------------------------------------ */

/* Values with a layout of their own, by their name. */
static const struct {
    const char *name;
    void (*print)(query_job *j, const cr_query_answer *a, const cri_sheet *value);
} LAYOUTS[] = {
    { "table", print_table },           { "marginals", print_marginals },
    { "variables", print_variables },   { "density", print_density },
    { "assignment", print_best },       { "assignments", print_best_list },
    { "entropy", print_information },   { "information", print_information },
    { "parameters", print_parameters }, { "independent", print_separation },
    { "edges", print_edges },           { "cliques", print_cliques },
    { "chordal", print_chordal },       { "imap", print_imap },
};

/* Any other: a table of rows, names with their numbers, yes or no, a number, a text. */
static void print_value(query_job *j, const cri_sheet *value)
{
    char text[32];
    switch (cri_sheet_kind_of(value)) {
    case CRI_SHEET_LIST:
        if (cri_sheet_kind_of(cri_sheet_first(value)) == CRI_SHEET_TEXT)
            print_names(j, value, ", ");
        else
            out_rows(j->c, value);
        break;
    case CRI_SHEET_OBJECT:
        out_values(j->c, value);
        break;
    case CRI_SHEET_FLAG:
        out_text(j->c, "  %s\n", cri_sheet_is_true(value) ? "yes" : "no");
        break;
    case CRI_SHEET_TEXT:
        out_text(j->c, "  %s\n", cri_sheet_text(value));
        break;
    default:
        out_text(j->c, "  %s\n", out_number(cri_sheet_real(value), false, text));
    }
}

void query_answer_text(query_job *j, const cr_query_answer *a)
{
    const cri_sheet      *value = cri_answer_value(a->kind, j->answer);
    cr_approximate_report r = cri_answer_report(&j->words, a);
    size_t                k = 0, n = sizeof LAYOUTS / sizeof *LAYOUTS;
    const char           *none = cri_question_of(a->kind)->none;
    if (none && cri_sheet_size(value) == 0) out_text(j->c, "  none: %s\n", none);
    while (k < n && strcmp(LAYOUTS[k].name, cri_sheet_name(value)) != 0) k++;
    if (k < n)
        LAYOUTS[k].print(j, a, value);
    else
        print_value(j, value);
    if (!a->exact && !a->open) approximate_line(j->c, a->method, &r);
}
