/* exact_astar.c -- the order graph, best sets first.
 * A node is a set W of variables with the best score g(W) found so far of a network of them; v may be
 * added with its best parents in W.  h(W) = sum over groups of the best that the variables of a group
 * not in W can add in any order among themselves, with all variables of other groups as parents, too:
 * a table of 2^size entries for each group.  h never underestimates and is consistent, so that a set
 * that leaves the queue has its best score.  Sets that cannot beat a known network are not kept. */
#include "exact.h"

#include <math.h>
#include <string.h>

enum { GROUP_SIZE = 14, FIRST_SETS = 256 };
#define NOT_WAITING UINT32_MAX

typedef struct node {
    uint64_t set;
    double   g, f;  /* best score so far; with h */
    uint32_t place; /* in the heap, or NOT_WAITING once it has left it */
    uint8_t  last;  /* the variable that came last */
} node;

typedef struct astar {
    const cri_parent_sets *p;
    size_t                 n, groups;
    uint64_t               all, group[CRI_MOST_SET_VARIABLES];
    double                *table[CRI_MOST_SET_VARIABLES]; /* of each group [2^size] */
    node                  *nodes;
    size_t                 used, capacity;
    uint32_t              *heap; /* [capacity] numbers of nodes, the largest f first */
    size_t                 waiting;
    uint32_t              *hash; /* [slots] number of a node + 1; 0: free */
    size_t                 slots;
    double                 known; /* only better networks are looked for */
} astar;

/* --- the bound ------------------------------------------------------------------------------- */

/* Members of set, which are some of `group`, as a number of as many bits. */
static size_t pack(uint64_t set, uint64_t group)
{
    size_t out = 0, bit = 0;
    for (uint64_t left = group; left; left &= left - 1, bit++)
        if (set & left & -left) out |= (size_t)1 << bit;
    return out;
}

static uint64_t unpack(size_t number, uint64_t group)
{
    uint64_t out = 0;
    for (uint64_t left = group; left; left &= left - 1, number >>= 1)
        if (number & 1) out |= left & -left;
    return out;
}

/* table[U] = max over v of U of s(v, best parents outside U) + table[U \ v]: v comes first of U. */
static void fill_table(const astar *a, uint64_t group, double *table)
{
    size_t sets = (size_t)1 << __builtin_popcountll(group);
    table[0] = 0;
    for (size_t u = 1; u < sets; u++) {
        uint64_t set = unpack(u, group);
        table[u] = -INFINITY;
        for (uint64_t left = set; left; left &= left - 1) {
            size_t                v = (size_t)__builtin_ctzll(left);
            const cri_parent_set *best = cri_parent_sets_best(a->p, v, a->all & ~set);
            if (!best) continue;
            double score = best->score + table[u & ~pack(UINT64_C(1) << v, group)];
            if (score > table[u]) table[u] = score;
        }
    }
}

/* What v loses when u may not be its parent: how much they want to be together. */
static double pull(const astar *a, size_t u, size_t v)
{
    const cri_parent_set *with = &a->p->list[v][0];
    const cri_parent_set *rest = cri_parent_sets_best(a->p, v, a->all & ~(UINT64_C(1) << u));
    return rest ? with->score - rest->score : 1e300;
}

/* Groups by the strongest pulls between two members, of at most GROUP_SIZE. */
static void make_groups(astar *a, double *strength)
{
    size_t   n = a->n;
    uint64_t of[CRI_MOST_SET_VARIABLES];
    for (size_t v = 0; v < n; v++) of[v] = UINT64_C(1) << v;
    for (size_t u = 0; u < n; u++)
        for (size_t v = 0; v < n; v++)
            strength[u * n + v] = u == v ? -1 : fmin(pull(a, u, v), pull(a, v, u));
    for (;;) {
        double best = -1;
        size_t x = 0, y = 0;
        for (size_t u = 0; u < n; u++)
            for (size_t v = 0; v < u; v++) {
                if (of[u] & of[v] || __builtin_popcountll(of[u] | of[v]) > GROUP_SIZE) continue;
                if (strength[u * n + v] > best) best = strength[u * n + v], x = u, y = v;
            }
        if (best < 0) break;
        uint64_t both = of[x] | of[y];
        for (uint64_t left = both; left; left &= left - 1) of[__builtin_ctzll(left)] = both;
    }
    for (size_t v = 0; v < n; v++)
        if ((of[v] & ((UINT64_C(1) << v) - 1)) == 0) a->group[a->groups++] = of[v];
}

