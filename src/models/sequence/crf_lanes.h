/* crf_lanes.h -- sums of rows of numbers, four numbers at a time.
 * The loops are written once and compiled twice, for every x86-64 and for AVX2, the choice being made
 * at run time; there is no fused multiplication in either and every sum has its order, so both give
 * the same bits.  Rows are as long as whole lanes, in tiles of up to LANES_TILE lanes, whose sums stay
 * in registers.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CRF_LANES_H
#define CREDENCE_MODELS_SEQUENCE_CRF_LANES_H

#include "base/inner_loop.h"

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define LANES_AVX2 CRI_INNER_LOOP __attribute__((target("avx2")))
static inline bool lanes_use_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
#define LANES_AVX2 CRI_INNER_LOOP
static inline bool lanes_use_avx2(void) { return false; }
#endif
#define LANES_BODY CRI_INNER_LOOP static inline __attribute__((always_inline))

enum { LANES = 4, LANES_TILE = 4 };

/* LANES numbers, wherever they lie. */
typedef double lanes __attribute__((vector_size(32), aligned(8), may_alias));

/* --- tiles: `width` lanes, a constant where they are called ---------------------------------- */

/* out = sum_i x[i] M[i], over K rows of M that lie `stride` apart: in two sums, so that one need not
 * wait for the other. */
LANES_BODY void combine_tile(const double *x, const double *M, size_t K, size_t stride,
                             size_t width, double *out)
{
    lanes  even[LANES_TILE] = { { 0 } }, odd[LANES_TILE] = { { 0 } };
    size_t i = 0;
    for (; i + 2 <= K; i += 2) {
        const lanes *a = (const lanes *)(const void *)(M + i * stride);
        const lanes *b = (const lanes *)(const void *)(M + (i + 1) * stride);
        for (size_t v = 0; v < width; v++) even[v] += x[i] * a[v];
        for (size_t v = 0; v < width; v++) odd[v] += x[i + 1] * b[v];
    }
    if (i < K) {
        const lanes *a = (const lanes *)(const void *)(M + i * stride);
        for (size_t v = 0; v < width; v++) even[v] += x[i] * a[v];
    }
    for (size_t v = 0; v < width; v++) ((lanes *)(void *)out)[v] = even[v] + odd[v];
}

/* out = sum_e value[e] M[which[e]], value NULL: all 1. */
LANES_BODY void gather_tile(const uint32_t *which, const double *value, size_t n, const double *M,
                            size_t stride, size_t width, double *out)
{
    lanes sum[LANES_TILE] = { { 0 } };
    if (value)
        for (size_t e = 0; e < n; e++) {
            const lanes *row = (const lanes *)(const void *)(M + which[e] * stride);
            for (size_t v = 0; v < width; v++) sum[v] += value[e] * row[v];
        }
    else
        for (size_t e = 0; e < n; e++) {
            const lanes *row = (const lanes *)(const void *)(M + which[e] * stride);
            for (size_t v = 0; v < width; v++) sum[v] += row[v];
        }
    for (size_t v = 0; v < width; v++) ((lanes *)(void *)out)[v] = sum[v];
}

/* Rows 0 and, where both, 1 of out += weight A^T Q, over n rows of A and Q. */
LANES_BODY void outer_tile(const double *A, const double *Q, size_t n, size_t stride, bool both,
                           size_t width, double weight, double *out)
{
    lanes first[LANES_TILE] = { { 0 } }, second[LANES_TILE] = { { 0 } };
    for (size_t t = 0; t < n; t++) {
        const lanes *q = (const lanes *)(const void *)(Q + t * stride);
        for (size_t v = 0; v < width; v++) first[v] += A[t * stride] * q[v];
        if (both)
            for (size_t v = 0; v < width; v++) second[v] += A[t * stride + 1] * q[v];
    }
    for (size_t v = 0; v < width; v++) ((lanes *)(void *)out)[v] += weight * first[v];
    if (both)
        for (size_t v = 0; v < width; v++)
            ((lanes *)(void *)(out + stride))[v] += weight * second[v];
}

/* --- rows of `stride` numbers ---------------------------------------------------------------- */

/* out [stride] = sum_i x[i] M[i], M [K x stride]. */
LANES_BODY void lanes_combine(const double *x, const double *M, size_t K, size_t stride,
                              double *out)
{
    size_t at = 0, left;
    for (; (left = (stride - at) / LANES) >= LANES_TILE; at += LANES_TILE * LANES)
        combine_tile(x, M + at, K, stride, LANES_TILE, out + at);
    if (left == 3) combine_tile(x, M + at, K, stride, 3, out + at);
    if (left == 2) combine_tile(x, M + at, K, stride, 2, out + at);
    if (left == 1) combine_tile(x, M + at, K, stride, 1, out + at);
}

/* out [stride] = sum_e value[e] M[which[e]], value NULL: all 1. */
LANES_BODY void lanes_gather(const uint32_t *which, const double *value, size_t n, const double *M,
                             size_t stride, double *out)
{
    size_t at = 0, left;
    for (; (left = (stride - at) / LANES) >= LANES_TILE; at += LANES_TILE * LANES)
        gather_tile(which, value, n, M + at, stride, LANES_TILE, out + at);
    if (left == 3) gather_tile(which, value, n, M + at, stride, 3, out + at);
    if (left == 2) gather_tile(which, value, n, M + at, stride, 2, out + at);
    if (left == 1) gather_tile(which, value, n, M + at, stride, 1, out + at);
}

/* The first row, or both [2 x stride], of out += weight A^T Q, A and Q [n x stride]. */
LANES_BODY void lanes_outer(const double *A, const double *Q, size_t n, size_t stride, bool both,
                            double weight, double *out)
{
    size_t at = 0, left;
    for (; (left = (stride - at) / LANES) >= LANES_TILE; at += LANES_TILE * LANES)
        outer_tile(A, Q + at, n, stride, both, LANES_TILE, weight, out + at);
    if (left == 3) outer_tile(A, Q + at, n, stride, both, 3, weight, out + at);
    if (left == 2) outer_tile(A, Q + at, n, stride, both, 2, weight, out + at);
    if (left == 1) outer_tile(A, Q + at, n, stride, both, 1, weight, out + at);
}

#endif
