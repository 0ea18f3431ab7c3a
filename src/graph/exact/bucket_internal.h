/* bucket_internal.h -- the steps of one elimination.  (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_BUCKET_INTERNAL_H
#define CREDENCE_GRAPH_EXACT_BUCKET_INTERNAL_H

#include "bucket.h"
#include "elimination_tree.h"
#include "problem.h"

typedef enum cri_goal {
    CRI_EVIDENCE,  /* P(e), and the joint of the query if there is one */
    CRI_POSTERIOR, /* the joint of the query only */
    CRI_BEST,      /* maximise over everything */
    CRI_MAP        /* sum, then maximise over the query */
} cri_goal;

typedef struct cri_run {
    cri_problem         *problem;
    cr_order             order;
    cri_elimination_tree tree;
    cr_exact_report      report;
    size_t               kept;      /* the last ranks are not eliminated: the query */
    size_t               first_max; /* from this rank on maximise; CR_NONE: never */
    cr_factor           *table;     /* [room]: tables, then one message per rank */
    size_t               tables, room;
    double               scale; /* log of all that was divided by: log P(e) at the end */
    uint16_t           **arg;   /* [active] best states, where maximised */
    size_t              *arg_size;
} cri_run;

/* Finds an order and what it will cost; no table is made yet.  opt_query [variables]: marks. */
cr_status cri_run_prepare(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                          const bool *opt_query, cri_goal goal, const cr_exact_options *o,
                          cri_run *out_r);
/* Fills the report (bucket_bytes.c).  Bytes: `finding` at the most while the order was looked for,
 * `held` from now on. */
cr_status cri_run_predict(cr_ctx *cx, cri_run *r, double finding, double held);
void      cri_run_free(cr_ctx *cx, cri_run *r);
/* The same for other evidence that leaves the same variables with several states: their order is
 * that of another run, and nothing is foretold. */
cr_status cri_run_prepare_like(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                               const bool *opt_query, cri_goal goal, const cri_run *like,
                               cri_run *out_r);
/* Is there memory for it? */
bool cri_run_fits(cr_ctx *cx, const cri_run *r, const cr_exact_options *o);
/* What an answer will take, by conditioning where memory is short.  mark [variables]: the query.
 * CR_ENOMEM: too much; then the report is of one run without conditioning. */
cr_status cri_bucket_plan(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                          const bool *mark, cri_goal goal, const cr_exact_options *o,
                          cr_exact_report *out_report);
/* Eliminates; out_joint (NULL: not wanted; untouched if r->scale is -INFINITY): over the query's
 * ranks, normalised. */
cr_status cri_run_eliminate(cr_ctx *cx, cri_run *r, cr_factor *out_joint);
/* The best states of the variables maximised over; others get any. */
cr_status cri_run_trace_back(cr_ctx *cx, const cri_run *r, size_t *out_state);

#endif
