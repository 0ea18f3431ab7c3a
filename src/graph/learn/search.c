/* search.c -- hill climbing and tabu search over graphs, with perturbed restarts.
 * gain[v][u] is what the family of v gains by u: dropped, where it is a parent, else added.  An arc u -> v is reversed by
 * dropping u from v and adding v to u, so that gains of all steps are sums of at most two of these. */
#include "search.h"
#include "base/context_internal.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

typedef enum step_kind { NO_STEP, ADD, DROP, REVERSE } step_kind;

typedef struct step {
    step_kind kind;
    size_t    from, to;
    double    gain;
} step;

typedef struct search {
    cr_ctx                   *cx;
    cri_local_scores         *scores;
    const cri_arc_rules      *rules;
    const cri_search_options *o;
    cri_search_result        *result;
    size_t                    n, words, trace_room;
    cri_dag                   g;     /* where it is */
    double                    score; /* of it */
    double                   *local; /* [n] of its families */
    double                   *gain;  /* [n x n] row v: by u */
    uint64_t                 *of;    /* [n x words] the parents of v that a row of gains is for */
    bool                     *known; /* [n] there is such a row */
    uint64_t                 *arc;   /* [n x n] gains to be computed now: v n + u */
    size_t                    arcs;
    uint64_t                 *past;   /* [memory] hashes of the last graphs of a tabu search */
    size_t                    visits; /* how many it has seen */
    cri_clock                 clock;
} search;

/* Gains below this are rounding. */
static double worth(const search *a) { return 1e-10 * (1 + fabs(a->score)); }

/* --- gains ------------------------------------------------------------------------------------ */

enum { TOGETHER = 8 }; /* gains that one thread computes at a time */

/* The parents of v, ascending, without u where it is one, else with it; how many. */
static size_t toggle(const uint32_t *parents, size_t n, uint32_t u, bool has, uint32_t *out)
{
    size_t k = 0, m = 0;
    for (; k < n && parents[k] < u; k++) out[m++] = parents[k];
    if (!has) out[m++] = u;
    for (k += has; k < n; k++) out[m++] = parents[k];
    return m;
}

/* The family of v toggled by u; false where that may not be. */
static bool toggled_family(const search *a, size_t v, size_t u, uint32_t *out, size_t *out_n)
{
    const uint64_t *parents = cri_dag_parents(&a->g, v);
    uint32_t        list[CRI_MOST_PARENTS];
    size_t          n = cri_bit_list(parents, a->words, list);
    bool            has = cri_bit_has(parents, u);
    if (u == v || (!has && !(n < a->rules->most_parents && cri_arc_allowed(a->rules, u, v))))
        return false;
    *out_n = toggle(list, n, (uint32_t)u, has, out);
    return true;
}

/* The gain of a family that nobody has scored yet. */
static void compute_gain(search *a, uint64_t arc)
{
    uint32_t family[CRI_MOST_PARENTS + 1];
    size_t   v = arc / a->n, n;
    if (toggled_family(a, v, arc % a->n, family, &n))
        a->gain[arc] = cri_local_score(a->scores, v, family, n) - a->local[v];
}

static void compute_gains(void *arg, size_t block)
{
    search   *a = arg;
    cri_range range = cri_block_range(a->arcs, TOGETHER, block);
    for (size_t i = range.begin; i < range.end; i++) compute_gain(a, a->arc[i]);
}

/* The gains of v that are remembered; the others are noted in a->arc. */
static void recall_gains(search *a, size_t v)
{
    uint32_t family[CRI_MOST_PARENTS + 1];
    for (size_t u = 0; u < a->n; u++) {
        double *out = &a->gain[v * a->n + u], score;
        size_t  n;
        *out = -INFINITY;
        if (!toggled_family(a, v, u, family, &n)) continue;
        if (cri_local_score_recall(a->scores, v, family, n, &score))
            *out = score - a->local[v];
        else
            a->arc[a->arcs++] = v * a->n + u;
    }
}

/* Rows of gains for all families that are not those they were computed for.  Threads are called in where there is work
 * for them. */
