/* test_glm_classes.c -- two classes as 0 and 1: R's answers, those of logistic, files, and what is refused. */
#include "../fixture.h"

#include "models/core/parts.h"

enum { FLIGHTS = 23 };

/* Temperature at the start and whether an O-ring of the shuttle failed: Dalal, Fowlkes & Hoadley (1989), JASA 84:945-957. */
static const int flights[FLIGHTS][2] = { { 66, 0 }, { 70, 1 }, { 69, 0 }, { 68, 0 }, { 67, 0 },
                                         { 72, 0 }, { 73, 0 }, { 70, 0 }, { 57, 1 }, { 63, 1 },
                                         { 70, 1 }, { 78, 0 }, { 67, 0 }, { 53, 1 }, { 67, 0 },
                                         { 75, 0 }, { 70, 0 }, { 81, 0 }, { 76, 0 }, { 79, 0 },
                                         { 75, 1 }, { 76, 0 }, { 58, 1 } };

/* The flights with these two words for 0 and 1. */
static cr_table *flights_as(cr_ctx *cx, const char *no, const char *yes)
{
    char   text[1024] = "temperature,failed\n";
    size_t at = strlen(text);
    for (size_t i = 0; i < FLIGHTS; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%d,%s\n", flights[i][0],
                               flights[i][1] ? yes : no);
    return table_of_text(cx, "flights.csv", text);
}

/* glm(failed ~ temperature, family = binomial) of R prints 15.0429 (7.3786) and -0.2322 (0.1082).  Words, booleans and
 * numbers are the same fit, and so is logistic without a penalty; the second class in order is that of 1. */
TEST(answers_of_r_and_logistic)
{
    static const char *const words[][2] = {
        { "no", "yes" }, { "false", "true" }, { "0", "1" }, { "ok", "torn" }
    };
    json_t *other =
        describe(cx, fit(cx, "logistic", flights_as(cx, "no", "yes"), "target=failed lambda=0"));
    for (size_t c = 0; c < 4; c++) {
        cr_table     *t = flights_as(cx, words[c][0], words[c][1]);
        cr_model     *m = fit(cx, "glm", t, "target=failed family=binomial");
        json_t       *d = describe(cx, m);
        cr_prediction p = predict(cx, m, t);
        assert_close(parameter(d, "intercept", "value"), 15.0429, 5e-5);
        assert_close(parameter(d, "intercept", "sd"), 7.3786, 5e-5);
        assert_close(parameter(d, "temperature", "value"), -0.2322, 5e-5);
        assert_close(parameter(d, "temperature", "sd"), 0.1082, 5e-5);
        assert_relative(parameter(d, "intercept", "value"), parameter(other, "intercept", "value"),
                        1e-8);
        assert_relative(parameter(d, "temperature", "value"),
                        parameter(other, "temperature", "value"), 1e-8);
        assert_true(p.mean[13] > 0.9 && p.mean[17] < 0.1); /* the probability of a failure */
    }
}

static const char *meaning(cr_ctx *cx, const cr_table *t, const char *settings)
{
    return json_string_value(
        json_object_get(describe(cx, fit(cx, "glm", t, settings)), "coefficients"));
}

TEST(says_which_class)
{
    cr_table *t = flights_as(cx, "ok", "torn");
    assert_string_equal(meaning(cx, t, "target=failed family=binomial"),
                        "log odds of torn against ok");
    assert_string_equal(meaning(cx, t, "target=failed family=binomial link=probit"),
                        "link of the probability of torn");
    assert_string_equal(meaning(cx, t, "target=failed family=binomial link=log"),
                        "log of the probability of torn");
}

/* A file keeps the classes; a score reads them as the fit did. */
TEST(saved_and_scored)
{
    cr_table *t = flights_as(cx, "ok", "torn"), *u = flights_as(cx, "0", "1");
    cr_model *m = fit(cx, "glm", t, "target=failed family=binomial"), *back = NULL;
    cr_model *numbers = fit(cx, "glm", u, "target=failed family=binomial");
    double    y[FLIGHTS], score[FLIGHTS], same[FLIGHTS];
    char      path[512];
    snprintf(path, sizeof path, "%s/classes.cred", test_directory());
    assert_ok(cx, cr_model_save(cx, m, path));
    assert_ok(cx, cr_model_load(cx, path, &back));
    assert_ok(cx, cr_observed(cx, back, t, y, NULL));
    assert_ok(cx, cr_score(cx, back, t, score));
    assert_ok(cx, cr_score(cx, numbers, u, same));
    for (size_t i = 0; i < FLIGHTS; i++) {
        assert_true(y[i] == flights[i][1]);
        assert_close(score[i], same[i], 1e-12);
    }
    cr_model_free(cx, back);
}

TEST(refused)
{
    static const char three[] = "x,y\n1,a\n2,b\n3,c\n4,a\n5,b\n6,c\n",
                      one[] = "x,y\n1,a\n2,a\n3,a\n";
    cr_model *m = NULL;
    cr_table *t = table_of_text(cx, "three.csv", three);
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=y family=binomial", &m), CR_EDATA,
                      "the target 'y' has 3 classes, but glm --family binomial needs two");
    assert_non_null(strstr(cr_error_hint(cx), "credence fit logistic"));
    t = table_of_text(cx, "one.csv", one);
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=y family=binomial", &m), CR_EDATA,
                      "the target 'y' has only one class, 'a': there is nothing to distinguish");
    assert_non_null(strstr(cr_error_hint(cx), "logistic"));
    t = flights_as(cx, "no", "yes");
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=failed family=poisson", &m), CR_EDATA,
                      "the target 'failed' is a category, but glm predicts numbers");
    assert_fails_with(cx,
                      try_fit(cx, "glm", t, "target=failed family=binomial trials=temperature", &m),
                      CR_EDATA, "the target 'failed' is a category, but glm predicts numbers");
}
