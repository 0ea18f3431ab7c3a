/* test_categories.c -- yes-or-no columns and categories: which value is a success, levels that are
 * numbers, draws as codes. */
#include "conjugate.h"

static double value_of(cr_ctx *cx, const char *model, const cr_table *t, const char *settings,
                       const char *name)
{
    cr_model *m = fit(cx, model, t, settings);
    json_t   *d = describe(cx, m);
    double    value = parameter(d, name, "value");
    return value;
}

/* Two levels, true and false, 0 and 1; named or not. */
TEST(success)
{
    cr_model   *m = NULL;
    cr_table   *t = table_of_text(cx, "s.csv",
                                  "a,b,n,c,one\nno,true,1,u,x\nyes,true,0,v,x\n"
                                    "yes,false,0,w,x\nyes,true,0,w,x\n");
    const char *model = "beta-bernoulli";
    assert_close(value_of(cx, model, t, "features=a", "a=yes"), 4.0 / 6, 1e-15);
    assert_close(value_of(cx, model, t, "features=a success=no", "a=no"), 2.0 / 6, 1e-15);
    assert_close(value_of(cx, model, t, "features=b", "b=true"), 4.0 / 6, 1e-15);
    assert_close(value_of(cx, model, t, "features=b success=false", "b=false"), 2.0 / 6, 1e-15);
    assert_close(value_of(cx, model, t, "features=n", "n=1"), 2.0 / 6, 1e-15);
    assert_close(value_of(cx, model, t, "features=c success=w", "c=w"), 3.0 / 6, 1e-15);
    assert_close(value_of(cx, model, t, "features=one success=x", "one=x"), 5.0 / 6, 1e-15);
    assert_fails_with(cx, try_fit(cx, model, t, "features=c", &m), CR_EDATA,
                      "column 'c' has 3 levels: which one is a success?");
    assert_fails_with(cx, try_fit(cx, model, t, "features=one", &m), CR_EDATA, "has 1 level:");
    assert_fails_with(cx, try_fit(cx, model, t, "features=a success=yess", &m), CR_EARG,
                      "no level 'yess'");
    assert_string_equal(cr_error_nearest(cx), "yes");
    assert_fails_with(cx, try_fit(cx, model, t, "features=n success=2", &m), CR_EARG,
                      "contains numbers");
}

/* Numbers that are not 0 and 1 count where they lie above a bound; later rows by the same bound. */
TEST(success_above)
{
    cr_model *m = NULL, *more = NULL;
    cr_table *t = table_of_text(cx, "s.csv", "x,b\n-1.5,true\n0,true\n0.5,false\n2,true\n7,true\n");
    const char *model = "beta-bernoulli";
    double      log_p[5];
    assert_close(value_of(cx, model, t, "features=x", "x>0"), 4.0 / 7, 1e-15);
    assert_close(value_of(cx, model, t, "features=x success=>0.5", "x>0.5"), 3.0 / 7, 1e-15);
    assert_close(value_of(cx, model, t, "features=x success=>-1.5", "x>-1.5"), 5.0 / 7, 1e-15);
    assert_fails_with(cx, try_fit(cx, model, t, "features=x success=>", &m), CR_EARG, "is '>'");
    assert_fails_with(cx, try_fit(cx, model, t, "features=x success=>inf", &m), CR_EARG,
                      "contains");
    assert_fails_with(cx, try_fit(cx, model, t, "features=b success=>0", &m), CR_EARG, "is '>0'");
    m = fit(cx, model, t, "features=x success=>0.5");
    assert_ok(cx, cr_update(cx, m, t, &more));
    json_t *d = describe(cx, more);
    assert_close(parameter(d, "x>0.5", "value"), 5.0 / 12, 1e-15);
    assert_ok(cx, cr_score(cx, m, t, log_p));
    assert_close(log_p[0], log(4.0 / 7), 1e-14);
    assert_close(log_p[3], log(3.0 / 7), 1e-14);
    cr_model_free(cx, more);
}

