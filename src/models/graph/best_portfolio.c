/* best_portfolio.c -- the most probable explanation: elimination where its tables fit and its work
 * is bearable, else branch and bound; where that proves nothing, the better of its find and that of
 * max-product messages, under the lower of the two bounds. */
#include "best_search.h"
#include "query_engine.h"
#include "../../base/context_internal.h"
#include "../../base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double BEARABLE = 4e9; /* table entries: some seconds */
/* Table entries of a search: for each second of the budget, and at the least. */
static const double SEARCHED = 2e8 / 60, SOME = 1e6;

/* Takes what messages find if that is better, and their bound if it is lower. */
static cr_status try_messages(cri_engine *e, size_t *state, double *log, double *bound)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(e->cx);
    size_t     n = cr_network_size(e->net), *other = cr_scratch_index(&s, n);
    double     found = -INFINITY, upper = NAN;
    CR_TRY(s.status);
    CR_TRY(cr_approximate_best(e->cx, e->net, e->evidence, &e->o.approximate, other, &found, &upper,
                               NULL));
    if (found > *log) {
        memcpy(state, other, n * sizeof *other);
        *log = found;
    }
    if (upper < *bound) *bound = upper;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status eliminate(cri_engine *e, size_t *out_state, double *out_log)
{
    cr_exact_options o = e->o.exact;
    if (o.most == 0) o.most = BEARABLE;
    return cr_bucket_best(e->cx, e->net, e->evidence, &o, out_state, out_log, &e->cost);
}

cr_status cri_best_portfolio(cri_engine *e, size_t *out_state, double *out_log)
{
    cr_best_report report;
    cr_status      st = CR_ENOMEM;
    e->by = NULL;
    if (!e->wide) st = eliminate(e, out_state, out_log);
    if (st != CR_ENOMEM) return st;
    st = cr_best_search(e->cx, e->net, e->evidence, fmax(e->o.budget * SEARCHED, SOME), out_state,
                        out_log, &report);
    if (st == CR_ENUMERIC && e->wide) return eliminate(e, out_state, out_log);
    if (st != CR_OK) return st;
    if (!report.proven && e->wide &&
        !report.timed) { /* it was taken for too wide by a quick look */
        st = eliminate(e, out_state, out_log);
        if (st != CR_ENOMEM) return st;
        CR_TRY(cr_check_interrupt(e->cx));
    }
    e->by = "search";
    e->cost = (cr_exact_report){ .variables = cr_network_size(e->net), .operations = report.work };
    if (report.proven) return CR_OK;
    if (report.timed) snprintf(e->why, sizeof e->why, "the search was stopped by the time limit");
    st = try_messages(e, out_state, out_log, &report.bound);
    if (st == CR_ENOMEM && report.timed && cri_time_left(e->cx) <= 0) st = CR_OK;
    CR_TRY(st);
    if (!e->open || report.bound > e->upper) e->upper = report.bound;
    e->open = true;
done:
    return st;
}
