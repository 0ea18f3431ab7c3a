/* option.c -- parse, check and print the values of an option table. */
#include "option.h"
#include "range.h"
#include "context_internal.h"
#include "list.h"
#include "number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b)) return false;
    return *a == *b;
}

const cr_option *cr_option_find(const cr_option *table, const char *name)
{
    for (; table->name; table++)
        if (same_name(table->name, name)) return table;
    return NULL;
}

/* The spelling of an option in messages: as the shell writes it. */
static const char *flag_name(const cr_option *o, char out[64])
{
    snprintf(out, 64, "--%s", o->name);
    for (char *c = out + 2; *c; c++)
        if (*c == '_') *c = '-';
    return out;
}

static void *field(const cr_option *o, void *values) { return (char *)values + o->offset; }

/* --- choices ---------------------------------------------------------------------------------- */

typedef struct choice_names {
    const char *choices;
    char       *buffer; /* [64] */
} choice_names;

static const char *choice_name(const void *user, size_t i)
{
    const choice_names *names = user;
    const char         *text;
    size_t              n = cri_choice_text(names->choices, (int)i, &text);
    snprintf(names->buffer, 64, "%.*s", (int)n, text);
    return names->buffer;
}

static size_t count_choices(const char *choices)
{
    size_t n = 1;
    for (; *choices; choices++) n += *choices == '|';
    return n;
}

/* --- setting --------------------------------------------------------------------------------- */

static cr_status refuse(cr_ctx *cx, const cr_option *o, const char *value, const char *expected)
{
    char flag[64];
    cr_fail(cx, CR_EARG, "%s: '%s' is not %s", flag_name(o, flag), value, expected);
    return cr_fail_hint(cx, "for example %s %s", flag, o->example);
}

static cr_status set_number(cr_ctx *cx, const cr_option *o, void *at, const char *value)
{
    double x;
    size_t length = strlen(value);
    char   expected[128];
    bool   whole = o->kind == CR_OPTION_count;

    if (length == 0 && o->fallback[0] == '\0') {
        if (whole)
            *(size_t *)at = CR_COUNT_UNSET;
        else
            *(double *)at = NAN;
        return CR_OK;
    }
    snprintf(expected, sizeof expected, "%s%s%s", whole ? "a whole number" : "a number",
             o->range[0] ? " in the range " : "", o->range);
    if (length == 0 || cri_parse_double(value, value + length, &x) != length || !isfinite(x))
        return refuse(cx, o, value, expected);
    if (whole && (x < 0 || x > 9007199254740992.0 || x != floor(x)))
        return refuse(cx, o, value, expected);
    if (!cri_bounds_hold(cri_bounds_parse(o->range, strlen(o->range)), x)) {
        refuse(cx, o, value, expected);
        bool percent = strcmp(o->range, "0<..<1") == 0 && x > 1 && x < 100;
        char flag[64];
        flag_name(o, flag);
        return percent ? cr_fail_hint(cx, "did you mean %s %g?", flag, x / 100) : CR_EARG;
    }
    if (whole)
        *(size_t *)at = (size_t)x;
    else
        *(double *)at = x;
    return CR_OK;
}

/* What other programs offer as a choice of an option of this name, and is said otherwise here. */
static const char *other_choice(const cr_option *o, const char *value)
{
    static const struct {
        const char *option, *value, *instead;
    } others[] = {
        { "family", "quasipoisson",
          "--family poisson --dispersion pearson has its standard errors; --family "
          "negative-binomial learns the spread, for intervals of new rows too" },
        { "family", "quasibinomial",
          "--family binomial --dispersion pearson has its standard errors" },
        { "family", "quasi", "--family poisson --dispersion pearson has its standard errors" },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(o->name, others[i].option) == 0 && strcmp(value, others[i].value) == 0)
            return others[i].instead;
    return NULL;
}

static cr_status set_choice(cr_ctx *cx, const cr_option *o, void *at, const char *value)
{
    char flag[64], buffer[64];
    int  index = cri_choice_find(o->range, value);
    if (index >= 0) {
        *(int *)at = index;
        return CR_OK;
    }
    choice_names names = { o->range, buffer };
    char         best[64] = "";
    double       least = 2.6; /* choose here: cr_fail_nearest keeps the pointer of a name */
    for (size_t i = 0; i < count_choices(o->range); i++) {
        double d = cri_edit_distance(value, choice_name(&names, i), least);
        if (d < least) least = d, snprintf(best, sizeof best, "%s", buffer);
    }
    cr_fail(cx, CR_EARG, "%s: '%s' is not one of %s", flag_name(o, flag), value, o->range);
    const char *instead = other_choice(o, value);
    if (instead) return cr_fail_hint(cx, "%s", instead);
    return best[0] ? cr_fail_hint(cx, "did you mean %s %s?", flag, best)
                   : cr_fail_hint(cx, "for example %s %s", flag, o->example);
}

static cr_status check_list(cr_ctx *cx, const cr_option *o, const char *value)
{
    char        flag[64];
    const char *fault = cri_list_fault(value);
    if (!fault) return CR_OK;
    cr_fail(cx, CR_EARG, "%s: %s in '%s'", flag_name(o, flag), fault, value);
    return cr_fail_hint(
        cx, "put items with commas in quotes, '\"a,b\",c', and double quotes inside them");
}

