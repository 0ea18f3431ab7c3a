/* cmd_complete.c -- complete: what may stand for a word of the command line, for the shells'
 * scripts.
 *
 *     credence complete [--shell S] [--at I] -- WORDS...
 *
 * prints the candidates for word I (the last, if not given), one per line; for zsh and fish with
 * what they mean behind a tab.  For bash the words are as typed, quotes and all, and so are the
 * candidates. Exit code 1 says that a file name may stand there, which the shell knows best.  It
 * never complains: a line that makes no sense has no candidates.  Files on the line are only looked
 * into. */
#include "complete.h"
#include "base/list.h"
#include "data/formats/column_names.h"
#include "prob/dist/dist.h"
#include "math/kernel/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* clang-format off */
#define COMPLETE_OPTIONS(X)                                                                        \
    X(choice, shell, "plain", "plain|bash|zsh|fish", "shell that is completing", "bash")              \
    X(count,  at,    "",      "",                    "index of the word to complete, from 0", "2")
/* clang-format on */
enum { SHELL_PLAIN, SHELL_BASH, SHELL_ZSH, SHELL_FISH };
CR_OPTIONS(complete_options, complete_table, COMPLETE_OPTIONS);

/* --- quotes ---------------------------------------------------------------------------------- */

/* The word that the shell would make of `raw`, as far as quotes go. */
static cr_status unquote(cr_ctx *cx, const char *raw, complete_word *out)
{
    size_t n = strlen(raw), used = 0;
    *out = (complete_word){ cr_alloc(cx, n + 1, 1), cr_alloc(cx, n + 1, sizeof(size_t)), '\0' };
    if (!out->text || !out->place) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        bool literal = out->quote == '\'';
        if (raw[i] == out->quote) {
            out->quote = '\0';
            continue;
        }
        if (!out->quote && (raw[i] == '\'' || raw[i] == '"')) {
            out->quote = raw[i];
            continue;
        }
        out->place[used] = i;
        if (!literal && raw[i] == '\\' && raw[i + 1]) i++;
        out->text[used++] = raw[i];
    }
    out->place[used] = n;
    return CR_OK;
}

static void free_word(cr_ctx *cx, const char *raw, complete_word *w)
{
    cr_free(cx, w->text, strlen(raw) + 1, 1);
    cr_free(cx, w->place, strlen(raw) + 1, sizeof(size_t));
}

static void print_quoted(cli *c, const char *text, char quote)
{
    const char *special = quote == '"' ? "\"\\$`" : quote ? "" : " \t|&;()<>\"'\\$`*?[]#~!{}";
    for (; *text; text++) out_text(c, "%s%c", strchr(special, *text) ? "\\" : "", *text);
}

/* --- candidates ------------------------------------------------------------------------------ */

bool complete_begins(const complete_line *l, const char *candidate)
{
    return strncmp(candidate, l->piece, strlen(l->piece)) == 0;
}

/* What was typed before the piece, and a candidate. */
void complete_print(const complete_line *l, const char *candidate, const char *meaning)
{
    cli   *c = l->c;
    size_t before = (size_t)(l->piece - l->word.text);
    if (strpbrk(candidate, "\n\t")) return;
    if (l->shell == SHELL_BASH) {
        out_bytes(c, l->raw, l->word.place[before]);
        print_quoted(c, candidate, l->word.quote);
    } else {
        out_bytes(c, l->word.text, before);
        out_text(c, "%s", candidate);
        if (meaning[0] && l->shell != SHELL_PLAIN) out_text(c, "\t%s", meaning);
    }
    out_text(c, "\n");
}

void complete_offer(const complete_line *l, const char *candidate, const char *meaning)
{
    if (complete_begins(l, candidate)) complete_print(l, candidate, meaning);
}

static void offer_verbs(const complete_line *l)
{
    for (size_t i = 0; cli_verbs[i]; i++)
        complete_offer(l, cli_verbs[i]->name, cli_verbs[i]->summary);
}

static void offer_models(const complete_line *l)
{
    for (size_t i = 0; i < cr_class_count(); i++)
        complete_offer(l, cr_class_name(cr_class_at(i)), cr_class_summary(cr_class_at(i)));
}

static void offer_distributions(const complete_line *l)
{
    for (size_t i = 0; i < cr_dist_count(); i++)
        complete_offer(l, cr_dist_name(cr_dist_at(i)), cr_dist_summary(cr_dist_at(i)));
}

static void offer_kernels(const complete_line *l)
{
    for (size_t i = 0; i < cr_kernel_count(); i++)
        complete_offer(l, cr_kernel_name(cr_kernel_at(i)), cr_kernel_summary(cr_kernel_at(i)));
}

