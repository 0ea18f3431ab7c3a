/* bind_call.c -- calls of functions: those of one or two numbers, those of vectors, densities, and
 * the program's own. */
#include "bind_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_ARGUMENTS = 12, MOST_CALLS = 100 };

typedef struct call {
    const cri_syntax *node;
    const char       *name;
    cri_value         a[MOST_ARGUMENTS];
    size_t            n;
} call;

static const cri_each_function *each(const char *name, unsigned n)
{
    return cri_each_find(name, n);
}

/* --- vectors to numbers ----------------------------------------------------------------------- */

static cr_status reduce(cri_binder *b, const cri_value *x, const cri_tape_kernel *kernel,
                        cri_value *out)
{
    *out = cri_value_of_run(b, &(cri_value){ .n = 1 },
                            cri_tape_unary(&b->p->tape, kernel, cri_value_run(b, x), x->n));
    return b->s.status;
}

static cr_status call_sum(cri_binder *b, call *c, cri_value *out)
{
    const cri_value *x = &c->a[0];
    double           total = 0;
    if (!x->data) return reduce(b, x, &cri_kernel_sum, out);
    for (size_t i = 0; i < x->n; i++) total += x->data[i];
    *out = cri_value_number(b, total, x->whole);
    return b->s.status;
}

static cr_status call_mean(cri_binder *b, call *c, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value total, n = cri_value_number(b, (double)c->a[0].n, false);
    CR_TRY(call_sum(b, c, &total));
    CR_TRY(cri_bind_each(b, c->node, each("divide", 2), &total, &n, out));
    out->whole = false;
done:
    return st;
}

static cr_status call_prod(cri_binder *b, call *c, cri_value *out)
{
    const cri_value *x = &c->a[0];
    double           total = 1;
    if (!x->data) return reduce(b, x, &cri_kernel_prod, out);
    for (size_t i = 0; i < x->n; i++) total *= x->data[i];
    *out = cri_value_number(b, total, x->whole);
    return b->s.status;
}

static cr_status call_log_sum_exp(cri_binder *b, call *c, cri_value *out)
{
    const cri_value *x = &c->a[0];
    double           top = -INFINITY, total = 0;
    if (!x->data) return reduce(b, x, &cri_kernel_log_sum_exp, out);
    for (size_t i = 0; i < x->n; i++) top = fmax(top, x->data[i]);
    for (size_t i = 0; i < x->n; i++) total += exp(x->data[i] - top);
    *out = cri_value_number(b, top + log(total), false);
    return b->s.status;
}

static cr_status call_dot_product(cri_binder *b, call *c, cri_value *out)
{
    cri_value x = c->a[0], z = c->a[c->n - 1];
    if (x.n != z.n) return CRI_BIND_FAIL(b, c->node, "two vectors of %zu and %zu", x.n, z.n);
    x.inner = CRI_INNER_ROW, z.inner = CRI_INNER_VECTOR;
    x.dims = z.dims = 1, x.dim[0] = z.dim[0] = x.n;
    return cri_bind_product(b, c->node, &x, &z, out);
}

/* Sample variance, divisor n - 1. */
static cr_status call_variance(cri_binder *b, call *c, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value mean, away, square, n = cri_value_number(b, (double)c->a[0].n - 1, false);
    call      inner = { .node = c->node, .n = 1 };
    CR_TRY(call_mean(b, c, &mean));
    CR_TRY(cri_bind_each(b, c->node, each("subtract", 2), &c->a[0], &mean, &away));
    CR_TRY(cri_bind_each(b, c->node, each("square", 1), &away, NULL, &square));
    inner.a[0] = square;
    CR_TRY(call_sum(b, &inner, &mean));
    CR_TRY(cri_bind_each(b, c->node, each("divide", 2), &mean, &n, out));
done:
    return st;
}
static cr_status call_sd(cri_binder *b, call *c, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value variance;
    CR_TRY(call_variance(b, c, &variance));
    CR_TRY(cri_bind_each(b, c->node, each("sqrt", 1), &variance, NULL, out));
done:
    return st;
}

