/* renames.h -- the list of --rename: OLD=NEW, ...  Of columns that have one name in the file, OLD is
 * the first, OLD.2 the second, and so on.  (Internal header.) */
#ifndef CREDENCE_DATA_BYTES_RENAMES_H
#define CREDENCE_DATA_BYTES_RENAMES_H

#include "base/scratch.h"

typedef struct cri_rename {
    const char *from, *to;
    size_t      from_length;
    bool        used;
} cri_rename;

typedef struct cri_renames {
    cri_rename *items; /* [n], of a scratch arena */
    size_t      n;
} cri_renames;

/* Fails with CR_EARG where an item is not OLD=NEW. */
cr_status cri_renames_begin(cr_scratch *s, const char *opt_list, cri_renames *out);
/* The new name of the column that is the `times`-th of this name; NULL where it keeps its own. */
const char *cri_renames_find(cri_renames *renames, const char *name, size_t length, size_t times);
/* The first OLD that no column had; NULL: there is none. */
const char *cri_renames_unused(const cri_renames *renames);

#endif
