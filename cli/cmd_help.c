/* cmd_help.c -- help, models, version: the program about itself, all from the tables. */
#include "cli.h"
#include "kernel_pages.h"
#include "surface.h"
#include "math/blas.h"
#include "math/kernel/kernel.h"

#include <ctype.h>
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

/* "auto|yes|no", "0 < X < 1", ">=2": the range as people write it. */
static void spell_range(const cr_option *o, char *out, size_t size)
{
    const char *r = cli_range(o), *dots = strstr(r, "<..<");
    if (dots)
        snprintf(out, size, "%.*s < X < %s", (int)(dots - r), r, dots + 4);
    else
        snprintf(out, size, "%s", r);
}

/* Words up to the right edge; further lines begin at column `indent`. */
static void print_wrapped(cli *c, const char *text, size_t column, size_t indent)
{
    enum { EDGE = 80 };
    bool fresh = true;
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        if (!fresh && column + 1 + n > EDGE) {
            out_text(c, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        while (fresh && column + n > EDGE) { /* a long list of choices goes on after a bar */
            size_t part = EDGE - column;
            while (part > 0 && text[part - 1] != '|') part--;
            if (part == 0) break;
            out_text(c, "%.*s\n%*s", (int)part, text, (int)indent, "");
            text += part, n -= part;
        }
        out_text(c, "%s%.*s", fresh ? "" : " ", (int)n, text);
        column += n + !fresh;
        fresh = false;
    }
    out_text(c, "\n");
}

void cli_print_options(cli *c, const cr_option *table, const char *title)
{
    enum { INDENT = 27 };
    char spelled[96], range[256], text[1024];
    if (title) out_text(c, "\n%s\n", title);
    for (const cr_option *o = table; o->name; o++) {
        bool flag = o->kind == CR_OPTION_flag, value = !flag && o->fallback[0];
        bool off = flag && o->fallback[0] == 't'; /* it is on, so the option is to switch it off */
        spell_option(o, spelled);
        spell_range(o, range, sizeof range);
        snprintf(text, sizeof text, "%s%s%s%s%s%s%s", off ? "do not " : "", o->help,
                 range[0] ? "; " : "", range, value ? " [" : "", value ? o->fallback : "",
                 value ? "]" : "");
        out_text(c, "  %-24s ", spelled);
        print_wrapped(c, text, INDENT, INDENT);
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
    out_lines(c, cli_verb_find("fit")->example, 1);
    out_lines(c, cli_verb_find("predict")->example, 1);
    out_text(c, "\ncredence help VERB explains a verb, credence models NAME a model.\n");
}

void cli_print_help(cli *c, const cli_verb *v)
{
    if (!v) {
        print_program_help(c);
        return;
    }
    out_text(c, "usage: credence %s\n\n%c%s.\n", v->usage, toupper((unsigned char)v->summary[0]),
             v->summary + 1);
    if (v->options) cli_print_options(c, v->options, "Options:");
    if (v->takes & VERB_FITS) {
        cli_print_options(c, cr_design_table, "Which columns, and how:");
        out_text(c, "\nEach model has options of its own: credence models NAME.\n");
    }
    if (v->takes & VERB_READS) cli_print_options(c, cr_read_table, "Reading data:");
    if (v->takes & VERB_FITS)
        cli_print_options(c, cr_fit_table, "Every model:");
    else
        cli_print_options(c, cli_seed_table, "Everywhere:");
    cli_print_options(c, cli_global_table, v->takes & VERB_FITS ? "Everywhere:" : NULL);
    out_text(c, "\nExamples:\n");
    out_lines(c, v->example, SIZE_MAX);
}

/* --- options as JSON ------------------------------------------------------------------------- */

static json_t *options_array(const cr_option *const *tables, size_t n)
{
    static const char *const kinds[] = { "", "flag", "count", "real", "choice", "text", "list" };
    json_t                  *array = json_array();
    for (size_t i = 0; i < n; i++)
        for (const cr_option *o = tables[i]; o->name; o++) {
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

static json_t *verb_object(const cli_verb *v)
{
    const cr_option *tables[CLI_MOST_TABLES];
    size_t           n = cli_tables(v, tables);
    json_t          *object = json_object();
    json_object_set_new(object, "name", json_string(v->name));
    json_object_set_new(object, "usage", json_string(v->usage));
    json_object_set_new(object, "summary", json_string(v->summary));
    json_object_set_new(object, "example", json_string(v->example));
    json_object_set_new(object, "options", options_array(tables, n));
    return object;
}

static void print_help_json(cli *c, const cli_verb *opt_verb)
{
    json_t *root = opt_verb ? verb_object(opt_verb) : json_object(), *verbs = json_array();
    for (size_t i = 0; cli_verbs[i]; i++) json_array_append_new(verbs, verb_object(cli_verbs[i]));
    if (!opt_verb) json_object_set(root, "verbs", verbs);
    out_json(c, "help", root);
    json_decref(root);
    json_decref(verbs);
}

/* --- the verb help --------------------------------------------------------------------------- */

static void print_model(cli *c, const cr_model_class *m);

/* Verbs, then models. */
static const char *topic_name(const void *verbs, size_t i)
{
    size_t n = *(const size_t *)verbs;
    return i < n ? cli_verbs[i]->name : cr_class_name(cr_class_at(i - n));
}

static cr_status unknown_topic(cli *c, const char *name)
{
    size_t n = 0;
    while (cli_verbs[n]) n++;
    if (cr_kernel_find(c->cx, name)) {
        cr_fail(c->cx, CR_EARG, "'%s' is a kernel, not a verb or a model", name);
        return cr_fail_hint(c->cx, "credence help kernels %s explains it", name);
    }
    cr_fail(c->cx, CR_EARG, "there is no verb or model '%s'", name);
    return cr_fail_nearest(c->cx, name, "verbs and models", n + cr_class_count(), topic_name, &n);
}

static cr_status run_help(cli *c)
{
    cr_status             st = CR_OK;
    const cli_verb       *v = c->n_args ? cli_verb_find(c->args[0]) : NULL;
    const cr_model_class *m = c->n_args && !v ? cr_class_find(c->cx, c->args[0]) : NULL;
    if (c->n_args && strcmp(c->args[0], "kernels") == 0)
        return cli_kernels(c, c->n_args > 1 ? c->args[1] : NULL);
    if (c->n_args > 1)
        CR_TRY(cr_fail(c->cx, CR_EARG, "help explains one thing: '%s' is one argument too many",
                       c->args[1]));
    if (c->n_args && !v && !m) CR_TRY(unknown_topic(c, c->args[0]));
    CR_TRY(out_open(c, c->global.output));
    if (m)
        print_model(c, m);
    else if (c->format == FORMAT_JSON)
        print_help_json(c, v);
    else
        cli_print_help(c, v);
done:
    return st;
}

const cli_verb verb_help = {
    .name = "help",
    .usage = "help [VERB] [KERNEL]",
    .summary = "explain the program, a verb or a model; help kernels [KERNEL]: kernels",
    .example = "credence help fit\n"
               "credence help kernels spectrum",
    .most = 2,
    .run = run_help,
    .result = result_help,
};

/* --- models ---------------------------------------------------------------------------------- */

static json_t *model_object(const cr_model_class *m, bool whole)
{
    json_t *row = json_object();
    char    tasks[128];
    json_object_set_new(row, "name", json_string(cr_class_name(m)));
    json_object_set_new(row, "task", json_string(cli_tasks(cr_class_tasks(m), tasks)));
    json_object_set_new(row, "update", json_boolean(cr_class_offers(m, "update")));
    json_object_set_new(row, "summary", json_string(cr_class_summary(m)));
    if (!whole) return row;
    json_object_set_new(row, "formulas", json_string(cr_class_formulas(m)));
    json_object_set_new(row, "reference", json_string(cr_class_reference(m)));
    const cr_option *options = cr_class_options(m);
    json_object_set_new(row, "options", options_array(&options, 1));
    return row;
}

static void print_model_page(cli *c, const cr_model_class *m)
{
    out_text(c, "%s - %s\n\n", cr_class_name(m), cr_class_summary(m));
    out_lines(c, cr_class_formulas(m), SIZE_MAX);
    cli_print_options(c, cr_class_options(m), "Options:");
    out_text(c, "\nOptions of data and design: credence help fit\n\nExample:\n");
    out_text(c, "  credence fit %s %s\n", cr_class_name(m), cr_class_example(m));
    out_text(c, "\n%s.\n", reference_update(m));
    out_text(c, "\nReference: %s\n", cr_class_reference(m));
}

static void print_model(cli *c, const cr_model_class *m)
{
    json_t *object = model_object(m, true);
    if (c->format == FORMAT_JSON)
        out_json(c, "models", object);
    else
        print_model_page(c, m);
    json_decref(object);
}

static cr_status run_models(cli *c)
{
    cr_status             st = CR_OK;
    const cr_model_class *m = NULL;
    json_t               *root = json_object(), *rows = json_array();
    if (c->n_args && strcmp(c->args[0], "kernels") == 0) {
        CR_TRY(cli_kernels(c, c->n_args > 1 ? c->args[1] : NULL));
        goto done;
    }
    if (c->n_args > 1)
        CR_TRY(cr_fail(c->cx, CR_EARG, "models explains one model: '%s' is one argument too many",
                       c->args[1]));
    if (c->n_args && !(m = cr_class_find(c->cx, c->args[0]))) CR_TRY(CR_EARG);
    for (size_t i = 0; i < cr_class_count(); i++)
        json_array_append_new(rows, model_object(cr_class_at(i), c->format == FORMAT_JSON));
    json_object_set(root, "models", rows);
    CR_TRY(out_open(c, c->global.output));
    if (m)
        print_model(c, m);
    else if (c->format == FORMAT_JSON)
        out_json(c, "models", root);
    else
        out_table(c, rows);
done:
    json_decref(root);
    json_decref(rows);
    return st;
}

const cli_verb verb_models = {
    .name = "models",
    .usage = "models [NAME] [KERNEL]",
    .summary = "the models there are, or the page of one; models kernels [KERNEL]: kernels",
    .example = "credence models\n"
               "credence models ridge\n"
               "credence models kernels rbf",
    .most = 2,
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
        size_t n = strcspn(blas.library, " "); /* of "OpenBLAS 0.3.21 DYNAMIC_ARCH ..." two words */
        if (blas.library[n]) n += 1 + strcspn(blas.library + n + 1, " ");
        out_text(c, "credence %s (%.*s, %s kernel%s)\n", CREDENCE_VERSION, (int)n, blas.library,
                 blas.kernel, blas.slow ? ", slow on this CPU" : "");
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
    out_json(c, "version", root);
    json_decref(root);
    return CR_OK;
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
