/* reference.c -- the pages about program, verbs and models: what they say and in which order.
 * Everything that a verb or model declares comes from its table; here are only the words between.
 */
#include "surface.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- words ----------------------------------------------------------------------------------- */

bool reference_flag(const cr_option *o, char out[80])
{
    char name[64];
    bool off = o->kind == CR_OPTION_flag && strcmp(o->fallback, "true") == 0;
    snprintf(out, 80, "--%s%s", off ? "no-" : "", cli_spell(o->name, name));
    return off;
}

/* "one of a, b, c" from "a|b|c". */
static void spell_choices(const char *choices, char out[256])
{
    size_t used = (size_t)snprintf(out, 256, "one of ");
    for (; *choices && used < 250; choices++) {
        if (*choices == '|')
            out[used++] = ',', out[used++] = ' ';
        else
            out[used++] = *choices;
    }
    out[used] = '\0';
}

const char *reference_range(const cr_option *o, char out[256])
{
    const char *r = cli_range(o), *dots = strstr(r, "..");
    out[0] = '\0';
    if (o->kind == CR_OPTION_choice)
        spell_choices(r, out);
    else if (strncmp(r, ">=", 2) == 0)
        snprintf(out, 256, "at least %s", r + 2);
    else if (r[0] == '>')
        snprintf(out, 256, "more than %s", r + 1);
    else if (dots && dots > r && dots[-1] == '<' && dots[2] == '<')
        snprintf(out, 256, "strictly between %.*s and %s", (int)(dots - 1 - r), r, dots + 3);
    else if (dots)
        snprintf(out, 256, "%.*s to %s", (int)(dots - r), r, dots + 2);
    return out;
}

const char *reference_type(const cr_field *f, char out[64])
{
    static const char *const words[] = {
        [CR_FIELD_END] = "",
        [CR_FIELD_TEXT] = "text",
        [CR_FIELD_COUNT] = "whole number",
        [CR_FIELD_NUMBER] = "number",
        [CR_FIELD_FLAG] = "true or false",
        [CR_FIELD_TEXTS] = "array of texts",
        [CR_FIELD_OBJECT] = "object",
        [CR_FIELD_ROWS] = "array of objects",
        [CR_FIELD_NUMBERS] = "object of numbers or nulls",
        [CR_FIELD_SCORES] = "array of objects of numbers or nulls",
        [CR_FIELD_WORDS] = "object of texts",
        [CR_FIELD_VALUES] = "object of texts, numbers or nulls",
        [CR_FIELD_ARRAY] = "array of numbers or nulls",
        [CR_FIELD_ENTRIES] = "number or null, or array of them",
        [CR_FIELD_PLACES] = "array of numbers, texts or null",
        [CR_FIELD_MATRIX] = "array of arrays of numbers or null",
        [CR_FIELD_STATISTICS] = "object",
        [CR_FIELD_ANY] = "any value",
    };
    snprintf(out, 64, "%s%s%s%s%s", words[f->type], f->unit ? " (" : "", f->unit ? f->unit : "",
             f->unit ? ")" : "", f->marks & CR_FIELD_NULL ? " or null" : "");
    return out;
}

char reference_capital(const char *phrase)
{
    size_t word = strcspn(phrase, " ");
    return word && phrase[word - 1] == ':' ? phrase[0] : (char)toupper((unsigned char)phrase[0]);
}

/* A sentence from a phrase: "learn a model" -> "Learn a model." */
static void paragraph(cli *c, const page_style *s, const char *phrase)
{
    char text[512];
    snprintf(text, sizeof text, "%c%s.", reference_capital(phrase), phrase + 1);
    s->paragraph(c, text);
}

/* --- parts of several pages ------------------------------------------------------------------ */

static void exit_status(cli *c, const page_style *s)
{
    static const char *const codes[][2] = {
        { "0", "success" },
        { "2", "the command line is not valid, or the model cannot do this" },
        { "3", "the data or the model file are not valid" },
        { "4", "the computation failed numerically; with --strict, there was a warning" },
        { "5", "a file cannot be read or written, or the disk is full" },
        { "6", "out of memory, or past --memory-limit or --time-limit" },
        { "130", "interrupted" },
    };
    s->heading(c, "Exit status");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) s->item(c, codes[i][0], codes[i][1]);
}

