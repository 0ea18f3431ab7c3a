/* record_store.c -- records saved and loaded by the list of their members. */
#include "record_store.h"
#include "../base/range.h"
#include "../base/scratch.h"

#include <math.h>
#include <string.h>

/* --- writing ---------------------------------------------------------------------------------- */

static json_t *choice_name(const char *choices, int k)
{
    const char *text;
    size_t      length = cri_choice_text(choices, k, &text);
    return json_stringn(text, length);
}

static cr_status write_index(cr_ctx *cx, const cri_member *m, const size_t *a, size_t n,
                             cri_store *store)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *x = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) x[i] = (double)a[i];
    CR_TRY(cri_store_put_vector(cx, store, m->name, x, n));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status write_array(cr_ctx *cx, const cri_member *m, const void *state, cri_store *store)
{
    const void *a = *(void *const *)((const char *)state + m->offset);
    size_t      rows = cri_member_rows(m, state);
    if (!a) return CR_OK;
    if (m->kind == CRI_MEMBER_index) return write_index(cx, m, a, rows, store);
    if (m->kind == CRI_MEMBER_vector) return cri_store_put_vector(cx, store, m->name, a, rows);
    return cri_store_put_matrix(cx, store, m->name, a, rows, cri_member_cols(m, state));
}

/* Its numbers among those of the whole, or in an object of their own. */
static cr_status write_part(cr_ctx *cx, const cri_member *m, const void *part, cri_store *store,
                            json_t *out)
{
    json_t   *inside = cri_member_has(m, "inside") ? json_object() : NULL;
    cr_status st = CR_OK;
    if (cri_member_has(m, "inside")) st = cri_store_set(cx, out, m->name, inside);
    return st == CR_OK ? cri_record_write(cx, m->part, part, store, inside ? inside : out) : st;
}

static cr_status write_member(cr_ctx *cx, const cri_member *m, const void *state, cri_store *store,
                              json_t *out)
{
    const char *at = (const char *)state + m->offset;
    double      x;
    switch (m->kind) {
    case CRI_MEMBER_count:
        return cri_store_set(cx, out, m->name, json_integer((json_int_t) * (const size_t *)at));
    case CRI_MEMBER_flag:
        return cri_store_set(cx, out, m->name, json_boolean(*(const bool *)at));
    case CRI_MEMBER_choice:
        return cri_store_set(cx, out, m->name, choice_name(m->range, *(const int *)at));
    case CRI_MEMBER_real:
        x = *(const double *)at;
        return cri_store_set(cx, out, m->name, isfinite(x) ? json_real(x) : json_null());
    case CRI_MEMBER_part:
        return write_part(cx, m, at, store, out);
    default:
        return write_array(cx, m, state, store);
    }
}

cr_status cri_record_write(cr_ctx *cx, const cri_member *record, const void *state,
                           cri_store *store, json_t *out)
{
    cr_status st = CR_OK;
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END && st == CR_OK; m++)
        if (!cri_member_has(m, "made") && !cri_member_is_absent(m, state))
            st = write_member(cx, m, state, store, out);
    return st;
}

/* --- reading ---------------------------------------------------------------------------------- */

static cr_status read_choice(cr_ctx *cx, const cri_member *m, const cri_store *store,
                             const json_t *in, int *out)
{
    const char *text;
    cr_status   st = cri_store_get_text(cx, store, in, m->name, &text);
    if (st != CR_OK) return st;
    *out = cri_choice_find(m->range, text);
    if (*out >= 0) return CR_OK;
    return cr_fail(cx, CR_EDATA, "%s: '%s' is '%s', not one of %s", cri_store_source(store),
                   m->name, text, m->range);
}

static cr_status read_flag(cr_ctx *cx, const cri_member *m, const cri_store *store,
                           const json_t *value, bool *out)
{
    if (!json_is_boolean(value))
        return cr_fail(cx, CR_EDATA, "%s: '%s' is neither true nor false", cri_store_source(store),
                       m->name);
    *out = json_is_true(value);
    return CR_OK;
}

