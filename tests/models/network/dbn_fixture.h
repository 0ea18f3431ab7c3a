/* dbn_fixture.h -- networks to learn, sums over all joint states, simulated days. */
#ifndef CREDENCE_TEST_MODELS_DBN_FIXTURE_H
#define CREDENCE_TEST_MODELS_DBN_FIXTURE_H

#include "../fixture.h"

#include "models/core/model_internal.h"
#include "models/network/dbn.h"

#define UMBRELLA                                                                                   \
    "{\"network\":\"bayes\",\"slices\":2,\"variables\":{"                                          \
    "\"rain\":{\"states\":[\"no\",\"yes\"],\"initial\":{\"table\":[0.5,0.5]},"                     \
    "\"parents\":[\"rain[-1]\"],\"table\":[[0.7,0.3],[0.3,0.7]]},"                                 \
    "\"umbrella\":{\"states\":[\"no\",\"yes\"],\"parents\":[\"rain\"],"                            \
    "\"table\":[[0.8,0.2],[0.1,0.9]]}}}"

/* Two hidden parts, one of which looks back twice, a table that is the same in all slices, one that is not learned. */
#define CRANE                                                                                      \
    "{\"network\":\"bayes\",\"slices\":2,\"variables\":{"                                          \
    "\"a\":{\"states\":2,\"initial\":{\"table\":[0.6,0.4]},\"parents\":[\"a[-1]\",\"b[-1]\"],"     \
    "\"table\":[[0.9,0.1],[0.6,0.4],[0.3,0.7],[0.2,0.8],[0.5,0.5],[0.1,0.9]]},"                    \
    "\"b\":{\"states\":3,\"initial\":{\"parents\":[\"a\"],\"table\":[[0.5,0.3,0.2],[0.2,0.2,0.6]]" \
    "},"                                                                                           \
    "\"parents\":[\"b[-1]\"],\"table\":[[0.7,0.2,0.1],[0.1,0.8,0.1],[0,0.4,0.6]]},"                \
    "\"c\":{\"states\":2,\"parents\":[\"a\",\"b\"],\"table\":[[0.9,0.1],[0.5,0.5],[0.2,0.8],"      \
    "[0.3,0.7],[0.6,0.4],[0.85,0.15]]},"                                                           \
    "\"d\":{\"states\":2,\"parents\":[\"a\"],\"deterministic\":{\"0\":\"1\",\"1\":\"0\"}}}}"

static inline const cri_dbn *state_of(const cr_model *m) { return m->state; }

enum { MOST_SIZE = 64 };

/* One of the sequences of a table of states, "" where they are missing. */
typedef struct story {
    size_t slices;
    int    cell[8][4]; /* -1: not known */
} story;

/* Adds the counts of the learned tables under the tables of the network, by a sum over all states; log P(story). */
static inline double add_counts(cr_ctx *cx, const cri_dbn *m, const story *x, double *count)
{
    size_t      n = m->net->n, all = x->slices * n, state[32] = { 0 }, i;
    cr_network *whole = NULL;
    long double total = 0;
    double      sum[MOST_SIZE] = { 0 };
    assert_ok(cx, cri_dynamic_unroll(cx, m->net, x->slices, &whole));
    do {
        bool fits = true;
        for (i = 0; i < all; i++)
            fits &= x->cell[i / n][i % n] < 0 || (size_t)x->cell[i / n][i % n] == state[i];
        double p = fits ? exp(cr_network_log_value(whole, state)) : 0;
        total += p;
        for (size_t k = 0; k < m->tables && p > 0; k++)
            for (size_t t = 0; t < x->slices; t++) {
                const cri_dbn_table *c = &m->table[k];
                bool same = !c->first && cri_dynamic_begins_alike(m->net, c->variable);
                if (!same && c->first != (t == 0)) continue;
                cr_table_view v = cr_network_table(whole, t * n + c->variable);
                size_t        entry = 0;
                for (size_t d = 0; d < v.n; d++)
                    entry = entry * cr_network_states(whole, v.scope[d]) + state[v.scope[d]];
                sum[c->at + entry] += p;
            }
        for (i = all; i-- > 0;) {
            if (++state[i] < cr_network_states(whole, i)) break;
            state[i] = 0;
        }
    } while (i < all);
    for (i = 0; i < m->size; i++) count[i] += sum[i] / (double)total;
    cr_network_free(cx, whole);
    return log((double)total);
}

/* Draws of the umbrella with gaps. */
static inline cr_table *draw_days(cr_ctx *cx, uint64_t seed, size_t days, double gaps)
{
    cr_rng      r = cr_rng_stream(seed, 2);
    text_buffer b = text_new(32 * days + 64);
    bool        rain = false;
    text_put(&b, "town,rain,umbrella\n");
    for (size_t i = 0; i < days; i++) {
        rain = cr_rng_uniform(&r) < (i % 50 == 0 ? 0.5 : rain ? 0.8 : 0.1);
        bool brings = cr_rng_uniform(&r) < (rain ? 0.95 : 0.25);
        text_put(&b, "%zu,%s,%s\n", i / 50,
                 cr_rng_uniform(&r) < gaps ? ""
                 : rain                    ? "yes"
                                           : "no",
                 cr_rng_uniform(&r) < gaps / 2 ? ""
                 : brings                      ? "yes"
                                               : "no");
    }
    cr_table *t = table_of_text(cx, "days.csv", b.at);
    free(b.at);
    return t;
}

#endif
