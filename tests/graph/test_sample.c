/* Samples against enumeration: within their standard errors, the same for any number of threads. */
#include "random_network.h"

#include "graph/approximate/approximate.h"
#include "graph/exact/enumerate.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_STATES = 64 };

/* How far answers are from the truth, in standard errors. */
typedef struct score {
    size_t answers, far, logs, logs_far, failed, compared;
    double squares; /* of the distances; their mean is about 1 */
} score;

static void compare(score *s, double got, double expected, double se)
{
    double z = (got - expected) / se;
    assert_true(fabs(z) < 8);
    s->far += fabs(z) > 4;
    s->answers++;
    if (expected > 0.05 && expected < 0.95) s->squares += z * z, s->compared++;
}

static void check_network(cr_ctx *cx, const cr_network *net, const cr_evidence *e,
                          cr_approximation how, const cr_approximate_options *o, uint64_t seed,
                          score *s)
{
    cr_approximate_answer a = { 0 };
    cr_factor             f = { 0 };
    double                log_e, *got, *se;
    size_t                n = cr_network_size(net), query[2] = { 0, n - 1 };
    assert_ok(cx, cr_enumerate_query(cx, net, e, 0, NULL, 0, NULL, &log_e));
    cr_status st = cr_approximate(cx, net, e, how, o, seed, n > 1 ? 2 : 0, query, &a);
    if (log_e == -INFINITY) {
        assert_true(st == CR_ENUMERIC || (st == CR_OK && a.report.log_evidence == -INFINITY));
        cr_approximate_free(cx, &a);
        return;
    }
    s->failed += st != CR_OK;
    if (st != CR_OK) {
        assert_int_equal(st, CR_ENUMERIC);
        return;
    }
    if (how != CR_APPROXIMATE_GIBBS && a.report.effective < 100) { /* errors of errors are large */
        cr_approximate_free(cx, &a);
        return;
    }
    got = a.marginal, se = a.se;
    for (size_t v = 0; v < n; v++) {
        assert_ok(cx, cr_enumerate_query(cx, net, e, 1, &v, 0, &f, NULL));
        double sum = 0;
        for (size_t x = 0; x < f.size; x++, got++, se++) {
            sum += *got;
            if (*se > 0)
                compare(s, *got, f.value[x], *se);
            else
                assert_close(*got, f.value[x], 1e-12);
        }
        assert_close(sum, 1, 1e-12);
        cr_factor_free(cx, &f);
    }
    if (n > 1) {
        assert_ok(cx, cr_enumerate_query(cx, net, e, 2, query, 0, &f, NULL));
        for (size_t x = 0; x < f.size; x++)
            assert_true(fabs(a.joint.value[x] - f.value[x]) <= 6 * fmax(a.report.se, 1e-12));
        cr_factor_free(cx, &f);
    }
    if (!isnan(a.report.log_evidence)) {
        double error = fmax(a.report.log_evidence_se, 1e-9);
        s->logs++;
        s->logs_far += fabs(a.report.log_evidence - log_e) > 4 * error;
    }
    cr_approximate_free(cx, &a);
}

