/* test_skew_normal.c -- the skew normal: tails against 20-digit values, Owen's T and the bivariate
 * normal; moments, mode and fit against other roads. */
#include "support.h"
#include "math/quadrature.h"
#include "math/special/special.h"
#include "prob/dist/dist_class.h"

static const cr_dist_class *const S = &cri_dist_skew_normal;

static double log_tail(double z, double a, unsigned side)
{
    double v[] = { 0, 1, a };
    return cri_dist_cdf(S, (cri_par){ v, 3 }, z, side | CRI_LOG);
}

/* --- tails ----------------------------------------------------------------------------------- */

/* log P(Z <= z), by mpmath 1.3 with 40 digits; two of the rows also from the integral of the
 * density. */
TEST(twenty_digits)
{
    static const double rows[][3] = {
        { -1, 0, -1.8410216450092635058 },        { -1, 1, -3.6820432900185270115 },
        { -3, 2, -28.21144295604376498 },         { -0.7, 5, -11.862040212323301862 },
        { -8, 5, -842.17297046355338364 },        { -0.001, 1000, -9.618668792096331193 },
        { -0.02, 1000, -214.05158613613688293 },  { -40, 0.5, -1008.055965771514194 },
        { -2, -3, -3.0900371532339349132 },       { -30, -0.01, -454.10930169331374149 },
        { 0, 4, -2.5513140473574071069 },         { 0.01, 50, -4.4977259654167262495 },
        { 1e-10, 1e6, -14.960115115254228077 },   { 0.5, 3, -0.94341947316783384291 },
        { 2.5, -1, -0.000038560686911877933265 }, { 7, 2, -2.5596250877749458491e-12 },
        { -5, 1e-8, -15.064998435371040991 },     { -0.0625, -40, -0.051161951509336833252 },
    };
    double worst = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double z = rows[i][0], a = rows[i][1], got = log_tail(z, a, CRI_LOWER);
        double off = fabs(got - rows[i][2]) / fabs(rows[i][2]);
        worst = fmax(worst, off);
        if (!(off < 1e-14)) print_error("z %g, shape %g: %.17g, off by %g\n", z, a, got, off);
        assert_true(off < 1e-14);
        assert_true(got == log_tail(-z, -a, CRI_UPPER)); /* mirrored */
    }
    print_message("worst relative error %.3g\n", worst);
}

/* Phi(z) - 2 T(z, a) where that loses nothing, and twice a bivariate normal with correlation
 * -a / sqrt(1 + a^2) also where it does. */
TEST(owen)
{
    size_t compared = 0;
    for (double a = -20; a <= 20; a += 0.7)
        for (double z = -6; z <= 6; z += 0.31) {
            double sum = cr_norm_cdf(z) - 2 * cr_owens_t(z, a);
            double log_p = log_tail(z, a, CRI_LOWER), p = exp(log_p);
            assert_close(p, sum, 4e-15);
            assert_close(exp(log_tail(z, a, CRI_UPPER)) + p, 1, 4e-15);
            double plane = M_LN2 + cr_log_bvn_cdf_h_k_rho(z, 0, -a / hypot(1, a));
            if (plane > -0.5) continue;
            check_close(log_p, plane, 1e-12, 1, "two planes", __FILE__, __LINE__);
            compared++;
        }
    assert_true(compared > 500);
}

/* The slope of the logarithm of a tail is the density over the tail, however deep. */
TEST(slopes)
{
    static const double shapes[] = { -300, -7, -0.4, 0, 0.01, 2, 90, 1e5 };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double a = shapes[i], unit = 1 / fmax(1, fabs(a));
        for (double t = -30; t < 3; t += 1.3) {
            double z = t * unit, h = 1e-4 * unit / (1 + fabs(t)), v[] = { 0, 1, a };
            double slope =
                (log_tail(z + h, a, CRI_LOWER) - log_tail(z - h, a, CRI_LOWER)) / (2 * h);
            double density = cri_dist_logpdf(S, (cri_par){ v, 3 }, z);
            assert_relative(slope, exp(density - log_tail(z, a, CRI_LOWER)), 2e-6);
        }
    }
}

