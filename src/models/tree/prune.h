/* prune.h -- cost-complexity pruning (Breiman, Friedman, Olshen & Stone 1984, ch. 3).
 * For alpha >= 0 the pruned tree has the least  R = loss / weight of all rows + alpha * leaves, and
 * of those with the least it is the smallest.  As alpha grows the trees are nested: node t becomes
 * a leaf for good at alpha_t.  (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_PRUNE_H
#define CREDENCE_MODELS_TREE_PRUNE_H

#include "grow.h"

/* alpha [nodes]: where each inner node collapses, by weakest links; INFINITY for leaves, and for
 * nodes below one that collapses with or before them.  O(nodes log(nodes) depth). */
cr_status cri_prune_path(cr_ctx *cx, const cri_tree *tree, double *out_alpha);
/* *out = the tree without the nodes below those with alpha_t <= alpha. */
cr_status cri_prune(cr_ctx *cx, const cri_tree *tree, const double *path, double alpha,
                    cri_tree *out);

typedef struct cri_prune_choice {
    double alpha;    /* chosen                                                   */
    double loss, se; /* by cross-validation, of the tree that has the least loss */
    double chosen;   /* the loss of the chosen one                               */
} cri_prune_choice;

/* alpha by cross-validation in up to `folds` folds (folds.h): of the trees on the path of `tree` (at most 200
 * of them), the smallest whose loss is at most `slack` standard errors above the least.  The loss
 * of a row that was left out is that of which the node's loss is the sum: squared error, Brier's
 * score, or minus the log of the share of its class, smoothed by 1/K. */
cr_status cri_prune_choose(cr_ctx *cx, const cri_kept *kept, const cri_columns *columns,
                           const cri_grow *options, const cri_tree *tree, const double *path,
                           size_t folds, double slack, uint64_t seed, cri_prune_choice *out);

#endif
