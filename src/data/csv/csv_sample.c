/* csv_sample.c -- the first part of the file tells line end, delimiter, header and first types.
 * A column with a text in the sample is a category for certain, so taking it as one from the start
 * is not a guess; the others may still turn out to be one. */
#include "csv_header.h"

#include <math.h>
#include <string.h>

typedef struct sample {
    char       *text; /* the bytes and, behind the last record, a line end */
    size_t      capacity;
    const char *begin, *end; /* records, after a byte-order mark and a line sep=... */
    size_t      first_line;  /* of begin */
    char        separator;   /* that such a line names; '\0': there is none */
    bool        complete;    /* the whole file is here */
} sample;

/* --- the bytes ------------------------------------------------------------------------------- */

static cr_status keep_bytes(cri_csv *csv, const char *bytes, size_t size, sample *s)
{
    char *text = cr_resize(csv->cx, s->text, s->capacity, size + 1, 1);
    if (!text) return CR_ENOMEM;
    s->text = text;
    s->capacity = size + 1;
    memcpy(text, bytes, size);
    s->begin = text + (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    s->end = text + size;
    size_t line = cri_csv_separator_line(s->begin, (size_t)(s->end - s->begin), &s->separator);
    s->first_line = 1;
    for (; line > 0; line--) s->first_line += *s->begin++ == '\n';
    return CR_OK;
}

static cr_status load(cri_csv *csv, size_t want, sample *s)
{
    const char *bytes;
    size_t      size;
    cr_status   st = cri_source_peek(csv->source, want, &bytes, &size);
    s->complete = size < want;
    return st == CR_OK ? keep_bytes(csv, bytes, size, s) : st;
}

/* The first lines and no byte more, so that a pipe is not waited for. */
static cr_status load_lines(cri_csv *csv, size_t lines, sample *s)
{
    const char *bytes;
    size_t      size, there = 0;
    cr_status   st = cri_source_peek_lines(csv->source, lines, csv->sizes.sample, &bytes, &size);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < size; i++) there += bytes[i] == '\n';
    s->complete = there < lines && size < csv->sizes.sample;
    return keep_bytes(csv, bytes, size, s);
}

/* LF where there is one, else CR; and a line end behind the last record of a whole file. */
static char find_line_end(sample *s)
{
    size_t size = (size_t)(s->end - s->begin);
    char   line_end = !memchr(s->begin, '\n', size) && memchr(s->begin, '\r', size) ? '\r' : '\n';
    if (s->complete && (size == 0 || s->end[-1] != line_end)) {
        s->text[s->end - s->text] = line_end;
        s->end++;
    }
    return line_end;
}

/* Up to here records are complete under this dialect. */
static const char *end_of_records(const cri_csv_dialect *d, const sample *s)
{
    return s->complete ? s->end : s->begin + cri_csv_cut(d, s->begin, s->end, 1, NULL, NULL);
}

/* --- the delimiter --------------------------------------------------------------------------- */

/* The number of fields of the record at `at`; *at moves behind it, to NULL at a fault. */
static size_t count_fields(const cri_csv_dialect *d, const char **at, const char *end)
{
    for (size_t n = 1;; n++) {
        cri_csv_cell cell = cri_csv_next_cell(d, *at, end);
        *at = cell.fault ? NULL : cell.stop + 1;
        if (cell.fault || *cell.stop == d->line_end) return n;
    }
}

typedef struct score {
    size_t records, fields, matching; /* how many have as many fields as the first */
    size_t numbers;                   /* of the fields of the first, also like 1,5 */
} score;

static size_t count_numbers(const cri_csv_dialect *d, const char *at, const char *end,
                            size_t fields)
{
    cri_number_style style;
    size_t           n = 0;
    for (; fields > 0; fields--) {
        cri_csv_cell cell = cri_csv_next_cell(d, at, end);
        if (cell.fault) return 0;
        n += cri_csv_style_of(cell.begin, cell.end, &style);
        at = cell.stop + 1;
    }
    return n;
}

