/* test_linear.c -- least squares against peers' answers, the dense hat matrix, real refits, and the
 * laws that scales, shifts and orders of rows obey. */
#include "same_linear.h"
#include "math/special/special.h"

enum { N = 23, P = 4 };

/* --- reference answers ----------------------------------------------------------------------- */

/* The statistics that statsmodels gives; its weights are precisions, 1 + (row mod 3). */
static void check_reference(cr_ctx *cx, const json_t *item)
{
    char      settings[512];
    cr_table *t = reference_table(cx, item, settings, sizeof settings);
    json_t   *want = json_object_get(item, "expected");
    json_t   *names = json_object_get(json_object_get(item, "data"), "features");
    json_t   *coef = json_object_get(want, "coef_intercept_first");
    bool      weighted = json_object_get(json_object_get(item, "settings"), "weights") != NULL;
    double    tolerance = number_of(json_object_get(item, "tolerance"), "rel");
    size_t    n = cr_table_rows(t), used = strlen(settings);
    double   *w = malloc(n * sizeof *w);
    for (size_t i = 0; i < n; i++) w[i] = 1 + (double)(i % 3);
    if (weighted) {
        assert_ok(cx, cr_table_add_numbers(cx, t, "precision", CR_REAL, w, 1));
        snprintf(settings + used, sizeof settings - used,
                 " weights=precision weights-are=precisions");
    }
    cr_model *m = fit(cx, "linear", t, settings);
    json_t   *d = describe(cx, m);
    for (size_t j = 0; j <= json_array_size(names); j++) {
        const char *name = j ? json_string_value(json_array_get(names, j - 1)) : "intercept";
        assert_relative(parameter(d, name, "value"), element(coef, j), tolerance);
        assert_relative(parameter(d, name, "sd"), element(json_object_get(want, "se"), j),
                        tolerance);
        if (weighted) continue;
        assert_relative(parameter(d, name, "t"), element(json_object_get(want, "t"), j), tolerance);
        assert_relative(parameter(d, name, "p"), element(json_object_get(want, "p_value"), j),
                        100 * tolerance); /* small ones change by |t| times what t does */
    }
    static const char *const names_of[][2] = {
        { "r2", "r2" },        { "adjusted_r2", "adj_r2" }, { "f", "F" },
        { "f_p", "F_pvalue" }, { "residual_sd", "sigma" },  { "rss", "rss" }
    };
    for (size_t k = 0; !weighted && k < 6; k++)
        assert_relative(statistic(d, names_of[k][0]), number_of(want, names_of[k][1]),
                        k == 3 ? 1e-5 : tolerance);
    if (!weighted)
        assert_relative(cr_model_get_report(m)->log_likelihood, number_of(want, "loglik_ml"),
                        tolerance);
    free(w);
}

TEST(reference)
{
    json_t *cases = reference_cases(cx, "ols"), *item;
    size_t  i, checked = 0;
    json_array_foreach(cases, i, item) check_reference(cx, item), checked++;
    assert_true(checked >= 6);
}

/* A row of weight zero, however wild, changes nothing. */
/* --- dependence ------------------------------------------------------------------------------- */

