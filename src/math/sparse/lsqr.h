/* lsqr.h -- least squares by products with the matrix and its transpose alone.
 *   minimise  |b - A x|,   A [m x n] a map that is never written down
 * Golub & Kahan's bidiagonalisation, with the steps of conjugate gradients on A^T A x = A^T b but
 * without squaring the condition number: Paige & Saunders (1982), ACM TOMS 8, algorithm 583.
 * From x = 0 the answer is that of least norm among the minimisers; from another start it is the
 * minimiser next to that.  A penalty lambda |x|^2 is sqrt(lambda) I below A and zeros below b. */
#ifndef CREDENCE_MATH_SPARSE_LSQR_H
#define CREDENCE_MATH_SPARSE_LSQR_H

#include "base/context.h"

typedef struct cr_linear_map {
    size_t m, n;
    /* out [m] = A x, and out [n] = A^T y */
    cr_status (*times)(cr_ctx *cx, void *user, const double *x, double *out);
    cr_status (*transpose)(cr_ctx *cx, void *user, const double *y, double *out);
    void *user;
} cr_linear_map;

typedef struct cr_lsqr_report {
    size_t iterations;
    bool   converged;
    double residual;  /* |b - A x|                                                  */
    double gradient;  /* |A^T (b - A x)| / (|A| |b - A x|): 0 at a minimum           */
    double norm;      /* |A|, in the Frobenius norm: what the iterations saw of it   */
    double condition; /* of A, a lower bound, likewise                              */
} cr_lsqr_report;

/* Minimises from x on, until the gradient as reported, or the residual relative to |b| + |A| |x|,
 * is at most `tolerance`; when rounding has let the recurrences drift from the truth it starts
 * again from where it is.  Not converging within max_iter is a result.  Each iteration costs a
 * product with A and one with A^T; 3 n + 2 m doubles.  Fails as the map does, with CR_EINTERRUPTED
 * or CR_ENOMEM, or with CR_ENUMERIC where numbers overflow; x is then as it was. */
CR_API cr_status cr_lsqr(cr_ctx *cx, const cr_linear_map *A, const double *b, double tolerance,
                         size_t max_iter, double *x, cr_lsqr_report *out_report);

#endif
