/* test_kernel_ridge.c -- kernel ridge regression against linear ridge, Gaussian processes, refits
 * and reference answers. */
#include "../gp/gp_reference.h"

enum { N = 25, P = 3 };

typedef struct sample {
    double    X[N * P], y[N], w[N];
    cr_table *t;
} sample;

static sample draw(cr_ctx *cx, uint64_t seed)
{
    sample s;
    draw_regression(seed, N, P, 0.7, s.X, s.y);
    for (size_t i = 0; i < N; i++) s.w[i] = (double)(i % 3);
    memcpy(s.X + 9 * P, s.X + 2 * P, sizeof(double[P])); /* a repeated input */
    s.t = make_table(cx, s.X, N, P, s.y, s.w);
    return s;
}

static void assert_same(cr_ctx *cx, const cr_model *a, const cr_model *b, const cr_table *t,
                        double tolerance)
{
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    for (size_t i = 0; i < p.n; i++) {
        assert_close(p.mean[i], q.mean[i], tolerance);
        assert_close(p.scale[i], q.scale[i], tolerance);
    }
}

/* With the linear kernel it is ridge regression, in all its figures.  The intercept is penalised by
 * neither, but columns that are not centred make them differ: standardised ones are. */
TEST(linear_kernel)
{
    cr_ctx_set_threads(cx, 1);
    for (unsigned bits = 0; bits < 4; bits++) {
        sample s = draw(cx, bits);
        char   a[200], b[200];
        snprintf(a, sizeof a, "target=y features=x* lambda=0.8 kernel=linear %s %s",
                 bits & 1 ? "weights=w" : "", bits & 2 ? "intercept=false scale=none" : "");
        snprintf(b, sizeof b, "target=y features=x* lambda=0.8 %s %s", bits & 1 ? "weights=w" : "",
                 bits & 2 ? "intercept=false scale=none" : "");
        cr_model *k = fit(cx, "kernel-ridge", s.t, a), *r = fit(cx, "ridge", s.t, b);
        json_t   *d = describe(cx, k), *e = describe(cx, r);
        assert_same(cx, k, r, s.t, 1e-9);
        assert_close(statistic(d, "effective_df"), statistic(e, "effective_df"), 1e-9);
        assert_close(statistic(d, "rss"), statistic(e, "rss"), 1e-9);
        assert_close(statistic(d, "gcv"), statistic(e, "gcv"), 1e-9);
        assert_close(statistic(d, "residual_sd"), statistic(e, "residual_sd"), 1e-9);
        if (!(bits & 1)) assert_close(statistic(d, "loocv"), statistic(e, "loocv"), 1e-9);
        cr_table_free(cx, s.t);
    }
}

/* The mean of a Gaussian process with noise lambda. */
TEST(gp_mean)
{
    sample    s = draw(cx, 9);
    cr_model *k = fit(cx, "kernel-ridge", s.t,
                      "target=y features=x* lambda=0.3 kernel=rbf(l=1.2) scale=none");
    cr_model *g =
        fit(cx, "gp", s.t, "target=y features=x* noise=0.3 kernel=rbf(l=1.2) optimize=none");
    cr_prediction p = predict(cx, k, s.t), q = predict(cx, g, s.t);
    json_t       *d = describe(cx, k);
    double        unit = statistic(d, "residual_sd") / sqrt(0.3);
    for (size_t i = 0; i < N; i++) {
        assert_close(p.mean[i], q.mean[i], 1e-12);
        assert_close(p.scale[i], q.scale[i] * unit, 1e-10);
    }
    cr_table_free(cx, s.t);
}

