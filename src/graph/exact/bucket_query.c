/* bucket_query.c -- a planned elimination executed, in all runs of its cutset, and the questions that
 * are answered by one. */
#include "bucket.h"
#include "bucket_internal.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "graph/network/network_internal.h"

#include <math.h>
#include <string.h>

/* --- execution ------------------------------------------------------------------------------- */

/* Adds one more run: the mixture of two normalised tables with the logs of their weights, or the
 * better of two assignments. */
static void add_run(cr_ctx *cx, const cri_elimination *p, cri_eliminated *more, cri_eliminated *sum)
{
    bool max = p->run.first_max != CR_NONE;
    if (more->log == -INFINITY) return;
    if (max && more->log > sum->log) {
        sum->log = more->log;
        memcpy(sum->state, more->state, cr_network_size(p->net) * sizeof *sum->state);
    } else if (!max && sum->log == -INFINITY) {
        sum->log = more->log;
        sum->joint = more->joint;
        more->joint = (cr_factor){ 0 };
    } else if (!max) {
        double peak = sum->log > more->log ? sum->log : more->log;
        double x = exp(sum->log - peak), y = exp(more->log - peak);
        for (size_t i = 0; sum->joint.value && more->joint.value && i < sum->joint.size; i++)
            sum->joint.value[i] = (x * sum->joint.value[i] + y * more->joint.value[i]) / (x + y);
        sum->log = peak + log(x + y);
    }
    cr_factor_free(cx, &more->joint);
}

/* Some runs side by side, each with a context of its own. */
typedef struct batch {
    cr_ctx                *cx;
    const cri_elimination *p;
    size_t                 first, n, lanes;
    cri_eliminated         part[CRI_BATCH];
    cr_status              status[CRI_BATCH];
} batch;

static cr_status run_state(cr_ctx *cx, const batch *b, size_t run, cri_eliminated *out)
{
    cr_status              st = CR_OK;
    const cri_elimination *p = b->p;
    cr_evidence           *e = NULL;
    cri_run                r = { 0 };
    CR_TRY(cri_evidence_copy(cx, p->net, p->evidence, &e));
    CR_TRY(cri_cutset_fix(cx, &p->cutset, p->net, p->evidence, run, e));
    CR_TRY(cri_run_like(cx, p, e, &r));
    CR_TRY(cri_run_execute(cx, p, &r, out));
done:
    cri_run_free(cx, &r);
    cr_evidence_free(cx, e);
    return st;
}

static void run_lane(void *arg, size_t k)
{
    batch *b = arg;
    for (size_t i = k; i < b->n; i += b->lanes) {
        cr_ctx *child = NULL;
        b->status[i] = cri_ctx_child(b->cx, &child);
        if (b->status[i] == CR_OK) b->status[i] = run_state(child, b, b->first + i, &b->part[i]);
        cr_ctx_free(child);
        if (b->status[i] != CR_OK) return;
    }
}

static cr_status run_batch(cr_ctx *cx, batch *b)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < b->n; i++) {
        b->part[i].log = -INFINITY;
        b->part[i].joint = (cr_factor){ 0 };
        b->status[i] = CR_OK;
    }
    if (b->lanes > 1)
        CR_TRY(cri_parallel_for(cx, NULL, b->lanes, run_lane, b));
    else if (b->lanes == 1)
        run_lane(b, 0);
    for (size_t i = 0; i < b->n; i++) {
        if (b->lanes == 0) CR_TRY(run_state(cx, b, b->first + i, &b->part[i]));
        if (b->status[i] == CR_OK) continue;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_fail_memory(cx, (size_t)b->p->report.tables));
    }
done:
    for (size_t i = 0; st != CR_OK && i < b->n; i++) cr_factor_free(cx, &b->part[i].joint);
    return st;
}

