/* test_gp_learn.c -- the search for hyper-parameters: coordinates, second derivatives, what is
 * remembered, and the terms of a sum. */
#include "gp_fixture.h"

#include "base/scratch.h"
#include "math/dense/chol.h"
#include "models/gp/search/gp_optimiser.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 60 };

/* Rows with an exact process over them. */
typedef struct world {
    double                 X[2 * ROWS], y[ROWS], r[ROWS], L[ROWS * ROWS], alpha[ROWS];
    size_t                 first[ROWS];
    cri_gp_data            data;
    cri_gp_problem         problem;
    cri_gp_exact_workspace workspace;
    cri_gp_learning        learning;
} world;

static world *new_world(size_t d)
{
    world *w = calloc(1, sizeof *w);
    for (size_t i = 0; i < ROWS; i++) w->r[i] = 1, w->first[i] = i;
    w->data = (cri_gp_data){
        .n = ROWS, .d = d, .X = w->X, .y = w->y, .r = w->r, .first = w->first, .count = ROWS
    };
    w->problem = (cri_gp_problem){ .data = &w->data };
    w->workspace = (cri_gp_exact_workspace){ w->L, { .alpha = w->alpha } };
    w->learning = (cri_gp_learning){ .problem = &w->problem,
                                     .objective = cri_gp_exact_objective,
                                     .workspace = &w->workspace,
                                     .variance = 1,
                                     .learn_noise = true,
                                     .max_iter = 200,
                                     .search_rows = ROWS };
    return w;
}

/* Two columns, the second of which says nothing. */
static world *one_of_two(void)
{
    world *w = new_world(2);
    cr_rng rng = cr_rng_stream(3, 1);
    for (size_t i = 0; i < ROWS; i++) {
        w->X[2 * i] = 4 * cr_rng_uniform(&rng), w->X[2 * i + 1] = cr_rng_normal(&rng);
        w->y[i] = sin(2 * w->X[2 * i]) + 0.1 * cr_rng_normal(&rng);
    }
    return w;
}

/* A slow and a quick part over time. */
static world *slow_and_quick(void)
{
    world *w = new_world(1);
    cr_rng rng = cr_rng_stream(4, 1);
    for (size_t i = 0; i < ROWS; i++) {
        w->X[i] = (double)i / 4;
        w->y[i] =
            sin(w->X[i] / 3) + 0.4 * sin(5 * w->X[i]) * cos(w->X[i]) + 0.05 * cr_rng_normal(&rng);
    }
    return w;
}

static cr_kernel *parse(cr_ctx *cx, const char *text)
{
    cr_kernel *k = NULL;
    assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
    return k;
}

/* t and x are each the other's inverse, the slopes are those of differences. */
TEST(coordinates)
{
    double       unit[] = { 0.7, 0 };
    int          kind[] = { CRI_GP_LENGTH, CRI_GP_AMPLITUDE };
    cri_gp_space u = { .unit = unit, .kind = kind };
    for (double x = -8; x <= 9; x += 0.37) {
        double t = cri_gp_to_t(&u, 0, x), h = 1e-5 * t, second, up, down;
        assert_true(t > 0);
        assert_close(cri_gp_from_t(&u, 0, t), x, 1e-12);
        double slope = cri_gp_slope_of_t(&u, 0, t, &second);
        assert_relative(
            slope, (cri_gp_from_t(&u, 0, t + h) - cri_gp_from_t(&u, 0, t - h)) / (2 * h), 1e-7);
        up = cri_gp_slope_of_t(&u, 0, t + h, NULL), down = cri_gp_slope_of_t(&u, 0, t - h, NULL);
        if (t < 5) assert_relative(second, (up - down) / (2 * h), 1e-5);
        assert_true(cri_gp_to_t(&u, 1, x) == x && cri_gp_from_t(&u, 1, x) == x);
        assert_true(cri_gp_slope_of_t(&u, 1, x, &second) == 1 && second == 0);
    }
    /* short lengths go by their logarithm, long ones by their inverse */
    assert_relative(cri_gp_to_t(&u, 0, -6) - cri_gp_to_t(&u, 0, -5), 1, 1e-3);
    assert_relative(cri_gp_to_t(&u, 0, 7) / cri_gp_to_t(&u, 0, 8), exp(1), 1e-3);
}

