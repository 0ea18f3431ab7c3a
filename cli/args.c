/* args.c -- the command line, parsed by the option tables. */
#include "cli.h"
#include "base/context_internal.h"

#include <stdio.h>
#include <string.h>

#define ROW(...) CR_OPTION_ROW(cli_global, __VA_ARGS__)
const cr_option cli_global_table[] = { CLI_GLOBAL_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

static const struct {
    char        letter;
    const char *name;
} letters[] = {
    { 'o', "output" }, { 'q', "quiet" }, { 'v', "verbose" }, { 'h', "help" }, { 'n', "count" }
};

#define ROW(...) CR_OPTION_ROW(cr_fit_options, __VA_ARGS__)
const cr_option cli_seed_table[] = { CR_SEED_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

char cli_letter(const char *option)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (strcmp(letters[i].name, option) == 0) return letters[i].letter;
    return '\0';
}

const char *cli_spell(const char *name, char out[64])
{
    snprintf(out, 64, "%s", name);
    for (char *p = out; *p; p++)
        if (*p == '_') *p = '-';
    return out;
}

const char *cli_first_set(const cli *c, const char *names, char out[64])
{
    for (const char *at = names; *at; at += strspn(at, " ")) {
        char   name[64];
        size_t n = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (!cr_options_at_default(cr_option_find(c->verb->options, name), c->own))
            return cli_spell(name, out);
        at += n;
    }
    return NULL;
}

const char *cli_value_word(const cr_option *o)
{
    static const char *const words[] = {
        [CR_OPTION_flag] = "",       [CR_OPTION_count] = "N",   [CR_OPTION_real] = "X",
        [CR_OPTION_choice] = "WORD", [CR_OPTION_text] = "TEXT", [CR_OPTION_list] = "LIST"
    };
    bool text = o->kind == CR_OPTION_text || o->kind == CR_OPTION_list;
    if (o->kind == CR_OPTION_list && strcmp(o->range, "COLUMN") == 0) return "COLUMNS";
    return text && o->range[0] ? o->range : words[o->kind];
}

const char *cli_range(const cr_option *o)
{
    return o->kind == CR_OPTION_text || o->kind == CR_OPTION_list ? "" : o->range;
}

const cli_verb *cli_verb_find(const char *name)
{
    for (size_t i = 0; cli_verbs[i]; i++)
        if (strcmp(cli_verbs[i]->name, name) == 0) return cli_verbs[i];
    for (size_t i = 0; cli_hidden_verbs[i]; i++)
        if (strcmp(cli_hidden_verbs[i]->name, name) == 0) return cli_hidden_verbs[i];
    return NULL;
}

size_t cli_tables(const cli_verb *verb, const cr_option *out[CLI_MOST_TABLES])
{
    size_t n = 0;
    if (verb && verb->options) out[n++] = verb->options;
    if (verb && verb->takes & VERB_FITS) out[n++] = cr_design_table;
    if (verb && verb->takes & VERB_READS) out[n++] = cr_read_table;
    out[n++] = verb && verb->takes & VERB_FITS ? cr_fit_table : cli_seed_table;
    out[n++] = cli_global_table;
    out[n] = NULL;
    return n;
}

/* The option called name that this verb takes, wherever it is declared; NULL if there is none.  Of
 * an option that several models have, that of opt_model. */
static const cr_option *find_option(const cli_verb *verb, const cr_model_class *opt_model,
                                    const char *name)
{
    const cr_option *tables[CLI_MOST_TABLES], *o = NULL;
    size_t           n = cli_tables(verb, tables);
    for (size_t i = 0; i < n && !o; i++) o = cr_option_find(tables[i], name);
    if (o || !verb || !(verb->takes & VERB_FITS)) return o;
    if (opt_model) o = cr_option_find(cr_class_options(opt_model), name);
    for (size_t i = 0; i < cr_class_count() && !o; i++)
        o = cr_option_find(cr_class_options(cr_class_at(i)), name);
    return o;
}

const cr_model_class *cli_model_named(const char *argument)
{
    size_t length = strcspn(argument, ":");
    for (size_t k = 0; k < cr_class_count(); k++) {
        const char *name = cr_class_name(cr_class_at(k));
        if (strlen(name) == length && strncmp(argument, name, length) == 0) return cr_class_at(k);
    }
    return NULL;
}

/* The model that is meant: the first word that names one.  It may stand after its options. */
static const cr_model_class *find_model(const cli *c)
{
    const cr_model_class *m = NULL;
    for (int i = 1; !m && c->verb && c->verb->takes & VERB_FITS && i < c->argc; i++)
        m = cli_model_named(c->argv[i]);
    return m;
}

/* --- unknown words --------------------------------------------------------------------------- */

typedef struct name_list {
    char   names[256][64];
    size_t n;
} name_list;

static const char *list_name(const void *list, size_t i)
{
    return ((const name_list *)list)->names[i];
}

static void add_names(name_list *list, const cr_option *table)
{
    for (; table->name && list->n < 256; table++) cli_spell(table->name, list->names[list->n++]);
}

typedef struct other_word {
    const char *name, *meant;
} other_word;

/* What a word of other programs is called here; NULL where nothing is known. */
static const char *other_word_of(const other_word *words, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i].name, name) == 0) return words[i].meant;
    return NULL;
}

