/* elimination_tree.c -- symbolic elimination along the tree of parents. */
#include "elimination_tree.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "base/sort.h"

void cri_elimination_tree_free(cr_ctx *cx, cri_elimination_tree *f)
{
    cr_free(cx, f->begin, f->n + 1, sizeof *f->begin);
    cr_free(cx, f->later, f->ends, sizeof *f->later);
    cr_free(cx, f->parent, f->n, sizeof *f->parent);
    *f = (cri_elimination_tree){ 0 };
}

typedef struct filler {
    cr_ctx *cx;
    size_t *list, n, capacity; /* all lists so far */
    size_t *mark;              /* [n] stamp: 1 + the list it was put in last */
} filler;

static cr_status put(filler *w, size_t owner, size_t v)
{
    if (v <= owner || w->mark[v] == owner + 1) return CR_OK;
    if (cri_array_grow(w->cx, &w->list, w->n, &w->capacity, sizeof *w->list) != CR_OK)
        return CR_ENOMEM;
    w->mark[v] = owner + 1;
    w->list[w->n++] = v;
    return CR_OK;
}

cr_status cri_elimination_tree_new(cr_ctx *cx, const cr_graph *g, const size_t *order,
                                   cri_elimination_tree *out_f)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    size_t               n = g->n;
    cri_elimination_tree f = { .n = n };
    filler               w = { .cx = cx };
    size_t              *rank = cr_scratch_index(&s, n), *child = cr_scratch_index(&s, n);
    size_t              *sibling = cr_scratch_index(&s, n);
    w.mark = cr_scratch_bytes(&s, n, sizeof *w.mark);
    CR_TRY(s.status);
    f.begin = cr_alloc(cx, n + 1, sizeof *f.begin);
    f.parent = f.begin ? cr_alloc(cx, n, sizeof *f.parent) : NULL;
    if (!f.parent) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) rank[order[i]] = i, child[i] = CR_NONE;
    for (size_t i = 0; i < n; i++) {
        f.begin[i] = w.n;
        for (size_t k = g->begin[order[i]]; k < g->begin[order[i] + 1]; k++)
            CR_TRY(put(&w, i, rank[g->to[k]]));
        for (size_t c = child[i]; c != CR_NONE; c = sibling[c])
            for (size_t k = f.begin[c]; k < f.begin[c + 1]; k++) CR_TRY(put(&w, i, w.list[k]));
        size_t count = w.n - f.begin[i];
        if (count > 1) cri_sort_indices(w.list + f.begin[i], count);
        f.begin[i + 1] = w.n;
        f.parent[i] = count ? w.list[f.begin[i]] : CR_NONE;
        if (count) sibling[i] = child[f.parent[i]], child[f.parent[i]] = i;
    }
    f.ends = w.n;
    f.later = cr_resize(cx, w.list, w.capacity, w.n, sizeof *w.list);
    if (!f.later) CR_TRY(CR_ENOMEM);
    w.list = NULL;
    *out_f = f;
    f = (cri_elimination_tree){ 0 };
done:
    cr_free(cx, w.list, w.capacity, sizeof *w.list);
    cri_elimination_tree_free(cx, &f);
    cr_scratch_end(&s);
    return st;
}
