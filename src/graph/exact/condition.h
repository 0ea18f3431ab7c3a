/* condition.h -- exact answers when tables do not fit into memory: a few variables C, the cutset,
 * are held fixed in each of their joint states in turn, P(q, e) = sum_c P(q, e, C = c), and each
 * run needs tables without C.  The work is that of one run times the joint states, so it is
 * predicted, and refused where it is longer than the time limit.  Runs go side by side as far as
 * memory allows; they are added up in order, so the sum does not depend on the threads.
 * Pearl (1986), "A constraint-propagation approach to probabilistic reasoning"; Darwiche (2001),
 * "Recursive conditioning".  (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_CONDITION_H
#define CREDENCE_GRAPH_EXACT_CONDITION_H

#include "bucket.h"
#include "limits.h"

enum { CRI_MOST_CONDITIONED = 24, CRI_BATCH = 16 }; /* runs whose answers are kept until added up */

typedef struct cri_cutset {
    size_t n, var[CRI_MOST_CONDITIONED];
    double runs; /* joint states that the evidence leaves */
} cri_cutset;

/* A copy of the evidence (NULL: none is known). */
cr_status cri_evidence_copy(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                            cr_evidence **out_e);
/* Adds a variable to the cutset. */
void cri_cutset_add(cri_cutset *c, const cr_network *net, const cr_evidence *opt_e, size_t v);
/* Sets the variables of the cutset in e, a copy of opt_e, to their run-th joint state. */
cr_status cri_cutset_fix(cr_ctx *cx, const cri_cutset *c, const cr_network *net,
                         const cr_evidence *opt_e, size_t run, cr_evidence *e);

/* A cutset, chosen greedily, such that a junction tree given its state fits into memory, and what the
 * runs take together.  CR_ENOMEM: too much.  The network must have been checked. */
cr_status cri_condition_plan(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                             const cr_exact_options *o, cri_cutset *out_c,
                             cr_exact_report *out_report);
/* All marginals, as cr_junction_marginals, and log P(e), by junction trees given each state of the
 * cutset; c and r as they were planned.  Impossible evidence is CR_EDATA. */
cr_status cri_condition_marginals(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                  const cr_exact_options *o, const cri_cutset *c,
                                  const cr_exact_report *r, double *out, double *out_log);

#endif
