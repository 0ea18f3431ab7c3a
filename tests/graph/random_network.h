/* random_network.h -- small networks full of corners, and evidence of all kinds. */
#ifndef CREDENCE_TEST_RANDOM_NETWORK_H
#define CREDENCE_TEST_RANDOM_NETWORK_H

#include "support.h"

#include "base/rng.h"
#include "graph/network/evidence.h"

/* A table of `size` values in rows of `row` that sum to one (row 0: any values): zeros,
 * deterministic rows. */
static inline void random_values(cr_rng *r, size_t size, size_t row, double *value)
{
    for (size_t e = 0; e < size; e++) value[e] = cr_rng_below(r, 6) ? cr_rng_uniform(r) : 0;
    for (size_t b = 0; row && b < size; b += row) {
        double sum = 0;
        if (cr_rng_below(r, 4) == 0)
            for (size_t s = 0; s < row; s++) value[b + s] = 0;
        for (size_t s = 0; s < row; s++) sum += value[b + s];
        if (sum == 0) sum = value[b + cr_rng_below(r, row)] = 1;
        for (size_t s = 0; s < row; s++) value[b + s] /= sum;
    }
}

static inline cr_network *random_network(cr_ctx *cx, cr_rng *r, cr_network_kind kind, size_t n)
{
    cr_network *net;
    double      value[4096];
    size_t      order[16], states[16];
    char        name[32];
    assert_ok(cx, cr_network_new(cx, kind, &net));
    for (size_t v = 0; v < n; v++) {
        snprintf(name, sizeof name, "v%zu", v);
        states[v] = cr_rng_below(r, 12) ? 2 + cr_rng_below(r, 2) : 1;
        assert_ok(cx, cr_network_add_variable(cx, net, name, states[v], NULL, NULL));
    }
    cr_rng_permutation(r, n, order);
    size_t tables = kind == CR_NETWORK_BAYES ? n : cr_rng_below(r, 2 * n + 1);
    for (size_t i = 0; i < tables; i++) {
        size_t scope[4], k = 0, size = 1, most = cr_rng_below(r, 4);
        size_t before = kind == CR_NETWORK_BAYES ? i : n, pick[16];
        cr_rng_permutation(r, before, pick);
        for (; k < most && k < before; k++)
            scope[k] = kind == CR_NETWORK_BAYES ? order[pick[k]] : pick[k];
        for (size_t j = 0; j < k; j++) size *= states[scope[j]];
        if (kind == CR_NETWORK_BAYES) {
            size_t v = order[i];
            random_values(r, size * states[v], states[v], value);
            assert_ok(cx, cr_network_set_parents(cx, net, v, k, scope));
            assert_ok(cx, cr_network_set_table(cx, net, v, value));
        } else {
            random_values(r, size, 0, value);
            assert_ok(cx, cr_network_add_table(cx, net, k, scope, value));
        }
    }
    return net;
}

/* Every pair of n variables of two or three states has a table: as wide as can be. */
static inline cr_network *dense_network(cr_ctx *cx, cr_rng *r, size_t n)
{
    cr_network *net;
    double      value[9];
    char        name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t v = 0; v < n; v++) {
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(
            cx, cr_network_add_variable(cx, net, name, 2 + (cr_rng_below(r, 3) == 0), NULL, NULL));
        for (size_t u = 0; u < v; u++) {
            size_t scope[2] = { u, v };
            size_t size = cr_network_states(net, u) * cr_network_states(net, v);
            for (size_t e = 0; e < size; e++)
                value[e] = cr_rng_below(r, 20) ? 0.1 + cr_rng_uniform(r) : 0;
            assert_ok(cx, cr_network_add_table(cx, net, 2, scope, value));
        }
    }
    return net;
}

/* Each variable: mostly nothing, or one state, a set, likelihoods. */
static inline cr_evidence *random_evidence(cr_ctx *cx, cr_rng *r, const cr_network *net)
{
    cr_evidence *e;
    assert_ok(cx, cr_evidence_new(cx, net, &e));
    for (size_t v = 0; v < cr_network_size(net); v++) {
        size_t states = cr_network_states(net, v), any = cr_rng_below(r, states);
        double likelihood[4];
        size_t kind = cr_rng_below(r, 8);
        for (size_t s = 0; s < states; s++)
            likelihood[s] = kind == 1 ? (double)(s == any || cr_rng_below(r, 2))
                                      : 3 * cr_rng_uniform(r) * (double)(cr_rng_below(r, 4) > 0);
        likelihood[any] += 0.1 * (double)(kind == 2);
        if (kind == 0) assert_ok(cx, cr_evidence_observe(cx, e, v, any));
        if (kind == 1 || kind == 2) assert_ok(cx, cr_evidence_weigh(cx, e, v, likelihood));
    }
    return e;
}

#endif
