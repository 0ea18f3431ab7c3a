/* Answers in many runs, each given some variables, against those in one; and the limits of work. */
#include "enumerated.h"

#include "base/context_internal.h"
#include "graph/exact/condition.h"
#include "graph/exact/junction.h"
#include "graph/query/methods.h"
#include "graph/query/query.h"

enum { MOST_STATES = 64 };

/* All marginals by junction trees given each state of a cutset, planned and executed. */
static cr_status condition_marginals(cr_ctx *cx, const cr_network *net, const cr_evidence *e,
                                     const cr_exact_options *o, double *out, double *out_log,
                                     cr_exact_report *out_report)
{
    cri_cutset c;
    cr_status  st = cri_condition_plan(cx, net, e, o, &c, out_report);
    if (st != CR_OK) return st;
    return cri_condition_marginals(cx, net, e, o, &c, out_report, out, out_log);
}

TEST(marginals_of_runs_are_enumeration)
{
    size_t conditioned = 0;
    for (uint64_t round = 0; round < 5; round++) {
        cr_rng           r = cr_rng_stream(40, round);
        cr_network      *net = dense_network(cx, &r, 10);
        cr_evidence     *e = random_evidence(cx, &r, net);
        cr_exact_options o = cr_exact_defaults();
        cr_exact_report  report;
        cr_junction     *j;
        double           expected[MOST_STATES], got[MOST_STATES], other[MOST_STATES];
        double           log_e, log_c, log_other;
        assert_ok(cx, cr_enumerate_query(cx, net, e, 0, NULL, 0, NULL, &log_e));
        assert_ok(cx, cr_junction_new(cx, net, e, NULL, &j));
        o.memory = (size_t)(cr_junction_report(j).tables * 0.7);
        cr_junction_free(cx, j);
        if (log_e == -INFINITY) {
            cr_status st = condition_marginals(cx, net, e, &o, got, &log_c, &report);
            assert_true(st == CR_EDATA || st == CR_ENOMEM);
        } else if (condition_marginals(cx, net, e, &o, got, &log_c, &report) == CR_OK) {
            conditioned += report.conditioned > 0;
            assert_true(report.runs >= 2);
            assert_close(log_c, log_e, 1e-12);
            enumerate_marginals(cx, net, e, expected);
            for (size_t i = 0; i < all_states(net); i++) assert_close(got[i], expected[i], 1e-11);
            for (size_t threads = 1; threads <= 3; threads += 2) { /* the same bits */
                cr_ctx_set_threads(cx, threads);
                assert_ok(cx, condition_marginals(cx, net, e, &o, other, &log_other, &report));
                assert_true(log_other == log_c);
                assert_memory_equal(other, got, all_states(net) * sizeof *got);
            }
            cr_ctx_set_threads(cx, 0);
        }
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_true(conditioned >= 2);
}

TEST(threads_do_not_matter_to_elimination)
{
    cr_rng           r = cr_rng_stream(41, 0);
    cr_network      *net = dense_network(cx, &r, 14);
    cr_exact_options o = cr_exact_defaults();
    cr_exact_report  report;
    size_t           query = 3;
    double           first_log = 0, first[3] = { 0 };
    assert_ok(cx, cr_bucket_log_evidence(cx, net, NULL, NULL, &first_log, &report));
    o.memory = (size_t)(report.tables * 0.3);
    for (size_t threads = 1; threads <= 5; threads += 2) {
        cr_factor f;
        double    log_e;
        cr_ctx_set_threads(cx, threads);
        assert_ok(cx, cr_bucket_query(cx, net, NULL, 1, &query, &o, &f, &log_e, &report));
        assert_true(report.conditioned > 0 && report.runs >= 4);
        if (threads == 1) {
            assert_close(log_e, first_log, 1e-12);
            first_log = log_e;
            memcpy(first, f.value, f.size * sizeof *first);
        }
        assert_true(log_e == first_log);
        assert_memory_equal(f.value, first, f.size * sizeof *first);
        cr_factor_free(cx, &f);
    }
    cr_network_free(cx, net);
}

/* P(*) and P(x) under a memory limit, as a user asks for them. */
TEST(questions_are_answered_in_runs)
{
    cr_rng           r = cr_rng_stream(42, 0);
    cr_network      *net = dense_network(cx, &r, 13);
    cr_query_options o = cr_query_defaults();
    const char      *text[] = { "P(*)", "P(v3)", "P(v3=s0)" };
    for (size_t i = 0; i < 3; i++)
        for (size_t way = 0; way < 2; way++) {
            cr_query_answer free_answer, answer;
            o.method = way ? CR_QUERY_AUTO : CR_QUERY_EXACT;
            cr_ctx_set_memory_limit(cx, 0);
            if (cr_query(cx, net, text[i], NULL, &o, &free_answer) != CR_OK) {
                assert_int_equal(i, 2); /* the states may be named otherwise */
                continue;
            }
            cr_ctx_set_memory_limit(cx, cr_ctx_memory(cx) + 150000);
            assert_ok(cx, cr_query(cx, net, text[i], NULL, &o, &answer));
            assert_true(answer.exact);
            assert_true(answer.cost.conditioned > 0);
            assert_close(answer.log_evidence, free_answer.log_evidence, 1e-12);
            for (size_t k = 0; k < answer.values; k++)
                assert_close(answer.value[k], free_answer.value[k], 1e-11);
            for (size_t k = 0; k < answer.table.size; k++)
                assert_close(answer.table.value[k], free_answer.table.value[k], 1e-11);
            cr_query_answer_free(cx, &answer);
            cr_query_answer_free(cx, &free_answer);
        }
    cr_ctx_set_memory_limit(cx, 0);
    cr_network_free(cx, net);
}

/* Rows of evidence where one tree does not fit into memory: each is answered in runs, as planned. */
TEST(rows_are_answered_in_runs)
{
    cr_rng           r = cr_rng_stream(42, 0);
    cr_network      *net = dense_network(cx, &r, 13);
    cr_query_options o = cr_query_defaults();
    cr_findings      none = { 0 };
    double           log_e[2], p[2][MOST_STATES];
    for (size_t way = 0; way < 2; way++) {
        cri_cases cases;
        bool      possible;
        if (way) cr_ctx_set_memory_limit(cx, cr_ctx_memory(cx) + 150000);
        assert_ok(
            cx, cri_cases_open(cx, (cri_any_network){ .methods = &cri_states_methods, .net = net },
                               &none, &o, &cases));
        assert_string_equal(cases.method, way ? "ve" : "jt");
        assert_ok(cx, cri_states_observe(&cases, 5, 0));
        assert_ok(cx, cri_states_ask(&cases, &log_e[way], &possible));
        assert_true(possible);
        assert_ok(cx, cri_states_posterior(&cases, 3, p[way]));
        cri_cases_close(&cases);
    }
    cr_ctx_set_memory_limit(cx, 0);
    assert_close(log_e[1], log_e[0], 1e-12);
    for (size_t k = 0; k < cr_network_states(net, 3); k++) assert_close(p[1][k], p[0][k], 1e-11);
    cr_network_free(cx, net);
}

/* An observed variable takes another state: the tree stays, and says what a new one says. */
TEST(observations_change_their_states)
{
    for (uint64_t round = 0; round < 30; round++) {
        cr_rng      r = cr_rng_stream(43, round);
        cr_network *net =
            random_network(cx, &r, round % 2 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV, 7);
        cr_evidence *e;
        cr_junction *j;
        double       got[MOST_STATES], expected[MOST_STATES], log_e, log_j;
        assert_ok(cx, cr_evidence_new(cx, net, &e));
        for (size_t v = 0; v < 3; v++)
            assert_ok(cx, cr_evidence_observe(cx, e, v, cr_network_states(net, v) - 1));
        assert_ok(cx, cr_junction_new(cx, net, e, NULL, &j));
        size_t variables = cr_junction_report(j).variables;
        for (size_t step = 0; step < 6; step++) {
            size_t v = cr_rng_below(&r, 3);
            assert_ok(cx,
                      cr_evidence_observe(cx, e, v, cr_rng_below(&r, cr_network_states(net, v))));
            assert_ok(cx, cr_junction_set_evidence(cx, j, e));
            assert_int_equal(cr_junction_report(j).variables, variables);
            assert_ok(cx, cr_enumerate_query(cx, net, e, 0, NULL, 0, NULL, &log_e));
            assert_ok(cx, cr_junction_log_evidence(cx, j, &log_j));
            if (log_e == -INFINITY) {
                assert_true(log_j == -INFINITY);
                continue;
            }
            assert_close(log_j, log_e, 1e-12);
            assert_ok(cx, cr_junction_marginals(cx, j, got));
            enumerate_marginals(cx, net, e, expected);
            for (size_t i = 0; i < all_states(net); i++) assert_close(got[i], expected[i], 1e-12);
        }
        cr_junction_free(cx, j);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
}

static cr_network *wide(cr_ctx *cx, size_t n)
{
    cr_rng r = cr_rng_stream(44, n);
    return dense_network(cx, &r, n);
}

TEST(long_work_is_refused_or_stopped)
{
    cr_network      *net = wide(cx, 40);
    cr_junction     *j;
    double           log_e;
    cr_exact_options o = cr_exact_defaults();
    o.effort = 0;
    cr_ctx_set_time_limit(cx, 20);
    assert_fails_with(cx, cr_bucket_log_evidence(cx, net, NULL, &o, &log_e, NULL), CR_ENOMEM,
                      "are available");
    assert_fails_with(cx, cr_junction_new(cx, net, NULL, &o, &j), CR_ENOMEM, "s and");
    cr_ctx_set_time_limit(cx, 0);
    o.memory = 1 << 20; /* conditioning would take ages */
    assert_fails_with(cx, cr_bucket_log_evidence(cx, net, NULL, &o, &log_e, NULL), CR_ENOMEM,
                      "about");
    assert_true(cr_ctx_peak_memory(cx) < 20000000);
    cr_network_free(cx, net);
}

static cr_status every_run(cr_ctx *cx, void *arg)
{
    cr_status        st = CR_OK;
    cr_network      *net = arg;
    cr_exact_options o = cr_exact_defaults();
    cr_exact_report  report;
    double           p[MOST_STATES], log_e;
    size_t           query = 0;
    cr_factor        f = { 0 };
    cr_junction     *j;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_junction_new(cx, net, NULL, &o, &j));
    o.memory = (size_t)cr_junction_report(j).tables - 1;
    cr_junction_free(cx, j);
    CR_TRY(condition_marginals(cx, net, NULL, &o, p, &log_e, &report));
    CR_TRY(report.runs > 1 ? CR_OK : CR_EARG);
    CR_TRY(cr_bucket_query(cx, net, NULL, 1, &query, NULL, &f, &log_e, &report));
    cr_factor_free(cx, &f);
    o.memory = (size_t)report.tables - 1;
    CR_TRY(cr_bucket_query(cx, net, NULL, 1, &query, &o, &f, &log_e, &report));
    CR_TRY(report.runs > 1 ? CR_OK : CR_EARG);
done:
    cr_factor_free(cx, &f);
    return st;
}

TEST(allocations_may_fail)
{
    cr_network *net = wide(cx, 4);
    test_every_allocation_fails(every_run, net);
    cr_network_free(cx, net);
}
