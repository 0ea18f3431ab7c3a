/* EM of the variances of structural models: its step is the mean square of the shocks, the likelihood never falls, and it ends
 * where the maximum of the likelihood is. */
#include "../life.h"
#include "kalman_dense.h"
#include "models/sequence/kalman_em.h"

enum { ROWS = 24, MOST = 8, STEPS = 400 };

typedef struct series {
    double          y[ROWS], x[ROWS], gap[ROWS];
    size_t          start[3], step[ROWS], gaps;
    cri_kalman_data data;
} series;

typedef enum spacing { TOGETHER, WHOLE, ANY } spacing;

static void draw_series(uint64_t seed, spacing how, series *w)
{
    cr_rng r = cr_rng_stream(seed, 1);
    double level = 0;
    *w = (series){ .start = { 0, 10, ROWS }, .gaps = ROWS };
    for (size_t i = 0; i < ROWS; i++) {
        w->x[i] = cr_rng_normal(&r);
        level += 0.5 * cr_rng_normal(&r);
        w->y[i] = level + cr_rng_normal(&r) + 0.5 * w->x[i];
        if (i % 11 == 5) w->y[i] = NAN;
        w->gap[i] = how == ANY ? 3 * cr_rng_uniform(&r) : (double)(i % 4);
        w->step[i] = i == 0 || i == 10 ? CRI_KALMAN_HERE : i;
    }
    w->data = (cri_kalman_data){ .n = ROWS, .series = 2, .start = w->start, .y = w->y };
    if (how != TOGETHER) w->data.step = w->step;
}

static void open_series(cr_ctx *cx, cr_scratch *s, const char *model, spacing how, series *w,
                        cri_kalman_plan *plan, cri_kalman_target *t, cri_kalman_em *em)
{
    assert_ok(cx, cri_kalman_plan_read(cx, model, 1, 30, plan));
    if (how == ANY) assert_ok(cx, cri_kalman_plan_between(cx, plan));
    if (plan->k > 0) w->data.x = w->x;
    assert_ok(cx, cri_kalman_target_new(s, plan, &w->data, w->gap, w->gaps, t));
    assert_ok(cx, cri_kalman_em_check(cx, plan));
    assert_ok(cx, cri_kalman_em_new(s, t, STEPS, em));
    em->opt_trace = cr_scratch_f64(s, STEPS + 1);
    assert_non_null(em->opt_trace);
}

/* --- the step -------------------------------------------------------------------------------- */

/* E n^2 of every shock, by the joint normal distribution of all rows. */
TEST(a_step_is_the_mean_square_of_the_shocks)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_kalman_plan   plan;
        cri_kalman_target t;
        cri_kalman_em     em;
        series            w;
        cr_rng            r = cr_rng_stream(seed, 2);
        double            theta[MOST], old[MOST], height, sum[3] = { 0 };
        size_t            steps, shocks = 0, values = 0;
        bool              there;
        draw_series(seed, TOGETHER, &w);
        open_series(cx, &s, "trend", TOGETHER, &w, &plan, &t, &em);
        em.most = 1;
        draw_normals(&r, theta, plan.n_theta);
        memcpy(old, theta, sizeof old);
        assert_ok(cx, cri_kalman_em_run(&s, &em, 1e-300, NULL, theta, &height, &steps));
        assert_int_equal(steps, 1);
        assert_ok(cx, cri_kalman_set(&t, old, &there));
        dense *o = dense_of(cx, &t.system, &w.data);
        dense_solve(o);
        for (size_t i = 0, seen = 0; i < ROWS; i++) {
            if (!isnan(w.y[i])) { /* the noise is what the value has beside the level */
                affine noise = o->value[seen++];
                for (size_t k = 0; k < MOST_SOURCES; k++) noise.of[k] -= o->state[i][0].of[k];
                noise.constant = 0;
                sum[0] += pow(dense_mean(o, &noise), 2) + dense_covariance(o, &noise, &noise);
                values++;
            }
            if (i == 0 || i == 10) continue;
            shocks++;
            for (size_t j = 0; j < 2; j++) {
                affine shock = o->state[i][j];
                for (size_t k = 0; k < MOST_SOURCES; k++) {
                    shock.of[k] -= o->state[i - 1][j].of[k];
                    if (j == 0) shock.of[k] -= o->state[i - 1][1].of[k];
                }
                sum[1 + j] += pow(dense_mean(o, &shock), 2) + dense_covariance(o, &shock, &shock);
            }
        }
        assert_relative(exp(theta[0]), sum[0] / (double)values, 1e-7);
        assert_relative(exp(theta[1]), sum[1] / (double)shocks, 1e-7);
        assert_relative(exp(theta[2]), sum[2] / (double)shocks, 1e-7);
        dense_free(cx, o);
        cr_scratch_end(&s);
    }
}

