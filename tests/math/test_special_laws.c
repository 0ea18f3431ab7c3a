/* test_special_laws.c -- laws that tie special functions to each other, and their edges. */
#include "special_functions.h"
#include "math/special/precise_log.h"

/* --- double-double logarithms ---------------------------------------------------------------- */

static double gap(cri_dd a, cri_dd b) { return fabs(cri_dd_to_double(cri_dd_sub(a, b))); }

/* log(x y) = log x + log y to 25 digits; log1pmx and the deviance against it. */
TEST(precise_log)
{
    for (double x = 1e-300; x < 1e300; x *= 1234.5) {
        double y = 1 + 1 / (3 + fabs(log(x)));
        cri_dd sum = cri_dd_add(cri_dd_log(cri_dd_from(x)), cri_dd_log(cri_dd_from(y)));
        cri_dd both = cri_dd_log(cri_two_prod(x, y));
        assert_true(gap(sum, both) <= 1e-25 * (1 + fabs(both.hi)));
        assert_true(fabs(cri_dd_to_double(both) - (double)logl((long double)x * y)) <=
                    2.3e-16 * fabs(both.hi));
    }
    for (double t = 1e-12; t < 50; t *= 1.37)
        for (int sign = -1; sign <= (t < 1 ? 1 : -1); sign += 2) {
            double s = t < 1 ? sign * t : t;
            cri_dd direct = cri_dd_sub(cri_dd_log(cri_two_sum(1, s)), cri_dd_from(s));
            assert_true(gap(direct, cri_dd_log1pmx(cri_dd_from(s))) <= 1e-24 * (t + t * t));
        }
    assert_true(cri_dd_log(cri_dd_from(0)).hi == -INFINITY);
    assert_true(isnan(cri_dd_log(cri_dd_from(NAN)).hi));
}

/* bd0 against long double; homogeneous; its edges. */
TEST(deviance)
{
    for (double x = 1e-3; x < 1e6; x *= 7.7)
        for (double r = 0.01; r < 100; r *= 1.9) {
            double      m = x * r;
            long double slow = (long double)x * logl((long double)x / m) + ((long double)m - x);
            assert_relative(cr_bd0(x, m), (double)slow, 1e-15 + 1e-18 / fabs(r - 1) / fabs(r - 1));
            assert_relative(cr_bd0(x, m) * 0x1p300, cr_bd0(x * 0x1p300, m * 0x1p300), 1e-15);
        }
    assert_true(cr_bd0(3, 3) == 0 && cr_bd0(0, 2.5) == 2.5 && cr_bd0(2, 0) == INFINITY);
    assert_true(isnan(cr_bd0(-1, 1)) && isnan(cr_bd0(1, NAN)));
    double poisson = exp(-cr_stirlerr(7) - cr_bd0(7, 5.5)) / sqrt(2 * M_PI * 7);
    assert_relative(poisson, pow(5.5, 7) * exp(-5.5) / 5040, 4e-15);
}

/* --- gamma and beta -------------------------------------------------------------------------- */

/* The recurrences of log Gamma, of its derivatives and of Stirling's error. */
TEST(gamma_laws)
{
    for (double x = 0.013; x < 1e5; x *= 1.31) {
        assert_close(cr_lgamma_diff(x, 1), log(x), 4e-15);
        assert_close(cr_lgamma_diff(x, 2), log(x) + log(x + 1), 4e-15);
        assert_close(cr_lgamma_diff(x + 0.25, -0.25), -cr_lgamma_diff(x, 0.25), 4e-15);
        assert_relative(cr_lgamma_diff(x + 1, 1e-9) / 1e-9, cr_digamma(x + 1 + 5e-10), 4e-14);
        assert_close(cr_tetragamma(x + 1), cr_tetragamma(x) + 2 / (x * x * x),
                     4e-15 * (1 + 1 / (x * x * x)));
        assert_close(cr_stirlerr(x) - cr_stirlerr(x + 1), (x + 0.5) * log1p(1 / x) - 1,
                     2e-16 * (4 + x));
        assert_relative(cr_digamma(cr_digamma_inv(log(x))), log(x), 4e-15);
        double h = 1e-5 * x;
        assert_close(cr_tetragamma(x), (cr_trigamma(x + h) - cr_trigamma(x - h)) / (2 * h),
                     1e-8 * (1 + 1 / (x * x * x)));
        assert_close(cr_lmvgamma(3, x + 1),
                     log(M_PI) + cr_lmvgamma(2, x + 0.5) + cr_lgamma_abs(x + 1), 4e-15);
    }
    assert_true(isnan(cr_lmvgamma(2.5, 9)) && isnan(cr_lmvgamma(3, 1)) && isnan(cr_lmvgamma(0, 1)));
    for (double x = 1e-3; x < 1e6; x *= 1.7)
        assert_relative(cr_trigamma_inv(cr_trigamma(x)), x, 1e-9);
    assert_relative(cr_trigamma_inv(1e12), 1e-6, 1e-6);
    assert_relative(cr_trigamma_inv(1e-9), 1e9, 1e-6);
    assert_true(isinf(cr_trigamma_inv(0)) && isnan(cr_trigamma_inv(-1)));
    assert_true(cr_digamma_inv(-INFINITY) == 0 && cr_digamma_inv(INFINITY) == INFINITY);
    assert_true(isnan(cr_digamma_inv(NAN)) && isnan(cr_tetragamma(-2)) && isnan(cr_stirlerr(-1)));
    assert_true(cr_stirlerr(0) == INFINITY && isnan(cr_lgamma_diff(0, 1)));
}

