/* pc.h -- the equivalence class of a network from independences: PC-stable.
 *   skeleton      every pair starts adjacent; for k = 0, 1, 2 ... an edge x -- y goes when x and y are
 *                 independent given some k of the neighbours of x, or of y.  Neighbours are those at
 *                 the begin of the round (Colombo & Maathuis 2014), so that neither the order of
 *                 columns nor threads change the result
 *   colliders     x -> z <- y for x -- z -- y, x and y not adjacent, when z does not separate them:
 *                 z is not in the set that was found (sepset), or in less than half of all separating
 *                 sets among their neighbours (majority)
 *   orientation   Meek's rules
 * With an oracle of a faithful DAG the result is its CPDAG.  With data verdicts can contradict each
 * other: colliders are then drawn in the order of the p of what separates x and y, largest first, and
 * those that would turn an arrow or close a cycle are left out and counted.
 * Cost: up to n^2 choose(d, k) tests for each k, d the most neighbours.
 * Spirtes, Glymour & Scheines (2000), Causation, Prediction, and Search, sec. 5.4.2; Colombo &
 * Maathuis (2014), "Order-independent constraint-based causal structure learning", JMLR 15.
 *   1. pc_skeleton.c  which pairs stay adjacent, and what separates the others
 *   2. pc.c           colliders and arrows
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_PC_H
#define CREDENCE_GRAPH_LEARN_PC_H

#include "dag.h"
#include "independence.h"
#include "base/context_internal.h"

typedef enum cri_collider_rule { CRI_COLLIDERS_SEPSET, CRI_COLLIDERS_MAJORITY } cri_collider_rule;

typedef struct cri_pc_options {
    size_t            most_given; /* k goes no further; SIZE_MAX: as far as there are neighbours */
    cri_collider_rule colliders;
    const cri_arc_rules *opt_rules; /* arcs not allowed either way: not adjacent; required: known */
    const cri_clock     *opt_clock; /* when to end with what there is */
} cri_pc_options;

typedef struct cri_pc_report {
    double tests;     /* verdicts asked for */
    size_t deepest;   /* the largest k */
    size_t conflicts; /* colliders that were left out because others say otherwise */
    bool   stopped;   /* by the time limit: edges that remain may be too many */
} cri_pc_report;

/* What separates the pairs that are not adjacent. */
typedef struct cri_skeleton {
    size_t n;
    size_t *
        begin; /* [n x n] where the set of (u, v), u < v, begins; CR_NONE: adjacent, or forbidden */
    size_t *length; /* [n x n] of it */
    double *p;      /* [n x n] of the test that separated them; while adjacent the largest seen */
    size_t *set;    /* the sets one after another */
    size_t  used, capacity;
} cri_skeleton;

void cri_skeleton_free(cr_ctx *cx, cri_skeleton *s);
/* The skeleton as lines of out_graph, and what separates.  Both are freed by the caller. */
cr_status cri_pc_skeleton(cr_ctx *cx, const cri_independence *test, const cri_pc_options *o,
                          cri_pdag *out_graph, cri_skeleton *out, cri_pc_report *report);

/* The CPDAG.  opt_p [n x n] gets for each pair that stayed adjacent the largest p of its tests. */
cr_status cri_pc(cr_ctx *cx, const cri_independence *test, const cri_pc_options *o,
                 cri_pdag *out_graph, double *opt_p, cri_pc_report *report);

#endif
