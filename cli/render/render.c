/* render.c -- sheets as text and as CSV: tables of rows, names with their values. */
#include "../cli.h"
#include "base/find.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 256, MOST_ENTRIES = 8 }; /* room for the text of a cell; entries of a list in it */

/* --- cells ----------------------------------------------------------------------------------- */

/* Appends the entries of a list, the first eight of it. */
static size_t add_list(const cri_sheet *list, bool all_digits, char *out, size_t used)
{
    char             number[32];
    const cri_sheet *v = cri_sheet_first(list);
    used += (size_t)snprintf(out + used, CELL - used, "[");
    for (size_t i = 0; v && i < MOST_ENTRIES && used < CELL - 40; i++, v = cri_sheet_next(v))
        used += (size_t)snprintf(out + used, CELL - used, "%s%s", i ? ", " : "",
                                 out_number(cri_sheet_real(v), all_digits, number));
    return used + (size_t)snprintf(out + used, CELL - used, "%s]", v ? ", ..." : "");
}

/* A distribution as family(name=value, ...). */
static const char *distribution_text(const cri_sheet *object, bool all_digits, char out[CELL])
{
    const char *family = cri_sheet_text(cri_sheet_get(object, "family"));
    char        number[32];
    size_t      used = (size_t)snprintf(out, CELL, "%.64s(", family ? family : ""), first = used;
    for (const cri_sheet *v = cri_sheet_first(object); v; v = cri_sheet_next(v)) {
        const char *name = cri_sheet_name(v);
        if (strcmp(name, "family") == 0 || used > CELL - 64) continue;
        used +=
            (size_t)snprintf(out + used, CELL - used, "%s%.20s=", used > first ? ", " : "", name);
        if (cri_sheet_kind_of(v) == CRI_SHEET_LIST)
            used = add_list(v, all_digits, out, used);
        else
            used += (size_t)snprintf(out + used, CELL - used, "%s",
                                     out_number(cri_sheet_real(v), all_digits, number));
        if (used > CELL - 2) used = CELL - 2;
    }
    snprintf(out + used, CELL - used, ")");
    return out;
}

void out_named(cli *c, const cri_sheet *object)
{
    char text[CELL];
    out_text(c, "%s", distribution_text(object, false, text));
}

/* A cell as text; numbers for people or for programs. */
static const char *cell_text(const cri_sheet *value, bool all_digits, char buffer[CELL])
{
    switch (cri_sheet_kind_of(value)) {
    case CRI_SHEET_OBJECT:
        return distribution_text(value, all_digits, buffer);
    case CRI_SHEET_TEXT:
        return cri_sheet_text(value);
    case CRI_SHEET_COUNT:
        return snprintf(buffer, CELL, "%zu", cri_sheet_count(value)), buffer;
    case CRI_SHEET_REAL:
        return out_number(cri_sheet_real(value), all_digits, buffer);
    case CRI_SHEET_FLAG:
        return cri_sheet_is_true(value) ? "true" : "false";
    case CRI_SHEET_LIST:
    case CRI_SHEET_NULL:
        break;
    }
    return "";
}

/* --- columns --------------------------------------------------------------------------------- */