/* x3 = x1 + 2 x2 and x4 = 5: two terms are named, keep a place, and change no prediction. */
static void check_dependent(const char *settings, bool intercept)
{
    enum { p = 4 };
    cr_ctx  *cx = test_context();
    double   X[N * p], Z[N * 3], y[N];
    warnings log = { .n = 0 };
    draw_regression(3, N, p, 0.5, X, y);
    for (size_t i = 0; i < N; i++) {
        X[i * p + 2] = X[i * p] + 2 * X[i * p + 1];
        X[i * p + 3] = 5;
        for (size_t j = 0; j < 3; j++) Z[i * 3 + j] = X[i * p + (j < 2 ? j : 3)];
    }
    size_t    whole = intercept ? 2 : 3; /* without an intercept the constant is one */
    cr_table *t = make_table(cx, X, N, p, y, NULL), *u = make_table(cx, Z, N, 3, y, NULL);
    cr_ctx_set_log(cx, keep_warning, &log);
    cr_model *a = fit(cx, "linear", t, settings);
    cr_ctx_set_log(cx, NULL, NULL);
    char less[128];
    snprintf(less, sizeof less, "%s features=%s solver=qr", settings, intercept ? "x1,x2" : "x*");
    cr_model     *b = fit(cx, "linear", u, less);
    json_t       *d = describe(cx, a);
    cr_prediction pa = predict(cx, a, t), pb = predict(cx, b, u);

    size_t aliased = 0;
    for (size_t j = 1; j <= p; j++) {
        char name[16];
        snprintf(name, sizeof name, "'x%zu'", j);
        bool alone = isnan(coefficient(d, j, "sd"));
        assert_int_equal(alone, strstr(log.text, name) != NULL);
        if (alone) assert_true(coefficient(d, j, "value") == 0);
        aliased += alone;
    }
    assert_int_equal(aliased, p - whole);
    if (intercept) {
        assert_true(isnan(coefficient(d, 4, "sd")));
        assert_non_null(strstr(log.text, "'x4' is constant"));
    }
    assert_int_equal(json_array_size(json_object_get(d, "parameters")), p + intercept);
    assert_int_equal((int)statistic(d, "rank"), (int)whole);
    assert_int_equal((int)statistic(d, "residual_dof"), (int)(N - whole - intercept));
    for (size_t i = 0; i < N; i++) {
        assert_close(pa.mean[i], pb.mean[i], 1e-12);
        assert_close(pa.scale[i], pb.scale[i], 1e-12);
        assert_close(pa.leverage[i], pb.leverage[i], 1e-12);
    }
    test_context_free(cx);
}

TEST(dependent_columns_are_named)
{
    check_dependent("target=y", true);
    check_dependent("target=y solver=gram", true);
    check_dependent("target=y intercept=false", false);
}

/* As many coefficients as rows, or more: the fit goes through the points and claims no error. */
TEST(too_few_rows)
{
    enum { p = 5 };
    double X[6 * p], y[6];
    draw_regression(4, 6, p, 1, X, y);
    for (size_t n = 1; n <= 6; n++) {
        warnings  log = { .n = 0 };
        cr_table *t = make_table(cx, X, n, p, y, NULL);
        cr_ctx_set_log(cx, keep_warning, &log);
        cr_model *m = fit(cx, "linear", t, "target=y");
        cr_ctx_set_log(cx, NULL, NULL);
        json_t       *d = describe(cx, m);
        cr_prediction q = predict(cx, m, t);
        assert_non_null(strstr(log.text, "as many coefficients as rows"));
        assert_int_equal((int)statistic(d, "rank"), (int)(n - 1));
        assert_int_equal((int)statistic(d, "residual_dof"), 0);
        assert_true(isnan(statistic(d, "residual_sd")));
        for (size_t j = 0; j <= p; j++) assert_true(isnan(coefficient(d, j, "sd")));
        for (size_t i = 0; i < n; i++) {
            assert_close(q.mean[i], y[i], 1e-10);
            assert_true(isnan(q.scale[i]));
            assert_close(q.leverage[i], 1, 1e-10);
        }
    }
}

/* --- two solvers ----------------------------------------------------------------------------- */

TEST(gram_equals_qr)
{
    enum { n = 700, p = 6 };
    static double X[n * p], y[n], w[n];
    draw_regression(5, n, p, 0.7, X, y);
    cr_rng r = cr_rng_stream(5, 1);
    for (size_t i = 0; i < n; i++) w[i] = cr_rng_uniform(&r) * 3;
    cr_table         *t = make_table(cx, X, n, p, y, w);
    const char *const rest[] = { "features=x*", "features=x* weights=w",
                                 "features=x* intercept=false" };
    for (size_t k = 0; k < 3; k++) {
        char qr[128], gram[128];
        snprintf(qr, sizeof qr, "target=y solver=qr %s", rest[k]);
        snprintf(gram, sizeof gram, "target=y solver=gram %s", rest[k]);
        cr_model *a = fit(cx, "linear", t, qr), *b = fit(cx, "linear", t, gram);
        check_solver(cx, a, "qr");
        check_solver(cx, b, "gram");
        json_t *da = describe(cx, a), *db = describe(cx, b);
        for (size_t j = k == 2; j <= p; j++) {
            assert_relative(coefficient(da, j, "value"), coefficient(db, j, "value"), 1e-10);
            assert_relative(coefficient(da, j, "sd"), coefficient(db, j, "sd"), 1e-10);
        }
        for (size_t s = 0; s < sizeof statistics / sizeof *statistics; s++)
            assert_relative(statistic(da, statistics[s]), statistic(db, statistics[s]), 1e-10);
        assert_relative(statistic(da, "loocv"), statistic(db, "loocv"), 1e-10);
    }
}

