/* methods_dynamic.c -- networks of slices that repeat over time: described, named, asked. */
#include "methods.h"
#include "dynamic_query.h"
#include "query_more.h"
#include "graph/files/json_dynamic.h"
#include "graph/network/network_internal.h"

/* --- what it is made of ---------------------------------------------------------------------- */

static size_t count_free(const cr_network *net, size_t from)
{
    size_t free = 0;
    for (size_t v = from; v < cr_network_size(net); v++) {
        cr_table_view t = cr_network_table(net, v);
        size_t        states = cr_network_states(net, v);
        free += t.value ? t.size / states * (states - 1) : 0;
    }
    return free;
}

/* Of both slices; those of a variable that begins as it goes on count once more. */
static size_t parameters(const void *of)
{
    const cri_dynamic *net = of;
    return count_free(net->first, 0) + count_free(net->next, net->n);
}

static size_t count_arcs(const cr_network *net, size_t from)
{
    size_t arcs = 0;
    for (size_t v = from; v < cr_network_size(net); v++) arcs += cr_network_table(net, v).n - 1;
    return arcs;
}

static void put_variable(const cri_dynamic *net, size_t v, cri_sheet *row)
{
    const cr_variables *vs = cr_network_variables(net->first);
    size_t              n;
    const size_t       *parents = cr_network_parents(net->next, net->n + v, &n);
    cri_put_text(row, "name", cr_variable_name(vs, v));
    cri_sheet *states = cri_put_list(row, "states");
    for (size_t s = 0; s < cr_variable_states(vs, v); s++)
        cri_put_text(states, NULL, cr_state_name(vs, v, s));
    cri_put_names(row, "parents", cr_network_variables(net->next), parents, n);
    cri_put_text(row, "kind", cri_cpd_name(cr_network_table(net->next, net->n + v).kind));
}

static cr_status describe(cr_ctx *cx, const void *of, bool all, cri_sheet *out)
{
    const cri_dynamic *net = of;
    cri_sheet *about = cri_put_object(out, "network"), *rows = cri_put_list(out, "variables");
    (void)cx, (void)all;
    cri_put_text(about, "name", cr_network_name(net->first));
    cri_put_text(about, "type", "dynamic");
    cri_put_count(about, "nodes", net->n);
    cri_put_count(about, "arcs", count_arcs(net->next, net->n));
    cri_put_count(about, "parameters", parameters(net));
    for (size_t v = 0; v < net->n; v++) put_variable(net, v, cri_put_object(rows, NULL));
    return CR_OK;
}

/* --- the table ------------------------------------------------------------------------------- */

static const cri_dynamic  *dynamic(const void *net) { return net; }
static const char         *name(const void *net) { return cr_network_name(dynamic(net)->first); }
static const cr_variables *variables(const void *net)
{
    return cr_network_variables(dynamic(net)->first);
}

static cr_status graph(cr_ctx *cx, const void *net, const cr_network **out, cr_network **out_made)
{
    cr_status st = cri_dynamic_unroll(cx, net, 2, out_made);
    *out = *out_made;
    return st;
}

static cr_status unroll(cr_ctx *cx, const void *net, const cr_question *opt_q,
                        const cr_findings *opt_more, cr_network **out_made)
{
    size_t slices = cri_dynamic_horizon(net, opt_q, opt_more);
    return cri_dynamic_lay(cx, net, slices < 2 ? 2 : slices, out_made);
}

static cr_status parse(cr_ctx *cx, const void *net, const char *text, cr_question **out_q)
{
    return cri_question_parse_slices(cx, dynamic(net)->first, text, out_q);
}

static cr_status read_findings(cr_ctx *cx, cr_findings *list, const void *net, const char *path)
{
    return cri_findings_read_slices(cx, list, dynamic(net)->first, path);
}

static cr_status parse_findings(cr_ctx *cx, cr_findings *list, const void *net, const char *source,
                                const char *bytes, size_t size)
{
    return cri_findings_parse_slices(cx, list, dynamic(net)->first, source, bytes, size);
}

static cr_status add_finding(cr_ctx *cx, cr_findings *list, const void *net, const cr_finding *f)
{
    return cr_findings_add(cx, list, dynamic(net)->first, f->kind, f->variable, f->weight);
}

static cr_status run(cr_ctx *cx, const void *net, const cr_question *q, const cr_findings *opt_more,
                     const cr_query_options *opt_o, cr_query_answer *out)
{
    return cri_dynamic_query_run(cx, net, q, opt_more, opt_o, out);
}

static cr_status write(cr_ctx *cx, const void *net, const char *path, cr_network_format format)
{
    (void)format;
    return cri_json_write_dynamic(cx, net, path);
}

static size_t numbers(const void *net, size_t v)
{
    return cr_network_states(dynamic(net)->first, v);
}

static const char *number_name(const void *net, size_t v, size_t k)
{
    return cr_state_name(variables(net), v, k);
}

const cri_network_methods cri_dynamic_methods = {
    .states = true,
    .word = "dynamic ",
    .formats = 1u << CR_FORMAT_JSON,
    .name = name,
    .variables = variables,
    .graph = graph,
    .unroll = unroll,
    .parse = parse,
    .read_findings = read_findings,
    .parse_findings = parse_findings,
    .add_finding = add_finding,
    .run = run,
    .describe = describe,
    .parameters = parameters,
    .write = write,
    .open = cri_dynamic_open,
    .follow = cri_dynamic_follow,
    .close = cri_dynamic_close,
    .is_fixed = cri_dynamic_is_fixed,
    .observe = cri_dynamic_observe,
    .ask = cri_dynamic_ask,
    .posterior = cri_dynamic_posterior,
    .numbers = numbers,
    .number_name = number_name,
    .mark = "=",
};
