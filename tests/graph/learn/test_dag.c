/* test_dag.c -- graphs without cycles: ancestors against searches along all arcs after each of many changes, orders,
 * classes against all graphs with the same independences, rules and their refusals. */
#include "learning.h"

/* a reaches b along arcs, by looking. */
static bool look(const cri_dag *g, size_t a, size_t b, size_t depth)
{
    if (depth > g->n) return false;
    for (size_t v = 0; v < g->n; v++)
        if (cri_dag_has(g, a, v) && (v == b || look(g, v, b, depth + 1))) return true;
    return false;
}

static void check_ancestors(const cri_dag *g)
{
    uint32_t order[64], place[64];
    size_t   arcs = 0;
    cri_dag_order(g, order);
    for (uint32_t i = 0; i < g->n; i++) place[order[i]] = i;
    for (size_t u = 0; u < g->n; u++)
        for (size_t v = 0; v < g->n; v++) {
            assert_int_equal(cri_dag_reaches(g, u, v), look(g, u, v, 0));
            arcs += cri_dag_has(g, u, v);
            if (cri_dag_has(g, u, v)) assert_true(place[u] < place[v]);
        }
    assert_int_equal(arcs, g->arcs);
}

static void change(cri_dag *g, cr_rng *r)
{
    size_t u = cr_rng_below(r, g->n), v = cr_rng_below(r, g->n);
    if (u == v) return;
    if (!cri_dag_has(g, u, v)) {
        if (!cri_dag_has(g, v, u) && !cri_dag_reaches(g, v, u)) cri_dag_add(g, u, v);
        return;
    }
    bool can = cri_dag_can_reverse(g, u, v);
    cri_dag_drop(g, u, v);
    assert_int_equal(can, !cri_dag_reaches(g, u, v));
    if (can && cr_rng_below(r, 2)) cri_dag_add(g, v, u);
}

TEST(ancestors_after_each_change)
{
    cr_scratch s = cr_scratch_begin(cx);
    cr_rng     r = cr_rng_stream(4, 4);
    for (size_t n = 2; n < 10; n++) {
        cri_dag g = cri_dag_new(&s, n), copy = cri_dag_new(&s, n), closed = cri_dag_new(&s, n);
        for (size_t i = 0; i < 60; i++) {
            change(&g, &r);
            check_ancestors(&g);
        }
        cri_dag_copy(&g, &copy);
        check_ancestors(&copy);
        memcpy(closed.parents, g.parents, n * g.words * sizeof *g.parents);
        assert_true(cri_dag_close(&closed, NULL));
        check_ancestors(&closed);
    }
    cr_scratch_end(&s);
}

TEST(sets_of_more_than_one_word)
{
    cr_scratch s = cr_scratch_begin(cx);
    cri_dag    g = cri_dag_new(&s, 130);
    uint32_t   list[130];
    for (size_t v = 129; v > 0; v--) cri_dag_add(&g, v, v - 1);
    assert_true(cri_dag_reaches(&g, 129, 0) && !cri_dag_reaches(&g, 0, 129));
    assert_int_equal(cri_bit_list(g.ancestors, g.words, list), 129);
    assert_true(list[0] == 1 && list[128] == 129);
    cri_dag_drop(&g, 64, 63);
    assert_true(!cri_dag_reaches(&g, 129, 0) && cri_dag_reaches(&g, 63, 0));
    assert_int_equal(g.arcs, 128);
    cr_scratch_end(&s);
}

TEST(cycles_are_found)
{
    cr_scratch s = cr_scratch_begin(cx);
    cri_dag    g = cri_dag_new(&s, 4);
    size_t     on = 9;
    cri_bit_add(cri_dag_parents(&g, 1), 0);
    cri_bit_add(cri_dag_parents(&g, 2), 1);
    cri_bit_add(cri_dag_parents(&g, 3), 2);
    cri_bit_add(cri_dag_parents(&g, 1), 3);
    assert_false(cri_dag_close(&g, &on));
    assert_true(on >= 1 && on <= 3);
    cr_scratch_end(&s);
}

/* --- classes ---------------------------------------------------------------------------------- */