/* Powers of numbers far from 0, but not so far that they are centred, are no work for cross-products: QR does it, and
 * the answer says so. */
TEST(gram_gives_way)
{
    enum { n = 40 };
    double   x[n], y[n];
    warnings log = { .n = 0 };
    for (size_t i = 0; i < n; i++) x[i] = 1080 + (double)i, y[i] = sin(0.1 * (double)i);
    cr_table *t = make_table(cx, x, n, 1, y, NULL);
    cr_ctx_set_log(cx, keep_warning, &log);
    cr_model *a = fit(cx, "linear", t, "target=y basis=poly:3 solver=gram");
    cr_ctx_set_log(cx, NULL, NULL);
    assert_non_null(strstr(log.text, "solved by QR"));
    check_solver(cx, a, "qr");
    cr_model     *b = fit(cx, "linear", t, "target=y basis=poly:3 solver=qr");
    cr_prediction pa = predict(cx, a, t), pb = predict(cx, b, t);
    assert_memory_equal(pa.mean, pb.mean, sizeof x);
}

/* --- leverage, leave-one-out ----------------------------------------------------------------- */

/* x_i^T (X^T W X)^-1 x_j for the rows of X with a column of ones before it. */
static void dense_hat(const double *X, size_t n, size_t p, const double *w, long double *H)
{
    size_t       q = p + 1;
    long double *G = calloc(q * q, sizeof *G), *B = calloc(q * n, sizeof *B);
#define CELL(i, j) ((long double)((j) ? X[(i)*p + (j)-1] : 1))
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < q; a++) {
            B[a * n + i] = CELL(i, a);
            for (size_t b = 0; b < q; b++)
                G[a * q + b] += (w ? (long double)w[i] : 1) * CELL(i, a) * CELL(i, b);
        }
    solve_dense(q, G, B, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            H[i * n + j] = 0;
            for (size_t a = 0; a < q; a++) H[i * n + j] += CELL(i, a) * B[a * n + j];
        }
#undef CELL
    free(G);
    free(B);
}

TEST(leverage_and_intervals)
{
    double      X[N * P], y[N], w[N];
    long double H[N * N];
    draw_regression(6, N, P, 0.7, X, y);
    for (size_t i = 0; i < N; i++) w[i] = 0.25 + 0.5 * (double)(i % 5);
    cr_table *t = make_table(cx, X, N, P, y, w);
    for (int weighted = 0; weighted < 2; weighted++) {
        cr_model *m =
            fit(cx, "linear", t, weighted ? "target=y weights=w" : "target=y features=x*");
        cr_prediction q = predict(cx, m, t);
        json_t       *d = describe(cx, m);
        double        s = statistic(d, "residual_sd"), top = 0, rss = 0, total = 0;
        dense_hat(X, N, P, weighted ? w : NULL, H);
        for (size_t i = 0; i < N; i++) {
            long double mean = 0;
            for (size_t j = 0; j < N; j++) mean += H[i * N + j] * (weighted ? w[j] : 1) * y[j];
            double h = (double)H[i * N + i], wi = weighted ? w[i] : 1;
            assert_close(q.leverage[i], h, 1e-12);
            assert_close(q.mean[i], (double)mean, 1e-12);
            assert_close(q.scale[i], s * sqrt(1 + h), 1e-12);
            rss += wi * pow(y[i] - (double)mean, 2);
            total += wi;
            if (wi * h > top) top = wi * h;
        }
        assert_close(statistic(d, "max_leverage"), top, 1e-12);
        assert_close(s, sqrt(rss / (total - P - 1)), 1e-12);
        assert_close(q.dof[0], total - P - 1, 1e-12);
    }
}

/* t quantiles from the tables: 2.570581835636314 for 0.975 and 4.032142983555228 for 0.995, both
 * with 5 degrees of freedom. */
