/* attributes.c -- reading labelled sequences with attributes: one pass over the text into entries, then
 * the columns one after the other. */
#include "attributes.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "base/scratch.h"
#include "data/table/dictionary.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

/* One attribute of a row: a code of its column's texts, or a number. */
typedef struct entry {
    uint32_t column, code;
    double   number;
} entry;

typedef struct column {
    cri_dictionary texts;
    bool           number;
    size_t         row; /* 1 + the last that has a value */
} column;

typedef struct reader {
    cr_ctx        *cx;
    const char    *source;
    size_t         line;
    cri_dictionary names; /* of the columns */
    column        *columns;
    size_t         n_columns, room_columns;
    cri_dictionary labels;
    uint32_t      *label; /* [rows] */
    double        *sequence;
    size_t        *start; /* [rows + 1] */
    size_t         rows, room_label, room_sequence, room_start;
    entry         *entries;
    size_t         n, room;
    char          *text; /* of a field, without escapes */
    size_t         room_text;
    size_t         sequences;
    bool           open; /* the sequence at hand has a row */
} reader;

static cr_status fail_line(const reader *r, const char *what, const char *name)
{
    return cr_fail(r->cx, CR_EDATA, "%s:%zu: the attribute '%s' %s", r->source, r->line, name,
                   what);
}

/* --- fields ----------------------------------------------------------------------------------- */

/* The name of an attribute without escapes into r->text; *opt_weight: where its weight begins, NULL
 * without one. */
static cr_status unescape(reader *r, const char *begin, const char *end, const char **opt_weight)
{
    size_t n = 0, length = (size_t)(end - begin);
    if (length + 1 > r->room_text) {
        char *text = cr_resize(r->cx, r->text, r->room_text, 2 * length + 16, 1);
        if (!text) return CR_ENOMEM;
        r->text = text;
        r->room_text = 2 * length + 16;
    }
    *opt_weight = NULL;
    for (const char *at = begin; at < end; at++) {
        if (*at == ':') {
            *opt_weight = at + 1;
            break;
        }
        if (*at == '\\' && at + 1 < end) at++;
        r->text[n++] = *at;
    }
    r->text[n] = '\0';
    return CR_OK;
}

/* The column of this name, which is new or of the same kind. */
static cr_status find_column(reader *r, const char *name, size_t length, bool number, uint32_t *out)
{
    size_t    before = r->names.n;
    cr_status st = cri_dictionary_code(r->cx, &r->names, name, length, out);
    if (st != CR_OK) return st;
    if (r->names.n > before) {
        if (r->names.n > CRI_ATTRIBUTES_MOST_COLUMNS)
            return cr_fail(r->cx, CR_EDATA, "%s:%zu: there are more than %d names of attributes",
                           r->source, r->line, CRI_ATTRIBUTES_MOST_COLUMNS);
        st = cri_array_grow(r->cx, &r->columns, before, &r->room_columns, sizeof *r->columns);
        if (st != CR_OK) return st;
        r->columns[r->n_columns++] = (column){ .number = number };
    }
    column *c = &r->columns[*out];
    if (c->number != number)
        return fail_line(r, "has a value in one row and none in another", r->names.texts[*out]);
    if (c->row == r->rows + 1) return fail_line(r, "is there twice in a row", r->names.texts[*out]);
    c->row = r->rows + 1;
    return CR_OK;
}

static cr_status read_attribute(reader *r, const char *begin, const char *end)
{
    cr_status   st = CR_OK;
    entry       e = { .number = 1 };
    const char *weight;
    CR_TRY(unescape(r, begin, end, &weight));
    char *equals = weight ? NULL : strchr(r->text, '=');
    if (!*r->text || equals == r->text)
        CR_TRY(cr_fail(r->cx, CR_EDATA, "%s:%zu: there is an attribute without a name", r->source,
                       r->line));
    if (weight && (cri_parse_double(weight, end, &e.number) != (size_t)(end - weight) ||
                   weight == end || !isfinite(e.number)))
        CR_TRY(fail_line(r, "has a weight that is not a number", r->text));
    size_t length = equals ? (size_t)(equals - r->text) : strlen(r->text);
    CR_TRY(find_column(r, r->text, length, !equals, &e.column));
    if (equals)
        CR_TRY(cri_dictionary_code(r->cx, &r->columns[e.column].texts, equals + 1,
                                   strlen(equals + 1), &e.code));
    CR_TRY(cri_array_grow(r->cx, &r->entries, r->n, &r->room, sizeof *r->entries));
    r->entries[r->n++] = e;
done:
    return st;
}

/* --- lines ------------------------------------------------------------------------------------ */