/* Draws are codes of levels; where levels are lumped together they cannot be drawn. */
TEST(binary_draws)
{
    enum { DRAWS = 2000 };
    cr_table *t = table_of_text(cx, "s.csv", "a,c\nno,u\nyes,v\nyes,w\nyes,w\n");
    cr_model *m = fit(cx, "beta-bernoulli", t, "features=a success=no");
    double    x[DRAWS], sum = 0;
    assert_ok(cx, cr_sample(cx, m, DRAWS, 2, x));
    for (size_t i = 0; i < DRAWS; i++) {
        assert_true(x[i] == 0 || x[i] == 1);
        sum += x[i] / DRAWS; /* code 1 is yes */
    }
    assert_close(sum, 4.0 / 6, 0.05);
    cr_model_free(cx, m);
    m = fit(cx, "beta-bernoulli", t, "features=c success=w");
    assert_fails_with(cx, cr_sample(cx, m, DRAWS, 2, x), CR_EUNSUPPORTED, "does not distinguish");
    cr_model_free(cx, m);
    m = fit(cx, "dirichlet-categorical", t, "features=c");
    assert_ok(cx, cr_sample(cx, m, DRAWS, 2, x));
    sum = 0;
    for (size_t i = 0; i < DRAWS; i++) sum += (x[i] == 2) / (double)DRAWS;
    assert_close(sum, 3.0 / 7, 0.05);
}

/* The levels of the next row, as "column level p" in their order. */
static void assert_next(cr_ctx *cx, const char *model, const cr_table *t, const char *settings,
                        const char *expected)
{
    cr_model *m = fit(cx, model, t, settings);
    cr_levels l = { 0 };
    char      told[512] = "";
    assert_ok(cx, cr_next_levels(cx, m, &l));
    for (size_t j = 0; j < l.n; j++)
        for (size_t i = l.first[j]; i < l.first[j + 1]; i++)
            snprintf(told + strlen(told), sizeof told - strlen(told), "%s %s %.4f; ",
                     cr_design_column_name(cr_model_get_design(m), l.column[j]), l.level[i],
                     l.prob[i]);
    assert_string_equal(told, expected);
    cr_levels_free(cx, &l);
}

/* P(success) = (a + successes) / (a + b + n), P(level) = (alpha + n_k) / (A + n), by hand. */
TEST(next_levels)
{
    cr_levels   l = { .n = 7 };
    cr_table   *t = table_of_text(cx, "s.csv",
                                  "a,x,b,c,k,one\nno,1,true,u,3,z\nyes,0,true,v,3,z\n"
                                    "yes,0,false,w,1,z\nyes,0,true,w,7,z\n");
    const char *binary = "beta-bernoulli", *levels = "dirichlet-categorical";
    assert_next(cx, binary, t, "features=a", "a yes 0.6667; a no 0.3333; ");
    assert_next(cx, binary, t, "features=a success=no", "a no 0.3333; a yes 0.6667; ");
    assert_next(cx, binary, t, "features=c success=w", "c w 0.5000; c not w 0.5000; ");
    assert_next(cx, binary, t, "features=one success=z", "one z 0.8333; one not z 0.1667; ");
    assert_next(cx, binary, t, "features=x,a", "a yes 0.6667; a no 0.3333; "); /* x is a number */
    assert_next(cx, binary, t, "features=x,b", "");
    assert_next(cx, levels, t, "features=c,k,b prior=uniform",
                "b false 0.3333; b true 0.6667; c u 0.2857; c v 0.2857; c w 0.4286; "
                "k 1 0.2857; k 3 0.4286; k 7 0.2857; ");
    cr_model *m = fit(cx, "normal", t, "features=x");
    assert_fails_with(cx, cr_next_levels(cx, m, &l), CR_EUNSUPPORTED, "levels of the next row");
    assert_int_equal(l.n, 7);
    assert_false(cr_class_offers(cr_model_get_class(m), "next-levels"));
}