TEST(interval_formula)
{
    double        x[7] = { 1, 2, 3, 4, 5, 6, 7 }, y[7] = { 1.1, 1.9, 3.2, 3.9, 5.3, 5.8, 7.1 };
    double        sd, lower, upper;
    cr_table     *t = make_table(cx, x, 7, 1, y, NULL);
    cr_model     *m = fit(cx, "linear", t, "target=y");
    cr_prediction q = predict(cx, m, t);
    for (size_t i = 0; i < 7; i++) {
        cr_prediction_interval(cx, &q, i, 0.95, &sd, &lower, &upper);
        assert_close(upper - q.mean[i], 2.570581835636314 * q.scale[i], 1e-13);
        assert_close(q.mean[i] - lower, 2.570581835636314 * q.scale[i], 1e-13);
        assert_close(sd, q.scale[i] * sqrt(5.0 / 3.0), 1e-14);
        cr_prediction_interval(cx, &q, i, 0.99, &sd, &lower, &upper);
        assert_close(upper - lower, 2 * 4.032142983555228 * q.scale[i], 1e-13);
    }
    json_t *d = describe(cx, m);
    for (size_t j = 0; j < 2; j++) {
        double value = coefficient(d, j, "value"), se = coefficient(d, j, "sd");
        assert_close(coefficient(d, j, "lower"), value - 2.570581835636314 * se, 1e-13);
        assert_close(coefficient(d, j, "upper"), value + 2.570581835636314 * se, 1e-13);
    }
}

/* The mean squared error of predicting each row by a fit to all others. */
TEST(loocv_by_refitting)
{
    double X[N * P], y[N], w[N], XX[N * P], yy[N], ww[N];
    draw_regression(7, N, P, 0.7, X, y);
    for (size_t i = 0; i < N; i++) w[i] = 0.5 + (double)(i % 3);
    for (int weighted = 0; weighted < 2; weighted++) {
        const char *settings = weighted ? "target=y weights=w" : "target=y features=x*";
        double      sum = 0, total = 0;
        for (size_t out = 0; out < N; out++) {
            size_t n = 0;
            for (size_t i = 0; i < N; i++) {
                if (i == out) continue;
                memcpy(XX + n * P, X + i * P, P * sizeof(double));
                yy[n] = y[i], ww[n++] = w[i];
            }
            cr_table     *train = make_table(cx, XX, n, P, yy, ww);
            cr_table     *test = make_table(cx, X + out * P, 1, P, y + out, w + out);
            cr_model     *m = fit(cx, "linear", train, settings);
            cr_prediction q = predict(cx, m, test);
            double        wi = weighted ? w[out] : 1;
            sum += wi * pow(y[out] - q.mean[0], 2);
            total += wi;
        }
        cr_table *t = make_table(cx, X, N, P, y, w);
        cr_model *m = fit(cx, "linear", t, settings);
        json_t   *d = describe(cx, m);
        assert_relative(statistic(d, "loocv"), sum / total, 1e-11);
    }
}

/* --- statistics by their formulas ------------------------------------------------------------ */

