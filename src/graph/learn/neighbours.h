/* neighbours.h -- parents and children of each variable from independences, and its Markov blanket.
 * mmpc, of one variable t: the candidate grows by the variable whose weakest association with t, over
 * subsets of the candidate, is the strongest, until that is none; those that some subset of the others
 * separates from t leave, at once; at last x stays with t only if t stays with x.
 *   blanket of t = its neighbours, and for each neighbour x those neighbours s of x that something
 *                  separates from t, but not together with x: the other parents of a common child
 * With an oracle of a faithful DAG both are exact.  O(n 2^d) tests for each variable, d neighbours, or
 * n d^most_given.  Tsamardinos, Brown & Aliferis (2006), "The max-min hill-climbing Bayesian network
 * structure learning algorithm", Machine Learning 65; and (2003), "Time and sample efficient discovery of
 * Markov blankets and direct causal relations", KDD.
 *   1. neighbours.c  mmpc of all variables
 *   2. blanket.c     the blanket of one
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_NEIGHBOURS_H
#define CREDENCE_GRAPH_LEARN_NEIGHBOURS_H

#include "dag.h"
#include "independence.h"

typedef struct cri_neighbour_options {
    size_t most_given; /* others that a test is given */
    const cri_arc_rules
        *opt_rules; /* not allowed either way: no neighbours; required: neighbours */
} cri_neighbour_options;

/* out [n x words], zeroed: row t the neighbours of t, which is symmetric.  opt_p [n x n]: the largest p of
 * the tests of t with a neighbour.  opt_only: a variable of which alone it is asked (others as needed for
 * symmetry), or CR_NONE. */
cr_status cri_neighbours(cr_ctx *cx, const cri_independence *test, const cri_neighbour_options *o,
                         size_t opt_only, uint64_t *out, double *opt_p);

/* What the blanket of a target is made of. */
typedef enum cri_blanket_role { CRI_NOT_IN_BLANKET, CRI_NEIGHBOUR, CRI_SPOUSE } cri_blanket_role;
typedef struct cri_blanket_member {
    cri_blanket_role role;
    double           p, association; /* given the rest of the blanket */
} cri_blanket_member;

/* out [n]. */
cr_status cri_blanket(cr_ctx *cx, const cri_independence *test, const cri_neighbour_options *o,
                      size_t target, cri_blanket_member *out);

#endif
