/* glasso_folds.c -- moments of rows in folds. */
#include "glasso.h"
#include "models/common/rows_view.h"
#include "base/hash.h"
#include "base/scratch.h"

#include <string.h>

CRI_RECORD_TABLE(, cri_folded_record, cri_folded, CRI_FOLDED);

enum { BLOCK = 256 };

static size_t fold_of(const double *x, size_t p, size_t folds)
{
    uint64_t h = 0;
    for (size_t j = 0; j < p; j++) h = cri_hash_double(h, x[j]);
    return (size_t)(h % folds);
}

/* Fold k of the moments, as moments whose arrays are those of the folds. */
static cri_moments fold_at(const cri_folded *f, size_t k)
{
    return (cri_moments){ .rows = (size_t)f->rows[k],
                          .weight = f->weight[k],
                          .p = f->q - 1,
                          .q = f->q,
                          .mean = f->mean + k * f->q,
                          .S = f->S + k * f->qq };
}

static void put_fold(cri_folded *f, size_t k, const cri_moments *m)
{
    f->rows[k] = (double)m->rows, f->weight[k] = m->weight;
    if (m->mean == f->mean + k * f->q) return;
    memcpy(f->mean + k * f->q, m->mean, f->q * sizeof(double));
    memcpy(f->S + k * f->qq, m->S, f->qq * sizeof(double));
}

/* The rows of each fold, one fold after the other, those of fold k from start[k] on. */
static void deal(const cri_rows *rows, size_t folds, double *X, size_t *fold, size_t *start,
                 size_t *order)
{
    memset(start, 0, (folds + 1) * sizeof *start);
    for (size_t b = 0; b < rows->n; b += BLOCK) {
        size_t end = b + BLOCK < rows->n ? b + BLOCK : rows->n;
        cri_rows_fill(rows, b, end, X, rows->p);
        for (size_t i = b; i < end; i++) {
            fold[i] = fold_of(X + (i - b) * rows->p, rows->p, folds);
            start[fold[i] + 1]++;
        }
    }
    for (size_t k = 0; k < folds; k++) start[k + 1] += start[k];
    for (size_t i = 0; i < rows->n; i++) order[start[fold[i]]++] = i;
    for (size_t k = folds; k > 0; k--) start[k] = start[k - 1];
    start[0] = 0;
}

cr_status cri_folded_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                            const void *options, void *sums)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_folded *out = sums;
    cri_moments one = { 0 };
    size_t      folds = ((const cri_folded *)state)->folds;
    double     *X = cr_scratch_matrix(&s, BLOCK, rows->p);
    size_t     *fold = cr_scratch_index(&s, rows->n), *order = cr_scratch_index(&s, rows->n);
    size_t     *start = cr_scratch_index(&s, folds + 1);
    (void)options;

    CR_TRY(s.status);
    out->folds = folds, out->q = rows->p + 1, out->qq = out->q * out->q;
    CR_TRY(cri_record_allocate(cx, cri_folded_record, out));
    if (folds > 1) deal(rows, folds, X, fold, start, order);
    for (size_t k = 0; k < folds; k++) {
        cri_rows some = *rows;
        if (folds > 1) {
            if (start[k] == start[k + 1]) continue;
            some = cri_rows_pick(&s, rows, order + start[k], start[k + 1] - start[k]);
            CR_TRY(s.status);
        }
        CR_TRY(cri_moments_of_rows(cx, &some, &one));
        put_fold(out, k, &one);
        cri_moments_free(cx, &one);
    }
done:
    cri_moments_free(cx, &one);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_folded_merge(cr_ctx *cx, const void *state, void *a, const void *b)
{
    cri_folded       *to = a;
    const cri_folded *from = b;
    (void)cx, (void)state;
    for (size_t k = 0; k < to->folds; k++) {
        cri_moments all = fold_at(to, k), more = fold_at(from, k);
        cri_moments_merge(&all, &more);
        put_fold(to, k, &all);
    }
    return CR_OK;
}

bool cri_folded_fit(const cri_folded *f, size_t p)
{
    return f->q == p + 1 && f->qq == f->q * f->q && f->folds <= CRI_MOST_FOLDS;
}

cr_status cri_folded_moments(cr_ctx *cx, const cri_folded *f, uint32_t which, cri_moments *out)
{
    cr_status st = cri_moments_new(cx, f->q - 1, out);
    for (size_t k = 0; st == CR_OK && k < f->folds; k++) {
        if (!(which >> k & 1)) continue;
        cri_moments more = fold_at(f, k);
        cri_moments_merge(out, &more);
    }
    return st;
}
