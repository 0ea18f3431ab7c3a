/* pc_skeleton.c -- which pairs no test separates.
 * Pairs of a round are independent of each other, so they are shared out to threads; each does at
 * most so many tests at a time before it lets the context say whether to stop. */
#include "pc.h"
#include "subsets.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

enum { TESTS_AT_A_TIME = 256, PAIRS_AT_A_TIME = 4096 };

void cri_skeleton_free(cr_ctx *cx, cri_skeleton *s)
{
    cr_free(cx, s->begin, s->n * s->n, sizeof *s->begin);
    cr_free(cx, s->length, s->n * s->n, sizeof *s->length);
    cr_free(cx, s->p, s->n * s->n, sizeof *s->p);
    cr_free(cx, s->set, s->capacity, sizeof *s->set);
    *s = (cri_skeleton){ 0 };
}

static cr_status skeleton_new(cr_ctx *cx, size_t n, cri_skeleton *s)
{
    *s = (cri_skeleton){ .n = n };
    s->begin = cr_alloc(cx, n * n, sizeof *s->begin);
    s->length = s->begin ? cr_alloc(cx, n * n, sizeof *s->length) : NULL;
    s->p = s->length ? cr_alloc(cx, n * n, sizeof *s->p) : NULL;
    if (!s->p) {
        cri_skeleton_free(cx, s);
        return CR_ENOMEM;
    }
    for (size_t i = 0; i < n * n; i++) s->begin[i] = CR_NONE;
    return CR_OK;
}

/* A pair that is adjacent, and how far its tests of this round are. */
typedef struct pair {
    size_t x, y;
    size_t side; /* 0: subsets of the neighbours of x; 1: of y; 2: all done */
    bool   begun, separated;
    double p, tests; /* largest p so far */
} pair;

typedef struct round_work {
    const cri_independence *test;
    const cri_pdag         *graph; /* as it was at the begin of the round */
    size_t                  k;
    pair                   *pairs;  /* [unfinished] */
    size_t                 *subset; /* [pairs x k] where each of them is */
    size_t   *lists;  /* [slots x (n + k)] neighbours, and those of them that are given */
    char     *memory; /* [slots x size] */
    size_t    size;
    cri_slots slots;
} round_work;

/* Neighbours of x but y. */
static size_t list_neighbours(const cri_pdag *g, size_t x, size_t y, size_t *out)
{
    size_t m = 0;
    for (size_t u = 0; u < g->n; u++)
        if (u != y && cri_pdag_adjacent(g, x, u)) out[m++] = u;
    return m;
}

/* Some tests of a pair: a part of its round. */
static void test_pair(void *arg, size_t block)
{
    round_work *w = arg;
    pair       *e = &w->pairs[block];
    size_t      n = w->graph->n, slot = cri_slot_take(&w->slots), k = w->k;
    size_t     *list = w->lists + slot * (n + k), *given = list + n, *at = w->subset + block * k;
    for (size_t tests = 0; e->side < 2 && tests < TESTS_AT_A_TIME && !e->separated;) {
        size_t x = e->side == 0 ? e->x : e->y, y = e->side == 0 ? e->y : e->x;
        size_t m = list_neighbours(w->graph, x, y, list);
        bool   more = m >= k && (k > 0 || e->side == 0);
        if (more && !e->begun) cri_first_subset(at, k), e->begun = true;
        while (more && tests < TESTS_AT_A_TIME) {
            for (size_t i = 0; i < k; i++) given[i] = list[at[i]];
            cri_verdict v =
                w->test->verdict(w->test->arg, w->memory + slot * w->size, e->x, e->y, k, given);
            tests++, e->tests++;
            if (v.p > e->p) e->p = v.p;
            e->separated = v.independent;
            if (e->separated) break;
            more = cri_next_subset(at, k, m);
        }
        if (!more) e->side++, e->begun = false;
    }
    cri_slot_leave(&w->slots, slot);
}

/* Keeps the set that separated a pair, whose subset stands where the test found it. */
static cr_status keep_set(cr_ctx *cx, const round_work *w, const pair *e, const size_t *at,
                          size_t *list, cri_skeleton *s)
{
    size_t n = w->graph->n, place = e->x * n + e->y;
    size_t x = e->side == 0 ? e->x : e->y, y = e->side == 0 ? e->y : e->x;
    list_neighbours(w->graph, x, y, list);
    s->begin[place] = s->used;
    s->length[place] = w->k;
    for (size_t i = 0; i < w->k; i++) {
        if (cri_array_grow(cx, &s->set, s->used, &s->capacity, sizeof *s->set) != CR_OK)
            return CR_ENOMEM;
        s->set[s->used++] = list[at[i]];
    }
    return CR_OK;
}

/* Is there a pair with k others to be given? */
static bool has_enough(const cri_pdag *g, size_t k)
{
    for (size_t u = 0; u < g->n; u++) {
        size_t degree = 0;
        for (size_t v = 0; v < g->n; v++) degree += cri_pdag_adjacent(g, u, v);
        if (degree > k) return true;
    }
    return false;
}

