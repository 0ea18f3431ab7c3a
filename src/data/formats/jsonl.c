/* jsonl.c -- lines into cells, cells into columns. */
#include "jsonl.h"
#include "jsonl_records.h"
#include "jsonl_value.h"
#include "data/csv/csv_internal.h"
#include "data/table/dictionary.h"
#include "data/table/table_internal.h"

#include <string.h>

/* Beside the codes of texts: a number, to be found in the values. */
#define NUMBER_CODE (CR_MISSING_CODE - 1)

typedef struct column {
    double        *values; /* [room], n used; NaN = missing, or a text */
    uint32_t      *codes;  /* [code_room], no fewer, from the first text on */
    size_t         n, room, code_room;
    bool           has[CRI_JSONL_TEXT + 1]; /* by kind */
    cri_dictionary texts;
    cr_type        type;     /* once settled */
    size_t         last_row; /* 1 + the row that had the key last */
} column;

struct cri_jsonl {
    cr_ctx                *cx;
    cri_source            *source;
    cri_jsonl_records      records;
    cri_dictionary         keys;
    column                *columns; /* [room], keys.n used */
    size_t                 room;
    bool                   settled;
    size_t                 rows, taken, done; /* held; given before; since the start */
    size_t                 first_line;        /* of the first row that is held */
    bool                   told_encoding;
    const cr_read_options *options;
};

/* --- records --------------------------------------------------------------------------------- */

static cr_status fail_at(cri_jsonl *r, const char *begin, const char *end, const char *at,
                         const char *what)
{
    return cri_jsonl_fail_at(&r->records, begin, end, at, what);
}

/* Warns once of a byte that is not UTF-8, or refuses it. */
static cr_status check_encoding(cri_jsonl *r)
{
    if (r->told_encoding || cri_source_foreign(r->source) >= r->records.offset) return CR_OK;
    r->told_encoding = true;
    if (r->options->encoding == CRI_ENCODING_UTF_8)
        return cr_fail(r->cx, CR_EDATA, "%s:%zu: a byte that is not UTF-8",
                       cri_source_name(r->source), r->records.line);
    cr_log(
        r->cx, CR_LOG_WARNING,
        "%s:%zu: not UTF-8: such bytes are read as Windows-1252; --encoding names another encoding",
        cri_source_name(r->source), r->records.line);
    return CR_OK;
}

/* --- cells ----------------------------------------------------------------------------------- */

static cr_status reserve(cri_jsonl *r, column *c, size_t need)
{
    size_t more = c->room ? c->room : 64;
    if (need <= c->room) return CR_OK;
    while (more < need) more *= 2;
    if (c->codes) {
        uint32_t *codes = cr_resize(r->cx, c->codes, c->code_room, more, sizeof *codes);
        if (!codes) return CR_ENOMEM;
        c->codes = codes;
        c->code_room = more;
    }
    double *values = cr_resize(r->cx, c->values, c->room, more, sizeof *values);
    if (!values) return CR_ENOMEM;
    c->values = values;
    c->room = more;
    return CR_OK;
}

/* Missing values up to row n. */
static cr_status pad(cri_jsonl *r, column *c, size_t n)
{
    cr_status st = reserve(r, c, n + 1);
    for (; st == CR_OK && c->n < n; c->n++) {
        c->values[c->n] = (double)NAN;
        if (c->codes) c->codes[c->n] = CR_MISSING_CODE;
    }
    return st;
}

/* The first text of a column: what came before are numbers. */
static cr_status begin_texts(cri_jsonl *r, column *c)
{
    if (c->codes) return CR_OK;
    c->codes = cr_resize(r->cx, NULL, 0, c->room, sizeof *c->codes);
    if (!c->codes) return CR_ENOMEM;
    c->code_room = c->room;
    for (size_t i = 0; i < c->n; i++)
        c->codes[i] = isnan(c->values[i]) ? CR_MISSING_CODE : NUMBER_CODE;
    return CR_OK;
}

