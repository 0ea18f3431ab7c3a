/* describe_network.c -- networks described and checked, those with states and Gaussian ones. */
#include "gaussian.h"
#include "network.h"
#include "graph/exact/junction.h"
#include "graph/network/noisy.h"
#include "graph/query/query.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *file_name(const cli *c)
{
    return strcmp(c->args[0], "-") == 0 ? "stdin" : c->args[0];
}

/* --- what it is made of ---------------------------------------------------------------------- */

const cr_field network_summary_fields[] = {
    CR_TEXT("name", 0, "name of the network; may be empty"),
    CR_TEXT("type", 0, "bayes, markov or gaussian"),
    CR_COUNT("nodes", 0, "variables"),
    CR_COUNT("arcs", CR_FIELD_NULL, "from parents to children; null for a Markov network"),
    CR_COUNT("tables", CR_FIELD_SOMETIMES, "tables"),
    CR_COUNT("entries", CR_FIELD_SOMETIMES, "entries of all tables"),
    CR_COUNT("parameters", 0, "of them those that are free"),
    CR_COUNT("most_states", CR_FIELD_SOMETIMES, "states of the variable that has most"),
    CR_COUNT("most_parents", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
             "parents of the variable that has most"),
    CR_COUNT("width", CR_FIELD_SOMETIMES,
             "of the junction tree: its largest clique has one variable more"),
    CR_NUMBER("operations", CR_FIELD_SOMETIMES,
              "entries of all cliques: the work of all marginals"),
    CR_MEASURE("bytes", "bytes", CR_FIELD_SOMETIMES, "memory that takes"),
    CR_FLAG("chordal", CR_FIELD_SOMETIMES, "whether its (moral) graph is; up to 200 nodes"),
    CR_OTHER(TEXTS, "order", CR_FIELD_SOMETIMES, "causes before effects; up to 200 nodes"),
    CR_FIELD_LAST,
};

const cr_field network_variable_fields[] = {
    CR_TEXT("name", 0, "name of the variable"),
    CR_OTHER(TEXTS, "states", 0, "its states"),
    CR_OTHER(TEXTS, "parents", 0, "what it depends on"),
    CR_TEXT("kind", CR_FIELD_SOMETIMES,
            "of a Bayesian network: table, deterministic, noisy-or, noisy-max, tree or "
            "linear-gaussian"),
    CR_TEXT("formula", CR_FIELD_SOMETIMES,
            "of a linear-Gaussian variable: its mean given its parents"),
    CR_NUMBER("variance", CR_FIELD_SOMETIMES, "of it: the variance given its parents"),
    CR_NUMBER("mean", CR_FIELD_SOMETIMES, "of it: its mean"),
    CR_NUMBER("sd", CR_FIELD_SOMETIMES, "of it: its standard deviation"),
    CR_OTHER(TEXTS, "children", CR_FIELD_SOMETIMES, "what depends on it; up to 200 nodes"),
    CR_OTHER(TEXTS, "blanket", CR_FIELD_SOMETIMES,
             "given these, independent of all others; up to 200 nodes"),
    CR_FIELD_LAST,
};

typedef struct sizes {
    size_t arcs, entries, free, most_states, most_parents;
} sizes;

static sizes count(const cr_network *net)
{
    sizes s = { 0 };
    bool  bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        size_t        states = bayes ? cr_network_states(net, i) : 1;
        if (t.value) {
            s.entries += t.size;
            s.free += bayes ? t.size / states * (states - 1) : t.size;
        } else { /* effects of each parent by itself */
            const cri_noisy *x = &net->table[i].noisy;
            s.entries += x->rows * x->levels;
            s.free += t.kind == CR_CPD_NOISY_OR ? t.n : x->rows * (x->levels - 1);
        }
        if (bayes) s.arcs += t.n - 1;
        if (bayes && t.n - 1 > s.most_parents) s.most_parents = t.n - 1;
    }
    for (size_t v = 0; v < cr_network_size(net); v++)
        if (cr_network_states(net, v) > s.most_states) s.most_states = cr_network_states(net, v);
    return s;
}

/* An answer of the graph of networks that are not large: relatives of v by their names, or whether
 * something holds. */
