/* test_clusters.c -- figures of clusters: points where the rows are, ellipses by the covariances that describe shows and
 * by the quantiles of chi-squared, the plane against principal components of the library, stacked shares against
 * predictions, criteria against the table of candidates. */
#include "both_forms.h"
#include "plot/latent.h"

enum { N = 120, P = 4 };

static const cr_plot_options plain = { .level = 0.95 };

/* Three clusters: one apart by the first column, one by the third; the second is noise, the fourth repeats the first. */
static void draw_rows(double *X, double gap)
{
    cr_rng r = cr_rng_stream(3, 1);
    for (size_t i = 0; i < N; i++) {
        double *x = X + i * P;
        size_t  c = i % 3;
        x[0] = 10 + (c == 1 ? gap : 0) + cr_rng_normal(&r);
        x[1] = 5 * cr_rng_normal(&r);
        x[2] = 200 * (c == 2 ? gap : 0) + 100 * cr_rng_normal(&r) + 30 * x[0];
        x[3] = 3 - 2 * x[0];
    }
}

static cr_table *rows_of(cr_ctx *cx, double gap)
{
    double X[N * P];
    draw_rows(X, gap);
    return make_table(cx, X, N, P, NULL, NULL);
}

/* The columns that tell the clusters apart are found; each row is once where its values are, in the series of its most
 * probable cluster, apart from the others where that is less than 0.9. */
TEST(rows_by_cluster)
{
    cr_scratch s = cr_scratch_begin(cx);
    for (int k_means = 0; k_means < 2; k_means++) {
        cr_table     *t = rows_of(cx, 3);
        cr_model     *m = k_means ? fit(cx, "kmeans", t, "features=x1,x2,x3 k=3")
                                  : fit(cx, "gmm", t, "features=x1,x2,x3 k=3 covariance=tied");
        cr_prediction p = predict(cx, m, t);
        cri_chart     c;
        size_t        seen = 0, pale = 0;
        assert_ok(cx, cri_chart_clusters(&s, m, t, &plain, false, &c));
        assert_true(strcmp(c.x.title, "x2") != 0 && strcmp(c.y.title, "x2") != 0);
        const cr_column *x = cr_table_find(t, c.x.title), *y = cr_table_find(t, c.y.title);
        for (size_t i = 0; i < N; i++) {
            const double *of = (k_means ? p.vector : p.prob) + i * 3;
            size_t        best = 0;
            for (size_t k = 1; k < 3; k++)
                if (k_means ? of[k] < of[best] : of[k] > of[best]) best = k;
            char name[32];
            bool sure = k_means || of[best] >= 0.9;
            pale += !sure;
            snprintf(name, sizeof name, "cluster %zu%s", best + 1, sure ? "" : ", uncertain");
            for (size_t k = 0; k < c.n; k++)
                for (size_t j = 0; c.series[k].look.label && j < c.series[k].n; j++)
                    seen += strcmp(c.series[k].look.label, name) == 0 &&
                            c.series[k].x[j] == x->values[i * x->stride] &&
                            c.series[k].y[j] == y->values[i * y->stride];
        }
        assert_int_equal(seen, N);
        assert_true(k_means ? pale == 0 : pale > 0 && pale < N / 2);
        check_both_forms(cx, m, t, CR_PLOT_FIT, "3 clusters on");
        check_both_forms(cx, m, t, CR_PLOT_COMPONENTS, "3 clusters on two principal components");
        assert_int_equal(strstr(c.caption[0], "Pale") != NULL, !k_means);
    }
    cr_scratch_end(&s);
}

/* A column that repeats the first adds nothing, whatever it has itself. */
TEST(columns_that_repeat)
{
    cr_scratch  s = cr_scratch_begin(cx);
    cr_table   *t = rows_of(cx, 6);
    cr_model   *m = fit(cx, "kmeans", t, "k=3");
    cri_members members;
    cri_view    v;
    assert_ok(cx, cri_members_open(&s, m, t, &members));
    assert_ok(cx, cri_view_columns(&s, m, t, &members, &plain, &v));
    bool first = strcmp(v.title[0], "x3") == 0;
    assert_true(first || strcmp(v.title[1], "x3") == 0);
    assert_string_not_equal(v.title[first], "x2");
    cr_model   *line = fit(cx, "kmeans", t, "features=x1,x2,x4 k=2");
    cri_members halves;
    assert_ok(cx, cri_members_open(&s, line, t, &halves));
    assert_ok(cx, cri_view_columns(&s, line, t, &halves, &plain, &v));
    assert_string_equal(v.title[1], "x2");
    const char     *over[] = { "x2", "x4" };
    cr_plot_options o = { .level = 0.95, .over = over, .n_over = 2 };
    assert_ok(cx, cri_view_columns(&s, m, t, &members, &o, &v));
    assert_string_equal(v.title[0], "x2");
    assert_string_equal(v.name, "x2 and x4");
    o.n_over = 1;
    assert_fails_with(cx, cri_view_columns(&s, m, t, &members, &o, &v), CR_EARG, "two columns");
    cr_scratch_end(&s);
}