static cr_status known_extreme(cri_binder *b, call *c, double sign, cri_value *out)
{
    double best = -INFINITY;
    if (!c->a[0].data)
        return CRI_BIND_FAIL(b, c->node, "%s of what depends on a parameter is not smooth",
                             c->name);
    for (size_t i = 0; i < c->a[0].n; i++) best = fmax(best, sign * c->a[0].data[i]);
    *out = cri_value_number(b, sign * best, c->a[0].whole);
    return b->s.status;
}
static cr_status call_max(cri_binder *b, call *c, cri_value *out)
{
    return known_extreme(b, c, 1, out);
}
static cr_status call_min(cri_binder *b, call *c, cri_value *out)
{
    return known_extreme(b, c, -1, out);
}

/* --- shapes ----------------------------------------------------------------------------------- */

static cr_status size_of(cri_binder *b, double n, cri_value *out)
{
    *out = cri_value_number(b, n, true);
    return b->s.status;
}
static cr_status call_size(cri_binder *b, call *c, cri_value *out)
{
    return size_of(b, c->a[0].dims ? (double)c->a[0].dim[0] : 1, out);
}
static cr_status call_num_elements(cri_binder *b, call *c, cri_value *out)
{
    return size_of(b, (double)c->a[0].n, out);
}
static cr_status call_rows(cri_binder *b, call *c, cri_value *out)
{
    const cri_value *x = &c->a[0];
    return size_of(b, x->inner == CRI_INNER_ROW ? 1 : x->dims ? (double)x->dim[0] : 1, out);
}
static cr_status call_cols(cri_binder *b, call *c, cri_value *out)
{
    const cri_value *x = &c->a[0];
    return size_of(b,
                   x->inner == CRI_INNER_MATRIX ? (double)x->dim[1]
                   : x->inner == CRI_INNER_ROW  ? (double)x->dim[0]
                                                : 1,
                   out);
}
static cr_status call_dims(cri_binder *b, call *c, cri_value *out)
{
    cri_value v = { .whole = true, .dims = 1, .n = c->a[0].dims };
    double   *to;
    v.dim[0] = v.n;
    to = cri_value_fill(b, &v);
    for (size_t k = 0; to && k < v.n; k++) to[k] = (double)c->a[0].dim[k];
    *out = v;
    return b->s.status;
}
static cr_status call_levels(cri_binder *b, call *c, cri_value *out)
{
    if (!c->a[0].levels) return CRI_BIND_FAIL(b, c->node, "this is not a column of categories");
    return size_of(b, (double)c->a[0].n_levels, out);
}

/* rep_vector(x, n) and its kin: the value n times. */
static cr_status repeat(cri_binder *b, call *c, cri_inner inner, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value v = c->a[0], shape = v;
    size_t    times = 1, *place;
    shape.inner = inner == CRI_INNER_NUMBER ? v.inner : inner;
    shape.dims = 0;
    for (size_t k = 1; k < c->n; k++) {
        const cri_value *n = &c->a[k];
        if (!n->data || n->dims || n->data[0] < 0 || shape.dims + v.dims >= CRI_VALUE_DIMS)
            CR_TRY(CRI_BIND_FAIL(b, c->node, "the size must be a known whole number"));
        shape.dim[shape.dims++] = (size_t)n->data[0];
        times *= (size_t)n->data[0];
    }
    if (inner == CRI_INNER_MATRIX && v.inner == CRI_INNER_VECTOR) { /* columns side by side */
        shape.dims = 2, shape.dim[1] = shape.dim[0], shape.dim[0] = v.n;
    } else {
        for (unsigned k = 0; k < v.dims; k++) shape.dim[shape.dims++] = v.dim[k];
    }
    shape.n = v.n * times;
    place = cr_scratch_index(&b->s, shape.n);
    CR_TRY(b->s.status);
    for (size_t i = 0; i < shape.n; i++)
        place[i] = inner == CRI_INNER_MATRIX && v.inner == CRI_INNER_VECTOR ? i / times : i % v.n;
    *out = cri_value_pick(b, &v, place, &shape);
    out->levels = NULL;
    st = b->s.status;
done:
    return st;
}
static cr_status call_rep_vector(cri_binder *b, call *c, cri_value *out)
{
    return repeat(b, c, CRI_INNER_VECTOR, out);
}
static cr_status call_rep_row_vector(cri_binder *b, call *c, cri_value *out)
{
    return repeat(b, c, CRI_INNER_ROW, out);
}
static cr_status call_rep_matrix(cri_binder *b, call *c, cri_value *out)
{
    return repeat(b, c, CRI_INNER_MATRIX, out);
}
static cr_status call_rep_array(cri_binder *b, call *c, cri_value *out)
{
    return repeat(b, c, CRI_INNER_NUMBER, out);
}

