/* test_importance.c -- what predictions rest on: permutation importance and partial dependence, known by other roads. */
#include "fixture.h"
#include "math/special/special.h"
#include "models/core/parts.h"
#include "study/dependence.h"
#include "study/importance.h"

/* Numbers a, b, a category k, and y = 1 + 2 a - b + [k = v] and noise. */
static cr_table *mixed_table(cr_ctx *cx, size_t n, bool swap)
{
    double     *x = calloc(3 * n, sizeof *x);
    const char *k[64];
    cr_rng      r = cr_rng_stream(11, 2);
    cr_table   *t = NULL;
    assert_true(n <= 64);
    for (size_t i = 0; i < n; i++) {
        x[i] = cr_rng_normal(&r), x[n + i] = cr_rng_normal(&r);
        k[i] = i % 3 ? "u" : "v";
        x[2 * n + i] = 1 + 2 * x[i] - x[n + i] + (i % 3 == 0) + 0.3 * cr_rng_normal(&r);
    }
    if (swap) {
        double first = x[0];
        x[0] = x[1], x[1] = first;
    }
    assert_ok(cx, cr_table_new(cx, "mixed.csv", n, &t));
    test_own(cx, t, release_table);
    assert_ok(cx, cr_table_add_numbers(cx, t, "a", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "b", CR_REAL, x + n, 1));
    assert_ok(cx, cr_table_add_texts(cx, t, "k", k));
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, x + 2 * n, 1));
    free(x);
    return t;
}

/* Of two rows a permutation leaves them or swaps them: the mean is a share of the change that the swap makes, and the
 * standard error that of as many throws of a coin. */
TEST(two_rows)
{
    enum { REPEATS = 40 };
    cr_model     *m = fit(cx, "linear", mixed_table(cx, 60, false), "target=y");
    cr_table     *two = mixed_table(cx, 2, false), *swapped = mixed_table(cx, 2, true);
    cr_assessment as_is, other;
    cr_importance i;
    const char   *a = "a";
    assert_ok(cx, cr_evaluate(cx, m, two, 0.95, &as_is));
    assert_ok(cx, cr_evaluate(cx, m, swapped, 0.95, &other));
    assert_ok(cx, cr_permutation_importance(cx, m, two, &a, 1, REPEATS, &i));
    double change = metric_of(&as_is, "log_score") - metric_of(&other, "log_score");
    double times = i.value[0] / change * REPEATS, share = round(times) / REPEATS;
    assert_string_equal(i.metric, "log_score");
    assert_close(i.score, metric_of(&as_is, "log_score"), 1e-15);
    assert_close(times, round(times), 1e-9);
    assert_true(times > 8 && times < 32); /* 20 -+ 3.2, by chance */
    assert_relative(i.se[0], fabs(change) * sqrt(share * (1 - share) / (REPEATS - 1)), 1e-9);
    cr_importance_free(cx, &i);
}

/* A column that the model does not use changes nothing, and the others are in their order. */
TEST(unused_columns_have_none)
{
    cr_table     *t = mixed_table(cx, 60, false);
    cr_model     *m = fit(cx, "lasso", t, "target=y lambda=0.9");
    cr_importance i;
    assert_ok(cx, cr_permutation_importance(cx, m, t, NULL, 0, 5, &i));
    assert_int_equal(i.n, 3);
    assert_int_equal(i.column[0], 0);
    assert_true(i.value[0] > 0 && i.se[0] > 0);
    assert_true(i.value[2] == 0 && i.se[2] == 0);
    cr_importance_free(cx, &i);
}

