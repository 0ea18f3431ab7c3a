/* plan.h -- what a query will do: by which method, on which problem, in which order, what that takes
 * and why.  A plan is made once, before any work, shown, and then executed; executing it changes
 * nothing of it.  (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_PLAN_H
#define CREDENCE_GRAPH_QUERY_PLAN_H

#include "graph/exact/bucket_internal.h"
#include "query.h"

typedef enum cri_purpose { CRI_ASK_TABLE, CRI_ASK_ALL, CRI_ASK_BEST } cri_purpose;

/* What an engine will be asked. */
typedef struct cri_asked {
    cri_purpose   purpose;
    size_t        n; /* of TABLE and BEST; 0: P(e) alone, the best of all */
    const size_t *query;
    double        runs; /* how often all marginals will be asked for; 0: once */
    bool          each; /* marginals may be answered one by one */
    bool          list; /* of BEST several, one after another */
} cri_asked;

typedef struct cri_plan {
    cr_query_method method;      /* AUTO, EXACT: exact, each question by the usual method */
    const char     *name;        /* of what will compute it; NULL: nothing is planned yet */
    cri_elimination elimination; /* by elimination: problem, order, cutset */
    cri_cutset      cutset;      /* by junction trees, where one tree does not fit into memory */
    cr_exact_report cost;        /* of an approximation: what an exact answer would take */
    bool            no_tree;     /* a single junction tree does not fit into memory */
    bool            list;        /* the budget is that of many maximisations together */
    char            why[256];
} cri_plan; /* all zeros: none */

#endif
