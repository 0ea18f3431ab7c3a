/* test_robust.c -- robust regression: quantiles against every vertex, Student's and Huber's
 * estimates against their equations, peers' answers, and units. */
#include "../fixture.h"

#include "math/special/special.h"
#include "models/robust/quantile.h"
#include "models/robust/reweight.h"

enum { N = 40, P = 3 };

static void draw(uint64_t seed, double *X, double *y, double *w)
{
    cr_rng r = cr_rng_stream(seed, 9);
    draw_regression(seed, N, P, 1, X, y);
    for (size_t i = 0; i < N; i++) {
        if (i % 9 == 4) y[i] += 15 * cr_rng_normal(&r); /* some wild rows */
        w[i] = 1 + (double)(i % 3);
    }
}

/* --- quantiles ------------------------------------------------------------------------------- */

static double check_loss(const double *X, const double *y, const double *w, size_t n, size_t p,
                         double t, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double r = y[i];
        for (size_t j = 0; j < p; j++) r -= X[i * p + j] * b[j];
        sum += w[i] * (r > 0 ? t * r : (t - 1) * r);
    }
    return sum;
}

/* A best b passes through p rows: the least loss over all choices of them. */
static double best_vertex(const double *X, const double *y, const double *w, size_t n, double t)
{
    enum { K = 3 };
    double best = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            for (size_t k = j + 1; k < n; k++) {
                size_t      rows[K] = { i, j, k };
                long double A[K * K], b[K];
                double      det, at[K];
                for (size_t a = 0; a < K; a++) {
                    for (size_t c = 0; c < K; c++) A[a * K + c] = X[rows[a] * K + c];
                    b[a] = y[rows[a]];
                }
                det = (double)(A[0] * (A[4] * A[8] - A[5] * A[7]) -
                               A[1] * (A[3] * A[8] - A[5] * A[6]) +
                               A[2] * (A[3] * A[7] - A[4] * A[6]));
                if (fabs(det) < 1e-9) continue;
                solve_dense(K, A, b, 1);
                for (size_t a = 0; a < K; a++) at[a] = (double)b[a];
                best = fmin(best, check_loss(X, y, w, n, K, t, at));
            }
    return best;
}

TEST(every_vertex)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        enum { n = 14, p = 3 };
        cr_rng           r = cr_rng_stream(seed, 1);
        double           X[n * p], y[n], w[n], b[p] = { 0 }, t = 0.05 + 0.9 * cr_rng_uniform(&r);
        cri_quantile_fit f;
        for (size_t i = 0; i < n; i++) {
            X[i * p] = 1;
            X[i * p + 1] = seed % 3 == 0 ? floor(4 * cr_rng_uniform(&r)) : cr_rng_normal(&r);
            X[i * p + 2] = cr_rng_normal(&r);
            y[i] = seed % 4 == 0 ? floor(5 * cr_rng_uniform(&r)) : cr_rng_normal(&r); /* ties too */
            w[i] = seed % 2 ? 1 : floor(3 * cr_rng_uniform(&r));
        }
        assert_ok(cx, cri_quantile_solve(cx, X, y, w, n, p, t, 100, b, &f));
        double best = best_vertex(X, y, w, n, t);
        assert_true(f.converged);
        assert_close(f.objective, best, 1e-9);
        assert_close(check_loss(X, y, w, n, p, t, b), f.objective, 1e-12);
        assert_true(f.gap >= 0 && f.gap <= 1e-7 * (best + 1));
    }
}

/* The share of rows below the line is t, to the rows it passes through. */
TEST(share_below)
{
    double X[N * P], y[N], w[N];
    for (int k = 1; k < 10; k++) {
        char settings[128];
        draw((uint64_t)k, X, y, w);
        cr_table *t = make_table(cx, X, N, P, y, NULL);
        snprintf(settings, sizeof settings, "target=y method=quantile quantile=0.%d", k);
        cr_model     *m = fit(cx, "robust", t, settings);
        cr_prediction q = predict(cx, m, t);
        int           below = 0, on = 0;
        for (size_t i = 0; i < N; i++) {
            on += fabs(y[i] - q.mean[i]) < 1e-9;
            below += y[i] < q.mean[i] - 1e-9;
        }
        assert_int_equal(on, P + 1);
        assert_true(below <= 0.1 * k * N && 0.1 * k * N <= below + on);
    }
}