/* The covariance of two columns in a component, as describe shows it. */
static double covariance_of(const json_t *d, size_t component, const char *a, const char *b)
{
    size_t  i;
    json_t *row;
    char    name[16];
    snprintf(name, sizeof name, "c%zu", component + 1);
    json_array_foreach(json_object_get(d, "covariances"), i, row)
    {
        const char *one = json_string_value(json_object_get(row, "column"));
        const char *two = json_string_value(json_object_get(row, "with"));
        bool        same = (strcmp(one, a) == 0 && strcmp(two, b) == 0) ||
                    (strcmp(one, b) == 0 && strcmp(two, a) == 0);
        if (same && strcmp(json_string_value(json_object_get(row, "component")), name) == 0)
            return number_of(row, "covariance");
    }
    fail_msg("no covariance of %s and %s", a, b);
    return NAN;
}

static double mean_of(const json_t *d, size_t component, const char *column)
{
    char name[64];
    snprintf(name, sizeof name, "c%zu.mean.%s", component + 1, column);
    return parameter(d, name, "value");
}

/* Points of an ellipse: each at the Mahalanobis distance of its mass, the farthest and nearest at the half axes that the
 * eigenvalues give. */
static void check_ellipse(const double *x, const double *y, size_t n, const double mean[2],
                          const double S[3], double square)
{
    double det = S[0] * S[2] - S[1] * S[1], far = 0, near = INFINITY;
    double half = (S[0] + S[2]) / 2, root = sqrt(pow((S[0] - S[2]) / 2, 2) + S[1] * S[1]);
    for (size_t i = 0; i < n; i++) {
        double dx = x[i] - mean[0], dy = y[i] - mean[1];
        assert_close((S[2] * dx * dx - 2 * S[1] * dx * dy + S[0] * dy * dy) / det, square, 1e-8);
        far = fmax(far, hypot(dx, dy)), near = fmin(near, hypot(dx, dy));
    }
    assert_relative(far, sqrt((half + root) * square), 3e-3);
    assert_true(near >= sqrt((half - root) * square) * (1 - 1e-9));
}

TEST(ellipses)
{
    static const double chi2[] = { 1.3862943611198906, 5.9914645471079808 }; /* 2 dof: 50, 95 % */
    cr_scratch          s = cr_scratch_begin(cx);
    cr_table           *t = rows_of(cx, 5);
    const char         *over[] = { "x3", "x1" };
    cr_plot_options     o = { .level = 0.95, .over = over, .n_over = 2 };
    cr_model           *m = fit(cx, "gmm", t, "features=x1,x2,x3 k=3");
    json_t             *d = describe(cx, m);
    cri_chart           c;
    assert_ok(cx, cri_chart_clusters(&s, m, t, &o, false, &c));
    const cri_chart_series *centres = series_named(&c, "centres");
    for (size_t k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "cluster %zu: 50 %% and 95 %%", k + 1);
        const cri_chart_series *line = series_named(&c, name);
        double                  S[3], mean[2];
        assert_non_null(line);
        size_t half = line->n / 2;
        assert_true(isnan(line->x[half]) && isnan(line->y[half]));
        for (size_t i = 0; i < 2; i++) mean[i] = mean_of(d, k, over[i]);
        S[0] = covariance_of(d, k, "x3", "x3"), S[1] = covariance_of(d, k, "x3", "x1");
        S[2] = covariance_of(d, k, "x1", "x1");
        for (size_t i = 0; i < 2; i++)
            check_ellipse(line->x + i * (half + 1), line->y + i * (half + 1), half, mean, S,
                          chi2[i]);
        assert_close(centres->x[k], mean[0], 1e-9 * fabs(mean[0]));
        assert_close(centres->y[k], mean[1], 1e-9);
        snprintf(name, sizeof name, "c%zu.share", k + 1);
        char label[32];
        snprintf(label, sizeof label, "%zu (%.0f %%)", k + 1, 100 * parameter(d, name, "value"));
        assert_string_equal(c.notes[k].text, label);
    }
    cr_scratch_end(&s);
}

