/* test_quadrature.c -- integrals known in closed form: polynomials, singular ends, infinite ends.
 */
#include "support.h"
#include "math/quadrature.h"

static double power(double x, void *user) { return pow(x, *(double *)user); }
static double gauss(double x, void *user) { return (void)user, exp(-0.5 * x * x); }
static double spike(double x, void *user) { return (void)user, 1 / (1e-8 + (x - 0.3) * (x - 0.3)); }
static double wiggle(double x, void *user) { return (void)user, cos(50 * x); }
static double decay(double x, void *user) { return (void)user, exp(-x) * x * x; }
static double broken(double x, void *user) { return (void)user, x > 0.5 ? NAN : 1; }
static double wild(double x, void *user)
{
    return (void)user, fmod(floor(x * 1e6 + 0.1 * sin(1e5 * x)), 2);
}

static double integrate(cr_ctx *cx, cr_integrand *f, double *k, double a, double b)
{
    double out = NAN, error = NAN;
    assert_ok(cx, cr_integrate(cx, f, k, a, b, 0, 1e-13, &out, &error));
    assert_true(error >= 0 && error <= 1e-13 * fabs(out) + 1e-300);
    return out;
}

TEST(polynomials)
{
    for (double k = 0; k <= 39; k++) { /* Gauss is exact to degree 39 */
        assert_relative(integrate(cx, power, &k, 0.5, 2),
                        (pow(2, k + 1) - pow(0.5, k + 1)) / (k + 1), 1e-14);
        assert_relative(cr_gauss20(power, &k, 0.5, 2), (pow(2, k + 1) - pow(0.5, k + 1)) / (k + 1),
                        1e-14);
    }
    double k = 60; /* and not beyond by much */
    assert_true(fabs(cr_gauss20(power, &k, -1, 1) / (2.0 / 61) - 1) > 1e-13);
    k = 2;
    assert_relative(integrate(cx, power, &k, 2, 0.5), -(8 - 0.125) / 3, 1e-14);
    double out = 7;
    assert_ok(cx, cr_integrate(cx, power, &k, 1, 1, 0, 1e-13, &out, NULL));
    assert_true(out == 0);
}

TEST(hard_ones)
{
    double k = -0.9;
    assert_relative(integrate(cx, power, &k, 0, 1), 10, 1e-12);
    assert_relative(integrate(cx, gauss, NULL, -INFINITY, INFINITY), 2.5066282746310005024, 1e-13);
    assert_relative(integrate(cx, gauss, NULL, 1, INFINITY),
                    2.5066282746310005024 * 0.15865525393145705142, 1e-13);
    assert_relative(integrate(cx, gauss, NULL, -INFINITY, -1),
                    2.5066282746310005024 * 0.15865525393145705142, 1e-13);
    assert_relative(integrate(cx, decay, NULL, 0, INFINITY), 2, 1e-13);
    assert_relative(integrate(cx, spike, NULL, 0, 1), 1e4 * (atan(0.7e4) + atan(0.3e4)), 1e-12);
    assert_relative(integrate(cx, wiggle, NULL, 0, 1), sin(50) / 50, 1e-12);
}

TEST(refusals)
{
    double out = 42, k = 1;
    assert_fails_with(cx, cr_integrate(cx, broken, NULL, 0, 1, 0, 1e-10, &out, NULL), CR_ENUMERIC,
                      "not finite");
    assert_fails(cx, cr_integrate(cx, power, &k, NAN, 1, 0, 1e-10, &out, NULL), CR_EARG);
    assert_fails_with(cx, cr_integrate(cx, wild, NULL, 0, 1, 0, 1e-14, &out, NULL), CR_ENUMERIC,
                      "pieces");
    assert_true(out == 42);
}

static cr_status body(cr_ctx *cx, void *arg)
{
    double out;
    return cr_integrate(cx, gauss, arg, 0, 1, 0, 1e-10, &out, NULL);
}

TEST(allocations) { test_every_allocation_fails(body, NULL); }
