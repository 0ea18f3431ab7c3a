/* test_bn_searches.c -- the searches of bn by their options: what each finds on rows of a known network, strengths
 * against sums over all graphs, proofs, rules, limits, and what is refused. */
#include "../fixture.h"

#include "base/context_internal.h"
#include "base/rng.h"
#include "graph/learn/pdag.h"
#include "models/core/model_internal.h"
#include "models/network/bn.h"

/* rain -> wet <- tap, wet -> slip, slip -> fall; alone. */
enum { COLUMNS = 6 };

static cr_table *draw_rows(cr_ctx *cx, uint64_t seed, size_t n, double gaps)
{
    text_buffer b = text_new(30 * (n + 1));
    text_put(&b, "rain,tap,wet,slip,fall,alone\n");
    for (size_t i = 0; i < n; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        bool   x[COLUMNS];
        x[0] = cr_rng_uniform(&r) < 0.4, x[1] = cr_rng_uniform(&r) < 0.5;
        x[2] = (cr_rng_uniform(&r) < 0.1) != (x[0] || x[1]);
        x[3] = (cr_rng_uniform(&r) < 0.2) != x[2];
        x[4] = (cr_rng_uniform(&r) < 0.2) != x[3];
        x[5] = cr_rng_uniform(&r) < 0.5;
        for (size_t c = 0; c < COLUMNS; c++)
            text_put(&b, "%s%s",
                     cr_rng_uniform(&r) < gaps ? ""
                     : x[c]                    ? "y"
                                               : "n",
                     c + 1 < COLUMNS ? "," : "\n");
    }
    cr_table *t = table_of_text(cx, "rows.csv", b.at);
    free(b.at);
    return t;
}

/* The class of the network of a model, as far as arcs are compelled. */
static cri_pdag class_of(cr_ctx *cx, const cr_model *m)
{
    const cri_bn *bn = m->state;
    cri_pdag      g;
    assert_ok(cx, cri_pdag_of_network(cx, bn->net, &g));
    for (size_t v = 0, arc = 0; v < g.n; v++) {
        size_t        n;
        const size_t *parents = cr_network_parents(bn->net, v, &n);
        for (size_t k = 0; k < n; k++, arc++)
            if (bn->compelled[arc] == 0) cri_pdag_set_line(&g, parents[k], v);
    }
    return g;
}

static void add_truth(cri_pdag *g)
{
    cri_pdag_set_arrow(g, 0, 2), cri_pdag_set_arrow(g, 1, 2);
    cri_pdag_set_arrow(g, 2, 3), cri_pdag_set_arrow(g, 3, 4); /* all of them compelled */
}

/* Hill climbing alone ends elsewhere here: at wet -> rain, wet -> tap, tap -> rain. */
TEST(all_find_the_class)
{
    static const char *const settings[] = { "structure=tabu",
                                            "structure=ges",
                                            "structure=exact",
                                            "structure=pc alpha=0.001",
                                            "structure=pc test=mi colliders=majority",
                                            "structure=pc test=x2 alpha=0.001 max_given=2",
                                            "structure=mmhc alpha=0.001",
                                            "structure=order-exact",
                                            "structure=order-mcmc samples=400",
                                            "structure=partition-mcmc samples=400 criterion=bdeu:1",
                                            "structure=tabu bootstrap=20 average=true",
                                            "structure=pc alpha=0.001 bootstrap=10 average=true" };
    cr_table                *t = draw_rows(cx, 15, 4000, 0);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        cri_pdag truth, found = class_of(cx, fit(cx, "bn", t, settings[i]));
        assert_ok(cx, cri_pdag_new(cx, COLUMNS, &truth));
        add_truth(&truth);
        if (cri_pdag_distance(&truth, &found) > 0) fail_msg("%s", settings[i]);
        cri_pdag_free(cx, &truth);
        cri_pdag_free(cx, &found);
    }
}

