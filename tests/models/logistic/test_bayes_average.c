/* test_bayes_average.c -- Bayesian logistic regression with alpha averaged over: brute quadrature over both
 * coefficients and alpha, intervals, the bound, files and threads, and how well probabilities from few rows
 * are borne out by new ones. */
#include "../fixture.h"
#include "math/special/special.h"
#include "models/core/parts.h"

enum { ROWS = 8, AT = 5 };

static const double column[ROWS] = { -1.6, -1.1, -0.7, -0.2, 0.3, 0.9, 1.2, 1.5 };
static const double there[AT] = { -2, -0.5, 0.05, 0.5, 2 };

/* --- three dimensions by brute force --------------------------------------------------------- */

/* Everything by sums: over t = the sd of the log odds in units of pi / sqrt 3, half Student t with 4 degrees
 * of freedom, then over b0 and log |b|, since the density of b has a
 * logarithm's pole at 0. */
typedef struct brute {
    double log_evidence, slope, p[AT], low[AT], high[AT]; /* slope: mean, of z; intervals of 95 % */
} brute;

static double slope_prior(double b)
{
    double sum = 0, step = 0.05;
    for (double u = -12; u < 8; u += step) {
        double t = exp(u), sd = t * M_PI / sqrt(3), z = b / sd;
        double density =
            2 * 0.375 * pow(1 + t * t / 4, -2.5); /* Gamma(5/2) / (Gamma(2) sqrt(4 pi)) */
        sum += step * t * density * exp(-0.5 * z * z) / (sd * sqrt(2 * M_PI));
    }
    return sum;
}

static double mass_below(const double *mass, const double *b0, const double *b, size_t n0, size_t n,
                         double z, double score)
{
    double sum = 0;
    for (size_t i = 0; i < n0; i++)
        for (size_t j = 0; j < n; j++) sum += b0[i] + b[j] * z < score ? mass[i * n + j] : 0;
    return sum;
}

static double find_score(const double *mass, const double *b0, const double *b, size_t n0, size_t n,
                         double z, double p)
{
    double low = -200, high = 200;
    for (int k = 0; k < 40; k++) {
        double middle = (low + high) / 2;
        *(mass_below(mass, b0, b, n0, n, z, middle) < p ? &low : &high) = middle;
    }
    return low;
}

static brute integrate(const double *y, double mean, double sd)
{
    enum { N0 = 401, N = 402 };
    static double mass[N0 * N], b0[N0], b[N];
    brute         out = { 0 };
    double        total = 0;
    for (size_t i = 0; i < N0; i++) b0[i] = -60 + 120.0 * (double)i / (N0 - 1);
    for (size_t j = 0; j < N; j++) {
        b[j] = (j % 2 ? 1 : -1) * exp(-13 + (double)(j / 2) * 0.1);
        double prior = slope_prior(b[j]) * fabs(b[j]) * 0.1 * (120.0 / (N0 - 1));
        for (size_t i = 0; i < N0; i++) {
            double log_p = cr_norm_logpdf(b0[i] / 10) - log(10);
            for (size_t k = 0; k < ROWS; k++)
                log_p +=
                    cr_log_sigmoid((y[k] > 0 ? 1 : -1) * (b0[i] + b[j] * (column[k] - mean) / sd));
            total += mass[i * N + j] = exp(log_p) * prior;
        }
    }
    for (size_t i = 0; i < N0 * N; i++) mass[i] /= total;
    for (size_t i = 0; i < N0 * N; i++) {
        out.slope += mass[i] * b[i % N];
        for (size_t k = 0; k < AT; k++)
            out.p[k] += mass[i] * cr_sigmoid(b0[i / N] + b[i % N] * (there[k] - mean) / sd);
    }
    for (size_t k = 0; k < AT; k++) {
        double z = (there[k] - mean) / sd;
        out.low[k] = cr_sigmoid(find_score(mass, b0, b, N0, N, z, 0.025));
        out.high[k] = cr_sigmoid(find_score(mass, b0, b, N0, N, z, 0.975));
    }
    out.log_evidence = log(total);
    return out;
}

/* Separated rows, and the same with one row on the wrong side: by draws, whose evidence and slope are as near
 * as their standard errors; predictions are from the thousand that are kept.  Laplace's mixture and that of
 * the bound are rougher, and the bound stays below. */
