/* compare_groups.c -- the comparison of groups of rows, shown. */
#include "compare.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

/* A posterior of the registry: its class and parameters; false when it is none. */
typedef struct posterior {
    const cr_dist_class *c;
    double               v[8];
    size_t               n;
} posterior;

static bool read_posterior(const json_t *parameter, posterior *out)
{
    const json_t *d = json_object_get(parameter, "posterior");
    const char   *family = json_string_value(json_object_get(d, "family"));
    out->c = NULL, out->n = 0;
    for (size_t i = 0; family && i < cr_dist_count(); i++)
        if (strcmp(cr_dist_name(cr_dist_at(i)), family) == 0) out->c = cr_dist_at(i);
    if (!out->c || cr_dist_is_vector(out->c)) return false;
    for (const cr_dist_param *p; (p = cr_dist_parameter(out->c, out->n)) && out->n < 8;) {
        const json_t *x = json_object_get(d, p->name);
        if (!json_is_number(x)) return false;
        out->v[out->n++] = json_number_value(x);
    }
    return cr_dist_offers(out->c, "cdf");
}

/* P(first > second) for each parameter whose posterior is known by name. */
static cr_status add_differences(cli *c, const cr_group_comparison *g, const json_t *groups,
                                 json_t *out)
{
    cr_status     st = CR_OK;
    const json_t *one = json_object_get(json_array_get(groups, 0), "parameters");
    const json_t *two = json_object_get(json_array_get(groups, 1), "parameters");
    for (size_t i = 0; i < json_array_size(one) && i < json_array_size(two); i++) {
        posterior a, b;
        double    p;
        json_t   *row;
        bool circle = strstr(json_string_value(json_object_get(json_array_get(one, i), "name")),
                             ".direction") != NULL; /* which of two directions is greater? */
        if (circle || !read_posterior(json_array_get(one, i), &a) ||
            !read_posterior(json_array_get(two, i), &b))
            continue;
        CR_TRY(cr_probability_greater(c->cx, a.c, a.v, a.n, b.c, b.v, b.n, &p));
        row = json_object();
        json_object_set(row, "name", json_object_get(json_array_get(one, i), "name"));
        json_object_set_new(row, "greater", json_string_nocheck(g->groups[0].name));
        json_object_set_new(row, "than", json_string_nocheck(g->groups[1].name));
        json_object_set_new(row, "probability", json_real(p));
        json_array_append_new(out, row);
    }
done:
    return st;
}

static cr_status add_groups(cli *c, const cr_group_comparison *g, json_t *out)
{
    cr_status st = CR_OK;
    for (size_t k = 0; k < g->n; k++) {
        const cr_report *r = cr_model_get_report(g->groups[k].model);
        json_t          *d = NULL, *group = json_object();
        json_array_append_new(out, group);
        CR_TRY(cli_describe_model(c, g->groups[k].model, &d));
        json_object_set_new(group, "group", json_string_nocheck(g->groups[k].name));
        json_object_set_new(group, "rows", json_integer((json_int_t)r->rows));
        json_object_set_new(group, "log_evidence", number(r->log_evidence));
        json_object_set(group, "parameters", json_object_get(d, "parameters"));
        json_decref(d);
    }
done:
    return st;
}

/* A parameter of a group, without what the table has no room for. */
static json_t *parameter_row(const json_t *group, const json_t *parameter)
{
    json_t     *row = json_object(), *value;
    const char *key;
    json_object_set(row, "group", json_object_get(group, "group"));
    json_object_set(row, "rows", json_object_get(group, "rows"));
    json_object_foreach((json_t *)(uintptr_t)parameter, key,
                        value) if (strcmp(key, "mode") != 0 && strncmp(key, "hdi", 3) != 0)
        json_object_set(row, key, value);
    return row;
}

/* One line per group and parameter. */
static json_t *group_table(const json_t *groups)
{
    json_t *rows = json_array(), *group, *parameter;
    size_t  i, k;
    json_array_foreach(groups, i, group)
        json_array_foreach(json_object_get(group, "parameters"), k, parameter)
            json_array_append_new(rows, parameter_row(group, parameter));
    return rows;
}

/* --- for programs: one table, a line for each quantity --------------------------------------- */

/* A line of the quantity, which comes first; group and name may be NULL. */
static json_t *add_line(json_t *lines, const char *quantity, json_t *opt_group, json_t *opt_name,
                        json_t *value)
{
    json_t *line = json_object();
    json_object_set_new(line, "quantity", json_string(quantity));
    if (opt_group) json_object_set(line, "group", opt_group);
    if (opt_name) json_object_set(line, "name", opt_name);
    json_object_set(line, "value", value);
    json_array_append_new(lines, line);
    return line;
}

/* The columns are those of the first line: it gets all that occur in the others. */
static void complete_header(json_t *lines, const json_t *table)
{
    static const char *const first[] = { "quantity", "group", "than", "rows", "name", "value" };
    json_t                  *line = json_array_get(lines, 0), *head = json_object(), *row, *unused;
    const char              *key;
    size_t                   i;
    for (i = 0; i < sizeof first / sizeof *first; i++)
        json_object_set_new(head, first[i], json_null());
    json_array_foreach(table, i, row)
        json_object_foreach(row, key, unused) if (!json_object_get(head, key))
            json_object_set_new(head, key, json_null());
    json_object_update(head, line);
    json_array_set_new(lines, 0, head);
}

