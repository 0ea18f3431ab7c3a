/* random_dynamic.h -- small networks of two slices full of corners, and evidence on their slices. */
#ifndef CREDENCE_TEST_RANDOM_DYNAMIC_H
#define CREDENCE_TEST_RANDOM_DYNAMIC_H

#include "graph/exact/interface.h"
#include "random_network.h"

enum { MOST_STATES = 3 };

/* Gives v a random table over up to three of these. */
static inline void random_table(cr_ctx *cx, cr_rng *r, cr_network *net, size_t v, size_t n,
                                const size_t *from)
{
    double value[512];
    size_t parents[3], k = 0, most = cr_rng_below(r, 4), size = cr_network_states(net, v), pick[32];
    cr_rng_permutation(r, n, pick);
    for (; k < most && k < n; k++) {
        parents[k] = from[pick[k]];
        size *= cr_network_states(net, parents[k]);
    }
    random_values(r, size, cr_network_states(net, v), value);
    assert_ok(cx, cr_network_set_parents(cx, net, v, k, parents));
    assert_ok(cx, cr_network_set_table(cx, net, v, value));
}

static inline cri_dynamic *random_dynamic(cr_ctx *cx, cr_rng *r, size_t n)
{
    cri_dynamic *net = NULL;
    size_t       order[16], from[32];
    char         name[32];
    assert_ok(cx, cri_dynamic_new(cx, &net));
    for (size_t v = 0; v < n; v++) {
        snprintf(name, sizeof name, "v%zu", v);
        size_t states = cr_rng_below(r, 12) ? 2 + cr_rng_below(r, MOST_STATES - 1) : 1;
        assert_ok(cx, cr_network_add_variable(cx, net->first, name, states, NULL, NULL));
    }
    assert_ok(cx, cri_dynamic_add_slices(cx, net));
    cr_rng_permutation(r, n, order);
    for (size_t i = 0; i < n; i++) random_table(cx, r, net->first, order[i], i, order);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) from[k] = k;
        for (size_t k = 0; k < i; k++) from[n + k] = n + order[k];
        random_table(cx, r, net->next, n + order[i], n + i, from);
    }
    assert_ok(cx, cr_network_check(cx, net->first));
    assert_ok(cx, cr_network_check(cx, net->next));
    return net;
}

/* Codes of slices: states, likelihoods, states set from outside, mostly nothing. */
typedef struct sliced_evidence {
    cri_slice_evidence e;
    uint32_t           code[256];
    cri_slice_weight   weight[256];
    double             value[256][MOST_STATES];
} sliced_evidence;

static inline void random_slices(cr_rng *r, const cri_dynamic *net, size_t slices,
                                 sliced_evidence *out)
{
    out->e = (cri_slice_evidence){ .slices = slices, .code = out->code, .weight = out->weight };
    for (size_t i = 0; i < slices * net->n; i++) {
        size_t states = cr_network_states(net->first, i % net->n), what = cr_rng_below(r, 10);
        out->code[i] = CRI_CODE_OPEN;
        if (what < 2) out->code[i] = (uint32_t)cr_rng_below(r, states);
        if (what == 2) out->code[i] = (uint32_t)cr_rng_below(r, states) | CRI_CODE_SET;
        if (what != 3) continue;
        double *w = out->value[out->e.weights];
        for (size_t s = 0; s < states; s++) w[s] = cr_rng_below(r, 4) ? cr_rng_uniform(r) : 0;
        w[cr_rng_below(r, states)] = 0.5;
        out->code[i] = CRI_CODE_WEIGHED;
        out->weight[out->e.weights++] = (cri_slice_weight){ i, w };
    }
}

/* The same evidence on the slices side by side: what is set has no table any more. */
static inline void lay_evidence(cr_ctx *cx, const sliced_evidence *x, cr_network *whole,
                                cr_evidence *e, size_t numbers)
{
    for (size_t i = 0, k = 0; i < numbers; i++) {
        uint32_t code = x->code[i];
        if (code == CRI_CODE_OPEN) continue;
        if (code == CRI_CODE_WEIGHED) {
            assert_ok(cx, cr_evidence_weigh(cx, e, i, x->weight[k++].weight));
            continue;
        }
        if (code & CRI_CODE_SET)
            assert_ok(cx, cr_network_intervene(cx, whole, i, code & ~CRI_CODE_SET));
        assert_ok(cx, cr_evidence_observe(cx, e, i, code & ~CRI_CODE_SET));
    }
}

#endif
