/* test_fa.c -- factor analysis against values of other programs, dense normal densities, and its own laws: no step makes
 * the likelihood worse, and nothing near the end is better. */
#include "fa_fixture.h"

enum { N = 120 };

/* --- values of other programs ----------------------------------------------------------------- */

static double sd_of(const cr_column *column, size_t n)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) sum += column->values[i * column->stride] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += pow(column->values[i * column->stride] - sum, 2) / (double)n;
    return sqrt(square);
}

/* The best of several starts of scikit-learn's FactorAnalysis, of columns at mean 0 and sd 1. */
TEST(references)
{
    json_t *cases = reference_cases(cx, "factor_analysis"), *item, *one;
    size_t  i, compared = 0;
    json_array_foreach(cases, i, item)
    {
        json_t     *expected = json_object_get(json_object_get(item, "expected"), "by_q");
        json_t     *data = json_object_get(item, "data");
        json_t     *columns = json_object_get(data, "features");
        const char *drop = json_string_value(json_object_get(data, "drop")), *q;
        char        settings[256], path[256], name[128];
        snprintf(path, sizeof path, "classic/%s", json_string_value(json_object_get(data, "file")));
        cr_table *t = read_table(cx, test_data(path));
        json_object_foreach(expected, q, one)
        {
            double  n = (double)cr_table_rows(t), units = 0;
            json_t *psi = json_object_get(one, "uniquenesses");
            snprintf(settings, sizeof settings, "features=!%s components=%s", drop, q);
            cr_model *m = fit(cx, "fa", t, settings);
            json_t   *d = describe(cx, m);
            for (size_t j = 0; j < json_array_size(columns); j++) {
                const char *column = json_string_value(json_array_get(columns, j));
                units += log(sd_of(cr_table_find(t, column), cr_table_rows(t)));
                snprintf(name, sizeof name, "uniqueness.%s", column);
                assert_close(parameter(d, name, "value"), json_number_value(json_array_get(psi, j)),
                             1e-3);
            }
            double scaled = cr_model_get_report(m)->log_likelihood + n * units;
            assert_true(scaled > number_of(one, "loglik_total") - 0.001);
            assert_true(scaled < number_of(one, "loglik_total") + 0.05);
            compared++;
        }
    }
    assert_true(compared >= 4);
}

/* factanal of R 4.2.2 on mtcars with two factors, lower = 1e-5, varimax(eps = 1e-14) and promax(m = 4); its factors are
 * turned round where the largest loading is negative, and ordered by their sums of squares. */
static const char *const mtcars[11] = { "mpg",  "cyl", "disp", "hp",   "drat", "wt",
                                        "qsec", "vs",  "am",   "gear", "carb" };
static const double      mtcars_psi[11] = { 0.16715650, 0.06975051, 0.09577866, 0.14284828,
                                            0.29780697, 0.16790914, 0.15001716, 0.25583156,
                                            0.17096928, 0.24567205, 0.38576276 };
static const double      mtcars_varimax[2][11] = {
         { 0.602046698, -0.730814628, -0.609272966, -0.862267374, 0.225156866, -0.419773281, 0.907526954,
           0.812147689, -0.080537077, -0.124633552, -0.783136830 },
         { 0.685844632, -0.629411453, -0.730072252, -0.337114681, 0.807152361, -0.809865884,
           -0.162420050, 0.290839349, 0.906941518, 0.859530338, 0.030510306 }
};
static const double mtcars_promax[2][11] = {
    { 0.493819230, -0.644121444, -0.491828318, -0.849182891, 0.063550347, -0.271354116, 1.007533608,
      0.805692784, -0.285746433, -0.322536860, -0.845316261 },
    { 0.59345477, -0.50336369, -0.63903617, -0.16065059, 0.81027433, -0.76813928, -0.38353406,
      0.12280691, 0.98762835, 0.94717734, 0.21381554 }
};

