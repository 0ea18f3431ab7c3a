/* test_sparse_linear.c -- least squares, ridge and lasso on sparse rows: the same answers as on the
 * same numbers written out, by every solver, and answers at all at widths that cannot be written
 * out. */
#include "../../data/sparse_fixture.h"
#include "../life.h"

/* A target that the columns explain in part. */
static sparse_data draw_problem(uint64_t seed, size_t n, size_t p, double density)
{
    sparse_data d = draw_sparse(seed, n, p, density);
    for (size_t i = 0; i < n; i++) {
        d.y[i] += 5;
        for (size_t j = 0; j < p; j++)
            d.y[i] += (j % 3 ? 0.2 : -0.4) * d.X[i * p + j] / (1 + (double)j);
    }
    return d;
}

typedef struct pair {
    cr_table *sparse, *dense;
    cr_model *a, *b;
} pair;

static pair fit_both(cr_ctx *cx, const sparse_data *d, const char *name, const char *on_sparse,
                     const char *on_dense)
{
    pair q = { .sparse = table_of(cx, d, true), .dense = table_of(cx, d, false) };
    q.a = fit(cx, name, q.sparse, on_sparse);
    q.b = fit(cx, name, q.dense, on_dense);
    return q;
}

static void free_pair(cr_ctx *cx, pair *q)
{
    cr_model_free(cx, q->a);
    cr_model_free(cx, q->b);
    cr_table_free(cx, q->sparse);
    cr_table_free(cx, q->dense);
}

static void check_number(double a, double b, double tolerance)
{
    if (isnan(b))
        assert_true(isnan(a));
    else
        assert_close(a, b, tolerance);
}

/* Coefficients, and with them sds; the means of predictions, and with them scales. */
static void check_same(cr_ctx *cx, const pair *q, bool spreads, double tolerance)
{
    json_t       *x = describe(cx, q->a), *y = describe(cx, q->b);
    json_t       *u = json_object_get(x, "parameters"), *v = json_object_get(y, "parameters");
    cr_prediction f = predict(cx, q->a, q->sparse), g = predict(cx, q->b, q->dense);
    cr_prediction h = predict(cx, q->a, q->dense);
    assert_int_equal(json_array_size(u), json_array_size(v));
    for (size_t j = 0; j < json_array_size(u); j++) {
        const json_t *s = json_array_get(u, j), *t = json_array_get(v, j);
        check_number(number_of(s, "value"), number_of(t, "value"), tolerance);
        if (spreads) check_number(number_of(s, "sd"), number_of(t, "sd"), tolerance);
    }
    for (size_t i = 0; i < f.n; i++) {
        assert_close(f.mean[i], g.mean[i], tolerance);
        assert_true(f.mean[i] == h.mean[i] && same_number(f.scale[i], h.scale[i]));
        if (spreads) check_number(f.scale[i], g.scale[i], tolerance);
        if (spreads) check_number(f.leverage[i], g.leverage[i], tolerance);
    }
    check_number(statistic(x, "rss"), statistic(y, "rss"), tolerance);
    check_number(statistic(x, "r2"), statistic(y, "r2"), tolerance);
}

/* Saved, loaded: the same bits; and for any number of threads. */
static void check_copies(cr_ctx *cx, const pair *q, const char *name, const char *settings)
{
    char         *bytes = NULL;
    size_t        size = 0;
    cr_model     *c = NULL;
    cr_prediction f = predict(cx, q->a, q->sparse);
    assert_ok(cx, cr_model_to_bytes(cx, q->a, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &c));
    cr_free(cx, bytes, size, 1);
    for (unsigned threads = 0; threads < 2; threads++) {
        cr_prediction g = predict(cx, c, q->sparse);
        for (size_t i = 0; i < f.n; i++)
            assert_true(f.mean[i] == g.mean[i] && same_number(f.scale[i], g.scale[i]));
        cr_model_free(cx, c);
        cr_ctx_set_threads(cx, threads == 0 ? 1 : 3);
        c = fit(cx, name, q->sparse, settings);
    }
    cr_ctx_set_threads(cx, 2);
}

