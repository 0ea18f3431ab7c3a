/* parent_sets.c -- all sets of one size after another.
 * Sets of k of m candidates are numbered by rank(S) = sum_i choose(s_i, i + 1), s ascending, so that
 * what is known of those with one member less is an array.  best[S] is the largest score of S and its
 * subsets; a set whose bound is not above it is not scored, and as bounds only fall, neither is any
 * set that contains it. */
#include "parent_sets.h"
#include "subsets.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>

/* --- bounds ---------------------------------------------------------------------------------- */

static double minus_penalty(const void *own, size_t v, const uint32_t *parents, size_t k)
{
    const cri_penalty *p = own;
    double             q = 1;
    for (size_t i = 0; i < k; i++) q *= p->levels[parents[i]];
    return -p->rate * q * (p->levels[v] - 1.0);
}

cri_score_bound cri_penalty_bound(const cri_penalty *p)
{
    return (cri_score_bound){ minus_penalty, p };
}

/* --- finding --------------------------------------------------------------------------------- */

void cri_parent_sets_free(cr_ctx *cx, cri_parent_sets *p)
{
    for (size_t v = 0; p->list && v < p->n; v++)
        cr_free(cx, p->list[v], p->capacity[v], sizeof *p->list[v]);
    cr_free(cx, p->count, p->n, sizeof *p->count);
    cr_free(cx, p->capacity, p->n, sizeof *p->capacity);
    cr_free(cx, p->list, p->n, sizeof *p->list);
    *p = (cri_parent_sets){ 0 };
}

typedef struct search {
    cr_ctx                 *cx;
    const cri_score_source *source;
    void                  **work; /* [slots] of the source */
    const cri_arc_rules    *rules;
    cri_score_bound         bound;
    cri_parent_sets        *out;
    size_t                  widest; /* sets of one size, the most */
    size_t                  choose[CRI_MOST_SET_VARIABLES + 1][CRI_MOST_SET_VARIABLES + 1];
    double                 *best; /* [slots x 2 x widest] */
    cri_slots               slots;
    double                 *families; /* [n] */
    bool                   *failed;   /* [n] for want of memory */
    const cri_clock        *clock;    /* or NULL */
    atomic_bool             late;
} search;

/* Is there no time left? */
static bool is_over(search *s)
{
    if (s->clock && cri_clock_over(s->clock)) atomic_store(&s->late, true);
    return atomic_load(&s->late) || cri_should_stop(s->cx);
}

/* One variable: its candidates and how far the search is. */
typedef struct state {
    search  *s;
    size_t   v, m, base;                        /* candidates; parents that are required */
    uint32_t candidate[CRI_MOST_SET_VARIABLES]; /* [m] */
    uint64_t required;
    void    *work;    /* of the source */
    size_t   looked;  /* sets so far */
    double  *best[2]; /* of the sets of one size less, and of this one */
} state;

static bool keep(state *w, uint64_t set, double score)
{
    cri_parent_sets *out = w->s->out;
    size_t           v = w->v, capacity = out->capacity[v];
    if (out->count[v] == capacity) {
        size_t          more = capacity ? 2 * capacity : 16;
        cri_parent_set *list =
            cri_resize_quietly(w->s->cx, out->list[v], capacity, more, sizeof *list);
        if (!list) return false;
        out->list[v] = list, out->capacity[v] = more;
    }
    out->list[v][out->count[v]++] = (cri_parent_set){ set, score };
    return true;
}

/* The largest score of the subsets of one member less. */
static double best_below(const state *w, const size_t *at, size_t k)
{
    const search *s = w->s;
    size_t        above = 0;
    double        best = -INFINITY;
    for (size_t i = 1; i < k; i++) above += s->choose[at[i]][i];
    size_t rank = above; /* without member 0: those after it move down one place */
    for (size_t i = 0; i < k; i++) {
        if (w->best[0][rank] > best) best = w->best[0][rank];
        if (i + 1 < k) rank += s->choose[at[i]][i + 1] - s->choose[at[i + 1]][i + 1];
    }
    return best;
}

/* The parents of a subset of candidates, with those required, ascending. */
static size_t make_parents(const state *w, const size_t *at, size_t k, uint64_t *out_set,
                           uint32_t *parents)
{
    size_t n = 0;
    *out_set = w->required;
    for (size_t i = 0; i < k; i++) *out_set |= UINT64_C(1) << w->candidate[at[i]];
    for (uint64_t left = *out_set; left; left &= left - 1)
        parents[n++] = (uint32_t)__builtin_ctzll(left);
    return n;
}

/* All sets of k candidates; false when memory ran out.  *out_alive: some may have use of more. */
static bool score_size(state *w, size_t k, bool *out_alive)
{
    const search *s = w->s;
    size_t        at[CRI_MOST_SET_VARIABLES];
    uint32_t      parents[CRI_MOST_SET_VARIABLES];
    uint64_t      set;
    *out_alive = false;
    cri_first_subset(at, k);
    do {
        size_t rank = 0, n = make_parents(w, at, k, &set, parents);
        double below = k > 0 ? best_below(w, at, k) : -INFINITY, score = -INFINITY;
        for (size_t i = 0; i < k; i++) rank += s->choose[at[i]][i + 1];
        if (!s->bound.most || s->bound.most(s->bound.own, w->v, parents, n) > below) {
            score = s->source->score(s->source->own, w->v, parents, n, w->work);
            s->families[w->v]++;
            *out_alive = true;
        }
        if ((score > below || k == 0) && !keep(w, set, score)) return false;
        w->best[1][rank] = score > below ? score : below;
        if (++w->looked % 1024 == 0 && is_over(w->s)) {
            *out_alive = false;
            return true;
        }
    } while (cri_next_subset(at, k, w->m));
    return true;
}

