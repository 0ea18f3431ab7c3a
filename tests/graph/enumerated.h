/* enumerated.h -- answers by the definition, a sum over all states, in the layout of those to be
 * checked. */
#ifndef CREDENCE_TEST_ENUMERATED_H
#define CREDENCE_TEST_ENUMERATED_H

#include "random_network.h"

#include "graph/exact/enumerate.h"

/* Every marginal, one after the other, as cr_junction_marginals has them. */
static inline void enumerate_marginals(cr_ctx *cx, const cr_network *net, const cr_evidence *e,
                                       double *out)
{
    for (size_t v = 0; v < cr_network_size(net); v++) {
        cr_factor f;
        assert_ok(cx, cr_enumerate_query(cx, net, e, 1, &v, 0, &f, NULL));
        memcpy(out, f.value, f.size * sizeof *out);
        out += f.size;
        cr_factor_free(cx, &f);
    }
}

/* Their number. */
static inline size_t all_states(const cr_network *net)
{
    size_t n = 0;
    for (size_t v = 0; v < cr_network_size(net); v++) n += cr_network_states(net, v);
    return n;
}

/* A chain a -> b -> c of yes and no; a failure leaves what there is of it for cr_network_free. */
static inline cr_status chain_of_three(cr_ctx *cx, cr_network **out_net)
{
    cr_status         st = CR_OK;
    const double      values[] = { 0.2, 0.8, 0.5, 0.5 };
    const char *const names[] = { "a", "b", "c" };
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, out_net));
    for (size_t v = 0; v < 3; v++) {
        size_t parent = v ? v - 1 : 0;
        CR_TRY(cr_network_add_variable(cx, *out_net, names[v], 2, NULL, NULL));
        CR_TRY(cr_network_set_parents(cx, *out_net, v, v > 0, &parent));
        CR_TRY(cr_network_set_table(cx, *out_net, v, values));
    }
done:
    return st;
}

#endif