static cr_status read_row(reader *r, const char *begin, const char *end)
{
    cr_status   st = CR_OK;
    const char *tab = memchr(begin, '\t', (size_t)(end - begin)), *stop = tab ? tab : end;
    uint32_t    label = CR_MISSING_CODE;
    if (!r->open) r->sequences++;
    r->open = true;
    CR_TRY(cri_array_grow(r->cx, &r->label, r->rows, &r->room_label, sizeof *r->label));
    CR_TRY(cri_array_grow(r->cx, &r->sequence, r->rows, &r->room_sequence, sizeof *r->sequence));
    CR_TRY(cri_array_grow(r->cx, &r->start, r->rows + 1, &r->room_start, sizeof *r->start));
    if (stop > begin)
        CR_TRY(cri_dictionary_code(r->cx, &r->labels, begin, (size_t)(stop - begin), &label));
    r->label[r->rows] = label;
    r->sequence[r->rows] = (double)r->sequences;
    r->start[r->rows] = r->n;
    while (stop < end) {
        const char *next = memchr(stop + 1, '\t', (size_t)(end - stop - 1)), *from = stop + 1;
        stop = next ? next : end;
        if (stop > from) CR_TRY(read_attribute(r, from, stop)); /* two tabs are one */
    }
    r->start[++r->rows] = r->n;
done:
    return st;
}

static cr_status read_lines(reader *r, const char *bytes, size_t size)
{
    cr_status   st = CR_OK;
    const char *at = bytes, *last = bytes + size;
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) at += 3;
    if (memchr(bytes, '\0', size))
        CR_TRY(cr_fail(r->cx, CR_EDATA, "%s: a text of attributes has no zero bytes", r->source));
    while (at < last) {
        const char *end = memchr(at, '\n', (size_t)(last - at)), *next = end ? end + 1 : last;
        if (!end) end = last;
        if (end > at && end[-1] == '\r') end--;
        if (++r->line % 4096 == 0) CR_TRY(cr_check_interrupt(r->cx));
        if (end == at)
            r->open = false;
        else
            CR_TRY(read_row(r, at, end));
        at = next;
    }
    if (r->rows == 0) CR_TRY(cr_fail(r->cx, CR_EDATA, "%s: there are no rows", r->source));
done:
    return st;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Column j, from those entries that are its own: at[first[j]] .. at[first[j + 1] - 1], in rows `row`. */
static cr_status add_column(reader *r, size_t j, const size_t *at, const size_t *row, size_t n,
                            uint32_t *codes, double *numbers, cr_table *t)
{
    const column *c = &r->columns[j];
    bool          whole = true;
    for (size_t i = 0; i < r->rows; i++) codes[i] = CR_MISSING_CODE, numbers[i] = 0;
    for (size_t k = 0; k < n; k++) {
        const entry *e = &r->entries[at[k]];
        codes[row[k]] = e->code;
        numbers[row[k]] = e->number;
        whole = whole && e->number == floor(e->number);
    }
    if (c->number)
        return cr_table_add_numbers(r->cx, t, r->names.texts[j], whole ? CR_INTEGER : CR_REAL,
                                    numbers, 1);
    return cr_table_add_category(r->cx, t, r->names.texts[j], codes,
                                 (const char *const *)c->texts.texts, c->texts.n);
}

static cr_status make_table(reader *r, cr_table **out_table)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(r->cx);
    cr_table  *t = NULL;
    size_t     columns = r->names.n, *first = cr_scratch_bytes(&s, columns + 2, sizeof *first);
    size_t    *at = cr_scratch_index(&s, r->n), *row = cr_scratch_index(&s, r->n);
    uint32_t  *codes = cr_scratch_bytes(&s, r->rows, sizeof *codes);
    double    *numbers = cr_scratch_f64(&s, r->rows);

    CR_TRY(s.status);
    CR_TRY(cr_table_new(r->cx, r->source, r->rows, &t));
    CR_TRY(cr_table_add_numbers(r->cx, t, "sequence", CR_INTEGER, r->sequence, 1));
    CR_TRY(cr_table_add_category(r->cx, t, "label", r->label, (const char *const *)r->labels.texts,
                                 r->labels.n));
    for (size_t e = 0; e < r->n; e++) first[r->entries[e].column + 2]++;
    for (size_t j = 0; j < columns; j++) first[j + 2] += first[j + 1];
    for (size_t i = 0; i < r->rows; i++)
        for (size_t e = r->start[i]; e < r->start[i + 1]; e++) {
            size_t to = first[r->entries[e].column + 1]++;
            at[to] = e, row[to] = i;
        }
    for (size_t j = 0; j < columns; j++) {
        CR_TRY(cr_check_interrupt(r->cx));
        CR_TRY(add_column(r, j, at + first[j], row + first[j], first[j + 1] - first[j], codes,
                          numbers, t));
    }
    *out_table = t;
    t = NULL;
done:
    cr_table_free(r->cx, t);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_attributes_read(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                              cr_table **out_table)
{
    reader    r = { .cx = cx, .source = source };
    cr_status st = read_lines(&r, bytes, size);
    if (st == CR_OK) st = make_table(&r, out_table);
    for (size_t j = 0; j < r.n_columns; j++) cri_dictionary_free(cx, &r.columns[j].texts);
    cr_free(cx, r.columns, r.room_columns, sizeof *r.columns);
    cri_dictionary_free(cx, &r.names);
    cri_dictionary_free(cx, &r.labels);
    cr_free(cx, r.label, r.room_label, sizeof *r.label);
    cr_free(cx, r.sequence, r.room_sequence, sizeof *r.sequence);
    cr_free(cx, r.start, r.room_start, sizeof *r.start);
    cr_free(cx, r.entries, r.room, sizeof *r.entries);
    cr_free(cx, r.text, r.room_text, 1);
    return st;
}
