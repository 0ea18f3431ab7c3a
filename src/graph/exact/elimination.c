/* elimination.c -- elimination on lists of neighbours that grow, with scores kept up to date.
 * fill[v] is the weight of the pairs of v's neighbours that are not joined.  An edge (a, b) more
 * takes the pair from all common neighbours, and gives a the pairs of b with those neighbours of a
 * that b does not have, and b likewise.  A tournament finds the smallest score in O(log n). */
#include "elimination.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* The search may take as many operations as the work it wants to save, up to here. */
static const double MOST_WORK = 3e7;

typedef struct list {
    size_t *to;
    size_t  n, capacity;
} list;

typedef struct score {
    double first, second; /* by these, the second breaking ties; then `random`, then the number */
} score;

typedef struct eliminator {
    cr_ctx        *cx;
    size_t         n;
    const size_t  *states, *group;
    cr_elimination method;
    list          *near;                       /* [n] neighbours that are left, in no order */
    double        *logs;                       /* [n] log of the states */
    double        *fill;                       /* [n] weighted pairs that are missing */
    double        *missing;                    /* [n] pairs that are missing, by number */
    double        *weight;                     /* [n] log of the states of the clique v makes */
    double        *fill0, *missing0, *weight0; /* [n] the same at the start */
    double        *key;                        /* [n] random, for ties */
    size_t        *mark;                       /* [n] stamps */
    size_t         stamp;
    size_t        *winner;      /* [2 leaves] tournament; CR_NONE: nobody */
    size_t         leaves, now; /* now: the group whose turn it is */
    bool          *gone;
    bool           fills; /* the heuristic needs fill */
    double         work;  /* operations so far */
} eliminator;

void cr_order_free(cr_ctx *cx, cr_order *o)
{
    cr_free(cx, o->order, o->n, sizeof *o->order);
    *o = (cr_order){ 0 };
}

/* --- scores ---------------------------------------------------------------------------------- */

static score score_of(const eliminator *e, size_t v)
{
    switch (e->method) {
    case CR_ELIMINATE_MIN_FILL:
        return (score){ e->missing[v], e->weight[v] };
    case CR_ELIMINATE_WEIGHTED_MIN_FILL:
        return (score){ e->fill[v], e->weight[v] };
    case CR_ELIMINATE_MIN_WEIGHT:
        return (score){ e->missing[v] == 0 ? -1 : e->weight[v], e->missing[v] };
    case CR_ELIMINATE_MIN_NEIGHBOURS:
        return (score){ (double)e->near[v].n, e->weight[v] };
    case CR_ELIMINATE_REVERSED_FILE_ORDER:
        return (score){ -(double)v, 0 };
    default:
        return (score){ (double)v, 0 };
    }
}

static size_t better(const eliminator *e, size_t a, size_t b)
{
    if (a == CR_NONE || b == CR_NONE) return a == CR_NONE ? b : a;
    score  x = score_of(e, a), y = score_of(e, b);
    double near = 1e-9 * (1 + fabs(x.first));
    if (fabs(x.first - y.first) > near) return x.first < y.first ? a : b;
    if (fabs(x.second - y.second) > 1e-9) return x.second < y.second ? a : b;
    if (e->key[a] != e->key[b]) return e->key[a] < e->key[b] ? a : b;
    return a < b ? a : b;
}

static void replay(eliminator *e, size_t v)
{
    size_t i = e->leaves + v;
    e->winner[i] = e->gone[v] || (e->group && e->group[v] != e->now) ? CR_NONE : v;
    for (i /= 2; i >= 1; i /= 2) e->winner[i] = better(e, e->winner[2 * i], e->winner[2 * i + 1]);
    e->work += 30;
}

static void replay_all(eliminator *e)
{
    for (size_t i = 0; i < e->leaves; i++) {
        bool out = i >= e->n || e->gone[i] || (e->group && e->group[i] != e->now);
        e->winner[e->leaves + i] = out ? CR_NONE : i;
    }
    for (size_t i = e->leaves; i-- > 1;)
        e->winner[i] = better(e, e->winner[2 * i], e->winner[2 * i + 1]);
}

/* --- edges ----------------------------------------------------------------------------------- */

