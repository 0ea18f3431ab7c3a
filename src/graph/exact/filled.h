/* filled.h -- the graph after elimination: for each vertex, the later ones it was joined with.
 * later(i) = (neighbours of i) + later(children of i), without i and what came before; the parent
 * of i is the first of later(i).  {i} + later(i) is the clique that eliminating i makes.  O(size of
 * the result). (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_FILLED_H
#define CREDENCE_GRAPH_EXACT_FILLED_H

#include "graph/network/structure.h"

typedef struct cri_filled {
    size_t  n, ends;
    size_t *begin;  /* [n + 1] */
    size_t *later;  /* [ends] ascending within each list; vertices are named by their rank */
    size_t *parent; /* [n] CR_NONE: a root */
} cri_filled;

/* g's vertices are named 0 .. n-1; order[i] is eliminated as the i-th. */
cr_status cri_filled_new(cr_ctx *cx, const cr_graph *g, const size_t *order, cri_filled *out_f);
void      cri_filled_free(cr_ctx *cx, cri_filled *f);

#endif
