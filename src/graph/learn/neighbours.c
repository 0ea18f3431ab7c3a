/* neighbours.c -- max-min parents and children.
 * For each x the test with the largest p so far is kept, so that when the candidate grows by one only
 * the subsets that contain it are new. */
#include "neighbours.h"
#include "subsets.h"
#include "base/context_internal.h"
#include "base/parallel.h"

typedef struct search {
    cr_ctx                      *cx;
    const cri_independence      *test;
    const cri_neighbour_options *o;
    size_t                       only;
    const bool                  *wanted; /* [n] */
    uint64_t                    *out;
    size_t                       words;
    double                      *p;      /* [n x n] */
    char                        *memory; /* [slots x size] */
    size_t                       size;
    size_t                      *lists;   /* [slots x 4 n] */
    cri_verdict                 *weakest; /* [slots x n] */
    cri_slots                    slots;
} search;

/* One target. */
typedef struct target {
    const search *s;
    size_t        t, m;       /* candidates so far */
    size_t       *list;       /* [n] them */
    size_t       *at, *given; /* [n] [2 n] workspace */
    cri_verdict  *weakest;    /* [n] of x over the subsets tried */
    void         *memory;
} target;

/* Is a the weaker association? */
static bool is_weaker(cri_verdict a, cri_verdict b)
{
    if (a.independent != b.independent) return a.independent;
    return a.p != b.p ? a.p > b.p : a.association < b.association;
}

static bool is_required(const search *s, size_t u, size_t v)
{
    const cri_arc_rules *r = s->o->opt_rules;
    return r && (cri_arc_required(r, u, v) || cri_arc_required(r, v, u));
}

static bool is_possible(const search *s, size_t u, size_t v)
{
    const cri_arc_rules *r = s->o->opt_rules;
    return u != v && (!r || cri_arc_allowed(r, u, v) || cri_arc_allowed(r, v, u));
}

/* Tests x given all subsets of list[0 .. m) without x, up to a size; with `newest` only those that have
 * the last member.  Ends at the first that separates. */
static void test_subsets(target *w, size_t x, bool newest, cri_verdict *inout)
{
    const cri_independence *test = w->s->test;
    size_t                  m = 0, most = w->s->o->most_given;
    size_t                  fixed = newest ? 1 : 0;
    size_t                  last = newest ? w->list[w->m - 1] : 0, *pool = w->given + w->s->test->n;
    for (size_t i = 0; i + fixed < w->m; i++)
        if (w->list[i] != x) pool[m++] = w->list[i];
    for (size_t k = 0; k <= m && k + fixed <= most; k++) {
        cri_first_subset(w->at, k);
        do {
            for (size_t i = 0; i < k; i++) w->given[i] = pool[w->at[i]];
            if (newest) w->given[k] = last;
            cri_verdict v = test->verdict(test->arg, w->memory, w->t, x, k + fixed, w->given);
            if (is_weaker(v, *inout)) *inout = v;
            if (inout->independent || cri_should_stop(w->s->cx)) return;
        } while (cri_next_subset(w->at, k, m));
    }
}

static const cri_verdict strongest = { false, -1, 0 };

static bool is_member(const target *w, size_t x)
{
    for (size_t i = 0; i < w->m; i++)
        if (w->list[i] == x) return true;
    return false;
}

/* The member that came last makes others superfluous: those it helps to separate leave at once, which
 * keeps the subsets few. */
static void sift(target *w)
{
    size_t kept = 0, newest = w->list[w->m - 1], m = w->m;
    for (size_t x = 0; x < w->s->test->n; x++)
        if (x != newest && is_possible(w->s, w->t, x) && !w->weakest[x].independent)
            test_subsets(w, x, true, &w->weakest[x]);
    for (size_t i = 0; i < m; i++)
        if (!w->weakest[w->list[i]].independent || is_required(w->s, w->t, w->list[i]))
            w->list[kept++] = w->list[i];
    w->m = kept;
}

