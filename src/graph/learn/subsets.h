/* subsets.h -- the subsets of k of m things one after another.  (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_SUBSETS_H
#define CREDENCE_GRAPH_LEARN_SUBSETS_H

#include <stdbool.h>
#include <stddef.h>

/* The first: 0 .. k-1. */
static inline void cri_first_subset(size_t *at, size_t k)
{
    for (size_t i = 0; i < k; i++) at[i] = i;
}

/* The next in lexicographic order; false after the last, k <= m. */
static inline bool cri_next_subset(size_t *at, size_t k, size_t m)
{
    size_t i = k;
    while (i > 0 && at[i - 1] == m - k + i - 1) i--;
    if (i == 0) return false;
    at[i - 1]++;
    for (; i < k; i++) at[i] = at[i - 1] + 1;
    return true;
}

#endif
