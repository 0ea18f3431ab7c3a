/* chordal.c -- maximum cardinality search; clusters from cliques and from tables. */
#include "chordal.h"
#include "elimination_tree.h"
#include "base/scratch.h"

#include <string.h>

/* --- maximum cardinality search -------------------------------------------------------------- */

/* Vertices by how many visited neighbours they have: lists linked both ways. */
typedef struct levels {
    size_t *first, *next, *before, *count;
} levels;

static void unlink_vertex(levels *l, size_t v)
{
    if (l->before[v] != CR_NONE)
        l->next[l->before[v]] = l->next[v];
    else
        l->first[l->count[v]] = l->next[v];
    if (l->next[v] != CR_NONE) l->before[l->next[v]] = l->before[v];
}

static void link_vertex(levels *l, size_t v)
{
    size_t at = l->count[v];
    l->before[v] = CR_NONE;
    l->next[v] = l->first[at];
    if (l->first[at] != CR_NONE) l->before[l->first[at]] = v;
    l->first[at] = v;
}

static void search(const cr_graph *g, levels *l, bool *visited, size_t *order)
{
    size_t top = 0;
    for (size_t v = 0; v <= g->n; v++) l->first[v] = CR_NONE;
    for (size_t v = g->n; v-- > 0;) {
        l->count[v] = 0;
        link_vertex(l, v);
    }
    for (size_t i = g->n; i-- > 0;) { /* visited first: eliminated last */
        while (l->first[top] == CR_NONE) top--;
        size_t v = order[i] = l->first[top];
        unlink_vertex(l, v);
        visited[v] = true;
        for (size_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
            size_t u = g->to[k];
            if (visited[u]) continue;
            unlink_vertex(l, u);
            l->count[u]++;
            link_vertex(l, u);
        }
        if (top + 1 <= g->n) top++;
    }
}

cr_status cr_graph_chordal(cr_ctx *cx, const cr_graph *g, bool *out_chordal, size_t *opt_order)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    cri_elimination_tree f = { 0 };
    levels               l = { cr_scratch_index(&s, g->n + 1), cr_scratch_index(&s, g->n),
                               cr_scratch_index(&s, g->n), cr_scratch_index(&s, g->n) };
    bool                *visited = cr_scratch_bytes(&s, g->n, sizeof *visited);
    size_t              *order = cr_scratch_index(&s, g->n);
    CR_TRY(s.status);
    search(g, &l, visited, order);
    CR_TRY(cri_elimination_tree_new(cx, g, order, &f));
    *out_chordal = 2 * f.ends == g->ends; /* elimination added no edge */
    if (opt_order && g->n > 0) memcpy(opt_order, order, g->n * sizeof *order);
done:
    cri_elimination_tree_free(cx, &f);
    cr_scratch_end(&s);
    return st;
}

/* --- cluster graphs -------------------------------------------------------------------------- */

void cr_cluster_graph_free(cr_ctx *cx, cr_cluster_graph *g)
{
    cr_free(cx, g->begin, g->clusters + 1, sizeof *g->begin);
    cr_free(cx, g->member, g->members, sizeof *g->member);
    cr_free(cx, g->a, g->edges, sizeof *g->a);
    cr_free(cx, g->b, g->edges, sizeof *g->b);
    cr_free(cx, g->shared_begin, g->edges + 1, sizeof *g->shared_begin);
    cr_free(cx, g->shared, g->shared_n, sizeof *g->shared);
    *g = (cr_cluster_graph){ 0 };
}

static cr_status allocate(cr_ctx *cx, size_t clusters, size_t members, size_t edges, size_t shared,
                          cr_cluster_graph *out)
{
    cr_cluster_graph g = {
        .clusters = clusters, .members = members, .edges = edges, .shared_n = shared
    };
    g.begin = cr_alloc(cx, clusters + 1, sizeof *g.begin);
    g.member = g.begin ? cr_alloc(cx, members, sizeof *g.member) : NULL;
    g.a = g.member ? cr_alloc(cx, edges, sizeof *g.a) : NULL;
    g.b = g.a ? cr_alloc(cx, edges, sizeof *g.b) : NULL;
    g.shared_begin = g.b ? cr_alloc(cx, edges + 1, sizeof *g.shared_begin) : NULL;
    g.shared = g.shared_begin ? cr_alloc(cx, shared, sizeof *g.shared) : NULL;
    if (!g.shared) {
        cr_cluster_graph_free(cx, &g);
        return CR_ENOMEM;
    }
    *out = g;
    return CR_OK;
}

static void sort_members(size_t *list, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        size_t v = list[i], k = i;
        for (; k > 0 && list[k - 1] > v; k--) list[k] = list[k - 1];
        list[k] = v;
    }
}

/* home[i]: the maximal clique that holds {i} + later(i); cliques are numbered by their first
 * vertex, which `first` gets.  {i} + later(i) is maximal unless a child's later() is the whole of
 * it. */
