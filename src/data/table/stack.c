/* stack.c -- the rows of several tables in one. */
#include "stack.h"
#include "table_private.h"

#include <string.h>

typedef struct pile {
    cr_table *const *parts;
    size_t           n, rows;
} pile;

static cr_status stack_numbers(cr_ctx *cx, const pile *p, size_t column, cr_table *to)
{
    const cr_column *like = cr_table_column(p->parts[0], column);
    size_t           end = 0;
    double          *values = cr_resize(cx, NULL, 0, p->rows, sizeof *values);
    if (!values) return CR_ENOMEM;
    for (size_t k = 0; k < p->n; k++) {
        const cr_column *c = cr_table_column(p->parts[k], column);
        for (size_t i = 0; i < cr_table_rows(p->parts[k]); i++)
            values[end++] = c->values[i * c->stride];
    }
    return cri_table_own_numbers(cx, to, like->name, like->type, values);
}

static cr_status stack_codes(cr_ctx *cx, const pile *p, size_t column, cr_table *to)
{
    size_t    end = 0;
    uint32_t *codes = cr_resize(cx, NULL, 0, p->rows, sizeof *codes);
    if (!codes) return CR_ENOMEM;
    for (size_t k = 0; k < p->n; k++) {
        size_t rows = cr_table_rows(p->parts[k]);
        memcpy(codes + end, cr_table_column(p->parts[k], column)->codes, rows * sizeof *codes);
        end += rows;
    }
    return cri_table_own_codes(cx, to, cr_table_column(p->parts[0], column), codes);
}

/* Every column is there: one of a sparse block may lack the memory to be spread out. */
static bool have_column(const pile *p, size_t column)
{
    for (size_t k = 0; k < p->n; k++)
        if (!cr_table_column(p->parts[k], column)) return false;
    return true;
}

/* Where the first row stood: the others follow it. */
static void set_place(const cr_table *first, cr_table *to)
{
    size_t row = first->origin ? first->origin[0] : 0;
    if (first->first_line) cri_table_set_first_line(to, first->first_line + row);
    cri_table_set_first_row(to, first->first_row + row);
}

cr_status cri_table_stack(cr_ctx *cx, cr_table *const *parts, size_t n, cr_table **out_table)
{
    cr_status st = CR_OK;
    pile      p = { parts, n, 0 };
    cr_table *t = NULL;
    for (size_t k = 0; k < n; k++) p.rows += cr_table_rows(parts[k]);
    CR_TRY(cr_table_new(cx, cr_table_source(parts[0]), p.rows, &t));
    for (size_t i = 0; i < cr_table_columns(parts[0]); i++) {
        if (!have_column(&p, i)) CR_TRY(CR_ENOMEM);
        CR_TRY(cr_table_column(parts[0], i)->type == CR_CATEGORY ? stack_codes(cx, &p, i, t)
                                                                 : stack_numbers(cx, &p, i, t));
    }
    set_place(parts[0], t);
    CR_TRY(cri_table_set_leaves(cx, t, &(size_t){ 0 }, p.rows > 0));
    if (cri_table_reading(parts[0]))
        CR_TRY(cri_table_set_reading(cx, t, cri_table_reading(parts[0])));
    *out_table = t;
    t = NULL;
done:
    cr_table_free(cx, t);
    return st;
}