TEST(brute_force)
{
    static const struct way {
        const char *settings;
        double      evidence, p, ends;
    } ways[] = { { "infer=importance draws=200000", 5e-3, 0.015, 0.06 },
                 { "infer=mcmc draws=40000", 0.03, 0.025, 0.08 },
                 { "infer=laplace", 0.15, 0.07, 0.65 },
                 { "infer=bound", 1, 0.04, 0.2 } };
    double mean = 0, sd = 0, y[ROWS];
    for (size_t i = 0; i < ROWS; i++) mean += column[i] / ROWS;
    for (size_t i = 0; i < ROWS; i++) sd += (column[i] - mean) * (column[i] - mean) / ROWS;
    sd = sqrt(sd);
    cr_table *new = make_table(cx, there, AT, 1, NULL, NULL);
    for (int apart = 0; apart < 2; apart++) {
        for (size_t i = 0; i < ROWS; i++) y[i] = column[i] > 0;
        if (!apart) y[1] = 1;
        brute     b = integrate(y, mean, sd);
        cr_table *t = make_table(cx, column, ROWS, 1, y, NULL);
        for (size_t k = 0; k < 4; k++) {
            char   settings[96];
            double low[2 * AT], high[2 * AT];
            snprintf(settings, sizeof settings, "target=y task=classification %s",
                     ways[k].settings);
            cr_model     *m = fit(cx, "bayes-logistic", t, settings);
            json_t       *d = describe(cx, m);
            cr_prediction q = predict(cx, m, new);
            double        got = cr_model_get_report(m)->log_evidence;
            assert_ok(cx, cr_predict_probability_intervals(cx, m, new, 0.95, low, high));
            assert_string_equal(
                json_string_value(json_object_get(json_object_get(d, "statistics"), "alpha_from")),
                "averaged");
            assert_close(got, b.log_evidence, ways[k].evidence);
            if (k == 3) assert_true(got < b.log_evidence);
            if (k == 0) assert_relative(coefficient(d, 1, "value") * sd, b.slope, 0.015);
            for (size_t i = 0; i < AT; i++) {
                assert_close(q.prob[2 * i + 1], b.p[i], ways[k].p);
                assert_close(low[2 * i + 1], b.low[i], ways[k].ends);
                assert_close(high[2 * i + 1], b.high[i], ways[k].ends);
            }
        }
    }
}

/* --- more classes ---------------------------------------------------------------------------- */

/* Three classes, weights, and the intercept with the prior of the slopes: draws and chains agree on the
 * integrated evidence and on probabilities, and the mixture of normals is near them. */
TEST(three_classes)
{
    enum { N = 60 };
    static const char *const priors[] = { "", " shrink_intercept=true", " intercept=false" };
    static const char *const infer[] = { "importance draws=20000", "mcmc draws=20000", "laplace" };
    double                   X[2 * N], y[N], w[N];
    cr_rng                   r = cr_rng_stream(12, 3);
    for (size_t i = 0; i < N; i++) {
        X[2 * i] = cr_rng_normal(&r), X[2 * i + 1] = 2 + cr_rng_normal(&r);
        y[i] = (X[2 * i] + 0.8 * cr_rng_normal(&r) > 0) + (X[2 * i] > 0.9);
        w[i] = (double)(1 + i % 2);
    }
    cr_table *t = make_table(cx, X, N, 2, y, w);
    for (size_t c = 0; c < 3; c++) {
        double        evidence[3], low[3][3 * N], high[3][3 * N];
        cr_prediction q[3];
        for (size_t k = 0; k < 3; k++) {
            char settings[128];
            snprintf(settings, sizeof settings, "target=y weights=w task=classification infer=%s%s",
                     infer[k], priors[c]);
            cr_model *m = fit(cx, "bayes-logistic", t, settings);
            q[k] = predict(cx, m, t);
            evidence[k] = cr_model_get_report(m)->log_evidence;
            assert_ok(cx, cr_predict_probability_intervals(cx, m, t, 0.9, low[k], high[k]));
        }
        assert_close(evidence[0], evidence[1], 0.1);
        assert_close(evidence[2], evidence[1], 0.6);
        for (size_t i = 0; i < 3 * N; i++) {
            assert_close(q[0].prob[i], q[1].prob[i], 0.03);
            assert_close(q[2].prob[i], q[1].prob[i], 0.08);
            assert_close(low[0][i], low[1][i], 0.06);
            assert_close(high[0][i], high[1][i], 0.06);
            assert_close(low[2][i], low[1][i], 0.15);
            assert_close(high[2][i], high[1][i], 0.15);
        }
    }
}

/* The same bits for any number of threads and after saving, and each way to choose alpha says which. */
TEST(files_and_threads)
{
    static const char *const ways[] = { "", "infer=importance draws=400", "infer=mcmc draws=400",
                                        "infer=bound", "optimize=integrate" };
    double                   y[ROWS], first[2 * AT] = { 0 };
    for (size_t i = 0; i < ROWS; i++) y[i] = i == 1 || column[i] > 0;
    cr_table *t = make_table(cx, column, ROWS, 1, y, NULL);
    cr_table *new = make_table(cx, there, AT, 1, NULL, NULL);
    for (size_t k = 0; k < 5; k++)
        for (size_t threads = 1; threads < 4; threads++) {
            char   settings[96], *bytes = NULL;
            size_t size = 0;
            double low[2][2 * AT], high[2][2 * AT];
            snprintf(settings, sizeof settings, "target=y task=classification %s", ways[k]);
            cr_ctx_set_threads(cx, threads);
            cr_model *m = fit(cx, "bayes-logistic", t, settings), *loaded = NULL;
            assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
            assert_ok(cx, cr_model_from_bytes(cx, "bytes", bytes, size, &loaded));
            cr_prediction q = predict(cx, loaded, new);
            if (threads == 1) memcpy(first, q.prob, sizeof first);
            assert_memory_equal(first, q.prob, sizeof first);
            assert_ok(cx, cr_predict_probability_intervals(cx, m, new, 0.8, low[0], high[0]));
            assert_ok(cx, cr_predict_probability_intervals(cx, loaded, new, 0.8, low[1], high[1]));
            assert_memory_equal(low[0], low[1], sizeof low[0]);
            assert_memory_equal(high[0], high[1], sizeof high[0]);
            cr_free(cx, bytes, size, 1);
            cr_model_free(cx, loaded);
        }
    cr_model *none = NULL;
    assert_fails_with(cx,
                      try_fit(cx, "bayes-logistic", t, "target=y alpha=1 optimize=evidence", &none),
                      CR_EARG, "optimize");
}

