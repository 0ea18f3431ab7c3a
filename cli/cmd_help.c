/* cmd_help.c -- help, models, version: the program about itself, all from the tables. */
#include "cli.h"
#include "math/blas.h"

#include <stdio.h>
#include <string.h>

/* --- help ------------------------------------------------------------------------------------ */

/* "--max-iter N", "--[no-]intercept", "-o, --output TEXT". */
static void spell_option(const cr_option *o, char out[96])
{
    char name[64], letter[8] = "";
    bool on = o->kind == CR_OPTION_flag && o->fallback[0] == 't';
    if (cli_letter(o->name)) snprintf(letter, sizeof letter, "-%c, ", cli_letter(o->name));
    snprintf(out, 96, "%s--%s%s%s%s", letter, on ? "no-" : "", cli_spell(o->name, name),
             o->kind == CR_OPTION_flag ? "" : " ", cli_value_word(o));
}

void cli_print_options(cli *c, const cr_option *table, const char *title)
{
    char spelled[96];
    out_text(c, "\n%s\n", title);
    for (const cr_option *o = table; o->name; o++) {
        bool flag = o->kind == CR_OPTION_flag;
        spell_option(o, spelled);
        out_text(c, "  %-24s %s%s", spelled, flag && o->fallback[0] == 't' ? "do not " : "", o->help);
        if (!flag && cli_range(o)[0]) out_text(c, "; %s", cli_range(o));
        if (!flag && o->fallback[0]) out_text(c, " [%s]", o->fallback);
        out_text(c, "\n");
    }
}

