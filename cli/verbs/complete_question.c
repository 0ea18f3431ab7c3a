/* complete_question.c -- candidates within a question to a network: names of variables and
 * states. */
#include "complete.h"
#include "network.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The network that the first argument names, in a model; its size is limited, for it is read
 * whole. */
static cr_model *load_network(const complete_line *l, const cr_variables **out)
{
    enum { LARGEST = 1 << 25 };
    char            home[1024];
    struct stat     info;
    cr_model       *m = NULL;
    cri_any_network any;
    const char     *path = l->n_args > 0 ? complete_home(l->args[0], home) : "";
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > LARGEST) return NULL;
    if (cri_model_read_network(l->c->cx, path, CR_FORMAT_AUTO, &m) != CR_OK) return NULL;
    cri_model_network(m, &any);
    *out = cri_any_variables(any);
    return m;
}

/* A name as questions write it: in quotes where it holds what means something there. */
static const char *write_name(const char *name, bool state, char out[1024])
{
    const char *special = state ? " ,)}|:\"'" : " (){},;|=~:!\"'";
    size_t      used = 0;
    if (name[strcspn(name, special)] == '\0' || strlen(name) > 400) return name;
    out[used++] = '"';
    for (; *name; name++) {
        if (*name == '"') out[used++] = '"';
        out[used++] = *name;
    }
    snprintf(out + used, 2, "\"");
    return out;
}

/* Offers what begins as typed, with or without the quotes. */
static void offer_name(const complete_line *l, const char *name, bool state)
{
    char        quoted[1024];
    const char *written = write_name(name, state, quoted);
    if (complete_begins(l, name) || complete_begins(l, written)) complete_print(l, written, "");
}

/* The variable whose states stand at `at`: behind "x=", "x in {", "x~{a:1," and so on. */
static size_t variable_before(const cr_variables *vs, const char *begin, const char *at)
{
    char        name[512];
    const char *end = at, *from;
    for (const char *p = at; p > begin && p[-1] != '}' && p[-1] != '('; p--) /* inside braces? */
        if (p[-1] == '{') {
            end = p - 1;
            break;
        }
    while (end > begin && strchr("=!:~{ ", end[-1])) end--;
    if (end - begin > 3 && strncmp(end - 3, " in", 3) == 0) end -= 3;
    while (end > begin && end[-1] == ' ') end--;
    for (from = end; from > begin && !strchr("(,|;{ \"'", from[-1]);) from--;
    snprintf(name, sizeof name, "%.*s", (int)(end - from), from);
    if (cr_variable_lookup(vs, name) == CR_NONE) name[strcspn(name, "[")] = '\0'; /* its slice */
    return cr_variable_lookup(vs, name);
}

/* Variables after '(', ',', '|' or ';', states after '=' and in braces. */
void complete_question(complete_line *l)
{
    const char         *text = l->word.text, *last = text;
    bool                in_braces = false, states;
    const cr_variables *vs;
    cr_model           *m = load_network(l, &vs);
    if (!m) return;
    for (const char *p = text; *p; p++) {
        if (strchr("(,|;={ ", *p)) last = p + 1;
        in_braces = (in_braces || *p == '{') && *p != '}';
    }
    l->piece = last;
    states = in_braces || (last > text && last[-1] == '=');
    size_t v = states ? variable_before(vs, text, last) : CR_NONE;
    for (size_t s = 0; v != CR_NONE && s < cr_variable_states(vs, v); s++)
        offer_name(l, cr_state_name(vs, v, s), true);
    for (size_t i = 0; !states && i < cr_variables_count(vs); i++)
        offer_name(l, cr_variable_name(vs, i), false);
    for (size_t k = 0; last == text && k < CR_QUESTION_COUNT; k++) {
        const cri_question_row *row = cri_question_of((cr_question_kind)k);
        if (row->typed) complete_offer(l, row->typed, row->help);
    }
    cr_model_free(l->c->cx, m);
}

void complete_variables(complete_line *l)
{
    const cr_variables *vs;
    cr_model           *m = load_network(l, &vs);
    for (size_t v = 0; m && v < cr_variables_count(vs); v++)
        complete_column(l, cr_variable_name(vs, v));
    cr_model_free(l->c->cx, m);
}
