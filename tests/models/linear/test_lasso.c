/* test_lasso.c -- lasso and elastic net against their optimality conditions in long double at every
 * lambda, closed forms, ridge and least squares. */
#include "models/core/faces.h"
#include "../life.h"

enum { N = 40, P = 6 };

/* --- the conditions from the definition ------------------------------------------------------ */

typedef struct problem {
    size_t        n, p;
    const double *X, *y, *w;
    bool          intercept, standardise;
    long double   weight, mean, centre[64], scale[64], sd;
} problem;

static long double weight_of(const problem *q, size_t i) { return q->w ? q->w[i] : 1; }

static void measure(problem *q)
{
    long double square = 0;
    q->weight = q->mean = 0;
    for (size_t i = 0; i < q->n; i++) q->weight += weight_of(q, i);
    for (size_t i = 0; i < q->n; i++) q->mean += weight_of(q, i) * q->y[i] / q->weight;
    if (!q->intercept) q->mean = 0;
    for (size_t i = 0; i < q->n; i++)
        square += weight_of(q, i) * (q->y[i] - q->mean) * (q->y[i] - q->mean);
    q->sd = sqrtl(square / q->weight);
    for (size_t j = 0; j < q->p; j++) {
        long double mean = 0, about = 0;
        for (size_t i = 0; i < q->n; i++) mean += weight_of(q, i) * q->X[i * q->p + j] / q->weight;
        for (size_t i = 0; i < q->n; i++)
            about += weight_of(q, i) * powl(q->X[i * q->p + j] - mean, 2);
        q->centre[j] = q->intercept ? mean : 0;
        q->scale[j] = q->standardise && about > 1e-20 ? sqrtl(about / q->weight) : 1;
    }
}

static long double z_of(const problem *q, size_t i, size_t j)
{
    return (q->X[i * q->p + j] - q->centre[j]) / q->scale[j];
}

/* The largest violation of the conditions by coefficients b of the standardised terms, in units of
 * the target's sd; *out_mse the mean of the squared residuals. */
static double violation(const problem *q, const double *b, double lambda, double r, double *out_mse)
{
    long double worst = 0, mse = 0, c[64] = { 0 };
    for (size_t i = 0; i < q->n; i++) {
        long double e = q->y[i] - q->mean;
        for (size_t j = 0; j < q->p; j++) e -= z_of(q, i, j) * b[j];
        mse += weight_of(q, i) * e * e / q->weight;
        for (size_t j = 0; j < q->p; j++) c[j] += weight_of(q, i) * z_of(q, i, j) * e / q->weight;
    }
    for (size_t j = 0; j < q->p; j++) {
        long double v = b[j] != 0
                            ? fabsl(c[j] - lambda * (1 - r) * b[j] - copysignl(lambda * r, b[j]))
                            : fmaxl(fabsl(c[j]) - lambda * r, 0);
        worst = fmaxl(worst, v / q->sd);
    }
    *out_mse = (double)mse;
    return (double)worst;
}

/* Checks every lambda of the path of a model; tolerance 1e-7 is that of the fit. */
static void check_path(const cr_model *m, const problem *q, double r, const json_t *d)
{
    cri_coefficient_path path = cri_model_path(m);
    json_t              *list = json_object_get(d, "path");
    double               last = INFINITY, lower = -1, mse;
    assert_int_equal(json_array_size(list), path.n_lambdas);
    for (size_t k = 0; k < path.n_lambdas; k++) {
        double  b[64] = { 0 };
        size_t  nonzero = 0;
        json_t *point = json_array_get(list, k);
        for (size_t a = 0; a < path.n_terms; a++) {
            b[(size_t)path.terms[a]] = path.coef[k * path.n_terms + a];
            nonzero += path.coef[k * path.n_terms + a] != 0;
        }
        double v = violation(q, b, path.lambda[k], r, &mse);
        if (!(v < 6e-7)) fail_msg("lambda %g is violated by %g", path.lambda[k], v);
        if (k == path.chosen) assert_true(v < 1e-11);
        assert_true(path.lambda[k] < last);
        assert_relative(number_of(point, "lambda"), path.lambda[k], 1e-15);
        assert_int_equal(number_of(point, "nonzero"), nonzero);
        assert_close(number_of(point, "r2"), 1 - mse / (double)(q->sd * q->sd), 1e-8);
        assert_true(number_of(point, "r2") > lower - 1e-9); /* it grows as lambda falls */
        lower = number_of(point, "r2");
        last = path.lambda[k];
        assert_int_equal(json_is_true(json_object_get(point, "chosen")), k == path.chosen);
    }
}

