/* test_gp_search.c -- what the search for hyper-parameters finds by itself, and what it says of its
 * end. */
#include "gp_known.h"

/* With ten columns the evidence has many optima, that differ by which columns are in: the starts
 * that the data give alone find what sixty random ones found (restarts=60). */
TEST(best_of_many)
{
    static const struct {
        size_t      first, step;
        const char *kernel;
        double      known;
    } cases[] = { { 0, 5, "rbf(ard)", -481.4705 },
                  { 2, 5, "rbf(ard)", -488.7585 },
                  { 1, 6, "rbf(ard)", -404.2281 },
                  { 0, 9, "matern52(ard)", -271.0313 } };
    cr_ctx_set_threads(cx, 1);
    for (size_t c = 0; c < 4; c++) {
        char settings[200];
        snprintf(settings, sizeof settings, "target=progression kernel=%s", cases[c].kernel);
        cr_table *t =
            thin_table(cx, "examples/diabetes.csv", cases[c].first, cases[c].step, SIZE_MAX);
        const cr_report *r = cr_model_get_report(fit(cx, "gp", t, settings));
        if (!(r->log_evidence > cases[c].known - 0.01))
            fail_msg("case %zu: %.4f, %.4f known", c, r->log_evidence, cases[c].known);
        assert_int_equal(r->stop, CR_STOP_TOLERANCE);
        cr_table_free(cx, t);
    }
}

/* The best evidence of hundreds of starts is found by those that the data give: functions that bend
 * slowly and are far larger than the target, two columns out of many, periods among noise, a sum of
 * which one term has to do the work of two. */
TEST(best_known)
{
    leave_to_other_builds();
    static const known_fit cases[] = {
        { "yacht", "resistance", 7, 40, "rbf", -40.9045 },
        { "yacht", "resistance", 3, 100, "rbf", -384.5290 },
        { "quakes", "mag", 1, 40, "rbf", -2.3759 },
        { "airquality", "Ozone", 1, 100, "rbf", -459.8972 },
        { "winequality_red", "quality", 1, 100, "rbf(ard)", 19.4323 },
        { "abalone", "rings", 1, 40, "rbf(ard)", -88.0731 },
        { "diabetes", "progression", 1, 40, "rbf(ard)", -214.7203 },
        { "lakehuron", "level_ft", 1, 100, "rbf*periodic", -101.6068 },
        { "nile", "flow", 1, 100, "rbf*periodic", -636.8779 },
        { "airpassengers", "passengers", 1, 144, "rbf+rbf*periodic", -567.7544 },
        { "co2", "co2_ppm", 4, 100, "rbf+rbf*periodic", -71.3290 },
    };
    check_known(cx, cases, sizeof cases / sizeof *cases);
}

/* max_iter bounds the iterations that the report names, whatever else was tried. */
TEST(max_iter)
{
    static const char *const kernels[] = { "rbf", "rbf(ard)", "matern52(ard)+linear" };
    cr_table                *t = thin_table(cx, "examples/diabetes.csv", 0, 6, SIZE_MAX);
    cr_ctx_set_threads(cx, 1);
    for (size_t k = 0; k < 3; k++)
        for (size_t most = 1; most <= 10; most += 9) {
            char settings[200];
            snprintf(settings, sizeof settings, "target=progression kernel=%s max_iter=%zu",
                     kernels[k], most);
            cr_model        *m = fit(cx, "gp", t, settings);
            const cr_report *r = cr_model_get_report(m);
            assert_true(r->iterations <= most);
            if (r->stop == CR_STOP_LIMIT) assert_int_equal(r->iterations, most);
            if (k == 2) assert_int_equal(r->stop, CR_STOP_LIMIT);
        }
    cr_table_free(cx, t);
}

/* A period far from the one that the expression begins with is found by itself. */
TEST(period)
{
    double X[60], y[60];
    for (size_t i = 0; i < 60; i++) {
        X[i] = 0.17 * (double)i + 0.05 * sin(11 * (double)i);
        y[i] = sin(2 * M_PI * X[i] / 0.37) + 0.3 * X[i] + 0.05 * cos(29 * (double)i);
    }
    cr_table *t = make_table(cx, X, 60, 1, y, NULL);
    cr_model *m = fit(cx, "gp", t, "target=y mean=linear kernel=rbf*periodic");
    json_t   *d = describe(cx, m);
    assert_relative(parameter(d, "periodic.p", "value"), 0.37, 0.01);
    cr_table_free(cx, t);
}
