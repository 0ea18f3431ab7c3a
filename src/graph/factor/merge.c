/* merge.c -- the two tables with the smallest joint scope, again and again. */
#include "merge.h"
#include "base/context_internal.h"

#include <string.h>

enum { SPACE_WORTH = 4096, SHARE = 16 };

/* A table and its scope: bit d for variable d of the space. */
typedef struct item {
    const cr_factor *f;
    uint64_t         scope;
    double           best; /* the smallest joint size with a later table */
    size_t           with;
} item;

static uint64_t scope_of(const cri_space *sp, const cr_factor *f)
{
    uint64_t bits = 0;
    for (size_t i = 0, d = 0; i < f->n; i++) {
        while (d < sp->n && sp->var[d] < f->var[i]) d++;
        if (d < sp->n && sp->var[d] == f->var[i]) bits |= (uint64_t)1 << d;
    }
    return bits;
}

static double size_of(const cri_space *sp, uint64_t scope)
{
    double size = 1;
    for (; scope; scope &= scope - 1) size *= (double)sp->states[__builtin_ctzll(scope)];
    return size;
}

static void find_partner(const cri_space *sp, const item *items, size_t n, size_t i, item *out)
{
    out->best = 1e300;
    out->with = i;
    for (size_t k = i + 1; k < n; k++) {
        double size = size_of(sp, items[i].scope | items[k].scope);
        if (size < out->best) out->best = size, out->with = k;
    }
}

void cri_merged_free(cr_ctx *cx, cri_merged *m)
{
    for (size_t i = 0; i < m->made; i++) cr_factor_free(cx, &m->own[i]);
    cr_free(cx, m->own, m->capacity, sizeof *m->own);
    cr_free(cx, (void *)m->in, m->capacity, sizeof *m->in);
}

/* Gives out the joint scope of two tables, and memory if it is to have values. */
static bool make_table(cr_ctx *cx, const cri_space *sp, uint64_t scope, bool values,
                       cri_space *small, cr_factor *out)
{
    size_t size = 1;
    *small = (cri_space){ 0 };
    for (uint64_t bits = scope; bits; bits &= bits - 1) {
        size_t d = (size_t)__builtin_ctzll(bits);
        cri_space_add(small, sp->var[d], sp->states[d]);
        size *= sp->states[d];
    }
    *out = (cr_factor){ .n = small->n, .size = size };
    out->var = cri_resize_quietly(cx, NULL, 0, 3 * small->n, sizeof *out->var);
    if (out->var && values) out->value = cri_resize_quietly(cx, NULL, 0, size, sizeof *out->value);
    if (!out->var || (values && !out->value)) {
        cr_factor_free(cx, out);
        return false;
    }
    out->states = out->var + small->n;
    out->stride = out->states + small->n;
    memcpy(out->var, small->var, small->n * sizeof *out->var);
    memcpy(out->states, small->states, small->n * sizeof *out->states);
    cri_space_strides(small, small->n, small->var, small->states, out->stride);
    return true;
}

static double table_bytes(const cr_factor *f)
{
    return (double)(3 * f->n * sizeof *f->var) + (double)f->size * sizeof *f->value;
}

/* The product of two tables over their joint scope. */
static bool multiply(cr_ctx *cx, const cri_space *sp, const item *a, const item *b, bool threaded,
                     cr_factor *out, cri_merged *m)
{
    cri_space   small;
    cri_operand in[2] = { { .value = a->f->value }, { .value = b->f->value } };
    cri_output  to = { 0 };
    bool        lost = false, fine;
    if (!make_table(cx, sp, a->scope | b->scope, !m->scopes_only, &small, out)) return false;
    to.value = out->value;
    memcpy(to.stride, out->stride, small.n * sizeof *to.stride);
    cri_space_strides(&small, a->f->n, a->f->var, a->f->states, in[0].stride);
    cri_space_strides(&small, b->f->n, b->f->var, b->f->states, in[1].stride);
    if (m->scopes_only) {
        double more = 0;
        fine = cri_combine_bytes(cx, &small, 2, in, 1, &to, threaded, &more);
        m->held += table_bytes(out);
        if (m->held + more > m->peak) m->peak = m->held + more;
    } else {
        memset(out->value, 0, out->size * sizeof *out->value);
        fine = cri_combine(cx, &small, CRI_SUM, 2, in, 1, &to, threaded, &lost);
    }
    m->lost |= lost;
    if (!fine) cr_factor_free(cx, out);
    return fine;
}

/* Frees a table that is ours and has gone into another. */
static void drop(cr_ctx *cx, cri_merged *m, const cr_factor *f)
{
    for (size_t i = 0; i < m->made; i++)
        if (f == &m->own[i]) {
            m->held -= table_bytes(f);
            cr_factor_free(cx, &m->own[i]);
        }
}

/* Merges while it pays; items [*n]. */
static bool merge_items(cr_ctx *cx, const cri_space *sp, item *items, size_t *n, bool threaded,
                        cri_merged *m)
{
    double limit = cri_space_size(sp) / SHARE;
    for (size_t i = 0; i < *n; i++) find_partner(sp, items, *n, i, &items[i]);
    while (*n > 1) {
        size_t a = 0, b;
        for (size_t i = 1; i < *n; i++)
            if (items[i].best < items[a].best) a = i;
        if (items[a].best > limit) break;
        b = items[a].with;
        cr_factor *f = &m->own[m->made];
        if (!multiply(cx, sp, &items[a], &items[b], threaded, f, m)) return false;
        m->made++;
        drop(cx, m, items[a].f);
        drop(cx, m, items[b].f);
        items[a].f = f;
        items[a].scope |= items[b].scope;
        --*n;
        items[b] = items[*n];
        for (size_t i = 0; i < *n; i++) find_partner(sp, items, *n, i, &items[i]);
    }
    return true;
}

static bool merge(cr_ctx *cx, const cri_space *space, size_t inputs, const cr_factor *const *in,
                  bool threaded, cri_merged *out)
{
    out->capacity = inputs;
    out->in = cri_resize_quietly(cx, NULL, 0, inputs, sizeof *out->in);
    if (!out->in) return false;
    for (size_t i = 0; i < inputs; i++) out->in[i] = in[i];
    out->n = inputs;
    double size = cri_space_size(space), k = (double)inputs;
    if (inputs < 3 || size < SPACE_WORTH || size < k * k * k) return true;

    out->own = cri_resize_quietly(cx, NULL, 0, inputs, sizeof *out->own);
    item *items = out->own ? cri_resize_quietly(cx, NULL, 0, inputs, sizeof *items) : NULL;
    if (!items) return false;
    out->held = (double)(inputs * sizeof *out->own);
    for (size_t i = 0; i < inputs; i++)
        items[i] = (item){ .f = in[i], .scope = scope_of(space, in[i]) };
    bool fine = merge_items(cx, space, items, &out->n, threaded, out);
    for (size_t i = 0; i < out->n; i++) out->in[i] = items[i].f;
    cr_free(cx, items, inputs, sizeof *items);
    return fine;
}

bool cri_merge(cr_ctx *cx, const cri_space *space, size_t inputs, const cr_factor *const *in,
               bool threaded, cri_merged *out)
{
    *out = (cri_merged){ 0 };
    return merge(cx, space, inputs, in, threaded, out);
}

bool cri_merge_scopes(cr_ctx *cx, const cri_space *space, size_t inputs, const cr_factor *const *in,
                      bool threaded, cri_merged *out)
{
    *out = (cri_merged){ .scopes_only = true };
    return merge(cx, space, inputs, in, threaded, out);
}
