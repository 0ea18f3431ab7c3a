/* write.c -- fields, rows, tables. */
#include "data/csv/csv_lines.h"
#include "data/bytes/packed.h"
#include "data/table/date.h"
#include "data/table/table_internal.h"
#include "write.h"
#include "base/number.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* --- growing text ---------------------------------------------------------------------------- */

cri_writer cri_writer_begin(cr_ctx *cx) { return (cri_writer){ .cx = cx }; }

void cri_writer_end(cri_writer *out)
{
    cr_free(out->cx, out->text, out->capacity, 1);
    out->text = NULL;
    out->length = out->capacity = 0;
}

/* Room for `more` further bytes; NULL after a failure. */
static char *reserve(cri_writer *out, size_t more)
{
    if (out->status != CR_OK) return NULL;
    if (out->capacity - out->length < more) {
        size_t capacity = out->capacity ? out->capacity : 4096;
        while (capacity - out->length < more) capacity *= 2;
        char *text = cr_resize(out->cx, out->text, out->capacity, capacity, 1);
        if (!text) {
            out->status = CR_ENOMEM;
            return NULL;
        }
        out->text = text;
        out->capacity = capacity;
    }
    return out->text + out->length;
}

/* --- fields ---------------------------------------------------------------------------------- */

void cri_write_raw(cri_writer *out, const char *bytes, size_t length)
{
    char *at = reserve(out, length + 1);
    if (!at) return;
    if (out->in_row) *at++ = ',', out->length++;
    out->in_row = true;
    if (length) memcpy(at, bytes, length);
    out->length += length;
}

void cri_write_number(cri_writer *out, double x)
{
    char text[CRI_DOUBLE_SIZE];
    cri_write_raw(out, text, isnan(x) ? 0 : cri_print_double(x, text));
}

void cri_write_real(cri_writer *out, double x)
{
    char   text[CRI_DOUBLE_SIZE + 2];
    size_t n = isnan(x) ? 0 : cri_print_double(x, text);
    if (n > 0 && strspn(text, "-0123456789") == n) {
        text[n++] = '.';
        text[n++] = '0';
    }
    cri_write_raw(out, text, n);
}

/* true when the text holds a character that means something to a reader, or blanks that it would
 * drop or, in a table of one column, take for delimiters. */
static bool needs_quotes(const cri_writer *out, const char *text)
{
    size_t n = strlen(text);
    if (n == 0) return true;
    if (strpbrk(text, ",;\t|\"\r\n")) return true;
    return out->quote_blanks ? strchr(text, ' ') != NULL : text[0] == ' ' || text[n - 1] == ' ';
}

void cri_write_text(cri_writer *out, const char *text)
{
    if (!text || !needs_quotes(out, text)) {
        cri_write_raw(out, text, text ? strlen(text) : 0);
        return;
    }
    char *at = reserve(out, 2 * strlen(text) + 3); /* every byte may be a quote */
    if (!at) return;
    char *begin = at;
    if (out->in_row) *at++ = ',';
    out->in_row = true;
    *at++ = '"';
    for (; *text; text++) {
        if (*text == '"') *at++ = '"';
        *at++ = *text;
    }
    *at++ = '"';
    out->length += (size_t)(at - begin);
}

void cri_write_end_row(cri_writer *out)
{
    char *at = reserve(out, 1);
    if (!at) return;
    *at = '\n';
    out->length++;
    out->in_row = false;
}

/* --- tables ---------------------------------------------------------------------------------- */

static bool is_whole_column(const cr_column *c, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        double x = c->values[i * c->stride];
        if (x != floor(x) && !isnan(x)) return false;
    }
    return true;
}

/* pointed: the column is real and whole. */
static void add_cell(cri_writer *out, const cr_column *c, bool pointed, size_t row)
{
    char date[CRI_DATE_SIZE];
    if (cri_is_missing(c, row)) {
        cri_write_raw(out, NULL, 0);
        return;
    }
    switch (c->type) {
    case CR_CATEGORY:
        cri_write_text(out, c->levels[c->codes[row]]);
        return;
    case CR_BOOLEAN:
        if (c->values[row * c->stride] != 0)
            cri_write_raw(out, "true", 4);
        else
            cri_write_raw(out, "false", 5);
        return;
    case CR_DATE:
    case CR_DATETIME:
        cri_write_raw(out, date, cri_date_print(c->type, c->values[row * c->stride], date));
        return;
    case CR_REAL:
    case CR_INTEGER:
        break;
    }
    if (pointed)
        cri_write_real(out, c->values[row * c->stride]);
    else
        cri_write_number(out, c->values[row * c->stride]);
}