static cr_status set_text(cr_ctx *cx, const cr_option *o, char **at, const char *value)
{
    char *text;
    bool  adds = o->kind == CR_OPTION_list && *at && strcmp(*at, o->fallback) != 0;
    if (adds && value[0]) {
        size_t n = strlen(*at), m = strlen(value);
        text = cr_alloc(cx, n + m + 2, 1);
        if (!text) return CR_ENOMEM;
        memcpy(text, *at, n);
        text[n] = ',';
        memcpy(text + n + 1, value, m);
    } else {
        text = value[0] ? cri_string_copy(cx, value) : NULL;
        if (value[0] && !text) return CR_ENOMEM;
    }
    cri_string_free(cx, *at);
    *at = text;
    return CR_OK;
}

static cr_status set_value(cr_ctx *cx, const cr_option *o, void *values, const char *value)
{
    void *at = field(o, values);
    switch (o->kind) {
    case CR_OPTION_flag:
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return refuse(cx, o, value, "true or false");
        *(bool *)at = value[0] == 't';
        return CR_OK;
    case CR_OPTION_count:
    case CR_OPTION_real:
        return set_number(cx, o, at, value);
    case CR_OPTION_choice:
        return set_choice(cx, o, at, value);
    case CR_OPTION_list: {
        cr_status st = check_list(cx, o, value);
        return st == CR_OK ? set_text(cx, o, at, value) : st;
    }
    case CR_OPTION_text:
        return set_text(cx, o, at, value);
    case CR_OPTION_END:
        break;
    }
    return CR_OK;
}

static const char *table_name(const void *table, size_t i)
{
    return ((const cr_option *)table)[i].name;
}

cr_status cr_options_set(cr_ctx *cx, const cr_option *table, void *values, const char *name,
                         const char *value)
{
    const cr_option *o = cr_option_find(table, name);
    if (o) return set_value(cx, o, values, value);
    size_t n = 0;
    while (table[n].name) n++;
    cr_fail(cx, CR_EARG, "there is no option '%s'", name);
    return cr_fail_nearest(cx, name, "options", n, table_name, table);
}

cr_status cr_options_add(cr_ctx *cx, const cr_option *table, void *values, const char *name,
                         const char *item)
{
    if (!item[0]) return CR_OK; /* empty items do not count */
    size_t size = cri_list_quote(item, NULL, 0) + 1;
    char  *text = cr_resize(cx, NULL, 0, size, 1);
    if (!text) return CR_ENOMEM;
    cri_list_quote(item, text, size);
    cr_status st = cr_options_set(cx, table, values, name, text);
    cr_free(cx, text, size, 1);
    return st;
}

cr_status cr_options_init(cr_ctx *cx, const cr_option *table, void *values)
{
    cr_status st = CR_OK;
    for (const cr_option *o = table; o->name; o++)
        if (o->kind == CR_OPTION_text || o->kind == CR_OPTION_list)
            *(char **)field(o, values) = NULL;
    for (const cr_option *o = table; o->name && st == CR_OK; o++)
        st = set_value(cx, o, values, o->fallback);
    return st;
}

void cr_options_free(cr_ctx *cx, const cr_option *table, void *values)
{
    for (const cr_option *o = table; o->name; o++) {
        if (o->kind != CR_OPTION_text && o->kind != CR_OPTION_list) continue;
        cri_string_free(cx, *(char **)field(o, values));
        *(char **)field(o, values) = NULL;
    }
}

size_t cr_options_print(const cr_option *o, const void *values, char *out, size_t size)
{
    const void *at = (const char *)values + o->offset;
    char        number[CRI_DOUBLE_SIZE];
    const char *text = "";
    size_t      length = 0;
    switch (o->kind) {
    case CR_OPTION_flag:
        text = *(const bool *)at ? "true" : "false";
        break;
    case CR_OPTION_count: {
        size_t n = *(const size_t *)at;
        return (size_t)(n == CR_COUNT_UNSET ? snprintf(out, size, "%s", "")
                                            : snprintf(out, size, "%zu", n));
    }
    case CR_OPTION_real:
        if (!isnan(*(const double *)at)) {
            cri_print_double(*(const double *)at, number);
            text = number;
        }
        break;
    case CR_OPTION_choice:
        length = cri_choice_text(o->range, *(const int *)at, &text);
        return (size_t)snprintf(out, size, "%.*s", (int)length, text);
    case CR_OPTION_text:
    case CR_OPTION_list:
        if (*(char *const *)at) text = *(char *const *)at;
        break;
    case CR_OPTION_END:
        break;
    }
    return (size_t)snprintf(out, size, "%s", text);
}

bool cr_options_at_default(const cr_option *o, const void *values)
{
    const void *at = (const char *)values + o->offset;
    const char *fallback = o->fallback;
    double      x = NAN;
    cri_parse_double(fallback, fallback + strlen(fallback), &x);
    switch (o->kind) {
    case CR_OPTION_flag:
        return *(const bool *)at == (fallback[0] == 't');
    case CR_OPTION_count: {
        size_t n = *(const size_t *)at;
        return fallback[0] ? (double)n == x : n == CR_COUNT_UNSET;
    }
    case CR_OPTION_real: {
        double value = *(const double *)at;
        return fallback[0] ? value == x : isnan(value);
    }
    case CR_OPTION_choice:
        return *(const int *)at == cri_choice_find(o->range, fallback);
    case CR_OPTION_text:
    case CR_OPTION_list: {
        const char *text = *(char *const *)at;
        return strcmp(text ? text : "", fallback) == 0;
    }
    case CR_OPTION_END:
        break;
    }
    return true;
}
