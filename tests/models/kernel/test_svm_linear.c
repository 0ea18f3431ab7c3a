/* Linear support vector machines: every answer certified by the definition of both programmes. */
#include "support.h"

#include "base/parallel.h"
#include "base/rng.h"
#include "models/kernel/svm/linear_svm.h"

/* A small problem, dense and sparse. */
typedef struct toy {
    size_t    n, p, m;
    double   *X, *value, *sign, *target, *cost;
    size_t   *start;
    uint32_t *column;
} toy;

static void toy_free(cr_ctx *cx, void *object)
{
    toy *t = object;
    (void)cx;
    free(t->X), free(t->value), free(t->sign), free(t->target), free(t->cost);
    free(t->start), free(t->column), free(t);
}

/* Classes by a noisy plane, a third of the numbers other than 0; numbers: two pieces a row. */
static toy *toy_new(cr_ctx *cx, size_t n, size_t p, double C, bool numbers)
{
    toy   *t = calloc(1, sizeof *t);
    cr_rng r = cr_rng_stream(7, n + p);
    *t = (toy){ .n = n, .p = p, .m = numbers ? 2 * n : n };
    t->X = calloc(n * p + 1, sizeof *t->X);
    t->value = calloc(n * p + 1, sizeof *t->value);
    t->column = calloc(n * p + 1, sizeof *t->column);
    t->start = calloc(n + 1, sizeof *t->start);
    t->sign = calloc(t->m, sizeof *t->sign);
    t->target = calloc(t->m, sizeof *t->target);
    t->cost = calloc(t->m, sizeof *t->cost);
    for (size_t i = 0, e = 0; i < n; i++) {
        double f = 0.5 * cr_rng_normal(&r) + 0.3;
        for (size_t j = 0; j < p; j++) {
            if (cr_rng_uniform(&r) > 0.34) continue;
            double x = cr_rng_normal(&r);
            t->X[i * p + j] = t->value[e] = x;
            t->column[e++] = (uint32_t)j;
            f += x * (j % 3 == 0 ? 1.0 : -0.2);
        }
        t->start[i + 1] = e;
        t->sign[i] = numbers || f > 0 ? 1 : -1;
        t->target[i] = numbers ? f - 0.1 : 1;
        t->cost[i] = C * (i % 5 == 0 ? 2 : 1);
        if (!numbers) continue;
        t->sign[n + i] = -1;
        t->target[n + i] = -f - 0.1;
        t->cost[n + i] = t->cost[i];
    }
    test_own(cx, t, toy_free);
    return t;
}

static cri_svm_linear_rows toy_rows(const toy *t, bool sparse)
{
    cri_svm_linear_rows x = { .n = t->n, .p = t->p, .dense = sparse ? NULL : t->X };
    x.sparse = (cri_sparse){ .n = t->n,
                             .p = t->p,
                             .start = t->start,
                             .column = t->column,
                             .value = t->value,
                             .plain = true };
    return x;
}

typedef struct answer {
    double                  w[64], alpha[1024];
    cri_svm_linear_solution s;
} answer;

static cr_status try_solve(cr_ctx *cx, const toy *t, bool sparse, cri_svm_linear_problem q,
                           cri_svm_linear_options o, answer *out)
{
    cri_svm_linear_rows x = toy_rows(t, sparse);
    q.x = &x, q.m = t->m, q.sign = t->sign, q.target = t->target, q.cost = t->cost;
    if (o.max_iter == 0) o.max_iter = 20000;
    if (o.tol == 0) o.tol = 1e-7;
    out->s.w = out->w, out->s.alpha = out->alpha;
    return cri_svm_linear_solve(cx, &q, &o, &out->s);
}

