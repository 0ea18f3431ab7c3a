/* best_search.h -- the most probable explanation by branch and bound, where elimination does not
 * fit.
 *   log p(x, e) = sum_F phi_F(x_F)
 * The bound moves weight between tables and variables without changing the sum,
 *   sum_F [ phi_F(x_F) - sum_{v in F} m_Fv(x_v) ] + sum_v b_v(x_v),     b_v = sum_F m_Fv,
 * so that the sum of the separate maxima falls: sweeps over the variables forwards and backwards
 * gather what the tables behind say and share it among those ahead (sequential tree-reweighted
 * messages).  States of -infinity are removed, and so are states whose own bound is below the best
 * found.  Assignments are read off the messages and improved one variable at a time.  The search
 * branches on the variable that makes most of the gap between the bound and such an assignment,
 * depth first.  It stops when nothing better can exist (proven), or when its budget of work, which
 * is counted, not timed, is used up: then it gives the best found and the bound.
 * Kolmogorov (2006), "Convergent tree-reweighted message passing for energy minimization"; Cooper,
 * de Givry, Sanchez, Schiex, Zytnicki & Werner (2010), "Soft arc consistency revisited". */
#ifndef CREDENCE_GRAPH_BEST_BEST_SEARCH_H
#define CREDENCE_GRAPH_BEST_BEST_SEARCH_H

#include "graph/network/evidence.h"

typedef struct cr_best_report {
    bool   proven; /* nothing is better                                       */
    double bound;  /* log p(x, e) of the best is no more than this            */
    size_t nodes;  /* of the search tree                                      */
    double work;   /* table entries looked at                                 */
    bool   timed;  /* stopped by the time limit of the context                */
} cr_best_report;

/* The best assignment found [variables] and log p(x, e); `work` is the budget (0: 2e8 entries).
 * Impossible evidence is CR_EDATA; where the budget is too small to find any possible assignment,
 * CR_ENUMERIC, and the report still has the bound.  Before the time limit of the context (half of the time, at most 5 s) it stops as if
 * the budget were used up. */
CR_API cr_status cr_best_search(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                double work, size_t *out_state, double *out_log,
                                cr_best_report *opt_report);

#endif
