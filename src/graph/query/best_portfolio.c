/* best_portfolio.c -- the most probable explanation: elimination where its tables fit and its work
 * is within the budget, else branch and bound; where that proves nothing, the better of its find
 * and that of max-product messages, under the lower of the two bounds.  What has been found is never
 * lost: a way that fails leaves the answer to the others.  All work is counted, not timed, so the
 * answer does not depend on the machine. */
#include "graph/best/best_search.h"
#include "query_engine.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double BEARABLE = 4e9; /* table entries: some seconds */
/* Table entries of a search: for each second of the budget, and at the least. */
static const double SEARCHED = 2e8 / 60, SOME = 1e6;
/* Table entries of messages: for each second, of which there are a few at the least. */
static const double SENT = 3e7, FEW_SECONDS = 5;
enum { FEWEST_SWEEPS = 20, USUAL_SWEEPS = 1000 };

/* Table entries that one sweep of messages passes. */
static double work_of_sweep(const cri_engine *e)
{
    double work = 1;
    for (size_t t = 0; t < cr_network_tables(e->net); t++) {
        cr_table_view f = cr_network_table(e->net, t);
        work += (double)f.n * (double)f.size;
    }
    return work;
}

/* Sweeps of messages that the budget has time for; as many as were asked for. */
static size_t sweeps_within(const cri_engine *e)
{
    if (e->o.approximate.max_iter != CR_COUNT_UNSET) return e->o.approximate.max_iter;
    double sweeps = fmax(e->o.budget, FEW_SECONDS) * SENT / work_of_sweep(e);
    return (size_t)fmin(fmax(sweeps, FEWEST_SWEEPS), USUAL_SWEEPS);
}

/* Takes what messages find if that is better, and their bound if it is lower. */
static cr_status try_messages(cr_ctx *cx, const cri_engine *e, size_t *state, double *log,
                              double *bound)
{
    cr_status              st = CR_OK;
    cr_scratch             s = cr_scratch_begin(cx);
    size_t                 n = cr_network_size(e->net), *other = cr_scratch_index(&s, n);
    double                 found = -INFINITY, upper = NAN;
    cr_approximate_options o = e->o.approximate;
    o.max_iter = sweeps_within(e);
    CR_TRY(s.status);
    CR_TRY(cr_approximate_best(cx, e->net, e->evidence, &o, other, &found, &upper, NULL));
    if (found > *log) {
        memcpy(state, other, n * sizeof *other);
        *log = found;
    }
    if (upper < *bound) *bound = upper;
done:
    cr_scratch_end(&s);
    return st;
}

/* The same within half of the time that is left, so that there is some to report what was found.
 * *out_late: it did not do. */
static cr_status try_messages_in_time(cri_engine *e, size_t *state, double *log, double *bound,
                                      bool *out_late)
{
    cr_status st = CR_OK;
    cr_ctx   *child = NULL;
    double    left = cri_time_left(e->cx);
    *out_late = false;
    if (!isfinite(left)) return try_messages(e->cx, e, state, log, bound);
    CR_TRY(cri_ctx_child(e->cx, &child));
    cr_ctx_set_time_limit(child, fmax(left / 2, 1e-3));
    st = try_messages(child, e, state, log, bound);
    *out_late = st == CR_ENOMEM && cri_time_left(child) <= 0;
    if (st != CR_OK) cri_fail_as(e->cx, child);
done:
    cr_ctx_free(child);
    return st;
}

/* The plan of the first maximisation is shown: elimination if it is within the limits. */
static cr_status plan_elimination(cri_engine *e, const cr_exact_options *o)
{
    cr_status       st = CR_OK;
    cri_elimination p = { 0 };
    if (e->plan.list) return CR_OK;
    CR_TRY(cri_elimination_new(e->cx, e->net, e->evidence, CRI_BEST, 0, NULL, o, &p));
    CR_TRY(cri_elimination_fit(e->cx, &p));
    cri_engine_note_plan(e, "ve", &p.report, "one elimination finds the best assignment");
    cri_elimination_free(e->cx, &e->plan.elimination);
    e->plan.elimination = p;
    p = (cri_elimination){ 0 };
done:
    cri_elimination_free(e->cx, &p);
    return st;
}