/* Minus the second derivatives against second differences of values; by t they are those of values
 * by t. */
TEST(curvature)
{
    cr_scratch       s = cr_scratch_begin(cx);
    world           *w = one_of_two();
    cr_kernel       *k = parse(cx, "1.3*rbf(l=[0.8, 2.5])");
    cri_gp_optimiser run;
    size_t           at[4] = { 0, 1, 2, 3 };
    double           x[4], z[4], g[4], B[16], A[16], h = 1e-3;

    assert_ok(cx, cri_gp_optimiser_begin(&s, &w->learning, k, 0.05, &run));
    assert_int_equal(run.space.size, 4);
    cr_kernel_theta(k, x);
    x[3] = log(0.05);
    assert_ok(cx, cri_gp_hessian(&run, x, at, 4, g, B));
    assert_int_equal(run.evaluations, 5);
    assert_ok(cx, cri_gp_hessian_ahead(&run, x, 3, A));
    assert_int_equal(run.evaluations, 5 + 5);
    for (size_t by_t = 0; by_t < 2; by_t++)
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < 4; j++) {
                double sum = 0, value;
                for (int e = 0; e < 4; e++) {
                    memcpy(z, x, sizeof z);
                    for (size_t c = 0; by_t && c < 4; c++) z[c] = cri_gp_to_t(&run.space, c, z[c]);
                    z[i] += e & 1 ? h : -h;
                    z[j] += e & 2 ? h : -h;
                    for (size_t c = 0; by_t && c < 4; c++)
                        z[c] = cri_gp_from_t(&run.space, c, z[c]);
                    assert_ok(cx, cri_gp_evaluate(&run, z, &value, NULL));
                    sum += (e == 0 || e == 3 ? value : -value) / (4 * h * h);
                }
                if (by_t)
                    B[i * 4 + j] = -3 * sum; /* three times as much data */
                else
                    assert_close(B[i * 4 + j], -sum, 0.01);
            }
    /* here not positive definite: |w| instead of w, so that the products of A and B with themselves
     * agree */
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            double a = 0, b = 0;
            for (size_t c = 0; c < 4; c++)
                a += A[i * 4 + c] * A[c * 4 + j], b += B[i * 4 + c] * B[c * 4 + j];
            assert_close(a, b, 0.01);
        }
    assert_int_equal(cr_chol(cx, cr_mat_of(A, 4, 4)), CR_OK);
    cri_gp_optimiser_end(&run);
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
    free(w);
}

/* What was evaluated last with its gradient is not evaluated again; elsewhere it is, and with other
 * rows. */
TEST(memory)
{
    cr_scratch       s = cr_scratch_begin(cx);
    world           *w = one_of_two();
    cr_kernel       *k = parse(cx, "rbf(l=[0.8, 2.5])");
    cri_gp_optimiser run;
    cri_gp_data      half = w->data;
    cri_gp_problem   few = { .data = &half };
    double           x[3] = { 0.1, 0.3, -2 }, a, b, g[3], again[3];
    cri_gp_point     point = { .x = x };

    half.n = ROWS / 2, half.count = ROWS / 2;
    assert_ok(cx, cri_gp_optimiser_begin(&s, &w->learning, k, 0.05, &run));
    assert_ok(cx, cri_gp_evaluate(&run, x, &a, NULL));
    assert_ok(cx, cri_gp_evaluate(&run, x, &a, g));
    assert_int_equal(run.evaluations, 2);
    assert_ok(cx, cri_gp_evaluate(&run, x, &b, again));
    assert_int_equal(run.evaluations, 2);
    assert_true(a == b && memcmp(g, again, sizeof g) == 0);
    run.problem = &few;
    assert_ok(cx, cri_gp_try(&run, x, false, &b));
    assert_true(run.evaluations == 3 && b != a);
    run.problem = &w->problem;
    x[2] += 1e-9;
    assert_ok(cx, cri_gp_try(&run, x, true, &b));
    assert_true(run.evaluations == 4 && b != a);
    /* an optimiser run begins with what is known */
    assert_ok(cx, cri_gp_ascend(&run, false, CRI_GP_FINE, 0, NULL, &point));
    assert_true(run.evaluations == 4 && point.value == b);
    cri_gp_optimiser_end(&run);
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
    free(w);
}

