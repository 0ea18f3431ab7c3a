/* Graphs: separation against independence by enumeration, orders, chordality, cluster graphs. */
#include "random_network.h"

#include "graph/exact/chordal.h"
#include "graph/exact/elimination.h"
#include "graph/exact/enumerate.h"
#include "graph/query/query.h"
#include "graph/network/separation.h"

enum { N = 6 };

/* A random graph with generic tables: no independence but those of the graph. */
static cr_network *generic_network(cr_ctx *cx, cr_rng *r, cr_network_kind kind)
{
    cr_network *net;
    size_t      order[N];
    char        name[32];
    double      value[64];
    assert_ok(cx, cr_network_new(cx, kind, &net));
    for (size_t v = 0; v < N; v++) {
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
    }
    cr_rng_permutation(r, N, order);
    for (size_t i = 0; i < N; i++) {
        size_t parents[N], k = 0;
        for (size_t j = 0; j < i && k < 3; j++)
            if (cr_rng_below(r, 3) == 0) parents[k++] = order[j];
        for (size_t e = 0; e < (size_t)2 << k; e++)
            value[e] = e % 2 && kind == CR_NETWORK_BAYES ? 1 - value[e - 1]
                                                         : 0.1 + 0.8 * cr_rng_uniform(r);
        if (kind == CR_NETWORK_BAYES) {
            assert_ok(cx, cr_network_set_parents(cx, net, order[i], k, parents));
            assert_ok(cx, cr_network_set_table(cx, net, order[i], value));
        }
        for (size_t j = 0; kind == CR_NETWORK_MARKOV && j < k; j++) {
            size_t scope[] = { order[i], parents[j] };
            assert_ok(cx, cr_network_add_table(cx, net, 2, scope, value));
        }
    }
    return net;
}

/* max over z of |P(x, y | z) - P(x | z) P(y | z)| */
static double dependence(cr_ctx *cx, const cr_network *net, size_t x, size_t y, const bool *given)
{
    size_t query[N], n = 0, state[N] = { 0 };
    double worst = 0;
    query[n++] = x;
    query[n++] = y;
    for (size_t v = 0; v < N; v++)
        if (given[v]) query[n++] = v;
    cr_factor f;
    assert_ok(cx, cr_enumerate_query(cx, net, NULL, n, query, 0, &f, NULL));
    for (size_t z = 0; z < (size_t)1 << (n - 2); z++) {
        double p[4], sum = 0;
        for (size_t i = 2; i < n; i++) state[query[i]] = z >> (i - 2) & 1;
        for (size_t e = 0; e < 4; e++) {
            state[x] = e / 2, state[y] = e % 2;
            sum += p[e] = f.value[cr_factor_index(&f, state)];
        }
        if (sum == 0) continue; /* a state of the given that cannot be */
        double gap = fabs(p[0] * p[3] - p[1] * p[2]) / (sum * sum);
        if (gap > worst) worst = gap;
    }
    cr_factor_free(cx, &f);
    return worst;
}

/* Is the list a trail of the network from x to y whose inner nodes let it through? */
static void check_trail(cr_ctx *cx, const cr_network *net, size_t x, size_t y, const bool *given,
                        const size_t *trail, size_t n)
{
    cr_graph g;
    bool     bayes = cr_network_get_kind(net) == CR_NETWORK_BAYES;
    assert_true(n >= 2 && trail[0] == x && trail[n - 1] == y);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) assert_true(trail[i] != trail[k]);
    assert_ok(cx, bayes ? cr_network_children(cx, net, &g) : cr_network_moral(cx, net, &g));
    for (size_t i = 0; i + 1 < n; i++)
        assert_true(cr_graph_has(&g, trail[i], trail[i + 1]) ||
                    cr_graph_has(&g, trail[i + 1], trail[i]));
    for (size_t i = 1; i + 1 < n; i++) {
        bool collider = bayes && cr_graph_has(&g, trail[i - 1], trail[i]) &&
                        cr_graph_has(&g, trail[i + 1], trail[i]);
        bool open = !given[trail[i]];
        if (collider) { /* it or a descendant is given: it is an ancestor of the given */
            bool above[N];
            memcpy(above, given, sizeof above);
            assert_ok(cx, cr_network_ancestors(cx, net, above));
            open = above[trail[i]];
        }
        assert_true(open);
    }
    cr_graph_free(cx, &g);
}

