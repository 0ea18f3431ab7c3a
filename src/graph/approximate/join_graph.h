/* join_graph.h -- clusters of bounded size that cover a factor graph.
 * Variables are eliminated in the order that is best for exact work.  The scopes that hold a
 * variable are joined into as few clusters as the bound on their entries allows (mini-buckets);
 * each passes what is left without the variable on to the bucket of its next one, and the clusters
 * of one bucket pass the variable along a chain.  If the bound never splits a bucket, this is a
 * junction tree.  Dechter & Rish (2003), J. ACM 50(2); Mateescu, Kask, Gogate & Dechter (2010),
 * JAIR 37. (Internal header.) */
#ifndef CREDENCE_GRAPH_APPROXIMATE_JOIN_GRAPH_H
#define CREDENCE_GRAPH_APPROXIMATE_JOIN_GRAPH_H

#include "graph/exact/chordal.h"
#include "factor_graph.h"

typedef struct cri_join_graph {
    cr_cluster_graph graph; /* edges go from earlier clusters to later ones */
    size_t          *home;  /* [tables] the cluster of each */
    size_t           tables;
    size_t           largest; /* entries */
} cri_join_graph;

/* Clusters of at most `most` entries, unless a table is larger. */
cr_status cri_join_graph_new(cr_ctx *cx, const cri_fgraph *g, size_t most, cri_join_graph *out);
void      cri_join_graph_free(cr_ctx *cx, cri_join_graph *j);

#endif
