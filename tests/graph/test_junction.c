/* The junction tree against enumeration, a plain version of itself, and itself after changes. */
#include "enumerated.h"

#include "graph/exact/junction.h"
#include "reference_tree.h"

enum { MOST_STATES = 64 };

/* Compares what the tree says with enumeration; `way` chooses how it is asked. */
static void check_tree(cr_ctx *cx, cr_rng *r, cr_junction *j, const cr_network *net,
                       const cr_evidence *e, size_t way, size_t *impossible)
{
    double log_e, log_j, got[MOST_STATES], expected[MOST_STATES], best, most;
    size_t n = cr_network_size(net), state[16], other[16], query[16], at = 0;
    assert_ok(cx, cr_enumerate_query(cx, net, e, 0, NULL, 0, NULL, &log_e));
    assert_ok(cx, cr_junction_log_evidence(cx, j, &log_j));
    if (log_e == -INFINITY) {
        (*impossible)++;
        assert_true(log_j == -INFINITY);
        assert_fails_with(cx, cr_junction_marginals(cx, j, got), CR_EDATA, "impossible");
        assert_fails(cx, cr_junction_marginal(cx, j, 0, got), CR_EDATA);
        assert_fails(cx, cr_junction_best(cx, j, state, &best), CR_EDATA);
        return;
    }
    assert_close(log_j, log_e, 1e-12);
    enumerate_marginals(cx, net, e, expected);
    if (way == 0) assert_ok(cx, cr_junction_calibrate(cx, j, CR_CALIBRATE_SHAFER_SHENOY));
    if (way == 1) assert_ok(cx, cr_junction_calibrate(cx, j, CR_CALIBRATE_HUGIN));
    if (way < 2) {
        assert_ok(cx, cr_junction_marginals(cx, j, got));
        for (size_t i = 0; i < all_states(net); i++) assert_close(got[i], expected[i], 1e-12);
    }
    for (size_t v = 0; v < n; at += cr_network_states(net, v++)) {
        if (way == 2 && cr_rng_below(r, 2)) continue; /* only some messages */
        assert_ok(cx, cr_junction_marginal(cx, j, v, got));
        for (size_t s = 0; s < cr_network_states(net, v); s++)
            assert_close(got[s], expected[at + s], 1e-12);
    }
    cr_rng_permutation(r, n, query);
    size_t    k = 1 + cr_rng_below(r, n < 3 ? n : 3);
    cr_factor f, g;
    assert_ok(cx, cr_enumerate_query(cx, net, e, k, query, 0, &f, NULL));
    assert_ok(cx, cr_junction_joint(cx, j, k, query, &g));
    assert_int_equal(f.size, g.size);
    for (size_t i = 0; i < f.size; i++) assert_close(g.value[i], f.value[i], 1e-12);
    cr_factor_free(cx, &f);
    cr_factor_free(cx, &g);
    assert_ok(cx, cr_enumerate_best(cx, net, e, 0, NULL, 0, other, &most));
    assert_ok(cx, cr_junction_best(cx, j, state, &best));
    assert_close(best, most, 1e-12);
    double value = cr_network_log_value(net, state);
    for (size_t v = 0; e && v < n; v++)
        if (cr_evidence_likelihood(e, v)) value += log(cr_evidence_likelihood(e, v)[state[v]]);
    assert_close(value, best, 1e-12);
}

