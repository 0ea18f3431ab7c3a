/* test_transform_target.c -- models of a function of their target: the same fit as on a column that was transformed
 * before, with densities, likelihoods and predictions of the target itself. */
#include "../study/fixture.h"
#include "life.h"
#include "prob/dist/dist.h"
#include "study/assess.h"

enum { N = 60 };

typedef struct both {
    cr_table *y, *z; /* the target, and its transform under the name of the target */
    double    target[N], transform[N], slopes;
} both;

/* log y = 0.4 + 0.8 x + noise; or logit y; with weights 1, 2, 3 where wanted. */
static both make_both(cr_ctx *cx, bool logit, bool weights)
{
    both   b = { .slopes = 0 };
    double x[2 * N], w[N];
    cr_rng r = cr_rng_stream(21, 1);
    for (size_t i = 0; i < N; i++) {
        x[2 * i] = cr_rng_normal(&r), x[2 * i + 1] = cr_rng_normal(&r);
        double z = 0.4 + 0.8 * x[2 * i] - 0.3 * x[2 * i + 1] + 0.5 * cr_rng_normal(&r);
        b.transform[i] = z, w[i] = 1 + (double)(i % 3);
        double y = b.target[i] = logit ? 1 / (1 + exp(-z)) : exp(z);
        b.slopes += (weights ? w[i] : 1) * (logit ? -log(y) - log1p(-y) : -z);
    }
    b.y = make_table(cx, x, N, 2, b.target, weights ? w : NULL);
    b.z = make_table(cx, x, N, 2, b.transform, weights ? w : NULL);
    return b;
}

static double back(bool logit, double z) { return logit ? 1 / (1 + exp(-z)) : exp(z); }

/* Median and interval ends are mapped, densities have the slope, likelihood and evidence all slopes. */
static void check_same(cr_ctx *cx, const char *model, const char *settings, bool logit,
                       bool weights)
{
    both b = make_both(cx, logit, weights);
    char with[320], without[256];
    snprintf(without, sizeof without, "target=y %s%s", weights ? "weights=w " : "", settings);
    snprintf(with, sizeof with, "%s transform_target=%s", without, logit ? "logit" : "log");
    cr_model        *m = fit(cx, model, b.y, with), *plain = fit(cx, model, b.z, without);
    const cr_report *r = cr_model_get_report(m), *s = cr_model_get_report(plain);
    double           score[N], scored[N], low[N], high[N], lower[N], upper[N];
    cr_prediction    p = predict(cx, m, b.y), q = predict(cx, plain, b.z);
    if (!isnan(s->log_evidence)) assert_close(r->log_evidence, s->log_evidence + b.slopes, 1e-6);
    if (!isnan(s->log_likelihood))
        assert_close(r->log_likelihood, s->log_likelihood + b.slopes, 1e-6);
    assert_true(isnan(s->log_evidence) == isnan(r->log_evidence));
    assert_ok(cx, cr_score(cx, m, b.y, score));
    assert_ok(cx, cr_score(cx, plain, b.z, scored));
    assert_ok(cx, cr_prediction_intervals(cx, &p, 0.9, NULL, low, high));
    assert_ok(cx, cr_prediction_intervals(cx, &q, 0.9, NULL, lower, upper));
    for (size_t i = 0; i < N; i++) {
        double y = b.target[i], slope = logit ? -log(y) - log1p(-y) : -log(y);
        assert_close(score[i], scored[i] + slope, 1e-6);
        assert_relative(low[i], back(logit, lower[i]), 1e-7);
        assert_relative(high[i], back(logit, upper[i]), 1e-7);
        assert_true(low[i] < p.mean[i] && p.mean[i] < high[i]);
    }
}

