/* pages.h -- advice to the system on memory that is filled from one end to the other.
 * A first touch of each page of 4 KiB costs the system more than clearing it; a page of 2 MiB is
 * touched once.  (Internal header.) */
#ifndef CREDENCE_BASE_PAGES_H
#define CREDENCE_BASE_PAGES_H

#include <stddef.h>

/* Asks for large pages in the block, of which nothing may have been touched yet, where it is large
 * enough to hold some; changes no byte, and it is all right if the system has none. */
void cri_prefer_large_pages(void *block, size_t bytes);

#endif