/* All joint states of the cutset; the runs are added up in order. */
static cr_status run_conditioned(cr_ctx *cx, const cri_elimination *p, cri_eliminated *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     variables = cr_network_size(p->net), all = (size_t)p->cutset.runs;
    batch     *b = cr_scratch_bytes(&s, 1, sizeof *b);
    size_t    *states = cr_scratch_index(&s, CRI_BATCH * variables);
    CR_TRY(s.status);
    cri_exact_report_runs(cx, &p->report);
    *b = (batch){ .cx = cx, .p = p, .lanes = cri_exact_lanes(cx, &p->report, &p->options) };
    for (size_t i = 0; i < CRI_BATCH; i++) b->part[i].state = states + i * variables;
    for (; b->first < all; b->first += CRI_BATCH) {
        b->n = all - b->first < CRI_BATCH ? all - b->first : CRI_BATCH;
        CR_TRY(cr_check_interrupt(cx));
        cr_progress(cx, "conditioning", (double)b->first, p->cutset.runs);
        CR_TRY(run_batch(cx, b));
        for (size_t i = 0; i < b->n; i++) add_run(cx, p, &b->part[i], out);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_elimination_execute(cr_ctx *cx, const cri_elimination *p, cri_eliminated *out)
{
    out->log = -INFINITY;
    cri_exact_warn_long(cx, &p->report);
    cr_status st =
        p->cutset.n > 0 ? run_conditioned(cx, p, out) : cri_run_execute(cx, p, &p->run, out);
    if (st != CR_OK) cr_factor_free(cx, &out->joint);
    return st;
}

/* --- questions ------------------------------------------------------------------------------- */

/* Plans and executes. */
static cr_status ask(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, cri_goal goal,
                     size_t n, const size_t *query, const cr_exact_options *opt_o,
                     cri_eliminated *out, cr_exact_report *opt_report)
{
    cr_status        st = CR_OK;
    cri_elimination  p = { 0 };
    cr_exact_options o = opt_o ? *opt_o : cr_exact_defaults();
    CR_TRY(cr_network_check(cx, net));
    CR_TRY(cri_elimination_new(cx, net, opt_e, goal, n, query, &o, &p));
    CR_TRY(cri_elimination_fit(cx, &p));
    CR_TRY(cri_elimination_execute(cx, &p, out));
    if (opt_report) *opt_report = p.report;
done:
    cri_elimination_free(cx, &p);
    return st;
}

cr_status cr_bucket_log_evidence(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                 const cr_exact_options *opt_o, double *out_log,
                                 cr_exact_report *opt_report)
{
    cri_eliminated a = { 0 };
    cr_status      st = ask(cx, net, opt_e, CRI_EVIDENCE, 0, NULL, opt_o, &a, opt_report);
    if (st == CR_OK) *out_log = a.log;
    return st;
}

cr_status cr_bucket_query(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, size_t n,
                          const size_t *query, const cr_exact_options *opt_o, cr_factor *out_f,
                          double *opt_log, cr_exact_report *opt_report)
{
    cri_eliminated  a = { 0 };
    cr_exact_report r;
    if (n == 0) return cr_fail(cx, CR_EARG, "no variable is asked for");
    cr_status st =
        ask(cx, net, opt_e, opt_log ? CRI_EVIDENCE : CRI_POSTERIOR, n, query, opt_o, &a, &r);
    if (st != CR_OK) return st;
    if (a.log == -INFINITY) return cri_fail_impossible(cx);
    *out_f = a.joint;
    if (opt_log) *opt_log = a.log;
    if (opt_report) *opt_report = r;
    return CR_OK;
}

/* Best and MAP; n = 0: of all. */
static cr_status find_best(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, size_t n,
                           const size_t *query, const cr_exact_options *opt_o, size_t *out_state,
                           double *out_log, cr_exact_report *opt_report)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          variables = cr_network_size(net);
    cri_eliminated  a = { .state = cr_scratch_index(&s, variables) };
    cr_exact_report r;
    CR_TRY(s.status);
    CR_TRY(ask(cx, net, opt_e, n > 0 ? CRI_MAP : CRI_BEST, n, query, opt_o, &a, &r));
    if (a.log == -INFINITY) CR_TRY(cri_fail_impossible(cx));
    for (size_t i = 0; i < (n > 0 ? n : variables); i++)
        out_state[i] = a.state[n > 0 ? query[i] : i];
    *out_log = a.log;
    if (opt_report) *opt_report = r;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_bucket_best(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                         const cr_exact_options *opt_o, size_t *out_state, double *out_log,
                         cr_exact_report *opt_report)
{
    return find_best(cx, net, opt_e, 0, NULL, opt_o, out_state, out_log, opt_report);
}

cr_status cr_bucket_map(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, size_t n,
                        const size_t *query, const cr_exact_options *opt_o, size_t *out_state,
                        double *out_log, cr_exact_report *opt_report)
{
    if (n == 0) return cr_fail(cx, CR_EARG, "no variable is asked for");
    return find_best(cx, net, opt_e, n, query, opt_o, out_state, out_log, opt_report);
}
