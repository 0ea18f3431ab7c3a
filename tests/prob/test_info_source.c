/* test_info_source.c -- typical sets and essential content against the enumeration of all strings.
 */
#include "base/rng.h"
#include "math/special/special.h"
#include "prob/info.h"
#include "prob/info_source.h"
#include "support.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Every string of `length` letters, one after the other; the least probable go first. */
static cr_source enumerate(const double *p, size_t k, size_t length, double beta, double delta)
{
    size_t    strings = 1, typical = 0, gone = 0;
    cr_source s = { .entropy = cr_info_entropy(p, k) };
    for (size_t i = 0; i < length; i++) strings *= k;
    double *P = malloc(strings * sizeof *P), mass = 0;
    for (size_t x = 0; x < strings; x++) {
        double log_p = 0;
        for (size_t i = 0, rest = x; i < length; i++, rest /= k) log_p += log(p[rest % k]);
        P[x] = exp(log_p);
        if (fabs(-log_p / (double)length - s.entropy) < beta) typical++, s.p_typical += P[x];
    }
    qsort(P, strings, sizeof *P, ascending);
    while (gone < strings && mass + P[gone] <= delta * (1 + 1e-12)) mass += P[gone++];
    s.log_typical = log((double)typical);
    s.essential = log((double)(strings - gone));
    free(P);
    return s;
}

static void check(cr_ctx *cx, const double *p, size_t k, size_t length, double beta, double delta)
{
    cr_source want = enumerate(p, k, length, beta, delta), got;
    assert_ok(cx, cr_source_describe(cx, p, k, length, beta, delta, &got));
    assert_close(got.entropy, want.entropy, 1e-14);
    assert_close(got.p_typical, want.p_typical, 1e-12);
    if (isinf(want.log_typical))
        assert_true(got.log_typical == -INFINITY);
    else
        assert_close(got.log_typical, want.log_typical, 1e-12);
    assert_close(got.essential, want.essential, 1e-12);
}

TEST(binary)
{
    static const double ps[] = { 0.1, 0.25, 0.5, 0.37 }, deltas[] = { 0, 0.01, 0.2, 0.5, 0.9 };
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 5; b++)
            for (size_t N = 1; N <= 16; N += N < 5 ? 1 : 3)
                check(cx, (const double[]){ ps[a], 1 - ps[a] }, 2, N, 0.0517 * (double)(b + 1),
                      deltas[b]);
}

TEST(several_letters)
{
    const double three[] = { 0.2, 0.5, 0.3 }, four[] = { 0.1, 0.1, 0.4, 0.4 };
    const double halves[] = { 0.5, 0.25, 0.125, 0.125 }; /* types of equal probability */
    for (size_t N = 1; N <= 7; N++) {
        check(cx, three, 3, N, 0.13, 0.07);
        check(cx, four, 4, N, 0.21, 0.3);
        check(cx, halves, 4, N, 0.21, 0.11);
    }
}

/* MacKay (2003), fig. 4.12 and sec. 4.4: for p = 0.1, H_delta / N goes to H = 0.469 bits. */
TEST(long_strings)
{
    const double p[] = { 0.1, 0.9 }, alike[] = { 0.25, 0.25, 0.25, 0.25 };
    cr_source    s;
    double       before = INFINITY;
    for (size_t N = 100; N <= 1000000; N *= 10) {
        assert_ok(cx, cr_source_describe(cx, p, 2, N, 0.1, 0.01, &s));
        double gap = fabs(s.essential / (double)N - s.entropy);
        assert_true(gap < before);
        before = gap;
        /* N (H - beta) + log P(T) < log |T| < N (H + beta) */
        assert_true(s.log_typical < (double)N * (s.entropy + 0.1));
        assert_true(s.log_typical > (double)N * (s.entropy - 0.1) + log(s.p_typical));
    }
    assert_relative(s.entropy / M_LN2, 0.4689955935892812, 1e-12);
    assert_true(before < 0.002 && s.p_typical > 0.999999);
    assert_ok(cx, cr_source_describe(cx, alike, 4, (size_t)1 << 40, 0.1, 0.5, &s));
    assert_true(s.types == 1 && s.p_typical == 1);
    assert_relative(s.log_typical, 0x1p40 * log(4), 1e-15);
}

/* P(T) of a binary source is a sum of binomial probabilities: beyond what can be enumerated. */
TEST(against_the_binomial)
{
    const double p[] = { 0.1, 0.9, 0 };
    cr_source    s;
    double       sum = 0;
    assert_ok(cx, cr_source_describe(cx, p, 3, 1000, 0.1 * M_LN2, 0, &s));
    for (double r = 0; r <= 1000; r++)
        if (fabs(-(r * log(0.1) + (1000 - r) * log(0.9)) / 1000 - s.entropy) < 0.1 * M_LN2)
            sum += exp(cr_lchoose(1000, r) + r * log(0.1) + (1000 - r) * log(0.9));
    assert_close(s.p_typical, sum, 1e-11);
    assert_relative(s.essential, 1000 * M_LN2, 1e-12); /* delta = 0: all strings that can come */
    assert_relative(s.raw, M_LN2, 1e-15);
}

TEST(refusals)
{
    const double good[] = { 0.5, 0.5 }, bad[] = { 0.5, 0.4 }, below[] = { 1.5, -0.5 };
    const double six[] = { 0.05, 0.1, 0.15, 0.2, 0.22, 0.28 };
    cr_source    s = { .entropy = 7 };
    assert_fails_with(cx, cr_source_describe(cx, bad, 2, 9, 0.1, 0, &s), CR_EARG, "sum to 0.9");
    assert_fails_with(cx, cr_source_describe(cx, below, 2, 9, 0.1, 0, &s), CR_EARG, "-0.5");
    assert_fails(cx, cr_source_describe(cx, good, 0, 9, 0.1, 0, &s), CR_EARG);
    assert_fails(cx, cr_source_describe(cx, good, 2, 0, 0.1, 0, &s), CR_EARG);
    assert_fails(cx, cr_source_describe(cx, good, 2, 9, 0, 0, &s), CR_EARG);
    assert_fails(cx, cr_source_describe(cx, good, 2, 9, 0.1, 1, &s), CR_EARG);
    assert_fails(cx, cr_source_describe(cx, good, 2, 9, 0.1, NAN, &s), CR_EARG);
    assert_fails_with(cx, cr_source_describe(cx, six, 6, 1000, 0.1, 0, &s), CR_EARG, "types");
    assert_true(s.entropy == 7);
}

static cr_status describe(cr_ctx *cx, void *arg)
{
    cr_source s;
    return cr_source_describe(cx, arg, 2, 20, 0.1, 0.1, &s);
}

TEST(allocations)
{
    double p[] = { 0.1, 0.9 };
    test_every_allocation_fails(describe, p);
}