static score try_dialect(const cri_csv_dialect *d, const sample *s)
{
    score       r = { 0, 0, 0, 0 };
    const char *end = end_of_records(d, s), *at = cri_csv_skip_blank_lines(d, s->begin, end);
    const char *first = at;
    while (at && at < end) {
        size_t fields = count_fields(d, &at, end);
        if (r.records++ == 0) r.fields = fields;
        if (at && fields == r.fields) r.matching++;
        if (at) at = cri_csv_skip_blank_lines(d, at, end);
    }
    if (r.fields > 1) r.numbers = count_numbers(d, first, end, r.fields);
    return r;
}

/* --- names of rows --------------------------------------------------------------------------- */

/* The cells of a record: how many, how many of them, at its end, are empty; whether all are texts; its first and last. */
typedef struct record {
    size_t       n, empty;
    bool         texts;
    cri_csv_cell first, last;
} record;

static bool is_empty(const cri_csv_cell *cell) { return cell->begin == cell->end && !cell->quoted; }

/* The record at `at`; where the next begins, or NULL at a fault. */
static const char *read_record(const cri_csv_dialect *d, const char *at, const char *end,
                               record *out)
{
    double value;
    *out = (record){ .texts = true };
    for (;;) {
        out->last = cri_csv_next_cell(d, at, end);
        if (out->last.fault) return NULL;
        if (out->n++ == 0) out->first = out->last;
        out->empty = is_empty(&out->last) ? out->empty + 1 : 0;
        out->texts &= cri_csv_classify(d, &out->last, &value) == CRI_CSV_TEXT;
        at = out->last.stop + 1;
        if (*out->last.stop == d->line_end) return cri_csv_skip_blank_lines(d, at, end);
    }
}

typedef enum row_names { NONE, NUMBERS, QUOTED_OR_TEXTS } row_names;

/* The first record names all columns except the first, which has the names of the rows, as R's write.table() writes it:
 * every record below has one field more.  So has a table whose lines end with a delimiter, or with a comma in every
 * name: the last fields must not all be empty and, unless blanks or tabs are between the fields, the first ones must be
 * in quotes or count 1, 2, 3, ...  Numbers without quotes are not evidently names: a name may have been forgotten, or
 * decimal commas split a column. */
static row_names find_row_names(const cri_csv_dialect *d, const sample *s)
{
    const char *end = end_of_records(d, s), *at = cri_csv_skip_blank_lines(d, s->begin, end);
    record      names, row;
    size_t      rows = 0;
    bool blanks = d->runs || d->delimiter == '\t', quoted = true, counts = true, full = false;
    bool texts = false;
    at = at < end ? read_record(d, at, end, &names) : NULL;
    if (!at || names.n < 2 || !names.texts) return NONE;
    for (; at && at < end; rows++) {
        double value;
        at = read_record(d, at, end, &row);
        if (!at || row.n != names.n + 1) return NONE;
        texts |= cri_csv_classify(d, &row.first, &value) == CRI_CSV_TEXT;
        quoted &= row.first.quoted;
        counts &= value == (double)rows + 1;
        full |= row.last.end > row.last.begin || row.last.quoted;
    }
    if (rows < 2 || !full || !(blanks || quoted || counts)) return NONE;
    return quoted || texts ? QUOTED_OR_TEXTS : NUMBERS;
}

/* Whether the first column has row names.  Of a file whose numbers have decimal commas, and its fields commas between
 * them, only what is in quotes is one: 1,11,5 is more likely the row of two numbers. */
static bool take_row_names(cri_csv *csv, const sample *s)
{
    if (csv->options->header == CRI_HEADER_NO) return false;
    row_names found = find_row_names(&csv->dialect, s);
    if (csv->asked.decimal == ',' && csv->dialect.delimiter == ',' && found == NUMBERS)
        found = NONE;
    csv->row_names_in_doubt = found == NUMBERS;
    return found != NONE;
}

/* --- empty cells at the end ------------------------------------------------------------------ */

/* Every record of the sample ends with the same number of delimiters with nothing behind them, as some programs write
 * it, and spreadsheets that once had more columns; the header may lack one of a single one.  These cells belong to no
 * column: how many columns there are, 0 where it is not so.  A header that names the last column, which is empty, has as
 * many cells as the others. */