static cr_status next_levels_of_both(cr_ctx *cx, void *arg)
{
    cr_status   st = CR_OK;
    const char *models[] = { "beta-bernoulli", "dirichlet-categorical" };
    cr_table   *t = arg;
    cr_model   *m = NULL;
    cr_levels   l = { 0 };
    for (size_t i = 0; i < 2; i++) {
        CR_TRY(cr_fit(cx, models[i], t, NULL, 0, &m));
        CR_TRY(cr_next_levels(cx, m, &l));
        cr_levels_free(cx, &l);
        cr_model_free(cx, m);
        m = NULL;
    }
done:
    cr_levels_free(cx, &l);
    cr_model_free(cx, m);
    return st;
}

TEST(next_allocations)
{
    cr_table *t = table_of_text(cx, "s.csv", "a,c\nno,u\nyes,v\nyes,v\n");
    test_every_allocation_fails(next_levels_of_both, t);
}

/* Whole numbers and truth values are levels too; strangers are impossible, and not learned. */
TEST(levels_of_numbers)
{
    const char *model = "dirichlet-categorical";
    double      die[6] = { 1, 6, 3, 3, 2, 6 }, more[2] = { 6, 4 }, half[2] = { 1, 1.5 }, log_p[2];
    cr_model   *m, *next = NULL;
    cr_table   *t = column_table(cx, die, 6, NULL), *u = column_table(cx, more, 2, NULL);
    cr_table   *h = column_table(cx, half, 2, NULL),
             *b = table_of_text(cx, "b.csv", "b\ntrue\ntrue\n");
    assert_close(value_of(cx, model, t, "", "x=6"), 3.0 / 10, 1e-15);
    assert_close(value_of(cx, model, t, "prior=perks", "x=6"), 2.25 / 7, 1e-15);
    assert_close(value_of(cx, model, t, "prior=haldane", "x=6"), 2.0 / 6, 1e-15);
    assert_close(value_of(cx, model, t, "prior=6=3,alpha=0.5", "x=6"), 5.0 / 10.5, 1e-15);
    assert_close(value_of(cx, model, b, "", "b=false"), 1.0 / 4, 1e-15);
    m = fit(cx, model, t, "");
    assert_ok(cx, cr_score(cx, m, u, log_p));
    assert_close(exp(log_p[0]), 3.0 / 10, 1e-14);
    assert_true(log_p[1] == -INFINITY);
    assert_fails_with(cx, cr_update(cx, m, u, &next), CR_EDATA, "has not seen");
    cr_model_free(cx, m);
    m = NULL;
    assert_fails_with(cx, try_fit(cx, model, h, "", &m), CR_EDATA, "row 2: column 'x' is 1.5");
    assert_fails_with(cx, try_fit(cx, model, t, "prior=7=2", &m), CR_EARG,
                      "no column has a level '7'");
    assert_fails_with(cx, try_fit(cx, model, b, "prior=haldane", &m), CR_EDATA,
                      "every level must occur");
    assert_true(isnan(evidence_of(cx, model, die, 6, "prior=haldane")));
    cr_table_free(cx, t);
    cr_table_free(cx, u);
    cr_table_free(cx, h);
}

/* Two levels of a category are a yes-or-no column: the same posterior and evidence. */
TEST(two_levels_agree)
{
    cr_table         *t = table_of_text(cx, "s.csv", "a\nno\nyes\nyes\nyes\n");
    cr_model         *a = fit(cx, "beta-bernoulli", t, "prior=jeffreys");
    cr_model         *b = fit(cx, "dirichlet-categorical", t, "prior=jeffreys");
    json_t           *da = describe(cx, a), *db = describe(cx, b);
    const char *const keys[] = {
        "value", "sd", "lower", "upper", "mode", "hdi_lower", "hdi_upper"
    };
    for (size_t i = 0; i < 7; i++)
        assert_close(parameter(da, "a=yes", keys[i]), parameter(db, "a=yes", keys[i]), 1e-12);
    assert_close(log_evidence(a), log_evidence(b), 1e-13);
}
