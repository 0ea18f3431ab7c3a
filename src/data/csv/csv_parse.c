/* csv_parse.c -- pieces of text into columns.
 * Line ends bound the rows of a piece, so each piece has its place in the columns before it is
 * parsed and writes there directly; rows it turns out not to have (blank lines, line ends inside
 * quotes) are closed up afterwards.  Texts of categories that earlier batches had get their code at
 * once; new ones are numbered column by column once the batch is parsed, so in the order of the rows:
 * until then their code is the place of the field in the batch.
 *
 * Each field is tried the quick way first: its end is known beforehand (csv_marks.h), and it is a plain
 * number, or a text without blanks around it.  What is not so goes the careful way, which knows all
 * the rules. */
#include "csv_internal.h"
#include "csv_marks.h"
#include "base/number_digits.h"
#include "base/parallel.h"

#include <string.h>

static const char *fail_piece(cri_csv_piece *p, cri_csv_fault fault, const char *at, size_t length,
                              size_t column)
{
    p->fault = fault;
    p->fault_at = at;
    p->fault_length = length;
    p->fault_column = column;
    return NULL;
}

static const char *fail_cell(cri_csv_piece *p, const cri_csv_cell *cell, size_t column)
{
    return fail_piece(p, cell->fault, cell->fault_at, 1, column);
}

/* --- one field: returns its stop, NULL at a fault -------------------------------------------- */

static const char *parse_other(const cri_csv *csv, cri_csv_piece *p, unsigned char *seen,
                               const char *at, size_t c, double *out)
{
    cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, at, p->end);
    if (cell.fault) return fail_cell(p, &cell, c);
    const cri_csv_column *k = &csv->columns[c];
    unsigned kind = k->styled ? cri_csv_classify_styled(&csv->dialect, &k->style, &cell, out)
                              : cri_csv_classify(&csv->dialect, &cell, out);
    *seen |= (unsigned char)(kind | cri_csv_zeros(kind, cell.begin, cell.end));
    if (k->mode == CRI_CSV_STRICT) {
        size_t length = (size_t)(cell.end - cell.begin);
        if (kind & (CRI_CSV_TEXT | CRI_CSV_BOOLEAN))
            return fail_piece(p, CRI_CSV_NOT_A_NUMBER, cell.begin, length, c);
        if (kind & CRI_CSV_TOO_LARGE) return fail_piece(p, CRI_CSV_OVERFLOW, cell.begin, length, c);
    }
    return cell.stop;
}

static const char *parse_number(const cri_csv *csv, cri_csv_piece *p, unsigned char *seen,
                                const char *at, size_t c, double *out)
{
    const cri_csv_dialect *d = &csv->dialect;
    unsigned               notes;
    while (d->blank[(unsigned char)*at]) at++;
    size_t      took = cri_scan_double(at, p->end, out, &notes);
    const char *stop = at + took;
    if (took == 0) return parse_other(csv, p, seen, at, c, out);
    if (d->runs || *stop == '\r') stop = cri_csv_settle(d, stop);
    if (d->stop[(unsigned char)*stop] != CRI_STOP || (notes & CRI_NUMBER_OVERFLOW))
        return parse_other(csv, p, seen, at, c, out);
    unsigned kind = cri_csv_classify_number(d, at, at + took, out, notes);
    *seen |= (unsigned char)(kind | cri_csv_zeros(kind, at, at + took));
    return stop;
}

/* The code of a text that earlier batches had, or what stands for it until its number is known. */
static inline uint32_t code_of(const cri_csv *csv, const cri_csv_cell *cell, const char *at,
                               size_t c)
{
    enum { SHORT = 64 };
    const cri_csv_levels *levels = &csv->columns[c].levels;
    size_t                length = (size_t)(cell->end - cell->begin);
    uint32_t              known = UINT32_MAX;
    if (!cell->escaped) {
        if (length > 0) known = cri_csv_levels_find(levels, cell->begin, length);
    } else if (length <= SHORT) {
        char text[SHORT + CRI_CSV_LEVELS_SLACK];
        memcpy(text, cell->begin, length);
        length = (size_t)(cri_csv_unescape(text, text + length) - text);
        known = cri_csv_levels_find(levels, text, length);
    }
    if (known < CRI_CSV_PLACE) return known;
    if (cri_csv_is_missing(&csv->dialect, cell)) return CR_MISSING_CODE;
    return CRI_CSV_PLACE + (uint32_t)(at - csv->batch.buffer);
}