static int compare_sets(const void *a, const void *b)
{
    const cri_parent_set *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

static void find_of_one(void *arg, size_t v)
{
    search              *s = arg;
    const cri_arc_rules *r = s->rules;
    size_t               slot = cri_slot_take(&s->slots);
    state                w = { .s = s, .v = v, .work = s->work[slot] };
    bool                 alive = true;
    for (size_t u = 0; u < r->n; u++) {
        if (cri_arc_required(r, u, v))
            w.required |= UINT64_C(1) << u, w.base++;
        else if (cri_arc_allowed(r, u, v) && u != v)
            w.candidate[w.m++] = (uint32_t)u;
    }
    w.best[0] = s->best + slot * 2 * s->widest, w.best[1] = w.best[0] + s->widest;
    for (size_t k = 0; k <= w.m && w.base + k <= r->most_parents + (k == 0) * w.base && alive;
         k++) {
        if (!score_size(&w, k, &alive)) {
            s->failed[v] = true;
            break;
        }
        double *swap = w.best[0];
        w.best[0] = w.best[1], w.best[1] = swap;
    }
    cri_slot_leave(&s->slots, slot);
    cri_parent_set *list = s->out->list[v];
    if (s->out->count[v] > 1) qsort(list, s->out->count[v], sizeof *list, compare_sets);
}

/* The most sets of one size that any variable has. */
static size_t widest_size(const search *s)
{
    const cri_arc_rules *r = s->rules;
    size_t               widest = 1;
    for (size_t v = 0; v < r->n; v++) {
        size_t m = 0;
        for (size_t u = 0; u < r->n; u++)
            m += u != v && cri_arc_allowed(r, u, v) && !cri_arc_required(r, u, v);
        for (size_t k = 0; k <= m && k <= r->most_parents; k++)
            if (s->choose[m][k] > widest) widest = s->choose[m][k];
    }
    return widest;
}

cr_status cri_parent_sets_find(cr_ctx *cx, const cri_score_source *source,
                               const cri_arc_rules *rules, cri_score_bound opt_bound,
                               const cri_clock *opt_clock, cri_parent_sets *out, bool *out_complete)
{
    cr_status       st = CR_OK;
    cr_scratch      sc = cr_scratch_begin(cx);
    size_t          n = rules->n;
    cri_parent_sets p = { .n = n };
    search         *s = cr_scratch_bytes(&sc, 1, sizeof *s);
    CR_TRY(sc.status);
    if (n > CRI_MOST_SET_VARIABLES)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "sets of parents are listed for at most %d variables, not for %zu",
                       CRI_MOST_SET_VARIABLES, n));
    *s = (search){ .cx = cx,
                   .source = source,
                   .rules = rules,
                   .bound = opt_bound,
                   .out = &p,
                   .clock = opt_clock };
    for (size_t i = 0; i <= CRI_MOST_SET_VARIABLES; i++)
        for (size_t k = 0; k <= CRI_MOST_SET_VARIABLES; k++)
            s->choose[i][k] = k == 0   ? 1
                              : i == 0 ? 0
                                       : s->choose[i - 1][k - 1] + s->choose[i - 1][k];
    s->slots = (cri_slots){ .n = cri_slots_needed(cx, n) };
    s->widest = widest_size(s);
    if (s->widest > cri_memory_left(cx) / (2 * sizeof *s->best * (s->slots.n + !s->slots.n))) {
        cr_fail(cx, CR_ENOMEM,
                "a variable has %zu sets of parents of one size: too many for memory", s->widest);
        CR_TRY(cr_fail_hint(cx, "allow fewer parents with --max-parents"));
    }
    s->best = cr_scratch_matrix(&sc, s->slots.n * 2, s->widest);
    s->work = cr_scratch_bytes(&sc, s->slots.n, sizeof *s->work);
    s->families = cr_scratch_bytes(&sc, n, sizeof *s->families);
    s->failed = cr_scratch_bytes(&sc, n, sizeof *s->failed);
    CR_TRY(sc.status);
    for (size_t i = 0; i < s->slots.n; i++)
        CR_TRY(source->open_work(&sc, source->own, &s->work[i]));
    p.count = cr_alloc(cx, n, sizeof *p.count);
    p.capacity = p.count ? cr_alloc(cx, n, sizeof *p.capacity) : NULL;
    p.list = p.capacity ? cr_alloc(cx, n, sizeof *p.list) : NULL;
    CR_TRY(p.list ? CR_OK : CR_ENOMEM);
    CR_TRY(cri_parallel_for(cx, "parent sets", n, find_of_one, s));
    CR_TRY(cr_check_interrupt(cx));
    for (size_t v = 0; v < n; v++) {
        if (s->failed[v]) CR_TRY(cri_fail_memory(cx, p.capacity[v] * sizeof(cri_parent_set)));
        p.families += s->families[v];
    }
    *out = p;
    *out_complete = !atomic_load(&s->late);
    p = (cri_parent_sets){ 0 };
done:
    cri_parent_sets_free(cx, &p);
    cr_scratch_end(&sc);
    return st;
}

/* --- asking ---------------------------------------------------------------------------------- */

static const cri_parent_set *find(const cri_parent_sets *p, size_t v, uint64_t allowed)
{
    for (size_t i = 0; i < p->count[v]; i++)
        if ((p->list[v][i].set & ~allowed) == 0) return &p->list[v][i];
    return NULL;
}

const cri_parent_set *cri_parent_sets_best(const cri_parent_sets *p, size_t v, uint64_t allowed)
{
    return find(p, v, allowed);
}

bool cri_parent_sets_any(const cri_parent_sets *p, size_t v, uint64_t allowed)
{
    return find(p, v, allowed) != NULL;
}
