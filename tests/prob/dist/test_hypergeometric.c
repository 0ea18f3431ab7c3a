/* test_hypergeometric.c -- draws without replacement: counted by enumeration in whole numbers, at
 * huge arguments against 20-digit values, and against its own symmetries. */
#include "support.h"
#include "math/special/special.h"
#include "prob/dist/dist_class.h"

static const cr_dist_class *const H = &cri_dist_hypergeometric;

/* --- enumeration ----------------------------------------------------------------------------- */

/* How many of the subsets of n among N items hold x of the first K, counted one by one. */
static void count_subsets(unsigned N, unsigned K, unsigned n, unsigned long *counts)
{
    for (unsigned long set = 0; set < 1ul << N; set++)
        if ((unsigned)__builtin_popcountl(set) == n)
            counts[__builtin_popcountl(set & ((1ul << K) - 1))]++;
}

TEST(every_subset)
{
    for (unsigned N = 0; N <= 9; N++)
        for (unsigned K = 0; K <= N; K++)
            for (unsigned n = 0; n <= N; n++) {
                unsigned long counts[10] = { 0 }, all = 0, below = 0;
                double        v[] = { N, K, n }, mean = 0, square = 0, entropy = 0, best = 0;
                cri_par       p = { v, 3 };
                count_subsets(N, K, n, counts);
                for (unsigned x = 0; x <= N; x++) all += counts[x];
                for (unsigned x = 0; x <= N; x++) {
                    double share = (double)counts[x] / (double)all;
                    below += counts[x];
                    assert_close(exp(cri_dist_logpdf(H, p, x)), share, 1e-14);
                    assert_close(cri_dist_cdf(H, p, x, CRI_LOWER), (double)below / (double)all,
                                 1e-14);
                    assert_close(cri_dist_cdf(H, p, x, CRI_UPPER),
                                 (double)(all - below) / (double)all, 1e-14);
                    mean += share * x, square += share * x * x;
                    if (share > 0) entropy -= share * log(share);
                    best = fmax(best, share);
                }
                assert_close(H->mean(p), mean, 1e-13);
                assert_close(H->variance(p), square - mean * mean, 1e-12);
                assert_close(H->entropy(p), entropy, 1e-13);
                assert_close(exp(cri_dist_logpdf(H, p, H->mode(p))), best, 1e-14);
            }
}

/* --- large arguments ------------------------------------------------------------------------- */

enum { MASS, LOWER, UPPER };