TEST(separation_is_independence)
{
    size_t separated_count = 0;
    for (uint64_t round = 0; round < 120; round++) {
        cr_rng      r = cr_rng_stream(41, round);
        cr_network *net = generic_network(cx, &r, round % 4 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV);
        for (size_t k = 0; k < 8; k++) {
            size_t pick[N], trail[N], length;
            bool   given[N] = { 0 }, separated, mark[N];
            cr_rng_permutation(&r, N, pick);
            for (size_t i = 2; i < N; i++) given[pick[i]] = cr_rng_below(&r, 2);
            assert_ok(cx,
                      cr_separated(cx, net, pick[0], pick[1], given, &separated, trail, &length));
            double gap = dependence(cx, net, pick[0], pick[1], given);
            if (separated)
                assert_true(gap < 1e-12);
            else
                assert_true(gap > 1e-9);
            if (!separated) check_trail(cx, net, pick[0], pick[1], given, trail, length);
            assert_ok(cx, cr_reachable(cx, net, pick[0], given, mark));
            assert_true(mark[pick[1]] == !separated);
            separated_count += separated;
        }
        cr_network_free(cx, net);
    }
    assert_in_range(separated_count, 100, 800);
}

/* Some tables get rows that hold a 1. */
static void make_deterministic(cr_ctx *cx, cr_rng *r, cr_network *net)
{
    for (size_t v = 0; v < N; v++) {
        cr_table_view t = cr_network_table(net, v);
        double        value[64];
        if (t.n < 2 || cr_rng_below(r, 2)) continue;
        for (size_t row = 0; row < t.size; row += 2) {
            value[row] = (double)cr_rng_below(r, 2);
            value[row + 1] = 1 - value[row];
        }
        assert_ok(cx, cr_network_set_table(cx, net, v, value));
    }
}

/* Whatever D-separation says is so by enumeration; and it finds more than d-separation. */
TEST(determined_nodes_separate)
{
    size_t more = 0, independent = 0, found = 0;
    for (uint64_t round = 0; round < 300; round++) {
        cr_rng      r = cr_rng_stream(46, round);
        cr_network *net = generic_network(cx, &r, CR_NETWORK_BAYES);
        make_deterministic(cx, &r, net);
        for (size_t k = 0; k < 8; k++) {
            size_t pick[N], n = 1;
            bool   given[N] = { 0 }, plain;
            char   text[64];
            cr_rng_permutation(&r, N, pick);
            int used = snprintf(text, sizeof text, "v%zu _|_ v%zu", pick[0], pick[1]);
            for (size_t i = 2; i < N; i++)
                if (cr_rng_below(&r, 2)) {
                    given[pick[i]] = true;
                    used += snprintf(text + used, sizeof text - (size_t)used, "%s v%zu",
                                     n++ > 1 ? "," : " |", pick[i]);
                }
            cr_query_answer a = { 0 };
            assert_ok(cx, cr_query(cx, net, text, NULL, NULL, &a));
            assert_ok(cx, cr_separated(cx, net, pick[0], pick[1], given, &plain, NULL, NULL));
            double gap = dependence(cx, net, pick[0], pick[1], given);
            if (a.holds) assert_true(gap < 1e-12);
            if (plain) assert_true(a.holds && a.n == 0);
            if (a.holds && !plain) assert_true(a.n > 0);
            more += a.holds && !plain;
            independent += gap < 1e-12;
            found += a.holds;
            cr_query_answer_free(cx, &a);
        }
        cr_network_free(cx, net);
    }
    assert_in_range(more, 20, 2400);
    assert_true(found <= independent && 10 * found > 6 * independent);
}

TEST(blankets_shield)
{
    for (uint64_t round = 0; round < 40; round++) {
        cr_rng      r = cr_rng_stream(42, round);
        cr_network *net = generic_network(cx, &r, round % 3 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV);
        for (size_t v = 0; v < N; v++) {
            bool blanket[N], reached[N];
            assert_ok(cx, cr_network_blanket(cx, net, v, blanket));
            assert_ok(cx, cr_reachable(cx, net, v, blanket, reached));
            for (size_t u = 0; u < N; u++) assert_true(u == v || !reached[u]);
            for (size_t u = 0; u < N; u++) { /* and no smaller set does */
                if (!blanket[u]) continue;
                blanket[u] = false;
                assert_ok(cx, cr_reachable(cx, net, v, blanket, reached));
                assert_true(reached[u]);
                blanket[u] = true;
            }
        }
        bool is;
        if (round % 3) {
            assert_ok(cx, cr_is_i_map(cx, net, net, &is, NULL, NULL));
            assert_true(is);
        }
        cr_network_free(cx, net);
    }
}

