/* test_special.c -- normal, gamma, beta and Student's t against closed forms and laws. */
#define _GNU_SOURCE /* M_PIl */
#include "support.h"
#include "math/special/special.h"

/* --- normal ---------------------------------------------------------------------------------- */

TEST(normal_corners)
{
    assert_relative(cr_norm_logpdf(0), -0.5 * log(2 * M_PI), 1e-15);
    assert_true(cr_norm_cdf(0) == 0.5 && cr_norm_cdf(-INFINITY) == 0 && cr_norm_cdf(INFINITY) == 1);
    assert_true(cr_norm_cdf(-1e200) == 0 && cr_norm_cdf(1e200) == 1);
    assert_relative(cr_norm_logcdf(-1e150), -0.5e300, 1e-15);
    assert_true(cr_norm_logcdf(-INFINITY) == -INFINITY && cr_norm_logcdf(INFINITY) == 0);
    assert_true(cr_norm_ppf(0) == -INFINITY && cr_norm_ppf(1) == INFINITY);
    assert_true(cr_norm_ppf(0.5) == 0);
    assert_relative(cr_inv_mills(-1e100), 1e100, 1e-15);
    assert_true(cr_inv_mills(1e100) == 0);
    assert_true(cr_erfcx(-1e200) == INFINITY && cr_erfcx(INFINITY) == 0);
    assert_true(isnan(cr_norm_cdf(NAN)) && isnan(cr_norm_logcdf(NAN)) && isnan(cr_erfcx(NAN)));
    assert_true(isnan(cr_norm_ppf(-0.1)) && isnan(cr_norm_ppf(1.1)));
    assert_true(isnan(cr_norm_ppf(NAN)));
}

/* cdf and its logarithm agree, tails mirror, the quantile inverts, logcdf's slope is inv_mills. */
TEST(normal_laws)
{
    for (double x = -37.4; x < 9; x += 0.137) {
        double p = cr_norm_cdf(x), log_p = cr_norm_logcdf(x), h = 1e-5;
        assert_relative(exp(log_p), p, 4e-16 * (1 + fabs(log_p)));
        assert_close(p + cr_norm_cdf(-x), 1, 4e-16);
        if (x < 5) assert_close(cr_norm_ppf(p), x, x < 0 ? 1e-14 : 1e-15 / (1 - p));
        if (x > -6) {
            double slope = (cr_norm_logcdf(x + h) - cr_norm_logcdf(x - h)) / (2 * h);
            assert_close(cr_inv_mills(x), slope, 1e-8);
        }
    }
    for (double p = 1e-305; p < 0.4; p *= 7.3)
        assert_relative(cr_norm_logcdf(cr_norm_ppf(p)), log(p), 4e-15);
    /* both sides of the place where logcdf changes its formula: it is concave and smooth */
    double step = cr_norm_logcdf(-36 + 1e-9) - cr_norm_logcdf(-36 - 1e-9);
    assert_close(step / 2e-9, cr_inv_mills(-36), 1e-3);
}

/* --- gamma ----------------------------------------------------------------------------------- */

static const double EULER = 0.57721566490153286061;

/* psi(1) = -gamma, psi(1/2) = -gamma - 2 log 2, psi'(1) = pi^2/6; recurrences, reflections. */
TEST(polygamma)
{
    assert_relative(cr_digamma(1), -EULER, 1e-15);
    assert_relative(cr_digamma(0.5), -EULER - 2 * M_LN2, 1e-15);
    assert_relative(cr_trigamma(1), M_PI * M_PI / 6, 1e-15);
    assert_relative(cr_trigamma(0.5), M_PI * M_PI / 2, 1e-15);
    for (double x = 0.01; x < 40; x *= 1.09) {
        assert_close(cr_digamma(x + 1), cr_digamma(x) + 1 / x, 4e-15 * (1 + 1 / x));
        assert_close(cr_trigamma(x + 1), cr_trigamma(x) - 1 / (x * x), 4e-15 / (x * x) + 4e-15);
        double r = x - round(x); /* the reflection formulas, on the other side */
        if (fabs(r) < 0.05) continue;
        assert_close(cr_digamma(1 - x) - cr_digamma(x), M_PI / tan(M_PI * r), 1e-13);
        double s = M_PI / sin(M_PI * r);
        assert_close(cr_trigamma(1 - x) + cr_trigamma(x), s * s, 1e-12);
    }
    assert_true(isnan(cr_digamma(0)) && isnan(cr_digamma(-3)) && isnan(cr_trigamma(-3)));
    assert_true(isnan(cr_digamma(NAN)) && isnan(cr_trigamma(0)) && cr_trigamma(INFINITY) == 0);
    assert_true(cr_digamma(INFINITY) == INFINITY && isnan(cr_digamma(-INFINITY)));
    assert_relative(cr_lgamma_abs(11), log(3628800), 1e-15);
    assert_true(cr_lgamma_abs(0) == INFINITY && cr_lgamma_abs(-2) == INFINITY);
}

