/* methods_gaussian.c -- linear-Gaussian networks: described, named, asked row by row. */
#include "methods.h"
#include "query_more.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what it is made of ---------------------------------------------------------------------- */

static size_t count_arcs(const cr_gaussian_network *net)
{
    size_t arcs = 0;
    for (size_t v = 0; v < cr_gaussian_network_size(net); v++)
        arcs += cr_gaussian_network_node(net, v).n;
    return arcs;
}

/* Intercepts, variances and weights; of an undirected one means, variances and edges. */
static size_t parameters(const void *net)
{
    cr_gaussian_edges e = cr_gaussian_network_edges(net);
    return 2 * cr_gaussian_network_size(net) + (e.undirected ? e.m : count_arcs(net));
}

/* "1 + 0.5 x - 2 y" */
static void put_formula(const cr_gaussian_network *net, size_t v, cri_sheet *row)
{
    cr_gaussian_node x = cr_gaussian_network_node(net, v);
    char             text[200];
    size_t           used = (size_t)snprintf(text, sizeof text, "%.6g", x.intercept);
    for (size_t i = 0; i < x.n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %c %.6g %s",
                                 x.weights[i] < 0 ? '-' : '+', fabs(x.weights[i]),
                                 cr_variable_name(cr_gaussian_network_names(net), x.parents[i]));
    if (used >= sizeof text) memcpy(text + sizeof text - 5, " ...", 5);
    cri_put_text(row, "formula", text);
}

static void put_variable(const cr_gaussian_network *net, size_t v, double mean, double sd,
                         cri_sheet *row)
{
    const cr_variables *vs = cr_gaussian_network_names(net);
    cr_gaussian_node    x = cr_gaussian_network_node(net, v);
    cri_put_text(row, "name", cr_variable_name(vs, v));
    cri_put_list(row, "states");
    cri_put_names(row, "parents", vs, x.parents, x.n);
    cri_put_text(row, "kind", "linear-gaussian");
    put_formula(net, v, row);
    cri_put_real(row, "variance", x.variance);
    cri_put_real(row, "mean", mean);
    cri_put_real(row, "sd", sd);
}

