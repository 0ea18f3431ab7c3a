/* test_svr.c -- support vector regression and one-class machines against reference answers, the conditions of their
 * optimum, and corners. */
#include "../gp/gp_reference.h"

/* --- reference answers ----------------------------------------------------------------------- */

static void put_kernel(const json_t *item, char *out, size_t size)
{
    const json_t *k = json_object_get(item, "kernel");
    if (strcmp(json_string_value(json_object_get(k, "kernel")), "linear") == 0)
        snprintf(out, size, "linear");
    else
        snprintf(out, size, "rbf(l=%.17g)", 1 / sqrt(2 * number_of(k, "gamma")));
}

static void check_svr(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split         s = read_split(cx, root, item);
    cr_table     *t = make_table(cx, s.X, s.n, s.d, s.y, NULL);
    cr_table     *u = make_table(cx, s.Z, s.tests, s.d, NULL, NULL);
    const json_t *first = json_object_get(item, "predicted_first20");
    char          kernel[64], settings[256];
    put_kernel(item, kernel, sizeof kernel);
    snprintf(settings, sizeof settings,
             "target=y kernel=%s C=%.17g epsilon=%.17g units=target scale=none noise=none tol=1e-6",
             kernel, number_of(item, "C"), number_of(item, "epsilon"));
    cr_model     *m = fit(cx, "svr", t, settings);
    json_t       *d = describe(cx, m);
    cr_prediction p = predict(cx, m, u);
    double        best = number_of(item, "dual_objective");
    assert_true(statistic(d, "dual_objective") <= best + 1e-6 * fabs(best));
    assert_close(parameter(d, "b", "value"), number_of(item, "b"), 1e-4);
    for (size_t i = 0; i < json_array_size(first); i++)
        assert_close(p.mean[i], element(first, i), 1e-4);
    assert_true(statistic(d, "duality_gap") <= 1e-5 * fabs(best));
    drop_split(&s);
}

TEST(reference_regression) { check_cases("svr/", "", SIZE_MAX, 18, check_svr); }

static void check_one_class(cr_ctx *cx, const json_t *root, const json_t *item)
{
    split         s = read_split(cx, root, item);
    cr_table     *t = make_table(cx, s.X, s.n, s.d, NULL, NULL);
    cr_table     *u = make_table(cx, s.Z, s.tests, s.d, NULL, NULL);
    const json_t *first = json_object_get(item, "decision_first20");
    char          kernel[64], settings[256];
    put_kernel(item, kernel, sizeof kernel);
    snprintf(settings, sizeof settings, "kernel=%s nu=%.17g scale=none tol=1e-6", kernel,
             number_of(item, "nu"));
    cr_model     *m = fit(cx, "one-class-svm", t, settings);
    json_t       *d = describe(cx, m);
    cr_prediction p = predict(cx, m, u);
    assert_close(statistic(d, "rho"), number_of(item, "rho"), 1e-5);
    assert_true(statistic(d, "support_vectors") == number_of(item, "n_sv"));
    for (size_t i = 0; i < json_array_size(first); i++) {
        assert_close(p.vector[2 * i], element(first, i), 1e-4);
        assert_true(p.vector[2 * i + 1] == (p.vector[2 * i] > 0));
    }
    drop_split(&s);
}

TEST(reference_region) { check_cases("oneclass/", "", SIZE_MAX, 1, check_one_class); }

/* --- the optimum ----------------------------------------------------------------------------- */

enum { N = 60, P = 2 };

typedef struct sample {
    double    X[N * P], y[N];
    cr_table *t;
} sample;

static sample draw(cr_ctx *cx)
{
    sample s;
    draw_regression(3, N, P, 0.5, s.X, s.y);
    s.t = make_table(cx, s.X, N, P, s.y, NULL);
    return s;
}

/* A function within the tube, on its edge or outside it goes with a weight of 0, between, or at the bound: in numbers of
 * rows.  Of nu as many are outside as it says at most, and as many needed at least. */
