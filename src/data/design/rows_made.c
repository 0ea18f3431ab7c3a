/* rows_made.c -- the columns of a table that a design reads and those it makes, for all its rows.
 * Gaps are filled before anything is made of them, where the design says so; else what is made of a
 * gap is a gap. */
#include "made.h"
#include "data/table/date.h"
#include "data/table/table_internal.h"
#include "base/parallel.h"

#include <math.h>

enum { MAKE_ROWS = 4096 };

/* --- one column ------------------------------------------------------------------------------ */

typedef struct work {
    const cri_rows          *rows;
    const cri_design_column *column;
    size_t                   n;
    double                  *values; /* [n] of numbers           */
    uint32_t                *codes;  /* [n] of a category        */
} work;

/* A function of the calendar; codes of its levels, or numbers. */
static void make_calendar(const work *w, size_t begin, size_t end)
{
    enum { BLOCK = 256 };
    const cri_made          *m = &w->column->made;
    const cri_design_column *date = &w->rows->design->columns[m->factors[0].column];
    double                   x[BLOCK];
    for (size_t from = begin; from < end; from += BLOCK) {
        size_t to = end - from > BLOCK ? from + BLOCK : end;
        cri_rows_fill_values(w->rows, &m->factors[0], 0, 1, from, to, x, 1);
        for (size_t i = from; i < to; i++) {
            double value = cri_calendar_value(m->step.function, date, x[i - from]);
            if (w->values)
                w->values[i] = value;
            else
                w->codes[i] = isnan(value) ? CR_MISSING_CODE : (uint32_t)value;
        }
    }
}

static void make_function(const work *w, size_t begin, size_t end)
{
    const cri_made *m = &w->column->made;
    if (cri_function_of_dates(m->step.function)) {
        make_calendar(w, begin, end);
        return;
    }
    cri_rows_fill_values(w->rows, &m->factors[0], 0, 1, begin, end, w->values + begin, 1);
    for (size_t i = begin; i < end; i++) w->values[i] = cri_function_value(m->step, w->values[i]);
}

static void make_product(const work *w, size_t begin, size_t end)
{
    enum { BLOCK = 256 };
    const cri_made *m = &w->column->made;
    double          x[BLOCK];
    cri_rows_fill_values(w->rows, &m->factors[0], 0, 1, begin, end, w->values + begin, 1);
    for (size_t c = 1; c < m->n; c++)
        for (size_t from = begin; from < end; from += BLOCK) {
            size_t to = end - from > BLOCK ? from + BLOCK : end;
            cri_rows_fill_values(w->rows, &m->factors[c], 0, 1, from, to, x, 1);
            for (size_t i = from; i < to; i++) w->values[i] *= x[i - from];
        }
}

static void make_cross(const work *w, size_t begin, size_t end)
{
    enum { BLOCK = 256 };
    const cri_made *m = &w->column->made;
    double          x[BLOCK];
    for (size_t i = begin; i < end; i++) w->codes[i] = 0;
    for (size_t c = 0; c < m->n; c++) {
        cri_design_term term = { .column = m->factors[c].column, .code = true };
        uint32_t        levels = (uint32_t)w->rows->design->columns[term.column].n_levels;
        for (size_t from = begin; from < end; from += BLOCK) {
            size_t to = end - from > BLOCK ? from + BLOCK : end;
            cri_rows_fill_values(w->rows, &term, 0, 1, from, to, x, 1);
            for (size_t i = from; i < to; i++) {
                bool gap = isnan(x[i - from]) || w->codes[i] == CR_MISSING_CODE;
                w->codes[i] = gap ? CR_MISSING_CODE : w->codes[i] * levels + (uint32_t)x[i - from];
            }
        }
    }
}

static void make_block(void *arg, size_t b)
{
    const work *w = arg;
    cri_range   range = cri_block_range(w->n, MAKE_ROWS, b);
    if (w->column->made.kind == CRI_MADE_CROSS)
        make_cross(w, range.begin, range.end);
    else if (w->column->made.kind == CRI_MADE_PRODUCT)
        make_product(w, range.begin, range.end);
    else
        make_function(w, range.begin, range.end);
}

/* --- what cannot be -------------------------------------------------------------------------- */

/* What factor c of a made number has in a row. */
static double factor_at(const work *w, size_t c, size_t row)
{
    double x;
    cri_rows_fill_values(w->rows, &w->column->made.factors[c], 0, 1, row, row + 1, &x, 1);
    return x;
}

static bool is_gap(const work *w, size_t row)
{
    bool gap = false;
    for (size_t c = 0; c < w->column->made.n; c++) gap |= isnan(factor_at(w, c, row));
    return gap;
}

static cr_status refuse_value(cr_ctx *cx, const work *w, size_t row)
{
    const cri_design_column *c = w->column;
    const char              *inner = w->rows->design->columns[c->made.factors[0].column].name;
    cri_function             f = c->made.step.function;
    double                   x = factor_at(w, 0, row);
    char                     where[512];
    cri_table_where(w->rows->table, row, where, sizeof where);
    if (c->made.kind != CRI_MADE_FUNCTION)
        return cr_fail(cx, CR_EDATA, "%s: the product '%s' overflows", where, c->name);
    if (isinf(w->values[row]))
        return cr_fail(cx, CR_EDATA, "%s: '%s' is %g, and %s overflows", where, inner, x, c->name);
    cr_fail(cx, CR_EDATA, "%s: '%s' is %g, which has no %s", where, inner, x,
            f == CRI_FUNCTION_INVERSE ? "inverse"
            : f == CRI_FUNCTION_SQRT  ? "real square root"
                                      : "logarithm");
    if (f == CRI_FUNCTION_INVERSE || f == CRI_FUNCTION_SQRT || x <= -1)
        return cr_fail_hint(cx, "use another function of '%s' in --terms, or leave such rows out",
                            inner);
    if (f == CRI_FUNCTION_LOG1P) return CR_EDATA;
    return cr_fail_hint(cx, "log1p(%s) in --terms is the logarithm of 1 + %s, which takes 0", inner,
                        inner);
}

