/* Regressors whose coefficients are random walks. */
#include "../life.h"
#include "kalman_dense.h"
#include "math/optim/differences.h"
#include "models/core/sequence.h"
#include "models/sequence/kalman_search.h"

enum { ROWS = 30, MOST = 8 };

static void draw_rows(uint64_t seed, double *y, double *x)
{
    cr_rng r = cr_rng_stream(seed, 3);
    double b = 1, c = -1;
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = cr_rng_normal(&r);
        x[2 * i + 1] = 2 + cr_rng_normal(&r);
        y[i] = b * x[2 * i] + c * x[2 * i + 1] + cr_rng_normal(&r);
        if (i % 8 == 5) y[i] = NAN;
        b += 0.3 * cr_rng_normal(&r);
        c += 0.2 * cr_rng_normal(&r);
    }
}

static cr_status height(void *arg, const double *theta, double *out)
{
    return cri_kalman_evaluate(arg, theta, out, NULL, NULL);
}

/* --- the likelihood -------------------------------------------------------------------------- */

/* Against the joint distribution of all rows, and Ridders' differences: each series has its own walk. */
TEST(likelihood_and_gradient)
{
    static const char *const models[] = { "level,regression:walk", "regression:walk",
                                          "ar:1+regression:walk" };
    double                   y[ROWS], x[2 * ROWS];
    size_t                   start[] = { 0, 14, ROWS };
    for (size_t k = 0; k < 3; k++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            cr_scratch        s = cr_scratch_begin(cx);
            cri_kalman_plan   plan;
            cri_kalman_target t;
            cr_rng            r = cr_rng_stream(seed, 80 + k);
            double            theta[MOST], gradient[MOST], slope[MOST], value, wanted;
            draw_rows(seed, y, x);
            cri_kalman_data data = { .n = ROWS, .series = 2, .start = start, .y = y, .x = x };
            assert_ok(cx, cri_kalman_plan_read(cx, models[k], 2, 30, &plan));
            assert_ok(cx, cri_kalman_target_new(&s, &plan, &data, NULL, 0, &t));
            draw_normals(&r, theta, plan.n_theta);
            assert_ok(cx, cri_kalman_evaluate(&t, theta, &value, gradient, slope));
            dense *o = dense_of(cx, &t.system, &data);
            dense_solve(o);
            assert_close(value, o->log_likelihood, 1e-9);
            assert_int_equal(o->unknown,
                             2 * (k == 2 ? 3 : plan.m)); /* ar starts as in the long run */
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

/* --- models ---------------------------------------------------------------------------------- */

static double walk[600];

/* y = b_t x with b_t a walk, its values in walk[], and x in other units. */
static cr_table *drifting(cr_ctx *cx, size_t n, double unit, bool times, double *opt_next)
{
    static char text[100000];
    size_t      used = (size_t)snprintf(text, sizeof text, "t,x,y\n"), t = 0;
    cr_rng      r = cr_rng_stream(12, 2);
    double      b = 3;
    for (size_t i = 0; i < n; i++) {
        double x = 1 + cr_rng_normal(&r), y = 7 + b * x + cr_rng_normal(&r);
        walk[i] = b;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%zu,%.17g,%.17g\n", t, unit * x, y);
        size_t gap = times ? 1 + i % 3 : 1;
        for (size_t k = 0; k < gap; k++) b += 0.4 * cr_rng_normal(&r);
        t += gap;
    }
    if (opt_next) *opt_next = b;
    return table_of_text(cx, "walk.csv", text);
}

TEST(variances_of_coefficients_come_back_in_their_units)
{
    for (int times = 0; times < 2; times++) {
        const char *how = times ? "target=y time=t features=x steps=time components=regression:walk"
                                : "target=y time=t features=x components=regression:walk";
        double      next;
        cr_table   *one = drifting(cx, 600, 1, times, &next),
                 *other = drifting(cx, 600, 1e3, times, NULL);
        cr_model *m = fit(cx, "kalman", one, how), *n = fit(cx, "kalman", other, how);
        json_t   *d = describe(cx, m), *e = describe(cx, n);
        double    v = parameter(d, "variance.x", "value"), sd = parameter(d, "variance.x", "sd");
        assert_true(fabs(v - 0.16) < 4 * sd && sd < 0.05);
        assert_true(fabs(parameter(d, "variance.irregular", "value") - 1) < 0.4);
        assert_true(fabs(parameter(d, "x", "value") - walk[599]) < 4 * parameter(d, "x", "sd"));
        assert_relative(parameter(e, "variance.x", "value"), v * 1e-6, 1e-5);
        assert_relative(parameter(e, "x", "value"), parameter(d, "x", "value") * 1e-3, 1e-6);
        assert_relative(parameter(e, "x", "sd"), parameter(d, "x", "sd") * 1e-3, 1e-5);
        assert_close(cr_model_get_report(n)->log_likelihood,
                     cr_model_get_report(m)->log_likelihood - log(1e3), 1e-6);
    }
}

/* The step ahead of a walk is part of the uncertainty. */
TEST(rows_to_come_have_uncertain_coefficients)
{
    cr_table     *t = drifting(cx, 100, 1, false, NULL);
    cr_model     *m = fit(cx, "kalman", t, "target=y time=t features=x components=regression:walk");
    cr_table     *next = table_of_text(cx, "next.csv", "t,x,y\n100,10,\n101,10,\n");
    cr_prediction p = predict(cx, m, next);
    json_t       *d = describe(cx, m);
    double        v = parameter(d, "variance.x", "value");
    assert_relative(p.mean[0], p.mean[1], 1e-9);
    assert_relative(p.scale[1] * p.scale[1] - p.scale[0] * p.scale[0], 100 * v, 1e-6);
    assert_fails_with(cx, cr_forecast_rows(cx, m, NULL, 2, &(cr_forecast){ 0 }), CR_EARG,
                      "regressors");
}

TEST(updates_go_on_with_the_walk)
{
    cr_table *t = drifting(cx, 100, 1, false, NULL);
    cr_model *m = fit(cx, "kalman", t, "target=y features=x components=regression:walk"),
             *updated = NULL;
    cr_table *more = table_of_text(cx, "more.csv", "x,y\n1,12\n2,20\n-1,\n1,12\n");
    double    y[104];
    assert_ok(cx, cr_update(cx, m, more, &updated));
    test_own(cx, updated, release_model);
    /* by the smoother of all rows together */
    double       *x = cr_alloc(cx, 104, sizeof *x);
    const double *old = cr_table_find(t, "y")->values, *old_x = cr_table_find(t, "x")->values;
    memcpy(y, old, 100 * sizeof *y);
    memcpy(x, old_x, 100 * sizeof *x);
    for (size_t i = 0; i < 4; i++)
        y[100 + i] = cr_table_find(more, "y")->values[i],
                x[100 + i] = cr_table_find(more, "x")->values[i];
    cr_table *all = NULL;
    assert_ok(cx, cr_table_new(cx, "all.csv", 105, &all));
    test_own(cx, all, release_table);
    double z[105], w[105];
    memcpy(z, y, sizeof y);
    memcpy(w, x, 104 * sizeof *w);
    z[104] = NAN, w[104] = 0;
    assert_ok(cx, cr_table_add_numbers(cx, all, "y", CR_REAL, z, 1));
    assert_ok(cx, cr_table_add_numbers(cx, all, "x", CR_REAL, w, 1));
    cr_prediction p = predict(cx, m, all);
    cr_prediction q = predict(cx, updated, table_of_text(cx, "n.csv", "x,y\n0,\n"));
    assert_relative(p.mean[104], q.mean[0], 1e-9);
    assert_relative(p.scale[104], q.scale[0], 1e-9);
    cr_free(cx, x, 104, sizeof *x);
}

/* A row without a value is a step of the walk more. */
TEST(coefficients_after_an_update_are_those_of_its_last_row)
{
    cr_table *t = drifting(cx, 100, 1, false, NULL);
    cr_model *m = fit(cx, "kalman", t, "target=y features=x components=regression:walk"),
             *updated = NULL;
    assert_ok(cx, cr_update(cx, m, table_of_text(cx, "gap.csv", "x,y\n1,\n"), &updated));
    test_own(cx, updated, release_model);
    json_t *d = describe(cx, m), *e = describe(cx, updated);
    double  old = parameter(d, "x", "sd"), now = parameter(e, "x", "sd");
    assert_relative(parameter(e, "x", "value"), parameter(d, "x", "value"), 1e-9);
    assert_relative(now * now - old * old, parameter(d, "variance.x", "value"), 1e-8);
}

TEST(walks_of_several_series_are_their_own)
{
    cr_table *t = table_of_text(cx, "two.csv",
                                "who,x,y\na,1,1\na,2,3\na,1,2\na,3,4\na,2,2\na,1,0\nb,1,9\nb,2,20\n"
                                "b,1,11\nb,3,29\nb,2,21\nb,2,18\n");
    cr_model *m =
        fit(cx, "kalman", t, "target=y sequence=who features=x components=regression:walk");
    assert_int_equal((int)statistic(describe(cx, m), "diffuse"), 4);
    cr_prediction p = predict(cx, m, table_of_text(cx, "n.csv", "who,x,y\na,2,\nb,2,\n"));
    assert_true(p.mean[0] < 8 && p.mean[1] > 12);
    cr_model *updated = NULL;
    assert_ok(cx, cr_update(cx, m, table_of_text(cx, "c.csv", "who,x,y\nc,1,5\nc,2,6\nc,1,4\n"),
                            &updated));
    test_own(cx, updated, release_model);
}

TEST(what_is_refused)
{
    cr_table *t = drifting(cx, 20, 1, false, NULL);
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, "kalman", t, "target=y components=regression:run", &m),
                      CR_EARG, "regression:walk");
    assert_fails_with(cx, try_fit(cx, "kalman", t, "target=y components=regression:walks", &m),
                      CR_EARG, "regression:walk");
}

TEST(every_allocation_may_fail)
{
    cr_table *t = drifting(cx, 30, 1, false, NULL);
    check_every_allocation_with_update(
        t, "kalman", "target=y features=x components=level,regression:walk max_iter=4 restarts=1");
}