/* P and D from the definition, with alpha feasible: weak duality bounds how far both are from the optimum. */
static void check_certificate(const toy *t, const cri_svm_linear_problem *q, const answer *a)
{
    double P = 0, D = 0, balance = 0, most = 0, all = 0;
    for (size_t k = 0; k < t->m; k++) {
        const double *x = t->X + (k % t->n) * t->p;
        double        f = a->s.b, u, alpha = a->alpha[k];
        for (size_t j = 0; j < t->p; j++) f += a->w[j] * x[j];
        u = fmax(t->target[k] - t->sign[k] * f, 0);
        P += t->cost[k] * (q->squared ? u * u : u);
        D += t->target[k] * alpha - (q->squared ? alpha * alpha / (4 * t->cost[k]) : 0);
        balance += t->sign[k] * alpha;
        all += alpha;
        assert_true(alpha >= 0 && (q->squared || alpha <= t->cost[k] * (1 + 1e-12)));
    }
    for (size_t j = 0; j < t->p; j++) {
        double g = 0;
        for (size_t k = 0; k < t->m; k++)
            g += t->sign[k] * a->alpha[k] * t->X[(k % t->n) * t->p + j];
        P += q->l1 ? fabs(a->w[j]) : a->w[j] * a->w[j] / 2;
        D -= q->l1 ? 0 : g * g / 2;
        most = fmax(most, fabs(g));
    }
    if (q->l1) assert_true(most <= 1 + 1e-9);
    if (q->intercept) assert_true(fabs(balance) <= 1e-9 * all);
    assert_close(a->s.primal, P, 1e-9);
    assert_close(a->s.dual, D, 1e-7);
    assert_true(P - D <= 1.01e-7 * fabs(P) && P - D >= -1e-9 * fabs(P));
}

static const struct {
    cri_svm_linear_method method;
    bool                  squared, l1;
} ways[] = {
    { CRI_SVM_LINEAR_INTERIOR, false, false },   { CRI_SVM_LINEAR_SMOOTH, false, false },
    { CRI_SVM_LINEAR_COORDINATE, false, false }, { CRI_SVM_LINEAR_COORDINATE, true, false },
    { CRI_SVM_LINEAR_NEWTON, true, false },      { CRI_SVM_LINEAR_ABSOLUTE, true, true }
};
enum { WAYS = sizeof ways / sizeof *ways };

TEST(every_method_ends_at_the_optimum)
{
    for (size_t i = 0; i < WAYS * 8; i++) {
        size_t k = i % WAYS;
        bool   sparse = i / WAYS % 2, intercept = i / WAYS / 2 % 2, numbers = i / WAYS / 4;
        toy   *t = toy_new(cx, 60, 7, 0.7, numbers);
        cri_svm_linear_problem q = { .squared = ways[k].squared,
                                     .l1 = ways[k].l1,
                                     .intercept = intercept };
        answer                 a = { 0 };
        assert_ok(cx, try_solve(cx, t, sparse, q,
                                (cri_svm_linear_options){ .method = ways[k].method }, &a));
        assert_true(a.s.converged);
        check_certificate(t, &q, &a);
    }
}

/* The methods that solve one problem agree on it, whatever C. */
TEST(methods_agree_at_any_cost)
{
    static const double costs[] = { 1e-8, 1e-3, 1, 100 };
    for (size_t i = 0; i < 8; i++) {
        bool                   squared = i % 2;
        toy                   *t = toy_new(cx, 40, 3, costs[i / 2], false);
        cri_svm_linear_problem q = { .squared = squared, .intercept = true };
        answer                 a = { 0 }, b = { 0 };
        cri_svm_linear_options one = { .method = squared ? CRI_SVM_LINEAR_NEWTON
                                                         : CRI_SVM_LINEAR_INTERIOR };
        cri_svm_linear_options two = { .method = CRI_SVM_LINEAR_COORDINATE, .max_iter = 1000000 };
        assert_ok(cx, try_solve(cx, t, true, q, one, &a));
        assert_ok(cx, try_solve(cx, t, true, q, two, &b));
        assert_true(a.s.converged && b.s.converged);
        assert_close(a.s.primal, b.s.primal, 3e-7);
        check_certificate(t, &q, &a);
    }
}

