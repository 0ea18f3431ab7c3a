/* dense_internal.h -- copies of matrices turned over.  (Internal header.)
 * Raw kernels of one thread: they cannot fail; work goes square by square, so that both sides stay
 * in cache. */
#ifndef CREDENCE_MATH_DENSE_DENSE_INTERNAL_H
#define CREDENCE_MATH_DENSE_DENSE_INTERNAL_H

#include "base/parallel.h"
#include "view.h"

/* out [n x m] = A^T, A [m x n]; they must not overlap. */
void cri_transpose(cr_cmat A, cr_mat out);
/* Copies the entries below the diagonal of C, in these rows and columns, to their mirror images. */
void cri_mirror_lower(cr_mat C, cri_range rows, cri_range cols);
/* The same from above to below: rows and columns are those of the lower triangle, written here. */
void cri_mirror_upper(cr_mat C, cri_range rows, cri_range cols);
/* The first entry of A that is not finite, row by row; only i >= j when `lower`.  false if none. */
bool cri_find_non_finite(cr_cmat A, bool lower, size_t *out_i, size_t *out_j);

#endif
