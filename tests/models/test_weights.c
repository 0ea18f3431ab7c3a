/* test_weights.c -- what weights mean: a warning where they are no counts, and weights of which only the
 * ratios have a meaning. */
#include "fixture.h"

static const char HALVES[] = "x1,w,y,k\n1,0.5,1.1,1\n2,4,2.3,2\n3,0.25,2.2,2\n4,25,4.1,4\n"
                             "5,16,4.8,5\n6,1,6.9,9\n";
/* The same weights in another unit. */
static const char HUNDREDS[] = "x1,w,y,k\n1,50,1.1,1\n2,400,2.3,2\n3,25,2.2,2\n4,2500,4.1,4\n"
                               "5,1600,4.8,5\n6,100,6.9,9\n";

TEST(weights_that_are_no_counts_are_told)
{
    const char *const says = "the weights are not whole numbers";
    cr_table         *t = table_of_text(cx, "t.csv", HALVES);
    cr_table         *whole = table_of_text(cx, "whole.csv", HUNDREDS);
    cr_table         *shares =
        table_of_text(cx, "shares.csv", "x1,w,y\n1,0.5,1.1\n2,1.5,2.3\n3,0.25,2.2\n4,1.75,4.1\n");
    warnings w;
    size_t   models = 0;
    for (size_t k = 0; k < cr_class_count(); k++) {
        const char *name = cr_class_name(cr_class_at(k));
        cr_model   *m = NULL;
        if (!(cr_class_tasks(cr_class_at(k)) & CR_TASK_REGRESSION)) continue;
        if (try_fit(cx, name, t, "target=y features=x1 weights=w", &m) != CR_OK) continue;
        cr_model_free(cx, m);
        assert_non_null(
            strstr(fit_and_hear(cx, name, t, "target=y features=x1 weights=w", &w), says));
        assert_null(strstr(strstr(w.text, says) + 1, says)); /* once */
        models++;
    }
    assert_true(models >= 8);
    assert_non_null(strstr(fit_and_hear(cx, "linear", t, "target=y features=x1 weights=w", &w),
                           "--weights-are precisions"));
    assert_null(strstr(fit_and_hear(cx, "ridge", t, "target=y features=x1 weights=w", &w),
                       "--weights-are"));
    assert_null(strstr(
        fit_and_hear(cx, "linear", t, "target=y features=x1 weights=w weights-are=repetitions", &w),
        says));
    assert_null(strstr(
        fit_and_hear(cx, "linear", t, "target=y features=x1 weights=w weights-are=precisions", &w),
        says));
    assert_null(
        strstr(fit_and_hear(cx, "linear", whole, "target=y features=x1 weights=w", &w), says));
    assert_null(
        strstr(fit_and_hear(cx, "linear", shares, "target=y features=x1 weights=w", &w), says));
}

/* Weights that add up to fewer rows than there are coefficients. */
TEST(too_little_weight)
{
    cr_table *t =
        table_of_text(cx, "t.csv", "x1,w,y\n1,0.01,1.1\n2,0.04,2.3\n3,0.05,2.2\n4,0.03,4\n");
    warnings w;
    assert_non_null(strstr(fit_and_hear(cx, "linear", t, "target=y features=x1 weights=w", &w),
                           "the weights add up to 0.13 rows, fewer than the 2 coefficients"));
    json_t *d = describe(cx, fit(cx, "linear", t, "target=y features=x1 weights=w"));
    assert_true(isnan(statistic(d, "residual_dof")) && isnan(statistic(d, "adjusted_r2")));
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, "bayes-linear", t, "target=y features=x1 weights=w", &m),
                      CR_EDATA, "the weights add up to 0.13 rows");
}

