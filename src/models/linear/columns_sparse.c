/* columns_sparse.c -- sparse standardised columns for coordinate descent.
 * A residual is kept as r_i = sqrt(w_i) (e_i + level): n numbers e, then the level that all rows
 * share, then sum w e.  With q = sum w x_j e over the entries of column j,
 *   z_j . r = (q - centre_j sum w e) / scale_j    (centre is the mean, or 0 and with it the level),
 *   r += a z_j:  e_i += a x_ij / scale_j at the entries,  level -= a centre_j / scale_j.
 * Columns stand by falling lengths, so that loops over their entries are as long as the one before.
 * Rows are numbered anew, so that those which share a rare column (the level of a category, say)
 * are neighbours: a step on such a column then touches one place of the residual, and the next
 * step that beside it. */
#include "columns.h"
#include "math/dense/dense.h"

#include <string.h>

/* Where the level and the sum of w e stand in a residual. */
static double *level_of(const cri_columns *X, double *r) { return r + X->n; }
static double  sum_of(const cri_columns *X, const double *r) { return r[X->n + 1]; }

/* sum of value r over entries, in two chains so that one need not wait for the other. */
static inline __attribute__((always_inline)) double gather(const uint32_t *row, const double *value,
                                                           size_t n, const double *r)
{
    double a = 0, b = 0;
    size_t e = 0;
    for (; e + 1 < n; e += 2) {
        a += value[e] * r[row[e]];
        b += value[e + 1] * r[row[e + 1]];
    }
    if (e < n) a += value[e] * r[row[e]];
    return a + b;
}

static double gather_weighted(const uint32_t *row, const double *value, size_t n, const double *r,
                              const double *w)
{
    double sum = 0;
    for (size_t e = 0; e < n; e++) sum += value[e] * w[row[e]] * r[row[e]];
    return sum;
}

/* The same where every row has an entry, so that they stand in a line. */
static double dot_full(const cri_columns *X, const double *value, const double *r)
{
    double sum = 0;
    if (!X->w) return cr_dot(value, r, X->n);
    for (size_t i = 0; i < X->n; i++) sum += value[i] * X->w[i] * r[i];
    return sum;
}

static double sparse_dot(const cri_columns *X, size_t j, const double *r)
{
    const cri_sparse *columns = &X->entries.view;
    size_t            end, begin = cri_sparse_row(columns, j, &end), n = end - begin;
    const uint32_t   *row = columns->column + begin;
    const double     *value = columns->value + begin;
    double            sum = n == X->n ? dot_full(X, value, r)
                            : X->w    ? gather_weighted(row, value, n, r, X->w)
                                      : gather(row, value, n, r);
    return (sum - X->centre[j] * sum_of(X, r)) * X->per_scale[j];
}

/* e += step x, of n entries. */
static inline void add_entries(const cri_columns *X, const uint32_t *row, const double *value,
                               size_t n, double step, double *r)
{
    if (n == X->n)
        for (size_t i = 0; i < n; i++) r[i] += step * value[i];
    else
        for (size_t e = 0; e < n; e++) r[row[e]] += step * value[e];
}

static void sparse_add(const cri_columns *X, size_t j, double a, double *r)
{
    const cri_sparse *columns = &X->entries.view;
    double            step = a * X->per_scale[j];
    size_t            end, begin = cri_sparse_row(columns, j, &end), n = end - begin;
    add_entries(X, columns->column + begin, columns->value + begin, n, step, r);
    *level_of(X, r) -= step * X->centre[j];
    r[X->n + 1] += step * X->weight * X->mean[j];
}

/* Without weights.  A step waits for the one before by nothing but the sum of e, S: with the signs
 * that b will have it is a - c S, of which a and c are known beforehand. */
static void sparse_sweep(const cri_columns *X, cri_column_pass *of, double *r)
{
    const cri_sparse *columns = &X->entries.view;
    double            S = sum_of(X, r), level = *level_of(X, r), per_weight = 1 / X->weight;
    for (size_t i = 0; i < of->m; i++) {
        double b = of->b[i];
        if (of->nonzero && b == 0) continue;
        size_t          j = of->order[i], end, begin = cri_sparse_row(columns, j, &end);
        size_t          n = end - begin;
        const uint32_t *row = columns->column + begin;
        const double   *value = columns->value + begin;
        double          per_scale = X->per_scale[j], square = of->square[i];
        double          q = n == X->n ? cr_dot(value, r, n) : gather(row, value, n, r);
        double          curvature = square + of->l2, inverse = 1 / curvature;
        double          per_q = per_scale * per_weight, per_S = X->centre[j] * per_q;
        double          known = q * per_q + square * b, u = known - per_S * S, change = -b;
        if (u > of->l1)
            change = ((known - of->l1) * inverse - b) - per_S * inverse * S;
        else if (u < -of->l1)
            change = ((known + of->l1) * inverse - b) - per_S * inverse * S;
        double violation = change * curvature, size = violation * violation;
        if (size > of->worst * square) of->worst = size / square;
        if (!(size > of->slight * square)) continue;
        double step = -change * per_scale;
        of->b[i] = b + change;
        add_entries(X, row, value, n, step, r);
        level -= step * X->centre[j];
        S -= change * (per_scale * X->weight * X->mean[j]);
    }
    *level_of(X, r) = level;
    r[X->n + 1] = S;
}

