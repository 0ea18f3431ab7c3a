/* Rows that are not a step apart: whole gaps are rows without a value in between; others are those of the same process in
 * continuous time. */
#include "../fixture.h"
#include "kalman_gaps.h"
#include "math/optim/differences.h"
#include "models/sequence/kalman_search.h"
#include "models/sequence/kalman_steps.h"

enum { MOST = 16 };

/* --- the likelihood and its gradient --------------------------------------------------------- */

static const char *const models[] = { "level",          "trend,seasonal:4", "ar:3",
                                      "arma:2,2",       "arma:0,1",         "level+cycle",
                                      "ar:1,irregular", "seasonal:7,ar:2" };

/* Rows with gaps, and the same with a row in every step. */
typedef struct both {
    double          y[SPAN], all[SPAN], gap[16], time[SPAN];
    size_t          n, step[SPAN], at[SPAN], gaps, start[2], start_all[2];
    cri_kalman_data sparse, full;
} both;

static void draw_both(uint64_t seed, both *b)
{
    cr_rng r = cr_rng_stream(seed, 2);
    b->n = draw_times(seed, b->at);
    b->gaps = 14;
    for (size_t g = 0; g < b->gaps; g++) b->gap[g] = (double)g;
    for (size_t t = 0; t < SPAN; t++) b->all[t] = NAN;
    for (size_t i = 0; i < b->n; i++) {
        double y = cr_rng_normal(&r) + sin((double)b->at[i]) + 0.05 * (double)b->at[i];
        b->y[i] = b->all[b->at[i]] = i == 6 ? NAN : y;
        b->step[i] = i == 0 ? CRI_KALMAN_HERE : b->at[i] - b->at[i - 1];
    }
    b->start[0] = b->start_all[0] = 0;
    b->start[1] = b->n;
    b->start_all[1] = b->at[b->n - 1] + 1;
    b->sparse =
        (cri_kalman_data){ .n = b->n, .series = 1, .start = b->start, .y = b->y, .step = b->step };
    b->full =
        (cri_kalman_data){ .n = b->start_all[1], .series = 1, .start = b->start_all, .y = b->all };
}

TEST(whole_gaps_are_rows_without_a_value)
{
    both b;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            cr_scratch        s = cr_scratch_begin(cx);
            cri_kalman_plan   plan;
            cri_kalman_target t, u;
            cr_rng            r = cr_rng_stream(seed, 50 + k);
            double            theta[MOST], g[2][MOST], slope[2][MOST], value[2];
            draw_both(seed, &b);
            assert_ok(cx, cri_kalman_plan_read(cx, models[k], 0, 30, &plan));
            assert_ok(cx, cri_kalman_target_new(&s, &plan, &b.sparse, b.gap, b.gaps, &t));
            assert_ok(cx, cri_kalman_target_new(&s, &plan, &b.full, NULL, 0, &u));
            draw_normals(&r, theta, plan.n_theta);
            assert_ok(cx, cri_kalman_evaluate(&t, theta, &value[0], g[0], slope[0]));
            assert_ok(cx, cri_kalman_evaluate(&u, theta, &value[1], g[1], slope[1]));
            assert_relative(value[0], value[1], 1e-11);
            for (size_t i = 0; i < plan.n_theta; i++) {
                assert_close(g[0][i], g[1][i], 1e-8);
                if (plan.scale[i] == CRI_KALMAN_VARIANCE)
                    assert_close(slope[0][i], slope[1][i], 1e-8 * (1 + fabs(slope[1][i])));
            }
            cr_scratch_end(&s);
        }
}

/* What the smoother says of rows that are there. */
typedef struct seen {
    const size_t *at; /* the rows to look at; NULL: all */
    size_t        n;
    double        mean[SPAN][MOST], variance[SPAN][MOST];
} seen;

static void see(void *arg, const cri_kalman_row *row)
{
    seen  *w = arg;
    size_t m = row->path->system->m, i = 0;
    while (w->at && i < w->n && w->at[i] != row->t) i++;
    if (!w->at) i = row->t;
    for (size_t j = 0; i < w->n && j < m; j++) {
        double e[MOST] = { 0 };
        e[j] = 1;
        w->mean[i][j] = row->a[j];
        w->variance[i][j] = cri_kalman_covariance(row, e, e);
    }
}

