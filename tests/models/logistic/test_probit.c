/* test_probit.c -- probit regression: Fisher scoring in plain code, reference answers, one against
 * the rest. */
#include "opened.h"
#include "math/special/special.h"

enum { N = 90, P = 3 };

/* Fisher scoring on the columns as they are; V the inverse of the expected information. */
static void scoring_oracle(const double *X, const double *y, long double *b, long double *V)
{
    size_t q = P + 1;
    memset(b, 0, q * sizeof *b);
    for (int step = 0; step < 200; step++) {
        long double H[16] = { 0 }, g[4] = { 0 };
        for (size_t i = 0; i < N; i++) {
            long double x[4] = { 1 }, eta = 0;
            for (size_t j = 0; j < P; j++) x[j + 1] = X[i * P + j];
            for (size_t j = 0; j < q; j++) eta += b[j] * x[j];
            long double up = 0.5L * erfcl(-eta / sqrtl(2)), down = 0.5L * erfcl(eta / sqrtl(2));
            long double density = expl(-eta * eta / 2) / sqrtl(2 * acosl(-1));
            for (size_t j = 0; j < q; j++) {
                g[j] += density * (y[i] - up) / (up * down) * x[j];
                for (size_t k = 0; k < q; k++)
                    H[j * q + k] += density * density / (up * down) * x[j] * x[k];
            }
        }
        memset(V, 0, q * q * sizeof *V);
        for (size_t j = 0; j < q; j++) V[j * q + j] = 1;
        solve_dense(q, H, V, q);
        for (size_t j = 0; j < q; j++)
            for (size_t k = 0; k < q; k++) b[j] += V[j * q + k] * g[k];
    }
}

TEST(scoring)
{
    double      X[N * P], y[N];
    long double b[4], V[16];
    draw_classes(1, N, P, 2, 0.9, X, y);
    scoring_oracle(X, y, b, V);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_model *m = fit(cx, "probit", t, "target=y");
    json_t   *d = describe(cx, m);
    for (size_t j = 0; j <= P; j++) {
        assert_close(coefficient(d, j, "value"), (double)b[j], 1e-8);
        assert_close(coefficient(d, j, "sd"), sqrt((double)V[j * 4 + j]), 1e-7);
    }
    cr_prediction q = predict(cx, m, t);
    for (size_t i = 0; i < N; i++) {
        double eta = (double)b[0];
        for (size_t j = 0; j < P; j++) eta += (double)b[j + 1] * X[i * P + j];
        assert_close(q.prob[2 * i + 1], cr_norm_cdf(eta), 1e-8);
        assert_close(q.prob[2 * i], cr_norm_cdf(-eta), 1e-8);
    }
}

/* Three classes: each against the rest, shares of the sum. */
TEST(one_against_the_rest)
{
    double X[N * P], y[N], own[N], part[N * 3];
    draw_classes(2, N, P, 3, 0.9, X, y);
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < N; i++) own[i] = y[i] == (double)k;
        cr_table     *t = make_table(cx, X, N, P, own, NULL);
        cr_model     *m = fit(cx, "probit", t, "target=y");
        cr_prediction q = predict(cx, m, t);
        for (size_t i = 0; i < N; i++) part[3 * i + k] = q.prob[2 * i + 1];
    }
    cr_table     *t = make_table(cx, X, N, P, y, NULL);
    cr_model     *m = fit(cx, "probit", t, "target=y");
    cr_prediction q = predict(cx, m, t);
    for (size_t i = 0; i < N; i++) {
        double sum = part[3 * i] + part[3 * i + 1] + part[3 * i + 2];
        for (size_t k = 0; k < 3; k++) assert_close(q.prob[3 * i + k], part[3 * i + k] / sum, 1e-9);
    }
}

TEST(reference)
{
    static const char *const kinds[] = { "expected", "observed" };
    json_t                  *item, *cases = reference_cases(cx, "glm_binary");
    size_t                   i, checked = 0;
    json_array_foreach(cases, i, item)
    {
        json_t *e = json_object_get(item, "expected"),
               *coef = json_object_get(e, "coef_intercept_first");
        if (strncmp(json_string_value(json_object_get(item, "id")), "probit-", 7) != 0) continue;
        char      settings[1024], all[1100], key[64];
        cr_table *t = reference_table(cx, item, settings, sizeof settings);
        for (size_t k = 0; k < 2; k++) {
            snprintf(all, sizeof all, "%s information=%s", settings, kinds[k]);
            snprintf(key, sizeof key, "se_%s_information", kinds[k]);
            cr_model *m = fit(cx, "probit", t, all);
            json_t   *d = describe(cx, m), *list = json_object_get(d, "parameters");
            for (size_t j = 0; j < json_array_size(coef); j++) {
                assert_relative(number_of(json_array_get(list, j), "value"), element(coef, j),
                                1e-6);
                assert_relative(number_of(json_array_get(list, j), "sd"),
                                element(json_object_get(e, key), j), 1e-6);
            }
            assert_close(statistic(d, "deviance"), number_of(e, "deviance"), 1e-8);
        }
        cr_table_free(cx, t);
        checked++;
    }
    assert_true(checked >= 2);
}
