/* Exact search against all DAGs of four and five nodes; A* against dynamic programming on more. */
#include "random_score.h"

#include "graph/learn/exact.h"

static cri_pdag pdag_of(cr_ctx *cx, const cri_dag *g)
{
    cri_pdag out;
    assert_ok(cx, cri_pdag_new(cx, g->n, &out));
    for (size_t v = 0; v < g->n; v++)
        for (size_t u = 0; u < g->n; u++)
            if (cri_dag_has(g, u, v)) cri_pdag_set_arrow(&out, u, v);
    return out;
}

/* Random rules: some arcs not allowed, one required, few parents. */
static void random_rules(cr_ctx *cx, cr_rng *r, cri_arc_rules *rules)
{
    size_t n = rules->n, v = cr_rng_below(r, n), u = (v + 1 + cr_rng_below(r, n - 1)) % n;
    rules->most_parents = 1 + cr_rng_below(r, n - 1);
    for (size_t k = 0; k < n; k++)
        cri_bit_drop(rules->allowed + cr_rng_below(r, n) * rules->words, cr_rng_below(r, n));
    cri_bit_add(rules->allowed + v * rules->words, u);
    cri_bit_add(rules->required + v * rules->words, u);
    (void)cx;
}

static void against_all_dags(cr_ctx *cx, size_t n, uint64_t seed, bool with_rules)
{
    cr_scratch       s = cr_scratch_begin(cx);
    random_score     own = { 1000 * seed, 3, 1 };
    cri_score_source source = random_source(&own, n);
    cri_arc_rules    rules;
    cri_pdag         g;
    cr_rng           r = cr_rng_stream(17, seed);
    double           best = -INFINITY;
    assert_ok(cx, cri_arc_rules_new(&s, n, &rules));
    if (with_rules) random_rules(cx, &r, &rules);
    assert_ok(cx, cri_pdag_new(cx, n, &g));
    for (size_t code = 0; next_dag(&code, &g);) {
        if (!within_rules(&rules, &g)) continue;
        double score = graph_score(cx, &source, &g);
        if (score > best) best = score;
    }
    cri_pdag_free(cx, &g);
    for (int m = CRI_EXACT_DP; m <= CRI_EXACT_ASTAR; m++) {
        cri_exact_options o = { .method = (cri_exact_method)m };
        cri_exact_report  report;
        cri_dag           dag = cri_dag_new(&s, n);
        assert_ok(cx, s.status);
        memcpy(dag.parents, rules.required, n * dag.words * sizeof *dag.parents);
        assert_true(cri_dag_close(&dag, NULL));
        assert_ok(cx, cri_exact_search(cx, &source, &rules, &o, &dag, &report));
        assert_true(report.proven && report.method == o.method);
        assert_close(report.score, best, 1e-12);
        assert_close(report.bound, best, 1e-12);
        g = pdag_of(cx, &dag);
        assert_true(within_rules(&rules, &g));
        assert_close(graph_score(cx, &source, &g), best, 1e-12);
        cri_pdag_free(cx, &g);
    }
    cr_scratch_end(&s);
}

TEST(four_nodes_are_enumerated)
{
    for (uint64_t seed = 0; seed < 40; seed++) against_all_dags(cx, 4, seed, seed % 2);
}

TEST(five_nodes_are_enumerated)
{
    for (uint64_t seed = 0; seed < simulation_size(2, 6); seed++)
        against_all_dags(cx, 5, seed, seed % 2);
}

/* BIC of data: with the bound of the penalty fewer families are scored, the answer is the same, also
 * by A*, whose groups are now several.  A known best network is confirmed. */
