/* bind_expression.c -- what an expression comes to: folded where it is known, else on the tape. */
#include "bind_internal.h"

#include <math.h>
#include <string.h>

/* --- entry by entry --------------------------------------------------------------------------- */

static bool same_shape(const cri_value *x, const cri_value *z)
{
    if (x->n != z->n) return false;
    if (x->dims != z->dims) return false;
    for (unsigned k = 0; k < x->dims; k++)
        if (x->dim[k] != z->dim[k]) return false;
    return true;
}

cr_status cri_bind_each(cri_binder *b, const cri_syntax *node, const cri_each_function *f,
                        const cri_value *x, const cri_value *opt_z, cri_value *out)
{
    const cri_value *z = opt_z, *wide = z && x->dims == 0 ? z : x;
    cri_value        v = cri_value_shaped(wide);
    char             one[CRI_SHAPE_TEXT], two[CRI_SHAPE_TEXT];
    if (!wide->slot) v.levels = NULL, v.n_levels = 0; /* those of a parameter name its entries */
    v.whole = x->whole && (!z || z->whole);
    if (z && x->dims > 0 && z->dims > 0 && !same_shape(x, z))
        return CRI_BIND_FAIL(b, node, "%s and %s do not have the same shape",
                             cri_value_shape(x, one), cri_value_shape(z, two));
    if (x->data && (!z || z->data)) {
        double *to = cri_value_fill(b, &v);
        for (size_t i = 0; to && i < v.n; i++)
            to[i] =
                z ? f->two(x->data[x->dims ? i : 0], z->data[z->dims ? i : 0]) : f->one(x->data[i]);
    } else if (v.n == 0) {
        cri_value_fill(b, &v);
    } else {
        cri_slot at = cri_value_run(b, x);
        at = z ? cri_tape_binary(&b->p->tape, f->kernel, at, x->n, cri_value_run(b, z), z->n)
               : cri_tape_unary(&b->p->tape, f->kernel, at, x->n);
        /* one entry against a vector of one: the shape is the vector's */
        v = cri_value_of_run(b, &v, at);
    }
    *out = v;
    return b->s.status;
}

/* --- products --------------------------------------------------------------------------------- */

static void as_matrix(const cri_value *v, size_t *rows, size_t *cols)
{
    *rows = v->inner == CRI_INNER_ROW ? 1 : v->dim[0];
    *cols = v->inner == CRI_INNER_ROW ? v->dim[0] : v->inner == CRI_INNER_MATRIX ? v->dim[1] : 1;
}

/* A row or column or matrix of doubles times another. */
static void multiply(const double *X, const double *Z, size_t rows, size_t inner, size_t cols,
                     double *out)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            double sum = 0;
            for (size_t k = 0; k < inner; k++) sum += X[i * inner + k] * Z[k * cols + j];
            out[i * cols + j] = sum;
        }
}

