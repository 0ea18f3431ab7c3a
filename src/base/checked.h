/* checked.h -- sizes that cannot wrap.  (Internal header.) */
#ifndef CREDENCE_BASE_CHECKED_H
#define CREDENCE_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>

/* *out = a * b, or a + b; false, and *out untouched, when it does not fit. */
static inline bool cri_mul(size_t a, size_t b, size_t *out)
{
    size_t r;
    if (__builtin_mul_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}

static inline bool cri_add(size_t a, size_t b, size_t *out)
{
    size_t r;
    if (__builtin_add_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}

#endif
