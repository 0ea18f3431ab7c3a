/* store.c -- a model in memory: its JSON and its arrays by name. */
#include "store_internal.h"
#include "base/checked.h"
#include "base/context_internal.h"
#include "data/bytes/zip.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 200 };

/* Arrays that hold NaN or infinities on purpose are listed in the JSON under this key. */
static const char open_key[] = "not_finite";

/* --- life ------------------------------------------------------------------------------------ */

cr_status cri_store_with_json(cr_ctx *cx, const char *source, json_t *root, cri_store **out_store)
{
    cr_status  st = CR_OK;
    cri_store *s = NULL;
    if (!root) CR_TRY(cr_fail(cx, CR_ENOMEM, "%s: out of memory for the model's JSON", source));
    s = cr_alloc(cx, 1, sizeof *s);
    if (!s) CR_TRY(CR_ENOMEM);
    s->source = cri_string_copy(cx, source);
    if (!s->source) CR_TRY(CR_ENOMEM);
    s->root = root;
    *out_store = s;
    return CR_OK;
done:
    json_decref(root);
    cri_store_free(cx, s);
    return st;
}

cr_status cri_store_new(cr_ctx *cx, cri_store **out_store)
{
    return cri_store_with_json(cx, "the model", json_object(), out_store);
}

void cri_store_free(cr_ctx *cx, cri_store *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n; i++) {
        cri_string_free(cx, s->arrays[i].name);
        cr_free(cx, s->arrays[i].bytes, s->arrays[i].size, 1);
    }
    cr_free(cx, s->arrays, s->capacity, sizeof *s->arrays);
    json_decref(s->root);
    cri_string_free(cx, s->source);
    cr_free(cx, s, 1, sizeof *s);
}

json_t     *cri_store_json(const cri_store *s) { return s->root; }
const char *cri_store_source(const cri_store *s) { return s->source; }

static const cri_stored *find_exactly(const cri_store *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->arrays[i].name, name) == 0) return &s->arrays[i];
    return NULL;
}

void cri_store_within(cri_store *s, const char *prefix)
{
    snprintf(s->within, sizeof s->within, "%s%s", prefix, prefix[0] ? "/" : "");
}

enum { FULL_NAME = NAME_MOST + 32 };

/* The name in the file, in out [FULL_NAME]. */
static const char *full_name(const cri_store *s, const char *name, char *out)
{
    snprintf(out, FULL_NAME, "%s%s", s->within, name);
    return out;
}

const cri_stored *cri_store_find(const cri_store *s, const char *name)
{
    char full[FULL_NAME];
    return find_exactly(s, full_name(s, name, full));
}

/* --- adding ---------------------------------------------------------------------------------- */

/* Letters, digits, '_' and single '/' between them: a path that can be unpacked anywhere. */
static bool is_array_name(const char *name, size_t length)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/";
    if (length == 0 || length > NAME_MOST || strspn(name, allowed) < length) return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] == '/' && (i == 0 || i + 1 == length || name[i + 1] == '/')) return false;
    return true;
}

static cr_status reserve(cr_ctx *cx, cri_store *s)
{
    return cri_array_grow(cx, &s->arrays, s->n, &s->capacity, sizeof *s->arrays);
}

/* The form every array of a model file has. */
static bool is_plain(const cri_npy *a)
{
    return a->kind == CRI_NPY_REAL && a->width == 8 && !a->big_endian && !a->fortran_order &&
           a->dims > 0;
}

cr_status cri_store_add(cr_ctx *cx, cri_store *s, const char *name, size_t length, char *bytes,
                        size_t size)
{
    cr_status  st = CR_OK;
    cri_stored item = { .bytes = bytes, .size = size };
    char       where[1024];

    if (!is_array_name(name, length))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: '%.200s' cannot be the name of an array in a model file",
                       s->source, name));
    if (s->n + 1 >= CRI_ZIP_ENTRIES)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: more than %d arrays do not fit into a model file",
                       s->source, CRI_ZIP_ENTRIES - 1));
    CR_TRY(reserve(cx, s));
    item.name = cri_string_copy_n(cx, name, length);
    if (!item.name) CR_TRY(CR_ENOMEM);
    if (find_exactly(s, item.name))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: two arrays are called '%s'", s->source, item.name));
    snprintf(where, sizeof where, "%s, array '%s'", s->source, item.name);
    cri_reader r = cri_reader_open(cx, where, bytes, size);
    CR_TRY(cri_npy_parse(&r, &item.array));
    if (!is_plain(&item.array))
        CR_TRY(cri_reader_fail(
            &r,
            "a model file can only hold vectors and matrices of little-endian doubles in C order"));
    s->arrays[s->n++] = item;
    return CR_OK;
done:
    cri_string_free(cx, item.name);
    cr_free(cx, bytes, size, 1);
    return st;
}

static cr_status mark_open(cr_ctx *cx, cri_store *s, const char *name)
{
    cr_status st = CR_OK;
    if (!json_is_array(json_object_get(s->root, open_key)))
        CR_TRY(cri_store_set(cx, s->root, open_key, json_array()));
    if (json_array_append_new(json_object_get(s->root, open_key), json_string(name)) != 0)
        CR_TRY(cr_fail(cx, CR_ENOMEM, "%s: out of memory for the model's JSON", s->source));
done:
    return st;
}

