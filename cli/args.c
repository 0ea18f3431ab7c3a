/* args.c -- the command line, parsed by the option tables. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(...) CR_OPTION_ROW(cli_global, __VA_ARGS__)
const cr_option cli_global_table[] = { CLI_GLOBAL_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

static const struct {
    char        letter;
    const char *name;
} letters[] = { { 'o', "output" }, { 'q', "quiet" }, { 'v', "verbose" }, { 'h', "help" } };

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

const cli_verb *cli_verb_find(const char *name)
{
    for (size_t i = 0; cli_verbs[i]; i++)
        if (strcmp(cli_verbs[i]->name, name) == 0) return cli_verbs[i];
    return NULL;
}

size_t cli_tables(const cli_verb *verb, const cr_option *out[CLI_MOST_TABLES])
{
    size_t n = 0;
    if (verb && verb->options) out[n++] = verb->options;
    if (verb && verb->takes & VERB_FITS) out[n++] = cr_design_table;
    if (verb && verb->takes & VERB_READS) out[n++] = cr_read_table;
    out[n++] = cr_fit_table;
    out[n++] = cli_global_table;
    out[n] = NULL;
    return n;
}

/* An option of any model: which one is meant is known only when the model is. */
static const cr_option *find_model_option(const char *name)
{
    for (size_t i = 0; i < cr_class_count(); i++) {
        const cr_option *o = cr_option_find(cr_class_options(cr_class_at(i)), name);
        if (o) return o;
    }
    return NULL;
}

const cr_option *cli_find_option(const cli_verb *verb, const char *name)
{
    const cr_option *tables[CLI_MOST_TABLES], *o = NULL;
    size_t           n = cli_tables(verb, tables);
    for (size_t i = 0; i < n && !o; i++) o = cr_option_find(tables[i], name);
    if (!o && verb && verb->takes & VERB_FITS) o = find_model_option(name);
    return o;
}

/* --- unknown words --------------------------------------------------------------------------- */

typedef struct name_list {
    const char *names[256];
    size_t      n;
} name_list;

static const char *list_name(const void *list, size_t i) { return ((const name_list *)list)->names[i]; }

static void add_names(name_list *list, const cr_option *table)
{
    for (; table->name && list->n < 256; table++) list->names[list->n++] = table->name;
}

static cr_status unknown_option(cli *c, const char *name)
{
    const cr_option *tables[CLI_MOST_TABLES];
    name_list        list = { .n = 0 };
    char             shell[64], flag[80];
    for (size_t i = 0, n = cli_tables(c->verb, tables); i < n; i++) add_names(&list, tables[i]);
    if (c->verb && c->verb->takes & VERB_FITS)
        for (size_t i = 0; i < cr_class_count(); i++)
            add_names(&list, cr_class_options(cr_class_at(i)));
    cr_fail(c->cx, CR_EARG, "unknown option --%s%s%s", name, c->verb ? " of " : "",
            c->verb ? c->verb->name : "");
    cr_fail_nearest(c->cx, name, "options", list.n, list_name, &list);
    if (!cr_error_nearest(c->cx)[0])
        return cr_fail_hint(c->cx, "credence help%s%s lists them", c->verb ? " " : "",
                            c->verb ? c->verb->name : "");
    snprintf(flag, sizeof flag, "--%s", cli_spell(cr_error_nearest(c->cx), shell));
    return cr_fail_hint(c->cx, "did you mean %s?", flag);
}

static const char *verb_name(const void *unused, size_t i)
{
    (void)unused;
    return cli_verbs[i]->name;
}

static cr_status unknown_verb(cli *c, const char *name)
{
    size_t n = 0;
    while (cli_verbs[n]) n++;
    cr_fail(c->cx, CR_EARG, "there is no verb '%s'", name);
    return cr_fail_nearest(c->cx, name, "verbs", n, verb_name, NULL);
}

/* --- options --------------------------------------------------------------------------------- */

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
            return cr_options_set(c->cx, places[i].table, places[i].values, name, value);

    char *copy = c->names + c->names_used;
    c->names_used += strlen(name) + 1;
    memcpy(copy, name, strlen(name) + 1);
    for (char *p = copy; *p; p++)
        if (*p == '-') *p = '_';
    c->settings[c->n_settings++] = (cr_setting){ copy, value };
    return CR_OK;
}

