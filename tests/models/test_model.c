/* test_model.c -- the life of a model: settings, refusals, answers in their places, and every
 * allocation failing. */
#include "fixture.h"
#include "study/cross_validate.h"

/* A category, a boolean, numbers with gaps, weights. */
static const char mixed[] = "c,b,x,z,w,y\n"
                            "red,true,1.5,2,1,3.1\nblue,false,,3,2,4.7\nred,true,2.5,5,1,1.2\n"
                            "green,false,3,7,0.5,9.8\nblue,true,4.25,11,3,2.2\nred,false,5,,1,7.5\n"
                            "green,true,6,17,1,5.5\nred,false,0.5,19,2,6.1\nblue,true,8,23,1,0.4\n";

/* --- settings and refusals ------------------------------------------------------------------- */

TEST(refusals)
{
    cr_table *t = table_of_text(cx, "mixed.csv", mixed);
    const struct {
        const char *name, *settings;
        cr_status   status;
        const char *text, *nearest;
    } wrong[] = {
        { "lineer", "target=y", CR_EARG, "there is no model 'lineer'", "linear" },
        { "ridge", "target=y lamda=2", CR_EARG, "the model ridge has no option 'lamda'", "lambda" },
        { "ridge", "targt=y", CR_EARG, "the model ridge has no option 'targt'", "target" },
        { "ridge", "target=y sed=2", CR_EARG, "the model ridge has no option 'sed'", "seed" },
        { "linear", "target=y lambda=2", CR_EARG, "the model linear has no option 'lambda'", "" },
        { "ridge", "target=y lambda=-1", CR_EARG, "--lambda: '-1' is not", NULL },
        { "linear", "features=x", CR_EARG, "the model linear needs a target", NULL },
        { "linear", "target=q", CR_EDATA, "column 'q' not found in ", NULL },
        { "linear", "target=c", CR_EDATA, "the target 'c' is a category, but linear predicts",
          NULL },
        { "linear", "target=y", CR_EDATA, "mixed.csv:3: the column 'x' has no value", NULL },
        { "linear", "target=y missing=drop features=x weights=b", CR_OK, "", NULL },
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        cr_model *m = NULL;
        cr_status st = try_fit(cx, wrong[k].name, t, wrong[k].settings, &m);
        check_status(cx, st, wrong[k].status, wrong[k].status ? wrong[k].text : NULL,
                     wrong[k].settings, __FILE__, __LINE__);
        if (wrong[k].status) assert_null(m);
        if (wrong[k].nearest) assert_string_equal(cr_error_nearest(cx), wrong[k].nearest);
        setting_list s;
        split_settings(wrong[k].settings, &s);
        bool known = cr_check_settings(cx, wrong[k].name, s.list, s.n) == CR_OK;
        assert_int_equal(known, k >= 6); /* what can be said without the data */
        cr_model_free(cx, m);
    }
    cr_table_free(cx, t);

    cr_model *m = NULL;
    double    nothing[1] = { 0 };
    assert_ok(cx, cr_table_new(cx, "none", 0, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, nothing, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, nothing, 1));
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y", &m), CR_EDATA, "no row is left");
    cr_table_free(cx, t);
    t = table_of_text(cx, "gaps.csv", "x,y\n1,\n,2\n");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y missing=drop", &m), CR_EDATA,
                      "no row is left");
}

/* A Latin-1 file is taken for Windows-1252 when it is read: names and levels of the model are UTF-8. */
TEST(files_that_are_not_utf8)
{
    cr_table *t = table_of_text(cx, "latin.csv",
                                "gr\xf6\xdf"
                                "e,y\n1,2\n2,3\n3,5\n");
    describe(cx, fit(cx, "linear", t, "target=y"));
    assert_non_null(cr_table_find(t, "gr\xc3\xb6\xc3\x9f"
                                     "e"));
    t = table_of_text(cx, "levels.csv", "c,y\nblau,1\ngr\xfcn,2\nrot,4\nrot,5\n");
    describe(cx, fit(cx, "linear", t, "target=y"));
    assert_string_equal(cr_table_find(t, "c")->levels[1], "gr\xc3\xbcn");
}

