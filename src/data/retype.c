/* retype.c -- copy a table column by column, changing what the options ask for. */
#include "retype.h"
#include "dictionary.h"
#include "table_internal.h"
#include "../base/context_internal.h"
#include "../base/number.h"
#include "../base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct retype {
    cr_ctx                *cx;
    const cr_table        *from;
    const cr_read_options *options;
    cr_table              *to;
} retype;

/* --- lists with commas ----------------------------------------------------------------------- */

/* The item at *list, which moves on to the next; NULL at the end. */
static const char *next_item(const char **list, size_t *out_length)
{
    if (!*list) return NULL;
    const char *item = *list;
    *out_length = strcspn(item, ",");
    *list = item[*out_length] ? item + *out_length + 1 : NULL;
    return item;
}

static bool has_item(const char *list, const char *name)
{
    size_t      n, length = strlen(name);
    const char *item;
    while ((item = next_item(&list, &n)))
        if (n == length && memcmp(item, name, n) == 0) return true;
    return false;
}

static bool has_number(const char *list, double x)
{
    size_t      n;
    double      y;
    const char *item;
    while ((item = next_item(&list, &n)))
        if (n > 0 && cri_parse_double(item, item + n, &y) == n && y == x) return true;
    return false;
}

/* Every name in the list is a column. */
static cr_status check_names(retype *r, const char *list)
{
    cr_status   st = CR_OK;
    size_t      n;
    const char *item;
    while (st == CR_OK && (item = next_item(&list, &n))) {
        char *name = cri_string_copy_n(r->cx, item, n);
        if (!name) return CR_ENOMEM;
        if (!cr_table_find(r->from, name)) st = cri_table_no_column(r->cx, r->from, name);
        cri_string_free(r->cx, name);
    }
    return st;
}

/* --- columns --------------------------------------------------------------------------------- */

/* The value of a number, NaN where it is one of the missing ones. */
static double number_at(const retype *r, const cr_column *c, size_t row)
{
    double x = c->values[row * c->stride];
    return r->options->missing_values && has_number(r->options->missing_values, x) ? (double)NAN
                                                                                   : x;
}

static cr_status copy_numbers(retype *r, const cr_column *c)
{
    size_t  n = cr_table_rows(r->from);
    cr_type type = has_item(r->options->real, c->name) ? CR_REAL : c->type;
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

static bool is_missing_text(const retype *r, const char *text)
{
    return r->options->missing_values && has_item(r->options->missing_values, text);
}

static cr_status copy_texts(retype *r, const cr_column *c)
{
    size_t    n = cr_table_rows(r->from);
    uint32_t *codes = cr_resize(r->cx, NULL, 0, n, sizeof *codes);
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        codes[i] = c->codes[i];
        if (codes[i] != CR_MISSING_CODE && is_missing_text(r, c->levels[codes[i]]))
            codes[i] = CR_MISSING_CODE;
    }
    return cri_table_own_category(r->cx, r->to, c->name, codes, c->levels, c->n_levels);
}

static cr_status texts_to_numbers(retype *r, const cr_column *c)
{
    cr_status st = CR_OK;
    size_t    n = cr_table_rows(r->from);
    char      where[256];
    double   *values = cr_resize(r->cx, NULL, 0, n, sizeof *values);
    if (!values) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        values[i] = (double)NAN;
        if (c->codes[i] == CR_MISSING_CODE) continue;
        const char *text = c->levels[c->codes[i]];
        size_t      length = strlen(text);
        if (length == 0 || is_missing_text(r, text)) continue;
        if (cri_parse_double(text, text + length, &values[i]) != length) {
            cr_fail(r->cx, CR_EDATA, "%s: '%s' in column '%s' is not a number",
                    cri_table_where(r->from, i, where, sizeof where), text, c->name);
            CR_TRY(cr_fail_hint(r->cx, "if it means a missing value: --missing-values '%s'", text));
        }
    }
    return cri_table_own_numbers(r->cx, r->to, c->name, CR_REAL, values);
done:
    cr_free(r->cx, values, n, sizeof *values);
    return st;
}

static cr_status copy_column(retype *r, const cr_column *c)
{
    if (c->type == CR_CATEGORY)
        return has_item(r->options->real, c->name) ? texts_to_numbers(r, c) : copy_texts(r, c);
    return has_item(r->options->category, c->name) ? numbers_to_texts(r, c) : copy_numbers(r, c);
}

cr_status cri_table_retype(cr_ctx *cx, cr_table *table, const cr_read_options *options,
                           cr_table **out_table)
{
    cr_status st = CR_OK;
    retype    r = { cx, table, options, NULL };
    if (!options->category && !options->real && !options->missing_values) {
        *out_table = table;
        return CR_OK;
    }
    CR_TRY(check_names(&r, options->category));
    CR_TRY(check_names(&r, options->real));
    CR_TRY(cr_table_new(cx, cr_table_source(table), cr_table_rows(table), &r.to));
    for (size_t j = 0; j < cr_table_columns(table); j++)
        CR_TRY(copy_column(&r, cr_table_column(table, j)));
    *out_table = r.to;
    r.to = NULL;
done:
    cr_table_free(cx, r.to);
    cr_table_free(cx, table);
    return st;
}
