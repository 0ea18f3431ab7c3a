/* test_levels.c -- one category of many levels: the equations with its levels eliminated give the
 * answers of the dense ones, which the same options with a named solver ask for. */
#include "../life.h"
#include "models/linear/bordered.h"
#include "models/core/model_internal.h"

#include <stdio.h>

enum { N = 1500, LEVELS = 1050 };

/* x far from 0, the category g of many levels, h of a few, z mostly 0, y, weights w.  All levels
 * occur; the last of them once. */
static cr_table *make(cr_ctx *cx, uint64_t stream)
{
    cr_rng      r = cr_rng_stream(8, stream);
    text_buffer t = text_new(N * 120);
    double      effect[LEVELS];
    text_put(&t, "x,g,h,z,y,w\n");
    for (size_t k = 0; k < LEVELS; k++) effect[k] = cr_rng_normal(&r);
    for (size_t i = 0; i < N; i++) {
        size_t level = i < LEVELS ? i : (size_t)(cr_rng_uniform(&r) * (LEVELS - 1));
        double x = 100 + cr_rng_normal(&r), z = i % 5 ? 0 : cr_rng_normal(&r);
        double y = 0.5 * x - 2 * z + effect[level] + cr_rng_normal(&r);
        text_put(&t, "%.9g,g%04zu,h%zu,%.9g,%.9g,%g\n", x, level, i % 7, z, y, i % 3 ? 1.0 : 2.5);
    }
    cr_table *table = table_of_text(cx, "levels.csv", t.at);
    free(t.at);
    return table;
}

/* Parameters and their sds, and the statistics named. */
static void assert_same_description(cr_ctx *cx, const cr_model *a, const cr_model *b,
                                    const char *const *statistics)
{
    json_t *da = describe(cx, a), *db = describe(cx, b);
    json_t *pa = json_object_get(da, "parameters"), *pb = json_object_get(db, "parameters");
    assert_int_equal(json_array_size(pa), json_array_size(pb));
    for (size_t i = 0; i < json_array_size(pa); i++) {
        const json_t *u = json_array_get(pa, i), *v = json_array_get(pb, i);
        assert_string_equal(json_string_value(json_object_get(u, "name")),
                            json_string_value(json_object_get(v, "name")));
        assert_close(number_of(u, "value"), number_of(v, "value"), 1e-8);
        assert_relative(number_of(u, "sd"), number_of(v, "sd"), 1e-8);
    }
    for (; *statistics; statistics++)
        assert_relative(statistic(da, *statistics), statistic(db, *statistics), 1e-8);
}

/* The states of these models have their predictor as a part called fit, or begin with it. */
static bool is_bordered(const cr_model *m)
{
    size_t offset = 0;
    for (const cri_member *of = m->class->state; of && of->kind != CRI_MEMBER_END; of++)
        if (strcmp(of->name, "fit") == 0) offset = of->offset;
    return ((const cri_predictor *)(const void *)((const char *)m->state + offset))->diagonal;
}

/* The same answers on rows that were not learned from. */
static void assert_same_predictions(cr_ctx *cx, const cr_model *a, const cr_model *b)
{
    cr_table     *t = make(cx, 2);
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    for (size_t i = 0; i < N; i++) {
        assert_relative(p.mean[i], q.mean[i], 1e-10);
        assert_relative(p.scale[i], q.scale[i], 1e-10);
        assert_close(p.leverage[i], q.leverage[i], 1e-10);
    }
}

/* `settings` with the levels eliminated, and with `solver`, which writes the indicators out. */
static void check_roads(cr_ctx *cx, const char *model, const char *settings, const char *solver,
                        const char *const *statistics)
{
    char      dense[200];
    cr_table *t = make(cx, 1);
    snprintf(dense, sizeof dense, "%s solver=%s", settings, solver);
    cr_model *a = fit(cx, model, t, settings), *b = fit(cx, model, t, dense);
    assert_true(is_bordered(a) && !is_bordered(b));
    assert_same_description(cx, a, b, statistics);
    assert_same_predictions(cx, a, b);
    const cr_report *ra = cr_model_get_report(a), *rb = cr_model_get_report(b);
    if (!isnan(rb->log_likelihood)) assert_relative(ra->log_likelihood, rb->log_likelihood, 1e-10);
    if (!isnan(rb->log_evidence)) assert_relative(ra->log_evidence, rb->log_evidence, 1e-9);
}

TEST(linear)
{
    /* QR has another estimate of the condition */
    const char *const by_gram[] = { "condition_number", "residual_sd", "rss", "r2", "bic", NULL };
    const char *const by_qr[] = { "residual_sd", "residual_dof", "rss", "f", "rank", NULL };
    check_roads(cx, "linear", "target=y features=!w", "gram", by_gram);
    check_roads(cx, "linear", "target=y weights=w", "qr", by_qr);
    check_roads(cx, "linear", "target=y weights=w weights_are=precisions", "gram", by_gram);
    check_roads(cx, "linear", "target=y intercept=false features=!w,!h", "gram", by_gram);
}

TEST(ridge)
{
    const char *const statistics[] = { "residual_sd", "rss", "r2", "gcv", "effective_df", NULL };
    check_roads(cx, "ridge", "target=y features=!w lambda=3", "primal", statistics);
    check_roads(cx, "ridge", "target=y weights=w lambda=0.1", "primal", statistics);
    check_roads(cx, "ridge", "target=y intercept=false features=!w scale=none", "primal",
                statistics);
}

