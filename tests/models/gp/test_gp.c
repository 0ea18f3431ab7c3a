/* test_gp.c -- Gaussian processes against their definition in long double, real refits, reference
 * answers, and laws. */
#include "gp_fixture.h"

#include "models/gp/exact/gp_exact.h"

enum { N = 23, D = 2, T = 5 };

/* Rows with repeated inputs, weights 1 to 3, variances v, and test rows without targets. */
typedef struct sample {
    double    X[MOST * D], y[MOST], w[MOST], v[MOST], Z[T * D], zero[T];
    cr_table *t, *z;
} sample;

static sample draw(cr_ctx *cx, uint64_t seed, size_t n)
{
    sample s = { 0 };
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < D; j++)
            s.X[i * D + j] = i % 4 == 3 ? s.X[(i - 2) * D + j] : 3 * cr_rng_uniform(&r);
        s.y[i] = 2 + sin(2 * s.X[i * D]) + s.X[i * D + 1] + 0.3 * cr_rng_normal(&r);
        s.w[i] = 1 + (double)(i % 3);
        s.v[i] = 0.05 + 0.1 * cr_rng_uniform(&r);
    }
    for (size_t i = 0; i < T * D; i++) s.Z[i] = 4 * cr_rng_uniform(&r) - 0.5;
    s.t = make_table(cx, s.X, n, D, s.y, s.w);
    assert_ok(cx, cr_table_add_numbers(cx, s.t, "v", CR_REAL, s.v, 1));
    s.z = make_table(cx, s.Z, T, D, s.zero, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, s.z, "v", CR_REAL, s.v, 1));
    return s;
}

#define FIXED "target=y optimize=none kernel=1.3*rbf(x1,x2;l=[0.9,1.7]) "
static const rbf fixed_kernel = { 2, 1.3L, { 0.9L, 1.7L } };

/* Rows as many times as their weights say; h of mean functions up to linear. */
typedef struct expanded {
    double     X[MOST * D], y[MOST], noise[MOST];
    definition g;
} expanded;

static void expand(const sample *s, size_t n, bool weighted, bool column, size_t q, expanded *e)
{
    e->g = (definition){ .k = fixed_kernel, .q = q, .X = e->X, .y = e->y, .noise = e->noise };
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < (weighted ? (size_t)s->w[i] : 1); k++) {
            size_t at = e->g.n++;
            assert_true(at < MOST);
            memcpy(e->X + at * D, s->X + i * D, sizeof(double[D]));
            e->y[at] = s->y[i];
            e->noise[at] = column ? s->v[i] : 0.07;
            const double h[] = { 1, s->X[i * D], s->X[i * D + 1] };
            memcpy(e->g.H + at * q, h, q * sizeof(double));
        }
}

/* Evidence, predictions and coefficients, over weights, columns of noise and mean functions. */
TEST(definition)
{
    static const char *const means[] = { "zero", "constant", "linear" };
    static const size_t      terms[] = { 0, 1, 3 };
    for (unsigned bits = 0; bits < 12; bits++) {
        bool     weighted = bits & 1, column = bits & 2;
        size_t   n = weighted ? 13 : N, q = terms[bits / 4];
        sample   s = draw(cx, 11 + bits, n);
        expanded e;
        char     settings[256];
        snprintf(settings, sizeof settings, FIXED "features=x* mean=%s %s %s", means[bits / 4],
                 column ? "noise_column=v" : "noise=0.07", weighted ? "weights=w" : "");
        cr_model *m = fit(cx, "gp", s.t, settings);
        expand(&s, n, weighted, column, q, &e);
        assert_relative(cr_model_get_report(m)->log_evidence, log_density(&e.g), 1e-10);
        cr_prediction p = predict(cx, m, s.z);
        for (size_t i = 0; i < T; i++) {
            const double h[] = { 1, s.Z[i * D], s.Z[i * D + 1] };
            double       mean, variance, noise = column ? s.v[i] : 0.07;
            predict_definition(&e.g, s.Z + i * D, h, &mean, &variance);
            assert_close(p.mean[i], mean, 1e-10);
            assert_close(p.scale[i], sqrt(variance + noise), 1e-10);
            assert_true(isinf(p.dof[i]));
        }
        if (q == 3) {
            long double b[4], P[16];
            json_t     *d = describe(cx, m);
            solve_definition(&e.g, b, P);
            assert_close(parameter(d, "mean.intercept", "value"), (double)b[0], 1e-9);
            assert_close(parameter(d, "mean.x1", "value"), (double)b[1], 1e-9);
            assert_close(parameter(d, "mean.x2", "sd"), sqrt((double)P[8]), 1e-9);
        }
        cr_model_free(cx, m);
    }
}