static const other_word other_options[] = {
    { "cv", "folds" },
    { "k-fold", "folds" },
    { "kfold", "folds" },
    { "n-folds", "folds" },
    { "nfolds", "folds" },
    { "n-splits", "folds" },
    { "out", "output" },
    { "sep", "delimiter" },
    { "label", "target" },
    { "response", "target" },
    { "na-values", "missing-values" },
    { "alpha", "l1-ratio" }, /* of glmnet */
    { "alpha", "lambda" },   /* of scikit-learn */
    { "clusters", "k" },
    { "n-clusters", "k" },
    { "centers", "k" },
    { "n-neighbors", "k" },
    { "neighbors", "k" },
    { "factors", "components" },
    { "n-factors", "components" },
    { "n-components", "components" },
    { "n-components", "k" },
    { "components", "k" },
    { "n-estimators", "rounds" },
    { "ntree", "rounds" },
};

const char *cli_other_option(const char *name, bool (*has)(const void *list, const char *name),
                             const void *list)
{
    for (size_t i = 0; i < sizeof other_options / sizeof *other_options; i++)
        if (strcmp(other_options[i].name, name) == 0 && has(list, other_options[i].meant))
            return other_options[i].meant;
    return NULL;
}

cr_status cli_fail_other_option(cli *c, const char *name, const char *meant)
{
    char flag[72], other[72];
    snprintf(flag, sizeof flag, "--%s", name);
    snprintf(other, sizeof other, "--%s", meant);
    cri_fail_meant(c->cx, flag, other); /* the option, not the verb of its name */
    return cr_fail_hint(c->cx, "did you mean %s?", other);
}

static bool has_name(const void *list, const char *name)
{
    const name_list *l = list;
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->names[i], name) == 0) return true;
    return false;
}

/* The data are an argument here, but an option in other programs. */
static bool is_data_option(const cli *c, const char *name)
{
    static const char *const words[] = { "data", "file", "input", "dataset", "data-file", "csv" };
    if (!c->verb) return false;
    const char *usage = c->verb->usage;
    if (!strstr(usage, "DATA") && strncmp(usage + strlen(c->verb->name), " FILE", 5) != 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0) return true;
    return false;
}

static cr_status unknown_option(cli *c, const char *name)
{
    const cr_option      *tables[CLI_MOST_TABLES];
    const cr_model_class *model = find_model(c);
    name_list             list = { .n = 0 };
    if (model) add_names(&list, cr_class_options(model));
    for (size_t i = 0, n = cli_tables(c->verb, tables); i < n; i++) add_names(&list, tables[i]);
    cr_fail(c->cx, CR_EARG, "unknown option --%s%s%s", name, c->verb ? " of " : "",
            c->verb ? c->verb->name : "");
    if (is_data_option(c, name)) {
        char command[1024];
        cli_without_flag(c, name, command, sizeof command);
        return cr_fail_hint(c->cx, "the file stands without an option: %s", command);
    }
    cr_fail_nearest(c->cx, name, "options", list.n, list_name, &list);
    const char *meant = cli_other_option(name, has_name, &list);
    if (meant) return cli_fail_other_option(c, name, meant);
    if (cr_error_nearest(c->cx)[0])
        return cr_fail_hint(c->cx, "did you mean --%s?", cr_error_nearest(c->cx));
    return cr_fail_hint(c->cx, "credence help%s%s lists them", c->verb ? " " : "",
                        c->verb ? c->verb->name : "");
}

