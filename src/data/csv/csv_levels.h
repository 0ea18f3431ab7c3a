/* csv_levels.h -- the different texts of a column, numbered in the order they come.
 * A hash table (open addressing, at most half full) over texts kept end to end in one block: about
 * 60 bytes and the text for each.  (Internal header.) */
#ifndef CREDENCE_DATA_CSV_CSV_LEVELS_H
#define CREDENCE_DATA_CSV_CSV_LEVELS_H

#include "base/context.h"

/* What tells another text without looking at it: its hash and its last eight bytes, which are all of a
 * shorter one. */
typedef struct cri_csv_slot {
    uint64_t word;
    uint32_t hash, number; /* number + 1; 0 = free */
} cri_csv_slot;

enum { CRI_CSV_LEVELS_SLACK = 8 }; /* bytes that can be read from the start of any text to find */

typedef struct cri_csv_levels {
    char         *bytes; /* texts, each with a '\0' behind it */
    size_t        used, byte_capacity;
    size_t       *start; /* [n] of each text in bytes */
    size_t        n, capacity;
    cri_csv_slot *slots;   /* [n_slots]                   */
    size_t        n_slots; /* a power of two, or 0        */
    size_t        refused; /* bytes that could not be had */
} cri_csv_levels;

/* The number of the text, which it gets now if it is new.  Texts hold no NUL.  Different columns
 * may be added to in parallel, for a failure is not recorded: cri_csv_levels_fail does that. */
cr_status cri_csv_levels_add(cr_ctx *cx, cri_csv_levels *levels, const char *text, size_t length,
                             uint32_t *out_number);
/* Records the failure that cri_csv_levels_add returned, and returns it. */
cr_status cri_csv_levels_fail(cr_ctx *cx, const cri_csv_levels *levels, cr_status status);
/* The number of the text, or UINT32_MAX.  CRI_CSV_LEVELS_SLACK bytes from its start on can be read,
 * also where it is shorter. */
uint32_t cri_csv_levels_find(const cri_csv_levels *levels, const char *text, size_t length);
/* The i-th text. */
const char *cri_csv_level(const cri_csv_levels *levels, size_t i);
/* Frees what they hold and makes them empty. */
void cri_csv_levels_clear(cr_ctx *cx, cri_csv_levels *levels);

#endif
