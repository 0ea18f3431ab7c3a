/* test_bayes_sparse.c -- naive Bayes on sparse rows: the same answers as on the same numbers
 * written out, for every kind of column, and answers at all at widths that cannot be written
 * out. */
#include "../../data/sparse_fixture.h"
#include "../life.h"
#include "classes.h"

enum { K = 3 };

/* Counts in classes, some entries missing. */
static sparse_data draw_counts(uint64_t seed, size_t n, size_t p, double density, double gaps)
{
    sparse_data d = draw_sparse(seed, n, p, density);
    cr_rng      r = cr_rng_stream(seed, 99);
    for (size_t i = 0; i < n; i++) {
        d.y[i] = (double)(i < K ? i : cr_rng_below(&r, K));
        for (size_t j = 0; j < p; j++) {
            double *x = &d.X[i * p + j];
            if (*x == 0) continue;
            *x = (double)(1 + cr_rng_below(&r, 2 + (j + (size_t)d.y[i]) % 4));
            if (cr_rng_uniform(&r) < gaps) *x = NAN;
        }
    }
    compress(&d);
    return d;
}

static const char *const kinds[] = {
    "gaussian",       "bernoulli",
    "bernoulli:-0.5", "bernoulli:1.5",
    "poisson",        "multinomial",
    "kernel",         "gaussian,x1=bernoulli:0.5,x2=poisson,x3=multinomial,x4=multinomial,x6=kernel"
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void check_same(cr_ctx *cx, const cr_model *a, const cr_model *b, const cr_table *sparse,
                       const cr_table *dense)
{
    cr_prediction f = predict(cx, a, sparse), g = predict(cx, b, dense), h = predict(cx, a, dense);
    json_t       *x = describe(cx, a), *y = describe(cx, b);
    json_t       *u = json_object_get(x, "parameters"), *v = json_object_get(y, "parameters");
    double l = cr_model_get_report(a)->log_likelihood, q = cr_model_get_report(b)->log_likelihood;
    assert_same_answers(&f, &g, 1e-11);
    assert_same_answers(&f, &h, 1e-11);
    assert_int_equal(json_array_size(u), json_array_size(v));
    for (size_t j = 0; j < json_array_size(u); j++) {
        const json_t *s = json_array_get(u, j), *t = json_array_get(v, j);
        const char   *keys[] = { "value", "sd" };
        assert_string_equal(json_string_value(json_object_get(s, "name")),
                            json_string_value(json_object_get(t, "name")));
        for (size_t e = 0; e < 2; e++) {
            double c = number_of(s, keys[e]), d = number_of(t, keys[e]);
            if (isnan(d))
                assert_true(isnan(c));
            else
                assert_close(c, d, 1e-11);
        }
    }
    if (isnan(q))
        assert_true(isnan(l));
    else
        assert_relative(l, q, 1e-11);
}

static void check_both_tables(cr_ctx *cx, const cr_table *s, const cr_table *t,
                              const char *settings)
{
    cr_model *a = fit(cx, "naive-bayes", s, settings), *b = fit(cx, "naive-bayes", t, settings);
    check_same(cx, a, b, s, t);
}

TEST(same_as_written_out)
{
    for (unsigned bits = 0; bits < 4; bits++) {
        sparse_data d = draw_counts(bits, 90, 12, bits & 1 ? 0.7 : 0.25, bits & 2 ? 0.1 : 0);
        cr_table   *s = table_of(cx, &d, true), *t = table_of(cx, &d, false);
        for (size_t k = 0; k < 4 * KINDS; k++) {
            char settings[256];
            snprintf(settings, sizeof settings, "target=y features=x* numbers=%s predictive=%s %s",
                     kinds[k / 4], k & 1 ? "bayes" : "plugin", k & 2 ? "weights=w" : "");
            check_both_tables(cx, s, t, settings);
        }
        cr_table_free(cx, s);
        cr_table_free(cx, t);
        free_sparse(&d);
    }
}

/* Without smoothing values are impossible in some classes, and back again. */
TEST(impossible)
{
    sparse_data d = draw_counts(9, 60, 10, 0.2, 0);
    cr_table   *s = table_of(cx, &d, true), *t = table_of(cx, &d, false);
    const char *settings[] = { "target=y features=x* numbers=bernoulli smoothing=0",
                               "target=y features=x* numbers=multinomial smoothing=0" };
    for (size_t k = 0; k < 2; k++) check_both_tables(cx, s, t, settings[k]);
    cr_table_free(cx, s);
    cr_table_free(cx, t);
    free_sparse(&d);
}

/* Columns nearly full and far from 0 keep their digits. */
TEST(far_columns)
{
    sparse_data d = draw_counts(3, 80, 6, 0.9, 0);
    for (size_t i = 0; i < d.n; i++) d.X[i * 6] = 1e6 + d.y[i] + (double)(i % 5);
    compress(&d);
    cr_table     *s = table_of(cx, &d, true), *t = table_of(cx, &d, false);
    cr_model     *a = fit(cx, "naive-bayes", s, "target=y features=x*");
    cr_model     *b = fit(cx, "naive-bayes", t, "target=y features=x*");
    cr_prediction f = predict(cx, a, s), g = predict(cx, b, t);
    assert_same_answers(&f, &g, 1e-6);
    cr_model_free(cx, a);
    cr_model_free(cx, b);
    cr_table_free(cx, s);
    cr_table_free(cx, t);
    free_sparse(&d);
}

/* A category with gaps beside the sparse block. */
TEST(beside_a_category)
{
    sparse_data d = draw_counts(4, 50, 9, 0.3, 0);
    const char *extra[50], *levels[] = { "u", "v", "z" };
    cr_table   *t[2];
    cr_model   *m[2];
    for (size_t i = 0; i < 50; i++)
        extra[i] = i % 7 == 1 ? NULL : levels[(i * i + (size_t)d.y[i]) % 3];
    for (size_t k = 0; k < 2; k++) {
        t[k] = table_of(cx, &d, k == 0);
        assert_ok(cx, cr_table_add_texts(cx, t[k], "g", extra));
        m[k] =
            fit(cx, "naive-bayes", t[k], "target=y features=x*,g numbers=multinomial,x2=gaussian");
    }
    check_same(cx, m[0], m[1], t[0], t[1]);
    for (size_t k = 0; k < 2; k++) cr_model_free(cx, m[k]), cr_table_free(cx, t[k]);
    free_sparse(&d);
}

/* Saved and loaded, on any number of threads: the same bits.  Two halves, updated: the same
 * answer. */
TEST(life)
{
    sparse_data d = draw_counts(5, 200, 40, 0.1, 0.02), half = d, rest = d;
    const char *settings =
        "target=y features=x* numbers=multinomial,x3=poisson,x5=bernoulli,x9=gaussian";
    half.n = 120;
    rest.n = 80, rest.start += 120, rest.X += 120 * 40, rest.y += 120, rest.w += 120;
    cr_table *all = table_of(cx, &d, true), *one = table_of(cx, &half, true);
    cr_table *two = table_of(cx, &rest, false);
    cr_model *a = fit(cx, "naive-bayes", all, settings), *b = fit(cx, "naive-bayes", one, settings);
    cr_model *c = NULL, *e = NULL;
    cr_prediction f = predict(cx, a, all);
    char         *bytes = NULL;
    size_t        size = 0;
    assert_ok(cx, cr_model_to_bytes(cx, a, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &c));
    cr_free(cx, bytes, size, 1);
    for (size_t threads = 1; threads <= 7; threads += 2) {
        cr_ctx_set_threads(cx, threads);
        cr_prediction g = predict(cx, c, all);
        assert_same_bits(&f, &g);
    }
    assert_ok(cx, cr_update(cx, b, two, &e));
    cr_prediction h = predict(cx, e, all);
    assert_same_answers(&f, &h, 1e-11);
    cr_model *models[] = { a, b, c, e };
    for (size_t k = 0; k < 4; k++) cr_model_free(cx, models[k]);
    cr_table_free(cx, all);
    cr_table_free(cx, one);
    cr_table_free(cx, two);
    free_sparse(&d);
}

/* 10^5 columns, a row has one entry of its class and one that says nothing. */
TEST(wide)
{
    enum { n = 300, p = 100000 };
    size_t    start[n + 1];
    uint32_t  column[2 * n];
    double    value[2 * n], y[n];
    cr_csr    X = { n, p, start, column, value };
    cr_table *t = NULL;
    for (size_t i = 0; i <= n; i++) start[i] = 2 * i;
    for (size_t i = 0; i < n; i++) {
        y[i] = (double)(i % 2);
        column[2 * i] = (uint32_t)(i % 2);
        column[2 * i + 1] = (uint32_t)(100 + 331 * i);
        value[2 * i] = value[2 * i + 1] = 1;
    }
    assert_ok(cx, cr_table_new(cx, "wide.svm", n, &t));
    assert_ok(cx, cr_table_borrow_csr(cx, t, CR_INTEGER, X));
    assert_ok(cx, cr_table_borrow_numbers(cx, t, "y", CR_INTEGER, y, 1));
    for (size_t k = 0; k < 2; k++) {
        cr_model     *m = fit(cx, "naive-bayes", t,
                          k ? "target=y numbers=multinomial" : "target=y numbers=bernoulli");
        cr_prediction f = predict(cx, m, t);
        for (size_t i = 0; i < n; i++) assert_true(f.prob[2 * i + i % 2] > 0.9);
        /* of each class n/2 rows: its own column, and one that was seen once, against unseen
         * ones */
        double own = (n / 2 + 1) * 2.0;
        if (k) assert_close(f.prob[0], own / (own + 1), 1e-9);
    }
    cr_table_free(cx, t);
}

TEST(allocations)
{
    sparse_data d = draw_counts(6, 12, 4, 0.4, 0);
    cr_table   *t = table_of(cx, &d, true);
    check_every_allocation(t, "naive-bayes", "target=y features=x* numbers=multinomial");
    cr_table_free(cx, t);
    free_sparse(&d);
}
