/* parse_call.c -- reading kernel expressions: one kernel, its columns and parameters. */
#include "parse.h"
#include "base/context_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct call {
    const char *begin; /* of the name */
    const cr_kernel_class *class;
    cri_node        node;
    cri_parse_given spec[CRI_MOST_SPECS], amplitude;
    const char     *ard;
    size_t          levels; /* of the column, when known */
    size_t          base;   /* node, or SIZE_MAX         */
    size_t          read;   /* node of what a file stands for, or SIZE_MAX */
} call;

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

/* A longer name that the text goes on with, which needs quotes; NULL for none. */
static const char *find_unquoted(const cr_kernel_columns *columns, const char *where, size_t length)
{
    for (size_t i = 0; i < columns->count; i++) {
        const char *name = columns->name(columns->user, i);
        if (strlen(name) > length && strncmp(where, name, strlen(name)) == 0) return name;
    }
    return NULL;
}

static cr_status take_column(cri_parser *p, call *c, const char *where, const char *name)
{
    static const char *const kinds[] = { "numbers", "categories", "texts" };
    cr_kernel_column         column = { .kind = CR_KERNEL_NUMBER };
    if (!c->class || c->class->kind == CRI_NONE)
        return FAULT(p, where, "%s acts on no columns", c->class ? c->class->name : "it");
    ptrdiff_t   index = p->columns ? p->columns->find(p->columns->user, name, &column)
                                   : find_numbered(name, c->class->kind, &column);
    const char *role = index < 0 && p->columns && p->columns->role
                           ? p->columns->role(p->columns->user, name)
                           : NULL;
    if (role) return FAULT(p, where, "column '%s' is %s: a kernel acts on features", name, role);
    if (index < 0) {
        cr_status   st = FAULT(p, where, "there is no column '%s'", name);
        const char *quoted =
            p->columns && p->columns->name ? find_unquoted(p->columns, where, strlen(name)) : NULL;
        if (quoted)
            cr_fail_hint(p->cx, "put a name that is not a single word in quotes: %s(\"%s\")",
                         c->class->name, quoted);
        else if (p->columns && p->columns->name)
            cr_fail_nearest(p->cx, name, "columns", p->columns->count, column_name, p->columns);
        else if (!p->columns)
            cr_fail_hint(p->cx, "columns are named %c1, %c2, ...", "xct"[c->class->kind],
                         "xct"[c->class->kind]);
        return st;
    }
    if ((int)column.kind != c->class->kind && !(column.named && c->class->kind == CR_KERNEL_TEXT)) {
        cr_status st = FAULT(p, where, "column '%s' contains %s, but %s acts on %s", name,
                             kinds[column.kind], c->class->name, kinds[c->class->kind]);
        if (c->class->kind == CR_KERNEL_TEXT && p->columns)
            cr_fail_hint(p->cx, "--category %s reads the column as text", name);
        return st;
    }
    if (c->class->one_column && c->node.n_columns == 1)
        return FAULT(p, where, "%s acts on one column", c->class->name);
    for (size_t i = 0; i < c->node.n_columns; i++)
        if (p->k->columns[c->node.column_begin + i].index == (size_t)index)
            return FAULT(p, where, "column '%s' is named twice", name);
    if (c->node.n_columns == 0) c->node.column_begin = p->k->n_columns;
    c->node.n_columns++, c->levels = column.levels;
    return cri_parse_add_column(p, (size_t)index, name);
}

static const char *spec_name(const void *user, size_t i)
{
    const cr_kernel_class *c = user;
    size_t                 n = cri_spec_count(c);
    if (i < n) return c->specs[i].shown.name;
    return c->base && i == n ? "base" : "warp";
}

static cr_status unknown_parameter(cri_parser *p, const call *c, const char *where,
                                   const char *name)
{
    cr_status st = FAULT(p, where, "%s has no parameter '%s'", c->class->name, name);
    cr_fail_nearest(p->cx, name, "parameters",
                    cri_spec_count(c->class) + (c->class->base ? 1 : 0) + (c->class->warps ? 1 : 0),
                    spec_name, c->class);
    return st;
}