static const char *const designs[] = { "target=y", "target=y weights=w", "target=y intercept=false",
                                       "target=y scale=none weights=w",
                                       "target=y scale=none intercept=false" };

static void check_sparse_solver(const char *name, const char *sparse, const char *dense, size_t n,
                                size_t p, double density, bool spreads, double tolerance)
{
    cr_ctx     *cx = test_context();
    sparse_data d = draw_problem(n + p, n, p, density);
    for (size_t k = 0; k < sizeof designs / sizeof *designs; k++) {
        char a[200], b[200];
        snprintf(a, sizeof a, "%s %s", designs[k], sparse);
        snprintf(b, sizeof b, "%s %s", designs[k], dense);
        pair q = fit_both(cx, &d, name, a, b);
        check_same(cx, &q, spreads, tolerance);
        if (k < 2) check_copies(cx, &q, name, a);
        free_pair(cx, &q);
    }
    free_sparse(&d);
    test_context_free(cx);
}

TEST(ridge)
{
    check_sparse_solver("ridge", "solver=primal lambda=2", "solver=primal lambda=2", 150, 20, 0.1,
                        true, 1e-10);
    check_sparse_solver("ridge", "solver=dual lambda=2", "solver=primal lambda=2", 60, 40, 0.2,
                        true, 1e-9);
    check_sparse_solver("ridge", "solver=dual lambda=0.3", "solver=dual lambda=0.3", 30, 70, 0.1,
                        true, 1e-9);
    check_sparse_solver("ridge", "solver=lsqr lambda=2", "solver=primal lambda=2", 150, 20, 0.1,
                        false, 1e-9);
    check_sparse_solver("ridge", "solver=lsqr lambda=2", "solver=dual lambda=2", 30, 70, 0.1, false,
                        1e-9);
    check_sparse_solver("ridge", "solver=cg lambda=2", "solver=primal lambda=2", 150, 20, 0.1,
                        false, 1e-9);
    check_sparse_solver("ridge", "solver=cg lambda=0.3", "solver=dual lambda=0.3", 30, 70, 0.1,
                        false, 1e-9);
}

/* Columns that outweigh the rest by far are those of the preconditioner: the answers stay, and the
 * steps are those of the rest alone, but for a second start where rounding asks for it. */
TEST(ridge_heavy_columns)
{
    enum { n = 120, p = 300 };
    static const double factors[] = { 1, 10, 100 };
    for (size_t k = 0; k < 3; k++) {
        sparse_data d = draw_problem(21, n, p, 0.1);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < p; j++)
                d.X[i * p + j] *= (j % 17 ? 1 : factors[k]) / (1 + (double)j);
        compress(&d);
        for (size_t design = 0; design < sizeof designs / sizeof *designs; design++) {
            char a[200], b[200];
            snprintf(a, sizeof a, "%s solver=cg lambda=1", designs[design]);
            snprintf(b, sizeof b, "%s solver=primal lambda=1", designs[design]);
            pair    q = fit_both(cx, &d, "ridge", a, b);
            json_t *x = describe(cx, q.a), *y = describe(cx, q.b);
            double  df = statistic(y, "effective_df"), se = statistic(x, "effective_df_se");
            check_same(cx, &q, false, 1e-8);
            assert_int_equal(cr_model_get_report(q.a)->stop, CR_STOP_TOLERANCE);
            assert_true(cr_model_get_report(q.a)->iterations < (factors[k] < 50 ? 80 : 120));
            assert_true(se > 0 && se < 5);
            assert_close(statistic(x, "effective_df"), df, 5 * se / df);
            free_pair(cx, &q);
        }
        free_sparse(&d);
    }
}

/* Many terms are solved by Cholesky instead of eigenvectors. */
TEST(ridge_many)
{
    sparse_data d = draw_problem(3, 260, 215, 0.1);
    pair        q = fit_both(cx, &d, "ridge", "target=y solver=primal lambda=5",
                             "target=y solver=dual lambda=5");
    check_same(cx, &q, true, 1e-9);
    json_t *x = describe(cx, q.a), *y = describe(cx, q.b);
    assert_close(statistic(x, "effective_df"), statistic(y, "effective_df"), 1e-9);
    free_pair(cx, &q);
    free_sparse(&d);
}

