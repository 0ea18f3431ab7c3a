/* test_fa_rows.c -- factor analysis of rows that miss cells, the number of factors, and rows and columns that are out of
 * the ordinary. */
#include "fa_fixture.h"
#include "../life.h"

enum { N = 150 };

static cr_table *draw_with_gaps(cr_ctx *cx, uint64_t seed, double share, double *X)
{
    cr_rng r = cr_rng_stream(seed, 1);
    draw_factors(seed, N, 10, X);
    for (size_t i = 0; i < N * P; i++)
        if (cr_rng_uniform(&r) < share) X[i] = NAN;
    return make_table(cx, X, N, P, NULL, NULL);
}

/* --- missing cells ---------------------------------------------------------------------------- */

/* A row that misses everything says nothing: EM over cells is the fit to the others, with its errors, its test of fit and
 * its criteria. */
TEST(em_is_the_fit_to_whole_rows)
{
    static const char *const settings[] = { "components=2 tol=0", "components=2 tol=0 scale=none",
                                            "components=2 tol=0 rotation=promax" };
    double                   X[(N + 1) * P];
    draw_factors(21, N, 10, X);
    for (size_t j = 0; j < P; j++) X[N * P + j] = NAN;
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    cr_table *gaps = make_table(cx, X, N + 1, P, NULL, NULL);
    for (size_t k = 0; k < 3; k++) {
        cr_model *a = fit(cx, "fa", t, settings[k]), *b = fit(cx, "fa", gaps, settings[k]);
        json_t   *c = describe(cx, a), *d = describe(cx, b), *item;
        size_t    i;
        assert_close(cr_model_get_report(b)->log_likelihood, cr_model_get_report(a)->log_likelihood,
                     1e-6);
        assert_close(statistic(d, "chi2"), statistic(c, "chi2"), 1e-5);
        assert_close(statistic(d, "bic"), statistic(c, "bic"), 1e-5);
        json_array_foreach(json_object_get(c, "parameters"), i, item)
        {
            const char *name = json_string_value(json_object_get(item, "name"));
            assert_close(parameter(d, name, "value"), number_of(item, "value"), 1e-5);
            assert_close(parameter(d, name, "sd"), number_of(item, "sd"), 1e-5);
        }
    }
}

/* With a fifth of the cells missing the likelihood is the sum of the marginal densities, above that of the truth, and no
 * higher than that of any covariance; and the errors are larger than those of whole rows. */
TEST(gaps)
{
    double        X[N * P], mean[P], S[P * P], sum = 0, truth = 0;
    cr_table     *t = draw_with_gaps(cx, 23, 0.2, X);
    cr_model     *m = fit(cx, "fa", t, "components=2");
    cr_prediction p = predict(cx, m, t);
    json_t       *d = describe(cx, m), *whole, *item;
    size_t        i, above = 0;
    for (size_t k = 0; k < P; k++) {
        mean[k] = 10 + (double)k;
        for (size_t j = 0; j < P; j++)
            S[k * P + j] = truth_W[k] * truth_W[j] + truth_W[P + k] * truth_W[P + j] +
                           (j == k ? truth_psi[j] : 0);
    }
    for (size_t k = 0; k < N; k++) {
        sum += p.log_density[k];
        truth += log_normal(X + k * P, mean, S, P);
    }
    assert_relative(cr_model_get_report(m)->log_likelihood, sum, 1e-9);
    assert_true(sum > truth && sum < truth + 30);
    assert_true(statistic(d, "chi2") > 0 && statistic(d, "chi2_p") > 1e-4);
    draw_factors(23, N, 10, X);
    whole = describe(cx, fit(cx, "fa", make_table(cx, X, N, P, NULL, NULL), "components=2"));
    json_array_foreach(json_object_get(whole, "parameters"), i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        above += parameter(d, name, "sd") > number_of(item, "sd");
    }
    assert_true(above >= 14); /* of 18 */
    char communality[32];
    for (size_t k = 0; k < P; k++) { /* divided by their sds, columns have variance 1 */
        snprintf(communality, sizeof communality, "uniqueness.x%zu", k + 1);
        item = json_array_get(json_object_get(d, "communalities"), k);
        assert_close(number_of(item, "communality"), 1 - parameter(d, communality, "value"), 1e-5);
    }
}