cr_status cri_bind_product(cri_binder *b, const cri_syntax *node, const cri_value *x,
                           const cri_value *z, cri_value *out)
{
    size_t    rows, inner, cols, inner_z;
    char      one[CRI_SHAPE_TEXT], two[CRI_SHAPE_TEXT];
    cri_value v = { 0 };
    if (x->dims == 0 || z->dims == 0 ||
        (!b->stan && x->inner == CRI_INNER_VECTOR && z->inner == CRI_INNER_VECTOR))
        return cri_bind_each(b, node, cri_each_find("multiply", 2), x, z, out);
    as_matrix(x, &rows, &inner);
    as_matrix(z, &inner_z, &cols);
    if (inner != inner_z || x->inner == CRI_INNER_NUMBER || z->inner == CRI_INNER_NUMBER ||
        x->dims > 2 || z->dims > 2)
        return CRI_BIND_FAIL(b, node, "%s cannot be multiplied by %s", cri_value_shape(x, one),
                             cri_value_shape(z, two));
    v.n = rows * cols;
    if (rows == 1 && cols == 1 && x->inner == CRI_INNER_ROW && z->inner == CRI_INNER_VECTOR) {
        v.dims = 0;
    } else if (z->inner == CRI_INNER_VECTOR) {
        v.inner = CRI_INNER_VECTOR, v.dims = 1, v.dim[0] = rows;
    } else if (x->inner == CRI_INNER_ROW) {
        v.inner = CRI_INNER_ROW, v.dims = 1, v.dim[0] = cols;
    } else {
        v.inner = CRI_INNER_MATRIX, v.dims = 2, v.dim[0] = rows, v.dim[1] = cols;
    }
    if (v.n == 0 || inner == 0) {
        double *to = cri_value_fill(b, &v);
        for (size_t i = 0; to && i < v.n; i++) to[i] = 0;
    } else if (x->data && z->data) {
        double *to = cri_value_fill(b, &v);
        if (to) multiply(x->data, z->data, rows, inner, cols, to);
    } else if (v.n == 1) {
        cri_slot ax = cri_value_run(b, x), az = cri_value_run(b, z);
        v = cri_value_of_run(b, &v,
                             cri_tape_binary(&b->p->tape, &cri_kernel_dot, ax, inner, az, inner));
    } else {
        cri_tape_op op = { .kernel = &cri_kernel_matrix,
                           .n = (uint32_t)v.n,
                           .rows = (uint32_t)rows,
                           .cols = (uint32_t)cols,
                           .inner = (uint32_t)inner,
                           .n_in = 2 };
        op.in[0] = (cri_tape_operand){ .at = cri_value_run(b, x), .n = (uint32_t)x->n };
        op.in[1] = (cri_tape_operand){ .at = cri_value_run(b, z), .n = (uint32_t)z->n };
        v = cri_value_of_run(b, &v, cri_tape_add(&b->p->tape, op));
    }
    *out = v;
    return b->s.status;
}

/* --- operators -------------------------------------------------------------------------------- */

/* Comparisons and what is logical need known numbers: no branch depends on a parameter. */
static cr_status bind_logic(cri_binder *b, const cri_syntax *node, double x, double z, int sign,
                            cri_value *out)
{
    double y = NAN;
    switch (sign) {
    case CRI_SIGN_OR:
        y = x != 0 || z != 0;
        break;
    case CRI_SIGN_AND:
        y = x != 0 && z != 0;
        break;
    case CRI_SIGN_EQUAL:
        y = x == z;
        break;
    case CRI_SIGN_UNEQUAL:
        y = x != z;
        break;
    case '<':
        y = x < z;
        break;
    case '>':
        y = x > z;
        break;
    case CRI_SIGN_AT_MOST:
        y = x <= z;
        break;
    case CRI_SIGN_AT_LEAST:
        y = x >= z;
        break;
    case '%':
        y = z == 0 ? NAN : fmod(x, z);
        break;
    case CRI_SIGN_WHOLE_OVER:
        y = z == 0 ? NAN : trunc(x / z);
        break;
    default:
        break;
    }
    if (isnan(y)) return CRI_BIND_FAIL(b, node, "a division by zero");
    *out = cri_value_number(b, y, true);
    return b->s.status;
}

static cr_status bind_binary(cri_binder *b, const cri_syntax *node, cri_value *out)
{
    static const struct {
        int         sign;
        const char *function;
    } EACH[] = { { '+', "add" },
                 { CRI_SIGN_PLUS_EACH, "add" },
                 { '-', "subtract" },
                 { CRI_SIGN_MINUS_EACH, "subtract" },
                 { CRI_SIGN_TIMES_EACH, "multiply" },
                 { '/', "divide" },
                 { CRI_SIGN_OVER_EACH, "divide" },
                 { '^', "pow" },
                 { CRI_SIGN_POWER_EACH, "pow" } };
    cr_status st = CR_OK;
    cri_value x, z;
    CR_TRY(cri_bind_expression(b, cri_syntax_child(node, 0), &x));
    if ((node->sign == CRI_SIGN_OR || node->sign == CRI_SIGN_AND) && x.data && x.dims == 0 &&
        (x.data[0] != 0) == (node->sign == CRI_SIGN_OR)) {
        *out = cri_value_number(b, node->sign == CRI_SIGN_OR, true);
        goto done;
    }
    CR_TRY(cri_bind_expression(b, cri_syntax_child(node, 1), &z));
    if (node->sign == '*') return cri_bind_product(b, node, &x, &z, out);
    if (node->sign == '/' && b->stan && x.whole && z.whole && x.data && z.data && x.dims == 0 &&
        z.dims == 0)
        return bind_logic(b, node, x.data[0], z.data[0], CRI_SIGN_WHOLE_OVER, out);
    for (size_t i = 0; i < sizeof EACH / sizeof *EACH; i++)
        if (EACH[i].sign == node->sign) {
            CR_TRY(cri_bind_each(b, node, cri_each_find(EACH[i].function, 2), &x, &z, out));
            if (node->sign == '/' || node->sign == '^' || node->sign == CRI_SIGN_OVER_EACH)
                out->whole = false;
            goto done;
        }
    if (x.dims > 0 || z.dims > 0)
        CR_TRY(CRI_BIND_FAIL(b, node, "this operator takes numbers, not vectors or matrices"));
    if (!x.data || !z.data)
        CR_TRY(CRI_BIND_FAIL(b, node,
                             "a comparison cannot depend on a parameter: the density "
                             "would not be smooth there"));
    CR_TRY(bind_logic(b, node, x.data[0], z.data[0], node->sign, out));
done:
    return st;
}

