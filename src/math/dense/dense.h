/* dense.h -- products and elementwise sums of dense matrices over BLAS.
 * BLAS itself always runs with one thread; products are cut into fixed tiles that our own threads
 * work through, so the same bits come out for any number of threads.  Row-major throughout. */
#ifndef CREDENCE_MATH_DENSE_DENSE_H
#define CREDENCE_MATH_DENSE_DENSE_H

#include "base/context.h"
#include "view.h"

typedef enum cr_transpose { CR_PLAIN, CR_TRANSPOSED } cr_transpose;

/* C = alpha op(A) op(B) + beta C.  O(m n k).  beta = 0 overwrites C, even NaN; C must not overlap A
 * or B.  Fails with CR_EARG when the shapes do not fit, CR_EUNSUPPORTED when a size does not fit an
 * int, CR_EINTERRUPTED (C is then overwritten), CR_ENOMEM. */
CR_API cr_status cr_gemm(cr_ctx *cx, double alpha, cr_cmat A, cr_transpose opA, cr_cmat B,
                         cr_transpose opB, double beta, cr_mat C);
/* C = alpha op(A) op(A)^T + beta C, both triangles filled, the lower one of C read.  op plain: A
 * A^T; transposed: A^T A. */
CR_API cr_status cr_syrk(cr_ctx *cx, double alpha, cr_cmat A, cr_transpose op, double beta,
                         cr_mat C);
/* y = alpha op(A) x + beta y. */
CR_API cr_status cr_gemv(cr_ctx *cx, double alpha, cr_cmat A, cr_transpose op, const double *x,
                         double beta, double *y);
/* x . y, in fixed blocks. */
CR_API double cr_dot(const double *x, const double *y, size_t n);
/* |x|, likewise, without needless over- or underflow. */
CR_API double cr_norm2(const double *x, size_t n);

#endif
