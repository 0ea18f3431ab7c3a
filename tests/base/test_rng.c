/* test_rng.c -- Philox against its published vectors; every distribution against its law.
 * Seeds are fixed, so nothing here is left to chance; the critical values belong to p = 1e-6. */
#include "support.h"
#include "base/rng.h"

enum { N = 200000, COUNTS = 50000 };

/* --- bits ------------------------------------------------------------------------------------ */

/* kat_vectors of Random123 1.14 (Salmon et al.), philox4x32, 10 rounds: counter, key, result. */
TEST(known_answers)
{
    static const uint32_t vectors[3][10] = {
        { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
        { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
          0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
          0x94fdcceb, 0x5001e420, 0x24126ea1 },
    };
    for (size_t v = 0; v < 3; v++) {
        const uint32_t *x = vectors[v];
        cr_rng          r = cr_rng_stream(x[4] | (uint64_t)x[5] << 32, x[2] | (uint64_t)x[3] << 32);
        memcpy(r.counter, x, 2 * sizeof *x); /* start at this block */
        for (size_t i = 0; i < 4; i++) assert_int_equal(cr_rng_u32(&r), x[6 + i]);
    }
}

TEST(block_counter_carries)
{
    cr_rng r = cr_rng_stream(1, 7);
    r.counter[0] = UINT32_MAX;
    for (int i = 0; i < 4; i++) cr_rng_u32(&r);
    assert_int_equal(r.counter[0], 0);
    assert_int_equal(r.counter[1], 1);
    assert_int_equal(r.counter[2], 7); /* the stream stays its own */
    cr_rng next = cr_rng_stream(1, 7);
    next.counter[1] = 1;
    for (int i = 0; i < 4; i++) assert_int_equal(cr_rng_u32(&r), cr_rng_u32(&next));
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* 64 streams of 1024 numbers of 64 bits: a repeat by chance has probability 1e-10. */
TEST(streams_do_not_meet)
{
    enum { STREAMS = 64, LENGTH = 1024 };
    static uint64_t all[STREAMS * LENGTH];
    for (uint64_t s = 0; s < STREAMS; s++) {
        cr_rng r = cr_rng_stream(s / 8, s % 4 + (s / 4 % 2 << 32));
        for (size_t i = 0; i < LENGTH; i++) all[s * LENGTH + i] = cr_rng_u64(&r);
    }
    qsort(all, STREAMS * LENGTH, sizeof *all, compare_u64);
    for (size_t i = 1; i < STREAMS * LENGTH; i++) assert_true(all[i] != all[i - 1]);
    cr_rng a = cr_rng_stream(3, 4), b = cr_rng_stream(3, 4);
    for (int i = 0; i < 9; i++) assert_true(cr_rng_normal(&a) == cr_rng_normal(&b));
}

/* --- continuous laws: Kolmogorov-Smirnov ----------------------------------------------------- */

static double sample[N];

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* sqrt(N) sup |F_N - F| < 2.69, which has p = 1e-6 (2 exp(-2 x^2)); looks at every eighth point. */
static void check_law(double (*cdf)(double x, const double *par), const double *par,
                      const char *what)
{
    double worst = 0;
    qsort(sample, N, sizeof *sample, compare_double);
    for (size_t i = 0; i < N; i += 8) {
        double f = cdf(sample[i], par);
        worst = fmax(worst, fmax((double)(i + 1) / N - f, f - (double)i / N));
    }
    if (sqrt((double)N) * worst > 2.69) fail_msg("%s: KS is %g", what, sqrt((double)N) * worst);
}

static double uniform_cdf(double x, const double *par) { return (void)par, x; }
static double normal_cdf(double x, const double *par)
{
    return (void)par, 0.5 * erfc(-x * M_SQRT1_2);
}
static double exponential_cdf(double x, const double *par) { return (void)par, -expm1(-x); }

TEST(uniform)
{
    cr_rng r = cr_rng_stream(11, 0);
    for (size_t i = 0; i < N; i++) {
        sample[i] = cr_rng_uniform(&r);
        assert_true(sample[i] > 0 && sample[i] < 1);
    }
    check_law(uniform_cdf, NULL, "uniform");
    for (unsigned used = 0; used < 4; used += 2) { /* all bits set gives less than 1 */
        cr_rng full = { .block = { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX }, .used = used };
        assert_true(cr_rng_uniform(&full) == 1 - 0x1p-53);
    }
    cr_rng zero = { .used = 0 };
    assert_true(cr_rng_uniform(&zero) > 0);
}

TEST(normal_and_exponential)
{
    cr_rng r = cr_rng_stream(12, 0);
    double sum[5] = { 0 };
    for (size_t i = 0; i < N; i++) {
        double x = sample[i] = cr_rng_normal(&r);
        for (int k = 1; k <= 4; k++) sum[k] += pow(x, k) / N;
    }
    check_law(normal_cdf, NULL, "normal");
    assert_close(sum[1], 0, 5 * sqrt(1.0 / N));
    assert_close(sum[2], 1, 5 * sqrt(2.0 / N));
    assert_close(sum[3], 0, 5 * sqrt(15.0 / N));
    assert_close(sum[4] - 3, 0, 5 * sqrt(96.0 / N));
    for (size_t i = 0; i < N; i++) sample[i] = cr_rng_exponential(&r);
    check_law(exponential_cdf, NULL, "exponential");
    cr_rng zero = { .used = 0 }, ones = { .block = { ~0u, ~0u, ~0u, ~0u }, .used = 0 };
    assert_close(cr_rng_exponential(&zero), 65 * log(2), 1e-15);
    assert_relative(cr_rng_exponential(&ones), 0x1p-65, 1e-15);
}

/* Neighbouring normals, the pair of one Box-Muller draw included, are uncorrelated. */
TEST(normal_pairs)
{
    cr_rng r = cr_rng_stream(13, 0);
    double before = 0, lag = 0, squares = 0;
    for (size_t i = 0; i < COUNTS; i++) {
        double x = cr_rng_normal(&r);
        lag += x * before / COUNTS;
        squares += (x * x - 1) * (before * before - 1) / COUNTS;
        before = x;
    }
    assert_close(lag, 0, 5 / sqrt(COUNTS));
    assert_close(squares, 0, 2 * 5 / sqrt(COUNTS));
}

/* P(a, x) by its series, long double, scaled; for the moderate arguments of these tests. */
static double gamma_cdf(double x, const double *a)
{
    if (x <= 0) return 0;
    int         sign;
    long double term = 1, sum = 1;
    for (int k = 1; k < 100000 && term > 1e-20L * sum; k++) sum += term *= x / (*a + k);
    long double p = sum * expl(*a * logl(x) - x - lgammal_r(*a + 1, &sign));
    return p < 1 ? (double)p : 1;
}

static double log_gamma_cdf(double log_x, const double *a)
{
    int sign; /* for small shapes P(a, x) = x^a / Gamma(a + 1), as long as x is small */
    if (log_x < -30) return exp(*a * log_x - lgamma_r(*a + 1, &sign));
    return gamma_cdf(exp(log_x), a);
}

TEST(gamma)
{
    static const double shapes[] = { 0.05, 1.5, 50 };
    for (size_t s = 0; s < 3; s++) {
        cr_rng r = cr_rng_stream(14, s);
        for (size_t i = 0; i < N; i++) sample[i] = cr_rng_gamma(&r, shapes[s]);
        check_law(gamma_cdf, &shapes[s], "gamma");
    }
    static const double small[] = { 1e-8, 0.4, 3 };
    for (size_t s = 0; s < 3; s++) {
        cr_rng r = cr_rng_stream(15, s);
        for (size_t i = 0; i < N; i++) {
            sample[i] = cr_rng_log_gamma(&r, small[s]);
            assert_true(isfinite(sample[i]));
        }
        check_law(log_gamma_cdf, &small[s], "log gamma");
    }
    cr_rng r = cr_rng_stream(16, 0);
    double sum = 0, squares = 0; /* a shape of 1e12 is normal, sd 1e6 */
    for (size_t i = 0; i < COUNTS; i++) {
        double z = (cr_rng_gamma(&r, 1e12) - 1e12) / 1e6;
        sum += z / COUNTS, squares += z * z / COUNTS;
    }
    assert_close(sum, 0, 5 / sqrt(COUNTS));
    assert_close(squares, 1, 5 * sqrt(2.0 / COUNTS));
    assert_true(isnan(cr_rng_gamma(&r, -1)) && isnan(cr_rng_gamma(&r, NAN)));
    assert_true(cr_rng_gamma(&r, 0) == 0);
}

/* Beta laws with closed forms: (a, 1): x^a; (1, b): 1 - (1 - x)^b; (1/2, 1/2): arcsine;
 * (2, 3): polynomial. */
static double beta_cdf(double x, const double *ab)
{
    if (ab[1] == 1) return pow(x, ab[0]);
    if (ab[0] == 1) return -expm1(ab[1] * log1p(-x));
    if (ab[0] == 2) return x * x * (6 - 8 * x + 3 * x * x);
    return 2 / M_PI * asin(sqrt(x));
}

TEST(beta)
{
    static const double ab[][2] = { { 0.3, 1 }, { 1, 40 }, { 0.5, 0.5 }, { 2, 3 } };
    for (size_t s = 0; s < 4; s++) {
        cr_rng r = cr_rng_stream(17, s);
        for (size_t i = 0; i < N; i++) sample[i] = cr_rng_beta(&r, ab[s][0], ab[s][1]);
        check_law(beta_cdf, ab[s], "beta");
    }
    static const double tiny[] = { 1e-6, 1e-310 }; /* almost a coin with P(1) = 3/4 */
    for (size_t s = 0; s < 2; s++) {
        cr_rng r = cr_rng_stream(18, s);
        double mean = 0;
        for (size_t i = 0; i < COUNTS; i++) {
            double x = cr_rng_beta(&r, 3 * tiny[s], tiny[s]);
            assert_true(x >= 0 && x <= 1);
            mean += x / COUNTS;
        }
        assert_close(mean, 0.75, 5 * sqrt(0.1875 / COUNTS));
    }
}

/* --- discrete laws: chi-square --------------------------------------------------------------- */

/* Pearson's statistic of counts against expected; cells under 20 are put together.  Critical value
 * for p = 1e-6 by Wilson & Hilferty's cube, z = 4.753. */
static void check_counts(const double *counts, const double *expected, size_t n, const char *what)
{
    double chi2 = 0, cells = 0, held_count = 0, held = 0;
    for (size_t i = 0; i < n; i++) {
        held_count += counts[i], held += expected[i];
        if (held < 20 && i + 1 < n) continue;
        if (held > 0)
            chi2 += (held_count - held) * (held_count - held) / held, cells++;
        else
            assert_true(held_count == 0);
        held_count = held = 0;
    }
    double d = fmax(cells - 1, 1), root = 1 - 2 / (9 * d) + 4.753 * sqrt(2 / (9 * d));
    double most = 1.1 * d * root * root * root;
    if (chi2 > most) fail_msg("%s: chi-square is %g, at most %g expected", what, chi2, most);
}

TEST(below)
{
    static const uint64_t sizes[] = { 1, 2, 3, 7, 1000 };
    for (size_t s = 0; s < 5; s++) {
        static double counts[1000], expected[1000];
        cr_rng        r = cr_rng_stream(19, s);
        size_t        n = (size_t)sizes[s];
        for (size_t i = 0; i < n; i++) counts[i] = 0, expected[i] = (double)COUNTS / (double)n;
        for (size_t i = 0; i < COUNTS; i++) {
            uint64_t k = cr_rng_below(&r, n);
            assert_true(k < n);
            counts[k]++;
        }
        check_counts(counts, expected, n, "below");
    }
    /* 3 * 2^30 of 2^32, and 3 * 2^62 of 2^64: plain shifting or remainders would favour a third */
    static const uint64_t wide[] = { UINT64_C(3) << 30, UINT64_C(3) << 62, UINT64_C(1) << 32 };
    for (size_t s = 0; s < 3; s++) {
        cr_rng r = cr_rng_stream(20, s);
        double counts[3] = { 0 }, odd = 0;
        for (size_t i = 0; i < COUNTS; i++) {
            uint64_t k = cr_rng_below(&r, wide[s]);
            assert_true(k < wide[s]);
            counts[k / (wide[s] / 3 + 1)]++;
            odd += (double)(k % 3 == 1);
        }
        double third[3] = { COUNTS / 3.0, COUNTS / 3.0, COUNTS / 3.0 };
        check_counts(counts, third, 3, "wide below");
        assert_close(odd / COUNTS, 1.0 / 3, 5 * sqrt(2.0 / 9 / COUNTS));
    }
}

TEST(categorical)
{
    double weight[] = { 0, 3, 1e-300, 0, 1, 6, 0 }, counts[7] = { 0 }, expected[7];
    cr_rng r = cr_rng_stream(21, 0);
    for (size_t i = 0; i < COUNTS; i++) counts[cr_rng_categorical(&r, weight, 7)]++;
    for (size_t i = 0; i < 7; i++) expected[i] = COUNTS * weight[i] / 10;
    assert_true(counts[0] + counts[2] + counts[3] + counts[6] == 0);
    check_counts(counts, expected, 7, "categorical");
    double huge[] = { 1.5e308, 0, 1.5e308 }, tiny[] = { 5e-324, 0, 5e-324 }, one[] = { 0, 2, 0 };
    double first_huge = 0, first_tiny = 0;
    for (size_t i = 0; i < 20000; i++) {
        size_t h = cr_rng_categorical(&r, huge, 3), t = cr_rng_categorical(&r, tiny, 3);
        assert_true(h != 1 && t != 1 && cr_rng_categorical(&r, one, 3) == 1);
        first_huge += (double)(h == 0) / 20000, first_tiny += (double)(t == 0) / 20000;
    }
    assert_close(first_huge, 0.5, 5 * sqrt(0.25 / 20000));
    assert_close(first_tiny, 0.5, 5 * sqrt(0.25 / 20000));
}

static double binomial_pmf(double k, double n, double p)
{
    int sign;
    return (double)expl(lgammal_r(n + 1, &sign) - lgammal_r(k + 1, &sign) -
                        lgammal_r(n - k + 1, &sign) + k * logl(p) + (n - k) * log1pl(-p));
}

static void check_binomial(uint64_t n, double p, size_t stream)
{
    static double counts[4000], expected[4000];
    double        sd = sqrt((double)n * p * (1 - p));
    double        low = fmax(0, floor((double)n * p - 8 * sd - 12));
    size_t        cells = (size_t)fmin((double)n - low + 1, ceil(16 * sd + 24));
    assert_true(cells <= 4000);
    cr_rng r = cr_rng_stream(22, stream);
    for (size_t i = 0; i < cells; i++)
        counts[i] = 0, expected[i] = COUNTS * binomial_pmf(low + (double)i, (double)n, p);
    for (size_t i = 0; i < COUNTS; i++) {
        double k = (double)cr_rng_binomial(&r, n, p) - low;
        assert_true(k >= 0 && k < (double)cells);
        counts[(size_t)k]++;
    }
    check_counts(counts, expected, cells, "binomial");
}

TEST(binomial)
{
    check_binomial(1, 0.3, 0);
    check_binomial(10, 0.5, 1);
    check_binomial(19, 0.9, 2);
    check_binomial(40, 0.25, 3); /* mean 10: the first for rejection */
    check_binomial(1000, 0.013, 4);
    check_binomial(1000, 0.5, 5);
    check_binomial(10000, 0.93, 6);
    check_binomial(1000000000, 3e-9, 7);
    check_binomial(1000000000, 1e-5, 8); /* halved by betas first */
    check_binomial(1000000000, 1 - 2e-6, 9);
    cr_rng r = cr_rng_stream(23, 0);
    assert_int_equal(cr_rng_binomial(&r, 0, 0.5), 0);
    assert_int_equal(cr_rng_binomial(&r, UINT64_MAX, 0), 0);
    assert_int_equal(cr_rng_binomial(&r, UINT64_MAX, 1), UINT64_MAX);
    assert_int_equal(cr_rng_binomial(&r, 5, NAN), 0);
    assert_int_equal(cr_rng_binomial(&r, UINT64_MAX, 1e-40), 0);
}

/* Mean and variance of n p = huge: the normal law by Kolmogorov-Smirnov. */
TEST(binomial_of_many)
{
    static const struct {
        uint64_t n;
        double   p;
    } cases[] = {
        { 1000000000, 0.5 },
        { 1000000000, 0.37 },
        { UINT64_C(1) << 62, 0.25 },
        { UINT64_MAX, 0.999 },
    };
    enum { FEW = 5000 };
    for (size_t s = 0; s < 4; s++) {
        double n = (double)cases[s].n, p = cases[s].p, sd = sqrt(n * p * (1 - p)), worst = 0;
        cr_rng r = cr_rng_stream(24, s);
        for (size_t i = 0; i < FEW; i++)
            sample[i] = ((double)cr_rng_binomial(&r, cases[s].n, p) - n * p) / sd;
        qsort(sample, FEW, sizeof *sample, compare_double);
        for (size_t i = 0; i < FEW; i++)
            worst = fmax(worst, fabs(((double)i + 0.5) / FEW - normal_cdf(sample[i], NULL)));
        if (sqrt(FEW) * worst > 2.69) fail_msg("binomial of many: KS is %g", sqrt(FEW) * worst);
    }
}

/* Each count is binomial; counts add up; zero weights stay empty; tiny weights keep their ratio. */
TEST(multinomial)
{
    enum { TRIALS = 20 };
    const double  weight[] = { 0, 2, 5, 0, 1, 2, 0 };
    static double counts[7][TRIALS + 1];
    double        expected[TRIALS + 1];
    uint64_t      out[7];
    memset(counts, 0, sizeof counts);
    cr_rng r = cr_rng_stream(25, 0);
    for (size_t i = 0; i < COUNTS; i++) {
        uint64_t sum = 0;
        cr_rng_multinomial(&r, TRIALS, weight, 7, out);
        for (size_t j = 0; j < 7; j++) sum += out[j], counts[j][out[j]]++;
        assert_int_equal(sum, TRIALS);
    }
    for (size_t j = 0; j < 7; j++) {
        for (int k = 0; k <= TRIALS; k++)
            expected[k] =
                COUNTS * (weight[j] > 0 ? binomial_pmf(k, TRIALS, weight[j] / 10) : k == 0);
        check_counts(counts[j], expected, TRIALS + 1, "multinomial");
    }
    const double spread[] = { 1e20, 1, 3, 0 };
    double       second = 0, third = 0;
    for (size_t i = 0; i < 1000; i++) {
        cr_rng_multinomial(&r, UINT64_MAX, spread, 4, out);
        second += (double)out[1], third += (double)out[2];
        assert_int_equal(out[3], 0);
    }
    assert_close((second + third) / 1000 * 1e20 / 0x1p64, 4, 0.2);
    assert_close(second / (second + third), 0.25, 0.1);
    cr_rng_multinomial(&r, 9, weight, 0, out);
}

/* --- orders ---------------------------------------------------------------------------------- */

TEST(permutation)
{
    double counts[24] = { 0 }, expected[24], place[7] = { 0 };
    cr_rng r = cr_rng_stream(26, 0);
    size_t p[7];
    for (size_t i = 0; i < 24; i++) expected[i] = COUNTS / 24.0;
    for (size_t i = 0; i < COUNTS; i++) {
        cr_rng_permutation(&r, 4, p); /* the number of the order in Lehmer's code */
        size_t code = 0;
        for (size_t a = 0; a < 4; a++) {
            size_t smaller = 0;
            for (size_t b = a + 1; b < 4; b++) smaller += p[b] < p[a];
            code = code * (4 - a) + smaller;
        }
        counts[code]++;
        cr_rng_permutation(&r, 7, p);
        for (size_t a = 0; a < 7; a++) place[a] += (double)p[a] / COUNTS;
    }
    check_counts(counts, expected, 24, "permutation");
    for (size_t a = 0; a < 7; a++) assert_close(place[a] - 3, 0, 5 * sqrt(4.0 / COUNTS));
    cr_rng_permutation(&r, 0, p);
    cr_rng_permutation(&r, 1, p);
    assert_int_equal(p[0], 0);
}

/* All ordered choices of k out of n are equally likely; both methods. */
static void check_choose(size_t n, size_t k, size_t stream)
{
    static double counts[1000], expected[1000];
    size_t        cells = 1, valid = 0, out[8];
    cr_rng        r = cr_rng_stream(27, stream);
    for (size_t i = 0; i < k; i++) cells *= n;
    assert_true(cells <= 1000);
    for (size_t c = 0; c < cells; c++) {
        bool   seen[16] = { false }, distinct = true;
        size_t rest = c;
        for (size_t i = 0; i < k; i++, rest /= n)
            distinct &= !seen[rest % n], seen[rest % n] = true;
        counts[c] = 0, expected[c] = distinct, valid += distinct;
    }
    for (size_t c = 0; c < cells; c++) expected[c] *= (double)COUNTS / (double)valid;
    for (size_t i = 0; i < COUNTS; i++) {
        size_t code = 0;
        cr_rng_choose(&r, n, k, out);
        for (size_t j = 0; j < k; j++) code = code * n + out[j];
        assert_true(expected[code] > 0);
        counts[code]++;
    }
    check_counts(counts, expected, cells, "choose");
}

TEST(choose)
{
    check_choose(9, 3, 0); /* Floyd */
    check_choose(5, 2, 1); /* Floyd */
    check_choose(5, 3, 2); /* selection */
    check_choose(4, 4, 3); /* selection, everything */
    check_choose(1, 1, 4);
    cr_rng        r = cr_rng_stream(28, 0);
    static size_t big[1000];
    cr_rng_choose(&r, 10, 0, big);
    cr_rng_choose(&r, (size_t)1 << 40, 1000, big);
    for (size_t i = 0; i < 1000; i++)
        for (size_t j = 0; j < i; j++) assert_true(big[i] != big[j] && big[i] < (size_t)1 << 40);
}
