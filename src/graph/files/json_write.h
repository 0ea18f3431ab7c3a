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
/* The same of all texts of a network, which must be complete. */
cr_status cri_json_check_texts(cr_ctx *cx, const cr_network *net);

/* Members of an object, each on lines that begin with `indent` blanks: the name and the remarks of a
 * network; the states of v; its parents and its distribution; remarks about v. */
void cri_put_json_heading(cri_writer *w, const cr_network *net);
void cri_put_json_states(cri_writer *w, const cr_variables *vs, size_t v);
void cri_put_json_definition(cri_writer *w, const cr_network *net, size_t v, size_t indent);
void cri_put_json_properties(cri_writer *w, const cr_network *net, size_t v, size_t indent);

#endif
