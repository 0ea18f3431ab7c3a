/* structure.c -- lists of neighbours, and walks along the arcs. */
#include "structure.h"
#include "network_internal.h"
#include "base/scratch.h"
#include "base/sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- graphs ---------------------------------------------------------------------------------- */

void cr_graph_free(cr_ctx *cx, cr_graph *g)
{
    cr_free(cx, g->begin, g->n + 1, sizeof *g->begin);
    cr_free(cx, g->to, g->ends, sizeof *g->to);
    *g = (cr_graph){ 0 };
}

/* Sorts each list and drops what stands twice; the lists move up, begin is set anew. */
static size_t tidy(size_t n, size_t *begin, size_t *to)
{
    size_t used = 0, from = begin[0];
    for (size_t v = 0; v < n; v++) {
        size_t end = begin[v + 1], first = used;
        if (end - from > 1) cri_sort_indices(to + from, end - from);
        for (size_t i = from; i < end; i++)
            if (used == first || to[used - 1] != to[i]) to[used++] = to[i];
        from = end;
        begin[v] = first;
    }
    begin[n] = used;
    return used;
}

/* The lists a[i] -> b[i], and back if `both`. */
static cr_status make_lists(cr_ctx *cx, size_t n, size_t m, const size_t *a, const size_t *b,
                            bool both, cr_graph *out_g)
{
    size_t  capacity = both ? 2 * m : m;
    size_t *begin = cr_alloc(cx, n + 1, sizeof *begin);
    size_t *to = begin ? cr_alloc(cx, capacity, sizeof *to) : NULL;
    size_t *next = to ? cr_alloc(cx, n, sizeof *next) : NULL;
    if (!next) goto failed;
    for (size_t i = 0; i < m; i++) {
        if (a[i] == b[i]) continue;
        begin[a[i] + 1]++;
        if (both) begin[b[i] + 1]++;
    }
    for (size_t v = 0; v < n; v++) begin[v + 1] += begin[v];
    memcpy(next, begin, n * sizeof *next);
    for (size_t i = 0; i < m; i++) {
        if (a[i] == b[i]) continue;
        to[next[a[i]]++] = b[i];
        if (both) to[next[b[i]]++] = a[i];
    }
    size_t  ends = tidy(n, begin, to);
    size_t *fit = cr_resize(cx, to, capacity, ends, sizeof *to);
    if (!fit) goto failed;
    cr_free(cx, next, n, sizeof *next);
    *out_g = (cr_graph){ n, ends, begin, fit };
    return CR_OK;
failed:
    cr_free(cx, begin, n + 1, sizeof *begin);
    cr_free(cx, to, capacity, sizeof *to);
    cr_free(cx, next, n, sizeof *next);
    return CR_ENOMEM;
}

cr_status cr_graph_new(cr_ctx *cx, size_t n, size_t m, const size_t *a, const size_t *b,
                       cr_graph *out_g)
{
    return make_lists(cx, n, m, a, b, true, out_g);
}

bool cr_graph_has(const cr_graph *g, size_t u, size_t v)
{
    return bsearch(&v, g->to + g->begin[u], g->begin[u + 1] - g->begin[u], sizeof v,
                   cri_compare_indices) != NULL;
}

/* --- arcs ------------------------------------------------------------------------------------ */

cr_status cr_network_children(cr_ctx *cx, const cr_network *net, cr_graph *out_g)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_network_size(net), m = 0;
    if (cr_network_get_kind(net) != CR_NETWORK_BAYES)
        CR_TRY(cr_fail(cx, CR_EARG, "a Markov network has no arcs"));
    for (size_t v = 0; v < n; v++) m += cr_network_table(net, v).n - 1;
    size_t *a = cr_scratch_index(&s, m), *b = cr_scratch_index(&s, m);
    CR_TRY(s.status);
    m = 0;
    for (size_t v = 0; v < n; v++) {
        cr_table_view t = cr_network_table(net, v);
        for (size_t k = 0; k + 1 < t.n; k++, m++) a[m] = t.scope[k], b[m] = v;
    }
    CR_TRY(make_lists(cx, n, m, a, b, false, out_g));
done:
    cr_scratch_end(&s);
    return st;
}

/* Names a cycle.  waiting[v] > 0 marks the variables that have a parent among themselves: going
 * from such a parent to the next must come back to where it has been. */