/* --- reweighting ----------------------------------------------------------------------------- */

/* What nu is chosen by, beside the likelihood. */
static double log_prior(double nu) { return log(nu) - 0.1 * nu; }

/* Gradients in b, s and nu vanish: of the log likelihood, of the one restricted to what the line leaves
 * times the prior, and of Huber's loss in b. */
TEST(equations)
{
    static const char *const ways[] = { "target=y weights=w method=huber",
                                        "target=y weights=w prior=none", "target=y weights=w" };
    double                   X[N * P], y[N], w[N];
    for (uint64_t seed = 1; seed < 6; seed++) {
        draw(seed, X, y, w);
        cr_table *t = make_table(cx, X, N, P, y, w);
        for (int way = 0; way < 3; way++) {
            bool          student = way > 0, weak = way == 2;
            cr_model     *m = fit(cx, "robust", t, ways[way]);
            json_t       *d = describe(cx, m);
            cr_prediction q = predict(cx, m, t);
            double        s = statistic(d, "scale"), nu = student ? statistic(d, "dof") : 0;
            double        grad[P + 1] = { 0 }, size[P + 1] = { 0 }, r[N], ds = 0, weight = 0;
            for (size_t i = 0; i < N; i++) {
                double z = (y[i] - q.mean[i]) / s, psi;
                r[i] = y[i] - q.mean[i];
                psi = student ? (nu + 1) * z / (nu + z * z) : fmax(-1.345, fmin(1.345, z));
                weight += w[i];
                ds += w[i] * ((nu + 1) * z * z / (nu + z * z) - 1);
                for (size_t j = 0; j <= P; j++) {
                    double x = j < P ? X[i * P + j] : 1;
                    grad[j] += w[i] * psi * x;
                    size[j] += w[i] * fabs(psi * x);
                }
            }
            for (size_t j = 0; j <= P; j++) assert_true(fabs(grad[j]) <= 1e-5 * size[j]);
            if (!student) continue;
            assert_true(fabs(ds + (weak ? P + 1 : 0)) <= 1e-5 * weight);
            double here = cri_student_log_likelihood(r, w, N, s, nu), direct = 0;
            assert_relative(cr_model_get_report(m)->log_likelihood, here, 1e-10);
            for (int side = -1; side <= 1; side += 2) {
                double other = nu * pow(1.01, side);
                if (side < 0 && nu < 1.001) continue; /* at its bound */
                assert_true(here + weak * log_prior(nu) >=
                            cri_student_log_likelihood(r, w, N, s, other) +
                                weak * log_prior(other));
            }
            for (size_t i = 0; i < N; i++)
                direct += w[i] * (lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(nu * M_PI) -
                                  log(s) - (nu + 1) / 2 * log1p(r[i] * r[i] / (s * s * nu)));
            assert_relative(here, direct, 1e-11);
        }
    }
}

/* Normal data with half as many coefficients as rows, whose likelihood has no bound: every fit has intervals,
 * and about 95 % of new rows are in them; so also with six rows. */
TEST(few_rows)
{
    enum { SETS = 200, NEW = 20, MOST = 40 };
    static const size_t shapes[][2] = { { 6, 2 }, { 20, 10 } };
    for (size_t c = 0; c < 2; c++) {
        size_t n = shapes[c][0], p = shapes[c][1], inside = 0;
        for (size_t set = 0; set < SETS; set++) {
            cr_rng r = cr_rng_stream(11 + c, set);
            double X[MOST * 10], y[MOST], b[10], sd, low, high;
            for (size_t j = 0; j < p; j++) b[j] = cr_rng_normal(&r);
            for (size_t i = 0; i < n + NEW; i++) {
                y[i] = cr_rng_normal(&r);
                for (size_t j = 0; j < p; j++) y[i] += b[j] * (X[i * p + j] = cr_rng_normal(&r));
            }
            cr_table     *t = make_table(cx, X, n, p, y, NULL);
            cr_table     *fresh = make_table(cx, X + n * p, NEW, p, y + n, NULL);
            cr_model     *m = fit(cx, "robust", t, "target=y");
            cr_prediction q = predict(cx, m, fresh);
            for (size_t i = 0; i < NEW; i++) {
                assert_ok(cx, cr_prediction_interval(cx, &q, i, 0.95, &sd, &low, &high));
                assert_true(isfinite(low) && isfinite(high));
                inside += low <= y[n + i] && y[n + i] <= high;
            }
        }
        assert_close((double)inside / (SETS * NEW), 0.955, 0.03);
    }
}

