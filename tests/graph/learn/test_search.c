/* test_search.c -- searches of graphs: the best of all graphs of four variables, by every score; rules that are kept;
 * as good as others on samples of known networks; the same on any number of threads; traces; interrupted and failing. */
#include "learning.h"

#include "base/context_internal.h"
#include "graph/learn/search.h"

#include <jansson.h>

enum { P = 4, N = 120 };

typedef struct problem {
    cr_scratch        s;
    cri_cases_table   cases;
    cri_local_scores *scores;
    cri_arc_rules     rules;
} problem;

static void open_problem(cr_ctx *cx, uint64_t seed, size_t n, size_t p, cri_score_kind kind,
                         problem *x)
{
    uint32_t         levels[64];
    cri_score_source source;
    x->s = cr_scratch_begin(cx);
    uint16_t *code = cr_scratch_bytes(&x->s, n * p, sizeof *code);
    for (size_t v = 0; v < p; v++) levels[v] = 2 + (uint32_t)(v * 7 + seed) % 3;
    draw_cases(seed, n, p, levels, code);
    assert_ok(cx, cri_cases_group(&x->s, n, p, levels, code, NULL, NULL, NULL, &x->cases));
    assert_ok(cx, cri_table_score(&x->s, &x->cases, kind, 1, &source));
    assert_ok(cx, cri_local_scores_new(cx, &source, &x->scores));
    assert_ok(cx, cri_arc_rules_new(&x->s, p, &x->rules));
}

static void close_problem(problem *x)
{
    cri_local_scores_free(x->scores);
    cr_scratch_end(&x->s);
}