/* Whole numbers that a double holds exactly. */
static cr_status read_index(cr_ctx *cx, const cri_member *m, const cri_store *store, size_t n,
                            size_t **out)
{
    cr_status st = CR_OK;
    double   *x = NULL;
    size_t   *a = NULL;
    CR_TRY(cri_store_get_vector(cx, store, m->name, n, &x));
    a = cr_alloc(cx, n, sizeof *a);
    if (!a) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] >= 0 && x[i] < 0x1p53 && x[i] == floor(x[i])))
            CR_TRY(cr_fail(cx, CR_EDATA, "%s: the array '%s' holds %g, which counts nothing",
                           cri_store_source(store), m->name, x[i]));
        a[i] = (size_t)x[i];
    }
    *out = a;
    a = NULL;
done:
    cr_free(cx, x, n, sizeof *x);
    cr_free(cx, a, n, sizeof *a);
    return st;
}

static cr_status read_array(cr_ctx *cx, const cri_member *m, const cri_store *store, void *state)
{
    char  *at = (char *)state + m->offset;
    size_t rows = cri_member_rows(m, state);
    if (cri_member_elements(m, state) == SIZE_MAX)
        return cr_fail(cx, CR_EDATA, "%s: the array '%s' is too large", cri_store_source(store),
                       m->name);
    if (!cri_store_has(store, m->name) && cri_member_has(m, "none")) return CR_OK;
    if (m->kind == CRI_MEMBER_index) return read_index(cx, m, store, rows, (size_t **)at);
    if (m->kind == CRI_MEMBER_vector)
        return cri_store_get_vector(cx, store, m->name, rows, (double **)at);
    return cri_store_get_matrix(cx, store, m->name, rows, cri_member_cols(m, state), (double **)at);
}

static cr_status read_part(cr_ctx *cx, const cri_member *m, const cri_store *store,
                           const json_t *in, void *part)
{
    json_t   *inside = NULL;
    cr_status st = CR_OK;
    if (cri_member_has(m, "none") && !json_object_get(in, m->part->name)) return CR_OK;
    if (cri_member_has(m, "inside")) st = cri_store_get_object(cx, store, in, m->name, &inside);
    return st == CR_OK ? cri_record_read(cx, m->part, store, inside ? inside : in, part) : st;
}

static cr_status read_member(cr_ctx *cx, const cri_member *m, const cri_store *store,
                             const json_t *in, void *state)
{
    char   *at = (char *)state + m->offset;
    json_t *value = json_object_get(in, m->name);
    switch (m->kind) {
    case CRI_MEMBER_count:
        *(size_t *)at = 0;
        if (!value && cri_member_has(m, "later")) return CR_OK;
        return cri_store_get_count(cx, store, in, m->name, (size_t *)at);
    case CRI_MEMBER_flag:
        return read_flag(cx, m, store, value, (bool *)at);
    case CRI_MEMBER_choice:
        return read_choice(cx, m, store, in, (int *)at);
    case CRI_MEMBER_real:
        *(double *)at = NAN;
        if (json_is_null(value)) return CR_OK;
        return cri_store_get_real(cx, store, in, m->name, (double *)at);
    case CRI_MEMBER_part:
        return read_part(cx, m, store, in, at);
    default:
        return read_array(cx, m, store, state);
    }
}

cr_status cri_record_read(cr_ctx *cx, const cri_member *record, const cri_store *store,
                          const json_t *in, void *state)
{
    cr_status         st = CR_OK;
    const cri_member *wrong;
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END && st == CR_OK; m++)
        if (!cri_member_has(m, "made")) st = read_member(cx, m, store, in, state);
    if (st != CR_OK || !(wrong = cri_record_find_wrong(record, state))) return st;
    return cr_fail(cx, CR_EDATA, "%s: '%s' (%s) has a value that is not %s",
                   cri_store_source(store), wrong->name, wrong->help,
                   wrong->range[0] ? wrong->range : "finite");
}
