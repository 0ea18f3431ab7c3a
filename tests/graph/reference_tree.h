/* reference_tree.h -- a junction tree as the textbook has it, to check the fast one (junction.h).
 * Variables are eliminated as they are numbered; clique i is {i} + later(i), its separator later(i),
 * its parent the first of them.  Cliques are stored.  Hugin's two passes:
 *   collect      S_i := sum over i of belief_i;            belief_parent *= S_i
 *   distribute   S*  := belief_parent summed onto S_i;     belief_i *= S* / S_i
 * Jensen, Lauritzen & Olesen (1990), "Bayesian updating in causal probabilistic networks by local
 * computations". */
#ifndef CREDENCE_TEST_REFERENCE_TREE_H
#define CREDENCE_TEST_REFERENCE_TREE_H

#include "support.h"

#include "graph/network/evidence.h"

#include <math.h>
#include <string.h>

enum { REFERENCE_MOST = 48 };

typedef struct reference_tree {
    size_t    n;
    size_t    later[REFERENCE_MOST][REFERENCE_MOST], laters[REFERENCE_MOST];
    cr_factor belief[REFERENCE_MOST], separator[REFERENCE_MOST];
} reference_tree;

/* f *= g */
static inline void reference_multiply(cr_ctx *cx, cr_factor *f, const cr_factor *g)
{
    cr_factor product;
    assert_ok(cx, cr_factor_product(cx, f, g, &product));
    cr_factor_free(cx, f);
    *f = product;
}

/* Eliminates symbolically: the neighbours of i that come after it are joined with each other. */
static inline void reference_triangulate(const cr_network *net, reference_tree *t)
{
    bool near[REFERENCE_MOST][REFERENCE_MOST] = { { false } };
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view v = cr_network_table(net, i);
        for (size_t a = 0; a < v.n; a++)
            for (size_t b = 0; b < v.n; b++) near[v.scope[a]][v.scope[b]] = true;
    }
    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = i + 1; k < t->n; k++)
            if (near[i][k]) t->later[i][t->laters[i]++] = k;
        for (size_t a = 0; a < t->laters[i]; a++)
            for (size_t b = 0; b < t->laters[i]; b++) near[t->later[i][a]][t->later[i][b]] = true;
    }
}

/* Every table goes to the clique in which the first of its variables is eliminated. */
static inline void reference_fill(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                  reference_tree *t)
{
    size_t states[REFERENCE_MOST];
    for (size_t i = 0; i < t->n; i++) {
        const double *weight = opt_e ? cr_evidence_likelihood(opt_e, i) : NULL;
        size_t        scope[REFERENCE_MOST] = { i };
        memcpy(scope + 1, t->later[i], t->laters[i] * sizeof *scope);
        for (size_t k = 0; k <= t->laters[i]; k++) states[k] = cr_network_states(net, scope[k]);
        assert_ok(cx, cr_factor_new(cx, t->laters[i] + 1, scope, states, NULL, &t->belief[i]));
        cr_factor f;
        assert_ok(cx, cr_factor_new(cx, 1, &i, states, weight, &f));
        reference_multiply(cx, &t->belief[i], &f);
        cr_factor_free(cx, &f);
    }
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view v = cr_network_table(net, i);
        size_t        first = v.scope[0];
        cr_factor     f;
        for (size_t k = 0; k < v.n; k++) {
            states[k] = cr_network_states(net, v.scope[k]);
            if (v.scope[k] < first) first = v.scope[k];
        }
        assert_ok(cx, cr_factor_new(cx, v.n, v.scope, states, v.value, &f));
        reference_multiply(cx, &t->belief[first], &f);
        cr_factor_free(cx, &f);
    }
}

/* log P(e) and all P(v | e), one after another; these only if P(e) > 0. */
static inline double reference_marginals(cr_ctx *cx, const cr_network *net,
                                         const cr_evidence *opt_e, double *out)
{
    reference_tree t = { .n = cr_network_size(net) };
    double         log_e = 0;
    assert_true(t.n <= REFERENCE_MOST);
    reference_triangulate(net, &t);
    reference_fill(cx, net, opt_e, &t);
    for (size_t i = 0; i < t.n; i++) { /* collect */
        cr_factor *s = &t.separator[i];
        assert_ok(cx, cr_factor_marginal(cx, &t.belief[i], t.laters[i], t.later[i], s));
        if (t.laters[i] > 0) reference_multiply(cx, &t.belief[t.later[i][0]], s);
        if (t.laters[i] == 0) log_e += log(s->value[0]);
    }
    for (size_t i = t.n; i-- > 0 && log_e > -INFINITY;) { /* distribute */
        cr_factor now, ratio;
        if (t.laters[i] == 0) continue;
        assert_ok(cx,
                  cr_factor_marginal(cx, &t.belief[t.later[i][0]], t.laters[i], t.later[i], &now));
        assert_ok(cx, cr_factor_divide(cx, &now, &t.separator[i], &ratio));
        reference_multiply(cx, &t.belief[i], &ratio);
        cr_factor_free(cx, &now);
        cr_factor_free(cx, &ratio);
    }
    for (size_t i = 0; i < t.n; i++) {
        cr_factor p;
        assert_ok(cx, cr_factor_marginal(cx, &t.belief[i], 1, &i, &p));
        cr_factor_normalise(&p, NULL);
        memcpy(out, p.value, p.size * sizeof *out);
        out += p.size;
        cr_factor_free(cx, &p);
        cr_factor_free(cx, &t.belief[i]);
        cr_factor_free(cx, &t.separator[i]);
    }
    return log_e;
}

#endif