/* The trace that LSQR estimates is within its error of the true one; gcv and loocv in the dual. */
TEST(ridge_facts)
{
    sparse_data d = draw_problem(5, 200, 60, 0.1);
    pair        q = fit_both(cx, &d, "ridge", "target=y weights=w solver=lsqr lambda=20",
                             "target=y weights=w lambda=20");
    json_t     *x = describe(cx, q.a), *y = describe(cx, q.b);
    double      df = statistic(y, "effective_df"), se = statistic(x, "effective_df_se");
    assert_true(se > 0 && se < 5);
    assert_close(statistic(x, "effective_df"), df, 5 * se / df);
    assert_true(isnan(coefficient(x, 1, "sd")) && isnan(statistic(x, "loocv")));
    free_pair(cx, &q);
    q = fit_both(cx, &d, "ridge", "target=y weights=w solver=dual lambda=20",
                 "target=y weights=w solver=primal lambda=20");
    x = describe(cx, q.a), y = describe(cx, q.b);
    assert_close(statistic(x, "effective_df"), statistic(y, "effective_df"), 1e-9);
    assert_close(statistic(x, "gcv"), statistic(y, "gcv"), 1e-9);
    assert_close(statistic(x, "loocv"), statistic(y, "loocv"), 1e-9);
    assert_close(statistic(x, "residual_sd"), statistic(y, "residual_sd"), 1e-9);
    free_pair(cx, &q);
    free_sparse(&d);
}

/* Without the constant columns of draw_sparse. */
static sparse_data draw_regular(uint64_t seed, size_t n, size_t p)
{
    sparse_data d = draw_problem(seed, n, p, 0.15);
    for (size_t j = 7; j < p; j += 13)
        for (size_t i = 0; i < n; i += 3) d.X[i * p + j] = (double)((i * 7 + j) % 11) - 4;
    compress(&d);
    return d;
}

TEST(linear)
{
    sparse_data d = draw_regular(9, 120, 18);
    for (size_t k = 0; k < 3; k++) {
        char a[200];
        snprintf(a, sizeof a, "%s solver=lsqr", designs[k]);
        pair q = fit_both(cx, &d, "linear", a, designs[k]);
        check_same(cx, &q, false, 1e-9);
        check_copies(cx, &q, "linear", a);
        json_t           *x = describe(cx, q.a), *y = describe(cx, q.b);
        const char *const same[] = { "residual_sd", "residual_dof", "adjusted_r2", "f",
                                     "aic",         "bic",          "rank" };
        for (size_t i = 0; i < 7; i++)
            assert_close(statistic(x, same[i]), statistic(y, same[i]), 1e-9);
        assert_true(isnan(coefficient(x, 1, "sd")));
        snprintf(a, sizeof a, "%s solver=gram", designs[k]);
        free_pair(cx, &q);
        q = fit_both(cx, &d, "linear", a, designs[k]);
        check_same(cx, &q, true, 1e-9);
        free_pair(cx, &q);
    }
    free_sparse(&d);
}

