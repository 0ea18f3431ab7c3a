/* rows_levels.c -- rows of categories with many levels as sparse rows: one entry for the level of a
 * category instead of an indicator for each of its levels. */
#include "design_block.h"
#include "base/scratch.h"

#include <math.h>

bool cri_design_is_indicator(const cr_design *d, size_t k)
{
    const cri_design_term *t = &d->terms[k];
    return t->power == 0 && !t->code && d->columns[t->column].type == CR_CATEGORY &&
           !cri_design_has_basis(d, t->column);
}

bool cri_design_has_many_levels(const cr_design *d)
{
    enum { MANY = 200, SHARE = 20 };
    size_t entries = 0; /* that a row has at the most */
    if (d->block.n > 0 || d->p < MANY || d->missing == CR_MISSING_KEEP) return false;
    for (size_t k = 0; k < d->n_terms; k++)
        entries += !cri_design_is_indicator(d, k) || k == 0 ||
                   d->terms[k].column != d->terms[k - 1].column;
    return entries <= d->p / SHARE;
}

/* Where the terms of the columns are: those of a category by level, the others by their number. */
typedef struct layout {
    const cri_rows *rows;
    size_t          most;   /* entries of a row                                        */
    size_t         *plain;  /* [p] 1 for a term that is no indicator                   */
    size_t         *next;   /* [p] the first term behind k that is of another column    */
    size_t        **levels; /* [n_columns] of each level 1 + its term, 0 for none; or NULL */
} layout;

static cr_status lay_out(cr_scratch *s, const cri_rows *r, layout *out)
{
    const cr_design *d = r->design;
    layout           l = { .rows = r,
                           .plain = cr_scratch_bytes(s, d->n_terms, sizeof *l.plain),
                           .next = cr_scratch_index(s, d->n_terms),
                           .levels = cr_scratch_bytes(s, d->n_columns, sizeof *l.levels) };
    for (size_t k = d->n_terms; s->status == CR_OK && k-- > 0;) {
        bool same = k + 1 < d->n_terms && d->terms[k].column == d->terms[k + 1].column;
        l.next[k] = same ? l.next[k + 1] : k + 1;
    }
    for (size_t k = 0; s->status == CR_OK && k < d->n_terms; k++) {
        size_t c = d->terms[k].column;
        l.plain[k] = !cri_design_is_indicator(d, k);
        l.most += l.plain[k] || !l.levels[c];
        if (l.plain[k]) continue;
        if (!l.levels[c])
            l.levels[c] = cr_scratch_bytes(s, d->columns[c].n_levels, sizeof **l.levels);
        if (s->status == CR_OK) l.levels[c][d->terms[k].level] = k + 1;
    }
    *out = l;
    return s->status;
}

/* 1 + the term of the row's level of a category, 0 where it is the reference. */
static size_t term_of_level(const layout *l, size_t column, size_t i)
{
    const cri_rows  *r = l->rows;
    const cr_column *c = r->columns[column];
    cri_level_map    map = { .recode = r->recode[column], .levels = r->levels[column] };
    size_t           row = r->index ? r->index[i] : i;
    bool             gap = c->type == CR_CATEGORY ? c->codes[row] == CR_MISSING_CODE
                                                  : isnan(c->values[row * c->stride]);
    size_t level = gap ? (size_t)r->design->columns[column].fill : cri_level_in(map, c, row);
    return l->levels[column][level];
}

/* The entries of row i, in order of their terms; how many. */
static size_t put_row(const layout *l, size_t i, uint32_t *column, double *value)
{
    const cr_design *d = l->rows->design;
    size_t           n = 0;
    for (size_t k = 0; k < d->n_terms;) {
        size_t c = d->terms[k].column;
        double x = 1;
        size_t at = k + 1;
        if (l->plain[k]) {
            cri_rows_fill_ordinary(l->rows, k++, true, i, i + 1, &x, 1);
        } else {
            at = term_of_level(l, c, i);
            x = at ? cri_rows_multiplier(l->rows, c, i) : 0;
            k = l->next[k];
        }
        if (at == 0 || x == 0) continue;
        column[n] = (uint32_t)(at - 1);
        value[n++] = x;
    }
    return n;
}

cr_status cri_rows_gather_levels(cr_ctx *cx, cri_rows *r)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    layout           l;
    cri_sparse_copy *c = r->copy = cr_alloc(cx, 1, sizeof *c);

    if (!c) CR_TRY(CR_ENOMEM);
    CR_TRY(lay_out(&s, r, &l));
    c->start = cr_alloc(cx, r->n + 1, sizeof *c->start);
    if (!c->start) CR_TRY(CR_ENOMEM);
    c->rows = r->n;
    c->column = cr_resize(cx, NULL, 0, r->n * l.most, sizeof *c->column);
    if (!c->column) CR_TRY(CR_ENOMEM);
    c->entries = r->n * l.most;
    c->value = cr_resize(cx, NULL, 0, c->entries, sizeof *c->value);
    if (!c->value) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < r->n; i++) {
        size_t at = c->start[i];
        c->start[i + 1] = at + put_row(&l, i, c->column + at, c->value + at);
    }
    CR_TRY(cri_rows_view_sparse(cx, r));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rows_open_entries(cr_ctx *cx, const cri_rows *rows, cri_rows *out_view)
{
    cri_rows view = *rows;
    view.copy = NULL;
    view.base = NULL;
    cr_status st = cri_rows_gather_levels(cx, &view);
    if (st == CR_OK)
        *out_view = view;
    else
        cri_rows_close_entries(cx, &view);
    return st;
}

void cri_rows_close_entries(cr_ctx *cx, cri_rows *view)
{
    if (view->copy) cri_sparse_free(cx, view->copy);
    cr_free(cx, view->copy, 1, sizeof *view->copy);
    cr_free(cx, view->base, view->p, sizeof *view->base);
    *view = (cri_rows){ 0 };
}
