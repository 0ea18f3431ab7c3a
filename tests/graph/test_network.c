/* Networks: what is refused and in which words, orders, compact conditional distributions. */
#include "random_network.h"

#include "graph/network/cpd.h"
#include "graph/network/structure.h"

typedef struct heard {
    size_t warnings;
    char   last[512];
} heard;

static void listen(void *user, cr_log_level level, const char *text)
{
    heard *h = user;
    h->warnings += level == CR_LOG_WARNING;
    snprintf(h->last, sizeof h->last, "%s", text);
}

/* a -> c <- b with named states. */
static cr_network *collider(cr_ctx *cx)
{
    const char *const low_high[] = { "low", "high" }, *const three[] = { "none", "some", "much" };
    size_t      parents[] = { 0, 1 };
    cr_network *net;
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    assert_ok(cx, cr_network_add_variable(cx, net, "rain", 2, low_high, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net, "wind", 3, three, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net, "damage", 2, NULL, NULL));
    assert_ok(cx, cr_network_set_parents(cx, net, 2, 2, parents));
    return net;
}

TEST(names_are_found)
{
    cr_network         *net = collider(cx);
    const cr_variables *vs = cr_network_variables(net);
    const char *const   twice[] = { "a", "b", "a" };
    size_t              v, s;
    assert_ok(cx, cr_variable_find(cx, vs, "wind", &v));
    assert_int_equal(v, 1);
    assert_ok(cx, cr_state_find(cx, vs, 1, "much", &s));
    assert_int_equal(s, 2);
    assert_string_equal(cr_state_name(vs, 2, 1), "1");
    assert_fails_with(cx, cr_variable_find(cx, vs, "wimd", &v), CR_EARG, "wimd");
    assert_string_equal(cr_error_nearest(cx), "wind");
    assert_fails_with(cx, cr_state_find(cx, vs, 1, "sume", &s), CR_EARG,
                      "'wind' has no state 'sume'");
    assert_string_equal(cr_error_nearest(cx), "some");
    assert_true(cr_variable_lookup(vs, "x") == CR_NONE && cr_state_lookup(vs, 0, "x") == CR_NONE);
    assert_fails_with(cx, cr_network_add_variable(cx, net, "rain", 2, NULL, NULL), CR_EDATA,
                      "two var");
    assert_fails_with(cx, cr_network_add_variable(cx, net, "t", 3, twice, NULL), CR_EDATA,
                      "two states");
    assert_fails_with(cx, cr_network_add_variable(cx, net, "t", 0, NULL, NULL), CR_EDATA,
                      "no states");
    assert_fails(cx, cr_network_add_variable(cx, net, "", 2, NULL, NULL), CR_EDATA);
    assert_int_equal(cr_network_size(net), 3);
    cr_network_free(cx, net);
}

TEST(tables_are_checked)
{
    heard       h = { 0 };
    cr_network *net = collider(cx);
    double      p[12], exact[] = { 0.25, 0.75 };
    cr_ctx_set_log(cx, listen, &h);
    for (size_t i = 0; i < 12; i++) p[i] = 0.5;
    assert_fails_with(cx, cr_network_check(cx, net), CR_EDATA, "'rain' has no probability table");
    assert_ok(cx, cr_network_set_table(cx, net, 2, p));
    p[9] = 0.4; /* row 4: rain=high, wind=some */
    assert_fails_with(cx, cr_network_set_table(cx, net, 2, p), CR_EDATA,
                      "'damage' given rain=high, wind=some sum to 0.9");
    p[9] = -0.5;
    assert_fails_with(cx, cr_network_set_table(cx, net, 2, p), CR_EDATA, "-0.5");
    p[9] = NAN;
    assert_fails(cx, cr_network_set_table(cx, net, 2, p), CR_EDATA);
    assert_true(cr_network_table(net, 2).value[9] == 0.5); /* as it was */
    assert_int_equal(h.warnings, 0);
    p[9] = 0.5001;
    assert_ok(cx, cr_network_set_table(cx, net, 2, p));
    assert_int_equal(h.warnings, 1);
    assert_non_null(strstr(h.last, "damage"));
    assert_close(cr_network_table(net, 2).value[9], 0.5001 / 1.0001, 1e-15);
    p[9] = 0.5 + 3e-7; /* digits of a file: silent */
    assert_ok(cx, cr_network_set_table(cx, net, 2, p));
    assert_int_equal(h.warnings, 1);
    assert_ok(cx, cr_network_set_table(cx, net, 0, exact));
    assert_true(cr_network_table(net, 0).value[0] == 0.25);
    assert_fails_with(cx, cr_network_add_table(cx, net, 0, NULL, p), CR_EARG, "Bayesian");
    cr_network_free(cx, net);
}