TEST(bounds_and_methods_agree_on_data)
{
    enum { N = 16 };
    for (uint64_t seed = 0; seed < simulation_size(1, 3); seed++) {
        cr_scratch s = cr_scratch_begin(cx);
        cr_rng     r = cr_rng_stream(23, seed);
        cri_pdag   g;
        assert_ok(cx, cri_pdag_new(cx, N, &g));
        random_dag(&r, 0.2, &g);
        cri_cases_table  t = random_cases(cx, &s, &r, &g, 2, 2, 300);
        cri_score_source source;
        cri_arc_rules    rules;
        cri_penalty      penalty = { t.levels, log(t.rows) / 2 };
        assert_ok(cx, cri_table_score(&s, &t, CRI_SCORE_BIC, 1, &source));
        assert_ok(cx, cri_arc_rules_new(&s, N, &rules));
        rules.most_parents = 4;
        cri_exact_report report[4];
        cri_dag          dag = cri_dag_new(&s, N);
        assert_ok(cx, s.status);
        for (int i = 0; i < 4; i++) { /* dp, dp with bound, A* with bound, A* from the best */
            cri_exact_options o = { .method = i < 2 ? CRI_EXACT_DP : CRI_EXACT_ASTAR };
            if (i > 0) o.opt_bound = cri_penalty_bound(&penalty);
            if (i < 3) memset(dag.parents, 0, N * dag.words * sizeof *dag.parents);
            assert_true(cri_dag_close(&dag, NULL));
            assert_ok(cx, cri_exact_search(cx, &source, &rules, &o, &dag, &report[i]));
            assert_true(report[i].proven);
            assert_close(report[i].score, report[0].score, 1e-11);
            cri_pdag h = pdag_of(cx, &dag);
            assert_close(graph_score(cx, &source, &h), report[0].score, 1e-11);
            cri_pdag_free(cx, &h);
        }
        assert_true(report[1].families < report[0].families);
        assert_true(report[1].useful == report[0].useful);
        assert_true(report[3].sets < report[0].sets / 2);
        assert_true(report[0].score >= graph_score(cx, &source, &g));
        cri_pdag_free(cx, &g);
        cr_scratch_end(&s);
    }
}

/* A* of which only few sets may be kept: a bound that holds, the known network stays. */
TEST(what_is_not_proven_is_bounded)
{
    enum { N = 20 };
    cr_scratch        s = cr_scratch_begin(cx);
    random_score      own = { 5, 3, 0.2 };
    cri_score_source  source = random_source(&own, N);
    cri_arc_rules     rules;
    cri_exact_report  whole, part;
    cri_exact_options few = { .method = CRI_EXACT_ASTAR, .most_sets = 256 };
    cri_exact_options all = { .method = CRI_EXACT_ASTAR };
    assert_ok(cx, cri_arc_rules_new(&s, N, &rules));
    rules.most_parents = 3;
    cri_dag a = cri_dag_new(&s, N), b = cri_dag_new(&s, N);
    assert_ok(cx, s.status);
    assert_ok(cx, cri_exact_search(cx, &source, &rules, &few, &a, &part));
    assert_false(part.proven);
    assert_int_equal(a.arcs, 0);
    assert_ok(cx, cri_exact_search(cx, &source, &rules, &all, &b, &whole));
    assert_true(whole.proven && b.arcs > 0);
    assert_true(part.score < whole.score && whole.score <= part.bound + 1e-9);
    cr_scratch_end(&s);
}

TEST(too_many_variables_are_refused)
{
    cr_scratch        s = cr_scratch_begin(cx);
    random_score      own = { 5, 3, 2 };
    cri_score_source  source = random_source(&own, 65);
    cri_arc_rules     rules;
    cri_exact_report  report;
    cri_exact_options o = { 0 };
    assert_ok(cx, cri_arc_rules_new(&s, 65, &rules));
    cri_dag g = cri_dag_new(&s, 65);
    assert_ok(cx, s.status);
    assert_fails_with(cx, cri_exact_search(cx, &source, &rules, &o, &g, &report), CR_EUNSUPPORTED,
                      "64");
    source = random_source(&own, 60), rules.n = 60, g.n = 60;
    assert_fails_with(cx, cri_exact_search(cx, &source, &rules, &o, &g, &report), CR_ENOMEM,
                      "sets of parents");
    cr_scratch_end(&s);
}

static cr_status run_exact(cr_ctx *cx, void *arg)
{
    cr_scratch       s = cr_scratch_begin(cx);
    random_score     own = { 9, 3, 1 };
    cri_score_source source = random_source(&own, 6);
    cri_arc_rules    rules;
    cr_status        st = CR_OK;
    for (int m = CRI_EXACT_DP; m <= CRI_EXACT_ASTAR; m++) {
        cri_exact_options o = { .method = (cri_exact_method)m };
        cri_exact_report  report;
        CR_TRY(cri_arc_rules_new(&s, 6, &rules));
        cri_dag dag = cri_dag_new(&s, 6);
        CR_TRY(s.status);
        CR_TRY(cri_exact_search(cx, &source, &rules, &o, &dag, &report));
    }
done:
    (void)arg;
    cr_scratch_end(&s);
    return st;
}

TEST(memory_may_run_out) { test_every_allocation_fails(run_exact, NULL); }
