/* decompose.h -- QR with column pivoting, symmetric eigenvalues, singular values (LAPACK).
 * Input that is not finite is refused with CR_EDATA, naming the entry; results of the wrong shape
 * with CR_EARG; an iteration that does not converge is CR_ENUMERIC.  Outputs are then untouched. */
#ifndef CREDENCE_MATH_DENSE_DECOMPOSE_H
#define CREDENCE_MATH_DENSE_DECOMPOSE_H

#include "base/context.h"
#include "view.h"

/* A P = Q R, Householder with column pivoting (Golub & Van Loan, sec. 5.4).
 * A [m x n]; k = min(m, n).  The factors are kept as LAPACK keeps them. */
typedef struct cr_qr {
    size_t  m, n, rank; /* rank: the number of |R_ii| > tolerance * |R_00|    */
    double *factors;    /* column-major [m x n]: R above, reflectors below    */
    double *tau;        /* [k]                                                */
    size_t *pivot;      /* [n]: column j of A P is column pivot[j] of A       */
} cr_qr;

/* Factors a copy of A.  tolerance < 0 means max(m, n) * 2^-52.  O(m n k). */
CR_API cr_status cr_qr_new(cr_ctx *cx, cr_cmat A, double tolerance, cr_qr *out_qr);
/* Frees the factors. */
CR_API void cr_qr_free(cr_ctx *cx, cr_qr *qr);
/* B [m] := Q^T B, or Q B. */
CR_API cr_status cr_qr_apply(cr_ctx *cx, const cr_qr *qr, bool transpose, double *b);
/* Solves R[0..r,0..r] x = b, or R^T x = b, for the leading r = rank columns, in place; b [r].  In
 * pivoted order. */
CR_API void cr_qr_solve_r(const cr_qr *qr, bool transpose, double *b);
/* Reciprocal condition number of the leading rank x rank part of R (1-norm, estimated); 1 at rank
 * 0. */
CR_API cr_status cr_qr_rcond(cr_ctx *cx, const cr_qr *qr, double *out_rcond);
/* Condition number of the leading columns as the root of that of R^T R (1-norm, estimated), which is the same in any order
 * of the columns; 1 at rank 0.  O(rank^3). */
CR_API cr_status cr_qr_condition(cr_ctx *cx, const cr_qr *qr, double *out_condition);

/* A = V diag(w) V^T for symmetric A (lower triangle read): w ascending, column j of V [n x n]
 * belongs to w[j], its largest entry (the first of several) made positive.  A is left as it was. */
CR_API cr_status cr_eigen(cr_ctx *cx, cr_cmat A, double *out_w, cr_mat out_V);
/* A = U diag(s) V^T: U [m x k], s [k] descending, V [n x k] (columns), the largest entry of each
 * column of V made positive. */
CR_API cr_status cr_svd(cr_ctx *cx, cr_cmat A, cr_mat out_U, double *out_s, cr_mat out_V);

#endif