static cr_status reshape(cri_binder *b, call *c, cri_inner inner, cri_value *out)
{
    cri_value v = c->a[0];
    if (v.inner == CRI_INNER_MATRIX && v.dims == 2) { /* Stan reads matrices column by column */
        cri_value shape = v;
        size_t   *place = cr_scratch_index(&b->s, v.n);
        for (size_t i = 0; place && i < v.n; i++) place[i] = i % v.dim[0] * v.dim[1] + i / v.dim[0];
        if (!place) return b->s.status;
        v = cri_value_pick(b, &v, place, &shape);
    }
    v.inner = inner, v.dims = 1, v.dim[0] = v.n;
    if (inner != CRI_INNER_NUMBER) v.whole = false;
    *out = v;
    return b->s.status;
}
static cr_status call_to_vector(cri_binder *b, call *c, cri_value *out)
{
    return reshape(b, c, CRI_INNER_VECTOR, out);
}
static cr_status call_to_row_vector(cri_binder *b, call *c, cri_value *out)
{
    return reshape(b, c, CRI_INNER_ROW, out);
}
static cr_status call_to_array_1d(cri_binder *b, call *c, cri_value *out)
{
    return reshape(b, c, CRI_INNER_NUMBER, out);
}
static cr_status call_to_matrix(cri_binder *b, call *c, cri_value *out)
{
    cri_value v = c->a[0];
    if (c->n == 1 && v.dims == 1 && v.inner == CRI_INNER_VECTOR)
        v.dims = 2, v.dim[1] = 1;
    else if (c->n == 1 && v.dims == 1)
        v.dims = 2, v.dim[1] = v.dim[0], v.dim[0] = 1;
    else if (c->n != 1 || v.dims != 2)
        return CRI_BIND_FAIL(b, c->node,
                             "to_matrix takes a vector, a matrix or an array of two "
                             "dimensions");
    v.inner = CRI_INNER_MATRIX, v.whole = false;
    *out = v;
    return CR_OK;
}
static cr_status call_identity(cri_binder *b, call *c, cri_value *out)
{
    *out = c->a[0];
    return b->s.status;
}

/* append_row, append_col, append_array: side by side or one below the other. */
static cr_status append(cri_binder *b, call *c, bool below, cri_value *out)
{
    cri_value x = c->a[0], z = c->a[1], v = { 0 };
    bool      vectors = x.inner != CRI_INNER_MATRIX && z.inner != CRI_INNER_MATRIX &&
                   !(below && (x.inner == CRI_INNER_ROW || z.inner == CRI_INNER_ROW)) &&
                   !(!below && (x.inner == CRI_INNER_VECTOR || z.inner == CRI_INNER_VECTOR) &&
                     x.inner == z.inner);
    size_t rx = 1, cx = 1, rz = 1, cz = 1;
    if (x.dims) rx = x.inner == CRI_INNER_ROW ? 1 : x.dim[0], cx = x.n / (rx ? rx : 1);
    if (z.dims) rz = z.inner == CRI_INNER_ROW ? 1 : z.dim[0], cz = z.n / (rz ? rz : 1);
    if (vectors)
        v.inner = below ? CRI_INNER_VECTOR : CRI_INNER_ROW, v.dims = 1, v.dim[0] = x.n + z.n;
    else if (below ? cx != cz : rx != rz)
        return CRI_BIND_FAIL(b, c->node, "the two do not fit together");
    else
        v.inner = CRI_INNER_MATRIX, v.dims = 2, v.dim[0] = below ? rx + rz : rx,
        v.dim[1] = below ? cx : cx + cz;
    v.n = x.n + z.n;
    bool      known = x.data && z.data;
    double   *to = known ? cri_value_fill(b, &v) : NULL;
    cri_slot *slot = known ? NULL : cri_value_slots(b, &v);
    for (size_t i = 0; i < v.n && b->s.status == CR_OK; i++) {
        size_t row = vectors || below ? 0 : i / v.dim[1], col = vectors || below ? i : i % v.dim[1];
        bool   first = vectors || below ? i < x.n : col < cx;
        size_t at = vectors || below ? (first ? i : i - x.n)
                    : first          ? row * cx + col
                                     : row * cz + col - cx;
        const cri_value *from = first ? &x : &z;
        if (known)
            to[i] = from->data[at];
        else
            slot[i] = cri_value_slot(b, from, at);
    }
    *out = v;
    return b->s.status;
}
static cr_status call_append_row(cri_binder *b, call *c, cri_value *out)
{
    return append(b, c, true, out);
}
static cr_status call_append_col(cri_binder *b, call *c, cri_value *out)
{
    return append(b, c, false, out);
}

