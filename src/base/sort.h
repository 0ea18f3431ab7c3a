/* sort.h -- numbers and indices in rising order.  (Internal header.) */
#ifndef CREDENCE_BASE_SORT_H
#define CREDENCE_BASE_SORT_H

#include <stdlib.h>

/* For qsort: < 0, 0 or > 0 as *a is less than, equal to or more than *b. */
static inline int cri_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline int cri_compare_indices(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Sorts x [n], which has no NaN; x may be NULL when n is 0. */
static inline void cri_sort_doubles(double *x, size_t n)
{
    if (n > 1) qsort(x, n, sizeof *x, cri_compare_doubles);
}

static inline void cri_sort_indices(size_t *x, size_t n)
{
    if (n > 1) qsort(x, n, sizeof *x, cri_compare_indices);
}

#endif