static bool append(eliminator *e, list *l, size_t v)
{
    if (l->n == l->capacity) {
        size_t  more = l->capacity ? 2 * l->capacity : 8;
        size_t *to = cr_resize(e->cx, l->to, l->capacity, more, sizeof *to);
        if (!to) return false;
        l->to = to;
        l->capacity = more;
    }
    l->to[l->n++] = v;
    return true;
}

static double pair_weight(const eliminator *e, size_t a, size_t b)
{
    return (double)e->states[a] * (double)e->states[b];
}

/* Marks the neighbours of v with a new stamp, which it returns. */
static size_t mark_near(eliminator *e, size_t v)
{
    size_t stamp = ++e->stamp;
    for (size_t i = 0; i < e->near[v].n; i++) e->mark[e->near[v].to[i]] = stamp;
    e->work += (double)e->near[v].n;
    return stamp;
}

/* v gets the pairs of its new neighbour u with those that the stamp (u's neighbours) does not have.
 */
static void gain_pairs(eliminator *e, size_t v, size_t u, size_t stamp, double sign)
{
    for (size_t i = 0; i < e->near[v].n; i++) {
        size_t x = e->near[v].to[i];
        if (x == u || e->mark[x] == stamp) continue;
        e->fill[v] += sign * pair_weight(e, u, x);
        e->missing[v] += sign;
    }
    e->work += (double)e->near[v].n;
}

static bool add_edge(eliminator *e, size_t a, size_t b)
{
    if (e->fills) {
        size_t stamp = mark_near(e, b);
        for (size_t i = 0; i < e->near[a].n; i++) {
            size_t w = e->near[a].to[i];
            if (e->mark[w] != stamp) continue;
            e->fill[w] -= pair_weight(e, a, b);
            e->missing[w] -= 1;
            replay(e, w);
        }
        gain_pairs(e, a, b, stamp, 1);
        gain_pairs(e, b, a, mark_near(e, a), 1);
    }
    e->weight[a] += e->logs[b];
    e->weight[b] += e->logs[a];
    return append(e, &e->near[a], b) && append(e, &e->near[b], a);
}

static void drop(list *l, size_t v)
{
    size_t i = 0;
    while (l->to[i] != v) i++;
    l->to[i] = l->to[--l->n];
}

static bool join_neighbours(eliminator *e, size_t v)
{
    list *l = &e->near[v];
    for (size_t i = 0; i < l->n; i++) {
        if (i % 8 == 7 && cri_should_stop(e->cx))
            return false; /* hundreds of neighbours take long */
        size_t a = l->to[i];
        size_t stamp = mark_near(e, a);
        e->work += (double)(l->n - i);
        for (size_t k = i + 1; k < l->n; k++) {
            size_t b = l->to[k];
            if (e->mark[b] == stamp) continue;
            if (!add_edge(e, a, b)) return false;
            if (e->fills) stamp = mark_near(e, a); /* add_edge used the marks */
        }
    }
    return true;
}

/* Eliminates v; its neighbours stay in near[v].  false: out of memory, or to be stopped. */
static bool eliminate(eliminator *e, size_t v)
{
    if (e->missing[v] > 0 || !e->fills)
        if (!join_neighbours(e, v)) return false;
    list  *l = &e->near[v];
    size_t stamp = e->fills ? mark_near(e, v) : 0;
    e->gone[v] = true;
    for (size_t i = 0; i < l->n; i++) {
        size_t u = l->to[i];
        if (e->fills) gain_pairs(e, u, v, stamp, -1);
        drop(&e->near[u], v);
        e->weight[u] -= e->logs[v];
    }
    for (size_t i = 0; i < l->n; i++) replay(e, l->to[i]);
    replay(e, v);
    return true;
}

/* --- a try ----------------------------------------------------------------------------------- */

/* The scores of the graph as it is given; every try starts from them. */
static void score_graph(eliminator *e, const cr_graph *g)
{
    for (size_t v = 0; v < e->n; v++) {
        e->fill0[v] = e->missing0[v] = 0;
        e->weight0[v] = e->logs[v];
        for (size_t i = g->begin[v]; i < g->begin[v + 1]; i++) {
            size_t u = g->to[i], stamp = ++e->stamp;
            e->weight0[v] += e->logs[u];
            for (size_t k = g->begin[u]; k < g->begin[u + 1]; k++) e->mark[g->to[k]] = stamp;
            for (size_t k = g->begin[v]; k < i; k++) {
                if (e->mark[g->to[k]] == stamp) continue;
                e->fill0[v] += pair_weight(e, u, g->to[k]);
                e->missing0[v] += 1;
            }
        }
    }
}

