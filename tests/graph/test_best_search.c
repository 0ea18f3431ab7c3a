/* Branch and bound against enumeration and elimination. */
#include "support.h"

#include "graph/best/best_search.h"
#include "graph/exact/bucket.h"
#include "graph/exact/enumerate.h"
#include "graph/files/network_file.h"
#include "random_network.h"

static double log_of(const cr_network *net, const cr_evidence *e, const size_t *state)
{
    double sum = cr_network_log_value(net, state);
    for (size_t v = 0; e && v < cr_network_size(net); v++)
        if (cr_evidence_likelihood(e, v)) sum += log(cr_evidence_likelihood(e, v)[state[v]]);
    return sum;
}

TEST(the_best_is_that_of_enumeration)
{
    cr_rng r = cr_rng_stream(41, 1);
    size_t impossible = 0;
    for (size_t round = 0; round < 250; round++) {
        cr_network  *net = random_network(cx, &r, round % 2 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV,
                                          1 + cr_rng_below(&r, 10));
        cr_evidence *e = random_evidence(cx, &r, net);
        size_t       best[16], found[16];
        double       log_best, log_found;
        cr_best_report report;
        cr_status      st = cr_enumerate_best(cx, net, e, 0, NULL, 0, best, &log_best);
        if (st == CR_OK && log_best > -INFINITY) {
            assert_ok(cx, cr_best_search(cx, net, e, 0, found, &log_found, &report));
            assert_true(report.proven);
            assert_close(log_found, log_best, 1e-9);
            assert_close(log_of(net, e, found), log_best, 1e-9);
            assert_close(report.bound, log_found, 1e-8);
        } else {
            assert_fails_with(cx, cr_best_search(cx, net, e, 0, found, &log_found, NULL), CR_EDATA,
                              "impossible");
            impossible++;
        }
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_true(impossible > 5 && impossible < 150);
}

/* A grid of spins in random fields. */
static cr_network *grid(cr_ctx *cx, cr_rng *r, size_t n, double coupling, double field)
{
    cr_network *net;
    char        name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t i = 0; i < n * n; i++) {
        snprintf(name, sizeof name, "s%zu", i);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        double h = field * (2 * cr_rng_uniform(r) - 1);
        assert_ok(cx, cr_network_add_table(cx, net, 1, &i, (double[]){ exp(h), exp(-h) }));
    }
    for (size_t i = 0; i < n * n; i++)
        for (int down = 0; down < 2; down++) {
            size_t to = down ? i + n : i + 1;
            double j = coupling * (2 * cr_rng_uniform(r) - 1);
            if (down ? to >= n * n : to % n == 0) continue;
            assert_ok(cx, cr_network_add_table(cx, net, 2, (size_t[]){ i, to },
                                               (double[]){ exp(j), exp(-j), exp(-j), exp(j) }));
        }
    return net;
}

/* On grids elimination knows the answer; with little work the bound still holds. */
TEST(grids_are_solved_or_bounded)
{
    cr_rng r = cr_rng_stream(41, 2);
    size_t best[64], found[64], proven = 0;
    for (size_t round = 0; round < 8; round++) {
        cr_network    *net = grid(cx, &r, 8, 0.5 + 0.1 * (double)round, 1);
        double         log_best, log_found;
        cr_best_report report;
        assert_ok(cx, cr_bucket_best(cx, net, NULL, NULL, best, &log_best, NULL));
        assert_ok(cx, cr_best_search(cx, net, NULL, 3e5, found, &log_found, &report));
        proven += report.proven;
        if (report.proven) assert_close(log_found, log_best, 1e-9);
        assert_true(log_found <= log_best + 1e-9 && report.bound >= log_best - 1e-9);
        assert_ok(cx, cr_best_search(cx, net, NULL, 100, found, &log_found, &report));
        assert_false(report.proven);
        assert_true(log_found <= log_best + 1e-9 && report.bound >= log_best - 1e-9);
        cr_network_free(cx, net);
    }
    assert_true(proven >= 5);
}

TEST(public_networks_are_solved)
{
    static const char *const names[] = { "alarm", "insurance", "win95pts", "hailfinder" };
    size_t                   seen = 0, proven = 0;
    for (size_t i = 0; i < 4; i++) {
        char           name[64];
        cr_network    *net;
        size_t         best[128], found[128];
        double         log_best, log_found;
        cr_best_report report;
        snprintf(name, sizeof name, "bn/%s.bif", names[i]);
        const char *path = test_data(name);
        assert_ok(cx, cr_network_read(cx, path, CR_FORMAT_BIF, &net));
        assert_ok(cx, cr_bucket_best(cx, net, NULL, NULL, best, &log_best, NULL));
        assert_ok(cx, cr_best_search(cx, net, NULL, 2e6, found, &log_found, &report));
        assert_true(report.bound >= log_best - 1e-9);
        assert_true(log_found <= log_best + 1e-9);
        if (report.proven) assert_close(log_found, log_best, 1e-9);
        seen++;
        proven += report.proven;
        cr_network_free(cx, net);
    }
    assert_true(4 * proven >= 3 * seen);
}

/* Near the time limit the best found is given, with a bound, in place of a failure. */
TEST(time_may_be_short)
{
    cr_rng         r = cr_rng_stream(7, 3);
    cr_network    *net = grid(cx, &r, 30, 3, 1);
    cr_best_report report;
    size_t         found[900];
    double         log_found;
    cr_ctx_set_time_limit(cx, 0.3); /* on a busy machine too */
    assert_ok(cx, cr_best_search(cx, net, NULL, 1e12, found, &log_found, &report));
    assert_true(report.timed && !report.proven);
    assert_true(isfinite(log_found) && report.bound >= log_found && isfinite(report.bound));
    cr_ctx_set_time_limit(cx, 0);
    cr_network_free(cx, net);
}

static cr_status search_once(cr_ctx *cx, void *arg)
{
    size_t found[16];
    double log_found;
    return cr_best_search(cx, arg, NULL, 0, found, &log_found, NULL);
}

TEST(memory_may_be_short)
{
    cr_rng      r = cr_rng_stream(41, 3);
    cr_network *net = grid(cx, &r, 3, 1, 1);
    test_every_allocation_fails(search_once, net);
    cr_network_free(cx, net);
}
