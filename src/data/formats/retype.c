/* retype.c -- copy a table column by column, changing what the options ask for. */
#include "retype.h"
#include "data/bytes/renames.h"
#include "data/csv/csv_cell.h"
#include "data/table/dictionary.h"
#include "data/table/oddities.h"
#include "data/table/table_internal.h"
#include "base/list.h"
#include "base/number.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct list {
    char **items; /* [n] */
    size_t n;
} list;

typedef struct retype {
    cr_ctx         *cx;
    const cr_table *from;
    list            category, real, missing, names;
    cri_renames     renames;
    cri_csv_dialect dialect; /* of typed texts: what is missing */
    bool            typed;
    cr_table       *to;
} retype;

/* --- lists ----------------------------------------------------------------------------------- */

static bool has_item(list l, const char *name)
{
    for (size_t i = 0; i < l.n; i++)
        if (strcmp(l.items[i], name) == 0) return true;
    return false;
}

static bool has_number(list l, double x)
{
    double y;
    for (size_t i = 0; i < l.n; i++) {
        size_t n = strlen(l.items[i]);
        if (cri_parse_double(l.items[i], l.items[i] + n, &y) == n && y == x) return true;
    }
    return false;
}

/* Every name in the list is a column of the new table. */
static cr_status check_names(const retype *r, list l)
{
    for (size_t i = 0; i < l.n; i++)
        if (!cri_table_has(r->to, l.items[i])) return cri_table_no_column(r->cx, r->to, l.items[i]);
    return CR_OK;
}

/* --- columns --------------------------------------------------------------------------------- */

/* The value of a number, NaN where it is one of the missing ones. */
static double number_at(const retype *r, const cr_column *c, size_t row)
{
    double x = c->values[row * c->stride];
    return has_number(r->missing, x) ? (double)NAN : x;
}

static cr_status copy_numbers(retype *r, const cr_column *c)
{
    size_t  n = cr_table_rows(r->from);
    cr_type type = has_item(r->real, c->name) ? CR_REAL : c->type;
    double *values = cr_resize(r->cx, NULL, 0, n, sizeof *values);
    if (!values) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) values[i] = number_at(r, c, i);
    return cri_table_own_numbers(r->cx, r->to, c->name, type, values);
}

static cr_status numbers_to_texts(retype *r, const cr_column *c)
{
    cr_status      st = CR_OK;
    cri_dictionary texts = { 0 };
    size_t         n = cr_table_rows(r->from);
    char           text[CRI_DOUBLE_SIZE];
    uint32_t      *codes = cr_resize(r->cx, NULL, 0, n, sizeof *codes);
    if (!codes) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) {
        double x = number_at(r, c, i);
        codes[i] = CR_MISSING_CODE;
        if (isnan(x)) continue;
        size_t length = cri_print_double(x, text);
        CR_TRY(cri_dictionary_code(r->cx, &texts, text, length, &codes[i]));
    }
    st = cri_table_own_category(r->cx, r->to, c->name, codes, (const char *const *)texts.texts,
                                texts.n);
    codes = NULL; /* taken over */
done:
    cr_free(r->cx, codes, n, sizeof *codes);
    cri_dictionary_free(r->cx, &texts);
    return st;
}

static cr_status copy_texts(retype *r, const cr_column *c)
{
    size_t    n = cr_table_rows(r->from);
    uint32_t *codes = cr_resize(r->cx, NULL, 0, n, sizeof *codes);
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        codes[i] = c->codes[i];
        if (codes[i] != CR_MISSING_CODE && has_item(r->missing, c->levels[codes[i]]))
            codes[i] = CR_MISSING_CODE;
    }
    return cri_table_own_category(r->cx, r->to, c->name, codes, c->levels, c->n_levels);
}

/* [+-]digits alone. */
static bool is_digits(const char *text)
{
    text += *text == '-' || *text == '+';
    return text[strspn(text, "0123456789")] == '\0';
}

