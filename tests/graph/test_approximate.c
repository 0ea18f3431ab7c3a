/* Approximate inference against enumeration: exact where it should be, bounds that hold, samples
 * within their standard errors. */
#include "random_network.h"

#include "graph/approximate/approximate.h"
#include "graph/files/uai.h"
#include "graph/exact/enumerate.h"
#include "graph/approximate/join_graph.h"
#include "graph/approximate/mean_field.h"
#include "graph/query/query.h"
#include "base/context_internal.h"

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

TEST(messages_are_exact_on_trees)
{
    cr_rng r = cr_rng_stream(7, 0);
    size_t impossible = 0;
    for (size_t k = 0; k < 200; k++) {
        cr_network            *net = random_tree(cx, &r, 1 + cr_rng_below(&r, 12));
        cr_evidence           *e = random_evidence(cx, &r, net);
        cr_approximate_options o = cr_approximate_defaults();
        cr_approximate_answer  a = { 0 };
        double                 expected[MOST_STATES], log_e = truth(cx, net, e, expected);
        cr_approximation       how = k % 3 == 0   ? CR_APPROXIMATE_TRW
                                     : k % 3 == 1 ? CR_APPROXIMATE_BP
                                                  : CR_APPROXIMATE_GBP;
        o.schedule = (int)(k / 3 % 3);
        o.cluster = 1; /* no larger than the tables */
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
}

/* Better weights of the trees: the bound falls, and stays above log Z. */
TEST(better_weights_lower_the_bound)
{
    size_t lower = 0;
    for (uint64_t round = 0; round < 6; round++) {
        cr_rng                 r = cr_rng_stream(61, round);
        cr_network            *net = dense_network(cx, &r, 4 + round % 5);
        cr_approximate_options o = cr_approximate_defaults();
        double                 expected[MOST_STATES], log_z = truth(cx, net, NULL, expected);
        double                 bound[3];
        const size_t           steps[3] = { 0, 2, 10 };
        for (size_t k = 0; k < 3; k++) {
            cr_approximate_answer a = { 0 };
            o.reweigh = steps[k];
            assert_ok(cx, cr_approximate(cx, net, NULL, CR_APPROXIMATE_TRW, &o, 1, 0, NULL, &a));
            bound[k] = a.report.upper;
            assert_true(bound[k] >= log_z - 1e-9);
            cr_approximate_free(cx, &a);
        }
        assert_true(bound[1] <= bound[0] && bound[2] <= bound[1]);
        lower += bound[2] < bound[0] - 1e-3 * (bound[0] - log_z);
        cr_network_free(cx, net);
    }
    assert_true(lower >= 4);
}

/* On all kinds of networks; `share` of the marginals that are far off is printed nowhere, but the
 * mean error is small. */
TEST(bounds_hold)
{
    cr_rng r = cr_rng_stream(8, 0);
    double error = 0, count = 0;
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
}

/* Clusters as large as those of the junction tree: exact, on anything; smaller ones still cover the
 * network as they should. */
TEST(large_clusters_are_exact)
{
    cr_rng r = cr_rng_stream(9, 0);
    double error = 0, count = 0;
    for (size_t k = 0; k < 200; k++) {
        cr_network_kind        kind = k % 2 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV;
        cr_network            *net = random_network(cx, &r, kind, 1 + cr_rng_below(&r, 10));
        cr_evidence           *e = random_evidence(cx, &r, net);
        cr_approximate_options o = cr_approximate_defaults();
        cr_approximate_answer  a = { 0 };
        double                 expected[MOST_STATES], log_e = truth(cx, net, e, expected);
        o.cluster = 1000000;
        assert_ok(cx, cr_approximate(cx, net, e, CR_APPROXIMATE_GBP, &o, 0, 0, NULL, &a));
        if (log_e == -INFINITY) {
            assert_true(a.report.log_evidence == -INFINITY);
        } else {
            assert_true(a.report.converged);
            assert_close(a.report.log_evidence, log_e, 1e-10);
            check_marginals(net, a.marginal, expected, 1e-10);
        }
        cr_approximate_free(cx, &a);
        o.cluster = 4;
        o.max_iter = 100;
        assert_ok(cx, cr_approximate(cx, net, e, CR_APPROXIMATE_GBP, &o, 0, 0, NULL, &a));
        if (a.report.log_evidence == -INFINITY) assert_true(log_e == -INFINITY);
        for (size_t i = 0; log_e > -INFINITY && i < a.states; i++, count++)
            error += fabs(a.marginal[i] - expected[i]);
        cr_approximate_free(cx, &a);
        cri_fgraph     g;
        cri_join_graph j;
        bool           holds;
        assert_ok(cx, cri_fgraph_new(cx, net, e, NULL, &g));
        assert_ok(cx, cri_join_graph_new(cx, &g, 8, &j));
        assert_ok(cx, cr_cluster_graph_check(cx, &j.graph, g.n, &holds));
        assert_true(holds);
        for (size_t i = 0; i < g.m; i++) { /* each table lies in its cluster */
            size_t at = j.graph.begin[j.home[i]];
            for (size_t v = 0; v < g.table[i].n; v++) {
                while (at < j.graph.begin[j.home[i] + 1] && j.graph.member[at] < g.table[i].var[v])
                    at++;
                assert_true(at < j.graph.begin[j.home[i] + 1]);
                assert_int_equal(j.graph.member[at], g.table[i].var[v]);
            }
        }
        cri_join_graph_free(cx, &j);
        cri_fgraph_free(cx, &g);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_true(error / count < 0.03);
}

/* How far q is from exp(E log of all tables given the state of one variable), normalised: at the
 * fixed point of mean field it is this for every variable.  Binary variables, all of them open. */
static double distance_from_fixed_point(const cr_network *net, const cri_fgraph *g, const double *q)
{
    double worst = 0;
    for (size_t v = 0; v < cr_network_size(net); v++) {
        double log_q[2] = { 0, 0 };
        if (g->problem->rank[v] == CR_NONE) continue;
        for (size_t i = 0; i < cr_network_tables(net); i++) {
            cr_table_view t = cr_network_table(net, i);
            for (size_t e = 0; e < t.size; e++) {
                double p = 1;
                size_t mine = 2;
                for (size_t k = 0; k < t.n; k++) {
                    size_t s = e >> (t.n - 1 - k) & 1;
                    if (t.scope[k] == v)
                        mine = s;
                    else
                        p *= q[g->start[g->problem->rank[t.scope[k]]] + s];
                }
                if (mine < 2) log_q[mine] += p * log(t.value[e]);
            }
        }
        double one = 1 / (1 + exp(log_q[0] - log_q[1]));
        worst = fmax(worst, fabs(one - q[g->start[g->problem->rank[v]] + 1]));
    }
    return worst;
}

TEST(mean_field_never_falls)
{
    cr_rng r = cr_rng_stream(10, 0);
    size_t settled = 0;
    for (size_t k = 0; k < 60; k++) {
        cr_network *net;
        cri_fgraph  g;
        double      value[8], q[MOST_STATES], trace[2000], bound, log_z;
        size_t      n = 2 + cr_rng_below(&r, 8);
        char        name[32];
        assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
        for (size_t v = 0; v < n; v++) {
            snprintf(name, sizeof name, "v%zu", v);
            assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        }
        for (size_t i = 0; i < 2 * n; i++) {
            size_t scope[3], pick[16];
            cr_rng_permutation(&r, n, pick);
            memcpy(scope, pick, sizeof scope);
            for (size_t e = 0; e < 8; e++) value[e] = exp(2 * cr_rng_normal(&r));
            assert_ok(cx, cr_network_add_table(cx, net, n < 3 ? 2 : 3, scope, value));
        }
        cr_approximate_options o = cr_approximate_defaults();
        cr_approximate_report  report = { 0 };
        o.max_iter = 2000;
        o.tol = 1e-10;
        assert_ok(cx, cri_fgraph_new(cx, net, NULL, NULL, &g));
        for (size_t i = 0; i < g.start[g.n]; i++) q[i] = 0.5;
        assert_ok(cx, cri_mean_field(cx, &g, &o, q, trace, &bound, &report));
        for (size_t i = 1; i < report.iterations; i++)
            assert_true(trace[i] >= trace[i - 1] - 1e-10);
        assert_ok(cx, cr_enumerate_query(cx, net, NULL, 0, NULL, 0, NULL, &log_z));
        assert_true(bound <= log_z);
        assert_close(bound, trace[report.iterations - 1], 1e-10);
        if (report.converged) assert_true(distance_from_fixed_point(net, &g, q) < 1e-6);
        settled += report.converged;
        cri_fgraph_free(cx, &g);
        cr_network_free(cx, net);
    }
    assert_true(settled > 50);
}

/* Joint distributions by one variable after another are exact where the method is. */
TEST(joints_follow_the_chain_rule)
{
    cr_rng r = cr_rng_stream(11, 0);
    for (size_t k = 0; k < 60; k++) {
        cr_network  *net = random_network(cx, &r, CR_NETWORK_BAYES, 3 + cr_rng_below(&r, 5));
        cr_evidence *e = random_evidence(cx, &r, net);
        cr_approximate_options o = cr_approximate_defaults();
        cr_approximate_answer  a = { 0 };
        cr_factor              f = { 0 };
        double                 log_e;
        size_t                 query[16];
        o.cluster = 1000000;
        cr_rng_permutation(&r, cr_network_size(net), query);
        assert_ok(cx, cr_approximate(cx, net, e, CR_APPROXIMATE_GBP, &o, 0, 3, query, &a));
        assert_ok(cx, cr_enumerate_query(cx, net, e, 0, NULL, 0, NULL, &log_e));
        if (log_e > -INFINITY) {
            assert_ok(cx, cr_enumerate_query(cx, net, e, 3, query, 0, &f, NULL));
            assert_int_equal(f.size, a.joint.size);
            for (size_t i = 0; i < f.size; i++) assert_close(a.joint.value[i], f.value[i], 1e-10);
        }
        cr_factor_free(cx, &f);
        cr_approximate_free(cx, &a);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
}

/* A ring of n with one table too many for trees, that no table forbids anything in. */
static cr_network *make_ring(cr_ctx *cx, size_t n)
{
    cr_network *net;
    char        name[32];
    double      value[4] = { 2, 1, 0.5, 3 };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t v = 0; v < n; v++) {
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
    }
    for (size_t v = 0; v < n; v++) {
        size_t scope[2] = { v, (v + 1) % n };
        assert_ok(cx, cr_network_add_table(cx, net, 2, scope, value));
    }
    return net;
}

/* AUTO stays exact where that is cheap, and says why where it is not. */
TEST(auto_decides_by_cost)
{
    cr_network      *net = make_ring(cx, 9);
    cr_query_options o = cr_query_defaults();
    const char      *ask[] = { "P(v0)", "P(*)",      "P(v0, v4 | v2=1)", "P(v0=1 | v2=1)",
                               "H(v3)", "argmax(*)", "argmax(v0, v5)",   "P(v0=1, v3=0)" };
    for (size_t k = 0; k < sizeof ask / sizeof *ask; k++) {
        cr_query_answer exact = { 0 }, other = { 0 };
        o.budget = 60;
        assert_ok(cx, cr_query(cx, net, ask[k], NULL, &o, &exact));
        assert_true(exact.exact);
        assert_string_equal(exact.why, "");
        o.budget = 0;
        assert_ok(cx, cr_query(cx, net, ask[k], NULL, &o, &other));
        assert_int_equal(other.exact, k == 5); /* which has a portfolio of exact ways */
        assert_true(k == 5 || strstr(other.why, "was used"));
        assert_string_equal(other.method, k == 5 ? "ve" : "gbp");
        for (size_t i = 0; i < exact.table.size; i++)
            assert_close(exact.table.value[i], other.table.value[i], 1e-9);
        for (size_t i = 0; i < exact.values; i++)
            assert_close(exact.value[i], other.value[i], 1e-9);
        for (size_t i = 0; i < exact.n_states; i++)
            assert_int_equal(exact.states[i], other.states[i]);
        assert_close(exact.number, other.number, 1e-9);
        if (k == 5) assert_close(exact.log_joint, other.log_joint, 1e-9);
        cr_query_answer_free(cx, &exact);
        cr_query_answer_free(cx, &other);
    }
    cr_network_free(cx, net);
}

TEST(impossible_evidence_is_said)
{
    cr_network      *net;
    cr_query_options o = cr_query_defaults();
    double           root[2] = { 0.5, 0.5 }, copy[4] = { 1, 0, 0, 1 };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 5; v++) { /* each a copy of the one before */
        char   name[2] = { (char)('a' + v), 0 };
        size_t parent = v ? v - 1 : 0;
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        assert_ok(cx, cr_network_set_parents(cx, net, v, v > 0, &parent));
        assert_ok(cx, cr_network_set_table(cx, net, v, v ? copy : root));
    }
    for (int how = CR_APPROXIMATE_BP; how <= CR_APPROXIMATE_ANNEALED; how++) {
        cr_query_answer a = { 0 };
        o.approximate.samples = 500;
        bool samples = how >= CR_APPROXIMATE_FORWARD && how < CR_APPROXIMATE_IMPORTANCE;
        o.method = (cr_query_method)(CR_QUERY_APPROXIMATE + how);
        if (samples)
            assert_fails_with(cx, cr_query(cx, net, "P(c | a=0, e=1)", NULL, &o, &a), CR_ENUMERIC,
                              "none of 500 samples is consistent");
        else
            assert_fails_with(cx, cr_query(cx, net, "P(c | a=0, e=1)", NULL, &o, &a), CR_EDATA,
                              "impossible");
        if (samples) assert_true(cr_error_hint(cx)[0] != '\0');
        if (!samples) assert_non_null(strstr(cr_error_notes(cx), "e=1"));
    }
    cr_network_free(cx, net);
}

static cr_status every_method(cr_ctx *cx, void *arg)
{
    cr_status              st = CR_OK;
    cr_approximation       how = *(cr_approximation *)arg;
    cr_network            *net = NULL;
    cr_approximate_options o = cr_approximate_defaults();
    cr_approximate_answer  a = { 0 };
    double                 value[8] = { 0.2, 0.8, 0.5, 0.5, 0.9, 0.1, 0.3, 0.7 }, log_best, upper;
    size_t                 state[4], query[2] = { 0, 3 };
    o.samples = 60;
    o.steps = 3;
    o.reweigh = 1;
    o.chains = 2;
    o.block = o.cluster = 4;
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 4; v++) {
        char   name[2] = { (char)('a' + v), 0 };
        size_t parents[2] = { v - 1, v - 2 };
        CR_TRY(cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        CR_TRY(cr_network_set_parents(cx, net, v, v > 2 ? 2 : v > 0, parents));
        CR_TRY(cr_network_set_table(cx, net, v, value));
    }
    CR_TRY(cr_approximate(cx, net, NULL, how, &o, 1, 2, query, &a));
    if (how == CR_APPROXIMATE_BP)
        CR_TRY(cr_approximate_best(cx, net, NULL, &o, state, &log_best, &upper, NULL));
done:
    cr_approximate_free(cx, &a);
    cr_network_free(cx, net);
    return st;
}

static cr_status ask_too_much(cr_ctx *cx, void *arg)
{
    cr_status        st = CR_OK;
    cr_query_options o = cr_query_defaults();
    cr_query_answer  a = { 0 };
    o.budget = 0;
    o.approximate.max_iter = 1; /* does not converge: chains are tried too */
    o.approximate.samples = 20;
    o.approximate.chains = 1;
    CR_TRY(cr_query(cx, arg, "P(v0 | v1=1)", NULL, &o, &a));
    cr_query_answer_free(cx, &a);
done:
    return st;
}

TEST(allocations_may_fail)
{
    cr_network *net = make_ring(cx, 3);
    test_every_allocation_fails(ask_too_much, net);
    cr_network_free(cx, net);
    for (cr_approximation how = CR_APPROXIMATE_BP; how <= CR_APPROXIMATE_ANNEALED; how++)
        test_every_allocation_fails(every_method, &how);
}

/* Messages of some sweeps are an answer that has not converged. */
TEST(a_time_limit_leaves_messages)
{
    cr_approximation const methods[] = { CR_APPROXIMATE_BP, CR_APPROXIMATE_GBP, CR_APPROXIMATE_TRW,
                                         CR_APPROXIMATE_MEAN_FIELD };
    cr_rng                 r = cr_rng_stream(31, 0);
    size_t                 cut[4] = { 0 };
    for (size_t i = 0; i < 80; i++) {
        cr_network            *net = random_network(cx, &r, CR_NETWORK_MARKOV, 8);
        cr_approximate_options o = cr_approximate_defaults();
        cr_approximate_answer  a = { 0 };
        size_t                 k = i % 4;
        o.tol = 0;
        o.cluster = 4;
        cri_ctx_run_out_at(cx, 1);
        assert_ok(cx, cr_approximate(cx, net, NULL, methods[k], &o, 1, 0, NULL, &a));
        cri_ctx_run_out_at(cx, 0);
        for (size_t v = 0, at = 0; a.report.planned > 0 && v < cr_network_size(net); v++) {
            double sum = 0;
            for (size_t x = 0; x < cr_network_states(net, v); x++) sum += a.marginal[at++];
            assert_close(sum, 1, 1e-9);
        }
        if (a.report.planned > 0) {
            assert_false(a.report.converged);
            assert_true(a.report.made > 0 && a.report.made < 5);
            assert_int_equal(a.report.planned, methods[k] == CR_APPROXIMATE_GBP ? 100 : 1000);
            cut[k]++;
        }
        cr_approximate_free(cx, &a);
        cr_network_free(cx, net);
    }
    for (size_t k = 0; k < 4; k++) assert_true(cut[k] > 2);
}

TEST(work_can_be_stopped)
{
    cr_rng      r = cr_rng_stream(12, 0);
    cr_network *net = random_network(cx, &r, CR_NETWORK_BAYES, 8);
    for (int how = CR_APPROXIMATE_BP; how <= CR_APPROXIMATE_ANNEALED; how++) {
        cr_approximate_answer a = { 0 };
        cr_interrupt(cx);
        assert_fails(cx, cr_approximate(cx, net, NULL, (cr_approximation)how, NULL, 0, 0, NULL, &a),
                     CR_EINTERRUPTED);
        cr_interrupt_clear(cx);
    }
    cr_network_free(cx, net);
}

/* Messages that have settled on the smaller of two modes: another kind of messages says so.  Where
 * clusters make a tree there is nothing to compare. */
TEST(messages_are_compared)
{
    const char *path = test_data("uai/DBN_11.uai");
    if (!path) {
        print_message("skipped: no shared data\n");
        skip();
    }
    cr_network            *net;
    cr_approximate_options o = cr_approximate_defaults();
    cr_approximate_answer  a = { 0 };
    assert_ok(cx, cr_uai_read(cx, path, &net));
    assert_ok(cx, cr_approximate(cx, net, NULL, CR_APPROXIMATE_BP, &o, 0, 0, NULL, &a));
    assert_true(a.report.converged);
    assert_close(a.report.log_evidence, 134.7718 - 2.09, 0.01); /* the exact one is 134.7718 */
    assert_true(a.report.far > CR_APPROXIMATE_FAR && a.report.far <= 1);
    assert_true(a.report.log_far > CR_APPROXIMATE_LOG_FAR);
    cr_approximate_free(cx, &a);
    o.cluster = 1 << 22;
    assert_ok(cx, cr_approximate(cx, net, NULL, CR_APPROXIMATE_GBP, &o, 0, 0, NULL, &a));
    assert_close(a.report.log_evidence, 134.7718, 0.001);
    assert_true(isnan(a.report.far) && isnan(a.report.log_far));
    cr_approximate_free(cx, &a);
    cr_network_free(cx, net);
}
