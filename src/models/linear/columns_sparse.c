/* columns_sparse.c -- sparse standardised columns for coordinate descent.
 * A residual is kept as r_i = sqrt(w_i) (e_i + level): n numbers e, then the level that all rows
 * share, then sum w e.  With q = sum w x_j e over the entries of column j,
 *   z_j . r = (q + level n mean_j - centre_j (sum w e + n level)) / scale_j,   n = sum w,
 *   r += a z_j:  e_i += a x_ij / scale_j at the entries,  level -= a centre_j / scale_j. */
#include "columns.h"

#include <math.h>
#include <string.h>

/* Where the level and the sum of w e stand in a residual. */
static double *level_of(const cri_columns *X, double *r) { return r + X->n; }
static double  sum_of(const cri_columns *X, const double *r) { return r[X->n + 1]; }

/* sum of value r over entries, in two chains so that one need not wait for the other. */
static double gather(const uint32_t *row, const double *value, size_t n, const double *r)
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

static double sparse_dot(const cri_columns *X, size_t j, const double *r)
{
    const cri_sparse *columns = &X->entries.view;
    size_t            begin = columns->start[j], n = columns->start[j + 1] - begin;
    const uint32_t   *row = columns->column + begin;
    const double     *value = columns->value + begin;
    double sum = X->w ? gather_weighted(row, value, n, r, X->w) : gather(row, value, n, r);
    double level = r[X->n];
    sum += level * X->weight * X->mean[j];
    return (sum - X->centre[j] * (sum_of(X, r) + X->weight * level)) / X->scale[j];
}

static void sparse_add(const cri_columns *X, size_t j, double a, double *r)
{
    const cri_sparse *columns = &X->entries.view;
    double            step = a / X->scale[j];
    for (size_t e = columns->start[j]; e < columns->start[j + 1]; e++)
        r[columns->column[e]] += step * columns->value[e];
    *level_of(X, r) -= step * X->centre[j];
    r[X->n + 1] += step * X->weight * X->mean[j];
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
    memset(r, 0, X->room * sizeof *r);
    sparse_add(X, j, 1, r);
}

static double sparse_norm2(const cri_columns *X, const double *r)
{
    double sum = 0;
    for (size_t i = 0; i < X->n; i++) {
        double e = r[i] + r[X->n];
        sum += (X->w ? X->w[i] : 1) * e * e;
    }
    return sum;
}

cr_status cri_columns_of_sparse(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                                bool standardise, cri_columns *out)
{
    cr_status        st = CR_OK;
    cri_sparse_terms z;
    cri_columns      X = { .n = rows->n,
                           .p = rows->p,
                           .room = rows->n + 2,
                           .w = rows->w,
                           .dot = sparse_dot,
                           .add = sparse_add,
                           .start = sparse_start,
                           .copy = sparse_copy,
                           .norm2 = sparse_norm2 };

    CR_TRY(cri_sparse_terms_new(cx, s, rows, intercept, standardise, &z));
    for (size_t i = 0; i < z.n; i++) z.t[i] = rows->y[i] - z.offset; /* without sqrt(w) */
    for (size_t j = 0; j < z.p; j++) z.square[j] /= z.weight;
    X.t = z.t;
    X.mean = z.mean;
    X.centre = z.centre;
    X.scale = z.scale;
    X.square = z.square;
    X.weight = z.weight;
    X.offset = z.offset;
    X.tt = z.tt;
    CR_TRY(cri_sparse_transpose(cx, rows->sparse, &X.entries));
    *out = X;
done:
    return st;
}

void cri_columns_release(cr_ctx *cx, cri_columns *X)
{
    if (X->entries.start) cri_sparse_free(cx, &X->entries);
}
