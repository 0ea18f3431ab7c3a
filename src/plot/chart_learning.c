/* chart_learning.c -- the learning curve of a model, fitted anew with its settings to growing
 * parts. */
#include "refits.h"

static void fill(const cr_learning_curve *c, double *const a[6])
{
    for (size_t i = 0; i < c->n; i++) {
        const cr_curve_point *p = &c->points[i];
        double                test = p->test.metrics[0].value, se = p->test_se[0];
        a[0][i] = (double)p->rows;
        a[1][i] = test, a[2][i] = p->train.metrics[0].value;
        a[3][i] = test - se, a[4][i] = test + se;
    }
}

cr_status cri_chart_learning(cr_scratch *s, const cr_model *m, const cr_table *t, cri_chart *chart)
{
    static const double shares[] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1 };
    enum { N = sizeof shares / sizeof *shares };
    cr_status         st = CR_OK;
    cr_model_spec     spec;
    cr_cv_options     o = { .folds = 5, .repeats = 1, .interval = 0.95 };
    cr_learning_curve c = { 0 };
    double           *a[6];

    for (size_t k = 0; k < 6; k++) a[k] = cr_scratch_f64(s, N);
    CR_TRY(s->status);
    CR_TRY(cri_settings_of(s, m, &spec));
    CR_TRY(cr_learn_curve(s->cx, &spec, t, shares, N, &o, &c));
    fill(&c, a);
    const char *metric = c.points[0].test.metrics[0].name; /* proper scores come first */
    *chart = (cri_chart){ .x = { .title = "rows learned from" }, .y = { .title = metric } };
    cri_chart_add(
        chart, (cri_svg_series){ "one standard error", CRI_SVG_BAND, CRI_SVG_SKY, 0.25, 0, false },
        ':', a[0], a[3], a[4], c.n);
    cri_chart_add(
        chart, (cri_svg_series){ "on its own rows", CRI_SVG_LINE, CRI_SVG_VERMILLION, 1, 2, true },
        '+', a[0], a[2], NULL, c.n);
    cri_chart_add(chart,
                  (cri_svg_series){ "on new rows", CRI_SVG_LINE, CRI_SVG_BLUE, 1, 2.25, false },
                  '*', a[0], a[1], NULL, c.n);
    cri_chart_fit_axes(chart);
    chart->title = cri_compose(s, "%s: learning curve of %s (%zu rows)", spec.model,
                               cr_design_target(cr_model_get_design(m)), cr_table_rows(t));
    chart->caption[0] = cr_metric_sense(metric) > 0
                            ? "Higher is better.  Where the curves meet, more rows would not help."
                            : "Lower is better.  Where the curves meet, more rows would not help.";
    chart->description = cri_compose(s, "%s by %d folds. %s", chart->title, 5, chart->caption[0]);
    CR_TRY(s->status);
done:
    cr_learning_curve_free(s->cx, &c);
    return st;
}