/* --- gradient -------------------------------------------------------------------------------- */

typedef struct workspace {
    double          L[MOST * MOST], alpha[MOST], beta[4], U[MOST * 4], A[16], H[MOST * 4];
    size_t          first[MOST];
    cri_gp_data     data;
    cri_gp_problem  problem;
    cri_gp_solution solution;
} workspace;

static double evidence_at(cr_ctx *cx, workspace *w, cr_kernel *k, const double *theta)
{
    size_t p = cr_kernel_theta_size(k);
    assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
    assert_ok(
        cx, cri_gp_solve(cx, &w->problem, k, exp(theta[p]), CRI_GP_NO_JITTER, w->L, &w->solution));
    return w->solution.log_evidence;
}

TEST(gradient)
{
    static const char *const kernels[] = {
        "2*rbf(l=[0.7,1.6])", "1.5*matern52(l=0.9) + 0.4*linear(x2)",
        "1.2*rq(l=1.1,alpha=0.8)*periodic(x1;l=1.2,p=2.5) + 0.3"
    };
    sample     s = draw(cx, 3, N);
    workspace *w = calloc(1, sizeof *w);
    double     r[MOST];
    for (size_t i = 0; i < N; i++) {
        s.X[i * D] += 1e-3 * (double)i; /* all different, with merged rows made up */
        r[i] = 1 / s.w[i];
        w->H[i * 2] = 1, w->H[i * 2 + 1] = s.X[i * D];
        w->first[i] = i;
    }
    w->data = (cri_gp_data){ .n = N,
                             .d = D,
                             .X = s.X,
                             .y = s.y,
                             .r = r,
                             .first = w->first,
                             .count = 51,
                             .spread = 1.7,
                             .log_shares = 0.3 };
    w->problem = (cri_gp_problem){ &w->data, 2, w->H };
    w->solution = (cri_gp_solution){ .alpha = w->alpha, .beta = w->beta, .U = w->U, .A = w->A };
    for (size_t i = 0; i < 3; i++) {
        cr_kernel *k;
        double     theta[16], gradient[16];
        assert_ok(cx, cr_kernel_parse(cx, kernels[i], NULL, NULL, 0, &k));
        size_t p = cr_kernel_theta_size(k);
        cr_kernel_theta(k, theta);
        theta[p] = log(0.11);
        evidence_at(cx, w, k, theta);
        assert_ok(cx,
                  cri_gp_gradient(cx, &w->problem, k, exp(theta[p]), &w->solution, w->L, gradient));
        for (size_t j = 0; j <= p; j++) {
            double at = theta[j], h = 1e-5, up, down;
            theta[j] = at + h, up = evidence_at(cx, w, k, theta);
            theta[j] = at - h, down = evidence_at(cx, w, k, theta);
            theta[j] = at;
            assert_close(gradient[j], (up - down) / (2 * h), 1e-6);
        }
        cr_kernel_free(cx, k);
    }
    free(w);
}

/* --- laws ------------------------------------------------------------------------------------ */

