/* The bytes that the exact engines foretell, against what an allocator that counts has seen. */
#include "random_network.h"

#include "graph/exact/bucket.h"
#include "graph/exact/junction.h"
#include "graph/files/network_file.h"

#include <stdatomic.h>

typedef struct meter {
    atomic_size_t now, peak;
} meter;

static void *count(void *user, void *old, size_t old_size, size_t new_size)
{
    meter *m = user;
    if (new_size > 0) {
        size_t use = atomic_fetch_add(&m->now, new_size) + new_size - (old ? old_size : 0);
        size_t peak = atomic_load(&m->peak);
        while (use > peak && !atomic_compare_exchange_weak(&m->peak, &peak, use)) {}
    }
    if (old) atomic_fetch_sub(&m->now, old_size);
    if (new_size > 0) return realloc(old, new_size);
    free(old);
    return NULL;
}

/* How much of what was foretold was held; 1: exactly that. */
static double share(const meter *m, size_t before, double bytes)
{
    return ((double)atomic_load(&m->peak) - (double)before) / bytes;
}

enum { TREE_HUGIN, TREE_SHAFER, ONE_MARGINAL, EVIDENCE_ONLY, WAYS };

/* Runs one engine; *out_tables: the bytes of tables foretold. */
static double run(cr_ctx *cx, meter *m, const cr_network *net, size_t way, double *out_tables)
{
    cr_exact_report report = { 0 };
    size_t          states = 0, before = atomic_load(&m->now), query = 0;
    atomic_store(&m->peak, before);
    for (size_t v = 0; v < cr_network_size(net); v++) states += cr_network_states(net, v);
    if (way <= TREE_SHAFER) {
        cr_junction *j;
        double      *p = malloc((states + 1) * sizeof *p);
        assert_ok(cx, cr_junction_new(cx, net, NULL, NULL, &j));
        report = cr_junction_report(j);
        if (way == TREE_SHAFER)
            assert_ok(cx, cr_junction_bytes(cx, j, CR_CALIBRATE_SHAFER_SHENOY, &report.bytes));
        assert_ok(cx,
                  cr_junction_calibrate(
                      cx, j, way == TREE_HUGIN ? CR_CALIBRATE_HUGIN : CR_CALIBRATE_SHAFER_SHENOY));
        assert_ok(cx, cr_junction_marginals(cx, j, p));
        cr_junction_free(cx, j);
        free(p);
    } else {
        cr_factor f = { 0 };
        double    log_e;
        if (way == ONE_MARGINAL)
            assert_ok(cx, cr_bucket_query(cx, net, NULL, 1, &query, NULL, &f, &log_e, &report));
        else
            assert_ok(cx, cr_bucket_log_evidence(cx, net, NULL, NULL, &log_e, &report));
        cr_factor_free(cx, &f);
    }
    *out_tables = report.tables;
    return share(m, before, report.bytes);
}

static const char *WAY[] = { "tree, Hugin", "tree, Shafer-Shenoy", "one marginal", "P(e)" };

static void check_network(cr_ctx *cx, meter *m, const cr_network *net, const char *name)
{
    for (size_t threads = 1; threads <= 2; threads++)
        for (size_t way = 0; way < WAYS; way++) {
            double tables, held;
            cr_ctx_set_threads(cx, threads);
            held = run(cx, m, net, way, &tables);
            /* cliques side by side need not all be at their largest at the same moment */
            double least = tables < 1e6 ? 0.3 : threads > 1 && way == TREE_SHAFER ? 0.6 : 0.9;
            if (held > 1.1 || held < least)
                fail_msg("%s, %s: %g of the bytes foretold were held", name, WAY[way], held);
        }
}

static void with_meter(void (*body)(cr_ctx *cx, meter *m))
{
    meter        m = { 0 };
    cr_allocator a = { count, &m };
    cr_ctx      *cx;
    assert_int_equal(cr_ctx_new(&a, &cx), CR_OK);
    body(cx, &m);
    cr_ctx_free(cx);
    assert_int_equal(atomic_load(&m.now), 0);
}

