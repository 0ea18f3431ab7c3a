/* space.c -- dimensions from text, points of a grid and at random. */
#include "space.h"
#include "base/context_internal.h"
#include "base/list.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

static cr_status fail_item(cr_ctx *cx, const char *item, const char *why)
{
    cr_fail(cx, CR_EARG, "--over %s: %s", item, why);
    return cr_fail_hint(
        cx, "for example --over lambda=0.01..100:log:20, or --over 'basis=poly:1|poly:2'");
}

/* --- reading --------------------------------------------------------------------------------- */

static bool read_number(const char *begin, const char *end, double *out)
{
    size_t length = (size_t)(end - begin);
    return length > 0 && cri_parse_double(begin, end, out) == length && isfinite(*out);
}

/* What stands behind the upper end: ":log" and ":COUNT", in any order. */
static const char *read_tail(const char *at, cri_dimension *d)
{
    while (*at == ':') {
        const char *end = at + 1 + strcspn(at + 1, ":");
        double      n;
        if (end - at == 4 && strncmp(at, ":log", 4) == 0)
            d->logarithmic = true;
        else if (end - at == 4 && strncmp(at, ":lin", 4) == 0)
            d->logarithmic = false;
        else if (read_number(at + 1, end, &n) && n >= 2 && n <= CRI_MOST_POINTS && n == floor(n))
            d->n = (size_t)n;
        else
            return "a range is followed by :log and the number of values, at least 2";
        at = end;
    }
    return NULL;
}

/* Whole numbers from end to end that can all be tried. */
static bool has_few_values(const cri_dimension *d)
{
    enum { FEW = 20 };
    return d->whole && !d->logarithmic && fabs(d->high - d->low) < FEW;
}

/* LOW..HIGH with its tail; *out_is tells whether it is one at all. */
static const char *read_range(const char *text, cri_dimension *d, bool *out_is)
{
    const char *dots = strstr(text, ".."), *end;
    *out_is = false;
    if (!dots || strchr(text, '|')) return NULL;
    end = dots + 2 + strcspn(dots + 2, ":");
    if (!read_number(text, dots, &d->low) || !read_number(dots + 2, end, &d->high)) return NULL;
    *out_is = d->range = true;
    const char *why = read_tail(end, d);
    if (why) return why;
    if (d->n == 0) d->n = has_few_values(d) ? (size_t)fabs(d->high - d->low) + 1 : 10;
    if (d->low == d->high) return "the two ends of the range are the same";
    if (d->logarithmic && !(d->low > 0 && d->high > 0))
        return "a logarithmic range needs ends above 0";
    return NULL;
}

/* [a,b] is the list a,b: without its brackets. */
static char *strip_brackets(char *text)
{
    size_t n = strlen(text);
    if (n < 2 || text[0] != '[' || text[n - 1] != ']') return text;
    text[n - 1] = '\0';
    return text + 1;
}

static cr_status read_values(cr_scratch *s, const cr_option *o, char *text, cri_dimension *d)
{
    d->n = 1;
    for (const char *p = text; *p; p++) d->n += *p == '|';
    d->values = cr_scratch_bytes(s, d->n, sizeof *d->values);
    if (!d->values) return s->status;
    for (size_t k = 0; k < d->n; k++) {
        char *value = text;
        text += strcspn(text, "|");
        if (*text) *text++ = '\0';
        d->values[k] = o->kind == CR_OPTION_list ? strip_brackets(value) : value;
    }
    return CR_OK;
}

static const cr_option *find_setting(const cr_model_class *c, const char *name)
{
    const cr_option *o = cr_option_find(cr_class_options(c), name);
    if (!o) o = cr_option_find(cr_design_table, name);
    return o ? o : cr_option_find(cr_fit_table, name);
}

/* Whole numbers and others: by its kind, or a text that is declared to hold them. */
static bool is_whole(const cr_option *o)
{
    return o->kind == CR_OPTION_count || (o->kind == CR_OPTION_text && strcmp(o->range, "N") == 0);
}

static bool is_number(const cr_option *o)
{
    bool text = o->kind == CR_OPTION_text || o->kind == CR_OPTION_list;
    return is_whole(o) || o->kind == CR_OPTION_real || (text && strcmp(o->range, "X") == 0);
}

static const char *setting_name(const void *data, size_t i)
{
    const cr_option *const *tables = data;
    for (;; tables++)
        for (const cr_option *o = *tables; o->name; o++)
            if (i-- == 0) return o->name;
}

/* There is no such setting; the nearest one. */
static cr_status fail_setting(cr_ctx *cx, const cr_model_class *c, const char *name)
{
    const cr_option *tables[] = { cr_class_options(c), cr_design_table, cr_fit_table };
    size_t           n = 0;
    for (size_t k = 0; k < 3; k++)
        for (const cr_option *o = tables[k]; o->name; o++) n++;
    cr_fail(cx, CR_EARG, "--over: the model %s has no setting '%s'", cr_class_name(c), name);
    cr_fail_nearest(cx, name, "settings", n, setting_name, tables);
    if (cr_error_nearest(cx)[0]) return CR_EARG;
    return cr_fail_hint(cx, "credence models %s lists them", cr_class_name(c));
}

/* lambda=0.1,1,10: shows the same with bars. */
static cr_status fail_commas(cr_ctx *cx, char *item, char *equals)
{
    *equals = '=';
    fail_item(cx, item, "its values are separated by |");
    for (char *p = equals; *p; p++)
        if (*p == ',') *p = '|';
    return cr_fail_hint(cx, "--over '%s'", item);
}

