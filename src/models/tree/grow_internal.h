/* grow_internal.h -- a tree while it grows, shared by the ways to split a node.
 *   1. grow.c        nodes, the stack of those that wait, the loop
 *   2. grow_lists.c  exactly: by the sorted entries of each column
 *   3. grow_bins.c   by histograms of bins
 * A node of few rows becomes a table of its own, whose entries name rows by their place in it: the
 * whole subtree below it then stays in the cache.  (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_GROW_INTERNAL_H
#define CREDENCE_MODELS_TREE_GROW_INTERNAL_H

#include "histogram.h"
#include "split.h"

enum {
    CRI_SLOTS = 16,
    CRI_ALONE = 100000, /* entries of a node below which columns go one by one */
    CRI_SMALL = 4096,   /* rows of a node that becomes a table of its own       */
};

/* Sorted lists of n entries for each of p columns, in two buffers by turns. */
typedef struct cri_lists {
    size_t     n;
    cri_entry *buffer[2]; /* [p x n]                         */
    bool      *left;      /* [n] by row: goes left           */
    cri_case  *cases;     /* [n]; of all rows the caller's   */
    uint32_t  *rows;      /* [n] row numbers; NULL: the same */
} cri_lists;

struct cri_grower {
    const cri_columns *columns;
    cri_grow           o;
    size_t             slots, workspace_size;
    double            *workspace; /* [slots x workspace_size] */
    double            *counts;    /* [classes]                */
    double            *levels;    /* [most levels]            */
    cri_split         *found;     /* [p]                      */
    size_t             most_levels;
    cri_lists          lists; /* of all rows, for exact splits; n = 0 with bins */
    cri_lists          small; /* of a small node; n = 0 where none is           */
    uint32_t          *place; /* [n] exact: where a row is in the small node    */
    /* with bins */
    cri_histograms histograms;
    double         most;    /* by sums: the sum of squares at the root           */
    uint32_t      *rows[2]; /* [n] rows by node, in two buffers by turns         */
    bool          *goes;    /* [most bins + 1] which codes go left               */
    size_t         most_bins;
};

typedef enum cri_way { CRI_WAY_LISTS, CRI_WAY_SMALL, CRI_WAY_BINS } cri_way;

typedef struct cri_pending {
    size_t           node, begin, end, depth;
    cri_way          way;
    const cri_entry *entries; /* lists in which the node is begin .. end-1          */
    const uint32_t  *rows;    /* with bins: the rows begin .. end-1; NULL: all rows */
    int              slot;    /* with bins: its histogram, or CRI_NO_SLOT           */
    unsigned         into;    /* the buffer its children go to                      */
} cri_pending;

typedef struct cri_growth {
    cr_ctx         *cx;
    cri_grower     *g;
    const cri_case *cases;
    cri_tree       *tree;
    cri_pending    *stack;
    size_t          waiting, stack_capacity;
    uint32_t       *leaf;
    /* the node in hand */
    cri_pending   at;
    cri_node_view view;
    bool          pure;
} cri_growth;

/* What a node adds up to. */
typedef struct cri_moments {
    double weight, mean, loss;
    bool   pure;
} cri_moments;

/* Stores weight, loss and value of a node; g->counts are set for classes. */
void cri_grow_store(cri_growth *w, size_t node, const cri_moments *m);
/* Stores the split along column j, which left_weight goes left of; the levels of a category are in
 * g->levels.  Decides where gaps go that the node did not see. */
cr_status cri_grow_decide(cri_growth *w, size_t j, cri_split *s, double left_weight);
/* Two more nodes, the children of the one in hand; *out_first is the left one. */
cr_status cri_grow_children(cri_growth *w, size_t *out_first);
cr_status cri_grow_push(cri_growth *w, cri_pending p);

/* A way: the node in hand is measured (cri_grow_store, w->view, w->pure); the best split of each
 * column goes to g->found; the node is parted along one; or it is a leaf. */
typedef struct cri_grow_way {
    cr_status (*measure)(cri_growth *w);
    cr_status (*search)(cri_growth *w);
    cr_status (*part)(cri_growth *w, size_t column);
    void (*end)(cri_growth *w);
} cri_grow_way;

extern const cri_grow_way cri_grow_by_lists, cri_grow_by_bins;

/* Makes the node in hand a table of its own. */
void cri_grow_small(cri_growth *w);

#endif