/* R 4: summary(glm(y ~ x, family, weights = w, control = glm.control(epsilon = 1e-15))). */
TEST(precisions_of_families_are_those_of_r)
{
    static const struct {
        const char *settings;
        double      b0, b, sd0, sd, phi, deviance, null;
    } cases[] = {
        { "target=y family=gaussian", 0.44876156777355, 0.89895209580838, 0.45635720529546,
          0.10672745777374, 0.44758948013065, 1.79035792052259, 33.54451871657754 },
        { "target=y family=gamma link=log", 0.33079861127973, 0.25880323739348, 0.15203770548899,
          0.03555679104943, 0.04967897884362, 0.23142163137826, 2.49089169079709 },
        { "target=y family=inverse-gaussian link=log", 0.243239847516318, 0.280449765153683,
          0.149969923779263, 0.037083558343169, 0.018513033225284, 0.095867281174344,
          0.760678627401487 },
        { "target=k family=poisson dispersion=pearson", 0.079554484301805, 0.317463627858215,
          0.197794965766832, 0.044217630717342, 0.237728369683048, 0.942339906763292,
          14.495183790908870 },
    };
    cr_table *t = table_of_text(cx, "t.csv", HALVES), *u = table_of_text(cx, "u.csv", HUNDREDS);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char settings[160];
        snprintf(settings, sizeof settings, "%s features=x1 weights=w weights-are=precisions",
                 cases[k].settings);
        cr_model     *m = fit(cx, "glm", t, settings), *n = fit(cx, "glm", u, settings);
        const json_t *d = describe(cx, m), *e = describe(cx, n);
        assert_relative(coefficient(d, 0, "value"), cases[k].b0, 1e-7);
        assert_relative(coefficient(d, 1, "value"), cases[k].b, 1e-7);
        assert_relative(coefficient(d, 0, "sd"), cases[k].sd0, 1e-7);
        assert_relative(coefficient(d, 1, "sd"), cases[k].sd, 1e-7);
        assert_relative(statistic(d, "dispersion"), cases[k].phi, 1e-7);
        assert_relative(statistic(d, "deviance"), cases[k].deviance, 1e-7);
        assert_relative(statistic(d, "null_deviance"), cases[k].null, 1e-7);
        for (size_t j = 0; j < 2; j++) { /* whatever their unit */
            assert_relative(coefficient(e, j, "value"), coefficient(d, j, "value"), 1e-9);
            assert_relative(coefficient(e, j, "sd"), coefficient(d, j, "sd"), 1e-9);
            assert_relative(coefficient(e, j, "lower"), coefficient(d, j, "lower"), 1e-9);
        }
        assert_relative(statistic(e, "dispersion"), 100 * cases[k].phi, 1e-7);
        assert_relative(cr_model_get_report(n)->log_likelihood,
                        cr_model_get_report(m)->log_likelihood, k == 3 ? INFINITY : 1e-9);
    }
    cr_model *none = NULL;
    assert_fails_with(
        cx,
        try_fit(cx, "glm", t,
                "target=k features=x1 family=poisson weights=w weights-are=precisions", &none),
        CR_EARG, "needs a dispersion that is estimated");
}

/* The Gaussian is least squares, with any standard errors. */
TEST(precisions_of_the_gaussian_are_those_of_linear)
{
    static const char *const errors[] = { "classical", "hc0", "hc1" };
    cr_table                *t = table_of_text(cx, "t.csv", HALVES);
    for (size_t k = 0; k < 3; k++) {
        char settings[160];
        snprintf(settings, sizeof settings,
                 "target=y features=x1 weights=w weights-are=precisions errors=%s", errors[k]);
        cr_model     *a = fit(cx, "linear", t, settings), *b = fit(cx, "glm", t, settings);
        const json_t *d = describe(cx, a), *e = describe(cx, b);
        cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
        for (size_t j = 0; j < 2; j++)
            assert_relative(coefficient(e, j, "sd"), coefficient(d, j, "sd"), 1e-10);
        for (size_t i = 0; i < p.n; i++) assert_relative(q.scale[i], p.scale[i], 1e-10);
        assert_relative(cr_model_get_report(b)->log_likelihood,
                        cr_model_get_report(a)->log_likelihood, 1e-12);
    }
}