TEST(trees_join_all_but_what_is_alone)
{
    cr_table     *t = draw_rows(cx, 6, 2000, 0);
    const cri_bn *m = fit(cx, "bn", t, "structure=chow-liu")->state;
    assert_int_equal(m->arcs, COLUMNS - 1); /* a tree; of the smallest information, too */
    for (size_t i = 0; i < m->arcs; i++) assert_true(m->compelled[i] == 0);
    cr_model *c = fit(cx, "bn", t, "structure=tan target=slip");
    m = c->state;
    for (size_t v = 0; v < COLUMNS; v++) {
        size_t        n;
        const size_t *parents = cr_network_parents(m->net, v, &n);
        assert_true(n <= 2);
        if (v == m->target)
            assert_int_equal(n, 0);
        else
            assert_true(parents[0] == m->target || (n == 2 && parents[1] == m->target));
    }
}

/* Strengths of order-exact are those of the chains, of the posterior as of the averages. */
TEST(strengths_are_probabilities)
{
    cr_table *t = draw_rows(cx, 7, 250, 0);
    json_t   *exact = describe(cx, fit(cx, "bn", t, "structure=order-exact criterion=bdeu:1"));
    json_t   *drawn =
        describe(cx, fit(cx, "bn", t, "structure=order-mcmc samples=4000 criterion=bdeu:1"));
    json_t *a = json_object_get(exact, "arcs"), *b = json_object_get(drawn, "arcs"), *arc;
    size_t  i;
    assert_int_equal(json_array_size(a), json_array_size(b));
    json_array_foreach(a, i, arc)
    {
        assert_close(number_of(json_array_get(b, i), "strength"), number_of(arc, "strength"), 0.03);
        assert_close(number_of(json_array_get(b, i), "direction"), number_of(arc, "direction"),
                     0.06);
        assert_true(number_of(arc, "strength") > 0.5);
    }
    assert_true(statistic(drawn, "rhat") < 1.05);
    assert_true(statistic(drawn, "replicates") == 4000);
}

TEST(exact_proves_its_score)
{
    cr_table                *t = draw_rows(cx, 8, 200, 0);
    static const char *const score[] = { "bic", "aic", "bdeu:2", "k2", "qnml" };
    for (size_t i = 0; i < 5; i++) {
        char settings[64], name[32];
        snprintf(settings, sizeof settings, "structure=exact criterion=%s", score[i]);
        json_t *d = describe(cx, fit(cx, "bn", t, settings));
        snprintf(name, sizeof name, "score.%.*s", (int)strcspn(score[i], ":"), score[i]);
        assert_close(statistic(d, "score.bound"), statistic(d, name), 1e-10);
        snprintf(settings, sizeof settings, "structure=tabu criterion=%s", score[i]);
        assert_true(statistic(describe(cx, fit(cx, "bn", t, settings)), name) <=
                    statistic(d, "score.bound") + 1e-8);
    }
}

/* Rules narrow the class; a variable that was set points its arcs. */
TEST(rules_and_interventions_point_arcs)
{
    cr_table *t = table_of_text(cx, "two.csv",
                                "a,b,set\nx,u,\nx,u,\ny,v,\ny,v,\nx,u,\ny,v,\ny,v,\nx,u,\nx,v,a\n"
                                "y,u,a\nx,u,a\ny,v,a\nx,u,b\nx,v,b\n");
    static const struct {
        const char *settings;
        bool        told;
    } cases[] = {
        { "features=a,b structure=exact criterion=loglik require=a>b", true },
        { "features=a,b structure=tabu criterion=loglik", false },
        { "features=a,b structure=tabu criterion=loglik order=a,b", true },
        { "features=a,b structure=tabu criterion=loglik intervention=set", true },
    };
    for (size_t i = 0; i < 4; i++) {
        const cri_bn *m = fit(cx, "bn", t, cases[i].settings)->state;
        assert_int_equal(m->arcs, 1);
        assert_true((m->compelled[0] == 1) == cases[i].told);
    }
}

