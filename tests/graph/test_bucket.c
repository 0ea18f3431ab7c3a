/* Bucket elimination against enumeration. */
#include "enumerated.h"

#include "graph/exact/bucket.h"

static void compare_factors(const cr_factor *a, const cr_factor *b, double tolerance)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->size, b->size);
    for (size_t i = 0; i < a->n; i++) assert_int_equal(a->var[i], b->var[i]);
    for (size_t e = 0; e < a->size; e++) assert_close(a->value[e], b->value[e], tolerance);
}

static void check_case(cr_ctx *cx, cr_rng *r, const cr_network *net, const cr_evidence *e,
                       const cr_exact_options *o, size_t *impossible)
{
    size_t    n = cr_network_size(net), query[16], state[16], other[16], k;
    double    log_e, log_b, best, expected;
    cr_factor f = { 0 }, g = { 0 };
    assert_ok(cx, cr_enumerate_query(cx, net, e, 0, NULL, 0, NULL, &log_e));
    assert_ok(cx, cr_bucket_log_evidence(cx, net, e, o, &log_b, NULL));
    cr_rng_permutation(r, n, query);
    k = 1 + cr_rng_below(r, n < 3 ? n : 3);
    if (log_e == -INFINITY) {
        (*impossible)++;
        assert_true(log_b == -INFINITY);
        assert_fails_with(cx, cr_bucket_query(cx, net, e, k, query, o, &f, &log_b, NULL), CR_EDATA,
                          "impossible");
        assert_fails(cx, cr_bucket_best(cx, net, e, o, state, &best, NULL), CR_EDATA);
        assert_fails(cx, cr_bucket_map(cx, net, e, k, query, o, state, &best, NULL), CR_EDATA);
        return;
    }
    assert_close(log_b, log_e, 1e-12);
    assert_ok(cx, cr_enumerate_query(cx, net, e, k, query, 0, &f, NULL));
    for (int with_log = 0; with_log < 2; with_log++) {
        assert_ok(cx, cr_bucket_query(cx, net, e, k, query, o, &g, with_log ? &log_b : NULL, NULL));
        compare_factors(&g, &f, 1e-12);
        assert_close(log_b, log_e, 1e-12);
        cr_factor_free(cx, &g);
    }
    assert_ok(cx, cr_enumerate_best(cx, net, e, 0, NULL, 0, other, &expected));
    assert_ok(cx, cr_bucket_best(cx, net, e, o, state, &best, NULL));
    assert_close(best, expected, 1e-12);
    double value = cr_network_log_value(net, state); /* the assignment has the value it claims */
    for (size_t v = 0; v < n; v++)
        if (cr_evidence_likelihood(e, v)) value += log(cr_evidence_likelihood(e, v)[state[v]]);
    assert_close(value, best, 1e-12);
    assert_ok(cx, cr_enumerate_best(cx, net, e, k, query, 0, other, &expected));
    assert_ok(cx, cr_bucket_map(cx, net, e, k, query, o, state, &best, NULL));
    assert_close(best, expected, 1e-12);
    size_t at[16];
    for (size_t i = 0; i < k; i++) at[query[i]] = state[i];
    assert_close(log(f.value[cr_factor_index(&f, at)]) + log_e, best, 1e-12);
    cr_factor_free(cx, &f);
}

