/* test_logistic.c -- logistic and softmax regression: the conditions of the minimum, plain Newton
 * in long double, solvers against each other, invariances, separation, reference answers. */
#include "opened.h"
#include "models/logistic/classifier.h"

enum { N = 120, P = 4 };

static double value_at(const cr_prediction *p, size_t i, size_t k)
{
    return p->prob[i * p->n_classes + k];
}

/* --- plain Newton in long double, two classes, no standardisation ---------------------------- */

/* b [p + 1] and the inverse information V; lambda on the slopes of columns divided by scale. */
static void newton_oracle(const double *X, size_t n, size_t p, const double *y, const double *w,
                          double lambda, const long double *scale, long double *b, long double *V)
{
    size_t q = p + 1;
    memset(b, 0, q * sizeof *b);
    for (int step = 0; step < 40; step++) {
        long double H[16 * 16] = { 0 }, g[16] = { 0 };
        for (size_t i = 0; i < n; i++) {
            long double x[16] = { 1 }, eta = 0, wi = w ? w[i] : 1;
            for (size_t j = 0; j < p; j++) x[j + 1] = X[i * p + j];
            for (size_t j = 0; j < q; j++) eta += b[j] * x[j];
            long double mu = 1 / (1 + expl(-eta));
            for (size_t j = 0; j < q; j++) {
                g[j] += wi * (y[i] - mu) * x[j];
                for (size_t k = 0; k < q; k++) H[j * q + k] += wi * mu * (1 - mu) * x[j] * x[k];
            }
        }
        for (size_t j = 1; j < q; j++) {
            g[j] -= lambda * scale[j - 1] * scale[j - 1] * b[j];
            H[j * q + j] += lambda * scale[j - 1] * scale[j - 1];
        }
        memset(V, 0, q * q * sizeof *V);
        for (size_t j = 0; j < q; j++) V[j * q + j] = 1;
        solve_dense(q, H, V, q);
        for (size_t j = 0; j < q; j++)
            for (size_t k = 0; k < q; k++) b[j] += V[j * q + k] * g[k];
    }
}

TEST(plain_newton)
{
    double X[N * P], y[N], w[N];
    draw_classes(1, N, P, 2, 0.9, X, y);
    for (size_t i = 0; i < N; i++) w[i] = 0.25 * (double)(1 + i % 5);
    cr_table *t = make_table(cx, X, N, P, y, w);
    for (unsigned bits = 0; bits < 8; bits++) {
        bool        weighted = bits & 1, standardise = bits & 4;
        double      lambda = bits & 2 ? 3.5 : 0, weight = 0; /* lambda beside a sum */
        long double b[16], V[256], scale[P];
        for (size_t i = 0; i < N; i++) weight += weighted ? w[i] : 1;
        for (size_t j = 0; j < P; j++) {
            long double sum = 0, mean = 0, square = 0;
            for (size_t i = 0; i < N; i++) sum += weighted ? w[i] : 1;
            for (size_t i = 0; i < N; i++) mean += (weighted ? w[i] : 1) * X[i * P + j] / sum;
            for (size_t i = 0; i < N; i++)
                square +=
                    (weighted ? w[i] : 1) * (X[i * P + j] - mean) * (X[i * P + j] - mean) / sum;
            scale[j] = standardise ? sqrtl(square) : 1;
        }
        char settings[128];
        snprintf(settings, sizeof settings, "target=y features=x* lambda=%.17g scale=%s %s",
                 lambda / weight, standardise ? "standard" : "none", weighted ? "weights=w" : "");
        newton_oracle(X, N, P, y, weighted ? w : NULL, lambda, scale, b, V);
        cr_model *m = fit(cx, "logistic", t, settings);
        json_t   *d = describe(cx, m);
        for (size_t j = 0; j <= P; j++) {
            assert_close(coefficient(d, j, "value"), (double)b[j], 1e-9);
            assert_close(coefficient(d, j, "sd"), sqrt((double)V[j * (P + 1) + j]), 1e-8);
        }
        cr_prediction q = predict(cx, m, t);
        for (size_t i = 0; i < N; i++) {
            long double eta = b[0];
            for (size_t j = 0; j < P; j++) eta += b[j + 1] * X[i * P + j];
            assert_close(value_at(&q, i, 1), (double)(1 / (1 + expl(-eta))), 1e-9);
            assert_close(value_at(&q, i, 0) + value_at(&q, i, 1), 1, 1e-15);
        }
    }
}

