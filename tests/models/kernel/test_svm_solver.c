/* test_svm_solver.c -- the decomposition solver against the optimum found by trying which variables are at which
 * bound, against laws of the certificate, and against itself with little memory, other threads and working sets. */
#include "support.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "models/kernel/svm/svm_solver.h"

enum { TINY = 7, MANY = 900 };

/* --- the oracle ------------------------------------------------------------------------------ */

/* Solves A x = b in place [n x n] by elimination with pivots; false where A is singular. */
static bool eliminate(double *A, double *b, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t p = k;
        for (size_t i = k; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
        if (fabs(A[p * n + k]) < 1e-11) return false;
        for (size_t j = 0; j < n; j++) {
            double x = A[k * n + j];
            A[k * n + j] = A[p * n + j], A[p * n + j] = x;
        }
        double x = b[k];
        b[k] = b[p], b[p] = x;
        for (size_t i = 0; i < n; i++) {
            if (i == k) continue;
            double f = A[i * n + k] / A[k * n + k];
            for (size_t j = 0; j < n; j++) A[i * n + j] -= f * A[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (size_t k = 0; k < n; k++) b[k] /= A[k * n + k];
    return true;
}

typedef struct tiny {
    size_t n;
    double Q[TINY * TINY], p[TINY], y[TINY], C[TINY], total[2];
    bool   groups;
    double best; /* least objective of all feasible stationary points */
} tiny;

static double objective(const tiny *t, const double *a)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        sum += t->p[i] * a[i];
        for (size_t j = 0; j < t->n; j++) sum += 0.5 * a[i] * t->Q[i * t->n + j] * a[j];
    }
    return sum;
}

/* state[i]: 0 at zero, 1 at C, 2 free: the stationary point with the free ones solved for. */
static void try_states(tiny *t, const int *state)
{
    size_t f = 0, at[TINY], m, n = t->n;
    double a[TINY], A[(TINY + 2) * (TINY + 2)] = { 0 }, b[TINY + 2] = { 0 };
    size_t limits = t->groups ? 2 : 1;
    for (size_t i = 0; i < n; i++) {
        a[i] = state[i] == 1 ? t->C[i] : 0;
        if (state[i] == 2) at[f++] = i;
    }
    m = f + limits;
    for (size_t k = 0; k < f; k++) {
        b[k] = -t->p[at[k]];
        for (size_t j = 0; j < n; j++) b[k] -= t->Q[at[k] * n + j] * a[j];
        for (size_t l = 0; l < f; l++) A[k * m + l] = t->Q[at[k] * n + at[l]];
    }
    for (size_t g = 0; g < limits; g++) {
        b[f + g] = t->total[g];
        for (size_t i = 0; i < n; i++)
            if (!t->groups || (t->y[i] > 0) == (g == 1)) b[f + g] -= t->y[i] * a[i];
        for (size_t k = 0; k < f; k++) {
            double y = !t->groups || (t->y[at[k]] > 0) == (g == 1) ? t->y[at[k]] : 0;
            A[(f + g) * m + k] = A[k * m + f + g] = y;
        }
        bool any = false;
        for (size_t k = 0; k < f; k++) any |= A[(f + g) * m + k] != 0;
        if (!any) {
            if (fabs(b[f + g]) > 1e-9) return;
            A[(f + g) * m + f + g] = 1, b[f + g] = 0;
        }
    }
    if (!eliminate(A, b, m)) return;
    for (size_t k = 0; k < f; k++) {
        a[at[k]] = b[k];
        if (b[k] < -1e-9 || b[k] > t->C[at[k]] + 1e-9) return;
    }
    t->best = fmin(t->best, objective(t, a));
}

static void enumerate(tiny *t)
{
    int    state[TINY] = { 0 };
    size_t i = 0;
    t->best = INFINITY;
    while (i < t->n) {
        try_states(t, state);
        for (i = 0; i < t->n && ++state[i] == 3; i++) state[i] = 0;
    }
}

/* --- problems -------------------------------------------------------------------------------- */

static cri_svm_settings settings_of(cr_ctx *cx, double tol)
{
    return (cri_svm_settings){
        .tol = tol, .max_iter = 10000000, .shrink = true, .clock = cri_clock_start(cx, NAN)
    };
}

static cr_kernel *kernel_of(cr_ctx *cx, const char *text)
{
    cr_kernel *k = NULL;
    assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
    return k;
}

/* Random signs, bounds and linear terms; begins at a feasible point that is not zero. */
static void check_tiny(cr_ctx *cx, uint64_t seed, bool groups)
{
    static const char *const kernels[] = { "rbf(l=0.7)", "linear", "poly(degree=2, c=1)" };
    cr_rng                   rng = cr_rng_stream(seed, 3);
    size_t                   n = 3 + seed % (TINY - 2), d = 2;
    double                   X[TINY * 2], K[TINY * TINY], alpha[TINY], value[TINY];
    tiny                     t = { .n = n, .groups = groups };
    cr_kernel               *k = kernel_of(cx, kernels[seed % 3]);
    cr_kernel_input          in = cr_kernel_rows(cr_cmat_of(X, n, d));

    for (size_t i = 0; i < n * d; i++) X[i] = cr_rng_normal(&rng);
    if (seed % 4 == 0) memcpy(X, X + d, d * sizeof *X); /* two rows alike */
    for (size_t i = 0; i < n; i++) {
        t.y[i] = i == 0 ? 1 : i == 1 ? -1 : cr_rng_uniform(&rng) < 0.5 ? 1 : -1;
        t.C[i] = 0.2 + 2 * cr_rng_uniform(&rng);
        t.p[i] = groups ? 0 : -1 + (seed % 2 ? 0.5 * cr_rng_normal(&rng) : 0);
        alpha[i] = groups || seed % 5 == 0 ? 0.4 * t.C[i] : 0;
        t.total[groups && t.y[i] > 0] += t.y[i] * alpha[i];
    }
    assert_ok(cx, cr_kernel_cross(cx, k, &in, &in, cr_mat_of(K, n, n)));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) t.Q[i * n + j] = t.y[i] * t.y[j] * K[i * n + j];
    enumerate(&t);
    cri_svm_problem  p = { .kernel = k,
                           .rows = in,
                           .n = n,
                           .sign = t.y,
                           .linear = t.p,
                           .upper = t.C,
                           .groups = groups,
                           .opt_gram = seed % 2 ? K : NULL };
    cri_svm_settings o = settings_of(cx, 1e-10);
    cri_svm_solution x = { .alpha = alpha, .value = value };
    o.working = seed % 3 == 2 ? 4 : 0;
    assert_ok(cx, cri_svm_solve(cx, &p, &o, &x));
    assert_true(x.converged);
    assert_close(x.objective, t.best, 1e-8);
    assert_close(objective(&t, alpha), x.objective, 1e-10);
    assert_true(x.gap >= 0 && x.gap < 1e-8);
    double left[2] = { t.total[0], t.total[1] };
    for (size_t i = 0; i < n; i++) {
        double F = 0;
        for (size_t j = 0; j < n; j++) F += K[i * n + j] * t.y[j] * alpha[j];
        assert_close(F, value[i], 1e-11);
        left[groups && t.y[i] > 0] -= t.y[i] * alpha[i];
        assert_true(alpha[i] >= 0 && alpha[i] <= t.C[i]);
    }
    assert_close(left[0], 0, 1e-12);
    assert_close(left[1], 0, 1e-12);
    cr_kernel_free(cx, k);
}

