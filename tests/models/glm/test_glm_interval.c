/* test_glm_interval.c -- intervals of the mean: R's answers, the covariance by a dense inverse, the ends of the range
 * of a link, and coverage. */
#include "../fixture.h"

#include "math/special/special.h"
#include "models/core/parts.h"
#include "models/glm/family.h"

enum { ROWS = 12, NEW = 3 };

static const char data[] = "x,z,b,s,n,k,g\n"
                           "0.5,2.1,0,1,12,1,1.2\n"
                           "1.1,0.3,0,2,15,0,0.8\n"
                           "1.9,1.7,1,4,12,3,2.9\n"
                           "2.2,3.2,0,3,15,2,1.7\n"
                           "3.1,0.8,0,5,12,4,2.1\n"
                           "3.4,2.9,1,7,15,3,4.0\n"
                           "4.2,1.1,0,6,12,6,3.1\n"
                           "4.8,3.8,1,9,15,9,7.9\n"
                           "5.5,2.4,1,8,12,7,5.2\n"
                           "6.1,0.6,0,8,15,8,3.9\n"
                           "6.4,3.3,1,11,12,13,9.8\n"
                           "7.3,1.5,1,12,15,15,6.1\n";
static const char new_rows[] = "x,z,n\n1,1,10\n4,2,10\n9,0.5,10\n";

/* predict(fit, newdata, se.fit = TRUE) of R 4 with epsilon = 1e-15, eta -+ qnorm or qt times se, through the link; the shares of trials
 * are of one trial there. */
typedef struct reference {
    const char *settings;
    double      level, trials, ends[NEW][2];
} reference;

static const reference references[] = {
    { "target=b family=binomial",
      0.95,
      1,
      { { 0.000631198523663, 0.641911188860 },
        { 0.180702342229363, 0.851225308782 },
        { 0.033200915785474, 0.995888138560 } } },
    { "target=s family=binomial link=cloglog trials=n",
      0.9,
      10,
      { { 0.0993452381394, 0.246306971641 },
        { 0.3778775252131, 0.519620019340 },
        { 0.7968103423109, 0.992188166157 } } },
    { "target=k family=poisson",
      0.95,
      1,
      { { 0.641475062109, 2.54905082246 },
        { 3.350431907719, 6.10495952540 },
        { 13.762697777688, 48.48206824094 } } },
    { "target=g family=gamma link=log dispersion=pearson",
      0.95,
      1,
      { { 0.850794572066, 1.63842951826 },
        { 2.866227163221, 4.10454169649 },
        { 4.937755628397, 15.13226962232 } } },
    { "target=g family=gamma link=inverse dispersion=pearson", /* R: -27.5 where 1 / eta passes infinity */
      0.95,
      1,
      { { 1.28820815129, 2.25313530732 },
        { 2.42316563922, 3.80125365061 },
        { 4.01631144288, INFINITY } } },
    { "target=g",
      0.95,
      1,
      { { -1.10470344536, 1.84299020527 },
        { 3.39182470782, 5.00707373683 },
        { 4.55331525892, 9.59079797349 } } },
};

TEST(answers_of_r)
{
    cr_table *t = table_of_text(cx, "data.csv", data), *u = table_of_text(cx, "new.csv", new_rows);
    for (size_t c = 0; c < sizeof references / sizeof *references; c++) {
        const reference *r = references + c;
        char             settings[256];
        double           lower[NEW], upper[NEW];
        snprintf(settings, sizeof settings, "%s features=x,z", r->settings);
        cr_model *m = fit(cx, "glm", t, settings);
        assert_ok(cx, cr_predict_mean_intervals(cx, m, u, r->level, lower, upper));
        for (size_t i = 0; i < NEW; i++) {
            assert_relative(lower[i], r->trials * r->ends[i][0], 1e-7);
            if (isinf(r->ends[i][1]))
                assert_true(isinf(upper[i]) && upper[i] > 0);
            else
                assert_relative(upper[i], r->trials * r->ends[i][1], 1e-7);
        }
    }
}

