/* gaussian.c -- linear-Gaussian networks on the command line. */
#include "gaussian.h"
#include "models/graph/gaussian_query.h"
#include "models/graph/json_network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static const char *file_name(const cli *c)
{
    return strcmp(c->args[0], "-") == 0 ? "stdin" : c->args[0];
}

/* --- answers --------------------------------------------------------------------------------- */

typedef struct gaussian_job {
    cli                       *c;
    const cr_gaussian_network *net;
    const cr_variables        *vs;
    const char                *text, *unit;
    double                     per; /* nats in one unit */
} gaussian_job;

static const char *name_of(const gaussian_job *j, size_t v) { return cr_variable_name(j->vs, v); }

/* The variance of the i-th variable of an answer. */
static double variance(const cr_gaussian_answer *a, size_t i)
{
    return a->covariances == a->n ? a->covariance[i] : a->covariance[i * (a->n + 1)];
}

static json_t *numbers(size_t n, const double *x)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(out, number(x[i]));
    return out;
}

static json_t *names(const gaussian_job *j, size_t n, const size_t *list)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, json_string_nocheck(name_of(j, list[i])));
    return out;
}

/* {"x": {"mean": 1, "sd": 2}} */
static json_t *marginals(const gaussian_job *j, const cr_gaussian_answer *a)
{
    json_t *out = json_object();
    for (size_t i = 0; i < a->n; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "mean", number(a->mean[i]));
        json_object_set_new(one, "sd", number(sqrt(variance(a, i))));
        json_object_set_new_nocheck(out, name_of(j, a->variable[i]), one);
    }
    return out;
}

static void add_joint(const gaussian_job *j, const cr_gaussian_answer *a, json_t *out)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < a->n; i++)
        json_array_append_new(rows, numbers(a->n, a->covariance + i * a->n));
    json_object_set_new(out, "variables", names(j, a->n, a->variable));
    json_object_set_new(out, "mean", numbers(a->n, a->mean));
    json_object_set_new(out, "covariance", rows);
}

static json_t *values(const gaussian_job *j, const cr_gaussian_answer *a)
{
    json_t *out = json_object();
    for (size_t i = 0; i < a->n; i++)
        json_object_set_new_nocheck(out, name_of(j, a->variable[i]), number(a->mean[i]));
    return out;
}

static json_t *gains(const gaussian_job *j, const cr_gaussian_answer *a)
{
    json_t *out = json_array();
    for (size_t i = 0; i < a->n; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "variable", json_string_nocheck(name_of(j, a->variable[i])));
        json_object_set_new(row, "information", number(a->value[i] / j->per));
        json_array_append_new(out, row);
    }
    return out;
}

static void add_density(const cr_gaussian_answer *a, json_t *out)
{
    json_object_set_new(out, "density", number(a->number));
    json_object_set_new(out, "log_density", number(a->log_number));
}

static json_t *json_answer(const gaussian_job *j, const cr_gaussian_answer *a)
{
    json_t *out = json_object();
    bool    graph = a->kind == CR_QUESTION_SEPARATION;
    json_object_set_new(out, "query", json_string_nocheck(j->text));
    json_object_set_new(out, "method", json_string(graph ? "graph" : "gaussian"));
    json_object_set_new(out, "exact", json_true());
    json_object_set_new(out, "log_evidence", number(a->log_evidence));
    if (a->kind == CR_QUESTION_MARGINALS || (a->kind == CR_QUESTION_TABLE && a->n == 1))
        json_object_set_new(out, "marginals", marginals(j, a));
    else if (a->kind == CR_QUESTION_TABLE)
        add_joint(j, a, out);
    else if (a->kind == CR_QUESTION_BEST)
        json_object_set_new(out, "assignment", values(j, a));
    if (a->kind == CR_QUESTION_BEST || a->kind == CR_QUESTION_PROBABILITY) add_density(a, out);
    if (graph) json_object_set_new(out, "independent", json_boolean(a->separated));
    if (graph && !a->separated)
        json_object_set_new(out, "trail", names(j, a->trail_length, a->trail));
    if (a->kind == CR_QUESTION_ENTROPY || a->kind == CR_QUESTION_INFORMATION)
        json_object_set_new(out, a->kind == CR_QUESTION_ENTROPY ? "entropy" : "information",
                            number(a->number / j->per));
    if (a->kind == CR_QUESTION_INFORMATIVE) json_object_set_new(out, "informative", gains(j, a));
    if (a->kind == CR_QUESTION_ENTROPY || a->kind == CR_QUESTION_INFORMATION ||
        a->kind == CR_QUESTION_INFORMATIVE)
        json_object_set_new(out, "unit", json_string(j->unit));
    return out;
}

