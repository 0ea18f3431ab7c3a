/* Causes that act by themselves: answers without tables of all parents, against the closed formulas
 * and enumeration of the causes. */
#include "support.h"

#include "base/rng.h"
#include "graph/exact/bucket.h"
#include "graph/network/cpd.h"
#include "graph/files/network_file.h"
#include "graph/network/noisy.h"
#include "graph/query/query.h"
#include "same_network.h"

#include <string.h>

enum { MOST = 40 };

/* Causes d0, d1, ... of two states and effects f0, f1, ... of some of them, each a noisy-or; the
 * numbers are kept. */
typedef struct layers {
    size_t      causes, effects, on[MOST]; /* the state of an effect that is on */
    double      prior[MOST], leak[MOST], strength[MOST][MOST]; /* [effect][cause] 0: no parent */
    cr_network *net;
} layers;

static layers two_layers(cr_ctx *cx, cr_rng *r, size_t causes, size_t effects, size_t least)
{
    layers l = { .causes = causes, .effects = effects };
    char   name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &l.net));
    for (size_t d = 0; d < causes; d++) {
        l.prior[d] = 0.02 + 0.5 * cr_rng_uniform(r);
        double row[2] = { 1 - l.prior[d], l.prior[d] };
        snprintf(name, sizeof name, "d%zu", d);
        assert_ok(cx, cr_network_add_variable(cx, l.net, name, 2, NULL, NULL));
        assert_ok(cx, cr_network_set_table(cx, l.net, d, row));
    }
    for (size_t f = 0; f < effects; f++) {
        size_t pick[MOST], on[MOST + 1], n = least + cr_rng_below(r, causes - least + 1);
        double strength[MOST];
        cr_rng_permutation(r, causes, pick);
        l.leak[f] = cr_rng_below(r, 3) ? 0.1 * cr_rng_uniform(r) : 0;
        for (size_t i = 0; i < n; i++) {
            strength[i] = cr_rng_below(r, 8) ? 0.05 + 0.9 * cr_rng_uniform(r) : 1;
            l.strength[f][pick[i]] = strength[i];
            on[i] = 1;
        }
        on[n] = l.on[f] = cr_rng_below(r, 2);
        snprintf(name, sizeof name, "f%zu", f);
        assert_ok(cx, cr_network_add_variable(cx, l.net, name, 2, NULL, NULL));
        assert_ok(cx, cr_network_set_parents(cx, l.net, causes + f, n, pick));
        assert_ok(cx, cr_cpd_noisy_or(cx, l.net, causes + f, l.leak[f], strength, on));
    }
    return l;
}

/* P(effect is off | causes) */
static double off(const layers *l, size_t f, const size_t *state)
{
    double p = 1 - l->leak[f];
    for (size_t d = 0; d < l->causes; d++)
        if (state[d]) p *= 1 - l->strength[f][d];
    return p;
}

/* p(x) of a full assignment, by the formulas. */
static double value(const layers *l, const size_t *state)
{
    double p = 1;
    for (size_t d = 0; d < l->causes; d++) p *= state[d] ? l->prior[d] : 1 - l->prior[d];
    for (size_t f = 0; f < l->effects; f++)
        p *= state[l->causes + f] == l->on[f] ? 1 - off(l, f, state) : off(l, f, state);
    return p;
}

/* What is known of each variable: CR_NONE: nothing. */
static size_t put_known(const layers *l, const size_t *known, char *out, size_t used,
                        size_t capacity)
{
    const cr_variables *vs = cr_network_variables(l->net);
    bool                first = true;
    for (size_t v = 0; v < l->causes + l->effects; v++) {
        if (known[v] == CR_NONE) continue;
        used += (size_t)snprintf(out + used, capacity - used, "%s%s=%zu", first ? " | " : ", ",
                                 cr_variable_name(vs, v), known[v]);
        first = false;
    }
    return used + (size_t)snprintf(out + used, capacity - used, ")");
}

/* All assignments that agree with what is known: P(e), all marginals, the best. */
typedef struct sums {
    double all, on[MOST], best;
    size_t state[MOST];
} sums;