static cr_status read_warp(cri_parser *p, call *c, const char *where)
{
    static const char *const names[] = { "log", "kumaraswamy" };
    if (!c->class->warps) return unknown_parameter(p, c, where, "warp");
    for (size_t i = 0; i < 2; i++)
        if (cri_parse_word(p, names[i])) {
            c->node.warp = i ? CRI_WARP_KUMARASWAMY : CRI_WARP_LOG;
            return CR_OK;
        }
    cri_parse_blanks(p);
    return FAULT(p, p->at, "expected warp=log or warp=kumaraswamy");
}

static cr_status read_base(cri_parser *p, call *c, const char *where)
{
    if (!c->class->base) return unknown_parameter(p, c, where, "base");
    if (c->base != SIZE_MAX) return FAULT(p, where, "base is given twice");
    return cri_parse_sum(p, &c->base);
}

/* file="path": the expression that the caller makes of it, read in its place. */
static cr_status read_file(cri_parser *p, call *c, const char *where)
{
    cr_status   st = CR_OK;
    char        path[CRI_PARSE_NAME], *text = NULL;
    const char *outer = p->text, *after;
    if (c->class != &cri_kernel_fisher) return unknown_parameter(p, c, where, "file");
    if (c->read != SIZE_MAX) return FAULT(p, where, "file is given twice");
    CR_TRY(cri_parse_name(p, "the name of a model file", path, NULL));
    if (!p->columns || !p->columns->file)
        CR_TRY(FAULT(p, where, "there are no model files here: give mean= and sd="));
    CR_TRY(p->columns->file(p->columns->user, p->cx, c->class->name, path, &text));
    after = p->at;
    p->text = p->at = text;
    st = cri_parse_sum(p, &c->read);
    p->text = outer, p->at = after;
done:
    cri_string_free(p->cx, text);
    return st;
}

static cri_parse_given *slot_of(call *c, const char *name)
{
    for (size_t s = 0; c->class->specs[s].shown.name; s++) {
        const cr_kernel_spec *spec = &c->class->specs[s].shown;
        if (strcmp(spec->name, name) == 0 || (spec->alias && strcmp(spec->alias, name) == 0))
            return &c->spec[s];
    }
    return strcmp(name, "variance") == 0 ? &c->amplitude : NULL;
}

/* gamma=g of rbf, exp(-g |x - y|^2), is l=1/sqrt(2 g). */
static cr_status read_gamma(cri_parser *p, call *c, const char *where)
{
    cri_parse_given *slot = &c->spec[0];
    cr_status        st = CR_OK;
    if (slot->where) return FAULT(p, where, "l is given already: gamma is 1 / (2 l^2)");
    slot->where = where;
    CR_TRY(cri_parse_values(p, &slot->begin, &slot->n));
    for (size_t i = slot->begin; i < slot->begin + slot->n; i++) {
        cri_parse_value *v = &p->values[i];
        if (v->ends.bounded || v->ends.prior)
            CR_TRY(FAULT(p, v->at, "bounds and priors are those of l, which is 1 / sqrt(2 gamma)"));
        if (!v->number || !(v->x > 0)) CR_TRY(FAULT(p, v->at, "gamma must be >0"));
        v->x = 1 / sqrt(2 * v->x);
    }
done:
    return st;
}

static cr_status read_parameter(cri_parser *p, call *c, const char *where, const char *name)
{
    cri_parse_given *slot = slot_of(c, name);
    bool             equals = cri_parse_accept(p, '=');
    if (equals && strcmp(name, "base") == 0) return read_base(p, c, where);
    if (equals && strcmp(name, "warp") == 0) return read_warp(p, c, where);
    if (equals && strcmp(name, "file") == 0) return read_file(p, c, where);
    if (equals && c->class == &cri_kernel_rbf && strcmp(name, "gamma") == 0)
        return read_gamma(p, c, where);
    if (!slot) return unknown_parameter(p, c, where, name);
    if (slot->where) return FAULT(p, where, "%s is given twice", name);
    slot->where = where;
    return cri_parse_values(p, &slot->begin, &slot->n);
}