/* Classes apart: with a huge C the margin is that of the two nearest points, 1 / |w|. */
TEST(huge_costs_give_the_hard_margin)
{
    static double X[] = {
        0, 0, 1, 0, 0, 1, 3, 3, 4, 3, 3, 4
    }; /* the nearest: (0.5, 0.5) of an edge and (3, 3) */
    static double sign[] = { -1, -1, -1, 1, 1, 1 }, target[] = { 1, 1, 1, 1, 1, 1 };
    static double cost[] = { 1e8, 1e8, 1e8, 1e8, 1e8, 1e8 };
    toy t = { .n = 6, .p = 2, .m = 6, .X = X, .sign = sign, .target = target, .cost = cost };
    cri_svm_linear_problem q = { .intercept = true };
    answer                 a = { 0 };
    assert_ok(cx, try_solve(cx, &t, false, q,
                            (cri_svm_linear_options){ .method = CRI_SVM_LINEAR_INTERIOR }, &a));
    assert_true(a.s.converged);
    assert_close(1 / sqrt(a.w[0] * a.w[0] + a.w[1] * a.w[1]), sqrt(2 * 2.5 * 2.5) / 2, 1e-5);
}

TEST(same_bits_on_any_threads_and_a_warm_start_ends_at_once)
{
    for (size_t k = 0; k < WAYS; k++) {
        toy                   *t = toy_new(cx, 500, 9, 1, false);
        cri_svm_linear_problem q = { .squared = ways[k].squared,
                                     .l1 = ways[k].l1,
                                     .intercept = true };
        cri_svm_linear_options o = { .method = ways[k].method };
        answer                 a = { 0 }, b = { 0 };
        cr_ctx_set_threads(cx, 1);
        assert_ok(cx, try_solve(cx, t, true, q, o, &a));
        cr_ctx_set_threads(cx, 4);
        assert_ok(cx, try_solve(cx, t, true, q, o, &b));
        assert_memory_equal(a.w, b.w, sizeof a.w);
        assert_memory_equal(a.alpha, b.alpha, sizeof a.alpha);
        if (k < 2) continue; /* which always begin anew */
        size_t cold = b.s.iterations;
        o.warm = true;
        assert_ok(cx, try_solve(cx, t, true, q, o, &b));
        assert_true(b.s.iterations <= 1 + cold / 4);
    }
}

/* Stopped early is an answer with an honest gap; corners: no columns, one row, rows that cost nothing. */
TEST(limits_and_corners)
{
    for (size_t k = 0; k < WAYS; k++) {
        toy *t = toy_new(cx, 100, 9, 1, false), *narrow = toy_new(cx, 10, 0, 1, false);
        toy *one = toy_new(cx, 1, 3, 1, false);
        cri_svm_linear_problem q = { .squared = ways[k].squared,
                                     .l1 = ways[k].l1,
                                     .intercept = true };
        cri_svm_linear_options o = { .method = ways[k].method, .max_iter = 1 };
        answer                 a = { 0 };
        assert_ok(cx, try_solve(cx, t, false, q, o, &a));
        assert_false(a.s.converged);
        assert_true(a.s.gap > 0 && isfinite(a.s.gap));
        o.max_iter = 0;
        assert_ok(cx, try_solve(cx, narrow, true, q, o, &a));
        assert_true(a.s.converged);
        assert_ok(cx, try_solve(cx, one, true, q, o, &a));
        assert_true(a.s.primal < 1e-5 && a.s.dual < 1e-5); /* b alone serves it */
        for (size_t i = 0; i < 50; i++) t->cost[i] = 0;
        assert_ok(cx, try_solve(cx, t, false, q, o, &a));
        double all = a.s.primal;
        for (size_t i = 0; i < 50; i++) assert_true(a.alpha[i] == 0);
        toy half = *t;
        half.X += 50 * t->p, half.sign += 50, half.target += 50, half.cost += 50;
        half.n = half.m = 50;
        assert_ok(cx, try_solve(cx, &half, false, q, o, &a));
        assert_close(a.s.primal, all, 3e-7);
    }
    toy   *t = toy_new(cx, 10, 2, 1, false);
    answer a = { 0 };
    assert_int_equal(try_solve(cx, t, false,
                               (cri_svm_linear_problem){ .l1 = true, .squared = true },
                               (cri_svm_linear_options){ .method = CRI_SVM_LINEAR_NEWTON }, &a),
                     CR_EUNSUPPORTED);
}

