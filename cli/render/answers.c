/* answers.c -- results with a line for each row. */
#include "answers.h"
#include "base/number.h"
#include "data/design/design_internal.h"
#include "data/table/date.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_WIDTH = 12, MOST_WIDTH = 40 };

answers answers_new(cr_scratch *s, size_t rows, size_t capacity)
{
    answers a = { .rows = rows };
    a.columns = cr_scratch_bytes(s, capacity + 1, sizeof *a.columns);
    if (a.columns) a.capacity = capacity;
    return a;
}

answer_column *answers_add(answers *a, const char *name, const char *key)
{
    answer_column *c = &a->columns[a->n < a->capacity ? a->n++ : a->capacity];
    *c = (answer_column){ .name = name, .key = key, .stride = 1 };
    return c;
}

const char *answers_name(cr_scratch *s, const char *prefix, const char *name)
{
    size_t size = strlen(prefix) + strlen(name) + 1;
    char  *text = cr_scratch_bytes(s, size, 1);
    if (!text) return "";
    snprintf(text, size, "%s%s", prefix, name);
    return text;
}

/* --- cells ----------------------------------------------------------------------------------- */

static bool is_text(const answer_column *c)
{
    return c->names || c->texts || (c->from && c->from->type == CR_CATEGORY);
}

/* The row of the data that row i of the answer shows. */
static size_t data_row(const answer_column *c, size_t i)
{
    return c->from_row ? c->from_row[i] : i;
}

/* A cell of the data as it was read; "" where it is missing. */
static const char *data_cell(const cr_column *c, size_t i, char *buffer)
{
    if (c->type == CR_CATEGORY) return c->codes[i] == CR_MISSING_CODE ? "" : c->levels[c->codes[i]];
    double x = c->values[i * c->stride];
    if (isnan(x)) return "";
    if (!cri_is_date(c->type)) return cri_level_text(c, x, buffer);
    cri_date_print(c->type, x, buffer);
    return buffer;
}

/* The name that the number in a row stands for; NULL without one. */
static const char *name_of(const answer_column *c, size_t i)
{
    double x = c->x[i * c->stride];
    return x >= 0 && x < (double)c->n_names ? c->names[(size_t)x] : NULL;
}

static const char *cell(const answer_column *c, size_t i, bool all_digits,
                        char buffer[CRI_DATE_SIZE])
{
    if (c->from) return data_cell(c->from, data_row(c, i), buffer);
    const char *text = c->texts ? c->texts[i] : c->names ? name_of(c, i) : NULL;
    if (c->texts || c->names) return text ? text : "";
    return out_number(c->x[i * c->stride], all_digits, buffer);
}

/* --- text and CSV ---------------------------------------------------------------------------- */

static size_t width_of(const answer_column *c)
{
    size_t width = out_width(c->name) > LEAST_WIDTH ? out_width(c->name) : LEAST_WIDTH;
    for (size_t k = 0; c->from && c->from->type == CR_CATEGORY && k < c->from->n_levels; k++) {
        size_t w = out_width(c->from->levels[k]);
        if (w > width) width = w;
    }
    return width > MOST_WIDTH ? MOST_WIDTH : width;
}

/* A line that is being put together: what does not fit is handed on. */
typedef struct line {
    cli   *c;
    size_t used, blanks; /* blanks are due before the next text, and none at the end */
    char   text[4096];
} line;

static void add_bytes(line *l, const char *bytes, size_t size)
{
    if (l->used + size > sizeof l->text) {
        out_bytes(l->c, l->text, l->used);
        l->used = 0;
    }
    if (size > sizeof l->text) {
        out_bytes(l->c, bytes, size);
        return;
    }
    memcpy(l->text + l->used, bytes, size);
    l->used += size;
}

static void add_padded(line *l, const char *text, size_t width, bool left)
{
    size_t w = out_width(text), gap = w < width ? width - w : 0;
    l->blanks += 2 + (left ? 0 : gap);
    if (*text) {
        for (; l->blanks > 0; l->blanks--) add_bytes(l, " ", 1);
        for (size_t size; *text;) { /* for people: no more than they are to see */
            const char *shown;
            text += cli_shown(text, "", &shown, &size);
            add_bytes(l, shown, size);
        }
    } else {
        l->blanks += w;
    }
    if (left) l->blanks += gap;
}

