/* Greedy search among classes: operators lead to the classes they say, and where the search ends no
 * neighbour of any member is better. */
#include "random_score.h"

#include "graph/learn/ges.h"
#include "graph/learn/independence.h"

/* From many rows of a random network by BIC, from nothing. */
static void learn_back(cr_ctx *cx, size_t n, double p, uint64_t seed, size_t rows)
{
    cr_scratch        s = cr_scratch_begin(cx);
    cr_rng            r = cr_rng_stream(91, seed);
    cri_pdag          g, found;
    cri_score_source  source;
    cri_local_scores *scores;
    cri_ges_options   o = { .most_parents = n };
    cri_ges_report    report;
    assert_ok(cx, cri_pdag_new(cx, n, &g));
    assert_ok(cx, cri_pdag_new(cx, n, &found));
    random_dag(&r, p, &g);
    cri_cases_table t = random_cases(cx, &s, &r, &g, 2, 1, rows);
    assert_ok(cx, cri_table_score(&s, &t, CRI_SCORE_BIC, 1, &source));
    assert_ok(cx, cri_local_scores_new(cx, &source, &scores));
    assert_ok(cx, cri_ges(cx, scores, &o, &found, &report));
    assert_false(report.stopped);
    double truth = graph_score(cx, &source, &g);
    assert_true(report.score >= truth - 1e-6);
    /* the class that was found is a class, with the score that was said */
    cri_pdag again;
    bool     consistent;
    assert_ok(cx, cri_pdag_new(cx, n, &again));
    cri_pdag_copy(&found, &again);
    assert_ok(cx, cri_pdag_extend(cx, &again, &consistent));
    assert_true(consistent);
    assert_close(graph_score(cx, &source, &again), report.score, 1e-12);
    assert_ok(cx, cri_pdag_complete(cx, &again));
    assert_int_equal(cri_pdag_distance(&again, &found), 0);
    cri_pdag_free(cx, &again);
    cri_pdag_free(cx, &g);
    cri_pdag_free(cx, &found);
    cri_local_scores_free(scores);
    cr_scratch_end(&s);
}

TEST(many_rows_give_no_less_than_the_truth)
{
    for (uint64_t seed = 0; seed < simulation_size(3, 12); seed++)
        learn_back(cx, 8, 0.3, seed, 20000);
}

/* The gains that operators claim are those of the classes they lead to: all classes of four nodes, all
 * operators that gain. */
TEST(operators_lead_where_they_say)
{
    enum { N = 4 };
    cr_scratch        s = cr_scratch_begin(cx);
    cr_rng            r = cr_rng_stream(97, 0);
    cri_pdag          dag, class, next;
    cri_score_source  source;
    cri_local_scores *scores;
    size_t            tried = 0, refused = 0;
    assert_ok(cx, cri_pdag_new(cx, N, &dag));
    assert_ok(cx, cri_pdag_new(cx, N, &class));
    assert_ok(cx, cri_pdag_new(cx, N, &next));
    random_dag(&r, 0.9, &dag);
    cri_cases_table t = random_cases(cx, &s, &r, &dag, 2, 4, 100);
    assert_ok(cx, cri_table_score(&s, &t, CRI_SCORE_BDEU, 1, &source));
    assert_ok(cx, cri_local_scores_new(cx, &source, &scores));
    for (size_t code = 0; next_dag(&code, &dag);) {
        cri_pdag_copy(&dag, &class);
        assert_ok(cx, cri_pdag_complete(cx, &class));
        double score = graph_score(cx, &source, &dag);
        for (size_t y = 0; y < 2 * N; y++) {
            cri_ges_operators list = { 0 };
            uint32_t          workspace[4 * N];
            bool              insert = y < N, consistent;
            cri_ges_list(cx, scores, &class, y % N, insert, N, workspace, &list);
            for (size_t i = 0; i < list.n; i++) {
                cri_ges_operator *op = &list.item[i];
                if (insert &&
                    !cri_ges_blocked(&class, y % N, op, list.set + op->begin, workspace)) {
                    refused++;
                    continue;
                }
                cri_pdag_copy(&class, &next);
                cri_ges_apply(&next, y % N, insert, op, list.set + op->begin);
                assert_ok(cx, cri_pdag_extend(cx, &next, &consistent));
                assert_true(consistent);
                assert_close(graph_score(cx, &source, &next) - score, op->gain, 1e-10);
                size_t a, b, lines;
                cri_pdag_count(&next, &a, &lines);
                cri_pdag_count(&dag, &b, &lines);
                assert_true(a == (insert ? b + 1 : b - 1));
                tried++;
            }
            cr_free(cx, list.item, list.capacity, sizeof *list.item);
            cr_free(cx, list.set, list.room, sizeof *list.set);
        }
    }
    assert_true(tried > 500 && refused > 20);
    cri_local_scores_free(scores);
    cri_pdag_free(cx, &dag);
    cri_pdag_free(cx, &class);
    cri_pdag_free(cx, &next);
    cr_scratch_end(&s);
}