static const char *verb_name(const void *unused, size_t i)
{
    (void)unused;
    return cli_verbs[i]->name;
}

/* What other programs call a verb. */
static const other_word other_verbs[] = {
    { "train", "fit" },          { "learn", "fit" },     { "summary", "describe" },
    { "summarize", "describe" }, { "show", "describe" }, { "test", "evaluate" },
    { "score", "evaluate" },     { "crossval", "cv" },
};

/* Fails with CR_EARG: there is no such verb, and the nearest one. */
static cr_status unknown_verb(cli *c, const char *name)
{
    size_t n = 0;
    while (cli_verbs[n]) n++;
    cr_fail(c->cx, CR_EARG, "there is no verb '%s'", name);
    cr_fail_nearest(c->cx, name, "verbs", n, verb_name, NULL);
    const char *meant = other_word_of(other_verbs, sizeof other_verbs / sizeof *other_verbs, name);
    return meant ? cri_fail_meant(c->cx, name, meant) : CR_EARG;
}

/* --- options --------------------------------------------------------------------------------- */

static const other_word other_formats[] = { { "table", "text" },    { "pretty", "text" },
                                            { "plain", "text" },    { "human", "text" },
                                            { "tsv", "csv" },       { "jsonl", "json" },
                                            { "markdown", "text" }, { "md", "text" } };

/* A format by the name that it has elsewhere. */
static cr_status explain_format(cli *c, const char *name, const char *value, cr_status st)
{
    const char *meant =
        other_word_of(other_formats, sizeof other_formats / sizeof *other_formats, value);
    if (st != CR_EARG || !meant || strcmp(name, "format") != 0) return st;
    cri_fail_meant(c->cx, value, meant);
    return cr_fail_hint(c->cx, "did you mean --format %s?", meant);
}

/* Stores one option where it belongs: the program's, the verb's, the reader's, or a setting. */
static cr_status store(cli *c, const char *name, const char *value)
{
    struct {
        const cr_option *table;
        void            *values;
    } places[] = { { cli_global_table, &c->global },
                   { c->verb ? c->verb->options : NULL, c->own },
                   { c->verb && c->verb->takes & VERB_READS ? cr_read_table : NULL, &c->read } };
    for (size_t i = 0; i < 3; i++)
        if (places[i].table && cr_option_find(places[i].table, name))
            return explain_format(
                c, name, value,
                cr_options_set(c->cx, places[i].table, places[i].values, name, value));
    if (cr_option_find(cr_fit_table, name)) { /* for verbs that fit a setting as well */
        cr_status st = cr_options_set(c->cx, cr_fit_table, &c->fit, name, value);
        if (st != CR_OK) return st;
    }

    char *copy = c->names + c->names_used;
    c->names_used += strlen(name) + 1;
    memcpy(copy, name, strlen(name) + 1);
    for (char *p = copy; *p; p++)
        if (*p == '-') *p = '_';
    c->settings[c->n_settings++] = (cr_setting){ copy, value };
    return CR_OK;
}

/* An empty text would be the same as no option at all: of a setting it is more likely a slip. */
static cr_status check_empty(cli *c, const cr_option *o, const char *value)
{
    bool global = cr_option_find(cli_global_table, o->name) != NULL;
    if (value[0] || global || o->kind != CR_OPTION_text) return CR_OK;
    char flag[64];
    cli_spell(o->name, flag);
    cr_fail(c->cx, CR_EARG, "--%s is empty", flag);
    return cr_fail_hint(c->cx, "for example --%s %s; without --%s the program chooses", flag,
                        o->example, flag);
}