/* The time limit ends each search with a network, at whatever moment. */
TEST(time_may_run_out)
{
    static const char *const settings[] = { "structure=ges",
                                            "structure=exact",
                                            "structure=pc",
                                            "structure=order-mcmc",
                                            "structure=partition-mcmc samples=400",
                                            "structure=pc bootstrap=50" };
    cr_table                *t = draw_rows(cx, 9, 300, 0);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (uint64_t nth = 1; nth <= 40; nth += 13) {
            cri_ctx_run_out_at(cx, nth);
            cr_model *m = NULL;
            assert_ok(cx, try_fit(cx, "bn", t, settings[i], &m));
            cri_ctx_run_out_at(cx, 0);
            cr_model_free(cx, m);
        }
}

TEST(what_cannot_be_is_refused_in_words)
{
    static const struct {
        const char *settings, *text;
    } cases[] = {
        { "structure=tan", "needs a target" },
        { "structure=ges require=rain>wet", "cannot keep to" },
        { "structure=ges criterion=k2", "same for all members" },
        { "structure=tan target=fall forbid=rain>wet", "cannot keep to" },
        { "structure=pc intervention=alone features=rain,tap", "intervention" },
        { "structure=order-mcmc bootstrap=5", "by itself" },
        { "structure=order-exact criterion=loglik", "no probabilities" },
        { "structure=chow-liu require=rain>tap,tap>wet,rain>wet", "no tree" },
    };
    cr_table *t = draw_rows(cx, 1, 30, 0);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_model *m = NULL;
        cr_status st = try_fit(cx, "bn", t, cases[k].settings, &m);
        if (st == CR_OK || !strstr(cr_error(cx), cases[k].text))
            fail_msg("%s: %s", cases[k].settings, st == CR_OK ? "fits" : cr_error(cx));
    }
    cr_model *m = NULL;
    assert_fails_with(cx,
                      try_fit(cx, "bn", draw_rows(cx, 1, 30, 0.1), "structure=pc bootstrap=5", &m),
                      CR_EUNSUPPORTED, "missing");
}

/* Odd columns: one level, all equal, copies; more columns than rows. */
TEST(odd_columns_are_no_trouble)
{
    static const char *const structures[] = { "ges",        "exact",         "pc",
                                              "mmhc",       "chow-liu",      "order-exact",
                                              "order-mcmc", "partition-mcmc" };
    cr_table                *t =
        table_of_text(cx, "odd.csv", "a,b,same,copy,one\nx,u,k,x,p\ny,v,k,y,q\ny,u,k,y,r\n");
    for (size_t i = 0; i < sizeof structures / sizeof *structures; i++) {
        char settings[64];
        snprintf(settings, sizeof settings, "samples=40 structure=%s", structures[i]);
        const cri_bn *m = fit(cx, "bn", t, settings)->state;
        assert_int_equal(cr_network_size(m->net), 5);
        for (size_t k = 0; k < m->arcs; k++)
            assert_true(m->strength[k] >= 0 && m->strength[k] <= 1 && m->direction[k] >= 0 &&
                        m->direction[k] <= 1);
    }
}

/* Cells that are missing are completed between searches. */
TEST(gaps_are_completed)
{
    cr_table *t = draw_rows(cx, 11, 1500, 0.05);
    cri_pdag  truth, found = class_of(cx, fit(cx, "bn", t, "structure=ges"));
    assert_ok(cx, cri_pdag_new(cx, COLUMNS, &truth));
    add_truth(&truth);
    assert_int_equal(cri_pdag_distance(&truth, &found), 0);
    cri_pdag_free(cx, &truth);
    cri_pdag_free(cx, &found);
}

/* Beyond what hill climbing and tabu search of others reach on samples of alarm. */
TEST(classes_of_alarm)
{
    static const struct {
        const char *file;
        double      least; /* BIC of the network that the rows were drawn from */
    } samples[] = { { "bn/learning/alarm_5000.csv", -54364.82 },
                    { "bn/learning/alarm_20000.csv", -211368.39 } };
    for (size_t i = 0; i < 2; i++) {
        cr_table *t = read_table(cx, test_extra_data(samples[i].file));
        json_t   *d = describe(cx, fit(cx, "bn", t, "structure=ges"));
        assert_true(statistic(d, "score.bic") > samples[i].least);
    }
}