static cr_status bind_unary(cri_binder *b, const cri_syntax *node, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value x;
    CR_TRY(cri_bind_expression(b, cri_syntax_child(node, 0), &x));
    if (node->sign == '-') {
        CR_TRY(cri_bind_each(b, node, cri_each_find("minus", 1), &x, NULL, out));
    } else if (node->sign == '+') {
        *out = x;
    } else {
        if (!x.data || x.dims > 0)
            CR_TRY(
                CRI_BIND_FAIL(b, node, "'!' takes a number that does not depend on a parameter"));
        *out = cri_value_number(b, x.data[0] == 0, true);
    }
done:
    return st;
}

static cr_status bind_transpose(cri_binder *b, const cri_syntax *node, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value x, shape;
    size_t   *place;
    CR_TRY(cri_bind_expression(b, cri_syntax_child(node, 0), &x));
    shape = x;
    if (x.inner == CRI_INNER_VECTOR || x.inner == CRI_INNER_ROW) {
        shape.inner = x.inner == CRI_INNER_ROW ? CRI_INNER_VECTOR : CRI_INNER_ROW;
        *out = shape;
    } else if (x.inner == CRI_INNER_MATRIX && x.dims == 2) {
        shape.dim[0] = x.dim[1], shape.dim[1] = x.dim[0];
        place = cr_scratch_index(&b->s, x.n);
        CR_TRY(b->s.status);
        for (size_t i = 0; i < x.n; i++) place[i] = i % x.dim[0] * x.dim[1] + i / x.dim[0];
        *out = cri_value_pick(b, &x, place, &shape);
    } else if (x.dims == 0) {
        *out = x;
    } else {
        CR_TRY(CRI_BIND_FAIL(b, node, "only vectors and matrices can be transposed"));
    }
done:
    return st;
}

/* {a, b} is an array of what a is; [a, b] a row of numbers, or a matrix of rows. */
static cr_status bind_list(cri_binder *b, const cri_syntax *node, cri_value *out)
{
    cr_status  st = CR_OK;
    size_t     n = cri_syntax_count(node), i = 0, size;
    cri_value *item = cr_scratch_bytes(&b->s, n ? n : 1, sizeof *item), v = { 0 };
    bool       known = true, row = node->kind == CRI_SYN_ROW;
    CR_TRY(b->s.status);
    for (const cri_syntax *c = node->child; c; c = c->next, i++) {
        CR_TRY(cri_bind_expression(b, c, &item[i]));
        known = known && item[i].data;
        if (i > 0 && !same_shape(&item[i], &item[0]))
            CR_TRY(CRI_BIND_FAIL(b, c, "the values of a list must have the same shape"));
    }
    if (n) v = item[0];
    if (v.dims + 1 > CRI_VALUE_DIMS || (row && v.dims > 1))
        CR_TRY(CRI_BIND_FAIL(b, node, "too many dimensions"));
    size = v.n;
    for (unsigned k = v.dims; k > 0; k--) v.dim[k] = v.dim[k - 1];
    v.dim[0] = n, v.n = n * size;
    if (row) v.inner = v.dims ? CRI_INNER_MATRIX : CRI_INNER_ROW, v.whole = false;
    v.dims++;
    for (i = 1; i < n; i++) v.whole = v.whole && item[i].whole;
    if (known) {
        double *to = cri_value_fill(b, &v);
        for (i = 0; to && i < v.n; i++) to[i] = item[i / size].data[i % size];
    } else {
        cri_slot *to = cri_value_slots(b, &v);
        for (i = 0; to && i < v.n; i++) to[i] = cri_value_slot(b, &item[i / size], i % size);
    }
    *out = v;
    st = b->s.status;
done:
    return st;
}