/* --- networks -------------------------------------------------------------------------------- */

static void add_spins(cr_ctx *cx, cr_network *net, cr_rng *r, size_t n, const size_t *var,
                      size_t states)
{
    double value[1 << 10];
    size_t size = 1;
    for (size_t i = 0; i < n; i++) size *= states;
    for (size_t e = 0; e < size; e++) value[e] = 0.2 + cr_rng_uniform(r);
    assert_ok(cx, cr_network_add_table(cx, net, n, var, value));
}

static cr_network *empty(cr_ctx *cx, size_t n, size_t states)
{
    cr_network *net;
    char        name[32];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t v = 0; v < n; v++) {
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, states, NULL, NULL));
    }
    return net;
}

static cr_network *grid(cr_ctx *cx, size_t rows, size_t columns)
{
    cr_rng      r = cr_rng_stream(30, rows * columns);
    cr_network *net = empty(cx, rows * columns, 2);
    for (size_t v = 0; v < rows * columns; v++) {
        size_t right[2] = { v, v + 1 }, below[2] = { v, v + columns };
        add_spins(cx, net, &r, 1, &v, 2);
        if (v % columns + 1 < columns) add_spins(cx, net, &r, 2, right, 2);
        if (v + columns < rows * columns) add_spins(cx, net, &r, 2, below, 2);
    }
    return net;
}

/* Pairs on a random k-tree, or tables over all of each clique. */
static cr_network *k_tree(cr_ctx *cx, size_t n, size_t k, size_t states, bool whole)
{
    cr_rng      r = cr_rng_stream(31, n * k);
    cr_network *net = empty(cx, n, states);
    size_t      clique[256][32], order[32];
    for (size_t v = 0; v < n; v++) {
        size_t near[32], m = v < k ? v : k, from = v > k ? k + cr_rng_below(&r, v - k) : 0;
        cr_rng_permutation(&r, k + 1, order);
        for (size_t i = 0, at = 0; i < m; i++) near[i] = v <= k ? i : clique[from][order[at++]];
        near[m] = v;
        for (size_t i = 0; v == k && i <= k; i++) clique[v][i] = i;
        for (size_t i = 0; v > k && i <= k; i++) clique[v][i] = near[i];
        for (size_t i = 0; !whole && i < m; i++)
            add_spins(cx, net, &r, 2, (size_t[]){ near[i], v }, states);
        if (whole) add_spins(cx, net, &r, m + 1, near, states);
    }
    return net;
}

static void check_generated(cr_ctx *cx, meter *m)
{
    cr_network *net[] = { grid(cx, 4, 4),
                          grid(cx, 9, 9),
                          grid(cx, 14, 8),
                          k_tree(cx, 50, 11, 2, false),
                          k_tree(cx, 30, 13, 2, false),
                          k_tree(cx, 200, 3, 3, true),
                          k_tree(cx, 120, 5, 3, true),
                          k_tree(cx, 250, 7, 2, true),
                          k_tree(cx, 18, 14, 2, false),
                          empty(cx, 3, 2) };
    for (size_t i = 0; i < sizeof net / sizeof *net; i++) {
        char name[32];
        snprintf(name, sizeof name, "generated %zu", i);
        check_network(cx, m, net[i], name);
        cr_network_free(cx, net[i]);
    }
}

TEST(bytes_of_generated_networks) { with_meter(check_generated); }

static void check_files(cr_ctx *cx, meter *m)
{
    static const char *NAMES[] = { "alarm", "asia",       "cancer",    "child",  "earthquake",
                                   "sachs", "hailfinder", "insurance", "survey", "win95pts" };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        char        name[64];
        cr_network *net;
        snprintf(name, sizeof name, "bn/%s.bif", NAMES[i]);
        const char *path = test_data(name);
        assert_ok(cx, cr_network_read(cx, path, CR_FORMAT_AUTO, &net));
        check_network(cx, m, net, NAMES[i]);
        cr_network_free(cx, net);
    }
}

TEST(bytes_of_known_networks) { with_meter(check_files); }
