/* Approximate inference against enumeration: exact where it should be, bounds that hold, samples
 * within their standard errors. */
#include "random_network.h"

#include "models/graph/approximate.h"
#include "models/graph/enumerate.h"
#include "models/graph/mean_field.h"

#include <math.h>

enum { MOST_STATES = 64 };

/* Every marginal by enumeration, and log P(e). */
static double truth(cr_ctx *cx, const cr_network *net, const cr_evidence *e, double *out)
{
    double log_e;
    assert_ok(cx, cr_enumerate_query(cx, net, e, 0, NULL, 0, NULL, &log_e));
    for (size_t v = 0; log_e > -INFINITY && v < cr_network_size(net); v++) {
        cr_factor f;
        assert_ok(cx, cr_enumerate_query(cx, net, e, 1, &v, 0, &f, NULL));
        memcpy(out, f.value, f.size * sizeof *out);
        out += f.size;
        cr_factor_free(cx, &f);
    }
    return log_e;
}

/* A network without cycles between its tables: each has one earlier variable besides its own. */
static cr_network *random_tree(cr_ctx *cx, cr_rng *r, size_t n)
{
    cr_network *net;
    double      value[16];
    char        name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t v = 0; v < n; v++) {
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 1 + cr_rng_below(r, 3), NULL, NULL));
    }
    for (size_t v = 1; v < n; v++) {
        size_t scope[2] = { cr_rng_below(r, v), v };
        size_t size = cr_network_states(net, v) * cr_network_states(net, scope[0]);
        if (cr_rng_below(r, 8) == 0) continue; /* parts */
        for (size_t e = 0; e < size; e++) value[e] = cr_rng_below(r, 5) ? cr_rng_uniform(r) : 0;
        assert_ok(cx, cr_network_add_table(cx, net, 2, scope, value));
    }
    return net;
}

static void check_marginals(const cr_network *net, const double *got, const double *expected,
                            double tolerance)
{
    for (size_t v = 0, k = 0; v < cr_network_size(net); v++)
        for (size_t s = 0; s < cr_network_states(net, v); s++, k++)
            assert_close(got[k], expected[k], tolerance);
}

static void messages_are_exact_on_trees(void **unused)
{
    (void)unused;
    cr_ctx *cx = test_context();
    cr_rng  r = cr_rng_stream(7, 0);
    size_t  impossible = 0;
    for (size_t k = 0; k < 200; k++) {
        cr_network            *net = random_tree(cx, &r, 1 + cr_rng_below(&r, 12));
        cr_evidence           *e = random_evidence(cx, &r, net);
        cr_approximate_options o = cr_approximate_defaults();
        cr_approximate_answer  a = { 0 };
        double                 expected[MOST_STATES], log_e = truth(cx, net, e, expected);
        cr_approximation       how = k % 2 ? CR_APPROXIMATE_BP : CR_APPROXIMATE_TRW;
        o.schedule = (int)(k / 2 % 3);
        o.damping = k % 5 ? NAN : 0.3;
        assert_ok(cx, cr_approximate(cx, net, e, how, &o, 0, 0, NULL, &a));
        if (log_e == -INFINITY) {
            impossible++;
            assert_true(a.report.log_evidence == -INFINITY);
        } else {
            assert_true(a.report.converged);
            assert_close(a.report.log_evidence, log_e, 1e-7);
            check_marginals(net, a.marginal, expected, 1e-7);
        }
        cr_approximate_free(cx, &a);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_in_range(impossible, 5, 100);
    test_context_free(cx);
}

/* On all kinds of networks; `share` of the marginals that are far off is printed nowhere, but the
 * mean error is small. */
static void bounds_hold(void **unused)
{
    (void)unused;
    cr_ctx *cx = test_context();
    cr_rng  r = cr_rng_stream(8, 0);
    double  error = 0, count = 0;
    for (size_t k = 0; k < 200; k++) {
        cr_network_kind        kind = k % 2 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV;
        cr_network            *net = random_network(cx, &r, kind, 1 + cr_rng_below(&r, 8));
        cr_evidence           *e = random_evidence(cx, &r, net);
        cr_approximate_options o = cr_approximate_defaults();
        cr_approximate_answer  a = { 0 };
        double expected[MOST_STATES], log_e = truth(cx, net, e, expected), best, p, upper;
        size_t state[16], found[16];
        o.max_iter = k % 3 ? 100 : 2;
        o.schedule = (int)(k % 3);
        cr_status st = cr_approximate(cx, net, e, CR_APPROXIMATE_TRW, &o, k, 0, NULL, &a);
        if (st != CR_EUNSUPPORTED) {
            assert_ok(cx, st);
            assert_true(a.report.log_evidence == -INFINITY ? log_e == -INFINITY
                                                           : a.report.upper >= log_e - 1e-9);
            cr_approximate_free(cx, &a);
        }
        st = cr_approximate(cx, net, e, CR_APPROXIMATE_MEAN_FIELD, &o, k, 0, NULL, &a);
        if (log_e == -INFINITY) {
            assert_true(st == CR_ENUMERIC || st == CR_EDATA || a.report.log_evidence == -INFINITY);
        } else if (st != CR_ENUMERIC) {
            assert_ok(cx, st);
            assert_true(a.report.lower <= log_e + 1e-9);
            assert_true(a.report.lower > -INFINITY);
        }
        cr_approximate_free(cx, &a);
        assert_ok(cx, cr_approximate(cx, net, e, CR_APPROXIMATE_BP, &o, k, 0, NULL, &a));
        if (a.report.log_evidence == -INFINITY) assert_true(log_e == -INFINITY);
        for (size_t i = 0; log_e > -INFINITY && i < a.states; i++, count++)
            error += fabs(a.marginal[i] - expected[i]);
        cr_approximate_free(cx, &a);
        st = cr_approximate_best(cx, net, e, &o, found, &p, &upper, NULL);
        if (log_e > -INFINITY && st == CR_OK) {
            assert_ok(cx, cr_enumerate_best(cx, net, e, 0, NULL, 0, state, &best));
            assert_true(p <= best + 1e-9);
            assert_true(upper >= best - 1e-9);
            double value = cr_network_log_value(net, found);
            for (size_t v = 0; v < cr_network_size(net); v++) {
                const double *l = cr_evidence_likelihood(e, v);
                if (l) value += log(l[found[v]]);
            }
            assert_close(p, value, 1e-9);
        } else {
            assert_true(st == CR_ENUMERIC || st == CR_EDATA);
        }
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_true(error / count < 0.03);
    test_context_free(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_exact_on_trees),
        cmocka_unit_test(bounds_hold),
    };
    return cmocka_run_group_tests_name("graph/approximate", tests, NULL, NULL);
}