TEST(as_on_the_transformed_column)
{
    static const char *const models[][2] = {
        { "linear", "" },
        { "linear", "solver=gram" },
        { "ridge", "lambda=2" },
        { "lasso", "lambda=0.01" },
        { "bayes-linear", "" },
        { "bayes-linear", "prior=nig" },
        { "robust", "" },
        { "spline", "" },
        { "gp", "restarts=1 max_iter=30" },
        { "kernel-ridge", "lambda=0.1" },
        { "linear", "scale_target=standard" },
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check_same(cx, models[i][0], models[i][1], i % 2, false);
    check_same(cx, "linear", "", false, true);
    check_same(cx, "bayes-linear", "", true, true);
}

/* Criteria are of the target too, so that transforms can be compared; precisions repeat no row. */
TEST(criteria)
{
    both      b = make_both(cx, false, true);
    cr_model *m = fit(cx, "linear", b.y, "target=y features=x1,x2 transform_target=log");
    cr_model *plain = fit(cx, "linear", b.z, "target=y features=x1,x2");
    double    sum = 0;
    for (size_t i = 0; i < N; i++) sum -= b.transform[i];
    assert_close(statistic(describe(cx, m), "aic"), statistic(describe(cx, plain), "aic") - 2 * sum,
                 1e-8);
    assert_close(statistic(describe(cx, m), "bic"), statistic(describe(cx, plain), "bic") - 2 * sum,
                 1e-8);
    m = fit(cx, "linear", b.y, "target=y weights=w weights_are=precisions transform_target=log");
    plain = fit(cx, "linear", b.z, "target=y weights=w weights_are=precisions");
    assert_close(cr_model_get_report(m)->log_likelihood,
                 cr_model_get_report(plain)->log_likelihood + sum, 1e-8);
}

/* sqrt y is Box and Cox's transform of power 1/2, but for shift and scale: the same likelihood. */
TEST(square_root_is_a_power)
{
    both          b = make_both(cx, false, false);
    cr_model     *m = fit(cx, "linear", b.y, "target=y transform_target=sqrt");
    cr_model     *power = fit(cx, "linear", b.y, "target=y transform_target=boxcox:0.5");
    cr_prediction p = predict(cx, m, b.y), q = predict(cx, power, b.y);
    assert_close(cr_model_get_report(m)->log_likelihood, cr_model_get_report(power)->log_likelihood,
                 1e-8);
    for (size_t i = 0; i < N; i++) {
        assert_relative(p.mean[i], q.mean[i], 1e-8);
        assert_relative(p.scale[i], q.scale[i], 1e-8);
    }
}

/* The learned power has the largest likelihood of a fine grid. */
TEST(learned_power)
{
    both      b = make_both(cx, false, false);
    cr_model *m = fit(cx, "linear", b.y, "target=y transform_target=boxcox");
    double    best = cr_model_get_report(m)->log_likelihood;
    json_t   *settings = json_object_get(describe(cx, m), "settings");
    double    at = atof(json_string_value(json_object_get(settings, "transform_target")) + 7);
    assert_true(fabs(at) < 0.4);
    for (int k = -20; k <= 20; k++) {
        char text[96];
        snprintf(text, sizeof text, "target=y transform_target=boxcox:%g", at + 0.002 * k);
        cr_model *other = fit(cx, "linear", b.y, text);
        assert_true(cr_model_get_report(other)->log_likelihood <= best + 1e-6);
    }
    cr_model *same = fit(cx, "linear", b.y, "target=y transform-target=boxcox");
    assert_close(cr_model_get_report(same)->log_likelihood, best, 1e-12);
    fit(cx, "knn", b.y, "target=y transform_target=boxcox task=regression"); /* by the targets */
}

TEST(files_updates_and_draws)
{
    both      b = make_both(cx, false, false);
    char     *bytes = NULL;
    size_t    size = 0;
    double    draws[N * 400];
    cr_model *all = fit(cx, "bayes-linear", b.y, "target=y prior=nig transform_target=boxcox:0.2");
    cr_model *loaded = NULL, *updated = NULL;
    assert_ok(cx, cr_model_to_bytes(cx, all, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &loaded));
    cr_prediction p = predict(cx, all, b.y), q = predict(cx, loaded, b.y);
    assert_memory_equal(p.mean, q.mean, N * sizeof(double));
    assert_memory_equal(p.params, q.params, N * p.n_params * sizeof(double));
    cr_free(cx, bytes, size, 1);
    assert_ok(cx, cr_update(cx, all, b.y, &updated));
    double *w = calloc(N, sizeof *w), *x = calloc(2 * N, sizeof *x);
    for (size_t i = 0; i < N; i++) {
        w[i] = 2;
        x[2 * i] = cr_table_find(b.y, "x1")->values[i * cr_table_find(b.y, "x1")->stride];
        x[2 * i + 1] = cr_table_find(b.y, "x2")->values[i * cr_table_find(b.y, "x2")->stride];
    }
    cr_model *twice = fit(cx, "bayes-linear", make_table(cx, x, N, 2, b.target, w),
                          "target=y weights=w prior=nig transform_target=boxcox:0.2");
    assert_close(cr_model_get_report(updated)->log_evidence,
                 cr_model_get_report(twice)->log_evidence, 1e-7);
    free(w);
    free(x);
    cr_model_free(cx, loaded);
    cr_model_free(cx, updated);
    assert_ok(cx, cr_sample_targets(cx, all, b.y, 400, 3, draws));
    double below = 0;
    for (size_t i = 0; i < N; i++) {
        double median;
        assert_ok(cx, cr_dist_quantile(cx, p.family, p.params + i * p.n_params, p.n_params, 0.5,
                                       &median));
        for (size_t k = 0; k < 400; k++) below += draws[i * 400 + k] < median;
    }
    assert_close(below / (N * 400), 0.5, 0.02);
}

/* The log score of log-normal data under the true law, known in closed form. */
TEST(log_score_is_the_analytic_one)
{
    enum { MANY = 20000 };
    double       *x = calloc(MANY, sizeof *x), *y = calloc(MANY, sizeof *y), entropy;
    cr_rng        r = cr_rng_stream(5, 1);
    cr_assessment a = { 0 };
    for (size_t i = 0; i < MANY; i++) {
        x[i] = cr_rng_normal(&r);
        y[i] = exp(1 + 0.5 * x[i] + 0.7 * cr_rng_normal(&r));
    }
    cr_table *t = make_table(cx, x, MANY, 1, y, NULL);
    cr_model *m = fit(cx, "linear", t, "target=y transform_target=log");
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    entropy = 0.5 * log(2 * M_PI * M_E * 0.49) + 1; /* of z, and E log y */
    assert_close(a.metrics[cr_metric_find(&a, "log_score")].value, -entropy, 0.03);
    assert_close(a.metrics[cr_metric_find(&a, "coverage")].value, 0.9, 0.01);
    free(x);
    free(y);
}

/* Five equal targets are the neighbours of the last row, which has no spread: the rows before it are predicted as
 * without it, and it has its centre alone. */
TEST(row_without_spread)
{
    const double  x[] = { 0, 1, 2, 3, 4, 5, 90, 91, 92, 93, 94 };
    const double  y[] = { 2, 3, 2.5, 4, 3.5, 5, 1, 1, 1, 1, 1 };
    cr_table     *t = make_table(cx, x, 11, 1, y, NULL);
    cr_table     *first = make_table(cx, x, 6, 1, y, NULL);
    cr_model     *m = fit(cx, "knn", t, "target=y k=5 transform_target=log");
    cr_prediction p = predict(cx, m, t), q = predict(cx, m, first);
    cr_assessment a = { 0 };
    double        sd[11], low[11], high[11], lower[6], upper[6], score[11], draws[11];
    assert_ok(cx, cr_prediction_intervals(cx, &p, 0.9, sd, low, high));
    assert_ok(cx, cr_prediction_intervals(cx, &q, 0.9, NULL, lower, upper));
    for (size_t i = 0; i < 6; i++) {
        assert_relative(p.mean[i], q.mean[i], 1e-12);
        assert_relative(p.scale[i], q.scale[i], 1e-12);
        assert_relative(low[i], lower[i], 1e-12);
        assert_relative(high[i], upper[i], 1e-12);
    }
    assert_ok(cx, cr_score(cx, m, t, score));
    assert_ok(cx, cr_sample_targets(cx, m, t, 1, 3, draws));
    for (size_t i = 6; i < 11; i++) {
        assert_relative(p.mean[i], 1, 1e-12);
        assert_true(isnan(sd[i]) && isnan(low[i]) && isnan(high[i]));
        assert_true(isnan(score[i]) && isnan(draws[i]));
        assert_true(isfinite(score[i - 6]));
    }
    assert_ok(cx, cr_evaluate(cx, m, t, 0.9, &a));
    assert_true(isnan(a.metrics[cr_metric_find(&a, "log_score")].value));
    assert_true(isfinite(a.metrics[cr_metric_find(&a, "rmse")].value));
}

TEST(refusals)
{
    const double x[] = { 1, 2, 3, 4, 5, 6 }, y[] = { 0.5, 2, 0, 1, 3, 0.7 };
    cr_table    *t = make_table(cx, x, 6, 1, y, NULL);
    cr_model    *m = NULL;
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y transform_target=log", &m), CR_EDATA,
                      "the target 'y' is 0, but --transform-target log needs numbers above 0");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y transform_target=logit", &m), CR_EDATA,
                      "is 2, but --transform-target logit needs numbers strictly between 0 and 1");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y transform_target=cube", &m), CR_EARG,
                      "this function is not known");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y transform_target=log:2", &m), CR_EARG,
                      "this function is not known");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y transform_target=boxcox:9", &m),
                      CR_EARG, "lambda must lie between");
    assert_fails_with(cx, try_fit(cx, "glm", t, "target=y transform_target=log", &m), CR_EARG,
                      "needs the target as it is");
    assert_fails_with(cx, try_fit(cx, "logistic", t, "target=y transform_target=log", &m), CR_EARG,
                      "needs a model that predicts numbers");
}

TEST(every_allocation)
{
    static const char *const settings[] = {
        "target=y transform_target=boxcox",
        "target=y transform_target=sqrt calibrate=conformal calibrate_folds=2", NULL
    };
    const double x[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, y[] = { 0.5, 2, 1.7, 1, 3, 4.4, 6.1, 5.2 };
    check_allocations_on(x, 8, 1, y, "linear", settings);
}
