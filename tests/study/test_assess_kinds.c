/* test_assess_kinds.c -- evaluation of densities, of distributions that are not Student's, of
 * points without spread, and of classes that are named by numbers. */
#include "../models/toys.h"
#include "math/special/special.h"
#include "models/core/model_internal.h"
#include "study/assess.h"
#include "study/cross_validate.h"

static double metric(const cr_assessment *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->metrics[i].name, name) == 0) return a->metrics[i].value;
    fail_msg("there is no metric %s", name);
    return NAN;
}

static cr_status try_cv(cr_ctx *cx, const char *name, const cr_table *t, const char *settings,
                        const char *options, cr_cv *out)
{
    setting_list  s, o;
    cr_cv_options values;
    split_settings(settings, &s);
    split_settings(options, &o);
    assert_ok(cx, cr_options_init(cx, cr_cv_table, &values));
    for (size_t i = 0; i < o.n; i++)
        assert_ok(cx, cr_options_set(cx, cr_cv_table, &values, o.list[i].name, o.list[i].value));
    return cr_cross_validate(cx, name, t, s.list, s.n, &values, out);
}

/* --- densities ------------------------------------------------------------------------------- */

TEST(densities)
{
    cr_table     *t = table_of_text(cx, "t.csv", "x,z,w\n1,2,1\n2,1,3\n4,0,0\n3,3,2\n,1,1\n");
    cr_model     *m = fit(cx, "toy-normal", t, "features=x,z missing=drop");
    cr_assessment a;
    double        score[5], sum = 0, square = 0;
    assert_ok(cx, cr_score(cx, m, t, score));
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    for (size_t i = 0; i < 4; i++) sum += score[i] / 4;
    for (size_t i = 0; i < 4; i++) square += (score[i] - sum) * (score[i] - sum);
    assert_int_equal(a.rows, 4);
    assert_int_equal(a.n, 1);
    assert_string_equal(a.metrics[0].name, "log_score");
    assert_relative(a.metrics[0].value, sum, 1e-13);
    assert_relative(a.metrics[0].se, sqrt(square / 3 / 4), 1e-12);
    assert_false(a.has_bins);
    cr_model_free(cx, m);

    m = fit(cx, "toy-normal", t, "features=x,z missing=drop weights=w"); /* as if repeated */
    assert_ok(cx, cr_score(cx, m, t, score));
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    double all[] = { score[0], score[1], score[1], score[1], score[3], score[3] };
    sum = square = 0;
    for (size_t i = 0; i < 6; i++) sum += all[i] / 6;
    for (size_t i = 0; i < 6; i++) square += (all[i] - sum) * (all[i] - sum);
    assert_relative(a.metrics[0].value, sum, 1e-13);
    assert_relative(a.metrics[0].se, sqrt(square / 5 / 6), 1e-12);
    cr_model_free(cx, m);

    m = fit(cx, "toy-centres", t, "features=z n_clusters=2"); /* clusters that have densities */
    assert_ok(cx, cr_score(cx, m, t, score));
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    assert_relative(a.metrics[0].value, (score[0] + score[1] + score[2] + score[3] + score[4]) / 5,
                    1e-13);
    cr_model_free(cx, m);

    m = fit(cx, "toy-axes", t, "features=z,w");
    a.rows = 4711;
    assert_fails_with(cx, cr_evaluate(cx, m, t, 0.9, &a), CR_EUNSUPPORTED,
                      "neither a target nor a density");
    assert_int_equal(a.rows, 4711);
}

static cr_status no_density(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    (void)cx, (void)state;
    for (size_t i = 0; i < rows->n; i++) out->log_density[i] = i == 1 ? -INFINITY : -1;
    return CR_OK;
}

TEST(impossible_rows)
{
    warnings              said = { 0 };
    cr_table             *t = table_of_text(cx, "t.csv", "x\n1\n2\n4\n");
    cr_model             *m = fit(cx, "toy-normal", t, "seed=1");
    cr_model_class        odd = *m->class;
    cri_rows_face         rows = *odd.rows;
    const cr_model_class *own = m->class;
    cr_assessment         a;
    rows.predict = no_density, odd.rows = &rows;
    m->class = &odd;
    cr_ctx_set_log(cx, keep_warning, &said);
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    assert_true(a.metrics[0].value == -INFINITY && isnan(a.metrics[0].se));
    assert_non_null(strstr(said.text, "1 of 3 rows have no density"));
    m->class = own;
}

