/* terms_text.c -- the grammar of --terms, by recursive descent. */
#include "terms.h"
#include "basis.h"
#include "formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    cr_scratch    *s;
    const char    *text, *at;
    cri_term_item *items;
    size_t         n, capacity;
} parser;

static const char *const names[CRI_FUNCTIONS] = { "I",    "log",   "log1p",   "log2",      "log10",
                                                  "exp",  "sqrt",  "abs",     "inverse",   "power",
                                                  "year", "month", "weekday", "dayofyear", "hour" };

const char *cri_function_name(cri_function f) { return names[f]; }

/* --- places and failures --------------------------------------------------------------------- */

static void skip_spaces(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') p->at++;
}

static cr_status fail_at(const parser *p, const char *what)
{
    int shown = (int)strcspn(p->at, "\n");
    if (*p->at == '\0')
        return cr_fail(p->s->cx, CR_EARG, "--terms: %s at the end of '%s'", what, p->text);
    return cr_fail(p->s->cx, CR_EARG, "--terms: %s at '%.*s'", what, shown > 40 ? 40 : shown,
                   p->at);
}

static bool take(parser *p, char sign)
{
    skip_spaces(p);
    if (*p->at != sign) return false;
    p->at++;
    skip_spaces(p);
    return true;
}

/* --- names ----------------------------------------------------------------------------------- */

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || (unsigned char)c >= 0x80;
}

static char *copy(parser *p, const char *begin, size_t length)
{
    char *out = cr_scratch_bytes(p->s, length + 1, 1);
    if (out) memcpy(out, begin, length);
    return out;
}

/* The name in double quotes that stands here. */
static cr_status read_quoted(parser *p, const char **out)
{
    char  *name = copy(p, p->at, strlen(p->at));
    size_t n = 0;
    if (!name) return p->s->status;
    const char *at = p->at + 1;
    for (; *at; at++) {
        if (*at == '"' && at[1] != '"') break;
        if (*at == '"') at++;
        name[n++] = *at;
    }
    name[n] = '\0';
    if (*at != '"') return fail_at(p, "a double quote is not closed");
    if (n == 0) return fail_at(p, "a name is empty");
    p->at = at + 1;
    *out = name;
    return CR_OK;
}

/* A name, quoted or not. */
static cr_status read_name(parser *p, const char **out, bool *out_quoted)
{
    size_t length = 0;
    *out_quoted = *p->at == '"';
    if (*out_quoted) return read_quoted(p, out);
    while (is_name_byte(p->at[length])) length++;
    if (length == 0) return fail_at(p, "a term is expected");
    if (p->at[0] >= '0' && p->at[0] <= '9') {
        fail_at(p, "a number is not a term");
        return cr_fail_hint(p->s->cx, "put a name that begins with a digit in double quotes; "
                                      "0 + x and x - 1 are x with --no-intercept");
    }
    char *name = copy(p, p->at, length);
    if (!name) return p->s->status;
    p->at += length;
    *out = name;
    return CR_OK;
}

/* --- atoms ----------------------------------------------------------------------------------- */

static char *join(cr_scratch *s, const char *before, const char *inner, const char *after)
{
    size_t size = strlen(before) + strlen(inner) + strlen(after) + 1;
    char  *out = cr_scratch_bytes(s, size, 1);
    if (out) snprintf(out, size, "%s%s%s", before, inner, after);
    return out;
}

const char *cri_atom_name(cr_scratch *s, const cri_atom *a, size_t n_steps)
{
    const char *name = a->column;
    for (size_t k = 0; k < n_steps && name; k++) {
        cri_function f = a->steps[k].function;
        const char  *before = "", *after = ")";
        char         power[16];
        snprintf(power, sizeof power, "^%u", a->steps[k].power);
        if (f == CRI_FUNCTION_POWER)
            after = power;
        else if (f == CRI_FUNCTION_INVERSE)
            before = "1/", after = "";
        else
            before = join(s, names[f], "(", "");
        name = before ? join(s, before, name, after) : NULL;
    }
    return name ? name : "";
}

/* Puts a function around an atom. */
static cr_status add_step(parser *p, cri_atom *a, cri_function f, unsigned power)
{
    if (f == CRI_FUNCTION_SELF) return CR_OK;
    if (a->basis)
        return fail_at(p, "a basis has several values: a function cannot be applied to it,");
    if (a->n_steps == CRI_MOST_STEPS) return fail_at(p, "too many nested functions");
    a->steps[a->n_steps++] = (cri_term_step){ f, power };
    return CR_OK;
}

