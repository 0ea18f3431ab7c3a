/* csv.c -- the passes over a CSV file, and the table at the end. */
#include "csv_internal.h"
#include "base/context_internal.h"
#include "data/table/oddities.h"
#include "data/table/table_internal.h"

void cri_csv_drop_column(cr_ctx *cx, cri_csv_column *k)
{
    cr_free(cx, k->values, k->capacity, sizeof *k->values);
    cr_free(cx, k->codes, k->capacity, sizeof *k->codes);
    cri_csv_levels_clear(cx, &k->levels);
    k->values = NULL;
    k->codes = NULL;
    k->capacity = 0;
    k->pages = (cri_large_pages){ NULL, NULL };
}

void cri_csv_free(cri_csv *csv)
{
    for (size_t c = 0; csv->columns && c < csv->n; c++)
        cri_csv_drop_column(csv->cx, &csv->columns[c]);
    cri_csv_levels_clear(csv->cx, &csv->names);
    cr_free(csv->cx, csv->leaves, csv->leaf_capacity, sizeof *csv->leaves);
    cr_free(csv->cx, csv->batch.buffer, csv->batch.capacity, 1);
    cr_free(csv->cx, csv->ahead.buffer, csv->ahead.capacity, 1);
    cr_scratch_end(&csv->scratch);
}

/* Whole numbers alone, some like 007, where nobody has asked for numbers. */
static bool loses_zeros(const cri_csv_column *k)
{
    return k->keeps_zeros && k->zeros && k->seen == CRI_CSV_WHOLE;
}

cr_type cri_csv_type(const cri_csv_column *k)
{
    if (k->must_be_real) return CR_REAL;
    if (cri_csv_is_mixed(k->seen) || cri_csv_loses_digits(k->seen)) return CR_CATEGORY;
    if (loses_zeros(k)) return CR_CATEGORY;
    if (k->seen == CRI_CSV_WHOLE) return CR_INTEGER;
    return k->seen == CRI_CSV_BOOLEAN ? CR_BOOLEAN : CR_REAL;
}

/* --- passes ---------------------------------------------------------------------------------- */

static bool is_numeric(const cri_csv_column *k)
{
    return k->mode == CRI_CSV_NUMBERS || k->mode == CRI_CSV_STRICT;
}

/* Columns that have turned out to be categories lose their numbers: they are read again. */
static void drop_columns(cri_csv *csv, bool (*is_category)(unsigned seen))
{
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        if (k->mode != CRI_CSV_NUMBERS || !is_category(k->seen)) continue;
        cri_csv_drop_column(csv->cx, k);
        k->mode = CRI_CSV_SKIP;
    }
}

/* The same of those whose numbers are all whole, some with leading zeros behind the sample. */
static void drop_padded(cri_csv *csv)
{
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        if (k->mode != CRI_CSV_NUMBERS || !loses_zeros(k)) continue;
        cri_csv_drop_column(csv->cx, k);
        k->mode = CRI_CSV_SKIP;
        cri_csv_warn_of_zeros(csv, k);
    }
}

/* The next row begins a leaf; one that has no rows is none. */
static cr_status begin_leaf(cri_csv *csv)
{
    size_t n = csv->n_leaves;
    if (n > 0 && csv->leaves[n - 1] == csv->rows) return CR_OK;
    if (n == csv->leaf_capacity) {
        size_t  more = n ? 2 * n : 16;
        size_t *grown = cr_resize(csv->cx, csv->leaves, n, more, sizeof *grown);
        if (!grown) return CR_ENOMEM;
        csv->leaves = grown;
        csv->leaf_capacity = more;
    }
    csv->leaves[csv->n_leaves++] = csv->rows;
    return CR_OK;
}

static cr_status run_pass(cri_csv *csv)
{
    cr_status st = CR_OK;
    CR_TRY(cri_csv_start_pass(csv));
    CR_TRY(begin_leaf(csv));
    for (;;) {
        CR_TRY(cr_check_interrupt(csv->cx));
        CR_TRY(cri_csv_next_batch(csv));
        if (csv->batch.n_pieces == 0) break;
        if (csv->batch.begins_leaf) CR_TRY(begin_leaf(csv));
        CR_TRY(cri_csv_parse(csv));
        drop_columns(csv, cri_csv_is_mixed);
    }
done:
    return st;
}

/* Reads the late categories again, alone.  A number out of range is a fault only now that its
 * column is known to be numeric: reading it strictly finds the place. */
static cr_status read_again(cri_csv *csv, bool *settled)
{
    cr_status st = CR_OK;
    size_t    rows = csv->rows;
    bool      any = false;
    for (size_t c = 0; c < csv->n; c++) {
        bool late = csv->columns[c].mode == CRI_CSV_SKIP;
        bool too_large = is_numeric(&csv->columns[c]) && csv->columns[c].seen & CRI_CSV_TOO_LARGE;
        settled[c] = !late && !too_large;
        any = any || !settled[c];
    }
    if (!any) return CR_OK;
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        if (settled[c])
            k->mode = CRI_CSV_SKIP;
        else
            k->mode = k->mode == CRI_CSV_SKIP ? CRI_CSV_CATEGORY : CRI_CSV_STRICT;
    }
    CR_TRY(run_pass(csv));
    if (csv->rows != rows)
        CR_TRY(cr_fail(csv->cx, CR_EDATA, "%s changed while it was being read",
                       cri_source_name(csv->source)));
