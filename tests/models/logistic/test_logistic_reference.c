/* test_logistic_reference.c -- logistic and softmax regression against the reference answers. */
#include "../fixture.h"

/* --- reference answers ----------------------------------------------------------------------- */

TEST(reference_binary)
{
    json_t *item, *cases = reference_cases(cx, "glm_binary");
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
        cr_model_free(cx, m);
        cr_table_free(cx, t);
        checked++;
    }
    assert_true(checked >= 2);
}

TEST(reference_lasso)
{
    json_t *item, *step, *cases = reference_cases(cx, "lasso");
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
            cr_model_free(cx, m);
            checked++;
        }
    }
    assert_true(checked >= 10);
}

TEST(reference_softmax)
{
    json_t *item, *one, *cases = reference_cases(cx, "softmax");
    size_t  i, k, checked = 0;
    json_array_foreach(cases, i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        if (strcmp(id, "softmax-l2-wine") != 0 && strcmp(id, "softmax-l2-iris") != 0) continue;
        json_t *data = json_object_get(item, "data");
        char    path[256], settings[256];
        snprintf(path, sizeof path, "classic/%s", json_string_value(json_object_get(data, "file")));
        cr_table *t = read_table(cx, test_data(path));
        json_array_foreach(json_object_get(json_object_get(item, "expected"), "fits"), k, one)
        {
            double n = (double)cr_table_rows(t); /* the reference has a sum where a mean is now */
            snprintf(settings, sizeof settings, "target=%s lambda=%.17g",
                     json_string_value(json_object_get(data, "target")),
                     number_of(one, "lambda") / n);
            cr_model     *m = fit(cx, "logistic", t, settings);
            json_t       *d = describe(cx, m);
            cr_prediction q = predict(cx, m, t);
            assert_relative(statistic(d, "objective_value"), number_of(one, "objective") / n, 1e-8);
            for (size_t a = 0; a < 9; a++)
                assert_close(
                    q.prob[a],
                    element(json_array_get(json_object_get(one, "prob_first3"), a / 3), a % 3),
                    1e-5);
            cr_model_free(cx, m);
            checked++;
        }
    }
    assert_true(checked >= 4);
}

/* One case by its name; skips where it is not there. */
static json_t *case_of(cr_ctx *cx, const char *family, const char *id)
{
    json_t *cases = reference_cases(cx, family), *item;
    size_t  i;
    json_array_foreach(cases, i, item) if (strcmp(json_string_value(json_object_get(item, "id")),
                                                  id) == 0) return item;
    fail_msg("no case %s", id);
    return NULL;
}

static cr_table *table_of_case(cr_ctx *cx, const json_t *item)
{
    char path[256];
    snprintf(path, sizeof path, "classic/%s",
             json_string_value(json_object_get(json_object_get(item, "data"), "file")));
    return read_table(cx, test_data(path));
}

/* Ten classes.  The pixels of the reference are divided by 16, and its penalty stands beside a sum of n
 * rows: as they are, it is 256 / n. */
TEST(reference_digits)
{
#ifdef __SANITIZE_ADDRESS__
    test_skip("too slow under sanitizers"); /* 650 coefficients */
#endif
    json_t   *item = case_of(cx, "softmax", "softmax-l2-digits");
    json_t   *want = json_array_get(json_object_get(json_object_get(item, "expected"), "fits"), 0);
    cr_table *t = table_of_case(cx, item);
    double    n = (double)cr_table_rows(t);
    char      settings[100];
    snprintf(settings, sizeof settings, "target=digit scale=none lambda=%.17g solver=newton",
             256 / n);
    cr_model     *m = fit(cx, "logistic", t, settings);
    json_t       *d = describe(cx, m);
    cr_prediction q = predict(cx, m, t);
    size_t        right = 0;
    assert_relative(statistic(d, "objective_value"), number_of(want, "objective") / n, 1e-8);
    assert_close(-cr_model_get_report(m)->log_likelihood, number_of(want, "nll"), 1e-4);
    for (size_t a = 0; a < 30; a++)
        assert_close(q.prob[a],
                     element(json_array_get(json_object_get(want, "prob_first3"), a / 10), a % 10),
                     1e-5);
    const cr_column *y = cr_table_find(t, "digit");
    for (size_t i = 0; i < q.n; i++) {
        size_t best = 0;
        for (size_t k = 1; k < 10; k++)
            if (q.prob[i * 10 + k] > q.prob[i * 10 + best]) best = k;
        right += (double)best == y->values[i * y->stride];
    }
    assert_close((double)right / (double)q.n, number_of(want, "train_accuracy"), 1e-12);
}

