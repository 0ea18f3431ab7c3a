/* search.h -- greedy searches for the graph of the highest score.
 * A step is the best of all arcs that can be added, dropped or reversed.  Hill climbing ends where none gains; tabu search
 * goes on from there by the best step to a graph it has not seen lately, and ends after some steps without a new best.
 * Restarts perturb the best graph and climb again.  Changes of the score by each step are kept and only those of families that changed are
 * computed anew: O(p) families for each step, on all threads.  Ties are decided by the numbers of the variables, so that
 * the graph does not depend on threads.
 * Scutari, Graafland & Gutierrez (2019), Who learns better Bayesian network structures?, IJAR 115; Castelo & Kocka
 * (2003), On inclusion-driven learning of Bayesian networks, JMLR 4.  (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_SEARCH_H
#define CREDENCE_GRAPH_LEARN_SEARCH_H

#include "dag.h"
#include "local_score.h"

typedef struct cri_search_options {
    bool tabu; /* else hill climbing alone */
    size_t
             memory; /* of tabu search: graphs that are not visited again, and steps without gain before it ends */
    size_t   restarts; /* perturbed ones */
    uint64_t seed;
} cri_search_options;

typedef struct cri_search_result {
    cri_dag dag; /* the best graph, in the caller's arena */
    double  score;
    size_t  steps;    /* that were made */
    size_t  restarts; /* that were begun */
    bool    cut;      /* the time limit ended it */
    double    *
        trace; /* [trace_size] from cr_alloc: scores of the graphs to the first optimum, then each new best */
    size_t trace_size;
} cri_search_result;

/* Searches from the start of the rules, which were checked.  Fails with CR_EINTERRUPTED or CR_ENOMEM. */
cr_status cri_search_dag(cr_scratch *s, cri_local_scores *scores, const cri_arc_rules *rules,
                         const cri_search_options *o, cri_search_result *out);
/* The score of a graph: a sum over its families. */
double cri_dag_score(cri_local_scores *scores, const cri_dag *g);

#endif