/* --- text ------------------------------------------------------------------------------------ */

/* variable, mean, sd; of several together the covariances beside. */
static void print_normal(const gaussian_job *j, const cr_gaussian_answer *a)
{
    json_t *rows = json_array();
    bool    joint = a->kind == CR_QUESTION_TABLE && a->n > 1;
    for (size_t i = 0; i < a->n; i++) {
        json_t *row = json_object();
        char    key[300];
        json_object_set_new(row, "variable", json_string_nocheck(name_of(j, a->variable[i])));
        json_object_set_new(row, "mean", number(a->mean[i]));
        json_object_set_new(row, "sd", number(sqrt(variance(a, i))));
        for (size_t k = 0; joint && k < a->n; k++) {
            snprintf(key, sizeof key, "cov(%.200s)", name_of(j, a->variable[k]));
            json_object_set_new_nocheck(row, key, number(a->covariance[i * a->n + k]));
        }
        json_array_append_new(rows, row);
    }
    out_table(j->c, rows);
    json_decref(rows);
}

static void print_best(const gaussian_job *j, const cr_gaussian_answer *a)
{
    json_t *rows = json_array();
    char    text[32];
    for (size_t i = 0; i < a->n; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "variable", json_string_nocheck(name_of(j, a->variable[i])));
        json_object_set_new(row, "value", number(a->mean[i]));
        json_array_append_new(rows, row);
    }
    out_table(j->c, rows);
    json_decref(rows);
    if (!isnan(a->log_number))
        out_text(j->c, "  log density given the evidence %s\n",
                 out_number(a->log_number, false, text));
}

static bool is_parent(const gaussian_job *j, size_t parent, size_t child)
{
    cr_gaussian_node x = cr_gaussian_network_node(j->net, child);
    for (size_t i = 0; i < x.n; i++)
        if (x.parents[i] == parent) return true;
    return false;
}

static void print_separation(const gaussian_job *j, const cr_gaussian_answer *a)
{
    if (a->separated) {
        out_text(j->c, "  independent\n");
        return;
    }
    out_text(j->c, "  not independent: ");
    for (size_t i = 0; i < a->trail_length; i++) {
        if (i > 0) out_text(j->c, is_parent(j, a->trail[i - 1], a->trail[i]) ? " -> " : " <- ");
        out_text(j->c, "%s", name_of(j, a->trail[i]));
    }
    out_text(j->c, " is active\n");
}

static void print_text(const gaussian_job *j, const cr_gaussian_answer *a)
{
    char    text[32], log[32];
    json_t *rows;
    out_text(j->c, "%s\n", j->text);
    switch (a->kind) {
    case CR_QUESTION_PROBABILITY:
        out_text(j->c, "  density %s, its log %s\n", out_number(a->number, false, text),
                 out_number(a->log_number, false, log));
        break;
    case CR_QUESTION_BEST:
        print_best(j, a);
        break;
    case CR_QUESTION_SEPARATION:
        print_separation(j, a);
        break;
    case CR_QUESTION_ENTROPY:
    case CR_QUESTION_INFORMATION:
        out_text(j->c, "  %s %s\n", out_number(a->number / j->per, false, text), j->unit);
        break;
    case CR_QUESTION_INFORMATIVE:
        rows = gains(j, a);
        out_table(j->c, rows);
        json_decref(rows);
        break;
    default:
        print_normal(j, a);
    }
}

/* --- CSV: query, variable, state, value ------------------------------------------------------ */

static void put_row(const gaussian_job *j, const char *variable, const char *what, double x)
{
    char text[32];
    out_csv_field(j->c, j->text);
    out_text(j->c, ",");
    out_csv_field(j->c, variable);
    out_text(j->c, ",%s,%s\n", what, out_number(x, true, text));
}

static void print_csv(const gaussian_job *j, const cr_gaussian_answer *a)
{
    char pair[512];
    switch (a->kind) {
    case CR_QUESTION_PROBABILITY:
        put_row(j, "", "density", a->number);
        put_row(j, "", "log_density", a->log_number);
        break;
    case CR_QUESTION_SEPARATION:
        put_row(j, "", "", a->separated);
        break;
    case CR_QUESTION_ENTROPY:
    case CR_QUESTION_INFORMATION:
        put_row(j, "", "", a->number / j->per);
        break;
    default:
        for (size_t i = 0; i < a->n; i++) {
            const char *name = name_of(j, a->variable[i]);
            if (a->kind == CR_QUESTION_INFORMATIVE) {
                put_row(j, name, "", a->value[i] / j->per);
                continue;
            }
            put_row(j, name, a->kind == CR_QUESTION_BEST ? "value" : "mean", a->mean[i]);
            if (a->kind != CR_QUESTION_BEST) put_row(j, name, "sd", sqrt(variance(a, i)));
        }
        for (size_t i = 0; a->kind == CR_QUESTION_TABLE && i < a->n; i++)
            for (size_t k = i + 1; k < a->n; k++) {
                snprintf(pair, sizeof pair, "%.200s,%.200s", name_of(j, a->variable[i]),
                         name_of(j, a->variable[k]));
                put_row(j, pair, "covariance", a->covariance[i * a->n + k]);
            }
    }
}