TEST(conditions_on_the_path)
{
    const size_t sizes[][2] = { { N, P }, { 12, 30 }, { 9, 9 }, { 3, 2 } };
    const double ratios[] = { 1, 0.6, 0.05 };
    double       X[N * 30], y[N], w[N];
    for (size_t s = 0; s < 4; s++) {
        size_t n = sizes[s][0], p = sizes[s][1];
        draw_regression(s, n, p, 0.8, X, y);
        for (size_t i = 0; i < n; i++) w[i] = 0.5 + 0.75 * (double)(i % 3);
        cr_table *t = make_table(cx, X, n, p, y, w);
        for (unsigned bits = 0; bits < 48; bits++) {
            double  r = ratios[bits / 16];
            problem q = {
                n, p, X, y, bits & 4 ? w : NULL, bits & 1, bits & 2, 0, 0, { 0 }, { 0 }, 0
            };
            char settings[256];
            snprintf(settings, sizeof settings,
                     "target=y features=x* intercept=%s scale=%s solver=%s l1_ratio=%g choose=bic "
                     "path=30 max_iter=100000 %s",
                     q.intercept ? "true" : "false", q.standardise ? "standard" : "none",
                     bits & 8 ? "columns" : "gram", r, q.w ? "weights=w" : "");
            measure(&q);
            cr_model *m = fit(cx, "lasso", t, settings);
            json_t   *d = describe(cx, m);
            assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
            assert_true(statistic(d, "kkt_violation") < 1e-11);
            check_path(m, &q, r, d);
        }
    }
}

/* --- closed forms ---------------------------------------------------------------------------- */

/* Orthogonal columns: each coefficient is shrunk on its own. */
TEST(orthogonal_design)
{
    double X[8 * 3], y[8] = { 3, -1, 4, 1, -5, 9, 2, 6 }, mean = 19 / 8.0;
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < 3; j++) X[i * 3 + j] = i >> j & 1 ? 1 : -1;
    cr_table         *t = make_table(cx, X, 8, 3, y, NULL);
    const double      lambdas[] = { 0.1, 0.7, 2 }, ratios[] = { 1, 0.4 };
    const char *const solvers[] = { "gram", "columns" };
    for (size_t k = 0; k < 12; k++) {
        double lambda = lambdas[k % 3], r = ratios[k / 3 % 2];
        char   settings[128];
        snprintf(settings, sizeof settings, "target=y lambda=%g l1_ratio=%g solver=%s", lambda, r,
                 solvers[k / 6]);
        cr_model *m = fit(cx, "lasso", t, settings);
        json_t   *d = describe(cx, m);
        for (size_t j = 0; j < 3; j++) {
            double c = 0;
            for (size_t i = 0; i < 8; i++) c += X[i * 3 + j] * y[i] / 8;
            double soft = fmax(fabs(c) - lambda * r, 0) / (1 + lambda * (1 - r));
            assert_close(coefficient(d, j + 1, "value"), copysign(soft, c), 1e-12);
            assert_int_equal(isnan(coefficient(d, j + 1, "sd")), soft == 0);
        }
        assert_close(coefficient(d, 0, "value"), mean, 1e-14);
    }
}

TEST(largest_lambda)
{
    double            X[N * P], y[N], mean = 0;
    const char *const kinds[] = { "", "l1_ratio=0.3", "solver=columns", "scale=none l1_ratio=0.7" };
    draw_regression(3, N, P, 0.8, X, y);
    for (size_t i = 0; i < N; i++) mean += y[i] / N;
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    for (size_t k = 0; k < 4; k++) {
        char settings[160];
        snprintf(settings, sizeof settings, "target=y choose=bic %s", kinds[k]);
        cr_model *m = fit(cx, "lasso", t, settings);
        json_t   *d = describe(cx, m);
        double    most = statistic(d, "lambda_max");
        assert_int_equal(cri_model_path(m).n_lambdas, 100);
        assert_relative(cri_model_path(m).lambda[99], 1e-4 * most, 1e-12);
        cr_model_free(cx, m);
        for (int below = 0; below < 2; below++) {
            snprintf(settings, sizeof settings, "target=y %s lambda=%.17g", kinds[k],
                     below ? most * 0.999 : most);
            m = fit(cx, "lasso", t, settings);
            d = describe(cx, m);
            assert_int_equal(statistic(d, "nonzero"), below);
            cr_prediction q = predict(cx, m, t);
            if (!below) assert_close(q.mean[0], mean, 1e-13);
        }
    }
}

