/* number.h -- numbers to and from text: exact, fast, and blind to the locale.
 * Reading: Clinger (1990) where one operation on doubles is exact, else the 128-bit product of
 * Lemire (2021), "Number parsing at a gigabyte per second", which needs no fallback for up to 19
 * digits (Mushtak & Lemire 2023, "Fast number parsing without fallback"); longer texts whose first
 * 19 digits do not decide are settled by comparing big integers.  Printing: the shortest digits, by
 * Giulietti (2020), "The Schubfach way to render doubles".  Neither calls the C library, so no
 * locale can change the decimal point.  Assumes the default rounding mode.  (Internal header.) */
#ifndef CREDENCE_BASE_NUMBER_H
#define CREDENCE_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CRI_DOUBLE_SIZE = 32 };

/* Reads a decimal number ([+-] digits [. digits] [e[+-]digits], digits on at least one side of the
 * point; or inf, infinity, nan in any case) from [begin, end), no spaces.  Returns the number of
 * characters it took, 0 if there is no number.  Correctly rounded (nearest, ties to even); *out is
 * +-inf on overflow: see the next. */
size_t cri_parse_double(const char *begin, const char *end, double *out);

/* The same, and how it was written: WHOLE = sign and digits only (however many); OVERFLOW = digits
 * of a number beyond the largest double (1e999). */
enum { CRI_NUMBER_WHOLE = 1, CRI_NUMBER_OVERFLOW = 2 };
size_t cri_scan_double(const char *begin, const char *end, double *out, unsigned *out_notes);

/* true when the text of a number that came out infinite was written in digits (1e999), that is,
 * it is out of range rather than "inf". */
bool cri_is_overflow(const char *begin, const char *end);

/* The shortest text that reads back to the same double (at most 17 significant digits), and of the
 * shortest ones the nearest.  Exponents 10^-4 .. 10^16 are written out (0.0001, 100000), others as
 * 1.5e-07, 1e+17; also nan, inf, -inf, -0.  Ends with '\0'.  Returns its length. */
size_t cri_print_double(double x, char out[CRI_DOUBLE_SIZE]);

/* true when the whole number in [begin, end), whose double is x, is printed with the same digits, what
 * stands between them passed over: 5972000000000000000000000 and all below 2^53 are, 9007199254740993
 * is not. */
bool cri_keeps_digits(const char *begin, const char *end, double x);

/* For cri_scan_double: the digits in [begin, end) (a point among them is skipped) times
 * 10^exponent lie between the double with bits `low` and the next one; gives the nearer, ties to
 * even.  Exact, some microseconds. */
uint64_t cri_round_decimal(const char *begin, const char *end, int64_t exponent, uint64_t low);

#endif
