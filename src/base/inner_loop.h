/* inner_loop.h -- inner loops that the sanitizers check once an array, not once a number.
 * (Internal header.)
 *
 * The loops over contiguous numbers are most of the time of a kernel matrix, and a sanitizer's
 * look at every number makes them ten times slower and keeps them from being vectorised.  A
 * function marked CRI_INNER_LOOP is compiled without it; before its loop it calls
 * cri_check_array for every array it is given, which ends in the sanitizer's usual report if any
 * byte of it must not be touched.  Without the address sanitizer neither does anything. */
#ifndef CREDENCE_BASE_INNER_LOOP_H
#define CREDENCE_BASE_INNER_LOOP_H

#include <stddef.h>
#include <stdint.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define CRI_INNER_LOOP __attribute__((no_sanitize("address", "undefined")))
static inline void cri_check_bytes(const void *x, size_t n)
{
    void *bytes = (void *)(uintptr_t)x;
    if (n > 0 && (bytes = __asan_region_is_poisoned(bytes, n))) (void)*(volatile char *)bytes;
}
#else
#define CRI_INNER_LOOP
static inline void cri_check_bytes(const void *x, size_t n) { (void)x, (void)n; }
#endif

static inline void cri_check_array(const double *x, size_t n) { cri_check_bytes(x, n * sizeof *x); }

/* For loops that read from[index[i]]: the numbers from the first to the last that any index is of. */
CRI_INNER_LOOP static inline void cri_check_gather(const double *from, const uint32_t *index,
                                                   size_t n)
{
    uint32_t last = 0;
    cri_check_bytes(index, n * sizeof *index);
    for (size_t i = 0; i < n; i++) last = index[i] > last ? index[i] : last;
    cri_check_array(from, n > 0 ? (size_t)last + 1 : 0);
}

#endif