/* "a|b|c". */
static void offer_choices(const complete_line *l, const char *choices)
{
    char one[64];
    for (size_t n; *choices; choices += n + (choices[n] == '|')) {
        n = strcspn(choices, "|");
        snprintf(one, sizeof one, "%.*s", (int)n, choices);
        complete_offer(l, one, "");
    }
}

static void offer_options(const complete_line *l, const cr_option *table)
{
    char flag[80], name[64], meaning[512];
    for (const cr_option *o = table; o->name; o++) {
        bool on = o->kind == CR_OPTION_flag && o->fallback[0] == 't';
        snprintf(flag, sizeof flag, "--%s", cli_spell(o->name, name));
        complete_offer(l, flag, o->help);
        snprintf(flag, sizeof flag, "--no-%s", name);
        snprintf(meaning, sizeof meaning, "do not %s", o->help);
        if (on) complete_offer(l, flag, meaning);
    }
}

static void offer_all_options(const complete_line *l)
{
    const cr_option *tables[CLI_MOST_TABLES];
    size_t           n = cli_tables(l->verb, tables);
    if (l->model) offer_options(l, cr_class_options(l->model));
    for (size_t i = 0; i < n; i++) offer_options(l, tables[i]);
}

/* --- columns --------------------------------------------------------------------------------- */

/* true when the list, up to the piece, already has this item, which is as lists write it. */
static bool is_listed(const complete_line *l, const char *item)
{
    size_t n = strlen(item);
    for (const char *at = l->value, *end; at < l->piece; at = end + 1) {
        end = cri_list_item_end(at);
        if (end < l->piece && (size_t)(end - at) == n && memcmp(at, item, n) == 0) return true;
        if (!*end) break;
    }
    return false;
}

/* In a list a name may need quotes, which need not have been typed. */
void complete_column(void *user, const char *name)
{
    const complete_line *l = user;
    char                 item[1024];
    if (l->option->kind != CR_OPTION_list) {
        complete_offer(l, name, "");
        return;
    }
    if (cri_list_quote(name, item, sizeof item) >= sizeof item || is_listed(l, item)) return;
    if (complete_begins(l, name) || complete_begins(l, item)) complete_print(l, item, "");
}

/* The columns that the design of a model reads; its size is limited, for it is loaded whole. */
static bool offer_model_columns(complete_line *l, const char *path)
{
    enum { LARGEST = 1 << 25 };
    struct stat info;
    cr_model   *m = NULL;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > LARGEST) return false;
    if (cr_model_load(l->c->cx, path, &m) != CR_OK) return false;
    const cr_design *d = cr_model_get_design(m);
    for (size_t i = 0; i < cr_design_columns(d); i++)
        complete_column(l, cr_design_column_name(d, i));
    if (cr_design_target(d)) complete_column(l, cr_design_target(d));
    if (cr_design_weights(d)) complete_column(l, cr_design_weights(d));
    cr_model_free(l->c->cx, m);
    return true;
}

/* ~/x as the shell would have it; `out` is for that. */
const char *complete_home(const char *path, char out[1024])
{
    const char *home = getenv("HOME");
    if (strncmp(path, "~/", 2) != 0 || !home) return path;
    snprintf(out, 1024, "%s%s", home, path + 1);
    return out;
}

/* Those of the first model, or of the first data file, on the line; false when there is none. */
static bool offer_columns_of(complete_line *l, bool models)
{
    char   home[1024];
    size_t first = l->verb && l->verb->takes & VERB_FITS ? 1 : 0;
    for (size_t i = first; i < l->n_args; i++) {
        const char *path = complete_home(l->args[i], home);
        if (cli_ends_with(path, ".cred") != models) continue;
        if (models ? offer_model_columns(l, path)
                   : cri_column_names(l->c->cx, path, &l->read, complete_column, l) == CR_OK)
            return true;
    }
    return false;
}

/* An option of the verb itself is about the data, those of reading about what the model wants of
 * them. */
static void offer_columns(complete_line *l)
{
    bool own = l->verb && l->verb->options && l->option &&
               cr_option_find(l->verb->options, l->option->name) == l->option;
    if (!offer_columns_of(l, !own)) offer_columns_of(l, own);
}

/* --- the line -------------------------------------------------------------------------------- */

static const cr_option *find_option(const complete_line *l, const char *text)
{
    char             name[64];
    const cr_option *tables[CLI_MOST_TABLES], *o = NULL;
    size_t           n = cli_tables(l->verb, tables);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    if (l->model) o = cr_option_find(cr_class_options(l->model), name);
    for (size_t i = 0; i < n && !o; i++) o = cr_option_find(tables[i], name);
    for (size_t i = 0; i < cr_class_count() && !o && l->verb && l->verb->takes & VERB_FITS; i++)
        o = cr_option_find(cr_class_options(cr_class_at(i)), name);
    return o;
}

