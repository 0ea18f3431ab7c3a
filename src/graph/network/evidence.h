/* evidence.h -- what is known about the variables of a network.
 * Evidence on x is a likelihood vector over its states, lambda(s) >= 0; the joint is multiplied by
 * it: observed      one state has 1, all others 0 a set         the states of a set have 1, all
 * others 0 virtual       any likelihoods (Pearl): only their ratios matter for posteriors P(e) is
 * the sum of the product.  Engines leave out states of likelihood 0 before they start. Pearl
 * (1988), "Probabilistic reasoning in intelligent systems", sec. 2.2.2. */
#ifndef CREDENCE_GRAPH_NETWORK_EVIDENCE_H
#define CREDENCE_GRAPH_NETWORK_EVIDENCE_H

#include "network.h"

typedef struct cr_evidence cr_evidence;

/* No evidence yet on any variable of the network; keeps no pointer to it. */
CR_API cr_status cr_evidence_new(cr_ctx *cx, const cr_network *net, cr_evidence **out_e);
/* Frees evidence.  NULL is allowed. */
CR_API void cr_evidence_free(cr_ctx *cx, cr_evidence *e);
/* v is in this state.  Replaces what was known about v.  CR_EARG: no such variable or state. */
CR_API cr_status cr_evidence_observe(cr_ctx *cx, cr_evidence *e, size_t v, size_t state);
/* v is in one of these n >= 1 states.  Replaces what was known about v. */
CR_API cr_status cr_evidence_allow(cr_ctx *cx, cr_evidence *e, size_t v, size_t n,
                                   const size_t *states);
/* The likelihood of each state of v, >= 0, not all 0 (CR_EDATA).  Replaces what was known about v.
 */
CR_API cr_status cr_evidence_weigh(cr_ctx *cx, cr_evidence *e, size_t v, const double *likelihood);
/* Forgets what is known about v. */
CR_API void cr_evidence_forget(cr_ctx *cx, cr_evidence *e, size_t v);
/* The likelihoods of the states of v; NULL: nothing is known. */
CR_API const double *cr_evidence_likelihood(const cr_evidence *e, size_t v);
/* The only state of v that is left, CR_NONE if there are several. */
CR_API size_t cr_evidence_state(const cr_evidence *e, size_t v);

#endif