/* Names that a program gives are refused before the fit, not as a lack of memory afterwards. */
TEST(names_that_are_not_utf8)
{
    const double numbers[4] = { 1, 2, 4, 5 };
    cr_table    *t = NULL;
    cr_model    *m = NULL;
    assert_ok(cx, cr_table_new(cx, "latin", 4, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, numbers, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "\xe4", CR_REAL, numbers, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, numbers, 1));
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y", &m), CR_EDATA, "not UTF-8");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y features=!\xe4", &m), CR_EDATA,
                      "not UTF-8");
    m = fit(cx, "linear", t, "target=y features=x"); /* a column that is not used does no harm */
    describe(cx, m);
    cr_table_free(cx, t);
}

TEST(update_where_there_is_none)
{
    cr_table *t = table_of_text(cx, "mixed.csv", mixed);
    cr_model *m = fit(cx, "lasso", t, "target=y missing=drop lambda=0.1"), *next = NULL;
    assert_fails_with(cx, cr_update(cx, m, t, &next), CR_EUNSUPPORTED, "lasso has no exact update");
    assert_null(next);
}

/* --- answers --------------------------------------------------------------------------------- */

/* Rows that were left out have NaN in their place; all others stay at theirs. */
TEST(rows_stay_in_place)
{
    cr_table     *t = table_of_text(cx, "mixed.csv", mixed);
    cr_model     *m = fit(cx, "linear", t, "target=y missing=drop features=x,z weights=w");
    cr_prediction p = predict(cx, m, t);
    json_t       *d = describe(cx, m);
    const double *x = cr_table_find(t, "x")->values, *z = cr_table_find(t, "z")->values;
    const double *y = cr_table_find(t, "y")->values, *w = cr_table_find(t, "w")->values;
    double        observed[9], weight[9];
    assert_ok(cx, cr_observed(cx, m, t, observed, weight));
    assert_int_equal(cr_model_get_report(m)->rows, 7);
    for (size_t i = 0; i < 9; i++) {
        if (i == 1 || i == 5) {
            assert_true(isnan(p.mean[i]) && isnan(p.scale[i]) && isnan(p.dof[i]));
            assert_true(isnan(p.leverage[i]) && isnan(observed[i]) && isnan(weight[i]));
            continue;
        }
        assert_close(p.mean[i],
                     parameter(d, "intercept", "value") + x[i] * parameter(d, "x", "value") +
                         z[i] * parameter(d, "z", "value"),
                     1e-12);
        assert_true(observed[i] == y[i] && weight[i] == w[i]);
    }
}

/* A standardised target changes nothing that is said in its own units. */
TEST(scaled_target)
{
    cr_table *t = table_of_text(cx, "mixed.csv", mixed);
    cr_model *a = fit(cx, "linear", t, "target=y missing=impute features=x,z");
    cr_model *b =
        fit(cx, "linear", t, "target=y missing=impute features=x,z scale_target=standard");
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    double        observed[9];
    for (size_t i = 0; i < 9; i++) {
        assert_close(p.mean[i], q.mean[i], 1e-12);
        assert_close(p.scale[i], q.scale[i], 1e-12);
        assert_close(p.leverage[i], q.leverage[i], 1e-12);
    }
    assert_ok(cx, cr_observed(cx, b, t, observed, NULL));
    for (size_t i = 0; i < 9; i++)
        assert_close(observed[i], cr_table_find(t, "y")->values[i], 1e-14);
}

/* No rows to predict is an empty answer. */
TEST(no_rows)
{
    cr_table *t = table_of_text(cx, "mixed.csv", mixed), *none = NULL;
    double    nothing[1] = { 0 };
    assert_ok(cx, cr_table_new(cx, "none", 0, &none));
    assert_ok(cx, cr_table_add_numbers(cx, none, "x", CR_REAL, nothing, 1));
    for (size_t i = 0; i < cr_class_count(); i++) {
        if (!(cr_class_tasks(cr_class_at(i)) & CR_TASK_REGRESSION)) continue;
        if (cr_class_offers(cr_class_at(i), "forecast")) continue; /* of a series y is the data */
        cr_model *m = fit(cx, cr_class_name(cr_class_at(i)), t, "target=y missing=drop features=x");
        cr_prediction p = predict(cx, m, none);
        assert_int_equal(p.n, 0);
    }
    cr_table_free(cx, none);
}