/* Both ways to learn, both priors, and the intercept as known, unknown and absent. */
TEST(bayes_linear)
{
    const char *const normal[] = { "alpha", "beta", "rss", "effective_parameters", NULL };
    const char *const nig[] = { "a_n", "b_n", "rss", "effective_parameters", NULL };
    const char *const flat = "target=y features=!w optimize=em";
    check_roads(cx, "bayes-linear",
                "target=y features=!w optimize=fixed-point intercept_prior=centre", "primal",
                normal);
    check_roads(cx, "bayes-linear", flat, "primal", normal);
    check_roads(cx, "bayes-linear", "target=y weights=w prior=nig", "primal", nig);
    check_roads(cx, "bayes-linear", "target=y features=!w,!x intercept=false optimize=fixed-point",
                "primal", normal);
}

/* The scales averaged over: the evidence is the same, the coefficients are those of the mean of log
 * lambda, which so many levels settle. */
TEST(bayes_linear_averaged)
{
    cr_table *t = make(cx, 1);
    cr_model *a = fit(cx, "bayes-linear", t, "target=y features=!w");
    cr_model *b = fit(cx, "bayes-linear", t, "target=y features=!w solver=primal");
    assert_true(is_bordered(a) && !is_bordered(b));
    assert_close(cr_model_get_report(a)->log_evidence, cr_model_get_report(b)->log_evidence, 1e-5);
    assert_relative(statistic(describe(cx, a), "alpha"), statistic(describe(cx, b), "alpha"), 1e-5);
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    for (size_t i = 0; i < N; i++) {
        assert_close(p.mean[i] / q.scale[i], q.mean[i] / q.scale[i], 1e-2);
        assert_relative(p.scale[i], q.scale[i], 1e-2);
        assert_true(p.dof[i] == q.dof[i]);
    }
}

/* An elastic net without the sum of absolute values is a ridge of n times its penalty. */
TEST(lasso)
{
    char      penalty[80];
    cr_table *t = make(cx, 1);
    snprintf(penalty, sizeof penalty, "target=y features=!w solver=primal lambda=%g", 0.01 * N);
    cr_model *a =
        fit(cx, "lasso", t, "target=y features=!w l1_ratio=0 lambda=0.01 tolerance=1e-12");
    cr_model     *b = fit(cx, "ridge", t, penalty);
    json_t       *da = describe(cx, a), *db = describe(cx, b);
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    assert_true(is_bordered(a) && !is_bordered(b));
    assert_relative(statistic(da, "effective_df"), statistic(db, "effective_df"), 1e-8);
    for (size_t i = 0; i < N; i++) {
        assert_close(p.mean[i], q.mean[i], 1e-6);
        assert_relative(p.scale[i], q.scale[i], 1e-6);
        assert_close(p.leverage[i], q.leverage[i], 1e-8);
    }
}

/* Each row left out with its level's share, against the dense leverages. */
TEST(quality)
{
    cr_table     *t = make(cx, 1);
    cr_model     *a = fit(cx, "ridge", t, "target=y features=!w lambda=3");
    cr_model     *b = fit(cx, "ridge", t, "target=y features=!w lambda=3 solver=primal");
    cr_prediction p = predict(cx, b, t);
    const double *y = cr_table_column(t, 4)->values;
    double        loo = 0;
    for (size_t i = 0; i < N; i++) {
        double e = (y[i] - p.mean[i]) / (1 - p.leverage[i]);
        loo += e * e / N;
    }
    assert_relative(statistic(describe(cx, a), "loocv"), loo, 1e-9);
}

TEST(covariance)
{
    cr_table *t = make(cx, 1);
    cr_model *a = fit(cx, "linear", t, "target=y features=!w");
    cr_model *b = fit(cx, "linear", t, "target=y features=!w solver=gram");
    double   *A, *B, largest = 0;
    size_t    n, k;
    assert_ok(cx, cr_covariance(cx, a, &A, &n));
    assert_ok(cx, cr_covariance(cx, b, &B, &k));
    assert_int_equal(n, k);
    for (size_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(B[i]));
    for (size_t i = 0; i < n * n; i++) assert_close(A[i], B[i], 1e-10 * largest);
    cr_free(cx, A, n, n * sizeof(double));
    cr_free(cx, B, n, n * sizeof(double));
}

/* A term that depends on the levels is named as before, by the dense road. */
TEST(dependent)
{
    text_buffer t = text_new(N * 60);
    text_put(&t, "g,x,y\n");
    for (size_t i = 0; i < N; i++)
        text_put(&t, "g%04zu,%zu,%zu\n", i % LEVELS, i % LEVELS % 10, i * i % 1009);
    cr_model *m = fit(cx, "linear", table_of_text(cx, "levels.csv", t.at), "target=y");
    assert_false(is_bordered(m));
    assert_int_equal((int)statistic(describe(cx, m), "rank"), LEVELS - 1);
    free(t.at);
}

TEST(no_update)
{
    cr_table         *t = make(cx, 1);
    const char *const models[] = { "ridge", "bayes-linear" };
    cr_model         *more;
    for (size_t k = 0; k < 2; k++)
        assert_fails_with(cx, cr_update(cx, fit(cx, models[k], t, "target=y"), t, &more),
                          CR_EUNSUPPORTED, "no exact update");
}

TEST(allocations)
{
    cr_table *t = make(cx, 1);
    check_every_allocation(t, "linear", "target=y features=!w");
    check_every_allocation(t, "ridge", "target=y features=!w");
    check_every_allocation(t, "bayes-linear", "target=y features=!w");
}
