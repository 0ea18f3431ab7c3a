/* rows_view.c -- some of the rows, or some of the terms, of rows that are open. */
#include "rows_view.h"

/* The same entries with these rows; NULL without memory. */
static const cri_sparse *pick_sparse(cr_scratch *s, const cri_sparse *X, const size_t *which,
                                     size_t n)
{
    cri_sparse *view = cr_scratch_bytes(s, 1, sizeof *view);
    size_t     *index = cr_scratch_index(s, n);
    if (s->status != CR_OK) return NULL;
    for (size_t i = 0; i < n; i++) index[i] = X->index ? X->index[which[i]] : which[i];
    *view = *X;
    view->n = n;
    view->index = index;
    return view;
}

cri_rows cri_rows_pick(cr_scratch *s, const cri_rows *rows, const size_t *which, size_t n)
{
    cri_rows view = *rows;
    view.n = n;
    view.matrix = NULL;
    view.index = cr_scratch_index(s, n);
    if (rows->y) view.y = cr_scratch_f64(s, n);
    if (rows->w) view.w = cr_scratch_f64(s, n);
    for (size_t k = 0; k < CRI_MOST_ROLES; k++) view.roles[k] = NULL;
    if (rows->sparse) view.sparse = pick_sparse(s, rows->sparse, which, n);
    if (s->status != CR_OK) return (cri_rows){ 0 };
    for (size_t i = 0; i < n; i++) {
        view.index[i] = rows->index ? rows->index[which[i]] : which[i];
        if (rows->y) view.y[i] = rows->y[which[i]];
        if (rows->w) view.w[i] = rows->w[which[i]];
    }
    return view;
}

cr_status cri_rows_check_dense(cr_ctx *cx, const cri_rows *rows, const char *what)
{
    if (!rows->sparse) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED, "%s: %s does not take sparse data", cr_table_source(rows->table),
            what);
    return cr_fail_hint(
        cx, "credence fit lasso selects among sparse columns; credence convert writes them as CSV");
}

/* The entries of these terms alone, numbered anew; NULL without memory. */
static const cri_sparse *pick_entries(cr_scratch *s, const cri_sparse *X, const size_t *which,
                                      size_t k)
{
    cri_sparse *view = cr_scratch_bytes(s, 1, sizeof *view);
    uint32_t   *place = cr_scratch_bytes(s, X->p, sizeof *place); /* 1 + new number; 0 = none */
    size_t     *start = cr_scratch_index(s, X->n + 1), entries = 0, end;
    uint32_t   *column;
    double     *value;

    if (s->status != CR_OK) return NULL;
    for (size_t j = 0; j < k; j++) place[which[j]] = (uint32_t)j + 1;
    for (size_t i = 0; i < X->n; i++) {
        start[i] = entries;
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++)
            entries += place[X->column[e]] != 0;
    }
    start[X->n] = entries;
    column = cr_scratch_bytes(s, entries, sizeof *column);
    value = cr_scratch_f64(s, entries);
    if (s->status != CR_OK) return NULL;
    for (size_t i = 0, at = 0; i < X->n; i++)
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) {
            if (!place[X->column[e]]) continue;
            column[at] = place[X->column[e]] - 1;
            value[at++] = X->value[e];
        }
    *view = *X;
    view->p = k;
    view->start = start;
    view->column = column;
    view->value = value;
    view->index = NULL;
    return view;
}

cri_rows cri_rows_pick_terms(cr_scratch *s, const cri_rows *rows, const size_t *which, size_t k)
{
    cri_rows         view = *rows;
    cr_design       *d = cr_scratch_bytes(s, 1, sizeof *d);
    cri_design_term *terms = cr_scratch_bytes(s, k, sizeof *terms);
    double          *shift = cr_scratch_f64(s, k), *scale = cr_scratch_f64(s, k);

    if (s->status != CR_OK) return (cri_rows){ 0 };
    *d = *rows->design;
    if (rows->sparse) view.sparse = pick_entries(s, rows->sparse, which, k);
    if (s->status != CR_OK) return (cri_rows){ 0 };
    for (size_t j = 0; j < k; j++) {
        if (!rows->sparse) terms[j] = d->terms[which[j]];
        shift[j] = d->shift[which[j]];
        scale[j] = d->scale[which[j]];
    }
    d->terms = terms; /* which sparse rows, by their entries, do not ask for */
    d->block = (cri_design_block){ 0 };
    d->shift = shift;
    d->scale = scale;
    d->n_terms = d->p = view.p = k;
    view.design = d;
    view.matrix = NULL;
    view.base = NULL;
    return view;
}