/* Q(n, x) for whole n is a Poisson sum; P(1/2, x) = erf(sqrt(x)). */
TEST(incomplete_gamma_closed_forms)
{
    for (int n = 1; n <= 60; n++)
        for (double x = 0.01; x < 200; x *= 1.7) {
            long double term = expl(-(long double)x), sum = 0, rest = 0;
            for (int k = 0; k < n; k++, term *= (long double)x / k) sum += term;
            for (int k = n; k < 2000 && term > 0; k++, term *= (long double)x / k) rest += term;
            double slack_q = 1 - log((double)sum), slack_p = 1 - log((double)rest);
            assert_relative(cr_gamma_q(n, x), (double)sum, 2e-15 * slack_q);
            assert_relative(cr_gamma_p(n, x), (double)rest, 2e-15 * slack_p);
            assert_close(cr_log_gamma_q(n, x), (double)logl(sum), 2e-14);
            assert_close(cr_log_gamma_p(n, x), (double)logl(rest), 2e-14);
        }
    for (double x = 1e-300; x < 700; x *= 31.4) {
        assert_relative(cr_gamma_p(0.5, x), erf(sqrt(x)), 1e-13);
        assert_relative(cr_gamma_q(0.5, x), erfc(sqrt(x)), 1e-13);
    }
    assert_relative(cr_chi2_sf(7.5, 2), exp(-3.75), 1e-14);
    assert_true(cr_chi2_sf(-1, 3) == 1 && cr_chi2_logsf(0, 3) == 0);
}

/* 60-digit values by mpmath 1.3.0 (gammainc): each method near its borders. */
TEST(incomplete_gamma_values)
{
    static const double v[][4] = {
        { 1e6, 1001500, 0.933138895764102238, 0.0668611042358977625 },
        { 25, 12.5, 0.00119244884823170119, 0.998807551151768299 },
        { 30, 43, 0.984479317720658632, 0.015520682279341368 },
    };
    for (size_t i = 0; i < 3; i++) {
        assert_relative(cr_gamma_p(v[i][0], v[i][1]), v[i][2], 2e-14);
        assert_relative(cr_gamma_q(v[i][0], v[i][1]), v[i][3], 2e-14);
    }
    assert_relative(cr_gamma_q(0.3, 1.4), 0.0481611233927280923, 1e-14);
    assert_relative(cr_gamma_q(0.3, 1.6), 0.0368837399837533564, 1e-14);
}

TEST(incomplete_gamma_corners)
{
    static const double shapes[] = { 1e-300, 1e-10, 0.3, 1, 5, 19.9, 20, 1e3, 1e8, 1e15, 1e300 };
    static const double points[] = { 0,  1e-300, 1e-8, 0.1,  1.5,   3,
                                     20, 999,    1e8,  1e15, 1e300, INFINITY };
    for (size_t i = 0; i < 11; i++) {
        double before = 0;
        for (size_t j = 0; j < 12; j++) {
            double p = cr_gamma_p(shapes[i], points[j]), q = cr_gamma_q(shapes[i], points[j]);
            assert_true(p >= before && p <= 1 && q >= 0 && q <= 1);
            assert_close(p + q, 1, 1e-15);
            assert_true(cr_log_gamma_p(shapes[i], points[j]) <= 0);
            assert_true(cr_log_gamma_q(shapes[i], points[j]) <= 0);
            before = p;
        }
    }
    assert_true(isnan(cr_gamma_p(0, 1)) && isnan(cr_gamma_p(-1, 1)) && isnan(cr_gamma_q(1, -1)));
    assert_true(isnan(cr_gamma_p(NAN, 1)) && isnan(cr_gamma_p(1, NAN)));
    assert_true(isnan(cr_gamma_p_inv(1, 2)) && isnan(cr_gamma_p_inv(-1, 0.5)));
    assert_true(cr_gamma_p_inv(3, 0) == 0 && cr_gamma_p_inv(3, 1) == INFINITY);
    for (size_t i = 2; i < 9; i++)
        for (double p = 1e-30; p < 1; p = p < 0.05 ? 9 * p : p + 0.11)
            assert_relative(cr_gamma_p(shapes[i], cr_gamma_p_inv(shapes[i], p)), p,
                            1e-14 * (1 + sqrt(shapes[i]))); /* one step of x moves P by that */
}

