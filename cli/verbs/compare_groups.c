/* compare_groups.c -- the comparison of groups of rows, shown. */
#include "compare.h"
#include "models/core/describe.h"
#include "prob/dist/dist.h"

#include <math.h>
#include <string.h>

/* A posterior of the registry: its class and parameters; false when it is none. */
typedef struct posterior {
    const cr_dist_class *c;
    double               v[8];
    size_t               n;
} posterior;

static bool read_posterior(const cri_sheet *parameter, posterior *out)
{
    const cri_sheet *d = cri_sheet_get(parameter, "posterior");
    const char      *family = cri_sheet_text(cri_sheet_get(d, "family"));
    out->c = NULL, out->n = 0;
    for (size_t i = 0; family && i < cr_dist_count(); i++)
        if (strcmp(cr_dist_name(cr_dist_at(i)), family) == 0) out->c = cr_dist_at(i);
    if (!out->c || cr_dist_is_vector(out->c)) return false;
    for (const cr_dist_param *p; (p = cr_dist_parameter(out->c, out->n)) && out->n < 8;) {
        double x = cri_sheet_real(cri_sheet_get(d, p->name));
        if (isnan(x)) return false;
        out->v[out->n++] = x;
    }
    return cr_dist_offers(out->c, "cdf");
}

static const char *text_of(const cri_sheet *row, const char *name)
{
    return cri_sheet_text(cri_sheet_get(row, name));
}

/* P(first > second) for each parameter whose posterior is known by name. */
static cr_status add_differences(cli *c, const cr_group_comparison *g, const cri_sheet *groups,
                                 cri_sheet *out)
{
    cr_status        st = CR_OK;
    const cri_sheet *first = cri_sheet_first(groups), *second = cri_sheet_next(first);
    const cri_sheet *one = cri_sheet_first(cri_sheet_get(first, "parameters"));
    const cri_sheet *two = cri_sheet_first(cri_sheet_get(second, "parameters"));
    for (; one && two; one = cri_sheet_next(one), two = cri_sheet_next(two)) {
        posterior a, b;
        double    p;
        bool      circle = strstr(text_of(one, "name"), ".direction") != NULL; /* has no greater */
        if (circle || !read_posterior(one, &a) || !read_posterior(two, &b)) continue;
        CR_TRY(cr_probability_greater(c->cx, a.c, a.v, a.n, b.c, b.v, b.n, &p));
        cri_sheet *row = cri_put_object(out, NULL);
        cri_put_text(row, "name", text_of(one, "name"));
        cri_put_text(row, "greater", g->groups[0].name);
        cri_put_text(row, "than", g->groups[1].name);
        cri_put_real(row, "probability", p);
    }
done:
    return st;
}

/* Posteriors that lie apart, but evidence for no difference: each separate model paid for a prior that is far wider
 * than the data (Lindley 1957), which then decides. */
static void warn_of_vague_prior(cli *c, const cr_group_comparison *g, const cri_sheet *differences)
{
    const double APART = 1e-3;
    for (const cri_sheet *d = cri_sheet_first(differences); d; d = cri_sheet_next(d)) {
        double p = cri_sheet_real(cri_sheet_get(d, "probability"));
        if (g->log_bayes_factor >= 0 || (p > APART && p < 1 - APART)) continue;
        cr_log(c->cx, CR_LOG_WARNING,
               "the prior decides here: the posteriors of %s lie apart, and yet the evidence is "
               "for no difference, as "
               "it is with any prior that is far wider than the data; --prior with what you would "
               "have expected makes "
               "it a fair question",
               text_of(d, "name"));
        return;
    }
}

static cr_status add_groups(cli *c, const cr_group_comparison *g, cri_sheet *out)
{
    for (size_t k = 0; k < g->n; k++) {
        const cr_report *r = cr_model_get_report(g->groups[k].model);
        cri_sheet       *d = NULL, *group = cri_put_object(out, NULL);
        cr_status        st = cri_model_describe(c->cx, g->groups[k].model, &d);
        if (st != CR_OK) return st;
        cri_put_text(group, "group", g->groups[k].name);
        cri_put_count(group, "rows", r->rows);
        cri_put_real(group, "log_evidence", r->log_evidence);
        cri_put_copy(group, "parameters", cri_sheet_get(d, "parameters"));
        cri_sheet_free(d);
    }
    return CR_OK;
}

/* A parameter of a group, without what a table has no room for. */
static void put_parameter(const cri_sheet *group, const cri_sheet *parameter, cri_sheet *row)
{
    cri_put_copy(row, "group", cri_sheet_get(group, "group"));
    cri_put_copy(row, "rows", cri_sheet_get(group, "rows"));
    for (const cri_sheet *v = cri_sheet_first(parameter); v; v = cri_sheet_next(v)) {
        const char *name = cri_sheet_name(v);
        if (strcmp(name, "mode") != 0 && strncmp(name, "hdi", 3) != 0) cri_put_copy(row, name, v);
    }
}

