/* The parts of structural models: their matrices, the gradient by their parameters, and what these are called. */
#include "../fixture.h"
#include "math/optim/differences.h"
#include "models/sequence/kalman_arma.h"
#include "models/sequence/kalman_search.h"

enum { ROWS = 60, MOST = 16 };

static const char *const models[] = { "level",    "trend,seasonal:4", "ar:3",
                                      "arma:2,2", "arma:0,1",         "level+cycle",
                                      "cycle",    "ar:1,irregular",   "seasonal:3,ar:1" };

static void draw_series(double *y)
{
    cr_rng r = cr_rng_stream(12, 0);
    double level = 0;
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = level + cr_rng_normal(&r) + sin((double)i);
        level += 0.3 * cr_rng_normal(&r);
        if (i % 11 == 4) y[i] = NAN;
    }
}

static cr_status height(void *arg, const double *theta, double *out)
{
    return cri_kalman_evaluate(arg, theta, out, NULL, NULL);
}

TEST(the_gradient_by_all_parameters)
{
    double y[ROWS];
    size_t start[] = { 0, 25, ROWS };
    draw_series(y);
    cri_kalman_data data = { .n = ROWS, .series = 2, .start = start, .y = y };
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            cr_scratch        s = cr_scratch_begin(cx);
            cri_kalman_plan   plan;
            cri_kalman_target t;
            cr_rng            r = cr_rng_stream(seed, k);
            double            theta[MOST], gradient[MOST], slope[MOST], value, wanted;
            assert_ok(cx, cri_kalman_plan_read(cx, models[k], 0, 30, &plan));
            assert_true(plan.n_theta <= MOST);
            assert_ok(cx, cri_kalman_target_new(&s, &plan, &data, NULL, 0, &t));
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

typedef struct shown {
    const cri_kalman_plan *plan;
    size_t                 i;
} shown;

static cr_status value_of(void *arg, const double *theta, double *out)
{
    const shown *w = arg;
    double       value[MOST];
    cri_kalman_values(w->plan, theta, value, NULL);
    *out = value[w->i];
    return CR_OK;
}

TEST(what_is_shown_and_its_derivatives)
{
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        cri_kalman_plan plan;
        cr_rng          r = cr_rng_stream(9, k);
        double          theta[MOST], value[MOST], jacobian[MOST * MOST], wanted;
        assert_ok(cx, cri_kalman_plan_read(cx, models[k], 0, 30, &plan));
        draw_normals(&r, theta, plan.n_theta);
        cri_kalman_values(&plan, theta, value, jacobian);
        for (size_t i = 0; i < plan.n_theta; i++)
            for (size_t j = 0; j < plan.n_theta; j++) {
                shown w = { &plan, i };
                assert_int_equal(cri_ridders(value_of, &w, theta, j, &wanted), CR_OK);
                assert_close(jacobian[i * plan.n_theta + j], wanted, 1e-7);
            }
    }
}

/* Whatever theta is, the autoregression is stationary: powers of its companion vanish. */
TEST(partial_autocorrelations_give_stationary_series)
{
    enum { P = 5 };
    for (uint64_t seed = 0; seed < 50; seed++) {
        cr_rng r = cr_rng_stream(seed, 4);
        double theta[P], phi[P], jacobian[P * P], u[P] = { 1, -1, 1, 1, -1 }, size = 0;
        draw_normals(&r, theta, P);
        cri_partials_to_ar(theta, P, phi, jacobian);
        for (size_t t = 0; t < 20000; t++) {
            double next = 0;
            for (size_t j = 0; j < P; j++) next += phi[j] * u[j];
            for (size_t j = P; j-- > 1;) u[j] = u[j - 1];
            u[0] = next;
        }
        for (size_t j = 0; j < P; j++) size = fmax(size, fabs(u[j]));
        assert_true(size < 1e-3);
        assert_close(cri_theta_of(cri_partial_of(theta[0])), theta[0], 1e-12);
    }
}

/* P = T P T' + Q, also near a unit root. */
TEST(the_covariance_in_the_long_run)
{
    double T[] = { 1.2, 1, -0.25, 0 }, Q[] = { 1, 0.5, 0.5, 0.25 }, P[4], work[12];
    assert_true(cri_kalman_settle(T, Q, 2, P, work));
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) {
            double sum = Q[i * 2 + j];
            for (size_t k = 0; k < 2; k++)
                for (size_t l = 0; l < 2; l++) sum += T[i * 2 + k] * P[k * 2 + l] * T[j * 2 + l];
            assert_relative(P[i * 2 + j], sum, 1e-13);
        }
    double near = 1 - 1e-7, one = 1, variance;
    assert_true(cri_kalman_settle(&near, &one, 1, &variance, work));
    assert_relative(variance, 1 / ((1 - near) * (1 + near)), 1e-9);
    assert_false(cri_kalman_settle(&one, &one, 1, &variance, work));
}

TEST(names_and_what_goes_without_saying)
{
    static const struct {
        const char *text, *names;
        size_t      states;
        bool        mean;
    } cases[] = {
        { "level", "variance.irregular variance.level ", 1, false },
        { "trend + seasonal:12",
          "variance.irregular variance.level variance.slope variance.seasonal ", 13, false },
        { "seasonal:4,seasonal:7", "variance.irregular variance.seasonal4 variance.seasonal7 ", 10,
          false },
        { "arma:1,2", "phi1 theta1 theta2 variance.ar mean ", 3, true },
        { "ar:2,irregular", "variance.irregular phi1 phi2 variance.ar mean ", 2, true },
        { "cycle", "variance.irregular variance.cycle damping period mean ", 2, true },
        { "ar:1,level", "phi1 variance.ar variance.level ", 2, false },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cri_kalman_plan plan;
        char            all[512] = "", name[64];
        assert_ok(cx, cri_kalman_plan_read(cx, cases[k].text, 0, 30, &plan));
        for (size_t i = 0; i < plan.n_theta; i++) {
            cri_kalman_name(&plan, i, name, sizeof name);
            strcat(strcat(all, name), " ");
        }
        assert_string_equal(all, cases[k].names);
        assert_int_equal(plan.m, cases[k].states);
        assert_int_equal(plan.mean, cases[k].mean);
    }
}
