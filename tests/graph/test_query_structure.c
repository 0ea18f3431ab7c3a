/* Questions to the graph, against matrices of its arrows. */
#include "random_network.h"

#include "graph/files/network_file.h"
#include "graph/query/query.h"

#include <stdlib.h>
#include <unistd.h>

enum { MOST = 9 };

typedef struct arrows {
    size_t n;
    bool   to[MOST][MOST], path[MOST][MOST], near[MOST][MOST]; /* near: in the moral graph */
} arrows;

static arrows arrows_of(const cr_network *net)
{
    arrows a = { .n = cr_network_size(net) };
    for (size_t v = 0; v < a.n; v++) {
        size_t        n;
        const size_t *p = cr_network_parents(net, v, &n);
        for (size_t i = 0; i < n; i++) {
            a.to[p[i]][v] = a.path[p[i]][v] = a.near[p[i]][v] = a.near[v][p[i]] = true;
            for (size_t k = 0; k < i; k++) a.near[p[i]][p[k]] = a.near[p[k]][p[i]] = true;
        }
    }
    for (size_t k = 0; k < a.n; k++)
        for (size_t i = 0; i < a.n; i++)
            for (size_t j = 0; j < a.n; j++) a.path[i][j] |= a.path[i][k] && a.path[k][j];
    return a;
}

static bool is_related(const arrows *a, cr_question_kind what, size_t u, size_t x)
{
    switch (what) {
    case CR_QUESTION_PARENTS:
        return a->to[u][x];
    case CR_QUESTION_CHILDREN:
        return a->to[x][u];
    case CR_QUESTION_ANCESTORS:
        return a->path[u][x];
    case CR_QUESTION_DESCENDANTS:
        return a->path[x][u];
    default:
        return a->near[u][x];
    }
}

TEST(relatives)
{
    static const char *const names[] = { "parents", "children", "ancestors", "descendants",
                                         "blanket" };
    size_t                   found = 0;
    for (uint64_t round = 0; round < 40; round++) {
        cr_rng      r = cr_rng_stream(61, round);
        cr_network *net = random_network(cx, &r, CR_NETWORK_BAYES, 2 + cr_rng_below(&r, MOST - 1));
        arrows      m = arrows_of(net);
        for (int what = 0; what < 5; what++)
            for (size_t x = 0; x < m.n; x++) {
                size_t          y = (x + 1) % m.n, k = 0;
                bool            two = x % 2;
                cr_query_answer a = { 0 };
                char            text[64];
                snprintf(text, sizeof text, two ? "%s(v%zu, v%zu)" : "%s(v%zu)", names[what], x, y);
                assert_ok(cx, cr_query(cx, net, text, NULL, NULL, &a));
                assert_string_equal(a.method, "graph");
                assert_true(a.exact);
                for (size_t u = 0; u < m.n; u++) {
                    bool is =
                        is_related(&m, (cr_question_kind)(CR_QUESTION_PARENTS + what), u, x) ||
                        (two &&
                         is_related(&m, (cr_question_kind)(CR_QUESTION_PARENTS + what), u, y));
                    if (u == x || (two && u == y) || !is) continue;
                    assert_true(k < a.n && a.variable[k] == u);
                    k++;
                }
                assert_int_equal(k, a.n);
                found += k;
                cr_query_answer_free(cx, &a);
            }
        cr_network_free(cx, net);
    }
    assert_true(found > 300);
}

static bool holds(const cr_query_answer *a, size_t set, size_t v)
{
    for (size_t i = a->begin[set]; i < a->begin[set + 1]; i++)
        if (a->states[i] == v) return true;
    return false;
}

TEST(orders_edges_and_cliques)
{
    size_t chordal = 0;
    for (uint64_t round = 0; round < 60; round++) {
        cr_rng          r = cr_rng_stream(62, round);
        cr_network     *net = random_network(cx, &r, CR_NETWORK_BAYES, 1 + cr_rng_below(&r, MOST));
        arrows          m = arrows_of(net);
        size_t          place[MOST], edges = 0;
        cr_query_answer a = { 0 };
        assert_ok(cx, cr_query(cx, net, "order()", NULL, NULL, &a));
        assert_int_equal(a.n, m.n);
        for (size_t i = 0; i < m.n; i++) place[a.variable[i]] = i;
        for (size_t u = 0; u < m.n; u++)
            for (size_t v = 0; v < m.n; v++) assert_true(!m.to[u][v] || place[u] < place[v]);
        cr_query_answer_free(cx, &a);
        assert_ok(cx, cr_query(cx, net, "moral()", NULL, NULL, &a));
        for (size_t u = 0; u < m.n; u++)
            for (size_t v = u + 1; v < m.n; v++) edges += m.near[u][v];
        assert_int_equal(a.rows, edges);
        for (size_t i = 0; i < a.rows; i++) {
            assert_int_equal(a.begin[i + 1] - a.begin[i], 2);
            assert_true(m.near[a.states[2 * i]][a.states[2 * i + 1]]);
        }
        cr_query_answer_free(cx, &a);
        /* every edge lies in a clique; all cliques are complete just when the graph is chordal */
        bool complete = true, covered = true;
        assert_ok(cx, cr_query(cx, net, "cliques()", NULL, NULL, &a));
        for (size_t u = 0; u < m.n; u++)
            for (size_t v = 0; v < m.n; v++) {
                bool in = false;
                for (size_t i = 0; i < a.rows; i++) in |= holds(&a, i, u) && holds(&a, i, v);
                if (u == v || m.near[u][v]) covered &= in;
                if (u != v && in) complete &= m.near[u][v];
            }
        assert_true(covered);
        cr_query_answer_free(cx, &a);
        assert_ok(cx, cr_query(cx, net, "chordal()", NULL, NULL, &a));
        assert_true(a.holds == complete);
        chordal += a.holds;
        cr_query_answer_free(cx, &a);
        cr_network_free(cx, net);
    }
    assert_in_range(chordal, 10, 59);
}