/* The first row that has no finite value though none of its parts is missing. */
static cr_status check_values(cr_ctx *cx, const work *w, size_t *out_missing)
{
    size_t missing = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (isfinite(w->values[i])) continue;
        if (!is_gap(w, i)) return refuse_value(cx, w, i);
        missing++;
    }
    *out_missing = missing;
    return CR_OK;
}

/* Makes column i for all rows of the table. */
static cr_status make_column(cr_ctx *cx, cri_rows *r, size_t i)
{
    const cri_design_column *c = &r->design->columns[i];
    cr_column               *out = &r->made[i];
    size_t                   n = cr_table_rows(r->table);
    work                     w = { r, c, n, NULL, NULL };
    if (c->type == CR_CATEGORY)
        w.codes = r->levels[i] = cr_resize(cx, NULL, 0, n, sizeof *w.codes);
    else
        w.values = r->numbers[i] = cr_resize(cx, NULL, 0, n, sizeof *w.values);
    if (!w.codes && !w.values) return CR_ENOMEM;
    *out = (cr_column){ .name = c->name,
                        .type = c->type,
                        .values = w.values,
                        .stride = 1,
                        .codes = w.codes,
                        .levels = (const char *const *)c->levels,
                        .n_levels = c->n_levels };
    r->columns[i] = out;
    cr_status st = cri_parallel_for(cx, NULL, cri_block_count(n, MAKE_ROWS), make_block, &w);
    if (st != CR_OK) return st;
    if (w.values) return check_values(cx, &w, &out->missing);
    for (size_t k = 0; k < n; k++) out->missing += w.codes[k] == CR_MISSING_CODE;
    return CR_OK;
}

/* --- all columns ----------------------------------------------------------------------------- */

/* Dates as days since the first that the design has seen. */
static cr_status count_days(cr_ctx *cx, cri_rows *r, size_t i)
{
    const cri_design_column *d = &r->design->columns[i];
    const cr_column         *c = r->columns[i];
    size_t                   rows = cr_table_rows(r->table);
    double                   unit = cri_date_unit(d->type), factor = cri_date_unit(c->type) / unit;
    double                  *days = r->numbers[i] = cr_resize(cx, NULL, 0, rows, sizeof *days);
    if (!days) return CR_ENOMEM;
    for (size_t k = 0; k < rows; k++)
        days[k] = (c->values[k * c->stride] * factor - d->origin) * unit;
    r->made[i] = *c;
    r->made[i].values = days;
    r->made[i].stride = 1;
    r->columns[i] = &r->made[i];
    return CR_OK;
}

static cr_status match_column(cr_ctx *cx, cri_rows *r, size_t i)
{
    cri_level_map map = { 0 };
    cr_status     st = cri_match_column(cx, r->table, &r->design->columns[i], &r->columns[i], &map);
    r->recode[i] = map.recode, r->levels[i] = map.levels, r->unseen[i] = map.unseen;
    if (st == CR_OK) st = cri_column_check_finite(cx, r->table, r->columns[i]);
    return st == CR_OK && cri_is_date(r->columns[i]->type) ? count_days(cx, r, i) : st;
}

static bool are_allotted(const cri_rows *r)
{
    return r->columns && r->recode && r->levels && r->unseen && r->made && r->numbers;
}

cr_status cri_rows_open_columns(cr_ctx *cx, cri_rows *r)
{
    cr_status        st = CR_OK;
    const cr_design *d = r->design;
    r->columns = cr_alloc(cx, d->n_columns, sizeof *r->columns);
    r->recode = cr_alloc(cx, d->n_columns, sizeof *r->recode);
    r->levels = cr_alloc(cx, d->n_columns, sizeof *r->levels);
    r->unseen = cr_alloc(cx, d->n_columns, sizeof *r->unseen);
    r->made = cr_alloc(cx, d->n_columns, sizeof *r->made);
    r->numbers = cr_alloc(cx, d->n_columns, sizeof *r->numbers);
    if (!are_allotted(r)) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < d->n_columns; i++)
        CR_TRY(i < d->n_read ? match_column(cx, r, i) : make_column(cx, r, i));
done:
    return st;
}

void cri_rows_close_columns(cr_ctx *cx, cri_rows *r)
{
    size_t rows = cr_table_rows(r->table), n = r->design->n_columns;
    for (size_t i = 0; are_allotted(r) && i < n; i++) {
        cri_level_map_free(cx, r->table, r->columns[i],
                           (cri_level_map){ r->recode[i], r->levels[i], r->unseen[i] });
        cr_free(cx, r->numbers[i], rows, sizeof **r->numbers);
    }
    cr_free(cx, r->columns, n, sizeof *r->columns);
    cr_free(cx, r->recode, n, sizeof *r->recode);
    cr_free(cx, r->levels, n, sizeof *r->levels);
    cr_free(cx, r->unseen, n, sizeof *r->unseen);
    cr_free(cx, r->made, n, sizeof *r->made);
    cr_free(cx, r->numbers, n, sizeof *r->numbers);
}
