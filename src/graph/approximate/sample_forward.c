/* sample_forward.c -- from causes to effects: forward, rejection and likelihood weighting.
 * Each variable is drawn from its row, parents first.
 *   forward               x ~ p;  weight = the likelihood of the evidence at x (logic sampling)
 *   rejection             x ~ p;  kept with probability proportional to that; weight 1
 *   likelihood-weighting  x_v ~ p(x_v | parents) lambda(x_v), weight = product of the normalisers:
 *                         what is observed is not drawn, but weighed
 * The share of the samples kept going forward is P(e): evidence that is rare needs another method.
 * Henrion (1988); Fung & Chang (1990), Shachter & Peot (1990). */
#include "sample.h"
#include "graph/network/structure.h"
#include "base/scratch.h"

#include <math.h>

typedef struct forward {
    const cri_problem *p;
    cr_approximation   how;
    size_t             n;          /* variables to draw */
    const size_t      *order;      /* [n] parents first */
    const bool        *observed;   /* [variables] there is evidence on it */
    const double      *likelihood; /* of all states of all variables, at most 1 */
    const size_t      *at;         /* [variables] where its likelihoods begin */
    double             scale;      /* log of what they were divided by */
} forward;

static const double *row_of(const forward *w, size_t v, const size_t *all)
{
    cr_table_view t = cr_network_table(w->p->net, v);
    size_t        at = 0;
    for (size_t k = 0; k + 1 < t.n; k++) {
        at = at * cr_network_states(w->p->net, t.scope[k]) + all[t.scope[k]];
    }
    return t.value + at * cr_network_states(w->p->net, v);
}

static size_t draw_state(cr_rng *r, const double *p, const double *opt_l, size_t n, double total)
{
    double u = cr_rng_uniform(r) * total;
    size_t last = 0;
    for (size_t s = 0; s < n; s++) {
        double x = opt_l ? p[s] * opt_l[s] : p[s];
        if (x > 0) last = s;
        if (x > 0 && (u -= x) < 0) return s;
    }
    return last;
}

/* One sample into all [variables]; its log weight. */
static double draw_one(const forward *w, cr_rng *r, size_t *all)
{
    double log_w = w->scale;
    bool   weigh = w->how == CR_APPROXIMATE_LIKELIHOOD_WEIGHTING;
    for (size_t i = 0; i < w->n && log_w > -INFINITY; i++) {
        size_t        v = w->order[i], n = cr_network_states(w->p->net, v);
        const double *p = row_of(w, v, all), *l = w->observed[v] ? w->likelihood + w->at[v] : NULL;
        double        total = 1;
        if (l && weigh) {
            total = 0;
            for (size_t s = 0; s < n; s++) total += p[s] * l[s];
            log_w += log(total);
        }
        if (total > 0) all[v] = draw_state(r, p, weigh ? l : NULL, n, total);
        if (!l || weigh) continue;
        if (w->how == CR_APPROXIMATE_FORWARD)
            log_w += log(l[all[v]]);
        else if (l[all[v]] < 1 && cr_rng_uniform(r) >= l[all[v]])
            log_w = -INFINITY;
    }
    return log_w;
}

/* The place of a state among those that evidence leaves. */
static size_t place_of(const cri_problem *p, size_t v, size_t s)
{
    size_t k = 0;
    while (k + 1 < p->left[v] && p->state[p->first[v] + k] != s) k++;
    return k;
}

static void draw_some(void *arg, cr_rng *r, size_t count, double *workspace, size_t *index,
                      cri_tally *t)
{
    const forward *w = arg;
    size_t        *all = index, *state = index + w->p->n;
    (void)workspace;
    for (size_t i = 0; i < count; i++) {
        double log_w = draw_one(w, r, all);
        for (size_t k = 0; log_w > -INFINITY && k < w->p->active; k++)
            state[k] = place_of(w->p, w->p->var[k], all[w->p->var[k]]);
        cri_tally_add(t, state, log_w);
    }
}

cr_status cri_sample_forward(cr_ctx *cx, const cri_fgraph *g, const cr_factor *opt_joint,
                             cr_approximation how, size_t samples, uint64_t seed, cri_tally *total)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_problem *p = g->problem;
    size_t            *order = cr_scratch_index(&s, p->n), *at = cr_scratch_index(&s, p->n);
    bool              *observed = cr_scratch_bytes(&s, p->n, sizeof *observed);
    double            *likelihood = cr_scratch_bytes(&s, p->states, sizeof *likelihood);
    forward w = { .p = p, .how = how, .observed = observed, .at = at, .likelihood = likelihood };
    CR_TRY(s.status);
    CR_TRY(cr_network_order(cx, p->net, order));
    for (size_t v = 0, k = 0; v < p->n; k += cr_network_states(p->net, v++)) {
        double most = 0;
        at[v] = k;
        observed[v] = p->weighed[v] || p->left[v] < cr_network_states(p->net, v);
        for (size_t i = 0; i < p->left[v]; i++) most = fmax(most, p->weight[p->first[v] + i]);
        for (size_t i = 0; i < p->left[v]; i++)
            likelihood[k + p->state[p->first[v] + i]] = p->weight[p->first[v] + i] / most;
        if (observed[v]) w.scale += log(most);
    }
    for (size_t i = 0; i < p->n; i++) /* those that matter */
        if (p->needed[order[i]]) order[w.n++] = order[i];
    w.order = order;
    cri_sampler sampler = { .what = "samples",
                            .g = g,
                            .joint = opt_joint,
                            .samples = samples,
                            .seed = seed,
                            .index = p->n + p->active,
                            .draw = draw_some,
                            .arg = &w };
    w.scale -= g->scale; /* added again in the end */
    CR_TRY(cri_sample(cx, &sampler, total));
done:
    cr_scratch_end(&s);
    return st;
}
