/* folds_view.c -- the folds of rows. */
#include "folds_view.h"
#include "data/judge/split.h"

#include <math.h>

cr_status cri_folds_of_rows(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, size_t folds,
                            uint64_t seed, bool train, cri_folds_view *out)
{
    cr_status st = CR_OK;
    size_t   *kept = cr_scratch_index(s, rows->n), *which = cr_scratch_index(s, rows->n), n = 0;
    cri_folds_view v = { 0 };
    cr_folds       split = { 0 };

    CR_TRY(s->status);
    for (size_t i = 0; i < rows->n; i++)
        if (!rows->w || rows->w[i] > 0) kept[n++] = i;
    v.folds = n < 2 ? 0 : folds < n ? folds : n;
    v.test = cr_scratch_bytes(s, v.folds, sizeof *v.test);
    v.fold = cr_scratch_index(s, rows->n);
    v.train = train ? cr_scratch_bytes(s, v.folds, sizeof *v.train) : NULL;
    CR_TRY(s->status);
    for (size_t i = 0; i < rows->n; i++) v.fold[i] = SIZE_MAX;
    if (v.folds > 0) CR_TRY(cr_folds_new(cx, n, v.folds, seed, &split));
    for (size_t f = 0; f < v.folds; f++) {
        size_t m = cr_folds_test(&split, f, which);
        for (size_t i = 0; i < m; i++) v.fold[which[i] = kept[which[i]]] = f;
        v.test[f] = cri_rows_pick(s, rows, which, m);
        m = train ? cr_folds_train(&split, f, which) : 0;
        for (size_t i = 0; i < m; i++) which[i] = kept[which[i]];
        if (train) v.train[f] = cri_rows_pick(s, rows, which, m);
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