TEST(warnings)
{
    cr_table *t = table_of_text(cx, "mixed.csv", mixed);
    warnings  log = { .n = 0 };
    cr_ctx_set_log(cx, keep_warning, &log);
    cr_model *m = fit(cx, "ridge", t, "target=y missing=impute");
    assert_non_null(strstr(log.text, "2 missing values of "));
    cr_model_free(cx, m);
    log = (warnings){ .n = 0 };
    m = fit(cx, "ridge", t, "target=y missing=drop");
    assert_non_null(strstr(log.text, "2 of 9 rows of "));
    cr_ctx_set_log(cx, NULL, NULL);
}

TEST(interrupt)
{
    cr_table *t = table_of_text(cx, "mixed.csv", mixed);
    for (size_t i = 0; i < cr_class_count(); i++) {
        cr_model *m = NULL;
        if (!(cr_class_tasks(cr_class_at(i)) & CR_TASK_REGRESSION)) continue;
        cr_interrupt(cx);
        assert_fails(cx, try_fit(cx, cr_class_name(cr_class_at(i)), t, "target=y missing=drop", &m),
                     CR_EINTERRUPTED);
        cr_interrupt_clear(cx);
        assert_null(m);
    }
}

/* --- no memory ------------------------------------------------------------------------------- */

typedef struct verb {
    const char *name, *settings;
    cr_status (*run)(cr_ctx *cx, const cr_model *m, const cr_table *t);
} verb;

static cr_status run_nothing(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    (void)cx, (void)m, (void)t;
    return CR_OK;
}

static cr_status run_predict(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    cr_prediction p = { 0 };
    cr_status     st = cr_predict(cx, m, t, &p);
    if (st != CR_OK)
        assert_null(p.mean);
    else
        cr_prediction_free(cx, &p);
    return st;
}

static cr_status run_update(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    cr_model *next = NULL;
    cr_status st = cr_update(cx, m, t, &next);
    if (st != CR_OK) assert_null(next);
    cr_model_free(cx, next);
    return st;
}

static cr_status run_describe(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    char     *text = NULL;
    cr_status st = cr_describe(cx, m, &text);
    (void)t;
    if (text) cr_free(cx, text, strlen(text) + 1, 1);
    return st;
}

static cr_status run_save_and_load(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    char      path[256];
    cr_model *again = NULL;
    cr_status st = CR_OK;
    (void)t;
    snprintf(path, sizeof path, "%s/memory.cred", test_directory());
    CR_TRY(cr_model_save(cx, m, path));
    CR_TRY(cr_model_load(cx, path, &again));
done:
    if (st != CR_OK) assert_null(again);
    cr_model_free(cx, again);
    return st;
}

static cr_status run_evaluate(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    cr_assessment a = { .n = 4711 };
    cr_status     st = cr_evaluate(cx, m, t, 0.9, &a);
    if (st != CR_OK) assert_int_equal(a.n, 4711);
    return st;
}

/* Builds a table, fits a model, runs the verb: all with memory that may fail. */
static cr_status fit_and_run(cr_ctx *cx, void *arg)
{
    const verb       *v = arg;
    const char *const texts[] = { "a", "b", "a", "b", "a", "a" };
    const double      x[] = { 1, 2, NAN, 4, 7, 5 }, y[] = { 2, 1, 3, 5, 4, 9 };
    cr_status         st = CR_OK;
    cr_table         *t = NULL;
    cr_model         *m = NULL;
    CR_TRY(cr_table_new(cx, "t", 6, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_add_texts(cx, t, "c", texts));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(try_fit(cx, v->name, t, v->settings, &m));
    CR_TRY(v->run(cx, m, t));
done:
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations)
{
    static verb verbs[] = {
        { "linear", "target=y missing=drop", run_nothing },
        { "linear", "target=y missing=drop solver=gram", run_nothing },
        { "linear", "target=y missing=impute scale_target=standard", run_predict },
        { "linear", "target=y missing=impute", run_save_and_load },
        { "linear", "target=y missing=drop", run_evaluate },
        { "ridge", "target=y missing=impute", run_update },
        { "ridge", "target=y missing=impute solver=dual", run_save_and_load },
        { "bayes-linear", "target=y missing=drop", run_update },
        { "bayes-linear", "target=y missing=impute prior=nig", run_save_and_load },
        { "bayes-linear", "target=y missing=impute", run_describe },
    };
    for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++)
        test_every_allocation_fails(fit_and_run, &verbs[k]);
}
