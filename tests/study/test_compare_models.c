/* test_compare_models.c -- paired differences by their formula, weights and mixtures by hand. */
#include "base/context_internal.h"
#include "fixture.h"
#include "math/special/special.h"
#include "study/compare_models.h"

enum { N = 48, P = 3 };

static const cr_setting plain[] = { { "target", "y" }, { "seed", "2" } };
static const cr_setting heavy[] = { { "target", "y" }, { "seed", "2" }, { "lambda", "30" } };
static const cr_setting square[] = { { "target", "y" }, { "seed", "2" }, { "basis", "poly:2" } };

static cr_table *regression(cr_ctx *cx)
{
    double X[N * P], y[N];
    draw_regression(11, N, P, 0.7, X, y);
    return make_table(cx, X, N, P, y, NULL);
}

TEST(paired)
{
    cr_table     *t = regression(cx);
    cr_model_spec specs[] = { { "linear", plain, 2 },
                              { "ridge", heavy, 3 },
                              { "linear", square, 3 } };
    cr_cv_options o = cv_of(cx, "folds=6 repeats=2");
    cr_comparison c;
    cr_cv         cv;
    assert_ok(cx, cr_compare_models(cx, specs, 3, t, &o, false, &c));
    for (size_t k = 0; k < 3; k++) { /* each as cross-validated alone: the folds are the same */
        assert_ok(cx, cr_cross_validate(cx, specs[k].model, t, specs[k].settings,
                                        specs[k].n_settings, &o, &cv));
        for (size_t f = 0; f < 12; f++)
            for (size_t m = 0; m < cv.mean.n; m++)
                assert_true(cv.fold[f].metrics[m].value == c.models[k].cv.fold[f].metrics[m].value);
        cr_cv_free(cx, &cv);
    }
    for (size_t m = 0; m < c.models[0].cv.mean.n; m++) {
        int    sense = cr_metric_sense(c.models[0].cv.mean.metrics[m].name);
        size_t best = c.best[m];
        for (size_t k = 0; k < 3; k++) {
            cr_paired p = c.models[k].paired[m];
            if (sense == 0) assert_true(best == 3 && isnan(p.difference));
            if (sense == 0) continue;
            double x = c.models[k].cv.mean.metrics[m].value,
                   b = c.models[best].cv.mean.metrics[m].value;
            assert_true(sense * b >= sense * x);
            if (k == best) assert_true(p.difference == 0 && p.se == 0 && isnan(p.t));
            if (k == best) continue;
            double mean = x - b, s2 = 0, here[12], there[12];
            for (size_t f = 0; f < 12; f += 6) {
                pooled(c.models[k].cv.fold + f, 6, m, here + f);
                pooled(c.models[best].cv.fold + f, 6, m, there + f);
            }
            for (size_t f = 0; f < 12; f++) s2 += pow(here[f] - there[f] - mean, 2) / 11;
            double se = sqrt((1.0 / 12 + 1.0 / 5) * s2); /* 8 rows tested for 40 learned from */
            assert_close(p.difference, mean, 1e-12);
            assert_close(p.se, se, 1e-12);
            assert_close(p.t, mean / se, 1e-10);
            assert_close(p.p, 2 * (1 - cr_student_t_cdf(fabs(mean / se), 11)), 1e-12);
        }
    }
    cr_model *whole = fit(cx, "linear", t, "target=y seed=2");
    json_t   *d = describe(cx, whole);
    assert_close(c.models[0].fit.aic, statistic(d, "aic"), 1e-12);
    assert_close(c.models[0].fit.bic, statistic(d, "bic"), 1e-12);
    assert_close(c.models[0].fit.log_likelihood, cr_model_get_report(whole)->log_likelihood, 0);
    cr_model_free(cx, whole);
    assert_int_equal(c.basis, CR_WEIGHTS_NONE); /* ridge has neither evidence nor BIC */
    assert_true(isnan(c.models[0].weight));
    cr_comparison_free(cx, &c);
    assert_fails_with(cx, cr_compare_models(cx, specs, 3, t, &o, true, &c), CR_EUNSUPPORTED,
                      "averaged");
    specs[1] = (cr_model_spec){ "logistic", plain, 2 };
    assert_fails_with(cx, cr_compare_models(cx, specs, 3, t, &o, false, &c), CR_EDATA,
                      "more than 10 different numbers with decimals");
    cr_table *codes = table_of_text(cx, "codes.csv", "x1,y\n1,1\n2,2\n3,1\n4,2\n5,1\n6,2\n");
    assert_fails_with(cx, cr_compare_models(cx, specs, 2, codes, &o, false, &c), CR_EARG,
                      "linear does regression and logistic classification");
    cr_table_free(cx, codes);
    const cr_setting other[] = { { "target", "x1" } };
    specs[1] = (cr_model_spec){ "linear", other, 1 };
    assert_fails_with(cx, cr_compare_models(cx, specs, 2, t, &o, false, &c), CR_EARG,
                      "same target");
}

