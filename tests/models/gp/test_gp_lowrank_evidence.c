/* test_gp_lowrank_evidence.c -- evidence and gradient of a small rank: against the dense formulas
 * and, by differences, itself. */
#include "gp_problem.h"

#include "models/gp/search/gp_lowrank_evidence.h"

enum { N = 420, LARGE = 850, TERMS = 2, PARAMETERS = 8 };

typedef struct sample {
    double         X[LARGE * 2], y[LARGE], r[LARGE], H[LARGE * TERMS];
    size_t         first[LARGE];
    cri_gp_data    data;
    cri_gp_problem problem;
} sample;

static sample *draw(uint64_t seed, size_t n, size_t terms)
{
    sample *s = calloc(1, sizeof *s);
    cr_rng  r = cr_rng_stream(seed, 3);
    s->data = draw_rows(&r, n, terms, s->X, s->y, s->r, s->H, s->first);
    s->problem = (cri_gp_problem){ &s->data, terms, s->H };
    return s;
}

/* By the dense formulas. */
static double dense(cr_ctx *cx, const sample *s, const cr_kernel *k, double noise, double *gradient)
{
    size_t  n = s->data.n;
    double *L = malloc(n * n * sizeof *L), *alpha = malloc(n * sizeof *alpha),
           *U = malloc(n * TERMS * sizeof *U);
    double          beta[TERMS], A[TERMS * TERMS];
    cri_gp_solution solution = { .alpha = alpha, .beta = beta, .U = U, .A = A };
    assert_ok(cx, cri_gp_solve(cx, &s->problem, k, noise, CRI_GP_NO_JITTER, L, &solution));
    assert_ok(cx, cri_gp_gradient(cx, &s->problem, k, noise, &solution, L, gradient));
    free(L);
    free(alpha);
    free(U);
    return solution.log_evidence;
}

TEST(dense)
{
    static const struct {
        const char *kernel;
        double      noise;
        size_t      terms;
    } kinds[] = {
        { "1.3*rbf(x1;l=0.8)", 0.05, 0 },
        { "1.3*rbf(l=[2,3])", 0.05, 2 },
        { "1.3*rbf(l=[2,3])", 2, 1 },
        { "rbf(x1;l=1)+0.5*rq(x2;l=2,alpha=1)+0.3*linear(x1)", 0.03, 1 },
        { "periodic(x1;p=1.5,l=1)*rbf(x1;l=4)+0.7*linear(x2)", 0.05, 2 },
        { "0.4*poly(degree=2)", 0.2, 1 },
        { "1e6*rbf(x1;l=0.8)", 1e5, 1 },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        sample    *s = draw(i, N, kinds[i].terms);
        cr_kernel *k = parse(cx, kinds[i].kernel);
        double     value = 0, gradient[PARAMETERS], expected[PARAMETERS];
        bool       held = false;
        double     known = dense(cx, s, k, kinds[i].noise, expected);
        assert_ok(cx, cri_gp_lowrank_evidence(cx, &s->problem, k, kinds[i].noise, s->data.n / 4,
                                              &value, gradient, &held));
        if (!held) fail_msg("%s does not hold", kinds[i].kernel);
        assert_relative(value, known, 1e-10);
        for (size_t j = 0; j <= cr_kernel_theta_size(k); j++)
            assert_close(gradient[j] / N, expected[j] / N, 1e-9);
        value = 0;
        assert_ok(cx, cri_gp_lowrank_evidence(cx, &s->problem, k, kinds[i].noise, s->data.n / 4,
                                              &value, NULL, &held));
        assert_relative(value, known, 1e-10);
        cr_kernel_free(cx, k);
        free(s);
    }
}

/* Where it does not hold nothing is written. */
TEST(refusals)
{
    static const struct {
        const char *kernel;
        double      noise;
    } kinds[] = {
        { "matern12(x1;l=0.8)", 0.05 },
        { "rbf(x1;l=0.003)", 0.05 },
        { "rbf(x1;l=0.8)+white(0.1)", 0.05 },
        { "rbf(x1;l=0.8)", 0 },
        { "rbf(x1;l=0.8)", 1e-9 },
        { "sigmoid(x1)", 0.1 },
    };
    sample *s = draw(20, N, 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        cr_kernel *k = parse(cx, kinds[i].kernel);
        double     value = 7, gradient[PARAMETERS] = { 7, 7, 7 };
        bool       held = true;
        assert_ok(cx, cri_gp_lowrank_evidence(cx, &s->problem, k, kinds[i].noise, s->data.n / 4,
                                              &value, gradient, &held));
        if (held) fail_msg("%s holds", kinds[i].kernel);
        assert_true(value == 7 && gradient[0] == 7 && gradient[2] == 7);
        cr_kernel_free(cx, k);
    }
    free(s);
}

/* The objective takes the quick road where it holds and the dense one elsewhere; attempts that fail
 * thin out. */
TEST(objective)
{
    sample *s = draw(30, LARGE, 1);
    double *L = malloc(LARGE * LARGE * sizeof *L), alpha[LARGE], U[LARGE], beta[1], A[1];
    cri_gp_quick_workspace workspace = {
        .exact = { L, { .alpha = alpha, .beta = beta, .U = U, .A = A } }
    };
    cr_kernel *smooth = parse(cx, "1.3*rbf(x1;l=0.8)"),
              *rough = parse(cx, "1.3*matern12(x1;l=0.8)");
    double value, gradient[PARAMETERS], expected[PARAMETERS];
    double by_smooth = dense(cx, s, smooth, 0.05, expected);
    for (size_t threads = 1; threads <= 7; threads += 2) {
        cr_ctx_set_threads(cx, threads);
        assert_ok(cx, cri_gp_quick_objective(cx, &workspace, &s->problem, smooth, 0.05, &value,
                                             gradient));
        assert_int_equal(workspace.failed, 0);
        assert_relative(value, by_smooth, 1e-10);
        for (size_t j = 0; j < 3; j++) assert_close(gradient[j] / LARGE, expected[j] / LARGE, 1e-9);
        static double first[PARAMETERS + 1];
        if (threads == 1) first[PARAMETERS] = value, memcpy(first, gradient, 3 * sizeof *first);
        assert_true(first[PARAMETERS] == value);
        assert_memory_equal(first, gradient, 3 * sizeof *first);
    }
    double by_rough = dense(cx, s, rough, 0.05, expected);
    for (size_t i = 0; i < 4; i++) {
        static const size_t skip[] = { 1, 0, 2, 1 };
        assert_ok(cx,
                  cri_gp_quick_objective(cx, &workspace, &s->problem, rough, 0.05, &value, NULL));
        assert_true(value == by_rough);
        assert_int_equal(workspace.skip, skip[i]);
    }
    cr_kernel_free(cx, smooth);
    cr_kernel_free(cx, rough);
    free(L);
    free(s);
}

static cr_status all_of_it(cr_ctx *cx, void *arg)
{
    cr_status     st = CR_OK;
    const sample *s = arg;
    cr_kernel    *k = NULL;
    double        value, gradient[PARAMETERS];
    bool          held = false;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_kernel_parse(cx, "rbf(x1;l=9)", NULL, NULL, 0, &k));
    CR_TRY(
        cri_gp_lowrank_evidence(cx, &s->problem, k, 0.1, s->data.n / 4, &value, gradient, &held));
    assert_true(held);
done:
    cr_kernel_free(cx, k);
    return st;
}

TEST(allocations)
{
    sample *s = draw(40, 200, 1);
    test_every_allocation_fails(all_of_it, s);
    free(s);
}