/* A model of whole rows answers for rows that miss cells by the marginal density; turned factors as well. */
TEST(rows_with_gaps)
{
    double X[N * P], mean[P], sd[P], S[P * P];
    double asked[] = { 9, NAN, 11, NAN, NAN, 16, NAN, NAN, NAN, NAN, NAN, NAN };
    draw_factors(25, N, 10, X);
    cr_model *m =
        fit(cx, "fa", make_table(cx, X, N, P, NULL, NULL), "components=2 rotation=promax");
    cr_prediction p = predict(cx, m, make_table(cx, asked, 2, P, NULL, NULL));
    measure_columns(X, N, P, mean, sd);
    covariance_of(describe(cx, m), P, sd, S);
    assert_close(p.log_density[0], log_normal(asked, mean, S, P), 1e-9);
    assert_true(p.vector[2] == 0 && p.vector[3] == 0 && p.log_density[1] == 0);
}

TEST(gaps_without_memory)
{
    double    X[N * P];
    cr_table *t = draw_with_gaps(cx, 27, 0.05, X);
    check_each_part((life){ .table = t,
                            .model = "fa",
                            .settings = "components=auto rotation=promax restarts=1 max_iter=2" });
}

/* --- how many --------------------------------------------------------------------------------- */

/* BIC finds the number that the rows were drawn with, and is the lowest of those that it lists. */
TEST(number_of_factors)
{
    enum { MANY = 600 };
    static double X[MANY * P];
    draw_factors(29, MANY, 10, X);
    cr_table *t = make_table(cx, X, MANY, P, NULL, NULL);
    json_t   *d = describe(cx, fit(cx, "fa", t, "components=auto")), *row;
    size_t    i;
    assert_true(statistic(d, "components") == 2);
    assert_int_equal(json_array_size(json_object_get(d, "tried")), 3);
    json_array_foreach(json_object_get(d, "tried"), i, row)
    {
        double k = number_of(row, "parameters"), q = (double)i + 1;
        char   settings[32];
        assert_true(k == P + P + P * q - q * (q - 1) / 2);
        assert_close(number_of(row, "bic"), k * log(MANY) - 2 * number_of(row, "log_likelihood"),
                     1e-8);
        assert_true(number_of(row, "bic") >= statistic(d, "bic") - 1e-8);
        snprintf(settings, sizeof settings, "components=%zu", i + 1);
        assert_close(cr_model_get_report(fit(cx, "fa", t, settings))->log_likelihood,
                     number_of(row, "log_likelihood"), 1e-6);
    }
    d = describe(cx, fit(cx, "fa", t, "components=0.5"));
    assert_true(statistic(d, "components") == 2 && statistic(d, "explained") >= 0.5);
    assert_true(statistic(describe(cx, fit(cx, "fa", t, "components=all")), "components") == 3);
    assert_true(statistic(describe(cx, fit(cx, "fa", t, "components=bic")), "components") == 2);
}

TEST(numbers_that_cannot_be)
{
    double    X[N * P];
    cr_model *m = NULL;
    warnings  w;
    cr_rng    r = cr_rng_stream(31, 0);
    draw_factors(31, N, 10, X);
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    assert_fails_with(
        cx, try_fit(cx, "fa", t, "components=4", &m), CR_EARG,
        "4 factors are too many for 6 columns: their covariances cannot tell more than 3");
    assert_fails_with(cx, try_fit(cx, "fa", t, "components=some", &m), CR_EARG,
                      "--components is 'some'");
    assert_fails_with(cx, try_fit(cx, "fa", t, "features=x1", &m), CR_EDATA,
                      "needs at least three columns, but there is only 1 feature");
    assert_non_null(strstr(fit_and_hear(cx, "fa", t, "components=0.99", &w), "less than 0.99"));
    for (size_t i = 0; i < N * P; i++) X[i] = cr_rng_normal(&r);
    t = make_table(cx, X, N, P, NULL, NULL);
    assert_non_null(strstr(fit_and_hear(cx, "fa", t, "", &w), "that of no factors at all"));
}