/* head, tail, segment, row, col: parts by position. */
static cr_status part(cri_binder *b, call *c, size_t first, size_t n, size_t stride,
                      cri_inner inner, cri_value *out)
{
    cri_value shape = { .inner = inner, .dims = 1, .n = n, .whole = c->a[0].whole };
    size_t   *place = cr_scratch_index(&b->s, n ? n : 1);
    shape.dim[0] = n;
    if (!place) return b->s.status;
    for (size_t i = 0; i < n; i++) {
        place[i] = first + i * stride;
        if (place[i] >= c->a[0].n)
            return CRI_BIND_FAIL(b, c->node, "%s reaches beyond the end", c->name);
    }
    *out = cri_value_pick(b, &c->a[0], place, &shape);
    return b->s.status;
}
static bool      known_count(const cri_value *v) { return v->data && !v->dims && v->data[0] >= 0; }
static cr_status call_part(cri_binder *b, call *c, cri_value *out)
{
    const cri_value *x = &c->a[0];
    if (!known_count(&c->a[1]) || (c->n == 3 && !known_count(&c->a[2])))
        return CRI_BIND_FAIL(b, c->node, "the place must be a known whole number");
    size_t k = (size_t)c->a[1].data[0];
    if (strcmp(c->name, "head") == 0) return part(b, c, 0, k, 1, x->inner, out);
    if (strcmp(c->name, "tail") == 0)
        return part(b, c, k <= x->n ? x->n - k : x->n, k, 1, x->inner, out);
    if (strcmp(c->name, "segment") == 0)
        return part(b, c, k - 1, (size_t)c->a[2].data[0], 1, x->inner, out);
    if (x->inner != CRI_INNER_MATRIX || x->dims != 2)
        return CRI_BIND_FAIL(b, c->node, "%s takes a matrix", c->name);
    if (strcmp(c->name, "sub_col") == 0) { /* x, first row, column, rows */
        if (!known_count(&c->a[2]) || !known_count(&c->a[3]))
            return CRI_BIND_FAIL(b, c->node, "the place must be a known whole number");
        return part(b, c, (k - 1) * x->dim[1] + (size_t)c->a[2].data[0] - 1,
                    (size_t)c->a[3].data[0], x->dim[1], CRI_INNER_VECTOR, out);
    }
    if (strcmp(c->name, "row") == 0)
        return part(b, c, (k - 1) * x->dim[1], x->dim[1], 1, CRI_INNER_ROW, out);
    return part(b, c, k - 1, x->dim[0], x->dim[1], CRI_INNER_VECTOR, out);
}

/* --- along a vector --------------------------------------------------------------------------- */

static cr_status along(cri_binder *b, call *c, const cri_tape_kernel *kernel, cri_value *out)
{
    cri_slot at = cri_tape_unary(&b->p->tape, kernel, cri_value_run(b, &c->a[0]), c->a[0].n);
    *out = cri_value_of_run(b, &c->a[0], at);
    return b->s.status;
}
static cr_status call_cumulative_sum(cri_binder *b, call *c, cri_value *out)
{
    cri_value v = cri_value_shaped(&c->a[0]);
    double    total = 0, *to;
    if (!c->a[0].data) return along(b, c, &cri_kernel_cumulative_sum, out);
    to = cri_value_fill(b, &v);
    for (size_t i = 0; to && i < v.n; i++) to[i] = total += c->a[0].data[i];
    *out = v;
    return b->s.status;
}
static cr_status call_softmax(cri_binder *b, call *c, cri_value *out)
{
    return along(b, c, &cri_kernel_softmax, out);
}
/* x - log_sum_exp(x) */
static cr_status call_log_softmax(cri_binder *b, call *c, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value total;
    CR_TRY(call_log_sum_exp(b, c, &total));
    CR_TRY(cri_bind_each(b, c->node, each("subtract", 2), &c->a[0], &total, out));
done:
    return st;
}
/* log(theta exp(a) + (1 - theta) exp(b)) */
static cr_status call_log_mix(cri_binder *b, call *c, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value p, q, x, z;
    CR_TRY(cri_bind_each(b, c->node, each("log", 1), &c->a[0], NULL, &p));
    CR_TRY(cri_bind_each(b, c->node, each("log1m", 1), &c->a[0], NULL, &q));
    CR_TRY(cri_bind_each(b, c->node, each("add", 2), &p, &c->a[1], &x));
    CR_TRY(cri_bind_each(b, c->node, each("add", 2), &q, &c->a[2], &z));
    CR_TRY(cri_bind_each(b, c->node, each("log_sum_exp", 2), &x, &z, out));
done:
    return st;
}
static cr_status call_fma(cri_binder *b, call *c, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value product;
    CR_TRY(cri_bind_each(b, c->node, each("multiply", 2), &c->a[0], &c->a[1], &product));
    CR_TRY(cri_bind_each(b, c->node, each("add", 2), &product, &c->a[2], out));
done:
    return st;
}

