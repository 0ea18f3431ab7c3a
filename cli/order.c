/* order.c -- arguments that stand in the wrong order: fit data.csv linear, predict data.csv m.cred; or not where they
 * belong: fit linear --data data.csv, fit data.csv without a model. */
#include "cli.h"
#include "data/design/formula.h"
#include "models/core/class.h"

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

void cli_without_flag(const cli *c, const char *name, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "credence"), n = strlen(name);
    for (int i = 1; i < c->argc; i++) {
        const char *a = c->argv[i];
        bool        flag = strncmp(a, "--", 2) == 0 && strncmp(a + 2, name, n) == 0;
        if (!flag || (a[2 + n] && a[2 + n] != '='))
            used = add_word(out, size, used, a);
        else if (a[2 + n] == '=')
            used = add_word(out, size, used, a + 3 + n);
    }
}

cr_status cli_check_no_model(cli *c)
{
    size_t used;
    char   command[1024];
    if (!(c->verb->takes & VERB_FITS) || c->n_args != 1 || cli_model_named(c->args[0]) ||
        !is_there(c->args[0]))
        return CR_OK;
    used = (size_t)snprintf(command, sizeof command, "credence %s MODEL", c->verb->name);
    for (int i = 1; i < c->argc; i++)
        if (strcmp(c->argv[i], c->verb->name) != 0)
            used = add_word(command, sizeof command, used, c->argv[i]);
    cr_fail(c->cx, CR_EARG, "%s: '%s' is data, and the model before it is missing", c->verb->name,
            c->args[0]);
    return cr_fail_hint(c->cx, "%s; credence models lists them", command);
}

/* The command line without the formula, its options at the end; "" where there are none that say the same. */
static cr_status without_formula(const cli *c, const char *formula, char *out, size_t size,
                                 const char **out_other)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(c->cx);
    cri_formula f;
    size_t      used = (size_t)snprintf(out, size, "credence");
    CR_TRY(cri_formula_read(&s, formula, &f));
    const cr_model_class *model = cr_class_find(c->cx, c->args[0]);
    if (model && !cr_option_find(cr_class_options(model), "intercept")) f.without_intercept = false;
    const char *options = cri_formula_options(&s, &f);
    CR_TRY(s.status);
    bool other = model && f.varying && !model->varying; /* needs a model that has them */
    for (int i = 1; i < c->argc; i++)
        if (c->argv[i] != formula)
            used = add_word(out, size, used,
                            other && c->argv[i] == c->args[0] ? "bayes-linear" : c->argv[i]);
    if (used < size)
        used += (size_t)snprintf(out + used, size - used, "%s", options ? options : "");
    if (!options || used >= size) out[0] = '\0';
    *out_other = *out ? cri_formula_remark(&f) : cri_formula_instead(&f); /* constants */
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cli_check_formula(cli *c)
{
    size_t      k = 1;
    char        command[1024];
    const char *other = "";
    if (!(c->verb->takes & VERB_FITS) || c->n_args < 2 || !cli_model_named(c->args[0]))
        return CR_OK;
    while (k < c->n_args && (!cri_is_formula(c->args[k]) || is_there(c->args[k]))) k++;
    if (k == c->n_args) return CR_OK;
    cr_status st = without_formula(c, c->args[k], command, sizeof command, &other);
    if (st != CR_OK) return st;
    cr_fail(c->cx, CR_EARG, "%s: '%.200s' is a formula, which %s takes as options", c->verb->name,
            c->args[k], c->verb->name);
    return cr_fail_hint(c->cx, "%s%s", command, other);
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