/* The plane of principal components is that of pca, which has the divisor n where this has n - 1; what is projected on
 * it of two columns keeps its Mahalanobis distances. */
TEST(principal_plane)
{
    static const double chi2 = 5.9914645471079808;
    cr_scratch          s = cr_scratch_begin(cx);
    cr_table           *t = rows_of(cx, 5);
    cr_model           *m = fit(cx, "gmm", t, "features=x1,x2,x3 k=2");
    cr_model           *pca = fit(cx, "pca", t, "features=x1,x2,x3 components=2");
    cr_prediction       z = predict(cx, pca, t);
    cri_view            v;
    assert_ok(cx, cri_view_components(&s, m, t, &v));
    for (size_t k = 0; k < 2; k++) {
        double sign = v.at[k][0] * z.vector[k] < 0 ? -1 : 1;
        for (size_t i = 0; i < N; i++)
            assert_close(v.at[k][i], sign * z.vector[2 * i + k] * sqrt((N - 1.0) / N), 1e-9);
    }
    m = fit(cx, "gmm", t, "features=x1,x3 k=2");
    json_t   *d = describe(cx, m);
    cri_chart c;
    assert_ok(cx, cri_chart_clusters(&s, m, t, &plain, true, &c));
    assert_ok(cx, cri_view_components(&s, m, t, &v));
    assert_true(c.equal);
    double det = v.P[0] * v.P[3] - v.P[1] * v.P[2];
    for (size_t k = 0; k < 2; k++) {
        const cri_chart_series *line = series_named(&c, k ? "cluster 2: 50" : "cluster 1: 50");
        double S[3] = { covariance_of(d, k, "x1", "x1"), covariance_of(d, k, "x1", "x3"),
                        covariance_of(d, k, "x3", "x3") };
        for (size_t i = line->n / 2 + 1; i < line->n; i++) {
            double a = line->x[i] + v.origin[0], b = line->y[i] + v.origin[1];
            double dx = (v.P[3] * a - v.P[1] * b) / det - mean_of(d, k, "x1");
            double dy = (v.P[0] * b - v.P[2] * a) / det - mean_of(d, k, "x3");
            assert_close((S[2] * dx * dx - 2 * S[1] * dx * dy + S[0] * dy * dy) /
                             (S[0] * S[2] - S[1] * S[1]),
                         chi2, 1e-6);
        }
    }
    cr_scratch_end(&s);
}

/* Over one column the curves of the components add up to the density that the model predicts; k-means shows its rows. */
TEST(one_column)
{
    cr_scratch s = cr_scratch_begin(cx);
    cr_table  *t = rows_of(cx, 5);
    cr_model  *m = fit(cx, "gmm", t, "features=x1 k=2"),
             *km = fit(cx, "kmeans", t, "features=x1 k=2");
    cri_chart c;
    assert_ok(cx, cri_chart_clusters(&s, m, t, &plain, false, &c));
    const cri_chart_series *all = series_named(&c, "density of all");
    const cri_chart_series *one = series_named(&c, "component 1"),
                           *two = series_named(&c, "component 2");
    cr_prediction p = predict(cx, m, make_table(cx, all->x, all->n, 1, NULL, NULL));
    for (size_t i = 0; i < all->n; i++) {
        assert_close(all->y[i], exp(p.log_density[i]), 1e-12);
        assert_close(one->y[i], exp(p.log_density[i]) * p.prob[2 * i], 1e-12);
        assert_close(two->y[i], exp(p.log_density[i]) * p.prob[2 * i + 1], 1e-12);
    }
    assert_int_equal(series_named(&c, "cluster 1")->n + series_named(&c, "cluster 2")->n, N);
    check_both_forms(cx, m, t, CR_PLOT_FIT, "2 clusters over x1 (120 rows)");
    check_both_forms(cx, km, t, CR_PLOT_FIT, "2 clusters over x1 (120 rows)");
    cr_scratch_end(&s);
}

