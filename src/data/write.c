/* write.c -- fields, rows, tables. */
#include "write.h"
#include "../base/file.h"
#include "../base/number.h"
#include "../base/scratch.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* --- growing text ---------------------------------------------------------------------------- */

cri_csv cri_csv_begin(cr_ctx *cx) { return (cri_csv){ .cx = cx }; }

void cri_csv_end(cri_csv *csv)
{
    cr_free(csv->cx, csv->text, csv->capacity, 1);
    csv->text = NULL;
    csv->length = csv->capacity = 0;
}

/* Room for `more` further bytes; NULL after a failure. */
static char *make_room(cri_csv *csv, size_t more)
{
    if (csv->status != CR_OK) return NULL;
    if (csv->capacity - csv->length < more) {
        size_t capacity = csv->capacity ? csv->capacity : 4096;
        while (capacity - csv->length < more) capacity *= 2;
        char *text = cr_resize(csv->cx, csv->text, csv->capacity, capacity, 1);
        if (!text) {
            csv->status = CR_ENOMEM;
            return NULL;
        }
        csv->text = text;
        csv->capacity = capacity;
    }
    return csv->text + csv->length;
}

/* --- fields ---------------------------------------------------------------------------------- */

void cri_csv_raw(cri_csv *csv, const char *bytes, size_t length)
{
    char *at = make_room(csv, length + 1);
    if (!at) return;
    if (csv->in_row) *at++ = ',', csv->length++;
    csv->in_row = true;
    if (length) memcpy(at, bytes, length);
    csv->length += length;
}

void cri_csv_number(cri_csv *csv, double x)
{
    char text[CRI_DOUBLE_SIZE];
    cri_csv_raw(csv, text, isnan(x) ? 0 : cri_print_double(x, text));
}

void cri_csv_real(cri_csv *csv, double x)
{
    char   text[CRI_DOUBLE_SIZE + 2];
    size_t n = isnan(x) ? 0 : cri_print_double(x, text);
    if (n > 0 && strspn(text, "-0123456789") == n) {
        text[n++] = '.';
        text[n++] = '0';
    }
    cri_csv_raw(csv, text, n);
}

/* true when a reader could take the text for a number, a missing value or a truth value, or when it
 * holds a character with a meaning. */
static bool needs_quotes(const char *text)
{
    static const char *const words[] = { "", "NA", "NaN", "?", "true", "false" };
    size_t                   n = strlen(text);
    double                   x;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0) return true;
    if (strpbrk(text, ",;\t|\"\r\n") || text[0] == '#') return true;
    if (text[0] == ' ' || text[n - 1] == ' ') return true;
    return cri_parse_double(text, text + n, &x) == n;
}

void cri_csv_text(cri_csv *csv, const char *text)
{
    if (!text || !needs_quotes(text)) {
        cri_csv_raw(csv, text, text ? strlen(text) : 0);
        return;
    }
    char *at = make_room(csv, 2 * strlen(text) + 3); /* every byte may be a quote */
    if (!at) return;
    char *begin = at;
    if (csv->in_row) *at++ = ',';
    csv->in_row = true;
    *at++ = '"';
    for (; *text; text++) {
        if (*text == '"') *at++ = '"';
        *at++ = *text;
    }
    *at++ = '"';
    csv->length += (size_t)(at - begin);
}

void cri_csv_end_row(cri_csv *csv)
{
    char *at = make_room(csv, 1);
    if (!at) return;
    *at = '\n';
    csv->length++;
    csv->in_row = false;
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

static bool is_missing(const cr_column *c, size_t row)
{
    return c->type == CR_CATEGORY ? c->codes[row] == CR_MISSING_CODE
                                  : isnan(c->values[row * c->stride]);
}

/* pointed: the column is real and whole. */
static void add_cell(cri_csv *csv, const cr_column *c, bool pointed, size_t row)
{
    if (is_missing(c, row)) {
        cri_csv_raw(csv, NULL, 0);
        return;
    }
    switch (c->type) {
    case CR_CATEGORY: cri_csv_text(csv, c->levels[c->codes[row]]); return;
    case CR_BOOLEAN:
        if (c->values[row * c->stride] != 0) cri_csv_raw(csv, "true", 4);
        else cri_csv_raw(csv, "false", 5);
        return;
    case CR_REAL:
    case CR_INTEGER: break;
    }
    if (pointed) cri_csv_real(csv, c->values[row * c->stride]);
    else cri_csv_number(csv, c->values[row * c->stride]);
}

static void add_row(cri_csv *csv, const cr_table *t, const bool *pointed, size_t row)
{
    size_t d = cr_table_columns(t);
    if (d == 1 && is_missing(cr_table_column(t, 0), row)) cri_csv_raw(csv, "NA", 2);
    else
        for (size_t j = 0; j < d; j++) add_cell(csv, cr_table_column(t, j), pointed[j], row);
    cri_csv_end_row(csv);
}

static cr_status flush(cri_csv *csv, cri_file *file)
{
    cr_status st = csv->status;
    if (st == CR_OK) st = cri_file_write(file, csv->text, csv->length);
    csv->length = 0;
    return st == CR_OK ? cr_check_interrupt(csv->cx) : st;
}

cr_status cr_table_write_csv(cr_ctx *cx, const cr_table *table, const char *path)
{
    enum { CHUNK = 1 << 16 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_csv    csv = cri_csv_begin(cx);
    cri_file  *file = NULL;
    size_t     n = cr_table_rows(table), d = cr_table_columns(table);
    bool      *pointed = cr_scratch_bytes(&s, d, sizeof *pointed);

    CR_TRY(s.status);
    for (size_t j = 0; j < d; j++) {
        const cr_column *c = cr_table_column(table, j);
        pointed[j] = c->type == CR_REAL && is_whole_column(c, n);
        cri_csv_text(&csv, c->name);
    }
    cri_csv_end_row(&csv);
    CR_TRY(cri_file_create(cx, path, &file));
    for (size_t i = 0; i < n; i++) {
        add_row(&csv, table, pointed, i);
        if (csv.length >= CHUNK) CR_TRY(flush(&csv, file));
    }
    CR_TRY(flush(&csv, file));
    st = cri_file_commit(file);
    file = NULL;
done:
    cri_file_abandon(file);
    cri_csv_end(&csv);
    cr_scratch_end(&s);
    return st;
}