static void check_method(cr_approximation how, size_t networks, size_t samples, size_t most_failed)
{
    cr_ctx *cx = test_context();
    cr_rng  r = cr_rng_stream(20, (uint64_t)how);
    score   s = { 0 };
    for (size_t k = 0; k < networks; k++) {
        bool                   both = how >= CR_APPROXIMATE_IMPORTANCE;
        cr_network_kind        kind = both && k % 2 ? CR_NETWORK_MARKOV : CR_NETWORK_BAYES;
        cr_network            *net = random_network(cx, &r, kind, 1 + cr_rng_below(&r, 8));
        cr_evidence           *e = random_evidence(cx, &r, net);
        cr_approximate_options o = cr_approximate_defaults();
        o.samples = samples;
        o.steps = 20;
        check_network(cx, net, k % 4 ? e : NULL, how, &o, k, &s);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_true(s.answers > 5 * networks / 2);
    assert_true((double)s.far <= 2 + 0.003 * (double)s.answers);
    assert_true((double)s.logs_far <= 1 + 0.02 * (double)s.logs);
    assert_true(s.squares / (double)s.compared < 1.6);
    assert_true(s.squares / (double)s.compared > 0.3); /* nor are they far too large */
    assert_true(s.failed <= most_failed);
    test_context_free(cx);
}

TEST(forward) { check_method(CR_APPROXIMATE_FORWARD, 50, 1000, 10); }

TEST(rejection) { check_method(CR_APPROXIMATE_REJECTION, 50, 1000, 10); }

TEST(likelihood_weighting) { check_method(CR_APPROXIMATE_LIKELIHOOD_WEIGHTING, 50, 1000, 3); }

TEST(importance) { check_method(CR_APPROXIMATE_IMPORTANCE, 50, 1000, 1); }

TEST(gibbs) { check_method(CR_APPROXIMATE_GIBBS, 40, 1000, 0); }

TEST(annealed) { check_method(CR_APPROXIMATE_ANNEALED, 30, 200, 2); }

/* Where the time limit comes in the midst of the work, what has been drawn is the answer, and its standard errors
 * hold. */
static void check_limit(cr_approximation how, size_t samples, size_t steps, uint64_t nth)
{
    cr_ctx                *cx = test_context();
    cr_rng                 r = cr_rng_stream(21, (uint64_t)how);
    cr_network            *net = random_network(cx, &r, CR_NETWORK_BAYES, 7);
    cr_approximate_options o = cr_approximate_defaults();
    cr_approximate_answer  a = { 0 }, whole = { 0 };
    score                  s = { 0 };
    double                *got, *se;
    o.samples = samples;
    o.steps = steps;
    cri_ctx_run_out_at(cx, nth);
    assert_ok(cx, cr_approximate(cx, net, NULL, how, &o, 1, 0, NULL, &a));
    cri_ctx_run_out_at(cx, 0);
    assert_true(a.report.made > 0);
    assert_true(a.report.made < a.report.planned);
    assert_true(a.report.samples > 0);
    assert_true(a.report.samples < samples || how == CR_APPROXIMATE_ANNEALED);
    got = a.marginal, se = a.se;
    for (size_t v = 0; v < cr_network_size(net); v++) {
        cr_factor f = { 0 };
        assert_ok(cx, cr_enumerate_query(cx, net, NULL, 1, &v, 0, &f, NULL));
        for (size_t x = 0; x < f.size; x++, got++, se++)
            if (*se > 0) compare(&s, *got, f.value[x], *se);
        cr_factor_free(cx, &f);
    }
    assert_int_equal(s.far, 0);
    if (how == CR_APPROXIMATE_GIBBS || how == CR_APPROXIMATE_FORWARD) {
        assert_ok(cx, cr_approximate(cx, net, NULL, how, &o, 1, 0, NULL, &whole));
        assert_true(whole.report.se < a.report.se);
        assert_int_equal(whole.report.planned, 0);
    }
    cr_approximate_free(cx, &a);
    cr_approximate_free(cx, &whole);
    cr_network_free(cx, net);
    test_context_free(cx);
}

TEST(a_time_limit_leaves_samples)
{
    check_limit(CR_APPROXIMATE_FORWARD, 200000, 1, 3);
    check_limit(CR_APPROXIMATE_REJECTION, 200000, 1, 3);
    check_limit(CR_APPROXIMATE_LIKELIHOOD_WEIGHTING, 200000, 1, 3);
    check_limit(CR_APPROXIMATE_IMPORTANCE, 200000, 1, 30);
    check_limit(CR_APPROXIMATE_ANNEALED, 300, 1000, 300);
    check_limit(CR_APPROXIMATE_GIBBS, 20000, 1, 100);
}

TEST(a_time_limit_before_anything_is_known)
{
    cr_rng                r = cr_rng_stream(21, 0);
    cr_network           *net = random_network(cx, &r, CR_NETWORK_BAYES, 7);
    cr_approximate_answer a = { 0 };
    cri_ctx_run_out_at(cx, 1);
    assert_fails_with(cx, cr_approximate(cx, net, NULL, CR_APPROXIMATE_GIBBS, NULL, 1, 0, NULL, &a),
                      CR_ENOMEM, "before the chains");
    assert_non_null(strstr(cr_error_hint(cx), "--time-limit"));
    cri_ctx_run_out_at(cx, 0);
    cr_network_free(cx, net);
}

/* Means of distributions vary less than counts of states would: of one block, whose draws are
 * independent, counts have the variance p (1 - p) / sweeps. */
TEST(gibbs_is_collapsed)
{
    enum { SEEDS = 60 };
    cr_network *net;
    size_t      parent = 0;
    double      root[] = { 0.3, 0.7 }, child[] = { 0.6, 0.4, 0.45, 0.55 };
    double      exact[] = { 0.3, 0.7, 0, 0, 0, 0 }, square[6] = { 0 };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 3; v++) {
        const char *const names[] = { "a", "b", "c" };
        assert_ok(cx, cr_network_add_variable(cx, net, names[v], 2, NULL, NULL));
        if (v > 0) assert_ok(cx, cr_network_set_parents(cx, net, v, 1, &parent));
        assert_ok(cx, cr_network_set_table(cx, net, v, v ? child : root));
    }
    for (size_t k = 2; k < 6; k++) exact[k] = 0.3 * child[k % 2] + 0.7 * child[2 + k % 2];
    cr_approximate_options o = cr_approximate_defaults();
    o.samples = 400;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        cr_approximate_answer a = { 0 };
        assert_ok(cx, cr_approximate(cx, net, NULL, CR_APPROXIMATE_GIBBS, &o, seed, 0, NULL, &a));
        for (size_t k = 0; k < 6; k++) {
            double off = a.marginal[k] - exact[k];
            assert_true(fabs(off) <= 4 * a.se[k]);
            square[k] += off * off / SEEDS;
        }
        cr_approximate_free(cx, &a);
    }
    double sum = 0, counts = 0;
    for (size_t k = 0; k < 6; k += 2) {
        sum += square[k];
        counts += exact[k] * (1 - exact[k]) / 400;
    }
    assert_true(sum < 0.6 * counts);
    cr_network_free(cx, net);
}