TEST(statistics)
{
    double X[N * P], y[N], mean = 0, tss = 0, rss = 0;
    draw_regression(8, N, P, 2, X, y);
    cr_table     *t = make_table(cx, X, N, P, y, NULL);
    cr_model     *m = fit(cx, "linear", t, "target=y");
    cr_prediction q = predict(cx, m, t);
    json_t       *d = describe(cx, m);
    for (size_t i = 0; i < N; i++) mean += y[i] / N;
    for (size_t i = 0; i < N; i++) tss += pow(y[i] - mean, 2), rss += pow(y[i] - q.mean[i], 2);
    double dof = N - P - 1, r2 = 1 - rss / tss, f = (tss - rss) / P / (rss / dof);
    double loglik = 0, k = P + 2; /* intercept and noise are parameters too */
    for (size_t i = 0; i < N; i++)
        loglik -= 0.5 * (log(2 * M_PI * rss / N) + pow(y[i] - q.mean[i], 2) / (rss / N));
    assert_relative(statistic(d, "rss"), rss, 1e-12);
    assert_close(statistic(d, "r2"), r2, 1e-12);
    assert_close(statistic(d, "adjusted_r2"), 1 - (1 - r2) * (N - 1) / dof, 1e-12);
    assert_relative(statistic(d, "f"), f, 1e-12);
    assert_relative(statistic(d, "f_p"), cr_f_sf(f, P, dof), 1e-10);
    assert_relative(statistic(d, "aic"), 2 * k - 2 * loglik, 1e-12);
    assert_relative(statistic(d, "bic"), k * log(N) - 2 * loglik, 1e-12);
    assert_relative(cr_model_get_report(m)->log_likelihood, loglik, 1e-12);
    for (size_t j = 0; j <= P; j++) {
        double ratio = coefficient(d, j, "value") / coefficient(d, j, "sd");
        assert_relative(coefficient(d, j, "t"), ratio, 1e-13);
        assert_relative(coefficient(d, j, "p"), cr_student_t_two_sided(ratio, dof), 1e-13);
    }
    cr_model_free(cx, m);

    m = fit(cx, "linear", t, "target=y features=x2"); /* one term: F is the square of its t */
    d = describe(cx, m);
    assert_relative(statistic(d, "f"), pow(coefficient(d, 2, "t"), 2), 1e-11);
    assert_relative(statistic(d, "f_p"), coefficient(d, 2, "p"), 1e-10);
    cr_model_free(cx, m);

    m = fit(cx, "linear", t, "target=y intercept=false"); /* about zero without an intercept */
    d = describe(cx, m);
    tss = 0;
    for (size_t i = 0; i < N; i++) tss += y[i] * y[i];
    r2 = 1 - statistic(d, "rss") / tss;
    assert_close(statistic(d, "r2"), r2, 1e-12);
    assert_close(statistic(d, "adjusted_r2"), 1 - (1 - r2) * N / (double)(N - P), 1e-12);
    assert_int_equal(json_array_size(json_object_get(d, "parameters")), P);
}

/* --- laws ------------------------------------------------------------------------------------ */

/* x_j -> a_j x_j + c_j and y -> s y + o: the answers move along. */
TEST(scales_and_shifts)
{
    const double a[P] = { 1e-3, 7, -250, 1e5 }, c[P] = { 4, -1e3, 0.5, 3e4 }, s = -32, o = 1e4;
    double       X[N * P], y[N], Z[N * P], v[N];
    draw_regression(9, N, P, 0.7, X, y);
    for (size_t i = 0; i < N; i++) {
        v[i] = s * y[i] + o;
        for (size_t j = 0; j < P; j++) Z[i * P + j] = a[j] * X[i * P + j] + c[j];
    }
    cr_table     *t = make_table(cx, X, N, P, y, NULL), *u = make_table(cx, Z, N, P, v, NULL);
    cr_model     *m = fit(cx, "linear", t, "target=y"), *k = fit(cx, "linear", u, "target=y");
    cr_prediction p = predict(cx, m, t), q = predict(cx, k, u);
    json_t       *d = describe(cx, m), *e = describe(cx, k);
    double        b0 = s * coefficient(d, 0, "value") + o;
    for (size_t j = 1; j <= P; j++) {
        double f = s / a[j - 1];
        assert_relative(coefficient(e, j, "value"), f * coefficient(d, j, "value"), 1e-10);
        assert_relative(coefficient(e, j, "sd"), fabs(f) * coefficient(d, j, "sd"), 1e-10);
        b0 -= coefficient(e, j, "value") * c[j - 1];
    }
    assert_relative(coefficient(e, 0, "value"), b0, 1e-10);
    assert_relative(statistic(e, "rss"), s * s * statistic(d, "rss"), 1e-10);
    assert_relative(statistic(e, "r2"), statistic(d, "r2"), 1e-10);
    assert_relative(statistic(e, "f"), statistic(d, "f"), 1e-10);
    for (size_t i = 0; i < N; i++) {
        assert_relative(q.mean[i], s * p.mean[i] + o, 1e-10);
        assert_relative(q.scale[i], fabs(s) * p.scale[i], 1e-10);
        assert_relative(q.leverage[i], p.leverage[i], 1e-10);
    }
}

