/* extend.c -- a DAG with the arrows of a PDAG and no collider that it has not.
 * Dor & Tarsi (1992), "A simple algorithm to construct a consistent extension of a partially oriented
 * graph": a node that is a sink (no arrow leaves it) and whose neighbours by lines are adjacent to all
 * its other neighbours can be last; its lines are pointed at it, and it is taken out.  Where there is
 * no such node the one that breaks least is taken: first of all few arrows that leave it, then few
 * pairs that would make a collider. */
#include "pdag.h"
#include "base/scratch.h"

/* What would break if v came last of the nodes that are left. */
typedef struct breach {
    size_t arrows, colliders;
} breach;

/* leaving: arrows from v to others that are left. */
static breach breach_of(const cri_pdag *g, const bool *taken, size_t v, size_t leaving)
{
    breach b = { leaving, 0 };
    for (size_t u = 0; u < g->n; u++) {
        if (taken[u] || u == v || !cri_pdag_line(g, u, v)) continue;
        for (size_t w = 0; w < g->n; w++)
            b.colliders += !taken[w] && w != u && w != v && cri_pdag_adjacent(g, w, v) &&
                           !cri_pdag_adjacent(g, w, u);
    }
    return b;
}

static bool is_less(breach a, breach b)
{
    return a.arrows != b.arrows ? a.arrows < b.arrows : a.colliders < b.colliders;
}

/* The first node that breaks nothing; else, of all, the one that breaks least. */
static size_t choose_last(const cri_pdag *g, const bool *taken, const size_t *leaving,
                          breach *out_least)
{
    size_t last = g->n;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t v = 0; v < g->n; v++) {
            if (taken[v] || (pass == 0 && leaving[v] > 0)) continue;
            breach b = breach_of(g, taken, v, leaving[v]);
            if (last == g->n || is_less(b, *out_least)) last = v, *out_least = b;
            if (out_least->arrows == 0 && out_least->colliders == 0) return last;
        }
    return last;
}

cr_status cri_pdag_extend(cr_ctx *cx, cri_pdag *g, bool *out_consistent)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = g->n;
    bool      *taken = cr_scratch_bytes(&s, n, sizeof *taken), consistent = true;
    size_t    *leaving = cr_scratch_bytes(&s, n, sizeof *leaving);
    CR_TRY(s.status);
    for (size_t u = 0; u < n; u++)
        for (size_t v = 0; v < n; v++) leaving[u] += cri_pdag_arrow(g, u, v);
    for (size_t left = n; left > 0; left--) {
        breach least = { 0 };
        size_t last = choose_last(g, taken, leaving, &least);
        consistent &= least.arrows == 0 && least.colliders == 0;
        for (size_t u = 0; u < n; u++) {
            if (taken[u] || !cri_pdag_adjacent(g, u, last)) continue;
            if (cri_pdag_arrow(g, u, last)) leaving[u]--;
            cri_pdag_set_arrow(g, u, last);
        }
        taken[last] = true;
        CR_TRY(cr_check_interrupt(cx));
    }
    *out_consistent = consistent;
done:
    cr_scratch_end(&s);
    return st;
}