TEST(rows_lie_where_their_weights_say)
{
    sample    s = draw(cx);
    cr_model *m = fit(cx, "svr", s.t, "target=y C=2 epsilon=0.3 units=target tol=1e-9 noise=none");
    cr_prediction p = predict(cx, m, s.t);
    json_t       *d = describe(cx, m);
    size_t        outside = 0, edge = 0;
    for (size_t i = 0; i < N; i++) {
        double e = fabs(s.y[i] - p.mean[i]);
        outside += e > 0.3 + 1e-6;
        edge += fabs(e - 0.3) <= 1e-6;
    }
    assert_true(outside > 5 && edge > 0);
    assert_true(statistic(d, "bounded") == (double)outside);
    assert_true(statistic(d, "free") == (double)edge);
    assert_true(statistic(d, "violation") <= 1e-9);

    m = fit(cx, "svr", s.t, "target=y C=2 kind=nu nu=0.4 units=target tol=1e-9 noise=none");
    p = predict(cx, m, s.t);
    d = describe(cx, m);
    double width = statistic(d, "epsilon");
    outside = 0;
    for (size_t i = 0; i < N; i++) outside += fabs(s.y[i] - p.mean[i]) > width + 1e-6;
    assert_true(width > 0 && outside <= 24 && statistic(d, "support_vectors") >= 24);

    /* the same tube, given */
    char settings[160];
    snprintf(settings, sizeof settings,
             "target=y C=2 epsilon=%.17g units=target tol=1e-9 noise=none", width);
    cr_prediction q = predict(cx, fit(cx, "svr", s.t, settings), s.t);
    for (size_t i = 0; i < N; i++) assert_close(p.mean[i], q.mean[i], 1e-6);
}

/* In units of its standard deviation the target may be measured in anything. */
TEST(units_do_not_matter)
{
    sample s = draw(cx);
    double z[N];
    for (size_t i = 0; i < N; i++) z[i] = 1000 * s.y[i] - 5e5;
    cr_table     *t = make_table(cx, s.X, N, P, z, NULL);
    cr_prediction p = predict(cx, fit(cx, "svr", s.t, "target=y tol=1e-9"), s.t);
    cr_prediction q = predict(cx, fit(cx, "svr", t, "target=y tol=1e-9"), t);
    for (size_t i = 0; i < N; i++) {
        assert_close(1000 * p.mean[i] - 5e5, q.mean[i], 1e-8);
        assert_relative(1000 * p.scale[i], q.scale[i], 1e-6);
    }
}

/* --- the noise ------------------------------------------------------------------------------- */

/* The scale is that of residuals of rows left out, found here by fits without them. */
TEST(noise_is_that_of_rows_left_out)
{
    enum { FEW = 12 };
    sample s = draw(cx);
    double sum = 0, square = 0;
    char   settings[200] = "target=y units=target kernel=rbf(l=2) scale=none tol=1e-9 noise=none";
    for (size_t i = 0; i < FEW; i++) { /* as many folds as rows: each is left out alone */
        double X[FEW * P], y[FEW];
        size_t k = 0;
        for (size_t j = 0; j < FEW; j++) {
            if (j == i) continue;
            memcpy(X + k * P, s.X + j * P, sizeof(double[P]));
            y[k++] = s.y[j];
        }
        cr_table     *rest = make_table(cx, X, k, P, y, NULL);
        cr_table     *one = make_table(cx, s.X + i * P, 1, P, NULL, NULL);
        cr_prediction p = predict(cx, fit(cx, "svr", rest, settings), one);
        sum += fabs(s.y[i] - p.mean[0]) / FEW;
        square += (s.y[i] - p.mean[0]) * (s.y[i] - p.mean[0]) / FEW;
    }
    cr_table *few = make_table(cx, s.X, FEW, P, s.y, NULL);
    strcpy(strstr(settings, "noise="), "noise=laplace noise_folds=12");
    json_t *d = describe(cx, fit(cx, "svr", few, settings));
    assert_close(statistic(d, "held_out_rmse"), sqrt(square), 1e-6);
    assert_close(statistic(d, "noise_sd"), sqrt(2) * sum, 1e-6);
    strcpy(strstr(settings, "noise="), "noise=gaussian noise_folds=12");
    cr_model *m = fit(cx, "svr", few, settings);
    assert_close(statistic(describe(cx, m), "noise_sd"), sqrt(square), 1e-6);
    assert_close(predict(cx, m, few).scale[3], sqrt(square), 1e-6);
}

