/* structure.h -- the graph of a network: orders, ancestors, neighbours, the moral graph.
 * Sets of variables are marks: bool [variables].  Graphs without directions are lists of neighbours
 * (cr_graph), ascending, without loops.
 * Koller & Friedman (2009), sec. 2.2, 3.3, 4.5.1. */
#ifndef CREDENCE_GRAPH_NETWORK_STRUCTURE_H
#define CREDENCE_GRAPH_NETWORK_STRUCTURE_H

#include "network.h"

/* Neighbours of v: to[begin[v]] .. to[begin[v + 1] - 1], ascending. */
typedef struct cr_graph {
    size_t  n, ends; /* vertices; entries of `to`: an edge counts at both of its ends */
    size_t *begin;   /* [n + 1] */
    size_t *to;      /* [ends] */
} cr_graph;

/* Frees the lists and leaves no graph. */
CR_API void cr_graph_free(cr_ctx *cx, cr_graph *g);
/* A graph from m edges (a[i], b[i]); loops and repetitions do no harm. */
CR_API cr_status cr_graph_new(cr_ctx *cx, size_t n, size_t m, const size_t *a, const size_t *b,
                              cr_graph *out_g);
/* Is there an edge between u and v?  O(log degree). */
CR_API bool cr_graph_has(const cr_graph *g, size_t u, size_t v);

/* Parents before children; of those that could be next, the one that was added first.  Fails with
 * CR_EDATA and the nodes of a cycle.  out_order [variables]. */
CR_API cr_status cr_network_order(cr_ctx *cx, const cr_network *net, size_t *out_order);
/* The arcs from parents to children: out_g lists the children of each variable. */
CR_API cr_status cr_network_children(cr_ctx *cx, const cr_network *net, cr_graph *out_g);
/* Adds to the marked variables all their ancestors. */
CR_API cr_status cr_network_ancestors(cr_ctx *cx, const cr_network *net, bool *inout_mark);
/* Parents, children and the children's other parents of v; in a Markov network its neighbours.
 * Given these, v is independent of all others.  out_mark [variables]. */
CR_API cr_status cr_network_blanket(cr_ctx *cx, const cr_network *net, size_t v, bool *out_mark);
/* The graph in which the variables of each table are joined: of a Bayesian network the moral graph,
 * of a Markov network its own. */
CR_API cr_status cr_network_moral(cr_ctx *cx, const cr_network *net, cr_graph *out_g);

#endif
