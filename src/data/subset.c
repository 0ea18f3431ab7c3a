/* subset.c -- gathering rows into a new table. */
#include "subset.h"
#include "table_internal.h"

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

cr_status cri_table_subset(cr_ctx *cx, const cr_table *table, const size_t *rows, size_t n,
                           cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    CR_TRY(cr_table_new(cx, cr_table_source(table), n, &t));
    CR_TRY(cri_table_set_origin(cx, t, table, rows));
    for (size_t i = 0; i < cr_table_columns(table); i++) {
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
