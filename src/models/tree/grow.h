/* grow.h -- one binary tree, grown from the top by the best split of each node (CART).
 *   loss of a node, W its weight:  squares  sum w (y - mean)^2
 *                                  gini     W (1 - sum_k p_k^2)
 *                                  entropy  -W sum_k p_k log p_k
 * A split takes from the loss; the best one takes most, ties going to the first column and the
 * lowest threshold.  Numbers split at x <= t; the levels of a category are put in the order of
 * their mean (with two classes, their share), which holds the best subset (Breiman et al. 1984,
 * sec. 4.2.2), or with more classes all subsets of up to 8 levels are tried, and of more levels one
 * against the rest.  Rows with a gap go to the side where they take more from the loss; where a
 * node saw none, to the heavier side. A node that is not pure is split even where that takes
 * nothing away: the splits below may. The trees of a model stand one after the other in a cri_tree.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_GROW_H
#define CREDENCE_MODELS_TREE_GROW_H

#include "columns.h"
#include "data/store/record_store.h"

#include "base/context_internal.h"
#include <math.h>
#include <stdint.h>

/* How nodes are split, for the options of a model. */
/* clang-format off */
#define CRI_SPLITS_OPTIONS(X, MANY)                                                                    \
    X(choice, splits, "auto", "auto|exact|histogram",                                              \
      "between any two values, or between bins of about the same weight; auto: histogram above " #MANY " rows", "histogram") \
    X(count,  bins,   "255",  "2..65535", "maximum number of bins of a column", "63")
/* clang-format on */
/* The bins of a table of n rows under these options, more than `many` being many: 0 for exact
 * splits. */
size_t cri_choose_bins(int splits, size_t bins, size_t n, size_t many);

typedef enum cri_tree_loss { CRI_TREE_SQUARES, CRI_TREE_GINI, CRI_TREE_ENTROPY } cri_tree_loss;

/* A node in `split`: left is 0 in a leaf; subset is 0 for a number, else 1 + the place in `subset`
 * where the levels of the column begin.  Each number there has the bits of `packed` levels, the
 * first in its lowest bit, 1 for those that go left. */
enum { CRI_COLUMN, CRI_THRESHOLD, CRI_GAP_LEFT, CRI_LEFT, CRI_RIGHT, CRI_SUBSET, CRI_SPLIT_WIDTH };
enum { CRI_WEIGHT, CRI_LOSS, CRI_STAT_WIDTH };
enum { CRI_LEVELS_PACKED = 32 }; /* of trees grown today */

/* clang-format off */
#define CRI_TREE_STATE(MEMBER)                                                                      \
    MEMBER(count,  bins,        (),                   "0..65535 later", "most bins of its splits; 0: exact") \
    MEMBER(count,  nodes,       (),                   "",   "of all its trees")                     \
    MEMBER(count,  width,       (),                   ">0", "numbers in a node")                    \
    MEMBER(count,  pool,        (),                   "",   "numbers in the subsets of all splits") \
    MEMBER(count,  packed,      (),                   "0..32 later", "levels in each of them; 0: one") \
    MEMBER(count,  split_width, (),                   "6..6", "CRI_SPLIT_WIDTH")                    \
    MEMBER(count,  stat_width,  (),                   "2..2", "CRI_STAT_WIDTH")                     \
    MEMBER(matrix, split,       (nodes, split_width), "any", "where rows go")                       \
    MEMBER(matrix, stat,        (nodes, stat_width),  ">=0", "weight and loss")                     \
    MEMBER(matrix, value,       (nodes, width),       "",   "the mean; or the weight of each class") \
    MEMBER(vector, subset,      (pool),               "0..4294967295", "bits: 1 for the levels that go left")
/* clang-format on */

/* While it grows, the arrays have room for more nodes and levels than there are. */
CRI_RECORD(cri_tree, CRI_TREE_STATE, size_t node_capacity; size_t pool_capacity;);
extern const cri_member cri_tree_record[];

/* Whether the tree is one of that width on the columns of the design, and every way in it ends. */
bool cri_tree_fits(const cri_tree *tree, const cr_design *design, size_t width);

/* What a row weighs, and its target: a number, or the index of a class.  Rows of weight 0 are not
 * there. */
typedef struct cri_case {
    double w, y;
} cri_case;

typedef struct cri_grow {
    cri_tree_loss loss;
    size_t        classes; /* 0 for squares                     */
    size_t        max_depth;
    double        min_leaf, min_split; /* weights                       */
    /* Squares, by bins, of numbers whose mean is small beside their spread: nodes are measured by
     * the sums of their bins and not row by row; of leaves at max_depth only weight, mean and what
     * both lose together are known, and each is stored the share of its weight in that. */
    bool             by_sums;
    const cri_clock *opt_clock; /* when it is over, no node is split any more */
} cri_grow;

/* Memory for growing trees on the same columns. */
typedef struct cri_grower cri_grower;
cr_status cri_grower_new(cr_ctx *cx, const cri_columns *columns, const cri_grow *options,
                         cri_grower **out);
void      cri_grower_free(cr_ctx *cx, cri_grower *g);

/* "splits" and, of histograms, "bins" as members of `out`. */
void cri_tree_describe_splits(const cri_tree *tree, cri_sheet *out);
#define CRI_SPLIT_FIELDS                                                                           \
    CR_TEXT("splits", 0, "exact, or histogram if thresholds lie between bins"),                    \
        CR_COUNT("bins", CR_FIELD_SOMETIMES, "of histogram: maximum number of bins of a column")

/* Adds a tree on cases [n] to `tree`, whose width is set; its root is the node that was
 * tree->nodes. opt_leaf [n] = the node each row of weight > 0 comes to.  O(p n) for each level of
 * the tree, columns side by side; where the columns have bins, by histograms in nodes of more than
 * 4096 rows, and exactly in the others if they have ranks too.  Fails with CR_ENOMEM or CR_EINTERRUPTED; the tree is then as
 * before. */
cr_status cri_tree_grow(cr_ctx *cx, cri_grower *g, const cri_case *cases, cri_tree *tree,
                        uint32_t *opt_leaf);
/* Frees the arrays of a tree that may still grow. */
void cri_tree_free(cr_ctx *cx, cri_tree *tree);
/* Ends the growing: the arrays are as long as the record says. */
cr_status cri_tree_trim(cr_ctx *cx, cri_tree *tree);
/* The leaf of x [p] below a root.  Pure. */
size_t cri_tree_find(const cri_tree *tree, size_t root, const double *x);

static inline bool cri_is_leaf(const cri_tree *t, size_t node)
{
    return t->split[node * CRI_SPLIT_WIDTH + CRI_LEFT] == 0;
}
/* The numbers in `subset` that the levels of a column take. */
static inline size_t cri_subset_size(const cri_tree *t, size_t levels)
{
    return t->packed > 1 ? (levels + t->packed - 1) / t->packed : levels;
}
/* Whether a level goes left at an inner node that splits a category. */
static inline bool cri_level_goes_left(const cri_tree *t, const double *split, size_t level)
{
    const double *subset = t->subset + (size_t)split[CRI_SUBSET] - 1;
    if (t->packed <= 1) return subset[level] != 0;
    return (uint64_t)subset[level / t->packed] >> level % t->packed & 1;
}
/* The child of an inner node that x [p] goes to. */
static inline size_t cri_tree_step(const cri_tree *t, size_t node, const double *x)
{
    const double *s = t->split + node * CRI_SPLIT_WIDTH;
    double        v = x[(size_t)s[CRI_COLUMN]];
    bool          left = s[CRI_GAP_LEFT] != 0;
    if (!isnan(v))
        left = s[CRI_SUBSET] > 0 ? cri_level_goes_left(t, s, (size_t)v) : v <= s[CRI_THRESHOLD];
    return (size_t)s[left ? CRI_LEFT : CRI_RIGHT];
}
/* The child of an inner node on the left or right. */
static inline size_t cri_child(const cri_tree *t, size_t node, bool right)
{
    return (size_t)t->split[node * CRI_SPLIT_WIDTH + (right ? CRI_RIGHT : CRI_LEFT)];
}

#endif