/* One line per group and parameter; of programs with the word "parameter" first. */
static void add_parameters(const cri_sheet *groups, const char *opt_quantity, cri_sheet *rows)
{
    const cri_sheet *group, *p;
    for (group = cri_sheet_first(groups); group; group = cri_sheet_next(group))
        for (p = cri_sheet_first(cri_sheet_get(group, "parameters")); p; p = cri_sheet_next(p)) {
            cri_sheet *row = cri_put_object(rows, NULL);
            if (opt_quantity) cri_put_text(row, "quantity", opt_quantity);
            put_parameter(group, p, row);
        }
}

/* For programs: one table, a line for each quantity: the answer, then the evidence and the parameters
 * of each group.  The first line has the columns in their order. */
static void add_lines(const cri_sheet *root, cri_sheet *lines)
{
    static const char *const answers[] = { "log_bayes_factor", "probability", "pooled_log_evidence",
                                           "separate_log_evidence" };
    static const char *const empty[] = { "group", "than", "rows", "name" };
    const cri_sheet         *row;
    cri_sheet               *line;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        line = cri_put_object(lines, NULL);
        cri_put_text(line, "quantity", answers[i]);
        for (size_t k = 0; i == 0 && k < sizeof empty / sizeof *empty; k++)
            cri_put_null(line, empty[k]);
        cri_put_copy(line, "value", cri_sheet_get(root, answers[i]));
    }
    row = cri_sheet_first(cri_sheet_get(root, "differences"));
    for (; row; row = cri_sheet_next(row)) {
        line = cri_put_object(lines, NULL);
        cri_put_text(line, "quantity", "probability_greater");
        cri_put_copy(line, "group", cri_sheet_get(row, "greater"));
        cri_put_copy(line, "than", cri_sheet_get(row, "than"));
        cri_put_copy(line, "name", cri_sheet_get(row, "name"));
        cri_put_copy(line, "value", cri_sheet_get(row, "probability"));
    }
    row = cri_sheet_first(cri_sheet_get(root, "groups"));
    for (; row; row = cri_sheet_next(row)) {
        line = cri_put_object(lines, NULL);
        cri_put_text(line, "quantity", "log_evidence");
        cri_put_copy(line, "group", cri_sheet_get(row, "group"));
        cri_put_copy(line, "rows", cri_sheet_get(row, "rows"));
        cri_put_copy(line, "value", cri_sheet_get(row, "log_evidence"));
    }
    add_parameters(cri_sheet_get(root, "groups"), "parameter", lines);
}

static void print_text(cli *c, const cr_table *t, const cr_group_comparison *g,
                       const cri_sheet *root, const cr_group_options *o, const cri_sheet *table)
{
    const cri_sheet *row = cri_sheet_first(cri_sheet_get(root, "differences"));
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
    out_rows(c, table);
    if (row) out_text(c, "\n");
    for (; row; row = cri_sheet_next(row))
        out_text(c, "  P(%s greater in %s than in %s) = %.6g\n", text_of(row, "name"),
                 g->groups[0].name, g->groups[1].name,
                 cri_sheet_real(cri_sheet_get(row, "probability")));
}

static void fill(const cli *c, const cr_group_comparison *g, const cr_group_options *o,
                 cri_sheet *root)
{
    cri_put_text(root, "model", c->args[0]);
    cri_put_text(root, "by", o->by);
    cri_put_count(root, "rows", cr_model_get_report(g->pooled)->rows);
    cri_put_real(root, "pooled_log_evidence", g->pooled_log_evidence);
    cri_put_real(root, "separate_log_evidence", g->separate_log_evidence);
    cri_put_real(root, "log_bayes_factor", g->log_bayes_factor);
    cri_put_real(root, "prior_odds", o->prior_odds);
    cri_put_real(root, "probability", g->probability);
    cri_put_text(root, "evidence", cr_evidence_name(g->evidence));
    cri_put_count(root, "seed", cr_model_get_seed(g->pooled));
}

cr_status compare_groups(cli *c, const cr_table *t, const cr_group_options *o)
{
    cr_status           st = CR_OK;
    cr_group_comparison g = { 0 };
    cli_result          r = cli_result_new(c);
    cri_sheet          *groups, *differences;

    CR_TRY(cr_compare_groups(c->cx, c->args[0], t, c->settings, c->n_settings, o, &g));
    fill(c, &g, o, r.object);
    groups = cri_put_list(r.object, "groups");
    differences = cri_put_list(r.object, "differences");
    CR_TRY(add_groups(c, &g, groups));
    if (g.n == 2) CR_TRY(add_differences(c, &g, groups, differences));
    warn_of_vague_prior(c, &g, differences);
    if (c->format == FORMAT_CSV)
        add_lines(r.object, r.rows);
    else
        add_parameters(groups, NULL, r.rows);
    if (c->format != FORMAT_TEXT) {
        CR_TRY(cli_result_print(c, r));
        goto done;
    }
    CR_TRY(cli_result_open(c, r));
    print_text(c, t, &g, r.object, o, r.rows);
done:
    cli_result_free(r);
    cr_group_comparison_free(c->cx, &g);
    return st;
}