static size_t columns_before_end(const cri_csv_dialect *d, const sample *s)
{
    const char *end = end_of_records(d, s), *at = cri_csv_skip_blank_lines(d, s->begin, end);
    record      first, row;
    size_t      rows = 0, n = 0, columns = 0;
    at = at < end && !d->runs ? read_record(d, at, end, &first) : NULL;
    for (; at && at < end; rows++) {
        if (rows == 0) columns = first.n - first.empty, n = first.n + !first.empty;
        at = read_record(d, at, end, &row);
        if (!at || row.n != n || row.n - row.empty > columns) return 0;
    }
    return at && rows > 0 ? columns : 0;
}

/* --- which delimiter ------------------------------------------------------------------------- */

/* By the part of records that match, then of fields that are numbers: 1,5;2,5 are two, not three. */
static bool is_better(score a, score b)
{
    double x = (double)a.matching * (double)b.records, y = (double)b.matching * (double)a.records;
    double u = (double)a.numbers * (double)b.fields, v = (double)b.numbers * (double)a.fields;
    return x != y ? x > y : u != v ? u > v : a.fields > b.fields;
}

static cri_csv_dialect find_dialect(char asked, char line_end, const sample *s)
{
    const char      candidates[] = { ',', ';', '\t', '|' };
    cri_csv_dialect best = cri_csv_dialect_of(asked ? asked : ',', line_end);
    score           best_score = { 1, 0, 0, 0 };
    if (asked) return best;
    for (size_t i = 0; i < sizeof candidates; i++) {
        cri_csv_dialect d = cri_csv_dialect_of(candidates[i], line_end);
        score           r = try_dialect(&d, s);
        if (find_row_names(&d, s) != NONE || columns_before_end(&d, s) > 0) r.matching = r.records;
        if (r.fields < 2 || !is_better(r, best_score)) continue;
        best = d;
        best_score = r;
    }
    if (best_score.fields > 0) return best;
    cri_csv_dialect runs = cri_csv_dialect_of(' ', line_end);
    score           r = try_dialect(&runs, s);
    bool            regular = r.matching == r.records || find_row_names(&runs, s) != NONE;
    return r.fields >= 2 && r.records >= 2 && regular ? runs : best;
}

/* true when what is loaded, which tells the dialect, is all or holds two records. */
static bool is_enough(cri_csv *csv, char asked, sample *s)
{
    csv->dialect = find_dialect(asked ? asked : s->separator, find_line_end(s), s);
    return s->complete || try_dialect(&csv->dialect, s).records >= 2;
}

/* Loads the sample, or more where that is too little; of a pipe to be followed some lines, which
 * make no more than the sample. */
static cr_status load_enough(cri_csv *csv, sample *s)
{
    cr_status st = CR_OK;
    size_t    want = csv->sizes.sample;
    char      asked;
    CR_TRY(cri_csv_ask_delimiter(csv, &asked));
    for (size_t lines = csv->follow_lines; lines > 0; lines++) {
        CR_TRY(load_lines(csv, lines, s));
        if ((size_t)(s->end - s->text) >= want) break;
        if (is_enough(csv, asked, s)) goto found;
    }
    for (;; want *= 2) {
        CR_TRY(load(csv, want, s));
        if (is_enough(csv, asked, s)) break;
    }
found:
    s->end = end_of_records(&csv->dialect, s);
done:
    return st;
}

/* --- header and types ------------------------------------------------------------------------ */

/* The kinds of one record's cells; returns the start of the next record, NULL at a fault. */
static const char *look_at_record(const cri_csv_dialect *d, const char *at, const char *end,
                                  unsigned *kinds, size_t n)
{
    for (size_t c = 0;; c++) {
        double           value;
        cri_number_style style;
        cri_csv_cell     cell = cri_csv_next_cell(d, at, end);
        if (cell.fault) return NULL;
        unsigned kind = cri_csv_classify(d, &cell, &value);
        if (isinf(value) && !(kind & CRI_CSV_TOO_LARGE)) kind |= CRI_CSV_INFINITY_WORD;
        if (kind == CRI_CSV_TEXT)
            kind |= cri_csv_style_of(cell.begin, cell.end, &style) ? CRI_CSV_STYLED_NUMBER
                                                                   : CRI_CSV_OTHER_TEXT;
        if (kind && cell.quoted) kind |= CRI_CSV_QUOTED;
        if (kind & CRI_CSV_WHOLE && *cell.begin == '0' && cell.end - cell.begin > 1)
            kind |= CRI_CSV_PADDED;
        if (c < n) kinds[c] |= kind;
        at = cell.stop + 1;
        if (*cell.stop == d->line_end) return cri_csv_skip_blank_lines(d, at, end);
    }
}

