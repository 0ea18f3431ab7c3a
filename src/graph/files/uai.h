/* uai.h -- networks and evidence in the format of the UAI inference competitions.
 * MARKOV or BAYES, the number of variables, their numbers of states, the number of tables, a scope
 * per table (the last variable runs fastest; in a Bayesian network it is the child), then per table
 * the number of its entries and the entries; any white space between.  A file that says BAYES but
 * has rows that do not sum to one, as some of the competitions do, is read as a Markov network,
 * with a warning. Variables are named x0, x1, ..., their states 0, 1, ... Evidence: k and then k
 * pairs of variable and state; older files have a 1 (the number of samples) before. */
#ifndef CREDENCE_GRAPH_FILES_UAI_H
#define CREDENCE_GRAPH_FILES_UAI_H

#include "graph/network/evidence.h"

/* Reads a network.  Fails with CR_EIO, or CR_EDATA with file, line and column. */
CR_API cr_status cr_uai_read(cr_ctx *cx, const char *path, cr_network **out_net);
/* Reads a network from bytes; `source` is their name in messages. */
CR_API cr_status cr_uai_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                              cr_network **out_net);
/* Reads evidence and adds it to e.  CR_EDATA, with the place, also for a variable that e knows
 * already. */
CR_API cr_status cr_uai_read_evidence(cr_ctx *cx, const char *path, const cr_network *net,
                                      cr_evidence *e);
/* Writes a network, atomically; names are lost. */
CR_API cr_status cr_uai_write(cr_ctx *cx, const cr_network *net, const char *path);

#endif
