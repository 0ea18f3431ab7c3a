/* small_matrix.h -- what distributions of vectors need of matrices: factors of the parameters,
 * checked, and triangular solves on small row-major arrays that cannot fail.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_SMALL_MATRIX_H
#define CREDENCE_PROB_DIST_SMALL_MATRIX_H

#include "dist_class.h"

/* L [d x d] = the Cholesky factor of A, zeros above the diagonal.  Fails with CR_EARG when A is not
 * symmetric or not positive definite. */
cr_status cri_factor_parameter(cr_ctx *cx, const char *name, const char *param, const double *A,
                               size_t d, double *L);
/* The same for a point: false when A is not symmetric positive definite. */
bool cri_factor_point(const double *A, size_t d, double *L);

/* x becomes L^-1 x, or L^-T x. */
void cri_solve_lower(const double *L, size_t d, double *x);
void cri_solve_upper(const double *L, size_t d, double *x);
/* log det of L L^T. */
double cri_log_det(const double *L, size_t d);
/* |L^T z|^2. */
double cri_square_under(const double *L, size_t d, const double *z);
/* |L^-1 M|^2, the trace of (L L^T)^-1 M M^T, M lower triangular; column [d] is spare. */
double cri_trace_ratio(const double *L, const double *M, size_t d, double *column);

/* out [d x d] = the inverse of L L', both triangles; column [d] is spare. */
void cri_small_inverse(const double *L, size_t d, double *out, double *column);

/* A symmetric matrix by its entries on and above the diagonal, row by row: d (d + 1) / 2 numbers,
 * those on the diagonal times `on`, the others times `off`; and back. */
size_t cri_packed_size(size_t d);
void   cri_pack(const double *A, size_t d, double on, double off, double *out);
void   cri_unpack(const double *packed, size_t d, double on, double off, double *A);
/* Row and column of the k-th of them. */
void cri_packed_place(size_t d, size_t k, size_t *row, size_t *column);

/* log of the multivariate gamma function, and its derivative: sums over a - i/2, i < d. */
double cri_log_gamma_d(double a, size_t d);
double cri_digamma_d(double a, size_t d);

/* log [Gamma(n + 1) / prod Gamma(k_i + 1) prod p_i^k_i], n = sum k, real k_i >= 0. */
double cri_multinomial_mass(const double *k, const double *p, size_t n);

/* A probability vector as a parameter sums to one. */
cr_status cri_check_sum(cr_ctx *cx, const char *name, const double *p, size_t n);

#endif