static cr_status read_atom(parser *p, size_t depth, cri_atom *out);

static cri_function find_function(const char *name)
{
    int f = 0;
    while (f < CRI_FUNCTIONS && (f == CRI_FUNCTION_POWER || strcmp(names[f], name) != 0)) f++;
    return (cri_function)f;
}

static bool is_basis(const char *name)
{
    for (int k = CRI_BASIS_POLY; k < CRI_BASIS_KINDS; k++)
        if (strcmp(cri_basis_kind_name((cri_basis_kind)k), name) == 0) return true;
    return false;
}

/* One number of a basis behind its comma, appended to the specification with ':' before it. */
static cr_status read_argument(parser *p, const char **spec)
{
    size_t length = strcspn(p->at, ",():*|\"");
    while (length > 0 && p->at[length - 1] == ' ') length--;
    if (length == 0) return fail_at(p, "a number of the basis is expected");
    char *word = copy(p, p->at, length);
    if (!word) return p->s->status;
    *spec = join(p->s, *spec, ":", word);
    p->at += length;
    skip_spaces(p);
    return p->s->status;
}

/* What follows the name of a basis: its atom and its numbers. */
static cr_status read_basis(parser *p, const char *name, cri_atom *a)
{
    const char    *spec = name;
    cri_basis_spec read;
    cr_status      st = CR_OK;
    if (a->basis)
        return fail_at(p, "a basis has several values: a function cannot be applied to it,");
    while (st == CR_OK && take(p, ',')) st = read_argument(p, &spec);
    if (st != CR_OK) return st;
    st = cri_basis_parse(p->s, spec, &read);
    if (st != CR_OK)
        return cr_fail_note(p->s->cx, "in --terms, write %s(COLUMN,...) for %s:... in --basis",
                            name, name);
    if (read.kind != CRI_BASIS_POLY || read.count > 1) a->basis = spec;
    return CR_OK;
}

static const char *known_function(const void *unused, size_t k)
{
    (void)unused;
    if (k < CRI_FUNCTIONS - 1) return names[k < CRI_FUNCTION_POWER ? k : k + 1];
    return cri_basis_kind_name((cri_basis_kind)(CRI_BASIS_POLY + k - (CRI_FUNCTIONS - 1)));
}

static cr_status refuse_function(parser *p, const char *name)
{
    enum { KNOWN = CRI_FUNCTIONS - 1 + CRI_BASIS_KINDS - CRI_BASIS_POLY };
    cr_fail(p->s->cx, CR_EARG, "--terms: '%s' is not a function", name);
    if (strcmp(name, "factor") == 0 || strcmp(name, "as.factor") == 0)
        return cr_fail_hint(p->s->cx,
                            "write the column alone, and --category COLUMN if it has numbers");
    if (strcmp(name, "offset") == 0)
        return cr_fail_hint(p->s->cx, "the model glm has --offset COLUMN");
    if (strcmp(name, "s") == 0 || strcmp(name, "te") == 0)
        return cr_fail_hint(p->s->cx, "the models spline and gp fit smooth functions; "
                                      "bspline(COLUMN,8) is a curve without penalty");
    if (strcmp(name, "ns") == 0 || strcmp(name, "bs") == 0)
        return cr_fail_hint(
            p->s->cx,
            "%s(COLUMN,K) has K - 1 terms beside the intercept, as %s(COLUMN, K - 1) "
            "has",
            name[0] == 'n' ? "natural" : "bspline", name);
    return cr_fail_nearest(p->s->cx, name, "functions", KNOWN, known_function, NULL);
}

/* What follows the name of a function and its bracket. */
static cr_status read_call(parser *p, const char *name, size_t depth, cri_atom *out)
{
    cri_function f = find_function(name);
    bool         square = strcmp(name, "square") == 0, basis = is_basis(name);
    if (f == CRI_FUNCTIONS && !square && !basis) return refuse_function(p, name);
    cr_status st = read_atom(p, depth + 1, out);
    if (st == CR_OK && basis) st = read_basis(p, name, out);
    if (st == CR_OK && f == CRI_FUNCTION_SELF && *p->at && strchr("*/+-", *p->at)) {
        fail_at(p, "--terms does not calculate with numbers");
        return cr_fail_hint(p->s->cx, "the column alone gives the same fit as the column times a "
                                      "number; other columns must be in the file");
    }
    if (st == CR_OK && !take(p, ')')) st = fail_at(p, "a closing bracket is expected");
    if (st != CR_OK || basis) return st;
    return square ? add_step(p, out, CRI_FUNCTION_POWER, 2) : add_step(p, out, f, 0);
}

