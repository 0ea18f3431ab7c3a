/* The canonical parameterisation: its product is the distribution, and its weights are the sums
 * over subsets of the definition. */
#include "support.h"

#include "base/rng.h"
#include "graph/exact/bucket.h"
#include "graph/files/json_network.h"
#include "graph/files/log_linear.h"
#include "graph/files/network_file.h"
#include "random_network.h"
#include "same_network.h"

#include <jansson.h>

/* A network whose tables have no zeros. */
static cr_network *positive_network(cr_ctx *cx, cr_rng *r, cr_network_kind kind, size_t n)
{
    cr_network *net = random_network(cx, r, kind, n), *out = NULL;
    assert_ok(cx, cr_network_new(cx, kind, &out));
    for (size_t v = 0; v < n; v++)
        assert_ok(cx,
                  cr_network_add_variable(cx, out, cr_variable_name(cr_network_variables(net), v),
                                          cr_network_states(net, v), NULL, NULL));
    for (size_t i = 0; i < cr_network_tables(net); i++) {
        cr_table_view t = cr_network_table(net, i);
        double        value[4096];
        size_t        states = kind == CR_NETWORK_BAYES ? cr_network_states(net, i) : t.size;
        for (size_t row = 0; row < t.size; row += states) {
            double sum = 0;
            for (size_t s = 0; s < states; s++) sum += value[row + s] = t.value[row + s] + 0.05;
            for (size_t s = 0; kind == CR_NETWORK_BAYES && s < states; s++) value[row + s] /= sum;
        }
        if (kind == CR_NETWORK_BAYES) {
            assert_ok(cx, cr_network_set_parents(cx, out, i, t.n - 1, t.scope));
            assert_ok(cx, cr_network_set_table(cx, out, i, value));
        } else {
            assert_ok(cx, cr_network_add_table(cx, out, t.n, t.scope, value));
        }
    }
    cr_network_free(cx, net);
    return out;
}

/* eps_D(d) by the definition: every subset Z of D, signs by how many are left out. */
static double by_definition(const cr_network *net, const size_t *reference, size_t n,
                            const size_t *var, const size_t *state)
{
    double sum = 0;
    size_t x[16];
    for (size_t z = 0; z < (size_t)1 << n; z++) {
        size_t out = 0;
        memcpy(x, reference, cr_network_size(net) * sizeof *x);
        for (size_t i = 0; i < n; i++) {
            if (z >> i & 1)
                x[var[i]] = state[i];
            else
                out++;
        }
        sum += (out % 2 ? -1 : 1) * cr_network_log_value(net, x);
    }
    return sum;
}

/* Each weight that was kept, read from the parameters of its table. */
static void check_weights(const cr_network *net, const size_t *reference,
                          const cr_network *features)
{
    const cr_variables *vs = cr_network_variables(net);
    for (size_t i = 0; i < cr_network_tables(features); i++) {
        cr_table_view t = cr_network_table(features, i);
        json_t       *list = json_loads(t.source, 0, NULL), *one, *item;
        size_t        k;
        assert_int_equal(t.kind, CR_CPD_LOG_LINEAR);
        json_array_foreach(list, k, one)
        {
            size_t      var[16], state[16], n = 0;
            const char *name;
            json_object_foreach(json_object_get(one, "when"), name, item)
            {
                var[n] = cr_variable_lookup(vs, name);
                state[n] = cr_state_lookup(vs, var[n], json_string_value(item));
                assert_true(state[n] != reference[var[n]]);
                n++;
            }
            assert_close(json_number_value(json_object_get(one, "weight")),
                         by_definition(net, reference, n, var, state), 1e-11);
        }
        json_decref(list);
    }
}

TEST(products_are_the_same)
{
    cr_rng r = cr_rng_stream(21, 0);
    for (size_t trial = 0; trial < 60; trial++) {
        size_t      n = 1 + cr_rng_below(&r, 6), reference[16] = { 0 }, joint = 1, x[16];
        cr_network *net =
            positive_network(cx, &r, trial % 2 ? CR_NETWORK_MARKOV : CR_NETWORK_BAYES, n);
        cr_network *features = NULL, *back = NULL;
        char        path[512];
        for (size_t v = 0; v < n; v++) {
            if (trial % 3) reference[v] = cr_rng_below(&r, cr_network_states(net, v));
            joint *= cr_network_states(net, v);
        }
        assert_ok(cx, cr_network_canonical(cx, net, trial % 3 ? reference : NULL, &features));
        assert_int_equal(cr_network_get_kind(features), CR_NETWORK_MARKOV);
        check_weights(net, reference, features);
        snprintf(path, sizeof path, "%s/features.json", test_directory());
        assert_ok(cx, cr_network_write(cx, features, path, CR_FORMAT_AUTO));
        assert_ok(cx, cr_network_read(cx, path, CR_FORMAT_AUTO, &back));
        assert_same_network(features, back, true);
        for (size_t e = 0; e < joint; e++) {
            size_t rest = e;
            for (size_t v = 0; v < n; v++) {
                x[v] = rest % cr_network_states(net, v);
                rest /= cr_network_states(net, v);
            }
            assert_close(cr_network_log_value(features, x), cr_network_log_value(net, x), 1e-11);
        }
        double a, b;
        assert_ok(cx, cr_bucket_log_evidence(cx, net, NULL, NULL, &a, NULL));
        assert_ok(cx, cr_bucket_log_evidence(cx, back, NULL, NULL, &b, NULL));
        assert_close(a, b, 1e-11);
        cr_network_free(cx, net);
        cr_network_free(cx, features);
        cr_network_free(cx, back);
    }
}

