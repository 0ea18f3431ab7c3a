/* query_structure.h -- questions that the graph of a network answers.  (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_QUERY_STRUCTURE_H
#define CREDENCE_GRAPH_QUERY_QUERY_STRUCTURE_H

#include "query.h"

/* Fills the answer to a question of CR_QUESTION_STRUCTURE. */
cr_status cri_answer_structure(cr_ctx *cx, const cr_network *net, const cr_question *q,
                               cr_query_answer *out);

#endif
