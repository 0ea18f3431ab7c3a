/* methods_states.c -- networks whose variables have states: described, checked, named. */
#include "methods.h"
#include "graph/exact/junction.h"
#include "graph/network/noisy.h"

#include <string.h>

cr_status cri_any_query(cr_ctx *cx, cri_any_network any, const char *text, cr_query_answer *out)
{
    cr_question *q = NULL;
    cr_status    st = any.methods->parse(cx, any.net, text, &q);
    if (st == CR_OK) st = any.methods->run(cx, any.net, q, NULL, NULL, out);
    cr_question_free(cx, q);
    return st;
}

cr_status cri_cases_open(cr_ctx *cx, cri_any_network any, const cr_findings *known,
                         const cr_query_options *o, cri_cases *out)
{
    *out = (cri_cases){ .cx = cx, .any = any, .o = *o, .exact = true };
    cr_status st = any.methods->open(out, known);
    if (st != CR_OK) cri_cases_close(out);
    return st;
}

void cri_cases_close(cri_cases *c)
{
    if (c->own) c->any.methods->close(c);
    *c = (cri_cases){ 0 };
}

/* --- what it is made of ---------------------------------------------------------------------- */

const cr_field cri_network_fields[] = {
    CR_TEXT("name", 0, "name of the network; may be empty"),
    CR_TEXT("type", 0, "bayes, markov, gaussian or dynamic"),
    CR_COUNT("nodes", 0, "variables"),
    CR_COUNT("arcs", CR_FIELD_NULL, "from parents to children; null for a Markov network"),
    CR_COUNT("edges", CR_FIELD_SOMETIMES, "of an undirected Gaussian network"),
    CR_COUNT("tables", CR_FIELD_SOMETIMES, "tables"),
    CR_COUNT("entries", CR_FIELD_SOMETIMES, "entries of all tables"),
    CR_COUNT("parameters", 0, "number of free parameters"),
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

const cr_field cri_network_variable_fields[] = {
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

/* An answer of the graph: relatives of v by their names, or whether something holds. */
static cr_status put_structure(cr_ctx *cx, const cr_network *net, const char *name,
                               cr_question_kind kind, size_t *opt_v, cri_sheet *out)
{
    cr_question     q = { .kind = kind, .x = opt_v, .n_x = opt_v ? 1 : 0 };
    cr_query_answer a = { 0 };
    cr_status       st = cr_query_run(cx, net, &q, NULL, NULL, &a);
    if (st != CR_OK) return st;
    if (kind == CR_QUESTION_CHORDAL)
        cri_put_flag(out, name, a.holds);
    else
        cri_put_names(out, name, cr_network_variables(net), a.variable, a.n);
    cr_query_answer_free(cx, &a);
    return CR_OK;
}

static cr_status put_variable(cr_ctx *cx, const cr_network *net, size_t v, bool all, cri_sheet *row)
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
    cri_put_names(row, "parents", vs, parents, n);
    if (bayes) cri_put_text(row, "kind", cri_cpd_name(cr_network_table(net, v).kind));
    if (bayes && all) CR_TRY(put_structure(cx, net, "children", CR_QUESTION_CHILDREN, &v, row));
    if (all) CR_TRY(put_structure(cx, net, "blanket", CR_QUESTION_BLANKET, &v, row));
done:
    return st;
}

/* What all marginals cost, by a junction tree; it need not fit into memory. */
static cr_status find_cost(cr_ctx *cx, const cr_network *net, cr_exact_report *out)
{
    cr_status        st = CR_OK;
    cr_exact_options o = cr_exact_defaults();
    cr_junction     *tree = NULL;
    cri_divorced     d = { 0 };
    o.memory = SIZE_MAX;
    CR_TRY(cri_network_divorce(cx, net, NULL, true, &d));
    CR_TRY(cr_junction_new(cx, d.net ? d.net : net, NULL, &o, &tree));
    *out = cr_junction_report(tree);
done:
    cr_junction_free(cx, tree);
    cri_divorced_free(cx, &d);
    return st;
}

static void put_count_or_null(cri_sheet *out, const char *name, bool has, size_t n)
{
    if (has)
        cri_put_count(out, name, n);
    else
        cri_put_null(out, name);
}

static cr_status put_summary(cr_ctx *cx, const cr_network *net, bool all, cri_sheet *out)
{
    cr_status       st = CR_OK;
    sizes           s = count(net);
    bool            bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    cr_exact_report cost = { 0 };
    CR_TRY(find_cost(cx, net, &cost));
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
    if (all) CR_TRY(put_structure(cx, net, "chordal", CR_QUESTION_CHORDAL, NULL, out));
    if (all && bayes) CR_TRY(put_structure(cx, net, "order", CR_QUESTION_ORDER, NULL, out));
done:
    return st;
}

static cr_status describe(cr_ctx *cx, const void *net, bool all, cri_sheet *out)
{
    enum { SMALL = 200 };
    cr_status  st = CR_OK;
    cri_sheet *rows;
    all &= cr_network_size(net) <= SMALL;
    CR_TRY(put_summary(cx, net, all, cri_put_object(out, "network")));
    rows = cri_put_list(out, "variables");
    for (size_t v = 0; v < cr_network_size(net); v++)
        CR_TRY(put_variable(cx, net, v, all, cri_put_object(rows, NULL)));
done:
    return st;
}

/* A table of a Markov network that is all zeros excludes everything. */
static cr_status refuse_zeros(cr_ctx *cx, const void *net, const char *source)
{
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        bool          any = !t.value;
        for (size_t e = 0; e < t.size && !any; e++) any = t.value[e] > 0;
        if (!any)
            return cr_fail(cx, CR_EDATA, "%s: table %zu is all zeros: nothing is possible", source,
                           i + 1);
    }
    return CR_OK;
}