static void print_program_help(cli *c)
{
    out_text(c, "credence %s: probabilistic machine learning. Data in, a posterior out.\n\n",
             CREDENCE_VERSION);
    out_text(c, "usage: credence VERB [OPTIONS] [INPUT...]\n\n");
    for (size_t i = 0; cli_verbs[i]; i++)
        out_text(c, "  %-10s %s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
    out_text(c, "\nA first session:\n");
    for (const char *line = cli_verb_find("fit")->example; *line;) {
        size_t n = strcspn(line, "\n");
        out_text(c, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
        break;
    }
    out_text(c, "  %s\n", cli_verb_find("predict")->example);
    out_text(c, "\ncredence help VERB explains a verb, credence models NAME a model.\n");
}

void cli_print_help(cli *c, const cli_verb *v)
{
    if (!v) {
        print_program_help(c);
        return;
    }
    out_text(c, "usage: credence %s\n\n%s.\n", v->usage, v->summary);
    if (v->options) cli_print_options(c, v->options, "Options:");
    if (v->takes & VERB_FITS) {
        cli_print_options(c, cr_design_table, "Which columns, and how:");
        out_text(c, "\nEach model has options of its own: credence models NAME.\n");
    }
    if (v->takes & VERB_READS) cli_print_options(c, cr_read_table, "Reading data:");
    cli_print_options(c, cr_fit_table, "Everywhere:");
    for (const cr_option *o = cli_global_table; o->name; o++) {
        char spelled[96];
        spell_option(o, spelled);
        out_text(c, "  %-24s %s%s%s\n", spelled, o->help, cli_range(o)[0] ? "; " : "", cli_range(o));
    }
    out_text(c, "\nExamples:\n");
    for (const char *line = v->example; *line;) {
        size_t n = strcspn(line, "\n");
        out_text(c, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static const char *verb_name(const void *unused, size_t i)
{
    (void)unused;
    return cli_verbs[i]->name;
}

static cr_status run_help(cli *c)
{
    const cli_verb *v = c->n_args ? cli_verb_find(c->args[0]) : NULL;
    if (c->n_args && !v) {
        size_t n = 0;
        while (cli_verbs[n]) n++;
        cr_fail(c->cx, CR_EARG, "there is no verb '%s'", c->args[0]);
        return cr_fail_nearest(c->cx, c->args[0], "verbs", n, verb_name, NULL);
    }
    cr_status st = out_open(c, c->global.output);
    if (st == CR_OK) cli_print_help(c, v);
    return st;
}

const cli_verb verb_help = {
    .name = "help",
    .usage = "help [VERB]",
    .summary = "explain the program or a verb",
    .example = "credence help fit",
    .most = 1,
    .run = run_help,
};

/* --- models ---------------------------------------------------------------------------------- */

static json_t *options_array(const cr_option *table)
{
    static const char *const kinds[] = { "", "flag", "count", "real", "choice", "text", "list" };
    json_t *array = json_array();
    for (const cr_option *o = table; o->name; o++) {
        json_t *row = json_object();
        json_object_set_new(row, "name", json_string(o->name));
        json_object_set_new(row, "kind", json_string(kinds[o->kind]));
        json_object_set_new(row, "default", json_string(o->fallback));
        json_object_set_new(row, "range", json_string(o->range));
        json_object_set_new(row, "help", json_string(o->help));
        json_object_set_new(row, "example", json_string(o->example));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *model_object(const cr_model_class *m, bool whole)
{
    json_t *row = json_object();
    json_object_set_new(row, "name", json_string(cr_class_name(m)));
    json_object_set_new(row, "task", json_string(cr_task_name(cr_class_tasks(m))));
    json_object_set_new(row, "update", json_boolean(cr_class_offers(m, "update")));
    json_object_set_new(row, "summary", json_string(cr_class_summary(m)));
    if (!whole) return row;
    json_object_set_new(row, "formulas", json_string(cr_class_formulas(m)));
    json_object_set_new(row, "reference", json_string(cr_class_reference(m)));
    json_object_set_new(row, "options", options_array(cr_class_options(m)));
    return row;
}

static void print_model_page(cli *c, const cr_model_class *m)
{
    out_text(c, "%s - %s\n\n", cr_class_name(m), cr_class_summary(m));
    for (const char *line = cr_class_formulas(m); *line;) {
        size_t n = strcspn(line, "\n");
        out_text(c, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    cli_print_options(c, cr_class_options(m), "Options:");
    out_text(c, "\nOptions of data and design: credence help fit\n\nExample:\n");
    out_text(c, "  credence fit %s examples/diabetes.csv --target progression\n", cr_class_name(m));
    out_text(c, "\nReference: %s\n", cr_class_reference(m));
}

static cr_status run_models(cli *c)
{
    cr_status             st = CR_OK;
    const cr_model_class *m = NULL;
    json_t               *root = json_object(), *rows = json_array();
    if (c->n_args && !(m = cr_class_find(c->cx, c->args[0]))) CR_TRY(CR_EARG);
    for (size_t i = 0; i < cr_class_count(); i++)
        json_array_append_new(rows, model_object(cr_class_at(i), c->format == FORMAT_JSON));
    json_object_set(root, "models", rows);
    CR_TRY(out_open(c, c->global.output));
    if (m && c->format == FORMAT_JSON) {
        json_t *one = model_object(m, true);
        st = out_json(c, "models", one);
        json_decref(one);
    } else if (m) print_model_page(c, m);
    else if (c->format == FORMAT_JSON) st = out_json(c, "models", root);
    else out_table(c, rows);
done:
    json_decref(root);
    json_decref(rows);
    return st;
}

const cli_verb verb_models = {
    .name = "models",
    .usage = "models [NAME]",
    .summary = "the models there are, or the manual page of one",
    .example = "credence models\n"
               "credence models ridge",
    .most = 1,
    .run = run_models,
    .result = result_models,
};

/* --- version --------------------------------------------------------------------------------- */

static cr_status run_version(cli *c)
{
    cr_blas_info blas = cr_blas_query();
    cr_status    st = out_open(c, c->global.output);
    if (st != CR_OK) return st;
    if (c->format != FORMAT_JSON) {
        out_text(c, "credence %s (%s, %s kernel%s)\n", CREDENCE_VERSION, blas.library, blas.kernel,
                 blas.slow ? ", slow on this CPU" : "");
        return CR_OK;
    }
    json_t *root = json_object(), *b = json_object();
    json_object_set_new(root, "version", json_string(CREDENCE_VERSION));
    json_object_set_new(root, "compiler", json_string(__VERSION__));
    json_object_set_new(root, "threads", json_integer((json_int_t)cr_ctx_threads(c->cx)));
    json_object_set_new(root, "blas", b);
    json_object_set_new(b, "library", json_string(blas.library));
    json_object_set_new(b, "kernel", json_string(blas.kernel));
    json_object_set_new(b, "slow", json_boolean(blas.slow));
    json_object_set_new(b, "better", json_string(blas.better));
    st = out_json(c, "version", root);
    json_decref(root);
    return st;
}

const cli_verb verb_version = {
    .name = "version",
    .usage = "version [--json]",
    .summary = "version, and which matrix kernels run",
    .example = "credence version --json",
    .takes = VERB_FACTORISES,
    .run = run_version,
    .result = result_version,
};
