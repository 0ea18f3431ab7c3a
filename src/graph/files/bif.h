/* bif.h -- Bayesian networks in the Interchange Format (BIF 0.15).
 *
 *     network NAME { property TEXT; }
 *     variable lung { type discrete [ 2 ] { yes, no }; property TEXT; }
 *     probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; default 0.5, 0.5; }
 *     probability ( smoke ) { table 0.5, 0.5; }
 *
 * Commas are optional, names may stand in double quotes, comments are those of C++, blocks come in
 * any order.  Rows are matched by the names of the parents' states, in any order; `default` is for
 * the rows that are not given.  `table` of a variable with parents runs over the variables as they
 * are listed, the last fastest, the child slowest (as JavaBayes writes it); where that does not sum
 * to one but rows of the child do, they are taken, with a warning.  A list of variables without a
 * bar is the child and its parents.  Rows whose sum is off by less than 1e-3 are divided by it.
 * Cozman (1998), "The Interchange Format for Bayesian networks". */
#ifndef CREDENCE_GRAPH_FILES_BIF_H
#define CREDENCE_GRAPH_FILES_BIF_H

#include "graph/network/network.h"

/* Reads a network from bytes; `source` is their name in messages.  Fails with CR_EDATA, with line,
 * column and caret, or CR_ENOMEM when a table cannot be held. */
CR_API cr_status cr_bif_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                              cr_network **out_net);
/* Writes a Bayesian network, atomically, with all digits.  CR_EARG for a Markov network. */
CR_API cr_status cr_bif_write(cr_ctx *cx, const cr_network *net, const char *path);

#endif