static double rest_bound(const astar *a, uint64_t set)
{
    double h = 0;
    for (size_t i = 0; i < a->groups; i++) h += a->table[i][pack(a->group[i] & ~set, a->group[i])];
    return h;
}

/* --- the queue ------------------------------------------------------------------------------- */

/* Ties: the larger set first, so that complete networks come soon. */
static bool comes_before(const astar *a, uint32_t x, uint32_t y)
{
    const node *p = &a->nodes[x], *q = &a->nodes[y];
    if (p->f != q->f) return p->f > q->f;
    return __builtin_popcountll(p->set) > __builtin_popcountll(q->set);
}

static void put(astar *a, size_t at, uint32_t number)
{
    a->heap[at] = number;
    a->nodes[number].place = (uint32_t)at;
}

static void rise(astar *a, size_t at)
{
    uint32_t number = a->heap[at];
    for (; at > 0 && comes_before(a, number, a->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(a, at, a->heap[(at - 1) / 2]);
    put(a, at, number);
}

static uint32_t pop(astar *a)
{
    uint32_t top = a->heap[0], number = a->heap[--a->waiting];
    size_t   at = 0;
    for (size_t k; (k = 2 * at + 1) < a->waiting; at = k) {
        if (k + 1 < a->waiting && comes_before(a, a->heap[k + 1], a->heap[k])) k++;
        if (!comes_before(a, a->heap[k], number)) break;
        put(a, at, a->heap[k]);
    }
    if (a->waiting > 0) put(a, at, number);
    a->nodes[top].place = NOT_WAITING;
    return top;
}

/* --- sets ------------------------------------------------------------------------------------ */

static size_t slot_of(const astar *a, uint64_t set)
{
    uint64_t h = (set ^ set >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    size_t   at = (size_t)(h ^ h >> 32) & (a->slots - 1);
    while (a->hash[at] && a->nodes[a->hash[at] - 1].set != set) at = (at + 1) & (a->slots - 1);
    return at;
}

static void free_nodes(cr_ctx *cx, astar *a)
{
    cr_free(cx, a->nodes, a->capacity, sizeof *a->nodes);
    cr_free(cx, a->heap, a->capacity, sizeof *a->heap);
    cr_free(cx, a->hash, a->slots, sizeof *a->hash);
}

/* Twice as many nodes; false where memory does not allow it. */
static bool grow(cr_ctx *cx, astar *a, size_t most)
{
    astar  b = *a;
    size_t more = a->capacity ? 2 * a->capacity : FIRST_SETS;
    if (more > most || more >= UINT32_MAX / 4) return false;
    if ((sizeof(node) + 12) * more > cri_memory_left(cx)) return false;
    b.capacity = more, b.slots = 2 * more;
    b.nodes = cri_resize_quietly(cx, NULL, 0, more, sizeof *b.nodes);
    b.heap = b.nodes ? cri_resize_quietly(cx, NULL, 0, more, sizeof *b.heap) : NULL;
    b.hash = b.heap ? cri_resize_quietly(cx, NULL, 0, b.slots, sizeof *b.hash) : NULL;
    if (!b.hash) {
        free_nodes(cx, &b);
        return false;
    }
    if (a->used > 0) memcpy(b.nodes, a->nodes, a->used * sizeof *b.nodes);
    if (a->waiting > 0) memcpy(b.heap, a->heap, a->waiting * sizeof *b.heap);
    memset(b.hash, 0, b.slots * sizeof *b.hash);
    for (size_t i = 0; i < b.used; i++) b.hash[slot_of(&b, b.nodes[i].set)] = (uint32_t)(i + 1);
    free_nodes(cx, a);
    *a = b;
    return true;
}

/* W with this score: new, better than known, or of no use.  false when there is no memory for it. */
static bool reach(cr_ctx *cx, astar *a, size_t most, uint64_t set, double g, size_t last)
{
    size_t at = slot_of(a, set);
    double f;
    if (a->hash[at]) {
        node *x = &a->nodes[a->hash[at] - 1];
        if (g <= x->g || x->place == NOT_WAITING) return true;
        x->f += g - x->g;
        x->g = g, x->last = (uint8_t)last;
        rise(a, x->place);
        return true;
    }
    f = g + rest_bound(a, set);
    if (!(f > a->known)) return true;
    if (a->used == a->capacity) {
        if (!grow(cx, a, most)) return false;
        at = slot_of(a, set);
    }
    a->nodes[a->used] = (node){ set, g, f, 0, (uint8_t)last };
    a->hash[at] = (uint32_t)(a->used + 1);
    put(a, a->waiting, (uint32_t)a->used);
    a->used++;
    rise(a, a->waiting++);
    return true;
}

/* --- the search ------------------------------------------------------------------------------ */

/* The network that led to a complete set. */
static void read_back(const astar *a, uint32_t number, uint64_t *out_parents)
{
    for (const node *x = &a->nodes[number]; x->set;) {
        uint64_t              rest = x->set & ~(UINT64_C(1) << x->last);
        const cri_parent_set *best = cri_parent_sets_best(a->p, x->last, rest);
        out_parents[x->last] = best->set;
        x = &a->nodes[a->hash[slot_of(a, rest)] - 1];
    }
}

static cr_status follow(cr_ctx *cx, astar *a, const cri_exact_options *o, size_t most,
                        uint64_t *out_parents, bool *out_found, cri_exact_report *report)
{
    if (!grow(cx, a, SIZE_MAX)) return cri_fail_memory(cx, FIRST_SETS * (sizeof(node) + 12));
    bool room = reach(cx, a, most, 0, 0, 0);
    report->bound = a->used > 0 ? a->nodes[0].f : a->known;
    report->proven = a->used == 0; /* nothing beats the known network */
    for (size_t step = 0; room && a->waiting > 0; step++) {
        uint32_t top = pop(a);
        uint64_t set = a->nodes[top].set;
        double   g = a->nodes[top].g;
        report->bound = fmin(report->bound, a->nodes[top].f);
        if (set == a->all) {
            read_back(a, top, out_parents);
            *out_found = report->proven = true;
            report->score = report->bound = g;
            break;
        }
        for (uint64_t left = a->all & ~set; left && room; left &= left - 1) {
            size_t                v = (size_t)__builtin_ctzll(left);
            const cri_parent_set *best = cri_parent_sets_best(a->p, v, set);
            if (best) room = reach(cx, a, most, set | (left & -left), g + best->score, v);
        }
        if (step % 256 == 0) {
            cr_status st = cr_check_interrupt(cx);
            if (st != CR_OK) return st;
            if (o->opt_clock && cri_clock_over(o->opt_clock)) break;
            cr_progress(cx, "sets of variables", (double)a->used, 0);
        }
        if (room && a->waiting == 0) report->proven = true; /* nothing beats the known network */
    }
    if (report->proven && !*out_found) report->bound = a->known;
    report->sets = (double)a->used;
    return CR_OK;
}

cr_status cri_exact_astar(cr_ctx *cx, const cri_parent_sets *p, const cri_exact_options *o,
                          double known, uint64_t *out_parents, bool *out_found,
                          cri_exact_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    astar     *a = cr_scratch_bytes(&s, 1, sizeof *a);
    size_t     most = o->most_sets ? o->most_sets : SIZE_MAX;
    double    *strength = cr_scratch_matrix(&s, p->n, p->n);
    CR_TRY(s.status);
    a->p = p, a->n = p->n, a->known = known;
    a->all = p->n == 64 ? UINT64_MAX : (UINT64_C(1) << p->n) - 1;
    report->method = CRI_EXACT_ASTAR;
    report->score = known;
    *out_found = false;
    make_groups(a, strength);
    for (size_t i = 0; i < a->groups; i++) {
        a->table[i] = cr_scratch_f64(&s, (size_t)1 << __builtin_popcountll(a->group[i]));
        CR_TRY(s.status);
        fill_table(a, a->group[i], a->table[i]);
        CR_TRY(cr_check_interrupt(cx));
    }
    CR_TRY(follow(cx, a, o, most, out_parents, out_found, report));
done:
    if (a) free_nodes(cx, a);
    cr_scratch_end(&s);
    return st;
}
