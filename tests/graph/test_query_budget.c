/* Approximations of AUTO keep the budget: all sweeps where there is time, few where there is none.
 */
#include "support.h"

#include "base/clock.h"
#include "base/rng.h"
#include "graph/query/query_approximate.h"
#include "random_network.h"

#include <string.h>

static cri_engine open_engine(cr_ctx *cx, const cr_network *net, double began)
{
    cr_query_options o = cr_query_defaults();
    cr_findings      none = { 0 };
    cri_engine       e = { 0 };
    o.approximate.cluster = 8; /* loops, so that it takes many sweeps */
    o.method = CR_QUERY_APPROXIMATE;
    assert_ok(cx, cri_engine_open(cx, net, &none, &o, CRI_FORM_SUMS, &e));
    e.began = began;
    return e;
}

TEST(with_time_it_is_the_usual_answer)
{
    cr_rng                 r = cr_rng_stream(1, 0);
    cr_network            *net = dense_network(cx, &r, 10);
    const cr_approximation how[] = { CR_APPROXIMATE_GBP, CR_APPROXIMATE_GIBBS };
    for (size_t i = 0; i < 2; i++) {
        cri_engine            e = open_engine(cx, net, cri_seconds() + 1e6);
        cr_approximate_answer a = { 0 }, b = { 0 };
        assert_ok(cx, cri_budget_ask(&e, how[i], &a));
        assert_ok(cx, cr_approximate(cx, net, NULL, how[i], &e.o.approximate, 0, 0, NULL, &b));
        assert_int_equal(a.report.iterations, b.report.iterations);
        assert_int_equal(a.report.samples, b.report.samples);
        assert_memory_equal(a.marginal, b.marginal, a.states * sizeof *a.marginal);
        assert_string_equal(e.result.cut, "");
        assert_true(e.o.approximate.max_iter == CR_COUNT_UNSET &&
                    e.o.approximate.samples == CR_COUNT_UNSET);
        e.plan.method = (cr_query_method)(CR_QUERY_APPROXIMATE + (int)how[i]);
        cri_budget_report(&e);
        assert_string_equal(e.result.why, "");
        cr_approximate_free(cx, &a);
        cr_approximate_free(cx, &b);
        cri_engine_close(&e);
    }
    cr_network_free(cx, net);
}

TEST(without_time_it_is_short_and_says_so)
{
    cr_rng                 r = cr_rng_stream(1, 0);
    cr_network            *net = dense_network(cx, &r, 10);
    const cr_approximation how[] = { CR_APPROXIMATE_GBP, CR_APPROXIMATE_GIBBS };
    for (size_t i = 0; i < 2; i++) {
        cri_engine            e = open_engine(cx, net, cri_seconds() - 1e6);
        cr_approximate_answer a = { 0 };
        assert_true(cri_budget_left(&e) < 0);
        assert_ok(cx, cri_budget_ask(&e, how[i], &a));
        assert_true(a.report.iterations <= 5 && a.report.samples <= 400);
        assert_non_null(strstr(e.result.cut, "was cut short by the budget of 60 s"));
        cri_budget_report(&e);
        assert_non_null(strstr(e.result.why, "cut short"));
        assert_non_null(strstr(e.result.why, "all took 1e+06 s"));
        cr_approximate_free(cx, &a);
        cri_engine_close(&e);
    }
    cr_network_free(cx, net);
}

/* More sweeps are asked for than there is time for, but the messages converge long before. */
TEST(converged_is_not_cut_short)
{
    cr_rng                r = cr_rng_stream(1, 0);
    cr_network           *net = dense_network(cx, &r, 10);
    cri_engine            e = open_engine(cx, net, cri_seconds() + 1e3);
    cr_approximate_answer a = { 0 };
    e.o.approximate.max_iter = (size_t)1 << 60;
    assert_ok(cx, cri_budget_ask(&e, CR_APPROXIMATE_GBP, &a));
    assert_true(a.report.converged && a.report.iterations > 5);
    assert_string_equal(e.result.cut, "");
    cr_approximate_free(cx, &a);
    cri_engine_close(&e);
    cr_network_free(cx, net);
}

/* As many sweeps as were asked for, and no more. */
TEST(what_is_asked_for_is_kept)
{
    cr_rng                r = cr_rng_stream(1, 0);
    cr_network           *net = dense_network(cx, &r, 10);
    cri_engine            e = open_engine(cx, net, cri_seconds() + 1e6);
    cr_approximate_answer a = { 0 };
    e.o.approximate.max_iter = 3;
    assert_ok(cx, cri_budget_ask(&e, CR_APPROXIMATE_GBP, &a));
    assert_int_equal(a.report.iterations, 3);
    cr_approximate_free(cx, &a);
    e.o.approximate.max_iter = 7;
    assert_ok(cx, cri_budget_ask(&e, CR_APPROXIMATE_GBP, &a));
    assert_int_equal(a.report.iterations, 7);
    assert_int_equal(e.o.approximate.max_iter, 7);
    cr_approximate_free(cx, &a);
    cri_engine_close(&e);
    cr_network_free(cx, net);
}