/* --- solvers --------------------------------------------------------------------------------- */

TEST(solvers_agree)
{
    const char *const solvers[] = { "newton", "newton-cg", "lbfgs", "gradient", "sgd" };
    double            X[N * P], y[N];
    for (size_t classes = 2; classes <= 3; classes++)
        for (int penalised = 0; penalised < 2; penalised++) {
            draw_classes(classes, N, P, classes, 0.9, X, y);
            cr_table *t = make_table(cx, X, N, P, y, NULL);
            double    best = NAN;
            for (size_t s = 0; s < 5; s++) {
                char settings[128];
                snprintf(settings, sizeof settings, "target=y solver=%s lambda=%g tol=1e-13",
                         solvers[s], 0.02 * penalised);
                cr_model *m = fit(cx, "logistic", t, settings);
                json_t   *d = describe(cx, m);
                assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
                if (s == 0) best = statistic(d, "objective_value");
                assert_relative(statistic(d, "objective_value"), best, 1e-9);
                assert_true(statistic(d, "kkt_residual") < 1e-6);
            }
        }
}

/* A limit is told, not failed. */
TEST(limit)
{
    double X[N * P], y[N];
    draw_classes(3, N, P, 2, 0.9, X, y);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_model *m = fit(cx, "logistic", t, "target=y max_iter=1");
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
    cr_model_free(cx, m);
    /* a column twice, and one that tells a class in part: stochastic gradients come to an end
     * without a minimum */
    cr_table *flat = table_of_text(
        cx, "flat.csv",
        "a,b,d,y\n1,1,0,n\n2,2,0,y\n3,3,0,n\n4,4,0,y\n5,5,1,y\n6,6,1,y\n0.5,0.5,0,n\n");
    m = fit(cx, "logistic", flat, "target=y solver=sgd");
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
    assert_true(cr_model_get_report(m)->iterations <= 5000);
    cr_model_free(cx, m);
    cr_table_free(cx, flat);
    cr_model *none = NULL;
    assert_fails_with(cx,
                      try_fit(cx, "logistic", t, "target=y penalty=l1 lambda=1 solver=sgd", &none),
                      CR_EARG, "proximal Newton only");
}

/* Many rows: the start from a sample and steps with an old Hessian end at the same minimum, with the
 * same bits on any number of threads; of full columns and of columns that are mostly 0. */
