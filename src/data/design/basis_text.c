/* basis_text.c -- what --basis says: "poly:3", "bspline:8:2", "age=natural:knots=30;50,rbf:20". */
#include "basis.h"
#include "data/table/table_internal.h"
#include "base/context_internal.h"
#include "base/list.h"
#include "base/number.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

/* What a kind may be told: its numbers in their order, and how it is written. */
typedef struct form {
    const char *usage, *example;
    size_t      least, most; /* of the first number                          */
    const char *second;      /* name of the second number, NULL = there is none */
    bool        knots, range;
} form;

static const form forms[CRI_BASIS_KINDS] = {
    [CRI_BASIS_NONE] = { "none", "none", 0, 0, NULL, false, false },
    [CRI_BASIS_POLY] = { "poly:K with K from 1 to 32", "poly:3", 1, CRI_MOST_POWERS, NULL, false,
                         false },
    [CRI_BASIS_RBF] = { "rbf:K or rbf:K:WIDTH with K from 1 to 1000", "rbf:20", 1,
                        CRI_MOST_FUNCTIONS, "width", true, false },
    [CRI_BASIS_BSPLINE] = { "bspline:K or bspline:K:DEGREE with DEGREE from 0 to 9 and K from "
                            "DEGREE + 1 to 1000",
                            "bspline:8", 1, CRI_MOST_FUNCTIONS, "degree", true, true },
    [CRI_BASIS_NATURAL] = { "natural:K with K from 2 to 1000", "natural:6", 2, CRI_MOST_FUNCTIONS,
                            NULL, true, true },
    [CRI_BASIS_PIECEWISE] = { "piecewise:K with K from 2 to 1000", "piecewise:5", 2,
                              CRI_MOST_FUNCTIONS, NULL, true, false },
    [CRI_BASIS_HINGE] = { "hinge:K with K from 2 to 1000", "hinge:4", 2, CRI_MOST_FUNCTIONS, NULL,
                          true, false },
    [CRI_BASIS_FOURIER] = { "fourier:K:PERIOD with K from 1 to 500 and a positive period",
                            "fourier:3:12", 1, CRI_MOST_FUNCTIONS / 2, "period", false, false },
};

/* --- one specification ----------------------------------------------------------------------- */

static bool read_number(const char *begin, const char *end, double *out)
{
    return begin < end && cri_parse_double(begin, end, out) == (size_t)(end - begin) &&
           isfinite(*out);
}

/* The kind that a text begins with, up to its end or a ':'; KINDS when there is none. */
static cri_basis_kind find_kind(const char *text)
{
    size_t length = strcspn(text, ":");
    for (int k = 0; k < CRI_BASIS_KINDS; k++) {
        const char *name = cri_basis_kind_name((cri_basis_kind)k);
        if (strlen(name) == length && strncmp(name, text, length) == 0) return (cri_basis_kind)k;
    }
    return CRI_BASIS_KINDS;
}

static cr_status refuse_form(cr_ctx *cx, const cri_basis_spec *o)
{
    const form *f = &forms[o->kind];
    cr_fail(cx, CR_EARG, "--basis: '%s' is not %s", o->text, f->usage);
    if (f->knots)
        return cr_fail_hint(cx,
                            "for example --basis %s, or with knots, --basis '%s:knots=10;20;50'",
                            f->example, cri_basis_kind_name(o->kind));
    return cr_fail_hint(cx, "for example --basis %s", f->example);
}

/* Numbers with ';' between, that increase. */
static cr_status read_knots(cr_scratch *s, const char *begin, const char *end, cri_basis_spec *o)
{
    double *knots = cr_scratch_f64(s, (size_t)(end - begin) / 2 + 1);
    size_t  n = 0;
    if (s->status != CR_OK) return s->status;
    for (const char *at = begin; at <= end;) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        if (!stop) stop = end;
        if (!read_number(at, stop, &knots[n]))
            return cr_fail(s->cx, CR_EARG, "--basis: '%s': '%.*s' is not a number", o->text,
                           (int)(stop - at), at);
        if (n > 0 && !(knots[n] > knots[n - 1]))
            return cr_fail(s->cx, CR_EARG,
                           "--basis: '%s': the knots must increase, but %g is not above %g",
                           o->text, knots[n], knots[n - 1]);
        n++;
        at = stop + 1;
    }
    o->knots = knots;
    o->n_knots = n;
    return CR_OK;
}