TEST(elimination_is_enumeration)
{
    size_t impossible = 0;
    for (uint64_t round = 0; round < 300; round++) {
        cr_rng       r = cr_rng_stream(10, round);
        cr_network  *net = random_network(cx, &r, round % 3 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV,
                                          1 + cr_rng_below(&r, 7));
        cr_evidence *e = random_evidence(cx, &r, net);
        cr_exact_options o = cr_exact_defaults();
        o.order = (cr_elimination)(round % 7);
        check_case(cx, &r, net, e, &o, &impossible);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_in_range(impossible, 3, 150);
}

/* So little memory that states are tried in turn. */
TEST(conditioning_gives_the_same)
{
    size_t conditioned = 0, mapped = 0;
    for (uint64_t round = 0; round < 12; round++) {
        cr_rng           r = cr_rng_stream(11, round);
        cr_network      *net = dense_network(cx, &r, 12);
        cr_evidence     *e = random_evidence(cx, &r, net);
        cr_exact_options o = cr_exact_defaults();
        cr_exact_report  report;
        double           log_e;
        assert_ok(cx, cr_bucket_log_evidence(cx, net, e, &o, &log_e, &report));
        o.memory = (size_t)(report.tables / 2) + 1;
        cr_factor f;
        size_t    query = cr_rng_below(&r, 12);
        if (log_e > -INFINITY &&
            cr_bucket_query(cx, net, e, 1, &query, &o, &f, &log_e, &report) == CR_OK) {
            cr_factor g;
            double    other;
            conditioned += report.conditioned > 0;
            assert_ok(cx, cr_enumerate_query(cx, net, e, 1, &query, 0, &g, &other));
            compare_factors(&f, &g, 1e-12);
            assert_close(log_e, other, 1e-12);
            cr_factor_free(cx, &f);
            cr_factor_free(cx, &g);
        }
        size_t           query3[] = { 1, 4, 6 }, state[12], best_state[12];
        double           best, expected;
        cr_exact_options roomy = cr_exact_defaults();
        if (log_e == -INFINITY) goto next;
        assert_ok(cx, cr_bucket_map(cx, net, e, 3, query3, &roomy, state, &best, &report));
        o.memory = (size_t)(report.tables / 2) + 1;
        if (cr_bucket_map(cx, net, e, 3, query3, &o, state, &best, &report) == CR_OK) {
            assert_ok(cx, cr_enumerate_best(cx, net, e, 3, query3, 0, best_state, &expected));
            assert_close(best, expected, 1e-12);
            mapped += report.conditioned > 0;
        }
        if (cr_bucket_best(cx, net, e, &o, state, &best, &report) == CR_OK) {
            assert_ok(cx, cr_enumerate_best(cx, net, e, 0, NULL, 0, best_state, &expected));
            assert_close(best, expected, 1e-12);
            mapped += report.conditioned > 0;
        }
    next:
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_true(conditioned > 5);
    assert_true(mapped > 5);
}

/* Products far below the smallest double: 400 observations, all of 1e-3, then one that excludes the
 * favourite.*/
TEST(nothing_underflows)
{
    enum { N = 400 };
    cr_network *net;
    double root[] = { 0.5, 0.5 }, leaf[] = { 0.9, 0.1, 0.001, 0.999 }, last[] = { 0, 1, 0.5, 0.5 };
    size_t parent = 0;
    char   name[32];
    cr_evidence *e;
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    assert_ok(cx, cr_network_add_variable(cx, net, "root", 2, NULL, NULL));
    assert_ok(cx, cr_network_set_table(cx, net, 0, root));
    for (size_t v = 1; v <= N; v++) {
        snprintf(name, sizeof name, "x%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        assert_ok(cx, cr_network_set_parents(cx, net, v, 1, &parent));
        assert_ok(cx, cr_network_set_table(cx, net, v, v == N ? last : leaf));
    }
    assert_ok(cx, cr_evidence_new(cx, net, &e));
    for (size_t v = 1; v <= N; v++) assert_ok(cx, cr_evidence_observe(cx, e, v, 0));
    double    log_e, best;
    cr_factor f;
    size_t    query = 0, state[N + 1];
    assert_ok(cx, cr_bucket_query(cx, net, e, 1, &query, NULL, &f, &log_e, NULL));
    assert_close(log_e, log(0.25) + (N - 1) * log(0.001), 1e-12);
    assert_close(f.value[1], 1, 1e-15);
    assert_ok(cx, cr_bucket_best(cx, net, e, NULL, state, &best, NULL));
    assert_close(best, log_e, 1e-12);
    assert_int_equal(state[0], 1);
    cr_factor_free(cx, &f);
    cr_evidence_free(cx, e);
    cr_network_free(cx, net);
}

TEST(what_does_not_fit_is_refused)
{
    cr_network *net;
    double      pair[] = { 1, 2, 3, 1 }, log_z;
    char        name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t v = 0; v < 100; v++) {
        snprintf(name, sizeof name, "x%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
    }
    for (size_t a = 0; a < 100; a++)
        for (size_t b = 0; b < a; b++) {
            size_t scope[] = { a, b };
            assert_ok(cx, cr_network_add_table(cx, net, 2, scope, pair));
        }
    assert_fails_with(cx, cr_bucket_log_evidence(cx, net, NULL, NULL, &log_z, NULL), CR_ENOMEM,
                      "operations");
    assert_true(cr_ctx_peak_memory(cx) < 50000000);
    cr_network_free(cx, net);
}

static cr_status every_question(cr_ctx *cx, void *arg)
{
    cr_status    st = CR_OK;
    cr_network  *net = NULL;
    cr_evidence *e = NULL;
    cr_factor    f = { 0 };
    double       values[] = { 0.2, 0.8 }, log_e;
    size_t       query = 1, state[3];
    (void)arg;
    CR_TRY(chain_of_three(cx, &net));
    CR_TRY(cr_evidence_new(cx, net, &e));
    CR_TRY(cr_evidence_weigh(cx, e, 2, values));
    CR_TRY(cr_bucket_query(cx, net, e, 1, &query, NULL, &f, &log_e, NULL));
    CR_TRY(cr_bucket_best(cx, net, e, NULL, state, &log_e, NULL));
    CR_TRY(cr_bucket_map(cx, net, e, 1, &query, NULL, state, &log_e, NULL));
    cr_factor_free(cx, &f);
    CR_TRY(cr_enumerate_query(cx, net, e, 1, &query, 0, &f, &log_e));
    CR_TRY(cr_enumerate_best(cx, net, e, 0, NULL, 0, state, &log_e));
done:
    cr_factor_free(cx, &f);
    cr_evidence_free(cx, e);
    cr_network_free(cx, net);
    return st;
}

TEST(allocations_may_fail) { test_every_allocation_fails(every_question, NULL); }
