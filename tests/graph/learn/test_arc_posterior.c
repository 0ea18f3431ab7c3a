/* Probabilities of arcs: sums over orders and chains against all graphs of four and five nodes. */
#include "random_score.h"

#include "graph/learn/arc_posterior.h"

typedef struct posterior {
    double arcs[64], log_sum;
} posterior;

/* Orders in which every arrow points forward. */
static double count_orders(const cri_pdag *g, size_t left)
{
    double count = left == 0;
    for (size_t v = 0; v < g->n; v++) {
        bool last = left >> v & 1;
        for (size_t w = 0; w < g->n && last; w++)
            if (left >> w & 1 && cri_pdag_arrow(g, v, w)) last = false;
        if (last) count += count_orders(g, left & ~((size_t)1 << v));
    }
    return count;
}

/* By definition: every graph weighs exp(score), times its orders where orders count. */
static posterior enumerate(cr_ctx *cx, const cri_score_source *source, const cri_arc_rules *rules,
                           cri_family_prior prior, bool orders)
{
    posterior p = { .log_sum = -INFINITY };
    size_t    n = source->n;
    cri_pdag  g;
    for (size_t pass = 0; pass < 2; pass++) {
        double all = 0;
        assert_ok(cx, cri_pdag_new(cx, n, &g));
        for (size_t code = 0; next_dag(&code, &g);) {
            if (!within_rules(rules, &g)) continue;
            double score = graph_score(cx, source, &g);
            for (size_t v = 0; v < n && prior == CRI_FAMILIES_FAIR; v++) {
                size_t parent[8], k = cri_pdag_parents(&g, v, parent);
                score -= lgamma((double)n) - lgamma((double)k + 1) - lgamma((double)(n - k));
            }
            if (orders) score += log(count_orders(&g, ((size_t)1 << n) - 1));
            if (pass == 0) p.log_sum = cri_log_plus(p.log_sum, score);
            for (size_t i = 0; i < n * n && pass == 1; i++)
                if (g.edge[i]) p.arcs[i] += exp(score - p.log_sum);
            all += exp(score - p.log_sum);
        }
        if (pass == 1) assert_close(all, 1, 1e-9);
        cri_pdag_free(cx, &g);
    }
    return p;
}

static cri_family_sums all_families(cr_ctx *cx, cr_scratch *s, const cri_score_source *source,
                                    const cri_arc_rules *rules, cri_family_prior prior)
{
    cri_family_sums f;
    assert_ok(cx, cri_family_sums_make(s, source, rules, rules->allowed, prior, true, &f));
    return f;
}

static void make_rules(cr_ctx *cx, cr_scratch *s, size_t n, uint64_t seed, cri_arc_rules *rules)
{
    cr_rng r = cr_rng_stream(31, seed);
    assert_ok(cx, cri_arc_rules_new(s, n, rules));
    if (seed % 2 == 0) return;
    size_t v = cr_rng_below(&r, n), u = (v + 1 + cr_rng_below(&r, n - 1)) % n;
    rules->most_parents = 2;
    for (size_t k = 0; k < n; k++)
        cri_bit_drop(rules->allowed + cr_rng_below(&r, n) * rules->words, cr_rng_below(&r, n));
    cri_bit_add(rules->allowed + v * rules->words, u);
    cri_bit_add(rules->required + v * rules->words, u);
}

TEST(orders_are_summed_exactly)
{
    for (uint64_t seed = 0; seed < simulation_size(6, 21); seed++) {
        cr_scratch       s = cr_scratch_begin(cx);
        size_t           n = seed < 20 ? 4 : 5;
        random_score     own = { 100 * seed, 2, 1 };
        cri_score_source source = random_source(&own, n);
        cri_family_prior prior = seed % 3 ? CRI_FAMILIES_EQUAL : CRI_FAMILIES_FAIR;
        cri_arc_rules    rules;
        double           arcs[64], log_sum;
        make_rules(cx, &s, n, seed, &rules);
        cri_family_sums f = all_families(cx, &s, &source, &rules, prior);
        posterior       truth = enumerate(cx, &source, &rules, prior, true);
        assert_ok(cx, cri_order_exact(cx, &f, arcs, &log_sum));
        for (size_t i = 0; i < n * n; i++) assert_close(arcs[i], truth.arcs[i], 1e-12);
        assert_close(log_sum, truth.log_sum - lgamma((double)n + 1), 1e-12);
        cr_scratch_end(&s);
    }
}

/* Chains over orders have the exact posterior of orders, chains over partitions that in which all
 * graphs count alike; both from a graph that is not likely. */
