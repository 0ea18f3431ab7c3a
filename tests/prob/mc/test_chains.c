/* test_chains.c -- R-hat and effective draws against their definitions, computed plainly, and against
 * chains whose autocorrelation is known. */
#include "support.h"

#include "base/rng.h"
#include "prob/mc/chains.h"

#include <float.h>

enum { MOST = 8192 };

/* --- the definitions, in long double, with no regard for the cost ----------------------------- */

static long double mean_of(const double *x, size_t n, size_t stride)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i * stride];
    return sum / n;
}

/* sum_i (x_i - mean) (x_i+lag - mean) */
static long double products(const double *x, size_t n, size_t stride, size_t lag)
{
    long double sum = 0, mean = mean_of(x, n, stride);
    for (size_t i = 0; i + lag < n; i++)
        sum += (x[i * stride] - mean) * (x[(i + lag) * stride] - mean);
    return sum;
}

/* W and B of parts that begin at x + start[k]. */
static void variances(const double *x, const size_t *start, size_t parts, size_t n, size_t stride,
                      long double *W, long double *B)
{
    long double grand = 0;
    *W = *B = 0;
    for (size_t k = 0; k < parts; k++) {
        *W += products(x + start[k] * stride, n, stride, 0) / (n - 1) / parts;
        grand += mean_of(x + start[k] * stride, n, stride) / parts;
    }
    for (size_t k = 0; parts > 1 && k < parts; k++)
        *B += powl(mean_of(x + start[k] * stride, n, stride) - grand, 2) / (parts - 1);
}

static double plain_rhat(const double *x, size_t chains, size_t length, size_t stride)
{
    size_t      start[32], half = length / 2;
    long double W, B;
    for (size_t c = 0; c < chains; c++) {
        start[2 * c] = c * length;
        start[2 * c + 1] = (c + 1) * length - half;
    }
    variances(x, start, 2 * chains, half, stride, &W, &B);
    return (double)sqrtl(((half - 1) * W / half + B) / W);
}

/* Stan's order of work: all autocorrelations, then the pairs, then the monotone bound. */
static double plain_ess(const double *x, size_t chains, size_t length, size_t stride)
{
    static long double rho[MOST];
    size_t             start[16], K = 0;
    long double        W, B, tau = -1;
    for (size_t c = 0; c < chains; c++) start[c] = c * length;
    variances(x, start, chains, length, stride, &W, &B);
    long double total = (length - 1) * W / length + B;
    for (size_t t = 0; t < length; t++) {
        long double mean = 0;
        for (size_t c = 0; c < chains; c++)
            mean += products(x + start[c] * stride, length, stride, t) / length / chains;
        rho[t] = t ? 1 - (W - mean) / total : 1;
    }
    while (2 * K + 1 < length && rho[2 * K] + rho[2 * K + 1] > 0) K++;
    for (size_t k = 1; k < K; k++)
        if (rho[2 * k] + rho[2 * k + 1] > rho[2 * k - 2] + rho[2 * k - 1])
            rho[2 * k] = rho[2 * k - 2], rho[2 * k + 1] = rho[2 * k - 1];
    for (size_t t = 0; t < 2 * K; t++) tau += 2 * rho[t];
    if (2 * K + 1 < length) tau += fmaxl(0, rho[2 * K]);
    long double all = (long double)(chains * length);
    return (double)(all / fmaxl(tau, 1 / log10l(all)));
}

static void expect_definition(const double *x, size_t chains, size_t length, size_t stride)
{
    double rhat, ess;
    cri_chains_diagnose(x, chains, length, stride, &rhat, &ess);
    assert_relative(rhat, plain_rhat(x, chains, length, stride), 1e-12);
    assert_relative(ess, plain_ess(x, chains, length, stride), 1e-10);
}

/* x_t = phi x_t-1 + sqrt(1 - phi^2) e_t, from its stationary distribution. */
static void draw(double phi, size_t chains, size_t length, size_t stride, uint64_t seed, double *x)
{
    for (size_t c = 0; c < chains; c++) {
        cr_rng r = cr_rng_stream(seed, c);
        double now = cr_rng_normal(&r);
        for (size_t i = 0; i < length; i++) {
            x[(c * length + i) * stride] = 3 + 0.7 * now;
            now = phi * now + sqrt(1 - phi * phi) * cr_rng_normal(&r);
        }
    }
}

