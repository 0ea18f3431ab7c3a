/* oracle.c -- d-separation in a matrix of arrows, as separation.c has it for networks, without a
 * context: a walk over places (node, how the trail came to it). */
#include "independence.h"

enum { UP, DOWN };

typedef struct walk {
    bool   *given, *above, *seen; /* [n] [n] given or an ancestor of it, [2 n] places */
    size_t *queue;                /* [2 n] */
    size_t  waiting;
} walk;

static size_t workspace_size(const void *arg, size_t most_given)
{
    const cri_pdag *dag = arg;
    (void)most_given;
    return dag->n * (2 * sizeof(size_t) + 4);
}

static void go(walk *w, size_t v, size_t how)
{
    if (w->seen[2 * v + how]) return;
    w->seen[2 * v + how] = true;
    w->queue[w->waiting++] = 2 * v + how;
}

static void mark_above(const cri_pdag *dag, walk *w, size_t k, const size_t *given)
{
    size_t waiting = 0;
    for (size_t i = 0; i < k; i++) {
        w->given[given[i]] = w->above[given[i]] = true;
        w->queue[waiting++] = given[i];
    }
    while (waiting > 0) {
        size_t v = w->queue[--waiting];
        for (size_t u = 0; u < dag->n; u++) {
            if (!cri_pdag_arrow(dag, u, v) || w->above[u]) continue;
            w->above[u] = true;
            w->queue[waiting++] = u;
        }
    }
}

/* From a place the trail goes on to parents (UP) and to children (DOWN), as colliders allow. */
static cri_verdict separated(const void *arg, void *workspace, size_t x, size_t y, size_t k,
                             const size_t *given)
{
    const cri_pdag *dag = arg;
    size_t          n = dag->n;
    walk            w = { .queue = workspace };
    w.given = (bool *)(w.queue + 2 * n), w.above = w.given + n, w.seen = w.above + n;
    memset(w.given, 0, 4 * n);
    mark_above(dag, &w, k, given);
    go(&w, x, UP);
    size_t length = 0, ring = w.waiting; /* places before `ring` are up to so many arcs from x */
    for (size_t next = 0; next < w.waiting; next++) {
        if (next == ring) length++, ring = w.waiting;
        size_t place = w.queue[next], v = place / 2;
        if (v == y && !w.given[y]) return (cri_verdict){ .association = 1 / (double)length };
        bool to_parents = place % 2 == UP ? !w.given[v] : w.above[v], to_children = !w.given[v];
        for (size_t u = 0; u < n; u++) {
            if (to_parents && cri_pdag_arrow(dag, u, v)) go(&w, u, UP);
            if (to_children && cri_pdag_arrow(dag, v, u)) go(&w, u, DOWN);
        }
    }
    return (cri_verdict){ .independent = true, .p = 1 };
}

cri_independence cri_independence_oracle(const cri_pdag *dag)
{
    return (cri_independence){ dag->n, dag, workspace_size, separated };
}
