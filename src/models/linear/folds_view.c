/* folds_view.c -- the folds of rows: they are put in the order of their values, and then dealt by the seed. */
#include "folds_view.h"
#include "base/sort.h"
#include "data/judge/split.h"

#include <math.h>
#include <string.h>

/* --- the order of values --------------------------------------------------------------------- */

typedef struct keyed_row {
    uint64_t key;
    size_t   row;
} keyed_row;

CRI_COMPARE_BY(compare_keys, keyed_row, key);

enum { BITS = 11, BUCKETS = 1 << BITS, PASSES = 6, SMALL = 1000 };

/* Sorts a [n] by key: many rows by radix, from the lowest digit on.  spare [n]. */
static void sort_keys(keyed_row *a, keyed_row *spare, size_t n)
{
    if (n < SMALL) {
        qsort(a, n, sizeof *a, compare_keys);
        return;
    }
    for (unsigned d = 0; d < PASSES; d++) {
        size_t start[BUCKETS + 1] = { 0 };
        for (size_t i = 0; i < n; i++) start[(a[i].key >> (d * BITS) & (BUCKETS - 1)) + 1]++;
        for (size_t k = 0; k < BUCKETS; k++) start[k + 1] += start[k];
        for (size_t i = 0; i < n; i++)
            spare[start[a[i].key >> (d * BITS) & (BUCKETS - 1)]++] = a[i];
        memcpy(a, spare, n * sizeof *a);
    }
}

/* Bits that ascend with the number; -0 as 0. */
static uint64_t ascending(double x)
{
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* One round of splitmix64 (Steele, Lea & Flood 2014). */
static uint64_t mix(uint64_t h, uint64_t bits)
{
    h += bits + 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

/* A hash of the terms that are not 0: the same of rows however they are stored.  x [p] is workspace. */
static uint64_t hash_row(const cri_rows *rows, size_t i, double *x)
{
    const cri_sparse *X = rows->sparse;
    size_t            k = X && X->index ? X->index[i] : i;
    uint64_t          h = 0;
    for (size_t a = X ? X->start[k] : 0; X && a < X->start[k + 1]; a++)
        if (X->value[a] != 0) h = mix(mix(h, X->column[a]), ascending(X->value[a]));
    if (!X) cri_rows_fill(rows, i, i + 1, x, rows->p);
    for (size_t j = 0; !X && j < rows->p; j++)
        if (x[j] != 0) h = mix(mix(h, j), ascending(x[j]));
    return h;
}

/* The rows of positive weight in the order of their targets, and where those tie of their terms: order [n], and
 * group [n] the number of each among the different ones; equal rows share it, as a row of weight 3 is three rows.
 * Returns how many there are.  O(n), and O(p) for each row whose target is not its own. */
static size_t order_rows(cr_scratch *s, const cri_rows *rows, size_t *order, size_t *group)
{
    keyed_row *a = cr_scratch_bytes(s, rows->n, sizeof *a);
    keyed_row *spare = cr_scratch_bytes(s, rows->n, sizeof *spare);
    double    *x = cr_scratch_f64(s, rows->p);
    size_t     n = 0, groups = 0;
    for (size_t i = 0; s->status == CR_OK && i < rows->n; i++)
        if (!rows->w || rows->w[i] > 0) a[n++] = (keyed_row){ ascending(rows->y[i]), i };
    if (n > 0) sort_keys(a, spare, n);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && a[end].key == a[i].key; end++) {}
        if (end - i > 1) {
            for (size_t k = i; k < end; k++) a[k].key = hash_row(rows, a[k].row, x);
            sort_keys(a + i, spare, end - i);
        }
        for (size_t k = i; k < end; k++) {
            groups += k == i || a[k].key != a[k - 1].key;
            order[k] = a[k].row;
            group[k] = groups - 1;
        }
    }
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
    cr_status st = CR_OK;
    size_t   *order = cr_scratch_index(s, rows->n), *group = cr_scratch_index(s, rows->n),
           *which = cr_scratch_index(s, rows->n), n;
    cri_folds_view v = { 0 };
    cr_folds       split = { 0 };

    CR_TRY(s->status);
    n = order_rows(s, rows, order, group);
    CR_TRY(s->status);
    size_t groups = n > 0 ? group[n - 1] + 1 : 0;
    v.folds = groups < 2 ? 0 : folds < groups ? folds : groups;
    v.test = cr_scratch_bytes(s, v.folds, sizeof *v.test);
    v.fold = cr_scratch_index(s, rows->n);
    v.train = train ? cr_scratch_bytes(s, v.folds, sizeof *v.train) : NULL;
    CR_TRY(s->status);
    for (size_t i = 0; i < rows->n; i++) v.fold[i] = SIZE_MAX;
    if (v.folds > 0) CR_TRY(cr_folds_new(cx, groups, v.folds, seed, &split));
    for (size_t i = 0; i < n && v.folds > 0; i++) v.fold[order[i]] = split.block[group[i]];
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