/* --- weights --------------------------------------------------------------------------------- */

TEST(weights)
{
    cr_fit_scores m[] = { { NAN, -10, NAN, NAN, CR_EVIDENCE_EXACT, 5, false, 0 },
                          { NAN, -12, NAN, 30, CR_EVIDENCE_EXACT, 5, false, 0 },
                          { -1, NAN, 20, 22, CR_EVIDENCE_EXACT, 5, false, 0 } };
    double        w[3];
    assert_int_equal(cr_model_weights(m, 2, w), CR_WEIGHTS_EVIDENCE);
    assert_close(w[0], 1 / (1 + exp(-2)), 1e-15);
    assert_close(w[0] + w[1], 1, 1e-15);
    assert_int_equal(cr_model_weights(m + 1, 2, w), CR_WEIGHTS_BIC);
    assert_close(w[1], 1 / (1 + exp(-4)), 1e-15);
    assert_int_equal(cr_model_weights(m, 3, w),
                     CR_WEIGHTS_NONE); /* evidence and BIC are not mixed */
    assert_true(isnan(w[0]) && isnan(w[2]));
    m[0].log_evidence = -1e5; /* far below all others: no underflow of the sum */
    m[1].log_evidence = -1e5 - 1;
    assert_int_equal(cr_model_weights(m, 2, w), CR_WEIGHTS_EVIDENCE);
    assert_close(w[0], 1 / (1 + exp(-1)), 1e-12);
    m[1].rows = 4;
    assert_int_equal(cr_model_weights(m, 2, w), CR_WEIGHTS_NONE);
    assert_true(isnan(w[0]));
    assert_string_equal(cr_weight_basis_name(CR_WEIGHTS_BIC), "bic");
}

/* Polynomials of degree 0 to 9 with known precisions: the published log evidences, degree 3 on top.
 */
