/* describe_network.c -- networks described and checked. */
#include "network.h"

#include <stdio.h>
#include <string.h>

/* "yes, no" in a cell, cut where it is long. */
static void put_joined(cri_sheet *out, const char *name, const cri_sheet *list)
{
    char   text[80] = "";
    size_t used = 0;
    for (const cri_sheet *v = cri_sheet_first(list); v; v = cri_sheet_next(v)) {
        const char *word = cri_sheet_text(v);
        if (used + strlen(word) + 8 > sizeof text) {
            snprintf(text + used, sizeof text - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 v == cri_sheet_first(list) ? "" : ", ", word);
    }
    cri_put_text(out, name, text);
}

/* Is some distribution given by other than a table? */
static bool has_kinds(const cri_sheet *variables)
{
    for (const cri_sheet *row = cri_sheet_first(variables); row; row = cri_sheet_next(row)) {
        const char *kind = cri_sheet_text(cri_sheet_get(row, "kind"));
        if (kind && strcmp(kind, "table") != 0) return true;
    }
    return false;
}

/* What people see of the variables: a column each of what is short. */
static void put_table(const cri_sheet *variables, bool gaussian, cri_sheet *rows)
{
    static const char *const names[] = { "states",   "parents", "kind", "formula",
                                         "variance", "mean",    "sd" };
    bool                     kinds = has_kinds(variables);
    for (const cri_sheet *v = cri_sheet_first(variables); v; v = cri_sheet_next(v)) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_copy(row, "name", cri_sheet_get(v, "name"));
        for (size_t k = gaussian ? 3 : 0; k < (gaussian ? 7 : kinds ? 3 : 2); k++) {
            const cri_sheet *cell = cri_sheet_get(v, names[k]);
            if (cri_sheet_kind_of(cell) == CRI_SHEET_LIST)
                put_joined(row, names[k], cell);
            else if (cell)
                cri_put_copy(row, names[k], cell);
        }
    }
}

/* Name and type stand in the title. */
static void put_lines(const cri_sheet *summary, cri_sheet *out)
{
    const cri_sheet *v = cri_sheet_next(cri_sheet_next(cri_sheet_first(summary)));
    for (; v; v = cri_sheet_next(v)) cri_put_copy(out, cri_sheet_name(v), v);
}

cr_status cli_print_network(cli *c, const cri_sheet *root)
{
    cr_status        st = CR_OK;
    const cri_sheet *net = cri_sheet_get(root, "network");
    const char      *name = cri_sheet_text(cri_sheet_get(net, "name"));
    const char      *type = cri_sheet_text(cri_sheet_get(net, "type"));
    bool             gaussian = strcmp(type, "gaussian") == 0;
    bool             dynamic = strcmp(type, "dynamic") == 0;
    cri_sheet       *s = cri_sheet_new(c->cx), *rows = cri_put_list(s, "rows");
    cri_sheet       *lines = cri_put_object(s, "lines");
    put_table(cri_sheet_get(root, "variables"), gaussian, rows);
    put_lines(net, lines);
    CR_TRY(cri_sheet_status(s));
    if (c->format == FORMAT_TEXT) {
        out_text(c, "%s: a %s network%s%s%s", cli_file_name(c),
                 gaussian                     ? "Gaussian"
                 : dynamic                    ? "dynamic Bayesian"
                 : strcmp(type, "bayes") == 0 ? "Bayesian"
                                              : "Markov",
                 name[0] ? ", " : "", name, dynamic ? ", two slices" : "");
        if (gaussian || dynamic)
            out_text(c, ", %zu nodes, %zu arcs", cri_sheet_count(cri_sheet_get(net, "nodes")),
                     cri_sheet_count(cri_sheet_get(net, "arcs")));
        out_text(c, "\n");
        if (!gaussian && !dynamic) out_values(c, lines);
        out_text(c, "\n");
    }
    out_some_rows(c, rows);
done:
    cri_sheet_free(s);
    return st;
}

cr_status cli_describe_network(cli *c)
{
    cr_status       st = CR_OK;
    cr_model       *m = NULL;
    cri_any_network any;
    cri_sheet      *root = cri_sheet_new(c->cx);
    CR_TRY(cli_read_network(c, 0, CR_FORMAT_AUTO, &m, &any));
    CR_TRY(cli_check_strict(c));
    cri_put_text(root, "file", cli_file_name(c));
    cri_put_text(root, "kind", "network");
    CR_TRY(any.methods->describe(c->cx, any.net, c->format == FORMAT_JSON, root));
    CR_TRY(cri_sheet_status(root));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_result(c, "describe", root);
    else
        CR_TRY(cli_print_network(c, root));
done:
    cri_sheet_free(root);
    cr_model_free(c->cx, m);
    return st;
}

/* --- check ----------------------------------------------------------------------------------- */

cr_status cli_check_network(cli *c)
{
    cr_status       st = CR_OK;
    cr_model       *m = NULL;
    cri_any_network any;
    char            sentence[256];
    CR_TRY(cli_read_network(c, 0, CR_FORMAT_AUTO, &m, &any));
    CR_TRY(cli_check_strict(c));
    if (any.methods->check) CR_TRY(any.methods->check(c->cx, any.net, cli_file_name(c)));
    snprintf(sentence, sizeof sentence, "a sound %snetwork, %zu nodes, %zu parameters",
             any.methods->word, cr_variables_count(cri_any_variables(any)),
             any.methods->parameters(any.net));
    CR_TRY(cli_print_sound(c, "network", sentence));
done:
    cr_model_free(c->cx, m);
    return st;
}
