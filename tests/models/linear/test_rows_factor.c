/* test_rows_factor.c -- least squares that learns from more rows: the factor against the scatter,
 * the merge against the whole, updates against fits of all rows, where columns are nearly dependent
 * and where they are. */
#include "../life.h"
#include "data/table/subset.h"
#include "models/linear/rows_factor.h"

enum { N = 90, P = 4, Q = P + 1 };

typedef struct opened {
    cr_table  *t;
    cr_design *design;
    cri_rows   rows;
} opened;

static opened open_rows(cr_ctx *cx, const double *X, size_t n, size_t p, const double *y,
                        const double *w)
{
    opened            o = { .t = make_table(cx, X, n, p, y, w) };
    cr_design_options d;
    cri_design_needs  needs = { .standardise = false };
    assert_ok(cx, cr_options_init(cx, cr_design_table, &d));
    d.target = (char *)(uintptr_t) "y";
    d.weights = w ? (char *)(uintptr_t) "w" : NULL;
    assert_ok(cx, cri_design_fit(cx, o.t, &d, &needs, &o.design));
    d.target = d.weights = NULL;
    cr_options_free(cx, cr_design_table, &d);
    assert_ok(cx, cri_rows_open(cx, o.design, o.t, CRI_TARGET_NEEDED, &o.rows));
    return o;
}

static void close_rows(cr_ctx *cx, opened *o)
{
    cri_rows_close(cx, &o->rows);
    cri_design_free(cx, o->design);
}

/* R^T R is the scatter about the mean, in long double; R has nothing below its diagonal. */
static void check_scatter(const cri_rows_factor *f, const double *X, const double *y,
                          const double *w, size_t n, double tolerance)
{
    long double mean[Q] = { 0 }, S[Q * Q] = { 0 }, weight = 0;
    for (size_t i = 0; i < n; i++) {
        weight += w ? w[i] : 1;
        for (size_t j = 0; j < Q; j++)
            mean[j] += (w ? w[i] : 1) * (long double)(j < P ? X[i * P + j] : y[i]);
    }
    for (size_t j = 0; j < Q; j++) mean[j] /= weight;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < Q; j++)
            for (size_t k = 0; k < Q; k++)
                S[j * Q + k] += (w ? w[i] : 1) * ((j < P ? X[i * P + j] : y[i]) - mean[j]) *
                                ((k < P ? X[i * P + k] : y[i]) - mean[k]);
    assert_close(f->weight, (double)weight, 1e-14);
    for (size_t j = 0; j < Q; j++) {
        assert_close(f->mean[j], (double)mean[j], 1e-13);
        for (size_t k = 0; k < Q; k++) {
            long double sum = 0, size = sqrtl(S[j * Q + j] * S[k * Q + k]);
            for (size_t i = 0; i < Q; i++) sum += (long double)f->R[i * Q + j] * f->R[i * Q + k];
            assert_true(fabsl(sum - S[j * Q + k]) <= tolerance * size);
            if (k < j) assert_true(f->R[j * Q + k] == 0);
        }
    }
}

TEST(factor)
{
    static double X[N * P], y[N], w[N];
    for (int kind = 0; kind < 4; kind++) {
        draw_regression(1, N, P, 0.4, X, y);
        for (size_t i = 0; i < N; i++) {
            w[i] = (double)(i % 4);
            if (kind == 2) X[i * P + 1] = X[i * P] + 1e-7 * X[i * P + 1]; /* nearly dependent */
            if (kind == 3) X[i * P + 2] = 1e6 + X[i * P + 2];             /* far from 0 */
        }
        double *opt_w = kind == 1 ? w : NULL;
        opened  all = open_rows(cx, X, N, P, y, opt_w), few = open_rows(cx, X, 37, P, y, opt_w);
        opened  rest = open_rows(cx, X + 37 * P, N - 37, P, y + 37, opt_w ? opt_w + 37 : NULL);
        cri_rows_factor a, b, c;
        assert_ok(cx, cri_rows_factor_of_rows(cx, &all.rows, NULL, &a));
        check_scatter(&a, X, y, opt_w, N, 1e-13);
        assert_ok(cx, cri_rows_factor_of_rows(cx, &few.rows, NULL, &b));
        assert_ok(cx, cri_rows_factor_of_rows(cx, &rest.rows, NULL, &c));
        assert_ok(cx, cri_rows_factor_merge(cx, &b, &c));
        check_scatter(&b, X, y, opt_w, N, kind == 3 ? 1e-10 : 1e-13); /* means round */
        assert_int_equal(a.rows, b.rows);
        cri_rows_factor_free(cx, &a);
        cri_rows_factor_free(cx, &b);
        cri_rows_factor_free(cx, &c);
        close_rows(cx, &all);
        close_rows(cx, &few);
        close_rows(cx, &rest);
    }
}