/* The names that occur in the rows, in the order in which they first do: *out_names [n] is to be freed. */
static size_t find_columns(const cri_sheet *rows, const char ***out_names)
{
    size_t       n = 0, most = cri_sheet_size(cri_sheet_first(rows)) + 8;
    const char **names = cli_allocate(most * sizeof *names);
    for (const cri_sheet *row = cri_sheet_first(rows); row; row = cri_sheet_next(row)) {
        size_t at = 0;
        for (const cri_sheet *v = cri_sheet_first(row); v; v = cri_sheet_next(v), at++) {
            const char *name = cri_sheet_name(v);
            if ((at < n && strcmp(names[at], name) == 0) || cri_has_name(names, n, name)) continue;
            if (n == most) {
                const char **more = cli_allocate((most *= 2) * sizeof *more);
                memcpy(more, names, n * sizeof *names);
                free(names);
                names = more;
            }
            names[n++] = name;
        }
    }
    *out_names = names;
    return n;
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_rows(cli *c, const cri_sheet *rows)
{
    const cri_sheet *row = cri_sheet_first(rows);
    const char     **names;
    size_t           n = find_columns(rows, &names);
    char             buffer[CELL];
    for (size_t j = 0; j < n; j++) {
        if (j > 0) out_bytes(c, ",", 1);
        out_csv_field(c, names[j]);
    }
    out_bytes(c, "\n", 1);
    for (; row; row = cri_sheet_next(row)) {
        const cri_sheet *cell = cri_sheet_first(row); /* most often the next one is asked for */
        for (size_t j = 0; j < n; j++) {
            if (!cell || strcmp(cri_sheet_name(cell), names[j]) != 0)
                cell = cri_sheet_get(row, names[j]);
            if (j > 0) out_bytes(c, ",", 1);
            out_csv_field(c, cell_text(cell, true, buffer));
            cell = cell ? cri_sheet_next(cell) : NULL;
        }
        out_bytes(c, "\n", 1);
    }
    free(names);
}

/* --- text ------------------------------------------------------------------------------------ */

typedef struct text_column {
    const char *name;
    size_t      width; /* 0: nothing in any row, and not shown */
    bool        left;  /* a text somewhere: aligned to the left */
} text_column;

static void pad(cli *c, size_t n) { out_text(c, "%*s", (int)n, ""); }

/* What there is below the name of the column. */
static text_column measure_column(const cri_sheet *rows, const char *name)
{
    text_column column = { .name = name };
    char        buffer[CELL];
    for (const cri_sheet *row = cri_sheet_first(rows); row; row = cri_sheet_next(row)) {
        const cri_sheet *value = cri_sheet_get(row, name);
        cri_sheet_kind   kind = cri_sheet_kind_of(value);
        size_t           w = out_width(cell_text(value, false, buffer));
        if (w > column.width) column.width = w;
        column.left |= kind == CRI_SHEET_TEXT || kind == CRI_SHEET_OBJECT;
    }
    if (column.width > 0 && out_width(name) > column.width) column.width = out_width(name);
    return column;
}

/* One line, of the names when there is no row; no blanks behind its last text. */
static void text_line(cli *c, const text_column *columns, size_t n, const cri_sheet *opt_row)
{
    size_t owed = 0; /* blanks that are due before the next text */
    char   buffer[CELL];
    for (size_t j = 0; j < n; j++) {
        const text_column *k = &columns[j];
        const cri_sheet   *value = cri_sheet_get(opt_row, k->name);
        const char        *text = opt_row ? cell_text(value, false, buffer) : k->name;
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

static void text_rows(cli *c, const cri_sheet *rows)
{
    const char **names;
    size_t       n = find_columns(rows, &names);
    text_column *columns = cli_allocate(n * sizeof *columns);
    for (size_t j = 0; j < n; j++) columns[j] = measure_column(rows, names[j]);
    text_line(c, columns, n, NULL);
    for (const cri_sheet *row = cri_sheet_first(rows); row; row = cri_sheet_next(row))
        text_line(c, columns, n, row);
    free(columns);
    free(names);
}

void out_rows(cli *c, const cri_sheet *rows)
{
    if (cri_sheet_size(rows) == 0) return;
    if (c->format == FORMAT_CSV)
        csv_rows(c, rows);
    else
        text_rows(c, rows);
}

void out_row(cli *c, const cri_sheet *object)
{
    cri_sheet *s = cri_sheet_new(c->cx), *rows = cri_put_list(s, "rows");
    cri_put_copy(rows, NULL, object);
    if (cri_sheet_status(s) != CR_OK) out_fail(c, CR_ENOMEM);
    out_rows(c, rows);
    cri_sheet_free(s);
}

void out_values(cli *c, const cri_sheet *object)
{
    const cri_sheet *v;
    size_t           width = 0;
    char             buffer[CELL];
    for (v = cri_sheet_first(object); v; v = cri_sheet_next(v))
        if (out_width(cri_sheet_name(v)) > width) width = out_width(cri_sheet_name(v));
    for (v = cri_sheet_first(object); v; v = cri_sheet_next(v)) {
        if (cri_sheet_kind_of(v) == CRI_SHEET_NULL) continue;
        out_text(c, "  ");
        out_safe(c, cri_sheet_name(v), "");
        pad(c, width - out_width(cri_sheet_name(v)) + 2);
        out_safe(c, cell_text(v, false, buffer), "");
        out_text(c, "\n");
    }
}

/* --- both forms ------------------------------------------------------------------------------ */

void cli_put_cell(cri_sheet *row, const char *name, double x)
{
    if (isinf(x))
        cri_put_text(row, name, x > 0 ? "inf" : "-inf");
    else
        cri_put_real(row, name, x);
}

cli_result cli_result_new(cli *c)
{
    cri_sheet *whole = cri_sheet_new(c->cx);
    cri_sheet *object = cri_put_object(whole, "object");
    return (cli_result){ whole, object, cri_put_list(whole, "rows"), false, false };
}

void cli_result_title(cli_result r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cri_put_text_list(r.whole, "title", format, args);
    va_end(args);
}

cr_status cli_result_open(cli *c, cli_result r)
{
    cr_status st = CR_OK;
    CR_TRY(cri_sheet_status(r.whole));
    CR_TRY(cli_check_strict(c));
    CR_TRY(out_open(c, c->global.output));
done:
    return st;
}

cr_status cli_result_print(cli *c, cli_result r)
{
    const char *title = cri_sheet_text(cri_sheet_get(r.whole, "title"));
    cr_status   st = cli_result_open(c, r);
    if (st != CR_OK) return st;
    if (c->format == FORMAT_TEXT && title) out_text(c, "%s\n\n", title);
    if (c->format == FORMAT_JSON)
        out_result(c, c->verb->name, r.object);
    else if (c->format == FORMAT_TEXT && r.lines)
        out_values(c, cri_sheet_first(r.rows));
    else if (r.cut)
        out_some_rows(c, r.rows);
    else
        out_rows(c, r.rows);
    return CR_OK;
}

void cli_result_free(cli_result r) { cri_sheet_free(r.whole); }
