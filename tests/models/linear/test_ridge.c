/* test_ridge.c -- ridge against the dense normal equations in long double, primal against dual,
 * real refits, and the reference answers. */
#include "../fixture.h"

enum { N = 19, P = 5 };

/* Everything about one ridge problem by the definition: Z centred (with an intercept) and scaled,
 * A = (Z^T W Z + lambda I)^-1. */
typedef struct oracle {
    size_t      n, p;
    bool        intercept;
    long double weight, b0, df, rss, sigma2, loocv;
    long double centre[64], scale[64], coef[64], A[64 * 64];
} oracle;

static long double scaled(const oracle *o, const double *X, size_t i, size_t j)
{
    return ((long double)X[i * o->p + j] - o->centre[j]) / o->scale[j];
}

static long double leverage_of(const oracle *o, const double *x)
{
    long double h = o->intercept ? 1 / o->weight : 0;
    for (size_t j = 0; j < o->p; j++)
        for (size_t k = 0; k < o->p; k++)
            h += scaled(o, x, 0, j) * o->A[j * o->p + k] * scaled(o, x, 0, k);
    return h;
}

static void measure(oracle *o, const double *X, const double *w, bool standardise)
{
    o->weight = 0;
    for (size_t i = 0; i < o->n; i++) o->weight += w ? w[i] : 1;
    for (size_t j = 0; j < o->p; j++) {
        long double mean = 0, square = 0;
        for (size_t i = 0; i < o->n; i++)
            mean += (w ? w[i] : 1) * (long double)X[i * o->p + j] / o->weight;
        for (size_t i = 0; i < o->n; i++)
            square += (w ? w[i] : 1) * (X[i * o->p + j] - mean) * (X[i * o->p + j] - mean);
        o->centre[j] = o->intercept ? mean : 0;
        o->scale[j] = standardise ? sqrtl(square / o->weight) : 1;
    }
}

static void solve_oracle(oracle *o, const double *X, const double *y, const double *w,
                         double lambda, bool standardise)
{
    size_t      p = o->p;
    long double G[64 * 64] = { 0 }, K[64 * 64], b[64] = { 0 }, mean = 0;
    measure(o, X, w, standardise);
    for (size_t i = 0; i < o->n; i++) mean += (w ? w[i] : 1) * (long double)y[i] / o->weight;
    if (!o->intercept) mean = 0;
    for (size_t i = 0; i < o->n; i++)
        for (size_t j = 0; j < p; j++) {
            b[j] += (w ? w[i] : 1) * scaled(o, X, i, j) * (y[i] - mean);
            for (size_t k = 0; k < p; k++)
                G[j * p + k] += (w ? w[i] : 1) * scaled(o, X, i, j) * scaled(o, X, i, k);
        }
    memset(o->A, 0, sizeof o->A);
    for (size_t j = 0; j < p; j++) {
        for (size_t k = 0; k < p; k++) K[j * p + k] = G[j * p + k] + (j == k ? lambda : 0);
        o->A[j * p + j] = 1;
    }
    solve_dense(p, K, o->A, p);
    o->df = o->intercept, o->b0 = mean, o->rss = 0, o->loocv = 0;
    for (size_t j = 0; j < p; j++) {
        o->coef[j] = 0;
        for (size_t k = 0; k < p; k++) {
            o->coef[j] += o->A[j * p + k] * b[k];
            o->df += G[j * p + k] * o->A[k * p + j];
        }
    }
    for (size_t i = 0; i < o->n; i++) {
        long double e = y[i] - mean, wi = w ? w[i] : 1, h = wi * leverage_of(o, X + i * p);
        for (size_t j = 0; j < p; j++) e -= scaled(o, X, i, j) * o->coef[j];
        o->rss += wi * e * e;
        o->loocv += wi * (e / (1 - h)) * (e / (1 - h)) / o->weight;
    }
    o->sigma2 = o->rss / (o->weight - o->df);
    if (o->weight - o->df < 1 && lambda > 0) { /* b and the rows under the prior */
        long double square = o->rss;
        for (size_t j = 0; j < p; j++) square += lambda * o->coef[j] * o->coef[j];
        o->sigma2 = square / (o->weight - o->intercept);
    }
    for (size_t j = 0; j < p; j++) {
        o->coef[j] /= o->scale[j];
        o->b0 -= o->coef[j] * o->centre[j];
    }
}

