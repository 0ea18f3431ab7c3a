/* A query makes one plan, reports it and executes it: nothing is looked for twice. */
#include "enumerated.h"

#include "graph/query/plan.h"

#include <string.h>

/* The linker sends calls of these functions here (tests/CMakeLists.txt). */
cr_status __real_cr_order_find(cr_ctx *cx, const cr_graph *g, const size_t *states,
                               const size_t *opt_group, cr_elimination method, double effort,
                               cr_order *out_o);
cr_status __wrap_cr_order_find(cr_ctx *cx, const cr_graph *g, const size_t *states,
                               const size_t *opt_group, cr_elimination method, double effort,
                               cr_order *out_o);
cr_status __real_cri_problem_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                 const bool *opt_query, cri_problem **out_p);
cr_status __wrap_cri_problem_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                 const bool *opt_query, cri_problem **out_p);
cr_status __real_cr_network_check(cr_ctx *cx, const cr_network *net);
cr_status __wrap_cr_network_check(cr_ctx *cx, const cr_network *net);

static size_t orders, problems, checks;

cr_status __wrap_cr_order_find(cr_ctx *cx, const cr_graph *g, const size_t *states,
                               const size_t *opt_group, cr_elimination method, double effort,
                               cr_order *out_o)
{
    orders++;
    return __real_cr_order_find(cx, g, states, opt_group, method, effort, out_o);
}

cr_status __wrap_cri_problem_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                 const bool *opt_query, cri_problem **out_p)
{
    problems++;
    return __real_cri_problem_new(cx, net, opt_e, opt_query, out_p);
}

cr_status __wrap_cr_network_check(cr_ctx *cx, const cr_network *net)
{
    checks++;
    return __real_cr_network_check(cx, net);
}

/* Answers a question; *out_orders, ...: how often an order was looked for, a problem was made, the
 * network was checked. */
static cr_query_answer ask_counted(cr_ctx *cx, const cr_network *net, const char *text,
                                   const cr_query_options *opt_o)
{
    cr_query_answer a = { 0 };
    orders = problems = checks = 0;
    assert_ok(cx, cr_query(cx, net, text, NULL, opt_o, &a));
    return a;
}

/* A chain x0 -> x1 -> ... -> x4 with an arc across it. */
static cr_network *five_nodes(cr_ctx *cx)
{
    cr_network  *net;
    const double first[] = { 0.3, 0.7 }, next[] = { 0.9, 0.1, 0.2, 0.8 };
    const double last[] = { 0.9, 0.1, 0.2, 0.8, 0.4, 0.6, 0.5, 0.5 };
    char         name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 5; v++) {
        size_t parent[2] = { v - 1, 0 };
        snprintf(name, sizeof name, "x%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        assert_ok(cx, cr_network_set_parents(cx, net, v, v == 4 ? 2 : v > 0, parent));
        assert_ok(cx, cr_network_set_table(cx, net, v, v == 4 ? last : v ? next : first));
    }
    return net;
}

TEST(nothing_is_looked_for_twice)
{
    cr_network              *net = five_nodes(cx);
    static const char *const QUESTIONS[] = { "P(x0)", "P(x1 | x4='0')", "P(x1, x2 | x4='0')",
                                             "P(* | x4='0')", "H(x1, x3 | x4='0')" };
    const cr_query_method    methods[] = { CR_QUERY_AUTO, CR_QUERY_EXACT };
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++)
        for (size_t m = 0; m < 2; m++) {
            cr_query_options o = cr_query_defaults();
            o.method = methods[m];
            cr_query_answer a = ask_counted(cx, net, QUESTIONS[i], &o);
            assert_int_equal(orders, 1);
            assert_int_equal(problems, 1);
            assert_int_equal(checks, 1);
            cr_query_answer_free(cx, &a);
        }
    cr_network_free(cx, net);
}

/* P(x=a | e) is a quotient of two sums, argmax(x | e) a maximum over such a sum: each has an order of
 * its own, and no more. */
