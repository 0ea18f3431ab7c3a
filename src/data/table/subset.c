/* subset.c -- gathering rows into a new table. */
#include "subset.h"
#include "table_internal.h"
#include "base/scratch.h"

#include <string.h>

static cr_status gather_numbers(cr_ctx *cx, const cr_column *c, const size_t *rows, size_t n,
                                cr_table *to)
{
    double *values = cr_resize(cx, NULL, 0, n, sizeof *values);
    if (!values) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) values[i] = c->values[rows[i] * c->stride];
    return cri_table_own_numbers(cx, to, c->name, c->type, values);
}

static cr_status gather_codes(cr_ctx *cx, const cr_column *c, const size_t *rows, size_t n,
                              cr_table *to)
{
    uint32_t *codes = cr_resize(cx, NULL, 0, n, sizeof *codes);
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) codes[i] = c->codes[rows[i]];
    return cri_table_own_codes(cx, to, c, codes);
}

static cr_status gather_csr(cr_ctx *cx, const cr_table *from, const size_t *rows, size_t n,
                            cr_table *to)
{
    const cr_csr *X = cr_table_csr(from);
    size_t        entries = 0;
    size_t       *start = cr_resize(cx, NULL, 0, n + 1, sizeof *start);
    if (!start) return CR_ENOMEM;
    start[0] = 0;
    for (size_t i = 0; i < n; i++)
        start[i + 1] = entries += X->row_start[rows[i] + 1] - X->row_start[rows[i]];
    uint32_t *column = cr_resize(cx, NULL, 0, entries, sizeof *column);
    double   *value = column ? cr_resize(cx, NULL, 0, entries, sizeof *value) : NULL;
    if (!value) {
        cr_free(cx, column, entries, sizeof *column);
        cr_free(cx, start, n + 1, sizeof *start);
        return CR_ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        size_t begin = X->row_start[rows[i]], length = start[i + 1] - start[i];
        memcpy(column + start[i], X->column + begin, length * sizeof *column);
        memcpy(value + start[i], X->value + begin, length * sizeof *value);
    }
    return cri_table_own_csr(cx, to, cr_table_csr_type(from), X->columns, start, column, value);
}

cr_status cri_table_subset(cr_ctx *cx, const cr_table *table, const size_t *rows, size_t n,
                           cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    CR_TRY(cr_table_new(cx, cr_table_source(table), n, &t));
    CR_TRY(cri_table_set_origin(cx, t, table, rows));
    size_t sparse = cr_table_csr(table) ? cr_table_csr(table)->columns : 0;
    for (size_t i = 0; i < cr_table_columns(table); i++) {
        if (sparse && i == cr_table_csr_first(table)) { /* all of the block at its first column */
            CR_TRY(gather_csr(cx, table, rows, n, t));
            i += sparse - 1;
            continue;
        }
        const cr_column *c = cr_table_column(table, i);
        CR_TRY(c->type == CR_CATEGORY ? gather_codes(cx, c, rows, n, t)
                                      : gather_numbers(cx, c, rows, n, t));
    }
    *out_table = t;
    t = NULL;
done:
    cr_table_free(cx, t);
    return st;
}

cr_status cri_table_rearrange(cr_ctx *cx, const cr_table *table, const char *column,
                              const size_t *rows, cr_table **out_table)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cr_table     *t = NULL;
    const cr_csr *X = cr_table_csr(table);
    size_t        n = cr_table_rows(table), *same = cr_scratch_index(&s, n);
    bool          found = false;
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) same[i] = i;
    CR_TRY(cr_table_new(cx, cr_table_source(table), n, &t));
    CR_TRY(cri_table_set_origin(cx, t, table, same));
    for (size_t i = 0; i < cr_table_columns(table); i++) {
        if (X && i == cr_table_csr_first(table)) {
            CR_TRY(cr_table_borrow_csr(cx, t, cr_table_csr_type(table), *X));
            i += X->columns - 1;
            continue;
        }
        const cr_column *c = cr_table_column(table, i);
        bool this = strcmp(c->name, column) == 0;
        if (c->type == CR_CATEGORY)
            CR_TRY(gather_codes(cx, c, this ? rows : same, n, t));
        else if (this)
            CR_TRY(gather_numbers(cx, c, rows, n, t));
        else
            CR_TRY(cr_table_borrow_numbers(cx, t, c->name, c->type, c->values, c->stride));
        found |= this;
    }
    if (!found)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "%s: the column '%s' is sparse and cannot be rearranged",
                       cr_table_source(table), column));
    *out_table = t;
    t = NULL;
done:
    cr_table_free(cx, t);
    cr_scratch_end(&s);
    return st;
}