TEST(interpolation)
{
    double X[12], y[12];
    for (size_t i = 0; i < 12; i++) X[i] = 0.5 * (double)i, y[i] = 100 + 30 * cos(X[i]);
    cr_table     *t = make_table(cx, X, 12, 1, y, NULL);
    cr_model     *m = fit(cx, "gp", t, "target=y noise=0");
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 0; i < 12; i++) {
        assert_close(p.mean[i], y[i], 1e-6);
        assert_true(p.scale[i] >= 0 && p.scale[i] < 1e-2);
    }
    cr_model_free(cx, m);
    m = fit(cx, "gp", t, "target=y noise=0 kernel=matern32");
    double    at = 2.75, zero = 0;
    cr_table *z = make_table(cx, &at, 1, 1, &zero, NULL);
    p = predict(cx, m, z);
    assert_close(p.mean[0], 100 + 30 * cos(2.75), 0.05);
}

/* A smooth kernel without noise: no Cholesky factor fails, yet no digit of the plain answer is
 * right.  What was added is said, and with it all is as defined; intervals hold what they should,
 * learned or not. */
TEST(singular_up_to_rounding)
{
    double X[20], y[20], noise[20], zero[19] = { 0 }, Z[19], inside = 0;
    for (size_t i = 0; i < 20; i++) X[i] = (double)i / 19, y[i] = sin(10 * X[i]);
    for (size_t i = 0; i < 19; i++) Z[i] = ((double)i + 0.37) / 19;
    cr_table *t = make_table(cx, X, 20, 1, y, NULL), *at = make_table(cx, Z, 19, 1, zero, NULL);
    cr_model *m = fit(cx, "gp", t, "target=y noise=0 mean=zero optimize=none kernel=1*rbf(l=0.2)");
    json_t   *told = describe(cx, m);
    double    jitter = statistic(told, "jitter");
    assert_true(jitter > 0 && jitter < 1e-9);
    for (size_t i = 0; i < 20; i++) noise[i] = jitter;
    definition g = {
        .n = 20, .k = { .d = 1, .v = 1, .l = { 0.2L } }, .X = X, .y = y, .noise = noise
    };
    assert_close(cr_model_get_report(m)->log_evidence, log_density(&g), 1e-3);
    cr_prediction p = predict(cx, m, at);
    for (size_t i = 0; i < 19; i++) {
        double mean, variance;
        predict_definition(&g, Z + i, NULL, &mean, &variance);
        assert_close(p.mean[i], mean, 1e-3 * sqrt(variance));
        assert_close(p.scale[i], sqrt(variance), 0.05 * sqrt(variance));
    }
    cr_model_free(cx, m);
    cr_table *first = make_table(cx, X, 4, 1, y, NULL),
             *rest = make_table(cx, X + 4, 16, 1, y + 4, NULL);
    cr_model *part = fit(cx, "gp", first,
                         "target=y noise=0 mean=zero optimize=none kernel=1*rbf(l=0.2)"),
             *whole = NULL;
    assert_ok(cx, cr_update(cx, part, rest, &whole)); /* what four rows did not need */
    assert_close(cr_model_get_report(whole)->log_evidence, log_density(&g), 1e-3);
    cr_model_free(cx, part);
    cr_model_free(cx, whole);
    cr_table_free(cx, first);
    cr_table_free(cx, rest);
    m = fit(cx, "gp", t, "target=y noise=0");
    p = predict(cx, m, at);
    for (size_t i = 0; i < 19; i++) inside += fabs(p.mean[i] - sin(10 * Z[i])) < 2 * p.scale[i];
    assert_true(inside >= 17);
}

