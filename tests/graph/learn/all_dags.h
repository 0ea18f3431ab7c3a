/* all_dags.h -- every DAG of a few nodes: 25 of three, 543 of four, 29281 of five. */
#ifndef CREDENCE_TEST_ALL_DAGS_H
#define CREDENCE_TEST_ALL_DAGS_H

#include "support.h"

#include "base/rng.h"
#include "graph/learn/pdag.h"

/* Graph number `code`: for each pair of nodes a digit to the base 3: none, ->, <-. */
static inline void graph_of_code(size_t code, cri_pdag *g)
{
    memset(g->edge, 0, g->n * g->n);
    for (size_t u = 0; u < g->n; u++)
        for (size_t v = u + 1; v < g->n; v++, code /= 3) {
            if (code % 3 == 1) cri_pdag_set_arrow(g, u, v);
            if (code % 3 == 2) cri_pdag_set_arrow(g, v, u);
        }
}

static inline size_t graph_codes(size_t n)
{
    size_t codes = 1;
    for (size_t i = 0; i < n * (n - 1) / 2; i++) codes *= 3;
    return codes;
}

/* The next DAG from *code on, after which *code points; false after the last. */
static inline bool next_dag(size_t *code, cri_pdag *g)
{
    size_t order[16], codes = graph_codes(g->n);
    while (*code < codes) {
        graph_of_code((*code)++, g);
        if (cri_pdag_order(g, order)) return true;
    }
    return false;
}

/* A random DAG: arrows with probability p along a random order. */
static inline void random_dag(cr_rng *r, double p, cri_pdag *g)
{
    size_t order[64];
    cr_rng_permutation(r, g->n, order);
    memset(g->edge, 0, g->n * g->n);
    for (size_t i = 0; i < g->n; i++)
        for (size_t j = 0; j < i; j++)
            if (cr_rng_uniform(r) < p) cri_pdag_set_arrow(g, order[j], order[i]);
}

#endif