TEST(reference)
{
    json_t *root = load_reference(), *item;
    size_t  i, seen = 0;
    json_array_foreach(json_object_get(root, "cases"), i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        if (strncmp(id, "krr/", 4)) continue;
        split     s = read_split(cx, root, item);
        cr_table *t = make_table(cx, s.X, s.n, s.d, s.y, NULL),
                 *z = make_table(cx, s.Z, s.tests, s.d, s.z, NULL);
        double gamma = number_of(json_object_get(item, "kernel"), "gamma");
        char   settings[200];
        snprintf(settings, sizeof settings,
                 "target=y scale=none intercept=false lambda=%.17g kernel=rbf(l=%.17g)",
                 number_of(item, "lam"), sqrt(0.5 / gamma));
        cr_model     *m = fit(cx, "kernel-ridge", t, settings);
        cr_prediction p = predict(cx, m, z);
        json_t       *d = describe(cx, m), *wanted = json_object_get(item, "predicted_first20");
        for (size_t j = 0; j < json_array_size(wanted); j++)
            assert_close(p.mean[j], element(wanted, j), 1e-7);
        assert_relative(statistic(d, "loocv"), number_of(item, "loo_mse_std"), 1e-7);
        cr_model_free(cx, m);
        cr_table_free(cx, t);
        cr_table_free(cx, z);
        drop_split(&s);
        seen++;
    }
    assert_int_equal(seen, 10);
    json_decref(root);
}

/* The penalty chosen has no larger leave-one-out error than its neighbours. */
TEST(choice)
{
    sample       s = draw(cx, 12);
    cr_model    *m = fit(cx, "kernel-ridge", s.t, "target=y features=x*");
    json_t      *d = describe(cx, m);
    double       lambda = statistic(d, "lambda"), least = statistic(d, "loocv");
    const double factors[] = { 0.1, 1.0 / 3, 3, 10 };
    for (size_t i = 0; i < 4; i++) {
        char settings[100];
        snprintf(settings, sizeof settings, "target=y features=x* lambda=%.17g",
                 lambda * factors[i]);
        cr_model *other = fit(cx, "kernel-ridge", s.t, settings);
        json_t   *e = describe(cx, other);
        assert_true(statistic(e, "loocv") > 0.98 * least);
    }
    cr_table_free(cx, s.t);
}

/* One row; a penalty of zero; no update. */
TEST(corners)
{
    double        x = 1, y = 4;
    cr_table     *t = make_table(cx, &x, 1, 1, &y, NULL);
    cr_model     *m = fit(cx, "kernel-ridge", t, "target=y"), *none = NULL;
    cr_prediction p = predict(cx, m, t);
    assert_close(p.mean[0], 4, 1e-12);
    assert_true(isnan(p.scale[0])); /* one row tells nothing of the noise */
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    sample s = draw(cx, 4);
    m = fit(cx, "kernel-ridge", s.t, "target=y features=x* weights=w");
    assert_fails(cx, try_fit(cx, "kernel-ridge", s.t, "target=y lambda=0", &none), CR_EARG);
    assert_fails(cx, cr_update(cx, m, s.t, &none), CR_EUNSUPPORTED);
    cr_table_free(cx, s.t);
}

/* What says nothing is named: a column with one value, and a target with one, but for rounding. */
TEST(constants)
{
    double    X[6 * 2] = { 1, 3, 2, 3, 3, 3, 4, 3, 5, 3, 6, 3 }, y[6] = { 4, 6, 5, 7, 6, 4 };
    double    same[6] = { 5, 5, 5, 5, 5, 5 };
    cr_table *t = make_table(cx, X, 6, 2, y, NULL), *flat = make_table(cx, X, 6, 2, same, NULL);
    const struct {
        const cr_table *t;
        const char     *settings, *says;
    } tries[] = { { t, "target=y", "'x2' is constant: what the target is at other values" },
                  { t, "target=y features=x2", "'x2' is constant: what the target is" },
                  { t, "target=y features=x1", NULL },
                  { flat, "target=y features=x1",
                    "the target 'y' has the same value in every row" } };
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        warnings heard = { 0 };
        cr_ctx_set_log(cx, keep_warning, &heard);
        fit(cx, "kernel-ridge", tries[k].t, tries[k].settings);
        cr_ctx_set_log(cx, NULL, NULL);
        if (tries[k].says ? !strstr(heard.text, tries[k].says) : heard.n > 0)
            fail_msg("%s: %s", tries[k].settings, heard.text);
    }
}