static cr_status put_structure(cli *c, const cr_network *net, const char *name, cr_structure what,
                               size_t v, cri_sheet *out)
{
    enum { SMALL = 200 };
    cr_question     q = { .kind = CR_QUESTION_STRUCTURE, .structure = what, .x = &v, .n_x = 1 };
    cr_query_answer a = { 0 };
    if (c->format != FORMAT_JSON || cr_network_size(net) > SMALL) return CR_OK;
    if (what == CR_STRUCTURE_ORDER || what == CR_STRUCTURE_CHORDAL) q.n_x = 0;
    cr_status st = cr_query_run(c->cx, net, &q, NULL, NULL, &a);
    if (st != CR_OK) return st;
    if (what == CR_STRUCTURE_CHORDAL)
        cri_put_flag(out, name, a.holds);
    else
        cli_put_names(out, name, cr_network_variables(net), a.variable, a.n);
    cr_query_answer_free(c->cx, &a);
    return CR_OK;
}

static cr_status put_variable(cli *c, const cr_network *net, size_t v, cri_sheet *row)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cr_network_variables(net);
    size_t              n = 0;
    bool                bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    const size_t       *parents = bayes ? cr_network_parents(net, v, &n) : NULL;
    cri_put_text(row, "name", cr_variable_name(vs, v));
    cri_sheet *states = cri_put_list(row, "states");
    for (size_t s = 0; s < cr_variable_states(vs, v); s++)
        cri_put_text(states, NULL, cr_state_name(vs, v, s));
    cli_put_names(row, "parents", vs, parents, n);
    if (bayes) {
        cri_put_text(row, "kind", cri_cpd_name(cr_network_table(net, v).kind));
        CR_TRY(put_structure(c, net, "children", CR_STRUCTURE_CHILDREN, v, row));
    }
    CR_TRY(put_structure(c, net, "blanket", CR_STRUCTURE_BLANKET, v, row));
done:
    return st;
}

/* What all marginals cost, by a junction tree; it need not fit into memory. */
static cr_status find_cost(cli *c, const cr_network *net, cr_exact_report *out)
{
    cr_status        st = CR_OK;
    cr_exact_options o = cr_exact_defaults();
    cr_junction     *tree = NULL;
    cri_divorced     d = { 0 };
    o.memory = SIZE_MAX;
    CR_TRY(cri_network_divorce(c->cx, net, NULL, true, &d));
    CR_TRY(cr_junction_new(c->cx, d.net ? d.net : net, NULL, &o, &tree));
    *out = cr_junction_report(tree);
done:
    cr_junction_free(c->cx, tree);
    cri_divorced_free(c->cx, &d);
    return st;
}

static void put_count_or_null(cri_sheet *out, const char *name, bool has, size_t n)
{
    if (has)
        cri_put_count(out, name, n);
    else
        cri_put_null(out, name);
}

static cr_status put_summary(cli *c, const cr_network *net, cri_sheet *out)
{
    cr_status       st = CR_OK;
    sizes           s = count(net);
    bool            bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    cr_exact_report cost = { 0 };
    CR_TRY(find_cost(c, net, &cost));
    cri_put_text(out, "name", cr_network_name(net));
    cri_put_text(out, "type", bayes ? "bayes" : "markov");
    cri_put_count(out, "nodes", cr_network_size(net));
    put_count_or_null(out, "arcs", bayes, s.arcs);
    cri_put_count(out, "tables", cr_network_tables(net));
    cri_put_count(out, "entries", s.entries);
    cri_put_count(out, "parameters", s.free);
    cri_put_count(out, "most_states", s.most_states);
    put_count_or_null(out, "most_parents", bayes, s.most_parents);
    cri_put_count(out, "width", cost.width);
    cri_put_real(out, "operations", cost.operations);
    cri_put_real(out, "bytes", cost.bytes);
    CR_TRY(put_structure(c, net, "chordal", CR_STRUCTURE_CHORDAL, 0, out));
    if (bayes) CR_TRY(put_structure(c, net, "order", CR_STRUCTURE_ORDER, 0, out));
done:
    return st;
}

static cr_status describe_network(cli *c, const cr_network *net, cri_sheet *root)
{
    cr_status  st = CR_OK;
    cri_sheet *rows;
    CR_TRY(put_summary(c, net, cri_put_object(root, "network")));
    rows = cri_put_list(root, "variables");
    for (size_t v = 0; v < cr_network_size(net); v++)
        CR_TRY(put_variable(c, net, v, cri_put_object(rows, NULL)));
done:
    return st;
}

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