static void check_fit(cr_ctx *cx, const cr_model *m, const cr_table *t, const oracle *o,
                      const double *X, double tolerance)
{
    json_t       *d = describe(cx, m);
    cr_prediction q = predict(cx, m, t);
    double        n = (double)o->weight, df = (double)o->df;
    assert_close(statistic(d, "effective_df"), df, tolerance);
    assert_close(statistic(d, "rss"), (double)o->rss, tolerance);
    assert_close(statistic(d, "gcv"), n * (double)o->rss / ((n - df) * (n - df)), tolerance);
    assert_close(statistic(d, "loocv"), (double)o->loocv, 30 * tolerance); /* 1 - h may be small */
    assert_close(statistic(d, "residual_sd"), sqrt((double)o->sigma2), tolerance);
    for (size_t j = 0; j < o->p; j++) {
        double sd = sqrt((double)(o->sigma2 * o->A[j * o->p + j])) / (double)o->scale[j];
        assert_close(coefficient(d, j + 1, "value"), (double)o->coef[j], tolerance);
        assert_close(coefficient(d, j + 1, "sd"), sd, tolerance);
    }
    if (o->intercept) {
        double zero[64] = { 0 };
        assert_close(coefficient(d, 0, "value"), (double)o->b0, tolerance);
        assert_close(coefficient(d, 0, "sd"), sqrt((double)(o->sigma2 * leverage_of(o, zero))),
                     tolerance);
    }
    for (size_t i = 0; i < o->n; i++) {
        double mean = (double)o->b0, h = (double)leverage_of(o, X + i * o->p);
        for (size_t j = 0; j < o->p; j++) mean += (double)o->coef[j] * X[i * o->p + j];
        assert_close(q.mean[i], mean, tolerance);
        assert_close(q.leverage[i], h, tolerance);
        assert_close(q.scale[i], sqrt((double)o->sigma2 * (1 + h)), tolerance);
    }
}

/* All of intercept, scale, weights, solver, for tall and wide data. */
TEST(normal_equations)
{
    const size_t sizes[][2] = { { N, P }, { 7, 12 }, { 12, 12 }, { 2, 1 } };
    const double lambdas[] = { 0.03, 1, 40 };
    double       X[300], y[64], w[64];
    for (size_t s = 0; s < 4; s++) {
        size_t n = sizes[s][0], p = sizes[s][1];
        draw_regression(s, n, p, 0.8, X, y);
        for (size_t i = 0; i < n; i++) w[i] = 0.5 + 0.75 * (double)(i % 3);
        cr_table *t = make_table(cx, X, n, p, y, w);
        for (unsigned bits = 0; bits < 48; bits++) {
            oracle o = { .n = n, .p = p, .intercept = bits & 1 };
            bool   standardise = bits & 2, weighted = bits & 4, dual = bits & 8;
            double lambda = lambdas[bits / 16];
            char   settings[256];
            snprintf(settings, sizeof settings,
                     "target=y features=x* lambda=%g intercept=%s scale=%s solver=%s %s", lambda,
                     o.intercept ? "true" : "false", standardise ? "standard" : "none",
                     dual ? "dual" : "primal", weighted ? "weights=w" : "");
            solve_oracle(&o, X, y, weighted ? w : NULL, lambda, standardise);
            cr_model *m = fit(cx, "ridge", t, settings);
            check_fit(cx, m, t, &o, X, 1e-9);
        }
    }
}

TEST(auto_takes_the_smaller)
{
    double X[N * P], y[N];
    draw_regression(5, N, P, 0.8, X, y);
    cr_table *tall = make_table(cx, X, N, P, y, NULL), *wide = make_table(cx, X, 4, P, y, NULL);
    cr_model *a = fit(cx, "ridge", tall, "target=y"), *b = fit(cx, "ridge", wide, "target=y");
    check_solver(cx, a, "primal");
    check_solver(cx, b, "dual");
    cr_model *c = NULL;
    assert_fails_with(cx, cr_update(cx, b, tall, &c), CR_EUNSUPPORTED, "dual");
}

