/* test_info.c -- entropies of probabilities and counts, against formulas, laws and simulation. */
#include "base/rng.h"
#include "math/special/special.h"
#include "prob/info.h"
#include "support.h"

TEST(probabilities)
{
    const double p[] = { 0.5, 0.25, 0.125, 0.125, 0 }, q[] = { 0.1, 0.2, 0.3, 0.4, 0 };
    const double point[] = { 0, 1, 0, 0, 0 };
    double       cross = -(0.5 * log(0.1) + 0.25 * log(0.2) + 0.125 * log(0.3) + 0.125 * log(0.4));
    assert_relative(cr_info_entropy(p, 5), 1.75 * M_LN2, 1e-15);
    assert_relative(cr_info_cross_entropy(p, q, 5), cross, 1e-15);
    assert_relative(cr_info_kl(p, q, 5), cross - 1.75 * M_LN2, 1e-14);
    assert_true(cr_info_entropy(point, 5) == 0 && cr_info_kl(p, p, 5) == 0);
    assert_true(isinf(cr_info_kl(p, point, 5)) && isinf(cr_info_cross_entropy(p, point, 5)));
    assert_relative(cr_info_kl(point, p, 5), log(4), 1e-15);
    assert_relative(cr_info_js(point, (const double[]){ 1, 0, 0, 0, 0 }, 5), M_LN2, 1e-15);
}

/* JS = H((p + q) / 2) - (H(p) + H(q)) / 2, and no divergence is negative. */
TEST(laws)
{
    cr_rng r = cr_rng_stream(3, 0);
    for (size_t t = 0; t < 200; t++) {
        double p[6], q[6], m[6], sp = 0, sq = 0;
        for (size_t i = 0; i < 6; i++) {
            sp += p[i] = cr_rng_gamma(&r, 0.3), sq += q[i] = cr_rng_gamma(&r, 0.3);
        }
        for (size_t i = 0; i < 6; i++) p[i] /= sp, q[i] /= sq, m[i] = (p[i] + q[i]) / 2;
        assert_true(cr_info_kl(p, q, 6) >= 0 && cr_info_js(p, q, 6) <= M_LN2 * (1 + 1e-12));
        assert_close(cr_info_kl(p, q, 6), cr_info_cross_entropy(p, q, 6) - cr_info_entropy(p, 6),
                     1e-12);
        assert_close(cr_info_js(p, q, 6),
                     cr_info_entropy(m, 6) - (cr_info_entropy(p, 6) + cr_info_entropy(q, 6)) / 2,
                     1e-12);
    }
}

/* The definition of Grassberger's G, not its closed form. */
static double G(double n)
{
    return cr_digamma(n) +
           (fmod(n, 2) == 0 ? 0.5 : -0.5) * (cr_digamma((n + 1) / 2) - cr_digamma(n / 2));
}

/* Schuermann's S with its integral by Simpson's rule. */
static double S(double n)
{
    enum { STEPS = 2000 };
    double a = sqrt(exp(1)) - 1, sum = 0;
    for (size_t i = 0; i <= STEPS; i++) {
        double t = a * (double)i / STEPS, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += weight * pow(t, n - 1) / (1 + t);
    }
    return cr_digamma(n) + (fmod(n, 2) == 0 ? 1 : -1) * sum * a / STEPS / 3;
}

TEST(estimators)
{
    const uint64_t count[] = { 4, 2, 1, 0, 1, 7, 91, 90 };
    double N = 196, plugin = 0, grassberger = log(196), schuermann = cr_digamma(196), chao = 0,
           C = 1 - 2 / N;
    for (size_t i = 0; i < 8; i++) {
        double n = (double)count[i], c = C * n / N;
        if (n == 0) continue;
        plugin -= n / N * log(n / N);
        grassberger -= n / N * G(n);
        schuermann -= n / N * S(n);
        chao -= c * log(c) / (1 - pow(1 - c, N));
    }
    assert_relative(cr_info_entropy_counts(count, 8, CR_INFO_PLUGIN), plugin, 1e-14);
    assert_relative(cr_info_entropy_counts(count, 8, CR_INFO_MILLER_MADOW), plugin + 6 / (2 * N),
                    1e-14);
    assert_relative(cr_info_entropy_counts(count, 8, CR_INFO_GRASSBERGER), grassberger, 1e-14);
    assert_relative(cr_info_entropy_counts(count, 8, CR_INFO_CHAO_SHEN), chao, 1e-13);
    assert_relative(cr_info_entropy_counts(count, 8, CR_INFO_SCHUERMANN), schuermann, 1e-12);
}

TEST(corners)
{
    const uint64_t none[] = { 0, 0 }, one[] = { 0, 9 }, singles[] = { 1, 1, 1, 1 };
    for (int e = CR_INFO_PLUGIN; e <= CR_INFO_SCHUERMANN; e++) {
        assert_true(isnan(cr_info_entropy_counts(none, 2, (cr_info_estimator)e)));
        assert_true(cr_info_entropy_counts(one, 2, (cr_info_estimator)e) == 0);
        double h = cr_info_entropy_counts(singles, 4, (cr_info_estimator)e);
        assert_true(isfinite(h) && h >= log(4) - 1e-12);
    }
}

/* Mean error over draws of 60 from 20 values: the corrections take most of the bias away. */
TEST(bias)
{
    enum { K = 20, N = 60, DRAWS = 2000 };
    cr_rng r = cr_rng_stream(5, 0);
    double p[K], sum = 0, mean[5] = { 0 };
    for (size_t i = 0; i < K; i++) sum += p[i] = 1 / (double)(i + 1);
    for (size_t i = 0; i < K; i++) p[i] /= sum;
    for (size_t t = 0; t < DRAWS; t++) {
        uint64_t count[K];
        cr_rng_multinomial(&r, N, p, K, count);
        for (int e = 0; e < 5; e++)
            mean[e] += cr_info_entropy_counts(count, K, (cr_info_estimator)e) / DRAWS;
    }
    double truth = cr_info_entropy(p, K);
    assert_true(mean[CR_INFO_PLUGIN] < truth - 0.1);
    assert_true(fabs(mean[CR_INFO_MILLER_MADOW] - truth) < 0.08);
    assert_true(fabs(mean[CR_INFO_CHAO_SHEN] - truth) < 0.03);
    assert_true(fabs(mean[CR_INFO_SCHUERMANN] - truth) < 0.025);
    assert_true(fabs(mean[CR_INFO_GRASSBERGER] - truth) < 0.012);
}