/* Over a gap d the shocks of the slope are two for each gap, with covariance v C: v is tr(C^-1 E n n') / 2 on average.
 * All gaps are the same here, so that T and Q of the joint distribution are. */
TEST(shocks_of_a_slope_between_whole_steps)
{
    const double      d = 1.7, C[] = { d * d * d / 3, d * d / 2, d * d / 2, d };
    const double      inverse[] = { 12 / (d * d * d), -6 / (d * d), -6 / (d * d), 4 / d };
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_plan   plan;
    cri_kalman_target t;
    cri_kalman_em     em;
    series            w;
    double            theta[MOST] = { 0.3, -INFINITY, -1 }, height, sum = 0;
    size_t            steps, shocks = 0;
    bool              there;
    draw_series(4, ANY, &w);
    for (size_t i = 0; i < ROWS; i++) w.gap[i] = d;
    open_series(cx, &s, "trend", ANY, &w, &plan, &t, &em);
    em.most = 1;
    assert_ok(cx, cri_kalman_set(&t, theta, &there));
    cri_kalman_system same = t.system;
    double            T[] = { 1, d, 0, 1 }, Q[4];
    for (size_t i = 0; i < 4; i++) Q[i] = exp(-1) * C[i];
    same.T = T, same.Q = Q;
    dense *o = dense_of(cx, &same, &w.data);
    dense_solve(o);
    for (size_t i = 1; i < ROWS; i++) {
        affine n[2];
        if (i == 10) continue;
        for (size_t j = 0; j < 2; j++) {
            n[j] = o->state[i][j];
            for (size_t k = 0; k < MOST_SOURCES; k++)
                n[j].of[k] -=
                    o->state[i - 1][j].of[k] + (j == 0 ? d * o->state[i - 1][1].of[k] : 0);
        }
        for (size_t j = 0; j < 2; j++)
            for (size_t k = 0; k < 2; k++)
                sum += inverse[j * 2 + k] * (dense_mean(o, &n[j]) * dense_mean(o, &n[k]) +
                                             dense_covariance(o, &n[j], &n[k]));
        shocks += 2;
    }
    assert_ok(cx, cri_kalman_em_run(&s, &em, 1e-300, NULL, theta, &height, &steps));
    assert_relative(exp(theta[2]), sum / (double)shocks, 1e-9);
    dense_free(cx, o);
    cr_scratch_end(&s);
}

/* --- the way up ------------------------------------------------------------------------------ */