/* Leaving a row out and fitting again, also one of several at the same input. */
TEST(leave_one_out)
{
    static const char *const settings[] = { FIXED "features=x* noise=0.07 mean=linear",
                                            FIXED "features=x* noise_column=v" };
    for (size_t k = 0; k < 2; k++) {
        sample    s = draw(cx, 21 + k, N);
        cr_model *all = fit(cx, "gp", s.t, settings[k]);
        double    score = 0, square = 0;
        for (size_t out = 0; out < N; out++) {
            double X[MOST * D], y[MOST], v[MOST], one = s.y[out];
            size_t n = 0;
            for (size_t i = 0; i < N; i++) {
                if (i == out) continue;
                memcpy(X + n * D, s.X + i * D, sizeof(double[D]));
                y[n] = s.y[i], v[n++] = s.v[i];
            }
            cr_table *rest = make_table(cx, X, n, D, y, NULL);
            cr_table *left = make_table(cx, s.X + out * D, 1, D, &one, NULL);
            assert_ok(cx, cr_table_add_numbers(cx, rest, "v", CR_REAL, v, 1));
            assert_ok(cx, cr_table_add_numbers(cx, left, "v", CR_REAL, s.v + out, 1));
            cr_model     *m = fit(cx, "gp", rest, settings[k]);
            cr_prediction p = predict(cx, m, left);
            double        e = (one - p.mean[0]) / p.scale[0];
            score -= 0.5 * (log(2 * M_PI) + e * e) + log(p.scale[0]);
            square += (one - p.mean[0]) * (one - p.mean[0]);
        }
        json_t *d = describe(cx, all);
        assert_relative(statistic(d, "loo_log_score"), score, 1e-9);
        assert_relative(statistic(d, "loo_rmse"), sqrt(square / N), 1e-9);
        cr_model_free(cx, all);
    }
}

static void assert_same(cr_ctx *cx, const cr_model *a, const cr_model *b, const cr_table *z,
                        double tolerance)
{
    cr_prediction p = predict(cx, a, z), q = predict(cx, b, z);
    assert_close(cr_model_get_report(a)->log_evidence, cr_model_get_report(b)->log_evidence,
                 tolerance);
    for (size_t i = 0; i < p.n; i++) {
        assert_close(p.mean[i], q.mean[i], tolerance);
        assert_close(p.scale[i], q.scale[i], tolerance);
    }
}

/* New inputs, and inputs seen before. */
TEST(update)
{
    static const char *const settings[] = { FIXED "features=x* noise=0.07 mean=linear weights=w",
                                            FIXED "features=x* noise_column=v mean=constant",
                                            FIXED "features=x*",
                                            "target=y features=x* optimize=none kernel=rbf+white" };
    for (size_t k = 0; k < 4; k++) {
        sample    s = draw(cx, 31 + k, N);
        cr_table *a = make_table(cx, s.X, 10, D, s.y, s.w);
        cr_table *b = make_table(cx, s.X + 10 * D, N - 10, D, s.y + 10, s.w + 10);
        assert_ok(cx, cr_table_add_numbers(cx, a, "v", CR_REAL, s.v, 1));
        assert_ok(cx, cr_table_add_numbers(cx, b, "v", CR_REAL, s.v + 10, 1));
        char text[256];
        snprintf(text, sizeof text, "%s%s", settings[k], k == 2 ? " noise=0.02" : "");
        cr_model *part = fit(cx, "gp", a, text), *all = fit(cx, "gp", s.t, text), *more = NULL;
        assert_ok(cx, cr_update(cx, part, b, &more));
        assert_same(cx, more, all, s.z, 1e-9);
        cr_model_free(cx, part);
        cr_model_free(cx, all);
        cr_model_free(cx, more);
        cr_table_free(cx, a);
        cr_table_free(cx, b);
    }
}

