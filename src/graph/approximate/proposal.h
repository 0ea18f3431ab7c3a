/* proposal.h -- a distribution from which whole assignments are drawn, and which learns.
 * Variables are drawn one after another, in the reverse of an elimination order:
 *   Q0(x_i | before) ~ prod_{f with i} sum over what is not yet drawn of  f  prod_j n_{j->f}(x_j)
 * with the messages n of belief propagation (bp.h) in place of what comes later: exact on trees.
 * Learnt from weighted samples: counts N(x_i, c_i) beside a few neighbours c_i drawn before,
 *   Q_k(x_i | before) = (30 Q0 + N_k(x_i, c_i)) / (30 + N_k(c_i)),
 * the cross-entropy optimum given c_i, drawn towards Q0 where there are few samples.  The whole is
 * a mixture, sum_k a_k Q_k: one that has learnt all it can of one mode is blind to the others, and
 * no weight of its own tells.  The first component never learns, so that no weight exceeds 1 / a_0
 * of what messages alone would give it; the last ones are taught by chains (proposal_learn.c).
 * They share Q0, so a component costs little.
 * Yuan & Druzdzel (2003), UAI (messages first); Cheng & Druzdzel (2000), JAIR 13 (learning);
 * Hesterberg (1995), Technometrics 37 (defensive mixtures); Cappe, Douc, Guillin, Marin & Robert
 * (2008), Statistics and Computing 18 (mixtures that learn).  (Internal header.) */
#ifndef CREDENCE_GRAPH_APPROXIMATE_PROPOSAL_H
#define CREDENCE_GRAPH_APPROXIMATE_PROPOSAL_H

#include "bp.h"
#include "base/rng.h"

enum { CRI_VISITS = 48 };

typedef struct cri_proposal {
    const cri_fgraph *g;
    cri_bp            bp;
    size_t           *order; /* [n] the first to be drawn first */
    size_t           *place; /* [n] */
    size_t *near_begin;      /* [n + 1] c_i by place, as (variable, stride of the count table) */
    size_t *near, *stride;
    size_t  ends;
    size_t *count_begin; /* [n + 1] counts by place: [c_i][x_i] */
    size_t  components;
    double *count;   /* [components x count_begin[n]], those of the first stay 0 */
    double *share;   /* [components] a_k, sum 1 */
    size_t  chains;  /* that have taught it; */
    size_t *visited; /* [chains x CRI_VISITS x n] what each came to afterwards */
} cri_proposal;

/* Runs the messages and finds the order; all components begin as Q0, with equal shares.  The graph
 * must outlive it. */
cr_status cri_proposal_new(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                           size_t components, cri_proposal *out);
void      cri_proposal_free(cr_ctx *cx, cri_proposal *q);
/* How many numbers drawing needs to work in. */
size_t cri_proposal_workspace(const cri_proposal *q);
/* Draws an assignment; returns log (product of the tables) - log Q, without the scale; -INFINITY:
 * it is impossible (and may be drawn in part only).  opt_part [components]: the shares of the
 * components in Q at the assignment, if it is possible. */
double cri_proposal_draw(const cri_proposal *q, cr_rng *r, double *workspace, size_t *out_state,
                         double *opt_part);
/* The same for an assignment that is given. */
double cri_proposal_weight(const cri_proposal *q, double *workspace, size_t *state);
/* Where the counts of the place `k` begin in those of a component, given the states before it. */
size_t cri_proposal_cell(const cri_proposal *q, size_t k, const size_t *state);

/* Teaches the last components (all but the first two), one by each of a few short chains of blocks
 * that start from opt_start [n], a probable assignment, and from a short annealing; then all but
 * the first from their own samples, in rounds (proposal_learn.c). */
cr_status cri_proposal_learn(cr_ctx *cx, cri_proposal *q, const cr_approximate_options *o,
                             const size_t *opt_start, size_t samples, uint64_t seed);

#endif
