/* exact.h -- a network of the largest score, with the proof; or the best found, and how far from it.
 *   best(W) = max over the last v of W of best(W \ v) + s(v, best parents in W \ v)
 * is the score of the best network of the variables W.
 *   dynamic programming  best(W) for all 2^n sets, in rising order; 2^(n-1) (8 n + 9) bytes, so 4 GB
 *                        for 25 variables, and n^2 2^n steps (Silander & Myllymaki 2006)
 *   A*                   only those sets that can still be part of a best network: W is followed in the
 *                        order of best(W) + h(W), h an upper bound of what the others can add.  For h
 *                        they are cut into groups, and cycles are allowed from one group to another
 *                        (Yuan & Malone 2013).  Memory: 48 bytes a set
 * The sets of parents are those of parent_sets.h.  A* goes on until the first complete network leaves
 * the queue, or memory or time run out: then the largest best(W) + h(W) that waits bounds the optimum.
 * Silander & Myllymaki (2006), UAI; Yuan & Malone (2013), "Learning optimal Bayesian networks: a
 * shortest path perspective", JAIR 48.
 *   1. parent_sets.c  which sets of parents count
 *   2. exact.c        dynamic programming over all sets
 *   3. exact_astar.c  over those that matter
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_EXACT_H
#define CREDENCE_GRAPH_LEARN_EXACT_H

#include "parent_sets.h"

typedef enum cri_exact_method { CRI_EXACT_EITHER, CRI_EXACT_DP, CRI_EXACT_ASTAR } cri_exact_method;

typedef struct cri_exact_options {
    cri_exact_method
        method; /* either: dynamic programming where it takes less than half the memory */
    cri_score_bound  opt_bound; /* of sets of parents */
    const cri_clock *opt_clock;
    size_t           most_sets; /* that A* keeps; 0: as memory allows */
} cri_exact_options;

typedef struct cri_exact_report {
    cri_exact_method method;       /* that was taken */
    double           score, bound; /* of what was found; no network within the rules has more */
    bool             proven;       /* score = bound */
    double           families;     /* that were scored, and those that are of use */
    double           useful;
    double           sets; /* sets of variables that were looked at */
} cri_exact_report;

/* Finds a best network within the rules.  inout_dag is a network within them, such as a greedy search
 * finds (or, without required arcs, no arcs): it stays where nothing better turns up before time and
 * memory are over.  Fails with CR_EUNSUPPORTED for more than 64 variables. */
cr_status cri_exact_search(cr_ctx *cx, const cri_score_source *source, const cri_arc_rules *rules,
                           const cri_exact_options *o, cri_dag *inout_dag,
                           cri_exact_report *report);

/* The two methods, on parent sets: out_parents [n] of a best network.  A* takes the score of a known
 * network; *out_found is false where it found none better. */
cr_status cri_exact_dp(cr_ctx *cx, const cri_parent_sets *p, uint64_t *out_parents,
                       cri_exact_report *report);
cr_status cri_exact_astar(cr_ctx *cx, const cri_parent_sets *p, const cri_exact_options *o,
                          double known, uint64_t *out_parents, bool *out_found,
                          cri_exact_report *report);

#endif
