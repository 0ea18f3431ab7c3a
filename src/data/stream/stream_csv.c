/* stream_csv.c -- delimited text in blocks: batches are parsed into columns, and rows are taken off
 * their front. */
#include "data/csv/csv_internal.h"
#include "base/context_internal.h"
#include "stream_internal.h"
#include "data/table/table_internal.h"

#include <string.h>

typedef struct csv_reader {
    cri_csv        csv;
    cri_block_size size;
    bool           ended, scanning;
    unsigned       scans; /* first passes that have been started */
    size_t         front; /* rows of the columns that have been given away */
    size_t         given; /* rows, in this pass */
} csv_reader;

static void free_reader(cr_ctx *cx, void *reader)
{
    csv_reader *r = reader;
    cri_csv_free(&r->csv);
    cr_free(cx, r, 1, sizeof *r);
}

/* What the sample tells of the types; numbers are real, since later ones may not be whole. */
static void guess_types(cri_csv *csv)
{
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        bool            boolean = !k->must_be_real && k->sampled == CRI_CSV_BOOLEAN;
        bool            texts =
            k->mode == CRI_CSV_CATEGORY || (!k->must_be_real && cri_csv_loses_digits(k->sampled));
        k->type = texts ? CR_CATEGORY : boolean ? CR_BOOLEAN : CR_REAL;
    }
}

/* The columns are read as their types say: numbers must stay numbers. */
static void read_by_types(cri_csv *csv)
{
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        k->mode = k->type == CR_CATEGORY  ? CRI_CSV_CATEGORY
                  : k->type == CR_BOOLEAN ? CRI_CSV_NUMBERS
                                          : CRI_CSV_STRICT;
    }
}

static cr_status open_reader(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                             cri_block_size size, void **out_reader)
{
    enum { PIECES = 8, SMALLEST = 1 << 17, SAMPLE = 1 << 16 };
    cr_status   st = CR_OK;
    csv_reader *r = cr_alloc(cx, 1, sizeof *r);
    if (!r) return CR_ENOMEM;
    size_t piece = size.rows ? SMALLEST : size.bytes / PIECES + 1;
    size_t lines = cri_stream_follows(source, size) ? size.rows + 1 : 0; /* a header and a block */
    r->size = size;
    r->csv = (cri_csv){ .cx = cx,
                        .source = source,
                        .options = options,
                        .streaming = true,
                        .by_leaves = !size.rows,
                        .leaf_bytes = size.rows ? SIZE_MAX : size.bytes,
                        .sizes = { .piece = piece, .pieces = PIECES, .sample = SAMPLE },
                        .follow_lines = lines,
                        .scratch = cr_scratch_begin(cx) };
    CR_TRY(cri_csv_sample(&r->csv));
    CR_TRY(cri_csv_take_column_options(&r->csv));
    guess_types(&r->csv);
    read_by_types(&r->csv);
    CR_TRY(cri_csv_make_pieces(&r->csv));
    CR_TRY(cri_csv_start_pass(&r->csv));
    *out_reader = r;
    return CR_OK;
done:
    free_reader(cx, r);
    return st;
}

static void choose(void *reader, cri_wanted wanted)
{
    csv_reader *r = reader;
    for (size_t c = 0; c < r->csv.n; c++)
        if (!wanted.is(wanted.arg, r->csv.columns[c].name)) r->csv.columns[c].mode = CRI_CSV_SKIP;
}

/* --- the first passes ------------------------------------------------------------------------ */

/* true while more rows may change the type of a column: no number with a decimal point so far, and no
 * text. */
static bool is_undecided(const cri_csv_column *k)
{
    bool may_change =
        k->type != CR_CATEGORY || (!k->must_be_category && cri_csv_loses_digits(k->sampled));
    return may_change && !k->must_be_real && !(k->sampled & CRI_CSV_REAL);
}

/* The first pass looks for the levels of categories and the types of the undecided. */
static bool start_first_scan(cri_csv *csv)
{
    bool any = false;
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        bool            category = k->type == CR_CATEGORY, undecided = is_undecided(k);
        k->mode = undecided ? CRI_CSV_NUMBERS : category ? CRI_CSV_CATEGORY : CRI_CSV_SKIP;
        any = any || category || undecided;
    }
    return any;
}