TEST(i_maps_and_determined)
{
    cr_network *chain, *split;
    size_t      parent, x, y;
    bool        is, given[3] = { true, false, false };
    double      copy[] = { 1, 0, 0, 1 }, half[] = { 0.5, 0.5 };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &chain));
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &split));
    for (size_t v = 0; v < 3; v++) {
        const char *const names[] = { "a", "b", "c" };
        assert_ok(cx, cr_network_add_variable(cx, chain, names[v], 2, NULL, NULL));
        assert_ok(cx, cr_network_add_variable(cx, split, names[v], 2, NULL, NULL));
    }
    parent = 0, assert_ok(cx, cr_network_set_parents(cx, chain, 1, 1, &parent));
    assert_ok(cx, cr_network_set_parents(cx, split, 1, 1, &parent));
    parent = 1, assert_ok(cx, cr_network_set_parents(cx, chain, 2, 1, &parent));
    assert_ok(cx,
              cr_is_i_map(cx, chain, split, &is, &x, &y)); /* a -> b   c has all of a -> b -> c */
    assert_true(is);
    assert_ok(cx, cr_is_i_map(cx, split, chain, &is, &x, &y));
    assert_false(is);
    assert_int_equal(x, 0); /* the first that has one: a without parents, but not free of c */
    assert_int_equal(y, 2);
    assert_ok(cx, cr_network_set_table(cx, chain, 0, half));
    assert_ok(cx, cr_network_set_table(cx, chain, 1, copy));
    assert_ok(cx, cr_network_set_table(cx, chain, 2, copy));
    assert_ok(cx, cr_determined(cx, chain, given)); /* a known, b = a, c = b */
    assert_true(given[1] && given[2]);
    cr_network_free(cx, chain);
    cr_network_free(cx, split);
}

/* --- elimination ----------------------------------------------------------------------------- */

/* The edges that eliminating v would add. */
static size_t naive_fill(const bool edge[12][12], const bool *gone, size_t n, size_t v)
{
    size_t missing = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < a; b++)
            missing += !gone[a] && !gone[b] && edge[v][a] && edge[v][b] && !edge[a][b];
    return missing;
}

/* The cost of an order by plain elimination on a matrix; `fills`: each step must add as few edges
 * as any. */
static double naive_cost(const cr_graph *g, const size_t *states, const size_t *order, bool fills,
                         size_t *width)
{
    bool   edge[12][12] = { { false } }, gone[12] = { false };
    double total = 0;
    *width = 0;
    for (size_t v = 0; v < g->n; v++)
        for (size_t u = 0; u < g->n; u++) edge[v][u] = cr_graph_has(g, v, u);
    for (size_t i = 0; i < g->n; i++) {
        size_t v = order[i], degree = 0;
        for (size_t u = 0; fills && u < g->n; u++)
            assert_true(gone[u] || naive_fill((const bool(*)[12])edge, gone, g->n, v) <=
                                       naive_fill((const bool(*)[12])edge, gone, g->n, u));
        double size = (double)states[v];
        for (size_t u = 0; u < g->n; u++) {
            if (gone[u] || !edge[v][u]) continue;
            degree++;
            size *= (double)states[u];
            for (size_t w = 0; w < g->n; w++)
                if (!gone[w] && edge[v][w] && w != u) edge[u][w] = true;
        }
        gone[v] = true;
        if (degree > *width) *width = degree;
        total += size;
    }
    return total;
}

static void random_graph(cr_ctx *cx, cr_rng *r, size_t n, cr_graph *g)
{
    size_t a[80], b[80], m = cr_rng_below(r, 3 * n);
    for (size_t i = 0; i < m; i++) a[i] = cr_rng_below(r, n), b[i] = cr_rng_below(r, n);
    assert_ok(cx, cr_graph_new(cx, n, m, a, b, g));
}

TEST(orders_cost_what_they_say)
{
    for (uint64_t round = 0; round < 150; round++) {
        cr_rng   r = cr_rng_stream(43, round);
        size_t   n = 1 + cr_rng_below(&r, 12), states[12], group[12], width;
        cr_graph g;
        cr_order o, again;
        double   best = INFINITY;
        random_graph(cx, &r, n, &g);
        for (size_t v = 0; v < n; v++)
            states[v] = 2 + cr_rng_below(&r, 4), group[v] = cr_rng_below(&r, 2);
        for (int method = 6; method >= 0; method--) { /* the best is last */
            assert_ok(cx, cr_order_find(cx, &g, states, NULL, (cr_elimination)method, 1, &o));
            assert_relative(o.states, naive_cost(&g, states, o.order, method == 1, &width), 1e-9);
            assert_int_equal(o.width, width);
            if (method > 0)
                best = fmin(best, o.states);
            else
                assert_true(o.states <= best * (1 + 1e-9));
            assert_ok(cx, cr_order_cost(cx, &g, states, o.order, &again));
            assert_relative(again.states, o.states, 1e-9);
            cr_order_free(cx, &again);
            cr_order_free(cx, &o);
        }
        assert_ok(cx, cr_order_find(cx, &g, states, group, CR_ELIMINATE_BEST, 1, &o));
        for (size_t i = 1; i < n; i++) assert_true(group[o.order[i - 1]] <= group[o.order[i]]);
        cr_order_free(cx, &o);
        cr_graph_free(cx, &g);
    }
}

