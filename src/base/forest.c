/* forest.c -- sums in a canonical binary tree. */
#include "forest.h"

cr_status cri_forest_push(cr_ctx *cx, const cri_forest_kind *kind, const void *of, cri_forest *f,
                          void *node, size_t level)
{
    cr_status st = CR_OK;
    while (f->n > 0 && f->trees[f->n - 1].level == level && st == CR_OK) {
        void *left = f->trees[--f->n].root;
        st = kind->merge(cx, of, left, node);
        kind->free(cx, of, node);
        node = left;
        level++;
    }
    if (st == CR_OK && f->n == CRI_MOST_TREES)
        st = cr_fail(cx, CR_EUNSUPPORTED, "there are too many parts to add up");
    if (st == CR_OK)
        f->trees[f->n++] = (cri_tree){ node, level };
    else
        kind->free(cx, of, node);
    return st;
}

cr_status cri_forest_fold(cr_ctx *cx, const cri_forest_kind *kind, const void *of,
                          const cri_forest *f, void **out)
{
    cr_status st = CR_OK;
    void     *sum = NULL, *left = NULL;
    for (size_t i = f->n; i-- > 0;) {
        CR_TRY(kind->copy(cx, of, f->trees[i].root, &left));
        if (sum) {
            CR_TRY(kind->merge(cx, of, left, sum));
            kind->free(cx, of, sum);
        }
        sum = left;
        left = NULL;
    }
    *out = sum;
    sum = NULL;
done:
    kind->free(cx, of, sum);
    kind->free(cx, of, left);
    return st;
}

void cri_forest_free(cr_ctx *cx, const cri_forest_kind *kind, const void *of, cri_forest *f)
{
    for (size_t i = 0; i < f->n; i++) kind->free(cx, of, f->trees[i].root);
    f->n = 0;
}