/* Settles the types.  Those that turned out to be categories need a second pass, for the levels. */
static bool start_second_scan(cri_csv *csv)
{
    bool any = false;
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        bool            late = is_undecided(k) && cri_csv_type(k) == CR_CATEGORY;
        if (is_undecided(k)) {
            k->type = cri_csv_type(k);
            if (late && k->seen == CRI_CSV_WHOLE) cri_csv_warn_of_zeros(csv, k);
            cri_csv_drop_column(csv->cx, k);
        }
        k->mode = late ? CRI_CSV_CATEGORY : CRI_CSV_SKIP;
        any = any || late;
    }
    return any;
}

static bool start_scan(void *reader)
{
    csv_reader *r = reader;
    r->scanning = r->scans == 0   ? start_first_scan(&r->csv)
                  : r->scans == 1 ? start_second_scan(&r->csv)
                                  : false;
    r->scans++;
    if (!r->scanning) read_by_types(&r->csv);
    return r->scanning;
}

static cr_status rewind_reader(cr_ctx *cx, void *reader)
{
    csv_reader *r = reader;
    (void)cx;
    r->ended = false;
    r->front = r->given = 0;
    return cri_csv_start_pass(&r->csv);
}

/* --- blocks ---------------------------------------------------------------------------------- */

/* A column that began with true and false must go on so. */
static cr_status check_booleans(const cri_csv *csv)
{
    for (size_t c = 0; c < csv->n; c++) {
        const cri_csv_column *k = &csv->columns[c];
        if (k->mode != CRI_CSV_NUMBERS || !(k->seen & ~(unsigned)CRI_CSV_BOOLEAN)) continue;
        cr_fail(csv->cx, CR_EDATA,
                "%s: column '%s' begins with true and false, but contains something else up to "
                "line %zu",
                cri_source_name(csv->source), k->name, csv->last_record_line);
        return cr_fail_hint(csv->cx,
                            "in a stream, types are decided by the first rows; use --category %s "
                            "to read the column as text",
                            k->name);
    }
    return CR_OK;
}

/* Forgets the levels that none of the first `left` rows has: dates and names would pile up. */
static cr_status drop_levels(cr_ctx *cx, cri_csv_column *k, size_t left)
{
    cr_status      st = CR_OK;
    cri_csv_levels kept = { 0 };
    if (k->levels.n <= left) return CR_OK;
    for (size_t i = 0; i < left && st == CR_OK; i++) {
        if (k->codes[i] == CR_MISSING_CODE) continue;
        const char *text = cri_csv_level(&k->levels, k->codes[i]);
        st = cri_csv_levels_add(cx, &kept, text, strlen(text), &k->codes[i]);
    }
    if (st != CR_OK) st = cri_csv_levels_fail(cx, &kept, st);
    cri_csv_levels_clear(cx, &k->levels);
    k->levels = kept;
    return st;
}

/* Moves the rows not yet given to the start of the columns. */
static cr_status close_up(csv_reader *r)
{
    cr_status st = CR_OK;
    size_t    left = r->csv.rows - r->front;
    for (size_t c = 0; r->front > 0 && c < r->csv.n; c++) {
        cri_csv_column *k = &r->csv.columns[c];
        if (k->mode == CRI_CSV_SKIP) continue;
        if (k->mode != CRI_CSV_CATEGORY) {
            memmove(k->values, k->values + r->front, left * sizeof *k->values);
            continue;
        }
        memmove(k->codes, k->codes + r->front, left * sizeof *k->codes);
        CR_TRY(drop_levels(r->csv.cx, k, left));
    }
    r->csv.rows = left;
    r->front = 0;
done:
    return st;
}

/* Parses until there are enough rows, or the end. */
static cr_status fill(csv_reader *r)
{
    cr_status st = CR_OK;
    size_t    wanted = r->size.rows ? r->size.rows : 1;
    while (!r->ended && r->csv.rows - r->front < wanted) {
        CR_TRY(close_up(r));
        CR_TRY(cr_check_interrupt(r->csv.cx));
        CR_TRY(cri_csv_next_batch(&r->csv));
        r->ended = r->csv.batch.n_pieces == 0;
        if (r->ended) break;
        CR_TRY(cri_csv_parse(&r->csv));
        if (!r->scanning) CR_TRY(check_booleans(&r->csv));
        cri_pause_holding(r->csv.cx, true); /* it is true whatever other blocks come */
        for (size_t c = 0; !r->scanning && c < r->csv.n; c++) {
            cri_csv_warn_of_digits(&r->csv, &r->csv.columns[c]);
            cri_csv_warn_of_late_zeros(&r->csv, &r->csv.columns[c]);
        }
        cri_pause_holding(r->csv.cx, false);
    }
done:
    return st;
}

