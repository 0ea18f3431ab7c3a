/* test_mean_intervals.c -- how well the mean of a row is known: R's answers; the interval of the intercept where the row
 * is at 0; and what is left of a prediction when the noise is taken away. */
#include "fixture.h"

#include "math/special/special.h"
#include "models/core/parts.h"

enum { NEW = 3 };

/* speed and dist of R's `cars`: Ezekiel (1930), Methods of Correlation Analysis. */
static const int cars[][2] = {
    { 4, 2 },    { 4, 10 },  { 7, 4 },   { 7, 22 },  { 8, 16 },  { 9, 10 },  { 10, 18 }, { 10, 26 },
    { 10, 34 },  { 11, 17 }, { 11, 28 }, { 12, 14 }, { 12, 20 }, { 12, 24 }, { 12, 28 }, { 13, 26 },
    { 13, 34 },  { 13, 34 }, { 13, 46 }, { 14, 26 }, { 14, 36 }, { 14, 60 }, { 14, 80 }, { 15, 20 },
    { 15, 26 },  { 15, 54 }, { 16, 32 }, { 16, 40 }, { 17, 32 }, { 17, 40 }, { 17, 50 }, { 18, 42 },
    { 18, 56 },  { 18, 76 }, { 18, 84 }, { 19, 36 }, { 19, 46 }, { 19, 68 }, { 20, 32 }, { 20, 48 },
    { 20, 52 },  { 20, 56 }, { 20, 64 }, { 22, 66 }, { 23, 54 }, { 24, 70 }, { 24, 92 }, { 24, 93 },
    { 24, 120 }, { 25, 85 },
};
enum { CARS = sizeof cars / sizeof *cars };

/* The cars with `zero` taken from each speed. */
static cr_table *cars_from(cr_ctx *cx, int zero)
{
    char   text[4096] = "speed,dist\n";
    size_t at = strlen(text);
    for (size_t i = 0; i < CARS; i++)
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%d,%d\n", cars[i][0] - zero, cars[i][1]);
    return table_of_text(cx, "cars.csv", text);
}

/* predict(lm(dist ~ speed, cars), data.frame(speed = c(12, 19, 24)), interval = "confidence"), to the digits R prints. */
TEST(answers_of_r)
{
    static const double r[NEW][2] = { { 24.39514, 34.82448 },
                                      { 51.82913, 62.44421 },
                                      { 68.38765, 85.20978 } };
    cr_table           *t = cars_from(cx, 0);
    cr_table           *u = table_of_text(cx, "new.csv", "speed\n12\n19\n24\n");
    cr_model           *m = fit(cx, "linear", t, "target=dist features=speed");
    double              lower[NEW], upper[NEW];
    assert_ok(cx, cr_predict_mean_intervals(cx, m, u, 0.95, lower, upper));
    for (size_t i = 0; i < NEW; i++) {
        assert_close(lower[i], r[i][0], 6e-6);
        assert_close(upper[i], r[i][1], 6e-6);
    }
}

/* t s sqrt(x' (X'X)^-1 x) by hand, in the units of a target that the model standardises. */
TEST(dense_formula)
{
    cr_table *t = cars_from(cx, 0);
    cr_model *m = fit(cx, "linear", t, "target=dist features=speed scale=standard");
    double    lower[CARS], upper[CARS], n = CARS, sx = 0, sy = 0, sxx = 0, sxy = 0, rss = 0;
    assert_ok(cx, cr_predict_mean_intervals(cx, m, t, 0.9, lower, upper));
    for (size_t i = 0; i < CARS; i++) sx += cars[i][0] / n, sy += cars[i][1] / n;
    for (size_t i = 0; i < CARS; i++) {
        sxx += (cars[i][0] - sx) * (cars[i][0] - sx);
        sxy += (cars[i][0] - sx) * (cars[i][1] - sy);
    }
    for (size_t i = 0; i < CARS; i++)
        rss += pow(cars[i][1] - sy - sxy / sxx * (cars[i][0] - sx), 2);
    for (size_t i = 0; i < CARS; i++) {
        double d = cars[i][0] - sx, mean = sy + sxy / sxx * d;
        double half = cr_student_t_ppf(0.95, n - 2) * sqrt(rss / (n - 2) * (1 / n + d * d / sxx));
        assert_relative(lower[i], mean - half, 1e-10);
        assert_relative(upper[i], mean + half, 1e-10);
    }
}