/* Other units of columns and target: the same process. */
TEST(units)
{
    sample s = draw(cx, 43, 20);
    double X[20 * D], y[20];
    for (size_t i = 0; i < 20; i++) {
        X[i * D] = 1e6 * s.X[i * D] + 3e6, X[i * D + 1] = 1e-5 * s.X[i * D + 1];
        y[i] = -1000 * s.y[i] + 7e4;
    }
    cr_table *t = make_table(cx, X, 20, D, y, NULL);
    cr_model *a = fit(cx, "gp", s.t, "target=y features=x*"),
             *b = fit(cx, "gp", t, "target=y features=x*");
    cr_model *c =
        fit(cx, "gp", t, "target=y features=x* scale=standard scale_target=standard mean=constant");
    double scale = 20 * log(1000);
    assert_close(cr_model_get_report(b)->log_evidence + scale, cr_model_get_report(a)->log_evidence,
                 1e-5);
    assert_close(cr_model_get_report(c)->log_evidence, cr_model_get_report(b)->log_evidence, 1e-5);
    json_t *d = describe(cx, a), *e = describe(cx, b), *f = describe(cx, c);
    assert_close(parameter(e, "rbf.l[1]", "value") / 1e6, parameter(d, "rbf.l[1]", "value"), 1e-3);
    assert_close(parameter(e, "mean.intercept", "value"),
                 7e4 - 1000 * parameter(d, "mean.intercept", "value"), 1e-3);
    assert_close(statistic(e, "loo_rmse"), 1000 * statistic(d, "loo_rmse"), 1e-3);
    assert_close(statistic(f, "loo_rmse"), statistic(e, "loo_rmse"), 1e-3);
    assert_close(statistic(f, "loo_log_score"), statistic(e, "loo_log_score"), 1e-3);
    assert_close(statistic(f, "noise_sd"), statistic(e, "noise_sd"), 1e-3);
    cr_model_free(cx, a);
    cr_model_free(cx, b);
    cr_model_free(cx, c);
    cr_table_free(cx, t);
}

/* A polynomial kernel learns the same of a column in any units. */
TEST(polynomial_units)
{
    enum { R = 25 };
    double X[R], far[R], y[R], at[2];
    cr_rng r = cr_rng_stream(21, 5);
    for (size_t i = 0; i < R; i++) {
        X[i] = cr_rng_uniform(&r);
        far[i] = 1024 * X[i];
        y[i] = X[i] * X[i] * (1 - X[i]) + 0.02 * cr_rng_normal(&r);
    }
    for (size_t k = 0; k < 2; k++) {
        cr_table *t = make_table(cx, k ? far : X, R, 1, y, NULL);
        cr_model *m = fit(cx, "gp", t, "target=y features=x1 kernel=polynomial(3)");
        at[k] = cr_model_get_report(m)->log_evidence;
    }
    assert_close(at[1], at[0], 1e-4);
}

/* Joint draws have the mean and covariance of the process at the rows. */
TEST(draws)
{
    enum { DRAWS = 20000 };
    sample    s = draw(cx, 51, N);
    cr_model *m = fit(cx, "gp", s.t, FIXED "features=x* noise=0.07 mean=constant");
    double   *f = malloc(T * DRAWS * sizeof *f), *g = malloc(T * DRAWS * sizeof *g);
    expanded  e;
    assert_ok(cx, cr_sample_targets(cx, m, s.z, DRAWS, 9, f));
    assert_ok(cx, cr_sample_targets(cx, m, s.z, DRAWS, 9, g));
    assert_memory_equal(f, g, T * DRAWS * sizeof *f);
    cr_prediction p = predict(cx, m, s.z);
    for (size_t i = 0; i < T; i++) {
        double mean = 0, square = 0;
        for (size_t c = 0; c < DRAWS; c++) mean += f[i * DRAWS + c] / DRAWS;
        for (size_t c = 0; c < DRAWS; c++) square += pow(f[i * DRAWS + c] - mean, 2) / DRAWS;
        assert_close(mean, p.mean[i], 5 * p.scale[i] / sqrt(DRAWS) / fmax(1, fabs(p.mean[i])));
        assert_relative(square, p.scale[i] * p.scale[i], 6 * sqrt(2.0 / DRAWS));
    }
    /* the covariance of rows 0 and 1, by the variance of y_0 + y_1 = 2 f(x) + e_0 + e_1 at one x */
    double    twin[2 * D] = { s.Z[0], s.Z[1], s.Z[0], s.Z[1] }, none[2] = { 0 };
    cr_table *t = make_table(cx, twin, 2, D, none, NULL);
    assert_ok(cx, cr_sample_targets(cx, m, t, DRAWS, 10, f));
    double cov = 0;
    for (size_t c = 0; c < DRAWS; c++)
        cov += (f[c] - p.mean[0]) * (f[DRAWS + c] - p.mean[0]) / DRAWS;
    double mean, variance, one = 1;
    expand(&s, N, false, false, 1, &e);
    predict_definition(&e.g, s.Z, &one, &mean, &variance);
    assert_close(cov, variance, 6 * (variance + 0.07) / sqrt(DRAWS));
    free(f);
    free(g);
    cr_table_free(cx, t);
    cr_model_free(cx, m);
}

