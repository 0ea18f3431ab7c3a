/* bind.c -- the order in which a program is bound: data, parameters, definitions, the density, and
 * what is reported. */
#include "bind_internal.h"

#include <math.h>
#include <string.h>

/* --- variables -------------------------------------------------------------------------------- */

cri_bound_variable *cri_bind_find(const cri_binder *b, const char *name)
{
    for (size_t i = b->n_variables; i-- > 0;)
        if (strcmp(b->variable[i].name, name) == 0) return &b->variable[i];
    return NULL;
}

static void *grow(cri_binder *b, void *old, size_t used, size_t *most, size_t size)
{
    if (used < *most) return old;
    void *block = cr_scratch_bytes(&b->s, 2 * used + 16, size);
    if (!block) return NULL;
    if (used) memcpy(block, old, used * size);
    *most = 2 * used + 16;
    return block;
}

cr_status cri_bind_variable(cri_binder *b, const char *name, cri_name_role role,
                            cri_bound_variable **out)
{
    cri_bound_variable *all = grow(b, b->variable, b->n_variables, &b->most_variables, sizeof *all);
    if (!all) return b->s.status;
    b->variable = all;
    *out = &all[b->n_variables++];
    **out = (cri_bound_variable){ .name = name, .role = role };
    return CR_OK;
}

static cr_status bind_data(cri_binder *b, const cri_program_datum *data, size_t n)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < n; i++) {
        const cri_program_datum *d = &data[i];
        cri_bound_variable      *v;
        CR_TRY(cri_bind_variable(b, d->name, CRI_NAME_DATA, &v));
        v->value = (cri_value){ .whole = d->whole,
                                .dims = d->dims,
                                .n = 1,
                                .data = d->values,
                                .levels = d->levels,
                                .n_levels = d->n_levels };
        if (d->column) v->value.inner = CRI_INNER_VECTOR;
        for (unsigned k = 0; k < d->dims; k++) v->value.n *= v->value.dim[k] = d->dim[k];
        v->set = true;
    }
done:
    return st;
}

/* --- what a block declares -------------------------------------------------------------------- */

/* The data block: sizes and bounds are checked against what is given. */
static cr_status check_data(cri_binder *b, const cri_syntax *declare)
{
    cr_status st = CR_OK;
    char      one[CRI_SHAPE_TEXT], two[CRI_SHAPE_TEXT];
    for (const cri_syntax *d = cri_syntax_child(declare, 3); d; d = d->next) {
        cri_bound_variable *given = cri_bind_find(b, d->text), *v;
        cri_value           value;
        if (!given) CR_TRY(CRI_BIND_FAIL(b, d, "the data have no '%s'", d->text));
        value = given->value;
        CR_TRY(cri_bind_declare(b, declare, d, CRI_NAME_DATA, &v));
        if (value.n != v->value.n)
            CR_TRY(CRI_BIND_FAIL(b, d, "'%s' is declared as %s, but the data have %s", d->text,
                                 cri_value_shape(&v->value, one), cri_value_shape(&value, two)));
        if (v->value.whole)
            for (size_t i = 0; i < value.n; i++)
                if (value.data[i] != floor(value.data[i]))
                    CR_TRY(CRI_BIND_FAIL(b, d, "'%s' is declared as int, but value %zu is %g",
                                         d->text, i + 1, value.data[i]));
        v->value.data = value.data;
        v->own_data = NULL;
        v->set = true;
        for (const cri_syntax *bound = declare->child->child; bound; bound = bound->next) {
            cri_value limit;
            bool      lower = strcmp(bound->text, "lower") == 0;
            CR_TRY(cri_bind_expression(b, bound->child, &limit));
            for (size_t i = 0; limit.data && i < value.n; i++) {
                double x = value.data[i], at = limit.data[limit.dims && limit.n == value.n ? i : 0];
                if (lower ? x < at : x > at)
                    CR_TRY(CRI_BIND_FAIL(b, d,
                                         "value %zu of '%s' is %g, but it is declared with "
                                         "%s=%g",
                                         i + 1, d->text, x, bound->text, at));
            }
        }
    }
done:
    return st;
}