/* --- tests ------------------------------------------------------------------------------------ */

TEST(by_hand)
{
    /* halves: means 1.5, 3.5, 2.5, 4.5 and variances 1/2 each; W = 1/2, B = 5/3 */
    static const double x[] = { 1, 2, 3, 4, 2, 3, 4, 5 }, same[8] = { 7, 7, 7, 7, 7, 7, 7, 7 };
    static const double stuck[] = { 7, 7, 7, 7, 8, 8, 8, 8 };
    double              rhat, ess;
    cri_chains_diagnose(x, 2, 4, 1, &rhat, &ess);
    assert_relative(rhat, sqrt(0.5 + 10.0 / 3), 1e-14);
    cri_chains_diagnose(same, 2, 4, 1, &rhat, &ess);
    assert_true(rhat == 1 && ess == 8);
    cri_chains_diagnose(stuck, 2, 4, 1, &rhat, &ess);
    assert_true(rhat == INFINITY && ess < 3);
    cri_chains_diagnose(x, 2, 3, 1, &rhat, &ess);
    assert_true(isnan(rhat) && ess == 6);
    (void)cx;
}

TEST(definition)
{
    static const double phi[] = { -0.7, -0.2, 0, 0.5, 0.9, 0.99 };
    static double       x[4 * 3 * 201];
    (void)cx;
    for (size_t k = 0; k < 6; k++)
        for (size_t chains = 1; chains <= 4; chains++)
            for (size_t length = 4; length <= 201;
                 length = length < 8 ? length + 1 : length * 5 / 2) {
                draw(phi[k], chains, length, 3, 10 * k + chains, x);
                expect_definition(x, chains, length, 3);
            }
    draw(0.3, 4, 200, 1, 5, x); /* chains that disagree, and one that drifts */
    for (size_t i = 0; i < 200; i++) x[i] += 2;
    expect_definition(x, 4, 200, 1);
    draw(0.3, 1, 200, 1, 5, x);
    for (size_t i = 0; i < 200; i++) x[i] += (double)i / 50;
    expect_definition(x, 1, 200, 1);
}

/* Of an autoregression N (1 - phi) / (1 + phi): Geyer (1992), sec. 3. */
TEST(autoregressions)
{
    static double x[4 * 2000];
    double        rhat, ess;
    (void)cx;
    for (double phi = -0.3; phi < 0.85; phi += 0.1) {
        draw(phi, 4, 2000, 1, 11, x);
        cri_chains_diagnose(x, 4, 2000, 1, &rhat, &ess);
        assert_relative(ess, 8000 * (1 - phi) / (1 + phi), 0.2);
        assert_close(rhat, 1, 0.02);
    }
    for (size_t i = 0; i < 2000; i++) x[i] += 3;
    cri_chains_diagnose(x, 4, 2000, 1, &rhat, &ess);
    assert_true(rhat > 1.5 && ess < 20);
}

/* Numbers far from 0, whose squares would lose all digits. */
TEST(far_from_zero)
{
    static double x[4 * 100], y[4 * 100];
    double        rhat[2], ess[2];
    (void)cx;
    draw(0.4, 4, 100, 1, 3, x);
    for (size_t i = 0; i < 400; i++) x[i] = ldexp(floor(ldexp(x[i], 16)), -16), y[i] = x[i] + 1e9;
    cri_chains_diagnose(x, 4, 100, 1, &rhat[0], &ess[0]);
    cri_chains_diagnose(y, 4, 100, 1, &rhat[1], &ess[1]);
    assert_relative(rhat[1], rhat[0], 1e-6);
    assert_relative(ess[1], ess[0], 1e-4);
}

/* Parts of known moments: W counts as `least` at least. */
TEST(least_variance)
{
    cri_agreement a = { 0 };
    (void)cx;
    cri_agreement_add(&a, 1, 0);
    cri_agreement_add(&a, 2, 0.02);
    assert_relative(cri_agreement_rhat(&a, 10, 0), sqrt(0.9 + 0.5 / 0.01), 1e-14);
    assert_relative(cri_agreement_rhat(&a, 10, 0.05), sqrt(0.9 + 0.5 / 0.05), 1e-14);
}