static void environment(cli *c, const page_style *s)
{
    s->heading(c, "Environment");
    s->item(c, "OPENBLAS_CORETYPE",
            "which matrix kernels OpenBLAS uses; if it is not set and OpenBLAS chose kernels older "
            "than the processor, credence restarts with better ones");
}

static void options(cli *c, const page_style *s, const char *title, const cr_option *table)
{
    if (!table || !table->name) return;
    s->heading(c, title);
    s->options(c, table);
}

static void common_options(cli *c, const page_style *s, bool fits)
{
    s->heading(c, "Common options");
    s->options(c, fits ? cr_fit_table : cli_seed_table);
    s->options(c, cli_global_table);
}

static page about_program(void) { return (page){ PAGE_PROGRAM, "" }; }
static page about_verb(const char *name) { return (page){ PAGE_VERB, name }; }
static page about_model(const cr_model_class *m) { return (page){ PAGE_MODEL, cr_class_name(m) }; }

/* --- the program ----------------------------------------------------------------------------- */

static const char program_summary[] =
    "probabilistic machine learning: every answer comes with its uncertainty";

static void program_page(cli *c, const page_style *s)
{
    page       here = about_program();
    const page see[] = { about_verb("fit"), about_verb("predict"), about_verb("models") };
    s->begin(c, here, program_summary);
    s->heading(c, "Synopsis");
    s->usage(c, "VERB [OPTIONS] [INPUT...]");
    s->heading(c, "Description");
    s->paragraph(
        c,
        "Data go in, a posterior comes out: predictions are distributions, parameters have "
        "standard deviations, and models report their evidence if they have one. Data are CSV or "
        "TSV files (plain, or compressed with gzip or zstd), JSON lines, LIBSVM, NPY and NPZ "
        "files, tables or queries of SQLite databases, written sqlite:FILE?table or "
        "sqlite:FILE?query=SELECT..., or - for standard input. Columns are referred to by name.");
    s->paragraph(
        c, "Results go to standard output, everything else to standard error. A result is text on "
           "a terminal, CSV in a pipe, and JSON with --json. The same data, options and seed give "
           "the same bits, for any number of threads.");
    s->heading(c, "Verbs");
    for (size_t i = 0; cli_verbs[i]; i++)
        s->item_page(c, here, about_verb(cli_verbs[i]->name), cli_verbs[i]->summary);
    s->heading(c, "Models");
    for (size_t i = 0; i < cr_class_count(); i++)
        s->item_page(c, here, about_model(cr_class_at(i)), cr_class_summary(cr_class_at(i)));
    common_options(c, s, false);
    s->heading(c, "Examples");
    for (size_t i = 0; cli_verbs[i] && i < 4; i++) s->lines(c, cli_verbs[i]->example);
    exit_status(c, s);
    environment(c, s);
    s->heading(c, "Files");
    s->item(c, "FILE.cred",
            "a model: a zip archive of model.json and NPY arrays, checked on every load");
    s->item(c, "PREFIX/share/credence/schema", "JSON schemas of all results");
    s->heading(c, "See also");
    s->see(c, here, see, sizeof see / sizeof *see);
}

/* --- verbs ----------------------------------------------------------------------------------- */

/* Whether class i is the first that has its tables, and has some. */
static bool is_first_table(size_t i)
{
    const cr_field *tables = cr_class_tables(cr_class_at(i));
    for (size_t k = 0; k < i; k++)
        if (cr_class_tables(cr_class_at(k)) == tables) return false;
    return tables->name != NULL;
}

static void json_section(cli *c, const page_style *s, const cli_verb *v)
{
    char text[160];
    s->heading(c, "JSON output");
    snprintf(text, sizeof text,
             "With --json; the schema is credence.%s.1.schema.json. Later versions may add keys, "
             "but remove none.",
             v->name);
    s->paragraph(c, text);
    s->fields(c, result_common, "");
    if (v->describes) {
        s->fields(c, cr_description_table, "");
        for (size_t i = 0; i < cr_class_count(); i++)
            if (is_first_table(i)) s->fields(c, cr_class_tables(cr_class_at(i)), "");
    }
    s->fields(c, v->result, "");
}