/* --name, --name=value, --name value, --no-name; *i moves over a value that is taken. */
static cr_status parse_long(cli *c, int *i)
{
    char        name[64];
    const char *text = c->argv[*i] + 2, *equals = strchr(text, '=');
    size_t      length = equals ? (size_t)(equals - text) : strlen(text);
    if (length >= sizeof name) return cr_fail(c->cx, CR_EARG, "unknown option %s", c->argv[*i]);
    memcpy(name, text, length);
    name[length] = '\0';

    const cr_option *o = cli_find_option(c->verb, name);
    if (!o && strncmp(name, "no-", 3) == 0 && !equals) {
        o = cli_find_option(c->verb, name + 3);
        if (o && o->kind == CR_OPTION_flag) return store(c, name + 3, "false");
        o = NULL;
    }
    if (!o) return unknown_option(c, name);
    if (equals) return store(c, name, equals + 1);
    if (o->kind == CR_OPTION_flag) return store(c, name, "true");
    if (*i + 1 >= c->argc) {
        cr_fail(c->cx, CR_EARG, "--%s needs a value", name);
        return cr_fail_hint(c->cx, "for example --%s %s", name, o->example);
    }
    return store(c, name, c->argv[++*i]);
}

static cr_status parse_short(cli *c, int *i)
{
    const char *text = c->argv[*i];
    for (size_t k = 0; k < sizeof letters / sizeof *letters; k++) {
        if (text[1] != letters[k].letter) continue;
        const cr_option *o = cr_option_find(cli_global_table, letters[k].name);
        if (o->kind == CR_OPTION_flag && !text[2]) return store(c, o->name, "true");
        if (o->kind == CR_OPTION_flag) break;
        if (text[2]) return store(c, o->name, text + 2);
        if (*i + 1 < c->argc) return store(c, o->name, c->argv[++*i]);
        return cr_fail(c->cx, CR_EARG, "-%c needs a value", text[1]);
    }
    cr_fail(c->cx, CR_EARG, "unknown option %s", text);
    return cr_fail_hint(c->cx, "credence help lists the options");
}

/* --- the whole line -------------------------------------------------------------------------- */

/* The verb is the first word that is neither an option nor the value of a global one. */
static const char *find_verb(const cli *c)
{
    for (int i = 1; i < c->argc; i++) {
        const char *a = c->argv[i];
        if (a[0] != '-' || !a[1]) return a;
        if (strchr(a, '=')) continue;
        const cr_option *o = NULL;
        if (a[1] == '-') o = cli_find_option(NULL, a + 2);
        else if (a[1] == 'o' && !a[2]) o = cr_option_find(cli_global_table, "output");
        if (o && o->kind != CR_OPTION_flag) i++;
    }
    return NULL;
}

static cr_status check_count(cli *c)
{
    const cli_verb *v = c->verb;
    if (c->n_args >= v->least && c->n_args <= v->most) return CR_OK;
    bool few = c->n_args < v->least;
    if (few) cr_fail(c->cx, CR_EARG, "%s: too few arguments", v->name);
    else cr_fail(c->cx, CR_EARG, "%s: '%s' is one argument too many", v->name, c->args[v->most]);
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
        if (options && strcmp(a, "--") == 0) options = false;
        else if (options && a[0] == '-' && a[1] == '-') CR_TRY(parse_long(c, &i));
        else if (options && a[0] == '-' && a[1] && !is_negative_number(a)) CR_TRY(parse_short(c, &i));
        else if (!verb_seen) verb_seen = true;
        else c->args[c->n_args++] = a;
    }
    if (c->verb && !c->global.help) CR_TRY(check_count(c));
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
    }
    cr_free(c->cx, c->args, n, sizeof *c->args);
    cr_free(c->cx, c->settings, n, sizeof *c->settings);
    cr_free(c->cx, c->names, bytes, 1);
    json_decref(c->warnings);
}
