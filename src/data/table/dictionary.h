/* dictionary.h -- texts numbered in the order of their first appearance.
 * Open hashing with linear probing, at most half full.  (Internal header.) */
#ifndef CREDENCE_DATA_TABLE_DICTIONARY_H
#define CREDENCE_DATA_TABLE_DICTIONARY_H

#include "base/context.h"

typedef struct cri_dictionary {
    char  **texts; /* [n] used of [capacity] */
    size_t *slots; /* [2 capacity]: 0 = free, else 1 + the number of a text */
    size_t  n, capacity;
} cri_dictionary; /* all zeros is the empty one */

/* The number of a text of `length` bytes without a zero byte, which is added if it is new.
 * Expected O(length).  Fails with CR_ENOMEM, also past 2^32 - 2 texts. */
cr_status cri_dictionary_code(cr_ctx *cx, cri_dictionary *d, const char *text, size_t length,
                              uint32_t *out_code);
/* The number of a text that is in the dictionary; false, and *out_code untouched, if it is not. */
bool cri_dictionary_find(const cri_dictionary *d, const char *text, size_t length,
                         uint32_t *out_code);
void cri_dictionary_free(cr_ctx *cx, cri_dictionary *d);

#endif
