/* What each variable would tell: I(x; * | w, e) is I(x; v | w, e) of each, whoever computes it. */
#include "support.h"

#include "graph/query/query.h"
#include "random_network.h"

#include <math.h>

/* Every variable that is listed, against the question about it alone, from the definition. */
static void compare(cr_ctx *cx, const cr_network *net, const cr_findings *known, const char *given,
                    const cr_query_answer *a)
{
    cr_query_options o = cr_query_defaults();
    o.method = CR_QUERY_ENUMERATE;
    for (size_t i = 0; i < a->n; i++) {
        char            text[128];
        cr_query_answer one = { 0 };
        snprintf(text, sizeof text, "I(v0; v%zu%s)", a->variable[i], given);
        assert_ok(cx, cr_query(cx, net, text, known, &o, &one));
        assert_close(a->value[i], one.number, 1e-12);
        assert_true(i == 0 || a->value[i] <= a->value[i - 1]);
        cr_query_answer_free(cx, &one);
    }
}

TEST(all_at_once_is_one_by_one)
{
    static const cr_query_method methods[] = { CR_QUERY_AUTO, CR_QUERY_JT, CR_QUERY_VE };
    cr_rng                       r = cr_rng_stream(12, 0);
    size_t                       answered = 0;
    for (size_t i = 0; i < 24; i++) {
        cr_network  *net = random_network(cx, &r, i % 3 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV, 7);
        cr_evidence *e = random_evidence(cx, &r, net);
        cr_findings  known = { 0 };
        const char  *given = i % 2 ? " | v1" : "";
        char         text[64];
        snprintf(text, sizeof text, "I(v0; *%s)", given);
        for (size_t v = 0; v < 7; v++)
            if (cr_evidence_likelihood(e, v))
                assert_ok(cx, cr_findings_add(cx, &known, net, CR_FINDING_VIRTUAL, v,
                                              cr_evidence_likelihood(e, v)));
        for (size_t m = 0; m < 3; m++) {
            cr_query_options o = cr_query_defaults();
            cr_query_answer  a = { 0 };
            o.method = methods[m];
            if (cr_query(cx, net, text, &known, &o, &a) != CR_OK) continue; /* impossible */
            assert_int_equal(a.n, i % 2 ? 5 : 6);
            assert_true(a.exact);
            compare(cx, net, &known, given, &a);
            cr_query_answer_free(cx, &a);
            answered++;
        }
        cr_evidence_free(cx, e);
        cr_findings_free(cx, &known);
        cr_network_free(cx, net);
    }
    assert_true(answered > 30);
}

/* A chain of n copies with errors; v0 is uniform. */
static cr_network *chain(cr_ctx *cx, size_t n)
{
    cr_network  *net;
    const double copy[] = { 0.9, 0.1, 0.2, 0.8 }, even[] = { 0.5, 0.5 };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < n; v++) {
        char   name[32];
        size_t parent = v - 1;
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, 2, NULL, NULL));
        assert_ok(cx, cr_network_set_parents(cx, net, v, v > 0, &parent));
        assert_ok(cx, cr_network_set_table(cx, net, v, v ? copy : even));
    }
    return net;
}

/* Messages are exact on a chain, and two runs do for all variables. */
TEST(messages_need_few_runs)
{
    cr_network      *net = chain(cx, 60);
    cr_query_options o = cr_query_defaults();
    cr_query_answer  exact = { 0 }, about = { 0 };
    assert_ok(cx, cr_query(cx, net, "I(v0; *)", NULL, NULL, &exact));
    o.method = (cr_query_method)(CR_QUERY_APPROXIMATE + (int)CR_APPROXIMATE_BP);
    assert_ok(cx, cr_query(cx, net, "I(v0; *)", NULL, &o, &about));
    assert_false(about.exact);
    assert_true(about.error.converged);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(about.variable[i], i + 1); /* the nearest tells most */
        assert_close(about.value[i], exact.value[i], 1e-9);
    }
    cr_query_answer_free(cx, &exact);
    cr_query_answer_free(cx, &about);
    cr_network_free(cx, net);
}

static cr_status ask_informative(cr_ctx *cx, void *user)
{
    cr_query_answer a = { 0 };
    cr_status       st = cr_query(cx, user, "I(v0; * | v1)", NULL, NULL, &a);
    cr_query_answer_free(cx, &a);
    return st;
}

TEST(allocations_may_fail)
{
    cr_network *net = chain(cx, 6);
    test_every_allocation_fails(ask_informative, net);
    cr_network_free(cx, net);
}

/* v0 rare, v1 of three states, v2 rings for either, v3 hears v2. */
static cr_network *alarm_network(cr_ctx *cx)
{
    static const double prior0[] = { 0.9, 0.1 }, prior1[] = { 0.6, 0.3, 0.1 };
    static const double ring[] = { 0.95, 0.05, 0.7, 0.3, 0.2, 0.8, 0.3, 0.7, 0.15, 0.85, 0.1, 0.9 };
    static const double hear[] = { 0.85, 0.15, 0.2, 0.8 };
    static const size_t causes[] = { 0, 1 }, two = 2;
    static const double *const table[] = { prior0, prior1, ring, hear };
    cr_network                *net;
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < 4; v++) {
        char name[8];
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, v == 1 ? 3 : 2, NULL, NULL));
    }
    assert_ok(cx, cr_network_set_parents(cx, net, 2, 2, causes));
    assert_ok(cx, cr_network_set_parents(cx, net, 3, 1, &two));
    for (size_t v = 0; v < 4; v++) assert_ok(cx, cr_network_set_table(cx, net, v, table[v]));
    return net;
}

/* Over seeds, (estimate - exact) / standard error has a root mean square of about one: of H and I,
 * of one variable and of several, by samples that are independent and by chains. */
TEST(standard_errors_are_those_of_the_number)
{
    static const char *const questions[] = { "H(v0 | v3=1)", "H(v0 | v1, v3=1)", "I(v0; v1 | v3=1)",
                                             "H(v0, v1, v2)", "I(v0; v2 | v1, v3=1)" };
    static const cr_approximation how[] = { CR_APPROXIMATE_LIKELIHOOD_WEIGHTING,
                                            CR_APPROXIMATE_IMPORTANCE, CR_APPROXIMATE_GIBBS };
    cr_network                   *net = alarm_network(cx);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        cr_query_options o = cr_query_defaults();
        cr_query_answer  exact = { 0 };
        o.method = CR_QUERY_ENUMERATE;
        assert_ok(cx, cr_query(cx, net, questions[i], NULL, &o, &exact));
        o.approximate.samples = 4000;
        for (size_t m = 0; m < sizeof how / sizeof *how; m++) {
            double sum = 0;
            o.method = (cr_query_method)(CR_QUERY_APPROXIMATE + (int)how[m]);
            for (o.seed = 1; o.seed <= 20; o.seed++) {
                cr_query_answer a = { 0 };
                assert_ok(cx, cr_query(cx, net, questions[i], NULL, &o, &a));
                double z = (a.number - exact.number) / a.error.se;
                sum += z * z / 20;
                cr_query_answer_free(cx, &a);
            }
            if (!(sqrt(sum) > 0.5 && sqrt(sum) < 2))
                fail_msg("%s by %s: rms z %g", questions[i], cr_approximation_name(how[m]),
                         sqrt(sum));
        }
        cr_query_answer_free(cx, &exact);
    }
    cr_network_free(cx, net);
}