/* r = 0 is ridge with n lambda, uncertainty and all: the normal of ridge is a t here. */
TEST(ridge)
{
    double            X[N * P], y[N], w[N];
    const char *const kinds[] = { "", "solver=columns", "weights=w scale=none", "intercept=false" };
    const char *const plain[] = { "", "", "weights=w scale=none", "intercept=false" };
    draw_regression(4, N, P, 0.8, X, y);
    for (size_t i = 0; i < N; i++) w[i] = 1 + (double)(i % 3);
    cr_table *t = make_table(cx, X, N, P, y, w);
    for (size_t k = 0; k < 4; k++) {
        char   a[160], b[160];
        double n = 0;
        for (size_t i = 0; i < N; i++) n += k == 2 ? w[i] : 1;
        snprintf(a, sizeof a, "target=y features=x* lambda=0.35 l1_ratio=0 %s", kinds[k]);
        snprintf(b, sizeof b, "target=y features=x* lambda=%.17g %s", 0.35 * n, plain[k]);
        cr_model     *m = fit(cx, "lasso", t, a), *o = fit(cx, "ridge", t, b);
        json_t       *d = describe(cx, m), *e = describe(cx, o);
        cr_prediction p = predict(cx, m, t), q = predict(cx, o, t);
        double        df = statistic(e, "effective_df");
        assert_relative(statistic(d, "effective_df"), df, 1e-10);
        assert_relative(statistic(d, "rss"), statistic(e, "rss"), 1e-10);
        assert_relative(statistic(d, "gcv"), statistic(e, "gcv"), 1e-10);
        for (size_t j = k == 3; j <= P; j++) {
            assert_relative(coefficient(d, j, "value"), coefficient(e, j, "value"), 1e-9);
            assert_relative(coefficient(d, j, "sd"), coefficient(e, j, "sd"), 1e-9);
        }
        for (size_t i = 0; i < N; i++) {
            assert_relative(p.mean[i], q.mean[i], 1e-9);
            assert_relative(p.scale[i], q.scale[i], 1e-9);
            assert_relative(p.leverage[i], q.leverage[i], 1e-9);
            assert_relative(p.dof[i], n - df, 1e-9);
        }
    }
}

