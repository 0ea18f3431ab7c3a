/* net.h -- Bayesian networks in the NET language of Hugin.
 *
 *     net { node_size = (80 40); }
 *     node lung { states = ("yes" "no"); label = "Lung cancer"; position = (10 20); }
 *     potential (lung | smoke) { data = ((0.1 0.9) (0.01 0.99)); }
 *
 * The inner lists are the rows: the parents run as listed, the last fastest, the child within the
 * row.  Comments begin with '%'.  Fields other than states and data are kept as remarks.  Chance
 * nodes only: decisions, utilities, continuous nodes and tables made by expressions are refused.
 * Names in NET are identifiers: a name that is none is written as one, and as it is in the field
 * credence_name, which is read back.  Hugin Expert, "The Hugin API reference manual", ch. 13. */
#ifndef CREDENCE_GRAPH_FILES_NET_H
#define CREDENCE_GRAPH_FILES_NET_H

#include "graph/network/network.h"

/* Reads a network from bytes; `source` is their name in messages.  Fails with CR_EDATA, with line,
 * column and caret, or CR_ENOMEM when a table cannot be held. */
CR_API cr_status cr_net_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                              cr_network **out_net);
/* Writes a Bayesian network, atomically, with all digits.  CR_EARG for a Markov network. */
CR_API cr_status cr_net_write(cr_ctx *cx, const cr_network *net, const char *path);

#endif
