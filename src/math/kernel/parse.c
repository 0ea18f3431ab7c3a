/* parse.c -- expressions to kernels, by recursive descent.
 *   sum     = product { "+" product }
 *   product = power { "*" power }
 *   power   = atom { "^" whole }
 *   atom    = value | name [ "(" item { ("," | ";") item } ")" ] [ "@" "[" columns "]" ] | "(" sum ")"
 *   item    = column | "ard" | value | name "=" (value | list | word | sum) [ ends ] | name ends
 *   value   = number ends;  ends = [ "fixed" ] [ "[" low "," high "]" ] [ "~" prior "(" a [ "," b ] ")" ]
 * A fault is told with the line and a caret under it. */
#include "kernel_internal.h"
#include "../../base/context_internal.h"
#include "../../base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 256, WINDOW = 72 };

/* The end of a value: what else is known about a parameter. */
typedef struct ends {
    bool            fixed, bounded;
    double          lower, upper, prior_a, prior_b;
    cr_kernel_prior prior;
    const char     *bounds_at, *prior_at;
} ends;

typedef struct value {
    const char *at;
    bool        number; /* false: only its ends are given, name~prior(...) */
    double      x;
    ends        ends;
} value;

typedef struct parser {
    cr_ctx                  *cx;
    const char              *text, *at;
    const cr_kernel_columns *columns; /* may be NULL */
    cr_kernel               *k;
    value                   *values; /* all that were read, waiting for their node */
    size_t                   n_values, room_values, depth;
} parser;

/* --- faults ------------------------------------------------------------------------------------ */

/* Notes with the line that `at` is in, at most WINDOW characters of it, and a caret below. */
static void show_place(parser *p, const char *at)
{
    const char *begin = at, *end = at;
    char        line[4 * WINDOW + 8], caret[WINDOW + 8];
    size_t      width = 0, used = 0;
    while (begin > p->text && begin[-1] != '\n' && width < WINDOW / 2) {
        begin--;
        width += ((unsigned char)*begin & 0xC0) != 0x80;
    }
    while (begin < at && ((unsigned char)*begin & 0xC0) == 0x80) begin++;
    while (*end && *end != '\n' && (size_t)(end - begin) < 2 * WINDOW) end++;
    width = 0;
    for (const char *c = begin; c < end && used + 1 < sizeof line; c++) {
        line[used++] = (unsigned char)*c < ' ' ? ' ' : *c;
        if (c < at) width += ((unsigned char)*c & 0xC0) != 0x80;
    }
    if (used == 0) line[used++] = ' '; /* a note without text would not be a line */
    line[used] = '\0';
    if (width > WINDOW) width = WINDOW;
    memset(caret, ' ', width);
    caret[width] = '^', caret[width + 1] = '\0';
    cr_fail_note(p->cx, "%s", line);
    cr_fail_note(p->cx, "%s", caret);
}

#define FAULT(p, where, ...)                                                                       \
    (cr_fail((p)->cx, CR_EARG, "kernel: " __VA_ARGS__), show_place((p), (where)), CR_EARG)

/* --- words and numbers ------------------------------------------------------------------------- */

static void skip_blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') p->at++;
}

static char peek(parser *p)
{
    skip_blanks(p);
    return *p->at;
}

static bool accept(parser *p, char c)
{
    if (peek(p) != c) return false;
    p->at++;
    return true;
}

/* "end of the text" or the character, for sentences. */
static const char *found(parser *p, char out[16])
{
    unsigned char c = (unsigned char)peek(p);
    if (!c) return "the end";
    if (c < 0x80) snprintf(out, 16, "'%c'", c < ' ' ? '?' : c);
    else snprintf(out, 16, "a character");
    return out;
}

static cr_status expect(parser *p, char c, const char *why)
{
    char seen[16];
    if (accept(p, c)) return CR_OK;
    return FAULT(p, p->at, "expected '%c' %s, found %s", c, why, found(p, seen));
}