TEST(smoothed_states_know_of_gaps)
{
    static both b;
    static seen some, all;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_kalman_plan   plan;
        cri_kalman_target t, u;
        cri_kalman_path   path;
        bool              there;
        cr_rng            r = cr_rng_stream(3, 70 + k);
        double            theta[MOST];
        draw_both(5, &b);
        assert_ok(cx, cri_kalman_plan_read(cx, models[k], 0, 30, &plan));
        assert_ok(cx, cri_kalman_target_new(&s, &plan, &b.sparse, b.gap, b.gaps, &t));
        assert_ok(cx, cri_kalman_target_new(&s, &plan, &b.full, NULL, 0, &u));
        draw_normals(&r, theta, plan.n_theta);
        some = (seen){ .n = b.n };
        all = (seen){ .n = b.n, .at = b.at };
        assert_ok(cx, cri_kalman_set(&t, theta, &there));
        assert_ok(cx, cri_kalman_set(&u, theta, &there));
        assert_ok(cx, cri_kalman_filter(cx, &t.system, &b.sparse, true, &path));
        assert_ok(cx, cri_kalman_smooth(cx, &path, see, &some));
        cri_kalman_path_free(cx, &path);
        assert_ok(cx, cri_kalman_filter(cx, &u.system, &b.full, true, &path));
        assert_ok(cx, cri_kalman_smooth(cx, &path, see, &all));
        cri_kalman_path_free(cx, &path);
        for (size_t i = 0; i < b.n; i++)
            for (size_t j = 0; j < plan.m; j++) {
                assert_close(some.mean[i][j], all.mean[i][j], 1e-9);
                assert_close(some.variance[i][j], all.variance[i][j], 1e-9);
            }
        cr_scratch_end(&s);
    }
}

/* --- between whole steps --------------------------------------------------------------------- */

static const char *const between[] = { "level",          "trend", "ar:1",
                                       "ar:1,irregular", "cycle", "trend,cycle" };

/* Rows at any times: a gap for each, which are all different. */
typedef struct anywhen {
    double          y[40], gap[40];
    size_t          n, step[40], start[2];
    cri_kalman_data data;
} anywhen;

static void draw_anywhen(uint64_t seed, size_t n, const char *model, anywhen *w)
{
    cr_rng r = cr_rng_stream(seed, 6);
    w->n = n;
    w->start[0] = 0, w->start[1] = n;
    for (size_t i = 0; i < n; i++) {
        w->y[i] = cr_rng_normal(&r) + 0.1 * (double)i;
        w->gap[i] = 3 * cr_rng_uniform(&r); /* times may be the same, where there is noise */
        if (i % 9 == 4 && strcmp(model, "ar:1") != 0) w->gap[i] = 0;
        w->step[i] = i == 0 ? CRI_KALMAN_HERE : i;
    }
    w->y[n / 3] = NAN;
    w->data =
        (cri_kalman_data){ .n = n, .series = 1, .start = w->start, .y = w->y, .step = w->step };
}

static cr_status height(void *arg, const double *theta, double *out)
{
    return cri_kalman_evaluate(arg, theta, out, NULL, NULL);
}

TEST(the_gradient_between_whole_steps)
{
    for (size_t k = 0; k < sizeof between / sizeof *between; k++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            cr_scratch        s = cr_scratch_begin(cx);
            cri_kalman_plan   plan;
            cri_kalman_target t;
            anywhen           w;
            cr_rng            r = cr_rng_stream(seed, 90 + k);
            double            theta[MOST], gradient[MOST], slope[MOST], value, wanted;
            draw_anywhen(seed, 40, between[k], &w);
            assert_ok(cx, cri_kalman_plan_read(cx, between[k], 0, 30, &plan));
            assert_ok(cx, cri_kalman_plan_between(cx, &plan));
            assert_ok(cx, cri_kalman_target_new(&s, &plan, &w.data, w.gap, w.n, &t));
            draw_normals(&r, theta, plan.n_theta);
            assert_ok(cx, cri_kalman_evaluate(&t, theta, &value, gradient, slope));
            for (size_t i = 0; i < plan.n_theta; i++) {
                assert_int_equal(cri_ridders(height, &t, theta, i, &wanted), CR_OK);
                assert_close(gradient[i], wanted, 1e-6);
                if (plan.scale[i] == CRI_KALMAN_VARIANCE)
                    assert_close(slope[i] * exp(theta[i]), gradient[i], 1e-9);
            }
            cr_scratch_end(&s);
        }
}

/* A row without a value at any time in between changes nothing. */
TEST(times_in_between_change_nothing)
{
    for (size_t c = 0; c < sizeof between / sizeof *between; c++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_kalman_plan   plan;
        cri_kalman_target t, u;
        anywhen           w, v = { .n = 0 };
        cr_rng            r = cr_rng_stream(1, 30 + c);
        double            theta[MOST], value[2];
        draw_anywhen(3, 20, between[c], &w);
        for (size_t i = 0; i < w.n; i++) {
            double part = i % 2 ? cr_rng_uniform(&r) * w.gap[i] : 0;
            for (size_t k = i % 2 ? 0 : 1; k < 2; k++) { /* a row in between before odd ones */
                v.y[v.n] = k == 0 ? NAN : w.y[i];
                v.gap[v.n] = k == 0 ? part : w.gap[i] - part;
                v.step[v.n] = v.n == 0 ? CRI_KALMAN_HERE : v.n;
                v.n++;
            }
        }
        v.start[0] = 0, v.start[1] = v.n;
        v.data =
            (cri_kalman_data){ .n = v.n, .series = 1, .start = v.start, .y = v.y, .step = v.step };
        assert_ok(cx, cri_kalman_plan_read(cx, between[c], 0, 30, &plan));
        assert_ok(cx, cri_kalman_plan_between(cx, &plan));
        assert_ok(cx, cri_kalman_target_new(&s, &plan, &w.data, w.gap, w.n, &t));
        assert_ok(cx, cri_kalman_target_new(&s, &plan, &v.data, v.gap, v.n, &u));
        draw_normals(&r, theta, plan.n_theta);
        assert_ok(cx, cri_kalman_evaluate(&t, theta, &value[0], NULL, NULL));
        assert_ok(cx, cri_kalman_evaluate(&u, theta, &value[1], NULL, NULL));
        assert_int_equal(v.n, 30);
        assert_relative(value[0], value[1], 1e-10);
        cr_scratch_end(&s);
    }
}

