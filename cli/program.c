/* program.c -- a program in the place of a model: fit 'y ~ normal(a + b*x, s); ...' data.csv, fit FILE.stan data.json. */
#include "cli.h"
#include "prob/program/kernels.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* A tilde with a distribution behind it, or one of several statements: what a formula of R never has. */
static bool is_program(const char *text)
{
    char name[64];
    for (const char *at = strchr(text, '~'); at; at = strchr(at + 1, '~')) {
        const char *word = at + 1 + strspn(at + 1, " \t\n");
        size_t      length = 0;
        while (is_word(word[length])) length++;
        if (word[length + strspn(word + length, " ")] != '(' || length >= sizeof name) continue;
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        if (strpbrk(text, ";\n") || cri_density_find(name)) return true;
    }
    return false;
}

void cli_take_program(cli *c)
{
    static char model[] = "program"; /* never written to */
    if (!c->verb || !(c->verb->takes & VERB_FITS) || c->n_args == 0) return;
    char *first = c->args[0];
    if (cli_model_named(first) ||
        !(cli_ends_with(first, ".model") || cli_ends_with(first, ".stan") || is_program(first)))
        return;
    c->settings[c->n_settings++] = (cr_setting){ model, first };
    c->args[0] = model;
}

/* The first byte that is not white space. */
static int first_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    int   byte = EOF;
    if (!file) return EOF;
    do byte = getc(file);
    while (byte != EOF && isspace(byte));
    (void)fclose(file);
    return byte;
}

cr_status cli_program_table(cli *c, const char *path, cr_table **out_table)
{
    cr_status st = CR_OK;
    double    one = 1;
    cr_table *t = NULL;
    *out_table = NULL;
    if (strcmp(c->args[0], "program") != 0 || !cli_ends_with(path, ".json") ||
        first_of(path) != '{')
        return CR_OK;
    c->settings[c->n_settings++] = (cr_setting){ "arrays", path };
    CR_TRY(cr_table_new(c->cx, path, 1, &t));
    CR_TRY(
        cr_table_add_numbers(c->cx, t, "(data)", CR_INTEGER, &one, 1)); /* no program names this */
    *out_table = t;
    t = NULL;
done:
    cr_table_free(c->cx, t);
    return st;
}
