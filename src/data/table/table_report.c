/* table_report.c -- what each column of a table holds. */
#include "table_report.h"
#include "date.h"
#include "oddities.h"
#include "summary.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>

const cr_field cri_table_column_fields[] = {
    CR_TEXT("name", 0, "name of the column"),
    CR_TEXT("type", 0, "real, integer, boolean, category, date or datetime"),
    CR_COUNT("missing", 0, "rows without a value"),
    CR_COUNT("levels", CR_FIELD_NULL, "different values of a category; null for numbers"),
    CR_NUMBER("min", CR_FIELD_NULL, "smallest value"),
    CR_NUMBER("mean", CR_FIELD_NULL, "mean of the values"),
    CR_NUMBER("sd", CR_FIELD_NULL, "their standard deviation"),
    CR_NUMBER("max", CR_FIELD_NULL, "largest value"),
    CR_TEXT("frequent", CR_FIELD_NULL, "most frequent level of a category"),
    CR_TEXT("first", CR_FIELD_SOMETIMES, "of dates and times: the first"),
    CR_TEXT("last", CR_FIELD_SOMETIMES, "of dates and times: the last"),
    CR_TEXT("written", CR_FIELD_EITHER,
            "an example of how numbers are written, if not plainly: 5 % = 0.05, 1.234,5"),
    CR_FIELD_LAST,
};

static void put_column(const cr_column *col, cr_summary s, bool written, cri_sheet *columns)
{
    cri_sheet *row = cri_put_object(columns, NULL);
    bool       category = col->type == CR_CATEGORY;
    cri_put_text(row, "name", col->name);
    cri_put_text(row, "type", cr_type_name(col->type));
    cri_put_count(row, "missing", col->missing);
    if (category)
        cri_put_count(row, "levels", col->n_levels);
    else
        cri_put_null(row, "levels");
    bool dates = cri_is_date(col->type);
    cri_put_real(row, "min", dates ? (double)NAN : s.min);
    cri_put_real(row, "mean", dates ? (double)NAN : s.mean);
    cri_put_real(row, "sd", dates ? (double)NAN : s.sd);
    cri_put_real(row, "max", dates ? (double)NAN : s.max);
    cri_put_text(row, "frequent", category && col->n_levels ? col->levels[s.frequent] : NULL);
    bool shown = col->written && col->written[0];
    if (written) cri_put_text(row, "written", shown ? col->written : NULL);
    if (!dates || s.present == 0) return;
    char text[CRI_DATE_SIZE];
    cri_date_print(col->type, s.min, text);
    cri_put_text(row, "first", text);
    cri_date_print(col->type, s.max, text);
    cri_put_text(row, "last", text);
}

/* The sparse block as one row. */
static void put_sparse(const cr_table *t, cr_summary s, cri_sheet *columns)
{
    const cr_csr *X = cr_table_csr(t);
    char          name[64];
    snprintf(name, sizeof name, X->columns > 1 ? "x1..x%zu" : "x%zu", X->columns);
    put_column(&(cr_column){ .name = name,
                             .type = cr_table_csr_type(t),
                             .missing = X->rows * X->columns - s.present },
               s, false, columns);
}

double cri_density(const cr_csr *X)
{
    return (double)X->row_start[X->rows] / ((double)X->rows * (double)X->columns);
}

/* Says what is odd about a column. */
static cr_status check_column(cr_ctx *cx, const cr_table *t, const cr_column *col,
                              const cr_summary *s)
{
    cri_oddity odd;
    cr_status  st =
        cri_find_oddity(cx, col, cr_table_rows(t), (cri_ends){ s->min, s->max, true }, &odd);
    if (st == CR_OK) cri_warn_of_oddity(cx, col, &odd);
    return st;
}

/* A row of `columns` for each column, and one for all of a sparse block. */
static cr_status put_columns(cr_ctx *cx, const cr_table *t, cri_sheet *columns)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    const cr_csr *X = cr_table_csr(t);
    size_t        first = cr_table_csr_first(t), sparse = X ? X->columns : 0;
    bool          written = false; /* some column is not plain */
    cr_summary   *summaries = cr_scratch_bytes(&s, X ? 1 : cr_table_columns(t), sizeof *summaries);

    CR_TRY(s.status);
    for (size_t i = 0; !X && i < cr_table_columns(t); i++)
        written = written || (cr_table_column(t, i)->written && cr_table_column(t, i)->written[0]);
    if (!X) CR_TRY(cr_summarise_table(cx, t, summaries));
    for (size_t i = 0; i < cr_table_columns(t); i++) {
        cr_summary one = X ? (cr_summary){ 0 } : summaries[i];
        if (sparse && i == first) {
            CR_TRY(cr_summarise_csr(cx, t, &one));
            put_sparse(t, one, columns);
            i += sparse - 1;
            continue;
        }
        if (X) CR_TRY(cr_summarise(cx, cr_table_column(t, i), cr_table_rows(t), &one));
        put_column(cr_table_column(t, i), one, written, columns);
        CR_TRY(check_column(cx, t, cr_table_column(t, i), &one));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_report_table(cr_ctx *cx, const cr_table *t, cri_sheet *to, cri_sheet **out_columns)
{
    const cr_csr *X = cr_table_csr(t);
    cri_put_text(to, "file", cr_table_source(t));
    cri_put_text(to, "kind", "data");
    cri_put_count(to, "rows", cr_table_rows(t));
    if (X) {
        cri_put_count(to, "sparse_columns", X->columns);
        cri_put_real(to, "density", cri_density(X));
    }
    *out_columns = cri_put_list(to, "columns");
    return put_columns(cx, t, *out_columns);
}

cr_status cr_table_report(cr_ctx *cx, const cr_table *t, char **out_json)
{
    cri_sheet *sheet = cri_sheet_new(cx), *columns;
    cr_status  st = cri_report_table(cx, t, sheet, &columns);
    if (st == CR_OK) st = cri_sheet_status(sheet);
    if (st == CR_OK) st = cri_sheet_to_json(cx, sheet, out_json);
    cri_sheet_free(sheet);
    return st;
}
