/* hash.h -- the hash of a short text, for tables of names.  (Internal header.) */
#ifndef CREDENCE_BASE_HASH_H
#define CREDENCE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a (Fowler, Noll & Vo), its halves folded so that the low bits alone will do. */
static inline size_t cri_hash_text(const char *text, size_t length)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return (size_t)(h ^ h >> 32);
}

#endif
