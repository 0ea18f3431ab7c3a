/* bind_statement.c -- what a statement does while the program is bound: definitions are made, loops
 * and conditions followed, '~' and target += become terms of the density. */
#include "bind_internal.h"

#include <math.h>
#include <string.h>

/* More statements than a loop over any table of rows needs. */
static const uint64_t MOST_STEPS = 20000000;

/* --- definitions ------------------------------------------------------------------------------ */

/* Makes the numbers of a variable its own, and slots if they must be. */
static cr_status own(cri_binder *b, cri_bound_variable *v, bool slots)
{
    cri_value old = v->value;
    if (slots && !v->own_slot) {
        cri_slot *to = cri_value_slots(b, &v->value), at = 0;
        if (!to) return b->s.status;
        if (old.data && old.n) at = cri_tape_constants(&b->p->tape, old.data, old.n);
        for (size_t i = 0; i < old.n; i++) to[i] = old.data ? at + (cri_slot)i : old.slot[i];
        v->own_slot = to, v->own_data = NULL, v->room = old.n;
    } else if (!slots && !v->own_data) {
        double *to = cri_value_fill(b, &v->value);
        if (!to) return b->s.status;
        memcpy(to, old.data, old.n * sizeof *to);
        v->own_data = to, v->own_slot = NULL, v->room = old.n;
    }
    return b->s.status;
}

/* A whole value under a name. */
static cr_status set_whole(cri_binder *b, const cri_syntax *node, cri_bound_variable *v,
                           const cri_value *x)
{
    cr_status st = CR_OK;
    char      one[CRI_SHAPE_TEXT], two[CRI_SHAPE_TEXT];
    cri_value kept = *x;
    if (v->declared) {
        if (kept.n != v->value.n || kept.dims != v->value.dims)
            CR_TRY(CRI_BIND_FAIL(b, node, "'%s' is declared as %s, but the value is %s", v->name,
                                 cri_value_shape(&v->value, one), cri_value_shape(x, two)));
        kept.inner = v->value.inner;
        kept.whole = v->value.whole;
    }
    v->value = kept;
    v->own_data = NULL, v->own_slot = NULL, v->room = 0;
    v->set = true;
    /* the value may be another name's, whose parts are set in place later */
    if (kept.dims > 0 && kept.n > 0) st = own(b, v, !kept.data);
done:
    return st;
}

/* A name that is first met as x[t] = ... in a text without declarations: as long as it must be. */
static cr_status lengthen(cri_binder *b, cri_bound_variable *v, const cri_syntax *lhs)
{
    cr_status st = CR_OK;
    size_t    dims = cri_syntax_count(lhs) - 1, index[CRI_VALUE_DIMS], n = 1;
    cri_value old = v->value, wide = { .dims = (unsigned)dims };
    bool      fits = true;
    if (v->declared || (v->set && v->role != CRI_NAME_DERIVED)) return CR_OK;
    if (dims > CRI_VALUE_DIMS) return CR_OK;
    for (size_t k = 0; k < dims; k++) {
        const cri_syntax *i = cri_syntax_child(lhs, k + 1);
        if (i->kind == CRI_SYN_RANGE) return CR_OK;
        CR_TRY(cri_bind_whole(b, i, "an index", &index[k]));
        wide.dim[k] = v->set && old.dim[k] > index[k] ? old.dim[k] : index[k];
        fits = fits && v->set && index[k] <= old.dim[k];
    }
    if (fits) return CR_OK;
    if (v->set && old.dims != dims) return CR_OK;
    for (size_t k = 0; k < dims; k++) n *= wide.dim[k];
    wide.n = n;
    wide.inner = dims == 1 ? CRI_INNER_VECTOR : dims == 2 ? CRI_INNER_MATRIX : CRI_INNER_NUMBER;
    if (dims == 1 && n <= v->room && (v->own_data || v->own_slot)) {
        wide.data = v->own_data, wide.slot = v->own_slot;
        v->value = wide;
        goto done;
    }
    /* a vector grows in leaps, so that a loop over n rows costs O(n) */
    v->room = dims == 1 ? 2 * n + 16 : n;
    wide.n = v->room;
    if (v->set && old.slot) {
        cri_slot nothing = cri_tape_constants(&b->p->tape, &(double){ NAN }, 1);
        v->own_slot = cri_value_slots(b, &wide), v->own_data = NULL;
        for (size_t i = 0; v->own_slot && i < v->room; i++) v->own_slot[i] = nothing;
    } else {
        v->own_data = cri_value_fill(b, &wide), v->own_slot = NULL;
        for (size_t i = 0; v->own_data && i < v->room; i++) v->own_data[i] = NAN;
    }
    CR_TRY(b->s.status);
    for (size_t i = 0; v->set && i < old.n; i++) {
        size_t rest = i, stride = 1, at = 0;
        for (size_t k = dims; k-- > 0;) {
            at += rest % old.dim[k] * stride;
            rest /= old.dim[k], stride *= wide.dim[k];
        }
        if (v->own_slot)
            v->own_slot[at] = old.slot[i];
        else
            v->own_data[at] = old.data[i];
    }
    wide.n = n;
    v->value = wide;
    v->set = true;
done:
    return st;
}

