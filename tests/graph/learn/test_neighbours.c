/* Neighbours and Markov blankets on an oracle: those of every network; trees against all trees. */
#include "random_score.h"

#include "graph/files/network_file.h"
#include "graph/learn/neighbours.h"
#include "graph/learn/tree.h"
#include "graph/network/structure.h"

/* Those whose largest sets of neighbours have few subsets come first. */
static const char *const network_name[] = { "asia",      "cancer",  "child", "earthquake",
                                            "sachs",     "survey",  "alarm", "hailfinder",
                                            "insurance", "win95pts" };
enum { ALL = sizeof network_name / sizeof *network_name, SMALL = 7 };

static cr_network *open_network(cr_ctx *cx, size_t i)
{
    char        path[64];
    cr_network *net;
    snprintf(path, sizeof path, "bn/%s.bif", network_name[i]);
    assert_ok(cx, cr_network_read(cx, test_data(path), CR_FORMAT_AUTO, &net));
    return net;
}

static const cri_neighbour_options any = { .most_given = SIZE_MAX };

TEST(neighbours_are_the_skeleton_of_every_network)
{
    for (size_t i = 0; i < simulation_size(SMALL, ALL); i++) {
        cr_scratch  s = cr_scratch_begin(cx);
        cr_network *net = open_network(cx, i);
        cri_pdag    dag;
        assert_ok(cx, cri_pdag_of_network(cx, net, &dag));
        cri_independence oracle = cri_independence_oracle(&dag);
        size_t           n = dag.n, words = cri_bit_words(n);
        uint64_t        *near = cr_scratch_bytes(&s, n * words, sizeof *near);
        assert_ok(cx, s.status);
        assert_ok(cx, cri_neighbours(cx, &oracle, &any, CR_NONE, near, NULL));
        for (size_t u = 0; u < n; u++)
            for (size_t v = 0; v < n; v++)
                assert_true(cri_bit_has(near + u * words, v) == cri_pdag_adjacent(&dag, u, v));
        cri_pdag_free(cx, &dag);
        cr_network_free(cx, net);
        cr_scratch_end(&s);
    }
}

TEST(blankets_are_those_of_networks)
{
    for (size_t i = 0; i < SMALL; i++) {
        cr_network        *net = open_network(cx, i);
        cri_pdag           dag;
        bool               blanket[128];
        cri_blanket_member member[128];
        assert_ok(cx, cri_pdag_of_network(cx, net, &dag));
        cri_independence oracle = cri_independence_oracle(&dag);
        size_t           step = dag.n > 15 ? simulation_size(9, 2) : 1;
        for (size_t t = 0; t < dag.n; t += step) {
            assert_ok(cx, cr_network_blanket(cx, net, t, blanket));
            assert_ok(cx, cri_blanket(cx, &oracle, &any, t, member));
            for (size_t v = 0; v < dag.n; v++) {
                assert_true((member[v].role != CRI_NOT_IN_BLANKET) == blanket[v]);
                assert_true((member[v].role == CRI_NEIGHBOUR) == cri_pdag_adjacent(&dag, t, v));
            }
        }
        cri_pdag_free(cx, &dag);
        cr_network_free(cx, net);
    }
}

TEST(rules_make_neighbours)
{
    enum { N = 4 };
    cr_scratch            s = cr_scratch_begin(cx);
    cri_arc_rules         rules;
    cri_pdag              dag;
    uint64_t              near[N] = { 0 };
    cri_neighbour_options o = { .most_given = SIZE_MAX, .opt_rules = &rules };
    assert_ok(cx, cri_pdag_new(cx, N, &dag));
    assert_ok(cx, cri_arc_rules_new(&s, N, &rules));
    for (size_t v = 0; v + 1 < N; v++) cri_pdag_set_arrow(&dag, v, v + 1);
    cri_bit_drop(rules.allowed + 1, 0);
    cri_bit_drop(rules.allowed + 0, 1);
    cri_bit_add(rules.required + 3, 1);
    cri_independence oracle = cri_independence_oracle(&dag);
    assert_ok(cx, cri_neighbours(cx, &oracle, &o, CR_NONE, near, NULL));
    assert_false(near[0] >> 1 & 1 || near[1] & 1);
    assert_true(near[1] >> 3 & 1 && near[3] >> 1 & 1 && near[1] >> 2 & 1);
    cri_pdag_free(cx, &dag);
    cr_scratch_end(&s);
}

/* --- trees ----------------------------------------------------------------------------------- */

/* Mutual information by definition, given a third column or CR_NONE. */
static double information(const cri_cases_table *t, size_t u, size_t v, size_t z)
{
    double sum = 0;
    for (size_t a = 0; a < t->n; a++) {
        double all = 0, us = 0, vs = 0, both = 0;
        for (size_t b = 0; b < t->n; b++) {
            double w = z == CR_NONE || t->code[z][a] == t->code[z][b] ? t->weight[b] : 0;
            bool   su = t->code[u][a] == t->code[u][b], sv = t->code[v][a] == t->code[v][b];
            all += w, us += su * w, vs += sv * w, both += (su && sv) * w;
        }
        sum += t->weight[a] * log(both * all / (us * vs));
    }
    return sum / t->rows;
}