/* Numbers whose squares overflow or vanish are no reason to lose a column. */
TEST(extreme_sizes)
{
    const double sizes[] = { 1e-250, 1e-160, 1e-100, 1e100, 1e160, 1e250 };
    double       X[N * P], y[N], Z[N * P];
    draw_regression(11, N, P, 0.7, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_model *m = fit(cx, "linear", t, "target=y");
    json_t   *d = describe(cx, m);
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
        double size = sizes[k / 2];
        for (size_t i = 0; i < N * P; i++) Z[i] = size * X[i];
        cr_table     *u = make_table(cx, Z, N, P, y, NULL);
        cr_model     *b = fit(cx, "linear", u, k % 2 ? "target=y solver=gram" : "target=y");
        cr_prediction p = predict(cx, m, t), q = predict(cx, b, u);
        json_t       *e = describe(cx, b);
        for (size_t j = 1; j <= P; j++) {
            assert_relative(coefficient(e, j, "value") * size, coefficient(d, j, "value"), 1e-10);
            assert_relative(coefficient(e, j, "sd") * size, coefficient(d, j, "sd"), 1e-10);
        }
        for (size_t i = 0; i < N; i++) {
            assert_close(q.mean[i], p.mean[i], 1e-10);
            assert_close(q.scale[i], p.scale[i], 1e-10);
        }
    }
}

/* A target whose squares overflow is refused in words, not kept as an infinite sum. */
TEST(huge_target_is_refused)
{
    const char *const settings[] = { "target=y", "target=y solver=gram" };
    double            X[N * P], y[N];
    draw_regression(12, N, P, 0.7, X, y);
    for (size_t i = 0; i < N; i++) y[i] *= 1e200;
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    for (size_t s = 0; s < 2; s++) {
        cr_model *m = NULL;
        assert_fails_with(cx, try_fit(cx, "linear", t, settings[s], &m), CR_ENUMERIC, "overflow");
        assert_null(m);
    }
}

/* A sum of two columns that was rounded when it was written is still their sum. */
TEST(rounded_dependence_is_named)
{
    enum { p = 3 };
    const double means[][2] = { { 1000, 500 }, { 1e6, 0 }, { 0, -1e7 }, { 3e-4, 2 } };
    double       X[N * p], y[N];
    for (size_t k = 0; k < sizeof means / sizeof *means; k++) {
        warnings log = { .n = 0 };
        draw_regression(13 + k, N, p, 0.5, X, y);
        for (size_t i = 0; i < N; i++) {
            X[i * p] = means[k][0] + X[i * p];
            X[i * p + 1] = means[k][1] + 300 * X[i * p + 1];
            X[i * p + 2] = X[i * p] - X[i * p + 1] / 3;
        }
        cr_table *t = make_table(cx, X, N, p, y, NULL);
        cr_ctx_set_log(cx, keep_warning, &log);
        cr_model *a = fit(cx, "linear", t, "target=y");
        cr_ctx_set_log(cx, NULL, NULL);
        cr_model     *b = fit(cx, "linear", t, "target=y features=x1,x2");
        cr_prediction pa = predict(cx, a, t), pb = predict(cx, b, t);
        json_t       *d = describe(cx, a);
        assert_non_null(strstr(log.text, "is a linear combination of the other columns"));
        assert_int_equal(log.n, 1);
        assert_int_equal((int)statistic(d, "rank"), 2);
        for (size_t i = 0; i < N; i++) assert_close(pa.mean[i], pb.mean[i], 1e-6);
    }
}

/* Near to dependence, but told apart by the data: no column is lost, every digit stays. */
TEST(near_dependence_is_kept)
{
    double X[N * 2], y[N];
    draw_regression(17, N, 2, 0.5, X, y);
    for (size_t i = 0; i < N; i++) {
        double apart = X[i * 2 + 1];
        X[i * 2 + 1] = X[i * 2] + 1e-9 * apart;
        y[i] = X[i * 2] + 2e9 * (X[i * 2 + 1] - X[i * 2]) + (i % 2 ? 0.1 : -0.1);
    }
    cr_table *t = make_table(cx, X, N, 2, y, NULL);
    cr_model *m = fit(cx, "linear", t, "target=y");
    json_t   *d = describe(cx, m);
    assert_int_equal((int)statistic(d, "rank"), 2);
    long double G[9] = { 0 }, b[3] = { 0 };
    for (size_t i = 0; i < N; i++) { /* in the coordinates 1, x1, x2 - x1, that are exact */
        long double z[3] = { 1, X[i * 2], (long double)X[i * 2 + 1] - X[i * 2] };
        for (size_t j = 0; j < 3; j++) {
            b[j] += z[j] * y[i];
            for (size_t k = 0; k < 3; k++) G[j * 3 + k] += z[j] * z[k];
        }
    }
    solve_dense(3, G, b, 1);
    assert_relative(coefficient(d, 2, "value"), (double)b[2], 1e-12);
    assert_relative(coefficient(d, 1, "value"), (double)(b[1] - b[2]), 1e-12);
    assert_relative(coefficient(d, 0, "value"), (double)b[0], 1e-9);
}