/* --- beta ------------------------------------------------------------------------------------ */

/* B(a, 1) = 1/a; B(a, 2) = 1/(a (a + 1)); B(1/2, 1/2) = pi; symmetric; far from balance. */
TEST(log_beta)
{
    for (double a = 1e-300; a < 1e300; a *= 1e7) {
        assert_close(cr_lbeta(a, 1), -log(a), 1e-15);
        assert_close(cr_lbeta(2, a), -log(a) - log1p(a), 1e-14);
        assert_true(cr_lbeta(a, 7.5) == cr_lbeta(7.5, a));
    }
    assert_relative(cr_lbeta(0.5, 0.5), log(M_PI), 1e-15);
    for (double a = 0.3; a < 40; a *= 1.3)
        for (double b = 0.2; b < 40; b *= 1.7) {
            int         sign;
            long double sum =
                lgammal_r(a, &sign) + lgammal_r(b, &sign) - lgammal_r((long double)a + b, &sign);
            assert_close(cr_lbeta(a, b), (double)sum, 1e-14);
        }
    assert_true(cr_lbeta(0, 1) == INFINITY && isnan(cr_lbeta(1, -1)));
    assert_true(isnan(cr_lbeta(NAN, 1)));
}

/* For whole a, b the tails are binomial sums: P(X <= x) = P(Bin(a + b - 1, x) >= a). */
TEST(incomplete_beta_binomial)
{
    for (int a = 1; a <= 30; a += 3)
        for (int b = 1; b <= 40; b += 4)
            for (double x = 0.013; x < 1; x += 0.0817) {
                int         n = a + b - 1;
                long double term = powl(1 - (long double)x, n), lower = 0, upper = 0;
                for (int k = 0; k <= n; k++) {
                    *(k >= a ? &lower : &upper) += term;
                    term *= (long double)(n - k) / (k + 1) * x / (1 - (long double)x);
                }
                assert_relative(cr_betainc(a, b, x), (double)lower, 1e-13);
                assert_relative(cr_betainc_upper(a, b, x), (double)upper, 1e-13);
                assert_close(cr_log_betainc(a, b, x), (double)logl(lower), 4e-14);
                assert_close(cr_log_betainc_upper(a, b, x), (double)logl(upper), 4e-14);
            }
}

/* I(a, 1) = x^a, I(1, b) = 1 - (1 - x)^b, I(1/2, 1/2) = 2/pi asin(sqrt(x)). */
TEST(incomplete_beta_closed_forms)
{
    for (double a = 1e-6; a < 1e6; a *= 5.3)
        for (double x = 1e-9; x < 1; x = x < 0.1 ? 7 * x : x + 0.13) {
            double log_x = a * log(x), log_y = a * log1p(-x);
            if (log_x > -600) assert_relative(cr_betainc(a, 1, x), exp(log_x), 2e-13);
            if (log_x > -600) assert_relative(cr_betainc_upper(a, 1, x), -expm1(log_x), 2e-13);
            if (log_y > -600) assert_relative(cr_betainc_upper(1, a, x), exp(log_y), 2e-13);
            if (log_y > -600) assert_relative(cr_betainc(1, a, x), -expm1(log_y), 2e-13);
            assert_relative(cr_betainc(0.5, 0.5, x), 2 / M_PI * asin(sqrt(x)), 1e-14);
        }
}