static cr_status read_power(parser *p, cri_atom *a)
{
    char         *end;
    unsigned long k = *p->at >= '0' && *p->at <= '9' ? strtoul(p->at, &end, 10) : 0;
    if (k < 1 || k > CRI_MOST_POWERS) return fail_at(p, "a power from 1 to 32 is expected");
    p->at = end;
    skip_spaces(p);
    return k == 1 ? CR_OK : add_step(p, a, CRI_FUNCTION_POWER, (unsigned)k);
}

static bool take_inverse(parser *p)
{
    const char *at = p->at;
    if (*at != '1') return false;
    p->at++;
    if (take(p, '/')) return true;
    p->at = at;
    return false;
}

static cr_status read_atom(parser *p, size_t depth, cri_atom *out)
{
    cr_status   st;
    const char *name;
    bool        quoted;
    skip_spaces(p);
    if (depth > CRI_MOST_STEPS) return fail_at(p, "too many nested functions");
    if (take_inverse(p)) {
        st = read_atom(p, depth + 1, out);
        return st == CR_OK ? add_step(p, out, CRI_FUNCTION_INVERSE, 0) : st;
    }
    st = read_name(p, &name, &quoted);
    if (st != CR_OK) return st;
    if (!quoted && strcmp(name, ".") == 0)
        return fail_at(p, "'.' means all features and must stand alone, not");
    if (!quoted && take(p, '(')) {
        st = read_call(p, name, depth, out);
    } else {
        *out = (cri_atom){ .column = name };
    }
    if (st == CR_OK && take(p, '^')) st = read_power(p, out);
    skip_spaces(p);
    return st;
}

/* --- products -------------------------------------------------------------------------------- */

static cr_status add_item(parser *p, const cri_term_item *item)
{
    if (p->n == CRI_MOST_ITEMS) return fail_at(p, "there are too many terms");
    if (p->n == p->capacity) {
        size_t         capacity = p->capacity ? 2 * p->capacity : 16;
        cri_term_item *more = cr_scratch_bytes(p->s, capacity, sizeof *more);
        if (!more) return p->s->status;
        if (p->n > 0) memcpy(more, p->items, p->n * sizeof *more);
        p->items = more;
        p->capacity = capacity;
    }
    p->items[p->n++] = *item;
    return CR_OK;
}

static bool has_atom(const cri_term_item *item, const cri_atom *a)
{
    for (size_t i = 0; i < item->n; i++)
        if (strcmp(item->atoms[i]->name, a->name) == 0) return true;
    return false;
}

/* Multiplies an item with another; an atom times itself is itself, as in R. */
static cr_status multiply(parser *p, cri_term_item *item, const cri_term_item *by)
{
    for (size_t i = 0; i < by->n; i++) {
        if (has_atom(item, by->atoms[i])) continue;
        if (item->n == CRI_MOST_FACTORS) return fail_at(p, "a term multiplies too many columns");
        item->atoms[item->n++] = by->atoms[i];
    }
    return CR_OK;
}

/* "bspline:8(log(x))": what no other atom is called. */
static cr_status name_atom(parser *p, cri_atom *a)
{
    a->name = cri_atom_name(p->s, a, a->n_steps);
    if (!a->basis || p->s->status != CR_OK) return p->s->status;
    const char *head = join(p->s, a->basis, "(", "");
    a->name = head ? join(p->s, head, a->name, ")") : NULL;
    return p->s->status;
}

static cr_status read_crossed(parser *p, cri_term_item *out)
{
    do {
        cri_atom *atom = cr_scratch_bytes(p->s, 1, sizeof *atom);
        cr_status st = atom ? read_atom(p, 0, atom) : p->s->status;
        if (st == CR_OK) st = name_atom(p, atom);
        if (st == CR_OK) st = multiply(p, out, &(cri_term_item){ .atoms = { atom }, .n = 1 });
        if (st != CR_OK) return st;
    } while (take(p, ':'));
    return CR_OK;
}

