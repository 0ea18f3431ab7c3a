/* Laws and corners of cr_minimize: one optimum by every method, boxes against the KKT conditions
 * and enumeration of faces, fixed variables, NaN, no variables, many variables, limits, refusals.
 */
#include "support.h"

#include "math/optim/check_gradient.h"
#include "math/optim/minimize.h"

#include <time.h>

enum { FIRST = CR_METHOD_LBFGS, LAST_BUT_BRENT = CR_METHOD_SIMPLEX, D = 4 };

/* --- a convex quadratic x.A x / 2 - b.x ------------------------------------------------------ */

static const double A[D][D] = {
    { 4, 1, 0.5, -0.3 }, { 1, 3, -0.7, 0.2 }, { 0.5, -0.7, 2, 0.4 }, { -0.3, 0.2, 0.4, 1.5 }
};
static const double B[D] = { 1, -2, 0.5, 3 };

static cr_status quadratic(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    double f = 0;
    (void)user;
    for (size_t i = 0; i < n; i++) {
        double Ax = 0;
        for (size_t j = 0; j < n; j++) Ax += A[i][j] * x[j];
        f += x[i] * Ax / 2 - B[i] * x[i];
        if (opt_g) opt_g[i] = Ax - B[i];
    }
    *out_f = f;
    return CR_OK;
}

static cr_status quadratic_hessian(void *user, const double *x, size_t n, double *out_h)
{
    (void)user, (void)x;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) out_h[i * n + j] = A[i][j];
    return CR_OK;
}

/* The same with values that rounding puts off by up to 1e-4, and its true gradient. */
static cr_status noisy(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    double phase = 0;
    for (size_t i = 0; i < n; i++) phase += (double)(i + 1) * 1e7 * x[i];
    cr_status st = quadratic(user, x, n, out_f, opt_g);
    *out_f += 1e-4 * sin(phase);
    return st;
}

/* Solves for the free variables with the others as they are in x (Gauss, no pivoting: A > 0). */
static void solve_face(const bool *is_free, double *x)
{
    double M[D][D + 1];
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j <= D; j++)
            M[i][j] = is_free[i] ? (j < D ? A[i][j] : B[i]) : (j < D ? i == j : x[i]);
    for (size_t k = 0; k < D; k++)
        for (size_t i = 0; i < D; i++) {
            double r = i == k ? 0 : M[i][k] / M[k][k];
            for (size_t j = k; j <= D; j++) M[i][j] -= r * M[k][j];
        }
    for (size_t i = 0; i < D; i++) x[i] = M[i][D] / M[i][i];
}

/* The minimum in the box by enumeration of its 3^D faces. */
static double enumerate_faces(const double *lower, const double *upper, double *out_x)
{
    double best = INFINITY;
    for (int face = 0; face < 81; face++) {
        bool   is_free[D], inside = true;
        double x[D], f;
        for (int i = 0, rest = face; i < D; i++, rest /= 3) {
            is_free[i] = rest % 3 == 0;
            x[i] = rest % 3 == 1 ? lower[i] : upper[i];
            if (!is_free[i] && !isfinite(x[i])) inside = false;
        }
        if (!inside) continue;
        solve_face(is_free, x);
        for (int i = 0; i < D; i++) inside &= x[i] >= lower[i] - 1e-12 && x[i] <= upper[i] + 1e-12;
        quadratic(NULL, x, D, &f, NULL);
        if (inside && f < best) best = f, memcpy(out_x, x, sizeof x);
    }
    return best;
}