static cr_status set_part(cri_binder *b, const cri_syntax *node, cri_bound_variable *v,
                          const cri_syntax *lhs, const cri_value *x)
{
    cr_status st = CR_OK;
    cri_value shape;
    size_t   *place;
    char      one[CRI_SHAPE_TEXT], two[CRI_SHAPE_TEXT];
    CR_TRY(lengthen(b, v, lhs));
    CR_TRY(cri_bind_places(b, lhs, &v->value, &place, &shape));
    if (shape.n != x->n)
        CR_TRY(CRI_BIND_FAIL(b, node, "the left side is %s, but the value is %s",
                             cri_value_shape(&shape, one), cri_value_shape(x, two)));
    CR_TRY(own(b, v, !x->data || !v->value.data));
    b->given = NULL; /* numbers that are in the tape may change here */
    for (size_t i = 0; i < shape.n; i++) {
        if (v->own_data)
            v->own_data[place[i]] = x->data[i];
        else
            v->own_slot[place[i]] = cri_value_slot(b, x, i);
    }
    v->set = true;
    st = b->s.status;
done:
    return st;
}

static cr_status bind_assign(cri_binder *b, const cri_syntax *node)
{
    cr_status           st = CR_OK;
    const cri_syntax   *lhs = node->child, *rhs = cri_syntax_child(node, 1);
    const cri_syntax   *name = lhs->kind == CRI_SYN_INDEX ? lhs->child : lhs;
    cri_bound_variable *v;
    cri_value           x, old;
    if (name->kind != CRI_SYN_NAME)
        CR_TRY(CRI_BIND_FAIL(b, lhs, "a value can only be assigned to a name or to a part of one"));
    CR_TRY(cri_bind_expression(b, rhs, &x));
    if (node->sign != '=') {
        static const char *const OPERATION[] = { "add", "subtract", "divide", "multiply" };
        int                      s = node->sign == '+'                                       ? 0
                                     : node->sign == '-'                                     ? 1
                                     : node->sign == '/' || node->sign == CRI_SIGN_OVER_EACH ? 2
                                                                                             : 3;
        CR_TRY(cri_bind_expression(b, lhs, &old));
        CR_TRY(node->sign == '*'
                   ? cri_bind_product(b, node, &old, &x, &x)
                   : cri_bind_each(b, node, cri_each_find(OPERATION[s], 2), &old, &x, &x));
    }
    v = cri_bind_find(b, name->text);
    if (!v) CR_TRY(cri_bind_variable(b, name->text, CRI_NAME_DERIVED, &v));
    if (v->role == CRI_NAME_DATA)
        CR_TRY(CRI_BIND_FAIL(b, lhs, "'%s' is data: it cannot be given another value", name->text));
    if (v->role == CRI_NAME_PARAMETER)
        CR_TRY(
            CRI_BIND_FAIL(b, lhs, "'%s' is a parameter: it cannot be given a value", name->text));
    CR_TRY(lhs->kind == CRI_SYN_INDEX ? set_part(b, node, v, lhs, &x) : set_whole(b, node, v, &x));
done:
    return st;
}

cr_status cri_bind_declare(cri_binder *b, const cri_syntax *declare, const cri_syntax *declared,
                           cri_name_role role, cri_bound_variable **out)
{
    cr_status           st = CR_OK;
    const cri_syntax   *list[3] = { declared->child, cri_syntax_child(declare, 2),
                                    cri_syntax_child(declare, 1) };
    cri_value           shape = { .n = 1 };
    cri_bound_variable *v;
    const char         *type = declare->text;
    for (size_t l = 0; l < 3; l++) {
        bool array = l < 2;
        if (array && !list[l]->child) continue;
        for (const cri_syntax *c = list[l]->child; c; c = c->next) {
            if (shape.dims == CRI_VALUE_DIMS) CR_TRY(CRI_BIND_FAIL(b, c, "too many dimensions"));
            CR_TRY(cri_bind_whole(b, c, "a size", &shape.dim[shape.dims++]));
        }
    }
    if (strncmp(type, "c", 1) == 0 && strcmp(type, "complex") != 0 && list[2]->child &&
        !list[2]->child->next)
        shape.dim[shape.dims] = shape.dim[shape.dims - 1], shape.dims++;
    for (unsigned k = 0; k < shape.dims; k++) shape.n *= shape.dim[k];
    shape.whole = strcmp(type, "int") == 0;
    shape.inner = strcmp(type, "int") == 0 || strcmp(type, "real") == 0 ? CRI_INNER_NUMBER
                  : strcmp(type, "row_vector") == 0                     ? CRI_INNER_ROW
                  : strcmp(type, "matrix") == 0 || type[0] == 'c'       ? CRI_INNER_MATRIX
                                                                        : CRI_INNER_VECTOR;
    CR_TRY(cri_bind_variable(b, declared->text, role, &v));
    v->declared = declare;
    v->value = shape;
    v->own_data = cri_value_fill(b, &v->value);
    CR_TRY(b->s.status);
    for (size_t i = 0; i < shape.n; i++) v->own_data[i] = NAN;
    v->set = shape.dims > 0; /* its parts are set one by one */
    *out = v;
done:
    return st;
}