/* The log density of y by its covariance, less its mean: rows that have a value. */
static double dense_density(const anywhen *w, double mean,
                            double (*covariance)(const double *values, double gap),
                            const double *values, double noise)
{
    static long double S[1600], e[40];
    long double        logdet;
    double             time[40] = { 0 };
    size_t             row[40], n = 0;
    for (size_t i = 1; i < w->n; i++) time[i] = time[i - 1] + w->gap[i];
    for (size_t i = 0; i < w->n; i++)
        if (!isnan(w->y[i])) row[n++] = i;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            S[i * n + j] =
                covariance(values, fabs(time[row[i]] - time[row[j]])) + (i == j ? noise : 0);
        e[i] = w->y[row[i]] - mean;
    }
    long double square = quadratic_form(n, S, e, &logdet);
    return (double)(-0.5L * ((long double)n * logl(2 * acosl(-1)) + logdet + square));
}

/* values: irregular, phi1, ar. */
static double ornstein_uhlenbeck(const double *values, double gap)
{
    return values[2] / (1 - values[1] * values[1]) * pow(values[1], gap);
}

/* values: irregular, cycle, damping, period. */
static double damped_wave(const double *values, double gap)
{
    return values[1] / (1 - values[2] * values[2]) * pow(values[2], gap) *
           cos(2 * M_PI / values[3] * gap);
}

TEST(stationary_parts_have_their_covariance_at_all_times)
{
    static const struct {
        const char *model;
        double (*covariance)(const double *, double);
    } cases[] = { { "ar:1,irregular", ornstein_uhlenbeck }, { "cycle", damped_wave } };
    for (size_t k = 0; k < 2; k++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            cr_scratch        s = cr_scratch_begin(cx);
            cri_kalman_plan   plan;
            cri_kalman_target t;
            anywhen           w;
            cr_rng            r = cr_rng_stream(seed, 8);
            double            theta[MOST], values[MOST], got;
            draw_anywhen(seed, 40, cases[k].model, &w);
            assert_ok(cx, cri_kalman_plan_read(cx, cases[k].model, 0, 30, &plan));
            assert_ok(cx, cri_kalman_plan_between(cx, &plan));
            assert_ok(cx, cri_kalman_target_new(&s, &plan, &w.data, w.gap, w.n, &t));
            draw_normals(&r, theta, plan.n_theta);
            cri_kalman_values(&plan, theta, values, NULL);
            assert_ok(cx, cri_kalman_evaluate(&t, theta, &got, NULL, NULL));
            double want =
                dense_density(&w, values[plan.n_theta - 1], cases[k].covariance, values, values[0]);
            assert_relative(got, want, 1e-10);
            cr_scratch_end(&s);
        }
}

/* Q of a gap d is the integral of e^{Fs} diag(q) e^{F's}: by Simpson's rule, which is exact for it. */
TEST(the_noise_of_a_trend_over_a_gap)
{
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_plan   plan;
    cri_kalman_system a;
    double            theta[] = { 0, log(0.7), log(0.3) }, work[24], gap[] = { 0.3, 2.5 };
    assert_ok(cx, cri_kalman_plan_read(cx, "trend", 0, 30, &plan));
    assert_ok(cx, cri_kalman_plan_between(cx, &plan));
    assert_int_equal(cri_kalman_new(&s, 2, 1, 0, &a), CR_OK);
    assert_true(cri_kalman_build(&plan, theta, &a, work));
    assert_int_equal(cri_kalman_steps_new(&s, &plan, gap, 2, &a), CR_OK);
    assert_ok(cx, cri_kalman_steps_build(cx, &plan, &a));
    for (size_t g = 0; g < 2; g++) {
        double d = gap[g], want[4] = { 0 };
        for (size_t k = 0; k < 3; k++) {
            double at = d * (double)k / 2, weight = d * (k == 1 ? 4 : 1) / 6;
            want[0] += weight * (0.7 + at * at * 0.3);
            want[1] += weight * at * 0.3;
            want[3] += weight * 0.3;
        }
        want[2] = want[1];
        for (size_t i = 0; i < 4; i++) assert_relative(a.steps[g].Q[i], want[i], 1e-13);
    }
    cr_scratch_end(&s);
}
