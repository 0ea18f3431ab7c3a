/* basis_learn.c -- knots at the quantiles of a column.
 * The quantile at q is the smallest value with at least the share q of the weight at or below it,
 * or the middle between it and the next where the share is met exactly.  So weights need not be
 * whole, a row of weight 2 is two rows, and multiplying all weights changes nothing. */
#include "basis.h"
#include "design_block.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

/* The different values of a column, increasing, and the weight at or below each. */
typedef struct values {
    size_t  n;
    double *x, *below;
} values;

typedef struct pair {
    double x, w;
} pair;

CRI_COMPARE_BY(compare_pairs, pair, x);

/* Rows that lack the value or weigh nothing do not count. */
static cr_status collect(cr_scratch *s, const cr_table *t, const cr_column *c,
                         const cr_column *opt_w, values *out)
{
    size_t rows = cr_table_rows(t), n = 0;
    pair  *a = cr_scratch_bytes(s, rows, sizeof *a);
    values v = { 0, cr_scratch_f64(s, rows), cr_scratch_f64(s, rows) };
    double total = 0;
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < rows; i++) {
        double x = c->values[i * c->stride], w = cri_row_weight(opt_w, i);
        if (!isnan(x) && w > 0) a[n++] = (pair){ x, w };
    }
    qsort(a, n, sizeof *a, compare_pairs);
    for (size_t i = 0; i < n; i++) {
        total += a[i].w;
        if (i == 0 || a[i].x > a[i - 1].x) v.x[v.n++] = a[i].x;
        v.below[v.n - 1] = total;
    }
    *out = v;
    return CR_OK;
}

