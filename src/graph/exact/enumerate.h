/* enumerate.h -- exact answers from the definition: a sum over all assignments.
 * O(tables x product of the states that evidence leaves): for small networks, and to check the
 * others. */
#ifndef CREDENCE_GRAPH_EXACT_ENUMERATE_H
#define CREDENCE_GRAPH_EXACT_ENUMERATE_H

#include "graph/network/evidence.h"

/* P(query | e) over n variables (0: none) and log P(e), -INFINITY when the evidence is impossible;
 * then, if n > 0, fails with CR_EDATA.  Fails with CR_ENOMEM, with the figure, when there are more
 * than `most` assignments (0: 2^26). */
CR_API cr_status cr_enumerate_query(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                    size_t n, const size_t *query, double most, cr_factor *opt_f,
                                    double *opt_log);
/* The assignment of the query variables (n = 0: of all, out_state [variables]) of the largest
 * probability together with e, the others summed out, and its log. */
CR_API cr_status cr_enumerate_best(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                   size_t n, const size_t *query, double most, size_t *out_state,
                                   double *out_log);

#endif
