/* xmlbif.h -- Bayesian networks in XMLBIF 0.3.
 *
 *     <BIF VERSION="0.3"><NETWORK><NAME>asia</NAME>
 *     <VARIABLE
 * TYPE="nature"><NAME>lung</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
 *     <DEFINITION><FOR>lung</FOR><GIVEN>smoke</GIVEN><TABLE>0.1 0.9 0.01 0.99</TABLE></DEFINITION>
 *     </NETWORK></BIF>
 *
 * The table runs over the GIVEN variables as listed and the FOR variable, the last fastest.
 * Entities that a file declares are refused; elements that are not known are left out.
 * Cozman (1998), "The Interchange Format for Bayesian networks: XMLBIF". */
#ifndef CREDENCE_GRAPH_FILES_XMLBIF_H
#define CREDENCE_GRAPH_FILES_XMLBIF_H

#include "graph/network/network.h"

/* Reads a network from bytes; `source` is their name in messages.  Fails with CR_EDATA, with line,
 * column and caret, or CR_ENOMEM when a table cannot be held. */
CR_API cr_status cr_xmlbif_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                 cr_network **out_net);
/* Writes a Bayesian network, atomically, with all digits.  CR_EARG for a Markov network. */
CR_API cr_status cr_xmlbif_write(cr_ctx *cx, const cr_network *net, const char *path);

#endif