static cr_status add_value(cri_jsonl *r, column *c, const cri_jsonl_value *v)
{
    cr_status st = CR_OK;
    bool      missing = v->kind == CRI_JSONL_NULL || (v->kind == CRI_JSONL_TEXT && v->length == 0);
    uint32_t  code = missing ? CR_MISSING_CODE : NUMBER_CODE;
    CR_TRY(pad(r, c, r->rows));
    if (v->kind == CRI_JSONL_TEXT && !missing) {
        CR_TRY(begin_texts(r, c));
        CR_TRY(cri_dictionary_code(r->cx, &c->texts, v->text, v->length, &code));
    }
    if (!missing) c->has[v->kind] = true;
    c->values[c->n] = missing || v->kind == CRI_JSONL_TEXT ? (double)NAN : v->number;
    if (c->codes) c->codes[c->n] = code;
    c->n++;
done:
    return st;
}

/* The column of a key, a new one where it may be; NULL where it may not. */
static cr_status find_column(cri_jsonl *r, const cri_jsonl_value *key, size_t likely, column **out)
{
    cr_status st = CR_OK;
    uint32_t  code = (uint32_t)likely;
    *out = NULL;
    if (likely < r->keys.n && strncmp(r->keys.texts[likely], key->text, key->length) == 0 &&
        r->keys.texts[likely][key->length] == '\0') {
        *out = &r->columns[likely];
        return CR_OK;
    }
    if (!cri_dictionary_find(&r->keys, key->text, key->length, &code)) {
        if (r->settled) return CR_OK;
        if (r->keys.n == r->room) {
            size_t  more = r->room ? 2 * r->room : 16;
            column *grown = cr_resize(r->cx, r->columns, r->room, more, sizeof *grown);
            if (!grown) return CR_ENOMEM;
            r->columns = grown;
            r->room = more;
        }
        CR_TRY(cri_dictionary_code(r->cx, &r->keys, key->text, key->length, &code));
        r->columns[code] = (column){ .n = 0 };
    }
    *out = &r->columns[code];
done:
    return st;
}

/* --- objects --------------------------------------------------------------------------------- */

/* A settled column takes only what it can hold. */
static bool fits(const cri_jsonl *r, const column *c, const cri_jsonl_value *v)
{
    return !r->settled || c->type == CR_CATEGORY || v->kind != CRI_JSONL_TEXT || v->length == 0;
}

static cr_status read_pair(cri_jsonl *r, const char *begin, const char *end, size_t k,
                           const char **at)
{
    cr_status       st = CR_OK;
    const char     *p = *at;
    column         *c;
    cri_jsonl_value key, value;
    if (p == end || *p != '"') return fail_at(r, begin, end, p, "a key in quotes is expected here");
    key = cri_jsonl_text(p, end, r->records.space);
    if (key.fault) return fail_at(r, begin, end, key.fault_at, key.fault);
    if (key.length == 0) return fail_at(r, begin, end, p, "a key without a name");
    CR_TRY(find_column(r, &key, k, &c));
    if (!c) {
        fail_at(r, begin, end, p, "this key is not in the rows before");
        return cr_fail_hint(
            r->cx, "give the data as a file, whose keys are read first, or use a larger --block");
    }
    if (c->last_row == r->done + 1)
        return fail_at(r, begin, end, p, "this key is in the object twice");
    c->last_row = r->done + 1;
    p = cri_jsonl_skip(key.end, end);
    if (p == end || *p != ':') return fail_at(r, begin, end, p, "a colon is expected here");
    p = cri_jsonl_skip(p + 1, end);
    value = cri_jsonl_value_read(p, end, r->records.space);
    if (value.fault) {
        fail_at(r, begin, end, value.fault_at, value.fault);
        if (p < end && *p == '{')
            cr_fail_hint(r->cx, "one object for each row: orient='records' in pandas");
        return CR_EDATA;
    }
    if (!fits(r, c, &value)) {
        fail_at(r, begin, end, p, "a text, but earlier rows have numbers");
        return cr_fail_hint(r->cx, "in a stream, types are decided by the first rows");
    }
    CR_TRY(add_value(r, c, &value));
    *at = cri_jsonl_skip(value.end, end);
done:
    return st;
}

