/* junction_condition.c -- all marginals by junction trees given each joint state of a cutset. */
#include "condition.h"
#include "junction_internal.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>

static const double MOST_RUNS = 1 << 20;

/* --- the cutset ------------------------------------------------------------------------------ */

/* The variable whose states, taken one by one, relieve the largest cliques most. */
static cr_status choose_variable(cr_ctx *cx, const cr_junction *j, size_t *out_v)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_problem *p = j->problem;
    double            *load = cr_scratch_bytes(&s, p->active, sizeof *load), best = 0;
    CR_TRY(s.status);
    for (size_t c = 0; c < j->cliques; c++) {
        const cri_clique *q = &j->clique[c];
        double            size = 1;
        for (size_t i = 0; i < q->n; i++) size *= (double)p->active_states[q->scope[i]];
        for (size_t i = 0; i < q->n; i++) load[q->scope[i]] += size;
    }
    *out_v = CR_NONE;
    for (size_t i = 0; i < p->active; i++) {
        double k = (double)p->active_states[i], gain = load[i] * (1 - 1 / k) / log(k);
        if (gain > best) best = gain, *out_v = p->var[i];
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_condition_plan(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                             const cr_exact_options *o, cri_cutset *out_c,
                             cr_exact_report *out_report)
{
    cr_status        st = CR_OK;
    cr_evidence     *e = NULL;
    cr_junction     *j = NULL;
    cri_cutset       c = { .runs = 1 };
    cr_exact_report  whole = { 0 }, r;
    cr_exact_options any = *o;
    double           memory = cri_exact_memory(cx, o);
    bool             fits;
    any.memory = SIZE_MAX; /* only the report is wanted */
    CR_TRY(cri_evidence_copy(cx, net, opt_e, &e));
    for (;;) {
        size_t v;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_junction_new(cx, net, e, &any, &j));
        r = cr_junction_report(j);
        if (c.n == 0) whole = r;
        bool hopeless = whole.tables > MOST_RUNS * memory || c.runs > MOST_RUNS ||
                        !cri_exact_in_time(cx, o, c.runs * r.operations);
        fits = cri_exact_fits_runs(cx, o, &r, net); /* though j is still there */
        if (!hopeless && fits) break;
        CR_TRY(choose_variable(cx, j, &v));
        if (hopeless || v == CR_NONE || c.n == CRI_MOST_CONDITIONED)
            CR_TRY(cri_exact_refuse(cx, "a junction tree", &whole, o));
        cri_cutset_add(&c, net, opt_e, v);
        CR_TRY(cri_cutset_fix(cx, &c, net, opt_e, 0, e));
        cr_junction_free(cx, j);
        j = NULL;
        any.effort = 0;
    }
    r.conditioned = c.n;
    r.runs = c.runs;
    r.operations *= c.runs;
    *out_c = c;
    *out_report = r;
done:
    cr_junction_free(cx, j);
    cr_evidence_free(cx, e);
    return st;
}

/* --- runs ------------------------------------------------------------------------------------ */

/* Trees that work side by side, each on every lanes-th run of a batch. */
typedef struct lane {
    cr_ctx      *cx;
    bool         own; /* a context of its own */
    cr_evidence *e;
    cr_junction *tree;
    cr_status    status;
} lane;

typedef struct work {
    const cr_network       *net;
    const cr_evidence      *e;
    const cr_exact_options *o;
    const cri_cutset       *c;
    size_t                  states, first, n, lanes;
    lane                   *lane;
    double                 *marginal; /* [CRI_BATCH x states] */
    double                 *log;      /* [CRI_BATCH] log P(e, c) */
} work;

/* Run number w->first + i, whatever the tree did before. */
static cr_status run_state(work *w, lane *l, size_t i)
{
    cr_status        st = CR_OK;
    cr_exact_options any = *w->o;
    any.memory = SIZE_MAX; /* it has been planned */
    any.effort = 0;
    if (!l->e) CR_TRY(cri_evidence_copy(l->cx, w->net, w->e, &l->e));
    CR_TRY(cri_cutset_fix(l->cx, w->c, w->net, w->e, w->first + i, l->e));
    if (!l->tree)
        CR_TRY(cri_junction_new(l->cx, w->net, l->e, &any, &l->tree));
    else
        CR_TRY(cr_junction_set_evidence(l->cx, l->tree, l->e));
    cri_junction_forget(l->tree);
    CR_TRY(cr_junction_log_evidence(l->cx, l->tree, &w->log[i]));
    if (w->log[i] > -INFINITY)
        CR_TRY(cr_junction_marginals(l->cx, l->tree, w->marginal + i * w->states));
done:
    return st;
}

