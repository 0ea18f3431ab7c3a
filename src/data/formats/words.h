/* words.h -- a text as words: runs of letters, in lower case.
 * Letters are those of Unicode as its blocks have them: in the blocks of alphabets and scripts everything counts but
 * the signs known here, marks that combine included; digits, punctuation and symbols part words.  A script that is
 * written without spaces gives a whole run as one word.  Lower case: Latin, Greek, Cyrillic, Armenian; letters of other
 * scripts stay.  What is not UTF-8 parts words.  (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_WORDS_H
#define CREDENCE_DATA_FORMATS_WORDS_H

#include <stddef.h>

/* The next word at or behind *at in lower case into out, which has room for twice the rest of the text; returns its
 * length in bytes, 0 at the end, and moves *at behind it. */
size_t cri_next_word(const char **at, char *out);

#endif