/* A number without a name is the first parameter. */
static cr_status read_positional(cri_parser *p, call *c)
{
    cri_parse_given *slot = &c->spec[0];
    if (!c->class || !c->class->specs[0].shown.name || c->class->specs[0].role == CRI_WARP)
        return FAULT(p, p->at, "%s has no parameter that takes a number",
                     c->class ? c->class->name : "it");
    if (slot->where)
        return FAULT(p, p->at, "which parameter is this?  %s is given already",
                     c->class->specs[0].shown.name);
    slot->where = p->at;
    return cri_parse_values(p, &slot->begin, &slot->n);
}

static cr_status read_item(cri_parser *p, call *c)
{
    cr_status st = CR_OK;
    char      name[CRI_PARSE_NAME];
    bool      quoted;
    cri_parse_blanks(p);
    const char *where = p->at;
    if (cri_parse_begins_number(p)) return read_positional(p, c);
    CR_TRY(cri_parse_name(p, "a column or a parameter", name, &quoted));
    if (quoted) {
        CR_TRY(take_column(p, c, where, name));
    } else if (cri_parse_peek(p) == '=' || cri_parse_peek(p) == '~') {
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

static cr_status read_items(cri_parser *p, call *c)
{
    cr_status st = CR_OK;
    if (cri_parse_accept(p, '(') && !cri_parse_accept(p, ')')) {
        do CR_TRY(read_item(p, c));
        while (cri_parse_accept(p, ',') || cri_parse_accept(p, ';'));
        CR_TRY(cri_parse_expect(p, ')', "or ',' in a kernel"));
    }
    if (cri_parse_accept(p, '@')) {
        char name[CRI_PARSE_NAME];
        CR_TRY(cri_parse_expect(p, '[', "after '@'"));
        do {
            cri_parse_blanks(p);
            const char *where = p->at;
            CR_TRY(cri_parse_name(p, "a column", name, NULL));
            CR_TRY(take_column(p, c, where, name));
        } while (cri_parse_accept(p, ','));
        CR_TRY(cri_parse_expect(p, ']', "after the columns"));
    }
done:
    return st;
}

/* How many values parameter s has; 0 means any number will do, because the columns are not
 * known. */
static size_t wanted_values(cri_parser *p, const call *c, size_t s)
{
    const cri_spec *spec = &c->class->specs[s];
    size_t          numbers = p->columns ? p->columns->numbers : 0;
    if (c->class == &cri_kernel_category)
        return (size_t)c->node.setting[0] * (s == 2 ? (size_t)c->node.setting[1] : 1);
    if (c->class == &cri_kernel_fisher) return 0; /* which is checked when all are there */
    if (c->base != SIZE_MAX || (spec->role != CRI_LENGTH && spec->role != CRI_MAP)) return 1;
    return c->node.n_columns ? c->node.n_columns : numbers;
}

static cr_status make_setting(cri_parser *p, call *c, size_t s)
{
    const cri_spec        *spec = &c->class->specs[s];
    const cri_parse_given *g = &c->spec[s];
    cri_parse_value        v = { .at = c->begin, .x = spec->fallback };
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
    if (c->class != &cri_kernel_category || strcmp(spec->shown.name, "w") != 0)
        return spec->fallback;
    size_t rank = (size_t)c->node.setting[1], level = element / rank, r = element % rank;
    return 1 /
           (1 + (double)((level + r) % (rank + 1))); /* ranks differ, or they would stay equal */
}

/* true when `ard` gives parameter s one value a column: length-scales, else what the map has. */
static bool spreads(const call *c, size_t s)
{
    cri_role role = c->class->specs[s].role;
    bool     lengths = cri_spec_of_role(c->class, CRI_LENGTH) != SIZE_MAX;
    if (c->class == &cri_kernel_category) return true;
    return c->ard && (role == CRI_LENGTH || (role == CRI_MAP && !lengths));
}

static cr_status make_values(cri_parser *p, call *c, size_t s, size_t node)
{
    const cri_spec        *spec = &c->class->specs[s];
    const cri_parse_given *g = &c->spec[s];
    cr_status              st = CR_OK;
    size_t                 wanted = wanted_values(p, c, s), n = g->n ? g->n : 1;
    if (n == 1 && spreads(c, s)) {
        if (!wanted)
            CR_TRY(FAULT(p, c->ard, "ard needs columns: name them, or give a list of values"));
        n = wanted;
    }
    if (n > 1 && wanted && n != wanted)
        CR_TRY(FAULT(p, g->where ? g->where : c->begin,
                     "%s has %zu values, but there %s %zu to fill", spec->shown.name, n,
                     wanted == 1 ? "is" : "are", wanted));
    c->node.param[s] = p->k->n_params, c->node.n_values[s] = n;
    for (size_t e = 0; e < n; e++) {
        cri_parse_value v = { .at = c->begin, .number = true, .x = start_value(c, spec, e) };
        if (g->where) v = p->values[g->begin + (g->n > 1 ? e : 0)];
        CR_TRY(cri_parse_param(p, spec, &v, node, e));
    }
done:
    return st;
}

static cr_status check_form(cri_parser *p, const call *c)
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
        return FAULT(p, c->spec[2].where ? c->spec[2].where : c->begin,
                     "m must not be greater than k");
    return CR_OK;
}

/* constant(value): a plain number, or the amplitude that `variance=` stands for. */
cr_status cri_parse_constant(cri_parser *p, const cri_parse_given *g, size_t *out)
{
    call c = {
        .begin = g->where, .class = &cri_kernel_constant, .base = SIZE_MAX, .read = SIZE_MAX
    };
    size_t node = p->k->n_nodes;
    c.node = (cri_node){ .op = CRI_LEAF, .class = c.class, .first = SIZE_MAX, .next = SIZE_MAX };
    c.spec[0] = *g;
    cr_status st = make_values(p, &c, 0, node);
    return st == CR_OK ? cri_parse_add_node(p, c.node, out) : st;
}

/* What a file stands for is the whole kernel. */
static cr_status finish_file(cri_parser *p, const call *c, size_t *out)
{
    bool more = c->node.n_columns || c->ard || c->amplitude.where;
    for (size_t s = 0; c->class->specs[s].shown.name; s++) more = more || c->spec[s].where;
    if (more) return FAULT(p, c->begin, "file= gives all columns and parameters of the kernel");
    *out = c->read;
    return CR_OK;
}

/* The numbers of a Fisher kernel: one, one a column, or for sd a square root of a covariance. */
static cr_status check_fisher(cri_parser *p, const call *c)
{
    const size_t *values = c->node.n_values;
    size_t        n = c->node.n_columns ? c->node.n_columns : p->columns ? p->columns->numbers : 0;
    if (n && values[0] != 1 && values[0] != n)
        return FAULT(p, c->spec[0].where, "mean has %zu values, but there are %zu columns",
                     values[0], n);
    if (n && values[1] != 1 && values[1] != n && values[1] != n * n)
        return FAULT(p, c->spec[1].where,
                     "sd has %zu values, but there are %zu columns: %zu, or the %zu "
                     "of a square root of the covariance",
                     values[1], n, n, n * n);
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

static cr_status finish_call(cri_parser *p, call *c, size_t *out)
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
        CR_TRY(cri_parse_constant(p, &c->amplitude, &number));
    }
    size_t node = p->k->n_nodes;
    for (size_t s = 0; c->class->specs[s].shown.name; s++) {
        cri_role role = c->class->specs[s].role;
        if (role == CRI_SETTING || (role == CRI_WARP && c->node.warp != CRI_WARP_KUMARASWAMY))
            continue;
        CR_TRY(make_values(p, c, s, node));
    }
    if (c->class == &cri_kernel_fisher) CR_TRY(check_fisher(p, c));
    c->node.op = c->base == SIZE_MAX ? CRI_LEAF : CRI_OVER;
    c->node.first = c->base;
    CR_TRY(cri_parse_add_node(p, c->node, out));
    if (number != SIZE_MAX) {
        p->k->nodes[number].next = *out;
        CR_TRY(cri_parse_add_node(
            p, (cri_node){ .op = CRI_PRODUCT, .first = number, .next = SIZE_MAX }, out));
    }
done:
    return st;
}