/* The mean of a row at 0 is the intercept, and so are its intervals. */
TEST(intercept_at_zero)
{
    static const char *const settings[][2] = {
        { "linear", "" },
        { "linear", "errors=hc3" },
        { "linear", "noise-model=speed" },
        { "ridge", "lambda=3" },
        { "ridge", "lambda=3 solver=dual" },
        { "bayes-linear", "" },
        { "bayes-linear", "prior=nig" },
        { "lasso", "lambda=0.5" },
        { "robust", "" },
        { "robust", "method=huber" },
        { "robust", "method=quantile quantile=0.8" },
        { "glm", "" },
    };
    cr_table *t = cars_from(cx, 21), *u = table_of_text(cx, "new.csv", "speed\n0\n");
    for (size_t c = 0; c < sizeof settings / sizeof *settings; c++) {
        char   text[256];
        double lower, upper;
        snprintf(text, sizeof text, "target=dist features=speed %s", settings[c][1]);
        cr_model *m = fit(cx, settings[c][0], t, text);
        json_t   *d = describe(cx, m);
        assert_true(cr_model_has_mean_intervals(m));
        assert_ok(cx, cr_predict_mean_intervals(cx, m, u, 0.95, &lower, &upper));
        assert_relative(lower, parameter(d, "intercept", "lower"), 1e-9);
        assert_relative(upper, parameter(d, "intercept", "upper"), 1e-9);
    }
}

/* The variance of a prediction is that of its mean and that of the noise. */
static void check_noise(cr_ctx *cx, const char *name, const char *settings)
{
    cr_table     *t = cars_from(cx, 0);
    cr_model     *m = fit(cx, name, t, settings);
    json_t       *d = describe(cx, m);
    cr_prediction p = predict(cx, m, t);
    double        lower[CARS], upper[CARS], noise = statistic(d, "residual_sd");
    assert_ok(cx, cr_predict_mean_intervals(cx, m, t, 0.9, lower, upper));
    for (size_t i = 0; i < CARS; i++) {
        double scale = (upper[i] - lower[i]) / 2 / cr_student_t_ppf(0.95, p.dof[i]);
        assert_relative(hypot(scale, noise), p.scale[i], 1e-9);
        assert_close(lower[i] + upper[i], 2 * p.mean[i], 1e-9);
    }
}

TEST(smoothers)
{
    check_noise(cx, "spline", "target=dist features=speed");
    check_noise(cx, "kernel-ridge", "target=dist features=speed lambda=0.5");
    check_noise(cx, "linear", "target=dist features=speed");
}

/* Of a process it is the function without noise. */
TEST(process)
{
    cr_table *t = cars_from(cx, 0);
    cr_model *m = fit(cx, "gp", t, "target=dist features=speed hyper=best");
    double    lower[CARS], upper[CARS], mean[CARS], sd[CARS];
    assert_ok(cx, cr_predict_mean_intervals(cx, m, t, 0.9, lower, upper));
    assert_ok(cx, cr_predict_function(cx, m, t, false, mean, sd, NULL));
    for (size_t i = 0; i < CARS; i++) {
        assert_close(lower[i], mean[i] - 1.6448536269514722 * sd[i], 1e-9);
        assert_close(upper[i], mean[i] + 1.6448536269514722 * sd[i], 1e-9);
    }
}

/* The mean of a group is that of its rows; the noise of an observation is not in it. */
TEST(varying_intercepts)
{
    cr_table     *t = cars_from(cx, 0);
    cr_model     *m = fit(cx, "bayes-linear", t, "target=dist terms=(1|speed)");
    cr_prediction p = predict(cx, m, t);
    double        lower[CARS], upper[CARS];
    assert_ok(cx, cr_predict_mean_intervals(cx, m, t, 0.95, lower, upper));
    for (size_t i = 0; i < CARS; i++) {
        double scale = (upper[i] - lower[i]) / 2 / cr_student_t_ppf(0.975, p.dof[i]);
        double h = p.leverage[i];
        assert_relative(scale, p.scale[i] * sqrt(h / (1 + h)), 1e-9);
    }
}

/* A mean of logarithms is not the logarithm of a mean. */
TEST(transformed_target)
{
    cr_table *t = cars_from(cx, 0);
    double    lower[CARS], upper[CARS];
    cr_model *m = fit(cx, "linear", t, "target=dist features=speed transform-target=log");
    assert_false(cr_model_has_mean_intervals(m));
    assert_fails_with(cx, cr_predict_mean_intervals(cx, m, t, 0.9, lower, upper), CR_EUNSUPPORTED,
                      "the target was transformed");
    m = fit(cx, "tree", t, "target=dist features=speed");
    assert_fails_with(cx, cr_predict_mean_intervals(cx, m, t, 0.9, lower, upper), CR_EUNSUPPORTED,
                      "the model tree has no intervals for its means");
}