/* "low;high" */
static bool read_range(const char *begin, const char *end, double range[2])
{
    const char *middle = memchr(begin, ';', (size_t)(end - begin));
    return middle && read_number(begin, middle, &range[0]) &&
           read_number(middle + 1, end, &range[1]) && range[0] < range[1];
}

static bool set_second(cri_basis_spec *o, double x)
{
    switch (o->kind) {
    case CRI_BASIS_BSPLINE:
        if (!(x >= 0 && x <= CRI_MOST_DEGREE) || x != floor(x)) return false;
        o->degree = (size_t)x;
        return true;
    case CRI_BASIS_RBF:
        o->width = x;
        return x > 0;
    default:
        o->period = x;
        return x > 0;
    }
}

/* One part between colons: NAME=VALUE, or the next number. */
static cr_status read_part(cr_scratch *s, const char *begin, const char *end, size_t *place,
                           cri_basis_spec *o)
{
    const form *f = &forms[o->kind];
    const char *equals = memchr(begin, '=', (size_t)(end - begin));
    size_t      length = equals ? (size_t)(equals - begin) : 0;
    double      x;
    if (equals && f->knots && length == 5 && strncmp(begin, "knots", 5) == 0)
        return read_knots(s, equals + 1, end, o);
    if (equals && f->range && length == 5 && strncmp(begin, "range", 5) == 0)
        return read_range(equals + 1, end, o->range) ? CR_OK : refuse_form(s->cx, o);
    if (equals) {
        bool known =
            f->second && strlen(f->second) == length && strncmp(begin, f->second, length) == 0;
        if (!known || !read_number(equals + 1, end, &x) || !set_second(o, x))
            return refuse_form(s->cx, o);
        return CR_OK;
    }
    if (!read_number(begin, end, &x)) return refuse_form(s->cx, o);
    if (++*place == 1) {
        if (!(x >= (double)f->least && x <= (double)f->most) || x != floor(x) || f->most == 0)
            return refuse_form(s->cx, o);
        o->count = (size_t)x;
        return CR_OK;
    }
    return *place == 2 && f->second && set_second(o, x) ? CR_OK : refuse_form(s->cx, o);
}

static const char *kind_name_at(const void *unused, size_t k)
{
    (void)unused;
    return cri_basis_kind_name((cri_basis_kind)k);
}

cr_status cri_basis_parse(cr_scratch *s, const char *text, cri_basis_spec *out)
{
    cri_basis_spec o = { .text = text,
                         .degree = 3,
                         .width = NAN,
                         .period = NAN,
                         .range = { NAN, NAN },
                         .kind = find_kind(text) };
    size_t         place = 0;
    if (o.kind == CRI_BASIS_KINDS) {
        size_t length = strcspn(text, ":");
        char  *word = cr_scratch_bytes(s, length + 1, 1);
        if (!word) return s->status;
        memcpy(word, text, length);
        cr_fail(s->cx, CR_EARG, "--basis: '%s' does not name a basis", text);
        return cr_fail_nearest(s->cx, word, "bases", CRI_BASIS_KINDS, kind_name_at, NULL);
    }
    for (const char *at = strchr(text, ':'); at;) {
        const char *stop = strchr(at + 1, ':');
        cr_status   st = read_part(s, at + 1, stop ? stop : text + strlen(text), &place, &o);
        if (st != CR_OK) return st;
        at = stop;
    }
    bool sized = (o.count > 0) != (o.n_knots > 0) || o.kind == CRI_BASIS_NONE;
    bool sufficient = o.kind != CRI_BASIS_BSPLINE || o.n_knots > 0 || o.count > o.degree;
    if (!sized || !sufficient || (o.kind == CRI_BASIS_FOURIER && isnan(o.period)) ||
        o.n_knots + CRI_MOST_DEGREE + 1 > CRI_MOST_FUNCTIONS)
        return refuse_form(s->cx, &o);
    *out = o;
    return CR_OK;
}

/* --- which column gets which ----------------------------------------------------------------- */

/* true when x is its own only function. */
static bool is_plain(const cri_basis_spec *o)
{
    return o->kind == CRI_BASIS_NONE || (o->kind == CRI_BASIS_POLY && o->count == 1);
}

