/* csv_cell.c -- the field scanner and the kinds of text. */
#include "csv_cell.h"

#include <string.h>
#include <strings.h>

static unsigned char byte(char c) { return (unsigned char)c; }

cri_csv_dialect cri_csv_dialect_of(char delimiter, char line_end)
{
    cri_csv_dialect d = { .delimiter = delimiter, .line_end = line_end, .runs = delimiter == ' ' };
    d.stop[byte(delimiter)] = d.stop[byte(line_end)] = CRI_STOP;
    d.stop[0] = CRI_STOP_NUL;
    if (d.runs)
        d.stop['\t'] = CRI_STOP;
    else
        d.blank[' '] = d.blank['\t'] = 1;
    d.blank[byte(delimiter)] = 0;
    return d;
}

/* --- where fields and records are ------------------------------------------------------------ */

static const char *skip_blanks(const cri_csv_dialect *d, const char *p)
{
    while (d->blank[byte(*p)]) p++;
    return p;
}

/* At "\r\n" or "\n" (or "\r" where that ends lines): the last character of it, else NULL. */
static const char *at_line_end(const cri_csv_dialect *d, const char *p)
{
    if (*p == d->line_end) return p;
    return *p == '\r' && p[1] == d->line_end ? p + 1 : NULL;
}

const char *cri_csv_settle(const cri_csv_dialect *d, const char *p)
{
    const char *line_end = at_line_end(d, p);
    if (line_end) return line_end;
    if (!d->runs || !d->stop[byte(*p)]) return p;
    while (*p == ' ' || *p == '\t') p++;
    line_end = at_line_end(d, p);
    return line_end ? line_end : p - 1;
}

static cri_csv_cell fault(cri_csv_fault kind, const char *at)
{
    return (cri_csv_cell){ .begin = at, .end = at, .stop = at, .fault = kind, .fault_at = at };
}

/* The bytes of v that are 0, marked by their highest bit; exact up to the first. */
static uint64_t zero_bytes(uint64_t v)
{
    return (v - 0x0101010101010101) & ~v & 0x8080808080808080;
}

/* The first quote or NUL from p on, or end; eight bytes at a time. */
static const char *next_quote_or_nul(const char *p, const char *end)
{
    for (; end - p >= 8; p += 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        if (zero_bytes(v) | zero_bytes(v ^ 0x2222222222222222)) break;
    }
    while (p < end && *p != '"' && *p != '\0') p++;
    return p;
}

/* `open` is at the quote. */
static cri_csv_cell quoted_cell(const cri_csv_dialect *d, const char *open, const char *end)
{
    cri_csv_cell c = { .begin = open + 1, .quoted = true };
    const char  *p = open + 1, *nul = NULL;
    for (;; p += 2) {
        while ((p = next_quote_or_nul(p, end)) < end && *p == '\0') nul = nul ? nul : p, p++;
        if (p == end) return fault(CRI_CSV_UNCLOSED, open);
        if (p[1] != '"') break; /* there is a line end behind it at the latest */
        c.escaped = true;
    }
    if (nul) return fault(CRI_CSV_NUL, nul);
    c.end = p++;
    if (!d->runs) p = skip_blanks(d, p);
    c.stop = cri_csv_settle(d, p);
    if (d->stop[byte(*c.stop)] == CRI_STOP) return c;
    return fault(*p == '\0' ? CRI_CSV_NUL : CRI_CSV_AFTER_QUOTE, p);
}

cri_csv_cell cri_csv_next_cell(const cri_csv_dialect *d, const char *at, const char *end)
{
    const char *p = skip_blanks(d, at);
    if (*p == '"') return quoted_cell(d, p, end);
    cri_csv_cell c = { .begin = p };
    while (!d->stop[byte(*p)]) p++;
    if (*p == '\0') return fault(CRI_CSV_NUL, p);
    c.end = p;
    c.stop = d->runs ? cri_csv_settle(d, p) : p;
    if (*p == '\n' && c.end > c.begin && c.end[-1] == '\r') c.end--;
    while (c.end > c.begin && d->blank[byte(c.end[-1])]) c.end--;
    return c;
}

const char *cri_csv_skip_blank_lines(const cri_csv_dialect *d, const char *at, const char *end)
{
    while (at < end) {
        const char *p = at;
        while (d->blank[byte(*p)] || (d->runs && (*p == ' ' || *p == '\t'))) p++;
        const char *line_end = at_line_end(d, p);
        if (!line_end) return d->runs ? p : at;
        at = line_end + 1;
    }
    return end;
}

