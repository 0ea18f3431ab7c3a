/* query_structure.c -- answers of the graph of a network: names, sets of names, yes or no. */
#include "query_answers.h"

#include <string.h>

static const char *name_of(const query_job *j, size_t v) { return cr_variable_name(j->vs, v); }

static json_t *names(const query_job *j, const size_t *list, size_t n)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, json_string_nocheck(name_of(j, list[i])));
    return out;
}

static bool is_yes_or_no(const cr_query_answer *a)
{
    return a->structure == CR_STRUCTURE_CHORDAL || a->structure == CR_STRUCTURE_IMAP;
}

bool query_structure_no(const cr_query_answer *a)
{
    return a->kind == CR_QUESTION_STRUCTURE && is_yes_or_no(a) && !a->holds;
}

void query_structure_json(const query_job *j, const cr_query_answer *a, json_t *out)
{
    if (a->structure == CR_STRUCTURE_CHORDAL) {
        json_object_set_new(out, "chordal", json_boolean(a->holds));
    } else if (a->structure == CR_STRUCTURE_IMAP) {
        json_object_set_new(out, "imap", json_boolean(a->holds));
        if (a->holds) return;
        json_t *one = json_object();
        json_object_set_new(one, "x", json_string_nocheck(name_of(j, a->variable[0])));
        json_object_set_new(one, "y", json_string_nocheck(name_of(j, a->variable[1])));
        json_object_set_new(one, "given", names(j, a->variable + 2, a->n - 2));
        json_object_set_new(out, "independence", one);
    } else if (a->begin) {
        json_t *sets = json_array();
        for (size_t i = 0; i < a->rows; i++)
            json_array_append_new(sets,
                                  names(j, a->states + a->begin[i], a->begin[i + 1] - a->begin[i]));
        json_object_set_new(out, a->structure == CR_STRUCTURE_MORAL ? "edges" : "cliques", sets);
    } else {
        json_object_set_new(out, "variables", names(j, a->variable, a->n));
    }
}

/* Names with a mark between them, in lines of a hundred columns. */
static void print_names(const query_job *j, const size_t *list, size_t n, const char *mark)
{
    enum { WIDE = 98 };
    size_t used = 0;
    out_text(j->c, "  ");
    for (size_t i = 0; i < n; i++) {
        size_t width = out_width(name_of(j, list[i])) + strlen(mark);
        if (i > 0) out_text(j->c, "%s", mark);
        if (used > 0 && used + width > WIDE) {
            out_text(j->c, "\n  ");
            used = 0;
        }
        out_text(j->c, "%s", name_of(j, list[i]));
        used += width;
    }
    out_text(j->c, "%s\n", n ? "" : "none");
}

static void print_imap(const query_job *j, const cr_query_answer *a)
{
    if (a->holds) {
        out_text(j->c, "  yes: every independence of this graph holds in the other\n");
        return;
    }
    out_text(j->c, "  no: %s _|_ %s", name_of(j, a->variable[0]), name_of(j, a->variable[1]));
    for (size_t i = 2; i < a->n; i++)
        out_text(j->c, "%s%s", i == 2 ? " | " : ", ", name_of(j, a->variable[i]));
    out_text(j->c, " holds in this graph, not in the other\n");
}

void query_structure_text(const query_job *j, const cr_query_answer *a)
{
    if (a->structure == CR_STRUCTURE_CHORDAL) {
        out_text(j->c, "  %s\n",
                 a->holds ? "yes: no cycle of four or more without a chord"
                          : "no: there is a cycle of four or more without a chord");
    } else if (a->structure == CR_STRUCTURE_IMAP) {
        print_imap(j, a);
    } else if (a->begin) {
        const char *mark = a->structure == CR_STRUCTURE_MORAL ? " - " : ", ";
        for (size_t i = 0; i < a->rows; i++)
            print_names(j, a->states + a->begin[i], a->begin[i + 1] - a->begin[i], mark);
        if (a->rows == 0) out_text(j->c, "  none\n");
        if (a->structure == CR_STRUCTURE_CLIQUES)
            out_text(j->c, "  %zu clique%s, the width is %zu\n", a->rows, a->rows == 1 ? "" : "s",
                     a->cost.width);
    } else {
        print_names(j, a->variable, a->n, ", ");
    }
}

size_t query_structure_rows(const cr_query_answer *a)
{
    return is_yes_or_no(a) ? 1 : a->begin ? a->rows : a->n;
}

size_t query_structure_csv(const query_job *j, const cr_query_answer *a, size_t i,
                           const char **list, double *out_value)
{
    if (is_yes_or_no(a)) { /* no variables */
        *out_value = a->holds ? 1 : 0;
        return 0;
    }
    size_t        n = a->begin ? a->begin[i + 1] - a->begin[i] : 1;
    const size_t *from = a->begin ? a->states + a->begin[i] : a->variable + i;
    for (size_t k = 0; k < n; k++) list[k] = name_of(j, from[k]);
    *out_value = (double)(i + 1);
    return n;
}
