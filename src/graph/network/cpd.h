/* cpd.h -- conditional distributions with fewer parameters than a table.  Each becomes a table, but
 * for a noisy-or or noisy-max of many parents, which is kept as what each of them does (noisy.h).
 *   deterministic  v = f(parents)
 *   noisy-or       P(v off | u) = (1 - leak) prod over parents i that are on of (1 - strength_i)
 *   noisy-max      P(v <= k | u) = L(k) prod_i C_i(u_i, k), C_i and L cumulative over v's ordered
 * states
 *   tree           the path that the parents' states take from the root ends at a distribution
 * and log-linear models of indicator features, phi(x) = exp(sum_i w_i [x agrees with feature i]).
 * The network remembers the kind (cr_network_table).  Koller & Friedman (2009),
 * sec. 4.4.1, 5.2-5.4. */
#ifndef CREDENCE_GRAPH_NETWORK_CPD_H
#define CREDENCE_GRAPH_NETWORK_CPD_H

#include "network.h"

/* value [rows]: the state of v for each assignment of its parents, the last running fastest. */
CR_API cr_status cr_cpd_deterministic(cr_ctx *cx, cr_network *net, size_t v, const size_t *value);
/* v and its parents have two states; strength [parents] and leak are probabilities.  opt_on
 * [parents + 1]: the state of each parent, then of v, that counts as on; NULL: state 1. */
CR_API cr_status cr_cpd_noisy_or(cr_ctx *cx, cr_network *net, size_t v, double leak,
                                 const double *strength, const size_t *opt_on);
/* effect: for each parent a table [its states x states of v] of rows that sum to one, one after
 * another; opt_leak [states of v]: a distribution, NULL: state 0 for certain. */
CR_API cr_status cr_cpd_noisy_max(cr_ctx *cx, cr_network *net, size_t v, const double *effect,
                                  const double *opt_leak);

typedef struct cr_tree_node {
    size_t parent;   /* place in the list of v's parents of the one that decides; CR_NONE: a leaf */
    size_t next;     /* the node of its state 0; those of its other states follow; after this one */
    const double *p; /* a leaf's distribution over the states of v */
} cr_tree_node;

/* node [n]: node 0 is the root. */
CR_API cr_status cr_cpd_tree(cr_ctx *cx, cr_network *net, size_t v, size_t n,
                             const cr_tree_node *node);

typedef struct cr_feature {
    size_t        n;
    const size_t *var, *state; /* [n] */
    double        weight;
} cr_feature;

/* The factor exp(sum of the weights of the features that agree), over all their variables. */
CR_API cr_status cr_feature_factor(cr_ctx *cx, const cr_network *net, size_t n,
                                   const cr_feature *feature, cr_factor *out_f);
/* Adds the features to a Markov network, one table per feature. */
CR_API cr_status cr_network_add_features(cr_ctx *cx, cr_network *net, size_t n,
                                         const cr_feature *feature);

#endif