/* Shares are stacked from 0 to 1, those of each row its probabilities; clusters and then doubts rise. */
TEST(responsibilities)
{
    cr_scratch    s = cr_scratch_begin(cx);
    cr_table     *t = rows_of(cx, 2);
    cr_model     *m = fit(cx, "gmm", t, "features=x1,x2,x3 k=3 covariance=tied");
    cr_prediction p = predict(cx, m, t);
    cri_chart     c;
    double        sum[3] = { 0 }, stacked[3] = { 0 };
    size_t        last = 0;
    assert_ok(cx, cri_chart_responsibilities(&s, m, t, &c));
    assert_int_equal(c.n, 3);
    for (size_t i = 0; i < N; i++) {
        size_t best = 0;
        double row[3];
        for (size_t k = 0; k < 3; k++) {
            const cri_chart_series *of = &c.series[k];
            assert_close(of->x[i], (double)i + 1, 1e-12);
            assert_close(of->y[i], k ? c.series[k - 1].upper[i] : 0, 0);
            row[k] = of->upper[i] - of->y[i];
            stacked[k] += row[k], sum[k] += p.prob[3 * i + k];
            if (row[k] > row[best]) best = k;
        }
        assert_close(c.series[2].upper[i], 1, 1e-12);
        assert_true(best >= last);
        if (i > 0 && best == last)
            assert_true(row[best] <= c.series[best].upper[i - 1] - c.series[best].y[i - 1] + 1e-12);
        last = best;
    }
    for (size_t k = 0; k < 3; k++) assert_close(stacked[k], sum[k], 1e-9);
    check_both_forms(cx, m, t, CR_PLOT_RESPONSIBILITIES, "probabilities of 3 clusters (120 rows)");
    cr_scratch_end(&s);
}

/* --- the criterion --------------------------------------------------------------------------- */

/* Every value of a table of candidates is a point of the line of its form; the best of all is marked. */
static void check_criterion(const cri_chart *c, const json_t *rows, const char *number,
                            const char *value, double sign)
{
    size_t  i, found = 0, known = 0;
    json_t *row;
    double  best = INFINITY, at = 0;
    json_array_foreach(rows, i, row)
    {
        const char *form = json_string_value(json_object_get(row, "form"));
        char        name[64];
        snprintf(name, sizeof name, "form %s", form ? form : "");
        const cri_chart_series *line = form ? series_named(c, name) : NULL;
        if (!line) line = &c->series[0];
        if (json_is_null(json_object_get(row, value))) continue;
        double k = number_of(row, number), y = number_of(row, value);
        known++;
        for (size_t j = 0; j < line->n; j++) found += line->x[j] == k && line->y[j] == y;
        if (sign * y < best) best = sign * y, at = k;
    }
    assert_true(known > 1);
    assert_int_equal(found, known);
    const cri_chart_series *chosen = series_named(c, "chosen");
    assert_true(chosen->n == 1 && chosen->x[0] == at && chosen->y[0] == sign * best);
}

TEST(criterion)
{
    cr_scratch  s = cr_scratch_begin(cx);
    cr_table   *t = rows_of(cx, 5);
    const char *gmm[] = { "features=x1,x3 k=1:4 restarts=1",
                          "features=x1,x3 k=1:3 covariance=auto restarts=1",
                          "features=x1,x3 k=2 covariance=auto restarts=1",
                          "features=x1,x3 k=1:3 infer=vb restarts=1" };
    cri_chart   c;
    for (size_t i = 0; i < 4; i++) {
        cr_model *m = fit(cx, "gmm", t, gmm[i]);
        json_t   *d = describe(cx, m);
        assert_ok(cx, cri_chart_criterion(&s, m, &c));
        check_criterion(&c, json_object_get(d, "candidates"), "components",
                        i == 3 ? "log_evidence" : "bic", i == 3 ? -1 : 1);
        check_both_forms(cx, m, NULL, CR_PLOT_CRITERION, i == 3 ? "bound on the log" : "BIC");
        check_both_forms(cx, m, NULL, CR_PLOT_FIT, "chosen: ");
        assert_int_equal(c.n_notes, i == 1 || i == 2 ? 14 : 0);
    }
    const char *k_means[] = { "features=x1,x3 k=1:5", "features=x1,x3 k=2:4 choose=silhouette" };
    for (size_t i = 0; i < 2; i++) {
        cr_model *m = fit(cx, "kmeans", t, k_means[i]);
        json_t   *d = describe(cx, m);
        assert_ok(cx, cri_chart_criterion(&s, m, &c));
        check_criterion(&c, json_object_get(d, "choice"), "k", "score", -1);
        assert_int_equal(c.caption[0] != NULL, i == 0); /* one cluster has no score */
        check_both_forms(cx, m, NULL, CR_PLOT_CRITERION, i ? "silhouette" : "Calinski-Harabasz");
    }
    cr_scratch_end(&s);
}

/* --- what is refused, and corners ------------------------------------------------------------ */

