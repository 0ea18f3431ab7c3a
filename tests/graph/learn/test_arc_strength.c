/* Bootstrap strengths, averaged networks, and the order of features, each against its definition. */
#include "random_score.h"

#include "graph/learn/arc_strength.h"
#include "graph/learn/relevance.h"

/* --- bootstrap ------------------------------------------------------------------------------- */

enum { N = 3 };

/* 0 -> 1 when column 0 is 1 in more than half of the rows, else 0 -- 1; 1 -> 2 always; keeps means. */
typedef struct shares {
    double share[64];
    size_t n;
} shares;

static cr_status learn_by_share(cr_ctx *cx, void *arg, const cri_cases_table *t, uint64_t seed,
                                cri_pdag *out)
{
    shares *s = arg;
    double  ones = 0, rows = 0;
    (void)seed;
    for (size_t i = 0; i < t->n; i++) {
        assert_true(t->weight[i] > 0 && t->weight[i] == (double)t->whole[i]);
        ones += t->code[0][i] * t->weight[i], rows += t->weight[i];
        assert_true(t->code[1][i] == 1 - t->code[0][i]);
    }
    assert_true(rows == t->rows);
    s->share[s->n] = ones / rows;
    if (cri_pdag_new(cx, N, out) != CR_OK) return CR_ENOMEM;
    if (s->share[s->n++] > 0.5)
        cri_pdag_set_arrow(out, 0, 1);
    else
        cri_pdag_set_line(out, 0, 1);
    cri_pdag_set_arrow(out, 1, 2);
    return CR_OK;
}

TEST(strengths_are_shares_of_replicates)
{
    cr_scratch      s = cr_scratch_begin(cx);
    uint16_t        code[40 * N];
    uint32_t        levels[N] = { 2, 2, 1 };
    cri_cases_table t;
    shares          seen = { .n = 0 };
    double          arcs[N * N], arrows = 0, mean = 0, square = 0;
    size_t          done;
    for (size_t i = 0; i < 40; i++)
        code[i * N] = i % 2, code[i * N + 1] = (uint16_t)(1 - i % 2), code[i * N + 2] = 0;
    assert_ok(cx, cri_cases_group(&s, 40, N, levels, code, NULL, NULL, NULL, &t));
    assert_int_equal(t.n, 2);
    assert_ok(cx, cri_arc_bootstrap(cx, &t, learn_by_share, &seen, 60, 3, NULL, arcs, &done));
    assert_int_equal(done, 60);
    for (size_t i = 0; i < 60; i++) {
        arrows += seen.share[i] > 0.5;
        mean += seen.share[i] / 60, square += seen.share[i] * seen.share[i] / 60;
    }
    assert_close(arcs[1], (arrows + 0.5 * (60 - arrows)) / 60, 1e-14);
    assert_close(arcs[N], 0.5 * (60 - arrows) / 60, 1e-14);
    assert_close(arcs[N + 2], 1, 1e-14);
    assert_true(arcs[2] == 0 && arcs[2 * N + 1] == 0);
    /* rows are drawn with replacement: binomial(40, 1/2) ones */
    assert_true(fabs(mean - 0.5) < 4 * sqrt(0.25 / 40 / 60));
    assert_true(fabs((square - mean * mean) / (0.25 / 40) - 1) < 4 * sqrt(2.0 / 60));
    cr_scratch_end(&s);
}

/* --- average --------------------------------------------------------------------------------- */

static void average(cr_ctx *cx, const double *arcs, const cri_arc_rules *rules, double threshold,
                    size_t arcs_wanted, const size_t *wanted)
{
    cr_scratch s = cr_scratch_begin(cx);
    cri_dag    g = cri_dag_new(&s, N);
    assert_ok(cx, s.status);
    assert_ok(cx, cri_averaged_network(cx, arcs, threshold, rules, &g));
    assert_int_equal(g.arcs, arcs_wanted);
    for (size_t i = 0; i < arcs_wanted; i++)
        assert_true(cri_dag_has(&g, wanted[i] / N, wanted[i] % N));
    cr_scratch_end(&s);
}

