/* rows_slice.c -- some consecutive rows as rows of their own. */
#include "design_internal.h"
#include "base/scratch.h"

/* The numbers begin .. end - 1, or those that stand there. */
static size_t *slice_index(cr_scratch *s, const size_t *index, size_t begin, size_t end)
{
    size_t *out = cr_scratch_index(s, end - begin);
    for (size_t i = begin; out && i < end; i++) out[i - begin] = index ? index[i] : i;
    return out;
}

static const cri_sparse *slice_sparse(cr_scratch *s, const cri_sparse *X, size_t begin, size_t end)
{
    cri_sparse *view = cr_scratch_bytes(s, 1, sizeof *view);
    if (!view) return NULL;
    *view = *X;
    view->n = end - begin;
    view->index = slice_index(s, X->index, begin, end);
    return view;
}

cri_rows cri_rows_slice(cr_scratch *s, const cri_rows *rows, size_t begin, size_t end)
{
    cri_rows part = *rows;
    if (begin == 0 && end == rows->n) return part;
    part.n = end - begin;
    part.sequences = NULL; /* a cut may go through them */
    if (rows->index || begin > 0) part.index = slice_index(s, rows->index, begin, end);
    if (rows->y) part.y += begin;
    if (rows->w) part.w += begin;
    for (size_t k = 0; k < CRI_MOST_ROLES; k++)
        if (rows->roles[k]) part.roles[k] += begin;
    if (rows->matrix) part.matrix += begin * rows->columns[0]->stride;
    if (rows->sparse) part.sparse = slice_sparse(s, rows->sparse, begin, end);
    return s->status == CR_OK ? part : (cri_rows){ 0 };
}