static bool is_option(const complete_line *l, const char *text)
{
    return !l->ended && text[0] == '-' && text[1];
}

/* The option that a word names, if a value is to follow in the next word. */
static const cr_option *wants_value(const complete_line *l, const char *text)
{
    const cr_option *o = NULL;
    if (strncmp(text, "--", 2) == 0 && !strchr(text, '='))
        o = find_option(l, text + 2);
    else if (strcmp(text, "-o") == 0)
        o = cr_option_find(cli_global_table, "output");
    return o && o->kind != CR_OPTION_flag ? o : NULL;
}

static void take_argument(complete_line *l, const char *text)
{
    const cr_model_class *m;
    if (l->lost) return;
    if (!l->verb) {
        l->verb = cli_verb_find(text);
        l->lost = !l->verb;
        return;
    }
    if (l->verb->takes & VERB_FITS && l->n_args == 0 && (m = cr_class_find(l->c->cx, text)))
        l->model = m;
    if (l->n_args < sizeof l->args / sizeof *l->args) l->args[l->n_args++] = text;
}

/* How data are read has a say in what their columns are called. */
static void take_value(complete_line *l, const cr_option *o, const char *value)
{
    if (cr_option_find(cr_read_table, o->name) == o)
        cr_options_set(l->c->cx, cr_read_table, &l->read, o->name, value);
}

/* The word that is completed: what it may be, given all that came before. */
static void place_word(complete_line *l, const cr_option *pending)
{
    char *text = l->word.text, *equals = strchr(text, '=');
    l->piece = text;
    l->position = l->n_args;
    l->option = pending;
    if (!pending && is_option(l, text) && equals) {
        l->option = find_option(l, text + 2);
        l->piece = l->option ? equals + 1 : text;
    }
    l->value = l->piece;
    if (l->option && l->option->kind == CR_OPTION_list) {
        for (const char *end; *(end = cri_list_item_end(l->piece));) l->piece = end + 1;
        if (l->piece[0] == '!') l->piece++;
    }
}

/* Goes over all words: those behind the completed one count too, for a file may stand there. */
static void read_line(complete_line *l, char **words, size_t n, size_t at)
{
    const cr_option *pending = NULL;
    for (size_t i = 0; i < n; i++) {
        char *text = words[i];
        if (i == at) {
            place_word(l, pending);
            pending = NULL;
        } else if (pending) {
            take_value(l, pending, text);
            pending = NULL;
        } else if (!l->ended && strcmp(text, "--") == 0) {
            l->ended = true;
        } else if (is_option(l, text)) {
            const cr_option *o = strchr(text, '=') ? find_option(l, text + 2) : NULL;
            pending = wants_value(l, text);
            if (o) take_value(l, o, strchr(text, '=') + 1);
        } else {
            take_argument(l, text);
        }
    }
}

/* --- what is possible there ------------------------------------------------------------------ */

/* The n-th word of a usage line behind the verb, without brackets. */
static void usage_word(const char *usage, size_t n, char out[64])
{
    const char *at = usage + strcspn(usage, " ");
    for (; *at && n > 0; n--) at += 1 + strcspn(at + 1, " ");
    at += strspn(at, " [");
    snprintf(out, 64, "%.*s", (int)strcspn(at, " ]"), at);
}

/* The usage line says what an argument is: models, a verb, one of several words, or else a file.
 * The name that dist takes is a distribution, and numbers follow. */
static void offer_argument(complete_line *l)
{
    char what[64];
    usage_word(l->verb->usage, l->position, what);
    if (l->position >= l->verb->most) return;
    if (strcmp(l->verb->name, "query") == 0 && l->position > 0) {
        complete_question(l);
        return;
    }
    if (l->verb->takes & VERB_FITS && l->verb->most > 2 && l->position > 0) {
        offer_models(l); /* another one to compare, or the data */
        l->c->answer_no = true;
    } else if (strcmp(l->verb->name, "dist") == 0) {
        if (l->position == 0) offer_distributions(l);
    } else if (strcmp(what, "MODEL") == 0 || strcmp(what, "NAME") == 0) {
        offer_models(l);
        if (what[0] == 'N') complete_offer(l, "kernels", "kernels and their expressions");
    } else if (strcmp(what, "KERNEL") == 0) {
        if (strcmp(l->args[0], "kernels") == 0) offer_kernels(l);
    } else if (strcmp(what, "VERB") == 0) {
        offer_verbs(l);
        if (strcmp(l->verb->name, "help") == 0) {
            complete_offer(l, "kernels", "kernels and their expressions");
            complete_offer(l, "options", "options that most verbs take");
        }
    } else if (strchr(what, '|'))
        offer_choices(l, what);
    else
        l->c->answer_no = true;
}