static cr_status bind_local(cri_binder *b, const cri_syntax *node, cri_name_role role)
{
    cr_status           st = CR_OK;
    cri_bound_variable *v;
    cri_value           x;
    for (const cri_syntax *d = cri_syntax_child(node, 3); d; d = d->next) {
        const cri_syntax *value = cri_syntax_child(d, 1);
        CR_TRY(cri_bind_declare(b, node, d, role, &v));
        if (value->kind == CRI_SYN_NOTHING) continue;
        CR_TRY(cri_bind_expression(b, value, &x));
        v = cri_bind_find(b, d->text);
        CR_TRY(set_whole(b, value, v, &x));
    }
done:
    return st;
}

/* --- the density ------------------------------------------------------------------------------ */

static cr_status add_term(cri_binder *b, const cri_syntax *node, const cri_value *x)
{
    cri_slot at;
    if (!b->density)
        return CRI_BIND_FAIL(b, node, "the density can only be added to in the model block");
    if (x->n == 0) return CR_OK;
    at = cri_value_run(b, x);
    if (x->n > 1) at = cri_tape_sum(&b->p->tape, at, x->n);
    cri_tape_term(&b->p->tape, at);
    return b->p->tape.memory.status;
}

static cr_status bind_tilde(cri_binder *b, const cri_syntax *node)
{
    cr_status           st = CR_OK;
    const cri_syntax   *lhs = node->child, *call = cri_syntax_child(node, 1), *name = lhs;
    cri_value           y, argument[12], x;
    cri_bound_variable *v;
    size_t              n = 0;
    if (cri_syntax_count(call) > 12) CR_TRY(CRI_BIND_FAIL(b, call, "too many arguments"));
    if (cri_syntax_child(node, 4)->kind != CRI_SYN_NOTHING ||
        cri_syntax_child(node, 5)->kind != CRI_SYN_NOTHING)
        CR_TRY(CRI_BIND_FAIL(b, node, "censored(...) and weights(...) are not supported yet"));
    while (name->kind == CRI_SYN_INDEX) name = name->child;
    v = name->kind == CRI_SYN_NAME ? cri_bind_find(b, name->text) : NULL;
    if (v && v->role == CRI_NAME_PARAMETER) {
        v->has_prior = true;
        if (!b->stan) lhs = name; /* a[group] ~ ...: all of a */
    }
    CR_TRY(cri_bind_expression(b, lhs, &y));
    for (const cri_syntax *a = call->child; a; a = a->next)
        CR_TRY(cri_bind_expression(b, a, &argument[n++]));
    CR_TRY(cri_bind_truncation(b, node, v, argument, n));
    if (y.data) b->p->observed += y.n;
    CR_TRY(cri_bind_log_density(b, call, call->text, &y, argument, n, &x));
    CR_TRY(add_term(b, node, &x));
done:
    return st;
}

/* --- the course of things --------------------------------------------------------------------- */

cr_status cri_bind_body(cri_binder *b, const cri_syntax *first)
{
    cr_status st = CR_OK;
    for (const cri_syntax *i = first; i && !b->leaving && !b->breaking && !b->continuing;
         i = i->next)
        CR_TRY(cri_bind_statement(b, i));
done:
    return st;
}