static bool has_white(const cr_kernel *k, size_t at)
{
    const cri_node *node = &k->nodes[at];
    if (node->op == CRI_LEAF) return node->class == &cri_kernel_white;
    for (size_t c = node->first; c != SIZE_MAX; c = k->nodes[c].next)
        if (has_white(k, c)) return true;
    return false;
}

/* How many centres stand in each other, at the most. */
static size_t centres_in(const cr_kernel *k, size_t at)
{
    const cri_node *node = &k->nodes[at];
    size_t          most = 0;
    for (size_t c = node->op == CRI_LEAF ? SIZE_MAX : node->first; c != SIZE_MAX;
         c = k->nodes[c].next) {
        size_t n = centres_in(k, c);
        if (n > most) most = n;
    }
    return most + cri_is_centre(node);
}

/* normalise(expression), centre(expression) */
static cr_status read_wrapped(cri_parser *p, call *c, size_t *out)
{
    cr_status   st = CR_OK;
    const char *name = c->class->name;
    char        why[64];
    snprintf(why, sizeof why, "and a kernel after %s", name);
    CR_TRY(cri_parse_expect(p, '(', why));
    CR_TRY(cri_parse_sum(p, &c->base));
    snprintf(why, sizeof why, "after the kernel to %s", name);
    CR_TRY(cri_parse_expect(p, ')', why));
    if (has_white(p->k, c->base))
        CR_TRY(FAULT(p, c->begin, "white must be outside %s: %s(...) + white(...)", name, name));
    if (c->class == &cri_kernel_centre && centres_in(p->k, c->base) == CRI_MOST_CENTRES)
        CR_TRY(FAULT(p, c->begin, "centre is nested more than %d deep", CRI_MOST_CENTRES));
    c->node.op = CRI_OVER;
    c->node.first = c->base;
    CR_TRY(cri_parse_add_node(p, c->node, out));
done:
    return st;
}

