/* test_gp_search.c -- what the search for hyper-parameters finds by itself, and what it says of its
 * end. */
#include "../fixture.h"

/* Every `step`-th row of the table from `first` on. */
static cr_table *thin_diabetes(cr_ctx *cx, size_t first, size_t step)
{
    cr_table *all = read_table(cx, "examples/diabetes.csv"), *t = NULL;
    size_t    rows = cr_table_rows(all), n = (rows - first + step - 1) / step;
    double   *column = malloc(n * sizeof *column);
    assert_ok(cx, cr_table_new(cx, "thin", n, &t));
    for (size_t j = 0; j < cr_table_columns(all); j++) {
        const cr_column *c = cr_table_column(all, j);
        for (size_t i = 0; i < n; i++) column[i] = c->values[(first + i * step) * c->stride];
        assert_ok(cx, cr_table_add_numbers(cx, t, c->name, CR_REAL, column, 1));
    }
    free(column);
    return t;
}

/* With ten columns the evidence has many optima, that differ by which columns are in: the starts
 * that the data give alone find what many random ones do. */
TEST(best_of_many)
{
    static const struct {
        size_t      first, step;
        const char *kernel;
    } cases[] = {
        { 0, 5, "rbf(ard)" }, { 2, 5, "rbf(ard)" }, { 1, 6, "rbf(ard)" }, { 0, 9, "matern52(ard)" }
    };
    cr_ctx_set_threads(cx, 1);
    for (size_t c = 0; c < 4; c++) {
        char settings[200], more[240];
        snprintf(settings, sizeof settings, "target=progression kernel=%s", cases[c].kernel);
        snprintf(more, sizeof more, "%s restarts=12", settings);
        cr_table *t = thin_diabetes(cx, cases[c].first, cases[c].step);
        cr_model *alone = fit(cx, "gp", t, settings), *many = fit(cx, "gp", t, more);
        double    found = cr_model_get_report(alone)->log_evidence,
               known = cr_model_get_report(many)->log_evidence;
        if (!(found > known - 0.01)) print_message("case %zu: %.4f, %.4f known\n", c, found, known);
        assert_true(found > known - 0.01);
        assert_int_equal(cr_model_get_report(alone)->stop, CR_STOP_TOLERANCE);
        cr_table_free(cx, t);
    }
}

/* max_iter bounds the iterations that the report names, whatever else was tried. */
TEST(max_iter)
{
    static const char *const kernels[] = { "rbf", "rbf(ard)", "matern52(ard)+linear" };
    cr_table                *t = thin_diabetes(cx, 0, 6);
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
