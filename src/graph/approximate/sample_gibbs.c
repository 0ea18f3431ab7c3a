/* sample_gibbs.c -- chains that draw blocks of variables given the others (blocks.h).
 * Chains start from a short annealing (sample_annealed.c), by weight, so that they find the modes
 * that matter; or, if that finds nothing, from draws of a proposal.  The first fifth of each is
 * dropped; the rest is cut into batches:
 *   se(p) = standard deviation of the batch means / sqrt(batches), over all chains
 *   R-hat = sqrt( ((L-1)/L W + B/L) / W ), over the halves of the chains, of every state
 * Probabilities are means of the distributions that states were drawn from, which vary less than
 * counts of the states (Rao-Blackwell): variables eliminated before one are summed out exactly.
 * R-hat and joint tables are of counts.  Geman & Geman (1984); Gelfand & Smith (1990), sec. 2.6;
 * Gelman & Rubin (1992), with split chains; Flegal & Jones (2010) for batch means. */
#include "blocks.h"
#include "proposal.h"
#include "sample.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "prob/mc/chains.h"

#include <math.h>
#include <string.h>

enum { BATCHES = 20, TRIES = 64, STEP = 64 };

typedef struct chains {
    const cri_fgraph *g;
    const cri_blocks *blocks;
    const cr_factor  *joint;
    size_t            n, length, width; /* chains; sweeps of each that count; numbers counted */
    size_t            from, to;         /* sweeps to do now; those before `drop` are not counted */
    size_t            drop;
    size_t  batches; /* of the sweeps that count; fewer where the time limit came between */
    cr_rng *rng;
    size_t *state;             /* [chains x n] */
    double *workspace, *count; /* count [chains x BATCHES x width] */
    double *p, *mean; /* [chains x states] as last drawn from; [chains x BATCHES x states] sums */
} chains;

static void count_state(chains *w, size_t chain, size_t sweep, const size_t *state)
{
    const cri_fgraph *g = w->g;
    double           *count = w->count + (chain * BATCHES + sweep * BATCHES / w->length) * w->width;
    for (size_t v = 0; v < g->n; v++) count[g->start[v] + state[v]]++;
    if (w->joint) count[g->start[g->n] + cr_factor_index(w->joint, state)]++;
    size_t        n = g->start[g->n];
    double       *mean = w->mean + (chain * BATCHES + sweep * BATCHES / w->length) * n;
    const double *p = w->p + chain * n;
    for (size_t k = 0; k < n; k++) mean[k] += p[k];
}

static void run_chain(void *arg, size_t chain)
{
    chains *w = arg;
    size_t *state = w->state + chain * w->g->n;
    for (size_t i = w->from; i < w->to; i++) {
        for (size_t b = 0; b < w->blocks->n; b++)
            cri_block_draw_from(&w->blocks->block[b], &w->rng[chain],
                                w->workspace + chain * w->blocks->workspace, state, w->g->start,
                                w->p + chain * w->g->start[w->g->n]);
        if (i >= w->drop) count_state(w, chain, i - w->drop, state);
    }
}

/* --- where they start ------------------------------------------------------------------------ */

/* One of a few draws, by weight; false: none is possible. */
static bool find_start(const cri_proposal *q, cr_rng *r, double *workspace, size_t *draw,
                       size_t *state)
{
    double sum = 0, peak = -INFINITY;
    for (size_t k = 0; k < TRIES; k++) {
        double log_w = cri_proposal_draw(q, r, workspace, draw, NULL);
        if (log_w == -INFINITY) continue;
        if (log_w > peak) {
            sum *= exp(peak - log_w);
            peak = log_w;
        }
        double w = exp(log_w - peak);
        sum += w;
        if (cr_rng_uniform(r) * sum < w) memcpy(state, draw, q->g->n * sizeof *draw);
    }
    return sum > 0;
}

/* Any that messages and improvement lead to, where draws find none. */
static cr_status find_one(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                          size_t *state)
{
    cr_approximate_report report = { 0 };
    double                log_best;
    cr_status             st = cri_find_assignment(cx, g, o, &report, state, &log_best);
    if (st != CR_ENUMERIC) return st;
    cr_fail(cx, CR_ENUMERIC, "no assignment consistent with the evidence was found");
    return cr_fail_hint(cx, "it may be impossible; an exact --method can tell, if it fits");
}

