/* PC on an oracle: the true CPDAG, for every DAG of four nodes, random ones, and the networks. */
#include "all_dags.h"

#include "graph/files/network_file.h"
#include "graph/learn/pc.h"
#include "graph/network/separation.h"

static const cri_pc_options plain = { .most_given = SIZE_MAX };
static const cri_pc_options majority = { .most_given = SIZE_MAX,
                                         .colliders = CRI_COLLIDERS_MAJORITY };

static void check_pc(cr_ctx *cx, const cri_pdag *dag, const cri_pc_options *o)
{
    cri_independence oracle = cri_independence_oracle(dag);
    cri_pdag         truth, found;
    cri_pc_report    report;
    assert_ok(cx, cri_pdag_new(cx, dag->n, &truth));
    cri_pdag_copy(dag, &truth);
    assert_ok(cx, cri_pdag_complete(cx, &truth));
    assert_ok(cx, cri_pc(cx, &oracle, o, &found, NULL, &report));
    assert_int_equal(cri_pdag_distance(&found, &truth), 0);
    assert_int_equal(report.conflicts, 0);
    cri_pdag_free(cx, &truth);
    cri_pdag_free(cx, &found);
}

TEST(oracle_of_every_small_dag)
{
    cri_pdag g;
    assert_ok(cx, cri_pdag_new(cx, 4, &g));
    for (size_t code = 0; next_dag(&code, &g);) {
        check_pc(cx, &g, &plain);
        check_pc(cx, &g, &majority);
    }
    cri_pdag_free(cx, &g);
}

TEST(oracle_of_random_dags)
{
    cri_pdag g;
    assert_ok(cx, cri_pdag_new(cx, 12, &g));
    for (size_t round = 0; round < simulation_size(5, 40); round++) {
        cr_rng r = cr_rng_stream(7, round);
        random_dag(&r, 0.25, &g);
        check_pc(cx, &g, round % 2 ? &plain : &majority);
    }
    cri_pdag_free(cx, &g);
}

TEST(oracle_of_every_network)
{
    static const char *const name[] = { "alarm",      "asia",      "cancer", "child",  "earthquake",
                                        "hailfinder", "insurance", "sachs",  "survey", "win95pts" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char        path[64];
        cr_network *net;
        cri_pdag    dag;
        snprintf(path, sizeof path, "bn/%s.bif", name[i]);
        assert_ok(cx, cr_network_read(cx, test_data(path), CR_FORMAT_AUTO, &net));
        assert_ok(cx, cri_pdag_of_network(cx, net, &dag));
        check_pc(cx, &dag, &plain);
        cri_pdag_free(cx, &dag);
        cr_network_free(cx, net);
    }
}

/* The oracle says what separation in networks says. */
TEST(oracle_agrees_with_separation)
{
    cr_network *net;
    cri_pdag    dag;
    size_t      separated_count = 0;
    assert_ok(cx, cr_network_read(cx, test_data("bn/alarm.bif"), CR_FORMAT_AUTO, &net));
    assert_ok(cx, cri_pdag_of_network(cx, net, &dag));
    cri_independence oracle = cri_independence_oracle(&dag);
    void            *workspace = malloc(oracle.workspace(&dag, 3));
    for (uint64_t round = 0; round < 2000; round++) {
        cr_rng r = cr_rng_stream(3, round);
        size_t pick[64], k = cr_rng_below(&r, 6);
        bool   given[64] = { 0 }, separated;
        cr_rng_permutation(&r, dag.n, pick);
        for (size_t i = 0; i < k; i++) given[pick[2 + i]] = true;
        assert_ok(cx, cr_separated(cx, net, pick[0], pick[1], given, &separated, NULL, NULL));
        cri_verdict v = oracle.verdict(&dag, workspace, pick[0], pick[1], k, pick + 2);
        assert_true(v.independent == separated && v.p == separated);
        separated_count += separated;
    }
    assert_true(separated_count > 300 && separated_count < 1700);
    free(workspace);
    cri_pdag_free(cx, &dag);
    cr_network_free(cx, net);
}

/* Known arrows: forbidden both ways is no edge, forbidden one way or required is an arrow, and what
 * is known orients more. */