/* Standard errors against how much the estimates vary over many samples. */
TEST(standard_errors)
{
    const char *const methods[] = { "method=student dof=3", "method=huber", "method=lad" };
    for (size_t c = 0; c < 3; c++) {
        enum { n = 200, runs = 120 };
        double sum = 0, square = 0, se = 0;
        for (uint64_t run = 0; run < runs; run++) {
            cr_rng r = cr_rng_stream(run, 50);
            double x[n], y[n];
            char   settings[64];
            for (size_t i = 0; i < n; i++) {
                x[i] = cr_rng_normal(&r);
                y[i] = 1 + 2 * x[i] + cr_rng_normal(&r) / sqrt(cr_rng_gamma(&r, 1.5) / 1.5);
            }
            cr_table *t = make_table(cx, x, n, 1, y, NULL);
            snprintf(settings, sizeof settings, "target=y tolerance=1e-8 %s", methods[c]);
            cr_model *m = fit(cx, "robust", t, settings);
            json_t   *d = describe(cx, m);
            double    b = coefficient(d, 1, "value");
            sum += b, square += b * b;
            se += coefficient(d, 1, "sd") / runs;
        }
        double sd = sqrt((square - sum * sum / runs) / (runs - 1)); /* known to 1 part in 15 */
        assert_true(se > 0.75 * sd && se < 1.3 * sd);
        assert_close(sum / runs, 2, 4 * sd / sqrt(runs));
    }
}

/* --- laws ------------------------------------------------------------------------------------ */

static const char *const every_method[] = { "method=student dof=4", "method=student",
                                            "method=huber", "method=lad",
                                            "method=quantile quantile=0.3" };
enum { METHODS = sizeof every_method / sizeof *every_method };

/* 10 y + 3 has ten times the line; a standardised target changes nothing but rounding. */
TEST(units)
{
    double X[N * P], y[N], w[N], far[N];
    for (size_t c = 0; c < METHODS; c++) {
        char settings[128];
        draw(40 + c, X, y, w);
        for (size_t i = 0; i < N; i++) far[i] = 10 * y[i] + 3;
        cr_table *t = make_table(cx, X, N, P, y, NULL), *u = make_table(cx, X, N, P, far, NULL);
        snprintf(settings, sizeof settings, "target=y %s", every_method[c]);
        cr_model *a = fit(cx, "robust", t, settings), *b = fit(cx, "robust", u, settings);
        snprintf(settings, sizeof settings, "target=y scale_target=standard %s", every_method[c]);
        cr_model     *s = fit(cx, "robust", t, settings);
        cr_prediction p = predict(cx, a, t), q = predict(cx, b, u), v = predict(cx, s, t);
        double        low[3], high[3], sd, score[N], score_s[N];
        assert_ok(cx, cr_score(cx, a, t, score));
        assert_ok(cx, cr_score(cx, s, t, score_s));
        for (size_t i = 0; i < N; i += 7) {
            assert_ok(cx, cr_prediction_interval(cx, &p, i, 0.9, &sd, &low[0], &high[0]));
            assert_ok(cx, cr_prediction_interval(cx, &q, i, 0.9, &sd, &low[1], &high[1]));
            assert_ok(cx, cr_prediction_interval(cx, &v, i, 0.9, &sd, &low[2], &high[2]));
            assert_close(q.mean[i], 10 * p.mean[i] + 3, 1e-5);
            assert_close(low[1], 10 * low[0] + 3, 1e-4);
            assert_close(high[2], high[0], 1e-5);
            assert_close(v.scale[i], p.scale[i], 1e-5);
            assert_close(score_s[i], score[i], 1e-5);
            assert_true(low[0] < p.mean[i] && p.mean[i] < high[0]);
        }
    }
}

