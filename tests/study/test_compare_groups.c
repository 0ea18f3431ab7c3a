/* test_compare_groups.c -- groups compared by evidence: by hand, by closed forms, and what is
 * refused. */
#include "../models/fixture.h"
#include "math/special/special.h"
#include "prob/dist/dist.h"
#include "study/compare_groups.h"

static cr_status try_compare(cr_ctx *cx, const char *model, const cr_table *t, const char *by,
                             double odds, const char *settings, cr_group_comparison *out)
{
    setting_list     s;
    char             column[64];
    cr_group_options o = { .by = column, .prior_odds = odds };
    snprintf(column, sizeof column, "%s", by);
    split_settings(settings, &s);
    return cr_compare_groups(cx, model, t, s.list, s.n, &o, out);
}

/* B(a + n1, b + n0) / B(a, b) of each group against that of all. */
TEST(proportions)
{
    cr_group_comparison c = { 0 };
    cr_table           *t =
        table_of_text(cx, "t.csv", "arm,better,n\nB,yes,25\nA,yes,14\nA,no,26\nB,no,15\n");
    assert_ok(cx, try_compare(cx, "beta-bernoulli", t, "arm", 0.25, "weights=n", &c));
    double separate = cr_lbeta(15, 27) + cr_lbeta(26, 16), pooled = cr_lbeta(40, 42);
    assert_close(c.pooled_log_evidence, pooled, 1e-12);
    assert_close(c.separate_log_evidence, separate, 1e-12);
    assert_close(c.log_bayes_factor, separate - pooled, 1e-12);
    double odds = 0.25 * exp(separate - pooled);
    assert_close(c.probability, odds / (1 + odds), 1e-12);
    assert_int_equal(c.n, 2);
    assert_string_equal(c.groups[0].name, "A");
    assert_string_equal(c.groups[1].name, "B");
    assert_int_equal(c.evidence, CR_EVIDENCE_EXACT);
    cr_group_comparison_free(cx, &c);
}

/* Groups by numbers, more than two, rows without a group; a model with a target. */
TEST(kinds_of_groups)
{
    warnings            w = { 0 };
    cr_group_comparison c = { 0 };
    cr_table           *t =
        table_of_text(cx, "t.csv", "g,x,y\n10,1,2\n2,3,1\n2,2,5\n,9,9\n10,7,4\n3,5,5\n3,4,6\n");
    cr_ctx_set_log(cx, keep_warning, &w);
    assert_ok(cx, try_compare(cx, "poisson", t, "g", 1, "prior=shape=2,rate=0.5 features=x,g", &c));
    assert_int_equal(c.n, 3);
    assert_string_equal(c.groups[0].name, "2");
    assert_string_equal(c.groups[2].name, "10");
    assert_int_equal(cr_model_get_report(c.pooled)->rows, 6);
    assert_int_equal(cr_design_columns(cr_model_get_design(c.pooled)), 1); /* not the groups */
    assert_non_null(strstr(w.text, "1 of 7 rows of"));
    cr_group_comparison_free(cx, &c);
    assert_ok(cx, try_compare(cx, "bayes-linear", t, "g", 1,
                              "target=y optimize=none noise=1 alpha=1 intercept=false", &c));
    assert_true(isfinite(c.log_bayes_factor));
    cr_group_comparison_free(cx, &c);
    cr_ctx_set_log(cx, NULL, NULL);
}

TEST(refusals)
{
    cr_group_comparison c = { 0 };
    cr_table *t = table_of_text(cx, "t.csv", "g,one,x,k\nu,a,1.5,1\nu,a,3,2\nv,a,2,1\nv,a,0.5,3\n");
    const char *settings = "features=x prior=mean0=1,kappa0=1,nu0=2,var0=1";
    assert_fails_with(cx, try_compare(cx, "normal", t, "gg", 1, settings, &c), CR_EDATA, "'gg'");
    assert_fails_with(cx, try_compare(cx, "normal", t, "one", 1, settings, &c), CR_EDATA,
                      "has 1 group, but a comparison needs two");
    assert_fails_with(cx, try_compare(cx, "normal", t, "g", 1, "features=x", &c), CR_EUNSUPPORTED,
                      "no log evidence");
    assert_fails_with(cx, try_compare(cx, "dirichlet-categorical", t, "g", 1, "features=k", &c),
                      CR_EDATA, "does not have the same parameters");
    assert_fails_with(cx, try_compare(cx, "nomal", t, "g", 1, settings, &c), CR_EARG, "no model");
    assert_fails_with(cx,
                      try_compare(cx, "poisson", t, "g", 1, "features=x prior=shape=1,rate=1", &c),
                      CR_EDATA, "needs a whole number");
    assert_int_equal(c.n, 0);
}