static sums enumerate(const layers *l, const size_t *known)
{
    size_t n = l->causes + l->effects, state[MOST] = { 0 };
    sums   s = { .best = -1 };
    for (size_t x = 0; x < (size_t)1 << n; x++) {
        bool agrees = true;
        for (size_t v = 0; v < n; v++) {
            state[v] = x >> v & 1;
            agrees &= known[v] == CR_NONE || known[v] == state[v];
        }
        if (!agrees) continue;
        double p = value(l, state);
        s.all += p;
        for (size_t v = 0; v < n; v++) s.on[v] += state[v] ? p : 0;
        if (p > s.best) memcpy(s.state, state, sizeof state), s.best = p;
    }
    return s;
}

/* --- sums ------------------------------------------------------------------------------------ */

TEST(thirty_causes_of_one_effect)
{
    cr_rng          r = cr_rng_stream(1, 0);
    layers          l = two_layers(cx, &r, 30, 1, 30);
    cr_query_answer a = { 0 };
    const char     *on = l.on[0] ? "1" : "0";
    double          none = 1 - l.leak[0];
    char            text[96];
    for (size_t d = 0; d < 30; d++) none *= 1 - l.prior[d] * l.strength[0][d];
    assert_null(cr_network_table(l.net, 30).value);
    snprintf(text, sizeof text, "P(f0=%s)", on);
    assert_ok(cx, cr_query(cx, l.net, text, NULL, NULL, &a));
    assert_true(a.exact);
    assert_relative(a.number, 1 - none, 1e-13);
    for (size_t d = 0; d < 30; d++) {
        double mine = none / (1 - l.prior[d] * l.strength[0][d]), p = l.prior[d];
        snprintf(text, sizeof text, "P(d%zu=1 | f0=%s)", d, on);
        cr_query_answer_free(cx, &a);
        assert_ok(cx, cr_query(cx, l.net, text, NULL, NULL, &a));
        assert_relative(a.number, p * (1 - mine * (1 - l.strength[0][d])) / (1 - none), 1e-12);
        snprintf(text, sizeof text, "P(d%zu=1 | f0=%d)", d, l.on[0] == 0);
        cr_query_answer_free(cx, &a);
        assert_ok(cx, cr_query(cx, l.net, text, NULL, NULL, &a));
        assert_relative(a.number, p * (1 - l.strength[0][d]) / (1 - p * l.strength[0][d]), 1e-12);
    }
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, l.net);
}

/* A cause too weak for 1 - strength to tell it from none. */
TEST(weak_causes_are_not_lost)
{
    cr_network     *net;
    cr_query_answer a = { 0 };
    size_t          parents[20];
    double          strength[20], half[2] = { 0.5, 0.5 };
    char            name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 21; v++) {
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        assert_ok(cx, cr_network_set_table(cx, net, v, half));
        if (v < 20) parents[v] = v, strength[v] = 1e-30;
    }
    assert_ok(cx, cr_network_set_parents(cx, net, 20, 20, parents));
    assert_ok(cx, cr_cpd_noisy_or(cx, net, 20, 0, strength, NULL));
    assert_ok(cx, cr_query(cx, net, "P(v20=1)", NULL, NULL, &a));
    assert_relative(a.number, 10e-30, 1e-12);
    cr_query_answer_free(cx, &a);
    assert_ok(cx, cr_query(cx, net, "P(v3=1 | v20=1)", NULL, NULL, &a));
    assert_relative(a.number, 10.5 / 20, 1e-12);
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, net);
}

static void random_known(cr_rng *r, const layers *l, size_t *known)
{
    for (size_t v = 0; v < l->causes + l->effects; v++) {
        bool tell = cr_rng_below(r, 10) < (v < l->causes ? 1U : 6U);
        known[v] = tell ? cr_rng_below(r, 2) : CR_NONE;
    }
}

