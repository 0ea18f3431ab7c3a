/* approximate_internal.h -- one run of an approximation, and joint distributions made of several
 * (approximate_joint.c).  (Internal header.) */
#ifndef CREDENCE_GRAPH_APPROXIMATE_APPROXIMATE_INTERNAL_H
#define CREDENCE_GRAPH_APPROXIMATE_APPROXIMATE_INTERNAL_H

#include "approximate.h"

/* One run; max_iter of the options is set.  check: messages are compared with others. */
cr_status cri_approximate_once(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                               cr_approximation how, const cr_approximate_options *o, uint64_t seed,
                               size_t n, const size_t *query, bool check,
                               cr_approximate_answer *out);
/* The joint of n variables into a, which has their marginals.  CR_ENOMEM: too many runs. */
cr_status cri_approximate_chain(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                cr_approximation how, const cr_approximate_options *o,
                                uint64_t seed, size_t n, const size_t *query,
                                cr_approximate_answer *a);

#endif