/* The Markov network of Koller & Friedman's example 4.1, whose canonical energies are in their
 * figure 4.11: eps_1(a1, b1) = log 30*10 / 5*1 ... of the first state as reference. */
TEST(the_book_agrees)
{
    static const double TABLES[4][4] = {
        { 30, 5, 1, 10 }, { 100, 1, 1, 100 }, { 1, 100, 100, 1 }, { 100, 1, 1, 100 }
    };
    cr_network *net, *features = NULL;
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t v = 0; v < 4; v++) {
        char name[2] = { (char)('a' + (int)v), 0 };
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
    }
    for (size_t i = 0; i < 4; i++) { /* a-b, b-c, c-d, d-a */
        size_t scope[] = { i, (i + 1) % 4 };
        assert_ok(cx, cr_network_add_table(cx, net, 2, scope, TABLES[i]));
    }
    assert_ok(cx, cr_network_canonical(cx, net, NULL, &features));
    size_t pairs = 0, singles = 0;
    for (size_t i = 0; i < cr_network_tables(features); i++) {
        cr_table_view t = cr_network_table(features, i);
        pairs += t.n == 2, singles += t.n == 1;
        if (t.n == 2 && t.scope[0] == 0 && t.scope[1] == 1)
            assert_close(log(t.value[3]), log(30 * 10.0 / (5 * 1)), 1e-13); /* 4.09 */
        if (t.n == 2 && t.scope[0] == 2) assert_close(log(t.value[3]), -9.2103403719761836, 1e-13);
        if (t.n == 1 && t.scope[0] == 0) assert_close(log(t.value[1]), log(1 / 30.0 / 100), 1e-13);
    }
    assert_int_equal(pairs, 4);
    assert_int_equal(singles, 2); /* c and d by themselves: nothing but rounding */
    cr_network_free(cx, net);
    cr_network_free(cx, features);
}

/* Spins of 0 and 1 around all zeros: the weights are those of the machine. */
TEST(machines_are_their_own_features)
{
    static const char TEXT[] = "{\"network\": \"markov\", \"boltzmann\": {\"biases\": {\"x\": "
                               "-0.5, \"y\": 0.25}, \"weights\": "
                               "[[\"x\", \"y\", 1.5]]}}";
    cr_network       *net = NULL, *features = NULL;
    assert_ok(cx, cr_json_parse(cx, "b.json", TEXT, sizeof TEXT - 1, &net));
    assert_ok(cx, cr_network_canonical(cx, net, NULL, &features));
    assert_int_equal(cr_network_tables(features), 3);
    assert_close(log(cr_network_table(features, 0).value[1]), -0.5, 1e-15);
    assert_close(log(cr_network_table(features, 1).value[1]), 0.25, 1e-15);
    assert_close(log(cr_network_table(features, 2).value[3]), 1.5, 1e-15);
    cr_network_free(cx, net);
    cr_network_free(cx, features);
}

TEST(zeros_are_refused)
{
    static const char TEXT[] =
        "{\"network\": \"markov\", \"variables\": {\"x\": 2, \"y\": 2}, \"factors\": [{\"scope\": "
        "[\"x\", \"y\"], \"table\": [1, 2, 0, 3]}]}";
    cr_network *net = NULL, *features = NULL;
    size_t      wrong[] = { 0, 2 };
    assert_ok(cx, cr_json_parse(cx, "z.json", TEXT, sizeof TEXT - 1, &net));
    assert_fails_with(cx, cr_network_canonical(cx, net, NULL, &features), CR_EDATA,
                      "a table is 0 at x=1, y=0");
    assert_fails_with(cx, cr_network_canonical(cx, net, wrong, &features), CR_EARG,
                      "the reference of 'y'");
    assert_null(features);
    cr_network_free(cx, net);
}

static cr_status canonical_of(cr_ctx *cx, void *text)
{
    cr_network *net = NULL, *features = NULL;
    cr_status   st = cr_json_parse(cx, "b.json", text, strlen(text), &net);
    if (st == CR_OK) st = cr_network_canonical(cx, net, NULL, &features);
    cr_network_free(cx, net);
    cr_network_free(cx, features);
    return st;
}

TEST(every_allocation_may_fail)
{
    static char text[] =
        "{\"network\": \"markov\", \"ising\": {\"rows\": 2, \"cols\": 2, \"coupling\": "
        "1, \"field\": 0.5}}";
    test_every_allocation_fails(canonical_of, text);
}
