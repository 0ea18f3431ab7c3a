/* test_gp_classify_interval.c -- intervals of the probabilities of a Gaussian process classifier: the quantiles of the
 * latent function by hand, draws of several functions, and coverage of functions from the prior. */
#include "../fixture.h"

#include "base/sort.h"
#include "math/special/special.h"
#include "models/core/parts.h"

enum { N = 60, NEW = 4 };

/* Classes 0 .. K-1 along the first of two columns, with some disorder. */
static void draw_rows(uint64_t seed, size_t K, double *X, double *y)
{
    cr_rng r = cr_rng_stream(seed, 8);
    draw_normals(&r, X, 2 * N);
    for (size_t i = 0; i < N; i++) {
        double place = X[2 * i] + 0.6 * cr_rng_normal(&r);
        y[i] = place > 0 ? 1 : 0;
        if (K > 2 && place > 0.7) y[i] = 2;
        if (K > 3 && X[2 * i + 1] > 0.8) y[i] = 3;
        if (K > 4 && X[2 * i + 1] < -0.8) y[i] = 4;
    }
}

static const double U[2 * NEW] = { 0.1, 0.2, 1.5, -0.4, -3, 2, 0.6, 0.6 };

static double probability(bool probit, double f) { return probit ? cr_norm_cdf(f) : cr_sigmoid(f); }

/* The quantiles of f(x), normal with what --coordinates shows, through the link; and that normal gives the
 * probability itself by quadrature. */
TEST(one_latent_function)
{
    static const char *const how[] = { "infer=laplace", "infer=ep",
                                       "infer=laplace likelihood=probit",
                                       "infer=bound inducing=20" };
    double                   X[2 * N], y[N];
    draw_rows(1, 2, X, y);
    cr_table *t = make_table(cx, X, N, 2, y, NULL), *u = make_table(cx, U, NEW, 2, NULL, NULL);
    for (size_t h = 0; h < 4; h++) {
        char   settings[128];
        double f[2 * NEW], low[2 * NEW], high[2 * NEW];
        bool   probit = strstr(how[h], "probit") != NULL;
        snprintf(settings, sizeof settings, "target=y task=classification hyper=map %s", how[h]);
        cr_model     *m = fit(cx, "gp-classify", t, settings);
        cr_prediction p = predict(cx, m, u);
        assert_ok(cx, cr_transform(cx, m, u, f));
        assert_ok(cx, cr_predict_probability_intervals(cx, m, u, 0.9, low, high));
        for (size_t i = 0; i < NEW; i++) {
            double mean = f[2 * i], sd = f[2 * i + 1], sum = 0, weight = 0;
            double half = 1.6448536269514722 * sd;
            assert_close(low[2 * i + 1], probability(probit, mean - half), 1e-9);
            assert_close(high[2 * i + 1], probability(probit, mean + half), 1e-9);
            assert_close(low[2 * i] + high[2 * i + 1], 1, 1e-12);
            assert_close(high[2 * i] + low[2 * i + 1], 1, 1e-12);
            for (double z = -8; z < 8; z += 0.01) {
                sum += exp(-z * z / 2) * probability(probit, mean + sd * z);
                weight += exp(-z * z / 2);
            }
            assert_close(p.prob[2 * i + 1], sum / weight, 1e-8);
        }
    }
}