/* Dependent columns are named; constant ones are left out as in the dense fit. */
TEST(linear_dependent)
{
    sparse_data d = draw_problem(4, 100, 16, 0.3);
    cr_model   *m = NULL;
    warnings    log = { 0 };
    cr_ctx_set_log(cx, keep_warning, &log);
    pair q = fit_both(cx, &d, "linear", "target=y solver=lsqr", "target=y");
    check_same(cx, &q, false, 1e-9); /* x8 is 0 everywhere */
    assert_non_null(strstr(log.text, "1 columns are constant, 'x8' the first"));
    assert_non_null(
        strstr(log.text, "17 sparse columns: the coefficients are given without standard errors"));
    free_pair(cx, &q);
    for (size_t i = 0; i < d.n; i++) d.X[i * 16 + 7] = d.X[i * 16 + 2] - 2 * d.X[i * 16 + 11];
    compress(&d);
    cr_table *t = table_of(cx, &d, true), *dense = table_of(cx, &d, false);
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y solver=lsqr", &m), CR_ENUMERIC,
                      "3 columns are linearly dependent: 'x3', 'x8', 'x12'");
    assert_fails_with(cx, try_fit(cx, "ridge", t, "target=y solver=lsqr lambda=0", &m), CR_ENUMERIC,
                      "linearly dependent and lambda is 0");
    assert_fails_with(cx, try_fit(cx, "linear", dense, "target=y solver=lsqr", &m), CR_EARG,
                      "is for sparse data");
    assert_fails_with(cx, try_fit(cx, "ridge", dense, "target=y solver=lsqr", &m), CR_EARG,
                      "--solver lsqr is for sparse data");
    assert_fails_with(cx, try_fit(cx, "ridge", dense, "target=y solver=cg", &m), CR_EARG,
                      "--solver cg is for sparse data");
    assert_fails_with(cx, try_fit(cx, "ridge", t, "target=y solver=cg lambda=0", &m), CR_ENUMERIC,
                      "linearly dependent and lambda is 0");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y select=best", &m), CR_EUNSUPPORTED,
                      "does not take sparse data");
    cr_table_free(cx, t);
    cr_table_free(cx, dense);
    free_sparse(&d);
    d = draw_problem(5, 20, 40, 0.3);
    t = table_of(cx, &d, true);
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y solver=lsqr", &m), CR_ENUMERIC,
                      "has no unique answer");
    cr_table_free(cx, t);
    free_sparse(&d);
}

TEST(lasso)
{
    check_sparse_solver("lasso", "lambda=0.1 solver=columns", "lambda=0.1 solver=columns", 90, 25,
                        0.2, true, 1e-8);
    check_sparse_solver("lasso", "lambda=0.1 solver=gram", "lambda=0.1 solver=columns", 90, 25, 0.1,
                        true, 1e-8);
    check_sparse_solver("lasso", "lambda=0.2 l1-ratio=0.4 solver=columns",
                        "lambda=0.2 l1-ratio=0.4 solver=columns", 40, 60, 0.2, true, 1e-8);
    check_sparse_solver("lasso", "solver=columns cv-folds=3 path=30",
                        "solver=columns cv-folds=3 path=30", 60, 14, 0.3, true, 1e-7);
    check_sparse_solver("lasso", "choose=bic solver=columns path=30",
                        "choose=bic solver=columns path=30", 60, 14, 0.3, true, 1e-7);
}

/* --- width ----------------------------------------------------------------------------------- */

enum { WIDE = 100000 };

typedef struct wide_data {
    size_t    n, *start;
    uint32_t *column;
    double   *value, *y;
} wide_data;

/* n rows of `each` entries among WIDE columns; the first ten of these tell something. */
static wide_data draw_wide(size_t n, size_t each)
{
    cr_rng    r = cr_rng_stream(12, 1);
    wide_data d = { n, calloc(n + 1, sizeof(size_t)), calloc(n * each, sizeof(uint32_t)),
                    calloc(n * each, sizeof(double)), calloc(n, sizeof(double)) };
    for (size_t i = 0; i < n; i++) {
        d.y[i] = 2 + 0.1 * cr_rng_normal(&r);
        for (size_t e = 0; e < each; e++) {
            size_t at = i * each + e, step = WIDE / each;
            d.column[at] = (uint32_t)(e * step + cr_rng_below(&r, e == 0 ? 20 : step));
            d.value[at] = cr_rng_uniform(&r);
            if (d.column[at] < 10) d.y[i] += 3 * d.value[at];
        }
        d.start[i + 1] = (i + 1) * each;
    }
    return d;
}

