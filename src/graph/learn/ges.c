/* ges.c -- the best operator, again and again.
 * The operators of y change only where an edge of y, or of a neighbour by a line, has changed; those of
 * other nodes are kept.  The test of ways depends on the whole graph and is made last, on the best.
 * Restarts climb again from the best class with some arcs changed at random, and keep what is better. */
#include "ges.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/scratch.h"

typedef struct search {
    cr_ctx                *cx;
    cri_local_scores      *scores;
    const cri_ges_options *o;
    cri_pdag              *g, before;
    bool                   insert;
    cri_ges_operators     *of;        /* [n] */
    bool                  *stale;     /* [n] */
    uint32_t              *workspace; /* [slots x 4 n] */
    cri_slots              slots;
} search;

static void list_one(void *arg, size_t y)
{
    search *s = arg;
    if (!s->stale[y]) return;
    size_t slot = cri_slot_take(&s->slots);
    cri_ges_list(s->cx, s->scores, s->g, y, s->insert, s->o->most_parents,
                 s->workspace + slot * 4 * s->g->n, &s->of[y]);
    s->stale[y] = false;
    cri_slot_leave(&s->slots, slot);
}

/* The operator of the largest gain that is valid; those found invalid are set aside. */
static cri_ges_operator *best_operator(search *s, size_t *out_y)
{
    for (;;) {
        cri_ges_operator *best = NULL;
        for (size_t y = 0; y < s->g->n; y++)
            for (size_t i = 0; i < s->of[y].n; i++) {
                cri_ges_operator *op = &s->of[y].item[i];
                if (op->gain > 0 && (!best || op->gain > best->gain)) best = op, *out_y = y;
            }
        if (!best || !s->insert) return best;
        if (cri_ges_blocked(s->g, *out_y, best, s->of[*out_y].set + best->begin, s->workspace))
            return best;
        best->gain = -best->gain; /* valid perhaps once the graph has changed */
    }
}

/* The class after the operator.  Nodes whose operators may be others are marked. */
static cr_status take(search *s, const cri_ges_operator *op, size_t y)
{
    cr_status st = CR_OK;
    size_t    n = s->g->n;
    bool      consistent;
    cri_pdag_copy(s->g, &s->before);
    cri_ges_apply(s->g, y, s->insert, op, s->of[y].set + op->begin);
    st = cri_pdag_extend(s->cx, s->g, &consistent);
    if (st == CR_OK) st = cri_pdag_complete(s->cx, s->g);
    if (st != CR_OK) return st;
    for (size_t v = 0; v < n; v++) {
        for (size_t i = 0; i < s->of[v].n; i++)
            if (s->of[v].item[i].gain < 0) s->of[v].item[i].gain *= -1;
        bool changed = memcmp(s->g->edge + v * n, s->before.edge + v * n, n) != 0;
        for (size_t u = 0; u < n && !changed; u++)
            changed = s->g->edge[u * n + v] != s->before.edge[u * n + v];
        if (!changed) continue;
        s->stale[v] = true;
        for (size_t u = 0; u < n; u++)
            if (cri_pdag_line(s->g, u, v) || cri_pdag_line(&s->before, u, v)) s->stale[u] = true;
    }
    return CR_OK;
}

/* All insertions, or all removals, that gain, one after another. */
static cr_status phase(search *s, bool insert, size_t *inout_taken, cri_ges_report *report)
{
    cr_status st = CR_OK;
    s->insert = insert;
    for (size_t y = 0; y < s->g->n; y++) s->stale[y] = true;
    while (!report->stopped) {
        size_t y = 0;
        CR_TRY(cri_parallel_for(s->cx, NULL, s->g->n, list_one, s));
        for (size_t v = 0; v < s->g->n; v++)
            if (s->of[v].failed) CR_TRY(cri_fail_memory(s->cx, s->of[v].room * sizeof(uint32_t)));
        const cri_ges_operator *op = best_operator(s, &y);
        if (!op) break;
        CR_TRY(take(s, op, y));
        ++*inout_taken;
        cr_progress(s->cx, "steps", (double)(report->inserted + report->removed), 0);
        CR_TRY(cr_check_interrupt(s->cx));
        report->stopped = s->o->opt_clock && cri_clock_over(s->o->opt_clock);
    }
done:
    return st;
}

