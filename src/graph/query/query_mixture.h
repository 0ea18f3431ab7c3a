/* query_mixture.h -- soft evidence on one variable where answers come from samples.
 *   P'(z) = sum_s q(s) P(z | x=s, e),   var P'(z) = sum_s q(s)^2 var P(z | x=s, e)
 * is Jeffrey's rule as it stands: a run given each state of x, each with random numbers of its own.
 * No weight is estimated, so nothing but the runs has an error.  Jeffrey (1965), ch. 11.
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_QUERY_MIXTURE_H
#define CREDENCE_GRAPH_QUERY_QUERY_MIXTURE_H

#include "query_job.h"

/* Does the engine answer by samples? */
bool cri_engine_samples(const cri_engine *e);
/* What is known, and that the variable of e->mixed is in this state: new evidence. */
cr_status cri_mixture_assume(const cri_engine *e, size_t state, cr_evidence **out_e);
/* All marginals and the joint of n variables (0: none) as a mixture by e->mixed. */
cr_status cri_mixture_ask(cri_engine *e, cr_approximation how, size_t n, const size_t *query,
                          cr_approximate_answer *out);
/* Of several variables: the largest entry of their joint table, and its probability. */
cr_status cri_mixture_best(cri_engine *e, size_t n, const size_t *query, size_t *out_state);
/* A number with its report by a run given each state: out = sum q p, with its error. */
cr_status cri_mixture_number(cri_job *j, cr_status (*run)(cri_job *j, double *p), double *out);
/* Fails: this state shall have a probability, and is impossible. */
cr_status cri_mixture_refuse(cr_ctx *cx, const cr_network *net, const cr_finding *f, size_t state,
                             bool others);

#endif