TEST(tiny_problems_by_enumeration)
{
    for (uint64_t seed = 0; seed < 30; seed++) check_tiny(cx, seed, seed % 3 == 1);
}

/* --- many rows ------------------------------------------------------------------------------- */

typedef struct many {
    double X[MANY * 3], y[2 * MANY], p[2 * MANY], C[2 * MANY], alpha[2 * MANY], value[MANY];
    size_t row[2 * MANY];
} many;

static cri_svm_problem classes(many *m, const cr_kernel *k, double C)
{
    cr_rng rng = cr_rng_stream(5, 0);
    for (size_t i = 0; i < MANY; i++) {
        for (size_t j = 0; j < 3; j++) m->X[i * 3 + j] = cr_rng_normal(&rng);
        double f = sin(2 * m->X[i * 3]) + m->X[i * 3 + 1] + 0.3 * cr_rng_normal(&rng);
        m->y[i] = f > 0 ? 1 : -1;
        m->p[i] = -1, m->C[i] = C, m->alpha[i] = 0;
    }
    return (cri_svm_problem){ .kernel = k,
                              .rows = cr_kernel_rows(cr_cmat_of(m->X, MANY, 3)),
                              .n = MANY,
                              .sign = m->y,
                              .linear = m->p,
                              .upper = m->C };
}

