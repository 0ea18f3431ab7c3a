/* leaves.c -- where the leaves of a table begin. */
#include "table_private.h"
#include "base/context_internal.h"

size_t cri_leaf_rows(size_t bytes, size_t columns)
{
    size_t most = bytes / sizeof(double) / (columns ? columns : 1), rows = 1;
    while (rows <= most / 2) rows *= 2;
    return rows;
}

static cri_leaves *new_leaves(cr_ctx *cx, size_t n)
{
    cri_leaves *l = cri_resize_quietly(cx, NULL, 0, n + 1, sizeof l->start[0]);
    if (l) l->n = n;
    return l;
}

static void free_leaves(cr_ctx *cx, cri_leaves *l)
{
    if (l) cr_free(cx, l, l->n + 1, sizeof l->start[0]);
}

void cri_table_free_leaves(cr_ctx *cx, cr_table *t)
{
    free_leaves(cx, atomic_exchange(&t->leaves, NULL));
}

/* How many rows a leaf of a table in memory has.  A sparse row counts as many columns as rows have
 * entries on the average. */
static size_t rows_of_leaf(const cr_table *t)
{
    const cr_csr *X = cr_table_csr(t);
    size_t        columns = t->n;
    if (X && X->rows) columns += (X->row_start[X->rows] + X->rows - 1) / X->rows;
    return cri_leaf_rows(cri_leaf_bytes(t->cx), columns);
}

static cri_leaves *make_leaves(const cr_table *t, size_t rows)
{
    cri_leaves *l = new_leaves(t->cx, t->rows / rows + (t->rows % rows > 0));
    for (size_t k = 0; l && k < l->n; k++) l->start[k] = k * rows;
    return l;
}

const size_t *cri_table_leaves(const cr_table *t, size_t *out_n)
{
    static const size_t whole = 0;
    cri_leaves         *there = atomic_load(&t->self->leaves);
    if (!there) {
        size_t rows = rows_of_leaf(t);
        if (t->rows > 0 && t->rows <= rows)
            return *out_n = 1, &whole; /* small tables need no memory */
        cri_leaves *made = make_leaves(t, rows);
        if (!made)
            ;
        else if (atomic_compare_exchange_strong(&t->self->leaves, &there, made))
            there = made;
        else
            free_leaves(t->cx, made);
    }
    *out_n = there ? there->n : 0;
    return there ? there->start : NULL;
}

cr_status cri_table_set_leaves(cr_ctx *cx, cr_table *t, const size_t *starts, size_t n)
{
    bool fits = n > 0 ? starts[0] == 0 && starts[n - 1] < t->rows : t->rows == 0;
    for (size_t k = 1; fits && k < n; k++) fits = starts[k - 1] < starts[k];
    if (!fits)
        return cr_fail(cx, CR_EARG, "%s: leaves must begin at increasing rows, the first at 0",
                       t->source);
    cri_leaves *l = new_leaves(cx, n);
    if (!l) return cri_fail_memory(cx, (n + 1) * sizeof *starts);
    for (size_t k = 0; k < n; k++) l->start[k] = starts[k];
    free_leaves(cx, atomic_exchange(&t->leaves, l));
    return CR_OK;
}

/* How many of the n leaves begin at or before `row`, of which the first `k` do. */
static size_t leaves_up_to(const size_t *starts, size_t n, size_t k, size_t row)
{
    for (size_t end = n; k < end;) {
        size_t middle = k + (end - k) / 2;
        if (starts[middle] <= row)
            k = middle + 1;
        else
            end = middle;
    }
    return k;
}

cr_status cri_table_take_leaves(cr_ctx *cx, cr_table *t, const cr_table *from, const size_t *rows)
{
    size_t        n, kept = 0, begun = 0; /* the last leaf begun, counted from 1 */
    const size_t *starts = cri_table_leaves(from, &n);
    cri_leaves   *l = starts ? new_leaves(cx, n) : NULL;
    if (!l) return cri_fail_memory(cx, sizeof *starts);
    for (size_t i = 0; i < t->rows; i++) {
        if (begun == n || (begun > 0 && rows[i] < starts[begun])) continue;
        begun = leaves_up_to(starts, n, begun, rows[i]);
        l->start[kept++] = i;
    }
    cr_status st = cri_table_set_leaves(cx, t, l->start, kept);
    free_leaves(cx, l);
    return st;
}
