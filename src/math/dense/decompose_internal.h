/* decompose_internal.h -- shared by the decompositions.  (Internal header.) */
#ifndef CREDENCE_MATH_DENSE_DECOMPOSE_INTERNAL_H
#define CREDENCE_MATH_DENSE_DECOMPOSE_INTERNAL_H

#include "base/scratch.h"
#include "blas_internal.h"

/* A is a proper view without NaN or infinity (only its lower triangle when `lower`); else CR_EARG,
 * CR_EUNSUPPORTED, or CR_EDATA that names the entry.  `who` starts the sentence. */
cr_status cri_decompose_check(cr_ctx *cx, const char *who, cr_cmat A, bool lower);
/* Workspace of as many doubles as LAPACK answered; CR_EUNSUPPORTED when it cannot count them. */
cr_status cri_decompose_work(cr_ctx *cx, const char *who, cr_scratch *s, double size,
                             double **out_work);
/* The eigenvalues w [n], ascending, and eigenvectors, the rows of Z [n x n], of the symmetric
 * matrix in the lower triangle of A [n x n], which is overwritten.  Looks whether it is to stop
 * after every share of the work but one, the tridiagonal problem: CR_EINTERRUPTED or CR_ENOMEM;
 * CR_ENUMERIC where that does not converge. */
cr_status cri_eigen_lower(cr_ctx *cx, size_t n, double *A, double *w, double *Z);

#endif