/* --- query ----------------------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show(gaussian_job *j, const cr_gaussian_answer *all, double seconds)
{
    cli    *c = j->c;
    json_t *root = json_object(), *results = json_array();
    if (c->format == FORMAT_CSV) out_text(c, "query,variable,state,value\n");
    for (size_t i = 1; i < c->n_args; i++) {
        j->text = c->args[i];
        if (c->format == FORMAT_JSON) {
            json_array_append_new(results, json_answer(j, &all[i]));
        } else if (c->format == FORMAT_CSV) {
            print_csv(j, &all[i]);
        } else {
            if (i > 1) out_text(c, "\n");
            print_text(j, &all[i]);
        }
        c->answer_no |= all[i].kind == CR_QUESTION_SEPARATION && !all[i].separated;
    }
    if (c->format == FORMAT_JSON) {
        json_object_set_new(root, "network", json_string_nocheck(c->args[0]));
        json_object_set_new(root, "seed", json_integer((json_int_t)c->fit.seed));
        json_object_set(root, "results", results);
        json_object_set_new(root, "seconds", json_real(seconds));
        out_json(c, "query", root);
    }
    json_decref(root);
    json_decref(results);
}

cr_status cli_query_gaussian(cli *c, const cr_gaussian_network *net, const char *opt_evidence,
                             bool nats)
{
    cr_status           st = CR_OK;
    cr_gaussian_values  more = { 0 };
    cr_gaussian_answer *all = cr_alloc(c->cx, c->n_args, sizeof *all);
    gaussian_job        j = { .c = c, .net = net, .vs = cr_gaussian_network_names(net) };
    double              begin = seconds_now();
    j.unit = nats ? "nats" : "bits";
    j.per = nats ? 1 : log(2);
    if (!all) CR_TRY(CR_ENOMEM);
    if (opt_evidence) CR_TRY(cr_gaussian_values_read(c->cx, net, opt_evidence, &more));
    for (size_t i = 1; i < c->n_args; i++)
        CR_TRY(cr_gaussian_query(c->cx, net, c->args[i], &more, &all[i]));
    CR_TRY(cli_check_strict(c));
    CR_TRY(out_open(c, c->global.output));
    show(&j, all, seconds_now() - begin);
done:
    for (size_t i = 1; all && i < c->n_args; i++) cr_gaussian_answer_free(c->cx, &all[i]);
    cr_free(c->cx, all, c->n_args, sizeof *all);
    cr_gaussian_values_free(c->cx, &more);
    return st;
}

/* --- describe, check, convert ---------------------------------------------------------------- */

static size_t count_arcs(const cr_gaussian_network *net)
{
    size_t arcs = 0;
    for (size_t v = 0; v < cr_gaussian_network_size(net); v++)
        arcs += cr_gaussian_network_node(net, v).n;
    return arcs;
}

/* "1 + 0.5 x - 2 y" */
static json_t *formula(const cr_gaussian_network *net, size_t v)
{
    cr_gaussian_node x = cr_gaussian_network_node(net, v);
    char             text[200], digits[32];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", out_number(x.intercept, false, digits));
    for (size_t i = 0; i < x.n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %c %s %s",
                                 x.weights[i] < 0 ? '-' : '+',
                                 out_number(fabs(x.weights[i]), false, digits),
                                 cr_variable_name(cr_gaussian_network_names(net), x.parents[i]));
    if (used >= sizeof text) memcpy(text + sizeof text - 5, " ...", 5);
    return json_string_nocheck(text);
}

