/* test_doubledouble.c -- double-double arithmetic against 113-bit __float128 where the compiler has
 * it, and against cases whose answer is exact. */
#include "support.h"
#include "base/rng.h"
#include "math/special/doubledouble.h"

/* A number of random size and sign. */
static double draw(cr_rng *r)
{
    int power = (int)cr_rng_below(r, 81) - 40;
    return ldexp(2 * cr_rng_uniform(r) - 1, power);
}

static void assert_normal_form(cri_dd x) { assert_true(x.hi + x.lo == x.hi); }

/* (1 + 2^-60)(1 - 2^-60), 1/3 * 3, 2^53 + 1, and sums that a double loses. */
TEST(exact_cases)
{
    cri_dd s = cri_two_sum(0x1p53, 1);
    assert_true(s.hi == 0x1p53 && s.lo == 1);
    s = cri_two_sum(1, 0x1p53);
    assert_true(s.hi == 0x1p53 && s.lo == 1);
    s = cri_quick_two_sum(1, -0x1p-80);
    assert_true(s.hi == 1 && s.lo == -0x1p-80);
    cri_dd p = cri_two_prod(1 + 0x1p-40, 1 - 0x1p-40);
    assert_true(p.hi == 1 && p.lo == -0x1p-80);
    cri_dd a = cri_dd_add_double(cri_dd_from(1), 0x1p-60);
    cri_dd b = cri_dd_add_double(cri_dd_from(1), -0x1p-60);
    cri_dd ab = cri_dd_mul(a, b); /* 1 - 2^-120, which rounds to 1 */
    assert_true(ab.hi == 1 && fabs(ab.lo) <= 0x1p-104);
    cri_dd third = cri_dd_div(cri_dd_from(1), cri_dd_from(3));
    cri_dd whole = cri_dd_sub(cri_dd_mul_double(third, 3), cri_dd_from(1));
    assert_true(fabs(cri_dd_to_double(whole)) <= 0x1p-104);
    cri_dd two = cri_dd_sqrt(cri_dd_from(2));
    cri_dd off = cri_dd_sub(cri_dd_mul(two, two), cri_dd_from(2));
    assert_true(fabs(cri_dd_to_double(off)) <= 0x1p-102);
    assert_true(two.hi == sqrt(2)); /* sqrt(2) = 1.41421356237309504880168872420969808 */
    assert_relative(two.lo, -9.6672933134529135e-17, 1e-14);
    assert_true(cri_dd_to_double(cri_dd_sqrt(cri_dd_from(0))) == 0);
    assert_true(cri_dd_to_double(cri_dd_div(cri_dd_from(6), cri_dd_from(-2))) == -3);
}

/* The sum of n numbers `stride` apart; the dot product of two vectors, added to acc. */
static cri_dd sum(const double *x, size_t stride, size_t n)
{
    cri_dd acc = cri_dd_from(0);
    for (size_t i = 0; i < n; i++) acc = cri_dd_accumulate(acc, x[i * stride]);
    return acc;
}

static cri_dd dot(cri_dd acc, const double *x, size_t x_stride, const double *y, size_t y_stride,
                  size_t n)
{
    for (size_t i = 0; i < n; i++)
        acc = cri_dd_accumulate_product(acc, x[i * x_stride], y[i * y_stride]);
    return acc;
}

/* 1e16 + 1 + ... + 1 - 1e16, and a dot product whose terms cancel to the last bit. */
TEST(sums_and_dots)
{
    enum { N = 1002 };
    double x[N], y[N];
    x[0] = 1e17, x[N - 1] = -1e17;
    for (size_t i = 1; i + 1 < N; i++) x[i] = 1;
    assert_true(cri_dd_to_double(sum(x, 1, N)) == N - 2);
    assert_true(cri_dd_to_double(sum(x, 2, N / 2)) == 1e17 + 500);
    assert_true(cri_dd_to_double(sum(x, 1, 0)) == 0);
    for (size_t i = 0; i < N; i++) x[i] = 1 + 0x1p-30 * (double)i, y[i] = i % 2 ? -x[i] : x[i];
    double exact = 0; /* sum of x[2k]^2 - x[2k+1]^2 = -(2^-30)(x[2k] + x[2k+1]) */
    for (size_t i = 0; i < N; i += 2) exact -= 0x1p-30 * (x[i] + x[i + 1]);
    assert_relative(cri_dd_to_double(dot(cri_dd_from(0), x, 1, y, 1, N)), exact, 1e-15);
    double one[] = { 1e13, 1, -1e13 }, other[] = { 1e13, 0.5, 1e13 };
    assert_true(cri_dd_to_double(dot(cri_dd_from(3), one, 1, other, 1, 3)) == 3.5);
    assert_true(cri_dd_to_double(dot(cri_dd_from(1), x, 0, x, 0, 4)) == 5);
}

#ifdef __SIZEOF_FLOAT128__
typedef __float128 wide;
#else
typedef long double wide; /* at the least: the tolerance follows its precision */
#endif

static wide widen(cri_dd x) { return (wide)x.hi + (wide)x.lo; }

static void check_near(cri_dd got, wide expected, const char *what)
{
    wide off = widen(got) - expected, least = (wide)0x1p-102;
    if (sizeof(wide) < 16 || (wide)1 + (wide)0x1p-100 == (wide)1) least = (wide)0x1p-60;
    if (off < 0) off = -off;
    wide size = expected < 0 ? -expected : expected;
    assert_normal_form(got);
    if (off > least * size) fail_msg("%s: off by %g relative", what, (double)(off / size));
}

TEST(against_wide)
{
    cr_rng r = cr_rng_stream(41, 0);
    for (int i = 0; i < 20000; i++) {
        double ah = draw(&r), bh = draw(&r);
        cri_dd a = cri_quick_two_sum(ah, ah * 0x1p-54 * (2 * cr_rng_uniform(&r) - 1));
        cri_dd b = cri_quick_two_sum(bh, bh * 0x1p-54 * (2 * cr_rng_uniform(&r) - 1));
        wide   wa = widen(a), wb = widen(b);
        cri_dd p = cri_two_prod(ah, bh), s = cri_two_sum(ah, bh);
        assert_true(widen(p) == (wide)ah * (wide)bh && widen(s) == (wide)ah + (wide)bh);
        check_near(cri_dd_mul(a, b), wa * wb, "mul");
        check_near(cri_dd_mul_double(a, bh), wa * (wide)bh, "mul double");
        check_near(cri_dd_div(a, b), wa / wb, "div");
        check_near(cri_dd_add(a, b), wa + wb, "add");
        check_near(cri_dd_sub(a, b), wa - wb, "sub");
        check_near(cri_dd_add_double(a, bh), wa + (wide)bh, "add double");
        cri_dd size = ah < 0 ? cri_dd_neg(a) : a, root = cri_dd_sqrt(size);
        check_near(cri_dd_mul(root, root), widen(size), "sqrt");
    }
}