static void check_wide(const char *name, const char *settings, size_t n, double error)
{
    cr_ctx *cx = test_context();
    cr_ctx_set_threads(cx, 1);
    cr_ctx_set_memory_limit(cx, (size_t)46 << 20); /* a dense matrix of 60 rows would be 48 MB */
    wide_data d = draw_wide(n, 8);
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "wide.svm", n, &t));
    assert_ok(cx,
              cr_table_borrow_csr(cx, t, CR_REAL, (cr_csr){ n, WIDE, d.start, d.column, d.value }));
    assert_ok(cx, cr_table_borrow_numbers(cx, t, "y", CR_REAL, d.y, 1));
    cr_model     *m = fit(cx, name, t, settings);
    cr_prediction q = predict(cx, m, t);
    double        sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (q.mean[i] - d.y[i]) * (q.mean[i] - d.y[i]) / (double)n;
        assert_true(q.scale[i] > 0);
    }
    assert_true(sqrt(sum) < error);
    cr_table_free(cx, t);
    free(d.start), free(d.column), free(d.value), free(d.y);
    test_context_free(cx);
}

TEST(width)
{
    check_wide("ridge", "target=y scale=none lambda=1", 60, 0.7);
    check_wide("ridge", "target=y scale=none lambda=3 solver=lsqr", 150, 0.7);
    check_wide("lasso", "target=y lambda=0.1 path=10", 150, 0.7);
}

