/* bind_index.c -- the places that indices mean: x[i], x[2:n], x[, j], x[group]. */
#include "bind_internal.h"

#include <math.h>
#include <string.h>

/* What one index picks of a dimension of `size`: positions from 0, and whether the dimension stays. */
typedef struct picked {
    size_t *at, n;
    bool    stays;
} picked;

static cr_status pick_range(cri_binder *b, const cri_syntax *node, size_t size, picked *out)
{
    cr_status         st = CR_OK;
    const cri_syntax *low = node->child, *high = cri_syntax_child(node, 1);
    size_t            first = 1, last = size;
    if (low->kind != CRI_SYN_NOTHING) CR_TRY(cri_bind_whole(b, low, "the first index", &first));
    if (high->kind != CRI_SYN_NOTHING) CR_TRY(cri_bind_whole(b, high, "the last index", &last));
    out->stays = true;
    out->n = last >= first ? last - first + 1 : 0;
    if (out->n > 0 && (first < 1 || last > size))
        CR_TRY(CRI_BIND_FAIL(b, node, "the indices %zu to %zu are not all in 1..%zu", first, last,
                             size));
    out->at = cr_scratch_index(&b->s, out->n);
    CR_TRY(b->s.status);
    for (size_t i = 0; i < out->n; i++) out->at[i] = first - 1 + i;
done:
    return st;
}

static cr_status pick_values(cri_binder *b, const cri_syntax *node, size_t size, picked *out)
{
    cr_status st = CR_OK;
    cri_value v;
    CR_TRY(cri_bind_expression(b, node, &v));
    if (!v.data) CR_TRY(CRI_BIND_FAIL(b, node, "an index cannot depend on a parameter"));
    if (v.dims > 1) CR_TRY(CRI_BIND_FAIL(b, node, "an index is a whole number or a list of them"));
    out->stays = v.dims == 1;
    out->n = v.n;
    out->at = cr_scratch_index(&b->s, v.n);
    CR_TRY(b->s.status);
    for (size_t i = 0; i < v.n; i++) {
        double x = v.data[i];
        if (!(x >= 1 && x <= (double)size) || x != floor(x))
            CR_TRY(CRI_BIND_FAIL(b, node, "an index is %g, but must be in 1..%zu", x, size));
        out->at[i] = (size_t)x - 1;
    }
done:
    return st;
}

/* Which of the last dimensions stay decides what the part is. */
static cri_inner inner_of(const cri_value *of, const picked *p)
{
    unsigned arrays = of->dims - (of->inner == CRI_INNER_NUMBER   ? 0
                                  : of->inner == CRI_INNER_MATRIX ? 2
                                                                  : 1);
    if (of->inner == CRI_INNER_NUMBER) return CRI_INNER_NUMBER;
    if (of->inner != CRI_INNER_MATRIX) return p[arrays].stays ? of->inner : CRI_INNER_NUMBER;
    if (p[arrays].stays) return p[arrays + 1].stays ? CRI_INNER_MATRIX : CRI_INNER_VECTOR;
    return p[arrays + 1].stays ? CRI_INNER_ROW : CRI_INNER_NUMBER;
}

cr_status cri_bind_places(cri_binder *b, const cri_syntax *node, const cri_value *of,
                          size_t **out_place, cri_value *out_shape)
{
    cr_status st = CR_OK;
    size_t    given = cri_syntax_count(node) - 1, total = 1, *place;
    picked    p[CRI_VALUE_DIMS];
    cri_value shape = cri_value_shaped(of);
    char      text[CRI_SHAPE_TEXT];
    if (given > of->dims)
        CR_TRY(CRI_BIND_FAIL(b, node, "%zu indices are given for %s", given,
                             cri_value_shape(of, text)));
    for (unsigned k = 0; k < of->dims; k++) {
        if (k < given) {
            const cri_syntax *index = cri_syntax_child(node, k + 1);
            CR_TRY(index->kind == CRI_SYN_RANGE ? pick_range(b, index, of->dim[k], &p[k])
                                                : pick_values(b, index, of->dim[k], &p[k]));
        } else {
            p[k] = (picked){ .at = cr_scratch_index(&b->s, of->dim[k]),
                             .n = of->dim[k],
                             .stays = true };
            CR_TRY(b->s.status);
            for (size_t i = 0; i < p[k].n; i++) p[k].at[i] = i;
        }
        total *= p[k].n;
    }
    shape.dims = 0;
    shape.n = total;
    for (unsigned k = 0; k < of->dims; k++)
        if (p[k].stays) shape.dim[shape.dims++] = p[k].n;
    shape.inner = inner_of(of, p);
    if (given > 0 && !of->data)
        shape.levels = NULL, shape.n_levels = 0; /* they name other entries */
    place = cr_scratch_index(&b->s, total);
    CR_TRY(b->s.status);
    for (size_t i = 0; i < total; i++) {
        size_t rest = i, stride = 1, at = 0;
        for (unsigned k = of->dims; k-- > 0;) {
            at += p[k].at[rest % p[k].n] * stride;
            rest /= p[k].n;
            stride *= of->dim[k];
        }
        place[i] = at;
    }
    *out_place = place;
    *out_shape = shape;
done:
    return st;
}
