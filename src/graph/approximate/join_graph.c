/* join_graph.c -- mini-buckets. */
#include "join_graph.h"
#include "graph/exact/elimination.h"
#include "base/scratch.h"
#include "base/context_internal.h"

#include <string.h>

void cri_join_graph_free(cr_ctx *cx, cri_join_graph *j)
{
    cr_cluster_graph_free(cx, &j->graph);
    cr_free(cx, j->home, j->tables, sizeof *j->home);
    *j = (cri_join_graph){ 0 };
}

/* --- lists that grow ------------------------------------------------------------------------- */

typedef struct list {
    size_t *at;
    size_t  n, capacity;
} list;

static cr_status push(cr_ctx *cx, list *l, size_t x)
{
    if (cri_array_grow(cx, &l->at, l->n, &l->capacity, sizeof *l->at) != CR_OK) return CR_ENOMEM;
    l->at[l->n++] = x;
    return CR_OK;
}

static void drop(cr_ctx *cx, list *l) { cr_free(cx, l->at, l->capacity, sizeof *l->at); }

/* The list at its exact length; empty afterwards. */
static cr_status take(cr_ctx *cx, list *l, size_t **out)
{
    *out = cr_alloc(cx, l->n, sizeof **out);
    if (!*out) return CR_ENOMEM;
    if (l->n > 0) memcpy(*out, l->at, l->n * sizeof **out);
    return CR_OK;
}

/* --- buckets --------------------------------------------------------------------------------- */

/* Scopes that wait: those of tables, then what clusters pass on. */
typedef struct work {
    cr_ctx           *cx;
    const cri_fgraph *g;
    const size_t     *place; /* [n] of a variable in the order */
    double            most;
    list              scope, scope_begin; /* of the items, sorted by variable */
    list              from, next;         /* the cluster it comes from (CR_NONE: a table); lists */
    size_t           *first;              /* [n] items of each bucket */
    list              member, begin, a, b, shared, shared_begin;
    size_t           *home;
    double            largest;
} work;

static cr_status add_item(work *w, const size_t *var, size_t n, size_t from)
{
    cr_status st = CR_OK;
    size_t    bucket = CR_NONE, item = w->from.n;
    for (size_t k = 0; k < n; k++) {
        CR_TRY(push(w->cx, &w->scope, var[k]));
        if (bucket == CR_NONE || w->place[var[k]] < bucket) bucket = w->place[var[k]];
    }
    CR_TRY(push(w->cx, &w->scope_begin, w->scope.n));
    CR_TRY(push(w->cx, &w->from, from));
    CR_TRY(push(w->cx, &w->next, w->first[bucket]));
    w->first[bucket] = item;
done:
    return st;
}

static size_t item_size(const work *w, size_t i)
{
    return w->scope_begin.at[i + 1] - w->scope_begin.at[i];
}

/* The union of a sorted scope with an item, and its entries. */
static size_t unite(const work *w, const size_t *var, size_t n, size_t item, size_t *out,
                    double *entries)
{
    const size_t *more = w->scope.at + w->scope_begin.at[item];
    size_t        m = item_size(w, item), i = 0, k = 0, used = 0;
    *entries = 1;
    while (i < n || k < m) {
        size_t v = k == m || (i < n && var[i] <= more[k]) ? var[i] : more[k];
        i += i < n && var[i] == v;
        k += k < m && more[k] == v;
        out[used++] = v;
        *entries *= (double)w->g->states[v];
    }
    return used;
}

/* An edge over the scope of the item, or over one variable. */
static cr_status add_edge(work *w, size_t a, size_t b, const size_t *var, size_t n)
{
    cr_status st = CR_OK;
    CR_TRY(push(w->cx, &w->a, a));
    CR_TRY(push(w->cx, &w->b, b));
    for (size_t k = 0; k < n; k++) CR_TRY(push(w->cx, &w->shared, var[k]));
    CR_TRY(push(w->cx, &w->shared_begin, w->shared.n));
done:
    return st;
}

/* Puts items [sorted, the largest first] into a cluster while they fit, and takes them out of the
 * list; *left: how many stay. */
static cr_status fill_cluster(work *w, size_t *item, size_t *left, size_t *var, size_t *workspace,
                              size_t *out_n)
{
    cr_status st = CR_OK;
    size_t    n = 0, stay = 0, cluster = w->begin.n - 1;
    double    entries = 1;
    for (size_t k = 0; k < *left; k++) {
        double more;
        size_t i = item[k], u = unite(w, var, n, i, workspace, &more);
        if (n > 0 && u > n && more > w->most) {
            item[stay++] = i;
            continue;
        }
        memcpy(var, workspace, u * sizeof *var);
        n = u;
        entries = more;
        if (w->from.at[i] == CR_NONE)
            w->home[i] = cluster;
        else
            CR_TRY(add_edge(w, w->from.at[i], cluster, w->scope.at + w->scope_begin.at[i],
                            item_size(w, i)));
    }
    *left = stay;
    *out_n = n;
    if (entries > w->largest) w->largest = entries;
done:
    return st;
}