static const char *parse_text(const cri_csv *csv, cri_csv_piece *p, const char *at, size_t c,
                              uint32_t *out)
{
    cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, at, p->end);
    if (cell.fault) return fail_cell(p, &cell, c);
    *out = code_of(csv, &cell, at, c);
    return cell.stop;
}

static const char *skip_cell(const cri_csv *csv, cri_csv_piece *p, const char *at, size_t c)
{
    cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, at, p->end);
    return cell.fault ? fail_cell(p, &cell, c) : cell.stop;
}

/* --- the quick way: returns the stop, NULL where the careful way must be gone ----------------- */

/* The end of the field before the stop: a line end may be "\r\n". */
static inline const char *end_before(const char *at, const char *stop, bool last)
{
    return last && *stop == '\n' && stop > at && stop[-1] == '\r' ? stop - 1 : stop;
}

static inline const char *quick_number(const cri_csv *csv, cri_csv_cursor *k, unsigned char *seen,
                                       const char *at, bool last, double *out)
{
    const char *stop = cri_csv_next_stop(k), *end = end_before(at, stop, last);
    bool        whole;
    if (!cri_scan_field(at, end, out, &whole)) {
        *out = NAN;
        return end == at || (end - at == 2 && memcmp(at, "NA", 2) == 0) ? stop : NULL;
    }
    if (csv->dialect.n_missing_numbers > 0 && cri_csv_is_missing_number(&csv->dialect, *out))
        *out = NAN;
    else
        *seen |= !whole                       ? CRI_CSV_REAL
                 : *at == '0' && end - at > 1 ? CRI_CSV_WHOLE | CRI_CSV_ZEROS
                                              : CRI_CSV_WHOLE;
    return stop;
}

/* The cell that opens with a quote at `at`, closes in the same piece, and ends right there. */
static inline bool find_quoted(const cri_csv *csv, const cri_csv_piece *p, cri_csv_cursor *k,
                               const char *at, bool last, cri_csv_cell *out)
{
    const char *close = at;
    *out = (cri_csv_cell){ .begin = at + 1, .quoted = true };
    for (;; out->escaped = true) {
        close = cri_csv_next_quote(k, close + 1, p->end);
        if (!close) return false;
        if (close[1] != '"') break;
        close++;
    }
    out->end = close;
    out->stop = close + 1;
    if (last && close[1] == '\r' && close[2] == '\n' && k->line_end == '\n') out->stop++;
    if (*out->stop != csv->dialect.delimiter && *out->stop != csv->dialect.line_end) return false;
    cri_csv_cursor_move(k, out->stop + 1);
    return true;
}

static inline const char *quick_text(const cri_csv *csv, const cri_csv_piece *p, cri_csv_cursor *k,
                                     const char *at, size_t c, bool last, uint32_t *out)
{
    cri_csv_cell cell;
    if (*at == '"') {
        if (!find_quoted(csv, p, k, at, last, &cell)) return NULL;
    } else {
        const char *stop = cri_csv_next_stop(k), *end = end_before(at, stop, last);
        if (csv->dialect.blank[(unsigned char)*at] ||
            (end > at && csv->dialect.blank[(unsigned char)end[-1]]))
            return NULL;
        cell = (cri_csv_cell){ .begin = at, .end = end, .stop = stop };
    }
    *out = code_of(csv, &cell, at, c);
    return cell.stop;
}

static inline const char *quick_skip(const cri_csv *csv, const cri_csv_piece *p, cri_csv_cursor *k,
                                     const char *at, bool last)
{
    cri_csv_cell cell;
    if (csv->dialect.blank[(unsigned char)*at]) return NULL; /* a quote may follow */
    if (*at != '"') return cri_csv_next_stop(k);
    return find_quoted(csv, p, k, at, last, &cell) ? cell.stop : NULL;
}

/* --- records --------------------------------------------------------------------------------- */

/* The record goes on behind its last column: with empty cells where these may be, or it is a fault, and the rest is
 * counted. */