TEST(averaged_networks_keep_what_is_strong)
{
    cr_scratch    s = cr_scratch_begin(cx);
    cri_arc_rules rules;
    /* pairs 01: 0.9, mostly 0 -> 1;  12: 0.8, 1 -> 2;  02: 0.6, mostly 2 -> 0, which would close a cycle */
    double arcs[N * N] = { 0, 0.6, 0.2, 0.3, 0, 0.8, 0.4, 0, 0 };
    assert_ok(cx, cri_arc_rules_new(&s, N, &rules));
    average(cx, arcs, &rules, 0.5, 3, (size_t[]){ 1, N + 2, 2 }); /* turned: 0 -> 2 */
    average(cx, arcs, &rules, 0.7, 2, (size_t[]){ 1, N + 2 });
    average(cx, arcs, &rules, 0.95, 0, NULL);
    cri_bit_drop(rules.allowed + 2, 0); /* 0 -> 2 not allowed: left out */
    average(cx, arcs, &rules, 0.5, 2, (size_t[]){ 1, N + 2 });
    cri_bit_add(rules.required + 0,
                2); /* 2 -> 0 comes first; 0 -> 1 next; 1 -> 2 would close a cycle */
    average(cx, arcs, &rules, 0.5, 3, (size_t[]){ 2 * N, 1, 2 * N + 1 });
    rules.most_parents = 1;
    average(cx, arcs, &rules, 0.5, 2, (size_t[]){ 2 * N, 1 });
    cr_scratch_end(&s);
}

/* --- features -------------------------------------------------------------------------------- */

TEST(features_are_ranked_by_the_criterion)
{
    enum { P = 7 };
    cr_scratch s = cr_scratch_begin(cx);
    cr_rng     r = cr_rng_stream(151, 0);
    cri_pdag   g;
    assert_ok(cx, cri_pdag_new(cx, P, &g));
    for (size_t v = 1; v < P; v++) cri_pdag_set_arrow(&g, v / 2, v); /* a binary tree */
    cri_cases_table t = random_cases(cx, &s, &r, &g, 3, 1, 400);
    cri_state_test  own;
    assert_ok(cx, cri_state_test_of(cx, &t, CRI_TEST_G2, 0.05, &own));
    cri_independence   test = cri_independence_states(&own);
    char              *workspace = malloc(test.workspace(&own, 0));
    cri_ranked_feature rank[P - 1];
    bool               taken[P] = { true };
    assert_ok(cx, cri_rank_features(cx, &test, 0, P - 1, rank));
    for (size_t i = 0; i < P - 1; i++) {
        size_t best = 0;
        double most = -INFINITY;
        for (size_t f = 1; f < P; f++) {
            if (taken[f]) continue;
            double score = test.verdict(&own, workspace, f, 0, 0, NULL).association;
            for (size_t k = 0; k < i; k++)
                score -= test.verdict(&own, workspace, f, rank[k].feature, 0, NULL).association /
                         (double)i;
            if (score > most) most = score, best = f;
        }
        assert_int_equal(rank[i].feature, best);
        assert_close(rank[i].score, most, 1e-13);
        assert_close(rank[i].relevance - rank[i].redundancy, most, 1e-13);
        taken[best] = true;
    }
    free(workspace);
    cri_pdag_free(cx, &g);
    cr_scratch_end(&s);
}

static cr_status run_all(cr_ctx *cx, void *arg)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_arc_rules rules;
    shares        seen = { .n = 0 };
    double        arcs[N * N];
    size_t        done;
    CR_TRY(cri_arc_rules_new(&s, N, &rules));
    cri_dag g = cri_dag_new(&s, N);
    CR_TRY(s.status);
    CR_TRY(cri_arc_bootstrap(cx, arg, learn_by_share, &seen, 2, 1, NULL, arcs, &done));
    CR_TRY(cri_averaged_network(cx, arcs, 0.5, &rules, &g));
done:
    cr_scratch_end(&s);
    return st;
}

TEST(memory_may_run_out)
{
    cr_scratch      s = cr_scratch_begin(cx);
    uint16_t        code[4 * N] = { 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0 };
    uint32_t        levels[N] = { 2, 2, 1 };
    cri_cases_table t;
    assert_ok(cx, cri_cases_group(&s, 4, N, levels, code, NULL, NULL, NULL, &t));
    test_every_allocation_fails(run_all, &t);
    cr_scratch_end(&s);
}
