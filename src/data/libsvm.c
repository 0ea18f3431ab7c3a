/* libsvm.c -- one pass over the text gathers the entries, a second one spreads them over
 * columns. */
#include "libsvm.h"
#include "table_internal.h"
#include "../base/context_internal.h"
#include "../base/number.h"
#include "../base/reader.h"
#include "../base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The rows of the file: row i has the label label[i] and the entries begin[i] .. begin[i + 1] -
 * 1. */
typedef struct sparse {
    size_t    rows, entries, columns;
    double   *label; /* [rows] */
    size_t   *begin; /* [rows + 1] */
    uint32_t *index; /* [entries], 1 is the first column */
    double   *value; /* [entries] */
} sparse;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) at++;
    return at;
}

static const char *token_end(const char *at, const char *end)
{
    while (at < end && !is_blank(*at)) at++;
    return at;
}

/* The length of [from, to) as printf wants it, cut where a message would grow too long. */
static int shown(const char *from, const char *to)
{
    return to - from > 40 ? 40 : (int)(to - from);
}

/* --- numbers --------------------------------------------------------------------------------- */

/* Reads the finite number [from, to), which `what` names in a message. */
static cr_status read_number(cri_reader *r, const char *from, const char *to, const char *what,
                             double *out)
{
    size_t n = (size_t)(to - from);
    if (n == 1 && is_digit(*from)) {
        *out = *from - '0';
        return CR_OK;
    }
    if (cri_parse_double(from, to, out) == n && n > 0) {
        if (isfinite(*out)) return CR_OK;
        const char *why =
            isinf(*out) && cri_is_overflow(from, to) ? "too large for a number" : "not finite";
        return cri_reader_fail_at(r, from, n, "%s '%.*s' is %s", what, shown(from, to), from, why);
    }
    return cri_reader_fail_at(r, from, n, "%s '%.*s' is not a number", what, shown(from, to), from);
}

static cr_status read_label(cri_reader *r, const char *from, const char *to, double *out)
{
    size_t n = (size_t)(to - from);
    if (memchr(from, ':', n)) {
        cri_reader_fail_at(r, from, n, "the line begins with '%.*s', but the label comes first",
                           shown(from, to), from);
        return cr_fail_hint(r->cx, "where the label is not known, write 0");
    }
    if (memchr(from, ',', n)) {
        cri_reader_fail_at(r, from, n, "several labels in one row ('%.*s') are not supported",
                           shown(from, to), from);
        return cr_fail_hint(r->cx, "write one file per label");
    }
    return read_number(r, from, to, "the label", out);
}

static cr_status fail_pair(cri_reader *r, const char *from, const char *to)
{
    size_t n = (size_t)(to - from);
    if (n >= 4 && memcmp(from, "qid:", 4) == 0)
        return cri_reader_fail_at(r, from, n, "ranking data ('%.*s') are not supported",
                                  shown(from, to), from);
    return cri_reader_fail_at(r, from, n, "'%.*s' is not of the form index:value", shown(from, to),
                              from);
}

static cr_status fail_index(cri_reader *r, const char *from, const char *colon, size_t index,
                            size_t previous)
{
    size_t n = (size_t)(colon - from);
    if (index == 0) {
        cri_reader_fail_at(r, from, n, "index 0: the first column is 1");
        return cr_fail_hint(r->cx, "scikit-learn writes such files with "
                                   "dump_svmlight_file(..., zero_based=False)");
    }
    if (index > CRI_LIBSVM_MOST_COLUMNS)
        return cri_reader_fail_at(r, from, n,
                                  "index %.*s is too large: at most %d columns are read",
                                  shown(from, colon), from, (int)CRI_LIBSVM_MOST_COLUMNS);
    return cri_reader_fail_at(
        r, from, n, "index %zu after %zu: indices must increase along the line", index, previous);
}

/* --- lines ----------------------------------------------------------------------------------- */