TEST(many_rows)
{
    enum { ROWS = 21000, COLUMNS = 18 };
    static const char *const settings[] = {
        "target=y features=x*", "target=y features=x* weights=w lambda=1e-4 intercept=false"
    };
    double *X = calloc(ROWS * COLUMNS, sizeof *X), *y = calloc(2 * ROWS, sizeof *y), *w = y + ROWS;
    for (int sparse = 0; sparse < 2; sparse++) {
        cr_rng r = cr_rng_stream(1, 1);
        for (size_t i = 0; i < ROWS; i++) {
            double eta = -1;
            for (size_t j = 0; j < COLUMNS; j++) {
                double x = cr_rng_normal(&r), hit = cr_rng_uniform(&r);
                X[i * COLUMNS + j] = sparse && hit > 0.15 ? 0 : x;
                eta += X[i * COLUMNS + j] * (j % 3 ? 0.4 : -0.5);
            }
            y[i] = cr_rng_uniform(&r) < 1 / (1 + exp(-eta));
            w[i] = 0.5 * (double)(i % 4);
        }
        cr_table *t = make_table(cx, X, ROWS, COLUMNS, y, w);
        for (size_t k = 0; k < 2; k++) {
            char other[120];
            snprintf(other, sizeof other, "%s solver=newton-cg", settings[k]);
            cr_ctx_set_threads(cx, 1);
            cr_model *a = fit(cx, "logistic", t, settings[k]), *b = fit(cx, "logistic", t, other);
            cr_ctx_set_threads(cx, 4);
            cr_model *c = fit(cx, "logistic", t, settings[k]);
            json_t   *da = describe(cx, a), *db = describe(cx, b), *dc = describe(cx, c);
            assert_true(cr_model_get_report(a)->iterations <
                        cr_model_get_report(b)->iterations + (size_t)sparse);
            assert_true(statistic(da, "kkt_residual") < 1e-8);
            for (size_t j = k; j <= COLUMNS; j++) {
                assert_close(coefficient(da, j, "value"), coefficient(db, j, "value"), 1e-6);
                assert_close(coefficient(da, j, "sd"), coefficient(db, j, "sd"), 1e-6);
                assert_true(coefficient(da, j, "value") == coefficient(dc, j, "value"));
                assert_true(coefficient(da, j, "sd") == coefficient(dc, j, "sd"));
            }
        }
    }
    free(X);
    free(y);
}

/* Dummies of all levels, which depend on the intercept, and a level that no 17th row has: the sample
 * cannot tell it from the others, and what it cannot see must not lead the fit astray. */
TEST(level_outside_the_sample)
{
    enum { ROWS = 21000, LEVELS = 20, COLUMNS = LEVELS + 1 };
    double *X = calloc(ROWS * COLUMNS, sizeof *X), *y = calloc(ROWS, sizeof *y), likelihood[2];
    cr_rng  r = cr_rng_stream(3, 1);
    for (size_t i = 0; i < ROWS; i++) {
        size_t level = i % 17 == 0 ? i / 17 % (LEVELS - 1) : i * 7 % (LEVELS - 1);
        if (i % 500 == 7 && i % 17 != 0) level = LEVELS - 1;
        X[i * COLUMNS + LEVELS] = cr_rng_uniform(&r) < 0.2 ? cr_rng_normal(&r) : 0;
        X[i * COLUMNS + level] = 1;
        double eta = 0.2 * (double)level - 2 + X[i * COLUMNS + LEVELS];
        y[i] = cr_rng_uniform(&r) < 1 / (1 + exp(-eta));
    }
    cr_table *t = make_table(cx, X, ROWS, COLUMNS, y, NULL);
    for (int k = 0; k < 2; k++) {
        const char *settings[] = { "target=y", "target=y features=x*,!x1" };
        cr_model   *m = fit(cx, "logistic", t, settings[k]);
        json_t     *d = describe(cx, m);
        size_t      zeros = 0;
        for (size_t j = 2; j <= COLUMNS; j++) zeros += coefficient(d, j, "value") == 0;
        assert_int_equal(zeros, k == 0);
        assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
        likelihood[k] = cr_model_get_report(m)->log_likelihood;
    }
    assert_relative(likelihood[0], likelihood[1], 1e-10);
    free(X);
    free(y);
}

/* --- softmax --------------------------------------------------------------------------------- */

/* With lambda = 0 the odds of two classes of three do not depend on the reference, which the order
 * of the names decides. */
