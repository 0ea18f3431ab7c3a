/* test_selection_coverage.c -- intervals of new rows after terms were searched for hold what they say, also
 * with fewer rows than terms. */
#include "../fixture.h"
#include "math/special/special.h"

enum { MOST = 130 * 60, NEW = 100 };

/* Rows of p standard normal columns, of which the first `real` count, and noise of sd 1. */
static cr_table *draw(cr_ctx *cx, cr_rng *r, size_t n, size_t p, size_t real)
{
    static double X[MOST], y[MOST];
    for (size_t i = 0; i < n; i++) {
        y[i] = cr_rng_normal(r);
        for (size_t j = 0; j < p; j++) {
            X[i * p + j] = cr_rng_normal(r);
            if (j < real) y[i] += 2 * X[i * p + j];
        }
    }
    return make_table(cx, X, n, p, y, NULL);
}

TEST(intervals_after_selection_hold)
{
    static const struct {
        size_t      n, p, real;
        const char *select;
    } cases[] = { { 20, 20, 0, "forward" },
                  { 15, 10, 0, "forward" },
                  { 30, 20, 0, "forward" },
                  { 20, 60, 3, "forward" },
                  { 15, 10, 0, "best" } };
    size_t times = simulation_size(80, 200);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double hits = 0, terms = 0;
        for (size_t k = 0; k < times; k++) {
            cr_rng    r = cr_rng_stream(7 + c, k);
            char      settings[64];
            cr_table *t = draw(cx, &r, cases[c].n, cases[c].p, cases[c].real);
            cr_table *u = draw(cx, &r, NEW, cases[c].p, cases[c].real);
            snprintf(settings, sizeof settings, "target=y select=%s", cases[c].select);
            cr_model        *m = fit(cx, "linear", t, settings);
            cr_prediction    p = predict(cx, m, u);
            const cr_column *y = cr_table_find(u, "y");
            terms += statistic(describe(cx, m), "selected");
            for (size_t i = 0; i < NEW; i++)
                hits += fabs(y->values[i * y->stride] - p.mean[i]) <=
                        cr_student_t_ppf(0.975, p.dof[i]) * p.scale[i];
        }
        double share = hits / (double)(times * NEW);
        if (!(share > 0.905 && share < 0.98))
            fail_msg("%zu x %zu, %s: 95 %% intervals hold %.3f of the time", cases[c].n, cases[c].p,
                     cases[c].select, share);
        if (cases[c].real == 0) assert_true(terms / (double)times < 2);
    }
}

/* Whatever the criterion: nearly as many terms as rows are told, and do not make narrow intervals. */
TEST(saturated_selections_are_told)
{
    cr_rng    r = cr_rng_stream(3, 0);
    cr_table *t = draw(cx, &r, 20, 20, 0);
    warnings  heard = { { 0 }, 0 };
    cr_model *m = NULL;
    cr_ctx_set_log(cx, keep_warning, &heard);
    assert_ok(cx, try_fit(cx, "linear", t, "target=y select=forward criterion=bic", &m));
    cr_ctx_set_log(cx, NULL, NULL);
    assert_non_null(strstr(heard.text, "terms were searched for among 20"));
    json_t *d = describe(cx, m);
    assert_true(statistic(d, "selected") > 10 && statistic(d, "inflation") > 10);
    assert_true(statistic(d, "residual_sd") > 0.5); /* the noise is 1 */
    cr_model_free(cx, m);
}
