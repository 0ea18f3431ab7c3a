/* matrices.h -- random matrices with room between their rows, and comparisons, for tests of
 * src/math. */
#ifndef CREDENCE_TEST_MATRICES_H
#define CREDENCE_TEST_MATRICES_H

#include "math/dense/view.h"
#include "support.h"

#define PADDING 1e33 /* stands between the rows; a product that touches it shows */

/* Uniform in (-1, 1): xorshift64* by S. Vigna (2016). */
static inline double random_number(uint64_t *state)
{
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return (double)((*state * 2685821657736338717u) >> 11) * 0x1p-52 - 1;
}

static inline double *numbers(size_t n)
{
    double *a = malloc((n ? n : 1) * sizeof *a);
    assert_non_null(a);
    return a;
}

/* rows x cols of random numbers, `gap` numbers of padding after each row; freed by free(m.a). */
static inline cr_mat random_matrix(size_t rows, size_t cols, size_t gap, uint64_t *state)
{
    cr_mat m = { numbers(rows * (cols + gap)), rows, cols, cols + gap };
    for (size_t i = 0; i < rows * m.stride; i++)
        m.a[i] = i % m.stride < cols ? random_number(state) : PADDING;
    return m;
}

static inline cr_mat copy_of(cr_mat m)
{
    cr_mat c = { numbers(m.rows * m.stride), m.rows, m.cols, m.stride };
    memcpy(c.a, m.a, m.rows * m.stride * sizeof(double));
    return c;
}

static inline double *entry(cr_mat m, size_t i, size_t j) { return m.a + i * m.stride + j; }

static inline void assert_padding_kept(cr_mat m)
{
    for (size_t i = 0; i < m.rows; i++)
        for (size_t j = m.cols; j < m.stride; j++) assert_true(m.a[i * m.stride + j] == PADDING);
}

static inline void assert_same_bits(cr_mat a, cr_mat b)
{
    assert_int_equal(memcmp(a.a, b.a, a.rows * a.stride * sizeof(double)), 0);
}

/* A symmetric positive definite matrix: random in (-1, 1), n/2 added to the diagonal. */
static inline cr_mat random_spd(size_t n, size_t gap, uint64_t *state)
{
    cr_mat A = random_matrix(n, n, gap, state);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) *entry(A, j, i) = *entry(A, i, j);
        *entry(A, i, i) += (double)n / 2 + 2;
    }
    return A;
}

#endif