TEST(class_names)
{
    const char *const names[2][3] = { { "a", "b", "c" }, { "z", "b", "a" } };
    double            X[N * P], y[N];
    const char       *text[N];
    for (int lambda = 0; lambda < 2; lambda++) {
        cr_prediction q[2];
        cr_model     *m[2];
        cr_table     *t[2];
        draw_classes(5, N, P, 3, 0.9, X, y);
        for (size_t s = 0; s < 2; s++) {
            for (size_t i = 0; i < N; i++) text[i] = names[s][(size_t)y[i]];
            t[s] = make_table(cx, X, N, P, NULL, NULL);
            assert_ok(cx, cr_table_add_texts(cx, t[s], "c", text));
            m[s] = fit(cx, "logistic", t[s], lambda ? "target=c lambda=0.01" : "target=c");
            q[s] = predict(cx, m[s], t[s]);
        }
        for (size_t i = 0; i < N; i++) {
            assert_close(value_at(&q[0], i, 0), value_at(&q[1], i, 2), 1e-8);
            assert_close(value_at(&q[0], i, 1), value_at(&q[1], i, 1), 1e-8);
            assert_close(value_at(&q[0], i, 2), value_at(&q[1], i, 0), 1e-8);
        }
        for (size_t s = 0; s < 2; s++) {
            cr_prediction_free(cx, &q[s]);
            cr_model_free(cx, m[s]);
            cr_table_free(cx, t[s]);
        }
    }
}

/* A full softmax of two classes with penalty lambda is the logit with lambda / 2: w_1 = -w_0 = b
 * / 2. */
TEST(softmax_of_two)
{
    double X[N * P], y[N];
    opened a;
    draw_classes(6, N, P, 2, 0.9, X, y);
    open_classes(cx, X, N, P, y, NULL, true, true, &a);
    cri_solve_options o = { .tol = 1e-14, .max_iter = CR_COUNT_UNSET };
    cri_likelihood    one = { .x = &a.x, .y = a.y, .M = 1, .l2 = 1.5, .step = 1 };
    cri_likelihood    two = { .x = &a.x, .y = a.y, .M = 2, .full = true, .l2 = 3, .step = 1 };
    cri_solution      s, f;
    assert_ok(cx, cri_solve(cx, &one, &o, true, &s));
    assert_ok(cx, cri_solve(cx, &two, &o, true, &f));
    assert_relative(f.f, s.f, 1e-12);
    for (size_t j = 0; j <= P; j++) {
        assert_close(f.theta[j], s.theta[j] / 2, 1e-7);
        assert_close(f.theta[P + 1 + j], -s.theta[j] / 2, 1e-7);
    }
    /* w_1 = (sum + b) / 2: of the sum of two slopes only the prior is known, that of the intercepts
     * is 0 */
    double sd_one[P + 1], sd_two[2 * (P + 1)], at_zero = 0;
    assert_ok(cx, cri_classifier_sds(cx, &one, NULL, NULL, s.hessian, sd_one));
    assert_ok(cx, cri_classifier_sds(cx, &two, NULL, NULL, f.hessian, sd_two));
    for (size_t j = 0; j < P; j++) {
        double prior = a.x.inverse[j] * a.x.inverse[j] / (2 * two.l2);
        at_zero += prior * a.x.centre[j] * a.x.centre[j];
        assert_relative(sd_two[1 + j], sqrt(sd_one[1 + j] * sd_one[1 + j] / 4 + prior), 1e-7);
        assert_relative(sd_two[P + 2 + j], sd_two[1 + j], 1e-7);
    }
    assert_relative(sd_two[0], sqrt(sd_one[0] * sd_one[0] / 4 + at_zero), 1e-7);
    cri_solution_free(cx, &s);
    cri_solution_free(cx, &f);
    close_classes(cx, &a);
}

/* --- absolute penalty ------------------------------------------------------------------------ */

/* The subgradient conditions, computed here from the definition. */
static void check_kkt(const double *X, size_t p, const double *y, const json_t *d, double lambda,
                      double ratio)
{
    double g[512] = { 0 }, g0 = 0;
    for (size_t i = 0; i < N; i++) {
        double eta = coefficient(d, 0, "value");
        for (size_t j = 0; j < p; j++) eta += coefficient(d, j + 1, "value") * X[i * p + j];
        double r = 1 / (1 + exp(-eta)) - y[i];
        g0 += r / N;
        for (size_t j = 0; j < p; j++) g[j] += r * X[i * p + j] / N;
    }
    assert_close(g0, 0, 1e-6);
    for (size_t j = 0; j < p; j++) {
        double b = coefficient(d, j + 1, "value"), pull = g[j] + lambda * (1 - ratio) * b;
        if (b != 0)
            assert_close(pull, -copysign(lambda * ratio, b), 1e-6);
        else
            assert_true(fabs(pull) <= lambda * ratio + 1e-6);
    }
}