static cr_status refresh(search *a)
{
    size_t    bytes = a->words * sizeof *a->of;
    uint32_t  list[CRI_MOST_PARENTS];
    cr_status st = CR_OK;
    a->arcs = 0;
    for (size_t v = 0; v < a->n; v++) {
        const uint64_t *parents = cri_dag_parents(&a->g, v);
        uint64_t       *of = a->of + v * a->words;
        if (a->known[v] && memcmp(of, parents, bytes) == 0) continue;
        memcpy(of, parents, bytes);
        a->known[v] = true;
        a->local[v] = cri_local_score(a->scores, v, list, cri_bit_list(parents, a->words, list));
        recall_gains(a, v);
    }
    if (a->arcs > 2 * TOGETHER)
        CR_TRY(cri_parallel_for(a->cx, NULL, cri_block_count(a->arcs, TOGETHER), compute_gains, a));
    else
        for (size_t i = 0; i < a->arcs; i++) compute_gain(a, a->arc[i]);
    a->score = 0;
    for (size_t v = 0; v < a->n; v++) a->score += a->local[v];
done:
    return st;
}

double cri_dag_score(cri_local_scores *scores, const cri_dag *g)
{
    double   sum = 0;
    uint32_t list[CRI_MOST_PARENTS];
    for (size_t v = 0; v < g->n; v++)
        sum +=
            cri_local_score(scores, v, list, cri_bit_list(cri_dag_parents(g, v), g->words, list));
    return sum;
}

/* --- graphs that were seen -------------------------------------------------------------------- */

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static uint64_t hash_arc(const search *a, size_t from, size_t to)
{
    return mix((uint64_t)from * a->n + to + 1);
}

static uint64_t hash_graph(const search *a)
{
    uint64_t h = 0;
    for (size_t v = 0; v < a->n; v++)
        for (size_t u = 0; u < a->n; u++)
            if (cri_dag_has(&a->g, u, v)) h ^= hash_arc(a, u, v);
    return h;
}

static uint64_t hash_after(const search *a, uint64_t h, const step *s)
{
    h ^= hash_arc(a, s->from, s->to);
    return s->kind == REVERSE ? h ^ hash_arc(a, s->to, s->from) : h;
}

static bool was_seen(const search *a, uint64_t h)
{
    size_t n = a->visits < a->o->memory ? a->visits : a->o->memory;
    for (size_t i = 0; i < n; i++)
        if (a->past[i] == h) return true;
    return false;
}

static void note_visit(search *a, uint64_t h) { a->past[a->visits++ % a->o->memory] = h; }

/* --- steps ------------------------------------------------------------------------------------ */

static double gain_of(const search *a, size_t from, size_t to) { return a->gain[to * a->n + from]; }

/* Offers a step: it is taken where it is better by more than rounding, and, in tabu search, leads to no graph seen. */
static void offer(const search *a, step_kind kind, size_t from, size_t to, double gain,
                  const uint64_t *opt_hash, step *best)
{
    step s = { kind, from, to, gain };
    if (!(gain > best->gain + worth(a))) return;
    if (kind == ADD && cri_dag_reaches(&a->g, to, from)) return;
    if (kind == REVERSE && !cri_dag_can_reverse(&a->g, from, to)) return;
    if (opt_hash && was_seen(a, hash_after(a, *opt_hash, &s))) return;
    *best = s;
}

static step find_step(const search *a, double least, const uint64_t *opt_hash)
{
    step best = { .kind = NO_STEP, .gain = least };
    for (size_t v = 0; v < a->n; v++)
        for (size_t u = 0; u < a->n; u++) {
            double gain = gain_of(a, u, v);
            if (!cri_dag_has(&a->g, u, v)) {
                if (gain > best.gain) offer(a, ADD, u, v, gain, opt_hash, &best);
                continue;
            }
            if (cri_arc_required(a->rules, u, v)) continue;
            offer(a, DROP, u, v, gain, opt_hash, &best);
            offer(a, REVERSE, u, v, gain + gain_of(a, v, u), opt_hash, &best);
        }
    return best;
}

static void take_step(search *a, const step *s)
{
    if (s->kind != ADD) cri_dag_drop(&a->g, s->from, s->to);
    if (s->kind == ADD) cri_dag_add(&a->g, s->from, s->to);
    if (s->kind == REVERSE) cri_dag_add(&a->g, s->to, s->from);
    cri_progress_steps(a->cx, (double)++a->result->steps);
}