/* The cells of the sparse block in a row, zeros written out. */
static void add_sparse_cells(cri_writer *out, const cr_table *t, const bool *pointed, size_t row)
{
    const cr_csr *X = cr_table_csr(t);
    size_t        e = X->row_start[row], end = X->row_start[row + 1];
    for (size_t j = 0; j < X->columns; j++) {
        bool      there = e < end && X->column[e] == j;
        double    x = there ? X->value[e] : 0;
        cr_column cell = { .type = cr_table_csr_type(t), .values = &x };
        add_cell(out, &cell, pointed[j], 0);
        e += there;
    }
}

static void add_row(cri_writer *out, const cr_table *t, const bool *pointed, size_t row)
{
    size_t        d = cr_table_columns(t), n = cri_table_ordinary(t), first = cr_table_csr_first(t);
    const cr_csr *X = cr_table_csr(t);
    size_t        start = out->length;
    for (size_t k = 0; k <= n; k++) {
        if (X && k == first) add_sparse_cells(out, t, pointed + first, row);
        if (k == n) break;
        add_cell(out, cri_table_ordinary_column(t, k),
                 pointed[X && k >= first ? k + X->columns : k], row);
    }
    if (d == 1 && out->length == start) { /* the only field is missing: no blank line */
        out->in_row = false;
        cri_write_raw(out, "NA", 2);
    }
    cri_write_end_row(out);
}

/* pointed[j]: column j is real, and all its values are whole. */
static void find_pointed(const cr_table *t, bool *pointed)
{
    size_t        first = cr_table_csr_first(t), sparse = 0, rows = cr_table_rows(t);
    const cr_csr *X = cr_table_csr(t);
    if (X) {
        sparse = X->columns;
        for (size_t j = 0; j < sparse; j++) pointed[first + j] = cr_table_csr_type(t) == CR_REAL;
        for (size_t e = 0; e < X->row_start[X->rows]; e++)
            if (X->value[e] != floor(X->value[e]) && !isnan(X->value[e]))
                pointed[first + X->column[e]] = false;
    }
    for (size_t k = 0; k < cri_table_ordinary(t); k++) {
        const cr_column *c = cri_table_ordinary_column(t, k);
        pointed[X && k >= first ? k + sparse : k] = c->type == CR_REAL && is_whole_column(c, rows);
    }
}

static cr_status flush(cri_writer *out, cri_packed *file)
{
    cr_status st = out->status;
    if (st == CR_OK) st = cri_packed_write(file, out->text, out->length);
    out->length = 0;
    return st == CR_OK ? cr_check_interrupt(out->cx) : st;
}

cr_status cr_table_write_csv(cr_ctx *cx, const cr_table *table, const char *path)
{
    enum { CHUNK = 1 << 16 };
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_writer  out = cri_writer_begin(cx);
    cri_packed *file = NULL;
    size_t      n = cr_table_rows(table), d = cr_table_columns(table);
    bool       *pointed = cr_scratch_bytes(&s, d, sizeof *pointed);
    char        name[CR_NAME_SIZE];

    CR_TRY(s.status);
    out.quote_blanks = d == 1;
    find_pointed(table, pointed);
    for (size_t j = 0; j < d; j++) cri_write_text(&out, cr_table_column_name(table, j, name));
    cri_write_end_row(&out);
    CR_TRY(cri_packed_create(cx, path, &file));
    for (size_t i = 0; i < n; i++) {
        add_row(&out, table, pointed, i);
        if (out.length >= CHUNK) CR_TRY(flush(&out, file));
    }
    CR_TRY(flush(&out, file));
    st = cri_packed_commit(file);
    file = NULL;
done:
    cri_packed_abandon(file);
    cri_writer_end(&out);
    cr_scratch_end(&s);
    return st;
}