static cr_status put(cr_ctx *cx, cri_store *s, const char *name, const double *a, size_t dims,
                     size_t rows, size_t cols)
{
    cr_status st = CR_OK;
    size_t    count = 0, size = 0;
    bool      finite = true;
    char      full[FULL_NAME];

    name = full_name(s, name, full);
    if (!cri_mul(rows, cols, &count) || !cri_mul(count, sizeof *a, &size) ||
        !cri_add(size, CRI_NPY_HEADER, &size))
        CR_TRY(cr_fail(cx, CR_ENOMEM, "%s: array '%s' of %zu x %zu numbers is too large", s->source,
                       name, rows, cols));
    char *bytes = cr_resize(cx, NULL, 0, size, 1);
    if (!bytes) CR_TRY(CR_ENOMEM);
    cri_npy_header(dims, rows, cols, bytes);
    cri_npy_encode(a, count, bytes + CRI_NPY_HEADER);
    for (size_t i = 0; i < count && finite; i++) finite = isfinite(a[i]);
    CR_TRY(cri_store_add(cx, s, name, strlen(name), bytes, size));
    if (!finite) CR_TRY(mark_open(cx, s, name));
done:
    return st;
}

cr_status cri_store_put_vector(cr_ctx *cx, cri_store *s, const char *name, const double *a,
                               size_t n)
{
    return put(cx, s, name, a, 1, n, 1);
}

cr_status cri_store_put_matrix(cr_ctx *cx, cri_store *s, const char *name, const double *a,
                               size_t rows, size_t cols)
{
    return put(cx, s, name, a, 2, rows, cols);
}

/* --- getting --------------------------------------------------------------------------------- */

static bool may_be_open(const cri_store *s, const char *name)
{
    const json_t *list = json_object_get(s->root, open_key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text && strcmp(text, name) == 0) return true;
    }
    return false;
}

static const char *array_name(const void *store, size_t i)
{
    return ((const cri_store *)store)->arrays[i].name;
}

static void print_shape(char out[64], size_t dims, size_t rows, size_t cols)
{
    if (dims == 1)
        snprintf(out, 64, "a vector of %zu", rows);
    else
        snprintf(out, 64, "a %zu x %zu matrix", rows, cols);
}

static cr_status find_shaped(cr_ctx *cx, const cri_store *s, const char *name, size_t dims,
                             size_t rows, size_t cols, const cri_stored **out_found)
{
    const cri_stored *found = cri_store_find(s, name);
    if (!found) {
        cr_fail(cx, CR_EDATA, "%s: the array '%s' is missing", s->source, name);
        return cr_fail_nearest(cx, name, "arrays", s->n, array_name, s);
    }
    const cri_npy *a = &found->array;
    if (a->dims != dims || a->rows != rows || a->cols != cols) {
        char is[64], wanted[64];
        print_shape(is, a->dims, a->rows, a->cols);
        print_shape(wanted, dims, rows, cols);
        return cr_fail(cx, CR_EDATA, "%s: the array '%s' is %s, but the model needs %s", s->source,
                       name, is, wanted);
    }
    *out_found = found;
    return CR_OK;
}

static cr_status get(cr_ctx *cx, const cri_store *s, const char *name, size_t dims, size_t rows,
                     size_t cols, double **out_a)
{
    cr_status         st = CR_OK;
    const cri_stored *found = NULL;
    double           *a = NULL;
    size_t            count = 0;
    char              full[FULL_NAME];

    CR_TRY(find_shaped(cx, s, name, dims, rows, cols, &found));
    count = rows * cols; /* fits: the array with that many elements is in memory */
    a = cr_resize(cx, NULL, 0, count, sizeof *a);
    if (!a) CR_TRY(CR_ENOMEM);
    name = full_name(s, name, full);
    CR_TRY(cri_npy_values(cx, s->source, &found->array, a));
    for (size_t i = 0; i < count; i++)
        if (!isfinite(a[i]) && !may_be_open(s, name))
            CR_TRY(cr_fail(cx, CR_EDATA, "%s: the array '%s' contains %g at position %zu",
                           s->source, name, a[i], i + 1));
        else if (!isfinite(a[i]))
            break; /* it was written with such values */
    *out_a = a;
    a = NULL;
done:
    cr_free(cx, a, count, sizeof *a);
    return st;
}

cr_status cri_store_get_vector(cr_ctx *cx, const cri_store *s, const char *name, size_t n,
                               double **out_a)
{
    return get(cx, s, name, 1, n, 1, out_a);
}

cr_status cri_store_get_matrix(cr_ctx *cx, const cri_store *s, const char *name, size_t rows,
                               size_t cols, double **out_a)
{
    return get(cx, s, name, 2, rows, cols, out_a);
}

bool cri_store_has(const cri_store *s, const char *name) { return cri_store_find(s, name) != NULL; }