TEST(no_memory)
{
    const char *cases[][2] = { { "ridge", "target=y solver=dual" },
                               { "ridge", "target=y solver=lsqr" },
                               { "ridge", "target=y solver=cg scale=none lambda=0.1" },
                               { "linear", "target=y solver=lsqr" },
                               { "lasso", "target=y solver=columns cv-folds=2 path=4" },
                               { "lasso", "target=y solver=gram lambda=0.1" } };
    double      y[] = { 1, 2, 4, 3, 7 };
    size_t      start[] = { 0, 1, 3, 4, 6, 7 };
    uint32_t    column[] = { 0, 0, 2, 0, 0, 1, 2 };
    double      value[] = { 1, 2, 3, 1, 1, 2, 5 };
    cr_table   *t = NULL;
    assert_ok(cx, cr_table_new(cx, "t", 5, &t));
    assert_ok(cx, cr_table_borrow_csr(cx, t, CR_REAL, (cr_csr){ 5, 3, start, column, value }));
    assert_ok(cx, cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_every_allocation(t, cases[i][0], cases[i][1]);
    cr_table_free(cx, t);
}

/* The degrees of freedom by products are those of their eight probes exactly: e'He of the same signs
 * by elimination, H = Z (Z'Z + lambda I)^-1 Z' with Z centred. */
TEST(probes)
{
    enum { n = 40, p = 9, PROBES = 8, SEED = 5 };
    sparse_data d = draw_problem(8, n, p, 0.4);
    cr_table   *t = table_of(cx, &d, true);
    cr_model   *m =
        fit(cx, "ridge", t, "target=y features=x* solver=lsqr scale=none lambda=30 seed=5");
    cr_model *dual =
        fit(cx, "ridge", t, "target=y features=x* solver=cg scale=none lambda=30 seed=5");
    long double Z[n][p], df = 0;
    for (size_t j = 0; j < p; j++) {
        long double mean = 0;
        for (size_t i = 0; i < n; i++) mean += d.X[i * p + j] / (long double)n;
        for (size_t i = 0; i < n; i++) Z[i][j] = d.X[i * p + j] - mean;
    }
    for (size_t c = 0; c < PROBES; c++) {
        cr_rng      r = cr_rng_stream(SEED, c);
        long double e[n], A[p * p] = { 0 }, g[p] = { 0 }, b[p], along = 0, length = 0, told = 0;
        for (size_t i = 0; i < n; i++)
            along += (e[i] = cr_rng_below(&r, 2) ? 1 : -1) / (long double)n;
        for (size_t i = 0; i < n; i++) {
            e[i] -= along;
            length += e[i] * e[i];
            for (size_t j = 0; j < p; j++) g[j] += Z[i][j] * e[i];
            for (size_t j = 0; j < p * p; j++) A[j] += Z[i][j / p] * Z[i][j % p];
        }
        for (size_t j = 0; j < p; j++) A[j * p + j] += 30;
        memcpy(b, g, sizeof b);
        solve_dense(p, A, b, 1);
        for (size_t j = 0; j < p; j++) told += g[j] * b[j];
        df += (n - 1) * told / length / PROBES;
    }
    assert_relative(statistic(describe(cx, m), "effective_df"), (double)df + 1, 1e-6);
    assert_relative(statistic(describe(cx, dual), "effective_df"), (double)df + 1, 1e-6);
    cr_model_free(cx, m);
    cr_model_free(cx, dual);
    cr_table_free(cx, t);
    free_sparse(&d);
}

/* The degrees of freedom do not depend on the units of the columns, however large or small. */
TEST(probes_in_other_units)
{
    enum { n = 40, p = 9 };
    static const double      units[] = { 1, 1e45, 1e-45 };
    static const char *const solvers[] = { "lsqr", "cg" };
    double                   df[6];
    for (size_t k = 0; k < 6; k++) {
        char        settings[200];
        sparse_data d = draw_problem(8, n, p, 0.4);
        for (size_t i = 0; i < n * p; i++) d.X[i] *= i % p % 2 ? units[k % 3] : 1;
        compress(&d);
        snprintf(settings, sizeof settings,
                 "target=y features=x* solver=%s scale=standard lambda=30", solvers[k / 3]);
        cr_table *t = table_of(cx, &d, true);
        df[k] = statistic(describe(cx, fit(cx, "ridge", t, settings)), "effective_df");
        assert_true(df[k] > 2);
        assert_relative(df[k], df[0], k < 3 ? 1e-9 : 1e-6);
        cr_table_free(cx, t);
        free_sparse(&d);
    }
}

/* Sparse rows, too many for the dual and fewer than the columns, are solved by conjugate gradients;
 * but by LSQR where these would lose too many digits.  Both agree. */
TEST(many_rows)
{
    enum { n = 2100, p = 2600, EACH = 6 };
    static const char *const settings[] = { "target=y scale=none lambda=2",
                                            "target=y scale=none lambda=2 solver=lsqr",
                                            "target=y scale=none lambda=1e-7" };
    static const char *const solvers[] = { "cg", "lsqr", "lsqr" };
    cr_rng                   r = cr_rng_stream(31, 1);
    size_t                   start[n + 1] = { 0 };
    uint32_t                *column = calloc((size_t)n * EACH, sizeof *column);
    double   *value = calloc((size_t)n * EACH, sizeof *value), *y = calloc(n, sizeof *y);
    json_t   *told[3];
    cr_table *t = NULL;
    for (size_t i = 0; i < n; i++) {
        start[i + 1] = (i + 1) * EACH;
        y[i] = cr_rng_normal(&r);
        for (size_t e = 0; e < EACH; e++) {
            size_t at = i * EACH + e, wide = e ? p / EACH : 4;
            column[at] = (uint32_t)(e * (p / EACH) + cr_rng_below(&r, wide));
            value[at] = cr_rng_normal(&r);
        }
    }
    assert_ok(cx, cr_table_new(cx, "many.svm", n, &t));
    assert_ok(cx, cr_table_borrow_csr(cx, t, CR_REAL, (cr_csr){ n, p, start, column, value }));
    assert_ok(cx, cr_table_borrow_numbers(cx, t, "y", CR_REAL, y, 1));
    for (size_t k = 0; k < 3; k++) {
        told[k] = describe(cx, fit(cx, "ridge", t, settings[k]));
        const json_t *s = json_object_get(told[k], "statistics");
        assert_string_equal(json_string_value(json_object_get(s, "solver")), solvers[k]);
    }
    for (size_t j = 0; j <= p; j++)
        assert_close(coefficient(told[0], j, "value"), coefficient(told[1], j, "value"), 1e-9);
    double df = statistic(told[1], "effective_df"), se = statistic(told[1], "effective_df_se");
    assert_close(statistic(told[0], "effective_df"), df, 0.5 * se / df); /* the same probes */
    cr_table_free(cx, t);
    free(column), free(value), free(y);
}
