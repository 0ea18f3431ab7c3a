/* cmd_help.c -- help, models, version: the program about itself, all from the tables. */
#include "../cli.h"
#include "../surface/kernel_pages.h"
#include "../surface/surface.h"
#include "math/dense/blas.h"
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

static void print_options(cli *c, const cr_option *table, const char *title)
{
    enum { INDENT = 27 };
    char spelled[96], range[256], text[2048];
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
    out_text(c, "\ncredence help VERB explains a verb, credence models NAME a model, credence help "
                "options\nthe options that most verbs take.\n");
}

/* What most verbs take, as if it were a verb. */
static const cli_verb common_options = {
    .name = "options",
    .usage = "VERB [OPTIONS] [INPUT...]",
    .summary = "options that most verbs take: how data are read, and what happens to the result",
    .example = "credence describe examples/diabetes.csv --delimiter , --json\n"
               "credence describe examples/diabetes.csv --threads 1 --time-limit 1m -o columns.csv",
    .takes = VERB_READS,
};

/* The names of options that are explained on another page. */
static void print_names(cli *c, const char *title, const cr_option *const *tables,
                        const char *explained)
{
    char   text[4096];
    size_t used = 0;
    for (; *tables; tables++)
        for (const cr_option *o = *tables; o->name && used < sizeof text - 128; o++) {
            char name[64];
            bool off = o->kind == CR_OPTION_flag && o->fallback[0] == 't';
            used += (size_t)snprintf(text + used, sizeof text - used, "%s--%s%s", used ? ", " : "",
                                     off ? "no-" : "", cli_spell(o->name, name));
        }
    out_text(c, "\n%s (credence help %s explains them):\n  ", title, explained);
    print_wrapped(c, text, 2, 2);
}

/* The usage line with the name of a model in the place of MODEL, and without a target if the model has none. */
static void print_usage(cli *c, const cli_verb *v, const cr_model_class *opt_m)
{
    static const char target[] = " --target COLUMN";
    const char       *at = opt_m ? strstr(v->usage, "MODEL") : NULL;
    if (!at) {
        out_text(c, "usage: credence %s\n", v->usage);
        return;
    }
    const char *rest = at + strlen("MODEL"), *tail = "";
    int         length = (int)strlen(rest);
    bool        targets = cr_class_tasks(opt_m) & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION);
    const char *cut = targets ? NULL : strstr(rest, target);
    if (cut) length = (int)(cut - rest), tail = cut + strlen(target);
    out_text(c, "usage: credence %.*s%s%.*s%s\n", (int)(at - v->usage), v->usage,
             cr_class_name(opt_m), length, rest, tail);
}

/* `credence fit ridge --help`: what ridge takes, and where the rest is explained. */
static void print_model_help(cli *c, const cli_verb *v, const cr_model_class *m)
{
    const char      *name = cr_class_name(m);
    const cr_option *common[] = { cr_design_table, cr_fit_table, NULL };
    const cr_option *rest[] = { cr_read_table, cli_global_table, NULL };
    print_usage(c, v, m);
    out_text(c, "\n%s: %s.\n\nExample:\n", name, cr_class_summary(m));
    out_text(c, "  credence fit %s %s\n", name, cr_class_example(m));
    if (cr_class_options(m)->name) print_options(c, cr_class_options(m), "Options of the model:");
    if (v->options) print_options(c, v->options, "Options:");
    print_names(c, "Options for columns, common to all models", common, "fit");
    print_names(c, "Options for reading data and for the result", rest, "options");
    out_text(c, "\nThe mathematics: credence models %s\n", name);
}

static void print_verb_help(cli *c, const cli_verb *v)
{
    const cr_option *common[] = { cr_design_table, cr_fit_table, NULL };
    const cr_option *rest[4] = { NULL };
    bool             fits = v->takes & VERB_FITS;
    size_t           n = 0;
    if (v->takes & VERB_READS) rest[n++] = cr_read_table;
    if (!fits) rest[n++] = cli_seed_table;
    rest[n] = cli_global_table;
    print_usage(c, v, NULL);
    out_text(c, "\n%c%s.\n\nExamples:\n", toupper((unsigned char)v->summary[0]), v->summary + 1);
    out_lines(c, v->example, SIZE_MAX);
    if (v->options) print_options(c, v->options, "Options:");
    if (fits)
        out_text(c, "\nEach model also has its own options: credence %s MODEL --help.\n", v->name);
    if (fits && strcmp(v->name, "fit") == 0) {
        print_options(c, cr_design_table, "Columns:");
        print_options(c, cr_fit_table, "Every model:");
    } else if (fits) {
        print_names(c, "Options for columns, common to all models", common, "fit");
    }
    if (v == &common_options) {
        print_options(c, cr_read_table, "Reading data:");
        print_options(c, cli_seed_table, "Everywhere:");
        print_options(c, cli_global_table, NULL);
    } else {
        print_names(c, "Options that most verbs take", rest, "options");
    }
}