static cri_constraint support_of(const char *type, bool low, bool high)
{
    if (strcmp(type, "simplex") == 0) return CRI_CONSTRAINT_SIMPLEX;
    if (strcmp(type, "ordered") == 0) return CRI_CONSTRAINT_ORDERED;
    if (strcmp(type, "positive_ordered") == 0) return CRI_CONSTRAINT_POSITIVE_ORDERED;
    return low && high ? CRI_CONSTRAINT_BETWEEN
           : low       ? CRI_CONSTRAINT_LOWER
           : high      ? CRI_CONSTRAINT_UPPER
                       : CRI_CONSTRAINT_ALL;
}

static bool is_infinite(const cri_value *v, double sign)
{
    return v->data && v->n == 1 && isinf(v->data[0]) && v->data[0] * sign > 0;
}

static cr_status declare_parameters(cri_binder *b, const cri_syntax *declare)
{
    static const char *const NOT_YET[] = {
        "unit_vector",         "cov_matrix",         "corr_matrix", "cholesky_factor_corr",
        "cholesky_factor_cov", "sum_to_zero_vector", "complex"
    };
    cr_status st = CR_OK;
    for (size_t i = 0; i < sizeof NOT_YET / sizeof *NOT_YET; i++)
        if (strcmp(NOT_YET[i], declare->text) == 0)
            CR_TRY(CRI_BIND_FAIL(b, declare, "parameters of type %s are not supported yet",
                                 declare->text));
    if (strcmp(declare->text, "int") == 0)
        CR_TRY(CRI_BIND_FAIL(b, declare, "whole parameters are not supported yet: sum them out"));
    for (const cri_syntax *d = cri_syntax_child(declare, 3); d; d = d->next) {
        cri_value low = { 0 }, high = { 0 }, offset = { 0 }, multiplier = { 0 }, shape;
        bool      has_low = false, has_high = false, has_offset = false, has_multiplier = false;
        cri_bound_variable *v;
        for (const cri_syntax *bound = declare->child->child; bound; bound = bound->next) {
            bool      *has = strcmp(bound->text, "lower") == 0    ? &has_low
                             : strcmp(bound->text, "upper") == 0  ? &has_high
                             : strcmp(bound->text, "offset") == 0 ? &has_offset
                                                                  : &has_multiplier;
            cri_value *value = has == &has_low      ? &low
                               : has == &has_high   ? &high
                               : has == &has_offset ? &offset
                                                    : &multiplier;
            CR_TRY(cri_bind_expression(b, bound->child, value));
            *has = true;
        }
        if (has_low && is_infinite(&low, -1)) has_low = false;
        if (has_high && is_infinite(&high, 1)) has_high = false;
        CR_TRY(cri_bind_declare(b, declare, d, CRI_NAME_PARAMETER, &v));
        shape = v->value;
        CR_TRY(cri_bind_parameter(b, d, d->text, &shape,
                                  support_of(declare->text, has_low, has_high), &low, &high));
        v = cri_bind_find(b, d->text);
        if (has_multiplier || has_offset) {
            cri_value x = v->value, log_scale;
            if (has_multiplier) {
                CR_TRY(cri_bind_each(b, d, cri_each_find("multiply", 2), &x, &multiplier, &x));
                CR_TRY(cri_bind_each(b, d, cri_each_find("log", 1), &multiplier, NULL, &log_scale));
                for (size_t i = 0; i < (log_scale.dims ? 1 : x.n); i++) {
                    cri_slot at = cri_value_run(b, &log_scale);
                    if (log_scale.n > 1) at = cri_tape_sum(&b->p->tape, at, log_scale.n);
                    cri_tape_term(&b->p->tape, at);
                }
            }
            if (has_offset) CR_TRY(cri_bind_each(b, d, cri_each_find("add", 2), &x, &offset, &x));
            v = cri_bind_find(b, d->text);
            v->value = x;
        }
    }
done:
    return st;
}

/* --- a text without blocks -------------------------------------------------------------------- */

