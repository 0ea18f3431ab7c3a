/* query_approximate.h -- approximations as an engine of questions, and when they are taken.
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_QUERY_APPROXIMATE_H
#define CREDENCE_GRAPH_QUERY_QUERY_APPROXIMATE_H

#include "query_engine.h"

/* The functions of an engine (query_engine.h). */
cr_status cri_approximate_log(cri_engine *e, double *out);
cr_status cri_approximate_joint(cri_engine *e, size_t n, const size_t *query, cr_factor *out,
                                double *log);
cr_status cri_approximate_marginals(cri_engine *e, double *out, double *log);
/* One run with the options as they are; n variables together, or none. */
cr_status cri_approximate_ask(cri_engine *e, cr_approximation how, size_t n, const size_t *query,
                              cr_approximate_answer *out);
/* All marginals, with no more sweeps than the budget has time for (query_budget.c). */
cr_status cri_budget_ask(cri_engine *e, cr_approximation how, cr_approximate_answer *out);
/* Seconds of the budget that are left. */
double cri_budget_left(const cri_engine *e);
/* Adds to `why` that the budget was too short. */
void cri_budget_report(cri_engine *e);
/* Everything: max-product.  Some of the variables: one after another, each in its most probable
 * state given those before; the log is then an estimate too. */
cr_status cri_approximate_map(cri_engine *e, size_t n, const size_t *query, size_t *state,
                              double *log);

#endif