cr_status cri_parse_call(cri_parser *p, size_t *out)
{
    static const struct {
        const char *name;
        double      nu;
    } materns[] = { { "matern12", 0.5 }, { "matern32", 1.5 }, { "matern52", 2.5 } };
    cr_status st = CR_OK;
    call      c = { .begin = p->at, .base = SIZE_MAX, .read = SIZE_MAX };
    char      name[CRI_PARSE_NAME];
    CR_TRY(cri_parse_name(p, "a kernel", name, NULL));
    c.node = (cri_node){ .op = CRI_LEAF, .first = SIZE_MAX, .next = SIZE_MAX };
    for (size_t h = 0; h < p->k->n_hooks; h++)
        if (strcmp(p->k->hooks[h].name, name) == 0) {
            c.node.hook = h;
            CR_TRY(read_items(p, &c));
            CR_TRY(cri_parse_add_node(p, c.node, out));
            goto done;
        }
    c.class = c.node.class = cri_kernel_lookup(name, strlen(name));
    if (!c.class) {
        st = FAULT(p, c.begin, "there is no kernel '%s'", name);
        cri_kernel_fail_nearest(p->cx, name, p->k);
        goto done;
    }
    if (c.class->wraps) {
        st = read_wrapped(p, &c, out);
        goto done;
    }
    CR_TRY(read_items(p, &c));
    for (size_t i = 0; i < 3; i++) /* as if nu= had been written */
        if (strcmp(name, materns[i].name) == 0) {
            if (c.spec[1].where)
                CR_TRY(FAULT(p, c.spec[1].where, "the name %s already sets nu", name));
            CR_TRY(cri_parse_grow(p, (void **)&p->values, p->n_values, &p->value_capacity,
                                  sizeof *p->values));
            c.spec[1] = (cri_parse_given){ c.begin, p->n_values, 1 };
            p->values[p->n_values++] =
                (cri_parse_value){ .at = c.begin, .number = true, .x = materns[i].nu };
        }
    CR_TRY(finish_call(p, &c, out));
done:
    return st;
}