/* The clusters of one variable. */
static cr_status split_bucket(work *w, size_t v, size_t *item, size_t *var, size_t *workspace)
{
    cr_status st = CR_OK;
    size_t    left = 0, before = CR_NONE;
    for (size_t i = w->first[w->place[v]]; i != CR_NONE; i = w->next.at[i]) {
        size_t at = left++;
        for (; at > 0 && item_size(w, item[at - 1]) < item_size(w, i); at--)
            item[at] = item[at - 1];
        item[at] = i;
    }
    do {
        size_t n = 0, cluster = w->begin.n - 1, m = 0;
        CR_TRY(fill_cluster(w, item, &left, var, workspace, &n));
        if (n == 0) var[n++] = v; /* no table has it */
        for (size_t k = 0; k < n; k++) CR_TRY(push(w->cx, &w->member, var[k]));
        CR_TRY(push(w->cx, &w->begin, w->member.n));
        if (before != CR_NONE) CR_TRY(add_edge(w, before, cluster, &v, 1));
        before = cluster;
        for (size_t k = 0; k < n; k++)
            if (var[k] != v) workspace[m++] = var[k];
        if (m > 0) CR_TRY(add_item(w, workspace, m, cluster));
    } while (left > 0);
done:
    return st;
}

static cr_status find_order(cr_ctx *cx, const cri_fgraph *g, cr_order *out)
{
    cr_graph  graph = { 0 };
    cr_status st = cri_problem_graph(cx, g->problem, &graph);
    if (st == CR_OK) st = cr_order_find(cx, &graph, g->states, NULL, CR_ELIMINATE_BEST, 0, out);
    cr_graph_free(cx, &graph);
    return st;
}

static cr_status gather(work *w, cri_join_graph *out)
{
    cr_status        st = CR_OK;
    cr_cluster_graph c = {
        .clusters = w->begin.n - 1, .members = w->member.n, .edges = w->a.n, .shared_n = w->shared.n
    };
    CR_TRY(take(w->cx, &w->begin, &c.begin));
    CR_TRY(take(w->cx, &w->member, &c.member));
    CR_TRY(take(w->cx, &w->a, &c.a));
    CR_TRY(take(w->cx, &w->b, &c.b));
    CR_TRY(take(w->cx, &w->shared_begin, &c.shared_begin));
    CR_TRY(take(w->cx, &w->shared, &c.shared));
    *out = (cri_join_graph){ c, w->home, w->g->m, (size_t)w->largest };
    w->home = NULL;
    c = (cr_cluster_graph){ 0 };
done:
    cr_cluster_graph_free(w->cx, &c);
    return st;
}

cr_status cri_join_graph_new(cr_ctx *cx, const cri_fgraph *g, size_t most, cri_join_graph *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_order   order = { 0 };
    size_t    *place = cr_scratch_index(&s, g->n), *var = cr_scratch_index(&s, g->n + 1);
    size_t    *workspace = cr_scratch_index(&s, g->n + 1), *item = NULL, items = 0;
    work       w = { .cx = cx, .g = g, .place = place, .most = (double)most, .largest = 1 };
    w.first = cr_scratch_index(&s, g->n);
    CR_TRY(s.status);
    w.home = cr_alloc(cx, g->m, sizeof *w.home);
    if (!w.home) CR_TRY(CR_ENOMEM);
    CR_TRY(find_order(cx, g, &order));
    for (size_t k = 0; k < g->n; k++) {
        place[order.order[k]] = k;
        w.first[k] = CR_NONE;
    }
    CR_TRY(push(cx, &w.scope_begin, 0));
    CR_TRY(push(cx, &w.begin, 0));
    CR_TRY(push(cx, &w.shared_begin, 0));
    for (size_t i = 0; i < g->m; i++) CR_TRY(add_item(&w, g->table[i].var, g->table[i].n, CR_NONE));
    for (size_t k = 0; k < g->n; k++) {
        CR_TRY(cr_check_interrupt(cx));
        if (w.from.n > items) { /* space for all that there are */
            items = 2 * w.from.n + g->n;
            item = cr_scratch_index(&s, items);
            CR_TRY(s.status);
        }
        CR_TRY(split_bucket(&w, order.order[k], item, var, workspace));
    }
    CR_TRY(gather(&w, out));
done:
    cr_free(cx, w.home, g->m, sizeof *w.home);
    list *all[] = { &w.scope, &w.scope_begin, &w.from, &w.next,   &w.member,
                    &w.begin, &w.a,           &w.b,    &w.shared, &w.shared_begin };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) drop(cx, all[k]);
    cr_order_free(cx, &order);
    cr_scratch_end(&s);
    return st;
}
