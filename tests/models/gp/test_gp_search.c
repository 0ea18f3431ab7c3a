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
        snprintf(settings, sizeof settings, "target=progression hyper=best kernel=%s",
                 cases[c].kernel);
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

/* So is that of sums whose terms have to find their parts: a linear one that had died away, a short one
 * beside little noise, one that stood for noise; and of lengths as short as neighbours are far. */
TEST(best_known_of_sums)
{
    leave_to_other_builds();
    static const known_fit cases[] = {
        { "airfoil", "spl", 1, 40, "rbf+rbf", -126.6973 },
        { "airquality", "Ozone", 2, 40, "rbf+linear", -188.8841 },
        { "boston", "medv", 1, 100, "rbf+linear", -261.4631 },
        { "boston", "medv", 1, 100, "rbf+rbf", -269.8942 },
        { "diabetes", "progression", 1, 40, "rbf+linear", -228.5613 },
        { "powerplant", "PE", 239, 40, "rbf+rbf", -126.4598 },
        { "winequality_red", "quality", 1, 100, "rbf", -26.0736 },
        { "yacht", "resistance", 7, 40, "rbf+linear", -34.2486 },
        { "yacht", "resistance", 1, 100, "rbf+linear", -168.4740 },
        { "yacht", "resistance", 3, 100, "rbf+linear", -379.2691 },
        { "faithful", "eruptions", 1, 40, "rbf*periodic", -28.7777 },
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

/* Some patients, and as a class who of them fared worse. */
static cr_table *read_patients(cr_ctx *cx, size_t step)
{
    cr_table        *t = thin_table(cx, "examples/diabetes.csv", 0, step, SIZE_MAX);
    const cr_column *c = cr_table_find(t, "progression");
    double           worse[500] = { 0 };
    for (size_t i = 0; i < cr_table_rows(t); i++) worse[i] = c->values[i * c->stride] > 150;
    assert_ok(cx, cr_table_add_numbers(cx, t, "worse", CR_REAL, worse, 1));
    return t;
}

/* The same of every way to learn, and a fit that ended there says so. */
TEST(max_iter_of_all)
{
    static const char *const ways[][2] = {
        { "gp", "target=progression approx=vfe inducing=20 kernel=rbf(ard)" },
        { "gp", "target=progression approx=fitc inducing=20 kernel=rbf(ard)" },
        { "gp", "target=progression approx=vfe inducing=8 optimize_inducing=true kernel=rbf" },
        { "gp", "target=progression approx=rff inducing=30 kernel=rbf(ard)" },
        { "gp", "target=progression solver=cg kernel=rbf(ard)" },
        { "gp-classify", "target=worse kernel=rbf(ard)" },
        { "gp-classify", "target=worse approx=svgp inducing=20 kernel=rbf(ard)" },
        { "gp-online", "target=progression inducing=20 kernel=rbf(ard)" },
    };
    cr_table *t = read_patients(cx, 6);
    size_t    limited = 0;
    cr_ctx_set_threads(cx, 1);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t most = 1; most <= 4; most += 3) {
            char settings[200];
            snprintf(settings, sizeof settings, "%s features=bmi,bp,s5 max_iter=%zu", ways[w][1],
                     most);
            const cr_report *r = cr_model_get_report(fit(cx, ways[w][0], t, settings));
            assert_true(r->iterations <= most);
            if (r->stop == CR_STOP_LIMIT) assert_int_equal(r->iterations, most);
            limited += r->stop == CR_STOP_LIMIT;
        }
    assert_true(limited >= 8); /* few of these converge so soon */
    cr_table_free(cx, t);
}

/* The largest slope of the log evidence by a parameter within its bounds. */
static double steepest(cr_ctx *cx, const cr_model *m)
{
    json_t     *d = describe(cx, m), *item;
    const char *bounds =
        json_string_value(json_object_get(json_object_get(d, "statistics"), "at_bound"));
    double most = 0;
    size_t i;
    json_array_foreach(json_object_get(d, "parameters"), i, item)
    {
        char at[100];
        snprintf(at, sizeof at, "%s (", json_string_value(json_object_get(item, "name")));
        bool bound = bounds && strstr(bounds, at);
        if (json_is_number(json_object_get(item, "gradient")) && !bound)
            most = fmax(most, fabs(number_of(item, "gradient")));
    }
    return most;
}

/* A fit that says it has converged has no slope left, and one that has some does not say so, be it
 * stopped after any number of steps: sums whose terms die away, columns that do, next to no noise. */
TEST(converged_is_level)
{
    static const char *const kernels[] = { "rbf",      "rbf+linear", "rbf+rbf+matern32",
                                           "rbf(ard)", "rq+linear",  "rbf+rbf*periodic" };
    static const size_t      limits[] = { 2, 7, 20, 200 };
    cr_table                *t = read_patients(cx, 11);
    size_t                   converged = 0;
    cr_ctx_set_threads(cx, 1);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            char settings[200];
            snprintf(settings, sizeof settings,
                     "target=progression features=bmi,s5 hyper=best gradient=true kernel=%s "
                     "max_iter=%zu",
                     kernels[k], limits[i]);
            cr_model        *m = fit(cx, "gp", t, settings);
            const cr_report *r = cr_model_get_report(m);
            if (r->stop != CR_STOP_TOLERANCE) continue;
            assert_true(steepest(cx, m) <= 3e-4 * fabs(r->log_evidence));
            converged++;
        }
    assert_true(converged >= 6);
    cr_table_free(cx, t);
}

/* An update that took all the steps it may has not converged. */
TEST(steps_of_an_update)
{
    cr_table *first = thin_table(cx, "examples/diabetes.csv", 0, 12, SIZE_MAX);
    cr_table *next = thin_table(cx, "examples/diabetes.csv", 1, 6, SIZE_MAX);
    cr_ctx_set_threads(cx, 1);
    for (size_t steps = 1; steps <= 200; steps += 199) {
        char      settings[200];
        cr_model *m, *more = NULL;
        snprintf(settings, sizeof settings,
                 "target=progression features=bmi,s5 inducing=15 kernel=rbf steps=%zu", steps);
        m = fit(cx, "gp-online", first, settings);
        assert_ok(cx, cr_update(cx, m, next, &more));
        const cr_report *r = cr_model_get_report(more);
        assert_true(r->iterations <= steps);
        assert_int_equal(r->stop, steps == 1 ? CR_STOP_LIMIT : CR_STOP_TOLERANCE);
        cr_model_free(cx, more);
    }
    cr_table_free(cx, first);
    cr_table_free(cx, next);
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