TEST(same_optimum_by_every_method)
{
    static const bool all[D] = { true, true, true, true };
    double            known[D];
    solve_face(all, known);
    for (int method = CR_METHOD_AUTO; method <= LAST_BUT_BRENT; method++)
        for (int variant = 0; variant < 3; variant++) {
            cr_problem          p = { .n = D,
                                      .objective = quadratic,
                                      .no_gradient = variant == 1,
                                      .hessian = variant == 2 ? quadratic_hessian : NULL };
            cr_minimize_options o = cr_minimize_defaults();
            cr_minimize_report  r;
            double              x[D] = { 7, -3, 2, 11 };
            o.method = method;
            o.beta = variant == 2 ? CR_BETA_POLAK_RIBIERE : CR_BETA_HAGER_ZHANG;
            assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
            assert_true(cr_end_converged(r.stop));
            for (size_t i = 0; i < D; i++) assert_close(x[i], known[i], 2e-6);
            assert_int_equal(r.method, method ? method : CR_METHOD_LBFGS);
            assert_true(r.trace_length > 1 && r.trace[r.trace_length - 1] < r.trace[0]);
            if (method == CR_METHOD_NEWTON && variant == 2) assert_true(r.iterations <= 3);
            if (variant == 1) assert_int_equal(r.g_evaluations, 0);
        }
}

TEST(boxes_against_enumeration)
{
    static const double edges[] = { -INFINITY, -1.1, 0, 0.4, 1, 2.5, INFINITY };
    static const int    methods[] = { CR_METHOD_LBFGS, CR_METHOD_COORDINATE, CR_METHOD_SIMPLEX };
    uint32_t            seed = 12345;
    for (int trial = 0; trial < 150; trial++) {
        double lower[D], upper[D], known[D], f;
        for (int i = 0; i < D; i++) { /* also lower = upper: a fixed variable */
            seed = seed * 1664525u + 1013904223u;
            unsigned a = (seed >> 8) % 6, b = a + (seed >> 16) % (7 - a);
            if (a == 0 && b == 0) b = 1;
            lower[i] = edges[a], upper[i] = edges[b];
        }
        f = enumerate_faces(lower, upper, known);
        for (int m = 0; m < (trial < 25 ? 3 : 1); m++) {
            cr_problem p = { .n = D, .objective = quadratic, .lower = lower, .upper = upper };
            cr_minimize_options o = cr_minimize_defaults();
            cr_minimize_report  r;
            double              x[D] = { 7, -3, 2, 11 }; /* mostly outside */
            o.method = methods[m];
            o.gradient_tolerance = 1e-10;
            assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
            for (int i = 0; i < D; i++) assert_true(x[i] >= lower[i] && x[i] <= upper[i]);
            assert_close(r.f, f, m == 2 ? 1e-5 : 1e-10);
            for (int i = 0; i < D && m < 2; i++) assert_close(x[i], known[i], 1e-4);
        }
    }
}

TEST(bounds_of_every_kind)
{
    double     at[D] = { 1, 1, 1, 1 }, wide = 1e300, x[D] = { 5, 5, 5, 5 }, f;
    double     lower[D] = { -wide, -wide, -wide, -wide }, upper[D] = { wide, wide, wide, wide };
    cr_problem all_fixed = { .n = D, .objective = quadratic, .lower = at, .upper = at };
    cr_problem inactive = { .n = D, .objective = quadratic, .lower = lower, .upper = upper };
    cr_problem half = { .n = D, .objective = quadratic, .lower = at };
    cr_minimize_report r;
    assert_ok(cx, cr_minimize(cx, &all_fixed, NULL, x, &r));
    quadratic(NULL, at, D, &f, NULL);
    assert_true(r.f == f && r.stop == CR_END_GRADIENT && r.iterations == 0);
    for (int i = 0; i < D; i++) assert_true(x[i] == 1);

    double     free_x[D] = { 7, 7, 7, 7 }, boxed_x[D] = { 7, 7, 7, 7 };
    cr_problem no_box = { .n = D, .objective = quadratic };
    assert_ok(cx, cr_minimize(cx, &no_box, NULL, free_x, &r));
    assert_ok(cx, cr_minimize(cx, &inactive, NULL, boxed_x, &r));
    for (int i = 0; i < D; i++) assert_close(boxed_x[i], free_x[i], 1e-6);

    assert_ok(cx, cr_minimize(cx, &half, NULL, x, &r)); /* lower alone */
    double g[D];
    quadratic(NULL, x, D, &f, g);
    for (int i = 0; i < D; i++) assert_true(x[i] == 1 ? g[i] >= 0 : x[i] > 1 && fabs(g[i]) < 1e-5);
}

/* --- corners --------------------------------------------------------------------------------- */