TEST(known_arrows_are_kept)
{
    enum { N = 4 };
    cri_pdag       dag, found;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_arc_rules  rules;
    cri_pc_report  report;
    cri_pc_options o = { .most_given = SIZE_MAX, .opt_rules = &rules };
    assert_ok(cx, cri_arc_rules_new(&s, N, &rules));
    assert_ok(cx, cri_pdag_new(cx, N, &dag));
    for (size_t v = 0; v + 1 < N; v++) cri_pdag_set_arrow(&dag, v, v + 1); /* a chain */
    cri_independence oracle = cri_independence_oracle(&dag);
    cri_bit_drop(rules.allowed + 0, 1);
    assert_ok(cx, cri_pc(cx, &oracle, &o, &found, NULL, &report));
    assert_int_equal(cri_pdag_distance(&found, &dag), 0); /* 0 -> 1, and so on by rule 1 */
    cri_pdag_free(cx, &found);
    cri_bit_add(rules.allowed + 0, 1);
    cri_bit_add(rules.required + 2 * rules.words, 3);
    assert_ok(cx, cri_pc(cx, &oracle, &o, &found, NULL, &report));
    for (size_t v = 0; v + 1 < N; v++) assert_true(cri_pdag_arrow(&found, v + 1, v));
    cri_pdag_free(cx, &found);
    cri_bit_drop(rules.required + 2 * rules.words, 3);
    cri_bit_add(rules.required + 3 * rules.words, 0); /* which no test would leave */
    assert_ok(cx, cri_pc(cx, &oracle, &o, &found, NULL, &report));
    assert_true(cri_pdag_arrow(&found, 0, 3));
    cri_pdag_free(cx, &found);
    cri_bit_drop(rules.allowed + 1 * rules.words, 2);
    cri_bit_drop(rules.allowed + 2 * rules.words, 1);
    assert_ok(cx, cri_pc(cx, &oracle, &o, &found, NULL, &report));
    assert_false(cri_pdag_adjacent(&found, 1, 2));
    cri_pdag_free(cx, &found);
    cri_pdag_free(cx, &dag);
    cr_scratch_end(&s);
}

/* G^2 and X^2 of a table by hand: two strata (2 x 2) and (2 x 3, one column empty). */
TEST(tests_of_counts_are_the_formulas)
{
    enum { ROWS = 60 };
    static const size_t table[2][2][3] = { { { 9, 4, 0 }, { 3, 8, 0 } },
                                           { { 5, 7, 6 }, { 10, 2, 6 } } };
    uint16_t            x[ROWS], y[ROWS], z[ROWS], *code[] = { x, y, z };
    uint32_t            levels[] = { 2, 3, 2 };
    double              weight[ROWS];
    size_t              n = 0, given = 2;
    double              g2 = 0, x2 = 0;
    for (size_t c = 0; c < 2; c++)
        for (size_t a = 0; a < 2; a++)
            for (size_t b = 0; b < 3; b++)
                for (size_t i = 0; i < table[c][a][b]; i++)
                    x[n] = (uint16_t)a, y[n] = (uint16_t)b, z[n] = (uint16_t)c, weight[n++] = 1;
    assert_int_equal(n, ROWS);
    for (size_t c = 0; c < 2; c++)
        for (size_t a = 0; a < 2; a++)
            for (size_t b = 0; b < 3; b++) {
                double row = 0, column = 0, all = 0, o = (double)table[c][a][b];
                for (size_t k = 0; k < 3; k++) row += (double)table[c][a][k];
                for (size_t k = 0; k < 2; k++) column += (double)table[c][k][b];
                for (size_t k = 0; k < 6; k++) all += (double)table[c][k / 3][k % 3];
                double e = row * column / all;
                if (e > 0) x2 += (o - e) * (o - e) / e;
                if (o > 0) g2 += 2 * o * log(o / e);
            }
    cri_cases_table data = {
        .n = ROWS, .p = 3, .rows = ROWS, .levels = levels, .code = code, .weight = weight
    };
    cri_state_test t;
    assert_ok(cx, cri_state_test_of(cx, &data, CRI_TEST_G2, 0.05, &t));
    cri_independence test = cri_independence_states(&t);
    void            *workspace = malloc(test.workspace(&t, 1));
    cri_verdict      v = test.verdict(&t, workspace, 0, 1, 1, &given);
    assert_close(v.association, g2 / (2 * ROWS), 1e-13);
    /* df = 1 + 2: P(chi^2_3 > q) = erfc(sqrt(q / 2)) + sqrt(2 q / pi) exp(-q / 2) */
    assert_close(v.p, erfc(sqrt(g2 / 2)) + sqrt(2 * g2 / M_PI) * exp(-g2 / 2), 1e-12);
    t.statistic = CRI_TEST_X2;
    v = test.verdict(&t, workspace, 0, 1, 1, &given);
    assert_close(v.p, erfc(sqrt(x2 / 2)) + sqrt(2 * x2 / M_PI) * exp(-x2 / 2), 1e-12);
    t.statistic = CRI_TEST_MI;
    v = test.verdict(&t, workspace, 0, 1, 1, &given);
    assert_true(v.independent == (g2 <= 3 * log(ROWS)));
    free(workspace);
}

/* Many given variables, of which most strata do not occur: against pairs of rows sorted by hand.  A
 * variable that is a copy of x separates it from all; one that is constant tells nothing. */
