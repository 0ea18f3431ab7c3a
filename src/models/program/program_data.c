/* program_data.c -- what a program sees of a table: its columns by name; and of a file of CmdStan's JSON, whose
 * numbers and nested arrays have names.  Texts are the whole numbers 1, 2, ... of their levels, in their order. */
#include "base/bytes.h"
#include "base/context_internal.h"
#include "data/bytes/source.h"
#include "data/table/table_internal.h"
#include "program.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

static bool names(const cri_syntax *node, const char *name)
{
    if ((node->kind == CRI_SYN_NAME || node->kind == CRI_SYN_DECLARED) && node->text &&
        strcmp(node->text, name) == 0)
        return true;
    for (const cri_syntax *child = node->child; child; child = child->next)
        if (names(child, name)) return true;
    return false;
}

static const cri_syntax *data_block(const cri_syntax_tree *tree)
{
    for (const cri_syntax *i = tree->root->child; i; i = i->next)
        if (i->kind == CRI_SYN_BLOCK && strcmp(i->text, "data") == 0) return i;
    return NULL;
}

bool cri_program_reads(const cri_syntax_tree *tree, const char *name)
{
    if (!tree->has_blocks) return names(tree->root, name);
    const cri_syntax *block = data_block(tree);
    for (const cri_syntax *i = block ? block->child : NULL; i; i = i->next)
        for (const cri_syntax *d = cri_syntax_child(i, 3); d; d = d->next)
            if (d->kind == CRI_SYN_DECLARED && strcmp(d->text, name) == 0) return true;
    return false;
}

cr_status cri_program_columns(cr_ctx *cx, const cri_syntax_tree *tree, const cr_table *table,
                              char **out_features)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_table_columns(table), size = 1, used = 0;
    char      *list, numbered[CR_NAME_SIZE];
    for (size_t i = 0; i < n; i++) size += strlen(cr_table_column_name(table, i, numbered)) + 1;
    list = cr_scratch_bytes(&s, size, 1);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) { /* what a program can name needs no quotes */
        const char *name = cr_table_column_name(table, i, numbered);
        if (!cri_program_reads(tree, name)) continue;
        if (used) list[used++] = ',';
        memcpy(list + used, name, strlen(name));
        used += strlen(name);
    }
    *out_features = used ? cri_string_copy(cx, list) : NULL;
    if (used && !*out_features) st = CR_ENOMEM;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- JSON ------------------------------------------------------------------------------------- */

typedef struct reading {
    cr_scratch *s;
    const char *path, *name;
    size_t      dims, dim[CRI_VALUE_DIMS];
    bool        whole;
    double     *values;
    size_t      n;
} reading;

static cr_status fail_shape(const reading *r)
{
    return cr_fail(r->s->cx, CR_EDATA,
                   "%s: '%s' is ragged: its rows are not all of the same length", r->path, r->name);
}

/* A number, as it may be written: 1, 1.5, "NaN", "Inf", "-Inf". */
static bool read_number(const json_t *value, double *out)
{
    const char *text = json_string_value(value);
    if (text) {
        bool minus = text[0] == '-';
        if (strcmp(text, "NaN") == 0) return *out = NAN, true;
        if (strcmp(text + minus, "Inf") != 0 && strcmp(text + minus, "Infinity") != 0) return false;
        return *out = minus ? -INFINITY : INFINITY, true;
    }
    if (!json_is_number(value)) return false;
    return *out = json_number_value(value), true;
}

static cr_status measure(reading *r, const json_t *value)
{
    r->n = 1;
    for (r->dims = 0; json_is_array(value); value = json_array_get(value, 0)) {
        if (r->dims == CRI_VALUE_DIMS)
            return cr_fail(r->s->cx, CR_EDATA, "%s: '%s' has more than %d dimensions", r->path,
                           r->name, CRI_VALUE_DIMS);
        r->n *= r->dim[r->dims++] = json_array_size(value);
    }
    return CR_OK;
}

static cr_status fill(reading *r, const json_t *value, size_t depth, size_t *at)
{
    cr_status st = CR_OK;
    if (depth == r->dims) {
        r->whole = r->whole && json_is_integer(value);
        if (*at == r->n) return fail_shape(r);
        if (!read_number(value, &r->values[(*at)++])) {
            if (json_is_array(value)) return fail_shape(r);
            cr_fail(r->s->cx, CR_EDATA, "%s: value %zu of '%s' is not a number", r->path, *at,
                    r->name);
            CR_TRY(cr_fail_hint(r->s->cx, "levels are written as 1, 2, ..., and what is missing is "
                                          "left out by indices"));
        }
        goto done;
    }
    if (!json_is_array(value) || json_array_size(value) != r->dim[depth]) return fail_shape(r);
    for (size_t i = 0; i < r->dim[depth]; i++)
        CR_TRY(fill(r, json_array_get(value, i), depth + 1, at));
done:
    return st;
}

static char *copy(cr_scratch *s, const char *text)
{
    char *out = cr_scratch_bytes(s, strlen(text) + 1, 1);
    if (out) memcpy(out, text, strlen(text));
    return out;
}