static cr_status find_starts(cr_ctx *cx, chains *w, const cr_approximate_options *o, uint64_t seed,
                             bool *possible)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cri_proposal q = { 0 };
    bool         found = false;
    CR_TRY(cri_anneal_starts(cx, w->g, o, w->n, seed, w->state, possible, &found));
    if (found || !*possible) goto done;
    CR_TRY(cri_proposal_new(cx, w->g, o, 1, &q));
    double *workspace = cr_scratch_f64(&s, cri_proposal_workspace(&q));
    size_t *draw = cr_scratch_index(&s, w->g->n);
    CR_TRY(s.status);
    for (size_t k = 0; *possible && k < w->n; k++) {
        size_t *state = w->state + k * w->g->n;
        CR_TRY(cr_check_interrupt(cx));
        if (!find_start(&q, &w->rng[k], workspace, draw, state))
            CR_TRY(find_one(cx, w->g, o, state));
    }
done:
    cri_proposal_free(cx, &q);
    cr_scratch_end(&s);
    return st;
}

/* --- what they say --------------------------------------------------------------------------- */

/* R-hat of number k; a state counts as seen once in two halves at least. */
static double reduction(const chains *w, size_t k)
{
    cri_agreement a = { 0 };
    double        half = (double)w->length / 2;
    for (size_t h = 0; h < 2 * w->n; h++) {
        double p = 0;
        for (size_t b = 0; b < w->batches / 2; b++)
            p += w->count[(h * w->batches / 2 + b) * w->width + k];
        p /= half;
        cri_agreement_add(&a, p, p * (1 - p));
    }
    return cri_agreement_rhat(&a, w->length / 2, 0.5 / half);
}

/* Mean and standard error of number k by batches. */
static double batch_mean(const chains *w, size_t k, double *se)
{
    size_t n = w->n * w->batches, states = w->g->start[w->g->n];
    double size = (double)w->length / (double)w->batches, mean, variance;
    cri_mean_variance(k < states ? w->mean + k : w->count + k, n, k < states ? states : w->width,
                      &mean, &variance);
    *se = sqrt(variance / (double)n) / size;
    return mean / size;
}

static void finish(const chains *w, double *marginal, double *se, cr_factor *opt_joint,
                   cr_factor *opt_spread, cr_approximate_report *report)
{
    size_t n = w->g->start[w->g->n];
    double total = (double)(w->n * w->length), least = total;
    report->rhat = 1;
    report->se = 0;
    for (size_t k = 0; k < w->width; k++) {
        double error, p = batch_mean(w, k, &error);
        report->rhat = fmax(report->rhat, reduction(w, k));
        if (error > 0) least = fmin(least, p * (1 - p) / (error * error));
        if (k < n) marginal[k] = p, se[k] = error;
        if (k >= n) opt_joint->value[k - n] = p;
        if (k >= n) opt_spread->value[k - n] = p < 1 ? error * error / (1 - p) : 0;
        report->se = fmax(report->se, error);
    }
    for (size_t k = 0; k < n; k++) se[k] = fmin(fmax(se[k], 1 / least), 1);
    report->se = fmin(fmax(report->se, 1 / least), 1);
    report->effective = least;
    report->samples = (size_t)total;
    report->chains = w->n;
    report->clusters = w->blocks->n;
    report->largest = w->blocks->largest;
    report->converged = report->rhat < 1.05;
}

/* --- the sweeps ------------------------------------------------------------------------------ */

/* As many sweeps as there is time for, at `seconds` each, before any is counted. */
static void shorten(chains *w, const cri_clock *clock, double seconds)
{
    double most = (clock->deadline - cri_seconds()) / seconds / 1.25; /* a quarter is dropped */
    if (!(most < (double)w->length)) return;
    w->length = most > 2 * BATCHES ? (size_t)most / BATCHES * BATCHES : BATCHES;
    w->drop = w->length / 4;
}