/* The answer, then the evidence and the parameters of each group. */
static json_t *long_table(const json_t *root, const json_t *table)
{
    static const char *const answers[] = { "log_bayes_factor", "probability", "pooled_log_evidence",
                                           "separate_log_evidence" };
    json_t                  *lines = json_array(), *row, *line;
    size_t                   i;
    for (i = 0; i < sizeof answers / sizeof *answers; i++)
        line = add_line(lines, answers[i], NULL, NULL, json_object_get(root, answers[i]));
    json_array_foreach(json_object_get(root, "differences"), i, row)
    {
        line = add_line(lines, "probability_greater", json_object_get(row, "greater"),
                        json_object_get(row, "name"), json_object_get(row, "probability"));
        json_object_set(line, "than", json_object_get(row, "than"));
    }
    json_array_foreach(json_object_get(root, "groups"), i, row)
    {
        line = add_line(lines, "log_evidence", json_object_get(row, "group"), NULL,
                        json_object_get(row, "log_evidence"));
        json_object_set(line, "rows", json_object_get(row, "rows"));
    }
    json_array_foreach(table, i, row)
    {
        line = add_line(lines, "parameter", NULL, NULL, json_object_get(row, "value"));
        json_object_update(line, row);
    }
    complete_header(lines, table);
    return lines;
}

static void print_text(cli *c, const cr_table *t, const cr_group_comparison *g, const json_t *root,
                       const cr_group_options *o, const json_t *table)
{
    json_t *differences = json_object_get(root, "differences"), *row;
    size_t  i;
    out_text(c, "%s by %s: %zu groups, %zu rows of %s, seed %llu\n\n", c->args[0], o->by, g->n,
             cr_model_get_report(g->pooled)->rows, cr_table_source(t),
             (unsigned long long)cr_model_get_seed(g->pooled));
    out_text(c, "  log evidence, one model for all      %.6g\n", g->pooled_log_evidence);
    out_text(c, "  log evidence, one for each group     %.6g\n", g->separate_log_evidence);
    out_text(c, "  log Bayes factor for a difference    %.6g\n", g->log_bayes_factor);
    out_text(c, "  P(the groups differ), prior odds %-5g%.6g\n", o->prior_odds, g->probability);
    if (g->evidence != CR_EVIDENCE_EXACT)
        out_text(c, "  the evidence is                      %s\n", cr_evidence_name(g->evidence));
    out_text(c, "\n");
    out_table(c, table);
    if (json_array_size(differences) > 0) out_text(c, "\n");
    json_array_foreach(differences, i, row)
    {
        out_text(c, "  P(%s greater in %s than in %s) = %.6g\n",
                 json_string_value(json_object_get(row, "name")), g->groups[0].name,
                 g->groups[1].name, json_number_value(json_object_get(row, "probability")));
    }
}

cr_status compare_groups(cli *c, const cr_table *t, const cr_group_options *o)
{
    cr_status           st = CR_OK;
    cr_group_comparison g = { 0 };
    json_t             *root = json_object(), *groups = json_array(), *differences = json_array();
    json_t             *table = NULL, *lines = NULL;

    json_object_set_new(root, "model", json_string_nocheck(c->args[0]));
    json_object_set_new(root, "by", json_string_nocheck(o->by));
    CR_TRY(cr_compare_groups(c->cx, c->args[0], t, c->settings, c->n_settings, o, &g));
    CR_TRY(cli_check_strict(c));
    json_object_set_new(root, "rows",
                        json_integer((json_int_t)cr_model_get_report(g.pooled)->rows));
    json_object_set_new(root, "pooled_log_evidence", number(g.pooled_log_evidence));
    json_object_set_new(root, "separate_log_evidence", number(g.separate_log_evidence));
    json_object_set_new(root, "log_bayes_factor", number(g.log_bayes_factor));
    json_object_set_new(root, "prior_odds", json_real(o->prior_odds));
    json_object_set_new(root, "probability", number(g.probability));
    json_object_set_new(root, "evidence", json_string(cr_evidence_name(g.evidence)));
    json_object_set_new(root, "seed", json_integer((json_int_t)cr_model_get_seed(g.pooled)));
    json_object_set(root, "groups", groups);
    json_object_set(root, "differences", differences);
    CR_TRY(add_groups(c, &g, groups));
    if (g.n == 2) CR_TRY(add_differences(c, &g, groups, differences));
    table = group_table(groups);
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_json(c, "compare", root);
    else if (c->format == FORMAT_CSV)
        out_table(c, lines = long_table(root, table));
    else
        print_text(c, t, &g, root, o, table);
done:
    json_decref(root);
    json_decref(groups);
    json_decref(differences);
    json_decref(table);
    json_decref(lines);
    cr_group_comparison_free(c->cx, &g);
    return st;
}
