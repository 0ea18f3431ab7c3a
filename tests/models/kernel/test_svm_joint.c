/* test_svm_joint.c -- machines of many classes found together: against primal and dual by their definitions, the optimum of
 * liblinear, the weights against the kernel, the law of weights, and what cannot be had. */
#include "../gp/gp_reference.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "models/kernel/svm/svm_joint.h"
#include "math/kernel/kernel.h"

enum { N = 40, K = 4, P = 3 };

typedef struct joint {
    double X[N * P], y[N], cost[N], A[N * K], b[K], objective[K], gap[K], norm[K];
} joint;

static void draw(joint *j, double C)
{
    cr_rng rng = cr_rng_stream(17, 0);
    *j = (joint){ 0 };
    for (size_t i = 0; i < N; i++) {
        size_t k = i % K;
        j->y[i] = (double)k;
        j->cost[i] = C * (i % 7 == 3 ? 0 : i % 5 == 0 ? 2 : 1);
        for (size_t d = 0; d < P; d++)
            j->X[i * P + d] = cr_rng_normal(&rng) + 1.3 * (d < 2 && (k >> d & 1));
    }
}

static cri_svm_joint_solution solution_of(joint *j)
{
    return (cri_svm_joint_solution){
        .A = j->A, .b = j->b, .objective = j->objective, .gap = j->gap, .norm = j->norm
    };
}

/* Feasible, and primal less dual, both as they are defined, is what is told. */
static void check_certificate(const joint *j, const double *M, double tol)
{
    double primal = 0, dual = 0, gap = 0, objective = 0;
    for (size_t i = 0; i < N; i++) {
        double sum = 0, most = -INFINITY, f[K];
        size_t y = (size_t)j->y[i];
        for (size_t k = 0; k < K; k++) {
            double a = j->A[i * K + k];
            sum += a;
            assert_true(a <= (k == y ? j->cost[i] : 0));
            f[k] = 0;
            for (size_t l = 0; l < N; l++) f[k] += j->A[l * K + k] * M[i * N + l];
            primal += 0.5 * a * f[k], dual -= 0.5 * a * f[k];
        }
        assert_close(sum, 0, 1e-9 * (1 + j->cost[i]));
        for (size_t k = 0; k < K; k++) most = fmax(most, f[k] + (k != y) - f[y]);
        primal += j->cost[i] * most;
        dual += j->A[i * K + y];
    }
    for (size_t k = 0; k < K; k++) gap += j->gap[k], objective += j->objective[k];
    assert_close(objective, -dual, 1e-9 * (1 + fabs(dual)));
    assert_close(gap, primal - dual, 1e-8 * (1 + fabs(primal)));
    assert_true(primal - dual >= -1e-9 * primal && primal - dual <= tol * primal);
}

static void fill_kernel(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *in, double *M)
{
    assert_ok(cx, cr_kernel_cross(cx, k, in, in, cr_mat_of(M, N, N)));
    for (size_t i = 0; i < N * N; i++) M[i] += 1;
}

TEST(primal_is_dual)
{
    static const char *const kernels[] = { "rbf(l=1)", "linear", "poly(degree=2,c=1)" };
    static const double      prices[] = { 0.01, 1, 30 };
    for (size_t k = 0; k < 3; k++)
        for (size_t c = 0; c < 3; c++) {
            joint            j;
            double           M[N * N];
            cr_kernel       *kernel = NULL;
            cri_svm_settings how = { .tol = 1e-9, .max_iter = 3000000, .working = c == 1 ? 8 : 0 };
            draw(&j, prices[c]);
            how.clock = cri_clock_start(cx, NAN);
            cr_kernel_input        in = { .rows = N, .numbers = cr_cmat_of(j.X, N, P) };
            cri_svm_joint_problem  p = { N, K, j.y, j.cost };
            cri_svm_joint_solution x = solution_of(&j);
            assert_ok(cx, cr_kernel_parse(cx, kernels[k], NULL, NULL, 0, &kernel));
            assert_ok(cx, cri_svm_joint_solve(cx, &p, kernel, &in, &how, &x));
            assert_true(x.converged && x.violation <= 1e-9);
            fill_kernel(cx, kernel, &in, M);
            check_certificate(&j, M, 1e-6);
            cr_kernel_free(cx, kernel);
        }
}