/* --- names and parts -------------------------------------------------------------------------- */

static const char *name_at(const void *user, size_t i)
{
    return ((const cri_binder *)user)->variable[i].name;
}

static cr_status bind_name(cri_binder *b, const cri_syntax *node, cri_value *out)
{
    const cri_bound_variable *v = cri_bind_find(b, node->text);
    if (!v) {
        CRI_BIND_FAIL(b, node, "'%s' is neither a column, a parameter nor defined", node->text);
        return cr_fail_nearest(b->cx, node->text, "names", b->n_variables, name_at, b);
    }
    if (!v->set) return CRI_BIND_FAIL(b, node, "'%s' is used before it has a value", node->text);
    *out = v->value;
    return CR_OK;
}

static cr_status bind_index(cri_binder *b, const cri_syntax *node, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value of, shape;
    size_t   *place;
    CR_TRY(cri_bind_expression(b, node->child, &of));
    CR_TRY(cri_bind_places(b, node, &of, &place, &shape));
    *out = cri_value_pick(b, &of, place, &shape);
    st = b->s.status;
done:
    return st;
}

static cr_status bind_choice(cri_binder *b, const cri_syntax *node, cri_value *out)
{
    cr_status st = CR_OK;
    double    condition;
    CR_TRY(cri_bind_number(b, node->child, "the condition of '?'", &condition));
    CR_TRY(cri_bind_expression(b, cri_syntax_child(node, condition != 0 ? 1 : 2), out));
done:
    return st;
}

cr_status cri_bind_expression(cri_binder *b, const cri_syntax *node, cri_value *out)
{
    switch (node->kind) {
    case CRI_SYN_NUMBER:
        *out = cri_value_number(b, node->number, node->whole);
        return b->s.status;
    case CRI_SYN_NAME:
        return bind_name(b, node, out);
    case CRI_SYN_CALL:
        return cri_bind_call(b, node, out);
    case CRI_SYN_INDEX:
        return bind_index(b, node, out);
    case CRI_SYN_UNARY:
        return bind_unary(b, node, out);
    case CRI_SYN_BINARY:
        return bind_binary(b, node, out);
    case CRI_SYN_CHOICE:
        return bind_choice(b, node, out);
    case CRI_SYN_TRANSPOSE:
        return bind_transpose(b, node, out);
    case CRI_SYN_ARRAY:
    case CRI_SYN_ROW:
        return bind_list(b, node, out);
    default:
        return CRI_BIND_FAIL(b, node, "this is not a value");
    }
}

cr_status cri_bind_number(cri_binder *b, const cri_syntax *node, const char *what, double *out)
{
    cr_status st = CR_OK;
    cri_value v;
    CR_TRY(cri_bind_expression(b, node, &v));
    if (!v.data) CR_TRY(CRI_BIND_FAIL(b, node, "%s cannot depend on a parameter", what));
    if (v.dims > 0) CR_TRY(CRI_BIND_FAIL(b, node, "%s must be a number", what));
    *out = v.data[0];
done:
    return st;
}

cr_status cri_bind_whole(cri_binder *b, const cri_syntax *node, const char *what, size_t *out)
{
    cr_status st = CR_OK;
    double    x;
    CR_TRY(cri_bind_number(b, node, what, &x));
    if (!(x >= 0 && x <= 4e9) || x != floor(x))
        CR_TRY(CRI_BIND_FAIL(b, node, "%s is %g, but a whole number from 0 on is needed", what, x));
    *out = (size_t)x;
done:
    return st;
}