TEST(the_likelihood_never_falls_and_ends_where_it_is_highest)
{
    static const struct {
        const char *model;
        spacing     how;
    } cases[] = { { "level", TOGETHER },
                  { "regression:walk", TOGETHER },
                  { "trend", TOGETHER },
                  { "level,seasonal:4", TOGETHER },
                  { "level,regression", TOGETHER },
                  { "irregular", TOGETHER },
                  { "level", WHOLE },
                  { "trend,seasonal:3", WHOLE },
                  { "level", ANY },
                  { "trend", ANY } };
    size_t converged = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (uint64_t seed = 10; seed < 14; seed++) {
            cr_scratch        s = cr_scratch_begin(cx);
            cri_kalman_plan   plan;
            cri_kalman_target t;
            cri_kalman_em     em;
            cri_kalman_best   by_em, by_ml;
            series            w;
            cr_rng            r = cr_rng_stream(seed, c);
            double            theta[MOST], height;
            size_t            steps;
            draw_series(seed, cases[c].how, &w);
            open_series(cx, &s, cases[c].model, cases[c].how, &w, &plan, &t, &em);
            draw_normals(&r, theta, plan.n_theta);
            em.most = 1; /* a plain step goes up */
            for (size_t k = 0; k < 5; k++) {
                draw_normals(&r, theta, plan.n_theta);
                assert_ok(cx, cri_kalman_em_run(&s, &em, 1e-12, NULL, theta, &height, &steps));
                assert_int_equal(steps, 1);
                assert_true(em.opt_trace[1] >= em.opt_trace[0]);
            }
            em.most = STEPS;
            draw_normals(&r, theta, plan.n_theta);
            assert_ok(cx, cri_kalman_em_run(&s, &em, 1e-12, NULL, theta, &height, &steps));
            assert_true(steps >= 1);
            for (size_t i = 1; i <= steps; i++)
                assert_true(em.opt_trace[i] >= em.opt_trace[i - 1] - 1e-10 * fabs(height));
            assert_ok(cx, cri_kalman_search(&s, &t, true, 2, 500, 1e-8, 1, &by_em));
            assert_ok(cx, cri_kalman_search(&s, &t, false, 2, 500, 1e-8, 1, &by_ml));
            if (by_em.stop == CR_STOP_TOLERANCE)
                assert_close(by_em.log_likelihood, by_ml.log_likelihood, 1e-5);
            else { /* a variance that is small is slow, and is said not to have converged */
                assert_int_equal(by_em.stop, CR_STOP_LIMIT);
                assert_close(by_em.log_likelihood, by_ml.log_likelihood, 1e-2);
            }
            converged += by_em.stop == CR_STOP_TOLERANCE;
            cr_scratch_end(&s);
        }
    assert_true(converged >= 38); /* of 40 */
}

TEST(nile_by_em)
{
    cr_table *t = read_table(cx, test_data("tabular/nile.csv"));
    cr_model *a = fit(cx, "kalman", t, "target=flow infer=em"),
             *b = fit(cx, "kalman", t, "target=flow");
    json_t *d = describe(cx, a), *e = describe(cx, b);
    assert_relative(parameter(d, "variance.irregular", "value"),
                    parameter(e, "variance.irregular", "value"), 1e-5);
    assert_relative(parameter(d, "variance.level", "value"),
                    parameter(e, "variance.level", "value"), 1e-4);
    assert_relative(parameter(d, "variance.level", "sd"), parameter(e, "variance.level", "sd"),
                    1e-3);
    assert_close(cr_model_get_report(a)->log_likelihood, cr_model_get_report(b)->log_likelihood,
                 1e-7);
    assert_int_equal(cr_model_get_report(a)->stop, CR_STOP_TOLERANCE);
}

TEST(what_has_no_step_is_refused)
{
    cr_table *t = read_table(cx, test_data("tabular/nile.csv"));
    cr_model *m = NULL;
    assert_fails_with(cx,
                      try_fit(cx, "kalman", t, "target=flow infer=em components=level,cycle", &m),
                      CR_EUNSUPPORTED, "'cycle' has a damping and a period");
    assert_fails_with(cx, try_fit(cx, "kalman", t, "target=flow infer=em components=ar:2", &m),
                      CR_EUNSUPPORTED, "'ar' has coefficients");
}

TEST(every_allocation_may_fail)
{
    cr_table *t = read_table(cx, test_data("tabular/nile.csv"));
    check_every_allocation(t, "kalman",
                           "target=flow infer=em components=trend max_iter=4 restarts=1");
}