/* Pascal's triangle in whole numbers; symmetry; one more than k. */
TEST(choose)
{
    double row[51] = { 1 };
    for (int n = 1; n <= 50; n++) {
        for (int k = n; k > 0; k--) row[k] += row[k - 1];
        for (int k = 0; k <= n; k++) {
            assert_close(cr_lchoose(n, k), log(row[k]), 4e-15);
            assert_true(cr_lchoose(n, k) == cr_lchoose(n, n - k));
        }
    }
    for (double n = 100; n < 1e14; n *= 13) {
        double k = floor(n / 7);
        assert_relative(cr_lchoose(n, 1), log(n), 1e-15);
        assert_relative(cr_lchoose(n, k + 1), cr_lchoose(n, k) + log((n - k) / (k + 1)), 4e-15);
    }
    assert_close(cr_lchoose(0.5, 0.25), -log(1.5) - cr_lbeta(1.25, 1.25), 1e-15);
    assert_true(cr_lchoose(5, 6) == -INFINITY && cr_lchoose(5, -1) == -INFINITY);
    assert_true(isnan(cr_lchoose(-1, 0)) && isnan(cr_lchoose(5, 5.5)) && isnan(cr_lchoose(NAN, 1)));
}

/* Q(a + 1, x) - Q(a, x) and I(a, b) - I(a + 1, b) are densities; both tails; inverses of Q. */
TEST(incomplete_recurrences)
{
    for (double a = 0.07; a < 2000; a *= 1.7)
        for (double z = -4; z < 5; z += 0.61) {
            double x = fmax(0.05, a + z * sqrt(a)), b = 0.3 + 0.4 * a;
            double step = exp(-cr_bd0(a, x) - cr_stirlerr(a)) / sqrt(2 * M_PI * a);
            assert_close(cr_gamma_q(a + 1, x) - cr_gamma_q(a, x), step, 4e-15);
            double q = cr_gamma_q(a, x);
            if (q > 1e-300 && q < 1 - 1e-6)
                assert_relative(cr_gamma_q(a, cr_gamma_q_inv(a, q)), q, 2e-14 * (1 + sqrt(a)));
            double u = x / (x + b), log_step = a * log(u) + b * log1p(-u) - log(a) - cr_lbeta(a, b);
            assert_close(cr_betainc(a, b, u) - cr_betainc(a + 1, b, u), exp(log_step), 1e-13);
        }
    for (double x = 0.01; x < 600;
         x *= 1.03) { /* on both sides of the border between the methods */
        assert_relative(cr_gamma_q(0.5, x), erfc(sqrt(x)), 2e-15 + 4e-16 * x);
        assert_relative(cr_gamma_q(0.5, x * x), erfc(x), x < 26 ? 2e-15 + 4e-16 * x * x : 1);
        assert_relative(cr_gamma_p(0.5, x), erf(sqrt(x)), 2e-15);
    }
    assert_true(cr_gamma_q_inv(2, 1) == 0 && cr_gamma_q_inv(2, 0) == INFINITY);
    assert_true(isnan(cr_gamma_q_inv(2, -0.1)) && isnan(cr_gamma_q_inv(0, 0.5)));
}

/* --- Bessel ---------------------------------------------------------------------------------- */

