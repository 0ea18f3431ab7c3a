/* elimination.h -- orders in which variables are eliminated, and what each would cost.
 * Eliminating v joins its neighbours and makes the clique {v} + neighbours; the induced width is
 * the size of the largest clique minus one, the cost the sum over cliques of the product of their
 * states. No heuristic is best on all networks, so several are tried and the cheapest order is
 * kept; then ties are broken at random, within a budget of operations (not of time: the answer is
 * always the same). Koller & Friedman (2009), sec. 9.4; Fishelson & Geiger (2004) for random ties.
 */
#ifndef CREDENCE_GRAPH_EXACT_ELIMINATION_H
#define CREDENCE_GRAPH_EXACT_ELIMINATION_H

#include "graph/network/structure.h"

typedef enum cr_elimination {
    CR_ELIMINATE_BEST, /* all of those below, then random ties; the cheapest */
    CR_ELIMINATE_MIN_FILL,
    CR_ELIMINATE_WEIGHTED_MIN_FILL,
    CR_ELIMINATE_MIN_WEIGHT,
    CR_ELIMINATE_MIN_NEIGHBOURS,
    CR_ELIMINATE_FILE_ORDER,
    CR_ELIMINATE_REVERSED_FILE_ORDER
} cr_elimination;

typedef struct cr_order {
    size_t         n;
    size_t        *order;  /* [n] variables, the first to be eliminated first */
    size_t         width;  /* the largest clique has width + 1 variables */
    double         states; /* the entries of all cliques together */
    double         peak;   /* the entries of the largest clique */
    cr_elimination method; /* that found it */
    size_t         tries;  /* how many orders were looked at */
    double         bytes;  /* held while it was looked for, at the most */
} cr_order;

/* Frees the order and leaves none. */
CR_API void cr_order_free(cr_ctx *cx, cr_order *o);
/* An order for the graph.  states [n]; opt_group [n]: variables of group 0 go first, then 1, ...;
 * NULL: all in one.  `effort` scales the budget of random tries (1 is usual, 0 none). */
CR_API cr_status cr_order_find(cr_ctx *cx, const cr_graph *g, const size_t *states,
                               const size_t *opt_group, cr_elimination method, double effort,
                               cr_order *out_o);
/* The entries of all cliques of a quick order, and its width; where they are more than `bound` it
 * ends there, and both are what they were by then. */
cr_status cri_order_glance(cr_ctx *cx, const cr_graph *g, const size_t *states,
                           const size_t *opt_group, double bound, double *out_states,
                           size_t *out_width);
/* What a given order would cost. */
CR_API cr_status cr_order_cost(cr_ctx *cx, const cr_graph *g, const size_t *states,
                               const size_t *order, cr_order *out_o);

#endif