static void grow(target *w)
{
    const search *s = w->s;
    size_t        n = s->test->n;
    for (size_t x = 0; x < n; x++) {
        w->weakest[x] = strongest;
        if (is_possible(s, w->t, x)) test_subsets(w, x, false, &w->weakest[x]);
    }
    while (!cri_should_stop(s->cx)) {
        size_t best = n;
        for (size_t x = 0; x < n; x++) {
            if (!is_possible(s, w->t, x) || w->weakest[x].independent || is_member(w, x)) continue;
            if (best == n || is_weaker(w->weakest[best], w->weakest[x])) best = x;
        }
        if (best == n) break;
        w->list[w->m++] = best;
        sift(w);
    }
}

/* Those that a subset of the others separates leave. */
static void shrink(target *w)
{
    for (size_t i = 0; i < w->m;) {
        cri_verdict v = strongest;
        size_t      x = w->list[i];
        if (!is_required(w->s, w->t, x)) test_subsets(w, x, false, &v);
        w->weakest[x] = v;
        if (v.independent)
            memmove(w->list + i, w->list + i + 1, (--w->m - i) * sizeof *w->list);
        else
            i++;
    }
}

static void search_one(void *arg, size_t t)
{
    search *s = arg;
    size_t  n = s->test->n;
    if (!s->wanted[t]) return;
    size_t slot = cri_slot_take(&s->slots), *lists = s->lists + slot * 4 * n;
    target w = { .s = s, .t = t, .list = lists, .at = lists + n, .given = lists + 2 * n };
    w.weakest = s->weakest + slot * n, w.memory = s->memory + slot * s->size;
    grow(&w);
    for (size_t x = 0; x < n; x++)
        if (x != t && is_required(s, t, x) && !is_member(&w, x)) w.list[w.m++] = x;
    shrink(&w);
    for (size_t i = 0; i < w.m; i++) {
        cri_bit_add(s->out + t * s->words, w.list[i]);
        s->p[t * n + w.list[i]] = w.weakest[w.list[i]].p;
    }
    cri_slot_leave(&s->slots, slot);
}

cr_status cri_neighbours(cr_ctx *cx, const cri_independence *test, const cri_neighbour_options *o,
                         size_t opt_only, uint64_t *out, double *opt_p)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    size_t     n = test->n, most = o->most_given < n ? o->most_given : n;
    search     s = { .cx = cx, .test = test, .o = o, .out = out, .words = cri_bit_words(n) };
    bool      *wanted = cr_scratch_bytes(&sc, n, sizeof *wanted);
    s.slots = (cri_slots){ .n = cri_slots_needed(cx, n) };
    s.size = (test->workspace(test->arg, most) + 63) / 64 * 64;
    s.memory = cr_scratch_bytes(&sc, s.slots.n, s.size);
    s.lists = cr_scratch_index(&sc, s.slots.n * 4 * n);
    s.weakest = cr_scratch_bytes(&sc, s.slots.n * n, sizeof *s.weakest);
    s.p = opt_p ? opt_p : cr_scratch_matrix(&sc, n, n);
    CR_TRY(sc.status);
    s.wanted = wanted;
    for (size_t i = 0; i < n * n; i++) s.p[i] = 1;
    for (size_t t = 0; t < n; t++) wanted[t] = opt_only == CR_NONE || t == opt_only;
    CR_TRY(cri_parallel_for(cx, "neighbours", n, search_one, &s));
    if (opt_only != CR_NONE) {
        for (size_t t = 0; t < n; t++)
            wanted[t] = t != opt_only && cri_bit_has(out + opt_only * s.words, t);
        CR_TRY(cri_parallel_for(cx, "neighbours", n, search_one, &s));
    }
    CR_TRY(cr_check_interrupt(cx));
    for (size_t t = 0; t < n; t++)
        for (size_t x = 0; x < n; x++) {
            if (opt_only != CR_NONE && t != opt_only) continue; /* theirs stay as they are */
            if (cri_bit_has(out + x * s.words, t)) continue;
            cri_bit_drop(out + t * s.words, x);
        }
done:
    cr_scratch_end(&sc);
    return st;
}