TEST(two_layers_agree_with_enumeration)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        cr_rng r = cr_rng_stream(2, seed);
        layers l = two_layers(cx, &r, 9 + (seed == 0) * 3, 4, 3);
        size_t known[MOST], n = l.causes + l.effects;
        char   text[1024] = "P(*";
        random_known(&r, &l, known);
        put_known(&l, known, text, 3, sizeof text);
        sums s = enumerate(&l, known);
        for (int m = CR_QUERY_AUTO; m < (seed < 2 ? 5 : 4);
             m++) { /* enumeration of the library too */
            cr_query_options o = cr_query_defaults();
            cr_query_answer  a = { 0 };
            o.method = (cr_query_method)m;
            if (s.all == 0) {
                assert_fails_with(cx, cr_query(cx, l.net, text, NULL, &o, &a), CR_EDATA,
                                  "impossible");
                continue;
            }
            assert_ok(cx, cr_query(cx, l.net, text, NULL, &o, &a));
            assert_true(a.exact);
            assert_close(a.log_evidence, log(s.all), 1e-12);
            for (size_t i = 0; i < a.n; i++) {
                assert_true(a.variable[i] < n); /* no auxiliary one */
                assert_close(a.value[2 * i + 1], s.on[a.variable[i]] / s.all, 1e-12);
            }
            cr_query_answer_free(cx, &a);
        }
        cr_network_free(cx, l.net);
    }
}

/* Any evidence on the effects, also virtual and soft, in networks in which effects are causes. */
TEST(deep_networks_agree_with_enumeration)
{
    static const char *const asked[] = { "P(v2, v7 | v9 ~ {\"0\": 1, \"1\": 3})",
                                         "P(v0, v8 | v9=0, v8 in {\"0\", \"1\"})",
                                         "P(v1 | v9=0, v8=0)",
                                         "P(v3 | v9:={\"0\": 0.3, \"1\": 0.7})",
                                         "P(v5 | do(v8=0), v9=1)",
                                         "H(v4 | v9=0)",
                                         "I(v0; * | v9=1)",
                                         "P(v0=1, v9=1 | v7=0)",
                                         "causes(* | v9=1, v8=0)",
                                         "argmax(v0, v1 | v9=1)",
                                         "argmax(* | v9=0, v3=1)",
                                         "best(4; * | v9=0, v3=1)",
                                         "sensitivity(4; v0=1 | v9=0)" };
    for (uint64_t seed = 0; seed < 3; seed++) {
        cr_rng      r = cr_rng_stream(3, seed);
        cr_network *net, *plain;
        char        name[32];
        assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
        for (size_t v = 0; v < 10; v++) {
            size_t parents[9], all = 0, states = v % 3 == 2 ? 3 : 2;
            double effect[9 * 3 * 3], leak[3];
            snprintf(name, sizeof name, "v%zu", v);
            assert_ok(cx, cr_network_add_variable(cx, net, name, states, NULL, NULL));
            cr_rng_permutation(&r, v, parents);
            size_t n = v < 4 ? 0 : v < 8 ? 3 + cr_rng_below(&r, v - 2) : v;
            for (size_t i = 0; i < n; i++) all += cr_network_states(net, parents[i]);
            for (size_t row = 0; row <= all; row++) {
                double sum = 0, *p = row < all ? effect + row * states : leak;
                for (size_t k = 0; k < states; k++) sum += p[k] = cr_rng_uniform(&r) + (k == 0);
                for (size_t k = 0; k < states; k++) p[k] /= sum;
            }
            assert_ok(cx, cr_network_set_parents(cx, net, v, n, parents));
            assert_ok(cx, cr_cpd_noisy_max(cx, net, v, effect, leak));
        }
        assert_ok(cx,
                  cri_network_fill(cx, net, NULL, 1e9, &plain)); /* some have no table: 3^3 2^7 */
        if (!plain) assert_ok(cx, cr_network_copy(cx, net, &plain));
        for (size_t v = 0; v < 10; v++) { /* as tables of no kind */
            cr_table_view t = cr_network_table(plain, v);
            double       *copy = malloc(t.size * sizeof *copy);
            memcpy(copy, t.value, t.size * sizeof *copy);
            assert_ok(cx, cr_network_set_table(cx, plain, v, copy));
            free(copy);
        }
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            cr_query_answer a = { 0 }, b = { 0 };
            assert_ok(cx, cr_query(cx, net, asked[i], NULL, NULL, &a));
            assert_ok(cx, cr_query(cx, plain, asked[i], NULL, NULL, &b));
            assert_int_equal(a.n, b.n);
            for (size_t k = 0; k < a.n; k++) assert_int_equal(a.variable[k], b.variable[k]);
            for (size_t k = 0; k < a.table.size; k++)
                assert_close(a.table.value[k], b.table.value[k], 1e-12);
            for (size_t k = 0; k < a.values; k++)
                assert_close(a.value[k], b.value[k], 1e-13 + 1e-10 * fabs(b.value[k]));
            assert_int_equal(a.n_states, b.n_states);
            for (size_t k = 0; k < a.n_states; k++) assert_int_equal(a.states[k], b.states[k]);
            if (a.kind != CR_QUESTION_TABLE && a.kind != CR_QUESTION_CAUSES)
                assert_close(a.number, b.number, 1e-12);
            cr_query_answer_free(cx, &a);
            cr_query_answer_free(cx, &b);
        }
        cr_network_free(cx, net);
        cr_network_free(cx, plain);
    }
}

