/* info_weights.c -- weights that count rows: each row as often as its weight says. */
#include "info_answer.h"
#include "data/table/subset.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

static const double MOST_ROWS = 1e8;

/* The table without one of its columns; numbers are borrowed. */
static cr_status leave_out(cr_ctx *cx, const cr_table *t, const char *name, cr_table **out)
{
    cr_status st = CR_OK;
    cr_table *less = NULL;
    CR_TRY(cr_table_new(cx, cr_table_source(t), cr_table_rows(t), &less));
    for (size_t k = 0; k < cr_table_columns(t); k++) {
        const cr_column *c = cr_table_column(t, k);
        if (!c) CR_TRY(CR_ENOMEM);
        if (strcmp(c->name, name) == 0) continue;
        CR_TRY(c->type == CR_CATEGORY
                   ? cr_table_add_category(cx, less, c->name, c->codes, c->levels, c->n_levels)
                   : cr_table_borrow_numbers(cx, less, c->name, c->type, c->values, c->stride));
    }
    if (cr_table_columns(less) == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s has no column but the weights '%s'", cr_table_source(t),
                       name));
    *out = less;
    less = NULL;
done:
    cr_table_free(cx, less);
    return st;
}

/* The sum of the weights, which are whole numbers. */
static cr_status count_rows(cr_ctx *cx, const cr_table *t, const cr_column *w, size_t *out)
{
    double sum = 0;
    if (w->type == CR_CATEGORY)
        return cr_fail(cx, CR_EDATA, "%s: the weights '%s' are text", cr_table_source(t), w->name);
    for (size_t i = 0; i < cr_table_rows(t); i++) {
        double x = w->values[i * w->stride];
        if (!(x >= 0) || x != floor(x)) {
            cr_fail(cx, CR_EDATA, "%s: row %zu of the weights '%s' is not a whole number",
                    cr_table_source(t), i + 1, w->name);
            return cr_fail_hint(cx, "--weights of info counts rows that are alike");
        }
        sum += x;
    }
    if (sum == 0)
        return cr_fail(cx, CR_EDATA, "%s: the weights '%s' are all zero", cr_table_source(t),
                       w->name);
    if (!(sum <= MOST_ROWS))
        return cr_fail(cx, CR_EDATA, "%s: the weights '%s' count %g rows, more than %g",
                       cr_table_source(t), w->name, sum, MOST_ROWS);
    *out = (size_t)sum;
    return CR_OK;
}

cr_status cri_info_repeat(cr_ctx *cx, const cr_table *t, const char *weights, cr_table **out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const cr_column *w = cr_table_find(t, weights);
    cr_table        *less = NULL;
    size_t           n = 0, at = 0, *rows;
    if (!w) CR_TRY(cri_table_no_column(cx, t, weights));
    CR_TRY(count_rows(cx, t, w, &n));
    rows = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    for (size_t i = 0; i < cr_table_rows(t); i++)
        for (double left = w->values[i * w->stride]; left > 0; left--) rows[at++] = i;
    CR_TRY(leave_out(cx, t, weights, &less));
    CR_TRY(cri_table_subset(cx, less, rows, n, out));
done:
    cr_table_free(cx, less);
    cr_scratch_end(&s);
    return st;
}