TEST(cv_of_densities)
{
    double X[30 * 2], y[30];
    draw_regression(5, 30, 2, 1, X, y);
    cr_table *t = make_table(cx, X, 30, 2, NULL, NULL);
    cr_cv     cv;
    assert_ok(cx, try_cv(cx, "toy-normal", t, "seed=2", "folds=3 split=ordered", &cv));
    cr_table *train = make_table(cx, X, 8, 2, NULL, NULL);
    cr_table *test = make_table(cx, X + 16, 8, 2, NULL, NULL);
    cr_model *m = fit(cx, "toy-normal", train, "seed=2"); /* the first of four blocks of 7 or 8 */
    double    score[8], sum = 0;
    assert_ok(cx, cr_score(cx, m, test, score));
    for (size_t i = 0; i < 8; i++) sum += score[i] / 8;
    assert_int_equal(cv.fold[0].rows, 8);
    assert_relative(cv.fold[0].metrics[0].value, sum, 1e-12);
    assert_relative(
        cv.mean.metrics[0].value,
        (cv.fold[0].metrics[0].value + cv.fold[1].metrics[0].value + cv.fold[2].metrics[0].value) /
            3,
        1e-13);
    assert_true(cv.se[0] > 0);
    cr_cv_free(cx, &cv);
    assert_fails_with(cx, try_cv(cx, "toy-normal", t, "seed=2", "folds=3 split=stratified", &cv),
                      CR_EARG, "needs a target that is a category");
}

/* --- families -------------------------------------------------------------------------------- */

TEST(poisson)
{
    cr_table     *t = table_of_text(cx, "t.csv", "x,n,w\n0,3,1\n1,0,2\n2,5,1\n3,9,0.5\n4,,1\n");
    cr_model     *m = fit(cx, "toy-smooth", t,
                          "target=n features=x weights=w family=poisson "
                              "missing=drop width=1");
    cr_prediction p = predict(cx, m, t);
    cr_assessment a;
    double W = 4.5, score = 0, rank = 0, covered = 0, width = 0, square = 0, w[] = { 1, 2, 1, .5 };
    assert_ok(cx, cr_evaluate(cx, m, t, 0.8, &a));
    for (size_t i = 0; i < 4; i++) { /* everything by sums over the counts */
        double n = cr_table_find(t, "n")->values[i], r = p.mean[i], F = 0, low = -1, high = -1;
        score += w[i] / W * (n * log(r) - r - lgamma(n + 1));
        square += w[i] / W * (n - r) * (n - r);
        for (double k = 0; k < 60; k++) {
            F += exp(k * log(r) - r - lgamma(k + 1));
            rank += w[i] / W * (F - (k >= n)) * (F - (k >= n));
            if (low < 0 && F >= 0.1) low = k;
            if (high < 0 && F >= 0.9) high = k;
        }
        covered += low <= n && n <= high ? w[i] / W : 0;
        width += w[i] / W * (high - low);
    }
    assert_int_equal(a.rows, 4);
    assert_relative(metric(&a, "log_score"), score, 1e-12);
    assert_relative(metric(&a, "crps"), rank, 1e-11);
    assert_relative(metric(&a, "rmse"), sqrt(square), 1e-12);
    assert_close(metric(&a, "coverage"), covered, 1e-13);
    assert_close(metric(&a, "width"), width, 1e-13);
}

TEST(gamma)
{
    cr_table     *t = table_of_text(cx, "t.csv", "x,y\n0,0.4\n1,1.9\n2,2.5\n3,8\n");
    cr_model     *m = fit(cx, "toy-smooth", t, "target=y features=x family=gamma width=1");
    cr_prediction p = predict(cx, m, t);
    cr_assessment a;
    double        rank = 0;
    assert_ok(cx, cr_evaluate(cx, m, t, 0.8, &a));
    for (size_t i = 0; i < 4; i++) { /* Scheuerer & Moeller (2015): shape 4, rate r */
        double y = cr_table_find(t, "y")->values[i], r = 4 / p.mean[i];
        rank += 0.25 *
                (y * (2 * cr_gamma_p(4, r * y) - 1) - p.mean[i] * (2 * cr_gamma_p(5, r * y) - 1) -
                 p.mean[i] / M_PI * exp(cr_lbeta(4.5, 0.5)));
    }
    assert_relative(metric(&a, "crps"), rank, 1e-8);
}

/* --- points ---------------------------------------------------------------------------------- */

TEST(points_are_told)
{
    warnings      said = { 0 };
    cr_table     *t = table_of_text(cx, "t.csv", "x,y\n0,1\n1,3\n2,5\n");
    cr_model     *m = fit(cx, "toy-mean", t, "target=y noise=false");
    cr_assessment a;
    cr_ctx_set_log(cx, keep_warning, &said);
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    assert_close(metric(&a, "rmse"), sqrt(8.0 / 3), 1e-14);
    assert_true(isnan(metric(&a, "log_score")) && isnan(metric(&a, "crps")));
    assert_true(isnan(metric(&a, "coverage")) && isnan(metric(&a, "width")));
    assert_non_null(strstr(said.text, "3 of 3 rows are predicted without a standard deviation"));
    cr_model_free(cx, m);
    said = (warnings){ 0 };
    m = fit(cx, "toy-mean", t, "target=y");
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    assert_int_equal(said.n, 0);
    assert_true(isfinite(metric(&a, "crps")));
}

