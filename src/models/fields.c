/* fields.c -- states saved, loaded and freed by the list of their members. */
#include "fields.h"

#include <math.h>

static size_t count_at(const void *state, size_t offset)
{
    return *(const size_t *)((const char *)state + offset);
}

static bool is_array(const cri_field *f)
{
    return f->kind == CRI_KIND_VECTOR || f->kind == CRI_KIND_MATRIX;
}

/* The elements of an array; SIZE_MAX where their number overflows. */
static size_t elements(const cri_field *f, const void *state)
{
    size_t rows = count_at(state, f->rows);
    size_t cols = f->kind == CRI_KIND_MATRIX ? count_at(state, f->cols) : 1;
    return cols && rows > SIZE_MAX / sizeof(double) / cols ? SIZE_MAX : rows * cols;
}

static double **array_at(void *state, const cri_field *f)
{
    return (double **)((char *)state + f->offset);
}

static cr_status write_field(cr_ctx *cx, const cri_field *f, const void *state, cri_store *store,
                             json_t *out)
{
    const char   *at = (const char *)state + f->offset;
    const double *a;
    switch (f->kind) {
    case CRI_KIND_COUNT:
        return cri_store_set(cx, out, f->name, json_integer((json_int_t) * (const size_t *)at));
    case CRI_KIND_FLAG:
        return cri_store_set(cx, out, f->name, json_boolean(*(const bool *)at));
    case CRI_KIND_REAL: {
        double x = *(const double *)at;
        return cri_store_set(cx, out, f->name, isfinite(x) ? json_real(x) : json_null());
    }
    default:
        break;
    }
    a = *(double *const *)at;
    if (!a) return CR_OK;
    if (f->kind == CRI_KIND_VECTOR)
        return cri_store_put_vector(cx, store, f->name, a, count_at(state, f->rows));
    return cri_store_put_matrix(cx, store, f->name, a, count_at(state, f->rows),
                                count_at(state, f->cols));
}

cr_status cri_fields_write(cr_ctx *cx, const cri_field *fields, const void *state, cri_store *store,
                           json_t *out)
{
    cr_status st = CR_OK;
    for (const cri_field *f = fields; f->kind != CRI_KIND_LAST && st == CR_OK; f++)
        st = write_field(cx, f, state, store, out);
    return st;
}

static cr_status read_field(cr_ctx *cx, const cri_field *f, const cri_store *store,
                            const json_t *in, void *state)
{
    char   *at = (char *)state + f->offset;
    json_t *value = json_object_get(in, f->name);
    switch (f->kind) {
    case CRI_KIND_COUNT:
        return cri_store_get_count(cx, store, in, f->name, (size_t *)at);
    case CRI_KIND_FLAG:
        if (!json_is_boolean(value))
            return cr_fail(cx, CR_EDATA, "%s: '%s' is neither true nor false",
                           cri_store_source(store), f->name);
        *(bool *)at = json_is_true(value);
        return CR_OK;
    case CRI_KIND_REAL:
        *(double *)at = NAN;
        if (json_is_null(value)) return CR_OK;
        return cri_store_get_real(cx, store, in, f->name, (double *)at);
    default:
        break;
    }
    if (elements(f, state) == SIZE_MAX)
        return cr_fail(cx, CR_EDATA, "%s: the array '%s' is too large", cri_store_source(store),
                       f->name);
    if (!cri_store_has(store, f->name) && f->optional) return CR_OK;
    if (f->kind == CRI_KIND_VECTOR)
        return cri_store_get_vector(cx, store, f->name, count_at(state, f->rows), (double **)at);
    return cri_store_get_matrix(cx, store, f->name, count_at(state, f->rows),
                                count_at(state, f->cols), (double **)at);
}

cr_status cri_fields_read(cr_ctx *cx, const cri_field *fields, const cri_store *store,
                          const json_t *in, void *state)
{
    cr_status st = CR_OK;
    for (const cri_field *f = fields; f->kind != CRI_KIND_LAST && st == CR_OK; f++)
        st = read_field(cx, f, store, in, state);
    return st;
}

cr_status cri_fields_allocate(cr_ctx *cx, const cri_field *fields, void *state)
{
    for (const cri_field *f = fields; f->kind != CRI_KIND_LAST; f++) {
        if (!is_array(f) || f->optional) continue;
        *array_at(state, f) = cr_alloc(cx, elements(f, state), sizeof(double));
        if (!*array_at(state, f)) return cr_error_status(cx);
    }
    return CR_OK;
}

void cri_fields_free(cr_ctx *cx, const cri_field *fields, void *state)
{
    for (const cri_field *f = fields; f->kind != CRI_KIND_LAST; f++) {
        if (!is_array(f)) continue;
        cr_free(cx, *array_at(state, f), elements(f, state), sizeof(double));
        *array_at(state, f) = NULL;
    }
}
