/* bytes.h -- searches in blocks of bytes that standard C lacks.  (Internal header.)
 * glibc has both, under _GNU_SOURCE: with it every file that reads <math.h> takes twice as long to
 * compile. */
#ifndef CREDENCE_BASE_BYTES_H
#define CREDENCE_BASE_BYTES_H

#include <stddef.h>
#include <string.h>

/* Where `text` first stands in the n bytes, NULL if nowhere. */
static inline const char *cri_find_text(const char *bytes, size_t n, const char *text)
{
    size_t      length = strlen(text);
    const char *end = bytes + n;
    while (bytes && (size_t)(end - bytes) >= length) {
        const char *at = memchr(bytes, text[0], (size_t)(end - bytes) - length + 1);
        if (!at || memcmp(at, text, length) == 0) return at;
        bytes = at + 1;
    }
    return NULL;
}

/* Where `byte` last stands in the n bytes, NULL if nowhere. */
static inline const char *cri_find_last(const char *bytes, char byte, size_t n)
{
    while (n > 0)
        if (bytes[--n] == byte) return bytes + n;
    return NULL;
}

#endif
