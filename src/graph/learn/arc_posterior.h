/* arc_posterior.h -- structure as a distribution: how probable each arc is.
 *   P(u -> v | data) = sum over graphs G with the arc of P(G | data),  P(G | data) ~ exp(score(G)) prior(G)
 * Three ways, by what they cost and what prior they stand for:
 *   exact      over all orders at once: forward and backward sums over the 2^n sets of variables that can
 *              come first.  Graphs count once for each order that they agree with, so that the prior
 *              favours graphs with many orders.  8 bytes x (n 2^(n-1) + 2^(n+1)), n^2 2^n steps: to 20
 *              variables in seconds (Koivisto & Sood 2004)
 *   orders     chains over orders, with the same prior (Friedman & Koller 2003)
 *   partitions chains over ordered partitions, whose members each graph has exactly one of: all graphs
 *              have the same prior (Kuipers & Moffa 2017)
 * In a partition V_1, V_2 ... nodes of V_1 have no parents, those of V_i at least one in V_(i-1) and none
 * outside V_1 .. V_(i-1).  Each chain takes a variable out and puts it back where its full conditional
 * says (all positions, or all members and gaps of the partition), and tries to swap two.  Of a partition
 * it also draws a graph, draws the parents of two variables together from their full conditional, again
 * and again (Goudie & Mukherjee 2016), and goes on from the partition of that graph: arcs turn so that a
 * whole level need not move.  Of each state the arc probabilities given it are averaged.
 * Koivisto & Sood (2004), "Exact Bayesian structure discovery in Bayesian networks", JMLR 5; Kuipers &
 * Moffa (2017), "Partition MCMC for inference on acyclic digraphs", JASA 112; Goudie & Mukherjee (2016),
 * "A Gibbs sampler for learning DAGs", JMLR 17.
 *   1. family_sums.c     sums over sets of parents
 *   2. order_exact.c     forward and backward
 *   3. order_states.c    orders and partitions: weight, arcs, moves
 *   4. order_graphs.c    graphs of a partition, and their moves
 *   5. order_chains.c    chains, and whether they agree
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_ARC_POSTERIOR_H
#define CREDENCE_GRAPH_LEARN_ARC_POSTERIOR_H

#include "base/context_internal.h"
#include "base/rng.h"
#include "family_sums.h"

/* out [n x n]: P(u -> v) at u n + v.  *opt_log_evidence: log of the sum over orders and graphs, over n!.
 * Fails with CR_EUNSUPPORTED for more than 25 variables. */
cr_status cri_order_exact(cr_ctx *cx, const cri_family_sums *f, double *out,
                          double *opt_log_evidence);

typedef struct cri_chain_options {
    bool             orders;  /* else partitions */
    size_t           chains;  /* >= 2 */
    size_t           samples; /* that count, of each chain; as many before them are left out */
    size_t           thin;    /* moves for each variable between two samples */
    uint64_t         seed;
    const cri_clock *opt_clock;
} cri_chain_options;

typedef struct cri_chain_report {
    size_t samples;           /* that each chain has made: fewer where time ran out */
    double rhat;              /* the largest over arcs */
    double log_rhat, log_ess; /* of the log weight of the states */
    double best;              /* largest log weight of a state */
    double moved;             /* share of swaps that were taken */
} cri_chain_report;

/* out [n x n] as above.  inout_dag: chains start from its order. */
cr_status cri_order_chains(cr_ctx *cx, const cri_family_sums *f, const cri_chain_options *o,
                           const cri_dag *start, double *out, cri_chain_report *report);

/* --- states of chains (order_states.c) -------------------------------------------------------- */

/* An order, or a partition with its members one after another. */
typedef struct cri_order_state {
    const cri_family_sums *f;
    bool                   orders;
    size_t                 n, members;
    uint32_t              *order; /* [n] */
    uint32_t
        *member; /* [n] of each variable: its position in the order, or the number of its member */
    double *weight; /* [n] log weight of the families of each variable */
    double  sum;    /* of these */
    /* workspace of moves */
    uint32_t *rest, *rest_member; /* [n] */
    double   *place;              /* [2 n + 1] */
    double   *sums;               /* [4 (n + 2)] */
} cri_order_state;

/* In the arena; in the order of a DAG, whose levels are the members. */
cr_status cri_order_state_new(cr_scratch *s, const cri_family_sums *f, bool orders,
                              const cri_dag *start, cri_order_state *out);
/* Takes v out and puts it back by its full conditional. */
void cri_order_relocate(cri_order_state *x, cr_rng *r, size_t v);
/* Tries to swap two variables (of different members). */
bool cri_order_swap(cri_order_state *x, cr_rng *r);
/* Weighs the state anew after its order and members were written. */
void cri_order_weigh(cri_order_state *x);
/* Candidates of v in members lower than `below`, as bits. */
size_t cri_order_allowed(const cri_order_state *x, size_t v, uint32_t below);
/* P(u -> v | state) at u n + v, written for all u and v. */
void cri_order_arcs(const cri_order_state *x, double *out);

/* --- graphs of a partition (order_graphs.c) --------------------------------------------------- */

/* A graph: of each variable its parents, as bits of its candidates. */
typedef struct cri_graph_state {
    const cri_family_sums *f; /* with sets */
    size_t                 n, words;
    uint32_t              *parents;  /* [n] */
    uint64_t              *children; /* [n x words] */
    uint64_t              *below;    /* [2 x words] workspace: descendants of two */
    uint32_t              *stack;    /* [n] */
    double                *weight;   /* [most sets] of sets that may be drawn */
    uint32_t              *kept;     /* [most sets] these */
} cri_graph_state;

/* In the arena. */
cr_status cri_graph_state_new(cr_scratch *s, const cri_family_sums *f, cri_graph_state *out);
/* A graph of the partition, by its weights. */
void cri_graph_draw(cri_graph_state *g, const cri_order_state *x, cr_rng *r);
/* The parents of u and v together, by their full conditional. */
void cri_graph_redraw(cri_graph_state *g, cr_rng *r, size_t u, size_t v);
/* x becomes the partition of the graph. */
void cri_graph_levels(const cri_graph_state *g, cri_order_state *x);

#endif