/* 60-digit values by mpmath 1.3.0 (betainc, or its continued fraction). */
TEST(incomplete_beta_values)
{
    static const double v[][5] = {
        { 1e6, 2e6, 0.333, 0.110322839516649619, 0.889677160483350381 },
        { 5e7, 5e6, 0.909, 0.00952291724331909347, 0.990477082756680907 },
        { 1e4, 1e10, 1.02e-6, 0.97671827523233659, 0.0232817247676634103 },
        { 2500, 4000, 0.4, 0.994447217618857449, 0.00555278238114255147 },
    };
    for (size_t i = 0; i < 4; i++) {
        assert_relative(cr_betainc(v[i][0], v[i][1], v[i][2]), v[i][3], 1e-13);
        assert_relative(cr_betainc_upper(v[i][0], v[i][1], v[i][2]), v[i][4], 1e-13);
    }
    assert_relative(cr_betainc_upper(1e-5, 0.6, 0.01), 0.0000556439492553448136, 1e-13);
    assert_relative(cr_betainc_upper(1e-5, 0.6, 0.95), 2.81545906985896827e-6, 1e-13);
}

TEST(incomplete_beta_corners)
{
    static const double shapes[] = { 1e-300, 1e-8, 0.5, 1, 2.5, 9.9, 40, 2999, 3001, 1e9, 1e15 };
    static const double points[] = { 0, 1e-300, 1e-15, 1e-4, 0.3, 0.5, 0.7, 1 - 1e-12, 1 };
    for (size_t i = 0; i < 11; i++)
        for (size_t j = 0; j < 11; j++) {
            double a = shapes[i], b = shapes[j], before = 0;
            for (size_t k = 0; k < 9; k++) {
                double p = cr_betainc(a, b, points[k]), q = cr_betainc_upper(a, b, points[k]);
                assert_true(p >= before && p <= 1 && q >= 0 && q <= 1);
                assert_close(p + q, 1, 1e-15);
                assert_true(cr_log_betainc(a, b, points[k]) <= 0);
                assert_true(cr_log_betainc_upper(a, b, points[k]) <= 0);
                before = p;
            }
            double x = cr_betainc_inv(a, b, 0.4);
            assert_true(x >= 0 && x <= 1);
        }
    assert_true(isnan(cr_betainc(0, 1, 0.5)) && isnan(cr_betainc(1, -1, 0.5)));
    assert_true(isnan(cr_betainc(1, 1, -0.1)) && isnan(cr_betainc(1, 1, 1.1)));
    assert_true(isnan(cr_betainc(1, 1, NAN)) && isnan(cr_betainc_inv(1, 1, -0.1)));
    assert_true(cr_betainc_inv(3, 2, 0) == 0 && cr_betainc_inv(3, 2, 1) == 1);
    for (size_t i = 2; i < 10; i++)
        for (size_t j = 2; j < 10; j++)
            for (double p = 1e-12; p < 1; p = p < 0.05 ? 9 * p : p + 0.19) {
                double a = shapes[i], b = shapes[j], x = cr_betainc_inv(a, b, p);
                double log_pdf = (a - 1) * log(x) + (b - 1) * log1p(-x) - cr_lbeta(a, b);
                double slack = 1e-14 + 1e-15 * x * exp(log_pdf) / p; /* one step of x */
                if (x < 1) assert_relative(cr_betainc(a, b, x), p, slack);
            }
}

/* F with (2, d): (1 + 2 x / d)^(-d/2); F(1, d) is t squared. */
TEST(fisher)
{
    for (double d = 0.5; d < 1e5; d *= 3.1)
        for (double x = 1e-3; x < 100; x *= 2.9) {
            double log_sf = -0.5 * d * log1p(2 * x / d);
            assert_close(cr_f_logsf(x, 2, d), log_sf, 1e-13);
            assert_close(cr_f_sf(x, 1, d), cr_student_t_two_sided(sqrt(x), d), 1e-14);
        }
    assert_true(cr_f_sf(-1, 2, 3) == 1 && cr_f_sf(INFINITY, 2, 3) == 0 && cr_f_sf(0, 2, 3) == 1);
    assert_true(isnan(cr_f_sf(1, 0, 3)) && isnan(cr_f_sf(NAN, 1, 3)));
}

/* --- Student's t ----------------------------------------------------------------------------- */

/* nu = 1: 1/2 + atan(t)/pi; nu = 2: 1/2 + t / (2 sqrt(2 + t^2)); nu = 3, 4 elementary too (A&S
 * 26.7.3-4). */
