/* separation.c -- a walk along active trails.
 * A place is a node and how the trail came to it: from a child (UP) or from a parent (DOWN).  Each
 * place is visited once, so the walk is linear; who sent it there gives the trail. */
#include "separation.h"
#include "network_internal.h"
#include "base/scratch.h"

#include <string.h>

enum { UP, DOWN };

typedef struct trails {
    const cr_network *net;
    bool              bayes;
    cr_graph          next; /* children, or neighbours */
    const bool       *given;
    bool             *above; /* given, or has a given descendant */
    bool             *seen;  /* [2 variables] places */
    size_t           *from;  /* [2 variables] the place before */
    size_t           *queue; /* [2 variables] */
    size_t            waiting, done;
} trails;

static void go(trails *t, size_t v, int how, size_t from)
{
    size_t place = 2 * v + (size_t)how;
    if (t->seen[place]) return;
    t->seen[place] = true;
    t->from[place] = from;
    t->queue[t->waiting++] = place;
}

static void go_to_next(trails *t, size_t v, int how, size_t from)
{
    for (size_t i = t->next.begin[v]; i < t->next.begin[v + 1]; i++)
        go(t, t->next.to[i], how, from);
}

static void go_to_parents(trails *t, size_t v, size_t from)
{
    size_t        n;
    const size_t *parent = cr_network_parents(t->net, v, &n);
    for (size_t i = 0; i < n; i++) go(t, parent[i], UP, from);
}

/* Follows every active trail from x. */
static void follow(trails *t, size_t x)
{
    t->waiting = t->done = 0;
    go(t, x, UP, SIZE_MAX);
    while (t->done < t->waiting) {
        size_t place = t->queue[t->done++], v = place / 2;
        if (!t->bayes) {
            if (!t->given[v]) go_to_next(t, v, UP, place);
        } else if (place % 2 == UP) {
            if (t->given[v]) continue;
            go_to_parents(t, v, place);
            go_to_next(t, v, DOWN, place);
        } else {
            if (!t->given[v]) go_to_next(t, v, DOWN, place);
            if (t->above[v]) go_to_parents(t, v, place); /* a collider that is open */
        }
    }
}

static cr_status make_trails(cr_scratch *s, const cr_network *net, const bool *given, trails *t)
{
    cr_status st = CR_OK;
    size_t    n = cr_network_size(net);
    *t = (trails){ .net = net, .given = given };
    t->bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    t->above = cr_scratch_bytes(s, n, sizeof *t->above);
    t->seen = cr_scratch_bytes(s, 2 * n, sizeof *t->seen);
    t->from = cr_scratch_index(s, 2 * n);
    t->queue = cr_scratch_index(s, 2 * n);
    CR_TRY(s->status);
    if (n > 0) memcpy(t->above, given, n * sizeof *given);
    if (t->bayes) CR_TRY(cr_network_ancestors(s->cx, net, t->above));
    CR_TRY(t->bayes ? cr_network_children(s->cx, net, &t->next)
                    : cr_network_moral(s->cx, net, &t->next));
done:
    return st;
}

static cr_status check_variable(cr_ctx *cx, const cr_network *net, size_t v)
{
    if (v < cr_network_size(net)) return CR_OK;
    return cr_fail(cx, CR_EARG, "there is no variable %zu, only %zu of them", v,
                   cr_network_size(net));
}

cr_status cr_reachable(cr_ctx *cx, const cr_network *net, size_t x, const bool *given,
                       bool *out_mark)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    trails     t = { 0 };
    CR_TRY(check_variable(cx, net, x));
    CR_TRY(make_trails(&s, net, given, &t));
    follow(&t, x);
    for (size_t v = 0; v < cr_network_size(net); v++)
        out_mark[v] = (t.seen[2 * v] || t.seen[2 * v + 1]) && !given[v];