/* Functions drawn from the prior: intervals hold what they say, and learning finds the truth. */
TEST(coverage)
{
    enum { SETS = 14, ROWS = 60 };
    size_t inside = 0, of = 0;
    for (size_t set = 0; set < SETS; set++) {
        double X[ROWS], y[ROWS], far = 100, zero = 0;
        cr_rng r = cr_rng_stream(set, 61);
        for (size_t i = 0; i < ROWS; i++) X[i] = 10 * cr_rng_uniform(&r);
        cr_table *one = make_table(cx, &far, 1, 1, &zero, NULL),
                 *t = make_table(cx, X, ROWS, 1, NULL, NULL);
        cr_model *prior =
            fit(cx, "gp", one, "target=y optimize=none mean=zero kernel=4*rbf(l=1.5) noise=0.25");
        assert_ok(cx, cr_sample_targets(cx, prior, t, 1, set, y));
        cr_table     *train = make_table(cx, X, ROWS / 2, 1, y, NULL);
        cr_table     *test = make_table(cx, X + ROWS / 2, ROWS / 2, 1, y + ROWS / 2, NULL);
        cr_model     *m = fit(cx, "gp", train, "target=y");
        cr_prediction p = predict(cx, m, test);
        for (size_t i = 0; i < ROWS / 2; i++, of++)
            inside += fabs(y[ROWS / 2 + i] - p.mean[i]) < 1.959964 * p.scale[i];
        cr_table_free(cx, t);
    }
    double share = (double)inside / (double)of;
    assert_true(share > 0.89 && share < 0.985);
}

/* The prior on a parameter counts: a sharp one holds the length-scale. */
TEST(prior)
{
    sample    s = draw(cx, 71, N);
    cr_model *m = fit(cx, "gp", s.t, "target=y features=x1 kernel=rbf(l~lognormal(1.5,0.001))");
    json_t   *d = describe(cx, m);
    assert_close(parameter(d, "rbf.l", "value"), exp(1.5), 5e-3);
    cr_model_free(cx, m);
    m = fit(cx, "gp", s.t, "target=y features=x1 kernel=rbf(l=0.5[0.4,0.6])");
    d = describe(cx, m);
    assert_true(parameter(d, "rbf.l", "value") >= 0.4 &&
                parameter(d, "rbf.l", "value") <= 0.6 + 1e-12);
    cr_model_free(cx, m);
}

