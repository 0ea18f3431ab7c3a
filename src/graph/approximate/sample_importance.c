/* sample_importance.c -- importance sampling with a mixture that learns from its own weights.
 * A quarter of the samples goes into learning (proposal_learn.c); the rest is drawn from what was
 * learnt, and only it counts, so that the mean of the weights is an unbiased estimate of P(e).
 * Unbiased is not enough: a mode that no sample falls into is missed without a trace in the
 * weights.  So what the chains visit is weighed too.  States that outweigh every sample are where
 * samples hardly go:
 *   missed = max over chains of the share of its visits with  p / Q > max of all samples,
 * and what these visits say widens the errors.  Chains that stay in parts of their own say that the
 * posterior has several modes, and that there may be more than were found. */
#include "proposal.h"
#include "sample.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { COMPONENTS = 7 };         /* messages alone, one that learns, five taught by chains */
static const double APART = 0.9; /* between the probabilities of a state by two chains */

static void draw_some(void *arg, cr_rng *r, size_t count, double *workspace, size_t *index,
                      cri_tally *t)
{
    for (size_t i = 0; i < count; i++) {
        double log_w = cri_proposal_draw(arg, r, workspace, index, NULL);
        cri_tally_add(t, index, log_w);
    }
}

/* --- what samples miss ----------------------------------------------------------------------- */

typedef struct check {
    const cri_proposal *q;
    double             *workspace, *log_w; /* [chains x workspace], [chains x CRI_VISITS] */
} check;

static void weigh_chain(void *arg, size_t chain)
{
    check  *c = arg;
    double *workspace = c->workspace + chain * cri_proposal_workspace(c->q);
    for (size_t i = chain * CRI_VISITS; i < (chain + 1) * CRI_VISITS; i++)
        c->log_w[i] = cri_proposal_weight(c->q, workspace, c->q->visited + i * c->q->g->n);
}

/* The share of the visits of a chain above `peak`; p: the probabilities of all states by these. */
static double count_visits(const check *c, size_t chain, double peak, double *p)
{
    const cri_fgraph *g = c->q->g;
    size_t            n = 0;
    memset(p, 0, g->start[g->n] * sizeof *p);
    for (size_t i = chain * CRI_VISITS; i < (chain + 1) * CRI_VISITS; i++) {
        if (!(c->log_w[i] > peak)) continue;
        n++;
        for (size_t v = 0; v < g->n; v++) p[g->start[v] + c->q->visited[i * g->n + v]]++;
    }
    for (size_t k = 0; n > 0 && k < g->start[g->n]; k++) p[k] /= (double)n;
    return (double)n / CRI_VISITS;
}

/* What a chain would move the probabilities by, and log P(e). */
static void widen(const check *c, size_t chain, double share, const double *p, cri_tally *t)
{
    double more = 0, log_mean = t->peak + log(t->total / (double)t->drawn);
    for (size_t k = 0; k < t->g->start[t->g->n]; k++)
        t->doubt[k] = fmax(t->doubt[k], share * fabs(p[k] - t->sum[k] / t->total));
    for (size_t i = chain * CRI_VISITS; i < (chain + 1) * CRI_VISITS; i++)
        more += exp(fmin(log_mean - c->log_w[i], 0)) / CRI_VISITS; /* 1 / how much too little */
    t->missed = fmax(t->missed, share);
    t->log_doubt = fmax(t->log_doubt, share < 1 ? -log1p(-share) : log1p(1 / fmax(more, 1e-300)));
}

static bool are_apart(const double *p, const double *other, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (fabs(p[k] - other[k]) > APART) return true;
    return false;
}

/* In how many parts chains lie that share hardly any state of some variable; p [chains x n]. */
static size_t count_modes(const double *p, size_t chains, size_t n)
{
    size_t modes = 0;
    for (size_t k = 0; k < chains; k++) {
        bool apart = true;
        for (size_t j = 0; j < k; j++) apart &= are_apart(p + k * n, p + j * n, n);
        modes += apart;
    }
    return modes;
}

static cr_status check_coverage(cr_ctx *cx, const cri_proposal *q, cri_tally *t)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = q->g->start[q->g->n];
    double    *all = cr_scratch_f64(&s, q->chains * n), *p = cr_scratch_f64(&s, n);
    check      c = { .q = q };
    c.workspace = cr_scratch_f64(&s, q->chains * cri_proposal_workspace(q));
    c.log_w = cr_scratch_f64(&s, q->chains * CRI_VISITS);
    CR_TRY(s.status);
    CR_TRY(cri_parallel_for(cx, NULL, q->chains, weigh_chain, &c));
    t->missed = 0;
    for (size_t k = 0; k < q->chains; k++) {
        double share = count_visits(&c, k, t->peak, p);
        if (share > 0) widen(&c, k, share, p, t);
        count_visits(&c, k, -INFINITY, all + k * n);
    }
    t->modes = count_modes(all, q->chains, n);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the method ------------------------------------------------------------------------------ */

cr_status cri_sample_importance(cr_ctx *cx, const cri_fgraph *g, const cr_factor *opt_joint,
                                const cr_approximate_options *o, const size_t *opt_start,
                                size_t samples, uint64_t seed, cri_tally *total)
{
    cr_status    st = CR_OK;
    cri_proposal q = { 0 };
    CR_TRY(cri_proposal_new(cx, g, o, COMPONENTS, &q));
    if (q.bp.impossible) goto done;
    CR_TRY(cri_proposal_learn(cx, &q, o, opt_start, samples / 4, seed));
    cri_sampler sampler = { .what = "samples",
                            .g = g,
                            .joint = opt_joint,
                            .samples = samples - samples / 4,
                            .seed = seed,
                            .workspace = cri_proposal_workspace(&q),
                            .index = g->n,
                            .draw = draw_some,
                            .arg = &q };
    CR_TRY(cri_sample(cx, &sampler, total));
    if (total->kept > 0) CR_TRY(check_coverage(cx, &q, total));
done:
    cri_proposal_free(cx, &q);
    return st;
}
