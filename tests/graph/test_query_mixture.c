/* Soft evidence by samples: Jeffrey's rule within the errors that are told. */
#include "support.h"

#include "graph/files/network_file.h"
#include "graph/query/query.h"

static const cr_approximation SAMPLERS[] = {
    CR_APPROXIMATE_FORWARD,    CR_APPROXIMATE_REJECTION, CR_APPROXIMATE_LIKELIHOOD_WEIGHTING,
    CR_APPROXIMATE_IMPORTANCE, CR_APPROXIMATE_GIBBS,     CR_APPROXIMATE_ANNEALED
};
enum { METHODS = sizeof SAMPLERS / sizeof *SAMPLERS, SEEDS = 4 };

/* a -> b -> c, a -> d; a has three states. */
static cr_network *small(cr_ctx *cx)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    cr_network              *net;
    size_t                   parent[] = { 0, 0, 1, 0 };
    double                   table[4][6] = { { 0.2, 0.3, 0.5 },
                                             { 0.9, 0.1, 0.4, 0.6, 0.3, 0.7 },
                                             { 0.8, 0.2, 0.25, 0.75 },
                                             { 0.5, 0.5, 0.15, 0.85, 0.6, 0.4 } };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 4; v++)
        assert_ok(cx, cr_network_add_variable(cx, net, names[v], v ? 2 : 3, NULL, NULL));
    for (size_t v = 0; v < 4; v++) {
        if (v > 0) assert_ok(cx, cr_network_set_parents(cx, net, v, 1, &parent[v]));
        assert_ok(cx, cr_network_set_table(cx, net, v, table[v]));
    }
    return net;
}

static cr_query_options by(cr_approximation how, uint64_t seed)
{
    cr_query_options o = cr_query_defaults();
    o.method = (cr_query_method)(CR_QUERY_APPROXIMATE + (int)how);
    o.seed = seed;
    o.approximate.samples = how == CR_APPROXIMATE_GIBBS      ? 800
                            : how == CR_APPROXIMATE_ANNEALED ? 300
                                                             : 3000;
    o.approximate.steps = 10;
    return o;
}

/* How many errors each number is off: none by more than 4, and as a whole not by much more than 1
 * (errors may be told larger than they are, never much smaller). */
TEST(numbers_lie_within_their_errors)
{
    static const char *const texts[] = { "P(b=0 | c:={0:0.35, 1:0.65})",
                                         "P(b=0, d=1 | c:={0:0.35, 1:0.65})",
                                         "P(c=1, d=0 | a:={0:0.5, 1:0.1, 2:0.4})",
                                         "P(b=1 | d=0, c:={0:0.9, 1:0.1})" };
    cr_network              *net = small(cx);
    for (size_t m = 0; m < METHODS; m++) {
        double square = 0;
        for (size_t t = 0; t < 4; t++) {
            cr_query_answer exact = { 0 }, a = { 0 };
            assert_ok(cx, cr_query(cx, net, texts[t], NULL, NULL, &exact));
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                cr_query_options o = by(SAMPLERS[m], seed);
                assert_ok(cx, cr_query(cx, net, texts[t], NULL, &o, &a));
                double off = (a.number - exact.number) / a.error.se;
                assert_true(a.error.se > 0 && a.error.se < 0.2);
                assert_true(fabs(off) < 4);
                square += off * off / (4 * SEEDS);
                cr_query_answer_free(cx, &a);
            }
            cr_query_answer_free(cx, &exact);
        }
        assert_true(square < 2);
    }
    cr_network_free(cx, net);
}