static cr_status print_network(cli *c, const cri_sheet *root, bool gaussian)
{
    cr_status        st = CR_OK;
    const cri_sheet *net = cri_sheet_get(root, "network");
    const char      *name = cri_sheet_text(cri_sheet_get(net, "name"));
    const char      *type = cri_sheet_text(cri_sheet_get(net, "type"));
    cri_sheet       *s = cri_sheet_new(c->cx), *rows = cri_put_list(s, "rows");
    cri_sheet       *lines = cri_put_object(s, "lines");
    put_table(cri_sheet_get(root, "variables"), gaussian, rows);
    put_lines(net, lines);
    CR_TRY(cri_sheet_status(s));
    if (c->format == FORMAT_TEXT) {
        out_text(c, "%s: a %s network%s%s", file_name(c),
                 gaussian                     ? "Gaussian"
                 : strcmp(type, "bayes") == 0 ? "Bayesian"
                                              : "Markov",
                 name[0] ? ", " : "", name);
        if (gaussian)
            out_text(c, ", %zu nodes, %zu arcs", cri_sheet_count(cri_sheet_get(net, "nodes")),
                     cri_sheet_count(cri_sheet_get(net, "arcs")));
        out_text(c, "\n");
        if (!gaussian) out_values(c, lines);
        out_text(c, "\n");
    }
    out_rows(c, rows);
done:
    cri_sheet_free(s);
    return st;
}

cr_status cli_describe_network(cli *c)
{
    cr_status            st = CR_OK;
    cr_network          *net = NULL;
    cr_gaussian_network *gaussian = NULL;
    cri_sheet           *root = cri_sheet_new(c->cx);
    CR_TRY(cli_read_either(c, 0, CR_FORMAT_AUTO, &net, &gaussian));
    CR_TRY(cli_check_strict(c));
    cri_put_text(root, "file", file_name(c));
    cri_put_text(root, "kind", "network");
    CR_TRY(net ? describe_network(c, net, root) : cli_describe_gaussian(c, gaussian, root));
    CR_TRY(cri_sheet_status(root));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_result(c, "describe", root);
    else
        CR_TRY(print_network(c, root, gaussian != NULL));
done:
    cri_sheet_free(root);
    cr_network_free(c->cx, net);
    cr_gaussian_network_free(c->cx, gaussian);
    return st;
}

/* --- check ----------------------------------------------------------------------------------- */

/* A table of a Markov network that is all zeros excludes everything. */
static cr_status refuse_zeros(cli *c, const cr_network *net)
{
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        bool          any = !t.value;
        for (size_t e = 0; e < t.size && !any; e++) any = t.value[e] > 0;
        if (!any)
            return cr_fail(c->cx, CR_EDATA, "%s: table %zu is all zeros: nothing is possible",
                           file_name(c), i + 1);
    }
    return CR_OK;
}

cr_status cli_check_network(cli *c)
{
    cr_status            st = CR_OK;
    cr_network          *net = NULL;
    cr_gaussian_network *gaussian = NULL;
    cri_sheet           *s = cri_sheet_new(c->cx), *rows = cri_put_list(s, "rows");
    cri_sheet           *root = cri_put_object(rows, NULL);
    CR_TRY(cli_read_either(c, 0, CR_FORMAT_AUTO, &net, &gaussian));
    CR_TRY(cli_check_strict(c));
    if (net) CR_TRY(refuse_zeros(c, net));
    cri_put_text(root, "file", file_name(c));
    cri_put_text(root, "kind", "network");
    cri_put_flag(root, "sound", true);
    CR_TRY(cri_sheet_status(s));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_result(c, "check", root);
    else if (c->format == FORMAT_CSV)
        out_rows(c, rows);
    else
        out_text(c, "%s: a sound %snetwork, %zu nodes, %zu parameters\n", file_name(c),
                 gaussian ? "Gaussian " : "",
                 net ? cr_network_size(net) : cr_gaussian_network_size(gaussian),
                 net ? count(net).free : cli_gaussian_parameters(gaussian));
done:
    cri_sheet_free(s);
    cr_network_free(c->cx, net);
    cr_gaussian_network_free(c->cx, gaussian);
    return st;
}