TEST(chordal_graphs_are_known)
{
    size_t found = 0;
    for (uint64_t round = 0; round < 200; round++) {
        cr_rng           r = cr_rng_stream(44, round);
        size_t           n = 1 + cr_rng_below(&r, 9), states[12], order[12], width;
        cr_graph         g;
        cr_order         o;
        cr_cluster_graph t;
        bool             chordal, holds;
        random_graph(cx, &r, n, &g);
        for (size_t v = 0; v < n; v++) states[v] = 2;
        assert_ok(cx, cr_graph_chordal(cx, &g, &chordal, order));
        /* chordal exactly when some order adds no edge; min-fill then finds one */
        assert_ok(cx, cr_order_find(cx, &g, states, NULL, CR_ELIMINATE_MIN_FILL, 0, &o));
        assert_ok(cx, cr_clique_tree(cx, &g, o.order, &t));
        bool complete = true; /* is every clique complete in g? */
        for (size_t c = 0; c < t.clusters; c++)
            for (size_t i = t.begin[c]; i < t.begin[c + 1]; i++)
                for (size_t k = t.begin[c]; k < i; k++)
                    complete &= cr_graph_has(&g, t.member[i], t.member[k]);
        assert_true(complete == chordal);
        assert_ok(cx, cr_cluster_graph_check(cx, &t, n, &holds));
        assert_true(holds);
        for (size_t c = 0; c < t.clusters; c++) /* maximal: none lies in another */
            for (size_t d = 0; d < t.clusters; d++) {
                size_t in = 0;
                for (size_t i = t.begin[c]; d != c && i < t.begin[c + 1]; i++)
                    for (size_t k = t.begin[d]; k < t.begin[d + 1]; k++)
                        in += t.member[i] == t.member[k];
                assert_true(d == c || in < t.begin[c + 1] - t.begin[c]);
            }
        assert_true(naive_cost(&g, states, order, chordal, &width) > 0);
        found += chordal;
        cr_cluster_graph_free(cx, &t);
        cr_order_free(cx, &o);
        cr_graph_free(cx, &g);
    }
    assert_in_range(found, 20, 180);
}

TEST(bethe_graphs_hold)
{
    cr_rng           r = cr_rng_stream(45, 0);
    cr_network      *net = generic_network(cx, &r, CR_NETWORK_BAYES);
    cr_cluster_graph g;
    bool             holds;
    assert_ok(cx, cr_bethe_graph(cx, net, &g));
    assert_int_equal(g.clusters, 2 * N);
    assert_ok(cx, cr_cluster_graph_check(cx, &g, N, &holds));
    assert_true(holds);
    g.b[0] = g.b[0] == g.clusters - 1 ? g.clusters - 2 : g.clusters - 1; /* to a wrong variable */
    assert_ok(cx, cr_cluster_graph_check(cx, &g, N, &holds));
    assert_false(holds);
    cr_cluster_graph_free(cx, &g);
    cr_network_free(cx, net);
}

static cr_status everything(cr_ctx *cx, void *unused)
{
    (void)unused;
    cr_status        st = CR_OK;
    cr_graph         g = { 0 };
    cr_order         o = { 0 };
    cr_cluster_graph t = { 0 };
    size_t           a[] = { 0, 1, 2, 3 }, b[] = { 1, 2, 3, 0 }, states[] = { 2, 2, 2, 2 };
    bool             chordal;
    CR_TRY(cr_graph_new(cx, 4, 4, a, b, &g));
    CR_TRY(cr_order_find(cx, &g, states, NULL, CR_ELIMINATE_BEST, 1, &o));
    CR_TRY(cr_graph_chordal(cx, &g, &chordal, NULL));
    CR_TRY(cr_clique_tree(cx, &g, o.order, &t));
done:
    cr_cluster_graph_free(cx, &t);
    cr_order_free(cx, &o);
    cr_graph_free(cx, &g);
    return st;
}

TEST(allocations_may_fail) { test_every_allocation_fails(everything, NULL); }