/* --- tables ---------------------------------------------------------------------------------- */

/* P(v <= k | u) = L(k) prod C_i(u_i, k), in long double, of every entry. */
TEST(tables_and_values_by_definition)
{
    cr_rng      r = cr_rng_stream(4, 0);
    cr_network *net, *filled;
    size_t      states[8] = { 2, 3, 4, 2, 3, 2, 4, 4 }, parents[7], state[8];
    double      effect[7 * 4 * 4], leak[4];
    char        name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 8; v++) {
        double equal[4];
        snprintf(name, sizeof name, "v%zu", v);
        for (size_t k = 0; k < states[v]; k++) equal[k] = 1 / (double)states[v];
        assert_ok(cx, cr_network_add_variable(cx, net, name, states[v], NULL, NULL));
        assert_ok(cx, cr_network_set_table(cx, net, v, equal));
        if (v < 7) parents[v] = v;
    }
    for (size_t row = 0; row < 21; row++) {
        double sum = 0, *p = row < 20 ? effect + row * 4 : leak;
        for (size_t k = 0; k < 4; k++) sum += p[k] = cr_rng_below(&r, 4) ? cr_rng_uniform(&r) : 0;
        if (sum == 0) sum = p[0] = 1;
        for (size_t k = 0; k < 4; k++) p[k] /= sum;
    }
    assert_ok(cx, cr_network_set_parents(cx, net, 7, 7, parents));
    assert_ok(cx, cr_cpd_noisy_max(cx, net, 7, effect, leak));
    assert_null(cr_network_table(net, 7).value); /* 4608 entries */
    assert_ok(cx, cri_network_fill(cx, net, NULL, 1e9, &filled));
    cr_table_view t = cr_network_table(filled, 7);
    for (size_t e = 0; e < t.size; e++) {
        long double upto = 0, below = 0, priors = 1;
        size_t      rest = e;
        for (size_t v = 8; v-- > 0;) state[v] = rest % states[v], rest /= states[v];
        for (size_t which = 0; which < 2; which++) {
            long double product = 1;
            for (size_t i = 0, first = 0; i <= 7; first += i < 7 ? states[i] : 0, i++) {
                const double *p = i < 7 ? effect + (first + state[i]) * 4 : leak;
                long double   c = 0;
                for (size_t k = 0; k + which < state[7] + 1; k++) c += p[k];
                product *= c;
            }
            if (which == 0) upto = product;
            if (which == 1) below = state[7] ? product : 0;
        }
        for (size_t v = 0; v < 7; v++) priors /= (long double)states[v];
        assert_close(t.value[e], (double)(upto - below), 1e-15);
        assert_relative(exp(cr_network_log_value(net, state)), (double)(priors * (upto - below)),
                        1e-9);
        assert_relative(exp(cr_network_log_value(net, state)),
                        exp(cr_network_log_value(filled, state)), 1e-12);
    }
    cr_network_free(cx, filled);
    cr_network_free(cx, net);
}

/* --- the best -------------------------------------------------------------------------------- */

/* Thirty causes of an effect without a table, most of them known: auxiliary variables are summed
 * out before anything is maximised. */