/* --- peers ----------------------------------------------------------------------------------- */

static void check_line(const json_t *d, const json_t *names, const json_t *coef, double tolerance)
{
    for (size_t j = 0; j <= json_array_size(names); j++) {
        const char *name = j ? json_string_value(json_array_get(names, j - 1)) : "intercept";
        double      sd = parameter(d, name, "sd");
        assert_close(parameter(d, name, "value") / sd, element(coef, j) / sd, tolerance);
    }
}

TEST(reference)
{
    json_t *cases = reference_cases(cx, "robust_l1"), *item, *part;
    size_t  i, checked = 0;
    json_array_foreach(cases, i, item)
    {
        char        base[512], settings[600];
        const char *id = json_string_value(json_object_get(item, "id")), *share;
        json_t     *names = json_object_get(json_object_get(item, "data"), "features");
        json_t     *want = json_object_get(item, "expected");
        cr_table   *t = reference_table(cx, item, base, sizeof base);
        if (strstr(id, "quantile")) {
            json_object_foreach(want, share, part)
            {
                snprintf(settings, sizeof settings, "%s method=quantile quantile=%s", base, share);
                cr_model *m = fit(cx, "robust", t, settings);
                json_t   *d = describe(cx, m);
                assert_relative(statistic(d, "objective"),
                                number_of(part, "objective_sum_check_loss"), 1e-9);
                cr_model_free(cx, m);
                checked++;
            }
        } else {
            bool huber = strstr(id, "huber") != NULL;
            snprintf(settings, sizeof settings, "%s %s", base,
                     huber ? "method=huber" : "method=student dof=4 prior=none");
            cr_model *m = fit(cx, "robust", t, settings);
            json_t   *d = describe(cx, m);
            check_line(d, names, json_object_get(want, "coef_intercept_first"),
                       huber ? 1e-5 : 1e-6);
            assert_relative(statistic(d, "scale"),
                            number_of(want, huber ? "scale_mad" : "scale_sigma"),
                            huber ? 1e-5 : 1e-6);
            if (!huber)
                assert_relative(cr_model_get_report(m)->log_likelihood, number_of(want, "loglik"),
                                1e-8);
            cr_model_free(cx, m);
            checked++;
        }
    }
    assert_true(checked >= 15);
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(corners)
{
    cr_model *m = NULL;
    warnings  heard = { { 0 }, 0 };
    cr_table *line = table_of_text(cx, "line.csv", "x,y\n1,2\n2,4\n3,6\n4,8\n5,99\n");
    cr_table *exact = table_of_text(cx, "exact.csv", "x,y\n1,2\n2,4\n3,6\n4,8\n");
    cr_ctx_set_log(cx, keep_warning, &heard);
    const char *const spreadless[] = { "target=y dof=1", "target=y", "target=y method=huber" };
    for (size_t c = 0; c < 3; c++) {
        heard.text[0] = 0;
        m = fit(cx, "robust", c == 0 ? line : exact, spreadless[c]);
        assert_non_null(strstr(heard.text, "scale is 0"));
        cr_prediction q = predict(cx, m, exact);
        for (size_t i = 0; i < 4; i++) assert_close(q.mean[i], 2 * ((double)i + 1), 1e-9);
        assert_true(isnan(q.scale[1]));
    }
    cr_table_free(cx, exact);
    m = fit(cx, "robust", line, "target=y method=lad"); /* the wild row does not matter at all */
    json_t *d = describe(cx, m);
    assert_close(parameter(d, "x", "value"), 2, 1e-12);
    assert_close(parameter(d, "intercept", "value"), 0, 1e-12);
    assert_close(statistic(d, "objective"), 0.5 * 89, 1e-10);
    cr_model_free(cx, m);
    cr_table_free(cx, line);

    cr_prediction p;

    /* A column twice: one of them is left out, the line is the same. */
    cr_table *twice =
        table_of_text(cx, "twice.csv", "a,b,y\n1,2,3\n2,4,1\n3,6,4\n4,8,2\n5,10,9\n6,12,5\n");
    m = fit(cx, "robust", twice, "target=y method=quantile quantile=0.4");
    cr_model *alone = fit(cx, "robust", twice, "target=y features=a method=quantile quantile=0.4");
    p = predict(cx, m, twice);
    cr_prediction q = predict(cx, alone, twice);
    for (size_t i = 0; i < 6; i++) assert_close(p.mean[i], q.mean[i], 1e-9);
}

/* What is not known is empty: no sd, no p, no interval, and a warning. */
static void check_unknown_spread(cr_ctx *cx, const cr_table *t, const char *settings,
                                 const char *wanted, double intercept, double slope)
{
    warnings heard = { { 0 }, 0 };
    cr_ctx_set_log(cx, keep_warning, &heard);
    cr_model     *m = fit(cx, "robust", t, settings);
    json_t       *d = describe(cx, m);
    cr_prediction q = predict(cx, m, t);
    assert_non_null(strstr(heard.text, wanted));
    assert_close(parameter(d, "intercept", "value"), intercept, 1e-11);
    assert_close(parameter(d, "x", "value"), slope, 1e-11);
    assert_true(isnan(parameter(d, "intercept", "sd")) && isnan(parameter(d, "x", "sd")));
    assert_true(isnan(parameter(d, "x", "p")));
    assert_true(isnan(statistic(d, "scale")));
    assert_null(q.family);
    for (size_t i = 0; i < q.n; i++) assert_true(isfinite(q.mean[i]) && isnan(q.scale[i]));
    cr_model_free(cx, m);
    cr_ctx_set_log(cx, NULL, NULL);
}

TEST(unknown_spread)
{
    static const char *const ways[] = { "target=y prior=none", "target=y method=huber",
                                        "target=y dof=0.5", "target=y method=lad",
                                        "target=y method=quantile" };
    enum { ROWS = 20 };
    double    x[ROWS], y[ROWS];
    cr_rng    r = cr_rng_stream(2, 6);
    cr_table *one = table_of_text(cx, "one.csv", "x,y\n1,2\n");
    for (size_t k = 0; k < 5; k++)
        check_unknown_spread(cx, one, ways[k], "as many coefficients as rows", 2, 0);
    cr_table_free(cx, one);
    for (size_t i = 0; i < ROWS; i++) x[i] = (double)i, y[i] = 2 + 3 * x[i];
    for (int wild = 0; wild < 2; wild++) { /* all rows on the line; then 11 of 20 */
        for (size_t i = 0; wild && i < ROWS; i++)
            if (i % 2 == 0 && i != 8) y[i] += 2 * cr_rng_normal(&r);
        cr_table *t = NULL;
        assert_ok(cx, cr_table_new(cx, "line.csv", ROWS, &t));
        assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
        assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_REAL, y, 1));
        for (size_t k = 0; k < (wild ? 3 : 5); k++)
            check_unknown_spread(cx, t, ways[k], "scale is 0", 2, 3);
        if (wild) { /* with the prior there is a spread, and the line is almost that one */
            json_t *d = describe(cx, fit(cx, "robust", t, "target=y"));
            assert_true(statistic(d, "scale") > 1e-3);
            assert_close(parameter(d, "x", "value"), 3, 0.05);
        } else
            check_unknown_spread(cx, t, "target=y", "scale is 0", 2, 3);
        cr_table_free(cx, t);
    }
}