/* Nothing overflows on the way: half normals, shapes and points beyond all squares. */
TEST(extremes)
{
    assert_relative(log_tail(0.3, 1e200, CRI_LOWER), log(erf(0.3 * M_SQRT1_2)), 1e-14);
    assert_relative(log_tail(0.3, 1e308, CRI_UPPER), log(erfc(0.3 * M_SQRT1_2)), 1e-14);
    assert_true(log_tail(-0.3, 1e200, CRI_LOWER) == -INFINITY);
    assert_true(log_tail(-1e200, 2, CRI_LOWER) == -INFINITY);
    assert_true(log_tail(1e200, 2, CRI_LOWER) == 0);
    assert_true(isfinite(log_tail(-1e-150, 1e100, CRI_LOWER)));
    assert_relative(log_tail(-1e-300, 3, CRI_LOWER), log(atan2(1, 3) / M_PI), 1e-14);
    for (double e = -300; e <= 300; e += 17) /* falls all the way */
        assert_true(log_tail(-pow(10, e), 1, CRI_LOWER) <=
                    log_tail(-pow(10, e - 17), 1, CRI_LOWER));
}

/* --- moments --------------------------------------------------------------------------------- */

/* Entropies by mpmath 1.3; the same for a and -a, and a shift by log 2 between a normal and half
 * of one. */
TEST(entropy)
{
    static const double rows[][2] = { { 0.5, 1.3507950381476538033 },
                                      { 4, 0.90019325378216024097 },
                                      { 1000, 0.72651199942728625356 } };
    for (size_t i = 0; i < 3; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double v[] = { -3, 1, sign * rows[i][0] }, got = 0;
            assert_ok(cx, cr_dist_entropy(cx, S, v, 3, &got));
            assert_relative(got, rows[i][1], 2e-15);
        }
    double normal[] = { 0, 1, 0 }, half[] = { 0, 1, 1e12 }, a = 0, b = 0;
    assert_ok(cx, cr_dist_entropy(cx, S, normal, 3, &a));
    assert_ok(cx, cr_dist_entropy(cx, S, half, 3, &b));
    assert_relative(a, 0.5 * log(2 * M_PI * exp(1)), 1e-15);
    assert_relative(b, a - M_LN2, 1e-11);
}

/* The slope of the density is 0 at the mode. */
TEST(mode)
{
    for (double a = 1e-9; a < 1e12; a *= 7) {
        double v[] = { 0, 1, -a }, mode = S->mode((cri_par){ v, 3 });
        assert_true(mode < 0 && mode > -0.6);
        assert_relative(-mode, a * cr_inv_mills(-a * mode), 1e-12);
    }
    double normal[] = { 2, 3, 0 };
    assert_true(S->mode((cri_par){ normal, 3 }) == 2);
}

/* --- fit ------------------------------------------------------------------------------------- */

static void count_warnings(void *user, cr_log_level level, const char *text)
{
    size_t *n = user;
    if (level == CR_LOG_WARNING && strstr(text, "half a normal")) ++*n;
}

/* A symmetric sample is a normal, or better on either side of it; one that ends sharply is half a
 * normal, which is said. */
TEST(fits_at_the_edge)
{
    enum { N = 100 };
    double even[N], sharp[N], v[3] = { 0 }, ll = 0, normal_ll = 0, w[2] = { 0 };
    size_t heard = 0;
    cr_ctx_set_log(cx, count_warnings, &heard);
    for (size_t i = 0; i < N; i++) {
        even[i] = 5 + cr_norm_ppf(((double)i + 0.5) / N);
        sharp[i] = 5 + cr_norm_ppf(0.5 + 0.5 * ((double)i + 0.5) / N);
    }
    assert_ok(cx, cr_dist_fit(cx, S, even, NULL, N, v, 3, &ll));
    assert_ok(cx, cr_dist_fit(cx, &cri_dist_normal, even, NULL, N, w, 2, &normal_ll));
    assert_true(ll >= normal_ll - 1e-9);
    assert_int_equal(heard, 0);
    assert_ok(cx, cr_dist_fit(cx, S, sharp, NULL, N, v, 3, &ll));
    assert_int_equal(heard, 1);
    assert_close(v[0], sharp[0], 1e-3);
    assert_true(v[2] > 1e4);
    for (size_t i = 0; i < N; i++) sharp[i] = -sharp[i];
    assert_ok(cx, cr_dist_fit(cx, S, sharp, NULL, N, v, 3, NULL));
    assert_int_equal(heard, 2);
    assert_true(v[2] < -1e4);
}

static cr_status divergence(cr_ctx *cx, void *unused)
{
    double p[] = { 0, 1, 3 }, q[] = { 1, 2, -4 }, out = 0;
    (void)unused;
    return cr_dist_kl(cx, S, p, 3, q, 3, &out);
}

TEST(allocations) { test_every_allocation_fails(divergence, NULL); }