void cli_print_help(cli *c, const cli_verb *v)
{
    bool                  named = v && v->takes & VERB_FITS && c->global.help && c->n_args > 0;
    const cr_model_class *m = named ? cli_model_named(c->args[0]) : NULL;
    if (!v)
        print_program_help(c);
    else if (m)
        print_model_help(c, v, m);
    else
        print_verb_help(c, v);
}

/* --- options and verbs, for programs --------------------------------------------------------- */

static const cr_field option[] = {
    CR_TEXT("name", 0, "its name; the shell writes - for _"),
    CR_TEXT("kind", 0, "flag, count, real, choice, text or list"),
    CR_TEXT("default", 0, "default value; empty for none"),
    CR_TEXT("range", 0,
            "bounds, choices separated by bars, or what a text stands for; empty for any"),
    CR_TEXT("help", 0, "one line"),
    CR_TEXT("example", 0, "a value"),
    CR_FIELD_LAST,
};

#define ABOUT_VERB(marks)                                                                          \
    CR_TEXT("name", marks, "name of the verb"), CR_TEXT("usage", marks, "how it is called"),       \
        CR_TEXT("summary", marks, "one line"),                                                     \
        CR_TEXT("example", marks, "commands, one per line"),                                       \
        CR_INNER(ROWS, "options", marks, "all that it takes", option)

static const cr_field about_verb[] = { ABOUT_VERB(0), CR_FIELD_LAST };

static const cr_field help_result[] = {
    CR_INNER(ROWS, "verbs", CR_FIELD_SOMETIMES, "without VERB: all verbs", about_verb),
    ABOUT_VERB(CR_FIELD_SOMETIMES),
    CR_FIELD_LAST,
};

static void put_options(cri_sheet *s, const cr_option *const *tables, size_t n)
{
    static const char *const kinds[] = { "", "flag", "count", "real", "choice", "text", "list" };
    cri_sheet               *list = cri_put_list(s, "options");
    for (size_t i = 0; i < n; i++)
        for (const cr_option *o = tables[i]; o->name; o++) {
            cri_sheet *row = cri_put_object(list, NULL);
            cri_put_text(row, "name", o->name);
            cri_put_text(row, "kind", kinds[o->kind]);
            cri_put_text(row, "default", o->fallback);
            cri_put_text(row, "range", o->range);
            cri_put_text(row, "help", o->help);
            cri_put_text(row, "example", o->example);
        }
}

static void put_verb(const cli_verb *v, cri_sheet *object)
{
    const cr_option *tables[CLI_MOST_TABLES];
    size_t           n = cli_tables(v, tables);
    cri_put_text(object, "name", v->name);
    cri_put_text(object, "usage", v->usage);
    cri_put_text(object, "summary", v->summary);
    cri_put_text(object, "example", v->example);
    put_options(object, tables, n);
}

static void put_verbs(cri_sheet *s)
{
    cri_sheet *list = cri_put_list(s, "verbs");
    for (size_t i = 0; cli_verbs[i]; i++) put_verb(cli_verbs[i], cri_put_object(list, NULL));
}

/* --- the verb help --------------------------------------------------------------------------- */

static cr_status print_model(cli *c, const cr_model_class *m);

/* Verbs, then models. */
static const char *topic_name(const void *verbs, size_t i)
{
    size_t n = *(const size_t *)verbs;
    return i < n ? cli_verbs[i]->name : cr_class_name(cr_class_at(i - n));
}