/* P(A > B): normals by their difference, equal ones by symmetry, betas by a sum over counts. */
TEST(greater)
{
    const cr_dist_class *normal = cr_dist_find(cx, "normal"), *beta = cr_dist_find(cx, "beta");
    const cr_dist_class *t = cr_dist_find(cx, "student-t");
    double               a[] = { 1.3, 0.7 }, b[] = { 0.4, 1.9 }, p;
    assert_ok(cx, cr_probability_greater(cx, normal, a, 2, normal, b, 2, &p));
    assert_close(p, cr_norm_cdf(0.9 / hypot(0.7, 1.9)), 1e-10);
    double s[] = { 3, 2, 1.5 };
    assert_ok(cx, cr_probability_greater(cx, t, s, 3, t, s, 3, &p));
    assert_close(p, 0.5, 1e-10);
    /* P(p_B > p_A) = sum_{i < aB} B(aA + i, bA + bB) / ((bB + i) B(1 + i, bB) B(aA, bA)); Miller
     * (2015) */
    double A[] = { 15, 27 }, B[] = { 26, 16 }, sum = 0;
    for (int i = 0; i < 26; i++)
        sum +=
            exp(cr_lbeta(15 + i, 27 + 16) - log(16 + i) - cr_lbeta(1 + i, 16) - cr_lbeta(15, 27));
    assert_ok(cx, cr_probability_greater(cx, beta, B, 2, beta, A, 2, &p));
    assert_close(p, sum, 1e-10);
    double far[] = { 1e6, 1e-3 }; /* steps */
    assert_ok(cx, cr_probability_greater(cx, normal, far, 2, normal, b, 2, &p));
    assert_close(p, 1, 1e-12);
    assert_ok(cx, cr_probability_greater(cx, normal, b, 2, normal, far, 2, &p));
    assert_close(p, 0, 1e-12);
    assert_fails(cx,
                 cr_probability_greater(cx, cr_dist_find(cx, "poisson"), a, 1, normal, b, 2, &p),
                 CR_EUNSUPPORTED);
    assert_fails(cx, cr_probability_greater(cx, normal, (double[]){ 0, -1 }, 2, normal, b, 2, &p),
                 CR_EARG);
}

/* Under equal groups the Bayes factor is for one model, more so with more rows; under different
 * ones against it. */
TEST(direction)
{
    double factor[2][2];
    for (size_t differ = 0; differ < 2; differ++)
        for (size_t size = 0; size < 2; size++) {
            size_t              n = size ? 400 : 40;
            cr_rng              r = cr_rng_stream(3, differ);
            double             *x = malloc(n * sizeof *x), *g = malloc(n * sizeof *g);
            cr_table           *t = NULL;
            cr_group_comparison c = { 0 };
            for (size_t i = 0; i < n; i++) {
                g[i] = (double)(i % 2);
                x[i] = cr_rng_normal(&r) + 1.2 * (double)differ * g[i];
            }
            assert_ok(cx, cr_table_new(cx, "t", n, &t));
            assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
            assert_ok(cx, cr_table_add_numbers(cx, t, "g", CR_BOOLEAN, g, 1));
            assert_ok(cx, try_compare(cx, "normal", t, "g", 1,
                                      "prior=mean0=0,kappa0=0.2,nu0=2,var0=1", &c));
            assert_string_equal(c.groups[1].name, "true");
            factor[differ][size] = c.log_bayes_factor;
            cr_group_comparison_free(cx, &c);
            cr_table_free(cx, t);
            free(x);
            free(g);
        }
    assert_true(factor[0][0] < 0 && factor[0][1] < 0);
    assert_true(factor[1][0] > 0 && factor[1][1] > factor[1][0] + 10);
}

static cr_status compare_body(cr_ctx *cx, void *arg)
{
    cr_status           st = CR_OK;
    double              x[6] = { 1, 2, 0, 4, 3, 5 }, g[6] = { 0, 0, 0, 1, 1, 1 };
    cr_table           *t = NULL;
    cr_group_comparison c = { 0 };
    (void)arg;
    CR_TRY(cr_table_new(cx, "t", 6, &t));
    CR_TRY(cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_add_numbers(cx, t, "g", CR_INTEGER, g, 1));
    CR_TRY(try_compare(cx, "poisson", t, "g", 1, "prior=shape=2,rate=0.5", &c));
done:
    cr_group_comparison_free(cx, &c);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(compare_body, NULL); }

/* A column of names is no column of groups. */
TEST(too_many_groups)
{
    enum { n = 1001 };
    cr_group_comparison c = { 0 };
    cr_table           *t = NULL;
    static double       id[n], x[n];
    for (size_t i = 0; i < n; i++) id[i] = (double)(i * 5 % n), x[i] = (double)(i % 3);
    assert_ok(cx, cr_table_new(cx, "t.csv", n, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "id", CR_INTEGER, id, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    assert_fails_with(cx, try_compare(cx, "normal", t, "id", 1, "features=x", &c), CR_EDATA,
                      "t.csv: column 'id' has more than 1000 groups");
    cr_table_free(cx, t);
}
