/* elimination_tree.h -- the cliques of an elimination order, and which sends its message to which.
 *   later(i) = (neighbours of i) + later(children of i), without i and what came before it
 *   parent(i) = the first of later(i)
 * {i} + later(i) is the clique that eliminating i makes, later(i) the scope of its message, which
 * goes to the clique of parent(i).  O(size of the result).  Liu (1990), "The role of elimination
 * trees in sparse factorization".  (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_ELIMINATION_TREE_H
#define CREDENCE_GRAPH_EXACT_ELIMINATION_TREE_H

#include "graph/network/structure.h"

typedef struct cri_elimination_tree {
    size_t  n, ends;
    size_t *begin;  /* [n + 1] */
    size_t *later;  /* [ends] ascending within each list; vertices are named by their rank */
    size_t *parent; /* [n] CR_NONE: a root */
} cri_elimination_tree;

/* g's vertices are named 0 .. n-1; order[i] is eliminated as the i-th. */
cr_status cri_elimination_tree_new(cr_ctx *cx, const cr_graph *g, const size_t *order,
                                   cri_elimination_tree *out_f);
void      cri_elimination_tree_free(cr_ctx *cx, cri_elimination_tree *f);

#endif
