/* query_approximate.h -- approximations as an engine of questions, and when they are taken.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GRAPH_QUERY_APPROXIMATE_H
#define CREDENCE_MODELS_GRAPH_QUERY_APPROXIMATE_H

#include "query_engine.h"

/* The functions of an engine (query_engine.h). */
cr_status cri_approximate_log(cri_engine *e, double *out);
cr_status cri_approximate_joint(cri_engine *e, size_t n, const size_t *query, cr_factor *out,
                                double *log);
cr_status cri_approximate_marginals(cri_engine *e, double *out, double *log);
/* Everything: max-product.  Some of the variables: one after another, each in its most probable
 * state given those before; the log is then an estimate too. */
cr_status cri_approximate_map(cri_engine *e, size_t n, const size_t *query, size_t *state,
                              double *log);

#endif
