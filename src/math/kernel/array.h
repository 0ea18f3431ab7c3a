/* array.h -- inner loops over contiguous numbers, the same bits on every machine (array.c).
 * (Internal header.) */
#ifndef CREDENCE_MATH_KERNEL_ARRAY_H
#define CREDENCE_MATH_KERNEL_ARRAY_H

#include <stddef.h>

/* x[i] = exp(x[i]), to 1 unit in the last place; the same bits on every machine. */
void cri_exp_array(double *x, size_t n);
/* x[i] = log(1 + x[i]) of 0 <= x[i] <= 1, to 2 units in the last place; the same bits on every
 * machine. */
void cri_log1p_array(double *x, size_t n);
/* out[j] = sum_f (x[f] - Z[f * stride + j])^2 for j < n. */
void cri_distances(const double *x, const double *Z, size_t stride, size_t width, size_t n,
                   double *out);
/* sum_i a[i] b[i]; in four partial sums. */
double cri_dot_array(const double *a, const double *b, size_t n);
/* out[i] = a[i] * b[i]; out may be either. */
void cri_multiply_array(const double *a, const double *b, size_t n, double *out);
/* z[i] -= shift, then out[i] += z[i]^2. */
void cri_add_squares(double *z, double shift, size_t n, double *out);
/* Where the least of v [n] is, the first of equal ones, n > 0; its value, and that of the next, which is infinite for
 * n = 1. */
size_t cri_least_two(const double *v, size_t n, double *out_least, double *out_next);

#endif
