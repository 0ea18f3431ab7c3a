/* record_store.c -- records saved and loaded by the list of their members. */
#include "record_store.h"
#include "store_internal.h"
#include "base/context_internal.h"
#include "base/range.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether the file has it. */
static bool is_kept(const cri_member *m)
{
    return !cri_member_has(m, "made") && !cri_member_has(m, "found");
}

static bool is_whole(const cri_member *m)
{
    return m->kind == CRI_MEMBER_index || m->kind == CRI_MEMBER_codes;
}

/* --- writing ---------------------------------------------------------------------------------- */

static json_t *choice_name(const char *choices, int k)
{
    const char *text;
    size_t      length = cri_choice_text(choices, k, &text);
    return json_stringn(text, length);
}

static cr_status write_whole(cr_ctx *cx, const cri_member *m, const void *state, const void *a,
                             cri_store *store)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    const char *name = cri_member_file_name(m);
    size_t      rows = cri_member_rows(m, state), cols = cri_member_cols(m, state);
    double     *x = cr_scratch_matrix(&s, rows, cols);
    CR_TRY(s.status);
    for (size_t i = 0; i < rows * cols; i++) x[i] = cri_member_whole_at(m, a, i);
    CR_TRY(m->kind == CRI_MEMBER_codes ? cri_store_put_matrix(cx, store, name, x, rows, cols)
                                       : cri_store_put_vector(cx, store, name, x, rows));
done:
    cr_scratch_end(&s);
    return st;
}

/* How many numbers `rows` rows of lower triangles n wide have. */
static size_t triangle_size(size_t rows, size_t n)
{
    return n % 2 ? (n + 1) / 2 * rows : rows / 2 * (n + 1);
}

/* The lower triangles, row after row, to or from one vector. */
static void copy_triangles(size_t rows, size_t n, double *a, double *packed, bool pack)
{
    for (size_t i = 0; i < rows; i++) {
        size_t count = i % n + 1;
        memcpy(pack ? packed : a + i * n, pack ? a + i * n : packed, count * sizeof *a);
        packed += count;
    }
}

static cr_status write_triangles(cr_ctx *cx, const cri_member *m, const void *state, double *a,
                                 cri_store *store)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     rows = cri_member_rows(m, state), n = cri_member_cols(m, state);
    size_t     size = triangle_size(rows, n);
    double    *packed = cr_scratch_f64(&s, size);
    CR_TRY(s.status);
    copy_triangles(rows, n, a, packed, true);
    CR_TRY(cri_store_put_vector(cx, store, cri_member_file_name(m), packed, size));
done:
    cr_scratch_end(&s);
    return st;
}

/* NaN as -1. */
static cr_status write_gaps(cr_ctx *cx, const cri_member *m, const double *a, size_t n,
                            cri_store *store)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *x = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) x[i] = isnan(a[i]) ? -1 : a[i];
    CR_TRY(cri_store_put_vector(cx, store, cri_member_file_name(m), x, n));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status write_list(cr_ctx *cx, const cri_member *m, const double *a, size_t n, json_t *out)
{
    json_t   *list = json_array();
    cr_status st = cri_store_set(cx, out, cri_member_file_name(m), list);
    for (size_t i = 0; st == CR_OK && i < n; i++)
        st = cri_store_append(cx, list, isfinite(a[i]) ? json_real(a[i]) : json_null());
    return st;
}

static cr_status write_array(cr_ctx *cx, const cri_member *m, const void *state, cri_store *store,
                             json_t *out)
{
    void     *a = *(void *const *)((const char *)state + m->offset);
    size_t    rows = cri_member_rows(m, state);
    cr_status st = CR_OK;
    if (!a || (cri_member_has(m, "full") && cri_member_elements(m, state) == 0)) return CR_OK;
    if (cri_member_has(m, "listed")) return write_list(cx, m, a, rows, out);
    if (cri_member_has(m, "told"))
        st = cri_store_set(cx, out, cri_member_file_name(m), json_true());
    if (st != CR_OK) return st;
    if (is_whole(m)) return write_whole(cx, m, state, a, store);
    if (cri_member_has(m, "triangle")) return write_triangles(cx, m, state, a, store);
    if (cri_member_has(m, "minus")) return write_gaps(cx, m, a, rows, store);
    if (m->kind == CRI_MEMBER_vector)
        return cri_store_put_vector(cx, store, cri_member_file_name(m), a, rows);
    return cri_store_put_matrix(cx, store, cri_member_file_name(m), a, rows,
                                cri_member_cols(m, state));
}