/* --- the table ------------------------------------------------------------------------------- */

static const char         *name(const void *net) { return cr_network_name(net); }
static const cr_variables *variables(const void *net) { return cr_network_variables(net); }
static size_t              parameters(const void *net) { return count(net).free; }

static cr_status graph(cr_ctx *cx, const void *net, const cr_network **out, cr_network **out_made)
{
    *out = net;
    *out_made = NULL;
    return cr_network_check(cx, net);
}

static cr_status parse(cr_ctx *cx, const void *net, const char *text, cr_question **out_q)
{
    return cr_question_parse(cx, net, text, out_q);
}

static cr_status read_findings(cr_ctx *cx, cr_findings *list, const void *net, const char *path)
{
    return cr_findings_read(cx, list, net, path);
}

static cr_status parse_findings(cr_ctx *cx, cr_findings *list, const void *net, const char *source,
                                const char *bytes, size_t size)
{
    return cr_findings_parse(cx, list, net, source, bytes, size);
}

static cr_status add_finding(cr_ctx *cx, cr_findings *list, const void *net, const cr_finding *f)
{
    return cr_findings_add(cx, list, net, f->kind, f->variable, f->weight);
}

static cr_status run(cr_ctx *cx, const void *net, const cr_question *q, const cr_findings *opt_more,
                     const cr_query_options *opt_o, cr_query_answer *out)
{
    return cr_query_run(cx, net, q, opt_more, opt_o, out);
}

static cr_status write(cr_ctx *cx, const void *net, const char *path, cr_network_format format)
{
    return cr_network_write(cx, net, path, format);
}

static size_t numbers(const void *net, size_t v) { return cr_network_states(net, v); }

static const char *number_name(const void *net, size_t v, size_t k)
{
    return cr_state_name(cr_network_variables(net), v, k);
}

/* What a remark says of the arc: "arc from PARENT: ...". */
static const char *label(cr_scratch *s, const void *net, size_t v, size_t i)
{
    size_t        n, of;
    const size_t *parents = cr_network_parents(net, v, &n);
    const char   *parent = cr_variable_name(cr_network_variables(net), parents[i]),
               *begin = "arc from ";
    (void)s;
    for (size_t k = 0; k < cr_network_properties(net); k++) {
        const char *text = cr_network_property(net, k, &of);
        size_t      length = strlen(begin), name = strlen(parent);
        if (of == v && strncmp(text, begin, length) == 0 &&
            strncmp(text + length, parent, name) == 0 &&
            strncmp(text + length + name, ": ", 2) == 0)
            return text + length + name + 2;
    }
    return NULL;
}

const cri_network_methods cri_states_methods = {
    .states = true,
    .word = "",
    .formats = ~0u,
    .name = name,
    .variables = variables,
    .graph = graph,
    .label = label,
    .parse = parse,
    .read_findings = read_findings,
    .parse_findings = parse_findings,
    .add_finding = add_finding,
    .run = run,
    .describe = describe,
    .parameters = parameters,
    .check = refuse_zeros,
    .write = write,
    .open = cri_states_open,
    .close = cri_states_close,
    .is_fixed = cri_states_is_fixed,
    .observe = cri_states_observe,
    .ask = cri_states_ask,
    .posterior = cri_states_posterior,
    .numbers = numbers,
    .number_name = number_name,
    .mark = "=",
};