/* The loadings of a model, whose factors may stand in the other order. */
static void check_loadings(const json_t *d, const double expected[2][11])
{
    char   name[64];
    double first = parameter(d, "z1.mpg", "value");
    size_t swap = fabs(first - expected[0][0]) > 0.01;
    for (size_t a = 0; a < 2; a++)
        for (size_t j = 0; j < 11; j++) {
            snprintf(name, sizeof name, "z%zu.%s", a + 1, mtcars[j]);
            assert_close(parameter(d, name, "value"), expected[swap ? 1 - a : a][j], 2e-5);
        }
}

TEST(factanal)
{
    cr_table *t = read_table(cx, test_data("tabular/mtcars.csv"));
    char      settings[128], name[64];
    for (int promax = 0; promax < 2; promax++) {
        snprintf(settings, sizeof settings, "components=2%s", promax ? " rotation=promax" : "");
        json_t *d = describe(cx, fit(cx, "fa", t, settings));
        check_loadings(d, promax ? mtcars_promax : mtcars_varimax);
        for (size_t j = 0; j < 11; j++) {
            snprintf(name, sizeof name, "uniqueness.%s", mtcars[j]);
            assert_close(parameter(d, name, "value"), mtcars_psi[j], 1e-5);
        }
        assert_close(statistic(d, "chi2"), 68.56824596, 1e-4);
        assert_true(statistic(d, "chi2_df") == 34);
        assert_relative(statistic(d, "chi2_p"), 4.047509782e-4, 1e-4);
        if (promax)
            assert_close(number_of(json_array_get(json_object_get(d, "factor_correlations"), 0),
                                   "correlation"),
                         0.4040087331, 1e-5);
    }
}

/* --- the distribution ------------------------------------------------------------------------- */

static const char *const kinds[] = { "components=2 rotation=none scale=none",
                                     "components=2 rotation=none",
                                     "components=2 scale=none",
                                     "components=2",
                                     "components=2 rotation=promax scale=none",
                                     "components=2 rotation=promax promax_power=3" };
enum { KINDS = sizeof kinds / sizeof *kinds };

static void set_units(const char *settings, double *sd)
{
    for (size_t j = 0; j < P && strstr(settings, "scale=none"); j++) sd[j] = 1;
}

/* Densities are those of the normal distribution that the parameters make, whichever way the factors are turned, and
 * add up to the likelihood. */
TEST(densities)
{
    double X[N * P], mean[P], sd[P], S[P * P], first = 0;
    draw_factors(3, N, 10, X);
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    for (size_t k = 0; k < KINDS; k++) {
        cr_model     *m = fit(cx, "fa", t, kinds[k]);
        cr_prediction p = predict(cx, m, t);
        double        sum = 0, reached = cr_model_get_report(m)->log_likelihood;
        measure_columns(X, N, P, mean, sd);
        set_units(kinds[k], sd);
        covariance_of(describe(cx, m), P, sd, S);
        for (size_t i = 0; i < N; i++) {
            assert_close(p.log_density[i], log_normal(X + i * P, mean, S, P), 1e-8);
            sum += p.log_density[i];
        }
        assert_relative(reached, sum, 1e-10);
        if (k == 0) first = reached;
        assert_close(reached, first, 1e-6);
    }
}

