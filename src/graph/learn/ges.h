/* ges.h -- greedy search among equivalence classes.
 * A state is a CPDAG; each operator leads to a class whose members differ by one arc from members of
 * this one, whichever those are, so that a step sees what hill climbing would need many reversals for.
 *   insert(x, y, T)  x, y not adjacent; T of the lines of y to nodes not adjacent to x; with NA the nodes
 *                    joined to y by lines and adjacent to x, NA + T is a clique, and every way from y to
 *                    x that follows arrows and lines meets it:      gain s(y, P + x) - s(y, P),
 *                    P = NA + T + parents of y
 *   remove(x, y, H)  x -- y or x -> y; H of NA, NA \ H a clique:    gain s(y, Q - x) - s(y, Q + x),
 *                    Q = NA \ H + parents of y
 * The best insertion while one gains, then the best removal, again until neither does.  The score must
 * be the same for all members of a class.  With endless data of a distribution that has a DAG the first
 * pass already ends in its class.  Chickering (2002), "Optimal structure identification with greedy
 * search", JMLR 3, theorems 15 to 18.
 *   1. ges_operators.c  what is valid, and what it gains
 *   2. ges.c            the search
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_GES_H
#define CREDENCE_GRAPH_LEARN_GES_H

#include "base/context_internal.h"
#include "local_score.h"
#include "pdag.h"

typedef struct cri_ges_options {
    size_t           most_parents;
    size_t           restarts; /* from the best class, perturbed */
    uint64_t         seed;     /* of these */
    const cri_clock *opt_clock;
} cri_ges_options;

typedef struct cri_ges_report {
    double score;
    size_t inserted, removed, restarts;
    bool   stopped; /* by the time limit */
} cri_ges_report;

/* inout: the class to start from, and the one that was found.  Fails with CR_EUNSUPPORTED for a score
 * that tells members of a class apart. */
cr_status cri_ges(cr_ctx *cx, cri_local_scores *scores, const cri_ges_options *o, cri_pdag *inout,
                  cri_ges_report *report);

/* --- operators (ges_operators.c) -------------------------------------------------------------- */

/* One that gains: x and the set T, or what of NA stays (NA \ H). */
typedef struct cri_ges_operator {
    double   gain;
    uint32_t x;
    size_t   begin, k; /* its set in the list of its y */
} cri_ges_operator;

/* Those of one y. */
typedef struct cri_ges_operators {
    cri_ges_operator *item;
    size_t            n, capacity;
    uint32_t         *set;
    size_t            used, room;
    bool              failed; /* for want of memory */
} cri_ges_operators;

/* All insertions into y, or removals, that gain, but for the test of ways.  workspace [4 n].  Pure but
 * for the memory of `out`, which is emptied first. */
void cri_ges_list(cr_ctx *cx, cri_local_scores *scores, const cri_pdag *g, size_t y, bool insert,
                  size_t most_parents, uint32_t *workspace, cri_ges_operators *out);
/* Does every way from y to x meet NA + T?  workspace [2 n]. */
bool cri_ges_blocked(const cri_pdag *g, size_t y, const cri_ges_operator *op, const uint32_t *set,
                     uint32_t *workspace);
/* The PDAG after the operator. */
void cri_ges_apply(cri_pdag *g, size_t y, bool insert, const cri_ges_operator *op,
                   const uint32_t *set);

#endif
