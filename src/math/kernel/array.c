/* array.c -- the inner loops over contiguous numbers: exp, log, squared distances, products.
 * Each is written once and compiled twice, for every x86-64 and for AVX2; a choice at run time.
 * There is no fused multiplication in either, so both give the same bits.
 *
 * exp: x = k log 2 + r, |r| <= log(2)/2, with log 2 in two parts (Cody & Waite 1980); exp r by its
 * Taylor polynomial of degree 13, whose remainder is below 2^-58; then times 2^k in two steps, so
 * that results below 2^-1022 come out right as well.
 *
 * log(1 + x), 0 <= x <= 1: = log 2 + log(1 + u), u = (x - 1) / 2, where x is above sqrt(2) - 1, so
 * that -0.3 < u < 0.42; then 2 artanh s, s = u / (2 + u), by its series, s^2 < 0.0295, up to s^23:
 * the remainder is below 2^-62 of the sum. */
#include "base/inner_loop.h"
#include "kernel_internal.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_AVX2 1
#define AVX2 CRI_INNER_LOOP __attribute__((target("avx2")))
#else
#define HAS_AVX2 0
#define AVX2 CRI_INNER_LOOP
#endif
#define BODY CRI_INNER_LOOP static inline __attribute__((always_inline))

static bool use_avx2(void)
{
#if HAS_AVX2
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

/* 2^k for a whole number -1022 <= k <= 1023: 2^52 + k + 1023 has k + 1023 in its last bits. */
BODY double power_of_two(double k)
{
    double   sum = k + (0x1p52 + 1023), out;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    bits <<= 52;
    memcpy(&out, &bits, sizeof out);
    return out;
}

BODY double exp_one(double x) /* -746 <= x <= 710, or NaN */
{
    const double shift = 0x1.8p52, log2e = 0x1.71547652b82fep0, high = 0x1.62e42fefa3800p-1,
                 low = 0x1.ef35793c76730p-45;
    double k = (x * log2e + shift) - shift, r = (x - k * high) - k * low;
    double r2 = r * r, r4 = r2 * r2;
    double p = ((1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120))) +
               r4 * ((1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880))) +
               (r4 * r4) * ((1.0 / 3628800 + r * (1.0 / 39916800)) +
                            r2 * (1.0 / 479001600 + r * (1.0 / 6227020800)));
    double e = 1 + (r + r2 * p), half = (k * 0.5 + shift) - shift;
    return e * power_of_two(half) * power_of_two(k - half);
}

BODY void exp_body(double *x, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) x[i] = -746 > x[i] ? -746 : x[i]; /* below, it is 0 anyway */
#pragma omp simd
    for (size_t i = 0; i < n; i++) x[i] = 710 < x[i] ? 710 : x[i];
#pragma omp simd
    for (size_t i = 0; i < n; i++) x[i] = exp_one(x[i]);
}

BODY double log1p_one(double x)
{
    const double log2 = 0x1.62e42fefa39efp-1;
    bool         above = x > 0x1.a827999fcef32p-2;
    double u = above ? (x - 1) * 0.5 : x, s = u / (2 + u), t = s * s, t2 = t * t, t4 = t2 * t2;
    double p = ((1.0 / 3 + t * (1.0 / 5)) + t2 * (1.0 / 7 + t * (1.0 / 9))) +
               t4 * ((1.0 / 11 + t * (1.0 / 13)) + t2 * (1.0 / 15 + t * (1.0 / 17))) +
               (t4 * t4) * ((1.0 / 19 + t * (1.0 / 21)) + t2 * (1.0 / 23));
    return (above ? log2 : 0) + 2 * (s + s * (t * p));
}

BODY void log1p_body(double *x, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) x[i] = log1p_one(x[i]);
}

BODY void distances_body(const double *x, const double *Z, size_t stride, size_t width, size_t n,
                         double *restrict out)
{
    for (size_t j = 0; j < n; j++) out[j] = 0;
    for (size_t f = 0; f < width; f++) {
        const double  at = x[f];
        const double *z = Z + f * stride;
        for (size_t j = 0; j < n; j++) {
            double d = at - z[j];
            out[j] += d * d;
        }
    }
}

BODY double dot_body(const double *a, const double *b, size_t n)
{
    double s[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t l = 0; l < 8; l++) s[l] += a[i + l] * b[i + l];
    double rest = 0;
    for (; i < n; i++) rest += a[i] * b[i];
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7])) + rest;
}

BODY void multiply_body(const double *a, const double *b, size_t n, double *out)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) out[i] = a[i] * b[i];
}

BODY void squares_body(double *z, double shift, size_t n, double *out)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) z[i] -= shift, out[i] += z[i] * z[i];
}

typedef double  four __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t four_whole __attribute__((vector_size(32)));
#define PICK(which, a, b) (((which) & (four_whole)(a)) | (~(which) & (four_whole)(b)))

