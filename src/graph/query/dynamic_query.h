/* dynamic_query.h -- questions to a network of slices: P(x[t=3] | y[t=1]=a).
 * Up to some size the slices that a question names are put side by side, and the network they make is
 * asked as any other.  Longer stretches are followed slice by slice (exact/interface.h).  Which it will be
 * is the plan, made before any work.  (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_DYNAMIC_QUERY_H
#define CREDENCE_GRAPH_QUERY_DYNAMIC_QUERY_H

#include "graph/network/dynamic_network.h"
#include "query.h"

enum { CRI_MOST_UNROLLED = 100000 }; /* variables side by side */

/* How many slices a question and further findings are about; 0: none is named. */
size_t cri_dynamic_horizon(const cri_dynamic *net, const cr_question *opt_q,
                           const cr_findings *opt_more);
/* So many slices side by side.  CR_EARG where these are too many variables for anything to be made of. */
cr_status cri_dynamic_lay(cr_ctx *cx, const cri_dynamic *net, size_t slices, cr_network **out_net);
/* cr_query_run; out->about has the variables of the answer. */
cr_status cri_dynamic_query_run(cr_ctx *cx, const cri_dynamic *net, const cr_question *q,
                                const cr_findings *opt_more, const cr_query_options *opt_o,
                                cr_query_answer *out);

#endif