/* Scores are the means of the factors given the row, Phi L S^-1 (x - mean), and lead back to L^T of them. */
TEST(scores)
{
    double X[N * P], mean[P], sd[P], S[P * P];
    draw_factors(5, N, 10, X);
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    for (size_t k = 0; k < KINDS; k++) {
        cr_model     *m = fit(cx, "fa", t, kinds[k]);
        cr_prediction p = predict(cx, m, t);
        json_t       *d = describe(cx, m), *list = json_object_get(d, "factor_correlations");
        double        phi = list ? number_of(json_array_get(list, 0), "correlation") : 0, L[2][P];
        char          name[32];
        measure_columns(X, N, P, mean, sd);
        set_units(kinds[k], sd);
        covariance_of(d, P, sd, S);
        for (size_t a = 0; a < 2; a++)
            for (size_t j = 0; j < P; j++) {
                snprintf(name, sizeof name, "z%zu.x%zu", a + 1, j + 1);
                L[a][j] = sd[j] * parameter(d, name, "value");
            }
        for (size_t i = 0; i < N; i += 7) {
            long double A[P * P], b[P], z[2] = { 0, 0 };
            for (size_t j = 0; j < P * P; j++) A[j] = S[j];
            for (size_t j = 0; j < P; j++) b[j] = X[i * P + j] - mean[j];
            solve_dense(P, A, b, 1);
            for (size_t j = 0; j < P; j++) z[0] += L[0][j] * b[j], z[1] += L[1][j] * b[j];
            assert_close(p.vector[i * 2], (double)(z[0] + phi * z[1]), 1e-8);
            assert_close(p.vector[i * 2 + 1], (double)(z[1] + phi * z[0]), 1e-8);
        }
    }
}

/* The sds of scores are those of the factors given a row: Phi - Phi L S^-1 L^T Phi. */
TEST(score_sds)
{
    double X[N * P], mean[P], sd[P], S[P * P];
    draw_factors(7, N, 10, X);
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    for (size_t k = 0; k < KINDS; k++) {
        json_t *d = describe(cx, fit(cx, "fa", t, kinds[k]));
        json_t *list = json_object_get(d, "factor_correlations");
        double  phi = list ? number_of(json_array_get(list, 0), "correlation") : 0;
        char    name[32];
        measure_columns(X, N, P, mean, sd);
        set_units(kinds[k], sd);
        covariance_of(d, P, sd, S);
        for (size_t a = 0; a < 2; a++) {
            long double A[P * P], b[P], c[P], square = 0;
            for (size_t j = 0; j < P * P; j++) A[j] = S[j];
            for (size_t j = 0; j < P; j++) {
                snprintf(name, sizeof name, "z%zu.x%zu", a + 1, j + 1);
                b[j] = sd[j] * parameter(d, name, "value");
                snprintf(name, sizeof name, "z%zu.x%zu", 2 - a, j + 1);
                c[j] = b[j] += phi * sd[j] * parameter(d, name, "value");
            }
            solve_dense(P, A, b, 1);
            for (size_t j = 0; j < P; j++) square += b[j] * c[j];
            snprintf(name, sizeof name, "score_sd(z%zu)", a + 1);
            assert_close(statistic(d, name), sqrt((double)(1 - square)), 1e-8);
        }
    }
}

/* What fixes the axes: W diag(psi)^-1 W^T is diagonal without rotation, and no turn of two factors raises the criterion
 * of varimax, by its definition. */
TEST(axes)
{
    double X[N * P], W[2][P], psi[P], dot = 0, best = -INFINITY, at = 0;
    char   name[32];
    draw_factors(9, N, 10, X);
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    for (int varimax = 0; varimax < 2; varimax++) {
        json_t *d = describe(cx, fit(cx, "fa", t, varimax ? kinds[3] : kinds[1]));
        for (size_t j = 0; j < P; j++) {
            snprintf(name, sizeof name, "uniqueness.x%zu", j + 1);
            psi[j] = parameter(d, name, "value");
            for (size_t a = 0; a < 2; a++) {
                snprintf(name, sizeof name, "z%zu.x%zu", a + 1, j + 1);
                W[a][j] = parameter(d, name, "value");
            }
        }
        for (size_t j = 0; j < P && !varimax; j++) dot += W[0][j] * W[1][j] / psi[j];
    }
    assert_close(dot, 0, 1e-7);
    for (int k = -400; k <= 400; k++) {
        double angle = k * 0.002, c = cos(angle), s = sin(angle), criterion = 0;
        for (size_t a = 0; a < 2; a++) {
            double fourth = 0, square = 0;
            for (size_t j = 0; j < P; j++) {
                double x = a ? c * W[1][j] - s * W[0][j] : c * W[0][j] + s * W[1][j];
                double share = x * x / (W[0][j] * W[0][j] + W[1][j] * W[1][j]);
                fourth += share * share / P, square += share / P;
            }
            criterion += fourth - square * square;
        }
        if (criterion > best) best = criterion, at = angle;
    }
    assert_close(at, 0, 1e-12);
}