/* A word of the pages on data, or an option that says how data are read or which columns are used. */
static bool is_about_data(const char *name)
{
    static const char *const words[] = { "data",    "columns", "formula", "formulas", "dates",
                                         "weights", "design",  "csv",     "files",    "levels" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0) return true;
    return cr_option_find(cr_design_table, name) || cr_option_find(cr_read_table, name);
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
    if (is_about_data(name))
        return cr_fail_hint(c->cx, "credence help fit explains options for data and columns, and "
                                   "docs/data.md has examples");
    return cr_fail_nearest(c->cx, name, "verbs and models", n + cr_class_count(), topic_name, &n);
}

static cr_status run_help(cli *c)
{
    cr_status       st = CR_OK;
    bool            common = c->n_args && strcmp(c->args[0], common_options.name) == 0;
    const cli_verb *v = common ? &common_options : c->n_args ? cli_verb_find(c->args[0]) : NULL;
    const cr_model_class *m = c->n_args && !v ? cr_class_find(c->cx, c->args[0]) : NULL;
    cli_result            r = { 0 };
    if (c->n_args && strcmp(c->args[0], "kernels") == 0)
        return cli_kernels(c, c->n_args > 1 ? c->args[1] : NULL);
    if (c->n_args > 1)
        CR_TRY(cr_fail(c->cx, CR_EARG, "help explains one thing: '%s' is one argument too many",
                       c->args[1]));
    if (c->n_args && !v && !m) CR_TRY(unknown_topic(c, c->args[0]));
    if (m) return print_model(c, m);
    r = cli_result_new(c);
    if (v)
        put_verb(v, r.object);
    else
        put_verbs(r.object);
    CR_TRY(cli_result_open(c, r));
    if (c->format == FORMAT_JSON)
        out_result(c, "help", r.object);
    else
        cli_print_help(c, v);
done:
    cli_result_free(r);
    return st;
}

const cli_verb verb_help = {
    .name = "help",
    .usage = "help [VERB] [KERNEL]",
    .summary = "show help for the program, a verb, a model, options or kernels",
    .example = "credence help fit\n"
               "credence help options\n"
               "credence help kernels spectrum",
    .most = 2,
    .run = run_help,
    .result = help_result,
};

/* --- models ---------------------------------------------------------------------------------- */

#define ABOUT_MODEL(marks)                                                                         \
    CR_TEXT("name", marks, "name of the model"),                                                   \
        CR_TEXT("task", marks, "regression, classification and so on"),                            \
        CR_FLAG("update", marks, "whether update can add new rows"),                               \
        CR_TEXT("summary", marks, "one line"),                                                     \
        CR_TEXT("formulas", marks, "the model in plain text"),                                     \
        CR_TEXT("reference", marks, "book or paper"),                                              \
        CR_INNER(ROWS, "options", marks, "its own options", option)

static const cr_field about_model[] = { ABOUT_MODEL(0), CR_FIELD_LAST };

static const cr_field models_result[] = {
    CR_INNER(ROWS, "models", CR_FIELD_SOMETIMES, "without NAME: all models", about_model),
    CR_INNER(ROWS, "kernels", CR_FIELD_SOMETIMES, "of kernels: all, or the one named",
             kernel_fields),
    ABOUT_MODEL(CR_FIELD_SOMETIMES),
    CR_FIELD_LAST,
};

static void put_model(const cr_model_class *m, bool whole, cri_sheet *row)
{
    char             tasks[128];
    const cr_option *options = cr_class_options(m);
    cri_put_text(row, "name", cr_class_name(m));
    cri_put_text(row, "task", cli_tasks(cr_class_tasks(m), tasks));
    cri_put_flag(row, "update", cr_class_offers(m, "update"));
    cri_put_text(row, "summary", cr_class_summary(m));
    if (!whole) return;
    cri_put_text(row, "formulas", cr_class_formulas(m));
    cri_put_text(row, "reference", cr_class_reference(m));
    put_options(row, &options, 1);
}

static void print_model_page(cli *c, const cr_model_class *m)
{
    out_text(c, "%s - %s\n\n", cr_class_name(m), cr_class_summary(m));
    out_lines(c, cr_class_formulas(m), SIZE_MAX);
    print_options(c, cr_class_options(m), "Options:");
    out_text(c, "\nOptions for data and columns: credence help fit\n\nExample:\n");
    out_text(c, "  credence fit %s %s\n", cr_class_name(m), cr_class_example(m));
    out_text(c, "\n%s.\n", reference_update(m));
    out_text(c, "\nReference: %s\n", cr_class_reference(m));
}

