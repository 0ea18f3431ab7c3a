/* chain_kernel.c -- the inner loops of a chain: a row times a matrix, in sums and in maxima.
 * Columns are taken a vector of four at a time, two vectors side by side.  Compiled for every machine and for AVX2, the
 * choice at run time; no fused multiplication in either, so both give the same bits. */
#include "chain.h"
#include "base/inner_loop.h"

#include <math.h>

typedef double    lane __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long mask __attribute__((vector_size(32)));

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

BODY void multiply(const double *x, const double *M, size_t k, size_t stride, double *out)
{
    size_t j = 0;
    for (; j + 3 * CRI_CHAIN_LANES <= stride; j += 3 * CRI_CHAIN_LANES) {
        lane a = { 0 }, b = { 0 }, c = { 0 };
        for (size_t i = 0; i < k; i++) {
            const double *m = M + i * stride + j;
            a += x[i] * *(const lane *)m;
            b += x[i] * *(const lane *)(m + CRI_CHAIN_LANES);
            c += x[i] * *(const lane *)(m + 2 * CRI_CHAIN_LANES);
        }
        *(lane *)(out + j) = a;
        *(lane *)(out + j + CRI_CHAIN_LANES) = b;
        *(lane *)(out + j + 2 * CRI_CHAIN_LANES) = c;
    }
    for (; j < stride; j += CRI_CHAIN_LANES) {
        lane a = { 0 };
        for (size_t i = 0; i < k; i++) a += x[i] * *(const lane *)(M + i * stride + j);
        *(lane *)(out + j) = a;
    }
}

BODY void maximise(const double *x, const double *M, size_t k, size_t stride, double *out,
                   double *from)
{
    for (size_t j = 0; j < stride; j += CRI_CHAIN_LANES) {
        lane best = x[0] + *(const lane *)(M + j), at = { 0 };
        for (size_t i = 1; i < k; i++) {
            lane v = x[i] + *(const lane *)(M + i * stride + j), now = at - at + (double)i;
            mask more = v > best;
            best = (lane)((more & (mask)v) | (~more & (mask)best));
            at = (lane)((more & (mask)now) | (~more & (mask)at));
        }
        *(lane *)(out + j) = best;
        *(lane *)(from + j) = at;
    }
}

#if HAS_AVX2
AVX2 static void multiply_avx2(const double *x, const double *M, size_t k, size_t stride,
                               double *out)
{
    multiply(x, M, k, stride, out);
}
AVX2 static void maximise_avx2(const double *x, const double *M, size_t k, size_t stride,
                               double *out, double *from)
{
    maximise(x, M, k, stride, out, from);
}
#else
#define multiply_avx2 multiply
#define maximise_avx2 maximise
#endif

CRI_INNER_LOOP void cri_chain_multiply(const double *x, const double *M, size_t k, size_t stride,
                                       double *out)
{
    cri_check_array(x, k), cri_check_array(M, k * stride), cri_check_array(out, stride);
    if (use_avx2())
        multiply_avx2(x, M, k, stride, out);
    else
        multiply(x, M, k, stride, out);
}

CRI_INNER_LOOP void cri_chain_maximise(const double *x, const double *M, size_t k, size_t stride,
                                       double *out, double *from)
{
    cri_check_array(x, k), cri_check_array(M, k * stride);
    cri_check_array(out, stride), cri_check_array(from, stride);
    if (use_avx2())
        maximise_avx2(x, M, k, stride, out, from);
    else
        maximise(x, M, k, stride, out, from);
}