char *cri_csv_unescape(char *begin, char *end)
{
    char *to = begin;
    for (char *from = begin; from < end; from++) {
        if (*from == '"') from++; /* the second of two */
        *to++ = *from;
    }
    return to;
}

/* --- what a text is -------------------------------------------------------------------------- */

static bool equals(const char *begin, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(begin, word, n) == 0;
}

static bool means_missing(const cri_csv_dialect *d, const char *begin, const char *end)
{
    size_t n = (size_t)(end - begin);
    switch (n) {
    case 0:
        return true;
    case 1:
        if (*begin == '?') return true;
        break;
    case 2:
        if (equals(begin, n, "NA")) return true;
        break;
    case 3:
        if (equals(begin, n, "N/A") || strncasecmp(begin, "nan", 3) == 0) return true;
        break;
    case 4:
        if (equals(begin, n, "null") || equals(begin, n, "NULL") || equals(begin, n, "#N/A"))
            return true;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < d->n_missing; i++)
        if (equals(begin, n, d->missing[i])) return true;
    return false;
}

bool cri_csv_is_missing_number(const cri_csv_dialect *d, double x)
{
    for (size_t i = 0; i < d->n_missing_numbers; i++)
        if (x == d->missing_numbers[i]) return true;
    return false;
}

/* A blank: a space, a tab, or the no-break, figure, thin or narrow no-break space of UTF-8. */
static const struct {
    const char *text;
    size_t      length;
} blanks[] = { { " ", 1 },
               { "\t", 1 },
               { "\xc2\xa0", 2 },
               { "\xe2\x80\x87", 3 },
               { "\xe2\x80\x89", 3 },
               { "\xe2\x80\xaf", 3 } };

/* The length of the blank that [begin, end) begins or, if last, ends with; 0: there is none. */
static size_t blank_at(const char *begin, const char *end, bool last)
{
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++) {
        size_t n = blanks[i].length;
        if ((size_t)(end - begin) >= n && memcmp(last ? end - n : begin, blanks[i].text, n) == 0)
            return n;
    }
    return 0;
}

static void trim(const char **begin, const char **end)
{
    for (size_t n; (n = blank_at(*begin, *end, false)) > 0;) *begin += n;
    for (size_t n; (n = blank_at(*begin, *end, true)) > 0;) *end -= n;
}

void cri_csv_trim(cri_csv_cell *cell) { trim(&cell->begin, &cell->end); }

bool cri_csv_is_missing(const cri_csv_dialect *d, const cri_csv_cell *cell)
{
    const char *begin = cell->begin, *end = cell->end;
    if (cell->escaped) return false;
    trim(&begin, &end);
    return means_missing(d, begin, end);
}

unsigned cri_csv_classify(const cri_csv_dialect *d, const cri_csv_cell *cell, double *out_value)
{
    const char *begin = cell->begin, *end = cell->end;
    unsigned    notes;
    *out_value = NAN;
    if (cell->escaped) return CRI_CSV_TEXT;
    trim(&begin, &end);
    if (means_missing(d, begin, end)) return 0;
    size_t n = (size_t)(end - begin);
    if (cri_scan_double(begin, end, out_value, &notes) == n)
        return cri_csv_classify_number(d, begin, end, out_value, notes);
    *out_value = NAN;
    if (n == 4 && strncasecmp(begin, "true", n) == 0)
        *out_value = 1;
    else if (n == 5 && strncasecmp(begin, "false", n) == 0)
        *out_value = 0;
    else
        return CRI_CSV_TEXT;
    return CRI_CSV_BOOLEAN;
}

unsigned cri_csv_classify_styled(const cri_csv_dialect *d, const cri_number_style *style,
                                 const cri_csv_cell *cell, double *out_value)
{
    const char     *begin = cell->begin, *end = cell->end;
    cri_number_sign sign;
    unsigned        notes;
    *out_value = NAN;
    if (cell->escaped) return CRI_CSV_TEXT;
    trim(&begin, &end);
    if (means_missing(d, begin, end)) return 0;
    if (cri_read_styled(style, begin, end, out_value, &notes, &sign) &&
        cri_number_sign_fits(sign, style->sign))
        return cri_csv_classify_number(d, begin, end, out_value, notes);
    *out_value = NAN;
    return CRI_CSV_TEXT;
}
