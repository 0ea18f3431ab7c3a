/* csv_fault.c -- what is wrong with the text, in words, with its place. */
#include "csv_internal.h"
#include "data/table/oddities.h"
#include "base/reader.h"

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

cr_status cri_csv_check_encoding(cri_csv *csv, const char *bytes, size_t size, size_t offset,
                                 size_t line)
{
    size_t      foreign = cri_source_foreign(csv->source);
    const char *at, *begin = bytes;
    if (csv->told_encoding || foreign < offset || foreign - offset >= size) return CR_OK;
    csv->told_encoding = true;
    at = bytes + (foreign - offset);
    for (const char *p = bytes; p < at; p++)
        if (*p == csv->dialect.line_end) line++, begin = p + 1;
    if (csv->options->encoding == CRI_ENCODING_UTF_8) {
        cr_fail(csv->cx, CR_EDATA, "%s:%zu:%zu: this byte is not UTF-8",
                cri_source_name(csv->source), line, (size_t)(at - begin) + 1);
        return cr_fail_hint(csv->cx, "--encoding auto reads such bytes as Windows-1252");
    }
    size_t place = 1;
    for (const char *p = begin; p < at; p++) place += ((unsigned char)*p & 0xc0) != 0x80;
    cr_log(csv->cx, CR_LOG_WARNING,
           "%s:%zu:%zu: not UTF-8: such bytes are read as Windows-1252; --encoding names another "
           "encoding",
           cri_source_name(csv->source), line, place);
    return CR_OK;
}

void cri_csv_warn_of_digits(const cri_csv *csv, cri_csv_column *k)
{
    if (!(k->seen & CRI_CSV_LOST) || k->told_digits) return;
    k->told_digits = true;
    cri_warn_of_digits(csv->cx, cri_source_name(csv->source), k->name);
}

/* A text in a column of numbers that is a number in another style: what to say then. */
static cr_status hint_style(const cri_csv *csv, const cri_number_style *s)
{
    char options[CRI_CSV_STYLE_OPTIONS];
    cri_csv_style_options(s, options);
    if (s->decimal == ',' || s->thousands)
        return cr_fail_hint(csv->cx, "numbers with %s: %s",
                            s->decimal == ',' ? "a decimal comma" : "groups of three digits",
                            options);
    return cr_fail_hint(csv->cx, "a column of numbers must have the same sign, %% or a currency, "
                                 "in all of its cells or in none");
}

/* Fields with blanks between them: what R's write.table() writes has one name fewer than fields, as
 * the names of the rows have none. */
static cr_status hint_at_blanks(const cri_csv *csv)
{
    return cr_fail_hint(
        csv->cx,
        "if R's write.table() wrote it, give the row names a name: sed '1s/^/row /' %s "
        "| credence describe -; or use write.csv() in R",
        cri_source_name(csv->source));
}

static bool is_digits(const cri_csv_cell *cell)
{
    if (cell->quoted || cell->begin == cell->end) return false;
    for (const char *p = cell->begin; p < cell->end; p++)
        if (*p < '0' || *p > '9') return false;
    return true;
}

/* Pairs of whole numbers like 11,5 in the record at `at` may be as many numbers with decimal commas: enough of them
 * to make up for all fields that are too many.  The last is *out_begin to *out_end. */
static bool may_split_decimals(const cri_csv *csv, const char *at, const char *end, size_t fields,
                               const char **out_begin, const char **out_end)
{
    size_t      pairs = 0;
    const char *whole = NULL; /* where the number begins that the next field may continue */
    bool        paired = false;
    if (csv->dialect.delimiter != ',' || csv->n < 2 || fields <= csv->n) return false;
    for (;;) {
        cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, at, end);
        if (cell.fault) return false;
        bool pair = whole && is_digits(&cell);
        if (pair) *out_begin = whole, *out_end = cell.end;
        paired = pair && !paired;
        pairs += paired;
        if (*cell.stop == csv->dialect.line_end) return pairs >= fields - csv->n;
        at = cell.stop + 1;
        whole = cell.begin;
        if (!cell.quoted && cell.begin < cell.end && *cell.begin == '-') cell.begin++;
        if (!is_digits(&cell)) whole = NULL;
    }
}

