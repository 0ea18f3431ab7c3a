/* The number beside the best states: by the exact P(e), or an estimate that says so, or none. */
#include "support.h"

#include "graph/exact/enumerate.h"
#include "graph/query/query.h"
#include "graph/files/uai.h"
#include "random_network.h"

/* Five binary variables in a ring with strong couplings: Bethe's log Z is not the true one. */
static cr_network *ring(cr_ctx *cx)
{
    cr_network  *net;
    const double pair[] = { 4, 1, 1, 3 }, alone[] = { 1, 1.3 };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t v = 0; v < 5; v++) {
        char name[32];
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
    }
    for (size_t v = 0; v < 5; v++) {
        size_t scope[] = { v, (v + 1) % 5 };
        assert_ok(cx, cr_network_add_table(cx, net, 2, scope, pair));
        assert_ok(cx, cr_network_add_table(cx, net, 1, &v, alone));
    }
    return net;
}

static cr_query_answer ask(cr_ctx *cx, const cr_network *net, const char *text, int how)
{
    cr_query_options o = cr_query_defaults();
    cr_query_answer  a = { 0 };
    o.method = (cr_query_method)(CR_QUERY_APPROXIMATE + how);
    assert_ok(cx, cr_query(cx, net, text, NULL, &o, &a));
    assert_false(a.exact);
    return a;
}

TEST(of_all_by_the_true_evidence)
{
    static const char *const texts[] = { "argmax(*)", "argmax(* | v1=0)",
                                         "argmax(* | v1:={0:0.4, 1:0.6})" };
    cr_network              *net = ring(cx);
    for (size_t i = 0; i < 3; i++) {
        cr_query_answer exact = { 0 };
        assert_ok(cx, cr_query(cx, net, texts[i], NULL, NULL, &exact));
        for (int how = CR_APPROXIMATE_BP; how <= CR_APPROXIMATE_MEAN_FIELD; how++) {
            cr_query_answer a = ask(cx, net, texts[i], how);
            double tolerance = i < 2 ? 1e-12 : 0.2; /* soft evidence is fitted by the method */
            assert_string_equal(a.method, "max-product");
            assert_false(a.estimated);
            assert_close(a.log_joint, exact.log_joint, tolerance);
            assert_close(a.number, exact.number, tolerance);
            assert_close(a.log_evidence, exact.log_evidence, 1e-12);
            assert_true(a.upper >= a.log_joint - 1e-9);
            cr_query_answer_free(cx, &a);
        }
        cr_query_answer_free(cx, &exact);
    }
    cr_network_free(cx, net);
}

TEST(of_some_it_is_an_estimate)
{
    cr_network     *net = ring(cx);
    cr_query_answer exact = { 0 };
    assert_ok(cx, cr_query(cx, net, "argmax(v0, v2 | v1=0)", NULL, NULL, &exact));
    for (int how = 0; how <= CR_APPROXIMATE_ANNEALED; how++) {
        if (how >= CR_APPROXIMATE_FORWARD && how <= CR_APPROXIMATE_LIKELIHOOD_WEIGHTING) continue;
        cr_query_answer a = ask(cx, net, "argmax(v0, v2 | v1=0)", how);
        assert_true(a.estimated);
        assert_true(a.states[0] == exact.states[0] && a.states[1] == exact.states[1]);
        assert_close(a.number, exact.number, 0.15);
        assert_true(how != CR_APPROXIMATE_GIBBS || fabs(a.number - exact.number) < 0.03);
        assert_true(how == CR_APPROXIMATE_GIBBS ? isnan(a.log_joint)
                                                : fabs(a.log_joint - exact.log_joint) < 0.7);
        cr_query_answer_free(cx, &a);
    }
    cr_query_answer_free(cx, &exact);
    cr_network_free(cx, net);
}

/* Evidence that cannot be is told although P(e) is only for show. */
TEST(impossible_evidence_is_told)
{
    const double    never[] = { 0, 1 };
    cr_network     *net = ring(cx);
    cr_query_answer a = { 0 };
    size_t          v = 3;
    assert_ok(cx, cr_network_add_table(cx, net, 1, &v, never));
    for (int m = 0; m <= CR_QUERY_APPROXIMATE; m++) {
        cr_query_options o = cr_query_defaults();
        o.method = (cr_query_method)m;
        assert_int_equal(cr_query(cx, net, "argmax(* | v3=0)", NULL, &o, &a), CR_EDATA);
        assert_non_null(strstr(cr_error(cx), "impossible"));
    }
    cr_network_free(cx, net);
}