/* --- updates --------------------------------------------------------------------------------- */

static cr_model *update(cr_ctx *cx, cr_model *m, const cr_table *t)
{
    cr_model *next = NULL;
    assert_ok(cx, cr_update(cx, m, t, &next));
    cr_model_free(cx, m);
    return next;
}

static void check_models(cr_ctx *cx, const cr_model *a, const cr_model *b, const cr_table *t,
                         double tolerance)
{
    const char *const same[] = { "residual_sd", "residual_dof", "rss", "r2",  "adjusted_r2",
                                 "f",           "aic",          "bic", "rank" };
    json_t           *x = describe(cx, a), *y = describe(cx, b);
    json_t           *u = json_object_get(x, "parameters"), *v = json_object_get(y, "parameters");
    cr_prediction     f = predict(cx, a, t), g = predict(cx, b, t);
    for (size_t j = 0; j < json_array_size(v); j++) {
        const json_t *p = json_array_get(u, j), *q = json_array_get(v, j);
        assert_relative(number_of(p, "value"), number_of(q, "value"), tolerance);
        if (isnan(number_of(q, "sd")))
            assert_true(isnan(number_of(p, "sd")));
        else
            assert_relative(number_of(p, "sd"), number_of(q, "sd"), tolerance);
    }
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_relative(statistic(x, same[i]), statistic(y, same[i]), tolerance);
    for (size_t i = 0; i < f.n; i++) {
        assert_close(f.mean[i], g.mean[i], tolerance);
        assert_close(f.scale[i], g.scale[i], tolerance);
    }
}

/* In three blocks, the second smaller than the number of terms. */
static void check_update(const double *X, const double *y, const double *w, size_t n, size_t p,
                         const char *settings, double tolerance)
{
    cr_ctx   *cx = test_context();
    size_t    cut[] = { 0, n / 2, n / 2 + 2, n };
    cr_table *t = make_table(cx, X, n, p, y, w);
    cr_model *whole = fit(cx, "linear", t, settings), *m = NULL;
    for (size_t k = 0; k < 3; k++) {
        size_t    from = cut[k];
        cr_table *part =
            make_table(cx, X + from * p, cut[k + 1] - from, p, y + from, w ? w + from : NULL);
        m = k == 0 ? fit(cx, "linear", part, settings) : update(cx, m, part);
    }
    check_models(cx, m, whole, t, tolerance);
    assert_int_equal(cr_model_get_report(m)->rows, cr_model_get_report(whole)->rows);
    assert_relative(cr_model_get_report(m)->log_likelihood,
                    cr_model_get_report(whole)->log_likelihood, 1e-10);
    cr_model_free(cx, m);
    test_context_free(cx);
}

TEST(update)
{
    static double X[N * P], y[N], w[N];
    draw_regression(2, N, P, 0.4, X, y);
    for (size_t i = 0; i < N; i++) w[i] = (double)(i % 3);
    check_update(X, y, NULL, N, P, "target=y", 1e-11);
    check_update(X, y, NULL, N, P, "target=y solver=gram", 1e-11);
    check_update(X, y, w, N, P, "target=y weights=w", 1e-11);
    check_update(X, y, NULL, N, P, "target=y intercept=false", 1e-11);
    check_update(X, y, NULL, N, P, "target=y scale=standard", 1e-11);
    for (size_t i = 0; i < N; i++) X[i * P + 1] += 1e5; /* means that hide the spread */
    check_update(X, y, NULL, N, P, "target=y", 1e-9);
    for (size_t i = 0; i < N; i++) X[i * P + 1] = X[i * P] + 1e-5 * sin(7.3 * (double)i);
    check_update(X, y, NULL, N, P, "target=y",
                 1e-8); /* condition 1e5: cross-products keep 6 digits */
}

/* However the rows come: standardised columns are of one norm, and rounding chooses which of them is the first
 * pivot. */