static const char *end_record(const cri_csv *csv, cri_csv_piece *p, const char *stop)
{
    const char *extra = stop + 1;
    const char *next = extra;
    for (size_t i = 0; i < csv->empty_at_end; i++) {
        cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, next, p->end);
        if (cell.fault || cell.begin < cell.end) break;
        if (*cell.stop == csv->dialect.line_end) return cell.stop;
        next = cell.stop + 1;
    }
    p->fault_fields = csv->n;
    while (*stop != csv->dialect.line_end) {
        cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, stop + 1, p->end);
        if (cell.fault) return fail_cell(p, &cell, csv->n);
        stop = cell.stop;
        p->fault_fields++;
    }
    return fail_piece(p, CRI_CSV_RAGGED, extra, 1, csv->n);
}

/* The record at `at`, where the cursor is, into row `row`; returns its line end, NULL at a fault.
 * plain: fields may be tried the quick way. */
static inline const char *parse_record(const cri_csv *csv, cri_csv_piece *p, bool plain,
                                       cri_csv_cursor *k, unsigned char *seen, const char *at,
                                       size_t row)
{
    const cri_csv_column *columns =
        csv->columns; /* locals: to the compiler seen may be any of it */
    const size_t n = csv->n;
    const char   line_end = k->line_end, *stop = NULL;
    for (size_t c = 0; c < n; c++) {
        const bool  last = c + 1 == n;
        const char *quick = NULL;
        double     *value;
        switch (columns[c].way) {
        case CRI_CSV_NUMBERS:
        case CRI_CSV_STRICT:
            value = &columns[c].values[row];
            if (plain) quick = quick_number(csv, k, &seen[c], at, last, value);
            stop = quick ? quick : parse_number(csv, p, &seen[c], at, c, value);
            break;
        case CRI_CSV_CATEGORY:
            if (plain) quick = quick_text(csv, p, k, at, c, last, &columns[c].codes[row]);
            stop = quick ? quick : parse_text(csv, p, at, c, &columns[c].codes[row]);
            break;
        case CRI_CSV_SKIP:
            if (columns[c].mode != CRI_CSV_SKIP) {
                stop = parse_other(csv, p, &seen[c], at, c, &columns[c].values[row]);
                break;
            }
            if (plain) quick = quick_skip(csv, p, k, at, last);
            stop = quick ? quick : skip_cell(csv, p, at, c);
            break;
        }
        if (!stop) return NULL;
        at = stop + 1;
        if (plain && !quick) cri_csv_cursor_move(k, at);
        if (*stop != line_end || last) continue;
        p->fault_fields = c + 1;
        return fail_piece(p, CRI_CSV_RAGGED, stop, 1, c + 1);
    }
    return *stop == line_end ? stop : end_record(csv, p, stop);
}

/* The quick way takes no notice of NUL bytes in texts, nor of runs of delimiters. */
static bool is_plain(const cri_csv *csv, const cri_csv_piece *p)
{
    bool texts = false;
    for (size_t c = 0; c < csv->n; c++)
        texts = texts || csv->columns[c].mode == CRI_CSV_CATEGORY ||
                csv->columns[c].mode == CRI_CSV_SKIP;
    if (csv->dialect.runs) return false;
    return !texts || !memchr(p->begin, '\0', (size_t)(p->end - p->begin));
}

static void parse_piece(void *arg, size_t i)
{
    const cri_csv *csv = arg;
    cri_csv_piece *p = &csv->batch.pieces[i];
    unsigned char *seen = csv->seen + i * csv->seen_stride;
    const char    *at = p->begin, *first = NULL, *last = NULL;
    size_t         rows = 0; /* counted here: the pieces next to this one change as well */
    const bool     plain = is_plain(csv, p);
    cri_csv_cursor k = { .delimiter = csv->dialect.delimiter, .line_end = csv->dialect.line_end };
    cri_csv_cursor_load(&k, at);
    memset(seen, 0, csv->n);
    while ((at = cri_csv_skip_blank_lines(&csv->dialect, at, p->end)) < p->end) {
        if (!first) first = at;
        last = at;
        cri_csv_cursor_move(&k, at);
        at = parse_record(csv, p, plain, &k, seen, at, p->row + rows);
        if (!at) return;
        rows++;
        at++;
    }
    p->rows = rows;
    p->first_record = first;
    p->last_record = last;
}

static void count_lines(void *arg, size_t i)
{
    const cri_csv *csv = arg;
    cri_csv_piece *p = &csv->batch.pieces[i];
    const char     line_end = csv->dialect.line_end;
    size_t         lines = 0;
    for (const char *at = p->begin; at < p->end;) {
        const char   *stop = p->end - at > 255 * 32 ? at + 255 * 32 : p->end;
        unsigned char part[32] = { 0 }; /* no counter passes 255 */
        for (; stop - at >= 32; at += 32)
            for (int k = 0; k < 32; k++) part[k] = (unsigned char)(part[k] + (at[k] == line_end));
        for (; at < stop && stop == p->end; at++) lines += *at == line_end;
        for (int k = 0; k < 32; k++) lines += part[k];
    }
    p->lines = lines;
}