/* x - log x: NaN or no value for x <= 0, minimum at 1. */
static cr_status barrier(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    double f = 0;
    for (size_t i = 0; i < n; i++) {
        if (x[i] <= 0) {
            if (user) return CR_ENUMERIC;
            f = NAN;
        } else {
            f += x[i] - log(x[i]);
        }
        if (opt_g) opt_g[i] = x[i] > 0 ? 1 - 1 / x[i] : NAN;
    }
    *out_f = f;
    return CR_OK;
}

TEST(regions_without_values)
{
    bool refuses = true;
    for (int method = FIRST; method <= CR_METHOD_BRENT; method++)
        for (int k = 0; k < 4; k++)
            for (double start = 1e-5; start < 1e4; start *= 30) {
                cr_problem          p = { .n = k < 2 || method == CR_METHOD_BRENT ? 1 : 3,
                                          .objective = barrier,
                                          .user = k % 2 ? &refuses : NULL };
                cr_minimize_options o = cr_minimize_defaults();
                cr_minimize_report  r;
                double              x[3] = { start, start * 1.1, start * 0.7 };
                o.method = method;
                assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
                for (size_t i = 0; i < p.n; i++) assert_close(x[i], 1, 5e-5);
            }
    cr_problem         p = { .n = 1, .objective = barrier };
    double             x[1] = { -1 };
    cr_minimize_report r = { .iterations = 77 };
    assert_fails_with(cx, cr_minimize(cx, &p, NULL, x, &r), CR_ENUMERIC, "at the start");
    p.user = &refuses;
    assert_fails(cx, cr_minimize(cx, &p, NULL, x, &r), CR_ENUMERIC);
    assert_true(x[0] == -1 && r.iterations == 77);
}

static cr_status constant(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    (void)user, (void)x;
    *out_f = 42;
    for (size_t i = 0; opt_g && i < n; i++) opt_g[i] = 0;
    return CR_OK;
}

static cr_status falls(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    (void)user;
    *out_f = 0;
    for (size_t i = 0; i < n; i++) {
        *out_f -= x[i] * x[i] * x[i] * x[i];
        if (opt_g) opt_g[i] = -4 * x[i] * x[i] * x[i];
    }
    return CR_OK;
}

TEST(none_flat_and_unbounded)
{
    for (int method = CR_METHOD_AUTO; method <= CR_METHOD_BRENT; method++) {
        cr_problem none = { .n = 0, .objective = constant };
        cr_problem flat = { .n = method == CR_METHOD_BRENT ? 1 : 2, .objective = constant };
        cr_problem open = { .n = flat.n, .objective = falls };
        cr_minimize_options o = cr_minimize_defaults();
        cr_minimize_report  r;
        double              x[2] = { 0.25, -3 };
        o.method = method;
        assert_ok(cx, cr_minimize(cx, &none, &o, NULL, &r));
        assert_true(r.f == 42 && cr_end_converged(r.stop) && r.f_evaluations == 1);
        assert_ok(cx, cr_minimize(cx, &flat, &o, x, &r));
        assert_true(r.f == 42 && cr_end_converged(r.stop));
        assert_ok(cx, cr_minimize(cx, &open, &o, x, &r));
        assert_true(r.f < -1e20 || r.stop == CR_END_UNBOUNDED);
        assert_true(!cr_end_converged(r.stop) || method == CR_METHOD_BRENT ||
                    fabs(r.f) > 1e20); /* a relative gradient of 4 / x falls below any tolerance */
    }
}

/* x^4/4 - x^2/2 + y^2/2: a saddle at 0, minima at (+-1, 0). */
static cr_status saddle(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    double s = x[0] * x[0];
    (void)user, (void)n;
    *out_f = s * s / 4 - s / 2 + x[1] * x[1] / 2;
    if (opt_g) opt_g[0] = x[0] * s - x[0], opt_g[1] = x[1];
    return CR_OK;
}

/* On the axis the gradient is orthogonal to the direction of negative curvature: the hard case. */
TEST(newton_leaves_the_axis_of_a_saddle)
{
    cr_problem          p = { .n = 2, .objective = saddle };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  r;
    double              x[2] = { 0, 0.9 };
    o.method = CR_METHOD_NEWTON;
    assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
    assert_int_equal(r.stop, CR_END_GRADIENT);
    assert_close(r.f, -0.25, 1e-12);
    assert_close(fabs(x[0]), 1, 1e-6);
}