/* The Wronskian I_nu K_{nu+1} + I_{nu+1} K_nu = 1/x and both recurrences, over every method. */
TEST(bessel_laws)
{
    for (double nu = 0; nu < 300; nu = nu < 4 ? nu + 0.37 : nu * 1.21)
        for (double x = 1e-4; x < 3000; x *= 1.9) {
            double i0 = cr_log_bessel_i(nu, x), i1 = cr_log_bessel_i(nu + 1, x);
            double k0 = cr_log_bessel_k(nu, x), k1 = cr_log_bessel_k(nu + 1, x);
            double slack = 4e-15 * (1 + fabs(i0) + fabs(k0));
            assert_close(exp(i0 + k1 + log(x)) + exp(i1 + k0 + log(x)), 1, slack);
            double i2 = cr_log_bessel_i(nu + 2, x), k2 = cr_log_bessel_k(nu + 2, x);
            assert_close(exp(i2 - i0) + 2 * (nu + 1) / x * exp(i1 - i0), 1, slack);
            assert_close(exp(k0 - k2) + 2 * (nu + 1) / x * exp(k1 - k2), 1, slack);
        }
    assert_true(cr_log_bessel_i(0, 0) == 0 && cr_log_bessel_i(2, 0) == -INFINITY);
    assert_true(cr_log_bessel_k(2, 0) == INFINITY && cr_log_bessel_k(1, INFINITY) == -INFINITY);
    assert_true(isnan(cr_log_bessel_i(-1, 1)) && isnan(cr_log_bessel_i(1, -1)));
    assert_true(isnan(cr_log_bessel_k(1, -1)) && isnan(cr_log_bessel_k(NAN, 1)));
}

/* The scaled functions and the logarithms agree; the ratio, its inverse and its slope. */
TEST(bessel_ratio)
{
    for (double x = 1e-6; x < 1e6; x *= 1.43) {
        double r = cr_bessel_i1_over_i0(x);
        assert_relative(r, cr_bessel_i1_scaled(x) / cr_bessel_i0_scaled(x), 4e-15);
        assert_close(log(cr_bessel_i0_scaled(x)) + x, cr_log_bessel_i(0, x), 4e-15);
        assert_true(cr_bessel_i1_over_i0(-x) == -r);
        assert_true(cr_bessel_ratio_inv(-r) == -cr_bessel_ratio_inv(r));
        assert_relative(cr_bessel_ratio_inv(r), x, 4e-15 + 1e-15 * x);
        double h = 1e-4 * x, slope = (cr_bessel_i1_over_i0(x + h) - cr_bessel_i1_over_i0(x - h));
        if (x < 100) assert_close(slope / (2 * h), 1 - r / x - r * r, 1e-8);
    }
    assert_true(cr_bessel_ratio_inv(0) == 0 && cr_bessel_ratio_inv(1) == INFINITY);
    assert_true(isnan(cr_bessel_ratio_inv(1.1)) && isnan(cr_bessel_ratio_inv(NAN)));
    assert_true(cr_bessel_i1_over_i0(INFINITY) == 1 && isnan(cr_bessel_i1_over_i0(NAN)));
}

/* --- normal ---------------------------------------------------------------------------------- */

TEST(error_function_laws)
{
    for (double x = -5; x < 26; x += 0.0973) {
        assert_close(cr_erf(x) + cr_erfc(x), 1, 4e-16);
        if (fabs(x) < 4) assert_close(cr_erfinv(cr_erf(x)), x, 2e-16 * exp(x * x) + 4e-15);
        if (x > 0) assert_relative(cr_erfcinv(cr_erfc(x)), x, 4e-15);
        assert_relative(cr_erfcx(x) * exp(-x * x), cr_erfc(x), 4e-16 * (4 + x * x));
        double mean = cr_trunc_norm_mean_above(x), h = 1e-5, var = cr_trunc_norm_var_above(x);
        double rise = cr_trunc_norm_mean_above(x + h) - cr_trunc_norm_mean_above(x - h);
        assert_close(var, 1 - rise / (2 * h), 1e-9);
        if (x < 5) assert_close(var, 1 - mean * (mean - x), 1e-15 * (4 + x * x));
        assert_true(var > 0 && var <= 1);
    }
    assert_true(cr_erfinv(1) == INFINITY && cr_erfinv(-1) == -INFINITY && cr_erfinv(0) == 0);
    assert_true(cr_erfcinv(0) == INFINITY && cr_erfcinv(2) == -INFINITY && isnan(cr_erfcinv(3)));
    assert_true(isnan(cr_erfinv(1.5)) && isnan(cr_trunc_norm_var_above(NAN)));
    assert_true(cr_trunc_norm_var_above(-INFINITY) == 1 && cr_trunc_norm_var_above(INFINITY) == 0);
}

