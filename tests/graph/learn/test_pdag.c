/* Equivalence classes: all DAGs of four nodes by their independences, against CPDAGs by rules. */
#include "all_dags.h"

#include "graph/learn/independence.h"

enum { N = 4, DAGS = 543, CLASSES = 185 };

/* One bit for each question "is x independent of y given Z?": 6 pairs, 4 sets each. */
static uint32_t independences(const cri_pdag *g)
{
    cri_independence oracle = cri_independence_oracle(g);
    size_t           workspace[64];
    uint32_t         bits = 0;
    unsigned         bit = 0;
    for (size_t x = 0; x < N; x++)
        for (size_t y = x + 1; y < N; y++)
            for (size_t set = 0; set < 1u << N; set++) {
                size_t given[N], k = 0;
                if (set >> x & 1 || set >> y & 1) continue;
                for (size_t z = 0; z < N; z++)
                    if (set >> z & 1) given[k++] = z;
                assert_true(oracle.workspace(g, k) <= sizeof workspace);
                bits |= (uint32_t)oracle.verdict(g, workspace, x, y, k, given).independent << bit++;
            }
    return bits;
}

typedef struct class
{
    uint32_t independences;
    uint8_t  edge[N * N]; /* union of the members */
    size_t   members;
} class;

static size_t make_classes(cr_ctx *cx, class *list)
{
    size_t   n = 0, code = 0, dags = 0;
    cri_pdag g;
    assert_ok(cx, cri_pdag_new(cx, N, &g));
    for (; next_dag(&code, &g); dags++) {
        uint32_t bits = independences(&g);
        size_t   i = 0;
        while (i < n && list[i].independences != bits) i++;
        if (i == n) list[n++] = (class){ .independences = bits };
        list[i].members++;
        for (size_t e = 0; e < N * N; e++) list[i].edge[e] |= g.edge[e];
    }
    assert_int_equal(dags, DAGS);
    cri_pdag_free(cx, &g);
    return n;
}

TEST(cpdag_is_what_the_class_agrees_on)
{
    static class list[DAGS];
    memset(list, 0, sizeof list);
    size_t   classes = make_classes(cx, list), code = 0;
    cri_pdag g, dag;
    assert_int_equal(classes, CLASSES);
    assert_ok(cx, cri_pdag_new(cx, N, &g));
    assert_ok(cx, cri_pdag_new(cx, N, &dag));
    while (next_dag(&code, &dag)) {
        uint32_t bits = independences(&dag);
        size_t   i = 0;
        bool     consistent;
        while (list[i].independences != bits) i++;
        cri_pdag_copy(&dag, &g);
        assert_ok(cx, cri_pdag_complete(cx, &g));
        assert_memory_equal(g.edge, list[i].edge, N * N);
        /* an extension is a member of the class, and the class is its CPDAG */
        assert_ok(cx, cri_pdag_extend(cx, &g, &consistent));
        assert_true(consistent);
        assert_int_equal(independences(&g), bits);
        assert_ok(cx, cri_pdag_complete(cx, &g));
        assert_memory_equal(g.edge, list[i].edge, N * N);
    }
    cri_pdag_free(cx, &g);
    cri_pdag_free(cx, &dag);
}

/* With arrows that are known beforehand: those that all extensions share (rule 4 included). */
TEST(rules_find_all_that_follows_from_known_arrows)
{
    cri_pdag dag, known, shared, other;
    size_t   tried = 0;
    assert_ok(cx, cri_pdag_new(cx, N, &dag));
    assert_ok(cx, cri_pdag_new(cx, N, &known));
    assert_ok(cx, cri_pdag_new(cx, N, &shared));
    assert_ok(cx, cri_pdag_new(cx, N, &other));
    for (size_t code = 0; next_dag(&code, &dag);) {
        uint32_t bits = independences(&dag);
        for (size_t e = 0; e < N * N; e++) {
            if (!dag.edge[e]) continue;
            cri_pdag_copy(&dag, &known);
            assert_ok(cx, cri_pdag_complete(cx, &known));
            if (!cri_pdag_line(&known, e / N, e % N)) continue;
            cri_pdag_set_arrow(&known, e / N, e % N);
            cri_pdag_meek(&known);
            memset(shared.edge, 0, N * N);
            for (size_t c = 0; next_dag(&c, &other);) {
                if (!cri_pdag_arrow(&other, e / N, e % N)) continue;
                if (independences(&other) != bits) continue;
                for (size_t i = 0; i < N * N; i++) shared.edge[i] |= other.edge[i];
            }
            assert_memory_equal(known.edge, shared.edge, N * N);
            tried++;
        }
    }
    assert_true(tried > 500);
    cri_pdag_free(cx, &dag);
    cri_pdag_free(cx, &known);
    cri_pdag_free(cx, &shared);
    cri_pdag_free(cx, &other);
}

/* a -> b -- c -> d -- a has no extension without a new collider or a cycle: the greedy choice still
 * makes a DAG, and says so.  So does a cycle of arrows. */
TEST(graphs_without_extension_become_dags)
{
    cri_pdag g;
    size_t   order[N];
    bool     consistent;
    assert_ok(cx, cri_pdag_new(cx, N, &g));
    for (size_t v = 0; v < N; v++) cri_pdag_set_line(&g, v, (v + 1) % N);
    assert_ok(cx, cri_pdag_extend(cx, &g, &consistent));
    assert_false(consistent);
    assert_true(cri_pdag_order(&g, order));
    memset(g.edge, 0, N * N);
    for (size_t v = 0; v < N; v++) cri_pdag_set_arrow(&g, v, (v + 1) % N);
    assert_false(cri_pdag_order(&g, order));
    assert_ok(cx, cri_pdag_extend(cx, &g, &consistent));
    assert_false(consistent);
    assert_true(cri_pdag_order(&g, order));
    size_t arrows, lines;
    cri_pdag_count(&g, &arrows, &lines);
    assert_int_equal(arrows, N);
    assert_int_equal(lines, 0);
    cri_pdag_free(cx, &g);
}

TEST(distance_counts_pairs_that_differ)
{
    cri_pdag a, b;
    assert_ok(cx, cri_pdag_new(cx, N, &a));
    assert_ok(cx, cri_pdag_new(cx, N, &b));
    cri_pdag_set_arrow(&a, 0, 1), cri_pdag_set_arrow(&b, 1, 0); /* turned: 1 */
    cri_pdag_set_line(&a, 1, 2), cri_pdag_set_arrow(&b, 1, 2);  /* line and arrow: 1 */
    cri_pdag_set_line(&a, 2, 3), cri_pdag_set_line(&b, 2, 3);   /* same: 0 */
    cri_pdag_set_arrow(&a, 0, 3);                               /* one has none: 1 */
    assert_int_equal(cri_pdag_distance(&a, &b), 3);
    assert_int_equal(cri_pdag_distance(&b, &a), 3);
    assert_int_equal(cri_pdag_distance(&a, &a), 0);
    cri_pdag_free(cx, &a);
    cri_pdag_free(cx, &b);
}