TEST(evidence_of_polynomials)
{
    const char *path = test_data("classic/reference.json");
    json_t     *all = json_load_file(path, 0, NULL), *item, *mine = NULL;
    size_t      i;
    json_array_foreach(json_object_get(all, "cases"), i,
                       item) if (strcmp(json_string_value(json_object_get(item, "id")),
                                        "evidence-polynomials") == 0) mine = item;
    assert_non_null(mine);
    json_t *data = json_object_get(json_object_get(mine, "data"), "inline"),
           *known =
               json_object_get(json_object_get(mine, "expected"), "log_evidence_degree_0_to_9");
    size_t        n = json_array_size(json_object_get(data, "x"));
    cr_table     *t = NULL;
    cr_setting    settings[10][7];
    char          features[10][64] = { "" };
    cr_model_spec specs[10];
    cr_cv_options o = cv_of(cx, "folds=12");
    cr_comparison c;
    assert_ok(cx, cr_table_new(cx, "polynomials", n, &t));
    for (size_t k = 0; k <= 10; k++) { /* p0 .. p9, then y */
        double column[64];
        char   name[8];
        for (size_t j = 0; j < n; j++) {
            double x = json_number_value(json_array_get(json_object_get(data, "x"), j));
            column[j] = k < 10 ? pow(x, (double)k)
                               : json_number_value(json_array_get(json_object_get(data, "y"), j));
        }
        snprintf(name, sizeof name, k < 10 ? "p%zu" : "y", k);
        assert_ok(cx, cr_table_add_numbers(cx, t, name, CR_REAL, column, 1));
        for (size_t j = k; j < 10; j++) { /* p0,p1,...,pj */
            size_t used = strlen(features[j]);
            snprintf(features[j] + used, sizeof features[j] - used, "%sp%zu", k ? "," : "", k);
        }
    }
    for (size_t k = 0; k < 10; k++) {
        const cr_setting s[7] = {
            { "target", "y" },    { "features", features[k] },        { "intercept", "false" },
            { "alpha", "0.005" }, { "noise", "0.09009009009009009" }, { "optimize", "none" },
            { "scale", "none" }
        };
        memcpy(settings[k], s, sizeof s);
        specs[k] = (cr_model_spec){ "bayes-linear", settings[k], 7 };
    }
    assert_ok(cx, cr_compare_models(cx, specs, 10, t, &o, true, &c));
    assert_int_equal(c.basis, CR_WEIGHTS_EVIDENCE);
    double sum = 0;
    for (size_t k = 0; k < 10; k++) {
        double e = json_number_value(json_array_get(known, k));
        assert_close(c.models[k].fit.log_evidence, e, 1e-8);
        assert_true(k == 3 || c.models[k].weight < c.models[3].weight);
        assert_relative(c.models[k].weight / c.models[3].weight,
                        exp(e - json_number_value(json_array_get(known, 3))), 1e-6);
        sum += c.models[k].weight;
    }
    assert_close(sum, 1, 1e-12);
    cr_comparison_free(cx, &c);
    cr_table_free(cx, t);
    json_decref(all);
}

/* --- mixtures -------------------------------------------------------------------------------- */