static cr_status note_score(search *a, double score)
{
    cri_search_result *r = a->result;
    cr_status          st =
        cri_array_grow(a->cx, &r->trace, r->trace_size, &a->trace_room, sizeof *r->trace);
    if (st == CR_OK) r->trace[r->trace_size++] = score;
    return st;
}

/* --- climbing --------------------------------------------------------------------------------- */

static cr_status climb(search *a, bool trace)
{
    cr_status st = CR_OK;
    CR_TRY(refresh(a));
    if (trace) CR_TRY(note_score(a, a->score));
    while (!cri_clock_over(&a->clock)) {
        step s = find_step(a, 0, NULL);
        if (s.kind == NO_STEP) break;
        CR_TRY(cr_check_interrupt(a->cx));
        take_step(a, &s);
        CR_TRY(refresh(a));
        if (trace) CR_TRY(note_score(a, a->score));
    }
done:
    return st;
}

/* Keeps the graph where it is the best so far. */
static bool keep_best(search *a)
{
    cri_search_result *r = a->result;
    if (!(a->score > r->score + worth(a))) return false;
    cri_dag_copy(&a->g, &r->dag);
    r->score = a->score;
    return true;
}

/* On from an optimum by the best steps to new graphs, as long as a best one comes up from time to time. */
static cr_status roam(search *a)
{
    cr_status st = CR_OK;
    uint64_t  h = hash_graph(a);
    a->visits = 0;
    note_visit(a, h);
    for (size_t idle = 0; idle < a->o->memory && !cri_clock_over(&a->clock); idle++) {
        step s = find_step(a, -INFINITY, &h);
        if (s.kind == NO_STEP) break;
        CR_TRY(cr_check_interrupt(a->cx));
        h = hash_after(a, h, &s);
        take_step(a, &s);
        note_visit(a, h);
        CR_TRY(refresh(a));
        if (keep_best(a)) {
            CR_TRY(note_score(a, a->score));
            idle = 0;
        }
    }
done:
    return st;
}

/* --- restarts --------------------------------------------------------------------------------- */

static bool may_reverse(const search *a, size_t u, size_t v)
{
    return cri_arc_allowed(a->rules, v, u) && !cri_arc_required(a->rules, u, v) &&
           cri_bit_count(cri_dag_parents(&a->g, u), a->words) < a->rules->most_parents;
}

/* Reverses covered arcs at random: another graph of the same class. */
static void shuffle_class(search *a, cr_rng *r)
{
    size_t times = 1 + cr_rng_below(r, 2 * a->g.arcs + 1);
    for (size_t k = 0; k < times; k++) {
        size_t v = cr_rng_below(r, a->n), u = cr_rng_below(r, a->n);
        for (size_t tries = 0; tries < a->n && !cri_dag_has(&a->g, u, v); tries++)
            u = (u + 1) % a->n;
        if (!cri_dag_has(&a->g, u, v) || !cri_dag_is_covered(&a->g, u, v) || !may_reverse(a, u, v))
            continue;
        cri_dag_drop(&a->g, u, v);
        cri_dag_add(&a->g, v, u);
    }
}

/* Drops all arcs of a variable that need not be there. */
static void isolate(search *a, size_t t)
{
    for (size_t u = 0; u < a->n; u++) {
        if (cri_dag_has(&a->g, u, t) && !cri_arc_required(a->rules, u, t))
            cri_dag_drop(&a->g, u, t);
        if (cri_dag_has(&a->g, t, u) && !cri_arc_required(a->rules, t, u))
            cri_dag_drop(&a->g, t, u);
    }
}

/* A variable that is joined to t, drawn; t itself where none is. */
static size_t draw_neighbour(const search *a, size_t t, cr_rng *r)
{
    size_t chosen = t, seen = 0;
    for (size_t u = 0; u < a->n; u++)
        if ((cri_dag_has(&a->g, u, t) || cri_dag_has(&a->g, t, u)) && cr_rng_below(r, ++seen) == 0)
            chosen = u;
    return chosen;
}

static size_t draw_parent(const search *a, size_t v, cr_rng *r)
{
    size_t chosen = v, seen = 0;
    for (size_t u = 0; u < a->n; u++)
        if (cri_dag_has(&a->g, u, v) && cr_rng_below(r, ++seen) == 0) chosen = u;
    return chosen;
}

