/* complete_question.c -- candidates within a question to a network: names of variables and
 * states. */
#include "complete.h"
#include "network.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The network that the first argument names; its size is limited, for it is read whole. */
static cr_network *load_network(const complete_line *l)
{
    enum { LARGEST = 1 << 25 };
    char        home[1024];
    struct stat info;
    cr_network *net = NULL;
    const char *path = l->n_args > 0 ? complete_home(l->args[0], home) : "";
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > LARGEST) return NULL;
    return cr_network_read(l->c->cx, path, CR_FORMAT_AUTO, &net) == CR_OK ? net : NULL;
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
static size_t variable_before(const cr_network *net, const char *begin, const char *at)
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
    return cr_variable_lookup(cr_network_variables(net), name);
}

/* What a question may begin with. */
static const struct {
    const char *text, *meaning;
} kinds[] = {
    { "P(", "a distribution, or the probability of states" },
    { "argmax(", "the most probable states" },
    { "H(", "entropy" },
    { "I(", "mutual information" },
    { "best(", "the k most probable assignments" },
    { "causes(", "what the evidence speaks for" },
    { "sensitivity(", "how a probability changes with parameters" },
    { "dsep(", "separation by the graph alone" },
    { "parents(", "variables with an arrow to x" },
    { "children(", "variables with an arrow from x" },
    { "ancestors(", "all before x" },
    { "descendants(", "all behind x" },
    { "blanket(", "what shields x from all others" },
    { "order()", "causes before effects" },
    { "moral()", "edges of the moral graph" },
    { "cliques()", "maximal cliques after triangulation" },
    { "chordal()", "is the moral graph chordal?" },
    { "imap(", "do its independences hold in another network?" },
};

/* Variables after '(', ',', '|' or ';', states after '=' and in braces. */
void complete_question(complete_line *l)
{
    const char *text = l->word.text, *last = text;
    bool        in_braces = false, states;
    cr_network *net = load_network(l);
    if (!net) return;
    for (const char *p = text; *p; p++) {
        if (strchr("(,|;={ ", *p)) last = p + 1;
        in_braces = (in_braces || *p == '{') && *p != '}';
    }
    l->piece = last;
    states = in_braces || (last > text && last[-1] == '=');
    const cr_variables *vs = cr_network_variables(net);
    size_t              v = states ? variable_before(net, text, last) : CR_NONE;
    for (size_t s = 0; v != CR_NONE && s < cr_variable_states(vs, v); s++)
        offer_name(l, cr_state_name(vs, v, s), true);
    for (size_t i = 0; !states && i < cr_variables_count(vs); i++)
        offer_name(l, cr_variable_name(vs, i), false);
    for (size_t i = 0; last == text && i < sizeof kinds / sizeof *kinds; i++)
        complete_offer(l, kinds[i].text, kinds[i].meaning);
    cr_network_free(l->c->cx, net);
}

void complete_variables(complete_line *l)
{
    cr_network *net = load_network(l);
    for (size_t v = 0; net && v < cr_network_size(net); v++)
        complete_column(l, cr_variable_name(cr_network_variables(net), v));
    cr_network_free(l->c->cx, net);
}
