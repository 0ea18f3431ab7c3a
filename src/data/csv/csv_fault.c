/* csv_fault.c -- what is wrong with the text, in words, with its place. */
#include "csv_internal.h"
#include "base/reader.h"

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

cr_status cri_csv_fail(const cri_csv *csv, const cri_csv_piece *p)
{
    const char *at = p->fault_at;
    int         length = p->fault_length < 60 ? (int)p->fault_length : 60;
    cri_reader  r = cri_reader_open(csv->cx, cri_source_name(csv->source), p->begin,
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
        return cr_fail_hint(csv->cx, "a quote inside a quoted field is written \"\"");
    case CRI_CSV_NUL:
        return cri_reader_fail_at(&r, at, 1, "a NUL byte: this is not a text file");
    case CRI_CSV_RAGGED:
        return cri_reader_fail_at(&r, at, 1, "row has %zu field%s, the %s has %zu", p->fault_fields,
                                  plural(p->fault_fields), csv->has_header ? "header" : "first row",
                                  csv->n);
    case CRI_CSV_NOT_A_NUMBER:
        cri_reader_fail_at(&r, at, p->fault_length, "'%.*s' in column '%s' is not a number", length,
                           at, csv->columns[p->fault_column].name);
        if (csv->streaming)
            return cr_fail_hint(csv->cx,
                                "a stream tells the types by its beginning; if it means a missing "
                                "value: --missing-values "
                                "'%.*s', if the column holds texts: --category %s",
                                length, at, csv->columns[p->fault_column].name);
        return cr_fail_hint(csv->cx, "if it means a missing value: --missing-values '%.*s'", length,
                            at);
    case CRI_CSV_OVERFLOW:
        return cri_reader_fail_at(&r, at, p->fault_length, "%.*s is out of range for a double",
                                  length, at);
    }
    return CR_OK;
}
