/* output.c -- results: to standard output or a file, as text or CSV. */
#include "cli.h"
#include "base/number.h"
#include "data/packed.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the sink -------------------------------------------------------------------------------- */

struct sink {
    cri_packed *file; /* NULL: standard output */
    cr_status   status;
};

cr_status out_open(cli *c, const char *opt_path)
{
    cli_clear_progress(c); /* the bar has had its time */
    c->sink = cr_alloc(c->cx, 1, sizeof *c->sink);
    if (!c->sink) return CR_ENOMEM;
    bool to_file = opt_path && strcmp(opt_path, "-") != 0;
    c->sink->status = to_file ? cri_packed_create(c->cx, opt_path, &c->sink->file) : CR_OK;
    return c->sink->status;
}

static cr_status fail_stdout(cli *c)
{
    int reason = errno;
    if (reason == EINTR && cr_check_interrupt(c->cx) != CR_OK) return cr_error_status(c->cx);
    return cr_fail(c->cx, CR_EIO, "cannot write to standard output: %s", strerror(reason));
}

void out_bytes(cli *c, const char *bytes, size_t size)
{
    struct sink *s = c->sink;
    if (!s || s->status != CR_OK || size == 0) return;
    if (s->file)
        s->status = cri_packed_write(s->file, bytes, size);
    else if (fwrite(bytes, 1, size, stdout) != size)
        s->status = fail_stdout(c);
}

void out_text(cli *c, const char *format, ...)
{
    char    small[512], *text = small;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n >= (int)sizeof small) {
        text = cli_allocate((size_t)n + 1);
        va_start(args, format);
        vsnprintf(text, (size_t)n + 1, format, args);
        va_end(args);
    }
    if (c->format == FORMAT_TEXT)
        out_safe(c, text, "\n\t");
    else
        out_bytes(c, text, (size_t)n);
    if (text != small) free(text);
}