/* A column without influence goes to its bound in few steps, and fewer still with the curvature at
 * the start. */
TEST(optimiser_run)
{
    cr_scratch s = cr_scratch_begin(cx);
    world     *w = one_of_two();
    cr_kernel *k = parse(cx, "1*rbf(l=[1, 1])");
    double     A[16], top[2];
    size_t     steps[2];
    for (int known = 0; known < 2; known++) {
        double           x[4] = { 0, -0.3, 2, log(0.02) };
        cri_gp_optimiser run;
        cri_gp_point     point = { .x = x };
        assert_ok(cx, cri_gp_optimiser_begin(&s, &w->learning, k, 0.05, &run));
        if (known) assert_ok(cx, cri_gp_hessian_ahead(&run, x, 1, A));
        assert_ok(cx, cri_gp_ascend(&run, false, CRI_GP_FINE, 100, known ? A : NULL, &point));
        top[known] = point.value;
        steps[known] = point.iterations;
        assert_true(point.stop == CR_STOP_TOLERANCE && x[2] == run.space.upper[2] && x[1] < 1);
        cri_gp_optimiser_end(&run);
    }
    assert_close(top[0], top[1], 1e-5);
    assert_true(steps[1] < steps[0] && steps[0] < 25);
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
    free(w);
}

/* From where the quick term doubles the slow one, and from where the two have changed places, both
 * find their places; a term that is not needed goes to its bound. */
TEST(terms)
{
    static const double from[][5] = { { 1, 4, 0.2, 4.2, 0.08 }, { 0.05, 0.25, 1, 5, 0.01 } };
    cr_scratch          s = cr_scratch_begin(cx);
    world              *w = slow_and_quick();
    double              best[2];
    for (size_t c = 0; c < 3; c++) {
        cr_kernel       *k = parse(cx, c < 2 ? "1*rq(l=1, alpha=2 fixed) + 1*rbf(l=1)"
                                             : "1*rbf(l=1) + 1*rbf(l=1) + 1*rbf(l=1) + 1");
        cri_gp_optimiser run;
        cri_gp_learned   report = { .value = NAN };
        double           x[8], value, noise = 0.01;
        cri_gp_point     point = { .x = x };
        if (c == 2) {
            assert_ok(cx, cri_gp_learn(cx, &w->learning, k, &noise, &report));
            assert_true(report.value > best[0] - 3 && report.stop == CR_STOP_TOLERANCE &&
                        report.agreed >= 1);
            assert_string_equal(report.at_bound, "constant.variance (lower)");
            cr_kernel_free(cx, k);
            continue;
        }
        assert_ok(cx, cri_gp_optimiser_begin(&s, &w->learning, k, noise, &run));
        assert_true(run.space.size == 5 && run.space.terms == 2 && run.space.term[2] == 1 &&
                    run.space.term[4] == 2);
        for (size_t j = 0; j < 5; j++) x[j] = log(from[c][j]);
        assert_ok(cx, cri_gp_ascend(&run, false, CRI_GP_ROUGH, 100, NULL, &point));
        value = point.value;
        assert_ok(cx, cri_gp_renew_terms(&run, &point));
        best[c] = point.value;
        assert_true(point.stop == CR_STOP_TOLERANCE && best[c] >= value);
        assert_ok(cx, cri_gp_evaluate(&run, x, &value, NULL));
        assert_close(value, best[c], 1e-9);
        cri_gp_optimiser_end(&run);
        cr_kernel_free(cx, k);
    }
    assert_close(best[0], best[1], 0.02);
    cr_scratch_end(&s);
    free(w);
}