/* --- room and places ------------------------------------------------------------------------- */

static void use_large_pages(const cri_csv *csv, cri_csv_column *k, size_t wanted)
{
    void  *block = k->codes ? (void *)k->codes : (void *)k->values;
    size_t size = k->codes ? sizeof *k->codes : sizeof *k->values;
    if (!csv->small_pages) k->pages = cri_large_pages_in(block, wanted * size, k->capacity * size);
}

/* Room for `need` rows in the columns that take values now.  Of a source of known size the number
 * of rows is foreseen from what has been read; large blocks grow without being copied. */
static cr_status reserve_rows(cri_csv *csv, size_t need)
{
    size_t wanted = csv->expected_rows > need ? csv->expected_rows : need + need / 2;
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        if (k->mode == CRI_CSV_SKIP || k->capacity >= need) continue;
        if (k->mode == CRI_CSV_CATEGORY) {
            uint32_t *codes = cr_resize(csv->cx, k->codes, k->capacity, wanted, sizeof *codes);
            if (!codes) return CR_ENOMEM;
            k->codes = codes;
        } else {
            double *values = cr_resize(csv->cx, k->values, k->capacity, wanted, sizeof *values);
            if (!values) return CR_ENOMEM;
            k->values = values;
        }
        use_large_pages(csv, k, wanted);
        k->capacity = wanted;
    }
    return CR_OK;
}

/* The large pages that the rows of this batch reach, column by column. */
static void touch_pages(void *arg, size_t c)
{
    const cri_csv  *csv = arg;
    cri_csv_column *k = &csv->columns[c];
    if (!k->pages.next) return;
    const void *upto =
        k->codes ? (void *)(k->codes + csv->row_capacity) : (void *)(k->values + csv->row_capacity);
    k->slow_pages = !cri_large_pages_touch(&k->pages, upto);
}

static cr_status prepare_pages(cri_csv *csv)
{
    bool any = false;
    for (size_t c = 0; c < csv->n; c++) any = any || csv->columns[c].pages.next;
    if (csv->small_pages || !any) return CR_OK;
    cr_status st = cri_parallel_for(csv->cx, NULL, csv->n, touch_pages, csv);
    for (size_t c = 0; c < csv->n; c++) csv->small_pages |= csv->columns[c].slow_pages;
    for (size_t c = 0; c < csv->n && csv->small_pages; c++)
        cri_large_pages_drop(&csv->columns[c].pages);
    return st;
}

/* How many rows there will be if the rest has as many bytes per line as this batch. */
static void foresee_rows(cri_csv *csv, size_t lines)
{
    size_t size = cri_source_size(csv->source);
    if (size <= csv->bytes_done || csv->batch.whole == 0) return;
    double rest = (double)(size - csv->bytes_done) * (double)lines / (double)csv->batch.whole;
    csv->expected_rows = csv->rows + lines + (size_t)(1.01 * rest) + 64;
}

static cr_status place_pieces(cri_csv *csv)
{
    cr_status st = cri_parallel_for(csv->cx, NULL, csv->batch.n_pieces, count_lines, csv);
    if (st != CR_OK) return st;
    size_t lines = 0;
    for (size_t i = 0; i < csv->batch.n_pieces; i++) {
        cri_csv_piece *p = &csv->batch.pieces[i];
        p->row = csv->rows + lines;
        p->first_line = csv->line + lines;
        lines += p->lines;
    }
    csv->line += lines;
    if (!csv->streaming && csv->expected_rows < csv->rows + lines) foresee_rows(csv, lines);
    csv->row_capacity = csv->rows + lines;
    st = reserve_rows(csv, csv->row_capacity);
    return st == CR_OK ? prepare_pages(csv) : st;
}

static void move_rows(const cri_csv *csv, size_t from, size_t to, size_t n)
{
    for (size_t c = 0; c < csv->n; c++) {
        const cri_csv_column *k = &csv->columns[c];
        if (k->mode == CRI_CSV_SKIP) continue;
        if (k->codes)
            memmove(k->codes + to, k->codes + from, n * sizeof *k->codes);
        else
            memmove(k->values + to, k->values + from, n * sizeof *k->values);
    }
}

