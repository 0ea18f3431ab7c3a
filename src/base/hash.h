/* hash.h -- the hash of a short text, for tables of names, and of numbers, the same on every machine.  (Internal header.) */
#ifndef CREDENCE_BASE_HASH_H
#define CREDENCE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* FNV-1a (Fowler, Noll & Vo), its halves folded so that the low bits alone will do. */
static inline size_t cri_hash_text(const char *text, size_t length)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return (size_t)(h ^ h >> 32);
}

/* h with 64 bits more: one round of splitmix64 (Steele, Lea & Flood 2014). */
static inline uint64_t cri_hash_mix(uint64_t h, uint64_t bits)
{
    h += bits + 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

/* The same with a number; -0 is 0. */
static inline uint64_t cri_hash_double(uint64_t h, double x)
{
    uint64_t bits;
    if (x == 0) x = 0;
    memcpy(&bits, &x, sizeof bits);
    return cri_hash_mix(h, bits);
}

#endif