/* -|theta - 1|^2 - (log noise + 1)^2, for as many rows as there are. */
static cr_status bowl(cr_ctx *cx, void *method, const cri_gp_problem *problem, const cr_kernel *k,
                      double noise, double *out_value, double *opt_gradient)
{
    double theta[8], n = (double)problem->data->n;
    size_t p = cr_kernel_theta_size(k);
    (void)cx, (void)method;
    cr_kernel_theta(k, theta);
    theta[p] = log(noise) + 2;
    *out_value = 0;
    for (size_t j = 0; j <= p; j++) {
        *out_value -= n * pow(theta[j] - 1, 2);
        if (opt_gradient) opt_gradient[j] = -2 * n * (theta[j] - 1);
    }
    return CR_OK;
}

/* The same bowl with a slope that leads away from its bottom. */
static cr_status wrong_bowl(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                            const cr_kernel *k, double noise, double *out_value,
                            double *opt_gradient)
{
    cr_status st = bowl(cx, method, problem, k, noise, out_value, opt_gradient);
    for (size_t j = 0; opt_gradient && j <= cr_kernel_theta_size(k); j++) opt_gradient[j] *= -1;
    return st;
}

/* Where no step gains although the gradient is large, nothing has converged; where the steps are
 * used up, neither; and these are no more than allowed. */
TEST(stop)
{
    cr_scratch s = cr_scratch_begin(cx);
    world     *w = slow_and_quick();
    cr_kernel *k = parse(cx, "1*rbf(l=1)");
    double     x[3] = { 0.2, 0.1, -2 };
    for (int i = 0; i < 3; i++) {
        static const cr_stop stops[] = { CR_STOP_NO_PROGRESS, CR_STOP_TOLERANCE, CR_STOP_LIMIT };
        cri_gp_optimiser     run;
        cri_gp_point         point = { .x = x };
        w->learning.objective = i == 0 ? wrong_bowl : i == 1 ? bowl : cri_gp_exact_objective;
        w->learning.max_iter = i == 2 ? 3 : 100;
        assert_ok(cx, cri_gp_optimiser_begin(&s, &w->learning, k, 0.01, &run));
        assert_ok(cx, cri_gp_ascend(&run, false, CRI_GP_FINE, 100, NULL, &point));
        if (i == 2) assert_int_equal(point.iterations, 3);
        assert_int_equal(point.stop, stops[i]);
        cri_gp_optimiser_end(&run);
    }
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
    free(w);
}

static cr_status learn_sum(cr_ctx *cx, void *arg)
{
    world         *w = arg;
    cr_kernel     *k = NULL;
    cri_gp_learned report;
    double         noise = 0.01, sd[8];
    cr_status      st = cr_kernel_parse(cx, "1*rbf(l=1) + 1*rbf(l=3)", NULL, NULL, 0, &k);
    if (st == CR_OK) st = cri_gp_learn(cx, &w->learning, k, &noise, &report);
    if (st == CR_OK)
        st = cri_gp_laplace_at(cx, &w->learning, k, noise, &(cri_gp_laplace){ .sd = sd });
    if (st == CR_OK) {
        assert_close(noise, exp(-1), 1e-6);
        for (size_t j = 0; j < 5; j++)
            assert_relative(sd[j], 1 / sqrt(2 * (double)w->data.n), 1e-6);
    }
    cr_kernel_free(cx, k);
    return st;
}

TEST(memory_fails)
{
    world *w = slow_and_quick();
    w->learning.search_rows = 20; /* some rows, then all */
    w->learning.objective = bowl;
    test_every_allocation_fails(learn_sum, w);
    free(w);
}