TEST(condition_of_any_blocks)
{
    double X[N * P], y[N];
    draw_regression(5, N, P, 0.7, X, y);
    for (size_t i = 0; i < N; i++) X[i * P + 3] = X[i * P] + 0.1 * sin(7.3 * (double)i);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    double    whole = statistic(describe(cx, fit(cx, "linear", t, "target=y")), "condition_number");
    for (size_t first = 10; first <= 80; first += 7) {
        cr_table *a = make_table(cx, X, first, P, y, NULL);
        cr_table *b = make_table(cx, X + first * P, N - first, P, y + first, NULL);
        cr_model *m = fit(cx, "linear", a, "target=y"), *more = NULL;
        assert_ok(cx, cr_update(cx, m, b, &more));
        test_own(cx, more, release_model);
        assert_relative(statistic(describe(cx, more), "condition_number"), whole, 1e-6);
    }
}

/* A column that is constant in the first block; one that is so in all. */
TEST(constant)
{
    static double X[N * P], y[N];
    draw_regression(3, N, P, 0.4, X, y);
    for (size_t i = 0; i < N; i++) X[i * P + 2] = i < N / 2 + 3 ? 0.3 : 0.7;
    check_update(X, y, NULL, N, P, "target=y", 1e-10);
    for (size_t i = 0; i < N; i++) X[i * P + 2] = 0.3;
    check_update(X, y, NULL, N, P, "target=y", 1e-10);
}

/* Columns that depend on each other in every block: the same fit, whichever of them has no
 * coefficient. */
TEST(dependent)
{
    static double X[N * P], y[N];
    draw_regression(4, N, P, 0.4, X, y);
    for (size_t i = 0; i < N; i++) X[i * P + 3] = X[i * P] - 3 * X[i * P + 1] + 100;
    cr_table *t = make_table(cx, X, N, P, y, NULL), *a = make_table(cx, X, 40, P, y, NULL);
    cr_table *b = make_table(cx, X + 40 * P, N - 40, P, y + 40, NULL);
    cr_model *whole = fit(cx, "linear", t, "target=y"),
             *m = update(cx, fit(cx, "linear", a, "target=y"), b);
    json_t       *x = describe(cx, m), *z = describe(cx, whole);
    cr_prediction f = predict(cx, m, t), g = predict(cx, whole, t);
    size_t        without = 0;
    assert_close(statistic(x, "rank"), 3, 0);
    assert_relative(statistic(x, "rss"), statistic(z, "rss"), 1e-10);
    for (size_t j = 1; j <= P; j++) without += isnan(coefficient(x, j, "sd")) ? 1 : 0;
    assert_int_equal(without, 1);
    for (size_t i = 0; i < N; i++) {
        assert_close(f.mean[i], g.mean[i], 1e-10);
        assert_close(f.scale[i], g.scale[i], 1e-10);
    }
    cr_model_free(cx, m);
}

/* Longley's data in two halves, against the whole. */
TEST(longley)
{
    cr_table *t = read_table(cx, "tests/models/linear/nist/Longley.csv");
    cr_model *whole = fit(cx, "linear", t, "target=y"), *m, *again = NULL;
    size_t    rows[16], n = cr_table_rows(t);
    cr_table *a = NULL, *b = NULL;
    for (size_t i = 0; i < n; i++) rows[i] = i;
    assert_ok(cx, cri_table_subset(cx, t, rows, n / 2, &a));
    assert_ok(cx, cri_table_subset(cx, t, rows + n / 2, n - n / 2, &b));
    m = update(cx, fit(cx, "linear", a, "target=y"), b);
    check_models(cx, m, whole, t, 2e-8);
    again = update(cx, fit(cx, "linear", b, "target=y"), a);
    check_models(cx, again, whole, t, 2e-8);
    cr_model_free(cx, m);
    cr_model_free(cx, again);
    cr_table_free(cx, a);
    cr_table_free(cx, b);
}

TEST(refusals)
{
    static double X[N * P], y[N], w[N];
    cr_model     *m, *next = NULL;
    draw_regression(3, N, P, 0.4, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL), *none = make_table(cx, X, 5, P, y, w);
    m = fit(cx, "linear", t, "target=y select=best");
    assert_fails_with(cx, cr_update(cx, m, t, &next), CR_EUNSUPPORTED,
                      "--select has no exact update");
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    for (size_t i = 0; i < N; i++) w[i] = 1;
    t = make_table(cx, X, N, P, y, w);
    m = fit(cx, "linear", t, "target=y weights=w");
    assert_fails_with(cx, cr_update(cx, m, none, &next), CR_EDATA, "are all zero");
}