/* --- many variables -------------------------------------------------------------------------- */

static cr_status long_rosenbrock(void *user, const double *x, size_t n, double *out_f,
                                 double *opt_g)
{
    double f = 0;
    (void)user;
    for (size_t i = 0; i < n; i += 2) {
        double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        f += 100 * a * a + b * b;
        if (opt_g) opt_g[i] = -400 * a * x[i] - 2 * b, opt_g[i + 1] = 200 * a;
    }
    *out_f = f;
    return CR_OK;
}

TEST(many_variables_in_linear_memory)
{
    enum { MOST = 100000 };
    double *x = malloc(MOST * sizeof *x), *lower = malloc(MOST * sizeof *x);
    for (int boxed = 0; boxed < 2; boxed++) {
        cr_ctx    *own = test_context();
        size_t     n = boxed ? 10000 : MOST;
        cr_problem p = { .n = n, .objective = long_rosenbrock, .lower = boxed ? lower : NULL };
        cr_minimize_options o = cr_minimize_defaults();
        cr_minimize_report  r;
        o.max_iter = boxed ? 100 : 1000;
        for (size_t i = 0; i < n; i++) {
            x[i] = i % 2 ? 1 : -1.2;
            lower[i] = i % 10 == 0 ? 1.2 : -INFINITY; /* f = 0.04 for each tenth */
        }
        assert_ok(own, cr_minimize(own, &p, &o, x, &r));
        if (boxed)
            assert_close(r.f, 0.004 * (double)n, 1e-6);
        else
            assert_true(r.f < 1e-8 && cr_end_converged(r.stop));
        assert_true(cr_ctx_peak_memory(own) < (2 * o.memory + 12) * n * sizeof(double));
        test_context_free(own);
    }
    free(x);
    free(lower);
}

/* --- limits, refusals, repeats --------------------------------------------------------------- */

static cr_status rosenbrock(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    if (user) { /* interrupts itself after some calls */
        struct {
            cr_ctx *cx;
            int     left;
        } *u = user;
        if (u->left-- == 0) cr_interrupt(u->cx);
    }
    return long_rosenbrock(NULL, x, n, out_f, opt_g);
}

static cr_status slow_rosenbrock(void *user, const double *x, size_t n, double *out_f,
                                 double *opt_g)
{
    struct timespec nap = { 0, 2000000 };
    nanosleep(&nap, NULL);
    return long_rosenbrock(user, x, n, out_f, opt_g);
}

TEST(limits_are_results)
{
    for (int method = FIRST; method <= LAST_BUT_BRENT; method++) {
        cr_problem          p = { .n = 2, .objective = rosenbrock };
        cr_minimize_options o = cr_minimize_defaults();
        cr_minimize_report  r;
        double              x[2] = { -1.2, 1 }, f;
        o.method = method;
        o.max_iter = 3;
        assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
        assert_int_equal(r.stop, CR_END_MAX_ITER);
        assert_int_equal(r.iterations, 3);
        assert_true(r.f < 24.2);
        rosenbrock(NULL, x, 2, &f, NULL);
        assert_true(f == r.f);
        o.max_iter = 0;
        assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
        assert_true(r.iterations == 0 && r.f == f && r.stop == CR_END_MAX_ITER);
        o.max_iter = 1000;
        o.max_evaluations = 20;
        x[0] = -1.2, x[1] = 1;
        assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
        assert_int_equal(r.stop, CR_END_MAX_EVALUATIONS);
        assert_true(r.f_evaluations >= 20 && r.f_evaluations < 120);
        o.max_evaluations = CR_COUNT_UNSET;
        o.time_limit = 1e-3;
        p.objective = slow_rosenbrock;
        x[0] = -1.2, x[1] = 1;
        assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
        assert_int_equal(r.stop, CR_END_TIME);
    }
}