static void add_field(line *l, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        add_bytes(l, text, strlen(text));
        return;
    }
    add_bytes(l, "\"", 1);
    for (; *text; text++) add_bytes(l, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    add_bytes(l, "\"", 1);
}

/* The header, or row i. */
static void add_line(line *l, const answers *a, const size_t *widths, bool header, size_t i)
{
    bool   csv = l->c->format == FORMAT_CSV;
    size_t shown = 0;
    char   buffer[CRI_DATE_SIZE];
    for (size_t j = 0; j < a->n; j++) {
        const answer_column *c = &a->columns[j];
        if (!c->name) continue;
        const char *text = header ? c->name : cell(c, i, csv, buffer);
        if (csv && shown++) add_bytes(l, ",", 1);
        if (csv)
            add_field(l, text);
        else
            add_padded(l, text, widths[j], is_text(c));
    }
    l->blanks = 0;
    add_bytes(l, "\n", 1);
}

static cr_status print_rows(cli *c, const answers *a, bool header)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(c->cx);
    line      *l = cr_scratch_bytes(&s, 1, sizeof *l);
    size_t    *widths = cr_scratch_index(&s, a->n);

    CR_TRY(s.status);
    l->c = c;
    for (size_t j = 0; j < a->n; j++) widths[j] = a->columns[j].name ? width_of(&a->columns[j]) : 0;
    if (header) add_line(l, a, widths, true, 0);
    for (size_t i = 0; i < a->rows; i++) {
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(c->cx));
        add_line(l, a, widths, false, i);
    }
    out_bytes(c, l->text, l->used);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status answers_print(cli *c, const answers *a) { return print_rows(c, a, true); }
cr_status answers_print_more(cli *c, const answers *a) { return print_rows(c, a, false); }

/* --- JSON ------------------------------------------------------------------------------------ */

static void put_cell(const answer_column *c, size_t i, cri_sheet *to)
{
    char buffer[CRI_DATE_SIZE];
    bool named = c->from ? c->from->type == CR_CATEGORY || c->from->type == CR_BOOLEAN ||
                               cri_is_date(c->from->type)
                         : is_text(c);
    if (!named) {
        cri_put_real(to, c->key,
                     c->from ? c->from->values[data_row(c, i) * c->from->stride]
                             : c->x[i * c->stride]);
        return;
    }
    const char *text = c->from    ? data_cell(c->from, data_row(c, i), buffer)
                       : c->texts ? c->texts[i]
                                  : name_of(c, i);
    cri_put_text(to, c->key, c->from && !*text ? NULL : text);
}

static void put_row(const answers *a, size_t i, cri_sheet *row)
{
    for (size_t j = 0; j < a->n; j++) {
        const answer_column *c = &a->columns[j];
        cri_sheet           *group = c->group ? cri_sheet_get(row, c->group) : row;
        if (!c->group && !c->key) continue;
        if (!group) group = c->key ? cri_put_object(row, c->group) : cri_put_list(row, c->group);
        put_cell(c, i, group);
    }
}

/* Items of a list, or lines; one sheet for all of them. */
static cr_status print_sheets(cli *c, const answers *a, bool lines)
{
    cr_status  st = CR_OK;
    cri_sheet *row = cri_sheet_new(c->cx);
    CR_TRY(cri_sheet_status(row));
    for (size_t i = 0; i < a->rows; i++) {
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(c->cx));
        cri_sheet_clear(row);
        put_row(a, i, row);
        CR_TRY(cri_sheet_status(row));
        if (lines)
            out_result_line(c, row);
        else
            out_result_item(c, row, i == 0);
    }
done:
    cri_sheet_free(row);
    return st;
}

cr_status answers_print_lines(cli *c, const answers *a) { return print_sheets(c, a, true); }

cr_status answers_print_result(cli *c, const answers *a, const cri_sheet *head, const char *list)
{
    cr_status st = CR_OK;
    if (c->format != FORMAT_JSON) return answers_print(c, a);
    out_result_begin(c, c->verb->name, head, list);
    CR_TRY(print_sheets(c, a, false));
    out_result_end(c);
done:
    return st;
}