done:
    return st;
}

/* --- the table ------------------------------------------------------------------------------- */

/* Moves a column's numbers, cut to size, into the table. */
static cr_status give_numbers(cri_csv *csv, cri_csv_column *k, cr_table *table)
{
    double *values = cr_resize(csv->cx, k->values, k->capacity, csv->rows, sizeof *values);
    if (!values) return CR_ENOMEM;
    k->values = NULL;
    k->capacity = 0;
    cri_csv_warn_of_late_points(csv, k, values, csv->rows);
    return cri_table_own_numbers(csv->cx, table, k->name, cri_csv_type(k), values);
}

static cr_status give_category(cri_csv *csv, cri_csv_column *k, cr_table *table)
{
    cr_status    st = CR_OK;
    const char **levels = cr_alloc(csv->cx, k->levels.n, sizeof *levels);
    uint32_t    *codes;
    if (!levels) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < k->levels.n; i++) levels[i] = cri_csv_level(&k->levels, i);
    codes = cr_resize(csv->cx, k->codes, k->capacity, csv->rows, sizeof *codes);
    if (!codes) CR_TRY(CR_ENOMEM);
    k->codes = NULL;
    k->capacity = 0;
    CR_TRY(cri_table_own_category(csv->cx, table, k->name, codes, levels, k->levels.n));
done:
    cr_free(csv->cx, levels, k->levels.n, sizeof *levels);
    cri_csv_levels_clear(csv->cx, &k->levels);
    return st;
}

static cr_status build_table(cri_csv *csv, cr_table **out_table)
{
    cr_status       st = CR_OK;
    cr_table       *table = NULL;
    cr_read_options reading = cri_csv_reading(csv);
    CR_TRY(cr_table_new(csv->cx, cri_source_name(csv->source), csv->rows, &table));
    CR_TRY(cri_table_set_reading(csv->cx, table, &reading));
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        bool            texts = k->codes || (csv->rows == 0 && k->mode == CRI_CSV_CATEGORY);
        CR_TRY(texts ? give_category(csv, k, table) : give_numbers(csv, k, table));
        if (!texts) cri_csv_warn_of_digits(csv, k);
        cri_table_set_written(table, !texts                          ? cri_csv_written(k)
                                     : cri_csv_loses_digits(k->seen) ? "whole > 2^53"
                                                                     : NULL);
    }
    /* Lines of rows only grow, so when the last is where it should be, all are. */
    if (csv->rows > 0 && csv->last_record_line - csv->first_record_line == csv->rows - 1)
        cri_table_set_first_line(table, csv->first_record_line);
    if (csv->leaves[csv->n_leaves - 1] == csv->rows) csv->n_leaves--;
    CR_TRY(cri_table_set_leaves(csv->cx, table, csv->leaves, csv->n_leaves));
    for (size_t c = 0; c < csv->n; c++) {
        const cr_column *column = cr_table_column(table, c);
        if (column->type == CR_CATEGORY)
            cri_csv_warn_of_late_style(csv, &csv->columns[c], table, column);
    }
    cri_warn_of_empty_rows(csv->cx, table);
    *out_table = table;
    return CR_OK;
done:
    cr_table_free(csv->cx, table);
    return st;
}

cr_status cri_csv_read_cut(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                           const cri_csv_sizes *sizes, cr_table **out_table)
{
    cr_status st = CR_OK;
    cri_csv   csv = { .cx = cx,
                      .source = source,
                      .options = options,
                      .sizes = *sizes,
                      .leaf_bytes = cri_leaf_bytes(cx),
                      .scratch = cr_scratch_begin(cx) };
    bool     *settled;
    CR_TRY(cri_source_rewind(source));
    CR_TRY(cri_csv_sample(&csv));
    CR_TRY(cri_csv_take_column_options(&csv));
    CR_TRY(cri_csv_make_pieces(&csv));
    settled = cr_scratch_bytes(&csv.scratch, csv.n, sizeof *settled);
    CR_TRY(csv.scratch.status);

    CR_TRY(run_pass(&csv));
    drop_columns(&csv, cri_csv_loses_digits); /* only now: a later cell may have had a point */
    drop_padded(&csv);
    if (csv.rows == 0 && !sizes->may_be_empty) {
        cr_fail(cx, CR_EDATA, "%s: there is a header but no row below it", cri_source_name(source));
        CR_TRY(cr_fail_hint(cx, "if the first line is data, use --header no"));
    }
    CR_TRY(read_again(&csv, settled));
    CR_TRY(build_table(&csv, out_table));
done:
    cri_csv_free(&csv);
    return st;
}

cr_status cri_csv_read(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                       cr_table **out_table)
{
    const cri_csv_sizes sizes = { .piece = 1 << 18, .pieces = 33, .sample = 1 << 16 };
    return cri_csv_read_cut(cx, source, options, &sizes, out_table);
}

cr_status cri_csv_read_any(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                           cr_table **out_table)
{
    const cri_csv_sizes sizes = {
        .piece = 1 << 18, .pieces = 33, .sample = 1 << 16, .may_be_empty = true
    };
    return cri_csv_read_cut(cx, source, options, &sizes, out_table);
}
