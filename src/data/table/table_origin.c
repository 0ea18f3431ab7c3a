/* table_origin.c -- where the rows of a table come from: lines of a file, rows of another table. */
#include "table_private.h"
#include "base/context_internal.h"

#include <stdio.h>
#include <string.h>

void cri_table_set_written(cr_table *t, const char *written)
{
    t->columns[t->n - 1].view.written = written;
}

bool cri_is_in_percent(const cr_column *c)
{
    return c->written && strcmp(c->written, CRI_WRITTEN_PERCENT) == 0;
}

cr_status cri_fail_without_header(cr_ctx *cx)
{
    return cr_fail_hint(
        cx,
        "--names a,b,... names the columns; if the first line has their names, use --header yes");
}

void cri_table_set_first_line(cr_table *t, size_t first_line) { t->first_line = first_line; }

void cri_table_set_first_row(cr_table *t, size_t first_row) { t->first_row = first_row; }

cr_status cri_table_set_reading(cr_ctx *cx, cr_table *t, const cr_read_options *options)
{
    if (!options || t->reading || !cri_read_options_any_kept(options)) return CR_OK;
    t->reading = cr_alloc(cx, 1, sizeof *t->reading);
    if (!t->reading) return CR_ENOMEM;
    cr_status st = cr_options_init(cx, cr_read_table, t->reading);
    return st == CR_OK ? cri_read_options_keep(cx, options, t->reading) : st;
}

const cr_read_options *cri_table_reading(const cr_table *t) { return t->reading; }

static cr_status copy_place(cr_ctx *cx, const cr_table *from, cr_table *to)
{
    to->first_line = from->first_line;
    to->first_row = from->first_row;
    to->open_ended = from->open_ended;
    return cri_table_set_reading(cx, to, from->reading);
}

cr_status cri_table_copy_place(cr_ctx *cx, const cr_table *from, cr_table *to)
{
    size_t        n;
    const size_t *starts = cri_table_leaves(from, &n);
    cr_status     st = copy_place(cx, from, to);
    if (st != CR_OK) return st;
    return starts ? cri_table_set_leaves(cx, to, starts, n) : cri_fail_memory(cx, sizeof *starts);
}

cr_status cri_table_set_origin(cr_ctx *cx, cr_table *t, const cr_table *from, const size_t *rows)
{
    size_t *origin = cr_resize(cx, NULL, 0, t->rows, sizeof *origin);
    if (!origin) return CR_ENOMEM;
    for (size_t i = 0; i < t->rows; i++) origin[i] = from->origin ? from->origin[rows[i]] : rows[i];
    t->origin = origin;
    cr_status st = copy_place(cx, from, t);
    return st == CR_OK ? cri_table_take_leaves(cx, t, from, rows) : st;
}

const char *cri_table_where(const cr_table *t, size_t row, char *out, size_t size)
{
    if (t->origin) row = t->origin[row];
    if (t->first_line)
        snprintf(out, size, "%s:%zu", t->source, t->first_line + row);
    else
        snprintf(out, size, "%s, row %zu", t->source, t->first_row + row + 1);
    return out;
}