/* The name of "--name" or "--name=value"; cut off where it is longer than any. */
static void option_name(const char *argument, char out[64])
{
    snprintf(out, 64, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
}

/* The value of an option in the next argument; if that is an option, the value was forgotten. */
static cr_status take_value(cli *c, const cr_option *o, const char *flag, int *i)
{
    char        name[64];
    const char *value = *i + 1 < c->argc ? c->argv[*i + 1] : NULL;
    if (value && strncmp(value, "--", 2) == 0 && value[2]) {
        option_name(value, name);
        if (find_option(c->verb, find_model(c), name)) value = NULL;
    }
    if (value && check_empty(c, o, value) != CR_OK) return CR_EARG;
    if (value) return ++*i, store(c, o->name, value);
    cr_fail(c->cx, CR_EARG, "%s needs a value", flag);
    return cr_fail_hint(c->cx, "for example %s %s", flag, o->example);
}

/* --name, --name=value, --name value, --no-name; *i moves over a value that is taken. */
static cr_status parse_long(cli *c, int *i)
{
    char        name[64], flag[68];
    const char *equals = strchr(c->argv[*i], '=');
    option_name(c->argv[*i], name);

    const cr_model_class *model = find_model(c);
    const cr_option      *o = find_option(c->verb, model, name);
    if (!o && strncmp(name, "no-", 3) == 0 && !equals) {
        o = find_option(c->verb, model, name + 3);
        if (o && o->kind == CR_OPTION_flag) return store(c, name + 3, "false");
        o = NULL;
    }
    if (!o) return unknown_option(c, name);
    if (equals && check_empty(c, o, equals + 1) != CR_OK) return CR_EARG;
    if (equals) return store(c, name, equals + 1);
    if (o->kind == CR_OPTION_flag) return store(c, name, "true");
    snprintf(flag, sizeof flag, "--%s", name);
    return take_value(c, o, flag, i);
}

static cr_status parse_short(cli *c, int *i)
{
    const char *text = c->argv[*i];
    char        flag[3] = { '-', text[1], '\0' };
    for (size_t k = 0; k < sizeof letters / sizeof *letters; k++) {
        if (text[1] != letters[k].letter) continue;
        const cr_option *o = find_option(c->verb, NULL, letters[k].name);
        if (!o) break;
        if (o->kind == CR_OPTION_flag && !text[2]) return store(c, o->name, "true");
        if (o->kind == CR_OPTION_flag) break;
        return text[2] ? store(c, o->name, text + 2) : take_value(c, o, flag, i);
    }
    cr_fail(c->cx, CR_EARG, "unknown option %s", text);
    return cr_fail_hint(c->cx, "credence help%s%s lists the options", c->verb ? " " : "",
                        c->verb ? c->verb->name : "");
}

/* --- the whole line -------------------------------------------------------------------------- */

/* An option of any verb. */
static const cr_option *find_anywhere(const char *name)
{
    const cr_option *o = find_option(NULL, NULL, name);
    for (size_t i = 0; cli_verbs[i] && !o; i++) o = find_option(cli_verbs[i], NULL, name);
    return o;
}

/* The option behind a letter; NULL if there is none. */
static const char *letter_name(char letter)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter) return letters[i].name;
    return NULL;
}

/* The verb is the first word that is neither an option nor the value of one.  Behind an unknown
 * option it is the first that is a verb at all: then the option is the mistake to be reported. */
static const char *find_verb(const cli *c)
{
    bool lost = false;
    for (int i = 1; i < c->argc; i++) {
        const char      *a = c->argv[i];
        const cr_option *o = NULL;
        if (a[0] != '-' || !a[1]) {
            if (!lost || cli_verb_find(a)) return a;
            continue;
        }
        if (strchr(a, '=') || strcmp(a, "--") == 0) continue;
        if (a[1] == '-')
            o = find_anywhere(a + 2);
        else if (!a[2] && letter_name(a[1]))
            o = find_anywhere(letter_name(a[1]));
        if (o && o->kind != CR_OPTION_flag) i++;
        if (!o && a[1] == '-' && strncmp(a, "--no-", 5) != 0) lost = true;
    }
    return NULL;
}

