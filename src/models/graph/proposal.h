/* proposal.h -- a distribution from which whole assignments are drawn, and which learns.
 * Variables are drawn one after another, in the reverse of an elimination order:
 *   Q0(x_i | before) ~ prod_{f with i} sum over what is not yet drawn of  f  prod_j n_{j->f}(x_j)
 * with the messages n of belief propagation (bp.h) in place of what comes later: exact on trees.
 * Learnt from weighted samples: counts N(x_i, c_i) beside a few neighbours c_i drawn before,
 *   Q(x_i | before) = (k Q0 + N(x_i, c_i)) / (k + N(c_i)),
 * the cross-entropy optimum given c_i, drawn towards Q0 where there are few samples.
 * Yuan & Druzdzel (2003), UAI (messages first); Cheng & Druzdzel (2000), JAIR 13 (learning).
 * (Internal header.) */
#ifndef CREDENCE_MODELS_GRAPH_PROPOSAL_H
#define CREDENCE_MODELS_GRAPH_PROPOSAL_H

#include "bp.h"
#include "../../base/rng.h"

typedef struct cri_proposal {
    const cri_fgraph *g;
    cri_bp            bp;
    size_t           *order; /* [n] the first to be drawn first */
    size_t           *place; /* [n] */
    size_t *near_begin;      /* [n + 1] c_i by place, as (variable, stride of the count table) */
    size_t *near, *stride;
    size_t  ends;
    size_t *count_begin; /* [n + 1] counts by place: [c_i][x_i] */
    double *count;
} cri_proposal;

/* Runs the messages and finds the order.  The graph must outlive it. */
cr_status cri_proposal_new(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                           cri_proposal *out);
void      cri_proposal_free(cr_ctx *cx, cri_proposal *q);
/* How many numbers drawing needs to work in. */
size_t cri_proposal_room(const cri_fgraph *g);
/* Draws an assignment; returns log (product of the tables) - log Q, without the scale; -INFINITY:
 * it is impossible (and may be drawn in part only). */
double cri_proposal_draw(const cri_proposal *q, cr_rng *r, double *room, size_t *out_state);
/* Adds a sample with this weight to the counts of the place `k`, laid out as q->count. */
size_t cri_proposal_cell(const cri_proposal *q, size_t k, const size_t *state);

#endif