/* Its numbers among those of the whole, or in an object of their own. */
static cr_status write_part(cr_ctx *cx, const cri_member *m, const void *part, cri_store *store,
                            json_t *out)
{
    json_t   *inside = cri_member_has(m, "inside") ? json_object() : NULL;
    cr_status st = CR_OK;
    if (cri_member_has(m, "inside")) st = cri_store_set(cx, out, cri_member_file_name(m), inside);
    return st == CR_OK ? cri_record_write(cx, m->part, part, store, inside ? inside : out) : st;
}

static cr_status write_text(cr_ctx *cx, const cri_member *m, const char *text, json_t *out)
{
    return text ? cri_store_set_text(cx, out, cri_member_file_name(m), text) : CR_OK;
}

static bool is_zero(const cri_member *m, const char *at)
{
    return m->kind == CRI_MEMBER_real ? *(const double *)(const void *)at == 0
                                      : *(const size_t *)(const void *)at == 0;
}

static cr_status write_member(cr_ctx *cx, const cri_member *m, const void *state, cri_store *store,
                              json_t *out)
{
    const char *at = (const char *)state + m->offset;
    double      x;
    if (cri_member_has(m, "spare") && is_zero(m, at)) return CR_OK;
    switch (m->kind) {
    case CRI_MEMBER_count:
        return cri_store_set(cx, out, cri_member_file_name(m),
                             json_integer((json_int_t) * (const size_t *)at));
    case CRI_MEMBER_flag:
        return cri_store_set(cx, out, cri_member_file_name(m), json_boolean(*(const bool *)at));
    case CRI_MEMBER_choice:
        return cri_store_set(cx, out, cri_member_file_name(m),
                             choice_name(m->range, *(const int *)at));
    case CRI_MEMBER_real:
        x = *(const double *)at;
        if (isnan(x) && cri_member_has(m, "minus")) x = -1;
        return cri_store_set(cx, out, cri_member_file_name(m),
                             isfinite(x) ? json_real(x) : json_null());
    case CRI_MEMBER_text:
        return write_text(cx, m, *(char *const *)at, out);
    case CRI_MEMBER_part:
        return write_part(cx, m, at, store, out);
    default:
        return write_array(cx, m, state, store, out);
    }
}

cr_status cri_record_write(cr_ctx *cx, const cri_member *record, const void *state,
                           cri_store *store, json_t *out)
{
    cr_status st = CR_OK;
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END && st == CR_OK; m++)
        if (is_kept(m) && !cri_member_is_absent(m, state))
            st = write_member(cx, m, state, store, out);
    return st;
}

/* --- reading ---------------------------------------------------------------------------------- */

static cr_status read_choice(cr_ctx *cx, const cri_member *m, const cri_store *store,
                             const json_t *in, int *out)
{
    const char *text;
    cr_status   st = cri_store_get_text(cx, store, in, cri_member_file_name(m), &text);
    if (st != CR_OK) return st;
    *out = cri_choice_find(m->range, text);
    if (*out >= 0) return CR_OK;
    return cr_fail(cx, CR_EDATA, "%s: '%s' is '%s', not one of %s", cri_store_source(store),
                   cri_member_file_name(m), text, m->range);
}

static cr_status read_flag(cr_ctx *cx, const cri_member *m, const cri_store *store,
                           const json_t *value, bool *out)
{
    if (!json_is_boolean(value))
        return cr_fail(cx, CR_EDATA, "%s: '%s' is neither true nor false", cri_store_source(store),
                       cri_member_file_name(m));
    *out = json_is_true(value);
    return CR_OK;
}

static cr_status read_text(cr_ctx *cx, const cri_member *m, const cri_store *store,
                           const json_t *in, char **out)
{
    const char *text;
    const char *name = cri_member_file_name(m);
    if (cri_member_has(m, "none") && !json_object_get(in, name)) return CR_OK;
    cr_status st = cri_store_get_text(cx, store, in, name, &text);
    if (st != CR_OK) return st;
    *out = cri_string_copy(cx, text);
    return *out ? CR_OK : cr_error_status(cx);
}

/* A whole number that the member holds, and a double exactly. */
static bool counts(const cri_member *m, double x)
{
    return x >= 0 && x < (m->kind == CRI_MEMBER_codes ? 0x1p32 : 0x1p53) && x == floor(x);
}