/* Of the bound the functions are independent given the data: their draws have these quantiles. */
TEST(draws_of_several_functions)
{
    enum { DRAWS = 150000, MOST = 5 };
    static const size_t classes[] = { 3, 5 };
    for (size_t c = 0; c < 2; c++) {
        size_t  K = classes[c];
        double  X[2 * N], y[N], f[2 * MOST * NEW], low[MOST * NEW], high[MOST * NEW];
        double *values = malloc(K * DRAWS * sizeof *values);
        draw_rows(2, K, X, y);
        cr_table *t = make_table(cx, X, N, 2, y, NULL), *u = make_table(cx, U, NEW, 2, NULL, NULL);
        cr_model *m =
            fit(cx, "gp-classify", t, "target=y task=classification infer=bound hyper=map");
        assert_ok(cx, cr_transform(cx, m, u, f));
        assert_ok(cx, cr_predict_probability_intervals(cx, m, u, 0.8, low, high));
        for (size_t i = 0; i < NEW; i++) {
            cr_rng r = cr_rng_stream(i, 9);
            for (size_t d = 0; d < DRAWS; d++) {
                double p[MOST];
                for (size_t k = 0; k < K; k++)
                    p[k] = f[2 * (i * K + k)] + f[2 * (i * K + k) + 1] * cr_rng_normal(&r);
                cr_softmax(p, K, p);
                for (size_t k = 0; k < K; k++) values[k * DRAWS + d] = p[k];
            }
            for (size_t k = 0; k < K; k++) {
                cri_sort_doubles(values + k * DRAWS, DRAWS);
                assert_close(low[i * K + k], cri_sorted_quantile(values + k * DRAWS, DRAWS, 0.1),
                             0.015);
                assert_close(high[i * K + k], cri_sorted_quantile(values + k * DRAWS, DRAWS, 0.9),
                             0.015);
            }
        }
        free(values);
    }
}

/* Functions from the prior, on a line: intervals of 95 % hold the probability at new inputs 95 % of the time. */
TEST(coverage_under_its_prior)
{
    enum { ROWS = 40, TRIED = 10, ALL = ROWS + TRIED, RUNS = 120 };
    double held = 0, count = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        double x[ALL], f[ALL], y[ROWS], low[2 * TRIED], high[2 * TRIED], L[ALL * ALL], ones = 0;
        cr_rng r = cr_rng_stream(run, 10);
        for (size_t i = 0; i < ALL; i++) x[i] = 6 * cr_rng_uniform(&r);
        for (size_t i = 0; i < ALL; i++)
            for (size_t j = 0; j <= i; j++) {
                double d = x[i] - x[j], sum = 4 * exp(-d * d / 2) + (i == j ? 1e-8 : 0);
                for (size_t k = 0; k < j; k++) sum -= L[i * ALL + k] * L[j * ALL + k];
                L[i * ALL + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / L[j * ALL + j];
            }
        double z[ALL];
        draw_normals(&r, z, ALL);
        for (size_t i = 0; i < ALL; i++) {
            f[i] = 0;
            for (size_t j = 0; j <= i; j++) f[i] += L[i * ALL + j] * z[j];
        }
        for (size_t i = 0; i < ROWS; i++) ones += y[i] = cr_rng_uniform(&r) < cr_sigmoid(f[i]);
        if (ones == 0 || ones == ROWS) continue;
        cr_model *m = fit(cx, "gp-classify", make_table(cx, x, ROWS, 1, y, NULL),
                          "target=y task=classification kernel=4*rbf(l=1) optimize=none infer=ep");
        cr_table *u = make_table(cx, x + ROWS, TRIED, 1, NULL, NULL);
        assert_ok(cx, cr_predict_probability_intervals(cx, m, u, 0.95, low, high));
        for (size_t i = 0; i < TRIED; i++, count++) {
            double p = cr_sigmoid(f[ROWS + i]);
            held += low[2 * i + 1] <= p && p <= high[2 * i + 1];
        }
    }
    assert_true(held / count > 0.92 && held / count < 0.98);
}

TEST(refusals)
{
    double X[2 * N], y[N], low[2 * N], high[2 * N];
    draw_rows(3, 2, X, y);
    cr_table *t = make_table(cx, X, N, 2, y, NULL);
    cr_model *m = fit(cx, "gp-classify", t, "target=y task=classification calibrate=platt");
    assert_false(cr_model_has_probability_intervals(m));
    assert_fails_with(cx, cr_predict_probability_intervals(cx, m, t, 0.9, low, high),
                      CR_EUNSUPPORTED, "were calibrated");
}
