/* tree.h -- the state of a tree model, and how it is shown.  (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_TREE_H
#define CREDENCE_MODELS_TREE_TREE_H

#include "grow.h"

typedef struct cri_cart {
    cri_tree tree;
    size_t   K; /* classes; 0 for numbers */
    bool     entropy;
    double   smoothing;
    double   alpha;              /* of the pruning; NaN for none                      */
    double   cv_loss, cv_se;     /* at the alpha that was chosen; NaN without         */
    double   spread, spread_dof; /* pooled variance within the leaves                 */
    size_t   full_leaves;        /* before pruning                                    */
} cri_cart;

/* The number of leaves. */
size_t cri_tree_leaves(const cri_tree *tree);
/* importance [p]: the loss that the splits along each column took away, adding up to one (or all
 * 0). */
void cri_tree_importance(const cri_tree *tree, size_t p, double *out);
/* "parameters" (importance), "statistics" and "tree" (nodes as rows, down to a depth that at most
 * 500 of them reach). */
cr_status cri_cart_describe(cr_ctx *cx, const cri_cart *m, const cr_design *design, json_t *out);

#endif