TEST(arcs_are_checked)
{
    cr_network *net;
    size_t      self = 0, missing = 9, twice[] = { 1, 1 }, many[70], one;
    double      half[] = { 0.5, 0.5, 0.5, 0.5 };
    char        name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 71; v++) {
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        assert_ok(cx, cr_network_set_table(cx, net, v, half));
        if (v < 70) many[v] = v;
    }
    assert_fails_with(cx, cr_network_set_parents(cx, net, 0, 1, &self), CR_EDATA, "own parent");
    missing = 99;
    assert_fails_with(cx, cr_network_set_parents(cx, net, 0, 1, &missing), CR_EARG, "99");
    assert_fails_with(cx, cr_network_set_parents(cx, net, 0, 2, twice), CR_EDATA,
                      "'v1' occurs twice");
    assert_ok(cx, cr_network_set_parents(cx, net, 70, 70, many)); /* it need not be a table */
    assert_fails_with(cx, cr_network_set_table(cx, net, 70, half), CR_ENOMEM, "2.36e+21 entries");
    assert_ok(cx, cr_network_set_parents(cx, net, 70, 0, NULL));
    assert_ok(cx, cr_network_set_table(cx, net, 70, half));
    one = 3, assert_ok(cx, cr_network_set_parents(cx, net, 5, 1, &one));
    one = 5, assert_ok(cx, cr_network_set_parents(cx, net, 7, 1, &one));
    one = 7, assert_ok(cx, cr_network_set_parents(cx, net, 3, 1, &one));
    one = 7, assert_ok(cx, cr_network_set_parents(cx, net, 8, 1, &one)); /* hangs below the cycle */
    size_t order[71];
    assert_fails_with(cx, cr_network_order(cx, net, order), CR_EDATA, "cycle: ");
    for (const char *const *n = (const char *const[]){ "v3", "v5", "v7", NULL }; *n; n++)
        assert_non_null(strstr(cr_error(cx), *n));
    assert_null(strstr(cr_error(cx), "v8"));
    cr_network_free(cx, net);
}

TEST(copies_and_interventions)
{
    for (uint64_t round = 0; round < 20; round++) {
        cr_rng      r = cr_rng_stream(31, round);
        cr_network *net =
            random_network(cx, &r, round % 2 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV, 6);
        cr_network *copy;
        size_t      state[6];
        assert_ok(cx, cr_network_set_name(cx, net, "n"));
        assert_ok(cx, cr_network_add_property(cx, net, 2, "position = (1, 2)"));
        assert_ok(cx, cr_network_copy(cx, net, &copy));
        assert_string_equal(cr_network_name(copy), "n");
        size_t about;
        assert_string_equal(cr_network_property(copy, 0, &about), "position = (1, 2)");
        assert_int_equal(about, 2);
        for (size_t v = 0; v < 6; v++) state[v] = cr_rng_below(&r, cr_network_states(net, v));
        assert_true(cr_network_log_value(net, state) == cr_network_log_value(copy, state));
        if (round % 2) {
            size_t parents;
            assert_ok(cx, cr_network_intervene(cx, copy, 3, 0));
            cr_network_parents(copy, 3, &parents);
            assert_int_equal(parents, 0);
            assert_ok(cx, cr_network_check(cx, copy));
        } else {
            assert_fails_with(cx, cr_network_intervene(cx, copy, 3, 0), CR_EARG, "Bayesian");
        }
        cr_network_free(cx, copy);
        cr_network_free(cx, net);
    }
}

