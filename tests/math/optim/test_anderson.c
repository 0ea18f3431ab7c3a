/* test_anderson.c -- Anderson's acceleration: exact where the iteration is linear, quicker where it nearly is, harmless
 * where points repeat. */
#include "support.h"

#include "math/optim/anderson.h"

#include <math.h>

enum { N = 6 };

/* G(x) = A x + b, A symmetric with eigenvalues below 1, the largest 0.99. */
static void apply(const double *x, double *g)
{
    for (size_t i = 0; i < N; i++) {
        double lambda = 0.99 - 0.15 * (double)i;
        g[i] = lambda * x[i] + 0.3 * (double)(i + 1);
    }
    for (size_t i = 0; i + 1 < N; i++) g[i] += 0.01 * x[i + 1], g[i + 1] += 0.01 * x[i];
}

static double residual(const double *x)
{
    double g[N], sum = 0;
    apply(x, g);
    for (size_t i = 0; i < N; i++) sum += (g[i] - x[i]) * (g[i] - x[i]);
    return sqrt(sum);
}

/* With as many differences as unknowns the fixed point is found after N + 1 steps, and one that sees fewer is nearer
 * to it than plain steps. */
TEST(a_linear_iteration)
{
    for (size_t m = 1; m <= N; m += N - 1) {
        cr_scratch   s = cr_scratch_begin(cx);
        cri_anderson a;
        double       x[N] = { 1, -1, 2, 0.5, 0, 3 }, plain[N], g[N];
        cri_anderson_begin(&s, N, m, &a);
        assert_ok(cx, s.status);
        memcpy(plain, x, sizeof x);
        for (size_t step = 0; step < N + 2; step++) {
            apply(x, g);
            cri_anderson_note(&a, x, g);
            assert_ok(cx, cri_anderson_next(cx, &a, x));
            if (step == 0) assert_memory_equal(x, g, sizeof x);
            apply(plain, g);
            memcpy(plain, g, sizeof g);
        }
        assert_true(residual(x) < (m == N ? 1e-4 : 1) * residual(plain));
        cr_scratch_end(&s);
    }
}

/* At the fixed point, and after it was forgotten, the next point is G itself. */
TEST(no_difference)
{
    cr_scratch   s = cr_scratch_begin(cx);
    cri_anderson a;
    const double x[2] = { 3, -4 }, g[2] = { 2, 5 };
    double       out[2];
    cri_anderson_begin(&s, 2, 3, &a);
    assert_ok(cx, s.status);
    for (size_t i = 0; i < 4; i++) {
        cri_anderson_note(&a, x, g);
        assert_int_equal(a.k, 0);
        assert_ok(cx, cri_anderson_next(cx, &a, out));
        assert_memory_equal(out, g, sizeof g);
    }
    cri_anderson_note(&a, g, x);
    assert_int_equal(a.k, 1);
    cri_anderson_forget(&a);
    cri_anderson_note(&a, x, g);
    assert_ok(cx, cri_anderson_next(cx, &a, out));
    assert_memory_equal(out, g, sizeof g);
    cr_scratch_end(&s);
}

/* A point that repeats leaves the differences as they are, also when there is no room for another. */
TEST(repeated_points)
{
    cr_scratch   s = cr_scratch_begin(cx);
    cri_anderson a;
    double       x[N] = { 1, -1, 2, 0.5, 0, 3 }, g[N], again[N];
    cri_anderson_begin(&s, N, 3, &a);
    assert_ok(cx, s.status);
    for (size_t step = 0; step < 5; step++) {
        apply(x, g);
        cri_anderson_note(&a, x, g);
        assert_ok(cx, cri_anderson_next(cx, &a, again));
        for (size_t i = 0; i < 4; i++) cri_anderson_note(&a, x, g);
        assert_ok(cx, cri_anderson_next(cx, &a, x));
        assert_memory_equal(x, again, sizeof x);
    }
    cr_scratch_end(&s);
}