static double quantile(const values *v, double q)
{
    double wanted = q * v->below[v->n - 1];
    size_t low = 0, high = v->n - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (v->below[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    bool met = v->below[low] == wanted && low + 1 < v->n;
    return met ? v->x[low] + (v->x[low + 1] - v->x[low]) / 2 : v->x[low];
}

/* Appends x where it is above the last knot and inside (low, high) or (low, high]. */
static void add_knot(cri_basis *b, double x, double low, double high, bool closed)
{
    bool inside = x > low && (closed ? x <= high : x < high);
    if (inside && (b->n_knots == 0 || x > b->knots[b->n_knots - 1])) b->knots[b->n_knots++] = x;
}

/* The inner knots: as given, or `count` of them at equally spaced quantiles.  Given ones must lie
 * inside. */
static cr_status add_inner(cr_ctx *cx, const cr_column *c, const values *v, const cri_basis_spec *o,
                           size_t count, const double range[2], bool closed, cri_basis *b)
{
    for (size_t k = 0; k < o->n_knots; k++) {
        size_t before = b->n_knots;
        add_knot(b, o->knots[k], range[0], range[1], closed);
        if (b->n_knots > before) continue;
        cr_fail(cx, CR_EARG, "--basis: the knot %g of column '%s' is not inside %g to %g",
                o->knots[k], c->name, range[0], range[1]);
        bool ends = o->kind == CRI_BASIS_BSPLINE || o->kind == CRI_BASIS_NATURAL;
        return ends && isnan(o->range[0])
                   ? cr_fail_hint(cx, "the range can be set with range=%g;%g",
                                  fmin(range[0], o->knots[0] - 1),
                                  fmax(range[1], o->knots[o->n_knots - 1] + 1))
                   : CR_EARG;
    }
    for (size_t k = 1; k <= count && o->n_knots == 0; k++)
        add_knot(b, quantile(v, (double)k / ((double)count + 1)), range[0], range[1], closed);
    return CR_OK;
}

/* --- one kind after the other ---------------------------------------------------------------- */

/* Centres from the least to the greatest value; a bump is as wide as its neighbours are far. */
static cr_status learn_rbf(const values *v, const cri_basis_spec *o, cri_basis *b)
{
    double low = v->x[0], high = v->x[v->n - 1];
    for (size_t k = 0; k < o->n_knots; k++) b->knots[b->n_knots++] = o->knots[k];
    for (size_t k = 0; k < o->count; k++) {
        double q = o->count == 1 ? 0.5 : (double)k / ((double)o->count - 1);
        double x = q == 0 ? low : q == 1 ? high : quantile(v, q);
        if (b->n_knots == 0 || x > b->knots[b->n_knots - 1]) b->knots[b->n_knots++] = x;
    }
    size_t m = b->n_knots;
    for (size_t k = 0; k < m; k++) {
        size_t left = k > 0 ? k - 1 : 0, right = k + 1 < m ? k + 1 : k;
        double gap = (b->knots[right] - b->knots[left]) / (double)(right - left ? right - left : 1);
        b->widths[k] = !isnan(o->width) ? o->width : m > 1 ? gap : (high - low) / 2;
    }
    return CR_OK;
}

/* Both ends and what lies between. */
static cr_status learn_ended(cr_ctx *cx, const cr_column *c, const values *v,
                             const cri_basis_spec *o, size_t inner, cri_basis *b)
{
    bool   given = !isnan(o->range[0]);
    double range[2] = { given ? o->range[0] : v->x[0], given ? o->range[1] : v->x[v->n - 1] };
    b->knots[b->n_knots++] = range[0];
    cr_status st = add_inner(cx, c, v, o, inner, range, false, b);
    b->knots[b->n_knots++] = range[1];
    return st;
}

static cr_status learn_kind(cr_ctx *cx, const cr_column *c, const values *v,
                            const cri_basis_spec *o, cri_basis *b)
{
    size_t count = o->count < v->n ? o->count : v->n; /* no more functions than values */
    double range[2] = { v->x[0], v->x[v->n - 1] };
    switch (o->kind) {
    case CRI_BASIS_RBF:
        return learn_rbf(v, o, b);
    case CRI_BASIS_BSPLINE:
        b->degree = o->degree;
        if (o->n_knots == 0 && b->degree + 1 > count) b->degree = count - 1;
        return learn_ended(cx, c, v, o, o->n_knots ? 0 : count - b->degree - 1, b);
    case CRI_BASIS_NATURAL:
        return learn_ended(cx, c, v, o, o->n_knots ? 0 : count - 2, b);
    case CRI_BASIS_PIECEWISE:
        return add_inner(cx, c, v, o, o->n_knots ? 0 : count - 1, range, true, b);
    case CRI_BASIS_HINGE:
        return add_inner(cx, c, v, o, o->n_knots ? 0 : count - 1, range, false, b);
    case CRI_BASIS_FOURIER:
        b->period = o->period;
        b->n = 2 * o->count;
        return CR_OK;
    case CRI_BASIS_NONE:
    case CRI_BASIS_POLY:
    case CRI_BASIS_KINDS:
        break;
    }
    return cr_fail(cx, CR_EARG, "--basis: '%s' has no knots", o->text);
}

static cr_status refuse_column(cr_ctx *cx, const cr_table *t, const cr_column *c, const values *v,
                               const cri_basis_spec *o)
{
    if (v->n > 0 && !isfinite(v->x[v->n - 1] - v->x[0]))
        return cr_fail(cx, CR_ENUMERIC, "%s: the range of column '%s' overflows",
                       cr_table_source(t), c->name);
    cr_fail(cx, CR_EDATA, "%s: column '%s' has %s, too few for the basis %s", cr_table_source(t),
            c->name, v->n == 0 ? "no values" : "only one value", o->text);
    return cr_fail_hint(
        cx, "leave it out with --features '!%s', or keep it as it is with --basis '%s=none'",
        c->name, c->name);
}

/* Fewer functions than were asked for, because values repeat. */
static void warn_of_few(cr_ctx *cx, const cr_column *c, const values *v, const cri_basis_spec *o,
                        const cri_basis *b)
{
    size_t wanted = o->kind == CRI_BASIS_FOURIER ? 2 * o->count : o->count;
    if (o->n_knots > 0 || b->n >= wanted) return;
    cr_log(cx, CR_LOG_WARNING,
           "--basis: column '%s' has only %zu different values, many of them at the quantiles: %s "
           "gets %zu functions%s",
           c->name, v->n, o->text, b->n,
           b->kind == CRI_BASIS_BSPLINE && b->degree < o->degree ? " and a lower degree" : "");
}

cr_status cri_basis_learn(cr_ctx *cx, const cr_table *t, const cr_column *c, const cr_column *opt_w,
                          const cri_basis_spec *o, cri_basis *out_basis)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_basis  b = { .kind = o->kind }, made = { .kind = o->kind };
    size_t     most = o->count + o->n_knots + 2;
    values     v = { 0 };

    b.knots = cr_scratch_f64(&s, most);
    b.widths = cr_scratch_f64(&s, most);
    CR_TRY(s.status);
    CR_TRY(cri_column_check_finite(cx, t, c));
    CR_TRY(collect(&s, t, c, opt_w, &v));
    if (v.n < 2 || !isfinite(v.x[v.n - 1] - v.x[0])) CR_TRY(refuse_column(cx, t, c, &v, o));
    CR_TRY(learn_kind(cx, c, &v, o, &b));
    CR_TRY(cri_basis_copy(cx, &b, &made));
    CR_TRY(cri_basis_prepare(cx, &made));
    warn_of_few(cx, c, &v, o, &made);
    *out_basis = made;
    made = (cri_basis){ 0 };
done:
    cri_basis_free(cx, &made);
    cr_scratch_end(&s);
    return st;
}