static cr_status look_at_contents(cri_csv *csv, const sample *s, const char *at, size_t columns,
                                  cri_csv_contents *out)
{
    const char *next = at;
    size_t      skip = csv->has_row_names;
    out->n = count_fields(&csv->dialect, &next, s->end) + skip;
    if (columns > 0) csv->empty_at_end = out->n > columns ? out->n - columns : 1, out->n = columns;
    out->first = cr_scratch_bytes(&csv->scratch, out->n, sizeof *out->first);
    out->later = cr_scratch_bytes(&csv->scratch, out->n, sizeof *out->later);
    if (csv->scratch.status != CR_OK) return csv->scratch.status;
    out->at = at;
    out->end = s->end;
    out->below = at = look_at_record(&csv->dialect, at, s->end, out->first + skip, out->n - skip);
    while (at && at < s->end) at = look_at_record(&csv->dialect, at, s->end, out->later, out->n);
    return CR_OK;
}

static bool all_missing(const cri_csv_contents *k)
{
    for (size_t c = 0; c < k->n; c++)
        if (k->first[c]) return false;
    return true;
}

static cr_status make_columns(cri_csv *csv, const cri_csv_contents *k)
{
    csv->columns = cr_scratch_bytes(&csv->scratch, k->n, sizeof *csv->columns);
    if (!csv->columns) return csv->scratch.status;
    csv->n = k->n;
    for (size_t c = 0; c < k->n; c++) {
        const unsigned kinds = 0xff; /* those of csv_cell.h */
        unsigned       all = k->later[c] | (csv->has_header ? 0u : k->first[c]), seen = all & kinds;
        csv->columns[c].name = cri_csv_level(&csv->names, c);
        csv->columns[c].sampled = seen;
        csv->columns[c].mode = cri_csv_is_mixed(seen) ? CRI_CSV_CATEGORY : CRI_CSV_NUMBERS;
        csv->columns[c].padded = all & CRI_CSV_PADDED && seen == CRI_CSV_WHOLE;
    }
    return CR_OK;
}

cr_status cri_csv_sample(cri_csv *csv)
{
    cr_status        st = CR_OK;
    sample           s = { .text = NULL };
    cri_csv_contents k;
    CR_TRY(cri_csv_begin_text(csv->cx, csv->source, csv->options));
    CR_TRY(cri_csv_ask_style(csv));
    CR_TRY(load_enough(csv, &s));
    CR_TRY(cri_csv_take_missing_values(csv));

    const char *at = cri_csv_skip_blank_lines(&csv->dialect, s.begin, s.end), *next = at;
    if (at >= s.end)
        CR_TRY(cr_fail(csv->cx, CR_EDATA, "%s: the file is empty", cri_source_name(csv->source)));
    csv->has_row_names = take_row_names(csv, &s);
    size_t columns = csv->has_row_names ? 0 : columns_before_end(&csv->dialect, &s);
    CR_TRY(look_at_contents(csv, &s, at, columns, &k));
    CR_TRY(cri_csv_find_header(csv, &k));
    cri_csv_header header = { .begin = s.text + (s.begin - s.text),
                              .end = s.text + (s.end - s.text),
                              .at = s.text + (at - s.text),
                              .first_line = s.first_line,
                              .n = k.n,
                              .nameless = !csv->has_header || all_missing(&k) };
    CR_TRY(cri_csv_take_names(csv, &header, &next));
    CR_TRY(make_columns(csv, &k));
    if (!csv->has_header) next = s.begin;
    csv->data_offset = (size_t)(next - s.text);
    CR_TRY(cri_csv_check_encoding(csv, s.text, csv->data_offset, 0, 1));
    CR_TRY(cri_csv_find_styles(csv, next, s.end));
    CR_TRY(cri_csv_find_doubts(csv, next, s.end));
    csv->data_line = s.first_line;
    for (const char *p = s.begin; p < next; p++) csv->data_line += *p == csv->dialect.line_end;
done:
    cr_free(csv->cx, s.text, s.capacity, 1);
    return st;
}
