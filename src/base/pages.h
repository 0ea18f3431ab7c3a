/* pages.h -- large pages for memory that is filled from one end to the other.
 * A first touch of each page of 4 KiB costs the system more than clearing it; a page of 2 MiB is
 * touched once, and costs a sixth.  Not so on a virtual machine that gives free memory back to its
 * host, as it does with large blocks first: getting them again takes five times as long as small
 * pages that the machine still has.  So each is touched with an eye on the clock, and once that was
 * slow the rest stay small.  No byte changes.  (Internal header.) */
#ifndef CREDENCE_BASE_PAGES_H
#define CREDENCE_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Whole large pages that are asked for and not yet touched: none, where both are the same. */
typedef struct cri_large_pages {
    char *next, *end;
} cri_large_pages;

/* Asks for them in the block, but for its first `used` bytes, where it is large enough. */
cri_large_pages cri_large_pages_in(void *block, size_t bytes, size_t used);
/* Touches those that begin before `upto`; false when one was slow. */
bool cri_large_pages_touch(cri_large_pages *pages, const void *upto);
/* Takes back what was asked: small ones will do. */
void cri_large_pages_drop(cri_large_pages *pages);

#endif
