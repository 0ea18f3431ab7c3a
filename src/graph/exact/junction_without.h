/* junction_without.h -- what a junction tree knows except for one table.  (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_JUNCTION_WITHOUT_H
#define CREDENCE_GRAPH_EXACT_JUNCTION_WITHOUT_H

#include "junction.h"

/* The derivative of log P(e) by each entry of table t, out [entries of the table as the network has
 * it]: sum over what agrees with the entry of the product of all other tables, divided by P(e).
 * It is exact where the entry is 0, too.  P(e) must not be 0 (CR_EDATA).  One pass over a clique,
 * once the messages to it are there. */
cr_status cri_junction_derivatives(cr_ctx *cx, cr_junction *j, size_t t, double *out);

#endif