/* Where the specification of "COLUMN=SPEC" begins; the item itself when it names no column. */
static char *find_spec(char *item)
{
    if (find_kind(item) != CRI_BASIS_KINDS) return item;
    for (char *at = strchr(item, '='); at; at = strchr(at + 1, '='))
        if (find_kind(at + 1) != CRI_BASIS_KINDS) return at + 1;
    char *equals = strchr(item, '=');
    return equals && strcspn(item, ":") > (size_t)(equals - item) ? equals + 1 : item;
}

/* Gives a specification to the columns of a name or pattern. */
static cr_status give(cr_ctx *cx, const cr_table *t, const bool *chosen, const char *name,
                      const cri_basis_spec *spec, const cri_basis_spec **out)
{
    bool matched = false, is_pattern = strpbrk(name, "*?[") != NULL;
    char numbered[CR_NAME_SIZE];
    for (size_t i = 0; i < cr_table_columns(t); i++) {
        const char *own = cr_table_column_name(t, i, numbered);
        bool        exact = strcmp(own, name) == 0;
        if (!exact && !(is_pattern && fnmatch(name, own, 0) == 0)) continue;
        if (!chosen[i]) {
            if (!exact) continue;
            return cr_fail(cx, CR_EARG, "--basis: column '%s' is not a feature", name);
        }
        const cr_column *c = cr_table_column(t, i);
        if (!c) return cri_fail_memory(cx, cr_table_rows(t) * sizeof(double));
        if (c->type == CR_CATEGORY && exact)
            return cr_fail(cx, CR_EARG, "--basis: column '%s' is a category, which has no basis",
                           name);
        matched = true;
        if (c->type != CR_CATEGORY && (exact || c->type != CR_BOOLEAN)) out[i] = spec;
    }
    if (matched) return CR_OK;
    if (!is_pattern) return cri_table_no_column(cx, t, name);
    return cr_fail(cx, CR_EARG, "--basis: no feature of %s matches '%s'", cr_table_source(t), name);
}

/* Gives it to all chosen columns of numbers; 0 and 1 are left alone. */
static cr_status give_all(cr_ctx *cx, const cr_table *t, const bool *chosen,
                          const cri_basis_spec *spec, const cri_basis_spec **out)
{
    for (size_t i = 0; i < cr_table_columns(t); i++) {
        if (!chosen[i]) continue;
        const cr_column *c = is_plain(spec) ? NULL : cr_table_column(t, i);
        if (!c && !is_plain(spec)) return cri_fail_memory(cx, cr_table_rows(t) * sizeof(double));
        out[i] = c && c->type != CR_CATEGORY && c->type != CR_BOOLEAN ? spec : NULL;
    }
    return CR_OK;
}

cr_status cri_basis_choose(cr_scratch *s, const cr_table *t, const bool *chosen, const char *text,
                           const cri_basis_spec **out)
{
    cr_status       st = CR_OK;
    cr_ctx         *cx = s->cx;
    char          **items = NULL;
    size_t          n = 0;
    cri_basis_spec *specs;

    if (text && cri_list_fault(text))
        CR_TRY(cr_fail(cx, CR_EARG, "--basis: '%s': %s", text, cri_list_fault(text)));
    CR_TRY(cri_list_split(s, text, &items, &n));
    specs = cr_scratch_bytes(s, n, sizeof *specs);
    CR_TRY(s->status);
    for (size_t i = 0; i < cr_table_columns(t); i++) out[i] = NULL;
    for (size_t k = 0; k < n; k++) CR_TRY(cri_basis_parse(s, find_spec(items[k]), &specs[k]));
    for (int named = 0; named < 2; named++) { /* those for all columns first */
        for (size_t k = 0; k < n; k++) {
            char *spec = find_spec(items[k]);
            if ((spec != items[k]) != named) continue;
            if (named) spec[-1] = '\0';
            CR_TRY(named ? give(cx, t, chosen, items[k], &specs[k], out)
                         : give_all(cx, t, chosen, &specs[k], out));
        }
    }
    for (size_t i = 0; i < cr_table_columns(t); i++)
        if (out[i] && is_plain(out[i])) out[i] = NULL;
done:
    return st;
}