static cr_status read_object(cri_jsonl *r, const char *begin, const char *end)
{
    cr_status   st = CR_OK;
    const char *p = cri_jsonl_skip(begin, end);
    if (*p != '{') return fail_at(r, begin, end, p, "an object { ... } is expected on each line");
    p = cri_jsonl_skip(p + 1, end);
    for (size_t k = 0; p == end || *p != '}'; k++) {
        CR_TRY(read_pair(r, begin, end, k, &p));
        if (p == end) CR_TRY(fail_at(r, begin, end, p, "the object does not end on its line"));
        if (*p == '}') break;
        if (*p != ',') CR_TRY(fail_at(r, begin, end, p, "a comma or } is expected here"));
        p = cri_jsonl_skip(p + 1, end);
        if (p < end && *p == '}')
            CR_TRY(fail_at(r, begin, end, p, "a key in quotes is expected here"));
    }
    p = cri_jsonl_skip(p + 1, end);
    if (p != end) CR_TRY(fail_at(r, begin, end, p, "there is something after the object"));
done:
    return st;
}

cr_status cri_jsonl_fill(cri_jsonl *r, size_t rows, size_t *out_rows)
{
    cr_status   st = CR_OK;
    const char *begin, *end;
    while (r->rows < rows) {
        CR_TRY(cri_jsonl_next(&r->records, &begin, &end));
        if (!begin) break;
        CR_TRY(check_encoding(r));
        if (cri_jsonl_skip(begin, end) == end) continue;
        CR_TRY(read_object(r, begin, end));
        if (r->rows++ == 0) r->first_line = r->records.line;
        r->done++;
    }
    *out_rows = r->rows;
done:
    return st;
}

/* --- columns --------------------------------------------------------------------------------- */

static cr_type type_so_far(const column *c)
{
    bool numbers = c->has[CRI_JSONL_WHOLE] || c->has[CRI_JSONL_NUMBER];
    if (c->has[CRI_JSONL_TEXT]) return CR_CATEGORY;
    if (c->has[CRI_JSONL_BOOLEAN] && !numbers) return CR_BOOLEAN;
    return c->has[CRI_JSONL_WHOLE] && !c->has[CRI_JSONL_NUMBER] ? CR_INTEGER : CR_REAL;
}

/* Numbers among texts become texts. */
static cr_status code_numbers(cri_jsonl *r, column *c)
{
    cr_status st = CR_OK;
    char      text[CRI_DOUBLE_SIZE];
    bool words = c->has[CRI_JSONL_BOOLEAN] && !c->has[CRI_JSONL_WHOLE] && !c->has[CRI_JSONL_NUMBER];
    CR_TRY(begin_texts(r, c));
    for (size_t i = 0; i < c->n; i++) {
        if (c->codes[i] != NUMBER_CODE) continue;
        const char *word = words ? c->values[i] == 1 ? "true" : "false" : text;
        if (!words) cri_print_double(c->values[i], text);
        CR_TRY(cri_dictionary_code(r->cx, &c->texts, word, strlen(word), &c->codes[i]));
    }
done:
    return st;
}

static cr_status give_column(cri_jsonl *r, size_t k, cr_table *t)
{
    cr_status   st = CR_OK;
    column     *c = &r->columns[k];
    cr_type     type = r->settled ? c->type : type_so_far(c);
    const char *name = r->keys.texts[k];
    CR_TRY(pad(r, c, r->rows));
    if (type == CR_CATEGORY) {
        CR_TRY(code_numbers(r, c));
        uint32_t *codes = cr_resize(r->cx, NULL, 0, r->rows, sizeof *codes);
        if (!codes) CR_TRY(CR_ENOMEM);
        memcpy(codes, c->codes, r->rows * sizeof *codes);
        CR_TRY(cri_table_own_category(r->cx, t, name, codes, (const char *const *)c->texts.texts,
                                      c->texts.n));
    } else {
        double *values = cr_resize(r->cx, NULL, 0, r->rows, sizeof *values);
        if (!values) CR_TRY(CR_ENOMEM);
        memcpy(values, c->values, r->rows * sizeof *values);
        CR_TRY(cri_table_own_numbers(r->cx, t, name, type, values));
    }
done:
    return st;
}

