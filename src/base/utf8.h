/* utf8.h -- telling UTF-8 from other bytes.  (Internal header.)
 * RFC 3629, section 4: no overlong forms, no surrogates, nothing past U+10FFFF. */
#ifndef CREDENCE_BASE_UTF8_H
#define CREDENCE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The number of bytes of the character at p, 0 if none begins there.  Reads no byte past a '\0'. */
size_t cri_utf8_length(const char *p);
/* true when all of the text is UTF-8. */
bool cri_utf8_valid(const char *text);

#endif
