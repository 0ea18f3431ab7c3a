/* quoted.h -- a list of names as a sentence has it: 'a', 'b', 'c', ...  (Internal header.) */
#ifndef CREDENCE_BASE_QUOTED_H
#define CREDENCE_BASE_QUOTED_H

#include "status.h"

typedef struct cri_quoted {
    size_t most; /* names at the most; the text ends in "..." where there are more */
    size_t n;    /* names that were added                                          */
    size_t named, used;
    char   text[1200];
} cri_quoted; /* all but `most` start as 0 */

/* Adds a name in quotes, if it is not one too many and there is room. */
void cri_quoted_add(cri_quoted *list, const char *name);
/* The text, which is complete then. */
const char *cri_quoted_text(cri_quoted *list);

#endif
