/* family_sums.h -- for each variable the sum over all sets of parents within a set.
 *   total_v(C) = log sum over S within C, |S| <= most, of exp(s(v, S) + log prior(|S|))
 * for every set C of candidate parents of v: what remains of a structure once an order of the variables
 * is fixed, as families are then chosen independently.  With s a log marginal likelihood (bdeu, bds, k2)
 * these are posterior weights; with bic an approximation of them.
 *   P(u is a parent of v | parents within C) = 1 - exp(total_v(C \ u) - total_v(C))
 * Memory: 8 bytes x n x 2^K, K candidates each.  Families: n x sum_k choose(K, k).
 * Friedman & Koller (2003), "Being Bayesian about network structure", Machine Learning 50.
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_FAMILY_SUMS_H
#define CREDENCE_GRAPH_LEARN_FAMILY_SUMS_H

#include "dag.h"
#include "local_score.h"

enum { CRI_MOST_CANDIDATES = 26 };

/* The prior of a graph is a product over families: of equal weight, or 1 / choose(n - 1, |S|), under
 * which every number of parents is as likely as any other. */
typedef enum cri_family_prior { CRI_FAMILIES_EQUAL, CRI_FAMILIES_FAIR } cri_family_prior;

/* A set of candidates, as bits, and its log weight. */
typedef struct cri_family {
    double   weight;
    uint32_t set;
} cri_family;

typedef struct cri_family_sums {
    size_t              n;
    uint32_t           *count;     /* [n] candidates of each, those that are required among them */
    uint32_t          **candidate; /* [n] to [count], ascending */
    double            **total;     /* [n] to [2^count]; -INFINITY where a required one is missing */
    double              families;  /* that were scored */
    size_t             *sets; /* [n] families with a weight, where they were asked for; else NULL */
    struct cri_family **family; /* [n] to [sets] the heaviest first */
} cri_family_sums;

/* Which parents may count: [n x words] bits, at most CRI_MOST_CANDIDATES of each variable; those
 * that are required always.  In the arena. */
cr_status cri_family_sums_make(cr_scratch *s, const cri_score_source *source,
                               const cri_arc_rules *rules, const uint64_t *candidates,
                               cri_family_prior prior, bool keep_sets, cri_family_sums *out);
/* Candidates that are worth it, up to `most` of each variable: all where they are no more; else those
 * that are parents in `dag`, then its children, then those that add most to the score of v given its
 * parents in `dag`, or given nothing.  out [n x words], zeroed.  O(n^2) families. */
cr_status cri_choose_candidates(cr_ctx *cx, cri_local_scores *scores, const cri_arc_rules *rules,
                                const cri_dag *dag, size_t most, uint64_t *out);

/* log(exp(a) + exp(b)), and log(exp(a) - exp(b)) for a >= b. */
double cri_log_plus(double a, double b);
double cri_log_minus(double a, double b);

#endif
