/* crf_attributes.c -- the dictionary of attributes, and the attributes of rows. */
#include "crf_attributes.h"
#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the dictionary -------------------------------------------------------------------------- */

static size_t hash_of(const uint32_t *key, size_t width)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < width; i++) {
        h = (h ^ key[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return (size_t)h;
}

/* Where the key stands, or where it would. */
static size_t find_slot(const cri_attributes *a, const uint32_t *key)
{
    size_t mask = a->slots - 1, at = hash_of(key, a->width) & mask;
    while (a->slot[at] &&
           memcmp(a->keys + (a->slot[at] - 1) * a->width, key, a->width * sizeof *key) != 0)
        at = (at + 1) & mask;
    return at;
}

static cr_status make_slots(cr_ctx *cx, cri_attributes *a, size_t capacity)
{
    size_t slots = 16;
    while (slots < 2 * capacity) slots *= 2;
    uint32_t *slot = cr_alloc(cx, slots, sizeof *slot);
    if (!slot) return CR_ENOMEM;
    cr_free(cx, a->slot, a->slots, sizeof *a->slot);
    a->slot = slot;
    a->slots = slots;
    for (size_t i = 0; i < a->n; i++)
        a->slot[find_slot(a, a->keys + i * a->width)] = (uint32_t)i + 1;
    return CR_OK;
}

cr_status cri_attributes_index(cr_ctx *cx, uint32_t *keys, size_t n, size_t width,
                               cri_attributes *out)
{
    cri_attributes a = { .width = width, .n = n, .capacity = n, .keys = keys };
    cr_status      st = make_slots(cx, &a, n);
    if (st == CR_OK) *out = a;
    return st;
}

void cri_attributes_free_index(cr_ctx *cx, cri_attributes *a)
{
    cr_free(cx, a->slot, a->slots, sizeof *a->slot);
    *a = (cri_attributes){ 0 };
}

void cri_attributes_free(cr_ctx *cx, cri_attributes *a)
{
    cr_free(cx, a->keys, a->capacity * a->width, sizeof *a->keys);
    cri_attributes_free_index(cx, a);
}

static cr_status grow(cr_ctx *cx, cri_attributes *a)
{
    size_t    more = a->capacity ? 2 * a->capacity : 64;
    uint32_t *keys = cr_resize(cx, a->keys, a->capacity * a->width, more * a->width, sizeof *keys);
    if (!keys) return CR_ENOMEM;
    a->keys = keys;
    a->capacity = more;
    return make_slots(cx, a, more);
}

static cr_status add_key(cr_ctx *cx, cri_attributes *a, const uint32_t *key, uint32_t *out)
{
    if (a->n == a->capacity) {
        if (a->n >= UINT32_MAX / 2)
            return cr_fail(cx, CR_EUNSUPPORTED, "there are more than 2^31 different attributes");
        cr_status st = grow(cx, a);
        if (st != CR_OK) return st;
    }
    size_t at = find_slot(a, key);
    if (!a->slot[at]) {
        memcpy(a->keys + a->n * a->width, key, a->width * sizeof *key);
        a->slot[at] = (uint32_t)++a->n;
    }
    *out = a->slot[at] - 1;
    return CR_OK;
}

/* --- its order ------------------------------------------------------------------------------- */

typedef struct sorted_key {
    const uint32_t *key;
    size_t          width;
    uint32_t        number;
} sorted_key;

static int compare_keys(const void *x, const void *y)
{
    const sorted_key *a = x, *b = y;
    for (size_t i = 0; i < a->width; i++)
        if (a->key[i] != b->key[i]) return a->key[i] < b->key[i] ? -1 : 1;
    return 0;
}

cr_status cri_attributes_sort(cr_ctx *cx, cri_attributes *a, uint32_t *to)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    sorted_key *sorted = cr_scratch_bytes(&s, a->n, sizeof *sorted);
    uint32_t   *keys = cr_resize(cx, NULL, 0, a->capacity * a->width, sizeof *keys);
    if (!keys) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    for (size_t i = 0; i < a->n; i++)
        sorted[i] = (sorted_key){ a->keys + i * a->width, a->width, (uint32_t)i };
    if (a->n > 0) qsort(sorted, a->n, sizeof *sorted, compare_keys);
    for (size_t i = 0; i < a->n; i++) {
        memcpy(keys + i * a->width, sorted[i].key, a->width * sizeof *keys);
        to[sorted[i].number] = (uint32_t)i;
    }
    uint32_t *old = a->keys;
    a->keys = keys, keys = old;
    CR_TRY(make_slots(cx, a, a->capacity));
done:
    cr_free(cx, keys, a->capacity * a->width, sizeof *keys);
    cr_scratch_end(&s);
    return st;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* The rows of one sequence, as a template sees them. */
typedef struct view {
    const double *X;   /* [rows x p] */
    const size_t *row; /* [length] of the sequence */
    size_t        p, length;
} view;

/* The key and the value of a template at place t; false where there is none. */
static bool look(const view *v, const cri_template *template, size_t t, uint32_t *key,
                 double *value)
{
    *value = 1;
    for (size_t i = 0; i < template->n; i++) {
        const cri_template_atom *atom = &template->atoms[i];
        ptrdiff_t                at = (ptrdiff_t)t + atom->offset;
        bool                     inside = at >= 0 && (size_t)at < v->length;
        double                   x = inside ? v->X[v->row[at] * v->p + atom->term] : 0;
        if (isnan(x) || (!inside && !atom->code)) return false;
        key[i] = atom->code && inside ? (uint32_t)x + 1 : 0;
        if (!atom->code) *value *= x;
    }
    return *value != 0;
}

static bool has_numbers(const cri_template *templates, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < templates[k].n; i++)
            if (!templates[k].atoms[i].code) return true;
    return false;
}

static cr_status allocate(cr_ctx *cx, size_t n, size_t templates, bool values,
                          cri_attribute_rows *r)
{
    *r = (cri_attribute_rows){ .n = n, .room = n * templates };
    r->start = cr_alloc(cx, n + 1, sizeof *r->start);
    r->which = cr_resize(cx, NULL, 0, r->room, sizeof *r->which);
    if (values) r->value = cr_resize(cx, NULL, 0, r->room, sizeof *r->value);
    return r->start && r->which && (!values || r->value) ? CR_OK : CR_ENOMEM;
}

void cri_attribute_rows_free(cr_ctx *cx, cri_attribute_rows *r)
{
    if (r->start) cr_free(cx, r->start, r->n + 1, sizeof *r->start);
    cr_free(cx, r->which, r->room, sizeof *r->which);
    cr_free(cx, r->value, r->room, sizeof *r->value);
    *r = (cri_attribute_rows){ 0 };
}

/* The attributes of place t, behind those that are there; *end moves on. */
static cr_status put_place(cr_ctx *cx, const view *v, const cri_template *templates, size_t n,
                           size_t t, cri_attributes *d, bool learn, uint32_t *key,
                           cri_attribute_rows *r, size_t *end)
{
    for (size_t k = 0; k < n; k++) {
        double   value;
        uint32_t number = 0;
        memset(key, 0, d->width * sizeof *key);
        key[0] = (uint32_t)k;
        if (!look(v, &templates[k], t, key + 1, &value)) continue;
        if (learn) {
            cr_status st = add_key(cx, d, key, &number);
            if (st != CR_OK) return st;
        } else {
            if (d->n == 0) continue;
            number = d->slot[find_slot(d, key)];
            if (number-- == 0) continue;
        }
        r->which[*end] = number;
        if (r->value) r->value[*end] = value;
        ++*end;
    }
    return CR_OK;
}

cr_status cri_attribute_rows_open(cr_ctx *cx, const cri_rows *rows, const cri_template *templates,
                                  size_t n_templates, cri_attributes *d, bool learn,
                                  cri_attribute_rows *out)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_sequences *q = rows->sequences;
    double              *X = cr_scratch_matrix(&s, rows->n, rows->p);
    uint32_t            *key = cr_scratch_bytes(&s, d->width, sizeof *key);
    cri_attribute_rows   r = { 0 };
    size_t               end = 0;

    CR_TRY(s.status);
    CR_TRY(allocate(cx, rows->n, n_templates, has_numbers(templates, n_templates), &r));
    CR_TRY(cri_rows_matrix(cx, rows, X));
    for (size_t k = 0; k < q->n; k++) {
        view v = { .X = X, .row = q->row + q->start[k], .p = rows->p };
        v.length = q->start[k + 1] - q->start[k];
        for (size_t t = 0; t < v.length; t++) {
            if ((q->start[k] + t) % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
            CR_TRY(put_place(cx, &v, templates, n_templates, t, d, learn, key, &r, &end));
            r.start[q->start[k] + t + 1] = end;
        }
    }
    *out = r;
    r = (cri_attribute_rows){ 0 };
done:
    cri_attribute_rows_free(cx, &r);
    cr_scratch_end(&s);
    return st;
}
