/* bucket_internal.h -- an elimination: planned once, then executed.
 * The plan is the problem, an order with its cliques, a cutset where memory is short, and what all
 * this takes; no table is made for it.  Executing it changes nothing of it.  (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_BUCKET_INTERNAL_H
#define CREDENCE_GRAPH_EXACT_BUCKET_INTERNAL_H

#include "bucket.h"
#include "condition.h"
#include "elimination_tree.h"
#include "problem.h"

typedef enum cri_goal {
    CRI_EVIDENCE,  /* P(e), and the joint of the query if there is one */
    CRI_POSTERIOR, /* the joint of the query only */
    CRI_BEST,      /* maximise over everything */
    CRI_MAP        /* sum, then maximise over the query */
} cri_goal;

/* One run, before any table is made. */
typedef struct cri_run {
    cri_problem         *problem;
    cr_order             order;
    cri_elimination_tree tree;
    size_t               kept;      /* the last ranks are not eliminated: the query */
    size_t               first_max; /* from this rank on maximise; CR_NONE: never */
} cri_run;

typedef struct cri_elimination {
    const cr_network  *net; /* it and the evidence must outlive the plan and not change */
    const cr_evidence *evidence;
    cr_exact_options   options;
    cri_goal           goal;
    size_t             n, *query; /* [n] */
    bool              *asked;     /* [variables] marks of the query */
    cri_cutset         cutset;    /* n = 0: one run is all */
    cri_run            run;       /* given the first joint state of the cutset */
    cr_exact_report    report;    /* of all runs */
} cri_elimination;                /* all zeros: none */

/* What an elimination finds. */
typedef struct cri_eliminated {
    double    log;   /* log P(e), or of the best assignment; -INFINITY: there is none */
    cr_factor joint; /* P(query | e), normalised; of sums */
    size_t   *state; /* [variables] the best, the caller's; of sums NULL */
} cri_eliminated;

/* Finds an order and what it will cost.  CR_EARG: a variable is asked for twice, or there is no such
 * one.  The network must have been checked.  With a limit of operations CR_ENOMEM as soon as a quick order is far beyond it. */
cr_status cri_elimination_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                              cri_goal goal, size_t n, const size_t *query,
                              const cr_exact_options *o, cri_elimination *out);
void      cri_elimination_free(cr_ctx *cx, cri_elimination *p);
/* Does this plan answer the question, the evidence being what it was? */
bool cri_elimination_answers(const cri_elimination *p, cri_goal goal, size_t n,
                             const size_t *query);
/* Adds a cutset where the tables of one run do not fit into memory.  CR_ENOMEM: it takes more time
 * or memory than there is; then the plan is that of one run still, or of some variables fixed. */
cr_status cri_elimination_fit(cr_ctx *cx, cri_elimination *p);
/* All runs, in order (bucket_query.c).  out->joint is untouched, and out->state too, where out->log
 * is -INFINITY. */
cr_status cri_elimination_execute(cr_ctx *cx, const cri_elimination *p, cri_eliminated *out);

/* The run given evidence that leaves the same variables with several states as that of p->run. */
cr_status cri_run_like(cr_ctx *cx, const cri_elimination *p, const cr_evidence *e, cri_run *out);
void      cri_run_free(cr_ctx *cx, cri_run *r);
/* What a run will take (bucket_bytes.c).  Bytes: `finding` at the most while the order was looked
 * for, `held` from now on. */
cr_status cri_run_predict(cr_ctx *cx, const cri_run *r, double finding, double held,
                          cr_exact_report *out);
/* Executes one run (bucket.c). */
cr_status cri_run_execute(cr_ctx *cx, const cri_elimination *p, const cri_run *r,
                          cri_eliminated *out);

#endif