/* T(h, 1) = Phi(h) Phi(-h) / 2; T(0, a) = atan(a) / (2 pi); even in h, odd in a. */
TEST(owens_t)
{
    for (double h = 0.01; h < 35; h *= 1.3) {
        assert_relative(cr_owens_t(h, 1), 0.5 * cr_norm_cdf(h) * cr_norm_cdf(-h), 4e-15);
        assert_relative(cr_owens_t(h, INFINITY), 0.5 * cr_norm_cdf(-h), 1e-15);
        for (double a = 0.01; a < 100; a *= 2.3) {
            double t = cr_owens_t(h, a), above = cr_owens_t(a * h, 1 / a);
            double near = cr_norm_cdf(-h), far = cr_norm_cdf(-a * h);
            assert_close(t + above, 0.5 * (near + far) - near * far, 1e-15);
            assert_true(cr_owens_t(-h, a) == t && cr_owens_t(h, -a) == -t);
        }
    }
    assert_relative(cr_owens_t(0, 3), atan(3) / (2 * M_PI), 1e-15);
    assert_true(cr_owens_t(1, 0) == 0 && isnan(cr_owens_t(NAN, 1)) && isnan(cr_owens_t(1, NAN)));
}

/* Phi2(h, k) by Owen's T (Owen 1956, eq. 2.1); at the origin 1/4 + asin(rho) / (2 pi). */
TEST(bivariate_normal)
{
    for (double rho = -0.999; rho < 1; rho += 0.111) {
        double origin = 0.25 + asin(rho) / (2 * M_PI), s = sqrt((1 - rho) * (1 + rho));
        assert_relative(exp(cr_log_bvn_cdf_h_k_rho(0, 0, rho)), origin, 1e-14);
        for (double h = -3.1; h < 4; h += 0.83)
            for (double k = -2.7; k < 4; k += 1.17) {
                double log_p = cr_log_bvn_cdf_h_k_rho(h, k, rho);
                double by_t = 0.5 * (cr_norm_cdf(h) + cr_norm_cdf(k)) - (h * k < 0 ? 0.5 : 0) -
                              cr_owens_t(h, (k - rho * h) / (h * s)) -
                              cr_owens_t(k, (h - rho * k) / (k * s));
                assert_close(exp(log_p), by_t, 4e-15);
                assert_relative(cr_log_bvn_cdf_h_k_rho(k, h, rho), log_p, 4e-14);
                assert_true(log_p <= cr_norm_logcdf(fmin(h, k)) * (1 - 1e-14));
            }
    }
    assert_relative(cr_log_bvn_cdf_h_k_rho(-30, 1, 1), cr_norm_logcdf(-30), 1e-15);
    double apart = cr_norm_logcdf(-30) + cr_norm_logcdf(-2), p = cr_norm_cdf(1) - cr_norm_cdf(-0.5);
    assert_relative(cr_log_bvn_cdf_h_k_rho(-30, -2, 0), apart, 1e-15);
    assert_relative(cr_log_bvn_cdf_h_k_rho(-30, -2, 1e-12), apart, 1e-12);
    assert_relative(exp(cr_log_bvn_cdf_h_k_rho(1, 0.5, -1)), p, 1e-14);
    assert_true(cr_log_bvn_cdf_h_k_rho(-1, 0.5, -1) == -INFINITY);
    assert_true(cr_log_bvn_cdf_h_k_rho(INFINITY, 1, 0.5) == cr_norm_logcdf(1));
    assert_true(cr_log_bvn_cdf_h_k_rho(-INFINITY, 1, 0.5) == -INFINITY);
    assert_true(isnan(cr_log_bvn_cdf_h_k_rho(0, 0, 1.1)));
    assert_true(isnan(cr_log_bvn_cdf_h_k_rho(NAN, 0, 0)));
}

/* --- elementary ------------------------------------------------------------------------------ */

TEST(elementary)
{
    for (double x = -40; x < 40; x += 0.377) {
        assert_close(cr_log_sigmoid(x), log(cr_sigmoid(x)), 4e-16);
        assert_close(cr_log1pexp(x) - cr_log1pexp(-x), x, 1e-15);
        if (x < 0) assert_close(cr_log1mexp(x) + cr_log1pexp(x), cr_log1mexp(2 * x), 1e-15);
        if (x < 15) assert_close(cr_logit(cr_sigmoid(x)), x, x < 0 ? 1e-15 : 1e-15 * exp(x));
        double p = cr_sigmoid(x);
        assert_close(cr_entropy_binary_nats(p), -cr_xlogy(p, p) - cr_xlogy(1 - p, 1 - p), 1e-15);
    }
    assert_true(cr_xlogy(0, 0) == 0 && isnan(cr_xlogy(0, NAN)) && cr_xlogy(1, 0) == -INFINITY);
    assert_true(cr_logit(0) == -INFINITY && cr_logit(1) == INFINITY && isnan(cr_logit(1.1)));
    assert_true(cr_log1mexp(0) == -INFINITY && isnan(cr_log1mexp(1)));
    assert_true(cr_expm1_over_x(0) == 1 && cr_expm1_over_x(-INFINITY) == 0);
    assert_true(cr_entropy_binary_nats(0) == 0 && isnan(cr_entropy_binary_nats(-0.1)));
    assert_true(cr_log1pexp(-INFINITY) == 0 && cr_sigmoid(-INFINITY) == 0);
}