static cr_status give_numbers(csv_reader *r, cri_csv_column *k, size_t n, cr_table *table)
{
    cr_ctx *cx = r->csv.cx;
    double *values = cr_resize(cx, NULL, 0, n, sizeof *values);
    if (!values) return CR_ENOMEM;
    memcpy(values, k->values + r->front, n * sizeof *values);
    cr_status st = cri_table_own_numbers(cx, table, k->name, k->type, values);
    if (st == CR_OK) cri_table_set_written(table, cri_csv_written(k));
    return st;
}

/* With the levels that these rows have. */
static cr_status give_category(csv_reader *r, cri_csv_column *k, size_t n, cr_table *table)
{
    cr_ctx      *cx = r->csv.cx;
    size_t       all = k->levels.n, used = 0;
    const char **levels = cr_alloc(cx, all, sizeof *levels);
    uint32_t    *place = levels ? cr_alloc(cx, all, sizeof *place) : NULL; /* + 1 */
    uint32_t    *codes = place ? cr_resize(cx, NULL, 0, n, sizeof *codes) : NULL;
    cr_status    st = CR_ENOMEM;
    for (size_t i = 0; codes && i < n; i++) {
        uint32_t code = k->codes[r->front + i];
        codes[i] = code;
        if (code == CR_MISSING_CODE) continue;
        if (!place[code])
            levels[used] = cri_csv_level(&k->levels, code), place[code] = (uint32_t)++used;
        codes[i] = place[code] - 1;
    }
    if (codes) st = cri_table_own_category(cx, table, k->name, codes, levels, used);
    cr_free(cx, place, all, sizeof *place);
    cr_free(cx, levels, all, sizeof *levels);
    return st;
}

/* Messages name lines as long as every row so far stands on the line after the one before. */
static void set_place(const csv_reader *r, cr_table *table)
{
    const cri_csv *csv = &r->csv;
    size_t         all = r->given + csv->rows - r->front;
    if (csv->last_record_line - csv->first_record_line == all - 1)
        cri_table_set_first_line(table, csv->first_record_line + r->given);
    else
        cri_table_set_first_row(table, r->given);
}

static cr_status next_block(cr_ctx *cx, void *reader, cr_table **out_table)
{
    csv_reader *r = reader;
    cr_status   st = CR_OK;
    cr_table   *table = NULL;
    CR_TRY(fill(r));
    size_t n = r->csv.rows - r->front;
    if (r->size.rows && n > r->size.rows) n = r->size.rows;
    if (n == 0 && r->given == 0) {
        cr_fail(cx, CR_EDATA, "%s: there is a header but no row below it",
                cri_source_name(r->csv.source));
        CR_TRY(cr_fail_hint(cx, "if the first line is data, use --header no"));
    }
    if (n > 0) {
        cr_read_options reading = cri_csv_reading(&r->csv);
        CR_TRY(cr_table_new(cx, cri_source_name(r->csv.source), n, &table));
        CR_TRY(cri_table_set_reading(cx, table, &reading));
        set_place(r, table);
        for (size_t c = 0; c < r->csv.n; c++) {
            cri_csv_column *k = &r->csv.columns[c];
            if (k->mode == CRI_CSV_SKIP || (r->scanning && k->mode != CRI_CSV_CATEGORY)) continue;
            CR_TRY(k->mode == CRI_CSV_CATEGORY ? give_category(r, k, n, table)
                                               : give_numbers(r, k, n, table));
        }
        r->given += n;
        r->front += n;
    }
    *out_table = table;
    table = NULL;
done:
    cr_table_free(cx, table);
    return st;
}

const cri_stream_format cri_stream_csv = {
    .open = open_reader,
    .next = next_block,
    .rewind = rewind_reader,
    .start_scan = start_scan,
    .choose = choose,
    .free = free_reader,
    .retypes = true,
};