static cr_status texts_to_numbers(retype *r, const cr_column *c)
{
    cr_status st = CR_OK;
    size_t    n = cr_table_rows(r->from);
    char      where[256];
    bool      lost = false;
    double   *values = cr_resize(r->cx, NULL, 0, n, sizeof *values);
    if (!values) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        values[i] = (double)NAN;
        if (c->codes[i] == CR_MISSING_CODE) continue;
        const char *text = c->levels[c->codes[i]];
        size_t      length = strlen(text);
        if (length == 0 || has_item(r->missing, text)) continue;
        if (cri_parse_double(text, text + length, &values[i]) != length) {
            cr_fail(r->cx, CR_EDATA, "%s: '%s' in column '%s' is not a number",
                    cri_table_where(r->from, i, where, sizeof where), text, c->name);
            char item[512];
            if (cri_list_quote(text, item, sizeof item) < sizeof item)
                cr_fail_hint(r->cx, "if it means missing, use --missing-values '%s'", item);
            CR_TRY(CR_EDATA);
        }
        lost = lost || (is_digits(text) && !cri_keeps_digits(text, text + length, values[i]));
    }
    if (lost) cri_warn_of_digits(r->cx, cr_table_source(r->from), c->name);
    return cri_table_own_numbers(r->cx, r->to, c->name, CR_REAL, values);
done:
    cr_free(r->cx, values, n, sizeof *values);
    return st;
}

/* --- texts typed as in CSV ------------------------------------------------------------------- */

/* The values of the rows, where each level has one; NaN = missing. */
static cr_status give_values(retype *r, const cr_column *c, cr_type type, const double *value)
{
    size_t  n = cr_table_rows(r->from);
    double *values = cr_resize(r->cx, NULL, 0, n, sizeof *values);
    if (!values) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++)
        values[i] = c->codes[i] == CR_MISSING_CODE ? (double)NAN : value[c->codes[i]];
    return cri_table_own_numbers(r->cx, r->to, c->name, type, values);
}

/* The levels that mean no value go. */
static cr_status give_levels(retype *r, const cr_column *c, const unsigned char *kind)
{
    size_t    n = cr_table_rows(r->from);
    uint32_t *codes = cr_resize(r->cx, NULL, 0, n, sizeof *codes);
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        codes[i] = c->codes[i];
        if (codes[i] != CR_MISSING_CODE && !kind[codes[i]]) codes[i] = CR_MISSING_CODE;
    }
    return cri_table_own_category(r->cx, r->to, c->name, codes, c->levels, c->n_levels);
}

static cr_status type_texts(retype *r, const cr_column *c)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(r->cx);
    double        *value = cr_scratch_f64(&s, c->n_levels);
    unsigned char *kind = cr_scratch_bytes(&s, c->n_levels, 1);
    unsigned       seen = 0;
    CR_TRY(s.status);
    for (size_t k = 0; k < c->n_levels; k++) {
        cri_csv_cell cell = { .begin = c->levels[k], .end = c->levels[k] + strlen(c->levels[k]) };
        kind[k] = (unsigned char)cri_csv_classify(&r->dialect, &cell, &value[k]);
        seen |= kind[k];
    }
    cr_type type = seen == CRI_CSV_WHOLE     ? CR_INTEGER
                   : seen == CRI_CSV_BOOLEAN ? CR_BOOLEAN
                                             : CR_REAL;
    bool level = cri_csv_is_mixed(seen) || cri_csv_loses_digits(seen) || seen & CRI_CSV_TOO_LARGE ||
                 has_item(r->category, c->name);
    CR_TRY(level ? give_levels(r, c, kind) : give_values(r, c, type, value));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status copy_column(retype *r, const cr_column *c)
{
    if (c->type == CR_CATEGORY && has_item(r->real, c->name)) return texts_to_numbers(r, c);
    if (c->type == CR_CATEGORY) return r->typed ? type_texts(r, c) : copy_texts(r, c);
    return has_item(r->category, c->name) ? numbers_to_texts(r, c) : copy_numbers(r, c);
}

/* --- names ----------------------------------------------------------------------------------- */

/* The new name of column k of `from`. */
static const char *name_of(retype *r, size_t k)
{
    const char *name = cri_table_ordinary_column(r->from, k)->name;
    if (r->names.n) name = r->names.items[k];
    const char *other = cri_renames_find(&r->renames, name, strlen(name), 1);
    return other ? other : name;
}