/* Equivalent: the same arcs but for directions, and the same colliders of parents that are not joined. */
static bool equivalent(const cri_dag *a, const cri_dag *b)
{
    size_t n = a->n;
    for (size_t u = 0; u < n; u++)
        for (size_t v = 0; v < n; v++) {
            bool joined = cri_dag_has(a, u, v) || cri_dag_has(a, v, u);
            if (joined != (cri_dag_has(b, u, v) || cri_dag_has(b, v, u))) return false;
            for (size_t w = 0; w < n && u < v && !joined; w++)
                if ((cri_dag_has(a, u, w) && cri_dag_has(a, v, w)) !=
                    (cri_dag_has(b, u, w) && cri_dag_has(b, v, w)))
                    return false;
        }
    return true;
}

/* The graph number i of all that have arcs between 4 variables: none, up, down. */
static bool make_graph(size_t i, cri_dag *g)
{
    memset(g->parents, 0, g->n * g->words * sizeof *g->parents);
    for (size_t u = 0; u < g->n; u++)
        for (size_t v = u + 1; v < g->n; v++, i /= 3) {
            if (i % 3 == 1) cri_bit_add(cri_dag_parents(g, v), u);
            if (i % 3 == 2) cri_bit_add(cri_dag_parents(g, u), v);
        }
    return cri_dag_close(g, NULL);
}

TEST(classes_join_all_equivalent_graphs)
{
    enum { ALL = 729 };
    cr_scratch s = cr_scratch_begin(cx);
    cri_dag    g = cri_dag_new(&s, 4), other = cri_dag_new(&s, 4);
    size_t     graphs = 0, classes = 0;
    for (size_t i = 0; i < ALL; i++) {
        uint64_t want[4] = { 0 }, got[4];
        bool     first = true;
        if (!make_graph(i, &g)) continue;
        graphs++;
        for (size_t k = 0; k < ALL; k++) {
            if (!make_graph(k, &other) || !equivalent(&g, &other)) continue;
            first &= k >= i;
            for (size_t v = 0; v < 4; v++) want[v] |= other.parents[v];
        }
        classes += first;
        assert_ok(cx, cri_dag_class(cx, &g, got));
        assert_memory_equal(got, want, sizeof got);
    }
    assert_int_equal(graphs, 543);
    assert_int_equal(classes, 185);
    cr_scratch_end(&s);
}

TEST(covered_arcs_stay_in_the_class)
{
    cr_scratch s = cr_scratch_begin(cx);
    cri_dag    g = cri_dag_new(&s, 4), other = cri_dag_new(&s, 4);
    for (size_t i = 0; i < 729; i++)
        for (size_t u = 0; u < 4; u++)
            for (size_t v = 0; v < 4; v++) {
                if (!make_graph(i, &g) || !cri_dag_has(&g, u, v)) continue;
                cri_dag_copy(&g, &other);
                cri_dag_drop(&other, u, v);
                bool can = !cri_dag_reaches(&other, u, v);
                if (can) cri_dag_add(&other, v, u);
                assert_int_equal(cri_dag_is_covered(&g, u, v), can && equivalent(&g, &other));
            }
    cr_scratch_end(&s);
}

/* --- rules ------------------------------------------------------------------------------------ */

static const char *const NAMES[] = { "a", "b", "c", "d" };

TEST(rules_are_checked)
{
    cr_scratch    s = cr_scratch_begin(cx);
    cri_arc_rules r;
    assert_ok(cx, cri_arc_rules_new(&s, 4, &r));
    assert_ok(cx, cri_arc_rules_check(cx, &r, NAMES));
    cri_bit_add(r.required + 1, 0);
    cri_bit_add(r.start + 0, 1); /* would close a cycle: left out */
    cri_bit_add(r.start + 2, 1);
    cri_bit_drop(r.allowed + 3, 2);
    cri_bit_add(r.start + 3, 2); /* excluded: left out */
    assert_ok(cx, cri_arc_rules_check(cx, &r, NAMES));
    assert_true(r.start[0] == 0 && r.start[1] == 1 && r.start[2] == 2 && r.start[3] == 0);
    cri_bit_add(r.required + 2, 1);
    cri_bit_add(r.required + 0, 2);
    cri_bit_add(r.required + 3, 0);
    assert_fails_with(cx, cri_arc_rules_check(cx, &r, NAMES), CR_EARG, " <- ");
    cri_bit_drop(r.required + 0, 2);
    cri_bit_drop(r.allowed + 1, 0);
    assert_fails_with(cx, cri_arc_rules_check(cx, &r, NAMES), CR_EARG, "a -> b");
    cri_bit_add(r.allowed + 1, 0);
    r.most_parents = 0;
    assert_fails_with(cx, cri_arc_rules_check(cx, &r, NAMES), CR_EARG, "may have 0");
    cr_scratch_end(&s);
}