/* The n-th word of a usage line behind the verb. */
static void usage_word(const char *usage, size_t n, char out[32])
{
    const char *at = usage + strcspn(usage, " ");
    for (; *at && n > 0; n--) at += 1 + strcspn(at + 1, " ");
    at += *at == ' ';
    snprintf(out, 32, "%.*s", (int)strcspn(at, " "), at);
}

static cr_status check_count(cli *c)
{
    const cli_verb *v = c->verb;
    cr_status       st = cli_check_formula(c);
    if (st != CR_OK || (c->n_args >= v->least && c->n_args <= v->most)) return st;
    char word[32];
    bool few = c->n_args < v->least;
    st = few ? cli_check_no_model(c) : CR_OK;
    if (st != CR_OK) return st;
    usage_word(v->usage, c->n_args, word);
    if (few)
        cr_fail(c->cx, CR_EARG, "%s: the argument %s is missing", v->name, word);
    else
        cr_fail(c->cx, CR_EARG, "%s: '%s' is one argument too many", v->name, c->args[v->most]);
    return cr_fail_hint(c->cx, "usage: credence %s", v->usage);
}

static cr_status allocate(cli *c)
{
    size_t n = (size_t)c->argc + 1, bytes = 0;
    for (int i = 0; i < c->argc; i++) bytes += strlen(c->argv[i]) + 1;
    c->args = cr_alloc(c->cx, n, sizeof *c->args);
    c->settings = cr_alloc(c->cx, n, sizeof *c->settings);
    c->names = cr_alloc(c->cx, bytes, 1);
    return c->args && c->settings && c->names ? CR_OK : CR_ENOMEM;
}

/* -1.5 and -.5 are arguments: no option is called by a digit. */
static bool is_negative_number(const char *a)
{
    return a[0] == '-' && strchr("0123456789.", a[1]) && a[1];
}

cr_status cli_parse(cli *c)
{
    cr_status   st = CR_OK;
    const char *verb;
    CR_TRY(allocate(c));
    CR_TRY(cr_options_init(c->cx, cli_global_table, &c->global));
    CR_TRY(cr_options_init(c->cx, cr_read_table, &c->read));
    CR_TRY(cr_options_init(c->cx, cr_fit_table, &c->fit));
    verb = find_verb(c);
    c->verb = verb ? cli_verb_find(verb) : NULL;
    if (verb && !c->verb) CR_TRY(unknown_verb(c, verb));
    if (c->verb && c->verb->options) {
        c->own = cr_alloc(c->cx, 1, c->verb->options_size);
        if (!c->own) CR_TRY(CR_ENOMEM);
        CR_TRY(cr_options_init(c->cx, c->verb->options, c->own));
    }
    bool verb_seen = false, options = true;
    for (int i = 1; i < c->argc; i++) {
        char *a = c->argv[i];
        if (options && strcmp(a, "--") == 0)
            options = false;
        else if (options && a[0] == '-' && a[1] == '-')
            CR_TRY(parse_long(c, &i));
        else if (options && a[0] == '-' && a[1] && !is_negative_number(a))
            CR_TRY(parse_short(c, &i));
        else if (!verb_seen)
            verb_seen = true;
        else
            c->args[c->n_args++] = a;
    }
    cli_take_program(c);
    if (c->verb && !c->global.help && !c->global.version) CR_TRY(check_count(c));
done:
    return st;
}

void cli_free(cli *c)
{
    size_t n = (size_t)c->argc + 1, bytes = 0;
    for (int i = 0; i < c->argc; i++) bytes += strlen(c->argv[i]) + 1;
    if (c->own) cr_options_free(c->cx, c->verb->options, c->own);
    if (c->own) cr_free(c->cx, c->own, 1, c->verb->options_size);
    if (c->args) {
        cr_options_free(c->cx, cli_global_table, &c->global);
        cr_options_free(c->cx, cr_read_table, &c->read);
        cr_options_free(c->cx, cr_fit_table, &c->fit);
    }
    cr_free(c->cx, c->args, n, sizeof *c->args);
    cr_free(c->cx, c->settings, n, sizeof *c->settings);
    cr_free(c->cx, c->names, bytes, 1);
    cri_sheet_free(c->said);
}