static cr_status check_count(const retype *r)
{
    size_t n = cri_table_ordinary(r->from);
    if (r->names.n == 0 && r->renames.n == 0) return CR_OK;
    if (cr_table_csr(r->from))
        return cr_fail(r->cx, CR_EUNSUPPORTED, "%s: sparse columns x1, x2, ... cannot be renamed",
                       cr_table_source(r->from));
    if (r->names.n == 0 || r->names.n == n) return CR_OK;
    cr_fail(r->cx, CR_EDATA, "%s has %zu column%s, but --names has %zu", cr_table_source(r->from),
            n, n == 1 ? "" : "s", r->names.n);
    return cr_fail_hint(r->cx, "--rename OLD=NEW changes single names");
}

static bool is_missing_number(const void *r, double x)
{
    return has_number(((const retype *)r)->missing, x);
}

/* true when a column of the sparse block is to be a category, or its zeros are missing values: then
 * the block cannot stay one. */
static bool must_be_dense(const retype *r)
{
    const cr_csr *X = cr_table_csr(r->from);
    for (size_t i = 0; X && i < r->category.n; i++)
        if (cri_numbered_column(r->category.items[i]) < X->columns) return true;
    return X && has_number(r->missing, 0);
}

/* All columns, the sparse block at its place. */
static cr_status copy_columns(retype *r, cr_table *from)
{
    cr_status   st = CR_OK;
    const char *unused;
    CR_TRY(check_count(r));
    for (size_t k = 0; k < cri_table_ordinary(from); k++) {
        cr_column c = *cri_table_ordinary_column(from, k);
        c.name = name_of(r, k);
        CR_TRY(copy_column(r, &c));
    }
    unused = cri_renames_unused(&r->renames);
    if (unused) CR_TRY(cri_table_no_column(r->cx, from, unused));
    if (r->missing.n > 0) cri_table_csr_set_missing(from, is_missing_number, r);
    cri_table_move_csr(from, r->to);
done:
    return st;
}

/* What is missing in typed texts. */
static cr_status begin_typed(cr_scratch *s, retype *r)
{
    double *numbers = cr_scratch_f64(s, r->missing.n);
    size_t  n = 0;
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < r->missing.n; i++) {
        size_t      length = strlen(r->missing.items[i]);
        const char *text = r->missing.items[i];
        n += cri_parse_double(text, text + length, &numbers[n]) == length;
    }
    r->dialect = cri_csv_dialect_of(',', '\n');
    r->dialect.missing = (const char *const *)r->missing.items;
    r->dialect.n_missing = r->missing.n;
    r->dialect.missing_numbers = numbers;
    r->dialect.n_missing_numbers = n;
    return CR_OK;
}

static bool has_texts(const cr_table *t)
{
    for (size_t k = 0; k < cri_table_ordinary(t); k++)
        if (cri_table_ordinary_column(t, k)->type == CR_CATEGORY) return true;
    return false;
}

cr_status cri_table_retype(cr_ctx *cx, cr_table *table, const cr_read_options *o,
                           cri_text_use texts, cr_table **out_table)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    retype     r = { .cx = cx, .from = table, .typed = texts == CRI_TEXTS_ARE_TYPED };
    if (!o->category && !o->real && !o->missing_values && !cri_given_names(o) && !o->rename &&
        !(r.typed && has_texts(table))) {
        *out_table = table;
        return CR_OK;
    }
    CR_TRY(cri_list_split(&s, o->category, &r.category.items, &r.category.n));
    CR_TRY(cri_list_split(&s, o->real, &r.real.items, &r.real.n));
    CR_TRY(cri_list_split(&s, o->missing_values, &r.missing.items, &r.missing.n));
    CR_TRY(cri_list_split(&s, cri_given_names(o), &r.names.items, &r.names.n));
    CR_TRY(cri_renames_begin(&s, o->rename, &r.renames));
    if (r.typed) CR_TRY(begin_typed(&s, &r));
    if (must_be_dense(&r)) {
        cr_table *sparse = table;
        table = NULL; /* taken over */
        CR_TRY(cri_table_densify(cx, sparse, &table));
        r.from = table;
    }
    CR_TRY(cr_table_new(cx, cr_table_source(table), cr_table_rows(table), &r.to));
    CR_TRY(copy_columns(&r, table));
    CR_TRY(cri_table_copy_place(cx, table, r.to));
    CR_TRY(check_names(&r, r.category));
    CR_TRY(check_names(&r, r.real));
    *out_table = r.to;
    r.to = NULL;
done:
    cr_table_free(cx, r.to);
    cr_table_free(cx, table);
    cr_scratch_end(&s);
    return st;
}