void cri_jsonl_drop(cri_jsonl *r)
{
    for (size_t k = 0; k < r->keys.n; k++) r->columns[k].n = 0;
    r->taken += r->rows;
    r->rows = 0;
}

cr_status cri_jsonl_take(cri_jsonl *r, cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    if (r->keys.n == 0)
        CR_TRY(
            cr_fail(r->cx, CR_EDATA, "%s: the objects have no keys", cri_source_name(r->source)));
    CR_TRY(cr_table_new(r->cx, cri_source_name(r->source), r->rows, &t));
    if (r->records.line - r->first_line == r->rows - 1)
        cri_table_set_first_line(t, r->first_line);
    else
        cri_table_set_first_row(t, r->taken);
    for (size_t k = 0; k < r->keys.n; k++) CR_TRY(give_column(r, k, t));
    cri_jsonl_drop(r);
    *out_table = t;
    t = NULL;
done:
    cr_table_free(r->cx, t);
    return st;
}

void cri_jsonl_settle(cri_jsonl *r, bool real)
{
    for (size_t k = 0; k < r->keys.n; k++) {
        column *c = &r->columns[k];
        c->type = type_so_far(c);
        if (real && c->type == CR_INTEGER) c->type = CR_REAL;
    }
    r->settled = true;
}

size_t cri_jsonl_columns(const cri_jsonl *r) { return r->keys.n; }

bool cri_jsonl_has_texts(const cri_jsonl *r)
{
    for (size_t k = 0; k < r->keys.n; k++)
        if (type_so_far(&r->columns[k]) == CR_CATEGORY) return true;
    return false;
}

/* --- life ------------------------------------------------------------------------------------ */

cr_status cri_jsonl_open(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                         cri_jsonl **out_reader)
{
    cr_status  st = CR_OK;
    cri_jsonl *r = cr_alloc(cx, 1, sizeof *r);
    if (!r) return CR_ENOMEM;
    *r = (cri_jsonl){
        .cx = cx, .source = source, .options = options, .records = { .cx = cx, .source = source }
    };
    CR_TRY(cri_csv_begin_text(cx, source, options));
    CR_TRY(cri_jsonl_records_open(cx, source, &r->records));
    *out_reader = r;
    return CR_OK;
done:
    cri_jsonl_free(r);
    return st;
}

void cri_jsonl_free(cri_jsonl *r)
{
    if (!r) return;
    for (size_t k = 0; k < r->keys.n; k++) {
        column *c = &r->columns[k];
        cr_free(r->cx, c->values, c->room, sizeof *c->values);
        cr_free(r->cx, c->codes, c->code_room, sizeof *c->codes);
        cri_dictionary_free(r->cx, &c->texts);
    }
    cr_free(r->cx, r->columns, r->room, sizeof *r->columns);
    cri_dictionary_free(r->cx, &r->keys);
    cri_jsonl_records_close(&r->records);
    cr_free(r->cx, r, 1, sizeof *r);
}

cr_status cri_jsonl_rewind(cri_jsonl *r)
{
    cri_jsonl_drop(r);
    for (size_t k = 0; k < r->keys.n; k++) r->columns[k].last_row = 0;
    r->taken = r->done = 0;
    return cri_jsonl_records_rewind(&r->records);
}

cr_status cri_jsonl_read(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                         cr_table **out_table)
{
    cr_status  st = CR_OK;
    cri_jsonl *r = NULL;
    size_t     rows;
    CR_TRY(cri_jsonl_open(cx, source, options, &r));
    CR_TRY(cri_jsonl_fill(r, SIZE_MAX, &rows));
    if (rows == 0) CR_TRY(cr_fail(cx, CR_EDATA, "%s: the file is empty", cri_source_name(source)));
    CR_TRY(cri_jsonl_take(r, out_table));
done:
    cri_jsonl_free(r);
    return st;
}