/* All marginals with their errors; that of the variable itself is as it shall be, without error. */
TEST(marginals_and_tables)
{
    const char *all = "P(* | a:={0:0.5, 1:0.1, 2:0.4})",
               *two = "P(b, d | a:={0:0.5, 1:0.1, 2:0.4})";
    cr_network     *net = small(cx);
    cr_query_answer exact = { 0 }, a = { 0 }, table = { 0 };
    assert_ok(cx, cr_query(cx, net, all, NULL, NULL, &exact));
    assert_ok(cx, cr_query(cx, net, two, NULL, NULL, &table));
    for (size_t m = 0; m < METHODS; m++)
        for (uint64_t seed = 10; seed < 13; seed++) {
            cr_query_options o = by(SAMPLERS[m], seed);
            assert_ok(cx, cr_query(cx, net, all, NULL, &o, &a));
            for (size_t k = 0; k < exact.values; k++) {
                assert_true(fabs(a.value[k] - exact.value[k]) <= 4 * a.se[k] + 1e-12);
                if (k < 3) assert_close(a.value[k], exact.value[k], 1e-12);
            }
            cr_query_answer_free(cx, &a);
            if (SAMPLERS[m] == CR_APPROXIMATE_ANNEALED) continue;
            assert_ok(cx, cr_query(cx, net, two, NULL, &o, &a));
            for (size_t k = 0; k < 4; k++)
                assert_true(fabs(a.table.value[k] - table.table.value[k]) <= 4 * a.error.se);
            cr_query_answer_free(cx, &a);
        }
    cr_query_answer_free(cx, &table);
    cr_query_answer_free(cx, &exact);
    cr_network_free(cx, net);
}

/* The largest entry of the table that exact inference has. */
TEST(the_best_of_two)
{
    const char      *text = "argmax(b, d | a:={0:0.5, 1:0.1, 2:0.4})";
    cr_network      *net = small(cx);
    cr_query_answer  exact = { 0 }, a = { 0 };
    cr_query_options o = by(CR_APPROXIMATE_GIBBS, 3);
    assert_ok(cx, cr_query(cx, net, text, NULL, NULL, &exact));
    assert_ok(cx, cr_query(cx, net, text, NULL, &o, &a));
    assert_int_equal(a.states[0], exact.states[0]);
    assert_int_equal(a.states[1], exact.states[1]);
    assert_close(a.number, exact.number, 4 * a.error.se);
    cr_query_answer_free(cx, &a);
    assert_ok(cx, cr_query(cx, net, "I(b; * | a:={0:0.5, 1:0.1, 2:0.4})", NULL, &o, &a));
    cr_query_answer_free(cx, &exact);
    assert_ok(cx, cr_query(cx, net, "I(b; * | a:={0:0.5, 1:0.1, 2:0.4})", NULL, NULL, &exact));
    assert_int_equal(a.variable[0], exact.variable[0]);
    assert_close(a.value[0], exact.value[0], 0.05);
    cr_query_answer_free(cx, &a);
    cr_query_answer_free(cx, &exact);
    cr_network_free(cx, net);
}

TEST(what_cannot_be_is_refused)
{
    cr_network      *net = small(cx);
    cr_query_answer  a = { 0 };
    cr_query_options o = by(CR_APPROXIMATE_GIBBS, 3);
    double           certain[] = { 1, 0, 0 };
    assert_fails_with(
        cx, cr_query(cx, net, "P(d | c:={0:0.5, 1:0.5}, b:={0:0.5, 1:0.5})", NULL, &o, &a),
        CR_EUNSUPPORTED, "sampling cannot fit soft evidence on several variables");
    assert_ok(cx, cr_network_set_table(cx, net, 0, certain));
    assert_fails_with(cx, cr_query(cx, net, "P(d | a:={0:0.5, 1:0.5})", NULL, &o, &a), CR_EDATA,
                      "a=1 should have probability 0.5, but it is impossible");
    assert_fails_with(cx, cr_query(cx, net, "P(d=0 | c=1, a:={0:0.5, 1:0.5})", NULL, &o, &a),
                      CR_EDATA, "impossible with the rest of the evidence");
    cr_network_free(cx, net);
}

static cr_status everything(cr_ctx *cx, void *net)
{
    cr_status        st = CR_OK;
    cr_query_answer  a = { 0 };
    cr_query_options o = by(CR_APPROXIMATE_LIKELIHOOD_WEIGHTING, 0);
    o.approximate.samples = 20;
    CR_TRY(cr_query(cx, net, "P(b=0 | a:={0:0.5, 1:0.5})", NULL, &o, &a));
    cr_query_answer_free(cx, &a);
    CR_TRY(cr_query(cx, net, "argmax(b, d | a:={0:0.5, 1:0.5})", NULL, &o, &a));
done:
    cr_query_answer_free(cx, &a);
    return st;
}

TEST(allocations_may_fail)
{
    cr_network *net = small(cx);
    test_every_allocation_fails(everything, net);
    cr_network_free(cx, net);
}