TEST(chains_find_the_posterior)
{
    for (uint64_t seed = 0; seed < simulation_size(2, 6); seed++) {
        cr_scratch        s = cr_scratch_begin(cx);
        size_t            n = 4 + seed % 2;
        random_score      own = { 100 * seed, 1.5, 0.5 };
        cri_score_source  source = random_source(&own, n);
        cri_arc_rules     rules;
        double            arcs[64];
        cri_chain_options o = {
            .orders = seed % 3 == 0, .chains = 4, .samples = 1500, .thin = 1, .seed = seed
        };
        cri_chain_report report;
        make_rules(cx, &s, n, seed, &rules);
        cri_family_sums f = all_families(cx, &s, &source, &rules, CRI_FAMILIES_EQUAL);
        posterior       truth = enumerate(cx, &source, &rules, CRI_FAMILIES_EQUAL, o.orders);
        cri_dag         start = cri_dag_new(&s, n);
        assert_ok(cx, s.status);
        memcpy(start.parents, rules.required, n * start.words * sizeof *start.parents);
        assert_true(cri_dag_close(&start, NULL));
        assert_ok(cx, cri_order_chains(cx, &f, &o, &start, arcs, &report));
        for (size_t i = 0; i < n * n; i++) assert_true(fabs(arcs[i] - truth.arcs[i]) < 0.03);
        assert_true(report.rhat < 1.05 && report.log_rhat < 1.05 && report.log_ess > 300);
        assert_int_equal(report.samples, o.samples);
        cr_scratch_end(&s);
    }
}

/* The same bits on any number of threads. */
TEST(threads_do_not_matter)
{
    enum { N = 6 };
    double arcs[2][N * N];
    for (size_t i = 0; i < 2; i++) {
        cr_scratch        s = cr_scratch_begin(cx);
        random_score      own = { 3, 1, 1 };
        cri_score_source  source = random_source(&own, N);
        cri_chain_options o = { .chains = 3, .samples = 20, .thin = 1, .seed = 5 };
        cri_chain_report  report;
        cri_arc_rules     rules;
        cr_ctx_set_threads(cx, i ? 3 : 1);
        make_rules(cx, &s, N, 0, &rules);
        cri_family_sums f = all_families(cx, &s, &source, &rules, CRI_FAMILIES_EQUAL);
        cri_dag         start = cri_dag_new(&s, N);
        assert_ok(cx, s.status);
        assert_ok(cx, cri_order_chains(cx, &f, &o, &start, arcs[i], &report));
        cr_scratch_end(&s);
    }
    assert_memory_equal(arcs[0], arcs[1], sizeof arcs[0]);
}

/* Simulate, learn: graphs from the uniform prior, tables of Dirichlet(1, 1) rows, which is what k2
 * supposes.  Of the arcs that are given a probability near p, a share p is there. */
TEST(probabilities_of_arcs_are_calibrated)
{
    enum { N = 4, BINS = 4 };
    double expected[BINS] = { 0 }, seen[BINS] = { 0 }, variance[BINS] = { 0 };
    for (uint64_t seed = 0; seed < simulation_size(20, 300); seed++) {
        cr_scratch s = cr_scratch_begin(cx);
        cr_rng     r = cr_rng_stream(71, seed);
        cri_pdag   g;
        size_t     order[N];
        assert_ok(cx, cri_pdag_new(cx, N, &g));
        do graph_of_code(cr_rng_below(&r, graph_codes(N)), &g); /* uniform over DAGs */
        while (!cri_pdag_order(&g, order));
        cri_cases_table   t = random_cases(cx, &s, &r, &g, 2, 1, 60);
        cri_score_source  source;
        cri_arc_rules     rules;
        double            arcs[N * N];
        cri_chain_report  report;
        cri_chain_options o = { .chains = 2, .samples = 300, .thin = 1, .seed = seed };
        assert_ok(cx, cri_table_score(&s, &t, CRI_SCORE_K2, 1, &source));
        assert_ok(cx, cri_arc_rules_new(&s, N, &rules));
        cri_family_sums f = all_families(cx, &s, &source, &rules, CRI_FAMILIES_EQUAL);
        cri_dag         start = cri_dag_new(&s, N);
        assert_ok(cx, s.status);
        assert_ok(cx, cri_order_chains(cx, &f, &o, &start, arcs, &report));
        for (size_t i = 0; i < N * N; i++) {
            if (i / N == i % N) continue;
            size_t bin = (size_t)fmin(arcs[i] * BINS, BINS - 1);
            expected[bin] += arcs[i], seen[bin] += g.edge[i];
            variance[bin] += arcs[i] * (1 - arcs[i]);
        }
        cri_pdag_free(cx, &g);
        cr_scratch_end(&s);
    }
    for (size_t b = 0; b < BINS;
         b++) /* arcs of one graph hang together: 4.5 sd of independent ones */
        assert_true(fabs(seen[b] - expected[b]) < 4.5 * sqrt(variance[b] + 1));
}

