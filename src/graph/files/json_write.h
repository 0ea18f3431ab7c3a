/* json_write.h -- JSON in lines that people read: what fits on one line stands on one, numbers are
 * the shortest that are the same.  (Internal header.) */
#ifndef CREDENCE_GRAPH_FILES_JSON_WRITE_H
#define CREDENCE_GRAPH_FILES_JSON_WRITE_H

#include "network_text.h"

#include <jansson.h>

/* A text with its quotes. */
void cri_put_json_text(cri_writer *w, const char *text);
/* Fails with CR_EDATA when a name is not UTF-8. */
cr_status cri_json_check_names(cr_ctx *cx, const cr_variables *vs);

#endif
