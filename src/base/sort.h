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

/* Defines a comparator for qsort of structs of a type, by one member, or by another where that is
 * equal; rising. */
#define CRI_COMPARE_BY(name, type, key) CRI_COMPARE_BY_TWO(name, type, key, key)
#define CRI_COMPARE_BY_TWO(name, type, key, tie)                                                   \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const type *x = a, *y = b;                                                                 \
        if (x->key != y->key) return x->key < y->key ? -1 : 1;                                     \
        return (x->tie > y->tie) - (x->tie < y->tie);                                              \
    }                                                                                              \
    struct cri_semicolon /* takes the one that ends the line */

/* The p-quantile of x [n], sorted, n >= 1: linear between the order statistics. */
static inline double cri_sorted_quantile(const double *x, size_t n, double p)
{
    double at = p * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? x[i] + (at - (double)i) * (x[i + 1] - x[i]) : x[n - 1];
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
