/* chol.h -- Cholesky factor of a symmetric positive definite matrix, and what it solves.
 *   A = L L^T,  A [n x n] row-major, L lower triangular in its lower triangle.
 * The factorisation runs over fixed tiles by our own tasks: same bits for any number of threads.
 * Golub & Van Loan (2013), sec. 4.2; rank-one changes: Gill, Golub, Murray & Saunders (1974). */
#ifndef CREDENCE_MATH_DENSE_CHOL_H
#define CREDENCE_MATH_DENSE_CHOL_H

#include "base/context.h"
#include "view.h"

/* How much was added to the diagonal to make the factorisation go through. */
typedef struct cr_jitter {
    double   added;    /* 0 when none was needed         */
    unsigned attempts; /* 1 when the first one succeeded */
} cr_jitter;

/* Overwrites the lower triangle of A with L; the upper one is not read and keeps what it had.
 * O(n^3 / 3).  Fails with CR_ENUMERIC, naming the pivot, when A is not positive definite (A is then
 * overwritten), CR_EINTERRUPTED, CR_ENOMEM. */
CR_API cr_status cr_chol(cr_ctx *cx, cr_mat A);
/* The same, adding jitter to the diagonal when needed: 0, then 1e-12 times the mean of the
 * diagonal, ten times more at each of up to 7 further attempts.  Reports what it added (also as a
 * warning in the log, never silent).  Restores A between attempts, and on failure, from its upper
 * triangle. */
CR_API cr_status cr_chol_jitter(cr_ctx *cx, cr_mat A, cr_jitter *out_jitter);

/* B [n x k] becomes the X of L X = B.  O(n^2 k).  Fails with CR_EARG when the shapes do not fit,
 * CR_EINTERRUPTED (B is then overwritten), CR_ENOMEM; so do the next two. */
CR_API cr_status cr_chol_forward(cr_ctx *cx, cr_cmat L, cr_mat B);
/* B becomes the X of L^T X = B. */
CR_API cr_status cr_chol_backward(cr_ctx *cx, cr_cmat L, cr_mat B);
/* B becomes the X of A X = B: one after the other, O(2 n^2 k). */
CR_API cr_status cr_chol_solve(cr_ctx *cx, cr_cmat L, cr_mat B);
/* out [n x n] = A^-1, both triangles; for variances.  out may be L itself.  O(2 n^3 / 3). */
CR_API cr_status cr_chol_inverse(cr_ctx *cx, cr_cmat L, cr_mat out);
/* log det A = 2 sum log L_ii. */
CR_API double cr_chol_logdet(cr_cmat L);
/* Reciprocal condition number of A in the 1-norm, estimated; anorm = the 1-norm of A. */
CR_API cr_status cr_chol_rcond(cr_ctx *cx, cr_cmat L, double anorm, double *out_rcond);

/* L becomes the factor of A + x x^T.  O(n^2).  x [n] is overwritten. */
CR_API void cr_chol_update(cr_mat L, double *x);
/* L becomes the factor of A - x x^T, likewise.  Where that is not positive definite it fails with
 * CR_ENUMERIC and leaves L as it was. */
CR_API cr_status cr_chol_downdate(cr_ctx *cx, cr_mat L, double *x);

#endif