static void run_lane(void *arg, size_t k)
{
    work *w = arg;
    lane *l = &w->lane[k];
    for (size_t i = k; i < w->n && l->status == CR_OK; i += w->lanes)
        l->status = run_state(w, l, i);
}

static cr_status run_batch(cr_ctx *cx, work *w, double bytes)
{
    cr_status st = CR_OK;
    if (w->lanes > 1)
        CR_TRY(cri_parallel_for(cx, NULL, w->lanes, run_lane, w));
    else
        run_lane(w, 0);
    for (size_t k = 0; k < w->lanes; k++) {
        if (w->lane[k].status == CR_OK) continue;
        if (!w->lane[k].own) CR_TRY(w->lane[k].status);
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_fail_memory(cx, (size_t)bytes));
    }
done:
    return st;
}

/* sum_c P(c, e) P(v | c, e), all divided by exp(*peak); in order. */
static void gather(const work *w, double *sum, double *total, double *peak)
{
    for (size_t i = 0; i < w->n; i++) {
        double old = 1, share = 1;
        if (w->log[i] == -INFINITY) continue;
        if (w->log[i] > *peak) {
            old = exp(*peak - w->log[i]);
            *peak = w->log[i];
        } else {
            share = exp(w->log[i] - *peak);
        }
        *total = *total * old + share;
        for (size_t s = 0; s < w->states; s++)
            sum[s] = sum[s] * old + share * w->marginal[i * w->states + s];
    }
}

static cr_status open_lanes(cr_ctx *cx, work *w, bool own)
{
    for (size_t k = 0; k < w->lanes; k++) {
        w->lane[k].cx = cx;
        if (!own) continue;
        w->lane[k].cx = NULL;
        if (cri_ctx_child(cx, &w->lane[k].cx) != CR_OK) return cri_fail_memory(cx, 1);
        w->lane[k].own = true;
    }
    return CR_OK;
}

static void close_lanes(work *w)
{
    for (size_t k = 0; w->lane && k < w->lanes; k++) {
        lane *l = &w->lane[k];
        if (!l->cx) continue;
        cr_junction_free(l->cx, l->tree);
        cr_evidence_free(l->cx, l->e);
        if (l->own) cr_ctx_free(l->cx);
    }
}

cr_status cri_condition_marginals(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                  const cr_exact_options *o, const cri_cutset *c,
                                  const cr_exact_report *r, double *out, double *out_log)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    work       w = { .net = net, .e = opt_e, .o = o, .c = c };
    double    *sum, total = 0, peak = -INFINITY;
    cri_exact_report_runs(cx, r);
    cri_exact_warn_long(cx, r);
    for (size_t v = 0; v < cr_network_size(net); v++) w.states += cr_network_states(net, v);
    sum = cr_scratch_bytes(&s, w.states, sizeof *sum);
    w.marginal = cr_scratch_matrix(&s, CRI_BATCH, w.states);
    w.log = cr_scratch_f64(&s, CRI_BATCH);
    size_t lanes = cri_exact_lanes(cx, r, o);
    w.lanes = lanes ? lanes : 1;
    w.lane = cr_scratch_bytes(&s, w.lanes, sizeof *w.lane);
    CR_TRY(s.status);
    CR_TRY(open_lanes(cx, &w, lanes > 0));
    for (double done = 0; done < c->runs; done += CRI_BATCH) {
        w.first = (size_t)done;
        w.n = c->runs - done < CRI_BATCH ? (size_t)(c->runs - done) : CRI_BATCH;
        CR_TRY(cr_check_interrupt(cx));
        cr_progress(cx, "conditioning", done, c->runs);
        CR_TRY(run_batch(cx, &w, r->bytes));
        gather(&w, sum, &total, &peak);
    }
    if (total == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "the evidence is impossible: its probability is 0"));
    for (size_t k = 0; k < w.states; k++) out[k] = sum[k] / total;
    *out_log = peak + log(total);
done:
    close_lanes(&w);
    cr_scratch_end(&s);
    return st;
}