done:
    cr_graph_free(cx, &t.next);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_separated(cr_ctx *cx, const cr_network *net, size_t x, size_t y, const bool *given,
                       bool *out_separated, size_t *opt_trail, size_t *opt_length)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    trails     t = { 0 };
    CR_TRY(check_variable(cx, net, x));
    CR_TRY(check_variable(cx, net, y));
    CR_TRY(make_trails(&s, net, given, &t));
    follow(&t, x);
    size_t found = 0, length = 0;
    while (found < t.waiting && t.queue[found] / 2 != y)
        found++; /* the first is on a shortest trail */
    bool   reached = found < t.waiting && !given[y] && !given[x];
    size_t place = reached ? t.queue[found] : SIZE_MAX;
    *out_separated = !reached;
    if (reached && opt_trail) {
        size_t *back = t.queue; /* no longer needed */
        for (; place != SIZE_MAX; place = t.from[place])
            if (length == 0 || back[length - 1] != place / 2) back[length++] = place / 2;
        for (size_t i = 0; i < length && i < cr_network_size(net); i++)
            opt_trail[i] = back[length - 1 - i];
    }
    if (opt_length) *opt_length = length;
done:
    cr_graph_free(cx, &t.next);
    cr_scratch_end(&s);
    return st;
}

/* --- determined variables, I-maps ------------------------------------------------------------ */

/* Effects that are all certain make a function too. */
static bool is_certain(const cri_noisy *x)
{
    for (size_t row = 0; row < x->rows; row++) {
        bool one = false;
        for (size_t k = 0; k < x->levels; k++) one |= x->effect[row * x->levels + k] == 1;
        if (!one) return false;
    }
    return x->effect != NULL;
}

static bool is_deterministic(cr_table_view t, size_t states)
{
    for (size_t row = 0; t.value && row < t.size; row += states) {
        bool one = false;
        for (size_t s = 0; s < states; s++) one |= t.value[row + s] == 1;
        if (!one) return false;
    }
    return t.value != NULL;
}

cr_status cr_determined(cr_ctx *cx, const cr_network *net, bool *inout_given)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_network_size(net);
    size_t    *order = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    CR_TRY(cr_network_order(cx, net, order));
    for (size_t i = 0; i < n; i++) {
        size_t        v = order[i], parents;
        const size_t *parent = cr_network_parents(net, v, &parents);
        bool          all = true;
        for (size_t k = 0; k < parents; k++) all &= inout_given[parent[k]];
        if (all && (is_deterministic(cr_network_table(net, v), cr_network_states(net, v)) ||
                    is_certain(&net->table[v].noisy)))
            inout_given[v] = true;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Marks v and its descendants. */
static void mark_descendants(const cr_graph *children, size_t v, bool *mark, size_t *stack)
{
    size_t waiting = 0;
    mark[v] = true;
    stack[waiting++] = v;
    while (waiting > 0) {
        size_t u = stack[--waiting];
        for (size_t i = children->begin[u]; i < children->begin[u + 1]; i++) {
            if (mark[children->to[i]]) continue;
            mark[children->to[i]] = true;
            stack[waiting++] = children->to[i];
        }
    }
}

cr_status cr_is_i_map(cr_ctx *cx, const cr_network *map, const cr_network *net, bool *out_is,
                      size_t *opt_x, size_t *opt_y)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_graph   children = { 0 };
    size_t     n = cr_network_size(map), x = CR_NONE, y = CR_NONE;
    bool      *given = cr_scratch_bytes(&s, n, sizeof *given);
    bool      *below = cr_scratch_bytes(&s, n, sizeof *below);
    bool      *reached = cr_scratch_bytes(&s, n, sizeof *reached);
    size_t    *stack = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    if (n != cr_network_size(net))
        CR_TRY(cr_fail(cx, CR_EARG, "the networks have %zu and %zu variables", n,
                       cr_network_size(net)));
    CR_TRY(cr_network_children(cx, map, &children));
    for (size_t v = 0; v < n && x == CR_NONE; v++) {
        size_t        parents;
        const size_t *parent = cr_network_parents(map, v, &parents);
        memset(given, 0, n * sizeof *given);
        memset(below, 0, n * sizeof *below);
        for (size_t k = 0; k < parents; k++) given[parent[k]] = true;
        mark_descendants(&children, v, below, stack);
        CR_TRY(cr_reachable(cx, net, v, given, reached));
        for (size_t u = 0; u < n && x == CR_NONE; u++)
            if (reached[u] && !below[u]) x = v, y = u;
    }
    *out_is = x == CR_NONE;
    if (opt_x) *opt_x = x;
    if (opt_y) *opt_y = y;
done:
    cr_graph_free(cx, &children);
    cr_scratch_end(&s);
    return st;
}
