/* json_dynamic.h -- networks of two slices as JSON (json_network.h).
 * "x[-1]" among the parents is x in the slice before.  What stands beside the parents holds for every
 * slice but the first; "initial" has the parents and the distribution there, and may be left out of a
 * variable that does not depend on the slice before.  (Internal header.) */
#ifndef CREDENCE_GRAPH_FILES_JSON_DYNAMIC_H
#define CREDENCE_GRAPH_FILES_JSON_DYNAMIC_H

#include "graph/network/dynamic_network.h"

/* Is this the JSON of a network with slices?  Of text that is not JSON: no. */
bool cri_json_is_dynamic(const void *bytes, size_t size);
/* Fails with CR_EDATA: file, line, column, what is wrong there. */
cr_status cri_json_parse_dynamic(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                 cri_dynamic **out_net);
/* Writes it; what was given as parameters is written as such. */
cr_status cri_json_write_dynamic(cr_ctx *cx, const cri_dynamic *net, const char *path);

#endif
