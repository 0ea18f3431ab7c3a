/* test_bayes_linear_exact.c -- Bayesian linear regression of a target without any noise: the
 * coefficients are found, the noise is rounding, and a warning says so. */
#include "support.h"

#include "models/core/model.h"

enum { N = 16 };

static const double x1[N] = { 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4 };
static const double x2[N] = { 3, 3, 3, 3, 1, 1, 1, 1, 3, 3, 3, 3, 1, 1, 1, 1 };

static void count_warnings(void *user, cr_log_level level, const char *text)
{
    if (level == CR_LOG_WARNING && strstr(text, "without any error")) ++*(size_t *)user;
}

/* Fits y = 7 + 2 x1 - 3 x2 + error. */
static cr_status fit(cr_ctx *cx, const char *optimize, double error, double *out_mean,
                     double *out_scale, double *out_evidence)
{
    cr_status     st = CR_OK;
    cr_table     *t = NULL;
    cr_model     *m = NULL;
    cr_prediction p = { 0 };
    double        y[N];
    cr_setting    settings[] = { { "target", "y" }, { "optimize", optimize } };

    for (size_t i = 0; i < N; i++) y[i] = 7 + 2 * x1[i] - 3 * x2[i] + (i % 2 ? error : -error);
    CR_TRY(cr_table_new(cx, "t", N, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x1", CR_REAL, x1, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x2", CR_REAL, x2, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_fit(cx, "bayes-linear", t, settings, 2, &m));
    CR_TRY(cr_predict(cx, m, t, &p));
    *out_mean = p.mean[5];
    *out_scale = p.scale[5];
    *out_evidence = cr_model_get_report(m)->log_evidence;
done:
    cr_prediction_free(cx, &p);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

static void check_exact(const char *optimize)
{
    cr_ctx *cx = test_context();
    size_t  warnings = 0;
    double  mean = 0, scale = 0, evidence = 0;
    cr_ctx_set_log(cx, count_warnings, &warnings);
    assert_ok(cx, fit(cx, optimize, 0, &mean, &scale, &evidence));
    assert_int_equal(warnings, 1);
    assert_close(mean, 7 + 2 * 2 - 3, 1e-9);
    assert_true(scale > 0 && scale < 1e-6);
    assert_true(isfinite(evidence));
    assert_ok(cx, fit(cx, optimize, 1e-3, &mean, &scale, &evidence)); /* noise that can be seen */
    assert_int_equal(warnings, 1);
    assert_close(scale, 1e-3, 3e-4);
    test_context_free(cx);
}

TEST(no_noise_is_rounding)
{
    check_exact("fixed-point");
    check_exact("em");
}