/* --- the maximum ------------------------------------------------------------------------------ */

/* The mean log density of rows with covariance C (divisor n) under N(mean of them, S), both [P x P]. */
static double mean_density(const double *C, const double *S)
{
    long double A[P * P], B[P * P], trace = 0;
    double      zero[P] = { 0 };
    for (size_t j = 0; j < P * P; j++) A[j] = S[j], B[j] = C[j];
    solve_dense(P, A, B, P);
    for (size_t j = 0; j < P; j++) trace += B[j * P + j];
    return log_normal(zero, zero, S, P) - 0.5 * (double)trace;
}

/* Nothing near the end is better. */
TEST(maximum)
{
    double X[N * P], mean[P], sd[P], C[P * P] = { 0 }, S[P * P], T[P * P], W[2][P], unit[P];
    cr_rng r = cr_rng_stream(11, 0);
    char   name[32];
    draw_factors(13, N, 10, X);
    cr_model *m = fit(cx, "fa", make_table(cx, X, N, P, NULL, NULL), "components=2 scale=none");
    json_t   *d = describe(cx, m);
    measure_columns(X, N, P, mean, sd);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < P * P; j++)
            C[j] += (X[i * P + j / P] - mean[j / P]) * (X[i * P + j % P] - mean[j % P]) / N;
    for (size_t j = 0; j < P; j++) unit[j] = 1;
    covariance_of(d, P, unit, S);
    assert_close(N * mean_density(C, S), cr_model_get_report(m)->log_likelihood, 1e-7);
    for (size_t trial = 0; trial < 200; trial++) {
        double step = pow(10, -1.0 - (double)(trial % 4));
        for (size_t a = 0; a < 2; a++)
            for (size_t j = 0; j < P; j++) {
                snprintf(name, sizeof name, "z%zu.x%zu", a + 1, j + 1);
                W[a][j] = parameter(d, name, "value") + step * cr_rng_normal(&r);
            }
        for (size_t i = 0; i < P; i++)
            for (size_t j = 0; j < P; j++) {
                snprintf(name, sizeof name, "uniqueness.x%zu", i + 1);
                T[i * P + j] = W[0][i] * W[0][j] + W[1][i] * W[1][j];
                if (i == j)
                    T[i * P + j] += parameter(d, name, "value") * exp(step * cr_rng_normal(&r));
            }
        assert_true(mean_density(C, T) <= mean_density(C, S) + 1e-12);
    }
}

/* No step makes the likelihood worse, of whole rows and of rows that miss cells. */
TEST(never_worse)
{
    double X[N * P];
    cr_rng r = cr_rng_stream(15, 0);
    draw_factors(17, N, 10, X);
    for (int gaps = 0; gaps < 2; gaps++) {
        double before = -INFINITY;
        for (size_t i = 0; i < N * P && gaps; i++)
            if (cr_rng_uniform(&r) < 0.2) X[i] = NAN;
        cr_table *t = make_table(cx, X, N, P, NULL, NULL);
        for (size_t steps = 1; steps <= 40; steps++) {
            char settings[64];
            snprintf(settings, sizeof settings, "components=2 restarts=1 max_iter=%zu", steps);
            double reached = cr_model_get_report(fit(cx, "fa", t, settings))->log_likelihood;
            assert_true(reached >= before - 1e-9);
            before = reached;
        }
    }
}