/* Working sets much smaller than the problem, rows put aside, floats, hardly any memory: the same optimum. */
TEST(many_rows_any_way)
{
    many      *m = cr_alloc(cx, 1, sizeof *m);
    cr_kernel *k = kernel_of(cx, "rbf(l=0.8)");
    double     best = 0, scale = 0;
    for (int way = 0; way < 6; way++) {
        cri_svm_problem  p = classes(m, k, 10);
        cri_svm_settings o = settings_of(cx, 1e-6);
        cri_svm_solution x = { .alpha = m->alpha, .value = m->value };
        o.shrink = way != 1;
        o.working = way == 2 ? 16 : way == 3 ? 128 : 0;
        o.memory = way == 4 ? 4 * (size_t)MANY * MANY : way == 5 ? 4 * 200 * MANY : 0;
        if (way == 5) o.working = 64;
        assert_ok(cx, cri_svm_solve(cx, &p, &o, &x));
        assert_true(x.converged && x.violation <= 1e-6);
        assert_true(x.gap >= 0 && x.gap <= 1e-6 * fabs(x.objective));
        if (way == 0) best = x.objective, scale = fabs(best);
        assert_close(x.objective, best, 1e-7 * scale);
    }
    cr_kernel_free(cx, k);
    cr_free(cx, m, 1, sizeof *m);
}

/* The same bits on any number of threads. */
TEST(threads)
{
    many      *m = cr_alloc(cx, 2, sizeof *m);
    cr_kernel *k = kernel_of(cx, "rbf(l=0.8)");
    for (int i = 0; i < 2; i++) {
        cri_svm_problem  p = classes(&m[i], k, 3);
        cri_svm_settings o = settings_of(cx, 1e-4);
        cri_svm_solution x = { .alpha = m[i].alpha, .value = m[i].value };
        o.working = 64, o.memory = 4 * (size_t)MANY * 300;
        cr_ctx_set_threads(cx, i ? 5 : 1);
        assert_ok(cx, cri_svm_solve(cx, &p, &o, &x));
    }
    assert_true(memcmp(m[0].alpha, m[1].alpha, sizeof m[0].alpha) == 0);
    cr_kernel_free(cx, k);
    cr_free(cx, m, 2, sizeof *m);
}