static cr_status some_points(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    (void)cx, (void)state;
    for (size_t i = 0; i < rows->n; i++) {
        out->mean[i] = 1, out->scale[i] = i == 1 ? 0 : 1, out->dof[i] = INFINITY;
        out->leverage[i] = 0;
    }
    return CR_OK;
}

/* One row without spread among others, as a noiseless process has at its data. */
TEST(one_point_among_others)
{
    warnings              said = { 0 };
    cr_table             *t = table_of_text(cx, "t.csv", "x,y\n0,1\n1,3\n2,5\n");
    cr_model             *m = fit(cx, "toy-mean", t, "target=y");
    cr_model_class        odd = *m->class;
    cri_rows_face         rows = *odd.rows;
    const cr_model_class *own = m->class;
    cr_assessment         a;
    rows.predict = some_points, odd.rows = &rows;
    m->class = &odd;
    cr_ctx_set_log(cx, keep_warning, &said);
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    assert_non_null(strstr(said.text, "1 of 3 rows are predicted without a standard deviation"));
    assert_close(metric(&a, "mae"), 2, 1e-14);
    m->class = own;
}

/* --- classes named by numbers ---------------------------------------------------------------- */

/* Class 7 has one row: the fold that tests it was fitted without, and knows it all the same. */
TEST(cv_knows_all_classes)
{
    cr_table *t = table_of_text(cx, "t.csv", "x,y\n0,1\n1,1\n2,2\n3,2\n4,7\n5,1\n6,2\n7,1\n");
    cr_table *u = NULL;
    cr_cv     cv, dv;
    assert_ok(cx, try_cv(cx, "toy-smooth", t, "target=y task=classification width=2 seed=1",
                         "folds=4", &cv));
    assert_ok(cx, cri_table_with_classes(cx, t, "y", &u)); /* the same as a category */
    assert_ok(cx, try_cv(cx, "toy-smooth", u, "target=y width=2 seed=1", "folds=4", &dv));
    for (size_t f = 0; f < 4; f++)
        assert_true(metric(&cv.fold[f], "log_loss") == metric(&dv.fold[f], "log_loss"));
    assert_int_equal(cv.mean.rows, 8);
    cr_cv_free(cx, &cv);
    cr_cv_free(cx, &dv);
    assert_ok(cx, try_cv(cx, "toy-smooth", t, "target=y task=classification",
                         "folds=2 split=stratified", &cv));
    assert_int_equal(cv.fold[0].rows, 4);
    cr_cv_free(cx, &cv);
    cr_table_free(cx, u);
}

TEST(classes_by_numbers)
{
    cr_table     *t = table_of_text(cx, "t.csv", "x,y\n0,0\n1,0\n2,1\n3,1\n");
    cr_model     *m = fit(cx, "toy-smooth", t, "target=y task=classification");
    cr_prediction p = predict(cx, m, t);
    cr_assessment a;
    double        loss = 0;
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    for (size_t i = 0; i < 4; i++) loss -= log(p.prob[2 * i + (i > 1)]) / 4;
    assert_relative(metric(&a, "log_loss"), loss, 1e-13);
    assert_true(a.has_bins && metric(&a, "accuracy") == 1);
    cr_table *u = table_of_text(cx, "u.csv", "x,y\n0,0\n1,2\n");
    assert_fails_with(cx, cr_evaluate(cx, m, u, 0.9, &a), CR_EDATA,
                      "level '2', which the model has not");
}

static cr_status evaluate_all(cr_ctx *cx, void *arg)
{
    cr_status     st = CR_OK;
    cr_table     *t = NULL;
    cr_model     *m = NULL;
    cr_assessment a;
    cr_cv         cv = { 0 };
    cr_cv_options o = { .folds = 2, .interval = 0.9 };
    const double  x[] = { 1, 2, 3, 4 }, y[] = { 1, 2, 1, 2 };
    cr_setting s[] = { { "target", "y" }, { "family", "poisson" }, { "task", "classification" } };
    (void)arg;
    CR_TRY(cr_table_new(cx, "t", 4, &t));
    CR_TRY(cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_add_numbers(cx, t, "y", CR_INTEGER, y, 1));
    CR_TRY(cr_fit(cx, "toy-smooth", t, s, 2, &m));
    CR_TRY(cr_evaluate(cx, m, t, 0.9, &a));
    cr_model_free(cx, m);
    m = NULL;
    CR_TRY(cr_fit(cx, "toy-normal", t, NULL, 0, &m));
    CR_TRY(cr_evaluate(cx, m, t, 0.9, &a));
    CR_TRY(cr_cross_validate(cx, "toy-smooth", t, s, 3, &o, &cv));
done:
    cr_cv_free(cx, &cv);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(evaluate_all, NULL); }
