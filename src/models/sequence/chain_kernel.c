/* chain_kernel.c -- the inner loops of a chain: the filter of a block of steps, the smoother, and maxima.
 * Columns are taken a vector of four at a time, up to three vectors side by side.  Compiled for every machine and for AVX2, the
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

/* `count` vectors of columns, 3 at the most and known when it is compiled: out = x M, the even and the odd rows in sums
 * of their own, so that one addition need not wait for the other. */
BODY void columns(size_t count, const double *x, const double *M, size_t k, size_t stride,
                  double *out)
{
    lane   a[3] = { { 0 } }, b[3] = { { 0 } };
    size_t i = 0;
    for (; i + 2 <= k; i += 2)
        for (size_t c = 0; c < count; c++) {
            a[c] += x[i] * *(const lane *)(M + i * stride + c * CRI_CHAIN_LANES);
            b[c] += x[i + 1] * *(const lane *)(M + (i + 1) * stride + c * CRI_CHAIN_LANES);
        }
    for (size_t c = 0; c < count; c++) {
        if (i < k) a[c] += x[i] * *(const lane *)(M + i * stride + c * CRI_CHAIN_LANES);
        *(lane *)(out + c * CRI_CHAIN_LANES) = a[c] + b[c];
    }
}

/* out [stride] = x [stride] M [stride x stride]; only the first k of x count. */
BODY void multiply(const double *x, const double *M, size_t k, size_t stride, double *out)
{
    size_t j = 0, left = stride / CRI_CHAIN_LANES;
    for (; left > 4 || left == 3; left -= 3, j += 3 * CRI_CHAIN_LANES)
        columns(3, x, M + j, k, stride, out + j);
    for (; left >= 2; left -= 2, j += 2 * CRI_CHAIN_LANES) columns(2, x, M + j, k, stride, out + j);
    if (left == 1) columns(1, x, M + j, k, stride, out + j);
}

BODY void filter(const double *before, const double *first, const double *M, size_t k,
                 size_t stride, size_t n, double *b, double *alpha, double *sum)
{
    for (size_t t = 0; t < n; t++, b += stride, alpha += stride) {
        lane total = { 0 };
        if (before)
            multiply(before, M, k, stride, alpha);
        else
            for (size_t j = 0; j < stride; j++) alpha[j] = first[j];
        for (size_t j = 0; j < stride; j += CRI_CHAIN_LANES)
            total += *(lane *)(alpha + j) * *(lane *)(b + j);
        sum[t] = (total[0] + total[1]) + (total[2] + total[3]);
        before = alpha;
        if (!(sum[t] > 0)) { /* passed over */
            sum[t] = 0;
            for (size_t j = 0; j < k; j++) b[j] = 1;
            continue;
        }
        double inverse = 1 / sum[t];
        for (size_t j = 0; j < stride; j += CRI_CHAIN_LANES)
            *(lane *)(alpha + j) *= *(lane *)(b + j) * inverse;
    }
}

BODY void smooth(const double *At, size_t k, size_t stride, size_t n, bool last, const double *sum,
                 const double *alpha, double *b, double *next, double *w, double *beta)
{
    for (size_t t = n; t-- > 0;) {
        const double *a = alpha + t * stride;
        double       *bt = b + t * stride, *behind = next + t * stride;
        bool          end = last && t + 1 == n;
        double        inverse = sum[t] > 0 ? 1 / sum[t] : 1;
        for (size_t j = 0; j < stride; j++) behind[j] = end ? 0 : w[j];
        if (end)
            for (size_t j = 0; j < stride; j++) beta[j] = 1;
        else
            multiply(behind, At, k, stride, beta);
        for (size_t j = 0; j < stride; j += CRI_CHAIN_LANES) {
            lane of = *(lane *)(beta + j), *density = (lane *)(bt + j);
            *(lane *)(w + j) = *density * of * inverse;
            *density = *(const lane *)(a + j) * of; /* gamma */
        }
    }
}

BODY void maximise(const double *x, const double *M, size_t k, size_t stride, double *out,
                   double *from)
{
    for (size_t j = 0; j < stride; j += CRI_CHAIN_LANES) {
        lane best = x[0] + *(const lane *)(M + j), at = { 0 };
        for (size_t i = 1; i < k; i++) {
            lane v = x[i] + *(const lane *)(M + i * stride + j), now = (lane){ 0 } + (double)i;
            mask more = v > best;
            best = (lane)((more & (mask)v) | (~more & (mask)best));
            at = (lane)((more & (mask)now) | (~more & (mask)at));
        }
        *(lane *)(out + j) = best;
        *(lane *)(from + j) = at;
    }
}

AVX2 static void filter_avx2(const double *before, const double *first, const double *M, size_t k,
                             size_t stride, size_t n, double *b, double *alpha, double *sum)
{
    filter(before, first, M, k, stride, n, b, alpha, sum);
}
AVX2 static void smooth_avx2(const double *At, size_t k, size_t stride, size_t n, bool last,
                             const double *sum, const double *alpha, double *b, double *next,
                             double *w, double *beta)
{
    smooth(At, k, stride, n, last, sum, alpha, b, next, w, beta);
}
AVX2 static void maximise_avx2(const double *x, const double *M, size_t k, size_t stride,
                               double *out, double *from)
{
    maximise(x, M, k, stride, out, from);
}
CRI_INNER_LOOP static void filter_plain(const double *before, const double *first, const double *M,
                                        size_t k, size_t stride, size_t n, double *b, double *alpha,
                                        double *sum)
{
    filter(before, first, M, k, stride, n, b, alpha, sum);
}
CRI_INNER_LOOP static void smooth_plain(const double *At, size_t k, size_t stride, size_t n,
                                        bool last, const double *sum, const double *alpha,
                                        double *b, double *next, double *w, double *beta)
{
    smooth(At, k, stride, n, last, sum, alpha, b, next, w, beta);
}
CRI_INNER_LOOP static void maximise_plain(const double *x, const double *M, size_t k, size_t stride,
                                          double *out, double *from)
{
    maximise(x, M, k, stride, out, from);
}

CRI_INNER_LOOP void cri_chain_filter(const double *opt_before, const double *first, const double *A,
                                     size_t k, size_t stride, size_t n, double *b, double *alpha,
                                     double *sum)
{
    if (opt_before) cri_check_array(opt_before, stride);
    cri_check_array(first, stride), cri_check_array(A, stride * stride), cri_check_array(sum, n);
    cri_check_array(b, n * stride), cri_check_array(alpha, n * stride);
    (use_avx2() ? filter_avx2 : filter_plain)(opt_before, first, A, k, stride, n, b, alpha, sum);
}

CRI_INNER_LOOP void cri_chain_smooth(const double *At, size_t k, size_t stride, size_t n, bool last,
                                     const double *sum, const double *alpha, double *b,
                                     double *next, double *w, double *beta)
{
    cri_check_array(At, stride * stride), cri_check_array(sum, n), cri_check_array(w, stride);
    cri_check_array(b, n * stride), cri_check_array(alpha, n * stride);
    cri_check_array(next, n * stride), cri_check_array(beta, stride);
    (use_avx2() ? smooth_avx2 : smooth_plain)(At, k, stride, n, last, sum, alpha, b, next, w, beta);
}

CRI_INNER_LOOP void cri_chain_maximise(const double *x, const double *M, size_t k, size_t stride,
                                       double *out, double *from)
{
    cri_check_array(x, k), cri_check_array(M, k * stride);
    cri_check_array(out, stride), cri_check_array(from, stride);
    (use_avx2() ? maximise_avx2 : maximise_plain)(x, M, k, stride, out, from);
}