void out_lines(cli *c, const char *text, size_t most)
{
    for (const char *line = text; *line && most > 0; most--) {
        size_t n = strcspn(line, "\n");
        out_text(c, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

cr_status out_flush(cli *c)
{
    struct sink *s = c->sink;
    if (!s->file && s->status == CR_OK && fflush(stdout) != 0) s->status = fail_stdout(c);
    return s->status;
}

/* Finishes the result: the file appears only when all went well so far. */
cr_status out_close(cli *c, cr_status st)
{
    struct sink *s = c->sink;
    if (!s) return st;
    if (st == CR_OK) st = out_flush(c);
    if (s->file && st == CR_OK)
        st = cri_packed_commit(s->file);
    else if (s->file)
        cri_packed_abandon(s->file);
    cr_free(c->cx, s, 1, sizeof *s);
    c->sink = NULL;
    return st;
}

/* --- numbers and fields ---------------------------------------------------------------------- */

const char *out_number(double x, bool all_digits, char buffer[32])
{
    if (isnan(x))
        buffer[0] = '\0';
    else if (all_digits)
        buffer[cri_print_double(x, buffer)] = '\0';
    else
        snprintf(buffer, 32, "%.6g", x);
    return buffer;
}

void out_csv_field(cli *c, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        out_bytes(c, text, strlen(text));
        return;
    }
    out_bytes(c, "\"", 1);
    for (const char *p = text; *p; p++) out_bytes(c, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    out_bytes(c, "\"", 1);
}

/* --- tables ---------------------------------------------------------------------------------- */

enum { CELL = 256 }; /* room for the text of a cell */

/* Appends the entries of an array, the first eight of it. */
static size_t add_array(const json_t *array, bool all_digits, char *out, size_t used)
{
    char   number[32];
    size_t i, n = json_array_size(array);
    used += (size_t)snprintf(out + used, CELL - used, "[");
    for (i = 0; i < n && i < 8 && used < CELL - 40; i++)
        used += (size_t)snprintf(
            out + used, CELL - used, "%s%s", i ? ", " : "",
            out_number(json_number_value(json_array_get(array, i)), all_digits, number));
    return used + (size_t)snprintf(out + used, CELL - used, "%s]", i < n ? ", ..." : "");
}

/* A distribution as family(name=value, ...). */
static const char *distribution_text(const json_t *object, bool all_digits, char out[CELL])
{
    const char *key, *family = json_string_value(json_object_get(object, "family"));
    json_t     *value;
    char        number[32];
    size_t      used = (size_t)snprintf(out, CELL, "%.64s(", family ? family : ""), first = used;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (strcmp(key, "family") == 0 || used > CELL - 64) continue;
        used +=
            (size_t)snprintf(out + used, CELL - used, "%s%.20s=", used > first ? ", " : "", key);
        if (json_is_array(value))
            used = add_array(value, all_digits, out, used);
        else
            used += (size_t)snprintf(out + used, CELL - used, "%s",
                                     out_number(json_number_value(value), all_digits, number));
        if (used > CELL - 2) used = CELL - 2;
    }
    snprintf(out + used, CELL - used, ")");
    return out;
}

void out_distribution(cli *c, const json_t *object)
{
    char text[CELL];
    out_text(c, "%s", distribution_text(object, false, text));
}

/* A cell as text; numbers for people or for programs. */
static const char *cell_text(const json_t *value, bool all_digits, char buffer[CELL])
{
    if (json_is_object(value)) return distribution_text(value, all_digits, buffer);
    if (json_is_string(value)) return json_string_value(value);
    if (json_is_integer(value))
        return snprintf(buffer, CELL, "%lld", (long long)json_integer_value(value)), buffer;
    if (json_is_real(value)) return out_number(json_real_value(value), all_digits, buffer);
    if (json_is_boolean(value)) return json_is_true(value) ? "true" : "false";
    return "";
}

size_t out_width(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static void pad(cli *c, size_t n) { out_text(c, "%*s", (int)n, ""); }

/* The keys of the first row make the columns. */
static void csv_table(cli *c, const json_t *rows)
{
    size_t      i, column = 0;
    json_t     *row, *value, *first = json_array_get(rows, 0);
    const char *key;
    char        buffer[CELL];
    json_object_foreach(first, key, value)
    {
        if (column++) out_bytes(c, ",", 1);
        out_csv_field(c, key);
    }
    out_bytes(c, "\n", 1);
    json_array_foreach(rows, i, row)
    {
        column = 0;
        json_object_foreach(first, key, value)
        {
            if (column++) out_bytes(c, ",", 1);
            out_csv_field(c, cell_text(json_object_get(row, key), true, buffer));
        }
        out_bytes(c, "\n", 1);
    }
}

enum { MOST_COLUMNS = 64 };

typedef struct text_column {
    const char *key;
    size_t      width; /* 0: nothing in any row, and not shown */
    bool        left;  /* a text somewhere: aligned to the left */
} text_column;

/* What there is below the key of the column. */
static text_column measure_column(const json_t *rows, const char *key)
{
    text_column column = { .key = key };
    size_t      i;
    json_t     *row;
    char        buffer[CELL];
    json_array_foreach(rows, i, row)
    {
        const json_t *value = json_object_get(row, key);
        size_t        w = out_width(cell_text(value, false, buffer));
        if (w > column.width) column.width = w;
        column.left |= json_is_string(value) || json_is_object(value);
    }
    if (column.width > 0 && out_width(key) > column.width) column.width = out_width(key);
    return column;
}

/* One line, of the keys when there is no row; no blanks behind its last text. */
static void text_line(cli *c, const text_column *columns, size_t n, const json_t *opt_row)
{
    size_t owed = 0; /* blanks that are due before the next text */
    char   buffer[CELL];
    for (size_t j = 0; j < n; j++) {
        const text_column *k = &columns[j];
        const json_t      *value = opt_row ? json_object_get(opt_row, k->key) : NULL;
        const char        *text = opt_row ? cell_text(value, false, buffer) : k->key;
        if (k->width == 0) continue;
        size_t gap = k->width - out_width(text);
        owed += 2 + (k->left ? 0 : gap);
        if (*text) {
            pad(c, owed);
            out_safe(c, text, "");
            owed = 0;
        }
        owed += k->left ? gap : 0;
    }
    out_text(c, "\n");
}

static void text_table(cli *c, const json_t *rows)
{
    text_column columns[MOST_COLUMNS];
    size_t      i, n = 0;
    const char *key;
    json_t     *row, *unused;
    json_object_foreach(json_array_get(rows, 0), key, unused) if (n < MOST_COLUMNS) columns[n++] =
        measure_column(rows, key);
    text_line(c, columns, n, NULL);
    json_array_foreach(rows, i, row) text_line(c, columns, n, row);
}

void out_table(cli *c, const json_t *rows)
{
    if (json_array_size(rows) == 0) return;
    if (c->format == FORMAT_CSV)
        csv_table(c, rows);
    else
        text_table(c, rows);
}

void out_pairs(cli *c, const json_t *object)
{
    const char *key;
    json_t     *value;
    size_t      width = 0;
    char        buffer[CELL];
    json_object_foreach((json_t *)(uintptr_t)object, key, value) if (out_width(key) > width) width =
        out_width(key);
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (json_is_null(value)) continue;
        out_text(c, "  ");
        out_safe(c, key, "");
        pad(c, width - out_width(key) + 2);
        out_safe(c, cell_text(value, false, buffer), "");
        out_text(c, "\n");
    }
}
