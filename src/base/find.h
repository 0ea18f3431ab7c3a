/* find.h -- where something stands in a short list.  (Internal header.) */
#ifndef CREDENCE_BASE_FIND_H
#define CREDENCE_BASE_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool cri_has_index(const size_t *list, size_t n, size_t item)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == item) return true;
    return false;
}

static inline bool cri_has_name(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0) return true;
    return false;
}

/* The largest of x [n], the first of several; 0 when n is 0. */
static inline size_t cri_largest(const double *x, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* Of sets that are joined, each member with one above it in up [n], or itself: the root of v's set.
 * Paths are halved on the way. */
static inline size_t cri_find_root(size_t *up, size_t v)
{
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
}

#endif