static cr_status bind_for(cri_binder *b, const cri_syntax *node)
{
    cr_status           st = CR_OK;
    const cri_syntax   *over = node->child, *body = cri_syntax_child(node, 1);
    size_t              mark = b->n_variables, n;
    double              low = 0, high;
    cri_value           list = { 0 }, item;
    cri_bound_variable *v;
    if (over->kind == CRI_SYN_RANGE) {
        CR_TRY(cri_bind_number(b, over->child, "the first value of a loop", &low));
        CR_TRY(cri_bind_number(b, cri_syntax_child(over, 1), "the last value of a loop", &high));
        n = high >= low ? (size_t)(high - low) + 1 : 0;
    } else {
        CR_TRY(cri_bind_expression(b, over, &list));
        n = list.dims ? list.dim[0] : 1;
    }
    for (size_t i = 0; i < n && !b->leaving; i++) {
        if (over->kind == CRI_SYN_RANGE) {
            item = cri_value_number(b, low + (double)i, true);
        } else {
            size_t    each = list.n / n, *place = cr_scratch_index(&b->s, each);
            cri_value shape = cri_value_shaped(&list);
            CR_TRY(b->s.status);
            for (unsigned k = 1; k < list.dims; k++) shape.dim[k - 1] = list.dim[k];
            shape.dims = list.dims ? list.dims - 1 : 0, shape.n = each;
            if (shape.dims == 0) shape.inner = CRI_INNER_NUMBER;
            for (size_t k = 0; k < each; k++) place[k] = i * each + k;
            item = cri_value_pick(b, &list, place, &shape);
        }
        CR_TRY(cri_bind_variable(b, node->text, CRI_NAME_LOCAL, &v));
        v->value = item;
        v->set = true;
        CR_TRY(cri_bind_statement(b, body));
        b->n_variables = mark;
        b->continuing = false;
        if (b->breaking) break;
    }
    b->breaking = false;
done:
    return st;
}

static cr_status bind_while(cri_binder *b, const cri_syntax *node)
{
    cr_status st = CR_OK;
    double    go_on;
    for (;;) {
        CR_TRY(cri_bind_number(b, node->child, "the condition of a loop", &go_on));
        if (go_on == 0 || b->leaving || b->breaking) break;
        CR_TRY(cri_bind_statement(b, cri_syntax_child(node, 1)));
        b->continuing = false;
    }
    b->breaking = false;
done:
    return st;
}

static cr_status bind_if(cri_binder *b, const cri_syntax *node)
{
    cr_status         st = CR_OK;
    double            condition;
    const cri_syntax *other = cri_syntax_child(node, 2);
    CR_TRY(cri_bind_number(b, node->child, "the condition of 'if'", &condition));
    if (condition != 0)
        CR_TRY(cri_bind_statement(b, cri_syntax_child(node, 1)));
    else if (other->kind != CRI_SYN_NOTHING)
        CR_TRY(cri_bind_statement(b, other));
done:
    return st;
}

cr_status cri_bind_statement(cri_binder *b, const cri_syntax *node)
{
    cr_status st = CR_OK;
    size_t    mark = b->n_variables;
    cri_value x;
    if (++b->steps > MOST_STEPS)
        CR_TRY(CRI_BIND_FAIL(b, node,
                             "the program runs on and on: after %llu statements it has "
                             "not ended",
                             (unsigned long long)MOST_STEPS));
    if (b->steps % 1024 == 0) CR_TRY(cr_check_interrupt(b->cx));
    switch (node->kind) {
    case CRI_SYN_DECLARE:
        CR_TRY(bind_local(b, node, CRI_NAME_LOCAL));
        break;
    case CRI_SYN_ASSIGN:
        CR_TRY(bind_assign(b, node));
        break;
    case CRI_SYN_TILDE:
        CR_TRY(bind_tilde(b, node));
        break;
    case CRI_SYN_TARGET:
        CR_TRY(cri_bind_expression(b, node->child, &x));
        CR_TRY(add_term(b, node, &x));
        break;
    case CRI_SYN_FOR:
        CR_TRY(bind_for(b, node));
        break;
    case CRI_SYN_WHILE:
        CR_TRY(bind_while(b, node));
        break;
    case CRI_SYN_IF:
        CR_TRY(bind_if(b, node));
        break;
    case CRI_SYN_BODY:
        CR_TRY(cri_bind_body(b, node->child));
        b->n_variables = mark; /* what was declared inside is gone */
        break;
    case CRI_SYN_RETURN:
        if (node->child->kind != CRI_SYN_NOTHING) {
            CR_TRY(cri_bind_expression(b, node->child, &b->returned));
        }
        b->leaving = true;
        break;
    case CRI_SYN_BREAK:
        b->breaking = true;
        break;
    case CRI_SYN_CONTINUE:
        b->continuing = true;
        break;
    case CRI_SYN_RUN:
        if (strcmp(node->child->text, "reject") == 0 ||
            strcmp(node->child->text, "fatal_error") == 0)
            CR_TRY(CRI_BIND_FAIL(b, node, "the program rejects these data"));
        if (strcmp(node->child->text, "print") != 0) CR_TRY(cri_bind_call(b, node->child, &x));
        break;
    default:
        CR_TRY(CRI_BIND_FAIL(b, node, "this does not belong here"));
    }
done:
    return st;
}