/* The support and shape of what stands left of a '~' and is not data. */
static cr_status introduce(cri_binder *b, const cri_syntax *tilde)
{
    cr_status                   st = CR_OK;
    const cri_syntax           *lhs = tilde->child, *call = cri_syntax_child(tilde, 1);
    const cri_syntax           *name = lhs->kind == CRI_SYN_INDEX ? lhs->child : lhs;
    const cri_density_function *f = cri_density_find(call->text);
    cri_value                   shape = { .n = 1 }, low = { 0 }, high = { 0 };
    cri_constraint              support = CRI_CONSTRAINT_ALL;
    bool                        has_low = false, has_high = false;
    if (name->kind != CRI_SYN_NAME || cri_bind_find(b, name->text)) goto done;
    if (lhs->kind == CRI_SYN_INDEX) {
        for (const cri_syntax *i = name->next; i; i = i->next) {
            size_t size, first = 1;
            if (i->kind == CRI_SYN_RANGE) { /* b[1:3] */
                if (i->child->kind != CRI_SYN_NOTHING)
                    CR_TRY(cri_bind_whole(b, i->child, "the first index", &first));
                CR_TRY(cri_bind_whole(b, cri_syntax_child(i, 1), "the last index", &size));
                if (first != 1)
                    CR_TRY(CRI_BIND_FAIL(b, i, "the entries of a parameter are numbered from 1"));
            } else { /* a[county]: one for each level */
                cri_value v;
                CR_TRY(cri_bind_expression(b, i, &v));
                if (!v.data || v.dims != 1)
                    CR_TRY(CRI_BIND_FAIL(b, i, "expected a column of groups, or 1:n"));
                size = v.n_levels;
                for (size_t k = 0; k < v.n && !v.levels; k++)
                    if (v.data[k] >= 1 && v.data[k] == floor(v.data[k]) && v.data[k] > (double)size)
                        size = (size_t)v.data[k];
                shape.levels = v.levels, shape.n_levels = v.n_levels;
            }
            if (shape.dims == CRI_VALUE_DIMS) CR_TRY(CRI_BIND_FAIL(b, i, "too many dimensions"));
            shape.dim[shape.dims++] = size;
            shape.n *= size;
        }
        shape.inner = shape.dims == 1 ? CRI_INNER_VECTOR : CRI_INNER_NUMBER;
    }
    if (f && f->whole)
        CR_TRY(CRI_BIND_FAIL(b, lhs,
                             "'%s' is not in the data, and unknown whole numbers are not "
                             "supported yet",
                             name->text));
    if (f && strcmp(f->name, "uniform") == 0) {
        CR_TRY(cri_bind_expression(b, call->child, &low));
        CR_TRY(cri_bind_expression(b, cri_syntax_child(call, 1), &high));
        has_low = has_high = true;
    } else if (f) {
        if (f->low > -INFINITY) low = cri_value_number(b, f->low, false), has_low = true;
        if (f->high < INFINITY) high = cri_value_number(b, f->high, false), has_high = true;
    }
    if (tilde->whole) {
        const cri_syntax *from = cri_syntax_child(tilde, 2), *to = cri_syntax_child(tilde, 3);
        if (from->kind != CRI_SYN_NOTHING) CR_TRY(cri_bind_expression(b, from, &low));
        if (to->kind != CRI_SYN_NOTHING) CR_TRY(cri_bind_expression(b, to, &high));
        has_low = has_low || from->kind != CRI_SYN_NOTHING;
        has_high = has_high || to->kind != CRI_SYN_NOTHING;
    }
    if (has_low && has_high)
        support = CRI_CONSTRAINT_BETWEEN;
    else if (has_low || has_high)
        support = has_low ? CRI_CONSTRAINT_LOWER : CRI_CONSTRAINT_UPPER;
    CR_TRY(b->s.status);
    CR_TRY(cri_bind_parameter(b, lhs, name->text, &shape, support, &low, &high));
done:
    return st;
}