TEST(two_sums_take_two_orders)
{
    cr_network     *net = five_nodes(cx);
    cr_query_answer a = ask_counted(cx, net, "P(x1='0' | x4='0')", NULL);
    assert_int_equal(orders, 2);
    assert_int_equal(checks, 1);
    cr_query_answer_free(cx, &a);
    a = ask_counted(cx, net, "argmax(x1 | x4='0')", NULL);
    assert_int_equal(orders, 2);
    assert_int_equal(problems, 2);
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, net);
}

/* What was planned is what was done. */
TEST(the_plan_is_what_it_took)
{
    for (uint64_t round = 0; round < 20; round++) {
        cr_rng                   r = cr_rng_stream(60, round);
        cr_network              *net = random_network(cx, &r, CR_NETWORK_BAYES, 6);
        static const char *const QUESTIONS[] = { "P(v0, v3)", "P(*)", "argmax(v1, v2)" };
        for (size_t i = 0; i < 3; i++) {
            cr_query_answer a = ask_counted(cx, net, QUESTIONS[i], NULL);
            assert_string_equal(a.plan.method, a.method);
            assert_true(a.plan.cost.operations == a.cost.operations);
            assert_true(a.plan.cost.bytes == a.cost.bytes);
            assert_int_equal(a.plan.cost.width, a.cost.width);
            assert_non_null(strstr(a.plan.why, "within the budget of 60 s"));
            cr_query_answer_free(cx, &a);
        }
        cr_network_free(cx, net);
    }
}

static void keep_plan(void *user, cr_log_level level, const char *text)
{
    if (level == CR_LOG_INFO && strncmp(text, "plan: ", 6) == 0) snprintf(user, 256, "%s", text);
}

TEST(plans_are_reported_before_the_work)
{
    cr_rng           r = cr_rng_stream(61, 0);
    cr_network      *net = dense_network(cx, &r, 12);
    cr_query_options o = cr_query_defaults();
    char             text[256] = "";
    cr_query_answer  a = { 0 };
    cr_ctx_set_log(cx, keep_plan, text);
    assert_ok(cx, cr_query(cx, net, "P(v0)", NULL, &o, &a));
    assert_non_null(strstr(text, "plan: ve, width "));
    assert_non_null(strstr(text, "one elimination answers it"));
    double tables = a.cost.tables;
    cr_query_answer_free(cx, &a);
    o.budget = 0; /* nothing exact */
    assert_ok(cx, cr_query(cx, net, "P(*)", NULL, &o, &a));
    assert_non_null(strstr(text, "plan: gbp: an exact answer would take about"));
    assert_true(a.plan.cost.operations > 0 && !a.exact);
    cr_query_answer_free(cx, &a);
    o = cr_query_defaults();
    o.method = CR_QUERY_VE;
    o.exact.memory = (size_t)tables - 1;
    assert_ok(cx, cr_query(cx, net, "P(v0)", NULL, &o, &a));
    assert_non_null(strstr(text, "held fixed in turn"));
    assert_true(a.plan.cost.runs > 1 && a.plan.cost.runs == a.cost.runs);
    cr_query_answer_free(cx, &a);
    cr_ctx_set_log(cx, NULL, NULL);
    cr_network_free(cx, net);
}

/* The maximisations of a list have one budget together. */
TEST(lists_keep_the_budget)
{
    cr_rng           r = cr_rng_stream(62, 0);
    cr_network      *net = dense_network(cx, &r, 12);
    cr_query_options o = cr_query_defaults();
    cr_query_answer  a = { 0 }, best = { 0 };
    assert_ok(cx, cr_query(cx, net, "argmax(*)", NULL, &o, &best));
    assert_ok(cx, cr_query(cx, net, "best(20; *)", NULL, &o, &a));
    assert_int_equal(a.rows, 20);
    cr_query_answer_free(cx, &a);
    o.budget = 3 * best.cost.operations / 1e8; /* seconds by estimate: of three whole ones */
    assert_fails_with(cx, cr_query(cx, net, "best(20; *)", NULL, &o, &a), CR_ENOMEM, "the budget");
    assert_fails_with(cx, cr_query(cx, net, "best(20; v0, v1, v2, v3)", NULL, &o, &a), CR_ENOMEM,
                      "budget");
    cr_query_answer_free(cx, &best);
    cr_network_free(cx, net);
}