static cr_status print_model(cli *c, const cr_model_class *m)
{
    cr_status  st = CR_OK;
    cli_result r = cli_result_new(c);
    put_model(m, true, r.object);
    CR_TRY(cli_result_open(c, r));
    if (c->format == FORMAT_JSON)
        out_result(c, "models", r.object);
    else
        print_model_page(c, m);
done:
    cli_result_free(r);
    return st;
}

static cr_status print_models(cli *c)
{
    cr_status  st;
    bool       whole = c->format == FORMAT_JSON;
    cli_result r = cli_result_new(c);
    cri_sheet *list = whole ? cri_put_list(r.object, "models") : r.rows;
    for (size_t i = 0; i < cr_class_count(); i++)
        put_model(cr_class_at(i), whole, cri_put_object(list, NULL));
    st = cli_result_print(c, r);
    cli_result_free(r);
    return st;
}

static cr_status run_models(cli *c)
{
    const cr_model_class *m;
    if (c->n_args == 0) return print_models(c);
    if (strcmp(c->args[0], "kernels") == 0)
        return cli_kernels(c, c->n_args > 1 ? c->args[1] : NULL);
    if (c->n_args > 1)
        return cr_fail(c->cx, CR_EARG, "models explains one model: '%s' is one argument too many",
                       c->args[1]);
    m = cr_class_find(c->cx, c->args[0]);
    return m ? print_model(c, m) : CR_EARG;
}

const cli_verb verb_models = {
    .name = "models",
    .usage = "models [NAME] [KERNEL]",
    .summary = "list the models, or describe one; models kernels [KERNEL]: kernels",
    .example = "credence models\n"
               "credence models ridge\n"
               "credence models kernels rbf",
    .most = 2,
    .run = run_models,
    .result = models_result,
};

/* --- version --------------------------------------------------------------------------------- */

static const cr_field blas_fields[] = {
    CR_TEXT("library", 0, "name and version"),
    CR_TEXT("kernel", 0, "the processor they are tuned for"),
    CR_FLAG("slow", 0, "whether the kernels are older than the processor"),
    CR_TEXT("better", 0, "the kernels to choose instead, if slow"),
    CR_FIELD_LAST,
};

static const cr_field version_result[] = {
    CR_TEXT("version", 0, "version of credence"),
    CR_TEXT("compiler", 0, "the compiler it was built with"),
    CR_COUNT("threads", 0, "threads in use"),
    CR_INNER(OBJECT, "blas", 0, "library of matrix kernels", blas_fields),
    CR_FIELD_LAST,
};

static void print_version(cli *c, const cr_blas_info *blas)
{
    size_t n = strcspn(blas->library, " "); /* of "OpenBLAS 0.3.21 DYNAMIC_ARCH ..." two words */
    if (blas->library[n]) n += 1 + strcspn(blas->library + n + 1, " ");
    out_text(c, "credence %s (%.*s, %s kernel%s)\n", CREDENCE_VERSION, (int)n, blas->library,
             blas->kernel, blas->slow ? ", slow on this CPU" : "");
}

static cr_status run_version(cli *c)
{
    cr_status    st = CR_OK;
    cr_blas_info blas = cr_blas_query();
    cri_sheet   *root = cri_sheet_new(c->cx), *b;
    cri_put_text(root, "version", CREDENCE_VERSION);
    cri_put_text(root, "compiler", __VERSION__);
    cri_put_count(root, "threads", cr_ctx_threads(c->cx));
    b = cri_put_object(root, "blas");
    cri_put_text(b, "library", blas.library);
    cri_put_text(b, "kernel", blas.kernel);
    cri_put_flag(b, "slow", blas.slow);
    cri_put_text(b, "better", blas.better);
    CR_TRY(cri_sheet_status(root));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_result(c, "version", root);
    else
        print_version(c, &blas);
done:
    cri_sheet_free(root);
    return st;
}

const cli_verb verb_version = {
    .name = "version",
    .usage = "version [--json]",
    .summary = "print the version and the matrix kernels in use",
    .example = "credence version --json",
    .takes = VERB_FACTORISES,
    .run = run_version,
    .result = version_result,
};