static void verb_page(cli *c, const page_style *s, const cli_verb *v)
{
    page   here = about_verb(v->name), see[4];
    bool   fits = v->takes & VERB_FITS;
    size_t n = 0;
    s->begin(c, here, v->summary);
    s->heading(c, "Synopsis");
    s->usage(c, v->usage);
    s->heading(c, "Description");
    paragraph(c, s, v->summary);
    if (fits) s->paragraph(c, "Each model has its own options, listed on its page.");
    options(c, s, "Options", v->options);
    if (fits) options(c, s, "Columns", cr_design_table);
    if (v->takes & VERB_READS) options(c, s, "Reading data", cr_read_table);
    common_options(c, s, fits);
    if (fits) {
        s->heading(c, "Models");
        for (size_t i = 0; i < cr_class_count(); i++)
            s->item_page(c, here, about_model(cr_class_at(i)), cr_class_summary(cr_class_at(i)));
    }
    if (v->result) json_section(c, s, v);
    s->heading(c, "Examples");
    s->lines(c, v->example);
    exit_status(c, s);
    s->heading(c, "See also");
    see[n++] = about_program();
    for (size_t i = 0; cli_verbs[i] && n < 4;
         i++) /* the first verbs: those one comes from or goes to */
        if (cli_verbs[i] != v) see[n++] = about_verb(cli_verbs[i]->name);
    s->see(c, here, see, n);
}

/* --- models ---------------------------------------------------------------------------------- */

/* A command that fits the model on the data in examples/, and one with its first option. */
static void model_examples(cli *c, const page_style *s, const cr_model_class *m)
{
    char             text[512], flag[80];
    const cr_option *o = cr_class_options(m);
    const char      *data = cr_class_example(m);
    size_t           used = (size_t)snprintf(text, sizeof text, "credence fit %s %s -o model.cred",
                                             cr_class_name(m), data);
    while (o->name && o->kind == CR_OPTION_flag) o++;
    if (o->name) {
        reference_flag(o, flag);
        snprintf(text + used, sizeof text - used, "\ncredence fit %s %s %s %s", cr_class_name(m),
                 data, flag, o->example);
    }
    s->heading(c, "Examples");
    s->lines(c, text);
}

const char *reference_update(const cr_model_class *m)
{
    if (!cr_class_offers(m, "update")) return "New rows cannot be added to a fitted model";
    if (cr_class_offers(m, "relearn"))
        return "credence update adds new rows; the result is the same as a fit to all rows";
    return cr_class_offers(m, "hold")
               ? "credence update adds new rows; the hyper-parameters stay as first learned"
               : "credence update adds new rows to a summary of the old ones; the result is close "
                 "to a fit to all rows";
}

static void model_page(cli *c, const page_style *s, const cr_model_class *m)
{
    char       text[512], tasks[128];
    page       here = about_model(m);
    const page see[] = { about_verb("fit"), about_verb("predict"), about_verb("cv") };
    s->begin(c, here, cr_class_summary(m));
    s->heading(c, "Synopsis");
    snprintf(text, sizeof text, "fit %s DATA%s [-o FILE.cred] [OPTIONS]", cr_class_name(m),
             cr_class_tasks(m) & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION) ? " --target COLUMN"
                                                                               : "");
    s->usage(c, text);
    s->heading(c, "Model");
    s->lines(c, cr_class_formulas(m));
    snprintf(text, sizeof text, "Task: %s. %s.", cli_tasks(cr_class_tasks(m), tasks),
             reference_update(m));
    s->paragraph(c, text);
    options(c, s, "Options", cr_class_options(m));
    s->paragraph(c, "For options about columns and reading data, see credence fit.");
    s->heading(c, "Statistics");
    s->paragraph(c,
                 "What fit, update and describe report about the fit; --json uses the same names.");
    s->fields(c, cr_class_statistics(m), "");
    if (cr_class_tables(m)->name) {
        s->heading(c, "Tables");
        s->fields(c, cr_class_tables(m), "");
    }
    model_examples(c, s, m);
    s->heading(c, "References");
    s->paragraph(c, cr_class_reference(m));
    s->heading(c, "See also");
    s->see(c, here, see, sizeof see / sizeof *see);
}

void reference_page(cli *c, const page_style *s, page p)
{
    if (p.kind == PAGE_PROGRAM)
        program_page(c, s);
    else if (p.kind == PAGE_VERB)
        verb_page(c, s, cli_verb_find(p.name));
    else
        model_page(c, s, cr_class_find(c->cx, p.name));
}