/* The largest sum of informations of all trees over five nodes (but `target`): edges as a number. */
static double best_tree(const cri_cases_table *t, size_t target)
{
    size_t u[10], v[10], pairs = 0, nodes = t->p - (target != CR_NONE);
    double weight[10], best = 0;
    for (size_t a = 0; a < t->p; a++)
        for (size_t b = a + 1; b < t->p; b++)
            if (a != target && b != target) {
                u[pairs] = a, v[pairs] = b;
                weight[pairs++] = information(t, a, b, target);
            }
    for (size_t set = 0; set < (size_t)1 << pairs; set++) {
        size_t root[8], edges = 0;
        double sum = 0;
        bool   tree = true;
        for (size_t i = 0; i < t->p; i++) root[i] = i;
        for (size_t i = 0; i < pairs; i++) {
            if (!(set >> i & 1)) continue;
            size_t a = root[u[i]], b = root[v[i]];
            tree &= a != b;
            for (size_t k = 0; k < t->p; k++)
                if (root[k] == a) root[k] = b;
            sum += weight[i], edges++;
        }
        if (tree && edges == nodes - 1 && sum > best) best = sum;
    }
    return best;
}

TEST(trees_have_the_largest_information)
{
    enum { N = 5 };
    for (uint64_t seed = 0; seed < 6; seed++) {
        cr_scratch    s = cr_scratch_begin(cx);
        cr_rng        r = cr_rng_stream(131, seed);
        size_t        target = seed % 2 ? 2 : CR_NONE;
        cri_pdag      g;
        cri_arc_rules rules;
        assert_ok(cx, cri_pdag_new(cx, N, &g));
        random_dag(&r, 0.7, &g);
        cri_cases_table t = random_cases(cx, &s, &r, &g, 3, 1, 120);
        cri_state_test  own;
        double          measured[N * N], sum = 0;
        assert_ok(cx, cri_state_test_of(cx, &t, CRI_TEST_G2, 0.05, &own));
        assert_ok(cx, cri_arc_rules_new(&s, N, &rules));
        cri_independence test = cri_independence_states(&own);
        cri_dag          dag = cri_dag_new(&s, N);
        assert_ok(cx, s.status);
        assert_ok(cx, cri_tree_learn(cx, &test, &rules, target, 3, &dag, measured));
        assert_int_equal(dag.arcs, target == CR_NONE ? N - 1 : 2 * (N - 1) - 1);
        for (size_t u = 0; u < N; u++)
            for (size_t v = 0; v < N; v++) {
                if (u == v || u == target || v == target) continue;
                assert_close(measured[u * N + v], information(&t, u, v, target), 1e-12);
                if (cri_dag_has(&dag, u, v)) sum += measured[u * N + v];
            }
        assert_close(sum, best_tree(&t, target), 1e-12);
        for (size_t v = 0; v < N; v++) {
            if (target != CR_NONE && v != target) assert_true(cri_dag_has(&dag, target, v));
            assert_true(cri_bit_count(cri_dag_parents(&dag, v), dag.words) ==
                        (target == CR_NONE ? (size_t)(v != 3)
                         : v == target     ? (size_t)0
                                           : (size_t)(v != 3) + 1));
        }
        cri_pdag_free(cx, &g);
        cr_scratch_end(&s);
    }
}

/* Arcs as the rules want them: one required, one direction forbidden, one pair not joined. */
TEST(trees_keep_to_rules)
{
    enum { N = 5 };
    cr_scratch    s = cr_scratch_begin(cx);
    cr_rng        r = cr_rng_stream(137, 1);
    cri_pdag      g;
    cri_arc_rules rules;
    assert_ok(cx, cri_pdag_new(cx, N, &g));
    for (size_t v = 0; v + 1 < N; v++) cri_pdag_set_arrow(&g, v, v + 1);
    cri_cases_table t = random_cases(cx, &s, &r, &g, 3, 3, 500);
    cri_state_test  own;
    assert_ok(cx, cri_state_test_of(cx, &t, CRI_TEST_G2, 0.05, &own));
    assert_ok(cx, cri_arc_rules_new(&s, N, &rules));
    cri_independence test = cri_independence_states(&own);
    cri_dag          dag = cri_dag_new(&s, N);
    assert_ok(cx, s.status);
    cri_bit_add(rules.required + 4, 0);
    cri_bit_drop(rules.allowed + 1, 0);
    cri_bit_drop(rules.allowed + 3, 2), cri_bit_drop(rules.allowed + 2, 3);
    assert_ok(cx, cri_tree_learn(cx, &test, &rules, CR_NONE, CR_NONE, &dag, NULL));
    assert_true(cri_dag_has(&dag, 0, 4));
    assert_int_equal(dag.arcs, N - 1);
    for (size_t v = 0; v < N; v++) assert_int_equal(dag.parents[v] & ~rules.allowed[v], 0);
    cri_bit_add(rules.required + 4, 1), cri_bit_add(rules.required + 0, 1);
    assert_fails_with(cx, cri_tree_learn(cx, &test, &rules, CR_NONE, CR_NONE, &dag, NULL), CR_EARG,
                      "tree");
    cri_pdag_free(cx, &g);
    cr_scratch_end(&s);
}

static cr_status run_all(cr_ctx *cx, void *arg)
{
    enum { N = 5 };
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    cri_independence   oracle = cri_independence_oracle(arg);
    cri_arc_rules      rules;
    cri_blanket_member member[N];
    CR_TRY(cri_arc_rules_new(&s, N, &rules));
    cri_dag dag = cri_dag_new(&s, N);
    CR_TRY(s.status);
    CR_TRY(cri_blanket(cx, &oracle, &any, 2, member));
    cri_bit_drop(rules.allowed + 1, 0);
    CR_TRY(cri_tree_learn(cx, &oracle, &rules, CR_NONE, 0, &dag, NULL));
done:
    cr_scratch_end(&s);
    return st;
}

TEST(memory_may_run_out)
{
    cri_pdag g;
    assert_ok(cx, cri_pdag_new(cx, 5, &g));
    for (size_t v = 0; v < 4; v++) cri_pdag_set_arrow(&g, v, v + 1);
    test_every_allocation_fails(run_all, &g);
    cri_pdag_free(cx, &g);
}