TEST(mixture_of_numbers)
{
    cr_table *t = regression(cx);
    cr_model *a = fit(cx, "linear", t, "target=y features=x1"),
             *b = fit(cx, "bayes-linear", t, "target=y");
    const cr_model *models[] = { a, b };
    const double    w[] = { 0.3, 0.7 }, one[] = { 0, 1 };
    cr_prediction   p = predict(cx, a, t), q = predict(cx, b, t), m;
    cr_assessment   s, alone;
    double          y[N], log_score = 0, rmse = 0, covered = 0, crps = 0;
    assert_ok(cx, cr_observed(cx, a, t, y, NULL));
    assert_ok(cx, cr_average_predict(cx, models, w, 2, t, &m));
    assert_ok(cx, cr_average_evaluate(cx, models, w, 2, t, 0.8, &s));
    for (size_t i = 0; i < s.n; i++) assert_true(isnan(s.metrics[i].se)); /* not known, not 0 */
    for (size_t i = 0; i < N; i++) {
        double va = p.scale[i] * p.scale[i] * p.dof[i] / (p.dof[i] - 2);
        double vb = q.scale[i] * q.scale[i] * (isinf(q.dof[i]) ? 1 : q.dof[i] / (q.dof[i] - 2));
        double mean = 0.3 * p.mean[i] + 0.7 * q.mean[i];
        double second = 0.3 * (va + p.mean[i] * p.mean[i]) + 0.7 * (vb + q.mean[i] * q.mean[i]);
        assert_close(m.mean[i], mean, 1e-12);
        assert_close(m.scale[i], sqrt(second - mean * mean), 1e-10);
        assert_true(isinf(m.dof[i]));
        double fa =
            exp(cr_student_t_logpdf((y[i] - p.mean[i]) / p.scale[i], p.dof[i])) / p.scale[i];
        double fb =
            exp(cr_student_t_logpdf((y[i] - q.mean[i]) / q.scale[i], q.dof[i])) / q.scale[i];
        double F = 0.3 * cr_student_t_cdf((y[i] - p.mean[i]) / p.scale[i], p.dof[i]) +
                   0.7 * cr_student_t_cdf((y[i] - q.mean[i]) / q.scale[i], q.dof[i]);
        log_score += log(0.3 * fa + 0.7 * fb) / N;
        rmse += pow(y[i] - mean, 2) / N;
        covered +=
            (double)(F >= 0.1 && F <= 0.9) / N; /* inside the quantiles, without finding them */
        for (double x = -60; x < 60; x += 0.01) {
            double G = 0.3 * cr_student_t_cdf((x - p.mean[i]) / p.scale[i], p.dof[i]) +
                       0.7 * cr_student_t_cdf((x - q.mean[i]) / q.scale[i], q.dof[i]) - (x >= y[i]);
            if (i < 3) crps += 0.01 * G * G;
        }
    }
    assert_close(metric_of(&s, "log_score"), log_score, 1e-12);
    assert_close(metric_of(&s, "rmse"), sqrt(rmse), 1e-12);
    assert_close(metric_of(&s, "coverage"), covered, 1e-12);
    cr_table *few = NULL;
    double    X[N * P], yy[N];
    draw_regression(11, N, P, 0.7, X, yy);
    few = make_table(cx, X, 3, P, yy, NULL);
    assert_ok(cx, cr_average_evaluate(cx, models, w, 2, few, 0.8, &s));
    assert_close(metric_of(&s, "crps"), crps / 3, 2e-3);
    /* all weight on one model: its own scores */
    assert_ok(cx, cr_average_evaluate(cx, models, one, 2, t, 0.8, &s));
    assert_ok(cx, cr_evaluate(cx, b, t, 0.8, &alone));
    for (size_t k = 0; k < s.n; k++) {
        assert_string_equal(s.metrics[k].name, alone.metrics[k].name);
        assert_close(s.metrics[k].value, alone.metrics[k].value, 1e-5);
    }
    const double wrong[] = { NAN, 1 };
    assert_fails(cx, cr_average_predict(cx, models, wrong, 2, t, &m), CR_EARG);
    assert_fails(cx, cr_average_predict(cx, models, w, 0, t, &m), CR_EARG);
    assert_fails(cx, cr_average_evaluate(cx, models, w, 2, t, 1, &s), CR_EARG);
    cr_prediction_free(cx, &m);
}

TEST(mixture_of_classes)
{
    cr_table *t = class_table(cx, 60, 3, 2);
    cr_model *a = fit(cx, "logistic", t, "target=y features=x1 lambda=1"),
             *b = fit(cx, "logistic", t, "target=y features=x* lambda=0.1");
    const cr_model *models[] = { a, b };
    const double    w[] = { 0.25, 0.75 };
    cr_prediction   p = predict(cx, a, t), q = predict(cx, b, t), m;
    cr_assessment   s;
    double          y[60], loss = 0;
    assert_ok(cx, cr_observed(cx, a, t, y, NULL));
    assert_ok(cx, cr_average_predict(cx, models, w, 2, t, &m));
    for (size_t i = 0; i < 180; i++)
        assert_close(m.prob[i], 0.25 * p.prob[i] + 0.75 * q.prob[i], 1e-15);
    for (size_t i = 0; i < 60; i++) loss -= log(m.prob[i * 3 + (size_t)y[i]]) / 60;
    assert_ok(cx, cr_average_evaluate(cx, models, w, 2, t, 0.9, &s));
    assert_close(metric_of(&s, "log_loss"), loss, 1e-12);
    cr_model       *other = fit(cx, "linear", t, "target=x1 features=x2");
    const cr_model *mixed[] = { a, other };
    assert_fails_with(cx, cr_average_predict(cx, mixed, w, 2, t, &m), CR_EARG, "averaged");
    cr_prediction_free(cx, &m);
}