static const char *const NAMES[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" };

static cri_search_result run(cr_ctx *cx, problem *x, bool tabu, size_t restarts)
{
    cri_search_options o = { .tabu = tabu, .memory = 15, .restarts = restarts, .seed = 3 };
    cri_search_result  r;
    assert_ok(cx, cri_arc_rules_check(cx, &x->rules, NAMES));
    assert_ok(cx, cri_search_dag(&x->s, x->scores, &x->rules, &o, &r));
    assert_close(r.score, cri_dag_score(x->scores, &r.dag), 1e-12);
    for (size_t i = 1; i < r.trace_size; i++) assert_true(r.trace[i] > r.trace[i - 1]);
    assert_true(r.trace_size > 0 && r.trace[r.trace_size - 1] <= r.score + 1e-9);
    assert_true(r.score <= r.trace[r.trace_size - 1] + 1e-9);
    cr_free(cx, r.trace, r.trace_size, sizeof *r.trace);
    return r;
}

/* The highest score of all graphs of four variables. */
static double enumerate(problem *x)
{
    cri_dag g = cri_dag_new(&x->s, P);
    double  best = -INFINITY;
    for (size_t i = 0; i < 729; i++) {
        size_t code = i;
        memset(g.parents, 0, P * sizeof *g.parents);
        for (size_t u = 0; u < P; u++)
            for (size_t v = u + 1; v < P; v++, code /= 3) {
                if (code % 3 == 1) cri_bit_add(cri_dag_parents(&g, v), u);
                if (code % 3 == 2) cri_bit_add(cri_dag_parents(&g, u), v);
            }
        if (cri_dag_close(&g, NULL)) best = fmax(best, cri_dag_score(x->scores, &g));
    }
    return best;
}

TEST(the_best_of_all_graphs_of_four_variables)
{
    for (uint64_t seed = 1; seed < 9; seed++)
        for (cri_score_kind k = CRI_SCORE_BIC; k <= CRI_SCORE_QNML; k++) {
            problem x;
            open_problem(cx, seed, N, P, k, &x);
            double best = enumerate(&x);
            assert_close(run(cx, &x, true, 30).score, best, 1e-11);
            assert_close(run(cx, &x, false, 60).score, best, 1e-11);
            close_problem(&x);
        }
}

/* --- rules ------------------------------------------------------------------------------------ */

TEST(rules_are_kept)
{
    enum { Q = 10 };
    cr_rng r = cr_rng_stream(8, 8);
    for (uint64_t seed = 1; seed < 13; seed++) {
        problem x;
        open_problem(cx, seed, 400, Q, CRI_SCORE_AIC, &x);
        x.rules.most_parents = 1 + seed % 3;
        for (size_t v = 0; v < Q; v++)
            for (size_t u = 0; u < Q; u++)
                if (u != v && cr_rng_below(&r, 3) == 0) cri_bit_drop(x.rules.allowed + v, u);
        for (size_t v = 1; v < Q; v += 3)
            if (cri_arc_allowed(&x.rules, v - 1, v)) cri_bit_add(x.rules.required + v, v - 1);
        for (size_t v = 0; v + 2 < Q; v++) cri_bit_add(x.rules.start + v + 2, v);
        cri_search_result found = run(cx, &x, seed % 2, 20);
        size_t            arcs = 0;
        for (size_t v = 0; v < Q; v++) {
            uint64_t parents = *cri_dag_parents(&found.dag, v);
            assert_true((parents & ~x.rules.allowed[v]) == 0);
            assert_true((x.rules.required[v] & ~parents) == 0);
            assert_true(cri_bit_count(&parents, 1) <= x.rules.most_parents);
            arcs += cri_bit_count(&parents, 1);
        }
        assert_true(arcs > 3);
        assert_int_equal(arcs, found.dag.arcs);
        close_problem(&x);
    }
}

TEST(nothing_to_find)
{
    problem x;
    open_problem(cx, 1, 30, 1, CRI_SCORE_BIC, &x);
    assert_int_equal(run(cx, &x, true, 10).dag.arcs, 0);
    close_problem(&x);
    open_problem(cx, 1, 1, P, CRI_SCORE_BIC, &x);
    assert_int_equal(run(cx, &x, true, 10).dag.arcs, 0);
    close_problem(&x);
}

/* --- threads ---------------------------------------------------------------------------------- */

TEST(the_same_graph_on_any_number_of_threads)
{
    static const size_t threads[] = { 1, 2, 7 };
    uint64_t            first[12];
    double              score = 0;
    for (size_t k = 0; k < 3; k++) {
        problem x;
        cr_ctx_set_threads(cx, threads[k]);
        open_problem(cx, 5, 500, 12, CRI_SCORE_BDEU, &x);
        cri_search_result r = run(cx, &x, true, 20);
        if (k == 0) memcpy(first, r.dag.parents, sizeof first), score = r.score;
        assert_memory_equal(first, r.dag.parents, sizeof first);
        assert_true(score == r.score);
        close_problem(&x);
    }
}

/* --- what others find ------------------------------------------------------------------------- */

static void check_sample(cr_ctx *cx, const char *file, const json_t *item)
{
    char          path[256];
    const char   *keys[] = { "bic", "bdeu_iss1" };
    const json_t *other;
    size_t        i;
    snprintf(path, sizeof path, "bn/learning/%s", file);
    cr_table *data = table_of_file(cx, test_extra_data(path));
    for (size_t k = 0; k < 2; k++)
        for (size_t tabu = 0; tabu < 2; tabu++) {
            problem          x = { .s = cr_scratch_begin(cx) };
            cri_score_source source;
            double           true_score =
                json_number_value(json_object_get(json_object_get(item, "true_dag"), keys[k]));
            x.cases = cases_of_table(&x.s, data);
            assert_ok(cx, cri_table_score(&x.s, &x.cases, k ? CRI_SCORE_BDEU : CRI_SCORE_BIC, 1,
                                          &source));
            assert_ok(cx, cri_local_scores_new(cx, &source, &x.scores));
            assert_ok(cx, cri_arc_rules_new(&x.s, x.cases.p, &x.rules));
            double score = run(cx, &x, tabu, 100).score;
            json_array_foreach(json_object_get(item, "bnlearn_4_9"), i, other)
            {
                if (strcmp(json_string_value(json_object_get(other, "score")), keys[k]) == 0)
                    assert_true(score >= json_number_value(json_object_get(other, "value")) -
                                             (tabu ? 1e-6 : 5));
            }
            assert_true(score > true_score - 150);
            if (tabu && k == 0 && strcmp(file, "alarm_5000.csv") == 0)
                assert_true(score > -54750.6);
            close_problem(&x);
        }
    cr_table_free(cx, data);
}

TEST(as_good_as_others_on_samples_of_known_networks)
{
    json_t *root = json_load_file(test_extra_data("bn/learning/score_reference.json"), 0, NULL),
           *item;
    const char *file;
    assert_non_null(root);
    json_object_foreach(root, file, item) check_sample(cx, file, item);
    json_decref(root);
}

/* --- ends before its time --------------------------------------------------------------------- */

TEST(the_best_so_far_when_the_time_is_up)
{
    for (uint64_t nth = 1; nth < 40; nth += 3) {
        problem            x;
        cri_search_options o = { .tabu = true, .memory = 15, .restarts = 1000, .seed = 3 };
        cri_search_result  r;
        open_problem(cx, 5, 300, 12, CRI_SCORE_BIC, &x);
        assert_ok(cx, cri_arc_rules_check(cx, &x.rules, NAMES));
        cri_ctx_run_out_at(cx, nth);
        assert_ok(cx, cri_search_dag(&x.s, x.scores, &x.rules, &o, &r));
        cri_ctx_run_out_at(cx, 0);
        assert_true(r.cut && r.restarts < 1000);
        assert_close(r.score, cri_dag_score(x.scores, &r.dag), 1e-12);
        cr_free(cx, r.trace, r.trace_size, sizeof *r.trace);
        close_problem(&x);
    }
}

TEST(every_allocation_of_a_search_may_fail)
{
    for (uint64_t nth = 1; nth < 60; nth++) {
        problem            x;
        cri_search_options o = { .tabu = true, .memory = 5, .restarts = 3, .seed = 3 };
        cri_search_result  r = { .trace = NULL };
        open_problem(cx, 5, 300, 8, CRI_SCORE_BIC, &x);
        cr_ctx_fail_allocation(cx, nth);
        cr_status st = cri_search_dag(&x.s, x.scores, &x.rules, &o, &r);
        cr_ctx_fail_allocation(cx, 0);
        assert_true(st == CR_OK || st == CR_ENOMEM);
        if (st == CR_OK) cr_free(cx, r.trace, r.trace_size, sizeof *r.trace);
        close_problem(&x);
    }
}