TEST(stops_by_f_and_x)
{
    cr_problem          p = { .n = 2, .objective = rosenbrock };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  r;
    double              x[2] = { -1.2, 1 };
    o.gradient_tolerance = 0;
    o.f_tolerance = 0.5;
    assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
    assert_int_equal(r.stop, CR_END_F);
    o.f_tolerance = 0;
    o.x_tolerance = 1e-3;
    x[0] = -1.2, x[1] = 1;
    assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
    assert_int_equal(r.stop, CR_END_X);
    assert_close(x[0], 1, 1e-2);
    for (int why = CR_END_GRADIENT; why <= CR_END_NOT_FINITE; why++) {
        assert_true(strlen(cr_end_name((cr_end)why)) > 0);
        assert_true((strncmp(cr_end_text((cr_end)why), "converged", 9) == 0) ==
                    cr_end_converged((cr_end)why));
    }
}

TEST(trace_is_bounded)
{
    cr_problem          p = { .n = 2, .objective = rosenbrock };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  r;
    double              x[2] = { -1.2, 1 };
    o.method = CR_METHOD_COORDINATE;
    o.max_iter = 1500;
    o.f_tolerance = 0;
    assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
    assert_true(r.iterations > 1000 && r.trace_length <= CR_TRACE_SIZE);
    assert_int_equal((r.trace_length - 1) * r.trace_stride,
                     r.iterations / r.trace_stride * r.trace_stride);
    assert_close(r.trace[0], 24.2, 1e-14);
    for (size_t i = 1; i < r.trace_length; i++) assert_true(r.trace[i] <= r.trace[i - 1]);
}

static cr_status wrong_gradient(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    cr_status st = quadratic(user, x, n, out_f, opt_g);
    for (size_t i = 0; opt_g && i < n; i++) opt_g[i] = -opt_g[i] + (i == 2 ? 0.01 : 0);
    return st;
}

static cr_status fails(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    (void)user, (void)x, (void)n, (void)out_f, (void)opt_g;
    return CR_EDATA;
}

TEST(refusals)
{
    double              low[2] = { 0, 2 }, high[2] = { 1, 1 }, x[2] = { 3, 4 }, bad[2] = { 1, NAN };
    cr_problem          p = { .n = 2, .objective = rosenbrock, .lower = low, .upper = high };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  r = { .iterations = 77 };
    assert_fails_with(cx, cr_minimize(cx, &p, NULL, x, &r), CR_EARG, "x[1]");
    p.lower = p.upper = NULL;
    assert_fails_with(cx, cr_minimize(cx, &p, NULL, bad, &r), CR_EARG, "x[1]");
    p.lower = bad;
    assert_fails_with(cx, cr_minimize(cx, &p, NULL, x, &r), CR_EARG, "x[1]");
    low[1] = 0;
    p.lower = low;
    o.method = CR_METHOD_BFGS;
    assert_fails_with(cx, cr_minimize(cx, &p, &o, x, &r), CR_EUNSUPPORTED, "bounds");
    o.method = CR_METHOD_BRENT;
    assert_fails_with(cx, cr_minimize(cx, &p, &o, x, &r), CR_EUNSUPPORTED, "one variable");
    o.method = 99;
    assert_fails(cx, cr_minimize(cx, &p, &o, x, &r), CR_EARG);
    o = cr_minimize_defaults(), o.memory = 0;
    assert_fails(cx, cr_minimize(cx, &p, &o, x, &r), CR_EARG);
    o = cr_minimize_defaults(), o.f_tolerance = NAN;
    assert_fails(cx, cr_minimize(cx, &p, &o, x, &r), CR_EARG);
    o = cr_minimize_defaults(), o.curvature = 1;
    assert_fails(cx, cr_minimize(cx, &p, &o, x, &r), CR_EARG);
    p = (cr_problem){ .n = 2, .objective = fails };
    assert_fails_with(cx, cr_minimize(cx, &p, NULL, x, &r), CR_EDATA, "objective");
    assert_true(x[0] == 3 && x[1] == 4 && r.iterations == 77);

    double start[D] = { 1, 2, 3, 4 };
    p = (cr_problem){ .n = D, .objective = wrong_gradient };
    assert_ok(cx, cr_minimize(cx, &p, NULL, start, &r));
    assert_int_equal(r.stop, CR_END_NO_PROGRESS);
}

