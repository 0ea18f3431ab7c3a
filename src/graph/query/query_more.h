/* query_more.h -- questions whose answers are lists: the best few, parameters, causes.
 * Each takes an engine that holds the evidence, and fills the answer.  (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_QUERY_MORE_H
#define CREDENCE_GRAPH_QUERY_QUERY_MORE_H

#include "graph/network/gaussian_network.h"
#include "query_engine.h"

/* The q->count best assignments of q->x (of none: of all variables that are open, out->variable,
 * which is set).  log_e: log P(e) as the engine has it. */
cr_status cri_answer_best_list(cri_engine *e, const cr_question *q, double log_e,
                               cr_query_answer *out);
/* How P(event | e) changes with each parameter. */
cr_status cri_answer_sensitivity(cri_engine *e, const cr_question *q, const cr_findings *known,
                                 cr_query_answer *out);
/* What the evidence tells about each of q->x (of none: of all that it may come from). */
cr_status cri_answer_causes(cri_engine *e, const cr_question *q, const cr_findings *known,
                            cr_query_answer *out);

/* A question about variables that have values in place of states; of a finding weight[0] is the
 * value.  The network is of their graph, with one state each. */
cr_status cri_question_parse_values(cr_ctx *cx, const cr_network *graph, const char *text,
                                    cr_question **out_q);
/* A question about variables in slices, x[t=3]: numbers are those of dynamic_network.h.  The network is
 * of one slice. */
cr_status cri_question_parse_slices(cr_ctx *cx, const cr_network *slice, const char *text,
                                    cr_question **out_q);
/* The number of the variable of such a name.  CR_EARG. */
cr_status cri_find_in_slice(cr_ctx *cx, const cr_network *slice, const char *name,
                            size_t *out_number);
/* Findings on variables in slices: {"x[t=3]": "a"}, otherwise as cr_findings_read and _parse have them. */
cr_status cri_findings_read_slices(cr_ctx *cx, cr_findings *list, const cr_network *slice,
                                   const char *path);
cr_status cri_findings_parse_slices(cr_ctx *cx, cr_findings *list, const cr_network *slice,
                                    const char *source, const char *bytes, size_t size);
/* The arcs of a Gaussian network as a network of variables with one state. */
cr_status cri_gaussian_graph(cr_ctx *cx, const cr_gaussian_network *net, cr_network **out);
/* Do both say that the variable is in the same state? */
bool cri_same_finding(const cr_finding *a, const cr_finding *b);
/* Adds the value of a variable.  CR_EARG: there is another one already. */
cr_status cri_findings_add_value(cr_ctx *cx, cr_findings *list, const cr_network *graph, size_t v,
                                 double value);

#endif
