/* pdag.c -- edges as bytes of a matrix: making, counting, orders, distance. */
#include "pdag.h"

cr_status cri_pdag_new(cr_ctx *cx, size_t n, cri_pdag *out)
{
    if (n > 0 && n > SIZE_MAX / n)
        return cr_fail(cx, CR_ENOMEM, "a graph of %zu nodes does not fit into memory", n);
    uint8_t *edge = cr_alloc(cx, n * n, 1);
    if (!edge) return CR_ENOMEM;
    *out = (cri_pdag){ n, edge };
    return CR_OK;
}

void cri_pdag_free(cr_ctx *cx, cri_pdag *g)
{
    cr_free(cx, g->edge, g->n * g->n, 1);
    *g = (cri_pdag){ 0 };
}

cr_status cri_pdag_of_network(cr_ctx *cx, const cr_network *net, cri_pdag *out)
{
    size_t   n = cr_network_size(net);
    cri_pdag g;
    if (cr_network_get_kind(net) != CR_NETWORK_BAYES)
        return cr_fail(cx, CR_EARG, "a Markov network has no arcs");
    if (cri_pdag_new(cx, n, &g) != CR_OK) return CR_ENOMEM;
    for (size_t v = 0; v < n; v++) {
        size_t        parents;
        const size_t *parent = cr_network_parents(net, v, &parents);
        for (size_t k = 0; k < parents; k++) cri_pdag_set_arrow(&g, parent[k], v);
    }
    *out = g;
    return CR_OK;
}

void cri_pdag_count(const cri_pdag *g, size_t *out_arrows, size_t *out_lines)
{
    *out_arrows = *out_lines = 0;
    for (size_t u = 0; u < g->n; u++)
        for (size_t v = u + 1; v < g->n; v++) {
            *out_lines += cri_pdag_line(g, u, v);
            *out_arrows += cri_pdag_adjacent(g, u, v) && !cri_pdag_line(g, u, v);
        }
}

size_t cri_pdag_parents(const cri_pdag *g, size_t v, size_t *out)
{
    size_t k = 0;
    for (size_t u = 0; u < g->n; u++)
        if (cri_pdag_arrow(g, u, v)) out[k++] = u;
    return k;
}

bool cri_pdag_is_clique(const cri_pdag *g, const size_t *node, size_t k)
{
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < i; j++)
            if (!cri_pdag_adjacent(g, node[i], node[j])) return false;
    return true;
}

/* Nothing but `out` is needed: what comes next is sought among nodes that are not in it. */
bool cri_pdag_order(const cri_pdag *g, size_t *out)
{
    size_t n = g->n;
    for (size_t i = 0; i < n; i++) out[i] = i;
    for (size_t done = 0; done < n; done++) {
        size_t next = n;
        for (size_t i = done; i < n && next == n; i++) {
            bool free = true;
            for (size_t j = done; j < n && free; j++) free = !cri_pdag_arrow(g, out[j], out[i]);
            if (free) next = i;
        }
        if (next == n) return false;
        size_t v = out[next]; /* the rest keeps its rising order */
        memmove(out + done + 1, out + done, (next - done) * sizeof *out);
        out[done] = v;
    }
    return true;
}

size_t cri_pdag_distance(const cri_pdag *a, const cri_pdag *b)
{
    size_t distance = 0, n = a->n;
    for (size_t u = 0; u < n; u++)
        for (size_t v = u + 1; v < n; v++)
            distance += a->edge[u * n + v] != b->edge[u * n + v] ||
                        a->edge[v * n + u] != b->edge[v * n + u];
    return distance;
}