/* Every product of some of n items, those of few first. */
static cr_status multiply_out(parser *p, const cri_term_item *parts, size_t n, bool minus)
{
    for (size_t size = 1; size <= n; size++)
        for (unsigned set = 1; set < 1u << n; set++) {
            cri_term_item product = { .minus = minus };
            cr_status     st = CR_OK;
            if ((size_t)__builtin_popcount(set) != size) continue;
            for (size_t i = 0; i < n && st == CR_OK; i++)
                if (set >> i & 1) st = multiply(p, &product, &parts[i]);
            if (st == CR_OK) st = add_item(p, &product);
            if (st != CR_OK) return st;
        }
    return CR_OK;
}

static cr_status read_product(parser *p, bool minus)
{
    cri_term_item parts[CRI_MOST_FACTORS] = { { 0 } };
    size_t        n = 0;
    do {
        if (n == CRI_MOST_FACTORS) return fail_at(p, "a term multiplies too many columns");
        cr_status st = read_crossed(p, &parts[n++]);
        if (st != CR_OK) return st;
    } while (take(p, '*'));
    return multiply_out(p, parts, n, minus);
}

/* The inside of "(1 | zip)". */
static cr_status read_varying(parser *p, bool minus)
{
    cri_atom   *atom = cr_scratch_bytes(p->s, 1, sizeof *atom);
    const char *name = NULL;
    bool        quoted;
    if (!atom) return p->s->status;
    if (!take(p, '1') || !take(p, '|')) {
        fail_at(p, "brackets without a function can only be (1 | COLUMN), a varying intercept;");
        return cr_fail_hint(p->s->cx, "write (a + b):c as a:c, b:c, and (a + b)^2 as a*b");
    }
    cr_status st = read_name(p, &name, &quoted);
    if (st != CR_OK) return st;
    if (!take(p, ')')) return fail_at(p, "a closing bracket is expected");
    *atom = (cri_atom){ .column = name, .name = name };
    cri_term_item item = { .kind = CRI_ITEM_VARYING, .minus = minus, .atoms = { atom }, .n = 1 };
    return add_item(p, &item);
}

static bool take_all(parser *p)
{
    if (p->at[0] != '.' || is_name_byte(p->at[1])) return false;
    p->at++;
    skip_spaces(p);
    return true;
}

static cr_status read_item(parser *p, bool minus)
{
    if (take(p, '(')) return read_varying(p, minus);
    if (!take_all(p)) return read_product(p, minus);
    if (minus) return fail_at(p, "'.' means all features: without them nothing is left,");
    return add_item(p, &(cri_term_item){ .kind = CRI_ITEM_ALL });
}

cr_status cri_terms_parse(cr_scratch *s, const char *text, cri_terms *out)
{
    if (cri_is_formula(text)) return cri_formula_refuse(s->cx, text);
    parser    p = { .s = s, .text = text, .at = text };
    cr_status st = CR_OK;
    bool      minus = take(&p, '-');
    if (minus) st = add_item(&p, &(cri_term_item){ .kind = CRI_ITEM_ALL });
    while (st == CR_OK) {
        st = read_item(&p, minus);
        skip_spaces(&p);
        if (st != CR_OK || *p.at == '\0') break;
        minus = *p.at == '-';
        if (!minus && *p.at != ',' && *p.at != '+') {
            st = fail_at(&p, "',', '+', ':' or '*' is expected");
            if (st != CR_OK && strncmp(p.at, "%in%", 4) == 0)
                cr_fail_hint(p.s->cx, "write a:b for a %%in%% b");
            break;
        }
        p.at++;
        if (!minus) minus = take(&p, '-');
        skip_spaces(&p);
    }
    if (st != CR_OK) return st;
    *out = (cri_terms){ p.items, p.n };
    return CR_OK;
}

/* --- items ----------------------------------------------------------------------------------- */

bool cri_term_item_is_plain(const cri_term_item *item)
{
    return item->kind == CRI_ITEM_TERM && item->n == 1 && item->atoms[0]->n_steps == 0 &&
           !item->atoms[0]->basis;
}

bool cri_term_item_same(const cri_term_item *a, const cri_term_item *b)
{
    if (a->kind != b->kind || a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (!has_atom(b, a->atoms[i])) return false;
    return true;
}