/* A row of too many fields or too few: the header may not be one.  r is at its line. */
static cr_status hint_at_fields(const cri_csv *csv, const cri_csv_piece *p, const cri_reader *r)
{
    enum { FAR_DOWN = 30 };
    const char      *begin = r->line_begin, *end = begin, *number = begin, *number_end = begin;
    cri_number_style style;
    size_t           above = r->line - 1;
    if (csv->n > 0 && csv->columns[0].name && csv->columns[0].name[0] == '#')
        return cr_fail_hint(csv->cx, "use --comment '#' if the first line is a comment");
    while (end < p->end && *end != csv->dialect.line_end && *end != '\r') end++;
    if (csv->n == 1 && cri_csv_style_of(begin, end, &style) && style.decimal == ',')
        return cr_fail_hint(csv->cx, "if this is one number with a decimal comma: --delimiter ';'");
    if (may_split_decimals(csv, begin, p->end, p->fault_fields, &number, &number_end))
        return cr_fail_hint(csv->cx,
                            "if %.*s is one number with a decimal comma: put such numbers in "
                            "quotes and use --decimal , or separate the fields by semicolons",
                            (int)(number_end - number), number);
    bool first = cri_csv_skip_blank_lines(&csv->dialect, p->begin, p->end) >= begin;
    if (!csv->has_header || p->fault_fields <= csv->n || above > FAR_DOWN || (csv->n > 1 && !first))
        return CR_EDATA;
    return cr_fail_hint(csv->cx, "if %s above it %s a title: --skip %zu",
                        above == 1 ? "the line" : "the lines", above == 1 ? "is" : "are", above);
}

cr_status cri_csv_fail(const cri_csv *csv, const cri_csv_piece *p)
{
    const char      *at = p->fault_at;
    cri_number_style style;
    int              length = p->fault_length < 60 ? (int)p->fault_length : 60;
    cri_reader       r = cri_reader_open(csv->cx, cri_source_name(csv->source), p->begin,
                                         (size_t)(p->end - p->begin));
    r.line = p->first_line;
    for (const char *c = p->begin; c < at; c++)
        if (*c == csv->dialect.line_end) r.line++, r.line_begin = c + 1;

    switch (p->fault) {
    case CRI_CSV_FINE:
        break;
    case CRI_CSV_UNCLOSED:
        return cri_reader_fail_at(&r, at, 1, "the quote that opens here is never closed");
    case CRI_CSV_AFTER_QUOTE:
        cri_reader_fail_at(&r, at, 1, "text after the closing quote of a field");
        if (*at == '"' && (at[-1] == ' ' || at[-1] == '\t')) return hint_at_blanks(csv);
        return cr_fail_hint(csv->cx, "a quote inside a quoted field is written \"\"");
    case CRI_CSV_NUL:
        cri_reader_fail_at(&r, at, 1, "a NUL byte: this is not a text file");
        return cr_fail_hint(csv->cx,
                            "if it is UTF-16 without a byte-order mark: --encoding utf-16le");
    case CRI_CSV_RAGGED:
        cri_reader_fail_at(&r, at, 1, "row has %zu field%s, the %s has %zu", p->fault_fields,
                           plural(p->fault_fields), csv->has_header ? "header" : "first row",
                           csv->n);
        return hint_at_fields(csv, p, &r);
    case CRI_CSV_NOT_A_NUMBER:
        cri_reader_fail_at(&r, at, p->fault_length, "'%.*s' in column '%s' is not a number", length,
                           at, csv->columns[p->fault_column].name);
        if (cri_csv_style_of(at, at + p->fault_length, &style) && csv->style.decimal == '.')
            return hint_style(csv, &style);
        if (csv->streaming)
            return cr_fail_hint(
                csv->cx,
                "in a stream, types are decided by the first rows; use --missing-values '%.*s' if "
                "it means missing, --category %s if the column is text, or --date %s if it has "
                "dates",
                length, at, csv->columns[p->fault_column].name, csv->columns[p->fault_column].name);
        return cr_fail_hint(csv->cx, "if it means missing, use --missing-values '%.*s'", length,
                            at);
    case CRI_CSV_OVERFLOW:
        return cri_reader_fail_at(&r, at, p->fault_length, "%.*s is out of range for a double",
                                  length, at);
    }
    return CR_OK;
}