/* Log-gammas and sums of ratios with 60 digits, by mpmath 1.3. */
TEST(twenty_digits)
{
    static const struct {
        int    what;
        double N, K, n, x, wanted;
    } rows[] = {
        { MASS, 50, 13, 5, 2, -1.251607299812486328938 },
        { MASS, 1000, 300, 200, 95, -19.92167770947072968109 },
        { MASS, 1e9, 4e8, 1e6, 399000, -9.198216284678176048824 },
        { MASS, 1e15, 1e14, 1e8, 10012345, -17.38937272512786510489 },
        { MASS, 1e12, 1e6, 1e6, 3, -2.791760469233721677979 },
        { MASS, 0x1p53, 0x1p52, 0x1p50, 562949963421312, -17.69071738054827041229 },
        { LOWER, 50, 13, 5, 0, -1.581180313973427434115 },
        { LOWER, 1000, 300, 200, 35, -12.056386952769071152 },
        { LOWER, 1e9, 4e8, 1e6, 395000, -55.45010574326589320086 },
        { LOWER, 1e12, 1e6, 1e6, 0, -1.000001000000666667167 },
        { LOWER, 1e15, 1e14, 1e6, 90000, -577.2726215462513233833 },
        { LOWER, 4e10, 2e10, 2e9, 999970000, -2.472924423276431965062 },
        { LOWER, 4e10, 3e9, 2e9, 149999980, -0.6944944043637368103557 },
        { UPPER, 50, 13, 5, 4, -7.406272362267644527785 },
        { UPPER, 1000, 300, 200, 95, -20.45123228666208243073 },
        { UPPER, 1e9, 4e8, 1e6, 403000, -21.51639021902289952662 },
        { UPPER, 1e12, 1e6, 1e6, 20, -46.33409758189747044476 },
        { UPPER, 4e10, 2e10, 2e9, 1000100000, -13.01174005785090229695 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double  v[] = { rows[i].N, rows[i].K, rows[i].n }, x = rows[i].x;
        cri_par p = { v, 3 };
        double  got = rows[i].what == MASS
                          ? cri_dist_logpdf(H, p, x)
                          : cri_dist_cdf(H, p, x, CRI_LOG | (rows[i].what == UPPER ? CRI_UPPER : 0));
        double  off = fabs(got - rows[i].wanted) / fabs(rows[i].wanted);
        if (!(off < 1e-13)) print_error("row %zu: %.17g, off by %g\n", i, got, off);
        assert_true(off < (rows[i].what == MASS ? 5e-15 : 1e-13));
    }
    double large[] = { 4e10, 2e10, 2e9 };
    assert_relative(H->entropy((cri_par){ large, 3 }), 11.408351214216630398, 1e-14);
}

/* With half of the items marked the masses are symmetric: P(X <= n/2) = (1 + P(n/2)) / 2.  On both
 * sides of the standard deviation from which the tails are integrals. */
TEST(symmetric)
{
    for (double n = 4; n <= 0x1p51; n *= 4) {
        double  v[] = { 4 * n, 2 * n, n };
        cri_par p = { v, 3 };
        double  half = 0.5 * n, mass = exp(cri_dist_logpdf(H, p, half)), median = 0;
        assert_relative(cri_dist_cdf(H, p, half, CRI_LOWER), 0.5 + 0.5 * mass, 2e-14);
        assert_relative(cri_dist_cdf(H, p, half, CRI_UPPER), 0.5 - 0.5 * mass, 2e-14);
        double off = floor(sqrt(n));
        assert_relative(cri_dist_cdf(H, p, half - off, CRI_LOWER | CRI_LOG),
                        cri_dist_cdf(H, p, half + off - 1, CRI_UPPER | CRI_LOG), 1e-13);
        assert_ok(cx, cr_dist_quantile(cx, H, v, 3, 0.5, &median));
        assert_true(median == half);
    }
}

/* Drawn and marked may change places; with few draws the items seem endless: a binomial. */
TEST(other_faces)
{
    double a[] = { 1e6, 7000, 300 }, b[] = { 1e6, 300, 7000 }, c[] = { 1e15, 3e14, 12 };
    double binomial[] = { 12, 0.3 };
    for (double x = 0; x <= 20; x++) {
        assert_relative(cri_dist_logpdf(H, (cri_par){ a, 3 }, x),
                        cri_dist_logpdf(H, (cri_par){ b, 3 }, x), 1e-13);
        if (x > 12) continue;
        assert_relative(cri_dist_logpdf(H, (cri_par){ c, 3 }, x),
                        cri_dist_logpdf(&cri_dist_binomial, (cri_par){ binomial, 2 }, x), 1e-12);
    }
}

/* --- fit, refusals --------------------------------------------------------------------------- */

/* The best number of marked items is the best of all of them. */
TEST(fit_is_best)
{
    static const double x[] = { 3, 5, 2, 7, 4, 4 }, w[] = { 1, 2, 0.5, 1, 0, 3 };
    double              v[] = { 60, 0, 12 }, ll = 0, best = -INFINITY;
    assert_ok(cx, cr_dist_fit(cx, H, x, w, 6, v, 3, &ll));
    for (double K = 0; K <= 60; K++) {
        double at[] = { 60, K, 12 }, sum = 0;
        for (size_t i = 0; i < 6; i++)
            if (w[i] > 0) sum += w[i] * cri_dist_logpdf(H, (cri_par){ at, 3 }, x[i]);
        best = fmax(best, sum);
        if (K == v[1]) assert_relative(sum, ll, 1e-12);
    }
    assert_relative(ll, best, 1e-13);
    double one = 4, u[] = { 50, 0, 5 }; /* floor(x (N + 1) / n) for one value */
    assert_ok(cx, cr_dist_fit(cx, H, &one, NULL, 1, u, 3, NULL));
    assert_true(u[1] == floor(4 * 51 / 5.0));
}

TEST(refused)
{
    double marked[] = { 10, 11, 3 }, drawn[] = { 10, 3, 11 }, part[] = { 10, 2.5, 3 };
    assert_fails_with(cx, cr_dist_check(cx, H, marked, 3), CR_EARG, "11 are marked");
    assert_fails_with(cx, cr_dist_check(cx, H, drawn, 3), CR_EARG, "11 are drawn");
    assert_fails_with(cx, cr_dist_check(cx, H, part, 3), CR_EARG, "whole");
}

/* Draws where the masses number millions: mean and spread within five standard errors. */
TEST(large_draws)
{
    enum { DRAWS = 20000 };
    static const double sets[][3] = { { 1e12, 4e11, 1e10 }, { 0x1p53, 0x1p51, 0x1p52 } };
    for (size_t k = 0; k < 2; k++) {
        cri_par p = { sets[k], 3 };
        cr_rng  r = cr_rng_stream(8, k);
        double  mean = H->mean(p), sd = sqrt(H->variance(p)), m = 0, s = 0;
        for (size_t i = 0; i < DRAWS; i++) {
            double z = (H->sample(p, &r) - mean) / sd;
            m += z / DRAWS, s += z * z / DRAWS;
        }
        assert_true(fabs(m) < 5 / sqrt(DRAWS));
        assert_true(fabs(s - 1) < 0.06);
    }
}