static cr_status describe(cr_ctx *cx, const void *net, bool all, cri_sheet *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_gaussian_network_size(net);
    cri_sheet *about = cri_put_object(out, "network"), *rows = cri_put_list(out, "variables");
    double    *mean = cr_scratch_f64(&s, n), *cov = cr_scratch_matrix(&s, n, n);
    cr_gaussian_edges edges = cr_gaussian_network_edges(net);
    (void)all;
    CR_TRY(s.status);
    CR_TRY(cr_gaussian_network_joint(cx, net, mean, cr_mat_of(cov, n, n)));
    cri_put_text(about, "name", cr_gaussian_network_name(net));
    cri_put_text(about, "type", "gaussian");
    cri_put_count(about, "nodes", n);
    if (edges.undirected) {
        cri_put_null(about, "arcs");
        cri_put_count(about, "edges", edges.m);
    } else {
        cri_put_count(about, "arcs", count_arcs(net));
    }
    cri_put_count(about, "parameters", parameters(net));
    for (size_t v = 0; v < n; v++)
        put_variable(net, v, mean[v], sqrt(cov[v * (n + 1)]), cri_put_object(rows, NULL));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status check_method(cr_ctx *cx, cr_query_method method)
{
    if (method <= CR_QUERY_EXACT) return CR_OK;
    return cr_fail(cx, CR_EARG, "a Gaussian network is always answered exactly, without --method");
}

/* --- rows of evidence ------------------------------------------------------------------------ */

typedef struct rows {
    cr_scratch           s;
    cr_gaussian_network *net; /* after do() */
    size_t               n, *observed;
    double              *x;          /* [n] the value of each variable; NaN: open */
    double              *value;      /* [n] of those that are observed */
    bool                *fixed;      /* [n] for all rows */
    double              *mean, *cov; /* given the row */
} rows;

static cr_status open_rows(cri_cases *c, const cr_findings *known)
{
    cr_status st = CR_OK;
    size_t    n = cr_gaussian_network_size(c->any.net);
    rows     *r;
    c->method = "gaussian";
    CR_TRY(check_method(c->cx, c->o.method));
    c->own = r = cr_alloc(c->cx, 1, sizeof *r);
    if (!r) CR_TRY(CR_ENOMEM);
    r->s = cr_scratch_begin(c->cx);
    r->n = n;
    r->observed = cr_scratch_index(&r->s, n);
    r->x = cr_scratch_f64(&r->s, n);
    r->value = cr_scratch_f64(&r->s, n);
    r->fixed = cr_scratch_bytes(&r->s, n, sizeof *r->fixed);
    r->mean = cr_scratch_f64(&r->s, n);
    r->cov = cr_scratch_matrix(&r->s, n, n);
    CR_TRY(r->s.status);
    CR_TRY(cr_gaussian_network_copy(c->cx, c->any.net, &r->net));
    for (size_t v = 0; v < n; v++) r->x[v] = NAN;
    for (size_t i = 0; i < known->n; i++) {
        size_t v = known->item[i].variable;
        r->fixed[v] = true;
        if (known->item[i].kind == CR_FINDING_DO)
            CR_TRY(cr_gaussian_network_intervene(c->cx, r->net, v, known->item[i].weight[0]));
        else
            r->x[v] = known->item[i].weight[0];
    }
    CR_TRY(cr_gaussian_network_joint(c->cx, r->net, r->mean, cr_mat_of(r->cov, n, n)));
done:
    return st;
}

static void close_rows(cri_cases *c)
{
    rows *r = c->own;
    cr_gaussian_network_free(c->cx, r->net);
    cr_scratch_end(&r->s);
    cr_free(c->cx, r, 1, sizeof *r);
}

static bool is_fixed(const cri_cases *c, size_t v) { return ((const rows *)c->own)->fixed[v]; }

static cr_status observe(cri_cases *c, size_t v, double x)
{
    ((rows *)c->own)->x[v] = x;
    return CR_OK;
}

/* What determines itself has no density. */
static cr_status ask(cri_cases *c, double *out_log, bool *out_possible)
{
    rows  *r = c->own;
    size_t k = 0;
    for (size_t v = 0; v < r->n; v++) {
        if (isnan(r->x[v])) continue;
        r->observed[k] = v;
        r->value[k++] = r->x[v];
    }
    cr_status st = cr_gaussian_network_condition(c->cx, r->net, k, r->observed, r->value, r->mean,
                                                 cr_mat_of(r->cov, r->n, r->n), out_log);
    *out_possible = st == CR_OK;
    if (st != CR_ENUMERIC) return st;
    c->impossible++;
    *out_log = NAN;
    return CR_OK;
}

static cr_status posterior(cri_cases *c, size_t v, double *out)
{
    const rows *r = c->own;
    out[0] = r->mean[v];
    out[1] = sqrt(fmax(r->cov[v * (r->n + 1)], 0));
    return CR_OK;
}

static size_t numbers(const void *net, size_t v)
{
    (void)net, (void)v;
    return 2;
}

static const char *number_name(const void *net, size_t v, size_t k)
{
    (void)net, (void)v;
    return k ? "sd" : "mean";
}

/* --- the table ------------------------------------------------------------------------------- */

static const char         *name(const void *net) { return cr_gaussian_network_name(net); }
static const cr_variables *variables(const void *net) { return cr_gaussian_network_names(net); }

static cr_status graph(cr_ctx *cx, const void *net, const cr_network **out, cr_network **out_made)
{
    cr_status st = cri_gaussian_graph(cx, net, out_made);
    *out = *out_made;
    return st;
}

static const char *short_number(cr_scratch *s, double x)
{
    enum { DIGITS = 32 };
    char *text = cr_scratch_bytes(s, DIGITS, 1);
    if (text) snprintf(text, DIGITS, "%.3g", x);
    return text;
}

static const char *label(cr_scratch *s, const void *net, size_t v, size_t i)
{
    return short_number(s, cr_gaussian_network_node(net, v).weights[i]);
}

static const char *edge_label(cr_scratch *s, const void *net, size_t u, size_t v)
{
    cr_gaussian_edges e = cr_gaussian_network_edges(net);
    for (size_t i = 0; i < e.m; i++)
        if ((e.a[i] == u && e.b[i] == v) || (e.a[i] == v && e.b[i] == u))
            return short_number(s, e.strength[i]);
    return NULL;
}

static cr_status parse(cr_ctx *cx, const void *net, const char *text, cr_question **out_q)
{
    return cr_gaussian_question_parse(cx, net, text, out_q);
}

static cr_status read_findings(cr_ctx *cx, cr_findings *list, const void *net, const char *path)
{
    return cr_gaussian_findings_read(cx, list, net, path);
}

static cr_status parse_findings(cr_ctx *cx, cr_findings *list, const void *net, const char *source,
                                const char *bytes, size_t size)
{
    return cr_gaussian_findings_parse(cx, list, net, source, bytes, size);
}

static cr_status add_finding(cr_ctx *cx, cr_findings *list, const void *net, const cr_finding *f)
{
    cr_network *made = NULL;
    cr_status   st = cri_gaussian_graph(cx, net, &made);
    if (st == CR_OK) st = cri_findings_add_value(cx, list, made, f->variable, f->weight[0]);
    if (st == CR_OK) list->item[list->n - 1].kind = f->kind;
    cr_network_free(cx, made);
    return st;
}

static cr_status run(cr_ctx *cx, const void *net, const cr_question *q, const cr_findings *opt_more,
                     const cr_query_options *opt_o, cr_query_answer *out)
{
    cr_status st = opt_o ? check_method(cx, opt_o->method) : CR_OK;
    return st == CR_OK ? cr_gaussian_query_run(cx, net, q, opt_more, out) : st;
}

static cr_status write(cr_ctx *cx, const void *net, const char *path, cr_network_format format)
{
    return cr_gaussian_network_write(cx, net, path, format);
}

const cri_network_methods cri_gaussian_methods = {
    .word = "Gaussian ",
    .formats = 1u << CR_FORMAT_JSON | 1u << CR_FORMAT_CRED,
    .name = name,
    .variables = variables,
    .graph = graph,
    .label = label,
    .edge_label = edge_label,
    .parse = parse,
    .check_method = check_method,
    .read_findings = read_findings,
    .parse_findings = parse_findings,
    .add_finding = add_finding,
    .run = run,
    .describe = describe,
    .parameters = parameters,
    .write = write,
    .open = open_rows,
    .close = close_rows,
    .is_fixed = is_fixed,
    .observe = observe,
    .ask = ask,
    .posterior = posterior,
    .numbers = numbers,
    .number_name = number_name,
    .mark = ":",
};