/* Noise wilder than Cauchy's: the degrees of freedom stop at 1, unless fewer are asked for. */
TEST(least_degrees_of_freedom)
{
    enum { ROWS = 60 };
    double x[ROWS], y[ROWS];
    cr_rng r = cr_rng_stream(5, 6);
    for (size_t i = 0; i < ROWS; i++) {
        double z = cr_rng_normal(&r);
        x[i] = (double)i, y[i] = z * exp(3 * fabs(z));
    }
    cr_table *t = make_table(cx, x, ROWS, 1, y, NULL);
    for (int given = 0; given < 2; given++) {
        cr_model     *m = fit(cx, "robust", t, given ? "target=y dof=0.4" : "target=y");
        json_t       *d = describe(cx, m);
        cr_prediction q = predict(cx, m, t);
        assert_close(statistic(d, "dof"), given ? 0.4 : 1, 1e-6);
        assert_true(statistic(d, "scale") > 0.1 && q.scale[0] > 0.1);
    }
}

/* Fewer than five rows beyond a quantile are too few for its intervals: said, for either tail. */
TEST(few_rows_beyond_a_quantile)
{
    static const struct {
        const char *settings;
        size_t      rows;
        bool        few;
    } kinds[] = {
        { "target=y method=quantile quantile=0.9", 49, true },
        { "target=y method=quantile quantile=0.9", 50, false },
        { "target=y method=quantile quantile=0.1", 30, true },
        { "target=y method=quantile quantile=0.5", 12, false },
        { "target=y method=lad", 12, false },
    };
    double x[50], y[50];
    cr_rng r = cr_rng_stream(8, 6);
    for (size_t i = 0; i < 50; i++) x[i] = cr_rng_normal(&r), y[i] = x[i] + cr_rng_normal(&r);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        cr_table   *t = make_table(cx, x, kinds[k].rows, 1, y, NULL);
        warnings    heard;
        const char *said = fit_and_hear(cx, "robust", t, kinds[k].settings, &heard);
        if ((strstr(said, "beyond the quantile") != NULL) != kinds[k].few)
            fail_msg("%zu rows, %s: %s", kinds[k].rows, kinds[k].settings, said);
    }
}