/* Priors stand anywhere: those whose parameters are known first, the others in later rounds. */
static cr_status bind_free_text(cri_binder *b)
{
    cr_status st = CR_OK;
    for (const cri_syntax *i = b->tree->root->child; i; i = i->next) {
        if (i->kind == CRI_SYN_DECLARE) {
            bool given = cri_syntax_child(cri_syntax_child(i, 3), 1)->kind != CRI_SYN_NOTHING;
            if (!given) CR_TRY(declare_parameters(b, i));
        } else if (i->kind == CRI_SYN_TILDE) {
            CR_TRY(introduce(b, i));
        }
    }
    for (const cri_syntax *i = b->tree->root->child; i; i = i->next) {
        if (i->kind == CRI_SYN_DECLARE) {
            const cri_syntax *d = cri_syntax_child(i, 3);
            if (cri_syntax_child(d, 1)->kind != CRI_SYN_NOTHING) CR_TRY(cri_bind_statement(b, i));
            for (; d; d = d->next) {
                const cri_syntax   *prior = cri_syntax_child(d, 2);
                cri_value           argument[12], y, x;
                size_t              n = 0;
                cri_bound_variable *v;
                if (prior->kind == CRI_SYN_NOTHING) continue;
                v = cri_bind_find(b, d->text);
                v->has_prior = true;
                y = v->value;
                for (const cri_syntax *a = prior->child; a && n < 12; a = a->next)
                    CR_TRY(cri_bind_expression(b, a, &argument[n++]));
                CR_TRY(cri_bind_log_density(b, prior, prior->text, &y, argument, n, &x));
                cri_tape_term(&b->p->tape, cri_value_run(b, &x));
            }
        } else {
            CR_TRY(cri_bind_statement(b, i));
        }
    }
done:
    return st;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static const cri_syntax *block(const cri_binder *b, const char *name)
{
    for (const cri_syntax *i = b->tree->root->child; i; i = i->next)
        if (i->kind == CRI_SYN_BLOCK && strcmp(i->text, name) == 0) return i;
    return NULL;
}

static cr_status note_functions(cri_binder *b, const cri_syntax *first)
{
    for (const cri_syntax *i = first; i; i = i->next) {
        if (i->kind != CRI_SYN_FUNCTION) continue;
        cri_own_function *all =
            grow(b, b->function, b->n_functions, &b->most_functions, sizeof *all);
        if (!all) return b->s.status;
        b->function = all;
        all[b->n_functions++] = (cri_own_function){ i->text, i };
    }
    return CR_OK;
}

/* What a block declares outlives it. */
static void keep_locals(cri_binder *b)
{
    for (size_t v = 0; v < b->n_variables; v++)
        if (b->variable[v].role == CRI_NAME_LOCAL) b->variable[v].role = CRI_NAME_DERIVED;
}

static cr_status bind_items(cri_binder *b, const char *name)
{
    cr_status         st = CR_OK;
    const cri_syntax *of = block(b, name);
    for (const cri_syntax *i = of ? of->child : NULL; i; i = i->next) {
        CR_TRY(cri_bind_statement(b, i));
        keep_locals(b);
    }
done:
    return st;
}

/* Quantities that follow from the parameters.  Where one needs what the tape has not (random numbers,
 * branches on parameters), it and those after it are left out: the posterior is what it is. */
static cr_status bind_generated(cri_binder *b)
{
    const cri_syntax *of = block(b, "generated quantities");
    cri_tape         *t = &b->p->tape;
    for (const cri_syntax *i = of ? of->child : NULL; i; i = i->next) {
        size_t    ops = t->n_ops, variables = b->n_variables;
        cr_status st = cri_bind_statement(b, i);
        if (st == CR_EDATA) {
            t->n_ops = ops;
            b->n_variables = variables;
            cr_log(b->cx, CR_LOG_INFO, "generated quantities are left out from here on: %s",
                   cr_error(b->cx));
            break;
        }
        if (st != CR_OK) return st;
        keep_locals(b);
    }
    return CR_OK;
}

static cr_status bind_blocks(cri_binder *b)
{
    cr_status         st = CR_OK;
    const cri_syntax *of;
    size_t            mark;
    if ((of = block(b, "functions"))) CR_TRY(note_functions(b, of->child));
    for (const cri_syntax *i = (of = block(b, "data")) ? of->child : NULL; i; i = i->next)
        if (i->kind == CRI_SYN_DECLARE) CR_TRY(check_data(b, i));
    CR_TRY(bind_items(b, "transformed data"));
    for (size_t v = 0; v < b->n_variables; v++) b->variable[v].role = CRI_NAME_DATA;
    for (const cri_syntax *i = (of = block(b, "parameters")) ? of->child : NULL; i; i = i->next)
        CR_TRY(declare_parameters(b, i));
    CR_TRY(bind_items(b, "transformed parameters"));
    b->density = true;
    mark = b->n_variables;
    if ((of = block(b, "model"))) CR_TRY(cri_bind_body(b, of->child));
    b->n_variables = mark;
    b->density = false;
done:
    return st;
}

/* --- what is reported ------------------------------------------------------------------------- */

static char *copy_name(cri_bound *p, const char *name)
{
    char *copy = cr_scratch_bytes(&p->tape.memory, strlen(name) + 1, 1);
    if (copy) memcpy(copy, name, strlen(name));
    return copy;
}

static cr_status note_quantities(cri_binder *b)
{
    cr_status  st = CR_OK;
    cri_bound *p = b->p;
    p->quantity = cr_scratch_bytes(&p->tape.memory, b->n_variables + 1, sizeof *p->quantity);
    CR_TRY(p->tape.memory.status);
    for (size_t i = 0; i < b->n_variables; i++) {
        const cri_bound_variable *v = &b->variable[i];
        cri_program_quantity     *q = &p->quantity[p->n_quantities];
        cri_slot                 *slot;
        if (v->role == CRI_NAME_DATA || !v->value.slot) continue;
        slot = cr_scratch_bytes(&p->tape.memory, v->value.n + 1, sizeof *slot);
        CR_TRY(p->tape.memory.status);
        memcpy(slot, v->value.slot, v->value.n * sizeof *slot);
        *q = (cri_program_quantity){ .name = copy_name(p, v->name),
                                     .parameter = v->role == CRI_NAME_PARAMETER,
                                     .dims = v->value.dims,
                                     .n = v->value.n,
                                     .slot = slot,
                                     .flat = v->role == CRI_NAME_PARAMETER && !v->has_prior };
        memcpy(q->dim, v->value.dim, sizeof q->dim);
        if (v->value.levels && v->value.dims > 0 && v->value.n_levels == v->value.dim[0]) {
            const char **levels =
                cr_scratch_bytes(&p->tape.memory, v->value.n_levels, sizeof *levels);
            CR_TRY(p->tape.memory.status);
            for (size_t k = 0; k < v->value.n_levels; k++)
                levels[k] = copy_name(p, v->value.levels[k]);
            q->levels = levels;
        }
        p->n_quantities++;
    }
    st = p->tape.memory.status;
done:
    return st;
}

static cr_status batch(cr_ctx *cx, cri_bound *p)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_slot **kept = cr_scratch_bytes(&s, p->n_quantities + 1, sizeof *kept);
    size_t    *n = cr_scratch_index(&s, p->n_quantities + 1);
    CR_TRY(s.status);
    for (size_t i = 0; i < p->n_quantities; i++)
        kept[i] = p->quantity[i].slot, n[i] = p->quantity[i].n;
    CR_TRY(cri_tape_batch(cx, &p->tape, kept, n, p->n_quantities));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_program_bind(cr_ctx *cx, const cri_syntax_tree *tree, const cri_program_datum *data,
                           size_t n_data, cri_bound *out_program)
{
    cr_status  st = CR_OK;
    cri_bound  p = { .tape = cri_tape_begin(cx) };
    cri_binder b = { .cx = cx,
                     .tree = tree,
                     .p = &p,
                     .s = cr_scratch_begin(cx),
                     .stan = tree->has_blocks,
                     .density = !tree->has_blocks };
    CR_TRY(bind_data(&b, data, n_data));
    CR_TRY(note_functions(&b, tree->root->child));
    CR_TRY(b.stan ? bind_blocks(&b) : bind_free_text(&b));
    p.tape.core = p.tape.n_ops;
    if (b.stan) CR_TRY(bind_generated(&b));
    CR_TRY(b.s.status);
    CR_TRY(p.tape.memory.status);
    CR_TRY(note_quantities(&b));
    if (p.tape.n_parameters == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the program has no parameters: nothing is to be learned",
                       tree->source));
    CR_TRY(batch(cx, &p));
    *out_program = p;
    p = (cri_bound){ 0 };
done:
    if (p.tape.memory.cx) cri_bound_free(&p);
    cr_scratch_end(&b.s);
    return st;
}

void cri_bound_free(cri_bound *p)
{
    cri_tape_free(&p->tape);
    *p = (cri_bound){ 0 };
}