/* Reverses an arc at random, whatever it costs, where that closes no cycle. */
static void turn_arc(search *a, cr_rng *r)
{
    size_t v = cr_rng_below(r, a->n), u = draw_parent(a, v, r);
    if (u == v || !may_reverse(a, u, v) || !cri_dag_can_reverse(&a->g, u, v)) return;
    cri_dag_drop(&a->g, u, v);
    cri_dag_add(&a->g, v, u);
}

/* From the best graph another one of its class, then in turn: some variables that hang together lose their arcs, or any, or
 * some arcs are reversed. */
static cr_status restart(search *a, size_t number)
{
    enum { MOST_CHANGES = 5 };
    cr_rng r = cr_rng_stream(a->o->seed, number);
    cri_dag_copy(&a->result->dag, &a->g);
    shuffle_class(a, &r);
    size_t t = cr_rng_below(&r, a->n);
    for (size_t k = cr_rng_below(&r, MOST_CHANGES); k > 0; k--) {
        size_t next = number % 3 == 0 ? draw_neighbour(a, t, &r) : cr_rng_below(&r, a->n);
        number % 3 == 2 ? turn_arc(a, &r) : isolate(a, t);
        t = next;
    }
    return climb(a, false);
}

static cr_status run(search *a)
{
    cr_status st = CR_OK;
    size_t    climbs = 1 + a->o->restarts;
    bool      own_bar = cri_progress_open_steps(a->cx, "search of arcs");
    if (own_bar) cri_progress_stage(a->cx, 1 / (double)climbs);
    CR_TRY(climb(a, true));
    keep_best(a);
    if (a->o->tabu) CR_TRY(roam(a));
    for (size_t k = 1; k <= a->o->restarts && a->n > 1 && !cri_clock_over(&a->clock); k++) {
        double before = a->result->score;
        a->result->restarts++;
        if (own_bar) cri_progress_stage(a->cx, (double)(k + 1) / (double)climbs);
        CR_TRY(restart(a, k));
        if (keep_best(a)) CR_TRY(note_score(a, a->score));
        if (a->o->tabu) CR_TRY(roam(a));
        if (a->result->score > before)
            cr_log(a->cx, CR_LOG_INFO, "restart %zu: %.10g", k, a->result->score);
    }
    a->result->cut = cri_clock_over(&a->clock);
done:
    if (own_bar) cri_progress_close(a->cx);
    return st;
}

cr_status cri_search_dag(cr_scratch *s, cri_local_scores *scores, const cri_arc_rules *rules,
                         const cri_search_options *o, cri_search_result *out)
{
    cr_status         st = CR_OK;
    cr_scratch        own = cr_scratch_begin(s->cx);
    size_t            n = rules->n;
    cri_search_result r = { .dag = cri_dag_new(s, n), .score = -INFINITY };
    search a = { .cx = s->cx, .scores = scores, .rules = rules, .o = o, .result = &r, .n = n };
    a.words = rules->words;
    a.g = cri_dag_new(&own, n);
    a.local = cr_scratch_f64(&own, n);
    a.gain = cr_scratch_matrix(&own, n, n);
    a.of = cr_scratch_bytes(&own, n, a.words * sizeof *a.of);
    a.known = cr_scratch_bytes(&own, n, sizeof *a.known);
    a.arc = cr_scratch_bytes(&own, n, n * sizeof *a.arc);
    a.past = cr_scratch_bytes(&own, o->memory, sizeof *a.past);
    a.clock = cri_clock_start(s->cx, NAN);
    CR_TRY(s->status);
    CR_TRY(own.status);
    memcpy(a.g.parents, rules->start, n * a.words * sizeof *a.g.parents);
    cri_dag_close(&a.g, NULL);
    cri_dag_copy(&a.g, &r.dag);
    CR_TRY(run(&a));
    double *trace = cr_resize(s->cx, r.trace, a.trace_room, r.trace_size, sizeof *trace);
    if (!trace) CR_TRY(CR_ENOMEM);
    r.trace = trace;
    *out = r;
    r.trace = NULL;
done:
    if (r.trace) cr_free(s->cx, r.trace, a.trace_room, sizeof *r.trace);
    cr_scratch_end(&own);
    return st;
}