TEST(trees_are_enumeration)
{
    size_t impossible = 0;
    for (uint64_t round = 0; round < 250; round++) {
        cr_rng       r = cr_rng_stream(20, round);
        cr_network  *net = random_network(cx, &r, round % 3 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV,
                                          1 + cr_rng_below(&r, 7));
        cr_evidence *e = random_evidence(cx, &r, net);
        cr_exact_options o = cr_exact_defaults();
        cr_junction     *j;
        o.order = (cr_elimination)(round % 7);
        assert_ok(cx, cr_junction_new(cx, net, e, &o, &j));
        check_tree(cx, &r, j, net, e, round % 4, &impossible);
        cr_junction_free(cx, j);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_in_range(impossible, 3, 150);
}

/* n variables, each with up to three parents among the five before it. */
static cr_network *band(cr_ctx *cx, cr_rng *r, size_t n)
{
    cr_network *net;
    char        name[32];
    double      value[81];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < n; v++) {
        size_t states = 2 + cr_rng_below(r, 2), parent[3], parents = 0, rows = 1;
        snprintf(name, sizeof name, "x%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, states, NULL, NULL));
        for (size_t u = v < 5 ? 0 : v - 5; u < v && parents < 3; u++)
            if (cr_rng_below(r, 2)) parent[parents++] = u, rows *= cr_network_states(net, u);
        for (size_t i = 0; i < rows; i++) {
            double sum = 0;
            for (size_t s = 0; s < states; s++)
                sum += value[i * states + s] = s == 0 || cr_rng_below(r, 8) ? cr_rng_uniform(r) : 0;
            for (size_t s = 0; s < states; s++) value[i * states + s] /= sum;
        }
        assert_ok(cx, cr_network_set_parents(cx, net, v, parents, parent));
        assert_ok(cx, cr_network_set_table(cx, net, v, value));
    }
    return net;
}

/* The plain tree is enumeration on small networks, and the fast one is the plain one on large. */
TEST(trees_are_the_plain_tree)
{
    size_t possible = 0;
    for (uint64_t round = 0; round < 60; round++) {
        cr_rng       r = cr_rng_stream(25, round);
        size_t       n = round % 2 ? 8 : 40;
        cr_network  *net = band(cx, &r, n);
        cr_evidence *e = random_evidence(cx, &r, net);
        double plain[3 * 40], fast[3 * 40], log_j, log_e = reference_marginals(cx, net, e, plain);
        for (size_t how = 0; how < 2; how++) {
            cr_junction *j;
            assert_ok(cx, cr_junction_new(cx, net, e, NULL, &j));
            assert_ok(cx, cr_junction_log_evidence(cx, j, &log_j));
            assert_true((log_e == -INFINITY) == (log_j == -INFINITY));
            if (log_e > -INFINITY) {
                assert_close(log_j, log_e, 1e-11);
                assert_ok(cx, cr_junction_calibrate(
                                  cx, j, how ? CR_CALIBRATE_HUGIN : CR_CALIBRATE_SHAFER_SHENOY));
                assert_ok(cx, cr_junction_marginals(cx, j, fast));
                for (size_t i = 0; i < all_states(net); i++) assert_close(fast[i], plain[i], 1e-11);
                possible++;
            }
            cr_junction_free(cx, j);
        }
        if (n == 8 && log_e > -INFINITY) {
            enumerate_marginals(cx, net, e, fast);
            for (size_t i = 0; i < all_states(net); i++) assert_close(plain[i], fast[i], 1e-12);
        }
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_in_range(possible, 40, 120);
}

/* Evidence comes and goes: every state of the tree must be as if it were new. */
TEST(changes_leave_nothing_behind)
{
    size_t impossible = 0;
    for (uint64_t round = 0; round < 40; round++) {
        cr_rng      r = cr_rng_stream(21, round);
        cr_network *net =
            random_network(cx, &r, round % 3 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV, 7);
        cr_evidence *e;
        cr_junction *j;
        assert_ok(cx, cr_evidence_new(cx, net, &e));
        assert_ok(cx, cr_junction_new(cx, net, round % 2 ? e : NULL, NULL, &j));
        for (size_t step = 0; step < 8; step++) {
            size_t v = cr_rng_below(&r, 7), states = cr_network_states(net, v);
            double l[3];
            if (cr_rng_below(&r, 3) == 0) {
                cr_evidence_forget(cx, e, v);
            } else {
                for (size_t s = 0; s < states; s++)
                    l[s] = cr_rng_below(&r, 3) ? cr_rng_uniform(&r) : 0;
                l[cr_rng_below(&r, states)] = 0.5;
                assert_ok(cx, cr_evidence_weigh(cx, e, v, l));
            }
            assert_ok(cx, cr_junction_set_evidence(cx, j, e));
            check_tree(cx, &r, j, net, e, cr_rng_below(&r, 4), &impossible);
        }
        assert_ok(cx, cr_junction_set_evidence(cx, j, NULL));
        check_tree(cx, &r, j, net, NULL, 1, &impossible);
        cr_junction_free(cx, j);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
}

/* A chain x0 - x1 - ... of n binary variables that mostly keep their state. */
static cr_network *chain(cr_ctx *cx, size_t n)
{
    cr_network *net;
    double      first[] = { 0.3, 0.7 }, next[] = { 0.9, 0.1, 0.2, 0.8 };
    char        name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < n; v++) {
        size_t parent = v - 1;
        snprintf(name, sizeof name, "x%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        assert_ok(cx, cr_network_set_parents(cx, net, v, v > 0, &parent));
        assert_ok(cx, cr_network_set_table(cx, net, v, v ? next : first));
    }
    return net;
}

/* Only what a change touches is computed again: a question near the change costs few messages. */
TEST(few_messages_are_computed_again)
{
    enum { N = 300 };
    cr_network  *net = chain(cx, N);
    cr_evidence *e;
    cr_junction *j;
    double       all[2 * N], p[2];
    assert_ok(cx, cr_evidence_new(cx, net, &e));
    assert_ok(cx, cr_junction_new(cx, net, NULL, NULL, &j));
    assert_ok(cx, cr_junction_marginals(cx, j, all));
    size_t before = cr_junction_messages(j);
    assert_true(before >= N);
    assert_ok(cx, cr_junction_set_evidence(cx, j, e)); /* no change */
    assert_ok(cx, cr_junction_marginals(cx, j, all));
    assert_int_equal(cr_junction_messages(j), before);
    double l[] = { 1, 0.5 };
    assert_ok(cx, cr_evidence_weigh(cx, e, 0, l));
    assert_ok(cx, cr_junction_set_evidence(cx, j, e));
    assert_ok(cx, cr_junction_marginal(cx, j, 1, p));
    assert_true(cr_junction_messages(j) - before <= 6);
    double x0 = 0.3 / (0.3 + 0.35);
    assert_close(p[0], x0 * 0.9 + (1 - x0) * 0.2, 1e-13);
    cr_junction_free(cx, j);
    cr_evidence_free(cx, e);
    cr_network_free(cx, net);
}

/* A message that was divided by zeros must go when what came up changes. */
TEST(divisions_by_zero_are_forgotten)
{
    cr_network *net = chain(cx, 5);
    double      never[] = { 0, 1, 0.5, 0.5 }; /* after 0 always 1 */
    for (size_t v = 1; v < 5; v++) assert_ok(cx, cr_network_set_table(cx, net, v, never));
    for (size_t v = 0; v < 5; v++) {
        cr_evidence *e;
        cr_junction *j;
        double       got[10], expected[10];
        assert_ok(cx, cr_evidence_new(cx, net, &e));
        assert_ok(cx, cr_junction_new(cx, net, NULL, NULL, &j));
        enumerate_marginals(cx, net, NULL, expected);
        assert_ok(cx, cr_evidence_observe(cx, e, v, 0));
        assert_ok(cx, cr_junction_set_evidence(cx, j, e));
        assert_ok(cx, cr_junction_calibrate(cx, j, CR_CALIBRATE_HUGIN));
        assert_ok(cx, cr_junction_set_evidence(cx, j, NULL));
        assert_ok(cx, cr_junction_marginals(cx, j, got));
        for (size_t i = 0; i < 10; i++) assert_close(got[i], expected[i], 1e-13);
        cr_junction_free(cx, j);
        cr_evidence_free(cx, e);
    }
    cr_network_free(cx, net);
}

/* A Markov grid of width w: large enough for several parts and threads. */
static cr_network *grid(cr_ctx *cx, size_t w, size_t h, size_t states)
{
    cr_network *net;
    cr_rng      r = cr_rng_stream(5, 0);
    char        name[64];
    double      pair[64];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t v = 0; v < w * h; v++) {
        snprintf(name, sizeof name, "x%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, states, NULL, NULL));
    }
    for (size_t v = 0; v < w * h; v++)
        for (size_t way = 0; way < 2; way++) {
            size_t scope[] = { v, way ? v + w : v + 1 };
            if (way ? v + w >= w * h : v % w == w - 1) continue;
            for (size_t i = 0; i < states * states; i++) pair[i] = exp(4 * cr_rng_normal(&r));
            assert_ok(cx, cr_network_add_table(cx, net, 2, scope, pair));
        }
    return net;
}

TEST(threads_do_not_matter)
{
    cr_network *net = grid(cx, 6, 8, 5);
    double     *p[2], log_z[2];
    for (size_t i = 0; i < 2; i++) {
        cr_junction *j;
        p[i] = malloc(all_states(net) * sizeof(double));
        cr_ctx_set_threads(cx, i ? 3 : 1);
        assert_ok(cx, cr_junction_new(cx, net, NULL, NULL, &j));
        assert_ok(cx, cr_junction_marginals(cx, j, p[i]));
        assert_ok(cx, cr_junction_log_evidence(cx, j, &log_z[i]));
        cr_junction_free(cx, j);
    }
    assert_memory_equal(p[0], p[1], all_states(net) * sizeof(double));
    assert_true(log_z[0] == log_z[1]);
    double log_b;
    assert_ok(cx, cr_bucket_log_evidence(cx, net, NULL, NULL, &log_b, NULL));
    assert_close(log_b, log_z[0], 1e-12);
    free(p[0]);
    free(p[1]);
    cr_network_free(cx, net);
}

TEST(both_calibrations_agree)
{
    cr_network  *net = grid(cx, 5, 9, 3);
    cr_junction *a, *b;
    double      *p = malloc(2 * all_states(net) * sizeof *p), *q = p + all_states(net);
    assert_ok(cx, cr_junction_new(cx, net, NULL, NULL, &a));
    assert_ok(cx, cr_junction_new(cx, net, NULL, NULL, &b));
    assert_ok(cx, cr_junction_calibrate(cx, a, CR_CALIBRATE_SHAFER_SHENOY));
    assert_ok(cx, cr_junction_calibrate(cx, b, CR_CALIBRATE_HUGIN));
    assert_ok(cx, cr_junction_marginals(cx, a, p));
    assert_ok(cx, cr_junction_marginals(cx, b, q));
    for (size_t i = 0; i < all_states(net); i++) assert_close(p[i], q[i], 1e-11);
    free(p);
    cr_junction_free(cx, a);
    cr_junction_free(cx, b);
    cr_network_free(cx, net);
}

static cr_status every_question(cr_ctx *cx, void *arg)
{
    cr_status    st = CR_OK;
    cr_network  *net = NULL;
    cr_evidence *e = NULL;
    cr_junction *j = NULL;
    cr_factor    f = { 0 };
    double       values[] = { 0.2, 0.8 }, out[6];
    size_t       query[] = { 0, 2 }, state[3];
    (void)arg;
    CR_TRY(chain_of_three(cx, &net));
    CR_TRY(cr_evidence_new(cx, net, &e));
    CR_TRY(cr_junction_new(cx, net, e, NULL, &j));
    CR_TRY(cr_junction_marginals(cx, j, out));
    CR_TRY(cr_evidence_weigh(cx, e, 2, values));
    CR_TRY(cr_junction_set_evidence(cx, j, e));
    CR_TRY(cr_junction_marginal(cx, j, 0, out));
    CR_TRY(cr_junction_calibrate(cx, j, CR_CALIBRATE_SHAFER_SHENOY));
    CR_TRY(cr_junction_joint(cx, j, 2, query, &f));
    CR_TRY(cr_junction_best(cx, j, state, out));
done:
    cr_factor_free(cx, &f);
    cr_junction_free(cx, j);
    cr_evidence_free(cx, e);
    cr_network_free(cx, net);
    return st;
}

TEST(allocations_may_fail) { test_every_allocation_fails(every_question, NULL); }