/* Categories go through kernels of categories; the default kernel takes them in. */
TEST(categories)
{
    cr_table *t =
        table_of_text(cx, "gp.csv", "g,x,y\na,1,1\nb,1,3\na,2,2\nb,2,4.1\nc,1.5,9\nb,3,5\na,3,3\n");
    cr_model     *m = fit(cx, "gp", t, "target=y noise=0.01");
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 0; i < 7; i++)
        assert_true(fabs(p.mean[i] - (double[]){ 1, 3, 2, 4.1, 9, 5, 3 }[i]) < 1);
    cr_model_free(cx, m);
    m = fit(cx, "gp", t, "target=y noise=0.01 kernel=rbf(x)*category(g;levels=3)");
    cr_model_free(cx, m);
    cr_model *none = NULL;
    assert_fails_with(cx, try_fit(cx, "gp", t, "target=y kernel=rbf(g)", &none), CR_EARG, "g");
    assert_fails_with(cx, try_fit(cx, "gp", t, "target=y kernel=sigmoid", &none), CR_EARG,
                      "definite");
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(corners)
{
    warnings  w = { 0 };
    cr_model *m = NULL;
    cr_ctx_set_log(cx, keep_warning, &w);
    /* one row: nothing to learn, the prior and the row */
    double    X[] = { 1, 1, 2, 3 }, y[] = { 5, 6, 7, 8 }, same[] = { 5, 5, 5, 5 };
    cr_table *one = make_table(cx, X, 1, 1, y, NULL);
    m = fit(cx, "gp", one, "target=y");
    cr_prediction p = predict(cx, m, one);
    assert_close(p.mean[0], 5, 1e-12);
    assert_true(p.scale[0] > 0 && strstr(w.text, "hyper-parameters cannot be learned"));
    cr_model_free(cx, m);
    /* a constant target */
    cr_table *t = make_table(cx, X, 4, 1, same, NULL);
    m = fit(cx, "gp", t, "target=y");
    p = predict(cx, m, t);
    assert_close(p.mean[2], 5, 1e-9);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    /* repeated inputs: without noise a contradiction, which names the rows; learned noise is
     * fine */
    t = make_table(cx, X, 4, 1, y, NULL);
    assert_fails_with(cx, try_fit(cx, "gp", t, "target=y noise=0", &m), CR_EDATA, "rows 1 and 2 ");
    assert_fails_with(cx, try_fit(cx, "gp", t, "target=y noise=-1", &m), CR_EARG, "noise");
    assert_fails_with(cx, try_fit(cx, "gp", t, "target=y mean=cubic", &m), CR_EARG, "cubic");
    m = fit(cx, "gp", t, "target=y");
    json_t *d = describe(cx, m);
    assert_int_equal((int)statistic(d, "distinct_inputs"), 3);
    cr_model_free(cx, m);
    /* no test rows */
    m = fit(cx, "gp", t, "target=y mean=linear");
    cr_table *none = make_table(cx, X, 0, 1, y, NULL);
    p = predict(cx, m, none);
    cr_model_free(cx, m);
    cr_table_free(cx, none);
    cr_table_free(cx, t);
    cr_table_free(cx, one);
    /* rows so near that the covariance is singular in double precision: jitter, told with the
     * rows */
    double near[] = { 0, 1e-9, 2, 3 };
    t = make_table(cx, near, 4, 1, y, NULL);
    w = (warnings){ 0 };
    m = fit(cx, "gp", t, "target=y noise=0 optimize=none kernel=rbf(l=1)");
    assert_non_null(strstr(w.text, "rows 1 and 2"));
    d = describe(cx, m);
    assert_true(statistic(d, "jitter") > 0);
    p = predict(cx, m, t);
    for (size_t i = 0; i < 4; i++) assert_true(p.scale[i] >= 0 && isfinite(p.mean[i]));
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    /* too large for the memory allowed: refused with a figure, before it starts */
    double *big = calloc(3000, sizeof *big);
    for (size_t i = 0; i < 3000; i++) big[i] = (double)i;
    t = make_table(cx, big, 3000, 1, big, NULL);
    cr_ctx_set_memory_limit(cx, 100000000);
    assert_fails_with(cx, try_fit(cx, "gp", t, "target=y", &m), CR_ENOMEM, "0.158 GB");
    cr_ctx_set_memory_limit(cx, 0);
    free(big);
}

/* Rows of one input: their noise is the sample variance, by every road; of a given noise nothing is
 * learned. */