TEST(the_best_sums_first)
{
    size_t differs = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        cr_rng          r = cr_rng_stream(5, seed);
        layers          l = two_layers(cx, &r, 30, 2, 30);
        cr_query_answer a = { 0 };
        size_t          state[MOST], best[MOST] = { 0 }, known[MOST];
        double          most = -1, sum = 0;
        char            text[1024] = "argmax(*";
        for (size_t v = 0; v < 32; v++)
            state[v] = known[v] = v < 23 ? cr_rng_below(&r, 8) == 0 : CR_NONE;
        put_known(&l, known, text, strlen(text), sizeof text);
        for (size_t x = 0; x < 512; x++) {
            for (size_t v = 23; v < 32; v++) state[v] = x >> (v - 23) & 1;
            double p = value(&l, state);
            sum += p;
            if (p > most) memcpy(best, state, sizeof best), most = p;
        }
        assert_ok(cx, cr_query(cx, l.net, text, NULL, NULL, &a));
        assert_true(a.exact);
        assert_int_equal(a.n, 9);
        for (size_t i = 0; i < 9; i++) assert_int_equal(a.states[i], best[a.variable[i]]);
        assert_relative(a.number, most / sum, 1e-12);
        for (size_t v = 23; v < 30; v++) differs += best[v];
        cr_query_answer_free(cx, &a);
        memcpy(text, "best(2;*", 8);
        assert_ok(cx, cr_query(cx, l.net, text, NULL, NULL, &a));
        assert_relative(a.value[0], most / sum, 1e-12);
        assert_true(a.rows == 2 && a.value[1] <= a.value[0]);
        cr_query_answer_free(cx, &a);
        cr_network_free(cx, l.net);
    }
    assert_true(differs > 0); /* not all as the priors say */
}

/* Effects of thirteen causes get their table where one is needed. */
TEST(the_best_of_all_by_tables)
{
    cr_rng          r = cr_rng_stream(6, 0);
    layers          l = two_layers(cx, &r, 13, 2, 13);
    cr_query_answer a = { 0 };
    size_t          known[MOST];
    char            text[1024] = "argmax(*";
    for (size_t v = 0; v < 15; v++) known[v] = v == 13 ? l.on[0] : CR_NONE;
    put_known(&l, known, text, strlen(text), sizeof text);
    sums s = enumerate(&l, known);
    assert_ok(cx, cr_query(cx, l.net, text, NULL, NULL, &a));
    for (size_t i = 0; i < a.n; i++) assert_int_equal(a.states[i], s.state[a.variable[i]]);
    assert_relative(a.number, s.best / s.all, 1e-12);
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, l.net);
}

/* --- samples, files, failures ---------------------------------------------------------------- */

TEST(samples_agree)
{
    cr_rng           r = cr_rng_stream(7, 0);
    layers           l = two_layers(cx, &r, 12, 2, 12);
    cr_query_options o = cr_query_defaults();
    cr_query_answer  a = { 0 }, b = { 0 };
    char             text[96];
    snprintf(text, sizeof text, "P(d0, d1 | f0=%zu, f1=%zu)", l.on[0], l.on[1]);
    assert_ok(cx, cr_query(cx, l.net, text, NULL, &o, &a));
    o.approximate.samples = 20000;
    for (int m = CR_APPROXIMATE_LIKELIHOOD_WEIGHTING; m <= CR_APPROXIMATE_GIBBS; m++) {
        if (m == CR_APPROXIMATE_GIBBS) o.approximate.samples = 4000;
        o.method = (cr_query_method)(CR_QUERY_APPROXIMATE + m);
        assert_ok(cx, cr_query(cx, l.net, text, NULL, &o, &b));
        assert_true(b.error.se > 0 && b.error.se < 0.05);
        for (size_t k = 0; k < 4; k++)
            assert_close(b.table.value[k], a.table.value[k], 5 * b.error.se);
        cr_query_answer_free(cx, &b);
    }
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, l.net);
}

