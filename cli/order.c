/* order.c -- arguments that stand in the wrong order: fit data.csv linear, predict data.csv m.cred. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static size_t add_word(char *out, size_t size, size_t used, const char *word)
{
    if (used < size) used += (size_t)snprintf(out + used, size - used, " ");
    if (used < size) used += cli_quote(word, out + used, size - used);
    return used;
}

/* The command line with its first argument behind the others: credence fit linear data.csv ... */
static void corrected(const cli *c, char *out, size_t size)
{
    size_t      used = (size_t)snprintf(out, size, "credence");
    const char *first = c->args[0], *last = c->args[c->n_args - 1];
    for (int i = 1; i < c->argc; i++) {
        if (c->argv[i] == first) continue;
        used = add_word(out, size, used, c->argv[i]);
        if (c->argv[i] == last) used = add_word(out, size, used, first);
    }
}

cr_status cli_check_order(cli *c)
{
    bool fits = c->verb->takes & VERB_FITS;
    bool asks = strncmp(c->verb->usage + strlen(c->verb->name), " FILE.cred", 10) == 0;
    char command[1024];
    if (c->n_args < 2 || (!fits && !asks) || !is_there(c->args[0])) return CR_OK;
    const char *first = c->args[0], *second = c->args[1];
    if (fits ? cli_model_named(first) || !cli_model_named(second)
             : cli_ends_with(first, ".cred") || !cli_ends_with(second, ".cred"))
        return CR_OK;
    corrected(c, command, sizeof command);
    cr_fail(c->cx, CR_EARG, "%s: '%s' is not a model, but '%s' is: swap the two?", c->verb->name,
            first, second);
    return cr_fail_hint(c->cx, "%s", command);
}