/* With hc0 the variance of eta is z' A^-1 (sum s_i^2 z_i z_i') A^-1 z, by a dense inverse. */
TEST(robust_covariance)
{
    cr_table   *t = table_of_text(cx, "data.csv", data);
    cr_model   *m = fit(cx, "glm", t, "target=k features=x,z family=poisson errors=hc0");
    json_t     *d = describe(cx, m);
    double      b[3] = { parameter(d, "intercept", "value"), parameter(d, "x", "value"),
                         parameter(d, "z", "value") };
    double      X[ROWS], Z[ROWS], y[ROWS], lower[ROWS], upper[ROWS];
    long double A[9] = { 0 }, B[9] = { 0 };
    const char *line = data;
    assert_ok(cx, cr_predict_mean_intervals(cx, m, t, 0.9, lower, upper));
    for (size_t i = 0; i < ROWS; i++) {
        double unused[4];
        line = strchr(line, '\n') + 1;
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", X + i, Z + i, unused, unused + 1,
                                unused + 2, y + i),
                         6);
        double z[3] = { 1, X[i], Z[i] }, mu = exp(b[0] + b[1] * X[i] + b[2] * Z[i]);
        for (size_t a = 0; a < 9; a++) {
            A[a] += mu * z[a / 3] * z[a % 3];
            B[a] += (y[i] - mu) * (y[i] - mu) * z[a / 3] * z[a % 3];
        }
    }
    for (size_t i = 0; i < ROWS; i++) {
        long double C[9], v[3] = { 1, X[i], Z[i] }, variance = 0;
        memcpy(C, A, sizeof C);
        solve_dense(3, C, v, 1);
        for (size_t a = 0; a < 9; a++) variance += v[a / 3] * B[a] * v[a % 3];
        double eta = b[0] + b[1] * X[i] + b[2] * Z[i];
        double half = 1.6448536269514722 * (double)sqrtl(variance);
        assert_relative(lower[i], exp(eta - half), 1e-7);
        assert_relative(upper[i], exp(eta + half), 1e-7);
    }
}

/* Beyond the values of eta that have a mean the end is that of the range. */
TEST(ends_of_the_range)
{
    cr_table *t = table_of_text(cx, "data.csv", data);
    double    lower[ROWS], upper[ROWS];
    cr_model *m = fit(cx, "glm", t, "target=k features=x,z family=poisson link=identity");
    assert_ok(cx, cr_predict_mean_intervals(cx, m, t, 0.999, lower, upper));
    for (size_t i = 0; i < ROWS; i++) assert_true(lower[i] >= 0 && upper[i] > lower[i]);
    assert_true(lower[1] == 0);
    m = fit(cx, "glm", t, "target=s features=x family=binomial link=identity trials=n");
    assert_ok(cx, cr_predict_mean_intervals(cx, m, t, 0.9999999, lower, upper));
    assert_close(upper[10], 12, 1e-12);
}

/* An offset moves the interval; a row left out has none; the level is checked; others refuse. */
TEST(corners)
{
    static const char gaps[] =
        "x,z,k,n\n1,1,2,10\n,2,1,10\n3,0.5,5,20\n4,2,6,5\n5,1,9,8\n2,2,3,9\n";
    cr_table *t = table_of_text(cx, "gaps.csv", gaps);
    double    lower[6], upper[6], low[6], high[6];
    cr_model *m = fit(cx, "glm", t, "target=k features=x family=poisson exposure=n missing=drop");
    assert_ok(cx, cr_predict_mean_intervals(cx, m, t, 0.9, lower, upper));
    cr_prediction p = predict(cx, m, t);
    assert_true(isnan(lower[1]) && isnan(upper[1]));
    for (size_t i = 0; i < 6; i++)
        assert_true(i == 1 || (lower[i] < p.mean[i] && p.mean[i] < upper[i]));
    assert_ok(cx, cr_predict_mean_intervals(cx, m, t, 0.5, low, high));
    assert_true(low[0] > lower[0] && high[0] < upper[0]);
    assert_fails_with(cx, cr_predict_mean_intervals(cx, m, t, 0, low, high), CR_EARG,
                      "between 0 and 1");
    m = fit(cx, "knn", t, "target=k features=n k=2");
    assert_false(cr_model_has_mean_intervals(m));
    assert_fails_with(cx, cr_predict_mean_intervals(cx, m, t, 0.9, low, high), CR_EUNSUPPORTED,
                      "no intervals for its means");
}

/* Intervals of 95 % hold the true probability of new rows 95 % of the time. */
TEST(coverage_of_probabilities)
{
    enum { N = 100, RUNS = 150, TRIED = 10 };
    double held = 0, count = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        double X[2 * N], y[N], U[2 * TRIED], lower[TRIED], upper[TRIED];
        cr_rng r = cr_rng_stream(run, 31);
        draw_normals(&r, X, 2 * N), draw_normals(&r, U, 2 * TRIED);
        for (size_t i = 0; i < N; i++)
            y[i] = cr_rng_uniform(&r) < cr_sigmoid(0.3 + 0.8 * X[2 * i] - 0.5 * X[2 * i + 1]);
        cr_model *m = fit(cx, "glm", make_table(cx, X, N, 2, y, NULL), "target=y family=binomial");
        cr_table *u = make_table(cx, U, TRIED, 2, NULL, NULL);
        assert_ok(cx, cr_predict_mean_intervals(cx, m, u, 0.95, lower, upper));
        for (size_t i = 0; i < TRIED; i++, count++) {
            double p = cr_sigmoid(0.3 + 0.8 * U[2 * i] - 0.5 * U[2 * i + 1]);
            held += lower[i] <= p && p <= upper[i];
        }
    }
    assert_true(held / count > 0.92 && held / count < 0.98);
}