TEST(student_closed_forms)
{
    for (double t = 1e-8; t < 1e7; t *= 2.3) {
        long double u = t, theta = atanl(u / sqrtl(3)), root4 = sqrtl(4 + u * u);
        assert_relative(cr_student_t_cdf(-t, 1), atan2(1, t) / M_PI, 1e-14);
        assert_relative(cr_student_t_cdf(-t, 2), 1 / (t * t + 2 + t * sqrt(2 + t * t)), 1e-14);
        if (t < 50) {
            long double two = 1 - 2 / M_PIl * (theta + sinl(theta) * cosl(theta));
            long double four = 1 - (u / root4) * (1 + 2 / (root4 * root4));
            assert_relative(cr_student_t_two_sided(t, 3), (double)two, 1e-13);
            assert_relative(cr_student_t_two_sided(-t, 4), (double)four, 1e-12);
        }
        assert_relative(cr_student_t_cdf(t, 1), 1 - atan2(1, t) / M_PI, 1e-15);
        assert_relative(cr_student_t_logcdf(-t, 2), log(cr_student_t_cdf(-t, 2)), 1e-13);
        assert_relative(cr_student_t_logpdf(t, 1), -log(M_PI) - log1p(t * t), 1e-14);
    }
    assert_close(cr_student_t_logcdf(-1e200, 0.5) - cr_student_t_logcdf(-1e100, 0.5), -50 * log(10),
                 1e-12);
    assert_close(cr_student_t_logpdf(1e200, 3) - cr_student_t_logpdf(1e100, 3), -400 * log(10),
                 1e-13);
}

/* Many degrees of freedom are the normal; the first correction is (x^3 + x) / (4 nu) phi. */
TEST(student_towards_normal)
{
    for (double x = -8; x < 8; x += 0.37) {
        double nu = 1e8, phi = exp(cr_norm_logpdf(x)), first = (x * x * x + x) / (4 * nu) * phi;
        assert_close(cr_student_t_cdf(x, nu), cr_norm_cdf(x) - first, 1e-14);
        assert_true(cr_student_t_cdf(x, INFINITY) == cr_norm_cdf(x));
        assert_true(cr_student_t_logcdf(x, INFINITY) == cr_norm_logcdf(x));
        assert_true(cr_student_t_logpdf(x, INFINITY) == cr_norm_logpdf(x));
        assert_relative(cr_student_t_logpdf(x, 1e17), cr_norm_logpdf(x), 1e-15);
        assert_relative(cr_student_t_cdf(x, 1e300), cr_norm_cdf(x), 1e-13);
    }
    assert_true(cr_student_t_ppf(0.3, INFINITY) == cr_norm_ppf(0.3));
}

TEST(student_quantile)
{
    static const double dofs[] = { 0.3, 0.999, 1, 1.001, 2, 2.5, 7, 100, 1e4, 1e9 };
    for (size_t i = 0; i < 10; i++) {
        for (double p = 1e-40; p < 0.5; p = p < 0.04 ? 11 * p : p + 0.0371) {
            double t = cr_student_t_ppf(p, dofs[i]);
            assert_true(t < 0);
            assert_relative(cr_student_t_cdf(t, dofs[i]), p, 1e-12);
            if (p > 1e-3) assert_relative(cr_student_t_ppf(1 - p, dofs[i]), -t, 1e-11);
        }
        double near = cr_student_t_ppf(0.5 - 1e-12, dofs[i]); /* the density at 0 */
        assert_relative(-exp(cr_student_t_logpdf(0, dofs[i])) * near, 0.5 - (0.5 - 1e-12), 1e-12);
        assert_true(cr_student_t_ppf(0.5, dofs[i]) == 0);
        assert_true(cr_student_t_ppf(0, dofs[i]) == -INFINITY);
        assert_true(cr_student_t_ppf(1, dofs[i]) == INFINITY);
    }
    assert_true(isnan(cr_student_t_ppf(0.5, 0)) && isnan(cr_student_t_ppf(-1, 3)));
    assert_true(isnan(cr_student_t_cdf(NAN, 3)) && isnan(cr_student_t_cdf(1, -1)));
    assert_true(isnan(cr_student_t_logpdf(1, 0)) && isnan(cr_student_t_two_sided(1, NAN)));
    assert_true(cr_student_t_cdf(-INFINITY, 3) == 0 && cr_student_t_cdf(INFINITY, 3) == 1);
    assert_true(cr_student_t_logcdf(-INFINITY, 3) == -INFINITY);
    assert_true(cr_student_t_two_sided(0, 3) == 1);
}