/* Three classes without a penalty: coefficients against the first, and their standard errors. */
TEST(reference_abalone)
{
    json_t            *item = case_of(cx, "softmax", "mnlogit-abalone-sex");
    json_t            *want = json_object_get(item, "expected");
    json_t            *coef = json_object_get(want, "coef_vs_class0_rows_intercept_first");
    json_t            *se = json_object_get(want, "se");
    cr_table          *t = table_of_case(cx, item);
    size_t             n = cr_table_rows(t);
    double            *sex = malloc(n * sizeof *sex);
    static const char *names[] = { "sex_M", "sex_F", "sex_I" };
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++) {
            const cr_column *c = cr_table_find(t, names[k]);
            if (c->values[i * c->stride] == 1) sex[i] = (double)k;
        }
    assert_ok(cx, cr_table_add_numbers(cx, t, "sex", CR_INTEGER, sex, 1));
    free(sex);
    cr_model *m = fit(cx, "logistic", t,
                      "target=sex features=length,diameter,height,whole,shucked,viscera,shell");
    json_t   *d = describe(cx, m), *list = json_object_get(d, "parameters");
    assert_close(cr_model_get_report(m)->log_likelihood, number_of(want, "loglik"), 1e-6);
    assert_close(statistic(d, "null_deviance") / -2, number_of(want, "loglik_null"), 1e-6);
    for (size_t k = 0; k < 2; k++)
        for (size_t j = 0; j < 8; j++) {
            const json_t *have = json_array_get(list, k * 8 + j);
            assert_relative(number_of(have, "value"), element(json_array_get(coef, j), k), 1e-5);
            assert_relative(number_of(have, "sd"), element(json_array_get(se, j), k), 1e-5);
        }
}

static void note_separation(void *user, cr_log_level level, const char *text)
{
    if (level == CR_LOG_WARNING && strstr(text, "separated perfectly")) *(bool *)user = true;
}

/* Setosa against the rest: said to be separated, with no standard errors, and all rows right. */
TEST(reference_separable)
{
    json_t          *item = case_of(cx, "glm_binary", "logit-separable-iris");
    cr_table        *t = table_of_case(cx, item);
    const cr_column *y = cr_table_find(t, "species");
    size_t           n = cr_table_rows(t);
    double          *setosa = malloc(n * sizeof *setosa);
    bool             said = false;
    for (size_t i = 0; i < n; i++) setosa[i] = strcmp(y->levels[y->codes[i]], "setosa") == 0;
    assert_ok(cx, cr_table_add_numbers(cx, t, "setosa", CR_INTEGER, setosa, 1));
    cr_ctx_set_log(cx, note_separation, &said);
    cr_model     *m = fit(cx, "logistic", t, "target=setosa features=!species");
    json_t       *d = describe(cx, m);
    cr_prediction q = predict(cx, m, t);
    assert_true(said &&
                isnan(number_of(json_array_get(json_object_get(d, "parameters"), 1), "sd")));
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
    for (size_t i = 0; i < n; i++) assert_true((q.prob[2 * i + 1] > 0.5) == (setosa[i] == 1));
    free(setosa);
}

/* Laplace's evidence, and by importance sampling the evidence and the moments, within their
 * errors. */
TEST(reference_bayes)
{
    json_t   *item = case_of(cx, "variational", "bayes-logistic-compare-pima_tr");
    json_t   *want = json_object_get(item, "expected");
    cr_table *t = table_of_case(cx, item);
    cr_model *a = fit(cx, "bayes-logistic", t, "target=type alpha=1 shrink_intercept=true");
    cr_model *b = fit(cx, "bayes-logistic", t,
                      "target=type alpha=1 shrink_intercept=true infer=importance draws=8000");
    json_t   *d = describe(cx, b);
    assert_close(cr_model_get_report(a)->log_evidence, number_of(want, "laplace_log_evidence"),
                 1e-8 * 104);
    double evidence = number_of(want, "true_log_evidence_importance_sampling");
    assert_true(fabs(cr_model_get_report(b)->log_evidence - evidence) < 0.02);
    for (size_t j = 1; j < 8; j++) {
        const json_t    *x = json_array_get(json_object_get(d, "parameters"), j);
        const cr_column *c = cr_table_find(t, json_string_value(json_object_get(x, "name")));
        double           mean = 0, square = 0,
               n = (double)cr_table_rows(t); /* the reference is of standardised columns */
        for (size_t i = 0; i < cr_table_rows(t); i++) mean += c->values[i * c->stride] / n;
        for (size_t i = 0; i < cr_table_rows(t); i++)
            square += pow(c->values[i * c->stride] - mean, 2) / n;
        double sd = element(json_object_get(want, "posterior_sd_importance_sampling"), j);
        assert_true(fabs(number_of(x, "value") * sqrt(square) -
                         element(json_object_get(want, "posterior_mean_importance_sampling"), j)) <
                    0.08 * sd);
        assert_relative(number_of(x, "sd") * sqrt(square), sd, 0.05);
    }
}