/* Two columns do not tell what they share: the likelihood is that of any covariance, and there are no errors. */
TEST(two_columns)
{
    double   X[N * P];
    warnings w;
    draw_factors(43, N, 10, X);
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    cr_model *m = fit(cx, "fa", t, "features=x1,x2"), *any = fit(cx, "ppca", t, "features=x1,x2");
    json_t   *d = describe(cx, m);
    fit_and_hear(cx, "fa", t, "features=x1,x2", &w);
    assert_non_null(strstr(w.text, "two columns have one covariance"));
    assert_close(cr_model_get_report(m)->log_likelihood, cr_model_get_report(any)->log_likelihood,
                 1e-8);
    assert_close(statistic(d, "bic"), statistic(describe(cx, any), "bic"), 1e-8);
    assert_close(parameter(d, "uniqueness.x1", "value"), parameter(d, "uniqueness.x2", "value"),
                 1e-12);
    assert_close(parameter(d, "z1.x1", "value"), -parameter(d, "z1.x2", "value"), 1e-12);
    assert_true(isnan(parameter(d, "z1.x1", "sd")) && isnan(statistic(d, "chi2")));
    X[3 * P] = NAN;
    t = make_table(cx, X, N, P, NULL, NULL);
    assert_close(cr_model_get_report(fit(cx, "fa", t, "features=x1,x2"))->log_likelihood,
                 cr_model_get_report(fit(cx, "ppca", t, "features=x1,x2"))->log_likelihood, 1e-6);
}

/* --- corners ---------------------------------------------------------------------------------- */

/* A column at its bound is named, and has no error; those of the others are numbers. */
TEST(heywood)
{
    warnings    w;
    const char *settings = "features=*_cm components=1 least_uniqueness=0.005";
    cr_table   *t = read_table(cx, test_data("tabular/iris.csv"));
    fit_and_hear(cx, "fa", t, settings, &w);
    assert_non_null(strstr(w.text, "a Heywood case): 'petal_length_cm';"));
    json_t *d = describe(cx, fit(cx, "fa", t, settings));
    assert_true(statistic(d, "heywood") == 1);
    assert_close(parameter(d, "uniqueness.petal_length_cm", "value"), 0.005, 1e-12);
    assert_true(isnan(parameter(d, "uniqueness.petal_length_cm", "sd")));
    assert_true(parameter(d, "uniqueness.sepal_width_cm", "sd") > 0.03);
    /* factanal of R 4.2.2 with its default bound */
    assert_close(parameter(d, "uniqueness.sepal_length_cm", "value"), 0.240228380, 1e-5);
    assert_close(parameter(d, "uniqueness.sepal_width_cm", "value"), 0.821864193, 1e-5);
    assert_close(parameter(d, "uniqueness.petal_width_cm", "value"), 0.069333381, 1e-5);
}

/* Copies of columns share a factor that explains them, as far as the bound lets it. */
TEST(copies)
{
    double   X[N * P];
    warnings w;
    draw_factors(33, N, 10, X);
    for (size_t i = 0; i < N; i++) X[i * P + 1] = 2 * X[i * P] - 1;
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    fit_and_hear(cx, "fa", t, "components=1", &w);
    assert_non_null(strstr(w.text, "'x1', 'x2'"));
    cr_model     *m = fit(cx, "fa", t, "components=1");
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 0; i < N; i++) assert_true(isfinite(p.vector[i]) && isfinite(p.log_density[i]));
    assert_true(isnan(statistic(describe(cx, m), "chi2")));
}

