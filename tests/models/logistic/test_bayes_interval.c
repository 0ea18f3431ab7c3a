/* test_bayes_interval.c -- intervals of the probabilities of classes: the normal score of two classes by hand, draws
 * against the normal where both hold, and coverage under the model's own prior. */
#include "../fixture.h"
#include "math/special/special.h"
#include "models/core/parts.h"

enum { N = 600 };

static void intervals(cr_ctx *cx, const cr_model *m, const cr_table *t, double level, double *lower,
                      double *upper)
{
    assert_ok(cx, cr_predict_probability_intervals(cx, m, t, level, lower, upper));
}

/* Classes 0 .. K-1 with scores that grow along x1. */
static void draw_rows(uint64_t seed, size_t n, size_t K, double *X, double *y)
{
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < n; i++) {
        double p[4], u = cr_rng_uniform(&r);
        X[2 * i] = 3 + cr_rng_normal(&r), X[2 * i + 1] = 2 * cr_rng_normal(&r);
        for (size_t k = 0; k < K; k++)
            p[k] = 0.8 * (double)k * (X[2 * i] - 3) - (k == 2 ? 0.4 * X[2 * i + 1] : 0);
        cr_softmax(p, K, p);
        for (y[i] = 0; y[i] + 1 < (double)K && u > p[(size_t)y[i]]; y[i]++) u -= p[(size_t)y[i]];
    }
}

/* At the means of the columns the score is the intercept of the standardised ones, N(mode, sd^2); elsewhere it moves
 * along the mode.  The interval of level 0.6827 is one sd to both sides. */
TEST(score_of_two_classes)
{
    double X[2 * N], y[N], low[4], high[4], wide_low[4], wide_high[4];
    draw_rows(1, N, 2, X, y);
    cr_table *t = make_table(cx, X, N, 2, y, NULL);
    cr_model *m = fit(cx, "bayes-logistic", t, "target=y infer=laplace optimize=evidence");
    double    U[] = { 3.4, -1, 5, 2 };
    cr_table *new = make_table(cx, U, 2, 2, NULL, NULL);
    cr_prediction p = predict(cx, m, new);
    intervals(cx, m, new, 0.682689492137086, low, high);
    intervals(cx, m, new, 0.954499736103642, wide_low, wide_high);
    for (size_t i = 0; i < 2; i++) {
        double centre = (cr_logit(low[2 * i]) + cr_logit(high[2 * i])) / 2;
        double sd = (cr_logit(high[2 * i]) - cr_logit(low[2 * i])) / 2, sum = 0, weight = 0;
        assert_close(cr_logit(wide_high[2 * i]) - centre, 2 * sd, 1e-9);
        assert_close(low[2 * i] + high[2 * i + 1], 1, 1e-12);
        assert_close(high[2 * i] + low[2 * i + 1], 1, 1e-12);
        for (double x = -8; x < 8; x += 0.01) { /* that normal gives the probability */
            sum += exp(-x * x / 2) * cr_sigmoid(centre + sd * x);
            weight += exp(-x * x / 2);
        }
        assert_close(p.prob[2 * i], sum / weight, 1e-9);
    }
}

/* With many rows the posterior is normal: quantiles over Markov chains are those of Laplace's normal. */
TEST(draws_and_lattice_agree)
{
    static const size_t classes[] = { 2, 3 };
    for (size_t c = 0; c < 2; c++) {
        size_t K = classes[c];
        double X[2 * N], y[N], U[] = { 2, 1, 3, -3, 4, 0 }, low[2][9], high[2][9];
        draw_rows(2, N, K, X, y);
        cr_table *t = make_table(cx, X, N, 2, y, NULL), *new = make_table(cx, U, 3, 2, NULL, NULL);
        const char *how[] = { "target=y infer=laplace task=classification",
                              "target=y infer=mcmc task=classification" };
        for (size_t h = 0; h < 2; h++)
            intervals(cx, fit(cx, "bayes-logistic", t, how[h]), new, 0.9, low[h], high[h]);
        for (size_t i = 0; i < 3 * K; i++) {
            double width = high[0][i] - low[0][i];
            assert_true(width > 0.01 && width < 0.3);
            assert_close(low[1][i], low[0][i], 0.2 * width);
            assert_close(high[1][i], high[0][i], 0.2 * width);
        }
    }
}

/* Coefficients from the prior of the model: intervals of 95 % hold the true probabilities 95 % of the time. */
static double coverage(cr_ctx *cx, size_t n, size_t trials)
{
    enum { NEW = 20, MOST = 200 };
    double held = 0, count = 0;
    for (uint64_t trial = 0; trial < trials; trial++) {
        double X[2 * MOST], y[MOST], U[2 * NEW], low[2 * NEW], high[2 * NEW], ones = 0;
        cr_rng r = cr_rng_stream(trial, 6);
        double b[3] = { cr_rng_normal(&r), cr_rng_normal(&r), cr_rng_normal(&r) };
        for (size_t i = 0; i < 2 * n; i++) X[i] = cr_rng_normal(&r);
        for (size_t i = 0; i < 2 * NEW; i++) U[i] = cr_rng_normal(&r);
        for (size_t i = 0; i < n; i++) {
            double p = cr_sigmoid(b[0] + b[1] * X[2 * i] + b[2] * X[2 * i + 1]);
            ones += y[i] = cr_rng_uniform(&r) < p;
        }
        if (ones == 0 || ones == (double)n) continue;
        cr_model *m = fit(cx, "bayes-logistic", make_table(cx, X, n, 2, y, NULL),
                          "target=y task=classification alpha=1 intercept_sd=1");
        intervals(cx, m, make_table(cx, U, NEW, 2, NULL, NULL), 0.95, low, high);
        for (size_t i = 0; i < NEW; i++) {
            double p = cr_sigmoid(b[0] + b[1] * U[2 * i] + b[2] * U[2 * i + 1]);
            held += low[2 * i + 1] <= p && p <= high[2 * i + 1];
            count++;
        }
    }
    return held / count;
}

TEST(coverage_under_its_prior)
{
    double few = coverage(cx, 50, 150), more = coverage(cx, 200, 80);
    assert_true(few > 0.92 && few < 0.975);
    assert_true(more > 0.92 && more < 0.975);
}

TEST(refusals)
{
    double    X[2 * N], y[N], low[2 * N], high[2 * N];
    cr_model *m = NULL;
    draw_rows(3, N, 2, X, y);
    cr_table *t = make_table(cx, X, N, 2, y, NULL);
    m = fit(cx, "logistic", t, "target=y");
    assert_fails_with(cx, cr_predict_probability_intervals(cx, m, t, 0.9, low, high),
                      CR_EUNSUPPORTED, "no intervals for its probabilities");
    m = fit(cx, "bayes-logistic", t, "target=y infer=laplace calibrate=platt");
    assert_false(cr_model_has_probability_intervals(m));
    assert_fails_with(cx, cr_predict_probability_intervals(cx, m, t, 0.9, low, high),
                      CR_EUNSUPPORTED, "were calibrated");
    m = fit(cx, "bayes-logistic", t, "target=y infer=laplace");
    assert_fails_with(cx, cr_predict_probability_intervals(cx, m, t, 1, low, high), CR_EARG,
                      "between 0 and 1");
    assert_true(cr_model_has_probability_intervals(m));
}
