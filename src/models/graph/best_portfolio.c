/* best_portfolio.c -- the most probable explanation: elimination where its tables fit and its work
 * is bearable, else branch and bound. */
#include "best_search.h"
#include "query_engine.h"

#include <math.h>

static const double BEARABLE = 4e9; /* table entries: some seconds */

cr_status cri_best_portfolio(cri_engine *e, size_t *out_state, double *out_log)
{
    cr_exact_options o = e->o.exact;
    cr_best_report   report;
    cr_status        st;
    if (o.most == 0) o.most = BEARABLE;
    e->by = NULL;
    st = cr_bucket_best(e->cx, e->net, e->evidence, &o, out_state, out_log, &e->cost);
    if (st != CR_ENOMEM) return st;
    st = cr_best_search(e->cx, e->net, e->evidence, 0, out_state, out_log, &report);
    if (st != CR_OK) return st;
    e->by = "search";
    e->cost = (cr_exact_report){ .variables = cr_network_size(e->net), .operations = report.work };
    if (report.proven) return CR_OK;
    if (!e->open || report.bound > e->upper) e->upper = report.bound;
    e->open = true;
    return CR_OK;
}