static cr_status read_json(cr_scratch *s, const cri_syntax_tree *tree, const char *path,
                           const char *bytes, size_t size, cri_program_datum **out, size_t *out_n)
{
    cr_status    st = CR_OK;
    json_error_t error;
    const char  *key;
    json_t      *value, *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        CR_TRY(cr_fail(s->cx, CR_EDATA, "%s:%d:%d: not JSON: %s", path, error.line, error.column,
                       error.text));
    if (!json_is_object(root)) {
        cr_fail(s->cx, CR_EDATA, "%s: the data of a program are an object of numbers and arrays",
                path);
        CR_TRY(cr_fail_hint(s->cx, "{\"N\": 3, \"y\": [1, 2.5, 3]}; rows can be given as CSV"));
    }
    *out = cr_scratch_bytes(s, json_object_size(root) + 1, sizeof **out);
    CR_TRY(s->status);
    json_object_foreach(root, key, value)
    {
        reading r = { .s = s, .path = path, .name = key, .whole = true };
        size_t  at = 0;
        if (!cri_program_reads(tree, key)) continue;
        CR_TRY(measure(&r, value));
        r.values = cr_scratch_f64(s, r.n + 1);
        CR_TRY(s->status);
        CR_TRY(fill(&r, value, 0, &at));
        if (at != r.n) CR_TRY(fail_shape(&r));
        cri_program_datum d = { .name = copy(s, key),
                                .whole = r.whole,
                                .column = r.dims == 1,
                                .dims = (unsigned)r.dims,
                                .values = r.values };
        memcpy(d.dim, r.dim, sizeof d.dim);
        (*out)[(*out_n)++] = d;
    }
    st = s->status;
done:
    json_decref(root);
    return st;
}

static cr_status read_json_file(cr_scratch *s, const cri_syntax_tree *tree, const char *path,
                                cri_program_datum **out, size_t *out_n)
{
    cr_status   st = CR_OK;
    cri_source *source = NULL;
    cri_block   bytes = { 0 };
    if (path[0] == '{') return read_json(s, tree, "--arrays", path, strlen(path), out, out_n);
    CR_TRY(cri_source_open(s->cx, path, &source));
    CR_TRY(cri_source_load(s->cx, source, &bytes));
    CR_TRY(read_json(s, tree, path, bytes.bytes, bytes.size, out, out_n));
done:
    cr_free(s->cx, bytes.bytes, bytes.capacity, 1);
    cri_source_close(source);
    return st;
}

/* --- columns ---------------------------------------------------------------------------------- */

static cr_status read_column(cr_scratch *s, const cri_rows *rows, size_t j, cri_program_datum *out)
{
    const cri_design_column *c = &rows->design->columns[j];
    double                  *x = cr_scratch_f64(s, rows->n);
    bool                     level = c->type == CR_CATEGORY;
    if (s->status != CR_OK) return s->status;
    cri_rows_fill_term(rows, j, 0, rows->n, x, 1);
    for (size_t i = 0; level && i < rows->n; i++) x[i] += 1;
    *out = (cri_program_datum){ .name = c->name,
                                .whole = level || c->type == CR_INTEGER || c->type == CR_BOOLEAN,
                                .column = true,
                                .dims = 1,
                                .dim = { rows->n },
                                .values = x,
                                .levels = level ? (const char *const *)c->levels : NULL,
                                .n_levels = level ? c->n_levels : 0 };
    return CR_OK;
}

cr_status cri_program_data(cr_scratch *s, const cri_syntax_tree *tree, const cri_rows *rows,
                           const char *opt_json, cri_program_datum **out_data, size_t *out_n)
{
    cr_status          st = CR_OK;
    const cr_design   *d = rows->design;
    size_t             n = 0, given = 0;
    cri_program_datum *all, *json = NULL;
    double            *N = cr_scratch_f64(s, 1);
    bool               counted = false;
    if (opt_json) CR_TRY(read_json_file(s, tree, opt_json, &json, &given));
    all = cr_scratch_bytes(s, d->n_columns + given + 2, sizeof *all);
    CR_TRY(s->status);
    for (size_t j = 0; j < d->n_columns; j++)
        if (cri_program_reads(tree, d->columns[j].name)) CR_TRY(read_column(s, rows, j, &all[n++]));
    for (size_t i = 0; i < given; i++) {
        for (size_t j = 0; j < n; j++)
            if (strcmp(all[j].name, json[i].name) == 0)
                CR_TRY(cr_fail(s->cx, CR_EARG, "program: '%s' is both a column and in %s",
                               json[i].name, opt_json));
        all[n++] = json[i];
    }
    for (size_t j = 0; j < n; j++) counted = counted || strcmp(all[j].name, "N") == 0;
    if (tree->has_blocks && !counted && d->n_columns > 0 && cri_program_reads(tree, "N")) {
        *N = (double)rows->n; /* int N is declared for the rows, which are counted here */
        all[n++] = (cri_program_datum){ .name = "N", .whole = true, .values = N };
    }
    *out_data = all, *out_n = n;
done:
    return st;
}