/* Small blocks are chains, not independent draws: where nothing is impossible they still agree. */
TEST(small_blocks)
{
    cr_rng r = cr_rng_stream(21, 0);
    score  s = { 0 };
    for (size_t k = 0; k < 20; k++) {
        cr_network            *net;
        cr_approximate_options o = cr_approximate_defaults();
        double                 value[4];
        char                   name[32];
        size_t                 n = 6;
        o.samples = 2000;
        o.block = k % 2 ? 1 : 8;
        assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
        for (size_t v = 0; v < n; v++) {
            snprintf(name, sizeof name, "v%zu", v);
            assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        }
        for (size_t v = 0; v < n; v++)
            for (size_t u = 0; u < v; u++) {
                size_t scope[2] = { u, v };
                for (size_t e = 0; e < 4; e++) value[e] = exp(0.5 * cr_rng_normal(&r));
                assert_ok(cx, cr_network_add_table(cx, net, 2, scope, value));
            }
        check_network(cx, net, NULL, CR_APPROXIMATE_GIBBS, &o, k, &s);
        cr_network_free(cx, net);
    }
    assert_true(s.squares / (double)s.compared < 1.8);
}

TEST(threads_do_not_matter)
{
    cr_rng      r = cr_rng_stream(22, 0);
    cr_network *net = random_network(cx, &r, CR_NETWORK_BAYES, 9);
    for (int how = CR_APPROXIMATE_BP; how <= CR_APPROXIMATE_ANNEALED; how++) {
        cr_approximate_options o = cr_approximate_defaults();
        cr_approximate_answer  one = { 0 }, other = { 0 };
        size_t                 threads[] = { 2, 3, 7 };
        o.samples = how >= CR_APPROXIMATE_GIBBS ? 200 : 5000;
        o.schedule = CR_SCHEDULE_FLOODING;
        o.steps = 10;
        cr_ctx_set_threads(cx, 1);
        assert_ok(cx, cr_approximate(cx, net, NULL, (cr_approximation)how, &o, 5, 0, NULL, &one));
        for (size_t t = 0; t < 3; t++) {
            cr_ctx_set_threads(cx, threads[t]);
            assert_ok(cx,
                      cr_approximate(cx, net, NULL, (cr_approximation)how, &o, 5, 0, NULL, &other));
            assert_memory_equal(one.marginal, other.marginal, one.states * sizeof(double));
            cr_approximate_free(cx, &other);
        }
        if (how >= CR_APPROXIMATE_FORWARD) { /* another seed is another answer */
            assert_ok(cx,
                      cr_approximate(cx, net, NULL, (cr_approximation)how, &o, 6, 0, NULL, &other));
            assert_memory_not_equal(one.marginal, other.marginal, one.states * sizeof(double));
            cr_approximate_free(cx, &other);
        }
        cr_approximate_free(cx, &one);
    }
    cr_network_free(cx, net);
}

TEST(markov_networks_have_no_causes)
{
    cr_rng                r = cr_rng_stream(23, 0);
    cr_network           *net = random_network(cx, &r, CR_NETWORK_MARKOV, 4);
    cr_approximate_answer a = { 0 };
    assert_fails_with(cx,
                      cr_approximate(cx, net, NULL, CR_APPROXIMATE_REJECTION, NULL, 0, 0, NULL, &a),
                      CR_EARG, "which a Markov network does not have");
    cr_network_free(cx, net);
}