/* The same by weights, with and without a centre that is taken off the rows. */
TEST(weights_are_the_kernel)
{
    static const double centre[P] = { 0.5, -0.3, 2 };
    for (int off = 0; off < 2; off++) {
        joint            j;
        double           M[N * N], W[K * P], dual = 0;
        cri_svm_settings how = { .tol = 1e-6, .max_iter = 3000000 };
        how.clock = cri_clock_start(cx, NAN);
        draw(&j, 1);
        cri_svm_linear_rows    rows = { .n = N, .p = P, .dense = j.X };
        cri_svm_joint_problem  p = { N, K, j.y, j.cost };
        cri_svm_joint_solution x = solution_of(&j);
        assert_ok(cx, cri_svm_joint_solve_linear(cx, &p, &rows, off ? centre : NULL, &how, 100000,
                                                 W, &x));
        assert_true(x.converged);
        for (size_t i = 0; i < N; i++)
            for (size_t l = 0; l < N; l++) {
                M[i * N + l] = 1;
                for (size_t d = 0; d < P; d++)
                    M[i * N + l] += (j.X[i * P + d] - (off ? centre[d] : 0)) *
                                    (j.X[l * P + d] - (off ? centre[d] : 0));
            }
        check_certificate(&j, M, 2e-8);
        for (size_t k = 0; k < K; k++)
            for (size_t d = 0; d < P; d++) {
                double w = 0;
                for (size_t i = 0; i < N; i++)
                    w += j.A[i * K + k] * (j.X[i * P + d] - (off ? centre[d] : 0));
                assert_close(W[k * P + d], w, 1e-10);
                dual += w * w;
            }
        for (size_t k = 0; k < K; k++) dual -= j.norm[k] * j.norm[k];
        assert_close(dual, 0, 1e-9);
    }
}

/* Slopes that are equal, or nearly so: a step ends, keeps the simplex, and leaves no violation. */
TEST(steps_with_ties)
{
    enum { MANY = 6 };
    cr_rng rng = cr_rng_stream(3, 0);
    for (size_t trial = 0; trial < 200000; trial++) {
        double y = (double)cr_rng_below(&rng, MANY), a[MANY] = { 0 }, g[MANY], sum = 0;
        double cost = pow(10, (double)cr_rng_below(&rng, 7) - 3) / 3, before[MANY];
        double curve = 1 + cr_rng_uniform(&rng) / 3;
        cri_svm_joint_problem p = { 1, MANY, &y, &cost };
        for (size_t k = 0; k < MANY; k++)
            g[k] = (double)cr_rng_below(&rng, 3) / 3 + (trial % 2 ? 1e-16 * (double)k : 0);
        for (int again = 0; again < 2; again++) {
            memcpy(before, a, sizeof a);
            cri_svm_joint_step(&p, 0, curve, g, a);
            for (size_t k = 0; k < MANY; k++) g[k] += curve * (a[k] - before[k]);
        }
        for (size_t k = 0; k < MANY; k++) {
            assert_true(a[k] <= (k == (size_t)y ? cost : 0));
            sum += a[k];
        }
        assert_close(sum, 0, 1e-12 * (1 + cost));
        assert_true(cri_svm_joint_violation(&p, 0, g, a) <= 1e-12 * (1 + curve * cost));
    }
}

/* What steps are left undone is in the gap. */
TEST(limits)
{
    joint            j;
    double           M[N * N];
    cr_kernel       *kernel = NULL;
    cri_svm_settings how = { .tol = 1e-9, .max_iter = 7 };
    how.clock = cri_clock_start(cx, NAN);
    draw(&j, 10);
    cr_kernel_input        in = { .rows = N, .numbers = cr_cmat_of(j.X, N, P) };
    cri_svm_joint_problem  p = { N, K, j.y, j.cost };
    cri_svm_joint_solution x = solution_of(&j);
    assert_ok(cx, cr_kernel_parse(cx, "rbf(l=1)", NULL, NULL, 0, &kernel));
    assert_ok(cx, cri_svm_joint_solve(cx, &p, kernel, &in, &how, &x));
    assert_true(!x.converged && x.steps <= 7 && x.violation > 0.01);
    fill_kernel(cx, kernel, &in, M);
    check_certificate(&j, M, 1);
    cr_kernel_free(cx, kernel);
}

/* liblinear 2.43 -s 4 -B 1 -c 1 -e 1e-7 on iris: its objective, weights of a column and constants, classes as sorted. */
TEST(liblinear_of_iris)
{
    static const double b[] = { 0.27456879666764772, 1.0932860229295451, -1.3678548195972362 };
    cr_table           *t = read_table(cx, "examples/iris.csv");
    cr_model           *m =
        fit(cx, "svm", t, "target=species scale=none kernel=linear multi=crammer-singer tol=1e-8");
    json_t *d = describe(cx, m), *machines = json_object_get(d, "machines");
    assert_close(statistic(d, "dual_objective"), -20.018230, 2e-6);
    for (size_t k = 0; k < 3; k++)
        assert_close(json_number_value(json_object_get(json_array_get(machines, k), "b")), b[k],
                     2e-4);
}

TEST(refusals)
{
    cr_table *t = read_table(cx, "examples/iris.csv");
    cr_model *m = NULL;
    assert_fails_with(
        cx,
        try_fit(cx, "svm", t, "target=species task=classification multi=crammer-singer C=inf", &m),
        CR_EARG, "finite C");
    assert_fails_with(cx, try_fit(cx, "svm", t, "target=species multi=crammer-singer kind=nu", &m),
                      CR_EARG, "--kind c");
    assert_fails_with(cx,
                      try_fit(cx, "svm", t,
                              "target=species multi=crammer-singer kernel=linear "
                              "margin_loss=squared-hinge",
                              &m),
                      CR_EARG, "--margin-loss hinge");
}