/* Eight at a time, of each place the least, where that was, and the next: without a branch. */
BODY size_t least_two_body(const double *v, size_t n, double *out_least, double *out_next)
{
    const four none = { INFINITY, INFINITY, INFINITY, INFINITY };
    four       a = none, b = none, next_a = none, next_b = none, higher, next;
    four_whole now = { 0, 1, 2, 3 }, at_a = { 0 }, at_b = { 0 }, lower;
    size_t     i = 0, first;
    double     least, second;
    for (; i + 8 <= n; i += 8, now += 8) {
        four x = *(const four *)(v + i), y = *(const four *)(v + i + 4);
        lower = x < a, higher = (four)PICK(lower, a, x);
        next_a = (four)PICK(higher < next_a, higher, next_a);
        a = (four)PICK(lower, x, a), at_a = PICK(lower, now, at_a);
        lower = y < b, higher = (four)PICK(lower, b, y);
        next_b = (four)PICK(higher < next_b, higher, next_b);
        b = (four)PICK(lower, y, b), at_b = PICK(lower, now + 4, at_b);
    }
    lower = (b < a) | ((b == a) & (at_b < at_a)), higher = (four)PICK(lower, a, b);
    next = (four)PICK(next_a < next_b, next_a, next_b);
    next = (four)PICK(higher < next, higher, next);
    a = (four)PICK(lower, b, a), at_a = PICK(lower, at_b, at_a);
    least = a[0], second = next[0], first = (size_t)at_a[0];
    for (size_t l = 1; l < 4; l++) {
        double x = a[l], more = x < least ? least : x, both = next[l] < second ? next[l] : second;
        size_t place = (size_t)at_a[l];
        first = (x < least) | ((x == least) & (place < first)) ? place : first;
        least = x < least ? x : least, second = more < both ? more : both;
    }
    for (; i < n; i++) {
        double more = v[i] < least ? least : v[i];
        first = v[i] < least ? i : first;
        least = v[i] < least ? v[i] : least, second = more < second ? more : second;
    }
    *out_least = least, *out_next = second;
    return first;
}

AVX2 static void           exp_avx2(double *x, size_t n) { exp_body(x, n); }
CRI_INNER_LOOP static void exp_plain(double *x, size_t n) { exp_body(x, n); }
void                       cri_exp_array(double *x, size_t n)
{
    cri_check_array(x, n);
    (use_avx2() ? exp_avx2 : exp_plain)(x, n);
}

AVX2 static void           log1p_avx2(double *x, size_t n) { log1p_body(x, n); }
CRI_INNER_LOOP static void log1p_plain(double *x, size_t n) { log1p_body(x, n); }
void                       cri_log1p_array(double *x, size_t n)
{
    cri_check_array(x, n);
    (use_avx2() ? log1p_avx2 : log1p_plain)(x, n);
}

AVX2 static void distances_avx2(const double *x, const double *Z, size_t stride, size_t width,
                                size_t n, double *out)
{
    distances_body(x, Z, stride, width, n, out);
}
CRI_INNER_LOOP static void distances_plain(const double *x, const double *Z, size_t stride,
                                           size_t width, size_t n, double *out)
{
    distances_body(x, Z, stride, width, n, out);
}
void cri_distances(const double *x, const double *Z, size_t stride, size_t width, size_t n,
                   double *out)
{
    cri_check_array(x, width);
    for (size_t f = 0; f < width; f++) cri_check_array(Z + f * stride, n);
    cri_check_array(out, n);
    (use_avx2() ? distances_avx2 : distances_plain)(x, Z, stride, width, n, out);
}

AVX2 static double dot_avx2(const double *a, const double *b, size_t n)
{
    return dot_body(a, b, n);
}
CRI_INNER_LOOP static double dot_plain(const double *a, const double *b, size_t n)
{
    return dot_body(a, b, n);
}
double cri_dot_array(const double *a, const double *b, size_t n)
{
    cri_check_array(a, n);
    cri_check_array(b, n);
    return (use_avx2() ? dot_avx2 : dot_plain)(a, b, n);
}

AVX2 static void multiply_avx2(const double *a, const double *b, size_t n, double *out)
{
    multiply_body(a, b, n, out);
}
CRI_INNER_LOOP static void multiply_plain(const double *a, const double *b, size_t n, double *out)
{
    multiply_body(a, b, n, out);
}
void cri_multiply_array(const double *a, const double *b, size_t n, double *out)
{
    cri_check_array(a, n);
    cri_check_array(b, n);
    cri_check_array(out, n);
    (use_avx2() ? multiply_avx2 : multiply_plain)(a, b, n, out);
}

AVX2 static void squares_avx2(double *z, double shift, size_t n, double *out)
{
    squares_body(z, shift, n, out);
}
CRI_INNER_LOOP static void squares_plain(double *z, double shift, size_t n, double *out)
{
    squares_body(z, shift, n, out);
}
void cri_add_squares(double *z, double shift, size_t n, double *out)
{
    cri_check_array(z, n);
    cri_check_array(out, n);
    (use_avx2() ? squares_avx2 : squares_plain)(z, shift, n, out);
}

AVX2 static size_t least_two_avx2(const double *v, size_t n, double *out_least, double *out_next)
{
    return least_two_body(v, n, out_least, out_next);
}
CRI_INNER_LOOP static size_t least_two_plain(const double *v, size_t n, double *out_least,
                                             double *out_next)
{
    return least_two_body(v, n, out_least, out_next);
}
size_t cri_least_two(const double *v, size_t n, double *out_least, double *out_next)
{
    cri_check_array(v, n);
    return (use_avx2() ? least_two_avx2 : least_two_plain)(v, n, out_least, out_next);
}