TEST(same_inputs)
{
    static const char *const roads[] = {
        "gp",           "gp approx=vfe",           "gp approx=fitc", "gp approx=rff",
        "gp solver=cg", "gp mean=zero hyper=best", "gp-online"
    };
    warnings  w = { 0 };
    double    X[] = { 2, 2, 2, 2 }, y[] = { 1, 2, 4, 5 };
    cr_table *t = make_table(cx, X, 4, 1, y, NULL);
    cr_ctx_set_log(cx, keep_warning, &w);
    for (size_t k = 0; k < sizeof roads / sizeof *roads; k++) {
        const char *rest = strchr(roads[k], ' ');
        char        settings[64];
        snprintf(settings, sizeof settings, "target=y%s", rest ? rest : "");
        w = (warnings){ 0 };
        cr_model *m = fit(cx, rest ? "gp" : roads[k], t, settings);
        json_t   *d = describe(cx, m);
        assert_close(pow(statistic(d, "noise_sd"), 2), 10.0 / 3, 1e-4);
        if (!strstr(settings, "zero"))
            assert_non_null(strstr(w.text, "all rows have the same inputs: only the noise"));
    }
    w = (warnings){ 0 };
    cr_model_free(cx, fit(cx, "gp", t, "target=y noise=2"));
    assert_non_null(strstr(w.text, "all rows have the same inputs: the hyper-parameters"));
}

/* A length-scale that is not needed, and noise that is not there: said once, by name. */
TEST(bounds)
{
    warnings w = { 0 };
    double   X[60], y[30];
    for (size_t i = 0; i < 30; i++) {
        X[2 * i] = 0.2 * (double)i, X[2 * i + 1] = (double)(i * 7 % 11);
        y[i] = sin(X[2 * i]);
    }
    cr_table *t = make_table(cx, X, 30, 2, y, NULL);
    cr_ctx_set_log(cx, keep_warning, &w);
    fit(cx, "gp", t, "target=y");
    assert_int_equal(w.n, 1);
    assert_non_null(strstr(w.text, "noise (lower)"));
}

TEST(file_and_threads)
{
    enum { ROWS = 270 };
    double *X = malloc(ROWS * 3 * sizeof *X), *y = malloc(ROWS * sizeof *y), mean[ROWS];
    draw_regression(5, ROWS, 3, 0.3, X, y);
    cr_table *t = make_table(cx, X, ROWS, 3, y, NULL);
    char     *bytes[4];
    size_t    size[4], threads[] = { 1, 2, 3, 7 };
    for (size_t k = 0; k < 4; k++) {
        cr_ctx_set_threads(cx, threads[k]);
        cr_model     *m = fit(cx, "gp", t, "target=y max_iter=2 kernel=rbf"), *again = NULL;
        cr_prediction p = predict(cx, m, t), q;
        assert_ok(cx, cr_model_to_bytes(cx, m, &bytes[k], &size[k]));
        assert_ok(cx, cr_model_from_bytes(cx, "m", bytes[k], size[k], &again));
        q = predict(cx, again, t);
        assert_memory_equal(p.mean, q.mean, sizeof mean);
        assert_memory_equal(p.scale, q.scale, sizeof mean);
        assert_ok(cx, cr_predict_mean(cx, again, t, mean));
        assert_memory_equal(p.mean, mean, sizeof mean);
        cr_model_free(cx, again);
    }
    for (size_t k = 1; k < 4; k++) { /* all but the seconds it took */
        cr_model *a = NULL, *b = NULL;
        assert_ok(cx, cr_model_from_bytes(cx, "a", bytes[0], size[0], &a));
        assert_ok(cx, cr_model_from_bytes(cx, "b", bytes[k], size[k], &b));
        cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
        assert_memory_equal(p.mean, q.mean, sizeof mean);
        assert_memory_equal(p.scale, q.scale, sizeof mean);
        assert_true(cr_model_get_report(a)->log_evidence == cr_model_get_report(b)->log_evidence);
        cr_model_free(cx, a);
        cr_model_free(cx, b);
    }
    for (size_t k = 0; k < 4; k++) cr_free(cx, bytes[k], size[k], 1);
    free(X);
    free(y);
}