TEST(vectors)
{
    double x[] = { 1000, 999.5, -2000, 1000 - 40 }, p[4], log_p[4], sum = 0;
    double total = 1000 + log1p(exp(-0.5) + exp(-40));
    assert_relative(cr_logsumexp(x, 4), total, 1e-16);
    cr_softmax(x, 4, p);
    cr_log_softmax(x, 4, log_p);
    for (int i = 0; i < 4; i++) {
        sum += p[i];
        assert_close(log_p[i], x[i] - 1000 - log1p(exp(-0.5) + exp(-40)), 2e-16);
        if (i != 2) assert_relative(p[i], exp(x[i] - 1000) / (1 + exp(-0.5) + exp(-40)), 1e-15);
    }
    assert_close(sum, 1, 1e-15);
    double lonely[] = { 0, -40 }, infinite[] = { INFINITY, 1, INFINITY }, none[] = { -INFINITY };
    cr_log_softmax(lonely, 2, p); /* the tiny logarithm of the greatest */
    assert_relative(p[0], -log1p(exp(-40)), 1e-15);
    cr_softmax(infinite, 3, p);
    assert_true(p[0] == 0.5 && p[1] == 0 && p[2] == 0.5);
    assert_true(cr_logsumexp(infinite, 3) == INFINITY && cr_logsumexp(none, 1) == -INFINITY);
    assert_true(cr_logsumexp(NULL, 0) == -INFINITY);
    cr_softmax(none, 1, p);
    assert_true(p[0] == 1);
    infinite[1] = NAN;
    assert_true(isnan(cr_logsumexp(infinite, 3)));
    cr_softmax(x, 4, x); /* in place */
    assert_close(x[0] + x[1] + x[2] + x[3], 1, 1e-15);
}

/* --- every function: no NaN inside, NaN outside ---------------------------------------------- */

static const double ladder[] = { 5e-324, 1e-310, 1e-300, 1e-100, 1e-20, 1e-8,  0.01,  0.3,
                                 0.5,    1,      1.5,    2.5,    7,     20,    25,    30.5,
                                 450,    3e3,    1e6,    1e10,   1e15,  1e100, 1e200, 1e300 };

static bool takes_probability(const char *name, size_t argument)
{
    static const char *const second[] = { "gamma_p_inv", "gamma_q_inv", "" };
    for (size_t i = 0; argument == 1 && i < 2; i++)
        if (strcmp(name, second[i]) == 0) return true;
    if (argument == 2) return strcmp(name, "f_logsf") != 0;
    static const char *const first[] = { "bessel_ratio_inv",   "erfinv", "erfcinv",
                                         "norm_ppf",           "logit",  "student_t_ppf",
                                         "entropy_binary_nats" };
    for (size_t i = 0; argument == 0 && i < 7; i++)
        if (strcmp(name, first[i]) == 0) return true;
    return false;
}

static double rung(const special_function *f, size_t argument, size_t i)
{
    return takes_probability(f->name, argument) ? ladder[i] / (1 + ladder[i]) : ladder[i];
}

TEST(no_nan_inside)
{
    enum { N = sizeof ladder / sizeof *ladder };
    for (size_t e = 0; e < SPECIAL_COUNT; e++) {
        const special_function *f = &special_functions[e];
        if (strcmp(f->name, "lmvgamma") == 0 || strcmp(f->name, "log1mexp") == 0 ||
            strcmp(f->name, "lchoose") == 0)
            continue; /* their domains are cut otherwise */
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < (f->one ? 1u : N); j++)
                for (size_t k = 0; k < (f->three ? N : 1u); k += 3) {
                    double x[3] = { rung(f, 0, i), rung(f, 1, j), rung(f, 2, k) };
                    if (isnan(call_special(f, x)))
                        print_error("%s(%g, %g, %g)\n", f->name, x[0], x[1], x[2]);
                    assert_true(!isnan(call_special(f, x)));
                }
        double nan[3] = { NAN, 0.5, 0.5 };
        assert_true(isnan(call_special(f, nan)));
    }
}
