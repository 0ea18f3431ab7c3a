/* order_graphs.c -- graphs drawn from a partition, and moves that keep their distribution.
 * Two variables u and v lose their parents; D_u and D_v are their descendants then (with themselves).
 * Of new parents P_u and P_v a cycle comes from P_u in D_u, P_v in D_v, or both P_u in D_v and P_v in D_u.
 * What remains are three cases, whose weights are sums over sets:
 *   neither   P_u, P_v outside D_u + D_v
 *   u below   P_u meets D_v but not D_u, P_v outside both
 *   v below   the other way round */
#include "arc_posterior.h"

#include <math.h>
#include <string.h>

enum { LEAST = 40 };

cr_status cri_graph_state_new(cr_scratch *s, const cri_family_sums *f, cri_graph_state *out)
{
    cri_graph_state g = { .f = f, .n = f->n, .words = cri_bit_words(f->n) };
    size_t          most = 1;
    for (size_t v = 0; v < f->n; v++)
        if (f->sets[v] > most) most = f->sets[v];
    g.parents = cr_scratch_bytes(s, g.n, sizeof *g.parents);
    g.children = cr_scratch_bytes(s, g.n * g.words, sizeof *g.children);
    g.below = cr_scratch_bytes(s, 2 * g.words, sizeof *g.below);
    g.stack = cr_scratch_bytes(s, g.n, sizeof *g.stack);
    g.weight = cr_scratch_f64(s, most);
    g.kept = cr_scratch_bytes(s, most, sizeof *g.kept);
    *out = g;
    return s->status;
}

static void set_parents(cri_graph_state *g, size_t v, uint32_t parents)
{
    const uint32_t *candidate = g->f->candidate[v];
    for (size_t i = 0; i < g->f->count[v]; i++) {
        uint64_t *children = g->children + candidate[i] * g->words;
        if (parents >> i & 1)
            cri_bit_add(children, v);
        else
            cri_bit_drop(children, v);
    }
    g->parents[v] = parents;
}

/* Parents of v within `allowed`, one of them in `needed` unless that is 0, by their weights; those of less than
 * exp(-LEAST) of the heaviest, which rounding would lose, are not looked at. */
static uint32_t draw_parents(cri_graph_state *g, cr_rng *r, size_t v, size_t allowed, size_t needed)
{
    const cri_family *list = g->f->family[v];
    size_t            kept = 0, sets = g->f->sets[v];
    double            high = -INFINITY;
    for (size_t i = 0; i < sets && list[i].weight > high - LEAST; i++) {
        if ((list[i].set & ~allowed) || (needed && !(list[i].set & needed))) continue;
        if (kept == 0) high = list[i].weight;
        g->kept[kept] = list[i].set;
        g->weight[kept++] = exp(list[i].weight - high);
    }
    return kept > 0 ? g->kept[cr_rng_categorical(r, g->weight, kept)] : g->parents[v];
}

void cri_graph_draw(cri_graph_state *g, const cri_order_state *x, cr_rng *r)
{
    for (size_t v = 0; v < g->n; v++) {
        uint32_t at = x->member[v];
        size_t   allowed = at ? cri_order_allowed(x, v, at) : 0;
        size_t   needed = at ? allowed & ~cri_order_allowed(x, v, at - 1) : 0;
        set_parents(g, v, draw_parents(g, r, v, allowed, needed));
    }
}

/* v and its descendants. */
static void find_below(cri_graph_state *g, size_t v, uint64_t *below)
{
    size_t waiting = 0;
    memset(below, 0, g->words * sizeof *below);
    cri_bit_add(below, v);
    g->stack[waiting++] = (uint32_t)v;
    while (waiting > 0) {
        const uint64_t *children = g->children + g->stack[--waiting] * g->words;
        for (size_t w = 0; w < g->words; w++)
            for (uint64_t left = children[w] & ~below[w]; left; left &= left - 1) {
                below[w] |= left & -left;
                g->stack[waiting++] = (uint32_t)(64 * w + (size_t)__builtin_ctzll(left));
            }
    }
}

/* Candidates of v outside a set. */
static size_t outside(const cri_graph_state *g, size_t v, const uint64_t *set)
{
    size_t c = 0;
    for (size_t i = 0; i < g->f->count[v]; i++)
        c |= (size_t)!cri_bit_has(set, g->f->candidate[v][i]) << i;
    return c;
}

void cri_graph_redraw(cri_graph_state *g, cr_rng *r, size_t u, size_t v)
{
    const double *of_u = g->f->total[u], *of_v = g->f->total[v];
    uint64_t     *under_u = g->below, *under_v = under_u + g->words;
    uint32_t      was_u = g->parents[u], was_v = g->parents[v];
    set_parents(g, u, 0);
    set_parents(g, v, 0);
    g->parents[u] = was_u, g->parents[v] = was_v; /* what draw_parents falls back to */
    find_below(g, u, under_u);
    find_below(g, v, under_v);
    size_t u_may = outside(g, u, under_u), v_may = outside(g, v, under_v);
    size_t u_free = u_may & outside(g, u, under_v), v_free = v_may & outside(g, v, under_u);
    double weight[3] = { of_u[u_free] + of_v[v_free],
                         cri_log_minus(of_u[u_may], of_u[u_free]) + of_v[v_free],
                         of_u[u_free] + cri_log_minus(of_v[v_may], of_v[v_free]) };
    double high = fmax(weight[0], fmax(weight[1], weight[2]));
    for (size_t i = 0; i < 3; i++) weight[i] = high > -INFINITY ? exp(weight[i] - high) : i == 0;
    size_t   which = cr_rng_categorical(r, weight, 3);
    uint32_t now_u =
        draw_parents(g, r, u, which == 1 ? u_may : u_free, which == 1 ? u_may & ~u_free : 0);
    uint32_t now_v =
        draw_parents(g, r, v, which == 2 ? v_may : v_free, which == 2 ? v_may & ~v_free : 0);
    set_parents(g, u, now_u);
    set_parents(g, v, now_v);
}

/* The longest way from a variable without parents. */
void cri_graph_levels(const cri_graph_state *g, cri_order_state *x)
{
    bool changed = true;
    for (size_t v = 0; v < g->n; v++) x->member[v] = 0;
    x->members = 1;
    while (changed) {
        changed = false;
        for (size_t v = 0; v < g->n; v++)
            for (size_t i = 0; i < g->f->count[v]; i++) {
                if (!(g->parents[v] >> i & 1)) continue;
                uint32_t least = x->member[g->f->candidate[v][i]] + 1;
                if (x->member[v] >= least) continue;
                x->member[v] = least, changed = true;
                if (least + 1 > x->members) x->members = least + 1;
            }
    }
    cri_order_weigh(x);
}