static bool copy_graph(eliminator *e, const cr_graph *g)
{
    for (size_t v = 0; v < e->n; v++) {
        e->near[v].n = 0;
        for (size_t i = g->begin[v]; i < g->begin[v + 1]; i++)
            if (!append(e, &e->near[v], g->to[i])) return false;
        e->gone[v] = false;
        e->fill[v] = e->fill0[v];
        e->missing[v] = e->missing0[v];
        e->weight[v] = e->weight0[v];
    }
    e->work += (double)(e->n + g->ends);
    return true;
}

/* Runs one heuristic, or a given order; stops when it is dearer than `bound`. */
static cr_status try_order(eliminator *e, const cr_graph *g, const size_t *opt_given, double bound,
                           cr_order *o)
{
    e->now = 0;
    e->fills = !opt_given &&
               (e->method == CR_ELIMINATE_MIN_FILL || e->method == CR_ELIMINATE_WEIGHTED_MIN_FILL ||
                e->method == CR_ELIMINATE_MIN_WEIGHT);
    if (!copy_graph(e, g)) return CR_ENOMEM;
    replay_all(e);
    o->states = o->peak = 0;
    o->width = 0;
    for (size_t i = 0; i < e->n; i++) {
        while (!opt_given && e->winner[1] == CR_NONE) {
            e->now++;
            replay_all(e);
        }
        size_t v = opt_given ? opt_given[i] : e->winner[1];
        double clique = exp(e->weight[v]);
        o->order[i] = v;
        o->states += clique;
        if (clique > o->peak) o->peak = clique;
        if (e->near[v].n > o->width) o->width = e->near[v].n;
        if (o->states > bound) break;
        bool      done = eliminate(e, v);
        cr_status st = cr_check_interrupt(e->cx);
        if (st != CR_OK) return st;
        if (!done) return CR_ENOMEM;
    }
    return CR_OK;
}

static cr_status make_eliminator(cr_scratch *s, const cr_graph *g, const size_t *states,
                                 const size_t *opt_group, eliminator *e)
{
    size_t n = g->n, leaves = 1;
    while (leaves < n) leaves *= 2;
    *e =
        (eliminator){ .cx = s->cx, .n = n, .states = states, .group = opt_group, .leaves = leaves };
    e->near = cr_scratch_bytes(s, n, sizeof *e->near);
    e->logs = cr_scratch_f64(s, n);
    e->fill = cr_scratch_f64(s, n);
    e->missing = cr_scratch_f64(s, n);
    e->weight = cr_scratch_f64(s, n);
    e->fill0 = cr_scratch_f64(s, n);
    e->missing0 = cr_scratch_f64(s, n);
    e->weight0 = cr_scratch_f64(s, n);
    e->key = cr_scratch_bytes(s, n, sizeof *e->key);
    e->mark = cr_scratch_bytes(s, n, sizeof *e->mark);
    e->winner = cr_scratch_index(s, 2 * leaves);
    e->gone = cr_scratch_bytes(s, n, sizeof *e->gone);
    for (size_t v = 0; s->status == CR_OK && v < n; v++) e->logs[v] = log((double)states[v]);
    if (s->status == CR_OK) score_graph(e, g);
    return s->status;
}

static void free_lists(eliminator *e)
{
    for (size_t v = 0; e->near && v < e->n; v++)
        cr_free(e->cx, e->near[v].to, e->near[v].capacity, sizeof(size_t));
}

static void keep_better(cr_order *best, const cr_order *o, cr_elimination method)
{
    if (best->tries++ > 0 && o->states >= best->states) return;
    size_t *order = best->order, tries = best->tries;
    if (o->n > 0) memcpy(order, o->order, o->n * sizeof *order);
    *best = *o;
    best->order = order;
    best->tries = tries;
    best->method = method;
}

/* Random ties, for the two heuristics that did best, while it pays. */
static cr_status try_random(eliminator *e, const cr_graph *g, const cr_elimination *methods,
                            double budget, cr_order *o, cr_order *best)
{
    cr_rng r = cr_rng_stream(0, 0);
    for (size_t i = 0, idle = 0; i < 100 && idle < 20 && e->work < budget; i++, idle++) {
        e->method = methods[i % 2];
        for (size_t v = 0; v < e->n; v++) e->key[v] = cr_rng_uniform(&r);
        cr_status st = try_order(e, g, NULL, best->states, o);
        if (st != CR_OK) return st;
        if (o->states < best->states) idle = 0;
        keep_better(best, o, e->method);
    }
    return CR_OK;
}

