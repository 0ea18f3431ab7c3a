/* pages.c -- large pages. */
#include "pages.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 1 << 21 };

/* Nobody asks whether advice was taken. */
static bool advise(char *begin, const char *end, int advice)
{
    int  kept = errno;
    bool taken = madvise(begin, (size_t)(end - begin), advice) == 0;
    errno = kept;
    return taken;
}

/* Seconds that this thread has run, also inside the system. */
static double time_used(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0
               ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
               : 0;
}

cri_large_pages cri_large_pages_in(void *block, size_t bytes, size_t used)
{
    cri_large_pages none = { NULL, NULL }, p;
    size_t          before = (PAGE - ((uintptr_t)block + used) % PAGE) % PAGE + used;
    if (bytes < 2 * (size_t)PAGE || bytes < before + PAGE) return none;
    p.next = (char *)block + before;
    p.end = p.next + (bytes - before) / PAGE * PAGE;
#ifdef MADV_HUGEPAGE
    return advise(p.next, p.end, MADV_HUGEPAGE) ? p : none;
#else
    return none;
#endif
}

bool cri_large_pages_touch(cri_large_pages *p, const void *upto)
{
    const double slow = 1e-3; /* seconds; clearing one takes a tenth of it */
    while (p->next < p->end && p->next < (const char *)upto) {
        volatile char *byte = p->next;
        double         start = time_used();
        *byte = *byte;
        p->next += PAGE;
        if (time_used() - start > slow) return false;
    }
    return true;
}

void cri_large_pages_drop(cri_large_pages *p)
{
#ifdef MADV_NOHUGEPAGE
    if (p->next < p->end) advise(p->next, p->end, MADV_NOHUGEPAGE);
#endif
    p->next = p->end;
}