/* Chains a-b-c in all directions: only the collider differs; and the other file has its variables
 * in another order. */
static cr_network *three(cr_ctx *cx, const char *names, const char *arcs)
{
    cr_network *net;
    size_t      parents[3][2], n[3] = { 0 };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 3; v++) {
        char name[2] = { names[v], '\0' };
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
    }
    for (; *arcs; arcs += 2) {
        size_t from = (size_t)(strchr(names, arcs[0]) - names);
        size_t to = (size_t)(strchr(names, arcs[1]) - names);
        parents[to][n[to]++] = from;
    }
    for (size_t v = 0; v < 3; v++) {
        double half[8] = { .5, .5, .5, .5, .5, .5, .5, .5 };
        assert_ok(cx, cr_network_set_parents(cx, net, v, n[v], parents[v]));
        assert_ok(cx, cr_network_set_table(cx, net, v, half));
    }
    return net;
}

TEST(i_maps)
{
    static const struct {
        const char *map, *net;
        bool        is;
    } cases[] = {
        { "abbc", "cbba", true },  { "abbc", "babc", true },    { "abbc", "abcb", false },
        { "abcb", "abbc", false }, { "abbcac", "abcb", true },  { "", "ab", false },
        { "ab", "", true },        { "abcb", "abcbac", false },
    };
    char path[64], text[128];
    snprintf(path, sizeof path, "/tmp/credence-imap-%ld.bif", (long)getpid());
    snprintf(text, sizeof text, "imap(%s)", path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_network     *map = three(cx, "abc", cases[i].map), *net = three(cx, "cab", cases[i].net);
        cr_query_answer a = { 0 };
        assert_ok(cx, cr_network_write(cx, net, path, CR_FORMAT_AUTO));
        assert_ok(cx, cr_query(cx, map, text, NULL, NULL, &a));
        assert_true(a.holds == cases[i].is);
        assert_true(a.holds == (a.n == 0));
        cr_query_answer_free(cx, &a);
        cr_network_free(cx, map);
        cr_network_free(cx, net);
    }
    cr_network     *net = three(cx, "abd", ""), *map = three(cx, "abc", "");
    cr_query_answer a = { 0 };
    assert_ok(cx, cr_network_write(cx, net, path, CR_FORMAT_AUTO));
    assert_fails_with(cx, cr_query(cx, map, text, NULL, NULL, &a), CR_EDATA,
                      "is not a variable of this network");
    remove(path);
    assert_int_equal(cr_query(cx, map, text, NULL, NULL, &a), CR_EIO);
    cr_network_free(cx, net);
    cr_network_free(cx, map);
}

TEST(what_is_wrong)
{
    static const struct {
        const char *text, *message;
    } cases[] = { { "parents()", "a variable is expected here" },
                  { "parents(v0 | v1=0)", "takes no evidence" },
                  { "order(v0)", "expected ')' after order(" },
                  { "imap()", "the file of the other network is expected here" },
                  { "moral(", "expected ')' at the end" },
                  { "mb(v0)", "there is no question 'mb'" } };
    cr_rng          r = cr_rng_stream(63, 0);
    cr_network     *net = random_network(cx, &r, CR_NETWORK_BAYES, 4);
    cr_network     *markov = random_network(cx, &r, CR_NETWORK_MARKOV, 4);
    cr_query_answer a = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails_with(cx, cr_query(cx, net, cases[i].text, NULL, NULL, &a), CR_EARG,
                          cases[i].message);
    assert_fails_with(cx, cr_query(cx, markov, "parents(v0)", NULL, NULL, &a), CR_EARG,
                      "a Markov network has none");
    assert_fails_with(cx, cr_query(cx, markov, "order()", NULL, NULL, &a), CR_EARG,
                      "a Markov network has none");
    assert_ok(cx, cr_query(cx, markov, "blanket(v0)", NULL, NULL, &a));
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, net);
    cr_network_free(cx, markov);
}

static cr_status everything(cr_ctx *cx, void *net)
{
    static const char *const texts[] = { "descendants(v0)", "blanket(v1)", "order()",
                                         "moral()",         "cliques()",   "chordal()" };
    cr_status                st = CR_OK;
    for (size_t i = 0; i < 6; i++) {
        cr_query_answer a = { 0 };
        CR_TRY(cr_query(cx, net, texts[i], NULL, NULL, &a));
        cr_query_answer_free(cx, &a);
    }
done:
    return st;
}

TEST(allocations_may_fail)
{
    cr_rng      r = cr_rng_stream(64, 0);
    cr_network *net = random_network(cx, &r, CR_NETWORK_BAYES, 4);
    test_every_allocation_fails(everything, net);
    cr_network_free(cx, net);
}