static cr_status read_dimension(cr_scratch *s, const cr_model_class *c, char *item,
                                cri_dimension *d)
{
    cr_status        st = CR_OK;
    char            *equals = strchr(item, '=');
    bool             range = false;
    const cr_option *o;
    if (!equals || equals == item || !equals[1])
        return fail_item(s->cx, item, "it is not NAME=VALUES");
    *equals = '\0';
    o = find_setting(c, item);
    if (!o) return fail_setting(s->cx, c, item);
    d->name = (char *)(uintptr_t)o->name;
    d->whole = is_whole(o);
    const char *why = read_range(equals + 1, d, &range);
    if (why) CR_TRY((*equals = '=', fail_item(s->cx, item, why)));
    if (range && !is_number(o))
        CR_TRY((*equals = '=', fail_item(s->cx, item, "a range is only for numeric settings")));
    if (d->whole && range && fmax(fabs(d->low), fabs(d->high)) > 0x1p53)
        CR_TRY((*equals = '=', fail_item(s->cx, item, "whole numbers go up to 9007199254740992")));
    if (d->whole && range && fabs(d->high - d->low) + 1 < (double)d->n)
        d->n = (size_t)floor(fabs(d->high - d->low)) + 1; /* no whole number twice */
    if (!range && is_number(o) && o->kind != CR_OPTION_list && strchr(equals + 1, ','))
        CR_TRY(fail_commas(s->cx, item, equals));
    if (!range) CR_TRY(read_values(s, o, equals + 1, d));
done:
    return st;
}

cr_status cri_space_read(cr_scratch *s, const cr_model_class *c, const char *list, cri_space *out)
{
    cr_status st = CR_OK;
    char    **items = NULL;
    cri_space space = { 0 };
    CR_TRY(cri_list_settings(s, list, &items, &space.n));
    if (space.n == 0) {
        cr_fail(s->cx, CR_EARG, "--over is missing: it gives the settings to try");
        CR_TRY(cr_fail_hint(s->cx, "for example --over lambda=0.01..100:log:20"));
    }
    space.dimensions = cr_scratch_bytes(s, space.n, sizeof *space.dimensions);
    CR_TRY(s->status);
    for (size_t d = 0; d < space.n; d++) {
        CR_TRY(read_dimension(s, c, items[d], &space.dimensions[d]));
        for (size_t e = 0; e < d; e++)
            if (strcmp(space.dimensions[e].name, space.dimensions[d].name) == 0)
                CR_TRY(
                    cr_fail(s->cx, CR_EARG, "--over names '%s' twice", space.dimensions[d].name));
    }
    *out = space;
done:
    return st;
}

/* --- points ---------------------------------------------------------------------------------- */

size_t cri_space_points(const cri_space *space)
{
    size_t n = 1;
    for (size_t d = 0; d < space->n; d++) {
        n *= space->dimensions[d].n;
        if (n > CRI_MOST_POINTS) return CRI_MOST_POINTS + 1;
    }
    return n;
}

/* The value at share u in [0, 1] of a range; its ends exactly. */
static char *range_value(cr_ctx *cx, const cri_dimension *d, double u)
{
    char   text[CRI_DOUBLE_SIZE];
    double x = d->logarithmic ? exp((1 - u) * log(d->low) + u * log(d->high))
                              : (1 - u) * d->low + u * d->high;
    double unit = pow(10, 11 - floor(log10(fabs(x)))); /* 12 digits say enough */
    if (isfinite(unit) && unit > 0) x = round(x * unit) / unit;
    if (u == 0) x = d->low;
    if (u == 1) x = d->high;
    text[cri_print_double(d->whole ? round(x) : x, text)] = '\0';
    return cri_string_copy(cx, text);
}

char *cri_space_at(cr_ctx *cx, const cri_space *space, size_t i, size_t d)
{
    const cri_dimension *dim = &space->dimensions[d];
    for (size_t e = d + 1; e < space->n; e++) i /= space->dimensions[e].n;
    i %= dim->n;
    if (!dim->range) return cri_string_copy(cx, dim->values[i]);
    return range_value(cx, dim, dim->n > 1 ? (double)i / (double)(dim->n - 1) : 0);
}

/* The values that a draw can give; 0: no end of them. */
static size_t count_values(const cri_dimension *d)
{
    if (!d->range) return d->n;
    double width = fabs(d->high - d->low) + 1;
    return d->whole && !d->logarithmic && width <= CRI_MOST_POINTS ? (size_t)width : 0;
}

size_t cri_space_count(const cri_space *space)
{
    size_t n = 1;
    for (size_t d = 0; d < space->n; d++) {
        n *= count_values(&space->dimensions[d]);
        if (n == 0 || n > CRI_MOST_POINTS) return 0;
    }
    return n;
}

char *cri_space_pick(cr_ctx *cx, const cri_space *space, size_t i, size_t d)
{
    const cri_dimension *dim = &space->dimensions[d];
    for (size_t e = d + 1; e < space->n; e++) i /= count_values(&space->dimensions[e]);
    i %= count_values(dim);
    if (!dim->range) return cri_string_copy(cx, dim->values[i]);
    return range_value(cx, dim, (double)i / fmax((double)count_values(dim) - 1, 1));
}

char *cri_space_draw(cr_ctx *cx, const cri_space *space, cr_rng *r, size_t d)
{
    const cri_dimension *dim = &space->dimensions[d];
    if (!dim->range) return cri_string_copy(cx, dim->values[cr_rng_below(r, dim->n)]);
    if (dim->whole && !dim->logarithmic) { /* each whole number is as probable as the others */
        double low = fmin(dim->low, dim->high), width = fabs(dim->high - dim->low) + 1;
        return range_value(cx, dim,
                           fabs(low + (double)cr_rng_below(r, (uint64_t)width) - dim->low) /
                               fmax(width - 1, 1));
    }
    return range_value(cx, dim, cr_rng_uniform(r));
}