/* The line that a place in the piece is on. */
static size_t line_of(const cri_csv *csv, const cri_csv_piece *p, const char *place)
{
    size_t line = p->first_line;
    for (const char *at = p->begin; at < place; at++) line += *at == csv->dialect.line_end;
    return line;
}

/* The first fault in the order of the text; else the rows close up and the kinds are gathered. */
static cr_status gather(cri_csv *csv)
{
    const cri_csv_piece *last = NULL;
    for (size_t i = 0; i < csv->batch.n_pieces; i++) {
        cri_csv_piece       *p = &csv->batch.pieces[i];
        const unsigned char *seen = csv->seen + i * csv->seen_stride;
        if (p->fault) return cri_csv_fail(csv, p);
        if (p->rows == 0) continue;
        if (csv->first_record_line == 0) csv->first_record_line = line_of(csv, p, p->first_record);
        if (p->row != csv->rows) move_rows(csv, p->row, csv->rows, p->rows);
        csv->rows += p->rows;
        for (size_t c = 0; c < csv->n; c++) {
            csv->columns[c].seen |= seen[c] & ~(unsigned)CRI_CSV_ZEROS;
            csv->columns[c].zeros |= (seen[c] & CRI_CSV_ZEROS) != 0;
        }
        last = p;
    }
    if (last) csv->last_record_line = line_of(csv, last, last->last_record);
    return CR_OK;
}

/* --- categories ------------------------------------------------------------------------------ */

static void intern_column(void *arg, size_t c)
{
    const cri_csv  *csv = arg;
    cri_csv_column *k = &csv->columns[c];
    const char     *end = csv->batch.buffer + csv->batch.whole;
    if (k->mode != CRI_CSV_CATEGORY) return;
    for (size_t i = csv->batch_row; i < csv->rows && k->status == CR_OK; i++) {
        if (k->codes[i] < CRI_CSV_PLACE || k->codes[i] == CR_MISSING_CODE) continue;
        const char  *at = csv->batch.buffer + (k->codes[i] - CRI_CSV_PLACE);
        cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, at, end);
        if (cell.escaped) { /* the text between its quotes is read by this column alone */
            char *text = csv->batch.buffer + (cell.begin - csv->batch.buffer);
            cell.end = cri_csv_unescape(text, text + (cell.end - cell.begin));
        }
        k->status = cri_csv_levels_add(csv->cx, &k->levels, cell.begin,
                                       (size_t)(cell.end - cell.begin), &k->codes[i]);
    }
}

static cr_status intern_texts(cri_csv *csv)
{
    bool any = false;
    for (size_t c = 0; c < csv->n; c++) any = any || csv->columns[c].mode == CRI_CSV_CATEGORY;
    if (!any) return CR_OK;
    cr_status st = cri_parallel_for(csv->cx, NULL, csv->n, intern_column, csv);
    for (size_t c = 0; c < csv->n && st == CR_OK; c++) {
        const cri_csv_column *k = &csv->columns[c];
        if (k->status != CR_OK) st = cri_csv_levels_fail(csv->cx, &k->levels, k->status);
    }
    return st;
}

static void choose_ways(cri_csv *csv)
{
    for (size_t c = 0; c < csv->n; c++) {
        cri_csv_column *k = &csv->columns[c];
        k->way = k->styled && k->mode != CRI_CSV_CATEGORY ? CRI_CSV_SKIP : k->mode;
    }
}

static void read_ahead(void *arg) { cri_csv_read_ahead(arg); }

cr_status cri_csv_parse(cri_csv *csv)
{
    cr_status st = CR_OK;
    csv->batch_row = csv->rows;
    CR_TRY(place_pieces(csv));
    choose_ways(csv);
    CR_TRY(cri_parallel_beside(csv->cx, csv->batch.n_pieces, parse_piece, read_ahead, csv));
    CR_TRY(gather(csv));
    CR_TRY(cri_csv_check_encoding(csv, csv->batch.buffer, csv->batch.whole,
                                  csv->bytes_done - csv->batch.whole,
                                  csv->batch.pieces[0].first_line));
    CR_TRY(intern_texts(csv));
    cr_progress(csv->cx, "reading", (double)csv->bytes_done, (double)cri_source_size(csv->source));
done:
    return st;
}
