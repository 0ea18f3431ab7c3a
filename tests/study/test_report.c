/* Reports of studies: JSON with the numbers of the structs; failures and memory. */
#include "support.h"

#include "study/report.h"

#include <jansson.h>

enum { ROWS = 12 };

static cr_status make(cr_ctx *cx, cr_table **out)
{
    static double x[ROWS], y[ROWS];
    cr_status     st = cr_table_new(cx, "rows", ROWS, out);
    for (size_t i = 0; i < ROWS; i++) x[i] = (double)(i * i % 7), y[i] = 2 * x[i] + (double)(i % 3);
    if (st == CR_OK) st = cr_table_borrow_numbers(cx, *out, "x", CR_REAL, x, 1);
    if (st == CR_OK) st = cr_table_borrow_numbers(cx, *out, "y", CR_REAL, y, 1);
    return st;
}

static const cr_setting    target[] = { { "target", "y" } };
static const cr_model_spec linear = { "linear", target, 1 }, ridge = { "ridge", target, 1 };

static cr_status report_all(cr_ctx *cx, const cr_table *t, char *out[3])
{
    cr_status           st = CR_OK;
    cr_cv_options       cv = { .folds = 3, .repeats = 1, .interval = 0.9 };
    char                over[] = "lambda=0.1|10";
    cr_tune_options     how = { .over = over, .draws = 1 };
    const cr_model_spec both[] = { linear, ridge };
    CR_TRY(cr_cv_report(cx, &linear, t, &cv, &out[0]));
    CR_TRY(
        cr_compare_report(cx, both, (const char *const[]){ "a", "b" }, 2, t, &cv, false, &out[1]));
    CR_TRY(cr_tune_report(cx, &ridge, t, &how, &cv, &out[2]));
done:
    return st;
}

static void free_all(cr_ctx *cx, char *text[3])
{
    for (size_t i = 0; i < 3; i++)
        if (text[i]) cr_free(cx, text[i], strlen(text[i]) + 1, 1);
}

TEST(reports_hold_the_numbers_of_the_study)
{
    cr_table     *t = NULL;
    char         *text[3] = { NULL };
    cr_cv         cv = { 0 };
    cr_cv_options o = { .folds = 3, .repeats = 1, .interval = 0.9 };
    assert_ok(cx, make(cx, &t));
    assert_ok(cx, report_all(cx, t, text));
    assert_ok(cx, cr_cross_validate(cx, "linear", t, target, 1, &o, &cv));
    json_t *alone = json_loads(text[0], 0, NULL), *pair = json_loads(text[1], 0, NULL);
    json_t *tuned = json_loads(text[2], 0, NULL), *models = json_object_get(pair, "models");
    size_t  rmse = cr_metric_find(&cv.mean, "rmse");
    assert_close(json_number_value(json_object_get(json_object_get(alone, "metrics"), "rmse")),
                 cv.mean.metrics[rmse].value, 1e-15);
    assert_close(json_number_value(json_object_get(json_object_get(alone, "se"), "rmse")),
                 cv.se[rmse], 1e-15);
    assert_int_equal(json_array_size(json_object_get(alone, "folds")), 3);
    assert_true(json_equal(json_object_get(json_array_get(models, 0), "metrics"),
                           json_object_get(alone, "metrics")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(models, 1), "model")),
                        "b");
    assert_int_equal(json_array_size(json_object_get(tuned, "candidates")), 2);
    assert_non_null(json_object_get(json_object_get(tuned, "chosen"), "settings"));
    json_decref(alone);
    json_decref(pair);
    json_decref(tuned);
    cr_cv_free(cx, &cv);
    free_all(cx, text);
    cr_table_free(cx, t);
}

static cr_status use(cr_ctx *cx, void *unused)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    char     *text[3] = { NULL };
    (void)unused;
    CR_TRY(make(cx, &t));
    CR_TRY(report_all(cx, t, text));
done:
    free_all(cx, text);
    cr_table_free(cx, t);
    return st;
}

TEST(every_allocation_of_a_report_may_fail)
{
    assert_non_null(cx);
    test_every_allocation_fails(use, NULL);
}
