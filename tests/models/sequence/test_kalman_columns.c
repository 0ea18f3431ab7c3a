/* Several columns that are observed together: --beside. */
#include "../life.h"
#include "kalman_dense.h"
#include "math/optim/differences.h"
#include "models/core/parts.h"
#include "models/core/sequence.h"
#include "models/sequence/kalman_joint.h"
#include "models/sequence/kalman_search.h"
#include "prob/gaussian/gaussian.h"

enum { ROWS = 16, MOST_PARAMETERS = 24 };

static cr_status height(void *arg, const double *theta, double *out)
{
    return cri_kalman_evaluate(arg, theta, out, NULL, NULL);
}

/* --- the likelihood -------------------------------------------------------------------------- */

/* Against the joint distribution of all values, and Ridders' differences; with gaps in any column, and two series. */
TEST(likelihood_and_gradient)
{
    static const struct {
        const char *parts;
        size_t      p, series, unknown;
    } cases[] = { { "level", 2, 2, 4 },         { "level", 3, 2, 6 },
                  { "trend", 2, 2, 8 },         { "cycle", 2, 2, 4 },
                  { "arma:1,1", 2, 2, 4 },      { "seasonal:3,level", 2, 1, 6 },
                  { "ar:2+irregular", 2, 2, 4 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (uint64_t seed = 0; seed < 2; seed++) {
            cr_scratch        s = cr_scratch_begin(cx);
            cri_kalman_plan   plan;
            cri_kalman_target t;
            cr_rng            r = cr_rng_stream(seed, k);
            size_t            p = cases[k].p, start[] = { 0, 7, ROWS };
            if (cases[k].series == 1) start[1] = ROWS;
            double y[ROWS * 3], theta[MOST_PARAMETERS], gradient[MOST_PARAMETERS];
            double slope[MOST_PARAMETERS], value, wanted;
            draw_normals(&r, y, ROWS * p);
            for (size_t i = 0; i < ROWS * p; i++)
                if (cr_rng_uniform(&r) < 0.2) y[i] = NAN;
            cri_kalman_data data = { .n = ROWS, .series = cases[k].series, .start = start, .y = y };
            assert_ok(cx, cri_kalman_plan_read(cx, cases[k].parts, 0, 12, &plan));
            assert_ok(cx, cri_kalman_plan_join(cx, p, &plan));
            assert_true(plan.n_theta <= MOST_PARAMETERS && plan.m <= MOST_STATES);
            assert_ok(cx, cri_kalman_target_new(&s, &plan, &data, NULL, 0, &t));
            draw_normals(&r, theta, plan.n_theta);
            assert_ok(cx, cri_kalman_evaluate(&t, theta, &value, gradient, slope));
            dense *o = dense_of(cx, &t.system, &data);
            dense_solve(o);
            assert_int_equal(o->unknown, cases[k].unknown);
            assert_close(value, o->log_likelihood, 1e-8);
            dense_free(cx, o);
            for (size_t i = 0; i < plan.n_theta; i++) {
                assert_int_equal(cri_ridders(height, &t, theta, i, &wanted), CR_OK);
                assert_close(gradient[i], wanted, 1e-6);
                if (plan.scale[i] == CRI_KALMAN_VARIANCE)
                    assert_close(slope[i] * exp(theta[i]), gradient[i], 1e-9);
            }
            cr_scratch_end(&s);
        }
}

/* Correlations by theta make a covariance, and their slopes are their differences. */
TEST(parameters_as_they_are_shown)
{
    cri_kalman_plan plan;
    cr_rng          r = cr_rng_stream(5, 5);
    double          theta[40], value[40], up[40], down[40], jacobian[40 * 40];
    assert_ok(cx, cri_kalman_plan_read(cx, "level", 0, 12, &plan));
    assert_ok(cx, cri_kalman_plan_join(cx, 4, &plan));
    assert_int_equal(plan.n_theta, 2 * 10);
    size_t n = plan.n_theta;
    draw_normals(&r, theta, n);
    cri_kalman_values(&plan, theta, value, jacobian);
    for (size_t i = 0; i < n; i++) {
        double old = theta[i], h = 1e-5;
        theta[i] = old + h, cri_kalman_values(&plan, theta, up, NULL);
        theta[i] = old - h, cri_kalman_values(&plan, theta, down, NULL);
        theta[i] = old;
        for (size_t j = 0; j < n; j++)
            assert_close(jacobian[j * n + i], (up[j] - down[j]) / (2 * h), 1e-8);
    }
    /* the blocks of Q are what the values say */
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_system system;
    size_t            m = plan.m, found = 0;
    assert_ok(cx, cri_kalman_new_of(&s, &plan, &system));
    assert_true(cri_kalman_build(&plan, theta, &system, cr_scratch_f64(&s, 6 * m * m)));
    for (size_t i = 0; i < n; i++) {
        cri_kalman_entry_of e;
        assert_true(cri_kalman_entry(&plan, i, &e));
        size_t at = e.of == 1 ? 0 : plan.m1 * plan.p; /* the irregular is first of the variances */
        double v = system.Q[(at + e.a) * (m + 1)], w = system.Q[(at + e.b) * (m + 1)];
        double c = system.Q[(at + e.a) * m + at + e.b];
        assert_relative(e.a == e.b ? v : c / sqrt(v * w), value[i], 1e-12);
        found += e.a != e.b;
    }
    assert_int_equal(found, 12);
    cr_scratch_end(&s);
}

/* --- models ---------------------------------------------------------------------------------- */

/* Rows from .. to - 1 of two walks with correlated shocks and noise, in units far apart, with gaps. */
static cr_table *walks_of(cr_ctx *cx, uint64_t seed, size_t from, size_t to, double gaps)
{
    text_buffer b = text_new(1 << 16);
    cr_rng      r = cr_rng_stream(seed, 9);
    double      x = 100, y = -3;
    text_put(&b, "t,x,y\n");
    for (size_t i = 0; i < to; i++) {
        double e = cr_rng_normal(&r), f = cr_rng_normal(&r);
        x += 5 * e, y += 0.08 * (0.8 * e + 0.6 * f);
        e = cr_rng_normal(&r), f = cr_rng_normal(&r);
        bool no_x = cr_rng_uniform(&r) < gaps, no_y = cr_rng_uniform(&r) < gaps;
        if (i < from) continue;
        text_put(&b, "%zu,", i);
        if (!no_x) text_put(&b, "%.9g", x + 10 * e);
        text_put(&b, ",");
        if (!no_y) text_put(&b, "%.9g", y + 0.1 * (-0.6 * e + 0.8 * f));
        text_put(&b, "\n");
    }
    cr_table *t = table_of_text(cx, "walks.csv", b.at);
    free(b.at);
    return t;
}

static cr_table *two_walks(cr_ctx *cx, uint64_t seed, size_t n, double gaps)
{
    return walks_of(cx, seed, 0, n, gaps);
}

static void release_forecast(cr_ctx *cx, void *f) { cr_forecast_free(cx, f); }

static void forecast(cr_ctx *cx, const cr_model *m, size_t ahead, cr_forecast *f)
{
    assert_ok(cx, cr_forecast_rows(cx, m, NULL, ahead, f));
    test_own(cx, f, release_forecast);
}

TEST(parameters_come_back_with_intervals_that_cover_them)
{
    static const struct {
        const char *name;
        double      value;
    } truth[] = { { "variance.level.x", 25 },       { "variance.irregular.x", 100 },
                  { "variance.level.y", 0.0064 },   { "variance.irregular.y", 0.01 },
                  { "correlation.level.x.y", 0.8 }, { "correlation.irregular.x.y", -0.6 } };
    size_t inside = 0, runs = simulation_size(8, 30);
    for (uint64_t seed = 0; seed < runs; seed++) {
        cr_model *m = fit(cx, "kalman", two_walks(cx, seed, 250, 0.1), "target=x beside=y time=t");
        json_t   *d = describe(cx, m);
        assert_true(cr_model_get_report(m)->stop == CR_STOP_TOLERANCE);
        for (size_t k = 0; k < 6; k++) {
            double low = parameter(d, truth[k].name, "lower");
            double high = parameter(d, truth[k].name, "upper");
            inside += low <= truth[k].value && truth[k].value <= high;
        }
        give_back_model(cx, m);
    }
    double share = (double)inside / (6 * (double)runs);
    assert_true(share > 0.88 && share <= 1);
}

/* Whichever column is the target, it is one model. */
TEST(columns_may_change_places)
{
    cr_table          *t = two_walks(cx, 3, 120, 0.15);
    cr_model          *m = fit(cx, "kalman", t, "target=x beside=y time=t components=trend");
    cr_model          *n = fit(cx, "kalman", t, "target=y beside=x time=t components=trend");
    json_t            *d = describe(cx, m), *e = describe(cx, n);
    static cr_forecast f, g;
    assert_close(cr_model_get_report(m)->log_likelihood, cr_model_get_report(n)->log_likelihood,
                 1e-5);
    assert_close(statistic(d, "bic"), statistic(e, "bic"), 1e-5);
    assert_int_equal((int)statistic(d, "diffuse"), 4);
    assert_relative(parameter(d, "variance.irregular.y", "value"),
                    parameter(e, "variance.irregular.y", "value"), 1e-3);
    forecast(cx, m, 6, &f);
    forecast(cx, n, 6, &g);
    assert_int_equal(f.beside, 1);
    assert_string_equal(f.beside_names[0], "y");
    for (size_t h = 0; h < 6; h++) {
        assert_relative(f.p.mean[h], g.beside_mean[h], 1e-4);
        assert_relative(f.p.scale[h], g.beside_sd[h], 1e-3);
        assert_relative(f.beside_mean[h], g.p.mean[h], 1e-3);
        assert_relative(f.beside_sd[h], g.p.scale[h], 1e-3);
    }
    cr_forecast_columns c;
    assert_ok(cx, cr_forecast_columns_of(cx, m, &f, 0.95, &c));
    assert_int_equal(c.n, 6);
    assert_int_equal(c.columns, 1);
    assert_string_equal(c.name[0], "y");
    assert_relative(c.upper[5], f.beside_mean[5] + 1.959963984540054 * f.beside_sd[5], 1e-12);
    cr_forecast_columns_free(cx, &c);
}

/* --- matrices -------------------------------------------------------------------------------- */

#define MODEL                                                                                      \
    "{\"T\":[[1,1],[0,0.9]],\"Q\":[[1,0.2],[0.2,0.5]],\"Z\":[[1,0],[0.5,2]],"                      \
    "\"H\":%s,\"mean\":[1,-1],\"cov\":[[4,1],[1,2]]}"

enum { SEEN = 5, AHEAD = 3, ALL = SEEN + AHEAD };

static const double seen[SEEN][2] = {
    { 1.5, -1 }, { NAN, 0.3 }, { 2.5, NAN }, { NAN, NAN }, { 4, 1 }
};
static const char rows[] = "x,y\n1.5,-1\n,0.3\n2.5,\n,\n4,1\n";

/* Mean and covariance of the values of all rows, from the matrices: by hand, value t of column c at 2 t + c. */
static void joint_distribution(const double *H, double *mean, double *S)
{
    static const double T[2][2] = { { 1, 1 }, { 0, 0.9 } }, Q[2][2] = { { 1, 0.2 }, { 0.2, 0.5 } };
    static const double Z[2][2] = { { 1, 0 }, { 0.5, 2 } };
    double              a[2] = { 1, -1 }, P[2][2] = { { 4, 1 }, { 1, 2 } };
    for (size_t t = 0; t < ALL; t++) {
        double C[2][2]; /* covariance of the states of row u >= t with those of row t */
        memcpy(C, P, sizeof C);
        for (size_t u = t; u < ALL; u++) {
            for (size_t c = 0; c < 2; c++)
                for (size_t e = 0; e < 2; e++) {
                    double v = u == t ? H[2 * c + e] : 0;
                    for (size_t i = 0; i < 2; i++)
                        for (size_t j = 0; j < 2; j++) v += Z[c][i] * C[i][j] * Z[e][j];
                    S[(2 * u + c) * 2 * ALL + 2 * t + e] = S[(2 * t + e) * 2 * ALL + 2 * u + c] = v;
                }
            double D[2][2];
            for (size_t i = 0; i < 2; i++)
                for (size_t j = 0; j < 2; j++) D[i][j] = T[i][0] * C[0][j] + T[i][1] * C[1][j];
            memcpy(C, D, sizeof C);
        }
        for (size_t c = 0; c < 2; c++) mean[2 * t + c] = Z[c][0] * a[0] + Z[c][1] * a[1];
        double b[2], R[2][2];
        for (size_t i = 0; i < 2; i++) {
            b[i] = T[i][0] * a[0] + T[i][1] * a[1];
            for (size_t j = 0; j < 2; j++) {
                R[i][j] = Q[i][j];
                for (size_t k = 0; k < 2; k++)
                    for (size_t l = 0; l < 2; l++) R[i][j] += T[i][k] * P[k][l] * T[j][l];
            }
        }
        memcpy(a, b, sizeof a);
        memcpy(P, R, sizeof P);
    }
}

/* Likelihood, predictions of rows given those before, and forecasts of both columns: those of the joint normal
 * distribution.  Noise that is correlated, by variances alone, and by a diagonal matrix. */
TEST(matrices_are_the_joint_normal_distribution)
{
    static const struct {
        const char *text;
        double      H[4];
    } noises[] = { { "[[1,0.6],[0.6,0.8]]", { 1, 0.6, 0.6, 0.8 } },
                   { "[1,0.8]", { 1, 0, 0, 0.8 } },
                   { "[[1,0],[0,0.8]]", { 1, 0, 0, 0.8 } } };
    static cr_forecast forecasts[3];
    for (size_t k = 0; k < 3; k++) {
        char         settings[512] = "target=x beside=y model=";
        cr_forecast *f = &forecasts[k];
        double       mean[2 * ALL], S[4 * ALL * ALL], values[2 * SEEN], log_density;
        size_t       which[2 * SEEN], n = 0;
        cr_table    *t = table_of_text(cx, "rows.csv", rows);
        snprintf(settings + strlen(settings), sizeof settings - strlen(settings), MODEL,
                 noises[k].text);
        cr_model     *m = fit(cx, "kalman", t, settings);
        cr_prediction p = predict(cx, m, t);
        cr_gaussian  *g, *rest;
        joint_distribution(noises[k].H, mean, S);
        assert_ok(cx, cr_gaussian_new(cx, mean, cr_cmat_of(S, 2 * ALL, 2 * ALL), &g));
        for (size_t i = 0; i < SEEN; i++) {
            /* the target of row i is the first of those that are left, given what was seen before: rows with gaps
             * leave some of theirs before it */
            size_t at = 0;
            for (size_t j = 0; j < 2 * i; j++) at += isnan(seen[j / 2][j % 2]) ? 1 : 0;
            if (n > 0) {
                assert_ok(cx, cr_gaussian_condition(cx, g, which, n, values, &rest, NULL));
                assert_relative(p.mean[i], rest->mean[at], 1e-10);
                assert_relative(p.scale[i], sqrt(rest->covariance[at * (rest->d + 1)]), 1e-10);
                cr_gaussian_free(cx, rest);
            }
            for (size_t c = 0; c < 2; c++)
                if (!isnan(seen[i][c])) which[n] = 2 * i + c, values[n++] = seen[i][c];
        }
        assert_ok(cx, cr_gaussian_condition(cx, g, which, n, values, &rest, &log_density));
        assert_relative(cr_model_get_report(m)->log_likelihood, log_density, 1e-10);
        forecast(cx, m, AHEAD, f);
        for (size_t h = 0; h < AHEAD; h++) {
            size_t at = 2 * SEEN - n + 2 * h;
            assert_relative(f->p.mean[h], rest->mean[at], 1e-10);
            assert_relative(f->p.scale[h], sqrt(rest->covariance[at * (rest->d + 1)]), 1e-10);
            assert_relative(f->beside_mean[h], rest->mean[at + 1], 1e-10);
            assert_relative(f->beside_sd[h], sqrt(rest->covariance[(at + 1) * (rest->d + 1)]),
                            1e-10);
        }
        cr_gaussian_free(cx, rest);
        cr_gaussian_free(cx, g);
    }
}

/* The signal of a gap in the target, given all rows of both columns, and draws of it. */
TEST(gaps_are_filled_from_the_other_column)
{
    char                 settings[512] = "target=x beside=y model=";
    double               mean[2 * ALL], S[4 * ALL * ALL], values[2 * SEEN];
    const double         H[4] = { 1, 0.6, 0.6, 0.8 };
    size_t               which[2 * SEEN], n = 0, draws = 4000;
    cr_table            *t = table_of_text(cx, "rows.csv", rows);
    static cr_prediction p; /* the fixture's until the end of the test */
    cr_gaussian         *g, *rest;
    p = (cr_prediction){ 0 };
    snprintf(settings + strlen(settings), sizeof settings - strlen(settings), MODEL,
             "[[1,0.6],[0.6,0.8]]");
    cr_model *m = fit(cx, "kalman", t, settings);
    assert_ok(cx, cr_smooth(cx, m, t, &p));
    test_own(cx, &p, release_prediction);
    joint_distribution(H, mean, S);
    assert_ok(cx, cr_gaussian_new(cx, mean, cr_cmat_of(S, 2 * ALL, 2 * ALL), &g));
    for (size_t i = 0; i < 2 * SEEN; i++)
        if (!isnan(seen[i / 2][i % 2])) which[n] = i, values[n++] = seen[i / 2][i % 2];
    assert_ok(cx, cr_gaussian_condition(cx, g, which, n, values, &rest, NULL));
    /* left are x of row 2, y of row 3, x and y of row 4: x of row 2 has noise of which y of that row says something */
    static const size_t row[] = { 1, 3 }, left[] = { 0, 2 };
    double             *drawn = cr_alloc(cx, SEEN * draws, sizeof *drawn);
    assert_ok(cx, cr_sample_targets(cx, m, t, draws, 5, drawn));
    for (size_t k = 0; k < 2; k++) {
        double sd = sqrt(rest->covariance[left[k] * (rest->d + 1)]), sum = 0, square = 0;
        assert_relative(p.mean[row[k]], rest->mean[left[k]], 1e-10);
        assert_relative(p.scale[row[k]], sd, 1e-10);
        for (size_t i = 0; i < draws; i++) {
            double off = drawn[row[k] * draws + i] - rest->mean[left[k]];
            sum += off / (double)draws, square += off * off / (double)draws;
        }
        assert_true(fabs(sum) < 4 * sd / sqrt((double)draws));
        assert_true(fabs(square / (sd * sd) - 1) < 0.1);
    }
    cr_free(cx, drawn, SEEN * draws, sizeof *drawn);
    cr_gaussian_free(cx, rest);
    cr_gaussian_free(cx, g);
}

static void put_matrix(text_buffer *b, const char *name, const json_t *of)
{
    char *text = json_dumps(of, JSON_COMPACT);
    text_put(b, "\"%s\":%s", name, text);
    free(text);
}

/* The case of the reference: positions in the plane with correlated noise, the state known before the first row. */
TEST(tracking)
{
    size_t        i;
    json_t       *row;
    const json_t *c = NULL, *cases = reference_cases(cx, "kalman");
    text_buffer   b = text_new(1 << 10), rows_of = text_new(1 << 14);
    for (i = 0; i < json_array_size(cases); i++) {
        c = json_array_get(cases, i);
        if (strcmp(json_string_value(json_object_get(c, "id")), "kalman-tracking-11") == 0) break;
    }
    assert_true(i < json_array_size(cases));
    const json_t *set = json_object_get(c, "settings"), *want = json_object_get(c, "expected");
    static const char *const names[] = { "F", "Q", "H", "R" };
    text_put(&b, "target=x beside=y model={");
    for (size_t k = 0; k < 4; k++) {
        put_matrix(&b, names[k], json_object_get(set, names[k]));
        text_put(&b, ",");
    }
    text_put(&b, "\"mean\":[0,0,0,0],\"cov\":[[10,0,0,0],[0,10,0,0],[0,0,10,0],[0,0,0,10]],"
                 "\"before\":true}");
    text_put(&rows_of, "x,y\n");
    json_array_foreach(json_object_get(json_object_get(c, "data"), "inline"), i, row)
        text_put(&rows_of, "%.17g,%.17g\n", json_number_value(json_array_get(row, 0)),
                 json_number_value(json_array_get(row, 1)));
    cr_table *t = table_of_text(cx, "track.csv", rows_of.at);
    cr_model *m = fit(cx, "kalman", t, b.at);
    double   *mean = cr_alloc(cx, cr_table_rows(t), sizeof *mean);
    double   *sd = cr_alloc(cx, cr_table_rows(t), sizeof *sd);
    free(b.at);
    free(rows_of.at);
    assert_relative(cr_model_get_report(m)->log_likelihood, number_of(want, "loglik"), 1e-9);
    assert_ok(cx, cr_predict_function(cx, m, t, false, mean, sd, NULL));
    assert_relative(mean[0], element(json_object_get(want, "smoothed_mean_first"), 0), 1e-8);
    const json_t *V = json_array_get(json_object_get(want, "smoothed_cov_first"), 0);
    assert_relative(sd[0] * sd[0], element(V, 0), 1e-8);
    cr_free(cx, mean, cr_table_rows(t), sizeof *mean);
    cr_free(cx, sd, cr_table_rows(t), sizeof *sd);
}

/* Of a row that is there: the signal given all values, and with noise that is new. */
TEST(signals_have_no_noise)
{
    enum { D = 2 * ALL + 1, SIGNAL = 2 * ALL };
    char         settings[512] = "target=x beside=y model=";
    double       mean[D], S[4 * ALL * ALL], T[D * D], values[2 * SEEN], function[SEEN], sd[SEEN];
    const double H[4] = { 1, 0.6, 0.6, 0.8 };
    size_t       which[2 * SEEN], n = 0;
    cr_table    *t = table_of_text(cx, "rows.csv", rows);
    static cr_prediction p; /* the fixture's until the end of the test */
    cr_gaussian         *g, *rest;
    p = (cr_prediction){ 0 };
    snprintf(settings + strlen(settings), sizeof settings - strlen(settings), MODEL,
             "[[1,0.6],[0.6,0.8]]");
    cr_model *m = fit(cx, "kalman", t, settings);
    assert_ok(cx, cr_smooth(cx, m, t, &p));
    test_own(cx, &p, release_prediction);
    assert_ok(cx, cr_predict_function(cx, m, t, false, function, sd, NULL));
    joint_distribution(H, mean, S);
    for (size_t i = 0; i < 2 * ALL;
         i++) /* the signal of x in the first row is its value less its noise */
        for (size_t j = 0; j < 2 * ALL; j++) T[i * D + j] = S[i * 2 * ALL + j];
    for (size_t i = 0; i < 2 * ALL; i++)
        T[i * D + SIGNAL] = T[SIGNAL * D + i] = S[i] - (i < 2 ? H[i] : 0);
    T[D * D - 1] = S[0] - H[0];
    mean[SIGNAL] = mean[0];
    for (size_t i = 0; i < 2 * SEEN; i++)
        if (!isnan(seen[i / 2][i % 2])) which[n] = i, values[n++] = seen[i / 2][i % 2];
    assert_ok(cx, cr_gaussian_new(cx, mean, cr_cmat_of(T, D, D), &g));
    assert_ok(cx, cr_gaussian_condition(cx, g, which, n, values, &rest, NULL));
    double variance = rest->covariance[rest->d * rest->d - 1];
    assert_relative(function[0], rest->mean[rest->d - 1], 1e-10);
    assert_relative(sd[0], sqrt(variance), 1e-9);
    assert_relative(p.mean[0], rest->mean[rest->d - 1], 1e-10);
    assert_relative(p.scale[0], sqrt(variance + H[0]), 1e-9);
    cr_gaussian_free(cx, rest);
    cr_gaussian_free(cx, g);
}

/* An update is the filter gone on. */
TEST(updates_go_on)
{
    cr_table *t = two_walks(cx, 8, 90, 0.1);
    cr_table *head = walks_of(cx, 8, 0, 50, 0.1), *tail = walks_of(cx, 8, 50, 90, 0.1);
    char      settings[512] = "target=x beside=y model=";
    snprintf(settings + strlen(settings), sizeof settings - strlen(settings), MODEL,
             "[[9,0.6],[0.6,0.8]]");
    cr_model *all = fit(cx, "kalman", t, settings), *m = fit(cx, "kalman", head, settings), *more;
    assert_ok(cx, cr_update(cx, m, tail, &more));
    test_own(cx, more, release_model);
    static cr_forecast f, g;
    forecast(cx, all, 2, &f);
    forecast(cx, more, 2, &g);
    assert_relative(statistic(describe(cx, more), "bic"), statistic(describe(cx, all), "bic"),
                    1e-9);
    for (size_t h = 0; h < 2; h++) {
        assert_relative(g.p.mean[h], f.p.mean[h], 1e-9);
        assert_relative(g.beside_mean[h], f.beside_mean[h], 1e-9);
        assert_relative(g.beside_sd[h], f.beside_sd[h], 1e-9);
    }
}

/* An outlier of the second column is named by it, and so is a break. */
TEST(outliers_and_breaks_name_their_column)
{
    text_buffer b = text_new(1 << 14);
    cr_rng      r = cr_rng_stream(4, 4);
    text_put(&b, "x,y\n");
    for (size_t i = 0; i < 80; i++)
        text_put(&b, "%.6f,%.6f\n", cr_rng_normal(&r) + (i >= 50 ? 20 : 0),
                 cr_rng_normal(&r) + (i == 30 ? 12 : 0));
    cr_table *t = table_of_text(cx, "broken.csv", b.at);
    free(b.at);
    json_t *d = describe(cx, fit(cx, "kalman", t, "target=x beside=y"));
    assert_int_equal((int)statistic(d, "outlier_row"), 31);
    assert_int_equal((int)statistic(d, "break_row"), 51);
    json_t *s = json_object_get(d, "statistics");
    assert_string_equal(json_string_value(json_object_get(s, "outlier_column")), "y");
    assert_string_equal(json_string_value(json_object_get(s, "break_part")), "level.x");
}

/* Columns that do not move together, or move as one. */
TEST(variances_at_0_and_levels_in_common)
{
    text_buffer b = text_new(1 << 14);
    cr_rng      r = cr_rng_stream(6, 4);
    double      level = 0;
    text_put(&b, "x,y,z\n");
    for (size_t i = 0; i < 200; i++) {
        level += cr_rng_normal(&r);
        text_put(&b, "%.6f,%.6f,%.6f\n", level + cr_rng_normal(&r), 2 * level + cr_rng_normal(&r),
                 cr_rng_normal(&r));
    }
    cr_table *t = table_of_text(cx, "common.csv", b.at);
    free(b.at);
    cr_model *m = fit(cx, "kalman", t, "target=x beside=y,z");
    json_t   *d = describe(cx, m);
    assert_true(cr_model_get_report(m)->stop == CR_STOP_TOLERANCE);
    assert_true(parameter(d, "correlation.level.x.y", "value") > 0.9999);
    assert_true(isnan(parameter(d, "correlation.level.x.y", "sd")));
    assert_true(parameter(d, "variance.level.z", "value") < 0.02);
    assert_true(fabs(parameter(d, "correlation.irregular.x.y", "value")) < 0.5);
}

TEST(what_is_refused)
{
    cr_table *t = two_walks(cx, 1, 30, 0);
    cr_model *m = NULL;
    static const struct {
        const char *settings;
        cr_status   status;
        const char *says;
    } cases[] = {
        { "target=x beside=x", CR_EARG, "the target itself" },
        { "target=x beside=y,y", CR_EARG, "there twice" },
        { "target=x beside=t time=t", CR_EARG, "orders the rows" },
        { "target=x beside=w", CR_EDATA, "'w'" },
        { "target=x beside=y time=t steps=time", CR_EUNSUPPORTED, "--steps rows" },
        { "target=x beside=y infer=em", CR_EUNSUPPORTED, "em" },
        { "target=x beside=y parameters=averaged", CR_EUNSUPPORTED, "averaged" },
        { "target=x beside=y scale_target=standard", CR_EUNSUPPORTED, "scale" },
        { "target=x beside=y transform_target=sqrt", CR_EUNSUPPORTED, "transform" },
        { "target=x beside=y components=level,regression features=t", CR_EUNSUPPORTED,
          "regression" },
        { "target=x model={\"T\":[[1]],\"Q\":[[1]],\"Z\":[[1],[1]],\"H\":1}", CR_EDATA,
          "one column" },
        { "target=x beside=y model={\"T\":[[1]],\"Q\":[[1]],\"Z\":[1],\"H\":1}", CR_EDATA, "H" },
        { "target=x beside=y model={\"T\":[[1]],\"Q\":[[1]],\"Z\":[[1],[1]],\"H\":[[1,2],[2,1]]}",
          CR_EDATA, "covariance" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_fails_with(cx, try_fit(cx, "kalman", t, cases[k].settings, &m), cases[k].status,
                          cases[k].says);
    cr_table *text = table_of_text(cx, "w.csv", "x,y\n1,a\n2,b\n3,a\n");
    assert_fails_with(cx, try_fit(cx, "kalman", text, "target=x beside=y", &m), CR_EDATA, "text");
    cr_table *empty = table_of_text(cx, "e.csv", "x,y\n1,\n2,\n3,\n");
    assert_fails_with(cx, try_fit(cx, "kalman", empty, "target=x beside=y", &m), CR_EDATA,
                      "no value");
    cr_table *constant = table_of_text(cx, "c.csv", "x,y\n1,4\n2,4\n3,4\n1,4\n");
    assert_fails_with(cx, try_fit(cx, "kalman", constant, "target=x beside=y", &m), CR_EDATA,
                      "'y' is constant");
}

TEST(every_allocation_may_fail)
{
    check_every_allocation_with_update(two_walks(cx, 2, 30, 0.1), "kalman",
                                       "target=x beside=y max_iter=3 restarts=1");
}