/* Runs the tests of the first `left` of w->pairs; those that were separated are added to cut. */
static cr_status test_pairs(cr_ctx *cx, const cri_pc_options *o, round_work *w, size_t left,
                            cri_skeleton *s, pair *cut, size_t *inout_cut, cri_pc_report *report)
{
    size_t n = w->graph->n, k = w->k;
    while (left > 0) {
        size_t    stay = 0;
        cr_status st = cri_parallel_for(cx, NULL, left, test_pair, w);
        if (st != CR_OK) return st;
        report->stopped = o->opt_clock && cri_clock_over(o->opt_clock);
        for (size_t i = 0; i < left; i++) {
            pair *e = &w->pairs[i];
            report->tests += e->tests, e->tests = 0;
            if (e->separated) {
                if (keep_set(cx, w, e, w->subset + i * k, w->lists, s) != CR_OK) return CR_ENOMEM;
                cut[(*inout_cut)++] = *e;
            }
            s->p[e->x * n + e->y] = s->p[e->y * n + e->x] = e->p;
            if (e->separated || e->side == 2 || report->stopped) continue;
            memmove(w->subset + stay * k, w->subset + i * k, k * sizeof *w->subset);
            w->pairs[stay++] = *e;
        }
        left = stay;
    }
    return CR_OK;
}

/* Tests all pairs that are adjacent and not required, given k of their neighbours. */
static cr_status one_round(cr_ctx *cx, const cri_independence *test, const cri_pc_options *o,
                           size_t k, cri_pdag *g, cri_skeleton *s, cri_pc_report *report)
{
    cr_status            st = CR_OK;
    cr_scratch           sc = cr_scratch_begin(cx);
    size_t               n = g->n, most = n * (n - 1) / 2, cut = 0, waiting = 0;
    size_t               group = most < PAIRS_AT_A_TIME ? most : PAIRS_AT_A_TIME;
    const cri_arc_rules *rules = o->opt_rules;
    round_work           w = { .test = test, .graph = g, .k = k };
    w.size = (test->workspace(test->arg, k) + 63) / 64 * 64;
    w.slots = (cri_slots){ .n = cri_slots_needed(cx, group) };
    w.pairs = cr_scratch_bytes(&sc, group, sizeof *w.pairs);
    w.subset = cr_scratch_index(&sc, group * k);
    w.lists = cr_scratch_index(&sc, w.slots.n * (n + k));
    w.memory = cr_scratch_bytes(&sc, w.slots.n, w.size);
    pair *all = cr_scratch_bytes(&sc, most, sizeof *all);
    CR_TRY(sc.status);
    for (size_t u = 0; u < n; u++)
        for (size_t v = u + 1; v < n && !report->stopped; v++) {
            if (!cri_pdag_adjacent(g, u, v)) continue;
            if (rules && (cri_arc_required(rules, u, v) || cri_arc_required(rules, v, u))) continue;
            w.pairs[waiting++] = (pair){ .x = u, .y = v, .p = s->p[u * n + v] };
            if (waiting < group) continue;
            CR_TRY(test_pairs(cx, o, &w, waiting, s, all, &cut, report));
            waiting = 0;
        }
    if (!report->stopped) CR_TRY(test_pairs(cx, o, &w, waiting, s, all, &cut, report));
    for (size_t i = 0; i < cut; i++) cri_pdag_cut(g, all[i].x, all[i].y);
done:
    cr_scratch_end(&sc);
    return st;
}

cr_status cri_pc_skeleton(cr_ctx *cx, const cri_independence *test, const cri_pc_options *o,
                          cri_pdag *out_graph, cri_skeleton *out, cri_pc_report *report)
{
    cr_status            st = CR_OK;
    size_t               n = test->n;
    const cri_arc_rules *rules = o->opt_rules;
    cri_pdag             g = { 0 };
    cri_skeleton         s = { 0 };
    *report = (cri_pc_report){ 0 };
    CR_TRY(cri_pdag_new(cx, n, &g));
    CR_TRY(skeleton_new(cx, n, &s));
    for (size_t u = 0; u < n; u++)
        for (size_t v = u + 1; v < n; v++)
            if (!rules || cri_arc_allowed(rules, u, v) || cri_arc_allowed(rules, v, u))
                cri_pdag_set_line(&g, u, v);
    for (size_t k = 0; k <= o->most_given && has_enough(&g, k) && !report->stopped; k++) {
        report->deepest = k;
        CR_TRY(one_round(cx, test, o, k, &g, &s, report));
    }
    *out_graph = g, *out = s;
    g = (cri_pdag){ 0 }, s = (cri_skeleton){ 0 };
done:
    cri_pdag_free(cx, &g);
    cri_skeleton_free(cx, &s);
    return st;
}
