/* forest.h -- sums in a canonical binary tree.
 * Leaves come one after another, each with what it adds; node (level, i) is the sum of nodes 2i and 2i + 1
 * of the level below, left first.  At any time the trees that are complete are kept, their levels falling from
 * left to right: after n leaves as many as n has binary digits 1.  So the sum depends on the leaves and on
 * their order alone, whoever adds them up and in how many batches, and its rounding grows with log n.
 * What a node is and how two are added, the caller says.  (Internal header.) */
#ifndef CREDENCE_BASE_FOREST_H
#define CREDENCE_BASE_FOREST_H

#include "context.h"

/* The nodes: `of` is what their functions need to know beside them. */
typedef struct cri_forest_kind {
    /* a becomes a + b; b stays. */
    cr_status (*merge)(cr_ctx *cx, const void *of, void *a, const void *b);
    cr_status (*copy)(cr_ctx *cx, const void *of, const void *node, void **out);
    void (*free)(cr_ctx *cx, const void *of, void *node);
} cri_forest_kind;

typedef struct cri_tree {
    void  *root;
    size_t level; /* a tree of 2^level leaves */
} cri_tree;

enum { CRI_MOST_TREES = 64 };

typedef struct cri_forest {
    size_t   n;
    cri_tree trees[CRI_MOST_TREES];
} cri_forest;

/* Adds a tree to the right, and carries: two of one level become one of the next.  The node is taken over,
 * also on failure, after which the forest can only be freed. */
cr_status cri_forest_push(cr_ctx *cx, const cri_forest_kind *kind, const void *of,
                          cri_forest *forest, void *node, size_t level);
/* The sum of all trees, folded from the right, as a node of its own; the forest, which has one tree at
 * least, stays. */
cr_status cri_forest_fold(cr_ctx *cx, const cri_forest_kind *kind, const void *of,
                          const cri_forest *forest, void **out);
void cri_forest_free(cr_ctx *cx, const cri_forest_kind *kind, const void *of, cri_forest *forest);

#endif