/* NAME= of the settings that a model has, and behind that the words of one. */
static void offer_settings(complete_line *l)
{
    const cr_option *tables[] = { l->model ? cr_class_options(l->model) : cr_fit_table,
                                  cr_design_table, cr_fit_table };
    char        name[80];
    const char *equals = strchr(l->piece, '='), *bar = strrchr(l->piece, '|');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(l->piece, "="), l->piece);
    if (equals) l->piece = bar ? bar + 1 : equals + 1;
    for (size_t t = l->model ? 0 : 1; t < 3; t++) {
        const cr_option *o = equals ? cr_option_find(tables[t], name) : NULL;
        if (o && o->kind == CR_OPTION_choice) offer_choices(l, o->range);
        for (o = tables[t]; !equals && o->name; o++) {
            snprintf(name, sizeof name, "%s=", o->name);
            complete_offer(l, name, o->help);
        }
    }
}

/* The kernel that comes next in an expression. */
static void offer_kernel_expression(complete_line *l)
{
    for (const char *at; (at = strpbrk(l->piece, "+*( "));) l->piece = at + 1;
    offer_kernels(l);
}

static void offer_losses(complete_line *l)
{
    offer_choices(l, "0-1|squared|absolute|quantile:");
    l->c->answer_no = true; /* or a file */
}

static void offer_value(complete_line *l)
{
    const cr_option *o = l->option;
    if (o->kind == CR_OPTION_choice)
        offer_choices(l, o->range);
    else if (o->kind == CR_OPTION_flag)
        offer_choices(l, "true|false");
    else if (strcmp(o->range, "COLUMN") == 0)
        offer_columns(l);
    else if (strcmp(o->range, "VARIABLE") == 0)
        complete_variables(l);
    else if (strcmp(o->range, "NAME=VALUES") == 0)
        offer_settings(l);
    else if (strcmp(o->name, "kernel") == 0)
        offer_kernel_expression(l);
    else if (strcmp(o->range, "LOSS") == 0)
        offer_losses(l);
    else if (strcmp(o->range, "FILE") == 0)
        l->c->answer_no = true;
}

static void offer_candidates(complete_line *l)
{
    if (l->option)
        offer_value(l);
    else if (is_option(l, l->word.text) || (l->word.text[0] == '-' && !l->ended))
        offer_all_options(l);
    else if (!l->verb && !l->lost)
        offer_verbs(l);
    else if (l->verb)
        offer_argument(l);
}

static cr_status run_complete(cli *c)
{
    cr_status               st = CR_OK;
    const complete_options *o = c->own;
    size_t                  n = c->n_args, at = o->at < n ? o->at : n - 1;
    complete_line           l = { .c = c, .shell = o->shell, .piece = "" };
    complete_word          *words = cr_alloc(c->cx, n, sizeof *words);
    char                  **texts = cr_alloc(c->cx, n, sizeof *texts);

    if (n == 0) goto done;
    cr_ctx_set_log(c->cx, NULL, NULL);
    cr_ctx_set_time_limit(c->cx, 0.1); /* nobody waits for a candidate */
    if (!words || !texts) CR_TRY(CR_ENOMEM);
    CR_TRY(cr_options_init(c->cx, cr_read_table, &l.read));
    for (size_t i = 0; i < n; i++) {
        CR_TRY(unquote(c->cx, c->args[i], &words[i]));
        texts[i] = o->shell == SHELL_BASH || i == at ? words[i].text : c->args[i];
    }
    l.raw = c->args[at];
    l.word = words[at];
    read_line(&l, texts, n, at);
    CR_TRY(out_open(c, NULL));
    offer_candidates(&l);
done:
    for (size_t i = 0; words && i < n; i++) free_word(c->cx, c->args[i], &words[i]);
    cr_free(c->cx, words, n, sizeof *words);
    cr_free(c->cx, texts, n, sizeof *texts);
    cr_options_free(c->cx, cr_read_table, &l.read);
    return st;
}

const cli_verb verb_complete = {
    .name = "complete",
    .usage = "complete [--shell SHELL] [--at I] -- WORDS...",
    .summary = "list the completions of a word on the command line",
    .example = "credence complete -- fit ",
    .options = complete_table,
    .options_size = sizeof(complete_options),
    .most = SIZE_MAX,
    .run = run_complete,
};
