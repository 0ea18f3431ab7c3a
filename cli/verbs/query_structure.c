/* query_structure.c -- answers of the graph of a network: names, sets of names, yes or no. */
#include "network.h"
#include "query_answers.h"

#include <string.h>

const cr_field query_independence_fields[] = {
    CR_TEXT("x", 0, "a variable"),
    CR_TEXT("y", 0, "another"),
    CR_OTHER(TEXTS, "given", 0, "the parents of x"),
    CR_FIELD_LAST,
};

static bool is_yes_or_no(const cr_query_answer *a)
{
    return a->structure == CR_STRUCTURE_CHORDAL || a->structure == CR_STRUCTURE_IMAP;
}

bool query_structure_no(const cr_query_answer *a)
{
    return a->kind == CR_QUESTION_STRUCTURE && is_yes_or_no(a) && !a->holds;
}

void query_put_structure(const query_job *j, const cr_query_answer *a, cri_sheet *out)
{
    if (a->structure == CR_STRUCTURE_CHORDAL) {
        cri_put_flag(out, "chordal", a->holds);
    } else if (a->structure == CR_STRUCTURE_IMAP) {
        cri_put_flag(out, "imap", a->holds);
        if (a->holds) return;
        cri_sheet *one = cri_put_object(out, "independence");
        cri_put_text(one, "x", query_name(j, a->variable[0]));
        cri_put_text(one, "y", query_name(j, a->variable[1]));
        cli_put_names(one, "given", j->vs, a->variable + 2, a->n - 2);
    } else if (a->begin) {
        bool       edges = a->structure == CR_STRUCTURE_MORAL;
        cri_sheet *sets = cri_put_list(out, edges ? "edges" : "cliques");
        for (size_t i = 0; i < a->rows; i++)
            cli_put_names(sets, NULL, j->vs, a->states + a->begin[i],
                          a->begin[i + 1] - a->begin[i]);
    } else {
        cli_put_names(out, "variables", j->vs, a->variable, a->n);
    }
}

/* Names with a mark between them, in lines of a hundred columns. */
static void print_names(const query_job *j, const size_t *list, size_t n, const char *mark)
{
    enum { WIDE = 98 };
    size_t used = 0;
    out_text(j->c, "  ");
    for (size_t i = 0; i < n; i++) {
        size_t width = out_width(query_name(j, list[i])) + strlen(mark);
        if (i > 0) out_text(j->c, "%s", mark);
        if (used > 0 && used + width > WIDE) {
            out_text(j->c, "\n  ");
            used = 0;
        }
        out_text(j->c, "%s", query_name(j, list[i]));
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
    out_text(j->c, "  no: %s _|_ %s", query_name(j, a->variable[0]), query_name(j, a->variable[1]));
    for (size_t i = 2; i < a->n; i++)
        out_text(j->c, "%s%s", i == 2 ? " | " : ", ", query_name(j, a->variable[i]));
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
    for (size_t k = 0; k < n; k++) list[k] = query_name(j, from[k]);
    *out_value = (double)(i + 1);
    return n;
}