/* --- constants -------------------------------------------------------------------------------- */

static cr_status call_constant(cri_binder *b, call *c, cri_value *out)
{
    static const struct {
        const char *name;
        double      value;
    } CONSTANTS[] = { { "pi", 3.14159265358979323846 },
                      { "e", 2.71828182845904523536 },
                      { "sqrt2", 1.41421356237309504880 },
                      { "log2", 0.693147180559945309417 },
                      { "log10", 2.30258509299404568402 },
                      { "not_a_number", NAN },
                      { "positive_infinity", INFINITY },
                      { "negative_infinity", -INFINITY },
                      { "machine_precision", 2.220446049250313e-16 } };
    for (size_t i = 0; i < sizeof CONSTANTS / sizeof *CONSTANTS; i++)
        if (strcmp(CONSTANTS[i].name, c->name) == 0) {
            *out = cri_value_number(b, CONSTANTS[i].value, false);
            return b->s.status;
        }
    return CRI_BIND_FAIL(b, c->node, "there is no constant '%s'", c->name);
}

typedef cr_status call_fn(cri_binder *b, call *c, cri_value *out);
static const struct {
    const char *name;
    unsigned    least, most;
    call_fn    *run;
} CALLS[] = {
    { "sum", 1, 1, call_sum },
    { "mean", 1, 1, call_mean },
    { "prod", 1, 1, call_prod },
    { "log_sum_exp", 1, 1, call_log_sum_exp },
    { "dot_product", 2, 2, call_dot_product },
    { "dot_self", 1, 1, call_dot_product },
    { "variance", 1, 1, call_variance },
    { "sd", 1, 1, call_sd },
    { "max", 1, 1, call_max },
    { "min", 1, 1, call_min },
    { "size", 1, 1, call_size },
    { "num_elements", 1, 1, call_num_elements },
    { "rows", 1, 1, call_rows },
    { "cols", 1, 1, call_cols },
    { "levels", 1, 1, call_levels },
    { "dims", 1, 1, call_dims },
    { "sub_col", 4, 4, call_part },
    { "rep_vector", 2, 2, call_rep_vector },
    { "rep_row_vector", 2, 2, call_rep_row_vector },
    { "rep_matrix", 2, 3, call_rep_matrix },
    { "rep_array", 2, 4, call_rep_array },
    { "to_vector", 1, 1, call_to_vector },
    { "to_row_vector", 1, 1, call_to_row_vector },
    { "to_array_1d", 1, 1, call_to_array_1d },
    { "to_matrix", 1, 1, call_to_matrix },
    { "to_int", 1, 1, call_identity },
    { "append_row", 2, 2, call_append_row },
    { "append_col", 2, 2, call_append_col },
    { "head", 2, 2, call_part },
    { "tail", 2, 2, call_part },
    { "segment", 3, 3, call_part },
    { "row", 2, 2, call_part },
    { "col", 2, 2, call_part },
    { "cumulative_sum", 1, 1, call_cumulative_sum },
    { "softmax", 1, 1, call_softmax },
    { "log_softmax", 1, 1, call_log_softmax },
    { "log_mix", 3, 3, call_log_mix },
    { "fma", 3, 3, call_fma },
    { "pi", 0, 0, call_constant },
    { "e", 0, 0, call_constant },
    { "sqrt2", 0, 0, call_constant },
    { "log2", 0, 0, call_constant },
    { "log10", 0, 0, call_constant },
    { "not_a_number", 0, 0, call_constant },
    { "positive_infinity", 0, 0, call_constant },
    { "negative_infinity", 0, 0, call_constant },
    { "machine_precision", 0, 0, call_constant },
};