/* Columns that say nothing at all leave alpha without a part to play. */
TEST(no_signal)
{
    cr_table *t = table_of_text(cx, "t.csv", "a,y\n1,n\n1,n\n1,y\n1,n\n");
    cr_model *m = NULL;
    if (try_fit(cx, "bayes-logistic", t, "target=y", &m) == CR_OK) {
        cr_prediction q = predict(cx, m, t);
        assert_true(q.prob[1] > 0.1 && q.prob[1] < 0.5);
        cr_model_free(cx, m);
    }
}

/* --- new rows -------------------------------------------------------------------------------- */

/* What the probabilities of new rows are worth: mean log loss, how much surer of the likelier class they are
 * than they should be, the share of sure ones (above 0.95) that is wrong, and how often the interval of 95 %
 * holds the true probability. */
typedef struct worth {
    double loss, over, sure, wrong, held, count;
} worth;

static worth judge(cr_ctx *cx, const char *settings, double s, size_t n, size_t p, size_t trials)
{
    enum { NEW = 50, MOST = 50, COLUMNS = 5 };
    worth out = { 0 };
    for (uint64_t trial = 0; trial < trials; trial++) {
        double X[MOST * COLUMNS], y[MOST], U[NEW * COLUMNS], b[COLUMNS + 1], ones = 0;
        double low[2 * NEW], high[2 * NEW];
        cr_rng r = cr_rng_stream(trial, 61);
        for (size_t j = 0; j <= p; j++) b[j] = s * cr_rng_normal(&r);
        for (size_t i = 0; i < NEW * p; i++) U[i] = cr_rng_normal(&r);
        for (size_t i = 0; i < n * p; i++) X[i] = cr_rng_normal(&r);
        for (size_t i = 0; i < n; i++) {
            double e = b[0];
            for (size_t j = 0; j < p; j++) e += b[1 + j] * X[i * p + j];
            ones += y[i] = cr_rng_uniform(&r) < cr_sigmoid(e);
        }
        if (ones == 0 || ones == (double)n) continue;
        cr_table     *t = make_table(cx, U, NEW, p, NULL, NULL);
        cr_model     *m = fit(cx, "bayes-logistic", make_table(cx, X, n, p, y, NULL), settings);
        cr_prediction q = predict(cx, m, t);
        assert_ok(cx, cr_predict_probability_intervals(cx, m, t, 0.95, low, high));
        for (size_t i = 0; i < NEW; i++) {
            double e = b[0], got = q.prob[2 * i + 1], sure = fmax(got, 1 - got);
            for (size_t j = 0; j < p; j++) e += b[1 + j] * U[i * p + j];
            double truth = cr_sigmoid(e), right = got > 0.5 ? truth : 1 - truth;
            out.loss -= truth * log(fmax(got, 1e-15)) + (1 - truth) * log(fmax(1 - got, 1e-15));
            out.over += sure - right;
            out.held += low[2 * i + 1] <= truth && truth <= high[2 * i + 1];
            if (sure > 0.95) out.sure++, out.wrong += 1 - right;
            out.count++;
        }
    }
    out.loss /= out.count, out.over /= out.count, out.held /= out.count;
    out.wrong /= out.count;
    return out;
}

/* Ten rows: with the alpha of largest evidence many probabilities of new rows are above 0.95, and wrong
 * far more often than that; with the average next to none are, and the intervals hold. */
TEST(few_rows_are_not_overconfident)
{
    for (size_t p = 2; p <= 5; p += 3) {
        size_t trials = simulation_size(60, 200);
        worth  now = judge(cx, "target=y task=classification", 0.5, 10, p, trials);
        worth  best =
            judge(cx, "target=y task=classification optimize=evidence", 0.5, 10, p, trials);
        print_message("p = %zu: loss %.3f %.3f, over %.3f %.3f, sure and wrong %.3f %.3f, held "
                      "%.3f %.3f\n",
                      p, best.loss, now.loss, best.over, now.over, best.wrong, now.wrong, best.held,
                      now.held);
        assert_true(now.loss < 0.8 && now.loss < best.loss - 0.08);
        assert_true(now.over < 0.11 && now.over < best.over);
        assert_true(now.wrong < 0.003 && best.wrong > 0.008);
        assert_true(now.held > 0.93);
    }
}