TEST(absolute_penalty)
{
    enum { MANY = 150 }; /* more columns than rows */
    double *X = calloc(N * MANY, sizeof *X), y[N];
    for (size_t k = 0; k < 4; k++) {
        size_t p = k < 2 ? P : MANY;
        draw_classes(7 + k, N, p, 2, 0.9, X, y);
        for (size_t a = 0; a < N * p; a++) X[a] = fmax(fmin(X[a], 3), -3);
        cr_table *t = make_table(cx, X, N, p, y, NULL);
        bool      elastic = k % 2;
        cr_model *m = fit(cx, "logistic", t,
                          elastic ? "target=y scale=none penalty=elastic l1_ratio=0.7 lambda=0.05"
                                  : "target=y scale=none penalty=l1 lambda=0.05");
        json_t   *d = describe(cx, m);
        assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
        check_kkt(X, p, y, d, 0.05, elastic ? 0.7 : 1);
        assert_true(isnan(coefficient(d, 1, "sd")));
        if (p == MANY) assert_true(statistic(d, "nonzero") < N);
    }
    free(X);
}

/* A working set of a few of 2000 columns finds what the definition says. */
TEST(working_set)
{
    enum { ROWS = 60, COLUMNS = 1500 };
    double *X = calloc(ROWS * COLUMNS, sizeof *X), *y = calloc(ROWS, sizeof *y);
    cr_rng  r = cr_rng_stream(9, 9);
    draw_normals(&r, X, ROWS * COLUMNS);
    for (size_t i = 0; i < ROWS; i++) y[i] = X[i * COLUMNS + 1400] + 0.5 * X[i * COLUMNS + 3] > 0.2;
    opened a;
    open_classes(cx, X, ROWS, COLUMNS, y, NULL, true, false, &a);
    cri_likelihood    f = { .x = &a.x, .y = a.y, .M = 1, .step = 1 };
    cri_solve_options o = { .l1 = 4, .tol = 1e-12, .max_iter = CR_COUNT_UNSET };
    cri_solution      s;
    assert_ok(cx, cri_solve(cx, &f, &o, false, &s));
    assert_int_equal(s.stop, CR_STOP_TOLERANCE);
    assert_true(s.kkt < 1e-6);
    assert_true(s.theta[1401] != 0);
    cri_solution_free(cx, &s);
    close_classes(cx, &a);
    free(X);
    free(y);
}

/* --- laws ------------------------------------------------------------------------------------ */

TEST(units)
{
    double X[N * P], y[N], XX[N * P];
    draw_classes(14, N, P, 2, 0.9, X, y);
    for (size_t i = 0; i < N * P; i++)
        XX[i] = i % P == 1 ? 1e6 + 1e-3 * X[i] : i % P == 2 ? 1e8 * X[i] : X[i];
    for (int penalised = 0; penalised < 2; penalised++) {
        const char   *settings = penalised ? "target=y lambda=0.02" : "target=y";
        cr_table     *a = make_table(cx, X, N, P, y, NULL), *b = make_table(cx, XX, N, P, y, NULL);
        cr_model     *ma = fit(cx, "logistic", a, settings), *mb = fit(cx, "logistic", b, settings);
        cr_prediction qa = predict(cx, ma, a), qb = predict(cx, mb, b);
        for (size_t i = 0; i < 2 * N; i++) assert_close(qa.prob[i], qb.prob[i], 1e-6);
    }
}

/* --- memory ---------------------------------------------------------------------------------- */