/* --- functions of the program ----------------------------------------------------------------- */

static cr_status call_own(cri_binder *b, const cri_own_function *f, call *c, cri_value *out)
{
    cr_status st = CR_OK;
    size_t    mark = b->n_variables, i = 0;
    bool      density = b->density;
    if (++b->depth > MOST_CALLS)
        CR_TRY(CRI_BIND_FAIL(b, c->node, "calls are nested more than %d deep", MOST_CALLS));
    for (const cri_syntax *a = f->node->child; a; a = a->next, i++) {
        cri_bound_variable *v;
        if (a->kind != CRI_SYN_NAME) {
            if (i != c->n)
                CR_TRY(CRI_BIND_FAIL(b, c->node, "%s takes %zu arguments, but %zu are given",
                                     f->name, i, c->n));
            CR_TRY(cri_bind_statement(b, a));
            break;
        }
        if (i >= c->n) continue;
        CR_TRY(cri_bind_variable(b, a->text, CRI_NAME_LOCAL, &v));
        v->value = c->a[i];
        v->set = true;
    }
    *out = b->returned;
    if (!b->leaving && f->node->sign != 'v')
        CR_TRY(CRI_BIND_FAIL(b, c->node, "%s returned nothing", f->name));
    b->leaving = false;
    b->n_variables = mark;
    b->density = density;
    b->depth--;
done:
    return st;
}

/* "normal" of normal_lpdf, poisson_lpmf, normal_log; 0 for other names. */
static size_t density_name_length(const char *name)
{
    static const char *const ENDINGS[] = { "_lpdf", "_lpmf", "_lupdf", "_lupmf", "_log" };
    size_t                   n = strlen(name);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        size_t k = strlen(ENDINGS[i]);
        if (n > k && strcmp(name + n - k, ENDINGS[i]) == 0) return n - k;
    }
    return 0;
}

static const char *call_name(const void *user, size_t i)
{
    (void)user;
    return CALLS[i].name;
}

cr_status cri_bind_call(cri_binder *b, const cri_syntax *node, cri_value *out)
{
    cr_status st = CR_OK;
    call      c = { .node = node, .name = node->text };
    char      name[64];
    size_t    length;
    enum { N = sizeof CALLS / sizeof *CALLS };
    if (cri_syntax_count(node) > MOST_ARGUMENTS)
        CR_TRY(CRI_BIND_FAIL(b, node, "more than %d arguments", MOST_ARGUMENTS));
    for (const cri_syntax *a = node->child; a; a = a->next)
        CR_TRY(cri_bind_expression(b, a, &c.a[c.n++]));
    for (size_t i = 0; i < b->n_functions; i++)
        if (strcmp(b->function[i].name, node->text) == 0)
            return call_own(b, &b->function[i], &c, out);
    for (size_t i = 0; i < N; i++)
        if (strcmp(CALLS[i].name, node->text) == 0 && c.n >= CALLS[i].least && c.n <= CALLS[i].most)
            return CALLS[i].run(b, &c, out);
    if ((c.n == 1 || c.n == 2) && each(node->text, (unsigned)c.n)) {
        CR_TRY(cri_bind_each(b, node, each(node->text, (unsigned)c.n), &c.a[0],
                             c.n == 2 ? &c.a[1] : NULL, out));
        out->whole = out->whole && (strcmp(node->text, "abs") == 0 || c.n == 2);
        goto done;
    }
    length = density_name_length(node->text);
    if (length > 0 && length < sizeof name && c.n > 0) {
        memcpy(name, node->text, length);
        name[length] = '\0';
        return cri_bind_log_density(b, node, name, &c.a[0], &c.a[1], c.n - 1, out);
    }
    for (size_t i = 0; i < N; i++)
        if (strcmp(CALLS[i].name, node->text) == 0)
            CR_TRY(CRI_BIND_FAIL(b, node, "%s does not take %zu arguments", node->text, c.n));
    CRI_BIND_FAIL(b, node, "there is no function '%s'", node->text);
    st = cr_fail_nearest(b->cx, node->text, "functions", N, call_name, NULL);
done:
    return st;
}