static size_t find_maximal(const cri_elimination_tree *f, size_t *home, size_t *first)
{
    size_t cliques = 0;
    for (size_t i = 0; i < f->n; i++) home[i] = CR_NONE;
    for (size_t i = 0; i < f->n; i++) {
        if (home[i] == CR_NONE) {
            first[cliques] = i;
            home[i] = cliques++;
        }
        size_t p = f->parent[i];
        if (p != CR_NONE && home[p] == CR_NONE &&
            f->begin[i + 1] - f->begin[i] == 1 + f->begin[p + 1] - f->begin[p])
            home[p] = home[i];
    }
    return cliques;
}

cr_status cr_clique_tree(cr_ctx *cx, const cr_graph *g, const size_t *order,
                         cr_cluster_graph *out_g)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    cri_elimination_tree f = { 0 };
    size_t              *home = cr_scratch_index(&s, g->n), *first = cr_scratch_index(&s, g->n);
    size_t               members = 0, edges = 0, shared = 0;
    CR_TRY(s.status);
    CR_TRY(cri_elimination_tree_new(cx, g, order, &f));
    size_t cliques = find_maximal(&f, home, first);
    for (size_t c = 0; c < cliques; c++) members += 1 + f.begin[first[c] + 1] - f.begin[first[c]];
    for (size_t i = 0; i < f.n; i++) {
        bool leaves = f.parent[i] != CR_NONE && home[f.parent[i]] != home[i];
        edges += leaves;
        shared += leaves ? f.begin[i + 1] - f.begin[i] : 0;
    }
    CR_TRY(allocate(cx, cliques, members, edges, shared, out_g));
    for (size_t c = 0, at = 0; c < cliques; c++) {
        size_t i = first[c], start = at;
        out_g->member[at++] = order[i];
        for (size_t k = f.begin[i]; k < f.begin[i + 1]; k++)
            out_g->member[at++] = order[f.later[k]];
        sort_members(out_g->member + start, at - start);
        out_g->begin[c + 1] = at;
    }
    for (size_t i = 0, e = 0, at = 0; i < f.n; i++) {
        if (f.parent[i] == CR_NONE || home[f.parent[i]] == home[i]) continue;
        size_t start = at;
        out_g->a[e] = home[i];
        out_g->b[e] = home[f.parent[i]];
        for (size_t k = f.begin[i]; k < f.begin[i + 1]; k++)
            out_g->shared[at++] = order[f.later[k]];
        sort_members(out_g->shared + start, at - start);
        out_g->shared_begin[++e] = at;
    }
done:
    cri_elimination_tree_free(cx, &f);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_bethe_graph(cr_ctx *cx, const cr_network *net, cr_cluster_graph *out_g)
{
    size_t tables = cr_network_tables(net), n = cr_network_size(net), ends = 0;
    for (size_t i = 0; i < tables; i++) ends += cr_network_table(net, i).n;
    cr_status st = allocate(cx, tables + n, ends + n, ends, ends, out_g);
    if (st != CR_OK) return st;
    size_t at = 0;
    for (size_t i = 0; i < tables; i++) {
        cr_table_view t = cr_network_table(net, i);
        for (size_t k = 0; k < t.n; k++) {
            out_g->a[at + k] = i;
            out_g->b[at + k] = tables + t.scope[k];
            out_g->shared[at + k] = t.scope[k];
            out_g->shared_begin[at + k + 1] = at + k + 1;
            out_g->member[at + k] = t.scope[k];
        }
        sort_members(out_g->member + at, t.n);
        at += t.n;
        out_g->begin[i + 1] = at;
    }
    for (size_t v = 0; v < n; v++) {
        out_g->member[at++] = v;
        out_g->begin[tables + v + 1] = at;
    }
    return CR_OK;
}

/* Each variable: the edges that carry it must be one fewer than its clusters, without a cycle: then
 * they form one tree.  Groups of clusters are joined edge by edge. */
static bool is_tree(const cr_cluster_graph *g, size_t v, size_t *group)
{
    size_t left = 0;
    for (size_t c = 0; c < g->clusters; c++) {
        group[c] = CR_NONE;
        for (size_t k = g->begin[c]; k < g->begin[c + 1]; k++)
            if (g->member[k] == v) group[c] = c, left++;
    }
    for (size_t e = 0; e < g->edges; e++)
        for (size_t k = g->shared_begin[e]; k < g->shared_begin[e + 1]; k++) {
            if (g->shared[k] != v) continue;
            size_t a = g->a[e], b = g->b[e];
            if (group[a] == CR_NONE || group[b] == CR_NONE) return false;
            while (group[a] != a) a = group[a];
            while (group[b] != b) b = group[b];
            if (a == b) return false;
            group[a] = b;
            left--;
        }
    return left <= 1;
}

cr_status cr_cluster_graph_check(cr_ctx *cx, const cr_cluster_graph *g, size_t variables,
                                 bool *out_holds)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *group = cr_scratch_index(&s, g->clusters);
    bool       holds = true;
    CR_TRY(s.status);
    for (size_t v = 0; v < variables && holds; v++) holds = is_tree(g, v, group);
    *out_holds = holds;
done:
    cr_scratch_end(&s);
    return st;
}
