/* folds_view.c -- the folds of rows: they are put in the order of their values, and then dealt by the seed. */
#include "folds_view.h"
#include "base/sort.h"
#include "data/judge/split.h"

#include <math.h>
#include <string.h>

/* --- the order of values --------------------------------------------------------------------- */

enum { FIRST = 4 }; /* terms that tell rows of one target apart, before all of them are hashed */

/* A row by what does not depend on where it stands, nor, but for the hash, on the units of the columns. */
typedef struct valued_row {
    double   y, x[FIRST], w;
    uint64_t hash;
    size_t   row;
} valued_row;

CRI_COMPARE_BY(compare_targets, valued_row, y);

static int compare_values(const void *a, const void *b)
{
    const valued_row *v = a, *u = b;
    for (size_t j = 0; j < FIRST; j++)
        if (v->x[j] != u->x[j]) return v->x[j] < u->x[j] ? -1 : 1;
    if (v->hash != u->hash) return v->hash < u->hash ? -1 : 1;
    return (v->w > u->w) - (v->w < u->w);
}

/* FNV-1a of a number's bits, a word at a time. */
static uint64_t hash_number(uint64_t h, double x)
{
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    h = (h ^ bits) * 0x100000001b3u;
    return h ^ h >> 29;
}

/* Of sparse rows what is there: O(entries).  x [p] is workspace. */
static void look_at_row(const cri_rows *rows, double *x, valued_row *v)
{
    const cri_sparse *X = rows->sparse;
    size_t            k = X && X->index ? X->index[v->row] : v->row;
    for (size_t a = X ? X->start[k] : 0; X && a < X->start[k + 1]; a++)
        v->hash = hash_number(hash_number(v->hash, X->column[a]), X->value[a]);
    if (X) return;
    cri_rows_fill(rows, v->row, v->row + 1, x, rows->p);
    for (size_t j = 0; j < rows->p; j++) v->hash = hash_number(v->hash, x[j]);
    for (size_t j = 0; j < rows->p && j < FIRST; j++) v->x[j] = x[j];
}

/* order [n] = the rows of positive weight, by target and where that ties by the terms; returns how many.
 * O(n log n), and O(p) for each row whose target is not its own. */
static size_t order_rows(cr_scratch *s, const cri_rows *rows, size_t *order)
{
    valued_row *v = cr_scratch_bytes(s, rows->n, sizeof *v);
    double     *x = cr_scratch_f64(s, rows->p);
    size_t      n = 0;
    for (size_t i = 0; s->status == CR_OK && i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        if (w > 0) v[n++] = (valued_row){ .y = rows->y[i], .w = w, .row = i };
    }
    if (n > 0) qsort(v, n, sizeof *v, compare_targets);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && v[end].y == v[i].y; end++) {}
        for (size_t k = i; end - i > 1 && k < end; k++) look_at_row(rows, x, &v[k]);
        if (end - i > 1) qsort(v + i, end - i, sizeof *v, compare_values);
    }
    for (size_t i = 0; i < n; i++) order[i] = v[i].row;
    return n;
}

/* --- views ----------------------------------------------------------------------------------- */

/* The rows that fold f tests on, or trains on, in rising order; returns how many. */
static size_t list_rows(const cri_folds_view *v, size_t n, size_t f, bool test, size_t *which)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (v->fold[i] != SIZE_MAX && (v->fold[i] == f) == test) which[m++] = i;
    return m;
}

cr_status cri_folds_of_rows(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, size_t folds,
                            uint64_t seed, bool train, cri_folds_view *out)
{
    cr_status      st = CR_OK;
    size_t        *order = cr_scratch_index(s, rows->n), *which = cr_scratch_index(s, rows->n), n;
    cri_folds_view v = { 0 };
    cr_folds       split = { 0 };

    CR_TRY(s->status);
    n = order_rows(s, rows, order);
    v.folds = n < 2 ? 0 : folds < n ? folds : n;
    v.test = cr_scratch_bytes(s, v.folds, sizeof *v.test);
    v.fold = cr_scratch_index(s, rows->n);
    v.train = train ? cr_scratch_bytes(s, v.folds, sizeof *v.train) : NULL;
    CR_TRY(s->status);
    for (size_t i = 0; i < rows->n; i++) v.fold[i] = SIZE_MAX;
    if (v.folds > 0) CR_TRY(cr_folds_new(cx, n, v.folds, seed, &split));
    for (size_t i = 0; i < n && v.folds > 0; i++) v.fold[order[i]] = split.block[i];
    for (size_t f = 0; f < v.folds; f++) {
        v.test[f] = cri_rows_pick(s, rows, which, list_rows(&v, rows->n, f, true, which));
        if (train)
            v.train[f] = cri_rows_pick(s, rows, which, list_rows(&v, rows->n, f, false, which));
    }
    CR_TRY(s->status);
    *out = v;
done:
    cr_folds_free(cx, &split);
    return st;
}

cr_status cri_folds_moments(cr_ctx *cx, const cri_folds_view *view, cri_moments *out)
{
    cr_status st = CR_OK;
    for (size_t f = 0; f < view->folds && st == CR_OK; f++)
        st = cri_moments_of_rows(cx, &view->test[f], &out[f]);
    return st;
}

cr_status cri_folds_moments_without(cr_ctx *cx, const cri_moments *m, size_t folds, size_t without,
                                    cri_moments *out)
{
    cri_moments sum;
    cr_status   st = cri_moments_new(cx, m[0].p, &sum);
    if (st != CR_OK) return st;
    for (size_t f = 0; f < folds; f++)
        if (f != without) cri_moments_merge(&sum, &m[f]);
    *out = sum;
    return CR_OK;
}

double cri_moments_mse(const cri_moments *m, double b0, const size_t *terms, const double *b,
                       size_t k)
{
    size_t p = m->p, q = p + 1;
    double shift = m->mean[p] - b0, square = m->S[p * q + p];
    for (size_t a = 0; a < k; a++) {
        const double *row = m->S + terms[a] * q;
        double        sum = -2 * row[p];
        for (size_t e = 0; e < k; e++) sum += row[terms[e]] * b[e];
        square += b[a] * sum;
        shift -= b[a] * m->mean[terms[a]];
    }
    return shift * shift + fmax(square, 0) / m->weight;
}