/* Of many rows of which few are needed a part is solved, dense or sparse, classes or numbers, to the optimum of all. */
TEST(parts_of_many_rows)
{
    for (size_t i = 0; i < 4; i++) {
        bool                    sparse = i % 2, numbers = i / 2;
        toy                    *t = toy_new(cx, 12000, 4, 0.001, numbers);
        cri_svm_linear_problem  q = { .intercept = true, .m = t->m };
        cri_svm_linear_rows     x = toy_rows(t, sparse);
        cri_svm_linear_options  o = { .method = CRI_SVM_LINEAR_SMOOTH,
                                      .tol = 1e-7,
                                      .max_iter = 1000 };
        double                  w[4], v[4], *alpha = calloc(2 * t->m, sizeof *alpha);
        cri_svm_linear_solution a = { .w = w, .alpha = alpha },
                                b = { .w = v, .alpha = alpha + t->m };
        for (size_t k = 0; numbers && k < t->m; k++) t->target[k] -= 1.2; /* a wide tube */
        for (size_t k = 0; k < t->n * t->p; k++) t->X[k] *= 20, t->value[k] *= 20;
        q.x = &x, q.sign = t->sign, q.target = t->target, q.cost = t->cost;
        assert_ok(cx, cri_svm_linear_solve(cx, &q, &o, &a));
        o.method = CRI_SVM_LINEAR_INTERIOR;
        assert_ok(cx, cri_svm_linear_solve(cx, &q, &o, &b));
        assert_true(a.converged && b.converged);
        assert_true(a.iterations < 150); /* of its own: that many leave it to the interior point */
        assert_relative(a.primal, b.primal, 3e-7);
        assert_relative(a.dual, b.primal, 3e-7);
        free(alpha);
    }
}

/* A column of few rows may have none in a part, and classes of which one is rare none that balance it. */
TEST(parts_without_rows_of_a_column_or_class)
{
    enum { N = 12000, P = 60 };
    toy                    *t = toy_new(cx, N, P, 0.3, false);
    cri_svm_linear_problem  q = { .intercept = true, .m = N };
    cri_svm_linear_rows     x = toy_rows(t, false);
    double                  w[P], v[P], *alpha = calloc(2 * N, sizeof *alpha);
    cri_svm_linear_solution a = { .w = w, .alpha = alpha }, b = { .w = v, .alpha = alpha + N };
    cri_svm_linear_options  o = { .method = CRI_SVM_LINEAR_SMOOTH, .tol = 1e-7, .max_iter = 1000 };
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 3; j < P; j++) t->X[i * P + j] = i % (N / 3) == j ? 40 : 0;
        double f = t->X[i * P] - t->X[i * P + 1] - 2.5;
        t->sign[i] = f + (i % 7 == 0 ? 2.0 : 0.0) > 0 ? 1 : -1;
    }
    q.x = &x, q.sign = t->sign, q.target = t->target, q.cost = t->cost;
    assert_ok(cx, cri_svm_linear_solve(cx, &q, &o, &a));
    assert_true(a.converged && a.iterations < 150);
    o.method = CRI_SVM_LINEAR_INTERIOR;
    assert_ok(cx, cri_svm_linear_solve(cx, &q, &o, &b));
    assert_true(b.converged);
    assert_relative(a.primal, b.primal, 3e-7);
    assert_relative(a.dual, b.primal, 3e-7);
    free(alpha);
}

static cr_status solve_each(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    answer    a = { 0 };
    for (size_t k = 0; k < WAYS; k++)
        CR_TRY(try_solve(cx, arg, k % 2,
                         (cri_svm_linear_problem){ .squared = ways[k].squared, .l1 = ways[k].l1 },
                         (cri_svm_linear_options){ .method = ways[k].method, .tol = 1e-3 }, &a));
done:
    return st;
}

TEST(every_allocation_may_fail)
{
    test_every_allocation_fails(solve_each, toy_new(cx, 30, 4, 1, true));
}
