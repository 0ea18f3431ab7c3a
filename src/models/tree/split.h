/* split.h -- the best split of a node along one column.  (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_SPLIT_H
#define CREDENCE_MODELS_TREE_SPLIT_H

#include "grow.h"

/* What the search needs of a node. */
typedef struct cri_node_view {
    cri_tree_loss   loss;
    size_t          classes;
    const cri_case *cases;
    double          weight, mean; /* of the node; mean of numbers      */
    const double   *counts;       /* [classes] weights of the node     */
    double          min_leaf;
    double          base; /* cri_split_base                              */
    double          tie;  /* gains that differ less are the same         */
} cri_node_view;

typedef struct cri_split {
    double   gain;     /* what the children's losses fall short of the node's; -INFINITY where
                          there is no split                                                  */
    uint32_t rank;     /* a number: ranks up to this go left                                 */
    uint32_t next;     /* the next rank in the node; CRI_GAP where the others are gaps       */
    bool     gap_left; /* gaps go left                                                       */
    bool     gaps;     /* there were some                                                    */
} cri_split;

/* The score of the node itself, which gains are measured from: its weight minus its loss (gini),
 * minus its loss (entropy), 0 (squares). */
double cri_split_base(const cri_node_view *v);
/* Doubles of room that a search needs. */
size_t cri_split_room(const cri_columns *columns, size_t classes);
/* The best split along a column of numbers; e [n] are its entries in the node, by rank. */
cri_split cri_split_numbers(const cri_node_view *v, const cri_entry *e, size_t n, double *room);
/* The best split along a category of `levels` levels.  left [levels] = 1 for those that go left, 0
 * for the others and -1 for levels that no row has; may be NULL. */
cri_split cri_split_levels(const cri_node_view *v, const cri_entry *e, size_t n, size_t levels,
                           double *room, double *opt_left);

#endif