/* The time limit came in the midst of them: keeps the batches that are whole, of each chain an even number. */
static cr_status keep_whole_batches(cr_ctx *cx, chains *w, double seconds)
{
    size_t size = w->length / BATCHES, states = w->g->start[w->g->n];
    size_t n = w->to > w->drop ? (w->to - w->drop) / size / 2 * 2 : 0;
    if (n == 0) {
        cr_fail(cx, CR_ENOMEM, "the time limit is reached before the chains have been anywhere");
        return cr_fail_hint(cx, "they need about --time-limit %.0fs",
                            ceil(3 * seconds * (double)(w->drop + 2 * size)));
    }
    for (size_t c = 0; c < w->n; c++) {
        memmove(w->count + c * n * w->width, w->count + c * BATCHES * w->width,
                n * w->width * sizeof *w->count);
        memmove(w->mean + c * n * states, w->mean + c * BATCHES * states,
                n * states * sizeof *w->mean);
    }
    w->batches = n;
    w->length = n * size;
    return CR_OK;
}

/* All sweeps of all chains.  Within a time limit the first shows what one takes; how they are cut into steps makes
 * no difference to the numbers. */
static cr_status run_chains(cr_ctx *cx, chains *w, cr_approximate_report *report)
{
    cr_status st = CR_OK;
    bool      haste = !isinf(cri_time_left(cx));
    cri_clock clock = cri_clock_start(cx, NAN);
    size_t    planned = w->n * w->length;
    double    began = cri_seconds(), seconds = 0;
    w->batches = BATCHES;
    for (w->from = 0; w->from < w->drop + w->length; w->from = w->to) {
        size_t step = !haste ? STEP : w->from == 0 ? 1 : STEP / 8;
        if (w->from > 0 && cri_clock_over(&clock)) {
            CR_TRY(keep_whole_batches(cx, w, seconds));
            break;
        }
        w->to = w->from + step < w->drop + w->length ? w->from + step : w->drop + w->length;
        CR_TRY(cri_parallel_for(cx, NULL, w->n, run_chain, w));
        seconds = (cri_seconds() - began) / (double)w->to;
        if (haste && w->from == 0) shorten(w, &clock, seconds);
        cr_progress(cx, "sweeps", (double)w->to, (double)(w->drop + w->length));
    }
    if (w->n * w->length < planned) report->made = w->n * w->length, report->planned = planned;
done:
    return st;
}

cr_status cri_sample_gibbs(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                           size_t sweeps, uint64_t seed, double *marginal, double *se,
                           cr_factor *opt_joint, cr_factor *opt_spread,
                           cr_approximate_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_blocks blocks = { 0 };
    chains     w = { .g = g, .blocks = &blocks, .joint = opt_joint, .n = o->chains };
    bool       possible = true;
    w.width = g->start[g->n] + (opt_joint ? opt_joint->size : 0);
    w.length = (sweeps / w.n + BATCHES - 1) / BATCHES * BATCHES; /* whole batches */
    if (w.length == 0) w.length = BATCHES;
    w.drop = w.length / 4;
    CR_TRY(cri_blocks_new(cx, &s, g, o->block, seed, &blocks));
    w.rng = cr_scratch_bytes(&s, w.n, sizeof *w.rng);
    w.state = cr_scratch_index(&s, w.n * g->n);
    w.workspace = cr_scratch_f64(&s, w.n * blocks.workspace);
    w.count = cr_scratch_bytes(&s, w.n * BATCHES * w.width, sizeof *w.count);
    w.p = cr_scratch_bytes(&s, w.n * g->start[g->n], sizeof *w.p);
    w.mean = cr_scratch_bytes(&s, w.n * BATCHES * g->start[g->n], sizeof *w.mean);
    CR_TRY(s.status);
    for (size_t k = 0; k < w.n; k++) w.rng[k] = cr_rng_stream(seed, k);
    CR_TRY(find_starts(cx, &w, o, seed, &possible));
    report->log_evidence = possible ? NAN : -INFINITY;
    if (!possible) goto done;
    CR_TRY(run_chains(cx, &w, report));
    finish(&w, marginal, se, opt_joint, opt_spread, report);
done:
    cr_scratch_end(&s);
    return st;
}
