/* neighbours_internal.h -- how the points are laid out, for building and for queries.
 * Points stand in `places`, leaf by leaf.  The tree is complete: level l has 2^l nodes, the
 * children of node i are 2i + 1 and 2i + 2, and node j of level l covers the places from n j / 2^l
 * to n (j + 1) / 2^l.  Without a tree there is no node, and leaf g covers 16 places in order. */
#ifndef CREDENCE_MATH_NEIGHBOURS_INTERNAL_H
#define CREDENCE_MATH_NEIGHBOURS_INTERNAL_H

#include "neighbours.h"

enum { CRI_LANES = 16, CRI_TREE_DIMENSIONS = 20 };

struct cr_neighbours {
    size_t  n, d;
    cr_norm norm;
    bool    tree;
    size_t  levels; /* below the root                                             */
    size_t  leaves, nodes;
    size_t *point; /* [n]: the index of the point at a place                     */
    double *rows;  /* [n x d]: its coordinates; in one dimension ascending       */
    double *lanes; /* [leaves x d x 16]: the same, coordinate by coordinate      */
    size_t *least; /* [nodes]: the least index in a node                         */
    double *low;   /* [nodes x d] the box around its points                      */
    double *high;  /* [nodes x d]                                                */
};

/* Runs body(arg, b) for all blocks: side by side where there are at least 2048 points or queries,
 * for which it is worth while; else one after the other. */
cr_status cri_neighbours_run(cr_ctx *cx, size_t items, size_t blocks,
                             void (*body)(void *arg, size_t block), void *arg);

/* The first place of leaf g, and of the end when g == leaves. */
static inline size_t cri_leaf_begin(const cr_neighbours *nb, size_t g)
{
    size_t begin = nb->tree ? nb->n * g >> nb->levels : g * CRI_LANES;
    return begin < nb->n ? begin : nb->n;
}

#endif