/* The entry [from, to) of a row whose last index so far is `previous`, 0 if there is none. */
static cr_status read_pair(cri_reader *r, const char *from, const char *to, size_t previous,
                           sparse *m)
{
    size_t      index = 0;
    const char *at = from;
    for (; at < to && is_digit(*at); at++)
        if (index <= CRI_LIBSVM_MOST_COLUMNS) index = 10 * index + (size_t)(*at - '0');
    if (at == from || at == to || *at != ':') return fail_pair(r, from, to);
    if (index <= previous || index > CRI_LIBSVM_MOST_COLUMNS)
        return fail_index(r, from, at, index, previous);
    if (at + 1 == to)
        return cri_reader_fail_at(r, from, (size_t)(to - from), "no value after '%.*s'",
                                  shown(from, to), from);
    m->index[m->entries] = (uint32_t)index;
    return read_number(r, at + 1, to, "the value", &m->value[m->entries++]);
}

/* One line [at, end) without its line feed; adds a row unless the line is blank. */
static cr_status read_line(cri_reader *r, const char *at, const char *end, sparse *m)
{
    size_t previous = 0;
    at = skip_blanks(at, end);
    if (at == end) return CR_OK;
    const char *stop = token_end(at, end);
    cr_status   st = read_label(r, at, stop, &m->label[m->rows]);
    while (st == CR_OK && (at = skip_blanks(stop, end)) < end) {
        stop = token_end(at, end);
        st = read_pair(r, at, stop, previous, m);
        if (st == CR_OK) previous = m->index[m->entries - 1];
    }
    if (previous > m->columns) m->columns = previous;
    m->begin[++m->rows] = m->entries;
    return st;
}

static cr_status read_lines(cri_reader *r, sparse *m)
{
    cr_status st = CR_OK;
    if (cri_reader_left(r) >= 3 && memcmp(r->at, "\xEF\xBB\xBF", 3) == 0)
        r->at += 3; /* UTF-8 mark */
    while (st == CR_OK && r->at < r->end) {
        size_t      left = cri_reader_left(r);
        const char *feed = memchr(r->at, '\n', left), *end = feed ? feed : r->end;
        const char *hash = memchr(r->at, '#', (size_t)(end - r->at));
        st = read_line(r, r->at, hash ? hash : end, m);
        if (st == CR_OK && r->line % 4096 == 0) st = cr_check_interrupt(r->cx);
        if (!feed) break;
        r->at = r->line_begin = feed + 1;
        r->line++;
    }
    if (st == CR_OK && m->rows == 0) st = cri_reader_fail(r, "there are no rows");
    return st;
}

/* --- the table ------------------------------------------------------------------------------- */

/* Refuses a table that the memory cannot hold, before a byte of it is allocated. */
static cr_status check_size(cr_ctx *cx, const char *source, const sparse *m)
{
    enum { COLUMN_OVERHEAD = 320 }; /* name, description and their share of growing arrays */
    double d = (double)m->columns + 1, left = (double)cri_memory_left(cx);
    double need = d * ((double)m->rows * (double)sizeof(double) + COLUMN_OVERHEAD);
    if (need <= left) return CR_OK;
    cr_fail(cx, CR_ENOMEM,
            "%s: a dense table of %zu rows and %zu columns needs %.3g GB, and %.3g GB are left",
            source, m->rows, m->columns + 1, need / 1e9, left / 1e9);
    return cr_fail_hint(cx, "take fewer columns or rows, or raise --memory-limit");
}

static bool is_whole(double x)
{
    return fabs(x) <= 9007199254740992.0 && x == (double)(int64_t)x; /* 2^53 */
}

/* x [columns] pointers to zeroed columns; whole[j] stays set while column j holds whole numbers. */
static void spread(const sparse *m, double *const *x, bool *whole)
{
    for (size_t i = 0; i < m->rows; i++)
        for (size_t e = m->begin[i]; e < m->begin[i + 1]; e++) {
            size_t j = m->index[e] - 1;
            x[j][i] = m->value[e];
            if (!is_whole(m->value[e])) whole[j] = false;
        }
}