static cr_status total_score(cr_ctx *cx, cri_local_scores *scores, const cri_pdag *g, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_pdag   dag = { 0 };
    uint32_t  *parents = cr_scratch_bytes(&s, g->n, sizeof *parents);
    bool       consistent;
    CR_TRY(s.status);
    CR_TRY(cri_pdag_new(cx, g->n, &dag));
    cri_pdag_copy(g, &dag);
    CR_TRY(cri_pdag_extend(cx, &dag, &consistent));
    *out = 0;
    for (size_t v = 0; v < g->n; v++) {
        size_t k = 0;
        for (size_t u = 0; u < g->n; u++)
            if (cri_pdag_arrow(&dag, u, v)) parents[k++] = (uint32_t)u;
        *out += cri_local_score(scores, v, parents, k);
    }
done:
    cri_pdag_free(cx, &dag);
    cr_scratch_end(&s);
    return st;
}

/* Insertions and removals by turns, until neither gains; the score of where that ends. */
static cr_status climb(search *s, cri_ges_report *report, double *out_score)
{
    cr_status st = CR_OK;
    for (size_t taken = 1; taken > 0 && !report->stopped;) {
        size_t was = report->inserted + report->removed;
        CR_TRY(phase(s, true, &report->inserted, report));
        CR_TRY(phase(s, false, &report->removed, report));
        taken = report->inserted + report->removed - was;
    }
    CR_TRY(total_score(s->cx, s->scores, s->g, out_score));
done:
    return st;
}

/* Some arcs of a member, drawn at random, are dropped, turned or added, as no cycle and not too many
 * parents allow; g becomes its class.  order [n]: workspace. */
static cr_status perturb(search *s, cr_rng *r, size_t *order)
{
    cri_pdag *g = s->g;
    size_t    n = g->n, changes = 2 + cr_rng_below(r, 2 + n / 8);
    bool      consistent;
    cr_status st = cri_pdag_extend(s->cx, g, &consistent);
    for (size_t tries = 0; st == CR_OK && changes > 0 && tries < 20 * n + 20; tries++) {
        size_t u = cr_rng_below(r, n), v = cr_rng_below(r, n);
        if (u == v || (!cri_pdag_adjacent(g, u, v) && cr_rng_below(r, n) > 2)) continue;
        cri_pdag_copy(g, &s->before);
        if (cri_pdag_arrow(g, u, v) && cr_rng_below(r, 2))
            cri_pdag_cut(g, u, v);
        else
            cri_pdag_set_arrow(g, v, u);
        if (!cri_pdag_order(g, order) || cri_pdag_parents(g, u, order) > s->o->most_parents)
            cri_pdag_copy(&s->before, g);
        else
            changes--;
    }
    return st == CR_OK ? cri_pdag_complete(s->cx, g) : st;
}

cr_status cri_ges(cr_ctx *cx, cri_local_scores *scores, const cri_ges_options *o, cri_pdag *inout,
                  cri_ges_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    size_t     n = inout->n, *order = cr_scratch_index(&sc, n);
    cri_pdag   g = { 0 };
    search     s = { .cx = cx, .scores = scores, .o = o, .g = &g };
    double     score;
    *report = (cri_ges_report){ 0 };
    s.slots = (cri_slots){ .n = cri_slots_needed(cx, n) };
    s.of = cr_scratch_bytes(&sc, n, sizeof *s.of);
    s.stale = cr_scratch_bytes(&sc, n, sizeof *s.stale);
    s.workspace = cr_scratch_bytes(&sc, (s.slots.n + 1) * 4 * n, sizeof *s.workspace);
    CR_TRY(sc.status);
    if (!cri_local_scores_equivalent(scores))
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "a search among equivalence classes needs a score that is the same for all "
                       "members of a class, such as bic or bdeu"));
    CR_TRY(cri_pdag_new(cx, n, &g));
    CR_TRY(cri_pdag_new(cx, n, &s.before));
    cri_pdag_copy(inout, &g);
    CR_TRY(climb(&s, report, &report->score));
    cri_pdag_copy(&g, inout);
    for (; report->restarts < o->restarts && !report->stopped && n > 1; report->restarts++) {
        cr_rng r = cr_rng_stream(o->seed, report->restarts);
        cri_pdag_copy(inout, &g);
        CR_TRY(perturb(&s, &r, order));
        CR_TRY(climb(&s, report, &score));
        if (score <= report->score + 1e-9) continue;
        report->score = score;
        cri_pdag_copy(&g, inout);
    }
done:
    for (size_t y = 0; s.of && y < n; y++) {
        cr_free(cx, s.of[y].item, s.of[y].capacity, sizeof *s.of[y].item);
        cr_free(cx, s.of[y].set, s.of[y].room, sizeof *s.of[y].set);
    }
    cri_pdag_free(cx, &g);
    cri_pdag_free(cx, &s.before);
    cr_scratch_end(&sc);
    return st;
}