TEST(files_keep_the_effects)
{
    static const char *const names[] = { "noisy.json", "noisy.cred" };
    cr_rng                   r = cr_rng_stream(8, 0);
    layers                   l = two_layers(cx, &r, 30, 4, 3);
    char                     path[4096];
    for (size_t i = 0; i < 2; i++) {
        cr_network     *read = NULL;
        cr_query_answer a = { 0 }, b = { 0 };
        snprintf(path, sizeof path, "%s/%s", test_directory(), names[i]);
        assert_ok(cx, cr_network_write(cx, l.net, path, CR_FORMAT_AUTO));
        assert_ok(cx, cr_network_read(cx, path, CR_FORMAT_AUTO, &read));
        assert_int_equal(cr_network_size(read), 34); /* auxiliary variables are nowhere */
        for (size_t v = 30; v < 34; v++) {
            const cri_table *t = &l.net->table[v], *u = &read->table[v];
            assert_int_equal(u->kind, CR_CPD_NOISY_OR);
            assert_int_equal(u->n, t->n);
            assert_int_equal(u->noisy.falling, t->noisy.falling);
            assert_memory_equal(u->noisy.effect, t->noisy.effect,
                                t->noisy.rows * t->noisy.levels * sizeof(double));
        }
        assert_ok(cx, cr_query(cx, l.net, "P(d3 | f0=1, f2=0)", NULL, NULL, &a));
        assert_ok(cx, cr_query(cx, read, "P(d3 | f0=1, f2=0)", NULL, NULL, &b));
        assert_memory_equal(a.table.value, b.table.value, 2 * sizeof(double));
        cr_query_answer_free(cx, &a);
        cr_query_answer_free(cx, &b);
        cr_network_free(cx, read);
    }
    cr_network_free(cx, l.net);
    l = two_layers(cx, &r, 30, 1, 30);
    snprintf(path, sizeof path, "%s/noisy.bif", test_directory());
    cr_ctx_set_memory_limit(cx, cr_ctx_memory(cx) + ((size_t)1 << 30));
    assert_fails_with(cx, cr_network_write(cx, l.net, path, CR_FORMAT_AUTO), CR_ENOMEM, "entries");
    cr_network_free(cx, l.net);
    l = two_layers(cx, &r, 12, 1, 12); /* more than a table is made of at once */
    assert_ok(cx, cr_network_write(cx, l.net, path, CR_FORMAT_AUTO));
    cr_network *read = NULL;
    assert_ok(cx, cr_network_read(cx, path, CR_FORMAT_AUTO, &read));
    assert_int_equal(cr_network_table(read, 12).size, 8192);
    cr_network_free(cx, read);
    cr_network_free(cx, l.net);
}

TEST(what_needs_a_table_says_so)
{
    cr_rng          r = cr_rng_stream(9, 0);
    layers          l = two_layers(cx, &r, 30, 1, 30);
    cr_query_answer a = { 0 };
    double          log_e;
    assert_fails_with(cx, cr_bucket_log_evidence(cx, l.net, NULL, NULL, &log_e, NULL),
                      CR_EUNSUPPORTED, "the noisy-or of 'f0' with 30 parents");
    assert_fails_with(cx, cr_query(cx, l.net, "sensitivity(d0=1 | f0=1)", NULL, NULL, &a),
                      CR_EUNSUPPORTED, "would be too large");
    assert_ok(cx, cr_query(cx, l.net, "d0 _|_ d1 | f0", NULL, NULL, &a));
    assert_false(a.holds);
    assert_int_equal(a.n, 3); /* by f0, not by auxiliary variables */
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, l.net);
}

static cr_status ask_and_copy(cr_ctx *cx, void *user)
{
    cr_status       st = CR_OK;
    cr_network     *copy = NULL;
    cr_query_answer a = { 0 }, b = { 0 };
    CR_TRY(cr_network_copy(cx, user, &copy));
    CR_TRY(cr_query(cx, copy, "P(* | f0=1, f1=0)", NULL, NULL, &a));
    CR_TRY(cr_query(cx, copy, "argmax(* | f0=1, f1=0)", NULL, NULL, &b));
done:
    cr_query_answer_free(cx, &a);
    cr_query_answer_free(cx, &b);
    cr_network_free(cx, copy);
    return st;
}

TEST(allocations_may_fail)
{
    cr_rng r = cr_rng_stream(10, 0);
    layers l = two_layers(cx, &r, 4, 2, 4);
    test_every_allocation_fails(ask_and_copy, l.net);
    cr_network_free(cx, l.net);
}