static cr_status read_whole(cr_ctx *cx, const cri_member *m, const cri_store *store, size_t rows,
                            size_t cols, void **out)
{
    cr_status   st = CR_OK;
    bool        codes = m->kind == CRI_MEMBER_codes;
    const char *name = cri_member_file_name(m);
    size_t      n = rows * cols, size = codes ? sizeof(uint32_t) : sizeof(size_t);
    double     *x = NULL;
    void       *a = NULL;
    CR_TRY(codes ? cri_store_get_matrix(cx, store, name, rows, cols, &x)
                 : cri_store_get_vector(cx, store, name, rows, &x));
    a = cr_alloc(cx, n, size);
    if (!a) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) {
        if (!counts(m, x[i]))
            CR_TRY(cr_fail(cx, CR_EDATA, "%s: the array '%s' contains %g, which is not a count",
                           cri_store_source(store), name, x[i]));
        if (codes)
            ((uint32_t *)a)[i] = (uint32_t)x[i];
        else
            ((size_t *)a)[i] = (size_t)x[i];
    }
    *out = a;
    a = NULL;
done:
    cr_free(cx, x, n, sizeof *x);
    cr_free(cx, a, n, size);
    return st;
}

static cr_status read_triangles(cr_ctx *cx, const cri_member *m, const cri_store *store,
                                size_t rows, size_t n, double **out)
{
    cr_status st = CR_OK;
    size_t    size = triangle_size(rows, n);
    double   *packed = NULL;
    if (n > 0 && rows % n)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: '%s' is not triangular", cri_store_source(store),
                       cri_member_file_name(m)));
    CR_TRY(cri_store_get_vector(cx, store, cri_member_file_name(m), size, &packed));
    *out = cr_alloc(cx, rows * n, sizeof **out);
    if (!*out) CR_TRY(cr_error_status(cx));
    copy_triangles(rows, n, *out, packed, false);
done:
    cr_free(cx, packed, size, sizeof *packed);
    return st;
}

/* The counts that arrays tell, of those that are at this offset or of all (SIZE_MAX), and are
 * `from`, become `to`.  SIZE_MAX is one that none has told yet. */
static void tell(const cri_member *record, void *state, size_t offset, size_t from, size_t to)
{
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END; m++) {
        size_t *count = (size_t *)((char *)state + m->offset);
        if (m->kind == CRI_MEMBER_count && cri_member_has(m, "found") &&
            (offset == SIZE_MAX || offset == m->offset) && *count == from)
            *count = to;
    }
}

static void tell_shape(const cri_member *record, const cri_member *m, const cri_store *store,
                       void *state)
{
    const cri_stored *a = cri_store_find(store, cri_member_file_name(m));
    if (a && cri_member_has(m, "triangle")) {
        tell(record, state, m->rows, SIZE_MAX, 2 * a->array.rows / (cri_member_cols(m, state) + 1));
        return;
    }
    if (a) tell(record, state, m->rows, SIZE_MAX, a->array.rows);
    if (a && (m->kind == CRI_MEMBER_matrix || m->kind == CRI_MEMBER_codes))
        tell(record, state, m->cols, SIZE_MAX, a->array.cols);
}

/* -1 as NaN. */
static cr_status read_gaps(cr_ctx *cx, const cri_member *m, const cri_store *store, size_t n,
                           double **out)
{
    cr_status st = cri_store_get_vector(cx, store, cri_member_file_name(m), n, out);
    for (size_t i = 0; st == CR_OK && i < n; i++)
        if ((*out)[i] < 0) (*out)[i] = NAN;
    return st;
}

static cr_status read_list(cr_ctx *cx, const cri_member *m, const cri_store *store,
                           const json_t *in, size_t n, double **out)
{
    const char *name = cri_member_file_name(m);
    json_t     *list;
    if (cri_member_has(m, "none") && !json_object_get(in, name)) return CR_OK;
    cr_status st = cri_store_get_array(cx, store, in, name, &list);
    if (st != CR_OK) return st;
    if (json_array_size(list) != n)
        return cr_fail(cx, CR_EDATA, "%s: '%s' has %zu numbers, not %zu", cri_store_source(store),
                       name, json_array_size(list), n);
    *out = cr_alloc(cx, n, sizeof **out);
    for (size_t i = 0; *out && i < n; i++) {
        const json_t *x = json_array_get(list, i);
        (*out)[i] = json_is_number(x) ? json_number_value(x) : (double)NAN;
    }
    return *out ? CR_OK : cr_error_status(cx);
}

