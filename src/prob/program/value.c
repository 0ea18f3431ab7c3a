/* value.c -- values of expressions: making them, and where their numbers are in the tape. */
#include "bind_internal.h"

#include <stdio.h>
#include <string.h>

/* Small blocks are cut from large ones: a loop over rows makes millions of them. */
static void *take(cri_binder *b, size_t bytes)
{
    enum { CHUNK = 1 << 18 };
    bytes = (bytes + 7) & ~(size_t)7;
    if (bytes > CHUNK / 8) return cr_scratch_bytes(&b->s, bytes, 1);
    if (bytes > b->chunk_left) {
        b->chunk = cr_scratch_bytes(&b->s, CHUNK, 1);
        b->chunk_left = b->chunk ? CHUNK : 0;
        if (!b->chunk) return NULL;
    }
    void *block = b->chunk;
    b->chunk += bytes, b->chunk_left -= bytes;
    return block;
}

cri_value cri_value_shaped(const cri_value *like)
{
    cri_value v = *like;
    v.data = NULL;
    v.slot = NULL;
    return v;
}

double *cri_value_fill(cri_binder *b, cri_value *v)
{
    double *x = take(b, (v->n ? v->n : 1) * sizeof *x);
    v->data = x;
    v->slot = NULL;
    return x;
}

cri_slot *cri_value_slots(cri_binder *b, cri_value *v)
{
    cri_slot *slot = take(b, (v->n ? v->n : 1) * sizeof *slot);
    v->data = NULL;
    v->slot = slot;
    return slot;
}

cri_value cri_value_number(cri_binder *b, double x, bool whole)
{
    cri_value v = { .whole = whole, .n = 1 };
    double   *at = cri_value_fill(b, &v);
    if (at) *at = x;
    return v;
}

cri_slot cri_value_run(cri_binder *b, const cri_value *v)
{
    cri_tape *t = &b->p->tape;
    if (v->n == 0 || (!v->data && !v->slot)) return 0;
    if (v->data) {
        if (v->n > 1 && b->given == v->data && b->n_given == v->n) return b->given_at;
        cri_slot at = cri_tape_constants(t, v->data, v->n);
        if (v->n > 1) b->given = v->data, b->n_given = v->n, b->given_at = at;
        return at;
    }
    for (size_t i = 1; i < v->n; i++)
        if (v->slot[i] != v->slot[0] + i) return cri_tape_gather(t, v->slot, v->n);
    return v->slot[0];
}

cri_slot cri_value_slot(cri_binder *b, const cri_value *v, size_t i)
{
    return v->data ? cri_tape_constants(&b->p->tape, v->data + i, 1) : v->slot[i];
}

cri_value cri_value_of_run(cri_binder *b, const cri_value *like, cri_slot at)
{
    cri_value v = cri_value_shaped(like);
    cri_slot *slot = cri_value_slots(b, &v);
    for (size_t i = 0; slot && i < v.n; i++) slot[i] = at + (cri_slot)i;
    return v;
}

cri_value cri_value_pick(cri_binder *b, const cri_value *from, const size_t *place,
                         const cri_value *shape)
{
    cri_value v = cri_value_shaped(shape);
    if (from->data) {
        double *x = cri_value_fill(b, &v);
        for (size_t i = 0; x && i < v.n; i++) x[i] = from->data[place[i]];
    } else {
        cri_slot *slot = cri_value_slots(b, &v);
        for (size_t i = 0; slot && i < v.n; i++) slot[i] = from->slot[place[i]];
    }
    return v;
}

const char *cri_value_shape(const cri_value *v, char out[CRI_SHAPE_TEXT])
{
    static const char *const NAMES[] = { "array", "vector", "row vector", "matrix" };
    int                      n;
    if (v->dims == 0) {
        snprintf(out, CRI_SHAPE_TEXT, "a number");
        return out;
    }
    n = snprintf(out, CRI_SHAPE_TEXT, "a%s %s of ", v->inner == CRI_INNER_NUMBER ? "n" : "",
                 NAMES[v->inner]);
    for (unsigned k = 0; k < v->dims && n < CRI_SHAPE_TEXT; k++)
        n += snprintf(out + n, (size_t)(CRI_SHAPE_TEXT - n), "%s%zu", k ? " x " : "", v->dim[k]);
    return out;
}