TEST(rows_that_do_not_vary)
{
    double    X[N * P];
    cr_model *m = NULL;
    draw_factors(35, N, 10, X);
    for (size_t i = 0; i < N; i++) X[i * P + 2] = 3;
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "fa", t, "components=1", &m), CR_EDATA,
                      "'x3' is the same in all rows");
    assert_fails_with(cx, try_fit(cx, "fa", t, "components=1 scale=none", &m), CR_EDATA,
                      "'x3' is the same in all rows");
    X[7] = NAN;
    t = make_table(cx, X, N, P, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "fa", t, "components=1", &m), CR_EDATA,
                      "'x3' is the same in all rows");
    for (size_t i = 0; i < N; i++) X[i * P + 2] = NAN;
    t = make_table(cx, X, N, P, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "fa", t, "components=1", &m), CR_EDATA,
                      "every cell of 'x3' is missing");
    for (size_t i = 0; i < N * P; i++) X[i] = (double)(i % P);
    t = make_table(cx, X, N, P, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "fa", t, "", &m), CR_EDATA, "is the same in all rows");
    t = make_table(cx, X, 1, P, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "fa", t, "", &m), CR_EDATA, "is the same in all rows");
    t = table_of_text(cx, "t.csv", "a,b,c,g\n1,2,3,u\n2,1,4,v\n4,4,1,u\n");
    assert_fails_with(cx, try_fit(cx, "fa", t, "", &m), CR_EDATA,
                      "column 'g' contains text, but fa describes numbers");
}

/* Columns far from 0, and of other units, change nothing else. */
TEST(offsets_and_units)
{
    double near[N * P], far[N * P];
    draw_factors(37, N, 0, near);
    for (size_t i = 0; i < N * P; i++) far[i] = 1e9 + 1e3 * near[i];
    json_t *c = describe(cx, fit(cx, "fa", make_table(cx, near, N, P, NULL, NULL), "components=2"));
    json_t *d = describe(cx, fit(cx, "fa", make_table(cx, far, N, P, NULL, NULL), "components=2"));
    json_t *e = describe(cx, fit(cx, "fa", make_table(cx, far, N, P, NULL, NULL),
                                 "components=2 scale=none rotation=promax"));
    json_t *f = describe(cx, fit(cx, "fa", make_table(cx, near, N, P, NULL, NULL),
                                 "components=2 scale=none rotation=promax"));
    json_t *item;
    size_t  i;
    json_array_foreach(json_object_get(c, "parameters"), i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        double      unit = strncmp(name, "uni", 3) == 0 ? 1e6 : 1e3;
        assert_close(parameter(d, name, "value"), number_of(item, "value"), 1e-5);
        assert_close(parameter(d, name, "sd"), number_of(item, "sd"), 1e-5);
        assert_close(parameter(e, name, "value") / unit, parameter(f, name, "value"), 1e-4);
        assert_close(parameter(e, name, "sd") / unit, parameter(f, name, "sd"), 1e-4);
    }
}

/* Fewer rows than columns: an answer without NaN. */
TEST(few_rows)
{
    double        X[N * P];
    cr_prediction p;
    draw_factors(39, N, 10, X);
    for (size_t n = 2; n < 6; n++) {
        cr_table *t = make_table(cx, X, n, P, NULL, NULL);
        cr_model *m = fit(cx, "fa", t, "components=1 rotation=promax");
        p = predict(cx, m, t);
        for (size_t i = 0; i < n; i++)
            assert_true(isfinite(p.vector[i]) && isfinite(p.log_density[i]));
        describe(cx, m);
    }
}

/* Draws have the mean and the covariance of the distribution. */
TEST(draws)
{
    enum { COUNT = 20000 };
    double X[N * P], mean[P], sd[P], S[P * P];
    draw_factors(41, N, 10, X);
    cr_model *m =
        fit(cx, "fa", make_table(cx, X, N, P, NULL, NULL), "components=2 rotation=promax");
    double *out = cr_alloc(cx, COUNT * P, sizeof *out);
    measure_columns(X, N, P, mean, sd);
    covariance_of(describe(cx, m), P, sd, S);
    assert_ok(cx, cr_sample(cx, m, COUNT, 7, out));
    for (size_t j = 0; j < P; j++)
        for (size_t k = 0; k < P; k++) {
            double sum = 0;
            for (size_t i = 0; i < COUNT; i++)
                sum += (out[i * P + j] - mean[j]) * (out[i * P + k] - mean[k]) / COUNT;
            assert_close(sum, S[j * P + k], 0.05 * sqrt(S[j * P + j] * S[k * P + k]));
        }
    cr_free(cx, out, COUNT * P, sizeof *out);
}