static json_t *variable_row(const cr_gaussian_network *net, size_t v, double mean, double sd)
{
    const cr_variables *vs = cr_gaussian_network_names(net);
    cr_gaussian_node    x = cr_gaussian_network_node(net, v);
    json_t             *row = json_object(), *parents = json_array();
    for (size_t i = 0; i < x.n; i++)
        json_array_append_new(parents, json_string_nocheck(cr_variable_name(vs, x.parents[i])));
    json_object_set_new(row, "name", json_string_nocheck(cr_variable_name(vs, v)));
    json_object_set_new(row, "states", json_array());
    json_object_set_new(row, "parents", parents);
    json_object_set_new(row, "kind", json_string("linear-gaussian"));
    json_object_set_new(row, "formula", formula(net, v));
    json_object_set_new(row, "variance", number(x.variance));
    json_object_set_new(row, "mean", number(mean));
    json_object_set_new(row, "sd", number(sd));
    return row;
}

static void print_description(cli *c, const cr_gaussian_network *net, json_t *variables)
{
    json_t *row, *rows = json_array();
    size_t  i;
    json_array_foreach(variables, i, row)
    {
        static const char *const KEYS[] = { "name", "formula", "variance", "mean", "sd" };
        json_t                  *flat = json_object();
        for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; k++)
            json_object_set(flat, KEYS[k], json_object_get(row, KEYS[k]));
        json_array_append_new(rows, flat);
    }
    if (c->format == FORMAT_TEXT)
        out_text(c, "%s: a Gaussian network%s%s, %zu nodes, %zu arcs\n\n", file_name(c),
                 cr_gaussian_network_name(net)[0] ? ", " : "", cr_gaussian_network_name(net),
                 cr_gaussian_network_size(net), count_arcs(net));
    out_table(c, rows);
    json_decref(rows);
}

cr_status cli_describe_gaussian(cli *c, const cr_gaussian_network *net)
{
    cr_status st = CR_OK;
    size_t    n = cr_gaussian_network_size(net);
    json_t   *root = json_object(), *variables = json_array(), *about = json_object();
    double   *mean = cr_alloc(c->cx, n, sizeof *mean);
    double   *cov = mean ? cr_alloc(c->cx, n * n, sizeof *cov) : NULL;
    if (!cov) CR_TRY(CR_ENOMEM);
    CR_TRY(cr_gaussian_network_joint(c->cx, net, mean, cr_mat_of(cov, n, n)));
    for (size_t v = 0; v < n; v++)
        json_array_append_new(variables, variable_row(net, v, mean[v], sqrt(cov[v * (n + 1)])));
    json_object_set_new(about, "name", json_string_nocheck(cr_gaussian_network_name(net)));
    json_object_set_new(about, "type", json_string("gaussian"));
    json_object_set_new(about, "nodes", json_integer((json_int_t)n));
    json_object_set_new(about, "arcs", json_integer((json_int_t)count_arcs(net)));
    json_object_set_new(about, "parameters", json_integer((json_int_t)(2 * n + count_arcs(net))));
    json_object_set_new(root, "file", json_string_nocheck(file_name(c)));
    json_object_set_new(root, "kind", json_string("network"));
    json_object_set(root, "network", about);
    json_object_set(root, "variables", variables);
    CR_TRY(cli_check_strict(c));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_json(c, "describe", root);
    else
        print_description(c, net, variables);
done:
    cr_free(c->cx, cov, n * n, sizeof *cov);
    cr_free(c->cx, mean, n, sizeof *mean);
    json_decref(root);
    json_decref(about);
    json_decref(variables);
    return st;
}

cr_status cli_check_gaussian(cli *c, const cr_gaussian_network *net)
{
    cr_status st = CR_OK;
    size_t    n = cr_gaussian_network_size(net);
    json_t   *root = json_object(), *rows = json_array();
    json_object_set_new(root, "file", json_string_nocheck(file_name(c)));
    json_object_set_new(root, "kind", json_string("network"));
    json_object_set_new(root, "sound", json_true());
    json_array_append(rows, root);
    CR_TRY(cli_check_strict(c));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_json(c, "check", root);
    else if (c->format == FORMAT_CSV)
        out_table(c, rows);
    else
        out_text(c, "%s: a sound Gaussian network, %zu nodes, %zu parameters\n", file_name(c), n,
                 2 * n + count_arcs(net));
done:
    json_decref(root);
    json_decref(rows);
    return st;
}

cr_status cli_convert_gaussian(cli *c, const cr_gaussian_network *net, const char *to,
                               cr_network_format format)
{
    if (format != CR_FORMAT_JSON && format != CR_FORMAT_CRED) {
        cr_fail(c->cx, CR_EARG, "%s is a Gaussian network, and only .json and .cred hold such",
                file_name(c));
        return cr_fail_hint(c->cx, "end the name in .json or .cred, or give --to json");
    }
    return cr_gaussian_network_write(c->cx, net, strcmp(to, "-") == 0 ? "/dev/stdout" : to, format);
}
