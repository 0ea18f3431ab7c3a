/* unused.c -- refuse options that would have no effect. */
#include "unused.h"
#include "model_internal.h"

#include <stdio.h>
#include <string.h>

/* An option with its values. */
typedef struct found {
    const cr_option *option;
    const void      *values;
} found;

static found find(const cr_model *m, const char *name)
{
    const found parts[] = { { m->class->options, m->options },
                            { cr_design_table, &m->design_options },
                            { cr_fit_table, &m->fit } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const cr_option *o = cr_option_find(parts[i].option, name);
        if (o) return (found){ o, parts[i].values };
    }
    return (found){ NULL, NULL };
}

/* Whether the n characters at `word` are in the text: as a whole, or in a list after a sign. */
static bool names_word(const cr_option *o, const char *text, const char *word, size_t n)
{
    if (o->kind != CR_OPTION_list) return strlen(text) == n && strncmp(text, word, n) == 0;
    for (const char *at = text; *at; at++)
        if (strncmp(at, word, n) == 0) return true;
    return false;
}

/* Whether the value of an option is one of "a|b". */
static bool has_value(found f, const char *values)
{
    char text[512];
    cr_options_print(f.option, f.values, text, sizeof text);
    for (const char *v = values;; v++) {
        size_t n = strcspn(v, "|");
        if (names_word(f.option, text, v, n)) return true;
        v += n;
        if (!*v) return false;
    }
}

static bool is_met(const cr_model *m, const cri_requirement *g)
{
    if (strcmp(g->with, "task") == 0) return strcmp(cr_task_name(m->task), g->values) == 0;
    found with = find(m, g->with);
    return g->values[0] ? has_value(with, g->values)
                        : !cr_options_at_default(with.option, with.values);
}

/* As the shell spells it. */
static const char *spell(const char *name, char out[64])
{
    snprintf(out, 64, "--%s", name);
    for (char *c = out; *c; c++)
        if (*c == '_') *c = '-';
    return out;
}

/* The same of an option that is given: a flag is off then when it is on by itself. */
static const char *spell_given(const cr_option *o, char out[64])
{
    char name[60];
    bool turns_off = o->kind == CR_OPTION_flag && strcmp(o->fallback, "true") == 0;
    snprintf(name, sizeof name, "%s%s", turns_off ? "no_" : "", o->name);
    return spell(name, out);
}

static cr_status fail(cr_ctx *cx, const char *flag, const char *with, const char *values)
{
    char other[64];
    spell(with, other);
    if (strcmp(with, "task") == 0) {
        cr_fail(cx, CR_EARG, "%s is for %s, but this is not", flag, values);
        return cr_fail_hint(cx,
                            "leave %s out, or use --task %s to treat a numeric target as classes",
                            flag, values);
    }
    if (strcmp(values, "true") == 0) values = ""; /* a flag needs no word */
    cr_fail(cx, CR_EARG, "%s requires %s%s%s: without it, it has no effect", flag, other,
            values[0] ? " " : "", values);
    return cr_fail_hint(cx, "add %s%s%.*s, or leave %s out", other, values[0] ? " " : "",
                        (int)strcspn(values, "|"), values, flag);
}

cr_status cri_fail_unused(cr_ctx *cx, const char *option, const char *with, const char *values)
{
    char flag[64];
    return fail(cx, spell(option, flag), with, values);
}

void cri_tell_unused(cr_ctx *cx, const cr_option *table, const void *values, const char *option,
                     const char *to, const char *would)
{
    const cr_option *o = cr_option_find(table, option);
    char             flag[64], text[64];
    if (cr_options_at_default(o, values)) return;
    cr_options_print(o, values, text, sizeof text);
    bool flagged = o->kind == CR_OPTION_flag;
    cr_log(cx, CR_LOG_WARNING, "%s%s%s has no effect on %s: it would with %s", spell_given(o, flag),
           flagged ? "" : " ", flagged ? "" : text, to, would);
}

/* The options of every fit. */
static const cri_requirement of_fits[] = {
    { "conformal", "calibrate", "conformal", false },
    { "conformal_scale", "calibrate", "conformal", false },
    CRI_REQUIREMENT_LAST,
};

static cr_status check_table(cr_ctx *cx, const cr_model *m, const cri_requirement *list)
{
    for (const cri_requirement *g = list; g && g->option; g++) {
        found given = find(m, g->option);
        char  flag[64], other[64];
        if (cr_options_at_default(given.option, given.values) || is_met(m, g)) continue;
        spell_given(given.option, flag);
        if (!g->warns) return fail(cx, flag, g->with, g->values);
        cr_log(cx, CR_LOG_WARNING, "%s has no effect without %s", flag, spell(g->with, other));
    }
    return CR_OK;
}

cr_status cri_check_unused(cr_ctx *cx, const cr_model *m)
{
    cr_status st = check_table(cx, m, of_fits);
    return st == CR_OK ? check_table(cx, m, m->class->requirements) : st;
}