static cr_status fail_cycle(cr_ctx *cx, const cr_network *net, const size_t *waiting, size_t *opt_v)
{
    const cr_variables *vs = cr_network_variables(net);
    size_t              n = cr_network_size(net), v = 0, used, first;
    char                text[1024];
    while (waiting[v] == 0) v++;
    for (size_t i = 0; i < 2 * n; i++) { /* n steps lead onto the cycle, n more are on it */
        size_t        parents, k = 0;
        const size_t *parent = cr_network_parents(net, v, &parents);
        while (waiting[parent[k]] == 0) k++;
        v = parent[k];
    }
    first = v;
    if (opt_v) *opt_v = v;
    used = (size_t)snprintf(text, sizeof text, "%s", cr_variable_name(vs, v));
    do {
        size_t        parents, k = 0;
        const size_t *parent = cr_network_parents(net, v, &parents);
        while (waiting[parent[k]] == 0) k++;
        v = parent[k];
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " <- %s",
                                     cr_variable_name(vs, v));
    } while (v != first);
    return cr_fail(cx, CR_EDATA, "the arcs of the network form a cycle: %s", text);
}

/* A binary heap of indices, the smallest on top. */
static void heap_push(size_t *heap, size_t *n, size_t v)
{
    size_t i = (*n)++;
    for (; i > 0 && heap[(i - 1) / 2] > v; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = v;
}

static size_t heap_pop(size_t *heap, size_t *n)
{
    size_t top = heap[0], v = heap[--*n], i = 0;
    for (size_t k; (k = 2 * i + 1) < *n; i = k) {
        if (k + 1 < *n && heap[k + 1] < heap[k]) k++;
        if (v <= heap[k]) break;
        heap[i] = heap[k];
    }
    heap[i] = v;
    return top;
}

cr_status cr_network_order(cr_ctx *cx, const cr_network *net, size_t *out_order)
{
    return cri_network_order(cx, net, out_order, NULL);
}

cr_status cri_network_order(cr_ctx *cx, const cr_network *net, size_t *out_order, size_t *opt_fault)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_graph   g = { 0 };
    size_t     n = cr_network_size(net), ready = 0, done_n = 0;
    size_t    *waiting = cr_scratch_index(&s, n), *heap = cr_scratch_index(&s, n);
    size_t    *order = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    CR_TRY(cr_network_children(cx, net, &g));
    for (size_t v = 0; v < n; v++) {
        waiting[v] = cr_network_table(net, v).n - 1;
        if (waiting[v] == 0) heap_push(heap, &ready, v);
    }
    while (ready > 0) {
        size_t v = order[done_n++] = heap_pop(heap, &ready);
        for (size_t i = g.begin[v]; i < g.begin[v + 1]; i++)
            if (--waiting[g.to[i]] == 0) heap_push(heap, &ready, g.to[i]);
    }
    if (done_n < n) CR_TRY(fail_cycle(cx, net, waiting, opt_fault));
    if (n > 0) memcpy(out_order, order, n * sizeof *order);
done:
    cr_graph_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_network_ancestors(cr_ctx *cx, const cr_network *net, bool *inout_mark)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_network_size(net), waiting = 0;
    size_t    *stack = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    for (size_t v = 0; v < n; v++)
        if (inout_mark[v]) stack[waiting++] = v;
    while (waiting > 0) {
        size_t        parents;
        const size_t *parent = cr_network_parents(net, stack[--waiting], &parents);
        for (size_t k = 0; k < parents; k++) {
            if (inout_mark[parent[k]]) continue;
            inout_mark[parent[k]] = true;
            stack[waiting++] = parent[k];
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_network_blanket(cr_ctx *cx, const cr_network *net, size_t v, bool *out_mark)
{
    size_t n = cr_network_size(net);
    if (v >= n) return cr_fail(cx, CR_EARG, "there is no variable %zu, only %zu of them", v, n);
    memset(out_mark, 0, n * sizeof *out_mark);
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        bool          has = false;
        for (size_t k = 0; k < t.n; k++) has |= t.scope[k] == v;
        for (size_t k = 0; has && k < t.n; k++) out_mark[t.scope[k]] = true;
    }
    out_mark[v] = false;
    return CR_OK;
}

cr_status cr_network_moral(cr_ctx *cx, const cr_network *net, cr_graph *out_g)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_network_size(net), tables = cr_network_tables(net), m = 0;
    for (size_t i = 0; i < tables; i++) {
        size_t k = cr_network_table(net, i).n;
        m += k * (k - (k > 0)) / 2;
    }
    size_t *a = cr_scratch_index(&s, m), *b = cr_scratch_index(&s, m);
    CR_TRY(s.status);
    m = 0;
    for (size_t i = 0; i < tables; i++) {
        cr_table_view t = cr_network_table(net, i);
        for (size_t k = 0; k < t.n; k++)
            for (size_t l = 0; l < k; l++, m++) a[m] = t.scope[k], b[m] = t.scope[l];
    }
    CR_TRY(make_lists(cx, n, m, a, b, true, out_g));
done:
    cr_scratch_end(&s);
    return st;
}