/* The likelihood of lda is that of target and columns: said, and not weighed against the
 * others'. */
TEST(joint_likelihoods)
{
    cr_table  *t = read_table(cx, "examples/iris.csv");
    cr_setting species[] = { { "target", "species" } },
               prior[] = { { "target", "species" }, { "alpha", "1" } };
    cr_model_spec specs[] = { { "bayes-logistic", prior, 2 }, { "lda", species, 1 } };
    cr_cv_options o = cv_of(cx, "folds=2");
    cr_comparison c;
    assert_ok(cx, cr_compare_models(cx, specs, 2, t, &o, false, &c));
    assert_true(!c.models[0].fit.joint && c.models[1].fit.joint);
    assert_int_equal(c.basis, CR_WEIGHTS_NONE);
    cr_comparison_free(cx, &c);
    cr_fit_scores both[2] = { { .bic = 1, .log_evidence = -2 }, { .bic = 2, .log_evidence = -3 } };
    double        weights[2];
    assert_int_equal(cr_model_weights(both, 2, weights), CR_WEIGHTS_EVIDENCE);
    both[1].joint = true;
    assert_int_equal(cr_model_weights(both, 2, weights), CR_WEIGHTS_NONE);
    assert_fails_with(cx, cr_compare_models(cx, specs, 2, t, &o, true, &c), CR_EUNSUPPORTED,
                      "cannot be averaged: lda has neither log evidence nor BIC");
    assert_null(strstr(cr_error_hint(cx), "--missing"));
}

/* Counts: the mass of the mixture is the mean of the masses, its quantiles those of the mixed
 * sums. */
TEST(average_of_counts)
{
    enum { n = 40 };
    cr_rng r = cr_rng_stream(3, 1);
    double X[2 * n], y[n], a[n], b[n], w[2] = { 0.3, 0.7 }, sum = 0;
    for (size_t i = 0; i < n; i++) {
        X[2 * i] = cr_rng_normal(&r), X[2 * i + 1] = cr_rng_normal(&r);
        y[i] = floor(exp(1 + 0.3 * X[2 * i]) + 2 * cr_rng_uniform(&r));
    }
    cr_table       *t = make_table(cx, X, n, 2, y, NULL);
    cr_model       *p = fit(cx, "glm", t, "target=y features=x1 family=poisson");
    cr_model       *q = fit(cx, "glm", t, "target=y features=x2 family=negative-binomial");
    const cr_model *models[] = { p, q };
    cr_assessment   s;
    assert_ok(cx, cr_score(cx, p, t, a));
    assert_ok(cx, cr_score(cx, q, t, b));
    for (size_t i = 0; i < n; i++) sum += log(w[0] * exp(a[i]) + w[1] * exp(b[i])) / n;
    assert_ok(cx, cr_average_evaluate(cx, models, w, 2, t, 0.8, &s));
    assert_close(metric_of(&s, "log_score"), sum, 1e-12);
    double crps = metric_of(&s, "crps");
    double width = metric_of(&s, "width");
    double crps_of[2], width_of[2];
    for (size_t k = 0; k < 2; k++) { /* a mixture of one is that one */
        double        alone[2] = { k == 0, k == 1 };
        cr_assessment e;
        assert_ok(cx, cr_average_evaluate(cx, models, alone, 2, t, 0.8, &s));
        assert_ok(cx, cr_evaluate(cx, models[k], t, 0.8, &e));
        crps_of[k] = metric_of(&e, "crps");
        width_of[k] = metric_of(&e, "width");
        assert_close(metric_of(&s, "crps"), crps_of[k], 1e-6);
        assert_close(metric_of(&s, "width"), width_of[k], 1e-6);
    }
    assert_true(crps <= fmax(crps_of[0], crps_of[1]) && width >= fmin(width_of[0], width_of[1]));
}