static cr_status eliminate(cri_engine *e, size_t *out_state, double *out_log)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(e->cx);
    size_t           n = cr_network_size(e->net);
    cri_eliminated   r = { .state = cr_scratch_index(&s, n) };
    cr_exact_options o = e->o.exact;
    CR_TRY(s.status);
    if (o.most == 0) o.most = fmin(BEARABLE, fmax(cri_exact_operations(e->o.budget), SOME));
    if (e->plan.list) /* what is left of the budget */
        o.most = fmax(fmin(o.most, cri_exact_operations(e->o.budget) - e->spent), 1);
    CR_TRY(plan_elimination(e, &o));
    CR_TRY(cri_engine_eliminate(e, CRI_BEST, 0, NULL, &o, &r));
    if (r.log == -INFINITY)
        CR_TRY(cr_fail(e->cx, CR_EDATA, "the evidence is impossible: its probability is 0"));
    if (n > 0) memcpy(out_state, r.state, n * sizeof *out_state);
    *out_log = r.log;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status refuse_nothing_found(const cri_engine *e)
{
    cr_fail(e->cx, CR_ENUMERIC,
            "neither search nor messages found an assignment consistent with the evidence within "
            "the budget of %.3g s",
            e->o.budget);
    return cr_fail_hint(e->cx, "there may be none; a larger --budget searches longer");
}

/* What a search left open, with messages as well; *log -INFINITY: it has found nothing. */
static cr_status settle(cri_engine *e, cr_best_report *r, size_t *state, double *log)
{
    bool      found = *log > -INFINITY, late;
    cr_status st = cri_engine_spend(e, (double)sweeps_within(e) * work_of_sweep(e));
    if (st != CR_OK) return st;
    st = try_messages_in_time(e, state, log, &r->bound, &late);
    if (found && (st == CR_ENUMERIC || late)) st = CR_OK;
    if (st == CR_ENUMERIC) return refuse_nothing_found(e);
    if (st != CR_OK) return st;
    if (!e->result.open || r->bound > e->result.upper) e->result.upper = r->bound;
    e->result.open = true;
    return CR_OK;
}

cr_status cri_best_portfolio(cri_engine *e, size_t *out_state, double *out_log)
{
    cr_status      st = CR_OK;
    cr_best_report r = { .bound = INFINITY };
    e->result.by = NULL;
    if (!e->wide) {
        st = eliminate(e, out_state, out_log);
        if (st != CR_ENOMEM) return st;
        CR_TRY(cr_check_interrupt(e->cx));
    }
    *out_log = -INFINITY;
    CR_TRY(cri_engine_spend(e, 0)); /* of a list nothing may be left */
    if (!e->plan.list)
        cri_engine_note_plan(e, "search", &(cr_exact_report){ 0 },
                             "elimination is too expensive: branch and bound, then messages");
    st = cr_best_search(e->cx, e->net, e->evidence, fmax(e->o.budget * SEARCHED, SOME), out_state,
                        out_log, &r);
    if (st != CR_ENUMERIC) CR_TRY(st);
    CR_TRY(cri_engine_spend(e, r.work));
    if (!r.proven && e->wide && !r.timed) { /* it was taken for too wide by a quick look */
        double log_best;
        st = eliminate(e, out_state, &log_best);
        if (st == CR_OK) *out_log = log_best;
        if (st != CR_ENOMEM) return st;
        CR_TRY(cr_check_interrupt(e->cx));
    }
    st = CR_OK;
    e->result.by = "search";
    e->result.cost =
        (cr_exact_report){ .variables = cr_network_size(e->net), .operations = r.work };
    if (r.proven) return CR_OK;
    if (r.timed)
        snprintf(e->result.why, sizeof e->result.why, "the search was stopped by the time limit");
    CR_TRY(settle(e, &r, out_state, out_log));
done:
    return st;
}
