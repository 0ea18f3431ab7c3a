/* pdag.h -- graphs whose edges are arrows or lines, and the equivalence class of a DAG.
 * DAGs that imply the same independences have the same skeleton and the same colliders x -> z <- y
 * with x and y not adjacent (Verma & Pearl 1990).  Their class is drawn as one graph, the CPDAG: an
 * arrow where all of them agree, a line where the data cannot tell.
 *   edge[u n + v] = 1, edge[v n + u] = 0   u -> v
 *   edge[u n + v] = 1, edge[v n + u] = 1   u -- v
 * Memory: n^2 bytes.  Koller & Friedman (2009), sec. 3.3.4 and 3.4.3; Chickering (2002), "Learning
 * equivalence classes of Bayesian-network structures", JMLR 2.  (Internal header.)
 *   1. pdag.c    edges, orders, cliques; from and to networks; the distance of two graphs
 *   2. meek.c    orientations that follow from others, and the CPDAG of a DAG
 *   3. extend.c  a DAG that agrees with all arrows */
#ifndef CREDENCE_GRAPH_LEARN_PDAG_H
#define CREDENCE_GRAPH_LEARN_PDAG_H

#include "graph/network/network.h"

#include <string.h>

typedef struct cri_pdag {
    size_t   n;
    uint8_t *edge; /* [n x n], zeros on the diagonal */
} cri_pdag;

/* Is there u -> v or u -- v? */
static inline bool cri_pdag_reaches(const cri_pdag *g, size_t u, size_t v)
{
    return g->edge[u * g->n + v];
}

static inline bool cri_pdag_adjacent(const cri_pdag *g, size_t u, size_t v)
{
    return g->edge[u * g->n + v] || g->edge[v * g->n + u];
}

static inline bool cri_pdag_arrow(const cri_pdag *g, size_t u, size_t v)
{
    return g->edge[u * g->n + v] && !g->edge[v * g->n + u];
}

static inline bool cri_pdag_line(const cri_pdag *g, size_t u, size_t v)
{
    return g->edge[u * g->n + v] && g->edge[v * g->n + u];
}

/* Makes the edge of u and v, if any or none, an arrow u -> v; a line; nothing. */
static inline void cri_pdag_set_arrow(cri_pdag *g, size_t u, size_t v)
{
    g->edge[u * g->n + v] = 1;
    g->edge[v * g->n + u] = 0;
}

static inline void cri_pdag_set_line(cri_pdag *g, size_t u, size_t v)
{
    g->edge[u * g->n + v] = g->edge[v * g->n + u] = 1;
}

static inline void cri_pdag_cut(cri_pdag *g, size_t u, size_t v)
{
    g->edge[u * g->n + v] = g->edge[v * g->n + u] = 0;
}

static inline void cri_pdag_copy(const cri_pdag *from, cri_pdag *to)
{
    to->n = from->n;
    if (from->n > 0) memcpy(to->edge, from->edge, from->n * from->n);
}

/* n nodes without edges. */
cr_status cri_pdag_new(cr_ctx *cx, size_t n, cri_pdag *out);
void      cri_pdag_free(cr_ctx *cx, cri_pdag *g);

/* The arrows of a Bayesian network. */
cr_status cri_pdag_of_network(cr_ctx *cx, const cr_network *net, cri_pdag *out);

/* The numbers of arrows and lines. */
void cri_pdag_count(const cri_pdag *g, size_t *out_arrows, size_t *out_lines);
/* The parents of v by arrows, ascending. */
size_t cri_pdag_parents(const cri_pdag *g, size_t v, size_t *out);
/* Is every pair of these nodes adjacent?  O(k^2). */
bool cri_pdag_is_clique(const cri_pdag *g, const size_t *node, size_t k);
/* An order in which every arrow points forward, of those that could be next the lowest; false where
 * arrows form a cycle.  Lines do not count.  out [n]; O(n^2). */
bool cri_pdag_order(const cri_pdag *g, size_t *out);
/* Pairs of nodes whose edges differ (one has none, another direction, or a line where the other has
 * an arrow): the structural Hamming distance of Tsamardinos, Brown & Aliferis (2006).  Of two DAGs
 * it is taken between their CPDAGs. */
size_t cri_pdag_distance(const cri_pdag *a, const cri_pdag *b);

/* Turns lines into arrows for as long as one of Meek's (1995) four rules says which way they must
 * point so that no cycle and no collider appears that is not there yet.  The fourth has work to do
 * only where arrows come from elsewhere than colliders.  O(n^2 d^2) for each pass, of which there
 * are a few. */
void cri_pdag_meek(cri_pdag *g);
/* The CPDAG of a DAG, in place: arrows that are in no collider become lines, then Meek's rules.
 * `dag` has no cycle. */
cr_status cri_pdag_complete(cr_ctx *cx, cri_pdag *dag);

/* Turns the lines of g into arrows so that a DAG results which has the colliders of g and no other
 * (Dor & Tarsi 1992): any member of the class where g is a CPDAG.  Where there is none such,
 * *out_consistent is false and the DAG breaks as little as a greedy choice finds; arrows may have
 * been turned where they form a cycle.  O(n^2 d) typically. */
cr_status cri_pdag_extend(cr_ctx *cx, cri_pdag *g, bool *out_consistent);

#endif
