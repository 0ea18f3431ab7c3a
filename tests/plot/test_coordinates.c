/* test_coordinates.c -- figures of linear coordinates: eigenvalues, intervals, scores, arrows and bars against what
 * describe and predict say, and against each other. */
#include "both_forms.h"
#include "plot/latent.h"

enum { N = 60, P = 5 };

static cr_table *rows_of(cr_ctx *cx)
{
    double X[N * P];
    cr_rng r = cr_rng_stream(5, 2);
    for (size_t i = 0; i < N; i++) {
        double a = cr_rng_normal(&r), b = cr_rng_normal(&r);
        for (size_t j = 0; j < P; j++)
            X[i * P + j] = 1000 * (double)j + a * (double)(j + 1) - b * (double)(j * j) +
                           (1 + (double)j) * cr_rng_normal(&r);
    }
    return make_table(cx, X, N, P, NULL, NULL);
}

static double statistic_of(const json_t *d, const char *what, size_t j)
{
    char name[64];
    snprintf(name, sizeof name, "%s(z%zu)", what, j + 1);
    return statistic(d, name);
}

static double loading_of(const json_t *d, size_t j, const char *term, const char *key)
{
    char name[64];
    snprintf(name, sizeof name, "z%zu.%s", j + 1, term);
    return parameter(d, name, key);
}

TEST(scree)
{
    cr_scratch s = cr_scratch_begin(cx);
    cr_table  *t = rows_of(cx);
    cr_model  *m = fit(cx, "pca", t, "components=3"), *p = fit(cx, "ppca", t, "components=2");
    json_t    *d = describe(cx, m);
    cri_chart  c;
    double     sum = 0, share = 0;
    assert_ok(cx, cri_chart_scree(&s, m, 0.9, &c));
    const cri_chart_series *line = series_named(&c, "eigenvalue"),
                           *rest = series_named(&c, "the rest");
    const cri_chart_series *bars = series_named(&c, "90 % interval");
    assert_int_equal(c.n_top, 3);
    for (size_t j = 0; j < 3; j++) {
        double value = statistic_of(d, "eigenvalue", j), sd = statistic_of(d, "eigenvalue_sd", j);
        char   label[32];
        sum += value, share += statistic_of(d, "share", j);
        assert_true(line->x[j] == (double)j + 1 && line->y[j] == value);
        assert_close(bars->upper[j], value + 1.6448536269514722 * sd, 1e-12);
        assert_close(bars->y[j], fmax(0, value - 1.6448536269514722 * sd), 1e-12);
        snprintf(label, sizeof label, "%.0f %%", 100 * share);
        if (share < 0.985) assert_string_equal(c.top[j].label, label);
    }
    /* The rest is shared by the other eigenvalues, which a fit with all components has. */
    json_t *all = describe(cx, fit(cx, "pca", t, "components=all"));
    assert_close(rest->y[0],
                 (statistic_of(all, "eigenvalue", 3) + statistic_of(all, "eigenvalue", 4)) / 2,
                 1e-10);
    check_both_forms(cx, m, NULL, CR_PLOT_SCREE, "eigenvalues of 3 coordinates");
    check_both_forms(cx, m, NULL, CR_PLOT_FIT, "eigenvalues of 3 coordinates");
    check_both_forms(cx, p, t, CR_PLOT_SCREE, "explained so far");
    m = fit(cx, "kernel-pca", t, "components=2"); /* has eigenvalues, but no loadings */
    check_both_forms(cx, m, NULL, CR_PLOT_SCREE, "eigenvalues of 2 coordinates");
    check_refused(cx, m, t, CR_PLOT_BIPLOT, "no loadings");
    check_refused(cx, m, t, CR_PLOT_LOADINGS, "no loadings");
    check_both_forms(cx, m, t, CR_PLOT_FIT, "the first two of 2 coordinates");
    cr_scratch_end(&s);
}

