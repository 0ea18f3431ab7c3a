/* chordal.h -- chordal graphs, their cliques, and cluster graphs.
 * Maximum cardinality search visits next the vertex with the most visited neighbours; the graph is
 * chordal exactly when, in the order reversed, each vertex's later neighbours form a clique. Tarjan
 * & Yannakakis (1984), SIAM J. Comput. 13(3); Koller & Friedman (2009), sec. 9.4.3, 10.4.2, 11.3.
 */
#ifndef CREDENCE_GRAPH_EXACT_CHORDAL_H
#define CREDENCE_GRAPH_EXACT_CHORDAL_H

#include "graph/network/structure.h"

/* A perfect elimination order of a chordal graph (opt_order [vertices]); *out_chordal: whether
 * the graph is one.  O(vertices log + edges). */
CR_API cr_status cr_graph_chordal(cr_ctx *cx, const cr_graph *g, bool *out_chordal,
                                  size_t *opt_order);

/* Sets of variables, and edges between sets with the variables that they share and pass on. */
typedef struct cr_cluster_graph {
    size_t  clusters, members; /* entries of `member` */
    size_t *begin;             /* [clusters + 1] into member */
    size_t *member;            /* [members] ascending within each cluster */
    size_t  edges, shared_n;
    size_t *a, *b;        /* [edges] clusters */
    size_t *shared_begin; /* [edges + 1] into shared */
    size_t *shared;       /* [shared_n] the variables of each edge */
} cr_cluster_graph;

/* Frees the lists and leaves no graph. */
CR_API void cr_cluster_graph_free(cr_ctx *cx, cr_cluster_graph *g);
/* The maximal cliques of the graph after elimination in this order, joined into a tree (a forest)
 * in which each variable's cliques are connected: the junction tree. */
CR_API cr_status cr_clique_tree(cr_ctx *cx, const cr_graph *g, const size_t *order,
                                cr_cluster_graph *out_g);
/* The Bethe cluster graph, a factor graph: cluster i < tables is table i's scope, then one cluster
 * per variable, joined to each table that holds it. */
CR_API cr_status cr_bethe_graph(cr_ctx *cx, const cr_network *net, cr_cluster_graph *out_g);
/* Does each variable's clusters and edges form a tree (the running intersection property)? */
CR_API cr_status cr_cluster_graph_check(cr_ctx *cx, const cr_cluster_graph *g, size_t variables,
                                        bool *out_holds);

#endif
