/* pages.c -- large pages. */
#include "pages.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

void cri_prefer_large_pages(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const size_t page = (size_t)1 << 21, least = 2 * page;
    size_t       before = (page - (uintptr_t)block % page) % page; /* of the first whole one */
    int          kept = errno;
    if (bytes < least) return;
    madvise((char *)block + before, (bytes - before) / page * page, MADV_HUGEPAGE);
    errno = kept; /* it is advice: nobody asks whether it was taken */
#else
    (void)block, (void)bytes;
#endif
}