TEST(biplot)
{
    const char *const models[] = { "pca", "ppca" };
    cr_scratch        s = cr_scratch_begin(cx);
    for (size_t k = 0; k < 2; k++) {
        cr_table     *t = rows_of(cx);
        cr_model     *m = fit(cx, models[k], t, "components=3");
        json_t       *d = describe(cx, m);
        cr_prediction z = predict(cx, m, t);
        cri_chart     c;
        double        factor, reach = 0;
        assert_ok(cx, cri_chart_biplot(&s, m, t, &c));
        assert_true(c.equal && c.n_notes == P && c.series[0].n == N);
        assert_int_equal(sscanf(c.caption[0], "Arrows: loadings times %lf", &factor), 1);
        for (size_t i = 0; i < N; i++) {
            assert_true(c.series[0].x[i] == z.vector[3 * i] &&
                        c.series[0].y[i] == z.vector[3 * i + 1]);
            reach = fmax(reach, fabs(c.series[0].x[i]));
        }
        for (size_t j = 0; j < P; j++) {
            char name[8];
            snprintf(name, sizeof name, "x%zu", j + 1);
            const cri_chart_series *arrow = series_named(&c, name);
            double a = loading_of(d, 0, name, "value"), b = loading_of(d, 1, name, "value");
            assert_relative(arrow->x[0], factor * a, 1e-2); /* three digits */
            assert_close(arrow->x[0] * b, arrow->y[0] * a, 1e-10 * factor);
            assert_true(fabs(arrow->x[0]) <= reach);
        }
        check_both_forms(cx, m, t, CR_PLOT_FIT, "rows and columns on the first two of 3");
        check_both_forms(cx, m, t, CR_PLOT_COMPONENTS, "rows and columns on the first two of 3");
        check_both_forms(cx, m, t, CR_PLOT_BIPLOT, "x4");
        m = fit(cx, models[k], t, "components=1");
        check_refused(cx, m, t, CR_PLOT_BIPLOT, "needs two coordinates");
        check_both_forms(cx, m, t, CR_PLOT_FIT, "its coordinate");
    }
    cr_scratch_end(&s);
}

TEST(loadings)
{
    cr_scratch s = cr_scratch_begin(cx);
    cr_table  *t = rows_of(cx);
    cr_model  *m = fit(cx, "pca", t, "components=all");
    json_t    *d = describe(cx, m);
    cri_parts  p;
    assert_ok(cx, cri_loadings_new(&s, m, 0.9, &p));
    assert_int_equal(p.n, 4);
    for (size_t j = 0; j < p.n; j++)
        for (size_t i = 0; i < P; i++) {
            const char *term = p.chart[j].levels[i];
            double      value = loading_of(d, j, term, "value"), sd = loading_of(d, j, term, "sd");
            assert_true(p.chart[j].series[1].y[i] == value);
            assert_close(p.chart[j].series[0].upper[i] - value, 1.6448536269514722 * sd, 1e-12);
            assert_close(value - p.chart[j].series[0].y[i], 1.6448536269514722 * sd, 1e-12);
        }
    check_both_forms(cx, m, NULL, CR_PLOT_LOADINGS, "loadings of the first 4 of 5 coordinates");
    check_both_forms(cx, fit(cx, "ppca", t, "components=2"), t, CR_PLOT_LOADINGS, "x5");
    check_refused(cx, fit(cx, "linear", t, "target=x1"), t, CR_PLOT_LOADINGS, "no coordinates");
    cr_scratch_end(&s);
}

