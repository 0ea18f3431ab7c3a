/* linear_rows.h -- the rows of a linear machine, dense or sparse behind one door.
 *   X [n x p], which the solvers pass over again and again: row by row (coordinate descent), or as a
 *   whole, for X w, X'v and [X 1]' diag(v) [X 1].
 * Sums over rows are taken in blocks cut by the size of the data: the same bits for any number of
 * threads.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_LINEAR_ROWS_H
#define CREDENCE_MODELS_KERNEL_SVM_LINEAR_ROWS_H

#include "data/design/sparse_rows.h"

typedef struct cri_svm_linear_rows {
    size_t        n, p;
    const double *dense;  /* [n x p]; NULL: */
    cri_sparse    sparse; /* plain, without an index */
} cri_svm_linear_rows;

/* x_i . w */
static inline double cri_svm_linear_dot(const cri_svm_linear_rows *x, size_t i, const double *w)
{
    if (!x->dense) {
        size_t at = x->sparse.start[i];
        return cri_sparse_gather(x->sparse.column + at, x->sparse.value + at,
                                 x->sparse.start[i + 1] - at, w);
    }
    const double *row = x->dense + i * x->p;
    double        a = 0, b = 0, c = 0, d = 0;
    size_t        j = 0;
    for (; j + 3 < x->p; j += 4) {
        a += row[j] * w[j];
        b += row[j + 1] * w[j + 1];
        c += row[j + 2] * w[j + 2];
        d += row[j + 3] * w[j + 3];
    }
    for (; j < x->p; j++) a += row[j] * w[j];
    return (a + b) + (c + d);
}

/* w += a x_i */
static inline void cri_svm_linear_add(const cri_svm_linear_rows *x, size_t i, double a, double *w)
{
    if (x->dense) {
        const double *row = x->dense + i * x->p;
        for (size_t j = 0; j < x->p; j++) w[j] += a * row[j];
        return;
    }
    for (size_t e = x->sparse.start[i]; e < x->sparse.start[i + 1]; e++)
        w[x->sparse.column[e]] += a * x->sparse.value[e];
}

/* |x_i|^2 */
double cri_svm_linear_square(const cri_svm_linear_rows *x, size_t i);

/* out [n] = X w + b. */
cr_status cri_svm_linear_scores(cr_ctx *cx, const cri_svm_linear_rows *x, const double *w, double b,
                                double *out);
/* out [p + 1] = [X 1]' v. */
cr_status cri_svm_linear_transpose_times(cr_ctx *cx, const cri_svm_linear_rows *x, const double *v,
                                         double *out);
/* out [p + 1 x p + 1] = [X 1]' diag(v) [X 1], v >= 0: the lower triangle.  O(n p^2), of sparse rows
 * the squares of their lengths; scratch of a few such matrices. */
cr_status cri_svm_linear_gram(cr_ctx *cx, const cri_svm_linear_rows *x, const double *v,
                              double *out);
/* How many operations that is. */
double cri_svm_linear_gram_cost(const cri_svm_linear_rows *x);

#endif