/* Regression: two variables a row, of which never both are above zero; the tube holds all but the bounded ones. */
TEST(two_variables_of_a_row)
{
    many            *m = cr_alloc(cx, 1, sizeof *m);
    cr_kernel       *k = kernel_of(cx, "rbf(l=1)");
    const double     tube = 0.1, C = 2;
    cri_svm_problem  p = classes(m, k, C);
    cri_svm_settings o = settings_of(cx, 1e-7);
    cri_svm_solution x = { .alpha = m->alpha, .value = m->value };
    double           target[MANY];
    for (size_t i = 0; i < MANY; i++) {
        target[i] = sin(3 * m->X[i * 3]) + 0.1 * m->y[i];
        for (size_t h = 0; h < 2; h++) {
            size_t t = h * MANY + i;
            m->row[t] = i, m->y[t] = h ? -1 : 1, m->C[t] = C, m->alpha[t] = 0;
            m->p[t] = tube - (h ? -1 : 1) * target[i];
        }
    }
    p.n = 2 * MANY, p.opt_row = m->row;
    assert_ok(cx, cri_svm_solve(cx, &p, &o, &x));
    assert_true(x.converged);
    for (size_t i = 0; i < MANY; i++) {
        double up = m->alpha[i], down = m->alpha[MANY + i], e = target[i] - m->value[i] - x.b[0];
        assert_true(up == 0 || down == 0);
        if (up < C && down < C) assert_true(fabs(e) <= tube + 1e-6);
        if (up > 0 && up < C) assert_close(e, tube, 1e-6);
        if (down > 0 && down < C) assert_close(e, -tube, 1e-6);
    }
    cr_kernel_free(cx, k);
    cr_free(cx, m, 1, sizeof *m);
}

/* Stopped early, it says how far it got; from there it goes on to the same optimum. */
TEST(limits_and_warm_starts)
{
    many            *m = cr_alloc(cx, 1, sizeof *m);
    cr_kernel       *k = kernel_of(cx, "rbf(l=0.8)");
    cri_svm_problem  p = classes(m, k, 10);
    cri_svm_settings o = settings_of(cx, 1e-6);
    cri_svm_solution x = { .alpha = m->alpha, .value = m->value };
    o.max_iter = 300;
    assert_ok(cx, cri_svm_solve(cx, &p, &o, &x));
    assert_true(!x.converged && x.steps == 300 && x.gap > 1);
    double bound = x.objective - x.gap;
    o.max_iter = 10000000;
    assert_ok(cx, cri_svm_solve(cx, &p, &o, &x));
    assert_true(x.converged && x.objective >= bound && x.steps > 0);
    double best = x.objective;
    assert_ok(cx, cri_svm_solve(cx, &p, &o, &x));
    assert_true(x.steps < 50);
    assert_close(x.objective, best, 1e-7 * fabs(best));
    cr_kernel_free(cx, k);
    cr_free(cx, m, 1, sizeof *m);
}

/* The linear kernel is valued by weights of columns: the same as by the definition. */
TEST(values_of_the_linear_kernel)
{
    enum { N = 5, Q = 4, D = 3, OUT = 2 };
    double X[N * D], Z[Q * D], coef[N * OUT], out[Q * OUT];
    cr_rng r = cr_rng_stream(11, 0);
    for (size_t i = 0; i < N * D; i++) X[i] = cr_rng_normal(&r);
    for (size_t i = 0; i < Q * D; i++) Z[i] = cr_rng_normal(&r);
    for (size_t i = 0; i < N * OUT; i++) coef[i] = cr_rng_normal(&r);
    cr_kernel      *k = NULL;
    cr_kernel_input at = { .rows = N, .numbers = cr_cmat_of(X, N, D) };
    cr_kernel_input queries = { .rows = Q, .numbers = cr_cmat_of(Z, Q, D) };
    assert_ok(cx, cr_kernel_parse(cx, "linear", NULL, NULL, 0, &k));
    assert_ok(cx, cri_svm_values(cx, k, &at, coef, OUT, &queries, out));
    for (size_t q = 0; q < Q; q++)
        for (size_t o = 0; o < OUT; o++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++)
                for (size_t j = 0; j < D; j++)
                    sum += coef[i * OUT + o] * X[i * D + j] * Z[q * D + j];
            assert_close(out[q * OUT + o], sum, 1e-13);
        }
    cr_kernel_free(cx, k);
}