/* A constant target is all intercept: no F, and a spread that is rounding is said to tell nothing. */
TEST(constant_target)
{
    warnings log = { .n = 0 };
    double   X[N * P], y[N];
    draw_regression(18, N, P, 0.7, X, y);
    for (size_t i = 0; i < N; i++) y[i] = 0.1;
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_ctx_set_log(cx, keep_warning, &log);
    cr_model *m = fit(cx, "linear", t, "target=y");
    cr_ctx_set_log(cx, NULL, NULL);
    json_t *d = describe(cx, m);
    assert_non_null(strstr(log.text, "the target 'y' has the same value in every row"));
    assert_close(coefficient(d, 0, "value"), 0.1, 1e-15);
    for (size_t j = 1; j <= P; j++) assert_close(coefficient(d, j, "value"), 0, 1e-15);
    assert_true(isnan(statistic(d, "r2")) && isnan(statistic(d, "f")) &&
                isnan(statistic(d, "f_p")));
}

typedef struct heard {
    size_t identified, perfect;
} heard;

static void count_kinds(void *user, cr_log_level level, const char *text)
{
    heard *h = user;
    if (level != CR_LOG_WARNING) return;
    h->identified += strstr(text, "its coefficient is not identified and was set to 0") != NULL;
    h->perfect += strstr(text, "essentially perfect") != NULL;
}

/* Of columns that depend on each other the earlier stay: a, b, a + b, and nearly a once more. */
TEST(earlier_columns_stay)
{
    enum { n = 60 };
    const char *const solvers[] = { "target=y", "target=y solver=qr", "target=y solver=gram" };
    double            X[n * 4], y[n];
    cr_rng            r = cr_rng_stream(3, 1);
    for (size_t i = 0; i < n; i++) {
        double a = cr_rng_normal(&r), b = cr_rng_normal(&r);
        X[4 * i] = a, X[4 * i + 1] = b, X[4 * i + 2] = a + b, X[4 * i + 3] = 1.0000001 * a;
        y[i] = 2 * a + b + cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, X, n, 4, y, NULL);
    for (size_t k = 0; k < 3; k++) {
        heard h = { 0 };
        cr_ctx_set_log(cx, count_kinds, &h);
        json_t *d = describe(cx, fit(cx, "linear", t, solvers[k]));
        cr_ctx_set_log(cx, NULL, NULL);
        assert_int_equal(h.identified, 2);
        assert_int_equal(h.perfect, 0);
        assert_close(coefficient(d, 1, "value"), 2, 0.5);
        assert_close(coefficient(d, 2, "value"), 1, 0.5);
        for (size_t j = 3; j <= 4; j++) assert_true(coefficient(d, j, "value") == 0);
        assert_true(coefficient(d, 1, "sd") > 0 && coefficient(d, 2, "sd") > 0);
    }
}

TEST(perfect_fit)
{
    double x[6] = { 1, 2, 4, 7, 9, 12 }, y[6];
    heard  h = { 0 };
    for (size_t i = 0; i < 6; i++) y[i] = 3 - 2 * x[i];
    cr_ctx_set_log(cx, count_kinds, &h);
    fit(cx, "linear", make_table(cx, x, 6, 1, y, NULL), "target=y");
    assert_int_equal(h.perfect, 1);
    y[2] += 1e-6;
    fit(cx, "linear", make_table(cx, x, 6, 1, y, NULL), "target=y");
    assert_int_equal(h.perfect, 1);
    cr_ctx_set_log(cx, NULL, NULL);
}