/* Models that learned from different rows have evidences of different data. */
TEST(average_needs_the_same_rows)
{
    enum { n = 24 };
    double X[2 * n], y[n];
    draw_regression(4, n, 2, 1, X, y);
    for (size_t i = 0; i < 5; i++) X[8 * i] = NAN;
    cr_table     *t = make_table(cx, X, n, 2, y, NULL);
    cr_setting    one[] = { { "target", "y" }, { "features", "x1" }, { "missing", "drop" } };
    cr_setting    two[] = { { "target", "y" }, { "features", "x2" }, { "missing", "drop" } };
    cr_model_spec specs[] = { { "bayes-linear", one, 3 }, { "bayes-linear", two, 3 } };
    cr_cv_options o = cv_of(cx, "folds=3");
    cr_comparison c;
    assert_fails_with(cx, cr_compare_models(cx, specs, 2, t, &o, true, &c), CR_EUNSUPPORTED,
                      "bayes-linear learned from 19 rows, bayes-linear from 24");
    assert_non_null(strstr(cr_error_hint(cx), "--features"));
}

TEST(threads)
{
    double first[CR_MOST_METRICS];
    for (size_t threads = 1; threads <= 7; threads += 3) {
        cr_ctx       *own = test_context();
        cr_table     *t = regression(own);
        cr_model_spec specs[] = { { "linear", plain, 2 }, { "linear", square, 3 } };
        cr_cv_options o = cv_of(own, "folds=4");
        cr_comparison c;
        cr_ctx_set_threads(own, threads);
        assert_ok(own, cr_compare_models(own, specs, 2, t, &o, true, &c));
        assert_int_equal(c.basis, CR_WEIGHTS_BIC);
        for (size_t m = 0; m < c.average.cv.mean.n; m++) {
            if (threads == 1) first[m] = c.average.cv.mean.metrics[m].value;
            assert_memory_equal(&first[m], &c.average.cv.mean.metrics[m].value, sizeof(double));
        }
        cr_comparison_free(own, &c);
        test_context_free(own);
    }
}

/* Only folds that all models have been through are compared. */
TEST(a_time_limit_leaves_folds)
{
    cr_table     *t = regression(cx);
    cr_model_spec specs[] = { { "linear", plain, 2 }, { "linear", square, 3 } };
    cr_cv_options o = cv_of(cx, "folds=4");
    cr_comparison all, some;
    cr_ctx_set_threads(cx, 1);
    assert_ok(cx, cr_compare_models(cx, specs, 2, t, &o, true, &all));
    cri_ctx_run_out_at(cx, 4);
    assert_ok(cx, cr_compare_models(cx, specs, 2, t, &o, true, &some));
    cri_ctx_run_out_at(cx, 0);
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(some.models[k].cv.folds, 3);
        assert_memory_equal(some.models[k].cv.fold, all.models[k].cv.fold,
                            3 * sizeof *some.models[k].cv.fold);
    }
    assert_int_equal(some.average.cv.folds, 3);
    cr_comparison_free(cx, &some);
    cr_comparison_free(cx, &all);
}

static cr_status compare_small(cr_ctx *cx, void *arg)
{
    const double  x[] = { 1, 2, 3, 4, 7, 5, 8, 9 }, y[] = { 2, 1, 3, 5, 4, 9, 8, 7 };
    cr_model_spec specs[] = { { "linear", plain, 2 }, { "linear", plain, 1 } };
    cr_cv_options o = { .folds = 2, .interval = 0.9 };
    cr_status     st = CR_OK;
    cr_table     *t = NULL;
    cr_comparison c;
    (void)arg;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_table_new(cx, "t", 8, &t));
    CR_TRY(cr_table_borrow_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_compare_models(cx, specs, 2, t, &o, true, &c));
    cr_comparison_free(cx, &c);
done:
    cr_table_free(cx, t);
    return st;
}

TEST(allocations) { test_every_allocation_fails(compare_small, NULL); }