/* Heavy tails are told from normal ones. */
TEST(noise_is_the_likelier)
{
    enum { MANY = 400 };
    static double x[MANY], y[MANY];
    cr_rng        r = cr_rng_stream(2, 2);
    for (int heavy = 0; heavy < 2; heavy++) {
        for (size_t i = 0; i < MANY; i++) {
            double size = cr_rng_exponential(&r), sign = cr_rng_uniform(&r) < 0.5 ? -1 : 1;
            x[i] = (double)i / MANY;
            y[i] = x[i] + (heavy ? sign * size : cr_rng_normal(&r));
        }
        cr_table   *t = make_table(cx, x, MANY, 1, y, NULL);
        json_t     *d = describe(cx, fit(cx, "svr", t, "target=y kernel=linear"));
        const char *noise =
            json_string_value(json_object_get(json_object_get(d, "statistics"), "noise"));
        assert_string_equal(noise, heavy ? "laplace" : "gaussian");
    }
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(corners_of_regression)
{
    static double constant[] = { 3, 3, 3, 3, 3, 3 }, X[] = { 1, 2, 3, 4, 5, 6 };
    static double y[] = { 2, 4, 7, 8, 9, 13 };
    cr_table     *flat = make_table(cx, constant, 6, 1, y, NULL),
             *one = make_table(cx, X, 1, 1, y, NULL);
    cr_table *level = make_table(cx, X, 6, 1, constant, NULL),
             *t = make_table(cx, X, 6, 1, y, NULL);

    assert_proper((cr_prediction[]){ predict(cx, fit(cx, "svr", flat, "target=y"), flat) });
    cr_prediction p = predict(cx, fit(cx, "svr", one, "target=y"), one);
    assert_close(p.mean[0], 2, 0.11);
    p = predict(cx, fit(cx, "svr", level, "target=y"), level);
    assert_close(p.mean[0], 3, 0.11);

    /* so cheap an error that the function is flat; so dear that it goes through the tube of every row */
    p = predict(cx, fit(cx, "svr", t, "target=y C=1e-8"), t);
    for (size_t i = 1; i < 6; i++) assert_close(p.mean[i], p.mean[0], 1e-4);
    p = predict(
        cx, fit(cx, "svr", t, "target=y C=1e8 epsilon=0.01 units=target tol=1e-6 kernel=rbf(l=1)"),
        t);
    for (size_t i = 0; i < 6; i++) assert_close(p.mean[i], y[i], 0.0101 / fabs(y[i]));
}

TEST(corners_of_regions)
{
    static double one[] = { 3, 4 }, same[] = { 1, 1, 1, 1, 1, 1, 9 };
    cr_table     *t = make_table(cx, one, 1, 2, NULL, NULL);
    cr_prediction p = predict(cx, fit(cx, "one-class-svm", t, "kernel=rbf(l=1) scale=none"), t);
    assert_close(p.vector[0], 0, 1e-9);
    assert_true(p.vector[1] == 1);

    /* rows of one place are one row of their weight; what lies apart is outside */
    t = make_table(cx, same, 7, 1, NULL, NULL);
    p = predict(cx, fit(cx, "one-class-svm", t, "kernel=rbf(l=1) nu=0.3 scale=none tol=1e-9"), t);
    assert_true(p.vector[1] == 1 && p.vector[2 * 6 + 1] == 0);
    p = predict(cx, fit(cx, "one-class-svm", t, "kernel=rbf(l=1) nu=1 scale=none"), t);
    for (size_t i = 0; i < 14; i++) assert_true(isfinite(p.vector[i]));
}

TEST(a_limit_ends_it_with_the_gap_told)
{
    sample    s = draw(cx);
    cr_model *m = fit(cx, "svr", s.t, "target=y C=100 max_iter=3 tol=1e-9 noise=none");
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
    assert_true(statistic(describe(cx, m), "duality_gap") > 0);
}