/* lambda = 0 is least squares. */
TEST(no_penalty)
{
    double            X[N * P], y[N];
    const char *const settings[] = { "target=y lambda=0", "target=y lambda=0 solver=columns" };
    draw_regression(5, N, P, 0.8, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_model *o = fit(cx, "linear", t, "target=y");
    json_t   *e = describe(cx, o);
    for (size_t k = 0; k < 2; k++) {
        cr_model     *m = fit(cx, "lasso", t, settings[k]);
        json_t       *d = describe(cx, m);
        cr_prediction p = predict(cx, m, t), q = predict(cx, o, t);
        for (size_t j = 0; j <= P; j++)
            assert_relative(coefficient(d, j, "value"), coefficient(e, j, "value"), 1e-9);
        for (size_t i = 0; i < N; i++) {
            assert_relative(p.mean[i], q.mean[i], 1e-9);
            assert_relative(p.scale[i], q.scale[i], 1e-9);
            assert_relative(p.dof[i], q.dof[i], 1e-12);
        }
        assert_relative(statistic(d, "aic"), statistic(e, "aic"), 1e-9);
        assert_relative(statistic(d, "bic"), statistic(e, "bic"), 1e-9);
    }
}

/* --- degrees of freedom ---------------------------------------------------------------------- */

/* df of the elastic net by the trace, in long double. */
TEST(degrees_of_freedom)
{
    double X[N * P], y[N];
    draw_regression(8, N, P, 2, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    problem   q = { N, P, X, y, NULL, true, true, 0, 0, { 0 }, { 0 }, 0 };
    cr_model *m = fit(cx, "lasso", t, "target=y lambda=0.4 l1_ratio=0.5");
    json_t   *d = describe(cx, m);
    size_t    in[P], k = 0;
    measure(&q);
    for (size_t j = 0; j < P; j++)
        if (coefficient(d, j + 1, "value") != 0) in[k++] = j;
    assert_true(k > 1 && k < P);
    long double K[P * P], G[P * P], df = 1;
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            long double sum = 0;
            for (size_t i = 0; i < N; i++) sum += z_of(&q, i, in[a]) * z_of(&q, i, in[b]);
            G[a * k + b] = sum;
            K[a * k + b] = sum + (a == b ? N * 0.4L * 0.5L : 0);
        }
    solve_dense(k, K, G, k);
    for (size_t a = 0; a < k; a++) df += G[a * k + a];
    assert_relative(statistic(d, "effective_df"), (double)df, 1e-11);
    assert_relative(statistic(d, "residual_sd"), sqrt(statistic(d, "rss") / (N - (double)df)),
                    1e-12);
}

/* --- laws ------------------------------------------------------------------------------------ */

static void check_same_fit(cr_ctx *cx, const cr_table *a, const cr_table *b, const char *settings_a,
                           const char *settings_b, size_t p)
{
    cr_model *m = fit(cx, "lasso", a, settings_a), *o = fit(cx, "lasso", b, settings_b);
    json_t   *d = describe(cx, m), *e = describe(cx, o);
    for (size_t j = 0; j <= p; j++) {
        assert_close(coefficient(d, j, "value"), coefficient(e, j, "value"), 1e-9);
        if (!isnan(coefficient(d, j, "sd")))
            assert_relative(coefficient(d, j, "sd"), coefficient(e, j, "sd"), 1e-8);
    }
    assert_relative(statistic(d, "lambda"), statistic(e, "lambda"), 1e-12);
    assert_relative(statistic(d, "rss"), statistic(e, "rss"), 1e-9);
    if (!isnan(statistic(d, "cv_error"))) {
        assert_relative(statistic(d, "cv_error"), statistic(e, "cv_error"), 1e-7);
        assert_relative(statistic(d, "cv_se"), statistic(e, "cv_se"), 1e-6);
    }
    assert_relative(cr_model_get_report(m)->log_likelihood, cr_model_get_report(o)->log_likelihood,
                    1e-9);
}

/* Rows of weight 0 are in no fold: they may as well not be there. */
TEST(weights_of_zero)
{
    double X[N * P], y[N], w[N];
    draw_regression(10, N, P, 2, X, y);
    for (size_t i = 0; i < N; i++) w[i] = (double)(i % 4);
    cr_table *a = make_table(cx, X, N, P, y, w);
    double    some[N * P], sy[N], sw[N];
    size_t    m = 0;
    for (size_t i = 0; i < N; i++) {
        if (w[i] == 0) continue;
        memcpy(some + m * P, X + i * P, P * sizeof(double));
        sy[m] = y[i], sw[m++] = w[i];
    }
    cr_table *d = make_table(cx, some, m, P, sy, sw);
    check_same_fit(cx, a, d, "target=y features=x* weights=w", "target=y features=x* weights=w", P);
    check_same_fit(cx, a, d, "target=y features=x* weights=w solver=columns",
                   "target=y features=x* weights=w solver=columns", P);
}

/* Cross-products and columns: one answer, also with more terms than rows. */
TEST(both_solvers)
{
    static double     X[30 * 60];
    double            y[30];
    const char *const kinds[] = { "target=y", "target=y l1_ratio=0.4",
                                  "target=y choose=1se intercept=false", "target=y choose=bic" };
    draw_regression(11, 30, 60, 0.5, X, y);
    cr_table *t = make_table(cx, X, 30, 60, y, NULL);
    for (size_t k = 0; k < 4; k++) {
        char a[128], b[128];
        snprintf(a, sizeof a, "%s solver=gram tolerance=1e-11", kinds[k]);
        snprintf(b, sizeof b, "%s solver=columns tolerance=1e-11", kinds[k]);
        cr_model *m = fit(cx, "lasso", t, a), *o = fit(cx, "lasso", t, b);
        json_t   *d = describe(cx, m), *e = describe(cx, o);
        assert_relative(statistic(d, "lambda"), statistic(e, "lambda"), 1e-12);
        for (size_t j = 1; j <= 60; j++)
            assert_close(coefficient(d, j, "value"), coefficient(e, j, "value"), 1e-8);
    }
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(corners)
{
    double            X[N * P], y[N];
    const char *const solvers[] = { "target=y solver=gram", "target=y solver=columns" };
    draw_regression(12, N, P, 1, X, y);
    for (size_t k = 0; k < 2; k++) {
        /* one row: its mean, and no claim about the noise */
        cr_table     *t = make_table(cx, X, 1, P, y, NULL);
        cr_model     *m = fit(cx, "lasso", t, solvers[k]);
        cr_prediction q = predict(cx, m, t);
        assert_close(q.mean[0], y[0], 1e-15);
        assert_true(isnan(q.scale[0]));
        cr_model_free(cx, m);
        cr_table_free(cx, t);
        /* two rows, three rows */
        for (size_t n = 2; n <= 3; n++) {
            t = make_table(cx, X, n, P, y, NULL);
            cr_model_free(cx, fit(cx, "lasso", t, solvers[k]));
            cr_table_free(cx, t);
        }
        /* a constant target */
        double c[N], XX[N * P];
        for (size_t i = 0; i < N; i++) c[i] = 4.25;
        t = make_table(cx, X, N, P, c, NULL);
        m = fit(cx, "lasso", t, solvers[k]);
        q = predict(cx, m, t);
        assert_close(q.mean[7], 4.25, 1e-15);
        assert_close(q.scale[7], 0, 1e-12);
        cr_model_free(cx, m);
        cr_table_free(cx, t);
        /* a constant column, and a column twice: the sum of their coefficients is what counts */
        memcpy(XX, X, sizeof XX);
        for (size_t i = 0; i < N; i++) XX[i * P] = 7, XX[i * P + 3] = XX[i * P + 1];
        t = make_table(cx, XX, N, P, y, NULL);
        char twice[128], once[128];
        snprintf(twice, sizeof twice, "%s lambda=0.1", solvers[k]);
        snprintf(once, sizeof once, "%s features=x2,x3,x5,x6 lambda=0.1", solvers[k]);
        m = fit(cx, "lasso", t, twice);
        cr_model *o = fit(cx, "lasso", t, once);
        json_t   *d = describe(cx, m), *e = describe(cx, o);
        assert_true(coefficient(d, 1, "value") == 0);
        assert_close(coefficient(d, 2, "value") + coefficient(d, 4, "value"),
                     coefficient(e, 2, "value"), 1e-7);
        assert_close(coefficient(d, 3, "value"), coefficient(e, 3, "value"), 1e-7);
        cr_model_free(cx, m);
        cr_model_free(cx, o);
        m = fit(cx, "lasso", t, solvers[k]); /* and the whole path goes through */
        assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
        cr_model_free(cx, m);
        cr_table_free(cx, t);
        /* nothing but a constant column */
        for (size_t i = 0; i < N; i++) XX[i] = 3;
        t = make_table(cx, XX, N, 1, y, NULL);
        m = fit(cx, "lasso", t, solvers[k]);
        d = describe(cx, m);
        assert_true(coefficient(d, 1, "value") == 0);
        assert_true(statistic(d, "lambda_max") == 0);
    }
}

/* Two terms that are the same and both in: elastic net shares between them, the lasso has no sd. */
TEST(twins)
{
    double X[N * 2], y[N];
    cr_rng r = cr_rng_stream(3, 1);
    for (size_t i = 0; i < N; i++) {
        X[2 * i] = X[2 * i + 1] = cr_rng_normal(&r);
        y[i] = 2 * X[2 * i] + 0.1 * cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, X, N, 2, y, NULL);
    cr_model *m = fit(cx, "lasso", t, "target=y lambda=0.1 l1_ratio=0.5");
    json_t   *d = describe(cx, m);
    assert_relative(coefficient(d, 1, "value"), coefficient(d, 2, "value"), 1e-9);
    assert_true(coefficient(d, 1, "sd") > 0);
}

/* The dummies of all levels, which add up to the intercept, and a column that is the sum of two
 * others: the terms not 0 are dependent, and the degrees of freedom are their rank, whatever the
 * solver and whichever of them it takes. */
TEST(dependent_terms)
{
    enum { ROWS = 80, TERMS = 7 };
    double X[ROWS * TERMS] = { 0 }, y[ROWS];
    cr_rng r = cr_rng_stream(31, 1);
    for (size_t i = 0; i < ROWS; i++) {
        double *x = X + i * TERMS;
        x[i % 4] = 1;
        x[4] = cr_rng_normal(&r);
        x[5] = cr_rng_normal(&r);
        x[6] = x[4] + x[5];
        y[i] = (double)(i % 4 % 3) - 2 * x[4] + 2 * x[5] + x[6] + 0.1 * cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, X, ROWS, TERMS, y, NULL);
    for (size_t k = 0; k < 2; k++) {
        const char *more = k ? "choose=bic" : "lambda=0.0001";
        char        a[128], b[128];
        snprintf(a, sizeof a, "target=y tolerance=1e-10 solver=gram %s", more);
        snprintf(b, sizeof b, "target=y tolerance=1e-10 solver=columns %s", more);
        cr_model *m = fit(cx, "lasso", t, a), *o = fit(cx, "lasso", t, b);
        json_t   *d = describe(cx, m), *e = describe(cx, o);
        assert_close(statistic(d, "effective_df"), 6, 1e-12); /* 3 + 2, and the intercept */
        assert_true(statistic(d, "nonzero") > 5 || statistic(e, "nonzero") > 5);
        assert_close(statistic(e, "effective_df"), 6, 1e-12);
        assert_relative(statistic(d, "bic"), statistic(e, "bic"), 1e-7);
        assert_relative(statistic(d, "lambda"), statistic(e, "lambda"), 1e-12);
    }
}

TEST(refusals)
{
    double            X[N * P], y[N];
    cr_model         *m = NULL;
    const double      factors[] = { 1e200, 1e-200 };
    const char *const words[] = { "so large that its squares overflow",
                                  "so small that its squares vanish" };
    const char *const settings[] = { "target=y solver=gram", "target=y solver=columns" };
    for (size_t k = 0; k < 8; k++) {
        char what[128];
        bool target = k & 1, small = k & 2;
        draw_regression(13, N, P, 0.8, X, y);
        for (size_t i = 0; i < N; i++) *(target ? &y[i] : &X[i * P + 1]) *= factors[small];
        snprintf(what, sizeof what, "%s is %s", target ? "the target" : "term 2 of 6",
                 words[small]);
        cr_table *t = make_table(cx, X, N, P, y, NULL);
        assert_fails_with(cx, try_fit(cx, "lasso", t, settings[k / 4], &m), CR_ENUMERIC, what);
    }
    draw_regression(13, N, P, 0.8, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    assert_fails_with(cx, try_fit(cx, "lasso", t, "target=y l1_ratio=1.5", &m), CR_EARG,
                      "l1-ratio");
    m = fit(cx, "lasso", t, "target=y");
    cr_model *none = NULL;
    assert_fails_with(cx, cr_update(cx, m, t, &none), CR_EUNSUPPORTED, "no exact update");
    cr_model_free(cx, m);
    /* not converging is a result */
    m = fit(cx, "lasso", t, "target=y max_iter=1 lambda=0.01 path=2");
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
}

/* --- bits ------------------------------------------------------------------------------------ */

TEST(any_number_of_threads)
{
    static double     X[150 * 140];
    double            y[150];
    const char *const settings[] = {
        "target=y path=8 cv_folds=4 lambda_min_ratio=0.02",
        "target=y path=8 cv_folds=4 lambda_min_ratio=0.02 solver=columns"
    };
    draw_regression(14, 150, 140, 2, X, y);
    for (size_t k = 0; k < 2; k++) {
        char   *first = NULL;
        size_t  size = 0;
        cr_ctx *keep = test_context();
        for (size_t threads = 1; threads <= 7; threads += threads < 3 ? 1 : 4) {
            cr_ctx *own = test_context();
            cr_ctx_set_threads(own, threads);
            cr_table *t = make_table(own, X, 150, 140, y, NULL);
            cr_model *m = fit(own, "lasso", t, settings[k]), *again = NULL;
            char     *bytes = NULL;
            size_t    n = 0;
            assert_ok(own, cr_model_to_bytes(own, m, &bytes, &n));
            if (!first) {
                first = cr_alloc(keep, n, 1);
                memcpy(first, bytes, n);
                size = n;
            }
            assert_int_equal(n, size);
            assert_memory_equal(bytes, first, n);
            assert_ok(own, cr_model_from_bytes(own, "again", bytes, n, &again));
            cr_prediction p = predict(own, m, t), q = predict(own, again, t);
            assert_memory_equal(p.mean, q.mean, 150 * sizeof(double));
            assert_memory_equal(p.scale, q.scale, 150 * sizeof(double));
            cr_free(own, bytes, n, 1);
            cr_model_free(own, again);
            test_context_free(own);
        }
        cr_free(keep, first, size, 1);
        test_context_free(keep);
    }
}
