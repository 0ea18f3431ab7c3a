/* test_class_weights.c -- rows weighted by their class: standard errors are those of the rows there are, and what the
 * weights do to probabilities is said. */
#include "../fixture.h"

enum { N = 120, P = 2, Q = P + 1 };

static void draw(uint64_t seed, double *X, double *y, double *w)
{
    cr_rng r = cr_rng_stream(seed, 8);
    draw_normals(&r, X, N * P);
    for (size_t i = 0; i < N; i++) {
        X[i * P + 1] = 3 + 0.5 * X[i * P + 1];
        y[i] = cr_rng_uniform(&r) < 1 / (1 + exp(1.5 - X[i * P]));
        w[i] = (double)(1 + i % 3);
    }
}

/* Inverts A [Q x Q] by Gauss and Jordan. */
static void invert(long double *A, long double *out)
{
    for (size_t a = 0; a < Q; a++)
        for (size_t b = 0; b < Q; b++) out[a * Q + b] = a == b;
    for (size_t k = 0; k < Q; k++) {
        long double d = A[k * Q + k];
        for (size_t b = 0; b < Q; b++) A[k * Q + b] /= d, out[k * Q + b] /= d;
        for (size_t a = 0; a < Q; a++) {
            long double f = a == k ? 0 : A[a * Q + k];
            for (size_t b = 0; b < Q; b++)
                A[a * Q + b] -= f * A[k * Q + b], out[a * Q + b] -= f * out[k * Q + b];
        }
    }
}

/* The sds by H^-1 J H^-1 in the units of the data, classes 0 and 1 weighted by 1 and c, rows by w. */
static void sandwich(const double *X, const double *y, const double *w, double c,
                     const double *theta, double *sd)
{
    long double H[Q * Q] = { 0 }, J[Q * Q] = { 0 }, V[Q * Q];
    for (size_t i = 0; i < N; i++) {
        long double z[Q] = { 1, X[i * P], X[i * P + 1] }, eta = 0, class_weight = y[i] > 0 ? c : 1;
        for (size_t j = 0; j < Q; j++) eta += theta[j] * z[j];
        long double p = 1 / (1 + expl(-eta)), r = (long double)y[i] - p;
        for (size_t a = 0; a < Q; a++)
            for (size_t b = 0; b < Q; b++) {
                H[a * Q + b] += w[i] * class_weight * p * (1 - p) * z[a] * z[b];
                J[a * Q + b] += w[i] * class_weight * class_weight * r * r * z[a] * z[b];
            }
    }
    invert(H, V);
    for (size_t k = 0; k < Q; k++) {
        long double sum = 0;
        for (size_t a = 0; a < Q; a++)
            for (size_t b = 0; b < Q; b++) sum += V[k * Q + a] * J[a * Q + b] * V[b * Q + k];
        sd[k] = (double)sqrtl(sum);
    }
}

TEST(standard_errors_are_those_of_the_rows)
{
    static const char *const names[] = { "intercept", "x1", "x2" };
    static double            X[N * P], y[N], w[N];
    draw(1, X, y, w);
    cr_table *t = make_table(cx, X, N, P, y, w);
    json_t   *d = describe(
          cx, fit(cx, "logistic", t, "target=y weights=w task=classification class_weights=1=4"));
    double theta[Q], sd[Q];
    for (size_t k = 0; k < Q; k++) theta[k] = parameter(d, names[k], "value");
    sandwich(X, y, w, 4, theta, sd);
    for (size_t k = 0; k < Q; k++) assert_relative(parameter(d, names[k], "sd"), sd[k], 1e-8);
}

/* Weights that are the same for all classes are a unit: they change no sd of either model. */
TEST(a_unit_changes_nothing)
{
    static double            X[N * P], y[N], w[N];
    static const char *const models[] = { "logistic", "probit" };
    draw(2, X, y, w);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    for (size_t k = 0; k < 2; k++) {
        json_t *a =
            describe(cx, fit(cx, models[k], t, "target=y task=classification class_weights=0=1"));
        json_t *b = describe(
            cx, fit(cx, models[k], t, "target=y task=classification class_weights=0=7,1=7"));
        assert_relative(parameter(b, "x1", "sd"), parameter(a, "x1", "sd"), 1e-6);
        double plain = parameter(
            describe(cx, fit(cx, models[k], t, "target=y task=classification")), "x1", "sd");
        assert_relative(parameter(a, "x1", "sd"), plain, 0.3); /* of the data, by scores */
    }
}

/* Three classes, in all of which pure noise has no effect: two sds hold it as often as they should. */
TEST(noise_is_not_significant)
{
    static double X[N * P], y[N];
    size_t        inside = 0, all = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        cr_rng r = cr_rng_stream(seed, 9);
        draw_normals(&r, X, N * P);
        for (size_t i = 0; i < N; i++) {
            double u = cr_rng_uniform(&r);
            y[i] = u < 0.1 ? 0 : u < 0.3 ? 1 : 2;
        }
        json_t *d = json_object_get(
            describe(cx, fit(cx, "logistic", make_table(cx, X, N, P, y, NULL),
                             "target=y task=classification class_weights=balanced")),
            "parameters");
        json_t *row;
        size_t  k;
        json_array_foreach(d, k, row)
        {
            if (!strstr(json_string_value(json_object_get(row, "name")), "x")) continue;
            inside += number_of(row, "lower") <= 0 && number_of(row, "upper") >= 0;
            all++;
        }
    }
    assert_true(all > 200 && (double)inside > 0.9 * (double)all);
}

TEST(what_is_said)
{
    static double X[N * P], y[N], w[N];
    warnings      heard = { 0 };
    draw(3, X, y, w);
    cr_table   *t = make_table(cx, X, N, P, y, NULL);
    const char *said = fit_and_hear(cx, "logistic", t,
                                    "target=y task=classification class_weights=balanced", &heard);
    assert_non_null(strstr(said, "probabilities are those of a population"));
    assert_null(strstr(said, "too sure"));
    heard = (warnings){ 0 };
    said = fit_and_hear(cx, "bayes-logistic", t,
                        "target=y task=classification class_weights=balanced", &heard);
    assert_non_null(strstr(said, "are too sure"));
    heard = (warnings){ 0 };
    said =
        fit_and_hear(cx, "logistic", t,
                     "target=y task=classification class_weights=balanced calibrate=platt", &heard);
    assert_null(strstr(said, "population"));
}