static cr_status add_columns(cr_ctx *cx, const sparse *m, double **x, const bool *whole,
                             cr_table *table)
{
    char      name[32];
    cr_status st = CR_OK;
    for (size_t j = 0; j < m->columns && st == CR_OK; j++) {
        double *values = x[j];
        x[j] = NULL; /* taken over, also on failure */
        snprintf(name, sizeof name, "x%zu", j + 1);
        st = cri_table_own_numbers(cx, table, name, whole[j] ? CR_INTEGER : CR_REAL, values);
        if (st == CR_OK && j % 4096 == 0) st = cr_check_interrupt(cx);
    }
    bool label_whole = true;
    for (size_t i = 0; i < m->rows; i++) label_whole = label_whole && is_whole(m->label[i]);
    if (st != CR_OK) return st;
    return cr_table_add_numbers(cx, table, "y", label_whole ? CR_INTEGER : CR_REAL, m->label, 1);
}

static cr_status make_table(cr_ctx *cx, const char *source, const sparse *m, cr_table **out_table)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_table  *table = NULL;
    double   **x = cr_scratch_bytes(&s, m->columns, sizeof *x);
    bool      *whole = cr_scratch_bytes(&s, m->columns, sizeof *whole);

    CR_TRY(s.status);
    for (size_t j = 0; j < m->columns; j++) {
        whole[j] = true;
        x[j] = cr_alloc(cx, m->rows, sizeof *x[j]);
        if (!x[j]) CR_TRY(CR_ENOMEM);
        if (j % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
    }
    spread(m, x, whole);
    CR_TRY(cr_table_new(cx, source, m->rows, &table));
    CR_TRY(add_columns(cx, m, x, whole, table));
    *out_table = table;
    table = NULL;
done:
    for (size_t j = 0; x && j < m->columns; j++) cr_free(cx, x[j], m->rows, sizeof *x[j]);
    cr_table_free(cx, table);
    cr_scratch_end(&s);
    return st;
}

static size_t count_byte(const char *bytes, size_t size, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) n += bytes[i] == c;
    return n;
}

cr_status cri_libsvm_read(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                          cr_table **out_table)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_reader r = cri_reader_open(cx, source, bytes, size);
    /* Every entry has a colon and every row but the last a line feed. */
    size_t entries = count_byte(r.begin, size, ':'), rows = count_byte(r.begin, size, '\n') + 1;
    sparse m = { .label = cr_scratch_f64(&s, rows),
                 .begin = cr_scratch_index(&s, rows + 1),
                 .index = (uint32_t *)cr_scratch_index(&s, entries / 2 + 1),
                 .value = cr_scratch_f64(&s, entries) };

    CR_TRY(s.status);
    m.begin[0] = 0;
    CR_TRY(read_lines(&r, &m));
    CR_TRY(check_size(cx, source, &m));
    CR_TRY(make_table(cx, source, &m, out_table));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- telling the format ---------------------------------------------------------------------- */

/* true when [at, end) begins with `number index:`. */
static bool is_labelled_pair(const char *at, const char *end)
{
    double      x;
    const char *stop = token_end(at, end);
    if (at == stop || cri_parse_double(at, stop, &x) != (size_t)(stop - at)) return false;
    at = skip_blanks(stop, end);
    stop = at;
    while (stop < end && is_digit(*stop)) stop++;
    return stop > at && stop < end && *stop == ':';
}

/* true when [at, end) is a number alone: a row of zeros. */
static bool is_label(const char *at, const char *end)
{
    double      x;
    const char *stop = token_end(at, end);
    return at < stop && cri_parse_double(at, stop, &x) == (size_t)(stop - at) &&
           skip_blanks(stop, end) == end;
}

bool cri_libsvm_looks_like(const char *text, size_t size)
{
    const char *end = size ? text + size : text;
    for (const char *at = text, *feed; at < end; at = feed + 1) {
        feed = memchr(at, '\n', (size_t)(end - at));
        if (!feed) feed = end;
        const char *hash = memchr(at, '#', (size_t)(feed - at)), *stop = hash ? hash : feed;
        at = skip_blanks(at, stop);
        if (at == stop) continue;
        if (!is_label(at, stop)) return is_labelled_pair(at, stop);
    }
    return false;
}
