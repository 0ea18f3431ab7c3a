/* dynamic_slices.h -- questions to a network of slices that are answered slice by slice.  (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_DYNAMIC_SLICES_H
#define CREDENCE_GRAPH_QUERY_DYNAMIC_SLICES_H

#include "graph/network/dynamic_network.h"
#include "questions.h"

/* Can it be answered so? */
bool cri_dynamic_by_slices(const cr_question *q, const cr_findings *opt_more);
/* The answer; out->about has its variables.  `slices`: all that the question and the findings name.  *out_lost: it may
 * be far off (cri_interface_lost), and so may be that the evidence is impossible. */
cr_status cri_dynamic_slices_run(cr_ctx *cx, const cri_dynamic *net, size_t slices,
                                 const cr_question *q, const cr_findings *opt_more,
                                 cr_query_answer *out, bool *out_lost);

#endif