TEST(check_gradient_finds_the_fault)
{
    cr_problem        p = { .n = D, .objective = quadratic };
    cr_gradient_check c;
    double            x[D] = { 1, 2, 3, -4 };
    assert_ok(cx, cr_check_gradient(cx, &p, x, &c));
    assert_true(c.error < 1e-10);
    p.objective = wrong_gradient;
    assert_ok(cx, cr_check_gradient(cx, &p, x, &c));
    assert_true(c.error > 1 && fabs(c.given + c.measured) < 0.1);
    p = (cr_problem){ .n = 0, .objective = constant };
    assert_ok(cx, cr_check_gradient(cx, &p, NULL, &c));
    assert_true(c.error == 0);
    p = (cr_problem){ .n = 1, .objective = barrier };
    x[0] = -1;
    assert_fails(cx, cr_check_gradient(cx, &p, x, &c), CR_ENUMERIC);
    p = (cr_problem){ .n = 1, .objective = fails };
    assert_fails_with(cx, cr_check_gradient(cx, &p, x, &c), CR_EDATA, "objective");
}

TEST(interrupt)
{
    for (int method = FIRST; method <= LAST_BUT_BRENT; method++)
        for (int left = 0; left < 30; left += 7) {
            cr_ctx *own = test_context();
            struct {
                cr_ctx *own;
                int     left;
            } user = { own, left };
            cr_problem          p = { .n = 2, .objective = rosenbrock, .user = &user };
            cr_minimize_options o = cr_minimize_defaults();
            cr_minimize_report  r = { .iterations = 77 };
            double              x[2] = { -1.2, 1 };
            o.method = method;
            assert_fails(own, cr_minimize(own, &p, &o, x, &r), CR_EINTERRUPTED);
            assert_true(x[0] == -1.2 && x[1] == 1 && r.iterations == 77);
            assert_true(user.left > -30); /* soon after */
            test_context_free(own);
        }
}

/* One bar, that never goes back and ends at the end. */
typedef struct bar {
    size_t seen;
    double done;
} bar;

static void watch_bar(void *user, const char *what, double done, double total)
{
    bar *b = user;
    assert_string_equal(what, "minimising");
    assert_true(total > 0 && done <= total && done / total >= b->done);
    b->done = done / total;
    b->seen++;
}

TEST(same_bits_again)
{
    for (int method = FIRST; method <= LAST_BUT_BRENT; method++) {
        double             x[2][20];
        cr_minimize_report r[2];
        for (int k = 0; k < 2; k++) {
            bar                 progress = { 0 };
            cr_ctx             *own = test_context();
            cr_problem          p = { .n = 20, .objective = rosenbrock };
            cr_minimize_options o = cr_minimize_defaults();
            cr_ctx_set_threads(own, k ? 4 : 1);
            cr_ctx_set_progress(own, watch_bar, &progress);
            o.method = method;
            o.max_iter = 200;
            for (int i = 0; i < 20; i++) x[k][i] = i % 2 ? 1 : -1.2 + 0.01 * i;
            assert_ok(own, cr_minimize(own, &p, &o, x[k], &r[k]));
            assert_true(progress.done == 1 && progress.seen > 10);
            test_context_free(own);
        }
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        assert_int_equal(r[0].f_evaluations, r[1].f_evaluations);
    }
}

static cr_status run_method(cr_ctx *cx, void *arg)
{
    double              low[2] = { -2, -2 }, x[2] = { -1.2, 1 };
    int                 method = *(int *)arg;
    bool                boxed = method < 0;
    cr_problem          p = { .n = method == CR_METHOD_BRENT ? 1 : 2,
                              .objective = rosenbrock,
                              .lower = boxed ? low : NULL,
                              .no_gradient = method == CR_METHOD_CG };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  r;
    cr_gradient_check   check;
    o.method = boxed ? CR_METHOD_LBFGS : method;
    o.max_iter = 30;
    if (p.n == 1) p.objective = barrier, x[0] = 3;
    cr_status st = cr_minimize(cx, &p, &o, x, &r);
    return st == CR_OK ? cr_check_gradient(cx, &p, x, &check) : st;
}

