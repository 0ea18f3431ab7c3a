/* text_rows.c -- a buffer over the source, cut into records, cut into cells. */
#include "text_rows.h"
#include "data/csv/csv_internal.h"

#include <string.h>

enum { FIRST_CAPACITY = 1 << 16 };

struct cri_text_rows {
    cr_ctx      *cx;
    cri_csv      csv; /* for its options and its dialect */
    char        *buffer;
    size_t       capacity, filled, at, whole; /* [at, whole) are complete records */
    bool         ended;
    size_t       line, first; /* of `at`; of the last row */
    char         separator;   /* that a first line sep=; names, or '\0' */
    size_t       n;
    char       **names; /* [n] in the arena of csv */
    const char **cells, **written;
    size_t      *place; /* [n] */
};

/* --- the buffer ------------------------------------------------------------------------------ */

/* Reads more, and finds out how many records are complete. */
static cr_status fill(cri_text_rows *r)
{
    cr_status st = CR_OK;
    size_t    got = 0;
    memmove(r->buffer, r->buffer + r->at, r->filled - r->at);
    r->filled -= r->at;
    r->at = 0;
    if (r->capacity - r->filled < FIRST_CAPACITY / 2) {
        char *more = cr_resize(r->cx, r->buffer, r->capacity, 2 * r->capacity, 1);
        if (!more) CR_TRY(CR_ENOMEM);
        r->buffer = more;
        r->capacity *= 2;
    }
    CR_TRY(cri_source_read_some(r->csv.source, r->buffer + r->filled, r->capacity - r->filled - 2,
                                &got));
    r->filled += got;
    r->ended = got == 0;
    if (r->ended && r->filled > 0 && r->buffer[r->filled - 1] != '\n')
        r->buffer[r->filled++] = '\n';
    r->whole = 0;
    if (r->filled > 0)
        r->whole =
            cri_csv_cut(&r->csv.dialect, r->buffer, r->buffer + r->filled, r->filled, NULL, NULL);
    if (r->ended) r->whole = r->filled; /* an unclosed quote is found when it is read */
done:
    return st;
}

bool cri_text_rows_ready(const cri_text_rows *r)
{
    const char *end = r->buffer + r->whole;
    return cri_csv_skip_blank_lines(&r->csv.dialect, r->buffer + r->at, end) < end;
}

/* Brings the next record to `at`; false in *out_any at the end. */
static cr_status find_record(cri_text_rows *r, bool *out_any)
{
    cr_status st = CR_OK;
    for (;;) {
        const char *from = r->buffer + r->at, *end = r->buffer + r->whole;
        const char *begin = cri_csv_skip_blank_lines(&r->csv.dialect, from, end);
        for (; from < begin; from++) r->line += *from == '\n';
        r->at = (size_t)(begin - r->buffer);
        *out_any = begin < end;
        if (*out_any || r->ended) return CR_OK;
        CR_TRY(fill(r));
    }
done:
    return st;
}

/* --- cells ----------------------------------------------------------------------------------- */

static cr_status fail_fault(const cri_text_rows *r, const cri_csv_cell *cell)
{
    const char *what = cell->fault == CRI_CSV_UNCLOSED      ? "a quote is never closed"
                       : cell->fault == CRI_CSV_AFTER_QUOTE ? "text after a closing quote"
                                                            : "a NUL byte in text";
    return cr_fail(r->cx, CR_EDATA, "%s:%zu: %s", cri_source_name(r->csv.source), r->line, what);
}

/* Is it empty, or one of the further texts that mean no value? */
static bool is_named(const cri_csv_dialect *d, const char *begin, const char *end)
{
    size_t n = (size_t)(end - begin);
    for (size_t i = 0; i < d->n_missing; i++)
        if (strlen(d->missing[i]) == n && memcmp(d->missing[i], begin, n) == 0) return true;
    return n == 0;
}

/* Takes the record at `at` apart: the first `capacity` cells become texts; *out_n: how many there
 * are.
 */
static cr_status read_cells(cri_text_rows *r, const char **cells, size_t capacity, size_t *out_n)
{
    char  *at = r->buffer + r->at, *end = r->buffer + r->whole;
    size_t n = 0, lines = 0, place = 1;
    for (bool last = false; !last;) {
        cri_csv_cell c = cri_csv_next_cell(&r->csv.dialect, at, end);
        if (c.fault != CRI_CSV_FINE) return fail_fault(r, &c);
        char *begin = r->buffer + (c.begin - r->buffer), *stop = r->buffer + (c.stop - r->buffer);
        char *text_end = r->buffer + (c.end - r->buffer);
        if (n < capacity) r->place[n] = place;
        for (const char *p = at; p <= stop; p++) {
            lines += *p == '\n';
            place += ((unsigned char)*p & 0xc0) != 0x80; /* of UTF-8 */
            if (*p == '\n') place = 1;
        }
        last = *stop == '\n';
        bool missing = cri_csv_is_missing(&r->csv.dialect, &c);
        if (n < capacity) {
            if (c.escaped) text_end = cri_csv_unescape(begin, text_end);
            cells[n] = missing ? NULL : begin;
            r->written[n] = missing && is_named(&r->csv.dialect, begin, text_end) ? NULL : begin;
            *text_end = '\0'; /* the delimiter, a quote or the line end: read already */
        }
        n++;
        at = stop + 1;
    }
    r->at = (size_t)(at - r->buffer);
    *out_n = n;
    if (capacity > 0) r->line += lines;
    return CR_OK;
}