/* Of few candidates those that count are taken: parents and children of the graph, then the gains. */
TEST(candidates_are_the_likely_ones)
{
    enum { N = 12 };
    cr_scratch s = cr_scratch_begin(cx);
    cr_rng     r = cr_rng_stream(83, 0);
    cri_pdag   g;
    assert_ok(cx, cri_pdag_new(cx, N, &g));
    for (size_t v = 0; v + 1 < N; v++) cri_pdag_set_arrow(&g, v, v + 1); /* a chain */
    cri_cases_table   t = random_cases(cx, &s, &r, &g, 3, 4, 2000);
    cri_score_source  source;
    cri_arc_rules     rules;
    cri_local_scores *scores;
    cri_dag           none = cri_dag_new(&s, N);
    uint64_t          set[N] = { 0 };
    assert_ok(cx, cri_table_score(&s, &t, CRI_SCORE_BDEU, 1, &source));
    assert_ok(cx, cri_arc_rules_new(&s, N, &rules));
    assert_ok(cx, cri_local_scores_new(cx, &source, &scores));
    assert_ok(cx, s.status);
    cri_bit_drop(rules.allowed + 5 * rules.words, 4);
    assert_ok(cx, cri_choose_candidates(cx, scores, &rules, &none, 3, set));
    size_t near = 0;
    for (size_t v = 0; v < N; v++) {
        assert_int_equal(__builtin_popcountll(set[v]), 3);
        if (v > 0) near += set[v] >> (v - 1) & 1;
        if (v + 1 < N) near += set[v] >> (v + 1) & 1;
    }
    assert_false(set[5] >> 4 & 1); /* which is not allowed */
    assert_true(near >= 18);       /* of 21: a table may say little */
    /* parents and children in a graph come before all others, whatever they tell */
    cri_dag back = cri_dag_new(&s, N);
    assert_ok(cx, s.status);
    for (size_t v = 0; v + 6 < N; v++) cri_dag_add(&back, v + 6, v);
    memset(set, 0, sizeof set);
    assert_ok(cx, cri_choose_candidates(cx, scores, &rules, &back, 1, set));
    for (size_t v = 0; v < N; v++) assert_true(set[v] >> (v + 6) % N & 1);
    cri_local_scores_free(scores);
    cri_pdag_free(cx, &g);
    cr_scratch_end(&s);
}

TEST(too_many_variables_are_refused)
{
    cr_scratch       s = cr_scratch_begin(cx);
    random_score     own = { 5, 3, 2 };
    cri_score_source source = random_source(&own, 30);
    cri_arc_rules    rules;
    cri_family_sums  f = { .n = 30 };
    double           arcs[900];
    assert_ok(cx, cri_arc_rules_new(&s, 30, &rules));
    assert_fails_with(
        cx, cri_family_sums_make(&s, &source, &rules, rules.allowed, CRI_FAMILIES_EQUAL, true, &f),
        CR_EUNSUPPORTED, "26 candidates");
    f.n = 30;
    assert_fails_with(cx, cri_order_exact(cx, &f, arcs, NULL), CR_EUNSUPPORTED, "25 variables");
    cr_scratch_end(&s);
}

static cr_status run_posterior(cr_ctx *cx, void *arg)
{
    enum { N = 4 };
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    random_score      own = { 9, 3, 1 };
    cri_score_source  source = random_source(&own, N);
    cri_chain_options o = { .chains = 2, .samples = 5, .thin = 1 };
    cri_chain_report  report;
    cri_arc_rules     rules;
    cri_family_sums   f;
    double            arcs[N * N];
    (void)arg;
    CR_TRY(cri_arc_rules_new(&s, N, &rules));
    cri_dag start = cri_dag_new(&s, N);
    CR_TRY(s.status);
    CR_TRY(cri_family_sums_make(&s, &source, &rules, rules.allowed, CRI_FAMILIES_EQUAL, true, &f));
    CR_TRY(cri_order_exact(cx, &f, arcs, NULL));
    CR_TRY(cri_order_chains(cx, &f, &o, &start, arcs, &report));
done:
    cr_scratch_end(&s);
    return st;
}

TEST(memory_may_run_out) { test_every_allocation_fails(run_posterior, NULL); }