/* n variables, and clauses of three of them, of which an assignment drawn first meets each. */
static cr_network *planted_clauses(cr_ctx *cx, size_t n, size_t clauses)
{
    cr_network *net;
    cr_rng      r = cr_rng_stream(5, 0);
    size_t      plant[200];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t v = 0; v < n; v++) {
        char   name[32];
        double alone[] = { 0.2 + 0.6 * cr_rng_uniform(&r), 0.2 + 0.6 * cr_rng_uniform(&r) };
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        assert_ok(cx, cr_network_add_table(cx, net, 1, &v, alone));
        plant[v] = cr_rng_below(&r, 2);
    }
    for (size_t c = 0; c < clauses;) {
        size_t scope[3], broken = 0, at = 0;
        double value[8];
        for (size_t k = 0; k < 3; k++) scope[k] = (size_t)cr_rng_below(&r, n);
        if (scope[0] == scope[1] || scope[0] == scope[2] || scope[1] == scope[2]) continue;
        for (size_t k = 0; k < 3; k++) {
            broken = 2 * broken + (size_t)cr_rng_below(&r, 2);
            at = 2 * at + plant[scope[k]];
        }
        if (at == broken) continue;
        for (size_t k = 0; k < 8; k++) value[k] = k != broken;
        assert_ok(cx, cr_network_add_table(cx, net, 3, scope, value));
        c++;
    }
    return net;
}

/* A search of this length finds nothing that meets all clauses, elimination is out of the question,
 * but messages do: AUTO gives their answer, under a bound. */
TEST(what_a_search_does_not_find)
{
    cr_network      *net = planted_clauses(cx, 200, 640);
    cr_query_options o = cr_query_defaults();
    cr_query_answer  a = { 0 };
    o.budget = 3;
    assert_ok(cx, cr_query(cx, net, "argmax(*)", NULL, &o, &a));
    assert_true(a.open && !a.exact);
    assert_true(a.log_joint > -INFINITY && a.upper >= a.log_joint && a.upper < 0);
    assert_close(a.log_joint, cr_network_log_value(net, a.states), 1e-9);
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, net);
}

/* Elimination takes 7.5e8 operations: not within a second.  The best is known (reference.json). */
TEST(the_budget_holds_for_elimination)
{
    const char *path = test_data("uai/linkage_16.uai");
    if (!path) {
        print_message("skipped: no shared data\n");
        skip();
    }
    cr_network      *net;
    cr_query_options o = cr_query_defaults();
    cr_query_answer  a = { 0 };
    o.budget = 1;
    assert_ok(cx, cr_uai_read(cx, path, &net));
    assert_ok(cx, cr_query(cx, net, "argmax(*)", NULL, &o, &a));
    assert_true(a.open && a.cost.operations < 1e8);
    assert_true(a.log_joint > -143.6621 - 1.5 && a.log_joint < -143.6620 && a.upper > -143.6621);
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, net);
}

static cr_status ask_best(cr_ctx *cx, void *user)
{
    cr_query_options o = cr_query_defaults();
    cr_query_answer  a = { 0 };
    o.method = CR_QUERY_APPROXIMATE;
    cr_status st = cr_query(cx, user, "argmax(* | v1=0)", NULL, &o, &a);
    cr_query_answer_free(cx, &a);
    return st;
}

TEST(allocations_may_fail)
{
    cr_network *net = ring(cx);
    test_every_allocation_fails(ask_best, net);
    cr_network_free(cx, net);
}

/* P(e) is only for show: where the memory for it alone runs out, the states are still told, and it
 * is left out. */
TEST(evidence_is_left_out_without_memory)
{
    cr_ctx          *owner = test_context();
    cr_network      *net = ring(owner);
    cr_query_options o = cr_query_defaults();
    cr_query_answer  best = ask(owner, net, "argmax(* | v1=0)", 0);
    size_t           without = 0, whole = 0;
    o.method = CR_QUERY_APPROXIMATE;
    for (uint64_t nth = 1; whole < 20; nth++) { /* 20 in a row: no allocation is left to fail */
        cr_ctx         *own = test_context();
        cr_query_answer a = { 0 };
        assert_true(nth < 20000);
        cr_ctx_set_threads(own, 1);
        cr_ctx_fail_allocation(own, nth);
        cr_status st = cr_query(own, net, "argmax(* | v1=0)", NULL, &o, &a);
        cr_ctx_fail_allocation(own, 0);
        assert_true(st == CR_OK || st == CR_ENOMEM);
        whole = st == CR_OK && !isnan(a.log_evidence) ? whole + 1 : 0;
        if (st == CR_OK) {
            assert_int_equal(a.n, best.n);
            assert_memory_equal(a.states, best.states, a.n * sizeof *a.states);
            if (isnan(a.log_evidence)) without++;
            if (isnan(a.log_evidence))
                assert_true(isnan(a.number));
            else
                assert_close(a.log_evidence, best.log_evidence, 1e-12);
        }
        cr_query_answer_free(own, &a);
        test_context_free(own);
    }
    assert_true(without > 0);
    cr_query_answer_free(owner, &best);
    cr_network_free(owner, net);
    test_context_free(owner);
}