cr_status cri_text_rows_next(cri_text_rows *r, const char *const **out_cells)
{
    cr_status st = CR_OK;
    bool      any;
    size_t    n;
    CR_TRY(find_record(r, &any));
    *out_cells = NULL;
    if (!any) goto done;
    r->first = r->line;
    CR_TRY(read_cells(r, r->cells, r->n, &n));
    if (n != r->n)
        CR_TRY(cr_fail(r->cx, CR_EDATA, "%s:%zu: %zu field%s, expected %zu as in the header",
                       cri_source_name(r->csv.source), r->first, n, n == 1 ? "" : "s", r->n));
    *out_cells = r->cells;
done:
    return st;
}

/* --- the header ------------------------------------------------------------------------------ */

/* The one of these that the first record has most of, outside quotes. */
static char guess_delimiter(const char *text, size_t size)
{
    static const char marks[] = ",;\t|";
    size_t            count[4] = { 0 }, best = 0;
    bool              quoted = false;
    for (size_t i = 0; i < size && (quoted || text[i] != '\n'); i++) {
        const char *m = quoted ? NULL : memchr(marks, text[i], 4);
        quoted ^= text[i] == '"';
        if (m) count[m - marks]++;
    }
    for (size_t k = 1; k < 4; k++)
        if (count[k] > count[best]) best = k;
    return marks[best];
}

static cr_status read_header(cri_text_rows *r)
{
    cr_status   st = CR_OK;
    cr_scratch *s = &r->csv.scratch;
    size_t      n = 0, begin = r->at;
    CR_TRY(read_cells(r, NULL, 0, &n)); /* only counts: nothing is written */
    r->n = n;
    r->names = cr_scratch_bytes(s, n, sizeof *r->names);
    r->cells = cr_scratch_bytes(s, n, sizeof *r->cells);
    r->written = cr_scratch_bytes(s, n, sizeof *r->written);
    r->place = cr_scratch_index(s, n);
    CR_TRY(s->status);
    r->at = begin;
    CR_TRY(read_cells(r, r->cells, n, &n));
    for (size_t i = 0; i < r->n; i++) {
        const char *text = r->written[i] ? r->written[i] : "";
        r->names[i] = cr_scratch_bytes(s, strlen(text) + 1, 1);
        CR_TRY(s->status);
        memcpy(r->names[i], text, strlen(text) + 1);
    }
done:
    return st;
}

/* To the first record, past a byte-order mark. */
static cr_status start(cri_text_rows *r, bool *out_any)
{
    cr_status st = CR_OK;
    r->at = r->whole = r->filled = 0;
    r->ended = false;
    r->line = 1;
    do CR_TRY(fill(r));
    while (r->whole == 0 && !r->ended);
    if (r->filled >= 3 && memcmp(r->buffer, "\xef\xbb\xbf", 3) == 0) r->at = 3;
    size_t first = cri_csv_separator_line(r->buffer + r->at, r->filled - r->at, &r->separator);
    for (; first > 0; first--) r->line += r->buffer[r->at++] == '\n';
    CR_TRY(find_record(r, out_any));
done:
    return st;
}

cr_status cri_text_rows_open(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                             cri_text_rows **out_rows)
{
    cr_status      st = CR_OK;
    cri_text_rows *r = cr_alloc(cx, 1, sizeof *r);
    char           delimiter;
    bool           any;
    if (!r) return CR_ENOMEM;
    r->cx = cx;
    r->csv = (cri_csv){ .cx = cx, .source = source, .options = options };
    r->csv.scratch = cr_scratch_begin(cx);
    r->buffer = cr_alloc(cx, FIRST_CAPACITY, 1);
    if (!r->buffer) CR_TRY(CR_ENOMEM);
    r->capacity = FIRST_CAPACITY;
    r->csv.dialect = cri_csv_dialect_of(',', '\n');
    CR_TRY(cri_csv_ask_delimiter(&r->csv, &delimiter));
    CR_TRY(cri_csv_begin_text(cx, source, options));
    CR_TRY(start(r, &any));
    if (!any || !memchr(r->buffer, '\n', r->filled)) goto done;
    if (!delimiter) delimiter = r->separator;
    if (!delimiter) delimiter = guess_delimiter(r->buffer + r->at, r->whole - r->at);
    r->csv.dialect = cri_csv_dialect_of(delimiter, '\n');
    CR_TRY(cri_csv_take_missing_values(&r->csv));
    CR_TRY(read_header(r));
    *out_rows = r;
    r = NULL;
done:
    cri_text_rows_free(r);
    return st;
}

cr_status cri_text_rows_rewind(cri_text_rows *r)
{
    cr_status st = CR_OK;
    bool      any;
    size_t    n;
    CR_TRY(cri_source_rewind(r->csv.source));
    CR_TRY(start(r, &any));
    if (any) CR_TRY(read_cells(r, r->cells, r->n, &n));
done:
    return st;
}

void cri_text_rows_free(cri_text_rows *r)
{
    if (!r) return;
    cr_free(r->cx, r->buffer, r->capacity, 1);
    cr_scratch_end(&r->csv.scratch);
    cr_free(r->cx, r, 1, sizeof *r);
}

size_t      cri_text_rows_columns(const cri_text_rows *r) { return r->n; }
const char *cri_text_rows_name(const cri_text_rows *r, size_t i) { return r->names[i]; }
const char *cri_text_rows_written(const cri_text_rows *r, size_t i) { return r->written[i]; }
size_t      cri_text_rows_line(const cri_text_rows *r) { return r->first; }
size_t      cri_text_rows_place(const cri_text_rows *r, size_t i) { return r->place[i]; }
