/* view.h -- row-major matrices by value.
 * A view borrows its numbers: element (i, j) is a[i * stride + j].  Vectors are plain pointers. */
#ifndef CREDENCE_MATH_DENSE_VIEW_H
#define CREDENCE_MATH_DENSE_VIEW_H

#include "base/status.h"

typedef struct cr_mat {
    double *a;
    size_t  rows, cols, stride;
} cr_mat;

typedef struct cr_cmat { /* the const twin */
    const double *a;
    size_t        rows, cols, stride;
} cr_cmat;

/* A contiguous rows x cols matrix over a. */
static inline cr_mat cr_mat_of(double *a, size_t rows, size_t cols)
{
    cr_mat m = { a, rows, cols, cols };
    return m;
}
static inline cr_cmat cr_cmat_of(const double *a, size_t rows, size_t cols)
{
    cr_cmat m = { a, rows, cols, cols };
    return m;
}
/* The same matrix, not to be changed. */
static inline cr_cmat cr_const(cr_mat m)
{
    cr_cmat c = { m.a, m.rows, m.cols, m.stride };
    return c;
}
/* rows x cols of m from (i, j) on. */
static inline cr_mat cr_mat_part(cr_mat m, size_t i, size_t j, size_t rows, size_t cols)
{
    cr_mat part = { m.a + i * m.stride + j, rows, cols, m.stride };
    return part;
}
static inline cr_cmat cr_cmat_part(cr_cmat m, size_t i, size_t j, size_t rows, size_t cols)
{
    cr_cmat part = { m.a + i * m.stride + j, rows, cols, m.stride };
    return part;
}

#endif