static cr_status read_array(cr_ctx *cx, const cri_member *m, const cri_store *store,
                            const json_t *in, void *state)
{
    char  *at = (char *)state + m->offset;
    size_t rows = cri_member_rows(m, state);
    bool   there = cri_store_has(store, cri_member_file_name(m));
    if (cri_member_has(m, "listed")) return read_list(cx, m, store, in, rows, (double **)at);
    if (!there && (cri_member_has(m, "none") || cri_member_has(m, "full"))) return CR_OK;
    if (there && cri_member_elements(m, state) == SIZE_MAX)
        return cr_fail(cx, CR_EDATA, "%s: the array '%s' is too large", cri_store_source(store),
                       cri_member_file_name(m));
    if (is_whole(m)) return read_whole(cx, m, store, rows, cri_member_cols(m, state), (void **)at);
    if (cri_member_has(m, "triangle"))
        return read_triangles(cx, m, store, rows, cri_member_cols(m, state), (double **)at);
    if (cri_member_has(m, "minus")) return read_gaps(cx, m, store, rows, (double **)at);
    if (m->kind == CRI_MEMBER_vector)
        return cri_store_get_vector(cx, store, cri_member_file_name(m), rows, (double **)at);
    return cri_store_get_matrix(cx, store, cri_member_file_name(m), rows, cri_member_cols(m, state),
                                (double **)at);
}

/* null is none, or infinity. */
static cr_status read_real(cr_ctx *cx, const cri_member *m, const cri_store *store,
                           const json_t *in, double *out)
{
    cr_status     st = CR_OK;
    const json_t *value = json_object_get(in, cri_member_file_name(m));
    *out = cri_member_has(m, "endless") ? INFINITY : NAN;
    if (!value && cri_member_has(m, "spare")) {
        *out = 0;
        return CR_OK;
    }
    if (!json_is_null(value) && (value || !cri_member_has(m, "later")))
        st = cri_store_get_real(cx, store, in, cri_member_file_name(m), out);
    if (*out < 0 && cri_member_has(m, "minus")) *out = NAN;
    return st;
}

static cr_status read_part(cr_ctx *cx, const cri_member *m, const cri_store *store,
                           const json_t *in, void *part)
{
    json_t           *inside = NULL;
    cr_status         st = CR_OK;
    const cri_member *told_by = cri_member_has(m, "inside") ? m : m->part;
    if (cri_member_has(m, "none") && !json_object_get(in, cri_member_file_name(told_by)))
        return CR_OK;
    if (cri_member_has(m, "inside"))
        st = cri_store_get_object(cx, store, in, cri_member_file_name(m), &inside);
    return st == CR_OK ? cri_record_read(cx, m->part, store, inside ? inside : in, part) : st;
}

static cr_status read_member(cr_ctx *cx, const cri_member *m, const cri_store *store,
                             const json_t *in, void *state)
{
    char   *at = (char *)state + m->offset;
    json_t *value = json_object_get(in, cri_member_file_name(m));
    switch (m->kind) {
    case CRI_MEMBER_count:
        *(size_t *)at = 0;
        if (!value && (cri_member_has(m, "later") || cri_member_has(m, "spare"))) return CR_OK;
        return cri_store_get_count(cx, store, in, cri_member_file_name(m), (size_t *)at);
    case CRI_MEMBER_flag:
        return read_flag(cx, m, store, value, (bool *)at);
    case CRI_MEMBER_choice:
        return read_choice(cx, m, store, in, (int *)at);
    case CRI_MEMBER_real:
        return read_real(cx, m, store, in, (double *)at);
    case CRI_MEMBER_text:
        return read_text(cx, m, store, in, (char **)at);
    case CRI_MEMBER_part:
        return read_part(cx, m, store, in, at);
    default:
        return read_array(cx, m, store, in, state);
    }
}

enum { RANGE_SIZE = 64 };

static void range_without_name(const cri_member *m, char out[RANGE_SIZE])
{
    const char *name = strstr(m->range, "as:");
    snprintf(out, RANGE_SIZE, "%.*s", name ? (int)(name - m->range) : RANGE_SIZE, m->range);
    while (out[0] && out[strlen(out) - 1] == ' ') out[strlen(out) - 1] = '\0';
}

cr_status cri_record_read(cr_ctx *cx, const cri_member *record, const cri_store *store,
                          const json_t *in, void *state)
{
    char              asked[RANGE_SIZE];
    cr_status         st = CR_OK;
    const cri_member *wrong;
    tell(record, state, SIZE_MAX, 0, SIZE_MAX);
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END && st == CR_OK; m++) {
        if (cri_member_is_array(m)) tell_shape(record, m, store, state);
        if (is_kept(m)) st = read_member(cx, m, store, in, state);
    }
    tell(record, state, SIZE_MAX, SIZE_MAX, 0);
    if (st != CR_OK || !(wrong = cri_record_find_wrong(record, state))) return st;
    range_without_name(wrong, asked);
    return cr_fail(cx, CR_EDATA, "%s: '%s' (%s) has a value that is not %s",
                   cri_store_source(store), cri_member_file_name(wrong), wrong->help,
                   asked[0] ? asked : "finite");
}