TEST(refusals)
{
    cr_table *t = rows_of(cx, 5);
    cr_model *one = fit(cx, "gmm", t, "features=x1 k=2"),
             *single = fit(cx, "gmm", t, "features=x1,x2,x3 k=1");
    cr_model *km = fit(cx, "kmeans", t, "k=2"), *pca = fit(cx, "pca", t, "components=2");
    check_refused(cx, one, t, CR_PLOT_COMPONENTS, "only one");
    check_refused(cx, one, NULL, CR_PLOT_CRITERION, "not chosen among candidates");
    check_refused(cx, pca, t, CR_PLOT_CRITERION, "not chosen among candidates");
    check_refused(cx, single, t, CR_PLOT_RESPONSIBILITIES, "one cluster");
    check_refused(cx, km, t, CR_PLOT_RESPONSIBILITIES, "no probabilities");
    check_refused(cx, pca, t, CR_PLOT_RESPONSIBILITIES, "no clusters");
    check_refused(cx, km, t, CR_PLOT_SCREE, "no coordinates");
    check_both_forms(cx, single, t, CR_PLOT_FIT, "1 cluster on x1 and x2");
    assert_fails_with(cx, cr_plot(cx, km, NULL, CR_PLOT_FIT, 0.95, figure_path()), CR_EARG,
                      "needs data");
    double          none[2 * P];
    cr_plot_options o = { .level = 0.95, .draws = 2 };
    for (size_t i = 0; i < 2 * P; i++) none[i] = NAN;
    cr_table *empty = make_table(cx, none, 2, P, NULL, NULL);
    assert_fails_with(cx, cr_plot_with(cx, km, t, CR_PLOT_FIT, &o, figure_path()), CR_EARG,
                      "--draws");
    assert_fails_with(cx, cr_plot(cx, single, empty, CR_PLOT_FIT, 0.95, figure_path()), CR_EDATA,
                      "no row has both");
}

/* Powers of one column are axes as columns are; dates are counted in days. */
TEST(other_columns)
{
    cr_table *t = table_of_text(cx, "mixed.csv",
                                "a,b,d\n1,x,2020-01-03\n2,y,2020-01-04\n9,z,2020-02-01\n"
                                "8,x,2020-02-02\n1.5,y,2020-01-05\n9.5,z,2020-02-03\n");
    cr_model *m = fit(cx, "kmeans", t, "features=a basis=poly:2 k=2");
    check_both_forms(cx, m, t, CR_PLOT_FIT, "2 clusters on a and (a - 5.16667)^2");
    m = fit(cx, "kmeans", t, "features=a,d k=2");
    check_both_forms(cx, m, t, CR_PLOT_FIT, "d, in days since 2020-01-03");
}

/* Gaps, more clusters than colours, more rows than are shown. */
TEST(many)
{
    enum { ROWS = 2600, K = 15 };
    static double X[ROWS * 2];
    cr_rng        r = cr_rng_stream(8, 0);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < 2; j++)
            X[2 * i + j] = (double)(10 * (j ? i % K / 4 : i % K % 4)) + cr_rng_normal(&r);
    for (size_t i = 0; i < ROWS; i += 26) X[2 * i + i % 2] = NAN;
    cr_table *t = make_table(cx, X, ROWS, 2, NULL, NULL),
             *few = make_table(cx, X, 60, 2, NULL, NULL);
    cr_model *m = fit(cx, "gmm", t, "k=15 restarts=3 covariance=EII");
    check_both_forms(cx, m, t, CR_PLOT_FIT, "12 of 15 clusters in colour");
    check_both_forms(cx, m, t, CR_PLOT_FIT, "2000 of the rows");
    check_both_forms(cx, m, few, CR_PLOT_FIT, "3 rows with missing cells left out");
    check_both_forms(cx, m, few, CR_PLOT_COMPONENTS, "3 rows with missing cells left out");
    check_both_forms(cx, m, t, CR_PLOT_RESPONSIBILITIES, "400 of the 2600 rows");
    check_both_forms(cx, m, few, CR_PLOT_RESPONSIBILITIES, "others");
}

TEST(allocations)
{
    double  X[N * P];
    drawing d = { .kind = CR_PLOT_FIT };
    draw_rows(X, 5);
    d.table = make_table(cx, X, 12, P, NULL, NULL);
    d.model = fit(cx, "gmm", d.table, "features=x1,x3 k=1:2 restarts=1 covariance=tied");
    const cr_plot_kind kinds[] = { CR_PLOT_FIT, CR_PLOT_COMPONENTS, CR_PLOT_RESPONSIBILITIES,
                                   CR_PLOT_CRITERION };
    for (size_t k = 0; k < 4; k++) {
        json_t *of = describe(cx, d.model);
        if (kinds[k] == CR_PLOT_RESPONSIBILITIES && statistic(of, "components") < 2) continue;
        d.kind = kinds[k];
        test_every_allocation_fails(plot_drawing, &d);
    }
}