static cr_status try_all(eliminator *e, const cr_graph *g, double effort, cr_order *o,
                         cr_order *best)
{
    static const cr_elimination METHODS[] = {
        CR_ELIMINATE_MIN_FILL,   CR_ELIMINATE_WEIGHTED_MIN_FILL,
        CR_ELIMINATE_MIN_WEIGHT, CR_ELIMINATE_MIN_NEIGHBOURS,
        CR_ELIMINATE_FILE_ORDER, CR_ELIMINATE_REVERSED_FILE_ORDER
    };
    cr_elimination two[2] = { CR_ELIMINATE_MIN_FILL, CR_ELIMINATE_WEIGHTED_MIN_FILL };
    double         cost[2] = { INFINITY, INFINITY };
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++) {
        e->method = METHODS[i];
        cr_status st = try_order(e, g, NULL, 4 * best->states, o); /* dearer ones are cut off */
        if (st != CR_OK) return st;
        if (o->states < cost[0]) {
            cost[1] = cost[0], two[1] = two[0];
            cost[0] = o->states, two[0] = METHODS[i];
        } else if (o->states < cost[1]) {
            cost[1] = o->states, two[1] = METHODS[i];
        }
        keep_better(best, o, METHODS[i]);
    }
    double worth = best->states < MOST_WORK ? best->states : MOST_WORK;
    double budget = e->work + effort * worth / 2;
    return try_random(e, g, two, effort > 0 ? budget : 0, o, best);
}

cr_status cr_order_find(cr_ctx *cx, const cr_graph *g, const size_t *states,
                        const size_t *opt_group, cr_elimination method, double effort,
                        cr_order *out_o)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    eliminator e = { 0 };
    cr_order   o = { .n = g->n }, best = { .n = g->n, .states = INFINITY };
    size_t     before = cr_ctx_memory(cx);
    best.order = cr_resize(cx, NULL, 0, g->n, sizeof *best.order);
    o.order = cr_scratch_index(&s, g->n);
    if (!best.order) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    CR_TRY(make_eliminator(&s, g, states, opt_group, &e));
    if (method == CR_ELIMINATE_BEST) {
        CR_TRY(try_all(&e, g, effort, &o, &best));
    } else {
        e.method = method;
        CR_TRY(try_order(&e, g, NULL, INFINITY, &o));
        keep_better(&best, &o, method);
    }
    *out_o = best;
    out_o->bytes = (double)cr_ctx_memory(cx) - (double)before; /* nothing was given back */
    best.order = NULL;
done:
    free_lists(&e);
    cr_free(cx, best.order, g->n, sizeof *best.order);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_order_glance(cr_ctx *cx, const cr_graph *g, const size_t *states,
                           const size_t *opt_group, double bound, double *out_states,
                           size_t *out_width)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    eliminator e = { 0 };
    cr_order   o = { .n = g->n, .order = cr_scratch_index(&s, g->n) };
    CR_TRY(s.status);
    CR_TRY(make_eliminator(&s, g, states, opt_group, &e));
    e.method = CR_ELIMINATE_MIN_FILL;
    CR_TRY(try_order(&e, g, NULL, bound, &o));
    *out_states = o.states;
    *out_width = o.width;
done:
    free_lists(&e);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_order_cost(cr_ctx *cx, const cr_graph *g, const size_t *states, const size_t *order,
                        cr_order *out_o)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    eliminator e = { 0 };
    cr_order   o = { .n = g->n, .tries = 1, .method = CR_ELIMINATE_FILE_ORDER };
    o.order = cr_resize(cx, NULL, 0, g->n, sizeof *o.order);
    if (!o.order) CR_TRY(CR_ENOMEM);
    CR_TRY(make_eliminator(&s, g, states, NULL, &e));
    CR_TRY(try_order(&e, g, order, INFINITY, &o));
    *out_o = o;
    o.order = NULL;
done:
    free_lists(&e);
    cr_free(cx, o.order, g->n, sizeof *o.order);
    cr_scratch_end(&s);
    return st;
}