TEST(refusals)
{
    cr_table     *t = mixed_table(cx, 30, false);
    cr_model     *m = fit(cx, "linear", t, "target=y");
    cr_importance i;
    cr_dependence d;
    const char   *none = "aa";
    assert_fails_with(cx, cr_permutation_importance(cx, m, t, &none, 1, 5, &i), CR_EARG, "'aa'");
    assert_fails(cx, cr_permutation_importance(cx, m, t, NULL, 0, 0, &i), CR_EARG);
    assert_fails_with(cx, cr_partial_dependence(cx, m, t, "aa", &d), CR_EARG, "'aa'");
    m = fit(cx, "normal", t, "features=a");
    assert_fails(cx, cr_partial_dependence(cx, m, t, "a", &d), CR_EUNSUPPORTED);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of a linear model the curve of a row is its prediction, moved by b (v - x): mean and quantiles follow. */
TEST(dependence_of_a_line)
{
    enum { N = 41 };
    cr_table        *t = mixed_table(cx, N, false);
    cr_model        *m = fit(cx, "linear", t, "target=y");
    json_t          *about = describe(cx, m);
    const cr_column *a = cr_table_find(t, "a");
    cr_dependence    d;
    cr_prediction    p = { 0 };
    double           slope = parameter(about, "a", "value"), mean = 0, rest[N];
    assert_ok(cx, cr_predict(cx, m, t, &p));
    for (size_t i = 0; i < N; i++) {
        rest[i] = p.mean[i] - slope * a->values[i * a->stride];
        mean += rest[i] / N;
    }
    qsort(rest, N, sizeof *rest, ascending);
    assert_ok(cx, cr_partial_dependence(cx, m, t, "a", &d));
    assert_true(d.n == 25 && d.curves == 1 && d.rows == N);
    for (size_t v = 0; v < d.n; v++) {
        assert_true(d.x[v] == a->values[d.row[v] * a->stride] && (v == 0 || d.x[v] > d.x[v - 1]));
        assert_close(d.mean[v], mean + slope * d.x[v], 1e-9);
        assert_close(d.lower[v], rest[4] + slope * d.x[v], 1e-9); /* 0.1 of 40 steps */
        assert_close(d.upper[v], rest[36] + slope * d.x[v], 1e-9);
    }
    cr_dependence_free(cx, &d);
    cr_prediction_free(cx, &p);
}

/* How sure the mean curve is: of a line by the covariance of its coefficients, of a process by draws of its function. */
TEST(band_of_the_mean_curve)
{
    enum { N = 30, DRAWS = 4000 };
    double        X[2 * N], y[N], *V = NULL, mean = 0;
    size_t        q = 0;
    cr_dependence d;
    cr_rng        r = cr_rng_stream(3, 1);
    for (size_t i = 0; i < N; i++) {
        X[2 * i] = cr_rng_normal(&r), X[2 * i + 1] = 5 + cr_rng_normal(&r);
        y[i] = X[2 * i] - 2 * X[2 * i + 1] + cr_rng_normal(&r);
        mean += X[2 * i + 1] / N;
    }
    cr_table *t = make_table(cx, X, N, 2, y, NULL);
    cr_model *m = fit(cx, "linear", t, "target=y");
    assert_ok(cx, cr_covariance(cx, m, &V, &q));
    assert_int_equal(q, 3);
    assert_ok(cx, cr_partial_dependence(cx, m, t, "x1", &d));
    for (size_t v = 0; v < d.n; v++) {
        double z[] = { 1, d.x[v], mean }, variance = 0;
        for (size_t a = 0; a < 3; a++)
            for (size_t b = 0; b < 3; b++) variance += z[a] * V[a * 3 + b] * z[b];
        double half = cr_student_t_ppf(0.975, N - 3) * sqrt(variance);
        assert_close(d.band_lower[v], d.mean[v] - half, 1e-9);
        assert_close(d.band_upper[v], d.mean[v] + half, 1e-9);
    }
    cr_free(cx, V, q * q, sizeof *V);
    cr_dependence_free(cx, &d);

    double *f = cr_alloc(cx, (size_t)N * DRAWS, sizeof *f), first = 0, second = 0;
    m = fit(cx, "gp", t, "target=y hyper=map");
    assert_ok(cx, cr_partial_dependence(cx, m, t, "x1", &d));
    for (size_t i = 0; i < N; i++) X[2 * i] = d.x[d.n - 1];
    assert_ok(cx,
              cr_sample_functions(cx, m, make_table(cx, X, N, 2, NULL, NULL), false, DRAWS, 1, f));
    for (size_t k = 0; k < DRAWS; k++) {
        double average = 0;
        for (size_t i = 0; i < N; i++) average += f[i * DRAWS + k] / N;
        first += average / DRAWS, second += average * average / DRAWS;
    }
    double sd = sqrt(second - first * first);
    assert_close(d.mean[d.n - 1], first, 5 * sd / sqrt(DRAWS));
    assert_close(d.band_upper[d.n - 1] - d.mean[d.n - 1], 1.96 * sd, 0.06 * 1.96 * sd);
    cr_free(cx, f, (size_t)N * DRAWS, sizeof *f);
    cr_dependence_free(cx, &d);

    m = fit(cx, "tree", t, "target=y");
    assert_ok(cx, cr_partial_dependence(cx, m, t, "x1", &d));
    assert_true(isnan(d.band_lower[0]) && isnan(d.band_upper[0]));
    cr_dependence_free(cx, &d);
}

TEST(dependence_of_levels_and_classes)
{
    cr_table     *t = mixed_table(cx, 60, false), *classes = class_table(cx, 90, 3, 4);
    cr_model     *m = fit(cx, "linear", t, "target=y");
    cr_dependence d;
    assert_ok(cx, cr_partial_dependence(cx, m, t, "k", &d));
    assert_int_equal(d.n, 2);
    assert_close(d.mean[1] - d.mean[0], parameter(describe(cx, m), "k=v", "value"), 1e-9);
    cr_dependence_free(cx, &d);
    m = fit(cx, "lda", classes, "target=y features=x1,x2");
    assert_ok(cx, cr_partial_dependence(cx, m, classes, "x1", &d));
    assert_int_equal(d.curves, 3);
    for (size_t v = 0; v < d.n; v++)
        assert_close(d.mean[v] + d.mean[d.n + v] + d.mean[2 * d.n + v], 1, 1e-12);
    cr_dependence_free(cx, &d);
}

TEST(same_bits_on_any_number_of_threads)
{
    cr_table     *t = mixed_table(cx, 60, false);
    cr_model     *m = fit(cx, "tree", t, "target=y");
    cr_importance one, three;
    cr_ctx_set_threads(cx, 1);
    assert_ok(cx, cr_permutation_importance(cx, m, t, NULL, 0, 4, &one));
    cr_ctx_set_threads(cx, 3);
    assert_ok(cx, cr_permutation_importance(cx, m, t, NULL, 0, 4, &three));
    assert_memory_equal(one.value, three.value, one.n * sizeof *one.value);
    assert_memory_equal(one.se, three.se, one.n * sizeof *one.se);
    cr_importance_free(cx, &one);
    cr_importance_free(cx, &three);
}