TEST(allocations_fail)
{
    for (int method = -1; method <= CR_METHOD_BRENT; method++)
        test_every_allocation_fails(run_method, &method);
}

TEST(options_from_text)
{
    cr_minimize_options o;
    assert_ok(cx, cr_options_init(cx, cr_minimize_table, &o));
    cr_minimize_options defaults = cr_minimize_defaults();
    assert_true(o.method == CR_METHOD_AUTO && o.max_iter == defaults.max_iter && o.memory == 10);
    assert_ok(cx, cr_options_set(cx, cr_minimize_table, &o, "method", "brent"));
    assert_int_equal(o.method, CR_METHOD_BRENT);
    assert_ok(cx, cr_options_set(cx, cr_minimize_table, &o, "beta", "polak-ribiere"));
    assert_int_equal(o.beta, CR_BETA_POLAK_RIBIERE);
    assert_fails(cx, cr_options_set(cx, cr_minimize_table, &o, "memory", "0"), CR_EARG);
    for (const cr_option *row = cr_minimize_table; row->name; row++)
        assert_ok(cx, cr_options_set(cx, cr_minimize_table, &o, row->name, row->example));
}

/* lbfgs that knows the second derivatives takes Newton's step at once, in the box too; half wrong
 * ones, indefinite ones and none lead to the same minimum. */
TEST(curvature)
{
    const double lower[D] = { -9, -9, -9, -9 }, upper[D] = { 9, 9, 0.1, 9 };
    double       half[D * D], mixed[D * D] = { 0 }, known[D];
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) half[i * D + j] = 0.5 * A[i][j] + (i == j);
    for (size_t i = 0; i < D; i++) mixed[i * D + i] = i % 2 ? -1 : 3;
    for (int boxed = 0; boxed < 2; boxed++)
        for (int c = 0; c < 4; c++) {
            const double       *curvatures[] = { NULL, &A[0][0], half, mixed };
            cr_problem          p = { .n = D,
                                      .objective = quadratic,
                                      .curvature = curvatures[c],
                                      .lower = boxed ? lower : NULL,
                                      .upper = boxed ? upper : NULL };
            cr_minimize_options o = cr_minimize_defaults();
            cr_minimize_report  r;
            double              x[D] = { 7, -3, 0.05, 8 };
            o.gradient_tolerance = 1e-9;
            assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
            assert_true(cr_end_converged(r.stop));
            if (c == 0) memcpy(known, x, sizeof x);
            for (size_t i = 0; i < D; i++) assert_close(x[i], known[i], 1e-7);
            if (c == 1)
                assert_true(r.iterations <= (boxed ? 2 : 1) && r.f_evaluations <= (boxed ? 3 : 2));
        }
}

/* Where the error of f is known, steps that the values cannot confirm are taken by the slopes: without it
 * the search ends without progress, or after many more evaluations. */
TEST(values_with_rounding_errors)
{
    const double        start[D] = { 5, 5, -5, 5 };
    cr_minimize_options o = cr_minimize_defaults();
    cr_problem          problem = { .n = D, .objective = noisy };
    cr_minimize_report  known, unknown;
    double              x[D], z[D];

    o.gradient_tolerance = 1e-9;
    o.f_tolerance = 1e-6;
    memcpy(z, start, sizeof z);
    assert_int_equal(cr_minimize(cx, &problem, &o, z, &unknown), CR_OK);
    problem.f_error = 2e-4;
    memcpy(x, start, sizeof x);
    assert_int_equal(cr_minimize(cx, &problem, &o, x, &known), CR_OK);
    assert_true(known.stop == CR_END_F || known.stop == CR_END_GRADIENT);
    assert_true(known.f_evaluations <= 30);
    assert_true(2 * known.f_evaluations < unknown.f_evaluations);
    for (size_t i = 0; i < D; i++) {
        double Ax = 0;
        for (size_t j = 0; j < D; j++) Ax += A[i][j] * x[j];
        assert_true(fabs(Ax - B[i]) < 0.05); /* f is within its error of the minimum */
    }
}