static bool begins_name(char c) { return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

static bool in_name(char c) { return begins_name(c) || isdigit((unsigned char)c) || c == '.'; }

/* A bare word, or a text in double quotes in which a quote is written twice. */
static cr_status read_name(parser *p, const char *what, char out[NAME_SIZE], bool *out_quoted)
{
    const char *begin = (skip_blanks(p), p->at);
    size_t      n = 0;
    char        seen[16];
    bool        quoted = accept(p, '"');
    if (out_quoted) *out_quoted = quoted;
    if (!quoted && !begins_name(*p->at))
        return FAULT(p, p->at, "expected %s, found %s", what, found(p, seen));
    while (quoted ? *p->at && (*p->at != '"' || p->at[1] == '"') : in_name(*p->at)) {
        if (n + 1 >= NAME_SIZE) return FAULT(p, begin, "a name has more than %d characters", NAME_SIZE - 1);
        if (quoted && *p->at == '"') p->at++;
        out[n++] = *p->at++;
    }
    if (quoted && *p->at++ != '"') {
        p->at--;
        return FAULT(p, begin, "this quote is not closed");
    }
    out[n] = '\0';
    return n ? CR_OK : FAULT(p, begin, "a name is empty");
}

static bool begins_number(parser *p)
{
    char c = peek(p);
    return isdigit((unsigned char)c) || c == '.' || c == '-' || c == '+';
}

static cr_status read_number(parser *p, double *out)
{
    char   seen[16];
    double x = 0;
    skip_blanks(p);
    size_t n = begins_number(p) ? cri_parse_double(p->at, p->at + strlen(p->at), &x) : 0;
    if (n == 0) return FAULT(p, p->at, "expected a number, found %s", found(p, seen));
    if (!isfinite(x)) return FAULT(p, p->at, "the number is out of range");
    if (in_name(p->at[n]))
        return FAULT(p, p->at + n, "expected a number, found '%.*s'", (int)n + 1, p->at);
    p->at += n;
    *out = x;
    return CR_OK;
}

/* true, and past it, when the next word is this one. */
static bool accept_word(parser *p, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(p);
    if (strncmp(p->at, word, n) != 0 || in_name(p->at[n])) return false;
    p->at += n;
    return true;
}

/* --- growing arrays ---------------------------------------------------------------------------- */

static cr_status grow(parser *p, void **array, size_t n, size_t *room, size_t size)
{
    if (n < *room) return CR_OK;
    size_t more = *room ? 2 * *room : 4;
    void  *bigger = cr_resize(p->cx, *array, *room, more, size);
    if (!bigger) return CR_ENOMEM;
    *array = bigger, *room = more;
    return CR_OK;
}

static cr_status add_node(parser *p, cri_node node, size_t *out)
{
    cr_kernel *k = p->k;
    cr_status  st = grow(p, (void **)&k->nodes, k->n_nodes, &k->room_nodes, sizeof *k->nodes);
    if (st != CR_OK) return st;
    if (k->n_nodes >= CRI_MOST_NODES)
        return FAULT(p, p->at, "the expression has more than %d parts", CRI_MOST_NODES);
    k->nodes[*out = k->n_nodes++] = node;
    return CR_OK;
}

static cr_status add_column(parser *p, size_t index, const char *name)
{
    cr_kernel *k = p->k;
    cr_status  st = grow(p, (void **)&k->columns, k->n_columns, &k->room_columns, sizeof *k->columns);
    char      *copy = st == CR_OK ? cri_string_copy(p->cx, name) : NULL;
    if (!copy) return CR_ENOMEM;
    k->columns[k->n_columns++] = (cri_column){ index, copy };
    return CR_OK;
}

static cr_status add_param(parser *p, cri_param param)
{
    cr_kernel *k = p->k;
    cr_status  st = grow(p, (void **)&k->params, k->n_params, &k->room_params, sizeof *k->params);
    if (st == CR_OK) k->params[k->n_params++] = param;
    return st;
}

/* --- values with their ends -------------------------------------------------------------------- */

static const char *prior_at(const void *unused, size_t i)
{
    (void)unused;
    return cri_prior_name(i + 1);
}

static cr_status read_prior(parser *p, ends *out)
{
    cr_status st = CR_OK;
    char      name[NAME_SIZE];
    skip_blanks(p);
    const char *begin = p->at;
    CR_TRY(read_name(p, "the name of a prior", name, NULL));
    size_t kind = 1;
    while (cri_prior_name(kind) && strcmp(cri_prior_name(kind), name) != 0) kind++;
    if (!cri_prior_name(kind)) {
        st = FAULT(p, begin, "there is no prior '%s'", name);
        cr_fail_nearest(p->cx, name, "priors", kind - 1, prior_at, NULL);
        goto done;
    }
    out->prior = (cr_kernel_prior)kind, out->prior_at = begin;
    CR_TRY(expect(p, '(', "after the name of a prior"));
    CR_TRY(read_number(p, &out->prior_a));
    if (cri_prior_size(out->prior) == 2) {
        CR_TRY(expect(p, ',', "between the numbers of a prior"));
        CR_TRY(read_number(p, &out->prior_b));
    }
    skip_blanks(p);
    bool free_a = out->prior == CR_PRIOR_LOGNORMAL || out->prior == CR_PRIOR_NORMAL;
    if ((!free_a && !(out->prior_a > 0)) || (cri_prior_size(out->prior) == 2 && !(out->prior_b > 0)))
        CR_TRY(FAULT(p, begin, "the scale or shape of the prior %s must be positive", name));
    CR_TRY(expect(p, ')', "after the numbers of a prior"));
done:
    return st;
}

static cr_status read_ends(parser *p, ends *out)
{
    cr_status st = CR_OK;
    for (;;) {
        skip_blanks(p);
        const char *begin = p->at;
        if (accept_word(p, "fixed")) {
            out->fixed = true;
        } else if (accept(p, '[')) {
            CR_TRY(read_number(p, &out->lower));
            CR_TRY(expect(p, ',', "between the bounds"));
            CR_TRY(read_number(p, &out->upper));
            CR_TRY(expect(p, ']', "after the bounds"));
            if (!(out->lower <= out->upper))
                CR_TRY(FAULT(p, begin, "the lower bound is above the upper one"));
            out->bounded = true, out->bounds_at = begin;
        } else if (accept(p, '~')) {
            CR_TRY(read_prior(p, out));
        } else {
            break;
        }
    }
done:
    return st;
}

/* Reads a value, a list of values, or ends alone, into p->values. */
static cr_status read_values(parser *p, size_t *out_begin, size_t *out_n)
{
    cr_status st = CR_OK;
    ends      all = { .fixed = false };
    *out_begin = p->n_values;
    skip_blanks(p);
    bool list = accept(p, '[');
    do {
        CR_TRY(grow(p, (void **)&p->values, p->n_values, &p->room_values, sizeof *p->values));
        skip_blanks(p);
        value v = { .at = p->at, .number = list || *p->at != '~' };
        if (v.number) CR_TRY(read_number(p, &v.x));
        CR_TRY(read_ends(p, &v.ends));
        if (p->n_values - *out_begin >= CRI_MOST_VALUES) CR_TRY(FAULT(p, v.at, "the list is too long"));
        p->values[p->n_values++] = v;
    } while (list && accept(p, ','));
    *out_n = p->n_values - *out_begin;
    if (!list) goto done;
    CR_TRY(expect(p, ']', "after a list of values"));
    CR_TRY(read_ends(p, &all));
    if (all.fixed || all.bounded || all.prior)
        for (size_t i = *out_begin; i < p->n_values; i++) p->values[i].ends = all;
done:
    return st;
}

static cr_status check_ends(parser *p, const cri_spec *spec, const ends *e)
{
    bool positive = spec->coordinate != CRI_REAL;
    if (e->prior == CR_PRIOR_NORMAL && positive)
        return FAULT(p, e->prior_at, "%s is positive: its prior cannot be normal", spec->shown.name);
    if (e->prior > CR_PRIOR_NONE && e->prior != CR_PRIOR_NORMAL && !positive)
        return FAULT(p, e->prior_at, "%s may be negative: its prior must be normal", spec->shown.name);
    if (!spec->shown.learned && (e->fixed || e->bounded || e->prior))
        return FAULT(p, e->prior ? e->prior_at : e->bounded ? e->bounds_at : p->at,
                     "%s is not learned: it takes plain numbers", spec->shown.name);
    if (e->bounded && positive && !(e->lower > 0))
        return FAULT(p, e->bounds_at, "the lower bound of %s must be positive", spec->shown.name);
    if (e->bounded && spec->coordinate == CRI_LOGIT && !(e->upper < 1))
        return FAULT(p, e->bounds_at, "the upper bound of %s must be below 1", spec->shown.name);
    return CR_OK;
}

/* Adds a parameter; without a number it starts at the centre of its prior, moved into its bounds. */
static cr_status make_param(parser *p, const cri_spec *spec, const value *v, size_t node,
                            size_t element)
{
    const ends *e = &v->ends;
    cri_param   param = { .value = v->x,
                          .lower = spec->coordinate == CRI_REAL ? -INFINITY : 0,
                          .upper = spec->coordinate == CRI_LOGIT ? 1 : INFINITY,
                          .prior_a = e->prior_a,
                          .prior_b = e->prior_b,
                          .prior = e->prior,
                          .fixed = e->fixed || !spec->shown.learned,
                          .spec = spec,
                          .node = node,
                          .element = element };
    cr_status   st = check_ends(p, spec, e);
    if (st != CR_OK) return st;
    if (e->bounded) param.lower = e->lower, param.upper = e->upper;
    if (!v->number) param.value = fmin(fmax(cri_prior_centre(&param), param.lower), param.upper);
    if (!cri_in_range(spec, param.value))
        return FAULT(p, v->at, "%s must be %s", spec->shown.name,
                     spec->shown.range[0] ? spec->shown.range : "finite");
    if (param.value < param.lower || param.value > param.upper)
        return FAULT(p, v->at, "%s lies outside its bounds", spec->shown.name);
    return add_param(p, param);
}

/* --- one kernel -------------------------------------------------------------------------------- */

/* What the parentheses of a kernel held, before it is made a node. */
typedef struct given {
    const char *where;    /* where it stands; NULL: not given */
    size_t      begin, n; /* of p->values                     */
} given;

typedef struct call {
    const char            *begin; /* of the name */
    const cr_kernel_class *class;
    cri_node               node;
    given                  spec[CRI_MOST_SPECS], amplitude;
    const char            *ard;
    size_t                 levels; /* of the column, when known */
    size_t                 base;   /* node, or SIZE_MAX         */
    size_t                 read;   /* node of what a file stands for, or SIZE_MAX */
} call;

static cr_status parse_sum(parser *p, size_t *out);

static const char *column_name(const void *user, size_t i)
{
    const cr_kernel_columns *c = user;
    return c->name(c->user, i);
}

/* x1, c1, t1: columns without a table. */
static ptrdiff_t find_numbered(const char *name, int kind, cr_kernel_column *out)
{
    static const char letters[] = "xct";
    size_t            n = 0;
    if (name[0] != letters[kind] || name[1] < '1' || name[1] > '9' || strlen(name) > 7) return -1;
    for (const char *c = name + 1; *c; c++) {
        if (!isdigit((unsigned char)*c)) return -1;
        n = 10 * n + (size_t)(*c - '0');
    }
    out->kind = (cr_kernel_kind)kind;
    return (ptrdiff_t)n - 1;
}

static cr_status take_column(parser *p, call *c, const char *where, const char *name)
{
    static const char *const kinds[] = { "numbers", "categories", "texts" };
    cr_kernel_column         column = { .kind = CR_KERNEL_NUMBER };
    if (!c->class || c->class->kind == CRI_NONE)
        return FAULT(p, where, "%s acts on no columns", c->class ? c->class->name : "it");
    ptrdiff_t index = p->columns ? p->columns->find(p->columns->user, name, &column)
                                 : find_numbered(name, c->class->kind, &column);
    const char *role = index < 0 && p->columns && p->columns->role
                           ? p->columns->role(p->columns->user, name)
                           : NULL;
    if (role) return FAULT(p, where, "column '%s' is %s: a kernel acts on features", name, role);
    if (index < 0) {
        cr_status st = FAULT(p, where, "there is no column '%s'", name);
        if (p->columns && p->columns->name)
            cr_fail_nearest(p->cx, name, "columns", p->columns->count, column_name, p->columns);
        else if (!p->columns) cr_fail_hint(p->cx, "columns are named %c1, %c2, ...", "xct"[c->class->kind], "xct"[c->class->kind]);
        return st;
    }
    if ((int)column.kind != c->class->kind && !(column.named && c->class->kind == CR_KERNEL_TEXT)) {
        cr_status st = FAULT(p, where, "column '%s' holds %s, but %s acts on %s", name,
                             kinds[column.kind], c->class->name, kinds[c->class->kind]);
        if (c->class->kind == CR_KERNEL_TEXT && p->columns)
            cr_fail_hint(p->cx, "--category %s reads the column as texts", name);
        return st;
    }
    if (c->class->one_column && c->node.n_columns == 1)
        return FAULT(p, where, "%s acts on one column", c->class->name);
    for (size_t i = 0; i < c->node.n_columns; i++)
        if (p->k->columns[c->node.column_begin + i].index == (size_t)index)
            return FAULT(p, where, "column '%s' is named twice", name);
    if (c->node.n_columns == 0) c->node.column_begin = p->k->n_columns;
    c->node.n_columns++, c->levels = column.levels;
    return add_column(p, (size_t)index, name);
}

static const char *spec_name(const void *user, size_t i)
{
    const cr_kernel_class *c = user;
    size_t                 n = cri_spec_count(c);
    if (i < n) return c->specs[i].shown.name;
    return c->base && i == n ? "base" : "warp";
}

static cr_status unknown_parameter(parser *p, const call *c, const char *where, const char *name)
{
    cr_status st = FAULT(p, where, "%s has no parameter '%s'", c->class->name, name);
    cr_fail_nearest(p->cx, name, "parameters",
                    cri_spec_count(c->class) + (c->class->base ? 1 : 0) + (c->class->warps ? 1 : 0),
                    spec_name, c->class);
    return st;
}

static cr_status read_warp(parser *p, call *c, const char *where)
{
    static const char *const names[] = { "log", "kumaraswamy" };
    if (!c->class->warps) return unknown_parameter(p, c, where, "warp");
    for (size_t i = 0; i < 2; i++)
        if (accept_word(p, names[i])) {
            c->node.warp = i ? CRI_WARP_KUMARASWAMY : CRI_WARP_LOG;
            return CR_OK;
        }
    skip_blanks(p);
    return FAULT(p, p->at, "expected warp=log or warp=kumaraswamy");
}

static cr_status read_base(parser *p, call *c, const char *where)
{
    if (!c->class->base) return unknown_parameter(p, c, where, "base");
    if (c->base != SIZE_MAX) return FAULT(p, where, "base is given twice");
    return parse_sum(p, &c->base);
}

/* file="path": the expression that the caller makes of it, read in its place. */
static cr_status read_file(parser *p, call *c, const char *where)
{
    cr_status   st = CR_OK;
    char        path[NAME_SIZE], *text = NULL;
    const char *outer = p->text, *after;
    if (c->class != &cri_kernel_fisher) return unknown_parameter(p, c, where, "file");
    if (c->read != SIZE_MAX) return FAULT(p, where, "file is given twice");
    CR_TRY(read_name(p, "the name of a model file", path, NULL));
    if (!p->columns || !p->columns->file)
        CR_TRY(FAULT(p, where, "there are no model files here: give mean= and sd="));
    CR_TRY(p->columns->file(p->columns->user, p->cx, c->class->name, path, &text));
    after = p->at;
    p->text = p->at = text;
    st = parse_sum(p, &c->read);
    p->text = outer, p->at = after;
done:
    cri_string_free(p->cx, text);
    return st;
}

static given *slot_of(call *c, const char *name)
{
    for (size_t s = 0; c->class->specs[s].shown.name; s++) {
        const cr_kernel_spec *spec = &c->class->specs[s].shown;
        if (strcmp(spec->name, name) == 0 || (spec->alias && strcmp(spec->alias, name) == 0))
            return &c->spec[s];
    }
    return strcmp(name, "variance") == 0 ? &c->amplitude : NULL;
}

static cr_status read_parameter(parser *p, call *c, const char *where, const char *name)
{
    given *slot = slot_of(c, name);
    bool   equals = accept(p, '=');
    if (equals && strcmp(name, "base") == 0) return read_base(p, c, where);
    if (equals && strcmp(name, "warp") == 0) return read_warp(p, c, where);
    if (equals && strcmp(name, "file") == 0) return read_file(p, c, where);
    if (!slot) return unknown_parameter(p, c, where, name);
    if (slot->where) return FAULT(p, where, "%s is given twice", name);
    slot->where = where;
    return read_values(p, &slot->begin, &slot->n);
}

/* A number without a name is the first parameter. */
static cr_status read_positional(parser *p, call *c)
{
    given *slot = &c->spec[0];
    if (!c->class || !c->class->specs[0].shown.name || c->class->specs[0].role == CRI_WARP)
        return FAULT(p, p->at, "%s has no parameter to take a number",
                     c->class ? c->class->name : "it");
    if (slot->where)
        return FAULT(p, p->at, "which parameter is this?  %s is given already",
                     c->class->specs[0].shown.name);
    slot->where = p->at;
    return read_values(p, &slot->begin, &slot->n);
}

static cr_status read_item(parser *p, call *c)
{
    cr_status st = CR_OK;
    char      name[NAME_SIZE];
    bool      quoted;
    skip_blanks(p);
    const char *where = p->at;
    if (begins_number(p)) return read_positional(p, c);
    CR_TRY(read_name(p, "a column or a parameter", name, &quoted));
    if (quoted) {
        CR_TRY(take_column(p, c, where, name));
    } else if (peek(p) == '=' || peek(p) == '~') {
        if (!c->class) CR_TRY(FAULT(p, where, "a kernel of the caller has no parameters"));
        CR_TRY(read_parameter(p, c, where, name));
    } else if (strcmp(name, "ard") == 0) {
        c->ard = where;
    } else {
        if (c->class && slot_of(c, name) && !p->columns)
            CR_TRY(FAULT(p, p->at, "expected '=' after the name of the parameter %s", name));
        CR_TRY(take_column(p, c, where, name));
    }
done:
    return st;
}

static cr_status read_items(parser *p, call *c)
{
    cr_status st = CR_OK;
    if (accept(p, '(') && !accept(p, ')')) {
        do CR_TRY(read_item(p, c));
        while (accept(p, ',') || accept(p, ';'));
        CR_TRY(expect(p, ')', "or ',' in a kernel"));
    }
    if (accept(p, '@')) {
        char name[NAME_SIZE];
        CR_TRY(expect(p, '[', "after '@'"));
        do {
            skip_blanks(p);
            const char *where = p->at;
            CR_TRY(read_name(p, "a column", name, NULL));
            CR_TRY(take_column(p, c, where, name));
        } while (accept(p, ','));
        CR_TRY(expect(p, ']', "after the columns"));
    }
done:
    return st;
}

/* How many values parameter s has; 0 means any number will do, because the columns are not known. */
static size_t wanted_values(parser *p, const call *c, size_t s)
{
    const cri_spec *spec = &c->class->specs[s];
    size_t          numbers = p->columns ? p->columns->numbers : 0;
    if (c->class == &cri_kernel_category)
        return (size_t)c->node.setting[0] * (s == 2 ? (size_t)c->node.setting[1] : 1);
    if (c->class == &cri_kernel_fisher) return 0; /* which is checked when all are there */
    if (c->base != SIZE_MAX || (spec->role != CRI_LENGTH && spec->role != CRI_MAP)) return 1;
    return c->node.n_columns ? c->node.n_columns : numbers;
}

static cr_status make_setting(parser *p, call *c, size_t s)
{
    const cri_spec *spec = &c->class->specs[s];
    const given    *g = &c->spec[s];
    value           v = { .at = c->begin, .x = spec->fallback };
    if (c->class == &cri_kernel_category && s == 0 && c->levels) v.x = (double)c->levels;
    if (g->where) v = p->values[g->begin];
    if (g->n > 1 || (g->where && !v.number) || v.ends.bounded || v.ends.prior || v.ends.fixed)
        return FAULT(p, v.at, "%s is not learned: it takes a plain number", spec->shown.name);
    if (!cri_in_range(spec, v.x))
        return FAULT(p, v.at, "%s must be %s%s", spec->shown.name,
                     spec->real ? "" : "a whole number in ", spec->shown.range);
    c->node.setting[s] = v.x;
    return CR_OK;
}

/* Where the values of a parameter that was not given begin. */
static double start_value(const call *c, const cri_spec *spec, size_t element)
{
    if (c->class != &cri_kernel_category || strcmp(spec->shown.name, "w") != 0) return spec->fallback;
    size_t rank = (size_t)c->node.setting[1], level = element / rank, r = element % rank;
    return 1 / (1 + (double)((level + r) % (rank + 1))); /* ranks differ, or they would stay equal */
}

/* true when `ard` gives parameter s one value a column: length-scales, else what the map has. */
static bool spreads(const call *c, size_t s)
{
    cri_role role = c->class->specs[s].role;
    bool     lengths = cri_spec_of_role(c->class, CRI_LENGTH) != SIZE_MAX;
    if (c->class == &cri_kernel_category) return true;
    return c->ard && (role == CRI_LENGTH || (role == CRI_MAP && !lengths));
}

static cr_status make_values(parser *p, call *c, size_t s, size_t node)
{
    const cri_spec *spec = &c->class->specs[s];
    const given    *g = &c->spec[s];
    cr_status       st = CR_OK;
    size_t          wanted = wanted_values(p, c, s), n = g->n ? g->n : 1;
    if (n == 1 && spreads(c, s)) {
        if (!wanted)
            CR_TRY(FAULT(p, c->ard, "ard needs columns: name them, or give a list of values"));
        n = wanted;
    }
    if (n > 1 && wanted && n != wanted)
        CR_TRY(FAULT(p, g->where ? g->where : c->begin, "%s has %zu values, but there %s %zu to fill",
                     spec->shown.name, n, wanted == 1 ? "is" : "are", wanted));
    c->node.param[s] = p->k->n_params, c->node.n_values[s] = n;
    for (size_t e = 0; e < n; e++) {
        value v = { .at = c->begin, .number = true, .x = start_value(c, spec, e) };
        if (g->where) v = p->values[g->begin + (g->n > 1 ? e : 0)];
        CR_TRY(make_param(p, spec, &v, node, e));
    }
done:
    return st;
}

static cr_status check_form(parser *p, const call *c)
{
    bool warp_given = false;
    for (size_t s = 0; c->class->specs[s].shown.name; s++)
        if (c->class->specs[s].role == CRI_WARP && c->spec[s].where) warp_given = true;
    if (warp_given && c->node.warp != CRI_WARP_KUMARASWAMY)
        return FAULT(p, c->begin, "a and b need warp=kumaraswamy");
    if (c->base != SIZE_MAX && (c->node.n_columns || c->ard || c->node.warp))
        return FAULT(p, c->begin, "over a base kernel, columns, ard and warp belong to the base");
    if (c->ard && cri_spec_of_role(c->class, CRI_LENGTH) == SIZE_MAX &&
        cri_spec_of_role(c->class, CRI_MAP) == SIZE_MAX)
        return FAULT(p, c->ard, "%s has no length-scales for ard", c->class->name);
    if (c->class == &cri_kernel_mismatch && c->node.setting[2] > c->node.setting[0])
        return FAULT(p, c->spec[2].where ? c->spec[2].where : c->begin, "m must not be greater than k");
    return CR_OK;
}

/* constant(value): a plain number, or the amplitude that `variance=` stands for. */
static cr_status make_constant(parser *p, const given *g, size_t *out)
{
    call   c = { .begin = g->where, .class = &cri_kernel_constant, .base = SIZE_MAX, .read = SIZE_MAX };
    size_t node = p->k->n_nodes;
    c.node = (cri_node){ .op = CRI_LEAF, .class = c.class, .first = SIZE_MAX, .next = SIZE_MAX };
    c.spec[0] = *g;
    cr_status st = make_values(p, &c, 0, node);
    return st == CR_OK ? add_node(p, c.node, out) : st;
}

/* What a file stands for is the whole kernel. */
static cr_status finish_file(parser *p, const call *c, size_t *out)
{
    bool more = c->node.n_columns || c->ard || c->amplitude.where;
    for (size_t s = 0; c->class->specs[s].shown.name; s++) more = more || c->spec[s].where;
    if (more) return FAULT(p, c->begin, "file= stands for all columns and parameters of the kernel");
    *out = c->read;
    return CR_OK;
}

/* The numbers of a Fisher kernel: one, one a column, or for sd a square root of a covariance. */
static cr_status check_fisher(parser *p, const call *c)
{
    const size_t *values = c->node.n_values;
    size_t        n = c->node.n_columns ? c->node.n_columns : p->columns ? p->columns->numbers : 0;
    if (n && values[0] != 1 && values[0] != n)
        return FAULT(p, c->spec[0].where, "mean has %zu values, but there are %zu columns", values[0], n);
    if (n && values[1] != 1 && values[1] != n && values[1] != n * n)
        return FAULT(p, c->spec[1].where, "sd has %zu values, but there are %zu columns: %zu, or the %zu "
                     "of a square root of the covariance", values[1], n, n, n * n);
    bool full = n > 1 && values[1] == n * n;
    for (size_t e = 0; e < values[1]; e++) {
        double x = p->k->params[c->node.param[1] + e].value;
        bool   below = full && e % n < e / n, above = full && e % n > e / n;
        if ((above && x != 0) || (!above && !below && !(x > 0)))
            return FAULT(p, c->spec[1].where ? c->spec[1].where : c->begin, "%s",
                         above ? "the square root of a covariance is 0 above its diagonal"
                               : "sd must be positive");
    }
    return CR_OK;
}

static cr_status finish_call(parser *p, call *c, size_t *out)
{
    cr_status st = CR_OK;
    size_t    number = SIZE_MAX;
    if (c->read != SIZE_MAX) return finish_file(p, c, out);
    for (size_t s = 0; c->class->specs[s].shown.name; s++)
        if (c->class->specs[s].role == CRI_SETTING) CR_TRY(make_setting(p, c, s));
    CR_TRY(check_form(p, c));
    if (c->amplitude.where) {
        if (c->amplitude.n != 1) CR_TRY(FAULT(p, c->amplitude.where, "variance is one number"));
        if (c->base != SIZE_MAX)
            CR_TRY(FAULT(p, c->amplitude.where,
                         "over a base kernel, write the variance as a factor: 2*rbf(base=...)"));
        CR_TRY(make_constant(p, &c->amplitude, &number));
    }
    size_t node = p->k->n_nodes;
    for (size_t s = 0; c->class->specs[s].shown.name; s++) {
        cri_role role = c->class->specs[s].role;
        if (role == CRI_SETTING || (role == CRI_WARP && c->node.warp != CRI_WARP_KUMARASWAMY)) continue;
        CR_TRY(make_values(p, c, s, node));
    }
    if (c->class == &cri_kernel_fisher) CR_TRY(check_fisher(p, c));
    c->node.op = c->base == SIZE_MAX ? CRI_LEAF : CRI_OVER;
    c->node.first = c->base;
    CR_TRY(add_node(p, c->node, out));
    if (number != SIZE_MAX) {
        p->k->nodes[number].next = *out;
        CR_TRY(add_node(p, (cri_node){ .op = CRI_PRODUCT, .first = number, .next = SIZE_MAX }, out));
    }
done:
    return st;
}

static const char *any_kernel(const void *user, size_t i)
{
    const cr_kernel *k = user;
    return i < cr_kernel_count() ? cr_kernel_at(i)->name : k->hooks[i - cr_kernel_count()].name;
}

static cr_status parse_call(parser *p, size_t *out)
{
    static const struct { const char *name; double nu; } materns[] = { { "matern12", 0.5 },
                                                                       { "matern32", 1.5 },
                                                                       { "matern52", 2.5 } };
    cr_status st = CR_OK;
    call      c = { .begin = p->at, .base = SIZE_MAX, .read = SIZE_MAX };
    char      name[NAME_SIZE];
    CR_TRY(read_name(p, "a kernel", name, NULL));
    c.node = (cri_node){ .op = CRI_LEAF, .first = SIZE_MAX, .next = SIZE_MAX };
    for (size_t h = 0; h < p->k->n_hooks; h++)
        if (strcmp(p->k->hooks[h].name, name) == 0) {
            c.node.hook = h;
            CR_TRY(read_items(p, &c));
            CR_TRY(add_node(p, c.node, out));
            goto done;
        }
    c.class = c.node.class = cri_kernel_lookup(name, strlen(name));
    if (!c.class) {
        st = FAULT(p, c.begin, "there is no kernel '%s'", name);
        cr_fail_nearest(p->cx, name, "kernels", cr_kernel_count() + p->k->n_hooks, any_kernel, p->k);
        goto done;
    }
    CR_TRY(read_items(p, &c));
    for (size_t i = 0; i < 3; i++) /* as if nu= had been written */
        if (strcmp(name, materns[i].name) == 0) {
            if (c.spec[1].where) CR_TRY(FAULT(p, c.spec[1].where, "%s has its nu in its name", name));
            CR_TRY(grow(p, (void **)&p->values, p->n_values, &p->room_values, sizeof *p->values));
            c.spec[1] = (given){ c.begin, p->n_values, 1 };
            p->values[p->n_values++] = (value){ .at = c.begin, .number = true, .x = materns[i].nu };
        }
    CR_TRY(finish_call(p, &c, out));
done:
    return st;
}

/* --- sums, products, powers -------------------------------------------------------------------- */

static cr_status parse_atom(parser *p, size_t *out)
{
    cr_status st = CR_OK;
    skip_blanks(p);
    const char *begin = p->at;
    if (++p->depth > CRI_MOST_DEPTH)
        return FAULT(p, begin, "parentheses are nested more than %d deep", CRI_MOST_DEPTH);
    if (begins_number(p)) {
        given g = { .where = begin };
        CR_TRY(read_values(p, &g.begin, &g.n));
        CR_TRY(make_constant(p, &g, out));
    } else if (accept(p, '(')) {
        CR_TRY(parse_sum(p, out));
        CR_TRY(expect(p, ')', "to close the parenthesis"));
    } else {
        char seen[16];
        if (!begins_name(*p->at))
            CR_TRY(FAULT(p, p->at, "expected a kernel or a number, found %s", found(p, seen)));
        CR_TRY(parse_call(p, out));
    }
    p->depth--;
done:
    return st;
}

static cr_status parse_power(parser *p, size_t *out)
{
    cr_status st = CR_OK;
    CR_TRY(parse_atom(p, out));
    while (accept(p, '^')) {
        double power;
        skip_blanks(p);
        const char *begin = p->at;
        CR_TRY(read_number(p, &power));
        if (!(power >= 1 && power <= 50) || power != floor(power))
            CR_TRY(FAULT(p, begin, "a power must be a whole number in 1..50"));
        CR_TRY(add_node(p,
                        (cri_node){ .op = CRI_POWER,
                                    .first = *out,
                                    .next = SIZE_MAX,
                                    .power = (size_t)power },
                        out));
    }
done:
    return st;
}

/* A list of members of a sum or a product; members that are such themselves are taken apart. */
typedef struct members {
    size_t first, last, n;
} members;

static void add_member(parser *p, members *m, cri_op op, size_t node)
{
    cri_node *nodes = p->k->nodes;
    size_t    head = node;
    if (nodes[node].op == op && node == p->k->n_nodes - 1) {
        head = nodes[node].first;
        p->k->n_nodes--;
    }
    if (m->n == 0) m->first = head;
    else nodes[m->last].next = head;
    for (m->last = head, m->n++; nodes[m->last].next != SIZE_MAX; m->n++) m->last = nodes[m->last].next;
}

static cr_status parse_list(parser *p, cri_op op, char sign, cr_status (*member)(parser *, size_t *),
                            size_t *out)
{
    cr_status st = CR_OK;
    members   m = { SIZE_MAX, SIZE_MAX, 0 };
    do {
        size_t node;
        CR_TRY(member(p, &node));
        add_member(p, &m, op, node);
    } while (accept(p, sign));
    *out = m.first;
    if (m.n > 1) CR_TRY(add_node(p, (cri_node){ .op = op, .first = m.first, .next = SIZE_MAX }, out));
done:
    return st;
}

static cr_status parse_product(parser *p, size_t *out)
{
    return parse_list(p, CRI_PRODUCT, '*', parse_power, out);
}

static cr_status parse_sum(parser *p, size_t *out)
{
    return parse_list(p, CRI_SUM, '+', parse_product, out);
}

cr_status cr_kernel_parse(cr_ctx *cx, const char *text, const cr_kernel_columns *opt_columns,
                          const cr_kernel_hook *hooks, size_t n_hooks, cr_kernel **out_kernel)
{
    cr_status st = CR_OK;
    parser    p = { .cx = cx, .text = text, .at = text, .columns = opt_columns };
    size_t    root;
    char      seen[16];
    CR_TRY(cri_kernel_new(cx, hooks, n_hooks, &p.k));
    CR_TRY(parse_sum(&p, &root));
    if (peek(&p) != '\0')
        CR_TRY(FAULT(&p, p.at, "expected '+', '*' or the end, found %s", found(&p, seen)));
    *out_kernel = p.k;
    p.k = NULL;
done:
    cr_free(cx, p.values, p.room_values, sizeof *p.values);
    cr_kernel_free(cx, p.k);
    return st;
}