/* --- levels ---------------------------------------------------------------------------------- */

static cr_table *draw_levels(cr_ctx *cx, size_t levels, size_t each)
{
    size_t size = 64 * levels * each, used;
    char  *text = malloc(size);
    cr_rng r = cr_rng_stream(3, 2);
    used = (size_t)snprintf(text, size, "g,x,y\n");
    for (size_t i = 0; i < levels * each; i++) {
        double x = cr_rng_normal(&r), e = cr_rng_normal(&r) / (i % 40 == 0 ? 0.05 : 1);
        used += (size_t)snprintf(text + used, size - used, "g%04zu,%.17g,%.17g\n", i % levels, x,
                                 sin((double)(i % levels)) + 0.2 * x + e);
    }
    cr_table *t = table_of_text(cx, "levels.csv", text);
    free(text);
    return t;
}

/* A category of many levels is eliminated from the equations of every step: at the end the residuals of every level,
 * each by its weight, sum to 0, and so do their products with a column. */
TEST(many_levels)
{
    enum { LEVELS = 1500 };
    static const char *const settings[] = { "target=y", "target=y method=huber" };
    cr_table                *t = draw_levels(cx, LEVELS, 4);
    for (size_t v = 0; v < 2; v++) {
        cr_model     *m = fit(cx, "robust", t, settings[v]);
        json_t       *d = describe(cx, m);
        cr_prediction p = predict(cx, m, t);
        double       *left = calloc(LEVELS, sizeof *left), along = 0, s = statistic(d, "scale");
        for (size_t i = 0; i < p.n; i++) {
            double e = cr_table_find(t, "y")->values[i] - p.mean[i], z = fabs(e) / s;
            double nu = v ? 0 : statistic(d, "dof");
            double u = v ? fmin(1, 1.345 / z) : (nu + 1) / (nu + z * z);
            left[i % LEVELS] += u * e, along += u * e * cr_table_find(t, "x")->values[i];
        }
        for (size_t k = 0; k < LEVELS; k++) assert_close(left[k], 0, 1e-4);
        assert_close(along, 0, 1e-3);
        assert_true(parameter(d, "g=g0007", "sd") > 0.1);
        free(left);
    }
}

/* Linear programming has no such way: refused at once where it would take minutes. */
TEST(levels_of_quantiles_are_refused)
{
    cr_model *m = NULL;
    cr_table *t = draw_levels(cx, 2200, 4);
    assert_fails_with(cx, try_fit(cx, "robust", t, "target=y method=lad", &m), CR_EDATA,
                      "the category 'g' has 2200 levels in 8800 rows");
    assert_non_null(strstr(cr_error_hint(cx), "--method student"));
}
