/* test_limits.c -- a time limit in the midst of a fit: the best so far, which says so, is saved and predicts.  The
 * clocks of the fits are counted down by the questions that are asked of them, whatever the time. */
#include "fixture.h"
#include "base/context_internal.h"

enum { N = 240, P = 4 };

/* Columns x1 .. x4, a number y, a count, two classes and three, which go with them and overlap. */
static cr_table *data(cr_ctx *cx)
{
    double    X[N * P], y[N], count[N], two[N], three[N];
    cr_table *t = NULL;
    cr_rng    r = cr_rng_stream(77, 0);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < P; j++) X[i * P + j] = cr_rng_normal(&r);
        double f = X[i * P] - 0.5 * X[i * P + 1] + 0.3 * X[i * P + 2] * X[i * P + 2];
        y[i] = f + 0.4 * cr_rng_normal(&r) + (i % 17 == 0 ? 4 : 0);
        count[i] = floor(exp(0.4 * f) * 2 + 3 * cr_rng_uniform(&r));
        two[i] = f + 0.8 * cr_rng_normal(&r) > 0;
        three[i] = two[i] + (f + 0.8 * cr_rng_normal(&r) > 1);
    }
    t = make_table(cx, X, N, P, y, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, t, "count", CR_REAL, count, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "two", CR_INTEGER, two, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "three", CR_INTEGER, three, 1));
    return t;
}

static void check_prediction(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    cr_prediction p = { 0 };
    assert_ok(cx, cr_predict(cx, m, t, &p));
    for (size_t i = 0; i < p.n; i++) {
        if (p.mean) assert_true(isfinite(p.mean[i]));
        for (size_t k = 0; p.prob && k < p.n_classes; k++)
            assert_true(p.prob[i * p.n_classes + k] >= 0 && p.prob[i * p.n_classes + k] <= 1);
    }
    (cr_prediction_free)(cx, &p);
}

/* A fit whose clocks are over at the nth question, against the same without a limit. */
static void check(cr_ctx *cx, const cr_table *t, const char *model, const char *settings,
                  uint64_t nth)
{
    warnings  said = { 0 };
    cr_model *m = NULL, *back = NULL, *whole = fit(cx, model, t, settings);
    char     *bytes;
    size_t    size;
    assert_int_not_equal(cr_model_get_report(whole)->stop, CR_STOP_TIME);
    cr_ctx_set_log(cx, keep_warning, &said);
    cri_ctx_run_out_at(cx, nth);
    cr_status st = try_fit(cx, model, t, settings, &m);
    cri_ctx_run_out_at(cx, 0);
    cr_ctx_set_log(cx, NULL, NULL);
    if (st != CR_OK) fail_msg("%s %s: %s", model, settings, cr_error(cx));
    test_own(cx, m, release_model);
    if (cr_model_get_report(m)->stop != CR_STOP_TIME) fail_msg("%s %s: not ended", model, settings);
    if (!strstr(said.text, "the time limit")) fail_msg("%s %s: no warning", model, settings);
    assert_true(cr_model_get_report(m)->iterations <= cr_model_get_report(whole)->iterations);
    check_prediction(cx, m, t);
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m.cred", bytes, size, &back));
    test_own(cx, back, release_model);
    cr_free(cx, bytes, size, 1);
    assert_int_equal(cr_model_get_report(back)->stop, CR_STOP_TIME);
    assert_string_equal(cr_stop_name(CR_STOP_TIME), "time limit");
}

#define NUMBERS "target=y features=x1,x2,x3,x4 "
#define COUNTS "target=count features=x1,x2,x3,x4 "
#define TWO "target=two features=x1,x2,x3,x4 "
#define THREE "target=three features=x1,x2,x3,x4 "

TEST(classifiers)
{
    cr_table *t = data(cx);
    check(cx, t, "logistic", THREE "task=classification", 2);
    check(cx, t, "logistic", TWO "solver=newton-cg", 2);
    check(cx, t, "logistic", TWO "solver=lbfgs", 2);
    check(cx, t, "logistic", TWO "solver=sgd", 2);
    check(cx, t, "logistic", TWO "penalty=l1 lambda=0.01", 1);
    check(cx, t, "crf", THREE, 3);
    check(cx, t, "crf", THREE "l1=0.5", 3);
    check(cx, t, "probit", TWO, 2);
    check(cx, t, "bayes-logistic", TWO "infer=importance draws=2000", 100);
}

/* Chains that have warmed up leave their draws; before that there is nothing. */
TEST(chains)
{
    cr_table *t = data(cx);
    cr_model *m;
    check(cx, t, "bayes-logistic", TWO "infer=mcmc draws=2000", 400);
    check(cx, t, "bayes-logistic", TWO "infer=mcmc draws=2000", 1000);
    cri_ctx_run_out_at(cx, 50);
    assert_fails_with(cx, try_fit(cx, "bayes-logistic", t, TWO "infer=mcmc draws=2000", &m),
                      CR_ENOMEM, "while the chains warm up");
    cri_ctx_run_out_at(cx, 0);
}

TEST(numbers)
{
    cr_table *t = data(cx);
    check(cx, t, "glm", COUNTS "family=poisson", 2);
    check(cx, t, "glm", TWO "family=binomial", 2);
    check(cx, t, "robust", NUMBERS "method=student", 3);
    check(cx, t, "robust", NUMBERS "method=huber", 3);
    check(cx, t, "robust", NUMBERS "method=lad", 3);
    check(cx, t, "spline", NUMBERS, 2);
    check(cx, t, "bayes-linear", NUMBERS "optimize=em", 3);
    check(cx, t, "lasso", NUMBERS "choose=aic", 5);
    check(cx, t, "lasso", NUMBERS "choose=cv", 3);
    check(cx, t, "linear", NUMBERS "select=forward", 3);
}