TEST(many_given_variables_cost_rows_only)
{
    enum { ROWS = 500, N = 24 };
    static uint16_t code[N][ROWS];
    uint16_t       *column[N];
    uint32_t        levels[N];
    double          weight[ROWS];
    size_t          given[N];
    cr_rng          r = cr_rng_stream(11, 0);
    for (size_t v = 0; v < N; v++) {
        column[v] = code[v];
        levels[v] = 5;
        for (size_t i = 0; i < ROWS; i++)
            code[v][i] = (uint16_t)(v < 3 || i % 4 == 0 ? cr_rng_below(&r, 5) : v % 5);
    }
    for (size_t i = 0; i < ROWS; i++) {
        if (cr_rng_below(&r, 3)) code[1][i] = code[0][i];
        code[2][i] = code[0][i];
    }
    for (size_t i = 0; i < ROWS; i++) weight[i] = 1;
    cri_cases_table data = {
        .n = ROWS, .p = N, .rows = ROWS, .levels = levels, .code = column, .weight = weight
    };
    cri_state_test t;
    assert_ok(cx, cri_state_test_of(cx, &data, CRI_TEST_G2, 0.05, &t));
    cri_independence test = cri_independence_states(&t);
    char            *workspace = malloc(test.workspace(&t, N));
    for (size_t k = 0; k <= N - 3; k++) {
        double g2 = 0;
        for (size_t i = 0; i < k; i++) given[i] = 3 + i;
        /* sum over rows of 2 ln(n_xyz n_z / (n_xz n_yz)) */
        for (size_t a = 0; a < ROWS; a++) {
            double all = 0, xs = 0, ys = 0, both = 0;
            for (size_t b = 0; b < ROWS; b++) {
                bool same = true;
                for (size_t i = 0; i < k && same; i++)
                    same = code[given[i]][a] == code[given[i]][b];
                bool sx = code[0][a] == code[0][b], sy = code[1][a] == code[1][b];
                all += same, xs += same && sx, ys += same && sy, both += same && sx && sy;
            }
            g2 += 2 * log(both * all / (xs * ys));
        }
        assert_close(test.verdict(&t, workspace, 0, 1, k, given).association, g2 / (2 * ROWS),
                     1e-12);
    }
    given[0] = 2;
    assert_true(test.verdict(&t, workspace, 0, 1, 1, given).p == 1);
    free(workspace);
}

/* Partial correlations against those of the residuals: three variables, by the textbook formula. */
TEST(partial_correlations_are_the_formula)
{
    double               R[9] = { 1, 0.6, 0.5, 0.6, 1, -0.2, 0.5, -0.2, 1 };
    size_t               given = 2;
    cri_correlation_test t = { 3, 40, 0.01, R };
    cri_independence     test = cri_independence_correlations(&t);
    double               workspace[16];
    cri_verdict          v = test.verdict(&t, workspace, 0, 1, 1, &given);
    double               r = (0.6 - 0.5 * -0.2) / sqrt((1 - 0.25) * (1 - 0.04));
    assert_close(v.association, -0.5 * log1p(-r * r), 1e-14);
    assert_close(v.p, erfc(sqrt(36.0) * atanh(r) / sqrt(2)), 1e-14);
    assert_false(v.independent);
    v = test.verdict(&t, workspace, 0, 1, 0, NULL);
    assert_close(v.p, erfc(sqrt(37.0) * atanh(0.6) / sqrt(2)), 1e-14);
}

static cr_status run_pc(cr_ctx *cx, void *arg)
{
    cri_independence oracle = cri_independence_oracle(arg);
    cri_pdag         found = { 0 };
    cri_pc_report    report;
    cr_status        st = cri_pc(cx, &oracle, &majority, &found, NULL, &report);
    bool             consistent;
    if (st == CR_OK) st = cri_pdag_extend(cx, &found, &consistent);
    cri_pdag_free(cx, &found);
    return st;
}

TEST(memory_may_run_out)
{
    cri_pdag g;
    cr_rng   r = cr_rng_stream(5, 0);
    assert_ok(cx, cri_pdag_new(cx, 7, &g));
    random_dag(&r, 0.4, &g);
    test_every_allocation_fails(run_pc, &g);
    cri_pdag_free(cx, &g);
}

/* Any number of threads asks the same questions. */
TEST(threads_do_not_matter)
{
    cri_pdag dag;
    cr_rng   r = cr_rng_stream(9, 0);
    double   tests[2];
    assert_ok(cx, cri_pdag_new(cx, 14, &dag));
    random_dag(&r, 0.3, &dag);
    cri_independence oracle = cri_independence_oracle(&dag);
    for (size_t i = 0; i < 2; i++) {
        cri_pdag      found;
        cri_pc_report report;
        cr_ctx_set_threads(cx, i ? 3 : 1);
        assert_ok(cx, cri_pc(cx, &oracle, &plain, &found, NULL, &report));
        tests[i] = report.tests;
        cri_pdag_free(cx, &found);
    }
    assert_true(tests[0] == tests[1] && tests[0] > 100);
    cri_pdag_free(cx, &dag);
}
