/* test_logistic_reference.c -- logistic and softmax regression against the reference answers. */
#include "../fixture.h"

/* --- reference answers ----------------------------------------------------------------------- */

static void test_reference_binary(void **state)
{
    (void)state;
    cr_ctx *cx = test_context();
    json_t *root, *item, *cases = reference_cases("glm_binary", &root);
    size_t  i, checked = 0;
    json_array_foreach(cases, i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        json_t     *e = json_object_get(item, "expected"),
               *coef = json_object_get(e, "coef_intercept_first");
        if (strncmp(id, "logit-", 6) != 0 || !coef) continue;
        char      settings[1024];
        cr_table *t = reference_table(cx, item, settings, sizeof settings);
        cr_model *m = fit(cx, "logistic", t, settings);
        json_t   *d = describe(cx, m), *list = json_object_get(d, "parameters");
        for (size_t j = 0; j < json_array_size(coef); j++) {
            assert_relative(number_of(json_array_get(list, j), "value"), element(coef, j), 1e-6);
            assert_relative(number_of(json_array_get(list, j), "sd"),
                            element(json_object_get(e, "se_expected_information"), j), 1e-6);
        }
        assert_close(statistic(d, "deviance"), number_of(e, "deviance"), 1e-8);
        assert_close(statistic(d, "null_deviance"), number_of(e, "null_deviance"), 1e-8);
        assert_close(statistic(d, "aic"), number_of(e, "aic"), 1e-8);
        assert_close(statistic(d, "bic"), number_of(e, "bic"), 1e-8);
        json_decref(d);
        cr_model_free(cx, m);
        cr_table_free(cx, t);
        checked++;
    }
    assert_true(checked >= 2);
    json_decref(root);
    test_context_free(cx);
}

static void test_reference_lasso(void **state)
{
    (void)state;
    cr_ctx *cx = test_context();
    json_t *root, *item, *step, *cases = reference_cases("lasso", &root);
    size_t  i, k, checked = 0;
    json_array_foreach(cases, i, item)
    {
        if (strncmp(json_string_value(json_object_get(item, "id")), "logistic-", 9) != 0) continue;
        char      settings[1024], all[1200];
        cr_table *t = reference_table(cx, item, settings, sizeof settings);
        json_array_foreach(json_object_get(json_object_get(item, "expected"), "path"), k, step)
        {
            snprintf(all, sizeof all, "%s penalty=l1 lambda=%.17g", settings,
                     number_of(step, "lambda"));
            cr_model *m = fit(cx, "logistic", t, all);
            json_t   *d = describe(cx, m), *list = json_object_get(d, "parameters");
            json_t   *coef = json_object_get(step, "coef_intercept_first_raw");
            assert_relative(statistic(d, "objective_value"), number_of(step, "objective"), 1e-8);
            assert_close(statistic(d, "nonzero"), number_of(step, "nonzero"), 0);
            for (size_t j = 0; j < json_array_size(coef); j++)
                assert_close(number_of(json_array_get(list, j), "value"), element(coef, j), 1e-5);
            json_decref(d);
            cr_model_free(cx, m);
            checked++;
        }
        cr_table_free(cx, t);
    }
    assert_true(checked >= 10);
    json_decref(root);
    test_context_free(cx);
}

static void test_reference_softmax(void **state)
{
    (void)state;
    cr_ctx *cx = test_context();
    json_t *root, *item, *one, *cases = reference_cases("softmax", &root);
    size_t  i, k, checked = 0;
    json_array_foreach(cases, i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        if (strcmp(id, "softmax-l2-wine") != 0 && strcmp(id, "softmax-l2-iris") != 0) continue;
        json_t *data = json_object_get(item, "data");
        char    path[256], settings[256];
        snprintf(path, sizeof path, "classic/%s", json_string_value(json_object_get(data, "file")));
        cr_table *t = read_table(cx, test_shared_data(path));
        json_array_foreach(json_object_get(json_object_get(item, "expected"), "fits"), k, one)
        {
            snprintf(settings, sizeof settings, "target=%s lambda=%g",
                     json_string_value(json_object_get(data, "target")), number_of(one, "lambda"));
            cr_model     *m = fit(cx, "logistic", t, settings);
            json_t       *d = describe(cx, m);
            cr_prediction q = predict(cx, m, t);
            assert_relative(statistic(d, "objective_value"), number_of(one, "objective"), 1e-8);
            for (size_t a = 0; a < 9; a++)
                assert_close(
                    q.prob[a],
                    element(json_array_get(json_object_get(one, "prob_first3"), a / 3), a % 3),
                    1e-5);
            cr_prediction_free(cx, &q);
            json_decref(d);
            cr_model_free(cx, m);
            checked++;
        }
        cr_table_free(cx, t);
    }
    assert_true(checked >= 4);
    json_decref(root);
    test_context_free(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_binary),
        cmocka_unit_test(test_reference_lasso),
        cmocka_unit_test(test_reference_softmax),
    };
    return cmocka_run_group_tests_name("logistic reference", tests, NULL, NULL);
}