TEST(trees)
{
    cr_table *t = data(cx);
    check(cx, t, "tree", THREE "task=classification", 5);
    check(cx, t, "tree", NUMBERS, 5);
    check(cx, t, "tree", NUMBERS "prune=none", 5);
    check(cx, t, "adaboost", THREE "task=classification form=samme", 10);
    check(cx, t, "adaboost", TWO "form=gradient", 10);
    check(cx, t, "adaboost", THREE "task=classification form=gradient", 10);
    check(cx, t, "adaboost", NUMBERS, 10);
}

/* The path of a lasso ends where the time does, with the same numbers up to there. */
TEST(path_so_far)
{
    cr_table *t = data(cx);
    json_t   *all = describe(cx, fit(cx, "lasso", t, NUMBERS "choose=cv"));
    cri_ctx_run_out_at(cx, 8);
    json_t *some = describe(cx, fit(cx, "lasso", t, NUMBERS "choose=cv"));
    cri_ctx_run_out_at(cx, 0);
    json_t *a = json_object_get(json_object_get(all, "path"), "lambda");
    json_t *b = json_object_get(json_object_get(some, "path"), "lambda");
    if (a && b) assert_true(json_array_size(b) < json_array_size(a));
}

/* A limit that all rows do not meet leaves a model of some of them. */
static void check_some(cr_ctx *cx, const cr_table *t, const char *model, const char *settings)
{
    warnings  said = { 0 };
    cr_model *m = NULL;
    cr_ctx_set_time_limit(cx, 3600);
    cri_ctx_stop_at(cx, 10);
    cr_ctx_set_log(cx, keep_warning, &said);
    cr_status st = try_fit(cx, model, t, settings, &m);
    cr_ctx_set_log(cx, NULL, NULL);
    cri_ctx_stop_at(cx, 0);
    cr_ctx_set_time_limit(cx, 0);
    if (st != CR_OK) fail_msg("%s: %s", model, cr_error(cx));
    test_own(cx, m, release_model);
    assert_int_equal(cr_model_get_report(m)->rows, N / 4);
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TIME);
    assert_non_null(strstr(said.text, "learned from 60 of them"));
    check_prediction(cx, m, t);
}

TEST(some_rows)
{
    cr_table *t = data(cx);
    cr_model *m;
    check_some(cx, t, "gp", NUMBERS);
    check_some(cx, t, "gp", NUMBERS "approx=vfe inducing=20");
    check_some(cx, t, "gp-classify", TWO);
    check_some(cx, t, "kernel-ridge", NUMBERS);
    check_some(cx, t, "nadaraya-watson", NUMBERS);
    cr_interrupt(cx); /* by hand there is nothing */
    assert_fails_with(cx, try_fit(cx, "gp", t, NUMBERS, &m), CR_EINTERRUPTED, "interrupted");
    cr_interrupt_clear(cx);
}

/* --- neighbours ------------------------------------------------------------------------------ */

/* A wave of which the k nearest show more or less. */
static cr_table *wave(cr_ctx *cx, size_t n)
{
    double *X = calloc(n, sizeof *X), *y = calloc(n, sizeof *y);
    cr_rng  r = cr_rng_stream(5, 0);
    for (size_t i = 0; i < n; i++) {
        X[i] = 10 * cr_rng_uniform(&r);
        y[i] = sin(X[i]) + 0.5 * cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, X, n, 1, y, NULL);
    free(X);
    free(y);
    return t;
}

/* k by some of the rows; where the limit is far off, by all of them as without it. */
TEST(neighbours)
{
    enum { ROWS = 3000 };
    cr_table *t = wave(cx, ROWS);
    warnings  said = { 0 };
    cr_model *whole = fit(cx, "knn", t, "target=y k=auto");
    cr_ctx_set_time_limit(cx, 3600);
    cr_model *again = fit(cx, "knn", t, "target=y k=auto");
    assert_close(statistic(describe(cx, again), "loo_mse"),
                 statistic(describe(cx, whole), "loo_mse"), 1e-9);
    cr_ctx_set_log(cx, keep_warning, &said);
    cri_ctx_run_out_at(cx, 1);
    cr_model *some = fit(cx, "knn", t, "target=y k=auto");
    cri_ctx_run_out_at(cx, 0);
    cr_ctx_set_log(cx, NULL, NULL);
    cr_ctx_set_time_limit(cx, 0);
    assert_int_equal(cr_model_get_report(some)->stop, CR_STOP_TIME);
    assert_non_null(strstr(said.text, "the best by 1024 of 3000 rows"));
    double a = statistic(describe(cx, some), "loo_mse"),
           b = statistic(describe(cx, whole), "loo_mse");
    assert_true(a != b);
    assert_relative(a, b, 0.15); /* another 1024 rows */
    check_prediction(cx, some, t);
}

/* The order in which bandwidths are tried does not matter. */
TEST(bandwidths)
{
    cr_table *t = wave(cx, 200);
    cr_model *whole = fit(cx, "nadaraya-watson", t, "target=y");
    cr_ctx_set_time_limit(cx, 3600);
    cr_model *again = fit(cx, "nadaraya-watson", t, "target=y");
    cr_ctx_set_time_limit(cx, 0);
    assert_true(statistic(describe(cx, whole), "bandwidth") ==
                statistic(describe(cx, again), "bandwidth"));
    assert_int_equal(cr_model_get_report(again)->stop, CR_STOP_CLOSED_FORM);
}
