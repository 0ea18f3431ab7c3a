/* tree.h -- the state of a tree model, and how it is shown.  (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_TREE_H
#define CREDENCE_MODELS_TREE_TREE_H

#include "grow.h"

/* clang-format off */
#define CRI_CART_STATE(MEMBER)                                                                      \
    MEMBER(count, K,           (),         "",      "classes; 0 for numbers")                       \
    MEMBER(flag,  entropy,     (),         "",      "not Gini")                                     \
    MEMBER(real,  smoothing,   (),         ">=0",   "added to each class in a leaf")                \
    MEMBER(real,  alpha,       (),         "none",  "of the pruning; NaN for none")                 \
    MEMBER(real,  cv_loss,     (),         "any none", "at the alpha that was chosen; NaN without") \
    MEMBER(real,  cv_se,       (),         "any none", "its standard error")                        \
    MEMBER(real,  spread,      (),         "any none", "pooled variance within the leaves")         \
    MEMBER(real,  spread_dof,  (),         "none",  "its degrees of freedom")                       \
    MEMBER(real,  inflation,   (),         "spare", "of the variances, so that they are those of rows left out") \
    MEMBER(count, full_leaves, (),         "",      "before pruning")                               \
    MEMBER(part,  tree,        (cri_tree), "",      "")
/* clang-format on */
CRI_RECORD(cri_cart, CRI_CART_STATE);

/* The number of leaves. */
size_t cri_tree_leaves(const cri_tree *tree);
/* importance [p]: the loss that the splits along each column took away, adding up to one (or all
 * 0). */
void cri_tree_importance(const cri_tree *tree, size_t p, double *out);
/* "parameters" (importance), "statistics" and "tree" (nodes as rows, down to a depth that at most
 * 500 of them reach). */
cr_status cri_cart_describe(cr_ctx *cx, const cri_cart *m, const cr_design *design, cri_sheet *out);
extern const cr_field cri_cart_statistics[], cri_cart_tables[];
/* "parameters": the importance of each term; share [terms] is overwritten. */
void cri_tree_describe_importance(const cri_tree *tree, const cr_design *design, double *share,
                                  cri_sheet *out);

#endif
