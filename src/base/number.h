/* number.h -- numbers to and from text: exact, fast, and blind to the locale.  (Internal header.) */
#ifndef CREDENCE_BASE_NUMBER_H
#define CREDENCE_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CRI_DOUBLE_SIZE = 32 };

/* Reads a decimal number ([+-] digits [. digits] [e[+-]digits], or inf, infinity, nan in any case)
 * from [begin, end), no spaces.  Returns the number of characters it took, 0 if there is no
 * number.  Correctly rounded (nearest, ties to even); *out is +-inf on overflow: see the next. */
size_t cri_parse_double(const char *begin, const char *end, double *out);

/* true when the text of a number that came out infinite was written in digits (1e999), that is,
 * it is out of range rather than "inf". */
bool cri_is_overflow(const char *begin, const char *end);

/* The shortest text that reads back to the same double (at most 17 significant digits).
 * Returns its length. */
size_t cri_print_double(double x, char out[CRI_DOUBLE_SIZE]);

#endif