/* Every single-arc neighbour of every member of the class: none is better where the search ends. */
TEST(no_neighbour_of_any_member_is_better)
{
    enum { N = 4 };
    for (uint64_t seed = 0; seed < simulation_size(3, 20); seed++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cr_rng            r = cr_rng_stream(101, seed);
        cri_pdag          dag, found, class;
        cri_score_source  source;
        cri_local_scores *scores;
        cri_ges_options   o = { .most_parents = N };
        cri_ges_report    report;
        assert_ok(cx, cri_pdag_new(cx, N, &dag));
        assert_ok(cx, cri_pdag_new(cx, N, &found));
        assert_ok(cx, cri_pdag_new(cx, N, &class));
        random_dag(&r, 0.6, &dag);
        cri_cases_table t = random_cases(cx, &s, &r, &dag, 2, 1, 60);
        assert_ok(cx, cri_table_score(&s, &t, CRI_SCORE_BDEU, 1, &source));
        assert_ok(cx, cri_local_scores_new(cx, &source, &scores));
        assert_ok(cx, cri_ges(cx, scores, &o, &found, &report));
        for (size_t code = 0; next_dag(&code, &dag);) {
            size_t order[N];
            cri_pdag_copy(&dag, &class);
            assert_ok(cx, cri_pdag_complete(cx, &class));
            if (cri_pdag_distance(&class, &found) > 0) continue;
            for (size_t e = 0; e < N * N; e++) {
                if (e / N == e % N) continue;
                cri_pdag_copy(&dag, &class);
                if (cri_pdag_adjacent(&dag, e / N, e % N))
                    cri_pdag_cut(&class, e / N, e % N);
                else
                    cri_pdag_set_arrow(&class, e / N, e % N);
                if (!cri_pdag_order(&class, order)) continue;
                assert_true(graph_score(cx, &source, &class) <= report.score + 1e-8);
            }
        }
        cri_local_scores_free(scores);
        cri_pdag_free(cx, &dag);
        cri_pdag_free(cx, &found);
        cri_pdag_free(cx, &class);
        cr_scratch_end(&s);
    }
}

TEST(scores_that_tell_members_apart_are_refused)
{
    random_score      own = { 5, 3, 2 };
    cri_score_source  source = random_source(&own, 3);
    cri_local_scores *scores;
    cri_pdag          g;
    cri_ges_options   o = { .most_parents = 3 };
    cri_ges_report    report;
    assert_ok(cx, cri_pdag_new(cx, 3, &g));
    assert_ok(cx, cri_local_scores_new(cx, &source, &scores));
    assert_fails_with(cx, cri_ges(cx, scores, &o, &g, &report), CR_EUNSUPPORTED, "members");
    cri_local_scores_free(scores);
    cri_pdag_free(cx, &g);
}

typedef struct ges_case {
    cri_cases_table t;
} ges_case;

static cr_status run_ges(cr_ctx *cx, void *arg)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    ges_case         *c = arg;
    cri_score_source  source;
    cri_local_scores *scores = NULL;
    cri_pdag          g = { 0 };
    cri_ges_options   o = { .most_parents = 4 };
    cri_ges_report    report;
    CR_TRY(cri_table_score(&s, &c->t, CRI_SCORE_BIC, 1, &source));
    CR_TRY(cri_local_scores_new(cx, &source, &scores));
    CR_TRY(cri_pdag_new(cx, c->t.p, &g));
    CR_TRY(cri_ges(cx, scores, &o, &g, &report));
done:
    cri_pdag_free(cx, &g);
    cri_local_scores_free(scores);
    cr_scratch_end(&s);
    return st;
}

TEST(memory_may_run_out)
{
    cr_scratch s = cr_scratch_begin(cx);
    cr_rng     r = cr_rng_stream(3, 3);
    cri_pdag   g;
    ges_case   c;
    assert_ok(cx, cri_pdag_new(cx, 6, &g));
    random_dag(&r, 0.4, &g);
    c.t = random_cases(cx, &s, &r, &g, 2, 2, 300);
    test_every_allocation_fails(run_ges, &c);
    cri_pdag_free(cx, &g);
    cr_scratch_end(&s);
}