/* lambda = 0 is least squares where that has an answer, and is refused where it has none. */
TEST(no_penalty)
{
    double X[N * P], y[N];
    draw_regression(6, N, P, 0.8, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_model *a = fit(cx, "ridge", t, "target=y lambda=0"), *b = fit(cx, "linear", t, "target=y");
    json_t   *da = describe(cx, a), *db = describe(cx, b);
    cr_model *none = NULL;
    for (size_t j = 0; j <= P; j++) {
        assert_close(coefficient(da, j, "value"), coefficient(db, j, "value"), 1e-10);
        assert_close(coefficient(da, j, "sd"), coefficient(db, j, "sd"), 1e-10);
    }
    assert_close(statistic(da, "effective_df"), P + 1, 1e-12);
    assert_close(statistic(da, "loocv"), statistic(db, "loocv"), 1e-10);
    cr_model_free(cx, a);
    cr_model_free(cx, b);
    cr_table_free(cx, t);

    for (size_t i = 0; i < N; i++) X[i * P + 2] = X[i * P] - X[i * P + 1];
    t = make_table(cx, X, N, P, y, NULL);
    const char *const settings[] = { "target=y lambda=0", "target=y lambda=0 scale=none",
                                     "target=y lambda=0 solver=dual" };
    for (size_t s = 0; s < 3; s++) {
        assert_fails_with(cx, try_fit(cx, "ridge", t, settings[s], &none), CR_ENUMERIC,
                          "linearly dependent and lambda is");
        assert_true(strlen(cr_error_hint(cx)) > 0);
    }
    cr_model *c = fit(cx, "ridge", t, "target=y lambda=1e-30"); /* the least penalty will do */
    cr_model_free(cx, c);
    cr_table_free(cx, t);
    t = make_table(cx, X, 4, P, y, NULL); /* more columns than rows */
    assert_fails_with(cx, try_fit(cx, "ridge", t, "target=y lambda=0", &none), CR_ENUMERIC,
                      "linearly dependent and lambda is");
    assert_fails_with(cx, try_fit(cx, "ridge", t, "target=y lambda=0 solver=primal", &none),
                      CR_ENUMERIC, "linearly dependent and lambda is");
}

TEST(strong_penalty)
{
    double X[N * P], y[N], mean = 0, tss = 0;
    draw_regression(7, N, P, 0.8, X, y);
    for (size_t i = 0; i < N; i++) mean += y[i] / N;
    for (size_t i = 0; i < N; i++) tss += pow(y[i] - mean, 2);
    cr_table     *t = make_table(cx, X, N, P, y, NULL);
    cr_model     *m = fit(cx, "ridge", t, "target=y lambda=1e12");
    cr_prediction q = predict(cx, m, t);
    json_t       *d = describe(cx, m);
    for (size_t i = 0; i < N; i++) assert_close(q.mean[i], mean, 1e-10);
    assert_close(statistic(d, "effective_df"), 1, 1e-9);
    assert_close(statistic(d, "rss"), tss, 1e-9);
}

/* Leaving a row out and fitting again; the columns are not scaled, so that the penalty stays. */
/* Many more columns than rows and a weak penalty leave nothing of the residuals: intervals are finite, hold for
 * coefficients from the prior, and the weak penalty is named. */
TEST(weak_penalty_of_many_columns)
{
    enum { ROWS = 20, COLUMNS = 200, NEW = 10, RUNS = 60 };
    static double X[(ROWS + NEW) * COLUMNS];
    double        y[ROWS + NEW], held = 0, count = 0;
    warnings      said = { 0 };
    cr_ctx_set_log(cx, keep_warning, &said);
    for (uint64_t run = 0; run < RUNS; run++) {
        cr_rng r = cr_rng_stream(run, 61);
        double b[COLUMNS];
        draw_normals(&r, X, (ROWS + NEW) * COLUMNS), draw_normals(&r, b, COLUMNS);
        for (size_t i = 0; i < ROWS + NEW; i++) {
            y[i] = cr_rng_normal(&r);
            for (size_t j = 0; j < COLUMNS; j++) y[i] += b[j] * X[i * COLUMNS + j];
        }
        cr_model     *m = fit(cx, "ridge", make_table(cx, X, ROWS, COLUMNS, y, NULL), "target=y");
        cr_prediction q =
            predict(cx, m, make_table(cx, X + ROWS * COLUMNS, NEW, COLUMNS, NULL, NULL));
        for (size_t i = 0; i < NEW; i++, count++) {
            double sd, low, high;
            assert_ok(cx, cr_prediction_interval(cx, &q, i, 0.95, &sd, &low, &high));
            assert_true(high - low < 1000);
            held += low < y[ROWS + i] && y[ROWS + i] < high;
        }
        cr_model_free(cx, m);
    }
    assert_int_equal(said.n, RUNS);
    assert_non_null(strstr(said.text, "the penalty is so weak"));
    assert_true(held / count > 0.92 && held / count < 0.98);
}

TEST(loocv_by_refitting)
{
    double            X[N * P], y[N], XX[N * P], yy[N], sum = 0;
    const char *const settings[] = { "target=y lambda=2 scale=none",
                                     "target=y lambda=2 scale=none solver=dual" };
    draw_regression(8, N, P, 0.8, X, y);
    for (size_t out = 0; out < N; out++) {
        size_t n = 0;
        for (size_t i = 0; i < N; i++) {
            if (i == out) continue;
            memcpy(XX + n * P, X + i * P, P * sizeof(double));
            yy[n++] = y[i];
        }
        cr_table     *train = make_table(cx, XX, n, P, yy, NULL);
        cr_table     *test = make_table(cx, X + out * P, 1, P, y + out, NULL);
        cr_model     *m = fit(cx, "ridge", train, settings[0]);
        cr_prediction q = predict(cx, m, test);
        sum += pow(y[out] - q.mean[0], 2);
    }
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    for (size_t s = 0; s < 2; s++) {
        cr_model *m = fit(cx, "ridge", t, settings[s]);
        json_t   *d = describe(cx, m);
        assert_relative(statistic(d, "loocv"), sum / N, 1e-11);
    }
}

/* One row: its mean, and no claim about the noise. */
TEST(one_row)
{
    double        X[3] = { 1, 2, 3 }, y[1] = { 7 };
    cr_table     *t = make_table(cx, X, 1, 3, y, NULL);
    cr_model     *m = fit(cx, "ridge", t, "target=y");
    cr_prediction q = predict(cx, m, t);
    assert_close(q.mean[0], 7, 1e-15);
    assert_true(isnan(q.scale[0]));
}

/* Columns and targets whose squares cannot be held are refused in words. */
TEST(extreme_sizes)
{
    const char *const settings[] = { "target=y", "target=y solver=dual" };
    double            X[N * P], y[N];
    cr_model         *m = NULL;
    const double      factors[] = { 1e200, 1e-200 };
    const char *const words[] = { "so large that its squares overflow",
                                  "so small that its squares vanish" };
    for (size_t k = 0; k < 8; k++) {
        char what[128];
        bool target = k & 1, small = k & 2;
        draw_regression(10, N, P, 0.8, X, y);
        for (size_t i = 0; i < N; i++) *(target ? &y[i] : &X[i * P + 1]) *= factors[small];
        snprintf(what, sizeof what, "%s is %s", target ? "the target" : "term 2 of 5",
                 words[small]);
        cr_table *t = make_table(cx, X, N, P, y, NULL);
        assert_fails_with(cx, try_fit(cx, "ridge", t, settings[k / 4], &m), CR_ENUMERIC, what);
    }
}

TEST(reference)
{
    json_t *cases = reference_cases(cx, "ridge"), *item, *step;
    size_t  i, k, checked = 0;
    json_array_foreach(cases, i, item)
    {
        char      base[512], settings[600];
        json_t   *names = json_object_get(json_object_get(item, "data"), "features");
        cr_table *t = reference_table(cx, item, base, sizeof base);
        json_array_foreach(json_object_get(json_object_get(item, "expected"), "path"), k, step)
        {
            snprintf(settings, sizeof settings, "%s lambda=%.17g", base, number_of(step, "lambda"));
            cr_model *m = fit(cx, "ridge", t, settings);
            json_t   *d = describe(cx, m), *coef = json_object_get(step, "coef_raw");
            for (size_t j = 0; j < json_array_size(names); j++)
                assert_relative(parameter(d, json_string_value(json_array_get(names, j)), "value"),
                                element(coef, j), 1e-8);
            assert_relative(parameter(d, "intercept", "value"), number_of(step, "intercept_raw"),
                            1e-8);
            assert_relative(statistic(d, "effective_df"),
                            number_of(step, "effective_df_incl_intercept"), 1e-8);
            assert_relative(statistic(d, "rss"), number_of(step, "rss"), 1e-8);
            assert_relative(statistic(d, "gcv"), number_of(step, "gcv"), 1e-8);
            assert_relative(statistic(d, "loocv"), number_of(step, "loocv_mse"), 1e-8);
            cr_model_free(cx, m);
            checked++;
        }
    }
    assert_true(checked >= 10);
}