/* More columns than there is space for: the largest stay. */
TEST(many_columns)
{
    enum { ROWS = 30, COLUMNS = 45 };
    static double X[ROWS * COLUMNS];
    cr_scratch    s = cr_scratch_begin(cx);
    cr_rng        r = cr_rng_stream(7, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double a = cr_rng_normal(&r);
        for (size_t j = 0; j < COLUMNS; j++)
            X[i * COLUMNS + j] = (j >= 40 ? 9 * a : 0) + cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, X, ROWS, COLUMNS, NULL, NULL);
    cr_model *m = fit(cx, "pca", t, "components=2 scale=none");
    cri_parts p;
    cri_chart c;
    assert_ok(cx, cri_loadings_new(&s, m, 0.95, &p));
    assert_int_equal(p.chart[0].n_levels, 30);
    assert_ok(cx, cri_chart_biplot(&s, m, t, &c));
    assert_int_equal(c.n_notes, 20);
    for (size_t j = 41; j <= 45; j++) { /* each of the five is there */
        size_t found = 0;
        char   name[8];
        snprintf(name, sizeof name, "x%zu", j);
        for (size_t i = 0; i < 30; i++) found += strcmp(p.chart[0].levels[i], name) == 0;
        for (size_t i = 0; i < 20; i++) found += strcmp(c.notes[i].text, name) == 0;
        assert_int_equal(found, 2);
    }
    check_both_forms(cx, m, t, CR_PLOT_LOADINGS, "The 30 columns with the largest loadings, of 45");
    check_both_forms(cx, m, t, CR_PLOT_BIPLOT, "of the 20 largest of 45 columns");
    cr_scratch_end(&s);
}

TEST(allocations)
{
    cr_table          *t = rows_of(cx);
    drawing            d = { fit(cx, "pca", t, "components=2"), t, CR_PLOT_FIT };
    const cr_plot_kind kinds[] = { CR_PLOT_FIT, CR_PLOT_SCREE, CR_PLOT_LOADINGS };
    for (size_t k = 0; k < 3; k++) {
        d.kind = kinds[k];
        test_every_allocation_fails(plot_drawing, &d);
    }
}

/* A panel for each topic, by its share; eight at most. */
TEST(topics_have_bars)
{
    cr_scratch   s = cr_scratch_begin(cx);
    const double X[] = { 9, 1, 0, 0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 5, 4 };
    cr_table    *t = make_table(cx, X, 3, 5, NULL, NULL);
    cr_model    *m = fit(cx, "topics", t, "k=2 sweeps=20 alpha=0.1 eta=0.1 top_terms=3");
    json_t      *d = describe(cx, m);
    cri_parts    p;
    assert_ok(cx, cri_topic_bars_new(&s, m, 0.9, &p));
    assert_int_equal(p.n, 2);
    assert_non_null(strstr(p.chart[0].title, " %)"));
    for (size_t j = 0; j < 2; j++) {
        assert_int_equal(p.chart[j].n_levels, 3);
        for (size_t i = 0; i < 3; i++) {
            size_t      n;
            json_t     *row;
            const char *term = p.chart[j].levels[i];
            bool        found = false;
            json_array_foreach(json_object_get(d, "topics"), n, row)
            {
                const char *topic = json_string_value(json_object_get(row, "topic"));
                if (strcmp(json_string_value(json_object_get(row, "term")), term) != 0 ||
                    strncmp(p.chart[j].title, topic, strlen(topic)) != 0)
                    continue;
                double value = number_of(row, "probability"), sd = number_of(row, "sd");
                assert_true(p.chart[j].series[1].y[i] == value);
                assert_close(p.chart[j].series[0].upper[i],
                             fmin(value + 1.6448536269514722 * sd, 1), 1e-12);
                found = true;
            }
            assert_true(found);
        }
    }
    check_both_forms(cx, m, NULL, CR_PLOT_FIT, "top terms of 2 topics");
    check_both_forms(cx, m, t, CR_PLOT_LOADINGS, "share of all tokens");
    m = fit(cx, "topics", t, "k=11 sweeps=20 top_terms=20");
    check_both_forms(cx, m, NULL, CR_PLOT_FIT, "the largest 8 of 11 topics");
    cr_scratch_end(&s);
}