TEST(compact_distributions)
{
    cr_network *net;
    size_t      parents[] = { 0, 1 }, xor[] = { 0, 1, 1, 0 };
    double      strength[] = { 0.8, 0.3 };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 3; v++) {
        const char *const names[] = { "a", "b", "c" };
        assert_ok(cx, cr_network_add_variable(cx, net, names[v], 2, NULL, NULL));
    }
    assert_ok(cx, cr_network_set_parents(cx, net, 2, 2, parents));
    assert_ok(cx, cr_cpd_deterministic(cx, net, 2, xor));
    cr_table_view t = cr_network_table(net, 2);
    assert_int_equal(t.kind, CR_CPD_DETERMINISTIC);
    for (size_t row = 0; row < 4; row++) assert_true(t.value[2 * row + xor[row]] == 1);

    assert_ok(cx, cr_cpd_noisy_or(cx, net, 2, 0.1, strength, NULL));
    t = cr_network_table(net, 2);
    double off[] = { 0.9, 0.9 * 0.7, 0.9 * 0.2, 0.9 * 0.7 * 0.2 };
    for (size_t row = 0; row < 4; row++) assert_close(t.value[2 * row], off[row], 1e-15);
    size_t on[] = { 0, 1, 0 };
    assert_ok(cx, cr_cpd_noisy_or(cx, net, 2, 0.1, strength, on)); /* a and c are on in state 0 */
    t = cr_network_table(net, 2);
    assert_close(t.value[2 * 0 + 1], 0.9 * 0.2, 1e-15);
    assert_close(t.value[2 * 3 + 1], 0.9 * 0.7, 1e-15);

    /* noisy-max with two states and effects (1 - s, s) is noisy-or */
    double effect[] = { 1, 0, 0.2, 0.8, 1, 0, 0.7, 0.3 }, leak[] = { 0.9, 0.1 };
    assert_ok(cx, cr_cpd_noisy_max(cx, net, 2, effect, leak));
    t = cr_network_table(net, 2);
    for (size_t row = 0; row < 4; row++) assert_close(t.value[2 * row], off[row], 1e-15);

    double       p0[] = { 0.1, 0.9 }, p1[] = { 0.4, 0.6 }, p2[] = { 0.7, 0.3 };
    cr_tree_node tree[] = {
        { 1, 1, NULL }, { CR_NONE, 0, p0 }, { 0, 3, NULL }, { CR_NONE, 0, p1 }, { CR_NONE, 0, p2 }
    };
    assert_ok(cx, cr_cpd_tree(cx, net, 2, 5, tree));
    t = cr_network_table(net, 2);
    double expected[] = { 0.1, 0.4, 0.1, 0.7 }; /* rows ab = 00, 01, 10, 11 */
    for (size_t row = 0; row < 4; row++) assert_close(t.value[2 * row], expected[row], 1e-15);
    tree[0].next = 0;
    assert_fails_with(cx, cr_cpd_tree(cx, net, 2, 5, tree), CR_EDATA, "node 0");
    xor[2] = 5;
    assert_fails(cx, cr_cpd_deterministic(cx, net, 2, xor), CR_EDATA);
    strength[0] = 1.5;
    assert_fails(cx, cr_cpd_noisy_or(cx, net, 2, 0.1, strength, NULL), CR_EDATA);
    cr_network_free(cx, net);
}

TEST(features_make_factors)
{
    cr_network *net;
    cr_factor   f;
    size_t      v0[] = { 2, 0 }, s0[] = { 1, 0 }, v1[] = { 1 }, s1[] = { 2 }, state[3];
    cr_feature  feature[] = { { 2, v0, s0, 0.7 }, { 1, v1, s1, -1.3 } };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    assert_ok(cx, cr_network_add_variable(cx, net, "a", 2, NULL, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net, "b", 3, NULL, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net, "c", 2, NULL, NULL));
    assert_ok(cx, cr_feature_factor(cx, net, 2, feature, &f));
    assert_ok(cx, cr_network_add_features(cx, net, 2, feature));
    for (size_t e = 0; e < 12; e++) {
        state[0] = e / 6, state[1] = e / 2 % 3, state[2] = e % 2;
        double log_value = 0.7 * (state[2] == 1 && state[0] == 0) - 1.3 * (state[1] == 2);
        assert_close(log(f.value[cr_factor_index(&f, state)]), log_value, 1e-15);
        assert_close(cr_network_log_value(net, state), log_value, 1e-15);
    }
    s1[0] = 3;
    assert_fails_with(cx, cr_feature_factor(cx, net, 2, feature, &f), CR_EDATA, "feature 2");
    cr_factor_free(cx, &f);
    cr_network_free(cx, net);
}

static cr_status make_everything(cr_ctx *cx, void *unused)
{
    (void)unused;
    cr_status   st = CR_OK;
    cr_network *net = NULL, *copy = NULL;
    size_t      parents[] = { 0, 1 };
    double      strength[] = { 0.8, 0.3 }, half[] = { 0.5, 0.5 };
    cr_factor   f = { 0 };
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 3; v++) {
        const char *const names[] = { "a", "b", "c" };
        CR_TRY(cr_network_add_variable(cx, net, names[v], 2, NULL, NULL));
        CR_TRY(cr_network_set_table(cx, net, v, half));
    }
    CR_TRY(cr_network_set_parents(cx, net, 2, 2, parents));
    CR_TRY(cr_cpd_noisy_or(cx, net, 2, 0.1, strength, NULL));
    CR_TRY(cr_network_add_property(cx, net, CR_NONE, "text"));
    CR_TRY(cr_network_check(cx, net));
    CR_TRY(cr_network_copy(cx, net, &copy));
    CR_TRY(cr_network_intervene(cx, copy, 2, 1));
    CR_TRY(cr_network_factor(cx, net, 2, &f));
done:
    cr_factor_free(cx, &f);
    cr_network_free(cx, copy);
    cr_network_free(cx, net);
    return st;
}

TEST(allocations_may_fail) { test_every_allocation_fails(make_everything, NULL); }
