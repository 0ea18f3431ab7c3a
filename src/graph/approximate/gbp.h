/* gbp.h -- messages between clusters of several variables, until they no longer change.
 *   m_{c->d}(S_cd) = sum over C \ S of  prod of the tables of c  prod_{neighbours k != d} m_{k->c}
 *   log Z ~ sum_c log Z_c - sum_(c,d) log sum_S m_{c->d} m_{d->c}
 * A sweep goes through the clusters in the order of elimination and back; on a tree the first one
 * is exact.  Join-graph propagation, a form of generalised belief propagation.  Yedidia, Freeman &
 * Weiss (2005), IEEE Trans. Inf. Theory 51; Mateescu et al. (2010), JAIR 37.  (Internal header.) */
#ifndef CREDENCE_GRAPH_APPROXIMATE_GBP_H
#define CREDENCE_GRAPH_APPROXIMATE_GBP_H

#include "approximate.h"
#include "factor_graph.h"

/* out_marginal [start[n]]; the report gets log_evidence too (-INFINITY: impossible).  *out_tree: no
 * bucket was split, so that the answer is exact. */
cr_status cri_gbp(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                  double *out_marginal, bool *out_tree, cr_approximate_report *report);

#endif
