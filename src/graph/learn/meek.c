/* meek.c -- orientations that follow from others.
 *   1.  a -> b -- c, a and c not adjacent:            b -> c   (else a new collider)
 *   2.  a -> b -> c, a -- c:                          a -> c   (else a cycle)
 *   3.  a -- b -> d, a -- c -> d, a -- d,
 *       b and c not adjacent:                         a -> d   (d -> a would make a collider or a cycle)
 *   4.  a -- b, c -> b, d -> c, a -- d, a adjacent to c,
 *       b and d not adjacent:                         a -> b
 * Meek (1995), "Causal inference and causal explanation with background knowledge".  Each pass looks
 * at the lines a -- b in both directions; passes go on until one finds nothing. */
#include "pdag.h"
#include "base/scratch.h"

/* Rule 1: w -> a with w and b not adjacent. */
static bool would_collide(const cri_pdag *g, size_t a, size_t b)
{
    for (size_t w = 0; w < g->n; w++)
        if (cri_pdag_arrow(g, w, a) && !cri_pdag_adjacent(g, w, b)) return true;
    return false;
}

/* Rule 2: a -> w -> b. */
static bool would_cycle(const cri_pdag *g, size_t a, size_t b)
{
    for (size_t w = 0; w < g->n; w++)
        if (cri_pdag_arrow(g, a, w) && cri_pdag_arrow(g, w, b)) return true;
    return false;
}

/* Rule 3: a -- c -> b and a -- d -> b, c and d not adjacent. */
static bool has_two_ways(const cri_pdag *g, size_t a, size_t b)
{
    for (size_t c = 0; c < g->n; c++) {
        if (!cri_pdag_line(g, a, c) || !cri_pdag_arrow(g, c, b)) continue;
        for (size_t d = 0; d < c; d++)
            if (cri_pdag_line(g, a, d) && cri_pdag_arrow(g, d, b) && !cri_pdag_adjacent(g, c, d))
                return true;
    }
    return false;
}

/* Rule 4: a -- d -> c -> b, a adjacent to c, b and d not adjacent. */
static bool has_long_way(const cri_pdag *g, size_t a, size_t b)
{
    for (size_t c = 0; c < g->n; c++) {
        if (!cri_pdag_arrow(g, c, b) || !cri_pdag_adjacent(g, a, c)) continue;
        for (size_t d = 0; d < g->n; d++)
            if (cri_pdag_line(g, a, d) && cri_pdag_arrow(g, d, c) && !cri_pdag_adjacent(g, b, d))
                return true;
    }
    return false;
}

void cri_pdag_meek(cri_pdag *g)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t a = 0; a < g->n; a++)
            for (size_t b = 0; b < g->n; b++) {
                if (a == b || !cri_pdag_line(g, a, b)) continue;
                if (!would_collide(g, a, b) && !would_cycle(g, a, b) && !has_two_ways(g, a, b) &&
                    !has_long_way(g, a, b))
                    continue;
                cri_pdag_set_arrow(g, a, b);
                changed = true;
            }
    }
}

cr_status cri_pdag_complete(cr_ctx *cx, cri_pdag *dag)
{
    size_t   n = dag->n;
    cri_pdag g;
    if (cri_pdag_new(cx, n, &g) != CR_OK) return CR_ENOMEM;
    for (size_t u = 0; u < n; u++)
        for (size_t v = u + 1; v < n; v++)
            if (cri_pdag_adjacent(dag, u, v)) cri_pdag_set_line(&g, u, v);
    for (size_t v = 0; v < n; v++)
        for (size_t u = 0; u < n; u++) {
            if (!cri_pdag_arrow(dag, u, v)) continue;
            for (size_t w = 0; w < u; w++) {
                if (!cri_pdag_arrow(dag, w, v) || cri_pdag_adjacent(dag, u, w)) continue;
                cri_pdag_set_arrow(&g, u, v);
                cri_pdag_set_arrow(&g, w, v);
            }
        }
    cri_pdag_meek(&g);
    cri_pdag_copy(&g, dag);
    cri_pdag_free(cx, &g);
    return CR_OK;
}
