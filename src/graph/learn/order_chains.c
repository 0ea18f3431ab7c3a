/* order_chains.c -- chains side by side, and whether they agree.
 * Of each chain the means of the arc probabilities are kept, and the sums that R-hat needs, for the two
 * halves of its samples apart. */
#include "arc_posterior.h"
#include "base/parallel.h"
#include "prob/mc/chains.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 64 }; /* parts of a run, between which the time is looked at */

typedef struct chain {
    cri_order_state x;
    cri_graph_state graph; /* of partitions */
    cr_rng          rng;
    double         *arcs;                /* [n x n] of one state */
    double         *mean[2], *spread[2]; /* [n x n] of the halves: mean, sum of squares about it */
    size_t          count[2];
    double         *trace; /* [samples] log weights */
    double          best;
    size_t          tried, taken;
} chain;

typedef struct run {
    const cri_chain_options *o;
    chain                   *chain;
    size_t                   from, to; /* samples of this round; those before 0 are not counted */
    size_t                   burn;
} run;

static cr_status chain_new(cr_scratch *s, const cri_family_sums *f, const cri_chain_options *o,
                           const cri_dag *start, size_t number, chain *out)
{
    size_t n = f->n;
    chain  c = { .rng = cr_rng_stream(o->seed, number), .best = -INFINITY };
    c.arcs = cr_scratch_f64(s, n * n);
    for (size_t h = 0; h < 2; h++) {
        c.mean[h] = cr_scratch_bytes(s, n * n, sizeof(double));
        c.spread[h] = cr_scratch_bytes(s, n * n, sizeof(double));
    }
    c.trace = cr_scratch_f64(s, o->samples);
    if (s->status == CR_OK) cri_order_state_new(s, f, o->orders, start, &c.x);
    if (s->status == CR_OK && !o->orders) cri_graph_state_new(s, f, &c.graph);
    *out = c;
    return s->status;
}

/* As many relocations as there are variables, and as many swaps; of a partition as many pairs
 * of a graph of it, too. */
static void step(chain *c)
{
    for (size_t i = 0; i < c->x.n; i++) {
        cri_order_relocate(&c->x, &c->rng, cr_rng_below(&c->rng, c->x.n));
        c->taken += cri_order_swap(&c->x, &c->rng);
        c->tried++;
    }
    if (c->x.orders || c->x.n < 2 || c->x.sum == -INFINITY) return;
    cri_graph_draw(&c->graph, &c->x, &c->rng);
    for (size_t i = 0; i < c->x.n; i++) {
        size_t u = cr_rng_below(&c->rng, c->x.n), candidates = c->x.f->count[u];
        if (candidates == 0) continue;
        size_t v = c->x.f->candidate[u][cr_rng_below(&c->rng, candidates)];
        cri_graph_redraw(&c->graph, &c->rng, u, v);
    }
    cri_graph_levels(&c->graph, &c->x);
}

/* One sample more into half h (Welford). */
static void add_sample(chain *c, size_t h)
{
    size_t size = c->x.n * c->x.n;
    double k = (double)++c->count[h];
    cri_order_arcs(&c->x, c->arcs);
    for (size_t i = 0; i < size; i++) {
        double off = c->arcs[i] - c->mean[h][i];
        c->mean[h][i] += off / k;
        c->spread[h][i] += off * (c->arcs[i] - c->mean[h][i]);
    }
}

static void run_chain(void *arg, size_t number)
{
    run   *w = arg;
    chain *c = &w->chain[number];
    for (size_t i = w->from; i < w->to; i++) {
        for (size_t t = 0; t < w->o->thin; t++) step(c);
        if (c->x.sum > c->best) c->best = c->x.sum;
        if (i < w->burn) continue;
        size_t sample = i - w->burn;
        c->trace[sample] = c->x.sum;
        add_sample(c, 2 * sample >= w->o->samples);
    }
}

/* R-hat of one arc over all halves, and its mean. */
static double judge(const chain *c, size_t chains, size_t arc, double *out_mean)
{
    cri_agreement a = { 0 };
    double        sum = 0, count = 0;
    size_t        length = SIZE_MAX;
    for (size_t i = 0; i < chains; i++)
        for (size_t h = 0; h < 2; h++) {
            double k = (double)c[i].count[h];
            if (k == 0) continue;
            sum += k * c[i].mean[h][arc], count += k;
            cri_agreement_add(&a, c[i].mean[h][arc], k > 1 ? c[i].spread[h][arc] / (k - 1) : 0);
            if (c[i].count[h] < length) length = c[i].count[h];
        }
    *out_mean = count > 0 ? sum / count : 0;
    return a.parts > 1 ? cri_agreement_rhat(&a, length, 1e-6) : NAN;
}

static void report_chains(const run *w, size_t n, size_t samples, double *trace, double *out,
                          cri_chain_report *report)
{
    size_t tried = 0, taken = 0, m = w->o->chains;
    *report = (cri_chain_report){ .samples = samples, .rhat = 1, .best = -INFINITY };
    for (size_t i = 0; i < n * n; i++) {
        double rhat = judge(w->chain, m, i, &out[i]);
        if (!(rhat <= report->rhat)) report->rhat = rhat;
    }
    for (size_t i = 0; i < m; i++) {
        const chain *c = &w->chain[i];
        tried += c->tried, taken += c->taken;
        if (c->best > report->best) report->best = c->best;
        if (samples > 0) memcpy(trace + i * samples, c->trace, samples * sizeof *trace);
    }
    cri_chains_diagnose(trace, m, samples, 1, &report->log_rhat, &report->log_ess);
    report->moved = tried > 0 ? (double)taken / (double)tried : 0;
}

cr_status cri_order_chains(cr_ctx *cx, const cri_family_sums *f, const cri_chain_options *o,
                           const cri_dag *start, double *out, cri_chain_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = f->n, all = 2 * o->samples, samples = 0;
    run        w = { .o = o, .burn = o->samples };
    double    *trace = cr_scratch_matrix(&s, o->chains, o->samples);
    w.chain = cr_scratch_bytes(&s, o->chains, sizeof *w.chain);
    CR_TRY(s.status);
    for (size_t i = 0; i < o->chains; i++) CR_TRY(chain_new(&s, f, o, start, i, &w.chain[i]));
    for (size_t round = 0; round < ROUNDS && n > 0; round++) {
        w.from = all * round / ROUNDS, w.to = all * (round + 1) / ROUNDS;
        CR_TRY(cri_parallel_for(cx, NULL, o->chains, run_chain, &w));
        cr_progress(cx, "samples", (double)w.to, (double)all);
        samples = w.to > w.burn ? w.to - w.burn : 0;
        if (o->opt_clock && cri_clock_over(o->opt_clock)) break;
    }
    if (samples == 0 && n > 0) { /* no time for any: where the chains are now */
        w.burn = w.from = w.to, w.to++, samples = 1;
        CR_TRY(cri_parallel_for(cx, NULL, o->chains, run_chain, &w));
    }
    report_chains(&w, n, samples, trace, out, report);
done:
    cr_scratch_end(&s);
    return st;
}