static void sparse_start(const cri_columns *X, double *r)
{
    double sum = 0;
    for (size_t i = 0; i < X->n; i++) {
        r[i] = X->t[i];
        sum += (X->w ? X->w[i] : 1) * r[i];
    }
    r[X->n] = 0;
    r[X->n + 1] = sum;
}

static void sparse_copy(const cri_columns *X, size_t j, double *r)
{
    memset(r, 0, X->residual_size * sizeof *r);
    sparse_add(X, j, 1, r);
}

static double sparse_inner(const cri_columns *X, const double *a, const double *r)
{
    double sum = 0;
    for (size_t i = 0; i < X->n; i++)
        sum += (X->w ? X->w[i] : 1) * (a[i] + a[X->n]) * (r[i] + r[X->n]);
    return sum;
}

/* --- setting up ------------------------------------------------------------------------------ */

/* order [n]: the rows by the column with the fewest entries among their own, which is that of the
 * last rank, those without an entry last; rarest [n] and at [p + 2] are workspace.  O(entries + n +
 * p). */
static void order_rows(const cri_sparse *X, const size_t *rank, size_t *order, size_t *rarest,
                       size_t *at)
{
    size_t end, p = X->p;
    for (size_t i = 0; i < X->n; i++) {
        rarest[i] = p;
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++)
            if (rarest[i] == p || rank[X->column[e]] > rarest[i]) rarest[i] = rank[X->column[e]];
    }
    memset(at, 0, (p + 2) * sizeof *at);
    for (size_t i = 0; i < X->n; i++) at[rarest[i] + 1]++;
    for (size_t j = 0; j <= p; j++) at[j + 1] += at[j];
    for (size_t i = 0; i < X->n; i++) order[at[rarest[i]]++] = i;
}

cr_status cri_columns_of_sparse(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                                bool standardise, cri_columns *out)
{
    cr_status        st = CR_OK;
    size_t           n = rows->n, p = rows->p;
    size_t          *order = cr_scratch_index(s, n), *index = cr_scratch_index(s, n);
    size_t          *at = cr_scratch_index(s, (n > p ? n : p) + 2);
    size_t          *rank = cr_scratch_index(s, p);
    double          *per_scale = cr_scratch_f64(s, p), *t = cr_scratch_f64(s, n);
    double          *w = rows->w ? cr_scratch_f64(s, n) : NULL;
    cri_sparse_terms z;
    cri_columns      X = { .n = n,
                           .p = p,
                           .residual_size = n + 2,
                           .t = t,
                           .w = w,
                           .per_scale = per_scale,
                           .dot = sparse_dot,
                           .add = sparse_add,
                           .sweep = w ? NULL : sparse_sweep,
                           .start = sparse_start,
                           .copy = sparse_copy,
                           .inner = sparse_inner };

    CR_TRY(s->status);
    CR_TRY(cri_sparse_terms_new(cx, s, rows, intercept, standardise, &z));
    cri_sparse_rank_columns(rows->sparse, rank, at);
    order_rows(rows->sparse, rank, order, index, at);
    for (size_t i = 0; i < n; i++) {
        size_t from = order[i];
        index[i] = rows->sparse->index ? rows->sparse->index[from] : from;
        t[i] = rows->y[from] - z.offset; /* without sqrt(w) */
        if (w) w[i] = rows->w[from];
    }
    cri_sparse ordered = *rows->sparse;
    ordered.index = index;
    CR_TRY(cri_sparse_transpose_ranked(cx, &ordered, rank, &X.entries));
    for (size_t j = 0; j < p; j++) {
        z.square[j] /= z.weight;
        per_scale[j] = 1 / z.scale[j];
    }
    X.mean = z.mean;
    X.centre = z.centre;
    X.scale = z.scale;
    X.square = z.square;
    X.weight = z.weight;
    X.offset = z.offset;
    X.tt = z.tt;
    *out = X;
done:
    return st;
}

void cri_columns_release(cr_ctx *cx, cri_columns *X)
{
    if (X->entries.start) cri_sparse_free(cx, &X->entries);
}
