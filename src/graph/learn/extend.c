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

static breach breach_of(const cri_pdag *g, const bool *taken, size_t v)
{
    breach b = { 0 };
    for (size_t u = 0; u < g->n; u++) {
        if (taken[u] || u == v) continue;
        b.arrows += cri_pdag_arrow(g, v, u);
        if (!cri_pdag_line(g, u, v)) continue;
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

cr_status cri_pdag_extend(cr_ctx *cx, cri_pdag *g, bool *out_consistent)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = g->n;
    bool      *taken = cr_scratch_bytes(&s, n, sizeof *taken), consistent = true;
    CR_TRY(s.status);
    for (size_t left = n; left > 0; left--) {
        size_t last = n;
        breach least = { 0 };
        for (size_t v = 0; v < n; v++) {
            if (taken[v]) continue;
            breach b = breach_of(g, taken, v);
            if (last < n && !is_less(b, least)) continue;
            last = v, least = b;
            if (b.arrows == 0 && b.colliders == 0) break;
        }
        consistent &= least.arrows == 0 && least.colliders == 0;
        for (size_t u = 0; u < n; u++)
            if (!taken[u] && cri_pdag_adjacent(g, u, last)) cri_pdag_set_arrow(g, u, last);
        taken[last] = true;
        CR_TRY(cr_check_interrupt(cx));
    }
    *out_consistent = consistent;
done:
    cr_scratch_end(&s);
    return st;
}
